//! Distributions learned per class, and which of them belongs to a job.

use std::sync::Arc;

use super::classes::Attributes;
use super::counts::{Counted, RatioCounts};
use super::habits::Habits;
use super::{
    ClassStatistics, EstimateSettings, Learning, PredictedRuntimes, RatioDistribution, UserHistory,
};
use crate::predictions::PREDICTORS;
use crate::workload::Job;

/// The learned statistics of a workload: one ratio distribution a class and one for all jobs.
///
/// Class 0 is all jobs. The classes of a single attribute follow in the order of their table; a
/// pair of attributes has the classes of the first, then every combination, the second attribute
/// changing fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimateModel {
    attributes: Attributes,
    classes: Vec<ClassSummary>,
    /// By class index: the class whose distribution is used (itself, or what it falls back to).
    effective: Vec<u16>,
    /// By class index: the distribution in use.
    distributions: Vec<Arc<RatioDistribution>>,
    /// What the users' last learning jobs took.
    history: UserHistory,
    habits: Habits,
    /// Where statistics begin that go on learning.
    statistics: Option<ClassStatistics>,
    /// Where predictions begin that bound what is booked.
    predicted: Option<PredictedRuntimes>,
}

/// One class of the model, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassSummary {
    /// The name for people, such as `all jobs`, `1 h – 2 h`, `17–32` or `user 5`.
    pub label: String,
    /// How many learning jobs are in the class.
    pub samples: u64,
    /// The class whose distribution is used instead, because this one has too few samples.
    pub falls_back_to: Option<u16>,
}

/// Why nothing could be learned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EstimateError {
    /// No learning job has an estimate and a runtime that the counting rules accept.
    #[error(
        "none of the {jobs} learning jobs is usable for the statistics of estimates; leave more jobs before the evaluated \
         ones (fewer `evaluation_jobs`), or count overruns instead of dropping them (`overrun = \"clamp\"`)"
    )]
    NoUsableJob {
        /// How many learning jobs there were.
        jobs: usize,
    },
    /// Class borders that are empty, not positive or not ascending.
    #[error(
        "`{key}` must be positive whole numbers in ascending order, at least one, but is {found:?}"
    )]
    Borders {
        /// The configuration key.
        key: &'static str,
        /// Its value.
        found: Vec<i64>,
    },
    /// `top = 0`.
    #[error(
        "`top` must be at least 1: with no user or application of its own, use the class family `all`"
    )]
    NoTop,
    /// A pair of anything but two different attributes.
    #[error(
        "a pair of class families joins two different ones of `runtime`, `resources`, `user` and `application`; use a \
         single family, or `all`, for anything else"
    )]
    Pair,
    /// A predictor that nobody wrote.
    #[error(
        "there is no predictor `{name}`; registered are: {}",
        predictor_names()
    )]
    NoPredictor {
        /// Its name.
        name: String,
    },
    /// More classes than a class index can count.
    #[error(
        "{classes} classes are too many, at most 65535 are possible; use fewer borders or a smaller `top`"
    )]
    TooManyClasses {
        /// How many there would be.
        classes: usize,
    },
}

/// The registered predictors, for people.
fn predictor_names() -> String {
    let names: Vec<&str> = PREDICTORS.iter().map(|known| known.name).collect();
    names.join(", ")
}

impl EstimateModel {
    /// Learns from the jobs before the evaluated ones (Birkenheuer 2012, §5.1.2). The model itself
    /// is never updated afterwards; what goes on learning begins with [`Self::statistics`] and
    /// [`Self::predicted`].
    ///
    /// # Errors
    ///
    /// When no job is usable, or when the class family is impossible.
    pub fn learn(jobs: &[Job], settings: &EstimateSettings) -> Result<Self, EstimateError> {
        let Counted {
            attributes,
            history,
            usable,
            sequence,
            counts: RatioCounts { labels, mut counts },
        } = Counted::count(jobs, settings)?;
        let fallbacks = attributes.fallbacks();
        // A class has the jobs of all that fall back to it; those have larger indices.
        for class in (1..counts.len()).rev() {
            let own = counts[class];
            for (sum, count) in counts[fallbacks[class]].iter_mut().zip(own) {
                *sum += count;
            }
        }

        let statistics = ClassStatistics::learn(&attributes, &sequence, settings);
        // There are at most u16::MAX classes.
        let mut classes: Vec<ClassSummary> = Vec::with_capacity(counts.len());
        let mut effective: Vec<u16> = Vec::with_capacity(counts.len());
        let mut distributions: Vec<Arc<RatioDistribution>> = Vec::with_capacity(counts.len());
        for (index, (label, counts)) in labels.into_iter().zip(counts).enumerate() {
            let (target, own) = statistics
                .distribution(index as u16)
                .ok_or(EstimateError::NoUsableJob { jobs: jobs.len() })?;
            classes.push(ClassSummary {
                label,
                samples: counts.iter().sum(),
                falls_back_to: (usize::from(target) != index).then_some(target),
            });
            effective.push(target);
            // What a class falls back to comes before it.
            distributions.push(match distributions.get(usize::from(target)) {
                Some(known) => Arc::clone(known),
                None => Arc::new(own),
            });
        }
        let learns = settings.learning.rule != Learning::Static;
        let predicted = settings.prediction.as_ref();
        Ok(Self {
            attributes,
            classes,
            effective,
            distributions,
            history,
            habits: Habits::learn(usable, settings),
            statistics: learns.then_some(statistics),
            predicted: predicted
                .map(|prediction| PredictedRuntimes::learn(jobs, prediction))
                .transpose()?,
        })
    }

    /// The most specific class of a job, whatever there is of it.
    #[must_use]
    pub fn class_of(&self, job: &Job, history: &UserHistory) -> u16 {
        // There are at most u16::MAX classes.
        self.attributes.classify(job, history.last_ratio(job.user)) as u16
    }

    /// The statistics of the classes where they go on learning; `None` where they do not.
    #[must_use]
    pub fn statistics(&self) -> Option<&ClassStatistics> {
        self.statistics.as_ref()
    }

    /// The predictions that bound what is booked, where there are any.
    #[must_use]
    pub fn predicted(&self) -> Option<&PredictedRuntimes> {
        self.predicted.as_ref()
    }

    /// The distribution that belongs to a job, and the index of its class.
    ///
    /// The index is that of the class whose distribution is used: where a class has too few
    /// samples, or a user or an application none of its own, that is the class it falls back to
    /// in the end 0, all jobs.
    #[must_use]
    pub fn lookup(&self, job: &Job, history: &UserHistory) -> (u16, &Arc<RatioDistribution>) {
        let class = self.attributes.classify(job, history.last_ratio(job.user));
        (self.effective[class], &self.distributions[class])
    }

    /// What the users' last jobs took when learning ended: where a history of those who come later
    /// begins.
    #[must_use]
    pub fn history(&self) -> &UserHistory {
        &self.history
    }

    /// What is known of single users and applications, whatever the class family.
    #[must_use]
    pub fn habits(&self) -> &Habits {
        &self.habits
    }

    /// Every class by its index.
    #[must_use]
    pub fn classes(&self) -> &[ClassSummary] {
        &self.classes
    }
}

#[cfg(test)]
impl EstimateModel {
    /// The distribution that jobs of this class use; `None` if there is no such class.
    pub(super) fn distribution(&self, class: u16) -> Option<&Arc<RatioDistribution>> {
        self.distributions.get(usize::from(class))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Binning, ClassFamily, LearningJobs, Overrun};
    use super::*;
    use crate::estimates::testutils::job;

    /// Of a user of whom nothing is known.
    fn class_of(model: &EstimateModel, job: &Job) -> (u16, Arc<RatioDistribution>) {
        let (class, distribution) = model.lookup(job, &UserHistory::default());
        (class, Arc::clone(distribution))
    }

    fn settings(family: ClassFamily) -> EstimateSettings {
        EstimateSettings {
            family,
            binning: Binning::Round,
            learn_from: LearningJobs::Before,
            overrun: Overrun::Clamp,
            minimum_class_size: 1,
            ..EstimateSettings::default()
        }
    }

    fn labels(model: &EstimateModel) -> Vec<&str> {
        model
            .classes()
            .iter()
            .map(|class| class.label.as_str())
            .collect()
    }

    #[test]
    fn the_archive_has_seven_runtime_classes_closed_on_the_left() {
        // Birkenheuer 2012, chapter 6, and A-09.
        let borders = [
            599, 600, 3_599, 3_600, 7_200, 10_800, 18_000, 43_199, 43_200,
        ];
        let jobs: Vec<Job> = borders
            .iter()
            .map(|&estimate| job(estimate, estimate / 2, 1, 1))
            .collect();
        let model = EstimateModel::learn(&jobs, &settings(ClassFamily::archive_runtime())).unwrap();
        let expected = [
            "all jobs",
            "< 10 min",
            "10 min – 1 h",
            "1 h – 2 h",
            "2 h – 3 h",
            "3 h – 5 h",
            "5 h – 12 h",
            "≥ 12 h",
        ];
        assert_eq!(labels(&model), expected);
        let classes: Vec<u16> = jobs.iter().map(|job| class_of(&model, job).0).collect();
        assert_eq!(classes, [1, 2, 2, 3, 4, 5, 6, 6, 7]);
        let arminius =
            EstimateModel::learn(&jobs, &settings(ClassFamily::arminius_runtime())).unwrap();
        assert_eq!(arminius.classes().len(), 1 + 8);
    }

    #[test]
    fn resource_classes_are_inclusive_powers_of_two() {
        let widths = [1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 1_000];
        let jobs: Vec<Job> = widths
            .iter()
            .map(|&nodes| job(1_000, 500, nodes, 1))
            .collect();
        let model = EstimateModel::learn(&jobs, &settings(ClassFamily::resources())).unwrap();
        let expected = [
            "all jobs", "1", "2", "3–4", "5–8", "9–16", "17–32", "33–64", "> 64",
        ];
        assert_eq!(labels(&model), expected);
        let classes: Vec<u16> = jobs.iter().map(|job| class_of(&model, job).0).collect();
        assert_eq!(classes, [1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8]);
    }

    #[test]
    fn empty_classes_and_unknown_users_use_the_distribution_of_all_jobs() {
        // Users 7 and 3 are equally frequent; 3 comes first. User 9 has one job and no class
        // of its own.
        let jobs = [
            job(100, 10, 1, 7),
            job(100, 20, 1, 7),
            job(100, 30, 1, 3),
            job(100, 40, 1, 3),
            job(100, 90, 1, 9),
        ];
        let model = EstimateModel::learn(&jobs, &settings(ClassFamily::User { top: 2 })).unwrap();
        assert_eq!(labels(&model), ["all jobs", "user 3", "user 7"]);
        assert_eq!(class_of(&model, &jobs[0]).0, 2);
        assert!((class_of(&model, &jobs[0]).1.mean_ratio() - 0.15).abs() < 1e-15);
        let (class, distribution) = class_of(&model, &job(100, 0, 1, 9));
        assert_eq!((class, distribution.samples()), (0, 5));
        let nobody = Job {
            user: None,
            ..job(100, 0, 1, 3)
        };
        assert_eq!(class_of(&model, &nobody).0, 0);

        let by_nodes = EstimateModel::learn(&jobs, &settings(ClassFamily::resources())).unwrap();
        assert_eq!(by_nodes.classes()[8].falls_back_to, Some(0));
        assert_eq!(class_of(&by_nodes, &job(100, 0, 500, 3)).0, 0);
    }

    #[test]
    fn a_pair_falls_back_to_its_first_attribute_and_then_to_all_jobs() {
        let family = ClassFamily::Pair(
            Box::new(ClassFamily::Runtime {
                borders_seconds: vec![600, 3_600],
            }),
            Box::new(ClassFamily::Resources {
                upper_bounds: vec![1],
            }),
        );
        let jobs = [
            job(100, 10, 1, 1),
            job(100, 20, 1, 1),
            job(100, 50, 4, 1),
            job(1_000, 800, 4, 1),
        ];
        let pairs = EstimateSettings {
            minimum_class_size: 2,
            ..settings(family)
        };
        let model = EstimateModel::learn(&jobs, &pairs).unwrap();
        let expected = [
            ("all jobs", 4, None),
            ("< 10 min", 3, None),
            ("10 min – 1 h", 1, Some(0)),
            ("≥ 1 h", 0, Some(0)),
            ("< 10 min, 1", 2, None),
            ("< 10 min, > 1", 1, Some(1)),
            ("10 min – 1 h, 1", 0, Some(0)),
            ("10 min – 1 h, > 1", 1, Some(0)),
            ("≥ 1 h, 1", 0, Some(0)),
            ("≥ 1 h, > 1", 0, Some(0)),
        ];
        for (class, (label, samples, falls_back_to)) in model.classes().iter().zip(expected) {
            let wanted = ClassSummary {
                label: label.to_owned(),
                samples,
                falls_back_to,
            };
            assert_eq!(*class, wanted);
        }
        assert_eq!(model.classes().len(), expected.len());
        assert_eq!(class_of(&model, &jobs[0]).0, 4);
        assert_eq!(class_of(&model, &jobs[2]).0, 1);
        assert_eq!(class_of(&model, &jobs[3]).0, 0);
    }

    #[test]
    fn a_pair_with_an_application_of_no_class_uses_its_first_attribute() {
        let family = ClassFamily::Pair(
            Box::new(ClassFamily::resources()),
            Box::new(ClassFamily::Application { top: 1 }),
        );
        let jobs = [
            job(100, 10, 1, 10).of_application(1),
            job(100, 20, 1, 11).of_application(1),
            job(100, 50, 1, 25).of_application(2),
        ];
        let model = EstimateModel::learn(&jobs, &settings(family)).unwrap();
        assert_eq!(
            model.classes()[usize::from(class_of(&model, &jobs[0]).0)].label,
            "1, application 1"
        );
        assert_eq!(
            model.classes()[usize::from(class_of(&model, &jobs[2]).0)].label,
            "1"
        );
    }

    #[test]
    fn impossible_settings_are_errors() {
        let jobs = [job(100, 10, 1, 1)];
        let learn = |family| EstimateModel::learn(&jobs, &settings(family)).unwrap_err();
        let runtime = |borders: &[i64]| ClassFamily::Runtime {
            borders_seconds: borders.to_vec(),
        };
        for borders in [&[] as &[i64], &[600, 600], &[0, 600], &[3_600, 600]] {
            assert!(matches!(
                learn(runtime(borders)),
                EstimateError::Borders {
                    key: "borders_seconds",
                    ..
                }
            ));
        }
        let bounds = ClassFamily::Resources {
            upper_bounds: vec![4, 2],
        };
        assert!(matches!(
            learn(bounds),
            EstimateError::Borders {
                key: "upper_bounds",
                ..
            }
        ));
        assert_eq!(learn(ClassFamily::User { top: 0 }), EstimateError::NoTop);
        let pair = |first, second| ClassFamily::Pair(Box::new(first), Box::new(second));
        assert_eq!(
            learn(pair(ClassFamily::All, ClassFamily::resources())),
            EstimateError::Pair
        );
        assert_eq!(
            learn(pair(runtime(&[1]), runtime(&[2]))),
            EstimateError::Pair
        );
        let nested = pair(ClassFamily::top_users(), ClassFamily::resources());
        assert_eq!(learn(pair(nested, runtime(&[1]))), EstimateError::Pair);
        let many: Vec<i64> = (1..70_000).collect();
        assert!(matches!(
            learn(runtime(&many)),
            EstimateError::TooManyClasses { classes: 70_001 }
        ));
    }

    #[test]
    fn without_a_usable_job_nothing_is_learned() {
        let unusable = [job(0, 0, 1, 1)];
        for jobs in [&[] as &[Job], &unusable] {
            let error = EstimateModel::learn(jobs, &settings(ClassFamily::All)).unwrap_err();
            assert_eq!(error, EstimateError::NoUsableJob { jobs: jobs.len() });
        }
        let overrun = [job(100, 150, 1, 1)];
        let dropping = EstimateSettings {
            overrun: Overrun::Drop,
            ..settings(ClassFamily::All)
        };
        assert!(EstimateModel::learn(&overrun, &dropping).is_err());
    }

    proptest! {
        #[test]
        fn the_classes_of_an_attribute_share_out_all_jobs(
            drawn in prop::collection::vec((1_i64..60_000, 0_i64..130, 1_u32..200, 0_i64..30), 1..200),
            minimum in 0_u32..20,
        ) {
            let drawn = drawn.into_iter();
            let jobs: Vec<Job> = drawn.map(|(x, percent, nodes, user)| job(x, x * percent / 100, nodes, user)).collect();
            for family in [ClassFamily::archive_runtime(), ClassFamily::resources()] {
                let settings = EstimateSettings { minimum_class_size: minimum, ..settings(family) };
                let model = EstimateModel::learn(&jobs, &settings).unwrap();
                let samples: u64 = model.classes()[1..].iter().map(|class| class.samples).sum();
                prop_assert_eq!(samples, jobs.len() as u64);
                for job in &jobs {
                    let (class, distribution) = class_of(&model, job);
                    let summary = &model.classes()[usize::from(class)];
                    prop_assert_eq!(summary.falls_back_to, None);
                    prop_assert_eq!(summary.samples, distribution.samples());
                    prop_assert!(class == 0 || distribution.samples() >= u64::from(minimum));
                }
            }
        }
    }
}
