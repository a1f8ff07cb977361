//! Users and applications for models that know none.
//!
//! Users follow a Zipf-like law. Each has a habit: a part of the range from bad to good estimates
//! in which most of their jobs lie. A job looks for a user by how well it was estimated, so the
//! other properties of the jobs stay as the model made them. Each user has a main and a second
//! application.

use super::swf::SwfRecord;
use super::variates::{running_sums, uniform, weighted};
use crate::random::Stream;

const USERS: usize = 60;
const APPLICATIONS: usize = 20;
/// Half the width of a habit, as a part of all jobs ordered by ratio of runtime to estimate.
const HABIT: f64 = 0.15;
/// How likely a job outside of a user's habit is, compared with one inside.
const OUTSIDE: f64 = 0.15;
/// Share of a user's jobs that run the main application.
const MAIN_APPLICATION: f64 = 0.8;

/// Fills in user (from 1), group (1) and executable (from 1).
pub(super) fn assign(records: &mut [SwfRecord], stream: &mut Stream) {
    let zipf = |count: usize| (1..=count).map(|rank| 1.0 / rank as f64);
    let popularity: Vec<f64> = zipf(USERS).collect();
    let habits: Vec<f64> = (0..USERS).map(|_| uniform(stream)).collect();
    let applications = running_sums(zipf(APPLICATIONS));
    let used: Vec<[usize; 2]> = (0..USERS)
        .map(|_| [(); 2].map(|()| weighted(&applications, stream)))
        .collect();

    let mut by_ratio: Vec<usize> = (0..records.len()).collect();
    let ratio = |record: &SwfRecord| record.run as f64 / record.requested_time.max(1) as f64;
    by_ratio.sort_by(|&a, &b| {
        ratio(&records[a])
            .total_cmp(&ratio(&records[b]))
            .then(a.cmp(&b))
    });
    let mut quality = vec![0.0; records.len()];
    for (place, &job) in by_ratio.iter().enumerate() {
        quality[job] = (place as f64 + 0.5) / records.len() as f64;
    }
    for (record, quality) in records.iter_mut().zip(quality) {
        let likelihood = popularity.iter().zip(&habits).map(|(popularity, habit)| {
            let inside = (quality - habit).abs() <= HABIT;
            popularity * if inside { 1.0 } else { OUTSIDE }
        });
        let user = weighted(&running_sums(likelihood), stream);
        let second = usize::from(uniform(stream) >= MAIN_APPLICATION);
        record.user = user as i64 + 1;
        record.group = 1;
        record.executable = used[user][second] as i64 + 1;
    }
}
