use std::sync::Arc;

use super::*;
use crate::actors::simulate_provisioning_sites;
use crate::brokering::provisioning::{
    Commitment, SearchMethod, SiteWorkload, Wish, simulate_provisioning,
};
use crate::drawn_sites::{
    application_of, drawn_site, inputs_of, queried, rectangles, seed_of, settings_of,
};
use crate::failures::{FailureTrace, Outage};
use crate::units::{NodeIndex, Seconds};

fn simulate(
    provisioning: ProvisioningInputs,
    settings: &ProvisioningSettings,
) -> Result<ProvisioningRun, SimulationError> {
    simulate_provisioning_sites(&Arc::new(provisioning), settings, seed_of(7))
}

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

/// With messages between actors everything is as with calls, on every kind of site, with every search, whatever goes wrong.
#[test]
fn actors_and_calls_give_the_same() {
    let kinds = [
        (queried(), SearchMethod::Greedy),
        (queried(), SearchMethod::BestEffort),
        (rectangles(), SearchMethod::Moga),
        (rectangles(), SearchMethod::Nsga2),
    ];
    let commitments = [
        Commitment::Discarded,
        Commitment::Committed { submissions: 2 },
    ];
    for (provider, search) in kinds {
        for commitment in commitments {
            for latency in [0, 500] {
                let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.4 });
                settings.commitment = commitment;
                settings.latency = Seconds(latency);
                let sites = vec![failing(drawn_site(1, 0)), failing(drawn_site(1, 1))];
                let application = application_of(3, 2, 12, 6);
                let instants = [Seconds(60_000), Seconds(62_000)];
                let count = settings.submissions() as usize;
                let inputs = inputs_of(sites, application, &settings, &instants[..count]);
                let direct = simulate_provisioning(&inputs, &settings, &seed_of(7)).unwrap();
                assert_eq!(direct.outcomes.len(), count);
                let acted = simulate(inputs, &settings).unwrap();
                assert_eq!(acted, direct, "{search:?} {commitment:?} {latency}");
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
        match simulate(inputs, &settings) {
            Err(SimulationError::Provisioning(error)) => assert_eq!(error, wrong),
            other => panic!("{other:?}"),
        }
    }
    let advertising = ProvisioningSettings {
        provider: rectangles(),
        ..settings.clone()
    };
    let application = application_of(3, 1, 3, 6);
    let sites = vec![drawn_site(1, 0)];
    let inputs = inputs_of(sites, application, &advertising, &[Seconds(60_000)]);
    let error = simulate(inputs, &advertising).unwrap_err();
    assert!(error.to_string().contains("answers no queries"), "{error}");
}
