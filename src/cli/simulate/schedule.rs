//! The schedule as a trace: each job's record in order of submission, with the wait time that the
//! policy gave it.

use std::collections::VecDeque;
use std::path::Path;

use super::source::Source;
use super::stored::StoredJobs;
use super::{Estimates, PolicyName, SimulateArguments, SimulateError};
use crate::scheduling::stream::{Listener, StreamRequest, StreamTotals};
use crate::units::Seconds;
use crate::workload::swf::{SwfRecord, SwfWriter};

/// Sums up the schedule and, where somebody wants it, writes it.
pub(super) struct Report {
    pub(super) totals: StreamTotals,
    pub(super) file: Option<ScheduleFile>,
    pub(super) stored: Option<StoredJobs>,
}

impl Listener for Report {
    #[inline]
    fn started(&mut self, request: &StreamRequest, start: Seconds) {
        self.totals.started(request, start);
        if let Some(file) = &mut self.file {
            file.decided(request, Some(start));
        }
        if let Some(stored) = &mut self.stored {
            stored.decided(request, Some(start));
        }
    }

    fn refused(&mut self, request: &StreamRequest) {
        self.totals.refused(request);
        if let Some(file) = &mut self.file {
            file.decided(request, None);
        }
        if let Some(stored) = &mut self.stored {
            stored.decided(request, None);
        }
    }
}

/// A trace under way. It keeps the jobs from the first one on that has not started.
pub(super) struct ScheduleFile {
    writer: SwfWriter,
    open: VecDeque<Open>,
    /// Index of the first open job.
    first: u64,
}

struct Open {
    record: SwfRecord,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Unknown,
    Started,
    Refused,
}

impl ScheduleFile {
    pub(super) fn create(
        path: &Path,
        source: &Source,
        arguments: &SimulateArguments,
    ) -> Result<Self, SimulateError> {
        refuse_the_trace(path, source)?;
        let mut header = source.header();
        let policy = arguments.policy().label();
        let estimates = match arguments.estimates {
            Estimates::User => "users' estimates",
            Estimates::Perfect => "estimates equal to run times",
        };
        header.set_max_procs(source.machine()?.0);
        let lead = match arguments.policy() {
            PolicyName::FixedStarts => {
                format!(" {} s after the submission", arguments.lead)
            }
            _ => String::new(),
        };
        let load = arguments.load.map_or_else(String::new, |load| {
            format!(
                ", times between submissions multiplied so that run times offer a load of {load}"
            )
        });
        header.note(&format!(
            "a schedule made by bookahead {} of {}: {policy}{lead} with {estimates} on {} nodes{load}; wait times are those of the \
             schedule, from submission to start; run times are at most the estimates; jobs that got nothing, wider ones than the \
             machine and unusable records are left out",
            env!("CARGO_PKG_VERSION"),
            source.name(),
            source.machine()?.0,
        ));
        Ok(Self {
            writer: SwfWriter::create(path, &header)?,
            open: VecDeque::new(),
            first: 0,
        })
    }

    /// What the open jobs take.
    pub(super) fn bytes(&self) -> u64 {
        (self.open.len() * size_of::<Open>()) as u64
    }

    /// A job that will be scheduled; in order of their indices.
    pub(super) fn submitted(&mut self, record: &SwfRecord, submit: Seconds) {
        self.open.push_back(Open {
            record: SwfRecord {
                submit: submit.0,
                ..*record
            },
            fate: Fate::Unknown,
        });
    }

    fn decided(&mut self, request: &StreamRequest, start: Option<Seconds>) {
        let place = (request.index - self.first) as usize;
        let Some(open) = self.open.get_mut(place) else {
            return;
        };
        let Some(start) = start else {
            open.fate = Fate::Refused;
            return;
        };
        open.fate = Fate::Started;
        open.record = SwfRecord {
            wait: (start - request.submit).0,
            run: request.runtime.0,
            allocated_processors: i64::from(request.nodes.0),
            requested_time: request.estimate.0,
            ..open.record
        };
    }

    /// Writes the jobs whose fate is known and that nobody stands in front of.
    pub(super) fn write_known(&mut self) -> Result<(), SimulateError> {
        while let Some(open) = self.open.front()
            && open.fate != Fate::Unknown
        {
            if open.fate == Fate::Started {
                self.writer.write(&open.record)?;
            }
            self.open.pop_front();
            self.first += 1;
        }
        Ok(())
    }

    /// Completes the file.
    pub(super) fn finish(mut self) -> Result<(), SimulateError> {
        self.write_known()?;
        self.writer.finish()?;
        Ok(())
    }
}

/// A schedule never replaces its trace.
pub(super) fn refuse_the_trace(path: &Path, source: &Source) -> Result<(), SimulateError> {
    let same = source
        .path()
        .and_then(|trace| Some(trace.canonicalize().ok()? == path.canonicalize().ok()?));
    match same {
        Some(true) => Err(SimulateError::SameFile {
            path: path.to_owned(),
        }),
        _ => Ok(()),
    }
}
