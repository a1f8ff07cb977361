//! Workflows: tasks that follow each other, and what becomes of the others when one fails.

use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::random::StreamSeed;
use bookahead_core::units::{NodeIndex, Seconds};
use bookahead_core::workload::{CoRequest, CoRequestId, WorkflowTask};

use super::interleaving::{check, run};
use super::whole_run::{empty_clusters, request, settings, simulate};
use crate::co_reservation::evaluation::co_reservation_measures;
use crate::co_reservation::testutils::{situation, workflow_situation};
use crate::co_reservation::*;

/// A task of the workflow that begins with request 0.
fn task(asked: CoRequest, after: &[u32]) -> CoRequest {
    let task = WorkflowTask {
        workflow: CoRequestId(0),
        after: after.iter().copied().map(CoRequestId).collect(),
    };
    CoRequest {
        task: Some(task),
        ..asked
    }
}

/// One part, two parts, one part, of 100 s each, with room for 500 s in all.
fn fork_and_join() -> Vec<CoRequest> {
    vec![
        task(request(0, 0, (10, 310), 100, &[4]), &[]),
        task(request(1, 0, (110, 410), 100, &[3, 5]), &[0]),
        task(request(2, 0, (210, 510), 100, &[4]), &[1]),
    ]
}

fn verdicts(run: &CoReservationRun) -> Vec<CoVerdict> {
    run.requests.iter().map(|outcome| outcome.verdict).collect()
}

fn starts(run: &CoReservationRun) -> Vec<Option<i64>> {
    let starts = run.requests.iter().map(|outcome| outcome.start);
    starts.map(|start| start.map(|it| it.0)).collect()
}

/// What nobody owned, and what was done for workflows in vain, in CPU-seconds.
fn in_vain(
    inputs: &CoReservationInputs,
    settings: &CoReservationSettings,
    run: &CoReservationRun,
) -> (f64, f64) {
    let (measured, _) = co_reservation_measures(inputs, settings, run);
    let of = |name| measured.get(name).expect(name);
    (
        of("leaked_cpu_seconds"),
        of("workflow_vain_hours") * 3_600.0,
    )
}

#[test]
fn on_empty_clusters_each_task_begins_when_those_before_it_have_ended() {
    let inputs = empty_clusters(2, 8, fork_and_join());
    for algorithm in [Algorithm::A1, Algorithm::A2, Algorithm::A5] {
        let settings = settings(algorithm);
        let run = simulate(&inputs, &settings, &StreamSeed::default());
        assert_eq!(verdicts(&run), [CoVerdict::Granted; 3]);
        if algorithm == Algorithm::A5 {
            assert_eq!(starts(&run), [Some(10), Some(110), Some(210)]);
            let (measured, _) = co_reservation_measures(&inputs, &settings, &run);
            assert_eq!(measured.get("workflow_asked"), Some(1.0));
            assert_eq!(measured.get("workflow_kept_rate"), Some(1.0));
            assert_eq!(measured.get("workflow_delay_hours"), Some(0.0));
        }
        assert_eq!(in_vain(&inputs, &settings, &run), (0.0, 0.0));
    }
}

#[test]
fn when_a_task_is_refused_those_before_it_are_given_back_and_those_behind_it_are_not_sought() {
    let mut requests = fork_and_join();
    // No two clusters have nine CPUs.
    requests[1].parts = vec![bookahead_core::units::Nodes(9); 2];
    let inputs = empty_clusters(2, 8, requests);
    let settings = settings(Algorithm::A5);
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    let expected = [
        CoVerdict::Abandoned,
        CoVerdict::Impossible,
        CoVerdict::Abandoned,
    ];
    assert_eq!(verdicts(&run), expected);
    assert_eq!(starts(&run), [None; 3]);
    let first = &run.requests[0];
    assert_eq!(
        (first.messages.granted, first.messages.cancelled),
        (1, 1),
        "given back"
    );
    assert_eq!(first.attempts[0].fate, AttemptFate::Cancelled);
    assert_eq!(run.requests[2].messages, MessageCounts::default());
    assert_eq!(in_vain(&inputs, &settings, &run), (0.0, 0.0));
}

#[test]
fn when_a_running_task_is_lost_what_has_not_begun_is_given_back() {
    let mut inputs = empty_clusters(2, 8, fork_and_join());
    // All nodes of both clusters fail while the second task runs.
    let outages = (0..16).map(|node| Outage {
        node: NodeIndex(node),
        start: Seconds(150),
        end: Seconds(5_000),
    });
    inputs.failures = FailureTrace::from_outages(outages).unwrap().into();
    let settings = settings(Algorithm::A5);
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    let expected = [CoVerdict::Granted, CoVerdict::Granted, CoVerdict::Abandoned];
    assert_eq!(verdicts(&run), expected);
    assert_eq!(run.requests[1].lost_parts, 2);
    // The first task ran for nothing: four CPUs for 100 s.
    assert_eq!(in_vain(&inputs, &settings, &run), (0.0, 400.0));
}

#[test]
fn a_workflow_goes_on_when_a_lost_part_is_found_elsewhere() {
    let mut inputs = empty_clusters(3, 8, fork_and_join());
    let mut settings = settings(Algorithm::A5);
    settings.renegotiate = true;
    let promised = simulate(&inputs, &settings, &StreamSeed::default());
    // The cluster of the second task's first part fails before it begins, and stays down.
    let lost = promised.requests[1].clusters[0].0;
    let nodes = u32::from(lost) * 8..u32::from(lost) * 8 + 8;
    let outages = nodes.map(|node| Outage {
        node: NodeIndex(node),
        start: Seconds(105),
        end: Seconds(50_000),
    });
    inputs.failures = FailureTrace::from_outages(outages).unwrap().into();
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    assert!(run.requests[1].replaced_parts > 0);
    assert_eq!(run.requests[1].start, Some(Seconds(110)));
    assert_eq!(verdicts(&run), [CoVerdict::Granted; 3]);
}

/// A task is sought as a request of its own would be that asks for what the others leave: the same
/// verdicts, starts and clusters as of requests that know from runs before when the others end.
#[test]
fn tasks_get_what_requests_get_that_know_when_those_before_them_end() {
    let mut followed = 0;
    for number in 0..200 {
        let mut tasks = workflow_situation(number);
        tasks.settings.failures = None;
        tasks.settings.messages = MessageSettings::default();
        tasks.settings.renegotiate = false;
        tasks.inputs.failures = FailureTrace::default().into();
        let submit = tasks.inputs.requests[0].submit;
        let mut requests = tasks.inputs.requests.to_vec();
        for request in &mut requests {
            request.submit = submit;
        }
        tasks.inputs.requests = requests.clone().into();
        let whole = simulate(&tasks.inputs, &tasks.settings, &StreamSeed::default());
        if !whole
            .requests
            .iter()
            .all(|it| it.verdict == CoVerdict::Granted)
        {
            continue;
        }
        let mut known: Vec<CoRequest> = Vec::new();
        for mut request in requests {
            let task = request.task.take().unwrap();
            let twin = CoReservationInputs {
                requests: known.clone().into(),
                ..tasks.inputs.clone()
            };
            let before = simulate(&twin, &tasks.settings, &StreamSeed::default());
            for id in task.after {
                let outcome = &before.requests[id.0 as usize];
                let end = outcome.start.unwrap() + outcome.request.duration;
                followed += usize::from(end > request.earliest);
                request.earliest = request.earliest.max(end);
            }
            known.push(request);
        }
        let twin = CoReservationInputs {
            requests: known.into(),
            ..tasks.inputs.clone()
        };
        let twin = simulate(&twin, &tasks.settings, &StreamSeed::default());
        assert_eq!(starts(&whole), starts(&twin), "in situation {number}");
        for (task, alone) in whole.requests.iter().zip(&twin.requests) {
            assert_eq!(task.clusters, alone.clusters, "in situation {number}");
        }
        assert_eq!(whole.jobs, twin.jobs, "in situation {number}");
    }
    assert!(followed > 30, "{followed} tasks waited for others");
}

#[test]
fn nothing_leaks_and_no_task_begins_before_its_time_whatever_fails_and_is_lost() {
    let (mut whole, mut given_back, mut failed) = (0, 0, 0);
    for number in 0..1_000 {
        let situation = workflow_situation(number);
        let (run, commands) = run(&situation);
        check(&situation, &run, &commands);
        for outcome in &run.requests {
            let before = &outcome.request.task.as_ref().unwrap().after;
            let before = before.iter().map(|id| &run.requests[id.0 as usize]);
            if let Some(start) = outcome.start {
                for earlier in before {
                    // What is before a granted task was granted, and promised to end by then.
                    let end = earlier.start.map(|it| it + earlier.request.duration);
                    assert!(
                        end.is_some_and(|end| end <= start),
                        "in {number}: {outcome:?}"
                    );
                }
            } else {
                let is_refused =
                    |it: &CoOutcome| it.start.is_none() && it.verdict != CoVerdict::Abandoned;
                for earlier in before.filter(|it| is_refused(it)) {
                    assert_eq!(outcome.verdict, CoVerdict::Abandoned, "{earlier:?}");
                }
            }
            let held = outcome
                .attempts
                .iter()
                .any(|it| it.fate == AttemptFate::Cancelled);
            given_back += usize::from(outcome.verdict == CoVerdict::Abandoned && held);
            failed += usize::from(outcome.lost_parts > outcome.replaced_parts);
        }
        let granted = run
            .requests
            .iter()
            .all(|it| it.verdict == CoVerdict::Granted);
        whole += usize::from(granted);
    }
    assert!(
        whole > 100 && given_back > 100 && failed > 50,
        "{whole} {given_back} {failed}"
    );
}

#[test]
fn a_workflow_of_one_task_is_the_request_alone() {
    for number in 0..100 {
        let alone = situation(number);
        let mut tasks = situation(number);
        let mut requests = alone.inputs.requests.to_vec();
        for request in &mut requests {
            request.task = Some(WorkflowTask {
                workflow: request.id,
                after: Vec::new(),
            });
        }
        tasks.inputs.requests = requests.into();
        let (alone, tasks) = (run(&alone).0, run(&tasks).0);
        assert_eq!(starts(&alone), starts(&tasks), "in situation {number}");
        assert_eq!(alone.jobs, tasks.jobs, "in situation {number}");
    }
}
