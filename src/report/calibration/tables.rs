//! The tables about calibration: scores by strategy and situation, scores by threshold, every bin.

use std::fmt::Write as _;

use super::Promised;
use super::counts::{BINS, FEWEST_JOBS};
use super::groups::{Group, Groups, THRESHOLD_AXIS};
use super::sql::Question;
use crate::analysis::Analysis;
use crate::table::short;
use crate::table::{Cell, Column, Table, value_text};
use bookahead_lab::store::PofKind;

/// What every table of scores must say.
const NOTE: &str = "Intervals are of the ratio estimator over replications (batteries): the jobs of \
    one battery compete for the same nodes and are not independent. Brier score: mean of (PoF − failed)². Reference: the Brier score \
    of always predicting the share of the very same jobs that failed, which nobody knows beforehand (in-sample, so the skill is, if \
    anything, too low). Skill: 1 − Brier ÷ reference, with the jackknife's 95 % interval over \
    batteries. ECE, the expected calibration error: mean of |predicted − realised| over bins of \
    0.05, weighted by their jobs; few jobs make it too large, so its interval begins below a value \
    that is too small, with the sign of each bin from the other batteries. At low thresholds \
    promises and failures are all small, and so is every ECE: ÷ failed, it says how far off promises \
    are in percent of the share that failed. Come true: shown where the intervals lie wholly at \
    skill > 0 and at ECE ≤ 0.05, refuted where one lies wholly on the other side, else open, as with \
    fewer than 5 batteries; each row by itself.";

pub(super) fn tables(
    promised: &Promised,
    groups: &Groups,
    analysis: &Analysis,
    configuration_hash: &str,
) -> Vec<Table> {
    let of_scores = format!("{} {NOTE}", promised.about);
    let whose = promised.whose;
    let keys: Vec<&str> = groups
        .axes
        .iter()
        .map(|axis| analysis.axes[*axis].key.as_str())
        .collect();
    let policy = groups.policy_key(analysis);
    let question = |keys: &[&str]| {
        let keys: Vec<&str> = policy.into_iter().chain(keys.iter().copied()).collect();
        let question = Question {
            configuration_hash,
            source: promised.source,
            keys: &keys,
            condition: "",
        };
        [question.scores(), question.bins()]
    };
    // One query for the rows of everything together, one for those of the situations.
    let both = |which: usize| {
        let mut queries = vec![question(&[])[which].clone()];
        if !keys.is_empty() {
            queries.push(question(&keys)[which].clone());
        }
        if groups.calibrated {
            queries
                .push("-- Of the raw probabilities: the same from v_calibration_raw.".to_owned());
        }
        queries.join("\n\n")
    };
    let both_levels = || groups.whole.iter().chain(&groups.situations);
    let mut tables = vec![Table {
        name: promised.name.to_owned(),
        title: format!("Do promised risks{whose} come true?"),
        columns: group_columns(groups, policy, &keys)
            .into_iter()
            .chain(score_columns(promised))
            .collect(),
        rows: both_levels()
            .filter_map(|group| score_row(groups, analysis, group))
            .collect(),
        note: note(groups, promised, &of_scores),
        sql: both(0),
    }];
    if groups.threshold.is_some() {
        let with_threshold: Vec<&str> = keys.iter().copied().chain([THRESHOLD_AXIS]).collect();
        let mut columns = group_columns(groups, policy, &keys);
        columns.push(Column::plain(THRESHOLD_AXIS, short(THRESHOLD_AXIS)));
        columns.extend(score_columns(promised));
        tables.push(Table {
            name: format!("{}-by-threshold", promised.name),
            title: format!("Do promised risks{whose} come true, by threshold?"),
            columns,
            rows: groups
                .thresholds
                .iter()
                .filter_map(|group| score_row(groups, analysis, group))
                .collect(),
            note: note(groups, promised, &of_scores),
            sql: question(&with_threshold)[0].clone(),
        });
    }
    let mut columns = group_columns(groups, policy, &keys);
    columns.extend([
        Column::number("pof_from", "PoF above", 2),
        Column::number("pof_to", "up to", 2),
        Column::plain("jobs", promised.in_bins),
        Column::plain("batteries", "Batteries"),
        Column::number("predicted", "Mean PoF", 3),
        Column::estimate("realised", "Failed", 3),
        Column::number("gap", "Mean PoF − failed", 3),
        Column::number("killed", promised.part, 3),
    ]);
    tables.push(Table {
        name: format!("{}-bins", promised.name),
        title: format!("Promised and realised risk{whose} by bin"),
        columns,
        rows: both_levels()
            .flat_map(|group| bin_rows(groups, analysis, group))
            .collect(),
        note: note(
            groups,
            promised,
            "Bins without jobs are left out. The interval is that of the ratio estimator over the replications (batteries) that have \
             jobs in the bin, by Student's t on the logit scale; there is none where a single battery has jobs there, or where all or none of them failed.",
        ),
        sql: both(1),
    });
    tables
}

fn note(groups: &Groups, promised: &Promised, text: &str) -> String {
    let mut text = text.replace("jobs", promised.things);
    if !groups.axes.is_empty() {
        let _ = write!(
            text,
            " Each simulation is counted once in a row, however many points are read off it; rows of \"all\" hold all situations of \
             the {}, which may err in opposite directions.",
            groups.who(),
        );
    }
    if groups.calibrated {
        text.push_str(" \"raw\" is the probability before calibration, of the same jobs.");
    }
    text
}

/// Situation, strategy and, where both are there, what the probability is.
fn group_columns(groups: &Groups, policy: Option<&str>, keys: &[&str]) -> Vec<Column> {
    let mut columns: Vec<Column> = keys
        .iter()
        .map(|key| Column::plain(*key, short(key)))
        .collect();
    columns.push(match policy {
        Some(key) => Column::plain(key, short(key)),
        None => Column::plain("strategy", "Strategy"),
    });
    if groups.calibrated {
        columns.push(Column::plain("probability", "Probability"));
    }
    columns
}

fn group_cells(groups: &Groups, analysis: &Analysis, group: &Group) -> Vec<Cell> {
    let mut cells: Vec<Cell> = groups
        .axes
        .iter()
        .enumerate()
        .map(|(place, axis)| match group.places.get(place) {
            None => Cell::Text("all".to_owned()),
            Some(place) => place
                .and_then(|place| analysis.axes[*axis].values.get(place as usize))
                .into(),
        })
        .collect();
    cells.push(Cell::Text(group.strategy.clone()));
    if groups.calibrated {
        cells.push(Cell::Text(kind_name(group.kind).to_owned()));
    }
    cells
}

fn kind_name(kind: PofKind) -> &'static str {
    match kind {
        PofKind::Promised => "promised",
        PofKind::Raw => "raw",
    }
}

fn score_columns(promised: &Promised) -> Vec<Column> {
    vec![
        Column::plain("jobs", promised.counted),
        Column::plain("batteries", "Batteries"),
        Column::number("predicted", "Mean PoF", 3),
        Column::estimate("failed", "Failed", 3),
        Column::number("killed", promised.part, 3),
        Column::number("brier", "Brier", 4),
        Column::number("brier_reference", "Reference", 4),
        Column::estimate("skill", "Skill", 3),
        Column::estimate("calibration_error", "ECE", 3),
        Column::number("relative_error_percent", "ECE ÷ failed (%)", 0),
        Column::number(
            "largest_error",
            format!(
                "Largest error of bins with {FEWEST_JOBS} {}",
                promised.things
            ),
            3,
        ),
        Column::number("reliability", "Reliability", 4),
        Column::number("resolution", "Resolution", 4),
        Column::plain("come_true", "Come true"),
    ]
}

fn score_row(groups: &Groups, analysis: &Analysis, group: &Group) -> Option<Vec<Cell>> {
    let scores = group.counts.scores()?;
    let mut row = group_cells(groups, analysis, group);
    if let (Some(axis), Some(place)) = (groups.threshold, group.threshold) {
        let value = analysis.axes[axis].values.get(place as usize);
        row.push(value.map_or(Cell::Missing, |value| Cell::Text(value_text(value))));
    }
    row.extend([
        Cell::Integer(scores.jobs as i64),
        Cell::Integer(i64::from(scores.failed.count)),
        Cell::Number(scores.predicted),
        Cell::Estimate(scores.failed),
        Cell::Number(scores.killed),
        Cell::Number(scores.brier),
        Cell::Number(scores.reference),
        scores.skill.map_or(Cell::Undefined, Cell::Estimate),
        Cell::Estimate(scores.error),
        (scores.relative_error).map_or(Cell::Undefined, Cell::Number),
        scores.worst.map_or(Cell::Missing, Cell::Number),
        Cell::Number(scores.reliability),
        Cell::Number(scores.resolution),
        Cell::Text(scores.verdict().to_string()),
    ]);
    Some(row)
}

fn bin_rows(groups: &Groups, analysis: &Analysis, group: &Group) -> Vec<Vec<Cell>> {
    let bins = group.counts.bins();
    (0..BINS)
        .filter_map(|bin| {
            let (counts, realised) = (bins[bin], group.counts.realised(bin)?);
            let mut row = group_cells(groups, analysis, group);
            row.extend([
                Cell::Number(bin as f64 / BINS as f64),
                Cell::Number((bin + 1) as f64 / BINS as f64),
                Cell::Integer(counts.jobs as i64),
                Cell::Integer(i64::from(realised.count)),
                Cell::Number(counts.predicted()),
                Cell::Estimate(realised),
                Cell::Number(counts.predicted() - counts.realised()),
                Cell::Number(counts.killed as f64 / counts.jobs as f64),
            ]);
            Some(row)
        })
        .collect()
}
