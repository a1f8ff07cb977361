//! Batteries of consecutive jobs: selection, learning/evaluation split, arrival compression,
//! execution windows (Birkenheuer 2012, §5.1.1, §5.1.2; ).

use std::ops::Deref;
use std::sync::Arc;

use super::error::WorkloadError;
use super::estimated::EstimatedJobs;
use super::job::{Job, JobId};
use super::job_stream::Demand;
use super::settings::{Compression, LoadTime, WorkloadSettings};
use crate::units::{Nodes, Seconds};

/// The evaluation part of a workload, ready to be simulated, and what its scaling did.
#[derive(Clone, Debug, PartialEq)]
pub struct Batteries {
    /// The jobs of each battery: ids from 0, first submit time 0.
    pub batteries: Vec<Arc<[Job]>>,
    /// The compression factor f of each battery.
    pub factors: Vec<f64>,
    /// Offered load of the evaluation jobs by their estimates over their own span, before
    /// compression; `None` where they were all submitted at once.
    pub offered_load: Option<f64>,
}

/// The first of jobs that are shared: replications learn from different parts of one log without a
/// copy each.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstJobs {
    all: Arc<[Job]>,
    count: usize,
}

impl FirstJobs {
    /// The first `count`, or all where there are fewer.
    #[must_use]
    pub fn of(all: &Arc<[Job]>, count: usize) -> Self {
        Self {
            all: Arc::clone(all),
            count: count.min(all.len()),
        }
    }
}

impl From<Vec<Job>> for FirstJobs {
    fn from(jobs: Vec<Job>) -> Self {
        Self {
            count: jobs.len(),
            all: jobs.into(),
        }
    }
}

impl Deref for FirstJobs {
    type Target = [Job];

    fn deref(&self) -> &[Job] {
        &self.all[..self.count]
    }
}

/// No deadline of a battery may be later: ten times the longest time of a trace. Sums of node-time
/// stay exact up to here.
const LATEST_DEADLINE: Seconds = Seconds(100_000_000_000);

/// Splits usable jobs into what is learned from and the last `evaluation_jobs`, in batteries. Of a
/// log with fresh replications the evaluated jobs are the one battery that lies as many batteries
/// before the last as the number of the replication says.
///
/// Within a battery `o = ⌊(submit − submit of its first job) · f⌋`, `e = o`, and the deadline lies
/// as far behind `o` as it did behind the original time: `d = o + ⌊laxity · x⌋`.
///
/// # Errors
/// [`WorkloadError`] where settings are impossible, there are too few jobs, or a load is asked of
/// jobs without a span.
pub fn split(
    label: &str,
    records: u64,
    usable: &EstimatedJobs,
    settings: &WorkloadSettings,
    replication: u32,
) -> Result<(FirstJobs, Batteries), WorkloadError> {
    check(settings)?;
    let of_load = usable.of_load();
    let usable = &usable.jobs;
    let evaluation = settings.evaluation_jobs as usize;
    let battery = settings.battery_jobs as usize;
    let later = if settings.is_log() {
        settings.workload_of(replication) as usize * battery
    } else {
        0
    };
    if settings.fresh && usable.len() < later + battery {
        return Err(WorkloadError::TooFewBatteries {
            label: label.to_owned(),
            usable: usable.len(),
            records,
            have: usable.len() / battery,
            battery_jobs: settings.battery_jobs,
            wanted: replication + 1,
        });
    }
    let end = usable.len() - later;
    if end < evaluation {
        return Err(WorkloadError::TooFewJobs {
            label: label.to_owned(),
            usable: usable.len(),
            records,
            needed: settings.evaluation_jobs,
        });
    }
    let evaluated = &usable[end - evaluation..end];
    let of_load = &of_load[end - evaluation..end];
    let offered_load = |jobs, time| self::offered_load(jobs, settings.nodes, time);
    let common_factor = match settings.compression {
        Compression::Factor { factor } => Some(factor),
        Compression::TargetLoad { load, time } => Some(factor_for(
            offered_load(of_load, time),
            load,
            label,
            "the evaluation jobs",
        )?),
        Compression::BatteryLoad { .. } => None,
    };
    let mut batteries = Vec::new();
    let mut factors = Vec::new();
    let loads = of_load.chunks_exact(battery);
    for (index, (jobs, of_load)) in evaluated.chunks_exact(battery).zip(loads).enumerate() {
        let factor = match (common_factor, settings.compression) {
            (Some(factor), _) => factor,
            (
                None,
                Compression::BatteryLoad { load, time } | Compression::TargetLoad { load, time },
            ) => factor_for(
                offered_load(of_load, time),
                load,
                label,
                &format!("battery {index}"),
            )?,
            (None, Compression::Factor { factor }) => factor,
        };
        let jobs = rebase(jobs, factor);
        if jobs.iter().any(|job| job.deadline > LATEST_DEADLINE) {
            return Err(WorkloadError::TooLong {
                label: label.to_owned(),
                battery: index,
                limit: LATEST_DEADLINE,
            });
        }
        batteries.push(jobs);
        factors.push(factor);
    }
    Ok((
        FirstJobs::of(usable, end - evaluation),
        Batteries {
            batteries,
            factors,
            offered_load: offered_load(evaluated, LoadTime::Estimates),
        },
    ))
}

/// The load that jobs in the order of their submissions offer to a machine
/// ([`Demand::offered_load`]). Jobs wider than the machine are left out, because they are dropped
/// at submission.
#[must_use]
pub fn offered_load(jobs: &[Job], machine: Nodes, time: LoadTime) -> Option<f64> {
    let mut demand = Demand::default();
    for job in jobs {
        demand.count(job, machine);
    }
    demand.offered_load(machine, time)
}

/// Arrival time after compression: `⌊(submit − first) · f⌋`.
#[must_use]
pub fn compressed(submit: Seconds, first: Seconds, factor: f64) -> Seconds {
    Seconds(((submit - first).0 as f64 * factor).floor() as i64)
}

/// The battery that lies `back` batteries (from 1) before the evaluated ones: the jobs of the end
/// of `learning`, made as the evaluated batteries are, at the compression factor `factor`. `None`
/// where there are not so many jobs.
#[must_use]
pub fn battery_before(
    learning: &[Job],
    battery_jobs: u32,
    back: usize,
    factor: f64,
) -> Option<Arc<[Job]>> {
    let length = battery_jobs as usize;
    let start = learning.len().checked_sub(back.checked_mul(length)?)?;
    Some(rebase(learning.get(start..start + length)?, factor))
}

fn rebase(jobs: &[Job], factor: f64) -> Arc<[Job]> {
    let first = jobs.first().map_or(Seconds::ZERO, |job| job.submit);
    (0..)
        .zip(jobs)
        .map(|(index, job)| {
            let submit = compressed(job.submit, first, factor);
            let window = job.deadline - job.submit;
            Job {
                id: JobId(index),
                submit,
                release: submit,
                deadline: Seconds(submit.0.saturating_add(window.0)),
                ..job.clone()
            }
        })
        .collect()
}

fn factor_for(
    offered: Option<f64>,
    target: f64,
    label: &str,
    part: &str,
) -> Result<f64, WorkloadError> {
    match offered {
        Some(offered) if offered > 0.0 => Ok(offered / target),
        _ => Err(WorkloadError::NoLoad {
            label: label.to_owned(),
            part: part.to_owned(),
        }),
    }
}

fn check(settings: &WorkloadSettings) -> Result<(), WorkloadError> {
    let impossible = |key: &'static str, found: String, allowed: &'static str| {
        Err(WorkloadError::ImpossibleSetting {
            key,
            found,
            allowed,
        })
    };
    if settings.nodes.0 == 0 {
        return impossible("nodes", "0".to_owned(), "at least 1");
    }
    if settings.battery_jobs == 0 {
        return impossible("battery_jobs", "0".to_owned(), "at least 1");
    }
    if settings.evaluation_jobs == 0
        || !settings
            .evaluation_jobs
            .is_multiple_of(settings.battery_jobs)
    {
        return impossible(
            "evaluation_jobs",
            settings.evaluation_jobs.to_string(),
            "a positive multiple of battery_jobs",
        );
    }
    let (key, value) = match settings.compression {
        Compression::Factor { factor } => ("compression.factor", factor),
        Compression::TargetLoad { load, .. } | Compression::BatteryLoad { load, .. } => {
            ("compression.load", load)
        }
    };
    if !(value.is_finite() && value > 0.0) {
        return impossible(key, value.to_string(), "a finite number above 0");
    }
    if !(settings.laxity.is_finite() && settings.laxity > 0.0) {
        return impossible(
            "laxity",
            settings.laxity.to_string(),
            "a finite number above 0",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::stream;

    use crate::workload::settings::WorkloadSource;

    fn settings(evaluation: u32, battery: u32, compression: Compression) -> WorkloadSettings {
        WorkloadSettings {
            evaluation_jobs: evaluation,
            battery_jobs: battery,
            compression,
            ..WorkloadSettings::of(
                WorkloadSource::Trace {
                    file: "test.swf".to_owned(),
                },
                Nodes(10),
            )
        }
    }

    fn job(submit: i64, nodes: u32, estimate: i64) -> Job {
        Job::rigid(JobId(0), Seconds(submit), Nodes(nodes), Seconds(estimate))
            .running_for(Seconds(1))
            .due_by(Seconds(submit + 2 * estimate))
            .numbered(submit)
    }

    fn split(
        label: &str,
        records: u64,
        usable: &Arc<[Job]>,
        settings: &WorkloadSettings,
        replication: u32,
    ) -> Result<(FirstJobs, Batteries), WorkloadError> {
        let usable = EstimatedJobs::of(
            usable.to_vec(),
            settings,
            stream(1, "test", 0, "early ends"),
        );
        super::split(label, records, &usable, settings, replication)
    }

    #[test]
    fn batteries_are_rebased_compressed_and_given_windows() {
        let jobs = vec![
            job(5, 1, 9),
            job(100, 2, 10),
            job(107, 2, 11),
            job(200, 1, 60),
            job(233, 1, 60),
        ];
        let settings = WorkloadSettings {
            laxity: 2.5,
            ..settings(4, 2, Compression::Factor { factor: 0.15 })
        };
        let (learning, split) = split("test", 5, &jobs.into(), &settings, 0).unwrap();
        assert_eq!(learning.len(), 1);
        // ⌊7 · 0.15⌋ = 1; ⌊33 · 0.15⌋ = 4; ⌊11 · 2.5⌋ = 27.
        let times: Vec<Vec<(i64, i64)>> = split
            .batteries
            .iter()
            .map(|jobs| {
                jobs.iter()
                    .map(|job| (job.submit.0, job.deadline.0))
                    .collect()
            })
            .collect();
        assert_eq!(times, [[(0, 25), (1, 28)], [(0, 150), (4, 154)]]);
        assert_eq!(split.batteries[1][1].id, JobId(1));
        assert_eq!(split.batteries[1][1].trace_number, 233);
    }

    #[test]
    fn a_target_load_divides_the_offered_load() {
        // Σ n·x = 2·50 + 1·100 = 200 on 10 nodes for 100 s: load 0.2; for a load of 2 the arrivals
        // shrink to a tenth. The job of 11 nodes does not fit the machine and offers nothing to it.
        let jobs = vec![job(0, 2, 50), job(40, 11, 1_000), job(100, 1, 100)];
        let load = |time| offered_load(&jobs, Nodes(10), time);
        assert_eq!(load(LoadTime::Estimates), Some(0.2));
        // Each runs for a second: Σ n·ω = 2 + 1 = 3.
        assert_eq!(load(LoadTime::Runtimes), Some(0.003));
        let whole = settings(3, 3, Compression::target_load(2.0));
        let (_, split_whole) = split("test", 3, &jobs.clone().into(), &whole, 0).unwrap();
        assert_eq!(split_whole.factors, [0.1]);
        let (load, time) = (0.3, LoadTime::Runtimes);
        let by_runtimes = settings(3, 3, Compression::TargetLoad { load, time });
        let (_, split_whole) = split("test", 3, &jobs.clone().into(), &by_runtimes, 0).unwrap();
        assert_eq!(split_whole.factors, [0.01]);
        let own = settings(2, 1, Compression::battery_load(2.0));
        assert!(matches!(
            split("test", 3, &jobs.into(), &own, 0),
            Err(WorkloadError::NoLoad { .. })
        ));
    }

    #[test]
    fn fresh_replications_of_a_log_are_its_batteries_from_the_last_one_backwards() {
        let jobs: Arc<[Job]> = (0..7)
            .map(|number| job(number * 100, 1, 40 + number))
            .collect();
        let settings = WorkloadSettings {
            fresh: true,
            ..settings(2, 2, Compression::battery_load(2.0))
        };
        for (replication, numbers, learned) in
            [(0, [500, 600], 5), (1, [300, 400], 3), (2, [100, 200], 1)]
        {
            let (learning, split) = split("log", 7, &jobs, &settings, replication).unwrap();
            assert_eq!(
                *learning,
                jobs[..learned],
                "everything before its own battery"
            );
            let [battery] = &split.batteries[..] else {
                panic!("one battery");
            };
            let found: Vec<i64> = battery.iter().map(|job| job.trace_number).collect();
            assert_eq!(found, numbers);
            // Its own load: Σ n·x over 10 nodes · 100 s, brought to 2.
            let work: i64 = battery.iter().map(|job| job.estimate.0).sum();
            assert_eq!(split.factors, [work as f64 / 1_000.0 / 2.0]);
        }
        let error = split("log", 7, &jobs, &settings, 3)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("hold 3 batteries of 2, and replication 4"),
            "{error}"
        );
    }

    #[test]
    fn too_few_jobs_are_an_error_that_says_how_many_there_are() {
        let wanted = settings(4, 2, Compression::Factor { factor: 1.0 });
        let error = split("short log", 9, &vec![job(0, 1, 1); 3].into(), &wanted, 0).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("short log") && message.contains("3 usable") && message.contains('9')
        );
    }

    #[test]
    fn impossible_settings_name_their_key() {
        for (settings, key) in [
            (
                settings(3, 2, Compression::Factor { factor: 1.0 }),
                "evaluation_jobs",
            ),
            (
                settings(0, 2, Compression::Factor { factor: 1.0 }),
                "evaluation_jobs",
            ),
            (
                settings(2, 0, Compression::Factor { factor: 1.0 }),
                "battery_jobs",
            ),
            (
                settings(2, 2, Compression::Factor { factor: 0.0 }),
                "compression.factor",
            ),
            (
                settings(2, 2, Compression::target_load(f64::NAN)),
                "compression.load",
            ),
        ] {
            let error = split("test", 2, &vec![job(0, 1, 1); 2].into(), &settings, 0).unwrap_err();
            assert!(
                matches!(error, WorkloadError::ImpossibleSetting { key: found, .. } if found == key)
            );
        }
    }

    proptest! {
        #[test]
        fn every_job_is_used_once_and_arrivals_keep_their_order(
            gaps in prop::collection::vec((0_i64..10_000, 1_u32..20, 1_i64..100_000), 1..80),
            factor in 0.01_f64..2.0,
            battery in 1_u32..6,
        ) {
            let mut clock = 0;
            let jobs: Vec<Job> = gaps
                .iter()
                .map(|&(gap, nodes, estimate)| { clock += gap; job(clock, nodes, estimate) })
                .collect();
            let evaluation = (jobs.len() as u32 / battery) * battery;
            prop_assume!(evaluation > 0);
            let settings = settings(evaluation, battery, Compression::Factor { factor });
            let (learning, split) = split("test", 0, &jobs.clone().into(), &settings, 0).unwrap();
            let numbers: Vec<i64> = learning
                .iter()
                .chain(split.batteries.iter().flat_map(|jobs| jobs.iter()))
                .map(|job| job.trace_number)
                .collect();
            prop_assert_eq!(numbers, jobs.iter().map(|job| job.trace_number).collect::<Vec<_>>());
            for jobs in &split.batteries {
                prop_assert_eq!(jobs[0].submit, Seconds::ZERO);
                prop_assert!(jobs.windows(2).all(|pair| pair[0].submit <= pair[1].submit));
                prop_assert!(jobs.iter().all(|job| job.deadline == job.submit + job.estimate * 2 && job.release == job.submit));
                prop_assert!((0..).zip(jobs.iter()).all(|(index, job)| job.id == JobId(index)));
            }
        }
    }

    #[test]
    fn times_scaled_beyond_every_calendar_were_an_endless_simulation_and_are_an_error() {
        let jobs = vec![job(0, 1, 10), job(100, 2, 10)];
        for (factor, laxity) in [(1e300, 2.0), (1e18, 2.0), (1.0, 1e12), (1.0, 1e300)] {
            let settings = WorkloadSettings {
                laxity,
                ..settings(2, 2, Compression::Factor { factor })
            };
            let error = split("test", 2, &jobs.clone().into(), &settings, 0).unwrap_err();
            assert!(error.to_string().contains("3169 years"), "{error}");
        }
    }
}
