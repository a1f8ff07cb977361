//! Groups of simulations: by strategy, by situation, by threshold. A simulation counts once in a
//! group, however many points are read off it.

use std::collections::{BTreeMap, HashMap};

use super::counts::Batteries;
use crate::analysis::{Analysis, STRATEGY_AXIS};
use crate::frames::{Common, Frame};
use crate::table::value_text;
use bookahead_lab::store::{CalibrationRow, PofKind, PointColumns};
use bookahead_lab::sweep::AxisValue;

/// The axis of thresholds.
pub(super) const THRESHOLD_AXIS: &str = "acceptance.pof_max";

/// Places on axes.
pub(super) type Places = Vec<Option<u32>>;

/// The promises of one strategy in one situation, or in all of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) strategy: String,
    pub(super) kind: PofKind,
    /// One place for each of the [`Groups::axes`]; empty for all situations together.
    pub(super) places: Places,
    /// Place on the threshold's axis; `None` for all thresholds together.
    pub(super) threshold: Option<u32>,
    pub(super) counts: Batteries,
}

/// All groups of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Groups {
    /// Axes that tell situations apart: at their values a strategy has other simulations.
    pub(super) axes: Vec<usize>,
    /// The axis of the policies that promise, where they are no strategies but settings of a study;
    /// they are the strategies of the groups then.
    pub(super) policies: Option<usize>,
    /// The threshold's axis, where the sweep has it.
    pub(super) threshold: Option<usize>,
    /// Whether any promise was calibrated, so that there are raw probabilities beside the promised
    /// ones.
    pub(super) calibrated: bool,
    /// By strategy.
    pub(super) whole: Vec<Group>,
    /// By situation, then strategy; empty where there is only one situation.
    pub(super) situations: Vec<Group>,
    /// By situation, strategy and threshold; empty without the axis of thresholds.
    pub(super) thresholds: Vec<Group>,
}

impl Groups {
    /// `None` where no job was counted.
    pub(super) fn new(
        rows: &[CalibrationRow],
        points: &PointColumns,
        policies: Option<usize>,
    ) -> Option<Self> {
        let counted = Counted {
            policies,
            ..Counted::new(rows, points)
        };
        if counted.places.is_empty() {
            return None;
        }
        let frame = Frame::only(points, |point| counted.place(point).is_some());
        let threshold = (points.axes.iter()).position(|axis| axis.axis.key == THRESHOLD_AXIS);
        let threshold = threshold.filter(|axis| splits(&frame, *axis));
        let mut axes = situation_axes(points, &frame);
        axes.retain(|axis| Some(*axis) != policies);
        Some(Self {
            calibrated: counted.kinds.contains(&PofKind::Raw),
            whole: counted.groups(&[], None),
            situations: match axes.is_empty() {
                true => Vec::new(),
                false => counted.groups(&axes, None),
            },
            thresholds: match threshold {
                Some(_) => counted.groups(&axes, threshold),
                None => Vec::new(),
            },
            axes,
            policies,
            threshold,
        })
    }

    /// The key of the axis of policies: a query distinguishes by it what the study's name does not.
    pub(super) fn policy_key<'a>(&self, analysis: &'a Analysis) -> Option<&'a str> {
        Some(analysis.axes[self.policies?].key.as_str())
    }

    /// Who promises.
    pub(super) fn who(&self) -> &'static str {
        match self.policies {
            Some(_) => "policy",
            None => "strategy",
        }
    }

    /// The situations in their order; one without places where there is only one.
    pub(super) fn each_situation(&self) -> Vec<Places> {
        let mut found: Vec<Places> = self
            .situations
            .iter()
            .map(|group| group.places.clone())
            .collect();
        found.dedup();
        if found.is_empty() {
            found.push(Vec::new());
        }
        found
    }
}

/// The counts of the simulations of a run that counted any jobs.
struct Counted<'c> {
    points: &'c PointColumns,
    /// The rows of each.
    rows: Vec<&'c [CalibrationRow]>,
    /// Where they are, by the number of the simulation.
    places: HashMap<i64, usize>,
    policies: Option<usize>,
    kinds: &'static [PofKind],
}

impl<'c> Counted<'c> {
    fn new(rows: &'c [CalibrationRow], points: &'c PointColumns) -> Self {
        // The rows of a simulation stand together.
        let of_simulations = rows.chunk_by(|one, other| one.simulation == other.simulation);
        let of_simulations: Vec<&[CalibrationRow]> = of_simulations
            .filter(|rows| rows.iter().any(|row| row.jobs > 0))
            .collect();
        let numbers = of_simulations.iter().map(|rows| rows[0].simulation);
        Self {
            points,
            places: numbers.zip(0..).collect(),
            rows: of_simulations,
            policies: None,
            kinds: match rows.iter().any(|row| row.kind == PofKind::Raw) {
                true => &[PofKind::Promised, PofKind::Raw],
                false => &[PofKind::Promised],
            },
        }
    }

    /// Where the rows of the simulation of a point are.
    fn place(&self, point: usize) -> Option<usize> {
        self.places.get(&self.points.simulation[point]).copied()
    }

    /// The policy that promised at a point.
    fn policy(&self, point: usize) -> String {
        let named = self.policies.and_then(|axis| {
            let column = &self.points.axes[axis];
            let place = column.positions[point]?;
            column.axis.values.get(place as usize).map(value_text)
        });
        named.unwrap_or_else(|| self.points.strategy[point].clone())
    }

    /// By the values on these axes, in the order of the tables: situations, strategies, thresholds.
    fn groups(&self, axes: &[usize], threshold: Option<usize>) -> Vec<Group> {
        let points = self.points;
        let counts = |point| self.place(point).is_some() && !points.is_repetition(point);
        let all_axes = axes.iter().copied().chain(threshold).chain(self.policies);
        let common: Vec<Common> = (all_axes.map(Common::Axis))
            .chain([Common::Strategy])
            .collect();
        let mut found = Vec::new();
        for members in Frame::only(points, counts).groups(&common).points() {
            let place = |axis: usize| points.axes[axis].positions[members[0]];
            found.extend(self.kinds.iter().map(|kind| Group {
                strategy: self.policy(members[0]),
                kind: *kind,
                places: axes.iter().map(|axis| place(*axis)).collect(),
                threshold: threshold.and_then(place),
                counts: self.counts(&members, *kind),
            }));
        }
        let rank = |group: &Group| points.studies.rank(&group.strategy);
        found.sort_by(|one, other| {
            (one.places.cmp(&other.places))
                .then_with(|| rank(one).cmp(&rank(other)))
                .then_with(|| one.strategy.cmp(&other.strategy))
                .then_with(|| (one.kind, one.threshold).cmp(&(other.kind, other.threshold)))
        });
        found
    }

    /// Each simulation of these points once, in the order of the rows: a sum of fractions depends
    /// on it.
    fn counts(&self, members: &[usize], kind: PofKind) -> Batteries {
        let simulations: BTreeMap<usize, u32> = (members.iter())
            .filter_map(|point| Some((self.place(*point)?, self.points.replication[*point])))
            .collect();
        let mut counts = Batteries::default();
        for (place, replication) in simulations {
            let of = |kind| {
                (self.rows[place].iter()).filter(move |row| row.kind == kind && row.jobs > 0)
            };
            // What was not calibrated was promised as it was.
            let own = match of(kind).next() {
                Some(_) => kind,
                None => PofKind::Promised,
            };
            of(own).for_each(|row| counts.add(replication, row));
        }
        counts
    }
}

/// The axes but strategy and threshold at whose values a strategy has other simulations; of axes
/// that were swept together one, with names if it can be.
fn situation_axes(points: &PointColumns, frame: &Frame<'_>) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for axis in 0..points.axes.len() {
        let key = points.axes[axis].axis.key.as_str();
        if [STRATEGY_AXIS, THRESHOLD_AXIS].contains(&key) || !splits(frame, axis) {
            continue;
        }
        match found
            .iter_mut()
            .find(|known| together(frame, **known, axis))
        {
            Some(known) if is_named(points, axis) && !is_named(points, *known) => *known = axis,
            Some(_) => {}
            None => found.push(axis),
        }
    }
    found.sort_unstable();
    found
}

fn is_named(points: &PointColumns, axis: usize) -> bool {
    let mut values = points.axes[axis].axis.values.iter();
    values.any(|value| matches!(value, AxisValue::Text(_)))
}

/// Whether some simulation is not behind every value of the axis that its strategy has: accounting,
/// such as a penalty ratio that no test reads, leaves all of them together.
fn splits(points: &Frame<'_>, axis: usize) -> bool {
    let (simulation, value) = (Common::Simulation, Common::Axis(axis));
    points.parts(&[Common::Strategy]).any(|own| {
        let every = own.count(&[simulation]) * own.count(&[value]);
        own.count(&[simulation, value]) < every
    })
}

/// Whether two axes say the same about every point.
fn together(points: &Frame<'_>, one: usize, other: usize) -> bool {
    let (one, other) = (Common::Axis(one), Common::Axis(other));
    points.determines(&[one], other) && points.determines(&[other], one)
}
