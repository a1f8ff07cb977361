//! The rule of a pass that reserves a place for every job, but does not plan jobs whose place
//! cannot matter.

use super::Waiting;
use super::pass::{Rule, pass};
use super::view::View;
use crate::plan::{Fit, Profile};
use crate::units::Seconds;

/// [`super::due_now`] with a reserved place for every job.
///
/// A job that starts now needs nodes for its estimate only, so the plan beyond the longest such
/// estimate is not looked at, and jobs that are known to start behind it are passed over. Where
/// that knowledge is not enough the pass is repeated with more jobs planned exactly, in the end all
/// of them: the answer is always that of the whole plan.
pub(super) fn due_now(fixed: &Profile, now: Seconds, queue: &[Waiting]) -> Vec<usize> {
    let mut due = Vec::new();
    let view = View::new(fixed, now);
    if view.is_empty() {
        return due;
    }
    // Jobs that could start now if none in front took the place.
    let candidates: Vec<usize> = (0..queue.len())
        .filter(|&index| view.holds(&queue[index]))
        .collect();
    if candidates.is_empty() {
        return due;
    }
    let mut exact = 48;
    loop {
        let mut rule = PlaceForEach {
            queue,
            now,
            exact,
            reach: Seconds::ZERO,
            view: view.clone(),
            candidates: candidates.clone(),
            profile: fixed.clone(),
            horizon: Seconds::FAR,
            stretches: None,
            placed: 0,
            is_open: false,
        };
        rule.reach = rule.longest();
        pass(queue, &mut rule, &mut due);
        if !rule.is_open {
            return due;
        }
        exact = if exact > 4_000 { u64::MAX } else { exact * 4 };
    }
}

/// The rule that reserves for every job the earliest place that the jobs in front leave.
struct PlaceForEach<'a> {
    queue: &'a [Waiting],
    now: Seconds,
    /// This many jobs are planned before any is passed over.
    exact: u64,
    /// Only plans before this time decide which of the candidates start.
    reach: Seconds,
    view: View,
    /// The jobs that may still start now.
    candidates: Vec<usize>,
    /// That of the whole plan before the horizon, and too optimistic from there on.
    profile: Profile,
    horizon: Seconds,
    /// Of the profile as it is.
    stretches: Option<Vec<Seconds>>,
    placed: u64,
    /// Whether passing over jobs left the question open.
    is_open: bool,
}

impl PlaceForEach<'_> {
    fn longest(&self) -> Seconds {
        let candidates = self.candidates.iter();
        let estimates = candidates.map(|&index| self.queue[index].estimate);
        self.now + estimates.max().unwrap_or(Seconds::ZERO)
    }

    fn is_limited(&self) -> bool {
        self.horizon < Seconds::FAR
    }

    /// Whether the job has no place before the horizon.
    fn is_too_long(&mut self, waiting: &Waiting) -> bool {
        let (profile, now, horizon) = (&self.profile, self.now, self.horizon);
        let known =
            (self.stretches).get_or_insert_with(|| longest_stretches(profile, now, horizon));
        let longest = known.get(waiting.nodes.0 as usize);
        longest.is_none_or(|longest| waiting.estimate > *longest)
    }
}

impl Rule<Waiting> for PlaceForEach<'_> {
    fn next(&self, _queue: &[Waiting], from: usize) -> Option<usize> {
        let last = self.candidates.last();
        let matters = !self.is_open && last.is_some_and(|&last| from <= last);
        matters.then_some(from)
    }

    fn starts(&mut self, waiting: &Waiting, behind: &[Waiting]) -> bool {
        if self.is_limited() && self.is_too_long(waiting) {
            return false;
        }
        let start = self.profile.earliest_fit(Fit {
            from: self.now,
            latest: if self.is_limited() {
                self.horizon - Seconds(1)
            } else {
                self.horizon
            },
            nodes: waiting.nodes.0,
            duration: waiting.estimate,
            own_start: None,
        });
        let Some(start) = start else {
            self.stretches = None;
            return false;
        };
        let end = start + waiting.estimate;
        let certain = end <= self.horizon;
        if !certain && start < self.reach {
            self.is_open = true;
            return false;
        }
        if !certain || (!self.is_limited() && self.placed >= self.exact && start >= self.reach) {
            self.horizon = self.horizon.min(start);
            self.stretches = None;
            return false;
        }
        self.profile.reserve(start, end, waiting.nodes.0);
        self.placed += 1;
        if start < self.reach {
            if start == self.now {
                self.view.take(waiting);
            } else {
                self.view.look_at(&self.profile, self.now);
            }
            let (queue, view) = (self.queue, &self.view);
            let next = queue.len() - behind.len();
            (self.candidates).retain(|&index| index >= next && view.holds(&queue[index]));
            self.reach = self.longest();
        }
        start == self.now
    }
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
