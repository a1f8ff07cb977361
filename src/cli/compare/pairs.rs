//! Points of two runs in pairs, and what differs between the two of a pair.

use std::collections::{BTreeMap, BTreeSet};

use super::super::screen::axes_text;
use crate::report::Estimate;
use crate::store::{METRICS, MeasuredPoint};
use crate::studies::measures;
use crate::sweep::{AxisValue, shown};

/// The points of two runs, as far as they have partners.
#[derive(Debug)]
pub(super) struct Pairing {
    /// In the order of the first run's sweep.
    pub(super) pairs: Vec<(MeasuredPoint, MeasuredPoint)>,
    pub(super) only_first: Vec<MeasuredPoint>,
    pub(super) only_second: Vec<MeasuredPoint>,
    /// Points that stay alone because there is more than one candidate.
    pub(super) ambiguous: usize,
    /// Axes that both runs have.
    pub(super) axes: Vec<String>,
    pub(super) axes_only_first: Vec<String>,
    pub(super) axes_only_second: Vec<String>,
}

impl Pairing {
    pub(super) fn unpaired(&self) -> usize {
        self.only_first.len() + self.only_second.len()
    }
}

/// Pairs points that have the same value on every axis that both runs have, and the same replication. Where that names
/// several points of one run, none of them is paired: any choice would be arbitrary.
pub(super) fn pair(first: Vec<MeasuredPoint>, second: Vec<MeasuredPoint>) -> Pairing {
    let (ours, theirs) = (axes(&first), axes(&second));
    let common: Vec<String> = ours
        .iter()
        .filter(|key| theirs.contains(key))
        .cloned()
        .collect();
    let only = |these: &[String]| -> Vec<String> {
        these
            .iter()
            .filter(|key| !common.contains(key))
            .cloned()
            .collect()
    };
    let (axes_only_first, axes_only_second) = (only(&ours), only(&theirs));
    let mut candidates: BTreeMap<String, (Vec<MeasuredPoint>, Vec<MeasuredPoint>)> =
        BTreeMap::new();
    for point in first {
        candidates
            .entry(key(&point, &common))
            .or_default()
            .0
            .push(point);
    }
    for point in second {
        candidates
            .entry(key(&point, &common))
            .or_default()
            .1
            .push(point);
    }
    let mut pairing = Pairing {
        pairs: Vec::new(),
        only_first: Vec::new(),
        only_second: Vec::new(),
        ambiguous: 0,
        axes: common,
        axes_only_first,
        axes_only_second,
    };
    for (mut ours, mut theirs) in candidates.into_values() {
        if ours.len() == 1 && theirs.len() == 1 {
            pairing.pairs.extend(ours.pop().zip(theirs.pop()));
        } else {
            if !ours.is_empty() && !theirs.is_empty() {
                pairing.ambiguous += ours.len() + theirs.len();
            }
            pairing.only_first.append(&mut ours);
            pairing.only_second.append(&mut theirs);
        }
    }
    pairing.pairs.sort_by_key(|(point, _)| point.place);
    pairing.only_first.sort_by_key(|point| point.place);
    pairing.only_second.sort_by_key(|point| point.place);
    pairing
}

/// The axes of any of these points, in the order of the first that has them.
fn axes(points: &[MeasuredPoint]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut keys = Vec::new();
    for (key, _) in points.iter().flat_map(|point| &point.axes) {
        if seen.insert(key.as_str()) {
            keys.push(key.clone());
        }
    }
    keys
}

fn key(point: &MeasuredPoint, axes: &[String]) -> String {
    let mut key = format!("{}", point.replication);
    for axis in axes {
        let value = point.axes.iter().find(|(name, _)| name == axis);
        key.push('\u{1f}');
        match value {
            // 1 and 1.0 are the same value; a text that looks like a number is not.
            Some((_, AxisValue::Text(text))) => {
                key.push('"');
                key.push_str(text);
            }
            Some((_, value)) => key.push_str(&shown(value)),
            None => {}
        }
    }
    key
}

/// One measure over the pairs of a group.
#[derive(Debug)]
pub(super) struct Difference {
    /// Value of the axis that groups; empty without one.
    pub(super) group: String,
    pub(super) measure: &'static str,
    /// Pairs of the group.
    pub(super) pairs: usize,
    /// Of those, equal bit by bit.
    pub(super) equal: usize,
    /// Mean of the first run over replications, where both runs have a value.
    pub(super) first: Option<f64>,
    /// And of the second.
    pub(super) second: Option<f64>,
    /// Second − first: the unit is the replication, whose points are averaged first. Without an interval where replications do not
    /// have the same points.
    pub(super) difference: Option<Estimate>,
    /// Points that some replications lack and others have, each as `replication 2 lacks acceptance.pof_max = 0.5`.
    pub(super) gaps: Vec<String>,
    /// The largest difference by size, and the point of the first run where it is; `None` inside where one of the two
    /// has no value and no pair with values differs.
    pub(super) largest: Option<(Option<f64>, MeasuredPoint)>,
}

impl Difference {
    pub(super) fn differs(&self) -> bool {
        self.equal < self.pairs
    }
}

/// Every measure in every group, groups in the order of the first run's sweep.
pub(super) fn differences(
    pairs: &[(MeasuredPoint, MeasuredPoint)],
    by: Option<&str>,
) -> Vec<Difference> {
    let mut groups: Vec<(String, Vec<&(MeasuredPoint, MeasuredPoint)>)> = Vec::new();
    for pair in pairs {
        let group = by
            .and_then(|by| pair.0.axes.iter().find(|(key, _)| key == by))
            .map_or(String::new(), |(_, value)| shown(value));
        match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, members)) => members.push(pair),
            None => groups.push((group, vec![pair])),
        }
    }
    let mut all = Vec::new();
    for (at, metric) in METRICS.iter().enumerate() {
        for (group, members) in &groups {
            all.push(difference(
                group,
                metric.name,
                &|point| point.values[at],
                members,
            ));
        }
    }
    for measure in studied(pairs) {
        let value = |point: &MeasuredPoint| {
            let found = point.measured.iter().find(|(name, _)| *name == measure);
            found.map(|(_, value)| *value)
        };
        for (group, members) in &groups {
            all.push(difference(group, measure, &value, members));
        }
    }
    all
}

/// What studies measured at any of the points, in the order of the registry.
fn studied(pairs: &[(MeasuredPoint, MeasuredPoint)]) -> Vec<&'static str> {
    let present: std::collections::BTreeSet<&str> = pairs
        .iter()
        .flat_map(|(one, two)| one.measured.iter().chain(&two.measured))
        .map(|(name, _)| *name)
        .collect();
    measures::MEASURES
        .iter()
        .map(|measure| measure.name)
        .filter(|name| present.contains(name))
        .collect()
}

fn difference(
    group: &str,
    measure: &'static str,
    value_of: &dyn Fn(&MeasuredPoint) -> Option<f64>,
    members: &[&(MeasuredPoint, MeasuredPoint)],
) -> Difference {
    let mut equal = 0;
    let mut replications = Replications::default();
    let mut largest: Option<(Option<f64>, &MeasuredPoint)> = None;
    for (one, two) in members {
        let (first, second) = (value_of(one), value_of(two));
        let same = first.map(f64::to_bits) == second.map(f64::to_bits);
        equal += usize::from(same);
        if let Some(values) = first.zip(second) {
            replications.add(one, two, values);
        }
        if !same {
            let value = first.zip(second).map(|(first, second)| second - first);
            let size = |value: Option<f64>| value.map_or(-1.0, f64::abs);
            if largest.is_none_or(|(largest, _)| size(value) > size(largest)) {
                largest = Some((value, one));
            }
        }
    }
    let means: Vec<(f64, f64)> = replications.means();
    let estimate =
        |of: &dyn Fn(&(f64, f64)) -> f64| Estimate::of(&means.iter().map(of).collect::<Vec<f64>>());
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| estimate(of).map(|estimate| estimate.mean);
    let gaps = replications.gaps();
    let difference = estimate(&|(first, second)| second - first).map(|estimate| {
        if gaps.is_empty() {
            estimate
        } else {
            Estimate {
                deviation: None,
                half_width: None,
                ..estimate
            }
        }
    });
    Difference {
        group: group.to_owned(),
        measure,
        pairs: members.len(),
        equal,
        first: mean(&|(first, _)| *first),
        second: mean(&|(_, second)| *second),
        difference,
        gaps,
        largest: largest.map(|(value, point)| (value, point.clone())),
    }
}

/// What one replication has.
#[derive(Default)]
struct Replication<'p> {
    /// Its points by their combination of axis values.
    points: BTreeMap<String, &'p MeasuredPoint>,
    /// The values of both runs, one pair a result.
    values: Vec<(f64, f64)>,
}

/// Values of both runs by replication. Points of one replication share its jobs and failures, so they are no independent units; and
/// points that share their simulation and their prices (a baseline at every threshold) are one result, which counts once.
#[derive(Default)]
struct Replications<'p> {
    found: BTreeMap<u32, Replication<'p>>,
    results: BTreeSet<(&'p str, &'p str)>,
}

impl<'p> Replications<'p> {
    fn add(&mut self, one: &'p MeasuredPoint, two: &'p MeasuredPoint, values: (f64, f64)) {
        let replication = self.found.entry(one.replication).or_default();
        replication.points.insert(axes_text(&one.axes), one);
        if self.results.insert((&one.identity, &two.identity)) {
            replication.values.push(values);
        }
    }

    fn means(&self) -> Vec<(f64, f64)> {
        let mean = |values: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
            values.iter().map(of).sum::<f64>() / values.len() as f64
        };
        let values = self.found.values().map(|replication| &replication.values);
        values
            .filter(|values| !values.is_empty())
            .map(|values| {
                (
                    mean(values, |(first, _)| *first),
                    mean(values, |(_, second)| *second),
                )
            })
            .collect()
    }

    fn gaps(&self) -> Vec<String> {
        let all: BTreeMap<&String, i64> = self
            .found
            .values()
            .flat_map(|replication| &replication.points)
            .map(|(combination, point)| (combination, point.place))
            .collect();
        let mut gaps = Vec::new();
        for (replication, found) in &self.found {
            let mut lacking: Vec<(&i64, &&String)> = all
                .iter()
                .filter(|(combination, _)| !found.points.contains_key(**combination))
                .map(|(combination, place)| (place, combination))
                .collect();
            lacking.sort_unstable();
            gaps.extend(
                lacking.iter().map(|(_, combination)| {
                    format!("replication {replication} lacks {combination}")
                }),
            );
        }
        gaps
    }
}

/// Which of these p-values are below 5 % after Holm's correction, which keeps the chance of any false alarm among them at 5 %.
pub(super) fn holm(p_values: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, two| p_values[*one].total_cmp(&p_values[*two]));
    let mut rejected = vec![false; p_values.len()];
    for (rank, at) in order.iter().enumerate() {
        if p_values[*at] > 0.05 / (p_values.len() - rank) as f64 {
            break;
        }
        rejected[*at] = true;
    }
    rejected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(place: i64, axes: &[(&str, AxisValue)], replication: u32, gain: f64) -> MeasuredPoint {
        let mut values = vec![Some(1.0); METRICS.len()];
        values[0] = Some(gain);
        MeasuredPoint {
            measured: Vec::new(),
            place,
            identity: place.to_string(),
            simulation: place,
            axes: axes
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect(),
            replication,
            spec: "{}".to_owned(),
            values,
        }
    }

    #[test]
    fn the_mean_of_paired_differences_has_a_student_interval() {
        let pof = |value: f64| [("pof", AxisValue::Real(value))];
        let first: Vec<_> = (0..3)
            .map(|r| point(i64::from(r), &pof(0.5), r, 10.0))
            .collect();
        let second: Vec<_> = (0..3)
            .map(|r| point(i64::from(r), &pof(0.5), r, 11.0 + f64::from(r)))
            .collect();
        let pairing = pair(first, second);
        assert_eq!((pairing.pairs.len(), pairing.unpaired()), (3, 0));
        let all = differences(&pairing.pairs, None);
        let gain = &all[0];
        assert_eq!((gain.measure, gain.pairs, gain.equal), ("gain", 3, 0));
        // Differences 1, 2, 3: mean 2, deviation 1, t(2) = 4.302653, half width 4.302653 / √3.
        let estimate = gain.difference.unwrap();
        assert_eq!((estimate.mean, estimate.deviation), (2.0, Some(1.0)));
        assert!((estimate.half_width.unwrap() - 2.484_138).abs() < 1e-5);
        let (value, at) = gain.largest.as_ref().unwrap();
        assert_eq!((*value, at.place), (Some(3.0), 2));
        assert!(all[1..].iter().all(|other| !other.differs()));
    }

    #[test]
    fn the_unit_of_an_interval_is_the_replication_and_not_the_point() {
        // Three thresholds of three batteries: the gain of a battery is off by the same 1, 2 or 3 at all of them.
        let thresholds = [0.1, 0.5, 0.9];
        let points = |off: fn(u32) -> f64| -> Vec<MeasuredPoint> {
            (0..9_u32)
                .map(|at| {
                    let (replication, pof) = (at % 3, thresholds[at as usize / 3]);
                    let axes = [("pof", AxisValue::Real(pof))];
                    point(i64::from(at), &axes, replication, 10.0 + off(replication))
                })
                .collect()
        };
        let pairing = pair(
            points(|_| 0.0),
            points(|replication| 1.0 + f64::from(replication)),
        );
        let all = differences(&pairing.pairs, None);
        let estimate = all[0].difference.unwrap();
        // n = 3 and the interval of three differences; of nine pairs it would be ± 0.67.
        assert_eq!((all[0].pairs, estimate.count, estimate.mean), (9, 3, 2.0));
        assert!((estimate.half_width.unwrap() - 2.484_138).abs() < 1e-5);
    }

    #[test]
    fn points_that_share_a_result_count_once() {
        let axes = |pof: f64| [("pof", AxisValue::Real(pof))];
        let shared = |place: i64, gain: f64| MeasuredPoint {
            identity: "baseline".to_owned(),
            ..point(place, &axes(place as f64), 0, gain)
        };
        let first = vec![
            shared(0, 10.0),
            shared(1, 10.0),
            point(2, &axes(2.0), 0, 10.0),
        ];
        let second = vec![
            shared(0, 14.0),
            shared(1, 14.0),
            point(2, &axes(2.0), 0, 12.0),
        ];
        let pairing = pair(first, second);
        let all = differences(&pairing.pairs, None);
        assert_eq!(all[0].difference.unwrap().mean, 3.0);
    }

    #[test]
    fn replications_with_other_points_have_no_interval_and_are_named() {
        let axes = |pof: f64| [("pof", AxisValue::Real(pof))];
        let run = |gain: f64| {
            vec![
                point(0, &axes(0.1), 0, gain),
                point(1, &axes(0.1), 1, gain + 1.0),
                point(2, &axes(0.5), 1, gain + 5.0),
            ]
        };
        let pairing = pair(run(1.0), run(2.0));
        let all = differences(&pairing.pairs, None);
        assert_eq!(all[0].difference.unwrap().half_width, None);
        assert_eq!(all[0].gaps, ["replication 0 lacks pof = 0.5"]);
    }

    #[test]
    fn holm_asks_more_of_the_smallest_p_value_the_more_there_are() {
        assert_eq!(holm(&[0.04]), [true]);
        assert_eq!(holm(&[0.04, 0.03]), [false, false]);
        assert_eq!(holm(&[0.04, 0.02]), [true, true]);
        assert_eq!(holm(&[0.04, 0.001, 0.9]), [false, true, false]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn points_without_a_partner_are_kept_apart_and_numbers_pair_by_value() {
        let whole = [("pof", AxisValue::Integer(1))];
        let real = [("pof", AxisValue::Real(1.0))];
        let text = [("pof", AxisValue::Text("1".to_owned()))];
        let pairing = pair(
            vec![point(0, &whole, 0, 1.0), point(1, &text, 0, 1.0)],
            vec![point(0, &real, 0, 1.0), point(1, &real, 1, 1.0)],
        );
        assert_eq!(pairing.pairs.len(), 1);
        assert_eq!(pairing.only_first[0].place, 1);
        assert_eq!(pairing.only_second[0].replication, 1);
    }

    #[test]
    fn with_an_axis_of_one_run_alone_no_partner_is_guessed() {
        let one = [("a", AxisValue::Integer(1))];
        let more = |b: i64| [("a", AxisValue::Integer(1)), ("b", AxisValue::Integer(b))];
        let pairing = pair(
            vec![point(0, &one, 0, 1.0)],
            vec![point(0, &more(1), 0, 1.0), point(1, &more(2), 0, 2.0)],
        );
        assert!(pairing.pairs.is_empty());
        assert_eq!((pairing.ambiguous, pairing.unpaired()), (3, 3));
        assert_eq!(pairing.axes_only_second, ["b"]);
    }

    #[test]
    fn the_last_bit_of_a_number_is_a_difference() {
        let next = f64::from_bits(1.0_f64.to_bits() + 1);
        let pairing = pair(vec![point(0, &[], 0, 1.0)], vec![point(0, &[], 0, next)]);
        let all = differences(&pairing.pairs, None);
        assert!(all[0].differs());
        assert!(all[0].largest.as_ref().unwrap().0.unwrap() > 0.0);
    }
}
