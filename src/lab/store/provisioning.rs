//! From results of provisioning to rows: sites, submissions with fronts, slots and tasks, and what others lost.

use rusqlite::{Connection, params};

use crate::brokering::provisioning::measures::SiteSummary;
use crate::brokering::provisioning::{ProvisioningOutcome, ProvisioningRun, TaskFate};
use crate::units::Seconds;

/// Tables that refer to a simulation, those that refer to others of them first.
pub(super) const TABLES: [&str; 6] = [
    "workflow_front",
    "workflow_task",
    "workflow_slot",
    "workflow_submission",
    "workflow_effect",
    "workflow_site",
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

/// Enters what may become of a task.
pub(super) fn enter_lookups(connection: &Connection) -> rusqlite::Result<()> {
    for fate in FATES {
        connection.execute(
            "INSERT OR REPLACE INTO task_fate VALUES (?1, ?2)",
            params![fate_code(fate), fate_name(fate)],
        )?;
    }
    Ok(())
}

/// Why a run would not come back from the store as it is; `None` where it would.
pub(super) fn problem(run: &ProvisioningRun) -> Option<String> {
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

/// Takes away what is not kept without outcomes: slots and tasks.
pub(super) fn strip(run: &mut ProvisioningRun) {
    for outcome in &mut run.outcomes {
        outcome.slots = Vec::new();
        outcome.tasks = Vec::new();
    }
}

/// Writes the sites of a simulation; returns the rows.
pub(super) fn write_sites(
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
pub(super) fn write_submissions(
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
