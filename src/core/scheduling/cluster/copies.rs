//! Jobs that run twice: a job with a copy on other nodes, which has no outcome of its own.
//!
//! The copy is a record beside that of the job ([`JobId::copy`]) until one of the two runs has
//! ended or is lost. From then on there is only the job: as itself, or in the place of its copy.

use super::jobs::JobRecord;
use super::{Cluster, Phase};
use crate::scheduling::outcome::Verdict;
use crate::units::{NodeSeconds, Seconds};
use crate::workload::{Job, JobId};

impl Cluster {
    /// Gives an accepted job a copy, which is to be planned like any job.
    pub fn add_copy(&mut self, job: JobId) -> Option<JobId> {
        let copy = job.copy()?;
        let record = self.jobs.get(job);
        let of_copy = JobRecord {
            promise: record.promise,
            ..JobRecord::new(Job {
                id: copy,
                ..record.job.clone()
            })
        };
        self.jobs.push_record(of_copy);
        self.totals.double.jobs += 1;
        Some(copy)
    }

    /// Whether the job has a copy that is planned or runs.
    #[must_use]
    pub fn has_copy(&self, job: JobId) -> bool {
        job.copy()
            .is_some_and(|copy| matches!(self.phase(copy), Phase::Planned | Phase::Running))
    }

    /// Forgets the copy of a job, if there is one. Failures of its nodes are those of the job.
    pub fn drop_copy(&mut self, job: JobId) {
        let Some(copy) = job.copy().filter(|copy| self.jobs.find(*copy).is_some()) else {
            return;
        };
        let failures = self.jobs.get(copy).node_failures;
        if self.phase(job) == Phase::Done {
            self.totals.double.spare += self.held(copy);
        } else {
            self.jobs.get_mut(job).node_failures += failures;
        }
        self.withdraw(copy);
    }

    /// The job, whose own run is lost, goes on as its copy, which has or is planned this window.
    pub fn go_on_as_copy(&mut self, job: JobId, (start, window_end): (Seconds, Seconds)) {
        self.take_place_of_copy(job);
        self.jobs.get_mut(job).is_copy = true;
        if self.phase(job) == Phase::Running {
            self.schedule_end(job, window_end);
        } else {
            self.plan(job, start);
        }
    }

    /// The copy ends: says whether its job has ended with it, in the copy's place. A copy that is
    /// stopped before it has done its work is to be dropped.
    pub(super) fn end_copy(&mut self, job: JobId, copy: JobId) -> bool {
        let record = self.jobs.get(copy);
        let ran = self.now - record.start.unwrap_or(self.now);
        if ran < record.job.runtime && ran < record.job.estimate {
            self.vacate(copy, false);
            self.jobs.get_mut(copy).phase = Phase::Disabled;
            return false;
        }
        self.totals.double.spare += self.held(job);
        self.take_place_of_copy(job);
        self.end(job)
    }

    /// The node-time since the start of a job, if it runs.
    fn held(&self, job: JobId) -> NodeSeconds {
        let ran = self.running_since(job).map(|start| self.now - start);
        self.job(job).nodes.for_span(ran.unwrap_or(Seconds::ZERO))
    }

    /// Puts the job, whose own nodes become free, in the place of its copy.
    fn take_place_of_copy(&mut self, job: JobId) {
        if self.phase(job) == Phase::Running {
            self.vacate(job, false);
        }
        let Some(copy) = job.copy().filter(|copy| self.jobs.find(*copy).is_some()) else {
            return;
        };
        let other = self.jobs.get(copy).clone();
        self.jobs.close(copy, Verdict::DroppedNoSlot, None, false);
        if let Ok(place) = self.running.binary_search(&copy) {
            self.running.remove(place);
            if let Err(place) = self.running.binary_search(&job) {
                self.running.insert(place, job);
            }
        }
        let record = self.jobs.get_mut(job);
        record.phase = other.phase;
        record.node_failures += other.node_failures;
        if other.start.is_some() {
            record.start = other.start;
            record.nodes = other.nodes;
        }
        record.version += 1;
    }
}
