//! Copies of tasks that wait in several queues at once, until the first of them starts (Singh 2008,
//! §1.1; docs/model.md, "Queues of best effort").

use std::collections::BTreeSet;

use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

/// Copies that have not started, in the order in which they were sent.
///
/// Sites are visited one after the other within a second, the lowest index first. So a copy that
/// starts cancels the others before any of them can start in the same second: no task runs twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    waiting: Vec<TaskCopy>,
    /// Copies in queues that are to be cancelled, by site.
    cancelled: Vec<Vec<JobId>>,
    /// Sites at which this second has not passed, or a copy is to be cancelled.
    to_visit: BTreeSet<usize>,
}

/// A task in one of its queues, or on the way there.
#[derive(Clone, Debug)]
pub(super) struct TaskCopy {
    /// The task as a job; its submission is when its data is there.
    pub(super) job: Job,
    /// Index of the site.
    pub(super) site: usize,
    /// How long data takes to there, of all parents together.
    pub(super) transfers: Seconds,
    /// Whether it has reached the queue.
    queued: bool,
}

/// What a site is told of copies within a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CopiesAtSite {
    /// Copies that reach the queue.
    pub arrivals: Vec<Job>,
    /// Waiting copies to be cancelled before anything of this second starts.
    pub cancelled: Vec<JobId>,
    /// Copies of which it is asked whether they have started.
    pub watched: Vec<JobId>,
}

/// Copies that were cancelled because another one had started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CancelledCopies {
    /// How many.
    pub number: u32,
    /// How long the data of their parents takes to their sites, of all together; counted whole
    /// where a copy was cancelled on its way.
    pub transfers: Seconds,
}

impl TaskCopy {
    /// A copy that is on its way to a site.
    pub(super) fn sent(job: Job, site: usize, transfers: Seconds) -> Self {
        Self {
            job,
            site,
            transfers,
            queued: false,
        }
    }
}

impl CancelledCopies {
    pub(super) fn add(&mut self, copy: &TaskCopy) {
        self.number += 1;
        self.transfers += copy.transfers;
    }
}

impl Copies {
    /// None, for this number of sites.
    pub(super) fn new(sites: usize) -> Self {
        Self {
            cancelled: vec![Vec::new(); sites],
            ..Self::default()
        }
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Sends a copy on its way. Those of one task have one id.
    pub(super) fn send(&mut self, copy: TaskCopy) {
        self.waiting.push(copy);
    }

    /// When the next copy reaches its queue.
    pub(super) fn next_arrival(&self) -> Option<Seconds> {
        let on_the_way = self.waiting.iter().filter(|copy| !copy.queued);
        on_the_way.map(|copy| copy.job.submit).min()
    }

    /// How many copies are on the way to a site.
    pub(super) fn on_the_way(&self, site: usize) -> usize {
        let on_the_way = self.waiting.iter().filter(|copy| !copy.queued);
        on_the_way.filter(|copy| copy.site == site).count()
    }

    /// A second begins in which every site is to be visited.
    pub(super) fn begin(&mut self) {
        self.to_visit = (0..self.cancelled.len()).collect();
    }

    /// The site that is visited next in the second `now`, and what it is told; `None` when the
    /// second is over.
    pub(super) fn next_visit(&mut self, now: Seconds) -> Option<(usize, CopiesAtSite)> {
        let site = self.to_visit.pop_first()?;
        let mut told = CopiesAtSite {
            cancelled: std::mem::take(&mut self.cancelled[site]),
            ..CopiesAtSite::default()
        };
        for copy in self.waiting.iter_mut().filter(|copy| copy.site == site) {
            if !copy.queued && copy.job.submit <= now {
                copy.queued = true;
                told.arrivals.push(copy.job.clone());
            }
            if copy.queued {
                told.watched.push(copy.job.id);
            }
        }
        Some((site, told))
    }

    /// These tasks have started at a site; the other copies of them, which are cancelled.
    pub(super) fn started(&mut self, site: usize, tasks: &[JobId]) -> Vec<TaskCopy> {
        let of_started = |copy: &mut TaskCopy| tasks.contains(&copy.job.id);
        let mut others: Vec<TaskCopy> = self.waiting.extract_if(.., of_started).collect();
        others.retain(|copy| copy.site != site);
        for copy in others.iter().filter(|copy| copy.queued) {
            self.cancelled[copy.site].push(copy.job.id);
            self.to_visit.insert(copy.site);
        }
        others
    }
}
