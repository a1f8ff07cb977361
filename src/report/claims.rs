//! Claims: what a paper published, as data that a reproduction can be checked against.
//!
//! This file knows the form of `published.toml` (one a paper, under `configs/`) and refuses whatever it does not
//! understand. [`evaluate`] compares claims with measured values; [`Measured`] says how those are asked for. Nothing
//! here reads a store or a trace.

mod evaluate;
mod explanations;
mod measured;
mod readings;
mod second;
mod verdict;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use evaluate::{Comparison, Found, evaluate, measure, not_tested};
pub use explanations::{Explanation, explain, parse_explanations};
pub use measured::{Estimate, Experiment, Measured, Metric, Query, Sample, Samples};
pub use readings::{ALL_READINGS, READINGS, Reading, parse_readings};
pub use second::{ALIGNMENT_HOURS, Alignment, Ground, Second, depends_on_alignment, judge_again};

pub use verdict::Verdict;
pub(crate) use verdict::compact;

/// Everything that one paper published, and how close a measured value must come.
#[derive(Clone, Debug)]
pub struct Published {
    /// The grid of thresholds PoF_max, ascending.
    pub thresholds: Vec<f64>,
    /// The penalty ratios ρ, ascending.
    pub ratios: Vec<f64>,
    /// The tolerances, with the reason for each, as decided before anything was measured.
    pub tolerances: Vec<ToleranceRule>,
    /// Every claim in the order of the file.
    pub claims: Vec<Claim>,
}

/// One published number or order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// trace / experiment / family / strategy / quantity @ setting, without the parts that do not apply.
    pub id: String,
    /// The trace, as `reproduce --trace` names it.
    pub trace: String,
    /// The paper's table; `None` where the number stands in its text or was derived.
    pub table: Option<String>,
    /// The section of our specification of the paper.
    pub section: String,
    /// The experiment that it is measured in. Baselines are read off the risk experiment at ratio 1.
    pub experiment: Experiment,
    /// The family of estimate classes, where it is about one.
    pub family: Option<String>,
    /// The strategy, where it is about one.
    pub strategy: Option<String>,
    /// What is measured.
    pub quantity: Quantity,
    /// The threshold or the penalty ratio, where it is about one.
    pub at: Option<f64>,
    /// What was published.
    pub expected: Expected,
    /// What stands in print where that contradicts itself and `expected` is the resolved value.
    pub printed: Option<f64>,
    /// The number of that contradiction in the specification's list of errors, such as `E3`.
    pub resolves: Option<String>,
    /// Whether the number stands in the paper or follows from its numbers.
    pub provenance: Provenance,
    /// What a reader of the comparison should know.
    pub note: Option<String>,
    /// How close a measured value must come.
    pub tolerance: Tolerance,
}

impl Claim {
    /// The claim's subject in words: trace, experiment, classes, strategy, quantity, setting.
    #[must_use]
    pub fn statement(&self) -> String {
        let mut words = vec![match self.experiment {
            Experiment::Pof => "PoF test".to_owned(),
            Experiment::Risk => "risk test".to_owned(),
        }];
        words.extend(
            self.family
                .as_ref()
                .map(|family| format!("{family} classes")),
        );
        words.extend(self.strategy.clone());
        let setting = match (self.at, self.experiment) {
            (Some(at), Experiment::Pof) => format!(" At PoF_max {at}."),
            (Some(at), Experiment::Risk) => format!(" At penalty ratio {at}."),
            (None, _) => String::new(),
        };
        format!("{}: {}{setting}", words.join(", "), self.quantity.meaning())
    }
}

/// What a claim says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Expected {
    /// A number, in the unit of its quantity.
    Value(f64),
    /// A bound from below.
    AtLeast {
        /// The lowest value that holds.
        at_least: f64,
    },
    /// Names of strategies or of families, from the highest gain down.
    Order(Vec<String>),
    /// The published value is held out for independent validation: the measured one is shown, nothing is judged. Holds the
    /// names that an order is to be made of; `null` in JSON.
    #[serde(serialize_with = "held_out")]
    HeldOut(Vec<String>),
}

fn held_out<S: serde::Serializer>(_: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_none()
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// It stands in the paper.
    Printed,
    /// It follows from printed numbers by arithmetic.
    Derived,
}

/// How far a measured value may lie from the published one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "width")]
pub enum Tolerance {
    /// As a share of the published value.
    Relative(f64),
    /// In the unit of the quantity.
    Absolute(f64),
}

impl Tolerance {
    /// The largest difference from `published` that still holds.
    #[must_use]
    pub fn width(self, published: f64) -> f64 {
        match self {
            Self::Relative(share) => share * published.abs(),
            Self::Absolute(width) => width,
        }
    }
}

/// A tolerance, the quantities that it is for, and why it is what it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToleranceRule {
    /// The quantities.
    pub quantities: Vec<Quantity>,
    /// How close a measured value must come.
    pub tolerance: Tolerance,
    /// Why, decided before anything was measured.
    pub reason: String,
}

/// Whether an id names a setting after `@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    Required,
    Allowed,
    Never,
}

macro_rules! quantities {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $setting:ident;)*) => {
        /// What a claim measures. Money in virtual coins a battery, shares in percent, jobs a battery.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Quantity { $($(#[doc = $doc])* #[serde(rename = $name)] $variant,)* }

        impl Quantity {
            /// Every quantity.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in ids.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// What it is, in a sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),*).trim_ascii()),* }
            }

            fn setting(self) -> Setting {
                match self { $(Self::$variant => Setting::$setting),* }
            }
        }
    };
}

quantities! {
    /// The highest mean gain over the thresholds.
    MaxGain = "max-gain", Never;
    /// The mean gain at a threshold or a ratio.
    Gain = "gain", Required;
    /// Gain over the strategy's baseline in percent: at a setting, else at the best threshold.
    Surplus = "surplus", Allowed;
    /// The highest surplus over all settings at which the baseline's gain is positive.
    BestSurplus = "best-surplus", Never;
    /// The threshold with the highest mean gain.
    BestThreshold = "best-threshold", Never;
    /// The threshold with the highest surplus.
    BestSurplusThreshold = "best-surplus-threshold", Never;
    /// The ratio with the highest surplus.
    BestSurplusRatio = "best-surplus-ratio", Never;
    /// Gain minus the baseline's gain, in coins.
    ExtraGain = "extra-gain", Required;
    /// Heuristic minus comprehensive overbooking, in coins.
    Lead = "lead", Required;
    /// Heuristic over comprehensive overbooking in percent: at a setting, else each at its best threshold.
    LeadPercent = "lead-percent", Allowed;
    /// Fees of successful jobs.
    Fees = "fees", Allowed;
    /// Penalties at ratio 1.
    Penalties = "penalties", Allowed;
    /// Fees plus penalties at ratio 1.
    Booked = "booked", Allowed;
    /// Penalties ÷ booked, in percent.
    LostShare = "lost-share", Allowed;
    /// Gain of heuristic planning ÷ gain of conservative backfilling.
    GainRatio = "gain-ratio", Allowed;
    /// Jobs whose contract was fulfilled.
    Successful = "successful", Required;
    /// Accepted jobs whose contract was violated.
    Failed = "failed", Required;
    /// Successful minus failed jobs.
    NetJobs = "net-jobs", Required;
    /// The most successful jobs over the thresholds.
    MaxSuccessful = "max-successful", Never;
    /// The threshold with the most successful jobs.
    MaxSuccessfulThreshold = "max-successful-threshold", Never;
    /// The highest successful minus failed jobs over the thresholds.
    MaxNetJobs = "max-net-jobs", Never;
    /// The threshold where successful minus failed jobs are highest.
    MaxNetJobsThreshold = "max-net-jobs-threshold", Never;
    /// The first threshold beyond the best one at which the mean gain is below the baseline's.
    Crossing = "crossing", Never;
    /// The last threshold up to which the mean gain stays within 5 % of its value at the first one.
    FlatUntil = "flat-until", Never;
    /// The share of thresholds at which heuristic earns more than comprehensive overbooking.
    ShareAboveComprehensive = "share-above-comprehensive", Never;
    /// The lowest surplus over the thresholds up to the setting.
    WorstSurplusUpTo = "worst-surplus-up-to", Required;
    /// Strategies by gain: at the best threshold each, or at the setting.
    Order = "order", Allowed;
    /// Families by the highest gain of one strategy.
    OrderOfFamilies = "order-of-families", Never;
}

/// Names of the families of estimate classes that an id may contain.
pub const FAMILIES: &[&str] = &["runtime", "resources", "application", "user"];

/// Why a file of published claims was refused.
#[derive(Debug, thiserror::Error)]
pub enum ClaimsError {
    /// Not TOML, an unknown key, or a value of the wrong type.
    #[error("{file}: {source}")]
    Syntax {
        /// The file.
        file: String,
        /// What the parser says, with line and column.
        source: Box<toml::de::Error>,
    },
    /// An id that says nothing, or something impossible.
    #[error("{file}: claim `{id}`: {problem}")]
    Claim {
        /// The file.
        file: String,
        /// The claim's id.
        id: String,
        /// What is wrong with it and what is allowed.
        problem: String,
    },
    /// A reading that cannot be one.
    #[error("{file}: reading `{reading}`: {problem}")]
    Reading {
        /// The file.
        file: String,
        /// The reading's name.
        reading: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A tolerance that is no tolerance.
    #[error("{file}: tolerance for {quantities}: {problem}")]
    Tolerance {
        /// The file.
        file: String,
        /// The quantities that it is for.
        quantities: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPublished {
    thresholds: Vec<f64>,
    ratios: Vec<f64>,
    tolerance: Vec<RawTolerance>,
    table: Vec<RawTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTolerance {
    quantities: Vec<Quantity>,
    relative: Option<f64>,
    absolute: Option<f64>,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    number: String,
    trace: String,
    section: String,
    provenance: Provenance,
    claims: Vec<RawClaim>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawClaim {
    id: String,
    value: Option<f64>,
    order: Option<Vec<String>>,
    #[serde(rename = "at-least")]
    at_least: Option<f64>,
    #[serde(rename = "kept-aside")]
    held_out: Option<Vec<String>>,
    printed: Option<f64>,
    resolves: Option<String>,
    provenance: Option<Provenance>,
    note: Option<String>,
}

impl Quantity {
    /// Whether it is an order of names and not a number.
    #[must_use]
    pub fn is_order(self) -> bool {
        matches!(self, Self::Order | Self::OrderOfFamilies)
    }
}

/// Reads a file of published claims.
///
/// # Errors
///
/// When the text is not TOML of the documented form, an id is unknown in any part or appears twice, or a quantity has no
/// tolerance, or two. `file` is only named in errors.
pub fn parse(file: &str, text: &str) -> Result<Published, ClaimsError> {
    let raw: RawPublished = toml::from_str(text).map_err(|source| ClaimsError::Syntax {
        file: file.to_owned(),
        source: Box::new(source),
    })?;
    let tolerances = raw
        .tolerance
        .into_iter()
        .map(|rule| rule.resolve(file))
        .collect::<Result<Vec<_>, _>>()?;
    let mut published = Published {
        thresholds: raw.thresholds,
        ratios: raw.ratios,
        tolerances,
        claims: Vec::new(),
    };
    let mut seen = BTreeSet::new();
    for table in raw.table {
        for raw_claim in table.claims {
            let refuse = |id: &str, problem: String| ClaimsError::Claim {
                file: file.to_owned(),
                id: id.to_owned(),
                problem,
            };
            if !seen.insert(raw_claim.id.clone()) {
                return Err(refuse(
                    &raw_claim.id,
                    "appears twice; ids must be unique".to_owned(),
                ));
            }
            let id = raw_claim.id.clone();
            let header = TableHeader {
                number: &table.number,
                trace: &table.trace,
                section: &table.section,
                provenance: table.provenance,
            };
            let claim = resolve_claim(&published, &header, raw_claim)
                .map_err(|problem| refuse(&id, problem))?;
            published.claims.push(claim);
        }
    }
    Ok(published)
}

impl RawTolerance {
    fn resolve(self, file: &str) -> Result<ToleranceRule, ClaimsError> {
        let refuse = |problem: &str| ClaimsError::Tolerance {
            file: file.to_owned(),
            quantities: self
                .quantities
                .iter()
                .map(|quantity| quantity.name())
                .collect::<Vec<_>>()
                .join(", "),
            problem: problem.to_owned(),
        };
        let tolerance = match (self.relative, self.absolute) {
            (Some(share), None) => Tolerance::Relative(share),
            (None, Some(width)) => Tolerance::Absolute(width),
            _ => return Err(refuse("give exactly one of `relative` and `absolute`")),
        };
        // Infinite or negative widths would make every claim hold, or none.
        let (Tolerance::Relative(width) | Tolerance::Absolute(width)) = tolerance;
        if !width.is_finite() || width < 0.0 {
            return Err(refuse("must be a finite number, 0 or more"));
        }
        Ok(ToleranceRule {
            quantities: self.quantities,
            tolerance,
            reason: self.reason,
        })
    }
}

struct TableHeader<'a> {
    number: &'a str,
    trace: &'a str,
    section: &'a str,
    provenance: Provenance,
}

/// Takes an id apart, so that a claim's subject is written down once; the error is the problem alone.
fn resolve_claim(
    published: &Published,
    table: &TableHeader<'_>,
    raw: RawClaim,
) -> Result<Claim, String> {
    let (path, setting) = match raw.id.split_once('@') {
        Some((path, setting)) => (path, Some(setting)),
        None => (raw.id.as_str(), None),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let [trace, scope, subject @ .., last] = parts.as_slice() else {
        return Err("an id is trace/experiment/…/quantity".to_owned());
    };
    if *trace != table.trace {
        return Err(format!(
            "stands in a table of trace `{}` and must begin with it",
            table.trace
        ));
    }
    let quantity = *Quantity::ALL
        .iter()
        .find(|quantity| quantity.name() == *last)
        .ok_or_else(|| format!("`{last}` is no quantity"))?;
    let mut family = None;
    let mut strategy = None;
    for part in subject {
        if FAMILIES.contains(part) && family.is_none() && strategy.is_none() {
            family = Some((*part).to_owned());
        } else if crate::scheduling::registry::strategy(part).is_some() && strategy.is_none() {
            strategy = Some((*part).to_owned());
        } else {
            return Err(format!(
                "`{part}` is neither a family ({}) nor a registered strategy, or out of place",
                FAMILIES.join(", ")
            ));
        }
    }
    let (experiment, grid) = match *scope {
        "pof" => (Experiment::Pof, &published.thresholds),
        "risk" | "baselines" => (Experiment::Risk, &published.ratios),
        other => {
            return Err(format!(
                "`{other}` is no experiment; allowed are pof, risk and baselines"
            ));
        }
    };
    let mut at = match (setting, quantity.setting()) {
        (None, Setting::Required) if *scope != "baselines" => {
            return Err(format!("`{last}` needs a setting, as in `{last}@0.5`"));
        }
        (Some(_), Setting::Never) => return Err(format!("`{last}` has no setting")),
        (None, _) => None,
        (Some(text), _) => {
            let value: f64 = text
                .parse()
                .map_err(|_| format!("`{text}` is not a number"))?;
            if !grid.iter().any(|point| (point - value).abs() < 1e-9) {
                return Err(format!("{value} is not on the grid of the experiment"));
            }
            Some(value)
        }
    };
    if *scope == "baselines" {
        // Baselines know neither classes nor thresholds: any family's risk run at ratio 1 shows them.
        at = at.or(Some(1.0));
        family = family.or_else(|| Some(FAMILIES[0].to_owned()));
    }
    let expected = match (raw.value, raw.at_least, raw.order, raw.held_out) {
        (Some(value), None, None, None) if value.is_finite() => Expected::Value(value),
        (None, Some(at_least), None, None) if at_least.is_finite() => {
            Expected::AtLeast { at_least }
        }
        (None, None, Some(order), None) if order.len() > 1 => Expected::Order(order),
        (None, None, None, Some(among)) => Expected::HeldOut(among),
        _ => {
            return Err(
                "give exactly one of `value`, `at-least`, `order` (two names or more) and `kept-aside`"
                    .to_owned(),
            );
        }
    };
    let ordered = quantity.is_order();
    let has_order = match &expected {
        Expected::Order(_) => true,
        Expected::HeldOut(among) => among.len() > 1,
        Expected::Value(_) | Expected::AtLeast { .. } => false,
    };
    if ordered != has_order {
        return Err("an order has `order`, everything else has `value`".to_owned());
    }
    let mut rules = published
        .tolerances
        .iter()
        .filter(|rule| rule.quantities.contains(&quantity));
    let (Some(rule), None) = (rules.next(), rules.next()) else {
        return Err(format!("`{last}` needs exactly one tolerance"));
    };
    Ok(Claim {
        trace: (*trace).to_owned(),
        table: (table.number != "-").then(|| table.number.to_owned()),
        section: table.section.to_owned(),
        experiment,
        family,
        strategy,
        quantity,
        at,
        expected,
        printed: raw.printed,
        resolves: raw.resolves,
        provenance: raw.provenance.unwrap_or(table.provenance),
        note: raw.note,
        tolerance: rule.tolerance,
        id: raw.id,
    })
}

#[cfg(test)]
mod tests;
