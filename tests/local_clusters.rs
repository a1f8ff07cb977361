//! Real jobs through a cluster behind its local reservation service.

use std::time::Instant;

use bookahead::scheduling::JobOutcome;
use bookahead::scheduling::queue::{Backfilling, PlannedQueue};
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::{
    CleaningRules, CoRequestId, FurtherCounts, Job, JobId, ParsedTrace, TraceFolder, clean,
};
use bookahead_grid::co_reservation::local::{
    ClusterId, LocalService, LocalSettings, PartOrder, Precedence, Probe, ProbeFilters,
    ReservationService,
};
use bookahead_reservations::replanning::{ReplanningMachine, ReplanningSettings};

const TWO_WEEKS: Seconds = Seconds(1_209_600);
const NODES: Nodes = Nodes(1_160);

/// Two weeks of SDSC Blue from a day of the trace on, with ids from 1,000.
fn excerpt(day: i64) -> Option<Vec<Job>> {
    let Some(path) = std::env::var_os(TraceFolder::VARIABLE) else {
        println!("skipped: needs the folder of traces that BOOKAHEAD_TRACES names");
        return None;
    };
    let file = TraceFolder::new(path)
        .find("SDSC-BLUE-2000-4.2-cln.swf")
        .expect("the folder of traces holds SDSC Blue");
    let trace = ParsedTrace::read(&file).expect("the log is whole");
    let cleaned = clean(&trace, &CleaningRules::default(), NODES);
    let from = Seconds(day * 86_400);
    let jobs = cleaned
        .jobs
        .iter()
        .filter(|job| from <= job.submit && job.submit < from + TWO_WEEKS);
    let jobs: Vec<Job> = (1_000..)
        .zip(jobs)
        .map(|(id, job)| Job {
            id: JobId(id),
            submit: job.submit - from,
            release: job.submit - from,
            runtime: job.runtime.max(Seconds(1)),
            deadline: Seconds::FAR,
            ..job.clone()
        })
        .collect();
    assert!(jobs.len() > 1_000, "{}", jobs.len());
    Some(jobs)
}

fn cluster(backfilling: Backfilling) -> ReservationService<PlannedQueue> {
    let settings = LocalSettings {
        backfilling,
        ..LocalSettings::default()
    };
    ReservationService::new(ClusterId(0), NODES, 0.35, TWO_WEEKS, settings)
}

fn by_id(mut outcomes: Vec<JobOutcome>) -> Vec<JobOutcome> {
    outcomes.sort_by_key(|outcome| outcome.job.id);
    outcomes
}

#[test]
fn two_weeks_of_sdsc_blue_are_scheduled_as_by_the_replanning_machine() {
    let Some(jobs) = excerpt(200) else {
        return;
    };
    for backfilling in [
        Backfilling::Aggressive,
        Backfilling::Conservative,
        Backfilling::None,
    ] {
        let begin = Instant::now();
        let mut machine = cluster(backfilling);
        machine.submit(&jobs);
        machine.advance(Seconds::FAR);
        let took = begin.elapsed();
        let totals = machine.totals();
        println!(
            "{backfilling:?}: {} jobs in {took:?}, utilisation {:.3}",
            jobs.len(),
            totals.job_work.0 as f64 / NODES.for_span(TWO_WEEKS).0 as f64
        );
        assert!(machine.is_idle());
        let settings = ReplanningSettings {
            backfilling,
            ..ReplanningSettings::default()
        };
        let mut other = ReplanningMachine::replanning(NODES, settings);
        other.submit(jobs.iter().cloned());
        other.advance(Seconds::FAR);
        assert_eq!(
            by_id(machine.take_job_outcomes()),
            by_id(other.take_outcomes())
        );
        assert_eq!(machine.metrics(), other.metrics());
    }
}

#[test]
fn what_was_probed_as_free_can_be_reserved_at_once_among_real_jobs() {
    let Some(jobs) = excerpt(400) else {
        return;
    };
    for backfilling in [Backfilling::Aggressive, Backfilling::Conservative] {
        let begin = Instant::now();
        let mut machine = cluster(backfilling);
        machine.submit(&jobs);
        let mut granted = 0_u32;
        for number in 0..400_u32 {
            let now = Seconds(i64::from(number) * 3_000);
            let probe = Probe {
                request: CoRequestId(number),
                duration: Seconds(7_200),
                parts: vec![Nodes(96), Nodes(64)],
                further: Vec::new(),
                starts: (0..20).map(|step| now + Seconds(step * 1_080)).collect(),
                filters: ProbeFilters {
                    counting: true,
                    backlog: true,
                    exact_limits: false,
                    backfill: true,
                },
                degrees: false,
                job_mix: false,
                free_cpus: false,
                precedence: Precedence::Fixed,
            };
            machine.settle(now);
            let answer = machine.probe(now, &probe);
            let Some(offered) = answer.offered.first() else {
                continue;
            };
            let order = PartOrder {
                request: probe.request,
                order: 0,
                part: offered.part,
                nodes: probe.parts[usize::from(offered.part)],
                further: FurtherCounts::NONE,
                start: offered.start,
                duration: probe.duration,
                pof_limit: 0.0,
                precedence: Precedence::Fixed,
            };
            assert_eq!(machine.reserve(now, &order), Ok(()));
            granted += 1;
        }
        machine.advance(Seconds::FAR);
        println!(
            "{backfilling:?}: {} jobs, 400 probes, {granted} parts in {:?}",
            jobs.len(),
            begin.elapsed()
        );
        assert!(machine.is_idle() && granted > 20);
        assert_eq!(machine.take_job_outcomes().len(), jobs.len());
        let kept = machine.take_part_outcomes();
        assert_eq!(kept.len(), granted as usize);
        assert!(kept.iter().all(|part| part.gone.is_none() && !part.lost));
    }
}
