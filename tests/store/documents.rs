//! What `docs/schema.md` says of the store.

use super::connection;
use super::{co_reservations::several_clusters, folder, provisioning::workflows};
use bookahead::estimates::WaitCalibration;
use bookahead::scheduling::measures::Measured;
use bookahead::store::{ExportKind, OutcomeDetail, Store};
use bookahead::studies::STUDIES;
use bookahead::study::{SimulationResult, StudyRows};
use bookahead::sweep::AxisValue;
use bookahead::units::{NodeSeconds, Nodes, Seconds};
use bookahead::workload::{RequestId, ReservationRequest, WantedStart};
use bookahead_reservations::replanning::study as reservations;
use bookahead_reservations::replanning::{Offer, RequestVerdict, ReservationOutcome};
use bookahead_reservations::virtual_reservations::study as virtual_reservations;
use bookahead_reservations::virtual_reservations::{VirtualStudyRun, VirtualTrial, combine};
use bookahead_testutils::runs::{axis, finished, point, record, result, text, write_run};

const DOCUMENT: &str = include_str!("../../docs/schema.md");

#[test]
fn the_first_ten_queries_of_the_schema_document_give_answers() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let thresholds = [0.1, 0.2].map(AxisValue::Real);
    let strategies = ["heuristic-planning", "heuristic-overbooking"];
    let axes = vec![
        axis("scheduling.strategy", &strategies.map(text)),
        axis("acceptance.pof_max", &thresholds),
    ];
    let mut simulations = Vec::new();
    for strategy in strategies {
        for threshold in &thresholds {
            for replication in 0..2 {
                let id = format!("{strategy}-{threshold:?}-{replication}");
                let values = [
                    ("scheduling.strategy", text(strategy)),
                    ("acceptance.pof_max", threshold.clone()),
                ];
                let points = vec![point(&id, &values, replication, 1.0)];
                simulations.push(finished(
                    &id,
                    strategy,
                    replication,
                    result(100 + 10 * replication),
                    points,
                ));
            }
        }
    }
    write_run(&path, &record("documented", axes, 8), simulations);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    assert_eq!(
        rows_of_documented_queries(&store, 1..=10),
        [1, 4, 2, 2, 2, 4, 20, 3, 2, 8]
    );
}

/// The query with this number, from 1.
pub(super) fn documented_query(number: usize) -> &'static str {
    let heading = format!("\n**{number}. ");
    let (_, section) = DOCUMENT.split_once(&heading).unwrap();
    let (_, query) = section.split_once("```sql\n").unwrap();
    query.split("```").next().unwrap()
}

/// How many rows the queries with these numbers give.
fn rows_of_documented_queries(
    store: &Store,
    numbers: std::ops::RangeInclusive<usize>,
) -> Vec<usize> {
    assert_eq!(DOCUMENT.matches("```sql\n").count(), 31);
    numbers
        .map(|number| {
            connection(store)
                .prepare(documented_query(number))
                .and_then(|mut statement| {
                    statement
                        .query_map([], |_| Ok(()))?
                        .collect::<Result<Vec<_>, _>>()
                })
                .unwrap_or_else(|error| panic!("query {number}: {error}"))
                .len()
        })
        .collect()
}

/// Six requests of growing width: the even ones are granted, at a price, from two offers, and push
/// a job away.
fn asked_for() -> Vec<ReservationOutcome> {
    (0..6_u32)
        .map(|id| {
            let submit = Seconds(i64::from(id) * 100);
            let granted = id.is_multiple_of(2);
            let offer = |start, price| Offer {
                start: submit + Seconds(start),
                price: NodeSeconds(price),
            };
            ReservationOutcome {
                request: ReservationRequest {
                    id: RequestId(id),
                    trace_number: 7,
                    user: None,
                    submit,
                    nodes: Nodes(1 + 8 * id),
                    duration: Seconds(3_600),
                    runtime: Seconds(1_800),
                    wanted: WantedStart::From {
                        earliest: submit,
                        alpha: 0.5,
                    },
                },
                verdict: if granted {
                    RequestVerdict::Granted
                } else {
                    RequestVerdict::ConflictsWithFixed
                },
                start: granted.then_some(submit),
                end: granted.then_some(submit + Seconds(1_800)),
                price: granted.then_some(NodeSeconds(7_200 * i64::from(id))),
                offers: if granted {
                    vec![offer(0, 7_200 * i64::from(id)), offer(60, 0)]
                } else {
                    Vec::new()
                },
                displaced_jobs: granted.then_some(1),
                displaced: granted.then_some(Seconds(60 + i64::from(id))),
                twin_start: granted.then_some(submit + Seconds(90)),
            }
        })
        .collect()
}

/// A trial with a lead of 1 h and one with 4 h, in which the virtual one fails.
fn tried_out() -> Vec<VirtualTrial> {
    [1, 4]
        .map(|lead| {
            let wanted_start = Seconds::HOUR * lead;
            let virtual_start = (lead == 1).then_some(Seconds(1_800));
            VirtualTrial {
                asked_at: Seconds(0),
                wanted_start,
                nodes: Nodes(4),
                duration: Seconds::HOUR,
                submission: None,
                virtual_start,
                ended_idle: None,
                combined_virtual_start: virtual_start,
                price: Some(NodeSeconds(3_600)),
                combined: combine(
                    Some(NodeSeconds(3_600)),
                    NodeSeconds(0),
                    0.1,
                    Nodes(4),
                    wanted_start,
                    virtual_start,
                ),
            }
        })
        .to_vec()
}

#[test]
fn the_six_queries_of_the_schema_document_about_reservations_give_answers() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let trials = SimulationResult {
        rows: StudyRows::of(virtual_reservations::Rows::new(VirtualStudyRun {
            trials: tried_out(),
            ends_idle_jobs: false,
            calibration: WaitCalibration::default(),
            jobs: Vec::new(),
        })),
        ..SimulationResult::default()
    };
    let tried = finished(
        "tried",
        "virtual-reservations",
        0,
        trials,
        vec![point("tried", &[], 0, 1.0)],
    );
    write_run(&path, &record("tried", Vec::new(), 1), vec![tried]);
    let rules = ["reject", "move"];
    let shares = [10.0, 20.0].map(AxisValue::Real);
    let axes = vec![
        axis("admission.rule", &rules.map(text)),
        axis("reservations.share_percent", &shares),
    ];
    let mut simulations = Vec::new();
    for rule in rules {
        for share in &shares {
            for replication in 0..2 {
                let id = format!("{rule}-{share:?}-{replication}");
                let values = [
                    ("admission.rule", text(rule)),
                    ("reservations.share_percent", share.clone()),
                ];
                let mut measured = Measured::default();
                measured.add("rejected_percent", 50.0);
                measured.add("price_su", 2.0);
                let result = SimulationResult {
                    measured,
                    rows: StudyRows::of(reservations::Rows(asked_for())),
                    ..result(10)
                };
                let points = vec![point(&id, &values, replication, 1.0)];
                simulations.push(finished(&id, "replanning", replication, result, points));
            }
        }
    }
    write_run(&path, &record("documented", axes, 8), simulations);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    // Rules × shares; no axis of α; the offers of the dearest; three sizes; two leads; the first
    // twenty of 8 × 3.
    assert_eq!(
        rows_of_documented_queries(&store, 11..=16),
        [4, 1, 2, 3, 2, 20]
    );
}

#[test]
fn the_four_queries_of_the_schema_document_about_clusters_give_answers() {
    let folder = folder();
    let path = folder.path().join("store.db");
    several_clusters(&path, OutcomeDetail::All);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    // Algorithms; algorithms × clusters × classes; the first twenty of 4 × 8; requests of one
    // simulation.
    assert_eq!(
        rows_of_documented_queries(&store, 17..=20),
        [2, 2 * 3 * 5, 20, 8]
    );
}

#[test]
fn the_four_queries_of_the_schema_document_about_workflows_give_answers() {
    let folder = folder();
    let path = folder.path().join("store.db");
    workflows(&path, OutcomeDetail::All);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    // Combinations; the front of one submission; the submissions that lost a task; sites with and
    // without slots.
    assert_eq!(
        rows_of_documented_queries(&store, 21..=24),
        [4, 4, 4, 2 * 2]
    );
}

#[test]
fn the_schema_document_names_every_table_and_column() {
    let folder = folder();
    let store = Store::open(STUDIES, &folder.path().join("store.db")).unwrap();
    let connection = connection(&store);
    let mut columns = connection
        .prepare(
            "SELECT l.name, i.name FROM pragma_table_list l, pragma_table_info(l.name) i
             WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite%'",
        )
        .unwrap();
    let mut rows = columns.query([]).unwrap();
    let mut checked = 0;
    while let Some(row) = rows.next().unwrap() {
        let (table, column): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        let section = DOCUMENT
            .split("\n### ")
            .find(|section| {
                section
                    .lines()
                    .next()
                    .is_some_and(|heading| heading.contains(&format!("`{table}`")))
            })
            .unwrap_or_else(|| panic!("no section about {table}"));
        assert!(
            section.contains(&format!("`{column}`")),
            "{table}.{column} is not explained"
        );
        checked += 1;
    }
    assert!(checked > 150, "{checked}");
}

#[test]
fn the_schema_document_names_every_kind_of_export() {
    for kind in ExportKind::all(STUDIES) {
        assert!(
            DOCUMENT.contains(&format!("`{}`", kind.name)),
            "{} is not explained",
            kind.name
        );
    }
}
