//! How well promised starts were kept, for queues and for plans alike: the difference between the
//! first promised and the real start of a waiting job.
//!
//! Responsible for the choice of the jobs that count, and for the figures. Not responsible for the
//! promises themselves (policies, and the queue with predictions).

use super::measures::Measured;
use super::outcome::JobOutcome;
use crate::units::Seconds;

/// A start that was promised to a job, and the real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromisedStart {
    /// When the promise was given.
    pub given: Seconds,
    /// The start that was promised.
    pub promised: Seconds,
    /// The last real start; `None` where the job never started.
    pub start: Option<Seconds>,
}

impl PromisedStart {
    /// What a plan promised a job at its submission; `None` where that says nothing of a wait: the
    /// job was rejected or promised nothing, asked for a fixed window itself, or started at once as
    /// it was promised.
    #[must_use]
    pub fn of_plan(outcome: &JobOutcome) -> Option<Self> {
        let promised = outcome.promise?.start;
        let job = &outcome.job;
        let waits = promised > job.release || outcome.start != Some(promised);
        (waits && !job.is_reservation()).then_some(Self {
            given: job.submit,
            promised,
            start: outcome.start,
        })
    }
}

/// The measures of kept promises, over the promises of `jobs` accepted jobs. Empty if no job was
/// promised a start.
#[must_use]
pub fn promise_measures(jobs: usize, promises: &[PromisedStart]) -> Measured {
    let mut measured = Measured::default();
    if promises.is_empty() {
        return measured;
    }
    let count = promises.len() as f64;
    let percent = |part: usize| 100.0 * part as f64 / count;
    let mut behind: Vec<i64> = promises
        .iter()
        .filter_map(|promise| Some((promise.start? - promise.promised).0))
        .collect();
    let mut errors: Vec<i64> = behind.iter().map(|span| span.abs()).collect();
    behind.sort_unstable();
    errors.sort_unstable();
    let early = &behind[..behind.partition_point(|span| *span < 0)];
    let late = &behind[behind.partition_point(|span| *span <= 0)..];
    let ahead: i64 = promises
        .iter()
        .map(|promise| (promise.promised - promise.given).0)
        .sum();
    measured.add("promised_percent", 100.0 * count / jobs as f64);
    measured.add("promise_ahead_seconds", ahead as f64 / count);
    measured.add("promise_error_seconds", mean(&errors));
    measured.add("promise_error_median_seconds", quantile(&errors, 1, 2));
    measured.add("promise_error_p90_seconds", quantile(&errors, 9, 10));
    measured.add("promise_late_percent", percent(late.len()));
    measured.add("promise_late_seconds", mean(late));
    measured.add(
        "promise_margin_p90_seconds",
        quantile(&behind, 9, 10).max(0.0),
    );
    measured.add("promise_early_percent", percent(early.len()));
    measured.add("promise_early_seconds", -mean(early));
    measured.add(
        "promise_unstarted_percent",
        percent(promises.len() - behind.len()),
    );
    measured
}

/// The mean; NaN, which is left out as a measure, of nothing.
fn mean(spans: &[i64]) -> f64 {
    spans.iter().sum::<i64>() as f64 / spans.len() as f64
}

/// The smallest of the sorted spans that at least `above / below` of them do not exceed; NaN of
/// nothing.
fn quantile(sorted: &[i64], above: usize, below: usize) -> f64 {
    let rank = (sorted.len() * above).div_ceil(below);
    let found = rank.checked_sub(1).and_then(|place| sorted.get(place));
    found.map_or(f64::NAN, |span| *span as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::{Promise, Verdict};
    use crate::units::Nodes;
    use crate::workload::{Job, JobId, JobKind};

    fn promise(promised: i64, start: Option<i64>) -> PromisedStart {
        PromisedStart {
            given: Seconds(0),
            promised: Seconds(promised),
            start: start.map(Seconds),
        }
    }

    #[test]
    fn late_early_and_unstarted_jobs_are_told_apart() {
        // Starts behind their promise: −300, −100, 0, 50, 250; one never started.
        let promises = [
            promise(400, Some(300)),
            promise(1_000, Some(700)),
            promise(100, Some(100)),
            promise(100, Some(150)),
            promise(300, None),
            promise(200, Some(450)),
        ];
        let measured = promise_measures(12, &promises);
        let value = |name| measured.get(name).unwrap();
        assert_eq!(value("promised_percent"), 50.0);
        assert_eq!(value("promise_ahead_seconds"), 350.0);
        assert_eq!(value("promise_error_seconds"), 140.0);
        assert_eq!(value("promise_error_median_seconds"), 100.0);
        assert_eq!(value("promise_error_p90_seconds"), 300.0);
        assert!((value("promise_late_percent") - 100.0 / 3.0).abs() < 1e-12);
        assert_eq!(value("promise_late_seconds"), 150.0);
        assert_eq!(value("promise_margin_p90_seconds"), 250.0);
        assert!((value("promise_early_percent") - 100.0 / 3.0).abs() < 1e-12);
        assert_eq!(value("promise_early_seconds"), 200.0);
        assert!((value("promise_unstarted_percent") - 100.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_margin_is_nothing_where_nine_of_ten_start_in_time() {
        let mut promises = vec![promise(100, Some(40)); 9];
        promises.push(promise(100, Some(900)));
        let measured = promise_measures(10, &promises);
        assert_eq!(measured.get("promise_margin_p90_seconds"), Some(0.0));
        assert_eq!(measured.get("promise_error_p90_seconds"), Some(60.0));
    }

    #[test]
    fn nobody_late_has_no_mean_delay_and_no_promise_no_measure() {
        let measured = promise_measures(4, &[promise(100, Some(100))]);
        assert_eq!(measured.get("promise_late_percent"), Some(0.0));
        assert_eq!(measured.get("promise_late_seconds"), None);
        assert_eq!(promise_measures(4, &[]), Measured::default());
    }

    /// A job that is submitted and may start at 10.
    fn outcome(promised: Option<i64>, start: Option<i64>, kind: JobKind) -> JobOutcome {
        JobOutcome {
            job: Job {
                kind,
                ..Job::rigid(JobId(0), Seconds(10), Nodes(1), Seconds(100))
                    .running_for(Seconds(50))
                    .due_by(Seconds(1_000))
                    .numbered(1)
            },
            verdict: Verdict::SuccessfulFinished,
            class: None,
            promise: promised.map(|start| Promise::certain(Seconds(start), Seconds(start + 100))),
            start: start.map(Seconds),
            end: None,
            restarts: 0,
            execution: None,
            late: None,
            node_failures: 0,
        }
    }

    #[test]
    fn a_start_at_once_is_no_promise_unless_it_was_broken() {
        let of = |promised, start, kind| PromisedStart::of_plan(&outcome(promised, start, kind));
        assert_eq!(of(Some(10), Some(10), JobKind::Flexible), None);
        assert_eq!(of(None, Some(40), JobKind::Flexible), None);
        assert_eq!(of(Some(40), Some(40), JobKind::Reservation), None);
        for (promised, start) in [(40, Some(10)), (10, Some(40)), (10, None)] {
            let counted = of(Some(promised), start, JobKind::Flexible).unwrap();
            assert_eq!(counted.given, Seconds(10));
            assert_eq!(counted.promised, Seconds(promised));
            assert_eq!(counted.start, start.map(Seconds));
        }
    }
}
