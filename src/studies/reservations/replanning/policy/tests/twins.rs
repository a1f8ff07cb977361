//! Twin jobs of reservations (Heine 2005, §2).

use std::sync::Arc;

use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::kernel::drive;
use proptest::prelude::*;

use super::oracle::{jobs, policies, requests};
use super::*;
use crate::replanning::{ReplanningRun, replanning_scene, with_twins};

fn beside_twins(
    nodes: u32,
    settings: &ReplanningSettings,
    jobs: &[Job],
    requests: &[ReservationRequest],
    (marks, failures): (&JobMarks, &Arc<FailureTrace>),
) -> ReplanningRun {
    let scene = replanning_scene(
        Nodes(nodes),
        settings,
        &jobs.into(),
        &requests.into(),
        marks,
        failures,
    );
    ReplanningRun::of_twins(drive(with_twins(scene), true))
}

fn twin_starts(run: &ReplanningRun) -> Vec<Option<i64>> {
    let starts = run.reservations.iter().map(|outcome| outcome.twin_start);
    starts.map(|start| start.map(|start| start.0)).collect()
}

#[test]
fn a_twin_job_waits_behind_those_that_its_reservation_passes() {
    // The machine is full until 100. The job of second 5 is planned for 100–200; the first request
    // takes 100–150 and moves it to 150–250, the second takes 300–350, the third is refused.
    let jobs = [job(0, 0, 4, 100, 100), job(1, 5, 4, 100, 100)];
    let requests = [
        request(0, 10, 4, 50, 100),
        request(1, 20, 4, 50, 300),
        request(2, 30, 4, 50, 60),
    ];
    let ran = beside_twins(
        4,
        &settings(Admission::Move),
        &jobs,
        &requests,
        (&JobMarks::default(), &Arc::default()),
    );
    // Without the first reservation the job has 100–200, and its twin comes at 200, before the
    // second reservation. Without the second, the job has 150–250, and its twin comes at 250.
    assert_eq!(twin_starts(&ran), [Some(200), Some(250), None]);
    let twins = ran.twins.expect("they were queued");
    assert_eq!((twins.started, twins.later), (2, 1));
    assert_eq!(twins.advantage, Seconds(100 - 50));
}

#[test]
fn on_an_idle_machine_a_twin_job_starts_at_once_and_its_reservation_when_it_was_wanted() {
    let ran = beside_twins(
        4,
        &settings(Admission::Reject),
        &[],
        &[request(0, 10, 4, 0, 10), request(1, 20, 4, 50, 300)],
        (&JobMarks::default(), &Arc::default()),
    );
    assert_eq!(twin_starts(&ran), [None, Some(20)]);
    let twins = ran.twins.expect("they were queued");
    assert_eq!((twins.started, twins.later), (1, 0));
    assert_eq!(twins.advantage, Seconds(-280));
}

/// When a job of this shape starts for the first time on a machine that never hears of the request.
fn start_instead(
    own: usize,
    settings: &ReplanningSettings,
    jobs: &[Job],
    requests: &[ReservationRequest],
    (marks, failures): (&JobMarks, &FailureTrace),
) -> Option<i64> {
    let plan = Replanning::new(Nodes(6), settings.clone()).with_marks(marks.clone());
    let mut machine = ReplanningMachine::of(Nodes(6), plan);
    machine.inject(&failures.events);
    machine.submit(jobs.iter().cloned());
    let instead = &requests[own];
    let twin = job(
        500,
        instead.submit.0,
        instead.nodes.0,
        instead.duration.0,
        instead.runtime.0,
    );
    machine.submit([twin]);
    let others = requests.iter().filter(|request| request.id != instead.id);
    machine.request(others.cloned());
    while let Some(next) = machine.next_event() {
        machine.advance(next + Seconds(1));
        let over = machine.take_outcomes();
        let over = over.iter().find(|outcome| outcome.job.id == JobId(500));
        let running = machine.cluster().running_since(JobId(500));
        if let Some(start) = running.or_else(|| over.and_then(|outcome| outcome.start)) {
            return Some(start.0);
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_twin_job_starts_when_it_would_if_nobody_had_asked_and_changes_nothing(
        jobs in jobs(),
        requests in requests(),
        settings in policies(),
        admission in prop::sample::select(vec![
            None, Some(Admission::Truncate), Some(Admission::Requeue), Some(Admission::MovePrice),
        ]),
        preemptible in prop::collection::vec(any::<bool>(), 24),
        down in prop::collection::vec((1_i64..60, 1_i64..20), 0..3),
    ) {
        let settings = ReplanningSettings {
            admission: admission.unwrap_or(settings.admission),
            ..settings
        };
        let marks = JobMarks { preemptible: preemptible.into(), ..JobMarks::default() };
        let outages = (0..).zip(down).map(|(node, (start, length))| Outage {
            node: NodeIndex(node),
            start: Seconds(start),
            end: Seconds(start + length),
        });
        let failures = Arc::new(FailureTrace::from_outages(outages).expect("they end"));
        let ran = beside_twins(6, &settings, &jobs, &requests, (&marks, &failures));
        let scene = replanning_scene(
            Nodes(6), &settings, &jobs.clone().into(), &requests.clone().into(), &marks, &failures,
        );
        let alone = ReplanningRun::of(drive(scene, true));
        prop_assert_eq!(&ran.jobs, &alone.jobs);
        prop_assert_eq!(ran.totals, alone.totals);
        for (place, outcome) in ran.reservations.iter().enumerate() {
            let expected = (!outcome.verdict.is_rejected())
                .then(|| start_instead(place, &settings, &jobs, &requests, (&marks, &failures)))
                .flatten();
            prop_assert_eq!(outcome.twin_start.map(|start| start.0), expected);
            let same = ReservationOutcome { twin_start: None, ..outcome.clone() };
            prop_assert_eq!(&same, &alone.reservations[place]);
        }
    }
}
