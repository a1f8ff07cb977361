//! Verdicts: whether a measured value agrees with the published one.

use super::Tolerance;
use super::tables::{Expected, Found};

/// The verdict on a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The measured value lies within the tolerance, or the order agrees.
    Held,
    /// It does not; by how much.
    Missed(String),
    /// It could not be compared; why.
    NotTested(String),
}

impl Verdict {
    /// The word in tables.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Missed(_) => "missed",
            Self::NotTested(_) => "not tested",
        }
    }

    /// Whether the finding held, `None` where it was not tested; the word for programs; by how much
    /// it was missed, or why it was not tested.
    #[must_use]
    pub fn record(&self) -> (Option<bool>, &'static str, Option<&str>) {
        match self {
            Self::Held => (Some(true), "held", None),
            Self::Missed(how) => (Some(false), "missed", Some(how)),
            Self::NotTested(why) => (None, "not-tested", Some(why)),
        }
    }
}

/// The first verdict on a quantity of a table: by its tolerance.
pub(super) fn judge(expected: &Expected, tolerance: Tolerance, found: &Found) -> Verdict {
    match (expected, found) {
        (Expected::HeldOut(_), _) => {
            Verdict::NotTested("the published value is held out".to_owned())
        }
        (Expected::Value(expected), Found::Value { value, .. }) => {
            let width = tolerance.width(*expected);
            let away = (value - expected).abs();
            // Settings such as 0.35 − 0.25 must not miss a tolerance of 0.1 by the last bit.
            if away <= width + 1e-9 {
                Verdict::Held
            } else {
                Verdict::Missed(format!(
                    "{} away, {} allowed",
                    compact(away),
                    compact(width)
                ))
            }
        }
        (Expected::AtLeast { at_least }, Found::Value { value, .. }) => {
            if *value >= *at_least {
                Verdict::Held
            } else {
                Verdict::Missed(format!("{} below the bound", compact(at_least - value)))
            }
        }
        (Expected::Order(expected), Found::Order(order)) if expected == order => Verdict::Held,
        (Expected::Order(expected), Found::Order(order)) => {
            let place = |name: &String| order.iter().position(|other| other == name);
            let swapped = expected
                .iter()
                .enumerate()
                .flat_map(|(index, first)| {
                    expected[index + 1..]
                        .iter()
                        .filter(move |second| place(first) > place(second))
                })
                .count();
            Verdict::Missed(format!(
                "{swapped} of {} pairs the other way round",
                expected.len() * (expected.len() - 1) / 2
            ))
        }
        _ => Verdict::NotTested("a number and an order cannot be compared".to_owned()),
    }
}

/// A number for people: whole where it is large, two decimals where it is small.
pub(crate) fn compact(value: f64) -> String {
    if value.abs() >= 1_000.0 {
        let digits = format!("{:.0}", value.abs());
        let mut text = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        if value < 0.0 {
            format!("-{text}")
        } else {
            text
        }
    } else if value.abs() >= 100.0 {
        format!("{value:.0}")
    } else {
        let text = format!("{value:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}
