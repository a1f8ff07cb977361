//! Keys of the statistics of user estimates.

use super::declaration::{Given, integer, integer_within, integers, named, one_of, real};
use crate::estimates::{Binning, ClassTable, Combining, Learning, LearningJobs, Overrun};
use crate::predictions::PREDICTORS;
use crate::section;

/// Nobody, and the names of predictors.
fn predictors() -> Vec<&'static str> {
    let named = PREDICTORS.iter().map(|predictor| predictor.name);
    std::iter::once(NOBODY).chain(named).collect()
}

/// Who predicts where nobody does.
pub const NOBODY: &str = "none";

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
        /// How far apart distributions of classes may be that are merged.
        merge_distance: Given<f64> = real().from(0.0).to(1.0)
            .note(": the largest difference of two cumulative distributions; 0 merges none")
            .default_is("0"),
        /// Whether and how statistics go on learning from jobs that were decided.
        learning: Option<Learning> = named::<Learning>(),
        /// How many jobs of a class count in a window.
        window_jobs: Given<u32> = integer(1)
            .words("a whole number of jobs of a class of 1 or more, for learning = \"window\"")
            .default_is("500"),
        /// After how many further jobs of its class a job weighs half.
        half_life_jobs: Given<f64> = real().from(1.0)
            .note(" jobs of a class, for learning = \"aged\"")
            .default_is("250"),
        /// How many batteries are run before, to learn from.
        learning_batteries: Given<u32> = integer_within(0, 20)
            .refused("", "batteries are too many")
            .words("0 to 20 batteries between the learning jobs and the simulated one")
            .default_is("5"),
        /// How the distributions of a class and of wider classes are combined.
        combine: Option<Combining> = named::<Combining>(),
        /// How many jobs the wider class counts as.
        wider_class_jobs: Given<f64> = real().above(0.0)
            .note(" jobs, for combine = \"weighted\"")
            .default_is("20"),
        /// Who predicts run times: no slot is booked that is shorter.
        prediction: Given<String> = one_of(predictors)
            .note(": who predicts how long a job will run; no shorter slot is booked")
            .default_is("none"),
        /// Of predictions by quantiles: the share of jobs that should end within them.
        prediction_quantile: Given<f64> = real().above(0.0).below(1.0).default_is("0.9"),
    }
}
