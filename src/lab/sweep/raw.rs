//! What an experiment file says: every key optional where the file may leave it out, every value with its place.
//!
//! Nothing below `sweep` sees these types; [`super::resolve`] turns them into settings. Values of axes are put into the
//! TOML tree before it is read, so they pass through here like any other value.

use serde::Deserialize;
use toml::Spanned;

use crate::brokering::StartCap;
use crate::brokering::provisioning::{AfterFailure, SearchMethod, SiteChoice};
use crate::estimates::{Binning, LearningJobs, Overrun, PredictionRule};
use crate::plan::{EqualStarts, Surplus};
use crate::scheduling::local::{AccuracySource, BacklogWork, HourEdge, NextEventSource};
use crate::scheduling::reserving::{
    Admission, Backfilling, DisplacedJobs, Displacement, EarlyEnd, QueueOrder, SameInstant,
};
use crate::scheduling::{
    CalibrationMethod, Combination, Convolution, CrashRule, DownHorizon, EarlyStart,
    FailedStartRule, Padding, Placing, PredecessorRule, PromisingRule, ReplanPasses, Retry,
    SlotSource, SurvivalForm, UnderestimatorRule,
};
use crate::workload::workflows::{
    Instances, LevelSizes, Negatives, NodesShape, RuntimeShape, TransferMean, VolumeShape,
};
use crate::workload::{
    ClusterSizes, CopyShift, Excerpts, FurtherParts, LeadRounding, ProcessorsField,
    RequestDuration, RequestOrigin, TemplateSource,
};

/// One combination of axis values as the file states it: all sections except `axis`, `zip` and `exclude`.
#[derive(Debug, Default)]
pub struct RawExperiment {
    /// `[experiment]`.
    pub experiment: Option<Spanned<RawHeader>>,
    /// `[workload]`.
    pub workload: Option<Spanned<RawWorkload>>,
    /// `[estimates]`.
    pub estimates: RawEstimates,
    /// `[failures]`.
    pub failures: RawFailures,
    /// `[scheduling]`.
    pub scheduling: Option<Spanned<RawScheduling>>,
    /// `[acceptance]`.
    pub acceptance: RawAcceptance,
    /// `[reliability]`.
    pub reliability: RawReliability,
    /// `[reservations]`; without it there are none.
    pub reservations: Option<Spanned<RawReservations>>,
    /// `[admission]`.
    pub admission: RawAdmission,
    /// `[planning]`.
    pub planning: RawPlanning,
    /// `[slots]`.
    pub slots: RawSlots,
    /// `[virtual]`.
    pub virtual_reservations: RawVirtual,
    /// `[clusters]`.
    pub clusters: Option<Spanned<RawClusters>>,
    /// `[requests]`; without it there are jobs only.
    pub requests: Option<Spanned<RawRequests>>,
    /// `[broker]`.
    pub broker: Option<Spanned<RawBroker>>,
    /// `[local]`.
    pub local: Option<Spanned<RawLocal>>,
    /// `[grid_failures]`; without it nothing fails.
    pub grid_failures: Option<Spanned<RawGridFailures>>,
    /// `[risk]`; without it clusters keep what they promise.
    pub risk: Option<Spanned<RawRisk>>,
    /// `[sites]`; without it there is the one of the workload.
    pub sites: Option<Spanned<RawSites>>,
    /// `[workflow]`.
    pub workflow: Option<Spanned<RawWorkflow>>,
    /// `[provisioning]`.
    pub provisioning: Option<Spanned<RawProvisioning>>,
}

/// A value with its place in the file, where it was given.
pub type Given<T> = Option<Spanned<T>>;

/// `[experiment]`: what no axis may change.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawHeader {
    /// The name of the experiment.
    pub name: Given<String>,
    /// One paragraph for the report.
    pub description: Given<String>,
    /// The seed of all random streams.
    pub seed: Given<u64>,
    /// How many batteries.
    pub replications: Given<u32>,
}

/// `[workload]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawWorkload {
    /// A trace file…
    pub trace: Given<String>,
    /// …or a model.
    pub model: Given<String>,
    /// Jobs that the model generates.
    pub jobs: Given<u32>,
    /// Size of the machine.
    pub nodes: Given<u32>,
    /// Jobs that are evaluated.
    pub evaluation_jobs: Given<u32>,
    /// Jobs a battery.
    pub battery_jobs: Given<u32>,
    /// One factor…
    pub compression: Given<f64>,
    /// …or one load for the trace…
    pub target_load: Given<f64>,
    /// …or one load for each battery.
    pub battery_load: Given<f64>,
    /// Deadline over estimate.
    pub laxity: Given<f64>,
    /// The whole trace in the place of batteries.
    pub whole_trace: Given<bool>,
    /// Only its first days.
    pub days: Given<f64>,
    /// How many jobs are submitted a second time.
    pub copy_percent: Given<f64>,
    /// How the second copy is shifted.
    pub copy_shift: Given<CopyShift>,
    /// Whether estimates are set to runtimes.
    pub exact_estimates: Given<bool>,
    /// Whether only completed jobs are used.
    pub completed_only: Option<bool>,
    /// Which records are usable.
    #[serde(default)]
    pub cleaning: RawCleaning,
}

/// `[workload.cleaning]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawCleaning {
    /// Which field gives the node count.
    pub processors: Option<ProcessorsField>,
    /// Whether records with run time 0 are dropped.
    pub drop_zero_runtime: Option<bool>,
    /// Whether records that overran are dropped.
    pub drop_overruns: Option<bool>,
    /// Whether cancelled records are dropped.
    pub drop_cancelled: Option<bool>,
}

/// `[estimates]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawEstimates {
    /// The class family.
    pub classes: Given<String>,
    /// Borders of runtime classes.
    pub runtime_borders_seconds: Given<Vec<i64>>,
    /// Bounds of resource classes.
    pub resource_upper_bounds: Given<Vec<u32>>,
    /// Users with a class of their own.
    pub top_users: Given<u32>,
    /// Applications with a class of their own.
    pub top_applications: Given<u32>,
    /// Which jobs are learned from.
    pub learn_from: Option<LearningJobs>,
    /// How a ratio becomes a percent.
    pub binning: Option<Binning>,
    /// What happens to overruns.
    pub overrun: Option<Overrun>,
    /// The smallest class.
    pub minimum_class_size: Given<u32>,
}

/// `[failures]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFailures {
    /// Where failures come from.
    pub source: Given<String>,
    /// The LANL table.
    pub file: Given<String>,
    /// Systems of the LANL table.
    pub systems: Given<Vec<u32>>,
    /// Where in failure time a simulation starts.
    pub offset_hours: Given<f64>,
    /// The model of up-times.
    pub survival: Given<String>,
    /// Poisson rate.
    pub rate_per_hour: Given<f64>,
    /// Weibull shape.
    pub shape: Given<f64>,
    /// Weibull scale.
    pub scale_hours: Given<f64>,
    /// Hyper-exponential weights.
    pub probabilities: Given<Vec<f64>>,
    /// Hyper-exponential rates.
    pub rates_per_hour: Given<Vec<f64>>,
    /// Repairs an hour.
    pub repair_rate_per_hour: Given<f64>,
}

/// `[scheduling]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawScheduling {
    /// The policy.
    pub strategy: Given<String>,
    /// Which slot is taken.
    pub placing: Option<Placing>,
    /// Whether full-length slots are tested.
    pub test_full_length: Option<bool>,
    /// Step of distributions.
    pub time_step_seconds: Given<i64>,
    /// How distributions are convolved.
    pub convolution: Option<Convolution>,
    /// Whether distributions are conditioned on elapsed time.
    pub condition_on_elapsed: Option<bool>,
    /// What is believed of the jobs in front.
    pub predecessors: Option<PredecessorRule>,
    /// How long a node stays down in a plan.
    pub down_horizon: Option<DownHorizon>,
    /// How often a re-planning pass is repeated.
    pub replan: Option<ReplanPasses>,
    /// What becomes of a job that loses a node.
    pub crash: Option<CrashRule>,
    /// What becomes of a job that cannot start.
    pub failed_start: Option<FailedStartRule>,
    /// When waiting jobs are tried again.
    pub retry: Option<Retry>,
    /// Whether the plan is rebuilt after a failed start.
    pub replan_failed_start: Option<bool>,
    /// Whether nobody is placed in front of an overbooked job.
    pub hold_for_overbooked: Option<bool>,
    /// Dependence on predecessors of the same user.
    pub user_factor: Given<f64>,
    /// Whether planned jobs start early.
    pub early_start: Option<EarlyStart>,
}

/// `[acceptance]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawAcceptance {
    /// The test.
    pub test: Given<String>,
    /// Threshold of the PoF test.
    pub pof_max: Given<f64>,
    /// How promises follow from computed probabilities.
    pub calibration: Option<CalibrationMethod>,
    /// After how many jobs counts weigh half.
    pub calibration_half_life_jobs: Given<f64>,
    /// How much must be counted.
    pub calibration_minimum_jobs: Given<f64>,
    /// How many batteries are run before.
    pub calibration_batteries: Given<u32>,
    /// Penalty over fee.
    pub penalty_ratio: Given<f64>,
    /// S of the risk test.
    pub security_factor: Given<f64>,
    /// What makes a job promising for the algorithm of 2008.
    pub promising: Option<PromisingRule>,
    /// What it plans for underestimators.
    pub underestimators: Option<UnderestimatorRule>,
}

/// `[reliability]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawReliability {
    /// The model of survival.
    pub survival: Given<String>,
    /// Poisson rate.
    pub rate_per_hour: Given<f64>,
    /// Weibull shape.
    pub shape: Given<f64>,
    /// Weibull scale.
    pub scale_hours: Given<f64>,
    /// Hyper-exponential weights.
    pub probabilities: Given<Vec<f64>>,
    /// Hyper-exponential rates.
    pub rates_per_hour: Given<Vec<f64>>,
    /// λ of the availability term.
    pub failure_rate_per_hour: Given<f64>,
    /// μ.
    pub repair_rate_per_hour: Given<f64>,
    /// The right or the printed formula.
    pub form: Option<SurvivalForm>,
}

/// `[reservations]`: requests made from the jobs of the workload.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawReservations {
    /// How many of the jobs.
    pub share_percent: Given<f64>,
    /// What happens to a chosen job.
    pub origin: Option<RequestOrigin>,
    /// Which start is wanted.
    pub start: Given<String>,
    /// SF of the rule estimate-factor.
    pub start_factor: Given<f64>,
    /// The lead of the rule lead.
    pub lead_hours: Given<f64>,
    /// α of the rule choice.
    pub alpha: Given<f64>,
    /// Whether α is drawn for each request.
    pub random_alpha: Given<bool>,
    /// How long a slot is.
    pub duration: Option<RequestDuration>,
    /// How leads become whole seconds.
    pub rounding: Option<LeadRounding>,
}

/// `[admission]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawAdmission {
    /// When a reservation is admitted.
    pub rule: Option<Admission>,
    /// Which jobs are planned again.
    pub displaced: Option<DisplacedJobs>,
    /// Who is not pushed away any more.
    pub starvation_guard_hours: Given<f64>,
    /// What becomes of the rest of a reservation.
    pub early_end: Option<EarlyEnd>,
    /// Who comes first in a second.
    pub same_instant: Option<SameInstant>,
    /// Whether displaced jobs are counted.
    pub displacement: Option<Displacement>,
}

/// `[planning]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPlanning {
    /// The order of planning.
    pub order: Option<QueueOrder>,
    /// Who may be planned before whom.
    pub backfilling: Option<Backfilling>,
}

/// `[slots]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSlots {
    /// Where slots come from.
    pub source: Option<SlotSource>,
    /// Time between samples.
    pub sample_minutes: Given<f64>,
    /// The order of slots with equal starts.
    pub equal_starts: Option<EqualStarts>,
    /// Which slot keeps the surplus.
    pub surplus: Option<Surplus>,
    /// Whether identical slots are merged.
    pub merge_identical: Option<bool>,
    /// The shortest slot that is advertised.
    pub minimum_minutes: Given<f64>,
}

/// `[virtual]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawVirtual {
    /// Nodes of the request.
    pub nodes: Given<u32>,
    /// How long they are wanted.
    pub duration_hours: Given<f64>,
    /// Between the request and the wanted start.
    pub lead_hours: Given<f64>,
    /// p of the cancellation penalty.
    pub penalty_factor: Given<f64>,
    /// Requests, one a day.
    pub instants: Given<u32>,
    /// Step of the search for a submission time.
    pub step_seconds: Given<i64>,
    /// Where the padded runtime is computed.
    pub padding: Option<Padding>,
    /// How much of the trace runs before the first request.
    pub warm_up_days: Given<f64>,
    /// How the combined scheme is evaluated.
    pub combination: Option<Combination>,
    /// The rule of prediction.
    pub rule: Option<PredictionRule>,
    /// Waits that a category remembers.
    pub history: Given<u32>,
    /// Confidence of quantile bounds.
    pub confidence: Given<f64>,
    /// The smallest history of a category.
    pub minimum_history: Given<u32>,
}

/// `[clusters]`: several clusters and where their jobs come from.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawClusters {
    /// How many.
    pub count: Given<u32>,
    /// The length of their windows.
    pub days: Given<f64>,
    /// Which windows.
    pub excerpts: Option<Excerpts>,
    /// Whether narrow jobs are merged.
    pub merging: Option<bool>,
    /// How many jobs become one.
    pub merge_at_most: Given<u32>,
    /// How large they are.
    pub sizes: Option<ClusterSizes>,
}

/// `[requests]`: the generator of co-reservation requests.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRequests {
    /// The workload that the other keys change.
    pub workload: Given<String>,
    /// So many requests…
    pub count: Given<u32>,
    /// …or each template with this probability.
    pub chance: Given<f64>,
    /// CPU-seconds that all of them come to.
    pub total_cpu_seconds: Given<u32>,
    /// Whose jobs are templates.
    pub templates: Option<TemplateSource>,
    /// Parts of a request.
    pub parts: Given<u32>,
    /// How wide the parts behind the second are.
    pub further_parts: Option<FurtherParts>,
    /// Lead over duration…
    pub lead_factor: Given<f64>,
    /// …or one lead.
    pub lead_seconds: Given<u32>,
    /// Slack over duration…
    pub slack_factor: Given<f64>,
    /// …up to this…
    pub slack_limit_hours: Given<f64>,
    /// …or one slack.
    pub slack_seconds: Given<u32>,
    /// Every so many-th is dropped.
    pub drop_every: Given<u32>,
    /// Bursts that earliest starts are gathered in.
    pub bursts: Given<u32>,
    /// How long each is.
    pub burst_hours: Given<f64>,
    /// k.
    pub cost_weight: Given<f64>,
    /// s.
    pub start_weight: Given<f64>,
}

/// `[broker]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawBroker {
    /// The algorithm.
    pub algorithm: Given<String>,
    /// m.
    pub minimum_step_seconds: Given<u32>,
    /// w.
    pub maximum_starts: Given<u32>,
    /// Whether w is kept to the letter.
    pub start_cap: Option<StartCap>,
    /// Whether refusals are remembered.
    pub memoise: Option<bool>,
    /// A5's tolerance of later starts.
    pub start_tolerance_seconds: Given<u32>,
    /// A5's tolerance of higher costs.
    pub cost_tolerance: Given<f64>,
    /// Whether lost parts are asked for anew.
    pub renegotiate: Option<bool>,
    /// How long a message takes.
    pub latency_seconds: Given<u32>,
    /// How long an answer is waited for.
    pub timeout_seconds: Given<u32>,
    /// Messages that are lost.
    pub message_loss_percent: Given<f64>,
}

/// `[local]`: the cluster's scheduler and its reservation service.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawLocal {
    /// Who overtakes whom.
    pub backfilling: Option<Backfilling>,
    /// Whether places of waiting jobs block parts.
    pub planned_visible: Option<bool>,
    /// How much of a running job is backlog.
    pub backlog_work: Option<BacklogWork>,
    /// Where the accuracy comes from.
    pub accuracy: Option<AccuracySource>,
    /// A factor on it.
    pub accuracy_factor: Given<f64>,
    /// What the next event is reckoned from.
    pub next_event: Option<NextEventSource>,
    /// The most that parts may hold.
    pub quota_percent: Given<f64>,
    /// What CPU-hours cost.
    pub tariff: Given<String>,
    /// Which hours are charged.
    pub hour_edge: Option<HourEdge>,
    /// When in the week a simulation begins.
    pub calendar_origin_hours: Given<f64>,
}

/// `[grid_failures]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawGridFailures {
    /// Between failures of one cluster.
    pub cluster_mtbf_days: Given<f64>,
    /// Until it is back.
    pub cluster_repair_hours: Given<f64>,
    /// Between failures of one node.
    pub node_mtbf_days: Given<f64>,
    /// Until it is back.
    pub node_repair_hours: Given<f64>,
    /// CPUs of a node.
    pub node_cpus: Given<u32>,
}

/// `[risk]`: clusters that overbook.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRisk {
    /// How the broker picks.
    pub choice: Given<String>,
    /// The client's limit.
    pub pof_limit: Given<f64>,
    /// Penalty over fee.
    pub penalty_ratio: Given<f64>,
    /// The riskiest offer.
    pub pof_max: Given<f64>,
    /// How the clusters overbook.
    pub strategy: Given<String>,
}

/// `[sites]`: providers and how busy they are.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSites {
    /// The load of the first.
    pub utilisation_percent: Given<f64>,
    /// So many of the list.
    pub count: Given<u32>,
    /// The others.
    #[serde(default)]
    pub more: Vec<Spanned<RawSite>>,
}

/// `[[sites.more]]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSite {
    /// Its trace.
    pub trace: Given<String>,
    /// Its size.
    pub nodes: Given<u32>,
    /// Its load.
    pub utilisation_percent: Given<f64>,
}

/// `[workflow]`: the application.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawWorkflow {
    /// Where it comes from.
    pub source: Given<String>,
    /// Its file.
    pub file: Given<String>,
    /// What becomes of negative values of a file.
    pub negatives: Option<Negatives>,
    /// One for all submissions, or one each.
    pub instances: Option<Instances>,
    /// Tasks.
    pub tasks: Given<u32>,
    /// Levels.
    pub depth: Given<u32>,
    /// How tasks are shared out among levels.
    pub levels: Option<LevelSizes>,
    /// Parents of a task.
    pub parents: Given<u32>,
    /// Mean run time.
    pub mean_seconds: Given<u32>,
    /// How run times spread.
    pub runtimes: Option<RuntimeShape>,
    /// Mean width.
    pub mean_nodes: Given<u32>,
    /// How widths spread.
    pub nodes: Option<NodesShape>,
    /// Mean volume of an edge.
    pub mean_gigabits: Given<f64>,
    /// How volumes spread.
    pub volumes: Option<VolumeShape>,
    /// How run times of the seismic hazard workflow spread.
    pub runtime_variation: Given<f64>,
    /// Between sites.
    pub bandwidth_gbps: Given<f64>,
    /// Between sites.
    pub latency_seconds: Given<f64>,
    /// What mean transfer times are taken over.
    pub transfer_mean: Option<TransferMean>,
}

/// `[provisioning]`: how applications buy.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawProvisioning {
    /// How a plan is made.
    pub search: Option<SearchMethod>,
    /// What sites offer.
    pub provider: Given<String>,
    /// The wish: a weight…
    pub alpha: Given<f64>,
    /// …or a deadline…
    pub deadline_hours: Given<f64>,
    /// …over the longest path…
    pub deadline_factor: Given<f64>,
    /// …or a budget…
    pub budget_su: Given<f64>,
    /// …over the work.
    pub budget_factor: Given<f64>,
    /// Plans in a population.
    pub population: Given<u32>,
    /// Generations of offspring.
    pub generations: Given<u32>,
    /// σ_share.
    pub sharing_radius: Given<f64>,
    /// Whether one plan may use every slot.
    pub all_slots_member: Option<bool>,
    /// Which site takes a task.
    pub site_choice: Option<SiteChoice>,
    /// Whether plans stay booked.
    pub commitment: Given<String>,
    /// How many applications come one after the other.
    pub submissions: Given<u32>,
    /// How long a reservation is under way.
    pub latency_seconds: Given<u32>,
    /// How often a plan is made anew.
    pub replans: Given<u32>,
    /// What a lost task leads to.
    pub after_failure: Option<AfterFailure>,
}

/// `[[axis]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawAxis {
    /// A dotted key.
    pub key: Spanned<String>,
    /// Its values…
    pub values: Given<Vec<Spanned<toml::Value>>>,
    /// …or a range of them.
    pub range: Given<RawRange>,
}

/// `range = { from, to, step }`, inclusive.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRange {
    /// The first value.
    pub from: Number,
    /// The last value, where a whole number of steps reaches it.
    pub to: Number,
    /// The distance between two values.
    pub step: Number,
}

/// A number of a range: three whole numbers give whole values.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "a number")]
pub enum Number {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
}

impl Number {
    /// The number as a real one.
    #[must_use]
    pub fn real(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }
}

/// `[[zip]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawZip {
    /// Dotted keys that move together.
    pub keys: Vec<Spanned<String>>,
    /// Rows with one value for each key.
    pub values: Spanned<Vec<Spanned<Vec<Spanned<toml::Value>>>>>,
}
