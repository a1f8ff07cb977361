//! Settings of a broker's search, of its messages, and of outages of the clusters.

use serde::{Deserialize, Serialize};

use bookahead_core::scheduling::{Acceptance, PolicySpec, Reliability};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::CoRequest;

use super::{Algorithm, InformationSettings};
use crate::co_reservation::local::{LocalSettings, Precedence};

/// A study of co-reservation: broker, clusters, network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoReservationSettings {
    /// How candidates are made and searched.
    pub search: SearchSettings,
    /// Latency and losses of messages.
    pub messages: MessageSettings,
    /// The clusters.
    pub local: LocalSettings,
    /// What hits them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<ClusterFailureSettings>,
    /// Whether a part that a cluster lost is asked for anew elsewhere (Meltzer 2005, §7.4).
    pub renegotiate: bool,
    /// An agent of the broker that watches reserved clusters; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<WatchSettings>,
    /// Clients that go on looking for something better after a grant; `None` if every request is
    /// negotiated once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_thoughts: Option<SecondThoughts>,
    /// Clusters that overbook, and a broker that weighs their risk; `None` for clusters that keep
    /// what they promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskSettings>,
    /// Which clusters the broker knows of, and which it asks first.
    #[serde(default, skip_serializing_if = "InformationSettings::is_default")]
    pub information: InformationSettings,
}

/// An agent that polls the clusters at which something is reserved, and gives up what a cluster
/// holds that does not answer (Meltzer 2005, §7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchSettings {
    /// The time from one poll to the next; the first is at this instant.
    pub every: Seconds,
    /// So many polls in a row without an answer, 1 at least.
    pub misses: u32,
}

/// Requests of two classes (Meltzer 2005, §7.3): most are negotiated once; a renegotiable one is
/// issued anew every so often until what it holds starts, and the worse of two reservations is
/// given back. Where some requests have priority, these may take the CPUs of renegotiable ones that
/// have not started, which are then issued anew.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SecondThoughts {
    /// How many requests are renegotiable, in percent: each is drawn on its own with this
    /// probability.
    pub share_percent: f64,
    /// How long after one negotiation the next one begins.
    pub every: Seconds,
    /// How many requests have priority, in percent: each is drawn on its own with this probability,
    /// before it is drawn whether it is renegotiable.
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority_percent: f64,
    /// How much more a renegotiable request pays than the tariff, as a share of it (Meltzer 2005,
    /// §7.3).
    #[serde(default, skip_serializing_if = "is_default")]
    pub surcharge: f64,
}

/// Whose request gives way, and to whom (Meltzer 2005, §7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RequestClass {
    /// It is negotiated once.
    #[default]
    Fixed,
    /// It is issued anew, and gives way to priority.
    Renegotiable,
    /// It is negotiated once, and may take the CPUs of renegotiable ones.
    Priority,
}

impl RequestClass {
    /// What its parts may take from others, and they from it.
    #[must_use]
    pub fn precedence(self) -> Precedence {
        match self {
            Self::Fixed => Precedence::Fixed,
            Self::Renegotiable => Precedence::Yields,
            Self::Priority => Precedence::Displaces,
        }
    }
}

/// How candidates are made and searched (Meltzer 2005, §4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchSettings {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Whether the algorithm orders candidates, or how far they reserve their clusters.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sort_by: SortBy,
    /// `minsize`, the least time between candidate starts.
    pub minimum_step: Seconds,
    /// `max_zeitfenster`, the most candidate starts.
    pub maximum_starts: u32,
    /// Whether that is kept to the envelope (Q1).
    pub start_cap: StartCap,
    /// Whether a refused TR candidate is remembered for the rest of its request and not tried
    /// again.
    pub memoise: bool,
    /// A5: how much later than the best a candidate may start and still be kept in repair (Q27).
    pub start_tolerance: Seconds,
    /// A5: how much dearer it may be.
    pub cost_tolerance: f64,
    /// The baseline without reservations: how long a part that has begun waits for the others
    /// (Meltzer 2005, §1).
    #[serde(default, skip_serializing_if = "is_default")]
    pub patience: Patience,
    /// Whether all CPUs of a request are sought on one cluster (Meltzer 2005, §1).
    #[serde(default, skip_serializing_if = "is_default")]
    pub unsplit: bool,
    /// How much longer a request lasts that has several parts, as a share of its duration.
    #[serde(default, skip_serializing_if = "is_default")]
    pub split_overhead: f64,
    /// Whether it is recorded how many CPUs each cluster has free over the window of each request
    /// (Meltzer 2005, Figure 22).
    #[serde(default, skip_serializing_if = "is_default")]
    pub record_free_cpus: bool,
}

impl SearchSettings {
    /// The request as it is run: all its CPUs in one part, or in the parts that it asks for and
    /// longer by the overhead. The window stays.
    #[must_use]
    pub fn as_run(&self, mut request: CoRequest) -> CoRequest {
        if self.unsplit {
            request.parts = vec![Nodes(request.parts.iter().map(|part| part.0).sum())];
            if !request.further.is_empty() {
                request.further = vec![request.further.into_iter().sum()];
            }
        } else if request.parts.len() > 1 {
            let seconds = request.duration.0 as f64 * (1.0 + self.split_overhead);
            request.duration = Seconds(libm::round(seconds) as i64);
        }
        request
    }
}

/// How long a queued part that has begun waits for the others of its request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Patience {
    /// So many times the duration of the request, and a second at least.
    Factor(f64),
    /// So long, a second at least.
    Fixed(Seconds),
}

impl Default for Patience {
    fn default() -> Self {
        Self::Factor(0.5)
    }
}

impl Patience {
    /// That of a request of this duration.
    #[must_use]
    pub fn of(self, duration: Seconds) -> Seconds {
        let patience = match self {
            Self::Factor(factor) => Seconds(libm::round(duration.0 as f64 * factor) as i64),
            Self::Fixed(patience) => patience,
        };
        patience.max(Seconds(1))
    }
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::default(),
            sort_by: SortBy::default(),
            minimum_step: Seconds(300),
            maximum_starts: 20,
            start_cap: StartCap::default(),
            memoise: false,
            start_tolerance: Seconds::ZERO,
            cost_tolerance: 0.0,
            patience: Patience::default(),
            unsplit: false,
            split_overhead: 0.0,
            record_free_cpus: false,
        }
    }
}

/// What decides which complete candidate is tried first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SortBy {
    /// The algorithm: chance, the start, or the client's preference.
    #[default]
    Algorithm,
    /// For A5: bands of cost, each a tenth of the range, and in a band the start (Meltzer 2005,
    /// §4.7.1, §4.7.2).
    Staged,
    /// The least sum over its parts of the degree to which their clusters would be reserved
    /// meanwhile (Meltzer 2005, §7.1).
    ReservationDegree,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How many candidate starts there are (Q1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartCap {
    /// At most `maximum_starts`: the text.
    #[default]
    Capped,
    /// Both ends of the window: the listing, one more where the step divides the window.
    Literal,
}

/// Latency and losses of messages between broker and clusters (Meltzer 2005, §5.4, §7.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageSettings {
    /// How long a message, or its answer, is on its way.
    pub latency: Seconds,
    /// How long the broker waits for an answer before it gives the cluster up for this request.
    pub timeout: Seconds,
    /// The probability that a message, or its answer, is lost, in `[0, 1)`.
    pub loss: f64,
}

impl Default for MessageSettings {
    /// No time passes and nothing is lost (Q24).
    fn default() -> Self {
        Self {
            latency: Seconds::ZERO,
            timeout: Seconds(60),
            loss: 0.0,
        }
    }
}

/// Failures of clusters and of their nodes, drawn with exponential times between failures and of
/// repair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterFailureSettings {
    /// Mean time between failures of one whole cluster; `None` for none.
    pub cluster_mtbf: Option<Seconds>,
    /// Mean time until it is back.
    pub cluster_repair: Seconds,
    /// Mean time between failures of one node; `None` for none.
    pub node_mtbf: Option<Seconds>,
    /// Mean time until it is back.
    pub node_repair: Seconds,
    /// CPUs of a node, which fail together.
    pub node_cpus: u32,
    /// Whether a cluster that is down says nothing: what it lost is told when it is back. Otherwise
    /// it tells at once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub silent: bool,
}

impl ClusterFailureSettings {
    /// What never fails is never repaired.
    pub(crate) fn normalise(&mut self) {
        if self.cluster_mtbf.is_none() {
            self.cluster_repair = Seconds::ZERO;
            self.silent = false;
        }
        if self.node_mtbf.is_none() {
            self.node_repair = Seconds::ZERO;
            self.node_cpus = 1;
        }
    }
}

/// Clusters that overbook and a broker that weighs risk: the joint study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RiskSettings {
    /// How the broker picks.
    pub choice: RiskChoice,
    /// Penalty ÷ fee, ρ: what a lost part costs the cluster.
    pub penalty_ratio: f64,
    /// The highest PoF of a part that a cluster offers, in `[0, 1]`.
    pub pof_max: f64,
    /// How the clusters plan: the name of a strategy of `scheduling::registry`.
    pub strategy: String,
    /// What they believe of their nodes where these fail by a source; `None` where they know what
    /// is drawn ([`ClusterFailureSettings`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reliability: Option<Reliability>,
    /// What else they plan their jobs by; `None` where everything has its default. The strategy,
    /// the acceptance test and the reliability are those above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Box<PolicySpec>>,
}

impl RiskSettings {
    /// What a cluster plans with: its own jobs and the parts that it offers pass the same test.
    /// `drawn` is what it believes of its nodes where the settings say nothing.
    #[must_use]
    pub fn cluster_policy(&self, drawn: impl FnOnce() -> Reliability) -> PolicySpec {
        PolicySpec {
            strategy: self.strategy.clone(),
            acceptance: Acceptance::Pof {
                maximum: self.pof_max,
            },
            reliability: self.reliability.clone().unwrap_or_else(drawn),
            ..self.policy.as_deref().cloned().unwrap_or_default()
        }
    }
}

/// How a broker picks among candidates with a price and a risk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RiskChoice {
    /// The least expected cost: price + PoF × penalty.
    ExpectedCost,
    /// The algorithm's order, among candidates whose parts together fail with at most this
    /// probability.
    Limit {
        /// The client's limit, in `[0, 1]`.
        pof: f64,
    },
}
