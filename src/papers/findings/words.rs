//! Numbers, places and checks as people read them.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::tables::Expected;
use super::{Check, Contrast, Finding, Fixed, PublishedValue, Quantity, Side, Tolerance, compact};
use bookahead_lab::sweep::AxisValue;
use bookahead_report::AxisFilter;
use bookahead_report::table::value_text;

/// Where on the axes something was measured: the values of the axes that a finding leaves open, in
/// the order of the run. Shows as `share 10, start factor 2`; a map in JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place(pub Vec<(String, AxisValue)>);

impl Place {
    /// ` at share 10`, or nothing where there is only one place.
    pub(super) fn at(&self) -> String {
        if self.0.is_empty() {
            String::new()
        } else {
            format!(" at {self}")
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let twin = self
                .0
                .iter()
                .any(|(other, _)| other != key && short(other) == short(key));
            let name = if twin { key.clone() } else { short(key) };
            write!(formatter, "{comma}{name} {}", value_text(value))?;
        }
        Ok(())
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The last part of a dotted key, in words.
pub(super) fn short(key: &str) -> String {
    key.rsplit('.').next().unwrap_or(key).replace('_', " ")
}

/// A number with the digits that a reader needs: small ones keep three that say something.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        "not a number".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "∞" } else { "-∞" }.to_owned()
    } else if value == 0.0 {
        "0".to_owned()
    } else if size >= 1.0 {
        compact(value)
    } else if size < 1e-4 {
        format!("{value:.1e}")
    } else {
        // From 0.1 on three decimals, from 0.01 on four, and so on.
        let decimals = if size >= 0.1 {
            3
        } else if size >= 0.01 {
            4
        } else {
            6
        };
        let text = format!("{value:.decimals$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// `21.3 ± 1.1 points`.
pub(super) fn quantity(value: f64, half_width: Option<f64>, unit: Option<&str>) -> String {
    let mut text = number(value);
    // Equal replications differ by rounding in the last bits of their mean.
    if let Some(half) = half_width.filter(|half| *half >= 1e-12 * value.abs()) {
        text.push_str(&format!(" ± {}", number(half)));
    }
    if let Some(unit) = unit {
        text.push_str(&format!(" {unit}"));
    }
    text
}

/// `3 of 33 cells`, `1 of 1 cell`.
pub(super) fn share(some: usize, all: usize, noun: &str) -> String {
    format!("{some} of {}", counted(all, noun))
}

/// `3 cells`, `1 cell`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What must hold, in the symbols of the check.
pub(super) fn expected(finding: &Finding) -> String {
    if finding.held_out {
        return "held out".to_owned();
    }
    let unit = finding.unit.as_deref();
    match &finding.check {
        Check::Value(check) => check.expected.map_or_else(String::new, around),
        Check::Cell(check) => match &check.expected {
            Expected::Value(value) => around(PublishedValue {
                value: *value,
                tolerance: check.tolerance,
            }),
            Expected::AtLeast { at_least } => format!("at least {}", number(*at_least)),
            Expected::Order(names) => names.join(" > "),
            Expected::HeldOut(_) => String::new(),
        },
        Check::Bound(check) => {
            let parts: Vec<String> = [
                ("at least", check.at_least),
                ("at most", check.at_most),
                ("equals", check.equals),
            ]
            .into_iter()
            .filter_map(|(words, bound)| Some(format!("{words} {}", quantity(bound?, None, unit))))
            .collect();
            parts.join(" and ") + &quantified("cells", &check.filter, check.exceptions)
        }
        Check::Trend(check) => {
            let slack = if check.slack > 0.0 {
                format!(", slack {}", quantity(check.slack, None, unit))
            } else {
                String::new()
            };
            format!(
                "{} with {}{slack}{}",
                check.direction.map_or("", |direction| direction.words()),
                short(&check.along),
                quantified("curves", &check.filter, check.exceptions)
            )
        }
        Check::Compare(check) => {
            let sign = check.relation.map_or("", |relation| relation.sign());
            let [left, right] = sides(&check.left, &check.right);
            let around = if check.tolerance > 0.0 {
                format!(" ± {}", number(check.tolerance))
            } else {
                String::new()
            };
            let statement = match check.by {
                Contrast::Difference(0.0) if around.is_empty() => format!("{left} {sign} {right}"),
                Contrast::Difference(by) => {
                    format!(
                        "{left} − {right} {sign} {}{around}",
                        quantity(by, None, unit.filter(|_| around.is_empty()))
                    )
                }
                Contrast::Ratio(ratio) => {
                    format!("{left} / {right} {sign} {}{around}", number(ratio))
                }
            };
            let lasting = match check.replications {
                Some(share) => format!(
                    ", in at least {} % of the replications",
                    number(share * 100.0)
                ),
                None => String::new(),
            };
            statement + &lasting + &quantified("cells", &check.filter, check.exceptions)
        }
        Check::Points(check) => match check.at_least {
            Some(low) => format!("rank correlation at least {}", number(low)),
            None => String::new(),
        },
    }
}

fn around(around: PublishedValue) -> String {
    let value = number(around.value);
    match around.tolerance {
        Tolerance::Absolute(0.0) | Tolerance::Relative(0.0) => format!("{value} exactly"),
        Tolerance::Absolute(width) => format!("{value} ± {}", number(width)),
        Tolerance::Relative(share) => format!("{value} ± {} %", number(share * 100.0)),
        Tolerance::Range { widened: 0.0, .. } => format!("{value} among the replications"),
        Tolerance::Range { widened, .. } => {
            let percent = number(widened * 100.0);
            format!("{value} among the replications, whose range is widened by {percent} %")
        }
    }
}

/// For which cells, and how many of them.
fn quantified(noun: &str, filter: &AxisFilter, exceptions: f64) -> String {
    let mut text = String::new();
    if exceptions > 0.0 {
        text.push_str(&format!(
            ", in {} % of the {noun}",
            number(100.0 - exceptions * 100.0)
        ));
    }
    for (index, (key, values)) in filter.iter().enumerate() {
        let values: Vec<String> = values.iter().map(value_text).collect();
        let joint = if index == 0 { ", for" } else { "," };
        text.push_str(&format!("{joint} {} {}", short(key), values.join("/")));
    }
    text
}

/// What is on the left and on the right: the measure, the run where they differ, and what is fixed.
fn sides(left: &Side, right: &Side) -> [String; 2] {
    let name = |side: &Side| {
        let measure = Quantity::parse(&side.measure).to_string();
        let mut inside: Vec<String> = Vec::new();
        if left.run != right.run {
            inside.push(side.run.clone());
        }
        let fixed: Vec<(String, AxisValue)> = (&side.at as &Fixed)
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if !fixed.is_empty() {
            inside.push(Place(fixed).to_string());
        }
        if inside.is_empty() {
            measure
        } else {
            format!("{measure} ({})", inside.join(", "))
        }
    };
    [name(left), name(right)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_keep_digits_that_say_something() {
        for (value, text) in [
            (21.304, "21.3"),
            (0.8812, "0.881"),
            (0.0123, "0.0123"),
            (0.00012, "0.00012"),
            (-0.000_001_2, "-1.2e-6"),
            (-0.0, "0"),
            (28_279.6, "28,280"),
            (f64::NAN, "not a number"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn a_place_names_axes_shortly_unless_two_would_sound_alike() {
        let place = |keys: [&str; 2]| {
            Place(
                keys.map(|key| (key.to_owned(), AxisValue::Integer(2)))
                    .to_vec(),
            )
            .to_string()
        };
        assert_eq!(
            place(["reservations.share", "reservations.start_factor"]),
            "share 2, start factor 2"
        );
        assert_eq!(place(["a.seed", "b.seed"]), "a.seed 2, b.seed 2");
    }
}
