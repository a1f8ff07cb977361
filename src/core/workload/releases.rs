//! Release times in the future: jobs that are submitted now and may start later only (Birkenheuer
//! 2012, §5.1.1, whose evaluation releases every job at its submission).

use std::sync::Arc;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::job::Job;
use crate::random::Stream;
use crate::units::Seconds;

/// Which jobs may not start at their submission, and how long after it they may.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReleaseSettings {
    /// How many of the jobs, in percent: each is drawn on its own with this probability.
    pub share_percent: f64,
    /// The longest time from submission to release; each is uniform up to it.
    pub spread: Seconds,
}

impl ReleaseSettings {
    /// The random stream that they are drawn from.
    pub const STREAM: &str = "release times";

    /// Whether every job is released at its submission after all.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.share_percent <= 0.0 || self.spread <= Seconds::ZERO
    }

    /// The jobs with later release times; windows keep their lengths, so deadlines move with them.
    /// A reservation has said when it starts and keeps its window.
    ///
    /// Two numbers are drawn a job whatever becomes of it, so that a larger share contains the
    /// smaller one, and a longer spread stretches the times of a shorter one.
    #[must_use]
    pub fn applied(&self, jobs: &[Job], draws: &mut Stream) -> Arc<[Job]> {
        jobs.iter()
            .map(|job| {
                let chance: f64 = draws.random_range(0.0..100.0);
                let share: f64 = draws.random_range(0.0..1.0);
                if chance >= self.share_percent || job.is_reservation() {
                    return job.clone();
                }
                let later = Seconds((share * self.spread.0 as f64).round() as i64);
                Job {
                    release: job.release + later,
                    deadline: Seconds(job.deadline.0.saturating_add(later.0)),
                    ..job.clone()
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;
    use crate::units::Nodes;
    use crate::workload::JobId;

    fn jobs() -> Vec<Job> {
        (0..1_000)
            .map(|id| {
                let number = i64::from(id);
                Job::rigid(JobId(id), Seconds(number), Nodes(1), Seconds(50))
                    .running_for(Seconds(20))
                    .due_by(Seconds(number + 100))
                    .numbered(number)
            })
            .collect()
    }

    fn applied(share_percent: f64, spread: i64, jobs: &[Job]) -> Arc<[Job]> {
        let settings = ReleaseSettings {
            share_percent,
            spread: Seconds(spread),
        };
        let mut draws = random::stream(1, "releases", 0, ReleaseSettings::STREAM);
        settings.applied(jobs, &mut draws)
    }

    fn delays(share_percent: f64, spread: i64) -> Vec<i64> {
        let jobs = applied(share_percent, spread, &jobs());
        jobs.iter()
            .map(|job| (job.release - job.submit).0)
            .collect()
    }

    #[test]
    fn windows_move_whole_and_submissions_stay() {
        let before = jobs();
        for (job, asked) in applied(40.0, 3_600, &before).iter().zip(&before) {
            assert!(job.release >= job.submit && job.release - job.submit <= Seconds(3_600));
            assert_eq!(job.deadline - job.release, Seconds(100));
            let back = Job {
                release: asked.release,
                deadline: asked.deadline,
                ..job.clone()
            };
            assert_eq!(back, *asked);
        }
    }

    #[test]
    fn a_larger_share_contains_the_smaller_one_and_a_longer_spread_stretches_it() {
        let (few, many, longer) = (
            delays(25.0, 3_600),
            delays(50.0, 3_600),
            delays(25.0, 7_200),
        );
        let later = |delays: &[i64]| delays.iter().filter(|&&delay| delay > 0).count();
        assert!((200..300).contains(&later(&few)), "{}", later(&few));
        assert!((450..550).contains(&later(&many)), "{}", later(&many));
        for ((few, many), longer) in few.iter().zip(&many).zip(&longer) {
            assert!(*few == 0 || few == many);
            assert!((longer - 2 * few).abs() <= 1);
        }
        let mean = many.iter().sum::<i64>() as f64 / later(&many) as f64;
        assert!((mean - 1_800.0).abs() < 150.0, "{mean}");
    }

    #[test]
    fn a_reservation_keeps_its_window() {
        let fixed: Vec<Job> = jobs()
            .into_iter()
            .map(|job| {
                let start = job.submit + Seconds(500);
                job.into_reservation(start)
            })
            .collect();
        assert_eq!(*applied(100.0, 3_600, &fixed), *fixed);
    }
}
