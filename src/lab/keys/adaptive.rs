//! Keys of sweeps that stop by a rule.

use super::declaration::{Given, integer, named, one_of, real, text, texts};
use crate::adaptive::{IntervalRule, Population};
use crate::section;

const TOO_FEW: &str = "replications are too few for a rule";

section! {
    /// Replications of each combination of axis values until the intervals of named quantities are
    /// narrow enough; takes the place of `experiment.replications`.
    STOP = "stop", RawStop {
        /// The quantities whose intervals must all be narrow enough.
        quantities: Given<Vec<String>> = texts("names of `bookahead list metrics`"),
        /// Half of an interval's width that is narrow enough, in the unit of the quantity.
        half_width: Given<f64> = real().above(0.0),
        /// The same as a share of the mean's absolute value.
        relative_half_width: Given<f64> = real().above(0.0).note(" of the mean"),
        /// How often intervals hold the truth.
        confidence: Given<f64> = real().from(0.5).below(1.0).words("0.5 or more, below 1").default_is("0.95"),
        /// How an interval allows for being looked at after each rung.
        rule: Option<IntervalRule> = named::<IntervalRule>(),
        /// Replications before the first look.
        min_replications: Given<u32> = integer(8).refused(TOO_FEW, "").default_is("16"),
        /// Replications that are added at a time; a look follows when all of them are complete.
        rung_replications: Given<u32> = integer(1).default_is("8"),
        /// Replications after which it stops even so.
        max_replications: Given<u32> = integer(8).refused(TOO_FEW, ""),
    }
}

section! {
    /// The best values of one or several axes for each situation of the others, by ranking and
    /// selection (Kim and Nelson 2001): values that are eliminated are not run further. Takes the
    /// place of `experiment.replications`.
    SELECT = "select", RawSelect {
        /// The quantity by which values are compared.
        quantity: Given<String> = text("a name of `bookahead list metrics`"),
        /// The axes whose values are selected from; the values of the others are situations.
        axes: Given<Vec<String>> = texts("keys that have an axis"),
        /// Which values of the quantity are better.
        goal: Given<String> = one_of(|| vec!["largest", "smallest"]).default_is("largest"),
        /// The indifference zone, in the unit of the quantity: differences that do not matter.
        indifference: Given<f64> = real().above(0.0),
        /// The same as a share of the best mean over the first replications.
        relative_indifference: Given<f64> = real().above(0.0).below(1.0)
            .note(" of the best mean over the first replications")
            .default_is("0.02"),
        /// How often the selected value is to be within the indifference zone of the best.
        probability: Given<f64> = real().from(0.5).below(1.0).words("0.5 or more, below 1").default_is("0.95"),
        /// Replications of every value before any is eliminated.
        min_replications: Given<u32> = integer(10).refused(TOO_FEW, "").default_is("20"),
        /// Replications that are added at a time; values are eliminated when all of them are
        /// complete.
        rung_replications: Given<u32> = integer(1).default_is("5"),
        /// Replications of a value after which it is decided even so.
        max_replications: Given<u32> = integer(10).refused(TOO_FEW, ""),
        /// Further replications of the selected value, which no decision reads: its estimate comes
        /// from these.
        confirm_replications: Given<u32> = integer(0).default_is("20"),
        /// Whether the best value on average is looked for, or the best over the replications that
        /// there are (batteries of one log), of which those that were run then count for more.
        population: Option<Population> = named::<Population>(),
        /// The value that the selected one is compared with on those replications.
        baseline: Given<Vec<String>> = texts("a value for each of the axes, as tables show it"),
    }
}
