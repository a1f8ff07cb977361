//! The keys of an experiment file: their types, what is allowed, and the nearest name to a mistyped one.
//!
//! This is the one list behind "unknown key" errors, the check of axis keys and the type that an axis value has in the
//! store. A test holds it against the structures of `sweep/raw.rs`, which are what serde reads.

/// What a value of a key looks like in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A real number; a whole number is taken as one.
    Real,
    /// A quoted name.
    Text,
    /// `true` or `false`.
    Flag,
    /// A list of numbers.
    List,
}

impl Kind {
    /// The type in words, for messages.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Integer => "a whole number",
            Self::Real => "a number",
            Self::Text => "a text in quotes",
            Self::Flag => "true or false",
            Self::List => "a list in brackets",
        }
    }
}

/// One key of the experiment file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Dotted path from the top of the file.
    pub path: &'static str,
    /// Type of its value.
    pub kind: Kind,
    /// What is allowed, with unit and default, in one line.
    pub allowed: &'static str,
}

const fn key(path: &'static str, kind: Kind, allowed: &'static str) -> Key {
    Key {
        path,
        kind,
        allowed,
    }
}

/// Every key that may stand in a section, in the order of the documentation.
pub const KEYS: &[Key] = &[
    key(
        "experiment.name",
        Kind::Text,
        "envelopes, digits, `-`, `_`, `.` and `@`, beginning with a letter or digit",
    ),
    key("experiment.description", Kind::Text, "any text"),
    key(
        "experiment.seed",
        Kind::Integer,
        "a whole number of 0 or more (default 1)",
    ),
    key(
        "experiment.replications",
        Kind::Integer,
        "a whole number of 1 or more: how many batteries (default 1)",
    ),
    key(
        "workload.trace",
        Kind::Text,
        "the file name of a trace, with or without .gz or .xz",
    ),
    key(
        "workload.model",
        Kind::Text,
        "\"lublin-feitelson\", \"uniform-ratio\" or \"arminius\"",
    ),
    key(
        "workload.jobs",
        Kind::Integer,
        "a whole number of 1 or more: jobs that the model generates in all",
    ),
    key(
        "workload.nodes",
        Kind::Integer,
        "a whole number from 1 to 10000000: the size of the machine",
    ),
    key(
        "workload.evaluation_jobs",
        Kind::Integer,
        "a whole number of at least replications × battery_jobs (the default)",
    ),
    key(
        "workload.battery_jobs",
        Kind::Integer,
        "a whole number of 1 or more (default 1000)",
    ),
    key("workload.compression", Kind::Real, "a factor above 0"),
    key(
        "workload.target_load",
        Kind::Real,
        "an offered load above 0, where 1 is the whole machine",
    ),
    key(
        "workload.battery_load",
        Kind::Real,
        "an offered load above 0, where 1 is the whole machine",
    ),
    key(
        "workload.laxity",
        Kind::Real,
        "1 or more: the deadline is submission + laxity × estimate (default 2)",
    ),
    key(
        "workload.whole_trace",
        Kind::Flag,
        "true or false (default): the whole trace as one simulation, without batteries",
    ),
    key(
        "workload.days",
        Kind::Real,
        "above 0: only the jobs of the first days of a whole trace",
    ),
    key(
        "workload.copy_percent",
        Kind::Real,
        "0 to 100: jobs of a whole trace that are submitted a second time (default 0)",
    ),
    key(
        "workload.copy_shift",
        Kind::Text,
        "\"within-a-day\" (default) or \"a-week\"",
    ),
    key(
        "workload.exact_estimates",
        Kind::Flag,
        "true or false (default): estimates of a whole trace are its runtimes",
    ),
    key(
        "workload.completed_only",
        Kind::Flag,
        "true or false (default): only records whose status is completed, for evaluation and learning",
    ),
    key(
        "workload.cleaning.processors",
        Kind::Text,
        "\"allocated-else-requested\" (default) or \"requested-else-allocated\"",
    ),
    key(
        "workload.cleaning.drop_zero_runtime",
        Kind::Flag,
        "true (default) or false",
    ),
    key(
        "workload.cleaning.drop_overruns",
        Kind::Flag,
        "true or false (default)",
    ),
    key(
        "workload.cleaning.drop_cancelled",
        Kind::Flag,
        "true or false (default)",
    ),
    key(
        "estimates.classes",
        Kind::Text,
        "\"all\", \"runtime\" (default), \"resources\", \"user\", \"application\", \"user-last\", or two of them joined by +",
    ),
    key(
        "estimates.runtime_borders_seconds",
        Kind::List,
        "ascending whole numbers of seconds above 0 (default [600, 3600, 7200, 10800, 18000, 43200])",
    ),
    key(
        "estimates.resource_upper_bounds",
        Kind::List,
        "ascending whole numbers of nodes above 0 (default [1, 2, 4, 8, 16, 32, 64])",
    ),
    key(
        "estimates.top_users",
        Kind::Integer,
        "a whole number of 1 or more (default 10)",
    ),
    key(
        "estimates.top_applications",
        Kind::Integer,
        "a whole number of 1 or more (default 10)",
    ),
    key(
        "estimates.learn_from",
        Kind::Text,
        "\"before\" (default): the jobs before the evaluated ones, or \"evaluated\": what no planner can know",
    ),
    key(
        "estimates.binning",
        Kind::Text,
        "\"round\" (default), \"floor\" or \"ceil\"",
    ),
    key(
        "estimates.overrun",
        Kind::Text,
        "\"clamp\" (default) or \"drop\"",
    ),
    key(
        "estimates.minimum_class_size",
        Kind::Integer,
        "a whole number of 1 or more (default 1)",
    ),
    key(
        "failures.source",
        Kind::Text,
        "\"none\" (default), \"lanl\" or \"generated\"",
    ),
    key(
        "failures.file",
        Kind::Text,
        "the file name of the LANL table, with or without .gz or .xz",
    ),
    key(
        "failures.systems",
        Kind::List,
        "different system numbers of the LANL table (default [18, 19])",
    ),
    key(
        "failures.offset_hours",
        Kind::Real,
        "hours of the failure clock at the start (default 0); negative ones are a lead-in without failures",
    ),
    key(
        "failures.survival",
        Kind::Text,
        "\"poisson\" (default), \"weibull\" or \"hyper-exponential\"",
    ),
    key(
        "failures.rate_per_hour",
        Kind::Real,
        "0 or more failures an hour and node (default 1.2904e-4)",
    ),
    key(
        "failures.shape",
        Kind::Real,
        "a Weibull shape above 0 (default 0.7)",
    ),
    key(
        "failures.scale_hours",
        Kind::Real,
        "a Weibull scale above 0 hours (default 7749.5)",
    ),
    key(
        "failures.probabilities",
        Kind::List,
        "probabilities that sum to 1, one for each of rates_per_hour",
    ),
    key(
        "failures.rates_per_hour",
        Kind::List,
        "rates of 0 or more an hour, one for each of probabilities",
    ),
    key(
        "failures.repair_rate_per_hour",
        Kind::Real,
        "above 0 repairs an hour (default 0.4333)",
    ),
    key("scheduling.strategy", Kind::Text, "a registered strategy"),
    key(
        "scheduling.placing",
        Kind::Text,
        "\"first-fit\", \"near-best-fit\" (default), \"last-fit\", \"highest-pos\" or \"best-opportunity\"",
    ),
    key(
        "scheduling.test_full_length",
        Kind::Flag,
        "true or false (default)",
    ),
    key(
        "scheduling.time_step_seconds",
        Kind::Integer,
        "a whole number of seconds of 1 or more (default 60)",
    ),
    key(
        "scheduling.convolution",
        Kind::Text,
        "\"direct\" (default) or \"fourier\"",
    ),
    key(
        "scheduling.condition_on_elapsed",
        Kind::Flag,
        "true or false (default)",
    ),
    key(
        "scheduling.predecessors",
        Kind::Text,
        "\"joint\" (default) or \"planned\"",
    ),
    key(
        "scheduling.down_horizon",
        Kind::Text,
        "\"mttr\" (default), \"forever\" or \"none\"",
    ),
    key(
        "scheduling.replan",
        Kind::Text,
        "\"once\" (default) or \"fixed-point\"",
    ),
    key(
        "scheduling.crash",
        Kind::Text,
        "\"strategy\" (default), \"final\", \"restart\", \"restart-full\" or \"restart-short\"",
    ),
    key(
        "scheduling.failed_start",
        Kind::Text,
        "\"strategy\" (default), \"lost\", \"wait-full\" or \"wait-short\"",
    ),
    key(
        "scheduling.retry",
        Kind::Text,
        "\"events\" (default) or \"repairs\"",
    ),
    key(
        "scheduling.replan_failed_start",
        Kind::Flag,
        "true or false (default)",
    ),
    key(
        "scheduling.hold_for_overbooked",
        Kind::Flag,
        "true or false (default)",
    ),
    key(
        "scheduling.user_factor",
        Kind::Real,
        "0 (default: independent) to 1: dependence of a job on a predecessor of its user",
    ),
    key(
        "scheduling.early_start",
        Kind::Text,
        "\"strategy\" (default), \"yes\" or \"no\"",
    ),
    key(
        "acceptance.test",
        Kind::Text,
        "\"pof\" (default) or \"risk\"",
    ),
    key(
        "acceptance.pof_max",
        Kind::Real,
        "a probability from 0 to 1 (default 0.2)",
    ),
    key(
        "acceptance.calibration",
        Kind::Text,
        "\"none\" (default), \"isotonic\" or \"logistic\"",
    ),
    key(
        "acceptance.calibration_half_life_jobs",
        Kind::Real,
        "1 or more submitted jobs (default 5000)",
    ),
    key(
        "acceptance.calibration_minimum_jobs",
        Kind::Real,
        "0 or more decided jobs, aged (default 50)",
    ),
    key(
        "acceptance.calibration_batteries",
        Kind::Integer,
        "0 to 20 batteries before the simulated one (default 5)",
    ),
    key(
        "acceptance.penalty_ratio",
        Kind::Real,
        "0 or more: penalty ÷ fee (default 1)",
    ),
    key(
        "acceptance.security_factor",
        Kind::Real,
        "0 or more (default: the strategy's own)",
    ),
    key(
        "acceptance.promising",
        Kind::Text,
        "\"class\" (default), \"application\", \"user\" or \"either\": whose statistics let overbooking-2008 shorten a job",
    ),
    key(
        "acceptance.underestimators",
        Kind::Text,
        "\"as-estimated\" (default) or \"more-time\": what overbooking-2008 plans for users whose jobs mostly outlast their estimates",
    ),
    key(
        "reliability.survival",
        Kind::Text,
        "\"poisson\" (default), \"weibull\" or \"hyper-exponential\"",
    ),
    key(
        "reliability.rate_per_hour",
        Kind::Real,
        "0 or more failures an hour and node (default 1.2904e-4)",
    ),
    key(
        "reliability.shape",
        Kind::Real,
        "a Weibull shape above 0 (default 0.7)",
    ),
    key(
        "reliability.scale_hours",
        Kind::Real,
        "a Weibull scale above 0 hours (default 7749.5)",
    ),
    key(
        "reliability.probabilities",
        Kind::List,
        "probabilities that sum to 1, one for each of rates_per_hour",
    ),
    key(
        "reliability.rates_per_hour",
        Kind::List,
        "rates of 0 or more an hour, one for each of probabilities",
    ),
    key(
        "reliability.failure_rate_per_hour",
        Kind::Real,
        "0 or more failures an hour (default 1.2904e-4)",
    ),
    key(
        "reliability.repair_rate_per_hour",
        Kind::Real,
        "above 0 repairs an hour (default 0.4333)",
    ),
    key(
        "reliability.form",
        Kind::Text,
        "\"survival\" (default) or \"literal\"",
    ),
    key(
        "reservations.share_percent",
        Kind::Real,
        "0 to 100: how many of the jobs become requests (default 10)",
    ),
    key(
        "reservations.origin",
        Kind::Text,
        "\"copy\" (default) adds requests to the jobs, \"instead\" takes the jobs out of the queue",
    ),
    key(
        "reservations.start",
        Kind::Text,
        "\"estimate-factor\" (default), \"lead\" or \"choice\"",
    ),
    key(
        "reservations.start_factor",
        Kind::Real,
        "0 or more: the lead is uniform between 0 and start_factor × estimate (default 1)",
    ),
    key(
        "reservations.lead_hours",
        Kind::Real,
        "0 or more hours between request and start, for start = \"lead\" (default 1)",
    ),
    key(
        "reservations.alpha",
        Kind::Real,
        "0 (earliest start) to 1 (lowest price), for start = \"choice\" (default 0.5)",
    ),
    key(
        "reservations.random_alpha",
        Kind::Flag,
        "true or false (default): α is drawn for each request",
    ),
    key(
        "reservations.duration",
        Kind::Text,
        "\"estimate\" (default) or \"runtime\"",
    ),
    key(
        "reservations.rounding",
        Kind::Text,
        "\"nearest\" (default), \"floor\" or \"minute\"",
    ),
    key(
        "admission.rule",
        Kind::Text,
        "\"holes\", \"reject\" (default), \"move\" or \"move-price\"",
    ),
    key(
        "admission.displaced",
        Kind::Text,
        "\"replan-all\" (default) or \"only-overlapping\"",
    ),
    key(
        "admission.starvation_guard_hours",
        Kind::Real,
        "0 or more hours of waiting after which a job is not pushed away any more (default: never)",
    ),
    key(
        "admission.early_end",
        Kind::Text,
        "\"release\" (default) or \"keep\"",
    ),
    key(
        "admission.same_instant",
        Kind::Text,
        "\"job-first\" (default) or \"request-first\"",
    ),
    key(
        "admission.displacement",
        Kind::Text,
        "\"record\" (default) or \"skip\"",
    ),
    key(
        "planning.order",
        Kind::Text,
        "\"fcfs\" (default), \"sjf\" or \"ljf\"",
    ),
    key(
        "planning.backfilling",
        Kind::Text,
        "\"conservative\" (default), \"aggressive\" or \"none\"",
    ),
    key(
        "slots.source",
        Kind::Text,
        "\"free-rectangles\" (default) or \"plan\"",
    ),
    key(
        "slots.sample_minutes",
        Kind::Real,
        "above 0 minutes between two samples (default 60)",
    ),
    key(
        "slots.equal_starts",
        Kind::Text,
        "\"shortest-first\" (default) or \"longest-first\"",
    ),
    key(
        "slots.surplus",
        Kind::Text,
        "\"found-last\" (default) or \"extensible\"",
    ),
    key(
        "slots.merge_identical",
        Kind::Flag,
        "true (default) or false",
    ),
    key(
        "slots.minimum_minutes",
        Kind::Real,
        "0 or more: shorter slots are not advertised (default 0)",
    ),
    key(
        "virtual.nodes",
        Kind::Integer,
        "a whole number of 1 or more: nodes of the request (default 32)",
    ),
    key(
        "virtual.duration_hours",
        Kind::Real,
        "above 0: how long they are wanted (default 1)",
    ),
    key(
        "virtual.lead_hours",
        Kind::Real,
        "above 0: from the request to the wanted start (default 1)",
    ),
    key(
        "virtual.penalty_factor",
        Kind::Real,
        "0 or more: what cancelling costs, as a share of the price (default 0.1)",
    ),
    key(
        "virtual.instants",
        Kind::Integer,
        "a whole number of 1 or more: requests, one a day (default 30)",
    ),
    key(
        "virtual.step_seconds",
        Kind::Integer,
        "a whole number of 1 or more: step of the search for a submission time (default 30)",
    ),
    key(
        "virtual.padding",
        Kind::Text,
        "\"each-submission\" (default) or \"once\"",
    ),
    key(
        "virtual.warm_up_days",
        Kind::Real,
        "0 or more days of the trace before the first request (default 60)",
    ),
    key(
        "virtual.combination",
        Kind::Text,
        "\"recorded\" (default) or \"played\"",
    ),
    key(
        "virtual.rule",
        Kind::Text,
        "\"empirical\" (default) or \"binomial-lower-bound\"",
    ),
    key(
        "virtual.history",
        Kind::Integer,
        "a whole number of 1 or more: waits that a category remembers (default 1000)",
    ),
    key(
        "virtual.confidence",
        Kind::Real,
        "a probability between 0 and 1 (default 0.95)",
    ),
    key(
        "virtual.minimum_history",
        Kind::Integer,
        "a whole number of 1 or more: smaller categories ask wider ones (default 59)",
    ),
    key(
        "clusters.count",
        Kind::Integer,
        "a whole number from 1 to 64 (default 4)",
    ),
    key(
        "clusters.days",
        Kind::Real,
        "at least 0.05 and at most 10000: days of each cluster's window, after which submissions end (default 14)",
    ),
    key(
        "clusters.excerpts",
        Kind::Text,
        "\"fingerprint\" (default), \"drawn\" or \"spaced\"",
    ),
    key(
        "clusters.merging",
        Kind::Flag,
        "true (default) or false: narrow jobs with the same limit are merged",
    ),
    key(
        "clusters.merge_at_most",
        Kind::Integer,
        "0 for no limit (default), or 2 or more: so many jobs become one at most",
    ),
    key(
        "clusters.sizes",
        Kind::Text,
        "\"equal\" (default), \"alternating\" or \"graded\"",
    ),
    key(
        "requests.workload",
        Kind::Text,
        "\"none\", \"rw1\" (default), \"rw2\", \"rw3\", \"early-two\" or \"early-three\"; the other keys of this table change it",
    ),
    key(
        "requests.count",
        Kind::Integer,
        "a whole number of 1 or more: so many templates become requests (default 213)",
    ),
    key(
        "requests.chance",
        Kind::Real,
        "above 0, at most 1: the probability with which each template becomes a request, in the place of count",
    ),
    key(
        "requests.total_cpu_seconds",
        Kind::Integer,
        "0 for any (default), or what the two-part requests of the chosen templates come to, within 5 %: other draws are drawn again",
    ),
    key(
        "requests.templates",
        Kind::Text,
        "\"first\" (default) or \"all\": the clusters whose jobs are templates",
    ),
    key(
        "requests.parts",
        Kind::Integer,
        "a whole number from 1 to 6 (default 2; early-three: 3)",
    ),
    key(
        "requests.further_parts",
        Kind::Text,
        "\"drawn\" (default) or \"copied\" (early-three): the parts behind the second",
    ),
    key(
        "requests.lead_factor",
        Kind::Real,
        "0 to 1000: from submission to earliest start, as a multiple of the duration (rw1: 3; rw2, rw3: 0.5)",
    ),
    key(
        "requests.lead_seconds",
        Kind::Integer,
        "a whole number of 0 or more, in the place of lead_factor (early-two, early-three: 30)",
    ),
    key(
        "requests.slack_factor",
        Kind::Real,
        "0 to 1000: how far the start may be moved, as a multiple of the duration (rw1, rw2: 6; rw3: 3)",
    ),
    key(
        "requests.slack_limit_hours",
        Kind::Real,
        "0 or more: the most that slack_factor gives (default 24)",
    ),
    key(
        "requests.slack_seconds",
        Kind::Integer,
        "a whole number of 0 or more, in the place of slack_factor (early-two, early-three: 21600)",
    ),
    key(
        "requests.drop_every",
        Kind::Integer,
        "0 for none (default), or 2 or more: every so many-th request is left out (early-three: 3)",
    ),
    key(
        "requests.bursts",
        Kind::Integer,
        "0 for none (default), or 1 or more: bursts in which the earliest starts are gathered",
    ),
    key(
        "requests.burst_hours",
        Kind::Real,
        "above 0 hours: the length of a burst (default 6)",
    ),
    key(
        "requests.cost_weight",
        Kind::Real,
        "0 to 1: k, what cost counts for a5 (default 0)",
    ),
    key(
        "requests.start_weight",
        Kind::Real,
        "0 to 1: s, what an early start counts for a5 (default 1)",
    ),
    key(
        "broker.algorithm",
        Kind::Text,
        "\"rigid\", \"a1\", \"a2\" (default), \"a3\", \"a3-star\", \"a3-backfill\", \"a2-sorted\", \"a3-sorted\", \"a4\" or \"a5\"",
    ),
    key(
        "broker.minimum_step_seconds",
        Kind::Integer,
        "a whole number of 1 or more: m, the least time between candidate starts (default 300)",
    ),
    key(
        "broker.maximum_starts",
        Kind::Integer,
        "a whole number from 1 to 100000: w, the most candidate starts (default 20)",
    ),
    key(
        "broker.start_cap",
        Kind::Text,
        "\"capped\" (default) or \"literal\"",
    ),
    key(
        "broker.memoise",
        Kind::Flag,
        "true or false (default): a refused candidate is not tried again for its request",
    ),
    key(
        "broker.start_tolerance_seconds",
        Kind::Integer,
        "a whole number of 0 or more: how much later than the best a5 keeps a part (default 0)",
    ),
    key(
        "broker.cost_tolerance",
        Kind::Real,
        "0 or more: how much dearer than the best a5 keeps a part (default 0)",
    ),
    key(
        "broker.renegotiate",
        Kind::Flag,
        "true or false (default): a part that a cluster lost is asked for anew elsewhere",
    ),
    key(
        "broker.latency_seconds",
        Kind::Integer,
        "a whole number from 0 to 86400: how long a message, or its answer, takes (default 0)",
    ),
    key(
        "broker.timeout_seconds",
        Kind::Integer,
        "more than two latencies, at most 1000000: how long an answer is waited for (default: 60, or four latencies if that is more)",
    ),
    key(
        "broker.message_loss_percent",
        Kind::Real,
        "0 (default) to below 100: messages, or answers, that are lost",
    ),
    key(
        "local.backfilling",
        Kind::Text,
        "\"aggressive\" (default), \"conservative\" or \"none\"",
    ),
    key(
        "local.planned_visible",
        Kind::Flag,
        "true (default) or false: places that the scheduler keeps for waiting jobs block parts",
    ),
    key(
        "local.backlog_work",
        Kind::Text,
        "\"full\" (default) or \"remaining\"",
    ),
    key(
        "local.accuracy",
        Kind::Text,
        "\"history\" (default), \"work\" or \"running\"",
    ),
    key(
        "local.accuracy_factor",
        Kind::Real,
        "0 to 100: a factor on the accuracy in backlog times (default 1)",
    ),
    key(
        "local.next_event",
        Kind::Text,
        "\"estimate\" (default) or \"oracle\"",
    ),
    key(
        "local.quota_percent",
        Kind::Real,
        "above 0, at most 100: what parts may hold of a cluster on average over a candidate's time (default: no limit)",
    ),
    key(
        "local.tariff",
        Kind::Text,
        "\"day-night-cheap-weekends\" (default), \"day-night\", \"flat\", \"example\", or rows: weekdays, hours, price, clusters, as in \"mon-fri 8-18 2; sat-sun 0-24 0.5 @1,3\"; other hours cost 1",
    ),
    key(
        "local.hour_edge",
        Kind::Text,
        "\"half-open\" (default) or \"inclusive\"",
    ),
    key(
        "local.calendar_origin_hours",
        Kind::Real,
        "0 to below 168 hours after Monday 00:00: when a simulation begins (default 66, Wednesday 18:00)",
    ),
    key(
        "grid_failures.cluster_mtbf_days",
        Kind::Real,
        "0 for never (default), or at least 0.001 days between failures of one whole cluster, in the mean",
    ),
    key(
        "grid_failures.cluster_repair_hours",
        Kind::Real,
        "at least 0.001 hours until it is back, in the mean (default 4)",
    ),
    key(
        "grid_failures.node_mtbf_days",
        Kind::Real,
        "0 for never (default), or at least 0.001 days between failures of one node, in the mean",
    ),
    key(
        "grid_failures.node_repair_hours",
        Kind::Real,
        "at least 0.001 hours until it is back, in the mean (default 4)",
    ),
    key(
        "grid_failures.node_cpus",
        Kind::Integer,
        "a whole number from 1 to 10000000: CPUs of a node, which fail together (default 8)",
    ),
    key(
        "risk.choice",
        Kind::Text,
        "\"expected-cost\" (default) or \"limit\"",
    ),
    key(
        "risk.pof_limit",
        Kind::Real,
        "a probability from 0 to 1, for choice = \"limit\": the most that a client accepts (default 0.1)",
    ),
    key(
        "risk.penalty_ratio",
        Kind::Real,
        "0 or more: penalty ÷ fee (default 1)",
    ),
    key(
        "risk.pof_max",
        Kind::Real,
        "a probability from 0 to 1: the riskiest part that a cluster offers (default 0.2)",
    ),
    key(
        "risk.strategy",
        Kind::Text,
        "a registered strategy that overbooks (default \"heuristic-overbooking\")",
    ),
    key(
        "sites.utilisation_percent",
        Kind::Real,
        "above 0 and below 100: the load that the own jobs of the first site are brought to (default: the trace as it is)",
    ),
    key(
        "sites.count",
        Kind::Integer,
        "a whole number from 1 to 64: so many sites of the list, the workload's own first (default: all of them)",
    ),
    key(
        "sites.more.trace",
        Kind::Text,
        "the file name of a trace (default: the workload's)",
    ),
    key(
        "sites.more.nodes",
        Kind::Integer,
        "a whole number from 1 to 10000000: the size of the machine (default, without a trace of its own: the workload's)",
    ),
    key(
        "sites.more.utilisation_percent",
        Kind::Real,
        "above 0 and below 100: the load that its own jobs are brought to (default: the trace as it is)",
    ),
    key(
        "workflow.source",
        Kind::Text,
        "\"synthetic\" (default), \"cyber-shake\" or \"file\"",
    ),
    key(
        "workflow.file",
        Kind::Text,
        "the file name of a DAX file or WfCommons instance, for source = \"file\"",
    ),
    key(
        "workflow.negatives",
        Kind::Text,
        "\"zero\" (default) or \"refuse\": what becomes of negative run times and volumes of a file",
    ),
    key(
        "workflow.instances",
        Kind::Text,
        "\"one\" (default) or \"one-a-replication\"",
    ),
    key(
        "workflow.tasks",
        Kind::Integer,
        "a whole number from 1 to 100000 (default 100)",
    ),
    key(
        "workflow.depth",
        Kind::Integer,
        "a whole number from 1 to the number of tasks: levels (default: the rounded root of the number of tasks)",
    ),
    key(
        "workflow.levels",
        Kind::Text,
        "\"drawn\" (default) or \"equal\": tasks of each level",
    ),
    key(
        "workflow.parents",
        Kind::Integer,
        "a whole number of 1 or more: parents of a task below the first level (default 2)",
    ),
    key(
        "workflow.mean_seconds",
        Kind::Integer,
        "a whole number from 1 to 1000000000: mean run time (default 1000)",
    ),
    key(
        "workflow.runtimes",
        Kind::Text,
        "\"uniform\" (default), \"exponential\" or \"constant\"",
    ),
    key(
        "workflow.mean_nodes",
        Kind::Integer,
        "a whole number from 1 to 1000000: mean number of processors (default 22); no task is wider than the largest site",
    ),
    key(
        "workflow.nodes",
        Kind::Text,
        "\"uniform\" (default) or \"constant\"",
    ),
    key(
        "workflow.mean_gigabits",
        Kind::Real,
        "0 to 1e9: mean volume of an edge in Gbit (default 0)",
    ),
    key(
        "workflow.volumes",
        Kind::Text,
        "\"constant\" (default) or \"uniform\"",
    ),
    key(
        "workflow.runtime_variation",
        Kind::Real,
        "0 to 100: coefficient of variation of the run times of cyber-shake (default 0)",
    ),
    key(
        "workflow.bandwidth_gbps",
        Kind::Real,
        "above 0 Gbit/s between two sites (default 10)",
    ),
    key(
        "workflow.latency_seconds",
        Kind::Real,
        "0 or more seconds for each transfer between two sites (default 150)",
    ),
    key(
        "workflow.transfer_mean",
        Kind::Text,
        "\"distinct-pairs\" (default) or \"all-pairs\"",
    ),
    key(
        "provisioning.search",
        Kind::Text,
        "\"greedy\" (default), \"moga\", \"nsga2\" or \"best-effort\"",
    ),
    key(
        "provisioning.provider",
        Kind::Text,
        "\"advertised\" or \"queried\" (default: what the search needs; best-effort: queried)",
    ),
    key(
        "provisioning.alpha",
        Kind::Real,
        "0 (shortest makespan) to 1 (least cost) (default 0.5)",
    ),
    key(
        "provisioning.deadline_hours",
        Kind::Real,
        "above 0 hours after submission, in the place of alpha",
    ),
    key(
        "provisioning.deadline_factor",
        Kind::Real,
        "above 0: the deadline as a multiple of the longest path, in the place of alpha",
    ),
    key(
        "provisioning.budget_su",
        Kind::Real,
        "above 0 service units, in the place of alpha",
    ),
    key(
        "provisioning.budget_factor",
        Kind::Real,
        "above 0: the budget as a multiple of what best effort costs, in the place of alpha",
    ),
    key(
        "provisioning.population",
        Kind::Integer,
        "a whole number from 2 to 100000: plans in a population (default 100)",
    ),
    key(
        "provisioning.generations",
        Kind::Integer,
        "a whole number from 0 to 1000000: generations of offspring (default 10)",
    ),
    key(
        "provisioning.sharing_radius",
        Kind::Real,
        "above 0: σ_share of moga (default 0.041)",
    ),
    key(
        "provisioning.all_slots_member",
        Kind::Flag,
        "true or false (default): one of the first plans may use every slot",
    ),
    key(
        "provisioning.site_choice",
        Kind::Text,
        "\"earliest-start\" (default) or \"earliest-finish\"",
    ),
    key(
        "provisioning.commitment",
        Kind::Text,
        "\"discarded\" (default) or \"committed\"",
    ),
    key(
        "provisioning.submissions",
        Kind::Integer,
        "a whole number from 1 to 10000: applications that one simulation submits, for commitment = \"committed\" (default 10)",
    ),
    key(
        "provisioning.latency_seconds",
        Kind::Integer,
        "a whole number from 0 to 86400: how long a reservation is under way (default 0)",
    ),
    key(
        "provisioning.replans",
        Kind::Integer,
        "a whole number of 0 or more: plans made anew because a slot was gone, before the application is given up (default 10)",
    ),
    key(
        "provisioning.after_failure",
        Kind::Text,
        "\"reprovision\" (default) or \"fail\": what a task lost to a node failure leads to",
    ),
];

/// Tables of which there may be several, written with two brackets: no axis can change their keys.
pub const LISTS: &[&str] = &["sites.more"];

/// The tables that may stand at the top of the file.
pub const SECTIONS: &[&str] = &[
    "experiment",
    "workload",
    "estimates",
    "failures",
    "scheduling",
    "acceptance",
    "reliability",
    "reservations",
    "admission",
    "planning",
    "slots",
    "virtual",
    "clusters",
    "requests",
    "broker",
    "local",
    "grid_failures",
    "risk",
    "sites",
    "workflow",
    "provisioning",
    "axis",
    "zip",
    "exclude",
];

/// Finds a key by its dotted path.
#[must_use]
pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The names that may stand directly in a table: keys and subtables.
#[must_use]
pub fn children(table: &str) -> Vec<&'static str> {
    let prefix = format!("{table}.");
    let mut names: Vec<&'static str> = Vec::new();
    for key in KEYS {
        if let Some(rest) = key.path.strip_prefix(prefix.as_str()) {
            let name = rest.split('.').next().unwrap_or(rest);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// "Did you mean …?" where a known name is near, then everything that is allowed.
#[must_use]
pub fn suggest(wrong: &str, allowed: &[&str]) -> String {
    let list = allowed
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    match nearest(wrong, allowed) {
        Some(name) => format!("did you mean `{name}`? Allowed are: {list}"),
        None => format!("allowed are: {list}"),
    }
}

/// The allowed name with the smallest edit distance, where that is small enough to be a slip.
#[must_use]
pub fn nearest<'a>(wrong: &str, allowed: &[&'a str]) -> Option<&'a str> {
    allowed
        .iter()
        .map(|name| (edit_distance(wrong, name), *name))
        .min()
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(1))
        .map(|(_, name)| name)
}

fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_key_and_nonsense_finds_none() {
        let names = children("acceptance");
        assert_eq!(nearest("pofmax", &names), Some("pof_max"));
        assert_eq!(nearest("penalty_raito", &names), Some("penalty_ratio"));
        assert_eq!(nearest("colour", &names), None);
    }

    #[test]
    fn subtables_are_listed_once_among_the_children() {
        let names = children("workload");
        assert_eq!(names.iter().filter(|name| **name == "cleaning").count(), 1);
        assert!(names.contains(&"laxity"));
    }
}
