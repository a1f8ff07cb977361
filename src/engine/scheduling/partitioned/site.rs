//! What runs on the machine, and what everybody holds of it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::description::{PartitionedJob, PartitionedMachine};
use super::limits::{LimitBook, Scopes};
use super::nodes::NodePool;
use super::priority::Priorities;
use super::queue::Details;
use super::shapes::{Kinds, Shape};
use super::{Announcement, PartitionedOutcome, Refusal};
use crate::units::Seconds;

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
pub(super) struct Site<'a> {
    machine: &'a PartitionedMachine,
    jobs: &'a [PartitionedJob],
    pub(super) pool: NodePool,
    pub(super) limits: LimitBook,
    pub(super) priorities: Priorities,
    pub(super) kinds: Kinds,
    ends: BinaryHeap<Reverse<(Seconds, usize)>>,
    running: HashMap<usize, Running>,
    /// Of each job: its first reservation.
    announced: Vec<Option<Announcement>>,
    /// Of each partition: how many jobs wait that never had a reservation.
    unannounced: Vec<usize>,
    pub(super) outcomes: Vec<PartitionedOutcome>,
    /// Which nodes each job had, for tests.
    #[cfg(test)]
    pub(super) held: Vec<Vec<usize>>,
}

impl<'a> Site<'a> {
    /// An empty machine.
    pub(super) fn new(machine: &'a PartitionedMachine, jobs: &'a [PartitionedJob]) -> Self {
        Self {
            machine,
            jobs,
            pool: NodePool::new(machine),
            limits: LimitBook::default(),
            priorities: Priorities::new(machine, jobs),
            kinds: Kinds::default(),
            ends: BinaryHeap::new(),
            running: HashMap::new(),
            announced: vec![None; jobs.len()],
            unannounced: vec![0; machine.partitions.len()],
            outcomes: vec![PartitionedOutcome::Refused(Refusal::NeverFits); jobs.len()],
            #[cfg(test)]
            held: vec![Vec::new(); jobs.len()],
        }
    }

    /// Whether cores are free for some job that waits, whatever else is in its way.
    pub(super) fn may_start_any(&self) -> bool {
        let mut awaited = self.kinds.awaited();
        awaited.any(|shape| self.pool.has_cores(shape))
    }

    /// When the next job ends.
    pub(super) fn next_end(&self) -> Option<Seconds> {
        self.ends.peek().map(|end| end.0.0)
    }

    /// Takes in the job at a place of the order of submission, or refuses it.
    pub(super) fn submit(&mut self, job: usize) -> Option<Details> {
        match self.admit(job) {
            Ok(waiting) => {
                self.limits.submitted(&waiting.scopes);
                self.kinds.waits(waiting.kind);
                self.unannounced[waiting.partition] += 1;
                Some(waiting)
            }
            Err(refusal) => {
                self.outcomes[job] = PartitionedOutcome::Refused(refusal);
                None
            }
        }
    }

    fn admit(&mut self, index: usize) -> Result<Details, Refusal> {
        let (machine, job) = (self.machine, &self.jobs[index]);
        let request = job.request.max(Seconds(1));
        let partition = &machine.partitions[job.partition.0];
        let longest = [partition.longest, machine.qualities[job.quality.0].longest];
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
            job: index,
            kind,
            partition: job.partition.0,
            tier: partition.tier,
            submit: job.submit,
            request,
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
        let job = &self.jobs[index];
        let end = now + job.runtime.clamp(Seconds(1), waiting.request);
        let until = now + waiting.request;
        self.pool.hold(&nodes, &shape, until, index);
        self.limits.started(&waiting.scopes, &shape);
        let factor = self.machine.qualities[job.quality.0].usage_factor;
        let rate = shape.cores() as f64 * factor;
        self.priorities.charge(waiting.holder, now, rate);
        self.kinds.started(waiting.kind);
        self.ends.push(Reverse((end, index)));
        let announced = self.announced[index];
        if announced.is_none() {
            self.unannounced[waiting.partition] -= 1;
        }
        self.outcomes[index] = PartitionedOutcome::Ran {
            start: now,
            end,
            announced,
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

    /// Ends all jobs whose time is up.
    pub(super) fn end_until(&mut self, now: Seconds) {
        while let Some(&Reverse((end, index))) = self.ends.peek()
            && end <= now
        {
            self.ends.pop();
            let Some(running) = self.running.remove(&index) else {
                continue;
            };
            self.pool.release(&running.nodes, &running.shape, index);
            self.limits.ended(&running.scopes, &running.shape);
            self.priorities.charge(running.holder, now, -running.rate);
        }
    }
}
