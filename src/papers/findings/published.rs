//! Published numbers that can be drawn over measured curves: a value or a bound of one measure at
//! values of axes.

use super::quantity::Quantity;
use super::tables::{CellCheck, Expected, Quantity as CellQuantity};
use super::{BoundCheck, Check, FindingsFile};
use bookahead_lab::sweep::AxisValue;
use bookahead_report::{AxisFilter, Published, PublishedNumber, PublishedOfRun};

impl FindingsFile {
    /// The published numbers of a run, by the stem of its configuration. Held-out numbers are left
    /// out.
    #[must_use]
    pub fn published_of(&self, run: &str) -> PublishedOfRun {
        let mut found = PublishedOfRun::default();
        for finding in &self.findings {
            let mut add = |measure: &str, at: AxisFilter, number: PublishedNumber| {
                // Deviations, extremes and quotients are other quantities than the curve of the
                // mean.
                if matches!(Quantity::parse(measure), Quantity::Mean(_)) {
                    found.numbers.push(Published {
                        id: finding.id.clone(),
                        measure: measure.to_owned(),
                        at,
                        number,
                    });
                }
            };
            match &finding.check {
                Check::Value(check) if check.run == run => {
                    if let Some(near) = check.expected {
                        let width = near.tolerance.width(near.value);
                        let at = check.at.iter();
                        let at = at.map(|(key, value)| (key.clone(), vec![value.clone()]));
                        let within = [near.value - width, near.value + width];
                        let value = near.value;
                        add(
                            &check.measure,
                            at.collect(),
                            PublishedNumber::Value { value, within },
                        );
                    }
                }
                Check::Bound(check) if check.run == run => {
                    for number in bounds(check) {
                        add(&check.measure, check.filter.clone(), number);
                    }
                }
                Check::Cell(check) if check.runs.first().is_some_and(|own| own == run) => {
                    if let Some((measure, at, number)) = self.cell(check) {
                        add(measure, at, number);
                    }
                }
                _ => {}
            }
            let named = match &finding.check {
                Check::Cell(_) => Vec::new(),
                check => check.sources(),
            };
            let mut measures: Vec<&str> = named
                .into_iter()
                .filter(|(of, _)| self.made_of(of) == run)
                .filter_map(|(_, quantity)| match Quantity::parse(quantity) {
                    Quantity::Mean(measure) => Some(measure),
                    _ => None,
                })
                .collect();
            measures.sort_unstable();
            measures.dedup();
            found
                .measures
                .extend(measures.into_iter().map(str::to_owned));
        }
        found
    }

    /// A number of a table: measure, place and value. What is the highest over all settings stands
    /// at the setting that the paper names as the best one; where it names none, or the strategy is
    /// the same at all of them, it is said of every setting.
    fn cell(&self, check: &CellCheck) -> Option<(&'static str, AxisFilter, PublishedNumber)> {
        let layout = self.cells.as_ref()?;
        let (measure, best) = drawn_as(check.quantity)?;
        let setting = &layout.experiment(&check.experiment)?.setting;
        let strategy = check.strategy.as_deref()?;
        let mut at = AxisFilter::from([(
            layout.strategy.clone(),
            vec![AxisValue::Text(strategy.to_owned())],
        )]);
        let overbooks = layout.studies.overbooks(strategy);
        if let Some(family) = &check.family {
            at.insert(layout.family.clone(), vec![AxisValue::Text(family.clone())]);
        }
        let place = check.at.or_else(|| {
            let best = best.filter(|_| overbooks)?;
            self.findings.iter().find_map(|other| match &other.check {
                Check::Cell(other) if is_of_same_cell(other, check) && other.quantity == best => {
                    match other.expected {
                        Expected::Value(place) => Some(place),
                        _ => None,
                    }
                }
                _ => None,
            })
        });
        if let Some(place) = place {
            at.insert(setting.clone(), vec![AxisValue::Real(place)]);
        }
        let number = match check.expected {
            Expected::Value(value) => {
                let width = check.tolerance.width(value);
                let within = [value - width, value + width];
                PublishedNumber::Value { value, within }
            }
            Expected::AtLeast { at_least } => PublishedNumber::AtLeast(at_least),
            Expected::Order(_) | Expected::HeldOut(_) => return None,
        };
        Some((measure, at, number))
    }
}

fn is_of_same_cell(one: &CellCheck, other: &CellCheck) -> bool {
    let key = |check: &CellCheck| {
        (
            check.experiment.clone(),
            check.family.clone(),
            check.strategy.clone(),
        )
    };
    key(one) == key(other)
}

/// The measure whose curve a quantity of a cell lies on, and the quantity that says at which
/// setting; `None` for what is computed from several cells.
fn drawn_as(quantity: CellQuantity) -> Option<(&'static str, Option<CellQuantity>)> {
    Some(match quantity {
        CellQuantity::Gain => ("gain", None),
        CellQuantity::MaxGain => ("gain", Some(CellQuantity::BestThreshold)),
        CellQuantity::Fees => ("fees", None),
        CellQuantity::Penalties => ("forfeited", None),
        CellQuantity::Successful => ("successful", None),
        CellQuantity::MaxSuccessful => {
            let best = CellQuantity::MaxSuccessfulThreshold;
            ("successful", Some(best))
        }
        CellQuantity::Failed => ("failed", None),
        _ => return None,
    })
}

fn bounds(check: &BoundCheck) -> Vec<PublishedNumber> {
    let exact = check.equals.map(|value| PublishedNumber::Value {
        value,
        within: [value, value],
    });
    let most = check.at_most.map(PublishedNumber::AtMost);
    let least = check.at_least.map(PublishedNumber::AtLeast);
    [exact, most, least].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::MeasureNames;
    use crate::findings::parse;
    use bookahead_studies::STUDIES;

    fn text(name: &str) -> AxisValue {
        AxisValue::Text(name.to_owned())
    }

    const DISSERTATION: &str = include_str!("../../../configs/birkenheuer2012/findings.toml");

    #[test]
    fn a_printed_maximum_stands_at_the_printed_best_threshold_with_its_tolerance() {
        let file = parse("findings.toml", DISSERTATION, STUDIES, MeasureNames::Any).unwrap();
        let published_of = file.published_of("ctc-pof");
        let of = |id: &str| published_of.numbers.iter().find(|known| known.id == id);
        let best = of("ctc/pof/runtime/heuristic-overbooking/max-gain").unwrap();
        assert_eq!(best.measure, "gain");
        assert_eq!(best.at["acceptance.pof_max"], vec![AxisValue::Real(0.15)]);
        let PublishedNumber::Value { value, within } = best.number else {
            panic!("{best:?}");
        };
        assert_eq!(value, 28_280.0);
        assert!((within[0] - 24_038.0).abs() < 1e-6 && (within[1] - 32_522.0).abs() < 1e-6);
        // What does not overbook earns the same at every threshold.
        let same = of("ctc/pof/runtime/heuristic-planning/max-gain").unwrap();
        assert!(!same.at.contains_key("acceptance.pof_max"));
        // A surplus is no gain, and another trace another run.
        assert!(of("ctc/pof/runtime/heuristic-overbooking/surplus").is_none());
        assert!(
            published_of
                .numbers
                .iter()
                .all(|known| known.id.starts_with("ctc/pof/"))
        );
    }

    #[test]
    fn values_and_bounds_of_curves_keep_their_places_and_quotients_are_left_out() {
        let file = parse(
            "findings.toml",
            r#"
[[finding]]
id = "v"
section = "1"
statement = "s"
provenance = "printed"
[finding.value]
run = "e"
measure = "slowdown"
at = { "a" = 2, "b" = "x" }
expected = 10
tolerance = 1
[[finding]]
id = "b"
section = "1"
statement = "s"
provenance = "stated"
[finding.bound]
run = "e"
measure = "slowdown"
where = { "b" = ["x", "y"] }
at_most = 20
[[finding]]
id = "q"
section = "1"
statement = "s"
provenance = "printed"
[finding.value]
run = "e"
measure = "failed / overbooked"
expected = 0.1
tolerance = 0.05
[[finding]]
id = "o"
section = "1"
statement = "s"
provenance = "printed"
[finding.value]
run = "other"
measure = "slowdown"
expected = 3
tolerance = 0
"#,
            STUDIES,
            MeasureNames::Any,
        )
        .unwrap();
        let published_of = file.published_of("e");
        let ids: Vec<&str> = published_of
            .numbers
            .iter()
            .map(|known| known.id.as_str())
            .collect();
        assert_eq!(ids, ["v", "b"]);
        assert_eq!(published_of.measures, ["slowdown", "slowdown"]);
        let (a, x, y) = (AxisValue::Real(2.0), text("x"), text("y"));
        let at = |known: &Published, own: &AxisValue| {
            known.holds_at(|key| match key {
                "a" => Some(&a),
                "b" => Some(own),
                _ => None,
            })
        };
        assert!(at(&published_of.numbers[0], &x) && !at(&published_of.numbers[0], &y));
        assert!(at(&published_of.numbers[1], &y));
        assert_eq!(
            published_of.numbers[1].number,
            PublishedNumber::AtMost(20.0)
        );
    }
}
