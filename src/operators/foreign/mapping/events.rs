//! Logs of events: the rows of a job are joined before they are read as one (Birkenheuer 2012,
//! section 4.2, of the log of OpenCCS).

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::super::collector::Collector;
use super::super::findings::Finding;
use super::fields::text_of;
use super::{Cell, Field, Mapping, Places};
use bookahead_core::memory::{MemoryBudget, OverBudget};

/// Which rows of a log of events give which fields of a job.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Events {
    /// The column with the name of the event.
    column: String,
    /// The column that says of which job it is.
    job: String,
    /// Which requested time counts where several events give one.
    #[serde(default)]
    estimate: CountedEstimate,
    /// The fields that each event gives; events without any are passed over.
    gives: BTreeMap<String, Vec<Field>>,
}

/// Which requested time of a job counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CountedEstimate {
    /// The last one, as the thesis counts; users look better by it than they were.
    #[default]
    Last,
    /// The one that the job was planned with.
    First,
}

impl Events {
    /// The columns that are no fields.
    pub(super) fn columns(&self) -> [&String; 2] {
        [&self.column, &self.job]
    }

    /// What is wrong with the list of events, beside fields that have a column or none.
    pub(super) fn check(&self, has_column: &[bool; Mapping::FIELDS.len()]) -> Result<(), String> {
        let is_given = |field: usize| {
            let mut fields = self.gives.values().flatten();
            fields.any(|given| *given as usize == field)
        };
        for (field, name) in Mapping::FIELDS.iter().enumerate() {
            match (has_column[field], is_given(field)) {
                (true, false) => {
                    return Err(format!(
                        "fields.{name} has a column, and no event of events.gives gives it; name \
                         it behind the event whose rows have it"
                    ));
                }
                (false, true) => {
                    return Err(format!(
                        "events.gives names {name}, and fields.{name} has no column; give it one, \
                         or leave it out of events.gives"
                    ));
                }
                _ => {}
            }
        }
        if !has_column[Field::Run as usize] && !has_column[Field::End as usize] {
            return Err(
                "a log of events needs fields.run or fields.end with a column: the event that \
                 gives it ends a job"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

/// The most memory that a job takes until the log ends, without its texts: its fields, and its
/// place in the table of jobs, which is half full at worst.
const BYTES_A_JOB: usize = size_of::<JoinedJob>()
    + Mapping::FIELDS.len().next_power_of_two() * size_of::<(Field, KeptCell)>()
    + 80;

/// Joins events until the log ends.
pub(super) struct Joiner {
    event: usize,
    job: usize,
    counts_first: bool,
    /// What is given once a job: its run time, else its end.
    given_once: Field,
    gives: HashMap<Vec<u8>, Vec<(Field, usize)>>,
    open: HashMap<Vec<u8>, usize>,
    jobs: Vec<JoinedJob>,
    text_bytes: u64,
}

/// What the events of a job say, in the order in which it was said first.
pub(super) struct JoinedJob {
    /// The line of its first event.
    pub(super) line: u64,
    ends: u32,
    cells: Vec<(Field, KeptCell)>,
}

/// A cell whose row is gone.
enum KeptCell {
    Text(Box<[u8]>),
    Other(Cell<'static>),
}

impl Joiner {
    /// Joins rows in which fields and columns have these places.
    pub(super) fn new(
        events: &Events,
        places: &Places,
        place: impl Fn(&String) -> Option<usize>,
    ) -> Self {
        let gives = events.gives.iter().map(|(event, fields)| {
            let fields = fields.iter();
            let placed = fields.filter_map(|field| Some((*field, places[*field as usize]?)));
            (event.clone().into_bytes(), placed.collect())
        });
        Self {
            // The reader refuses tables without these columns before it joins.
            event: place(&events.column).unwrap_or(usize::MAX),
            job: place(&events.job).unwrap_or(usize::MAX),
            counts_first: events.estimate == CountedEstimate::First,
            given_once: match places[Field::Run as usize] {
                Some(_) => Field::Run,
                None => Field::End,
            },
            gives: gives.collect(),
            open: HashMap::new(),
            jobs: Vec::new(),
            text_bytes: 0,
        }
    }

    /// Takes an event. A job that is submitted once more is another record, which the collector
    /// tells from an attempt.
    pub(super) fn take(&mut self, cells: &[Cell<'_>], line: u64, collector: &mut Collector) {
        let text = |place: usize| text_of(cells.get(place).copied().unwrap_or(Cell::Missing));
        let Some(given) = self.gives.get(text(self.event).as_bytes()) else {
            collector.count(Finding::UnknownEvent, line);
            return;
        };
        if given.is_empty() {
            return;
        }
        let job = text(self.job);
        if job.is_empty() {
            collector.count(Finding::NoJobOfEvent, line);
            return;
        }
        let gives = |field: Field| given.iter().any(|(given, _)| *given == field);
        let known = self.open.get(job.as_bytes()).copied();
        let is_another =
            known.is_some_and(|known| gives(Field::Submit) && self.jobs[known].has(Field::Submit));
        let number = match known.filter(|_| !is_another) {
            Some(known) => known,
            None => {
                self.text_bytes += job.len() as u64;
                self.open.insert(job.as_bytes().to_vec(), self.jobs.len());
                self.jobs.push(JoinedJob {
                    line,
                    ends: 0,
                    cells: Vec::new(),
                });
                self.jobs.len() - 1
            }
        };
        let joined = &mut self.jobs[number];
        joined.ends += u32::from(gives(self.given_once));
        for (field, place) in given {
            let replaces = *field == Field::RequestedTime && !self.counts_first;
            let cell = cells.get(*place).copied().unwrap_or(Cell::Missing);
            self.text_bytes += joined.keep(*field, cell, replaces);
        }
    }

    /// Whether the jobs so far have room.
    ///
    /// # Errors
    /// [`OverBudget`].
    pub(super) fn check(&self, memory: MemoryBudget) -> Result<(), OverBudget> {
        let memory = memory.without(self.text_bytes);
        memory.check(self.jobs.len() as u64, BYTES_A_JOB, "jobs")
    }

    /// The jobs in the order of their first events.
    pub(super) fn jobs(self) -> impl Iterator<Item = JoinedJob> {
        self.jobs.into_iter()
    }
}

impl JoinedJob {
    /// Why it cannot be kept: what ran within it is not known, or is more than one run.
    pub(super) fn fault(&self) -> Option<Finding> {
        match self.ends {
            0 => Some(Finding::NoRunEvent),
            1 => None,
            _ => Some(Finding::SeveralRunEvents),
        }
    }

    /// A cell for each field, in the order of [`Mapping::FIELDS`].
    pub(super) fn cells(&self) -> [Cell<'_>; Mapping::FIELDS.len()] {
        let mut cells = [Cell::Missing; Mapping::FIELDS.len()];
        for (field, kept) in &self.cells {
            cells[*field as usize] = match kept {
                KeptCell::Text(text) => Cell::Text(text),
                KeptCell::Other(cell) => *cell,
            };
        }
        cells
    }

    fn has(&self, field: Field) -> bool {
        self.cells.iter().any(|(known, _)| *known == field)
    }

    /// Keeps what a row says of a field, in place of what an earlier one said where it `replaces`
    /// that. Returns how many bytes of text it takes.
    fn keep(&mut self, field: Field, cell: Cell<'_>, replaces: bool) -> u64 {
        let (kept, bytes) = match cell {
            Cell::Missing => return 0,
            Cell::Text(text) => (KeptCell::Text(text.into()), text.len() as u64),
            Cell::Whole(number) => (KeptCell::Other(Cell::Whole(number)), 0),
            Cell::Number(number) => (KeptCell::Other(Cell::Number(number)), 0),
            Cell::Moment(at) => (KeptCell::Other(Cell::Moment(at)), 0),
            Cell::LocalMoment(at) => (KeptCell::Other(Cell::LocalMoment(at)), 0),
        };
        match self.cells.iter_mut().find(|(known, _)| *known == field) {
            Some(_) if !replaces => return 0,
            Some((_, before)) => *before = kept,
            None => self.cells.push((field, kept)),
        }
        bytes
    }
}
