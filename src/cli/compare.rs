//! `bookahead compare RUN RUN`: two runs laid side by side, point by point.

mod pairs;
mod settings;

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::aligned::{Aligned, Heading, screen};
use super::runs::{short, version};
use super::screen::{LookError, axes_json, axes_text, print_json};
use crate::report::{Cell, Estimate};
use crate::store::{METRICS, RunSelector, RunSummary, Store};
use crate::studies::measures;
use pairs::{Difference, Pairing, differences, pair};

/// Compares two runs: pairs their points by axis values and replication and shows what differs.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
A difference is the second run minus the first, in the same point; ± is the 95 % interval of its mean (Student's t). The unit is \
the replication: its points share jobs and failures, so they are averaged first, and `n` counts replications. Points that share \
one result count once. `equal` counts pairs whose numbers are the same bit by bit.

Exit code: 0 whether or not something differs; with --exit-code 1 when a number differs or a point has no partner.

Examples:
  bookahead compare 3 latest
  bookahead compare 3 4 --by scheduling.strategy --metric gain
  bookahead compare quickstart quickstart --other-store last-year.db --exit-code")]
pub struct CompareArguments {
    /// The first run: a number, the name of an experiment (its last run), or `latest`
    #[arg(value_name = "RUN")]
    pub first: RunSelector,
    /// The second run
    #[arg(value_name = "RUN")]
    pub second: RunSelector,
    /// The store to read
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// The store of the second run, where it is another one
    #[arg(long, value_name = "FILE")]
    pub other_store: Option<PathBuf>,
    /// Only this measure (may be given several times) [default: all that differ, and the gain]
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(known_measures()))]
    pub metric: Vec<String>,
    /// Apart for each value of this axis
    #[arg(long, value_name = "AXIS")]
    pub by: Option<String>,
    /// Exit with 1 when something differs
    #[arg(long)]
    pub exit_code: bool,
    /// JSON, for scripts
    #[arg(long)]
    pub json: bool,
}

/// Prints the comparison.
///
/// # Errors
///
/// When a store cannot be read or has no such run, or the axis is unknown.
pub fn execute(arguments: &CompareArguments) -> Result<ExitCode, LookError> {
    let store = Store::open_read_only(&arguments.store)?;
    let other = arguments
        .other_store
        .as_deref()
        .map(Store::open_read_only)
        .transpose()?;
    let second_store = other.as_ref().unwrap_or(&store);
    let first = store.run(&arguments.first)?;
    let second = second_store.run(&arguments.second)?;
    let pairing = pair(
        store.measured_points(first.id)?,
        second_store.measured_points(second.id)?,
    );
    let by = arguments
        .by
        .as_deref()
        .map(|by| axis_named(by, &pairing))
        .transpose()?;
    let shared = other.is_none()
        && !pairing.pairs.is_empty()
        && pairing
            .pairs
            .iter()
            .all(|(one, two)| one.simulation == two.simulation);
    let mut lines = headline(
        &first,
        &second,
        &store.workload_labels(first.id)?,
        &second_store.workload_labels(second.id)?,
        &[
            store.inputs_digest(first.id)?,
            second_store.inputs_digest(second.id)?,
        ],
    );
    let configuration = settings::of_texts(&first.configuration, &second.configuration);
    let resolved = settings::of_specs(&pairing.pairs);
    for (title, changes) in [
        ("configuration", &configuration),
        ("resolved at paired points", &resolved),
    ] {
        for change in changes.iter().take(30) {
            let _ = writeln!(lines, "  {title}: {change}");
        }
        if changes.len() > 30 {
            let _ = writeln!(lines, "  {title}: and {} more", changes.len() - 30);
        }
    }
    let all = differences(&pairing.pairs, by.as_deref());
    let differs = all.iter().any(|difference| difference.differs());
    let complete = pairing.unpaired() == 0 && !pairing.pairs.is_empty();
    if arguments.json {
        print_json(&json!({
            "first": side(&first), "second": side(&second),
            "pairs": pairing.pairs.len(), "same_results": shared, "differs": differs,
            "configuration": configuration, "resolved": resolved,
            "unpaired_first": unpaired_json(&pairing.only_first), "unpaired_second": unpaired_json(&pairing.only_second),
            "axes_only_first": pairing.axes_only_first, "axes_only_second": pairing.axes_only_second,
            "differences": all.iter().filter(|row| wanted(row, arguments)).map(difference_json).collect::<Vec<_>>(),
        }))?;
    } else {
        summary(&mut lines, &pairing, &all, shared, differs);
        super::print(&lines)?;
        let rows: Vec<&Difference> = all.iter().filter(|row| wanted(row, arguments)).collect();
        if !pairing.pairs.is_empty() {
            table(&rows, by.as_deref())?;
            super::print(&caution(&rows))?;
        }
    }
    Ok(if arguments.exit_code && (differs || !complete) {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

fn wanted(row: &Difference, arguments: &CompareArguments) -> bool {
    if arguments.metric.is_empty() {
        row.differs() || row.measure == "gain"
    } else {
        arguments.metric.iter().any(|name| name == row.measure)
    }
}

/// The axis of this name, or of this last part of a name.
fn axis_named(name: &str, pairing: &Pairing) -> Result<String, LookError> {
    let found: Vec<&String> = pairing
        .axes
        .iter()
        .filter(|key| *key == name || key.rsplit('.').next() == Some(name))
        .collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        _ => Err(LookError::Use(format!(
            "--by {name}: the axes that both runs have are {}",
            if pairing.axes.is_empty() {
                "none".to_owned()
            } else {
                pairing.axes.join(", ")
            }
        ))),
    }
}

/// First what is the same and what differs between the two, then each difference in a line.
fn headline(
    first: &RunSummary,
    second: &RunSummary,
    first_workloads: &[String],
    second_workloads: &[String],
    inputs: &[Option<(usize, String)>; 2],
) -> String {
    let [first_inputs, second_inputs] = inputs.each_ref().map(|digest| match digest {
        Some((count, digest)) => format!("{count} inputs, {}", short(digest)),
        None => "not recorded".to_owned(),
    });
    let commit = |run: &RunSummary| run.program_commit.clone().unwrap_or("unknown".to_owned());
    let of = [
        (
            "configuration",
            short(&first.configuration_hash).to_owned(),
            short(&second.configuration_hash).to_owned(),
        ),
        (
            "program version",
            first.program_version.clone(),
            second.program_version.clone(),
        ),
        ("commit", commit(first), commit(second)),
        (
            "result format",
            first.result_format.to_string(),
            second.result_format.to_string(),
        ),
        (
            "workload",
            first_workloads.join(", "),
            second_workloads.join(", "),
        ),
        ("jobs and failures as prepared", first_inputs, second_inputs),
        ("seed", first.seed.to_string(), second.seed.to_string()),
    ];
    let (same, differ): (Vec<_>, Vec<_>) = of.iter().partition(|(_, one, two)| one == two);
    let names = |of: &[&(&'static str, String, String)]| -> Vec<&'static str> {
        of.iter().map(|(name, ..)| *name).collect()
    };
    let differing = if differ.is_empty() {
        "nothing".to_owned()
    } else {
        names(&differ).join(", ")
    };
    let mut text = format!(
        "run {} ({}, {}) and run {} ({}, {}); what differs: {differing}; the same: {}\n",
        first.id.0,
        first.name,
        version(first),
        second.id.0,
        second.name,
        version(second),
        names(&same).join(", "),
    );
    for (name, one, two) in differ {
        let _ = writeln!(text, "  {name}: {one} → {two}");
    }
    text
}

fn summary(text: &mut String, pairing: &Pairing, all: &[Difference], shared: bool, differs: bool) {
    let count = pairing.pairs.len();
    let _ = writeln!(text, "{count} pairs of points");
    for (which, only, axes) in [
        ("first", &pairing.only_first, &pairing.axes_only_first),
        ("second", &pairing.only_second, &pairing.axes_only_second),
    ] {
        if !axes.is_empty() {
            let _ = writeln!(text, "axes of the {which} run alone: {}", axes.join(", "));
        }
        if !only.is_empty() {
            let _ = writeln!(
                text,
                "{} points of the {which} run have no partner:",
                only.len()
            );
            for point in only.iter().take(5) {
                let _ = writeln!(
                    text,
                    "  point {}: {}, replication {}",
                    point.place,
                    axes_text(&point.axes),
                    point.replication
                );
            }
            if only.len() > 5 {
                let _ = writeln!(text, "  and {} more: --json has all", only.len() - 5);
            }
        }
    }
    if pairing.ambiguous > 0 {
        let _ = writeln!(
            text,
            "{} of them have several possible partners, because the runs do not have the same axes",
            pairing.ambiguous
        );
    }
    if count == 0 {
        return;
    }
    let compared = all
        .iter()
        .map(|row| row.measure)
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    if shared {
        let _ = writeln!(
            text,
            "Both runs share the very same stored results: nothing was computed twice, so nothing can differ. \
             `bookahead run CONFIG --fresh` makes independent ones."
        );
    } else if differs {
        let mut measures: Vec<&str> = all
            .iter()
            .filter(|row| row.differs())
            .map(|row| row.measure)
            .collect();
        measures.dedup();
        measures.sort_unstable();
        measures.dedup();
        let _ = writeln!(
            text,
            "THEY DIFFER in {} of {} measures: {}",
            measures.len(),
            compared,
            measures.join(", ")
        );
    } else {
        let _ = writeln!(
            text,
            "all {compared} measures are equal bit by bit in every pair"
        );
    }
    text.push('\n');
}

/// Names that `--metric` takes.
fn known_measures() -> Vec<&'static str> {
    let studied = measures::MEASURES.iter().map(|measure| measure.name);
    let metrics = METRICS.iter().map(|metric| metric.name);
    metrics.chain(studied).collect()
}

fn table(rows: &[&Difference], by: Option<&str>) -> io::Result<()> {
    let mut headings = Vec::new();
    if let Some(by) = by {
        headings.push(Heading::new(by, false));
    }
    headings.extend([
        Heading::new("measure", false),
        Heading::new("pairs", true),
        Heading::new("equal", true),
        Heading::new("n", true),
        Heading::new("first", true),
        Heading::new("second", true),
        Heading::new("difference ± 95 %", true),
        Heading::new("largest", true),
        Heading::new("at point of the first run", false),
    ]);
    let mut out = io::stdout().lock();
    let mut drawn = Aligned::new(&mut out, headings, screen());
    for row in rows {
        let mut cells = Vec::new();
        if by.is_some() {
            cells.push(row.group.clone());
        }
        cells.extend([
            row.measure.to_owned(),
            row.pairs.to_string(),
            row.equal.to_string(),
            row.difference
                .map_or(0, |estimate| estimate.count)
                .to_string(),
            row.first.map_or("–".to_owned(), number),
            row.second.map_or("–".to_owned(), number),
            row.difference.map_or("–".to_owned(), estimate),
            row.largest.as_ref().map_or("–".to_owned(), |(value, _)| {
                value.map_or("a gap".to_owned(), number)
            }),
            row.largest.as_ref().map_or(String::new(), |(_, point)| {
                format!(
                    "{}: {}, replication {}",
                    point.place,
                    axes_text(&point.axes),
                    point.replication
                )
            }),
        ]);
        drawn.push(cells)?;
    }
    drawn.finish().map(|_| ())
}

/// What the intervals of the table can carry: replications that lack points, and how many intervals are read at once.
fn caution(rows: &[&Difference]) -> String {
    let mut text = String::new();
    let gaps: std::collections::BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| &row.gaps)
        .map(String::as_str)
        .collect();
    if !gaps.is_empty() {
        let _ = writeln!(
            text,
            "\nno interval where replications do not have the same points:"
        );
        for gap in gaps.iter().take(5) {
            let _ = writeln!(text, "  {gap}");
        }
        if gaps.len() > 5 {
            let _ = writeln!(text, "  and {} more: --json has all", gaps.len() - 5);
        }
    }
    let tested = tested(rows);
    if tested.len() > 1 {
        let p_values: Vec<f64> = tested.iter().map(|(_, p)| *p).collect();
        let held = pairs::holm(&p_values);
        let names: Vec<String> = (tested.iter().zip(held))
            .filter(|(_, held)| *held)
            .map(|((row, _), _)| match row.group.as_str() {
                "" => row.measure.to_owned(),
                group => format!("{} ({group})", row.measure),
            })
            .collect();
        let _ = writeln!(
            text,
            "\n{} intervals are read at once, and one in twenty leaves 0 out by chance alone; after Holm's correction the difference is \
             not 0 at 5 % in {}.",
            tested.len(),
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        );
    }
    text
}

/// The rows whose difference can be tested, with its p-value.
fn tested<'r>(rows: &[&'r Difference]) -> Vec<(&'r Difference, f64)> {
    let rows = rows.iter().filter(|row| row.differs());
    rows.filter_map(|row| Some((*row, row.difference?.p_value()?)))
        .collect()
}

/// About five significant digits; a difference that is there never looks like zero.
fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && size < 1e-4 {
        return format!("{value:.2e}");
    }
    if value.fract() == 0.0 {
        return Cell::Number(value).text(0);
    }
    let digits = if size >= 1.0 {
        size.log10().floor() as usize
    } else {
        0
    };
    Cell::Number(value).text(5_usize.saturating_sub(digits).max(1))
}

fn estimate(estimate: Estimate) -> String {
    match estimate.half_width {
        Some(half) => format!("{} ± {}", number(estimate.mean), number(half)),
        None => number(estimate.mean),
    }
}

fn side(run: &RunSummary) -> Value {
    json!({"run": run.id.0, "name": run.name, "configuration_hash": run.configuration_hash,
        "program_version": run.program_version, "program_commit": run.program_commit,
        "result_format": run.result_format, "seed": run.seed, "points": run.points, "points_done": run.points_done})
}

fn unpaired_json(points: &[crate::store::MeasuredPoint]) -> Vec<Value> {
    points
        .iter()
        .map(|point| {
            json!({"place": point.place, "axes": axes_json(&point.axes), "replication": point.replication})
        })
        .collect()
}

fn difference_json(row: &Difference) -> Value {
    let estimate = row.difference;
    json!({
        "group": row.group, "measure": row.measure, "pairs": row.pairs, "equal": row.equal,
        "first_mean": row.first, "second_mean": row.second,
        "replications": estimate.map_or(0, |estimate| estimate.count), "gaps": row.gaps,
        "p_value": estimate.and_then(|estimate| estimate.p_value()),
        "difference": estimate.map(|estimate| estimate.mean),
        "difference_sd": estimate.and_then(|estimate| estimate.deviation),
        "difference_low": estimate.and_then(|estimate| estimate.low()),
        "difference_high": estimate.and_then(|estimate| estimate.high()),
        "largest": row.largest.as_ref().map(|(value, point)| json!({
            "difference": value, "place": point.place, "axes": axes_json(&point.axes),
            "replication": point.replication})),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_is_there_never_looks_like_zero() {
        assert_eq!(number(1e-13), "1.00e-13");
        assert_eq!(number(-0.00001), "-1.00e-5");
        assert_eq!(number(41_061.25), "41,061.2");
        assert_eq!(number(0.5), "0.50000");
        assert_eq!(number(12.0), "12");
        assert_eq!(number(0.0), "0");
    }
}
