//! Findings: what a paper says about its results ("rejected % rises with the share, under both
//! rules"), as data that a reproduction can be checked against.
//!
//! A finding is a value at a place, a bound, a trend or a comparison of curves, quantified over the
//! axes that it leaves open, or a quantity of a table's cell ([`tables`]). [`parse`] reads the
//! files (`configs/PAPER/findings.toml`), [`evaluate`] judges them,
//! [`ScoreCard`](crate::reproduction::ScoreCard) shows the verdicts. This module reads no store:
//! [`MeasuredCurves`] provides the measured values.

mod again;
mod compare;
mod curves;
mod derived;
mod evaluate;
mod explanations;
mod file;
mod paired;
mod points;
mod published;
mod quantity;
mod readings;
pub mod tables;
mod trend;
mod verdict;
mod words;
mod zipped;

use std::collections::{BTreeMap, BTreeSet};

use bookahead_report::AxisFilter;
use serde::{Deserialize, Serialize};

pub use curves::{CurveCell, MeasuredCurves};
pub use derived::Derived;
pub use evaluate::{FindingResult, Judged, evaluate};
pub use explanations::{Audit, Explanation, audit, explain, parse_explanations};
pub use file::{FindingsError, MeasureNames, known_measures, parse};
pub use paired::Paired;
pub use points::{PublishedPoints, Scatter};
use quantity::Quantity;
pub use readings::{ALL_READINGS, READINGS, Reading, parse_readings};
pub use verdict::Verdict;
pub(crate) use verdict::compact;
pub use words::Place;
pub use zipped::Zipped;

/// Everything that one paper says about its results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindingsFile {
    /// Every finding in the order of the file.
    pub findings: Vec<Finding>,
    /// Runs that are differences of others.
    pub derived: Vec<Derived>,
    /// Runs that show which requests one of two settings grants and the other does not.
    pub paired: Vec<Paired>,
    /// Axes that moved together.
    pub zipped: Vec<Zipped>,
    /// How its tables name cells; `None` where it has none.
    pub cells: Option<tables::Layout>,
    /// The tolerances of quantities of tables, with the reason for each.
    pub tolerances: Vec<tables::ToleranceRule>,
    /// Files of published points by their stems, as far as checks name them; read by the caller,
    /// who knows the folder.
    pub published: BTreeMap<String, PublishedPoints>,
}

impl FindingsFile {
    /// The stems of the files of published points that its checks name.
    #[must_use]
    pub fn point_files(&self) -> BTreeSet<String> {
        let checks = self.findings.iter().map(|finding| &finding.check);
        checks
            .filter_map(|check| match check {
                Check::Points(check) => Some(check.points.clone()),
                _ => None,
            })
            .collect()
    }

    /// The run that a name means: the run of a configuration, if the name is that of a derived or
    /// paired run.
    #[must_use]
    pub fn made_of<'n>(&'n self, run: &'n str) -> &'n str {
        let derived = self
            .derived
            .iter()
            .map(|derived| (&derived.run, &derived.of));
        let paired = self.paired.iter().map(|paired| (&paired.run, &paired.of));
        derived
            .chain(paired)
            .find(|(name, _)| *name == run)
            .map_or(run, |(_, of)| of)
    }
}

/// One statement about measured values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Its short name, such as `H1` or `F23-a`.
    pub id: String,
    /// Where the work says it, for a reader who looks it up (`§6.8, Table 17`), or what it was
    /// derived from. Score cards show together what has the same.
    pub section: String,
    /// What is claimed, in one sentence.
    pub statement: String,
    /// Its origin.
    pub provenance: Provenance,
    /// Its trace; `None` if it is about several, or none.
    pub trace: Option<String>,
    /// The unit of the judged number, shown after it.
    pub unit: Option<String>,
    /// A note for readers of the verdict.
    pub note: Option<String>,
    /// The published number is held out for independent validation: the measured value is shown and
    /// nothing is judged.
    pub held_out: bool,
    /// It applies to these inputs only, and is not judged again on others.
    pub is_once: bool,
    /// The check that must hold.
    pub check: Check,
}

impl Finding {
    /// Whether it belongs to a selection of one trace: it does if it names this trace or none.
    #[must_use]
    pub fn concerns(&self, trace: Option<&str>) -> bool {
        match (trace, &self.trace) {
            (Some(wanted), Some(own)) => wanted == own,
            _ => true,
        }
    }

    /// The runs (stems of configurations) and measures that it needs.
    #[must_use]
    pub fn sources(&self) -> Vec<(&str, &str)> {
        self.check
            .sources()
            .into_iter()
            .flat_map(|(run, quantity)| {
                Quantity::parse(quantity)
                    .measures()
                    .map(move |measure| (run, measure))
            })
            .collect()
    }

    /// The check in symbols: `rejected (strategy reject) − rejected (strategy move) >= 20`.
    #[must_use]
    pub fn expected(&self) -> String {
        words::expected(self)
    }
}

/// The origin of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// The paper says it.
    Stated,
    /// The number stands in the paper.
    Printed,
    /// It follows from what the paper says by arithmetic.
    Derived,
    /// It is read off the range of a figure's axis.
    Axis,
}

impl Provenance {
    /// The word in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Printed => "printed",
            Self::Derived => "derived",
            Self::Axis => "axis",
        }
    }
}

/// A check. Means over replications are judged; equality means equality up to rounding (1e-9 of the
/// larger side).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// One cell has about this value.
    Value(ValueCheck),
    /// Every cell of a selection lies between bounds.
    Bound(BoundCheck),
    /// Every curve of a selection rises or falls along an axis.
    Trend(TrendCheck),
    /// One curve lies above or below another, everywhere in a selection.
    Compare(CompareCheck),
    /// A quantity of a table's cell has about this value.
    Cell(tables::CellCheck),
    /// Many published points and the measured ones have the same order.
    Points(PointsCheck),
}

/// A value for each axis that is fixed, by the axis's dotted key.
pub type Fixed = BTreeMap<String, bookahead_lab::sweep::AxisValue>;

/// One cell has about this value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueCheck {
    /// The stem of the configuration.
    pub run: String,
    /// The measured quantity: a measure, `deviation of` one, its `least` or `greatest` replication,
    /// or one `/` another.
    pub measure: String,
    /// The cell: a value for every axis of the run that has more than one.
    pub at: Fixed,
    /// The published value and the largest difference that holds; `None` where it is held out.
    pub expected: Option<PublishedValue>,
}

/// A published number with its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedValue {
    /// The published number.
    pub value: f64,
    /// The largest difference that still agrees with it.
    pub tolerance: Tolerance,
}

/// When a measured value agrees with a published number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tolerance {
    /// A mean at most this far from it, in its own unit.
    Absolute(f64),
    /// A mean at most this far from it, as a share of it.
    Relative(f64),
    /// The published number lies between the least and the greatest replication, or outside by no
    /// more than `rounding`. For a number that was published of a single run.
    Range {
        /// Half a unit of the last digit that was printed; 0 for a number that was not rounded.
        rounding: f64,
        /// The share of themselves by which the least and the greatest are moved outwards.
        widened: f64,
    },
}

impl Tolerance {
    /// The largest difference from `published` that holds.
    #[must_use]
    pub fn width(self, published: f64) -> f64 {
        match self {
            Self::Relative(share) => share * published.abs(),
            Self::Absolute(width)
            | Self::Range {
                rounding: width, ..
            } => width,
        }
    }
}

/// Many published points and the measured ones have the same order: their rank correlation
/// (Spearman's) is high enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointsCheck {
    /// The stem of the configuration.
    pub run: String,
    /// The measured quantity.
    pub measure: String,
    /// The stem of the file of published points (see [`PublishedPoints`]).
    pub points: String,
    /// Its column of published numbers.
    pub column: String,
    /// The lowest rank correlation that holds; `None` where it is held out.
    pub at_least: Option<f64>,
}

/// Every cell of a selection lies between bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundCheck {
    /// The stem of the configuration.
    pub run: String,
    /// The measured quantity: a measure, `deviation of` one, its `least` or `greatest` replication,
    /// or one `/` another.
    pub measure: String,
    /// The cells.
    #[serde(default, rename = "where", deserialize_with = "file::filter")]
    pub filter: AxisFilter,
    /// The lowest value that holds.
    pub at_least: Option<f64>,
    /// The highest value that holds.
    pub at_most: Option<f64>,
    /// The only value that holds.
    pub equals: Option<f64>,
    /// The share of cells that may fail, 0 to below 1.
    #[serde(default)]
    pub exceptions: f64,
}

/// Every curve of a selection rises or falls along an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrendCheck {
    /// The stem of the configuration.
    pub run: String,
    /// The measured quantity: a measure, `deviation of` one, its `least` or `greatest` replication,
    /// or one `/` another.
    pub measure: String,
    /// The axis: its numbers ascending, its names in the order of the file.
    pub along: String,
    /// The direction of the curve; `None` where it is held out.
    pub direction: Option<Direction>,
    /// The cells. A curve is one combination of the other axes.
    #[serde(default, rename = "where", deserialize_with = "file::filter")]
    pub filter: AxisFilter,
    /// The largest step in the wrong direction that counts as noise, in the unit of the measure.
    #[serde(default)]
    pub slack: f64,
    /// The share of curves that may fail, 0 to below 1.
    #[serde(default)]
    pub exceptions: f64,
}

/// The direction of a curve. No step may go the wrong way by more than the slack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The last value is strictly above the first.
    Rises,
    /// The last value is strictly below the first.
    Falls,
    /// The last value is at most the slack below the first.
    DoesNotFall,
    /// The last value is at most the slack above the first.
    DoesNotRise,
}

impl Direction {
    /// The words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Rises => "rises",
            Self::Falls => "falls",
            Self::DoesNotFall => "does not fall",
            Self::DoesNotRise => "does not rise",
        }
    }
}

/// One curve lies above or below another, everywhere in a selection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompareCheck {
    /// The curve on the left of the relation.
    pub left: Side,
    /// The curve on its right.
    pub right: Side,
    /// The relation between the compared quantity and the number; `None` where it is held out.
    pub relation: Option<Relation>,
    /// The compared quantity, and the number that it is compared with.
    pub by: Contrast,
    /// With `==`: the largest difference from the number that holds.
    pub tolerance: f64,
    /// The axes over which the check is quantified; `None` for all that a side leaves open. An axis
    /// that both sides leave open has the same value on both.
    pub for_each: Option<Vec<String>>,
    /// The selected cells of both sides. It has no effect on an axis that a side fixes.
    #[serde(rename = "where")]
    pub filter: AxisFilter,
    /// The share of pairs that may fail, 0 to below 1.
    pub exceptions: f64,
    /// The share of the paired replications in which a pair must hold; `None` where their mean is
    /// judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replications: Option<f64>,
}

/// A curve in a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// The stem of the configuration.
    pub run: String,
    /// The measured quantity: a measure, `deviation of` one, its `least` or `greatest` replication,
    /// or one `/` another.
    pub measure: String,
    /// The axes that are fixed.
    #[serde(default, deserialize_with = "file::fixed")]
    pub at: Fixed,
}

/// The quantity that a comparison compares with a number, and that number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contrast {
    /// left − right.
    Difference(f64),
    /// left ÷ right, of the means. A number divided by zero is infinite; zero divided by zero is no
    /// number, and no check holds for it.
    Ratio(f64),
}

/// A relation between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// At least.
    #[serde(rename = ">=")]
    AtLeast,
    /// More than.
    #[serde(rename = ">")]
    Above,
    /// At most.
    #[serde(rename = "<=")]
    AtMost,
    /// Less than.
    #[serde(rename = "<")]
    Below,
    /// The same.
    #[serde(rename = "==")]
    Equals,
}

impl Relation {
    /// The sign in files and tables.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
            Self::Equals => "==",
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
