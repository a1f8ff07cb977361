//! Every point with that of its strategy's baseline which saw the same.

use std::collections::HashSet;

use super::{Combination, OVERBOOKING_ONLY, STRATEGY_AXIS};
use crate::frames::{Common, Frame, numbers};
use bookahead_lab::store::PointColumns;

/// Which point is the baseline of which.
pub(super) struct Pairing {
    /// Of each point the point that is its baseline.
    pub(super) baseline: Vec<Option<u32>>,
    /// The axes that had to be left out of account.
    pub(super) relaxed_axes: Vec<String>,
    /// Points whose baseline did not see the same.
    pub(super) apart: usize,
}

impl Pairing {
    /// Pairs every point with the point of its strategy's baseline that has the same replication
    /// and the same values on all axes but the strategy's, and saw the same jobs and failures.
    /// Where there is none, axes that only overbooking strategies read are left out, provided that
    /// one simulation of the baseline remains.
    pub(super) fn new(points: &PointColumns, frame: &Frame<'_>) -> Self {
        let key = |axis: usize| points.axes[axis].axis.key.as_str();
        let exact: Vec<usize> = (0..points.axes.len())
            .filter(|axis| key(*axis) != STRATEGY_AXIS)
            .collect();
        let is_read_by_all = |axis: &usize| {
            let mut prefixes = OVERBOOKING_ONLY.iter();
            !prefixes.any(|prefix| key(*axis).starts_with(prefix))
        };
        let (relaxed, left_out): (Vec<usize>, Vec<usize>) =
            exact.iter().copied().partition(is_read_by_all);
        let by_exact = baselines(points, frame, &exact);
        let by_relaxed = baselines(points, frame, &relaxed);
        let found: Vec<Option<u32>> = (by_exact.iter().zip(by_relaxed))
            .map(|(exact, relaxed)| exact.or(relaxed))
            .collect();
        let used_relaxed = found != by_exact;
        let baseline: Vec<Option<u32>> = (found.iter().enumerate())
            .map(|(point, found)| {
                found.filter(|baseline| points.is_pair(point, *baseline as usize))
            })
            .collect();
        let count = |found: &[Option<u32>]| found.iter().flatten().count();
        Self {
            apart: count(&found) - count(&baseline),
            baseline,
            relaxed_axes: (left_out.into_iter())
                .filter(|_| used_relaxed)
                .map(|axis| key(axis).to_owned())
                .collect(),
        }
    }
}

/// These baselines of points, without those of pairs that repeat an earlier one of the same
/// combination: both results are the same.
pub(super) fn counted(
    mut baselines: Vec<Option<u32>>,
    points: &PointColumns,
    combinations: &[Combination],
) -> Vec<Option<u32>> {
    for combination in combinations {
        let mut known = HashSet::new();
        for point in &combination.points {
            let baseline = &mut baselines[*point];
            *baseline = baseline.filter(|it| {
                known.insert((points.original[*point], points.original[*it as usize]))
            });
        }
    }
    baselines
}

/// What a strategy has in common with others.
#[derive(Clone, Copy)]
enum Only {
    Nothing,
    /// The first point of the only simulation.
    Point(u32),
    Several,
}

/// Of every point that of its strategy's baseline with the same replication and the same values on
/// these axes; `None` where there is none, or where several simulations would fit.
fn baselines(points: &PointColumns, frame: &Frame<'_>, axes: &[usize]) -> Vec<Option<u32>> {
    let axes = axes.iter().copied().map(Common::Axis);
    let common: Vec<Common> = axes.chain([Common::Replication]).collect();
    let groups = frame.numbers(&common);
    let strategies: Vec<u32> = numbers(points.strategy.iter()).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, code) in points.strategy.iter().zip(&strategies) {
        if *code as usize == names.len() {
            names.push(name);
        }
    }
    let count = groups.iter().max().map_or(0, |last| *last as usize + 1);
    let mut only = vec![Only::Nothing; count * names.len()];
    let place = |group: u32, strategy: usize| group as usize * names.len() + strategy;
    for (point, (group, strategy)) in (0..).zip(groups.iter().zip(&strategies)) {
        let only = &mut only[place(*group, *strategy as usize)];
        let simulation = |point: u32| points.simulation[point as usize];
        *only = match *only {
            Only::Nothing => Only::Point(point),
            Only::Point(known) if simulation(known) == simulation(point) => Only::Point(known),
            _ => Only::Several,
        };
    }
    let baseline = |name: &&str| {
        let baseline = points.studies.baseline(name)?;
        names.iter().position(|known| *known == baseline)
    };
    let baselines: Vec<Option<usize>> = names.iter().map(baseline).collect();
    let found = |(group, strategy): (&u32, &u32)| match only
        [place(*group, baselines[*strategy as usize]?)]
    {
        Only::Point(point) => Some(point),
        Only::Nothing | Only::Several => None,
    };
    groups.iter().zip(&strategies).map(found).collect()
}
