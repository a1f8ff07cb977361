//! Conservative backfilling and comprehensive overbooking: every job is bound to concrete nodes at
//! its submission (Birkenheuer 2012, §3.3.1).
//!
//! Conservative backfilling books full estimates and keeps each reservation until its planned end.
//! Comprehensive overbooking also books gaps that are too short, when the completion-time
//! distributions of the predecessors and the job's own runtime distribution promise success often
//! enough; it releases nodes at the real end and starts the next jobs on them early.
//!
//! A fixed reservation is bound to the lowest-numbered nodes that are free in its whole window.
//! Reservations in the plan never overlap, and jobs are killed at the end of theirs. So the jobs in
//! front of it have certainly left its nodes at its start, and their distributions are not needed.
//! Jobs that run early in front of it get a window that ends at its start. For the jobs behind it,
//! it is a predecessor that certainly holds its nodes until its window ends: an early end is used
//! when it comes, but not counted on (Birkenheuer 2008, §3.1.2: no predecessor may be a fixed
//! reservation). If some of its nodes are missing at its start, it may take others that are idle
//! and unplanned in its window, because it cannot wait for its own as other jobs can.
//!
//! Planning in shelves is conservative backfilling with other places for new jobs (`shelves`).

mod completions;
mod double_execution;
mod entering;
mod fixed;
mod lending;
mod likely;
mod placing;
mod resume;
mod settings;
mod shelves;
mod windows;

use std::sync::Arc;

use bookahead_core::estimates::{EstimateModel, RatioRange, RuntimeSteps};
use bookahead_core::plan::{NodePlan, NodeSet, Reservation, ShelfRule};
use bookahead_core::scheduling::{
    Checkpointing, Cluster, EarlyStart, Exposure, Hardware, JobOutcome, JobQuote, JobQuoter,
    Learned, NodeLender, OverlapRule, PenaltySettings, Phase, Policy, Promise, Recovery,
    SuccessFactors, Verdict, WindowQuote, WindowSeller,
};
use bookahead_core::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use self::completions::Completions;
use self::placing::Candidate;
pub use self::settings::ComprehensiveSettings;
use self::shelves::Shelves;
use super::disabled::{Cause, DisabledJobs, Occasion, latest_end};
use super::displaced::DisplacedJobs;

/// Conservative backfilling, the same in shelves, or comprehensive overbooking.
pub struct Comprehensive {
    settings: ComprehensiveSettings,
    overbooks: bool,
    releases_early: bool,
    /// Whether jobs are planned on top of their predecessors.
    overlaps: bool,
    learned: Learned,
    hardware: Hardware,
    plan: NodePlan,
    /// Completion-time distributions of the jobs with an open reservation.
    completions: Completions,
    disabled: DisabledJobs,
    /// How many absences of nodes stand in the plan.
    absences: u32,
    /// Jobs that go on from what they saved as soon as there is a gap for them, wherever that is.
    displaced: DisplacedJobs,
    /// The shelves of new jobs; `None` where they may be anywhere.
    shelves: Option<Shelves>,
}

/// A job's own runtime distribution, looked up once a submission.
#[derive(Clone)]
struct OwnRuntime {
    class: u16,
    ratios: RatioRange,
    steps: RuntimeSteps,
}

impl Comprehensive {
    /// Conservative backfilling on a cluster of `nodes` nodes: full estimates.
    #[must_use]
    pub fn backfilling(nodes: Nodes, settings: ComprehensiveSettings) -> Self {
        Self::new(nodes, settings, false, None)
    }

    /// Planning in shelves on a cluster of `nodes` nodes: full estimates, side by side with others
    /// that are about as long.
    #[must_use]
    pub fn in_shelves(nodes: Nodes, settings: ComprehensiveSettings, rule: ShelfRule) -> Self {
        Self {
            shelves: Some(Shelves::new(rule)),
            ..Self::backfilling(nodes, settings)
        }
    }

    /// Comprehensive overbooking on a cluster of `nodes` nodes. Without `estimates` nothing is
    /// overbooked.
    #[must_use]
    pub fn overbooking(
        nodes: Nodes,
        settings: ComprehensiveSettings,
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
        settings: ComprehensiveSettings,
        overbooks: bool,
        estimates: Option<Arc<EstimateModel>>,
    ) -> Self {
        let releases_early = match settings.early_start {
            EarlyStart::Strategy => overbooks,
            EarlyStart::Yes => true,
            EarlyStart::No => false,
        };
        Self {
            overbooks,
            releases_early,
            overlaps: overbooks && releases_early && settings.overlap == OverlapRule::Predecessors,
            hardware: Hardware::new(settings.reliability.clone()),
            learned: Learned::new(&settings.promises, estimates),
            plan: NodePlan::new(nodes),
            completions: Completions::new(settings.convolution),
            absences: 0,
            disabled: DisabledJobs::new(&settings.recovery, overbooks),
            displaced: DisplacedJobs::default(),
            shelves: None,
            settings,
        }
    }

    fn refresh(&mut self, now: Seconds) {
        self.plan.forget_before(now);
        if let Some(shelves) = &mut self.shelves {
            shelves.forget_before(now);
        }
        // Completions of jobs that have left the plan are not needed: they may stay for a while.
        if self.completions.len() > 2 * self.plan.reservations().len() + 64 {
            let (plan, disabled) = (&self.plan, &self.disabled);
            self.completions
                .retain(|job| disabled.contains(job) || plan.reservation(job).is_some());
        }
    }

    /// The span, in which a job takes so many nodes that are free in the plan.
    fn exposure(&self, nodes: Nodes, (start, end): (Seconds, Seconds)) -> Exposure {
        let load = || (self.plan.counted()).load(start, end, self.plan.nodes(), nodes);
        self.hardware.exposure((start, end), load)
    }

    /// The factors of the PoS of these nodes, which are free in the plan, in a window which is long
    /// enough with the probability `room`.
    fn window_on(&self, nodes: &NodeSet, window: (Seconds, Seconds), room: f64) -> SuccessFactors {
        let exposure = self.exposure(nodes.count(), window);
        self.hardware.window_on(nodes, &exposure, room)
    }

    /// The job's own runtime distribution; `None` for strategies that do not overbook.
    fn own_runtime(&self, cluster: &Cluster, job: &Job) -> Option<OwnRuntime> {
        if !self.overbooks {
            return None;
        }
        let (class, distribution) = self.learned.lookup(cluster.as_submitted(job))?;
        let steps = cluster.runtime_steps(job, &distribution, self.settings.time_step);
        Some(OwnRuntime {
            class,
            ratios: Learned::range(&distribution),
            steps,
        })
    }

    /// Starts planned jobs whose nodes have become free, in order of planned start (docs/model.md,
    /// "comprehensive-overbooking").
    fn start_early(&mut self, cluster: &mut Cluster, freed: &NodeSet) {
        if !self.releases_early {
            return;
        }
        let now = cluster.now();
        let waiting: Vec<JobId> = self
            .plan
            .reservations()
            .iter()
            .filter(|reservation| reservation.start > now && reservation.nodes.intersects(freed))
            .map(|reservation| reservation.job)
            .filter(|&job| cluster.phase(job) == Phase::Planned)
            .collect();
        for job in waiting {
            let Some(reservation) = self.plan.reservation(job) else {
                continue;
            };
            let is_behind_another = || {
                let mut earlier = (self.plan.reservations().iter())
                    .take_while(|other| other.order() < reservation.order());
                earlier.any(|other| other.end > now && other.nodes.intersects(&reservation.nodes))
            };
            if now >= cluster.job(job).release
                && reservation.nodes.is_subset_of(cluster.idle())
                && !is_behind_another()
            {
                let nodes = reservation.nodes.clone();
                self.run(cluster, job, nodes);
            }
        }
    }

    /// Starts `job` now on `nodes`, for as long as estimate, deadline and the next reservation on
    /// these nodes allow.
    fn run(&mut self, cluster: &mut Cluster, job: JobId, nodes: NodeSet) {
        let now = cluster.now();
        let end = latest_end(cluster, &self.plan, job, &nodes);
        self.plan.remove(job);
        self.plan.insert(Reservation {
            job,
            nodes: nodes.clone(),
            start: now,
            end,
        });
        cluster.start(job, nodes, end);
    }

    /// Lets a job without its nodes wait for them, or fail where there is no other start.
    fn disable(&mut self, cluster: &mut Cluster, job: JobId, nodes: NodeSet, cause: Cause) {
        if let Err(nodes) = self.disabled.wait(cluster, job, nodes, cause) {
            self.lose(cluster, job, &nodes);
        }
    }
}

impl Policy for Comprehensive {
    fn arrived(&mut self, cluster: &mut Cluster, id: JobId) {
        let job = cluster.to_plan(id);
        self.learned.submitted(&job);
        self.refresh(cluster.now());
        if let Some(window) = job.fixed_window() {
            self.reserve(cluster, &job, window);
            return;
        }
        let own = self.own_runtime(cluster, &job);
        let Some(slot) = self.place(cluster, &job, own.as_ref()) else {
            cluster.drop(id, Verdict::DroppedNoSlot);
            return;
        };
        if !cluster.offer(id, slot.end) {
            return;
        }
        let class = own.as_ref().map(|own| own.class);
        let ratios = own.as_ref().map(|own| own.ratios);
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
                ratios,
                predecessors: slot.predecessors.len() as u32,
            },
            class.filter(|_| slot.overbooked),
        );
        if let Some(shelves) = &mut self.shelves {
            shelves.put(id, &slot);
        }
        self.enter(cluster, &job, own, slot);
    }

    fn start_due(&mut self, cluster: &mut Cluster, job: JobId) {
        let Some(reservation) = self.plan.reservation(job) else {
            return;
        };
        let (nodes, end) = (reservation.nodes.clone(), reservation.end);
        let is_fixed = cluster.is_reservation(job);
        // Its predecessors left it no time: its nodes are those of the next job now, if there is
        // one.
        let is_too_late = reservation.is_empty()
            && (self.plan.is_held(&nodes, cluster.now(), job)
                || latest_end(cluster, &self.plan, job, &nodes) <= cluster.now());
        if is_too_late || !nodes.is_subset_of(cluster.idle()) {
            if is_fixed {
                self.start_elsewhere(cluster, reservation.clone());
            } else if !self.goes_on_elsewhere(cluster, job) {
                self.disable(cluster, job, nodes, Cause::FailedStart);
            }
        } else if self.releases_early && !is_fixed {
            self.run(cluster, job, nodes);
        } else {
            cluster.start(job, nodes, end);
        }
    }

    fn ended(&mut self, cluster: &mut Cluster, job: JobId) {
        let other = self.end_other_run(cluster, job);
        if !self.releases_early {
            self.retry_disabled(cluster, Occasion::NodesFreed);
            return;
        }
        let freed = self.plan.remove(job);
        self.completions.remove(job);
        self.retry_disabled(cluster, Occasion::NodesFreed);
        let freed = freed.map(|reservation| reservation.nodes);
        for nodes in freed.into_iter().chain(other) {
            self.start_early(cluster, &nodes);
        }
    }

    fn stopped(&mut self, cluster: &mut Cluster, job: JobId) {
        if self.goes_on_elsewhere(cluster, job) {
            return;
        }
        let freed = self.plan.remove(job);
        self.completions.remove(job);
        self.retry_disabled(cluster, Occasion::NodesFreed);
        self.wait_for_gap(cluster, job, Recovery::Short);
        if let Some(reservation) = freed {
            self.start_early(cluster, &reservation.nodes);
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
            && !self.goes_on_elsewhere(cluster, job)
            && let Some(nodes) = cluster.nodes_of(job).cloned()
        {
            if cluster.is_reservation(job) {
                self.lose(cluster, job, &nodes);
            } else if cluster.checkpoints_of(job).is_some() {
                self.displace(cluster, job, &nodes);
            } else {
                self.disable(cluster, job, nodes, Cause::Crash);
            }
        }
    }

    fn node_repaired(&mut self, cluster: &mut Cluster, node: NodeIndex) {
        self.retry_disabled(cluster, Occasion::Repair);
        let mut back = NodeSet::empty(cluster.nodes());
        back.insert(node);
        self.start_early(cluster, &back);
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
        self.completions.remove(job);
        let freed = self.plan.remove(job);
        if let Some(shelves) = &mut self.shelves {
            shelves.give_back(job);
        }
        let other = self.drop_copy(cluster, job);
        cluster.withdraw(job);
        self.retry_disabled(cluster, Occasion::NodesFreed);
        let freed = freed.map(|reservation| reservation.nodes);
        for nodes in freed.into_iter().chain(other) {
            self.start_early(cluster, &nodes);
        }
    }

    fn decided(&mut self, outcome: &JobOutcome) {
        self.learned.decided(outcome);
    }

    fn learned(&mut self) -> Option<&mut Learned> {
        Some(&mut self.learned)
    }

    fn give_up_due(&mut self, cluster: &mut Cluster, job: JobId) {
        let bound = self.disabled.remove(job);
        self.displaced.remove(job);
        let nodes = bound.unwrap_or_else(|| NodeSet::empty(cluster.nodes()));
        self.lose(cluster, job, &nodes);
    }

    fn window_seller(&mut self) -> Option<&mut dyn WindowSeller> {
        Some(self)
    }

    fn job_quoter(&mut self) -> Option<&mut dyn JobQuoter> {
        Some(self)
    }

    /// None in shelves, which are blocks of nodes that are always there.
    fn node_lender(&mut self) -> Option<&mut dyn NodeLender> {
        match self.shelves {
            Some(_) => None,
            None => Some(self),
        }
    }
}

impl WindowSeller for Comprehensive {
    fn quote_window(
        &mut self,
        cluster: &Cluster,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> Option<WindowQuote> {
        self.quote(cluster, nodes, start, end)
    }
}

impl JobQuoter for Comprehensive {
    fn quote_job(&mut self, cluster: &mut Cluster, job: &Job) -> Option<JobQuote> {
        self.refresh(cluster.now());
        let own = self.own_runtime(cluster, job);
        let slot = self.place(cluster, job, own.as_ref())?;
        let success = slot
            .success
            .unwrap_or_else(|| self.window_on(&slot.nodes, (slot.start, slot.end), 1.0));
        Some(
            self.learned
                .quote(slot.start, slot.end, slot.overbooked, &success),
        )
    }

    fn quote_rest(&mut self, cluster: &mut Cluster, job: JobId) -> Option<JobQuote> {
        self.promised_rest(cluster, job)
    }

    fn booked(&self, cluster: &Cluster, until: Seconds) -> NodeSeconds {
        let reservations = self.plan.reservations().iter();
        let reservations = reservations.filter(|it| !self.is_absence(it.job));
        let spans = reservations.map(|it| (it.nodes.count(), it.start, it.end));
        NodeSeconds::within(cluster.now(), until, spans)
    }
}
