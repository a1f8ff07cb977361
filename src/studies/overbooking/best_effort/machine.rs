//! A cluster whose idle nodes go to jobs without promises.

use bookahead_core::kernel::{Machine, NoService, Step, Stopwatch};
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::scheduling::{
    Allocation, ClusterInput, ClusterMachine, ClusterOutput, SimulationMetrics,
};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::Job;

use super::queue::{BestEffortOutcome, BestEffortQueue, Fate};
use super::settings::BestEffortSettings;

/// A cluster with a policy, and the jobs that run on what it leaves idle: those whose ids are not
/// below a bound. In one instant, everything happens on the cluster first.
pub struct BestEffortMachine {
    cluster: ClusterMachine,
    /// The first id of a job without a promise.
    first_id: u32,
    queue: BestEffortQueue,
    fee_per_node_hour: f64,
    /// When the last of the other jobs so far ended.
    last_end: Seconds,
}

impl BestEffortMachine {
    /// The cluster, which runs the `promised` jobs with the lowest ids, with these settings for the
    /// others.
    #[must_use]
    pub fn new(cluster: ClusterMachine, promised: u32, settings: &BestEffortSettings) -> Self {
        let nodes = cluster.cluster().nodes();
        Self {
            cluster,
            first_id: promised,
            queue: BestEffortQueue::new(nodes, *settings),
            fee_per_node_hour: settings.fee_per_node_hour,
            last_end: Seconds::ZERO,
        }
    }

    /// Records from now on which nodes jobs hold and when:
    /// [`BestEffortMachine::take_allocations`]. Jobs without promises change their nodes while they
    /// run, where others start on those.
    pub fn record_allocations(&mut self) {
        self.cluster.record_allocations();
        self.queue.allocations.get_or_insert_default();
    }

    /// The allocations recorded since the last call.
    pub fn take_allocations(&mut self) -> Vec<Allocation> {
        let mut allocations = self.cluster.take_allocations();
        let others = self.queue.allocations.as_mut().map(std::mem::take);
        allocations.extend(others.unwrap_or_default());
        allocations
    }

    /// The totals of the other jobs, with what these paid and used until the last of the others
    /// ended.
    #[must_use]
    pub fn metrics(&self) -> SimulationMetrics {
        let (kept, lost) = self.held();
        let mut metrics = self.cluster.metrics();
        metrics.fees += self.fees(kept);
        metrics.busy += kept;
        metrics.busy += lost;
        metrics.useful += kept;
        metrics
    }

    /// What jobs without promises did, until the last of the others ended; how long they waited
    /// counts all of them.
    #[must_use]
    pub fn measures(&self) -> Measured {
        let outcomes = self.queue.outcomes();
        let (kept, lost) = self.held();
        let fees = self.fees(kept);
        let promised = self.cluster.metrics();
        let is_done = |outcome: &&BestEffortOutcome| {
            outcome.fate == Fate::Done && outcome.end().is_some_and(|end| end <= self.last_end)
        };
        let done = outcomes.iter().filter(is_done).count() as f64;
        let waits = outcomes.iter().filter_map(|outcome| {
            let wait = outcome.start()? - outcome.job.release;
            Some(wait.hours())
        });
        let (started, waited) =
            waits.fold((0.0, 0.0), |(jobs, sum), wait| (jobs + 1.0, sum + wait));
        let stops: u32 = outcomes.iter().map(|outcome| outcome.stops).sum();
        let jobs = outcomes.len() as f64;
        let mut measured = Measured::default();
        measured.add("best_effort_jobs", jobs);
        measured.add_ratio("best_effort_done_percent", 100.0 * done, jobs);
        measured.add_ratio("best_effort_wait_hours", waited, started);
        measured.add("best_effort_stops", f64::from(stops));
        measured.add("best_effort_node_hours", kept.coins().0);
        measured.add("best_effort_lost_node_hours", lost.coins().0);
        measured.add("best_effort_fees_vc", fees.coins().0);
        measured.add("promised_fees_vc", promised.fees.coins().0);
        measured
    }

    /// What became of each job without a promise, in the order of their ids.
    #[must_use]
    pub fn outcomes(&self) -> Vec<BestEffortOutcome> {
        let mut outcomes = self.queue.outcomes().to_vec();
        outcomes.sort_by_key(|outcome| outcome.job.id);
        outcomes
    }

    /// Node-time that was kept, and that was lost, until the last of the other jobs ended.
    fn held(&self) -> (NodeSeconds, NodeSeconds) {
        let held = self.queue.outcomes().iter();
        held.map(|outcome| outcome.held_until(self.last_end)).fold(
            (NodeSeconds(0), NodeSeconds(0)),
            |(kept, lost), (more, more_lost)| (kept + more, lost + more_lost),
        )
    }

    fn fees(&self, kept: NodeSeconds) -> NodeSeconds {
        NodeSeconds(libm::round(kept.0 as f64 * self.fee_per_node_hour) as i64)
    }

    fn settle(&mut self, now: Seconds) {
        let (cluster, policy) = self.cluster.parts();
        let asks = self.queue.asks_the_plan();
        let fits = |nodes: Nodes, length: Seconds| {
            let mut quote = || {
                let seller = policy.window_seller()?;
                seller.quote_window(cluster, nodes, now, now + length)
            };
            !asks || quote().is_some_and(|quote| quote.free)
        };
        self.queue.settle(now, cluster.up(), cluster.idle(), fits);
    }
}

impl Machine for BestEffortMachine {
    type Input = ClusterInput;
    type Output = ClusterOutput;
    type Service = NoService;

    fn take(&mut self, mut input: ClusterInput) {
        let is_other = |job: &mut Job| job.id.0 >= self.first_id;
        for job in input.arrivals.extract_if(.., is_other) {
            self.queue.submit(job);
        }
        Machine::take(&mut self.cluster, input);
    }

    fn advance(&mut self, until: Seconds) -> Step<NoService> {
        while let Some(now) = self.next_event().filter(|now| *now < until) {
            self.cluster.advance(now + Seconds(1));
            self.settle(now);
        }
        Step::Reached(until)
    }

    fn next_event(&self) -> Option<Seconds> {
        let events = [self.cluster.next_event(), self.queue.next_event()];
        events.into_iter().flatten().min()
    }

    fn is_idle(&self) -> bool {
        self.cluster.is_idle() && self.queue.is_empty()
    }

    fn hand_out(&mut self) -> ClusterOutput {
        let output = self.cluster.hand_out();
        let ends = output.outcomes.iter().filter_map(|outcome| outcome.end);
        self.last_end = ends.fold(self.last_end, Seconds::max);
        output
    }

    fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.cluster.time_decisions(stopwatch);
    }
}
