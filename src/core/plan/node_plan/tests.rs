use proptest::prelude::*;

use super::*;
use crate::units::NodeIndex;

const NODES: u32 = 12;

fn set(members: impl IntoIterator<Item = u32>) -> NodeSet {
    let mut nodes = NodeSet::empty(Nodes(NODES));
    for member in members {
        nodes.insert(NodeIndex(member));
    }
    nodes
}

/// Reservations that were accepted one after the other by a scan over seconds: the obvious
/// twin.
#[derive(Default)]
struct Slow {
    held: Vec<(u32, Vec<u32>, i64, i64)>,
}

impl Slow {
    fn is_free(&self, node: u32, from: i64, to: i64) -> bool {
        self.held
            .iter()
            .all(|(_, nodes, start, end)| !nodes.contains(&node) || *end <= from || *start >= to)
    }

    fn first_full(
        &self,
        from: i64,
        latest: i64,
        nodes: u32,
        duration: i64,
    ) -> Option<(i64, Vec<u32>)> {
        let mut starts: Vec<i64> = self.held.iter().map(|held| held.3).collect();
        starts.push(from);
        starts.sort_unstable();
        starts
            .into_iter()
            .filter(|&start| start >= from && start <= latest)
            .find_map(|start| {
                let free: Vec<u32> = (0..NODES)
                    .filter(|&node| self.is_free(node, start, start + duration))
                    .take(nodes as usize)
                    .collect();
                (free.len() == nodes as usize).then_some((start, free))
            })
    }
}

proptest! {
    #[test]
    fn the_node_plan_places_as_a_scan_over_all_nodes_does(
        requests in prop::collection::vec((1_u32..=NODES, 1_i64..40, 0_i64..100), 1..60),
        probe in 0_i64..150,
        wanted in 1_u32..=NODES,
        probes in prop::collection::btree_set(0_i64..200, 0..20),
        removed in prop::collection::vec(0_u32..60, 0..20),
        held in prop::collection::vec(0_u32..60, 0..3),
        now in 0_i64..100,
    ) {
        let mut plan = NodePlan::new(Nodes(NODES));
        let mut slow = Slow::default();
        for (job, (nodes, duration, from)) in requests.into_iter().enumerate() {
            let latest = from + 3 * duration;
            let starts = plan.candidate_starts(Seconds(from), Seconds(latest));
            let fast = plan
                .first_full(&starts, Nodes(nodes), Seconds(duration), None)
                .map(|(start, chosen)| {
                    (start.0, chosen.iter().map(|node| node.0).collect::<Vec<_>>())
                });
            prop_assert_eq!(&fast, &slow.first_full(from, latest, nodes, duration));
            if let Some((start, chosen)) = fast {
                plan.insert(Reservation {
                    job: JobId(job as u32),
                    nodes: set(chosen.iter().copied()),
                    start: Seconds(start),
                    end: Seconds(start + duration),
                });
                slow.held.push((job as u32, chosen, start, start + duration));
            }
        }
        // Longest windows first, then index.
        let mut windows: Vec<(i64, u32)> = (0..NODES)
            .filter(|&node| slow.is_free(node, probe, probe + 1))
            .map(|node| {
                let next = slow
                    .held
                    .iter()
                    .filter(|held| held.1.contains(&node) && held.2 > probe)
                    .map(|held| held.2)
                    .min()
                    .unwrap_or(Seconds::FAR.0);
                (next, node)
            })
            .collect();
        windows.sort_by_key(|&(next, node)| (std::cmp::Reverse(next), node));
        let expected = (windows.len() >= wanted as usize).then(|| {
            let chosen = &windows[..wanted as usize];
            (set(chosen.iter().map(|window| window.1)), Seconds(chosen[wanted as usize - 1].0))
        });
        let found = plan.sweep().longest_free(Seconds(probe), Nodes(wanted), None);
        prop_assert_eq!(&found, &expected);
        if let Some((chosen, _)) = found {
            let from = probe / 2;
            let mut last: Vec<u32> = chosen
                .iter()
                .filter_map(|node| {
                    slow.held
                        .iter()
                        .filter(|held| held.1.contains(&node.0) && held.3 <= probe && held.3 > from)
                        .max_by_key(|held| held.3)
                        .map(|held| held.0)
                })
                .collect();
            last.sort_unstable();
            last.dedup();
            let mut jobs: Vec<u32> = plan
                .predecessors(&chosen, Seconds(from), Seconds(probe))
                .into_iter()
                .map(|job| job.0)
                .collect();
            jobs.sort_unstable();
            prop_assert_eq!(jobs, last);
        }
        for job in removed {
            plan.remove(JobId(job));
        }
        plan.forget_before(Seconds(now));
        for job in held {
            plan.hold(JobId(job));
        }
        let mut sweep = plan.sweep();
        for probe in probes.into_iter().map(Seconds) {
            let usable = set([1, 2, 5]);
            for usable in [None, Some((Seconds(50), &usable))] {
                let expected = plan.free_throughout(probe, probe + Seconds(1), usable);
                prop_assert_eq!(sweep.free_at(probe, usable), expected);
            }
            let ends = plan.reservations().iter().map(|reservation| reservation.end);
            let starts: BTreeSet<Seconds> = ends
                .filter(|&end| end > probe && end <= probe + Seconds(30))
                .chain([probe])
                .collect();
            let found = plan.candidate_starts(probe, probe + Seconds(30));
            prop_assert_eq!(found, starts.into_iter().collect::<Vec<_>>());
        }
    }
}
