//! Outcomes of co-reservation requests, with the effort that they took.

use serde::{Deserialize, Serialize};

use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{CoRequest, FurtherResource};

use crate::co_reservation::RequestClass;
use crate::co_reservation::local::{ClusterId, FilterCounts, Refusal};

/// The outcome of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct CoOutcome {
    /// The request.
    pub request: CoRequest,
    /// Granted, or why not.
    pub verdict: CoVerdict,
    /// When the client had its answer.
    pub answered: Seconds,
    /// The common start, where it was granted (the first one, if parts were lost and sought anew;
    /// the last one of a renegotiable request).
    pub start: Option<Seconds>,
    /// The cluster of each part, in the order of [`CoRequest::parts`]; empty where it was not
    /// granted. After a renegotiation, where the parts are in the end.
    pub clusters: Vec<ClusterId>,
    /// Total cost of the granted candidate.
    pub cost: Option<f64>,
    /// Probability that at least one part is not there, as promised; 0 on clusters that do not
    /// overbook.
    pub pof: f64,
    /// Messages by kind.
    pub messages: MessageCounts,
    /// Candidate starts, `z`.
    pub starts: u32,
    /// Complete candidates of the pruned tree (of all candidates without probe).
    pub candidates: f64,
    /// Worst case `N` of reserve and cancel messages over the unfiltered candidates (Meltzer 2005,
    /// §6.1; A5: `(2r−1)·C`, Q6).
    pub worst_case: f64,
    /// Over the complete candidates that were built; `None` where there was none.
    pub bounds: Option<OfferBounds>,
    /// One a cluster, in order; empty where nothing was probed.
    pub probes: Vec<ProbeCounts>,
    /// What the probed clusters had free at each candidate start, in the order of (cluster, start);
    /// empty unless that was to be recorded.
    pub free_cpus: Vec<FreeCpus>,
    /// Jobs waiting at the submission of the request on the clusters that it got (`warte_vor`,
    /// Q23).
    pub waiting_before: u32,
    /// Those of them still waiting when its parts start (`warte_noch`).
    pub waiting_after: u32,
    /// Whether it gives way to others, or they to it.
    pub class: RequestClass,
    /// Parts that a cluster lost, those that others took included.
    pub lost_parts: u32,
    /// How often others took a part, so that the whole request was issued anew; then the cost is
    /// what it pays in the end, nothing if nothing was found.
    pub displacements: u32,
    /// Parts that were found elsewhere after they were lost.
    pub replaced_parts: u32,
    /// The common start that was granted first; `None` where it was not granted, or is negotiated
    /// once.
    pub first_start: Option<Seconds>,
    /// How often it was issued anew after that.
    pub renegotiations: u32,
    /// How often that gave something better.
    pub improvements: u32,
    /// Every order to reserve a part, in the order in which they were sent.
    pub attempts: Vec<CoAttempt>,
}

/// An order to reserve a part at a cluster, and its fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoAttempt {
    /// The part, as an index into [`CoRequest::parts`].
    pub part: u16,
    /// The cluster.
    pub cluster: ClusterId,
    /// Its CPUs.
    pub nodes: Nodes,
    /// The start that was tried; of a queued part, since when it held its CPUs.
    pub start: Seconds,
    /// How long it was wanted; of a queued part, how long it held its CPUs until the end of its
    /// request, or might have.
    pub duration: Seconds,
    /// When the order was sent.
    pub sent: Seconds,
    /// When its answer came, or the news that a queued part had begun; `None` where none came in
    /// time.
    pub answered: Option<Seconds>,
    /// When the part was taken back, or its loss was told.
    pub given_up: Option<Seconds>,
    /// Its fate.
    pub fate: AttemptFate,
}

/// The fate of an order to reserve a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttemptFate {
    /// It was reserved and stayed so, or was queued and ran with the others.
    Reserved,
    /// It was reserved, and taken back because another part could not be had, or for a better
    /// reservation.
    Cancelled,
    /// It was reserved, and the cluster lost it.
    Lost,
    /// It was reserved, and another part took its CPUs.
    Displaced,
    /// It was reserved, and given up because its cluster did not answer for long.
    Unreachable,
    /// No answer came in time, or a queued part did not begin; it was taken back.
    TimedOut,
    /// The cluster refused it.
    Refused(Refusal),
}

impl AttemptFate {
    /// Every fate, in the order of tables.
    pub const ALL: [Self; 12] = [
        Self::Reserved,
        Self::Cancelled,
        Self::Lost,
        Self::TimedOut,
        Self::Refused(Refusal::Occupied),
        Self::Refused(Refusal::Past),
        Self::Refused(Refusal::Quota),
        Self::Refused(Refusal::Cancelled),
        Self::Displaced,
        Self::Refused(Refusal::Lacking(FurtherResource::Licences)),
        Self::Unreachable,
        Self::Refused(Refusal::Lacking(FurtherResource::Storage)),
    ];

    /// Its name in the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
            Self::Displaced => "displaced",
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed-out",
            Self::Refused(Refusal::Occupied) => "refused-occupied",
            Self::Refused(Refusal::Lacking(FurtherResource::Licences)) => "refused-licences",
            Self::Refused(Refusal::Lacking(FurtherResource::Storage)) => "refused-storage",
            Self::Refused(Refusal::Past) => "refused-past",
            Self::Refused(Refusal::Quota) => "refused-quota",
            Self::Refused(Refusal::Cancelled) => "refused-cancelled",
        }
    }
}

/// Granted, or why not. Only the first is a success (step 18 of Meltzer 2005, Figure 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoVerdict {
    /// Every part was reserved.
    Granted,
    /// Not one complete candidate: no order was sent.
    NoCandidate,
    /// Every candidate was refused, or queued parts did not begin together in time.
    Refused,
    /// The window holds no start, or there are more parts than clusters that could hold them.
    Impossible,
    /// Another task of its workflow was refused or lost: it was not sought, or given back before
    /// it began.
    Abandoned,
}

impl CoVerdict {
    /// Every verdict, in the order of tables.
    pub const ALL: [Self; 5] = [
        Self::Granted,
        Self::NoCandidate,
        Self::Refused,
        Self::Impossible,
        Self::Abandoned,
    ];

    /// Its name in the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::NoCandidate => "no-candidate",
            Self::Refused => "refused",
            Self::Impossible => "impossible",
            Self::Abandoned => "abandoned",
        }
    }
}

/// Messages of one request. Reserve and cancel orders are what the thesis counts; status queries
/// are counted as it does in Table 9 of Meltzer 2005, one a part and cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Status queries, `r·c`.
    pub probes: u32,
    /// Clusters that were asked, over all rounds.
    pub probed_clusters: u32,
    /// How often the clusters were asked that were left out first.
    pub second_rounds: u32,
    /// Reserve orders that were granted, and orders to queue.
    pub granted: u32,
    /// Reserve orders that were refused.
    pub refused: u32,
    /// Cancellations.
    pub cancelled: u32,
    /// Answers that did not come in time.
    pub timed_out: u32,
    /// Messages sent again because no answer came (cancellations until they are acknowledged).
    pub repeated: u32,
}

impl MessageCounts {
    /// `n` of the thesis: reserve orders, granted or not, and cancellations.
    #[must_use]
    pub fn reservation_step(self) -> u32 {
        self.granted + self.refused + self.cancelled
    }
}

/// Extremes over the complete candidates that were built (Meltzer 2005, §6.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfferBounds {
    /// Earliest start.
    pub earliest: Seconds,
    /// Latest start.
    pub latest: Seconds,
    /// Least total cost.
    pub cheapest: f64,
    /// Highest total cost.
    pub dearest: f64,
}

/// What a probe found at one cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProbeCounts {
    /// The cluster.
    pub cluster: ClusterId,
    /// When it answered.
    pub at: Seconds,
    /// Candidates and why some are missing.
    pub counts: FilterCounts,
    /// Backlog time as of the query.
    pub backlog_now: Seconds,
    /// Backlog time for the first candidate start.
    pub backlog_earliest: Seconds,
}

/// What a cluster had free at one candidate start of a request, when it was probed (Meltzer 2005,
/// Figure 22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeCpus {
    /// The cluster.
    pub cluster: ClusterId,
    /// The candidate start.
    pub start: Seconds,
    /// CPUs that are free from then on for the duration of the request.
    pub free: Nodes,
}

/// How the CPUs of one cluster were used over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeLine {
    /// The cluster.
    pub cluster: ClusterId,
    /// Samples, in order of time.
    pub samples: Vec<TimeLineSample>,
}

/// One sample of a [`TimeLine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLineSample {
    /// When.
    pub time: Seconds,
    /// CPUs that run jobs.
    pub jobs: u32,
    /// CPUs that parts hold.
    pub parts: u32,
}
