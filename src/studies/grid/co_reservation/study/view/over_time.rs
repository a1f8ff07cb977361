//! The course of one simulation over time: requests as they arrive, and the use of clusters. Each
//! figure shows replication 0, because a mean over drawn workloads would show no course that ever
//! happened.

use super::MOST_CLUSTERS;
use crate::co_reservation::study::stored::{self, ClusterCalendar, CoRequestRow, UseRow};
use bookahead_report::analysis::Analysis;
use bookahead_report::figure::{Figure, Mark, Marks, Scale, Section, Series};
use bookahead_report::plots::situations::{
    Member, Situation, first_replication, first_replications, situations,
};
use bookahead_report::plots::{single, titled};
use bookahead_report::views::Reported;

use bookahead_lab::store::StoreError;

/// Situations that are drawn …
const MOST_SITUATIONS: usize = 2;
/// … and in each of them so many lines.
const MOST_MEMBERS: usize = 3;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// What is drawn of every request.
struct OfRequests {
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    section: Section,
    /// Its expression in SQL, over `v_co_request r`.
    sql: &'static str,
    value: fn(&CoRequestRow) -> Option<f64>,
}

const OF_REQUESTS: [OfRequests; 3] = [
    OfRequests {
        name: "message-peaks",
        title: "Parts refused or given back, over submission",
        unit: "parts refused or given back",
        section: Section::Messages,
        sql: "r.refused + r.cancelled",
        value: |row| Some(row.wasted as f64),
    },
    OfRequests {
        name: "unfairness-over-time",
        title: "Unfairness degree of granted requests, over submission",
        unit: "unfairness degree",
        section: Section::Fairness,
        sql: "r.unfairness",
        value: |row| row.unfairness,
    },
    OfRequests {
        name: "lead-times",
        title: "Lead time of granted requests, over submission",
        unit: "lead time (h)",
        section: Section::OverTime,
        sql: "r.lead / 3600.0",
        value: |row| row.lead.map(|lead| lead as f64 / HOUR as f64),
    },
];

/// A simulation of replication 0 with its outcomes.
struct Drawn<'m, 'a> {
    member: &'m Member<'a>,
    simulation: i64,
    requests: Vec<CoRequestRow>,
    calendar: ClusterCalendar,
}

/// Requests over their submission, jobs in the drain phase and reservations at a weekend; empty
/// where outcomes were not kept.
pub(super) fn over_time(run: &Reported<'_>) -> Result<Vec<Figure>, StoreError> {
    let (store, analysis) = (run.store, run.analysis);
    let mut figures = Vec::new();
    for situation in &situations(analysis, MOST_SITUATIONS) {
        let mut drawn = Vec::new();
        for member in situation.members.iter().take(MOST_MEMBERS) {
            let Some(simulation) = first_replication(run.points, member.combination) else {
                continue;
            };
            if let Some(calendar) = stored::calendar(store, simulation)? {
                drawn.push(Drawn {
                    member,
                    simulation,
                    requests: stored::co_requests(store, simulation)?,
                    calendar,
                });
            }
        }
        let Some(first) = drawn.first() else {
            continue;
        };
        let context = Context {
            analysis,
            situation,
            from: {
                let members = drawn.iter().map(|drawn| drawn.member.combination);
                first_replications(run.hash(), analysis, members)
            },
        };
        figures.extend(context.requests(&drawn));
        let ClusterCalendar { stop, origin } = first.calendar;
        let after: Vec<Vec<UseRow>> = drawn
            .iter()
            .map(|drawn| stored::time_line(store, drawn.simulation, stop, i64::MAX))
            .collect::<Result<_, _>>()?;
        figures.extend(context.drain(&drawn, &after, stop));
        let weekend = second_weekend(origin);
        for (number, of) in drawn.iter().enumerate() {
            let lines = stored::time_line(
                store,
                of.simulation,
                weekend - DAY / 2,
                weekend + 2 * DAY + DAY / 2,
            )?;
            figures.extend(context.weekend(of, number, &lines, weekend, run.hash()));
        }
    }
    Ok(figures)
}

/// Where Saturday 00:00 of the second weekend is.
fn second_weekend(origin: i64) -> i64 {
    let saturday = (5 * DAY - origin).rem_euclid(7 * DAY);
    if saturday > 5 * DAY {
        saturday
    } else {
        saturday + 7 * DAY
    }
}

/// What the figures of one situation share.
struct Context<'a> {
    analysis: &'a Analysis,
    situation: &'a Situation<'a>,
    from: String,
}

impl Context<'_> {
    fn note(&self, more: &str) -> String {
        format!(
            "Replication 0 of the first {MOST_MEMBERS} combinations of {} in the first {MOST_SITUATIONS} situations.{more}",
            self.analysis.combinations.len()
        )
    }

    fn requests(&self, drawn: &[Drawn<'_, '_>]) -> Vec<Figure> {
        OF_REQUESTS
            .iter()
            .filter_map(|what| {
                let series: Vec<Series> = drawn
                    .iter()
                    .map(|of| {
                        let marks = of.requests.iter().filter_map(|row| {
                            Some(single(row.submit as f64 / HOUR as f64, (what.value)(row)?))
                        });
                        Series::new(
                            of.member.label.clone(),
                            of.member.rank,
                            Marks::Points(marks.collect()),
                        )
                    })
                    .filter(|series| !is_empty(&series.marks))
                    .collect();
                if series.is_empty() {
                    return None;
                }
                let mut figure = Figure {
                    name: format!("{}{}", what.name, self.situation.suffix),
                    section: what.section,
                    title: titled(what.title, &self.situation.given),
                    given: self.situation.given.clone(),
                    x: Scale::linear("submission (h)"),
                    y: Scale::linear(what.unit),
                    series,
                    note: self.note(""),
                    sql: format!(
                        "SELECT p.axes, r.request, r.submit / 3600.0 AS x, {0} AS mean
FROM {1}
JOIN v_co_request r ON r.simulation = p.simulation
WHERE {0} IS NOT NULL
ORDER BY p.axes, r.request;",
                        what.sql, self.from
                    ),
                };
                if what.name == "lead-times" {
                    self.add_bounds(&mut figure, drawn);
                }
                Some(figure)
            })
            .collect()
    }

    /// The backlog time that a request with r parts must wait for: the r-th smallest of the
    /// clusters.
    fn add_bounds(&self, figure: &mut Figure, drawn: &[Drawn<'_, '_>]) {
        let several = drawn.len();
        for of in drawn {
            let marks: Vec<Mark> = of
                .requests
                .iter()
                .filter_map(|row| {
                    let bound = row.bound? as f64 / HOUR as f64;
                    Some(single(row.submit as f64 / HOUR as f64, bound))
                })
                .collect();
            if !marks.is_empty() {
                figure.series.push(Series::new(
                    format!("backlog, {}", of.member.label),
                    of.member.rank + several,
                    Marks::Curve(marks),
                ));
            }
        }
        figure.note = self.note(
            " Lines: with r parts the r-th smallest backlog time of the clusters for the earliest start, whether the algorithm \
             looks at it or not.",
        );
        figure.sql = format!(
            "SELECT p.axes, 'lead time' AS what, r.request, r.submit / 3600.0 AS x, r.lead / 3600.0 AS mean
FROM {0}
JOIN v_co_request r ON r.simulation = p.simulation
WHERE r.lead IS NOT NULL
UNION ALL
SELECT axes, 'backlog', request, submit / 3600.0, backlog_earliest / 3600.0
FROM (SELECT p.axes, b.*, r.parts,
          row_number() OVER (PARTITION BY b.simulation, b.request ORDER BY b.backlog_earliest) AS rank
      FROM {0}
      JOIN v_co_probe b ON b.simulation = p.simulation
      JOIN co_request r ON r.simulation = b.simulation AND r.request = b.request)
WHERE rank = parts
ORDER BY 1, 2, 3;",
            self.from
        );
    }

    fn drain(&self, drawn: &[Drawn<'_, '_>], lines: &[Vec<UseRow>], stop: i64) -> Vec<Figure> {
        let clusters = lines.iter().flatten().map(|row| row.cluster + 1).max();
        (0..clusters.unwrap_or(0).min(MOST_CLUSTERS))
            .filter_map(|cluster| {
                let series: Vec<Series> = drawn
                    .iter()
                    .zip(lines)
                    .map(|(of, lines)| {
                        let marks = lines.iter().filter(|row| row.cluster == cluster);
                        let marks = marks.map(|row| {
                            single((row.time - stop) as f64 / HOUR as f64, row.jobs as f64)
                        });
                        Series::new(
                            of.member.label.clone(),
                            of.member.rank,
                            Marks::Curve(marks.collect()),
                        )
                    })
                    .filter(|series| !is_empty(&series.marks))
                    .collect();
                (!series.is_empty()).then(|| Figure {
                    name: format!("drain-cluster-{cluster}{}", self.situation.suffix),
                    section: Section::OverTime,
                    title: titled(
                        &format!(
                            "CPUs that run jobs after the end of submissions, cluster {cluster}"
                        ),
                        &self.situation.given,
                    ),
                    given: self.situation.given.clone(),
                    x: Scale::linear("after the end of submissions (h)"),
                    y: Scale::linear("CPUs"),
                    series,
                    note: self.note(&format!(" At most {MOST_CLUSTERS} clusters.")),
                    sql: format!(
                        "SELECT p.axes, (t.time - c.stop) / 3600.0 AS x, t.jobs AS mean
FROM {}
JOIN cluster c ON c.simulation = p.simulation AND c.cluster = {cluster}
JOIN time_line t ON t.simulation = c.simulation AND t.cluster = c.cluster AND t.time >= {stop}
ORDER BY p.axes, t.time;",
                        self.from
                    ),
                })
            })
            .collect()
    }

    fn weekend(
        &self,
        of: &Drawn<'_, '_>,
        number: usize,
        lines: &[UseRow],
        weekend: i64,
        configuration_hash: &str,
    ) -> Option<Figure> {
        let clusters = lines.iter().map(|row| row.cluster + 1).max()?;
        let series: Vec<Series> = (0..clusters.min(MOST_CLUSTERS))
            .map(|cluster| {
                Series::new(
                    format!("cluster {cluster}"),
                    usize::from(cluster),
                    Marks::Curve(
                        lines
                            .iter()
                            .filter(|row| row.cluster == cluster)
                            .map(|row| single(row.time as f64 / HOUR as f64, row.parts as f64))
                            .collect(),
                    ),
                )
            })
            .collect();
        // Without a reservation there is nothing to see.
        if lines.iter().all(|row| row.parts == 0) {
            return None;
        }
        let from = first_replications(configuration_hash, self.analysis, [of.member.combination]);
        Some(Figure {
            name: format!("weekend-load{}-{}", self.situation.suffix, number + 1),
            section: Section::OverTime,
            title: titled(
                &format!("CPUs that reservations hold at the second weekend: {}", of.member.label),
                &self.situation.given,
            ),
            given: self.situation.given.clone(),
            x: Scale::linear("time (h)"),
            y: Scale::linear("CPUs"),
            series,
            note: self.note(&format!(
                " Saturday 00:00 is at {} h, Monday 00:00 at {} h. At most {MOST_CLUSTERS} clusters.",
                weekend / HOUR,
                weekend / HOUR + 48
            )),
            sql: format!(
                "SELECT p.axes, t.cluster, t.time / 3600.0 AS x, t.parts AS mean
FROM {from}
JOIN time_line t ON t.simulation = p.simulation AND t.cluster < {MOST_CLUSTERS}
    AND t.time >= {} AND t.time < {}
ORDER BY t.cluster, t.time;",
                weekend - DAY / 2,
                weekend + 2 * DAY + DAY / 2
            ),
        })
    }
}

fn is_empty(marks: &Marks) -> bool {
    matches!(marks, Marks::Curve(marks) | Marks::Points(marks) if marks.is_empty())
}
