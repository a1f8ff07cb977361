//! The jobs that wait, in the order in which they are tried behind the first.

use std::collections::VecDeque;

use super::orders::Scored;
use super::{BackfillOrder, QueueOrder};
use crate::units::Seconds;

/// What a candidate may use: it starts if it fits the free nodes and ends by the time at which the first of the queue starts, or
/// leaves it its nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) free: u32,
    pub(super) span: i64,
    pub(super) extra: u32,
}

/// A waiting job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) job: u32,
    pub(super) nodes: u32,
    pub(super) predicted: i64,
}

/// The queue. Candidates stand in arrays side by side, as they are looked through at almost every event. Times count from the first
/// submission of all.
#[derive(Clone, Debug)]
pub(super) struct WaitingJobs {
    order: QueueOrder,
    backfill: BackfillOrder,
    jobs: Vec<u32>,
    nodes: Vec<u32>,
    predicted: Vec<i64>,
    /// Empty where submissions decide.
    scores: Vec<f64>,
    submits: Vec<i64>,
    /// Jobs in order of submission, and whether each has left; only where candidates stand in another order than the queue.
    arrivals: VecDeque<u32>,
    left: Vec<bool>,
}

impl WaitingJobs {
    pub(super) fn new(order: QueueOrder, backfill: BackfillOrder) -> Self {
        Self {
            order,
            backfill,
            jobs: Vec::new(),
            nodes: Vec::new(),
            predicted: Vec::new(),
            scores: Vec::new(),
            submits: Vec::new(),
            arrivals: VecDeque::new(),
            left: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether the order changes while jobs wait.
    pub(super) fn changes_by_itself(&self) -> bool {
        self.order.depends_on_waiting()
    }

    /// Whether a new job always comes last of the queue.
    pub(super) fn is_first_come(&self) -> bool {
        self.order == QueueOrder::Fcfs
    }

    /// Enters a job.
    pub(super) fn push(&mut self, waiting: Waiting, submit: Seconds) {
        let score = self.order.score(Scored {
            predicted: waiting.predicted as f64,
            nodes: f64::from(waiting.nodes),
            submitted: submit.0 as f64,
            waited: 0.0,
        });
        let place = match self.backfill {
            BackfillOrder::ShortestFirst => {
                let shorter = |predicted: &i64| *predicted <= waiting.predicted;
                self.predicted.partition_point(shorter)
            }
            BackfillOrder::Queue if self.is_first_come() => self.jobs.len(),
            BackfillOrder::Queue => self.scores.partition_point(|other| *other <= score),
        };
        self.jobs.insert(place, waiting.job);
        self.nodes.insert(place, waiting.nodes);
        self.predicted.insert(place, waiting.predicted);
        if self.is_first_come() {
            if self.backfill == BackfillOrder::ShortestFirst {
                self.arrivals.push_back(waiting.job);
                self.left.resize(waiting.job as usize + 1, false);
            }
        } else {
            self.scores.insert(place, score);
            self.submits.insert(place, submit.0);
        }
    }

    pub(super) fn at(&self, place: usize) -> Waiting {
        Waiting {
            job: self.jobs[place],
            nodes: self.nodes[place],
            predicted: self.predicted[place],
        }
    }

    /// Brings scores that change while jobs wait up to date.
    pub(super) fn refresh(&mut self, now: Seconds) {
        if !self.changes_by_itself() {
            return;
        }
        for place in 0..self.jobs.len() {
            let submit = Seconds(self.submits[place]);
            self.scores[place] = self.order.score(Scored {
                predicted: self.predicted[place] as f64,
                nodes: f64::from(self.nodes[place]),
                submitted: submit.0 as f64,
                waited: (now - submit).0 as f64,
            });
        }
        if self.backfill == BackfillOrder::Queue {
            self.sort_by_score();
        }
    }

    fn sort_by_score(&mut self) {
        let mut places: Vec<usize> = (0..self.jobs.len()).collect();
        places.sort_by(|a, b| {
            let by_score = self.scores[*a].total_cmp(&self.scores[*b]);
            by_score.then(self.jobs[*a].cmp(&self.jobs[*b]))
        });
        fn arranged<T: Copy>(values: &[T], places: &[usize]) -> Vec<T> {
            places.iter().map(|place| values[*place]).collect()
        }
        self.jobs = arranged(&self.jobs, &places);
        self.nodes = arranged(&self.nodes, &places);
        self.predicted = arranged(&self.predicted, &places);
        self.scores = arranged(&self.scores, &places);
        self.submits = arranged(&self.submits, &places);
    }

    /// The place of the first of the queue.
    pub(super) fn head(&mut self) -> Option<usize> {
        if self.jobs.is_empty() {
            return None;
        }
        if self.backfill == BackfillOrder::Queue {
            return Some(0);
        }
        if !self.is_first_come() {
            return (0..self.jobs.len()).min_by(|a, b| {
                let by_score = self.scores[*a].total_cmp(&self.scores[*b]);
                by_score.then(self.jobs[*a].cmp(&self.jobs[*b]))
            });
        }
        while let Some(head) = self.arrivals.front() {
            if !self.left[*head as usize] {
                return self.jobs.iter().position(|job| job == head);
            }
            self.arrivals.pop_front();
        }
        None
    }

    pub(super) fn remove(&mut self, place: usize) {
        let job = self.jobs.remove(place);
        self.nodes.remove(place);
        self.predicted.remove(place);
        if !self.is_first_come() {
            self.scores.remove(place);
            self.submits.remove(place);
        } else if let Some(left) = self.left.get_mut(job as usize) {
            *left = true;
        }
    }

    /// The first candidate from `from` on that may use the room; `head` is none.
    pub(super) fn first_within(&self, from: usize, head: u32, room: Room) -> Option<usize> {
        let Room { free, span, extra } = room;
        if free == 0 {
            return None;
        }
        let mut end = self.jobs.len();
        if extra == 0 && self.backfill == BackfillOrder::ShortestFirst {
            end = self
                .predicted
                .partition_point(|predicted| *predicted <= span);
        }
        (from..end).find(|place| {
            let nodes = self.nodes[*place];
            nodes <= free
                && (self.predicted[*place] <= span || nodes <= extra)
                && self.jobs[*place] != head
        })
    }
}
