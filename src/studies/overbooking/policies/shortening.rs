//! The strategy of 2008: conservative backfilling with shortened durations, as a policy on the
//! node-mapped plan (Birkenheuer 2008, §3.1).
//!
//! The search itself is pure and stands in [`super::overbooking_2008`]. This policy finds the
//! anchors for it, and carries a placement through until its job has ended.
//!
//! * **Anchors** are "now or the release" and the ends of reservations. At each anchor a
//!   full-length slot on the lowest-numbered nodes comes first (a); else the nodes that stay free
//!   longest are taken, shortened (b) or on top of the predecessors (c). The order is that
//!   of the listing, so the placing strategies of the dissertation do not apply.
//! * **Promising** is a job whose class has a mean ratio below 1 / (1 + maxPoF), or whose
//!   user or application says so ([`ShorteningSettings::promising`]); without statistics none is.
//!   maxPoF follows from [`ShorteningSettings::acceptance`].
//! * **Underestimators** may be planned for more than their estimate
//!   ([`ShorteningSettings::underestimators`]): at full length only, first for the longer duration,
//!   and for the estimate where no slot holds that. Such a job is killed at the end of its promised
//!   time. Its fee is that of its estimate, and the contract is kept once the estimate was granted.
//! * **Fixed reservations** are accepted at full length on the lowest-numbered nodes that are free
//!   in their whole window, or not at all. They cannot be cut, so no job is placed on top of one. A
//!   lead-in (see below) keeps them out like any reservation. Every job in front of one has left
//!   its nodes at its start, on top of predecessors or not. If some of its nodes are missing then,
//!   it takes others that are idle and unplanned in its window, or fails.
//! * **The possible cut of a predecessor** is counted from its present reservation: a job that was
//!   shortened itself is never assumed to end before its own d'. For a full-length predecessor the
//!   cut is o_k as printed.
//!
//! # Jobs on top of their predecessors
//!
//! A job of case (c) has a *nominal start* `t_s − a`, before its predecessors' reservations end at
//! the anchor `t_s`. In the plan it holds its nodes only from `t_s` on, so that reservations never
//! overlap and predecessors keep their whole promise; the nominal start is stored beside it. Where
//! the nodes are free before `t_s`, the job also holds `[t_s − a, t_s)` as a *lead-in*, a second
//! reservation of the same job. Otherwise a later job could take the time that the acceptance
//! counted on. Nodes are free before `t_s` if no predecessor ends on them there, and all of them
//! become so when a predecessor turns out to end earlier. Nodes without such a predecessor limit
//! `a` to the time that they are free.
//!
//! The job starts as soon as all its nodes are idle, from the nominal start on and at the latest at
//! `t_s`. Then it may run until its estimate has elapsed, the next reservation on its nodes starts,
//! or its deadline comes. Like every other job it moves forward when its predecessors end early
//! ("straightening out" the schedule), unless [`EarlyStart::No`] holds each job to its nominal
//! start and each reservation to its planned end.

mod fixed;
mod judgement;
mod placing;
mod resume;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;

use bookahead_core::estimates::EstimateModel;
use bookahead_core::plan::{NodePlan, NodeSet, Reservation};
use bookahead_core::scheduling::{
    Checkpointing, Cluster, EarlyStart, Exposure, Hardware, PenaltySettings, Phase, Policy,
    Promise, Recovery, Verdict, WindowQuote, WindowSeller,
};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::JobId;

pub use self::settings::ShorteningSettings;
use super::disabled::{Cause, DisabledJobs, Occasion, latest_end};
use super::displaced::DisplacedJobs;
use super::overbooking_2008::shortened_duration;

/// Conservative backfilling with shortened durations (Birkenheuer et al. 2008).
pub struct Shortening {
    settings: ShorteningSettings,
    starts_early: bool,
    estimates: Option<Arc<EstimateModel>>,
    plan: NodePlan,
    /// The jobs with an open reservation.
    bookings: BTreeMap<JobId, Booking>,
    disabled: DisabledJobs,
    /// Jobs that go on from what they saved as soon as there is a gap for them, wherever that is.
    displaced: DisplacedJobs,
    hardware: Hardware,
}

/// What the plan holds for one job.
#[derive(Clone, Debug)]
struct Booking {
    nodes: NodeSet,
    /// The earliest planned start: before `start` for a job on top of its predecessors.
    nominal: Seconds,
    /// From here on the nodes are the job's own.
    start: Seconds,
    end: Seconds,
    estimate: Seconds,
    /// d', or the estimate of a job that is not promising or a fixed reservation.
    shortened: Seconds,
}

impl Booking {
    /// How much earlier than planned the job may be taken to end.
    fn overbookable(&self) -> Seconds {
        (self.end - self.nominal)
            .min(self.estimate)
            .max(self.shortened)
            - self.shortened
    }

    fn is_on_predecessors(&self) -> bool {
        self.nominal < self.start
    }
}

impl Shortening {
    /// A policy for a cluster of `nodes` nodes. Without `estimates` nothing is overbooked.
    #[must_use]
    pub fn new(
        nodes: Nodes,
        settings: ShorteningSettings,
        estimates: Option<Arc<EstimateModel>>,
    ) -> Self {
        Self {
            starts_early: settings.early_start != EarlyStart::No,
            estimates,
            plan: NodePlan::new(nodes),
            bookings: BTreeMap::new(),
            disabled: DisabledJobs::new(&settings.recovery, true),
            displaced: DisplacedJobs::default(),
            hardware: Hardware::new(settings.reliability.clone()),
            settings,
        }
    }

    fn forget_before(&mut self, now: Seconds) {
        self.plan.forget_before(now);
        self.bookings.retain(|_, booking| booking.end > now);
    }

    /// Enters the reservations of `job` into the plan, in place of its former ones: its own window,
    /// and for a job on top of its predecessors the lead-in wherever no other job holds its nodes.
    fn enter(&mut self, job: JobId, now: Seconds) {
        while self.plan.remove(job).is_some() {}
        let Some(booking) = self.bookings.get(&job) else {
            return;
        };
        let held = |nodes: NodeSet, start: Seconds, end: Seconds| Reservation {
            job,
            nodes,
            start,
            end,
        };
        let mut reservations = vec![held(booking.nodes.clone(), booking.start, booking.end)];
        if booking.is_on_predecessors() {
            let from = booking.nominal.max(now);
            let mut before: Vec<&Reservation> = self
                .plan
                .reservations()
                .iter()
                .filter(|other| {
                    other.end > from
                        && other.start < booking.start
                        && other.nodes.intersects(&booking.nodes)
                })
                .collect();
            before.sort_by_key(|other| std::cmp::Reverse(other.end));
            let mut free = booking.nodes.clone();
            for other in before {
                let mut freed = free.clone();
                freed.intersect_with(&other.nodes);
                free.subtract(&freed);
                reservations.push(held(freed, other.end, booking.start));
            }
            reservations.push(held(free, from, booking.start));
        }
        for reservation in reservations {
            if reservation.start < reservation.end && !reservation.nodes.is_empty() {
                self.plan.insert(reservation);
            }
        }
    }

    /// Takes a job out of the plan, and lets the jobs that wait on its nodes hold them; returns the
    /// nodes.
    fn release(&mut self, cluster: &Cluster, job: JobId) -> Option<NodeSet> {
        while self.plan.remove(job).is_some() {}
        let nodes = self.bookings.remove(&job)?.nodes;
        self.hold_lead_ins(cluster, &nodes);
        Some(nodes)
    }

    /// Renews the lead-ins of the jobs that wait for some of `touched` on top of their
    /// predecessors.
    fn hold_lead_ins(&mut self, cluster: &Cluster, touched: &NodeSet) {
        let now = cluster.now();
        let waiting: Vec<JobId> = self
            .bookings
            .iter()
            .filter(|(_, booking)| {
                booking.is_on_predecessors()
                    && booking.start > now
                    && booking.nodes.intersects(touched)
            })
            .map(|(&job, _)| job)
            .collect();
        for job in waiting {
            self.enter(job, now);
        }
    }

    /// Whether all nodes of a planned job are idle, and no job that was planned earlier still waits
    /// for one of them.
    fn can_start(&self, cluster: &Cluster, job: JobId, booking: &Booking) -> bool {
        let now = cluster.now();
        now >= cluster.job(job).release
            && (self.starts_early || now >= booking.nominal)
            && booking.nodes.is_subset_of(cluster.idle())
            && !self.bookings.iter().any(|(&other_job, other)| {
                (other.start, other_job) < (booking.start, job)
                    && other.end > now
                    && other.nodes.intersects(&booking.nodes)
                    && cluster.phase(other_job) != Phase::Done
            })
    }

    /// Starts planned jobs whose nodes have become idle before their own window begins, in order of
    /// planned start.
    fn start_waiting(&mut self, cluster: &mut Cluster, freed: &NodeSet) {
        let now = cluster.now();
        let mut waiting: Vec<(Seconds, JobId)> = self
            .bookings
            .iter()
            .filter(|(_, booking)| booking.start > now && booking.nodes.intersects(freed))
            .map(|(&job, booking)| (booking.start, job))
            .filter(|&(_, job)| cluster.phase(job) == Phase::Planned)
            .collect();
        waiting.sort_unstable();
        for (_, job) in waiting {
            if let Some(booking) = self.bookings.get(&job)
                && self.can_start(cluster, job, booking)
            {
                self.start(cluster, job, booking.clone());
            }
        }
    }

    /// Starts a planned job now: in the window that it was promised, or, where nodes are released
    /// early, in the longest one.
    fn start(&mut self, cluster: &mut Cluster, job: JobId, booking: Booking) {
        if self.starts_early {
            self.run(cluster, job, booking.nodes);
        } else {
            cluster.start(job, booking.nodes, booking.end);
        }
    }

    /// Starts `job` now on `nodes`, for as long as estimate, deadline and the next reservation on
    /// these nodes allow.
    fn run(&mut self, cluster: &mut Cluster, job: JobId, nodes: NodeSet) {
        let now = cluster.now();
        let end = latest_end(cluster, &self.plan, job, &nodes);
        let booking = self.book(cluster, job, nodes.clone(), now, now, end);
        self.bookings.insert(job, booking);
        self.enter(job, now);
        self.hold_lead_ins(cluster, &nodes);
        cluster.start(job, nodes, end);
    }

    fn book(
        &self,
        cluster: &Cluster,
        job: JobId,
        nodes: NodeSet,
        nominal: Seconds,
        start: Seconds,
        end: Seconds,
    ) -> Booking {
        let estimate = cluster.to_plan(job).estimate;
        // Statistics of whole jobs say nothing about the rest of a job that goes on.
        let is_new = cluster.saved(job) == Seconds::ZERO;
        let judged = self.judge(cluster, job);
        let shortened = if is_new && judged.promising {
            shortened_duration(estimate, judged.max_pof)
        } else {
            estimate
        };
        Booking {
            nodes,
            nominal,
            start,
            end,
            estimate,
            shortened,
        }
    }

    /// Lets a job without its nodes wait for them, or fail where there is no other start.
    fn disable(&mut self, cluster: &mut Cluster, job: JobId, nodes: NodeSet, cause: Cause) {
        if let Err(nodes) = self.disabled.wait(cluster, job, nodes, cause) {
            self.lose(cluster, job, Some(nodes));
        }
    }
}

impl Policy for Shortening {
    fn arrived(&mut self, cluster: &mut Cluster, id: JobId) {
        self.forget_before(cluster.now());
        let job = cluster.to_plan(id);
        if let Some(window) = job.fixed_window() {
            self.reserve(cluster, &job, window);
            return;
        }
        let judged = self.judge(cluster, id);
        let Some(slot) = self.place(cluster, &job, judged) else {
            cluster.drop(id, Verdict::DroppedNoSlot);
            return;
        };
        if !cluster.offer(id, slot.placement.end) {
            return;
        }
        let overbooked = slot.placement.kind.is_overbooked();
        cluster.promise(
            id,
            Promise {
                start: slot.placement.start,
                end: slot.placement.end,
                overbooked,
                success: None,
                calibrated_pof: None,
                ratios: judged.ratios,
                predecessors: slot.predecessors,
            },
            judged.class.filter(|_| overbooked),
        );
        let nominal = slot.placement.start;
        let booking = self.book(cluster, id, slot.nodes, nominal, slot.anchor, slot.end);
        self.bookings.insert(id, booking);
        self.enter(id, cluster.now());
        cluster.plan(id, nominal);
    }

    fn start_due(&mut self, cluster: &mut Cluster, job: JobId) {
        let Some(booking) = self.bookings.get(&job) else {
            return;
        };
        let booking = booking.clone();
        if cluster.is_reservation(job) {
            self.start_reservation(cluster, job, booking);
        } else if self.can_start(cluster, job, &booking) {
            self.start(cluster, job, booking);
        } else if cluster.now() < booking.start {
            // Its predecessors still run; it is started when they end, at the latest when their
            // time is over.
            cluster.plan(job, booking.start);
        } else {
            self.disable(cluster, job, booking.nodes, Cause::FailedStart);
        }
    }

    fn ended(&mut self, cluster: &mut Cluster, job: JobId) {
        let nodes = if self.starts_early {
            self.release(cluster, job)
        } else {
            self.bookings.get(&job).map(|booking| booking.nodes.clone())
        };
        self.retry_disabled(cluster, Occasion::NodesFreed);
        if let Some(nodes) = nodes {
            self.start_waiting(cluster, &nodes);
        }
    }

    fn stopped(&mut self, cluster: &mut Cluster, job: JobId) {
        let freed = self.release(cluster, job);
        self.retry_disabled(cluster, Occasion::NodesFreed);
        self.wait_for_gap(cluster, job, Recovery::Short);
        if let Some(nodes) = freed {
            self.start_waiting(cluster, &nodes);
        }
    }

    fn checkpointing(&self) -> Option<Checkpointing> {
        let settings = &self.settings;
        settings.recovery.checkpointing(&settings.reliability)
    }

    fn penalty(&self) -> Option<PenaltySettings> {
        self.settings.penalty.clone()
    }

    fn node_failed(&mut self, cluster: &mut Cluster, _node: NodeIndex, victim: Option<JobId>) {
        if let Some(job) = victim
            && let Some(nodes) = cluster.nodes_of(job).cloned()
        {
            if cluster.is_reservation(job) {
                self.lose(cluster, job, Some(nodes));
            } else if cluster.checkpoints_of(job).is_some() {
                self.displace(cluster, job, nodes);
            } else {
                self.disable(cluster, job, nodes, Cause::Crash);
            }
        }
    }

    fn node_repaired(&mut self, cluster: &mut Cluster, node: NodeIndex) {
        self.retry_disabled(cluster, Occasion::Repair);
        let mut back = NodeSet::empty(cluster.nodes());
        back.insert(node);
        self.start_waiting(cluster, &back);
    }

    fn give_up_due(&mut self, cluster: &mut Cluster, job: JobId) {
        let bound = self.disabled.remove(job);
        self.displaced.remove(job);
        self.lose(cluster, job, bound);
    }

    fn settled(&mut self, cluster: &mut Cluster) {
        if self.disabled.have_one_without_deadline() {
            self.retry_disabled(cluster, Occasion::NodesFreed);
            self.disabled.wake_at_release(cluster, &self.plan);
        }
    }

    fn longer_wished(&mut self, cluster: &mut Cluster, job: JobId, until: Seconds) {
        self.lengthen(cluster, job, until);
    }

    fn cancelled(&mut self, cluster: &mut Cluster, job: JobId) {
        self.disabled.remove(job);
        self.displaced.remove(job);
        let held = self.release(cluster, job);
        cluster.withdraw(job);
        self.retry_disabled(cluster, Occasion::NodesFreed);
        if let Some(nodes) = held {
            self.start_waiting(cluster, &nodes);
        }
    }

    fn window_seller(&mut self) -> Option<&mut dyn WindowSeller> {
        Some(self)
    }
}

impl WindowSeller for Shortening {
    fn quote_window(
        &mut self,
        cluster: &Cluster,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> Option<WindowQuote> {
        let usable = Some((cluster.now(), cluster.up()));
        let (_, nodes) = (self.plan).first_full(&[start], nodes, end - start, usable)?;
        let exposure = Exposure::within(start, end);
        let success = self.hardware.window_on(&nodes, &exposure, 1.0);
        Some(WindowQuote::free(success, self.settings.test_full_length))
    }
}

#[cfg(test)]
mod tests;
