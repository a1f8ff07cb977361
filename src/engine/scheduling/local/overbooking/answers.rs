//! What the cluster answers a probe: price and risk of each candidate that the filters leave.

use super::{Open, OverbookingMachine};
use crate::scheduling::Phase;
use crate::scheduling::local::filters::{Fairness, Room};
use crate::scheduling::local::{
    AccuracySource, BacklogWork, FilterCounts, NextEventSource, OfferedPart, Probe, ProbeAnswer,
};
use crate::units::{Nodes, Seconds};
use crate::workload::JobId;

impl OverbookingMachine {
    /// Answers a status query (spec `co-reservation.md` §3.2–3.4); the test of free CPUs is replaced by that of the PoF.
    ///
    /// Without that filter (A1), every candidate is offered, those that cannot be had with a PoF of 1.
    pub(super) fn answer(&self, now: Seconds, probe: &Probe) -> ProbeAnswer {
        let filters = probe.filters;
        let job_work = self.job_work(now, filters.exact_limits);
        let backlog_now = self.backlog(now, job_work, |id, _| self.is_running(id));
        let before = |start| self.backlog(now, job_work, |_, begin| begin < start);
        let next_event = self.next_scheduling_event();
        let mut answer = ProbeAnswer {
            offered: Vec::new(),
            counts: FilterCounts::default(),
            backlog_now,
            backlog_earliest: probe
                .starts
                .first()
                .map_or(backlog_now, |&start| before(start)),
        };
        let counts = &mut answer.counts;
        for &start in &probe.starts {
            let end = start + probe.duration;
            let fairness = Fairness {
                is_fair: start >= now + before(start),
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
                answer.offered.push(OfferedPart {
                    part,
                    start,
                    cost: self
                        .settings
                        .partial_cost(self.cluster, start, probe.duration, nodes),
                    pof: quote.map_or(1.0, |quote| quote.success.pof()),
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

    /// CPU-seconds that the jobs in the system are expected to need (§3.3, Q9, Q10).
    fn job_work(&self, now: Seconds, exact_limits: bool) -> f64 {
        let accuracy = if exact_limits {
            1.0
        } else {
            let known = match self.settings.accuracy {
                AccuracySource::History | AccuracySource::Work => self.accuracy,
                AccuracySource::Running => self.accuracies.0 / self.accuracies.1 as f64,
            };
            known * self.settings.accuracy_factor
        };
        let cluster = self.machine.cluster();
        self.open
            .iter()
            .filter(|(_, open)| matches!(open, Open::Job(_)))
            .map(|(&id, _)| {
                let job = cluster.job(id);
                let expected = accuracy * job.estimate.0 as f64;
                let elapsed = match (self.settings.backlog_work, cluster.start_of(id)) {
                    (BacklogWork::Remaining, Some(start)) if self.is_running(id) => {
                        (now - start).0 as f64
                    }
                    _ => 0.0,
                };
                (expected - elapsed).max(0.0) * f64::from(job.nodes.0)
            })
            .sum()
    }

    /// How long the cluster needs for the jobs and for those parts that `counts` names by number and start, rounded up to a
    /// second.
    fn backlog(
        &self,
        now: Seconds,
        job_work: f64,
        counts: impl Fn(JobId, Seconds) -> bool,
    ) -> Seconds {
        let part_work: i64 = self
            .parts()
            .filter(|&(id, order)| counts(id, order.start))
            .map(|(id, order)| {
                let left = match self.settings.backlog_work {
                    BacklogWork::Remaining if self.is_running(id) => {
                        order.start + order.duration - now
                    }
                    _ => order.duration,
                };
                i64::from(order.nodes.0) * left.0
            })
            .sum();
        let exact = (job_work + part_work as f64) / f64::from(self.nodes.0.max(1));
        // Accuracies are not exact in binary: what exceeds a whole second by so little is that second.
        Seconds((exact - 1e-6).ceil() as i64)
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
