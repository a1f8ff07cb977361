//! Orders of a queue (docs/model.md, "A queue that plans with predictions").

use serde::{Deserialize, Serialize};

use bookahead_core::scheduling::queue::Waiting;
use bookahead_core::units::Seconds;

use super::head::is_default;

/// The order of a queue by a score; lower scores first. Of equal ones the earlier submission comes
/// first, or, where a queue is put in order only when its next first is chosen, whoever did before.
/// Names as in the literature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoredOrder {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Shortest first.
    Sjf,
    /// Smallest first, by nodes.
    Smallest,
    /// Smallest area first, by nodes times prediction.
    Saf,
    /// F1 of Carastan-Santos and de Camargo 2017.
    F1,
    /// F2 of the same.
    F2,
    /// F3 of the same.
    F3,
    /// F4 of the same.
    F4,
    /// WFP3 of Tang et al. 2009; depends on the wait so far.
    Wfp3,
    /// UNICEP of the same; depends on the wait so far.
    Unicep,
}

/// What scores take for the times of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreTimes {
    /// The wait of a job that still waits.
    #[serde(rename = "score_wait", default, skip_serializing_if = "is_default")]
    pub wait: ScoredWait,
    /// From when its submission counts.
    #[serde(rename = "score_from", default, skip_serializing_if = "is_default")]
    pub from: ScoredFrom,
}

/// What scores take for the wait of a job that still waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoredWait {
    /// w = now − s: the time since its submission.
    #[default]
    SoFar,
    /// w = −1 − s: the start less the submission, where a job that has not started has the start
    /// −1. It is negative and does not change while the job waits.
    UnsetStart,
}

/// From when submissions count in scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoredFrom {
    /// The submission of the first job.
    #[default]
    FirstJob,
    /// Time 0, which `workload.origin` sets.
    Zero,
}

/// What a score is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    /// r: the prediction in seconds.
    pub(super) predicted: f64,
    /// n
    pub(super) nodes: f64,
    /// s: seconds from the first submission to this one.
    pub(super) submitted: f64,
    /// w: seconds of waiting so far.
    pub(super) waited: f64,
}

/// What log10 takes for jobs of the first second, and for those that asked for no time.
const SMALLEST: f64 = 0.1;

/// Keeps 0 out of the logarithm and of the divisor of UNICEP.
const UNICEP_OFFSET: f64 = 1e-15;

impl ScoredOrder {
    /// Whether scores change while jobs wait.
    pub(super) fn depends_on_waiting(self, times: ScoreTimes) -> bool {
        matches!(self, Self::Wfp3 | Self::Unicep) && times.wait == ScoredWait::SoFar
    }

    /// The rank of a job that waits, with its r; the first of all was submitted at `beginning`.
    pub(super) fn rank(
        self,
        waiting: &Waiting,
        predicted: Seconds,
        times: ScoreTimes,
        (beginning, now): (Seconds, Seconds),
    ) -> i64 {
        // Of equal ranks the earlier submission comes first anyway.
        if self == Self::Fcfs {
            return 0;
        }
        let submitted = match times.from {
            ScoredFrom::FirstJob => waiting.since - beginning,
            ScoredFrom::Zero => waiting.since,
        };
        let waited = match times.wait {
            ScoredWait::SoFar => now - waiting.since,
            ScoredWait::UnsetStart => Seconds(-1) - submitted,
        };
        Waiting::rank_of(self.score(Scored {
            predicted: predicted.0 as f64,
            nodes: f64::from(waiting.nodes.0),
            submitted: submitted.0 as f64,
            waited: waited.0 as f64,
        }))
    }

    pub(super) fn score(self, job: Scored) -> f64 {
        let Scored {
            predicted: r,
            nodes: n,
            submitted,
            waited: w,
        } = job;
        let log10 = |value: f64| libm::log10(if value > 0.0 { value } else { SMALLEST });
        let log = || log10(submitted);
        match self {
            Self::Fcfs => submitted,
            Self::Sjf => r,
            Self::Smallest => n,
            Self::Saf => r * n,
            Self::F1 => log10(r) * n + 870.0 * log(),
            Self::F2 => r.sqrt() * n + 25_600.0 * log(),
            Self::F3 => r * n + 6.86e6 * log(),
            Self::F4 => r * n.sqrt() + 5.3e5 * log(),
            Self::Wfp3 => {
                let ratio = w / r;
                -(ratio * ratio * ratio) * n
            }
            Self::Unicep => -(w + UNICEP_OFFSET) / (libm::log2(n + UNICEP_OFFSET) * r),
        }
    }
}

#[cfg(test)]
impl ScoredOrder {
    /// Every order.
    pub(super) const ALL: [Self; 10] = [
        Self::Fcfs,
        Self::Sjf,
        Self::Smallest,
        Self::Saf,
        Self::F1,
        Self::F2,
        Self::F3,
        Self::F4,
        Self::Wfp3,
        Self::Unicep,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_vector() {
        let job = Scored {
            predicted: 7_200.0,
            nodes: 16.0,
            submitted: 3_600.0,
            waited: 1_800.0,
        };
        let scores = [
            (ScoredOrder::F1, 3_155.700_496),
            (ScoredOrder::F2, 92_398.989_040),
            (ScoredOrder::F3, 24_511_435.155),
            (ScoredOrder::F4, 1_913_640.325),
            (ScoredOrder::Wfp3, -0.25),
            (ScoredOrder::Unicep, -0.062_5),
            (ScoredOrder::Saf, 115_200.0),
        ];
        for (order, expected) in scores {
            let found = order.score(job);
            assert!((found - expected).abs() < 1e-3, "{order:?}: {found}");
        }
    }

    #[test]
    fn jobs_of_the_first_second_have_a_finite_score() {
        for order in ScoredOrder::ALL {
            let job = Scored {
                predicted: 1.0,
                nodes: 1.0,
                submitted: 0.0,
                waited: 0.0,
            };
            assert!(order.score(job).is_finite(), "{order:?}");
        }
    }
}
