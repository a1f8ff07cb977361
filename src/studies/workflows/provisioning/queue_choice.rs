//! To which queues best effort sends a task (Singh 2008, §1.1, §2.2, §4.9).

use serde::{Deserialize, Serialize};

use bookahead_core::units::{Nodes, Seconds};

/// How many of the latest waits sites keep of the jobs of each node bin, to predict waits from.
pub(super) const WAITS_KEPT: usize = 200;

/// To which queues best effort sends a task, among those of the sites that can hold it; the first
/// of equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum QueueChoice {
    /// That of the site with the fewest tasks (Singh 2008, §4.9).
    #[default]
    FewestTasks,
    /// That in which it is predicted to end first, by when its data is there, how long it then
    /// waits (Singh 2008, §1.1, §2.2) and runs; of equal ones that with the fewest tasks.
    PredictedWait {
        /// The predicted wait is this quantile, between 0 and 1, of the latest waits in the node
        /// bin of the task, and 0 where no job of it has started yet
        /// ([`WaitPredictor::quantile`](bookahead_core::estimates::WaitPredictor::quantile)).
        quantile: f64,
    },
    /// Those of the sites with the fewest tasks, each when its data is there. When one of the
    /// copies starts, the others are cancelled (Singh 2008, §1.1).
    Redundant {
        /// How many queues; where fewer sites can hold the task, all of these.
        copies: u32,
    },
}

impl QueueChoice {
    /// Whether it is that of the thesis.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The quantile of waits that sites are asked for.
    pub(super) fn quantile(self) -> Option<f64> {
        match self {
            Self::PredictedWait { quantile } => Some(quantile),
            Self::FewestTasks | Self::Redundant { .. } => None,
        }
    }

    pub(super) fn is_redundant(self) -> bool {
        matches!(self, Self::Redundant { .. })
    }
}

/// The number of tasks of each site at an instant: waiting, running and on the way there, of
/// applications and of others (AMB-24d).
///
/// A site reports only tasks that have reached its queue. If those on the way did not count, all
/// tasks that are ready together would go to one site.
#[derive(Clone, Debug)]
pub(super) struct Busy(Vec<usize>);

/// Tasks that were sent to sites whose queues they have not reached: their data is on the way
/// (AMB-24c).
#[derive(Clone, Debug)]
pub(super) struct TasksInTransit {
    /// When each arrives, by site.
    arrivals: Vec<Vec<Seconds>>,
}

impl Busy {
    /// The site with the fewest tasks among those, of these sizes, that can hold `nodes`; of equal
    /// ones the first.
    pub(super) fn least(&self, sizes: &[Nodes], nodes: Nodes) -> Option<usize> {
        let fitting = (0..sizes.len()).filter(|&site| nodes <= sizes[site]);
        fitting.min_by_key(|&site| self.0[site])
    }

    /// Sends a task to the sites that the rule chooses among those that it fits, and counts it
    /// there; none where it fits none. `end` is when it is predicted to end at a site.
    pub(super) fn send(
        &mut self,
        choice: QueueChoice,
        fits: impl Fn(usize) -> bool,
        end: impl Fn(usize) -> Seconds,
    ) -> Vec<usize> {
        let fitting = (0..self.0.len()).filter(|&site| fits(site));
        let mut chosen: Vec<usize> = fitting.collect();
        chosen.sort_by_key(|&site| self.0[site]);
        let count = match choice {
            QueueChoice::FewestTasks => 1,
            QueueChoice::PredictedWait { .. } => {
                chosen.sort_by_key(|&site| end(site));
                1
            }
            QueueChoice::Redundant { copies } => copies as usize,
        };
        chosen.truncate(count);
        for &site in &chosen {
            self.0[site] += 1;
        }
        chosen
    }
}

impl TasksInTransit {
    /// No task in transit, for this number of sites.
    pub(super) fn new(sites: usize) -> Self {
        Self {
            arrivals: vec![Vec::new(); sites],
        }
    }

    /// A task reaches the queue of a site at `arrival`.
    pub(super) fn note(&mut self, site: usize, arrival: Seconds) {
        self.arrivals[site].push(arrival);
    }

    /// Adds the tasks in transit to those that sites have at the end of the second `now`, when
    /// everything that arrives until then has arrived.
    pub(super) fn beside(
        &mut self,
        in_system: impl IntoIterator<Item = usize>,
        now: Seconds,
    ) -> Busy {
        for arrivals in &mut self.arrivals {
            arrivals.retain(|arrival| *arrival > now);
        }
        let sites = in_system.into_iter().zip(&self.arrivals);
        Busy(
            sites
                .map(|(there, in_transit)| there + in_transit.len())
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four sites of 8, 2, 8 and 8 nodes with 3, 0, 2 and 2 tasks, and a task of 4 nodes, which the
    /// second cannot hold. By fewest tasks: third (2), fourth (2), first (3).
    #[test]
    fn each_rule_chooses_among_the_sites_that_can_hold_the_task_and_counts_it_there() {
        let sizes = [8, 2, 8, 8].map(Nodes);
        let send = |choice, ends: [i64; 4]| {
            let mut busy = Busy(vec![3, 0, 2, 2]);
            let fits = |site: usize| Nodes(4) <= sizes[site];
            let chosen = busy.send(choice, fits, |site| Seconds(ends[site]));
            (chosen, busy.0)
        };
        let never = [0; 4];
        assert_eq!(
            send(QueueChoice::FewestTasks, never),
            (vec![2], vec![3, 0, 3, 2])
        );
        let redundant = |copies| send(QueueChoice::Redundant { copies }, never);
        assert_eq!(redundant(2), (vec![2, 3], vec![3, 0, 3, 3]));
        assert_eq!(redundant(4), (vec![2, 3, 0], vec![4, 0, 3, 3]));
        let predicted = QueueChoice::PredictedWait { quantile: 0.5 };
        assert_eq!(send(predicted, [40, 10, 60, 50]).0, [0]);
        // Of equal ends the fewest tasks decide, then the lower index.
        assert_eq!(send(predicted, [40, 10, 60, 40]).0, [3]);
        assert_eq!(send(predicted, [60, 10, 40, 40]).0, [2]);
        let mut busy = Busy(vec![0; 4]);
        let too_wide = busy.send(predicted, |_| false, |_| Seconds::ZERO);
        assert!(too_wide.is_empty());
    }
}
