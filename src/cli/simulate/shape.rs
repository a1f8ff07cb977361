//! What is made of the jobs of a source before they are scheduled.

use crate::units::{Nodes, Seconds};
use crate::workload::{Job, battery};

/// The machine, the load that arrivals are scaled to, and what is booked for a job.
#[derive(Clone)]
pub(super) struct Shape {
    pub(super) machine: Nodes,
    /// What times between arrivals are multiplied by.
    pub(super) factor: Option<f64>,
    /// The first submission as the trace has it.
    pub(super) origin: Option<Seconds>,
    /// Whether jobs are booked for exactly what they use.
    pub(super) exact: bool,
    /// Of fixed starts: how long after its submission a job wants to start.
    pub(super) lead: Option<Seconds>,
}

impl Shape {
    /// The next job of the source, submitted as the load asks for.
    pub(super) fn submitted(&mut self, mut job: Job) -> Job {
        if let Some(factor) = self.factor {
            let first = *self.origin.get_or_insert(job.submit);
            job.submit = battery::compressed(job.submit, first, factor);
        }
        job
    }

    /// What a job uses, and what is booked for it.
    pub(super) fn times(&self, job: &Job) -> (Seconds, Seconds) {
        let runtime = job.runtime.min(job.estimate).max(Seconds(1));
        (runtime, if self.exact { runtime } else { job.estimate })
    }

    /// The job as the store has it.
    pub(super) fn stored(&self, job: &Job) -> Job {
        let job = Job {
            release: job.submit,
            estimate: self.times(job).1,
            deadline: Seconds::FAR,
            ..job.clone()
        };
        match self.lead {
            Some(lead) => {
                let start = job.submit + lead;
                job.into_reservation(start)
            }
            None => job,
        }
    }
}
