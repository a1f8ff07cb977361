//! `bookahead show RUN`: one run, or one point of it with the jobs behind it.

mod answer;
mod missing;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::run_list::{short, version};
use super::screen::{
    LookError, age, are_records, axes_json, axes_text, cell, json as value_json, now, print_json,
    print_table, ranges, run_json, span, took,
};
use crate::cli::aligned::is_tsv;
use crate::cli::studies;
use crate::store::{
    DecisionTiming, ExportKind, ExportRows, FailedPoint, JobDetail, METRICS, PlaceDetail,
    QueryError, RunSelector, RunSummary, SqlValue, Store,
};
use crate::sweep::{Axis, shown};
use bookahead_report::situation::Fixed;
use bookahead_report::{Cell, Column, Table, moment};

/// Shows one run: what was run, what came of it, what is missing.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  bookahead show latest
  bookahead show 3 --at penalty_ratio=1 --at clusters=3
  bookahead show 3 --points
  bookahead show 3 --point 17 --jobs 40
  bookahead show 3 --configuration > again.toml")]
pub struct ShowArguments {
    /// The number of a run, the name of an experiment (its last run), or `latest`
    #[arg(value_name = "RUN|latest")]
    pub run: RunSelector,
    /// The store to read
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// What came out where an axis has this value; a key's last part is enough if it is unique
    #[arg(long, value_name = "AXIS=VALUE", conflicts_with_all = ["points", "point", "json", "configuration"])]
    pub at: Vec<Fixed>,
    /// List every point with its main numbers
    #[arg(long, conflicts_with = "point")]
    pub points: bool,
    /// One point by its place in the sweep (the first column of --points), with the jobs behind it
    #[arg(long, value_name = "PLACE")]
    pub point: Option<i64>,
    /// How many of the point's jobs to show, the highest penalties first
    #[arg(long, value_name = "N", default_value_t = 20, requires = "point")]
    pub jobs: u32,
    /// Print only the configuration, as it was read
    #[arg(long, conflicts_with_all = ["points", "point", "json"])]
    pub configuration: bool,
    /// JSON, for scripts
    #[arg(long)]
    pub json: bool,
}

/// Prints it.
///
/// # Errors
///
/// When the store cannot be read, or has no such run or point.
pub fn execute(arguments: &ShowArguments) -> Result<(), LookError> {
    let store = Store::open_read_only(studies(), &arguments.store)?;
    let run = store.run(&arguments.run)?;
    if arguments.configuration {
        return Ok(super::output::people().write_all(run.configuration.as_bytes())?);
    }
    if let Some(place) = arguments.point {
        return show_point(&store, &run, place, arguments);
    }
    if !arguments.at.is_empty() {
        return answer::at(&store, &run, &arguments.at);
    }
    let axes = store.axes(run.id)?;
    let failed = store.failed_points(run.id)?;
    let states = store.place_states(run.id)?;
    let missing = missing::places(&run, &states);
    let rows = match arguments.points {
        true => Some(points(&store, &run)?),
        false => None,
    };
    if arguments.json || (rows.is_none() && are_records(false)) {
        let mut object = as_json(&run, &axes, &failed, &missing, rows);
        if run.has_rule {
            object["decisions"] = answer::decisions_json(&store, &run)?;
        }
        return Ok(print_json(&object)?);
    }
    let workloads = store.workload_labels(run.id)?;
    let mut text = as_text(arguments, &run, &axes, &workloads, &failed, &missing);
    for timing in store.decision_timing(run.id, None)? {
        let _ = writeln!(
            text,
            "{:<14} {}",
            timing.decision,
            answer::decided_within(&timing)
        );
    }
    // Tab-separated values are one table: the points.
    let rule_tables = match run.has_rule && !is_tsv() {
        true => answer::of_rule(&store, &run, &mut text)?,
        false => Vec::new(),
    };
    if run.points_done > 0 && axes.len() > 1 {
        text.push('\n');
        text.push_str(&answer::of_all(&store, &run)?);
    }
    super::print(&text)?;
    for table in &rule_tables {
        super::print("\n")?;
        print_table(table)?;
    }
    if let Some((names, rows)) = rows {
        super::print("\n")?;
        print_table(&points_table(&names, &rows, &axes))?;
    }
    Ok(())
}

fn as_text(
    arguments: &ShowArguments,
    run: &RunSummary,
    axes: &[Axis],
    workloads: &[String],
    failed: &[FailedPoint],
    missing: &[i64],
) -> String {
    let now = now();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(text, "{key:<14} {value}");
    };
    line("run", &format!("{} {}", run.id.0, run.name));
    if !run.description.is_empty() {
        line("", &run.description);
    }
    line(
        "state",
        &format!(
            "{}: {} of {} points done, {} failed, {} missing",
            run.state_in_words(),
            run.points_done,
            run.points,
            run.points_failed,
            missing.len()
        ),
    );
    if !run.labels.tags.is_empty() {
        line("tags", &run.labels.tags.join(", "));
    }
    if let Some(note) = &run.labels.note {
        line("note", note);
    }
    line(
        "began",
        &format!("{} UTC, {}", moment(run.started), age(now - run.started)),
    );
    if let Some(took) = took(run, now) {
        line(
            "took",
            &format!(
                "{}; its simulations {} of computing",
                span(took),
                span((run.simulation_seconds * 1_000.0) as i64)
            ),
        );
    }
    line(
        "configuration",
        &format!(
            "{} ({}); all of it: bookahead show {} --configuration",
            run.source.as_deref().unwrap_or("not from a file"),
            short(&run.configuration_hash),
            run.id.0
        ),
    );
    line(
        "program",
        &format!("{}, result format {}", version(run), run.result_format),
    );
    line(
        "machine",
        &format!("{}, {} cores", run.machine_os, run.machine_cores),
    );
    line(
        "seed",
        &format!("{}, {} replications", run.seed, run.replications_in_words()),
    );
    line("workload", &workloads.join(", "));
    for (at, axis) in axes.iter().enumerate() {
        let values: Vec<String> = axis.values.iter().map(shown).collect();
        line(
            if at == 0 { "axes" } else { "" },
            &format!("{}: {}", axis.key, values.join(", ")),
        );
    }
    if !failed.is_empty() {
        let _ = writeln!(text, "\nFailed points");
        for point in failed.iter().take(20) {
            let _ = writeln!(
                text,
                "  {} {} replication {}, {} attempts: {}",
                point.strategy, point.axes, point.replication, point.attempts, point.error
            );
        }
        if failed.len() > 20 {
            let _ = writeln!(text, "  and {} more: --json has all", failed.len() - 20);
        }
    }
    if !missing.is_empty() {
        let _ = writeln!(text, "\nMissing points: {}", ranges(missing));
        if run.state != "running" {
            let source = run.source.as_deref().unwrap_or("CONFIG");
            let _ = writeln!(
                text,
                "  bookahead run {source} --store {} goes on with them",
                arguments.store.display()
            );
        }
    }
    text
}

/// The metrics that tell points apart on a screen.
const SHOWN: [&str; 5] = ["gain", "accepted", "failed", "utilisation", "slowdown"];

/// Every place with all its columns, as the export has them.
type Rows = (Vec<String>, Vec<Vec<SqlValue>>);

fn points(store: &Store, run: &RunSummary) -> Result<Rows, QueryError> {
    let export = store.export(run.id, &ExportKind::POINTS, &ExportRows::default())?;
    let mut rows = Vec::new();
    store.query(&export.sql, &mut |_| Ok(()), &mut |row| {
        rows.push(row.to_vec());
        Ok(true)
    })?;
    Ok((
        export.columns.into_iter().map(|(name, _)| name).collect(),
        rows,
    ))
}

fn points_table(names: &[String], rows: &[Vec<SqlValue>], axes: &[Axis]) -> Table {
    let mut wanted: Vec<(&str, &str, usize)> = vec![("place", "Point", 0)];
    let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
    wanted.extend(keys.iter().map(|key| (*key, *key, 0)));
    wanted.extend([("replication", "Replication", 0), ("state", "State", 0)]);
    let metrics = METRICS.iter().filter(|metric| SHOWN.contains(&metric.name));
    wanted.extend(metrics.map(|metric| (metric.name, metric.title, metric.decimals)));
    let found: Vec<(usize, &str, usize)> = wanted
        .into_iter()
        .filter_map(|(name, title, decimals)| {
            let at = names.iter().position(|other| other == name)?;
            Some((at, title, decimals))
        })
        .collect();
    Table {
        name: "points".to_owned(),
        title: String::new(),
        columns: found
            .iter()
            .map(|(at, title, decimals)| Column::number(&names[*at], *title, *decimals))
            .collect(),
        rows: rows
            .iter()
            .map(|row| {
                found
                    .iter()
                    .map(|(at, title, _)| match &row[*at] {
                        // As written: an axis value is a name, not a measurement to be rounded.
                        value if keys.contains(title) => Cell::Text(value.to_string()),
                        value => cell(value),
                    })
                    .collect()
            })
            .collect(),
        note: String::new(),
        sql: String::new(),
    }
}

fn as_json(
    run: &RunSummary,
    axes: &[Axis],
    failed: &[FailedPoint],
    missing: &[i64],
    rows: Option<Rows>,
) -> Value {
    let mut object = run_json(run, now());
    object["configuration"] = run.configuration.clone().into();
    object["axes"] = axes
        .iter()
        .map(|axis| {
            let values: Vec<Value> = axis.values.iter().map(super::screen::axis_json).collect();
            json!({"key": axis.key, "values": values})
        })
        .collect();
    object["failed"] = failed
        .iter()
        .map(|point| {
            json!({"identity": point.identity, "strategy": point.strategy, "replication": point.replication,
                "axes": serde_json::from_str::<Value>(&point.axes).unwrap_or(Value::Null),
                "attempts": point.attempts, "error": point.error})
        })
        .collect();
    object["missing_places"] = missing.into();
    if let Some((names, rows)) = rows {
        object["places"] = rows
            .iter()
            .map(|row| -> Value {
                names
                    .iter()
                    .cloned()
                    .zip(row.iter().map(value_json))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            })
            .collect();
    }
    object
}

fn show_point(
    store: &Store,
    run: &RunSummary,
    place: i64,
    arguments: &ShowArguments,
) -> Result<(), LookError> {
    let Some(point) = store.place(run.id, place)? else {
        let last = run.points.saturating_sub(1);
        if run.has_rule {
            return Err(LookError::Use(format!(
                "point {place} of run {} was not run, or not asked for by its rule; `bookahead show {} --points` lists \
                 those that were",
                run.id.0, run.id.0
            )));
        }
        return Err(LookError::Use(
            if (0..i64::try_from(run.points).unwrap_or(0)).contains(&place) {
                format!(
                    "point {place} of run {} was not run yet; the same `bookahead run` command goes on",
                    run.id.0
                )
            } else {
                format!(
                    "run {} has no point {place}: its places are 0 to {last}; `bookahead show {} --points` lists them",
                    run.id.0, run.id.0
                )
            },
        ));
    };
    let jobs = if point.has_jobs {
        store.jobs_behind(&point, arguments.jobs)?
    } else {
        Vec::new()
    };
    let decided = store.decision_timing(run.id, Some(place))?;
    if arguments.json {
        return Ok(print_json(&point_json(run, &point, &jobs, &decided))?);
    }
    let mut text = format!(
        "run {} {}, point {}: {}\n",
        run.id.0, run.name, point.place, point.state
    );
    let names = point.values.iter().map(|(name, _)| name.chars().count());
    let width = names.chain([19]).max().unwrap_or(0);
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(text, "{key:<width$}  {value}");
    };
    line("axes", &axes_text(&point.axes));
    line("strategy", &point.strategy);
    line(
        "workload",
        &format!("{}, replication {}", point.workload, point.replication),
    );
    line("penalty ratio", &point.penalty_ratio.to_string());
    line("attempts", &point.attempts.to_string());
    if let Some(wall) = point.wall_seconds {
        line("simulated in", &format!("{wall:.3} s"));
    }
    for timing in &decided {
        line(&timing.decision, &answer::decided_within(timing));
    }
    line("identity", &point.identity);
    line("simulation", &point.simulation.to_string());
    if let Some(error) = &point.error {
        line("error", error);
    }
    if point.state == "done" {
        for (name, value) in &point.values {
            let shown = match value {
                SqlValue::Null => "–".to_owned(),
                SqlValue::Real(value) => Cell::Number(*value).text(3),
                value => cell(value).text(0),
            };
            line(name, &shown);
        }
    }
    text.push('\n');
    super::print(&text)?;
    if jobs.is_empty() {
        if point.state == "done" && !point.has_jobs {
            super::say(format_args!(
                "the outcomes of its jobs were not stored: `bookahead run {} --store {} --outcomes all` runs it again and keeps them",
                run.source.as_deref().unwrap_or("CONFIG"),
                arguments.store.display()
            ));
        }
        return Ok(());
    }
    Ok(print_table(&jobs_table(&jobs))?)
}

fn jobs_table(jobs: &[JobDetail]) -> Table {
    let whole = |value: Option<i64>| value.map_or(Cell::Missing, Cell::Integer);
    Table {
        name: "jobs".to_owned(),
        title: "The jobs behind it, dearest penalties first".to_owned(),
        columns: vec![
            Column::plain("job", "Job"),
            Column::plain("trace_number", "In trace"),
            Column::plain("nodes", "Nodes"),
            Column::plain("estimate", "Estimate (s)"),
            Column::plain("runtime", "Runtime (s)"),
            Column::plain("slot_length", "Slot (s)"),
            Column::number("pof", "PoF", 4),
            Column::plain("reason", "How it ended"),
            Column::plain("waiting", "Wait (s)"),
            Column::number("fee", "Fee (VC)", 2),
            Column::number("penalty", "Penalty (VC)", 2),
        ],
        rows: jobs
            .iter()
            .map(|job| {
                vec![
                    Cell::Integer(job.job),
                    Cell::Integer(job.trace_number),
                    Cell::Integer(job.nodes),
                    Cell::Integer(job.estimate),
                    Cell::Integer(job.runtime),
                    whole(job.slot_length),
                    job.pof.map_or(Cell::Missing, Cell::Number),
                    Cell::Text(job.reason.clone()),
                    whole(job.waiting),
                    job.fee.map_or(Cell::Missing, Cell::Number),
                    job.penalty.map_or(Cell::Missing, Cell::Number),
                ]
            })
            .collect(),
        note: String::new(),
        sql: String::new(),
    }
}

fn point_json(
    run: &RunSummary,
    point: &PlaceDetail,
    jobs: &[JobDetail],
    decided: &[DecisionTiming],
) -> Value {
    let decided: serde_json::Map<String, Value> = decided
        .iter()
        .map(|timing| {
            let [one, two, five] = timing.over_percent();
            let times = json!({"decisions": timing.decisions, "p50_seconds": timing.p50_seconds,
                "p99_seconds": timing.p99_seconds, "longest_seconds": timing.longest_seconds,
                "over_1_second_percent": one, "over_2_seconds_percent": two, "over_5_seconds_percent": five});
            (timing.decision.clone(), times)
        })
        .collect();
    let metrics: serde_json::Map<String, Value> = point
        .values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value_json(value)))
        .collect();
    let jobs: Vec<Value> = jobs
        .iter()
        .map(|job| {
            json!({"job": job.job, "trace_number": job.trace_number, "nodes": job.nodes,
                "estimate": job.estimate, "runtime": job.runtime, "slot_length": job.slot_length, "pof": job.pof,
                "reason": job.reason, "waiting": job.waiting, "fee": job.fee, "penalty": job.penalty})
        })
        .collect();
    json!({
        "run": run.id.0, "place": point.place, "identity": point.identity, "simulation": point.simulation,
        "state": point.state, "error": point.error, "attempts": point.attempts, "strategy": point.strategy,
        "workload": point.workload, "replication": point.replication, "penalty_ratio": point.penalty_ratio,
        "axes": axes_json(&point.axes), "outcomes_stored": point.has_jobs, "wall_seconds": point.wall_seconds,
        "decision_times": decided, "metrics": metrics, "jobs": jobs,
    })
}
