//! Operations from outside between events: windows that are sold, and nodes that are made to fail.

use super::{Cluster, ClusterMachine, Event, MovedJob, Phase};
use crate::scheduling::outcome::JobQuote;
use crate::scheduling::policy::{Policy, WindowQuote};
use crate::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use crate::workload::{Job, JobId, ReservationRequest, SameInstant};

impl<P: Policy + ?Sized> ClusterMachine<P> {
    /// Forgets events that mean nothing any more, so that [`ClusterMachine::next_event`] names one
    /// that does.
    pub fn forget_stale_events(&mut self) {
        while let Some(&event) = self.cluster.events.next()
            && self.cluster.is_stale(event)
        {
            self.cluster.events.pop();
        }
    }

    /// What the policy would promise this job if it arrived now
    /// ([`crate::scheduling::JobQuoter::quote_job`]); `None` for a job that is wider than the
    /// cluster, and where the policy quotes no jobs.
    #[must_use]
    pub fn quote_job(&mut self, job: &Job) -> Option<JobQuote> {
        self.quote_moved(&MovedJob::new(job.clone()))
    }

    /// The node-time that is booked from now until `until`
    /// ([`crate::scheduling::JobQuoter::booked`]); `None` where the policy quotes no jobs.
    #[must_use]
    pub fn booked(&mut self, until: Seconds) -> Option<NodeSeconds> {
        let quoter = self.policy.job_quoter()?;
        Some(quoter.booked(&self.cluster, until))
    }

    /// What the policy can promise now of `nodes` nodes on `[start, end)`
    /// ([`crate::scheduling::WindowSeller::quote_window`]); `None` for a window that cannot be had,
    /// is empty or past, or is wider than the cluster, and where the policy sells no windows.
    #[must_use]
    pub fn quote_window(
        &mut self,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> Option<WindowQuote> {
        let possible =
            nodes.0 > 0 && nodes <= self.cluster.nodes && start >= self.cluster.now && end > start;
        if !possible {
            return None;
        }
        let seller = self.policy.window_seller()?;
        seller.quote_window(&self.cluster, nodes, start, end)
    }

    /// Promises a fixed reservation its window if it fails with probability `limit` at most, and
    /// says whether it did. Its id must continue those of the jobs. Nothing happens, and no outcome
    /// will tell of it, where it is refused.
    pub fn reserve_window(&mut self, job: Job, limit: f64) -> bool {
        let Some((start, end)) = job.fixed_window() else {
            return false;
        };
        let Some(quote) = self
            .quote_window(job.nodes, start, end)
            .filter(|quote| quote.is_within(limit))
        else {
            return false;
        };
        let id = job.id;
        self.cluster.jobs.push(job);
        if let Some(seller) = self.policy.window_seller() {
            seller.admit_window(&mut self.cluster, id, quote.free);
        }
        true
    }

    /// Takes back a window that was reserved and has not ended; nothing remains of it, not even an
    /// outcome.
    pub fn withdraw_window(&mut self, job: JobId) {
        if matches!(self.cluster.phase(job), Phase::Planned | Phase::Running) {
            self.policy.cancelled(&mut self.cluster, job);
        }
    }

    /// Says of a running job how long it lasts, which was not known before: until `end`, or to the
    /// end of its limit if that is earlier.
    pub fn last_until(&mut self, job: JobId, end: Seconds) {
        let Some(start) = self.cluster.running_since(job) else {
            return;
        };
        self.cluster.jobs.get_mut(job).job.runtime = (end - start).max(Seconds::ZERO);
        self.cluster.schedule_end(job, Seconds::FAR);
    }

    /// Nodes go down now; those that are down stay so.
    pub fn nodes_down(&mut self, nodes: impl IntoIterator<Item = NodeIndex>) {
        let cluster = &mut self.cluster;
        let mut failed = Vec::new();
        for node in nodes {
            if node.0 < cluster.nodes.0 && cluster.up.contains(node) {
                failed.push((node, cluster.node_down(node)));
            }
        }
        if !failed.is_empty() {
            self.policy.nodes_failed(cluster, &failed);
        }
    }

    /// Nodes come back now; those that are up stay so.
    pub fn nodes_up(&mut self, nodes: impl IntoIterator<Item = NodeIndex>) {
        let cluster = &mut self.cluster;
        let mut repaired = Vec::new();
        for node in nodes {
            if node.0 < cluster.nodes.0 && !cluster.up.contains(node) {
                cluster.node_up(node);
                repaired.push(node);
            }
        }
        if !repaired.is_empty() {
            self.policy.nodes_repaired(cluster, &repaired);
        }
    }

    /// Hands over a request for a window, which its policy answers when its time has come
    /// ([`Policy::arrived`]); no outcome of a job will tell of it.
    pub fn submit_request(&mut self, request: &ReservationRequest, order: SameInstant) {
        let window = request.window();
        let time = request.submit.max(self.cluster.now);
        let event = Event::Arrival(window.id);
        self.cluster.jobs.push(window);
        let class = Event::request_class(order);
        self.cluster.events.push(time, class, event);
    }
}

impl Cluster {
    /// Grants a request its window from `start` on: its start and its end will come.
    pub fn grant(&mut self, request: JobId, start: Seconds) {
        let record = self.jobs.get_mut(request);
        record.job.release = start;
        record.phase = Phase::Planned;
        record.version += 1;
        let version = record.version;
        let end = start + record.job.runtime.min(record.job.estimate);
        self.schedule(start, Event::Start(request, version));
        self.schedule(end, Event::End(request, version));
    }
}
