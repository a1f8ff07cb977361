//! Committed plans: what they do to the jobs of others and to later applications.

use super::*;

#[test]
fn committed_plans_delay_others_by_what_their_starts_differ() {
    let mut settings = settings_of(
        queried(),
        SearchMethod::Greedy,
        Wish::TradeOff { alpha: 0.0 },
    );
    settings.commitment = Commitment::Committed { submissions: 1 };
    let hour = HOUR.0;
    // The second job comes while the application runs, and would start at once.
    let jobs = vec![
        job(0, 0, 4, hour),
        job(1, 2 * hour, 4, hour),
        job(2, 9 * hour, 4, hour),
    ];
    let run = run_one(workload(4, jobs), chain(4, &[3]), &settings, &[Seconds(10)]);
    // From the end of the first job, hour 1, to hour 4.
    assert_eq!(run.outcomes[0].tasks[0].start, HOUR);
    let effect = run.effects[0];
    assert_eq!((effect.jobs, effect.delayed), (1, 1));
    assert_eq!(
        (effect.wait, effect.undisturbed_wait),
        (HOUR * 2, Seconds::ZERO)
    );
    assert_eq!((effect.slowdown, effect.undisturbed_slowdown), (3.0, 1.0));
}

#[test]
fn a_job_that_runs_past_the_horizon_is_an_error_and_not_left_out() {
    let mut settings = settings_of(
        queried(),
        SearchMethod::Greedy,
        Wish::TradeOff { alpha: 0.0 },
    );
    settings.commitment = Commitment::Committed { submissions: 1 };
    let eleven_years = 11 * 365 * 24 * HOUR.0;
    let site = workload(4, vec![job(0, 3_000, 1, eleven_years)]);
    let inputs = inputs_of(vec![site], chain(1, &[1]), &settings, &[Seconds(10)]);
    let error = simulate(&inputs, &settings, &seed_of(1)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("1 of the jobs of others"), "{text}");
}

#[test]
fn the_second_application_finds_what_the_first_one_booked() {
    for (provider, search) in [
        (queried(), SearchMethod::Greedy),
        (rectangles(), SearchMethod::Moga),
    ] {
        let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.0 });
        settings.commitment = Commitment::Committed { submissions: 2 };
        let instants = [Seconds::ZERO, Seconds(60)];
        let run = run_one(
            workload(4, Vec::new()),
            chain(3, &[1, 1]),
            &settings,
            &instants,
        );
        let starts: Vec<i64> = run
            .outcomes
            .iter()
            .flat_map(|outcome| outcome.tasks.iter().map(|run| run.start.0 / 3_600))
            .collect();
        assert_eq!(starts, [0, 1, 2, 3], "{search:?}");
    }
}
