//! What holds for any request on a random workload.

use super::*;
use crate::replanning::{DelayCostSettings, PricedCosts};
use bookahead_core::workload::CostSpread;

fn request() -> impl Strategy<Value = VirtualStudySettings> {
    let backfilling = prop_oneof![
        Just(Backfilling::Conservative),
        Just(Backfilling::Aggressive),
        Just(Backfilling::None)
    ];
    let combination = prop_oneof![Just(Combination::Recorded), Just(Combination::Played)];
    (
        1_u32..=4,
        1_i64..5,
        1_i64..9,
        0.0_f64..1.2,
        backfilling,
        combination,
    )
        .prop_map(
            |(nodes, duration, lead, penalty_factor, backfilling, combination)| {
                let mut settings = VirtualStudySettings {
                    nodes: Nodes(nodes),
                    duration: Seconds::HOUR * duration,
                    lead: Seconds::HOUR * lead,
                    penalty_factor,
                    combination,
                    instants: 5,
                    step: Seconds(300),
                    ..small()
                };
                settings.replanning.backfilling = backfilling;
                settings
            },
        )
}

#[test]
fn a_random_workload_has_trials_of_every_kind() {
    let settings = VirtualStudySettings {
        instants: 60,
        lead: Seconds::HOUR * 4,
        ..small()
    };
    let run = study(&random_jobs(62, 4), &settings);
    for name in [
        "var_cheaper_percent",
        "ar_cheaper_percent",
        "only_var_percent",
        "only_ar_percent",
        "ar_free_percent",
        "combined_uses_var_percent",
        "var_started_late_percent",
    ] {
        assert!(
            measure(&run, name).unwrap() > 0.0,
            "{name}: {:?}",
            run.measures()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Singh 2008, eq. 22 and Figure 45.
    #[test]
    fn no_virtual_reservation_costs_more_than_its_bound_and_no_combination_more_than_the_reservation(
        seed in 0_u64..1_000_000, settings in request(),
    ) {
        let jobs = random_jobs_of(seed, 7, 4);
        let run = simulate_virtual(&jobs, Nodes(4), &settings, &mut stream(seed)).unwrap();
        for trial in &run.trials {
            prop_assert_eq!(trial.wanted_start, trial.asked_at + settings.lead);
            if let Some(submission) = trial.submission {
                prop_assert!(submission.probability > 0.0);
                prop_assert!(trial.asked_at <= submission.submit && submission.submit < trial.wanted_start);
                prop_assert_eq!(submission.submit + submission.runtime, trial.wanted_start + settings.duration);
                for start in [trial.virtual_start, trial.combined_virtual_start].into_iter().flatten() {
                    prop_assert!(submission.submit <= start && start <= trial.wanted_start);
                }
            } else {
                prop_assert_eq!(trial.virtual_start, None);
            }
            prop_assert!(trial.virtual_cost().is_none() || trial.virtual_cost() <= trial.virtual_bound());
            if let Some(price) = trial.price {
                prop_assert!(trial.combined.extra_cost.unwrap() <= price);
            }
            if settings.combination == Combination::Recorded {
                prop_assert_eq!(trial.combined_virtual_start, trial.virtual_start);
            }
            // Played, the reservation is the safety net, and a virtual one alone is the separate
            // one.
            let either = trial.virtual_success() || trial.reservation_success();
            prop_assert_eq!(trial.combined.success(), either);
        }
        prop_assert!(run.measures().iter().all(|(_, value)| value.is_finite()));
    }
}

#[test]
fn a_trial_costs_twice_as_much_where_everybody_states_twice_the_cost() {
    let mut settings = VirtualStudySettings {
        instants: 12,
        ..small()
    };
    let jobs = random_jobs(14, 4);
    let prices = |settings: &VirtualStudySettings| -> Vec<Option<NodeSeconds>> {
        let study = VirtualStudy::new(&jobs, Nodes(4), settings, &mut stream(1)).unwrap();
        let study = study.with_delay_costs(stream_of);
        let run = VirtualStudyRun::of(drive(study.scene().unwrap(), false)).unwrap();
        let trials = run.unwrap().trials;
        trials.iter().map(|trial| trial.price).collect()
    };
    let by_width = prices(&settings);
    settings.replanning.delay_costs = Some(DelayCostSettings {
        spread: CostSpread::Width,
        priced: PricedCosts::Stated,
        misstating_percent: 100.0,
        misstated_factor: 2.0,
        misstated_length_factor: 1.0,
        misstated_alpha: None,
    });
    let twice = by_width
        .iter()
        .map(|price| Some(NodeSeconds(2 * price.as_ref()?.0)));
    assert_eq!(prices(&settings), twice.collect::<Vec<_>>());
    assert!(by_width.iter().flatten().any(|price| price.0 > 0));
}

fn stream_of(name: &str) -> Stream {
    random::stream(1, "study", 0, name)
}
