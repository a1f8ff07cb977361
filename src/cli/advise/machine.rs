//! The machine that the user described, if any.

use std::path::PathBuf;

use super::{AdviseArguments, AdviseError, Reservation};
use crate::units::{Nodes, Seconds};
use bookahead_queues::machine_queue::AddedReservation;
use bookahead_queues::machine_queue::machines::MachineDescription;
use bookahead_queues::machine_queue::machines::slurm::Includes;

/// Files that describe a machine, as the user named them.
#[derive(Clone, Debug)]
pub(super) struct MachineFiles {
    pub(super) file: String,
    /// What the numbers of the log are called.
    pub(super) names: Option<String>,
}

/// A machine that was described, with the files that do.
pub(super) struct Machine {
    pub(super) files: MachineFiles,
    pub(super) description: MachineDescription,
}

impl Machine {
    pub(super) fn nodes(&self) -> u32 {
        let classes = self.description.machine().classes.iter();
        classes.map(|class| class.nodes.0).sum()
    }

    /// What the planner takes for nodes: processors of the log.
    pub(super) fn processors(&self) -> u32 {
        self.description.processors().0
    }

    pub(super) fn reserved_cores(&self, reservation: Reservation) -> u64 {
        let added = AddedReservation {
            nodes: Nodes(reservation.nodes),
            duration: Seconds::ZERO,
        };
        added.cores(self.description.machine())
    }
}

/// The machine that the arguments name.
pub(super) fn machine(arguments: &AdviseArguments) -> Result<Option<Machine>, AdviseError> {
    let Some(file) = &arguments.machine else {
        return Ok(None);
    };
    let text = |path: &PathBuf| {
        let text = path.to_str().map(str::to_owned);
        text.ok_or_else(|| AdviseError::Path(path.clone()))
    };
    Ok(Some(Machine {
        files: MachineFiles {
            file: text(file)?,
            names: arguments.names.as_ref().map(text).transpose()?,
        },
        description: MachineDescription::load(file, Includes::Below)?,
    }))
}
