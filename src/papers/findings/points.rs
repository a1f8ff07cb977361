//! Compares many published points with the measured ones: whether both have the same order.
//!
//! A file of published points (`configs/PAPER/NAME.csv`, or `NAME.csv.gz`) has one line for each
//! point. Columns named as axes of a run give its place, the others hold published numbers. An
//! empty number was not published. Lines that begin with `#` name the source.

use std::collections::BTreeMap;

use super::PointsCheck;
use super::curves::CurveCell;
use super::evaluate::{Judged, ROUNDING, Sources, Survey};
use super::words::{Place, counted, number};
use bookahead_lab::sweep::{Axis, AxisValue};
use bookahead_report::table::value_text;

/// A file of published points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedPoints {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Points of which both sides are known, `(published, measured)`, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// What is along both axes.
    pub measure: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

impl PublishedPoints {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// Says which line is wrong: not as many fields as the header has.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let wrong = |error: csv::Error| match error.kind() {
            csv::ErrorKind::UnequalLengths {
                pos: Some(place),
                expected_len,
                len,
            } => format!("line {} has {len} fields, not {expected_len}", place.line()),
            _ => error.to_string(),
        };
        let fields = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
        let header: Vec<String> = fields(reader.headers().map_err(wrong)?);
        if header.is_empty() {
            return Err("it has no header".to_owned());
        }
        let rows = reader
            .records()
            .map(|record| Ok(fields(&record.map_err(wrong)?)));
        Ok(Self {
            header,
            rows: rows.collect::<Result<_, String>>()?,
        })
    }

    fn place_of(&self, column: &str) -> Option<usize> {
        self.header.iter().position(|name| name == column)
    }
}

/// Text that two ways to write a value have in common: `100` and `100.0` are the same.
fn canonical(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) => value.to_string(),
        Err(_) => text.to_owned(),
    }
}

fn canonical_value(value: &AxisValue) -> String {
    match value {
        AxisValue::Text(text) => text.clone(),
        AxisValue::Real(value) => value.to_string(),
        value => canonical(&value_text(value)),
    }
}

/// Judges the rank correlation of all points of which both sides are known.
pub(super) fn points(
    sources: &Sources<'_>,
    check: &PointsCheck,
    published: Option<&PublishedPoints>,
) -> Result<(Survey, Scatter), String> {
    let name = &check.points;
    let published = published.ok_or_else(|| format!("there is no file of points `{name}`"))?;
    let column = published.place_of(&check.column);
    let column = column.ok_or_else(|| format!("`{name}` has no column `{}`", check.column))?;
    let (axes, cells) = sources.cells(&check.run, &check.measure)?;
    let keys = keys(axes, published)
        .map_err(|key| format!("`{name}` does not say which `{key}` its points have"))?;
    let measured = measured(&keys, cells);
    let mut scatter = Scatter {
        measure: check.measure.clone(),
        points: Vec::new(),
    };
    let (mut unpublished, mut missing) = (0, Vec::new());
    for row in &published.rows {
        let Ok(expected) = row[column].parse::<f64>() else {
            unpublished += 1;
            continue;
        };
        let at: Vec<String> = keys
            .iter()
            .map(|(_, place)| canonical(&row[*place]))
            .collect();
        match measured.get(&at) {
            Some(value) => scatter.points.push((expected, *value)),
            None => missing.push(Place(Vec::new())),
        }
    }
    let mut survey = Survey::new("point");
    let Some(correlation) = rank_correlation(&scatter.points) else {
        return Err(format!(
            "run `{}` has fewer than two of the points",
            check.run
        ));
    };
    let detail = describe(&scatter.points, correlation, unpublished);
    let margin = check.at_least.map_or(f64::NAN, |low| correlation - low);
    survey.line = detail.clone();
    survey.missing = missing;
    survey.judged.push(Judged {
        at: Place(Vec::new()),
        value: correlation,
        half_width: None,
        replications: 1,
        margin,
        held: check.at_least.is_none() || margin >= -ROUNDING,
        detail,
    });
    Ok((survey, scatter))
}

/// The axes that distinguish points, with their columns; the error is an axis with several values
/// that has no column.
fn keys<'a>(
    axes: &'a [Axis],
    published: &PublishedPoints,
) -> Result<Vec<(&'a str, usize)>, &'a str> {
    let mut keys = Vec::new();
    for axis in axes {
        match published.place_of(&axis.key) {
            Some(place) => keys.push((axis.key.as_str(), place)),
            None if axis.values.len() > 1 => return Err(&axis.key),
            None => {}
        }
    }
    Ok(keys)
}

/// The mean of each cell by its place on these axes.
fn measured(keys: &[(&str, usize)], cells: &[CurveCell]) -> BTreeMap<Vec<String>, f64> {
    let place = |cell: &CurveCell| -> Option<Vec<String>> {
        let value = |key: &&str| cell.values.get(*key).map(canonical_value);
        keys.iter().map(|(key, _)| value(key)).collect()
    };
    let one = |cell: &CurveCell| Some((place(cell)?, cell.estimate.mean));
    cells.iter().filter_map(one).collect()
}

/// What is published of a point, or measured.
type Side = fn(&(f64, f64)) -> f64;

/// One line: the correlation, how far measured numbers are from the published ones, and where the
/// best of either side stands on the other.
fn describe(points: &[(f64, f64)], correlation: f64, unpublished: usize) -> String {
    let mut ratios: Vec<f64> = points.iter().map(|(left, right)| right / left).collect();
    ratios.sort_by(f64::total_cmp);
    let quantile = |share: f64| ratios[((ratios.len() - 1) as f64 * share).round() as usize];
    let mut text = format!(
        "{} over {}; measured ÷ published {} (median; 5 to 95 %: {} to {})",
        number(correlation),
        counted(points.len(), "point"),
        number(quantile(0.5)),
        number(quantile(0.05)),
        number(quantile(0.95)),
    );
    let sides: [Side; 2] = [|point| point.0, |point| point.1];
    let least = |side: Side| {
        let found = points.iter().min_by(|a, b| side(a).total_cmp(&side(b)));
        found.copied().unwrap_or_default()
    };
    let rank =
        |side: Side, value: f64| 1 + points.iter().filter(|point| side(point) < value).count();
    let best_published = least(sides[0]);
    let best_measured = least(sides[1]);
    text.push_str(&format!(
        "; the least published one, {}, is measured as {} and ranks {} here; the least measured one, {}, was published as {} and ranks {} there",
        number(best_published.0),
        number(best_published.1),
        rank(sides[1], best_published.1),
        number(best_measured.1),
        number(best_measured.0),
        rank(sides[0], best_measured.0),
    ));
    if unpublished > 0 {
        text.push_str(&format!(
            "; {} left out, as nothing complete was published",
            counted(unpublished, "point")
        ));
    }
    text
}

/// Spearman's rank correlation; equal values share the mean of their ranks. `None` for fewer than
/// two points, or where one side does not vary.
fn rank_correlation(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 2 {
        return None;
    }
    let left = ranks(points.iter().map(|point| point.0));
    let right = ranks(points.iter().map(|point| point.1));
    let middle = (points.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    let scale = (product(&left, &left) * product(&right, &right)).sqrt();
    (scale > 0.0).then(|| product(&left, &right) / scale)
}

fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut done = 0;
    for equal in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let mean = done as f64 + (equal.len() as f64 + 1.0) / 2.0;
        for place in equal {
            ranks[*place] = mean;
        }
        done += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::super::tests::Curves;
    use super::super::{Verdict, evaluate, parse};
    use super::*;
    use crate::findings::MeasureNames;
    use bookahead_studies::STUDIES;

    #[test]
    fn equal_values_share_the_mean_of_their_ranks() {
        let found = ranks([3.0, 1.0, 3.0, 2.0].into_iter());
        assert_eq!(found, [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn a_rank_correlation_is_that_of_the_orders() {
        let of = |right: [f64; 4]| {
            let points: Vec<(f64, f64)> = [1.0, 2.0, 3.0, 4.0].into_iter().zip(right).collect();
            rank_correlation(&points)
        };
        assert_eq!(of([1.0, 10.0, 100.0, 1e9]), Some(1.0));
        assert_eq!(of([4.0, 3.0, 2.0, 1.0]), Some(-1.0));
        // Ranks 2, 1, 4, 3: 1 − 6 · 4 / (4 · 15) = 0.6.
        assert!((of([2.0, 1.0, 9.0, 3.0]).unwrap() - 0.6).abs() < 1e-12);
        assert_eq!(of([5.0; 4]), None);
    }

    const FINDING: &str = r#"
[[finding]]
id = "rank"
section = "1"
statement = "The order is the published one."
provenance = "derived"
[finding.points]
run = "main"
measure = "makespan"
points = "published"
column = "days"
at_least = 0.9
"#;

    fn judged(points: &str, at_least: &str) -> super::super::FindingResult {
        let axis = [
            AxisValue::Integer(1),
            AxisValue::Real(2.5),
            AxisValue::Integer(30),
        ];
        let at = |place: usize| [("share", axis[place].clone())];
        let curves = Curves::default()
            .run("main", &[("share", axis.to_vec())])
            .cell("main", "makespan", &at(0), &[10.0])
            .cell("main", "makespan", &at(1), &[30.0])
            .cell("main", "makespan", &at(2), &[20.0]);
        let text = FINDING.replace("0.9", at_least);
        let mut file = parse("findings.toml", &text, STUDIES, MeasureNames::Any).unwrap();
        let points = PublishedPoints::parse(points).unwrap();
        file.published.insert("published".to_owned(), points);
        evaluate(&file, &curves, None).remove(0)
    }

    #[test]
    fn points_are_found_by_their_place_on_the_axes_however_it_is_written() {
        let found = judged("# source\nshare,days\n2.5,3\n1.0,1\n30,2\n", "0.9");
        assert_eq!(found.verdict, Verdict::Held, "{found:?}");
        let scatter = found.scatter.unwrap();
        assert_eq!(scatter.points, [(3.0, 30.0), (1.0, 10.0), (2.0, 20.0)]);
        assert!(
            found.measured.starts_with("1 over 3 points"),
            "{}",
            found.measured
        );
    }

    #[test]
    fn another_order_is_missed_and_what_was_not_published_is_left_out_and_said() {
        let found = judged("share,days\n1,3\n2.5,\n30,2\n", "0.9");
        assert!(matches!(found.verdict, Verdict::Missed(_)), "{found:?}");
        assert_eq!(found.judged[0].value, -1.0);
        assert!(
            found.measured.contains("1 point left out"),
            "{}",
            found.measured
        );
    }

    #[test]
    fn what_was_not_measured_and_columns_that_there_are_not_leave_it_untested() {
        let found = judged("share,days\n1,1\n2.5,3\n7,9\n", "0.9");
        assert!(matches!(found.verdict, Verdict::NotTested(_)), "{found:?}");
        let found = judged("share,hours\n1,1\n", "0.9");
        let Verdict::NotTested(why) = &found.verdict else {
            panic!("{found:?}");
        };
        assert!(why.contains("no column `days`"), "{why}");
        let found = judged("days\n1\n", "0.9");
        let Verdict::NotTested(why) = &found.verdict else {
            panic!("{found:?}");
        };
        assert!(why.contains("which `share`"), "{why}");
        let error = PublishedPoints::parse("# of a paper\na,b\n1,2\n1\n").unwrap_err();
        assert_eq!(error, "line 4 has 1 fields, not 2");
        assert!(PublishedPoints::parse("# nothing\n").is_err());
    }
}
