//! Workflows that buy their resources: sites, submissions with fronts, slots and tasks, and what
//! others lost.

mod exports;
mod met;
mod schema;

use rusqlite::{Connection, params};

use self::exports::EXPORTS;
use self::met::{write_advertised, write_offers, write_site_jobs};
use self::schema::{OUTCOMES, SQL, VIEWS};

use crate::provisioning::measures::SiteSummary;
use crate::provisioning::{ProvisioningOutcome, ProvisioningRun, SiteJob, TaskFate};
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::Seconds;
use bookahead_lab::tables::{Definition, RowWriter, Rows};

/// The tables.
pub(super) const TABLES: Definition = Definition {
    sql: SQL,
    results: &[
        "workflow_front",
        "workflow_task",
        "workflow_slot_return",
        "workflow_slot",
        "workflow_query",
        "workflow_advertised",
        "workflow_submission",
        "workflow_effect",
        "workflow_site_job",
        "workflow_site",
    ],
    views: VIEWS,
    exports: EXPORTS,
    outcomes: OUTCOMES,
    enter_lookups,
    ..Definition::NONE
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
    /// The jobs of others that were at the sites meanwhile; empty unless outcomes were asked for.
    pub site_jobs: Vec<SiteJob>,
}

impl Rows for ProvisioningRows {
    fn problem(&self) -> Option<String> {
        problem(self.run.as_ref()?)
    }

    /// Reports draw the tasks of one submission, so slots and tasks of the first replication stay.
    fn strip(&mut self, replication: u32) {
        self.site_jobs = Vec::new();
        for outcome in self.run.iter_mut().flat_map(|run| &mut run.outcomes) {
            outcome.prices = Vec::new();
            outcome.advertised = Vec::new();
            if replication > 0 {
                outcome.slots = Vec::new();
                outcome.tasks = Vec::new();
            }
        }
    }

    fn write(&self, writer: &RowWriter<'_>, _replication: u32) -> rusqlite::Result<u64> {
        let mut rows = write_sites(writer, &self.sites)?;
        if let Some(run) = &self.run {
            rows += write_submissions(writer, run, &self.hypervolumes)?;
            rows += write_site_jobs(writer, &self.site_jobs)?;
        }
        Ok(rows)
    }
}

fn enter_lookups(connection: &Connection, _: &[&'static Measure]) -> rusqlite::Result<()> {
    for fate in TaskFate::ALL {
        connection.execute(
            "INSERT OR REPLACE INTO task_fate VALUES (?1, ?2)",
            params![*fate as i64, fate.name()],
        )?;
    }
    Ok(())
}

/// Why a run would not come back from the store as it is; `None` where it would.
fn problem(run: &ProvisioningRun) -> Option<String> {
    let broken = run.outcomes.iter().find(|outcome| {
        let planned = outcome.planned.map(|value| value.cost);
        let best_effort = outcome.best_effort.as_ref().map(|run| run.cost);
        let front = outcome.front.iter().map(|member| member.value.cost);
        let slots = outcome.slots.iter().flat_map(|slot| {
            let [unit_price, fixed_price] = [slot.slot.unit_price, slot.slot.fixed_price];
            [
                slot.cost,
                unit_price,
                fixed_price,
                slot.refunded,
                slot.forfeited,
            ]
        });
        let advertised = outcome
            .advertised
            .iter()
            .flat_map(|offered| [offered.slot.unit_price, offered.slot.fixed_price]);
        [outcome.realised.cost, outcome.realised.wasted]
            .into_iter()
            .chain(planned)
            .chain(best_effort)
            .chain(front)
            .chain(slots)
            .chain(advertised)
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
fn write_sites(writer: &RowWriter<'_>, sites: &[SiteSummary]) -> rusqlite::Result<u64> {
    let mut insert = writer.table("workflow_site")?;
    for (place, site) in sites.iter().enumerate() {
        let load = site.load;
        insert.insert(params![
            writer.simulation(),
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

/// Writes what became of every application; returns the rows. Times but that of the submission are
/// seconds after it, as they are small then.
fn write_submissions(
    writer: &RowWriter<'_>,
    run: &ProvisioningRun,
    hypervolumes: &[Option<f64>],
) -> rusqlite::Result<u64> {
    let mut rows = 0;
    let mut insert = writer.table("workflow_submission")?;
    for (place, outcome) in run.outcomes.iter().enumerate() {
        let realised = outcome.realised;
        let best_effort = outcome.best_effort.as_ref();
        insert.insert(params![
            writer.simulation(),
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
            + write_front(writer, outcome)?
            + write_slots(writer, outcome)?
            + write_tasks(writer, outcome)?
            + write_offers(writer, outcome)?
            + write_advertised(writer, outcome)?;
    }
    Ok(rows + write_effects(writer, run)?)
}

fn write_front(writer: &RowWriter<'_>, outcome: &ProvisioningOutcome) -> rusqlite::Result<u64> {
    let mut insert = writer.table("workflow_front")?;
    for (place, member) in outcome.front.iter().enumerate() {
        insert.insert(params![
            writer.simulation(),
            outcome.submission,
            place as i64,
            member.value.cost,
            member.value.makespan.0,
            member.chosen
        ])?;
    }
    Ok(outcome.front.len() as u64)
}

fn write_slots(writer: &RowWriter<'_>, outcome: &ProvisioningOutcome) -> rusqlite::Result<u64> {
    let mut insert = writer.table("workflow_slot")?;
    for (place, bought) in outcome.slots.iter().enumerate() {
        let slot = bought.slot;
        insert.insert(params![
            writer.simulation(),
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
    Ok(outcome.slots.len() as u64 + write_returns(writer, outcome)?)
}

/// Writes what was paid back of slots that were given back, and what was not; returns the rows.
fn write_returns(writer: &RowWriter<'_>, outcome: &ProvisioningOutcome) -> rusqlite::Result<u64> {
    let mut rows = 0;
    let mut insert = writer.table("workflow_slot_return")?;
    for (place, bought) in outcome.slots.iter().enumerate() {
        if bought.refunded != 0.0 || bought.forfeited != 0.0 {
            insert.insert(params![
                writer.simulation(),
                outcome.submission,
                place as i64,
                bought.refunded,
                bought.forfeited
            ])?;
            rows += 1;
        }
    }
    Ok(rows)
}

fn write_tasks(writer: &RowWriter<'_>, outcome: &ProvisioningOutcome) -> rusqlite::Result<u64> {
    let mut insert = writer.table("workflow_task")?;
    for (place, run) in outcome.tasks.iter().enumerate() {
        insert.insert(params![
            writer.simulation(),
            outcome.submission,
            place as i64,
            run.task,
            run.site as i64,
            run.nodes.0,
            after(outcome, run.start),
            after(outcome, run.end),
            run.slot,
            run.fate as i64
        ])?;
    }
    Ok(outcome.tasks.len() as u64)
}

fn write_effects(writer: &RowWriter<'_>, run: &ProvisioningRun) -> rusqlite::Result<u64> {
    let mut insert = writer.table("workflow_effect")?;
    for (place, effect) in run.effects.iter().enumerate() {
        insert.insert(params![
            writer.simulation(),
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
    fn fates_of_tasks_keep_their_codes() {
        let names = TaskFate::ALL.iter().map(|fate| fate.name());
        assert!(names.eq(["done", "lost", "abandoned", "stopped"]));
    }
}
