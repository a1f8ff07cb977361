//! Tables of jobs whose layout a mapping says: which column is which field, in which unit.
//!
//! The table itself may be CSV ([`read_delimited`](super::read_delimited)) or anything that gives
//! rows of [`Cell`]s.

mod fields;

use std::path::Path;

use serde::Deserialize;

use self::fields::{CountField, DurationField, NameField, StatusField, TimeField};
use super::collector::{Collector, ForeignJob, ImportSettings, ImportedTrace};
use super::error::ImportError;
use super::findings::Finding;
use super::local_time::LocalTimes;
use bookahead_core::workload::NameKind;

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'row> {
    /// Nothing.
    Missing,
    /// A text, which may be a number.
    Text(&'row [u8]),
    /// A whole number.
    Whole(i64),
    /// Any number.
    Number(f64),
    /// A moment, in microseconds since 1970.
    Moment(i64),
    /// What a local clock showed, in microseconds after it showed the beginning of 1970.
    LocalMoment(i64),
}

/// Which columns of a table are which fields of a job.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// What the data is.
    pub title: String,
    /// Where its layout is described.
    #[serde(default)]
    pub source: Option<String>,
    /// The zone of times that say none; `--zone` goes before it.
    #[serde(default)]
    pub zone: Option<String>,
    /// Times are seconds since a moment that is not known.
    #[serde(default)]
    pub relative_times: bool,
    /// Widths count nodes, not processors.
    #[serde(default)]
    pub counts_nodes: bool,
    /// What separates columns of a CSV file.
    #[serde(default)]
    pub separator: Option<char>,
    /// The columns of a CSV file without a heading.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// What else somebody should know who reads the trace, a note each.
    #[serde(default)]
    pub notes: Vec<String>,
    fields: Fields,
}

/// The fields of a job and where they come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    job_number: Option<NameField>,
    submit: TimeField,
    start: Option<TimeField>,
    end: Option<TimeField>,
    wait: Option<DurationField>,
    run: Option<DurationField>,
    requested_time: Option<DurationField>,
    allocated_processors: Option<CountField>,
    requested_processors: Option<CountField>,
    user: Option<NameField>,
    group: Option<NameField>,
    queue: Option<NameField>,
    partition: Option<NameField>,
    status: Option<StatusField>,
}

impl Mapping {
    /// The keys of its table `fields`.
    pub const FIELDS: [&'static str; 14] = [
        "job_number",
        "submit",
        "start",
        "end",
        "wait",
        "run",
        "requested_time",
        "allocated_processors",
        "requested_processors",
        "user",
        "group",
        "queue",
        "partition",
        "status",
    ];

    /// Whether the mapping says enough for jobs to come out.
    ///
    /// # Errors
    /// [`ImportError::Mapping`].
    pub fn check(&self) -> Result<(), ImportError> {
        let fields = &self.fields;
        let refuse = |what: &str| {
            Err(ImportError::Mapping {
                what: what.to_owned(),
            })
        };
        if fields.run.is_none() && (fields.start.is_none() || fields.end.is_none()) {
            return refuse(
                "fields.run, or both fields.start and fields.end, must say how long jobs ran",
            );
        }
        if fields.allocated_processors.is_none() && fields.requested_processors.is_none() {
            return refuse(
                "fields.allocated_processors or fields.requested_processors must say how wide jobs are",
            );
        }
        if self
            .separator
            .is_some_and(|separator| !separator.is_ascii())
        {
            return refuse("separator must be an ASCII character");
        }
        let durations = [&fields.wait, &fields.run, &fields.requested_time];
        let mut sources: Vec<bool> = (durations.into_iter().flatten())
            .map(|field| field.column.is_some() == field.value.is_some())
            .collect();
        let counts = [&fields.allocated_processors, &fields.requested_processors];
        for field in counts.into_iter().flatten() {
            sources.push(field.column.is_some() == field.value.is_some());
            if !(field.scale.is_finite() && field.scale > 0.0) {
                return refuse("scale must be a number above 0");
            }
        }
        if sources.contains(&true) {
            return refuse("a duration or a number of processors has either a column or a value");
        }
        Ok(())
    }

    /// Every column that is read, once each, in an order of its own.
    #[must_use]
    pub fn read_columns(&self) -> Vec<String> {
        let fields = &self.fields;
        let mut columns: Vec<&String> = Vec::new();
        let names = [
            &fields.job_number,
            &fields.user,
            &fields.group,
            &fields.queue,
            &fields.partition,
        ];
        columns.extend(names.into_iter().flatten().map(|field| &field.column));
        let times = [&fields.start, &fields.end];
        columns.extend(times.into_iter().flatten().map(|field| &field.column));
        columns.push(&fields.submit.column);
        let durations = [&fields.wait, &fields.run, &fields.requested_time];
        columns.extend((durations.into_iter().flatten()).filter_map(|field| field.column.as_ref()));
        let counts = [&fields.allocated_processors, &fields.requested_processors];
        columns.extend((counts.into_iter().flatten()).filter_map(|field| field.column.as_ref()));
        columns.extend(fields.status.iter().map(|field| &field.column));
        let mut columns: Vec<String> = columns.into_iter().cloned().collect();
        columns.sort();
        columns.dedup();
        columns
    }
}

/// Takes rows of a mapped table one after another.
pub struct MappingReader<'mapping> {
    fields: &'mapping Fields,
    places: Places,
    settings: ImportSettings,
    collector: Collector,
    times: &'mapping mut LocalTimes,
    path: &'mapping Path,
}

/// In which cell of a row each field stands.
struct Places {
    job_number: Option<usize>,
    submit: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
    wait: Option<usize>,
    run: Option<usize>,
    requested_time: Option<usize>,
    allocated: Option<usize>,
    requested: Option<usize>,
    names: [Option<usize>; 4],
    status: Option<usize>,
}

impl<'mapping> MappingReader<'mapping> {
    /// Rows will have these columns.
    ///
    /// # Errors
    /// [`ImportError::Mapping`]; [`ImportError::UnknownColumns`] where the mapping names others.
    pub fn new(
        mapping: &'mapping Mapping,
        columns: &[String],
        path: &'mapping Path,
        mut settings: ImportSettings,
        times: &'mapping mut LocalTimes,
    ) -> Result<Self, ImportError> {
        mapping.check()?;
        let place = |name: &String| columns.iter().position(|column| column == name);
        let missing: Vec<String> = (mapping.read_columns().into_iter())
            .filter(|name| place(name).is_none())
            .collect();
        if !missing.is_empty() {
            // Without one column of the mapping it may be any file, whose first line is nobody's
            // business.
            let is_known_table = missing.len() < mapping.read_columns().len();
            let found = columns.iter().take(100).cloned();
            return Err(ImportError::UnknownColumns {
                path: path.to_owned(),
                missing,
                found: is_known_table.then(|| found.collect()),
            });
        }
        let fields = &mapping.fields;
        let name =
            |field: &Option<NameField>| field.as_ref().and_then(|field| place(&field.column));
        let time =
            |field: &Option<TimeField>| field.as_ref().and_then(|field| place(&field.column));
        let duration =
            |field: &Option<DurationField>| field.as_ref()?.column.as_ref().and_then(place);
        let count = |field: &Option<CountField>| field.as_ref()?.column.as_ref().and_then(place);
        let places = Places {
            job_number: name(&fields.job_number),
            submit: place(&fields.submit.column),
            start: time(&fields.start),
            end: time(&fields.end),
            wait: duration(&fields.wait),
            run: duration(&fields.run),
            requested_time: duration(&fields.requested_time),
            allocated: count(&fields.allocated_processors),
            requested: count(&fields.requested_processors),
            names: [
                &fields.user,
                &fields.group,
                &fields.queue,
                &fields.partition,
            ]
            .map(name),
            status: (fields.status.as_ref()).and_then(|field| place(&field.column)),
        };
        settings.relative_times = mapping.relative_times;
        settings.counts_nodes = mapping.counts_nodes;
        settings.notes.push(match &mapping.source {
            Some(source) => format!("read with the mapping \"{}\" ({source})", mapping.title),
            None => format!("read with the mapping \"{}\"", mapping.title),
        });
        settings.notes.extend(mapping.notes.iter().cloned());
        Ok(Self {
            fields,
            places,
            collector: Collector::within(settings.memory),
            settings,
            times,
            path,
        })
    }

    /// Takes a row; `line` is its line or number in the input, from 1.
    ///
    /// # Errors
    /// [`ImportError::TooMany`].
    pub fn row(&mut self, cells: &[Cell<'_>], line: u64) -> Result<(), ImportError> {
        self.collector.rows += 1;
        match self.job(cells, line) {
            Some(job) => self.collector.push(job, self.path),
            None => Ok(()),
        }
    }

    /// Counts a row that cannot even be told apart into cells.
    pub fn broken_row(&mut self, line: u64) {
        self.collector.rows += 1;
        self.collector.count(Finding::FieldCount, line);
    }

    /// The trace of all rows.
    ///
    /// # Errors
    /// [`ImportError::NoJobs`].
    pub fn finish(mut self) -> Result<ImportedTrace, ImportError> {
        if self.times.is_used() {
            self.settings.notes.push("times of the log are local times, read as the zone that was named (UTC unless the mapping or --zone said otherwise)".to_owned());
        }
        self.collector.finish(&self.settings, self.path)
    }

    fn job(&mut self, cells: &[Cell<'_>], line: u64) -> Option<ForeignJob> {
        let (fields, places) = (self.fields, &self.places);
        let collector = &mut self.collector;
        let cell = |place: Option<usize>| {
            place
                .and_then(|place| cells.get(place))
                .copied()
                .unwrap_or(Cell::Missing)
        };
        let status = match &fields.status {
            Some(field) => match field.read(cell(places.status), line, collector) {
                Some(status) => status,
                None => {
                    collector.count(Finding::NotWanted, line);
                    return None;
                }
            },
            None => super::collector::UNKNOWN,
        };
        let number = match places.job_number {
            Some(place) => match fields::number_of(cell(Some(place))) {
                Some(number) => Some(number),
                None => {
                    collector.count(Finding::BadJobNumber, line);
                    return None;
                }
            },
            None => None,
        };
        let times = &mut *self.times;
        let is_relative = self.settings.relative_times;
        let mut time = |field: &TimeField,
                        place: Option<usize>,
                        not_before: i64,
                        collector: &mut Collector| {
            let read = field.read(cell(place), times, line, collector);
            let time = collector.resolve(read, not_before, line)?;
            // The second 0 is a moment of a log that counts from its own beginning, and "never" in
            // one that counts from 1970.
            Some(time.filter(|at| *at > 0 || is_relative))
        };
        let Some(submit) = time(&fields.submit, places.submit, 0, collector)? else {
            collector.count(Finding::NoSubmit, line);
            return None;
        };
        let start = match &fields.start {
            Some(field) => time(field, places.start, submit, collector)?,
            None => None,
        };
        let end = match &fields.end {
            Some(field) => time(field, places.end, start.unwrap_or(submit), collector)?,
            None => None,
        };
        let duration =
            |field: &Option<DurationField>, place, up: bool, collector: &mut Collector| {
                field.as_ref()?.read(cell(place), up, line, collector)
            };
        let wait = duration(&fields.wait, places.wait, false, collector);
        let run = duration(&fields.run, places.run, false, collector);
        let start = start.or_else(|| Some(submit + wait?));
        let (wait, run) = collector.wait_and_run(submit, start, end, run, line)?;
        let limit = duration(
            &fields.requested_time,
            places.requested_time,
            true,
            collector,
        )
        .filter(|seconds| *seconds > 0);
        if limit.is_none() && fields.requested_time.is_some() {
            collector.count(Finding::NoLimit, line);
        }
        let mut count = |field: &Option<CountField>, place| {
            (field.as_ref())
                .and_then(|field| field.read(cell(place), line, collector))
                .unwrap_or(0)
        };
        let allocated = count(&fields.allocated_processors, places.allocated);
        let requested = count(&fields.requested_processors, places.requested);
        if (allocated, requested) == (0, 0) {
            collector.count(Finding::NoProcessors, line);
            return None;
        }
        let mut names = [-1; 4];
        for (number, ((kind, _), place)) in names
            .iter_mut()
            .zip(NameKind::ALL.into_iter().zip(places.names))
        {
            *number = fields::name_number(cell(place), kind, &mut collector.names);
        }
        let [user, group, queue, partition] = names;
        Some(ForeignJob {
            number,
            task: 0,
            line,
            submit,
            wait,
            run,
            requested_time: limit.unwrap_or(-1),
            requested_memory: -1.0,
            allocated: if wait < 0 && run == 0 { 0 } else { allocated },
            requested: if requested > 0 { requested } else { allocated },
            user,
            group,
            queue,
            partition,
            status,
        })
    }
}

#[cfg(test)]
mod tests;
