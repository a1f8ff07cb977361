//! Who gives way where running jobs are stopped for others: those with which the least work is
//! lost.

use crate::units::{NodeSeconds, Nodes, Seconds};
use crate::workload::JobId;

/// A running job that may be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stoppable {
    /// The job.
    pub job: JobId,
    /// The nodes that it holds.
    pub nodes: Nodes,
    /// When its run began.
    pub since: Seconds,
    /// The work that would be lost with it: its nodes times what it has used and not saved.
    pub lost: NodeSeconds,
}

/// The jobs to be stopped so that what is left of them `suffices`, by least lost work; `None` where
/// it would not suffice to stop them all.
///
/// They are chosen one after the other by rising loss (ties: who started last, then the higher id)
/// until it suffices. Then those that became superfluous are spared, the dearest first. Heine et
/// al. (2005, §2) end jobs "by an equation in nodes and used time" which they do not print.
#[must_use]
pub fn least_lost(
    mut running: Vec<Stoppable>,
    mut suffices: impl FnMut(&[Stoppable]) -> bool,
) -> Option<Vec<Stoppable>> {
    running.sort_by(|one, other| {
        let by_loss = one.lost.cmp(&other.lost);
        by_loss.then((other.since, other.job).cmp(&(one.since, one.job)))
    });
    let enough = (0..=running.len()).find(|&count| suffices(&running[..count]))?;
    running.truncate(enough);
    for place in (0..running.len()).rev() {
        let spared = running.remove(place);
        if !suffices(&running) {
            running.insert(place, spared);
        }
    }
    Some(running)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Seconds = Seconds(3 * 3_600);

    fn running(id: u32, nodes: u32, half_hours: i64) -> Stoppable {
        let used = Seconds(half_hours * 1_800);
        Stoppable {
            job: JobId(id),
            nodes: Nodes(nodes),
            since: NOW - used,
            lost: Nodes(nodes).for_span(used),
        }
    }

    fn nodes_of(stopped: &[Stoppable]) -> u32 {
        stopped.iter().map(|stopped| stopped.nodes.0).sum()
    }

    fn stopped_for(wanted: u32, running: &[Stoppable]) -> Option<Vec<u32>> {
        let stopped = least_lost(running.to_vec(), |stopped| nodes_of(stopped) >= wanted)?;
        Some(stopped.iter().map(|stopped| stopped.job.0).collect())
    }

    #[test]
    fn a_cheap_job_is_spared_where_a_dearer_one_frees_all_nodes() {
        // V1 2 nodes × 3 h, V2 4 × 1 h, V3 2 × 0.5 h: V3, then V2, and V3 is superfluous.
        let all = [running(1, 2, 6), running(2, 4, 2), running(3, 2, 1)];
        assert_eq!(stopped_for(4, &all), Some(vec![2]));
        assert_eq!(stopped_for(2, &all), Some(vec![3]));
        assert_eq!(stopped_for(6, &all), Some(vec![3, 2]));
        assert_eq!(stopped_for(0, &all), Some(vec![]));
        assert_eq!(stopped_for(9, &all), None);
    }

    #[test]
    fn of_jobs_with_equal_losses_the_one_that_started_last_is_stopped() {
        let early = running(1, 2, 4);
        let late = running(2, 4, 2);
        assert_eq!(early.lost, late.lost);
        assert_eq!(stopped_for(2, &[early, late]), Some(vec![2]));
        let twin = Stoppable {
            job: JobId(3),
            ..late
        };
        assert_eq!(stopped_for(2, &[late, twin, early]), Some(vec![3]));
    }

    proptest! {
        #[test]
        fn what_is_stopped_suffices_and_nobody_of_it_could_be_spared(
            jobs in prop::collection::vec((1_u32..9, 0_i64..9), 0..9),
            wanted in 0_u32..40,
        ) {
            let all: Vec<Stoppable> = jobs
                .iter()
                .enumerate()
                .map(|(id, &(nodes, used))| running(id as u32, nodes, used))
                .collect();
            match least_lost(all.clone(), |stopped| nodes_of(stopped) >= wanted) {
                None => prop_assert!(nodes_of(&all) < wanted),
                Some(stopped) => {
                    let freed = nodes_of(&stopped);
                    prop_assert!(freed >= wanted);
                    for one in &stopped {
                        prop_assert!(freed - one.nodes.0 < wanted);
                    }
                }
            }
        }
    }
}
