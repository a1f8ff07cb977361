//! What simulations of the study cost.

use super::OverbookingStudy;
use bookahead_lab::study::{SimulationSpec, Studies, study};
use bookahead_lab::sweep::{CostModel, Experiment, canonical_json};

const STUDIES: Studies = Studies::new(&[study::<OverbookingStudy>()]);

#[test]
fn batteries_that_are_learned_from_and_places_that_are_compared_cost_their_time() {
    let seconds = |more: &str| {
        let text = format!(
            "[experiment]\nname = \"test\"\n[workload]\nmodel = \"lublin-feitelson\"\njobs = 5000\nnodes = 64\nload.value = 2.0\n\
             [scheduling]\nstrategy = \"comprehensive-overbooking\"\n{more}"
        );
        let sweep = Experiment::parse(STUDIES, "test.toml", &text, None)
            .expect("valid")
            .sweep;
        CostModel::default().seconds(sweep.simulations.kind(0))
    };
    let plain = seconds("");
    // Five batteries before its own; weighing all places took six times as long.
    let calibrated = seconds("[acceptance]\ncalibration = \"logistic\"\n");
    assert!(
        (calibrated / plain - 6.0).abs() < 1e-9,
        "{calibrated} {plain}"
    );
    let compared = seconds("placing = \"highest-pos\"\n");
    assert!((compared / plain - 6.0).abs() < 1e-9, "{compared} {plain}");
}

/// What an experiment comes to, or its refusal.
fn sweep(strategy: &str, more: &str) -> Result<Vec<SimulationSpec>, String> {
    let text = format!(
        "[experiment]\nname = \"test\"\nreplications = 1\n[workload]\nmodel = \"lublin-feitelson\"\njobs = 5000\nnodes = 64\nload.value = 2.0\n\
         [scheduling]\nstrategy = \"{strategy}\"\n{more}"
    );
    let experiment = Experiment::parse(STUDIES, "test.toml", &text, None);
    let experiment = experiment.map_err(|error| {
        let problems = error.problems().iter();
        problems.map(ToString::to_string).collect::<String>()
    })?;
    Ok(experiment.sweep.simulations.iter().collect())
}

#[test]
fn only_queues_with_backfilling_read_at_which_risk_jobs_pass_the_first() {
    let axis = "[[axis]]\nkey = \"scheduling.backfill_risk\"\nvalues = [0.0, 0.05, 0.2]\n";
    for (strategy, count) in [
        ("easy-backfilling", 3),
        ("fcfs", 1),
        ("conservative-backfilling", 1),
        ("heuristic-overbooking", 1),
    ] {
        assert_eq!(sweep(strategy, axis).unwrap().len(), count, "{strategy}");
    }
    let specs = sweep("easy-backfilling", axis).unwrap();
    let with: Vec<bool> = (specs.iter())
        .map(|spec| canonical_json(spec).unwrap().contains("backfill_risk"))
        .collect();
    // Statistics are learned where the risk needs them, and identities without one stay.
    let learned: Vec<bool> = specs.iter().map(|spec| spec.estimates.is_some()).collect();
    assert_eq!(
        (with, learned),
        (vec![false, true, true], vec![false, true, true])
    );
    let refused = sweep("easy-backfilling", "backfill_risk = 1.5\n").unwrap_err();
    assert!(refused.contains("scheduling.backfill_risk"), "{refused}");
}

#[test]
fn customers_refuse_late_ends_where_ends_are_offered_and_nobody_asks_again() {
    let axis = "[[axis]]\nkey = \"client.refuses_late_offers\"\nvalues = [false, true]\n";
    for (strategy, count) in [
        ("easy-backfilling", 1),
        ("conservative-backfilling", 2),
        ("heuristic-planning", 2),
        ("overbooking-2008", 2),
    ] {
        assert_eq!(sweep(strategy, axis).unwrap().len(), count, "{strategy}");
    }
    let specs = sweep("heuristic-planning", axis).unwrap();
    let with = specs.iter().filter(|spec| {
        canonical_json(*spec)
            .unwrap()
            .contains("refuses_late_offers")
    });
    assert_eq!(with.count(), 1);
    for other in [
        "resubmit_rejected = 2",
        "resubmit_failed = 1",
        "dependencies = \"sessions\"",
        "patience_hours = 3.0",
    ] {
        let client = format!("[client]\nrefuses_late_offers = true\n{other}\n");
        let refused = sweep("heuristic-planning", &client).unwrap_err();
        assert!(refused.contains("client.refuses_late_offers"), "{refused}");
        assert!(refused.contains("leave out"), "{refused}");
    }
    let beside = "[client]\nrefuses_late_offers = true\n[best_effort]\nshare_percent = 50.0\n";
    let refused = sweep("heuristic-planning", beside).unwrap_err();
    assert!(refused.contains("best_effort.share_percent"), "{refused}");
}
