//! The obvious twin: a plan of every second, an owner for every CPU, and the rules of
//! docs/model.md, "A cluster behind its reservation service", word by word.

mod filters;

use std::collections::BTreeSet;

use super::*;
use crate::co_reservation::local::{
    AccuracySource, BacklogWork, HourEdge, LookAhead, NextEventSource, OfferedPart,
};

#[derive(Clone, Debug)]
pub(super) enum Message {
    Probe(Probe),
    Reserve(PartOrder),
    /// Of the order of this request.
    Cancel(u32),
    Outage(OutageEvent),
}

/// What somebody outside sees.
#[derive(Debug, PartialEq)]
pub(super) enum Seen {
    Answer(Box<ProbeAnswer>),
    Reserved(Result<(), Refusal>),
    Cancelled(bool),
    OutageApplied,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Owner {
    Nobody,
    Job(u32),
    Part(u32),
}

pub(super) struct Twin {
    pub(super) settings: LocalSettings,
    pub(super) cluster: ClusterId,
    pub(super) now: i64,
    pub(super) cpus: Vec<Owner>,
    pub(super) down: Vec<bool>,
    pub(super) up: bool,
    pub(super) queue: Vec<Job>,
    pub(super) running: Vec<(Job, i64)>,
    pub(super) parts: Vec<(PartOrder, bool)>,
    pub(super) void: BTreeSet<u32>,
    pub(super) lost: BTreeSet<u32>,
    pub(super) accuracies: Vec<f64>,
    /// Jobs in the order in which they ended.
    pub(super) ended: Vec<Job>,
    /// `(job, start, end, restarts)`.
    pub(super) lives: Vec<(u32, i64, i64, u32)>,
    pub(super) restarts: Vec<u32>,
    /// `(request, gone, lost)`.
    pub(super) ended_parts: Vec<(u32, Option<i64>, bool)>,
    /// CPUs of jobs and of parts in each second.
    pub(super) use_over_time: Vec<(u32, u32)>,
}

pub(super) const END: i64 = 1_200;

impl Twin {
    fn capacity(&self) -> i64 {
        self.cpus.len() as i64
    }

    /// Free CPUs in each second from now on beside what is fixed.
    fn free(&self) -> Vec<i64> {
        let downs = self.down.iter().filter(|down| **down).count() as i64;
        let mut free = vec![self.capacity() - downs; END as usize];
        let mut take = |from: i64, to: i64, nodes: Nodes| {
            for free in &mut free[from.clamp(0, END) as usize..to.clamp(0, END) as usize] {
                *free -= i64::from(nodes.0);
            }
        };
        for (job, start) in &self.running {
            take(*start, start + job.estimate.0, job.nodes);
        }
        for (order, _) in &self.parts {
            take(order.start.0, (order.start + order.duration).0, order.nodes);
        }
        free
    }

    fn fits(free: &[i64], start: i64, length: i64, nodes: Nodes) -> bool {
        (start..(start + length).min(END)).all(|second| free[second as usize] >= i64::from(nodes.0))
    }

    fn take(free: &mut [i64], start: i64, job: &Job) {
        for second in start..(start + job.estimate.0).min(END) {
            free[second as usize] -= i64::from(job.nodes.0);
        }
    }

    fn earliest(free: &[i64], from: i64, job: &Job) -> i64 {
        (from..END)
            .find(|&start| Self::fits(free, start, job.estimate.0, job.nodes))
            .unwrap_or(END)
    }

    /// The CPUs with the lowest numbers that are up and nobody's.
    pub(super) fn give(&mut self, nodes: Nodes, owner: Owner) -> bool {
        let free: Vec<usize> = (0..self.cpus.len())
            .filter(|&cpu| self.cpus[cpu] == Owner::Nobody && !self.down[cpu])
            .take(nodes.0 as usize)
            .collect();
        let enough = free.len() == nodes.0 as usize;
        if enough {
            for cpu in free {
                self.cpus[cpu] = owner;
            }
        }
        enough
    }

    fn let_go(&mut self, owner: Owner) {
        for cpu in &mut self.cpus {
            if *cpu == owner {
                *cpu = Owner::Nobody;
            }
        }
    }

    /// Ends, starts of parts, iteration; again while something ends at once.
    pub(super) fn settle(&mut self) {
        loop {
            let now = self.now;
            let ends = |job: &Job, start: i64| start + job.runtime.0.min(job.estimate.0);
            let (ended, running): (Vec<_>, Vec<_>) = self
                .running
                .drain(..)
                .partition(|(job, start)| ends(job, *start) <= now);
            self.running = running;
            let mut again = !ended.is_empty();
            let mut ended = ended;
            ended.sort_by_key(|(job, _)| job.id);
            for (job, start) in ended {
                let run = job.runtime.0.min(job.estimate.0);
                self.accuracies.push(run as f64 / job.estimate.0 as f64);
                self.ended.push(job.clone());
                self.let_go(Owner::Job(job.id.0));
                let restarts = self.restarts[job.id.0 as usize];
                self.lives.push((job.id.0, start, now, restarts));
            }
            let orders: Vec<PartOrder> = self.parts.iter().map(|(order, _)| *order).collect();
            for order in &orders {
                if (order.start + order.duration).0 <= now {
                    self.let_go(Owner::Part(order.request.0));
                    self.parts.retain(|(other, _)| other != order);
                    self.ended_parts.push((order.request.0, None, false));
                    again = true;
                }
            }
            for order in &orders {
                let place = self.parts.iter().position(|part| part == &(*order, false));
                let Some(place) = place.filter(|_| order.start.0 <= now) else {
                    continue;
                };
                if self.up && self.give(order.nodes, Owner::Part(order.request.0)) {
                    self.parts[place].1 = true;
                } else {
                    self.lose(order.request.0);
                }
                again = true;
            }
            again |= self.iterate();
            if !again {
                return;
            }
        }
    }

    pub(super) fn lose(&mut self, request: u32) {
        self.let_go(Owner::Part(request));
        self.parts.retain(|(order, _)| order.request.0 != request);
        self.lost.insert(request);
        self.ended_parts.push((request, Some(self.now), true));
    }

    pub(super) fn iterate(&mut self) -> bool {
        if !self.up || self.queue.is_empty() {
            return false;
        }
        let mut free = self.free();
        let now = self.now;
        let mut starts = Vec::new();
        match self.settings.backfilling {
            Backfilling::Aggressive => {
                let mut reserved = false;
                for job in &self.queue {
                    if Self::fits(&free, now, job.estimate.0, job.nodes) {
                        Self::take(&mut free, now, job);
                        starts.push(job.id);
                    } else if !reserved {
                        reserved = true;
                        let start = Self::earliest(&free, now, job);
                        Self::take(&mut free, start, job);
                    }
                }
            }
            Backfilling::Conservative => {
                for job in &self.queue {
                    let start = Self::earliest(&free, now, job);
                    Self::take(&mut free, start, job);
                    if start == now {
                        starts.push(job.id);
                    }
                }
            }
            Backfilling::None => {
                for job in &self.queue {
                    if !Self::fits(&free, now, job.estimate.0, job.nodes) {
                        break;
                    }
                    Self::take(&mut free, now, job);
                    starts.push(job.id);
                }
            }
        }
        for id in &starts {
            let place = self.queue.iter().position(|job| job.id == *id).unwrap();
            let job = self.queue.remove(place);
            assert!(self.give(job.nodes, Owner::Job(id.0)));
            self.running.push((job, now));
        }
        self.running.sort_by_key(|(job, _)| job.id);
        !starts.is_empty()
    }

    /// What a part may take.
    pub(super) fn visible(&self) -> Vec<i64> {
        let mut free = self.free();
        if self.settings.planned_visible {
            let depth = match self.settings.backfilling {
                Backfilling::Conservative => usize::MAX,
                _ => 1,
            };
            for job in self.queue.iter().take(depth) {
                let start = Self::earliest(&free, self.now, job);
                Self::take(&mut free, start, job);
            }
        }
        free
    }

    fn answer(&self, probe: &Probe) -> ProbeAnswer {
        let exact = probe.filters.exact_limits;
        let filters = probe.filters;
        let next = self
            .running
            .iter()
            .map(|(job, start)| match self.settings.next_event {
                NextEventSource::Estimate => start + job.estimate.0,
                NextEventSource::Oracle => start + job.estimate.0.min(job.runtime.0),
            })
            .chain(
                self.parts
                    .iter()
                    .filter(|(_, active)| *active)
                    .map(|(order, _)| (order.start + order.duration).0),
            )
            .min();
        let mut answer = ProbeAnswer {
            at: Seconds(self.now),
            backlog_now: Seconds(self.backlog(exact, |_, active| active).ceil() as i64),
            ..ProbeAnswer::default()
        };
        answer.backlog_earliest = probe.starts.first().map_or(answer.backlog_now, |first| {
            Seconds(self.backlog(exact, |order, _| order.start < *first).ceil() as i64)
        });
        for &start in &probe.starts {
            let backlog = self.backlog(exact, |order, _| order.start < start);
            for (index, &nodes) in probe.parts.iter().enumerate() {
                let further = probe.further.get(index).copied().unwrap_or_default();
                let most = self.settings.further;
                if i64::from(nodes.0) > self.capacity()
                    || further.licences > most.licences
                    || further.storage_gb > most.storage_gb
                {
                    continue;
                }
                answer.counts.unfiltered += 1;
                if filters.counting && !self.room(start, probe.duration, nodes) {
                    answer.counts.counting += 1;
                    continue;
                }
                let lacking = self.lacking(start, probe.duration, further);
                if let Some(what) = lacking.filter(|_| filters.counting) {
                    match what {
                        FurtherResource::Licences => answer.counts.licences += 1,
                        FurtherResource::Storage => answer.counts.storage += 1,
                    }
                    continue;
                }
                if filters.counting && !self.quota(start, probe.duration, nodes) {
                    answer.counts.quota += 1;
                    continue;
                }
                if filters.backlog && (start.0 as f64) < self.now as f64 + backlog {
                    let end = (start + probe.duration).0;
                    let is_harmless = || match self.settings.look_ahead {
                        LookAhead(1) => next.is_none_or(|next| end < next),
                        LookAhead(_) => self.is_harmless(start.0, end, nodes),
                    };
                    if !(filters.backfill && is_harmless()) {
                        answer.counts.backlog += 1;
                        continue;
                    }
                    answer.counts.exempt += 1;
                }
                let mut rates = 0.0;
                let mut hour = start;
                while hour < start + probe.duration
                    || (hour == start + probe.duration
                        && self.settings.hour_edge == HourEdge::Inclusive)
                {
                    let second = self.settings.calendar_origin + hour;
                    rates += self.settings.tariff.rate(self.cluster, second);
                    hour += Seconds::HOUR;
                }
                answer.offered.push(OfferedPart {
                    part: index as u16,
                    start,
                    cost: f64::from(nodes.0) * rates,
                    pof: 0.0,
                    degree: if probe.degrees {
                        self.held(start, probe.duration, nodes) as f64
                            / (self.capacity() * probe.duration.0).max(1) as f64
                    } else {
                        0.0
                    },
                });
            }
        }
        answer
    }

    pub(super) fn hear(&mut self, message: &Message) -> Seen {
        match message {
            Message::Probe(probe) => Seen::Answer(Box::new(self.answer(probe))),
            Message::Reserve(order) => {
                let request = order.request.0;
                let verdict = if self.void.contains(&request) {
                    Err(Refusal::Cancelled)
                } else if self.lost.contains(&request) {
                    Err(Refusal::Occupied)
                } else if self.parts.iter().any(|(other, _)| other == order) {
                    Ok(())
                } else if order.start.0 < self.now {
                    Err(Refusal::Past)
                } else if !self.room(order.start, order.duration, order.nodes) {
                    Err(Refusal::Occupied)
                } else if let Some(what) = self.lacking(order.start, order.duration, order.further)
                {
                    Err(Refusal::Lacking(what))
                } else if !self.quota(order.start, order.duration, order.nodes) {
                    Err(Refusal::Quota)
                } else {
                    self.parts.push((*order, false));
                    self.parts.sort_by_key(|(order, _)| order.request);
                    self.settle();
                    Ok(())
                };
                Seen::Reserved(verdict)
            }
            Message::Cancel(request) => {
                self.void.insert(*request);
                let there = self
                    .parts
                    .iter()
                    .any(|(order, _)| order.request.0 == *request);
                if there {
                    self.let_go(Owner::Part(*request));
                    self.parts.retain(|(order, _)| order.request.0 != *request);
                    self.ended_parts.push((*request, Some(self.now), false));
                    self.settle();
                }
                Seen::Cancelled(there)
            }
            Message::Outage(outage) => {
                self.apply_outage(*outage);
                self.settle();
                Seen::OutageApplied
            }
        }
    }

    pub(super) fn apply_outage(&mut self, outage: OutageEvent) {
        let mut affected = vec![false; self.cpus.len()];
        match outage {
            OutageEvent::ClusterUp => self.up = true,
            OutageEvent::NodesUp { first, count } => {
                for cpu in first..first + count {
                    self.down[cpu as usize] = false;
                }
            }
            OutageEvent::ClusterDown => {
                self.up = false;
                affected.fill(true);
            }
            OutageEvent::NodesDown { first, count } => {
                for cpu in first..first + count {
                    affected[cpu as usize] = true;
                    self.down[cpu as usize] = true;
                }
            }
        }
        let mut lost = BTreeSet::new();
        for (cpu, &hit) in affected.iter().enumerate() {
            match self.cpus[cpu] {
                Owner::Job(id) if hit => {
                    self.let_go(Owner::Job(id));
                    let place = self.running.iter().position(|(job, _)| job.id.0 == id);
                    let (job, _) = self.running.remove(place.unwrap());
                    self.restarts[id as usize] += 1;
                    self.queue.push(job);
                    self.queue.sort_by_key(|job| (job.submit, job.id));
                }
                Owner::Part(request) if hit => {
                    lost.insert(request);
                }
                _ => {}
            }
        }
        for request in lost {
            self.lose(request);
        }
    }
}
