//! What the cluster answers a probe: price and risk of each candidate that the filters leave.

use super::{Open, OverbookingMachine};
use crate::brokering::co_reservation::local::backlog::{Backlog, PartWork, job_work};
use crate::brokering::co_reservation::local::filters::{Fairness, Room, held, reservation_degree};
use crate::brokering::co_reservation::local::{
    BacklogWork, FilterCounts, NextEventSource, OfferedPart, Probe, ProbeAnswer,
};
use crate::scheduling::Phase;
use crate::units::{Nodes, Seconds};

impl OverbookingMachine {
    /// Answers a status query (spec `co-reservation.md` §3.2–3.4); the test of free CPUs is replaced by that of the PoF.
    ///
    /// Without that filter (A1), every candidate is offered, those that cannot be had with a PoF of 1.
    pub(super) fn answer(&mut self, now: Seconds, probe: &Probe) -> ProbeAnswer {
        let filters = probe.filters;
        let mut backlog = self.backlog(now, filters.exact_limits);
        let backlog_now = backlog.now();
        let next_event = self.next_scheduling_event();
        let mut answer = ProbeAnswer {
            offered: Vec::new(),
            counts: FilterCounts::default(),
            backlog_now,
            backlog_earliest: probe
                .starts
                .first()
                .map_or(backlog_now, |&start| backlog.before(start)),
        };
        let counts = &mut answer.counts;
        for &start in &probe.starts {
            let end = start + probe.duration;
            let fairness = Fairness {
                is_fair: start >= now + backlog.before(start),
                is_harmless: end < next_event,
            };
            for (part, &nodes) in (0_u16..).zip(&probe.parts) {
                if nodes > self.nodes {
                    continue;
                }
                let quote = self.machine.quote_window(nodes, start, end);
                let admitted = counts.admits(filters, fairness, || {
                    let wanted = quote.is_some_and(|quote| quote.is_within(self.pof_max));
                    if !wanted || !self.is_up {
                        Room::Occupied
                    } else if self.is_within_quota(nodes, start, end) {
                        Room::Free
                    } else {
                        Room::OverQuota
                    }
                });
                if !admitted {
                    continue;
                }
                let degree = if probe.degrees {
                    let reserved =
                        held(self.parts().map(|(_, order)| order), start, probe.duration);
                    reservation_degree(reserved, self.nodes, probe.duration, nodes)
                } else {
                    0.0
                };
                answer.offered.push(OfferedPart {
                    part,
                    start,
                    cost: self
                        .settings
                        .partial_cost(self.cluster, start, probe.duration, nodes),
                    pof: quote.map_or(1.0, |quote| quote.success.pof()),
                    degree,
                });
            }
        }
        answer
    }

    /// Whether the quota leaves room for a part beside all that are promised.
    pub(super) fn is_within_quota(&self, nodes: Nodes, start: Seconds, end: Seconds) -> bool {
        let parts = self.parts().map(|(_, order)| order);
        self.settings
            .within_quota(parts, self.nodes, start, end - start, nodes)
    }

    /// What jobs and parts in the system are expected to need (§3.3, Q9, Q10).
    fn backlog(&self, now: Seconds, exact_limits: bool) -> Backlog {
        let accuracy = self.accuracy.by(&self.settings, exact_limits);
        let rule = self.settings.backlog_work;
        let cluster = self.machine.cluster();
        let jobs = self
            .open
            .iter()
            .filter(|(_, open)| matches!(open, Open::Job(_)));
        let jobs = jobs.map(|(&id, _)| {
            let job = cluster.job(id);
            let elapsed = match (rule, cluster.start_of(id)) {
                (BacklogWork::Remaining, Some(start)) if self.is_running(id) => now - start,
                _ => Seconds::ZERO,
            };
            job_work(accuracy, job.estimate, elapsed, job.nodes)
        });
        let mut orders: Vec<_> = self.parts().collect();
        orders.sort_by_key(|(_, order)| order.start);
        let parts = orders.into_iter();
        let parts = parts.map(|(id, order)| PartWork::of(order, self.is_running(id), rule, now));
        Backlog::new(jobs.sum(), parts.collect(), self.nodes)
    }

    /// The next end of a running job or part, as far as the service knows (Q13).
    fn next_scheduling_event(&self) -> Seconds {
        let cluster = self.machine.cluster();
        self.open
            .iter()
            .filter(|&(&id, _)| cluster.phase(id) == Phase::Running)
            .filter_map(|(&id, open)| {
                let job = cluster.job(id);
                let length = match (open, self.settings.next_event) {
                    (Open::Job(_), NextEventSource::Oracle) => job.runtime.min(job.estimate),
                    _ => job.estimate,
                };
                cluster.start_of(id).map(|start| start + length)
            })
            .min()
            .unwrap_or(Seconds::FAR)
    }
}
