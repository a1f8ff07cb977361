//! What the machines of a simulation held over time, as counts of nodes: the plan of machines that
//! do not say which nodes, read off what is stored of their jobs and reservations.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Store, StoreError};
use crate::tables::{HELD_COLUMNS, MACHINE_COLUMNS, Outcomes};
use crate::units::{Nodes, Seconds};

/// One machine of a simulation and all that it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineUse {
    /// What it is called: `machine`, `cluster 2`, `site 1`.
    pub name: String,
    /// Its size.
    pub nodes: Nodes,
    /// What it held, in any order.
    pub held: Vec<Held>,
}

/// Nodes that were held from `start` on, up to and without `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// By what, in the plural: `jobs`, `reservations`.
    pub kind: Arc<str>,
    /// First second.
    pub start: Seconds,
    /// First second after it.
    pub end: Seconds,
    /// How many.
    pub nodes: Nodes,
}

impl Held {
    /// What a machine's own jobs are called.
    pub const JOBS: &str = "jobs";
}

/// One machine of the size of the workload's.
const MACHINE: &str = "SELECT m.id, 0, 'machine', m.spec ->> '$.workload.nodes' FROM simulation m";

/// The jobs of one machine: of those that started anew, the last time.
const JOBS: &str = "SELECT j.simulation, 0, 'jobs', j.start, j.\"end\", j.nodes FROM v_job j";

impl Store {
    /// What each machine of a simulation of this strategy held, in the order of the machines.
    /// Nothing is known of one that was stored without outcomes.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn held_by_machines(
        &self,
        strategy: &str,
        simulation: i64,
    ) -> Result<Vec<MachineUse>, StoreError> {
        let study = self.studies.of_strategy(strategy);
        let outcomes = study.map_or(Outcomes::NONE, |study| study.tables().outcomes);
        let machines = outcomes.machines.unwrap_or(MACHINE);
        let held = outcomes.held.unwrap_or(JOBS);
        let read = || -> rusqlite::Result<Vec<MachineUse>> {
            let mut found: BTreeMap<i64, MachineUse> = BTreeMap::new();
            let mut statement = self.connection.prepare(&question(
                &MACHINE_COLUMNS,
                machines,
                "machine, name, nodes",
            ))?;
            let mut rows = statement.query([simulation])?;
            while let Some(row) = rows.next()? {
                let machine = MachineUse {
                    name: row.get(1)?,
                    nodes: Nodes(row.get(2)?),
                    held: Vec::new(),
                };
                found.insert(row.get(0)?, machine);
            }
            let wanted = "machine, kind, start, \"end\", nodes";
            let text = question(&HELD_COLUMNS, held, wanted);
            let mut statement = self.connection.prepare(&format!(
                "{text} AND start IS NOT NULL AND \"end\" IS NOT NULL"
            ))?;
            let mut kinds: Vec<Arc<str>> = Vec::new();
            let mut rows = statement.query([simulation])?;
            while let Some(row) = rows.next()? {
                let kind = row.get_ref(1)?.as_str()?;
                let known = kinds.iter().find(|known| ***known == *kind).cloned();
                let kind = known.unwrap_or_else(|| {
                    kinds.push(kind.into());
                    kinds[kinds.len() - 1].clone()
                });
                if let Some(machine) = found.get_mut(&row.get(0)?) {
                    machine.held.push(Held {
                        kind,
                        start: Seconds(row.get(2)?),
                        end: Seconds(row.get(3)?),
                        nodes: Nodes(row.get(4)?),
                    });
                }
            }
            Ok(found.into_values().collect())
        };
        read().map_err(|error| self.error("reading what machines held", error))
    }
}

/// What a query with these columns has of one simulation.
fn question(columns: &[&str], query: &str, wanted: &str) -> String {
    let named: Vec<String> = (columns.iter())
        .map(|column| format!("\"{column}\""))
        .collect();
    format!(
        "WITH own ({}) AS ({query}) SELECT {wanted} FROM own WHERE simulation = ?1",
        named.join(", ")
    )
}
