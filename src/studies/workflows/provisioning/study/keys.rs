//! Keys of the study of sites that sell slots, and workflows that buy them.

use toml::Spanned;

use super::settings::JobMemory;
use crate::provisioning::{
    AfterFailure, AskedSites, EdgeSale, HoleSale, ScheduleCost, SearchMethod, SiteChoice,
    WeightScale,
};
use bookahead_core::workload::workflows::{
    Instances, LevelSizes, Negatives, NodesShape, RealRuntimes, RuntimeShape, TransferMean,
    VolumeShape,
};
use bookahead_lab::keys::declaration::{
    Given, flag, integer, integer_within, integers, named, one_of, real, reals, text, texts,
};
use bookahead_lab::keys::reservations::{REQUESTS, RawRequests};
use bookahead_lab::{section, tables};
use bookahead_reservations::replanning::study::keys::{PLANNING, RawPlanning};
use bookahead_reservations::slots::study::keys::{RawSlots, SLOTS};

tables! {
    sites: RawSites = SITES with SITES_MORE,
    clusters: RawClusters = CLUSTERS,
    workflow: RawWorkflow = WORKFLOW,
    provisioning: RawProvisioning = PROVISIONING,
    ;
    planning: RawPlanning = PLANNING,
    slots: RawSlots = SLOTS,
    requests: RawRequests = REQUESTS,
}

section! {
    /// Providers and how busy they are.
    SITES = "sites", RawSites {
        /// The load of the first site.
        utilisation_percent: Given<f64> = real().above(0.0).below(100.0)
            .note(": the load that the own jobs of the first site are brought to (default: the trace as it is)")
            .decides("AMB-15, AMB-19"),
        /// In how many shares each processor is sold.
        shares: Given<u32> = integer_within(1, 64)
            .note(": parts that each processor is sold in; the sites' own jobs hold whole processors, and whatever counts processors counts shares then, service units too")
            .default_is("1")
            .decides("Singh 2008 §3"),
        /// How much memory the sites have.
        memory_megabytes: Given<Vec<u32>> = integers(1)
            .words("whole numbers from 1 to 100000000 by site, repeated where there are more sites: megabytes for each of its processors, which all of its jobs share; empty: nobody counts memory")
            .default_is("[]")
            .decides("Singh 2008 §3"),
        /// How much memory the own jobs of the sites take.
        job_memory: Option<JobMemory> = named::<JobMemory>()
            .words(r#""share" (default: that of their processors) or "log" (field 10 of their records, else field 7, else that of their processors), where memory is counted"#)
            .decides("Singh 2008 §3"),
        /// What kinds of machines the sites are.
        makes: Given<Vec<String>> = texts("a list of names by site, repeated where there are more sites: what tasks may ask for by `workflow.make`")
            .decides("Singh 2008 §3"),
        /// How fast the sites are for tasks of workflows.
        speeds: Given<Vec<f64>> = reals().from(0.01).to(100.0)
            .words("numbers from 0.01 to 100 by site, repeated where there are more sites: a task of a workflow runs and is booked for 1/speed of its time there, rounded up to seconds; the site's own jobs stay as they are; empty: 1 everywhere")
            .default_is("[]")
            .decides("AMB-49"),
        /// What a processor-hour of best effort costs at the sites.
        prices: Given<Vec<f64>> = reals().from(0.0).to(1000.0)
            .words("numbers from 0 to 1000 by site, repeated where there are more sites: service units for a processor-hour of best effort there, which c of slots is a multiple of; empty: the speed of each site")
            .default_is("[]")
            .decides("AMB-49"),
        /// How many transfers the network carries at once from one site to another.
        network_lanes: Given<u32> = integer_within(0, 1000)
            .note(": transfers that an ordered pair of sites carries at once, each in a slot with an equal part of workflow.bandwidth_gbps; 0: any number, each with all of it")
            .default_is("0")
            .decides("Singh 2008 §8"),
        /// What a slot on the network costs.
        network_price: Given<f64> = real().from(0.0).to(1e6)
            .note(" service units for each Gbit that a slot between two sites carries")
            .default_is("0.0")
            .decides("Singh 2008 §8"),
    }
    tables {
        /// The sites behind the first.
        more: Vec<Spanned<RawSite>>,
    }
    former {
        count => "clusters.count",
    }
}

section! {
    /// The sites as clusters.
    CLUSTERS = "clusters", RawClusters {
        /// How many clusters there are.
        count: Given<u32> = integer_within(1, 64)
            .note(": so many sites of the list, the workload's own first (default: all of them)"),
    }
}

section! {
    /// One more site, which takes everything that it does not say from `[workload]`.
    SITES_MORE = "sites.more" list, RawSite {
        /// The trace of its own jobs.
        trace: Given<String> = text("the file name of a trace (default: the workload's)"),
        /// The size of its machine.
        nodes: Given<u32> = integer_within(1, 10_000_000)
            .note(": the size of the machine (by default that of the log's machine, as the header of its trace says; without a trace of its own the workload's)"),
        /// The load of its own jobs.
        utilisation_percent: Given<f64> = real().above(0.0).below(100.0)
            .note(": the load that its own jobs are brought to (default: the trace as it is)")
            .decides("AMB-15, AMB-19"),
    }
}

section! {
    /// The application.
    WORKFLOW = "workflow", RawWorkflow {
        /// Where the application comes from.
        source: Given<String> = one_of(|| vec!["synthetic", "cyber-shake", "file", "jobs"])
            .default_is("synthetic")
            .decides("AMB-17"),
        /// The file of the application.
        file: Given<String> = text(r#"the file name of a DAX file or WfCommons instance, for source = "file""#),
        /// How many applications are submitted together.
        applications: Given<u32> = integer_within(1, 64)
            .note(": applications of this source that are submitted together")
            .default_is("1"),
        /// How many of the sites' jobs are applications.
        jobs_percent: Given<f64> = real().above(0.0).to(100.0)
            .note(r#": how many of the jobs of all sites reserve, in the place of waiting in their queue, for source = "jobs"; a larger share contains the smaller one"#)
            .default_is("10"),
        /// The files of the others.
        more_files: Given<Vec<String>> = texts(r#"a list of names of DAX files or WfCommons instances: an application each, submitted together with that of `file`, for source = "file""#),
        /// What becomes of negative values of a file.
        negatives: Option<Negatives> = named::<Negatives>()
            .note(": what becomes of negative run times and volumes of a file"),
        /// Whether all submissions share one application.
        instances: Option<Instances> = named::<Instances>().decides("AMB-16b"),
        /// How many tasks there are.
        tasks: Given<u32> = integer_within(1, 100_000).default_is("100"),
        /// How many levels there are.
        depth: Given<u32> = integer_within(1, 100_000)
            .words("a whole number from 1 to the number of tasks: levels (default: the rounded root of the number of tasks)")
            .decides("AMB-16c"),
        /// How tasks are shared out among levels.
        levels: Option<LevelSizes> = named::<LevelSizes>()
            .note(": tasks of each level")
            .decides("AMB-16"),
        /// How many parents a task has.
        parents: Given<u32> = integer(1).refused("is impossible", "")
            .note(": parents of a task below the first level")
            .default_is("2"),
        /// Mean run time.
        mean_seconds: Given<u32> = integer_within(1, 1_000_000_000)
            .note(": mean run time")
            .default_is("1000"),
        /// What a task needs of each of its processors.
        task_shares: Given<u32> = integer_within(1, 64)
            .note(": shares that a task needs of each of its processors (default: all of `sites.shares`)")
            .default_in_words("all")
            .decides("Singh 2008 §3"),
        /// How much memory tasks take.
        memory_megabytes: Given<u32> = integer_within(0, 100_000_000)
            .note(": megabytes that a task takes with each of its processors, where sites count memory (default: that of a processor of the site with the least)")
            .default_in_words("least")
            .decides("Singh 2008 §3"),
        /// On which make of sites some tasks run.
        make: Given<String> = text("the make, of `sites.makes`, that tasks of `make_percent` run on alone (default: tasks run on every make)")
            .decides("Singh 2008 §3"),
        /// How many tasks run on one make alone.
        make_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": how many tasks, drawn, run on sites of `make` alone; a larger share contains the smaller one")
            .default_is("100"),
        /// Distribution of run times.
        runtimes: Option<RuntimeShape> = named::<RuntimeShape>().decides("AMB-16"),
        /// Mean width.
        mean_nodes: Given<u32> = integer_within(1, 1_000_000)
            .note(": mean number of processors (default 22); no task is wider than the largest site")
            .default_in_words("22")
            .decides("AMB-18"),
        /// How widths spread.
        nodes: Option<NodesShape> = named::<NodesShape>().decides("AMB-16"),
        /// Mean volume of an edge.
        mean_gigabits: Given<f64> = real().from(0.0).to(1e9)
            .words("0 to 1e9: mean volume of an edge in Gbit")
            .default_is("0"),
        /// Distribution of volumes.
        volumes: Option<VolumeShape> = named::<VolumeShape>(),
        /// How run times of the seismic hazard workflow spread.
        runtime_variation: Given<f64> = real().from(0.0).to(100.0)
            .note(": coefficient of variation of the run times of cyber-shake")
            .default_is("0")
            .decides("AMB-17"),
        /// How real run times spread around those of the workflow.
        real_runtimes: Option<RealRuntimes> = named::<RealRuntimes>()
            .note(": how long tasks really run, compared with the run times that plans are made with"),
        /// By how much they spread.
        real_variation: Given<f64> = real().from(0.0).to(2.0)
            .note(": coefficient of variation of real run times around those of the workflow; uniform ones: at most 0.577")
            .default_is("0.3"),
        /// The bandwidth between two sites.
        bandwidth_gbps: Given<f64> = real().above(0.0)
            .note(" Gbit/s between two sites")
            .default_is("10"),
        /// The latency between two sites.
        latency_seconds: Given<f64> = real().from(0.0)
            .note(" seconds for each transfer between two sites")
            .default_is("150"),
        /// Over which pairs of resources mean transfer times are taken.
        transfer_mean: Option<TransferMean> = named::<TransferMean>().decides("AMB-24e"),
    }
}

section! {
    /// What sites offer, how a plan is made, and what becomes of it.
    PROVISIONING = "provisioning", RawProvisioning {
        /// How a plan is made.
        search: Option<SearchMethod> = named::<SearchMethod>()
            .words(r#""greedy" (default), "single-slot", "queried-moga", "moga", "nsga2", "weighted-sum" or "best-effort""#),
        /// In which units the search by a weighted sum adds cost and makespan.
        scale: Option<WeightScale> = named::<WeightScale>()
            .words(r#""raw" (default: service units and hours) or "bounds" (shares of ranges that are known before), for search = "weighted-sum""#)
            .decides("Singh 2008 §4.4"),
        /// What sites offer.
        provider: Given<String> = one_of(|| vec!["advertised", "queried"])
            .note(" (default: what the search needs; best-effort: queried)")
            .decides("AMB-4"),
        /// The wish as a deadline.
        deadline_hours: Given<f64> = real().above(0.0)
            .note(" hours after submission, instead of requests.alpha"),
        /// The wish as a deadline over the longest path.
        deadline_factor: Given<f64> = real().above(0.0)
            .note(": the deadline as a multiple of the longest path, instead of requests.alpha"),
        /// The wish as a budget.
        budget_su: Given<f64> = real().above(0.0).note(" service units, instead of requests.alpha"),
        /// The wish as a budget over the cost of best effort.
        budget_factor: Given<f64> = real().above(0.0)
            .note(": the budget as a multiple of what best effort costs, instead of requests.alpha"),
        /// How many plans a population has.
        population: Given<u32> = integer_within(2, 100_000)
            .note(": plans in a population")
            .default_is("100")
            .decides("AMB-13"),
        /// How many generations of offspring there are.
        generations: Given<u32> = integer_within(0, 1_000_000)
            .note(": generations of offspring")
            .default_is("10")
            .decides("AMB-14g"),
        /// The sharing radius of moga.
        sharing_radius: Given<f64> = real().above(0.0)
            .note(": σ_share of moga and queried-moga")
            .default_is("0.041")
            .decides("AMB-13"),
        /// Whether one plan may use every slot.
        all_slots_member: Option<bool> = flag("false")
            .note(": one of the first plans may use every slot")
            .decides("AMB-14"),
        /// c: what a node-hour of an advertised slot costs.
        slot_unit_price: Given<f64> = real().from(0.0).to(1e6)
            .note(" service units: c of an advertised slot, for a node and an hour; at sites with a price that many times as much")
            .default_is("1.0"),
        /// f: what an advertised slot costs whatever is used of it.
        slot_fixed_price: Given<f64> = real().from(0.0).to(1e9)
            .note(" service units: f of an advertised slot, whatever part of it is used")
            .default_is("0.0"),
        /// By what c is multiplied during the day.
        slot_day_factor: Given<f64> = real().from(0.0).to(1e6)
            .note(": by what c is multiplied during the day")
            .default_is("1.0"),
        /// When the day begins.
        slot_day_begins: Given<u32> = integer_within(0, 23)
            .note(": the hour at which the day begins; time 0 of a trace is a midnight")
            .default_is("8"),
        /// When the day ends.
        slot_day_ends: Given<u32> = integer_within(1, 24)
            .note(": the hour at which it ends, after it begins")
            .default_is("18"),
        /// b: how a slot is sold in front of something planned.
        slot_holes: Option<HoleSale> = named::<HoleSale>()
            .note(": b of a slot in front of something planned"),
        /// e: how a slot is sold with nothing planned after it.
        slot_edges: Option<EdgeSale> = named::<EdgeSale>()
            .note(": e of a slot with nothing planned after it, which is divisible in any case"),
        /// Which site takes a task.
        site_choice: Option<SiteChoice> = named::<SiteChoice>().decides("AMB-9"),
        /// To which queues best effort sends tasks.
        queue_choice: Given<String> = one_of(|| vec!["fewest-tasks", "predicted-wait", "redundant"])
            .note(": to which queues best effort sends a task: the search, and what other searches are compared with")
            .default_is("fewest-tasks")
            .decides("Singh 2008 §1.1, §2.2"),
        /// Which quantile of waits a predicted wait is.
        queue_quantile: Given<f64> = real().from(0.0).to(1.0)
            .note(r#" of the latest 200 waits of jobs in the node bin of a task (1–4, 5–16, 17–64, 65 and more nodes), by the nearest rank, for queue_choice = "predicted-wait""#)
            .default_is("0.8"),
        /// How many queues a task is sent to.
        queue_copies: Given<u32> = integer_within(2, 64)
            .note(r#": queues that a task is sent to, for queue_choice = "redundant""#)
            .default_is("2"),
        /// Whether plans stay booked.
        commitment: Given<String> = one_of(|| vec!["discarded", "committed"])
            .default_is("discarded")
            .decides("AMB-23"),
        /// How many applications come one after the other.
        submissions: Given<u32> = integer_within(1, 10_000)
            .note(r#": applications that one simulation submits, for commitment = "committed""#)
            .default_is("10")
            .decides("AMB-23"),
        /// Which sites a single job asks.
        asked_sites: Option<AskedSites> = named::<AskedSites>()
            .note(r#": which sites a job asks for starts and prices, for source = "jobs""#)
            .decides("Singh 2008 §5.3"),
        /// For how long tasks are booked.
        booking_factor: Given<f64> = real().from(1.0).to(1000.0)
            .note(": tasks are booked for so many times their run time")
            .default_is("1.0"),
        /// How many brokers compete.
        brokers: Given<u32> = integer_within(1, 1_000)
            .note(": brokers that submit an application each at every instant and choose from the same slots, for genetic searches")
            .default_is("1"),
        /// Whether several applications are planned as one.
        joint: Given<bool> = flag("true")
            .note(": several applications are planned as one; else one after the other, or by as many brokers"),
        /// By what several applications that are planned as one are judged beside their cost.
        schedule_cost: Option<ScheduleCost> = named::<ScheduleCost>()
            .words(r#""last-end" (default), "mean-end" or "largest-stretch": by what a genetic search judges a plan for several applications beside its cost"#)
            .decides("Singh 2008 §4.2, §4.9"),
        /// How long a reservation is under way.
        latency_seconds: Given<u32> = integer_within(0, 86_400)
            .note(": how long a reservation is under way")
            .default_is("0")
            .decides("AMB-46"),
        /// Whether it is measured how long advertised slots can be had.
        follow_slots: Given<bool> = flag("false")
            .note(": whether it is measured how many of the advertised slots are left after a minute, 10 minutes, an hour and 6 hours, if nobody buys one")
            .decides("Singh 2008 §3"),
        /// How often a plan is made anew.
        replans: Given<u32> = integer(0)
            .note(": plans made anew because a slot was gone, before the application is given up")
            .default_is("10")
            .decides("AMB-46"),
        /// What a task lost to a node failure leads to.
        after_failure: Option<AfterFailure> = named::<AfterFailure>()
            .words(r#""reprovision" (default) or "fail": what a task lost to a node failure leads to"#),
        /// Which slots are paid back that are given back.
        refund: Given<String> = one_of(|| vec!["none", "rest", "both"])
            .note(": the rest of slots whose tasks are over, or also slots that are given up before they begin")
            .default_is("none")
            .decides("AMB-47"),
        /// The penalty for giving slots back.
        penalty_factor: Given<f64> = real().from(0.0).to(1.0)
            .note(": p, the share that stays paid of the price of a rest, and of f of a slot that has not begun")
            .default_is("0.1")
            .decides("AMB-47"),
    }
    former {
        alpha => "requests.alpha",
    }
}
