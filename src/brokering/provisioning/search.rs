//! A genetic search on the slots of an instant, which all simulations that submit then share.

use super::{
    Advertised, Application, Evaluator, Genetic, ProviderSite, ProvisioningSettings, SearchMethod,
    moga, nsga2,
};
use crate::random::Stream;
use crate::units::Seconds;

/// What all sites advertise at an instant, in their order; what lies in the past is cut.
#[must_use]
pub fn collect_slots(sites: &[ProviderSite], instant: Seconds) -> Vec<Advertised> {
    let mut slots = Vec::new();
    for (place, site) in sites.iter().enumerate() {
        // Advertising may tidy up a site's lists, and snapshots are shared.
        let offered = site.clone().advertised();
        slots.extend(offered.into_iter().map(|mut slot| {
            slot.start = slot.start.max(instant);
            Advertised { site: place, slot }
        }));
    }
    slots.retain(|offered| offered.slot.end > offered.slot.start);
    slots
}

/// Searches the slots that `sites` advertise at `instant`, at which the application is submitted and every reservation arrives.
#[must_use]
pub fn search_advertised(
    application: &Application,
    sites: &[ProviderSite],
    instant: Seconds,
    settings: &ProvisioningSettings,
    stream: &mut Stream,
) -> Genetic {
    let slots = collect_slots(sites, instant);
    let mut evaluator = Evaluator::new(application, &slots, instant).choosing(settings.site_choice);
    match settings.search {
        SearchMethod::Nsga2 => nsga2(&mut evaluator, &settings.genetic, stream),
        _ => moga(&mut evaluator, &settings.genetic, stream),
    }
}
