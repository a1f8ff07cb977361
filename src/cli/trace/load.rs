//! `--load` and `--load-by`: to which load arrivals are scaled.

use clap::Args;
use miette::{IntoDiagnostic, miette};

use crate::cli::simulate::LoadBy;
use crate::units::Nodes;
use crate::workload::{Demand, LoadTime, WorkloadError};

#[derive(Args, Debug)]
pub(super) struct LoadArguments {
    /// Scale the times between arrivals so that the jobs offer this load (1 = the whole machine)
    #[arg(long, value_name = "LOAD", allow_negative_numbers = true)]
    load: Option<f64>,
    /// Which time of a job --load counts
    #[arg(long, value_enum, default_value = "estimates", requires = "load")]
    load_by: LoadBy,
}

impl LoadArguments {
    /// What times between arrivals are multiplied by, where a load is asked for.
    pub(super) fn factor(
        &self,
        label: &str,
        demand: &Demand,
        machine: Nodes,
    ) -> miette::Result<Option<f64>> {
        let Some(load) = self.load else {
            return Ok(None);
        };
        positive("--load", load)?;
        match demand.offered_load(machine, self.load_by.into()) {
            Some(offered) if offered > 0.0 => Ok(Some(offered / load)),
            _ => Err(WorkloadError::NoLoad {
                label: label.to_owned(),
                part: "the usable jobs".to_owned(),
            })
            .into_diagnostic(),
        }
    }

    /// What the factor does, for the head of the trace; `None` where no load is asked for.
    pub(super) fn in_words(&self, nodes: Nodes) -> Option<String> {
        let whose = match LoadTime::from(self.load_by) {
            LoadTime::Estimates => "estimates",
            LoadTime::Runtimes => "run times",
        };
        let load = self.load?;
        Some(format!(
            "the {whose} offer a load of {load} on {} nodes",
            nodes.0
        ))
    }
}

/// Refuses what arrivals cannot be scaled by.
pub(super) fn positive(option: &str, value: f64) -> miette::Result<()> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(miette!(
            "{option} is {value}; allowed is a finite number above 0"
        )),
    }
}
