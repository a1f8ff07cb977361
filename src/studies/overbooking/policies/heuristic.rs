//! Heuristic planning and heuristic overbooking: nodes are counted, the plan is rebuilt at every
//! end (Birkenheuer 2012, §3.3.2).
//!
//! The plan is a step function of free nodes. A slot of a job promises time, not nodes: concrete
//! nodes (the lowest-numbered idle ones) are chosen when it starts. After every end, failure and
//! repair each planned job is put back at the earliest place that is no worse than its present one.
//!
//! A fixed reservation is an entry of the profile like any other, from its acceptance until its
//! end. So its window is never overfilled, and slots in front of it end at its start. It is
//! accepted if the profile, which counts the nodes that are down as missing for the configured
//! horizon, has enough nodes free in its whole window. Re-planning leaves it alone, because it
//! already has its earliest allowed start, at full length.
//!
//! A window that is sold over the tails of jobs is an entry of the profile, too, so the count is
//! negative where they overlap. No job is placed there, and jobs that end early fill the gap. The
//! window runs if at its start the profile, with all real ends, has its nodes free in the whole
//! window; otherwise it is lost. Windows over tails that were sold later have to wait for the
//! remaining nodes.

mod best_slot;
mod double_execution;
mod placing;
mod replan;
mod resume;
mod settings;
mod windows;

use std::sync::Arc;

use bookahead_core::estimates::EstimateModel;
use bookahead_core::plan::{Fit, Profile};
use bookahead_core::scheduling::{
    Checkpointing, Cluster, DownHorizon, Exposure, Hardware, JobOutcome, JobQuote, JobQuoter,
    Learned, PenaltySettings, Policy, Promise, Recovery, Retry, SuccessFactors, Verdict,
    WindowQuote, WindowSeller,
};
use bookahead_core::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use self::best_slot::best_slot;
pub use self::settings::HeuristicSettings;

/// Heuristic planning, or heuristic overbooking.
pub struct Heuristic {
    settings: HeuristicSettings,
    overbooks: bool,
    after_crash: Recovery,
    after_failed_start: Recovery,
    learned: Learned,
    hardware: Hardware,
    /// Size of the cluster.
    nodes: Nodes,
    profile: Profile,
    /// Sorted by (start, job).
    planned: Vec<Slot>,
    running: Vec<Slot>,
    /// Accepted jobs without a slot, in order of job id.
    waiting: Vec<Waiting>,
    /// Windows over tails that have not started, in the order in which they were sold.
    oversold: Vec<JobId>,
    down: u32,
    /// Until when the profile counts `down` nodes as missing.
    down_until: Seconds,
}

/// A job's place in the plan, with what planning needs to know of the job.
#[derive(Clone, Copy, Debug)]
struct Slot {
    job: JobId,
    nodes: u32,
    estimate: Seconds,
    /// How long it may hold its nodes: its estimate, or more for an underestimator.
    longest: Seconds,
    release: Seconds,
    deadline: Seconds,
    start: Seconds,
    end: Seconds,
}

/// An accepted job that has no slot: the one that it lost, and what it needs to get another.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    slot: Slot,
    recovery: Recovery,
}

impl Slot {
    /// The slot of a job that was promised one.
    fn of(cluster: &Cluster, job: &Job, start: Seconds, end: Seconds) -> Self {
        Self {
            job: job.id,
            nodes: job.nodes.0,
            estimate: job.estimate,
            longest: cluster.longest_run(job.id),
            release: job.release,
            deadline: job.deadline,
            start,
            end,
        }
    }

    fn is_full(&self) -> bool {
        self.end - self.start >= self.longest
    }
}

impl Heuristic {
    /// Heuristic planning on a cluster of `nodes` nodes: full estimates.
    #[must_use]
    pub fn planning(nodes: Nodes, settings: HeuristicSettings) -> Self {
        Self::new(nodes, settings, false, None)
    }

    /// Heuristic overbooking on a cluster of `nodes` nodes. Without `estimates` nothing is
    /// overbooked.
    #[must_use]
    pub fn overbooking(
        nodes: Nodes,
        settings: HeuristicSettings,
        estimates: Option<Arc<EstimateModel>>,
    ) -> Self {
        Self::new(nodes, settings, true, estimates)
    }

    /// The same, which knows how users estimate: that tells who underestimates.
    #[must_use]
    pub fn with_statistics(mut self, estimates: Option<Arc<EstimateModel>>) -> Self {
        self.learned = Learned::new(&self.settings.promises, estimates);
        self
    }

    fn new(
        nodes: Nodes,
        settings: HeuristicSettings,
        overbooks: bool,
        estimates: Option<Arc<EstimateModel>>,
    ) -> Self {
        Self {
            overbooks,
            after_crash: settings.recovery.after_crash(overbooks),
            after_failed_start: settings.recovery.after_failed_start(overbooks),
            hardware: Hardware::new(settings.reliability.clone()),
            learned: Learned::new(&settings.promises, estimates),
            settings,
            nodes,
            profile: Profile::new(nodes.0, Seconds::ZERO),
            planned: Vec::new(),
            running: Vec::new(),
            waiting: Vec::new(),
            oversold: Vec::new(),
            down: 0,
            down_until: Seconds::ZERO,
        }
    }

    /// Brings the profile to now: forgets the past, and counts the nodes that are down as missing
    /// for the configured horizon.
    fn refresh(&mut self, now: Seconds, down: u32) {
        self.profile.forget_before(now);
        if self.down > 0 {
            self.profile.release(now, self.down_until, self.down);
        }
        self.down = down;
        self.down_until = self.horizon(now);
        if down > 0 {
            self.profile.reserve(now, self.down_until, down);
        }
    }

    /// Until when nodes that are down at `now` are expected to stay down.
    fn horizon(&self, now: Seconds) -> Seconds {
        match self.settings.down_horizon {
            DownHorizon::Mttr => now + self.hardware.mean_time_to_repair(),
            DownHorizon::Forever => Seconds::FAR,
            DownHorizon::None => now,
        }
    }

    fn refresh_for(&mut self, cluster: &Cluster) {
        let down = cluster.nodes().0 - cluster.up().count().0;
        self.refresh(cluster.now(), down);
    }

    /// The span, in which a job takes so many nodes that are free in the plan.
    fn exposure(&self, nodes: Nodes, (start, end): (Seconds, Seconds)) -> Exposure {
        let load = || (self.profile).load(start, end, self.nodes, nodes);
        self.hardware.exposure((start, end), load)
    }

    /// The factors of the PoS of so many nodes, which are free in the plan, in a window which is
    /// long enough with the probability `room`.
    fn window(&self, nodes: Nodes, window: (Seconds, Seconds), room: f64) -> SuccessFactors {
        let exposure = self.exposure(nodes, window);
        self.hardware.window(nodes, &exposure, room)
    }

    /// Tries to give every accepted job without a slot a new one.
    fn retry_waiting(&mut self, cluster: &mut Cluster) {
        let now = cluster.now();
        let mut index = 0;
        while index < self.waiting.len() {
            let waiting = self.waiting[index];
            match self.slot_for_restart(cluster, &waiting, now) {
                Some((start, end)) => {
                    self.waiting.remove(index);
                    let slot = waiting.slot;
                    self.enter(cluster, Slot { start, end, ..slot });
                }
                None => index += 1,
            }
        }
    }

    fn slot_for_restart(
        &self,
        cluster: &mut Cluster,
        waiting: &Waiting,
        now: Seconds,
    ) -> Option<(Seconds, Seconds)> {
        let slot = &waiting.slot;
        let from = now.max(slot.release);
        if waiting.recovery == Recovery::Short && cluster.checkpoints_of(slot.job).is_some() {
            return self.slot_for_rest(cluster, slot, from);
        }
        if waiting.recovery == Recovery::Short {
            return best_slot(&self.profile, slot, from, slot.deadline - Seconds(1));
        }
        // The estimate is what the job was promised, more time is a courtesy.
        [slot.longest, slot.estimate]
            .into_iter()
            .find_map(|length| {
                let start = self.profile.earliest_fit(Fit {
                    from,
                    latest: slot.deadline - length,
                    nodes: slot.nodes,
                    duration: length,
                    own_start: None,
                })?;
                Some((start, start + length))
            })
    }

    fn enter(&mut self, cluster: &mut Cluster, slot: Slot) {
        self.profile.reserve(slot.start, slot.end, slot.nodes);
        let place = self
            .planned
            .partition_point(|other| (other.start, other.job) < (slot.start, slot.job));
        self.planned.insert(place, slot);
        cluster.plan(slot.job, slot.start);
    }

    /// Lets an accepted job that lost its slot wait for another one, or fail where there is none: a
    /// fixed reservation has no other.
    fn disable(&mut self, cluster: &mut Cluster, slot: Slot, recovery: Recovery) {
        if recovery == Recovery::None || cluster.is_reservation(slot.job) {
            cluster.fail(slot.job);
            return;
        }
        let give_up = recovery.give_up(cluster.now(), slot.estimate, slot.deadline);
        cluster.disable(slot.job, give_up);
        let place = self
            .waiting
            .partition_point(|other| other.slot.job < slot.job);
        self.waiting.insert(place, Waiting { slot, recovery });
    }
}

impl Policy for Heuristic {
    fn arrived(&mut self, cluster: &mut Cluster, id: JobId) {
        let job = cluster.to_plan(id);
        self.learned.submitted(&job);
        self.refresh_for(cluster);
        if let Some((start, end)) = job.fixed_window() {
            if self.profile.min_free(start, end) >= job.nodes.0 as i32 {
                cluster.promise_reservation(id);
                let slot = Slot::of(cluster, &job, start, end);
                self.enter(cluster, slot);
            } else {
                cluster.drop(id, Verdict::DroppedNoSlot);
            }
            return;
        }
        let (chosen, own) = self.place(cluster, &job);
        let Some(slot) = chosen else {
            cluster.drop(id, Verdict::DroppedNoSlot);
            return;
        };
        if !cluster.offer(id, slot.end) {
            return;
        }
        let own = own.or_else(|| self.own_ratios(cluster.job(id)));
        cluster.promise(
            id,
            Promise {
                start: slot.start,
                end: slot.end,
                overbooked: slot.overbooked,
                success: slot.success.filter(|_| slot.overbooked),
                calibrated_pof: self
                    .learned
                    .calibrated(slot.success.as_ref().filter(|_| slot.overbooked)),
                ratios: own
                    .as_ref()
                    .map(|(_, distribution)| Learned::range(distribution)),
                predecessors: 0,
            },
            own.map(|(class, _)| class).filter(|_| slot.overbooked),
        );
        let deadline = cluster.latest_end(id);
        let booked = Slot::of(cluster, &job, slot.start, slot.end);
        let booked = Slot { deadline, ..booked };
        self.enter(cluster, booked);
        if slot.doubled {
            self.enter_copy(cluster, booked);
        }
    }

    fn start_due(&mut self, cluster: &mut Cluster, job: JobId) {
        let Some(place) = self.planned.iter().position(|slot| slot.job == job) else {
            return;
        };
        let slot = self.planned.remove(place);
        if self.oversold.contains(&job) && !self.has_room(cluster, &slot) {
            self.lose_window(cluster, &slot);
            return;
        }
        if let Some(nodes) = cluster.idle().lowest(Nodes(slot.nodes)) {
            cluster.start(job, nodes, slot.end);
            self.running.push(slot);
        } else {
            self.refresh_for(cluster);
            self.profile.release(cluster.now(), slot.end, slot.nodes);
            if !self.goes_on_elsewhere(cluster, job) {
                self.disable(cluster, slot, self.after_failed_start);
            }
            // A plan that is blind to outages would offer the same impossible start again, at this
            // very instant.
            let is_blind = self.down > 0 && self.down_until <= cluster.now();
            if self.settings.recovery.retry == Retry::Events && !is_blind {
                self.retry_waiting(cluster);
            }
            if self.settings.replan_failed_start {
                self.compress(cluster);
            }
        }
    }

    fn ended(&mut self, cluster: &mut Cluster, job: JobId) {
        self.refresh_for(cluster);
        self.free_all(cluster, job);
        self.replan(cluster);
    }

    fn stopped(&mut self, cluster: &mut Cluster, job: JobId) {
        self.refresh_for(cluster);
        if self.goes_on_elsewhere(cluster, job) {
            self.replan(cluster);
            return;
        }
        self.displace(cluster, job, Recovery::Short);
        self.retry_waiting(cluster);
        self.compress(cluster);
    }

    fn checkpointing(&self) -> Option<Checkpointing> {
        let settings = &self.settings;
        settings.recovery.checkpointing(&settings.reliability)
    }

    fn penalty(&self) -> Option<PenaltySettings> {
        self.settings.penalty.clone()
    }

    fn node_failed(&mut self, cluster: &mut Cluster, node: NodeIndex, victim: Option<JobId>) {
        self.nodes_failed(cluster, &[(node, victim)]);
    }

    fn node_repaired(&mut self, cluster: &mut Cluster, node: NodeIndex) {
        self.nodes_repaired(cluster, &[node]);
    }

    fn nodes_failed(&mut self, cluster: &mut Cluster, failed: &[(NodeIndex, Option<JobId>)]) {
        self.refresh_for(cluster);
        for job in failed.iter().filter_map(|&(_, victim)| victim) {
            if !self.goes_on_elsewhere(cluster, job) {
                self.displace(cluster, job, self.after_crash);
            }
        }
        self.replan(cluster);
    }

    fn nodes_repaired(&mut self, cluster: &mut Cluster, _repaired: &[NodeIndex]) {
        self.refresh_for(cluster);
        self.retry_waiting(cluster);
        self.compress(cluster);
    }

    fn longer_wished(&mut self, cluster: &mut Cluster, job: JobId, until: Seconds) {
        self.lengthen(cluster, job, until);
    }

    fn cancelled(&mut self, cluster: &mut Cluster, job: JobId) {
        self.withdraw(cluster, job);
    }

    fn decided(&mut self, outcome: &JobOutcome) {
        self.learned.decided(outcome);
    }

    fn learned(&mut self) -> Option<&mut Learned> {
        Some(&mut self.learned)
    }

    fn give_up_due(&mut self, cluster: &mut Cluster, job: JobId) {
        self.waiting.retain(|waiting| waiting.slot.job != job);
        cluster.fail(job);
    }

    fn window_seller(&mut self) -> Option<&mut dyn WindowSeller> {
        Some(self)
    }

    fn job_quoter(&mut self) -> Option<&mut dyn JobQuoter> {
        Some(self)
    }
}

impl WindowSeller for Heuristic {
    fn quote_window(
        &mut self,
        cluster: &Cluster,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> Option<WindowQuote> {
        self.quote(cluster, nodes, start, end)
    }

    fn admit_window(&mut self, cluster: &mut Cluster, job: JobId, free: bool) {
        self.admit(cluster, job, free);
    }
}

impl JobQuoter for Heuristic {
    fn quote_job(&mut self, cluster: &mut Cluster, job: &Job) -> Option<JobQuote> {
        self.refresh_for(cluster);
        let slot = self.place(cluster, job).0?;
        let success = slot
            .success
            .unwrap_or_else(|| self.window(job.nodes, (slot.start, slot.end), 1.0));
        Some(
            self.learned
                .quote(slot.start, slot.end, slot.overbooked, &success),
        )
    }

    fn quote_rest(&mut self, cluster: &mut Cluster, job: JobId) -> Option<JobQuote> {
        self.promised_rest(cluster, job)
    }

    fn booked(&self, cluster: &Cluster, until: Seconds) -> NodeSeconds {
        let slots = self.running.iter().chain(&self.planned);
        let spans = slots.map(|slot| (Nodes(slot.nodes), slot.start, slot.end));
        NodeSeconds::within(cluster.now(), until, spans)
    }
}
