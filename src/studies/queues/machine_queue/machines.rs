//! Machines as their operators configure them: machine files, a subset of `slurm.conf`, and where
//! the jobs of a trace run on them.
//!
//! A machine file (TOML) is read and checked here and becomes a [`QueueMachine`]; its calendar is
//! put on the clock of a trace ([`MachineDescription::on_the_clock_of`]), and its lists of queues,
//! partitions and groups find the place of every record ([`Placement`]). A `slurm.conf` is
//! converted to a machine file first, so there is one set of checks. How such a machine schedules
//! is no business of this module.

mod calendar;
mod file;
mod places;
mod resolve;
pub mod slurm;
#[cfg(test)]
mod tests;
mod trace;

use std::path::{Path, PathBuf};

use bookahead_core::memory::MemoryBudget;
use bookahead_core::workload::NameKind;
use bookahead_core::workload::input_file;
use bookahead_core::workload::swf::SwfHeader;
use jiff::tz::TimeZone;

use self::calendar::CalendarEntry;
pub use self::file::{KEYS, RawMachine};
pub use self::slurm::SlurmError;
use self::trace::TraceMapping;
pub use self::trace::{Place, Placement, TraceNames, Unplaced};
use crate::machine_queue::{QueueMachine, Window};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_lab::keys::problem::Problem;

/// Why there is no machine.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// A file cannot be read.
    #[error("the machine file {} cannot be read: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not text.
    #[error("the machine file {} is not UTF-8 text; save it as UTF-8", .path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// The file was read and something in it is wrong.
    #[error("{}", in_words(.0))]
    Invalid(Vec<Problem>),
    /// A `slurm.conf`, or what `sacctmgr` printed, is wrong.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// The calendar has no place on the trace's clock.
    #[error(
        "the machine `{machine}` has windows of the calendar, and the header of the trace does not say when it begins: add a line \
         `; UnixStartTime: SECONDS` (seconds since 1970), or take the windows out of the machine file"
    )]
    NoClock {
        /// The machine.
        machine: String,
    },
    /// The trace counts nodes, the machine cores.
    #[error(
        "the header of the trace says that its processors are nodes, and nodes of the machine `{machine}` have {cores} cores: say how many \
         cores a processor of the trace is (`cores_per_processor = {cores}` in the machine file; of a slurm.conf in the one that \
         `bookahead machine` prints), or import the log anew with `--unit cpus`"
    )]
    CountsNodes {
        /// The machine.
        machine: String,
        /// The most cores of a node.
        cores: u32,
    },
    /// The trace counts cores, the machine nodes.
    #[error(
        "the header of the trace says {processors} processors on {nodes} nodes, so its jobs count cores, and the machine `{machine}` has \
         {own} nodes of one core: give its classes their `cores`, or say `cores_per_processor = 1` in the machine file where it is meant so"
    )]
    CountsCores {
        /// The machine.
        machine: String,
        /// Its nodes, of one core each.
        own: u64,
        /// Nodes of the log's machine.
        nodes: u32,
        /// Processors of the log's machine.
        processors: u32,
    },
    /// A list of names is wrong.
    #[error(
        "{}: {what}; allowed are the columns kind, number and name, as `bookahead trace import --names` writes them",
        .path.display()
    )]
    Names {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

fn in_words(problems: &[Problem]) -> String {
    match problems {
        [only] => only.to_string(),
        many => {
            let lines: Vec<String> = many.iter().map(|problem| format!("  {problem}")).collect();
            format!(
                "{} problems in the machine file:\n{}",
                many.len(),
                lines.join("\n")
            )
        }
    }
}

/// A machine file that was read: the machine but for its calendar, and how jobs of a trace find
/// their place on it.
#[derive(Clone, Debug)]
pub struct MachineDescription {
    machine: QueueMachine,
    trace: TraceMapping,
    calendar: Vec<CalendarEntry>,
    zone: TimeZone,
    text: String,
    /// What was decided while a `slurm.conf` was read, a sentence each.
    pub notes: Vec<String>,
    /// Keys of a `slurm.conf` that were not read, and how often each stands there.
    pub not_read: Vec<(String, u64)>,
}

impl MachineDescription {
    /// Reads a machine file, or a `slurm.conf` (by its name or by what stands in it), which may
    /// include files from `includes`.
    ///
    /// # Errors
    /// [`MachineError`]: a file that cannot be read, or with every problem that was found in it.
    pub fn load(path: &Path, includes: slurm::Includes) -> Result<Self, MachineError> {
        let text = read_text(path)?;
        let name = path.display().to_string();
        if slurm::is_slurm(path, &text) {
            return Self::of_slurm(&name, &slurm::convert(path, &text, None, None, includes)?);
        }
        Self::parse(&name, &text)
    }

    /// What became of a `slurm.conf`; `file` is its name in messages.
    ///
    /// # Errors
    /// [`MachineError::Invalid`]: a machine that there cannot be, with lines of the machine file that the `slurm.conf` became.
    pub fn of_slurm(file: &str, converted: &slurm::Converted) -> Result<Self, MachineError> {
        let mut description = Self::parse(
            &format!("{file}, as the machine file that `bookahead machine` prints"),
            &converted.to_toml(),
        )?;
        description.notes.clone_from(&converted.notes);
        description.not_read.clone_from(&converted.not_read);
        Ok(description)
    }

    /// Reads the text of a machine file; `file` is its name in messages.
    ///
    /// # Errors
    /// [`MachineError::Invalid`].
    pub fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        resolve::resolve(file, text).map_err(MachineError::Invalid)
    }

    /// The machine without its calendar.
    #[must_use]
    pub fn machine(&self) -> &QueueMachine {
        &self.machine
    }

    /// The text of the machine file; of a `slurm.conf` the one that it became.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The machine with its calendar on the clock of a trace whose second 0 is `start`, in seconds
    /// since 1970. Windows that end before that second are left out.
    ///
    /// # Errors
    /// [`MachineError::NoClock`].
    pub fn on_the_clock_of(
        &self,
        start: Option<i64>,
        names: &TraceNames,
    ) -> Result<QueueMachine, MachineError> {
        let mut machine = self.machine.clone();
        if self.calendar.is_empty() {
            return Ok(machine);
        }
        let start = start.ok_or_else(|| MachineError::NoClock {
            machine: machine.name.clone(),
        })?;
        let mut windows: Vec<Window> = (self.calendar.iter())
            .flat_map(|entry| {
                let users = names.numbers(NameKind::User, &entry.users);
                entry.windows(&self.zone, start, users)
            })
            .filter(|window| window.end > Seconds::ZERO)
            .collect();
        windows.sort_by_key(|window| window.begin);
        machine.windows = windows;
        Ok(machine)
    }

    /// Cores for each processor of a trace.
    #[must_use]
    pub fn cores_per_processor(&self) -> u32 {
        self.trace.cores_per_processor.unwrap_or(1)
    }

    /// The size of the machine in processors of a trace; of more than 32 bits count, as many as
    /// these do.
    #[must_use]
    pub fn processors(&self) -> Nodes {
        let processors = self.machine.cores() / u64::from(self.cores_per_processor());
        Nodes(u32::try_from(processors).unwrap_or(u32::MAX))
    }

    /// Refuses a trace that counts nodes where the machine counts their cores, and one that counts
    /// cores where the machine counts nodes, unless the file says what a processor is.
    ///
    /// # Errors
    /// [`MachineError::CountsNodes`], [`MachineError::CountsCores`].
    pub fn require_units_of(&self, header: &SwfHeader) -> Result<(), MachineError> {
        if self.trace.cores_per_processor.is_some() {
            return Ok(());
        }
        let classes = self.machine.classes.iter();
        let most = classes.map(|class| class.each.cores).max().unwrap_or(1);
        let machine = || self.machine.name.clone();
        if header.counts_nodes() {
            return match most {
                0 | 1 => Ok(()),
                cores => Err(MachineError::CountsNodes {
                    machine: machine(),
                    cores,
                }),
            };
        }
        let (Some(nodes), Some(processors)) = (header.max_nodes(), header.max_procs()) else {
            return Ok(());
        };
        if most > 1 || nodes >= processors || self.machine.cores() > u64::from(nodes) {
            return Ok(());
        }
        Err(MachineError::CountsCores {
            machine: machine(),
            own: self.machine.cores(),
            nodes,
            processors,
        })
    }

    /// Where the records of a trace run: lists of names are looked up in `names`.
    #[must_use]
    pub fn placement(&self, names: &TraceNames) -> Placement {
        Placement::of(&self.trace, names)
    }
}

/// The text of a small file.
///
/// # Errors
/// [`MachineError::Unreadable`], [`MachineError::NotText`].
pub(crate) fn read_text(path: &Path) -> Result<String, MachineError> {
    let bytes = input_file::read_whole(path, MemoryBudget::UNLIMITED).map_err(|source| {
        MachineError::Unreadable {
            path: path.to_owned(),
            source,
        }
    })?;
    String::from_utf8(bytes).map_err(|_| MachineError::NotText {
        path: path.to_owned(),
    })
}
