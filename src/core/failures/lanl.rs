//! Replay of the failure table of Los Alamos, LA-UR-05-7318 (Birkenheuer 2012, §5.1.1).
//!
//! # What is taken from the table
//!
//! A comma-separated file with a header line, plain, gzip or xz; lines before the header are
//! titles. Columns are found by name: `System`, `nodes` (of the system), `nodenumz` (the node, from
//! 0), `Prob Started`, `Prob Fixed` (m/d/yyyy h:mm). All failures of a node count, whatever their
//! cause. Rows of the chosen systems without one of the two times are left out and counted;
//! anything else that makes no sense is an error. The times are local times of Los Alamos without
//! daylight saving: the hour that a change of the clocks adds to or takes from a span is ignored.
//!
//! # The failure clock
//!
//! Every system has its own clock, whose time 0 is the start of its first recorded failure. System
//! 19 went into production five months after system 18; on a common calendar its nodes would seem
//! never to fail in that time. After the last recorded repair of a system its table starts again
//! from the beginning: a run longer than the 3.3 years of system 18 or the 2.9 years of system 19
//! meets the same failures again.
//!
//! # The nodes
//!
//! The systems' nodes are numbered one after the other in the order in which the systems are
//! chosen: with systems 18 and 19, nodes 0–1023 and 1024–2047. Node 2048 is node 0 again, and fails
//! at the same times.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{FailureError, FailureTrace, Outage};
use crate::memory::MemoryBudget;
use crate::units::{NodeIndex, Nodes, Seconds};
use crate::workload::input_file;

mod log;
mod parse;

pub use log::{Cause, FailureLog, FailureRecord};

/// The failures of the chosen systems, parsed once and replayed for any machine, offset and
/// horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct LanlTable {
    systems: Vec<LanlSystem>,
}

/// The failures of one system of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct LanlSystem {
    /// The system's number in the table.
    pub number: u32,
    /// How many nodes it has.
    pub nodes: Nodes,
    /// Failures with both times.
    pub records: u64,
    /// Rows left out because the start or the repair is missing.
    pub missing_times: u64,
    /// From the start of the first to the start of the last failure: the observed span.
    pub observed: Seconds,
    /// From the start of the first failure to the last repair: then the table starts again.
    pub period: Seconds,
    /// Sum of the down-times of all failures (overlapping ones of a node count twice).
    pub down_time: Seconds,
    /// By node: the outages in seconds of the system's clock, merged and in order.
    outages: Vec<Vec<(i64, i64)>>,
}

impl LanlTable {
    /// Reads the failures of these systems from a file; gzip and xz are recognised by their first
    /// bytes.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is too large, has no header, has a row that makes no sense,
    /// or knows nothing of a system.
    pub fn read(file: &Path, systems: &[u32], memory: MemoryBudget) -> Result<Self, FailureError> {
        let text = input_file::read_whole(file, memory).map_err(|source| FailureError::Read {
            file: file.to_owned(),
            source,
        })?;
        Self::parse(&text, file, systems)
    }

    /// Reads the failures of these systems from the text of the table; `file` is named in errors.
    ///
    /// # Errors
    ///
    /// As for [`Self::read`].
    pub fn parse(text: &[u8], file: &Path, systems: &[u32]) -> Result<Self, FailureError> {
        if systems.is_empty() || systems.iter().collect::<BTreeSet<_>>().len() < systems.len() {
            return Err(FailureError::Parameter {
                key: "systems",
                allowed: "a list of different system numbers, such as [18, 19]",
                found: format!("{systems:?}"),
            });
        }
        let mut rows = parse::rows_by_system(text, file, systems)?;
        let present: Vec<u32> = rows.keys().copied().collect();
        let absent = |system| FailureError::SystemAbsent {
            file: file.to_owned(),
            system,
            present: present.clone(),
        };
        let systems = systems.iter().map(|&number| {
            let rows = rows.remove(&number).filter(|rows| !rows.is_empty());
            Ok(rows.ok_or_else(|| absent(number))?.system(number))
        });
        let systems = systems.collect::<Result<Vec<LanlSystem>, FailureError>>()?;
        // A table is repeated until a simulation ends: one of a second would be repeated millions
        // of times.
        if let Some(system) = (systems.iter()).find(|system| system.period < SHORTEST_PERIOD) {
            return Err(FailureError::Parameter {
                key: "systems",
                allowed: "a list of systems whose failures last a minute or more from the first failure to the last repair",
                found: format!("system {} with {}", system.number, system.period),
            });
        }
        Ok(Self { systems })
    }

    /// The failures that a machine of `nodes` nodes meets from `offset` of the failure clock on
    /// . A negative offset is a lead-in in which nothing fails, before the clock begins.
    ///
    /// Holds every failure before `horizon` with its repair, which may come later; nodes that are
    /// down at `offset` fail at time 0. A larger machine or a later horizon does not change the
    /// earlier events of the same nodes. The table is repeated until the horizon, so that must be
    /// one that a simulation can reach, not [`Seconds::FAR`].
    #[must_use]
    pub fn trace(&self, nodes: Nodes, offset: Seconds, horizon: Seconds) -> FailureTrace {
        let places: Vec<(&LanlSystem, usize)> = self
            .systems
            .iter()
            .flat_map(|system| (0..system.outages.len()).map(move |node| (system, node)))
            .collect();
        let mut outages = Vec::new();
        for (node, &(system, place)) in (0..nodes.0).map(NodeIndex).zip(places.iter().cycle()) {
            let list = &system.outages[place];
            if list.is_empty() {
                continue;
            }
            let mut base = offset.0.max(0).div_euclid(system.period.0) * system.period.0 - offset.0;
            // An outage never crosses the end of its table, so whatever is down at the offset is in
            // this period.
            'node: loop {
                for &(start, end) in list {
                    if base + start >= horizon.0 {
                        break 'node;
                    }
                    if base + end > 0 {
                        outages.push(Outage {
                            node,
                            start: Seconds((base + start).max(0)),
                            end: Seconds(base + end),
                        });
                    }
                }
                base += system.period.0;
            }
        }
        FailureTrace::from_outages(outages)
            .expect("outages of the table end after they begin, checked when it was read")
    }
}

/// The shortest table that is repeated.
const SHORTEST_PERIOD: Seconds = Seconds(60);

/// Finds the table: the name as it stands, then in `folder`; each also with `.gz` or `.xz` added or
/// taken away.
///
/// # Errors
///
/// When it is nowhere; the error says where it was looked for.
pub fn find_table(file: &str, folder: Option<&Path>) -> Result<PathBuf, FailureError> {
    let bare = file
        .strip_suffix(".gz")
        .or_else(|| file.strip_suffix(".xz"))
        .unwrap_or(file);
    let mut names = vec![file.to_owned()];
    names.extend(["", ".gz", ".xz"].map(|suffix| format!("{bare}{suffix}")));
    let mut looked_for = Vec::new();
    for place in [Some(Path::new("")), folder].into_iter().flatten() {
        for path in names.iter().map(|name| place.join(name)) {
            if !looked_for.contains(&path) {
                looked_for.push(path);
            }
        }
    }
    if let Some(found) = input_file::first_there(&looked_for) {
        return Ok(found.clone());
    }
    Err(FailureError::TableMissing {
        file: file.to_owned(),
        looked_for,
    })
}

#[cfg(test)]
mod tests;
