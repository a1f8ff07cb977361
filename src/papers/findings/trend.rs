//! Curves that rise or fall along an axis.

use super::curves::{CurveCell, Pair, Part, combinations};
use super::evaluate::{Judged, ROUNDING, Sources, Survey};
use super::words::{number, quantity, short};
use super::{Direction, Finding, Fixed, TrendCheck};
use bookahead_report::table::value_text;

/// Judges each combination of the other axes as one curve.
pub(super) fn trend(
    sources: &Sources<'_>,
    finding: &Finding,
    check: &TrendCheck,
) -> Result<Survey, String> {
    let field = sources.field(&check.run, &check.measure, &Fixed::new(), &check.filter)?;
    let Some(along) = field.axes.iter().position(|part| part.key == check.along) else {
        return Err(format!(
            "run `{}` has no axis `{}` to go along",
            check.run, check.along
        ));
    };
    let part = field.axes[along].clone();
    if part.values.len() < 2 {
        return Err(format!("`{}` has only one value", check.along));
    }
    let order = part.ascending();
    let mut sizes = field.sizes();
    sizes[along] = 1;
    let mut survey = Survey::new("curve");
    let mut back: f64 = 0.0;
    for mut index in combinations(&sizes) {
        let mut at = field.place(&index);
        at.0.retain(|(key, _)| *key != check.along);
        let curve: Option<Vec<&CurveCell>> = order
            .iter()
            .map(|step| {
                index[along] = *step;
                field.cell(&index)
            })
            .collect();
        let Some(cells) = curve else {
            survey.missing.push(at);
            continue;
        };
        let curve = Curve {
            check,
            unit: finding.unit.as_deref(),
            names: order.iter().map(|step| name(&part, *step)).collect(),
            cells,
        };
        let (judged, adverse) = curve.judge(at);
        back = back.max(adverse);
        survey.judged.push(judged);
    }
    survey.line = line(&survey, finding, check, back);
    Ok(survey)
}

/// One curve: its cells in order, with the names of their places along the axis.
struct Curve<'c> {
    check: &'c TrendCheck,
    unit: Option<&'c str>,
    names: Vec<String>,
    cells: Vec<&'c CurveCell>,
}

impl Curve<'_> {
    /// The curve judged, and the largest step that it takes the wrong way (0 where it takes none).
    fn judge(&self, at: super::Place) -> (Judged, f64) {
        let means: Vec<f64> = self.cells.iter().map(|cell| cell.estimate.mean).collect();
        let last = means.len() - 1;
        let change = means[last] - means[0];
        let ends = Pair::new(self.cells[last], self.cells[0]);
        let everybody = |cell: &CurveCell| cell.estimate.count == ends.count();
        // Over some of the replications only, the interval would belong to another mean.
        let half_width = (everybody(self.cells[0]) && everybody(self.cells[last]))
            .then(|| ends.difference().1)
            .flatten();
        let mut judged = Judged {
            at,
            value: change,
            half_width,
            replications: ends.count(),
            margin: f64::NAN,
            held: false,
            detail: self.ends(&means),
        };
        if let Some(place) = means.iter().position(|mean| mean.is_nan()) {
            judged.value = f64::NAN;
            judged.half_width = None;
            judged.detail = format!("not a number at {}", self.names[place]);
            return (judged, 0.0);
        }
        let Some(direction) = self.check.direction else {
            judged.held = true;
            return (judged, 0.0);
        };
        let (sign, is_strict) = match direction {
            Direction::Rises => (1.0, true),
            Direction::Falls => (-1.0, true),
            Direction::DoesNotFall => (1.0, false),
            Direction::DoesNotRise => (-1.0, false),
        };
        let rounding = ROUNDING
            * means
                .iter()
                .fold(0.0, |size: f64, mean| size.max(mean.abs()));
        let slack = self.check.slack;
        let (place, step) = means
            .windows(2)
            .map(|pair| sign * (pair[1] - pair[0]))
            .enumerate()
            .min_by(|left, right| left.1.total_cmp(&right.1))
            .unwrap_or((0, 0.0));
        let whole = if is_strict {
            sign * change
        } else {
            sign * change + slack
        };
        let steps_hold = step + slack >= -rounding;
        let whole_holds = if is_strict {
            whole > rounding
        } else {
            whole >= -rounding
        };
        judged.margin = whole.min(step + slack);
        judged.held = steps_hold && whole_holds;
        if !steps_hold {
            judged.detail = format!(
                "{} by {} from {} to {} ({} to {}), {} allowed",
                if sign > 0.0 { "falls" } else { "rises" },
                quantity(-step, None, self.unit),
                self.names[place],
                self.names[place + 1],
                number(means[place]),
                number(means[place + 1]),
                number(slack)
            );
        } else if !whole_holds {
            let not = if is_strict {
                format!(
                    "does not {} as a whole",
                    if sign > 0.0 { "rise" } else { "fall" }
                )
            } else {
                format!(
                    "{} as a whole, {} allowed",
                    if sign > 0.0 { "falls" } else { "rises" },
                    number(slack)
                )
            };
            judged.detail = format!("{}, {not}", self.ends(&means));
        }
        (judged, (-step).max(0.0))
    }

    /// `from 12 at share 10 to 15 at share 100`.
    fn ends(&self, means: &[f64]) -> String {
        let last = means.len() - 1;
        format!(
            "from {} at {} to {} at {}",
            quantity(means[0], None, self.unit),
            self.names[0],
            quantity(means[last], None, self.unit),
            self.names[last]
        )
    }
}

fn name(part: &Part, place: usize) -> String {
    format!("{} {}", short(&part.key), value_text(&part.values[place]))
}

/// The curve that changes least in its direction, and the largest step against it.
fn line(survey: &Survey, finding: &Finding, check: &TrendCheck, back: f64) -> String {
    let unit = finding.unit.as_deref();
    let (sign, word, against) = match check.direction {
        Some(Direction::Falls | Direction::DoesNotRise) => (-1.0, "fall", "up"),
        Some(Direction::Rises | Direction::DoesNotFall) | None => (1.0, "rise", "down"),
    };
    let Some(least) = survey
        .numbers()
        .min_by(|left, right| (sign * left.value).total_cmp(&(sign * right.value)))
    else {
        return String::new();
    };
    let (superlative, place) = if survey.judged.len() > 1 {
        ("smallest ", least.at.at())
    } else {
        ("", String::new())
    };
    let mut line = format!(
        "{superlative}{word} {}{place}",
        quantity(sign * least.value, least.half_width, unit)
    );
    if check.direction.is_some() && back > 0.0 {
        line.push_str(&format!(
            ", largest step {against} {}",
            quantity(back, None, unit)
        ));
    }
    line
}
