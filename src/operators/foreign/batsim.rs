//! Workloads of Batsim, <https://batsim.readthedocs.io/en/latest/input-workload.html>: jobs with
//! their requests, and profiles that say how long they run.
//!
//! A run time is a profile of type delay: `DelayProfile` since Batsim 5, `delay` before. What a job
//! of Batsim has no field for stands in its `extra_data`, a text of JSON that Batsim hands on
//! unread, under the names of [`SwfRecord`]'s fields; so a trace that was written and is read again
//! is the same. Other types of profiles depend on the platform: their jobs have no run time, and
//! are dropped and counted.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::ImportError;
use super::findings::{Finding, Findings};
use super::local_time::LATEST;
use bookahead_core::memory::MemoryBudget;
use bookahead_core::workload::input_file::{json_fault, read_whole};
use bookahead_core::workload::swf::{SwfHeader, SwfRecord};

/// Jobs, users and the like are numbers of at most eighteen digits, which the format of traces
/// holds.
const NAMES_BELOW: i64 = 1_000_000_000_000_000_000;

/// Whose names of profile types are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatsimVersion {
    /// Batsim 5: `DelayProfile`.
    #[default]
    Five,
    /// Batsim 1 to 4: `delay`.
    Four,
}

impl BatsimVersion {
    fn delay(self) -> &'static str {
        match self {
            Self::Five => "DelayProfile",
            Self::Four => "delay",
        }
    }
}

/// What was written, and what Batsim could not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatsimWritten {
    /// Jobs.
    pub jobs: u64,
    /// Records without a submit time, left out.
    pub without_submit: u64,
    /// Records without a run time, left out: they would have no profile.
    pub without_run_time: u64,
    /// Records without processors, left out.
    pub without_processors: u64,
    /// Jobs whose number another job had already, or that had none: they got another identifier.
    pub renamed: u64,
    /// Jobs without a requested time: Batsim gives them no limit.
    pub without_limit: u64,
}

#[derive(Deserialize)]
struct Workload {
    nb_res: u32,
    #[serde(default)]
    description: Value,
    jobs: Vec<BatsimJob>,
    profiles: HashMap<String, Profile>,
}

#[derive(Deserialize)]
struct BatsimJob {
    id: Value,
    subtime: f64,
    res: i64,
    walltime: Option<f64>,
    profile: String,
    #[serde(default)]
    extra_data: Value,
}

#[derive(Deserialize)]
struct Profile {
    #[serde(rename = "type")]
    kind: String,
    delay: Option<f64>,
}

/// Fields of a record that stand in `extra_data`, and how they are reached.
macro_rules! extra_fields {
    ($each:ident) => {
        $each!(
            job_number,
            wait,
            allocated_processors,
            requested_processors,
            average_cpu_time,
            used_memory,
            requested_memory,
            requested_time,
            status,
            user,
            group,
            executable,
            queue,
            partition,
            preceding_job,
            think_time
        )
    };
}

/// Reads a workload: its header and its records in order of submission, and what was dropped and
/// guessed.
///
/// # Errors
/// [`ImportError::Read`], [`ImportError::Malformed`], [`ImportError::NoJobs`].
pub fn read_batsim(
    path: &Path,
    memory: MemoryBudget,
) -> Result<(SwfHeader, Vec<SwfRecord>, Findings), ImportError> {
    let bytes = read_whole(path, memory).map_err(|source| ImportError::Read {
        path: path.to_owned(),
        source,
    })?;
    parse_batsim(&bytes, path)
}

fn parse_batsim(
    bytes: &[u8],
    path: &Path,
) -> Result<(SwfHeader, Vec<SwfRecord>, Findings), ImportError> {
    let workload: Workload =
        serde_json::from_slice(bytes).map_err(|error| ImportError::Malformed {
            path: path.to_owned(),
            what: format!(
                "this is no workload of Batsim: line {}, column {}: {}",
                error.line(),
                error.column(),
                json_fault(&error)
            ),
        })?;
    let mut findings = Findings::default();
    let mut records = Vec::with_capacity(workload.jobs.len());
    for (row, job) in (1..).zip(&workload.jobs) {
        if let Some(record) = record(job, row, &workload.profiles, &mut findings) {
            records.push(record);
        }
    }
    if records.is_empty() {
        return Err(ImportError::NoJobs {
            path: path.to_owned(),
            rows: workload.jobs.len() as u64,
            dropped: findings
                .met()
                .map(|(finding, count, _)| (finding.text(), count))
                .collect(),
        });
    }
    records.sort_by_key(|record| record.submit);
    let mut header = SwfHeader::default();
    if let Value::String(description) = &workload.description {
        header.lines = description
            .lines()
            .filter(|line| line.starts_with(';'))
            .map(str::to_owned)
            .collect();
    }
    if header.lines.is_empty() {
        header.lines = vec![
            "; Version: 2.2".to_owned(),
            format!("; Conversion: bookahead {}", env!("CARGO_PKG_VERSION")),
        ];
        header.note("imported from a workload of Batsim");
        for (finding, count, row) in findings.met() {
            header.note(&format!("{count} {} (first: job {row})", finding.text()));
        }
    }
    header.set_max_procs(workload.nb_res);
    Ok((header, records, findings))
}

fn record(
    job: &BatsimJob,
    row: u64,
    profiles: &HashMap<String, Profile>,
    findings: &mut Findings,
) -> Option<SwfRecord> {
    let mut seconds = |value: f64, round: fn(f64) -> f64| {
        let whole = round(value);
        if whole != value {
            findings.count(Finding::Fraction, row);
        }
        (0.0..=LATEST as f64)
            .contains(&whole)
            .then_some(whole as i64)
    };
    let run = (profiles.get(&job.profile))
        .filter(|profile| {
            [BatsimVersion::Five, BatsimVersion::Four]
                .iter()
                .any(|version| version.delay() == profile.kind)
        })
        .and_then(|profile| profile.delay);
    let submit = seconds(job.subtime, f64::floor);
    let run = run.map(|run| seconds(run, f64::round));
    let limit =
        (job.walltime.filter(|limit| *limit > 0.0)).and_then(|limit| seconds(limit, f64::ceil));
    let (Some(submit), Some(run)) = (submit, run) else {
        findings.count(
            if submit.is_none() {
                Finding::BadTime
            } else {
                Finding::PlatformRunTime
            },
            row,
        );
        return None;
    };
    let (Some(run), true) = (run, (1..=LATEST).contains(&job.res)) else {
        findings.count(
            if run.is_none() {
                Finding::BadTime
            } else {
                Finding::NoProcessors
            },
            row,
        );
        return None;
    };
    let number = match &job.id {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.rsplit('!').next().and_then(|text| text.parse().ok()),
        _ => None,
    }
    .filter(|number| (0..NAMES_BELOW).contains(number));
    let mut record = SwfRecord {
        job_number: number.unwrap_or(i64::try_from(row).unwrap_or(-1)),
        submit,
        run,
        requested_processors: job.res,
        requested_time: limit.unwrap_or(-1),
        ..SwfRecord::MISSING
    };
    if limit.is_none() && job.walltime.is_none() {
        findings.count(Finding::NoLimit, row);
    }
    let extra = match &job.extra_data {
        Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        other => other.clone(),
    };
    if let Value::Object(extra) = extra {
        macro_rules! take {
            ($($field:ident),*) => {
                $(if let Some(value) = extra.get(stringify!($field)).and_then(Extra::read) {
                    record.$field = value;
                })*
            };
        }
        extra_fields!(take);
        for quantity in [
            &mut record.wait,
            &mut record.allocated_processors,
            &mut record.requested_processors,
            &mut record.requested_time,
            &mut record.think_time,
        ] {
            if *quantity > LATEST {
                findings.count(Finding::BadNumber, row);
                *quantity = -1;
            }
        }
    }
    Some(record)
}

/// A number of `extra_data`: whole, or a decimal.
trait Extra: Sized {
    fn read(value: &Value) -> Option<Self>;
}

impl Extra for i64 {
    fn read(value: &Value) -> Option<Self> {
        value
            .as_i64()
            .filter(|number| (-1..NAMES_BELOW).contains(number))
    }
}

impl Extra for f64 {
    fn read(value: &Value) -> Option<Self> {
        value.as_f64().filter(|number| number.is_finite())
    }
}

/// Writes records as a workload of so many resources.
///
/// # Errors
/// When the output cannot be written.
pub fn write_batsim(
    header: &SwfHeader,
    records: &[SwfRecord],
    resources: u32,
    version: BatsimVersion,
    out: &mut dyn Write,
) -> io::Result<BatsimWritten> {
    let mut written = BatsimWritten::default();
    let mut identifiers = HashSet::with_capacity(records.len());
    let mut delays = BTreeSet::new();
    let description = header.lines.join("\n");
    write!(
        out,
        "{{\n\"nb_res\": {},\n\"description\": {},\n\"jobs\": [",
        resources.max(1),
        json!(description)
    )?;
    for record in records {
        let width = if record.allocated_processors > 0 {
            record.allocated_processors
        } else {
            record.requested_processors
        };
        let missing = [
            (record.submit < 0, &mut written.without_submit),
            (record.run < 0, &mut written.without_run_time),
            (width <= 0, &mut written.without_processors),
        ];
        if let Some((_, count)) = missing.into_iter().find(|(is_missing, _)| *is_missing) {
            *count += 1;
            continue;
        }
        let mut identifier = record.job_number.to_string();
        if record.job_number < 0 || !identifiers.insert(identifier.clone()) {
            written.renamed += 1;
            // No number has a letter in it, so this is nobody's.
            identifier = format!("job-{}", written.renamed);
        }
        let job = job_value(record, width, &identifier);
        let comma = if written.jobs == 0 { "" } else { "," };
        write!(out, "{comma}\n{job}")?;
        written.jobs += 1;
        written.without_limit += u64::from(record.requested_time <= 0);
        delays.insert(record.run);
    }
    write!(out, "\n],\n\"profiles\": {{")?;
    for (place, delay) in delays.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let profile = json!({"type": version.delay(), "delay": delay});
        write!(out, "{comma}\n\"{}\": {profile}", profile_name(*delay))?;
    }
    out.write_all(b"\n}\n}\n")?;
    Ok(written)
}

fn profile_name(delay: i64) -> String {
    format!("delay-{delay}")
}

fn job_value(record: &SwfRecord, width: i64, identifier: &str) -> Value {
    let mut job = Map::new();
    job.insert("id".to_owned(), json!(identifier));
    job.insert("subtime".to_owned(), json!(record.submit));
    job.insert("res".to_owned(), json!(width));
    if record.requested_time > 0 {
        job.insert("walltime".to_owned(), json!(record.requested_time));
    }
    job.insert("profile".to_owned(), json!(profile_name(record.run)));
    // What somebody who reads only Batsim's fields would take the record for.
    let plain = SwfRecord {
        job_number: identifier.parse().unwrap_or(-2),
        requested_processors: width,
        requested_time: if record.requested_time > 0 {
            record.requested_time
        } else {
            -1
        },
        ..SwfRecord::MISSING
    };
    let mut extra = Map::new();
    macro_rules! put {
        ($($field:ident),*) => {
            $(if record.$field != plain.$field {
                extra.insert(stringify!($field).to_owned(), json!(record.$field));
            })*
        };
    }
    extra_fields!(put);
    if !extra.is_empty() {
        job.insert(
            "extra_data".to_owned(),
            json!(Value::Object(extra).to_string()),
        );
    }
    Value::Object(job)
}

#[cfg(test)]
mod tests;
