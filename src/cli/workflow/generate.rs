//! `bookahead workflow generate`: the synthetic and the CyberShake workflow as files.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Answer, WorkflowCommandError};
use crate::random::stream;
use crate::units::{Nodes, Seconds};
use crate::workload::workflows::{
    CyberShakeSettings, LevelSizes, NodesShape, RuntimeShape, SyntheticSettings, VolumeShape,
    cyber_shake, synthetic, write_workflow,
};

/// Arguments of `bookahead workflow generate`.
#[derive(Args, Debug)]
pub(super) struct GenerateArguments {
    #[command(subcommand)]
    model: Model,
}

#[derive(Subcommand, Debug)]
enum Model {
    /// The layered workflow with two parents a task (Singh 2008, Figure 12)
    Synthetic(SyntheticArguments),
    /// The seismic hazard workflow of 8,039 tasks (Singh 2008, Table 2)
    CyberShake(CyberShakeArguments),
}

#[derive(Args, Debug)]
struct SyntheticArguments {
    #[command(flatten)]
    out: OutArguments,
    /// Tasks
    #[arg(long, default_value_t = 100)]
    tasks: u32,
    /// Levels [default: the rounded root of the number of tasks]
    #[arg(long)]
    depth: Option<u32>,
    /// Tasks of each level
    #[arg(long, value_enum, default_value = "drawn")]
    levels: LevelsName,
    /// Parents of each task below the first level
    #[arg(long, default_value_t = 2)]
    parents: u32,
    /// Mean run time in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1_000)]
    mean_runtime: i64,
    /// Distribution of run times
    #[arg(long, value_enum, default_value = "uniform")]
    runtimes: RuntimesName,
    /// Mean number of processors
    #[arg(long, value_name = "N", default_value_t = 22)]
    mean_processors: u32,
    /// Distribution of numbers of processors
    #[arg(long, value_enum, default_value = "uniform")]
    processors: SpreadName,
    /// No task is wider than this machine
    #[arg(long, value_name = "N")]
    most_processors: Option<u32>,
    /// Mean volume of an edge in Gbit
    #[arg(long, value_name = "GBIT", default_value_t = 0.0)]
    mean_gigabits: f64,
    /// Distribution of volumes
    #[arg(long, value_enum, default_value = "constant")]
    volumes: SpreadName,
}

#[derive(Args, Debug)]
struct CyberShakeArguments {
    #[command(flatten)]
    out: OutArguments,
    /// Coefficient of variation of log-normal run times; 0 gives every task the mean of its module
    #[arg(long, value_name = "CV", default_value_t = 0.0)]
    runtime_variation: f64,
    /// Volume of each edge in Gbit
    #[arg(long, value_name = "GBIT", default_value_t = 0.0)]
    mean_gigabits: f64,
}

#[derive(Args, Debug)]
struct OutArguments {
    /// The file to write: .json for a WfCommons instance, .xml or .dax for a Pegasus DAX
    out: PathBuf,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LevelsName {
    /// One each; the levels of the other tasks are drawn
    Drawn,
    /// The same number in each
    Equal,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RuntimesName {
    /// Uniform up to twice the mean
    Uniform,
    /// Exponential
    Exponential,
    /// Always the mean
    Constant,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SpreadName {
    /// Uniform up to twice the mean
    Uniform,
    /// Always the mean
    Constant,
}

/// Draws a workflow and writes it.
pub(super) fn generate(arguments: &GenerateArguments) -> Result<Answer, WorkflowCommandError> {
    let (workflow, out) = match &arguments.model {
        Model::Synthetic(arguments) => {
            let mut stream = stream(arguments.out.seed, "synthetic-workflow", 0, "workflow");
            let workflow = synthetic(&arguments.settings()?, &mut stream)?;
            (workflow, &arguments.out.out)
        }
        Model::CyberShake(arguments) => {
            let mut stream = stream(arguments.out.seed, "cyber-shake-workflow", 0, "workflow");
            let settings = CyberShakeSettings {
                runtime_variation: arguments.runtime_variation,
                bytes: bytes(arguments.mean_gigabits)?,
            };
            (cyber_shake(&settings, &mut stream)?, &arguments.out.out)
        }
    };
    write_workflow(&workflow, out)?;
    Ok(Answer {
        data: format!("{}\n", out.display()),
        messages: Vec::new(),
    })
}

impl SyntheticArguments {
    fn settings(&self) -> Result<SyntheticSettings, WorkflowCommandError> {
        Ok(SyntheticSettings {
            tasks: self.tasks,
            depth: self.depth,
            levels: match self.levels {
                LevelsName::Drawn => LevelSizes::Drawn,
                LevelsName::Equal => LevelSizes::Equal,
            },
            parents: self.parents,
            mean_runtime: Seconds(self.mean_runtime),
            runtimes: match self.runtimes {
                RuntimesName::Uniform => RuntimeShape::Uniform,
                RuntimesName::Exponential => RuntimeShape::Exponential,
                RuntimesName::Constant => RuntimeShape::Constant,
            },
            mean_nodes: Nodes(self.mean_processors),
            nodes: match self.processors {
                SpreadName::Uniform => NodesShape::Uniform,
                SpreadName::Constant => NodesShape::Constant,
            },
            most_nodes: self.most_processors.map(Nodes),
            mean_bytes: bytes(self.mean_gigabits)?,
            volumes: match self.volumes {
                SpreadName::Uniform => VolumeShape::Uniform,
                SpreadName::Constant => VolumeShape::Constant,
            },
        })
    }
}

/// Gbit as whole bytes.
fn bytes(gigabits: f64) -> Result<u64, WorkflowCommandError> {
    if (0.0..=1e9).contains(&gigabits) {
        Ok((gigabits * 1.25e8).round() as u64)
    } else {
        Err(WorkflowCommandError::Volume(gigabits))
    }
}
