//! Sources of the jobs of a simulation: a file that is streamed, a file that had to be sorted in
//! memory, or a model.

use std::path::PathBuf;
use std::sync::Arc;

use bookahead_core::memory::MemoryBudget;

use super::{Estimates, SimulateArguments, SimulateError};
use crate::units::Nodes;
use crate::workload::swf::{SwfHeader, SwfReader, SwfRecord};
use crate::workload::{
    CleaningReport, CleaningRules, Job, JobStream, JobStreamError, MissingEstimate, ParsedTrace,
    SwfError, TraceFolder, lublin_feitelson,
};

type Records = Box<dyn Iterator<Item = Result<SwfRecord, SwfError>>>;

/// A source that can be read as often as wanted.
pub(super) struct Source {
    memory: MemoryBudget,
    nodes: Option<u32>,
    kind: Kind,
    rules: CleaningRules,
}

enum Kind {
    File {
        path: PathBuf,
        header: SwfHeader,
        /// The records in order of submission, where the file has another order.
        sorted: Option<Arc<[SwfRecord]>>,
    },
    Model {
        jobs: u64,
        seed: u64,
        estimates: bool,
    },
}

impl Source {
    pub(super) fn of(arguments: &SimulateArguments) -> Result<Self, SimulateError> {
        let kind = match (&arguments.trace, arguments.model) {
            (Some(trace), _) => {
                let folder = TraceFolder {
                    path: std::env::var_os(TraceFolder::VARIABLE).map(PathBuf::from),
                    memory: arguments.memory.budget(),
                };
                let path = folder.find(trace)?;
                let mut reader = SwfReader::open(&path)?;
                if let Some(fault) = reader.next().and_then(Result::err) {
                    return Err(fault.into());
                }
                Kind::File {
                    path,
                    header: reader.into_header(),
                    sorted: None,
                }
            }
            (None, _) => Kind::Model {
                jobs: arguments.jobs.unwrap_or(0),
                seed: arguments.seed,
                estimates: arguments.estimates == Estimates::User,
            },
        };
        Ok(Self {
            memory: arguments.memory.budget(),
            nodes: arguments.nodes,
            kind,
            rules: CleaningRules {
                // Where run times are booked, nothing else is read; a machine file has defaults.
                missing_estimate: match (&arguments.machine, arguments.estimates) {
                    (Some(_), _) | (None, Estimates::Perfect) => MissingEstimate::Runtime,
                    (None, Estimates::User) => MissingEstimate::Drop,
                },
                ..CleaningRules::default()
            },
        })
    }

    /// What people call it.
    pub(super) fn name(&self) -> String {
        match &self.kind {
            Kind::File { path, .. } => path.file_name().map_or_else(
                || path.display().to_string(),
                |name| name.to_string_lossy().into_owned(),
            ),
            Kind::Model { seed, .. } => format!("lublin-feitelson, seed {seed}"),
        }
    }

    /// The same as a part of a name: without endings of files.
    pub(super) fn stem(&self) -> String {
        match &self.kind {
            Kind::File { .. } => {
                let name = self.name();
                name.split(".swf").next().unwrap_or(&name).to_owned()
            }
            Kind::Model { .. } => "lublin-feitelson".to_owned(),
        }
    }

    /// The file, where there is one.
    pub(super) fn path(&self) -> Option<&PathBuf> {
        match &self.kind {
            Kind::File { path, .. } => Some(path),
            Kind::Model { .. } => None,
        }
    }

    /// The comment lines in front of the first record.
    pub(super) fn header(&self) -> SwfHeader {
        match &self.kind {
            Kind::File { header, .. } => header.clone(),
            Kind::Model { .. } => SwfHeader::default(),
        }
    }

    /// The size of the machine: as asked, else as the header says.
    pub(super) fn machine(&self) -> Result<Nodes, SimulateError> {
        let of_log = || self.header().machine();
        match self.nodes.or_else(of_log).filter(|nodes| *nodes > 0) {
            Some(nodes) if nodes > super::MOST_NODES => Err(SimulateError::MachineTooLarge {
                trace: self.name(),
                nodes,
            }),
            Some(nodes) => Ok(Nodes(nodes)),
            None => Err(SimulateError::NoMachine { trace: self.name() }),
        }
    }

    /// Reads the whole file and sorts it.
    pub(super) fn sort(&mut self) -> Result<(), SimulateError> {
        if let Kind::File { path, sorted, .. } = &mut self.kind {
            *sorted = Some(ParsedTrace::read_within(path, self.memory)?.records.into());
        }
        Ok(())
    }

    /// The usable jobs from the beginning, as users estimated them.
    pub(super) fn jobs(&self) -> Result<Jobs, SimulateError> {
        let records: Records = match &self.kind {
            Kind::File {
                sorted: Some(records),
                ..
            } => {
                let records = Arc::clone(records);
                Box::new((0..records.len()).map(move |index| Ok(records[index])))
            }
            Kind::File { path, .. } => Box::new(SwfReader::open(path)?),
            Kind::Model {
                jobs,
                seed,
                estimates,
            } => {
                let machine = self.machine()?;
                let records = lublin_feitelson::records(*jobs, machine, *seed, *estimates)?;
                Box::new(records.map(Ok))
            }
        };
        Ok(Jobs(JobStream::new(records, self.rules)))
    }
}

/// Usable jobs, one by one.
pub(super) struct Jobs(JobStream<Records>);

impl Jobs {
    pub(super) fn report(&self) -> &CleaningReport {
        &self.0.report
    }

    pub(super) fn last_record(&self) -> Option<&SwfRecord> {
        self.0.last_record()
    }
}

impl Iterator for Jobs {
    type Item = Result<Job, JobStreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
