mod queries;
mod reports;
mod verdicts;

use self::queries::asked;
use std::collections::HashMap;
use std::path::Path;

use rusqlite::Connection;

use super::write;
use super::{close, folder, thresholds, viewed};
use bookahead_core::scheduling::JobOutcome;
use bookahead_lab::store::{FinishedSimulation, RunSelector, Store};
use bookahead_lab::study::SimulationResult;
use bookahead_lab::sweep::{Axis, AxisValue};
use bookahead_report::calibration::{Calibration, Reason, Verdict, calibration};
use bookahead_report::{Analysis, Cell, Table};
use bookahead_studies::STUDIES;
use bookahead_testutils::runs::{axis, finished, point, promised, record, result, text, write_run};

const COMPREHENSIVE: &str = "comprehensive-overbooking";
const HEURISTIC: &str = "heuristic-overbooking";

/// So many jobs with a promised probability of failure, of which so many failed.
type Promises = (f64, u32, u32);

fn with(promises: &[Promises]) -> SimulationResult {
    let mut outcomes: Vec<JobOutcome> = Vec::new();
    for (pof, jobs, failed) in promises {
        for job in 0..*jobs {
            outcomes.push(promised(outcomes.len() as u32, *pof, None, job < *failed));
        }
    }
    SimulationResult {
        outcomes,
        ..result(0)
    }
}

/// So many failures, and some more or fewer.
fn around(failed: u32, more: i32) -> u32 {
    failed.saturating_add_signed(more)
}

/// A simulation with points at these values of the axes.
fn simulation(
    id: &str,
    strategy: &str,
    replication: u32,
    result: SimulationResult,
    at: &[&[(&str, AxisValue)]],
) -> FinishedSimulation {
    let points = at
        .iter()
        .enumerate()
        .map(|(place, axes)| {
            let mut axes = axes.to_vec();
            axes.push(("scheduling.strategy", text(strategy)));
            point(&format!("{id}-{place}"), &axes, replication, 1.0)
        })
        .collect();
    finished(id, strategy, replication, result, points)
}

fn strategies() -> Axis {
    axis(
        "scheduling.strategy",
        &[text(COMPREHENSIVE), text(HEURISTIC)],
    )
}

fn read(path: &Path) -> Calibration {
    let store = Store::open_read_only(STUDIES, path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    let points = store.points(run.id).unwrap();
    let analysis = Analysis::new(&points).unwrap();
    let rows = store.calibration(run.id).unwrap();
    calibration(&rows, &points, &analysis, &run.configuration_hash).unwrap()
}

/// The cells of a row by the keys of their columns.
fn cells<'t>(table: &'t Table, row: &'t [Cell]) -> HashMap<&'t str, &'t Cell> {
    table
        .columns
        .iter()
        .map(|column| column.key.as_str())
        .zip(row)
        .collect()
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Number(value) => *value,
        Cell::Integer(value) => *value as f64,
        Cell::Estimate(estimate) => estimate.mean,
        other => panic!("{other:?} is no number"),
    }
}

fn words(cell: &Cell) -> &str {
    match cell {
        Cell::Text(text) => text,
        other => panic!("{other:?} is no text"),
    }
}

#[test]
fn scores_are_those_computed_by_hand_and_intervals_are_over_batteries() {
    let folder = folder();
    let path = folder.path().join("store.db");
    // Jobs of a battery end alike more often than those of two batteries: 50 of 400 failed here,
    // 150 there.
    let simulations = vec![
        simulation(
            "a",
            HEURISTIC,
            0,
            with(&[(0.22, 400, 50), (0.62, 100, 60)]),
            &[&[]],
        ),
        simulation(
            "b",
            HEURISTIC,
            1,
            with(&[(0.22, 400, 150), (0.62, 100, 64)]),
            &[&[]],
        ),
    ];
    write_run(&path, &record("scores", vec![strategies()], 2), simulations);
    let found = read(&path);
    let scores = &found.tables[0];
    assert_eq!(scores.rows.len(), 1);
    let row = cells(scores, &scores.rows[0]);
    assert_eq!(
        (words(row["strategy"]), number(row["jobs"])),
        (HEURISTIC, 1_000.0)
    );
    // 200 of 800 at 0.22 and 124 of 200 at 0.62: 324 of 1,000.
    let brier = (200.0 * 0.78f64.powi(2)
        + 600.0 * 0.22f64.powi(2)
        + 124.0 * 0.38f64.powi(2)
        + 76.0 * 0.62f64.powi(2))
        / 1_000.0;
    let reference = 0.324 * 0.676;
    for (key, expected) in [
        ("batteries", 2.0),
        ("predicted", 0.8 * 0.22 + 0.2 * 0.62),
        ("failed", 0.324),
        ("killed", 0.324),
        ("brier", brier),
        ("brier_reference", reference),
        ("skill", 1.0 - brier / reference),
        // 0.03 too low for 800 jobs, exact for 200.
        ("calibration_error", 0.8 * 0.03),
        ("relative_error_percent", 100.0 * 0.8 * 0.03 / 0.324),
        ("largest_error", 0.03),
        ("reliability", 0.8 * 0.03 * 0.03),
        (
            "resolution",
            0.8 * 0.074f64.powi(2) + 0.2 * 0.296f64.powi(2),
        ),
    ] {
        assert!(
            (number(row[key]) - expected).abs() < 1e-9,
            "{key}: {:?}",
            row[key]
        );
    }
    // Murphy: exact where all predictions of a bin are equal.
    close(
        number(row["brier"]),
        number(row["reliability"]) - number(row["resolution"]) + number(row["brier_reference"]),
    );
    // Two batteries of 400: 50 and 150 failed, 100 are expected of each. se² = 2/1 · (50² + 50²) ÷
    // 800². Jobs that were independent would give √(0.25 · 0.75 ÷ 800) = 0.015.
    let bins = &found.tables[found.tables.len() - 1];
    let row = cells(bins, &bins.rows[0]);
    assert_eq!((number(row["pof_from"]), number(row["jobs"])), (0.2, 800.0));
    close(number(row["gap"]), 0.22 - 0.25);
    let Cell::Estimate(realised) = row["realised"] else {
        panic!("{:?}", row["realised"]);
    };
    // 12.7062 · 0.125 ÷ (0.25 · 0.75) = 8.4708 on the logit scale, around ln(0.25 ÷ 0.75).
    close(realised.deviation.unwrap() / 2.0_f64.sqrt(), 0.125);
    let interval = realised.interval.unwrap();
    close(interval.low, 1.0 / (1.0 + (3f64.ln() + 8.470_803).exp()));
    close(interval.high, 1.0 / (1.0 + (3f64.ln() - 8.470_803).exp()));
    let [(verdict, sentence)] = found.verdicts.as_slice() else {
        panic!("{:?}", found.verdicts);
    };
    assert_eq!(*verdict, Verdict::Open(Reason::FewBatteries(2)));
    assert_eq!(words(cells(scores, &scores.rows[0])["come_true"]), "open");
    assert!(
        sentence.contains("is open (2 batteries, and fewer than 5 are too few)"),
        "{sentence}"
    );
}

#[test]
fn a_strategy_whose_promises_fail_is_not_hidden_behind_one_whose_promises_come_true() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let mut simulations = Vec::new();
    for (battery, more) in (0..).zip([-2, 1, 2, -1, 0]) {
        let good = [
            (0.12, 200, around(24, more)),
            (0.88, 200, around(176, more)),
        ];
        // Told 0.62 and 0.22, of which 0.05 and 0.02 fail.
        let bad = [(0.62, 200, around(10, more)), (0.22, 200, around(4, more))];
        for (strategy, promises) in [(COMPREHENSIVE, good), (HEURISTIC, bad)] {
            let id = format!("{strategy}{battery}");
            simulations.push(simulation(&id, strategy, battery, with(&promises), &[&[]]));
        }
    }
    let run = record("pair", vec![strategies()], 10);
    write_run(&path, &run, simulations);
    let found = read(&path);
    let [(first, good), (second, bad)] = found.verdicts.as_slice() else {
        panic!("{:?}", found.verdicts);
    };
    assert_eq!((*first, *second), (Verdict::Shown, Verdict::Refuted));
    assert!(
        good.starts_with("comprehensive-overbooking: promised risks come true: skill 0.58 ±"),
        "{good}"
    );
    assert!(
        bad.starts_with("heuristic-overbooking: promised risks do not come true: skill -"),
        "{bad}"
    );
    // Pooled, the skill would be well above 0: 4,000 jobs, of which 1,070 failed.
    let row = |place: usize| cells(&found.tables[0], &found.tables[0].rows[place]);
    let brier = |place: usize| number(row(place)["brier"]) * number(row(place)["jobs"]);
    let base = 1_070.0 / 4_000.0;
    assert!(1.0 - (brier(0) + brier(1)) / 4_000.0 / (base * (1.0 - base)) > 0.1);
    assert!(number(row(1)["skill"]) < -1.0);
}

#[test]
fn a_situation_whose_promises_fail_is_not_hidden_behind_a_larger_one_of_the_same_strategy() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let family = |name: &str| [("estimates.classes", text(name))];
    let mut simulations = Vec::new();
    for (battery, more) in (0..).zip([-2, 1, 2, -1, 0]) {
        let right = [
            (0.12, 400, around(48, more)),
            (0.88, 400, around(352, more)),
        ];
        // 0.42 was promised and 0.1 came: an error of 0.32 for 250 of 4,250 jobs is 0.019 of all.
        let wrong = [(0.42, 50, around(5, more))];
        for (name, result) in [("runtime", with(&right)), ("resources", with(&wrong))] {
            let id = format!("{name}{battery}");
            simulations.push(simulation(
                &id,
                HEURISTIC,
                battery,
                result,
                &[&family(name)],
            ));
        }
    }
    let axes = vec![
        axis("estimates.classes", &[text("runtime"), text("resources")]),
        strategies(),
    ];
    write_run(&path, &record("hidden", axes, 10), simulations);
    let found = read(&path);
    let [(verdict, sentence)] = found.verdicts.as_slice() else {
        panic!("{:?}", found.verdicts);
    };
    assert_eq!(*verdict, Verdict::Refuted, "{sentence}");
    for part in [
        "come true as a whole (skill 0.5",
        "calibration error 0.019 [",
        "), but not with classes resources (skill -1.14 ±",
    ] {
        assert!(sentence.contains(part), "{part}: {sentence}");
    }
}

/// Two families of classes, two thresholds, two accounting ratios that no test reads.
fn sweep(path: &Path) {
    let family = |name: &str| ("estimates.classes", text(name));
    let at = |threshold: f64| ("acceptance.pof_max", AxisValue::Real(threshold));
    let ratio = |ratio: f64| ("acceptance.penalty_ratio", AxisValue::Real(ratio));
    let mut simulations = Vec::new();
    for replication in 0..2 {
        for (name, threshold, promises) in [
            ("runtime", 0.1, [(0.07, 300, 21), (0.02, 100, 2)]),
            ("runtime", 0.4, [(0.37, 300, 111), (0.02, 100, 2)]),
            ("resources", 0.1, [(0.07, 300, 150), (0.02, 100, 2)]),
            ("resources", 0.4, [(0.37, 300, 150), (0.02, 100, 2)]),
        ] {
            simulations.push(simulation(
                &format!("{name}-{threshold}-{replication}"),
                HEURISTIC,
                replication,
                with(&promises),
                &[
                    &[family(name), at(threshold), ratio(1.0)],
                    &[family(name), at(threshold), ratio(4.0)],
                ],
            ));
        }
    }
    let axes = vec![
        axis("estimates.classes", &[text("runtime"), text("resources")]),
        strategies(),
        axis(
            "acceptance.pof_max",
            &[AxisValue::Real(0.1), AxisValue::Real(0.4)],
        ),
        axis(
            "acceptance.penalty_ratio",
            &[AxisValue::Real(1.0), AxisValue::Real(4.0)],
        ),
    ];
    write_run(path, &record("sweep", axes, 16), simulations);
}

#[test]
fn a_simulation_that_several_points_are_read_off_is_counted_once_in_every_row() {
    let folder = folder();
    let path = folder.path().join("store.db");
    sweep(&path);
    let found = read(&path);
    let [scores, by_threshold, bins] = found.tables.as_slice() else {
        panic!("{} tables", found.tables.len());
    };
    // Accounting makes no situation; the first column is the family of classes.
    assert_eq!(scores.columns[0].key, "estimates.classes");
    let jobs: Vec<(&str, f64)> = scores
        .rows
        .iter()
        .map(|row| cells(scores, row))
        .map(|row| (words(row["estimates.classes"]), number(row["jobs"])))
        .collect();
    assert_eq!(
        jobs,
        [
            ("all", 3_200.0),
            ("runtime", 1_600.0),
            ("resources", 1_600.0)
        ]
    );
    assert_eq!(by_threshold.rows.len(), 4);
    for row in &by_threshold.rows {
        assert_eq!(number(cells(by_threshold, row)["jobs"]), 800.0);
    }
    assert_eq!(bins.rows.len(), 3 * 3);
    // Two batteries show and refute nothing.
    let [(verdict, sentence)] = found.verdicts.as_slice() else {
        panic!("{:?}", found.verdicts);
    };
    let few = Verdict::Open(Reason::FewBatteries(2));
    assert_eq!(*verdict, few, "{sentence}");
    let names: Vec<&str> = found
        .figures
        .iter()
        .map(|figure| figure.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "calibration",
            "calibration-jobs",
            "calibration-1",
            "calibration-by-threshold-1",
            "calibration-2",
            "calibration-by-threshold-2"
        ]
    );
    assert_eq!(
        found.figures[2].given,
        [("estimates.classes".to_owned(), "runtime".to_owned())]
    );
}

#[test]
fn a_calibrated_strategy_is_shown_beside_what_its_model_said() {
    let folder = folder();
    let path = folder.path().join("store.db");
    // The model says 0.62, 0.22 comes true; the first hundred were promised before that was known.
    let outcomes = (0..1_000)
        .map(|id| promised(id, 0.62, (id >= 100).then_some(0.22), id % 50 < 11))
        .collect();
    let calibrated = SimulationResult {
        outcomes,
        ..result(0)
    };
    let plain = with(&[(0.62, 1_000, 220)]);
    let rule = |name: &str| [("acceptance.calibration", text(name))];
    let simulations = vec![
        simulation("c", HEURISTIC, 0, calibrated, &[&rule("isotonic")]),
        simulation("n", HEURISTIC, 0, plain, &[&rule("none")]),
    ];
    let axes = vec![
        axis("acceptance.calibration", &[text("none"), text("isotonic")]),
        strategies(),
    ];
    write_run(&path, &record("calibrated", axes, 2), simulations);
    let found = read(&path);
    let scores = &found.tables[0];
    let rows: Vec<(String, String, f64)> = scores
        .rows
        .iter()
        .map(|row| cells(scores, row))
        .map(|row| {
            (
                words(row["acceptance.calibration"]).to_owned(),
                words(row["probability"]).to_owned(),
                (1_000.0 * number(row["calibration_error"])).round() / 1_000.0,
            )
        })
        .collect();
    let row = |rule: &str, kind: &str, error| (rule.to_owned(), kind.to_owned(), error);
    assert_eq!(
        rows,
        [
            row("all", "promised", 0.22),
            row("all", "raw", 0.4),
            row("none", "promised", 0.4),
            row("none", "raw", 0.4),
            row("isotonic", "promised", 0.04),
            row("isotonic", "raw", 0.4),
        ]
    );
    // What is raw counts the same jobs.
    assert_eq!(
        asked(&path, "SELECT sum(jobs) AS n FROM v_calibration_raw")[0]["n"],
        2_000.0
    );
    assert_eq!(
        asked(&path, "SELECT sum(jobs) AS n FROM v_calibration")[0]["n"],
        2_000.0
    );
    let labels: Vec<&str> = found.figures[0]
        .series
        .iter()
        .map(|series| series.label.as_str())
        .collect();
    assert_eq!(
        labels,
        [
            HEURISTIC,
            "heuristic-overbooking, before calibration",
            "as promised"
        ]
    );
}
