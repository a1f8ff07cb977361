//! A whole trace as one simulation: no batteries, no deadlines, and a second copy where more load
//! is wanted.

use std::sync::Arc;

use rand::RngExt;

use super::battery::offered_load;
use super::error::WorkloadError;
use super::estimated::EstimatedJobs;
use super::job::{Job, JobId};
use super::settings::{
    Compression, CopyShift, Origin, TraceCopy, WholeTrace, Windows, WorkloadSettings,
};
use crate::random::Stream;
use crate::units::Seconds;

const DAY: Seconds = Seconds(86_400);

/// The jobs of a whole trace, from time 0, with ids from 0 in order of submission, and the
/// compression factor.
///
/// Copies of jobs (AMB-19, AMB-20) are drawn from a stream of their own, which `stream` opens by a
/// key, one draw a job, so that a larger percentage contains the smaller one. Deadlines are
/// [`Seconds::FAR`]: the machines of these studies promise none.
///
/// # Errors
/// [`WorkloadError`] where no job is left, or settings are impossible.
pub fn whole(
    label: &str,
    records: u64,
    usable: &EstimatedJobs,
    settings: &WorkloadSettings,
    whole: &WholeTrace,
    stream: impl Fn(&str) -> Stream,
) -> Result<(Arc<[Job]>, f64), WorkloadError> {
    check(settings, whole)?;
    // The key without the copy: all loads see the same draws.
    let key = format!("{};days={:?}", settings.source_key(), whole.days);
    let taken = |jobs: &[Job]| taken(jobs, whole, || stream(&key));
    let mut jobs = taken(&usable.jobs);
    if jobs.is_empty() {
        return Err(WorkloadError::NoJobs {
            label: label.to_owned(),
            records,
        });
    }
    let factor = match settings.compression {
        Compression::Factor { factor } => factor,
        Compression::TargetLoad { load, time } | Compression::BatteryLoad { load, time } => {
            let offered = if settings.counts_recorded_estimates() {
                offered_load(&taken(usable.of_load()), settings.nodes, time)
            } else {
                offered_load(&jobs, settings.nodes, time)
            };
            let offered = offered.filter(|offered| *offered > 0.0);
            let none = || WorkloadError::NoLoad {
                label: label.to_owned(),
                part: "the jobs of the trace".to_owned(),
            };
            offered.ok_or_else(none)? / load
        }
    };
    jobs.sort_by_key(|job| job.submit);
    for (job, id) in jobs.iter_mut().zip(0..) {
        job.id = JobId(id);
        job.submit = Seconds((job.submit.0 as f64 * factor).floor() as i64);
        job.release = job.submit;
    }
    Ok((jobs.into(), factor))
}

/// What of usable jobs a whole trace takes, with the copies that `stream` draws behind them.
fn taken(usable: &[Job], whole: &WholeTrace, stream: impl Fn() -> Stream) -> Vec<Job> {
    let first = usable.first().map_or(Seconds::ZERO, |job| job.submit);
    let origin = match whole.origin {
        Origin::FirstJob => first,
        Origin::Log => Seconds::ZERO,
    };
    let end = whole.days.map_or(Seconds::FAR, |days| {
        first + Seconds((days * DAY.0 as f64) as i64)
    });
    let mut jobs: Vec<Job> = usable
        .iter()
        .filter(|job| job.submit < end)
        .map(|job| Job {
            submit: job.submit - origin,
            estimate: if whole.exact_estimates {
                job.runtime.max(Seconds(1))
            } else {
                job.estimate
            },
            deadline: Seconds::FAR,
            ..job.clone()
        })
        .collect();
    if let Some(copy) = whole.copy {
        let horizon = end - origin;
        add_copies(&mut jobs, copy, horizon, &mut stream());
    }
    jobs
}

/// The jobs of a replication's window, with ids anew.
///
/// # Errors
/// [`WorkloadError::NoWindow`] where it has none, or the jobs do not reach to its end.
pub fn window(
    label: &str,
    jobs: &[Job],
    windows: &Windows,
    replication: u32,
) -> Result<Arc<[Job]>, WorkloadError> {
    let first = windows.first_jobs.get(replication as usize);
    let of_window = first.and_then(|first| {
        let first = *first as usize;
        jobs.get(first..first.checked_add(windows.jobs as usize)?)
    });
    let of_window = of_window.ok_or_else(|| WorkloadError::NoWindow {
        label: label.to_owned(),
        usable: jobs.len(),
        jobs: windows.jobs,
        replication: replication + 1,
    })?;
    let with_ids = (0..).zip(of_window).map(|(id, job)| Job {
        id: JobId(id),
        ..job.clone()
    });
    Ok(with_ids.collect())
}

/// The jobs with every submission moved by a whole number of seconds, uniform from −`most` to
/// `most` but not below 0, and ids anew in order of submission, ties as before (docs/model.md, "A
/// queue that plans with predictions").
#[must_use]
pub fn shaken(jobs: &[Job], most: u32, draws: &mut Stream) -> Arc<[Job]> {
    let most = i64::from(most);
    let mut jobs: Vec<Job> = jobs.to_vec();
    for job in &mut jobs {
        let moved = job.submit.0 + draws.random_range(-most..=most);
        job.submit = Seconds(moved.max(0));
        job.release = job.submit;
    }
    jobs.sort_by_key(|job| job.submit);
    for (job, id) in jobs.iter_mut().zip(0..) {
        job.id = JobId(id);
    }
    jobs.into()
}

fn add_copies(jobs: &mut Vec<Job>, copy: TraceCopy, horizon: Seconds, draws: &mut Stream) {
    let mut copies = Vec::new();
    for job in jobs.iter() {
        let chance: f64 = draws.random_range(0.0..100.0);
        let within: i64 = draws.random_range(0..DAY.0);
        if chance < copy.percent {
            let shift = match copy.shift {
                CopyShift::WithinADay => Seconds(within),
                CopyShift::AWeek => DAY * 7,
            };
            copies.push(Job {
                submit: job.submit + shift,
                ..job.clone()
            });
        }
    }
    copies.retain(|job| job.submit < horizon);
    jobs.append(&mut copies);
}

fn check(settings: &WorkloadSettings, whole: &WholeTrace) -> Result<(), WorkloadError> {
    let impossible = |key, found: String, allowed| {
        Err(WorkloadError::ImpossibleSetting {
            key,
            found,
            allowed,
        })
    };
    if settings.nodes.0 == 0 {
        return impossible("nodes", "0".to_owned(), "at least 1");
    }
    let (Compression::Factor { factor: value }
    | Compression::TargetLoad { load: value, .. }
    | Compression::BatteryLoad { load: value, .. }) = settings.compression;
    if !(value.is_finite() && value > 0.0) {
        return impossible("compression", value.to_string(), "a finite number above 0");
    }
    if let Some(days) = whole.days
        && !(days.is_finite() && days > 0.0)
    {
        return impossible("days", days.to_string(), "a number of days above 0");
    }
    if let Some(copy) = whole.copy
        && !(0.0..=100.0).contains(&copy.percent)
    {
        return impossible("copy_percent", copy.percent.to_string(), "0 to 100");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;
    use crate::units::Nodes;

    use crate::workload::WorkloadSource;

    fn settings(whole: WholeTrace) -> WorkloadSettings {
        WorkloadSettings {
            evaluation_jobs: 1,
            battery_jobs: 1,
            whole: Some(whole),
            ..WorkloadSettings::of(
                WorkloadSource::Trace {
                    file: "test.swf".to_owned(),
                },
                Nodes(10),
            )
        }
    }

    fn copies(key: &str) -> Stream {
        random::stream(1, key, 0, "trace copy")
    }

    /// A job an hour for ten days, from second 500 on.
    fn hourly() -> Vec<Job> {
        (0..240)
            .map(|hour| {
                let submit = Seconds(500 + hour * 3_600);
                Job::rigid(JobId(0), submit, Nodes(2), Seconds(7_200))
                    .running_for(Seconds(600))
                    .due_by(Seconds(0))
                    .numbered(hour + 1)
            })
            .collect()
    }

    fn jobs(whole: WholeTrace) -> Arc<[Job]> {
        super::whole(
            "test",
            240,
            &EstimatedJobs::as_they_are(hourly()),
            &settings(whole.clone()),
            &whole,
            copies,
        )
        .unwrap()
        .0
    }

    #[test]
    fn a_trace_of_some_days_begins_at_its_first_job() {
        let two = jobs(WholeTrace {
            days: Some(2.0),
            exact_estimates: true,
            ..WholeTrace::default()
        });
        assert_eq!(two.len(), 48);
        assert_eq!(two[0].submit, Seconds(0));
        assert!(two.iter().all(|job| job.estimate == Seconds(600)));
    }

    #[test]
    fn a_copy_adds_about_its_percentage_and_a_larger_one_contains_the_smaller() {
        let copied = |percent, shift| {
            jobs(WholeTrace {
                copy: Some(TraceCopy { percent, shift }),
                ..WholeTrace::default()
            })
        };
        let (small, large) = (
            copied(20.0, CopyShift::WithinADay),
            copied(40.0, CopyShift::WithinADay),
        );
        assert!((270..310).contains(&small.len()), "{}", small.len());
        assert!(large.len() > small.len());
        for job in small.iter() {
            assert!(
                large
                    .iter()
                    .any(|other| (other.submit, other.trace_number)
                        == (job.submit, job.trace_number))
            );
        }
        assert!(large.is_sorted_by_key(|job| job.submit));
        let weekly = copied(100.0, CopyShift::AWeek);
        assert_eq!(weekly.len(), 480);
        assert_eq!(weekly[479].submit, Seconds(239 * 3_600 + 7 * 86_400));
    }

    #[test]
    fn a_trace_without_usable_jobs_is_an_error_that_says_what_a_usable_job_needs() {
        let settings = settings(WholeTrace::default());
        let error = super::whole(
            "bare log",
            7,
            &EstimatedJobs::as_they_are(Vec::new()),
            &settings,
            &WholeTrace::default(),
            copies,
        )
        .unwrap_err()
        .to_string();
        assert!(
            error.contains("bare log") && error.contains("requested time"),
            "{error}"
        );
    }

    #[test]
    fn a_window_has_its_jobs_at_their_times_with_ids_of_its_own() {
        let windows = Windows {
            first_jobs: vec![0, 5, 239],
            jobs: 2,
        };
        let jobs = window("log", &hourly(), &windows, 1).unwrap();
        let found: Vec<_> = jobs.iter().map(|job| (job.id.0, job.submit.0)).collect();
        assert_eq!(found, [(0, 500 + 5 * 3_600), (1, 500 + 6 * 3_600)]);
        for replication in [2, 3] {
            let error = window("log", &hourly(), &windows, replication).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("workload.window_first_jobs"), "{error}");
        }
    }

    #[test]
    fn shaken_jobs_keep_everything_but_a_few_seconds() {
        let jobs: Vec<Job> = (0..500)
            .map(|id| {
                let number = i64::from(id);
                Job::rigid(JobId(id), Seconds(number * 7), Nodes(1), Seconds(100))
                    .running_for(Seconds(50))
                    .numbered(number)
            })
            .collect();
        let draw = |replication| {
            shaken(
                &jobs,
                30,
                &mut random::stream(1, "key", replication, "shake"),
            )
        };
        let moved = draw(0);
        assert_eq!(moved, draw(0));
        assert_ne!(moved, draw(1));
        assert!(moved.is_sorted_by_key(|job| job.submit));
        let mut back = moved.to_vec();
        back.sort_by_key(|job| job.trace_number);
        let shifts = back.iter().zip(&jobs).map(|(moved, job)| {
            assert_eq!((moved.estimate, moved.nodes), (job.estimate, job.nodes));
            (moved.submit - job.submit).0
        });
        let shifts: Vec<i64> = shifts.collect();
        assert!(shifts.iter().all(|shift| (-30..=30).contains(shift)));
        assert!(shifts.contains(&-30) && shifts.contains(&30));
        let ids: Vec<u32> = moved.iter().map(|job| job.id.0).collect();
        assert_eq!(ids, (0..500).collect::<Vec<_>>());
    }
}
