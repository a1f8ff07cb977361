//! Whose estimates are counted on, and how far: which jobs are promising for the algorithm of 2008,
//! by how much it shortens them (Birkenheuer 2008, §3.1.1, §3.1.2), what is planned for users who
//! underestimate (Birkenheuer 2008, §3.1.1; Birkenheuer 2012, §4.1, §4.3), and which users no
//! strategy overbooks.

use serde::{Deserialize, Serialize};

use crate::estimates::EstimateModel;
use crate::units::Seconds;
use crate::workload::Job;

/// What makes a job promising: only promising jobs are shortened.
///
/// The paper asks whether the estimate "is significantly longer than the application's usual
/// runtime *or* the user tends to overestimate" and gives no threshold. In every rule what is usual
/// must fit into the shortened duration `d / (1 + maxPoF)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromisingRule {
    /// The mean ratio of the job's estimate class, whatever attribute the classes are made of.
    #[default]
    Class,
    /// The mean run time of the job's application.
    Application,
    /// The mean ratio of all jobs of the job's user.
    User,
    /// The application or the user, as the paper says.
    Either,
}

impl PromisingRule {
    /// Whether the statistics of applications are asked.
    #[must_use]
    pub fn asks_application(self) -> bool {
        matches!(self, Self::Application | Self::Either)
    }

    /// Whether the statistics of users are asked.
    #[must_use]
    pub fn asks_user(self) -> bool {
        matches!(self, Self::User | Self::Either)
    }
}

/// What is planned for a user whose jobs mostly outlast their estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnderestimatorRule {
    /// Their jobs are planned like all others.
    #[default]
    AsEstimated,
    /// Their jobs are never shortened; each is planned and may run longer than its estimate by the
    /// factor by which the user's jobs have outlasted theirs, if a slot takes that, else for its
    /// estimate.
    MoreTime,
}

impl UnderestimatorRule {
    /// The duration that is planned for a job of an underestimator where a slot takes it; `None`
    /// for anybody else, and where underestimators are planned like all others.
    #[must_use]
    pub fn longer(self, job: &Job, known: &EstimateModel) -> Option<Seconds> {
        if self == Self::AsEstimated {
            return None;
        }
        let factor = known.habits().user(job)?.overrun_factor()?;
        Some(longer_duration(job.estimate, factor))
    }
}

/// The duration that is planned for a job of a user whose jobs outlast their estimates by this
/// factor: `factor · x`, rounded up to whole seconds, never less than `x` (Birkenheuer 2008,
/// §3.1.1, says "more" and not how much).
#[must_use]
pub fn longer_duration(estimate: Seconds, factor: f64) -> Seconds {
    let exact = estimate.0 as f64 * factor.max(1.0);
    // A product that is whole but for its rounding stays whole.
    Seconds((libm::ceil(exact - 1e-6) as i64).max(estimate.0))
}

/// By how much the algorithm of 2008 shortens the estimate x of a promising job.
///
/// The paper's formula is the first. Its text counts on a part of what a user usually overestimates
/// (§3.1.1), which is the second; that a part of ten per cent loses ten per cent of the jobs holds
/// where estimates themselves are cut, which is the third.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum ShorteningRule {
    /// To x / (1 + maxPoF).
    #[default]
    MaxPof,
    /// To x · (1 − share · (1 − m)), m being the mean ratio of run time to estimate of the job's
    /// user.
    OwnExcess {
        /// In `[0, 1]`.
        share: f64,
    },
    /// To x · (1 − share).
    Estimate {
        /// In `[0, 1]`.
        share: f64,
    },
}

impl ShorteningRule {
    /// The cut as the maxPoF of x / (1 + maxPoF), for a user whose jobs have this mean ratio;
    /// `None` under the paper's formula. Never to less than 1 % of the estimate.
    #[must_use]
    pub fn max_pof_for(self, mean_ratio: f64) -> Option<f64> {
        let kept = match self {
            Self::MaxPof => return None,
            Self::OwnExcess { share } => 1.0 - share * (1.0 - mean_ratio),
            Self::Estimate { share } => 1.0 - share,
        };
        Some(1.0 / kept.clamp(0.01, 1.0) - 1.0)
    }
}

/// Users none of whose jobs is given an overbooked slot (Birkenheuer 2012, §4.1, §4.3): those who
/// estimate accurately have nothing to be counted on, and those whose programs save their work run
/// until they are killed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExcludedUsers {
    /// Whoever estimates accurately; `None` where nobody is excluded for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accurate: Option<AccurateUsers>,
    /// Users by their number in the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<i64>,
}

/// Who estimates accurately: by the share of jobs that used at least 95 % of their estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccurateUsers {
    /// The smallest share of such jobs, in `(0, 1]`.
    pub share: f64,
    /// How many learning jobs a user must have to be judged.
    pub least_jobs: u32,
}

impl ExcludedUsers {
    /// Whether the user of this job is one of them, as far as the learning jobs tell.
    #[must_use]
    pub fn include(&self, job: &Job, known: &EstimateModel) -> bool {
        let is_named = || job.user.is_some_and(|user| self.numbers.contains(&user));
        let is_accurate = |rule: AccurateUsers| {
            known.habits().user(job).is_some_and(|habit| {
                habit.samples() >= u64::from(rule.least_jobs)
                    && habit.accurate_share() >= rule.share
            })
        };
        is_named() || self.accurate.is_some_and(is_accurate)
    }
}

/// What is planned for users who estimate accurately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccurateUserRule {
    /// Their jobs are overbooked like all others.
    #[default]
    AsOthers,
    /// Their jobs are given slots of full length only.
    NotOverbooked,
}

/// Whether a value may be left out of a specification.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_duration_is_rounded_up_and_never_shorter_than_the_estimate() {
        // 1,000 · 1.35 = 1,350; 1,001 · 1.35 = 1,351.35.
        assert_eq!(longer_duration(Seconds(1_000), 1.35), Seconds(1_350));
        assert_eq!(longer_duration(Seconds(1_001), 1.35), Seconds(1_352));
        assert_eq!(longer_duration(Seconds(1_000), 0.5), Seconds(1_000));
    }
}
