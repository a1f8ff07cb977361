//! Calibrated promises through the whole engine: nothing of the future, the same bytes, and what
//! they are for.

use std::sync::Arc;

use bookahead::estimates::{
    Binning, CalibrationMethod, CalibrationSettings, ClassFamily, EstimateModel, EstimateSettings,
    LearningJobs, Overrun,
};
use bookahead::failures::NodeFailures;
use bookahead::scheduling::Policy;
use bookahead::scheduling::{Acceptance, JobOutcome, PolicySpec};
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::Job;
use bookahead_overbooking::Work;
use bookahead_overbooking::registry;
use bookahead_overbooking::{learn_from_batteries, replay, with_learned};
use proptest::prelude::*;

use crate::support::{Draw, crowd, draws};

const NODES: Nodes = Nodes(8);

fn settings(strategy: &str, method: CalibrationMethod) -> PolicySpec {
    PolicySpec {
        acceptance: Acceptance::Pof { maximum: 0.4 },
        time_step: Seconds(1),
        calibration: CalibrationSettings {
            method,
            half_life_jobs: 200.0,
            minimum_jobs: 5.0,
            batteries_before: 1,
        },
        ..PolicySpec::named(strategy)
    }
}

fn model(family: ClassFamily, learning: &[Job]) -> Arc<EstimateModel> {
    let settings = EstimateSettings {
        family,
        binning: Binning::Round,
        learn_from: LearningJobs::Before,
        overrun: Overrun::Clamp,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    Arc::new(EstimateModel::learn(learning, &settings).expect("there are jobs"))
}

fn run(
    settings: &PolicySpec,
    model: &Arc<EstimateModel>,
    before: &[(Arc<[Job]>, NodeFailures)],
    jobs: &[Job],
) -> Vec<JobOutcome> {
    let machine = with_learned(|| made(settings, model), NODES, before);
    replay(machine, Work::Jobs(jobs.into()), &NodeFailures::default()).outcomes
}

fn made(settings: &PolicySpec, model: &Arc<EstimateModel>) -> Box<dyn Policy> {
    let strategy = registry::strategy(&settings.strategy).expect("a registered strategy");
    (strategy.build)(NODES, settings, Some(Arc::clone(model)))
}

const OVERBOOKING: [&str; 2] = ["comprehensive-overbooking", "heuristic-overbooking"];
const METHODS: [CalibrationMethod; 2] = [CalibrationMethod::Isotonic, CalibrationMethod::Logistic];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_promise_does_not_depend_on_what_happens_after_it(
        learning in draws(60), first in draws(60), one in draws(60), other in draws(60),
    ) {
        // Two futures behind the same past: every promise of the past is the same to the bit,
        // calibration and users' histories included.
        let learning = crowd(&learning);
        for family in [ClassFamily::All, ClassFamily::UserLast] {
            let model = model(family, &learning);
            for (strategy, method) in OVERBOOKING.into_iter().zip(METHODS) {
                let settings = settings(strategy, method);
                let promises = |future: &[Draw]| {
                    let all: Vec<_> = first.iter().chain(future).copied().collect();
                    let mut outcomes = run(&settings, &model, &[], &crowd(&all));
                    outcomes.truncate(first.len());
                    outcomes.into_iter().map(|outcome| outcome.promise).collect::<Vec<_>>()
                };
                prop_assert_eq!(promises(&one), promises(&other));
            }
        }
    }

    #[test]
    fn what_was_learned_before_is_what_one_long_run_would_have_learned(
        learning in draws(60), before in draws(120), battery in draws(60),
    ) {
        let learning = crowd(&learning);
        let model = model(ClassFamily::All, &learning);
        let before: (Arc<[Job]>, _) = (crowd(&before).into(), NodeFailures::default());
        let battery = crowd(&battery);
        for (strategy, method) in OVERBOOKING.into_iter().zip(METHODS) {
            let settings = settings(strategy, method);
            let with = run(&settings, &model, std::slice::from_ref(&before), &battery);
            prop_assert_eq!(&with, &run(&settings, &model, std::slice::from_ref(&before), &battery));
            let learned = learn_from_batteries(|| made(&settings, &model), NODES, std::slice::from_ref(&before));
            prop_assert!(learned.is_some());
            for outcome in with {
                let Some(promise) = outcome.promise.filter(|promise| promise.overbooked) else { continue };
                let promised = promise.pof().expect("overbooked slots have a probability");
                prop_assert!(promise.calibrated_pof.is_some());
                prop_assert!((0.0..0.4).contains(&promised), "{promised}");
            }
        }
    }

    #[test]
    fn without_a_method_nothing_is_calibrated(learning in draws(40), battery in draws(60)) {
        let learning = crowd(&learning);
        let model = model(ClassFamily::All, &learning);
        for strategy in OVERBOOKING {
            let settings = settings(strategy, CalibrationMethod::None);
            for outcome in run(&settings, &model, &[], &crowd(&battery)) {
                prop_assert!(outcome.promise.is_none_or(|promise| promise.calibrated_pof.is_none()));
            }
        }
    }
}
