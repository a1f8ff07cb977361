//! Finds partners: points of two runs that saw the same.

use super::workloads;
use crate::frames::beside;
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
    let mut ambiguous = 0;
    let mut candidates = beside(std::mem::take(points), |point| common(point));
    *points = candidates.remove(&None).unwrap_or_default();
    for candidates in candidates.into_values() {
        let mut left = MatchingPoints::default();
        for same in beside(candidates, |point| point.replication).into_values() {
            pair(same, found, &mut left);
        }
        match left.each_ref().map(Vec::len) {
            [1, 1] | [0, _] | [_, 0] => {}
            [ours, theirs] => ambiguous += ours + theirs,
        }
        pair(left, found, points);
    }
    ambiguous
}

/// Takes one point of each run for partners, and leaves any others.
fn pair<'p>(
    points: MatchingPoints<'p>,
    found: &mut Vec<Partners<'p>>,
    left: &mut MatchingPoints<'p>,
) {
    if let [[one], [two]] = points.each_ref().map(Vec::as_slice) {
        found.push((one, two));
        return;
    }
    for (left, own) in left.iter_mut().zip(points) {
        left.extend(own);
    }
}
