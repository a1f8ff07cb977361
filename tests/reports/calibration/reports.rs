//! Calibration in a report: tables, figures, lines and the threshold at which a promise pays.

use super::*;
use bookahead_studies::STUDIES;

#[test]
fn a_report_has_the_tables_and_figures_of_calibration_and_a_line_for_each_strategy() {
    let folder = folder();
    let path = folder.path().join("store.db");
    sweep(&path);
    let out = folder.path().join("out");
    let summary = write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    let page = std::fs::read_to_string(&summary.report).unwrap();
    assert!(
        page.contains(
            "<li class=\"open\">heuristic-overbooking: whether promised risks come true is open"
        ),
        "{page}"
    );
    assert!(
        summary
            .remarks
            .iter()
            .any(|remark| remark.contains("whether promised risks come true is open")),
        "{:?}",
        summary.remarks
    );
    for name in [
        "tables/calibration.csv",
        "tables/calibration-by-threshold.parquet",
        "tables/calibration-bins.csv",
        "tables/risk-optimal.csv",
        "plots/calibration.svg",
        "plots/calibration-2.csv",
        "plots/calibration-by-threshold-1.svg",
    ] {
        assert!(out.join(name).exists(), "{name}");
    }
    let text = std::fs::read_to_string(out.join("report.md")).unwrap();
    for title in [
        "* heuristic-overbooking: whether promised risks come true is open (2 batteries",
        "## Do promised risks come true?\n",
        "## Promised and realised risk by bin\n",
        "## What it is worth to take promises at their word\n",
    ] {
        assert!(text.contains(title), "{title}");
    }
}

#[test]
fn the_risk_optimal_threshold_is_the_largest_at_which_a_promise_pays() {
    let folder = folder();
    for (ratio, pays_below, threshold, gain) in [
        // Thresholds 0.1, 0.2, 0.3 earn 120.33, 137, 123.33 at ratio 1; each loses 20 coins more
        // for each ratio more.
        (1.0, 0.5, Some(0.3), Some((90.0 + 180.0 + 100.0) / 3.0)),
        (4.0, 0.2, Some(0.2), Some(137.0 - 60.0)),
        (12.0, 1.0 / 13.0, None, None),
    ] {
        let path = folder.path().join(format!("{ratio}.db"));
        let (record, mut simulations) = thresholds(3);
        for simulation in &mut simulations {
            for point in &mut simulation.points {
                point.penalty_ratio = ratio;
            }
        }
        write_run(&path, &record, simulations);
        let table = viewed(&path).first_tables.remove(0);
        assert_eq!(table.rows.len(), 1, "the baseline promises nothing");
        let row = cells(&table, &table.rows[0]);
        let answer = &asked(&path, &table.sql)[0];
        close(number(row["pays_below"]), pays_below);
        close(number(row["best_threshold"]), 0.2);
        close(number(row["best_gain"]), 157.0 - 20.0 * ratio);
        // Without each battery 0.2, 0.2 and 0.3 earn most: 130, 131 and 100 there.
        close(
            number(row["best_on_others"]),
            361.0 / 3.0 + 20.0 - 20.0 * ratio,
        );
        close(number(row["best_failed"]), 1.0);
        for (key, expected) in [("threshold", threshold), ("gain", gain)] {
            match expected {
                Some(expected) => close(number(row[key]), expected),
                None => assert_eq!(*row[key], Cell::Missing),
            }
        }
        for key in [
            "penalty_ratio",
            "pays_below",
            "best_threshold",
            "best_gain",
            "best_on_others",
            "best_failed",
            "threshold",
            "gain",
            "failed",
            "forgone",
        ] {
            match answer.get(key) {
                Some(value) => close(*value, number(row[key])),
                None => assert_eq!(*row[key], Cell::Missing, "{key}"),
            }
        }
    }
}
