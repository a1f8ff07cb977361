//! The values of an axis: written one by one, or as a range.

use std::ops::Range;

use toml::Spanned;

use crate::keys::problem::{ProblemKind, Problems};
use crate::sweep::document::{check_kind, node_of};
use crate::sweep::keys::{Key, Kind};
use crate::sweep::raw::{Number, RawRange};
use crate::sweep::spec::AxisValue;

/// A sweep may have so many points at most; more is a slip in a range, or a sweep that should be
/// several.
pub const MAXIMUM_POINTS: u64 = 2_000_000;

/// One value of a dimension for one key.
#[derive(Clone, Debug)]
pub(in crate::sweep) struct Cell {
    /// The value as TOML, to be put into the tree.
    pub(in crate::sweep) text: String,
    pub(in crate::sweep) span: Range<usize>,
    pub(in crate::sweep) value: AxisValue,
}

pub(super) fn cell(
    key: &'static Key,
    value: &Spanned<toml::Value>,
    problems: &mut Problems,
) -> Option<Cell> {
    let text = value.get_ref().to_string();
    let node = node_of(&text, value.span())?;
    if !check_kind(key, &node, problems) {
        return None;
    }
    let shown = axis_value(key, value.get_ref());
    drop(node);
    Some(Cell {
        text,
        span: value.span(),
        value: shown,
    })
}

/// The value as the store keeps it: a whole number on an axis of real numbers is a real number.
pub(super) fn axis_value(key: &Key, value: &toml::Value) -> AxisValue {
    match value {
        toml::Value::Integer(number) if key.kind == Kind::Real => AxisValue::Real(*number as f64),
        toml::Value::Integer(number) => AxisValue::Integer(*number),
        toml::Value::Float(number) => AxisValue::Real(*number),
        toml::Value::Boolean(flag) => AxisValue::Flag(*flag),
        toml::Value::String(text) => AxisValue::Text(text.clone()),
        other => AxisValue::Text(other.to_string()),
    }
}

/// The values of `range = { from, to, step }`: `round12(from + k · step)`, the end included; with a
/// tolerance in the place of the step those that a refinement may try.
pub(super) fn range_cells(
    key: &'static Key,
    range: &Spanned<RawRange>,
    problems: &mut Problems,
) -> Option<Vec<Cell>> {
    let span = range.span();
    let RawRange {
        from,
        to,
        step,
        tolerance,
    } = *range.get_ref();
    let mut wrong = |kind, message: String, help: &str| {
        problems.add(kind, key.path, span.clone(), message, help);
        None
    };
    let step = match (step, tolerance) {
        (Some(step), None) | (None, Some(step)) => step,
        (given, _) => {
            let message = match given {
                Some(_) => "`step` and `tolerance` exclude each other",
                None => "a range without a step",
            };
            let help = "give `step`, or `tolerance` where [select] refines the axis";
            return wrong(ProblemKind::Conflict, message.to_owned(), help);
        }
    };
    if !matches!(key.kind, Kind::Integer | Kind::Real) {
        let message = format!("a range on a key whose value is {}", key.kind.words());
        return wrong(ProblemKind::WrongType, message, "use `values = […]` here");
    }
    let whole = matches!(
        (from, to, step),
        (Number::Integer(_), Number::Integer(_), Number::Integer(_))
    );
    if key.kind == Kind::Integer && !whole {
        let message = "a range with a fraction on a key whose value is a whole number".to_owned();
        return wrong(
            ProblemKind::WrongType,
            message,
            "use whole numbers for from, to and step",
        );
    }
    let (first, last, width) = (from.real(), to.real(), step.real());
    if !(first.is_finite() && last.is_finite() && width.is_finite()) {
        return wrong(
            ProblemKind::OutOfRange,
            "a range that is not finite".to_owned(),
            "use finite numbers",
        );
    }
    if width <= 0.0 {
        return wrong(
            ProblemKind::EmptyAxis,
            format!("step {width} leads nowhere"),
            "the step must be above 0",
        );
    }
    if first > last {
        let message = format!("an empty range: from {first} is above to {last}");
        return wrong(ProblemKind::EmptyAxis, message, "from must not be above to");
    }
    let steps = ((last - first) / width + 1e-9).floor();
    if steps >= MAXIMUM_POINTS as f64 {
        let message = format!("a range of {:.0} values", steps + 1.0);
        let help = format!("a sweep may have {MAXIMUM_POINTS} points at most: widen the step");
        return wrong(ProblemKind::TooManyPoints, message, &help);
    }
    let cells = (0..=steps as u32).map(|k| {
        let value = match (whole, from, step) {
            (true, Number::Integer(from), Number::Integer(step)) => {
                toml::Value::Integer(from + i64::from(k) * step)
            }
            _ => toml::Value::Float(round12(first + f64::from(k) * width)),
        };
        Cell {
            text: value.to_string(),
            span: span.clone(),
            value: axis_value(key, &value),
        }
    });
    Some(cells.collect())
}

/// The nearest number to `value` rounded to twelve decimals, so that 0.05 + 2 · 0.05 is written,
/// and is, 0.15.
#[must_use]
pub fn round12(value: f64) -> f64 {
    format!("{value:.12}").parse().unwrap_or(value)
}
