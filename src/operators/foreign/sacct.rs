//! Accounting of Slurm as `sacct --parsable2` prints it.
//!
//! One line is a job (or an attempt of one, with `--duplicates`), the first names the columns. What
//! each column means is that of Slurm's manual page sacct(1),
//! <https://slurm.schedmd.com/sacct.html>.

mod line;

use std::io::{BufRead, Read};
use std::path::Path;

use memchr::memchr_iter;

use self::line::LineReader;
pub(super) use self::line::duration;
use super::collector::{Collector, ImportSettings, ImportedTrace};
use super::error::ImportError;
use super::findings::Finding;
use super::local_time::LocalTimes;

/// What to ask `sacct` for: times in seconds since 1970, so that no zone matters; every attempt; no
/// steps. The list of columns goes over two lines of a shell, which joins them when the second one
/// is not indented.
pub const SACCT_COMMAND: &str = "\
SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates --parsable2 --noconvert \\
--starttime 2025-01-01 --endtime 2026-01-01 --format \\
JobIDRaw,JobID,Cluster,User,Account,Partition,QOS,Submit,Eligible,Start,End,\\
ElapsedRaw,TimelimitRaw,AllocCPUS,ReqCPUS,AllocNodes,ReqNodes,ReqMem,State > jobs.txt";

/// The longest line: `sacct` prints some forty columns of some ten bytes, and comments of users.
const LONGEST_LINE_BYTES: usize = 1 << 20;

/// What a job's width counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Processors, as Slurm counts them.
    Cpus,
    /// Nodes, for machines whose nodes are not shared.
    Nodes,
}

/// When a job arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// When it was submitted.
    #[default]
    Submit,
    /// When it could have started first: after its dependencies and its begin time.
    Eligible,
}

/// How a log of `sacct` is read.
#[derive(Clone, Debug)]
pub struct SacctSettings {
    /// What separates columns: `|` unless `sacct --delimiter` said otherwise.
    pub separator: u8,
    /// What widths count; without it processors where the log has them.
    pub unit: Option<Unit>,
    /// When jobs arrive.
    pub arrival: Arrival,
    /// The one cluster whose jobs are wanted.
    pub cluster: Option<String>,
}

impl Default for SacctSettings {
    fn default() -> Self {
        Self {
            separator: b'|',
            unit: None,
            arrival: Arrival::Submit,
            cluster: None,
        }
    }
}

/// Columns that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    JobIdRaw,
    JobId,
    Cluster,
    User,
    Account,
    Partition,
    Qos,
    Submit,
    Eligible,
    Start,
    End,
    ElapsedRaw,
    Elapsed,
    TimelimitRaw,
    Timelimit,
    AllocCpus,
    NCpus,
    ReqCpus,
    AllocNodes,
    NNodes,
    ReqNodes,
    ReqMem,
    State,
    Restarts,
}

use Column as C;

const COLUMNS: [(&str, Column); 24] = [
    ("JobIDRaw", C::JobIdRaw),
    ("JobID", C::JobId),
    ("Cluster", C::Cluster),
    ("User", C::User),
    ("Account", C::Account),
    ("Partition", C::Partition),
    ("QOS", C::Qos),
    ("Submit", C::Submit),
    ("Eligible", C::Eligible),
    ("Start", C::Start),
    ("End", C::End),
    ("ElapsedRaw", C::ElapsedRaw),
    ("Elapsed", C::Elapsed),
    ("TimelimitRaw", C::TimelimitRaw),
    ("Timelimit", C::Timelimit),
    ("AllocCPUS", C::AllocCpus),
    ("NCPUS", C::NCpus),
    ("ReqCPUS", C::ReqCpus),
    ("AllocNodes", C::AllocNodes),
    ("NNodes", C::NNodes),
    ("ReqNodes", C::ReqNodes),
    ("ReqMem", C::ReqMem),
    ("State", C::State),
    ("Restarts", C::Restarts),
];

/// Where the columns stand.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    /// For each column of the file which of [`COLUMNS`] it is.
    slots: Vec<Option<u8>>,
    /// For each of [`COLUMNS`] whether the file has it.
    has: [bool; COLUMNS.len()],
}

/// The fields of a line that are read; those that the file has not are empty.
pub(super) type Fields<'line> = [&'line [u8]; COLUMNS.len()];

impl Heading {
    fn parse(line: &[u8], separator: u8) -> Self {
        let mut has = [false; COLUMNS.len()];
        let slots = line
            .split(|byte| *byte == separator)
            .map(|name| {
                let slot = COLUMNS.iter().position(|(known, _)| {
                    name.trim_ascii().eq_ignore_ascii_case(known.as_bytes())
                })?;
                // A column that is asked for twice is read once.
                if std::mem::replace(&mut has[slot], true) {
                    return None;
                }
                u8::try_from(slot).ok()
            })
            .collect();
        Self { slots, has }
    }

    pub(super) fn has(&self, column: Column) -> bool {
        self.has[column as usize]
    }

    /// The fields of a line; `None` where there are too few or too many.
    fn fields<'line>(&self, line: &'line [u8], separator: u8) -> Option<Fields<'line>> {
        let mut fields: Fields<'line> = [&[]; COLUMNS.len()];
        let mut slots = self.slots.iter();
        let mut from = 0;
        for end in memchr_iter(separator, line).chain([line.len()]) {
            if let Some(slot) = slots.next()? {
                fields[usize::from(*slot)] = &line[from..end];
            }
            from = end + 1;
        }
        slots.as_slice().is_empty().then_some(fields)
    }

    /// What is needed and not there, in words.
    fn missing(&self, unit: Option<Unit>) -> Vec<String> {
        let has = |columns: &[Column]| columns.iter().any(|column| self.has(*column));
        let cpus = [C::AllocCpus, C::NCpus, C::ReqCpus];
        let nodes = [C::AllocNodes, C::NNodes, C::ReqNodes];
        let width = match unit {
            Some(Unit::Cpus) => (has(&cpus), "AllocCPUS or ReqCPUS (--unit cpus)"),
            Some(Unit::Nodes) => (has(&nodes), "AllocNodes or ReqNodes (--unit nodes)"),
            None => (
                has(&cpus) || has(&nodes),
                "AllocCPUS or AllocNodes (how wide jobs are)",
            ),
        };
        [
            (
                has(&[C::JobIdRaw, C::JobId]),
                "JobIDRaw or JobID (what is one job)",
            ),
            (has(&[C::Submit]), "Submit (when jobs arrive)"),
            (has(&[C::State]), "State (whether they ended)"),
            (has(&[C::Start]), "Start (how long they waited)"),
            (
                has(&[C::ElapsedRaw, C::Elapsed, C::End]),
                "ElapsedRaw or End (how long they ran)",
            ),
            width,
        ]
        .into_iter()
        .filter(|(is_there, _)| !is_there)
        .map(|(_, what)| what.to_owned())
        .collect()
    }

    /// What the trace lacks because columns are not there.
    fn lacking(&self) -> Vec<&'static str> {
        [
            (&[C::TimelimitRaw, C::Timelimit][..], "no TimelimitRaw: no requested times, which cleaning drops jobs for (see --missing-estimate)"),
            (&[C::User], "no User: users are not told apart"),
            (&[C::Account], "no Account: groups are not told apart"),
            (&[C::Partition], "no Partition: partitions are not told apart"),
            (&[C::Qos], "no QOS: queues are not told apart"),
            (&[C::Cluster], "no Cluster: all jobs are taken for those of one machine"),
        ]
        .into_iter()
        .filter(|(columns, _)| !columns.iter().any(|column| self.has(*column)))
        .map(|(_, what)| what)
        .collect()
    }
}

/// Reads `sacct --parsable2` line by line. `times` reads times that are not seconds since 1970.
///
/// # Errors
/// [`ImportError`]: the file cannot be read, its columns do not say what is needed, it is of
/// several clusters, or no job is left.
pub fn read_sacct(
    input: &mut dyn BufRead,
    path: &Path,
    settings: &SacctSettings,
    mut common: ImportSettings,
    times: &mut LocalTimes,
) -> Result<ImportedTrace, ImportError> {
    let mut lines = Lines {
        input,
        path,
        text: Vec::with_capacity(512),
        number: 0,
    };
    let separator = settings.separator;
    let first = lines.next()?.map_or(&[][..], |(line, _)| line);
    let first = first
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(first)
        .to_vec();
    let heading = Heading::parse(&first, separator);
    if !heading.has.contains(&true) {
        return Err(ImportError::NoHeading {
            path: path.to_owned(),
            separator: char::from(separator),
            command: SACCT_COMMAND,
        });
    }
    let missing = heading.missing(settings.unit);
    if !missing.is_empty() {
        return Err(ImportError::MissingColumns {
            path: path.to_owned(),
            missing,
            command: SACCT_COMMAND,
        });
    }
    let has_cpus = [C::AllocCpus, C::NCpus, C::ReqCpus]
        .iter()
        .any(|column| heading.has(*column));
    let unit = settings
        .unit
        .unwrap_or(if has_cpus { Unit::Cpus } else { Unit::Nodes });
    common.counts_nodes = unit == Unit::Nodes;
    common
        .notes
        .extend(heading.lacking().into_iter().map(str::to_owned));
    if settings.arrival == Arrival::Eligible {
        common
            .notes
            .push("jobs arrive when they became eligible".to_owned());
    }
    let mut reader = LineReader::new(&heading, settings, unit);
    let mut collector = Collector::within(common.memory);
    while let Some((line, number)) = lines.next()? {
        if line.is_empty() {
            continue;
        }
        collector.rows += 1;
        if line == first {
            collector.count(Finding::HeadingAgain, number);
        } else if let Some(fields) = heading.fields(line, separator) {
            if let Some(job) = reader.job(&fields, number, times, &mut collector) {
                collector.push(job, path)?;
            }
        } else {
            collector.count(Finding::FieldCount, number);
        }
    }
    reader.one_cluster(path)?;
    if times.is_used() {
        common.notes.push("times of the log are local times, read as the zone that was named (UTC unless --zone said otherwise)".to_owned());
    }
    collector.finish(&common, path)
}

/// Lines of bounded length, without their ends.
struct Lines<'input> {
    input: &'input mut dyn BufRead,
    path: &'input Path,
    text: Vec<u8>,
    number: u64,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Option<(&[u8], u64)>, ImportError> {
        self.text.clear();
        let most = LONGEST_LINE_BYTES as u64 + 1;
        let read = (&mut *self.input)
            .take(most)
            .read_until(b'\n', &mut self.text)
            .map_err(|source| ImportError::Read {
                path: self.path.to_owned(),
                source,
            })?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
            if self.text.last() == Some(&b'\r') {
                self.text.pop();
            }
        } else if read as u64 == most {
            return Err(ImportError::LineTooLong {
                path: self.path.to_owned(),
                line: self.number,
                most: LONGEST_LINE_BYTES,
                what: "log of sacct",
            });
        }
        Ok(Some((&self.text, self.number)))
    }
}

#[cfg(test)]
mod tests;
