//! A genetic search on slots: by a broker of its own, or on the slots of an instant, whose result
//! all simulations that submit then share.

use bookahead_core::plan::Slot;
use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;

use super::{
    Advertised, Application, Evaluator, Genetic, ProviderSite, ProvisioningSettings, SearchMethod,
    moga, nsga2, weighted_sum,
};

/// Searches the slots that `sites` advertise at `instant`, at which the application is submitted
/// and every reservation arrives.
#[must_use]
pub fn search_advertised(
    application: &Application,
    sites: &[ProviderSite],
    instant: Seconds,
    settings: &ProvisioningSettings,
    stream: &mut Stream,
) -> Genetic {
    let slots = collect_slots(sites, instant);
    let slots = settings.tariff.all_offered(&slots, application);
    let mut evaluator = Evaluator::new(application, &slots, instant)
        .choosing(settings.site_choice)
        .under(settings.tariff);
    search(&mut evaluator, settings, stream)
}

/// The name of the stream that the search for plan number `plan` of application number `submission`
/// draws from.
#[must_use]
pub fn search_stream(submission: u32, plan: u32) -> String {
    format!("genetic search/{submission}/{plan}")
}

/// The genetic search that the settings name.
pub(super) fn search(
    evaluator: &mut Evaluator<'_>,
    settings: &ProvisioningSettings,
    stream: &mut Stream,
) -> Genetic {
    let genetic = &settings.genetic;
    match (settings.weighting(), settings.search) {
        (Some(weighting), _) => weighted_sum(evaluator, genetic, weighting, stream),
        (None, SearchMethod::Nsga2) => nsga2(evaluator, genetic, stream),
        (None, _) => moga(evaluator, genetic, stream),
    }
}

/// What is left of a site's slots for a reservation that arrives at `arrival`: what is over by then
/// is left out, what is over in part is cut.
pub(super) fn still_open(
    site: usize,
    offered: Vec<Slot>,
    arrival: Seconds,
) -> impl Iterator<Item = Advertised> {
    let cut = offered.into_iter().map(move |mut slot| {
        slot.start = slot.start.max(arrival);
        Advertised { site, slot }
    });
    cut.filter(|offered| offered.slot.end > offered.slot.start)
}

/// What all sites advertise at an instant, in their order.
fn collect_slots(sites: &[ProviderSite], instant: Seconds) -> Vec<Advertised> {
    let mut slots = Vec::new();
    for (place, site) in sites.iter().enumerate() {
        // Advertising may tidy up a site's lists, and snapshots are shared.
        let offered = site.clone().advertised();
        slots.extend(still_open(place, offered, instant));
    }
    slots
}
