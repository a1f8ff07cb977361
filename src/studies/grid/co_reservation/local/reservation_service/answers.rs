//! Answers to status queries: which starts are admitted, for which parts, at what cost and at which
//! risk (Meltzer 2005, §4.3 to §4.5, §4.7.3).

use bookahead_core::scheduling::{Policy, QueueForecast};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{FurtherCounts, FurtherResource, Job};

use super::{Open, ReservationService, booked, limit};
use crate::co_reservation::local::accuracy::{CategoryMeans, Worth};
use crate::co_reservation::local::backlog::{Backlog, PartWork, job_work};
use crate::co_reservation::local::filters::{Availability, held, lacking, reservation_degree};
use crate::co_reservation::local::job_mix::Run;
use crate::co_reservation::local::{
    BacklogWork, FilterCounts, LocalService, LookAhead, NextEventSource, OfferedPart, PartOrder,
    Probe, ProbeAnswer,
};

impl<P: Policy + ?Sized> ReservationService<P> {
    /// Answers a status query. A part has CPUs where its window can be had with at most the
    /// cluster's PoF. What it needs beside them is never placed at a risk.
    ///
    /// Without that filter (A1), every candidate is offered, those whose CPUs cannot be had at all
    /// with a PoF of 1 where risk is told.
    pub(super) fn answer(&mut self, now: Seconds, probe: &Probe) -> ProbeAnswer {
        let filters = probe.filters;
        let mut backlog = self.backlog(now, filters.exact_limits);
        let horizon = filters.backfill.then(|| self.horizon());
        let beyond = self.room_of_all(probe.precedence);
        let backlog_now = backlog.now();
        let mut backlog_earliest = None;
        let mut counts = FilterCounts::default();
        let mut offered = Vec::with_capacity(probe.starts.len() * probe.parts.len());
        let asked = if probe.free_cpus {
            &probe.starts[..]
        } else {
            &[]
        };
        let free_cpus = asked.iter();
        let free_cpus = free_cpus.map(|&start| self.free_over(start, start + probe.duration));
        let free_cpus = free_cpus.collect();
        for &start in &probe.starts {
            let end = start + probe.duration;
            let backlog_time = backlog.before(start);
            backlog_earliest.get_or_insert(backlog_time);
            let is_fair = start >= now + backlog_time;
            let mut cost_of_one = None;
            let mut held_by_parts = None;
            let widest = self.widest(probe, start);
            for (part, &nodes) in (0_u16..).zip(&probe.parts) {
                let further = probe.further_of(part);
                if nodes > self.nodes() || !further.fits(self.settings.further) {
                    continue;
                }
                let quote = match self.pof_max {
                    Some(_) => self.machine.quote_window(nodes, start, end),
                    None => None,
                };
                let room = || {
                    let has_nodes = match self.pof_max {
                        Some(most) => quote.is_some_and(|quote| quote.is_within(most)),
                        None => widest.is_some_and(|widest| nodes <= widest),
                    };
                    let may_displace = beyond.as_ref().is_some_and(|room| {
                        self.is_room_for(room, (nodes, further), start, probe.duration)
                    });
                    if may_displace {
                        Availability::Free
                    } else if !self.is_up || !has_nodes {
                        Availability::Occupied
                    } else if let Some(what) = self.lacking(further, start, probe.duration) {
                        Availability::Lacking(what)
                    } else if self.is_within_quota(nodes, start, probe.duration) {
                        Availability::Free
                    } else {
                        Availability::OverQuota
                    }
                };
                let is_harmless = || {
                    let horizon = horizon.as_ref();
                    horizon.is_some_and(|horizon| horizon.is_harmless(nodes, start, end))
                };
                if !counts.admits(filters, room, is_fair, is_harmless) {
                    continue;
                }
                let one = *cost_of_one.get_or_insert_with(|| {
                    self.settings
                        .cost_of_one(self.cluster, start, probe.duration)
                });
                let degree = if probe.degrees {
                    let reserved = *held_by_parts
                        .get_or_insert_with(|| held(self.orders(), start, probe.duration));
                    reservation_degree(reserved, self.nodes(), probe.duration, nodes)
                } else {
                    0.0
                };
                let pof = || quote.map_or(1.0, |quote| quote.success.pof());
                offered.push(OfferedPart {
                    part,
                    start,
                    cost: f64::from(nodes.0) * one,
                    pof: if self.pof_max.is_some() { pof() } else { 0.0 },
                    degree,
                });
            }
        }
        ProbeAnswer {
            at: now,
            offered,
            counts,
            backlog_now,
            backlog_earliest: backlog_earliest.unwrap_or(backlog_now),
            large_share: if probe.job_mix {
                self.large_share(now)
            } else {
                0.0
            },
            free_cpus,
        }
    }

    /// How many CPUs a part could hold over this window, with at most the cluster's PoF: none while
    /// the cluster is down, or where the start is past.
    fn free_over(&mut self, start: Seconds, end: Seconds) -> Nodes {
        let (mut free, mut taken) = (0, self.nodes().0 + 1);
        while self.is_up && taken - free > 1 {
            let half = free + (taken - free) / 2;
            let quote = self.machine.quote_window(Nodes(half), start, end);
            let most = self.pof_max;
            if quote.is_some_and(|quote| most.is_none_or(|most| quote.is_within(most))) {
                free = half;
            } else {
                taken = half;
            }
        }
        Nodes(free)
    }

    /// CPUs of the widest part that has them at `start`, where no part is put at risk: what is free
    /// for it is free for those behind it, which want no more.
    fn widest(&mut self, probe: &Probe, start: Seconds) -> Option<Nodes> {
        if self.pof_max.is_some() || !probe.filters.counting {
            return None;
        }
        let end = start + probe.duration;
        let machine = &mut self.machine;
        let mut parts = probe.parts.iter().copied();
        parts.find(|&nodes| machine.quote_window(nodes, start, end).is_some())
    }

    /// What a part lacks beside CPUs, and beside all that are promised.
    pub(super) fn lacking(
        &self,
        wanted: FurtherCounts,
        start: Seconds,
        duration: Seconds,
    ) -> Option<FurtherResource> {
        lacking(
            self.orders(),
            self.settings.further,
            wanted,
            start,
            duration,
        )
    }

    /// Whether the quota leaves room for a part beside all that are promised.
    pub(super) fn is_within_quota(&self, nodes: Nodes, start: Seconds, duration: Seconds) -> bool {
        self.is_within_quota_beside(self.orders(), nodes, start, duration)
    }

    /// The same beside these parts.
    pub(super) fn is_within_quota_beside<'a>(
        &self,
        orders: impl Iterator<Item = &'a PartOrder> + Clone,
        nodes: Nodes,
        start: Seconds,
        duration: Seconds,
    ) -> bool {
        let cluster = (self.cluster, self.nodes());
        let span = (start, start + duration);
        self.settings
            .within_quota(cluster, self.now(), orders, span, nodes)
    }

    /// What jobs and parts in the system are expected to need (Meltzer 2005, §4.4; Q9, Q10).
    fn backlog(&mut self, now: Seconds, exact_limits: bool) -> Backlog {
        let rule = self.settings.backlog_work;
        let jobs = match self.accuracy.by(&self.settings, exact_limits) {
            Worth::OfAll(accuracy) if rule == BacklogWork::Planned => {
                let span = self.planned_drain(now).0 as f64 * accuracy;
                return Backlog::new(span * f64::from(self.nodes().0), Vec::new(), self.nodes());
            }
            Worth::OfAll(accuracy) => self.work_of_jobs(now, accuracy),
            Worth::ByCategory(means) => self.work_by_category(now, &means),
        };
        let orders = self.orders();
        let parts = orders.map(|order| PartWork::of(order, order.start <= now, rule, now));
        let mut parts: Vec<PartWork> = parts.collect();
        parts.sort_by_key(PartWork::start);
        Backlog::new(jobs, parts, self.nodes())
    }

    /// How long it takes until the last job has ended, if all last as long as their limits and
    /// nobody else comes.
    fn planned_drain(&mut self, now: Seconds) -> Seconds {
        let is_job = |job: &Job| matches!(self.open.get(&job.id), Some(Open::Job(_)));
        let running = self.running().filter(|(job, _)| is_job(job));
        let running = running.map(|(job, since)| since + limit(job)).max();
        let (cluster, policy) = self.machine.parts();
        let forecast = policy.window_seller().and_then(|it| it.forecast(cluster));
        let waiting = forecast.and_then(|it| it.last_end_of_waiting());
        running.max(waiting).map_or(Seconds::ZERO, |end| end - now)
    }

    /// CPU-seconds of jobs with one accuracy for all.
    fn work_of_jobs(&self, now: Seconds, accuracy: f64) -> f64 {
        // Of what is booked, that of which only the rest counts.
        let (mut begun, mut rest) = (0, 0.0);
        if self.settings.backlog_work == BacklogWork::Remaining {
            let is_job = |job: &Job| matches!(self.open.get(&job.id), Some(Open::Job(_)));
            for (job, since) in self.running().filter(|(job, _)| is_job(job)) {
                begun += booked(job);
                rest += job_work(accuracy, limit(job), now - since, job.nodes);
            }
        }
        (self.booked - begun) as f64 * accuracy + rest
    }

    /// CPU-seconds of jobs, each with the accuracy of its category (Meltzer 2005, §4.4.3).
    fn work_by_category(&self, now: Seconds, means: &CategoryMeans) -> f64 {
        let cluster = self.machine.cluster();
        let jobs = self.open.iter().filter_map(|(&id, open)| match open {
            Open::Job(_) => Some((id, cluster.job(id))),
            Open::Part(_) => None,
        });
        jobs.map(|(id, job)| {
            let since = match self.settings.backlog_work {
                BacklogWork::Remaining => cluster.running_since(id),
                BacklogWork::Full | BacklogWork::Planned => None,
            };
            let elapsed = since.map_or(Seconds::ZERO, |since| now - since);
            job_work(means.of_job(job), limit(job), elapsed, job.nodes)
        })
        .sum()
    }

    /// The share of large jobs in what ran lately (Meltzer 2005, §7.2).
    fn large_share(&self, now: Seconds) -> f64 {
        let jobs = self.running();
        let jobs = jobs.filter(|(job, _)| matches!(self.open.get(&job.id), Some(Open::Job(_))));
        let runs = jobs.map(|(job, since)| Run::new(job.nodes, since, now));
        self.job_mix.large_share(now, runs, self.settings.job_mix)
    }

    /// How far parts that are exempt from the backlog test may reach.
    fn horizon(&mut self) -> Horizon {
        let LookAhead(events) = self.settings.look_ahead;
        let (cluster, policy) = self.machine.parts();
        let seller = policy.window_seller().filter(|_| events > 1);
        match seller.and_then(|seller| seller.forecast(cluster)) {
            Some(forecast) => Horizon {
                until: forecast.end(events),
                forecast: Some(forecast),
            },
            None => Horizon {
                until: self.next_scheduling_event(),
                forecast: None,
            },
        }
    }

    /// The next end of a running job or part, as far as the service knows (Q13); [`Seconds::FAR`]
    /// if nothing runs.
    fn next_scheduling_event(&self) -> Seconds {
        let ends = self.running().map(|(job, since)| {
            since
                + match self.settings.next_event {
                    NextEventSource::Estimate => limit(job),
                    NextEventSource::Oracle => job.runtime.min(job.estimate),
                }
        });
        ends.min().unwrap_or(Seconds::FAR)
    }
}

/// How far parts may reach that are exempt from the backlog test.
struct Horizon {
    /// They must be over before this.
    until: Seconds,
    /// In which they may delay nobody; `None` where they are over before anything happens.
    forecast: Option<Box<dyn QueueForecast>>,
}

impl Horizon {
    fn is_harmless(&self, nodes: Nodes, start: Seconds, end: Seconds) -> bool {
        let forecast = self.forecast.as_ref();
        end < self.until
            && forecast.is_none_or(|forecast| forecast.delays_nobody(nodes, start, end))
    }
}
