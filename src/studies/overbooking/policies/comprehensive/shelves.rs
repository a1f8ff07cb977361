//! New jobs in shelves, online (Birkenheuer et al. 2008, §2.1.1; Birkenheuer 2012, §2.3.1.2;
//! docs/model.md, "shelf-backfilling").
//!
//! A shelf is a block of the plan, from its start to its top, for jobs of one height class. Its
//! jobs are side by side: a node of a shelf has one job, and no other new job is put above it.
//! Shelves follow each other in time. What is no new job may use what they leave: fixed
//! reservations, and jobs that were interrupted.

use bookahead_core::plan::{NodePlan, NodeSet, ShelfFit, ShelfRule};
use bookahead_core::scheduling::Cluster;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

use super::placing::Candidate;

/// The shelves that are not over.
pub(super) struct Shelves {
    rule: ShelfRule,
    /// In order of time.
    shelves: Vec<Shelf>,
}

struct Shelf {
    start: Seconds,
    top: Seconds,
    /// Its jobs with their nodes, also after they have ended.
    jobs: Vec<(JobId, NodeSet)>,
}

impl Shelf {
    fn height(&self) -> Seconds {
        self.top - self.start
    }

    fn holds(&self, start: Seconds) -> bool {
        self.start <= start && start < self.top
    }
}

impl Shelves {
    pub(super) fn new(rule: ShelfRule) -> Self {
        Self {
            rule,
            shelves: Vec::new(),
        }
    }

    pub(super) fn forget_before(&mut self, now: Seconds) {
        self.shelves.retain(|shelf| shelf.top > now);
    }

    /// The place of a new job, not before `from`: in a shelf of its class that it does not outlast,
    /// else in a new one behind all. `None` where the top of its shelf is after its deadline.
    pub(super) fn place(
        &self,
        plan: &NodePlan,
        cluster: &Cluster,
        job: &Job,
        from: Seconds,
    ) -> Option<Candidate> {
        let height = self.rule.height_for(job.estimate);
        let usable = Some((cluster.now(), cluster.up()));
        let mut of_class = self.shelves.iter().filter(|it| it.height() == height);
        let within = |shelf: &Shelf| {
            let start = shelf.start.max(from);
            if start + job.estimate > shelf.top {
                return None;
            }
            let mut free = plan.free_throughout(start, shelf.top, usable);
            for (_, nodes) in &shelf.jobs {
                free.subtract(nodes);
            }
            Some((start, shelf.top, free.lowest(job.nodes)?))
        };
        let open = match self.rule.fit {
            ShelfFit::First => of_class.find_map(within),
            ShelfFit::Next => of_class.next_back().and_then(within),
        };
        let (start, top, nodes) = open.or_else(|| {
            let behind = self.shelves.last().map_or(from, |last| last.top.max(from));
            let starts = plan.candidate_starts(behind, job.deadline - height);
            let (start, nodes) = plan.first_full(&starts, job.nodes, height, usable)?;
            Some((start, start + height, nodes))
        })?;
        (top <= job.deadline).then(|| Candidate::of_full_length(nodes, start, start + job.estimate))
    }

    /// A new job has got this place: its shelf is new where there is none.
    pub(super) fn put(&mut self, job: JobId, place: &Candidate) {
        let job = (job, place.nodes.clone());
        let shelf = self.shelves.iter_mut().find(|it| it.holds(place.start));
        if let Some(shelf) = shelf {
            shelf.jobs.push(job);
            return;
        }
        let height = self.rule.height_for(place.end - place.start);
        self.shelves.push(Shelf {
            start: place.start,
            top: place.start + height,
            jobs: vec![job],
        });
    }

    /// A job is taken back: its nodes are free for others of its shelf, which stays.
    pub(super) fn give_back(&mut self, job: JobId) {
        for shelf in &mut self.shelves {
            shelf.jobs.retain(|(other, _)| *other != job);
        }
    }
}
