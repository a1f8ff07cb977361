//! Which axis matters for what a run leads with: the shares of its variance as a table and a
//! figure, with the query that gives them.

use super::analysis::variance::{Design, Imbalance, Term, Variance};
use super::analysis::{Analysis, STRATEGY_AXIS};
use super::figure::{Figure, Mark, Marks, Scale, Section, Series};
use super::frames::PolarsResult;
use super::plots::drawn::{Drawn, drawn};
use super::plots::lines::free_axes;
use super::table::{Cell, Column, Table, grouped, short};
use bookahead_lab::store::PointColumns;

/// What the table and the figure are called.
pub(super) const NAME: &str = "variance";

/// The shares of a run with at least two axes.
pub struct AxisShares<'a> {
    analysis: &'a Analysis,
    quantity: Drawn,
    /// Indices of the axes that the design has.
    axes: Vec<usize>,
    variance: Variance,
    replications: usize,
}

impl<'a> AxisShares<'a> {
    /// Of what is earned, or else of what a report shows first; `None` where fewer than two axes
    /// have several values, and where nothing was measured.
    ///
    /// # Errors
    ///
    /// When Polars refuses, which for these columns it does not.
    pub fn new(
        analysis: &'a Analysis,
        points: &PointColumns,
        configuration_hash: &str,
    ) -> PolarsResult<Option<Self>> {
        let mut axes: Vec<usize> = (0..analysis.axes.len())
            .filter(|axis| analysis.axes[*axis].key == STRATEGY_AXIS)
            .filter(|axis| analysis.axes[*axis].values.len() > 1)
            .chain(free_axes(analysis))
            .collect();
        axes.sort_unstable();
        let quantity = drawn(analysis, configuration_hash).into_iter().next();
        let (Some(quantity), 2..) = (quantity, axes.len()) else {
            return Ok(None);
        };
        let design = Design {
            axes: (axes.iter())
                .map(|axis| &points.axes[*axis])
                .map(|column| (column.axis.values.len() as u32, column.positions.clone()))
                .collect(),
            replications: points.replication.clone(),
        };
        let values: Vec<Option<f64>> = (0..points.len())
            .map(|point| quantity.value(points, point))
            .collect();
        let replications: std::collections::BTreeSet<u32> =
            points.replication.iter().copied().collect();
        Ok(Some(Self {
            analysis,
            variance: design.variance(&values)?,
            quantity,
            axes,
            replications: replications.len(),
        }))
    }

    fn name(&self, axis: usize) -> &str {
        short(&self.analysis.axes[self.axes[axis]].key)
    }

    fn term(&self, term: Term) -> String {
        match term {
            Term::Axis(axis) => self.name(axis).to_owned(),
            Term::Pair(one, other) => format!("{} × {}", self.name(one), self.name(other)),
            Term::Higher => "three or more axes together".to_owned(),
            Term::Noise => "noise between replications".to_owned(),
        }
    }

    /// Axes and pairs by their shares, the remainder last.
    pub fn table(&self) -> Table {
        let row = |term: Term, share: Cell| vec![Cell::Text(self.term(term)), share];
        let (rows, sql) = match &self.variance {
            Variance::Shares(shares) => {
                let mut shares = shares.clone();
                // Shares that differ by rounding alone stay in the order of the axes.
                shares.sort_by_key(|(term, share)| {
                    let remainder = match term {
                        Term::Axis(_) | Term::Pair(..) => 0,
                        Term::Higher => 1,
                        Term::Noise => 2,
                    };
                    (remainder, std::cmp::Reverse((share * 1e9).round() as i64))
                });
                let rows = shares.into_iter();
                let rows = rows.map(|(term, share)| row(term, Cell::Number(100.0 * share)));
                (rows.collect(), self.sql())
            }
            Variance::Constant | Variance::Unbalanced(_) => {
                let axes = (0..self.axes.len()).map(Term::Axis);
                (
                    axes.map(|term| row(term, Cell::Undefined)).collect(),
                    String::new(),
                )
            }
        };
        Table {
            name: NAME.to_owned(),
            title: format!("Which axis matters for: {}", self.quantity.title),
            columns: vec![
                Column::plain("term", "Axis, or axes together"),
                Column::number("share_percent", "Share of the variance (%)", 1),
            ],
            rows,
            note: self.note(),
            sql,
        }
    }

    fn note(&self) -> String {
        match self.variance {
            Variance::Unbalanced(imbalance) => unbalanced(imbalance),
            Variance::Constant => {
                "There are no shares: the quantity is the same at all settings of a replication."
                    .to_owned()
            }
            Variance::Shares(_) => {
                let noise = match self.replications {
                    1 => {
                        " With one replication noise cannot be told from what most axes do together."
                    }
                    _ => {
                        " Small shares of pairs may be noise, too; whether two settings differ is a question of paired intervals."
                    }
                };
                format!(
                    "Analysis of variance over all combinations of axis values, with replications as blocks: the mean of each \
                     replication is removed first. a × b is what two axes do together beyond what each does alone. Shares are \
                     those of the values that the axes have in this run; a wider range explains more.{noise}"
                )
            }
        }
    }

    /// In a sentence, which axes explain most; `None` where there are no shares.
    pub(super) fn sentence(&self) -> Option<String> {
        let Variance::Shares(shares) = &self.variance else {
            return None;
        };
        let mut axes: Vec<(&str, f64)> = (shares.iter())
            .filter_map(|(term, share)| match term {
                Term::Axis(axis) => Some((self.name(*axis), *share)),
                _ => None,
            })
            .collect();
        axes.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let percent = |share: f64| format!("{} %", grouped(100.0 * share, 0));
        let pairs: f64 = (shares.iter())
            .filter(|(term, _)| matches!(term, Term::Pair(..)))
            .map(|(_, share)| share)
            .sum();
        let each: Vec<String> = (axes.iter())
            .map(|(name, share)| format!("{name} {}", percent(*share)))
            .collect();
        Some(format!(
            "Of the variance of \"{}\": {}; pairs of axes beyond that {}.",
            self.quantity.title,
            each.join(", "),
            percent(pairs)
        ))
    }

    /// Of each axis its share alone, and that of all pairs with it.
    pub fn figure(&self) -> Option<Figure> {
        let Variance::Shares(shares) = &self.variance else {
            return None;
        };
        let count = self.replications as u64;
        let bars = |of: &dyn Fn(usize, Term) -> bool| -> Vec<Mark> {
            (0..self.axes.len())
                .map(|axis| {
                    let own = shares.iter().filter(|(term, _)| of(axis, *term));
                    let share: f64 = own.map(|(_, share)| share).sum();
                    Mark::value(axis as f64, 100.0 * share, count)
                })
                .collect()
        };
        let alone = bars(&|axis, term| term == Term::Axis(axis));
        let in_pairs = bars(&|axis, term| match term {
            Term::Pair(one, other) => one == axis || other == axis,
            _ => false,
        });
        let names = (0..self.axes.len()).map(|axis| self.name(axis).to_owned());
        Some(Figure {
            name: NAME.to_owned(),
            section: Section::Axes,
            title: format!("{}: what each axis explains", self.quantity.title),
            given: Vec::new(),
            x: Scale::categories("axis", names),
            y: Scale::linear("share of the variance (%)"),
            series: vec![
                Series::new("alone", 0, Marks::Bars(alone)),
                Series::new("in pairs with other axes", 1, Marks::Bars(in_pairs)),
            ],
            note: "Analysis of variance with replications as blocks. A pair counts at both of its axes; the table \"variance\" has \
                   each of them."
                .to_owned(),
            sql: self.sql_of_figure(),
        })
    }

    /// The effect of every term at every point, as common tables of a query.
    fn effects(&self) -> String {
        let count = self.axes.len();
        let each = |of: &dyn Fn(usize) -> String, between: &str| {
            let all: Vec<String> = (0..count).map(of).collect();
            all.join(between)
        };
        let pairs = |of: &dyn Fn(usize, usize) -> String, between: &str| {
            let all: Vec<String> = pairs(count).map(|(one, other)| of(one, other)).collect();
            all.join(between)
        };
        format!(
            "WITH point AS (
    SELECT replication, {axes},
        {key} AS value
    FROM {from}
),
centred AS (
    SELECT *, value - avg(value) OVER (PARTITION BY replication) AS difference FROM point
),
mean AS (
    SELECT difference, {alone},
        {together},
        avg(difference) OVER (PARTITION BY {all}) AS cell
    FROM centred
),
effect AS (
    SELECT *, {beyond}
    FROM mean
)",
            axes = each(
                &|axis| format!(
                    "axes ->> '$.\"{}\"' AS axis_{}",
                    self.analysis.axes[self.axes[axis]].key,
                    axis + 1
                ),
                ", "
            ),
            key = self.quantity.key,
            from = self.quantity.from,
            alone = each(
                &|axis| format!(
                    "avg(difference) OVER (PARTITION BY axis_{0}) AS effect_{0}",
                    axis + 1
                ),
                ", "
            ),
            together = pairs(
                &|one, other| format!(
                    "avg(difference) OVER (PARTITION BY axis_{0}, axis_{1}) AS mean_{0}_{1}",
                    one + 1,
                    other + 1
                ),
                ",\n        "
            ),
            all = each(&|axis| format!("axis_{}", axis + 1), ", "),
            beyond = pairs(
                &|one, other| format!(
                    "mean_{0}_{1} - effect_{0} - effect_{1} AS effect_{0}_{1}",
                    one + 1,
                    other + 1
                ),
                ", "
            ),
        )
    }

    fn sql(&self) -> String {
        let count = self.axes.len();
        let mut terms: Vec<(String, String)> = (0..count)
            .map(|axis| (self.term(Term::Axis(axis)), format!("effect_{}", axis + 1)))
            .chain(pairs(count).map(|(one, other)| {
                let effect = format!("effect_{}_{}", one + 1, other + 1);
                (self.term(Term::Pair(one, other)), effect)
            }))
            .collect();
        if count > 2 {
            let known: Vec<&str> = terms.iter().map(|(_, effect)| effect.as_str()).collect();
            let higher = format!("(cell - {})", known.join(" - "));
            terms.push((self.term(Term::Higher), higher));
        }
        terms.push((self.term(Term::Noise), "(difference - cell)".to_owned()));
        let rows: Vec<String> = (terms.iter())
            .map(|(term, effect)| {
                format!(
                    "SELECT '{term}' AS term, 100.0 * sum({effect} * {effect}) / sum(difference * difference) AS share_percent FROM effect"
                )
            })
            .collect();
        format!(
            "{}\n{}\nORDER BY share_percent DESC;",
            self.effects(),
            rows.join("\nUNION ALL ")
        )
    }

    fn sql_of_figure(&self) -> String {
        let count = self.axes.len();
        let row = |axis: usize, series: &str, effects: &[String]| {
            let squares: Vec<String> = (effects.iter())
                .map(|effect| format!("sum({effect} * {effect})"))
                .collect();
            format!(
                "SELECT '{}' AS axis, '{series}' AS series, 100.0 * ({}) / sum(difference * difference) AS mean FROM effect",
                self.name(axis),
                squares.join(" + ")
            )
        };
        let alone = (0..count).map(|axis| row(axis, "alone", &[format!("effect_{}", axis + 1)]));
        let in_pairs = (0..count).map(|axis| {
            let own = pairs(count).filter(|(one, other)| *one == axis || *other == axis);
            let effects: Vec<String> = own
                .map(|(one, other)| format!("effect_{}_{}", one + 1, other + 1))
                .collect();
            row(axis, "in pairs with other axes", &effects)
        });
        let rows: Vec<String> = alone.chain(in_pairs).collect();
        format!("{}\n{};", self.effects(), rows.join("\nUNION ALL "))
    }
}

/// Every pair of so many axes.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)))
}

fn unbalanced(imbalance: Imbalance) -> String {
    format!(
        "There are no shares: {imbalance}. Shares are defined where every combination has the same replications; otherwise what \
         one axis explains depends on what is missing of the others."
    )
}
