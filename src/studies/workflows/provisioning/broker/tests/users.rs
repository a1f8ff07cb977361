//! Users of single jobs, who reserve at the site that they choose (addendum S8).

use super::*;
use crate::provisioning::measures::provisioning_measures;
use crate::provisioning::{AskedSites, Users};

/// Everybody who comes after `begin` is a user, at most `most`.
fn with_users(inputs: ProvisioningInputs, begin: Seconds, most: u32) -> ProvisioningInputs {
    let stream = |site: usize| seed_of(1).stream(&format!("users of {site}"));
    let users = Users::drawn(&inputs.sites, 100.0, begin, most, stream);
    ProvisioningInputs {
        users,
        best_effort: Vec::new(),
        ..inputs
    }
}

fn committed(asked_sites: AskedSites, submissions: u32) -> ProvisioningSettings {
    ProvisioningSettings {
        commitment: Commitment::Committed { submissions },
        asked_sites,
        ..settings_of(
            queried(),
            SearchMethod::Greedy,
            Wish::TradeOff { alpha: 0.5 },
        )
    }
}

/// The first site is full until 4 h, the second idle; a job of the first is submitted at 1 h.
#[test]
fn a_job_leaves_a_full_site_unless_it_asks_nobody_else() {
    let hour = HOUR.0;
    let begin = Seconds(10);
    for (asked, site, start, away) in [
        (AskedSites::All, 1, 1, 100.0),
        (AskedSites::FewestTasks, 1, 1, 100.0),
        (AskedSites::Home, 0, 4, 0.0),
    ] {
        let settings = committed(asked, 1);
        let jobs = vec![job(0, 0, 4, 4 * hour), job(1, hour, 4, 2 * hour)];
        let sites = vec![workload(4, jobs), workload(4, Vec::new())];
        let inputs = inputs_of(sites, application_of(1, 2, 1, 1), &settings, &[begin]);
        let inputs = with_users(inputs, begin, 1);
        let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
        let [outcome] = run.outcomes.as_slice() else {
            panic!("{asked:?}: {} outcomes", run.outcomes.len());
        };
        assert_eq!(outcome.submitted, HOUR);
        let ran = outcome.tasks[0];
        assert_eq!((ran.site, ran.start), (site, HOUR * start), "{asked:?}");
        assert_eq!(ran.end - ran.start, HOUR * 2);
        // Until 1 h the first site is full and the second idle.
        assert_eq!(run.utilisations, [100.0, 0.0]);
        let measured = provisioning_measures(&inputs, &settings, &run);
        assert_eq!(measured.get("wf_away_percent"), Some(away));
        assert_eq!(measured.get("wf_wait_hours"), Some((start - 1) as f64));
        assert_eq!(measured.get("site_spread_points"), Some(50.0));
        // The job itself is nobody else's, and is in no queue.
        let others: u64 = run.effects.iter().map(|effect| effect.jobs).sum();
        assert_eq!(others, 0);
        assert_eq!(run.site_jobs(&inputs).len(), 1);
    }
}

#[test]
fn a_job_that_asks_a_drawn_site_goes_there() {
    let settings = committed(AskedSites::Random, 40);
    let begin = Seconds(10);
    let sites = vec![drawn_site(1, 0), drawn_site(2, 1)];
    let inputs = inputs_of(sites, application_of(1, 2, 1, 1), &settings, &[begin]);
    let inputs = with_users(inputs, begin, 40);
    let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
    let at_second = run.outcomes.iter().filter(|it| it.tasks[0].site == 1);
    assert!((5..35).contains(&at_second.count()));
    for (user, outcome) in inputs.users.list().iter().zip(&run.outcomes) {
        assert_eq!(outcome.tasks[0].site, user.drawn);
        assert_eq!(outcome.submitted, user.submitted);
    }
}

#[test]
fn a_larger_share_of_users_contains_the_smaller_one() {
    let sites = [drawn_site(1, 0), drawn_site(2, 1), workload(4, Vec::new())];
    let drawn = |percent| {
        let stream = |site: usize| seed_of(7).stream(&format!("users of {site}"));
        Users::drawn(&sites, percent, Seconds(100_000), 1_000, stream)
    };
    let (few, more) = (drawn(10.0), drawn(30.0));
    assert!(few.list().len() > 10 && more.list().len() > 2 * few.list().len());
    assert!(few.list().iter().all(|user| more.list().contains(user)));
    for user in more.list() {
        let job = &sites[user.home].jobs[user.job.0 as usize];
        assert!(more.reserves(user.home, user.job));
        assert!(job.submit > Seconds(100_000) && job.nodes <= sites[user.drawn].nodes);
    }
    assert!(more.list().is_sorted_by_key(|user| user.submitted));
    assert!(drawn(0.0).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whoever asks all sites is offered all that it would be offered by one of them, so the first
    /// user pays no more with α = 1, and starts no later with α = 0.
    #[test]
    fn who_asks_all_sites_finds_nothing_worse(seed in 0_u64..1_000, asked in 0_usize..3) {
        let asked = [AskedSites::Home, AskedSites::Random, AskedSites::FewestTasks][asked];
        let begin = Seconds(100_000);
        let first = |alpha, asked| {
            let settings = ProvisioningSettings {
                wish: Wish::TradeOff { alpha },
                ..committed(asked, 1)
            };
            let sites = vec![drawn_site(seed, 0), drawn_site(seed, 1)];
            let inputs = inputs_of(sites, application_of(1, 2, 1, 1), &settings, &[begin]);
            let inputs = with_users(inputs, begin, 1);
            let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
            let outcome = &run.outcomes[0];
            (outcome.slots[0].externality, outcome.tasks[0].start)
        };
        prop_assert!(first(1.0, AskedSites::All).0 <= first(1.0, asked).0);
        prop_assert!(first(0.0, AskedSites::All).1 <= first(0.0, asked).1);
    }
}
