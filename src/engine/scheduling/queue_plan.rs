//! Planning a queue of variable jobs around what is fixed: running jobs until their estimated ends, and reservations
//! (REPLAN of spec `grid-reservations.md` §3.2; PLAN_CB and PLAN_AB of `provisioning.md` §6.3).

mod view;

use serde::{Deserialize, Serialize};

use self::view::View;
use crate::plan::{Fit, Profile};
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, JobId};

/// A waiting job as the planner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The job.
    pub job: JobId,
    /// When it was submitted.
    pub submit: Seconds,
    /// Its nodes, at least one and at most the machine's.
    pub nodes: Nodes,
    /// How long it is planned for.
    pub estimate: Seconds,
}

impl From<&Job> for Waiting {
    fn from(job: &Job) -> Self {
        Self {
            job: job.id,
            submit: job.submit,
            nodes: job.nodes,
            estimate: job.estimate,
        }
    }
}

/// The order in which waiting jobs are planned (A1 of `grid-reservations.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueOrder {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Shortest estimate first; first come, first served among equals.
    Sjf,
    /// Longest estimate first; first come, first served among equals.
    Ljf,
}

impl QueueOrder {
    /// What waiting jobs are sorted by.
    pub(super) fn key(self, waiting: &Waiting) -> (i64, i64, u32) {
        let first = match self {
            Self::Fcfs => 0,
            Self::Sjf => waiting.estimate.0,
            Self::Ljf => -waiting.estimate.0,
        };
        (first, waiting.submit.0, waiting.job.0)
    }
}

/// Which jobs may be planned before jobs in front of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backfilling {
    /// Any that delays no job in front of it: each job gets the earliest slot that is left (PLAN_CB).
    #[default]
    Conservative,
    /// Any that does not delay the first in the queue (EASY, PLAN_AB).
    Aggressive,
    /// None: no job starts before one in front of it.
    None,
}

/// Plans every job of `queue`, which is in the order of planning, from `now` on; returns their starts in the same order and
/// leaves in `profile` what remains free.
///
/// No job may be wider than the machine, and what is fixed must end some day.
pub fn plan_queue(
    profile: &mut Profile,
    now: Seconds,
    queue: &[Waiting],
    backfilling: Backfilling,
) -> Vec<Seconds> {
    match backfilling {
        Backfilling::Conservative => queue
            .iter()
            .map(|waiting| place(profile, waiting, now))
            .collect(),
        Backfilling::None => {
            let mut from = now;
            queue
                .iter()
                .map(|waiting| {
                    from = place(profile, waiting, from);
                    from
                })
                .collect()
        }
        Backfilling::Aggressive => plan_aggressively(profile, now, queue),
    }
}

/// Places one job at the earliest start from `from` on and takes its nodes out of the profile.
pub(super) fn place(profile: &mut Profile, waiting: &Waiting, from: Seconds) -> Seconds {
    let start = earliest(profile, waiting, from);
    profile.reserve(start, start + waiting.estimate, waiting.nodes.0);
    start
}

/// The earliest start from `from` on, [`Seconds::FAR`] for a job that never fits.
fn earliest(profile: &Profile, waiting: &Waiting, from: Seconds) -> Seconds {
    profile
        .earliest_fit(Fit {
            from,
            latest: Seconds::FAR,
            nodes: waiting.nodes.0,
            duration: waiting.estimate,
            own_start: None,
        })
        .unwrap_or(Seconds::FAR)
}

fn fits(profile: &Profile, waiting: &Waiting, start: Seconds) -> bool {
    profile.min_free(start, start + waiting.estimate) >= waiting.nodes.0 as i32
}

fn take(profile: &mut Profile, waiting: &Waiting, start: Seconds) {
    profile.reserve(start, start + waiting.estimate, waiting.nodes.0);
}

/// PLAN_AB: whenever nodes become free the head starts if it fits, else it keeps the earliest start that it has now and
/// whoever does not delay it starts. (The spec looks at every change; where nodes only become busy nobody fits who did not fit
/// before.)
fn plan_aggressively(profile: &mut Profile, now: Seconds, queue: &[Waiting]) -> Vec<Seconds> {
    let mut starts = vec![Seconds::FAR; queue.len()];
    let mut rest: Vec<usize> = (0..queue.len()).collect();
    let mut time = now;
    loop {
        let mut view = View::new(profile, time);
        let mut head = 0;
        while head < rest.len() && view.holds(&queue[rest[head]]) {
            take(profile, &queue[rest[head]], time);
            starts[rest[head]] = time;
            view.take(&queue[rest[head]]);
            head += 1;
        }
        rest.drain(..head);
        let Some(&first) = rest.first() else {
            break;
        };
        if !view.is_empty() && rest.iter().any(|&index| view.holds(&queue[index])) {
            let shadow = earliest(profile, &queue[first], time);
            take(profile, &queue[first], shadow);
            view = View::new(profile, time);
            rest.retain(|&index| {
                if index == first || !view.holds(&queue[index]) {
                    return true;
                }
                take(profile, &queue[index], time);
                starts[index] = time;
                view.take(&queue[index]);
                false
            });
            let end = shadow + queue[first].estimate;
            profile.release(shadow, end, queue[first].nodes.0);
        }
        match profile.next_rise(time, Seconds::FAR, 1) {
            Some(next) => time = next,
            // Nothing will ever become free and the head does not fit: it keeps the start that means never.
            None => break,
        }
    }
    starts
}

/// How the question "who starts now?" was answered, for profiling and tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DueEffort {
    /// Jobs that were placed.
    pub placements: u64,
    /// Attempts that had to be repeated with a longer view.
    pub retries: u64,
}

/// Which jobs of `queue` (by index, in order) the plan of [`plan_queue`] starts at `now`, without planning those whose
/// place cannot matter.
///
/// With conservative backfilling a job that starts now needs nodes for its estimate only, so the plan beyond the longest
/// such estimate is not looked at, and jobs that are known to start behind it are passed over. Where that knowledge is not enough
/// the attempt is repeated with more jobs planned exactly, in the end all of them: the answer is always that of the whole plan.
pub fn due_now(
    fixed: &Profile,
    now: Seconds,
    queue: &[Waiting],
    backfilling: Backfilling,
    effort: &mut DueEffort,
) -> Vec<usize> {
    match backfilling {
        Backfilling::None => {
            let mut profile = None;
            let mut due = Vec::new();
            for (index, waiting) in queue.iter().enumerate() {
                if !fits(profile.as_ref().unwrap_or(fixed), waiting, now) {
                    break;
                }
                take(profile.get_or_insert_with(|| fixed.clone()), waiting, now);
                due.push(index);
            }
            due
        }
        Backfilling::Aggressive => due_aggressively(fixed, now, queue),
        Backfilling::Conservative => {
            let mut exact = 48;
            loop {
                if let Some(due) = due_conservatively(fixed, now, queue, exact, effort) {
                    return due;
                }
                effort.retries += 1;
                exact = if exact > 4_000 { usize::MAX } else { exact * 4 };
            }
        }
    }
}

fn due_aggressively(fixed: &Profile, now: Seconds, queue: &[Waiting]) -> Vec<usize> {
    let mut view = View::new(fixed, now);
    let mut due = Vec::new();
    if !queue.iter().any(|waiting| view.holds(waiting)) {
        return due;
    }
    let mut profile = fixed.clone();
    let mut head_waits = false;
    for (index, waiting) in queue.iter().enumerate() {
        if view.holds(waiting) {
            take(&mut profile, waiting, now);
            due.push(index);
            view.take(waiting);
        } else if !head_waits {
            head_waits = true;
            let shadow = earliest(&profile, waiting, now);
            take(&mut profile, waiting, shadow);
            view = View::new(&profile, now);
        } else {
            continue;
        }
        if view.is_empty() {
            break;
        }
    }
    due
}

/// One attempt: `None` when passing over jobs left the question open.
fn due_conservatively(
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
                view = View::new(&profile, now);
            }
            candidates.retain(|&candidate| candidate >= index && view.holds(&queue[candidate]));
            reach = longest(&candidates);
        }
    }
    Some(due)
}

/// For each node count up to the machine's, the longest time for which so many nodes are free without a break, beginning
/// before `horizon`.
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
