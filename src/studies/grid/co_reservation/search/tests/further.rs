//! The order of candidates where further criteria count: the mix of jobs (Meltzer 2005, §7.2) and
//! the reservation degree (§7.1).

use proptest::prelude::*;

use super::*;
use crate::co_reservation::table::Criterion;

/// To which degree a cluster would be reserved, other than in the order of clusters.
fn degree(cluster: u16) -> f64 {
    f64::from(cluster * 5 % 7) / 8.0
}

/// Candidates of two parts at these (cluster, start, cost of a part, share of large jobs).
fn mixed(clusters: &[(u16, i64, f64, f64)]) -> Vec<Candidate> {
    let both = |&(cluster, start, cost, large_share): &(u16, i64, f64, f64)| {
        [0, 1].map(|part| Candidate {
            large_share,
            degree: degree(cluster),
            ..candidate(cluster, part, start, cost)
        })
    };
    clusters.iter().flat_map(both).collect()
}

/// The clusters of the complete candidates in the order in which they are tried, if each last part
/// is refused.
fn tried(weights: Preference, candidates: Vec<Candidate>) -> Vec<(u16, u16)> {
    let rules = SearchRules {
        valuation: Valuation::Weighted(weights),
        ..rules(Order::Value, Repair::BestFirst)
    };
    let mut search = Search::in_order(rules, 2, candidates);
    let mut last = 0;
    let mut found = Vec::new();
    let (_, end) = trace(&mut search, |candidate| {
        let is_first = candidate.part == 0;
        if is_first {
            last = candidate.cluster.0;
        } else {
            found.push((last, candidate.cluster.0));
        }
        is_first
    });
    assert_eq!(end, Step::Exhausted);
    found
}

#[test]
fn clusters_where_small_jobs_ran_lately_are_tried_first() {
    // Meltzer 2005, §7.2: clusters A, B and C with shares of .941, .333 and 0; the means of AB, AC
    // and BC are .637, .471 and .167, as shares of their range 1, .646 and 0.
    let (a, b, c) = (256.0 / 272.0, 1.0 / 3.0, 0.0);
    let weights = |cost_weight, start_weight, mix_weight| Preference {
        cost_weight,
        start_weight,
        mix_weight,
        degree_weight: 0.0,
    };
    let equal = mixed(&[(0, 0, 1.0, a), (1, 0, 1.0, b), (2, 0, 1.0, c)]);
    let order = tried(weights(0.0, 0.0, 1.0), equal.clone());
    let pairs = |order: &[(u16, u16)]| -> Vec<(u16, u16)> {
        let sorted = order
            .iter()
            .map(|&(one, other)| (one.min(other), one.max(other)));
        let mut pairs: Vec<_> = sorted.collect();
        pairs.dedup();
        pairs
    };
    assert_eq!(order.len(), 6);
    assert_eq!(pairs(&order), [(1, 2), (0, 2), (0, 1)]);

    let mut open = OpenCandidates::new(Table::new(2, equal, None), None);
    let mix = Criterion::LargeShare;
    let range = open.range(Weight::Further(mix), Weight::HighestFurther(mix));
    let cost = open.range(Weight::Weighed, Weight::HighestWeighed);
    assert_eq!((cost.start, cost.end), (2.0, 2.0));
    open.table.weigh((0.0, cost), &[(mix, 1.0, range)]);
    let piece = |cluster: u16| {
        let mut group = open.table.group(0, 0);
        let index = group.find(|&index| open.table.cluster(index) == cluster);
        open.table.weighed().at(index.unwrap())
    };
    let values = [
        piece(0) + piece(1),
        piece(0) + piece(2),
        piece(1) + piece(2),
    ];
    let rounded = values.map(|value| (value * 1_000.0).round() / 1_000.0);
    assert_eq!(rounded, [1.0, 0.646, 0.0]);

    // Where C costs 4 for a part and the others 1, BC and AC cost 5, as a share 1, and AB 2, 0:
    // with weights of .6 and .5 they come to .6, .6 + .323 and .5.
    let dear = mixed(&[(0, 0, 1.0, a), (1, 0, 1.0, b), (2, 0, 4.0, c)]);
    let order = tried(weights(0.6, 0.0, 0.5), dear.clone());
    assert_eq!(pairs(&order), [(0, 1), (1, 2), (0, 2)]);
    let order = tried(weights(0.4, 0.0, 0.5), dear);
    assert_eq!(pairs(&order), [(1, 2), (0, 1), (0, 2)]);

    // An earlier start at AB against a better mix at BC, an hour later.
    let later = mixed(&[
        (0, 0, 1.0, a),
        (1, 0, 1.0, b),
        (1, 3_600, 1.0, b),
        (2, 3_600, 1.0, c),
    ]);
    assert_eq!(tried(weights(0.0, 1.0, 0.5), later.clone())[0], (0, 1));
    let first = tried(weights(0.0, 0.5, 1.0), later)[0];
    assert_eq!((first.0.min(first.1), first.0.max(first.1)), (1, 2));
}

#[test]
fn clusters_that_would_be_reserved_less_are_tried_first_if_that_counts() {
    // Degrees 0, 5/8 and 3/8: the pairs of clusters have means of 5/16, 3/16 and 1/2.
    let candidates = mixed(&[(0, 0, 1.0, 0.0), (1, 0, 1.0, 0.0), (2, 0, 1.0, 0.0)]);
    let weights = Preference {
        cost_weight: 0.5,
        start_weight: 0.5,
        mix_weight: 0.0,
        degree_weight: 0.5,
    };
    let order = tried(weights, candidates);
    let mut pairs: Vec<_> = order.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    pairs.dedup();
    assert_eq!(pairs, [(0, 2), (0, 1), (1, 2)]);
}

/// Start, cost, mix and degree of a complete candidate.
type Complete = (i64, f64, f64, f64);

proptest! {
    #[test]
    fn complete_candidates_are_tried_by_cost_start_mix_and_degree_together(
        clusters in prop::collection::vec((0_i64..3, 0_u8..8, 0_u8..8), 2..6),
        (cost_weight, start_weight) in (0.0..1.0, 0.0..1.0),
        (mix_weight, degree_weight) in prop_oneof![
            (0.01..1.0, Just(0.0)), (Just(0.0), 0.01..1.0), (0.01..1.0, 0.01..1.0)
        ],
    ) {
        let clusters: Vec<_> = (0..)
            .zip(&clusters)
            .flat_map(|(cluster, &(start, cost, share))| {
                let at = move |start| (cluster, start, f64::from(cost), f64::from(share) / 8.0);
                [at(start * 100), at(500)]
            })
            .collect();
        let complete: Vec<Complete> = (clusters.iter())
            .flat_map(|one| clusters.iter().map(move |other| (one, other)))
            .filter(|(one, other)| one.0 != other.0 && one.1 == other.1)
            .map(|(one, other)| {
                let mix = (one.3 + other.3) / 2.0;
                (one.1, one.2 + other.2, mix, (degree(one.0) + degree(other.0)) / 2.0)
            })
            .collect();
        let share = |value: f64, of: &dyn Fn(&Complete) -> f64| {
            let all = || complete.iter().map(of);
            let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
            if high > low { (value - low) / (high - low) } else { 0.0 }
        };
        let weights = Preference { cost_weight, start_weight, mix_weight, degree_weight };
        let rules = SearchRules {
            valuation: Valuation::Weighted(weights),
            ..rules(Order::Value, Repair::BestFirst)
        };
        let mut search = Search::in_order(rules, 2, mixed(&clusters));
        let mut first = None;
        let mut values = Vec::new();
        trace(&mut search, |candidate| {
            match first {
                Some(one) if candidate.part == 1 => {
                    let one: Candidate = one;
                    let (start, cost) = (one.start.0, one.cost + candidate.cost);
                    let mix = (one.large_share + candidate.large_share) / 2.0;
                    let degree = (one.degree + candidate.degree) / 2.0;
                    values.push(
                        cost_weight * share(cost, &|it| it.1)
                            + start_weight * share(start as f64, &|it| it.0 as f64)
                            + mix_weight * share(mix, &|it| it.2)
                            + degree_weight * share(degree, &|it| it.3),
                    );
                    false
                }
                _ => {
                    first = Some(*candidate);
                    true
                }
            }
        });
        prop_assert_eq!(values.len(), complete.len());
        let rising = values.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9);
        prop_assert!(rising, "{:?}", values);
    }
}
