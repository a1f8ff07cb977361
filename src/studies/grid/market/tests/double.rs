//! Double auctions.

use super::*;
use crate::market::double::Clearing;

/// Clusters that plan without overbooking and owe nothing where nodes fail, and so ask their costs:
/// half of the list price.
fn planning(clusters: u32, minutes: i64) -> MarketSettings {
    MarketSettings {
        clusters,
        policy: PolicySpec::named("heuristic-planning"),
        auction: Some(AuctionSettings {
            rule: AuctionRule::Double {
                every: Seconds(60 * minutes),
            },
            safety: 1.0,
            node_hour_cost: 0.5,
        }),
        penalty: 0.0,
        ..settings(DelegationRule::Cheapest)
    }
}

fn overbooking(minutes: i64, node_hour_cost: f64) -> MarketSettings {
    let auction = planning(4, minutes).auction;
    MarketSettings {
        auction: auction.map(|it| AuctionSettings {
            node_hour_cost,
            ..it
        }),
        ..settings(DelegationRule::Cheapest)
    }
}

/// What the customers of these jobs bid, in fees.
fn bids(settings: &MarketSettings, inputs: &MarketInputs) -> Vec<f64> {
    let mut stream = inputs.bids.clone();
    let auction = settings.auction.unwrap();
    let bids = inputs.jobs.iter().map(|_| auction.bid(&mut stream));
    bids.map(Option::unwrap).collect()
}

/// Bids in falling order, each with the ask for its job.
fn cleared(bids: &[f64], mut ask: impl FnMut(usize) -> f64) -> (usize, Option<f64>) {
    let mut clearing = Clearing::default();
    let mut traded = 0;
    for &bid in bids {
        let own = ask(traded);
        if clearing.is_open_to(bid) && bid >= own {
            clearing.trade(bid, own);
            traded += 1;
        }
    }
    (traded, clearing.price())
}

/// Spec §12: bids of 70, 50 and 30 and asks of 20, 40 and 64 are two trades at (50 + 40) / 2.
#[test]
fn seventy_and_fifty_meet_twenty_and_forty_at_forty_five() {
    let asks = [20.0, 40.0, 64.0];
    let of_next_unit = |sold: usize| asks[sold];
    assert_eq!(cleared(&[70.0, 50.0, 30.0], of_next_unit), (2, Some(45.0)));
    // A bid of just what is asked trades.
    assert_eq!(cleared(&[70.0, 40.0], of_next_unit), (2, Some(40.0)));
    assert_eq!(cleared(&[19.0, 10.0], of_next_unit), (0, None));
}

#[test]
fn an_ask_above_its_own_bid_lets_the_next_ones_pass_and_one_that_traded_ends_the_clearing() {
    let of_each = |asks: [f64; 3]| {
        let mut asks = asks.into_iter();
        move |_| asks.next().unwrap()
    };
    // 60 does not meet 64; 50 meets 10, beside 70 and 20: (50 + 20) / 2.
    let passed = cleared(&[70.0, 60.0, 50.0], of_each([20.0, 64.0, 10.0]));
    assert_eq!(passed, (2, Some(35.0)));
    // 70 meets 65, and no price suits it and a bid of 60: (70 + 65) / 2.
    let ended = cleared(&[70.0, 60.0, 50.0], of_each([65.0, 10.0, 10.0]));
    assert_eq!(ended, (1, Some(67.5)));
}

proptest! {
    /// Where goods are alike, it is the classical clearing: the k-th highest bids meet the k-th
    /// lowest asks.
    #[test]
    fn like_goods_clear_as_in_a_book_of_sorted_bids_and_asks(
        mut bids in proptest::collection::vec(0_u32..100, 0..12),
        mut asks in proptest::collection::vec(0_u32..100, 12),
    ) {
        bids.sort_unstable_by(|one, other| other.cmp(one));
        asks.sort_unstable();
        let real: Vec<f64> = bids.iter().map(|&bid| f64::from(bid)).collect();
        let found = cleared(&real, |sold| f64::from(asks[sold]));
        let trades = bids.iter().zip(&asks).take_while(|(bid, ask)| bid >= ask);
        let marginal = trades.clone().last();
        let price = marginal.map(|(&bid, &ask)| f64::from(bid + ask) / 2.0);
        prop_assert_eq!(found, (trades.count(), price));
    }
}

fn given(jobs: Vec<Job>, seed: u64) -> MarketInputs {
    MarketInputs {
        jobs: jobs.into(),
        ..inputs(1, seed)
    }
}

fn whole_cluster(number: u32, submit: i64, estimate: i64, deadline: i64) -> Job {
    Job::rigid(
        JobId(number),
        Seconds(submit),
        Nodes(NODES),
        Seconds(estimate),
    )
    .due_by(Seconds(deadline))
}

/// Start and price of each job; `None` where no cluster took it.
fn trades(run: &MarketRun, jobs: usize) -> Vec<Option<(i64, f64)>> {
    let mut all = vec![None; jobs];
    for it in &run.delegations {
        let start = it.outcome.as_ref().and_then(|outcome| outcome.start);
        all[it.job.0 as usize] = start.map(|start| (start.0, it.price / it.fee));
    }
    all
}

/// Two clusters, three jobs of 1,000 s that fill one, and a clearing every 600 s. All can start by
/// 700, so that the two highest bids start at the clearing of 600, whatever their order. The third
/// finds both clusters full until 1,600 then, and there is no clearing before its latest start.
#[test]
fn the_highest_bids_get_the_room_and_all_pay_the_same() {
    for seed in 0..6 {
        let jobs = (0..3)
            .map(|it| whole_cluster(it, 100 + 50 * i64::from(it), 1_000, 1_700))
            .collect();
        let (settings, inputs) = (planning(2, 10), given(jobs, seed));
        let run = simulate(&settings, &inputs);
        let bids = bids(&settings, &inputs);
        let mut falling = bids.clone();
        falling.sort_unstable_by(|one, other| other.total_cmp(one));
        // Costs of 0.5 are the ask of both clusters.
        let price = (falling[1] + 0.5) / 2.0;
        let found = trades(&run, 3);
        for (bid, found) in bids.iter().zip(&found) {
            let wanted = (*bid >= falling[1]).then_some(600);
            assert_eq!(found.map(|(start, _)| start), wanted, "{bids:?}");
            assert!(found.is_none_or(|(_, paid)| (paid - price).abs() < 1e-12));
        }
        assert_eq!(run.metrics.dropped, 1);
        assert_eq!(
            run.measured.get("market_missed_clearing_percent"),
            Some(0.0)
        );
        // A day and seven minutes at once come to the same.
        for window in [86_400, 420] {
            let mut scene = market_scene(&settings, &inputs, true).unwrap();
            scene.window = Seconds(window);
            assert_eq!(MarketRun::of(drive(scene, false)), run);
        }
    }
}

/// One cluster, and four jobs of 1,300 s that are submitted in the instant of a clearing and may
/// start until 1,900. One starts at once. The next one is planned behind it in the same clearing,
/// and starts at 1,900. For the others there is never room, and no clearing after 1,800.
#[test]
fn a_clearing_sells_a_plan_as_far_as_it_goes_and_takes_the_jobs_of_its_own_instant() {
    let jobs: Vec<Job> = (0..4)
        .map(|it| whole_cluster(it, 600, 1_300, 3_200))
        .collect();
    let (settings, inputs) = (planning(1, 10), given(jobs, 3));
    let run = simulate(&settings, &inputs);
    let mut starts: Vec<i64> = (trades(&run, 4).into_iter().flatten())
        .map(|(start, _)| start)
        .collect();
    starts.sort_unstable();
    assert_eq!(starts, [600, 1_900]);
    assert_eq!(run.metrics.dropped, 2);
}

/// A job runs 700 s of the 3,000 s that it asks for, and fills the only cluster meanwhile. Another
/// one has to start by 1,300, and is not met at 600, when the plan is full until 3,000. At 1,200 it
/// is.
#[test]
fn a_job_that_stayed_trades_in_a_later_clearing() {
    for seed in 0..4 {
        let first = whole_cluster(0, 0, 3_000, 9_000).running_for(Seconds(700));
        let second = whole_cluster(1, 100, 200, 1_500);
        let (settings, inputs) = (planning(1, 10), given(vec![first, second], seed));
        let found = trades(&simulate(&settings, &inputs), 2);
        // Alone in its clearing, each pays the midpoint of its own bid and the costs.
        let bids = bids(&settings, &inputs);
        for (found, (start, bid)) in found.iter().zip([(0, bids[0]), (1_200, bids[1])]) {
            let (begun, paid) = found.unwrap();
            assert_eq!(begun, start);
            assert!((paid - (bid + 0.5) / 2.0).abs() < 1e-12, "{bids:?}");
        }
    }
}

#[test]
fn a_job_whose_latest_start_comes_before_a_clearing_takes_no_part() {
    // Latest starts of 599, 600 and 1,199.
    let jobs = [(100, 1_099), (100, 1_100), (601, 1_699)];
    let jobs = (0..).zip(jobs);
    let jobs = jobs.map(|(it, (submit, deadline))| whole_cluster(it, submit, 500, deadline));
    let (settings, inputs) = (planning(3, 10), given(jobs.collect(), 1));
    let run = simulate(&settings, &inputs);
    let starts = trades(&run, 3).into_iter();
    let starts: Vec<_> = starts.map(|it| it.map(|(start, _)| start)).collect();
    assert_eq!(starts, [None, Some(600), None]);
    let missed = run.measured.get("market_missed_clearing_percent").unwrap();
    assert!((missed - 200.0 / 3.0).abs() < 1e-9);
}

#[test]
fn nobody_trades_at_a_loss_and_every_clearing_has_the_midpoint_of_its_marginal_pair() {
    let (mut shared, mut risky) = (0, 0);
    for (seed, minutes, cost) in [(3, 1, 0.5), (4, 20, 0.0), (5, 60, 0.25), (6, 300, 0.5)] {
        let settings = overbooking(minutes, cost);
        let inputs = inputs(600, seed);
        let run = simulate(&settings, &inputs);
        let (auction, bids) = (settings.auction.unwrap(), bids(&settings, &inputs));
        // Bids are drawn, so that no two clearings have the same price.
        let mut clearings: std::collections::BTreeMap<i64, Vec<(f64, f64)>> = Default::default();
        for it in &run.delegations {
            // Optimists say a fifth of their PoF, and ask by all of it.
            let pof = it.pof / run.providers[it.cluster].optimism;
            let ask = auction.ask(pof, it.fee, settings.penalty) / it.fee;
            let (price, bid) = (it.price / it.fee, bids[it.job.0 as usize]);
            assert!(ask - 1e-9 <= price && price <= bid + 1e-9, "{it:?}, {bid}");
            let clearing = clearings.entry((price * 1e10).round() as i64).or_default();
            clearing.push((bid, ask));
            risky += u32::from(pof > 0.1);
        }
        for (price, pairs) in clearings {
            let bid = pairs.iter().map(|pair| pair.0).fold(f64::MAX, f64::min);
            let ask = pairs.iter().map(|pair| pair.1).fold(0.0, f64::max);
            assert!((price as f64 * 1e-10 - (bid + ask) / 2.0).abs() < 1e-8);
            shared += usize::from(pairs.len() > 1);
        }
    }
    assert!(shared > 50 && risky > 50, "{shared} {risky}");
}
