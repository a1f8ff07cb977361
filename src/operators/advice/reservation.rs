//! The cost of one reservation for other jobs, by the hour of the week at which it begins.

mod trials;

use std::collections::BTreeMap;

use self::trials::{DAY, HOUR, Kind, Trial, query};
use super::samples::{Caution, Units, WEEK, number, rows, weeks_row, weeks_table};
use super::{AdviceRun, AdviceSource, Section, said};
use bookahead_core::scheduling::measures::QuantityKind;
use bookahead_lab::store::Store;
use bookahead_report::figure::{Figure, Mark, Marks, Scale, Section as Part, Series};
use bookahead_report::section::ReportError;
use bookahead_report::statistics::{Blocks, Estimate, Weekly};
use bookahead_report::table::{Cell, Column, Table, grouped};

/// Hours that share an interval.
const BLOCK: i64 = 4;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Where the log does not say when it began.
const UNKNOWN_DAYS: [&str; 7] = [
    "day 1", "day 2", "day 3", "day 4", "day 5", "day 6", "day 7",
];

/// What a reservation costs; where nothing was priced, why.
pub(super) fn section<'s>(
    store: &Store,
    source: &'s AdviceSource<'s>,
) -> Result<Section<'s>, ReportError> {
    let asked = source.asked;
    let kind = match source.machine {
        Some(_) => Kind::Added,
        None => Kind::Planned,
    };
    let question = format!(
        "What does a reservation of {} nodes for {} h cost others?",
        asked.nodes, asked.hours
    );
    let empty = |answer: String| Section {
        id: "reservation",
        question: question.clone(),
        answer,
        method: String::new(),
        tables: Vec::new(),
        figures: Vec::new(),
        recommendations: Vec::new(),
        run: None,
        command: source.command.clone(),
    };
    let run = match &source.reservation {
        Ok(run) => run,
        Err(why) => return Ok(empty(format!("Left out: {why}."))),
    };
    let sql = kind.trials(run, source.clock);
    let trials: Vec<Trial> = rows(store, &sql)?
        .iter()
        .filter_map(|row| {
            Some(Trial {
                lead: number(&row[0])?,
                start: number(&row[1])? as i64,
                cost: number(&row[2]),
            })
        })
        .collect();
    let mut leads: Vec<f64> = trials.iter().map(|trial| trial.lead).collect();
    leads.sort_by(f64::total_cmp);
    leads.dedup();
    if leads.is_empty() {
        return Ok(empty("Left out: the experiment has no results.".to_owned()));
    }
    let week = Week {
        kind,
        clock: source.clock,
        trials: &trials,
    };
    let held_hours = asked.cores as f64 * asked.hours;
    let mut answer = String::new();
    for lead in &leads {
        answer.push_str(&week.sentence(*lead, held_hours));
    }
    let mut tables = vec![week.blocks(run, &leads)];
    tables.push(week.weeks(run, &leads));
    tables.extend(leads.iter().map(|lead| week.hours(run, *lead)));
    Ok(Section {
        method: format!(
            "{} The reservation itself has {} {}.{}",
            kind.method(),
            grouped(held_hours, 0),
            kind.unit(),
            match source.clock {
                Some(_) => " Hours are those of the machine's clock, without summer time.",
                None =>
                    " The log does not say when it began (UnixStartTime), so days and hours are counted from its time 0.",
            }
        ),
        tables,
        figures: leads.iter().map(|lead| week.figure(run, *lead)).collect(),
        run: Some(run),
        command: source.shows(run),
        ..empty(answer)
    })
}

/// Sums of trials by week.
#[derive(Debug, Default)]
struct Sums {
    /// Costs of what was granted.
    costs: Weekly,
    /// Refusals in percent.
    refusals: Weekly,
    asked: u32,
}

/// All trials, with names for the parts of a week.
struct Week<'t> {
    kind: Kind,
    clock: Option<i64>,
    trials: &'t [Trial],
}

impl Week<'_> {
    fn day_names(&self) -> &'static [&'static str; 7] {
        match self.clock {
            Some(_) => &DAYS,
            None => &UNKNOWN_DAYS,
        }
    }

    /// Kinds of days: their name, and the first and the last of them.
    fn kinds(&self) -> &'static [(&'static str, i64, i64)] {
        match self.clock {
            Some(_) => &[("Mon to Fri", 0, 4), ("Sat and Sun", 5, 6)],
            None => &[("all days", 0, 6)],
        }
    }

    /// The mean cost of what was granted among some trials, the share of them that was refused in
    /// percent, and how many there are. Weeks are the units, as trials of one week see the same
    /// queue; which of them are put together is decided by all trials with this lead.
    fn cost<'a>(
        &self,
        lead: f64,
        trials: impl Iterator<Item = &'a Trial>,
    ) -> (Option<Estimate>, Option<Estimate>, u32) {
        let all = self.weekly(self.of(lead));
        let own = self.weekly(trials);
        let cost = own
            .costs
            .quotient(&Blocks::of(&[&all.costs]), QuantityKind::Signed);
        let refused = own
            .refusals
            .quotient(&Blocks::of(&[&all.refusals]), QuantityKind::Percent);
        (cost, refused, own.asked)
    }

    fn weekly<'a>(&self, trials: impl Iterator<Item = &'a Trial>) -> Sums {
        let first = self.trials.iter().map(Trial::week).min().unwrap_or(0);
        let mut sums = Sums::default();
        for trial in trials {
            let week = u32::try_from(trial.week() - first).unwrap_or(0);
            sums.asked += 1;
            let refused = if trial.cost.is_none() { 100.0 } else { 0.0 };
            sums.refusals.add(week, refused, 1.0);
            if let Some(cost) = trial.cost {
                sums.costs.add(week, cost, 1.0);
            }
        }
        sums
    }

    /// The weeks behind the intervals of costs and refusals.
    fn weeks(&self, run: &AdviceRun, leads: &[f64]) -> Table {
        let mut rows = Vec::new();
        for lead in leads {
            let sums = self.weekly(self.of(*lead));
            let told = self.kind.told(*lead);
            let mut row = |name: &str, weekly: &Weekly| {
                let units: Vec<Units> = Units::of(&[weekly]).into_iter().collect();
                rows.extend(weeks_row(&format!("{name}, {told}"), &units));
            };
            row("delay of others", &sums.costs);
            if self.kind == Kind::Planned {
                row("refused", &sums.refusals);
            }
        }
        let week = format!("start / {WEEK}");
        let sql = query(self.kind, run, self.clock, &[("week", week)]);
        weeks_table("reservation-weeks", rows, &sql)
    }

    fn of(&self, lead: f64) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(move |trial| trial.lead == lead)
    }

    /// Parts of the week in their order: their names and trials of this lead.
    fn parts(&self, lead: f64) -> Vec<(String, String, Vec<&Trial>)> {
        let mut parts = Vec::new();
        for (name, first, last) in self.kinds() {
            for block in 0..24 / BLOCK {
                let is_in = |trial: &&Trial| {
                    (*first..=*last).contains(&trial.day()) && trial.hour() / BLOCK == block
                };
                let hours = format!("{:02}–{:02} h", block * BLOCK, (block + 1) * BLOCK);
                let own = self.of(lead).filter(is_in).collect();
                parts.push(((*name).to_owned(), hours, own));
            }
        }
        parts
    }

    /// What a reservation with this lead costs in all, where least and where most.
    fn sentence(&self, lead: f64, held_hours: f64) -> String {
        let (cost, refused, _) = self.cost(lead, self.of(lead));
        let mut parts: Vec<(f64, String)> = self
            .parts(lead)
            .into_iter()
            .filter_map(|(days, hours, trials)| {
                let cost = self.cost(lead, trials.into_iter()).0?;
                Some((
                    cost.mean,
                    format!("{days} {hours} ({})", said(Some(cost), 0)),
                ))
            })
            .collect();
        parts.sort_by(|one, other| one.0.total_cmp(&other.0));
        let share = cost.map_or(0.0, |cost| cost.mean / held_hours);
        let told = self.kind.told(lead);
        let (whom, refusals) = match self.kind {
            Kind::Planned => (
                "jobs that wait",
                format!("; {} % are refused", said(refused, 0)),
            ),
            Kind::Added => ("other jobs", String::new()),
        };
        let mut text = format!(
            "If {told}, it delays {whom} by {} {}, {} times its own {}{refusals}.",
            said(cost, 0),
            self.kind.unit(),
            grouped(share, 1),
            grouped(held_hours, 0),
        );
        let units = Units::of(&[&self.weekly(self.of(lead)).costs]);
        text.push_str(Caution::of(units.iter()).in_full());
        if let (Some(least), Some(most)) = (parts.first(), parts.last()) {
            text.push_str(&format!(" Least: {}; most: {}. ", least.1, most.1));
        }
        text
    }

    /// Parts of the week with intervals.
    fn blocks(&self, run: &AdviceRun, leads: &[f64]) -> Table {
        let is_planned = self.kind == Kind::Planned;
        let unit = self.kind.unit();
        let mut rows = Vec::new();
        for lead in leads {
            for (days, hours, trials) in self.parts(*lead) {
                let (cost, refused, asked) = self.cost(*lead, trials.into_iter());
                let mut row = vec![Cell::Text(lead.to_string()); usize::from(is_planned)];
                row.extend([
                    Cell::Text(days),
                    Cell::Text(hours),
                    Cell::Integer(i64::from(asked)),
                ]);
                row.extend(is_planned.then(|| refused.into()));
                row.push(cost.into());
                rows.push(row);
            }
        }
        let mut columns = Vec::new();
        columns.extend(is_planned.then(|| Column::plain("lead_hours", "asked (h ahead)")));
        columns.extend([
            Column::plain("days", "days"),
            Column::plain("hours", "hours"),
            Column::plain("asked", "tried"),
        ]);
        columns.extend(is_planned.then(|| Column::estimate("refused_percent", "refused (%)", 0)));
        columns.push(Column::estimate(
            unit.replace('-', "_"),
            format!("delay of others ({unit})"),
            0,
        ));
        let weekend = match self.clock {
            Some(_) => format!("start / {DAY} % 7 > 4"),
            None => "0".to_owned(),
        };
        let block = format!("start / {HOUR} % 24 / {BLOCK}");
        Table {
            name: "reservation-blocks".to_owned(),
            title: "Delay of others by the part of the week in which the reservation begins"
                .to_owned(),
            columns,
            rows,
            note: format!(
                "Means{} with 95 % intervals over the weeks in which it would begin (ratio estimator). Least and most of many parts lie \
                 apart by chance, too.",
                if is_planned {
                    " over what was granted"
                } else {
                    ""
                }
            ),
            sql: query(
                self.kind,
                run,
                self.clock,
                &[("weekend", weekend), ("block", block)],
            ),
        }
    }

    /// Every hour of the week.
    fn hours(&self, run: &AdviceRun, lead: f64) -> Table {
        let mut sums: BTreeMap<(i64, i64), (f64, f64)> = BTreeMap::new();
        for trial in self.of(lead) {
            let sum = sums.entry((trial.hour(), trial.day())).or_default();
            if let Some(cost) = trial.cost {
                sum.0 += cost;
                sum.1 += 1.0;
            }
        }
        let rows = (0..24).map(|hour| {
            let mut row = vec![Cell::Text(format!("{hour:02}"))];
            row.extend((0..7).map(|day| match sums.get(&(hour, day)) {
                Some((cost, granted)) if *granted > 0.0 => Cell::Number(cost / granted),
                _ => Cell::Missing,
            }));
            row
        });
        let mut columns = vec![Column::plain("hour", "hour")];
        columns.extend(
            self.day_names()
                .iter()
                .map(|day| Column::number(day.to_lowercase().replace(' ', "_"), *day, 0)),
        );
        let tried = self.of(lead).count() as f64 / 168.0;
        let day = format!("start / {DAY} % 7");
        let hour = format!("start / {HOUR} % 24");
        Table {
            name: format!("reservation-hours{}", self.kind.suffix(lead)),
            title: format!(
                "Delay of others in {} at each hour of the week, {}",
                self.kind.unit(),
                self.kind.told(lead)
            ),
            columns,
            rows: rows.collect(),
            note: format!(
                "Each cell is the mean{} of about {} tries: a draft without intervals, which the table by parts of the week has.",
                if self.kind == Kind::Planned {
                    " over what was granted"
                } else {
                    ""
                },
                grouped(tried, 0)
            ),
            sql: query(self.kind, run, self.clock, &[("hour", hour), ("day", day)]),
        }
    }

    /// The cost over the hours of the day.
    fn figure(&self, run: &AdviceRun, lead: f64) -> Figure {
        let series = self
            .kinds()
            .iter()
            .enumerate()
            .map(|(rank, (name, first, last))| {
                let marks = (0..24).filter_map(|hour| {
                    let is_in = |trial: &&Trial| {
                        (*first..=*last).contains(&trial.day()) && trial.hour() == hour
                    };
                    let cost = self.cost(lead, self.of(lead).filter(is_in)).0?;
                    Some(Mark {
                        low: cost.low().unwrap_or(cost.mean),
                        high: cost.high().unwrap_or(cost.mean),
                        ..Mark::value(hour as f64, cost.mean, u64::from(cost.count))
                    })
                });
                Series::new(*name, rank, Marks::Curve(marks.collect()))
            });
        let kind = match self.clock {
            Some(_) => format!("start / {DAY} % 7 > 4"),
            None => "0".to_owned(),
        };
        Figure {
            name: format!("reservation-by-hour{}", self.kind.suffix(lead)),
            section: Part::Prices,
            title: format!(
                "Delay of others by the hour at which the reservation begins, {}",
                self.kind.told(lead)
            ),
            given: Vec::new(),
            x: Scale::linear("hour of the day"),
            y: Scale::linear(format!("delay of others ({})", self.kind.unit())),
            series: series.collect(),
            note: "Bands are 95 % intervals over weeks.".to_owned(),
            sql: query(
                self.kind,
                run,
                self.clock,
                &[("weekend", kind), ("hour", format!("start / {HOUR} % 24"))],
            ),
        }
    }
}

#[cfg(test)]
mod tests;
