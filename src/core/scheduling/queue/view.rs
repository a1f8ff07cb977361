//! The nodes that a plan offers to jobs that start now.

use super::Waiting;
use crate::plan::Profile;
use crate::units::Seconds;

/// What can be had from now on: for each node count, until when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    now: Seconds,
    /// `(nodes, until)`: this many nodes are free from now on until then; fewer nodes and later
    /// times follow.
    steps: Vec<(u32, Seconds)>,
}

impl View {
    /// What a profile shows from now on.
    #[must_use]
    pub fn new(profile: &Profile, now: Seconds) -> Self {
        let mut view = Self::default();
        view.look_at(profile, now);
        view
    }

    /// Becomes what a profile shows.
    pub fn look_at(&mut self, profile: &Profile, now: Seconds) {
        self.now = now;
        self.steps.clear();
        let mut free = profile.free_at(now);
        let mut until = now;
        while free > 0 {
            until = profile.first_below(until, free as u32);
            self.steps.push((free as u32, until));
            if until >= Seconds::FAR {
                break;
            }
            free = profile.free_at(until);
        }
    }

    /// Becomes the view where nothing is fixed but running jobs, and perhaps a place from `shadow`
    /// on that leaves `extra` nodes free.
    #[inline]
    pub fn look(&mut self, now: Seconds, idle: u32, (shadow, extra): (Seconds, u32)) {
        self.now = now;
        self.steps.clear();
        if idle > extra {
            self.steps.push((idle, shadow));
        }
        let always = idle.min(extra);
        if always == idle || (always > 0 && shadow < Seconds::FAR) {
            self.steps.push((always, Seconds::FAR));
        }
    }

    /// Time passes in which nothing becomes free and nothing is taken.
    #[inline]
    pub fn wait_until(&mut self, now: Seconds) {
        self.now = now;
    }

    /// Whether nothing can be had.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What is left when a job that fits has started now: the same as looking at the profile again,
    /// which is dearer.
    #[inline]
    pub fn take(&mut self, waiting: &Waiting) {
        let end = self.now + waiting.estimate;
        if end <= self.now {
            return;
        }
        // Behind the end of the job nothing is freer, seen from now, than it is at its end.
        let mut most = u32::MAX;
        let mut begin = self.now;
        let mut kept = 0;
        for index in 0..self.steps.len() {
            let (free, until) = self.steps[index];
            if begin < end {
                most = free.saturating_sub(waiting.nodes.0);
            }
            let free = most.min(free);
            if free == 0 {
                break;
            }
            if kept > 0 && self.steps[kept - 1].0 == free {
                self.steps[kept - 1].1 = until;
            } else {
                self.steps[kept] = (free, until);
                kept += 1;
            }
            begin = until;
        }
        self.steps.truncate(kept);
    }

    /// Whether the job fits now.
    pub fn holds(&self, waiting: &Waiting) -> bool {
        let end = self.now + waiting.estimate;
        for (free, until) in &self.steps {
            if *free < waiting.nodes.0 {
                break;
            }
            if end <= *until {
                return true;
            }
        }
        false
    }

    /// For each node count that can be had now, for how long; and at the end, for more nodes, a
    /// time shorter than any.
    pub(super) fn spans(&self, spans: &mut Vec<Seconds>) {
        spans.clear();
        for (nodes, until) in self.steps.iter().rev() {
            spans.resize(*nodes as usize + 1, *until - self.now);
        }
        spans.push(Seconds(-1));
    }

    /// The longest that anything can be had.
    pub(super) fn longest(&self) -> Seconds {
        let last = self.steps.last();
        last.map_or(Seconds::ZERO, |(_, until)| *until - self.now)
    }

    /// The place of the first of `queue` that fits now, from `from` on.
    pub fn first_held(&self, queue: &[Waiting], from: usize) -> Option<usize> {
        let mut others = queue[from..].iter();
        let found = match self.steps[..] {
            [] => None,
            // Deep queues are mostly searched where only running jobs are in the way.
            [(free, until)] => {
                let span = until - self.now;
                others.position(|other| other.nodes.0 <= free && other.estimate <= span)
            }
            [(free, until), (fewer, later)] => {
                let (span, longer) = (until - self.now, later - self.now);
                others.position(|other| {
                    other.nodes.0 <= free
                        && (other.estimate <= span
                            || (other.nodes.0 <= fewer && other.estimate <= longer))
                })
            }
            _ => others.position(|other| self.holds(other)),
        };
        found.map(|place| from + place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::{Megabytes, Nodes};
    use crate::workload::JobId;

    proptest! {
        #[test]
        fn what_is_left_behind_a_start_is_what_the_plan_then_shows(
            busy in prop::collection::vec((0_i64..60, 1_i64..40, 1_u32..4), 0..12),
            asked in prop::collection::vec((0_i64..70, 1_u32..6), 1..6),
        ) {
            const NOW: Seconds = Seconds(5);
            let mut profile = Profile::new(12, Seconds::ZERO);
            for (start, length, nodes) in busy {
                profile.reserve(Seconds(start), Seconds(start + length), nodes);
            }
            let mut view = View::new(&profile, NOW);
            for (job, (estimate, nodes)) in (0..).zip(asked) {
                let waiting = Waiting {
                    job: JobId(job),
                    since: Seconds::ZERO,
                    rank: 0,
                    nodes: Nodes(nodes),
                    estimate: Seconds(estimate),
                    memory: Megabytes(0),
                };
                let end = NOW + waiting.estimate;
                let fits = estimate == 0 && profile.free_at(NOW) >= nodes as i32
                    || estimate > 0 && profile.min_free(NOW, end) >= nodes as i32;
                prop_assert_eq!(view.holds(&waiting), fits);
                if fits {
                    profile.reserve(NOW, end, nodes);
                    view.take(&waiting);
                    prop_assert_eq!(&view, &View::new(&profile, NOW));
                }
            }
        }
    }
}
