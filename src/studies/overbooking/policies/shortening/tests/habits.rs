//! Whose statistics make a job promising, and what is planned for underestimators.

use bookahead_core::scheduling::{PromisingRule, UnderestimatorRule, longer_duration};

use super::properties::{NODES, outages, watched_with, workload};
use super::*;

/// A learning job of a user and an application: estimate and run time in minutes.
fn learned(user: i64, application: i64, estimate: i64, runtime: i64) -> Job {
    job(0, 1, 0, estimate, runtime, estimate)
        .of_user(user)
        .of_application(application)
}

fn model(jobs: &[Job]) -> Arc<EstimateModel> {
    let settings = EstimateSettings {
        family: ClassFamily::All,
        binning: Binning::Round,
        learn_from: LearningJobs::Before,
        overrun: Overrun::Clamp,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    Arc::new(EstimateModel::learn(jobs, &settings).unwrap())
}

fn go(settings: &ShorteningSettings, learned: &[Job], jobs: &[Job]) -> Vec<JobOutcome> {
    let nodes = Nodes(jobs[0].nodes.0);
    let estimates = Some(model(learned));
    let result = simulate(nodes, settings, estimates, jobs, &FailureTrace::default());
    result.1
}

fn by(job: Job, user: i64, application: i64) -> Job {
    job.of_user(user).of_application(application)
}

#[test]
fn an_estimate_far_above_the_usual_run_time_or_a_user_who_overestimates_makes_a_job_promising() {
    // Birkenheuer 2008, §3.1.2, with maxPoF = 0.13, so what is usual must be below 1 / 1.13 = 88.5
    // % of the estimate. User 5 uses 60 % and runs application 9 for 300 min; user 6 uses
    // everything and runs application 3 for 60 min; together 95.6 %.
    let mut history = vec![learned(5, 9, 500, 300)];
    history.extend(vec![learned(6, 3, 60, 60); 8]);
    // The new job asks for 300 min: application 9 needs them all, application 3 a fifth.
    let accepted = |rule, user, application| {
        let mut jobs = worked_example(360, 240);
        // The predecessor is promising by its user and by its application.
        jobs[0] = by(jobs[0].clone(), 5, 3);
        jobs[NEW] = by(jobs[NEW].clone(), user, application);
        let settings = ShorteningSettings {
            promising: rule,
            ..settings(0.13)
        };
        go(&settings, &history, &jobs)[NEW].promise.is_some()
    };
    use PromisingRule::{Application, Class, Either, User};
    for (user, application, expected) in [
        (5, 9, vec![User, Either]),
        (6, 3, vec![Application, Either]),
        (5, 3, vec![User, Application, Either]),
        (6, 9, vec![]),
        // Nothing is known of them, so nothing is shortened.
        (7, 7, vec![]),
    ] {
        for rule in [Class, Application, User, Either] {
            assert_eq!(
                accepted(rule, user, application),
                expected.contains(&rule),
                "{rule:?}: user {user}, application {application}"
            );
        }
    }
}

/// User 5 underestimates: all jobs run for 120 % of their estimates.
fn underestimating() -> Vec<Job> {
    vec![learned(5, 1, 100, 120); 3]
}

fn more_time() -> ShorteningSettings {
    ShorteningSettings {
        underestimators: UnderestimatorRule::MoreTime,
        ..settings(0.13)
    }
}

#[test]
fn the_job_of_an_underestimator_may_run_for_what_was_planned_and_pays_for_its_estimate() {
    let one = |settings: &ShorteningSettings, runtime| {
        let jobs = [by(job(0, 4, 0, 100, runtime, 400), 5, 1)];
        go(settings, &underestimating(), &jobs).remove(0)
    };
    // As estimated: killed after 100 of 110 min, which is the user's problem.
    let short = one(&settings(0.13), 110);
    assert_eq!(ran(&short), Some((0, 6_000)));
    assert_eq!(short.verdict, Verdict::SuccessfulFullGrant);
    // 1.2 · 100 min are planned, and 110 suffice.
    let long = one(&more_time(), 110);
    assert_eq!(planned(&long), Some((0, 7_200)));
    assert_eq!(ran(&long), Some((0, 6_600)));
    assert_eq!(long.verdict, Verdict::SuccessfulFinished);
    assert!(!long.promise.unwrap().overbooked);
    assert_eq!(long.job.fee(), short.job.fee());
    // Never more than was promised.
    let killed = one(&more_time(), 130);
    assert_eq!(ran(&killed), Some((0, 7_200)));
    assert_eq!(killed.verdict, Verdict::SuccessfulFullGrant);
}

#[test]
fn more_time_comes_before_an_early_start_and_is_forgone_where_no_slot_has_it() {
    // All nodes are taken 110–130: 120 min fit behind that only.
    let fixed = job(0, 4, 110, 20, 20, 130);
    let asked = |deadline| by(job(1, 4, 0, 100, 100, deadline), 5, 1);
    let jobs = go(
        &more_time(),
        &underestimating(),
        &[fixed.clone(), asked(250)],
    );
    assert_eq!(planned(&jobs[1]), Some((130 * MINUTE, 250 * MINUTE)));
    // With a deadline one minute earlier they fit nowhere: the estimate is what was asked for.
    let jobs = go(
        &more_time(),
        &underestimating(),
        &[fixed.clone(), asked(249)],
    );
    assert_eq!(planned(&jobs[1]), Some((0, 100 * MINUTE)));
    let jobs = go(
        &settings(0.13),
        &underestimating(),
        &[fixed.clone(), asked(250)],
    );
    assert_eq!(planned(&jobs[1]), Some((0, 100 * MINUTE)));
    // Somebody of whom nothing is known gets the estimate.
    let unknown = by(asked(250), 8, 1);
    let jobs = go(&more_time(), &underestimating(), &[fixed, unknown]);
    assert_eq!(planned(&jobs[1]), Some((0, 100 * MINUTE)));
}

#[test]
fn the_job_of_an_underestimator_is_never_shortened_and_nobody_is_placed_on_top_of_it() {
    // Two of three jobs ran for 120 %, the third for 5 %: the mean ratio is (1 + 1 + 0.05) / 3 =
    // 68 %.
    let history = [
        learned(5, 1, 100, 120),
        learned(5, 1, 100, 120),
        learned(5, 1, 100, 5),
        learned(6, 1, 100, 50),
    ];
    let accepted = |underestimators, predecessor, user| {
        let mut jobs = worked_example(360, 240);
        jobs[0] = by(jobs[0].clone(), predecessor, 1);
        jobs[NEW] = by(jobs[NEW].clone(), user, 1);
        let settings = ShorteningSettings {
            promising: PromisingRule::User,
            underestimators,
            ..settings(0.13)
        };
        go(&settings, &history, &jobs)[NEW].promise.is_some()
    };
    use UnderestimatorRule::{AsEstimated, MoreTime};
    for (rule, predecessor, user, expected) in [
        (AsEstimated, 5, 5, true),
        (MoreTime, 6, 6, true),
        (MoreTime, 6, 5, false),
        (MoreTime, 5, 6, false),
    ] {
        assert_eq!(
            accepted(rule, predecessor, user),
            expected,
            "{rule:?}: user {user} behind user {predecessor}"
        );
    }
}

#[test]
fn a_longer_plan_is_kept_through_a_crash_and_an_early_start() {
    let jobs = [
        by(job(0, 2, 0, 60, 30, 60), 6, 1),
        by(job(1, 2, 0, 100, 130, 400), 5, 1),
    ];
    let failures = FailureTrace {
        events: [(60, false), (150, true)]
            .map(|(minute, up)| NodeEvent {
                time: Seconds(minute * MINUTE),
                node: NodeIndex(0),
                up,
            })
            .to_vec(),
    };
    let run = |failures: &FailureTrace| {
        let estimates = Some(model(&underestimating()));
        let mut result = simulate(Nodes(2), &more_time(), estimates, &jobs, failures);
        result.1.remove(1)
    };
    // Planned for 60–180, started when the first job has ended, at 30, for as long as was promised.
    let early = run(&FailureTrace::default());
    assert_eq!(planned(&early), Some((60 * MINUTE, 180 * MINUTE)));
    assert_eq!(ran(&early), Some((30 * MINUTE, 150 * MINUTE)));
    // Crashed at 60 and started again at 150.
    assert_eq!(ran(&run(&failures)), Some((150 * MINUTE, 270 * MINUTE)));
}

/// Three users, of whom user 0 underestimates and user 1 overestimates; two applications.
fn three_users() -> Arc<EstimateModel> {
    let mut history = Vec::new();
    for (user, percents) in [(0, [150, 110, 40]), (1, [20, 50, 30]), (2, [90, 100, 95])] {
        for percent in percents {
            history.push(learned(user, user % 2, 100, percent));
        }
    }
    model(&history)
}

fn with_habits(jobs: Vec<Job>) -> Vec<Job> {
    jobs.into_iter()
        .map(|job| {
            let id = i64::from(job.id.0);
            // Runs that outlast their estimates by far, too.
            let runtime = Seconds(job.runtime.0 * (1 + id % 2));
            by(job.running_for(runtime), id % 4, id % 3)
        })
        .collect()
}

fn rules() -> impl Strategy<Value = (PromisingRule, UnderestimatorRule)> {
    use PromisingRule::{Application, Class, Either, User};
    use UnderestimatorRule::{AsEstimated, MoreTime};
    let promising = prop::sample::select(vec![Class, Application, User, Either]);
    (promising, prop::sample::select(vec![AsEstimated, MoreTime]))
}

proptest! {
    #[test]
    fn nobody_holds_nodes_for_longer_than_estimate_and_promise_allow(
        jobs in workload(), failures in outages(), max_pof in 0.0_f64..1.0, early in any::<bool>(), rules in rules(),
    ) {
        let settings = ShorteningSettings {
            early_start: if early { EarlyStart::Yes } else { EarlyStart::No },
            promising: rules.0,
            underestimators: rules.1,
            ..settings(max_pof)
        };
        let jobs = with_habits(jobs);
        let (metrics, outcomes) = watched_with(&settings, three_users(), &jobs, &failures);
        prop_assert_eq!(outcomes.len(), jobs.len());
        for outcome in &outcomes {
            let (Some(promise), Some((start, end))) = (outcome.promise, ran(outcome)) else { continue };
            let promised = promise.end - promise.start;
            prop_assert!(promise.end <= outcome.job.deadline && end <= outcome.job.deadline.0);
            if rules.1 == UnderestimatorRule::AsEstimated || outcome.job.user != Some(0) {
                prop_assert!(promised <= outcome.job.estimate);
            } else {
                prop_assert!(!promise.overbooked && promised >= outcome.job.estimate);
                // 1.3 on average, of the two jobs that outlasted their estimates.
                prop_assert!(promised.0 * 10 <= outcome.job.estimate.0 * 13 + 10);
            }
            prop_assert!(!outcome.verdict.is_successful() || end - start <= promised.max(outcome.job.estimate).0);
        }
        if failures.events.is_empty() {
            prop_assert_eq!(metrics.failed, metrics.failed_overbooked);
        }
    }

    /// The slow twin: where every job is of an underestimator and its longer duration always fits
    /// before its deadline, the plan is that of jobs whose estimates are as long.
    #[test]
    fn more_time_for_everybody_is_the_plan_of_longer_estimates(jobs in workload(), early in any::<bool>()) {
        let early_start = if early { EarlyStart::Yes } else { EarlyStart::No };
        let ours: Vec<Job> = with_habits(jobs)
            .into_iter()
            .map(|job| {
                let late = job.release + Seconds(1_000_000);
                by(job.due_by(late), 0, 0)
            })
            .collect();
        let longer: Vec<Job> = ours
            .iter()
            .map(|job| Job { estimate: longer_duration(job.estimate, 1.3), ..job.clone() })
            .collect();
        let asked = ShorteningSettings { early_start, ..more_time() };
        let plain = ComprehensiveSettings { early_start, ..ComprehensiveSettings::default() };
        let plain = Comprehensive::backfilling(Nodes(NODES), plain);
        let none = FailureTrace::default();
        let (_, ours) = simulate(Nodes(NODES), &asked, Some(three_users()), &ours, &none);
        let (_, theirs) = simulate_policy(Nodes(NODES), Box::new(plain), &longer, &none);
        for (ours, theirs) in ours.iter().zip(&theirs) {
            prop_assert_eq!(planned(ours), planned(theirs));
            prop_assert_eq!(ran(ours), ran(theirs));
        }
    }
}
