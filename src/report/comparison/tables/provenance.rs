//! Tables about the runs: their settings, programs and inputs, and the points that do not count.

use super::{table, text};
use crate::comparison::{ComparedRun, Comparison, settings, unfinished_text};
use crate::table::{Cell, Column, Table, axes_text};

/// Points without a partner or a result that are listed one by one, of each run.
const MOST_POINTS: usize = 500;

/// Digits of a hash that tell contents apart.
const DIGITS: usize = 12;

fn run_columns(comparison: &Comparison<'_>, first: [(&str, &str); 2]) -> Vec<Column> {
    let own = first
        .into_iter()
        .map(|(key, title)| Column::plain(key, title));
    let runs = comparison.runs.iter().enumerate();
    own.chain(runs.map(|(at, run)| Column::plain(format!("run_{}", at + 1), &run.label)))
        .collect()
}

/// The settings that the runs do not have in common, as their configurations say and as the engine
/// resolved them at shared points.
pub(in crate::comparison) fn settings(comparison: &Comparison<'_>) -> Table {
    let texts: Vec<&str> = comparison
        .runs
        .iter()
        .map(|run| run.run.configuration.as_str())
        .collect();
    let written = settings::that_differ(&texts);
    let resolved = settings::resolved_that_differ(&comparison.pairings);
    // What was written is not said twice.
    let more = resolved.iter().filter(|setting| !written.contains(setting));
    let rows = (written.iter().map(|setting| ("configuration", setting)))
        .chain(more.map(|setting| ("resolved", setting)))
        .map(|(whence, setting)| {
            let values = setting.values.iter().map(text);
            [text(&setting.key), text(whence)]
                .into_iter()
                .chain(values)
                .collect()
        })
        .collect();
    Table {
        note: "configuration: as the file of the run says it; resolved: as the engine read it at points that the run shares with the \
               first, where a changed default or another trace shows."
            .to_owned(),
        ..table(
            "settings",
            "Settings that differ",
            run_columns(comparison, [("setting", "Setting"), ("from", "From")]),
            rows,
        )
    }
}

/// What the runs are, and in what they differ as wholes.
pub(in crate::comparison) fn runs(comparison: &Comparison<'_>) -> Table {
    type Fact = fn(&ComparedRun) -> String;
    let facts: [(&str, Fact); 13] = [
        ("experiment", |run| run.run.name.clone()),
        ("store", |run| run.store.display().to_string()),
        ("run", |run| run.run.id.0.to_string()),
        ("state", |run| run.run.state.clone()),
        ("points with a result", |run| {
            format!("{} of {}", run.run.points_done, run.run.points)
        }),
        ("replications", |run| run.run.replications_in_words()),
        ("seed", |run| run.run.seed.to_string()),
        ("program version", |run| run.run.program_version.clone()),
        ("program commit", |run| {
            run.run
                .program_commit
                .clone()
                .unwrap_or("not recorded".to_owned())
        }),
        ("result format", |run| run.run.result_format.to_string()),
        ("workload", |run| run.workloads.join(", ")),
        ("inputs", |run| match &run.inputs_digest {
            Some((count, digest)) => format!("{count}, {}", digits(digest)),
            None => "not recorded".to_owned(),
        }),
        ("configuration", |run| {
            digits(&run.run.configuration_hash).to_owned()
        }),
    ];
    let rows = facts.into_iter().map(|(name, fact)| {
        let values: Vec<String> = comparison.runs.iter().map(fact).collect();
        compared(name, values)
    });
    Table {
        note:
            "Inputs and configuration are named by the first digits of a SHA-256 of their content."
                .to_owned(),
        ..table(
            "runs",
            "Runs",
            run_columns(comparison, [("what", "Property"), ("same", "Same?")]),
            rows.collect(),
        )
    }
}

fn digits(hash: &str) -> &str {
    hash.get(..DIGITS).unwrap_or(hash)
}

/// A row: a name, whether all values are the same, and the values.
fn compared(name: &str, values: Vec<String>) -> Vec<Cell> {
    let same = values.iter().all(|value| *value == values[0]);
    let head = [text(name), text(if same { "same" } else { "differs" })];
    head.into_iter()
        .chain(values.into_iter().map(text))
        .collect()
}

/// Every input of any run, with the hash of its content in each.
pub(in crate::comparison) fn inputs(comparison: &Comparison<'_>) -> Table {
    let mut sources: Vec<&str> = Vec::new();
    for (source, _) in comparison.runs.iter().flat_map(|run| &run.inputs) {
        if !sources.contains(&source.as_str()) {
            sources.push(source);
        }
    }
    let rows = sources.into_iter().map(|source| {
        let values = comparison.runs.iter().map(|run| {
            let own = run.inputs.iter().filter(|(own, _)| own == source);
            let contents: Vec<&str> = own.map(|(_, content)| digits(content)).collect();
            match contents.is_empty() {
                true => "not read".to_owned(),
                false => contents.join(", "),
            }
        });
        compared(source, values.collect())
    });
    Table {
        note: "Jobs and failures as they were prepared, by the first digits of a SHA-256 of their content: where the digits differ, the runs \
               did not simulate the same jobs."
            .to_owned(),
        ..table(
            "inputs",
            "Inputs",
            run_columns(comparison, [("input", "Input"), ("same", "Same?")]),
            rows.collect(),
        )
    }
}

/// Points that do not count: without a result, or without a partner.
pub(in crate::comparison) fn points(comparison: &Comparison<'_>) -> Table {
    let mut rows = Vec::new();
    for run in comparison.runs {
        for point in run.unfinished.iter().take(MOST_POINTS) {
            rows.push(vec![
                text(&run.label),
                text("no result"),
                Cell::Integer(point.place),
                text(unfinished_text(point)),
            ]);
        }
    }
    for (pairing, run) in comparison.pairings.iter().zip(comparison.others()) {
        let reference = comparison.reference();
        for (own, other, alone) in [
            (reference, run, &pairing.only_first),
            (run, reference, &pairing.only_second),
        ] {
            for point in alone.iter().take(MOST_POINTS) {
                rows.push(vec![
                    text(&own.label),
                    text(format!("no partner in {}", other.label)),
                    Cell::Integer(point.place),
                    text(format!(
                        "{}, replication {}",
                        axes_text(&point.axes),
                        point.replication
                    )),
                ]);
            }
        }
    }
    Table {
        note: format!("At most {MOST_POINTS} of each kind are listed."),
        ..table(
            "points",
            "Points that do not count",
            vec![
                Column::plain("run", "Run"),
                Column::plain("why", "Why"),
                Column::plain("place", "Place"),
                Column::plain("point", "Point"),
            ],
            rows,
        )
    }
}
