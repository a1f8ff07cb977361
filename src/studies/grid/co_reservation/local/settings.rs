//! The settings of a cluster: how it schedules its queue, and by which rules its reservation
//! service answers.

use serde::{Deserialize, Serialize};

use bookahead_core::scheduling::queue::Backfilling;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::FurtherCounts;

use super::{JobMixSettings, QuotaPeriod};

/// One week.
pub const WEEK: Seconds = Seconds(7 * 24 * 3_600);

/// The local scheduler and its reservation service (docs/model.md, "A cluster behind its
/// reservation service").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalSettings {
    /// How waiting jobs overtake: aggressively (EASY, the thesis), conservatively or not at all.
    pub backfilling: Backfilling,
    /// Whether reservations that the scheduler made for waiting jobs block parts (Q12): for the
    /// head of the queue under EASY, for every waiting job under conservative backfilling.
    pub planned_visible: bool,
    /// How much of a running job counts as backlog (Q9).
    pub backlog_work: BacklogWork,
    /// Where the accuracy of wall-clock limits comes from (Q10).
    pub accuracy: AccuracySource,
    /// How long the history is that accuracies by category are read off (Meltzer 2005, §4.4.5).
    #[serde(default, skip_serializing_if = "AccuracyWindow::is_default")]
    pub accuracy_window: AccuracyWindow,
    /// A factor on that accuracy: below 1 the backlog looks shorter (Meltzer 2005, §6.6.4).
    pub accuracy_factor: f64,
    /// What the next scheduling event is reckoned from (Q13).
    pub next_event: NextEventSource,
    /// How many scheduling events ahead a part is looked for that is exempt from the backlog test
    /// (Meltzer 2005, §6.7.5).
    #[serde(default, skip_serializing_if = "LookAhead::is_default")]
    pub look_ahead: LookAhead,
    /// The most of a cluster that parts may hold on average over a candidate's interval, in
    /// `(0, 1]` (Meltzer 2005, §7.1); `None` for no limit.
    pub quota: Option<f64>,
    /// Times with a quota of their own; of those that apply the last counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quota_periods: Vec<QuotaPeriod>,
    /// The share of a cluster's CPUs that parts have to themselves, in `(0, 1)`, jobs having the
    /// others (Meltzer 2005, §7.1); `None` where both share all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<f64>,
    /// What each cluster has beside its CPUs, which parts may need (Meltzer 2005, §2); 0 of what
    /// nobody counts.
    #[serde(flatten)]
    pub further: FurtherCounts,
    /// What the mix of jobs is told by, where a broker asks for it (Meltzer 2005, §7.2).
    #[serde(default, skip_serializing_if = "JobMixSettings::is_default")]
    pub job_mix: JobMixSettings,
    /// What CPU-hours cost.
    pub tariff: Tariff,
    /// Which hours are charged (Q8).
    pub hour_edge: HourEdge,
    /// Which second of the week, from Monday 00:00, second 0 of the simulation is (Q14: Wednesday
    /// 18:00).
    pub calendar_origin: Seconds,
}

impl Default for LocalSettings {
    /// The decisions of docs/decisions.md; the work of running jobs counts in full, on which the
    /// thesis's listing and its measurements agree (Q9).
    fn default() -> Self {
        Self {
            backfilling: Backfilling::Aggressive,
            planned_visible: true,
            backlog_work: BacklogWork::Full,
            accuracy: AccuracySource::History,
            accuracy_window: AccuracyWindow::default(),
            accuracy_factor: 1.0,
            next_event: NextEventSource::Estimate,
            look_ahead: LookAhead::default(),
            quota: None,
            quota_periods: Vec::new(),
            partition: None,
            further: FurtherCounts::NONE,
            job_mix: JobMixSettings::default(),
            tariff: Tariff::DayNightCheapWeekends,
            hour_edge: HourEdge::HalfOpen,
            calendar_origin: Seconds((2 * 24 + 18) * 3_600),
        }
    }
}

impl LocalSettings {
    /// The most CPUs of a cluster of this size that parts can have: all, or their share, rounded,
    /// and one at least.
    #[must_use]
    pub fn offered(&self, nodes: Nodes) -> Nodes {
        let Some(share) = self.partition else {
            return nodes;
        };
        let cpus = libm::round(share * f64::from(nodes.0)) as u32;
        Nodes(cpus.max(1).min(nodes.0))
    }
}

/// How much of what is running counts as backlog (Q9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BacklogWork {
    /// The rest of it: the thesis's definition of backlog time ("the time that the batch system
    /// needs to work off its backlog").
    Remaining,
    /// All of it, of jobs and of parts: Listing 4 of Meltzer 2005 sums over all local jobs, waiting
    /// or running, and subtracts nothing. With it the printed failure rates are met.
    #[default]
    Full,
    /// None of it: the backlog time is the time until the last job of the queue would end if it
    /// were planned by limits among the parts that are promised, with the gaps of that plan (§4.4.4
    /// leaves these out).
    Planned,
}

/// Where the accuracy of wall-clock limits comes from (Q10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccuracySource {
    /// A constant of the cluster: the mean of run time ÷ limit over the jobs of its workload.
    #[default]
    History,
    /// Another constant: work ÷ work booked by limits over the jobs of its workload (ratio of
    /// sums). Long and wide jobs count more.
    Work,
    /// A running mean over the jobs that ended, which begins with that constant as one job.
    Running,
    /// By category of history (Meltzer 2005, §4.4.3): the mean over the last jobs that ended of the
    /// same user with a limit of the same power of two, else of the same user, else of the cluster,
    /// of five jobs at least; else that constant.
    Category,
}

/// A number of jobs, those that ended last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccuracyWindow(pub u32);

impl Default for AccuracyWindow {
    fn default() -> Self {
        Self(500)
    }
}

impl AccuracyWindow {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What the next scheduling event is reckoned from (Q13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextEventSource {
    /// Limits of running jobs and ends of active parts: what the service can know.
    #[default]
    Estimate,
    /// True ends of running jobs: what only the simulator knows.
    Oracle,
}

/// A number of scheduling events, at least 1: the next one alone, or the ends that the plan of the
/// whole queue has in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LookAhead(pub u32);

impl Default for LookAhead {
    fn default() -> Self {
        Self(1)
    }
}

impl LookAhead {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Prices of a CPU-hour by weekday and hour (Meltzer 2005, §4.7.3, Table 18).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tariff {
    /// 2 from 8 to 18 h and 1 from 18 to 8 h, everywhere; half of that at weekends at the second
    /// and the fourth cluster (Q15).
    #[default]
    DayNightCheapWeekends,
    /// 2 from 8 to 18 h and 1 from 18 to 8 h, everywhere.
    DayNight,
    /// 1 at any hour, everywhere.
    Flat,
    /// The example of Meltzer 2005, §4.7.3: 1 until 8 h, 1.5 until 18 h, 1 until midnight.
    Example,
    /// Rows of one's own: of those that apply to an hour the last counts, and 1 where none applies.
    Table(Vec<TariffRow>),
}

/// A price for some hours of some weekdays, at some clusters. Ranges may go over midnight and over
/// the end of the week.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TariffRow {
    /// First weekday, Monday is 0.
    pub from_day: u8,
    /// Last weekday, inclusive.
    pub to_day: u8,
    /// First hour, 0 to 23.
    pub from_hour: u8,
    /// End of the last hour, 1 to 24.
    pub to_hour: u8,
    /// Price of a CPU-hour in units of money.
    pub rate: f64,
    /// Clusters that it is about; all, if empty.
    pub clusters: Vec<u16>,
}

/// Which commenced hours are charged (Q8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HourEdge {
    /// Those that begin before the end.
    #[default]
    HalfOpen,
    /// Also one that begins at the end: Listing 7 of Meltzer 2005 as printed.
    Inclusive,
}

/// Which filters a probe applies beside the machine's size: a row of the matrix of algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeFilters {
    /// Enough free CPUs over the whole interval (A2).
    pub counting: bool,
    /// No start before the end of the backlog (A3).
    pub backlog: bool,
    /// Limits are taken as they stand in the backlog (A3*: accuracy 1).
    pub exact_limits: bool,
    /// What ends before the next scheduling event is exempt from the backlog test (A3+BF).
    pub backfill: bool,
}
