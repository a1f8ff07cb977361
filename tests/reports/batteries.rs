//! Batteries of a log as replications: what the report says of neighbours, and of columns in which
//! some lack a value.

use bookahead_studies::STUDIES;
use std::path::Path;

use super::write;
use super::{folder, totals};
use bookahead_core::units::Seconds;
use bookahead_lab::store::{RunRecord, RunSelector};
use bookahead_testutils::runs::{finished, point, record, write_run};

/// A run of one strategy on six batteries of a log, which earn more from one to the next and in
/// half of which no job starts.
fn batteries(path: &Path, configuration: &str) {
    let simulations = (0..6_i64).map(|replication| {
        let mut result = totals(100 + 10 * replication, 0);
        result.metrics.wait_total = Seconds(10_i64.pow(replication as u32));
        if replication % 2 == 1 {
            result.metrics.started = 0;
        }
        let (id, replication) = (format!("battery {replication}"), replication as u32);
        let points = vec![point(&id, &[], replication, 1.0)];
        finished(&id, "heuristic-planning", replication, result, points)
    });
    let run = RunRecord {
        replications: 6,
        configuration: configuration.to_owned(),
        ..record("batteries", Vec::new(), 6)
    };
    write_run(path, &run, simulations.collect());
}

/// The page, the Markdown and the table of every combination of a run's report.
fn written(path: &Path) -> [String; 3] {
    let out = path.with_extension("report");
    write(STUDIES, path, &RunSelector::Latest, &out).unwrap();
    ["index.html", "report.md", "tables/summary.csv"]
        .map(|name| std::fs::read_to_string(out.join(name)).unwrap())
}

#[test]
fn the_page_and_the_markdown_of_batteries_of_a_log_say_that_they_are_neighbours() {
    let folder = folder();
    let path = folder.path().join("store.db");
    batteries(
        &path,
        "[workload]\ntrace = \"CTC.swf\"\n[failures]\nsource = \"lanl\"\n",
    );
    let [page, markdown, _] = written(&path);
    for text in [&page, &markdown] {
        // 100, 110, … 150: r = 0.5, 6 · 0.5 / 1.5 = 2.
        assert!(text.contains("correlate with r = 0.50, so that 6 batteries say as much of the log as 2.0 independent ones"));
        // Nothing failed in any of them.
        assert!(!text.contains("do not cover other failures"));
    }
    assert!(page.contains("They are about these batteries, which are neighbours; about the log"));
    assert!(markdown.contains("- **Caution:** the batteries are neighbouring"));
    let other = folder.path().join("other.db");
    batteries(&other, "[workload]\nmodel = \"lublin-feitelson\"\n");
    let [page, markdown, _] = written(&other);
    assert!(!page.contains("neighbour") && !markdown.contains("neighbour"));
}

#[test]
fn a_column_with_fewer_replications_than_its_row_says_so_and_does_not_grade_the_page() {
    let folder = folder();
    let path = folder.path().join("store.db");
    batteries(&path, "[experiment]\n");
    let [page, markdown, csv] = written(&path);
    // Waits of 10⁰, 10² and 10⁴ s over 8 jobs: their interval is a thousand times their mean, and
    // not that of the gain.
    assert!(
        page.contains(
            "6 replications, which are few; the widest 95 % interval of Gain (VC) is ± 15."
        ),
        "{page}"
    );
    assert!(markdown.contains(" (n 3) |"));
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let headings = rows.headers().unwrap().clone();
    let row = rows.records().next().unwrap().unwrap();
    let value = |key: &str| &row[headings.iter().position(|known| known == key).unwrap()];
    assert_eq!((value("gain_n"), value("mean_wait_n")), ("6", "3"));
    assert!(value("mean_wait_low").parse::<f64>().unwrap() > 0.0);
}
