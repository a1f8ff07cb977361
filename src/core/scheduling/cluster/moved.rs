//! Jobs that leave a cluster with their saved work and go on at another one.

use super::jobs::{JobRecord, Phase};
use super::progress::Progress;
use super::{Cluster, ClusterMachine, Event};
use crate::scheduling::outcome::JobQuote;
use crate::scheduling::policy::Policy;
use crate::units::Seconds;
use crate::workload::{Job, JobId};

/// A job between two clusters, with what was done of it.
#[derive(Clone, Debug)]
pub struct MovedJob {
    job: Job,
    progress: Progress,
    left: f64,
    start: Option<Seconds>,
    restarts: u32,
    node_failures: u32,
}

impl MovedJob {
    /// A job of which nothing was done.
    #[must_use]
    pub fn new(job: Job) -> Self {
        Self {
            job,
            progress: Progress::default(),
            left: 1.0,
            start: None,
            restarts: 0,
            node_failures: 0,
        }
    }

    /// The job as it was submitted.
    #[must_use]
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The work that it has saved and need not do again.
    #[must_use]
    pub fn saved(&self) -> Seconds {
        self.progress.saved
    }

    /// The share of the granted work that it has not saved.
    #[must_use]
    pub fn left(&self) -> f64 {
        self.left
    }

    /// The same job, which cannot start before `arrival`, when its checkpoint has been transferred.
    #[must_use]
    pub fn arriving(mut self, arrival: Seconds) -> Self {
        self.job.release = self.job.release.max(arrival);
        self
    }

    fn record(&self, id: JobId) -> JobRecord {
        JobRecord {
            progress: self.progress.clone(),
            start: self.start,
            restarts: self.restarts,
            node_failures: self.node_failures,
            ..JobRecord::new(Job {
                id,
                ..self.job.clone()
            })
        }
    }
}

impl<P: Policy + ?Sized> ClusterMachine<P> {
    /// From now on, which jobs were stopped at the end of a window or lost a node and may go on is
    /// written down: [`ClusterMachine::take_interrupted`].
    pub fn record_interruptions(&mut self) {
        self.cluster.interrupted.get_or_insert_default();
    }

    /// The jobs that were interrupted since the last time, in the order in which they were.
    pub fn take_interrupted(&mut self) -> Vec<JobId> {
        let written = self.cluster.interrupted.as_mut();
        written.map(std::mem::take).unwrap_or_default()
    }

    /// What would leave with a job that was interrupted at this instant and has computed nothing
    /// since; `None` where it is over.
    #[must_use]
    pub fn interrupted(&self, job: JobId) -> Option<MovedJob> {
        let now = self.cluster.now;
        let record = self.cluster.jobs.find(job)?;
        let has_begun = record.phase == Phase::Running;
        if has_begun && record.start != Some(now) {
            return None;
        }
        Some(MovedJob {
            job: record.job.clone(),
            progress: record.progress.carried_away(has_begun, now),
            left: self.cluster.checkpoints_of(job).map_or(1.0, |saves| {
                let rest = record.progress.rest(saves, &record.job).0 as f64;
                rest / (saves.granted(&record.job).0 as f64).max(1.0)
            }),
            start: record.start,
            restarts: record.restarts - u32::from(has_begun),
            node_failures: record.node_failures,
        })
    }

    /// What the policy promises the rest of a job that it has planned
    /// ([`crate::scheduling::JobQuoter::quote_rest`]); `None` where it waits for a gap, and where
    /// the policy quotes no jobs.
    #[must_use]
    pub fn quote_planned_rest(&mut self, job: JobId) -> Option<JobQuote> {
        let quoter = self.policy.job_quoter()?;
        quoter.quote_rest(&mut self.cluster, job)
    }

    /// What the policy would promise this job if it arrived now
    /// ([`crate::scheduling::JobQuoter::quote_job`]), given what was done of it; `None` for a job
    /// that is wider than the cluster, and where the policy quotes no jobs.
    #[must_use]
    pub fn quote_moved(&mut self, moved: &MovedJob) -> Option<JobQuote> {
        if moved.job.nodes > self.cluster.nodes {
            return None;
        }
        let quoter = self.policy.job_quoter()?;
        // While it is asked about, it is on the cluster as any other job that has not been decided
        // about.
        let id = self.cluster.jobs.next_id();
        self.cluster.jobs.push_record(moved.record(id));
        let asked = self.cluster.to_plan(id);
        let quote = quoter.quote_job(&mut self.cluster, &asked);
        self.cluster.jobs.pop();
        quote
    }

    /// Lets a job leave that was interrupted at this instant: nothing remains of it here but the
    /// time that it used, and no outcome will tell of it.
    pub fn hand_over(&mut self, job: JobId) {
        self.policy.cancelled(&mut self.cluster, job);
    }

    /// Takes on a job of another cluster, which arrives now. It has the next id; what becomes of it
    /// will be told under that.
    pub fn receive(&mut self, moved: &MovedJob) {
        let id = self.cluster.jobs.next_id();
        self.cluster.jobs.push_record(moved.record(id));
        self.cluster.schedule(self.cluster.now, Event::Arrival(id));
    }
}

impl Cluster {
    pub(super) fn interrupted_now(&mut self, job: JobId) {
        if let Some(interrupted) = &mut self.interrupted {
            interrupted.push(job);
        }
    }
}
