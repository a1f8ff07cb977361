//! `bookahead machine FILE`: checks a machine file, or makes one of a `slurm.conf`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use bookahead_core::memory::MemoryBudget;

use crate::workload::input_file;
use bookahead_queues::machine_queue::machines::slurm::{self, Includes};
use bookahead_queues::machine_queue::machines::{MachineDescription, MachineError};

/// Arguments of `bookahead machine`.
#[derive(Args, Clone, Debug)]
pub struct MachineArguments {
    /// The machine file (TOML), or a slurm.conf
    pub file: PathBuf,
    /// slurm.conf: qualities of service, as `sacctmgr -P show qos` prints them
    #[arg(long, value_name = "FILE")]
    pub qos: Option<PathBuf>,
    /// slurm.conf: accounts with their shares, as `sacctmgr -P show assoc` prints them
    #[arg(long, value_name = "FILE")]
    pub associations: Option<PathBuf>,
    /// Where included files may be.
    #[command(flatten)]
    pub includes: IncludeArguments,
}

/// Where a slurm.conf may include files from.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct IncludeArguments {
    /// slurm.conf: read included files wherever they are, not only in the folder of the file and
    /// below it
    #[arg(long)]
    pub include_anywhere: bool,
}

impl IncludeArguments {
    /// The same for those who read.
    pub(super) fn allowed(self) -> Includes {
        match self.include_anywhere {
            true => Includes::Anywhere,
            false => Includes::Below,
        }
    }
}

/// Why nothing was printed.
#[derive(Debug, thiserror::Error)]
pub enum MachineCommandError {
    /// A file is wrong.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Lists of Slurm's database go with its configuration.
    #[error(
        "--qos and --associations go with a slurm.conf; {} is a machine file, which has [[qos]] and [[account]] of its own",
        .0.display()
    )]
    NoSlurm(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The answer cannot be written.
    #[error("cannot write the answer: {0}")]
    Output(#[from] std::io::Error),
}

fn text(path: &Path) -> Result<String, MachineCommandError> {
    let bytes = input_file::read_whole(path, MemoryBudget::UNLIMITED).map_err(|source| {
        MachineCommandError::Unreadable {
            path: path.to_owned(),
            source,
        }
    })?;
    String::from_utf8(bytes).map_err(|_| {
        let path = path.to_owned();
        MachineError::NotText { path }.into()
    })
}

/// Checks and converts.
///
/// # Errors
/// [`MachineCommandError`].
pub fn execute(arguments: &MachineArguments) -> Result<ExitCode, MachineCommandError> {
    let path = &arguments.file;
    let configuration = text(path)?;
    let is_slurm = slurm::is_slurm(path, &configuration);
    let description = if is_slurm {
        let read = |path: &Option<PathBuf>| match path {
            Some(path) => text(path).map(|text| Some((path.clone(), text))),
            None => Ok(None),
        };
        let (qualities, associations) = (read(&arguments.qos)?, read(&arguments.associations)?);
        let converted = slurm::convert(
            path,
            &configuration,
            qualities
                .as_ref()
                .map(|(path, text)| (path.as_path(), text.as_str())),
            (associations.as_ref()).map(|(path, text)| (path.as_path(), text.as_str())),
            arguments.includes.allowed(),
        )
        .map_err(MachineError::from)?;
        MachineDescription::of_slurm(&path.display().to_string(), &converted)?
    } else if arguments.qos.is_some() || arguments.associations.is_some() {
        return Err(MachineCommandError::NoSlurm(path.clone()));
    } else {
        MachineDescription::parse(&path.display().to_string(), &configuration)?
    };
    for note in &description.notes {
        super::say(format_args!("note: {note}"));
    }
    if !description.not_read.is_empty() {
        let keys: Vec<String> = (description.not_read.iter())
            .map(|(key, count)| format!("{key} ({count})"))
            .collect();
        super::say(format_args!("not read: {}", keys.join(", ")));
    }
    if is_slurm {
        super::say(in_words(&description).trim_end());
        // A machine file may go into a file: nothing is wrapped.
        std::io::Write::write_all(&mut super::output::people(), description.text().as_bytes())?;
    } else {
        super::print(&in_words(&description))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How large it is.
fn in_words(description: &MachineDescription) -> String {
    let machine = description.machine();
    let mut text = String::new();
    let nodes: u64 = machine
        .classes
        .iter()
        .map(|class| u64::from(class.nodes.0))
        .sum();
    let cores: u64 = (machine.classes.iter())
        .map(|class| u64::from(class.nodes.0) * u64::from(class.each.cores))
        .sum();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {nodes} nodes with {cores} cores in {} classes, {} partitions, {} qualities of service, {} accounts",
        machine.name,
        machine.classes.len(),
        machine.partitions.len(),
        machine.qualities.len(),
        machine.accounts.len()
    );
    text
}
