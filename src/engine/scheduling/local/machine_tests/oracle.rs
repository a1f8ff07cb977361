//! The obvious twin: a plan of every second, an owner for every CPU, and §4.2 word by word.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::scheduling::local::{
    AccuracySource, BacklogWork, HourEdge, NextEventSource, OfferedPart, Tariff,
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
enum Seen {
    Answer(Box<ProbeAnswer>),
    Reserved(Result<(), Refusal>),
    Cancelled(bool),
    Struck,
}

#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Nobody,
    Job(u32),
    Part(u32),
}

struct Twin {
    settings: LocalSettings,
    cluster: ClusterId,
    now: i64,
    cpus: Vec<Owner>,
    down: Vec<bool>,
    up: bool,
    queue: Vec<Job>,
    running: Vec<(Job, i64)>,
    parts: Vec<(PartOrder, bool)>,
    void: BTreeSet<u32>,
    lost: BTreeSet<u32>,
    accuracies: Vec<f64>,
    /// `(job, start, end, restarts)`.
    lives: Vec<(u32, i64, i64, u32)>,
    restarts: Vec<u32>,
    /// `(request, gone, lost)`.
    ended_parts: Vec<(u32, Option<i64>, bool)>,
    /// CPUs of jobs and of parts in each second.
    use_over_time: Vec<(u32, u32)>,
}

const END: i64 = 1_200;

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
    fn give(&mut self, nodes: Nodes, owner: Owner) -> bool {
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
    fn settle(&mut self) {
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

    fn lose(&mut self, request: u32) {
        self.let_go(Owner::Part(request));
        self.parts.retain(|(order, _)| order.request.0 != request);
        self.lost.insert(request);
        self.ended_parts.push((request, Some(self.now), true));
    }

    fn iterate(&mut self) -> bool {
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
    fn visible(&self) -> Vec<i64> {
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

    fn room(&self, start: Seconds, duration: Seconds, nodes: Nodes) -> bool {
        self.up && start.0 >= self.now && Self::fits(&self.visible(), start.0, duration.0, nodes)
    }

    fn quota(&self, start: Seconds, duration: Seconds, nodes: Nodes) -> bool {
        let held: i64 = (start.0..(start + duration).0)
            .map(|second| {
                let covers = |order: &PartOrder| {
                    order.start.0 <= second && second < (order.start + order.duration).0
                };
                let parts = self.parts.iter().filter(|(order, _)| covers(order));
                i64::from(nodes.0)
                    + parts
                        .map(|(order, _)| i64::from(order.nodes.0))
                        .sum::<i64>()
            })
            .sum();
        self.settings
            .quota
            .is_none_or(|quota| held as f64 <= quota * (self.capacity() * duration.0) as f64 + 1e-6)
    }

    /// CPU-seconds of jobs, and of the parts that `counts`, over the size; less what binary fractions may be off.
    fn backlog(&self, exact: bool, counts: impl Fn(&PartOrder, bool) -> bool) -> f64 {
        let accuracy = if exact {
            1.0
        } else {
            let known = match self.settings.accuracy {
                AccuracySource::History | AccuracySource::Work => self.accuracies[0],
                AccuracySource::Running => {
                    self.accuracies.iter().sum::<f64>() / self.accuracies.len() as f64
                }
            };
            known * self.settings.accuracy_factor
        };
        let full = self.settings.backlog_work == BacklogWork::Full;
        let area = |job: &Job| job.estimate.0 * i64::from(job.nodes.0);
        let waiting = self.queue.iter().map(area).sum::<i64>() as f64 * accuracy;
        let running = if full {
            self.running.iter().map(|(job, _)| area(job)).sum::<i64>() as f64 * accuracy
        } else {
            let mut sum = 0.0;
            for (job, start) in &self.running {
                let left = accuracy * job.estimate.0 as f64 - (self.now - start) as f64;
                sum += left.max(0.0) * f64::from(job.nodes.0);
            }
            sum
        };
        let parts: i64 = self
            .parts
            .iter()
            .filter(|(order, active)| counts(order, *active))
            .map(|(order, active)| {
                let end = (order.start + order.duration).0;
                let from = if *active && !full {
                    self.now
                } else {
                    order.start.0
                };
                (end - from) * i64::from(order.nodes.0)
            })
            .sum();
        (waiting + running + parts as f64) / self.capacity() as f64 - 1e-6
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
            backlog_now: Seconds(self.backlog(exact, |_, active| active).ceil() as i64),
            ..ProbeAnswer::default()
        };
        answer.backlog_earliest = probe.starts.first().map_or(answer.backlog_now, |first| {
            Seconds(self.backlog(exact, |order, _| order.start < *first).ceil() as i64)
        });
        for &start in &probe.starts {
            let backlog = self.backlog(exact, |order, _| order.start < start);
            for (index, &nodes) in probe.parts.iter().enumerate() {
                if i64::from(nodes.0) > self.capacity() {
                    continue;
                }
                answer.counts.unfiltered += 1;
                if filters.counting && !self.room(start, probe.duration, nodes) {
                    answer.counts.counting += 1;
                    continue;
                }
                if filters.counting && !self.quota(start, probe.duration, nodes) {
                    answer.counts.quota += 1;
                    continue;
                }
                if filters.backlog && (start.0 as f64) < self.now as f64 + backlog {
                    let end = (start + probe.duration).0;
                    if !(filters.backfill && next.is_none_or(|next| end < next)) {
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
                });
            }
        }
        answer
    }

    fn hear(&mut self, message: &Message) -> Seen {
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
                self.suffer(*outage);
                self.settle();
                Seen::Struck
            }
        }
    }

    fn suffer(&mut self, outage: OutageEvent) {
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

/// Both machines, side by side, second by second.
fn agree(
    nodes: u32,
    settings: &LocalSettings,
    accuracy: f64,
    jobs: &[Job],
    messages: &[(i64, Message)],
) -> Result<(), TestCaseError> {
    let cluster = ClusterId(3);
    let stop = Seconds(60);
    let mut machine = LocalMachine::new(cluster, Nodes(nodes), accuracy, stop, settings.clone());
    machine.submit(jobs);
    let mut twin = Twin {
        settings: settings.clone(),
        cluster,
        now: 0,
        cpus: vec![Owner::Nobody; nodes as usize],
        down: vec![false; nodes as usize],
        up: true,
        queue: Vec::new(),
        running: Vec::new(),
        parts: Vec::new(),
        void: BTreeSet::new(),
        lost: BTreeSet::new(),
        accuracies: vec![accuracy],
        lives: Vec::new(),
        restarts: vec![0; 100],
        ended_parts: Vec::new(),
        use_over_time: Vec::new(),
    };
    for second in 0..END {
        twin.now = second;
        let now: Vec<_> = messages
            .iter()
            .filter(|(time, _)| *time == second)
            .collect();
        let repairs = |message: &Message| {
            matches!(
                message,
                Message::Outage(OutageEvent::ClusterUp | OutageEvent::NodesUp { .. })
            )
        };
        for (_, message) in now.iter().filter(|(_, message)| repairs(message)) {
            twin.hear(message);
            hear(&mut machine, second, message);
        }
        twin.settle();
        machine.settle(Seconds(second));
        for (_, message) in now.iter().filter(|(_, message)| !repairs(message)) {
            let expected = twin.hear(message);
            let seen = hear(&mut machine, second, message);
            prop_assert_eq!(seen, expected, "at {} {:?}", second, message);
        }
        for job in jobs.iter().filter(|job| job.submit.0 == second) {
            if job.nodes.0 <= nodes {
                twin.queue.push(job.clone());
                twin.queue.sort_by_key(|job| (job.submit, job.id));
            }
        }
        twin.settle();
        machine.advance(Seconds(second + 1));
        let count = |wanted: fn(&Owner) -> bool| twin.cpus.iter().filter(|cpu| wanted(cpu)).count();
        let used = (
            count(|owner| matches!(owner, Owner::Job(_))) as u32,
            count(|owner| matches!(owner, Owner::Part(_))) as u32,
        );
        let in_use = machine.in_use();
        prop_assert_eq!((in_use.jobs, in_use.parts), used, "at {}", second);
        prop_assert!(used.0 + used.1 <= nodes);
        twin.use_over_time.push(used);
        let waiting: Vec<JobId> = machine.queue().iter().map(|waiting| waiting.job).collect();
        let expected: Vec<JobId> = twin.queue.iter().map(|job| job.id).collect();
        prop_assert_eq!(waiting, expected, "at {}", second);
        if machine.is_idle() && second > 150 {
            break;
        }
    }
    machine.settle(Seconds(END));
    let jobs_ended = machine.take_job_outcomes().into_iter();
    let lives: Vec<_> = jobs_ended
        .filter(|outcome| !outcome.verdict.is_dropped())
        .map(|outcome| {
            let [start, end] = [outcome.start, outcome.end].map(|time| time.unwrap().0);
            (outcome.job.id.0, start, end, outcome.restarts)
        })
        .collect();
    prop_assert_eq!(&lives, &twin.lives);
    let parts: Vec<_> = machine
        .take_part_outcomes()
        .iter()
        .map(|part| {
            (
                part.order.request.0,
                part.gone.map(|gone| gone.0),
                part.lost,
            )
        })
        .collect();
    prop_assert_eq!(parts, twin.ended_parts);
    let before_stop = &twin.use_over_time[..60];
    let totals = machine.totals();
    let work = |of: fn(&(u32, u32)) -> u32| before_stop.iter().map(of).sum::<u32>();
    prop_assert_eq!(totals.job_work.0, i64::from(work(|used| used.0)));
    prop_assert_eq!(totals.part_work.0, i64::from(work(|used| used.1)));
    prop_assert_eq!(totals.lost_parts as usize, twin.lost.len());
    prop_assert_eq!(
        totals.restarts,
        u64::from(twin.restarts.iter().sum::<u32>())
    );
    Ok(())
}

fn hear(machine: &mut LocalMachine, now: i64, message: &Message) -> Seen {
    let now = Seconds(now);
    match message {
        Message::Probe(probe) => Seen::Answer(Box::new(machine.probe(now, probe))),
        Message::Reserve(order) => Seen::Reserved(machine.reserve(now, order)),
        Message::Cancel(request) => Seen::Cancelled(machine.cancel(now, CoRequestId(*request), 0)),
        Message::Outage(outage) => {
            machine.apply_outage(now, *outage);
            Seen::Struck
        }
    }
}

prop_compose! {
    /// Jobs of a machine of 8 CPUs, a few of them too wide, ids not from 0.
    pub(super) fn jobs()(shapes in prop::collection::vec((0_i64..60, 1_u32..=9, 1_i64..25, 0_i64..30), 0..24)) -> Vec<Job> {
        let mut shapes = shapes;
        shapes.sort_by_key(|shape| shape.0);
        (20..)
            .zip(shapes)
            .map(|(id, (submit, nodes, estimate, runtime))| {
                // Wide jobs are rarer than narrow ones.
                let nodes = if nodes < 9 { nodes.div_ceil(1 + id % 2) } else { nodes };
                job(id, submit, nodes, estimate, runtime)
            })
            .collect()
    }
}

pub(super) fn filters() -> impl Strategy<Value = ProbeFilters> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(counting, backlog, exact_limits, backfill)| ProbeFilters {
            counting,
            backlog,
            exact_limits,
            backfill,
        },
    )
}

fn probes(now: i64) -> impl Strategy<Value = Message> {
    (
        1_i64..25,
        prop::collection::vec(1_u32..=9, 1..4),
        -5_i64..20,
        1_i64..9,
        1_i64..8,
        filters(),
    )
        .prop_map(move |(duration, mut parts, first, step, count, filters)| {
            parts.sort_by_key(|&nodes| std::cmp::Reverse(nodes));
            let starts: Vec<i64> = (0..count).map(|index| now + first + index * step).collect();
            Message::Probe(query(duration, &parts, &starts, filters))
        })
}

/// Messages in order of time; orders are numbered by their place, and cancellations name any of them, sometimes before it
/// comes, and some orders are repeated.
pub(super) fn messages(failures: bool) -> impl Strategy<Value = Vec<(i64, Message)>> {
    let one = (
        0_i64..110,
        0_u32..100,
        0_u32..14,
        1_i64..25,
        0_i64..40,
        1_u32..=6,
    )
        .prop_flat_map(|(now, kind, request, duration, lead, nodes)| {
            probes(now).prop_map(move |probe| {
                let order = part(request, now - 1 + lead, duration, nodes);
                (now, kind, request, order, probe)
            })
        });
    prop::collection::vec(one, 0..40).prop_map(move |raw| {
        let mut orders: Vec<Option<PartOrder>> = vec![None; 14];
        let mut raw = raw;
        raw.sort_by_key(|(now, ..)| *now);
        raw.into_iter()
            .filter_map(|(now, kind, request, order, probe)| {
                let cpu = (order.nodes.0 + request) % 8;
                let count = order.nodes.0.min(8 - cpu);
                let message = match kind {
                    0..30 => probe,
                    30..70 => {
                        // An order has one content however often it comes.
                        let known = orders[request as usize].get_or_insert(order);
                        Message::Reserve(*known)
                    }
                    70..82 => Message::Cancel(request),
                    _ if !failures => return None,
                    82..85 => Message::Outage(OutageEvent::ClusterDown),
                    85..89 => Message::Outage(OutageEvent::ClusterUp),
                    89..94 => Message::Outage(OutageEvent::NodesDown { first: cpu, count }),
                    _ => Message::Outage(OutageEvent::NodesUp { first: cpu, count }),
                };
                Some((now, message))
            })
            .chain(failures.then_some((115, Message::Outage(OutageEvent::ClusterUp))))
            .chain(failures.then_some((
                115,
                Message::Outage(OutageEvent::NodesUp { first: 0, count: 8 }),
            )))
            .collect()
    })
}

pub(super) fn settings() -> impl Strategy<Value = LocalSettings> {
    let backfilling = prop::sample::select(vec![
        Backfilling::Aggressive,
        Backfilling::Conservative,
        Backfilling::None,
    ]);
    let tariff = prop::sample::select(vec![
        Tariff::DayNightCheapWeekends,
        Tariff::DayNight,
        Tariff::Flat,
        Tariff::Example,
    ]);
    (
        backfilling,
        (
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
        ),
        prop::sample::select(vec![1.0, 0.5, 0.25, 2.0]),
        prop::sample::select(vec![None, Some(0.25), Some(0.5), Some(0.7)]),
        tariff,
        0_i64..WEEK_SECONDS,
    )
        .prop_map(
            |(
                backfilling,
                (visible, full, running, true_ends, inclusive),
                factor,
                quota,
                tariff,
                origin,
            )| {
                LocalSettings {
                    backfilling,
                    planned_visible: visible,
                    backlog_work: if full {
                        BacklogWork::Full
                    } else {
                        BacklogWork::Remaining
                    },
                    accuracy: if running {
                        AccuracySource::Running
                    } else {
                        AccuracySource::History
                    },
                    accuracy_factor: factor,
                    next_event: if true_ends {
                        NextEventSource::Oracle
                    } else {
                        NextEventSource::Estimate
                    },
                    quota,
                    tariff,
                    hour_edge: if inclusive {
                        HourEdge::Inclusive
                    } else {
                        HourEdge::HalfOpen
                    },
                    calendar_origin: Seconds(origin),
                }
            },
        )
}

const WEEK_SECONDS: i64 = crate::scheduling::local::WEEK.0;

proptest! {
    #[test]
    fn the_machine_agrees_with_a_plan_of_every_second(
        settings in settings(),
        accuracy in prop::sample::select(vec![0.25, 0.5, 0.375, 1.0]),
        jobs in jobs(),
        messages in messages(false),
    ) {
        agree(8, &settings, accuracy, &jobs, &messages)?;
    }

    #[test]
    fn the_machine_agrees_with_a_plan_of_every_second_while_things_fail(
        settings in settings(),
        accuracy in prop::sample::select(vec![0.25, 0.5, 0.375, 1.0]),
        jobs in jobs(),
        messages in messages(true),
    ) {
        agree(8, &settings, accuracy, &jobs, &messages)?;
    }
}
