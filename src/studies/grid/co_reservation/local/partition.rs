//! A cluster whose CPUs are divided strictly between its jobs and the parts of co-reservations
//! (Meltzer 2005, §7.1).

use bookahead_core::scheduling::{JobOutcome, SimulationMetrics};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{CoRequestId, Job};

use super::{
    BegunPart, LocalService, LocalTotals, LostPart, OutageEvent, PartOrder, PartOutcome, Probe,
    ProbeAnswer, ProbeFilters, QueuedPart, Refusal, TimeLinePoint,
};

/// Two machines behind one reservation service: jobs have the first CPUs, parts the last ones, and
/// neither ever gets those of the other.
///
/// No part can delay a job, so that none is refused for the backlog; what is told of the backlog is
/// that of the jobs. A job that is wider than the CPUs for jobs is dropped, like one that is wider
/// than a whole cluster.
pub struct Partition {
    jobs: Box<dyn LocalService>,
    parts: Box<dyn LocalService>,
}

impl Partition {
    /// Of two idle machines.
    #[must_use]
    pub fn new(jobs: Box<dyn LocalService>, parts: Box<dyn LocalService>) -> Self {
        Self { jobs, parts }
    }

    /// What of CPUs `[first, first + count)` each machine has, as it numbers them.
    fn split(&self, first: u32, count: u32) -> [(u32, u32); 2] {
        let border = self.jobs.nodes().0;
        let end = first.saturating_add(count);
        let of_jobs = end.min(border).saturating_sub(first);
        let rest = first.max(border) - border;
        [(first, of_jobs), (rest, count - of_jobs)]
    }
}

impl LocalService for Partition {
    fn nodes(&self) -> Nodes {
        Nodes(self.jobs.nodes().0 + self.parts.nodes().0)
    }

    fn submit(&mut self, jobs: &[Job]) {
        self.jobs.submit(jobs);
    }

    fn advance(&mut self, until: Seconds) {
        self.jobs.advance(until);
        self.parts.advance(until);
    }

    fn settle(&mut self, now: Seconds) {
        self.jobs.settle(now);
        self.parts.settle(now);
    }

    fn probe(&mut self, now: Seconds, probe: &Probe) -> ProbeAnswer {
        let filters = ProbeFilters {
            backlog: false,
            ..probe.filters
        };
        let of_parts = Probe {
            filters,
            ..probe.clone()
        };
        let of_jobs = Probe {
            parts: Vec::new(),
            free_cpus: false,
            ..probe.clone()
        };
        let told = self.jobs.probe(now, &of_jobs);
        ProbeAnswer {
            backlog_now: told.backlog_now,
            backlog_earliest: told.backlog_earliest,
            large_share: told.large_share,
            ..self.parts.probe(now, &of_parts)
        }
    }

    fn reserve(&mut self, now: Seconds, order: &PartOrder) -> Result<(), Refusal> {
        self.parts.reserve(now, order)
    }

    fn queue(&mut self, now: Seconds, part: &QueuedPart) {
        self.parts.queue(now, part);
    }

    fn proceed(&mut self, now: Seconds, request: CoRequestId, order: u32, end: Seconds) {
        self.parts.proceed(now, request, order, end);
    }

    fn cancel(&mut self, now: Seconds, request: CoRequestId, order: u32) -> bool {
        self.parts.cancel(now, request, order)
    }

    fn apply_outage(&mut self, now: Seconds, outage: OutageEvent) {
        let outages = match outage {
            OutageEvent::ClusterDown | OutageEvent::ClusterUp => [outage; 2],
            OutageEvent::NodesDown { first, count } => self
                .split(first, count)
                .map(|(first, count)| OutageEvent::NodesDown { first, count }),
            OutageEvent::NodesUp { first, count } => self
                .split(first, count)
                .map(|(first, count)| OutageEvent::NodesUp { first, count }),
        };
        self.jobs.apply_outage(now, outages[0]);
        self.parts.apply_outage(now, outages[1]);
    }

    fn is_up(&self) -> bool {
        self.parts.is_up()
    }

    fn next_event(&self) -> Option<Seconds> {
        let events = [self.jobs.next_event(), self.parts.next_event()];
        events.into_iter().flatten().min()
    }

    fn is_idle(&self) -> bool {
        self.jobs.is_idle() && self.parts.is_idle()
    }

    fn take_job_outcomes(&mut self) -> Vec<JobOutcome> {
        self.jobs.take_job_outcomes()
    }

    fn take_part_outcomes(&mut self) -> Vec<PartOutcome> {
        self.parts.take_part_outcomes()
    }

    fn take_lost_parts(&mut self) -> Vec<LostPart> {
        self.parts.take_lost_parts()
    }

    fn take_begun_parts(&mut self) -> Vec<BegunPart> {
        self.parts.take_begun_parts()
    }

    fn next_look(&self) -> Option<Seconds> {
        self.parts.next_look()
    }

    fn metrics(&self) -> SimulationMetrics {
        let mut metrics = self.jobs.metrics();
        metrics.capacity = self.nodes().for_span(metrics.makespan);
        metrics
    }

    fn totals(&self) -> LocalTotals {
        let (jobs, parts) = (self.jobs.totals(), self.parts.totals());
        LocalTotals {
            job_work: jobs.job_work,
            part_work: parts.part_work,
            drained: jobs.drained.max(parts.drained),
            restarts: jobs.restarts,
            lost_parts: parts.lost_parts,
        }
    }

    fn in_use(&self) -> TimeLinePoint {
        TimeLinePoint {
            parts: self.parts.in_use().parts,
            ..self.jobs.in_use()
        }
    }

    /// Of those for parts: nothing else is on offer.
    fn free(&self) -> Nodes {
        self.parts.free()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::co_reservation::local::{ClusterId, LocalSettings, ReservationService};

    fn machine(nodes: u32) -> Box<dyn LocalService> {
        let settings = LocalSettings::default();
        let (accuracy, stop) = (1.0, Seconds(1_000));
        Box::new(ReservationService::new(
            ClusterId(0),
            Nodes(nodes),
            accuracy,
            stop,
            settings,
        ))
    }

    #[test]
    fn cpus_that_fail_are_those_of_jobs_first_and_then_those_of_parts() {
        let cluster = Partition::new(machine(70), machine(30));
        assert_eq!(cluster.nodes(), Nodes(100));
        for (outage, split) in [
            ((0, 70), [(0, 70), (0, 0)]),
            ((60, 20), [(60, 10), (0, 10)]),
            ((70, 30), [(70, 0), (0, 30)]),
            ((95, 5), [(95, 0), (25, 5)]),
        ] {
            assert_eq!(cluster.split(outage.0, outage.1), split);
        }
    }
}
