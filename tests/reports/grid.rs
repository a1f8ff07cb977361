//! What reports show of studies of several clusters.

use bookahead_studies::STUDIES;
use std::path::Path;

use super::{close, folder, labels, over_axes, the_query_gives_the_marks, viewed, write};
use bookahead_lab::store::RunSelector;
use bookahead_lab::sweep::AxisValue;
use bookahead_report::figure::{Figure, Marks, ScaleKind, Section};
use bookahead_testutils::runs::grid::grid;
use bookahead_testutils::runs::{axis, finished, point, record, text, write_run};

const ALGORITHM: &str = "broker.algorithm";
const LEAD: &str = "requests.lead";

/// Four algorithms at two leads, two replications each; the later algorithm grants fewer of twelve
/// requests.
fn thesis(path: &Path, clusters: u16, keep: bool) {
    let algorithms = ["a1", "a2", "a3", "a4"];
    let leads = [1_i64, 3].map(AxisValue::Integer);
    let mut simulations = Vec::new();
    for (place, algorithm) in algorithms.iter().enumerate() {
        for lead in &leads {
            for replication in 0..2 {
                let mut result = grid(clusters, 12, |request| {
                    (request + replication) % (1 + place as u32) == 0
                });
                if let (Some(rows), false) = (
                    result
                        .rows
                        .get_mut::<bookahead_grid::co_reservation::study::Rows>(),
                    keep,
                ) {
                    rows.run = None;
                }
                let values = [(ALGORITHM, text(algorithm)), (LEAD, lead.clone())];
                let id = format!("{algorithm}-{lead:?}-{replication}");
                let points = vec![point(&id, &values, replication, 1.0)];
                simulations.push(finished(&id, "co-reservation", replication, result, points));
            }
        }
    }
    let axes = vec![axis(ALGORITHM, &algorithms.map(text)), axis(LEAD, &leads)];
    write_run(path, &record("thesis", axes, 16), simulations);
}

/// The figures of clusters, then those over time.
fn figures(path: &Path) -> (Vec<Figure>, Vec<Figure>) {
    let figures = viewed(path).figures.into_iter();
    figures.partition(|figure| figure.section == Section::Clusters)
}

fn find<'f>(figures: &'f [Figure], name: &str) -> &'f Figure {
    figures
        .iter()
        .find(|figure| figure.name == name)
        .unwrap_or_else(|| {
            let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
            panic!("{name} is not among {names:?}")
        })
}

#[test]
fn clusters_stand_beside_each_other_and_every_query_gives_what_is_drawn() {
    let folder = folder();
    let path = folder.path().join("store.db");
    thesis(&path, 3, true);
    let (clusters, _) = figures(&path);
    // Eight measures over clusters in two situations, eight by class for three combinations.
    assert_eq!(clusters.len(), 8 * 2 + 8 * 3);
    for figure in &clusters {
        assert_eq!(figure.section, Section::Clusters);
        the_query_gives_the_marks(&path, figure);
    }
    let parts = find(&clusters, "cluster-part-percent-by-cluster-1");
    assert_eq!(labels(parts), ["a1", "a2", "a3", "a4"]);
    assert_eq!(
        parts.x.kind,
        ScaleKind::Categories(["0", "1", "2"].map(str::to_owned).to_vec())
    );
    let Marks::Bars(bars) = &parts.series[0].marks else {
        panic!("clusters are bars");
    };
    // 90 million CPU-seconds of 1,160 CPUs in two weeks, in both replications.
    close(bars[2].mean, 100.0 * 90e6 / (1_160.0 * 1_209_600.0));
    assert_eq!(bars[2].count, 2);
    let by_size = find(&clusters, "class-parts-by-nodes-1");
    assert_eq!(labels(by_size), ["cluster 0", "cluster 1", "cluster 2"]);
    assert_eq!(by_size.given.len(), 2);
}

#[test]
fn what_happens_over_time_is_drawn_of_the_first_replication_of_the_first_combinations() {
    let folder = folder();
    let path = folder.path().join("store.db");
    thesis(&path, 3, true);
    let (_, over_time) = figures(&path);
    for figure in &over_time {
        assert!(
            figure.note.starts_with("Replication 0 of the first 3"),
            "{}",
            figure.note
        );
        the_query_gives_the_marks(&path, figure);
    }
    // In two situations: three of requests, three clusters that drain, three weekends.
    assert_eq!(over_time.len(), 2 * (3 + 3 + 3));
    let peaks = find(&over_time, "message-peaks-1");
    assert_eq!(peaks.section, Section::Messages);
    assert_eq!(labels(peaks), ["a1", "a2", "a3"]);
    let leads = find(&over_time, "lead-times-1");
    assert_eq!(
        labels(leads),
        [
            "a1",
            "a2",
            "a3",
            "backlog, a1",
            "backlog, a2",
            "backlog, a3"
        ]
    );
    let Marks::Curve(bounds) = &leads.series[3].marks else {
        panic!("bounds make a line");
    };
    // Backlog times of 1.5, 3 and 4.5 hours, and two parts.
    assert!(bounds.iter().all(|mark| (mark.mean - 3.0).abs() < 1e-9));
    let drain = find(&over_time, "drain-cluster-2-1");
    let Marks::Curve(marks) = &drain.series[0].marks else {
        panic!("time makes a line");
    };
    assert_eq!((marks[0].x, marks.last().unwrap().x), (0.0, 24.0));
    let weekend = find(&over_time, "weekend-load-1-2");
    assert!(weekend.title.contains(": a2"));
    let Marks::Curve(marks) = &weekend.series[0].marks else {
        panic!("time makes a line");
    };
    assert_eq!((marks[0].x, marks.last().unwrap().x), (210.0, 281.0));
    assert!(weekend.note.contains("Saturday 00:00 is at 222 h"));
}

#[test]
fn without_outcomes_there_is_nothing_over_time_and_many_clusters_are_bounded() {
    let folder = folder();
    let path = folder.path().join("store.db");
    thesis(&path, 9, false);
    let (clusters, over_time) = figures(&path);
    assert!(over_time.is_empty());
    let by_size = find(&clusters, "class-job-percent-1");
    assert_eq!(by_size.series.len(), 7);
    for figure in &clusters {
        the_query_gives_the_marks(&path, figure);
    }
    let of = find(&clusters, "filtering-degree-by-cluster-1");
    assert!(matches!(&of.x.kind, ScaleKind::Categories(names) if names.len() == 9));
}

#[test]
fn the_report_of_a_thesis_has_a_section_for_every_topic_and_a_row_for_every_cluster() {
    let folder = folder();
    let path = folder.path().join("store.db");
    thesis(&path, 3, true);
    let (over_axes, _) = over_axes(&path);
    for figure in &over_axes {
        the_query_gives_the_marks(&path, figure);
    }
    let out = folder.path().join("out");
    write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    let markdown = std::fs::read_to_string(out.join("report.md")).unwrap();
    for (id, heading) in [
        ("co-reservations", "Co-reservations"),
        ("fairness", "Fairness"),
        ("messages", "Messages"),
        ("clusters", "Clusters"),
        ("over-time", "Over time"),
    ] {
        assert!(
            page.contains(&format!(
                "<details class=\"chapter\" id=\"{id}\"><summary><h2>{heading}</h2>"
            )),
            "{id}"
        );
        assert!(markdown.contains(&format!("## {heading}\n")), "{id}");
    }
    let table = std::fs::read_to_string(out.join("tables/by-cluster.csv")).unwrap();
    // A heading, and eight combinations of three clusters.
    assert_eq!(table.lines().count(), 1 + 8 * 3);
    assert!(
        table.starts_with("broker.algorithm,requests.lead,cluster,cluster_jobs"),
        "{table}"
    );
}

#[test]
fn a_run_without_axes_shows_its_clusters_too() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let points = vec![point("alone", &[], 0, 1.0)];
    let simulation = finished("alone", "co-reservation", 0, grid(7, 0, |_| false), points);
    write_run(&path, &record("alone", vec![], 1), vec![simulation]);
    let (clusters, over_time) = figures(&path);
    let jobs = find(&clusters, "cluster-job-percent-by-cluster");
    assert_eq!(labels(jobs), ["co-reservation"]);
    for figure in clusters.iter().chain(&over_time) {
        the_query_gives_the_marks(&path, figure);
    }
    write(
        STUDIES,
        &path,
        &RunSelector::Latest,
        &folder.path().join("out"),
    )
    .unwrap();
}
