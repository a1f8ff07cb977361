//! The trials of a reservation, and the query that reads them from the store.

use crate::advice::AdviceRun;
use crate::advice::samples::WEEK;
use bookahead_report::sql::this_run;

pub(super) const HOUR: i64 = 3_600;
pub(super) const DAY: i64 = 24 * HOUR;
/// 1970 began on a Thursday, three days after a Monday.
const FIRST_DAY: i64 = 3;

/// One reservation that was tried out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    /// Hours from the request to the start.
    pub(super) lead: f64,
    /// The start, in seconds from the beginning of a week.
    pub(super) start: i64,
    /// Node-hours by which waiting jobs are delayed; `None` if the reservation met running jobs.
    pub(super) cost: Option<f64>,
}

impl Trial {
    pub(super) fn week(&self) -> i64 {
        self.start.div_euclid(WEEK)
    }

    pub(super) fn day(&self) -> i64 {
        self.start.rem_euclid(WEEK) / DAY
    }

    pub(super) fn hour(&self) -> i64 {
        self.start.rem_euclid(DAY) / HOUR
    }
}

/// What is added to a start to get seconds since the beginning of some week.
pub(super) fn shift(clock: Option<i64>) -> i64 {
    clock.map_or(0, |clock| clock + FIRST_DAY * DAY)
}

/// How a reservation's cost was found, which decides where its trials are and what is said of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Priced in the plan of a queue on nodes that are alike.
    Planned,
    /// Added to the machine of a machine file, in the same log once more.
    Added,
}

impl Kind {
    /// Lead, start and cost of every trial, in order.
    pub(super) fn trials(self, run: &AdviceRun, clock: Option<i64>) -> String {
        let (run, shift) = (this_run(&run.configuration_hash), shift(clock));
        match self {
            Self::Planned => format!(
                "SELECT json_extract(p.axes, '$.\"virtual.lead_hours\"') AS lead_hours, t.wanted_start + {shift} AS start, t.reservation_cost_su AS cost
      FROM v_virtual_trial t JOIN v_point p ON p.simulation = t.simulation WHERE p.run = {run} ORDER BY p.place, t.trial"
            ),
            Self::Added => format!(
                "SELECT 0 AS lead_hours, cast(max(value) FILTER (WHERE measure = 'added_reservation_begin_seconds') AS INTEGER) + {shift} AS start,
             max(value) FILTER (WHERE measure = 'others_delay_core_hours') AS cost
      FROM v_measure WHERE run = {run} GROUP BY place HAVING start IS NOT NULL ORDER BY place"
            ),
        }
    }

    /// What delays are counted in.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Planned => "node-hours",
            Self::Added => "core-hours",
        }
    }

    /// When it became known, after a comma.
    pub(super) fn told(self, lead: f64) -> String {
        match self {
            Self::Planned => format!("asked for {lead} h ahead"),
            Self::Added => "announced well in advance".to_owned(),
        }
    }

    /// Parts of a name of a table or figure.
    pub(super) fn suffix(self, lead: f64) -> String {
        match self {
            Self::Planned => format!("-{lead}"),
            Self::Added => String::new(),
        }
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Planned => {
                "Measured is the price of an adaptive reservation: the queue is planned with requested times, with the reservation and without it, and the delays of all who wait when it \
                 is asked for are added up, in node-hours; who would start earlier counts as 0. It is what the plan says, not what happens: jobs that end early make up for some of it, and who \
                 is submitted later is not in it. A reservation is refused where it meets a running job's requested time."
            }
            Self::Added => {
                "Measured is what happens: the log is simulated on the machine without the reservation and once more with it, at a drawn second, as a window of the calendar that is known from \
                 the beginning and takes the last nodes of each class, from the first class on. The cost is the difference of all waits, times the cores; jobs that start earlier count against it. Most \
                 reservations cost little and some very much, as one exchanged start moves many others: single values say nothing, and the mean needs its interval."
            }
        }
    }
}

/// The mean cost and what it rests on, grouped by a part of the week.
pub(super) fn query(
    kind: Kind,
    run: &AdviceRun,
    clock: Option<i64>,
    groups: &[(&str, String)],
) -> String {
    let columns: Vec<String> = groups
        .iter()
        .map(|(name, expression)| format!("{expression} AS {name}"))
        .collect();
    let names: Vec<&str> = groups.iter().map(|(name, _)| *name).collect();
    format!(
        "SELECT lead_hours, {}, count(*) AS asked,
    100.0 * sum(cost IS NULL) / count(*) AS refused_percent, avg(cost) AS {}
FROM ({})
GROUP BY lead_hours, {names} ORDER BY lead_hours, {names}",
        columns.join(", "),
        kind.unit().replace('-', "_"),
        kind.trials(run, clock),
        names = names.join(", ")
    )
}
