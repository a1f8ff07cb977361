//! The checks of findings: what each table may say, and whether it can be a check.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::values::{filter, finite, fixed, not_negative, nothing_published, share};
use crate::findings::{
    BoundCheck, CompareCheck, Contrast, Fixed, PointsCheck, PublishedValue, Relation, Side,
    Tolerance, TrendCheck, ValueCheck,
};
use bookahead_report::AxisFilter;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawValue {
    run: String,
    measure: String,
    #[serde(default, deserialize_with = "fixed")]
    at: Fixed,
    expected: Option<f64>,
    tolerance: Option<f64>,
    relative: Option<f64>,
    within: Option<Within>,
    rounding: Option<f64>,
    widened: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Within {
    Range,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCompare {
    left: Side,
    right: Side,
    relation: Option<Relation>,
    by: Option<f64>,
    ratio: Option<f64>,
    tolerance: Option<f64>,
    for_each: Option<Vec<String>>,
    #[serde(default, rename = "where", deserialize_with = "filter")]
    filter: AxisFilter,
    #[serde(default)]
    exceptions: f64,
    replications: Option<f64>,
}

impl RawValue {
    pub(super) fn resolve(self, held_out: bool) -> Result<ValueCheck, String> {
        let numbers = [
            ("expected", self.expected),
            ("tolerance", self.tolerance),
            ("relative", self.relative),
            ("rounding", self.rounding),
            ("widened", self.widened),
        ];
        let expected = if held_out {
            nothing_published(&numbers)?;
            None
        } else {
            for (name, number) in [("rounding", self.rounding), ("widened", self.widened)] {
                if number.is_some() && self.within.is_none() {
                    return Err(format!("`{name}` goes with `within` only"));
                }
            }
            let tolerance = match (self.tolerance, self.relative, self.within) {
                (Some(width), None, None) => Tolerance::Absolute(not_negative("tolerance", width)?),
                (None, Some(share), None) => Tolerance::Relative(not_negative("relative", share)?),
                (None, None, Some(Within::Range)) => Tolerance::Range {
                    rounding: not_negative("rounding", self.rounding.unwrap_or(0.0))?,
                    widened: not_negative("widened", self.widened.unwrap_or(0.0))?,
                },
                _ => {
                    return Err(
                        "give exactly one of `tolerance`, `relative` and `within`".to_owned()
                    );
                }
            };
            let value = self
                .expected
                .ok_or("`expected` is missing; only a finding that is `held_out` has none")?;
            Some(PublishedValue {
                value: finite("expected", value)?,
                tolerance,
            })
        };
        Ok(ValueCheck {
            run: self.run,
            measure: self.measure,
            at: self.at,
            expected,
        })
    }
}

impl BoundCheck {
    /// The check itself, where it can be one.
    pub(super) fn resolve(self, held_out: bool) -> Result<Self, String> {
        let numbers = [
            ("at_least", self.at_least),
            ("at_most", self.at_most),
            ("equals", self.equals),
        ];
        for (name, number) in numbers {
            number.map_or(Ok(0.0), |number| finite(name, number))?;
        }
        match (self.at_least, self.at_most, self.equals) {
            _ if held_out => nothing_published(&numbers)?,
            (None, None, None) => {
                return Err("give `at_least`, `at_most`, both, or `equals`".to_owned());
            }
            (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
                return Err("`equals` stands alone, without `at_least` and `at_most`".to_owned());
            }
            (Some(low), Some(high), None) if low > high => {
                return Err(format!("`at_least` {low} is above `at_most` {high}"));
            }
            _ => {}
        }
        share(self.exceptions)?;
        Ok(self)
    }
}

impl TrendCheck {
    /// The check itself, where it can be one.
    pub(super) fn resolve(mut self, held_out: bool) -> Result<Self, String> {
        if held_out {
            self.direction = None;
        } else if self.direction.is_none() {
            return Err(
                "`direction` is missing: rises, falls, does-not-fall or does-not-rise".to_owned(),
            );
        }
        not_negative("slack", self.slack)?;
        share(self.exceptions)?;
        Ok(self)
    }
}

impl RawCompare {
    pub(super) fn resolve(self, held_out: bool) -> Result<CompareCheck, String> {
        let numbers = [
            ("by", self.by),
            ("ratio", self.ratio),
            ("tolerance", self.tolerance),
            ("replications", self.replications),
        ];
        if held_out {
            nothing_published(&numbers)?;
        } else if self.relation.is_none() {
            return Err("`relation` is missing: one of >=, >, <=, < and ==".to_owned());
        }
        let by = match (self.by, self.ratio) {
            (Some(_), Some(_)) => {
                return Err(
                    "give `by` (left − right) or `ratio` (left / right), not both".to_owned(),
                );
            }
            (None, Some(ratio)) => Contrast::Ratio(finite("ratio", ratio)?),
            (by, None) => Contrast::Difference(finite("by", by.unwrap_or(0.0))?),
        };
        if self.tolerance.is_some() && self.relation != Some(Relation::Equals) {
            return Err("`tolerance` goes with the relation == only".to_owned());
        }
        let (left, right, filter) = (self.left, self.right, self.filter);
        let for_each = self.for_each.as_deref().unwrap_or_default();
        for (name, key) in filter
            .keys()
            .map(|key| ("where", key))
            .chain(for_each.iter().map(|key| ("for_each", key)))
        {
            if left.at.contains_key(key) && right.at.contains_key(key) {
                return Err(format!("`{name}` names `{key}`, which both sides fix"));
            }
        }
        if for_each.iter().collect::<BTreeSet<_>>().len() < for_each.len() {
            return Err("`for_each` names an axis twice".to_owned());
        }
        Ok(CompareCheck {
            left,
            right,
            relation: self.relation.filter(|_| !held_out),
            by,
            tolerance: not_negative("tolerance", self.tolerance.unwrap_or(0.0))?,
            for_each: self.for_each,
            filter,
            exceptions: share(self.exceptions)?,
            replications: match self.replications {
                Some(part) if !(0.0..=1.0).contains(&part) => {
                    return Err("`replications` is a share of them, 0 to 1".to_owned());
                }
                part => part,
            },
        })
    }
}

impl PointsCheck {
    /// The check itself, where it can be one.
    pub(super) fn resolve(self, held_out: bool) -> Result<Self, String> {
        match self.at_least {
            number if held_out => nothing_published(&[("at_least", number)])?,
            Some(low) if (-1.0..=1.0).contains(&low) => {}
            _ => return Err("`at_least` is a rank correlation, -1 to 1".to_owned()),
        }
        Ok(self)
    }
}
