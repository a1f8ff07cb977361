//! The two ways to convolve give the same schedules.

use bookahead::failures::FailureTrace;
use bookahead::scheduling::{Convolution, JobOutcome, PolicySpec, SimulationMetrics};
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::{Job, JobId};
use proptest::prelude::*;

use crate::support::{job, perfect, run};

/// Jobs with times in odd minutes on a machine of six nodes, about twice what it can do.
fn workload() -> impl Strategy<Value = Vec<Job>> {
    prop::collection::vec((0_i64..40, 1_u32..=6, 5_i64..240, 0_i64..=100), 1..60).prop_map(
        |drawn| {
            let mut submit = 0;
            drawn
                .into_iter()
                .enumerate()
                .map(|(id, (gap, nodes, estimate, percent))| {
                    submit += gap;
                    let (submit, estimate) = (Seconds(submit * 61), Seconds(estimate * 67));
                    Job::rigid(JobId(id as u32), submit, Nodes(nodes), estimate)
                        .running_for(Seconds(1 + estimate.0 * percent / 100))
                        .due_by(submit + estimate * 2)
                        .numbered(id as i64 + 1)
                })
                .collect()
        },
    )
}

fn simulate(jobs: &[Job], pof_max: f64, by: Convolution) -> (SimulationMetrics, Vec<JobOutcome>) {
    let history: Vec<Job> = [2, 5, 5, 11, 23, 24, 31, 48, 50, 66, 71, 90, 100, 100]
        .into_iter()
        .enumerate()
        .map(|(id, percent)| job(id as u32, 0, 1, 100, percent))
        .collect();
    let settings = PolicySpec {
        convolution: by,
        ..perfect("comprehensive-overbooking", pof_max)
    };
    run(6, &settings, &history, jobs, &FailureTrace::default())
}

proptest! {
    #[test]
    fn sums_and_transforms_accept_the_same_jobs(jobs in workload(), pof_max in 0.05_f64..0.9) {
        let (direct_metrics, direct) = simulate(&jobs, pof_max, Convolution::Direct);
        let (fourier_metrics, fourier) = simulate(&jobs, pof_max, Convolution::Fourier);
        prop_assert_eq!(direct_metrics, fourier_metrics);
        for (one, other) in direct.iter().zip(&fourier) {
            prop_assert_eq!((one.verdict, one.start, one.end), (other.verdict, other.start, other.end));
            prop_assert_eq!(one.promise.is_some(), other.promise.is_some());
            let (Some(one), Some(other)) = (one.promise, other.promise) else { continue };
            prop_assert_eq!((one.start, one.end, one.overbooked), (other.start, other.end, other.overbooked));
            if let (Some(one), Some(other)) = (one.success, other.success) {
                prop_assert!((one.pof() - other.pof()).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn overbooked_jobs_with_predecessors_are_among_those_that_agree() {
    // The comparison above is empty if nothing is overbooked behind uncertain predecessors.
    let jobs: Vec<Job> = (0..60)
        .map(|id| job(id, i64::from(id) / 3, 1 + id % 4, 2 + i64::from(id) % 5, 1))
        .collect();
    let (metrics, outcomes) = simulate(&jobs, 0.5, Convolution::Fourier);
    assert!(metrics.overbooked >= 5, "{} overbooked", metrics.overbooked);
    let uncertain = outcomes
        .iter()
        .filter_map(|outcome| outcome.promise)
        .filter(|promise| promise.overbooked && promise.predecessors > 0);
    assert!(uncertain.count() >= 5);
    assert_eq!(outcomes, simulate(&jobs, 0.5, Convolution::Fourier).1);
}
