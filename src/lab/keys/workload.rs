//! Keys of every experiment: its name, and its jobs.

use super::declaration::{
    Given, flag, integer, integer_within, integers, named, one_of, real, text,
};
use crate::section;
use crate::workload::{
    CopyShift, LoadTime, MissingEstimate, Origin, ProcessorsField, WhichEstimate,
};

/// Jobs of a workload at most: with their records they take up to half a kilobyte each.
pub const MOST_JOBS: i64 = 10_000_000;

/// Nodes of a machine at most.
pub const MOST_NODES: i64 = 10_000_000;

const TOO_MANY_JOBS: &str = "jobs do not fit into memory (ten millions take five gigabytes; `bookahead simulate` streams any number)";

section! {
    /// What the experiment is called, its seed, and how often it is repeated: what no axis may
    /// change.
    EXPERIMENT = "experiment", RawHeader {
        /// The name of the experiment.
        name: Given<String> = text("up to 100 letters, digits, `-`, `_`, `.` and `@`, beginning with a letter or digit"),
        /// One paragraph for the report.
        description: Given<String> = text("any text"),
        /// The seed of all random streams.
        seed: Given<u64> = integer(0).default_is("1"),
        /// How often each point is simulated, with other jobs or other draws.
        replications: Given<u32> = integer(1).note(": how many batteries").default_is("1"),
        /// The quantity that the experiment is about.
        primary: Given<String> = text("a measure of the study (`bookahead list metrics`): what reports answer first and comparisons test by itself, for studies that earn nothing (default: what the study declares)"),
    }
}

section! {
    /// The jobs.
    WORKLOAD = "workload", RawWorkload {
        /// The trace that the jobs are read from.
        trace: Given<String> = text("the file name of a trace, with or without .gz or .xz"),
        /// The model that makes the jobs, instead of a trace.
        model: Given<String> = one_of(|| vec!["lublin-feitelson", "uniform-ratio", "arminius"]),
        /// How many jobs the model makes: in all, or with `fresh` for each replication.
        jobs: Given<u32> = integer_within(1, MOST_JOBS)
            .refused("is too small", TOO_MANY_JOBS)
            .note(": jobs that the model generates in all, or with `fresh` for each replication"),
        /// Whether each replication is a workload of its own, which further ones do not change.
        fresh: Given<bool> = flag("false")
            .note(": each replication is a draw of its own, or of a log the battery before the last one's"),
        /// The size of the machine.
        nodes: Given<u32> = integer_within(1, MOST_NODES)
            .refused("is too small", "is too large")
            .note(": the size of the machine (with a trace, by default that of the log's machine, as its header says)"),
        /// How many jobs are evaluated; those before them are learned from.
        evaluation_jobs: Given<u32> = integer_within(1, MOST_JOBS)
            .refused("is too small", TOO_MANY_JOBS)
            .words("a whole number of at least replications × battery_jobs (the default)")
            .decides("A-35"),
        /// Jobs of one battery.
        battery_jobs: Given<u32> = integer_within(1, MOST_JOBS)
            .refused("is too small", TOO_MANY_JOBS)
            .default_is("1000").decides("A-35"),
        /// The factor on the times between submissions.
        compression: Given<f64> = real().above(0.0).words("a factor above 0")
            .decides("Birkenheuer 2012 §5.1.1"),
        /// How far a deadline lies behind its submission, in estimates.
        laxity: Given<f64> = real().from(1.0)
            .note(": the deadline is submission + laxity × estimate")
            .default_is("2"),
        /// How much of every overestimate is left.
        estimate_tightness: Given<f64> = real().from(0.0).to(1.0)
            .note(": the share β of an overestimate that is left, x′ = max(1, ⌈ω + β(x − ω)⌉)")
            .default_is("1")
            .decides("Birkenheuer 2012 §4.3, §8.2"),
        /// Which estimate deadlines follow where estimates are tightened.
        deadline_estimate: Given<WhichEstimate> = named::<WhichEstimate>()
            .decides("Birkenheuer 2012 §4.3, §8.2"),
        /// Of 100 jobs, those that nobody shows up for.
        no_show_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": of 100 jobs those whose nodes are given back a second after the start")
            .default_is("0")
            .decides("Birkenheuer 2008 §2"),
        /// How often the program of a job crashes.
        crashes_per_hour: Given<f64> = real().from(0.0)
            .note(": crashes of a job in an hour of its run, whatever its width; the first one ends it")
            .default_is("0")
            .decides("Birkenheuer 2012 §2.2.1"),
        /// Whether the whole trace is one simulation, instead of batteries.
        whole_trace: Given<bool> = flag("false")
            .note(": the whole trace as one simulation, without batteries"),
        /// How much of a whole trace is taken.
        days: Given<f64> = real().above(0.0)
            .note(": only the jobs of the first days of a whole trace")
            .decides("AMB-21"),
        /// How many jobs are submitted a second time.
        copy_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": jobs of a whole trace that are submitted a second time")
            .default_is("0")
            .decides("AMB-19, AMB-20"),
        /// How the second copy is shifted.
        copy_shift: Given<CopyShift> = named::<CopyShift>().decides("AMB-19, AMB-20"),
        /// Whether estimates are set to run times.
        exact_estimates: Given<bool> = flag("false")
            .note(": estimates of a whole trace are its runtimes")
            .decides("AMB-1"),
        /// From when the times of a whole trace count.
        origin: Given<Origin> = named::<Origin>().decides("Gaussier 2015"),
        /// By how many seconds, at most, every submission of a whole trace is moved, in each
        /// replication by others.
        shake_seconds: Given<u32> = integer_within(0, 86_400)
            .refused("s is too little", "s is more than a day")
            .note(": submissions of a whole trace are moved by up to so many seconds, in each replication by others")
            .default_is("0"),
        /// Of a whole trace: the first job of each replication's window, counted from 0 among the
        /// usable jobs.
        window_first_jobs: Given<Vec<u32>> = integers(0)
            .words("a list of at least as many whole numbers as there are replications; windows may overlap")
            .decides("Zhang 2020"),
        /// Jobs of a window.
        window_jobs: Given<u32> = integer_within(1, MOST_JOBS)
            .refused("is too small", TOO_MANY_JOBS)
            .note(": consecutive usable jobs of a window")
            .default_is("1024"),
        /// Whether only completed jobs are used.
        completed_only: Option<bool> = flag("false")
            .note(": only records whose status is completed, for evaluation and learning")
            .decides("A-60"),
        /// What becomes of records without a requested time.
        missing_estimate: Option<MissingEstimate> = named::<MissingEstimate>()
            .note(": what becomes of records without a requested time"),
    }
    tables {
        /// Which records are usable.
        cleaning: RawCleaning,
        /// The offered load that submissions are brought to.
        load: RawLoad,
    }
    former {
        target_load => "workload.load.value",
        battery_load => "workload.load.each_battery",
    }
}

section! {
    /// The offered load that submissions are brought to.
    WORKLOAD_LOAD = "workload.load", RawLoad {
        /// Which time of a job the load counts.
        by: Option<LoadTime> = named::<LoadTime>(),
        /// Which estimates a load by estimates counts where they are tightened.
        estimate: Given<WhichEstimate> = named::<WhichEstimate>()
            .decides("Birkenheuer 2012 §4.3, §8.2"),
        /// The load that all evaluated jobs together are brought to.
        value: Given<f64> = real().above(0.0)
            .words("an offered load above 0, where 1 is the whole machine"),
        /// The load that each battery is brought to.
        each_battery: Given<f64> = real().above(0.0)
            .words("an offered load above 0, where 1 is the whole machine")
            .decides("A-36"),
    }
}

section! {
    /// Which records of a trace are usable.
    WORKLOAD_CLEANING = "workload.cleaning", RawCleaning {
        /// Which field of a record gives the number of nodes.
        processors: Option<ProcessorsField> = named::<ProcessorsField>().decides("A-37"),
        /// The run time of records without one.
        missing_runtime_seconds: Given<u32> = integer_within(0, 86_400)
            .refused("s is too little", "s is more than a day")
            .note(" s; 0 drops such records")
            .default_is("0"),
        /// Whether records with run time 0 are dropped.
        drop_zero_runtime: Option<bool> = flag("true").decides("A-08"),
        /// Whether records that overran are dropped.
        drop_overruns: Option<bool> = flag("false").decides("A-08"),
        /// Whether cancelled records are dropped.
        drop_cancelled: Option<bool> = flag("false"),
        /// Whether jobs of one node are dropped that only test the machine: they ask for the
        /// default and are over within seconds.
        drop_test_jobs: Option<bool> = flag("false").decides("Birkenheuer 2012 §4.2.2"),
        /// What such jobs ask for.
        test_job_estimate_seconds: Given<u32> = integer_within(0, 86_400)
            .note(" s, 0 for any, with drop_test_jobs")
            .default_is("600"),
        /// How long they run at most.
        test_job_longest_seconds: Given<u32> = integer_within(0, 86_400)
            .note(" s, with drop_test_jobs")
            .default_is("5"),
    }
}
