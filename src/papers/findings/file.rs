//! The form of `findings.toml`, with its checks.

mod checks;
mod values;

use self::checks::{RawCompare, RawValue};
pub(super) use self::values::{filter, finite, fixed, not_negative};
use bookahead_lab::store::{PAIRED_MEASURES, metric_names};
use bookahead_lab::study::Studies;
use std::collections::BTreeSet;

use serde::Deserialize;

use super::{
    BoundCheck, Check, Derived, Finding, FindingsFile, Paired, PointsCheck, Provenance, TrendCheck,
    Zipped, again, tables,
};
use bookahead_lab::keys::ours::told;

/// Why a file of findings, of their explanations or of readings was refused.
#[derive(Debug, thiserror::Error)]
pub enum FindingsError {
    /// Not TOML, or an unknown key outside the findings.
    #[error("{file}: {what}")]
    Syntax {
        /// The file.
        file: String,
        /// Where and what.
        what: String,
    },
    /// An unknown key, or something impossible, in one finding.
    #[error("{file}, line {line}: finding `{id}`: {problem}")]
    Finding {
        /// The file.
        file: String,
        /// Where the finding begins.
        line: usize,
        /// Its id.
        id: String,
        /// What is wrong with it and what is allowed.
        problem: String,
    },
    /// Something impossible in another entry: a tolerance, an explanation, a reading.
    #[error("{file}: {entry}: {problem}")]
    Entry {
        /// The file.
        file: String,
        /// Which entry.
        entry: String,
        /// What is wrong with it and what is allowed.
        problem: String,
    },
}

/// Reads a file in TOML.
pub(super) fn from_toml<T: serde::de::DeserializeOwned>(
    file: &str,
    text: &str,
) -> Result<T, FindingsError> {
    const EXPECTED: &str =
        "findings are TOML with [[finding]], [[table]], [[explanation]] or [[reading]]";
    let is_key = |path: &str| {
        ["finding.", "table.", "explanation.", "reading."]
            .iter()
            .any(|table| path.starts_with(table))
    };
    toml::from_str(text).map_err(|error| FindingsError::Syntax {
        file: file.to_owned(),
        what: told(&error, text, EXPECTED, is_key),
    })
}

/// Which measures the checks of a file may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureNames {
    /// Those that the studies of the program measure, and metrics of jobs.
    Known,
    /// Any, where the curves do not come from a store of the program.
    Any,
}

/// Reads a file of findings. `file` is only named in errors; `studies` are those of the program.
///
/// # Errors
///
/// [`FindingsError::Syntax`] when the text is not TOML of the documented form,
/// [`FindingsError::Finding`] with the id when a finding has an unknown key, relation or measure,
/// an impossible number, an id that was used before, or not exactly one check.
pub fn parse(
    file: &str,
    text: &str,
    studies: Studies,
    names: MeasureNames,
) -> Result<FindingsFile, FindingsError> {
    let mut raw: RawFile = from_toml(file, text)?;
    if let Some(layout) = &mut raw.cells {
        layout.studies = studies;
    }
    let entry = |entry: String, problem| FindingsError::Entry {
        file: file.to_owned(),
        entry,
        problem,
    };
    for paired in &raw.paired {
        for (name, side) in [("left", &paired.left), ("right", &paired.right)] {
            if side.is_empty() {
                let problem = format!("`{name}` fixes no axis");
                return Err(entry(format!("run `{}`", paired.run), problem));
            }
        }
    }
    if let Some(problem) = raw.cells.as_ref().and_then(tables::Layout::problem) {
        return Err(entry("[cells]".to_owned(), problem));
    }
    let tolerances = raw
        .tolerance
        .into_iter()
        .map(|rule| {
            let name = rule.name();
            rule.resolve().map_err(|problem| entry(name, problem))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut seen = BTreeSet::new();
    let mut one = |table: toml::Spanned<toml::Table>, resolve: &Resolve<'_>| {
        let start = table.span().start.min(text.len());
        let table = table.into_inner();
        let id = match table.get("id").and_then(toml::Value::as_str) {
            Some(id) => id.to_owned(),
            None => format!("number {}", seen.len() + 1),
        };
        let is_new = seen.insert(id.clone());
        let twice = || Err("appears twice; ids must be unique".to_owned());
        let found = if is_new { resolve(table) } else { twice() };
        found.map_err(|problem| FindingsError::Finding {
            file: file.to_owned(),
            line: 1 + text[..start].matches('\n').count(),
            id,
            problem,
        })
    };
    let mut findings = Vec::new();
    for mut table in raw.table {
        let Some(layout) = &raw.cells else {
            let problem = "needs `[cells]`, which says what its ids mean".to_owned();
            return Err(entry("[[table]]".to_owned(), problem));
        };
        for own in std::mem::take(&mut table.findings) {
            let resolve = |own| tables::resolve(layout, &tolerances, &table, own);
            findings.push(one(own, &resolve)?);
        }
    }
    for own in raw.finding {
        findings.push(one(own, &|own| finding(own, studies, names))?);
    }
    let mut parsed = FindingsFile {
        findings,
        cells: raw.cells,
        tolerances,
        derived: raw.derived,
        paired: raw.paired,
        zipped: raw.zipped,
        ..FindingsFile::default()
    };
    for rule in &raw.again {
        again::repeat(&mut parsed, rule).map_err(|problem| FindingsError::Finding {
            file: file.to_owned(),
            line: 1,
            id: format!("again for {}", rule.trace),
            problem,
        })?;
    }
    Ok(parsed)
}

/// How a finding is made of its table; the error is the problem alone.
type Resolve<'r> = dyn Fn(toml::Table) -> Result<Finding, String> + 'r;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    cells: Option<tables::Layout>,
    #[serde(default)]
    tolerance: Vec<tables::RawTolerance>,
    #[serde(default)]
    table: Vec<tables::RawTable>,
    #[serde(default)]
    derived: Vec<Derived>,
    #[serde(default)]
    paired: Vec<Paired>,
    #[serde(default)]
    zipped: Vec<Zipped>,
    #[serde(default)]
    again: Vec<again::Again>,
    // Read one by one, so that an error can name the finding.
    #[serde(default)]
    finding: Vec<toml::Spanned<toml::Table>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFinding {
    id: String,
    section: String,
    statement: String,
    provenance: Provenance,
    trace: Option<String>,
    unit: Option<String>,
    note: Option<String>,
    #[serde(default)]
    held_out: bool,
    #[serde(default)]
    once: bool,
    value: Option<RawValue>,
    bound: Option<BoundCheck>,
    trend: Option<TrendCheck>,
    compare: Option<RawCompare>,
    points: Option<PointsCheck>,
}

/// The measures that a finding may name beside those that studies keep in tables of their own.
#[must_use]
pub fn known_measures(studies: Studies) -> Vec<&'static str> {
    let of_studies = studies.measures().map(|measure| measure.name);
    of_studies
        .chain(metric_names())
        .chain(PAIRED_MEASURES)
        .collect()
}

/// One finding; the error is the problem alone.
fn finding(table: toml::Table, studies: Studies, names: MeasureNames) -> Result<Finding, String> {
    let raw = RawFinding::deserialize(table)
        .map_err(|error| error.to_string().trim().replace('\n', ", "))?;
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    if raw.id.is_empty() || !raw.id.chars().all(is_name) {
        return Err("an id has letters, digits and -_./ only".to_owned());
    }
    if raw.statement.trim().is_empty() {
        return Err("`statement` is empty; it says in one sentence what is claimed".to_owned());
    }
    let check = match (raw.value, raw.bound, raw.trend, raw.compare, raw.points) {
        (Some(value), None, None, None, None) => Check::Value(value.resolve(raw.held_out)?),
        (None, Some(bound), None, None, None) => Check::Bound(bound.resolve(raw.held_out)?),
        (None, None, Some(trend), None, None) => Check::Trend(trend.resolve(raw.held_out)?),
        (None, None, None, Some(compare), None) => Check::Compare(compare.resolve(raw.held_out)?),
        (None, None, None, None, Some(points)) => Check::Points(points.resolve(raw.held_out)?),
        _ => {
            return Err(
                "give exactly one of the tables `value`, `bound`, `trend`, `compare` and `points`"
                    .to_owned(),
            );
        }
    };
    let finding = Finding {
        id: raw.id,
        section: raw.section,
        statement: raw.statement.trim().to_owned(),
        provenance: raw.provenance,
        trace: raw.trace,
        unit: raw.unit,
        note: raw.note,
        held_out: raw.held_out,
        is_once: raw.once,
        check,
    };
    if names == MeasureNames::Known {
        let known = known_measures(studies);
        for (_, measure) in finding.sources() {
            if !known.contains(&measure) && studies.quantity(measure).is_none() {
                return Err(format!(
                    "unknown measure `{measure}`; there are {}",
                    known.join(", ")
                ));
            }
        }
    }
    Ok(finding)
}

impl Check {
    /// The runs and measures that it asks for.
    pub(super) fn sources(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Value(check) => vec![(&check.run, &check.measure)],
            Self::Bound(check) => vec![(&check.run, &check.measure)],
            Self::Trend(check) => vec![(&check.run, &check.measure)],
            Self::Points(check) => vec![(&check.run, &check.measure)],
            Self::Compare(check) => vec![
                (&check.left.run, &check.left.measure),
                (&check.right.run, &check.right.measure),
            ],
            Self::Cell(check) => {
                let of = |run| tables::MEASURES.map(|measure| (run, measure));
                check.runs.iter().flat_map(|run| of(run.as_str())).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;
