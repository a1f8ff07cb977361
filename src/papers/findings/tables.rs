//! Numbers of a paper's tables: a quantity of a cell, which is a strategy, a family and a setting
//! in one experiment of a trace.
//!
//! Such findings come by the hundred, so a file writes them in blocks with compact ids. `[cells]`
//! says once what an id means and which axes of a run tell its cells apart:
//!
//! ```toml
//! [cells]
//! family = "estimates.classes"                # the axis of the families, and their names
//! families = ["runtime", "resources"]
//! strategy = "scheduling.strategy"            # the axis of the strategies
//!
//! [[cells.experiment]]
//! name = "pof"                                # the run on trace `ctc` is the configuration `ctc-pof`
//! title = "PoF test"
//! setting = "acceptance.pof_max"              # the axis of the settings, how people call it, and the published grid
//! called = "PoF_max"                          # `short` in the heads of tables, where that helps
//! shown = "best"                              # of every strategy on a card: the best setting, or "each"
//! values = [0.05, 0.1]
//!
//! [[cells.also]]                              # another name for some cells of an experiment, in short
//! name = "baselines"
//! experiment = "pof"
//! family = "runtime"
//! at = 0.05
//!
//! [cells.alignment]                           # optional: judged again over the values of one more axis (see `second`)
//! name = "alignment"                          # the configuration `ctc-alignment`
//! experiment = "pof"                          # whose cells it repeats
//! along = "failures.offset_hours"
//! within = 6.0                                # the largest value, either way
//! judges = [{ quantities = ["penalties"] }, { quantities = ["gain"], from = 2.0 }]
//!
//! [[tolerance]]
//! quantities = ["max-gain", "gain"]
//! relative = 0.15                             # or `absolute`
//! reason = "why, decided before anything was measured"
//!
//! [[table]]
//! number = "6.1"                              # "-" where the numbers stand in the text or were derived
//! trace = "ctc"
//! section = "§6.1, PoF test"
//! provenance = "printed"                      # or "derived"; each finding may have its own
//! findings = [{ id = "ctc/pof/runtime/heuristic-planning/max-gain", value = 23860 }]
//! ```
//!
//! The id is trace / experiment / family / strategy / quantity @ setting, without the parts that do
//! not apply. A finding has a `value`, an `order` of names from the highest gain down, `at_least`,
//! or `held_out` (the names that an order is made of, if any: what was measured is shown and
//! nothing is judged), and where they help `printed`, `resolves` and `note`.

mod evaluate;
mod file;
mod measured;
mod second;
mod summary;

use serde::{Deserialize, Serialize};

use super::Tolerance;
use bookahead_lab::study::Studies;
pub use evaluate::Found;
pub(super) use evaluate::Tables;
pub(super) use file::{RawTable, RawTolerance, resolve};
pub(super) use measured::MEASURES;
pub use second::{Ground, Second};
pub use summary::{MeasuredTable, measured_tables};

/// How ids of tables name cells, and where their runs have them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The axis of the families.
    pub family: String,
    /// The families that ids may name.
    pub families: Vec<String>,
    /// The axis of the strategies.
    pub strategy: String,
    /// The experiments of a trace.
    #[serde(rename = "experiment")]
    pub experiments: Vec<Experiment>,
    /// Other names for some of their cells.
    #[serde(default)]
    pub also: Vec<Alias>,
    /// The experiment that judges again.
    pub alignment: Option<AlignmentRule>,
    /// The studies of the program, whose policies ids name.
    #[serde(skip)]
    pub studies: Studies,
}

/// One experiment of every trace.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Its name in ids; the configuration is that of the trace, a hyphen, and this.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The axis of its settings.
    pub setting: String,
    /// What people call the setting.
    pub called: String,
    /// The same in the heads of tables, where that is shorter.
    pub short: Option<String>,
    /// What cards show of every strategy.
    #[serde(default)]
    pub shown: Shown,
    /// The published settings, ascending.
    pub values: Vec<f64>,
}

/// What cards show of every strategy in an experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// The best setting.
    #[default]
    Best,
    /// Every setting.
    Each,
}

/// Another name for some cells of an experiment.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// The name in ids.
    pub name: String,
    /// The experiment.
    pub experiment: String,
    /// The family that it means where an id names none.
    pub family: String,
    /// The setting that it means where an id names none.
    pub at: f64,
}

/// What is judged again, and over what.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlignmentRule {
    /// The configuration is that of the trace, a hyphen, and this.
    pub name: String,
    /// The experiment whose cells it repeats.
    pub experiment: String,
    /// The axis that it adds.
    pub along: String,
    /// The largest value on it that counts, either way.
    pub within: f64,
    /// What is judged over it.
    pub judges: Vec<JudgedQuantities>,
}

/// Quantities that are judged over the alignment, and at which settings.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedQuantities {
    /// The quantities.
    pub quantities: Vec<Quantity>,
    /// Of the repeated experiment, at this setting and more; everywhere where it is not given.
    pub from: Option<f64>,
}

impl Layout {
    /// Finds an experiment by name.
    #[must_use]
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|known| known.name == name)
    }

    /// What names an experiment that there is not.
    pub(super) fn problem(&self) -> Option<String> {
        let also = self.also.iter().map(|alias| ("also", &alias.experiment));
        let rule = self.alignment.iter();
        let named = also.chain(rule.map(|rule| ("alignment", &rule.experiment)));
        let mut unknown = named.filter(|(_, name)| self.experiment(name).is_none());
        let (key, name) = unknown.next()?;
        let known: Vec<&str> = self
            .experiments
            .iter()
            .map(|own| own.name.as_str())
            .collect();
        Some(format!(
            "`{key}` names the experiment `{name}`; there are: {}",
            known.join(", ")
        ))
    }

    /// Whether a configuration moves the clock only: its cells are asked for by the second
    /// judgement alone.
    #[must_use]
    pub fn is_alignment(&self, trace: &str, stem: &str) -> bool {
        let rule = self.alignment.as_ref();
        rule.is_some_and(|rule| stem == run(trace, &rule.name))
    }
}

/// The configuration of an experiment on a trace.
fn run(trace: &str, experiment: &str) -> String {
    format!("{trace}-{experiment}")
}

/// A quantity of a cell has a published value, or an order is as published.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellCheck {
    /// The configuration that it is measured in, and the one that judges it again, where there is
    /// one.
    pub runs: Vec<String>,
    /// The paper's table; `None` where the number stands in its text or was derived.
    pub table: Option<String>,
    /// The experiment.
    pub experiment: String,
    /// The family, where it is about one.
    pub family: Option<String>,
    /// The strategy, where it is about one.
    pub strategy: Option<String>,
    /// Whether that strategy overbooks.
    #[serde(skip)]
    pub overbooks: bool,
    /// What is measured.
    pub quantity: Quantity,
    /// The setting, where it is about one.
    pub at: Option<f64>,
    /// What was published.
    pub expected: Expected,
    /// What stands in print where that contradicts itself and `expected` is the resolved value.
    pub printed: Option<f64>,
    /// The number of that contradiction in the file's list of printed errors, such as `E3`.
    pub resolves: Option<String>,
    /// How close a measured value must come.
    pub tolerance: Tolerance,
}

impl CellCheck {
    /// Whether it is read off the best or worst of all settings, chosen on the very batteries that
    /// it is measured on. A strategy that does not overbook is the same at all of them.
    #[must_use]
    pub fn is_chosen(&self) -> bool {
        let chooses = match self.quantity {
            Quantity::WorstSurplusUpTo => true,
            // They describe a curve and choose nothing.
            Quantity::FlatUntil | Quantity::ShareAboveComprehensive => false,
            _ => self.at.is_none(),
        };
        self.overbooks && chooses
    }
}

/// What was published of a cell.
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
    /// The published value is held out for independent validation: the measured one is shown,
    /// nothing is judged. Holds the names that an order is to be made of; `null` in JSON.
    #[serde(serialize_with = "held_out")]
    HeldOut(Vec<String>),
}

fn held_out<S: serde::Serializer>(_: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_none()
}

/// A tolerance, the quantities that it is for, and why it is what it is.
#[derive(Clone, Debug, PartialEq)]
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
        /// What a finding about a table measures. Money in virtual coins a battery, shares in
        /// percent, jobs a battery.
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
    /// The highest mean gain over the thresholds (A-40).
    MaxGain = "max-gain", Never;
    /// The mean gain at a threshold or a ratio.
    Gain = "gain", Required;
    /// Gain over the strategy's baseline in percent: at a setting, else at the best threshold.
    Surplus = "surplus", Allowed;
    /// The highest surplus over all settings at which the baseline's gain is positive (A-42).
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
    /// Heuristic over comprehensive overbooking in percent: at a setting, else each at its best
    /// threshold.
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

impl Quantity {
    /// Whether it is an order of names and not a number.
    #[must_use]
    pub fn is_order(self) -> bool {
        matches!(self, Self::Order | Self::OrderOfFamilies)
    }
}

#[cfg(test)]
mod tests;
