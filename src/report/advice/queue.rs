//! What better estimates are worth, and how reliable the starts are that a queue announces.

use super::samples::{Group, groups, rows};
use super::{AdviceSource, Section, changed, said};
use crate::report::section::ReportError;
use crate::report::sql::this_run;
use crate::report::table::{Cell, Column, Table};
use crate::store::Store;

// Columns of the query behind its key and the replication.
const WAIT: usize = 0;
const SLOWDOWN: usize = 1;
const PROMISED: usize = 2;
const ERROR: usize = 3;
const LATE: usize = 4;
const LATE_BY: usize = 5;
const MARGIN: usize = 6;

/// The measures of these columns.
const MEASURES: [(&str, &str); 7] = [
    ("queue_wait_minutes", "wait_minutes"),
    ("bounded_slowdown", "bounded_slowdown"),
    ("promised_percent", "promised_percent"),
    ("promise_error_seconds / 60", "error_minutes"),
    ("promise_late_percent", "late_percent"),
    ("promise_late_seconds / 60", "late_minutes"),
    ("promise_margin_p90_seconds / 60", "margin_minutes"),
];

/// What is varied in a queue's experiment, and what is said of it.
struct Subject {
    /// The axis by which the queue knows more or less of run times.
    axis: &'static str,
    /// Its values in words; the first keeps to the requested time, the last knows the run time.
    words: &'static [(&'static str, &'static str)],
    /// Where jobs wait.
    place: &'static str,
    /// What an announced start is, and for whom there is one.
    announced: &'static str,
    /// Who has one.
    announced_to: &'static str,
    /// What a mean and its interval are taken over.
    means: &'static str,
    /// How differences are paired.
    paired: &'static str,
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
    means: "Means over batteries ± half of a 95 % interval (Student's t).",
    paired: "by battery",
};

/// The machine of a machine file.
const MACHINE: Subject = Subject {
    axis: "workload.exact_estimates",
    words: &[("0", "requested time"), ("1", "the run time itself")],
    place: "on this machine",
    announced: "The announced start is the first reservation that a job got; how many jobs of a partition have one at a time is `backfilling.depth` of the machine file.",
    announced_to: "Announced: jobs that waited with a reservation.",
    means: "Means over runs of the whole log whose submissions are moved by up to a minute, each run by others, ± half of a 95 % interval (Student's t): what the seconds of submission \
            decide, not how other months would differ.",
    paired: "by run",
};

impl Subject {
    fn of(source: &AdviceSource<'_>) -> &'static Self {
        match source.machine {
            Some(_) => &MACHINE,
            None => &QUEUE,
        }
    }

    fn words<'w>(&self, value: &'w str) -> &'w str {
        let known = self.words.iter().find(|(name, _)| *name == value);
        known.map_or(value, |(_, words)| words)
    }
}

/// The experiment's runs, by what the queue plans with.
fn query(configuration_hash: &str, subject: &Subject) -> String {
    let columns: Vec<String> = MEASURES
        .iter()
        .map(|(measure, column)| {
            let (name, scale) = measure.split_once(' ').unwrap_or((measure, ""));
            let scale = if scale.is_empty() {
                String::new()
            } else {
                format!(" {scale}.0")
            };
            format!("\n    max(value) FILTER (WHERE measure = '{name}'){scale} AS {column}")
        })
        .collect();
    format!(
        "SELECT json_extract(axes, '$.\"{}\"') AS predictor, replication,{}
FROM v_measure WHERE run = {} GROUP BY place ORDER BY place",
        subject.axis,
        columns.join(","),
        this_run(configuration_hash)
    )
}

fn predictions_query(configuration_hash: &str) -> String {
    format!(
        "SELECT estimates_prediction AS prediction, acceptance_pof_max AS threshold, replication, gain
FROM points WHERE state = 'done' AND run = {} ORDER BY place",
        this_run(configuration_hash)
    )
}

/// The announced starts, and the worth of estimates.
pub(super) fn sections<'s>(
    store: &Store,
    source: &'s AdviceSource<'s>,
) -> Result<Vec<Section<'s>>, ReportError> {
    let subject = Subject::of(source);
    let sql = query(&source.queue.configuration_hash, subject);
    let found = groups(&rows(store, &sql)?, 1);
    let Some(requested) = found.first() else {
        return Ok(Vec::new());
    };
    let mut sections = vec![starts(source, subject, (&found, requested), &sql)];
    sections.push(worth(store, source, subject, (&found, requested), &sql)?);
    Ok(sections)
}

fn starts<'s>(
    source: &'s AdviceSource<'s>,
    subject: &Subject,
    (found, requested): (&[Group], &Group),
    sql: &str,
) -> Section<'s> {
    let mut answer = format!(
        "A queue that plans with requested times announces a start to {} % of the jobs; {} % of these start later, and start and announcement \
         are {} min apart.",
        said(requested.mean(PROMISED), 1),
        said(requested.mean(LATE), 1),
        said(requested.mean(ERROR), 0)
    );
    let learned = found.iter().rev().find(|group| {
        let others = [subject.words.first(), subject.words.last()];
        let mut others = others.into_iter().flatten();
        others.all(|(name, _)| *name != group.key[0])
    });
    if let Some(learned) = learned {
        answer.push_str(&format!(
            " With a {} {} % start later, by {} min in the mean.",
            subject.words(&learned.key[0]),
            said(learned.mean(LATE), 1),
            said(learned.mean(LATE_BY), 0)
        ));
    }
    let rows = found.iter().map(|group| {
        let mut row = vec![Cell::Text(subject.words(&group.key[0]).to_owned())];
        row.extend(
            [PROMISED, ERROR, LATE, LATE_BY, MARGIN].map(|column| Cell::from(group.mean(column))),
        );
        row
    });
    let table = Table {
        name: "announced-starts".to_owned(),
        title: "Announced and real starts, by what the queue plans with".to_owned(),
        columns: vec![
            Column::plain("predictor", "plans with"),
            Column::estimate("promised_percent", "announced (%)", 1),
            Column::estimate("error_minutes", "apart (min)", 0),
            Column::estimate("late_percent", "later (%)", 1),
            Column::estimate("late_minutes", "later by (min)", 0),
            Column::estimate("margin_minutes", "margin (min)", 0),
        ],
        rows: rows.collect(),
        note: format!(
            "{} {} Later by: mean over those that were later. Margin: what must be added to an announcement so that nine of ten have started by then.",
            subject.means, subject.announced_to
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
        tables: vec![table],
        figures: Vec::new(),
        run: Some(&source.queue),
        command: source.shows(&source.queue),
    }
}

fn worth<'s>(
    store: &Store,
    source: &'s AdviceSource<'s>,
    subject: &Subject,
    (found, requested): (&[Group], &Group),
    sql: &str,
) -> Result<Section<'s>, ReportError> {
    let perfect = found.last().filter(|last| last.key != requested.key);
    let wait = |group: Option<&Group>| {
        changed(
            group.and_then(|group| group.more_than(requested, WAIT)),
            1,
            "min",
        )
    };
    let mut answer = format!(
        "With requested times jobs wait {} min {}; if run times were known exactly this would change by {}",
        said(requested.mean(WAIT), 1),
        subject.place,
        wait(perfect)
    );
    let learned = found.iter().find(|group| group.key[0] == LEARNED);
    if learned.is_some() {
        answer.push_str(&format!(
            "; with a learned prediction, by {}",
            wait(learned)
        ));
    }
    answer.push('.');
    let rows_of_queue = found.iter().map(|group| {
        let difference = |column| {
            let differs = (group.key != requested.key).then(|| group.more_than(requested, column));
            Cell::from(differs.flatten())
        };
        vec![
            Cell::Text(subject.words(&group.key[0]).to_owned()),
            group.mean(WAIT).into(),
            difference(WAIT),
            group.mean(SLOWDOWN).into(),
            difference(SLOWDOWN),
        ]
    });
    let note = |subject: &Subject| {
        format!(
            "{} Differences are paired {}.",
            subject.means, subject.paired
        )
    };
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
        note: note(subject),
        sql: sql.to_owned(),
    };
    let sql = predictions_query(&source.predictions.configuration_hash);
    let settings = groups(&rows(store, &sql)?, 2);
    let best = |name: &str| {
        let own = settings.iter().filter(|group| group.key[0] == name);
        own.max_by(|one, other| {
            let gain = |group: &Group| {
                group
                    .signed_mean(0)
                    .map_or(f64::NEG_INFINITY, |gain| gain.mean)
            };
            gain(one).total_cmp(&gain(other))
        })
    };
    let none = best("none");
    let mut tables = vec![queue];
    if let (Some(none), Some(known)) = (none, best("perfect")) {
        let scale = none
            .signed_mean(0)
            .map(|gain| gain.mean)
            .filter(|gain| *gain > 0.0);
        let more = known
            .more_than(none, 0)
            .zip(scale)
            .map(|(more, whole)| more.scaled(100.0 / whole));
        answer.push_str(&format!(
            " If a planner that overbooks knew them, its gain would change by {}.",
            changed(more, 1, "%")
        ));
        let rows = ["none", "average-of-two", "perfect"]
            .into_iter()
            .filter_map(|name| {
                let group = best(name)?;
                let difference = (group.key != none.key).then(|| group.more_than(none, 0));
                Some(vec![
                    Cell::Text(match name {
                        "none" => "nothing but requested times and their use".to_owned(),
                        name => QUEUE.words(name).to_owned(),
                    }),
                    Cell::Text(group.key[1].clone()),
                    group.signed_mean(0).into(),
                    difference.flatten().into(),
                ])
            });
        tables.push(Table {
            name: "worth-planner".to_owned(),
            title: "A planner that overbooks, by what its slots may not be shorter than".to_owned(),
            columns: vec![
                Column::plain("prediction", "knows"),
                Column::plain("threshold", "best threshold"),
                Column::estimate("gain_vc", "gain (VC a battery)", 0),
                Column::estimate("difference_vc", "more than with nothing", 0),
            ],
            rows: rows.collect(),
            note: format!(
                "{} Each row is at its own best threshold, chosen on the batteries that judge it, so gains are somewhat too high. Experiment `{}`, file `{}`.",
                note(&QUEUE), source.predictions.name, source.predictions.file
            ),
            sql,
        });
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
        run: Some(&source.queue),
        command: source.shows(&source.queue),
    })
}
