//! The outcome of a job, and the totals of a simulation.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use super::checkpoint::{CheckpointTotals, Execution};
use super::double_execution::DoubleTotals;
use super::longer_estimates::LongerTotals;
use super::penalty::{Late, LateTotals};
use super::promising::is_default;
use super::work::WorkCounters;
use crate::estimates::RatioRange;
use crate::scheduling::measures::Measured;
use crate::units::{Coins, NodeSeconds, Seconds};
use crate::workload::Job;

/// The complete record of one submitted job: what was asked, promised and kept.
///
/// Money is not here: the fee is [`Job::fee`], earned when the job is successful, and the penalty
/// is the penalty ratio times that fee when it failed, so that runs that differ only in the ratio
/// share one schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobOutcome {
    /// The job as it was submitted.
    pub job: Job,
    /// How it ended.
    pub verdict: Verdict,
    /// Index of the estimate class whose distribution was used, where a policy looked one up.
    pub class: Option<u16>,
    /// The promise given at acceptance; `None` for dropped jobs, and for policies that promise
    /// nothing. (Every policy promises fixed reservations their window.)
    pub promise: Option<Promise>,
    /// The last actual start, if the job ever started.
    pub start: Option<Seconds>,
    /// When it ended for good (success, kill, or the moment it was given up); `None` if it was
    /// dropped.
    pub end: Option<Seconds>,
    /// How often it was started again: after a node failure, and where jobs save their work after
    /// the end of a window.
    pub restarts: u32,
    /// How many failures hit nodes while it held them.
    pub node_failures: u32,
    /// What its runs added up to; `None` where jobs do not save their work, or it never ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// How late it ended, where that is no failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Late>,
}

impl JobOutcome {
    /// A job on a machine that promises nothing and takes nothing back: it ran from its first to
    /// its last second, or was wider than the machine (`None`).
    #[must_use]
    pub fn unpromised(job: Job, ran: Option<(Seconds, Seconds)>) -> Self {
        let verdict = match ran {
            None => Verdict::DroppedTooWide,
            Some(_) if job.runtime <= job.estimate => Verdict::SuccessfulFinished,
            Some(_) => Verdict::SuccessfulFullGrant,
        };
        Self {
            job,
            verdict,
            class: None,
            promise: None,
            start: ran.map(|(start, _)| start),
            end: ran.map(|(_, end)| end),
            restarts: 0,
            node_failures: 0,
            execution: None,
            late: None,
        }
    }
}

/// What a policy would promise a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobQuote {
    /// Planned start.
    pub start: Seconds,
    /// Planned end.
    pub end: Seconds,
    /// Whether the slot is shorter than the estimate.
    pub overbooked: bool,
    /// The probability of failure as it would be promised, calibrated where promises are. That of a
    /// slot at full length is the one of its nodes.
    pub pof: f64,
}

/// The slot that was promised to a job at its submission.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// Planned start.
    pub start: Seconds,
    /// Planned end: `start + estimate` at full length, earlier when overbooked.
    pub end: Seconds,
    /// Whether the slot is shorter than the estimate.
    pub overbooked: bool,
    /// The probability of success, where the policy computed one (overbooked slots).
    pub success: Option<SuccessFactors>,
    /// The probability of failure that was promised, in `[0, 1]`, where the policy corrected what
    /// `success` says by how earlier promises came true; `None` where nothing was corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated_pof: Option<f64>,
    /// Nine tenths of the distribution of how much of its estimate the job would need, as it was
    /// known at acceptance: from the 5 % to the 95 % quantile. `None` where the policy asks for no
    /// distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratios: Option<RatioRange>,
    /// Number of distinct direct predecessors that entered the joint distribution (comprehensive
    /// approach).
    pub predecessors: u32,
}

impl Promise {
    /// A slot of full length that is certain: no probability was computed for it.
    #[must_use]
    pub fn certain(start: Seconds, end: Seconds) -> Self {
        Self {
            start,
            end,
            overbooked: false,
            success: None,
            calibrated_pof: None,
            ratios: None,
            predecessors: 0,
        }
    }

    /// The probability of failure as the model of runtimes and failures gives it, before any
    /// calibration.
    #[must_use]
    pub fn raw_pof(&self) -> Option<f64> {
        self.success.map(|success| success.pof())
    }

    /// The probability of failure that was promised: calibrated where there is such a one, else as
    /// the model gives it.
    #[must_use]
    pub fn pof(&self) -> Option<f64> {
        self.calibrated_pof.or_else(|| self.raw_pof())
    }
}

/// The three independent factors of a probability of success (Birkenheuer 2012, §3.3.1, §3.3.2),
/// each in `[0, 1]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuccessFactors {
    /// All nodes are up at the start.
    pub available: f64,
    /// The job ends within what it gets.
    pub executable: f64,
    /// The nodes survive the execution.
    pub survives: f64,
}

impl SuccessFactors {
    /// Probability of success: the product of the three factors.
    #[must_use]
    pub fn pos(&self) -> f64 {
        self.available * self.executable * self.survives
    }

    /// Probability of failure, `1 − PoS`.
    #[must_use]
    pub fn pof(&self) -> f64 {
        1.0 - self.pos()
    }
}

/// How a job ended.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Verdict {
    /// Rejected at submission: no slot that the policy would accept, or a fixed reservation whose
    /// window is not free. No fee, no penalty.
    DroppedNoSlot,
    /// Rejected at submission: wider than the cluster.
    DroppedTooWide,
    /// The real runtime elapsed within what was granted. The fee is earned.
    SuccessfulFinished,
    /// The full estimate was granted and the job did not finish: the user's misestimate, the fee is
    /// earned.
    SuccessfulFullGrant,
    /// Killed at the end of a window shorter than its estimate. The penalty is due.
    FailedOverbooked,
    /// Lost to a node failure while running, with no way to restart in time. The penalty is due.
    FailedNodes,
    /// Could not start in time because nodes were down or still held. The penalty is due.
    FailedUnstartable,
    /// Rejected by its customer, who was offered too late an end. No fee, no penalty.
    DroppedByCustomer,
}

impl Verdict {
    /// Every verdict, in the order of the codes in the store.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The job was rejected at submission, by the cluster or by its customer.
    #[must_use]
    pub fn is_dropped(self) -> bool {
        matches!(
            self,
            Self::DroppedNoSlot | Self::DroppedTooWide | Self::DroppedByCustomer
        )
    }

    /// The SLA was fulfilled.
    #[must_use]
    pub fn is_successful(self) -> bool {
        matches!(self, Self::SuccessfulFinished | Self::SuccessfulFullGrant)
    }

    /// The job was accepted and its SLA was violated.
    #[must_use]
    pub fn is_failed(self) -> bool {
        !self.is_dropped() && !self.is_successful()
    }

    /// The name in the store and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Totals of one simulation, independent of the penalty ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulationMetrics {
    /// Jobs submitted.
    pub submitted: u64,
    /// Jobs accepted: `successful + failed`.
    pub accepted: u64,
    /// Jobs rejected at submission.
    pub dropped: u64,
    /// Of those, jobs wider than the machine.
    pub dropped_too_wide: u64,
    /// Of those, jobs whose customers refused the end that they were offered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dropped_by_customer: u64,
    /// Accepted jobs whose slot was shorter than the estimate.
    pub overbooked: u64,
    /// Accepted jobs whose SLA was fulfilled.
    pub successful: u64,
    /// Accepted jobs whose SLA was violated.
    pub failed: u64,
    /// Failed because the window of an overbooked job ended.
    pub failed_overbooked: u64,
    /// Failed because a node crashed under the job.
    pub failed_nodes: u64,
    /// Failed because the job could not start.
    pub failed_unstartable: u64,
    /// Restarts after node failures, and where jobs save their work after ends of windows.
    pub restarts: u64,
    /// Fees of successful jobs, `Σ n·x`, with x as it was lengthened while they ran, less what late
    /// ones got back and what the memory of suspended ones cost.
    pub fees: NodeSeconds,
    /// Fees of failed jobs, `Σ n·x`, and the part of it that late ones owe: the penalties at
    /// penalty ratio 1.
    pub forfeited: NodeSeconds,
    /// Node-time in which a job ran (including runs that were lost).
    pub busy: NodeSeconds,
    /// Node-time of successful runs; of jobs that save their work, what they computed and did not
    /// lose.
    pub useful: NodeSeconds,
    /// From the first submission to the last end.
    pub makespan: Seconds,
    /// `nodes · makespan`.
    pub capacity: NodeSeconds,
    /// Sum over started jobs of (last start − release), seconds.
    pub wait_total: Seconds,
    /// Jobs that started at least once.
    pub started: u64,
    /// Σ n·ω·(response/ω) over successful jobs, i.e. Σ n·response: numerator of the slowdown
    /// weighted by area.
    pub weighted_response: NodeSeconds,
    /// Σ n·(time held by the last run, or by all where work is saved) over successful jobs: its
    /// denominator.
    pub weighted_run: NodeSeconds,
    /// What the policy did to get there.
    pub work: WorkCounters,
    /// What jobs that save their work did.
    #[serde(default)]
    pub checkpoints: CheckpointTotals,
    /// Jobs that ended late where that is no failure.
    #[serde(default)]
    pub late: LateTotals,
    /// Jobs that ran twice.
    #[serde(default, skip_serializing_if = "is_default")]
    pub double: DoubleTotals,
    /// Users who asked for more time while their jobs ran.
    #[serde(default, skip_serializing_if = "is_default")]
    pub longer: LongerTotals,
}

impl SimulationMetrics {
    /// Fees minus penalties in virtual coins, at penalty ratio `ratio` (gain, profit and income in
    /// Birkenheuer 2012).
    #[must_use]
    pub fn gain(&self, ratio: f64) -> Coins {
        Coins(self.fees.coins().0 - ratio * self.forfeited.coins().0)
    }

    /// The totals of two clusters side by side: sums, and the longer makespan.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        Self {
            submitted: self.submitted + other.submitted,
            accepted: self.accepted + other.accepted,
            dropped: self.dropped + other.dropped,
            dropped_too_wide: self.dropped_too_wide + other.dropped_too_wide,
            dropped_by_customer: self.dropped_by_customer + other.dropped_by_customer,
            overbooked: self.overbooked + other.overbooked,
            successful: self.successful + other.successful,
            failed: self.failed + other.failed,
            failed_overbooked: self.failed_overbooked + other.failed_overbooked,
            failed_nodes: self.failed_nodes + other.failed_nodes,
            failed_unstartable: self.failed_unstartable + other.failed_unstartable,
            restarts: self.restarts + other.restarts,
            fees: self.fees + other.fees,
            forfeited: self.forfeited + other.forfeited,
            busy: self.busy + other.busy,
            useful: self.useful + other.useful,
            makespan: self.makespan.max(other.makespan),
            capacity: self.capacity + other.capacity,
            wait_total: self.wait_total + other.wait_total,
            started: self.started + other.started,
            weighted_response: self.weighted_response + other.weighted_response,
            weighted_run: self.weighted_run + other.weighted_run,
            checkpoints: self.checkpoints.beside(&other.checkpoints),
            late: self.late.beside(&other.late),
            double: self.double.beside(&other.double),
            longer: self.longer.beside(&other.longer),
            work: self.work.beside(&other.work),
        }
    }

    /// Adds one outcome to the totals that do not depend on the machine.
    pub fn count(&mut self, outcome: &JobOutcome) {
        self.submitted += 1;
        self.restarts += u64::from(outcome.restarts);
        if let Some(execution) = &outcome.execution {
            self.checkpoints.count(
                outcome.job.nodes,
                outcome.verdict.is_successful(),
                outcome.node_failures,
                execution,
            );
            self.fees.0 -= execution.rent.0;
        }
        if let Some(start) = outcome.start {
            self.started += 1;
            self.wait_total += start - outcome.job.release;
        }
        let fee = outcome.job.fee();
        match outcome.verdict {
            Verdict::DroppedNoSlot => {}
            Verdict::DroppedTooWide => self.dropped_too_wide += 1,
            Verdict::DroppedByCustomer => self.dropped_by_customer += 1,
            Verdict::SuccessfulFinished | Verdict::SuccessfulFullGrant => {
                self.fees += fee;
                if let Some(late) = &outcome.late {
                    let (owed, returned) = self.late.count(late, fee);
                    self.fees.0 -= returned.0;
                    self.forfeited += owed;
                }
                if let (Some(start), Some(end)) = (outcome.start, outcome.end) {
                    let (useful, held) = match &outcome.execution {
                        Some(execution) => (execution.useful, execution.held()),
                        None => (end - start, end - start),
                    };
                    self.useful += outcome.job.nodes.for_span(useful);
                    self.weighted_run += outcome.job.nodes.for_span(held);
                    self.weighted_response += outcome.job.nodes.for_span(end - outcome.job.release);
                }
            }
            Verdict::FailedOverbooked => self.failed_overbooked += 1,
            Verdict::FailedNodes => self.failed_nodes += 1,
            Verdict::FailedUnstartable => self.failed_unstartable += 1,
        }
        if outcome.verdict.is_dropped() {
            self.dropped += 1;
        } else {
            self.accepted += 1;
            self.overbooked += u64::from(outcome.promise.is_some_and(|promise| promise.overbooked));
            if outcome.verdict.is_successful() {
                self.successful += 1;
            } else {
                self.failed += 1;
                self.forfeited += fee;
            }
        }
    }
}

/// How well the distributions of jobs at their acceptance describe their run times. It is the share
/// of decided jobs whose real run time lies between the 5 % and 95 % quantiles, killed or not,
/// beside the share that the distributions promise, and the width of these intervals. Rejected jobs
/// and fixed reservations have no such distribution; empty if no job has one.
pub fn measure_intervals(outcomes: &[JobOutcome], measured: &mut Measured) {
    let (mut jobs, mut within, mut promised, mut width) = (0_u64, 0_u64, 0.0, 0.0);
    for outcome in outcomes {
        if let Some(ratios) = outcome.promise.and_then(|promise| promise.ratios) {
            let job = &outcome.job;
            jobs += 1;
            within += u64::from(ratios.contains(job.runtime, job.estimate));
            promised += ratios.probability;
            width += f64::from(ratios.high - ratios.low);
        }
    }
    let jobs = jobs as f64;
    measured.add_ratio("interval_90_coverage_percent", 100.0 * within as f64, jobs);
    measured.add_ratio("interval_90_promised_percent", 100.0 * promised, jobs);
    measured.add_ratio("interval_90_width_percent", width, jobs);
}

/// What fixed reservations among the jobs of a cluster did, beside the totals that count both;
/// empty where there were none.
#[must_use]
pub fn fixed_measures(outcomes: &[JobOutcome]) -> Measured {
    let mut measured = Measured::default();
    if !outcomes.iter().any(|outcome| outcome.job.is_reservation()) {
        return measured;
    }
    let (mut fixed, mut flexible) = (SimulationMetrics::default(), SimulationMetrics::default());
    for outcome in outcomes {
        if outcome.job.is_reservation() {
            fixed.count(outcome);
        } else {
            flexible.count(outcome);
        }
    }
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
    measured.add("requests", fixed.submitted as f64);
    measured.add("granted", fixed.accepted as f64);
    measured.add("rejected_percent", percent(fixed.dropped, fixed.submitted));
    measured.add(
        "flexible_rejected_percent",
        percent(flexible.dropped, flexible.submitted),
    );
    measured.add(
        "job_wait_hours",
        flexible.wait_total.hours() / flexible.started as f64,
    );
    measured.add("flexible_fees_vc", flexible.fees.coins().0);
    measured.add("flexible_forfeited_vc", flexible.forfeited.coins().0);
    measured.add("reservation_fees_vc", fixed.fees.coins().0);
    measured.add("reservation_forfeited_vc", fixed.forfeited.coins().0);
    measured
}

/// τ: shorter run times count as so many seconds in slowdowns.
const SHORTEST_RUNTIME_SECONDS: i64 = 10;

/// Bounded slowdown, `max(1, (wait + run) / max(10 s, run))`.
#[must_use]
pub fn bounded_slowdown(wait: Seconds, runtime: Seconds) -> f64 {
    let shortest = runtime.0.max(SHORTEST_RUNTIME_SECONDS);
    ((wait + runtime).0 as f64 / shortest as f64).max(1.0)
}
