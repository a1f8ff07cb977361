//! `bookahead workflow schedule`: the classic HEFT schedule of a workflow (Topcuoglu, Hariri and Wu
//! 2002).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{Answer, InputArguments, WorkflowCommandError};
use crate::output::write_file;
use crate::workload::input_file;
use crate::workload::workflows::heft::{HeftSchedule, heft};
use crate::workload::workflows::{
    Network, ReadingNotes, TransferMean, Workflow, critical_path_seconds,
};
use bookahead_report::{grouped, schedule_svg};

/// Arguments of `bookahead workflow schedule`.
#[derive(Args, Debug)]
pub(super) struct ScheduleArguments {
    #[command(flatten)]
    input: InputArguments,
    /// How many resources there are, of one processor each [default: as many as run times are given
    /// for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    resources: Option<u32>,
    /// Run times on each resource: a row a task, its name and one number a resource, separated by
    /// commas
    #[arg(long, value_name = "FILE.csv")]
    runtimes: Option<PathBuf>,
    /// Bandwidth between resources in Gbit/s
    #[arg(long, value_name = "GBPS", default_value_t = 10.0)]
    bandwidth: f64,
    /// Latency between resources in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 150.0)]
    latency: f64,
    /// Pairs of resources over which the mean transfer time of an edge is taken, for the ranks
    #[arg(long, value_enum, default_value = "distinct-pairs")]
    transfer_mean: MeanName,
    /// Draw the schedule into this file
    #[arg(long, value_name = "FILE.svg")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MeanName {
    /// Pairs of different resources
    DistinctPairs,
    /// All pairs, including a resource with itself
    AllPairs,
}

/// A schedule in numbers.
#[derive(Debug, Serialize)]
struct Scheduled {
    file: String,
    workflow: String,
    tasks: usize,
    resources: usize,
    network: Network,
    makespan_seconds: f64,
    /// All tasks one after the other on the resource on which that takes least.
    sequential_seconds: f64,
    speedup: f64,
    /// The longest way through mean run times, without transfers.
    critical_path_seconds: f64,
    /// In the order in which they were placed.
    placements: Vec<Row>,
    notes: ReadingNotes,
}

#[derive(Debug, Serialize)]
struct Row {
    task: String,
    module: String,
    rank_seconds: f64,
    /// From 1.
    resource: usize,
    start_seconds: f64,
    end_seconds: f64,
}

/// Rows that are printed; JSON has all.
const ROWS: usize = 60;

/// Schedules a workflow and says how.
pub(super) fn schedule(
    arguments: &ScheduleArguments,
    folder: Option<&Path>,
) -> Result<Answer, WorkflowCommandError> {
    let network = Network {
        bandwidth_bits_per_second: arguments.bandwidth * 1e9,
        latency_seconds: arguments.latency,
        mean: match arguments.transfer_mean {
            MeanName::DistinctPairs => TransferMean::DistinctPairs,
            MeanName::AllPairs => TransferMean::AllPairs,
        },
    };
    network.check()?;
    if let Some(out) = &arguments.out
        && out.extension().is_none_or(|ending| ending != "svg")
    {
        return Err(WorkflowCommandError::Ending(out.clone()));
    }
    let (path, read) = arguments.input.read(folder)?;
    let workflow = match &arguments.runtimes {
        None => read.workflow,
        Some(file) => {
            let rows = run_times(file, &read.workflow)?;
            read.workflow.with_seconds_by_resource(&rows)?
        }
    };
    let resources = arguments
        .resources
        .map(|count| count as usize)
        .or(workflow.resources())
        .ok_or(WorkflowCommandError::Resources)?;
    let found = heft(&workflow, resources, &network)?;
    let mut messages = read.notes.sentences();
    if let Some(out) = &arguments.out {
        let svg = schedule_svg(&workflow, &found, resources);
        write_file(out, svg).map_err(|source| WorkflowCommandError::Write {
            path: out.clone(),
            source,
        })?;
        messages.push(format!("drawn into {}", out.display()));
    }
    let scheduled = scheduled(&path, &workflow, &found, resources, network, read.notes);
    let data = if arguments.json {
        // Texts, numbers and lists: nothing that JSON could not hold.
        crate::cli::output::json(&scheduled).unwrap_or_default()
    } else {
        table(&scheduled)
    };
    Ok(Answer { data, messages })
}

fn scheduled(
    path: &Path,
    workflow: &Workflow,
    found: &HeftSchedule,
    resources: usize,
    network: Network,
    notes: ReadingNotes,
) -> Scheduled {
    let all_on = |resource| {
        let tasks = workflow.tasks().iter();
        tasks.map(|task| task.seconds_on(resource)).sum::<f64>()
    };
    let sequential = (0..resources).map(all_on).fold(f64::INFINITY, f64::min);
    let makespan = found.makespan_seconds;
    Scheduled {
        file: path.display().to_string(),
        workflow: workflow.name().to_owned(),
        tasks: workflow.tasks().len(),
        resources,
        network,
        makespan_seconds: makespan,
        sequential_seconds: sequential,
        // Tasks that take no time are done at once on any number of resources.
        speedup: if makespan > 0.0 {
            sequential / makespan
        } else {
            1.0
        },
        critical_path_seconds: critical_path_seconds(workflow, None),
        placements: found
            .placements
            .iter()
            .map(|placed| Row {
                task: workflow.task(placed.task).name.clone(),
                module: workflow.task(placed.task).module.clone(),
                rank_seconds: found.ranks[placed.task.index()],
                resource: placed.resource + 1,
                start_seconds: placed.start_seconds,
                end_seconds: placed.end_seconds,
            })
            .collect(),
        notes,
    }
}

/// Run times by task and resource from a file of rows.
fn run_times(file: &Path, workflow: &Workflow) -> Result<Vec<Vec<f64>>, WorkflowCommandError> {
    let wrong = |line: usize, problem: String| WorkflowCommandError::Runtimes {
        file: file.to_owned(),
        line,
        problem,
    };
    let text = input_file::read_text(file).map_err(|source| WorkflowCommandError::Read {
        path: file.to_owned(),
        source,
    })?;
    let tasks: BTreeMap<&str, usize> = workflow
        .tasks()
        .iter()
        .enumerate()
        .map(|(place, task)| (task.name.as_str(), place))
        .collect();
    let mut rows: Vec<Vec<f64>> = vec![Vec::new(); tasks.len()];
    let mut columns: Option<usize> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        // A first cell `task` is the head of the columns.
        if line.is_empty() || line.starts_with('#') || line.split(',').next() == Some("task") {
            continue;
        }
        let mut cells = line.split(',').map(str::trim);
        let name = cells.next().unwrap_or_default();
        let Some(&place) = tasks.get(name) else {
            return Err(wrong(
                number,
                format!("the workflow has no task `{name}`; a row begins with the name of one"),
            ));
        };
        if !rows[place].is_empty() {
            return Err(wrong(number, format!("task `{name}` is there twice")));
        }
        for cell in cells {
            let seconds = cell.parse::<f64>().ok();
            let Some(seconds) = seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
            else {
                return Err(wrong(
                    number,
                    format!("`{cell}` is no run time; allowed is a number of seconds, 0 or more"),
                ));
            };
            rows[place].push(seconds);
        }
        let given = rows[place].len();
        if given == 0 || columns.is_some_and(|columns| columns != given) {
            let wanted = columns.map_or("at least one".to_owned(), |columns| columns.to_string());
            return Err(wrong(
                number,
                format!("task `{name}` has {given} run times, not {wanted}"),
            ));
        }
        columns = Some(given);
    }
    if let Some(place) = rows.iter().position(Vec::is_empty) {
        let name = &workflow.tasks()[place].name;
        let last = text.lines().count();
        return Err(wrong(last, format!("there is no row for task `{name}`")));
    }
    Ok(rows)
}

fn table(scheduled: &Scheduled) -> String {
    let mut text = String::new();
    let network = &scheduled.network;
    let lines = [
        ("file", scheduled.file.clone()),
        ("workflow", scheduled.workflow.clone()),
        ("tasks", grouped(scheduled.tasks as f64, 0)),
        (
            "resources",
            format!(
                "{} ({} Gbit/s and {} s between two of them)",
                scheduled.resources,
                network.bandwidth_bits_per_second / 1e9,
                network.latency_seconds
            ),
        ),
        (
            "makespan",
            format!("{} s", seconds(scheduled.makespan_seconds)),
        ),
        (
            "speed-up",
            format!(
                "{:.2}, against {} s on one resource",
                scheduled.speedup,
                seconds(scheduled.sequential_seconds)
            ),
        ),
        (
            "critical path",
            format!(
                "{} s, without transfers",
                seconds(scheduled.critical_path_seconds)
            ),
        ),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name:<19} {value}");
    }
    let names = scheduled.placements.iter().take(ROWS);
    let widest = names
        .map(|row| row.task.chars().count())
        .fold("task".len(), usize::max);
    let _ = writeln!(
        text,
        "\n{:<widest$} {:>13} {:>9} {:>13} {:>13}",
        "task", "rank (s)", "resource", "start (s)", "end (s)"
    );
    for row in scheduled.placements.iter().take(ROWS) {
        let _ = writeln!(
            text,
            "{:<widest$} {:>13} {:>9} {:>13} {:>13}",
            row.task,
            seconds(row.rank_seconds),
            row.resource,
            seconds(row.start_seconds),
            seconds(row.end_seconds)
        );
    }
    if scheduled.placements.len() > ROWS {
        let more = scheduled.placements.len() - ROWS;
        let _ = writeln!(text, "… {more} more tasks: --json has all");
    }
    text
}

/// Seconds with fractions only where milliseconds show some: means of thirds are not exact.
fn seconds(value: f64) -> String {
    let value = (value * 1e3).round() / 1e3;
    grouped(value, if value.fract() == 0.0 { 0 } else { 3 })
}

#[cfg(test)]
mod tests;
