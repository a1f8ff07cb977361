//! The text of the LANL table: unpacking, header, rows and their times.

use std::collections::BTreeMap;
use std::path::Path;

use super::LanlSystem;
use crate::failures::FailureError;
use crate::units::{Nodes, Seconds};

/// Reads all rows; systems that were not chosen have an entry without failures.
pub(super) fn rows_by_system(
    text: &[u8],
    file: &Path,
    systems: &[u32],
) -> Result<BTreeMap<u32, SystemRows>, FailureError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text);
    let mut columns: Option<Columns> = None;
    let mut rows: BTreeMap<u32, SystemRows> = BTreeMap::new();
    let mut record = csv::ByteRecord::new();
    let mut lines = 0;
    loop {
        let row_error = |line, problem: String| FailureError::Row {
            file: file.to_owned(),
            line,
            problem,
        };
        let more = reader.read_byte_record(&mut record);
        let line = record.position().map_or(lines + 1, csv::Position::line);
        if !more.map_err(|error| row_error(line, error.to_string()))? {
            break;
        }
        lines = line;
        let Some(columns) = &columns else {
            columns = Columns::find(&record);
            if columns.is_none() && lines >= HEADER_LINES {
                return Err(header_error(&record, file, lines));
            }
            continue;
        };
        let row = columns
            .row(&record, systems)
            .map_err(|problem| row_error(line, problem))?;
        let entry = rows.entry(row.system).or_default();
        if let Some(failure) = row.failure {
            entry
                .add(failure)
                .map_err(|problem| row_error(line, problem))?;
        }
    }
    if columns.is_none() {
        return Err(header_error(&record, file, lines));
    }
    Ok(rows)
}

/// How many lines may be titles before the header.
pub(super) const HEADER_LINES: u64 = 20;

/// Nodes of a system at most: each has a list of its outages, whether it has any or not.
const MOST_NODES: u32 = 1_000_000;

/// Names of the columns that are used, as [`Columns`] holds them.
pub(super) const COLUMN_NAMES: [&str; 5] =
    ["System", "nodes", "nodenumz", "Prob Started", "Prob Fixed"];

/// Positions of the columns.
struct Columns {
    places: [usize; 5],
    count: usize,
}

/// What one row says.
struct Row {
    system: u32,
    /// Only for the chosen systems.
    failure: Option<Failure>,
}

struct Failure {
    nodes: u32,
    node: u32,
    /// Start and repair in seconds of the calendar, if both are there.
    times: Option<(i64, i64)>,
}

impl Columns {
    fn find(record: &csv::ByteRecord) -> Option<Self> {
        let place = |name: &str| {
            record
                .iter()
                .position(|field| field.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
        };
        let mut places = [0; 5];
        for (slot, name) in places.iter_mut().zip(COLUMN_NAMES) {
            *slot = place(name)?;
        }
        Some(Self {
            places,
            count: record.len(),
        })
    }

    fn row(&self, record: &csv::ByteRecord, systems: &[u32]) -> Result<Row, String> {
        if record.len() != self.count {
            return Err(format!(
                "has {} fields instead of {}",
                record.len(),
                self.count
            ));
        }
        let field =
            |column: usize| String::from_utf8_lossy(record[self.places[column]].trim_ascii());
        let number = |column: usize| {
            let text = field(column);
            text.parse::<u32>().map_err(|_| {
                format!(
                    "`{}` should be a whole number, but is `{text}`",
                    COLUMN_NAMES[column]
                )
            })
        };
        let system = number(0)?;
        if !systems.contains(&system) {
            return Ok(Row {
                system,
                failure: None,
            });
        }
        let (nodes, node) = (number(1)?, number(2)?);
        if nodes > MOST_NODES {
            return Err(format!(
                "system {system} has {nodes} nodes; allowed are up to {MOST_NODES}"
            ));
        }
        if node >= nodes {
            return Err(format!(
                "node {node} does not exist: system {system} has {nodes} nodes, from 0"
            ));
        }
        let time = |column: usize| {
            let text = field(column);
            if text.is_empty() {
                return Ok(None);
            }
            calendar_seconds(&text).map(Some).ok_or_else(|| {
                format!(
                    "`{}` should be a time as m/d/yyyy h:mm, but is `{text}`",
                    COLUMN_NAMES[column]
                )
            })
        };
        let times = match (time(3)?, time(4)?) {
            (Some(start), Some(end)) if end < start => {
                return Err(format!(
                    "the problem was fixed ({}) before it started ({})",
                    field(4),
                    field(3)
                ));
            }
            (start, end) => start.zip(end),
        };
        Ok(Row {
            system,
            failure: Some(Failure { nodes, node, times }),
        })
    }
}

/// The rows of one system while the table is read.
#[derive(Default)]
pub(super) struct SystemRows {
    nodes: u32,
    missing_times: u64,
    /// (start, end, node) in seconds of the calendar.
    failures: Vec<(i64, i64, u32)>,
}

impl SystemRows {
    /// Whether no failure of the system has both times.
    pub(super) fn is_empty(&self) -> bool {
        self.failures.is_empty()
    }

    fn add(&mut self, failure: Failure) -> Result<(), String> {
        if self.nodes != 0 && self.nodes != failure.nodes {
            return Err(format!(
                "the system has {} nodes here and {} nodes in the rows before",
                failure.nodes, self.nodes
            ));
        }
        self.nodes = failure.nodes;
        match failure.times {
            Some((start, end)) => self.failures.push((start, end, failure.node)),
            None => self.missing_times += 1,
        }
        Ok(())
    }

    /// Sets the clock to the first failure. There is at least one.
    pub(super) fn system(mut self, number: u32) -> LanlSystem {
        let first = self
            .failures
            .iter()
            .map(|failure| failure.0)
            .min()
            .unwrap_or_default();
        let last = self
            .failures
            .iter()
            .map(|failure| failure.0)
            .max()
            .unwrap_or_default();
        let repaired = self
            .failures
            .iter()
            .map(|failure| failure.1)
            .max()
            .unwrap_or_default();
        let down_time = self
            .failures
            .iter()
            .map(|failure| failure.1 - failure.0)
            .sum();
        let records = self.failures.len() as u64;
        let mut outages: Vec<Vec<(i64, i64)>> = vec![Vec::new(); self.nodes as usize];
        self.failures.sort_unstable();
        for (start, end, node) in self.failures {
            let (start, end) = (start - first, (end - first).max(start - first + 1));
            // Merged here, so that a horizon between two overlapping outages does not shorten the
            // first.
            match outages[node as usize].last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => outages[node as usize].push((start, end)),
            }
        }
        LanlSystem {
            number,
            nodes: Nodes(self.nodes),
            records,
            missing_times: self.missing_times,
            observed: Seconds(last - first),
            // At least a second, and after the last outage, which lasts at least one.
            period: Seconds((repaired - first).max(last - first + 1)),
            down_time: Seconds(down_time),
            outages,
        }
    }
}

/// The first column that the would-be header lacks.
pub(super) fn header_error(record: &csv::ByteRecord, file: &Path, lines: u64) -> FailureError {
    let has = |name: &str| {
        record
            .iter()
            .any(|field| field.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
    };
    FailureError::Header {
        file: file.to_owned(),
        column: COLUMN_NAMES
            .into_iter()
            .find(|name| !has(name))
            .unwrap_or(COLUMN_NAMES[0]),
        lines,
    }
}

/// Seconds from 1970 on of a local time `m/d/yyyy h:mm` (years of two digits are 1970 to 2069).
pub(super) fn calendar_seconds(text: &str) -> Option<i64> {
    fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
        let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_digits)
    }
    let (date, time) = text.split_once(' ')?;
    let mut date = date.split('/');
    let (month, day, year) = (number(date.next()?)?, number(date.next()?)?, date.next()?);
    let (hour, minute) = time.trim_start().split_once(':')?;
    let (hour, minute) = (number(hour)?, number(minute)?);
    let year = match (year.len(), number::<i16>(year)?) {
        (4, year) => year,
        (2, year) if year < 70 => 2_000 + year,
        (2, year) => 1_900 + year,
        _ => return None,
    };
    if date.next().is_some() {
        return None;
    }
    let moment = jiff::civil::DateTime::new(year, month, day, hour, minute, 0, 0).ok()?;
    let moment = jiff::tz::TimeZone::UTC.to_timestamp(moment).ok()?;
    Some(moment.as_second())
}
