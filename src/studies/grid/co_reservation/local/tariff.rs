//! The cost of a part (Meltzer 2005, §4.7.3).

use std::str::FromStr;

use bookahead_core::units::{Nodes, Seconds};

use super::{ClusterId, HourEdge, LocalSettings, Tariff, TariffRow, WEEK};

const DAY: Seconds = Seconds(24 * 3_600);

impl Tariff {
    /// The price of a CPU-hour that begins at this second of the week, from Monday 00:00, at this
    /// cluster.
    #[must_use]
    pub fn rate(&self, cluster: ClusterId, second: Seconds) -> f64 {
        let second = second.0.rem_euclid(WEEK.0);
        let hour = second % DAY.0 / Seconds::HOUR.0;
        let weekend = second >= 5 * DAY.0;
        let by_day = if (8..18).contains(&hour) { 2.0 } else { 1.0 };
        match self {
            Self::DayNightCheapWeekends if weekend && matches!(cluster, ClusterId(1 | 3)) => {
                by_day / 2.0
            }
            Self::DayNightCheapWeekends | Self::DayNight => by_day,
            Self::Flat => 1.0,
            Self::Example if (8..18).contains(&hour) => 1.5,
            Self::Example => 1.0,
            Self::Table(rows) => {
                let applying = rows
                    .iter()
                    .rev()
                    .find(|row| row.applies(cluster, (second / DAY.0) as u8, hour as u8));
                applying.map_or(1.0, |row| row.rate)
            }
        }
    }
}

impl TariffRow {
    /// A range over midnight belongs to the days on which it begins and those after them alike:
    /// hours are looked at by day.
    fn applies(&self, cluster: ClusterId, day: u8, hour: u8) -> bool {
        let within = |from: u8, to: u8, at: u8| {
            if from <= to {
                (from..=to).contains(&at)
            } else {
                at >= from || at <= to
            }
        };
        let last_hour = (self.to_hour + 23) % 24;
        within(self.from_day, self.to_day, day)
            && within(self.from_hour, last_hour, hour)
            && (self.clusters.is_empty() || self.clusters.contains(&cluster.0))
    }
}

/// Why a text is no tariff.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{row}` is no row of a tariff: {reason}")]
pub struct TariffError {
    /// The row.
    pub row: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

impl FromStr for Tariff {
    type Err = TariffError;

    /// A name, or rows such as `mon-fri 8-18 2; sat-sun 0-24 0.5 @1,3`: weekdays, hours, price,
    /// clusters.
    fn from_str(text: &str) -> Result<Self, TariffError> {
        match text {
            "day-night-cheap-weekends" => return Ok(Self::DayNightCheapWeekends),
            "day-night" => return Ok(Self::DayNight),
            "flat" => return Ok(Self::Flat),
            "example" => return Ok(Self::Example),
            _ => {}
        }
        let rows = text.split(';').map(str::trim).map(row);
        Ok(Self::Table(rows.collect::<Result<_, _>>()?))
    }
}

fn row(text: &str) -> Result<TariffRow, TariffError> {
    let wrong = |reason| TariffError {
        row: text.to_owned(),
        reason,
    };
    let mut words = text.split_whitespace();
    let (Some(days), Some(hours), Some(rate)) = (words.next(), words.next(), words.next()) else {
        return Err(wrong(
            "it needs weekdays, hours and a price, as in `mon-fri 8-18 2`",
        ));
    };
    let day = |name: &str| DAYS.iter().position(|known| *known == name);
    let (from_day, to_day) = days.split_once('-').unwrap_or((days, days));
    let (Some(from_day), Some(to_day)) = (day(from_day), day(to_day)) else {
        return Err(wrong("weekdays are mon, tue, wed, thu, fri, sat and sun"));
    };
    let hour = |text: &str, least: u8, most: u8| {
        let hour = text.parse::<u8>().ok();
        hour.filter(|hour| (least..=most).contains(hour))
    };
    let Some((from_hour, to_hour)) = hours
        .split_once('-')
        .and_then(|(from, to)| Some((hour(from, 0, 23)?, hour(to, 1, 24)?)))
        .filter(|(from, to)| from != to)
    else {
        return Err(wrong("hours go from 0 to 24, as in `8-18`"));
    };
    let Some(rate) = rate
        .parse::<f64>()
        .ok()
        .filter(|rate| (0.0..1e9).contains(rate))
    else {
        return Err(wrong("the price is a number of 0 or more"));
    };
    let clusters = match words.next() {
        None => Vec::new(),
        Some(numbers) => clusters(numbers).map_err(wrong)?,
    };
    if words.next().is_some() {
        return Err(wrong("there is something behind its end"));
    }
    Ok(TariffRow {
        from_day: from_day as u8,
        to_day: to_day as u8,
        from_hour,
        to_hour,
        rate,
        clusters,
    })
}

/// The clusters that a row is about, such as `@1,3`.
pub(super) fn clusters(text: &str) -> Result<Vec<u16>, &'static str> {
    let numbers = text.strip_prefix('@').map(|list| list.split(','));
    let numbers = numbers.and_then(|list| list.map(|number| number.parse().ok()).collect());
    numbers.ok_or("clusters are numbers from 0 behind an @, as in `@1,3`")
}

impl LocalSettings {
    /// What one CPU costs from `start` on for `duration` at this cluster: each commenced hour at
    /// the rate of its beginning.
    #[must_use]
    pub fn cost_of_one(&self, cluster: ClusterId, start: Seconds, duration: Seconds) -> f64 {
        let whole = duration.0.max(0) / Seconds::HOUR.0;
        let hours = match self.hour_edge {
            HourEdge::HalfOpen => whole + i64::from(whole * Seconds::HOUR.0 < duration.0),
            HourEdge::Inclusive => whole + 1,
        };
        (0..hours)
            .map(|hour| {
                let begins = self.calendar_origin + start + Seconds::HOUR * hour;
                self.tariff.rate(cluster, begins)
            })
            .sum()
    }

    /// Partial cost of a part in units of money (Meltzer 2005, §4.7.3).
    #[must_use]
    pub fn partial_cost(
        &self,
        cluster: ClusterId,
        start: Seconds,
        duration: Seconds,
        nodes: Nodes,
    ) -> f64 {
        f64::from(nodes.0) * self.cost_of_one(cluster, start, duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn monday(tariff: Tariff, hour_edge: HourEdge) -> LocalSettings {
        LocalSettings {
            tariff,
            hour_edge,
            calendar_origin: Seconds::ZERO,
            ..LocalSettings::default()
        }
    }

    #[test]
    fn t3_ten_cpus_on_monday_from_half_past_seven_to_nine_cost_25() {
        for edge in [HourEdge::HalfOpen, HourEdge::Inclusive] {
            let settings = monday(Tariff::Example, edge);
            let cost =
                settings.partial_cost(ClusterId(0), Seconds(27_000), Seconds(5_400), Nodes(10));
            assert_eq!(cost, 25.0, "{edge:?}");
        }
    }

    #[test]
    fn t11_an_hour_from_seven_is_one_hour_and_as_printed_two() {
        let cost = |edge| {
            monday(Tariff::Example, edge).partial_cost(
                ClusterId(0),
                Seconds(25_200),
                Seconds(3_600),
                Nodes(10),
            )
        };
        assert_eq!(cost(HourEdge::HalfOpen), 10.0);
        assert_eq!(cost(HourEdge::Inclusive), 25.0);
    }

    #[test]
    fn days_cost_twice_as_much_as_nights_and_weekends_half_at_two_clusters() {
        let settings = monday(Tariff::DayNightCheapWeekends, HourEdge::HalfOpen);
        let hour = |cluster, day: i64, hour: i64| {
            settings.cost_of_one(
                ClusterId(cluster),
                Seconds((day * 24 + hour) * 3_600),
                Seconds::HOUR,
            )
        };
        assert_eq!(
            [hour(0, 4, 7), hour(0, 4, 8), hour(0, 4, 17), hour(0, 4, 18)],
            [1.0, 2.0, 2.0, 1.0]
        );
        for cluster in [1, 3] {
            assert_eq!([hour(cluster, 4, 12), hour(cluster, 4, 23)], [2.0, 1.0]);
            assert_eq!([hour(cluster, 5, 12), hour(cluster, 6, 23)], [1.0, 0.5]);
            assert_eq!([hour(cluster, 7, 0), hour(cluster, 12, 0)], [1.0, 0.5]);
        }
        for cluster in [0, 2, 4] {
            assert_eq!([hour(cluster, 5, 12), hour(cluster, 6, 23)], [2.0, 1.0]);
        }
    }

    #[test]
    fn rows_of_ones_own_say_what_an_hour_costs_and_the_last_that_applies_counts() {
        let tariff: Tariff = "mon-fri 8-18 2; fri-mon 22-6 0.25; sat-sun 0-24 0.5 @1,3"
            .parse()
            .unwrap();
        let rate = |cluster, day: i64, hour: i64| {
            tariff.rate(ClusterId(cluster), Seconds((day * 24 + hour) * 3_600))
        };
        assert_eq!(
            [rate(0, 0, 8), rate(0, 4, 17), rate(0, 4, 18)],
            [2.0, 2.0, 1.0]
        );
        assert_eq!(
            [rate(0, 4, 23), rate(0, 5, 5), rate(0, 5, 6)],
            [0.25, 0.25, 1.0]
        );
        assert_eq!([rate(0, 0, 5), rate(0, 1, 5)], [0.25, 1.0]);
        assert_eq!(
            [rate(1, 5, 12), rate(3, 6, 23), rate(2, 6, 12)],
            [0.5, 0.5, 1.0]
        );
        assert_eq!("flat".parse(), Ok(Tariff::Flat));
    }

    #[test]
    fn what_is_wrong_with_a_row_is_said_with_the_row() {
        let error = |text: &str| text.parse::<Tariff>().unwrap_err();
        assert_eq!(error("mon-fri 8-18 2; sat").row, "sat");
        for text in [
            "day-nigth",
            "mon-foo 8-18 1",
            "mon-fri 18 1",
            "mon-fri 8-25 1",
            "mon-fri 8-8 1",
            "mon-fri 8-18 -1",
            "mon-fri 8-18 1 1,3",
            "mon-fri 8-18 1 @a",
            "mon-fri 8-18 1 @1 x",
            "",
        ] {
            let message = error(text).to_string();
            assert!(
                message.starts_with(&format!("`{text}` is no row")),
                "{message}"
            );
        }
    }

    #[test]
    fn the_first_weekend_of_a_simulation_begins_after_54_hours() {
        let settings = LocalSettings::default();
        let rate = |second| settings.cost_of_one(ClusterId(1), Seconds(second), Seconds(1));
        assert_eq!([rate(194_399), rate(194_400)], [1.0, 0.5]);
        assert_eq!([rate(367_199), rate(367_200)], [0.5, 1.0]);
    }
}
