//! The search against small worked examples and against trees that are really built.

mod built_tree;
mod further;

use bookahead_core::random::stream;
use bookahead_core::workload::Preference;

use super::*;
use crate::co_reservation::{variations, worst_case};

/// The value by these weights of cost and start.
fn weighted(cost_weight: f64, start_weight: f64) -> Valuation {
    Valuation::Weighted(Preference {
        cost_weight,
        start_weight,
        mix_weight: 0.0,
        degree_weight: 0.0,
    })
}

fn rules(order: Order, repair: Repair) -> SearchRules {
    SearchRules {
        order,
        repair,
        valuation: weighted(1.0, 0.0),
        start_tolerance: Seconds::ZERO,
        cost_tolerance: 0.0,
        memoise: false,
        pof_limit: None,
    }
}

fn chronological(order: Order) -> SearchRules {
    rules(order, Repair::Chronological)
}

fn candidate(cluster: u16, part: u16, start: i64, cost: f64) -> Candidate {
    Candidate {
        cost,
        expected: cost,
        ..Candidate::free(ClusterId(cluster), part, Seconds(start))
    }
}

fn all(starts: i64, clusters: u16, parts: u16) -> Vec<Candidate> {
    let mut found = Vec::new();
    for start in 0..starts {
        for cluster in 0..clusters {
            found.extend((0..parts).map(|part| candidate(cluster, part, start, 0.0)));
        }
    }
    found
}

/// Runs a search to its end; the text of each step: `+` granted, `-` refused, `x` cancelled, then
/// cluster, part and start.
fn trace(search: &mut Search, mut grants: impl FnMut(&Candidate) -> bool) -> (Vec<String>, Step) {
    let mut steps = Vec::new();
    loop {
        let text = |sign: char, candidate: &Candidate| {
            format!(
                "{sign}{}.{}@{}",
                candidate.cluster.0, candidate.part, candidate.start.0
            )
        };
        match search.step() {
            Step::Reserve(candidate) => {
                let granted = grants(&candidate);
                steps.push(text(if granted { '+' } else { '-' }, &candidate));
                search.answer(granted);
            }
            Step::Cancel(candidate) => steps.push(text('x', &candidate)),
            end => return (steps, end),
        }
    }
}

fn places(step: &Step) -> Option<Vec<(u16, i64)>> {
    match step {
        Step::Granted(parts) => Some(
            parts
                .iter()
                .map(|part| (part.cluster.0, part.start.0))
                .collect(),
        ),
        _ => None,
    }
}

// T4: TR0 is part 0 on cluster 0 at start 0, its leaves cost 100 (cluster 1) and 170 (cluster 2);
// TR0x is part 0 on cluster 0 at start 1 with one leaf at 150.
fn figure_13() -> Vec<Candidate> {
    vec![
        candidate(0, 0, 0, 50.0),
        candidate(1, 1, 0, 50.0),
        candidate(2, 1, 0, 120.0),
        candidate(0, 0, 1, 50.0),
        candidate(3, 1, 1, 100.0),
    ]
}

fn figure_13_trace(rules: SearchRules, refused: &[(u16, u16, i64)]) -> (Vec<String>, Step) {
    let mut search = Search::in_order(rules, 2, figure_13());
    trace(&mut search, |candidate| {
        !refused.contains(&(candidate.cluster.0, candidate.part, candidate.start.0))
    })
}

#[test]
fn t4_best_first_repair_on_figure_13() {
    let rules = rules(Order::Value, Repair::BestFirst);
    let (a100, a170, b150) = ((1, 1, 0), (2, 1, 0), (3, 1, 1));
    let (steps, end) = figure_13_trace(rules, &[]);
    assert_eq!(steps, ["+0.0@0", "+1.1@0"]);
    assert_eq!(places(&end), Some(vec![(0, 0), (1, 0)]));
    let (steps, end) = figure_13_trace(rules, &[a100]);
    assert_eq!(steps, ["+0.0@0", "-1.1@0", "x0.0@0", "+0.0@1", "+3.1@1"]);
    assert_eq!(places(&end), Some(vec![(0, 1), (3, 1)]));
    let (steps, end) = figure_13_trace(rules, &[a100, b150]);
    assert_eq!(
        steps,
        [
            "+0.0@0", "-1.1@0", "x0.0@0", "+0.0@1", "-3.1@1", "x0.0@1", "+0.0@0", "+2.1@0"
        ]
    );
    assert_eq!(places(&end), Some(vec![(0, 0), (2, 0)]));
    let (steps, end) = figure_13_trace(rules, &[a100, b150, a170]);
    assert_eq!(
        steps,
        [
            "+0.0@0", "-1.1@0", "x0.0@0", "+0.0@1", "-3.1@1", "x0.0@1", "+0.0@0", "-2.1@0",
            "x0.0@0"
        ]
    );
    assert_eq!(end, Step::Exhausted);
    let (steps, _) = figure_13_trace(rules, &[(0, 0, 0)]);
    assert_eq!(steps, ["-0.0@0", "+0.0@1", "+3.1@1"]);
}

#[test]
fn t4_plain_repair_and_tolerances_stay_with_what_is_reserved() {
    let dearer = ["+0.0@0", "-1.1@0", "+2.1@0"];
    let (steps, _) = figure_13_trace(chronological(Order::Start), &[(1, 1, 0)]);
    assert_eq!(steps, dearer);
    let (steps, _) = figure_13_trace(chronological(Order::Value), &[(1, 1, 0)]);
    assert_eq!(steps, dearer);
    let best_first = |cost_tolerance, start| SearchRules {
        cost_tolerance,
        start_tolerance: Seconds(start),
        ..rules(Order::Value, Repair::BestFirst)
    };
    let (steps, _) = figure_13_trace(best_first(20.5, 1), &[(1, 1, 0)]);
    assert_eq!(steps, dearer);
    // 170 < 150 + 20 is false.
    let (steps, _) = figure_13_trace(best_first(20.0, 1), &[(1, 1, 0)]);
    assert_eq!(steps.len(), 5);
}

#[test]
fn t5_the_worst_case_is_reached_exactly() {
    for (starts, clusters, parts) in [(20, 4, 2), (20, 7, 3), (4, 3, 2), (3, 4, 4), (5, 3, 1)] {
        let expected = worst_case(
            starts,
            &vec![clusters; parts as usize],
            Repair::Chronological,
        );
        for order in [Order::Random, Order::Start] {
            let candidates = all(starts as i64, clusters as u16, parts as u16);
            let mut search = Search::new(
                chronological(order),
                parts as usize,
                candidates,
                &mut stream(1, "t5", 0, "search"),
            );
            let (steps, end) = trace(&mut search, |part| u64::from(part.part) + 1 < parts);
            assert_eq!(end, Step::Exhausted);
            assert_eq!(steps.len() as f64, expected);
            assert_eq!(f64::from(search.counts().messages()), expected);
        }
    }
}

fn figure_of_10() -> Vec<Candidate> {
    vec![
        candidate(0, 0, 3_600, 100.0),
        candidate(0, 0, 0, 150.0),
        candidate(1, 0, 0, 200.0),
    ]
}

#[test]
fn t10_values_of_cost_and_start() {
    for (weights, first) in [
        ((1.0, 0.0), &[100.0][..]),
        ((0.9, 0.1), &[100.0]),
        ((0.8, 0.2), &[100.0]),
        ((0.7, 0.3), &[100.0]),
        ((0.6, 0.4), &[150.0]),
        ((0.0, 1.0), &[150.0, 200.0]),
    ] {
        let mut seen = Vec::new();
        for seed in 0..20 {
            let rules = SearchRules {
                valuation: weighted(weights.0, weights.1),
                ..rules(Order::Value, Repair::BestFirst)
            };
            let mut stream = stream(seed, "t10", 0, "search");
            let mut search = Search::new(rules, 1, figure_of_10(), &mut stream);
            let (_, end) = trace(&mut search, |_| true);
            let Step::Granted(parts) = end else {
                panic!("nothing was refused")
            };
            if !seen.contains(&parts[0].cost) {
                seen.push(parts[0].cost);
            }
        }
        seen.sort_by(f64::total_cmp);
        assert_eq!(seen, first, "{weights:?}");
    }
}

/// What T12's clusters admit, in the order of (start, cluster, part): A (0), B (1), C (2).
fn t12_admitted() -> Vec<Candidate> {
    let mut admitted = Vec::new();
    for start in [0, 1_800, 3_600, 5_400] {
        for (cluster, part) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
            let free = match (cluster, start) {
                (0, 0 | 1_800) => 20,
                (1, 0 | 1_800 | 3_600) => 40,
                _ => 100,
            };
            if free >= [50, 30][part] {
                admitted.push(candidate(cluster, part as u16, start, 0.0));
            }
        }
    }
    admitted
}

#[test]
fn t12_the_search_of_the_full_pipeline() {
    assert_eq!(t12_admitted().len(), 17);
    for seed in 0..20 {
        let mut stream = stream(seed, "t12", 0, "search");
        let mut search = Search::new(chronological(Order::Start), 2, t12_admitted(), &mut stream);
        assert_eq!(search.candidates(), 12.0);
        let (steps, end) = trace(&mut search, |_| true);
        assert_eq!(steps.len(), 2);
        assert_eq!(places(&end), Some(vec![(2, 0), (1, 0)]));
    }
    let candidates = [0, 1_800, 3_600, 5_400].map(|start| {
        let mut at = t12_admitted();
        at.retain(|candidate| candidate.start == Seconds(start));
        Search::in_order(chronological(Order::Start), 2, at).candidates()
    });
    assert_eq!(candidates, [1.0, 1.0, 4.0, 6.0]);
    let mut every = Vec::new();
    for start in [0, 1_800, 3_600, 5_400] {
        for cluster in 0..3 {
            every.extend((0..2).map(|part| candidate(cluster, part, start, 0.0)));
        }
    }
    let admitted = t12_admitted();
    let mut search = Search::in_order(chronological(Order::Random), 2, every);
    let (steps, _) = trace(&mut search, |candidate| admitted.contains(candidate));
    assert_eq!(steps, ["-0.0@0", "-1.0@0", "+2.0@0", "-0.1@0", "+1.1@0"]);
}

#[test]
fn t14_a_request_that_finds_both_parts_at_no_start() {
    for order in [Order::Random, Order::Start] {
        let mut stream = stream(7, "t14", 0, "search");
        let mut search = Search::new(chronological(order), 2, all(20, 4, 2), &mut stream);
        let mut tries = [0; 4];
        let (steps, end) = trace(&mut search, |candidate| {
            tries[usize::from(candidate.cluster.0)] += 1;
            match candidate.cluster.0 {
                0 => candidate.start < Seconds(4),
                2 => candidate.start >= Seconds(12),
                _ => false,
            }
        });
        assert_eq!(tries, [28, 32, 24, 32]);
        assert_eq!(steps.len(), 128);
        assert_eq!(end, Step::Exhausted);
    }
}

#[test]
fn without_repair_the_first_refusal_ends_it() {
    let candidates = vec![
        candidate(4, 0, 7, 0.0),
        candidate(2, 1, 7, 0.0),
        candidate(3, 2, 7, 0.0),
    ];
    let rigid = rules(Order::Random, Repair::None);
    let mut search = Search::in_order(rigid, 3, candidates.clone());
    let (steps, end) = trace(&mut search, |candidate| candidate.part < 2);
    assert_eq!(steps, ["+4.0@7", "+2.1@7", "-3.2@7", "x2.1@7", "x4.0@7"]);
    assert_eq!(end, Step::Exhausted);
    assert_eq!(search.step(), Step::Exhausted);
    for order in [Order::Random, Order::Value] {
        let mut search = Search::in_order(rules(order, Repair::None), 2, all(3, 4, 2));
        let (steps, end) = trace(&mut search, |candidate| candidate.part < 1);
        assert_eq!((steps.len(), end), (3, Step::Exhausted));
    }
    let mut search = Search::in_order(rigid, 3, candidates);
    let (steps, _) = trace(&mut search, |_| true);
    assert_eq!(steps.len(), 3);
}

#[test]
fn without_a_complete_candidate_nothing_is_ordered() {
    let candidates = vec![candidate(0, 0, 0, 0.0), candidate(0, 1, 0, 0.0)];
    for order in [Order::Random, Order::Start, Order::Value] {
        let mut search = Search::in_order(chronological(order), 2, candidates.clone());
        assert_eq!(search.step(), Step::NoCandidate);
        assert_eq!(search.candidates(), 0.0);
        assert_eq!(search.bounds(), None);
        let mut search = Search::in_order(chronological(order), 2, Vec::new());
        assert_eq!(search.step(), Step::NoCandidate);
        let mut search = Search::in_order(chronological(order), 0, candidates.clone());
        assert_eq!(search.step(), Step::NoCandidate);
    }
}

#[test]
fn an_order_is_named_again_until_it_is_answered() {
    let mut search = Search::in_order(chronological(Order::Random), 1, all(1, 2, 1));
    let first = search.step();
    assert_eq!(search.step(), first);
    search.answer(false);
    search.answer(true);
    assert_ne!(search.step(), first);
    assert_eq!(search.counts().refused, 1);
    assert_eq!(search.counts().granted, 0);
}

#[test]
fn parts_that_do_not_exist_and_repeated_candidates_are_left_out() {
    let mut candidates = all(2, 3, 2);
    candidates.extend(all(2, 3, 4));
    let mut search = Search::in_order(chronological(Order::Random), 2, candidates);
    assert_eq!(search.candidates(), variations(2, &[3; 2]));
    let (steps, _) = trace(&mut search, |candidate| candidate.part == 0);
    assert_eq!(
        steps.len() as f64,
        worst_case(2, &[3; 2], Repair::Chronological)
    );
}

#[test]
fn a_cluster_that_is_given_up_loses_its_part_and_those_behind_it_are_cancelled() {
    for (order, repair) in [
        (Order::Start, Repair::Chronological),
        (Order::Value, Repair::BestFirst),
    ] {
        let mut search = Search::in_order(rules(order, repair), 3, all(1, 5, 3));
        let mut reserved = Vec::new();
        for _ in 0..3 {
            let Step::Reserve(candidate) = search.step() else {
                panic!("an order is due")
            };
            reserved.push(candidate);
            search.answer(true);
        }
        assert_eq!(search.step(), Step::Granted(reserved.clone()));
        search.give_up(reserved[1].cluster);
        assert_eq!(search.step(), Step::Cancel(reserved[2]));
        let (steps, end) = trace(&mut search, |_| true);
        assert_eq!(steps.len(), 2);
        let Step::Granted(found) = end else {
            panic!("other clusters are left")
        };
        assert_eq!(found[0], reserved[0]);
        assert!(found.iter().all(|part| part.cluster != reserved[1].cluster));
        assert_eq!((search.counts().gone, search.counts().cancelled), (1, 1));
        assert_eq!(search.candidates(), 60.0);
    }
}

#[test]
fn a_cluster_that_is_given_up_while_it_owes_an_answer_counts_as_a_refusal() {
    for order in [Order::Start, Order::Value] {
        let mut search = Search::in_order(chronological(order), 2, all(1, 3, 2));
        let Step::Reserve(first) = search.step() else {
            panic!("an order is due")
        };
        search.give_up(first.cluster);
        search.answer(true);
        let (steps, end) = trace(&mut search, |_| true);
        assert_eq!(steps.len(), 2);
        assert!(places(&end).is_some_and(|places| {
            places
                .iter()
                .all(|&(cluster, _)| cluster != first.cluster.0)
        }));
        // An answer of another cluster stays due; its part is then given back.
        let mut search = Search::in_order(chronological(order), 2, all(1, 3, 2));
        let Step::Reserve(first) = search.step() else {
            panic!("an order is due")
        };
        search.answer(true);
        let Step::Reserve(second) = search.step() else {
            panic!("an order is due")
        };
        search.give_up(first.cluster);
        assert_eq!(search.step(), Step::Reserve(second));
        search.answer(true);
        assert_eq!(search.step(), Step::Cancel(second));
        let (steps, _) = trace(&mut search, |_| true);
        assert_eq!(steps.len(), 2);
    }
}

#[test]
fn sorted_in_stages_the_earliest_start_of_the_cheapest_tenth_comes_first() {
    // Of costs from 10 to 20 the first tenth ends at 11, and the last one has the dearest.
    let offers = [(10.0, 500), (10.9, 100), (11.1, 50), (20.0, 0), (19.2, 20)];
    let first = |valuation| {
        let rules = SearchRules {
            valuation,
            ..rules(Order::Value, Repair::BestFirst)
        };
        let candidates = (0..)
            .zip(offers)
            .map(|(cluster, (cost, start))| candidate(cluster, 0, start, cost));
        let mut search = Search::in_order(rules, 1, candidates.collect());
        let mut tried = Vec::new();
        while let Step::Reserve(candidate) = search.step() {
            tried.push(candidate.start.0);
            search.answer(false);
        }
        tried
    };
    assert_eq!(first(Valuation::Staged), [100, 500, 50, 0, 20]);
    // By weights: ½ of 0 + 1, 0.09 + 0.2, 0.11 + 0.1 and 1 + 0.
    assert_eq!(first(weighted(0.5, 0.5))[..2], [50, 100]);
}
