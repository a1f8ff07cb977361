//! Users whose jobs are given no overbooked slots.

use std::sync::Arc;

use bookahead_core::estimates::{ClassFamily, EstimateModel, EstimateSettings, Overrun};
use bookahead_core::failures::FailureTrace;
use bookahead_core::scheduling::{
    Acceptance, AccurateUsers, ExcludedUsers, PolicySpec, PromisingRule, ShorteningRule,
};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use crate::policies::overbooking_2008::shortened_duration;
use crate::registry::STRATEGIES;
use crate::simulate;

fn job(id: u32, minutes: i64, ran: i64, deadline: i64, user: i64) -> Job {
    Job::rigid(JobId(id), Seconds(0), Nodes(1), Seconds(60 * minutes))
        .running_for(Seconds(60 * ran))
        .due_by(Seconds(60 * deadline))
        .of_user(user)
}

/// User 1 used 100, 100, 98 and 40 % of the estimates, user 2 always 30 %.
fn known() -> Arc<EstimateModel> {
    let ratios = [100, 100, 98, 40].map(|ratio| (1, ratio));
    let others = [(2, 30); 8];
    let learned = ratios.iter().chain(&others);
    let jobs: Vec<Job> = learned
        .map(|&(user, ratio)| job(0, 100, ratio, 200, user))
        .collect();
    let settings = EstimateSettings {
        family: ClassFamily::All,
        overrun: Overrun::Clamp,
        ..EstimateSettings::default()
    };
    Arc::new(EstimateModel::learn(&jobs, &settings).unwrap())
}

fn accurate(share: f64, least_jobs: u32) -> ExcludedUsers {
    ExcludedUsers {
        accurate: Some(AccurateUsers { share, least_jobs }),
        numbers: Vec::new(),
    }
}

fn named(numbers: &[i64]) -> ExcludedUsers {
    ExcludedUsers {
        accurate: None,
        numbers: numbers.to_vec(),
    }
}

#[test]
fn no_strategy_that_overbooks_gives_an_excluded_user_an_overbooked_slot() {
    // The node is taken for 100 min. The second job asks for 100 more and has 80 until its
    // deadline.
    let is_overbooked = |strategy: &str, excluded: &ExcludedUsers, user| {
        let settings = PolicySpec {
            acceptance: Acceptance::Pof { maximum: 0.4 },
            excluded: excluded.clone(),
            ..PolicySpec::named(strategy)
        };
        let jobs = [job(0, 100, 60, 100, 2), job(1, 100, 30, 180, user)];
        let failures = FailureTrace::default();
        let (_, outcomes) = simulate(Nodes(1), &settings, Some(known()), &jobs, &failures).unwrap();
        assert!(outcomes[0].promise.is_some());
        outcomes[1]
            .promise
            .is_some_and(|promise| promise.overbooked)
    };
    let overbooking: Vec<_> = STRATEGIES.iter().filter(|known| known.overbooks).collect();
    assert!(overbooking.len() >= 3);
    for strategy in overbooking {
        for (excluded, user, expected) in [
            (ExcludedUsers::default(), 1, true),
            (accurate(0.5, 4), 1, false),
            (accurate(0.75, 4), 1, false),
            // Three of four are not enough, or four are too few.
            (accurate(0.8, 4), 1, true),
            (accurate(0.5, 5), 1, true),
            (accurate(0.5, 4), 2, true),
            // Of user 3 nothing is known.
            (accurate(0.5, 4), 3, true),
            (named(&[1, 3]), 1, false),
            (named(&[1, 3]), 3, false),
            (named(&[1, 3]), 2, true),
        ] {
            assert_eq!(
                is_overbooked(strategy.name, &excluded, user),
                expected,
                "{}: user {user}, {excluded:?}",
                strategy.name
            );
        }
    }
}

#[test]
fn a_share_of_what_a_user_does_not_use_is_cut_from_the_estimate() {
    let shortened = |rule: ShorteningRule, mean_ratio| {
        let max_pof = rule.max_pof_for(mean_ratio).unwrap();
        shortened_duration(Seconds(18_000), max_pof).0 as f64 / 60.0
    };
    let shares = [0.1, 0.25, 0.5, 0.9, 1.0];
    let by_excess = shares.map(|share| shortened(ShorteningRule::OwnExcess { share }, 0.25));
    assert_eq!(by_excess, [277.5, 243.75, 187.5, 97.5, 75.0]);
    let by_estimate = shares.map(|share| shortened(ShorteningRule::Estimate { share }, 0.25));
    // One per cent of the estimate is always kept.
    assert_eq!(by_estimate, [270.0, 225.0, 150.0, 30.0, 3.0]);
    // With uniform ratios 5 % of the jobs need more than is left by a tenth of the mean excess, and
    // 10 % more than by a tenth of the estimate.
    for (rule, minutes, longer_percent) in [
        (ShorteningRule::OwnExcess { share: 0.1 }, 285.0, 5),
        (ShorteningRule::Estimate { share: 0.1 }, 270.0, 10),
    ] {
        assert_eq!(shortened(rule, 0.5), minutes);
        let longer = (1..=100).filter(|percent| 3.0 * f64::from(*percent) > minutes);
        assert_eq!(longer.count(), longer_percent);
    }
    assert_eq!(ShorteningRule::MaxPof.max_pof_for(0.5), None);
}

#[test]
fn a_user_of_whom_nothing_is_known_or_who_uses_all_is_not_cut_whatever_the_class_says() {
    // 80 min are left for 100: 30 % of use and a share of a third keep 77 min, 85 % keep 95.
    let fits = |share, user| {
        let settings = PolicySpec {
            promising: PromisingRule::Class,
            shortening: ShorteningRule::OwnExcess { share },
            ..PolicySpec::named("overbooking-2008")
        };
        let jobs = [job(0, 100, 100, 100, 9), job(1, 100, 30, 180, user)];
        let failures = FailureTrace::default();
        let (_, outcomes) = simulate(Nodes(1), &settings, Some(known()), &jobs, &failures).unwrap();
        outcomes[1].promise.is_some()
    };
    assert!(fits(0.33, 2));
    assert!(!fits(0.25, 2));
    assert!(!fits(0.33, 1));
    assert!(!fits(1.0, 3));
}
