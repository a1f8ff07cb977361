//! What a run read: its inputs, what cleaning dropped of them, and earlier runs that it goes on
//! from.

use std::collections::BTreeMap;

use crate::store::runs::hex_digest;
use crate::store::{InputRemark, RecordLoss, RunId, SimulatedMachine, Store, StoreError};
use crate::study::inputs::remarks_on;
use crate::units::Nodes;

impl Store {
    /// How many inputs (jobs, replayed failures) a run read, and a hash of their contents: two runs
    /// with the same hash read the same. `None` for runs of stores that did not keep it.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn inputs_digest(&self, run: RunId) -> Result<Option<(usize, String)>, StoreError> {
        let contents: Vec<String> = self
            .connection
            .prepare("SELECT content FROM run_input WHERE run = ?1 ORDER BY content")
            .and_then(|mut statement| {
                statement
                    .query_map([run.0], |row| row.get(0))
                    .and_then(Iterator::collect)
            })
            .map_err(|error| self.error("reading what a run read", error))?;
        let digest = hex_digest(contents.join("\n").as_bytes());
        Ok((!contents.is_empty()).then_some((contents.len(), digest)))
    }

    /// What a run read, in order: for people, and as a hash of its content. Empty for runs of
    /// stores that did not keep it.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn inputs(&self, run: RunId) -> Result<Vec<(String, String)>, StoreError> {
        self.connection
            .prepare(
                "SELECT source, content FROM run_input WHERE run = ?1 ORDER BY source, content",
            )
            .and_then(|mut statement| {
                statement
                    .query_map([run.0], |row| Ok((row.get(0)?, row.get(1)?)))
                    .and_then(Iterator::collect)
            })
            .map_err(|error| self.error("reading what a run read", error))
    }

    /// What cleaning dropped of the workloads of a run, by workload; nothing for runs of stores
    /// that did not keep it.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn record_losses(&self, run: RunId) -> Result<Vec<RecordLoss>, StoreError> {
        let sql = |error| self.error("reading what cleaning dropped", error);
        let mut statement = self
            .connection
            .prepare("SELECT workload, records, rule, dropped FROM run_loss WHERE run = ?1 ORDER BY workload, rule")
            .map_err(sql)?;
        let mut rows = statement.query([run.0]).map_err(sql)?;
        let mut losses: Vec<RecordLoss> = Vec::new();
        while let Some(row) = rows.next().map_err(sql)? {
            let workload: String = row.get(0).map_err(sql)?;
            let count = |column| row.get(column).map(|count: i64| count.max(0) as u64);
            let (records, dropped) = (count(1).map_err(sql)?, count(3).map_err(sql)?);
            if losses.last().is_none_or(|loss| loss.workload != workload) {
                losses.push(RecordLoss {
                    workload,
                    records,
                    dropped: BTreeMap::new(),
                });
            }
            if let Some(loss) = losses.last_mut() {
                loss.dropped.insert(row.get(2).map_err(sql)?, dropped);
            }
        }
        Ok(losses)
    }

    /// The machines of a run that a reader should know something of; nothing for runs of stores
    /// that did not keep it.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn simulated_machines(&self, run: RunId) -> Result<Vec<SimulatedMachine>, StoreError> {
        let machine = |row: &rusqlite::Row<'_>| {
            let count = |column| row.get(column).map(|count: i64| count.max(0) as u64);
            let lowest: Option<f64> = row.get(5)?;
            Ok(SimulatedMachine {
                workload: row.get(0)?,
                nodes: Nodes(row.get(1)?),
                log_nodes: row.get::<_, Option<u32>>(2)?.map(Nodes),
                jobs: count(3)?,
                too_wide: count(4)?,
                loads: lowest.zip(row.get(6)?),
            })
        };
        self.connection
            .prepare(
                "SELECT workload, nodes, log_nodes, jobs, too_wide, lowest_load, highest_load FROM run_machine
                 WHERE run = ?1 ORDER BY workload, nodes",
            )
            .and_then(|mut statement| statement.query_map([run.0], machine).and_then(Iterator::collect))
            .map_err(|error| self.error("reading what is to be known of machines", error))
    }

    /// What a reader of a run should know of what its simulations read.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn input_remarks(&self, run: RunId) -> Result<Vec<InputRemark>, StoreError> {
        let losses = self.record_losses(run)?;
        Ok(remarks_on(&losses, &self.simulated_machines(run)?))
    }

    /// How many replications earlier runs of the same experiment had that ended with fewer and some
    /// of whose results this run uses: each of them may have been looked at before it was decided
    /// to go on. Ascending, each number once.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn earlier_looks(&self, run: RunId) -> Result<Vec<u32>, StoreError> {
        let sql = |error| self.error("looking for earlier runs of an experiment", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT DISTINCT earlier.replications FROM run own JOIN run earlier
                 ON earlier.name = own.name AND earlier.id < own.id AND earlier.replications < own.replications
                 WHERE own.id = ?1 AND earlier.state <> 0 AND EXISTS (
                     SELECT 1 FROM run_point one JOIN run_point two ON two.point = one.point
                     WHERE one.run = earlier.id AND two.run = own.id)
                 ORDER BY 1",
            )
            .map_err(sql)?;
        statement
            .query_map([run.0], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(sql)
    }

    /// The names of the workloads behind the points of a run, sorted.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn workload_labels(&self, run: RunId) -> Result<Vec<String>, StoreError> {
        let sql = |error| self.error("reading the workloads of a run", error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT DISTINCT m.workload_label FROM run_point rp JOIN point p ON p.id = rp.point
                 JOIN simulation m ON m.id = p.simulation
                 WHERE rp.run = ?1 AND m.workload_label <> '' ORDER BY 1",
            )
            .map_err(sql)?;
        statement
            .query_map([run.0], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(sql)
    }
}
