//! What a rule is, after its table was checked.

use serde::{Deserialize, Serialize};

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

    /// Replications that there are, where they are finitely many.
    #[must_use]
    pub fn population(&self) -> Option<u32> {
        match self {
            Self::Stop(_) => None,
            Self::Select(rule) => rule.population(),
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
    /// Half of the width at which they are; a share is one of the mean.
    pub narrow: Margin,
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

/// `[select]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectRule {
    /// The quantity by which values are compared.
    pub quantity: String,
    /// The keys of the axes that are selected from.
    pub axes: Vec<String>,
    /// Whether smaller values of the quantity are better.
    pub smallest: bool,
    /// Differences that do not matter; a share is one of the best mean over the first
    /// replications.
    pub zone: Margin,
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
    /// Over which replications the best value is looked for.
    pub population: Population,
    /// The values of the axes that the selected ones are compared with, as tables show them.
    pub baseline: Option<Vec<String>>,
    /// Whether the one axis is a continuous one, refined around its optimum.
    pub refined: bool,
}

impl SelectRule {
    /// Replications that there are, where the best value over all of them is looked for.
    #[must_use]
    pub fn population(&self) -> Option<u32> {
        match self.population {
            Population::Unlimited => None,
            Population::Replications => Some(self.most + self.confirm),
        }
    }
}

/// What replications of a selection are taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Population {
    /// There is no end of them: the best value on average over all that could be drawn.
    #[default]
    Unlimited,
    /// Those of the sweep are all that there are (batteries of one log): the best value over them.
    Replications,
}

/// A difference that counts as small: half of an interval that is narrow enough, or the
/// indifference zone of a selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// In the unit of the quantity.
    Absolute(f64),
    /// As a share of the absolute value of a mean.
    Relative(f64),
}

impl Margin {
    /// As the experiment file has it.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Absolute(number) | Self::Relative(number) => number,
        }
    }

    /// Whether it is a share.
    #[must_use]
    pub fn is_relative(self) -> bool {
        matches!(self, Self::Relative(_))
    }

    /// The margin at this mean, in the unit of the quantity.
    #[must_use]
    pub fn at(self, mean: f64) -> f64 {
        match self {
            Self::Absolute(difference) => difference,
            Self::Relative(share) => share * mean.abs(),
        }
    }
}
