//! The quota of parts, for all time and for periods (Meltzer 2005, §7.1).

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use bookahead_core::units::{Nodes, Seconds};

use super::filters::held;
use super::tariff::clusters;
use super::{ClusterId, LocalSettings, PartOrder};

/// A quota of its own for some time, such as 0 before a maintenance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuotaPeriod {
    /// Its beginning.
    pub start: Seconds,
    /// Its end.
    pub end: Seconds,
    /// The most of a cluster that parts may hold on average over the time that they share with it,
    /// in `[0, 1]`.
    pub share: f64,
    /// From when on the clusters know of it: what they granted before stays.
    pub announced: Seconds,
    /// Clusters that it is about; all, if empty.
    pub clusters: Vec<u16>,
}

/// Quotas of periods; of those that apply to a second the last counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuotaPeriods(pub Vec<QuotaPeriod>);

/// Why a text names no periods.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{row}` is no period: {reason}")]
pub struct QuotaPeriodError {
    /// The row.
    pub row: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl FromStr for QuotaPeriods {
    type Err = QuotaPeriodError;

    /// Rows such as `168-180 0 from 144 @0,2; 180-200 10`: hours of the simulation, percent, the
    /// hour from which on it is known, clusters.
    fn from_str(text: &str) -> Result<Self, QuotaPeriodError> {
        let rows = text.split(';').map(str::trim).map(period);
        rows.collect::<Result<_, _>>().map(Self)
    }
}

/// The most hours that a period may end after.
const LATEST_HOUR: f64 = 1e6;

fn period(text: &str) -> Result<QuotaPeriod, QuotaPeriodError> {
    let wrong = |reason| QuotaPeriodError {
        row: text.to_owned(),
        reason,
    };
    let number = |text: &str, most: f64| {
        let number = text.parse::<f64>().ok();
        number.filter(|number| (0.0..=most).contains(number))
    };
    let mut words = text.split_whitespace().peekable();
    let (Some(hours), Some(percent)) = (words.next(), words.next()) else {
        return Err(wrong(
            "it needs hours and a quota in percent, as in `168-180 0`",
        ));
    };
    let Some((start, end)) = hours
        .split_once('-')
        .and_then(|(from, to)| Some((number(from, LATEST_HOUR)?, number(to, LATEST_HOUR)?)))
        .filter(|(from, to)| from < to)
    else {
        return Err(wrong(
            "hours go from the beginning of the simulation, as in `168-180`",
        ));
    };
    let Some(percent) = number(percent, 100.0) else {
        return Err(wrong("the quota is a number from 0 to 100 percent"));
    };
    let mut announced = 0.0;
    if words.next_if(|word| *word == "from").is_some() {
        let hour = words.next().and_then(|hour| number(hour, LATEST_HOUR));
        announced =
            hour.ok_or_else(|| wrong("behind `from` stands the hour from which on it is known"))?;
    }
    let clusters = words
        .next()
        .map_or(Ok(Vec::new()), clusters)
        .map_err(wrong)?;
    if words.next().is_some() {
        return Err(wrong("there is something behind its end"));
    }
    Ok(QuotaPeriod {
        start: Seconds::from_hours(start),
        end: Seconds::from_hours(end),
        share: percent / 100.0,
        announced: Seconds::from_hours(announced),
        clusters,
    })
}

impl LocalSettings {
    /// Whether `parts` and a further one of `nodes` CPUs over `[start, end)` would hold no more
    /// than their share of a cluster, on average over each stretch of that time with one quota, as
    /// the cluster knows it at `now`.
    pub(super) fn within_quota<'a>(
        &self,
        (cluster, machine): (ClusterId, Nodes),
        now: Seconds,
        parts: impl Iterator<Item = &'a PartOrder> + Clone,
        (start, end): (Seconds, Seconds),
        nodes: Nodes,
    ) -> bool {
        if self.quota.is_none() && self.quota_periods.is_empty() {
            return true;
        }
        self.stretches(cluster, now, start, end)
            .into_iter()
            .all(|(from, to, period)| {
                let Some(share) = period.map_or(self.quota, |period| Some(period.share)) else {
                    return true;
                };
                let held = held(parts.clone(), from, to - from);
                let asked = nodes.for_span(to - from).0;
                let most = share * machine.for_span(to - from).0 as f64;
                // A share such as 0.7 is not exact in binary; whole CPU-seconds are.
                (held + asked) as f64 <= most + 1e-6
            })
    }

    /// How much of `[start, end)` lies in periods with a quota of their own.
    #[must_use]
    pub fn time_in_quota_periods(
        &self,
        cluster: ClusterId,
        start: Seconds,
        end: Seconds,
    ) -> Seconds {
        self.stretches(cluster, Seconds::FAR, start, end)
            .into_iter()
            .filter(|(_, _, period)| period.is_some())
            .fold(Seconds::ZERO, |sum, (from, to, _)| sum + (to - from))
    }

    /// `[start, end)` cut into stretches with one quota; `None` is that of all time.
    fn stretches(
        &self,
        cluster: ClusterId,
        now: Seconds,
        start: Seconds,
        end: Seconds,
    ) -> Vec<(Seconds, Seconds, Option<&QuotaPeriod>)> {
        let known = |period: &&QuotaPeriod| {
            period.announced <= now
                && (period.clusters.is_empty() || period.clusters.contains(&cluster.0))
        };
        let periods: Vec<&QuotaPeriod> = self.quota_periods.iter().filter(known).collect();
        let bounds = periods.iter().flat_map(|period| [period.start, period.end]);
        let mut cuts: Vec<Seconds> = bounds
            .filter(|cut| (start..end).contains(cut))
            .chain([start, end])
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        let at = |second: Seconds| {
            let holds = |period: &&&QuotaPeriod| (period.start..period.end).contains(&second);
            periods.iter().rfind(holds).copied()
        };
        let mut stretches: Vec<(Seconds, Seconds, Option<&QuotaPeriod>)> = Vec::new();
        for pair in cuts.windows(2) {
            let (from, to, period) = (pair[0], pair[1], at(pair[0]));
            match stretches.last_mut() {
                Some((_, last, same)) if is_same(*same, period) => *last = to,
                _ => stretches.push((from, to, period)),
            }
        }
        stretches
    }
}

fn is_same(one: Option<&QuotaPeriod>, other: Option<&QuotaPeriod>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<QuotaPeriods>().unwrap_err().to_string()
    }

    #[test]
    fn periods_are_rows_of_hours_percent_notice_and_clusters() {
        let QuotaPeriods(periods) = "168-180 0 from 144 @0,2; 180-200.5 12.5".parse().unwrap();
        let hours = Seconds::from_hours;
        assert_eq!(
            periods,
            [
                QuotaPeriod {
                    start: hours(168.0),
                    end: hours(180.0),
                    share: 0.0,
                    announced: hours(144.0),
                    clusters: vec![0, 2],
                },
                QuotaPeriod {
                    start: hours(180.0),
                    end: hours(200.5),
                    share: 0.125,
                    announced: Seconds::ZERO,
                    clusters: Vec::new(),
                },
            ]
        );
        for (text, says) in [
            ("168", "it needs hours and a quota"),
            ("180-168 0", "hours go from the beginning"),
            ("168-180 101", "0 to 100 percent"),
            ("168-180 0 from", "behind `from` stands the hour"),
            ("168-180 0 @x", "clusters are numbers"),
            ("168-180 0 @1 2", "something behind its end"),
        ] {
            assert!(refused(text).contains(says), "{}", refused(text));
        }
    }

    #[test]
    fn of_periods_that_overlap_the_last_counts_and_time_is_counted_once() {
        let settings = LocalSettings {
            quota_periods: "0-2 50; 1-3 10 @1".parse::<QuotaPeriods>().unwrap().0,
            ..LocalSettings::default()
        };
        let shares = |cluster| -> Vec<(f64, Option<f64>)> {
            let hour = Seconds::HOUR;
            settings
                .stretches(ClusterId(cluster), Seconds::ZERO, Seconds::ZERO, hour * 4)
                .into_iter()
                .map(|(_, to, period)| (to.hours(), period.map(|period| period.share)))
                .collect()
        };
        assert_eq!(shares(0), [(2.0, Some(0.5)), (4.0, None)]);
        assert_eq!(shares(1), [(1.0, Some(0.5)), (3.0, Some(0.1)), (4.0, None)]);
        let time = |cluster| {
            settings.time_in_quota_periods(ClusterId(cluster), Seconds::HOUR, Seconds::HOUR * 4)
        };
        assert_eq!([time(0), time(1)], [Seconds::HOUR, Seconds::HOUR * 2]);
    }
}
