//! Which site has the fewest tasks (spec `provisioning.md` §5, line 4).

use bookahead_core::units::{Nodes, Seconds};

/// How many tasks each site has at an instant: waiting, running and on the way there, of
/// applications and of others (AMB-24d).
///
/// A site tells only of what has reached its queue. If those that are sent to it did not count, all
/// tasks that are ready together would go to one.
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
    /// Sends a task to the site with the fewest among those, of these sizes, that can hold `nodes`:
    /// the first of equals.
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

    /// What is on the way beside what sites have at the end of the second `now`, when all that
    /// arrives until then is there.
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
