//! Who starts now of a queue in which everybody has a place, without planning those whose place
//! cannot matter.

use super::view::View;
use super::{DueEffort, Waiting};
use crate::plan::{Fit, Profile};
use crate::units::Seconds;

/// [`super::due_now`] where everybody is kept a place.
///
/// A job that starts now needs nodes for its estimate only, so the plan beyond the longest such
/// estimate is not looked at, and jobs that are known to start behind it are passed over. Where
/// that knowledge is not enough the attempt is repeated with more jobs planned exactly, in the end
/// all of them: the answer is always that of the whole plan.
pub(super) fn due_now(
    fixed: &Profile,
    now: Seconds,
    queue: &[Waiting],
    effort: &mut DueEffort,
) -> Vec<usize> {
    let mut exact = 48;
    loop {
        if let Some(due) = attempt(fixed, now, queue, exact, effort) {
            return due;
        }
        effort.retries += 1;
        exact = if exact > 4_000 { usize::MAX } else { exact * 4 };
    }
}

/// One attempt: `None` when passing over jobs left the question open.
fn attempt(
    fixed: &Profile,
    now: Seconds,
    queue: &[Waiting],
    exact: usize,
    effort: &mut DueEffort,
) -> Option<Vec<usize>> {
    let mut view = View::new(fixed, now);
    let mut due = Vec::new();
    // Who could start now if nobody in front took the place.
    let mut candidates: Vec<usize> = if view.is_empty() {
        Vec::new()
    } else {
        (0..queue.len())
            .filter(|&index| view.holds(&queue[index]))
            .collect()
    };
    let longest = |candidates: &[usize]| {
        let estimates = candidates.iter().map(|&index| queue[index].estimate);
        now + estimates.max().unwrap_or(Seconds::ZERO)
    };
    if candidates.is_empty() {
        return Some(due);
    }
    // Only what is planned before here decides who of them starts.
    let mut reach = longest(&candidates);
    let mut profile = fixed.clone();
    // The profile is that of the whole plan before the horizon, and too optimistic from there on.
    let mut horizon = Seconds::FAR;
    let mut stretches: Option<Vec<Seconds>> = None;
    let mut placed = 0_usize;
    let mut index = 0;
    while candidates.last().is_some_and(|&last| index <= last) {
        let waiting = &queue[index];
        index += 1;
        let limited = horizon < Seconds::FAR;
        if limited {
            let known = stretches.get_or_insert_with(|| longest_stretches(&profile, now, horizon));
            let longest = known.get(waiting.nodes.0 as usize);
            if longest.is_none_or(|longest| waiting.estimate > *longest) {
                continue;
            }
        }
        let start = profile.earliest_fit(Fit {
            from: now,
            latest: if limited {
                horizon - Seconds(1)
            } else {
                horizon
            },
            nodes: waiting.nodes.0,
            duration: waiting.estimate,
            own_start: None,
        });
        let Some(start) = start else {
            stretches = None;
            continue;
        };
        let end = start + waiting.estimate;
        let certain = end <= horizon;
        if !certain && start < reach {
            return None;
        }
        if !certain || (!limited && placed >= exact && start >= reach) {
            horizon = horizon.min(start);
            stretches = None;
            continue;
        }
        profile.reserve(start, end, waiting.nodes.0);
        placed += 1;
        effort.placements += 1;
        if start == now {
            due.push(index - 1);
        }
        if start < reach {
            if start == now {
                view.take(waiting);
            } else {
                view.look_at(&profile, now);
            }
            candidates.retain(|&candidate| candidate >= index && view.holds(&queue[candidate]));
            reach = longest(&candidates);
        }
    }
    Some(due)
}

/// For each node count up to the machine's, the longest time for which so many nodes are free
/// without a break, beginning before `horizon`.
fn longest_stretches(profile: &Profile, now: Seconds, horizon: Seconds) -> Vec<Seconds> {
    let mut longest: Vec<Seconds> = Vec::new();
    let mut raise = |nodes: i32, span: Seconds| {
        let nodes = nodes.max(0) as usize;
        if longest.len() <= nodes {
            longest.resize(nodes + 1, Seconds::ZERO);
        }
        longest[nodes] = longest[nodes].max(span);
    };
    // Open stretches by rising node count, each with its beginning.
    let mut open: Vec<(i32, Seconds)> = Vec::new();
    for (time, free) in profile.segments() {
        let time = time.max(now);
        let mut begin = time;
        while let Some(&(nodes, from)) = open.last() {
            if nodes < free {
                break;
            }
            raise(nodes, time - from);
            begin = from;
            open.pop();
        }
        if time < horizon || begin < time {
            open.push((free, begin));
        } else if open.is_empty() {
            break;
        }
    }
    for (nodes, from) in open {
        raise(nodes, Seconds::FAR - from);
    }
    // Whoever has many nodes has few.
    for nodes in (1..longest.len()).rev() {
        longest[nodes - 1] = longest[nodes - 1].max(longest[nodes]);
    }
    longest
}
