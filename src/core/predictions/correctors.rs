//! What holds when a job outlives its prediction (Tsafrir 2007; Gaussier 2015; docs/model.md, "A
//! queue that plans with predictions").

use serde::{Deserialize, Serialize};

use crate::units::Seconds;

/// A rule for the new prediction of a job that runs longer than predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Corrector {
    /// What the user asked for.
    #[default]
    Request,
    /// Twice the prediction, as published without a cap at the request.
    Doubling,
    /// Twice the prediction, at most the request.
    CappedDoubling,
    /// At the k-th expiry the first prediction plus the k-th step, at most the request (Gaussier et
    /// al. 2015).
    Increments,
    /// To the request, then steps that are added up beyond it (Tsafrir et al. 2007).
    RequestThenSteps,
    /// Steps that are added up, up to the request and beyond it.
    Steps,
    /// The prediction stays: a job that has outlived it counts as ending now.
    None,
    /// The prediction stays, and so does the planned end, which then lies in the past.
    Unchanged,
}

/// All correctors with one line for people, in the order of tables.
pub const CORRECTORS: &[(Corrector, &str)] = &[
    (Corrector::Request, "what the user asked for"),
    (Corrector::Doubling, "twice the prediction, not capped"),
    (
        Corrector::CappedDoubling,
        "twice the prediction, at most the request",
    ),
    (
        Corrector::Increments,
        "the first prediction plus 1, 5, 15, 30 min, 1, 2, 5, … h, at most the request",
    ),
    (
        Corrector::RequestThenSteps,
        "the request, then 1, 5, 15, 30 min, … more each time",
    ),
    (
        Corrector::Steps,
        "1, 5, 15, 30 min, … more each time, stopping at the request once",
    ),
    (Corrector::None, "none: the job counts as ending now"),
    (
        Corrector::Unchanged,
        "none: the job counts as ending when it was planned to, however long ago",
    ),
];

/// 1, 5, 15, 30 minutes, 1, 2, 5, 10, 20, 50, 100 hours.
const STEPS: [i64; 11] = [
    60, 300, 900, 1_800, 3_600, 7_200, 18_000, 36_000, 72_000, 180_000, 360_000,
];

/// How far the correction of one job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The prediction at submission.
    pub first: Seconds,
    /// The prediction that has expired.
    pub expired: Seconds,
    /// What the user asked for.
    pub request: Seconds,
    /// Which expiry of the job this is, from 1.
    pub expiry: u32,
    /// Steps that were taken so far.
    pub steps: u32,
}

impl Corrector {
    /// The new prediction and the steps taken then; `None` where the prediction stays.
    #[must_use]
    pub fn correct(self, correction: &Correction) -> Option<(Seconds, u32)> {
        let Correction {
            first,
            expired,
            request,
            expiry,
            steps,
        } = *correction;
        let step = |taken: u32| Seconds(STEPS[(taken as usize).min(STEPS.len() - 1)]);
        let added = || Some((expired + step(steps), steps + 1));
        match self {
            Self::Request => Some((request, steps)),
            Self::Doubling => Some((expired * 2, steps)),
            Self::CappedDoubling => Some(((expired * 2).min(request), steps)),
            Self::Increments => {
                let step = STEPS.get(expiry as usize - 1);
                let next = step.map_or(request, |step| (first + Seconds(*step)).min(request));
                Some((next, steps))
            }
            Self::RequestThenSteps if expired < request => Some((request, steps)),
            Self::Steps if expired < request => {
                Some(((expired + step(steps)).min(request), steps + 1))
            }
            Self::RequestThenSteps | Self::Steps => added(),
            Self::None | Self::Unchanged => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Predictions after each expiry until the job ends.
    fn corrected(corrector: Corrector, first: i64, request: i64, runtime: i64) -> Vec<i64> {
        let (mut expired, mut steps, mut expiry) = (Seconds(first), 0, 0);
        let mut predictions = Vec::new();
        while expired.0 < runtime {
            expiry += 1;
            let correction = Correction {
                first: Seconds(first),
                expired,
                request: Seconds(request),
                expiry,
                steps,
            };
            let Some((next, taken)) = corrector.correct(&correction) else {
                break;
            };
            assert!(next > expired, "{corrector:?} must enlarge {expired}");
            (expired, steps) = (next, taken);
            predictions.push(next.0);
        }
        predictions
    }

    #[test]
    fn increments_are_counted_from_the_first_prediction() {
        assert_eq!(
            corrected(Corrector::Increments, 600, 7_200, 5_000),
            [660, 900, 1_500, 2_400, 4_200, 7_200]
        );
        assert_eq!(
            corrected(Corrector::Increments, 600, 3_000, 2_999),
            [660, 900, 1_500, 2_400, 3_000]
        );
    }

    #[test]
    fn doubling_passes_the_request_unless_it_is_capped() {
        assert_eq!(
            corrected(Corrector::Doubling, 700, 5_100, 5_000),
            [1_400, 2_800, 5_600]
        );
        assert_eq!(
            corrected(Corrector::CappedDoubling, 700, 5_100, 5_000),
            [1_400, 2_800, 5_100]
        );
        assert_eq!(corrected(Corrector::Request, 700, 5_100, 5_000), [5_100]);
    }

    #[test]
    fn steps_beyond_the_request_are_added_up() {
        assert_eq!(
            corrected(Corrector::RequestThenSteps, 100, 1_000, 2_000),
            [1_000, 1_060, 1_360, 2_260]
        );
        assert_eq!(
            corrected(Corrector::Steps, 100, 1_000, 1_500),
            [160, 460, 1_000, 2_800]
        );
    }

    #[test]
    fn increments_that_are_used_up_leave_the_request() {
        let correction = Correction {
            first: Seconds(1),
            expired: Seconds(360_001),
            request: Seconds(999_999),
            expiry: 12,
            steps: 0,
        };
        assert_eq!(
            Corrector::Increments.correct(&correction),
            Some((Seconds(999_999), 0))
        );
    }
}
