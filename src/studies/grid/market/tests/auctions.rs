//! Tendering and reverse auctions.

use super::*;

fn auction(rule: AuctionRule, safety: f64) -> AuctionSettings {
    AuctionSettings {
        rule,
        safety,
        node_hour_cost: 0.0,
    }
}

fn held(rule: AuctionRule) -> MarketSettings {
    MarketSettings {
        auction: Some(auction(rule, 1.0)),
        ..settings(DelegationRule::Cheapest)
    }
}

/// The offers of providers that fail with these probabilities and end in this order, for a job with
/// a fee of 96.
fn offers(auction: &AuctionSettings, pofs: &[f64], bid: Option<f64>) -> Vec<Offer> {
    let settings = MarketSettings {
        auction: Some(*auction),
        ..settings(DelegationRule::Cheapest)
    };
    let job = Job::rigid(JobId(0), Seconds(0), Nodes(2), Seconds(48)).due_by(Seconds(100));
    let offer = |(number, &pof): (usize, &f64)| {
        let quote = JobQuote {
            start: Seconds(0),
            end: Seconds(40 + number as i64),
            overbooked: true,
            pof,
        };
        let provider = Provider::new(&settings, Nodes(8), 0);
        provider.offer(number, &job, &quote, (&settings, bid))
    };
    pofs.iter().enumerate().filter_map(offer).collect()
}

fn awarded(auction: AuctionSettings, pofs: &[f64], bid: Option<f64>) -> Option<(usize, f64)> {
    let mut ties = random::stream(1, "market", 0, "ties");
    let best = auction.award(&offers(&auction, pofs, bid), &mut ties)?;
    Some((best.provider, best.contract.price))
}

/// Spec §12: with a penalty of 96 and a factor of 2, q = 0.1 asks 21.33 and q = 0.25 asks 64.
#[test]
fn providers_ask_what_leaves_them_no_loss_and_the_lowest_is_paid_its_own_or_the_second_price() {
    let first = auction(AuctionRule::ReverseFirst, 2.0);
    assert!((first.ask(0.1, 96.0, 1.0) - 64.0 / 3.0).abs() < 1e-9);
    assert!((first.ask(0.25, 96.0, 1.0) - 64.0).abs() < 1e-9);
    assert_eq!(first.ask(1.0, 96.0, 1.0), f64::INFINITY);
    let dear = AuctionSettings {
        node_hour_cost: 0.25,
        ..first
    };
    assert_eq!(dear.ask(0.0, 96.0, 1.0), 24.0);
    let near = |found: Option<(usize, f64)>, provider, price: f64| {
        let found = found.unwrap();
        assert_eq!(found.0, provider);
        assert!((found.1 - price).abs() < 1e-9, "{found:?}");
    };
    near(awarded(first, &[0.25, 0.1], None), 1, 64.0 / 3.0);
    let second = auction(AuctionRule::ReverseSecond, 2.0);
    near(awarded(second, &[0.25, 0.1], None), 1, 64.0);
    // 0.4 asks 128, which is more than the list price: it takes no part, and whoever is left alone
    // is paid the list price.
    near(awarded(second, &[0.4, 0.1], None), 1, 96.0);
    assert_eq!(awarded(second, &[0.4], None), None);
}

#[test]
fn a_tender_goes_to_the_earliest_end_of_those_that_ask_less_than_the_customer_names() {
    let tender = auction(AuctionRule::Tender, 2.0);
    // 48 coins: more than 21.33, less than 64.
    assert_eq!(
        awarded(tender, &[0.25, 0.1, 0.1], Some(0.5)),
        Some((1, 48.0))
    );
    assert_eq!(awarded(tender, &[0.25, 0.1], Some(1.5)), Some((0, 144.0)));
    assert_eq!(awarded(tender, &[0.25], Some(0.5)), None);
    // Who asks just what is named does not take part.
    assert_eq!(awarded(tender, &[0.25], Some(64.0 / 96.0)), None);
    let mut bids = random::stream(1, "market", 0, "bids");
    for _ in 0..1_000 {
        assert!((0.5..1.5).contains(&tender.bid(&mut bids).unwrap()));
    }
    assert_eq!(auction(AuctionRule::ReverseFirst, 1.0).bid(&mut bids), None);
}

#[test]
fn what_an_auction_pays_cancels_and_no_provider_expects_a_loss() {
    for rule in [
        AuctionRule::Tender,
        AuctionRule::ReverseFirst,
        AuctionRule::ReverseSecond,
        AuctionRule::Double {
            every: Seconds(1_200),
        },
    ] {
        let settings = held(rule);
        let run = run(&settings, 3);
        let jobs = inputs(600, 3).jobs;
        assert_books_balance(&settings, &jobs, &run);
        let get = |name| run.measured.get(name).unwrap();
        let price: f64 = run.delegations.iter().map(|it| it.price).sum();
        let fee: f64 = run.delegations.iter().map(|it| it.fee).sum();
        let agreed = get("market_agreed_price_percent");
        assert!((agreed - 100.0 * price / fee).abs() < 1e-9, "{rule:?}");
        for it in &run.delegations {
            // Honest providers say what they ask by.
            if run.providers[it.cluster].optimism == 1.0 {
                let expected = (1.0 - it.pof) * it.price - it.pof * settings.penalty * it.fee;
                assert!(expected > -1e-6 * it.fee, "{rule:?}: {it:?}");
            }
            if matches!(rule, AuctionRule::ReverseFirst | AuctionRule::ReverseSecond) {
                assert!(it.price <= it.fee, "{rule:?}: {it:?}");
            }
        }
    }
}

#[test]
fn the_second_price_moves_money_and_no_job() {
    let (first, second) = (
        run(&held(AuctionRule::ReverseFirst), 3),
        run(&held(AuctionRule::ReverseSecond), 3),
    );
    let places = |run: &MarketRun| -> Vec<(JobId, usize)> {
        run.delegations
            .iter()
            .map(|it| (it.job, it.cluster))
            .collect()
    };
    assert_eq!(places(&first), places(&second));
    let dearer = first.delegations.iter().zip(&second.delegations);
    assert!(
        dearer
            .clone()
            .all(|(first, second)| first.price <= second.price)
    );
    assert!(
        dearer
            .clone()
            .any(|(first, second)| first.price < second.price)
    );
}
