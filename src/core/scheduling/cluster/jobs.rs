//! The cluster's records of jobs without a final outcome.

use std::collections::{BTreeMap, VecDeque};

use super::progress::Progress;
use crate::plan::NodeSet;
use crate::scheduling::checkpoint::Checkpointing;
use crate::scheduling::outcome::{JobOutcome, Promise, Verdict};
use crate::units::{NodeSeconds, Seconds};
use crate::workload::{Job, JobId};

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not yet decided about.
    Incoming,
    /// Accepted; its start is planned, or it waits in a queue.
    Planned,
    /// On its nodes.
    Running,
    /// Accepted, but it lost its nodes or could not start.
    Disabled,
    /// Its outcome is final.
    Done,
}

/// Everything the cluster knows of a job that has no final outcome yet.
#[derive(Clone, Debug)]
pub(super) struct JobRecord {
    pub(super) job: Job,
    pub(super) phase: Phase,
    pub(super) promise: Option<Promise>,
    pub(super) class: Option<u16>,
    pub(super) start: Option<Seconds>,
    pub(super) nodes: Option<NodeSet>,
    pub(super) restarts: u32,
    pub(super) node_failures: u32,
    /// Its first run was lost, and it goes on as its copy.
    pub(super) is_copy: bool,
    /// How long its run may last if it was granted more time than it had; 0 if not.
    pub(super) lengthened: Seconds,
    /// What it saved, where jobs save their work.
    pub(super) progress: Progress,
    /// Raised whenever the job's pending event is replaced, so that the old one is stale.
    pub(super) version: u32,
}

impl JobRecord {
    /// A job that has not arrived.
    pub(super) fn new(job: Job) -> Self {
        Self {
            job,
            phase: Phase::Incoming,
            promise: None,
            class: None,
            start: None,
            nodes: None,
            restarts: 0,
            node_failures: 0,
            is_copy: false,
            lengthened: Seconds::ZERO,
            progress: Progress::default(),
            version: 0,
        }
    }

    /// The longest that the job may hold its nodes: its estimate, or what it was promised, or
    /// granted while it runs, where that is more.
    pub(super) fn longest_run(&self) -> Seconds {
        let promised = self.promise.map(|promise| promise.end - promise.start);
        let planned = promised.map_or(self.job.estimate, |length| length.max(self.job.estimate));
        planned.max(self.lengthened)
    }

    /// The job is over: its memory is paid, to the node-second.
    pub(super) fn close_memory(&mut self, checkpointing: &Checkpointing, now: Seconds) {
        self.progress.wake(now);
        let execution = &mut self.progress.execution;
        let held = self.job.nodes.for_span(execution.suspended).0 as f64;
        let rent = libm::round(held * checkpointing.settings().memory_price);
        execution.rent = NodeSeconds(rent as i64);
    }
}

/// Open jobs by id; memory is bounded by the jobs in flight, not by the trace.
#[derive(Clone, Debug, Default)]
pub(super) struct JobTable {
    /// Id of the first record.
    base: u32,
    /// Jobs whose ids follow one another.
    records: VecDeque<JobRecord>,
    /// The others, and requests.
    apart: BTreeMap<JobId, JobRecord>,
    open: usize,
}

impl JobTable {
    pub(super) fn push(&mut self, job: Job) {
        self.push_record(JobRecord::new(job));
    }

    pub(super) fn push_record(&mut self, record: JobRecord) {
        self.open += 1;
        let id = record.job.id;
        if self.records.is_empty() && id.request().is_none() && id.original().is_none() {
            self.base = id.0;
        }
        if id == self.next_id() {
            self.records.push_back(record);
        } else {
            self.apart.insert(id, record);
        }
    }

    /// Forgets the job that came last, as if it had not come.
    pub(super) fn pop(&mut self) {
        if self.records.pop_back().is_some() {
            self.open -= 1;
        }
    }

    /// The id of the next job.
    pub(super) fn next_id(&self) -> JobId {
        JobId(self.base + self.records.len() as u32)
    }

    pub(super) fn open(&self) -> usize {
        self.open
    }

    pub(super) fn find(&self, job: JobId) -> Option<&JobRecord> {
        let record = match self.records.get(self.place(job)) {
            Some(record) => record,
            None => self.apart.get(&job)?,
        };
        (record.phase != Phase::Done).then_some(record)
    }

    pub(super) fn get(&self, job: JobId) -> &JobRecord {
        match self.records.get(self.place(job)) {
            Some(record) => record,
            None => &self.apart[&job],
        }
    }

    pub(super) fn get_mut(&mut self, job: JobId) -> &mut JobRecord {
        let place = self.place(job);
        match self.records.get_mut(place) {
            Some(record) => record,
            None => self.apart.get_mut(&job).expect("an open job has a record"),
        }
    }

    /// Where the job is in the row, if it is there.
    fn place(&self, job: JobId) -> usize {
        job.0.wrapping_sub(self.base) as usize
    }

    pub(super) fn close(
        &mut self,
        job: JobId,
        verdict: Verdict,
        end: Option<Seconds>,
        saves: bool,
    ) -> JobOutcome {
        let record = self.get_mut(job);
        record.phase = Phase::Done;
        record.nodes = None;
        let outcome = JobOutcome {
            job: record.job.clone(),
            verdict,
            class: record.class,
            promise: record.promise,
            start: record.start,
            end,
            restarts: record.restarts,
            node_failures: record.node_failures,
            late: None,
            execution: (saves && record.start.is_some()).then_some(record.progress.execution),
        };
        self.open -= 1;
        self.apart.remove(&job);
        while self
            .records
            .front()
            .is_some_and(|record| record.phase == Phase::Done)
            && self.records.len() > 1
        {
            self.records.pop_front();
            self.base += 1;
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nodes;
    use crate::workload::RequestId;

    #[test]
    fn jobs_are_found_until_they_are_over_whether_their_ids_follow_one_another_or_not() {
        let window = JobId::of_request(RequestId(4));
        assert_eq!(window.request(), Some(RequestId(4)));
        let ids = [window, JobId(3), JobId(4), JobId(9), JobId(5), JobId(1)];
        let job =
            |id: JobId| Job::rigid(id, Seconds(0), Nodes(1), Seconds(1)).numbered(id.0.into());
        for id in [JobId(0), JobId(9)] {
            let copy = id.copy().unwrap();
            assert_eq!((copy.original(), copy.copy()), (Some(id), None));
        }
        // Windows of requests, and tasks of applications.
        for other in [window, JobId(1 << 31), JobId(5 << 29)] {
            assert_eq!((other.original(), other.copy()), (None, None));
        }
        let mut table = JobTable::default();
        for (handed_over, id) in ids.into_iter().enumerate() {
            assert!(table.find(id).is_none());
            table.push(job(id));
            assert_eq!(table.open(), handed_over + 1);
        }
        for (closed, id) in ids.into_iter().rev().enumerate() {
            assert_eq!(table.get(id).job, job(id));
            let outcome = table.close(id, Verdict::DroppedNoSlot, None, false);
            assert_eq!(outcome.job, job(id));
            assert!(table.find(id).is_none());
            assert_eq!(table.open(), ids.len() - closed - 1);
        }
    }
}
