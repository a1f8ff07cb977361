//! What a planner that promises would reject, delay and earn, and which threshold it should have.

use super::samples::{Group, groups, rows};
use super::{AdviceSource, Section, changed, interval, said};
use crate::report::figure::{Figure, Mark, Marks, Scale, Section as Part, Series};
use crate::report::optimism::in_words;
use crate::report::section::ReportError;
use crate::report::sql::this_run;
use crate::report::statistics::{Choice, Estimate};
use crate::report::table::{Cell, Column, Table, grouped};
use crate::scheduling::registry;
use crate::store::Store;

// Columns of the query behind its keys and the replication.
const GAIN: usize = 0;
const REJECTED: usize = 1;
const FAILED: usize = 2;
const WAIT: usize = 3;

fn query(configuration_hash: &str) -> String {
    format!(
        "SELECT strategy, acceptance_pof_max AS threshold, replication, gain, 100.0 * dropped / submitted AS rejected_percent,
    100.0 * failed / accepted AS failed_percent, mean_wait / 3600.0 AS wait_hours
FROM points WHERE state = 'done' AND run = {} ORDER BY place",
        this_run(configuration_hash)
    )
}

/// Whether a group's strategy looks at the threshold.
fn overbooks(group: &Group) -> bool {
    registry::strategy(&group.key[0]).is_none_or(|known| known.overbooks)
}

fn mean_gain(group: &Group) -> f64 {
    group
        .signed_mean(GAIN)
        .map_or(f64::NEG_INFINITY, |gain| gain.mean)
}

/// The group that earns most; the first of equals.
fn best<'g>(groups: impl Iterator<Item = &'g Group>) -> Option<&'g Group> {
    groups.reduce(|best, group| {
        if mean_gain(group) > mean_gain(best) {
            group
        } else {
            best
        }
    })
}

/// A difference in percent of a mean.
fn percent_of(difference: Option<Estimate>, whole: &Group) -> Option<Estimate> {
    let whole = mean_gain(whole);
    (whole > 0.0)
        .then(|| difference.map(|difference| difference.scaled(100.0 / whole)))
        .flatten()
}

/// What a planner would do, and at which threshold.
pub(super) fn sections<'s>(
    store: &Store,
    source: &'s AdviceSource<'s>,
) -> Result<Vec<Section<'s>>, ReportError> {
    let sql = query(&source.planning.configuration_hash);
    let mut groups = groups(&rows(store, &sql)?, 2);
    // What does not look at the threshold is the same at all of them.
    let mut seen: Vec<String> = Vec::new();
    groups.retain(|group| {
        let is_new = !seen.contains(&group.key[0]);
        seen.push(group.key[0].clone());
        overbooks(group) || is_new
    });
    let careful = best(groups.iter().filter(|group| !overbooks(group)));
    let daring = best(groups.iter().filter(|group| overbooks(group)));
    let (Some(careful), Some(daring)) = (careful, daring) else {
        return Ok(Vec::new());
    };
    let found = Found {
        source,
        groups: &groups,
        careful,
        daring,
        sql,
    };
    Ok(vec![found.planner(), found.threshold()])
}

struct Found<'s, 'g> {
    source: &'s AdviceSource<'s>,
    groups: &'g [Group],
    /// The best of those that keep all requested time free.
    careful: &'g Group,
    /// The best of those that overbook.
    daring: &'g Group,
    sql: String,
}

impl<'s> Found<'s, '_> {
    fn table(&self, name: &str, rows: Vec<Vec<Cell>>, last: &str, note: String) -> Table {
        let title = match name {
            "thresholds" => format!("{} by threshold", self.daring.key[0]),
            _ => "Strategies, each at its best threshold".to_owned(),
        };
        Table {
            name: name.to_owned(),
            title,
            columns: vec![
                Column::plain("strategy", "strategy"),
                Column::plain("threshold", "threshold"),
                Column::estimate("rejected_percent", "rejected (%)", 1),
                Column::estimate("failed_percent", "of accepted failed (%)", 2),
                Column::estimate("wait_hours", "mean wait (h)", 2),
                Column::estimate("gain_vc", "gain (VC a battery)", 0),
                Column::estimate("difference_vc", last, 0),
            ],
            rows,
            note,
            sql: self.sql.clone(),
        }
    }

    fn row(group: &Group, beside: &Group) -> Vec<Cell> {
        let threshold = match overbooks(group) {
            true => group.key[1].as_str(),
            false => "none",
        };
        let difference = (group.key != beside.key)
            .then(|| group.more_than(beside, GAIN))
            .flatten();
        vec![
            Cell::Text(group.key[0].clone()),
            Cell::Text(threshold.to_owned()),
            group.mean(REJECTED).into(),
            group.mean(FAILED).into(),
            group.mean(WAIT).into(),
            group.signed_mean(GAIN).into(),
            difference.into(),
        ]
    }

    fn section(&self, id: &'static str, question: String, answer: String) -> Section<'s> {
        Section {
            id,
            question,
            answer,
            method: String::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            run: Some(&self.source.planning),
            command: self.source.shows(&self.source.planning),
        }
    }

    /// What planners would reject, delay and earn.
    fn planner(&self) -> Section<'s> {
        let (careful, daring) = (self.careful, self.daring);
        let answer = format!(
            "{} keeps all requested time free: it rejects {} % of the jobs, the others wait {} h and earn {} VC a battery. {} at the \
             threshold {} rejects {} %, fails {} % of those that it accepted, and its gain differs by {}.",
            careful.key[0],
            said(careful.mean(REJECTED), 1),
            said(careful.mean(WAIT), 2),
            said(careful.signed_mean(GAIN), 0),
            daring.key[0],
            daring.key[1],
            said(daring.mean(REJECTED), 1),
            said(daring.mean(FAILED), 2),
            changed(percent_of(daring.more_than(careful, GAIN), careful), 1, "%"),
        );
        let mut strategies: Vec<&str> = Vec::new();
        for group in self.groups {
            if !strategies.contains(&group.key[0].as_str()) {
                strategies.push(&group.key[0]);
            }
        }
        let rows = strategies.iter().filter_map(|strategy| {
            let own = self.groups.iter().filter(|group| group.key[0] == *strategy);
            Some(Self::row(best(own)?, careful))
        });
        let note = format!(
            "Means over batteries ± half of a 95 % interval (Student's t). The last column is the gain minus that of {}, paired by battery. \
             A VC is a node-hour of a job that kept its contract.",
            careful.key[0]
        );
        let rows = rows.collect();
        let last = format!("more than {}", careful.key[0]);
        Section {
            method: "Every job is promised its end at submission or rejected; its deadline is twice the requested time after submission, which \
                     the log does not say and which decides how many are rejected. Batteries follow each other in the log, so they are not quite independent, and each begins on an empty machine. \
                     Nodes do not fail."
                .to_owned(),
            tables: vec![self.table("strategies", rows, &last, note)],
            ..self.section("planner", "What would a planner do that promises?".to_owned(), answer)
        }
    }

    /// The threshold that earns most, and how flat the peak is.
    fn threshold(&self) -> Section<'s> {
        let best = self.daring;
        let own: Vec<&Group> = (self.groups.iter())
            .filter(|group| group.key[0] == best.key[0])
            .collect();
        let others = || own.iter().copied().filter(|group| group.key != best.key);
        let open: Vec<&str> = others()
            .filter(|group| {
                (group.more_than(best, GAIN)).is_none_or(|difference| !difference.is_significant())
            })
            .map(|group| group.key[1].as_str())
            .collect();
        let mut answer = format!("{} with {} earns most", best.key[1], best.key[0]);
        answer.push_str(&match open.as_slice() {
            [] => "; every other threshold earns less, by its paired interval".to_owned(),
            open => format!("; not told apart from it: {}", open.join(", ")),
        });
        let worst = others().reduce(|worst, group| {
            if mean_gain(group) < mean_gain(worst) {
                group
            } else {
                worst
            }
        });
        if let Some(worst) = worst {
            answer.push_str(&format!(
                "; the worst of the {} that were tried, {}, earns {}",
                own.len(),
                worst.key[1],
                less(percent_of(best.more_than(worst, GAIN), best))
            ));
        }
        answer.push('.');
        let ends = [own.first(), own.last()];
        if ends.contains(&Some(&best)) {
            answer.push_str(" It is at the end of the range, so the best may lie beyond.");
        }
        let choice = Group::together(&own, GAIN).and_then(|gains| Choice::of(&gains));
        if let Some(choice) = choice {
            answer.push_str(&format!(
                " Best of {} thresholds, {}.",
                choice.settings,
                in_words(&choice)
            ));
        }
        let note = "Means over batteries ± half of a 95 % interval (Student's t); the last column is paired by battery. The best threshold was \
                    chosen on the batteries that judge it, so its gain is somewhat too high; chosen on the others, each battery was left out once."
            .to_owned();
        let rows = own.iter().map(|group| Self::row(group, best)).collect();
        let last = format!("more than at {}", best.key[1]);
        let ratio = self.source.penalty_ratio.to_string();
        Section {
            method: format!(
                "A failed job costs {ratio} times what it would have earned (--ratio). A flat peak means that the threshold hardly matters: choose a \
                 lower one, which fails fewer jobs."
            ),
            tables: vec![self.table("thresholds", rows, &last, note)],
            figures: vec![self.figure()],
            ..self.section(
                "threshold",
                format!("Which threshold at penalty ratio {ratio}?"),
                answer,
            )
        }
    }

    /// How much more is earned than by the careful one, by threshold.
    fn figure(&self) -> Figure {
        let mut series: Vec<Series> = Vec::new();
        for group in self.groups.iter().filter(|group| overbooks(group)) {
            let (Some(more), Ok(threshold)) =
                (group.more_than(self.careful, GAIN), group.key[1].parse())
            else {
                continue;
            };
            let mark = Mark {
                low: more.low().unwrap_or(more.mean),
                high: more.high().unwrap_or(more.mean),
                ..Mark::value(threshold, more.mean, u64::from(more.count))
            };
            match series.last_mut() {
                Some(Series {
                    label,
                    marks: Marks::Curve(known),
                    ..
                }) if *label == group.key[0] => known.push(mark),
                _ => {
                    let marks = Marks::Curve(vec![mark]);
                    series.push(Series::new(group.key[0].clone(), series.len(), marks));
                }
            }
        }
        Figure {
            name: "gain-by-threshold".to_owned(),
            section: Part::Money,
            title: format!("Gain beyond {} by threshold", self.careful.key[0]),
            given: Vec::new(),
            x: Scale::linear("threshold of the PoF"),
            y: Scale::linear("more gain (VC a battery)"),
            series,
            note: "Mean differences, paired by battery, with 95 % intervals.".to_owned(),
            sql: self.sql.clone(),
        }
    }
}

/// How much less something is, in words.
fn less(difference: Option<Estimate>) -> String {
    difference.map_or_else(
        || "an unknown amount less".to_owned(),
        |difference| {
            format!(
                "{} %{} less",
                grouped(difference.mean, 1),
                interval(&difference, 1)
            )
        },
    )
}
