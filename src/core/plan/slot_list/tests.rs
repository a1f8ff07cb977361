mod properties;

use proptest::prelude::*;
use rand::RngExt;

use super::super::profile::Fit;
use super::*;
use crate::random::stream;

fn hole(start: i64, nodes: u32, end: i64) -> Slot {
    Slot::hole(Seconds(start), Nodes(nodes), Seconds(end))
}

fn edge(start: i64, nodes: u32) -> Slot {
    Slot::edge(Seconds(start), Nodes(nodes))
}

/// Places `nodes` nodes for `duration` from `earliest` on and says when.
fn place(list: &mut SlotList, nodes: u32, duration: i64, earliest: i64) -> i64 {
    list.place(Nodes(nodes), Seconds(duration), Seconds(earliest))
        .expect("a place")
        .start
        .0
}

/// Start, nodes, end; the end of an extensible slot is −1.
type Rectangle = (i64, u32, i64);

fn rectangles(list: &SlotList) -> Vec<Rectangle> {
    list.slots()
        .iter()
        .map(|slot| {
            let end = if slot.extensible { -1 } else { slot.end.0 };
            (slot.start.0, slot.nodes.0, end)
        })
        .collect()
}

/// The oracle: how many nodes the slots offer in each of the first `span` seconds.
fn free_by_second(slots: &[Slot], span: i64) -> Vec<u32> {
    (0..span)
        .map(|second| {
            slots
                .iter()
                .filter(|slot| slot.start.0 <= second && second < slot.end.0)
                .map(|slot| slot.nodes.0)
                .sum()
        })
        .collect()
}

/// A five-node machine with four tasks that fits what Singh 2008 says of its Figure 1, in units of
/// an hour.
fn machine_of_figure_1(rules: SlotRules) -> (SlotList, [i64; 4]) {
    let mut list = SlotList::new(Nodes(5), Seconds::ZERO, rules);
    let starts =
        [(2, 3), (4, 1), (1, 2), (3, 2)].map(|(nodes, hours)| place(&mut list, nodes, hours, 0));
    (list, starts)
}

/// Left-overs stay apart, as ALG-1 is printed (AMB-6).
fn as_listed() -> SlotRules {
    SlotRules {
        merge_identical: false,
        ..SlotRules::default()
    }
}

fn every_rule() -> Vec<SlotRules> {
    let mut all = Vec::new();
    for equal_starts in [EqualStarts::ShortestFirst, EqualStarts::LongestFirst] {
        for surplus in [Surplus::FoundLast, Surplus::Extensible] {
            for merge_identical in [false, true] {
                all.push(SlotRules {
                    equal_starts,
                    surplus,
                    merge_identical,
                    minimum_duration: Seconds::ZERO,
                });
            }
        }
    }
    all
}

/// S1 to S5 of Singh 2008, Figure 1, as far as its text describes them; S1, S4 and S5 are
/// extensible.
fn slots_of_figure_1() -> [Slot; 5] {
    [
        edge(0, 1),
        hole(2, 1, 3),
        hole(0, 1, 3),
        edge(4, 1),
        edge(6, 3),
    ]
}

#[test]
fn the_four_tasks_of_figure_1_leave_the_same_nodes_free_under_every_rule() {
    // Singh 2008, Figure 1.
    for rules in every_rule() {
        let (list, starts) = machine_of_figure_1(rules);
        assert_eq!(starts, [0, 3, 0, 4], "{rules:?}");
        assert_eq!(
            free_by_second(list.slots(), 8),
            [2, 2, 3, 1, 2, 2, 5, 5],
            "{rules:?}"
        );
    }
}

#[test]
fn the_order_of_equal_starts_decides_the_rectangles_of_figure_1() {
    // AMB-5, for the listing, which merges nothing.
    let (shortest, _) = machine_of_figure_1(as_listed());
    assert_eq!(
        rectangles(&shortest),
        [
            (0, 1, 3),
            (0, 1, 4),
            (2, 1, 3),
            (4, 2, -1),
            (6, 2, -1),
            (6, 1, -1)
        ]
    );
    let (longest, _) = machine_of_figure_1(SlotRules {
        equal_starts: EqualStarts::LongestFirst,
        ..as_listed()
    });
    assert_eq!(
        rectangles(&longest),
        [(0, 2, 3), (2, 1, 4), (4, 2, -1), (6, 2, -1), (6, 1, -1)]
    );
}

#[test]
fn with_identical_slots_merged_as_by_default_the_rectangles_of_figure_1_are_those_of_the_thesis() {
    // AMB-6: the listing merges nothing, but only merging gives S1 to S5, as it alone gives the
    // printed numbers of slots. So it is the default.
    let (list, _) = machine_of_figure_1(SlotRules::default());
    assert!(list.rules.merge_identical);
    let thesis = SlotList::from_slots(slots_of_figure_1(), list.rules);
    assert_eq!(list.slots(), thesis.slots());
}

#[test]
fn tasks_are_placed_on_the_slots_of_figure_1() {
    // On S1 and S3 at once; on S5; on S4 and S1.
    for (nodes, duration, earliest, start) in [(2, 2, 0, 0), (3, 2, 0, 6), (2, 2, 2, 4)] {
        let mut list = SlotList::from_slots(slots_of_figure_1(), SlotRules::default());
        assert_eq!(
            list.start_for(Nodes(nodes), Seconds(duration), Seconds(earliest)),
            Some(Seconds(start))
        );
        assert_eq!(place(&mut list, nodes, duration, earliest), start);
    }
}

#[test]
fn a_profile_is_cut_into_the_slots_of_figure_1_and_an_early_end_adds_one() {
    // The first task ends after 1 h instead of 3.
    let mut profile = Profile::new(5, Seconds::ZERO);
    for (start, end, nodes) in [(0, 3, 2), (3, 4, 4), (0, 2, 1), (4, 6, 3)] {
        profile.reserve(Seconds(start), Seconds(end), nodes);
    }
    let rules = SlotRules::default();
    let list = SlotList::from_profile(&profile, Seconds::ZERO, rules);
    let thesis = SlotList::from_slots(slots_of_figure_1(), rules);
    assert_eq!(list.slots(), thesis.slots());
    assert_eq!(list.horizon_end(-ADVERTISING_HORIZON), Seconds(6 + 300));

    profile.release(Seconds(1), Seconds(3), 2);
    let mut with_one_more = rectangles(&list);
    with_one_more.push((1, 2, 3));
    with_one_more.sort_by_key(|&(start, _, _)| start);
    let early = SlotList::from_profile(&profile, Seconds::ZERO, rules);
    assert_eq!(rectangles(&early), with_one_more);

    let mut given_back = list;
    given_back.give_back(Piece {
        start: Seconds(1),
        nodes: Nodes(2),
        end: Seconds(3),
    });
    assert_eq!(given_back.slots(), early.slots());
}

#[test]
fn a_rectangle_may_start_later_than_the_count_of_free_nodes_would_allow() {
    // AMB-4, for the listing; merged rectangles avoid it here.
    let rules = as_listed();
    let mut list = SlotList::new(Nodes(5), Seconds::ZERO, rules);
    let mut profile = Profile::new(5, Seconds::ZERO);
    for (nodes, duration, start) in [(1, 3, 0), (2, 3, 0), (3, 2, 3)] {
        assert_eq!(place(&mut list, nodes, duration, 0), start);
        profile.reserve(Seconds(start), Seconds(start + duration), nodes);
    }
    assert_eq!(
        rectangles(&list),
        [(0, 2, 3), (3, 2, -1), (5, 1, -1), (5, 2, -1)]
    );
    assert_eq!(place(&mut list, 1, 4, 0), 3);
    assert_eq!(
        profile.earliest_fit(Fit {
            from: Seconds::ZERO,
            latest: Seconds(100),
            nodes: 1,
            duration: Seconds(4),
            own_start: None,
        }),
        Some(Seconds::ZERO)
    );
}

#[test]
fn left_overs_are_those_of_the_three_examples() {
    // Made up for this test, after Singh 2008, Figure 3.
    let free = [hole(0, 2, 6), edge(1, 3)];
    let cases: [(u32, i64, i64, &[Rectangle]); 3] = [
        (4, 3, 1, &[(0, 1, 1), (0, 1, 6), (4, 1, 6), (4, 3, -1)]),
        (2, 4, 0, &[(1, 3, -1), (4, 2, 6)]),
        (1, 10, 1, &[(0, 2, 6), (1, 2, -1), (11, 1, -1)]),
    ];
    for (nodes, duration, start, left) in cases {
        let mut list = SlotList::from_slots(free, SlotRules::default());
        assert_eq!(place(&mut list, nodes, duration, 0), start);
        assert_eq!(rectangles(&list), left);
    }
}

#[test]
fn a_placement_says_what_it_took_of_each_slot() {
    let mut list = SlotList::from_slots([hole(0, 2, 6), edge(1, 3)], SlotRules::default());
    let placement = list
        .place(Nodes(4), Seconds(3), Seconds::ZERO)
        .expect("a place");
    let piece = |nodes| Piece {
        start: Seconds(1),
        nodes: Nodes(nodes),
        end: Seconds(4),
    };
    assert_eq!(placement.pieces, [piece(3), piece(1)]);
}

#[test]
fn the_surplus_can_stay_in_an_extensible_slot() {
    // AMB-5b.
    let mut list = SlotList::from_slots(
        [hole(0, 2, 6), edge(1, 3)],
        SlotRules {
            surplus: Surplus::Extensible,
            ..SlotRules::default()
        },
    );
    assert_eq!(place(&mut list, 4, 3, 0), 1);
    assert_eq!(
        rectangles(&list),
        [(0, 2, 1), (1, 1, -1), (4, 2, 6), (4, 2, -1)]
    );
}

#[test]
fn a_task_that_is_wider_than_the_machine_finds_no_place_and_changes_nothing() {
    let mut list = SlotList::new(Nodes(3), Seconds::ZERO, SlotRules::default());
    let before = list.clone();
    assert_eq!(list.place(Nodes(4), Seconds(1), Seconds::ZERO), None);
    assert_eq!(list, before);
}

#[test]
fn a_task_without_nodes_or_duration_takes_nothing() {
    let mut list = SlotList::new(Nodes(3), Seconds::ZERO, SlotRules::default());
    let before = list.clone();
    for (nodes, duration) in [(0, 5), (2, 0)] {
        let placement = list
            .place(Nodes(nodes), Seconds(duration), Seconds(4))
            .expect("a place");
        assert_eq!((placement.start, placement.pieces), (Seconds(4), vec![]));
        assert_eq!(list, before);
    }
}

#[test]
fn as_time_passes_slots_begin_now_and_ended_ones_disappear() {
    // AMB-7.
    let mut list = SlotList::from_slots(
        [
            edge(0, 1),
            hole(1, 2, 5),
            hole(2, 3, 4),
            hole(5, 4, 9),
            hole(7, 5, 9),
        ],
        SlotRules::default(),
    );
    list.clip(Seconds(3));
    assert_eq!(
        rectangles(&list),
        [(3, 3, 4), (3, 2, 5), (3, 1, -1), (5, 4, 9), (7, 5, 9)]
    );
    list.clip(Seconds(5));
    assert_eq!(rectangles(&list), [(5, 4, 9), (5, 1, -1), (7, 5, 9)]);
}

#[test]
fn slots_that_become_identical_as_time_passes_are_merged_where_wanted() {
    // AMB-6.
    let slots = [hole(0, 1, 5), hole(1, 2, 5), edge(0, 1), edge(2, 1)];
    let mut apart = SlotList::from_slots(slots, as_listed());
    apart.clip(Seconds(3));
    assert_eq!(apart.slots().len(), 4);
    let mut merged = SlotList::from_slots(slots, SlotRules::default());
    merged.clip(Seconds(3));
    assert_eq!(rectangles(&merged), [(3, 3, 5), (3, 2, -1)]);
}

#[test]
fn slots_with_a_fixed_price_stay_apart() {
    let priced = Slot {
        fixed_price: 2.0,
        ..hole(0, 1, 5)
    };
    assert_eq!(
        SlotList::from_slots([priced, priced], SlotRules::default())
            .slots()
            .len(),
        2
    );
}

#[test]
fn the_right_edge_is_advertised_for_48_hours_or_until_the_last_planned_end() {
    // Singh 2008, chapter 3, and AMB-11.
    let mut list = SlotList::new(Nodes(4), Seconds::ZERO, SlotRules::default());
    let now = Seconds::HOUR;
    assert_eq!(list.horizon_end(now), Seconds::HOUR * 49);
    place(&mut list, 4, 3_600 * 100, 0);
    assert_eq!(list.horizon_end(now), Seconds::HOUR * 100 + Seconds(300));
    let advertised = list.advertised(now, list.horizon_end(now));
    assert_eq!(advertised.len(), 1);
    assert_eq!(advertised[0].duration(), Seconds(300));
    assert!(advertised[0].extensible);
}

#[test]
fn slots_that_are_too_short_are_not_advertised_but_used() {
    // AMB-8.
    let rules = SlotRules {
        minimum_duration: Seconds(10),
        ..SlotRules::default()
    };
    let mut list = SlotList::from_slots([hole(0, 1, 9), hole(0, 1, 10), edge(20, 1)], rules);
    let advertised = list.advertised(Seconds::ZERO, Seconds(25));
    assert_eq!(advertised, [hole(0, 1, 10)]);
    assert_eq!(place(&mut list, 1, 9, 0), 0);
}

#[test]
fn an_advertised_slot_is_found_as_long_as_it_exists() {
    // Singh 2008, chapter 3: advertisements are advisory.
    let mut list = SlotList::from_slots([hole(0, 2, 6), edge(1, 3)], SlotRules::default());
    let advertised = list.advertised(Seconds::ZERO, list.horizon_end(Seconds::ZERO));
    assert_eq!(list.find_advertised(&advertised[0]), Some(0));
    assert_eq!(list.find_advertised(&advertised[1]), Some(1));
    place(&mut list, 4, 3, 0);
    assert_eq!(list.find_advertised(&advertised[0]), None);
    assert_eq!(list.find_advertised(&advertised[1]), None);
}

#[test]
fn a_purchase_pays_for_the_piece_and_leaves_the_rest() {
    // Singh 2008, Table 1 and Figure 3.
    let hours = |count| Seconds::HOUR * count;
    let mut list = SlotList::new(Nodes(5), Seconds::ZERO, SlotRules::default());
    let piece = Piece {
        start: hours(2),
        nodes: Nodes(3),
        end: hours(60),
    };
    let purchase = list.buy(0, piece).expect("for sale");
    assert_eq!(purchase.price, 3.0 * 58.0);
    assert_eq!(purchase.slot, Slot::edge(Seconds::ZERO, Nodes(5)));
    assert_eq!(
        list.slots(),
        [
            Slot::hole(Seconds::ZERO, Nodes(3), hours(2)),
            Slot::edge(Seconds::ZERO, Nodes(2)),
            Slot::edge(hours(60), Nodes(3)),
        ]
    );
    assert_eq!(list.horizon_end(Seconds::ZERO), hours(60) + Seconds(300));

    let before = list.clone();
    let part = Piece {
        nodes: Nodes(2),
        ..list.slots()[0].whole()
    };
    assert!(matches!(
        list.buy(0, part),
        Err(PurchaseError::NotAllNodes { .. })
    ));
    assert_eq!(
        list.buy(3, part),
        Err(PurchaseError::NoSuchSlot { index: 3 })
    );
    assert_eq!(list, before);

    let whole = list.slots()[0].whole();
    assert_eq!(list.buy(0, whole).expect("for sale").price, 6.0);
    assert_eq!(list.slots().len(), 2);
}

#[test]
fn a_start_later_than_the_counted_one_is_rare() {
    // AMB-4: 0.4 % of decisions on 3 to 8 nodes with 8 tasks.
    for rules in every_rule() {
        let mut random = stream(1, "toys", 0, "tasks");
        let (mut decisions, mut later, mut sequences) = (0, 0, 0);
        for _ in 0..20_000 {
            let machine = random.random_range(3..=8_u32);
            let mut list = SlotList::new(Nodes(machine), Seconds::ZERO, rules);
            let mut profile = Profile::new(machine, Seconds::ZERO);
            let before = later;
            for _ in 0..8 {
                let nodes = random.random_range(1..=machine);
                let duration = Seconds(random.random_range(1..=5));
                let counted = profile
                    .earliest_fit(Fit {
                        from: Seconds::ZERO,
                        latest: Seconds::FAR,
                        nodes,
                        duration,
                        own_start: None,
                    })
                    .expect("a fit");
                let start = Seconds(place(&mut list, nodes, duration.0, 0));
                assert!(start >= counted);
                decisions += 1;
                later += u32::from(start > counted);
                profile.reserve(start, start + duration, nodes);
            }
            sequences += u32::from(later > before);
        }
        let share = f64::from(later) / f64::from(decisions);
        println!(
            "{rules:?}: {later} of {decisions} decisions later ({:.2} %), in {sequences} of 20000 sequences",
            share * 100.0
        );
        assert!(share < 0.01, "{rules:?}: {share}");
    }
}
