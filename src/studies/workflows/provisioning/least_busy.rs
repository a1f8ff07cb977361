//! Finds the site with the fewest tasks (Singh 2008, §4.9).

use bookahead_core::units::{Nodes, Seconds};

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
    /// Sends a task to the site with the fewest tasks among those, of these sizes, that can hold
    /// `nodes`; of equal ones to the first.
    pub(super) fn send_to_least(&mut self, sizes: &[Nodes], nodes: Nodes) -> Option<usize> {
        let fitting = (0..sizes.len()).filter(|&site| nodes <= sizes[site]);
        let least = fitting.min_by_key(|&site| self.0[site])?;
        self.0[least] += 1;
        Some(least)
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
