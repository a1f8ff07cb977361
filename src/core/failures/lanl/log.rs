//! The whole table LA-UR-05-7318 as a log of failures: every system, every row, with its cause.
//!
//! Unlike [`super::LanlTable`], which replays a few systems and must therefore know every outage, a
//! log is looked at: rows without a node or a start are left out and counted. The table names no
//! racks.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::parse::{HEADER_LINES, calendar_seconds, header_error};
use crate::failures::FailureError;
use crate::memory::MemoryBudget;
use crate::workload::input_file;

/// The category that a failure is blamed on (columns `Facilities` to `Software`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Power, cooling and their like.
    Facilities,
    /// Hardware.
    Hardware,
    /// Human error.
    HumanError,
    /// Network.
    Network,
    /// Looked for and not found.
    Undetermined,
    /// Software.
    Software,
}

/// The columns of causes and what they mean.
const CAUSES: [(&str, Cause); 6] = [
    ("Facilities", Cause::Facilities),
    ("Hardware", Cause::Hardware),
    ("Human Error", Cause::HumanError),
    ("Network", Cause::Network),
    ("Undetermined", Cause::Undetermined),
    ("Software", Cause::Software),
];

/// One failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureRecord {
    /// The system's number in the table.
    pub system: u32,
    /// The node, from 0.
    pub node: u32,
    /// When it began, in seconds of the local calendar from 1970 on.
    pub start: i64,
    /// When it was repaired, if that is known.
    pub repaired: Option<i64>,
    /// What it is blamed on; `None` where all columns are empty.
    pub cause: Option<Cause>,
}

/// The failures of all systems of a table, in order of (system, start, node).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureLog {
    /// The failures.
    pub records: Vec<FailureRecord>,
    /// The nodes that each system has.
    pub nodes: BTreeMap<u32, u32>,
    /// Rows that were left out, as they have no node or no start.
    pub incomplete: u64,
}

impl FailureLog {
    /// Reads the table; gzip and xz are recognised by their first bytes.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is too large, has no header, or has a row that makes no
    /// sense.
    pub fn read(file: &Path, memory: MemoryBudget) -> Result<Self, FailureError> {
        let text = input_file::read_whole(file, memory).map_err(|source| FailureError::Read {
            file: file.to_owned(),
            source,
        })?;
        Self::parse(&text, file)
    }

    /// Reads the text of the table; `file` is named in errors.
    ///
    /// # Errors
    ///
    /// As for [`Self::read`].
    pub fn parse(text: &[u8], file: &Path) -> Result<Self, FailureError> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(text);
        let mut log = Self {
            records: Vec::new(),
            nodes: BTreeMap::new(),
            incomplete: 0,
        };
        let mut columns: Option<Columns> = None;
        let mut record = csv::ByteRecord::new();
        let mut line = 0;
        loop {
            let fault = |line, problem| FailureError::Row {
                file: file.to_owned(),
                line,
                problem,
            };
            let more = reader.read_byte_record(&mut record);
            line = record.position().map_or(line + 1, csv::Position::line);
            if !more.map_err(|error| fault(line, error.to_string()))? {
                break;
            }
            match &columns {
                None => {
                    columns = Columns::find(&record);
                    if columns.is_none() && line >= HEADER_LINES {
                        return Err(header_error(&record, file, line));
                    }
                }
                Some(columns) => {
                    (log.add(columns, &record)).map_err(|problem| fault(line, problem))?;
                }
            }
        }
        if columns.is_none() {
            return Err(header_error(&record, file, line));
        }
        log.records
            .sort_by_key(|record| (record.system, record.start, record.node));
        Ok(log)
    }

    /// The same log with the failures of these systems only.
    #[must_use]
    pub fn of_systems(mut self, systems: &[u32]) -> Self {
        self.records
            .retain(|record| systems.contains(&record.system));
        self.nodes.retain(|system, _| systems.contains(system));
        self
    }

    fn add(&mut self, columns: &Columns, record: &csv::ByteRecord) -> Result<(), String> {
        let field = |place: usize| {
            let bytes = record.get(place).unwrap_or_default();
            String::from_utf8_lossy(bytes.trim_ascii()).into_owned()
        };
        let number = |place: usize| {
            let text = field(place);
            let number = text.parse::<u32>();
            number.map_err(|_| format!("should have a whole number, but has `{text}`"))
        };
        let time = |text: String| match calendar_seconds(&text) {
            _ if text.is_empty() => Ok(None),
            None => Err(format!(
                "should have a time as m/d/yyyy h:mm, but has `{text}`"
            )),
            time => Ok(time),
        };
        let [system, nodes, node, start, repaired] = columns.places;
        let started = time(field(start))?;
        if field(nodes).is_empty() || field(node).is_empty() {
            self.incomplete += 1;
            return Ok(());
        }
        let Some(start) = started else {
            self.incomplete += 1;
            return Ok(());
        };
        let (system, nodes, node) = (number(system)?, number(nodes)?, number(node)?);
        let repaired = time(field(repaired))?.filter(|repaired| *repaired >= start);
        let known = self.nodes.entry(system).or_default();
        *known = (*known).max(nodes).max(node.saturating_add(1));
        let blamed = |&&(place, _): &&(usize, Cause)| !field(place).is_empty();
        self.records.push(FailureRecord {
            system,
            node,
            start,
            repaired,
            cause: columns.causes.iter().find(blamed).map(|&(_, cause)| cause),
        });
        Ok(())
    }
}

/// Positions of the columns.
struct Columns {
    /// System, nodes, node, start, repair.
    places: [usize; 5],
    causes: Vec<(usize, Cause)>,
}

impl Columns {
    fn find(record: &csv::ByteRecord) -> Option<Self> {
        let place = |name: &str| {
            let is_name = |field: &[u8]| field.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            record.iter().position(is_name)
        };
        let mut places = [0; 5];
        for (slot, name) in places.iter_mut().zip(super::parse::COLUMN_NAMES) {
            *slot = place(name)?;
        }
        let causes = CAUSES
            .iter()
            .filter_map(|&(name, cause)| Some((place(name)?, cause)))
            .collect();
        Some(Self { places, causes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "System,nodes,nodenumz,Prob Started,Prob Fixed,Hardware,Software\n";

    fn parse(rows: &str) -> Result<FailureLog, FailureError> {
        let text = format!("a title\n{HEADER}{rows}");
        FailureLog::parse(text.as_bytes(), Path::new("table.csv"))
    }

    #[test]
    fn rows_are_sorted_by_system_and_time_and_know_their_cause() {
        let log = parse(
            "7,2,1,1/1/2000 0:30,1/1/2000 0:40,,Kernel\n\
             5,3,0,1/1/2000 1:00,,,\n\
             5,3,2,1/1/2000 0:10,1/1/2000 0:20,CPU,\n",
        )
        .unwrap();
        let seen: Vec<_> = log
            .records
            .iter()
            .map(|record| (record.system, record.node, record.cause))
            .collect();
        assert_eq!(
            seen,
            [
                (5, 2, Some(Cause::Hardware)),
                (5, 0, None),
                (7, 1, Some(Cause::Software))
            ]
        );
        assert_eq!(log.records[0].repaired, Some(log.records[0].start + 600));
        assert_eq!(log.records[1].repaired, None);
        assert_eq!(log.nodes, BTreeMap::from([(5, 3), (7, 2)]));
        assert_eq!(log.of_systems(&[7]).records.len(), 1);
    }

    #[test]
    fn rows_without_a_node_or_a_start_are_counted_and_nonsense_is_an_error() {
        let log = parse(
            "17,,,1/1/2000 0:30,1/1/2000 0:40,,\n5,3,0,,1/1/2000 0:40,,\n5,3,1,1/1/2000 0:30,,,\n",
        );
        let log = log.unwrap();
        assert_eq!((log.incomplete, log.records.len()), (2, 1));
        let error = parse("5,3,x,1/1/2000 0:30,,,\n").unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("`x`"), "{error}");
        assert!(parse("5,3,1,yesterday,,,\n").is_err());
    }
}
