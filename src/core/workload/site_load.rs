//! A trace at every load: thinned, as it is, or with jobs of a second copy (Singh 2008, §4.7).

use std::sync::Arc;

use rand::RngExt;

use super::job::{Job, JobId};
use crate::random;
use crate::units::Seconds;

/// How much later the second copy of a trace is submitted (AMB-19).
pub const SECOND_COPY_SHIFT: Seconds = Seconds(7 * 86_400);

/// A trace whose load can be chosen. A level of 100 is the trace as it is; below, each job is kept
/// with this probability in percent; above, each job of a second copy, a week later, is submitted
/// too with the probability `level − 100` (AMB-19).
///
/// Each job has one draw, so that a higher level contains every lower one.
#[derive(Clone, Debug)]
pub struct AdjustableTrace {
    jobs: Arc<[Job]>,
    /// In percent, one a job.
    draws: Vec<f64>,
}

impl AdjustableTrace {
    /// The highest level: both copies in full.
    pub const HIGHEST: f64 = 200.0;

    /// A trace from time 0 on, in order of submission. `key` names it; loads of the same key and
    /// seed see the same draws.
    #[must_use]
    pub fn new(jobs: Arc<[Job]>, seed: u64, key: &str) -> Self {
        let mut stream = random::stream(seed, key, 0, "site load");
        let draws = jobs
            .iter()
            .map(|_| stream.random_range(0.0..100.0))
            .collect();
        Self { jobs, draws }
    }

    /// The jobs at a level, by submission, with ids from 0. Submission times stay as they are.
    #[must_use]
    pub fn at(&self, level: f64) -> Arc<[Job]> {
        if level == 100.0 {
            return Arc::clone(&self.jobs);
        }
        let drawn = |limit: f64| {
            let pairs = self.jobs.iter().zip(&self.draws);
            pairs.filter(move |(_, draw)| **draw < limit)
        };
        let mut jobs: Vec<Job> = drawn(level).map(|(job, _)| job.clone()).collect();
        jobs.extend(drawn(level - 100.0).map(|(job, _)| Job {
            submit: job.submit + SECOND_COPY_SHIFT,
            release: job.release + SECOND_COPY_SHIFT,
            ..job.clone()
        }));
        jobs.sort_by_key(|job| job.submit);
        for (job, id) in jobs.iter_mut().zip(0..) {
            job.id = JobId(id);
        }
        jobs.into()
    }

    /// When loads are measured, the same for all levels: from the beginning of the second copy to
    /// the last submission of the first; from the first submission where the trace is not longer
    /// than two weeks.
    #[must_use]
    pub fn window(&self) -> (Seconds, Seconds) {
        let first = self.jobs.first().map_or(Seconds::ZERO, |job| job.submit);
        let last = self.jobs.last().map_or(Seconds::ZERO, |job| job.submit);
        let shifted = first + SECOND_COPY_SHIFT;
        if last > shifted + SECOND_COPY_SHIFT {
            (shifted, last)
        } else {
            (first, last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nodes;

    /// A job an hour.
    fn trace(hours: u32) -> AdjustableTrace {
        let jobs: Vec<Job> = (0..hours)
            .map(|hour| {
                let submit = Seconds::HOUR * i64::from(hour);
                Job::rigid(JobId(hour), submit, Nodes(2), Seconds(600))
                    .numbered(i64::from(hour) + 1)
            })
            .collect();
        AdjustableTrace::new(jobs.into(), 1, "hourly")
    }

    fn names(jobs: &[Job]) -> Vec<(Seconds, i64)> {
        let mut names: Vec<_> = jobs
            .iter()
            .map(|job| (job.submit, job.trace_number))
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn every_level_contains_the_lower_ones_and_has_about_its_share_of_the_jobs() {
        let trace = trace(1_000);
        let levels = [0.0, 30.0, 100.0, 120.0, 160.0, 200.0];
        for pair in levels.windows(2) {
            let (low, high) = (trace.at(pair[0]), trace.at(pair[1]));
            let higher = names(&high);
            assert!(
                names(&low)
                    .iter()
                    .all(|name| higher.binary_search(name).is_ok())
            );
            let expected = pair[1] * 10.0;
            assert!((high.len() as f64 - expected).abs() < 60.0, "{expected}");
            assert!(high.is_sorted_by_key(|job| job.submit));
            assert!(
                high.iter()
                    .zip(0..)
                    .all(|(job, place)| job.id.0 == place && job.release == job.submit)
            );
        }
        assert!(trace.at(0.0).is_empty());
    }

    #[test]
    fn the_second_copy_is_submitted_a_week_later_and_loads_are_measured_where_both_are() {
        let trace = trace(1_000);
        let doubled = trace.at(AdjustableTrace::HIGHEST);
        assert_eq!(doubled.len(), 2_000);
        assert_eq!(doubled[1_999].submit, Seconds::HOUR * (999 + 168));
        assert_eq!(trace.window(), (Seconds::HOUR * 168, Seconds::HOUR * 999));
    }

    #[test]
    fn a_short_trace_is_measured_from_its_first_job() {
        assert_eq!(trace(300).window(), (Seconds(0), Seconds::HOUR * 299));
    }
}
