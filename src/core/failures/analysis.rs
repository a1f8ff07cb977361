//! What a log of failures says: rates, causes, fits, hours of the day, age, and failures that
//! follow failures.
//!
//! The questions are those of Schroeder and Gibson (DSN 2006) and of El-Sayed and Schroeder (DSN
//! 2013).

use std::collections::BTreeMap;

use serde::Serialize;

use super::fits::{Fit, fit};
use super::lanl::{Cause, FailureLog, FailureRecord};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const YEAR: f64 = 365.25 * DAY as f64;

/// Spans in which follow-up failures are counted: an hour, a day, a week.
const WINDOWS: [i64; 3] = [HOUR, DAY, 7 * DAY];

/// What [`analyse`] finds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureAnalysis {
    /// Failures of the log.
    pub failures: u64,
    /// Rows that were left out, as they have no node or no start.
    pub incomplete: u64,
    /// By system, in order of their numbers.
    pub systems: Vec<SystemFailures>,
    /// By cause; the last one are those that name none.
    pub causes: Vec<CauseCount>,
    /// Failures by hour of the local day.
    pub hours: [u64; 24],
    /// Failures by day of the week, from Monday on.
    pub weekdays: [u64; 7],
    /// Fit of all times to repair.
    pub repair: Option<Fit>,
    /// Follow-up failures: on the node, then on the other nodes of its system, within an hour, a
    /// day and a week.
    pub follow_ups: Vec<FollowUps>,
}

/// The failures of one system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemFailures {
    /// Its number.
    pub system: u32,
    /// Its nodes.
    pub nodes: u32,
    /// Its failures.
    pub failures: u64,
    /// From its first failure to its last.
    pub years: f64,
    /// Failures a year of that span.
    pub per_year: f64,
    /// Share of the failures that the node with the most has.
    pub worst_node_share: f64,
    /// Variance by mean of the nodes' numbers of failures: 1 if all nodes failed at one rate.
    pub dispersion: f64,
    /// The rate of its first year by the rate afterwards; `None` if there was no second year.
    pub first_year_ratio: Option<f64>,
    /// Share of the failures that begin in the same minute as the one before.
    pub simultaneous: f64,
    /// Fit of the times between its failures.
    pub gaps: Option<Fit>,
    /// Fit of its times to repair.
    pub repair: Option<Fit>,
}

/// The failures that are blamed on one thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CauseCount {
    /// On what; `None` for those that name none.
    pub cause: Option<Cause>,
    /// How many.
    pub failures: u64,
    /// Their share of all.
    pub share: f64,
    /// Mean time to repair in minutes, of those that were repaired.
    pub mean_repair_minutes: Option<f64>,
}

/// Whose failures follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Whose {
    /// Those of the node that failed.
    SameNode,
    /// Those of the other nodes of its system.
    OtherNodes,
}

/// How often a failure follows a failure, beside how often one happens anyway.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FollowUps {
    /// Whose failures are counted.
    pub whose: Whose,
    /// In how many seconds after the failure.
    pub within_seconds: i64,
    /// Probability that a node fails in that span after a failure: for the same node later than the
    /// failure, for each other node at the same time or later.
    pub after_failure: f64,
    /// Probability that a node fails in a span of that length, without a failure before.
    pub at_random: f64,
    /// Failures whose whole span is observed.
    pub failures: u64,
}

impl FollowUps {
    /// How many times as likely a failure is after a failure.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.after_failure / self.at_random
    }
}

/// Looks at a log. The random baseline of follow-ups cuts the observed time of each system, from
/// its first to its last failure, into spans of the window's length and counts those of each node
/// that hold a failure.
#[must_use]
pub fn analyse(log: &FailureLog) -> FailureAnalysis {
    let mut hours = [0; 24];
    let mut weekdays = [0; 7];
    for record in &log.records {
        hours[(record.start.rem_euclid(DAY) / HOUR) as usize] += 1;
        // The first of January 1970 was a Thursday.
        weekdays[(record.start.div_euclid(DAY) + 3).rem_euclid(7) as usize] += 1;
    }
    let by_system: Vec<&[FailureRecord]> = log
        .records
        .chunk_by(|one, other| one.system == other.system)
        .collect();
    let nodes_of = |records: &[FailureRecord]| {
        let system = records.first().map(|record| record.system);
        system.and_then(|system| log.nodes.get(&system)).copied()
    };
    let systems = by_system
        .iter()
        .filter_map(|records| Some(system(records, nodes_of(records)?)))
        .collect();
    let observed: Vec<Observed<'_>> = by_system
        .iter()
        .filter_map(|records| Observed::new(records, nodes_of(records)?))
        .collect();
    let follow_ups = [Whose::SameNode, Whose::OtherNodes]
        .into_iter()
        .flat_map(|whose| WINDOWS.map(|window| (whose, window)))
        .map(|(whose, window)| follow_ups(&observed, whose, window))
        .collect();
    FailureAnalysis {
        failures: log.records.len() as u64,
        incomplete: log.incomplete,
        systems,
        causes: causes(&log.records),
        hours,
        weekdays,
        repair: fit(&repairs(&log.records)),
        follow_ups,
    }
}

fn repairs(records: &[FailureRecord]) -> Vec<i64> {
    let repair = |record: &FailureRecord| Some(record.repaired? - record.start);
    records.iter().filter_map(repair).collect()
}

fn causes(records: &[FailureRecord]) -> Vec<CauseCount> {
    let known = [
        Cause::Hardware,
        Cause::Software,
        Cause::Network,
        Cause::Facilities,
        Cause::HumanError,
        Cause::Undetermined,
    ];
    let all = known.into_iter().map(Some).chain([None]);
    all.map(|cause| {
        let of_cause: Vec<FailureRecord> = records
            .iter()
            .filter(|record| record.cause == cause)
            .copied()
            .collect();
        let repairs = repairs(&of_cause);
        let minutes = repairs.iter().sum::<i64>() as f64 / 60.0;
        CauseCount {
            cause,
            failures: of_cause.len() as u64,
            share: of_cause.len() as f64 / (records.len() as f64).max(1.0),
            mean_repair_minutes: (!repairs.is_empty()).then(|| minutes / repairs.len() as f64),
        }
    })
    .collect()
}

fn system(records: &[FailureRecord], nodes: u32) -> SystemFailures {
    let starts: Vec<i64> = records.iter().map(|record| record.start).collect();
    let (first, last) = (
        starts.first().copied().unwrap_or_default(),
        starts.last().copied().unwrap_or_default(),
    );
    let years = (last - first) as f64 / YEAR;
    let gaps: Vec<i64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut of_node: BTreeMap<u32, u64> = BTreeMap::new();
    for record in records {
        *of_node.entry(record.node).or_default() += 1;
    }
    let count = records.len() as f64;
    let mean = count / f64::from(nodes.max(1));
    let squares: f64 = of_node
        .values()
        .map(|&number| (number * number) as f64)
        .sum();
    let early = starts
        .iter()
        .filter(|start| ((*start - first) as f64) < YEAR)
        .count() as f64;
    SystemFailures {
        system: records.first().map_or(0, |record| record.system),
        nodes,
        failures: records.len() as u64,
        years,
        per_year: count / years,
        worst_node_share: of_node
            .values()
            .max()
            .map_or(0.0, |&most| most as f64 / count),
        dispersion: (squares / f64::from(nodes.max(1)) - mean * mean) / mean,
        first_year_ratio: (years > 2.0).then(|| early * (years - 1.0) / (count - early)),
        simultaneous: gaps.iter().filter(|gap| **gap == 0).count() as f64 / count,
        gaps: fit(&gaps),
        repair: fit(&repairs(records)),
    }
}

/// A system while follow-ups are counted.
struct Observed<'r> {
    records: &'r [FailureRecord],
    nodes: u32,
    first: i64,
    last: i64,
    /// The starts of each node's failures.
    of_node: BTreeMap<u32, Vec<i64>>,
}

impl<'r> Observed<'r> {
    fn new(records: &'r [FailureRecord], nodes: u32) -> Option<Self> {
        let mut of_node: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for record in records {
            of_node.entry(record.node).or_default().push(record.start);
        }
        Some(Self {
            records,
            nodes,
            first: records.first()?.start,
            last: records.last()?.start,
            of_node,
        })
    }

    /// Nodes times windows, and how many of them hold a failure.
    fn at_random(&self, window: i64) -> (u64, u64) {
        let windows = (self.last - self.first).div_euclid(window);
        let with_failure = self.of_node.values().map(|starts| {
            let mut places: Vec<i64> = starts
                .iter()
                .map(|start| (start - self.first).div_euclid(window))
                .filter(|place| *place < windows)
                .collect();
            places.dedup();
            places.len() as u64
        });
        (
            with_failure.sum(),
            u64::from(self.nodes) * windows.unsigned_abs(),
        )
    }

    /// Nodes that could fail in the windows after failures, those that did, and the failures.
    fn after_failures(&self, whose: Whose, window: i64) -> (u64, u64, u64) {
        let (mut failed, mut could, mut failures) = (0, 0, 0);
        for (index, record) in self.records.iter().enumerate() {
            let end = record.start + window;
            if end > self.last {
                break;
            }
            failures += 1;
            match whose {
                Whose::SameNode => {
                    could += 1;
                    let starts = &self.of_node[&record.node];
                    let later = starts.partition_point(|start| *start <= record.start);
                    failed += u64::from(starts.get(later).is_some_and(|start| *start <= end));
                }
                Whose::OtherNodes => {
                    could += u64::from(self.nodes.saturating_sub(1));
                    let same_time = self.records[..index]
                        .iter()
                        .rev()
                        .take_while(|other| other.start == record.start);
                    let later = self.records[index + 1..]
                        .iter()
                        .take_while(|other| other.start <= end);
                    let mut others: Vec<u32> = same_time
                        .chain(later)
                        .map(|other| other.node)
                        .filter(|node| *node != record.node)
                        .collect();
                    others.sort_unstable();
                    others.dedup();
                    failed += others.len() as u64;
                }
            }
        }
        (failed, could, failures)
    }
}

fn follow_ups(systems: &[Observed<'_>], whose: Whose, window: i64) -> FollowUps {
    let (mut after, mut random, mut failures) = ((0, 0), (0, 0), 0);
    // Other nodes there are none of where a system has one node.
    let counted = systems
        .iter()
        .filter(|system| whose == Whose::SameNode || system.nodes > 1);
    for system in counted {
        let (failed, could, of_system) = system.after_failures(whose, window);
        after = (after.0 + failed, after.1 + could);
        failures += of_system;
        let (failed, could) = system.at_random(window);
        random = (random.0 + failed, random.1 + could);
    }
    let share = |(part, whole): (u64, u64)| part as f64 / whole as f64;
    FollowUps {
        whose,
        within_seconds: window,
        after_failure: share(after),
        at_random: share(random),
        failures,
    }
}

#[cfg(test)]
mod tests;
