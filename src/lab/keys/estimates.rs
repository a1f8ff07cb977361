//! Keys of the statistics of user estimates.

use serde::Deserialize;

use super::declaration::{Given, Key, Section, integer, integers, named, one_of, section};
use super::field::Field;
use crate::estimates::{Binning, ClassTable, LearningJobs, Overrun};

section! {
    /// The statistics of user estimates.
    ESTIMATES = "estimates", RawEstimates {
        /// How jobs are divided into classes with statistics of their own.
        classes: Given<String> = one_of(|| ClassTable::NAMES.to_vec())
            .or_others()
            .words(r#""all", "runtime" (default), "resources", "user", "application", "user-last", or two of them joined by +"#)
            .default_in_words("runtime"),
        /// Borders of the classes by run time.
        runtime_borders_seconds: Given<Vec<i64>> = integers(1)
            .words("ascending whole numbers of seconds above 0")
            .default_is("[600, 3600, 7200, 10800, 18000, 43200]"),
        /// Upper bounds of the classes by resources.
        resource_upper_bounds: Given<Vec<u32>> = integers(1)
            .words("ascending whole numbers of nodes above 0")
            .default_is("[1, 2, 4, 8, 16, 32, 64]"),
        /// How many users have a class of their own.
        top_users: Given<u32> = integer(1).default_is("10"),
        /// How many applications have a class of their own.
        top_applications: Given<u32> = integer(1).default_is("10"),
        /// Which jobs the statistics are learned from.
        learn_from: Option<LearningJobs> = named::<LearningJobs>()
            .words(r#""before" (default): the jobs before the evaluated ones, or "evaluated": what no planner can know"#),
        /// How a ratio of run time and estimate becomes a whole percent.
        binning: Option<Binning> = named::<Binning>().decides("A-07"),
        /// What happens to jobs that outlast their estimates.
        overrun: Option<Overrun> = named::<Overrun>().decides("A-08"),
        /// The smallest class whose statistics are used.
        minimum_class_size: Given<u32> = integer(1).default_is("1").decides("A-10"),
    }
}
