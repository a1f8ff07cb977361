//! Reservation requests generated from the jobs of a trace, because no trace records any (Heine
//! 2005, §4.1; Singh 2008, §5.3).

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::job::{Job, JobId, JobKind};
use crate::random;
use crate::units::{Nodes, Seconds};

/// The position of a request among the requests of one simulation, from 0, in the order of
/// submission.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct RequestId(pub u32);

/// Somebody asks for `nodes` nodes for `duration`, at a fixed start or at one that they choose from
/// an offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReservationRequest {
    /// Position among the requests.
    pub id: RequestId,
    /// The trace number of the job that it was made from.
    pub trace_number: i64,
    /// The user of that job, where the trace names one.
    pub user: Option<i64>,
    /// When it is asked.
    pub submit: Seconds,
    /// Nodes wanted.
    pub nodes: Nodes,
    /// How long they are booked for: the slot's length.
    pub duration: Seconds,
    /// How long they will be used, at most `duration`; known to the simulator only.
    pub runtime: Seconds,
    /// Which start is wanted.
    pub wanted: WantedStart,
}

impl ReservationRequest {
    /// What a cluster is to hold for it, from the earliest start on that it can use.
    #[must_use]
    pub fn window(&self) -> Job {
        let id = JobId::of_request(self.id);
        Job {
            kind: JobKind::Reservation,
            ..Job::rigid(id, self.submit, self.nodes, self.duration)
                .running_for(self.runtime)
                .released_at(self.wanted.earliest())
                .numbered(self.trace_number)
                .of_user(self.user)
        }
    }
}

/// Which start a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WantedStart {
    /// Exactly this one, or none (Singh 2008, eq. 17).
    At(Seconds),
    /// Any from this one on, chosen from the offers by α (forms (18) and (19), eq. (20)): 0 takes
    /// the earliest, 1 the cheapest.
    From {
        /// Earliest start that is of use.
        earliest: Seconds,
        /// α, the weight of the price, in `[0, 1]`.
        alpha: f64,
    },
}

impl WantedStart {
    /// The earliest start that the request can use.
    #[must_use]
    pub fn earliest(self) -> Seconds {
        match self {
            Self::At(start) => start,
            Self::From { earliest, .. } => earliest,
        }
    }
}

/// Who comes first at equal times of submission (A4 of docs/decisions.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameInstant {
    /// The job.
    #[default]
    JobFirst,
    /// The request.
    RequestFirst,
}

/// How reservation requests are made from the jobs of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestSettings {
    /// How many of the jobs, in percent, rounded to whole jobs (A5, A6: drawn without replacement).
    pub share_percent: f64,
    /// What happens to a chosen job.
    pub origin: RequestOrigin,
    /// Which start is wanted.
    pub start: StartRule,
    /// Whether the slot is as long as the estimate or as the runtime of the job (A13, AMB-30).
    pub duration: RequestDuration,
    /// How the drawn lead becomes whole seconds (A7).
    pub rounding: LeadRounding,
    /// How much of its slot a reservation uses (Birkenheuer 2012, §4.2). Left out where it is the
    /// default, so that what was simulated before keeps its identity.
    #[serde(default, skip_serializing_if = "DurationUsed::is_of_job")]
    pub duration_used: DurationUsed,
    /// How many of the reservations, in percent, are interactive sessions (Birkenheuer 2008, §3):
    /// somebody sits before them, so all of the slot is used whatever the others use.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interactive_percent: f64,
}

fn is_zero(percent: &f64) -> bool {
    *percent == 0.0
}

impl RequestSettings {
    /// The same with everything that is not read set to its default: a slot that is as long as the
    /// job is used to its end, and where all slots are used to their ends no share of sessions is
    /// read. Sessions of 100 % are slots that are all used to their ends.
    #[must_use]
    pub fn normalised(self) -> Self {
        let duration_used = match self.duration {
            RequestDuration::Estimate if self.interactive_percent == 100.0 => DurationUsed::Window,
            RequestDuration::Estimate => self.duration_used,
            RequestDuration::Runtime => DurationUsed::Job,
        };
        let has_batch = self.duration == RequestDuration::Estimate && duration_used.is_of_job();
        Self {
            duration_used,
            interactive_percent: if has_batch {
                self.interactive_percent
            } else {
                0.0
            },
            ..self
        }
    }
}

impl Default for RequestSettings {
    fn default() -> Self {
        Self {
            share_percent: 10.0,
            origin: RequestOrigin::Copy,
            start: StartRule::EstimateFactor { factor: 1.0 },
            duration: RequestDuration::Estimate,
            rounding: LeadRounding::Nearest,
            duration_used: DurationUsed::Job,
            interactive_percent: 0.0,
        }
    }
}

/// What happens to a job that becomes a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestOrigin {
    /// It is copied and stays in the workload: load is added (Heine et al.).
    #[default]
    Copy,
    /// It is executed through a reservation instead of the queue: load stays (Singh 2008, chapter
    /// 5).
    Instead,
}

/// Which start a generated request wants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum StartRule {
    /// Submission + u · estimate · `factor`, u uniform in `[0, 1]` (Heine 2005, §4.1).
    EstimateFactor {
        /// SF.
        factor: f64,
    },
    /// Submission + `seconds`.
    Lead {
        /// The lead.
        seconds: Seconds,
    },
    /// Any start, chosen from the offers by α.
    Choice {
        /// α in `[0, 1]`; `None` draws one uniformly for each request (Singh 2008, §5.3, Figure
        /// 29).
        alpha: Option<f64>,
    },
}

/// How long a slot is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestDuration {
    /// The job's estimate.
    #[default]
    Estimate,
    /// The job's runtime, at most its estimate.
    Runtime,
}

/// How much of its slot a reservation uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DurationUsed {
    /// As long as the job runs that it was made from.
    #[default]
    Job,
    /// All of it, as somebody does who starts no program in it or several.
    Window,
}

impl DurationUsed {
    /// Whether a reservation is over when its job is.
    #[must_use]
    pub fn is_of_job(&self) -> bool {
        *self == Self::Job
    }
}

/// How a drawn lead becomes whole seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeadRounding {
    /// The nearest second.
    #[default]
    Nearest,
    /// Down.
    Floor,
    /// To the next full minute: what a form with hours and minutes asks for.
    Minute,
}

/// What the generator made of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixedWorkload {
    /// The jobs that stay in the queue, with ids from 0.
    pub jobs: Vec<Job>,
    /// The requests in order of (submission, position of their job).
    pub requests: Vec<ReservationRequest>,
}

impl MixedWorkload {
    /// Jobs and requests as one list for policies on a cluster: a request with a fixed start
    /// becomes a job with a fixed window, one that would choose asks for its earliest start. Behind
    /// the jobs of the same second; ids from 0.
    #[must_use]
    pub fn into_jobs(self) -> Vec<Job> {
        let mut jobs = self.jobs;
        jobs.extend(self.requests.into_iter().map(|request| {
            Job::rigid(JobId(0), request.submit, request.nodes, request.duration)
                .running_for(request.runtime)
                .numbered(request.trace_number)
                .into_reservation(request.wanted.earliest())
        }));
        jobs.sort_by_key(|job| job.submit);
        for (job, id) in jobs.iter_mut().zip(0..) {
            job.id = JobId(id);
        }
        jobs
    }
}

/// Makes requests from jobs (Heine 2005, §4.1).
///
/// Everything is drawn for every job before any is chosen, from streams that depend on `seed`,
/// `workload_key` and `replication` alone: all rules, start factors and shares see the same draws
/// (A17), and a larger share contains the smaller one.
#[must_use]
pub fn generate_requests(
    jobs: &[Job],
    settings: &RequestSettings,
    seed: u64,
    workload_key: &str,
    replication: u32,
) -> MixedWorkload {
    let mut order: Vec<u32> = (0..jobs.len() as u32).collect();
    let stream = |name| random::stream(seed, workload_key, replication, name);
    order.shuffle(&mut stream("reservation jobs"));
    let count = (jobs.len() as f64 * settings.share_percent / 100.0).round() as usize;
    let mut chosen = vec![false; jobs.len()];
    for &index in order.iter().take(count) {
        chosen[index as usize] = true;
    }
    let mut leads = stream("reservation leads");
    let mut alphas = stream("reservation alphas");
    let mut sessions = stream("interactive reservations");
    let mut mixed = MixedWorkload::default();
    for (job, chosen) in jobs.iter().zip(chosen) {
        let lead: f64 = leads.random_range(0.0..=1.0);
        let drawn_alpha: f64 = alphas.random_range(0.0..=1.0);
        let is_interactive = 100.0 * sessions.random::<f64>() < settings.interactive_percent;
        if chosen {
            let runtime = job.runtime.min(job.estimate);
            let duration = match settings.duration {
                RequestDuration::Estimate => job.estimate,
                RequestDuration::Runtime => runtime,
            };
            mixed.requests.push(ReservationRequest {
                id: RequestId(mixed.requests.len() as u32),
                trace_number: job.trace_number,
                user: job.user,
                submit: job.submit,
                nodes: job.nodes,
                duration,
                runtime: match settings.duration_used {
                    DurationUsed::Job if !is_interactive => runtime,
                    DurationUsed::Job | DurationUsed::Window => duration,
                },
                wanted: match settings.start {
                    StartRule::EstimateFactor { factor } => WantedStart::At(
                        job.submit + lead_of(job.estimate, factor, lead, settings.rounding),
                    ),
                    StartRule::Lead { seconds } => WantedStart::At(job.submit + seconds),
                    StartRule::Choice { alpha } => WantedStart::From {
                        earliest: job.submit,
                        alpha: alpha.unwrap_or(drawn_alpha),
                    },
                },
            });
        }
        if !chosen || settings.origin == RequestOrigin::Copy {
            mixed.jobs.push(Job {
                id: JobId(mixed.jobs.len() as u32),
                ..job.clone()
            });
        }
    }
    mixed
}

/// start_delay = u · estimate · SF, in whole seconds (A7).
fn lead_of(estimate: Seconds, factor: f64, drawn: f64, rounding: LeadRounding) -> Seconds {
    let lead = drawn * estimate.0 as f64 * factor;
    Seconds(match rounding {
        LeadRounding::Nearest => lead.round() as i64,
        LeadRounding::Floor => lead.floor() as i64,
        LeadRounding::Minute => (lead / 60.0).ceil() as i64 * 60,
    })
}

#[cfg(test)]
mod tests;
