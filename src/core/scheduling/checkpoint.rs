//! Checkpoints: when a job writes them, what they cost, and how much work remains when the job is
//! stopped.
//!
//! A run computes for `interval` seconds, writes a checkpoint for `cost` seconds, and so on until
//! its work is done; nothing is written after the last stretch of work. A run that goes on from a
//! checkpoint reads it first, for `restart` seconds. Work counts once it is written.

use serde::{Deserialize, Serialize};

use super::measures::Measured;
use super::promising::is_default;
use crate::units::{NodeSeconds, Nodes, Seconds};
use crate::workload::Job;

/// Longer than any job: an interval that never ends.
const NEVER: Seconds = Seconds(1 << 40);

/// `[checkpoint]`: whether and how jobs save their work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointSettings {
    /// The work between two checkpoints.
    pub interval: CheckpointInterval,
    /// C: the time in which a job writes one and computes nothing.
    pub cost: Seconds,
    /// R: the time in which a job reads one before it goes on.
    pub restart: Seconds,
    /// Whose time the checkpoints take: the provider's or the customer's.
    pub payer: CheckpointPayer,
    /// What is done when a window ends before the job in it.
    pub gap_end: GapEnd,
    /// The gaps in which a job may go on.
    pub resume: ResumeRule,
    /// The price of the memory of a suspended job, in virtual coins a node-hour; read with
    /// [`GapEnd::Suspend`] only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory_price: f64,
    /// Whether writers share bandwidth.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bandwidth: Bandwidth,
}

impl CheckpointSettings {
    /// The same settings without those that are not read.
    #[must_use]
    pub fn normalised(self) -> Self {
        Self {
            memory_price: match self.gap_end {
                GapEnd::Suspend => self.memory_price,
                GapEnd::Checkpoint | GapEnd::Kill => 0.0,
            },
            bandwidth: if self.shares_bandwidth() {
                self.bandwidth
            } else {
                Bandwidth::Own
            },
            ..self
        }
    }

    /// Whether a write takes longer while others write: checkpoints that cost nothing do not.
    #[must_use]
    pub fn shares_bandwidth(&self) -> bool {
        self.bandwidth != Bandwidth::Own && self.cost > Seconds::ZERO
    }

    /// The time before the end of a too short window in which a job writes and computes nothing.
    #[must_use]
    pub fn closing(&self) -> Seconds {
        match self.gap_end {
            GapEnd::Checkpoint => self.cost,
            GapEnd::Kill | GapEnd::Suspend => Seconds::ZERO,
        }
    }

    /// The time in which a job that was stopped at the end of a window reads when it goes on, if
    /// all its work was kept.
    #[must_use]
    pub fn reopening(&self) -> Seconds {
        match self.gap_end {
            GapEnd::Checkpoint | GapEnd::Kill => self.restart,
            GapEnd::Suspend => Seconds::ZERO,
        }
    }
}

/// The work between two checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointInterval {
    /// This time, for every job.
    Fixed(Seconds),
    /// Young's approximation, [`young_interval`].
    Young,
    /// Daly's estimate of higher order, [`daly_interval`].
    Daly,
}

/// Whose time the checkpoints take. Repeated work and restarts take the provider's time in any
/// case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointPayer {
    /// The provider's: a job gets its whole estimate for its work and its checkpoints on top of it,
    /// at the same fee.
    #[default]
    Provider,
    /// The customer's: a job that is not interrupted gets its estimate for its work and its
    /// checkpoints together.
    Customer,
}

/// What is done when a window ends before the job in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapEnd {
    /// A checkpoint is written just before the end, which is known.
    #[default]
    Checkpoint,
    /// Nothing: what was computed since the last checkpoint is lost.
    Kill,
    /// The job is suspended until it goes on: its state is kept in memory, which costs money but no
    /// time. If one of its nodes fails meanwhile, the job falls back to its last checkpoint.
    Suspend,
}

/// Whether writers share bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bandwidth {
    /// Each job has its own: the duration of a write is its cost, regardless of other writers.
    #[default]
    Own,
    /// All writing jobs share the bandwidth of the cluster equally: the duration of a write is its
    /// cost while no other job writes, and k times its cost while k jobs write. Plans do not
    /// consider this.
    SharedByJobs,
    /// All nodes of writing jobs share the bandwidth of the cluster equally. As long as at most
    /// this many nodes write, the duration of a write is its cost. While m nodes write, more than
    /// this number, the duration is m divided by this number times the cost. Plans do not consider
    /// this.
    SharedByNodes(Nodes),
}

impl Bandwidth {
    /// The number of shares up to which no writer is slowed down; at least one.
    pub(super) fn capacity(self) -> i64 {
        match self {
            Self::Own => i64::MAX,
            Self::SharedByJobs => 1,
            Self::SharedByNodes(nodes) => i64::from(nodes.0.max(1)),
        }
    }

    /// The number of shares of a job on this many nodes.
    pub(super) fn shares(self, nodes: Nodes) -> i64 {
        match self {
            Self::Own | Self::SharedByJobs => 1,
            Self::SharedByNodes(_) => i64::from(nodes.0),
        }
    }
}

/// The gaps in which a stopped job may go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResumeRule {
    /// A gap that holds the whole rest; else the first gap whose probability of failure passes the
    /// test of new jobs; else the longest gap, as the promise stands. No gap in which more time
    /// goes into reading and writing than into computing.
    #[default]
    Any,
    /// The same, but not the longest gap if it fails the test.
    Tested,
}

/// Young's first-order optimum, √(2·C·M), in the unit of its arguments: C is the cost of a
/// checkpoint, M the mean time between failures of the job (Young 1974).
#[must_use]
pub fn young_interval(cost: f64, mean_time_to_failure: f64) -> f64 {
    libm::sqrt(2.0 * cost * mean_time_to_failure)
}

/// Daly's optimum of higher order for the time computed between two checkpoints,
/// `√(2CM) · (1 + ⅓·√(C/2M) + ⅑·C/2M) − C` for C < 2M, else M (Daly 2006, equation 37).
#[must_use]
pub fn daly_interval(cost: f64, mean_time_to_failure: f64) -> f64 {
    if cost >= 2.0 * mean_time_to_failure {
        return mean_time_to_failure;
    }
    let ratio = cost / (2.0 * mean_time_to_failure);
    young_interval(cost, mean_time_to_failure) * (1.0 + libm::sqrt(ratio) / 3.0 + ratio / 9.0)
        - cost
}

/// Checkpoints on a cluster: the settings, and the failure rate that determines intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checkpointing {
    settings: CheckpointSettings,
    /// The planner's λ, per node-hour.
    failure_rate_per_hour: f64,
}

impl Checkpointing {
    /// Checkpoints on nodes with the failure rate that the planner assumes.
    #[must_use]
    pub fn new(settings: CheckpointSettings, failure_rate_per_hour: f64) -> Self {
        Self {
            settings,
            failure_rate_per_hour,
        }
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &CheckpointSettings {
        &self.settings
    }

    /// The checkpoint schedule of a job on this many nodes: M = 1 / (n·λ), in whole seconds, at
    /// least one.
    #[must_use]
    pub fn rhythm(&self, nodes: Nodes) -> Rhythm {
        let cost = self.settings.cost;
        let by = |formula: fn(f64, f64) -> f64| {
            let rate = self.failure_rate_per_hour * f64::from(nodes.0) / 3_600.0;
            let seconds = formula(cost.0 as f64, 1.0 / rate);
            if seconds < NEVER.0 as f64 {
                Seconds(libm::round(seconds) as i64)
            } else {
                NEVER
            }
        };
        let interval = match self.settings.interval {
            CheckpointInterval::Fixed(interval) => interval,
            CheckpointInterval::Young => by(young_interval),
            CheckpointInterval::Daly => by(daly_interval),
        };
        Rhythm {
            interval: interval.clamp(Seconds(1), NEVER),
            cost,
        }
    }

    /// The work that a job is granted: its whole estimate, or the part of it that remains beside
    /// its checkpoints.
    #[must_use]
    pub fn granted(&self, job: &Job) -> Seconds {
        match self.settings.payer {
            CheckpointPayer::Provider => job.estimate,
            CheckpointPayer::Customer => self.rhythm(job.nodes).work_in(job.estimate),
        }
    }

    /// The time in which a job reads before it goes on from this much saved work.
    #[must_use]
    pub fn reads(&self, saved: Seconds) -> Seconds {
        if saved > Seconds::ZERO {
            self.settings.restart
        } else {
            Seconds::ZERO
        }
    }
}

/// When a job writes checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rhythm {
    /// τ, at least 1 s.
    pub interval: Seconds,
    /// C.
    pub cost: Seconds,
}

impl Rhythm {
    /// The duration of a run that does this much work, `w + C · (⌈w/τ⌉ − 1)`.
    #[must_use]
    pub fn held_for(self, work: Seconds) -> Seconds {
        if work <= Seconds::ZERO {
            return Seconds::ZERO;
        }
        let writes = (work.0 - 1) / self.interval.0;
        work + Seconds(self.cost.0 * writes)
    }

    /// The work that a run has done after this time.
    #[must_use]
    pub fn work_in(self, held: Seconds) -> Seconds {
        let held = held.max(Seconds::ZERO);
        let cycle = self.interval.0 + self.cost.0;
        Seconds(held.0 / cycle * self.interval.0 + (held.0 % cycle).min(self.interval.0))
    }

    /// The part of this work that is written.
    #[must_use]
    pub fn saved_in(self, held: Seconds) -> Seconds {
        let held = held.max(Seconds::ZERO);
        Seconds(held.0 / (self.interval.0 + self.cost.0) * self.interval.0)
    }
}

/// Totals of all runs of a job. The time on its nodes is `useful + lost + written + read`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// Work that counts: written, or done by the run that ended by itself.
    pub useful: Seconds,
    /// Work that had not been written when the job was stopped.
    pub lost: Seconds,
    /// Time in which checkpoints were written, or begun to be written.
    pub written: Seconds,
    /// The part of it by which other writers delayed this job.
    #[serde(default)]
    pub waited: Seconds,
    /// Time in which checkpoints were read.
    pub read: Seconds,
    /// How often it was stopped at the end of a window.
    pub stops: u32,
    /// How often it went on from a saved state.
    pub resumed: u32,
    /// Time in which it was suspended.
    #[serde(default)]
    pub suspended: Seconds,
    /// The cost of being suspended, in node-seconds at the price of one coin a node-hour.
    #[serde(default)]
    pub rent: NodeSeconds,
}

impl Execution {
    /// All time on nodes.
    #[must_use]
    pub fn held(&self) -> Seconds {
        self.useful + self.lost + self.written + self.read
    }
}

/// Totals of checkpoints in a simulation, over all accepted jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointTotals {
    /// Jobs that ran and might have saved their work.
    pub jobs: u64,
    /// Ends of windows at which a job was stopped.
    pub stops: u64,
    /// Runs that went on from a checkpoint.
    pub resumed: u64,
    /// Successful jobs that were stopped or lost a node before.
    pub kept: u64,
    /// Work of successful jobs.
    pub work: NodeSeconds,
    /// Work that was not written when its job was stopped, and all that of jobs which failed in the
    /// end.
    pub lost: NodeSeconds,
    /// Time in which checkpoints were written.
    pub written: NodeSeconds,
    /// Time in which they were read.
    pub read: NodeSeconds,
    /// Memory that suspended jobs held.
    #[serde(default)]
    pub suspended: NodeSeconds,
    /// What that cost.
    #[serde(default)]
    pub rent: NodeSeconds,
    /// Where jobs share their bandwidth, what that did.
    #[serde(default)]
    pub shared: Option<SharedTotals>,
}

/// What it cost that jobs which write at once share their bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedTotals {
    /// How much of the time in which checkpoints were written others took.
    pub waited: NodeSeconds,
    /// How many jobs wrote at once at most.
    pub most_writers: u32,
}

impl CheckpointTotals {
    /// The totals of two clusters together.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        Self {
            jobs: self.jobs + other.jobs,
            stops: self.stops + other.stops,
            resumed: self.resumed + other.resumed,
            kept: self.kept + other.kept,
            work: self.work + other.work,
            lost: self.lost + other.lost,
            written: self.written + other.written,
            read: self.read + other.read,
            suspended: self.suspended + other.suspended,
            rent: self.rent + other.rent,
            shared: match (self.shared, other.shared) {
                (Some(one), Some(two)) => Some(SharedTotals {
                    waited: one.waited + two.waited,
                    most_writers: one.most_writers.max(two.most_writers),
                }),
                (one, two) => one.or(two),
            },
        }
    }

    /// Counts a job on this many nodes.
    pub(super) fn count(
        &mut self,
        nodes: Nodes,
        is_successful: bool,
        node_failures: u32,
        execution: &Execution,
    ) {
        let was_interrupted = execution.stops > 0 || node_failures > 0;
        self.jobs += 1;
        self.stops += u64::from(execution.stops);
        self.resumed += u64::from(execution.resumed);
        self.kept += u64::from(was_interrupted && is_successful);
        // The work of a job that failed in the end is useless.
        let end = if is_successful {
            &mut self.work
        } else {
            &mut self.lost
        };
        *end += nodes.for_span(execution.useful);
        self.lost += nodes.for_span(execution.lost);
        self.written += nodes.for_span(execution.written);
        self.read += nodes.for_span(execution.read);
        self.suspended += nodes.for_span(execution.suspended);
        self.rent += execution.rent;
        if let Some(shared) = &mut self.shared {
            shared.waited += nodes.for_span(execution.waited);
        }
    }

    /// The measures of the study; none where no job saves its work.
    #[must_use]
    pub fn measures(&self) -> Measured {
        let mut measured = Measured::default();
        if self.jobs > 0 {
            measured.add("stops_at_window_end", self.stops as f64);
            measured.add("resumed_from_checkpoint", self.resumed as f64);
            measured.add("kept_after_interruption", self.kept as f64);
            measured.add("work_node_hours", self.work.coins().0);
            measured.add("lost_work_node_hours", self.lost.coins().0);
            measured.add("checkpoint_node_hours", self.written.coins().0);
            measured.add("restart_node_hours", self.read.coins().0);
            measured.add("suspended_node_hours", self.suspended.coins().0);
            measured.add("memory_rent_vc", self.rent.coins().0);
            if let Some(shared) = &self.shared {
                measured.add("bandwidth_wait_node_hours", shared.waited.coins().0);
                measured.add("most_writers", f64::from(shared.most_writers));
            }
        }
        measured
    }
}

#[cfg(test)]
mod tests;
