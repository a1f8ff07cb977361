//! Adapts the own jobs of a site to a wanted utilisation (Singh 2008, §4.7; AMB-15, AMB-15b,
//! AMB-15c, AMB-19).

use std::sync::Arc;

use bookahead_core::kernel::drive;
use bookahead_core::scheduling::queue::Waiting;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{AdjustableTrace, Job};
use bookahead_reservations::replanning::{
    FreeResources, JobMarks, MachineMemory, ReplanningRun, ReplanningSettings, replanning_scene,
};

use super::{SiteLoad, SiteWorkload};

/// The largest difference, in percent of the machine, between a utilisation and the wanted one
/// (AMB-15).
pub const LOAD_TOLERANCE: f64 = 1.0;

/// A search ends when it is as near as this, in percent of the machine.
const NEAR: f64 = 0.1;

/// More halvings change nothing: a level is then finer than one job of a hundred thousand.
const HALVINGS: u32 = 20;

/// Why a site cannot be brought to a load.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SiteLoadError {
    /// No utilisation at all.
    #[error("{label}: a utilisation of {wanted} % was asked for; allowed is above 0 and below 100")]
    Impossible {
        /// The trace.
        label: String,
        /// In percent.
        wanted: f64,
    },
    /// Not even two copies of the trace are enough, or the queue cannot fill the machine so far.
    #[error(
        "{label}: a utilisation of {wanted} % was asked for, but the nearest that thinning the trace or submitting it twice \
         comes to on {nodes} is {nearest:.1} %; ask for one nearer to that, or choose another size of the machine"
    )]
    OutOfReach {
        /// The trace.
        label: String,
        /// In percent.
        wanted: f64,
        /// Size of the machine.
        nodes: Nodes,
        /// The nearest that was found, in percent.
        nearest: f64,
    },
}

/// A site with these jobs, a whole trace from time 0 on in order of submission; brought to a wanted
/// utilisation in percent if one is given. A trace that is within [`LOAD_TOLERANCE`] of it is left
/// as it is.
///
/// Utilisation is the share of the machine that runs within the [window](AdjustableTrace::window)
/// under conservative backfilling without applications (AMB-15b, AMB-15c). `key` names the trace
/// for random draws: all loads of a trace should be given the same. The site has no node failures
/// yet.
///
/// # Errors
///
/// When the utilisation cannot be reached.
pub fn load_site(
    label: &str,
    jobs: Arc<[Job]>,
    (nodes, memory): (Nodes, Option<MachineMemory>),
    wanted_percent: Option<f64>,
    seed: u64,
    key: &str,
) -> Result<SiteWorkload, SiteLoadError> {
    let trace = AdjustableTrace::new(jobs, seed, key);
    let window = trace.window();
    let found = |level: f64, jobs: Arc<[Job]>, utilisation_percent: f64| SiteWorkload {
        label: label.to_owned(),
        nodes,
        jobs,
        load: SiteLoad {
            wanted_percent,
            utilisation_percent,
            copied_percent: (level - 100.0).max(0.0),
            kept_percent: level.min(100.0),
            window,
        },
        failures: Arc::default(),
        memory,
    };
    let measure = |level: f64| {
        let jobs = trace.at(level);
        let utilisation = utilisation_percent(&jobs, (nodes, memory), window);
        (level, jobs, utilisation)
    };
    let mut best = measure(100.0);
    let Some(wanted) = wanted_percent else {
        return Ok(found(best.0, best.1, best.2));
    };
    if !(wanted > 0.0 && wanted < 100.0) {
        return Err(SiteLoadError::Impossible {
            label: label.to_owned(),
            wanted,
        });
    }
    let distance = |utilisation: f64| (utilisation - wanted).abs();
    if distance(best.2) > LOAD_TOLERANCE {
        let (mut low, mut high) = if best.2 < wanted {
            (100.0, AdjustableTrace::HIGHEST)
        } else {
            (0.0, 100.0)
        };
        for _ in 0..HALVINGS {
            let middle = measure((low + high) / 2.0);
            if middle.2 < wanted {
                low = middle.0;
            } else {
                high = middle.0;
            }
            if distance(middle.2) < distance(best.2) {
                best = middle;
            }
            if distance(best.2) <= NEAR {
                break;
            }
        }
    }
    if distance(best.2) > LOAD_TOLERANCE {
        return Err(SiteLoadError::OutOfReach {
            label: label.to_owned(),
            wanted,
            nodes,
            nearest: best.2,
        });
    }
    Ok(found(best.0, best.1, best.2))
}

/// The share that runs within `window` under conservative backfilling, in percent of the machine's
/// node-time; 0 for an empty window.
#[must_use]
pub fn utilisation_percent(
    jobs: &[Job],
    (nodes, memory): (Nodes, Option<MachineMemory>),
    window: (Seconds, Seconds),
) -> f64 {
    let capacity = nodes.for_span(window.1 - window.0);
    if capacity.0 <= 0 {
        return 0.0;
    }
    let exact = jobs
        .iter()
        .all(|job| job.runtime.max(Seconds(1)) == job.estimate);
    let used = if exact {
        used_by_exact(jobs, (nodes, memory), window)
    } else {
        let (settings, nothing) = (ReplanningSettings::default(), Arc::default());
        let (jobs, failures) = (Arc::from(jobs), Arc::default());
        let mut scene = replanning_scene(
            nodes,
            &settings,
            &jobs,
            &nothing,
            &JobMarks::default(),
            &failures,
        );
        if let Some(memory) = memory {
            scene.machine.count_memory(memory);
        }
        let run = ReplanningRun::of(drive(scene, true));
        let runs = run.jobs.iter().filter_map(|outcome| {
            let (start, end) = (outcome.start?, outcome.end?);
            Some(within(outcome.job.nodes, start, end, window))
        });
        runs.fold(NodeSeconds(0), |sum, part| sum + part)
    };
    100.0 * used.0 as f64 / capacity.0 as f64
}

/// With exact estimates no plan ever changes: each job gets its place once, in order of submission.
fn used_by_exact(
    jobs: &[Job],
    (nodes, memory): (Nodes, Option<MachineMemory>),
    window: (Seconds, Seconds),
) -> NodeSeconds {
    let mut free = FreeResources::new(nodes, Seconds::ZERO);
    if let Some(memory) = memory {
        free = free.with_memory(memory.size, Seconds::ZERO);
    }
    let mut used = NodeSeconds(0);
    for job in jobs.iter().filter(|job| job.nodes <= nodes) {
        free.forget_some_before(job.submit);
        let start = free.place(&Waiting::from(job), job.submit);
        used += within(job.nodes, start, start + job.runtime, window);
    }
    used
}

fn within(nodes: Nodes, start: Seconds, end: Seconds, window: (Seconds, Seconds)) -> NodeSeconds {
    let span = end.min(window.1) - start.max(window.0);
    nodes.for_span(span.max(Seconds::ZERO))
}

#[cfg(test)]
mod tests {
    use bookahead_core::units::Megabytes;
    use bookahead_core::workload::JobId;

    use super::*;

    /// A job of two hours every hour on a quarter of the machine, for 60 days; recorded estimates
    /// are twice as long.
    fn jobs(exact: bool) -> Arc<[Job]> {
        (0..1_440)
            .map(|hour| {
                Job::rigid(
                    JobId(hour),
                    Seconds::HOUR * i64::from(hour),
                    Nodes(2),
                    Seconds::HOUR * if exact { 2 } else { 4 },
                )
                .running_for(Seconds::HOUR * 2)
            })
            .collect()
    }

    fn loaded(exact: bool, wanted: Option<f64>) -> Result<SiteWorkload, SiteLoadError> {
        load_site("hourly", jobs(exact), (Nodes(8), None), wanted, 1, "hourly")
    }

    #[test]
    fn a_trace_as_it_is_is_measured_and_one_near_enough_is_left_alone() {
        for wanted in [None, Some(50.4)] {
            let site = loaded(true, wanted).unwrap();
            assert_eq!(site.jobs.len(), 1_440);
            assert_eq!(site.load.utilisation_percent, 50.0);
            assert_eq!(site.load.wanted_percent, wanted);
            assert_eq!(
                (site.load.kept_percent, site.load.copied_percent),
                (100.0, 0.0)
            );
            assert_eq!(
                site.load.window,
                (Seconds::HOUR * 168, Seconds::HOUR * 1_439)
            );
        }
    }

    #[test]
    fn less_is_had_by_thinning_and_more_by_a_second_copy_with_recorded_estimates_too() {
        for exact in [true, false] {
            let thinned = loaded(exact, Some(20.0)).unwrap().load;
            assert!((thinned.utilisation_percent - 20.0).abs() <= LOAD_TOLERANCE);
            assert!((30.0..50.0).contains(&thinned.kept_percent));
            assert_eq!(thinned.copied_percent, 0.0);
            let raised = loaded(exact, Some(75.0)).unwrap().load;
            assert!((raised.utilisation_percent - 75.0).abs() <= LOAD_TOLERANCE);
            assert!((35.0..65.0).contains(&raised.copied_percent));
            assert_eq!(raised.kept_percent, 100.0);
        }
    }

    /// Each job takes all the memory, so that one of the two that would run together waits.
    #[test]
    fn jobs_that_wait_for_memory_load_a_site_less() {
        for exact in [true, false] {
            let jobs = jobs(exact);
            let jobs = jobs.iter().take(100).cloned();
            let jobs: Arc<[Job]> = jobs.map(|job| job.with_memory(Megabytes(64))).collect();
            let memory = MachineMemory {
                size: Megabytes(64),
                per_reserved_node: Megabytes(0),
            };
            let window = (Seconds::ZERO, Seconds::HOUR * 100);
            let used = |memory| utilisation_percent(&jobs, (Nodes(8), memory), window);
            assert_eq!(used(None).round(), 50.0);
            assert_eq!(used(Some(memory)), 25.0);
        }
    }

    #[test]
    fn what_cannot_be_reached_is_said_with_the_nearest_that_can() {
        let half =
            load_site("half", jobs(true), (Nodes(16), None), Some(90.0), 1, "half").unwrap_err();
        let text = half.to_string();
        assert!(
            text.contains("half") && text.contains("90 %") && text.contains("50.0 %"),
            "{text}"
        );
        for wanted in [0.0, 100.0, f64::NAN] {
            assert!(matches!(
                loaded(true, Some(wanted)),
                Err(SiteLoadError::Impossible { .. })
            ));
        }
    }

    #[test]
    fn a_site_without_jobs_is_idle() {
        let site = load_site("none", Arc::default(), (Nodes(8), None), None, 1, "none").unwrap();
        assert_eq!(site.load.utilisation_percent, 0.0);
    }
}
