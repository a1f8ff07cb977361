//! Keys of the study of several clusters and a broker.

use crate::co_reservation::local::{AccuracySource, BacklogWork, HourEdge, NextEventSource};
use crate::co_reservation::{Algorithm, SortBy, StartCap};
use bookahead_core::scheduling::queue::Backfilling;
use bookahead_core::workload::{
    ClusterSizes, Excerpts, FurtherParts, MOST_STAGES, RequestPreset, TemplateSource,
};
use bookahead_lab::keys::declaration::{
    Given, flag, integer, integer_within, named, names_of, one_of, real, text,
};
use bookahead_lab::keys::scheduling::{ACCEPTANCE, RawAcceptance};
use bookahead_lab::{section, tables};
use bookahead_overbooking::registry::STRATEGIES;

/// The most candidate starts at one cluster.
pub(super) const MAXIMUM_STARTS: u32 = 100_000;

fn strategies() -> Vec<&'static str> {
    STRATEGIES.iter().map(|strategy| strategy.name).collect()
}

tables! {
    clusters: RawClusters = CLUSTERS,
    requests: RawRequests = REQUESTS,
    broker: RawBroker = BROKER,
    local: RawLocal = LOCAL,
    grid_failures: RawClusterFailures = GRID_FAILURES,
    risk: RawRisk = RISK,
    ;
    acceptance: RawAcceptance = ACCEPTANCE,
}

section! {
    /// Several clusters and where their jobs come from.
    CLUSTERS = "clusters", RawClusters {
        /// How many clusters there are.
        count: Given<u32> = integer_within(1, 64).default_is("4"),
        /// The length of each cluster's window.
        days: Given<f64> = real().from(0.05).to(10_000.0)
            .words("at least 0.05 and at most 10000: days of each cluster's window, after which submissions end")
            .default_is("14")
            .decides("Meltzer 2005 §6.1"),
        /// Which windows of the trace the clusters get.
        excerpts: Option<Excerpts> = named::<Excerpts>().decides("Q19"),
        /// Whether narrow jobs are merged.
        merging: Option<bool> = flag("true")
            .note(": narrow jobs with the same limit are merged")
            .decides("Q21"),
        /// How many jobs become one at most.
        merge_at_most: Given<u32> = integer(0)
            .words("0 for no limit (default), or 2 or more: so many jobs become one at most")
            .default_in_words("0")
            .decides("Q21"),
        /// How large the clusters are.
        sizes: Option<ClusterSizes> = named::<ClusterSizes>(),
        /// Whether the clusters' own jobs have deadlines.
        deadlines: Option<bool> = flag("false")
            .note(": the clusters' own jobs have deadlines (`workload.laxity`), so that a cluster of `[risk]` may reject and overbook them"),
        /// How clusters that overbook plan their jobs, and what parts they can promise.
        policy: Given<String> = one_of(strategies)
            .words(r#"a registered strategy (default "heuristic-overbooking"), for clusters with [risk]"#)
            .default_in_words("heuristic-overbooking"),
    }
}

section! {
    /// Co-reservation requests made from the jobs.
    REQUESTS = "requests", RawRequests {
        /// The workload that the other keys change.
        workload: Given<String> = one_of(|| RequestPreset::ALL.map(|(_, name)| name).to_vec())
            .note("; the other keys of this table change it")
            .default_is("rw1")
            .decides("Meltzer 2005 §6.3, §6.8"),
        /// How many templates become requests.
        count: Given<u32> = integer_within(1, 10_000_000)
            .note(": so many templates become requests")
            .default_is("213")
            .decides("Q45"),
        /// The probability with which a template becomes a request.
        chance: Given<f64> = real().above(0.0).to(1.0)
            .note(": the probability with which each template becomes a request, instead of count")
            .decides("Q45"),
        /// The work of all requests together.
        total_cpu_seconds: Given<u32> = integer(0)
            .words("0 for any (default), or what the two-part requests of the chosen templates come to, within 5 %: other draws are drawn again")
            .default_in_words("0")
            .decides("Meltzer 2005 §6.3"),
        /// Whose jobs are templates.
        templates: Option<TemplateSource> = named::<TemplateSource>()
            .note(": the clusters whose jobs are templates"),
        /// Parts of a request.
        parts: Given<u32> = integer_within(1, 6)
            .note(" (default 2; early-three: 3)")
            .default_in_words("2"),
        /// How wide the parts behind the second are.
        further_parts: Option<FurtherParts> = named::<FurtherParts>()
            .words(r#""drawn" (default) or "copied" (early-three): the parts behind the second"#)
            .decides("Q47"),
        /// The lead, as a multiple of the duration.
        lead_factor: Given<f64> = real().from(0.0).to(1000.0)
            .note(": from submission to earliest start, as a multiple of the duration (rw1: 3; rw2, rw3: 0.5)")
            .decides("Q35"),
        /// One lead for all requests.
        lead_seconds: Given<u32> = integer(0)
            .note(", instead of lead_factor (early-two, early-three: 30)"),
        /// The slack, as a multiple of the duration.
        slack_factor: Given<f64> = real().from(0.0).to(1000.0)
            .note(": how far the start may be moved, as a multiple of the duration (rw1, rw2: 6; rw3: 3)"),
        /// The upper limit of a slack that is given as a factor.
        slack_limit_hours: Given<f64> = real().from(0.0)
            .note(": the most that slack_factor gives")
            .default_is("24"),
        /// One slack for all requests.
        slack_seconds: Given<u32> = integer(0)
            .note(", instead of slack_factor (early-two, early-three: 21600)"),
        /// Whether a request is split.
        split: Option<bool> = flag("true")
            .note(": false for all CPUs of a request on one cluster")
            .decides("Meltzer 2005 §1"),
        /// How much longer a request lasts that is split.
        split_overhead: Given<f64> = real().from(0.0).to(100.0)
            .note(": how much longer a request of several parts lasts, as a share of its duration; its deadline stays")
            .default_is("0")
            .decides("Meltzer 2005 §1"),
        /// Which requests are left out.
        drop_every: Given<u32> = integer(0)
            .words("0 for none (default), or 2 or more: every so many-th request is left out (early-three: 3)")
            .decides("Q47"),
        /// How many requests are single jobs.
        single_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": requests that are single jobs: their first part alone")
            .default_is("0"),
        /// How many requests are workflows.
        workflow_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": requests that are workflows, whose stages follow each other, of one part and of all parts in turn; single_percent and this are 100 at most")
            .default_is("0"),
        /// How many stages a workflow has.
        workflow_stages: Given<u32> = integer_within(2, MOST_STAGES as i64)
            .note(": stages of a workflow, which share the duration of the request")
            .default_is("3"),
        /// The file that says what a workflow looks like.
        workflow_file: Given<String> = text("a DAX file or WfCommons instance, also of the folder that BOOKAHEAD_WORKFLOWS names, instead of workflow_stages: the tasks of a workflow, whose longest path is scaled to the duration of the request"),
        /// How many parts need licences.
        licences_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": parts that need licences beside their CPUs, each drawn on its own, where clusters have any (local.licences)")
            .default_is("0")
            .decides("Meltzer 2005 §2"),
        /// How many licences such a part needs.
        licences: Given<u32> = integer_within(1, 1_000_000)
            .note(": licences that a part needs which needs any")
            .default_is("1")
            .decides("Meltzer 2005 §2"),
        /// How many parts need storage.
        storage_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": parts that need storage beside their CPUs, each drawn on its own, where clusters have any (local.storage_gb)")
            .default_is("0")
            .decides("Meltzer 2005 §2"),
        /// How much storage such a part needs.
        storage_gb: Given<u32> = integer_within(1, 100_000_000)
            .note(": storage in GB that a part needs which needs any")
            .default_is("100")
            .decides("Meltzer 2005 §2"),
        /// In how many bursts the earliest starts are gathered.
        bursts: Given<u32> = integer(0)
            .words("0 for none (default), or 1 or more: bursts in which the earliest starts are gathered")
            .default_in_words("0"),
        /// The length of a burst.
        burst_hours: Given<f64> = real().above(0.0)
            .note(" hours: the length of a burst")
            .default_is("6"),
        /// α, the weight of the cost, with 1 − α as that of the start.
        alpha: Given<f64> = real().from(0.0).to(1.0)
            .note(": α, what cost counts for a5, and 1 − α what an early start counts, instead of cost_weight and start_weight"),
        /// α, the weight of the cost; the thesis calls it k.
        cost_weight: Given<f64> = real().from(0.0).to(1.0)
            .note(": α (k in the thesis), what cost counts for a5")
            .default_is("0"),
        /// s, the weight of the start.
        start_weight: Given<f64> = real().from(0.0).to(1.0)
            .note(": s, what an early start counts for a5")
            .default_is("1"),
        /// The weight of the mix of jobs.
        mix_weight: Given<f64> = real().from(0.0).to(1.0)
            .note(": what it counts for a5 that mostly small jobs ran lately at the clusters")
            .default_is("0")
            .decides("Meltzer 2005 §7.2"),
        /// The weight of the reservation degree.
        degree_weight: Given<f64> = real().from(0.0).to(1.0)
            .note(": what it counts for a5 that little of the clusters would be reserved meanwhile")
            .default_is("0")
            .decides("Meltzer 2005 §4.7.2, §7.1"),
    }
}

section! {
    /// How a broker searches, and its messages.
    BROKER = "broker", RawBroker {
        /// The algorithm that searches.
        algorithm: Given<String> = one_of(|| Algorithm::ALL.iter().map(|(_, name, _)| *name).collect())
            .default_is("a2")
            .decides("Meltzer 2005 §4"),
        /// m, the least time between candidate starts.
        minimum_step_seconds: Given<u32> = integer(1).refused("is impossible", "")
            .note(": m, the least time between candidate starts")
            .default_is("300")
            .decides("Q2"),
        /// w, the most candidate starts.
        maximum_starts: Given<u32> = integer_within(1, MAXIMUM_STARTS as i64)
            .note(": w, the most candidate starts")
            .default_is("20"),
        /// The most candidate starts of a request over all clusters.
        starts_per_request: Given<u32> = integer_within(1, 6_400_000)
            .note(": divided by the clusters and rounded up, w of each of them, instead of maximum_starts")
            .decides("Meltzer 2005 §6.4.5"),
        /// Whether w is kept to the letter.
        start_cap: Option<StartCap> = named::<StartCap>().decides("Q1"),
        /// What decides which candidate is tried first.
        sort_by: Option<SortBy> = named::<SortBy>()
            .note(": what decides which candidate is tried first, for algorithms that probe, and in stages for a5")
            .decides("Meltzer 2005 §7.1"),
        /// Whether refusals are remembered.
        memoise: Option<bool> = flag("false")
            .note(": a refused candidate is not tried again for its request"),
        /// Whether free CPUs are recorded.
        record_free_cpus: Option<bool> = flag("false")
            .note(": for algorithms that probe, the store gets the CPUs that each cluster has free at each candidate start of each request (`v_co_free_cpus`)")
            .decides("Meltzer 2005 §6.5.3"),
        /// A5's tolerance of later starts.
        start_tolerance_seconds: Given<u32> = integer(0)
            .note(": how much later than the best a5 keeps a part")
            .default_is("0")
            .decides("Q27"),
        /// A5's tolerance of higher costs.
        cost_tolerance: Given<f64> = real().from(0.0)
            .note(": how much dearer than the best a5 keeps a part")
            .default_is("0")
            .decides("Q27"),
        /// How long a queued part waits for the others, as a multiple of the duration.
        patience_factor: Given<f64> = real().above(0.0).to(1000.0)
            .note(": for barrier, how long a part that has begun waits for the others before all are given back and queued anew, as a multiple of the duration")
            .default_is("0.5")
            .decides("Meltzer 2005 §1"),
        /// The same in seconds.
        patience_seconds: Given<u32> = integer(1)
            .note(", instead of patience_factor"),
        /// Whether lost parts are requested again.
        renegotiate: Option<bool> = flag("false")
            .note(": a part that a cluster lost is asked for anew elsewhere")
            .decides("Meltzer 2005 §7.4"),
        /// How often the agent polls.
        watch_every_seconds: Given<u32> = integer_within(0, 10_000_000)
            .words("0 for no agent (default), or so many seconds from one poll to the next of the clusters at which something is reserved; a poll takes no time")
            .default_in_words("0")
            .decides("Meltzer 2005 §7.4"),
        /// When the agent acts.
        watch_misses: Given<u32> = integer_within(1, 1_000)
            .note(": so many polls in a row that a cluster does not answer, and the agent gives up what it holds and seeks it elsewhere")
            .default_is("3")
            .decides("Meltzer 2005 §7.4"),
        /// How many requests are renegotiable.
        renegotiable_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": requests that are issued anew until they start, and give back the worse of two reservations")
            .default_is("0")
            .decides("Meltzer 2005 §7.3"),
        /// How often a renegotiable request is issued anew.
        renegotiate_every_minutes: Given<f64> = real().above(0.0)
            .note(" minutes from one negotiation of a renegotiable request to the next")
            .default_is("60")
            .decides("Meltzer 2005 §7.3"),
        /// How many requests have priority.
        priority_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": requests that may take the CPUs of renegotiable ones that have not started, which are then issued anew")
            .default_is("0")
            .decides("Meltzer 2005 §7.3"),
        /// What it costs to be renegotiable.
        renegotiable_surcharge: Given<f64> = real().from(0.0).to(100.0)
            .note(": how much more a renegotiable request pays than the tariff, as a share of it")
            .default_is("0")
            .decides("Meltzer 2005 §7.3"),
        /// How often clusters publish their state.
        information_period_seconds: Given<u32> = integer_within(0, 10_000_000)
            .note(": how often clusters publish how many of their CPUs are free, for probe_only; 0 for whenever a request is submitted")
            .default_is("0")
            .decides("Meltzer 2005 §2"),
        /// Which clusters the broker knows of.
        information_coverage: Given<f64> = real().above(0.0).to(1.0)
            .note(": the share of the clusters that the information service knows of, drawn and rounded, one at least; a broker asks no other")
            .default_is("1")
            .decides("Meltzer 2005 §2"),
        /// How many clusters are asked first.
        probe_only: Given<u32> = integer_within(0, 64)
            .words("0 for all (default), or so many clusters, those with most free CPUs as published, are asked for offers first; the rest once, if these offer no candidate")
            .default_in_words("0")
            .decides("Meltzer 2005 §2"),
        /// How long a message takes.
        latency_seconds: Given<u32> = integer_within(0, 86_400)
            .note(": how long a message, or its answer, takes")
            .default_is("0")
            .decides("Q24"),
        /// How long the broker waits for an answer.
        timeout_seconds: Given<u32> = integer_within(1, 1_000_000)
            .words("more than two latencies, at most 1000000: how long an answer is waited for (default: 60, or four latencies if that is more)"),
        /// Messages that are lost.
        message_loss_percent: Given<f64> = real().from(0.0).below(100.0)
            .words("0 (default) to below 100: messages, or answers, that are lost")
            .default_in_words("0"),
    }
}

section! {
    /// Each cluster's scheduler and reservation service.
    LOCAL = "local", RawLocal {
        /// Who overtakes whom in the queue.
        backfilling: Option<Backfilling> = one_of(names_of::<Backfilling>)
            .words(r#""aggressive" (default), "conservative" or "none""#)
            .default_is("aggressive"),
        /// Whether places of waiting jobs block parts.
        planned_visible: Option<bool> = flag("true")
            .note(": places that the scheduler keeps for waiting jobs block parts")
            .decides("Q12"),
        /// How much of a running job counts as backlog.
        backlog_work: Option<BacklogWork> = named::<BacklogWork>()
            .words(r#""full" (default), "remaining", or "planned": the time until the queue is empty in its plan"#)
            .decides("Q9, Meltzer 2005 §4.4.4"),
        /// Where the accuracy of estimates comes from.
        accuracy: Option<AccuracySource> = named::<AccuracySource>().decides("Q10"),
        /// The history that accuracies by category are read off.
        accuracy_window: Given<u32> = integer_within(5, 1_000_000)
            .note(": for accuracy = \"category\", so many jobs that ended last are its history")
            .default_is("500")
            .decides("Meltzer 2005 §4.4.5"),
        /// A factor on the accuracy of estimates.
        accuracy_factor: Given<f64> = real().from(0.0).to(100.0)
            .note(": a factor on the accuracy in backlog times")
            .default_is("1")
            .decides("Meltzer 2005 §6.6.4"),
        /// From when the next event is counted.
        next_event: Option<NextEventSource> = named::<NextEventSource>().decides("Q13"),
        /// How many scheduling events parts that overtake the backlog may reach over.
        look_ahead: Given<u32> = integer_within(1, 1_000)
            .note(": 1 is the next event; beyond it a part must also delay no waiting job in the plan of the queue")
            .default_is("1")
            .decides("Meltzer 2005 §6.7.5"),
        /// The most that parts may hold of a cluster.
        quota_percent: Given<f64> = real().above(0.0).to(100.0)
            .note(": what parts may hold of a cluster on average over a candidate's time (default: no limit)")
            .decides("Meltzer 2005 §7.1"),
        /// The same for certain times, such as 0 before a maintenance.
        quota_periods: Given<String> = text(r#"rows: hours of the simulation, percent, the hour from which on clusters know of it, clusters, as in "168-180 0 from 144 @0,2; 180-200 10""#)
            .decides("Meltzer 2005 §7.1"),
        /// CPUs that jobs and parts do not share.
        partition_percent: Given<f64> = real().from(0.0).below(100.0)
            .words("0 (default) for CPUs that jobs and parts share, or to below 100: of each cluster, rounded, parts have so many CPUs to themselves, and jobs the others")
            .default_in_words("0")
            .decides("Meltzer 2005 §7.1"),
        /// Licences of a cluster.
        licences: Given<u32> = integer_within(0, 1_000_000)
            .words("0 (default) for clusters of CPUs alone, on which no part needs licences, or so many licences of each cluster, which parts hold as they hold CPUs (requests.licences_percent)")
            .default_in_words("0")
            .decides("Meltzer 2005 §2"),
        /// Storage of a cluster.
        storage_gb: Given<u32> = integer_within(0, 100_000_000)
            .words("0 (default) for clusters whose storage nobody counts, or so many GB of each cluster, which parts hold as they hold CPUs (requests.storage_percent)")
            .default_in_words("0")
            .decides("Meltzer 2005 §2"),
        /// How far back jobs count for the mix of jobs.
        mix_days: Given<f64> = real().above(0.0).to(10_000.0)
            .note(" days: for requests.mix_weight, jobs count that started since")
            .default_is("7")
            .decides("Meltzer 2005 §7.2"),
        /// Which jobs are large.
        large_cpus: Given<u32> = integer_within(1, 10_000_000)
            .note(": for requests.mix_weight, CPUs from which on a job is large")
            .default_is("128")
            .decides("Meltzer 2005 §7.2"),
        /// What CPU-hours cost.
        tariff: Given<String> = one_of(|| vec!["day-night-cheap-weekends", "day-night", "flat", "example"])
            .or_others()
            .words(r#""day-night-cheap-weekends" (default), "day-night", "flat", "example", or rows: weekdays, hours, price, clusters, as in "mon-fri 8-18 2; sat-sun 0-24 0.5 @1,3"; other hours cost 1"#)
            .default_in_words("day-night-cheap-weekends")
            .decides("Q15"),
        /// Which hours are charged.
        hour_edge: Option<HourEdge> = named::<HourEdge>().decides("Q8"),
        /// When in the week a simulation begins.
        calendar_origin_hours: Given<f64> = real().from(0.0).below(168.0)
            .words("0 to below 168 hours after Monday 00:00: when a simulation begins (default 66, Wednesday 18:00)")
            .default_in_words("66")
            .decides("Q14"),
    }
}

section! {
    /// Failures of whole clusters and of their nodes.
    GRID_FAILURES = "grid_failures", RawClusterFailures {
        /// The time between failures of one cluster.
        cluster_mtbf_days: Given<f64> = real().from(0.0)
            .words("0 for never (default), or at least 0.001 days between failures of one whole cluster, in the mean")
            .default_in_words("0"),
        /// The time until a cluster is back.
        cluster_repair_hours: Given<f64> = real().from(0.001)
            .words("at least 0.001 hours until it is back, in the mean")
            .default_is("4"),
        /// The time between failures of one node.
        node_mtbf_days: Given<f64> = real().from(0.0)
            .words("0 for never (default), or at least 0.001 days between failures of one node, in the mean")
            .default_in_words("0"),
        /// The time until a node is back.
        node_repair_hours: Given<f64> = real().from(0.001)
            .words("at least 0.001 hours until it is back, in the mean")
            .default_is("4"),
        /// Whether a cluster that is down says nothing.
        silent_outages: Option<bool> = flag("false")
            .note(": a cluster that is down says nothing, and tells what it lost when it is back; otherwise at once")
            .decides("Meltzer 2005 §7.4"),
        /// CPUs of a node.
        node_cpus: Given<u32> = integer_within(1, 10_000_000)
            .note(": CPUs of a node, which fail together")
            .default_is("8"),
    }
}

section! {
    /// Clusters that overbook, up to `acceptance.pof_max`, and a broker that weighs their risk.
    RISK = "risk" switch, RawRisk {
        /// How the broker picks among risky offers.
        choice: Given<String> = one_of(|| vec!["expected-cost", "limit"])
            .default_is("expected-cost"),
        /// The probability of failure that a client accepts.
        pof_limit: Given<f64> = real().from(0.0).to(1.0)
            .words(r#"a probability from 0 to 1, for choice = "limit": the most that a client accepts"#)
            .default_is("0.1"),
    }
    former {
        penalty_ratio => "acceptance.penalty_ratio",
        pof_max => "acceptance.pof_max",
        strategy => "clusters.policy",
    }
}
