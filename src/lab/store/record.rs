//! What goes into the store: runs, finished and failed simulations, and how much of them is kept.

use crate::study::Studies;
use crate::sweep::{Axis, RESULT_FORMAT, Sweep};
pub use crate::sweep::{FailedSimulation, FinishedSimulation, OutcomeDetail, RunState};

/// The number of a run in one store, from 1, in the order in which runs began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub i64);

impl OutcomeDetail {
    /// What a code in that column means; what is not known keeps least.
    pub(super) fn of_code(code: i64) -> Self {
        match code {
            2 => Self::All,
            1 => Self::Metrics,
            _ => Self::None,
        }
    }

    /// The code in the column `simulation.detail`.
    pub(super) fn code(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Metrics => 1,
            Self::All => 2,
        }
    }
}

impl RunState {
    /// The code in the column `run.state` (0 is "running").
    pub(super) fn code(self) -> i64 {
        match self {
            Self::Done => 1,
            Self::Interrupted => 2,
            Self::Failed => 3,
        }
    }
}

/// What is known of a run when it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The experiment's name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The configuration file, where there was one.
    pub source: Option<String>,
    /// The configuration text as read.
    pub configuration: String,
    /// The sweep's seed.
    pub seed: u64,
    /// Replications a combination of axis values.
    pub replications: u32,
    /// The program's version.
    pub program_version: String,
    /// The commit that the program was built from, where the build knew it.
    pub program_commit: Option<String>,
    /// [`RESULT_FORMAT`] of the engine.
    pub result_format: u32,
    /// Processor cores of the machine.
    pub machine_cores: u32,
    /// Operating system and architecture.
    pub machine_os: String,
    /// Number of points of the sweep.
    pub points: u64,
    /// The axes in the order of the file.
    pub axes: Vec<Axis>,
    /// What the simulations read.
    pub inputs: Vec<RunInput>,
    /// What cleaning dropped of their workloads.
    pub losses: Vec<RecordLoss>,
    /// The machines that a reader should know something of.
    pub machines: Vec<SimulatedMachine>,
}

pub use crate::sweep::{InputRemark, RecordLoss, RunInput, SimulatedMachine};

impl RunRecord {
    /// The record of a sweep that the program with these studies is about to run on this machine.
    #[must_use]
    pub fn of(sweep: &Sweep, studies: Studies) -> Self {
        Self {
            name: sweep.name.clone(),
            description: sweep.description.clone(),
            source: sweep.source.as_ref().map(|path| path.display().to_string()),
            configuration: sweep.text.clone(),
            seed: sweep.seed,
            replications: sweep.replications,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            program_commit: studies.commit().map(str::to_owned),
            result_format: RESULT_FORMAT,
            machine_cores: std::thread::available_parallelism()
                .map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX)),
            machine_os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            points: sweep.points.len() as u64,
            axes: sweep.axes.clone(),
            inputs: sweep.inputs.clone(),
            losses: sweep.losses.clone(),
            machines: sweep.machines.clone(),
        }
    }
}

/// What a writer wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteSummary {
    /// Simulations stored as done.
    pub simulations: u64,
    /// Simulations that the store had already, with at least this much detail; their points were
    /// linked.
    pub already_there: u64,
    /// Simulations stored as failed.
    pub failed: u64,
    /// Points linked to the run by this writer.
    pub points: u64,
    /// Job outcomes.
    pub job_rows: u64,
    /// Node events.
    pub node_event_rows: u64,
    /// Committed transactions.
    pub transactions: u64,
}
