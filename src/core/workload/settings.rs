//! What determines a workload: where the jobs come from, which of them are used, and how arrivals
//! and deadlines are made.

use serde::{Deserialize, Serialize};

use super::early_ends::EarlyEnds;
use super::swf::log_name;
use super::test_jobs::TestJobs;
use super::tightness::Tightness;
use crate::units::Nodes;

/// Everything that determines the jobs of a simulation, apart from seed and replication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSettings {
    /// A trace or a model.
    pub source: WorkloadSource,
    /// Size of the machine.
    pub nodes: Nodes,
    /// How many of the last usable jobs are evaluated; everything usable before them is for
    /// learning (Birkenheuer 2012, §5.1.2).
    pub evaluation_jobs: u32,
    /// Jobs a battery: consecutive blocks of the evaluation jobs, each rebased to time 0.
    pub battery_jobs: u32,
    /// Which records are usable.
    pub cleaning: CleaningRules,
    /// How arrival times are compressed (Birkenheuer 2012, §5.1.1).
    pub compression: Compression,
    /// Deadline `d = o + laxity · x` (2 in Birkenheuer 2012, Table 5.1).
    pub laxity: f64,
    /// The whole trace, or its beginning, in the place of batteries: evaluation and battery jobs
    /// are not looked at then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<WholeTrace>,
    /// Whether every replication is a workload of its own that does not depend on how many there
    /// are: another draw of a model, or of a log the battery so many before the last one. The
    /// evaluation jobs are one battery then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fresh: bool,
    /// How much tighter than the recorded ones estimates are, in what is learned from and in what
    /// is evaluated (Birkenheuer 2012, §4.3, §8.2); `None` where they are as recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tightness: Option<Tightness>,
    /// How often jobs end early for reasons of their own, in what is learned from and in what is
    /// evaluated; `None` where all run as long as is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_ends: Option<EarlyEnds>,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A trace that is simulated as one, for studies whose machines accept every job (Heine 2005, §4;
/// Singh 2008, §4.7, §5.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WholeTrace {
    /// Only the jobs submitted within so many days of the first; `None` for all.
    pub days: Option<f64>,
    /// A thinned second copy that raises the load.
    pub copy: Option<TraceCopy>,
    /// Whether every job's estimate is set to its runtime.
    pub exact_estimates: bool,
    /// From when times count.
    #[serde(default, skip_serializing_if = "Origin::is_first_job")]
    pub origin: Origin,
    /// Every submission is moved by a whole number of seconds of its own, uniform from −so many to
    /// so many, in each replication by others: what one run owes to chance becomes an interval
    /// (docs/model.md, "A queue that plans with predictions").
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shake_seconds: u32,
    /// Parts of the trace, each a simulation of its own; `None` for all of it in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<Windows>,
}

/// Parts of a whole trace: so many jobs from a given one on, in each replication from another one.
/// They may overlap (Zhang et al. 2020, tables V and VI).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// The first job of each replication's window, counted from 0 among the usable jobs.
    pub first_jobs: Vec<u32>,
    /// Jobs of a window.
    pub jobs: u32,
}

fn is_zero(seconds: &u32) -> bool {
    *seconds == 0
}

/// From when the times of a whole trace count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The first usable job is submitted at 0.
    #[default]
    FirstJob,
    /// As the log has it: what depends on the time of day sees the same as there (Gaussier 2015).
    Log,
}

impl Origin {
    fn is_first_job(&self) -> bool {
        *self == Self::FirstJob
    }
}

/// A second copy of a trace of which some jobs are submitted too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceCopy {
    /// How many of the jobs, in percent: each is drawn on its own with this probability.
    pub percent: f64,
    /// How the copy is shifted against the original.
    pub shift: CopyShift,
}

/// How the second copy of a trace is shifted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyShift {
    /// Each job by a time of its own, uniform within a day (AMB-20).
    #[default]
    WithinADay,
    /// All by seven days (AMB-19).
    AWeek,
}

impl WorkloadSettings {
    /// Jobs of this source on a machine of so many nodes as they were recorded: arrivals are not
    /// compressed, deadlines lie two estimates behind the submission (Birkenheuer 2012, Table 5.1),
    /// and no jobs are chosen as batteries yet.
    #[must_use]
    pub fn of(source: WorkloadSource, nodes: Nodes) -> Self {
        Self {
            source,
            nodes,
            evaluation_jobs: 0,
            battery_jobs: 0,
            cleaning: CleaningRules::default(),
            compression: Compression::Factor { factor: 1.0 },
            laxity: 2.0,
            whole: None,
            fresh: false,
            tightness: None,
            early_ends: None,
        }
    }

    /// Whether the jobs come from a log, and not from a model.
    #[must_use]
    pub fn is_log(&self) -> bool {
        matches!(self.source, WorkloadSource::Trace { .. })
    }

    /// Which of its workloads a replication simulates: its own where replications are fresh, else
    /// the one that all share.
    #[must_use]
    pub fn workload_of(&self, replication: u32) -> u32 {
        if self.fresh { replication } else { 0 }
    }

    /// Which draw of the source that workload is made from; a log is the same for all.
    #[must_use]
    pub fn draw_of(&self, replication: u32) -> u32 {
        if self.is_log() {
            0
        } else {
            self.workload_of(replication)
        }
    }

    /// Whether a wanted load counts the recorded estimates and not those that jobs ask for.
    #[must_use]
    pub fn counts_recorded_estimates(&self) -> bool {
        self.tightness
            .is_some_and(|tightness| tightness.load.is_recorded())
    }

    /// A stable text that names the source of the jobs: settings with the same text share one
    /// parsed trace or one draw of a model. Folders and compression endings of a trace's name do
    /// not matter; the machine's size does for models whose jobs depend on it.
    #[must_use]
    pub fn source_key(&self) -> String {
        match &self.source {
            WorkloadSource::Trace { file } => format!("trace={}", log_name(file)),
            WorkloadSource::LublinFeitelson { jobs } => {
                format!("lublin-feitelson={jobs},nodes={}", self.nodes.0)
            }
            WorkloadSource::UniformRatio { jobs } => {
                format!("uniform-ratio={jobs},nodes={}", self.nodes.0)
            }
            WorkloadSource::Arminius { jobs } => format!("arminius={jobs}"),
        }
    }

    /// A stable text that names the workload with everything that shapes its jobs; random streams
    /// that must be common to all strategies of a comparison derive from it.
    #[must_use]
    pub fn key(&self) -> String {
        let Self {
            source: _,
            nodes,
            evaluation_jobs,
            battery_jobs,
            cleaning,
            compression,
            laxity,
            whole,
            fresh,
            tightness,
            early_ends,
        } = self;
        let processors = match cleaning.processors {
            ProcessorsField::AllocatedElseRequested => "allocated",
            ProcessorsField::RequestedElseAllocated => "requested",
            ProcessorsField::Larger => "larger",
        };
        let missing_runtime = match cleaning.missing_runtime_seconds {
            0 => String::new(),
            seconds => format!(";missing-runtime={seconds}"),
        };
        let tests = cleaning.test_jobs.map_or_else(String::new, |tests| {
            format!(";tests={}s,{}s", tests.estimate, tests.longest)
        });
        let rule = |drops: bool| if drops { "drop" } else { "keep" };
        let completed = if cleaning.completed_only {
            ";completed-only"
        } else {
            ""
        };
        // `error` gives the jobs of `drop`, or none.
        let from_runtime = match cleaning.missing_estimate {
            MissingEstimate::Runtime => ";missing-estimate=runtime",
            MissingEstimate::Recorded => ";missing-estimate=recorded",
            MissingEstimate::Drop | MissingEstimate::Error => "",
        };
        let by = |time: LoadTime| match time {
            LoadTime::Estimates => "",
            LoadTime::Runtimes => ",runtimes",
        };
        let compression = match compression {
            Compression::Factor { factor } => format!("factor:{factor}"),
            Compression::TargetLoad { load, time } => format!("target-load:{load}{}", by(*time)),
            Compression::BatteryLoad { load, time } => format!("battery-load:{load}{}", by(*time)),
        };
        let fresh = if *fresh { ";fresh" } else { "" };
        let tightness = tightness.map_or_else(String::new, |tightness| tightness.key());
        let early_ends = early_ends.map_or_else(String::new, |early_ends| early_ends.key());
        if let Some(whole) = whole {
            let days = whole
                .days
                .map_or_else(String::new, |days| format!(";days={days}"));
            let copy = whole.copy.map_or_else(String::new, |copy| {
                let shift = match copy.shift {
                    CopyShift::WithinADay => "within-a-day",
                    CopyShift::AWeek => "a-week",
                };
                format!(";copy={}%,{shift}", copy.percent)
            });
            let estimates = if whole.exact_estimates {
                "exact"
            } else {
                "recorded"
            };
            let origin = match whole.origin {
                Origin::FirstJob => "",
                Origin::Log => ";origin=log",
            };
            let shake = match whole.shake_seconds {
                0 => String::new(),
                seconds => format!(";shake={seconds}"),
            };
            let windows = whole.windows.as_ref().map_or_else(String::new, |windows| {
                format!(";windows={}from{:?}", windows.jobs, windows.first_jobs)
            });
            return format!(
                "{};nodes={};whole{days}{copy}{origin}{shake}{windows};estimates={estimates};processors={processors};zero-runtime={};\
                 overruns={};cancelled={}{completed}{from_runtime}{missing_runtime}{tests};compression={compression}{fresh}{tightness}{early_ends}",
                self.source_key(),
                nodes.0,
                rule(cleaning.drop_zero_runtime),
                rule(cleaning.drop_overruns),
                rule(cleaning.drop_cancelled),
            );
        }
        format!(
            "{};nodes={};evaluation={evaluation_jobs};battery={battery_jobs};processors={processors};\
             zero-runtime={};overruns={};cancelled={}{completed}{from_runtime}{missing_runtime}{tests};compression={compression};laxity={laxity}{fresh}{tightness}{early_ends}",
            self.source_key(),
            nodes.0,
            rule(cleaning.drop_zero_runtime),
            rule(cleaning.drop_overruns),
            rule(cleaning.drop_cancelled),
        )
    }
}

/// Where jobs come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum WorkloadSource {
    /// A trace in the Standard Workload Format.
    Trace {
        /// File name, with or without `.gz`/`.xz`: looked up as it stands, then in the folder of
        /// traces.
        file: String,
    },
    /// Lublin–Feitelson 2003 jobs with Tsafrir-style user estimates.
    LublinFeitelson {
        /// Jobs generated in all (learning and evaluation).
        jobs: u32,
    },
    /// The same with run times that are a uniform share of the estimates (Birkenheuer et al. 2008).
    UniformRatio {
        /// Jobs generated in all (learning and evaluation).
        jobs: u32,
    },
    /// A model fitted to the published totals of the Arminius log (Birkenheuer 2012, §4.2),
    /// labelled as such in every report.
    Arminius {
        /// Jobs generated in all (learning and evaluation).
        jobs: u32,
    },
}

/// How arrival times are compressed, `o' = f · o` (Birkenheuer 2012, §5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by")]
pub enum Compression {
    /// The same factor for every battery.
    Factor {
        /// f > 0.
        factor: f64,
    },
    /// One factor for the trace, chosen so that the evaluation jobs offer this load on the machine.
    TargetLoad {
        /// Offered load, 1 = the whole machine.
        load: f64,
        /// Which time of a job it counts.
        #[serde(default, skip_serializing_if = "LoadTime::is_estimates")]
        time: LoadTime,
    },
    /// One factor a battery, chosen the same way for each.
    BatteryLoad {
        /// Offered load, 1 = the whole machine.
        load: f64,
        /// Which time of a job it counts.
        #[serde(default, skip_serializing_if = "LoadTime::is_estimates")]
        time: LoadTime,
    },
}

impl Compression {
    /// One factor for the trace, to a load by estimates.
    #[must_use]
    pub const fn target_load(load: f64) -> Self {
        let time = LoadTime::Estimates;
        Self::TargetLoad { load, time }
    }

    /// One factor a battery, each to a load by estimates.
    #[must_use]
    pub const fn battery_load(load: f64) -> Self {
        let time = LoadTime::Estimates;
        Self::BatteryLoad { load, time }
    }
}

/// Which time of a job an offered load counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadTime {
    /// What its user asks for: the load that planners see (Birkenheuer 2012, §5.1.1).
    #[default]
    Estimates,
    /// What it computes, up to its estimate: the load that the machine could do.
    Runtimes,
}

impl LoadTime {
    /// Whether it is the default.
    #[must_use]
    pub fn is_estimates(&self) -> bool {
        *self == Self::Estimates
    }
}

/// Which trace records are usable jobs (Birkenheuer 2012, §5.1.2; ). The defaults are
/// those of the cross-checks: run time, processors and requested time must be positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleaningRules {
    /// Which field gives the node count when both are present.
    pub processors: ProcessorsField,
    /// Drop records with a run time of 0 (negative or missing ones are always dropped).
    pub drop_zero_runtime: bool,
    /// Drop records that ran longer than requested, instead of clamping their ratio later.
    pub drop_overruns: bool,
    /// Drop records whose status is "cancelled" (5) although they have a run time.
    pub drop_cancelled: bool,
    /// Drop records whose status is not "completed" (1), from what is evaluated and from what is
    /// learned.
    pub completed_only: bool,
    /// What becomes of records without a requested time.
    #[serde(default, skip_serializing_if = "MissingEstimate::is_default")]
    pub missing_estimate: MissingEstimate,
    /// The run time of records without one; 0 drops them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missing_runtime_seconds: u32,
    /// Which test jobs are dropped; `None` where they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_jobs: Option<TestJobs>,
}

/// What becomes of a record whose requested time is missing, zero or negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingEstimate {
    /// It is dropped, and counted.
    #[default]
    Drop,
    /// Its run time is taken for the estimate, at least a second: as if its user had known.
    Runtime,
    /// The run time as the record has it is taken for the estimate, even where that is missing,
    /// too: −1 then, which no plan can hold, for studies that say how they plan such jobs.
    Recorded,
    /// The trace is refused.
    Error,
}

impl MissingEstimate {
    /// Whether it is the rule that was there before there was a choice, which specifications leave
    /// out.
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Which field gives the node count of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessorsField {
    /// Field 5 (allocated), else field 8 (requested): the rule of the cross-checks.
    #[default]
    AllocatedElseRequested,
    /// Field 8 (requested), else field 5 (allocated): as `configs/birkenheuer2012` have it.
    RequestedElseAllocated,
    /// The larger of the two.
    Larger,
}

impl Default for CleaningRules {
    fn default() -> Self {
        Self {
            processors: ProcessorsField::AllocatedElseRequested,
            drop_zero_runtime: true,
            drop_overruns: false,
            drop_cancelled: false,
            completed_only: false,
            missing_estimate: MissingEstimate::Drop,
            missing_runtime_seconds: 0,
            test_jobs: None,
        }
    }
}

#[cfg(test)]
mod tests;
