//! What reports show of studies with reservations.

mod pages;

use bookahead_studies::STUDIES;
use std::path::Path;

use rusqlite::Connection;

use super::{
    analysed, close, folder, labels, over_axes, the_query_gives_the_marks, totals, viewed, write,
};
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{RequestId, ReservationRequest, WantedStart};
use bookahead_lab::store::{FinishedSimulation, METRICS, RunSelector, Shown};
use bookahead_lab::study::{SimulationResult, StudyRows};
use bookahead_lab::sweep::{Axis, AxisValue};
use bookahead_report::Table;
use bookahead_report::figure::{Figure, Marks, ScaleKind, Section};
use bookahead_reservations::replanning::study::Rows;
use bookahead_reservations::replanning::{RequestVerdict, ReservationOutcome};
use bookahead_testutils::runs::{axis, finished, point, record, text, write_run};

const RULE: &str = "admission.rule";
const FACTOR: &str = "reservations.start_factor";
const SHARE: &str = "reservations.share_percent";

/// A simulation at every combination of the axes and two replications, with the measures that
/// `measured` says for its places on the axes and its replication.
fn study(
    path: &Path,
    strategy: &str,
    axes: Vec<Axis>,
    measured: impl Fn(&[usize], u32) -> SimulationResult,
) {
    let mut places = vec![Vec::new()];
    for axis in &axes {
        places = places
            .into_iter()
            .flat_map(|before: Vec<usize>| {
                (0..axis.values.len()).map(move |place| [before.clone(), vec![place]].concat())
            })
            .collect();
    }
    let mut simulations: Vec<FinishedSimulation> = Vec::new();
    for places in &places {
        for replication in 0..2 {
            let values: Vec<(&str, AxisValue)> = axes
                .iter()
                .zip(places)
                .map(|(axis, place)| (axis.key.as_str(), axis.values[*place].clone()))
                .collect();
            let id = format!("{places:?}-{replication}");
            simulations.push(finished(
                &id,
                strategy,
                replication,
                measured(places, replication),
                vec![point(&id, &values, replication, 1.0)],
            ));
        }
    }
    let points = simulations.len() as u64;
    write_run(path, &record("study", axes, points), simulations);
}

fn measured(values: &[(&'static str, f64)]) -> Measured {
    let mut measured = Measured::default();
    for (name, value) in values {
        measured.add(name, *value);
    }
    measured
}

/// Reject and move, three start factors, four shares.
fn heine(path: &Path, reservations: bool) {
    let axes = vec![
        axis(RULE, &[text("reject"), text("move")]),
        axis(FACTOR, &[0.5, 1.0, 2.0].map(AxisValue::Real)),
        axis(SHARE, &[0, 10, 20, 50].map(AxisValue::Integer)),
    ];
    study(path, "replanning", axes, |places, replication| {
        let [rule, factor, share] = [places[0], places[1], places[2]].map(|place| place as f64);
        let mut values = vec![("requests", 100.0 * share)];
        if share > 0.0 {
            let rejected = 30.0 - 10.0 * rule + factor + share + f64::from(replication);
            values.extend([("rejected_percent", rejected), ("price_su", 2.0 * rule)]);
        }
        SimulationResult {
            measured: measured(&values),
            rows: StudyRows::of(Rows(
                (0..if reservations {
                    4 * places[2] as u32
                } else {
                    0
                })
                    .map(granted)
                    .collect(),
            )),
            ..totals(5, 0)
        }
    });
}

fn granted(id: u32) -> ReservationOutcome {
    let wait = Seconds(i64::from(10 * id + 5));
    ReservationOutcome {
        request: ReservationRequest {
            id: RequestId(id),
            trace_number: i64::from(id),
            user: None,
            submit: Seconds(100),
            nodes: Nodes(2),
            duration: Seconds(3_600),
            runtime: Seconds(1_800),
            wanted: WantedStart::At(Seconds(100) + wait),
        },
        verdict: RequestVerdict::Granted,
        start: Some(Seconds(100) + wait),
        end: Some(Seconds(1_900) + wait),
        price: Some(NodeSeconds(3_600 * i64::from(id))),
        offers: Vec::new(),
        displaced_jobs: None,
        displaced: None,
        twin_start: None,
    }
}

fn keys(table: &Table) -> Vec<&str> {
    table
        .columns
        .iter()
        .map(|column| column.key.as_str())
        .collect()
}

#[test]
fn a_study_shows_its_measures_and_no_money() {
    let folder = folder();
    let path = folder.path().join("store.db");
    heine(&path, false);
    let (analysis, best, summary) = analysed(&path);
    assert!(analysis.is_study());
    assert_eq!(
        keys(&best),
        [
            RULE,
            FACTOR,
            SHARE,
            "utilisation_percent",
            "slowdown",
            "rejected_percent",
            "price_su",
            "replications"
        ]
    );
    assert_eq!(best.rows.len(), 24);
    // Utilisation 0.75, and move at factor 2 and a share of 50 %: 30 − 10 + 2 + 3, and one more in
    // the second replication. Equal values carry no interval.
    assert_eq!(best.rows[23][3].text(2), "75.00");
    assert!(best.rows[23][5].text(2).starts_with("25.50 [19.68, 32.35]"));
    assert_eq!(best.rows[20][5].text(2), "–");
    let shown = keys(&summary);
    assert!(shown.contains(&"requests") && shown.contains(&"mean_wait"));
    for metric in [
        "gain",
        "fees",
        "penalties",
        "booked",
        "overbooked",
        "surplus",
    ] {
        assert!(!shown.contains(&metric), "{metric}");
    }
    let connection = Connection::open(&path).unwrap();
    for table in [&best, &summary] {
        let rows: i64 = connection
            .query_row(
                &format!(
                    "SELECT count(*) FROM ({}) WHERE measure = 'rejected_percent' AND n = 2",
                    table.sql.trim_end_matches(';')
                ),
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(rows, 18);
    }
}

#[test]
fn studies_without_jobs_show_none_of_the_metrics() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let axes = vec![axis(
        "slots.source",
        &[text("plan"), text("free-rectangles")],
    )];
    study(&path, "slots", axes, |places, _| SimulationResult {
        measured: measured(&[("slots_mean", places[0] as f64)]),
        ..SimulationResult::default()
    });
    let (_, best, summary) = analysed(&path);
    assert_eq!(keys(&best), ["slots.source", "slots_mean", "replications"]);
    assert!(
        METRICS
            .iter()
            .all(|metric| !keys(&summary).contains(&metric.name))
    );
}

#[test]
fn the_lines_of_a_study_are_its_rules_and_settings() {
    let folder = folder();
    let path = folder.path().join("store.db");
    heine(&path, false);
    let (figures, left_out) = over_axes(&path);
    let rejected: Vec<&Figure> = figures
        .iter()
        .filter(|figure| figure.name.starts_with("rejected-percent"))
        .collect();
    // Over the share, and the start factor would take one figure for each of four shares.
    assert_eq!(rejected.len(), 1);
    assert!(left_out > 0);
    let figure = rejected[0];
    assert_eq!(figure.section, Section::Reservations);
    assert_eq!(figure.x.title, SHARE);
    assert_eq!(
        labels(figure),
        [
            "reject, start_factor 0.5",
            "reject, start_factor 1",
            "reject, start_factor 2",
            "move, start_factor 0.5",
            "move, start_factor 1",
            "move, start_factor 2"
        ]
    );
    let Marks::Curve(marks) = &figure.series[5].marks else {
        panic!("numbers make a curve");
    };
    let places: Vec<f64> = marks.iter().map(|mark| mark.x).collect();
    assert_eq!(places, [10.0, 20.0, 50.0]);
    assert!(
        figures
            .iter()
            .all(|figure| !figure.name.starts_with("requests"))
    );
    let sections: Vec<Section> = figures.iter().map(|figure| figure.section).collect();
    assert!(sections.contains(&Section::Prices) && sections.contains(&Section::Machine));
    for figure in &figures {
        the_query_gives_the_marks(&path, figure);
    }
}

#[test]
fn axes_that_were_swept_together_are_one_axis_with_names() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let axes = vec![
        axis("workload.nodes", &[128, 430, 512].map(AxisValue::Integer)),
        axis("workload.trace", &[text("a"), text("b"), text("c")]),
        axis(RULE, &[text("reject"), text("move")]),
    ];
    let mut simulations = Vec::new();
    for place in 0..3usize {
        for rule in ["reject", "move"] {
            let values = [
                ("workload.nodes", axes[0].values[place].clone()),
                ("workload.trace", axes[1].values[place].clone()),
                (RULE, text(rule)),
            ];
            let id = format!("{place}-{rule}");
            let result = SimulationResult {
                measured: measured(&[("rejected_percent", place as f64)]),
                ..totals(0, 0)
            };
            let points = vec![point(&id, &values, 0, 1.0)];
            simulations.push(finished(&id, "replanning", 0, result, points));
        }
    }
    write_run(&path, &record("zip", axes, 6), simulations);
    let (figures, left_out) = over_axes(&path);
    assert_eq!(left_out, 0);
    let figure = figures
        .iter()
        .find(|figure| figure.name.starts_with("rejected-percent"))
        .unwrap();
    assert_eq!(figure.x.title, "workload.trace");
    assert_eq!(labels(figure), ["reject", "move"]);
    the_query_gives_the_marks(&path, figure);
}

#[test]
fn slots_are_shown_by_number_and_by_nodes() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let axes = vec![axis(
        "slots.source",
        &[text("plan"), text("free-rectangles")],
    )];
    study(&path, "slots", axes, |places, replication| {
        SimulationResult {
            measured: measured(&[
                ("slots_mean", 3.0),
                ("slots_0_1", 10.0 * places[0] as f64),
                ("slots_2_4", f64::from(replication)),
                ("slots_more", 5.0),
                ("slot_nodes_1", 60.0),
                ("slot_nodes_2_5", 40.0),
            ]),
            ..SimulationResult::default()
        }
    });
    let figures = viewed(&path).first_figures;
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["slots-distribution", "slot-nodes-distribution"]);
    assert_eq!(
        figures[0].x.kind,
        ScaleKind::Categories(["0–1", "2–4", "more"].map(str::to_owned).to_vec())
    );
    assert_eq!(labels(&figures[0]), ["plan", "free-rectangles"]);
    for figure in &figures {
        the_query_gives_the_marks(&path, figure);
    }
}

#[test]
fn the_schemes_stand_beside_each_other_over_the_lead_in_every_situation() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let axes = vec![
        axis("virtual.nodes", &[8, 32].map(AxisValue::Integer)),
        axis("virtual.lead_hours", &[1.0, 4.0].map(AxisValue::Real)),
    ];
    study(&path, "virtual-reservations", axes, |places, _| {
        let lead = places[1] as f64;
        SimulationResult {
            measured: measured(&[
                ("var_cost", lead),
                ("ar_cost", 2.0),
                ("combined_cost", 1.0),
                ("var_success_percent", 50.0 + lead),
                ("ar_success_percent", 60.0),
                ("combined_success_percent", 70.0),
            ]),
            ..SimulationResult::default()
        }
    });
    let figures = viewed(&path).first_figures;
    assert_eq!(figures.len(), 4);
    assert_eq!(figures[0].name, "schemes-cost-1");
    assert_eq!(
        figures[3].given,
        [("virtual.nodes".to_owned(), "32".to_owned())]
    );
    for figure in &figures {
        assert_eq!(figure.section, Section::Virtual);
        assert_eq!(labels(figure), ["virtual", "reservation", "combined"]);
        the_query_gives_the_marks(&path, figure);
    }
}

#[test]
fn prices_and_waits_of_reservations_are_drawn_where_they_were_kept() {
    let folder = folder();
    for kept in [true, false] {
        let path = folder.path().join(format!("{kept}.db"));
        heine(&path, kept);
        let figures = viewed(&path).figures;
        if !kept {
            assert!(figures.is_empty());
            continue;
        }
        // Three shares with reservations, prices and waits.
        assert_eq!(figures.len(), 6);
        let connection = Connection::open(&path).unwrap();
        for figure in &figures {
            assert_eq!(figure.series.len(), 6);
            let Marks::Steps(steps) = &figure.series[0].marks else {
                panic!("shares are steps");
            };
            close(steps.last().unwrap().1, 1.0);
            let mut statement = connection.prepare(&figure.sql).unwrap();
            let reservations: i64 = statement
                .query_map([], |row| row.get::<_, i64>("reservations"))
                .unwrap()
                .map(Result::unwrap)
                .sum();
            // Six lines, two replications, four reservations a place of the share.
            let place = ["10", "20", "50"]
                .iter()
                .position(|share| *share == figure.given[0].1)
                .unwrap();
            assert_eq!(reservations, 6 * 2 * 4 * (place as i64 + 1));
        }
        // Prices of 0, 1, 2 and 3 SU: a quarter stands at the left end.
        let Marks::Steps(steps) = &figures[0].series[0].marks else {
            panic!("shares are steps");
        };
        assert_eq!(steps[0], (0.1, 0.25));
    }
}

#[test]
fn an_overbooked_cluster_with_reservations_keeps_its_money_and_adds_its_measures() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let axes = vec![axis(SHARE, &[0, 10, 20].map(AxisValue::Integer))];
    study(&path, "heuristic-planning", axes, |places, _| {
        SimulationResult {
            measured: measured(&[
                ("requests", 7.0),
                ("rejected_percent", 3.0 * places[0] as f64),
            ]),
            ..totals(100, 0)
        }
    });
    let (analysis, best, summary) = analysed(&path);
    assert!(!analysis.is_study());
    assert_eq!(
        keys(&best)[1..],
        [
            "strategy",
            "gain",
            "surplus",
            "surplus_percent",
            "baseline_gain",
            "rejected_percent",
            "replications"
        ]
    );
    let shown = keys(&summary);
    assert_eq!(shown[shown.len() - 2..], ["requests", "rejected_percent"]);
    let tabled = METRICS
        .iter()
        .filter(|metric| metric.shown >= Shown::Tables);
    assert_eq!(
        shown[3..16],
        tabled.map(|metric| metric.name).collect::<Vec<_>>()
    );
    let out = folder.path().join("out");
    write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    assert!(
        out.join("plots/gain-by-reservations-share-percent.svg")
            .exists()
    );
    assert!(
        out.join("plots/rejected-percent-by-reservations-share-percent.svg")
            .exists()
    );
}
