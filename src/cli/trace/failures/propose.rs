//! `bookahead trace failures --propose`: what to do for a job against failures of its nodes.

mod of_run;

use std::fmt::Write as _;

use bookahead_operators::proposals::{
    JobFailureRates, Measure, MeasureTimes, PromisedJob, Proposal, proposals,
};
use bookahead_operators::weak_nodes::{WeakNodeRule, system_rates};
use clap::Args;
use miette::{IntoDiagnostic, miette};
use serde::Serialize;

use super::super::Answer;
use super::super::estimates::drawn;
use super::{percent, table};
use crate::failures::FailureLog;
use bookahead_report::{Cell, Table};

#[derive(Args, Debug)]
pub(super) struct ProposeArguments {
    /// Say what to do for a job, or for those of a run, against failures of the nodes of one
    /// system, and nothing else
    #[arg(long)]
    pub(super) propose: bool,
    #[command(flatten)]
    of_run: of_run::OfRunArguments,
    /// Nodes of the job
    #[arg(long, value_name = "NODES", requires = "propose")]
    nodes: Option<u32>,
    /// How long it runs
    #[arg(long, value_name = "HOURS", requires = "propose")]
    hours: Option<f64>,
    /// When it has to end, from its start on [default: twice its run time]
    #[arg(long, value_name = "HOURS", requires = "propose")]
    deadline_hours: Option<f64>,
    /// What is paid for it [default: its node-hours]
    #[arg(long, value_name = "AMOUNT", requires = "propose")]
    fee: Option<f64>,
    /// What is paid back where it fails, in fees
    #[arg(long, value_name = "FEES", default_value_t = 1.0, requires = "propose")]
    penalty_ratio: f64,
    /// What a node-hour earns elsewhere
    #[arg(
        long,
        value_name = "AMOUNT",
        default_value_t = 0.5,
        requires = "propose"
    )]
    node_hour_price: f64,
    /// How long a checkpoint is written
    #[arg(
        long,
        value_name = "MINUTES",
        default_value_t = 5.0,
        requires = "propose"
    )]
    write_minutes: f64,
    /// How long it takes to read one and start again
    #[arg(
        long,
        value_name = "MINUTES",
        default_value_t = 5.0,
        requires = "propose"
    )]
    read_minutes: f64,
    /// How long it takes to start anew on other nodes
    #[arg(
        long,
        value_name = "MINUTES",
        default_value_t = 10.0,
        requires = "propose"
    )]
    transfer_minutes: f64,
}

/// What nodes of a system fail, per hour.
struct NodeRates {
    system: u32,
    /// All together, over their number.
    common: f64,
    /// As learned of each, the most reliable first.
    learned: Vec<f64>,
}

impl NodeRates {
    /// Those of the nodes of a job; `None` where the system has fewer.
    fn of_job(&self, nodes: u32) -> Option<JobFailureRates> {
        let reliable = self.learned.get(..nodes as usize)?;
        Some(JobFailureRates {
            any_nodes: f64::from(nodes) * self.common,
            reliable_nodes: reliable.iter().sum(),
        })
    }
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Proposed {
    system: u32,
    job: PromisedJob,
    rates: JobFailureRates,
    times: MeasureTimes,
    proposals: Vec<Proposal>,
}

/// Proposes what to do for a job on the one system of a log that has failures.
pub(super) fn list(
    log: &FailureLog,
    arguments: &ProposeArguments,
    json: bool,
) -> miette::Result<Answer> {
    let mut systems: Vec<u32> = log.records.iter().map(|record| record.system).collect();
    systems.dedup();
    let [system] = systems[..] else {
        return Err(miette!(
            "--propose: a job runs on one system, and the table has {systems:?}; choose one, as in --systems {}",
            systems[0]
        ));
    };
    let prior = WeakNodeRule::default().prior_failures;
    let Some(found) = system_rates(log, system, prior).into_diagnostic()? else {
        return Err(miette!(
            "system {system}: its failures say nothing of rates, as they all begin at one instant; choose another one"
        ));
    };
    let mut learned = found.learned;
    learned.sort_by(f64::total_cmp);
    let nodes = NodeRates {
        system,
        common: found.common,
        learned,
    };
    let times = times(arguments)?;
    if let Some(run) = &arguments.of_run.run {
        let (penalty_ratio, node_hour_price) = (penalty_ratio(arguments)?, price(arguments)?);
        let terms = of_run::Terms {
            penalty_ratio,
            node_hour_price,
            times,
        };
        return of_run::list(&nodes, run, &arguments.of_run, terms, json);
    }
    let job = job(arguments)?;
    let there = nodes.learned.len();
    let Some(rates) = nodes.of_job(job.nodes) else {
        return Err(miette!(
            "--nodes {}: system {system} has {there} nodes; ask for fewer",
            job.nodes
        ));
    };
    let proposed = Proposed {
        system,
        job,
        rates,
        times,
        proposals: proposals(job, rates, times),
    };
    let mut answer = Answer::default();
    if json {
        answer.data = crate::cli::output::json(&proposed).into_diagnostic()?;
        return Ok(answer);
    }
    let _ = writeln!(answer.data, "system       {system}, {there} nodes");
    let _ = writeln!(
        answer.data,
        "job          {} nodes for {} h, to end after {} h; fee {}, penalty {}",
        job.nodes,
        job.hours,
        job.deadline_hours,
        job.fee,
        job.fee * job.penalty_ratio
    );
    let shown = shown(&proposed.proposals);
    let _ = write!(answer.data, "\n{}", drawn(&shown)?);
    for line in textwrap::wrap(&shown.note, 80) {
        let _ = writeln!(answer.data, "{line}");
    }
    Ok(answer)
}

fn job(arguments: &ProposeArguments) -> miette::Result<PromisedJob> {
    let (Some(nodes), Some(hours)) = (arguments.nodes, arguments.hours) else {
        return Err(miette!(
            "--propose: say for which job, as in --nodes 64 --hours 24, or for those of which run, as in --run latest"
        ));
    };
    let hours = at_least("--hours", hours, 0.0, "24")?;
    if nodes == 0 || hours == 0.0 {
        return Err(miette!(
            "--nodes {nodes} --hours {hours}: a job has a node at least and takes time, as in --nodes 64 --hours 24"
        ));
    }
    let deadline = arguments.deadline_hours.unwrap_or(2.0 * hours);
    if deadline < hours {
        return Err(miette!(
            "--deadline-hours {deadline}: the job cannot end by then, as it runs for {hours} h; give it {hours} or more"
        ));
    }
    let fee = arguments.fee.unwrap_or(f64::from(nodes) * hours);
    Ok(PromisedJob {
        nodes,
        hours,
        deadline_hours: at_least("--deadline-hours", deadline, hours, "48")?,
        fee: at_least("--fee", fee, 0.0, "1536")?,
        penalty_ratio: penalty_ratio(arguments)?,
        node_hour_price: price(arguments)?,
    })
}

fn penalty_ratio(arguments: &ProposeArguments) -> miette::Result<f64> {
    at_least("--penalty-ratio", arguments.penalty_ratio, 0.0, "4")
}

fn price(arguments: &ProposeArguments) -> miette::Result<f64> {
    at_least("--node-hour-price", arguments.node_hour_price, 0.0, "0.5")
}

fn times(arguments: &ProposeArguments) -> miette::Result<MeasureTimes> {
    let hours = |option, minutes| at_least(option, minutes, 0.0, "5").map(|minutes| minutes / 60.0);
    Ok(MeasureTimes {
        write_hours: hours("--write-minutes", arguments.write_minutes)?,
        read_hours: hours("--read-minutes", arguments.read_minutes)?,
        transfer_hours: hours("--transfer-minutes", arguments.transfer_minutes)?,
    })
}

/// A finite number that is not below the least one.
fn at_least(option: &str, value: f64, least: f64, example: &str) -> miette::Result<f64> {
    if value.is_finite() && value >= least {
        return Ok(value);
    }
    Err(miette!(
        "{option} {value}: it must be a number of {least} or more, as in {option} {example}"
    ))
}

fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::Nothing => "nothing",
        Measure::ReliableNodes => "the most reliable nodes",
        Measure::DoubleExecution => "run it twice",
        Measure::Checkpoints => "write checkpoints",
        Measure::Migration => "start anew elsewhere",
    }
}

fn shown(found: &[Proposal]) -> Table {
    let row = |proposal: &Proposal| {
        vec![
            Cell::Text(name(proposal.measure).to_owned()),
            percent(proposal.success),
            Cell::Number(proposal.extra_node_hours),
            Cell::Number(proposal.profit),
        ]
    };
    table(
        "Proposals",
        &[
            ("measure", 0),
            ("in time (%)", 2),
            ("extra node-hours", 1),
            ("expected profit", 2),
        ],
        found.iter().map(row),
        "The most profitable first: the fee and the penalty with their probabilities, less what the extra node-hours earn \
         elsewhere. Nodes are taken to fail independently and at constant rates, and others to be free at once; nothing \
         else breaks the promise. Checkpoints are left out where they do not fit before the deadline, or are too many \
         to be reckoned with.",
    )
}
