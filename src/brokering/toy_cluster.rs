//! A cluster for tests of the broker: parts only, no jobs, every second counted by hand.

use std::collections::BTreeSet;

use crate::scheduling::local::{
    Blow, ClusterId, FilterCounts, LocalService, LocalTotals, LostPart, OfferedPart, PartOrder,
    PartOutcome, Probe, ProbeAnswer, Refusal, TimeLinePoint,
};
use crate::scheduling::{JobOutcome, SimulationMetrics};
use crate::units::{NodeSeconds, Nodes, Seconds};
use crate::workload::{CoRequestId, Job};

pub(super) struct ToyCluster {
    id: ClusterId,
    nodes: Nodes,
    parts: Vec<(PartOrder, bool)>,
    tombstones: BTreeSet<(CoRequestId, u32)>,
    is_up: bool,
    down: BTreeSet<u32>,
    outcomes: Vec<PartOutcome>,
    lost: Vec<LostPart>,
    totals: LocalTotals,
}

impl ToyCluster {
    pub(super) fn new(id: ClusterId, nodes: Nodes) -> Self {
        Self {
            id,
            nodes,
            parts: Vec::new(),
            tombstones: BTreeSet::new(),
            is_up: true,
            down: BTreeSet::new(),
            outcomes: Vec::new(),
            lost: Vec::new(),
            totals: LocalTotals::default(),
        }
    }

    fn free(&self, start: Seconds, end: Seconds) -> u32 {
        let begins = self.parts.iter().map(|(part, _)| part.start);
        let busiest = begins
            .chain([start])
            .filter(|&at| start <= at && at < end)
            .map(|at| self.held(at))
            .max();
        self.nodes.0 - busiest.unwrap_or(0)
    }

    fn held(&self, at: Seconds) -> u32 {
        let parts = self.parts.iter();
        let held = parts.filter(|(part, _)| part.start <= at && at < part.start + part.duration);
        held.map(|(part, _)| part.nodes.0).sum()
    }

    fn gone(&mut self, index: usize, now: Seconds, lost: bool) {
        let (order, running) = self.parts.remove(index);
        self.outcomes.push(PartOutcome {
            order,
            gone: Some(now),
            lost,
        });
        if lost {
            self.totals.lost_parts += 1;
            self.lost.push(LostPart {
                at: now,
                request: order.request,
                order: order.order,
                running,
            });
        }
    }

    /// Ends and starts up to and at `now`, in order.
    fn work_off(&mut self, now: Seconds) {
        loop {
            let ends = self.parts.iter().enumerate();
            let ended = ends
                .filter(|(_, (part, running))| *running && part.start + part.duration <= now)
                .min_by_key(|(_, (part, _))| part.start + part.duration);
            let begun = self
                .parts
                .iter()
                .enumerate()
                .filter(|(_, (part, running))| !running && part.start <= now)
                .min_by_key(|(_, (part, _))| part.start);
            let ends_first = match (ended, begun) {
                (Some((_, (end, _))), Some((_, (begin, _)))) => {
                    end.start + end.duration <= begin.start
                }
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return,
            };
            if ends_first {
                let (index, (order, _)) = ended.unwrap();
                self.outcomes.push(PartOutcome {
                    order: *order,
                    gone: None,
                    lost: false,
                });
                self.totals.drained = self.totals.drained.max(order.start + order.duration);
                self.totals.part_work += order.nodes.for_span(order.duration);
                self.parts.remove(index);
            } else {
                let (index, (order, _)) = begun.unwrap();
                let running: u32 = self.parts.iter().filter(|it| it.1).map(|it| it.0.nodes.0).sum();
                let start = order.start;
                if self.is_up && running + order.nodes.0 <= self.nodes.0 - self.down.len() as u32 {
                    self.parts[index].1 = true;
                } else {
                    self.gone(index, start, true);
                }
            }
        }
    }
}

impl LocalService for ToyCluster {
    fn nodes(&self) -> Nodes {
        self.nodes
    }
    fn submit(&mut self, jobs: &[Job]) {
        assert!(jobs.is_empty(), "a toy runs no jobs");
    }
    fn advance(&mut self, until: Seconds) {
        self.work_off(until - Seconds(1));
    }
    fn settle(&mut self, now: Seconds) {
        self.work_off(now);
    }
    fn probe(&mut self, now: Seconds, probe: &Probe) -> ProbeAnswer {
        let mut answer = ProbeAnswer::default();
        for &start in &probe.starts {
            for (part, nodes) in (0..).zip(&probe.parts) {
                if *nodes > self.nodes {
                    continue;
                }
                answer.counts.unfiltered += 1;
                if start >= now && self.free(start, start + probe.duration) >= nodes.0 {
                    answer.offered.push(OfferedPart {
                        part,
                        start,
                        cost: f64::from(nodes.0) * (1.0 + f64::from(self.id.0)),
                        pof: 0.0,
                    });
                } else {
                    answer.counts.counting += 1;
                }
            }
        }
        answer.counts = FilterCounts { ..answer.counts };
        answer
    }
    fn reserve(&mut self, now: Seconds, order: &PartOrder) -> Result<(), Refusal> {
        if self.tombstones.contains(&(order.request, order.order)) {
            return Err(Refusal::Cancelled);
        }
        if order.start < now {
            return Err(Refusal::Past);
        }
        if order.nodes > self.nodes
            || self.free(order.start, order.start + order.duration) < order.nodes.0
        {
            return Err(Refusal::Occupied);
        }
        self.parts.push((*order, false));
        Ok(())
    }
    fn cancel(&mut self, now: Seconds, request: CoRequestId, order: u32) -> bool {
        self.tombstones.insert((request, order));
        let mut parts = self.parts.iter();
        match parts.position(|(it, _)| it.request == request && it.order == order) {
            Some(index) => {
                self.gone(index, now, false);
                true
            }
            None => false,
        }
    }
    fn strike(&mut self, now: Seconds, blow: Blow) {
        match blow {
            Blow::ClusterDown => self.is_up = false,
            Blow::ClusterUp => self.is_up = true,
            Blow::NodesDown { first, count } => self.down.extend(first..first + count),
            Blow::NodesUp { first, count } => self.down.retain(|it| !(first..first + count).contains(it)),
        }
        let left = if self.is_up {
            self.nodes.0 - self.down.len() as u32
        } else {
            0
        };
        while self.parts.iter().filter(|it| it.1).map(|it| it.0.nodes.0).sum::<u32>() > left {
            let running = self.parts.iter().rposition(|it| it.1).unwrap();
            self.gone(running, now, true);
        }
    }
    fn is_up(&self) -> bool {
        self.is_up
    }
    fn next_event(&self) -> Option<Seconds> {
        let next = self.parts.iter().map(|(part, running)| {
            part.start + if *running { part.duration } else { Seconds::ZERO }
        });
        next.min()
    }
    fn is_idle(&self) -> bool {
        self.parts.is_empty()
    }
    fn take_job_outcomes(&mut self) -> Vec<JobOutcome> {
        Vec::new()
    }
    fn take_part_outcomes(&mut self) -> Vec<PartOutcome> {
        std::mem::take(&mut self.outcomes)
    }
    fn take_lost_parts(&mut self) -> Vec<LostPart> {
        std::mem::take(&mut self.lost)
    }
    fn metrics(&self) -> SimulationMetrics {
        SimulationMetrics::default()
    }
    fn totals(&self) -> LocalTotals {
        LocalTotals {
            job_work: NodeSeconds(0),
            ..self.totals
        }
    }
    fn in_use(&self) -> TimeLinePoint {
        TimeLinePoint {
            time: Seconds::ZERO,
            jobs: 0,
            parts: self.parts.iter().filter(|it| it.1).map(|it| it.0.nodes.0).sum(),
        }
    }
}
