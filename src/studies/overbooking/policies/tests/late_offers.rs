//! Customers who refuse the end that a policy offers them (Birkenheuer 2012, §5.1.1).

use std::sync::Arc;

use bookahead_core::estimates::{ClassFamily, EstimateModel, EstimateSettings};
use bookahead_core::failures::NodeFailures;
use bookahead_core::scheduling::registry::PlanKind;
use bookahead_core::scheduling::{ClusterMachine, Customers, Verdict};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};
use proptest::prelude::*;

use crate::registry::STRATEGIES;
use crate::{Replay, Work, replay};

const HOUR: i64 = 3_600;

/// A job of one node that is submitted at 0, its times in hours.
fn job(id: u32, estimate: i64, deadline: i64) -> Job {
    Job::rigid(JobId(id), Seconds(0), Nodes(1), Seconds(HOUR * estimate))
        .due_by(Seconds(HOUR * deadline))
        .numbered(id.into())
}

/// Everybody uses half of the estimate or all of it.
fn known() -> Arc<EstimateModel> {
    let jobs = [50, 100].map(|ratio| job(0, 100, 200).running_for(Seconds(HOUR * ratio)));
    let settings = EstimateSettings {
        family: ClassFamily::All,
        ..EstimateSettings::default()
    };
    Arc::new(EstimateModel::learn(&jobs, &settings).unwrap())
}

fn play(strategy: &str, nodes: u32, jobs: &[Job], draws: Option<&[f64]>) -> Replay {
    let strategy = crate::registry::strategy(strategy).unwrap();
    let settings = super::named(strategy.name, Seconds(4 * HOUR));
    let estimates = strategy.overbooks.then(known);
    let policy = (strategy.build)(Nodes(nodes), &settings, estimates);
    let mut machine = ClusterMachine::new(Nodes(nodes), policy);
    if let Some(draws) = draws {
        machine.serve(Customers::of(draws.to_vec()));
    }
    replay(machine, Work::Jobs(jobs.into()), &NodeFailures::default())
}

/// The policies that offer an end.
fn planners() -> impl Iterator<Item = &'static str> {
    let planners = STRATEGIES
        .iter()
        .filter(|known| known.plan != PlanKind::Queue);
    planners.map(|known| known.name)
}

#[test]
fn a_refused_offer_leaves_its_place_to_the_next_job() {
    // The second job is offered [4, 8), which uses 4 of its 8 hours of laxity.
    let jobs = [job(0, 4, 8), job(1, 4, 12), job(2, 4, 40)];
    for strategy in planners() {
        let fates = |draw: f64| {
            let played = play(strategy, 1, &jobs, Some(&[0.0, draw, 1.0]));
            let starts = played
                .outcomes
                .iter()
                .map(|it| it.start.map(|at| at.0 / HOUR));
            let metrics = played.metrics;
            let counts = (
                metrics.dropped_by_customer,
                metrics.dropped,
                metrics.accepted,
            );
            (
                starts.collect::<Vec<_>>(),
                counts,
                played.outcomes[1].verdict,
            )
        };
        let (starts, counts, verdict) = fates(0.49);
        assert_eq!(starts, [Some(0), None, Some(4)], "{strategy}");
        assert_eq!((counts, verdict), ((1, 1, 2), Verdict::DroppedByCustomer));
        let (starts, counts, verdict) = fates(0.5);
        assert_eq!(starts, [Some(0), Some(4), Some(8)], "{strategy}");
        assert_eq!((counts, verdict), ((0, 0, 3), Verdict::SuccessfulFinished));
    }
}

#[test]
fn nobody_refuses_the_window_that_was_asked_for() {
    let window = job(0, 2, 12).into_reservation(Seconds(6 * HOUR));
    for strategy in planners() {
        let played = play(strategy, 1, std::slice::from_ref(&window), Some(&[0.0]));
        assert_eq!(played.outcomes[0].start, Some(window.release), "{strategy}");
    }
}

proptest! {
    #[test]
    fn who_takes_everything_changes_nothing_and_who_waits_for_nobody_gets_the_earliest_end(
        drawn in prop::collection::vec((0_i64..3, 1_u32..=4, 1_i64..9, 0_i64..20), 1..25),
        strategy in prop::sample::select(planners().collect::<Vec<_>>()),
    ) {
        let mut now = 0;
        let jobs = (0..).zip(drawn).map(|(id, (gap, nodes, estimate, laxity))| {
            now += gap;
            let at = Seconds(HOUR * now);
            let job = Job { nodes: Nodes(nodes), submit: at, release: at, ..job(id, estimate, 0) };
            job.due_by(at + Seconds(HOUR * (estimate + laxity)))
        });
        let jobs: Vec<Job> = jobs.collect();
        let patient = vec![1.0; jobs.len()];
        let plain = play(strategy, 4, &jobs, None);
        let taken = play(strategy, 4, &jobs, Some(&patient));
        // Who would be offered the deadline itself leaves whatever was drawn.
        if taken.metrics.dropped_by_customer == 0 {
            prop_assert_eq!(&taken, &plain);
        }
        let hasty = vec![0.0; jobs.len()];
        let hasty = play(strategy, 4, &jobs, Some(&hasty));
        for outcome in &hasty.outcomes {
            let soonest = outcome.job.submit + outcome.job.estimate;
            let in_time = outcome.promise.is_none_or(|promise| promise.end <= soonest);
            prop_assert!(in_time, "{:?}", outcome);
        }
    }
}
