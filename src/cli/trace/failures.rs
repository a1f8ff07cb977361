//! `bookahead trace failures`: an analysis of a table of failures.

mod propose;
mod weak;

use std::fmt::Write as _;
use std::path::PathBuf;

use bookahead_core::memory::MemoryBudget;
use clap::Args;
use miette::{IntoDiagnostic, miette};

use super::Answer;
use super::estimates::drawn;
use crate::failures::{
    FailureAnalysis, FailureFolder, FailureLog, SystemFailures, Whose, analyse, find_table,
};
use crate::sweep::LANL_FILE;
use bookahead_report::{Cell, Column, Table};

pub(super) const HELP: &str = "\
Examples:
  bookahead trace failures
  bookahead trace failures --systems 3,4,5,6,18,19,20
  bookahead trace failures --weak --systems 20
  bookahead trace failures --propose --systems 20 --nodes 64 --hours 24 --penalty-ratio 4
  bookahead trace failures --propose --systems 20 --run latest --penalty-ratio 4
  bookahead trace failures LA-UR-05-7318-failure-data-1996-2005.csv.gz --json";

#[derive(Args, Debug)]
pub(super) struct FailuresArguments {
    /// The table of failures LA-UR-05-7318 (plain, .gz or .xz): a path, or a file in the folder
    /// BOOKAHEAD_FAILURES
    #[arg(default_value = LANL_FILE)]
    file: String,
    /// Only the failures of these systems [default: all]
    #[arg(long, value_name = "SYSTEM,…", value_delimiter = ',')]
    systems: Vec<u32>,
    /// List the nodes that fail more often than the others of their system, and nothing else
    #[arg(long, conflicts_with = "propose")]
    weak: bool,
    /// How many times the rate of its system a weak node must exceed
    #[arg(long, value_name = "TIMES", default_value_t = 2.0, requires = "weak")]
    factor: f64,
    /// With which probability at least a weak node must exceed it
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, requires = "weak")]
    probability: f64,
    #[command(flatten)]
    propose: propose::ProposeArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Looks at a table of failures.
pub(super) fn failures(
    arguments: &FailuresArguments,
    memory: MemoryBudget,
) -> miette::Result<Answer> {
    let folder = FailureFolder {
        path: std::env::var_os("BOOKAHEAD_FAILURES").map(PathBuf::from),
        memory,
    };
    let path = find_table(&arguments.file, folder.path.as_deref()).into_diagnostic()?;
    let mut log = FailureLog::read(&path, folder.memory).into_diagnostic()?;
    if !arguments.systems.is_empty() {
        let known = log.nodes.clone();
        if let Some(absent) = (arguments.systems.iter()).find(|system| !known.contains_key(system))
        {
            return Err(miette!(
                "{}: has no failures of system {absent}; it has systems {:?}",
                path.display(),
                known.keys().collect::<Vec<_>>()
            ));
        }
        log = log.of_systems(&arguments.systems);
    }
    if log.records.is_empty() {
        return Err(miette!("{}: has no failures", path.display()));
    }
    if arguments.weak {
        return weak::list(&log, arguments);
    }
    if arguments.propose.propose {
        return propose::list(&log, &arguments.propose, arguments.json);
    }
    let found = analyse(&log);
    let mut answer = Answer::default();
    if arguments.json {
        answer.data = crate::cli::output::json(&found).into_diagnostic()?;
        return Ok(answer);
    }
    let _ = writeln!(answer.data, "failures     {}", found.failures);
    let _ = writeln!(
        answer.data,
        "left out     {} rows without a node or a start",
        found.incomplete
    );
    for table in [
        systems(&found),
        fits(&found),
        causes(&found),
        hours(&found),
        weekdays(&found),
        follow_ups(&found),
    ] {
        let _ = write!(answer.data, "\n{}", drawn(&table)?);
        for line in textwrap::wrap(&table.note, 80) {
            let _ = writeln!(answer.data, "{line}");
        }
    }
    Ok(answer)
}

fn table(
    title: &str,
    columns: &[(&str, usize)],
    rows: impl Iterator<Item = Vec<Cell>>,
    note: &str,
) -> Table {
    let column = |&(title, decimals): &(&str, usize)| Column::number(title, title, decimals);
    Table {
        name: title.to_lowercase().replace(' ', "-"),
        title: title.to_owned(),
        columns: columns.iter().map(column).collect(),
        rows: rows.collect(),
        note: note.to_owned(),
        sql: String::new(),
    }
}

fn whole(number: u64) -> Cell {
    Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn percent(share: f64) -> Cell {
    Cell::Number(share * 100.0)
}

fn number(value: Option<f64>) -> Cell {
    value.map_or(Cell::Missing, Cell::Number)
}

fn systems(found: &FailureAnalysis) -> Table {
    let row = |system: &SystemFailures| {
        vec![
            whole(system.system.into()),
            whole(system.nodes.into()),
            whole(system.failures),
            Cell::Number(system.years),
            Cell::Number(system.per_year),
            percent(system.worst_node_share),
            Cell::Number(system.dispersion),
            number(system.first_year_ratio),
        ]
    };
    table(
        "Failures by system",
        &[
            ("system", 0),
            ("nodes", 0),
            ("failures", 0),
            ("years", 2),
            ("a year", 0),
            ("worst node (%)", 1),
            ("dispersion", 1),
            ("first year", 2),
        ],
        found.systems.iter().map(row),
        "Worst node: its share of the failures. Dispersion: variance by mean of the nodes' numbers of failures; 1 if all \
         failed at one rate. First year: its rate by the rate afterwards, where there are two years.",
    )
}

fn fits(found: &FailureAnalysis) -> Table {
    let row = |system: &SystemFailures| {
        let (gaps, repair) = (system.gaps, system.repair);
        let best = |fit: Option<crate::failures::Fit>| {
            fit.map_or(Cell::Missing, |fit| Cell::Text(fit.best().to_owned()))
        };
        vec![
            whole(system.system.into()),
            number(gaps.map(|fit| fit.mean_hours)),
            number(gaps.map(|fit| fit.weibull_shape)),
            percent(system.simultaneous),
            best(gaps),
            number(repair.map(|fit| fit.mean_hours)),
            number(repair.map(|fit| fit.median_hours)),
            best(repair),
        ]
    };
    table(
        "Times between failures and to repair",
        &[
            ("system", 0),
            ("gap (h)", 1),
            ("shape", 2),
            ("at once (%)", 1),
            ("best", 0),
            ("repair (h)", 1),
            ("median (h)", 1),
            ("best", 0),
        ],
        found.systems.iter().map(row),
        "Gap: mean time between failures of the system. Shape: of the fitted Weibull distribution; below 1 the hazard falls. At \
         once: failures in the minute of the one before. Best: of exponential, \
         Weibull and lognormal the one with the highest likelihood.",
    )
}

fn causes(found: &FailureAnalysis) -> Table {
    let rows = found.causes.iter().map(|count| {
        let name = serde_json::to_value(count.cause).ok();
        let name = name.and_then(|name| name.as_str().map(ToOwned::to_owned));
        vec![
            Cell::Text(name.unwrap_or_else(|| "none named".to_owned())),
            whole(count.failures),
            percent(count.share),
            number(count.mean_repair_minutes),
        ]
    });
    table(
        "Failures by cause",
        &[
            ("cause", 0),
            ("failures", 0),
            ("share (%)", 1),
            ("mean repair (min)", 0),
        ],
        rows,
        "",
    )
}

fn hours(found: &FailureAnalysis) -> Table {
    let mean = found.hours.iter().sum::<u64>() as f64 / 24.0;
    let rows = found.hours.iter().zip(0..).map(|(&failures, hour)| {
        vec![
            Cell::Integer(hour),
            whole(failures),
            Cell::Number(failures as f64 / mean),
        ]
    });
    table(
        "Failures by hour of the day",
        &[("hour", 0), ("failures", 0), ("by the mean", 2)],
        rows,
        "",
    )
}

fn weekdays(found: &FailureAnalysis) -> Table {
    let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    table(
        "Failures by day of the week",
        &names.map(|name| (name, 0)),
        std::iter::once(found.weekdays.iter().copied().map(whole).collect()),
        "",
    )
}

fn follow_ups(found: &FailureAnalysis) -> Table {
    let rows = found.follow_ups.iter().map(|row| {
        let whose = match row.whose {
            Whose::SameNode => "the node itself",
            Whose::OtherNodes => "each other node",
        };
        let within = match row.within_seconds {
            3_600 => "an hour",
            86_400 => "a day",
            _ => "a week",
        };
        vec![
            Cell::Text(whose.to_owned()),
            Cell::Text(within.to_owned()),
            percent(row.after_failure),
            percent(row.at_random),
            Cell::Number(row.factor()),
        ]
    });
    table(
        "Failures that follow a failure",
        &[
            ("who fails", 0),
            ("within", 0),
            ("after a failure (%)", 3),
            ("at random (%)", 3),
            ("factor", 1),
        ],
        rows,
        "At random: how often a node fails in a span of that length. The node itself: later than its failure; other nodes of the \
         system: in the same minute or later. The table names no racks.",
    )
}
