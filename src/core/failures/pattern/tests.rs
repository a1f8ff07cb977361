use proptest::prelude::*;

use super::*;
use crate::failures::EarlyFailures;
use crate::random;

const RATE: f64 = 0.01;

fn draw(pattern: &FailurePattern, nodes: u32, hours: i64, replication: u32) -> FailureTrace {
    let model = SurvivalModel::Poisson {
        rate_per_hour: RATE,
    };
    let stream = |name: &'static str| {
        move |node: NodeIndex| {
            random::stream(1, "pattern", replication, &format!("{name}/{}", node.0))
        }
    };
    // Repairs take 18 seconds, so that hardly any failure falls into an outage.
    let rates = (&model, 200.0);
    let horizon = Seconds(hours * 3_600);
    let (own, burst) = (stream("own"), stream("burst"));
    generate(rates, pattern, Nodes(nodes), horizon, own, burst).unwrap()
}

fn starts(trace: &FailureTrace) -> Vec<i64> {
    let downs = trace.events.iter().filter(|event| !event.up);
    downs.map(|event| event.time.0).collect()
}

fn bursts(mean_followers: f64, delay_hours: f64, same_node: f64) -> FailurePattern {
    FailurePattern {
        bursts: Some(Bursts {
            mean_followers,
            delay_hours,
            same_node,
        }),
        ..FailurePattern::default()
    }
}

/// Mean and variance by mean of the counts in spans of so many hours.
fn dispersion(starts: &[i64], hours: i64, span: i64) -> (f64, f64) {
    let mut counts = vec![0.0_f64; (hours / span) as usize];
    for start in starts {
        if let Some(count) = counts.get_mut((start / (span * 3_600)) as usize) {
            *count += 1.0;
        }
    }
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let squares: f64 = counts
        .iter()
        .map(|count| (count - mean) * (count - mean))
        .sum();
    (mean, squares / (counts.len() - 1) as f64 / mean)
}

#[test]
fn bursts_have_the_count_and_the_index_of_dispersion_of_the_closed_form() {
    let hours = 400_000;
    for followers in [0.0, 0.5, 2.0] {
        let trace = draw(&bursts(followers, 0.1, 0.3), 4, hours, 0);
        let (mean, index) = dispersion(&starts(&trace), hours, 200);
        let expected = 4.0 * RATE * 200.0 * (1.0 + followers);
        assert!(
            (mean / expected - 1.0).abs() < 0.03,
            "{mean} for {expected}"
        );
        let expected = (1.0 + followers) + followers / (1.0 + followers);
        // 2,000 spans: a standard error of about 3 %.
        assert!(
            (index / expected - 1.0).abs() < 0.12,
            "{index} for {expected}"
        );
    }
}

#[test]
fn followers_hit_the_node_of_their_parent_as_often_as_they_are_told() {
    let share = |same_node| {
        let trace = draw(&bursts(1.0, 0.05, same_node), 10, 100_000, 0);
        let downs: Vec<_> = trace.events.iter().filter(|event| !event.up).collect();
        // Within ten minutes: nearly always a follower. Of 10 nodes any one is the same with a
        // tenth.
        let pairs = downs.windows(2).filter(|pair| {
            let gap = pair[1].time - pair[0].time;
            gap < Seconds(600)
        });
        let (same, all) = pairs.fold((0, 0), |(same, all), pair| {
            (same + u32::from(pair[0].node == pair[1].node), all + 1)
        });
        f64::from(same) / f64::from(all)
    };
    let (never, half, always) = (share(0.0), share(0.5), share(1.0));
    assert!((0.08..0.13).contains(&never), "{never}");
    // Of neighbours 63 % are a parent and its first follower, of which 55 % hit one node, and the
    // others two followers (33 %); every eleventh follower on the same node comes before the repair
    // and is no failure of its own.
    assert!((0.39..0.47).contains(&half), "{half}");
    assert!(always > 0.88, "{always}");
}

#[test]
fn failures_come_by_hour_of_the_day_as_the_factors_say() {
    let mut factors = vec![0.5; 24];
    factors[6..18].fill(1.5);
    let pattern = FailurePattern {
        rate: RateFactors {
            hour_factors: factors,
            ..RateFactors::default()
        },
        ..FailurePattern::default()
    };
    let trace = draw(&pattern, 20, 100_000, 0);
    let starts = starts(&trace);
    let total = starts.len() as f64;
    // The factors have the mean 1, so the rate is the model's.
    assert!((total / (20.0 * 100_000.0 * RATE) - 1.0).abs() < 0.03);
    let by_day = starts
        .iter()
        .filter(|start| (6..18).contains(&(**start / 3_600 % 24)));
    let share = by_day.count() as f64 / total;
    assert!((share - 0.75).abs() < 0.01, "{share}");
}

#[test]
fn a_young_machine_fails_more_by_the_closed_form() {
    let pattern = FailurePattern {
        rate: RateFactors {
            early: Some(EarlyFailures {
                excess: 4.0,
                decay_hours: 1_000.0,
            }),
            ..RateFactors::default()
        },
        ..FailurePattern::default()
    };
    let (hours, nodes) = (10_000, 200);
    let starts = starts(&draw(&pattern, nodes, hours, 0));
    for until in [500.0, 2_000.0, 10_000.0] {
        let seen = starts
            .iter()
            .filter(|start| (**start as f64) < until * 3_600.0)
            .count() as f64;
        let run = until + 4.0 * 1_000.0 * (1.0 - libm::exp(-until / 1_000.0));
        let expected = f64::from(nodes) * RATE * run;
        assert!(
            (seen - expected).abs() < 4.0 * expected.sqrt(),
            "{seen} for {expected}"
        );
    }
}

#[test]
fn failures_come_at_weekends_as_the_factor_says() {
    let pattern = FailurePattern {
        rate: RateFactors {
            weekend_factor: Some(0.5),
            ..RateFactors::default()
        },
        ..FailurePattern::default()
    };
    let starts = starts(&draw(&pattern, 20, 100_000, 0));
    let total = starts.len() as f64;
    assert!((total / (20.0 * 100_000.0 * RATE) - 1.0).abs() < 0.03);
    let at_weekends = starts.iter().filter(|start| **start / 86_400 % 7 >= 5);
    // Two days at half the rate beside five: 1 / 6.
    let share = at_weekends.count() as f64 / total;
    assert!((share - 1.0 / 6.0).abs() < 0.01, "{share}");
}

#[test]
fn an_hour_without_failures_is_waited_for() {
    let mut factors = vec![0.0; 24];
    factors[3] = 24.0;
    let pattern = FailurePattern {
        rate: RateFactors {
            hour_factors: factors,
            ..RateFactors::default()
        },
        ..FailurePattern::default()
    };
    let starts = starts(&draw(&pattern, 5, 20_000, 0));
    assert!(!starts.is_empty());
    // Rounded up to whole seconds, so the end of the hour may be met.
    assert!(
        starts
            .iter()
            .all(|start| (10_800..=14_400).contains(&(start % 86_400)))
    );
}

#[test]
fn impossible_patterns_are_errors() {
    for pattern in [
        bursts(-1.0, 1.0, 0.5),
        bursts(1.0, 0.0, 0.5),
        bursts(1.0, 1.0, 1.5),
        bursts(101.0, 1.0, 0.5),
        FailurePattern {
            rate: RateFactors {
                hour_factors: vec![1.0; 23],
                ..RateFactors::default()
            },
            ..FailurePattern::default()
        },
        FailurePattern {
            rate: RateFactors {
                hour_factors: vec![0.0; 24],
                ..RateFactors::default()
            },
            ..FailurePattern::default()
        },
        FailurePattern {
            rate: RateFactors {
                early: Some(EarlyFailures {
                    excess: 1.0,
                    decay_hours: f64::NAN,
                }),
                ..RateFactors::default()
            },
            ..FailurePattern::default()
        },
    ] {
        assert!(pattern.validate().is_err(), "{pattern:?}");
    }
}

fn patterns() -> impl Strategy<Value = FailurePattern> {
    let bursts = prop::option::of((0.0..3.0, 0.01..5.0, 0.0..=1.0_f64));
    let factors = prop::option::of(prop::collection::vec(0.01..3.0, 24));
    let early = prop::option::of((0.0..5.0, 1.0..500.0));
    (bursts, factors, early).prop_map(|(bursts, factors, early)| FailurePattern {
        bursts: bursts.map(|(mean_followers, delay_hours, same_node)| Bursts {
            mean_followers,
            delay_hours,
            same_node,
        }),
        rate: RateFactors {
            hour_factors: factors.unwrap_or_default(),
            weekend_factor: None,
            early: early.map(|(excess, decay_hours)| EarlyFailures {
                excess,
                decay_hours,
            }),
        },
        load: None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_later_horizon_adds_only_later_failures(
        pattern in patterns(),
        hours in 100_i64..2_000,
        more in 1_i64..500,
    ) {
        let early = draw(&pattern, 6, hours, 3);
        early.validate().unwrap();
        let late = draw(&pattern, 6, hours + more, 3);
        let horizon = hours * 3_600;
        let before = |trace: &FailureTrace| {
            let mut starts = starts(trace);
            starts.retain(|start| *start < horizon);
            starts
        };
        prop_assert_eq!(before(&early), before(&late));
        prop_assert_eq!(&early, &draw(&pattern, 6, hours, 3));
    }

    #[test]
    fn the_clock_runs_by_the_sum_of_its_factors(pattern in patterns(), from in 0.0..500.0_f64, span in 0.1..60.0_f64) {
        let end = pattern.end_of(from, span, 1e6);
        // A sum of small steps stands for the integral.
        let steps = 20_000;
        let width = (end - from) / f64::from(steps);
        let sum: f64 = (0..steps)
            .map(|step| pattern.factor(from + (f64::from(step) + 0.5) * width) * width)
            .sum();
        prop_assert!((sum - span).abs() < 0.02 * span.max(1.0), "{} for {}", sum, span);
    }
}

impl FailurePattern {
    /// How fast the model's clock runs `hours` after time 0.
    fn factor(&self, hours: f64) -> f64 {
        let of_day = self.rate.hour_factors.get((hours % 24.0) as usize);
        let of_age = self.rate.early.map_or(1.0, |early| {
            1.0 + early.excess * libm::exp(-hours / early.decay_hours)
        });
        of_day.copied().unwrap_or(1.0) * of_age
    }
}
