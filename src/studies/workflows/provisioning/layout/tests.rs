use proptest::prelude::*;

use super::super::Evaluator;
use super::*;
use crate::provisioning::testutils::{application_of, slots_of};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What is bought is what the evaluation paid for, holds every task at its place, and is never
    /// used twice at once.
    #[test]
    fn shares_are_those_of_the_evaluation_and_fit_into_their_slots(
        seed in 0_u64..10_000,
        sites in 1_usize..4,
        bits in prop::collection::vec(any::<bool>(), 40),
    ) {
        let application = application_of(seed, sites, 12, 6);
        let slots = slots_of(seed, sites);
        let mut chosen = bits;
        chosen.resize(slots.len(), true);
        let submitted = Seconds(50);
        let mut evaluator = Evaluator::new(&application, &slots, submitted);
        let Some(value) = evaluator.evaluate(&chosen) else {
            return Ok(());
        };
        let placements = evaluator.placements();
        let shares = lay_out(&application, &slots, &chosen, submitted, placements).unwrap();
        let mut used = vec![0; slots.len()];
        let mut widths = vec![0; application.tasks().len()];
        for share in &shares {
            let (piece, slot) = (share.piece, slots[share.slot].slot);
            let placed = placements[share.task];
            prop_assert!(chosen[share.slot]);
            prop_assert_eq!((piece.start, piece.end), (placed.start, placed.end));
            prop_assert_eq!(slots[share.slot].site, placed.site);
            prop_assert!(piece.start >= slot.start && slot.lasts_until(piece.end));
            used[share.slot] += piece.nodes.for_span(piece.end - piece.start).0;
            widths[share.task] += piece.nodes.0;
            let busy: u32 = shares
                .iter()
                .filter(|other| other.slot == share.slot)
                .filter(|other| other.piece.start <= piece.start && piece.start < other.piece.end)
                .map(|other| other.piece.nodes.0)
                .sum();
            prop_assert!(busy <= slot.nodes.0);
        }
        let needed: Vec<u32> = application.tasks().iter().map(|task| task.nodes.0).collect();
        prop_assert_eq!(widths, needed);
        let paid: Vec<(usize, i64)> = evaluator.used().collect();
        let laid_out = used.iter().copied().enumerate().filter(|(_, used)| *used > 0);
        prop_assert_eq!(paid, laid_out.collect::<Vec<_>>());
        let cost: f64 = lots(&slots, &shares)
            .iter()
            .map(|lot| {
                let slot = slots[lot.slot].slot;
                lot.paid.0 as f64 / 3_600.0 * slot.unit_price + slot.fixed_price
            })
            .sum();
        prop_assert!((cost - value.cost).abs() < 1e-9, "{} {}", cost, value.cost);
    }
}

#[test]
fn a_slot_that_is_sold_whole_is_one_piece_for_all_its_tasks_and_an_edge_is_one_a_task() {
    let hour = Seconds::HOUR;
    let slots = [
        Advertised {
            site: 0,
            slot: Slot::hole(hour, Nodes(2), hour * 4),
        },
        Advertised {
            site: 0,
            slot: Slot::edge(hour * 4, Nodes(5)),
        },
    ];
    let piece = |start: i64, nodes, end: i64| Piece {
        start: hour * start,
        nodes: Nodes(nodes),
        end: hour * end,
    };
    let share = |task, slot, piece| Share { task, slot, piece };
    let shares = [
        share(0, 0, piece(1, 1, 2)),
        share(1, 1, piece(4, 3, 6)),
        share(2, 0, piece(2, 2, 3)),
        share(3, 1, piece(6, 5, 7)),
    ];
    let lots = lots(&slots, &shares);
    assert_eq!(lots[0].pieces, [(piece(1, 2, 4), vec![0, 2])]);
    assert_eq!(lots[0].paid, Nodes(2).for_span(hour * 3));
    let edge = [(piece(4, 3, 6), vec![1]), (piece(6, 5, 7), vec![3])];
    assert_eq!(lots[1].pieces, edge);
    assert_eq!(lots[1].paid, Nodes(11).for_span(hour));
}
