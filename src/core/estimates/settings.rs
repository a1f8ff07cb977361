//! What determines the statistics of runtime estimates: the class family, the counting rules, and
//! how they go on learning.

use serde::{Deserialize, Serialize};

use crate::predictions::{PredictorSettings, predictor};

/// Everything that determines the learned distributions, apart from the learning jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateSettings {
    /// By which attribute jobs are grouped (Birkenheuer 2012, §3.2.1).
    pub family: ClassFamily,
    /// How a ratio becomes an integer percent (A-07; default round half up).
    pub binning: Binning,
    /// What happens to ratios above 100 % (A-08; default clamp).
    pub overrun: Overrun,
    /// Which jobs the distributions are learned from (Birkenheuer 2012, §5.1.2; default those
    /// before the evaluated ones).
    #[serde(default)]
    pub learn_from: LearningJobs,
    /// Classes with fewer samples fall back to the distribution of all jobs (A-10; default 1).
    pub minimum_class_size: u32,
    /// Classes of one attribute are merged while the distributions of the two that are most alike
    /// are at most so far apart, in [0, 1] (Birkenheuer 2012, §4.2.5; default 0: none is merged).
    #[serde(default, skip_serializing_if = "is_default")]
    pub merge_distance: f64,
    /// Whether and how they go on learning from jobs that were decided (default: they do not). This
    /// field and the next ones are left out where they have their defaults, so that what does not
    /// use them keeps its identity.
    #[serde(default, skip_serializing_if = "is_default")]
    pub learning: LearningSettings,
    /// How the distribution of a class and those of wider classes make that of a job (default: the
    /// class alone).
    #[serde(default, skip_serializing_if = "is_default")]
    pub combining: CombiningSettings,
    /// Who predicts run times as a lower bound of what is booked (default: nobody).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<PredictionSettings>,
}

impl Default for EstimateSettings {
    /// What the dissertation does on the logs of the archive.
    fn default() -> Self {
        Self {
            family: ClassFamily::archive_runtime(),
            binning: Binning::default(),
            overrun: Overrun::default(),
            learn_from: LearningJobs::default(),
            minimum_class_size: 1,
            merge_distance: 0.0,
            learning: LearningSettings::default(),
            combining: CombiningSettings::default(),
            prediction: None,
        }
    }
}

impl EstimateSettings {
    /// How many batteries are run before the simulated one, to learn from; 0 where nothing goes on
    /// learning.
    #[must_use]
    pub fn batteries_before(&self) -> u32 {
        let predicts = self.prediction.is_some();
        if predicts || self.learning.rule != Learning::Static {
            self.learning.batteries_before
        } else {
            0
        }
    }

    /// Sets what is not read to its default. `learns` tells whether the policy goes on learning and
    /// asks for predictions.
    pub fn normalise(&mut self, learns: bool) {
        if !learns {
            self.prediction = None;
            self.learning = LearningSettings::default();
        }
        if let Some(prediction) = &mut self.prediction
            && let Some(known) = predictor(&prediction.predictor)
        {
            prediction.told = prediction.told.read_by(known.reads);
        }
        if self.family == ClassFamily::All {
            self.merge_distance = 0.0;
        }
        let default = LearningSettings::default();
        let given = self.learning;
        self.learning = LearningSettings {
            rule: given.rule,
            window_jobs: match given.rule {
                Learning::Window => given.window_jobs,
                Learning::Static | Learning::Online | Learning::Aged => default.window_jobs,
            },
            half_life_jobs: match given.rule {
                Learning::Aged => given.half_life_jobs,
                Learning::Static | Learning::Online | Learning::Window => default.half_life_jobs,
            },
            batteries_before: match given.rule {
                Learning::Static if self.prediction.is_none() => default.batteries_before,
                _ => given.batteries_before,
            },
        };
        let default = CombiningSettings::default();
        let is_pair = matches!(self.family, ClassFamily::Pair(..));
        self.combining = match self.combining.rule {
            Combining::Weighted if self.family != ClassFamily::All => self.combining,
            Combining::Mixture if is_pair => CombiningSettings {
                rule: Combining::Mixture,
                ..default
            },
            Combining::BackOff | Combining::Weighted | Combining::Mixture => default,
        };
    }
}

/// Whether a value may be left out of a specification.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How the statistics of classes go on learning while jobs are decided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearningSettings {
    /// What counts.
    pub rule: Learning,
    /// Of [`Learning::Window`]: how many jobs of a class count. At least 1.
    pub window_jobs: u32,
    /// Of [`Learning::Aged`]: after so many further jobs of its class, a job weighs half. Above 0.
    pub half_life_jobs: f64,
    /// How many of the batteries between the learning jobs and the simulated battery are run first,
    /// to learn from.
    pub batteries_before: u32,
}

impl Default for LearningSettings {
    fn default() -> Self {
        Self {
            rule: Learning::Static,
            window_jobs: 500,
            half_life_jobs: 250.0,
            batteries_before: 5,
        }
    }
}

/// Which of the jobs of a class count, those of the learning set and those that were decided since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learning {
    /// Those of the learning set, as in the dissertation.
    #[default]
    Static,
    /// All of them, alike.
    Online,
    /// The last ones.
    Window,
    /// All of them, the less the more came after them.
    Aged,
}

/// How the distributions of a class and of wider classes make that of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CombiningSettings {
    /// The rule.
    pub rule: Combining,
    /// Of [`Combining::Weighted`]: how many jobs the wider class counts as. Above 0.
    pub wider_class_jobs: f64,
}

impl Default for CombiningSettings {
    fn default() -> Self {
        Self {
            rule: Combining::BackOff,
            wider_class_jobs: 20.0,
        }
    }
}

/// A rule for distributions of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combining {
    /// The class alone; where it has fewer jobs than the smallest class must have, the wider one (a
    /// pair's first attribute, then all jobs).
    #[default]
    BackOff,
    /// The class, and the wider one as if it had been seen in so many of its jobs:
    /// `(n·P + m·P_wider) ÷ (n + m)`, and so on up to all jobs.
    Weighted,
    /// Of a pair of attributes, the class of either attribute alone, by their numbers of jobs:
    /// `(n₁·P₁ + n₂·P₂) ÷ (n₁ + n₂)`.
    Mixture,
}

/// Who predicts run times as a lower bound of what is booked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionSettings {
    /// The predictor's name in [`crate::predictions::PREDICTORS`].
    pub predictor: String,
    /// What it is told.
    pub told: PredictorSettings,
}

/// Which jobs the distributions are learned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearningJobs {
    /// Those before the evaluated ones.
    #[default]
    Before,
    /// The evaluated ones themselves, all batteries together: what no planner can know. An ablation
    /// that shows how much of the error is drift between learning and evaluation.
    Evaluated,
}

/// The attribute, or the pair of attributes, that selects a job's distribution.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassFamily {
    /// One distribution for everybody.
    All,
    /// By estimated runtime; left-closed, right-open intervals between these borders in seconds
    ///
    Runtime {
        /// Ascending borders; n borders make n + 1 classes.
        borders_seconds: Vec<i64>,
    },
    /// By requested nodes; inclusive upper bounds.
    Resources {
        /// Ascending inclusive upper bounds; n bounds make n + 1 classes.
        upper_bounds: Vec<u32>,
    },
    /// The users with the most learning jobs get their own class, everybody else the general
    /// distribution.
    User {
        /// How many users (10 in Birkenheuer 2012, §4.2.4).
        top: u32,
    },
    /// By application (executable, worker); those with the most learning jobs get their own class.
    Application {
        /// How many applications.
        top: u32,
    },
    /// By the ratio of the user's last job that had ended at the submission, which consecutive jobs
    /// of a user share more than independence allows; users without one get the general
    /// distribution.
    UserLast,
    /// Two attributes at once; a pair without enough samples falls back to the first attribute,
    /// then to all jobs.
    Pair(Box<ClassFamily>, Box<ClassFamily>),
}

/// How a runtime ratio becomes an integer percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binning {
    /// Round half up.
    #[default]
    Round,
    /// Round down.
    Floor,
    /// Round up.
    Ceil,
}

/// What happens to learning jobs that ran longer than estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overrun {
    /// Count them at 100 %.
    #[default]
    Clamp,
    /// Leave them out.
    Drop,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_rule_reads_is_set_to_its_default_and_not_written() {
        let given = EstimateSettings {
            learning: LearningSettings {
                rule: Learning::Static,
                window_jobs: 7,
                half_life_jobs: 7.0,
                batteries_before: 7,
            },
            combining: CombiningSettings {
                rule: Combining::Mixture,
                wider_class_jobs: 7.0,
            },
            ..EstimateSettings::default()
        };
        // Static classes of one attribute read none of it.
        let mut read = given.clone();
        read.normalise(true);
        assert_eq!(read, EstimateSettings::default());
        let written = serde_json::to_string(&read).unwrap();
        for field in ["learning", "combining", "prediction"] {
            assert!(!written.contains(field), "{written}");
        }
        // A window reads its length and the batteries before; a policy that does not go on learning
        // reads neither.
        let mut window = given.clone();
        window.learning.rule = Learning::Window;
        window.normalise(true);
        let learning = window.learning;
        assert_eq!((learning.window_jobs, learning.batteries_before), (7, 7));
        assert_eq!(
            learning.half_life_jobs,
            LearningSettings::default().half_life_jobs
        );
        window.normalise(false);
        assert_eq!(window, EstimateSettings::default());
        // Whoever predicts is told only what it reads.
        let mut predicting = given;
        predicting.prediction = Some(PredictionSettings {
            predictor: "average-of-two".to_owned(),
            told: PredictorSettings {
                quantile: 0.5,
                ..PredictorSettings::default()
            },
        });
        predicting.normalise(true);
        let told = predicting.prediction.map(|prediction| prediction.told);
        assert_eq!(told, Some(PredictorSettings::default()));
        assert_eq!(predicting.learning.batteries_before, 7);
    }
}
