//! Finds partners: points of two runs that saw the same.

use std::collections::BTreeMap;

use super::workloads;
use bookahead_lab::store::MeasuredPoint;
use bookahead_lab::sweep::HashDigits;

/// A point of each of two runs.
pub(super) type Partners<'p> = (&'p MeasuredPoint, &'p MeasuredPoint);

/// Points of two runs with the same values on the axes that both have.
pub(super) type MatchingPoints<'p> = [Vec<&'p MeasuredPoint>; 2];

/// What points must have in common to be partners.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Common {
    /// One stored result.
    Simulation(i64),
    /// The same jobs, which met the same failures.
    Seen(HashDigits, HashDigits),
    /// The same jobs on machines of different sizes, whose failures are drawn or replayed by the
    /// same settings.
    Jobs(HashDigits, String),
}

/// Takes partners out of these points. Returns how many points stay because they have several
/// candidates.
pub(super) fn take<'p>(
    points: &mut MatchingPoints<'p>,
    is_one_store: bool,
    found: &mut Vec<Partners<'p>>,
) -> usize {
    let simulation = |point: &MeasuredPoint| Some(Common::Simulation(point.simulation));
    let seen = |point: &MeasuredPoint| {
        let seen = point.seen;
        Some(Common::Seen(seen.jobs?, seen.failures?))
    };
    let mut ambiguous = 0;
    if is_one_store {
        ambiguous += matched(points, simulation, found);
    }
    ambiguous += matched(points, seen, found);
    let [ours, theirs] = &points;
    let is_shared = |point: &&MeasuredPoint| {
        let mut others = theirs.iter();
        others.any(|other| point.seen.same_jobs(&other.seen))
    };
    if ambiguous == 0 && ours.iter().any(is_shared) {
        let machines = |point: &MeasuredPoint| {
            Some(Common::Jobs(
                point.seen.jobs?,
                workloads::failure_settings(point),
            ))
        };
        let mut others = Vec::new();
        let mut apart = points.clone();
        ambiguous += matched(&mut apart, machines, &mut others);
        if others
            .iter()
            .all(|(one, two)| workloads::nodes(one) != workloads::nodes(two))
        {
            *points = apart;
            found.extend(others);
        }
    }
    ambiguous
}

/// Pairs the points that have the same in common: first those of the same replication, then the
/// last of each run. Where that leaves several candidates none of them is paired: any choice would
/// be arbitrary.
fn matched<'p>(
    points: &mut MatchingPoints<'p>,
    common: impl Fn(&MeasuredPoint) -> Option<Common>,
    found: &mut Vec<Partners<'p>>,
) -> usize {
    let mut candidates: BTreeMap<Common, MatchingPoints<'p>> = BTreeMap::new();
    let mut alone: MatchingPoints<'p> = Default::default();
    for (side, points) in points.iter_mut().enumerate() {
        for point in points.drain(..) {
            match common(point) {
                Some(common) => candidates.entry(common).or_default()[side].push(point),
                None => alone[side].push(point),
            }
        }
    }
    let mut ambiguous = 0;
    for mut matching in candidates.into_values() {
        let mut by_replication: BTreeMap<u32, MatchingPoints<'p>> = BTreeMap::new();
        for (side, points) in matching.iter_mut().enumerate() {
            for point in points.drain(..) {
                by_replication.entry(point.replication).or_default()[side].push(point);
            }
        }
        for [ours, theirs] in by_replication.into_values() {
            if let ([one], [two]) = (&ours[..], &theirs[..]) {
                found.push((one, two));
            } else {
                matching[0].extend(ours);
                matching[1].extend(theirs);
            }
        }
        if let ([one], [two]) = (&matching[0][..], &matching[1][..]) {
            found.push((one, two));
            continue;
        }
        if !matching[0].is_empty() && !matching[1].is_empty() {
            ambiguous += matching[0].len() + matching[1].len();
        }
        for (alone, own) in alone.iter_mut().zip(matching) {
            alone.extend(own);
        }
    }
    *points = alone;
    ambiguous
}
