//! Reports of any run, also of one that is not there.

use super::*;
use bookahead_studies::STUDIES;

#[test]
fn any_axes_will_do() {
    let folder = folder();
    // No axis at all.
    let path = folder.path().join("none.db");
    write_run(
        &path,
        &record("none", vec![], 1),
        vec![finished(
            "s",
            "fcfs",
            0,
            totals(5, 0),
            vec![point("p", &[], 0, 1.0)],
        )],
    );
    let (_, best, _) = analysed(&path);
    assert_eq!(best.rows.len(), 1);
    assert_eq!(best.title, "Gain by strategy");
    write(
        STUDIES,
        &path,
        &RunSelector::Latest,
        &folder.path().join("none"),
    )
    .unwrap();
    // Laxity and strategy, and a switch.
    let path = folder.path().join("laxity.db");
    let laxities = [1.5, 2.0, 3.0].map(AxisValue::Real);
    let strategies = ["conservative-backfilling", "comprehensive-overbooking"];
    let flags = [AxisValue::Flag(false), AxisValue::Flag(true)];
    let axes = vec![
        axis("workload.laxity", &laxities),
        axis("scheduling.strategy", &strategies.map(text)),
        axis("scheduling.test_full_length", &flags),
    ];
    let mut simulations = Vec::new();
    for (place, laxity) in laxities.iter().enumerate() {
        for strategy in strategies {
            for flag in &flags {
                let id = format!("{place}-{strategy}-{flag:?}");
                let values = [
                    ("workload.laxity", laxity.clone()),
                    ("scheduling.strategy", text(strategy)),
                    ("scheduling.test_full_length", flag.clone()),
                ];
                let fees = 100 + 10 * place as i64 + 50 * i64::from(strategy.starts_with("comp"));
                simulations.push(finished(
                    &id,
                    strategy,
                    0,
                    totals(fees, 0),
                    vec![point(&id, &values, 0, 1.0)],
                ));
            }
        }
    }
    write_run(&path, &record("laxity", axes, 12), simulations);
    let (_, best, summary) = analysed(&path);
    assert_eq!((best.rows.len(), summary.rows.len()), (12, 12));
    let surpluses: Vec<String> = best.rows.iter().map(|row| row[4].text(0)).collect();
    assert_eq!(surpluses[..4], ["–", "50", "–", "50"]);
    let out = folder.path().join("laxity");
    write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    assert!(out.join("plots/gain-by-workload-laxity-2.svg").exists());
    let mut screen = Vec::new();
    Terminal { width: Some(70) }
        .write(&best, &mut screen)
        .unwrap();
    let screen = String::from_utf8(screen).unwrap();
    assert!(
        screen.lines().all(|line| line.chars().count() <= 70),
        "{screen}"
    );
}

#[test]
fn a_run_that_is_not_there_is_named_with_those_that_are() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let missing = write(STUDIES, &path, &RunSelector::Latest, folder.path()).unwrap_err();
    assert!(
        missing.to_string().contains("there is no store at"),
        "{missing}"
    );
    drop(Store::open(STUDIES, &path).unwrap());
    let empty = write(STUDIES, &path, &RunSelector::Latest, folder.path()).unwrap_err();
    assert!(
        empty
            .to_string()
            .contains("it has none: `bookahead run CONFIG` makes one"),
        "{empty}"
    );
    write_run(&path, &record("only", vec![], 0), vec![]);
    let other = write(STUDIES, &path, &RunSelector::Id(7), folder.path()).unwrap_err();
    assert!(
        other
            .to_string()
            .contains("no run with the number 7; it has 1 (only)"),
        "{other}"
    );
}

/// A picture to look at:
/// `BOOKAHEAD_LOOK=DIR cargo test --release --lib report -- --ignored a_report_to_look_at`.
#[test]
#[ignore = "writes a report for the eye"]
fn a_report_to_look_at() {
    let Ok(out) = std::env::var("BOOKAHEAD_LOOK") else {
        return;
    };
    let folder = folder();
    let path = folder.path().join("store.db");
    let strategies = [
        "conservative-backfilling",
        "heuristic-planning",
        "comprehensive-overbooking",
        "heuristic-overbooking",
    ];
    let thresholds: Vec<AxisValue> = (1..=20)
        .map(|step| AxisValue::Real(f64::from(step) / 20.0))
        .collect();
    let axes = vec![
        axis("scheduling.strategy", &strategies.map(text)),
        axis("acceptance.pof_max", &thresholds),
    ];
    let mut simulations = Vec::new();
    for (index, strategy) in strategies.into_iter().enumerate() {
        for (step, threshold) in thresholds.iter().enumerate() {
            for replication in 0..20u32 {
                let id = format!("{strategy}-{step}-{replication}");
                let noise = i64::from(replication * 7_919 % 20) * 300;
                let x = (step as f64 + 1.0) / 20.0;
                let shape = if index < 2 {
                    0.0
                } else {
                    9_000.0 * (x / 0.3) * (1.0 - x / 0.3).exp() - 3_000.0 * x
                };
                let fees = 11_000 + index as i64 % 2 * 9_000 + noise + shape as i64;
                let values = [
                    ("scheduling.strategy", text(strategy)),
                    ("acceptance.pof_max", threshold.clone()),
                ];
                simulations.push(finished(
                    &id,
                    strategy,
                    replication,
                    totals(fees, 0),
                    vec![point(&id, &values, replication, 1.0)],
                ));
            }
        }
    }
    write_run(&path, &record("look", axes, 1_600), simulations);
    let begun = std::time::Instant::now();
    let summary = write(STUDIES, &path, &RunSelector::Latest, Path::new(&out)).unwrap();
    println!("{:?}", begun.elapsed());
    Terminal::default()
        .write(&summary.best, &mut std::io::stdout())
        .unwrap();
}

#[test]
fn every_table_and_figure_of_means_over_an_incomplete_sweep_says_so() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let (mut record, simulations) = thresholds(3);
    record.points += 2;
    write_run(&path, &record, simulations);
    let out = folder.path().join("out");
    let summary = write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    let said = "(incomplete: 18 of 20 points)";
    assert_eq!(summary.best.title, format!("Best gain by strategy {said}"));
    let report = std::fs::read_to_string(out.join("report.md")).unwrap();
    assert!(report.contains(&format!("## Every combination {said}")));
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    let figures = page.matches("<figure ").count();
    let sentence = "18 of 20 points have a result; 0 failed, 2 were not run.";
    assert!(figures > 0 && page.matches(sentence).count() > figures);
}
