//! What a part costs (spec `co-reservation.md` §3.6.1).

use crate::scheduling::local::{ClusterId, HourEdge, LocalSettings, Tariff, WEEK};
use crate::units::{Nodes, Seconds};

/// `nodes · Σ rate(t)` over `t = start, start + 1 h, …` before the end.
pub(super) fn price(
    settings: &LocalSettings,
    cluster: ClusterId,
    nodes: Nodes,
    start: Seconds,
    duration: Seconds,
) -> f64 {
    let hours = match settings.hour_edge {
        HourEdge::HalfOpen => (duration.0 + 3_599) / 3_600,
        HourEdge::Inclusive => duration.0 / 3_600 + 1,
    };
    let rates = (0..hours.max(0)).map(|hour| {
        let time = start + Seconds::HOUR * hour;
        rate(settings, cluster, time)
    });
    f64::from(nodes.0) * rates.sum::<f64>()
}

/// The price of a CPU-hour that begins at `time`.
fn rate(settings: &LocalSettings, cluster: ClusterId, time: Seconds) -> f64 {
    let of_week = (time + settings.calendar_origin).0.rem_euclid(WEEK.0);
    let hour = of_week / 3_600 % 24;
    let by_day = (8..18).contains(&hour);
    let weekend = of_week / (24 * 3_600) >= 5;
    let day_night = if by_day { 2.0 } else { 1.0 };
    match settings.tariff {
        Tariff::DayNightCheapWeekends if weekend && cluster.0 % 4 % 2 == 1 => day_night / 2.0,
        Tariff::DayNightCheapWeekends | Tariff::DayNight => day_night,
        Tariff::Flat => 1.0,
        Tariff::Example if by_day => 1.5,
        Tariff::Example => 1.0,
    }
}
