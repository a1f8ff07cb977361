//! What a rule is, after its table was checked.

use super::interval::IntervalRule;

/// The rule by which a sweep stops.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// Every combination of axis values has replications until its intervals are narrow.
    Stop(StopRule),
    /// The best values of some axes are selected for each situation of the others.
    Select(SelectRule),
}

impl Rule {
    /// Replications of a combination at most, with those that confirm a selection.
    #[must_use]
    pub fn replications(&self) -> u32 {
        match self {
            Self::Stop(rule) => rule.most,
            Self::Select(rule) => rule.most + rule.confirm,
        }
    }

    /// How many of these confirm a selection.
    #[must_use]
    pub fn confirming(&self) -> u32 {
        match self {
            Self::Stop(_) => 0,
            Self::Select(rule) => rule.confirm,
        }
    }

    /// The quantities that it reads.
    #[must_use]
    pub fn quantities(&self) -> &[String] {
        match self {
            Self::Stop(rule) => &rule.quantities,
            Self::Select(rule) => std::slice::from_ref(&rule.quantity),
        }
    }

    /// The key that names them.
    #[must_use]
    pub fn quantity_key(&self) -> &'static str {
        match self {
            Self::Stop(_) => "stop.quantities",
            Self::Select(_) => "select.quantity",
        }
    }
}

/// `[stop]`.
#[derive(Clone, Debug, PartialEq)]
pub struct StopRule {
    /// The quantities whose intervals must all be narrow enough.
    pub quantities: Vec<String>,
    /// When they are.
    pub narrow: Narrowness,
    /// How often an interval holds the truth.
    pub confidence: f64,
    /// How it allows for repeated looks.
    pub interval: IntervalRule,
    /// Replications before the first look.
    pub least: u32,
    /// Replications between two looks.
    pub rung: u32,
    /// Replications after which it stops even so.
    pub most: u32,
}

/// Half of an interval's width that is narrow enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Narrowness {
    /// In the unit of the quantity.
    Absolute(f64),
    /// As a share of the absolute value of the mean.
    Relative(f64),
}

impl Narrowness {
    /// As the experiment file has it.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Absolute(number) | Self::Relative(number) => number,
        }
    }

    /// The width that is wanted at this mean.
    #[must_use]
    pub fn at(self, mean: f64) -> f64 {
        match self {
            Self::Absolute(width) => width,
            Self::Relative(share) => share * mean.abs(),
        }
    }
}

/// `[select]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectRule {
    /// The quantity by which values are compared.
    pub quantity: String,
    /// The keys of the axes that are selected from.
    pub axes: Vec<String>,
    /// Whether smaller values of the quantity are better.
    pub smallest: bool,
    /// Differences that do not matter.
    pub zone: Zone,
    /// How often the selected value is within that of the best.
    pub probability: f64,
    /// Replications of each value before any is eliminated.
    pub least: u32,
    /// Replications between two decisions.
    pub rung: u32,
    /// Replications after which it stops even so.
    pub most: u32,
    /// Further replications of the selected value, which no decision reads.
    pub confirm: u32,
    /// The values of the axes that the selected ones are compared with, as tables show them.
    pub baseline: Option<Vec<String>>,
    /// Whether the one axis is a continuous one, refined around its optimum.
    pub refined: bool,
}

/// The indifference zone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zone {
    /// In the unit of the quantity.
    Absolute(f64),
    /// As a share of the absolute value of the best mean over the first replications.
    Relative(f64),
}

impl Zone {
    /// As the experiment file has it.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Absolute(number) | Self::Relative(number) => number,
        }
    }

    /// The zone where the best mean over the first replications is this.
    #[must_use]
    pub fn at(self, best: f64) -> f64 {
        match self {
            Self::Absolute(difference) => difference,
            Self::Relative(share) => share * best.abs(),
        }
    }
}
