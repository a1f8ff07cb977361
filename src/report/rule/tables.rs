//! The tables of a rule: what was selected, and where each setting ended.

use super::RuleAnswer;
use crate::sql::this_run;
use crate::table::{Cell, Column, Table, grouped, short};

impl RuleAnswer<'_> {
    /// What was selected, and where each value ended.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let ends = self.ends();
        match self.rule.selects {
            true => vec![self.selections(), ends],
            false => vec![ends],
        }
    }

    fn axis_columns(&self, is_shown: impl Fn(&str) -> bool) -> Vec<(&str, Column)> {
        let columns = self.points.axes.iter();
        let keys = columns.map(|column| column.axis.key.as_str());
        keys.filter(|key| is_shown(key))
            .map(|key| (key, Column::plain(key, short(key))))
            .collect()
    }

    fn selections(&self) -> Table {
        let given = self.axis_columns(|key| !self.is_selected_from(key));
        let selected = self.axis_columns(|key| self.is_selected_from(key));
        let decimals = self.decimals(self.quantity());
        let title = self.title(self.quantity());
        let mut columns: Vec<Column> = (given.iter().chain(&selected))
            .map(|(_, column)| column.clone())
            .collect();
        columns.extend([
            Column::plain("verdict", "Verdict"),
            Column::estimate("confirmed", format!("{title}, confirmed"), decimals),
            Column::number("selecting", format!("{title}, selecting"), decimals),
            Column::plain("selecting_replications", "Selecting replications"),
        ]);
        let has_baseline = self.rule.baseline.is_some();
        if has_baseline {
            columns.push(Column::estimate(
                "surplus",
                "More than the baseline",
                decimals,
            ));
        }
        columns.extend([
            Column::plain("values", "Values tried"),
            Column::plain("survivors", "Survivors"),
            Column::plain("spared_percent", "Replications spared (%)"),
        ]);
        let situations = self.situations();
        let rows = situations.iter().map(|situation| {
            let chosen = situation.chosen();
            let axes = chosen.map_or(&situation.given, |chosen| &chosen.axes);
            let cell = |key: &str| -> Cell {
                let value = axes.iter().find(|(known, _)| known == key);
                value.map(|(_, value)| value).into()
            };
            let mut row: Vec<Cell> = (given.iter().chain(&selected))
                .map(|(key, _)| cell(key))
                .collect();
            let decision = chosen.map(|chosen| &chosen.decision);
            row.push(Cell::Text(situation.verdict().to_owned()));
            row.push(
                chosen
                    .and_then(|chosen| self.confirmed(&chosen.axes))
                    .into(),
            );
            row.push(
                decision
                    .and_then(|decision| decision.mean)
                    .map_or(Cell::Missing, Cell::Number),
            );
            row.push(decision.map_or(Cell::Missing, |decision| {
                Cell::Integer(i64::from(decision.replications))
            }));
            if has_baseline {
                let surplus = chosen.and_then(|chosen| {
                    let baseline = self.baseline_axes(&chosen.axes)?;
                    (baseline != chosen.axes).then(|| self.surplus(&chosen.axes, &baseline))?
                });
                row.push(surplus.into());
            }
            row.extend([
                Cell::Integer(situation.last.len() as i64),
                Cell::Integer(situation.survivors() as i64),
                Cell::Text(grouped(situation.spared_percent(), 0)),
            ]);
            row
        });
        let rows = rows.collect();
        Table {
            name: "selected".to_owned(),
            title: format!("Selected values of {}", self.rule.axes.join(", ")),
            columns,
            rows,
            note: format!(
                "Each is {} by Kim and Nelson's procedure (2001) on the differences of the same replications; a share is one of \
                 the best mean over the first {} replications. \"Confirmed\" is over further replications that no decision \
                 read, \"selecting\" over those that selected, which favours it. Spared: of as many replications of each value that \
                 was tried as the one with most of them has.",
                self.in_words(),
                self.rule.least
            ),
            sql: format!(
                "SELECT axes, verdict, replications, mean FROM v_decision\nWHERE run = {} AND verdict IN \
                 ('selected', 'leading', 'confirmed', 'baseline', 'optimum')\nORDER BY number;",
                this_run(&self.hash)
            ),
        }
    }

    fn ends(&self) -> Table {
        let axes = self.axis_columns(|_| true);
        let mut columns: Vec<Column> = axes.iter().map(|(_, column)| column.clone()).collect();
        columns.extend([
            Column::plain("quantity", "Quantity"),
            Column::plain("verdict", "Verdict"),
            Column::plain("rung", "Rung"),
            Column::plain("replications", "n"),
            Column::number("mean", "Mean", 3),
        ]);
        let (statistic, bound) = match self.rule.selects {
            true => ("Behind", "Allowed"),
            false => ("Half width", "Wanted"),
        };
        columns.extend([
            Column::number("statistic", statistic, 3),
            Column::number("bound", bound, 3),
        ]);
        let last = match self.rule.selects {
            true => (self.situations().into_iter())
                .flat_map(|situation| situation.last)
                .collect(),
            false => self.last_looks(),
        };
        let number = |value: Option<f64>| value.map_or(Cell::Missing, Cell::Number);
        let rows = last.iter().map(|stored| {
            let decision = &stored.decision;
            let mut row: Vec<Cell> = (axes.iter())
                .map(|(key, _)| {
                    let value = stored.axes.iter().find(|(known, _)| known == key);
                    value.map(|(_, value)| value).into()
                })
                .collect();
            row.extend([
                Cell::Text(decision.quantity.clone()),
                Cell::Text(decision.verdict.name().to_owned()),
                Cell::Integer(i64::from(decision.rung)),
                Cell::Integer(i64::from(decision.replications)),
                number(decision.mean),
                number(decision.statistic),
                number(decision.bound),
            ]);
            row
        });
        Table {
            name: "decisions".to_owned(),
            title: "Where the rule ended for each setting".to_owned(),
            columns,
            rows: rows.collect(),
            note: match self.rule.selects {
                true => "The last decision about each value. Behind: how far its mean lies behind the one that speaks most \
                         against it; further than allowed, it is eliminated."
                    .to_owned(),
                false => "The last look at each setting. Half width: of the interval that allows for all looks up to it."
                    .to_owned(),
            },
            sql: format!(
                "SELECT axes, quantity, verdict, rung, replications, mean, statistic, bound FROM v_decision\nWHERE run = {}\n\
                 ORDER BY number;",
                this_run(&self.hash)
            ),
        }
    }
}
