//! A planner that gives promises: what it would reject, delay and earn, and which threshold it
//! should have.

use super::samples::{BY_WEEK, Group, Quantity, Settings, WEEK, rows};
use super::{AdviceSource, Recommendation, Section, changed, interval, said};
use bookahead_core::scheduling::measures::QuantityKind;
use bookahead_lab::store::Store;
use bookahead_lab::study::Studies;
use bookahead_report::figure::{Figure, Mark, Marks, Scale, Section as Part, Series};
use bookahead_report::optimism::in_words;
use bookahead_report::section::ReportError;
use bookahead_report::sql::this_run;
use bookahead_report::statistics::{Choice, Estimate};
use bookahead_report::table::{Cell, Column, Table, grouped};

// Places in QUANTITIES.
const REJECTED: usize = 0;
const FAILED: usize = 1;
const WAIT: usize = 2;
const GAIN: usize = 3;

/// Of the columns of the query behind its keys and the week: submitted, accepted and started jobs,
/// then sums.
const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "rejected",
        part: 3,
        whole: 0,
        kind: QuantityKind::Percent,
    },
    Quantity {
        name: "of accepted failed",
        part: 4,
        whole: 1,
        kind: QuantityKind::Percent,
    },
    Quantity {
        name: "mean wait",
        part: 5,
        whole: 2,
        kind: QuantityKind::Mean,
    },
    Quantity {
        name: "gain",
        part: 6,
        whole: 0,
        kind: QuantityKind::Signed,
    },
];

/// Sums over the jobs of a week, by the value of an axis and the threshold.
pub(super) fn query(configuration_hash: &str, axis: &str, penalty_ratio: f64) -> String {
    format!(
        "SELECT json_extract(axes, '$.\"{axis}\"') AS \"{axis}\", json_extract(axes, '$.\"acceptance.pof_max\"') AS threshold,
    submit / {WEEK} AS week, count(*) AS submitted, sum(outcome <> 'dropped') AS accepted, count(waiting) AS started,
    100.0 * sum(outcome = 'dropped') AS rejected, 100.0 * sum(outcome = 'failed') AS failed, sum(waiting) / 3600.0 AS wait_hours,
    sum(fee) - {penalty_ratio:?} * sum(penalty) AS gain
FROM v_all_jobs WHERE run = {} GROUP BY place, week ORDER BY place, week",
        this_run(configuration_hash)
    )
}

/// What jobs earn in their settings.
pub(super) struct Gains {
    settings: Settings,
    studies: Studies,
}

impl Gains {
    /// From the rows of [`query`].
    pub(super) fn of(store: &Store, sql: &str) -> Result<Self, ReportError> {
        Ok(Self {
            settings: Settings::of(&rows(store, sql)?, 2, QUANTITIES),
            studies: store.studies(),
        })
    }

    /// Whether a group's strategy looks at the threshold.
    fn overbooks(&self, group: &Group) -> bool {
        self.studies.overbooks(&group.key[0])
    }

    /// All settings.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The gain of a job.
    pub(super) fn gain(&self, group: &Group) -> Option<Estimate> {
        self.settings.value(group, GAIN)
    }

    /// How much more one setting earns than another.
    pub(super) fn more_than(&self, group: &Group, other: &Group) -> Option<Estimate> {
        self.settings.more_than(group, other, GAIN)
    }

    /// What has to be known of its interval.
    pub(super) fn caution(&self) -> &'static str {
        self.settings.caution(GAIN).in_full()
    }

    fn mean(&self, group: &Group) -> f64 {
        self.gain(group).map_or(f64::NEG_INFINITY, |gain| gain.mean)
    }

    /// The one that earns most; the first of equals.
    pub(super) fn best<'g>(&self, groups: impl Iterator<Item = &'g Group>) -> Option<&'g Group> {
        groups.reduce(|best, group| {
            if self.mean(group) > self.mean(best) {
                group
            } else {
                best
            }
        })
    }

    /// How much more one setting earns than another, in percent of what a third one does.
    pub(super) fn percent(
        &self,
        (group, other): (&Group, &Group),
        whole: &Group,
    ) -> Option<Estimate> {
        let whole = Some(self.mean(whole)).filter(|whole| *whole > 0.0)?;
        Some(self.more_than(group, other)?.scaled(100.0 / whole))
    }
}

/// What a planner would do, and at which threshold.
pub(super) fn sections<'s>(
    store: &Store,
    source: &'s AdviceSource<'s>,
) -> Result<Vec<Section<'s>>, ReportError> {
    let hash = &source.planning.configuration_hash;
    let sql = query(hash, "scheduling.strategy", source.penalty_ratio);
    let gains = Gains::of(store, &sql)?;
    let groups = &gains.settings().groups;
    let careful = gains.best(groups.iter().filter(|group| !gains.overbooks(group)));
    let daring = gains.best(groups.iter().filter(|group| gains.overbooks(group)));
    let (Some(careful), Some(daring)) = (careful, daring) else {
        return Ok(Vec::new());
    };
    let found = Found {
        source,
        gains: &gains,
        careful,
        daring,
        sql,
    };
    Ok(vec![found.planner(), found.threshold()])
}

struct Found<'s, 'g> {
    source: &'s AdviceSource<'s>,
    gains: &'g Gains,
    /// The best of those that keep all requested time free.
    careful: &'g Group,
    /// The best of those that overbook.
    daring: &'g Group,
    sql: String,
}

impl<'s> Found<'s, '_> {
    fn value(&self, group: &Group, quantity: usize) -> Option<Estimate> {
        self.gains.settings().value(group, quantity)
    }

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
                Column::estimate("gain_vc", "gain (VC a job)", 2),
                Column::estimate("difference_vc", last, 2),
            ],
            rows,
            note,
            sql: self.sql.clone(),
        }
    }

    fn row(&self, group: &Group, beside: &Group) -> Vec<Cell> {
        let threshold = match self.gains.overbooks(group) {
            true => group.key[1].as_str(),
            false => "none",
        };
        let difference = (group.key != beside.key)
            .then(|| self.gains.more_than(group, beside))
            .flatten();
        vec![
            Cell::Text(group.key[0].clone()),
            Cell::Text(threshold.to_owned()),
            self.value(group, REJECTED).into(),
            self.value(group, FAILED).into(),
            self.value(group, WAIT).into(),
            self.value(group, GAIN).into(),
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
            recommendations: Vec::new(),
            run: Some(&self.source.planning),
            command: self.source.shows(&self.source.planning),
        }
    }

    /// What planners would reject, delay and earn.
    fn planner(&self) -> Section<'s> {
        let (careful, daring) = (self.careful, self.daring);
        let answer = format!(
            "{} keeps all requested time free: it rejects {} % of the jobs, the others wait {} h and earn {} VC a job. {} at the \
             threshold {} rejects {} %, fails {} % of those that it accepted, and its gain differs by {}.{}",
            careful.key[0],
            said(self.value(careful, REJECTED), 1),
            said(self.value(careful, WAIT), 2),
            said(self.value(careful, GAIN), 2),
            daring.key[0],
            daring.key[1],
            said(self.value(daring, REJECTED), 1),
            said(self.value(daring, FAILED), 2),
            changed(self.gains.percent((daring, careful), careful), 1, "%"),
            self.gains.caution()
        );
        let mut strategies: Vec<&str> = Vec::new();
        for group in &self.gains.settings().groups {
            if !strategies.contains(&group.key[0].as_str()) {
                strategies.push(&group.key[0]);
            }
        }
        let rows = strategies.iter().filter_map(|strategy| {
            let groups = self.gains.settings().groups.iter();
            let own = groups.filter(|group| group.key[0] == *strategy);
            Some(self.row(self.gains.best(own)?, careful))
        });
        let note = format!(
            "{BY_WEEK} The last column is the gain minus that of {}, paired by week. \
             A VC is a node-hour of a job that kept its contract.",
            careful.key[0]
        );
        let rows = rows.collect();
        let last = format!("more than {}", careful.key[0]);
        Section {
            method: "Every job is promised its end at submission or rejected; its deadline is twice the requested time after submission, which \
                     the log does not say and which decides how many are rejected. The machine is empty when the first job comes. Nodes do not fail."
                .to_owned(),
            tables: vec![
                self.table("strategies", rows, &last, note),
                self.gains.settings().table("planning-weeks", &self.sql),
            ],
            ..self.section("planner", "What would a planner do that promises?".to_owned(), answer)
        }
    }

    /// The threshold that earns most, and how flat the peak is.
    fn threshold(&self) -> Section<'s> {
        let best = self.daring;
        let own: Vec<&Group> = (self.gains.settings().groups.iter())
            .filter(|group| group.key[0] == best.key[0])
            .collect();
        let others = || own.iter().copied().filter(|group| group.key != best.key);
        let open: Vec<&str> = others()
            .filter(|group| {
                (self.gains.more_than(group, best))
                    .is_none_or(|difference| !difference.is_significant())
            })
            .map(|group| group.key[1].as_str())
            .collect();
        let mut answer = format!("{} with {} earns most", best.key[1], best.key[0]);
        answer.push_str(&match open.as_slice() {
            [] => "; every other threshold earns significantly less (paired intervals)".to_owned(),
            open => format!(
                "; the difference from {} is not significant",
                open.join(", ")
            ),
        });
        let worst = others().reduce(|worst, group| {
            if self.gains.mean(group) < self.gains.mean(worst) {
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
                less(self.gains.percent((best, worst), best))
            ));
        }
        answer.push('.');
        answer.push_str(self.gains.caution());
        let ends = [own.first(), own.last()];
        if ends.contains(&Some(&best)) {
            answer.push_str(" It is at the end of the range, so the best may lie beyond.");
        }
        if let Some(choice) = Choice::of(&Settings::by_week(&own, GAIN)) {
            answer.push_str(&format!(
                " Best of {} thresholds, {}.",
                choice.settings,
                in_words(&choice, "weeks")
            ));
        }
        let note = format!(
            "{BY_WEEK} The last column is paired by week. The best threshold was chosen on the jobs that judge it, so its gain is somewhat \
             too high; chosen on the others, each week was left out once."
        );
        let rows = own.iter().map(|group| self.row(group, best)).collect();
        let last = format!("more than at {}", best.key[1]);
        let ratio = self.source.penalty_ratio.to_string();
        Section {
            method: format!(
                "A failed job costs {ratio} times what it would have earned (--ratio). Where the difference of two thresholds is not significant, \
                 take the lower one, which overbooks less."
            ),
            tables: vec![self.table("thresholds", rows, &last, note)],
            figures: vec![self.figure()],
            recommendations: self.recommendation(&own).into_iter().collect(),
            ..self.section(
                "threshold",
                format!("Which threshold at penalty ratio {ratio}?"),
                answer,
            )
        }
    }

    /// To overbook, or not to, where that is more than chance: at the lowest threshold that is not
    /// significantly worse than the best.
    fn recommendation(&self, own: &[&Group]) -> Option<Recommendation> {
        let is_worse = |group: &Group| {
            let difference = self.gains.more_than(self.daring, group);
            difference.is_some_and(|difference| difference.is_significant())
        };
        // Thresholds are in ascending order.
        let chosen = own
            .iter()
            .copied()
            .find(|group| group.key == self.daring.key || !is_worse(group))?;
        let more = self.gains.percent((chosen, self.careful), self.careful)?;
        if !more.is_significant() {
            return None;
        }
        let size = changed(Some(more), 1, "%");
        let caution = |quantities: &[usize]| self.gains.settings().short_caution(quantities);
        Some(match more.mean > 0.0 {
            true => Recommendation {
                what: format!(
                    "Overbook: accept a job in less than its requested time while the probability that it fails there is below {}.",
                    chosen.key[1]
                ),
                effect: format!(
                    "The gain of a planner changes by {size} over weeks, beside one that keeps all requested time free; {} % of what it accepts fails. \
                     It is the lowest of {} thresholds that is not significantly worse than the best, chosen on the weeks that judge it.{}",
                    said(self.value(chosen, FAILED), 2),
                    own.len(),
                    caution(&[GAIN, FAILED])
                ),
                how: "Slurm cannot be set to do that: it promises no ends. It needs a planner that promises.".to_owned(),
                section: "threshold",
            },
            false => Recommendation {
                what: "Do not overbook: keep all requested time free.".to_owned(),
                effect: format!(
                    "Even at its best threshold, {}, the gain of a planner that overbooks differs by {size} over weeks.{}",
                    chosen.key[1],
                    caution(&[GAIN])
                ),
                how: "Slurm does so.".to_owned(),
                section: "threshold",
            },
        })
    }

    /// How much more is earned than by the careful one, by threshold.
    fn figure(&self) -> Figure {
        let mut series: Vec<Series> = Vec::new();
        let groups = self.gains.settings().groups.iter();
        for group in groups.filter(|group| self.gains.overbooks(group)) {
            let (Some(more), Ok(threshold)) = (
                self.gains.more_than(group, self.careful),
                group.key[1].parse(),
            ) else {
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
            y: Scale::linear("more gain (VC a job)"),
            series,
            note: "Differences with 95 % intervals, paired by week.".to_owned(),
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
