//! Compares one curve with another, cell by cell, with paired replications.

use super::curves::{Field, Pair, Part, combinations};
use super::evaluate::{Judged, ROUNDING, Sources, Survey};
use super::words::{number, quantity};
use super::{CompareCheck, Contrast, Finding, Place, Relation, Side};
use bookahead_lab::sweep::AxisValue;
use bookahead_report::AxisFilter;

/// Judges each pair of cells that agree on the axes over which it is quantified.
pub(super) fn compare(
    sources: &Sources<'_>,
    finding: &Finding,
    check: &CompareCheck,
) -> Result<Survey, String> {
    let left = side(sources, check, &check.left)?;
    let right = side(sources, check, &check.right)?;
    let is_open =
        |side: &Side, key: &str| !side.at.contains_key(key) && sources.has_axis(&side.run, key);
    for (name, key) in check
        .filter
        .keys()
        .map(|key| ("where", key))
        .chain(check.for_each.iter().flatten().map(|key| ("for_each", key)))
    {
        if !is_open(&check.left, key) && !is_open(&check.right, key) {
            return Err(format!(
                "`{name}` names `{key}`, an axis that neither run leaves open"
            ));
        }
    }
    let joint = joint(check, &left, &right)?;
    let mut survey = Survey::new("cell");
    let sizes: Vec<usize> = joint.iter().map(|axis| axis.values.len()).collect();
    for index in combinations(&sizes) {
        let place = Place(
            joint
                .iter()
                .zip(&index)
                .filter(|(axis, _)| axis.values.len() > 1)
                .map(|(axis, index)| (axis.key.clone(), axis.values[*index].clone()))
                .collect(),
        );
        let cells = [(&left, Which::Left), (&right, Which::Right)].map(|(field, which)| {
            // An axis that is not quantified over has one value.
            let mut own = vec![0; field.axes.len()];
            for (axis, index) in joint.iter().zip(&index) {
                if axis.sides.contains(&which)
                    && let Some(at) = field.axes.iter().position(|part| part.key == axis.key)
                    && let Some(position) = field.axes[at].position(&axis.values[*index])
                {
                    own[at] = position;
                }
            }
            field.cell(&own)
        });
        match cells {
            [Some(left), Some(right)] => {
                survey
                    .judged
                    .push(judge(finding, check, place, &Pair::new(left, right)));
            }
            _ => survey.missing.push(place),
        }
    }
    survey.line = line(&survey, finding, check);
    Ok(survey)
}

/// A side of a comparison with what `where` says about the axes that it leaves open.
fn side<'s>(
    sources: &'s Sources<'_>,
    check: &CompareCheck,
    side: &Side,
) -> Result<Field<'s>, String> {
    let filter: AxisFilter = check
        .filter
        .iter()
        .filter(|(key, _)| !side.at.contains_key(*key) && sources.has_axis(&side.run, key))
        .map(|(key, values)| (key.clone(), values.clone()))
        .collect();
    sources.field(&side.run, &side.measure, &side.at, &filter)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Left,
    Right,
}

/// An axis over which a comparison is quantified.
struct Joint {
    key: String,
    values: Vec<AxisValue>,
    sides: &'static [Which],
}

fn joint(check: &CompareCheck, left: &Field<'_>, right: &Field<'_>) -> Result<Vec<Joint>, String> {
    let wanted = |part: &Part| match &check.for_each {
        Some(keys) => keys.contains(&part.key),
        None => true,
    };
    for (field, side) in [(left, &check.left), (right, &check.right)] {
        if let Some(part) = field
            .axes
            .iter()
            .find(|part| !part.is_fixed && !wanted(part) && part.values.len() > 1)
        {
            return Err(format!(
                "run `{}` leaves `{}` open with {} values: name it in `at`, `where` or `for_each`",
                side.run,
                part.key,
                part.values.len()
            ));
        }
    }
    let open = |field: &Field<'_>, key: &str| {
        field
            .axes
            .iter()
            .find(|part| part.key == key && !part.is_fixed)
            .cloned()
    };
    let mut axes = Vec::new();
    for part in left
        .axes
        .iter()
        .filter(|part| !part.is_fixed && wanted(part))
    {
        let (values, sides): (Vec<AxisValue>, &'static [Which]) = match open(right, &part.key) {
            Some(other) => (
                part.values
                    .iter()
                    .filter(|value| other.position(value).is_some())
                    .cloned()
                    .collect(),
                &[Which::Left, Which::Right],
            ),
            None => (part.values.clone(), &[Which::Left]),
        };
        if values.is_empty() {
            return Err(format!(
                "runs `{}` and `{}` have no value of `{}` in common",
                check.left.run, check.right.run, part.key
            ));
        }
        axes.push(Joint {
            key: part.key.clone(),
            values,
            sides,
        });
    }
    for part in right
        .axes
        .iter()
        .filter(|part| !part.is_fixed && wanted(part) && open(left, &part.key).is_none())
    {
        axes.push(Joint {
            key: part.key.clone(),
            values: part.values.clone(),
            sides: &[Which::Right],
        });
    }
    Ok(axes)
}

fn judge(finding: &Finding, check: &CompareCheck, at: Place, pair: &Pair) -> Judged {
    let unit = finding.unit.as_deref();
    let (value, half_width, bound, scale, unit_of_value) = match check.by {
        Contrast::Difference(by) => {
            let (value, half) = pair.difference();
            (value, half, by, pair.scale().max(by.abs()), unit)
        }
        Contrast::Ratio(ratio) => {
            let (value, half) = pair.ratio();
            let scale = if value.is_finite() { value.abs() } else { 0.0 };
            (value, half, ratio, scale.max(ratio.abs()), None)
        }
    };
    let rounding = ROUNDING * scale;
    let (margin, held, problem) = match check.relation {
        None => (f64::NAN, true, String::new()),
        Some(relation) => relation.judge(value, bound, check.tolerance, rounding),
    };
    let held = held && !value.is_nan();
    let mut detail = format!(
        "{} ({} against {}",
        quantity(value, half_width, unit_of_value),
        number(pair.left),
        number(pair.right)
    );
    if finding.held_out {
        detail.push_str(&format!(
            ", ratio {}",
            quantity(pair.ratio().0, pair.ratio().1, None)
        ));
    }
    detail.push_str(&pair.remark());
    detail.push(')');
    if !held && !value.is_nan() {
        detail.push_str(&format!(", {problem}"));
    }
    let (margin, held) = match check.replications.zip(check.relation) {
        Some((wanted, relation)) => {
            let holds = |(left, right): &(f64, f64)| {
                let value = match check.by {
                    Contrast::Difference(_) => left - right,
                    Contrast::Ratio(_) => left / right,
                };
                let rounding = ROUNDING * left.abs().max(right.abs()).max(bound.abs());
                relation.judge(value, bound, check.tolerance, rounding).1
            };
            let (kept, all) = pair.replications(holds);
            detail.push_str(&format!(", in {kept} of {all} replications"));
            let share = kept as f64 / all.max(1) as f64;
            (share - wanted, all > 0 && share >= wanted - ROUNDING)
        }
        None => (margin, held),
    };
    Judged {
        at,
        value,
        half_width,
        replications: pair.count(),
        margin,
        held,
        detail,
    }
}

impl Relation {
    /// Margin, whether it holds, and what is wrong where it does not.
    fn judge(self, value: f64, bound: f64, tolerance: f64, rounding: f64) -> (f64, bool, String) {
        let above = value - bound;
        let shown = number(bound);
        match self {
            Self::AtLeast => (
                above,
                above >= -rounding,
                format!("{} below {shown}", number(-above)),
            ),
            Self::Above => (
                above,
                above > rounding,
                not_beyond(-above, rounding, "below", "above", &shown),
            ),
            Self::AtMost => (
                -above,
                above <= rounding,
                format!("{} above {shown}", number(above)),
            ),
            Self::Below => (
                -above,
                above < -rounding,
                not_beyond(above, rounding, "above", "below", &shown),
            ),
            Self::Equals => (
                tolerance - above.abs(),
                above.abs() <= tolerance + rounding,
                format!(
                    "{} away from {shown}, {} allowed",
                    number(above.abs()),
                    number(tolerance)
                ),
            ),
        }
    }
}

/// `1.2 below 20`, or `not above 20` where it is equal.
fn not_beyond(by: f64, rounding: f64, wrong: &str, right: &str, bound: &str) -> String {
    if by.abs() <= rounding {
        format!("not {right} {bound}")
    } else {
        format!("{} {wrong} {bound}", number(by))
    }
}

/// The pair that holds most narrowly, or fails by most.
fn line(survey: &Survey, finding: &Finding, check: &CompareCheck) -> String {
    let (noun, unit) = match check.by {
        Contrast::Difference(_) => ("difference", finding.unit.as_deref()),
        Contrast::Ratio(_) => ("ratio", None),
    };
    let bound = match check.by {
        Contrast::Difference(bound) | Contrast::Ratio(bound) => bound,
    };
    if let [only] = survey.judged.as_slice() {
        return format!("{noun} {}", only.detail);
    }
    // At equal numbers the first place is named.
    let least = |key: &dyn Fn(f64) -> f64| {
        survey
            .numbers()
            .min_by(|left, right| key(left.value).total_cmp(&key(right.value)))
    };
    let smallest = || ("smallest", least(&|value| value));
    let largest = || ("largest", least(&|value| -value));
    let found = match check.relation {
        Some(Relation::AtLeast | Relation::Above) => vec![smallest()],
        Some(Relation::AtMost | Relation::Below) => vec![largest()],
        Some(Relation::Equals) => vec![("farthest", least(&|value| -(value - bound).abs()))],
        None => vec![smallest(), largest()],
    };
    let parts: Vec<String> = found
        .into_iter()
        .filter_map(|(word, judged)| {
            let judged = judged?;
            Some(format!(
                "{word} {noun} {}{}",
                quantity(judged.value, judged.half_width, unit),
                judged.at.at()
            ))
        })
        .collect();
    parts.join(", ")
}
