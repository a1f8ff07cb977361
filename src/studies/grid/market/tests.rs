use proptest::prelude::*;

use bookahead_core::estimates::{Binning, ClassFamily, EstimateSettings, LearningJobs, Overrun};
use bookahead_core::kernel::drive;
use bookahead_core::random;
use bookahead_core::scheduling::{Acceptance, JobOutcome, JobQuote, PolicySpec};
use bookahead_core::units::NodeSeconds;
use bookahead_core::workload::JobId;

use super::*;

mod auctions;
mod barter;
mod budget;
mod double;
mod home;
mod lent;
mod moving;
mod outages;
mod prices;

const NODES: u32 = 8;

fn settings(rule: DelegationRule) -> MarketSettings {
    MarketSettings {
        clusters: 4,
        policy: PolicySpec {
            acceptance: Acceptance::Pof { maximum: 0.6 },
            ..PolicySpec::named("heuristic-overbooking")
        },
        rule,
        value: 1.5,
        damage: 2.0,
        penalty: 1.0,
        discount: 0.5,
        optimists: 0.5,
        optimism: 0.2,
        prior_failures: 1.0,
        half_life_jobs: 0.0,
        migration: None,
        home: None,
        load_pricing: None,
        auction: None,
        cluster_failures: None,
        speeds: Vec::new(),
        prices: Vec::new(),
        budget: None,
    }
}

/// Jobs that use a drawn share of their estimates, and the statistics of those shares.
fn inputs(jobs: u32, seed: u64) -> MarketInputs {
    let mut stream = random::stream(seed, "market", 0, "jobs");
    let mut now = 0;
    let drawn: Vec<Job> = (0..jobs)
        .map(|number| {
            now += stream.random_range(0..200);
            let estimate = stream.random_range(600..7_200);
            let share: f64 = stream.random();
            let nodes = Nodes(stream.random_range(1..=NODES));
            Job::rigid(JobId(number), Seconds(now), nodes, Seconds(estimate))
                .running_for(Seconds(((estimate as f64 * share) as i64).max(1)))
                .due_by(Seconds(now + 2 * estimate))
                .numbered(i64::from(number) + 1)
        })
        .collect();
    let everybody = EstimateSettings {
        family: ClassFamily::All,
        binning: Binning::default(),
        overrun: Overrun::default(),
        learn_from: LearningJobs::Before,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    let model = EstimateModel::learn(&drawn, &everybody).unwrap();
    MarketInputs {
        nodes: Nodes(NODES),
        jobs: drawn.into(),
        estimates: Some(Arc::new(model)),
        failures: Vec::new(),
        ties: random::stream(seed, "market", 0, "ties"),
        homes: random::stream(seed, "market", 0, "homes"),
        bids: random::stream(seed, "market", 0, "bids"),
    }
}

fn simulate(settings: &MarketSettings, inputs: &MarketInputs) -> MarketRun {
    MarketRun::of(drive(market_scene(settings, inputs, true).unwrap(), false))
}

fn run(settings: &MarketSettings, seed: u64) -> MarketRun {
    simulate(settings, &inputs(600, seed))
}

/// What providers and customers gain together is what kept promises are worth, less what broken
/// ones cost: payments among them cancel.
#[track_caller]
fn assert_books_balance(settings: &MarketSettings, jobs: &[Job], run: &MarketRun) {
    let offered: f64 = jobs.iter().map(|job| job.fee().0 as f64).sum();
    let worth = settings.value * run.metrics.fees.0 as f64
        - settings.damage * run.metrics.forfeited.0 as f64;
    let get = |name| run.measured.get(name).unwrap();
    let gains = get("market_provider_gain_percent") + get("market_customer_gain_percent");
    assert!(
        (gains - 100.0 * worth / offered).abs() < 1e-6,
        "{settings:?}"
    );
}

#[test]
fn a_quote_is_what_the_job_is_promised() {
    let settings = settings(DelegationRule::Promised);
    let inputs = inputs(300, 1);
    let mut provider = market_scene(&settings, &inputs, true)
        .unwrap()
        .services
        .remove(0);
    let (mut quotes, mut overbooked) = (Vec::new(), 0);
    for job in inputs.jobs.iter() {
        provider.machine.settle(job.submit);
        let quote = provider.machine.quote_job(job);
        assert_eq!(
            quote,
            provider.machine.quote_job(job),
            "asking changed the plan"
        );
        quotes.push(quote);
        provider.machine.submit([job.clone()]);
        provider.machine.settle(job.submit);
    }
    while !provider.machine.is_idle() {
        let next = provider.machine.next_event().unwrap();
        provider.machine.advance(next + Seconds(1));
    }
    let mut outcomes = provider.machine.take_outcomes();
    outcomes.sort_unstable_by_key(|outcome| outcome.job.id);
    for (outcome, quote) in outcomes.iter().zip(quotes) {
        assert_eq!(outcome.promise.is_some(), quote.is_some());
        let Some((promise, quote)) = outcome.promise.zip(quote) else {
            continue;
        };
        assert_eq!((promise.start, promise.end), (quote.start, quote.end));
        if promise.overbooked {
            overbooked += 1;
            assert_eq!(promise.pof(), Some(quote.pof));
        }
    }
    assert!(overbooked > 20, "only {overbooked} quotes were overbooked");
}

#[test]
fn a_market_needs_clusters_whose_policy_quotes_jobs() {
    let mut settings = settings(DelegationRule::Promised);
    let inputs = inputs(1, 1);
    settings.policy.strategy = "easy-backfilling".to_owned();
    let refused = market_scene(&settings, &inputs, true).err().unwrap();
    assert!(
        matches!(refused, MarketError::QuotesNoJobs { .. }),
        "{refused}"
    );
    settings.policy.strategy = "luck".to_owned();
    let refused = market_scene(&settings, &inputs, true).err().unwrap();
    assert!(
        matches!(refused, MarketError::UnknownStrategy { .. }),
        "{refused}"
    );
}

#[test]
fn scores_are_those_of_the_formula_by_hand() {
    let settings = settings(DelegationRule::Reputation);
    let inputs = inputs(1, 1);
    let mut all = Broker::new(&settings, &inputs, true).providers;
    assert_eq!(
        all.iter().map(|one| one.optimism).collect::<Vec<_>>(),
        [1.0, 1.0, 0.2, 0.2]
    );
    let job = Job {
        estimate: Seconds(100),
        nodes: Nodes(1),
        ..inputs.jobs[0].clone()
    };
    let quote = JobQuote {
        start: Seconds(0),
        end: Seconds(50),
        overbooked: true,
        pof: 0.4,
    };
    let honest = all[0].offer(0, &job, &quote, (&settings, None)).unwrap();
    // Price 100 · (1 − 0.5 · 0.4) = 80; 0.6 · (150 − 80) + 0.4 · (1 − 2) · 100 = 2.
    assert!((honest.contract.price - 80.0).abs() < 1e-9);
    assert!((honest.score - 2.0).abs() < 1e-9);
    let liar = all[3].offer(3, &job, &quote, (&settings, None)).unwrap();
    // Says 0.08: price 96; 0.92 · 54 − 0.08 · 100 = 41.68.
    assert!((liar.score - 41.68).abs() < 1e-9);
    // After 4 of 10 promises were broken where 0.8 were said: factor (1 + 4) / (1 + 0.8).
    for job in 0..10 {
        all[3].reputation.decided(0.08, job < 4);
    }
    let found_out = all[3].offer(3, &job, &quote, (&settings, None)).unwrap();
    let believed = 0.08 * 5.0 / 1.8;
    let expected = (1.0 - believed) * 54.0 - believed * 100.0;
    assert!((found_out.score - expected).abs() < 1e-9);
}

#[test]
fn the_most_reliable_provider_is_taken_whatever_it_costs() {
    let settings = settings(DelegationRule::MostReliable);
    let job = Job::rigid(JobId(0), Seconds(0), Nodes(1), Seconds(100));
    let quote = |pof, end| JobQuote {
        start: Seconds(0),
        end: Seconds(end),
        overbooked: true,
        pof,
    };
    let mut liar = Provider::new(&settings, Nodes(NODES), 3);
    let honest = Provider::new(&settings, Nodes(NODES), 0);
    let mut ties = random::stream(1, "market", 0, "ties");
    let mut taken = |liar: &Provider, of_honest: &JobQuote| {
        let offers = [
            liar.offer(0, &job, &quote(0.5, 90), (&settings, None))
                .unwrap(),
            honest.offer(1, &job, of_honest, (&settings, None)).unwrap(),
        ];
        choose(&offers, settings.rule, &mut ties).unwrap().provider
    };
    // It says 0.1; of equal risks the earlier end is taken.
    assert_eq!(taken(&liar, &quote(0.2, 90)), 0);
    assert_eq!(taken(&liar, &quote(0.05, 90)), 1);
    assert_eq!(taken(&liar, &quote(0.1, 80)), 1);
    assert_eq!(taken(&liar, &quote(0.1, 95)), 0);
    // Found out, it is believed to fail with min(1, 0.1 · (1 + 4) / (1 + 0.8)), and is worth
    // nothing; the honest one is taken although its quote is worth nothing either.
    for job in 0..8 {
        liar.reputation.decided(0.1, job < 4);
    }
    assert_eq!(taken(&liar, &quote(0.27, 90)), 1);
    assert_eq!(taken(&liar, &quote(0.28, 90)), 0);
    let hopeless = honest
        .offer(1, &job, &quote(0.9, 90), (&settings, None))
        .unwrap();
    assert!(hopeless.score < 0.0);
    let chosen = choose(&[hopeless], settings.rule, &mut ties);
    assert!(chosen.is_some());
    assert!(choose(&[hopeless], DelegationRule::Reputation, &mut ties).is_none());
}

#[test]
fn gains_add_up_to_what_the_promises_were_worth() {
    for rule in [
        DelegationRule::Reputation,
        DelegationRule::Promised,
        DelegationRule::Cheapest,
        DelegationRule::Random,
        DelegationRule::MostReliable,
    ] {
        let settings = settings(rule);
        let run = run(&settings, 3);
        // Prices and penalties cancel: what is left are the value of kept and the damage of broken
        // promises.
        assert_books_balance(&settings, &inputs(600, 3).jobs, &run);
        let get = |name| run.measured.get(name).unwrap();
        assert_eq!(run.metrics.submitted, 600);
        let jobs: u64 = run.providers.iter().map(|provider| provider.jobs).sum();
        assert_eq!(jobs, run.metrics.accepted);
        assert!((25.0..=100.0 + 1e-9).contains(&get("market_jain_percent")));
    }
}

#[test]
fn what_is_believed_in_the_end_errs_by_what_was_said_divided_by_its_weight() {
    let settings = settings(DelegationRule::Reputation);
    let run = run(&settings, 3);
    for provider in &run.providers {
        assert!(provider.jobs > 20 && provider.promised > 0.0);
        // Q / N · (k + F) / (k + Q) − F / N = (Q / N − F / N) · k / (k + Q).
        let truth = provider.failure_rate();
        let said = provider.promised / provider.jobs as f64 - truth;
        let believed = provider.believed.last().unwrap() - truth;
        let weight = settings.prior_failures / (settings.prior_failures + provider.promised);
        assert!(
            (believed - said * weight).abs() < 1e-9,
            "{believed} and {said}"
        );
    }
}

#[test]
fn one_cluster_that_takes_everything_is_that_cluster_alone() {
    let settings = MarketSettings {
        clusters: 1,
        optimists: 0.0,
        ..settings(DelegationRule::Cheapest)
    };
    let inputs = inputs(400, 5);
    let market = simulate(&settings, &inputs);
    let (alone, _) = bookahead_overbooking::simulate(
        inputs.nodes,
        &settings.policy,
        inputs.estimates.clone(),
        &inputs.jobs,
        &FailureTrace::default(),
    )
    .unwrap();
    assert_eq!(market.metrics.successful, alone.successful);
    assert_eq!(market.metrics.failed, alone.failed);
    assert_eq!(market.metrics.fees, alone.fees);
    assert!((market.measured.get("market_jain_percent").unwrap() - 100.0).abs() < 1e-9);
}

#[test]
fn knowledge_begins_where_the_belief_stays_near_the_truth() {
    let mut result = ProviderResult {
        optimism: 1.0,
        jobs: 4,
        rests: 0,
        broken: 1,
        broken_rests: 0,
        promised: 1.0,
        revenue: 0.0,
        gain: 0.0,
        believed: vec![0.5, 0.26, 0.2, 0.25],
        outcomes: Vec::new(),
    };
    assert_eq!(result.known_after(0.02), Some(3));
    assert_eq!(result.known_after(0.06), Some(1));
    result.believed.push(0.9);
    assert_eq!(result.known_after(0.02), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_market_is_the_same_every_time_and_keeps_its_books(
        seed in 0_u64..1_000,
        clusters in 1_u32..6,
        optimists in 0.0..=1.0_f64,
        half_life_jobs in prop::sample::select(vec![0.0, 20.0]),
    ) {
        let settings = MarketSettings {
            clusters,
            optimists,
            half_life_jobs,
            ..settings(DelegationRule::Reputation)
        };
        let first = simulate(&settings, &inputs(150, seed));
        prop_assert_eq!(&first, &simulate(&settings, &inputs(150, seed)));
        for provider in &first.providers {
            prop_assert_eq!(provider.believed.len() as u64, provider.jobs);
            prop_assert_eq!(provider.outcomes.len() as u64, provider.jobs);
            prop_assert!(provider.gain <= provider.revenue);
            prop_assert!(provider.believed.iter().all(|belief| (0.0..=1.0).contains(belief)));
        }
    }
}
