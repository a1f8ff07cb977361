//! Rules by which runs stop: what a run follows, what was decided in it, and the values that
//! decisions are taken by.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::curves::quantity;
use super::runs::{axis_value, immediate};
use super::{RunId, Store, StoreError};
use crate::adaptive::Rule;
use crate::study::Studies;
use crate::sweep::{AxisValue, Decision, Identity, Sweep, Verdict, replication_order};

/// The rule of a run, as the store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRule {
    /// Whether values are selected; else replications end when intervals are narrow.
    pub selects: bool,
    /// The quantities that it reads.
    pub quantities: Vec<String>,
    /// The axes that are selected from.
    pub axes: Vec<String>,
    /// Whether smaller values are better.
    pub smallest: bool,
    /// The values that the selected ones are compared with.
    pub baseline: Option<Vec<String>>,
    /// The indifference zone, or half of the interval's width that is narrow enough.
    pub width: f64,
    /// Whether that is a share of the mean.
    pub is_relative: bool,
    /// How often the selected value is within the zone, or an interval holds the truth.
    pub probability: f64,
    /// Replications before the first decision.
    pub least: u32,
    /// Replications between two decisions.
    pub rung: u32,
    /// Replications at most, without those that confirm.
    pub most: u32,
    /// The replications that confirm a selection, by number.
    pub confirming: Vec<u32>,
    /// Replications that there are, where the best value over all of them is selected.
    pub population: Option<u32>,
}

/// A decision with the axis values of what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDecision {
    /// Its number in the run, from 1.
    pub number: u32,
    /// The axis values that it is about, in the order of the axes.
    pub axes: Vec<(String, AxisValue)>,
    /// What was decided.
    pub decision: Decision,
}

/// Lists are kept in one text, a line an element.
const SEPARATOR: &str = "\n";

impl StoredRule {
    /// The rule of a sweep, if it has one.
    fn of(sweep: &Sweep) -> Option<Self> {
        let rule = sweep.rule.as_ref()?;
        let most = rule.replications() - rule.confirming();
        let quantities = rule.quantities().to_vec();
        let confirming = replication_order(sweep).split_off(most as usize);
        let population = rule.population();
        Some(match rule {
            Rule::Stop(rule) => Self {
                selects: false,
                quantities,
                axes: Vec::new(),
                smallest: false,
                baseline: None,
                width: rule.narrow.number(),
                is_relative: rule.narrow.is_relative(),
                probability: rule.confidence,
                least: rule.least,
                rung: rule.rung,
                most,
                confirming,
                population,
            },
            Rule::Select(rule) => Self {
                selects: true,
                quantities,
                axes: rule.axes.clone(),
                smallest: rule.smallest,
                baseline: rule.baseline.clone(),
                width: rule.zone.number(),
                is_relative: rule.zone.is_relative(),
                probability: rule.probability,
                least: rule.least,
                rung: rule.rung,
                most,
                confirming,
                population,
            },
        })
    }
}

/// Keeps the rule of a run that begins, and the order of its replications.
fn begin(connection: &Connection, run: RunId, sweep: &Sweep) -> rusqlite::Result<()> {
    let Some(rule) = StoredRule::of(sweep) else {
        return Ok(());
    };
    let list = |list: &[String]| list.join(SEPARATOR);
    let kind = if rule.selects { "select" } else { "stop" };
    let goal = if rule.smallest { "smallest" } else { "largest" };
    connection.execute(
        "INSERT INTO run_rule (run, kind, quantities, axes, goal, baseline, width, is_relative, probability, least, rung,
            most, confirm, population)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        params![
            run.0,
            kind,
            list(&rule.quantities),
            rule.selects.then(|| list(&rule.axes)),
            rule.selects.then_some(goal),
            rule.baseline.as_deref().map(list),
            rule.width,
            rule.is_relative,
            rule.probability,
            rule.least,
            rule.rung,
            rule.most,
            rule.confirming.len() as i64,
            rule.population,
        ],
    )?;
    let mut insert =
        connection.prepare("INSERT INTO run_turn (run, turn, replication) VALUES (?1, ?2, ?3)")?;
    for (turn, replication) in (1..).zip(replication_order(sweep)) {
        insert.execute(params![run.0, turn, replication])?;
    }
    Ok(())
}

/// Keeps decisions behind those that the run has.
pub(super) fn write(
    connection: &Connection,
    run: RunId,
    decisions: &[Decision],
) -> rusqlite::Result<u64> {
    let last: i64 = connection.query_row(
        "SELECT coalesce(max(number), 0) FROM decision WHERE run = ?1",
        [run.0],
        |row| row.get(0),
    )?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO decision (run, number, rung, place, quantity, replications, mean, statistic, bound, verdict)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for (number, decision) in (last + 1..).zip(decisions) {
        let verdict = Verdict::ALL
            .iter()
            .position(|known| *known == decision.verdict);
        insert.execute(params![
            run.0,
            number,
            decision.rung,
            decision.place,
            decision.quantity,
            decision.replications,
            decision.mean,
            decision.statistic,
            decision.bound,
            verdict.map_or(0, |code| code as i64),
        ])?;
    }
    Ok(decisions.len() as u64)
}

/// The values of a quantity at points, in their order; `None` where one is not done or has none.
pub(super) fn values(
    studies: Studies,
    connection: &Connection,
    name: &str,
    points: &[Identity],
) -> rusqlite::Result<Vec<Option<f64>>> {
    let (value, join, own) = quantity(studies, name);
    let query = format!(
        "SELECT value FROM (
            SELECT {value} AS value, m.state FROM point p JOIN simulation m ON m.id = p.simulation
            {join} WHERE p.identity = ?1 ORDER BY m.generation DESC LIMIT 1
         ) WHERE state = 2",
    );
    let mut statement = connection.prepare_cached(&query)?;
    let value = |point: &Identity| {
        let mut parameters = vec![Value::Text(point.as_str().to_owned())];
        parameters.extend(own.iter().cloned());
        let found: Option<Option<f64>> = statement
            .query_row(params_from_iter(parameters), |row| row.get(0))
            .optional()?;
        Ok(found.flatten())
    };
    points.iter().map(value).collect()
}

impl Store {
    /// Keeps the rule of a run that begins, where it has one.
    pub(super) fn begin_rule(&self, run: RunId, sweep: &Sweep) -> Result<(), StoreError> {
        let sql = |error| self.error("beginning a run", error);
        let transaction = immediate(&self.connection).map_err(sql)?;
        begin(&transaction, run, sweep).map_err(sql)?;
        transaction.commit().map_err(sql)
    }

    /// The rule by which a run stops; `None` where every point is run.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn rule(&self, run: RunId) -> Result<Option<StoredRule>, StoreError> {
        let sql = |error| self.error("reading the rule of a run", error);
        let list = |text: Option<String>| -> Option<Vec<String>> {
            text.map(|text| text.split(SEPARATOR).map(str::to_owned).collect())
        };
        let rule = self
            .connection
            .query_row(
                "SELECT kind, quantities, axes, goal, baseline, width, is_relative, probability, least, rung, most,
                    population
                 FROM run_rule WHERE run = ?1",
                [run.0],
                |row| {
                    Ok(StoredRule {
                        selects: row.get::<_, String>(0)? == "select",
                        quantities: list(row.get(1)?).unwrap_or_default(),
                        axes: list(row.get(2)?).unwrap_or_default(),
                        smallest: row.get::<_, Option<String>>(3)?.as_deref() == Some("smallest"),
                        baseline: list(row.get(4)?),
                        width: row.get(5)?,
                        is_relative: row.get(6)?,
                        probability: row.get(7)?,
                        least: row.get(8)?,
                        rung: row.get(9)?,
                        most: row.get(10)?,
                        confirming: Vec::new(),
                        population: row.get(11)?,
                    })
                },
            )
            .optional()
            .map_err(sql)?;
        let Some(mut rule) = rule else {
            return Ok(None);
        };
        rule.confirming = self
            .connection
            .prepare("SELECT replication FROM run_turn WHERE run = ?1 AND turn > ?2 ORDER BY turn")
            .and_then(|mut statement| {
                let rows = statement.query_map(params![run.0, rule.most], |row| row.get(0))?;
                rows.collect()
            })
            .map_err(sql)?;
        Ok(Some(rule))
    }

    /// What was decided in a run, in the order of the decisions.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn decisions(&self, run: RunId) -> Result<Vec<StoredDecision>, StoreError> {
        let read = |row: &rusqlite::Row<'_>| {
            let code: i64 = row.get(8)?;
            Ok(StoredDecision {
                number: row.get(0)?,
                axes: Vec::new(),
                decision: Decision {
                    rung: row.get(1)?,
                    place: row.get(2)?,
                    quantity: row.get(3)?,
                    replications: row.get(4)?,
                    mean: row.get(5)?,
                    statistic: row.get(6)?,
                    bound: row.get(7)?,
                    verdict: Verdict::ALL
                        .get(code as usize)
                        .copied()
                        .unwrap_or(Verdict::Undefined),
                },
            })
        };
        let sql = |error| self.error("reading the decisions of a run", error);
        let mut decisions: Vec<StoredDecision> = self
            .connection
            .prepare(
                "SELECT number, rung, place, quantity, replications, mean, statistic, bound, verdict
                 FROM decision WHERE run = ?1 ORDER BY number",
            )
            .and_then(|mut statement| statement.query_map([run.0], read)?.collect())
            .map_err(sql)?;
        let mut statement = self
            .connection
            .prepare(
                "SELECT key, kind, value FROM v_point_axis WHERE run = ?1 AND place = ?2 ORDER BY axis",
            )
            .map_err(sql)?;
        let mut known: BTreeMap<u32, Vec<(String, AxisValue)>> = BTreeMap::new();
        for stored in &mut decisions {
            let axes = match known.entry(stored.decision.place) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let axes = statement
                        .query_map(params![run.0, stored.decision.place], |row| {
                            let kind: String = row.get(1)?;
                            Ok((row.get(0)?, axis_value(&kind, row.get(2)?)))
                        })
                        .and_then(Iterator::collect)
                        .map_err(sql)?;
                    entry.insert(axes)
                }
            };
            stored.axes.clone_from(axes);
        }
        Ok(decisions)
    }
}
