use bookahead_core::plan::Profile;
use bookahead_core::scheduling::queue::Backfilling;
use bookahead_core::workload::{FurtherCounts, FurtherResource};

use super::*;
use crate::co_reservation::local::{
    AccuracySource, AccuracyWindow, BacklogWork, FilterCounts, LookAhead, Precedence, ProbeFilters,
    QuotaPeriod,
};

mod displacing;
mod exempt;
mod failures;
mod further;
mod mix;
mod oracle;
mod properties;
mod quotas;
mod twin;

type PlainCluster = ReservationService<PlannedQueue>;

impl PlainCluster {
    /// The waiting jobs in the order of the queue.
    fn queue(&self) -> Vec<JobId> {
        let queue = self.machine.policy().queue().iter();
        let jobs = queue.filter_map(|waiting| match self.open.get(&waiting.job)? {
            Open::Job(id) => Some(*id),
            Open::Part(_) => None,
        });
        jobs.collect()
    }

    fn fixed(&self) -> &Profile {
        self.machine.policy().fixed()
    }
}

const COUNTING: ProbeFilters = ProbeFilters {
    counting: true,
    backlog: false,
    exact_limits: false,
    backfill: false,
};
const BACKLOG: ProbeFilters = ProbeFilters {
    backlog: true,
    ..COUNTING
};
const BACKFILL: ProbeFilters = ProbeFilters {
    backfill: true,
    ..BACKLOG
};

fn job(id: u32, submit: i64, nodes: u32, estimate: i64, runtime: i64) -> Job {
    Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(estimate))
        .running_for(Seconds(runtime))
}

/// A part of the request of the same number.
fn part(request: u32, start: i64, duration: i64, nodes: u32) -> PartOrder {
    PartOrder {
        request: CoRequestId(request),
        order: 0,
        part: 0,
        nodes: Nodes(nodes),
        further: FurtherCounts::NONE,
        start: Seconds(start),
        duration: Seconds(duration),
        pof_limit: 0.0,
        precedence: Precedence::Fixed,
    }
}

fn machine(nodes: u32, settings: LocalSettings) -> PlainCluster {
    PlainCluster::new(ClusterId(0), Nodes(nodes), 0.5, Seconds(200), settings)
}

fn query(duration: i64, parts: &[u32], starts: &[i64], filters: ProbeFilters) -> Probe {
    Probe {
        request: CoRequestId(99),
        duration: Seconds(duration),
        parts: parts.iter().map(|&nodes| Nodes(nodes)).collect(),
        further: Vec::new(),
        starts: starts.iter().map(|&start| Seconds(start)).collect(),
        filters,
        degrees: true,
        job_mix: false,
        free_cpus: false,
        precedence: Precedence::Fixed,
    }
}

fn offered(answer: &ProbeAnswer) -> Vec<(i64, u16)> {
    answer
        .offered
        .iter()
        .map(|offered| (offered.start.0, offered.part))
        .collect()
}

/// Whether every CPU is free from now on; breakpoints of the past may be left.
fn is_free(machine: &PlainCluster) -> bool {
    let fixed = machine.fixed();
    fixed.first_below(machine.now(), machine.nodes().0) == Seconds::FAR
        && machine.nodes().0 as i32 == fixed.free_at(Seconds::FAR)
        && fixed.len() <= 2
}

/// `(id, start, end)` of every job, by id.
fn lives(machine: &mut PlainCluster) -> Vec<(u32, i64, i64)> {
    let mut lives: Vec<_> = machine
        .take_job_outcomes()
        .into_iter()
        .map(|outcome| {
            let [start, end] = [outcome.start, outcome.end].map(|time| time.unwrap().0);
            (outcome.job.id.0, start, end)
        })
        .collect();
    lives.sort_unstable();
    lives
}

#[test]
fn t6_the_backlog_grows_with_the_start_so_that_admission_is_not_monotone() {
    let mut machine = machine(100, LocalSettings::default());
    machine
        .reserve(Seconds(0), &part(1, 1_000, 3_600, 20))
        .unwrap();
    machine
        .reserve(Seconds(0), &part(2, 5_500, 3_600, 50))
        .unwrap();
    // The jobs wait because every CPU is down.
    machine.apply_outage(
        Seconds(0),
        OutageEvent::NodesDown {
            first: 0,
            count: 100,
        },
    );
    machine.submit(&[job(7, 0, 50, 3_600, 3_600), job(8, 0, 100, 7_200, 7_200)]);
    machine.advance(Seconds(1));
    assert_eq!(machine.queue().len(), 2);
    let only_backlog = ProbeFilters {
        counting: false,
        ..BACKLOG
    };
    let starts = [5_000, 5_400, 5_600, 7_100];
    let answer = machine.probe(Seconds(0), &query(3_600, &[10], &starts, only_backlog));
    assert_eq!(offered(&answer), [(5_400, 0), (7_100, 0)]);
    assert_eq!(answer.counts.backlog, 2);
    assert_eq!(answer.backlog_earliest, Seconds(5_220));
    assert_eq!(answer.backlog_now, Seconds(4_500));
    let later = machine.probe(Seconds(0), &query(3_600, &[10], &[5_600], only_backlog));
    assert_eq!(later.backlog_earliest, Seconds(7_020));
    let exact = ProbeFilters {
        exact_limits: true,
        ..only_backlog
    };
    let pessimistic = machine.probe(Seconds(0), &query(3_600, &[10], &[5_600], exact));
    assert_eq!(pessimistic.backlog_earliest, Seconds(7_020 + 4_500));
}

#[test]
fn t8_occupancy_is_the_most_at_any_time_within_the_interval() {
    let mut machine = machine(100, LocalSettings::default());
    for (request, start, end, nodes) in [(1, 0, 100, 40), (2, 50, 150, 30), (3, 150, 200, 90)] {
        let order = part(request, start, end - start, nodes);
        machine.reserve(Seconds(0), &order).unwrap();
    }
    let answer = machine.probe(Seconds(0), &query(90, &[31, 30], &[60], COUNTING));
    assert_eq!(offered(&answer), [(60, 1)]);
    assert_eq!(answer.counts.counting, 1);
    let tight = |nodes| part(9, 60, 90, nodes);
    assert_eq!(
        machine.reserve(Seconds(0), &tight(31)),
        Err(Refusal::Occupied)
    );
    assert_eq!(machine.reserve(Seconds(0), &tight(30)), Ok(()));
}

#[test]
fn t12_three_clusters_admit_17_of_24_candidates() {
    let starts = [0, 1_800, 3_600, 5_400];
    let tables = [
        Some(part(1, 0, 3_600, 80)),
        Some(part(1, 1_800, 3_600, 60)),
        None,
    ];
    let mut admitted = 0;
    let mut degrees = Vec::new();
    for table in tables {
        let mut machine = machine(100, LocalSettings::default());
        if let Some(order) = table {
            machine.reserve(Seconds(0), &order).unwrap();
        }
        let answer = machine.probe(Seconds(0), &query(3_600, &[50, 30], &starts, COUNTING));
        assert_eq!(answer.counts.unfiltered, 8);
        admitted += answer.offered.len();
        degrees.push(f64::from(answer.counts.counting) / f64::from(answer.counts.unfiltered));
    }
    assert_eq!(admitted, 17);
    assert_eq!(degrees, [0.5, 0.375, 0.0]);
}

/// The four jobs of T13.
fn t13() -> [Job; 4] {
    [
        job(11, 0, 6, 100, 60),
        job(12, 0, 8, 50, 50),
        job(13, 0, 4, 90, 90),
        job(14, 0, 4, 120, 30),
    ]
}

#[test]
fn t13_easy_backfilling_without_a_reservation() {
    let mut machine = machine(10, LocalSettings::default());
    machine.submit(&t13());
    machine.advance(Seconds::FAR);
    assert_eq!(
        lives(&mut machine),
        [(11, 0, 60), (12, 90, 140), (13, 0, 90), (14, 140, 170)]
    );
    assert!(machine.is_idle());
    assert_eq!(machine.next_event(), None);
}

#[test]
fn t13_easy_backfilling_around_a_firm_part() {
    let mut machine = machine(10, LocalSettings::default());
    machine.reserve(Seconds(0), &part(0, 120, 40, 5)).unwrap();
    machine.submit(&t13());
    machine.advance(Seconds(1));
    let waits: Vec<u32> = machine.queue().iter().map(|job| job.0).collect();
    assert_eq!(waits, [12, 14]);
    machine.settle(Seconds(120));
    assert_eq!(machine.queue().len(), 2, "the part overtakes both");
    assert_eq!(machine.in_use().parts, 5);
    machine.advance(Seconds::FAR);
    let outcomes = machine.take_job_outcomes();
    let mut factors: Vec<_> = outcomes
        .iter()
        .map(|outcome| {
            let response = outcome.end.unwrap() - outcome.job.submit;
            (
                outcome.job.id.0,
                response.0 as f64 / outcome.job.estimate.0 as f64,
            )
        })
        .collect();
    factors.sort_by_key(|(id, _)| *id);
    assert_eq!(factors, [(11, 0.6), (12, 4.2), (13, 1.0), (14, 2.0)]);
    machine.job_outcomes = outcomes;
    assert_eq!(
        lives(&mut machine),
        [(11, 0, 60), (12, 160, 210), (13, 0, 90), (14, 210, 240)]
    );
    let totals = machine.totals();
    let used = totals.job_work.0 + totals.part_work.0;
    assert_eq!(totals.part_work.0, 200);
    assert_eq!(used as f64 / (10.0 * 200.0), 0.62);
    assert_eq!(totals.drained, Seconds(240));
}

#[test]
fn a_part_sees_the_reservation_of_the_first_waiting_job_if_it_shall() {
    for (planned_visible, expected) in [(true, Err(Refusal::Occupied)), (false, Ok(()))] {
        let mut machine = machine(
            10,
            LocalSettings {
                planned_visible,
                ..LocalSettings::default()
            },
        );
        machine.submit(&[
            job(0, 0, 6, 100, 100),
            job(1, 0, 8, 50, 50),
            job(2, 0, 9, 50, 50),
        ]);
        machine.advance(Seconds(1));
        // The second job is planned at 100, the third (unprotected under EASY) at 150.
        let probe = query(20, &[3], &[90], COUNTING);
        let sees = machine.probe(Seconds(0), &probe).offered.is_empty();
        assert_eq!(sees, planned_visible);
        assert_eq!(machine.reserve(Seconds(0), &part(1, 90, 20, 3)), expected);
        assert_eq!(machine.reserve(Seconds(0), &part(2, 150, 20, 5)), Ok(()));
    }
}

#[test]
fn under_conservative_backfilling_parts_see_the_whole_plan() {
    let mut machine = machine(
        10,
        LocalSettings {
            backfilling: Backfilling::Conservative,
            ..LocalSettings::default()
        },
    );
    machine.submit(&[
        job(0, 0, 6, 100, 100),
        job(1, 0, 8, 50, 50),
        job(2, 0, 9, 50, 50),
    ]);
    machine.advance(Seconds(1));
    assert_eq!(
        machine.reserve(Seconds(0), &part(2, 150, 20, 5)),
        Err(Refusal::Occupied)
    );
    assert_eq!(machine.reserve(Seconds(0), &part(3, 200, 20, 10)), Ok(()));
}

#[test]
fn orders_may_be_repeated_and_come_after_their_cancellation() {
    let mut machine = machine(10, LocalSettings::default());
    let order = part(1, 50, 20, 10);
    assert_eq!(machine.reserve(Seconds(0), &order), Ok(()));
    assert_eq!(machine.reserve(Seconds(0), &order), Ok(()), "repeated");
    let other = PartOrder { order: 1, ..order };
    assert_eq!(
        machine.reserve(Seconds(0), &other),
        Err(Refusal::Occupied),
        "another order of the same request is not the same part"
    );
    assert!(machine.cancel(Seconds(1), CoRequestId(1), 0));
    assert!(!machine.cancel(Seconds(1), CoRequestId(1), 0));
    assert_eq!(machine.reserve(Seconds(1), &order), Err(Refusal::Cancelled));
    assert!(
        !machine.cancel(Seconds(1), CoRequestId(1), 1),
        "never granted"
    );
    assert_eq!(machine.reserve(Seconds(1), &other), Err(Refusal::Cancelled));
    assert_eq!(
        machine.reserve(Seconds(2), &part(2, 1, 20, 1)),
        Err(Refusal::Past)
    );
    assert!(machine.is_idle() && is_free(&machine));
    let outcomes = machine.take_part_outcomes();
    assert_eq!(outcomes.len(), 1);
    assert_eq!(
        (outcomes[0].gone, outcomes[0].lost),
        (Some(Seconds(1)), false)
    );
}

#[test]
fn a_cancelled_part_lets_waiting_jobs_start_at_once_even_when_it_was_running() {
    let mut machine = machine(10, LocalSettings::default());
    machine.reserve(Seconds(0), &part(1, 0, 100, 8)).unwrap();
    assert_eq!(machine.in_use().parts, 8, "it starts now");
    machine.submit(&[job(5, 3, 4, 10, 10)]);
    machine.advance(Seconds(20));
    assert!(machine.cancel(Seconds(30), CoRequestId(1), 0));
    machine.advance(Seconds::FAR);
    assert_eq!(lives(&mut machine), [(5, 30, 40)]);
    assert_eq!(machine.totals().part_work.0, 240);
    assert!(machine.is_idle() && machine.next_event().is_none());
}

#[test]
fn messages_of_an_instant_come_after_its_ends_and_before_its_submissions() {
    let mut machine = machine(10, LocalSettings::default());
    machine.submit(&[job(0, 0, 10, 50, 50), job(1, 50, 10, 50, 50)]);
    machine.settle(Seconds(50));
    assert_eq!(machine.in_use().jobs, 0);
    assert_eq!(machine.reserve(Seconds(50), &part(1, 50, 10, 1)), Ok(()));
    machine.advance(Seconds::FAR);
    assert_eq!(lives(&mut machine), [(0, 0, 50), (1, 60, 110)]);
}

#[test]
fn a_job_wider_than_the_cluster_is_dropped_and_a_limit_is_kept() {
    let mut machine = machine(10, LocalSettings::default());
    machine.submit(&[job(3, 0, 11, 50, 50), job(4, 0, 10, 50, 80)]);
    machine.advance(Seconds::FAR);
    let metrics = machine.metrics();
    assert_eq!((metrics.submitted, metrics.dropped_too_wide), (2, 1));
    let outcomes = machine.take_job_outcomes();
    assert_eq!(outcomes[1].end, Some(Seconds(50)));
    assert!(machine.is_idle());
}

#[test]
fn the_running_mean_of_accuracies_begins_with_the_constant() {
    let settings = LocalSettings {
        accuracy: AccuracySource::Running,
        accuracy_factor: 0.5,
        ..LocalSettings::default()
    };
    let mut machine = machine(10, settings);
    machine.submit(&[
        job(0, 0, 10, 100, 100),
        job(1, 100, 10, 1_000, 1_000),
        job(2, 100, 10, 1_000, 1_000),
    ]);
    let mut backlog = |now| {
        machine
            .probe(Seconds(now), &query(1, &[1], &[now], BACKLOG))
            .backlog_now
    };
    // (0.5 · 100 · 0.5) of the running job; at the end one running and one waiting job at (0.5 + 1)
    // / 2 · 0.5.
    assert_eq!(backlog(0), Seconds(0), "submissions come after messages");
    assert_eq!(backlog(5), Seconds(25));
    assert_eq!(backlog(101), Seconds(375 + 375));
}

#[test]
fn running_jobs_and_active_parts_count_in_full_as_listing_4_sums_unless_what_is_left_is_asked_for()
{
    // Meltzer 2005, §4.4, and Q9. 10 CPUs, accuracy 1: a job of 6 CPUs with a limit of 100 s runs
    // since 0, a part of 4 CPUs for 50 s since 10, a job of 5 CPUs with a limit of 200 s waits. At
    // 30 s: full (6·100 + 4·50 + 5·200) / 10 = 180; left (6·70 + 4·30 + 5·200) / 10 = 154.
    assert_eq!(LocalSettings::default().backlog_work, BacklogWork::Full);
    // Planned by limits, the second job starts at 100, when the first one ends, and ends at 300.
    for (backlog_work, expected) in [
        (BacklogWork::Full, 180),
        (BacklogWork::Remaining, 154),
        (BacklogWork::Planned, 270),
    ] {
        let settings = LocalSettings {
            accuracy_factor: 2.0,
            backlog_work,
            ..LocalSettings::default()
        };
        let mut machine = machine(10, settings);
        machine.submit(&[job(0, 0, 6, 100, 100), job(1, 1, 5, 200, 200)]);
        machine.reserve(Seconds(0), &part(1, 10, 50, 4)).unwrap();
        let answer = machine.probe(Seconds(30), &query(1, &[1], &[30], BACKLOG));
        assert_eq!(answer.backlog_now, Seconds(expected), "{backlog_work:?}");
    }
}

#[test]
fn a_backlog_by_category_admits_a_start_that_one_mean_of_the_cluster_refuses() {
    // Meltzer 2005, §4.4.3. 100 CPUs, two users with accuracies .9 and .1, .5 in the mean; of each
    // a job waits: (3,600 s, 50 CPUs) and (7,200 s, 100 CPUs). By category (.9 · 3,600 · 50 + .1 ·
    // 7,200 · 100) ÷ 100 = 2,340 s, by the cluster's mean 4,500 s.
    let only_backlog = ProbeFilters {
        counting: false,
        ..BACKLOG
    };
    let of = |user, job: Job| Job {
        user: Some(user),
        ..job
    };
    for (accuracy, window, backlog, starts) in [
        (
            AccuracySource::Category,
            500,
            2_340,
            [3_000, 4_500].as_slice(),
        ),
        (AccuracySource::History, 500, 4_500, &[4_500]),
        // The five jobs that ended last are of the second user: the other has the mean of these.
        (AccuracySource::Category, 5, 900, &[3_000, 4_500]),
    ] {
        let settings = LocalSettings {
            accuracy,
            accuracy_window: AccuracyWindow(window),
            ..LocalSettings::default()
        };
        let mut machine = machine(100, settings);
        // Which of them end last.
        let run_of_first = if window == 5 { 90 } else { 900 };
        let history = (0..10).map(|id| {
            let (user, runtime) = if id < 5 { (1, run_of_first) } else { (2, 100) };
            of(user, job(id, 0, 10, 1_000, runtime))
        });
        let history: Vec<Job> = history.collect();
        machine.submit(&history);
        machine.advance(Seconds(1_000));
        let (first, count) = (0, 100);
        machine.apply_outage(Seconds(1_000), OutageEvent::NodesDown { first, count });
        machine.submit(&[
            of(1, job(20, 1_000, 50, 3_600, 3_600)),
            of(2, job(21, 1_000, 100, 7_200, 7_200)),
        ]);
        machine.advance(Seconds(1_001));
        let probe = query(60, &[10], &[4_000, 5_500], only_backlog);
        let answer = machine.probe(Seconds(1_000), &probe);
        assert_eq!(answer.backlog_now, Seconds(backlog), "{accuracy:?}");
        let admitted: Vec<i64> = offered(&answer).iter().map(|(at, _)| at - 1_000).collect();
        assert_eq!(admitted, starts, "{accuracy:?}");
    }
}
