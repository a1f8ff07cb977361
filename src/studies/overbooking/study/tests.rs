//! What simulations of the study cost.

use super::OverbookingStudy;
use crate::registry;
use bookahead_lab::study::{SimulationSpec, Studies, Study as _, study};
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
fn only_planning_in_shelves_reads_how_these_are() {
    let fit = "[[axis]]\nkey = \"scheduling.shelf_fit\"\nvalues = [\"first\", \"next\"]\n";
    let heights = "[[axis]]\nkey = \"scheduling.shelf_ratio\"\nvalues = [0.3, 0.5]\n\
                   [[axis]]\nkey = \"scheduling.shelf_hours\"\nvalues = [18.0, 24.0]\n";
    let placing =
        "[[axis]]\nkey = \"scheduling.placing\"\nvalues = [\"near-best-fit\", \"last-fit\"]\n";
    for (axes, of_shelves, of_any) in [(fit, 2, 1), (heights, 4, 1), (placing, 1, 2)] {
        for (strategy, count) in [
            ("shelf-backfilling", of_shelves),
            ("conservative-backfilling", of_any),
        ] {
            assert_eq!(sweep(strategy, axes).unwrap().len(), count, "{strategy}");
        }
    }
    let specs = sweep("shelf-backfilling", fit).unwrap();
    let with = specs
        .iter()
        .filter(|spec| canonical_json(*spec).unwrap().contains("shelves"));
    assert_eq!(with.count(), 1);
    for wrong in [
        "shelf_ratio = 1.0",
        "shelf_hours = 0.0",
        "shelf_hours = 1e9",
    ] {
        let refused = sweep("shelf-backfilling", &format!("{wrong}\n")).unwrap_err();
        assert!(refused.contains("scheduling.shelf_"), "{refused}");
    }
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

fn axis(key: &str, values: &str) -> String {
    format!("[[axis]]\nkey = \"{key}\"\nvalues = {values}\n")
}

#[test]
fn how_much_of_a_slot_is_used_is_read_where_a_slot_may_be_longer_than_its_job() {
    let used = axis("reservations.duration_used", "[\"job\", \"window\"]");
    let with = |more: &str| sweep("fcfs", &format!("[reservations]\n{more}{used}")).unwrap();
    let specs = with("");
    assert_eq!(specs.len(), 2);
    let written: Vec<bool> = (specs.iter())
        .map(|spec| canonical_json(spec).unwrap().contains("duration_used"))
        .collect();
    // The default is not written, so that what was simulated before keeps its identity.
    assert_eq!(written, [false, true]);
    assert_eq!(with("duration = \"runtime\"\n").len(), 1);
    assert_eq!(with("share_percent = 0\n").len(), 1);
}

#[test]
fn the_share_of_sessions_is_read_where_the_others_may_end_early() {
    let shares = axis("reservations.interactive_percent", "[0, 30, 100]");
    let with = |more: &str| sweep("fcfs", &format!("[reservations]\n{more}{shares}")).unwrap();
    let specs = with("");
    let written: Vec<[bool; 2]> = (specs.iter())
        .map(|spec| {
            let text = canonical_json(spec).unwrap();
            ["interactive_percent", "duration_used"].map(|key| text.contains(key))
        })
        .collect();
    // Without sessions nothing is written, and where all are sessions all slots are used.
    assert_eq!(written, [[false; 2], [true, false], [false, true]]);
    assert_eq!(with("duration_used = \"window\"\n").len(), 1);
    assert_eq!(with("duration = \"runtime\"\n").len(), 1);
    assert_eq!(with("share_percent = 0\n").len(), 1);
    let refused = sweep("fcfs", "[reservations]\ninteractive_percent = 101\n").unwrap_err();
    assert!(
        refused.contains("reservations.interactive_percent"),
        "{refused}"
    );
}

#[test]
fn strategies_that_plan_read_whose_estimates_grow_and_what_underestimators_get() {
    let longer = axis("client.lengthen_percent", "[0, 50, 100]");
    let underestimators = axis(
        "acceptance.underestimators",
        "[\"as-estimated\", \"more-time\"]",
    );
    for strategy in OverbookingStudy::policies() {
        let plans = strategy.plan != registry::PlanKind::Queue;
        let count = |axis: &str| sweep(strategy.name, axis).unwrap().len();
        assert_eq!(
            count(&longer),
            if plans { 3 } else { 1 },
            "{}",
            strategy.name
        );
        assert_eq!(
            count(&underestimators),
            if plans { 2 } else { 1 },
            "{}",
            strategy.name
        );
        // Without statistics nobody underestimates.
        let specs = sweep(strategy.name, &underestimators).unwrap();
        let known: Vec<bool> = specs.iter().map(|spec| spec.estimates.is_some()).collect();
        let expected = if strategy.overbooks {
            [true; 2]
        } else {
            [false, true]
        };
        assert_eq!(known, expected[..specs.len()], "{}", strategy.name);
    }
    // When they ask is read where somebody does.
    let when = axis("client.lengthen_before_minutes", "[5, 60]");
    let count = |more: &str| {
        sweep("heuristic-planning", &format!("{more}{when}"))
            .unwrap()
            .len()
    };
    assert_eq!(count(""), 1);
    assert_eq!(count("[client]\nlengthen_percent = 100\n"), 2);
}

#[test]
fn who_asks_for_more_time_neither_saves_work_nor_runs_twice_nor_is_submitted_again() {
    let refused = |more: &str| {
        let text = format!("{more}[client]\nlengthen_percent = 50\n");
        sweep("heuristic-planning", &text).expect_err("refused")
    };
    for (more, reason) in [
        ("[checkpoint]\ninterval = \"fixed\"\n", "save their work"),
        ("double_execution = true\n", "two runs"),
    ] {
        let message = refused(more);
        assert!(message.contains("client.lengthen_percent"), "{message}");
        assert!(message.contains(reason), "{message}");
    }
    let text = "[client]\nlengthen_percent = 50\nresubmit_failed = 1\n";
    let message = sweep("heuristic-planning", text).expect_err("refused");
    assert!(message.contains("client.lengthen_percent"), "{message}");
    assert!(message.contains("submitted once"), "{message}");
}
