//! Whether a store still says what was written into it: pages, references, counts and digests.

mod findings;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::tables::{definitions, empty, layout};
use super::{RunId, Store, StoreError};
use crate::study::Studies;
use crate::tables::{Digests, Kind, Shared, Tables};

pub use findings::{Finding, Verification};

impl Store {
    /// Looks through the whole store: SQLite's own check, references, counts, and every digest.
    ///
    /// # Errors
    ///
    /// When the store cannot be read for another reason than damage, which is among the findings.
    pub fn verify(&self) -> Result<Verification, StoreError> {
        let mut verifier = Verifier::new(self.studies, &self.path)?;
        let seen = verifier
            .pages(&self.connection)
            .and_then(|()| verifier.everything(&self.connection));
        let mut found = verifier.found;
        match seen {
            Ok(()) => {}
            Err(StoreError::Damaged { reason, .. }) => {
                found.findings.push(Finding::File { said: reason });
            }
            Err(other) => return Err(other),
        }
        Ok(found)
    }

    /// Looks through what a run shows: counts and digests of its simulations, of their workloads,
    /// and of its places and axes.
    ///
    /// # Errors
    ///
    /// When the store cannot be read, or when something is not as it was written.
    pub fn verify_run(&self, run: RunId) -> Result<Verification, StoreError> {
        let mut verifier = Verifier::new(self.studies, &self.path)?;
        verifier.lookups(&self.connection)?;
        verifier.run(&self.connection, run.0)?;
        verifier.sound()?;
        Ok(verifier.found)
    }
}

/// Looks through one store, at nothing twice.
pub(super) struct Verifier<'p> {
    studies: Studies,
    path: &'p Path,
    tables: &'static Tables,
    digests: Digests<'static>,
    shared: Vec<SharedRows>,
    simulations: HashSet<i64>,
    found: Verification,
}

/// Numbered tables whose rows come with runs and with newer programs.
const GROWING: [&str; 8] = [
    "measure",
    "point",
    "run",
    "run_gone",
    "simulation",
    "strategy",
    "virtual_background",
    "workload",
];

/// Rows that simulations share.
struct SharedRows {
    of: Shared,
    /// The question for those of one simulation.
    of_simulation: String,
    seen: HashSet<i64>,
}

impl<'p> Verifier<'p> {
    pub(super) fn new(studies: Studies, path: &'p Path) -> Result<Self, StoreError> {
        let tables = &layout(studies)
            .map_err(|error| StoreError::from_sql(path, "making its tables", error))?
            .tables;
        let shared = definitions(studies)
            .flat_map(|tables| tables.shared)
            .filter_map(|of| {
                Some(SharedRows {
                    of: *of,
                    of_simulation: of_simulation(tables, of.table)?,
                    seen: HashSet::new(),
                })
            })
            .collect();
        Ok(Self {
            studies,
            path,
            tables,
            digests: Digests::new(tables),
            shared,
            simulations: HashSet::new(),
            found: Verification::default(),
        })
    }

    /// An error where something was found.
    pub(super) fn sound(&self) -> Result<(), StoreError> {
        match self.found.findings.split_first() {
            None => Ok(()),
            Some((first, others)) => Err(StoreError::Unsound {
                path: self.path.to_owned(),
                first: first.to_string(),
                others: others.len(),
            }),
        }
    }

    fn sql(&self) -> impl Fn(rusqlite::Error) -> StoreError + use<'p> {
        let path = self.path;
        move |error| StoreError::from_reading(path, "comparing its rows with their digests", error)
    }

    /// SQLite's own check, and references.
    fn pages(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let sql = self.sql();
        let said: Vec<String> = connection
            .prepare("PRAGMA integrity_check(20)")
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .map_err(&sql)?;
        let said = said.into_iter().filter(|line| line != "ok");
        (self.found.findings).extend(said.map(|said| Finding::File { said }));
        let mut orphans: BTreeMap<(String, String), u64> = BTreeMap::new();
        let mut statement = connection
            .prepare("PRAGMA foreign_key_check")
            .map_err(&sql)?;
        let mut rows = statement.query([]).map_err(&sql)?;
        while let Some(row) = rows.next().map_err(&sql)? {
            let key = (row.get(0).map_err(&sql)?, row.get(2).map_err(&sql)?);
            *orphans.entry(key).or_default() += 1;
        }
        let orphans = orphans.into_iter();
        self.found
            .findings
            .extend(orphans.map(|((table, parent), rows)| Finding::Orphans {
                table,
                parent,
                rows,
            }));
        Ok(())
    }

    /// Compares the rows of lookup tables with those of the program, which are the same in every
    /// store of this version.
    pub(super) fn lookups(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let sql = self.sql();
        let made = empty(self.studies).map_err(&sql)?;
        let lookups = self.tables.0.iter().filter(|table| {
            matches!(table.kind, Kind::Numbered { .. })
                && !GROWING.contains(&table.name.as_str())
                && table.refers.iter().all(Option::is_none)
        });
        for table in lookups {
            let all = |connection: &Connection| -> rusqlite::Result<BTreeMap<i64, Vec<Value>>> {
                let select = format!("SELECT {} FROM \"{}\"", table.all_columns(), table.name);
                let mut statement = connection.prepare(&select)?;
                let rows = statement.query_map([], |row| {
                    let values: rusqlite::Result<Vec<Value>> = (0..table.columns.len())
                        .map(|column| row.get(column))
                        .collect();
                    Ok((row.get(table.key[0])?, values?))
                })?;
                rows.collect()
            };
            let rows = all(connection).map_err(&sql)?;
            for (code, row) in all(&made).map_err(&sql)? {
                if rows.get(&code) != Some(&row) {
                    self.found.findings.push(Finding::Changed {
                        of: format!("the row {code} of `{}`", table.name),
                        what: "every store of this version has another one",
                    });
                }
            }
        }
        Ok(())
    }

    fn everything(&mut self, connection: &Connection) -> Result<(), StoreError> {
        self.lookups(connection)?;
        for simulation in self.numbers(connection, "SELECT id FROM simulation ORDER BY id", [])? {
            self.simulation(connection, simulation)?;
        }
        for place in 0..self.shared.len() {
            let all = format!(
                "SELECT id FROM \"{}\" ORDER BY id",
                self.shared[place].of.table
            );
            for number in self.numbers(connection, &all, [])? {
                self.shared(connection, place, number)?;
            }
        }
        for run in self.numbers(connection, "SELECT id FROM run ORDER BY id", [])? {
            self.places(connection, run)?;
        }
        Ok(())
    }

    /// What a run shows.
    pub(super) fn run(&mut self, connection: &Connection, run: i64) -> Result<(), StoreError> {
        let shown = "SELECT DISTINCT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = ?1";
        for simulation in self.numbers(connection, shown, [run])? {
            self.simulation(connection, simulation)?;
            for place in 0..self.shared.len() {
                let of_simulation = self.shared[place].of_simulation.clone();
                for number in self.numbers(connection, &of_simulation, [simulation])? {
                    self.shared(connection, place, number)?;
                }
            }
        }
        self.places(connection, run)
    }

    fn numbers<const N: usize>(
        &self,
        connection: &Connection,
        sql: &str,
        of: [i64; N],
    ) -> Result<Vec<i64>, StoreError> {
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement
                    .query_map(params_from_iter(of), |row| row.get(0))?
                    .collect()
            })
            .map_err(self.sql())
    }

    fn simulation(&mut self, connection: &Connection, number: i64) -> Result<(), StoreError> {
        if !self.simulations.insert(number) {
            return Ok(());
        }
        let sql = self.sql();
        // What refers to no simulation is found by the check of references.
        let Some(row) = SimulationRow::read(connection, number).map_err(&sql)? else {
            return Ok(());
        };
        let of = format!("simulation {number} ({})", short(&row.identity));
        let findings = &mut self.found.findings;
        if (row.is_done && !row.is_over) || (row.digest.is_some() && !row.is_done) {
            findings.push(Finding::Changed {
                of: of.clone(),
                what: "its state, its error and its digest contradict each other",
            });
        }
        if !row.is_done {
            return Ok(());
        }
        for (table, expected, found) in row.counts {
            if expected != found {
                findings.push(Finding::Count {
                    table: table.to_owned(),
                    of: of.clone(),
                    expected,
                    found,
                });
            }
        }
        let Some(digest) = row.digest else {
            self.found.simulations_without_digest += 1;
            return Ok(());
        };
        self.found.simulations += 1;
        let rows = self.digests.of_simulation(connection, number);
        if rows.map_err(&sql)?.text() != digest {
            self.found.findings.push(Finding::Changed {
                of,
                what: "its rows have another digest than was stored with them",
            });
        }
        Ok(())
    }

    /// Compares shared rows with their identity, which is the hash of what they say.
    fn shared(
        &mut self,
        connection: &Connection,
        place: usize,
        number: i64,
    ) -> Result<(), StoreError> {
        let sql = self.sql();
        let shared = &mut self.shared[place];
        if !shared.seen.insert(number) {
            return Ok(());
        }
        let Shared {
            table,
            parts,
            identity,
        } = shared.of;
        let owner = self.tables.owner(parts).unwrap_or("id");
        let found: Option<(String, i64, i64)> = connection
            .prepare_cached(&format!(
                "SELECT identity, jobs, (SELECT count(*) FROM \"{parts}\" p WHERE p.\"{owner}\" = s.id)
                 FROM \"{table}\" s WHERE id = ?1"
            ))
            .and_then(|mut statement| {
                statement
                    .query_row([number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                    .optional()
            })
            .map_err(&sql)?;
        let Some((known, expected, count)) = found else {
            return Ok(());
        };
        self.found.shared += 1;
        let of = format!("{} {number} ({})", table.replace('_', " "), short(&known));
        let finding = if count != expected {
            Finding::Count {
                table: parts.to_owned(),
                of,
                expected,
                found: count,
            }
        } else if identity(connection, number).map_err(&sql)? != known {
            Finding::Changed {
                of,
                what: "its identity is not the hash of its rows",
            }
        } else {
            return Ok(());
        };
        self.found.findings.push(finding);
        Ok(())
    }

    /// Compares a run's places, points and axes with its digest.
    fn places(&mut self, connection: &Connection, run: i64) -> Result<(), StoreError> {
        let sql = self.sql();
        let row: Option<(String, Option<String>)> = connection
            .prepare_cached("SELECT name, digest FROM run WHERE id = ?1")
            .and_then(|mut statement| {
                statement
                    .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()
            })
            .map_err(&sql)?;
        let Some((name, digest)) = row else {
            return Ok(());
        };
        let Some(digest) = digest else {
            self.found.runs_without_digest += 1;
            return Ok(());
        };
        self.found.runs += 1;
        let rows = self.digests.of_run(connection, run).map_err(&sql)?;
        if rows.text() != digest {
            self.found.findings.push(Finding::Changed {
                of: format!("run {run} (`{name}`)"),
                what: "its settings, places, points or axes have another digest than was stored with them",
            });
        }
        Ok(())
    }
}

/// What a simulation's own row says, and the numbers of its rows: the table, how many there should
/// be, and how many there are.
struct SimulationRow {
    identity: String,
    digest: Option<String>,
    is_done: bool,
    /// Whether it says no error and no process that has it under way.
    is_over: bool,
    counts: [(&'static str, i64, i64); 3],
}

impl SimulationRow {
    fn read(connection: &Connection, number: i64) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT m.identity, m.digest, m.state = 2,
                    m.error IS NULL AND m.running_since IS NULL AND m.running_in IS NULL,
                    (SELECT count(*) FROM simulation_metrics t WHERE t.simulation = m.id),
                    (SELECT count(*) FROM simulation_timing t WHERE t.simulation = m.id),
                    coalesce(w.jobs, 0), (SELECT count(*) FROM job_outcome o WHERE o.simulation = m.id)
                 FROM simulation m LEFT JOIN workload w ON w.id = m.workload WHERE m.id = ?1",
            )?
            .query_row([number], |row| {
                Ok(Self {
                    identity: row.get(0)?,
                    digest: row.get(1)?,
                    is_done: row.get(2)?,
                    is_over: row.get(3)?,
                    counts: [
                        ("simulation_metrics", 1, row.get(4)?),
                        ("simulation_timing", 1, row.get(5)?),
                        ("job_outcome", row.get(6)?, row.get(7)?),
                    ],
                })
            })
            .optional()
    }
}

/// The question for the numbers of the rows in a table that a simulation's rows name; none where
/// they name no such rows.
fn of_simulation(tables: &Tables, table: &str) -> Option<String> {
    let wanted = tables.find(table)?;
    let simulation = tables.place("simulation");
    tables.0.iter().enumerate().find_map(|(place, shape)| {
        let owner = match shape.kind {
            Kind::Numbered { .. } if place == simulation => shape.key[0],
            Kind::Part { of, column } if of == simulation => column,
            _ => return None,
        };
        let column = shape.refers.iter().position(|of| *of == Some(wanted))?;
        Some(format!(
            "SELECT \"{0}\" FROM \"{1}\" WHERE \"{2}\" = ?1 AND \"{0}\" IS NOT NULL",
            shape.columns[column], shape.name, shape.columns[owner]
        ))
    })
}

/// The first digits of an identity.
fn short(identity: &str) -> &str {
    identity.get(..12).unwrap_or(identity)
}
