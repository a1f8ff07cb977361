//! A cluster for tests that records the commands of its broker.

use std::sync::{Arc, Mutex};

use bookahead_core::scheduling::{JobOutcome, SimulationMetrics};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{CoRequestId, Job};

use crate::co_reservation::local::{
    BegunPart, ClusterId, LocalService, LocalTotals, LostPart, OutageEvent, PartOrder, PartOutcome,
    Probe, ProbeAnswer, QueuedPart, Refusal, TimeLinePoint,
};

/// The commands to each cluster, in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command {
    Granted(ClusterId, Seconds, PartOrder),
    Cancelled(ClusterId, Seconds, CoRequestId, u32),
}

pub(super) type Record = Arc<Mutex<Vec<Command>>>;

pub(super) struct WatchedCluster {
    pub(super) id: ClusterId,
    pub(super) inner: Box<dyn LocalService>,
    pub(super) record: Record,
}

impl LocalService for WatchedCluster {
    fn nodes(&self) -> Nodes {
        self.inner.nodes()
    }
    fn submit(&mut self, jobs: &[Job]) {
        self.inner.submit(jobs);
    }
    fn advance(&mut self, until: Seconds) {
        self.inner.advance(until);
    }
    fn settle(&mut self, now: Seconds) {
        self.inner.settle(now);
    }
    fn probe(&mut self, now: Seconds, probe: &Probe) -> ProbeAnswer {
        self.inner.probe(now, probe)
    }
    fn reserve(&mut self, now: Seconds, order: &PartOrder) -> Result<(), Refusal> {
        let verdict = self.inner.reserve(now, order);
        if verdict.is_ok() {
            let command = Command::Granted(self.id, now, *order);
            self.record.lock().unwrap().push(command);
        }
        verdict
    }
    fn cancel(&mut self, now: Seconds, request: CoRequestId, order: u32) -> bool {
        let command = Command::Cancelled(self.id, now, request, order);
        self.record.lock().unwrap().push(command);
        self.inner.cancel(now, request, order)
    }
    fn apply_outage(&mut self, now: Seconds, outage: OutageEvent) {
        self.inner.apply_outage(now, outage);
    }
    fn is_up(&self) -> bool {
        self.inner.is_up()
    }
    fn next_event(&self) -> Option<Seconds> {
        self.inner.next_event()
    }
    fn is_idle(&self) -> bool {
        self.inner.is_idle()
    }
    fn take_job_outcomes(&mut self) -> Vec<JobOutcome> {
        self.inner.take_job_outcomes()
    }
    fn take_part_outcomes(&mut self) -> Vec<PartOutcome> {
        self.inner.take_part_outcomes()
    }
    fn take_lost_parts(&mut self) -> Vec<LostPart> {
        self.inner.take_lost_parts()
    }
    fn queue(&mut self, now: Seconds, part: &QueuedPart) {
        self.inner.queue(now, part);
    }
    fn proceed(&mut self, now: Seconds, request: CoRequestId, order: u32, end: Seconds) {
        self.inner.proceed(now, request, order, end);
    }
    fn take_begun_parts(&mut self) -> Vec<BegunPart> {
        self.inner.take_begun_parts()
    }
    fn next_look(&self) -> Option<Seconds> {
        self.inner.next_look()
    }
    fn metrics(&self) -> SimulationMetrics {
        self.inner.metrics()
    }
    fn totals(&self) -> LocalTotals {
        self.inner.totals()
    }
    fn in_use(&self) -> TimeLinePoint {
        self.inner.in_use()
    }
    fn free(&self) -> Nodes {
        self.inner.free()
    }
}
