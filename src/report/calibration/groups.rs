//! Groups of simulations: by strategy, by situation, by threshold. A simulation counts once in a
//! group, however many points are read off it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::counts::Batteries;
use crate::analysis::STRATEGY_AXIS;
use bookahead_lab::store::{CalibrationRow, PofKind, PointColumns};
use bookahead_lab::study::Studies;
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

/// Where a simulation belongs.
struct Membership<'p> {
    strategy: &'p str,
    replication: u32,
    /// Places on [`Groups::axes`] and on the threshold's axis.
    at: BTreeSet<(Places, Option<u32>)>,
}

/// In the order of the tables.
type Key<'p> = (Places, usize, &'p str, PofKind, Option<u32>);

impl Groups {
    /// `None` where no job was counted.
    pub(super) fn new(rows: &[CalibrationRow], points: &PointColumns) -> Option<Self> {
        let counted: HashSet<i64> = rows
            .iter()
            .filter(|row| row.jobs > 0)
            .map(|row| row.simulation)
            .collect();
        if counted.is_empty() {
            return None;
        }
        let index = |key: &str| points.axes.iter().position(|axis| axis.axis.key == key);
        let threshold = index(THRESHOLD_AXIS).filter(|axis| splits(points, &counted, *axis));
        let axes = situation_axes(points, &counted);
        let members = members(points, &counted, &axes, threshold);
        let calibrated = rows.iter().any(|row| row.kind == PofKind::Raw);
        let mut levels: [BTreeMap<Key<'_>, Batteries>; 3] = Default::default();
        // The rows of a simulation stand together.
        for rows in rows.chunk_by(|one, other| one.simulation == other.simulation) {
            let Some(member) = members.get(&rows[0].simulation) else {
                continue;
            };
            let of = |kind| {
                rows.iter()
                    .filter(move |row| row.kind == kind && row.jobs > 0)
            };
            add(
                points.studies,
                &mut levels,
                member,
                PofKind::Promised,
                of(PofKind::Promised),
            );
            if calibrated {
                // What was not calibrated was promised as it was.
                let own = of(PofKind::Raw).next().is_some();
                let kind = if own { PofKind::Raw } else { PofKind::Promised };
                add(points.studies, &mut levels, member, PofKind::Raw, of(kind));
            }
        }
        let [whole, situations, thresholds] = levels.map(|level| {
            level
                .into_iter()
                .map(|((places, _, strategy, kind, threshold), counts)| Group {
                    strategy: strategy.to_owned(),
                    kind,
                    places,
                    threshold,
                    counts,
                })
                .collect::<Vec<_>>()
        });
        Some(Self {
            situations: if axes.is_empty() {
                Vec::new()
            } else {
                situations
            },
            thresholds: if threshold.is_some() {
                thresholds
            } else {
                Vec::new()
            },
            axes,
            threshold,
            calibrated,
            whole,
        })
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

/// Counts a simulation in every group that it belongs to: by strategy, by situation, by situation
/// and threshold.
fn add<'p, 'r>(
    studies: Studies,
    levels: &mut [BTreeMap<Key<'p>, Batteries>; 3],
    member: &Membership<'p>,
    kind: PofKind,
    rows: impl Iterator<Item = &'r CalibrationRow> + Clone,
) {
    let rank = studies.rank(member.strategy);
    for (level, groups) in levels.iter_mut().enumerate() {
        let keys: BTreeSet<Key<'p>> = member
            .at
            .iter()
            .map(|(places, threshold)| {
                let places = if level > 0 {
                    places.clone()
                } else {
                    Vec::new()
                };
                let threshold = threshold.filter(|_| level > 1);
                (places, rank, member.strategy, kind, threshold)
            })
            .collect();
        for key in keys {
            let group = groups.entry(key).or_default();
            for row in rows.clone() {
                group.add(member.replication, row);
            }
        }
    }
}

fn members<'p>(
    points: &'p PointColumns,
    counted: &HashSet<i64>,
    axes: &[usize],
    threshold: Option<usize>,
) -> HashMap<i64, Membership<'p>> {
    let mut members: HashMap<i64, Membership<'p>> = HashMap::new();
    for point in 0..points.len() {
        let simulation = points.simulation[point];
        if !counted.contains(&simulation) || points.is_repetition(point) {
            continue;
        }
        let place = |axis: usize| points.axes[axis].positions[point];
        members
            .entry(simulation)
            .or_insert_with(|| Membership {
                strategy: &points.strategy[point],
                replication: points.replication[point],
                at: BTreeSet::new(),
            })
            .at
            .insert((
                axes.iter().map(|axis| place(*axis)).collect(),
                threshold.and_then(place),
            ));
    }
    members
}

/// The axes but strategy and threshold at whose values a strategy has other simulations; of axes
/// that were swept together one, with names if it can be.
fn situation_axes(points: &PointColumns, counted: &HashSet<i64>) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for axis in 0..points.axes.len() {
        let key = points.axes[axis].axis.key.as_str();
        if [STRATEGY_AXIS, THRESHOLD_AXIS].contains(&key) || !splits(points, counted, axis) {
            continue;
        }
        match found
            .iter_mut()
            .find(|known| together(points, counted, **known, axis))
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
fn splits(points: &PointColumns, counted: &HashSet<i64>, axis: usize) -> bool {
    let mut by_strategy: HashMap<&str, BTreeSet<Option<u32>>> = HashMap::new();
    let mut by_simulation: HashMap<i64, (&str, BTreeSet<Option<u32>>)> = HashMap::new();
    for point in 0..points.len() {
        if !counted.contains(&points.simulation[point]) {
            continue;
        }
        let strategy = points.strategy[point].as_str();
        let place = points.axes[axis].positions[point];
        by_strategy.entry(strategy).or_default().insert(place);
        by_simulation
            .entry(points.simulation[point])
            .or_insert_with(|| (strategy, BTreeSet::new()))
            .1
            .insert(place);
    }
    by_simulation
        .values()
        .any(|(strategy, places)| by_strategy.get(strategy) != Some(places))
}

/// Whether two axes say the same about every point.
fn together(points: &PointColumns, counted: &HashSet<i64>, one: usize, other: usize) -> bool {
    let (mut forth, mut back) = (HashMap::new(), HashMap::new());
    (0..points.len())
        .filter(|point| counted.contains(&points.simulation[*point]))
        .all(|point| {
            let here = points.axes[one].positions[point];
            let there = points.axes[other].positions[point];
            *forth.entry(here).or_insert(there) == there
                && *back.entry(there).or_insert(here) == here
        })
}
