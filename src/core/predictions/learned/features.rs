//! What the regression sees of a job: 19 base features and their products (Gaussier 2015).

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::super::Submission;
use crate::units::Seconds;

/// Base features of a job.
pub(super) const BASE_FEATURES: usize = 19;

/// Products of two different ones are made of the features 1 to 16.
const IN_PRODUCTS: usize = 16;

const DAY_SECONDS: i64 = 86_400;
const WEEK_SECONDS: i64 = 604_800;

/// All features of a job.
pub(super) const FEATURES: usize =
    BASE_FEATURES + IN_PRODUCTS * (IN_PRODUCTS - 1) / 2 + (BASE_FEATURES - 1);

/// Which base features are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// As published: what is meant as the last run times is the time since the submission of the
    /// last jobs, and a third is 0.33 (P-07).
    #[default]
    Published,
    /// The run times of the last jobs, and a third.
    Corrected,
}

/// What has become of a user's jobs so far.
#[derive(Clone, Debug, Default)]
pub(super) struct UserPast {
    /// The jobs that ended last, the last one first.
    last: [Ended; 3],
    /// Jobs that have ended.
    ended: u64,
    runtime_total: i64,
    nodes_total: u64,
    last_end: Seconds,
    running: Vec<Running>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    submit: Seconds,
    runtime: Seconds,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    job: u32,
    nodes: u32,
    start: Seconds,
}

impl UserPast {
    pub(super) fn started(&mut self, submission: &Submission, start: Seconds) {
        self.running.push(Running {
            job: submission.index,
            nodes: submission.nodes.0,
            start,
        });
    }

    pub(super) fn ended(&mut self, submission: &Submission, start: Seconds, end: Seconds) {
        self.running
            .retain(|running| running.job != submission.index);
        let runtime = end - start;
        self.last.rotate_right(1);
        self.last[0] = Ended {
            submit: submission.submit,
            runtime,
        };
        self.ended += 1;
        self.runtime_total += runtime.0;
        self.nodes_total += u64::from(submission.nodes.0);
        self.last_end = end;
    }

    /// The k-th last job, from 0, as it enters the features.
    fn last(&self, k: usize, submission: &Submission, which: Features) -> Option<f64> {
        let ended = (self.ended > k as u64).then_some(self.last[k])?;
        let seconds = match which {
            Features::Published => submission.submit - ended.submit,
            Features::Corrected => ended.runtime,
        };
        Some(submission.request.min(seconds).0 as f64)
    }
}

/// The base features of a job at its submission.
pub(super) fn base_features(
    submission: &Submission,
    past: &UserPast,
    which: Features,
) -> [f64; BASE_FEATURES] {
    let request = submission.request.0 as f64;
    let now = submission.submit;
    let nodes = f64::from(submission.nodes.0);
    let last = [0, 1, 2].map(|k| past.last(k, submission, which));
    let [first, second, third] = last.map(|last| last.unwrap_or(request));
    let (of_two, of_three) = match past.ended {
        0 => (request, request),
        1 => (first, first),
        2 => {
            let mean = 0.5 * (first + second);
            (mean, mean)
        }
        _ => {
            let sum = first + second + third;
            let of_three = match which {
                Features::Published => 0.33 * sum,
                Features::Corrected => sum / 3.0,
            };
            (0.5 * (first + second), of_three)
        }
    };
    let mut features = [0.0; BASE_FEATURES];
    features[..7].copy_from_slice(&[1.0, first, second, third, request, of_two, of_three]);
    if past.ended > 0 {
        let ended = past.ended as f64;
        features[7] = past.runtime_total as f64 / ended;
        features[8] = (now - past.last_end).0 as f64;
        features[9] = nodes / (past.nodes_total as f64 / ended);
    }
    for running in &past.running {
        let elapsed = (now - running.start).0 as f64;
        features[10] += f64::from(running.nodes);
        features[11] += elapsed;
        features[12] += 1.0;
        features[13] = features[13].max(elapsed);
    }
    for (place, period) in [(14, DAY_SECONDS), (16, WEEK_SECONDS)] {
        let angle = TAU * now.0.rem_euclid(period) as f64 / period as f64;
        (features[place + 1], features[place]) = libm::sincos(angle);
    }
    features[18] = nodes;
    features
}

/// The base features, then the products of two different ones, then the squares; into `all`, which
/// has room for them.
pub(super) fn expand(base: &[f64; BASE_FEATURES], all: &mut [f64; FEATURES]) {
    let (own, mut rest) = all.split_at_mut(BASE_FEATURES);
    own.copy_from_slice(base);
    for first in 1..IN_PRODUCTS {
        let others = &base[first + 1..=IN_PRODUCTS];
        let (products, after) = rest.split_at_mut(others.len());
        for (product, other) in products.iter_mut().zip(others) {
            *product = base[first] * other;
        }
        rest = after;
    }
    for (square, feature) in rest.iter_mut().zip(&base[1..]) {
        *square = feature * feature;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::UserIndex;
    use super::*;
    use crate::units::Nodes;

    fn submission(index: u32, submit: i64, request: i64) -> Submission {
        Submission {
            index,
            submit: Seconds(submit),
            request: Seconds(request),
            nodes: Nodes(4),
            user: UserIndex(0),
        }
    }

    #[test]
    fn the_time_of_day_and_of_the_week_is_an_angle() {
        let angles = |submit| {
            let features = base_features(
                &submission(0, submit, 1),
                &UserPast::default(),
                Features::Published,
            );
            [features[14], features[15], features[16], features[17]]
        };
        for (submit, expected) in [
            (21_600, [0.0, 1.0, 0.974_928, 0.222_521]),
            (302_400, [-1.0, 0.0, -1.0, 0.0]),
        ] {
            for (found, expected) in angles(submit).iter().zip(expected) {
                assert!((found - expected).abs() < 5e-7, "{found} for {expected}");
            }
        }
    }

    /// Both at once are those of the two functions alone, to the last bit, at every second of a day
    /// and of a week.
    #[test]
    fn sine_and_cosine_at_once_are_those_of_the_functions_alone() {
        for period in [DAY_SECONDS, WEEK_SECONDS] {
            for second in 0..period {
                let angle = TAU * second as f64 / period as f64;
                let alone = (libm::sin(angle), libm::cos(angle));
                let (sine, cosine) = libm::sincos(angle);
                assert_eq!(sine.to_bits(), alone.0.to_bits(), "{angle}");
                assert_eq!(cosine.to_bits(), alone.1.to_bits(), "{angle}");
            }
        }
    }

    #[test]
    fn there_are_157_features() {
        assert_eq!(FEATURES, 157);
        let mut all = [0.0; FEATURES];
        let base: [f64; BASE_FEATURES] = std::array::from_fn(|place| place as f64 + 1.0);
        expand(&base, &mut all);
        assert_eq!(all[19], 2.0 * 3.0);
        assert_eq!(all[138], 16.0 * 17.0);
        assert_eq!(all[139], 2.0 * 2.0);
        assert_eq!(all[156], 19.0 * 19.0);
    }

    #[test]
    fn features_of_a_user_are_made_of_ended_and_running_jobs() {
        let mut past = UserPast::default();
        for (index, submit, start, end) in [(0, 0, 10, 40), (1, 20, 20, 90)] {
            let job = submission(index, submit, 500);
            past.started(&job, Seconds(start));
            past.ended(&job, Seconds(start), Seconds(end));
        }
        past.started(&submission(2, 60, 500), Seconds(70));
        past.started(&submission(3, 60, 500), Seconds(95));
        let published = base_features(&submission(4, 100, 300), &past, Features::Published);
        let expected = [
            1.0, 80.0, 100.0, 300.0, 300.0, 90.0, 90.0, 50.0, 10.0, 1.0, 8.0, 35.0, 2.0, 30.0,
        ];
        assert_eq!(published[..14], expected);
        let corrected = base_features(&submission(4, 100, 300), &past, Features::Corrected);
        assert_eq!(corrected[1..3], [70.0, 30.0]);
    }
}
