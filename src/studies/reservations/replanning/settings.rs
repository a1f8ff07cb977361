//! Settings of a replanning machine: every documented ambiguity is a value, and what
//! docs/decisions.md decides is its default.

use std::sync::Arc;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use bookahead_core::estimates::{WaitPredictor, WaitPredictorSettings};
use bookahead_core::random::Stream;
use bookahead_core::scheduling::queue::{Backfilling, QueueOrder};
use bookahead_core::units::{NodeSeconds, Seconds};
use bookahead_core::workload::{Job, RequestId, ReservationRequest, SameInstant};

use super::delay_costs::{DelayCostSettings, JobCosts};
use super::twins::TwinJobs;

/// How a planning-based machine plans its queue and admits reservations. Numbers A… are the
/// ambiguities of Heine 2005, AMB-… those of Singh 2008 (docs/decisions.md).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplanningSettings {
    /// The order in which waiting jobs are planned (A1).
    pub order: QueueOrder,
    /// Which jobs may be planned before jobs in front of them (A1, AMB-1).
    pub backfilling: Backfilling,
    /// When a reservation is admitted.
    pub admission: Admission,
    /// Which jobs are planned again when a reservation pushes some away (A2).
    pub displaced: DisplacedJobs,
    /// A job that has waited longer than this is not pushed away any more: its planned place counts
    /// as taken (Heine 2005, §3, asks for such a protection and has none, the default).
    pub starvation_guard: Option<Seconds>,
    /// What becomes of the rest of a reservation that ends early (A10, AMB-37).
    pub early_end: EarlyEnd,
    /// Who comes first when a job and a request are submitted in the same second (A4).
    pub same_instant: SameInstant,
    /// Whether it is written down how many jobs each reservation pushed away, and how far. Costs a
    /// plan of the whole queue a reservation.
    pub displacement: Displacement,
    /// How many of the jobs, in percent, may be stopped for a reservation where the rule of
    /// admission does that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub preemptible_percent: f64,
    /// Which of them are stopped.
    #[serde(default, skip_serializing_if = "StoppedFirst::is_default")]
    pub stopped_first: StoppedFirst,
    /// How long a job that was stopped and queued again reads its state before it goes on where it
    /// was; `None` where it runs from scratch. Read under [`Admission::Requeue`] only
    /// ([`ReplanningSettings::resumes_after`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_overhead: Option<Seconds>,
    /// How many of the jobs, in percent, no reservation may delay while they wait, under the rules
    /// of admission that move planned jobs (Heine 2005, §2, of Smith et al. 2000).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undelayed_percent: f64,
    /// How long before its start a reservation must be asked for; `None` where no notice is asked
    /// (Heine 2005, §2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<ShortestNotice>,
    /// Whether a twin job is queued beside each granted reservation (Heine 2005, §2).
    #[serde(default, skip_serializing_if = "TwinJobs::is_default")]
    pub twin_jobs: TwinJobs,
    /// How many of the requests, in percent, are of owners who cancel what they are granted before
    /// it starts (Singh 2008, §6.4).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cancelling_percent: f64,
    /// Which share of the price of a reservation is due when it is cancelled (Singh 2008, §6.4).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub penalty_factor: f64,
    /// What waiting costs the owners of jobs; `None` where nobody says anything of it, and a delay
    /// counts by nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_costs: Option<DelayCostSettings>,
    /// c: what a node and an hour of a reservation cost, in service units; `None` where it is the 1
    /// of best effort (Singh 2008, §5). Read where reservations are compared with something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_unit_price: Option<f64>,
}

impl ReplanningSettings {
    /// c · n · d, what reserved node-time costs beside its delay, in whole node-seconds of best
    /// effort.
    #[must_use]
    pub fn reserved_charge(&self, reserved: NodeSeconds) -> NodeSeconds {
        match self.reserved_unit_price {
            None => reserved,
            Some(price) => NodeSeconds((reserved.0 as f64 * price).round() as i64),
        }
    }

    /// How long a stopped job reads before it goes on, where its work is kept.
    #[must_use]
    pub fn resumes_after(&self) -> Option<Seconds> {
        self.resume_overhead
            .filter(|_| self.admission == Admission::Requeue)
    }
}

/// How long before its start a reservation must be asked for, at least.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShortestNotice {
    /// The same for all.
    Fixed(Seconds),
    /// As long as a job of its width would wait (Heine 2005, §2, of COSY).
    Predicted(PredictedNotice),
}

impl ShortestNotice {
    /// Keeps the waits that it is predicted from; `None` where it is not.
    pub(super) fn waits(self) -> Option<WaitPredictor> {
        let Self::Predicted(rule) = self else {
            return None;
        };
        kept_waits(rule.last)
    }
}

/// Keeps the latest waits of each node bin; `None` for 0 of them.
pub(super) fn kept_waits(last: usize) -> Option<WaitPredictor> {
    let settings = WaitPredictorSettings {
        history: last,
        minimum_history: 0,
        ..WaitPredictorSettings::default()
    };
    // Nothing but an empty history is refused.
    WaitPredictor::new(settings).ok()
}

/// A notice from the waits of jobs that have started.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictedNotice {
    /// Which quantile of the waits, between 0 and 1
    /// ([`WaitPredictor::quantile`](bookahead_core::estimates::WaitPredictor::quantile)).
    pub quantile: f64,
    /// How many waits are kept of the jobs of each node bin, the latest; at least 1.
    pub last: usize,
    /// How many times the quantile.
    pub factor: f64,
}

/// By what the shortest notice of reservations is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeRule {
    /// None is asked.
    #[default]
    None,
    /// A number of hours.
    Hours,
    /// The waits of jobs.
    Predicted,
}

/// Where a job goes on that was stopped for a reservation and queued again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resume {
    /// Nowhere: it has lost its work.
    #[default]
    FromScratch,
    /// Where it was stopped (Heine 2005, §2, of jobs that can be ended and restarted without losing
    /// what they computed).
    WhereStopped,
}

/// What is known of single jobs, by id; nothing of jobs beyond a list.
#[derive(Clone, Debug, Default)]
pub struct JobMarks {
    /// Those that may be stopped for a reservation where the rule of admission does that.
    pub preemptible: Arc<[bool]>,
    /// Those that no reservation may delay while they wait, where planned jobs give way.
    pub undelayed: Arc<[bool]>,
    /// What waiting costs their owners, where that is known.
    pub costs: Option<Arc<JobCosts>>,
    /// By request, for those that are cancelled once they are granted: after which share of the
    /// time until their start.
    pub cancelled: Arc<[Option<f64>]>,
}

impl JobMarks {
    /// Draws the marks of jobs and requests with these settings, both with ids from 0; `stream`
    /// gives the stream of a name.
    #[must_use]
    pub fn drawn(
        jobs: &[Job],
        requests: &[ReservationRequest],
        settings: &ReplanningSettings,
        stream: impl Fn(&str) -> Stream,
    ) -> Self {
        let marked = |percent, name| marked_jobs(jobs.len(), percent, &mut stream(name));
        let costs = settings.delay_costs.as_ref();
        Self {
            preemptible: marked(settings.preemptible_percent, PREEMPTIBLE_STREAM),
            undelayed: marked(settings.undelayed_percent, UNDELAYED_STREAM),
            costs: costs.map(|costs| JobCosts::drawn(costs, jobs, requests, &stream).into()),
            cancelled: cancelled(requests.len(), settings.cancelling_percent, &stream),
        }
    }

    /// After which share of the time until its start the owner of a request cancels what he is
    /// granted; `None` if he keeps it.
    #[must_use]
    pub fn cancels(&self, request: RequestId) -> Option<f64> {
        *self.cancelled.get(request.0 as usize)?
    }
}

/// Which of the running jobs that may be stopped for a reservation are (Heine 2005, §2, ends jobs
/// by an equation in nodes and used time that is not printed).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedFirst {
    /// Who started last, then the higher id.
    #[default]
    StartedLast,
    /// Those with which the fewest node-seconds are lost when the reservation begins
    /// ([`least_lost`](bookahead_core::scheduling::victims::least_lost)).
    LeastLost,
}

impl StoppedFirst {
    /// Whether it is the rule that is not written down.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The name of the stream that says which jobs are preemptible.
pub const PREEMPTIBLE_STREAM: &str = "preemptible jobs";

/// The name of the stream that says which jobs may not be delayed.
pub const UNDELAYED_STREAM: &str = "undelayed jobs";

/// Draws which of `jobs` jobs are marked, one draw a job, so that a larger share contains the
/// smaller one. Empty where none are.
#[must_use]
pub fn marked_jobs(jobs: usize, percent: f64, draws: &mut Stream) -> Arc<[bool]> {
    if percent == 0.0 {
        return Arc::default();
    }
    (0..jobs)
        .map(|_| 100.0 * draws.random::<f64>() < percent)
        .collect()
}

/// The name of the stream that says which reservations are cancelled, and when.
pub const CANCELLING_STREAM: &str = "cancelled reservations";

/// Two draws a request, so that a larger share contains the smaller one. Empty where nobody
/// cancels.
fn cancelled(requests: usize, percent: f64, stream: impl Fn(&str) -> Stream) -> Arc<[Option<f64>]> {
    if percent == 0.0 {
        return Arc::default();
    }
    let mut draws = stream(CANCELLING_STREAM);
    (0..requests)
        .map(|_| {
            let (which, when): (f64, f64) = (draws.random(), draws.random());
            (100.0 * which < percent).then_some(when)
        })
        .collect()
}

fn is_zero(percent: &f64) -> bool {
    *percent == 0.0
}

/// When a reservation is admitted: one plan, six rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// Only what the plan leaves free is offered, at the base price: nobody is pushed away
    /// (Singh 2008, chapter 3).
    Holes,
    /// A fixed start is refused on conflict with running jobs, reservations or planned jobs
    /// (Heine 2005, §3). For a fixed start the same as [`Admission::Holes`].
    #[default]
    Reject,
    /// Planned jobs give way: refused on conflict with running jobs or reservations only.
    Move,
    /// As [`Admission::Move`], and the delay that it inflicts is the price (Singh 2008, chapter 5).
    MovePrice,
    /// What [`Admission::Reject`] would refuse is granted if preemptible jobs can make room: those
    /// that wait give way, those that run end at the start of the reservation, finished or not.
    Truncate,
    /// The same, but jobs that have not finished then are queued again and run from scratch.
    Requeue,
}

impl Admission {
    /// Whether all planned jobs give way.
    #[must_use]
    pub fn moves(self) -> bool {
        matches!(self, Self::Move | Self::MovePrice)
    }

    /// Whether preemptible jobs make room.
    #[must_use]
    pub fn preempts(self) -> bool {
        matches!(self, Self::Truncate | Self::Requeue)
    }
}

/// Which jobs are planned again after a reservation was admitted among planned jobs (A2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DisplacedJobs {
    /// All waiting jobs, in order.
    #[default]
    ReplanAll,
    /// Those that have lost their place; the others keep theirs until the next early end.
    OnlyOverlapping,
}

/// What becomes of the rest of a reservation that ends before its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EarlyEnd {
    /// It is given to others (A10).
    #[default]
    Release,
    /// It stays blocked: it is paid for (AMB-37).
    Keep,
}

/// Whether displaced jobs are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Displacement {
    /// For every admitted reservation.
    #[default]
    Record,
    /// Not at all.
    Skip,
}
