//! What a part costs (§3.6.1).

use super::{ClusterId, HourEdge, LocalSettings, Tariff, WEEK};
use crate::units::{Nodes, Seconds};

const DAY: Seconds = Seconds(24 * 3_600);

impl Tariff {
    /// The price of a CPU-hour that begins at this second of the week, from Monday 00:00, at this cluster.
    #[must_use]
    pub fn rate(self, cluster: ClusterId, second: Seconds) -> f64 {
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
        }
    }
}

impl LocalSettings {
    /// What one CPU costs from `start` on for `duration` at this cluster: each commenced hour at the rate of its beginning.
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

    /// Partial cost of a part in units of money (§3.6.1).
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
    fn the_first_weekend_of_a_simulation_begins_after_54_hours() {
        let settings = LocalSettings::default();
        let rate = |second| settings.cost_of_one(ClusterId(1), Seconds(second), Seconds(1));
        assert_eq!([rate(194_399), rate(194_400)], [1.0, 0.5]);
        assert_eq!([rate(367_199), rate(367_200)], [0.5, 1.0]);
    }
}
