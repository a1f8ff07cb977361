//! Jobs with a home cluster.

use std::collections::BTreeMap;

use super::moving::troubled;
use super::*;
use bookahead_core::scheduling::GapEnd;

const HOUR: i64 = 3_600;

fn with(overflow: Overflow) -> Option<HomeSettings> {
    Some(HomeSettings {
        of: HomeRule::User,
        overflow,
    })
}

fn list(below: f64) -> Overflow {
    Overflow::List {
        every: Seconds(HOUR / 2),
        below,
        horizon: Seconds(24 * HOUR),
    }
}

/// Two clusters of four nodes, on which nothing fails. The first is busy for 10 h, the second for
/// `other` hours; then a job of the first comes, which wants all nodes for 6 h before 12 h. Of ten
/// jobs in the past eight used half of their estimates and two all of it.
pub(super) fn two_clusters(other: i64, overflow: Overflow) -> MarketRun {
    let mut settings = MarketSettings {
        clusters: 2,
        optimists: 0.0,
        home: with(overflow),
        ..settings(DelegationRule::Promised)
    };
    settings.policy.reliability.failure_rate_per_hour = 0.0;
    settings.policy.reliability.survival =
        bookahead_core::failures::SurvivalModel::Poisson { rate_per_hour: 0.0 };
    let mut inputs = inputs(1, 1);
    let job = |id, user, hours, due| Job {
        user: Some(user),
        ..Job::rigid(JobId(id), Seconds::ZERO, Nodes(4), Seconds(hours * HOUR))
            .due_by(Seconds(due * HOUR))
    };
    let past: Vec<Job> = (0..10)
        .map(|id| {
            let used = if id < 8 { 5 } else { 10 };
            job(id, 9, 10, 20).running_for(Seconds(used * HOUR))
        })
        .collect();
    let everybody = EstimateSettings {
        family: ClassFamily::All,
        learn_from: LearningJobs::Before,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    inputs.estimates = Some(Arc::new(EstimateModel::learn(&past, &everybody).unwrap()));
    inputs.nodes = Nodes(4);
    inputs.jobs = [job(0, 0, 10, 10), job(1, 1, other, other), job(2, 0, 6, 12)].into();
    if other == 0 {
        inputs.jobs = [job(0, 0, 10, 10), job(1, 0, 6, 12)].into();
    }
    simulate(&settings, &inputs)
}

/// Where and when the last job ran, and which slot it was promised.
pub(super) fn last_job(run: &MarketRun) -> Option<(usize, i64, i64, f64)> {
    let last = run.delegations.iter().map(|it| it.job).max()?;
    let found = run.delegations.iter().find(|it| it.job == last)?;
    let promise = found.outcome.as_ref()?.promise.as_ref()?;
    let hours = (promise.start.0 / HOUR, promise.end.0 / HOUR);
    Some((found.cluster, hours.0, hours.1, found.pof))
}

#[test]
fn a_job_that_would_end_too_late_at_home_goes_elsewhere_at_once() {
    // At home it would end at 16 h.
    let run = two_clusters(0, Overflow::Ask);
    assert_eq!(last_job(&run), Some((1, 0, 6, 0.0)));
    assert_eq!(run.measured.get("market_away_percent"), Some(50.0));
    assert_eq!(run.measured.get("market_away_kept_percent"), Some(100.0));
}

#[test]
fn a_job_that_may_not_leave_is_refused_where_its_home_has_no_room() {
    // Two of its six hours are left: nobody ever used less than half.
    let run = two_clusters(0, Overflow::Stay);
    assert_eq!((run.metrics.accepted, run.metrics.dropped), (1, 1));
    let get = |name| run.measured.get(name).unwrap();
    assert_eq!(get("market_away_percent"), 0.0);
    assert_eq!(get("market_most_loaded_refused_percent"), 50.0);
    assert_eq!(get("market_most_loaded_kept_percent"), 50.0);
}

#[test]
fn a_cluster_that_is_idle_in_time_takes_a_job_from_the_list() {
    let run = two_clusters(5, list(0.5));
    assert_eq!(last_job(&run), Some((1, 5, 11, 0.0)));
    // 4.5 of the next 24 h are booked when clusters look at the list for the first time.
    assert_eq!(run.measured.get("market_list_hours"), Some(0.0));
    // At 2.5 h it has 10.4 % of them booked, at 3 h 8.3 %.
    let patient = two_clusters(5, list(0.1));
    assert_eq!(last_job(&patient), Some((1, 5, 11, 0.0)));
    assert_eq!(patient.measured.get("market_list_hours"), Some(3.0));
    let third = 100.0 / 3.0;
    assert_eq!(patient.measured.get("market_listed_percent"), Some(third));
    assert_eq!(
        patient.measured.get("market_list_taken_percent"),
        Some(100.0)
    );
}

#[test]
fn a_job_that_nobody_took_in_time_gets_a_shorter_slot_elsewhere() {
    // Until 6 h no cluster can end it at full length before 12 h. Then 5 of 6 h are left elsewhere
    // from 7 h on, and 83 % of the estimate are enough for 8 of 10 jobs.
    let run = two_clusters(7, list(0.5));
    let (cluster, start, end, pof) = last_job(&run).unwrap();
    assert_eq!((cluster, start, end), (1, 7, 12));
    assert!((pof - 0.2).abs() < 1e-9, "{pof}");
    assert_eq!(run.measured.get("market_list_taken_percent"), Some(0.0));
}

#[test]
fn drawn_homes_share_what_the_first_one_leaves_and_a_larger_share_keeps_its_jobs() {
    let inputs = inputs(600, 3);
    let job = &inputs.jobs[0];
    let home = |percent, draw| {
        let rule = HomeSettings {
            of: HomeRule::Drawn {
                first_percent: percent,
            },
            overflow: Overflow::Ask,
        };
        rule.home_of(job, 4, || draw)
    };
    let homes = |percent| [0.0, 0.3, 0.5, 0.8, 0.999].map(|draw| home(percent, draw));
    assert_eq!(homes(None), [0, 1, 2, 3, 3]);
    assert_eq!(homes(Some(40.0)), [0, 0, 1, 3, 3]);
    assert_eq!(homes(Some(100.0)), [0; 5]);
    assert_eq!(homes(Some(0.0)), [1, 1, 2, 3, 3]);
}

#[test]
fn every_job_goes_to_the_first_place_in_order_that_has_an_offer() {
    for seed in 0..4 {
        for rule in [DelegationRule::Reputation, DelegationRule::Cheapest] {
            let settings = MarketSettings {
                home: with(Overflow::Ask),
                ..settings(rule)
            };
            let inputs = inputs(400, seed);
            let run = simulate(&settings, &inputs);
            let mut by_job: BTreeMap<JobId, Vec<&super::Quote>> = BTreeMap::new();
            for quote in &run.quotes {
                by_job.entry(quote.job).or_default().push(quote);
            }
            let (mut stayed, mut left) = (0, 0);
            for (job, quotes) in by_job {
                let home = job.0 as usize % 4;
                let estimate = inputs.jobs[job.0 as usize].estimate;
                let place = |quote: &super::Quote| {
                    (quote.end - quote.start < estimate, quote.cluster != home)
                };
                let is_wanted =
                    |quote: &&&super::Quote| rule == DelegationRule::Cheapest || quote.score > 0.0;
                let first = quotes.iter().filter(is_wanted).map(|it| place(it)).min();
                let taken = quotes.iter().find(|it| it.is_taken);
                assert_eq!(taken.map(|it| place(it)), first);
                match first {
                    Some((false, false)) => {
                        assert_eq!(quotes.len(), 1, "nobody else was asked");
                        stayed += 1;
                    }
                    _ => left += 1,
                }
            }
            assert!(stayed > 20 && left > 20, "{stayed} and {left}");
        }
    }
}

#[test]
fn with_one_cluster_a_home_changes_nothing() {
    let settings = MarketSettings {
        clusters: 1,
        ..settings(DelegationRule::Reputation)
    };
    let at_home = MarketSettings {
        home: with(Overflow::Ask),
        ..settings.clone()
    };
    let (without, mut with_home) = (run(&settings, 5), run(&at_home, 5));
    with_home.measured = without.measured.clone();
    assert_eq!(without, with_home);
}

#[test]
fn a_list_loses_no_job_and_no_money_also_where_rests_move() {
    let mut taken = 0.0;
    for seed in 0..4 {
        let (mut settings, inputs) = troubled("heuristic-overbooking", seed, GapEnd::Checkpoint);
        settings.home = Some(HomeSettings {
            of: HomeRule::Drawn {
                first_percent: Some(60.0),
            },
            overflow: Overflow::List {
                every: Seconds(300),
                below: 0.9,
                horizon: Seconds(7_200),
            },
        });
        let run = simulate(&settings, &inputs);
        assert_eq!(run, simulate(&settings, &inputs));
        assert_eq!(run.metrics.submitted, 300);
        assert_eq!(run.job_outcomes(&inputs.jobs).len(), 300);
        for outcome in run.job_outcomes(&inputs.jobs) {
            assert!(
                outcome
                    .start
                    .is_none_or(|start| start >= outcome.job.submit)
            );
        }
        assert_books_balance(&settings, &inputs.jobs, &run);
        let get = |name| run.measured.get(name).unwrap();
        assert!(get("market_away_percent") > 5.0);
        taken += get("market_list_taken_percent");
    }
    assert!(taken > 0.0, "nobody took anything from the list");
}
