//! Workflows and the sites that they buy from come to the same by actors and by plain calls.

use std::sync::Arc;

use crate::provisioning::testutils::{
    application_of, drawn_site, inputs_of, queried, rectangles, seed_of, settings_of,
};
use crate::provisioning::{
    Commitment, ProvisioningError, ProvisioningRun, ProvisioningSettings, QueueChoice, Refund,
    SearchMethod, SiteWorkload, Wish, provisioning_scene,
};
use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::kernel::drive;
use bookahead_core::units::{NodeIndex, Seconds};
use bookahead_lab::actors::conduct;

fn failing(site: SiteWorkload) -> SiteWorkload {
    let outages = (0..400).map(|number| Outage {
        node: NodeIndex(number % 16),
        start: Seconds(60_000 + i64::from(number) * 97),
        end: Seconds(60_010 + i64::from(number) * 97),
    });
    let failures = FailureTrace::from_outages(outages).unwrap();
    SiteWorkload {
        failures: Arc::new(failures),
        ..site
    }
}

const PREDICTED: QueueChoice = QueueChoice::PredictedWait { quantile: 0.8 };
const REDUNDANT: QueueChoice = QueueChoice::Redundant { copies: 2 };

/// With messages between actors everything is as with calls, on every kind of site, with every
/// search, whatever goes wrong.
#[test]
fn sites_are_bought_from_alike_by_actors_and_by_plain_calls() {
    let kinds = [
        (queried(), SearchMethod::Greedy, QueueChoice::FewestTasks),
        (
            queried(),
            SearchMethod::BestEffort,
            QueueChoice::FewestTasks,
        ),
        (queried(), SearchMethod::BestEffort, PREDICTED),
        (queried(), SearchMethod::BestEffort, REDUNDANT),
        (
            queried(),
            SearchMethod::QueriedMoga,
            QueueChoice::FewestTasks,
        ),
        (rectangles(), SearchMethod::Moga, QueueChoice::FewestTasks),
        (rectangles(), SearchMethod::Nsga2, QueueChoice::FewestTasks),
    ];
    let commitments = [
        Commitment::Discarded,
        Commitment::Committed { submissions: 2 },
    ];
    for (provider, search, queue_choice) in kinds {
        for commitment in commitments {
            for latency in [0, 500] {
                let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.4 });
                settings.commitment = commitment;
                settings.queue_choice = queue_choice;
                settings.latency = Seconds(latency);
                settings.refund = Refund::Both {
                    penalty_factor: 0.1,
                };
                let sites = vec![failing(drawn_site(1, 0)), failing(drawn_site(1, 1))];
                let application = application_of(3, 2, 12, 6);
                let instants = [Seconds(60_000), Seconds(62_000)];
                let count = settings.submissions() as usize;
                let inputs = inputs_of(sites, application, &settings, &instants[..count]);
                let inputs = Arc::new(inputs);
                let scene = || provisioning_scene(&inputs, &settings, &seed_of(7)).unwrap();
                let called = ProvisioningRun::of(drive(scene(), false)).unwrap();
                assert_eq!(called.outcomes.len(), count);
                // Best effort of which nothing stays asks no site.
                let (acted, messages) = conduct(scene(), false).unwrap();
                let asks_none =
                    search == SearchMethod::BestEffort && commitment == Commitment::Discarded;
                assert!(asks_none || messages > 2, "{search:?} {messages}");
                let acted = ProvisioningRun::of(acted).unwrap();
                assert_eq!(acted, called, "{search:?} {commitment:?} {latency}");
            }
        }
    }
}

#[test]
fn inputs_that_do_not_fit_are_errors_and_no_panics() {
    let settings = settings_of(
        queried(),
        SearchMethod::Greedy,
        Wish::TradeOff { alpha: 0.4 },
    );
    let inputs = || {
        let application = application_of(3, 1, 3, 6);
        let instants = [Seconds(60_000), Seconds(61_000)];
        inputs_of(vec![drawn_site(1, 0)], application, &settings, &instants)
    };
    for (instants, wrong) in [
        (vec![], ProvisioningError::NoInstants),
        (vec![0, 2], ProvisioningError::NoSnapshot(2)),
        (vec![1, 0], ProvisioningError::InstantsOutOfOrder),
    ] {
        let mut inputs = inputs();
        inputs.instants = instants;
        let scene = provisioning_scene(&Arc::new(inputs), &settings, &seed_of(7));
        assert_eq!(scene.err(), Some(wrong));
    }
    let advertising = ProvisioningSettings {
        provider: rectangles(),
        ..settings.clone()
    };
    let application = application_of(3, 1, 3, 6);
    let sites = vec![drawn_site(1, 0)];
    let inputs = inputs_of(sites, application, &advertising, &[Seconds(60_000)]);
    let scene = provisioning_scene(&Arc::new(inputs), &advertising, &seed_of(7)).unwrap();
    let error = ProvisioningRun::of(conduct(scene, false).unwrap().0).unwrap_err();
    assert!(error.to_string().contains("answers no queries"), "{error}");
}
