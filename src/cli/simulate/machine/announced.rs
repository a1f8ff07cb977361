//! The reliability of announced starts: those of the first reservations of waiting jobs.

use serde::Serialize;

use super::answer::{hours, percent};
use crate::cli::simulate::answer::decimals;
use bookahead_queues::machine_queue::{MachineQueueJob, MachineQueueOutcome, Waits};

/// First announced starts beside the real ones.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct AnnouncedStarts {
    /// Jobs that did not start at their submission.
    waited: u64,
    /// Of these, those that were told a start before they started.
    announced: u64,
    /// `announced` of `waited`.
    announced_share: Option<f64>,
    /// Of |start − announced|.
    mean_error_seconds: Option<f64>,
    median_error_seconds: Option<f64>,
    /// Of those that were told a start: how many started later, as a share of them.
    later_share: Option<f64>,
    /// By how much those did.
    mean_delay_seconds: Option<f64>,
}

impl AnnouncedStarts {
    /// Of jobs and what became of them, in the same order.
    pub(super) fn of(jobs: &[MachineQueueJob], outcomes: &[MachineQueueOutcome]) -> Self {
        let mut waited = 0;
        let mut late_by: Vec<i64> = Vec::new();
        for (job, outcome) in jobs.iter().zip(outcomes) {
            let MachineQueueOutcome::Ran {
                start, announced, ..
            } = outcome
            else {
                continue;
            };
            waited += u64::from(*start > job.submit);
            late_by.extend(announced.map(|told| (*start - told.start).0));
        }
        let apart: Vec<i64> = late_by.iter().map(|late| late.abs()).collect();
        let delays: Vec<i64> = late_by.iter().copied().filter(|late| *late > 0).collect();
        let of = |list: &[i64]| (!list.is_empty()).then(|| Waits::of(list));
        let share = |part: usize, all: u64| (all > 0).then(|| part as f64 / all as f64);
        Self {
            waited,
            announced: late_by.len() as u64,
            announced_share: share(late_by.len(), waited),
            mean_error_seconds: of(&apart).map(|apart| apart.mean),
            median_error_seconds: of(&apart).map(|apart| apart.median),
            later_share: share(delays.len(), late_by.len() as u64),
            mean_delay_seconds: of(&delays).map(|delays| delays.mean),
        }
    }

    /// Lines of the answer in words, each with its name; none where nobody waited.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        if self.waited == 0 {
            return Vec::new();
        }
        let share = decimals(percent(self.announced_share), 2);
        let mut lines = vec![(
            "announced starts",
            format!(
                "{} of {} jobs that waited ({share} %)",
                self.announced, self.waited
            ),
        )];
        if let (Some(mean), Some(median)) = (self.mean_error_seconds, self.median_error_seconds) {
            let words = format!("mean {} h, median {} h", hours(mean), hours(median));
            lines.push(("  |start - announced|", words));
            let share = decimals(percent(self.later_share), 2);
            let delay = self.mean_delay_seconds.map_or_else(String::new, |delay| {
                format!(", by {} h in the mean", hours(delay))
            });
            lines.push(("  later than announced", format!("{share} %{delay}")));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Seconds;
    use bookahead_queues::machine_queue::{
        AccountIndex, Announcement, PartitionIndex, QualityIndex,
    };

    const JOB: MachineQueueJob = MachineQueueJob {
        trace_number: 1,
        submit: Seconds(100),
        request: Seconds(10),
        runtime: Seconds(10),
        cores: 1,
        cores_per_node: None,
        memory_megabytes_per_core: 0,
        gpus_per_node: 0,
        partition: PartitionIndex(0),
        quality: QualityIndex(0),
        account: AccountIndex(0),
        user: 1,
    };

    fn of(starts: &[(i64, Option<i64>)]) -> AnnouncedStarts {
        let outcomes: Vec<MachineQueueOutcome> = (starts.iter())
            .map(|(start, told)| MachineQueueOutcome::Ran {
                start: Seconds(*start),
                end: Seconds(start + 10),
                crosses: false,
                announced: told.map(|told| Announcement {
                    at: Seconds(100),
                    start: Seconds(told),
                }),
            })
            .collect();
        AnnouncedStarts::of(&vec![JOB; starts.len()], &outcomes)
    }

    #[test]
    fn errors_are_of_all_who_were_told_and_delays_of_those_who_started_later() {
        // One starts at once, one waits without a word; the others start 20 s early, 10 s late, 30
        // s late and as announced.
        let starts = [
            (100, None),
            (150, None),
            (180, Some(200)),
            (210, Some(200)),
            (230, Some(200)),
            (200, Some(200)),
        ];
        let expected = AnnouncedStarts {
            waited: 5,
            announced: 4,
            announced_share: Some(0.8),
            mean_error_seconds: Some(15.0),
            median_error_seconds: Some(10.0),
            later_share: Some(0.5),
            mean_delay_seconds: Some(20.0),
        };
        assert_eq!(of(&starts), expected);
    }

    #[test]
    fn nothing_is_said_where_nobody_waited_and_no_delay_where_nobody_was_late() {
        assert!(of(&[(100, None)]).lines().is_empty());
        let lines = of(&[(150, Some(200))]).lines();
        assert_eq!(lines[0].1, "1 of 1 jobs that waited (100.00 %)");
        assert_eq!(lines[2].1, "0.00 %");
    }
}
