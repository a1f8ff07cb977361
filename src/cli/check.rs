//! `bookahead check CONFIG`: all checks that `run` makes before it runs.
//! `bookahead check --store FILE`: whether a store is unchanged since it was written.

mod fix;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::memory::MemoryArguments;
use super::paragraphs::{names, paragraph};
use super::run::{RunError, ended_for, show};
use super::screen::{LookError, print_json};
use crate::cli::studies;
use crate::store::Store;
use crate::sweep::{Experiment, InputFolders, Sweep, SweepOptions, shown, while_working};
use crate::workload::{TraceFolder, WorkloadSource};

/// Arguments of `bookahead check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArguments {
    /// The experiment file (TOML); `-` reads it from standard input. Without one the store is
    /// checked
    #[arg(required_unless_present = "store")]
    pub config: Option<PathBuf>,
    /// The database: alone, to compare every row with what was written; with an experiment, to see
    /// what is done already [default: data/bookahead.db]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// First write keys that have another name now by their present names, in the file itself;
    /// comments and order are kept
    #[arg(long, requires = "config")]
    pub fix: bool,
    /// Worker threads to assume in the estimate [default: the cores]
    #[arg(long, value_name = "N", value_parser = super::workers)]
    pub workers: Option<NonZeroUsize>,
    /// Use this seed instead of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// JSON, for scripts
    #[arg(long)]
    pub json: bool,
    /// How much memory inputs may take.
    #[command(flatten)]
    pub memory: MemoryArguments,
}

/// Checks the file, finds and reads its inputs, makes what simulations read, and says what a run
/// would do; without a file compares the rows of the store with what was written.
pub fn check(arguments: &CheckArguments) -> ExitCode {
    let store = arguments
        .store
        .as_deref()
        .unwrap_or(Path::new(super::STORE));
    match &arguments.config {
        Some(config) => ended_for(
            arguments.json,
            check_experiment(arguments, config, store).map(|()| 0),
        ),
        None => super::looked_with(check_store(store, arguments.json)),
    }
}

/// Exit code 1 where something is not as it was written.
fn check_store(path: &Path, as_json: bool) -> Result<ExitCode, LookError> {
    let store = Store::open_read_only(studies(), path)?;
    let found = while_working("checking the store", false, || store.verify())?;
    if as_json {
        print_json(&json!({
            "store": path,
            "simulations": found.simulations,
            "simulations_without_digest": found.simulations_without_digest,
            "runs": found.runs,
            "runs_without_digest": found.runs_without_digest,
            "shared": found.shared,
            "findings": found.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text = String::new();
        for finding in &found.findings {
            paragraph(&mut text, &finding.to_string());
        }
        let end = match found.findings.len() {
            0 => "sound".to_owned(),
            1 => "1 finding".to_owned(),
            several => format!("{several} findings"),
        };
        paragraph(
            &mut text,
            &format!("{}: {end}; {}", path.display(), found.summary()),
        );
        super::print(&text)?;
    }
    Ok(ExitCode::from(u8::from(!found.findings.is_empty())))
}

fn check_experiment(
    arguments: &CheckArguments,
    config: &Path,
    store: &Path,
) -> Result<(), RunError> {
    if arguments.fix {
        fix::fix(config)?;
    }
    let Experiment { sweep, warnings } = while_working("reading the experiment", false, || {
        Experiment::load(studies(), config, arguments.seed)
    })?;
    for warning in &warnings {
        show(warning);
    }
    let mut options = SweepOptions::new(studies(), store.to_owned());
    options.folders.memory = arguments.memory.budget();
    if let Some(workers) = arguments.workers {
        options.workers = workers.get();
    }
    let (sweep, plan) = crate::store::check(sweep, &options)?;
    for remark in sweep.input_remarks() {
        super::say(&remark);
    }
    let inputs = inputs(&sweep, &options.folders);
    if arguments.json {
        print_json(&json!({
            "name": sweep.name,
            "axes": sweep.axes.iter().map(|axis| json!({ "key": axis.key, "values": values(&sweep, &axis.key) })).collect::<Vec<_>>(),
            "replications": sweep.replications,
            "points": plan.points,
            "simulations": plan.simulations,
            "points_done": plan.done,
            "simulations_to_do": plan.tasks.len(),
            "seconds": plan.wall.as_secs_f64(),
            "workers": plan.workers,
            "megabytes": plan.megabytes,
            "inputs": inputs,
            "warnings": warnings.len(),
            "remarks": sweep.input_remarks().iter().map(ToString::to_string).collect::<Vec<_>>(),
        }))?;
        return Ok(());
    }
    let mut text = String::new();
    let axes = sweep.axes.iter().map(|axis| {
        let values = values(&sweep, &axis.key);
        format!("{}: {} ({})", axis.key, values.join(", "), values.len())
    });
    let mut rows = vec![("experiment".to_owned(), vec![sweep.name.clone()])];
    rows.push(("varies".to_owned(), axes.collect()));
    rows.push((
        "replications".to_owned(),
        vec![format!(
            "{}{}, seed {}",
            sweep.rule.as_ref().map_or("", |_| "at most "),
            sweep.replications,
            sweep.seed
        )],
    ));
    rows.push(("reads".to_owned(), inputs));
    names(&mut text, &rows);
    paragraph(&mut text, &plan.to_string());
    for remark in &plan.remarks {
        paragraph(&mut text, &format!("note: {remark}"));
    }
    paragraph(
        &mut text,
        &format!("ready: bookahead run {}", config.display()),
    );
    super::print(&text)?;
    Ok(())
}

/// The values that an axis takes, in the order of the points.
fn values(sweep: &Sweep, key: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for point in &sweep.points {
        if let Some(value) = point.axes.get(key).map(shown)
            && !values.contains(&value)
        {
            values.push(value);
        }
    }
    values
}

/// What simulations read: files of traces with their place, models and other sources by name.
fn inputs(sweep: &Sweep, folders: &InputFolders) -> Vec<String> {
    let traces = TraceFolder {
        path: folders.traces.clone(),
        memory: folders.memory,
    };
    let of_workloads = sweep.simulations.kinds().iter().map(|spec| {
        let workload = &spec.workload;
        match &workload.source {
            WorkloadSource::Trace { file } => match traces.find(file) {
                Ok(path) => path.display().to_string(),
                Err(_) => file.clone(),
            },
            _ => format!("jobs of a model: {}", workload.source_key()),
        }
    });
    let of_studies = sweep.inputs.iter().filter_map(|input| {
        let source = input.source.as_str();
        let of_jobs = source.starts_with("workload ");
        let (what, _) = source.split_once(" of workload ").unwrap_or((source, ""));
        (!of_jobs).then(|| what.to_owned())
    });
    let all: BTreeSet<String> = of_workloads.chain(of_studies).collect();
    all.into_iter().collect()
}
