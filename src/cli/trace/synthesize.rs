//! `bookahead trace synthesize`: a trace from a model.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use miette::{IntoDiagnostic, miette};

use super::load::LoadArguments;
use super::{Answer, demand_of, write};
use crate::units::Nodes;
use crate::workload::{CleaningRules, JobStream, TraceFolder, WorkloadSource, arminius, load};

#[derive(Args, Debug)]
pub(super) struct SynthesizeArguments {
    /// The file to write; .gz and .xz are compressed
    out: PathBuf,
    /// The model
    #[arg(long, value_enum)]
    model: Model,
    /// Jobs to generate
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,
    /// Size of the machine [default: 128; Arminius has 200]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    load: LoadArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Model {
    /// Lublin and Feitelson 2003, with user estimates after Tsafrir 2005
    LublinFeitelson,
    /// The same with run times that are a uniform share of the estimates
    UniformRatio,
    /// Fitted to the published totals of the Arminius log
    Arminius,
}

pub(super) fn synthesize(
    arguments: &SynthesizeArguments,
    folder: &TraceFolder,
) -> miette::Result<Answer> {
    let (source, nodes) = match (arguments.model, arguments.nodes) {
        (Model::LublinFeitelson, nodes) => (
            WorkloadSource::LublinFeitelson {
                jobs: arguments.jobs,
            },
            nodes.unwrap_or(128),
        ),
        (Model::UniformRatio, nodes) => (
            WorkloadSource::UniformRatio {
                jobs: arguments.jobs,
            },
            nodes.unwrap_or(128),
        ),
        (Model::Arminius, None | Some(arminius::NODES)) => (
            WorkloadSource::Arminius {
                jobs: arguments.jobs,
            },
            arminius::NODES,
        ),
        (Model::Arminius, Some(nodes)) => {
            return Err(miette!(
                "--nodes is {nodes}, but the Arminius model is fitted to {} nodes; leave --nodes out",
                arminius::NODES
            ));
        }
    };
    let machine = Nodes(nodes);
    let trace = load(&source, machine, folder, arguments.seed, 0).into_diagnostic()?;
    let records = || trace.records.iter().copied().map(Ok);
    let jobs = || JobStream::new(records(), CleaningRules::default());
    let demand = demand_of(&mut jobs(), machine)?;
    let factor = arguments.load.factor(&trace.label, &demand, machine)?;
    let mut header = trace.header.clone();
    if let (Some(factor), Some(words)) = (factor, arguments.load.in_words(machine)) {
        header.note(&format!(
            "submit times rebased to the first job and multiplied by {factor}, so that {words}"
        ));
    }
    write(&arguments.out, &header, &mut jobs(), factor)?;
    Ok(Answer {
        data: format!(
            "model        {}\nwritten      {}\n",
            trace.label, demand.jobs
        ),
        messages: format!("wrote {}\n", arguments.out.display()),
    })
}
