//! `bookahead run`: an experiment file from check to summary.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::aligned::{Aligned, Heading, form};
use super::durability::DurabilityArgument;
use super::memory::MemoryArguments;
use crate::cli::studies;
use crate::store::{RunSelector, Store, StoreError};
use crate::sweep::{
    Experiment, ExperimentError, OutcomeDetail, Problem, RewriteError, RunState, Shard, Sweep,
    SweepError, SweepOptions, SweepSummary, shown, while_working,
};
use bookahead_report::ReportError;
use clap::{Args, ValueEnum};

/// Arguments of `bookahead run`.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// The experiment file (TOML); `-` reads it from standard input
    pub config: PathBuf,
    /// The database [default: data/bookahead.db; of a share data/NAME.shards/shard-I-of-N.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Run only the I-th of N shares of the simulations, equal in expected cost, into a store of
    /// its own; `bookahead merge` joins the stores
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// What a power failure may cost
    #[command(flatten)]
    pub durability: DurabilityArgument,
    /// Worker threads [default: the cores]
    #[arg(long, value_name = "N", value_parser = super::workers)]
    pub workers: Option<NonZeroUsize>,
    /// Use this seed instead of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What to keep: every job's outcome, the points' metrics only, or nothing at all (to measure
    /// speed)
    #[arg(long, value_enum, default_value = "all")]
    pub outcomes: Outcomes,
    /// Measure how long each decision takes by the clock: median, 99th percentile and maximum of a
    /// simulation (`show RUN --point P`, `decision_timing` in SQL). Fast policies take up to a
    /// tenth longer; points that are done are measured with --fresh
    #[arg(long)]
    pub time_decisions: bool,
    /// Where the report goes [default: reports/ and the experiment's name; a share gets one only
    /// with this option]
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Print every point and an estimate of time and size, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Retry simulations that failed before
    #[arg(long)]
    pub retry_failed: bool,
    /// Compute every point again, even if the store has it; older runs keep their results
    #[arg(long, conflicts_with = "retry_failed")]
    pub fresh: bool,
    /// Write no report
    #[arg(long, conflicts_with = "report")]
    pub no_report: bool,
    /// For scripts: the run as a JSON object in the place of the table, or what is wrong as
    /// `error`; with --dry-run the points as an array
    #[arg(long)]
    pub json: bool,
    /// Print only what goes wrong: no progress, no summary, no table
    #[arg(long)]
    pub quiet: bool,
    /// How much memory inputs may take.
    #[command(flatten)]
    pub memory: MemoryArguments,
}

/// Values of `--outcomes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Outcomes {
    /// Every job's outcome and every point's metrics.
    All,
    /// Every point's metrics.
    Metrics,
    /// Nothing.
    None,
}

impl From<Outcomes> for OutcomeDetail {
    fn from(outcomes: Outcomes) -> Self {
        match outcomes {
            Outcomes::All => Self::All,
            Outcomes::Metrics => Self::Metrics,
            Outcomes::None => Self::None,
        }
    }
}

/// Why the command ends with exit code 2, or 1 where the store broke under way.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    #[error("{0}")]
    Experiment(#[from] ExperimentError),
    #[error("the experiment file {} was not changed: {source}", path.display())]
    Rewrite { path: PathBuf, source: RewriteError },
    #[error("the experiment file {} cannot be replaced: {source}", path.display())]
    Unwritten { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Sweep(#[from] SweepError),
    #[error(
        "{source}. {}; `bookahead report {run} --store {store} --out DIR` writes their report",
        if store.is_file() { format!("The results of run {run} are in {}", store.display()) }
        else { format!("The store {} has disappeared: put it back", store.display()) },
        store = store.display()
    )]
    Report {
        run: i64,
        store: PathBuf,
        source: Box<ReportError>,
    },
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    #[error("Ctrl-C cannot be received: {0}")]
    Signals(io::Error),
}

/// Runs the command and returns its exit code.
pub fn run(arguments: &RunArgs) -> ExitCode {
    ended_for(arguments.json, carry_out(arguments))
}

/// As [`ended`]; a script is told what went wrong as JSON, too.
pub(super) fn ended_for(json: bool, result: Result<u8, RunError>) -> ExitCode {
    if json && let Err(error) = &result {
        // Who cannot read it has the message on standard error, as everybody.
        let _ = super::screen::print_json(&error_json(error));
    }
    ended(result)
}

/// What went wrong, for scripts: the message, and where it is about the experiment each of its
/// problems.
fn error_json(error: &RunError) -> serde_json::Value {
    let problems = match error {
        RunError::Experiment(error) => error.problems(),
        _ => &[],
    };
    let problem = |problem: &Problem| {
        serde_json::json!({
            "file": problem.file,
            "line": problem.line,
            "key": problem.key,
            "message": problem.message,
            "help": problem.help,
        })
    };
    serde_json::json!({"error": {
        "message": error.to_string(),
        "problems": problems.iter().map(problem).collect::<Vec<_>>(),
    }})
}

/// Says what went wrong, where something did, and returns the exit code.
pub(super) fn ended(result: Result<u8, RunError>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(RunError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(RunError::Experiment(error)) => {
            complain(&error);
            ExitCode::from(2)
        }
        Err(error @ RunError::Sweep(SweepError::Broken(_))) => {
            super::say(format_args!("error: {error}"));
            ExitCode::from(1)
        }
        Err(error) => {
            super::say(format_args!("error: {error}"));
            ExitCode::from(2)
        }
    }
}

fn carry_out(arguments: &RunArgs) -> Result<u8, RunError> {
    let Experiment { sweep, warnings } =
        while_working("reading the experiment", arguments.quiet, || {
            Experiment::load(studies(), &arguments.config, arguments.seed)
        })?;
    for warning in &warnings {
        show(warning);
    }
    let mut options = SweepOptions::new(studies(), store_of(arguments, &sweep.name));
    options.folders.memory = arguments.memory.budget();
    options.shard = arguments.shard;
    options.outcomes = arguments.outcomes.into();
    options.time_decisions = arguments.time_decisions;
    options.durability = arguments.durability.into();
    options.quiet = arguments.quiet;
    options.retry_failed = arguments.retry_failed;
    options.fresh = arguments.fresh;
    if let Some(workers) = arguments.workers {
        options.workers = workers.get();
    }
    if arguments.dry_run {
        let (sweep, plan) = crate::store::dry_run(sweep, &options)?;
        for remark in sweep.input_remarks() {
            super::say(&remark);
        }
        if arguments.json {
            super::screen::print_json(&points_json(&sweep))?;
            super::say(plan);
            return Ok(0);
        }
        let mut out = io::BufWriter::new(super::output::people());
        write_points(&sweep, &mut out)?;
        writeln!(out, "\n{plan}")?;
        for remark in &plan.remarks {
            writeln!(out, "note: {remark}")?;
        }
        out.flush()?;
        return Ok(0);
    }
    options.interrupt.listen().map_err(RunError::Signals)?;
    let name = sweep.name.clone();
    let summary = crate::store::run_sweep(sweep, &options)?;
    if summary.state == RunState::Interrupted {
        // The log has said how much is left and that the same command goes on.
        return told(arguments, &options, &summary, None);
    }
    if let (Some(shard), None) = (arguments.shard, &arguments.report) {
        let store = options.store.display();
        if !arguments.quiet {
            super::say(format_args!(
                "share {shard} is in {store}; `bookahead merge OUT {store} …` joins it with the others, \
                 `bookahead report latest --store OUT` writes the report"
            ));
        }
        return told(arguments, &options, &summary, None);
    }
    let folder = (!arguments.no_report).then(|| {
        let named = arguments.report.clone();
        named.unwrap_or_else(|| PathBuf::from("reports").join(name))
    });
    if let (Some(run), Some(folder)) = (summary.run, &folder) {
        options.quiet |= arguments.json;
        write_report(&options, run, folder)?;
    }
    told(arguments, &options, &summary, folder.as_deref())
}

/// Tells a script what became of the run; returns the exit code.
fn told(
    arguments: &RunArgs,
    options: &SweepOptions,
    summary: &SweepSummary,
    report: Option<&Path>,
) -> Result<u8, RunError> {
    if arguments.json {
        let mut told = match summary.run {
            None => serde_json::json!({"run": null}),
            Some(run) => Store::open_read_only(studies(), &options.store)
                .and_then(|store| store.run(&RunSelector::Id(run)))
                .map(|run| super::screen::run_json(&run, super::screen::now()))?,
        };
        told["store"] = options.store.display().to_string().into();
        told["report"] = report.map(|folder| folder.display().to_string()).into();
        super::screen::print_json(&told)?;
    }
    Ok(summary.exit_code())
}

/// The store that the arguments name or imply.
fn store_of(arguments: &RunArgs, name: &str) -> PathBuf {
    match (&arguments.store, arguments.shard) {
        (Some(store), _) => store.clone(),
        (None, Some(shard)) => super::shards_folder(name).join(shard.file_name()),
        (None, None) => PathBuf::from(super::STORE),
    }
}

/// Writes the report of the run and prints its best table.
fn write_report(options: &SweepOptions, run: i64, folder: &Path) -> Result<(), RunError> {
    let store = &options.store;
    let summary = super::report::write(
        store,
        &RunSelector::Id(run),
        folder,
        &options.folders,
        bookahead_report::Forms::default(),
    )
    .map_err(|source| RunError::Report {
        run,
        store: store.clone(),
        source: Box::new(source),
    })?;
    let printed = super::report::print_best(&summary, options.quiet);
    if !options.quiet {
        super::say(format_args!("run {run} is in {}", store.display()));
    }
    Ok(printed?)
}

/// Prints every problem of an experiment with the line underlined.
pub fn complain(error: &ExperimentError) {
    if error.problems().is_empty() {
        super::say(format_args!("error: {error}"));
    }
    for problem in error.problems() {
        show(problem);
    }
}

/// Prints a problem of an experiment with the line underlined.
pub(super) fn show(problem: &Problem) {
    // That nobody can read it changes nothing.
    let _ = super::output::coloured(&(problem.render(super::colours()) + "\n"));
}

/// Every point of a sweep for scripts; `place` is what `bookahead show --point` takes.
fn points_json(sweep: &Sweep) -> serde_json::Value {
    sweep
        .points
        .iter()
        .map(|point| {
            let axes = sweep.axes.iter().filter_map(|axis| {
                let value = point.axes.get(&axis.key)?;
                Some((axis.key.clone(), super::screen::axis_json(value)))
            });
            serde_json::json!({
                "place": point.place,
                "identity": point.id.as_str(),
                "axes": axes.collect::<serde_json::Map<_, _>>(),
                "replication": point.replication,
                "penalty_ratio": sweep.penalty_ratio(point),
                "simulation": point.simulation,
            })
        })
        .collect()
}

/// Every point of a sweep: axis values, replication, and the simulation that it shares. Streamed:
/// there may be millions.
fn write_points(sweep: &Sweep, out: &mut impl Write) -> io::Result<()> {
    let titles = std::iter::once("point")
        .chain(sweep.axes.iter().map(|axis| axis.key.as_str()))
        .chain(["replication", "penalty ratio", "simulation"]);
    let headings = titles
        .map(|title| match title {
            "penalty ratio" => Heading::new(title, true).dispensable(2),
            "simulation" => Heading::new(title, true).dispensable(1),
            _ => Heading::new(title, true),
        })
        .collect();
    let mut table = Aligned::new(out, headings, form());
    for (number, point) in sweep.points.iter().enumerate() {
        let mut row = vec![(number + 1).to_string()];
        row.extend(
            sweep
                .axes
                .iter()
                .map(|axis| point.axes.get(&axis.key).map(shown).unwrap_or_default()),
        );
        row.push(point.replication.to_string());
        row.push(sweep.penalty_ratio(point).to_string());
        row.push((point.simulation + 1).to_string());
        table.push(row)?;
    }
    table.finish().map(drop)
}
