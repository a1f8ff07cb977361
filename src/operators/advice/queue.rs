//! The value of better estimates, and the reliability of the starts that a queue announces.

use super::planning::{self, Gains};
use super::samples::{BY_WEEK, Group, Quantity, Settings, WEEK, rows};
use super::ties;
use super::{AdviceSource, Recommendation, Section, changed, said};
use bookahead_core::scheduling::measures::QuantityKind;
use bookahead_lab::store::Store;
use bookahead_report::section::ReportError;
use bookahead_report::sql::this_run;
use bookahead_report::statistics::Estimate;
use bookahead_report::table::{Cell, Column, Table, grouped};

// Places in QUANTITIES.
const WAIT: usize = 0;
const SLOWDOWN: usize = 1;
const PROMISED: usize = 2;
const ERROR: usize = 3;
const LATE: usize = 4;
const LATE_BY: usize = 5;

/// A column of the query, which is the same in every week.
const MARGIN: usize = 9;

/// Of the columns of the query behind its key and the week: started, promised and late jobs, then
/// sums.
const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "mean wait",
        part: 3,
        whole: 0,
        kind: QuantityKind::Mean,
    },
    Quantity {
        name: "mean bounded slowdown",
        part: 4,
        whole: 0,
        kind: QuantityKind::Mean,
    },
    Quantity {
        name: "announced",
        part: 5,
        whole: 0,
        kind: QuantityKind::Percent,
    },
    Quantity {
        name: "apart",
        part: 6,
        whole: 1,
        kind: QuantityKind::Mean,
    },
    Quantity {
        name: "later",
        part: 7,
        whole: 1,
        kind: QuantityKind::Percent,
    },
    Quantity {
        name: "later by",
        part: 8,
        whole: 2,
        kind: QuantityKind::Mean,
    },
];

/// The setting that a queue's experiment varies, with the words for it.
pub(super) struct Subject {
    /// The axis by which the queue knows more or less of run times.
    pub(super) axis: &'static str,
    /// Its values in words; the first keeps to the requested time, the last knows the run time.
    words: &'static [(&'static str, &'static str)],
    /// Where jobs wait.
    place: &'static str,
    /// The meaning of an announced start, and the jobs that have one.
    announced: &'static str,
    /// The jobs that have one.
    announced_to: &'static str,
}

const LEARNED: &str = "learned";

/// A queue of nodes that are alike.
const QUEUE: Subject = Subject {
    axis: "queue.predictor",
    words: &[
        ("request", "requested time"),
        ("average-of-two", "mean of the user's last two run times"),
        (LEARNED, "learned prediction"),
        ("perfect", "the run time itself"),
    ],
    place: "in a queue",
    announced: "The announced start is the reservation that EASY backfilling makes for the first job of its queue.",
    announced_to: "Announced: jobs that waited as the first of the queue.",
};

/// The machine of a machine file.
const MACHINE: Subject = Subject {
    axis: "workload.exact_estimates",
    words: &[("0", "requested time"), ("1", "the run time itself")],
    place: "on this machine",
    announced: "The announced start is the first reservation that a job got; how many jobs of a partition have one at a time is `backfilling.depth` of the machine file.",
    announced_to: "Announced: jobs that waited with a reservation.",
};

impl Subject {
    /// The subject of an advice.
    pub(super) fn of(source: &AdviceSource<'_>) -> &'static Self {
        match source.machine {
            Some(_) => &MACHINE,
            None => &QUEUE,
        }
    }

    /// What the queue plans with, in words.
    pub(super) fn words<'w>(&self, value: &'w str) -> &'w str {
        let known = self.words.iter().find(|(name, _)| *name == value);
        known.map_or(value, |(_, words)| words)
    }
}

/// Sums over the jobs of a week, by what the queue plans with. Slowdowns are bounded: shorter run
/// times count as 10 seconds.
fn query(configuration_hash: &str, axis: &str) -> String {
    let run = this_run(configuration_hash);
    format!(
        "SELECT json_extract(axes, '$.\"{axis}\"') AS predictor, submit / {WEEK} AS week,
    count(start) AS started, count(planned_start) AS promised, sum(start > planned_start) AS late,
    sum(waiting) / 60.0 AS wait_minutes, sum(max(1.0, 1.0 * (\"end\" - submit) / max(10, \"end\" - start))) AS bounded_slowdown,
    100.0 * count(planned_start) AS promised_percent, sum(abs(start - planned_start)) / 60.0 AS error_minutes,
    100.0 * sum(start > planned_start) AS late_percent, sum(max(0, start - planned_start)) / 60.0 AS late_minutes,
    (SELECT value / 60.0 FROM v_measure m WHERE m.run = {run} AND m.place = j.place
        AND measure = 'promise_margin_p90_seconds') AS margin_minutes
FROM v_all_jobs j WHERE run = {run} GROUP BY place, week ORDER BY place, week"
    )
}

/// The announced starts, and the worth of estimates.
pub(super) fn sections<'s>(
    store: &Store,
    source: &'s AdviceSource<'s>,
) -> Result<Vec<Section<'s>>, ReportError> {
    let subject = Subject::of(source);
    let sql = query(&source.queue.configuration_hash, subject.axis);
    let found = Settings::of(&rows(store, &sql)?, 1, QUANTITIES);
    let Some(requested) = found.groups.first() else {
        return Ok(Vec::new());
    };
    let mut sections = vec![starts(source, subject, (&found, requested), &sql)];
    sections.push(worth(store, source, subject, (&found, requested), &sql)?);
    Ok(sections)
}

fn starts<'s>(
    source: &'s AdviceSource<'s>,
    subject: &Subject,
    (found, requested): (&Settings, &Group),
    sql: &str,
) -> Section<'s> {
    let mut answer = format!(
        "A queue that plans with requested times announces a start to {} % of the jobs; {} % of these start later, and start and announcement \
         are {} min apart.",
        said(found.value(requested, PROMISED), 1),
        said(found.value(requested, LATE), 1),
        said(found.value(requested, ERROR), 0)
    );
    let learned = found.groups.iter().rev().find(|group| {
        let others = [subject.words.first(), subject.words.last()];
        let mut others = others.into_iter().flatten();
        others.all(|(name, _)| *name != group.key[0])
    });
    if let Some(learned) = learned {
        answer.push_str(&format!(
            " With a {} {} % start later, by {} min in the mean.",
            subject.words(&learned.key[0]),
            said(found.value(learned, LATE), 1),
            said(found.value(learned, LATE_BY), 0)
        ));
    }
    let rows = found.groups.iter().map(|group| {
        let mut row = vec![Cell::Text(subject.words(&group.key[0]).to_owned())];
        row.extend(
            [PROMISED, ERROR, LATE, LATE_BY].map(|quantity| found.value(group, quantity).into()),
        );
        row.push(group.constant(MARGIN).map_or(Cell::Missing, Cell::Number));
        row
    });
    answer.push_str(found.caution(ERROR).in_full());
    let table = Table {
        name: "announced-starts".to_owned(),
        title: "Announced and real starts, by what the queue plans with".to_owned(),
        columns: vec![
            Column::plain("predictor", "plans with"),
            Column::estimate("promised_percent", "announced (%)", 1),
            Column::estimate("error_minutes", "apart (min)", 0),
            Column::estimate("late_percent", "later (%)", 1),
            Column::estimate("late_minutes", "later by (min)", 0),
            Column::number("margin_minutes", "margin (min)", 0),
        ],
        rows: rows.collect(),
        note: format!(
            "{BY_WEEK} {} Later by: mean over those that were later. Margin: what must be added to an announcement so that nine of ten have started by then; it has no interval.",
            subject.announced_to
        ),
        sql: sql.to_owned(),
    };
    Section {
        id: "starts",
        question: "How reliable are announced starts?".to_owned(),
        answer,
        method: format!(
            "{} Nodes do not fail, so that requested times are upper bounds; on a real machine an announcement can be late for that, too.",
            subject.announced
        ),
        tables: vec![table, found.table("queue-weeks", sql)],
        figures: Vec::new(),
        recommendations: margin(found, requested).into_iter().collect(),
        run: Some(&source.queue),
        command: source.shows(&source.queue),
    }
}

fn worth<'s>(
    store: &Store,
    source: &'s AdviceSource<'s>,
    subject: &Subject,
    (found, requested): (&Settings, &Group),
    sql: &str,
) -> Result<Section<'s>, ReportError> {
    let perfect = found.groups.last().filter(|last| last.key != requested.key);
    let wait = |group: Option<&Group>| {
        changed(
            group.and_then(|group| found.more_than(group, requested, WAIT)),
            1,
            "min",
        )
    };
    let mut answer = format!(
        "With requested times jobs wait {} min {}; if run times were known exactly this would change by {}",
        said(found.value(requested, WAIT), 1),
        subject.place,
        wait(perfect)
    );
    let learned = found.groups.iter().find(|group| group.key[0] == LEARNED);
    if learned.is_some() {
        answer.push_str(&format!(
            "; with a learned prediction, by {}",
            wait(learned)
        ));
    }
    answer.push('.');
    answer.push_str(found.caution(WAIT).in_full());
    let rows_of_queue = found.groups.iter().map(|group| {
        let difference = |column| {
            let differs =
                (group.key != requested.key).then(|| found.more_than(group, requested, column));
            Cell::from(differs.flatten())
        };
        vec![
            Cell::Text(subject.words(&group.key[0]).to_owned()),
            found.value(group, WAIT).into(),
            difference(WAIT),
            found.value(group, SLOWDOWN).into(),
            difference(SLOWDOWN),
        ]
    });
    let queue = Table {
        name: "worth-queue".to_owned(),
        title: "A queue, by what it plans with".to_owned(),
        columns: vec![
            Column::plain("predictor", "plans with"),
            Column::estimate("wait_minutes", "mean wait (min)", 1),
            Column::estimate("wait_difference_minutes", "more than with requests", 1),
            Column::estimate("bounded_slowdown", "mean bounded slowdown", 1),
            Column::estimate("bounded_slowdown_difference", "more than with requests", 1),
        ],
        rows: rows_of_queue.collect(),
        note: format!("{BY_WEEK} Differences are paired by week."),
        sql: sql.to_owned(),
    };
    let mut tables = vec![queue];
    if let Some((sentence, more)) = of_planner(store, source)? {
        answer.push_str(&sentence);
        tables.extend(more);
    }
    let mut moved = String::new();
    if let Some(ties) = ties::answer(store, source, subject)? {
        answer.push_str(&ties.sentence);
        tables.push(ties.table);
        moved = ties.in_short;
    }
    Ok(Section {
        id: "worth",
        question: "What are better estimates worth?".to_owned(),
        answer,
        method: "What users would do with other estimates is not known: they submit the same jobs at the same times. Exact knowledge is no bound \
                 for the mean wait: EASY backfilling is a heuristic, and shorter predictions can have shorter waits."
            .to_owned(),
        tables,
        figures: Vec::new(),
        recommendations: [
            requests(source, found, requested, perfect, &moved),
            learned.and_then(|learned| predictions(found, requested, learned, &moved)),
        ]
        .into_iter()
        .flatten()
        .collect(),
        run: Some(&source.queue),
        command: source.shows(&source.queue),
    })
}

/// Starts that are later than announced in more than this share, in percent, are worth a margin.
const MANY_LATE_PERCENT: f64 = 5.0;

/// To announce starts with a margin, where many are late.
fn margin(found: &Settings, requested: &Group) -> Option<Recommendation> {
    let late = found.value(requested, LATE)?;
    let is_much = late.low().is_some_and(|low| low > MANY_LATE_PERCENT);
    let margin = requested
        .constant(MARGIN)
        .filter(|margin| is_much && *margin >= 1.0)?;
    Some(Recommendation {
        what: format!(
            "Announce starts with a margin of {} min.",
            grouped(margin, 0)
        ),
        effect: format!(
            "As they are reserved, {} % of the jobs that are told a start begin later; with the margin nine in ten have begun by then \
             (counted over the whole log, without an interval).{}",
            said(Some(late), 1),
            found.short_caution(&[LATE])
        ),
        how:
            "In Slurm `squeue --start` shows what is reserved; the margin is for whoever reads it."
                .to_owned(),
        section: "starts",
    })
}

/// To plan with predictions, where waits become shorter by it.
fn predictions(
    found: &Settings,
    requested: &Group,
    learned: &Group,
    moved: &str,
) -> Option<Recommendation> {
    let change = found.more_than(learned, requested, WAIT)?;
    if !change.is_significant() || change.mean >= 0.0 {
        return None;
    }
    Some(Recommendation {
        what:
            "Let backfilling plan with predicted run times, where announced starts need not hold."
                .to_owned(),
        effect: format!(
            "With predictions that are learned from ended jobs the mean wait would change by {}, over weeks; {} % of the announced starts would come late, \
             beside {} % with requests.{}{moved}",
            changed(Some(change), 1, "min"),
            said(found.value(learned, LATE), 1),
            said(found.value(requested, LATE), 1),
            found.short_caution(&[WAIT, LATE])
        ),
        how: "Slurm cannot be set to do that: it plans with `--time`, at which it also ends jobs."
            .to_owned(),
        section: "worth",
    })
}

/// To ask users for better requests, where waits depend on them.
fn requests(
    source: &AdviceSource<'_>,
    found: &Settings,
    requested: &Group,
    perfect: Option<&Group>,
    moved: &str,
) -> Option<Recommendation> {
    let change = found.more_than(perfect?, requested, WAIT)?;
    let users = &source.requests.users;
    if users.is_empty() || !change.is_significant() || change.mean >= 0.0 {
        return None;
    }
    let named: Vec<&str> = users.iter().map(|user| user.name.as_str()).collect();
    let shares = users.iter().map(|user| {
        let (unused, used) = (user.unused_percent, user.used_percent);
        format!(
            "{} has {} % of all unused node-hours and uses {} % of its requests",
            user.name,
            grouped(unused, 0),
            grouped(used, 0)
        )
    });
    let shares: Vec<String> = shares.collect();
    let partition = source.requests.partition.as_ref();
    let limit = partition.map_or_else(String::new, |partition| {
        format!(
            " Nine in ten jobs of the partition {}, which has {} % of the unused node-hours, run for at most {} h: `DefaultTime` of that partition is what \
             jobs without `--time` request.",
            partition.name,
            grouped(partition.unused_percent, 0),
            grouped(partition.runtime_of_nine_in_ten.0 as f64 / 3600.0, 1)
        )
    });
    Some(Recommendation {
        what: format!(
            "Ask users for requests that are closer to run times, first {}.",
            named.join(", ")
        ),
        effect: format!(
            "With the run times of all jobs in the place of requests the mean wait would change by {}, over weeks; these users are a part of that: {}.{}{moved}",
            changed(Some(change), 1, "min"),
            shares.join("; "),
            found.short_caution(&[WAIT])
        ),
        how: format!(
            "In Slurm a request is `--time`, which a `job_submit` plugin can lower.{limit}"
        ),
        section: "worth",
    })
}

/// What a planner that overbooks would gain by better estimates: a sentence and a table.
fn of_planner(
    store: &Store,
    source: &AdviceSource<'_>,
) -> Result<Option<(String, Vec<Table>)>, ReportError> {
    let hash = &source.predictions.configuration_hash;
    let sql = planning::query(hash, "estimates.prediction", source.penalty_ratio);
    let gains = Gains::of(store, &sql)?;
    let best = |name: &str| {
        let groups = gains.settings().groups.iter();
        gains.best(groups.filter(|group| group.key[0] == name))
    };
    let (Some(none), Some(known)) = (best("none"), best("perfect")) else {
        return Ok(None);
    };
    let sentence = format!(
        " If a planner that overbooks knew them, its gain would change by {}.",
        changed(gains.percent((known, none), none), 1, "%")
    );
    let rows = ["none", "average-of-two", "perfect"]
        .into_iter()
        .filter_map(|name| {
            let group = best(name)?;
            let difference: Option<Estimate> = (group.key != none.key)
                .then(|| gains.more_than(group, none))
                .flatten();
            Some(vec![
                Cell::Text(match name {
                    "none" => "nothing but requested times and their use".to_owned(),
                    name => QUEUE.words(name).to_owned(),
                }),
                Cell::Text(group.key[1].clone()),
                gains.gain(group).into(),
                difference.into(),
            ])
        });
    let table = Table {
        name: "worth-planner".to_owned(),
        title: "A planner that overbooks, by what its slots may not be shorter than".to_owned(),
        columns: vec![
            Column::plain("prediction", "knows"),
            Column::plain("threshold", "best threshold"),
            Column::estimate("gain_vc", "gain (VC a job)", 2),
            Column::estimate("difference_vc", "more than with nothing", 2),
        ],
        rows: rows.collect(),
        note: format!(
            "{BY_WEEK} Differences are paired by week. Each row is at its own best threshold, chosen on the jobs that judge it, so gains are somewhat too high. Experiment `{}`, file `{}`.",
            source.predictions.name, source.predictions.file
        ),
        sql: sql.clone(),
    };
    let weeks = gains.settings().table("predictions-weeks", &sql);
    Ok(Some((sentence, vec![table, weeks])))
}
