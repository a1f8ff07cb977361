//! The rule of a pass that reserves a place for every job, but does not plan jobs whose place
//! cannot matter.

use std::borrow::Cow;

use super::Waiting;
use super::pass::{Rule, pass};
use super::view::View;
use crate::plan::{Fit, Profile};
use crate::units::{Nodes, Seconds};

/// [`super::due_now`] with a reserved place for every job.
///
/// A job that starts now needs nodes for its estimate only, so the plan beyond the longest such
/// estimate is not looked at, and jobs that are known to start behind it are passed over. Where
/// that knowledge is not enough the pass is repeated with more jobs planned exactly, in the end all
/// of them: the answer is always that of the whole plan.
pub(super) fn due_now(
    fixed: &Profile,
    now: Seconds,
    queue: &[Waiting],
    first: usize,
) -> Vec<usize> {
    let mut due = Vec::new();
    let mut exact = 4;
    loop {
        let mut rule = PlaceForEach {
            queue,
            now,
            first,
            exact,
            view: View::new(fixed, now),
            spans: Vec::new(),
            past: queue.len(),
            reach: now,
            profile: Cow::Borrowed(fixed),
            horizon: Seconds::FAR,
            longest: vec![Seconds::FAR],
            placed: 0,
            is_open: false,
        };
        rule.find_candidates(0);
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
    /// No job in front of this place starts now.
    first: usize,
    /// This many jobs are planned before any is passed over.
    exact: u64,
    /// The nodes that can be had now: candidates are the jobs behind the ones looked at that fit.
    view: View,
    /// The same by node count.
    spans: Vec<Seconds>,
    /// The place behind the last candidate.
    past: usize,
    /// Only plans before this time decide which of the candidates start.
    reach: Seconds,
    /// That of the whole plan before the horizon, and too optimistic from there on.
    profile: Cow<'a, Profile>,
    horizon: Seconds,
    /// For each node count, how long a job of so many nodes may be to have a place before the
    /// horizon, as far as searches that failed have shown; the last one counts for more nodes, too.
    longest: Vec<Seconds>,
    placed: u64,
    /// Whether passing over jobs left the question open.
    is_open: bool,
}

impl PlaceForEach<'_> {
    /// Finds the candidates from this place on.
    fn find_candidates(&mut self, from: usize) {
        self.view.spans(&mut self.spans);
        let past = if self.view.is_empty() { 0 } else { self.past };
        let from = from.max(self.first);
        let others = &self.queue[from.min(past)..past];
        let widest = self.spans.len() - 1;
        let (mut past, mut longest) = (0, Seconds::ZERO);
        for (place, waiting) in (from..).zip(others) {
            let span = self.spans[(waiting.nodes.0 as usize).min(widest)];
            // Whether the next job fits cannot be foretold, so these are better not branches.
            let fits = waiting.estimate <= span;
            past = if fits { place + 1 } else { past };
            longest = if fits {
                longest.max(waiting.estimate)
            } else {
                longest
            };
        }
        (self.past, self.reach) = (past, self.now + longest);
    }

    fn is_limited(&self) -> bool {
        self.horizon < Seconds::FAR
    }

    /// Whether the job is known to have no place before the horizon.
    fn is_too_long(&self, waiting: &Waiting) -> bool {
        let nodes = (waiting.nodes.0 as usize).min(self.longest.len() - 1);
        waiting.estimate > self.longest[nodes]
    }

    /// So many nodes are free for this long at most, from any time before the horizon on. That
    /// stays true: the profile only fills, and the horizon only comes nearer.
    fn note_longest(&mut self, nodes: Nodes, longest: Seconds) {
        let nodes = nodes.0 as usize;
        if self.longest.len() <= nodes {
            let widest = self.longest[self.longest.len() - 1];
            self.longest.resize(nodes + 1, widest);
        }
        // Nobody has longer for more nodes.
        let known = &mut self.longest[nodes..];
        let past = known.partition_point(|known| *known > longest);
        known[..past].fill(longest);
    }
}

impl Rule<Waiting> for PlaceForEach<'_> {
    fn next(&self, queue: &[Waiting], from: usize) -> Option<usize> {
        if self.is_open || from >= self.past {
            return None;
        }
        let mut others = queue[from..self.past].iter();
        let found = others.position(|waiting| !self.is_too_long(waiting));
        found.map(|place| from + place)
    }

    fn starts(&mut self, waiting: &Waiting, behind: &[Waiting]) -> bool {
        let found = self.profile.earliest_fit_or_longest(Fit {
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
        let start = match found {
            Ok(start) => start,
            Err(longest) => {
                self.note_longest(waiting.nodes, longest);
                return false;
            }
        };
        let end = start + waiting.estimate;
        let certain = end <= self.horizon;
        if !certain && start < self.reach {
            self.is_open = true;
            return false;
        }
        if !certain || (!self.is_limited() && self.placed >= self.exact && start >= self.reach) {
            self.horizon = self.horizon.min(start);
            return false;
        }
        self.profile.to_mut().reserve(start, end, waiting.nodes.0);
        self.placed += 1;
        if start < self.reach {
            if start == self.now {
                self.view.take(waiting);
            } else {
                self.view.look_at(&self.profile, self.now);
            }
            self.find_candidates(self.queue.len() - behind.len());
        }
        start == self.now
    }
}
