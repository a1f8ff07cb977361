//! Statistics that go on learning, through the whole engine: nothing of the future, what a slow
//! twin counts from scratch, and what is booked where predictions are lower bounds.

use std::sync::Arc;

use bookahead::estimates::{
    CalibrationSettings, ClassFamily, Combining, CombiningSettings, EstimateModel,
    EstimateSettings, Learning, LearningSettings, PredictionSettings,
};
use bookahead::failures::NodeFailures;
use bookahead::predictions::{PREDICTORS, PredictorSettings};
use bookahead::scheduling::{Acceptance, JobOutcome, PolicySpec, Verdict};
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::Job;
use bookahead_overbooking::Work;
use bookahead_overbooking::registry;
use bookahead_overbooking::{replay, with_learned};
use proptest::prelude::*;

use crate::support::{Draw, crowd, draws};

const NODES: Nodes = Nodes(8);

fn settings(strategy: &str, adapts: bool) -> PolicySpec {
    PolicySpec {
        acceptance: Acceptance::Pof { maximum: 0.4 },
        time_step: Seconds(1),
        calibration: CalibrationSettings {
            half_life_jobs: 200.0,
            ..CalibrationSettings::default()
        },
        adapt_security_factor: adapts,
        ..PolicySpec::named(strategy)
    }
}

fn learning(rule: Learning) -> LearningSettings {
    LearningSettings {
        rule,
        window_jobs: 20,
        half_life_jobs: 10.0,
        ..LearningSettings::default()
    }
}

fn predicted_by(name: &str) -> Option<PredictionSettings> {
    Some(PredictionSettings {
        predictor: name.to_owned(),
        told: PredictorSettings::default(),
    })
}

fn run(settings: &PolicySpec, model: EstimateModel, jobs: &[Job]) -> Vec<JobOutcome> {
    let model = Some(Arc::new(model));
    let strategy = registry::strategy(&settings.strategy).expect("a registered strategy");
    let make = || (strategy.build)(NODES, settings, model.clone());
    let machine = with_learned(make, NODES, &[]);
    replay(machine, Work::Jobs(jobs.into()), &NodeFailures::default()).outcomes
}

fn learned(jobs: &[Job], settings: &EstimateSettings) -> EstimateModel {
    EstimateModel::learn(jobs, settings).expect("there are jobs")
}

const OVERBOOKING: [&str; 2] = ["comprehensive-overbooking", "heuristic-overbooking"];

/// Pairs of narrow and wide, short and long jobs, and the user's last one.
fn families() -> [ClassFamily; 3] {
    let by_runtime = ClassFamily::Runtime {
        borders_seconds: vec![600, 1_200],
    };
    let by_nodes = ClassFamily::Resources {
        upper_bounds: vec![2],
    };
    [
        by_runtime.clone(),
        ClassFamily::Pair(Box::new(by_runtime), Box::new(by_nodes)),
        ClassFamily::UserLast,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn no_promise_depends_on_the_future(
        before in draws(60), first in draws(60), one in draws(60), other in draws(60),
        rule in prop::sample::select(vec![Learning::Online, Learning::Window, Learning::Aged]),
        combining in prop::sample::select(vec![Combining::BackOff, Combining::Weighted, Combining::Mixture]),
        place in 0..PREDICTORS.len(),
        adapts in any::<bool>(),
    ) {
        // Two futures behind the same past: every promise of the past is the same to the bit.
        let before = crowd(&before);
        // The run time itself is what nobody can know: it is of the job that is promised, and of
        // nothing that comes later either.
        let predictor = PREDICTORS[place].name;
        for (family, prediction) in families().into_iter().zip([None, None, predicted_by(predictor)]) {
            let estimates = EstimateSettings {
                family,
                learning: learning(rule),
                combining: CombiningSettings { rule: combining, ..CombiningSettings::default() },
                prediction,
                ..EstimateSettings::default()
            };
            for strategy in OVERBOOKING {
                let settings = settings(strategy, adapts);
                let promises = |future: &[Draw]| {
                    let all: Vec<_> = first.iter().chain(future).copied().collect();
                    let mut outcomes = run(&settings, learned(&before, &estimates), &crowd(&all));
                    outcomes.truncate(first.len());
                    outcomes.into_iter().map(|outcome| outcome.promise).collect::<Vec<_>>()
                };
                prop_assert_eq!(promises(&one), promises(&other));
            }
        }
    }

    #[test]
    fn an_overbooked_slot_has_the_probability_that_all_final_outcomes_give(
        before in draws(30), battery in draws(120),
    ) {
        // One class; no node fails, and the plan assumes that none does.
        let before = crowd(&before);
        let battery = crowd(&battery);
        let estimates = EstimateSettings {
            family: ClassFamily::All,
            learning: learning(Learning::Online),
            ..EstimateSettings::default()
        };
        let settings = settings("heuristic-overbooking", false);
        let outcomes = run(&settings, learned(&before, &estimates), &battery);
        for outcome in &outcomes {
            let Some(promise) = outcome.promise.filter(|promise| promise.overbooked) else { continue };
            let now = outcome.job.submit;
            // Ends of an instant come before its arrivals.
            let ended = outcomes.iter().filter(|other| other.end.is_some_and(|end| end <= now));
            let percent = |ran: Seconds, estimate: Seconds| ran.0 as f64 / estimate.0 as f64;
            let mut jobs: Vec<(i64, bool)> = before
                .iter()
                .map(|job| (rounded(percent(job.runtime, job.estimate)).min(100), false))
                .collect();
            for other in ended {
                let (Some(start), Some(end)) = (other.start, other.end) else { continue };
                let ran = percent(end - start, other.job.estimate);
                match other.verdict {
                    Verdict::SuccessfulFinished => jobs.push((rounded(ran), false)),
                    Verdict::SuccessfulFullGrant => jobs.push((100, false)),
                    Verdict::FailedOverbooked => jobs.push(((ran * 100.0 + 1e-9).floor() as i64, true)),
                    _ => {}
                }
            }
            let slot = (promise.end - promise.start).0 * 100 / outcome.job.estimate.0;
            let mut left = 1.0;
            for bin in 0..=slot {
                let at_risk = jobs.iter().filter(|job| job.0 >= bin).count();
                let ended = jobs.iter().filter(|job| **job == (bin, false)).count();
                if ended > 0 {
                    left *= 1.0 - ended as f64 / at_risk as f64;
                }
            }
            let executable = promise.success.expect("overbooked slots have a probability").executable;
            prop_assert!((executable - (1.0 - left)).abs() < 1e-9, "{executable} {left}");
        }
    }

    #[test]
    fn no_slot_is_booked_that_is_shorter_than_what_is_predicted(before in draws(60), battery in draws(90)) {
        let (before, battery) = (crowd(&before), crowd(&battery));
        for strategy in OVERBOOKING {
            let outcomes = |prediction| {
                let estimates = EstimateSettings {
                    family: ClassFamily::All,
                    prediction,
                    ..EstimateSettings::default()
                };
                let settings = settings(strategy, false);
                run(&settings, learned(&before, &estimates), &battery)
            };
            let overbooked = |outcome: &&JobOutcome| outcome.promise.is_some_and(|promise| promise.overbooked);
            // What knows the run time never books less.
            for outcome in outcomes(predicted_by("perfect")).iter().filter(overbooked) {
                let promise = outcome.promise.expect("it was accepted");
                prop_assert!(promise.end - promise.start >= outcome.job.runtime.min(outcome.job.estimate));
            }
            // What predicts the request never overbooks.
            prop_assert_eq!(outcomes(predicted_by("request")).iter().filter(overbooked).count(), 0);
        }
    }
}

/// A ratio in whole percent, half rounded up.
fn rounded(ratio: f64) -> i64 {
    (ratio * 100.0 + 0.5 + 1e-9).floor() as i64
}

#[test]
fn statistics_that_learn_follow_users_who_change() {
    // Everybody used a tenth of the estimate, and now everybody uses nine tenths. Static statistics
    // go on overbooking; those that learn stop, the sooner the faster they forget.
    let before: Vec<Job> = crowd(&[(4, 1_000, 10, 60); 200]);
    let battery: Vec<Job> = crowd(&[(4, 1_000, 90, 60); 300]);
    let failed = |rule| {
        let estimates = EstimateSettings {
            family: ClassFamily::All,
            learning: learning(rule),
            ..EstimateSettings::default()
        };
        let settings = settings("heuristic-overbooking", false);
        let outcomes = run(&settings, learned(&before, &estimates), &battery);
        let failed = outcomes
            .iter()
            .filter(|outcome| outcome.verdict.is_failed());
        failed.count()
    };
    let found = [
        Learning::Static,
        Learning::Online,
        Learning::Window,
        Learning::Aged,
    ]
    .map(failed);
    assert!(found[0] > found[1], "{found:?}");
    assert!(found[1] > found[2] && found[1] > found[3], "{found:?}");
}

#[test]
fn a_security_factor_that_adapts_ends_broken_promises() {
    let before: Vec<Job> = crowd(&[(4, 1_000, 10, 60); 200]);
    let battery: Vec<Job> = crowd(&[(4, 1_000, 90, 60); 300]);
    let failed = |adapts| {
        let estimates = EstimateSettings {
            family: ClassFamily::All,
            ..EstimateSettings::default()
        };
        // Half of the jobs of the learning set took what they asked for: promises of a half.
        let settings = settings("heuristic-overbooking", adapts);
        let mixed: Vec<Job> = before
            .iter()
            .zip(0..)
            .map(|(job, place)| {
                let runtime = Seconds(if place % 4 == 0 { 1_000 } else { 100 });
                job.clone().running_for(runtime)
            })
            .collect();
        let outcomes = run(&settings, learned(&mixed, &estimates), &battery);
        let failed = outcomes
            .iter()
            .filter(|outcome| outcome.verdict.is_failed());
        failed.count()
    };
    let (fixed, adapted) = (failed(false), failed(true));
    assert!(adapted * 2 < fixed, "{adapted} of {fixed}");
}
