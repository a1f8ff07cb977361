//! From the records of a trace to jobs of a machine: which partition, quality of service and
//! account each has.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use bookahead_core::memory::MemoryBudget;
use bookahead_core::workload::NameKind;
use bookahead_core::workload::input_file;
use bookahead_core::workload::swf::{SwfHeader, SwfRecord};

use super::MachineError;
use super::file::NumberOrName;
use crate::machine_queue::{AccountIndex, MachineQueueJob, PartitionIndex, QualityIndex};
use bookahead_core::units::Seconds;
use bookahead_core::workload::Job;

/// What the numbers of a trace are called.
#[derive(Clone, Debug, Default)]
pub struct TraceNames {
    numbers: HashMap<(&'static str, String), i64>,
}

impl TraceNames {
    /// The names that a header says in its lines `Queue: NUMBER NAME` and `Partition: NUMBER NAME`.
    #[must_use]
    pub fn of_header(header: &SwfHeader) -> Self {
        let mut names = Self::default();
        for (key, kind) in [
            ("Queue", NameKind::Queue),
            ("Partition", NameKind::Partition),
        ] {
            for line in header.all(key) {
                let mut words = line.split_whitespace();
                let number = words.next().and_then(|word| word.parse().ok());
                let name: Vec<&str> = words.collect();
                if let Some(number) = number
                    && !name.is_empty()
                {
                    names.insert(kind, name.join(" "), number);
                }
            }
        }
        names
    }

    /// Adds those of a list as `bookahead trace import --names` writes it.
    ///
    /// # Errors
    /// [`MachineError::Names`].
    pub fn read(&mut self, path: &Path) -> Result<(), MachineError> {
        let fault = |what: String| MachineError::Names {
            path: path.to_owned(),
            what,
        };
        let bytes = input_file::read_whole(path, MemoryBudget::UNLIMITED)
            .map_err(|error| fault(error.to_string()))?;
        let text =
            String::from_utf8(bytes).map_err(|_| fault("it is not UTF-8 text".to_owned()))?;
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        let headings = rows.headers().map_err(|error| fault(error.to_string()))?;
        if headings != vec!["kind", "number", "name"] {
            return Err(fault("its first line names other columns".to_owned()));
        }
        for row in rows.records() {
            let row = row.map_err(|error| fault(error.to_string()))?;
            let line = row.position().map_or(0, csv::Position::line);
            let kind = NameKind::ALL.iter().find(|(_, word)| *word == &row[0]);
            let (Some((kind, _)), Ok(number)) = (kind, row[1].parse()) else {
                return Err(fault(format!("line {line} says {}, {}", &row[0], &row[1])));
            };
            self.insert(*kind, row[2].to_owned(), number);
        }
        Ok(())
    }

    fn insert(&mut self, kind: NameKind, name: String, number: i64) {
        self.numbers.insert((word(kind), name), number);
    }

    /// What a number is called.
    #[must_use]
    pub fn name(&self, kind: NameKind, number: i64) -> Option<&str> {
        let mut names: Vec<&str> = (self.numbers.iter())
            .filter(|((of, _), at)| *of == word(kind) && **at == number)
            .map(|((_, name), _)| name.as_str())
            .collect();
        names.sort_unstable();
        names.first().copied()
    }

    /// The numbers of a list; names that nobody knows are left out.
    pub(super) fn numbers(&self, kind: NameKind, list: &[NumberOrName]) -> Vec<i64> {
        let number = |entry: &NumberOrName| match entry {
            NumberOrName::Number(number) => Some(*number),
            NumberOrName::Name(name) => self.numbers.get(&(word(kind), name.clone())).copied(),
        };
        list.iter().filter_map(number).collect()
    }

    /// The names of a list that nobody knows.
    fn unknown<'l>(&self, kind: NameKind, list: &'l [NumberOrName]) -> Vec<&'l str> {
        let name = |entry: &'l NumberOrName| match entry {
            NumberOrName::Name(name) if !self.numbers.contains_key(&(word(kind), name.clone())) => {
                Some(name.as_str())
            }
            _ => None,
        };
        list.iter().filter_map(name).collect()
    }
}

fn word(kind: NameKind) -> &'static str {
    let found = NameKind::ALL.iter().find(|(of, _)| *of == kind);
    found.map_or("", |(_, word)| word)
}

/// Lists of a machine file that name numbers of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct TraceMapping {
    pub(super) partitions: Vec<PartitionRule>,
    /// The partition of all other jobs.
    pub(super) default: Option<PartitionIndex>,
    /// Queues and partitions of each quality of service.
    pub(super) qualities: Vec<(Vec<NumberOrName>, Vec<NumberOrName>)>,
    /// Groups of each account.
    pub(super) accounts: Vec<Vec<NumberOrName>>,
    /// Users of windows: only for what is said of unknown names.
    pub(super) users: Vec<NumberOrName>,
    /// Cores of the machine for each processor of the trace, where the file says it.
    pub(super) cores_per_processor: Option<u32>,
}

/// Whose jobs run in a partition.
#[derive(Clone, Debug, Default)]
pub(super) struct PartitionRule {
    pub(super) queues: Vec<NumberOrName>,
    pub(super) partitions: Vec<NumberOrName>,
    pub(super) default_request: Option<Seconds>,
}

/// Why a record has no place on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unplaced {
    /// No partition lists its queue or partition, and none is the default.
    NoPartition,
    /// It asks for no time, and its partition has no default.
    NoRequest,
}

/// Finds the place of every record of one trace.
#[derive(Clone, Debug)]
pub struct Placement {
    partitions: Vec<(Vec<i64>, Vec<i64>, Option<Seconds>)>,
    default: Option<PartitionIndex>,
    qualities: Vec<(Vec<i64>, Vec<i64>)>,
    accounts: Vec<Vec<i64>>,
    cores_per_processor: u32,
    /// Names of the machine file that stand for no number of the trace: the kind, and the name.
    pub unknown: BTreeSet<(&'static str, String)>,
}

impl Placement {
    pub(super) fn of(mapping: &TraceMapping, names: &TraceNames) -> Self {
        let mut unknown = BTreeSet::new();
        let mut numbers = |kind: NameKind, list: &[NumberOrName]| {
            for name in names.unknown(kind, list) {
                unknown.insert((word(kind), name.to_owned()));
            }
            names.numbers(kind, list)
        };
        let mut both = |queues: &[NumberOrName], partitions: &[NumberOrName]| {
            (
                numbers(NameKind::Queue, queues),
                numbers(NameKind::Partition, partitions),
            )
        };
        let partitions = (mapping.partitions.iter())
            .map(|rule| {
                let (queues, partitions) = both(&rule.queues, &rule.partitions);
                (queues, partitions, rule.default_request)
            })
            .collect();
        let qualities = (mapping.qualities.iter())
            .map(|(queues, partitions)| both(queues, partitions))
            .collect();
        let accounts = (mapping.accounts.iter())
            .map(|groups| numbers(NameKind::Group, groups))
            .collect();
        numbers(NameKind::User, &mapping.users);
        Self {
            partitions,
            default: mapping.default,
            qualities,
            accounts,
            cores_per_processor: mapping.cores_per_processor.unwrap_or(1),
            unknown,
        }
    }

    /// The place of a record, whatever it asks for.
    ///
    /// # Errors
    /// [`Unplaced::NoPartition`].
    pub fn place(&self, record: &SwfRecord) -> Result<Place, Unplaced> {
        let lists = |queues: &[i64], partitions: &[i64]| {
            queues.contains(&record.queue) || partitions.contains(&record.partition)
        };
        let partition = (self.partitions.iter())
            .position(|(queues, partitions, _)| lists(queues, partitions))
            .map(PartitionIndex)
            .or(self.default)
            .ok_or(Unplaced::NoPartition)?;
        let quality =
            (self.qualities.iter()).position(|(queues, partitions)| lists(queues, partitions));
        let account = (self.accounts.iter()).position(|groups| groups.contains(&record.group));
        // Kilobytes a processor, as the format has them.
        let memory = if record.requested_memory > 0.0 {
            (record.requested_memory / 1_024.0).ceil() as u64
        } else {
            0
        };
        Ok(Place {
            partition,
            quality: QualityIndex(quality.unwrap_or(0)),
            account: AccountIndex(account.unwrap_or(0)),
            user: record.user,
            memory_megabytes_per_core: memory.div_ceil(u64::from(self.cores_per_processor)),
            cores_per_processor: self.cores_per_processor,
            request: (record.requested_time > 0).then_some(Seconds(record.requested_time)),
            default_request: self.partitions[partition.0].2,
        })
    }

    /// The job of a usable record. `job` says when it is submitted, how wide it is and how long it
    /// runs; what it asks for is the record's own, else its partition's default. Graphics
    /// processors are in no field of a trace: none are asked for.
    ///
    /// # Errors
    /// [`Unplaced`].
    pub fn job(&self, record: &SwfRecord, job: &Job) -> Result<MachineQueueJob, Unplaced> {
        let place = self.place(record)?;
        let request = place.request.or(place.default_request);
        Ok(place.job(job, request.ok_or(Unplaced::NoRequest)?))
    }
}

/// Where a record runs, and what it says beyond what every job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    partition: PartitionIndex,
    quality: QualityIndex,
    account: AccountIndex,
    user: i64,
    memory_megabytes_per_core: u64,
    cores_per_processor: u32,
    request: Option<Seconds>,
    default_request: Option<Seconds>,
}

impl Place {
    /// What a job that says nothing asks for: its partition's default; `None` for a job that says
    /// something, and where there is none.
    #[must_use]
    pub fn default_request(&self) -> Option<Seconds> {
        self.default_request.filter(|_| self.request.is_none())
    }

    /// A job in this place that asks for so long; it runs at least a second. Where a processor of
    /// the trace is several cores, they are on one node, and those of another processor on another.
    #[must_use]
    pub fn job(&self, job: &Job, request: Seconds) -> MachineQueueJob {
        MachineQueueJob {
            trace_number: job.trace_number,
            submit: job.submit,
            request,
            runtime: job.runtime.min(request).max(Seconds(1)),
            cores: job.nodes.0.saturating_mul(self.cores_per_processor),
            cores_per_node: (self.cores_per_processor > 1).then_some(self.cores_per_processor),
            memory_megabytes_per_core: self.memory_megabytes_per_core,
            gpus_per_node: 0,
            partition: self.partition,
            quality: self.quality,
            account: self.account,
            user: self.user,
        }
    }
}
