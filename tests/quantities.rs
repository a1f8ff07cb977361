//! The catalogue of quantities: every metric of jobs reaches everything that shows quantities, and
//! the page of the schema lists all.
//!
//! `BOOKAHEAD_PAGES=write cargo test --release quantities` writes the page again.

use std::collections::BTreeSet;
use std::fs;

use bookahead::findings::known_measures;
use bookahead::scheduling::measures::Measure;
use bookahead::store::{METRICS, Shown};
use bookahead::studies::STUDIES;
use bookahead_grid::co_reservation::study::measures::CLUSTER_MEASURES;
use serde_json::Value;

use crate::support::pages::{assert_current, project};
use crate::support::program::{TEXT, output, program, run, text};

#[test]
fn every_metric_is_exported_compared_shown_known_to_findings_and_reported_as_far_as_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("small.toml"), TEXT).expect("written");
    assert!(run(path, "all", &[]).status().expect("runs").success());
    let said = |arguments: &[&str]| {
        let done = output(program(path, &[arguments, &["--store", "all.db"]].concat()));
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        text(&done.stdout)
    };
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&said(arguments)).expect("what scripts read is JSON")
    };
    let exported = said(&["export", "1", "--format", "csv", "--out", "-"]);
    let exported: BTreeSet<&str> = exported
        .lines()
        .next()
        .unwrap_or_default()
        .split(',')
        .collect();
    let listed = json(&["show", "1", "--points", "--json"]);
    let shown = json(&["show", "1", "--point", "0", "--json"]);
    let summary = fs::read_to_string(path.join("all-report/tables/summary.csv")).expect("written");
    let summary: BTreeSet<&str> = summary
        .lines()
        .next()
        .unwrap_or_default()
        .split(',')
        .collect();
    for metric in METRICS {
        let name = metric.name;
        let compared = json(&["compare", "1", "1", "--metric", name, "--json"]);
        assert_eq!(compared["differences"][0]["measure"], name);
        assert!(exported.contains(name), "{name} in {exported:?}");
        assert!(!listed["places"][0][name].is_null(), "{name} in {listed}");
        assert!(!shown["metrics"][name].is_null(), "{name} in {shown}");
        assert!(known_measures(STUDIES).contains(&name), "{name}");
        let reported = summary
            .iter()
            .any(|column| *column == name || *column == format!("{name}_mean"));
        assert_eq!(
            reported,
            metric.shown >= Shown::Tables,
            "{name} in {summary:?}"
        );
    }
}

fn metrics() -> String {
    let mut rows = "| Column | Unit | Meaning |\n|---|---|---|\n".to_owned();
    for metric in METRICS {
        rows += &format!(
            "| `{}` | {} | {} |\n",
            metric.name, metric.unit, metric.meaning
        );
    }
    rows
}

fn measures<'m>(list: impl Iterator<Item = &'m Measure>) -> String {
    let mut rows = "| Measure | Unit | What it is |\n|---|---|---|\n".to_owned();
    for measure in list {
        rows += &format!(
            "| `{}` | {} | {} |\n",
            measure.name, measure.unit, measure.title
        );
    }
    rows
}

#[test]
fn the_page_of_the_schema_has_every_quantity() {
    const PAGE: &str = "docs/schema.md";
    let mut page = fs::read_to_string(project().join(PAGE)).expect("readable");
    let tables = [
        ("metrics of jobs", metrics()),
        ("measures of simulations", measures(STUDIES.measures())),
        ("measures of clusters", measures(CLUSTER_MEASURES.iter())),
    ];
    for (what, rows) in tables {
        let (begin, end) = (
            format!("<!-- the {what} -->\n"),
            format!("<!-- end of the {what} -->\n"),
        );
        let (before, rest) = page.split_once(&begin).expect("a table begins");
        let (_, after) = rest.split_once(&end).expect("a table ends");
        page = format!("{before}{begin}{rows}{end}{after}");
    }
    assert_current(PAGE, &page, "quantities");
}
