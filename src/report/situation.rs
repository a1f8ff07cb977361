//! The answer of a run for the terminal: where it has several axes, where the answer changes, and
//! one situation of it by itself.

use std::fmt;

use super::analysis::Analysis;
use super::answer::{Statement, Subject, statements};
use super::dependence::Dependence;
use super::format::{TableFormat as _, Terminal};
use super::optimism::Optimism;
use super::plots::paired::Pairs;
use super::plots::{curves, studies};
use super::rule::RuleAnswer;
use super::section::ReportError;
use super::summary_tables::{best_table, brief, each_axis_table};
use super::table::{Table, short, value_text};
use super::variance::AxisShares;
use crate::PublishedOfRun;
use bookahead_lab::store::{PointColumns, RunSelector, RunSummary, Store};
use bookahead_lab::sweep::{Axis, AxisValue};

/// Rows of a table on the screen; reports have all.
const MOST_ROWS: usize = 24;

/// An axis that is held at one of its values, as it is written: `acceptance.penalty_ratio=1`, or
/// `penalty_ratio=1` where only one axis is called that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    key: String,
    value: String,
}

impl std::str::FromStr for Fixed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => Ok(Self {
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
            }),
            _ => Err(format!(
                "`{text}` is no situation: write AXIS=VALUE, as in penalty_ratio=1"
            )),
        }
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} = {}", self.key, self.value)
    }
}

impl Fixed {
    /// Index of the axis and of its value.
    fn find(&self, axes: &[&Axis]) -> Result<(usize, u32), SituationError> {
        let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
        let named = |is_it: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (0..axes.len()).filter(|at| is_it(&axes[*at].key)).collect()
        };
        let mut found = named(&|key| key == self.key);
        if found.is_empty() {
            found = named(&|key| last(key) == self.key || short(key) == self.key);
        }
        let keys = |which: &[usize]| -> String {
            let keys: Vec<&str> = which.iter().map(|at| axes[*at].key.as_str()).collect();
            keys.join(", ")
        };
        let at = match found[..] {
            [at] => at,
            [] => {
                let all: Vec<usize> = (0..axes.len()).collect();
                return Err(SituationError::NoAxis {
                    key: self.key.clone(),
                    axes: keys(&all),
                });
            }
            _ => {
                return Err(SituationError::Ambiguous {
                    key: self.key.clone(),
                    axes: keys(&found),
                });
            }
        };
        let number = self.value.parse::<f64>().ok();
        let is_it = |value: &AxisValue| {
            value_text(value) == self.value
                || number.is_some_and(|wanted| match value {
                    AxisValue::Integer(value) => *value as f64 == wanted,
                    AxisValue::Real(value) => *value == wanted,
                    AxisValue::Text(_) | AxisValue::Flag(_) => false,
                })
        };
        let place = (0_u32..)
            .zip(&axes[at].values)
            .find(|(_, value)| is_it(value));
        match place {
            Some((place, _)) => Ok((at, place)),
            None => {
                let values: Vec<String> = axes[at].values.iter().map(value_text).collect();
                Err(SituationError::NoValue {
                    key: axes[at].key.clone(),
                    value: self.value.clone(),
                    values: values.join(", "),
                })
            }
        }
    }
}

/// Why a situation cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum SituationError {
    /// The run has no such axis.
    #[error("the run has no axis `{key}`; its axes are: {axes}")]
    NoAxis {
        /// What was given.
        key: String,
        /// The axes of the run.
        axes: String,
    },
    /// Several axes have this short name.
    #[error("`{key}` may be one of several axes: {axes}; write the whole key")]
    Ambiguous {
        /// What was given.
        key: String,
        /// The axes that it may be.
        axes: String,
    },
    /// The axis has no such value.
    #[error("the axis `{key}` has no value {value}; its values are: {values}")]
    NoValue {
        /// The axis.
        key: String,
        /// What was given.
        value: String,
        /// The values of the axis.
        values: String,
    },
    /// An axis is held at several values.
    #[error("the axis `{0}` is given twice; a situation has one value of an axis")]
    Twice(String),
    /// No point has a result there.
    #[error(
        "no point of the run has a result at {0}; the same `bookahead run` command goes on with those that are missing"
    )]
    Nothing(String),
    /// The run cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
}

/// An answer for the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenAnswer {
    /// What came out, sentence by sentence.
    pub sentences: Vec<String>,
    /// The table with the main result, whole.
    pub table: Table,
    /// Whether several axes remain, so that a screen has one block of the table.
    is_of_several_axes: bool,
}

impl ScreenAnswer {
    /// Of the whole run, or of the situation where axes have these values.
    ///
    /// # Errors
    ///
    /// When the store cannot be read, and when the run has no such axis, value or result.
    pub fn read(store: &Store, run: &RunSelector, fixed: &[Fixed]) -> Result<Self, SituationError> {
        let run = store.run(run).map_err(ReportError::from)?;
        let points = store.points(run.id).map_err(ReportError::from)?;
        let points = restricted(points, fixed)?;
        Ok(Self::of(store, &points, &run)?)
    }

    fn of(store: &Store, points: &PointColumns, run: &RunSummary) -> Result<Self, ReportError> {
        let hash = run.configuration_hash.as_str();
        let analysis = Analysis::new(points)?.about(run);
        let dependence = Dependence::of(run, &analysis, points);
        let published = PublishedOfRun::default();
        let pairs = Pairs::new(points, &published).of_neighbours(dependence.is_of_neighbours);
        let (figures, _) = match analysis.is_study() {
            true => studies(&analysis, &pairs, hash),
            false => curves(&analysis, &pairs, hash),
        };
        let subject = Subject::of(&analysis, &pairs, run, &figures);
        let remark = (subject.as_ref()).and_then(|subject| dependence.remark(subject));
        let rule = RuleAnswer::read(store, run, points)?;
        let is_confirmed = rule.as_ref().is_some_and(RuleAnswer::is_confirmed);
        let optimism = match is_confirmed {
            true => None,
            false => Optimism::new(&analysis, &pairs, hash).map(|it| it.sentence().1),
        };
        let mut said = statements(
            &analysis,
            &pairs,
            run,
            &figures,
            remark.as_deref(),
            optimism.as_deref(),
        );
        if let Some(rule) = &rule {
            rule.amend(&mut said);
        }
        let shares = AxisShares::new(&analysis, points, hash)?;
        let table = match each_axis_table(&analysis, points, run) {
            Some(table) => brief(&table, &analysis),
            None => best_table(&analysis, &pairs, run),
        };
        let shares = shares.and_then(|shares| shares.sentence());
        Ok(Self::new(&analysis, run, &said, shares, table))
    }

    /// Of what a report says and shows.
    pub(super) fn new(
        analysis: &Analysis,
        run: &RunSummary,
        said: &[Statement],
        shares: Option<String>,
        table: Table,
    ) -> Self {
        let statements = said.iter().map(|statement| {
            let answer = statement.answer.as_str();
            let answer = answer.strip_suffix(Statement::ON_PAGE).unwrap_or(answer);
            format!("{} {answer}", statement.question)
        });
        let mut sentences: Vec<String> = statements.chain(shares).collect();
        let is_of_several_axes = has_several_situations(analysis);
        let whole = |sentences| Self {
            sentences,
            table,
            is_of_several_axes,
        };
        if !is_of_several_axes {
            return whole(sentences);
        }
        let given = analysis.given_axes();
        let axes = given.iter().map(|axis| &analysis.axes[*axis]);
        if let Some(axis) = axes.max_by_key(|axis| axis.values.len()) {
            let value = axis.values.first().map_or_else(String::new, value_text);
            sentences.push(format!(
                "One situation by itself: bookahead show {} --at \"{}={value}\"",
                run.id.0, axis.key
            ));
        }
        whole(sentences)
    }

    /// As much of the table as this screen shows at once: where several axes remain, its first rows
    /// and as many columns as stand side by side; its title says how much is left out.
    #[must_use]
    pub fn table_on(&self, screen: &Terminal) -> Table {
        match self.is_of_several_axes {
            true => one_block(self.table.clone(), screen),
            false => self.table.clone(),
        }
    }

    /// The same with the sentences above it.
    #[must_use]
    pub fn page_on(&self, screen: &Terminal) -> Table {
        let mut table = self.table_on(screen);
        if !self.sentences.is_empty() {
            table.title = format!("{}\n\n{}", self.sentences.join("\n"), table.title);
        }
        table
    }
}

/// Whether a run answers its question for many situations at once: at least two axes are given.
fn has_several_situations(analysis: &Analysis) -> bool {
    let given = analysis.given_axes();
    let several = given
        .iter()
        .filter(|axis| analysis.axes[**axis].values.len() > 1);
    several.count() > 1
}

/// The points at these values, without the axes that have them. A point without a value on an axis
/// is one of every situation.
fn restricted(points: PointColumns, fixed: &[Fixed]) -> Result<PointColumns, SituationError> {
    let axes: Vec<&Axis> = points.axes.iter().map(|column| &column.axis).collect();
    let mut held: Vec<(usize, u32)> = Vec::new();
    for one in fixed {
        let (axis, place) = one.find(&axes)?;
        if held.iter().any(|(known, _)| *known == axis) {
            return Err(SituationError::Twice(axes[axis].key.clone()));
        }
        held.push((axis, place));
    }
    if held.is_empty() {
        return Ok(points);
    }
    let there = points.only(&held);
    if there.is_empty() {
        let words: Vec<String> = (held.iter())
            .map(|(axis, place)| {
                let value = value_text(&axes[*axis].values[*place as usize]);
                format!("{} = {value}", axes[*axis].key)
            })
            .collect();
        return Err(SituationError::Nothing(words.join(", ")));
    }
    Ok(there)
}

/// The first rows, and as many columns as stand side by side on this screen; its title says how
/// much was left out.
fn one_block(mut table: Table, screen: &Terminal) -> Table {
    let (rows, columns) = (table.rows.len(), table.columns.len());
    table.rows.truncate(MOST_ROWS);
    while table.columns.len() > 2 && !is_one_block(&table, screen) {
        // The number of replications stays.
        let last = table.columns.len() - 1;
        let least = match table.columns[last].key.as_str() {
            "replications" | "n" => last - 1,
            _ => last,
        };
        table.columns.remove(least);
        for row in &mut table.rows {
            row.remove(least);
        }
    }
    let mut left_out = Vec::new();
    if rows > table.rows.len() {
        left_out.push(format!("{} of {rows} rows", rows - table.rows.len()));
    }
    if columns > table.columns.len() {
        left_out.push(format!(
            "{} of {columns} columns",
            columns - table.columns.len()
        ));
    }
    if !left_out.is_empty() {
        let left_out = left_out.join(" and ");
        table.title = format!(
            "{} (left out here: {left_out}; the report has all)",
            table.title
        );
    }
    table
}

/// Whether all columns stand side by side: a table has one rule below each line of headings.
fn is_one_block(table: &Table, screen: &Terminal) -> bool {
    let mut text = Vec::new();
    // Into memory nothing fails to be written.
    let written = screen.write(table, &mut text).is_ok();
    let text = String::from_utf8_lossy(&text);
    written && text.lines().filter(|line| line.starts_with('─')).count() < 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Column};

    fn axes() -> Vec<Axis> {
        let reals = |values: &[f64]| values.iter().copied().map(AxisValue::Real).collect();
        let axis = |key: &str, values| Axis {
            key: key.to_owned(),
            values,
        };
        vec![
            axis("acceptance.penalty_ratio", reals(&[0.5, 1.0])),
            axis("requests.count", vec![AxisValue::Integer(3)]),
            axis("clusters.count", vec![AxisValue::Integer(3)]),
            axis("requests.alpha", reals(&[0.0])),
        ]
    }

    fn found(text: &str) -> Result<(usize, u32), String> {
        let axes = axes();
        let axes: Vec<&Axis> = axes.iter().collect();
        let fixed: Fixed = text.parse()?;
        fixed.find(&axes).map_err(|error| error.to_string())
    }

    #[test]
    fn an_axis_is_named_by_its_key_or_by_the_last_part_of_it_where_that_is_unique() {
        assert_eq!(found("acceptance.penalty_ratio=1"), Ok((0, 1)));
        assert_eq!(found("penalty_ratio = 1.0"), Ok((0, 1)));
        assert_eq!(found("alpha=0"), Ok((3, 0)));
        assert_eq!(found("α=0"), Ok((3, 0)));
        assert_eq!(found("clusters=3"), Ok((2, 0)));
        assert_eq!(
            found("count=3"),
            Err("`count` may be one of several axes: requests.count, clusters.count; write the whole key".to_owned())
        );
    }

    #[test]
    fn an_error_names_the_axes_or_the_values_that_there_are() {
        assert!(
            found("ratio=1").unwrap_err().contains(
                "no axis `ratio`; its axes are: acceptance.penalty_ratio, requests.count"
            )
        );
        assert_eq!(
            found("penalty_ratio=3"),
            Err(
                "the axis `acceptance.penalty_ratio` has no value 3; its values are: 0.5, 1"
                    .to_owned()
            )
        );
        assert!(found("penalty_ratio").unwrap_err().contains("AXIS=VALUE"));
    }

    #[test]
    fn a_long_and_wide_table_is_cut_to_one_block_that_says_what_is_left_out() {
        let columns = (0..9).map(|at| Column::number(format!("c{at}"), "a heading", 0));
        let table = Table {
            name: "best".to_owned(),
            title: "Best".to_owned(),
            columns: columns.chain([Column::plain("n", "n")]).collect(),
            rows: vec![vec![Cell::Number(123_456_789.0); 10]; 30],
            note: String::new(),
            sql: String::new(),
        };
        let cut = one_block(table.clone(), &Terminal { width: Some(60) });
        assert_eq!(cut.columns.last().unwrap().key, "n");
        assert!(is_one_block(&cut, &Terminal { width: Some(60) }));
        assert_eq!(cut.rows.len(), MOST_ROWS);
        let gone = 10 - cut.columns.len();
        assert_eq!(
            cut.title,
            format!(
                "Best (left out here: 6 of 30 rows and {gone} of 10 columns; the report has all)"
            )
        );
        let answer = |is_of_several_axes| ScreenAnswer {
            sentences: vec!["What came out?".to_owned()],
            table: table.clone(),
            is_of_several_axes,
        };
        let narrow = Terminal { width: Some(60) };
        assert_eq!(answer(true).table_on(&narrow), cut);
        assert_eq!(answer(false).table_on(&narrow), table);
        // What `--wide` asks for.
        let all = Terminal {
            width: Some(u16::MAX),
        };
        let all = answer(true).page_on(&all);
        assert_eq!(all.columns, table.columns);
        assert_eq!(
            all.title,
            "What came out?\n\nBest (left out here: 6 of 30 rows; the report has all)"
        );
        let mut short = table;
        short.rows.truncate(2);
        assert_eq!(
            one_block(
                short.clone(),
                &Terminal {
                    width: Some(u16::MAX)
                }
            ),
            short
        );
    }
}
