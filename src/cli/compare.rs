//! `bookahead compare RUN RUN…`: runs beside the first of them, on the screen and as a report.

mod head;
mod table;

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use self::table::{caution, table};
use super::aligned::is_tsv;
use super::paragraphs::paragraph;
use super::screen::{LookError, are_records, axes_json, print_json};
use crate::cli::studies;
use crate::store::{METRICS, MeasuredPoint, RunSelector, RunSummary, Store, StoreError};
use crate::sweep::keys::Keys;
use crate::sweep::shown;
use bookahead_report::ReportError;
use bookahead_report::comparison::{
    self, Candidate, ComparedRun, Difference, Judgement, Method, Pairing, Quantity, of_specs,
    of_texts,
};
use head::{provenance, summary, title};

/// Compares runs with the first of them: pairs their points by axis values and by what their
/// simulations saw, and shows what differs.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
RUN is a number, the name of an experiment (its last run), or `latest`; STORE:RUN is a run of another store, as in last-year.db:3. \
The answer comes first, then differences, then settings.

A difference is the other run minus the first, in the same point; ± is the 95 % interval of its mean (Student's t). Points are \
paired that have the same values on the axes and saw the same jobs and failures, whatever the numbers of their replications. The unit \
is the replication: its points share jobs and failures, so they are averaged first, and `n` counts pairs. Runs without pairs whose \
jobs were generated from different seeds are compared unpaired (Welch's t); all others are not comparable, and the first sentence says \
why. Points that share \
one result count once, and strategies in which a quantity is the same in every pair are left out of its means. \
`equal` counts pairs whose numbers are the same, bit for bit. If points that both sweeps have lack a result, nothing is computed from the others, and the missing ones are named.

--out writes all of that as a page with curves, and as Markdown, CSV, Parquet and SVG.

Exit code: 0; with --exit-code 1 when a number differs, or a point has no partner or no result.

Examples:
  bookahead compare 3 latest
  bookahead compare 3 4 --by scheduling.strategy --metric gain
  bookahead compare 3 4 last-year.db:7 --out reports/three-loads
  bookahead compare quickstart last-year.db:quickstart --exit-code")]
pub struct CompareArguments {
    /// The runs: each is compared with the first
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub runs: Vec<String>,
    /// The store of the runs that do not name another one
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// Write a report into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Only this measure (may be given several times; `bookahead list metrics` lists them)
    /// [default: all that differ, and the gain]
    #[arg(long, value_name = "NAME", value_parser = measure)]
    pub metric: Vec<String>,
    /// Separately for each value of this axis
    #[arg(long, value_name = "AXIS")]
    pub by: Option<String>,
    /// Exit with 1 when something differs
    #[arg(long)]
    pub exit_code: bool,
    /// JSON, for scripts: an object, with more than two runs an array with one for each run but the
    /// first
    #[arg(long)]
    pub json: bool,
}

/// A run as a person named it: which, and in which store where it is another one.
#[derive(Debug, PartialEq)]
struct NamedRun<'a> {
    store: Option<&'a Path>,
    run: RunSelector,
}

impl<'a> NamedRun<'a> {
    /// `RUN`, or `STORE:RUN` where what stands before the last colon is a file: names of
    /// experiments may have colons, too.
    fn parse(text: &'a str, is_file: impl Fn(&Path) -> bool) -> Self {
        let (store, run) = match text.rsplit_once(':') {
            Some((store, run)) if is_file(Path::new(store)) => (Some(Path::new(store)), run),
            _ => (None, text),
        };
        let Ok(run) = run.parse();
        Self { store, run }
    }
}

/// Prints the comparison, and writes its report where it is asked for.
///
/// # Errors
///
/// A store without the run, an unknown axis, or a report that cannot be written.
pub fn execute(arguments: &CompareArguments) -> Result<ExitCode, LookError> {
    let mut runs = read(arguments)?;
    let keys = Keys::of(studies());
    let by = arguments.by.as_deref().map(|axis| keys.present(axis));
    comparison::label(&mut runs);
    let (reference, others) = runs
        .split_first()
        .ok_or_else(|| LookError::Use("name two runs".to_owned()))?;
    let (mut differ, mut objects) = (false, Vec::new());
    let pairings: Vec<Pairing<'_>> = (others.iter())
        .map(|other| reference.pair_with(other))
        .collect();
    let mut compared = Vec::new();
    for pairing in &pairings {
        compared.push(rows(pairing, by)?);
    }
    let primary = Quantity::primary(studies(), &runs);
    judge(&mut compared, primary);
    let answers = comparison::answers(&runs, &arguments.metric);
    if !arguments.json {
        let mut text = String::new();
        for answer in &answers {
            paragraph(&mut text, answer);
            text.push('\n');
        }
        super::print(&text)?;
    }
    let judged: Vec<Option<Judgement>> = (compared.iter().flatten())
        .map(|row| row.judgement)
        .collect();
    for (at, ((other, pairing), rows)) in (others.iter().zip(&pairings).zip(&compared)).enumerate()
    {
        differ |= rows.iter().any(|row| row.difference.differs())
            || pairing.unpaired() > 0
            || pairing.has_missing_points()
            || pairing.pairs.is_empty();
        if are_records(arguments.json) {
            let mut object = as_json(arguments, reference, other, pairing, rows);
            object["answer"] = answers[at].clone().into();
            objects.push(object);
            continue;
        }
        if at > 0 {
            super::print("\n")?;
        }
        print(arguments, reference, other, pairing, rows, &judged)?;
    }
    if is_tsv() {
        print_json(&lines(objects))?;
    } else if arguments.json {
        let object = match objects.len() {
            1 => objects.remove(0),
            _ => objects.into(),
        };
        print_json(&object)?;
    }
    if let Some(out) = &arguments.out {
        let (page, kept) = comparison::write(&runs, &arguments.metric, out).map_err(unwritten)?;
        if let Some(kept) = kept.sentence(out) {
            super::say(kept);
        }
        super::say(format_args!("report: {}", page.display()));
    }
    Ok(if arguments.exit_code && differ {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// The differences of every comparison, each with the numbers of its runs.
fn lines(objects: Vec<Value>) -> Value {
    let of_object = objects.into_iter().flat_map(|mut object| {
        let [first, second] = ["first", "second"].map(|side| object[side]["run"].take());
        let differences = match object["differences"].take() {
            Value::Array(differences) => differences,
            _ => Vec::new(),
        };
        differences.into_iter().map(move |mut difference| {
            difference["first"] = first.clone();
            difference["second"] = second.clone();
            difference
        })
    });
    of_object.collect()
}

fn unwritten(error: ReportError) -> LookError {
    match error {
        ReportError::Store(error) => LookError::Store(error),
        ReportError::Write { path, source } => LookError::File { path, source },
        ReportError::Question(error) => LookError::Query(error),
        error @ (ReportError::Folder(_) | ReportError::Labels { .. } | ReportError::Compute(_)) => {
            LookError::Use(error.to_string())
        }
    }
}

/// The runs, each from its store.
fn read(arguments: &CompareArguments) -> Result<Vec<ComparedRun>, LookError> {
    let mut runs = Vec::new();
    for text in &arguments.runs {
        let named = NamedRun::parse(text, Path::is_file);
        let path = named.store.unwrap_or(&arguments.store);
        let store = Store::open_read_only(studies(), path)?;
        let run = ComparedRun::read(&store, path, &named.run);
        runs.push(run.map_err(|error| match (&error, text.rsplit_once(':')) {
            (StoreError::NoRun { .. }, Some((before, _))) if named.store.is_none() => {
                LookError::Use(format!("{error}; and there is no store `{before}`"))
            }
            _ => error.into(),
        })?);
    }
    Ok(runs)
}

/// One measure over the pairs of a group.
struct Row<'p> {
    /// Value of the axis that groups; empty without one.
    group: String,
    measure: &'static str,
    difference: Difference<'p>,
    /// What its p-value is worth beside those of all other rows.
    judgement: Option<Judgement>,
}

/// Judges the rows of every run, shown or not, as the report of the comparison does.
fn judge(compared: &mut [Vec<Row<'_>>], primary: &str) {
    let mut groups: Vec<&str> = compared
        .iter()
        .flatten()
        .map(|row| row.group.as_str())
        .collect();
    groups.sort_unstable();
    groups.dedup();
    let of_runs = compared.iter().enumerate();
    let candidates: Vec<Candidate<'_, '_>> = of_runs
        .flat_map(|(run, rows)| rows.iter().map(move |row| (run, row)))
        .map(|(run, row)| Candidate {
            place: (
                run,
                groups.partition_point(|group| *group < row.group.as_str()),
            ),
            quantity: row.measure,
            difference: &row.difference,
        })
        .collect();
    let judged = comparison::judge(&candidates, primary);
    for (row, judgement) in compared.iter_mut().flatten().zip(judged) {
        row.judgement = judgement;
    }
}

/// Every measure in every group.
fn rows<'p>(pairing: &Pairing<'p>, by: Option<&str>) -> Result<Vec<Row<'p>>, LookError> {
    let groups = match by {
        Some(by) => pairing.groups(&[axis_named(by, pairing)?]),
        None => vec![pairing.whole()],
    };
    let mut rows = Vec::new();
    for quantity in Quantity::all(studies(), pairing.compared()) {
        for group in &groups {
            let value = group.values.first().and_then(Option::as_ref);
            rows.push(Row {
                group: value.map_or(String::new(), shown),
                measure: quantity.name,
                difference: Difference::of(&quantity, group),
                judgement: None,
            });
        }
    }
    Ok(rows)
}

fn as_json(
    arguments: &CompareArguments,
    first: &ComparedRun,
    second: &ComparedRun,
    pairing: &Pairing<'_>,
    rows: &[Row<'_>],
) -> Value {
    json!({
        "first": side(&first.run), "second": side(&second.run),
        "method": pairing.method.name(), "not_comparable": comparison::incomparable(first, second, pairing),
        "remarks": comparison::remarks(pairing),
        "pairs": pairing.pairs.len(), "same_results": is_one_result(first, second, pairing),
        "differs": rows.iter().any(|row| row.difference.differs()),
        "configuration": of_texts(&first.run.configuration, &second.run.configuration), "resolved": of_specs(&pairing.pairs),
        "unpaired_first": unpaired_json(&pairing.only_first), "unpaired_second": unpaired_json(&pairing.only_second),
        "lacking": pairing.missing.iter().map(comparison::MissingPoint::text).collect::<Vec<_>>(),
        "axes_only_first": pairing.axes_only_first, "axes_only_second": pairing.axes_only_second,
        "differences": wanted(rows, arguments).into_iter().map(difference_json).collect::<Vec<_>>(),
    })
}

fn is_one_result(first: &ComparedRun, second: &ComparedRun, pairing: &Pairing<'_>) -> bool {
    first.store == second.store && pairing.is_one_result()
}

fn print(
    arguments: &CompareArguments,
    first: &ComparedRun,
    second: &ComparedRun,
    pairing: &Pairing<'_>,
    all: &[Row<'_>],
    judged: &[Option<Judgement>],
) -> io::Result<()> {
    super::print(&title(&first.run, &second.run))?;
    if !pairing.pairs.is_empty() || pairing.method == Method::Welch {
        let rows = wanted(all, arguments);
        table(&rows, arguments.by.as_deref())?;
        super::print(&caution(&rows, judged))?;
    }
    let mut lines = "\n".to_owned();
    summary(
        &mut lines,
        pairing,
        all,
        is_one_result(first, second, pairing),
    );
    lines.push_str(&provenance(first, second));
    let configuration = of_texts(&first.run.configuration, &second.run.configuration);
    let resolved = of_specs(&pairing.pairs);
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
    super::print(&lines)
}

/// The rows of the quantities that were asked for, in that order; else those that differ, and the
/// gain.
fn wanted<'r, 'p>(rows: &'r [Row<'p>], arguments: &CompareArguments) -> Vec<&'r Row<'p>> {
    if arguments.metric.is_empty() {
        let is_shown = |row: &&Row<'_>| row.difference.differs() || row.measure == "gain";
        return rows.iter().filter(is_shown).collect();
    }
    let of = |name| rows.iter().filter(move |row| name == row.measure);
    arguments.metric.iter().flat_map(of).collect()
}

/// The axis of this name, or of this last part of a name.
fn axis_named(name: &str, pairing: &Pairing<'_>) -> Result<String, LookError> {
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

/// A measure by its name; the error says which is near.
fn measure(name: &str) -> Result<String, String> {
    let known = known_measures();
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    let near = crate::sweep::keys::nearest(name, &known);
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Err(format!(
        "there is no such measure; {near}`bookahead list metrics` lists them"
    ))
}

/// Names that `--metric` takes.
fn known_measures() -> Vec<&'static str> {
    let studied = studies().measures().map(|measure| measure.name);
    let metrics = METRICS.iter().map(|metric| metric.name);
    metrics.chain(studied).collect()
}

fn side(run: &RunSummary) -> Value {
    json!({"run": run.id.0, "name": run.name, "configuration_hash": run.configuration_hash,
        "program_version": run.program_version, "program_commit": run.program_commit,
        "result_format": run.result_format, "seed": run.seed, "points": run.points, "points_done": run.points_done})
}

fn unpaired_json(points: &[&MeasuredPoint]) -> Vec<Value> {
    points
        .iter()
        .map(|point| {
            json!({"place": point.place, "axes": axes_json(&point.axes), "replication": point.replication})
        })
        .collect()
}

fn difference_json(row: &Row<'_>) -> Value {
    let (group, measure, judgement) = (&row.group, row.measure, row.judgement);
    let row = &row.difference;
    let estimate = row.difference;
    json!({
        "group": group, "measure": measure, "method": row.method.name(), "refused": row.is_refused, "pairs": row.pairs, "equal": row.equal,
        "first_mean": row.first, "second_mean": row.second,
        "unchanged_strategies": row.unchanged,
        "replications": row.replications[0], "replications_second": row.replications[1], "gaps": row.gaps,
        "p_value": row.p_value(),
        "p_holm": judgement.map(|judgement| judgement.adjusted),
        "family": judgement.map(|judgement| judgement.family.name()),
        "repeats": judgement.and_then(|judgement| judgement.repeats),
        "difference": estimate.map(|estimate| estimate.mean),
        "difference_sd": estimate.and_then(|estimate| estimate.deviation),
        "difference_low": estimate.and_then(|estimate| estimate.low()),
        "difference_high": estimate.and_then(|estimate| estimate.high()),
        "lag_1_correlation": row.log.map(|log| log.correlation),
        "effective_replications": row.log.map(|log| log.effective),
        "log_low": row.log.map(|log| log.interval.low),
        "log_high": row.log.map(|log| log.interval.high),
        "largest": row.largest.as_ref().map(|(value, point)| json!({
            "difference": value, "place": point.place, "axes": axes_json(&point.axes),
            "replication": point.replication})),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_another_store_is_named_behind_its_file_and_a_colon_in_a_name_is_none() {
        let parse = |text| NamedRun::parse(text, |path| path == Path::new("old:er.db"));
        assert_eq!(parse("3").run, RunSelector::Id(3));
        let other = parse("old:er.db:latest");
        assert_eq!(other.store, Some(Path::new("old:er.db")));
        assert_eq!(other.run, RunSelector::Latest);
        let named = parse("load: 2");
        assert_eq!(
            (named.store, named.run),
            (None, RunSelector::Name("load: 2".to_owned()))
        );
    }
}
