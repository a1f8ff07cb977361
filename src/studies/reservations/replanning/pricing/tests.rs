use proptest::prelude::*;

use bookahead_core::units::{Megabytes, Nodes};
use bookahead_core::workload::JobId;

use super::*;

fn of_nodes(nodes: u32) -> Resources {
    Resources::of_nodes(Nodes(nodes))
}

struct Scene {
    fixed: FreeResources,
    queue: Vec<Waiting>,
}

impl Scene {
    /// `running`: (nodes, until); `queue`: (nodes, estimate).
    fn new(nodes: u32, running: &[(u32, i64)], queue: &[(u32, i64)]) -> Self {
        let mut fixed = FreeResources::new(Nodes(nodes), Seconds::ZERO);
        for (nodes, until) in running {
            fixed.reserve(Seconds::ZERO, Seconds(*until), of_nodes(*nodes));
        }
        let queue = (0..)
            .zip(queue)
            .map(|(id, (nodes, estimate))| Waiting {
                job: JobId(id),
                rank: 0,
                since: Seconds::ZERO,
                nodes: Nodes(*nodes),
                estimate: Seconds(*estimate),
                memory: Megabytes(0),
            })
            .collect();
        Self { fixed, queue }
    }

    fn starts(&self, backfilling: Backfilling) -> Vec<Seconds> {
        self.planned(backfilling).0
    }

    /// Starts, and what they leave free.
    fn planned(&self, backfilling: Backfilling) -> (Vec<Seconds>, FreeResources) {
        let mut left = self.fixed.clone();
        let starts = left.plan_queue(Seconds::ZERO, &self.queue, backfilling);
        (starts, left)
    }

    fn price(&self, backfilling: Backfilling, start: i64, nodes: u32, duration: i64) -> i64 {
        let (starts, left) = self.planned(backfilling);
        let sheet = PriceSheet {
            fixed: &self.fixed,
            now: Seconds::ZERO,
            queue: &self.queue,
            starts: &starts,
            left: &left,
            backfilling,
            costs: &[],
        };
        sheet
            .price(Seconds(start), of_nodes(nodes), Seconds(duration))
            .unwrap()
            .0
    }
}

fn seconds(starts: &[i64]) -> Vec<Seconds> {
    starts.iter().copied().map(Seconds).collect()
}

/// Where aggressive backfilling differs.
#[test]
fn section_12_4_aggressive_backfilling_starts_and_prices_differently() {
    let scene = Scene::new(5, &[(4, 3)], &[(3, 1), (2, 1), (1, 1), (1, 3)]);
    assert_eq!(
        scene.starts(Backfilling::Conservative),
        seconds(&[3, 3, 0, 4])
    );
    assert_eq!(
        scene.starts(Backfilling::Aggressive),
        seconds(&[3, 4, 0, 1])
    );
    assert_eq!(scene.price(Backfilling::Conservative, 3, 2, 2), 2);
    assert_eq!(scene.price(Backfilling::Aggressive, 3, 2, 2), 3);
}

/// The second job moves up from 7 to 3 and earns nothing.
#[test]
fn section_12_4_who_starts_earlier_earns_nothing() {
    let scene = Scene::new(5, &[(3, 1), (2, 3)], &[(4, 4), (4, 1), (5, 4), (1, 4)]);
    assert_eq!(
        scene.starts(Backfilling::Conservative),
        seconds(&[3, 7, 8, 1])
    );
    assert_eq!(scene.price(Backfilling::Conservative, 4, 3, 4), 40);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// The sweep over the queue gives what planning the whole queue for every slot gives; prices
    /// are never negative, and 0 behind the last planned end.
    #[test]
    fn a_list_of_offers_has_the_prices_of_whole_plans(
        running in prop::collection::vec((1_u32..3, 1_i64..20), 0..4),
        queue in prop::collection::vec((1_u32..=8, 1_i64..15), 0..25),
        reserved in prop::collection::vec((0_i64..60, 1_i64..10), 0..6),
        nodes in 1_u32..=8,
        duration in 1_i64..20,
        costs in prop::collection::vec(0.0_f64..8.0, 0..25),
        memory in prop::option::of((prop::collection::vec(0_u32..=12, 25), 0_u32..=12)),
    ) {
        let mut scene = Scene::new(8, &running, &queue);
        let mut wanted = of_nodes(nodes);
        if let Some((of_jobs, of_slot)) = memory {
            scene.fixed = scene.fixed.with_memory(Megabytes(12), Seconds::ZERO);
            for (waiting, memory) in scene.queue.iter_mut().zip(of_jobs) {
                waiting.memory = Megabytes(memory);
            }
            wanted.memory = Megabytes(of_slot);
        }
        for (start, length) in reserved {
            if scene.fixed.is_free(Seconds(start), Seconds(start + length), of_nodes(1)) {
                scene.fixed.reserve(Seconds(start), Seconds(start + length), of_nodes(1));
            }
        }
        let (starts, left) = scene.planned(Backfilling::Conservative);
        let instants: Vec<Seconds> = (0..80).map(Seconds).collect();
        let sheet = PriceSheet {
            fixed: &scene.fixed,
            now: Seconds::ZERO,
            queue: &scene.queue,
            starts: &starts,
            left: &left,
            backfilling: Backfilling::Conservative,
            costs: &costs,
        };
        let offers = sheet.offers(&instants, wanted, Seconds(duration));
        let slow: Vec<Offer> = instants
            .iter()
            .filter_map(|start| {
                let price = sheet.price(*start, wanted, Seconds(duration))?;
                Some(Offer { start: *start, price })
            })
            .collect();
        prop_assert_eq!(&offers, &slow);
        let planned_end = starts
            .iter()
            .zip(&scene.queue)
            .map(|(start, waiting)| *start + waiting.estimate)
            .max()
            .unwrap_or(Seconds::ZERO);
        for offer in &offers {
            prop_assert!(offer.price >= NodeSeconds(0));
            prop_assert!(offer.start < planned_end || offer.price == NodeSeconds(0));
        }
    }

    /// Who starts now is found without planning everybody.
    #[test]
    fn those_who_are_due_are_those_of_the_whole_plan(
        running in prop::collection::vec((1_u32..4, 1_i64..60), 0..6),
        queue in prop::collection::vec((1_u32..=12, 1_i64..40), 0..300),
        reserved in prop::collection::vec((0_i64..200, 1_i64..30, 1_u32..4), 0..12),
    ) {
        let mut scene = Scene::new(12, &[], &queue);
        for (nodes, until) in running {
            if scene.fixed.is_free(Seconds(0), Seconds(until), of_nodes(nodes)) {
                scene.fixed.reserve(Seconds(0), Seconds(until), of_nodes(nodes));
            }
        }
        for (start, length, nodes) in reserved {
            if scene.fixed.is_free(Seconds(start), Seconds(start + length), of_nodes(nodes)) {
                scene.fixed.reserve(Seconds(start), Seconds(start + length), of_nodes(nodes));
            }
        }
        for backfilling in [Backfilling::Conservative, Backfilling::Aggressive, Backfilling::None] {
            let whole: Vec<usize> = scene
                .starts(backfilling)
                .iter()
                .enumerate()
                .filter(|(_, start)| **start == Seconds::ZERO)
                .map(|(index, _)| index)
                .collect();
            let due = scene.fixed.due_now(Seconds::ZERO, &scene.queue, 0, backfilling);
            prop_assert_eq!(due, whole);
        }
    }
}
