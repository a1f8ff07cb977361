//! Running jobs whose users ask for more time.

use super::events::Event;
use super::{Cluster, ClusterMachine, Phase};
use crate::scheduling::longer_estimates::LongerEstimates;
use crate::scheduling::policy::Policy;
use crate::units::{NodeSeconds, Seconds};
use crate::workload::JobId;

impl<P: Policy + ?Sized> ClusterMachine<P> {
    /// From now on these users may ask for more time while their jobs run
    /// ([`Policy::longer_wished`]).
    pub fn let_ask(&mut self, users: LongerEstimates) {
        self.cluster.longer_estimates = Some(users);
    }
}

impl Cluster {
    /// A run begins: its user will ask for more time where the job needs more than it may have, and
    /// the user is one who asks.
    pub(super) fn schedule_wish(&mut self, job: JobId) {
        let users = self.longer_estimates.as_ref();
        let Some(before) = users.and_then(|users| users.before(job)) else {
            return;
        };
        let record = self.jobs.get(job);
        let longest = record.longest_run();
        if record.job.runtime > longest && !record.job.is_reservation() {
            let time = (self.now + longest - before).max(self.now);
            self.schedule(time, Event::Wish(job, self.now));
        }
    }

    /// Whether this run of a job is over, so that nothing is wished for it.
    pub(super) fn is_over(&self, job: JobId, start: Seconds) -> bool {
        self.jobs
            .find(job)
            .is_none_or(|record| record.phase != Phase::Running || record.start != Some(start))
    }

    /// Until when the user of a running job wishes to have its nodes: as long as it needs them, and
    /// not beyond its deadline.
    pub(super) fn wished(&mut self, job: JobId) -> Seconds {
        self.totals.longer.asked += 1;
        let record = self.jobs.get(job);
        let needed = record.start.unwrap_or(self.now) + record.job.runtime;
        needed.min(record.job.deadline)
    }

    /// Grants a running job its nodes until `end`, which is later than it may have them: its
    /// estimate is that long from now on, until the run is over or lost.
    pub fn lengthen(&mut self, job: JobId, end: Seconds) {
        let record = self.jobs.get_mut(job);
        let length = end - record.start.unwrap_or(self.now);
        let more = length - record.longest_run();
        if more <= Seconds::ZERO {
            return;
        }
        record.lengthened = length;
        let totals = &mut self.totals.longer;
        if length >= record.job.runtime {
            totals.in_full += 1;
        } else {
            totals.in_part += 1;
        }
        totals.granted += record.job.nodes.for_span(more);
        self.schedule_end(job, end);
    }

    /// What a successful job pays for time that it was granted beyond its estimate while it ran.
    pub(super) fn paid_for_more(&self, job: JobId) -> NodeSeconds {
        let record = self.jobs.get(job);
        let more = record.lengthened - record.job.estimate;
        record.job.nodes.for_span(more.max(Seconds::ZERO))
    }
}
