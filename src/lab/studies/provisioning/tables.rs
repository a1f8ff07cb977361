//! Workflows that buy their resources: sites, submissions with fronts, slots and tasks, and what others lost.

use rusqlite::{Connection, params};

use crate::brokering::provisioning::measures::SiteSummary;
use crate::brokering::provisioning::{ProvisioningOutcome, ProvisioningRun, TaskFate};
use crate::tables::{Definition, ExportKind, ExportSource, Outcomes, Rows, View};
use crate::units::Seconds;

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &[
        "workflow_front",
        "workflow_task",
        "workflow_slot",
        "workflow_submission",
        "workflow_effect",
        "workflow_site",
    ],
    views: VIEWS,
    exports: EXPORTS,
    outcomes: OUTCOMES,
    enter_lookups,
};

/// The sites of a simulation, and what became of its applications.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProvisioningRows {
    /// The sites.
    pub sites: Vec<SiteSummary>,
    /// What became of the applications; `None` unless outcomes were asked for.
    pub run: Option<ProvisioningRun>,
    /// The hypervolume of the front of each submission; empty where there are no fronts.
    pub hypervolumes: Vec<Option<f64>>,
}

impl Rows for ProvisioningRows {
    fn problem(&self) -> Option<String> {
        problem(self.run.as_ref()?)
    }

    /// Reports draw the tasks of one submission, so slots and tasks of the first replication stay.
    fn strip(&mut self, replication: u32) {
        if let (Some(run), 1..) = (&mut self.run, replication) {
            for outcome in &mut run.outcomes {
                outcome.slots = Vec::new();
                outcome.tasks = Vec::new();
            }
        }
    }

    fn write(
        &self,
        connection: &Connection,
        simulation: i64,
        _replication: u32,
    ) -> rusqlite::Result<u64> {
        let mut rows = write_sites(connection, simulation, &self.sites)?;
        if let Some(run) = &self.run {
            rows += write_submissions(connection, simulation, run, &self.hypervolumes)?;
        }
        Ok(rows)
    }
}

fn enter_lookups(connection: &Connection) -> rusqlite::Result<()> {
    for fate in FATES {
        connection.execute(
            "INSERT OR REPLACE INTO task_fate VALUES (?1, ?2)",
            params![fate_code(fate), fate_name(fate)],
        )?;
    }
    Ok(())
}

const SQL: &str = "
CREATE TABLE workflow_site (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    site INTEGER NOT NULL,
    label TEXT NOT NULL,
    nodes INTEGER NOT NULL,
    wanted_percent REAL,
    utilisation_percent REAL NOT NULL,
    copied_percent REAL NOT NULL,
    kept_percent REAL NOT NULL,
    window_start INTEGER NOT NULL,
    window_end INTEGER NOT NULL,
    PRIMARY KEY (simulation, site)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_submission (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    submission INTEGER NOT NULL,
    submitted INTEGER NOT NULL,
    planned_cost REAL,
    planned_makespan INTEGER,
    completed INTEGER NOT NULL CHECK (completed IN (0, 1)),
    makespan INTEGER NOT NULL,
    cost REAL NOT NULL,
    wasted REAL NOT NULL,
    gone INTEGER NOT NULL,
    replans INTEGER NOT NULL,
    lost_tasks INTEGER NOT NULL,
    reprovisioned INTEGER NOT NULL,
    best_effort_cost REAL,
    best_effort_makespan INTEGER,
    hypervolume REAL,
    slots_offered INTEGER NOT NULL,
    evaluations INTEGER NOT NULL,
    infeasible INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    offers INTEGER NOT NULL,
    PRIMARY KEY (simulation, submission)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_front (
    simulation INTEGER NOT NULL,
    submission INTEGER NOT NULL,
    member INTEGER NOT NULL,
    cost REAL NOT NULL,
    makespan INTEGER NOT NULL,
    chosen INTEGER NOT NULL CHECK (chosen IN (0, 1)),
    PRIMARY KEY (simulation, submission, member),
    FOREIGN KEY (simulation, submission) REFERENCES workflow_submission (simulation, submission)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_slot (
    simulation INTEGER NOT NULL,
    submission INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    site INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    start INTEGER NOT NULL,
    \"end\" INTEGER NOT NULL,
    unit_price REAL NOT NULL,
    fixed_price REAL NOT NULL,
    divisible INTEGER NOT NULL CHECK (divisible IN (0, 1)),
    cost REAL NOT NULL,
    used INTEGER NOT NULL,
    externality INTEGER NOT NULL,
    PRIMARY KEY (simulation, submission, slot),
    FOREIGN KEY (simulation, submission) REFERENCES workflow_submission (simulation, submission)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_fate (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE workflow_task (
    simulation INTEGER NOT NULL,
    submission INTEGER NOT NULL,
    position INTEGER NOT NULL,
    task INTEGER NOT NULL,
    site INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    start INTEGER NOT NULL,
    \"end\" INTEGER NOT NULL,
    slot INTEGER,
    fate INTEGER NOT NULL REFERENCES task_fate (code),
    PRIMARY KEY (simulation, submission, position),
    FOREIGN KEY (simulation, submission) REFERENCES workflow_submission (simulation, submission)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_effect (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    site INTEGER NOT NULL,
    jobs INTEGER NOT NULL,
    delayed INTEGER NOT NULL,
    wait INTEGER NOT NULL,
    undisturbed_wait INTEGER NOT NULL,
    slowdown REAL NOT NULL,
    undisturbed_slowdown REAL NOT NULL,
    PRIMARY KEY (simulation, site)
) STRICT, WITHOUT ROWID;
";

const VIEWS: &[View] = &[
    (
        "v_workflow_site",
        "SELECT s.simulation, s.site, s.label, s.nodes, s.wanted_percent, s.utilisation_percent, s.copied_percent, s.kept_percent,
            s.window_start, s.window_end
         FROM workflow_site s",
    ),
    (
        "v_workflow_submission",
        "SELECT s.simulation, s.submission, m.spec ->> '$.study.provider.provider' AS provider,
            m.spec ->> '$.study.search' AS search, m.spec ->> '$.study.wish.alpha' AS alpha,
            m.spec ->> '$.study.wish.after' AS deadline, m.spec ->> '$.study.wish.service_units' AS budget_su,
            s.submitted, s.planned_cost AS planned_cost_su, s.planned_makespan,
            s.planned_cost / nullif(s.best_effort_cost, 0.0) AS cost_ratio,
            CAST(s.planned_makespan AS REAL) / nullif(s.best_effort_makespan, 0) AS makespan_ratio,
            s.completed, s.makespan, s.cost AS cost_su, s.wasted AS wasted_su, s.gone, s.replans, s.lost_tasks, s.reprovisioned,
            s.best_effort_cost AS best_effort_cost_su, s.best_effort_makespan, s.hypervolume, s.slots_offered, s.evaluations,
            s.infeasible, s.queries, s.offers
         FROM workflow_submission s JOIN simulation m ON m.id = s.simulation",
    ),
    (
        "v_workflow_front",
        "SELECT f.simulation, f.submission, f.member, f.cost AS cost_su, f.makespan, f.chosen FROM workflow_front f",
    ),
    (
        "v_workflow_slot",
        "SELECT t.simulation, t.submission, t.slot, t.site, t.nodes, s.submitted + t.start AS start,
            s.submitted + t.\"end\" AS \"end\", t.unit_price, t.fixed_price, t.divisible, t.cost AS cost_su,
            t.used / 3600.0 AS used_su, t.externality / 3600.0 AS externality_su
         FROM workflow_slot t JOIN workflow_submission s ON s.simulation = t.simulation AND s.submission = t.submission",
    ),
    (
        "v_workflow_task",
        "SELECT t.simulation, t.submission, t.position, t.task, t.site, t.nodes, s.submitted + t.start AS start,
            s.submitted + t.\"end\" AS \"end\", t.slot, f.name AS fate
         FROM workflow_task t
         JOIN workflow_submission s ON s.simulation = t.simulation AND s.submission = t.submission
         JOIN task_fate f ON f.code = t.fate",
    ),
    (
        "v_workflow_effect",
        "SELECT e.simulation, e.site, e.jobs, e.delayed, e.wait / 3600.0 / nullif(e.jobs, 0) AS wait_hours,
            e.undisturbed_wait / 3600.0 / nullif(e.jobs, 0) AS undisturbed_wait_hours, e.slowdown / nullif(e.jobs, 0) AS slowdown,
            e.undisturbed_slowdown / nullif(e.jobs, 0) AS undisturbed_slowdown
         FROM workflow_effect e",
    ),
];

/// What the views about all studies show of them.
const OUTCOMES: Outcomes = Outcomes {
    algorithm: Some(
        "m.spec ->> '$.study.search'",
    ),
    clusters: Some(
        "(SELECT count(*) FROM workflow_site i WHERE i.simulation = m.id)",
    ),
    cluster_of_job: None,
    reservations: Some(
        "SELECT q.simulation, q.submission, q.slot, 1, q.site, NULL, NULL, q.nodes, b.submitted, NULL, NULL, q.\"end\" - q.start, NULL,
            'granted', CASE q.used_su WHEN 0 THEN 'unused' ELSE 'used' END, NULL, q.start, q.\"end\", q.cost_su, NULL
         FROM workflow_submission b
         CROSS JOIN v_workflow_slot q ON q.simulation = b.simulation AND q.submission = b.submission",
    ),
};

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "sites",
        about: "One row for each site that sells resources to workflows",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_site"),
        columns: "simulation, site, label text, nodes, wanted_percent number, utilisation_percent number, copied_percent number, \
            kept_percent number, window_start, window_end",
    },
    ExportKind {
        name: "submissions",
        about: "One row for each workflow that was submitted",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_submission"),
        columns: "simulation, submission, provider text, search text, alpha number, deadline, budget_su number, submitted, \
            planned_cost_su number, planned_makespan, cost_ratio number, makespan_ratio number, completed flag, makespan, \
            cost_su number, wasted_su number, gone, replans, lost_tasks, reprovisioned, best_effort_cost_su number, \
            best_effort_makespan, hypervolume number, slots_offered, evaluations, infeasible, queries, offers",
    },
    ExportKind {
        name: "fronts",
        about: "One row for each plan of a Pareto front",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_front"),
        columns: "simulation, submission, member, cost_su number, makespan, chosen flag",
    },
    ExportKind {
        name: "slots",
        about: "One row for each slot that was paid for",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_slot"),
        columns: "simulation, submission, slot, site, nodes, start, end, unit_price number, fixed_price number, divisible flag, \
            cost_su number, used_su number, externality_su number",
    },
    ExportKind {
        name: "tasks",
        about: "One row for each run of a task of a workflow",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_task"),
        columns: "simulation, submission, position, task, site, nodes, start, end, slot, fate text",
    },
    ExportKind {
        name: "effects",
        about: "One row for what workflows did to the other jobs of a site",
        of_outcomes: false,
        source: ExportSource::Simulations("v_workflow_effect"),
        columns: "simulation, site, jobs, delayed, wait_hours number, undisturbed_wait_hours number, slowdown number, \
            undisturbed_slowdown number",
    },
];

const FATES: [TaskFate; 3] = [TaskFate::Done, TaskFate::Lost, TaskFate::Abandoned];

fn fate_name(fate: TaskFate) -> &'static str {
    match fate {
        TaskFate::Done => "done",
        TaskFate::Lost => "lost",
        TaskFate::Abandoned => "abandoned",
    }
}

fn fate_code(fate: TaskFate) -> i64 {
    match fate {
        TaskFate::Done => 0,
        TaskFate::Lost => 1,
        TaskFate::Abandoned => 2,
    }
}

/// Why a run would not come back from the store as it is; `None` where it would.
fn problem(run: &ProvisioningRun) -> Option<String> {
    let broken = run.outcomes.iter().find(|outcome| {
        let planned = outcome.planned.map(|value| value.cost);
        let best_effort = outcome.best_effort.as_ref().map(|run| run.cost);
        let front = outcome.front.iter().map(|member| member.value.cost);
        let slots = outcome
            .slots
            .iter()
            .flat_map(|slot| [slot.cost, slot.slot.unit_price, slot.slot.fixed_price]);
        [outcome.realised.cost, outcome.realised.wasted]
            .into_iter()
            .chain(planned)
            .chain(best_effort)
            .chain(front)
            .chain(slots)
            .any(|money| !money.is_finite())
    });
    broken.map(|outcome| {
        format!(
            "a cost of submission {} is not a number",
            outcome.submission
        )
    })
}

/// Writes the sites of a simulation; returns the rows.
fn write_sites(
    connection: &Connection,
    simulation: i64,
    sites: &[SiteSummary],
) -> rusqlite::Result<u64> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO workflow_site VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for (place, site) in sites.iter().enumerate() {
        let load = site.load;
        insert.execute(params![
            simulation,
            place as i64,
            site.label,
            site.nodes.0,
            load.wanted_percent,
            load.utilisation_percent,
            load.copied_percent,
            load.kept_percent,
            load.window.0.0,
            load.window.1.0
        ])?;
    }
    Ok(sites.len() as u64)
}

/// Writes what became of every application; returns the rows. Times but that of the submission are seconds after it, as they are
/// small then.
fn write_submissions(
    connection: &Connection,
    simulation: i64,
    run: &ProvisioningRun,
    hypervolumes: &[Option<f64>],
) -> rusqlite::Result<u64> {
    let mut rows = 0;
    let mut insert = connection.prepare_cached(
        "INSERT INTO workflow_submission VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
         ?19, ?20, ?21)",
    )?;
    for (place, outcome) in run.outcomes.iter().enumerate() {
        let realised = outcome.realised;
        let best_effort = outcome.best_effort.as_ref();
        insert.execute(params![
            simulation,
            outcome.submission,
            outcome.submitted.0,
            outcome.planned.map(|value| value.cost),
            outcome.planned.map(|value| value.makespan.0),
            realised.completed,
            realised.makespan.0,
            realised.cost,
            realised.wasted,
            realised.gone,
            realised.replans,
            realised.lost_tasks,
            realised.reprovisioned,
            best_effort.map(|run| run.cost),
            best_effort.map(|run| run.makespan.0),
            hypervolumes.get(place).copied().flatten(),
            outcome.slots_offered,
            outcome.evaluations as i64,
            outcome.infeasible as i64,
            outcome.queries as i64,
            outcome.offers as i64
        ])?;
        rows += 1
            + write_front(connection, simulation, outcome)?
            + write_slots(connection, simulation, outcome)?
            + write_tasks(connection, simulation, outcome)?;
    }
    Ok(rows + write_effects(connection, simulation, run)?)
}

fn write_front(
    connection: &Connection,
    simulation: i64,
    outcome: &ProvisioningOutcome,
) -> rusqlite::Result<u64> {
    let mut insert =
        connection.prepare_cached("INSERT INTO workflow_front VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for (place, member) in outcome.front.iter().enumerate() {
        insert.execute(params![
            simulation,
            outcome.submission,
            place as i64,
            member.value.cost,
            member.value.makespan.0,
            member.chosen
        ])?;
    }
    Ok(outcome.front.len() as u64)
}

fn write_slots(
    connection: &Connection,
    simulation: i64,
    outcome: &ProvisioningOutcome,
) -> rusqlite::Result<u64> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO workflow_slot VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    for (place, bought) in outcome.slots.iter().enumerate() {
        let slot = bought.slot;
        insert.execute(params![
            simulation,
            outcome.submission,
            place as i64,
            bought.site as i64,
            slot.nodes.0,
            after(outcome, slot.start),
            after(outcome, slot.end),
            slot.unit_price,
            slot.fixed_price,
            slot.divisible,
            bought.cost,
            bought.used.0,
            bought.externality.0
        ])?;
    }
    Ok(outcome.slots.len() as u64)
}

fn write_tasks(
    connection: &Connection,
    simulation: i64,
    outcome: &ProvisioningOutcome,
) -> rusqlite::Result<u64> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO workflow_task VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for (place, run) in outcome.tasks.iter().enumerate() {
        insert.execute(params![
            simulation,
            outcome.submission,
            place as i64,
            run.task,
            run.site as i64,
            run.nodes.0,
            after(outcome, run.start),
            after(outcome, run.end),
            run.slot,
            fate_code(run.fate)
        ])?;
    }
    Ok(outcome.tasks.len() as u64)
}

fn write_effects(
    connection: &Connection,
    simulation: i64,
    run: &ProvisioningRun,
) -> rusqlite::Result<u64> {
    let mut insert = connection
        .prepare_cached("INSERT INTO workflow_effect VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for (place, effect) in run.effects.iter().enumerate() {
        insert.execute(params![
            simulation,
            place as i64,
            effect.jobs as i64,
            effect.delayed as i64,
            effect.wait.0,
            effect.undisturbed_wait.0,
            effect.slowdown,
            effect.undisturbed_slowdown
        ])?;
    }
    Ok(run.effects.len() as u64)
}

fn after(outcome: &ProvisioningOutcome, time: Seconds) -> i64 {
    (time - outcome.submitted).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_of_a_task_has_its_code() {
        for (place, fate) in FATES.into_iter().enumerate() {
            assert_eq!(fate_code(fate), place as i64);
        }
    }
}
