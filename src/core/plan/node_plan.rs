//! The node-mapped plan: it knows the concrete nodes of each job over time.

mod room;
mod sweep;

use std::cmp::Reverse;
use std::collections::BTreeSet;

pub use self::sweep::PlanSweep;
use super::{NodeSet, Profile};
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, JobId};

/// A reservation of concrete nodes on `[start, end)`. One of no length holds no node at any time:
/// it marks the place of a job without time of its own, which runs before it, in what others leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The job.
    pub job: JobId,
    /// Its nodes.
    pub nodes: NodeSet,
    /// First second held.
    pub start: Seconds,
    /// First second no longer held.
    pub end: Seconds,
}

impl Reservation {
    /// Whether it holds its nodes at no time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// What plans are ordered by: the start, those of no length before others, the job.
    #[must_use]
    pub fn order(&self) -> (Seconds, bool, JobId) {
        (self.start, !self.is_empty(), self.job)
    }

    /// The same by the end: those of no length come behind others, and of the rest the greatest job
    /// first.
    fn order_of_ends(&self) -> (Seconds, bool, Reverse<JobId>) {
        (self.end, self.is_empty(), Reverse(self.job))
    }
}

/// All open reservations of a cluster. A counted profile beside them rules out most candidate
/// starts.
///
/// With `r` open reservations and `w = nodes / 64` words a set, a question about concrete nodes
/// costs O(r · w): on the machines of the archive a few microseconds.
#[derive(Clone, Debug)]
pub struct NodePlan {
    nodes: Nodes,
    /// Sorted by [`Reservation::order`].
    reservations: Vec<Reservation>,
    /// Places in `reservations`, sorted by [`Reservation::order_of_ends`].
    by_end: Vec<usize>,
    /// Jobs whose nodes are given to no other job before their start either.
    held: BTreeSet<JobId>,
    counted: Profile,
}

impl NodePlan {
    /// An empty plan of `nodes` nodes.
    #[must_use]
    pub fn new(nodes: Nodes) -> Self {
        Self {
            nodes,
            reservations: Vec::new(),
            by_end: Vec::new(),
            held: BTreeSet::new(),
            counted: Profile::new(nodes.0, Seconds::ZERO),
        }
    }

    /// Open reservations in their [order](Reservation::order).
    #[must_use]
    pub fn reservations(&self) -> &[Reservation] {
        &self.reservations
    }

    /// Size of the cluster.
    #[must_use]
    pub fn nodes(&self) -> Nodes {
        self.nodes
    }

    /// How many nodes are free when, whichever they are.
    #[must_use]
    pub fn counted(&self) -> &Profile {
        &self.counted
    }

    /// The open reservation of `job`.
    #[must_use]
    pub fn reservation(&self, job: JobId) -> Option<&Reservation> {
        self.reservations
            .iter()
            .find(|reservation| reservation.job == job)
    }

    /// Enters a reservation. The caller has made sure that its nodes are free.
    pub fn insert(&mut self, reservation: Reservation) {
        self.counted.reserve(
            reservation.start,
            reservation.end,
            reservation.nodes.count().0,
        );
        let place =
            (self.reservations).partition_point(|other| other.order() < reservation.order());
        let by_end = self.by_end.partition_point(|&other| {
            self.reservations[other].order_of_ends() < reservation.order_of_ends()
        });
        for later in self.by_end.iter_mut().filter(|later| **later >= place) {
            *later += 1;
        }
        self.by_end.insert(by_end, place);
        self.reservations.insert(place, reservation);
    }

    /// From now on, as long as its reservation stays, no other job is given nodes of `job` before
    /// its start.
    pub fn hold(&mut self, job: JobId) {
        self.held.insert(job);
    }

    /// Takes the reservation of `job` out, if it is still open, and returns it; its nodes are held
    /// no longer.
    pub fn remove(&mut self, job: JobId) -> Option<Reservation> {
        let place = self
            .reservations
            .iter()
            .position(|reservation| reservation.job == job)?;
        let reservation = self.reservations.remove(place);
        self.by_end.retain(|&other| other != place);
        for later in self.by_end.iter_mut().filter(|later| **later > place) {
            *later -= 1;
        }
        self.held.remove(&job);
        self.counted.release(
            reservation.start,
            reservation.end,
            reservation.nodes.count().0,
        );
        Some(reservation)
    }

    /// Gives the open reservation of one job to another one, which has none; whoever held its nodes
    /// holds them on. Returns its window.
    pub fn hand_over(&mut self, from: JobId, to: JobId) -> Option<(Seconds, Seconds)> {
        let is_held = self.held.contains(&from);
        let reservation = self.remove(from)?;
        let window = (reservation.start, reservation.end);
        let job = to;
        self.insert(Reservation { job, ..reservation });
        if is_held {
            self.hold(to);
        }
        Some(window)
    }

    /// Forgets reservations that ended at or before `now`, those of no length only before it: the
    /// start of their job may be due now.
    pub fn forget_before(&mut self, now: Seconds) {
        self.counted.forget_before(now);
        let is_gone = |it: &Reservation| it.end < now || (it.end == now && !it.is_empty());
        let gone = (self.by_end).partition_point(|&place| is_gone(&self.reservations[place]));
        if gone == 0 {
            return;
        }
        for &gone in &self.by_end[..gone] {
            self.held.remove(&self.reservations[gone].job);
        }
        self.reservations
            .retain(|reservation| !is_gone(reservation));
        self.by_end.truncate(self.reservations.len());
        for (place, by_end) in self.by_end.iter_mut().enumerate() {
            *by_end = place;
        }
        let reservations = &self.reservations;
        (self.by_end).sort_unstable_by_key(|&place| reservations[place].order_of_ends());
    }

    /// How many reservations have ended at `time`.
    fn ended_by(&self, time: Seconds) -> usize {
        self.by_end
            .partition_point(|&place| self.reservations[place].end <= time)
    }

    /// The candidate starts of a request: `from` and every reservation end in
    /// `(from, latest]`, ascending.
    #[must_use]
    pub fn candidate_starts(&self, from: Seconds, latest: Seconds) -> Vec<Seconds> {
        if latest < from {
            return Vec::new();
        }
        let later = self.by_end[self.ended_by(from)..].iter();
        let ends = later.map(|&place| self.reservations[place].end);
        let mut starts = vec![from];
        starts.extend(ends.take_while(|&end| end <= latest));
        starts.dedup();
        starts
    }

    /// The first candidate in `starts` at which `nodes` nodes are free for `duration`, with the
    /// lowest-numbered of them ("bottom-left", A-19). Nodes outside `usable_now` are not used by a
    /// start at `now`, when it is given.
    #[must_use]
    pub fn first_full(
        &self,
        starts: &[Seconds],
        nodes: Nodes,
        duration: Seconds,
        usable_now: Option<(Seconds, &NodeSet)>,
    ) -> Option<(Seconds, NodeSet)> {
        let mut ruled_out_through = None;
        for &start in starts {
            if ruled_out_through.is_some_and(|time| start <= time) {
                continue;
            }
            let obstacle = self.counted.first_below(start, nodes.0);
            if obstacle < start + duration {
                // Every start up to the obstacle would have to cross it.
                ruled_out_through = Some(obstacle);
                continue;
            }
            if let Some(chosen) = self
                .free_throughout(start, start + duration, usable_now)
                .lowest(nodes)
            {
                return Some((start, chosen));
            }
        }
        None
    }

    /// The nodes without any reservation on `[from, to)` that are not held for a later start
    /// either; of a start at `now` only the usable ones.
    #[must_use]
    pub fn free_throughout(
        &self,
        from: Seconds,
        to: Seconds,
        usable_now: Option<(Seconds, &NodeSet)>,
    ) -> NodeSet {
        let mut free = match usable_now {
            Some((now, usable)) if now == from => usable.clone(),
            _ => NodeSet::full(self.nodes),
        };
        for reservation in &self.reservations {
            if reservation.start >= to {
                break;
            }
            if reservation.end > from {
                free.subtract(&reservation.nodes);
            }
        }
        if !self.held.is_empty() {
            let later = self
                .reservations
                .partition_point(|reservation| reservation.start < to);
            self.give_up_held(&mut free, later);
        }
        free
    }

    /// Takes out the nodes that are held for reservations from this place on.
    fn give_up_held(&self, free: &mut NodeSet, later: usize) {
        if self.held.is_empty() {
            return;
        }
        for reservation in &self.reservations[later..] {
            if self.held.contains(&reservation.job) {
                free.subtract(&reservation.nodes);
            }
        }
    }

    /// Looks at one instant after the other.
    #[must_use]
    pub fn sweep(&self) -> PlanSweep<'_> {
        PlanSweep::of(self)
    }

    /// The longest time that a job can have in one piece before its deadline, at most its estimate,
    /// on the nodes that stay free longest; of equal ones the earliest. Of a start now only
    /// nodes in `usable` are used.
    #[must_use]
    pub fn longest_gap(&self, job: &Job, now: Seconds, usable: &NodeSet) -> Option<Reservation> {
        let from = now.max(job.release);
        let starts = self.candidate_starts(from, job.deadline - Seconds(1));
        let mut longest: Option<Reservation> = None;
        let mut sweep = self.sweep();
        for start in starts {
            // No longer than enough nodes are free, whichever they are: most starts end here.
            let at_most = self.counted.first_below(start, job.nodes.0) - start;
            if longest
                .as_ref()
                .is_some_and(|best| at_most <= best.end - best.start)
            {
                continue;
            }
            let Some((nodes, next)) = sweep.longest_free(start, job.nodes, Some((now, usable)))
            else {
                continue;
            };
            let end = next.min(job.deadline).min(start + job.estimate);
            if longest
                .as_ref()
                .is_none_or(|best| end - start > best.end - best.start)
            {
                longest = Some(Reservation {
                    job: job.id,
                    nodes,
                    start,
                    end,
                });
            }
        }
        longest
    }

    /// The earliest start of a reservation after `after` on any of `nodes`, other than `except`'s,
    /// or [`Seconds::FAR`].
    #[must_use]
    pub fn next_start_on(&self, nodes: &NodeSet, after: Seconds, except: JobId) -> Seconds {
        self.reservations
            .iter()
            .filter(|reservation| reservation.job != except && reservation.start > after)
            .find(|reservation| reservation.nodes.intersects(nodes))
            .map_or(Seconds::FAR, |reservation| reservation.start)
    }

    /// Whether a job other than `except` holds one of `nodes` at `time`.
    #[must_use]
    pub fn is_held(&self, nodes: &NodeSet, time: Seconds, except: JobId) -> bool {
        self.reservations
            .iter()
            .take_while(|reservation| reservation.start <= time)
            .any(|reservation| {
                reservation.job != except
                    && reservation.end > time
                    && reservation.nodes.intersects(nodes)
            })
    }

    /// The distinct last jobs planned before `start` on the given nodes whose reservation ends
    /// after `from` (Birkenheuer 2012, §3.2.2; a predecessor on several of the nodes counts once,
    /// A-13), in order of their end.
    #[must_use]
    pub fn predecessors(&self, nodes: &NodeSet, from: Seconds, start: Seconds) -> Vec<JobId> {
        let mut uncovered = nodes.clone();
        let mut jobs = Vec::new();
        for &place in self.by_end[..self.ended_by(start)].iter().rev() {
            let reservation = &self.reservations[place];
            if reservation.end <= from {
                break;
            }
            if reservation.nodes.intersects(&uncovered) {
                uncovered.subtract(&reservation.nodes);
                jobs.push(reservation.job);
                if uncovered.is_empty() {
                    break;
                }
            }
        }
        jobs
    }
}

#[cfg(test)]
mod tests;
