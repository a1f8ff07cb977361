//! The running jobs of the machine, and what each user, account and quality holds.

use std::collections::HashMap;
use std::sync::Arc;

use bookahead_core::kernel::Agenda;
use bookahead_core::units::{Nodes, Seconds};

use super::description::{MachineQueueJob, QueueMachine};
use super::limits::{LimitBook, Scopes};
use super::nodes::NodePool;
use super::priority::Priorities;
use super::queue::Details;
use super::shapes::{Kinds, Shape};
use super::{Announcement, MachineQueueOutcome, Refusal};

/// What is followed by a pass.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// Of the job at this place in the order of submission.
    End(usize),
    WindowEnd,
    /// Of the next job.
    Submission,
    /// Nothing: a pass is due.
    Pass,
}

impl Event {
    /// Which events of a second come first.
    pub(super) fn class(self) -> u8 {
        match self {
            Self::End(_) => 0,
            Self::WindowEnd => 1,
            Self::Submission => 2,
            Self::Pass => 3,
        }
    }
}

#[derive(Debug)]
struct Running {
    shape: Shape,
    nodes: Vec<usize>,
    holder: usize,
    scopes: Scopes,
    rate: f64,
}

/// The machine with what runs on it.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) machine: Arc<QueueMachine>,
    pub(super) pool: NodePool,
    pub(super) limits: LimitBook,
    pub(super) priorities: Priorities,
    pub(super) kinds: Kinds,
    pub(super) events: Agenda<Event>,
    running: HashMap<usize, Running>,
    /// Of each job: its first reservation.
    announced: Vec<Option<Announcement>>,
    /// Of each partition: how many jobs wait that never had a reservation.
    unannounced: Vec<usize>,
    pub(super) outcomes: Vec<MachineQueueOutcome>,
    /// Which nodes each job had, for tests.
    #[cfg(test)]
    pub(super) held: Vec<Vec<usize>>,
}

impl Site {
    /// An empty machine. Use is shared among the users of `jobs`.
    pub(super) fn new(machine: &Arc<QueueMachine>, jobs: &[MachineQueueJob]) -> Self {
        Self {
            machine: Arc::clone(machine),
            pool: NodePool::new(machine),
            limits: LimitBook::default(),
            priorities: Priorities::new(machine, jobs),
            kinds: Kinds::default(),
            events: Agenda::default(),
            running: HashMap::new(),
            announced: Vec::new(),
            unannounced: vec![0; machine.partitions.len()],
            outcomes: Vec::new(),
            #[cfg(test)]
            held: Vec::new(),
        }
    }

    /// Whether cores are free for some job that waits, whatever else is in its way.
    pub(super) fn may_start_any(&self) -> bool {
        let mut awaited = self.kinds.awaited();
        awaited.any(|shape| self.pool.has_cores(shape))
    }

    /// Whether nothing runs.
    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Takes in the next job in the order of submission, or refuses it.
    pub(super) fn submit(&mut self, job: &MachineQueueJob) -> Option<Details> {
        let admitted = self.admit(job);
        // Until it starts.
        let refusal = admitted.as_ref().err().copied();
        let refusal = refusal.unwrap_or(Refusal::NeverFits);
        self.outcomes.push(MachineQueueOutcome::Refused(refusal));
        self.announced.push(None);
        #[cfg(test)]
        self.held.push(Vec::new());
        let waiting = admitted.ok()?;
        self.limits.submitted(&waiting.scopes);
        self.kinds.waits(waiting.kind);
        self.unannounced[waiting.partition] += 1;
        Some(waiting)
    }

    fn admit(&mut self, job: &MachineQueueJob) -> Result<Details, Refusal> {
        let machine = &*self.machine;
        let request = job.request.max(Seconds(1));
        let partition = &machine.partitions[job.partition.0];
        let quality = &machine.qualities[job.quality.0];
        let longest = [partition.longest, quality.longest];
        if longest.into_iter().flatten().any(|most| request > most) {
            return Err(Refusal::TooLong);
        }
        let kind = self.kinds.of(machine, job)?;
        let scopes = self.limits.scopes(machine, job);
        let mut shapes = self.kinds.get(kind).shapes.iter();
        if !shapes.any(|shape| self.limits.ever_allow(&scopes, shape)) {
            return Err(Refusal::NeverFits);
        }
        if !self.limits.allow_submission(&scopes) {
            return Err(Refusal::TooManySubmitted);
        }
        let mut windows = machine.windows.iter();
        Ok(Details {
            job: self.outcomes.len(),
            kind,
            nodes: Nodes(self.kinds.get(kind).shapes[0].nodes),
            partition: job.partition.0,
            tier: partition.tier,
            submit: job.submit,
            request,
            runtime: job.runtime.clamp(Seconds(1), request),
            usage_factor: quality.usage_factor,
            user: job.user,
            has_windows: windows.any(|window| window.users.contains(&job.user)),
            holder: self.priorities.holder_of(job),
            scopes,
            fixed_priority: self.priorities.fixed_part(machine, job),
        })
    }

    /// Whether a waiting job had a reservation already.
    pub(super) fn is_announced(&self, job: usize) -> bool {
        self.announced[job].is_some()
    }

    /// Of each partition: how many jobs wait that never had a reservation.
    pub(super) fn unannounced(&self) -> &[usize] {
        &self.unannounced
    }

    /// Keeps the first start that was reserved for a waiting job.
    pub(super) fn announce(&mut self, waiting: &Details, announcement: Announcement) {
        let announced = &mut self.announced[waiting.job];
        if announced.is_none() {
            *announced = Some(announcement);
            self.unannounced[waiting.partition] -= 1;
        }
    }

    /// Starts a job on these nodes.
    pub(super) fn start(
        &mut self,
        waiting: &Details,
        shape: Shape,
        nodes: Vec<usize>,
        now: Seconds,
    ) {
        let index = waiting.job;
        let topology = &self.machine.topology;
        let crosses = topology.crosses(&nodes);
        let runtime = topology.runtime(waiting.runtime, crosses);
        let end = now + runtime.min(waiting.request);
        let until = now + waiting.request;
        self.pool.hold(&nodes, &shape, until, index);
        self.limits.started(&waiting.scopes, &shape);
        let rate = shape.cores() as f64 * waiting.usage_factor;
        self.priorities.charge(waiting.holder, now, rate);
        self.kinds.started(waiting.kind);
        let event = Event::End(index);
        self.events
            .push_ranked(end, event.class(), index as u64, event);
        let announced = self.announced[index];
        if announced.is_none() {
            self.unannounced[waiting.partition] -= 1;
        }
        self.outcomes[index] = MachineQueueOutcome::Ran {
            start: now,
            end,
            announced,
            crosses,
        };
        #[cfg(test)]
        self.held[index].clone_from(&nodes);
        let running = Running {
            shape,
            nodes,
            holder: waiting.holder,
            scopes: waiting.scopes,
            rate,
        };
        self.running.insert(index, running);
    }

    /// Ends a job now.
    pub(super) fn end(&mut self, job: usize, now: Seconds) {
        if let Some(running) = self.running.remove(&job) {
            self.pool.release(&running.nodes, &running.shape, job);
            self.limits.ended(&running.scopes, &running.shape);
            self.priorities.charge(running.holder, now, -running.rate);
        }
    }
}
