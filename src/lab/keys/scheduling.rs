//! Keys of the policy: how it plans, and when it accepts an overbooked slot.

use super::declaration::{
    Given, flag, integer, integer_within, integers, named, one_of, real, reals, strategy,
};
use crate::scheduling::{
    AccurateUserRule, CalibrationMethod, CheckpointPayer, Convolution, CrashRule, DownHorizon,
    EarlyStart, FailedStartRule, GapEnd, OverlapRule, Placing, PredecessorRule, PromisingRule,
    ReplanPasses, ResumeRule, Retry, UnderestimatorRule,
};
use crate::section;
use bookahead_core::plan::ShelfFit;

section! {
    /// The policy, or the study.
    SCHEDULING = "scheduling", RawScheduling {
        /// The policy, or the study.
        strategy: Given<String> = strategy().words("a registered strategy"),
        /// Which of the slots a job takes.
        placing: Option<Placing> = named::<Placing>().decides("Birkenheuer 2012 §3.1.2, §5.2.3"),
        /// Whether slots that hold the whole estimate are tested as well.
        test_full_length: Option<bool> = flag("false").decides("A-03"),
        /// The time step of distributions.
        time_step_seconds: Given<i64> = integer(1)
            .refused("s is no step", "")
            .words("a whole number of seconds of 1 or more")
            .default_is("60")
            .decides("A-12"),
        /// How distributions are convolved.
        convolution: Option<Convolution> = named::<Convolution>(),
        /// Whether who runs counts as not having ended yet, which makes promised risks truer.
        condition_on_elapsed: Option<bool> = flag("false").decides("A-15"),
        /// What is assumed about the jobs in front.
        predecessors: Option<PredecessorRule> = named::<PredecessorRule>(),
        /// How long a node stays down in a plan.
        down_horizon: Option<DownHorizon> = named::<DownHorizon>().decides("A-30"),
        /// How often a re-planning pass is repeated.
        replan: Option<ReplanPasses> = named::<ReplanPasses>().decides("A-22"),
        /// What becomes of a job that loses a node.
        crash: Option<CrashRule> = named::<CrashRule>().decides("A-31"),
        /// What becomes of a job that cannot start.
        failed_start: Option<FailedStartRule> = named::<FailedStartRule>().decides("A-33"),
        /// When waiting jobs are tried again.
        retry: Option<Retry> = named::<Retry>().decides("A-33"),
        /// Whether the plan is rebuilt after a failed start.
        replan_failed_start: Option<bool> = flag("false").decides("A-33"),
        /// Whether nobody is placed in front of an overbooked job, which counts on an early start:
        /// this makes promised risks truer.
        hold_for_overbooked: Option<bool> = flag("false").decides("A-18"),
        /// Dependence on predecessors of the same user.
        user_factor: Given<f64> = real().from(0.0).to(1.0)
            .words("0 (default: independent) to 1: dependence of a job on a predecessor of its user")
            .default_in_words("0")
            .decides("A-14"),
        /// Whether an overbooked job may be planned where others leave it no time of its own.
        overlap: Option<OverlapRule> = named::<OverlapRule>()
            .note(": between two jobs on the same nodes, in what the first leaves of its time")
            .decides("A-20"),
        /// Whether a risky job runs on two sets of nodes.
        double_execution: Option<bool> = flag("false")
            .decides("Birkenheuer 2012 §2.2.4"),
        /// From which price on nodes are too dear for a second run.
        node_hour_price: Given<f64> = real().from(0.0)
            .note(" virtual coins that a node-hour earns elsewhere: a second run must raise the expected profit by more")
            .default_is("0.5"),
        /// How probably a job that passes the first of a queue may still run when that is to start.
        backfill_risk: Given<f64> = real().from(0.0).to(1.0)
            .words("a probability from 0 to 1, below which easy-backfilling lets a job pass the first of the queue that may outlast its hole; 0: only estimates count")
            .default_is("0")
            .decides("Birkenheuer 2012 §2.4.2"),
        /// Which shelves of its class a job is put into.
        shelf_fit: Option<ShelfFit> = named::<ShelfFit>()
            .note(": the earliest with room, or the last alone, before shelf-backfilling opens a new one")
            .decides("Birkenheuer 2012 §2.3.1.2"),
        /// How high each kind of shelf that is reserved is as a part of the next higher one.
        shelf_ratio: Given<f64> = real().from(0.01).to(0.99)
            .note(": r, how high a kind of shelf is as a part of the next higher one")
            .default_is("0.5")
            .decides("Birkenheuer 2012 §2.3.1.2"),
        /// How high one kind of shelf is, from which all others follow.
        shelf_hours: Given<f64> = real().above(0.0)
            .note(" hours: H, the height of one kind of shelf; others are r, r², … times as high, and for longer jobs 1/r, 1/r², …")
            .default_is("24")
            .decides("Birkenheuer 2012 §2.3.1.2"),
        /// Whether planned jobs start early.
        early_start: Option<EarlyStart> = named::<EarlyStart>()
            .decides("Birkenheuer 2012 §3.6, §5.2"),
    }
}

section! {
    /// When an overbooked slot is accepted, and the accounting.
    ACCEPTANCE = "acceptance", RawAcceptance {
        /// The test that an overbooked slot has to pass.
        test: Given<String> = one_of(|| vec!["pof", "risk", "mean-sigma", "percentile", "maximum"])
            .default_is("pof"),
        /// The probability of failure up to which a slot is accepted.
        pof_max: Given<f64> = real().from(0.0).to(1.0)
            .words("a probability from 0 to 1")
            .default_is("0.2")
            .decides("A-04"),
        /// How many standard deviations above the mean must fit.
        sigmas: Given<f64> = real().from(0.0)
            .note(" standard deviations above the mean must fit, with mean-sigma and maximum")
            .default_is("1"),
        /// Which percentile must fit.
        percentile: Given<f64> = real().from(0.0).to(100.0)
            .note(" %: this percentile must fit, with percentile and maximum")
            .default_is("80"),
        /// How promises follow from computed probabilities.
        calibration: Option<CalibrationMethod> = named::<CalibrationMethod>(),
        /// After how many jobs a count weighs half.
        calibration_half_life_jobs: Given<f64> = real().from(1.0)
            .note(" submitted jobs")
            .default_is("5000"),
        /// How many jobs must be counted before promises change.
        calibration_minimum_jobs: Given<f64> = real().from(0.0)
            .note(" decided jobs, aged")
            .default_is("50"),
        /// How many batteries are run before, for calibration alone.
        calibration_batteries: Given<u32> = integer_within(0, 20)
            .refused("", "batteries are too many")
            .words("0 to 20 batteries before the simulated one")
            .default_is("5"),
        /// What a broken promise costs.
        penalty_ratio: Given<f64> = real().from(0.0).note(": penalty ÷ fee").default_is("1"),
        /// The security factor S of the risk test.
        security_factor: Given<f64> = real().from(0.0)
            .note(" (default: the strategy's own)")
            .decides("Birkenheuer 2012 §5.1.4"),
        /// Whether S adapts to how often earlier promises were broken.
        adapt_security_factor: Option<bool> = flag("false"),
        /// What makes a job promising for the algorithm of 2008.
        promising: Option<PromisingRule> = named::<PromisingRule>()
            .note(": whose statistics let overbooking-2008 shorten a job")
            .decides("A-43"),
        /// What is planned for users who underestimate.
        underestimators: Option<UnderestimatorRule> = named::<UnderestimatorRule>()
            .note(": what strategies that plan do for users whose jobs mostly outlast their estimates")
            .decides("Birkenheuer 2008 §3.1.1"),
        /// By how much the algorithm of 2008 shortens the estimate of a promising job.
        shortening: Given<String> = one_of(|| vec!["max-pof", "own-excess", "estimate"])
            .note(": to x / (1 + maxPoF), by a share of what the job's user usually does not use, or by a share of the estimate")
            .default_is("max-pof")
            .decides("Birkenheuer 2008 §3.1.1"),
        /// The share of `shortening`.
        shortening_share: Given<f64> = real().from(0.0).to(1.0)
            .note(r#" of what is not used or of the estimate, unless shortening is "max-pof""#)
            .default_is("0.5"),
        /// What is planned for users who estimate accurately.
        accurate_users: Option<AccurateUserRule> = named::<AccurateUserRule>()
            .note(": whether jobs of users who mostly use nearly all of their estimates are given overbooked slots")
            .decides("Birkenheuer 2012 §4.3"),
        /// From which share of such jobs on a user estimates accurately.
        accurate_share: Given<f64> = real().above(0.0).to(1.0)
            .note(": the share of learning jobs that used 95 % of the estimate or more")
            .default_is("0.5"),
        /// How many learning jobs a user must have to be called accurate.
        accurate_least_jobs: Given<u32> = integer(1).default_is("20"),
        /// Users who are never given overbooked slots.
        exclude_users: Given<Vec<i64>> = integers(0)
            .words("a list of users by their numbers in the log, such as those whose programs save their work")
            .default_is("[]")
            .decides("Birkenheuer 2012 §4.1"),
    }
}

section! {
    /// Whether jobs save their work, so that one which is stopped or loses a node goes on from
    /// there.
    CHECKPOINT = "checkpoint", RawCheckpoint {
        /// How much a job computes between two checkpoints.
        interval: Given<String> = one_of(|| vec!["none", "fixed", "young", "daly"])
            .note(": no checkpoints at all, or one after each so much work")
            .default_is("none")
            .decides("A-31"),
        /// The fixed interval.
        interval_seconds: Given<i64> = integer_within(1, 1 << 40)
            .note(" seconds of work")
            .default_is("3600"),
        /// How long a job stands still while it writes a checkpoint.
        cost_seconds: Given<i64> = integer_within(0, 1 << 30).note(" seconds").default_is("60"),
        /// How long a job reads a checkpoint before it goes on.
        restart_seconds: Given<i64> = integer_within(0, 1 << 30).note(" seconds").default_is("60"),
        /// Whose time checkpoints take.
        payer: Option<CheckpointPayer> = named::<CheckpointPayer>(),
        /// What is done when a window ends before the job in it.
        gap_end: Option<GapEnd> = named::<GapEnd>(),
        /// In which gaps a job goes on that was stopped.
        resume: Option<ResumeRule> = named::<ResumeRule>(),
        /// What the memory of a suspended job costs.
        memory_price: Given<f64> = real().from(0.0)
            .note(r#" virtual coins a node-hour, for gap_end = "suspend""#)
            .default_is("0"),
        /// Whose bandwidth a checkpoint is written with.
        bandwidth: Given<String> = one_of(|| vec!["own", "shared-by-jobs", "shared-by-nodes"])
            .note(": who is slowed down by others who write at the same time")
            .default_is("own"),
        /// How many nodes write at full speed.
        bandwidth_nodes: Given<i64> = integer_within(1, 1 << 30)
            .note(r#" nodes that write at full speed at once, for bandwidth = "shared-by-nodes""#)
            .default_is("64"),
    }
}

section! {
    /// How the penalty grows with the lateness of a job.
    PENALTY = "penalty", RawPenalty {
        /// Which share of the penalty a late job owes.
        function: Given<String> = one_of(|| vec!["all-or-nothing", "linear", "stepwise"])
            .note(": how it grows with the lateness")
            .default_is("all-or-nothing"),
        /// The lateness at which all of it is owed.
        full_after_hours: Given<f64> = real().above(0.0)
            .note(r#" hours after the deadline, for function = "linear""#)
            .default_is("1"),
        /// Up to which lateness the shares are owed.
        step_hours: Given<Vec<f64>> = reals().above(0.0)
            .words(r#"ascending hours after the deadline, for function = "stepwise""#)
            .default_is("[1.0]"),
        /// The shares up to these latenesses.
        step_shares: Given<Vec<f64>> = reals().from(0.0).below(1.0)
            .words("ascending shares of the penalty, one for each of step_hours; beyond the last all is owed")
            .default_is("[0.5]"),
        /// Which share of the fee is paid back with the full penalty.
        refund: Given<f64> = real().from(0.0).to(1.0)
            .note(": share of the fee that is paid back where the full penalty is owed")
            .default_is("1"),
    }
}
