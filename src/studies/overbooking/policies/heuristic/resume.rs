//! Jobs that lost their nodes, and the places where jobs that save their work go on.

use bookahead_core::scheduling::{Cluster, JobQuote, Recovery, ResumeRule, SuccessFactors};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::JobId;

use super::best_slot::best_slot;
use super::{Heuristic, Slot};

impl Heuristic {
    /// Where a job that saves its work goes on: where all of its rest fits, else, if there is a gap
    /// that saves more than it costs, in the first that passes the test for the rest, or unless the
    /// rule is another one in the longest.
    pub(super) fn slot_for_rest(
        &self,
        cluster: &mut Cluster,
        slot: &Slot,
        from: Seconds,
    ) -> Option<(Seconds, Seconds)> {
        let latest = slot.deadline - Seconds(1);
        let longest = best_slot(&self.profile, slot, from, latest)?;
        if longest.1 - longest.0 >= slot.estimate {
            return Some(longest);
        }
        let settings = *cluster.checkpoints_of(slot.job)?.settings();
        if !cluster.is_worth(slot.job, longest.1 - longest.0) {
            return None;
        }
        let job = cluster.to_plan(slot.job);
        let known = self.learned.lookup(cluster.job(slot.job));
        let tested = self
            .acceptable(
                cluster,
                &job,
                from,
                known.as_ref().map(|(_, ratios)| ratios.as_ref()),
            )
            .find(|candidate| candidate.overbooked)
            .map(|tested| (tested.start, tested.end));
        match settings.resume {
            ResumeRule::Any => tested.or(Some(longest)),
            ResumeRule::Tested => tested,
        }
    }

    /// A running job lost its nodes, and waits for a slot for its rest.
    pub(super) fn displace(&mut self, cluster: &mut Cluster, job: JobId, recovery: Recovery) {
        let Some(place) = self.running.iter().position(|slot| slot.job == job) else {
            return;
        };
        let slot = self.running.remove(place);
        self.profile.release(cluster.now(), slot.end, slot.nodes);
        let rest = Slot::of(cluster, &cluster.to_plan(job), slot.start, slot.end);
        self.disable(cluster, rest, recovery);
    }

    /// The slot of an interrupted job that has one, with the probability that its rest fails in it.
    pub(super) fn promised_rest(&self, cluster: &Cluster, id: JobId) -> Option<JobQuote> {
        let slot = *(self.planned.iter().chain(&self.running)).find(|slot| slot.job == id)?;
        let job = cluster.to_plan(id);
        let own = self.own_ratios(cluster.job(id));
        let success = SuccessFactors {
            available: self.hardware.available(job.nodes),
            executable: match own {
                _ if slot.is_full() => 1.0,
                Some((_, ratios)) => cluster.executable(&job, &ratios, slot.start, slot.end),
                None => 0.0,
            },
            survives: (self.hardware)
                .survives(job.nodes, &self.exposure(Nodes(0), (slot.start, slot.end))),
        };
        let quote = (self.learned).quote(slot.start, slot.end, !slot.is_full(), &success);
        Some(quote)
    }
}
