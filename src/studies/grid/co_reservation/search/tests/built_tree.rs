//! The obvious twin of the lazy tree: all of it, built, sorted and pruned.

mod tree;

use proptest::prelude::*;
use rand::RngExt;
use rand::seq::SliceRandom;

use self::tree::{Log, best_first, depth_first, eager, leaves, ranked};
use super::*;

fn lazy(rules: SearchRules, parts: u16, candidates: &[Candidate], seed: u64) -> Search {
    let mut stream = stream(seed, "tree", 0, "search");
    Search::new(rules, usize::from(parts), candidates.to_vec(), &mut stream)
}

fn drive(search: &mut Search, grants: &mut dyn FnMut(&Candidate) -> bool) -> (Log, bool) {
    let mut log = Log::new();
    loop {
        match search.step() {
            Step::Reserve(candidate) => {
                let granted = grants(&candidate);
                log.push((if granted { '+' } else { '-' }, candidate));
                search.answer(granted);
            }
            Step::Cancel(candidate) => log.push(('x', candidate)),
            Step::Granted(_) => return (log, true),
            Step::Exhausted | Step::NoCandidate => return (log, false),
        }
    }
}

/// Parts and some of the candidates, with costs that add up without rounding.
fn requests() -> impl Strategy<Value = (u16, Vec<Candidate>)> {
    (1_u16..4, 1_u16..6, 1_i64..4).prop_flat_map(|(parts, clusters, starts)| {
        let count = usize::from(parts) * usize::from(clusters) * starts as usize;
        let cost = prop_oneof![Just(4_u8), 0_u8..8];
        let each = prop::option::weighted(0.8, (cost, 0_u8..8));
        prop::collection::vec(each, count).prop_map(move |kept| {
            let mut found = all(starts, clusters, parts);
            let mut next = kept.iter();
            found.retain_mut(|candidate| match next.next().copied().flatten() {
                Some((cost, pof)) => {
                    candidate.start = Seconds(candidate.start.0 * 4);
                    candidate.cost = f64::from(cost);
                    candidate.expected = f64::from(cost);
                    candidate.pof = f64::from(pof) / 16.0;
                    true
                }
                None => false,
            });
            (parts, found)
        })
    })
}

/// Answers that depend on how often was asked: another pattern for every seed.
fn coin(seed: u64, percent: u32) -> impl FnMut(&Candidate) -> bool {
    let mut stream = stream(seed, "answers", 0, "search");
    move |_| stream.random_range(0..100) >= percent
}

/// Answers that depend on the candidate alone.
fn fixed(seed: u64, percent: u64) -> impl FnMut(&Candidate) -> bool {
    move |candidate| {
        let name = u64::from(candidate.cluster.0) * 1_009
            + u64::from(candidate.part) * 10_007
            + candidate.start.0 as u64 * 100_003;
        let mut stream = stream(seed ^ name, "answers", 0, "fixed");
        stream.random_range(0..100) >= percent
    }
}

fn balance(log: &Log) -> i64 {
    log.iter()
        .map(|(kind, _)| match kind {
            '+' => 1,
            'x' => -1,
            _ => 0,
        })
        .sum()
}

fn check_sums(log: &Log, granted: bool, parts: u16, worst: f64) -> Result<(), TestCaseError> {
    prop_assert_eq!(balance(log), if granted { i64::from(parts) } else { 0 });
    prop_assert!(log.len() as f64 <= worst);
    if granted && log.iter().all(|(kind, _)| *kind == '+') {
        prop_assert_eq!(log.len(), usize::from(parts));
    }
    Ok(())
}

fn sizes(parts: u16, candidates: &[Candidate], repair: Repair) -> f64 {
    let mut starts: Vec<i64> = candidates
        .iter()
        .map(|candidate| candidate.start.0)
        .collect();
    starts.sort_unstable();
    starts.dedup();
    let mut clusters: Vec<u16> = candidates
        .iter()
        .map(|candidate| candidate.cluster.0)
        .collect();
    clusters.sort_unstable();
    clusters.dedup();
    worst_case(
        starts.len() as u64,
        &vec![clusters.len() as u64; usize::from(parts)],
        repair,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_lazy_tree_takes_the_steps_of_the_built_one(
        (parts, candidates) in requests(), seed in 0_u64..1_000, percent in 0_u32..100,
        by_start in any::<bool>(), limited in any::<bool>(),
    ) {
        let order = if by_start { Order::Start } else { Order::Random };
        let limit = if limited { 0.437 } else { 1.0 };
        let rules = SearchRules { pof_limit: limited.then_some(limit), ..chronological(order) };
        // What alone exceeds the limit is never shuffled.
        let shuffled: Vec<Candidate> =
            candidates.iter().filter(|candidate| candidate.pof <= limit).copied().collect();
        let tree = eager(order, parts, &shuffled, seed, limit);
        let mut search = lazy(rules, parts, &candidates, seed);
        let mut expected = Log::new();
        let reached = tree.as_ref().is_some_and(|tree| depth_first(tree, &mut expected, &mut coin(seed, percent)));
        if tree.is_none() {
            prop_assert_eq!(search.step(), Step::NoCandidate);
        }
        let (log, granted) = drive(&mut search, &mut coin(seed, percent));
        prop_assert_eq!(&log, &expected);
        prop_assert_eq!(granted, reached);
        check_sums(&log, granted, parts, sizes(parts, &candidates, Repair::Chronological))?;
        // The counts are those of the built tree, whatever has happened since.
        let mut found = Vec::new();
        if let Some(tree) = &tree {
            leaves(tree, 0.0, &mut found);
        }
        prop_assert_eq!(search.candidates(), found.len() as f64);
        let bounds = search.bounds().map(|bounds| {
            (bounds.earliest.0, bounds.latest.0, bounds.cheapest, bounds.dearest)
        });
        let of = |pick: fn(f64, f64) -> f64, value: fn(&(f64, i64)) -> f64| {
            found.iter().map(value).reduce(pick)
        };
        let expected = of(f64::min, |leaf| leaf.1 as f64).map(|earliest| (
            earliest as i64,
            of(f64::max, |leaf| leaf.1 as f64).unwrap() as i64,
            of(f64::min, |leaf| leaf.0).unwrap(),
            of(f64::max, |leaf| leaf.0).unwrap(),
        ));
        prop_assert_eq!(bounds, expected);
    }

    #[test]
    fn best_first_repair_takes_the_steps_of_the_sorted_tree(
        (parts, candidates) in requests(), seed in 0_u64..1_000, percent in 0_u32..100,
        weights in prop::sample::select(vec![(1.0, 0.0), (0.5, 0.5), (0.75, 0.25), (0.0, 1.0)]),
        tolerance in prop::sample::select(vec![(0_i64, 0.0), (5, 2.0), (1, 100.0), (100, 0.5)]),
        limited in any::<bool>(), staged in any::<bool>(),
    ) {
        let limit = if limited { 0.437 } else { 1.0 };
        let rules = SearchRules {
            valuation: if staged { Valuation::Staged } else { weighted(weights.0, weights.1) },
            start_tolerance: Seconds(tolerance.0),
            cost_tolerance: tolerance.1,
            pof_limit: limited.then_some(limit),
            ..rules(Order::Value, Repair::BestFirst)
        };
        let shuffled: Vec<Candidate> =
            candidates.iter().filter(|candidate| candidate.pof <= limit).copied().collect();
        let tree = eager(Order::Value, parts, &shuffled, seed, limit);
        let mut expected = Log::new();
        let reached = tree.is_some_and(|mut tree| {
            ranked(&mut tree, rules.valuation);
            best_first(tree, usize::from(parts), &rules, &mut expected, &mut coin(seed, percent))
        });
        let (log, granted) = drive(&mut lazy(rules, parts, &candidates, seed), &mut coin(seed, percent));
        prop_assert_eq!(&log, &expected);
        prop_assert_eq!(granted, reached);
        check_sums(&log, granted, parts, sizes(parts, &candidates, Repair::BestFirst))?;
    }

    #[test]
    fn values_with_plain_repair_are_a_depth_first_search_of_the_sorted_tree(
        (parts, candidates) in requests(), seed in 0_u64..1_000, percent in 0_u32..100,
    ) {
        let rules = SearchRules {
            valuation: weighted(0.5, 0.5),
            ..chronological(Order::Value)
        };
        let tree = eager(Order::Value, parts, &candidates, seed, 1.0);
        let mut expected = Log::new();
        let reached = tree.is_some_and(|mut tree| {
            ranked(&mut tree, rules.valuation);
            depth_first(&tree, &mut expected, &mut coin(seed, percent))
        });
        let (log, granted) = drive(&mut lazy(rules, parts, &candidates, seed), &mut coin(seed, percent));
        prop_assert_eq!(&log, &expected);
        prop_assert_eq!(granted, reached);
    }

    #[test]
    fn memoised_searches_grant_what_plain_ones_grant_and_ask_nothing_twice(
        (parts, candidates) in requests(), seed in 0_u64..1_000, percent in 0_u64..100,
        ordered in prop::sample::select(vec![
            (Order::Random, Repair::Chronological), (Order::Start, Repair::Chronological),
            (Order::Value, Repair::BestFirst), (Order::Value, Repair::Chronological)]),
        limited in any::<bool>(),
    ) {
        let plain = SearchRules { pof_limit: limited.then_some(0.437), ..rules(ordered.0, ordered.1) };
        let memoised = SearchRules { memoise: true, ..plain };
        let (log, granted) = drive(&mut lazy(plain, parts, &candidates, seed), &mut fixed(seed, percent));
        let (short, also) = drive(&mut lazy(memoised, parts, &candidates, seed), &mut fixed(seed, percent));
        prop_assert_eq!(granted, also);
        prop_assert_eq!(balance(&short), balance(&log));
        let refused: Vec<_> = short.iter().filter(|step| step.0 == '-').collect();
        for (place, step) in refused.iter().enumerate() {
            prop_assert!(!refused[..place].contains(step));
        }
        if granted && ordered.1 == Repair::BestFirst {
            // The best of all that are not refused is what both end with.
            let cost = |log: &Log| {
                let mut held: Vec<Candidate> = Vec::new();
                for (kind, candidate) in log {
                    match kind {
                        '+' => held.push(*candidate),
                        'x' => held.retain(|other| other != candidate),
                        _ => {}
                    }
                }
                held.iter().map(|part| part.cost).sum::<f64>()
            };
            prop_assert_eq!(cost(&log), cost(&short));
        }
    }

    #[test]
    fn cost_without_weight_gives_the_starts_of_the_start_sorted_search(
        (parts, candidates) in requests(), seed in 0_u64..1_000, percent in 0_u64..100,
    ) {
        let best = SearchRules {
            valuation: weighted(0.0, 1.0),
            ..rules(Order::Value, Repair::BestFirst)
        };
        let sorted = chronological(Order::Start);
        let starts = |log: Log| {
            let mut starts: Vec<Seconds> = log.iter().map(|step| step.1.start).collect();
            starts.dedup();
            starts
        };
        let (first, granted) = drive(&mut lazy(best, parts, &candidates, seed), &mut fixed(seed, percent));
        let (second, also) = drive(&mut lazy(sorted, parts, &candidates, seed), &mut fixed(seed, percent));
        prop_assert_eq!(granted, also);
        prop_assert_eq!(starts(first), starts(second));
    }

    #[test]
    fn clusters_that_go_down_leave_nothing_behind(
        (parts, candidates) in requests(), seed in 0_u64..1_000, percent in 0_u32..60,
        ordered in prop::sample::select(vec![
            (Order::Random, Repair::Chronological), (Order::Start, Repair::Chronological),
            (Order::Value, Repair::BestFirst), (Order::Value, Repair::Chronological), (Order::Value, Repair::None),
            (Order::Start, Repair::None)]),
        memoise in any::<bool>(), limited in any::<bool>(), often in 1_u32..8,
    ) {
        let rules = SearchRules {
            memoise,
            pof_limit: limited.then_some(0.437),
            ..rules(ordered.0, ordered.1)
        };
        let mut search = lazy(rules, parts, &candidates, seed);
        let mut draws = stream(seed, "failures", 0, "search");
        let mut down: Vec<ClusterId> = Vec::new();
        let mut held: Vec<Candidate> = Vec::new();
        let mut after_the_end = 2;
        loop {
            if draws.random_range(0..10 * often) == 0 {
                let cluster = ClusterId(draws.random_range(0..5));
                search.give_up(cluster);
                down.push(cluster);
                held.retain(|part| part.cluster != cluster);
            }
            match search.step() {
                Step::Reserve(candidate) => {
                    prop_assert_eq!(usize::from(candidate.part), held.len());
                    if draws.random_range(0..20) == 0 {
                        search.give_up(candidate.cluster);
                        down.push(candidate.cluster);
                        held.retain(|part| part.cluster != candidate.cluster);
                        search.answer(true);
                        continue;
                    }
                    prop_assert!(!down.contains(&candidate.cluster));
                    let granted = draws.random_range(0..100) >= percent;
                    if granted {
                        prop_assert!(held.iter().all(|part| part.start == candidate.start && part.cluster != candidate.cluster));
                        held.push(candidate);
                    }
                    search.answer(granted);
                }
                Step::Cancel(candidate) => {
                    prop_assert_eq!(held.pop(), Some(candidate));
                }
                Step::Granted(found) => {
                    prop_assert_eq!(&found, &held);
                    prop_assert_eq!(found.len(), usize::from(parts));
                    if after_the_end == 0 {
                        break;
                    }
                    after_the_end -= 1;
                    let cluster = found[0].cluster;
                    search.give_up(cluster);
                    down.push(cluster);
                    held.retain(|part| part.cluster != cluster);
                }
                Step::Exhausted | Step::NoCandidate => {
                    prop_assert!(held.is_empty());
                    break;
                }
            }
        }
        let counts = search.counts();
        prop_assert_eq!(
            counts.granted,
            counts.cancelled + counts.gone + held.len() as u32
        );
    }
}
