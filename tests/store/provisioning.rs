//! Workflows that buy their resources.

use std::path::Path;

use super::{connection, count, folder};
use bookahead::store::{OutcomeDetail, RunId, RunState, Store, Writer};
use bookahead::studies::STUDIES;
use bookahead::sweep::AxisValue;
use bookahead_testutils::runs::{axis, point, record, text};
use bookahead_workflows::provisioning::study::stored;

/// Two searches with two α, two replications each.
pub(super) fn workflows(path: &Path, detail: OutcomeDetail) -> RunId {
    use bookahead_workflows::provisioning::SearchMethod;
    let store = Store::open(STUDIES, path).unwrap();
    let alphas = [0.0, 1.0].map(AxisValue::Real);
    let axes = vec![
        axis("provisioning.search", &["moga", "greedy"].map(text)),
        axis("requests.alpha", &alphas),
    ];
    let run = store.begin_run(&record("workflows", axes, 8)).unwrap();
    let writer = Writer::start(store, run, detail, 4);
    for (name, search) in [
        ("moga", SearchMethod::Moga),
        ("greedy", SearchMethod::Greedy),
    ] {
        for alpha in [0.0, 1.0] {
            for replication in 0..2 {
                let id = format!("{name}-{alpha}-{replication}");
                let values = [
                    ("provisioning.search", text(name)),
                    ("requests.alpha", AxisValue::Real(alpha)),
                ];
                let points = vec![point(&id, &values, replication, 1.0)];
                let done = bookahead_testutils::runs::provisioning::provisioned(
                    &id,
                    search,
                    alpha,
                    replication,
                    points,
                );
                writer.handle().write(done).unwrap();
            }
        }
    }
    writer.finish(RunState::Done).unwrap();
    run
}

#[test]
fn a_run_of_provisioning_is_in_the_store_as_it_was() {
    let folder = folder();
    let path = folder.path().join("store.db");
    workflows(&path, OutcomeDetail::All);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let whole = |sql: &str| count(&connection(&store), sql);
    for (table, rows) in [
        ("v_workflow_site", 8 * 2),
        ("v_workflow_submission", 8),
        ("v_workflow_front", 4 * 4),
        ("v_workflow_slot", 8 * 2),
        // Two tasks, and a lost run in replication 1.
        ("v_workflow_task", 8 * 2 + 4),
        ("v_workflow_effect", 8),
    ] {
        assert_eq!(
            whole(&format!("SELECT count(*) FROM {table}")),
            rows,
            "{table}"
        );
    }
    let of = "WHERE simulation = (SELECT id FROM simulation WHERE identity = 'moga-1-1')";
    let row: (String, String, f64, i64, f64, i64, f64, i64) = connection(&store)
        .query_row(
            &format!(
                "SELECT provider, search, alpha, submitted, planned_cost_su, planned_makespan, cost_ratio, lost_tasks
                 FROM v_workflow_submission {of}"
            ),
            [],
            |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                    row.get(5)?,
                    row.get(6)?,
                    row.get(7)?,
                ))
            },
        )
        .unwrap();
    let queried = "queried".to_owned();
    assert_eq!(
        row,
        (
            queried,
            "moga".to_owned(),
            1.0,
            150_000,
            11.0,
            25_200,
            1.1,
            1
        )
    );
    assert_eq!(
        whole(&format!(
            "SELECT start FROM v_workflow_task {of} AND fate = 'lost'"
        )),
        150_000
    );
    assert_eq!(
        whole(&format!(
            "SELECT \"end\" - start FROM v_workflow_slot {of} AND slot = 1"
        )),
        3 * 3_600
    );
    // What the views reckon is what was measured.
    for (view, measure) in [
        ("planned_cost_su", "wf_cost_su"),
        ("cost_ratio", "wf_cost_ratio"),
        ("makespan_ratio", "wf_makespan_ratio"),
        ("hypervolume", "wf_hypervolume"),
        ("best_effort_makespan / 3600.0", "be_makespan_hours"),
        ("slots_offered", "wf_slots_offered"),
    ] {
        let apart: f64 = connection(&store)
            .query_row(
                &format!(
                    "SELECT max(abs(v.value - s.{view})) FROM v_workflow_submission s
                     JOIN v_measure v ON v.simulation = s.simulation AND v.measure = '{measure}'"
                ),
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert!(apart < 1e-12, "{measure}: {apart}");
    }
    let simulation = whole("SELECT id FROM simulation WHERE identity = 'moga-1-1'");
    let submission = stored::first_submission(&store, simulation)
        .unwrap()
        .unwrap();
    assert_eq!(submission.planned, Some((11.0, 25_200)));
    assert_eq!(submission.best_effort, Some((10.0, 30_600)));
    assert_eq!(stored::tasks(&store, simulation, 0).unwrap().len(), 3);
    assert_eq!(stored::slots(&store, simulation, 0).unwrap()[1].site, 1);
    assert_eq!(
        stored::sites(&store, simulation).unwrap()[0].label,
        "CTC".to_owned()
    );
    let front = stored::front(&store, simulation, 0).unwrap();
    assert_eq!(front.iter().filter(|plan| plan.chosen).count(), 1);
}

#[test]
fn without_outcomes_submissions_stay_and_tasks_of_the_first_replication() {
    let folder = folder();
    let path = folder.path().join("store.db");
    workflows(&path, OutcomeDetail::Metrics);
    let counts = |wanted: [i64; 4]| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        let tables = [
            "workflow_submission",
            "workflow_front",
            "workflow_slot",
            "workflow_task",
        ];
        let found =
            tables.map(|table| count(&connection, &format!("SELECT count(*) FROM {table}")));
        assert_eq!(found, wanted);
    };
    counts([8, 16, 8, 8]);
    // Asked for, they are added, and nothing is there twice.
    workflows(&path, OutcomeDetail::All);
    counts([8, 16, 16, 20]);
}

#[test]
fn an_application_whose_cost_is_no_number_is_refused() {
    use bookahead_workflows::provisioning::SearchMethod;
    let mut done = bookahead_testutils::runs::provisioning::provisioned(
        "x",
        SearchMethod::Moga,
        0.5,
        0,
        Vec::new(),
    );
    let Some(rows) = done
        .result
        .rows
        .get_mut::<bookahead_workflows::provisioning::study::Rows>()
    else {
        panic!("a study of provisioning");
    };
    rows.run.as_mut().unwrap().outcomes[0].realised.cost = f64::NAN;
    let folder = folder();
    let store = Store::open(STUDIES, &folder.path().join("a.db")).unwrap();
    let run = store.begin_run(&record("refused", vec![], 1)).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 1);
    let error = writer.handle().write(done).expect_err("it is refused");
    assert!(
        error
            .to_string()
            .contains("a cost of submission 0 is not a number"),
        "{error}"
    );
}
