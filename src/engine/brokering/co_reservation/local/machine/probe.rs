//! Answers to status queries: which starts are admitted, for which parts, and at what cost (§3.2–3.4, §3.6.1).

use super::LocalMachine;
use crate::brokering::co_reservation::local::backlog::{Backlog, PartWork, job_work};
use crate::brokering::co_reservation::local::filters::{Fairness, Room, held, reservation_degree};
use crate::brokering::co_reservation::local::{
    BacklogWork, FilterCounts, NextEventSource, OfferedPart, Probe, ProbeAnswer,
};
use crate::units::{Nodes, Seconds};

impl LocalMachine {
    pub(super) fn answer(&mut self, probe: &Probe) -> ProbeAnswer {
        let filters = probe.filters;
        let (mut backlog, next_event) = self.backlog(filters.exact_limits);
        let backlog_now = backlog.now();
        let mut backlog_earliest = None;
        let mut counts = FilterCounts::default();
        let mut offered = Vec::new();
        for &start in &probe.starts {
            let end = start + probe.duration;
            let backlog_time = backlog.before(start);
            backlog_earliest.get_or_insert(backlog_time);
            let low = self.low(start, probe.duration);
            let fairness = Fairness {
                is_fair: start >= self.now + backlog_time,
                is_harmless: end < next_event,
            };
            let mut cost_of_one = None;
            let mut held_by_parts = None;
            for (part, &nodes) in (0_u16..).zip(&probe.parts) {
                if nodes > self.nodes {
                    continue;
                }
                let admitted = counts.admits(filters, fairness, || {
                    if !self.up || low < i64::from(nodes.0) {
                        Room::Occupied
                    } else if self.within_quota(start, probe.duration, nodes) {
                        Room::Free
                    } else {
                        Room::OverQuota
                    }
                });
                if !admitted {
                    continue;
                }
                let one = *cost_of_one.get_or_insert_with(|| {
                    self.settings
                        .cost_of_one(self.cluster, start, probe.duration)
                });
                let degree = if probe.degrees {
                    let reserved = *held_by_parts.get_or_insert_with(|| {
                        let parts = self.parts.values().map(|part| &part.order);
                        held(parts, start, probe.duration)
                    });
                    reservation_degree(reserved, self.nodes, probe.duration, nodes)
                } else {
                    0.0
                };
                offered.push(OfferedPart {
                    part,
                    start,
                    cost: f64::from(nodes.0) * one,
                    pof: 0.0,
                    degree,
                });
            }
        }
        ProbeAnswer {
            offered,
            counts,
            backlog_now,
            backlog_earliest: backlog_earliest.unwrap_or(backlog_now),
        }
    }

    /// The backlog, and the next end of a running job or an active part ([`Seconds::FAR`] if nothing runs).
    fn backlog(&self, exact_limits: bool) -> (Backlog, Seconds) {
        let accuracy = self.backlog.accuracy.by(&self.settings, exact_limits);
        let rule = self.settings.backlog_work;
        let mut next_event = Seconds::FAR;
        let mut rest_of_running = 0.0;
        for job in self.running.values() {
            if rule == BacklogWork::Remaining {
                let (limit, elapsed) = (job.limit - job.start, self.now - job.start);
                rest_of_running += job_work(accuracy, limit, elapsed, job.nodes);
            }
            next_event = next_event.min(match self.settings.next_event {
                NextEventSource::Estimate => job.limit,
                NextEventSource::Oracle => job.end,
            });
        }
        let running = match rule {
            BacklogWork::Full => self.backlog.running as f64 * accuracy,
            BacklogWork::Remaining => rest_of_running,
        };
        let parts = self.parts_by_start.iter().filter_map(|(_, key)| {
            let part = self.parts.get(key)?;
            if part.held.is_some() {
                next_event = next_event.min(part.end());
            }
            Some(PartWork::of(
                &part.order,
                part.held.is_some(),
                rule,
                self.now,
            ))
        });
        let parts = parts.collect();
        let jobs = self.backlog.waiting as f64 * accuracy + running;
        (Backlog::new(jobs, parts, self.nodes), next_event)
    }

    /// Whether so many CPUs are free from `start` on for `duration`, for a part (Q3, Q4).
    pub(super) fn has_room(&mut self, start: Seconds, duration: Seconds, nodes: Nodes) -> bool {
        start >= self.now && self.low(start, duration) >= i64::from(nodes.0)
    }

    /// The fewest CPUs that are free for a part at any time within the interval; none in an interval of no length or in the
    /// past.
    fn low(&mut self, start: Seconds, duration: Seconds) -> i64 {
        if duration <= Seconds::ZERO || start < self.now {
            return -1;
        }
        i64::from(self.visible().min_free(start, start + duration))
    }

    /// Whether the quota leaves room for a part beside all that are promised.
    pub(super) fn within_quota(&self, start: Seconds, duration: Seconds, nodes: Nodes) -> bool {
        let parts = self.parts.values().map(|part| &part.order);
        self.settings
            .within_quota(parts, self.nodes, start, duration, nodes)
    }
}
