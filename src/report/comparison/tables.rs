//! The tables of a comparison.

mod provenance;

pub(super) use self::provenance::{inputs, points, runs, settings};
use super::{
    Candidate, ComparedRun, Comparison, Difference, Family, Judgement, Method, Overall, Pairing,
    Quantity, distinct, judge, sql,
};
use crate::statistics::{Estimate, is_shown};
use crate::table::short;
use crate::table::{Cell, Column, Table};

fn text(value: impl Into<String>) -> Cell {
    Cell::Text(value.into())
}

fn table(
    name: &str,
    title: impl Into<String>,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
) -> Table {
    Table {
        name: name.to_owned(),
        title: title.into(),
        columns,
        rows,
        note: String::new(),
        sql: String::new(),
    }
}

/// That means or differences are over less than there should be, for the title of a table.
fn incomplete(comparison: &Comparison<'_>) -> &'static str {
    let any = comparison.runs.iter().any(ComparedRun::is_incomplete);
    if any { " (incomplete)" } else { "" }
}

/// What a difference is, in a word.
fn verdict(difference: &Difference<'_>, judgement: Option<Judgement>) -> &'static str {
    match difference.difference {
        _ if matches!(difference.method, Method::Refused(_)) => "not comparable",
        None if difference.pairs == 0 && !difference.is_refused => "no pairs",
        _ if difference.is_refused => "refused: results are missing",
        _ if !difference.differs() => "equal",
        None => "no values",
        Some(_) if !difference.gaps.is_empty() => "unequal replications",
        Some(estimate) => match judgement {
            None if estimate.count > 1 => "no interval",
            None => "one replication",
            Some(judgement) if !is_shown(judgement.adjusted) => "not significant",
            Some(_) if estimate.mean > 0.0 => "higher",
            Some(_) => "lower",
        },
    }
}

/// Every quantity over all pairs, one row a run and quantity; those that are 0 or not defined in
/// both runs throughout are left out.
pub(super) fn overall(comparison: &Comparison<'_>, name: &str, wanted: &[Quantity]) -> Table {
    let several = comparison.others().len() > 1;
    let reference = &comparison.reference().label;
    let mut columns = Vec::new();
    if several {
        columns.push(Column::plain("run", "Run"));
    }
    let second = match comparison.others() {
        [other] => other.label.as_str(),
        _ => "This run",
    };
    columns.extend([
        Column::plain("measure", "Quantity"),
        Column::estimate("difference", "Difference ± 95 %", 0).mixed(),
    ]);
    let are_neighbours = comparison.pairings.iter().any(Pairing::are_neighbours);
    if are_neighbours {
        columns.extend(log_columns("difference"));
    }
    columns.extend([
        Column::plain("verdict", "Verdict"),
        Column::number("percent", "%", 1),
        Column::number("reference", reference, 0).mixed(),
        Column::number("value", second, 0).mixed(),
        Column::number("p", "p", 0).mixed(),
        Column::number("p_holm", "p (Holm)", 0).mixed(),
        Column::plain("family", "Judged with"),
        Column::plain("method", "Method"),
        Column::plain("n", "n"),
        Column::plain("n_value", format!("n: {second}")),
        Column::plain("pairs", "Pairs"),
        Column::plain("equal", "Equal"),
    ]);
    let mut rows = Vec::new();
    for (at, run) in comparison.others().iter().enumerate() {
        for quantity in wanted {
            let Some(row) = comparison.overall(at, quantity) else {
                continue;
            };
            let is_nothing = !row.difference.differs()
                && row.difference.first.unwrap_or(0.0) == 0.0
                && !row.difference.is_refused;
            if is_nothing && !quantity.is_gain() {
                continue;
            }
            let mut cells = Vec::new();
            if several {
                cells.push(text(&run.label));
            }
            cells.push(text(quantity.title));
            cells.push(row.difference.difference.into());
            if are_neighbours {
                cells.extend(of_log(&row.difference));
            }
            cells.extend(numbers(row));
            rows.push(cells);
        }
    }
    let title = format!("Differences from {reference}{}", incomplete(comparison));
    Table {
        note: format!(
            "Run minus {reference}, paired by the jobs and failures that both saw; ± is half the 95 % interval of the mean difference \
             (Student's t; Welch: of two independent sets of replications). The unit is the replication: its points share jobs and failures, \
             so they are averaged first, and n counts pairs of replications, of Welch's the replications of each run. Points that share one \
             result count once, and so do replications that repeat another one. Equal: pairs whose numbers are the same bit by bit. The primary quantity of a study is declared before any run and \
             judged by itself; p (Holm) of the others is corrected for their {} distinct differences, and one that repeats the test of \
             another counts once. The verdict follows from p (Holm) at 5 %. Means of a quantity leave out strategies in which it is the same in every pair.{}",
            comparison.tested(Family::Others),
            if are_neighbours { ABOUT_THE_LOG } else { "" },
        ),
        sql: wanted.first().map_or(String::new(), |quantity| {
            sql::differences(comparison, quantity, false)
        }),
        ..table(name, title, columns, rows)
    }
}

/// What the columns of [`log_columns`] are.
const ABOUT_THE_LOG: &str = " The replications are neighbouring batteries of one log. r: the correlation of the difference of a battery with \
    that of the next; independent: as many independent batteries would say as much of the log; about the log: the 95 % interval by \
    blocks of neighbours. p is by the wider of both intervals.";

/// What the differences of neighbouring batteries say of their log.
fn log_columns(of: &str) -> [Column; 3] {
    [
        Column::estimate(format!("{of}_log"), "About the log", 0).mixed(),
        Column::number(format!("{of}_correlation"), "r", 2),
        Column::number(format!("{of}_independent"), "Independent", 1),
    ]
}

fn of_log(difference: &Difference<'_>) -> [Cell; 3] {
    let Some((estimate, log)) = difference.difference.zip(difference.log) else {
        return [const { Cell::Missing }; 3];
    };
    let about = Estimate {
        interval: Some(log.interval),
        ..estimate
    };
    [
        Some(about).into(),
        Cell::Number(log.correlation),
        Cell::Number(log.effective),
    ]
}

fn numbers(row: &Overall<'_>) -> [Cell; 12] {
    let difference = &row.difference;
    let number = |value: Option<f64>| value.map_or(Cell::Missing, Cell::Number);
    let [count, count_second] = difference.replications;
    [
        text(verdict(difference, row.judgement)),
        percent(difference.difference, difference.first),
        number(difference.first),
        number(difference.second),
        number(difference.p_value()),
        number(row.judgement.map(|judgement| judgement.adjusted)),
        text(row.judgement.map_or(String::new(), judged_with)),
        text(difference.method.name()),
        Cell::Integer(i64::from(count)),
        Cell::Integer(i64::from(count_second)),
        Cell::Integer(difference.pairs as i64),
        Cell::Integer(difference.equal as i64),
    ]
}

/// With which others a difference was judged, or which one it repeats.
fn judged_with(judgement: Judgement) -> String {
    judgement.repeats.map_or_else(
        || judgement.family.name().to_owned(),
        |original| format!("same as {original}"),
    )
}

/// In percent of the reference; undefined where that is not positive.
fn percent(difference: Option<Estimate>, first: Option<f64>) -> Cell {
    match difference.zip(first) {
        None => Cell::Missing,
        Some((estimate, first)) if first > 0.0 => Cell::Number(100.0 * estimate.mean / first),
        Some(_) => Cell::Undefined,
    }
}

/// The main quantities at every combination of the axes that a run shares with the first.
pub(super) fn combinations(comparison: &Comparison<'_>) -> Table {
    let several = comparison.others().len() > 1;
    let reference = &comparison.reference().label;
    let mut axes: Vec<String> = Vec::new();
    for pairing in &comparison.pairings {
        axes.extend(
            pairing
                .axes
                .iter()
                .filter(|axis| !axes.contains(axis))
                .cloned()
                .collect::<Vec<_>>(),
        );
    }
    let mut columns = Vec::new();
    if several {
        columns.push(Column::plain("run", "Run"));
    }
    columns.extend(axes.iter().map(|axis| Column::plain(axis, short(axis))));
    let first = comparison.main.first();
    if let Some(quantity) = first {
        let decimals = quantity.decimals;
        columns.extend([
            Column::number(
                "reference",
                format!("{}: {reference}", quantity.title),
                decimals,
            ),
            Column::number("value", "this run", decimals),
        ]);
    }
    columns.extend(comparison.main.iter().map(|quantity| {
        let title = format!("Δ {}", quantity.title);
        Column::estimate(
            format!("{}_difference", quantity.name),
            title,
            quantity.decimals,
        )
    }));
    let of_neighbours = first.filter(|_| comparison.pairings.iter().any(Pairing::are_neighbours));
    if let Some(quantity) = of_neighbours {
        columns.extend(log_columns(&format!("{}_difference", quantity.name)));
    }
    columns.extend([
        Column::number("p_holm", "p (Holm)", 0).mixed(),
        Column::plain("verdict", "Verdict"),
        Column::plain("method", "Method"),
        Column::plain("n", "n"),
    ]);
    let mut rows: Vec<(Vec<Cell>, Vec<Difference<'_>>)> = Vec::new();
    for (pairing, run) in comparison.pairings.iter().zip(comparison.others()) {
        for group in pairing.groups(&pairing.axes) {
            let mut cells = Vec::new();
            if several {
                cells.push(text(&run.label));
            }
            for axis in &axes {
                let at = pairing.axes.iter().position(|own| own == axis);
                cells.push(at.and_then(|at| group.values[at].as_ref()).into());
            }
            let main = comparison.main.iter();
            rows.push((
                cells,
                main.map(|quantity| Difference::of(quantity, &group))
                    .collect(),
            ));
        }
    }
    // One quantity at every combination: a family of its own.
    let answered = first.map_or("", |quantity| quantity.name);
    let candidates = rows
        .iter()
        .enumerate()
        .filter_map(|(at, (_, differences))| {
            Some(Candidate {
                place: (0, at),
                quantity: answered,
                difference: differences.first()?,
            })
        });
    let judged = judge(&candidates.collect::<Vec<_>>(), answered);
    let tested = distinct(&judged, Family::Primary);
    let mut judged = judged.into_iter();
    let rows: Vec<Vec<Cell>> = rows
        .into_iter()
        .map(|(mut cells, differences)| {
            let number = |value: Option<f64>| value.map_or(Cell::Missing, Cell::Number);
            let judgement = differences.first().and_then(|_| judged.next().flatten());
            if let Some(difference) = differences.first() {
                cells.extend([number(difference.first), number(difference.second)]);
            }
            cells.extend(
                differences
                    .iter()
                    .map(|difference| Cell::from(difference.difference)),
            );
            let first = differences.first();
            if let Some(first) = first.filter(|_| of_neighbours.is_some()) {
                cells.extend(of_log(first));
            }
            let count = first
                .and_then(|first| first.difference)
                .map_or(0, |estimate| estimate.count);
            cells.extend([
                number(judgement.map(|judgement| judgement.adjusted)),
                text(first.map_or("no values", |first| verdict(first, judgement))),
                text(first.map_or("", |first| first.method.name())),
                Cell::Integer(i64::from(count)),
            ]);
            cells
        })
        .collect();
    let name = first.map_or("nothing", |quantity| quantity.title);
    let title = format!("By shared settings{}", incomplete(comparison));
    Table {
        note: format!(
            "Δ: run minus {reference}, mean over replications ± half the 95 % interval (Student's t). p (Holm) and the verdict are of {name}, \
             corrected for the {tested} rows that were tested; the other intervals are not corrected.{}",
            if of_neighbours.is_some() {
                ABOUT_THE_LOG
            } else {
                ""
            },
        ),
        sql: first.map_or(String::new(), |quantity| {
            sql::differences(comparison, quantity, true)
        }),
        ..table("combinations", title, columns, rows)
    }
}
