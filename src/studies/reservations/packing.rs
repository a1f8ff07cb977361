//! Strip packing: a list of jobs without releases and deadlines on a machine, all at once
//! (Birkenheuer et al. 2008, §2.1.1; Birkenheuer 2012, §2.3.1.2; docs/model.md, "Strip packing").
//!
//! A job is a [`Rectangle`], as wide as its nodes and as high as its time. The machine is a strip:
//! as wide as its nodes, open above. What counts is how high the packing is, beside
//! [`lower_bound`], below which no packing is.

mod columns;
mod levels;
mod machine;
pub mod study;
#[cfg(test)]
mod tests;

pub use machine::{PackingMachine, packing_scene};

use serde::{Deserialize, Serialize};

use bookahead_core::scheduling::measures::Measured;
use bookahead_core::scheduling::{JobOutcome, SimulationMetrics};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::Job;

use self::levels::RowFit;

/// How jobs are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PackingAlgorithm {
    /// By falling height in levels that are as high as their first job: in the last level, else in
    /// a new one.
    NextFitDecreasingHeight,
    /// The same in the lowest level that has room.
    FirstFitDecreasingHeight,
    /// The same in the level that has room and the least width left.
    BestFitDecreasingHeight,
    /// In order of submission in shelves of fixed heights: in the last shelf of the job's height,
    /// else in a new one.
    NextFitShelf,
    /// The same in the lowest shelf of that height that has room.
    FirstFitShelf,
    /// By falling width in columns that are halved as jobs become narrower.
    Split,
    /// Jobs wider than half of the strip on top of each other, the others by falling height in
    /// levels on these: one of the whole width, then each in the lower half.
    Hybrid,
    /// In order of submission at the lowest place of neighbouring nodes, of these the leftmost.
    BottomLeft,
    /// In order of submission at the earliest time at which enough nodes are free, whichever: what
    /// a planner without deadlines does.
    #[default]
    EarliestStart,
}

impl PackingAlgorithm {
    /// Whether it sorts jobs into shelves.
    #[must_use]
    pub fn has_shelves(self) -> bool {
        matches!(self, Self::NextFitShelf | Self::FirstFitShelf)
    }
}

/// Which time of a job is its height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PackedHeights {
    /// What it asks for.
    #[default]
    Estimates,
    /// What it uses of that: what a packing would be worth if everybody knew.
    RunTimes,
}

impl PackedHeights {
    /// The height of a job, at least a second.
    #[must_use]
    pub fn of(self, job: &Job) -> Seconds {
        let height = match self {
            Self::Estimates => job.estimate,
            Self::RunTimes => job.runtime.min(job.estimate),
        };
        height.max(Seconds(1))
    }
}

/// How a list of jobs is packed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PackingSettings {
    /// The algorithm.
    pub algorithm: PackingAlgorithm,
    /// r, between 0 and 1: each shelf is r times as high as the next higher kind. Read by shelves
    /// only.
    pub shelf_ratio: f64,
    /// What is as high as a job.
    pub heights: PackedHeights,
}

impl Default for PackingSettings {
    fn default() -> Self {
        Self {
            algorithm: PackingAlgorithm::default(),
            shelf_ratio: 0.5,
            heights: PackedHeights::default(),
        }
    }
}

/// A job as it is packed: at least a node wide and a second high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Its width.
    pub nodes: Nodes,
    /// Its height.
    pub height: Seconds,
}

/// Where a rectangle lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its lower side.
    pub bottom: Seconds,
    /// Its left side; `None` where nodes are counted, and which of them it has is not said.
    pub first_node: Option<NodeIndex>,
}

/// Packs rectangles that are given in order of submission, none of them wider than the strip: their
/// places in the same order. The highest shelves are as high as the tallest rectangle.
#[must_use]
pub fn pack(rectangles: &[Rectangle], strip: Nodes, settings: &PackingSettings) -> Vec<Place> {
    let ratio = settings.shelf_ratio;
    let shelves = |fit| levels::shelves(rectangles, strip, tallest(rectangles), ratio, fit);
    match settings.algorithm {
        PackingAlgorithm::NextFitDecreasingHeight => {
            levels::levels(rectangles, strip, RowFit::Next)
        }
        PackingAlgorithm::FirstFitDecreasingHeight => {
            levels::levels(rectangles, strip, RowFit::First)
        }
        PackingAlgorithm::BestFitDecreasingHeight => {
            levels::levels(rectangles, strip, RowFit::Best)
        }
        PackingAlgorithm::NextFitShelf => shelves(RowFit::Next),
        PackingAlgorithm::FirstFitShelf => shelves(RowFit::First),
        PackingAlgorithm::Split => columns::split(rectangles, strip),
        PackingAlgorithm::Hybrid => levels::hybrid(rectangles, strip),
        PackingAlgorithm::BottomLeft => columns::bottom_left(rectangles, strip),
        PackingAlgorithm::EarliestStart => columns::earliest_start(rectangles, strip),
    }
}

/// The height of the highest rectangle.
fn tallest(rectangles: &[Rectangle]) -> Seconds {
    let heights = rectangles.iter().map(|rectangle| rectangle.height);
    heights.max().unwrap_or(Seconds::ZERO)
}

/// The area of all, in node-seconds.
fn area(rectangles: &[Rectangle]) -> i64 {
    let areas = rectangles.iter();
    areas
        .map(|rectangle| rectangle.nodes.for_span(rectangle.height).0)
        .sum()
}

/// What no packing is lower than: the height of the tallest rectangle, and the area of all over the
/// width of the strip, rounded up.
#[must_use]
pub fn lower_bound(rectangles: &[Rectangle], strip: Nodes) -> Seconds {
    let width = i64::from(strip.0).max(1);
    // Areas are not negative.
    let full = Seconds((area(rectangles) + width - 1) / width);
    full.max(tallest(rectangles))
}

/// Packs jobs that are all there at the beginning, in order of submission, and carries the packing
/// out: each starts at its lower side and ends when it is done, at the latest at its upper side.
/// Jobs wider than the machine are dropped. Returns totals, what the study measures, and the
/// outcomes of all jobs.
#[must_use]
pub fn pack_jobs(
    jobs: &[Job],
    machine: Nodes,
    settings: &PackingSettings,
) -> (SimulationMetrics, Measured, Vec<JobOutcome>) {
    let rectangles: Vec<Rectangle> = jobs
        .iter()
        .filter(|job| job.nodes <= machine)
        .map(|job| Rectangle {
            nodes: job.nodes,
            height: settings.heights.of(job),
        })
        .collect();
    let places = pack(&rectangles, machine, settings);
    let mut starts = places.iter().map(|place| place.bottom);
    let mut metrics = SimulationMetrics::default();
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs {
        let start = (job.nodes <= machine).then(|| starts.next()).flatten();
        let ran = start.map(|start| (start, start + job.runtime.min(job.estimate)));
        let outcome = JobOutcome::unpromised(job.clone(), ran);
        metrics.count(&outcome);
        if let Some((start, end)) = ran {
            metrics.busy += job.nodes.for_span(end - start);
            metrics.makespan = metrics.makespan.max(end);
        }
        outcomes.push(outcome);
    }
    metrics.capacity = machine.for_span(metrics.makespan);
    let tops = places.iter().zip(&rectangles);
    let tops = tops.map(|(place, rectangle)| place.bottom + rectangle.height);
    let height = tops.max().unwrap_or(Seconds::ZERO);
    let bound = lower_bound(&rectangles, machine);
    let mut measured = Measured::default();
    measured.add_ratio("packing_ratio", height.0 as f64, bound.0 as f64);
    measured.add("packing_height_hours", height.hours());
    measured.add("packing_bound_hours", bound.hours());
    let strip = machine.for_span(height).0;
    let idle = 100.0 * (strip - area(&rectangles)) as f64;
    measured.add_ratio("packing_idle_percent", idle, strip as f64);
    (metrics, measured, outcomes)
}
