//! Tables of jobs whose layout a mapping says: which column is which field, in which unit.
//!
//! The table itself may be CSV ([`read_delimited`](super::read_delimited)) or anything that gives
//! rows of [`Cell`]s.

mod events;
mod fields;

use std::path::Path;

use serde::Deserialize;

use self::events::{Events, Joiner};
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
    /// Rows are events, of which several are one job.
    #[serde(default)]
    events: Option<Events>,
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

/// A field of a job, in the order of [`Mapping::FIELDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Field {
    JobNumber,
    Submit,
    Start,
    End,
    Wait,
    Run,
    RequestedTime,
    AllocatedProcessors,
    RequestedProcessors,
    User,
    Group,
    Queue,
    Partition,
    Status,
}

impl Fields {
    /// The column of each field that has one, in the order of [`Mapping::FIELDS`].
    fn columns(&self) -> [Option<&String>; Mapping::FIELDS.len()] {
        fn name(field: &Option<NameField>) -> Option<&String> {
            field.as_ref().map(|field| &field.column)
        }
        fn time(field: &Option<TimeField>) -> Option<&String> {
            field.as_ref().map(|field| &field.column)
        }
        fn duration(field: &Option<DurationField>) -> Option<&String> {
            field.as_ref()?.column.as_ref()
        }
        fn count(field: &Option<CountField>) -> Option<&String> {
            field.as_ref()?.column.as_ref()
        }
        [
            name(&self.job_number),
            Some(&self.submit.column),
            time(&self.start),
            time(&self.end),
            duration(&self.wait),
            duration(&self.run),
            duration(&self.requested_time),
            count(&self.allocated_processors),
            count(&self.requested_processors),
            name(&self.user),
            name(&self.group),
            name(&self.queue),
            name(&self.partition),
            self.status.as_ref().map(|field| &field.column),
        ]
    }
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
        if let Some(events) = &self.events {
            let has_column = fields.columns().map(|column| column.is_some());
            if let Err(what) = events.check(&has_column) {
                return refuse(&what);
            }
        }
        Ok(())
    }

    /// Every column that is read, once each, in an order of its own.
    #[must_use]
    pub fn read_columns(&self) -> Vec<String> {
        let columns = self.fields.columns().into_iter().flatten();
        let of_events = self.events.iter().flat_map(Events::columns);
        let mut columns: Vec<String> = columns.chain(of_events).cloned().collect();
        columns.sort();
        columns.dedup();
        columns
    }
}

/// Takes rows of a mapped table one after another.
pub struct MappingReader<'mapping> {
    fields: &'mapping Fields,
    places: Places,
    joiner: Option<Joiner>,
    settings: ImportSettings,
    collector: Collector,
    times: &'mapping mut LocalTimes,
    path: &'mapping Path,
}

/// In which cell of a row each field stands, in the order of [`Mapping::FIELDS`].
type Places = [Option<usize>; Mapping::FIELDS.len()];

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
        let mut places = mapping
            .fields
            .columns()
            .map(|column| column.and_then(place));
        let joiner = (mapping.events.as_ref()).map(|events| Joiner::new(events, &places, place));
        if joiner.is_some() {
            // A job that was joined has a cell for each field.
            places = std::array::from_fn(|field| places[field].and(Some(field)));
        }
        settings.relative_times = mapping.relative_times;
        settings.counts_nodes = mapping.counts_nodes;
        settings.notes.push(match &mapping.source {
            Some(source) => format!("read with the mapping \"{}\" ({source})", mapping.title),
            None => format!("read with the mapping \"{}\"", mapping.title),
        });
        settings.notes.extend(mapping.notes.iter().cloned());
        Ok(Self {
            fields: &mapping.fields,
            places,
            joiner,
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
        match &mut self.joiner {
            Some(joiner) => {
                joiner.take(cells, line, &mut self.collector);
                (joiner.check(self.settings.memory)).map_err(|over| ImportError::TooMany {
                    path: self.path.to_owned(),
                    over,
                })
            }
            None => self.whole_row(cells, line),
        }
    }

    /// Takes all that the log says of a job.
    fn whole_row(&mut self, cells: &[Cell<'_>], line: u64) -> Result<(), ImportError> {
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
    /// [`ImportError::NoJobs`]; [`ImportError::TooMany`] where events were joined.
    pub fn finish(mut self) -> Result<ImportedTrace, ImportError> {
        if let Some(joiner) = self.joiner.take() {
            for joined in joiner.jobs() {
                if let Some(finding) = joined.fault() {
                    self.collector.count(finding, joined.line);
                } else {
                    self.whole_row(&joined.cells(), joined.line)?;
                }
            }
        }
        if self.times.is_used() {
            self.settings.notes.push("times of the log are local times, read as the zone that was named (UTC unless the mapping or --zone said otherwise)".to_owned());
        }
        self.collector.finish(&self.settings, self.path)
    }

    fn job(&mut self, cells: &[Cell<'_>], line: u64) -> Option<ForeignJob> {
        let fields = self.fields;
        let places = |field: Field| self.places[field as usize];
        let collector = &mut self.collector;
        let cell = |place: Option<usize>| {
            place
                .and_then(|place| cells.get(place))
                .copied()
                .unwrap_or(Cell::Missing)
        };
        let status = match &fields.status {
            Some(field) => match field.read(cell(places(Field::Status)), line, collector) {
                Some(status) => status,
                None => {
                    collector.count(Finding::NotWanted, line);
                    return None;
                }
            },
            None => super::collector::UNKNOWN,
        };
        let number = match places(Field::JobNumber) {
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
        let Some(submit) = time(&fields.submit, places(Field::Submit), 0, collector)? else {
            collector.count(Finding::NoSubmit, line);
            return None;
        };
        let start = match &fields.start {
            Some(field) => time(field, places(Field::Start), submit, collector)?,
            None => None,
        };
        let end = match &fields.end {
            Some(field) => time(
                field,
                places(Field::End),
                start.unwrap_or(submit),
                collector,
            )?,
            None => None,
        };
        let duration =
            |field: &Option<DurationField>, place, up: bool, collector: &mut Collector| {
                field.as_ref()?.read(cell(place), up, line, collector)
            };
        let wait = duration(&fields.wait, places(Field::Wait), false, collector);
        let run = duration(&fields.run, places(Field::Run), false, collector);
        let start = start.or_else(|| Some(submit + wait?));
        let (wait, run) = collector.wait_and_run(submit, start, end, run, line)?;
        let limit = duration(
            &fields.requested_time,
            places(Field::RequestedTime),
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
        let allocated = count(
            &fields.allocated_processors,
            places(Field::AllocatedProcessors),
        );
        let requested = count(
            &fields.requested_processors,
            places(Field::RequestedProcessors),
        );
        if (allocated, requested) == (0, 0) {
            collector.count(Finding::NoProcessors, line);
            return None;
        }
        let mut names = [-1; 4];
        let named = [Field::User, Field::Group, Field::Queue, Field::Partition];
        for (number, ((kind, _), field)) in
            (names.iter_mut()).zip(NameKind::ALL.into_iter().zip(named))
        {
            *number = fields::name_number(cell(places(field)), kind, &mut collector.names);
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
