//! What `bookahead export` asks: one question a kind of row, each column with a type that holds in every row.

use super::{RunId, Store, StoreError};
use crate::sweep::AxisValue;

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// One row for each place of the sweep, with a column for each axis.
    Points,
    /// One row for each job of each simulation.
    Jobs,
    /// One row for each failure and repair of a node in each simulation.
    NodeEvents,
    /// One row for each place and axis, for tools that want axes as rows.
    Axes,
    /// One row for each workflow that was submitted.
    Submissions,
    /// One row for each plan of a Pareto front.
    Fronts,
    /// One row for each slot that was paid for.
    Slots,
    /// One row for each run of a task of a workflow.
    Tasks,
}

/// The type of an exported column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportType {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    Text,
    /// True or false.
    Flag,
}

/// A question with typed columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// The question.
    pub sql: String,
    /// Names and types of its columns.
    pub columns: Vec<(String, ExportType)>,
}

use ExportType::{Flag, Integer, Number, Text};

/// Columns of `v_point` without the axes, which become columns of their own.
const POINT: &[(&str, ExportType)] = &[
    ("run", Integer),
    ("place", Integer),
    ("identity", Text),
    ("simulation", Integer),
    ("state", Text),
    ("error", Text),
    ("strategy", Text),
    ("workload_label", Text),
    ("replication", Integer),
    ("penalty_ratio", Number),
    ("fees", Number),
    ("forfeited", Number),
    ("penalties", Number),
    ("gain", Number),
    ("booked", Number),
    ("submitted", Integer),
    ("accepted", Integer),
    ("successful", Integer),
    ("failed", Integer),
    ("dropped", Integer),
    ("dropped_too_wide", Integer),
    ("overbooked", Integer),
    ("failed_overbooked", Integer),
    ("failed_nodes", Integer),
    ("failed_unstartable", Integer),
    ("started", Integer),
    ("restarts", Integer),
    ("utilisation", Number),
    ("useful_utilisation", Number),
    ("mean_wait", Number),
    ("slowdown", Number),
    ("makespan", Integer),
    ("pof_evaluations", Integer),
    ("convolutions", Integer),
    ("replans", Integer),
    ("moves", Integer),
];

const JOB: &[(&str, ExportType)] = &[
    ("simulation", Integer),
    ("job", Integer),
    ("trace_number", Integer),
    ("user", Integer),
    ("application", Integer),
    ("nodes", Integer),
    ("submit", Integer),
    ("release", Integer),
    ("estimate", Integer),
    ("runtime", Integer),
    ("deadline", Integer),
    ("outcome", Text),
    ("reason", Text),
    ("class", Integer),
    ("overbooked", Flag),
    ("planned_start", Integer),
    ("planned_end", Integer),
    ("slot_length", Integer),
    ("available", Number),
    ("executable", Number),
    ("survives", Number),
    ("pos", Number),
    ("pof", Number),
    ("raw_pof", Number),
    ("predecessors", Integer),
    ("start", Integer),
    ("end", Integer),
    ("waiting", Integer),
    ("fee", Number),
    ("penalty", Number),
    ("restarts", Integer),
    ("node_failures", Integer),
];

const NODE_EVENT: &[(&str, ExportType)] = &[
    ("simulation", Integer),
    ("sequence", Integer),
    ("time", Integer),
    ("node", Integer),
    ("up", Flag),
];

const AXIS: &[(&str, ExportType)] = &[
    ("run", Integer),
    ("place", Integer),
    ("axis", Integer),
    ("key", Text),
    ("kind", Text),
    ("value", Text),
    ("value_position", Integer),
];

const SUBMISSION: &[(&str, ExportType)] = &[
    ("simulation", Integer),
    ("submission", Integer),
    ("provider", Text),
    ("search", Text),
    ("alpha", Number),
    ("deadline", Integer),
    ("budget_su", Number),
    ("submitted", Integer),
    ("planned_cost_su", Number),
    ("planned_makespan", Integer),
    ("cost_ratio", Number),
    ("makespan_ratio", Number),
    ("completed", Flag),
    ("makespan", Integer),
    ("cost_su", Number),
    ("wasted_su", Number),
    ("gone", Integer),
    ("replans", Integer),
    ("lost_tasks", Integer),
    ("reprovisioned", Integer),
    ("best_effort_cost_su", Number),
    ("best_effort_makespan", Integer),
    ("hypervolume", Number),
    ("slots_offered", Integer),
    ("evaluations", Integer),
    ("infeasible", Integer),
    ("queries", Integer),
    ("offers", Integer),
];

const FRONT: &[(&str, ExportType)] = &[
    ("simulation", Integer),
    ("submission", Integer),
    ("member", Integer),
    ("cost_su", Number),
    ("makespan", Integer),
    ("chosen", Flag),
];

const SLOT: &[(&str, ExportType)] = &[
    ("simulation", Integer),
    ("submission", Integer),
    ("slot", Integer),
    ("site", Integer),
    ("nodes", Integer),
    ("start", Integer),
    ("end", Integer),
    ("unit_price", Number),
    ("fixed_price", Number),
    ("divisible", Flag),
    ("cost_su", Number),
    ("used_su", Number),
    ("externality_su", Number),
];

const TASK: &[(&str, ExportType)] = &[
    ("simulation", Integer),
    ("submission", Integer),
    ("position", Integer),
    ("task", Integer),
    ("site", Integer),
    ("nodes", Integer),
    ("start", Integer),
    ("end", Integer),
    ("slot", Integer),
    ("fate", Text),
];

/// The simulations of a run, once each, in the order of their numbers (which SQLite would drop without a LIMIT). The rows of
/// each come in the order of their keys, as the CROSS JOIN keeps the simulations outside: nothing is sorted in memory.
const SIMULATIONS: &str =
    "(SELECT DISTINCT p.simulation AS id FROM run_point rp JOIN point p ON p.id = rp.point
    WHERE rp.run = RUN ORDER BY 1 LIMIT -1)";

impl Store {
    /// The question whose rows are an export of this kind. Rows come in a fixed order.
    ///
    /// # Errors
    ///
    /// When the axes of the run cannot be read.
    pub fn export(&self, run: RunId, kind: ExportKind) -> Result<Export, StoreError> {
        let (fixed, source) = match kind {
            ExportKind::Points => (
                POINT,
                "v_point t WHERE t.run = RUN ORDER BY t.place".to_owned(),
            ),
            ExportKind::Jobs => (JOB, of_simulations("v_job")),
            ExportKind::NodeEvents => (NODE_EVENT, of_simulations("node_event")),
            ExportKind::Axes => (
                AXIS,
                "v_point_axis t WHERE t.run = RUN ORDER BY t.place, t.axis".to_owned(),
            ),
            ExportKind::Submissions => (SUBMISSION, of_simulations("v_workflow_submission")),
            ExportKind::Fronts => (FRONT, of_simulations("v_workflow_front")),
            ExportKind::Slots => (SLOT, of_simulations("v_workflow_slot")),
            ExportKind::Tasks => (TASK, of_simulations("v_workflow_task")),
        };
        let mut columns: Vec<(String, ExportType)> = Vec::new();
        let mut chosen: Vec<String> = Vec::new();
        for (name, kind) in fixed {
            columns.push(((*name).to_owned(), *kind));
            chosen.push(format!("t.\"{name}\""));
        }
        if kind == ExportKind::Points {
            // After the columns that say which point it is.
            const BEFORE: usize = 3;
            for (position, axis) in self.axes(run)?.into_iter().enumerate() {
                let name = if fixed.iter().any(|(fixed, _)| *fixed == axis.key) {
                    format!("axis.{}", axis.key)
                } else {
                    axis.key
                };
                columns.insert(BEFORE + position, (name, axis_type(&axis.values)));
                chosen.insert(
                    BEFORE + position,
                    format!(
                        "(SELECT x.value FROM v_point_axis x
                          WHERE x.run = t.run AND x.place = t.place AND x.axis = {position})"
                    ),
                );
            }
        }
        let sql = format!("SELECT {} FROM {source}", chosen.join(", "))
            .replace("RUN", &run.0.to_string());
        Ok(Export { sql, columns })
    }

    /// How many simulations of a run are done, and how many of them have their jobs stored.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn simulations_with_jobs(&self, run: RunId) -> Result<(u64, u64), StoreError> {
        self.connection
            .query_row(
                "SELECT count(*), total(m.detail >= 2) FROM simulation m WHERE m.state = 2 AND m.id IN
                    (SELECT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = ?1)",
                [run.0],
                |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, f64>(1)? as u64)),
            )
            .map_err(|error| self.error("counting simulations", error))
    }
}

/// The rows of a view that belong to the simulations of the run.
fn of_simulations(view: &str) -> String {
    format!("{SIMULATIONS} s CROSS JOIN {view} t ON t.simulation = s.id")
}

/// The narrowest type that holds every value of an axis.
fn axis_type(values: &[AxisValue]) -> ExportType {
    let one = |value: &AxisValue| match value {
        AxisValue::Integer(_) => Integer,
        AxisValue::Real(_) => Number,
        AxisValue::Text(_) => Text,
        AxisValue::Flag(_) => Flag,
    };
    values
        .iter()
        .map(one)
        .reduce(|one, other| match (one, other) {
            (one, other) if one == other => one,
            (Integer, Number) | (Number, Integer) => Number,
            _ => Text,
        })
        .unwrap_or(Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_the_narrowest_type_that_holds_all_its_values() {
        let (one, half) = (AxisValue::Integer(1), AxisValue::Real(0.5));
        assert_eq!(axis_type(std::slice::from_ref(&one)), Integer);
        assert_eq!(axis_type(&[one.clone(), half]), Number);
        assert_eq!(axis_type(&[one, AxisValue::Text("x".to_owned())]), Text);
        assert_eq!(axis_type(&[AxisValue::Flag(true)]), Flag);
    }
}
