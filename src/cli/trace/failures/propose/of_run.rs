//! What to do against failures for each job that a run accepted.

use std::fmt::Write as _;
use std::path::PathBuf;

use bookahead_operators::proposals::{Measure, MeasureTimes, PromisedJob, Proposal, proposals};
use clap::Args;
use miette::{IntoDiagnostic, miette};
use serde::Serialize;

use super::super::super::Answer;
use super::super::super::estimates::drawn;
use super::super::{percent, table, whole};
use super::{NodeRates, name};
use crate::cli::studies;
use crate::store::{RunSelector, Store};
use bookahead_report::{Cell, Table};

#[derive(Args, Debug)]
pub(super) struct OfRunArguments {
    /// For each job that this run accepted: its number, the name of an experiment, or `latest`
    #[arg(
        long,
        value_name = "RUN|latest",
        requires = "propose",
        conflicts_with_all = ["nodes", "hours", "deadline_hours", "fee"]
    )]
    pub(super) run: Option<RunSelector>,
    /// The point of the run, by its place
    #[arg(long, value_name = "PLACE", default_value_t = 0, requires = "run")]
    point: i64,
    /// The store that the run is in
    #[arg(
        long,
        value_name = "FILE",
        default_value = "data/bookahead.db",
        requires = "run"
    )]
    store: PathBuf,
}

/// What jobs have in common.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) penalty_ratio: f64,
    pub(super) node_hour_price: f64,
    pub(super) times: MeasureTimes,
}

/// What is best for a job, as JSON.
#[derive(Serialize)]
struct BestForJob {
    /// Of several clusters, from 0.
    cluster: Option<i64>,
    /// Its position in the workload.
    job: i64,
    promised: PromisedJob,
    /// The best measure first.
    proposals: Vec<Proposal>,
}

impl BestForJob {
    /// The expected profit of the best measure, and by how much it exceeds that of nothing.
    fn gained(&self) -> (f64, f64) {
        let nothing = |proposal: &&Proposal| proposal.measure == Measure::Nothing;
        let best = self.proposals.first().map_or(0.0, |best| best.profit);
        let without = self.proposals.iter().find(nothing);
        (best, best - without.map_or(0.0, |nothing| nothing.profit))
    }
}

/// What is printed as JSON.
#[derive(Serialize)]
struct ProposedOfRun {
    system: u32,
    run: i64,
    place: i64,
    times: MeasureTimes,
    /// Jobs that are wider than the system.
    too_wide: usize,
    jobs: Vec<BestForJob>,
}

/// Proposes what to do for each job that a point of a run accepted: it holds its nodes as long as
/// its slot was planned, and must end by its deadline.
pub(super) fn list(
    rates: &NodeRates,
    selector: &RunSelector,
    arguments: &OfRunArguments,
    terms: Terms,
    json: bool,
) -> miette::Result<Answer> {
    let store = Store::open_read_only(studies(), &arguments.store).into_diagnostic()?;
    let run = store.run(selector).into_diagnostic()?;
    let (run, place) = (run.id.0, arguments.point);
    let accepted = store
        .rows(
            "reading accepted jobs",
            "SELECT cluster, job, nodes, planned_end - planned_start, deadline - planned_start
             FROM v_all_jobs WHERE run = ?1 AND simulation = (
                SELECT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point
                WHERE rp.run = ?1 AND rp.place = ?2)
                AND planned_end > planned_start ORDER BY cluster, job",
            (run, place),
            |row| {
                let hours = |seconds: i64| seconds as f64 / 3_600.0;
                let (nodes, slot) = (row.get::<_, u32>(2)?, hours(row.get(3)?));
                let deadline = row.get::<_, Option<i64>>(4)?.map(hours);
                let promised = PromisedJob {
                    nodes,
                    hours: slot,
                    deadline_hours: deadline.unwrap_or(2.0 * slot).max(slot),
                    fee: f64::from(nodes) * slot,
                    penalty_ratio: terms.penalty_ratio,
                    node_hour_price: terms.node_hour_price,
                };
                Ok((row.get(0)?, row.get(1)?, promised))
            },
        )
        .into_diagnostic()?;
    if accepted.is_empty() {
        return Err(miette!(
            "--point {place}: no outcome of an accepted job is stored of this point of run {run}; \
             `bookahead show {run} --points` lists its points, and `run --outcomes all` stores jobs"
        ));
    }
    let all = accepted.len();
    let jobs: Vec<BestForJob> = accepted
        .into_iter()
        .filter_map(|(cluster, job, promised)| {
            let proposals = proposals(promised, rates.of_job(promised.nodes)?, terms.times);
            Some(BestForJob {
                cluster,
                job,
                promised,
                proposals,
            })
        })
        .collect();
    let proposed = ProposedOfRun {
        system: rates.system,
        run,
        place,
        times: terms.times,
        too_wide: all - jobs.len(),
        jobs,
    };
    let mut answer = Answer::default();
    if json {
        answer.data = crate::cli::output::json(&proposed).into_diagnostic()?;
        return Ok(answer);
    }
    let _ = writeln!(
        answer.data,
        "system       {}, {} nodes",
        rates.system,
        rates.learned.len()
    );
    let _ = writeln!(
        answer.data,
        "jobs         {all} that point {place} of run {run} accepted, {} of them wider than the system",
        proposed.too_wide
    );
    let shown = shown(&proposed.jobs);
    let _ = write!(answer.data, "\n{}", drawn(&shown)?);
    for line in textwrap::wrap(&shown.note, 80) {
        let _ = writeln!(answer.data, "{line}");
    }
    Ok(answer)
}

fn shown(jobs: &[BestForJob]) -> Table {
    let rows = Measure::ALL.into_iter().map(|measure| {
        let best = |job: &&BestForJob| {
            job.proposals
                .first()
                .is_some_and(|best| best.measure == measure)
        };
        let theirs: Vec<&BestForJob> = jobs.iter().filter(best).collect();
        let sum = |of: fn(&BestForJob) -> f64| theirs.iter().map(|job| of(job)).sum::<f64>();
        vec![
            Cell::Text(name(measure).to_owned()),
            whole(theirs.len() as u64),
            percent(theirs.len() as f64 / jobs.len().max(1) as f64),
            Cell::Number(sum(|job| job.gained().0)),
            Cell::Number(sum(|job| job.gained().1)),
        ]
    });
    table(
        "What is best for how many jobs",
        &[
            ("best", 0),
            ("jobs", 0),
            ("jobs (%)", 1),
            ("expected profit", 0),
            ("more than nothing", 1),
        ],
        rows,
        "A job is paid its node-hours, and holds its nodes as long as its slot was planned. Each is looked at by itself, \
         as with --nodes and --hours. So not all that should have the most reliable nodes can have them at once; and \
         that writing, two runs and later ends leave less room for others counts as what the extra node-hours earn \
         elsewhere, and as nothing else.",
    )
}
