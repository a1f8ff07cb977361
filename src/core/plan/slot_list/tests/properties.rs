//! What holds for any tasks and profiles.

use super::*;

proptest! {
    #[test]
    fn tasks_never_overlap_and_the_slots_are_exactly_what_they_leave_free(
        machine in 1_u32..12,
        tasks in prop::collection::vec((0_i64..6, 1_u32..12, 1_i64..15, 0_i64..10), 1..30),
        rule in 0_usize..8,
    ) {
        const SPAN: i64 = 900;
        let mut list = SlotList::new(Nodes(machine), Seconds::ZERO, every_rule()[rule]);
        let mut profile = Profile::new(machine, Seconds::ZERO);
        let mut free = vec![machine; SPAN as usize];
        let mut now = 0;
        for (pause, nodes, duration, delay) in tasks {
            now += pause;
            list.clip(Seconds(now));
            let earliest = Seconds(now + delay);
            let tentative = list.start_for(Nodes(nodes), Seconds(duration), earliest);
            let placed = list.place(Nodes(nodes), Seconds(duration), earliest);
            prop_assert_eq!(tentative, placed.as_ref().map(|placement| placement.start));
            prop_assert_eq!(placed.is_some(), nodes <= machine);
            let Some(placement) = placed else { continue };
            let total: u32 = placement.pieces.iter().map(|piece| piece.nodes.0).sum();
            prop_assert_eq!(total, nodes);
            let counted = profile.earliest_fit(Fit {
                from: earliest,
                latest: Seconds::FAR,
                nodes,
                duration: Seconds(duration),
                own_start: None,
            });
            prop_assert!(Some(placement.start) >= counted);
            let end = placement.start + Seconds(duration);
            profile.reserve(placement.start, end, nodes);
            for second in placement.start.0..end.0 {
                prop_assert!(free[second as usize] >= nodes, "more than {} nodes", machine);
                free[second as usize] -= nodes;
            }
            prop_assert!(list.slots().iter().all(|slot| slot.nodes.0 > 0 && slot.end > slot.start));
            prop_assert_eq!(
                &free_by_second(list.slots(), SPAN)[now as usize..],
                &free[now as usize..]
            );
            let key = |slot: &Slot| list.rules.key(slot);
            prop_assert!(list.slots().is_sorted_by_key(key));
        }
    }

    #[test]
    fn the_slots_of_a_profile_add_up_to_it_at_every_instant(
        machine in 1_u32..20,
        blocks in prop::collection::vec((0_i64..80, 1_i64..40, 1_u32..8), 0..40),
        now in 0_i64..100,
    ) {
        let mut profile = Profile::new(machine, Seconds::ZERO);
        for (start, length, nodes) in blocks {
            profile.reserve(Seconds(start), Seconds(start + length), nodes);
        }
        let list = SlotList::from_profile(&profile, Seconds(now), SlotRules::default());
        let free = free_by_second(list.slots(), 150);
        let edges: u32 = list.slots().iter().filter(|slot| slot.extensible).map(|slot| slot.nodes.0).sum();
        prop_assert_eq!(edges, machine);
        for second in 0..150_i64 {
            let counted = profile.free_at(Seconds(second)).max(0) as u32;
            let expected = if second < now { 0 } else { counted };
            prop_assert_eq!(free[second as usize], expected, "at {}", second);
        }
    }

    #[test]
    fn a_profile_is_cut_into_as_few_single_node_stretches_as_it_rises(
        machine in 1_u32..20,
        blocks in prop::collection::vec((0_i64..80, 1_i64..40, 1_u32..4), 0..20),
    ) {
        let mut profile = Profile::new(machine, Seconds::ZERO);
        for (start, length, nodes) in blocks {
            profile.reserve(Seconds(start), Seconds(start + length), nodes);
        }
        let list = SlotList::from_profile(&profile, Seconds::ZERO, SlotRules::default());
        let stretches: u32 = list.slots().iter().map(|slot| slot.nodes.0).sum();
        let counts: Vec<i32> = profile.segments().map(|(_, count)| count.max(0)).collect();
        let rises: i32 = counts.windows(2).map(|pair| (pair[1] - pair[0]).max(0)).sum();
        prop_assert_eq!(stretches as i32, counts[0] + rises);
    }

    #[test]
    fn what_is_bought_is_no_longer_free_and_everything_else_is(
        tasks in prop::collection::vec((1_u32..6, 1_i64..15), 0..12),
        purchases in prop::collection::vec((0_usize..20, 0_i64..10, 1_u32..6, 1_i64..30), 1..12),
        rule in 0_usize..8,
    ) {
        const SPAN: i64 = 600;
        let mut list = SlotList::new(Nodes(5), Seconds::ZERO, every_rule()[rule]);
        for (nodes, duration) in tasks {
            list.place(Nodes(nodes), Seconds(duration), Seconds::ZERO);
        }
        for (index, delay, nodes, duration) in purchases {
            let index = index % list.slots().len();
            let slot = list.slots()[index];
            let piece = if slot.divisible {
                let start = slot.start + Seconds(delay);
                Piece { start, nodes: slot.nodes.min(Nodes(nodes)), end: start + Seconds(duration) }
            } else {
                slot.whole()
            };
            let mut expected = free_by_second(list.slots(), SPAN);
            for second in piece.start.0..piece.end.0 {
                expected[second as usize] -= piece.nodes.0;
            }
            let purchase = list.buy(index, piece);
            prop_assert!(purchase.is_ok());
            prop_assert_eq!(free_by_second(list.slots(), SPAN), expected.clone());
            if delay == 0 {
                list.give_back(piece);
                for second in piece.start.0..piece.end.0 {
                    expected[second as usize] += piece.nodes.0;
                }
                prop_assert_eq!(free_by_second(list.slots(), SPAN), expected);
            }
        }
    }
}
