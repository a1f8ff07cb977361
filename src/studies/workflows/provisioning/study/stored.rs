//! Reading studies of provisioning: sites, submissions with their fronts, slots and tasks of one
//! simulation.

use std::collections::BTreeMap;

use rusqlite::Row;

use bookahead_lab::store::{RunId, Store, StoreError};

/// A site of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowSite {
    /// Its name for people.
    pub label: String,
    /// Its processors.
    pub nodes: u32,
    /// How busy its own jobs keep it, percent.
    pub utilisation_percent: f64,
}

/// What became of an application.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmissionRow {
    /// Its number in the simulation, from 0.
    pub submission: i64,
    /// How its plan was searched for; empty where the specification does not say.
    pub search: String,
    /// α, where a plan is a trade-off.
    pub alpha: Option<f64>,
    /// When it was submitted, seconds.
    pub submitted: i64,
    /// Cost of the plan, SU, and its makespan, seconds.
    pub planned: Option<(f64, i64)>,
    /// Cost of best effort, SU, and its makespan, seconds.
    pub best_effort: Option<(f64, i64)>,
    /// What was paid in the end, SU, and the real makespan, seconds.
    pub realised: (f64, i64),
}

/// A plan of a Pareto front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrontRow {
    /// SU.
    pub cost: f64,
    /// Seconds.
    pub makespan: i64,
    /// Whether the user's wish chose it.
    pub chosen: bool,
}

/// A slot that was paid for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotRow {
    /// Index of the site.
    pub site: u32,
    /// Processors.
    pub nodes: u32,
    /// Seconds after the submission.
    pub start: i64,
    /// Seconds after the submission.
    pub end: i64,
    /// What was paid, SU.
    pub cost: f64,
    /// What of it tasks used, SU at the price of best effort.
    pub used: f64,
}

/// A run of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    /// Index of the task.
    pub task: u32,
    /// Index of the site.
    pub site: u32,
    /// Processors.
    pub nodes: u32,
    /// Seconds after the submission.
    pub start: i64,
    /// Seconds after the submission.
    pub end: i64,
    /// The slot that it ran in, the first of a stack; none for best effort.
    pub slot: Option<u32>,
    /// done, lost or abandoned.
    pub fate: String,
}

/// The sites of a simulation, in order; empty where it is not about provisioning.
///
/// # Errors
///
/// When the store cannot be read.
pub fn sites(store: &Store, simulation: i64) -> Result<Vec<WorkflowSite>, StoreError> {
    rows(
        store,
        "SELECT label, nodes, utilisation_percent FROM workflow_site WHERE simulation = ?1 ORDER BY site",
        [simulation],
        |row| {
            Ok(WorkflowSite {
                label: row.get(0)?,
                nodes: row.get(1)?,
                utilisation_percent: row.get(2)?,
            })
        },
    )
}

/// The first application of a simulation; `None` where it is not about provisioning, or was not
/// kept.
///
/// # Errors
///
/// When the store cannot be read.
pub fn first_submission(
    store: &Store,
    simulation: i64,
) -> Result<Option<SubmissionRow>, StoreError> {
    let found = rows(
        store,
        "SELECT submission, search, alpha, submitted, planned_cost_su, planned_makespan, best_effort_cost_su,
            best_effort_makespan, cost_su, makespan
         FROM v_workflow_submission WHERE simulation = ?1 ORDER BY submission LIMIT 1",
        [simulation],
        |row| {
            let pair = |cost, makespan| -> rusqlite::Result<Option<(f64, i64)>> {
                Ok(row
                    .get::<_, Option<f64>>(cost)?
                    .zip(row.get::<_, Option<i64>>(makespan)?))
            };
            Ok(SubmissionRow {
                submission: row.get(0)?,
                search: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
                alpha: row.get(2)?,
                submitted: row.get(3)?,
                planned: pair(4, 5)?,
                best_effort: pair(6, 7)?,
                realised: (row.get(8)?, row.get(9)?),
            })
        },
    )?;
    Ok(found.into_iter().next())
}

/// How many plans the front of the first application of each simulation of a run has, by
/// simulation; those without a front are left out.
///
/// # Errors
///
/// When the store cannot be read.
pub fn front_sizes(store: &Store, run: RunId) -> Result<BTreeMap<i64, u64>, StoreError> {
    let found = rows(
        store,
        "SELECT f.simulation, count(*) FROM workflow_front f
         WHERE f.simulation IN (SELECT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = ?1)
            AND f.submission = (SELECT min(s.submission) FROM workflow_submission s WHERE s.simulation = f.simulation)
         GROUP BY f.simulation",
        [run.0],
        |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())),
    )?;
    Ok(found.into_iter().collect())
}

/// The plans of the front of a submission, in the order of the search.
///
/// # Errors
///
/// When the store cannot be read.
pub fn front(store: &Store, simulation: i64, submission: i64) -> Result<Vec<FrontRow>, StoreError> {
    rows(
        store,
        "SELECT cost, makespan, chosen FROM workflow_front WHERE simulation = ?1 AND submission = ?2 ORDER BY member",
        (simulation, submission),
        |row| {
            Ok(FrontRow {
                cost: row.get(0)?,
                makespan: row.get(1)?,
                chosen: row.get(2)?,
            })
        },
    )
}

/// The slots that were paid for a submission, in the order of booking; empty where they were
/// not kept.
///
/// # Errors
///
/// When the store cannot be read.
pub fn slots(store: &Store, simulation: i64, submission: i64) -> Result<Vec<SlotRow>, StoreError> {
    rows(
        store,
        "SELECT site, nodes, start, \"end\", cost, used / 3600.0 FROM workflow_slot
         WHERE simulation = ?1 AND submission = ?2 ORDER BY slot",
        (simulation, submission),
        |row| {
            Ok(SlotRow {
                site: row.get(0)?,
                nodes: row.get(1)?,
                start: row.get(2)?,
                end: row.get(3)?,
                cost: row.get(4)?,
                used: row.get(5)?,
            })
        },
    )
}

/// The runs of the tasks of a submission, in the order of booking; empty where they were not
/// kept.
///
/// # Errors
///
/// When the store cannot be read.
pub fn tasks(store: &Store, simulation: i64, submission: i64) -> Result<Vec<TaskRow>, StoreError> {
    rows(
        store,
        "SELECT t.task, t.site, t.nodes, t.start, t.\"end\", t.slot, f.name
         FROM workflow_task t JOIN task_fate f ON f.code = t.fate
         WHERE t.simulation = ?1 AND t.submission = ?2 ORDER BY t.position",
        (simulation, submission),
        |row| {
            Ok(TaskRow {
                task: row.get(0)?,
                site: row.get(1)?,
                nodes: row.get(2)?,
                start: row.get(3)?,
                end: row.get(4)?,
                slot: row.get(5)?,
                fate: row.get(6)?,
            })
        },
    )
}

fn rows<T>(
    store: &Store,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    store.rows("reading provisioned workflows", sql, parameters, read)
}
