//! The catalogue of metrics: every quantity of the jobs of a point, a line each.
//!
//! The columns of `v_point`, exports, comparisons, tables and figures of reports, the names that
//! findings may give, and the page of the schema follow from it. What a study measures beside them
//! is in [`Study::MEASURES`](crate::study::Study::MEASURES).

use crate::scheduling::measures::{QuantityKind, Topic};
use crate::tables::ExportType;

/// A quantity of the jobs of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its column in `v_point`, in exports and in CSV files, and its name in findings.
    pub name: &'static str,
    /// Its unit, for people; empty for counts and ratios.
    pub unit: &'static str,
    /// Its heading, with the unit.
    pub title: &'static str,
    /// Decimals in tables for people.
    pub decimals: usize,
    /// Under which topic reports show it.
    pub topic: Topic,
    /// How far reports show it.
    pub shown: Shown,
    /// What its mean over replications is like.
    pub kind: QuantityKind,
    /// How it follows from the totals of its simulation.
    formula: Formula,
    /// What it is, for the page of the schema.
    pub meaning: &'static str,
}

/// Where a metric is shown: each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// In the store, its exports and comparisons.
    Store,
    /// In tables of reports.
    Tables,
    /// In figures over axes.
    Figures,
    /// First among the measures of a machine with reservations.
    Studies,
}

/// How a metric follows from the totals `k` of its simulation and its point `p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Formula {
    /// The total of the same name, a whole number.
    Total,
    /// One total by another; not defined where that is 0.
    Ratio(&'static str, &'static str),
    /// The same of a part and its whole, and its name in percent.
    Share(&'static str, &'static str, &'static str),
    /// Anything else.
    Expression(&'static str),
}

use Formula::{Expression, Ratio, Share, Total};
use Shown::{Figures, Store, Studies, Tables};

/// Every metric, in the order of tables. The gain, by which settings are chosen, is the first.
#[rustfmt::skip]
pub const METRICS: &[Metric] = &[
    metric("gain", "VC", "Gain (VC)", 0, Topic::Money, Figures, Expression("k.fees / 3600.0 - p.penalty_ratio * (k.forfeited / 3600.0)"), "fees − penalties").of_kind(QuantityKind::Signed),
    metric("fees", "VC", "Fees (VC)", 0, Topic::Money, Figures, Expression("k.fees / 3600.0"), "n·x of successful jobs, and what jobs without promises paid"),
    metric("forfeited", "VC", "Forfeited (VC)", 0, Topic::Money, Store, Expression("k.forfeited / 3600.0"), "n·x of failed jobs").of_kind(QuantityKind::SkewedSum),
    metric("penalties", "VC", "Penalties (VC)", 0, Topic::Money, Figures, Expression("p.penalty_ratio * (k.forfeited / 3600.0)"), "ρ · forfeited").of_kind(QuantityKind::SkewedSum),
    metric("booked", "VC", "Booked (VC)", 0, Topic::Money, Tables, Expression("(k.fees + k.forfeited) / 3600.0"), "fees + forfeited"),
    metric("submitted", "", "Submitted", 1, Topic::Jobs, Store, Total, "Jobs: dropped + accepted"),
    metric("accepted", "", "Accepted", 1, Topic::Jobs, Tables, Total, "Jobs that were promised a slot: successful + failed"),
    metric("successful", "", "Successful", 1, Topic::Jobs, Figures, Total, "Jobs whose contract was fulfilled"),
    metric("failed", "", "Failed", 1, Topic::Jobs, Figures, Total, "Accepted jobs whose contract was violated").of_kind(QuantityKind::RareCount),
    metric("dropped", "", "Dropped", 1, Topic::Jobs, Tables, Total, "Jobs rejected at submission"),
    metric("dropped_too_wide", "", "Dropped as too wide", 1, Topic::Jobs, Store, Total, "Those of the dropped that are wider than the machine").of_kind(QuantityKind::RareCount),
    metric("rejection_rate", "", "Rejection rate", 3, Topic::Jobs, Figures, Ratio("dropped", "submitted"), "dropped ÷ submitted").of_kind(QuantityKind::Fraction),
    metric("overbooked", "", "Overbooked", 1, Topic::Overbooking, Figures, Total, "Those of the accepted whose slot was shorter than the estimate"),
    metric("failed_overbooked", "", "Failed as overbooked", 1, Topic::Overbooking, Store, Total, "Those of the failed whose overbooked slot ended").of_kind(QuantityKind::RareCount),
    metric("failed_nodes", "", "Failed with nodes", 1, Topic::Jobs, Store, Total, "Those of the failed under which a node crashed").of_kind(QuantityKind::RareCount),
    metric("failed_unstartable", "", "Failed to start", 1, Topic::Jobs, Store, Total, "Those of the failed that could not start").of_kind(QuantityKind::RareCount),
    metric("started", "", "Started", 1, Topic::Jobs, Store, Total, "Jobs that started"),
    metric("restarts", "", "Restarts", 1, Topic::Jobs, Store, Total, "Restarts after node failures").of_kind(QuantityKind::RareCount),
    metric("utilisation", "", "Utilisation", 3, Topic::Machine, Studies, Share("busy", "capacity", "utilisation_percent"), "Busy node-time by capacity, 0 to 1").of_kind(QuantityKind::Fraction),
    metric("useful_utilisation", "", "Useful utilisation", 3, Topic::Machine, Store, Ratio("useful", "capacity"), "Node-time of successful runs by capacity, 0 to 1").of_kind(QuantityKind::Fraction),
    metric("mean_wait", "s", "Mean wait (s)", 0, Topic::Waits, Figures, Ratio("wait_total", "started"), "Last start − release over started jobs"),
    metric("slowdown", "", "Slowdown (by area)", 2, Topic::Waits, Studies, Ratio("weighted_response", "weighted_run"), "Σ n·response ÷ Σ n·run over successful jobs"),
    metric("makespan", "s", "Makespan (s)", 0, Topic::Machine, Store, Total, "First submission to last end"),
    metric("pof_evaluations", "", "Evaluations of a PoF", 0, Topic::Detail, Store, Total, "Work of the policy: probabilities of failure evaluated in full"),
    metric("convolutions", "", "Convolutions", 0, Topic::Detail, Store, Total, "Work of the policy: completion-time distributions that jobs were given"),
    metric("replans", "", "Plans made anew", 0, Topic::Detail, Store, Total, "Work of the policy: times that the plan was rebuilt"),
    metric("moves", "", "Moves", 0, Topic::Detail, Store, Total, "Work of the policy: planned jobs that moved to an earlier start"),
];

#[expect(clippy::too_many_arguments, reason = "a line of the catalogue")]
const fn metric(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    decimals: usize,
    topic: Topic,
    shown: Shown,
    formula: Formula,
    meaning: &'static str,
) -> Metric {
    Metric {
        name,
        unit,
        title,
        decimals,
        topic,
        shown,
        kind: QuantityKind::Mean,
        formula,
        meaning,
    }
}

impl Metric {
    /// The same metric of another kind.
    const fn of_kind(self, kind: QuantityKind) -> Self {
        Self { kind, ..self }
    }

    /// Its value in SQL, of the totals `k` of a simulation and a point `p`.
    pub(super) fn sql(&self) -> String {
        match self.formula {
            Total => format!("k.{}", self.name),
            Ratio(above, below) | Share(above, below, _) => {
                format!("CAST(k.{above} AS REAL) / nullif(k.{below}, 0)")
            }
            Expression(sql) => sql.to_owned(),
        }
    }

    /// Whether it depends on the point, and not on its simulation alone.
    pub(super) fn is_of_point(&self) -> bool {
        matches!(self.formula, Expression(sql) if sql.contains("p."))
    }

    /// Its column in exports.
    pub(super) fn column(&self) -> (&'static str, ExportType) {
        let kind = match self.formula {
            Total => ExportType::Integer,
            _ => ExportType::Number,
        };
        (self.name, kind)
    }

    /// What it is called in percent; `None` where it is no share.
    #[must_use]
    pub fn percent_name(&self) -> Option<&'static str> {
        match self.formula {
            Share(_, _, name) => Some(name),
            _ => None,
        }
    }
}

/// The columns of all metrics in a query over totals `k` and points `p`.
pub(super) fn columns() -> String {
    let columns = METRICS
        .iter()
        .map(|metric| format!("{} AS {}", metric.sql(), metric.name));
    columns.collect::<Vec<_>>().join(",\n            ")
}

/// The names that a finding may give a metric.
pub fn names() -> impl Iterator<Item = &'static str> {
    let of = |metric: &'static Metric| std::iter::once(metric.name).chain(metric.percent_name());
    METRICS.iter().flat_map(of)
}

/// A metric by one of its [`names`], in SQL.
pub(super) fn by_name(name: &str) -> Option<String> {
    METRICS.iter().find_map(|metric| match metric.formula {
        Share(above, below, percent) if percent == name => {
            Some(format!("100.0 * k.{above} / nullif(k.{below}, 0)"))
        }
        _ => (metric.name == name).then(|| metric.sql()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_a_name_in_percent_and_the_gain_is_first() {
        assert_eq!(METRICS[0].name, "gain");
        assert!(names().any(|name| name == "utilisation_percent"));
        assert_eq!(
            by_name("utilisation_percent").as_deref(),
            Some("100.0 * k.busy / nullif(k.capacity, 0)")
        );
    }
}
