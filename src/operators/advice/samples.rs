//! The answer to a query by setting and week: sums over the jobs of a week, whose quotients are
//! compared week by week.

use bookahead_core::scheduling::measures::QuantityKind;
use bookahead_lab::store::{SqlValue, Store};
use bookahead_report::section::ReportError;
use bookahead_report::statistics::{Blocks, Estimate, FEWEST_BLOCKS, LARGEST_LAG, Weekly};
use bookahead_report::table::{Cell, Column, Table, grouped};

/// A week, in seconds.
pub(super) const WEEK: i64 = 7 * 86_400;

/// How intervals are made, for notes.
pub(super) const BY_WEEK: &str =
    "One simulation; 95 % intervals are over weeks of submission (ratio estimator).";

/// All rows of a query.
pub(super) fn rows(store: &Store, sql: &str) -> Result<Vec<Vec<SqlValue>>, ReportError> {
    let mut rows = Vec::new();
    store.query(sql, &mut |_| Ok(()), &mut |row| {
        rows.push(row.to_vec());
        Ok(true)
    })?;
    Ok(rows)
}

/// A value as a number, where it is one.
pub(super) fn number(value: &SqlValue) -> Option<f64> {
    match value {
        SqlValue::Integer(value) => Some(*value as f64),
        SqlValue::Real(value) => Some(*value),
        _ => None,
    }
}

/// What is asked of the weeks: the quotient of two columns of a query, counted behind its keys and
/// the week.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantity {
    pub(super) name: &'static str,
    pub(super) part: usize,
    pub(super) whole: usize,
    pub(super) kind: QuantityKind,
}

/// One setting.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// What tells it apart: the first columns of the query.
    pub(super) key: Vec<String>,
    /// Its quantities.
    weekly: Vec<Weekly>,
    /// The columns of its first week, for those that are the same in all.
    first: Vec<Option<f64>>,
}

impl Group {
    /// A column that has the same value in every week.
    pub(super) fn constant(&self, column: usize) -> Option<f64> {
        *self.first.get(column)?
    }
}

/// Settings that saw the same weeks.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// In the order of their first rows.
    pub(super) groups: Vec<Group>,
    quantities: &'static [Quantity],
}

impl Settings {
    /// From the rows of a query: this many columns that identify a setting, the week, and columns
    /// from which quantities are made. Weeks are numbered from the first that any setting has.
    pub(super) fn of(rows: &[Vec<SqlValue>], keys: usize, quantities: &'static [Quantity]) -> Self {
        let week = |row: &[SqlValue]| match row.get(keys) {
            Some(SqlValue::Integer(week)) => Some(*week),
            _ => None,
        };
        let first = rows.iter().filter_map(|row| week(row)).min().unwrap_or(0);
        let mut groups: Vec<Group> = Vec::new();
        for row in rows {
            let Some(week) = week(row).and_then(|week| u32::try_from(week - first).ok()) else {
                continue;
            };
            let key: Vec<String> = row[..keys].iter().map(ToString::to_string).collect();
            let values: Vec<Option<f64>> = row[keys + 1..].iter().map(number).collect();
            let place = groups.iter().position(|group| group.key == key);
            let place = place.unwrap_or_else(|| {
                groups.push(Group {
                    key,
                    weekly: vec![Weekly::default(); quantities.len()],
                    first: values.clone(),
                });
                groups.len() - 1
            });
            for (weekly, quantity) in groups[place].weekly.iter_mut().zip(quantities) {
                let value = |column: usize| values.get(column).copied().flatten().unwrap_or(0.0);
                weekly.add(week, value(quantity.part), value(quantity.whole));
            }
        }
        Self { groups, quantities }
    }

    /// A quantity of a setting.
    pub(super) fn value(&self, group: &Group, quantity: usize) -> Option<Estimate> {
        let (weekly, kind) = (&group.weekly[quantity], self.quantities[quantity].kind);
        weekly.quotient(&Blocks::of(&[weekly]), kind)
    }

    /// How much larger a quantity is than that of another setting, paired by week.
    pub(super) fn more_than(
        &self,
        group: &Group,
        other: &Group,
        quantity: usize,
    ) -> Option<Estimate> {
        let pair = [&group.weekly[quantity], &other.weekly[quantity]];
        pair[0].more_than(pair[1], &Blocks::of(&pair))
    }

    /// What a quantity divides, in these settings, week by week in one order for all.
    pub(super) fn by_week(groups: &[&Group], quantity: usize) -> Vec<Vec<f64>> {
        let weekly = groups.iter().map(|group| &group.weekly[quantity]);
        Weekly::parts(&weekly.collect::<Vec<_>>())
    }

    /// What a reader has to know of the intervals of this quantity.
    pub(super) fn caution(&self, quantity: usize) -> Caution {
        let (own, differences) = self.units(quantity);
        Caution::of(own.iter().chain(&differences))
    }

    /// The same in few words, of these quantities: for a recommendation, which is read without the
    /// section that it follows from.
    pub(super) fn short_caution(&self, quantities: &[usize]) -> &'static str {
        let cautions = quantities.iter().map(|quantity| self.caution(*quantity));
        cautions.max().unwrap_or(Caution::None).in_short()
    }

    /// The weeks behind the intervals of a table.
    pub(super) fn table(&self, name: &str, sql: &str) -> Table {
        let mut rows = Vec::new();
        for (place, quantity) in self.quantities.iter().enumerate() {
            let (own, differences) = self.units(place);
            rows.extend(weeks_row(quantity.name, &own));
            let name = format!("{}, difference from the first", quantity.name);
            rows.extend(weeks_row(&name, &differences));
        }
        weeks_table(name, rows, sql)
    }

    /// The units of a quantity in every setting, and in the difference of every setting from the
    /// first.
    fn units(&self, quantity: usize) -> (Vec<Units>, Vec<Units>) {
        let weekly = self.groups.iter().map(|group| &group.weekly[quantity]);
        let own = weekly.clone().filter_map(|one| Units::of(&[one]));
        let first = weekly.clone().next();
        let differences = weekly.skip(1).filter_map(|one| Units::of(&[one, first?]));
        (own.collect(), differences.collect())
    }
}

/// What an interval rests on.
pub(super) struct Units {
    blocks: Blocks,
    weeks: u32,
    count: u32,
}

impl Units {
    /// Of a setting, or of two that are compared; `None` where nothing was counted.
    pub(super) fn of(settings: &[&Weekly]) -> Option<Self> {
        let blocks = Blocks::of(settings);
        let most = |weeks| settings.iter().map(|setting| setting.units(weeks)).max();
        let count = most(blocks.weeks).filter(|count| *count > 0)?;
        Some(Self {
            blocks,
            weeks: most(1)?,
            count,
        })
    }
}

/// What a reader has to know of intervals over weeks. Intervals that are there, but may be too
/// narrow, matter more than those that are not: they are the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Caution {
    /// Nothing.
    None,
    /// Weeks are too few.
    TooFew,
    /// Neighbouring weeks are alike, and blocks of them are, too.
    Alike,
}

impl Caution {
    /// That of intervals that rest on these units.
    pub(super) fn of<'u>(units: impl Iterator<Item = &'u Units> + Clone) -> Self {
        if units.clone().any(|units| units.count < FEWEST_BLOCKS) {
            Self::TooFew
        } else if units.clone().any(|units| !units.blocks.are_independent()) {
            Self::Alike
        } else {
            Self::None
        }
    }

    /// A sentence below the intervals.
    pub(super) fn in_full(self) -> &'static str {
        match self {
            Self::None => "",
            Self::TooFew => " The weeks are too few for an interval.",
            Self::Alike => {
                " Neighbouring weeks are alike for long: intervals are widened for that, and may still be too narrow."
            }
        }
    }

    /// A sentence for a reader who does not see the intervals.
    fn in_short(self) -> &'static str {
        match self {
            Self::None => "",
            Self::TooFew => " Caution: the weeks are too few for some of the intervals.",
            Self::Alike => {
                " Caution: neighbouring weeks are alike, so the intervals may be too narrow."
            }
        }
    }
}

/// A row of [`weeks_table`]: from the least to the most of all settings. Nothing where nothing was
/// counted.
pub(super) fn weeks_row(quantity: &str, units: &[Units]) -> Option<Vec<Cell>> {
    let count = |number: fn(&Units) -> u32| {
        let numbers = units.iter().map(|units| f64::from(number(units)));
        range(numbers.collect(), 0)
    };
    let lag = |lag: fn(&Units) -> Option<f64>| range(units.iter().filter_map(lag).collect(), 2);
    (!units.is_empty()).then(|| {
        vec![
            Cell::Text(quantity.to_owned()),
            count(|units| units.weeks),
            lag(|units| units.blocks.of_weeks),
            count(|units| units.blocks.weeks),
            count(|units| units.count),
            lag(|units| units.blocks.of_blocks),
        ]
    })
}

/// `1 to 4`, or the number where all are equal.
fn range(mut numbers: Vec<f64>, decimals: usize) -> Cell {
    numbers.sort_by(f64::total_cmp);
    let text = |number: &f64| grouped(*number, decimals);
    match (numbers.first().map(text), numbers.last().map(text)) {
        (Some(least), Some(most)) if least == most => Cell::Text(least),
        (Some(least), Some(most)) => Cell::Text(format!("{least} to {most}")),
        _ => Cell::Missing,
    }
}

/// What the intervals of a section rest on.
pub(super) fn weeks_table(name: &str, rows: Vec<Vec<Cell>>, sql: &str) -> Table {
    Table {
        name: name.to_owned(),
        title: "Weeks behind the intervals".to_owned(),
        columns: vec![
            Column::plain("quantity", "quantity"),
            Column::plain("weeks", "weeks"),
            Column::plain("lag_of_weeks", "correlation of neighbouring weeks"),
            Column::plain("weeks_a_block", "weeks a block"),
            Column::plain("blocks", "blocks"),
            Column::plain("lag_of_blocks", "of neighbouring blocks"),
        ],
        rows,
        note: format!(
            "Correlations are those of residuals at lag 1; where settings have others, from the least to the most. Above {LARGEST_LAG} blocks of two weeks are the units, then of four, as long as \
             {FEWEST_BLOCKS} are left; a difference has the longest blocks that it or one of its two settings needs. What positive correlation r is left widens an interval by √(1 + 2r). \
             Degrees of freedom are blocks − 1, and fewer than {FEWEST_BLOCKS} blocks carry no interval."
        ),
        sql: sql.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTITIES: &[Quantity] = &[Quantity {
        name: "mean",
        part: 0,
        whole: 1,
        kind: QuantityKind::Mean,
    }];

    fn row(key: &str, week: i64, part: SqlValue, whole: i64) -> Vec<SqlValue> {
        let key = SqlValue::Text(key.to_owned());
        vec![key, SqlValue::Integer(week), part, SqlValue::Integer(whole)]
    }

    #[test]
    fn settings_are_compared_over_the_same_weeks() {
        let mut answer = Vec::new();
        for (week, waits) in (10..).zip([4, 8, 2, 10, 6]) {
            answer.push(row("b", week, SqlValue::Integer(waits), 2));
            answer.push(row("a", week, SqlValue::Real(waits as f64 / 2.0), 2));
        }
        let settings = Settings::of(&answer, 1, QUANTITIES);
        let [b, a] = &settings.groups[..] else {
            panic!("{settings:?}")
        };
        assert_eq!([&b.key[0], &a.key[0]], ["b", "a"]);
        let mean = settings.value(b, 0).unwrap();
        // 30 / 10.
        assert_eq!((mean.count, mean.mean), (5, 3.0));
        assert!(mean.interval.is_some());
        let difference = settings.more_than(b, a, 0).unwrap();
        assert_eq!((difference.count, difference.mean), (5, 1.5));
        // Half of what is compared varies as the whole does.
        let half = mean.half_width().unwrap() / 2.0;
        assert!((difference.half_width().unwrap() - half).abs() < 1e-12);
        assert_eq!(settings.caution(0), Caution::None);
        let weeks = settings.table("weeks", "").rows;
        let text = |row: &[Cell]| row.iter().map(|cell| cell.text(2)).collect::<Vec<_>>();
        assert_eq!(text(&weeks[0]), ["mean", "5", "-0.70", "1", "5", "-0.70"]);
        assert_eq!(text(&weeks[1])[0], "mean, difference from the first");
    }

    #[test]
    fn few_weeks_have_means_without_intervals_and_it_is_said() {
        let answer: Vec<_> = (0..4)
            .map(|week| row("a", week, SqlValue::Integer(week), 1))
            .collect();
        let settings = Settings::of(&answer, 1, QUANTITIES);
        let mean = settings.value(&settings.groups[0], 0).unwrap();
        assert_eq!((mean.mean, mean.interval), (1.5, None));
        assert_eq!(settings.caution(0), Caution::TooFew);
        assert!(settings.short_caution(&[0]).contains("too few"));
    }

    #[test]
    fn where_neighbouring_weeks_are_alike_a_recommendation_says_so_in_few_words() {
        // Waits that rise for half of the time and fall again: blocks of weeks are alike, too.
        let of_week = |week: i64| (20 - (week - 20).abs()) * 10;
        let answer: Vec<_> = (0..40)
            .map(|week| row("a", week, SqlValue::Integer(of_week(week)), 1))
            .collect();
        let settings = Settings::of(&answer, 1, QUANTITIES);
        assert_eq!(settings.caution(0), Caution::Alike);
        assert_eq!(
            settings.short_caution(&[0]),
            " Caution: neighbouring weeks are alike, so the intervals may be too narrow."
        );
        // Weeks that have nothing to do with each other need none.
        let answer: Vec<_> = (0..40)
            .map(|week| row("a", week, SqlValue::Integer(week * 7919 % 101), 1))
            .collect();
        let settings = Settings::of(&answer, 1, QUANTITIES);
        assert_eq!(
            (settings.caution(0), settings.short_caution(&[0])),
            (Caution::None, "")
        );
    }

    #[test]
    fn a_setting_without_anything_to_divide_by_has_no_mean() {
        let settings = Settings::of(&[row("a", 0, SqlValue::Null, 0)], 1, QUANTITIES);
        assert_eq!(settings.value(&settings.groups[0], 0), None);
    }
}
