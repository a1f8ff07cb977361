//! What holds for every workload.

use proptest::prelude::*;

use bookahead_reservations::replanning::{ReplanningMachine, ReplanningSettings};

use super::oracle::{jobs, messages, settings};
use super::twin::Message;
use super::*;

/// Every call of the script, and then until nothing is left.
/// Repairs come before messages of the same instant, as the service asks for.
fn play(machine: &mut PlainCluster, script: &[(i64, Message)]) {
    let mut script: Vec<_> = script.iter().collect();
    script.sort_by_key(|(now, message)| {
        let repair = matches!(
            message,
            Message::Outage(OutageEvent::ClusterUp | OutageEvent::NodesUp { .. })
        );
        (*now, !repair)
    });
    for (now, message) in script {
        let now = Seconds(*now);
        match message {
            Message::Probe(probe) => {
                machine.probe(now, probe);
            }
            Message::Reserve(order) => {
                let _verdict = machine.reserve(now, order);
            }
            Message::Cancel(request) => {
                machine.cancel(now, CoRequestId(*request), 0);
            }
            Message::Outage(outage) => machine.apply_outage(now, *outage),
        }
    }
    machine.advance(Seconds::FAR);
}

proptest! {
    #[test]
    fn each_filter_admits_no_more_than_the_one_before(
        settings in settings(),
        jobs in jobs(),
        script in messages(true),
        (duration, first) in (1_i64..25, -3_i64..30),
    ) {
        let mut machine = PlainCluster::new(ClusterId(0), Nodes(8), 0.375, Seconds(60), settings);
        machine.submit(&jobs);
        let until = script.iter().take(script.len() / 2);
        let middle = until.map(|(now, _)| *now).max().unwrap_or(0);
        for (now, message) in script.iter().take(script.len() / 2) {
            if let Message::Reserve(order) = message {
                let _verdict = machine.reserve(Seconds(*now), order);
            }
        }
        machine.settle(Seconds(middle));
        let starts: Vec<i64> = (0..10).map(|step| middle + first + 3 * step).collect();
        let none = ProbeFilters { counting: false, ..COUNTING };
        let mut answers = [BACKLOG, BACKFILL, COUNTING, none].map(|filters| {
            let probe = query(duration, &[9, 6, 3, 1], &starts, filters);
            let answer = machine.probe(Seconds(middle), &probe);
            let counts = answer.counts;
            assert_eq!(
                counts.unfiltered as usize,
                answer.offered.len() + counts.filtered() as usize
            );
            assert!(answer.offered.is_sorted_by_key(|offered| (offered.start, offered.part)));
            offered(&answer)
        });
        prop_assert_eq!(answers[3].len(), 30, "all that are not wider than the cluster");
        for pair in (0..3).rev() {
            let (smaller, larger) = (answers[pair].clone(), &mut answers[pair + 1]);
            prop_assert!(smaller.iter().all(|one| larger.contains(one)));
        }
    }

    #[test]
    fn nothing_is_left_after_cancellations_and_failures(
        settings in settings(),
        jobs in jobs(),
        script in messages(true),
    ) {
        let mut machine = PlainCluster::new(ClusterId(0), Nodes(8), 0.375, Seconds(60), settings);
        machine.submit(&jobs);
        play(&mut machine, &script);
        prop_assert!(machine.is_idle() && machine.is_up());
        prop_assert_eq!(machine.next_event(), None);
        prop_assert_eq!(machine.in_use().jobs + machine.in_use().parts, 0);
        prop_assert!(is_free(&machine), "{:?}", machine.fixed());
        prop_assert_eq!(machine.machine.cluster().idle().count(), Nodes(8));
        prop_assert!(machine.broken.is_empty() && machine.parts.is_empty());
        prop_assert_eq!(machine.booked, 0);
        prop_assert_eq!(machine.take_job_outcomes().len(), jobs.len());
    }

    #[test]
    fn what_is_asked_changes_nothing(
        settings in settings(),
        jobs in jobs(),
        script in messages(true),
    ) {
        let ended = |probes: bool| {
            let kept: Vec<_> = script
                .iter()
                .filter(|(_, message)| probes || !matches!(message, Message::Probe(_)))
                .cloned()
                .collect();
            let mut machine =
                PlainCluster::new(ClusterId(0), Nodes(8), 0.375, Seconds(60), settings.clone());
            machine.submit(&jobs);
            play(&mut machine, &kept);
            // Those of one instant are handed out as it comes: results have them by their jobs.
            let mut outcomes = machine.take_job_outcomes();
            outcomes.sort_by_key(|outcome| outcome.job.id);
            (outcomes, machine.take_part_outcomes(), machine.totals())
        };
        prop_assert_eq!(ended(true), ended(false));
    }

    #[test]
    fn without_parts_it_is_the_replanning_machine_without_requests(
        settings in settings(),
        jobs in jobs(),
    ) {
        // A job that ends at once lets the next one start before the submissions of that instant
        // (Q49); the other machine has no iteration there.
        let jobs: Vec<Job> = jobs
            .into_iter()
            .map(|job| Job { runtime: job.runtime.max(Seconds(1)), ..job })
            .collect();
        let replanning = ReplanningSettings {
            backfilling: settings.backfilling,
            ..ReplanningSettings::default()
        };
        let mut other = ReplanningMachine::replanning(Nodes(8), replanning);
        other.submit(jobs.iter().cloned());
        other.advance(Seconds::FAR);
        let mut machine = PlainCluster::new(ClusterId(0), Nodes(8), 0.375, Seconds(60), settings);
        machine.submit(&jobs);
        machine.advance(Seconds::FAR);
        let by_id = |mut outcomes: Vec<JobOutcome>| {
            outcomes.sort_by_key(|outcome| outcome.job.id);
            outcomes
        };
        prop_assert_eq!(by_id(machine.take_job_outcomes()), by_id(other.take_outcomes()));
        prop_assert_eq!(machine.metrics(), other.metrics());
    }
}
