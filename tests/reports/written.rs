//! Whole reports as they are written.

use super::*;
use bookahead_studies::STUDIES;

/// Every file of a report but the one of clock and machine, with its content.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("run.md") {
                let content = std::fs::read(&path).unwrap();
                found.push((path.strip_prefix(folder).unwrap().to_owned(), content));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_report_is_the_same_bytes_whatever_the_order_in_which_its_simulations_ended() {
    let folder = folder();
    let (record, simulations) = thresholds(3);
    let straight = folder.path().join("straight.db");
    write_run(&straight, &record, simulations.clone());
    // Backwards, in two runs: the first was interrupted, the second links what is done.
    let resumed = folder.path().join("resumed.db");
    let (late, early) = simulations.split_at(5);
    write_run(&resumed, &record, early.iter().rev().cloned().collect());
    let store = Store::open(STUDIES, &resumed).unwrap();
    let run = store.begin_run(&record).unwrap();
    let done: Vec<_> = early
        .iter()
        .flat_map(|simulation| simulation.points.clone())
        .collect();
    assert_eq!(
        store.link_done_points(run, &done).unwrap(),
        done.len() as u64
    );
    let writer = Writer::start(store, run, OutcomeDetail::All, 1);
    for simulation in late.iter().rev() {
        writer.handle().write(simulation.clone()).unwrap();
    }
    writer.finish(RunState::Done).unwrap();

    let reports = [straight, resumed].map(|store| {
        let out = store.with_extension("report");
        let summary = write(STUDIES, &store, &RunSelector::Latest, &out).unwrap();
        assert_eq!((summary.missing, summary.failed.len()), (0, 0));
        files(&out)
    });
    let names: Vec<_> = reports[0]
        .iter()
        .map(|(name, _)| name.to_string_lossy())
        .collect();
    for name in [
        "index.html",
        "report.md",
        "tables/best.csv",
        "tables/summary.parquet",
        "plots/gain-by-acceptance-pof_max.svg",
    ] {
        assert!(
            names
                .iter()
                .any(|found| found.replace("pof-max", "pof_max") == name),
            "{name} is not in {names:?}"
        );
    }
    assert_eq!(reports[0], reports[1]);
    let again = folder.path().join("again");
    write(
        STUDIES,
        &folder.path().join("straight.db"),
        &RunSelector::Latest,
        &again,
    )
    .unwrap();
    assert_eq!(files(&again), reports[0]);
}

#[test]
fn a_run_whose_points_all_failed_has_a_report_that_says_so() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(STUDIES, &path).unwrap();
    let run = store
        .begin_run(&record("unlucky", threshold_axes(), 3))
        .unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 1);
    for replication in 0..2 {
        let id = format!("f{replication}");
        let values = [
            ("scheduling.strategy", text("heuristic-planning")),
            ("acceptance.pof_max", AxisValue::Real(0.1)),
        ];
        writer
            .handle()
            .fail(FailedSimulation {
                id: identity(&id),
                spec: spec("heuristic-planning", replication),
                workload_label: "w".to_owned(),
                error: "an index | was out of bounds".to_owned(),
                points: vec![point(&id, &values, replication, 1.0)],
            })
            .unwrap();
    }
    writer.finish(RunState::Failed).unwrap();
    let out = folder.path().join("out");
    let summary = write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    assert_eq!(
        (
            summary.failed.len(),
            summary.missing,
            summary.best.rows.len()
        ),
        (2, 1, 0)
    );
    let page = std::fs::read_to_string(&summary.report).unwrap();
    let report = std::fs::read_to_string(out.join("report.md")).unwrap();
    for text in [&report, &page] {
        assert!(
            text.contains("No point of this run has a result: 2 of 3 points failed"),
            "{text}"
        );
    }
    assert!(
        report.contains("an index \\| was out of bounds"),
        "{report}"
    );
}

#[test]
fn a_percentage_of_a_baseline_that_earns_nothing_is_undefined_and_the_difference_is_not() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let ratio = |strategy: &str| {
        [
            ("scheduling.strategy", text(strategy)),
            ("acceptance.penalty_ratio", AxisValue::Real(4.0)),
        ]
    };
    // Baseline 100 − 4 · 30 = −20, overbooking 90 − 4 · 10 = 50.
    let simulations = vec![
        finished(
            "b",
            "heuristic-planning",
            0,
            totals(100, 30),
            vec![point("b", &ratio("heuristic-planning"), 0, 4.0)],
        ),
        finished(
            "o",
            "heuristic-overbooking",
            0,
            totals(90, 10),
            vec![point("o", &ratio("heuristic-overbooking"), 0, 4.0)],
        ),
    ];
    let axes = vec![
        axis(
            "scheduling.strategy",
            &[text("heuristic-overbooking"), text("heuristic-planning")],
        ),
        axis("acceptance.penalty_ratio", &[AxisValue::Real(4.0)]),
    ];
    write_run(&path, &record("negative", axes, 2), simulations);
    let (_, best, _) = analysed(&path);
    // The registry's order, not that of the file: the baseline comes first.
    assert_eq!(best.rows[0][1], Cell::Text("heuristic-planning".to_owned()));
    let row = &best.rows[1];
    assert_eq!(row[2].text(0), "50");
    assert_eq!(row[3].text(0), "70");
    assert_eq!(row[4], Cell::Undefined);
    assert_eq!(row[5], Cell::Number(-20.0));
    let mut csv = Vec::new();
    Csv.write(&best, &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(
        csv.lines().nth(2).unwrap(),
        "4,heuristic-overbooking,50,,,,1,70,,,,1,,-20,1"
    );
}
