//! From what the file says to the settings of a study of provisioning: sites, application, and how
//! it buys.
//!
//! One function a section. Each returns `None` after it has said what is wrong.

use std::ops::Range;

use toml::Spanned;

use super::keys::{RawProvisioning, RawSite, RawSites, RawTables};
use super::resolve_application::{application, jobs_fit, no_bound, uncertainty, users_percent};
use super::{ProvisionedSettings, ProvisioningStudy, RelativeWish};
use crate::provisioning::{
    Commitment, GeneticSettings, Provider, ProvisioningSettings, Refund, SearchMethod, SlotTariff,
    Wish,
};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::workflows::{ApplicationSettings, RuntimeUncertainty};
use bookahead_core::workload::{SiteSettings, WorkloadSettings, WorkloadSource};
use bookahead_lab::keys::problem::{ProblemKind, Problems};
use bookahead_lab::study::Asked;
use bookahead_reservations::replanning::ReplanningSettings;
use bookahead_reservations::replanning::study::reserved_unit_price;
use bookahead_reservations::slots::study::keys::RawSlots;
use bookahead_reservations::slots::study::slot_study;

mod makes;
mod memory;
mod network;
mod queues;
mod shares;
mod unlike;

use self::network::network_fits;
use self::queues::{queue_choice, queues_fit};

/// The most sites.
const MOST_SITES: u32 = 64;

/// The study with its sites and its application.
pub(super) fn resolve(
    own: &RawTables,
    asked: &Asked<'_>,
    problems: &mut Problems,
) -> Option<ProvisioningStudy> {
    let workload = asked.workload;
    let traces = workload_fits(workload, &own.sites, asked.place(), problems);
    let sites = sites(asked, own, problems);
    let largest = sites
        .iter()
        .flatten()
        .map(|site| site.workload.nodes)
        .max()
        .unwrap_or(workload.nodes);
    let application = application(&own.workflow, largest, problems);
    let settings = settings(own, problems);
    let wish = wish(own, problems);
    let booking_factor = own.provisioning.booking_factor().or_default(problems);
    let uncertainty = uncertainty(&own.workflow, problems);
    let users_percent = users_percent(&own.workflow, problems);
    let network = network::network(&own.sites, problems);
    let unlike = unlike::unlike(&own.sites, sites.as_ref().map_or(0, Vec::len), problems);
    traces?;
    let (wish, relative) = wish?;
    let settings = ProvisioningSettings { wish, ..settings? };
    exact_rectangles(&settings, asked, problems)?;
    let number = application.as_ref().map_or(1, ApplicationSettings::number);
    several_fit(own, &settings, number, problems)?;
    weights_fit(own, settings.search, problems)?;
    queues_fit(own, &settings, problems)?;
    let shares = shares::shares(own, asked.failures, problems);
    let make = makes::make(own, sites.as_ref().map_or(0, Vec::len), problems);
    let memory = memory::memory(own, sites.as_deref().unwrap_or_default(), problems);
    let (speeds, prices) = unlike?;
    let about = ProvisionedSettings {
        sites: sites?,
        speeds,
        prices,
        shares: shares?,
        memory: memory?,
        make: make?,
        network: network?,
        application: application?,
        relative_wish: relative,
        users_percent: users_percent?,
        uncertainty: RuntimeUncertainty {
            booking_factor: booking_factor?,
            ..uncertainty?
        },
    };
    jobs_fit(own, &settings, &about, problems)?;
    network_fits(own, &settings, &about, asked.failures, problems)?;
    memory::memory_fits(own, &settings, &about, asked.failures, problems)?;
    let instants = asked
        .replications
        .saturating_mul(about.instants_each(&settings));
    Some(ProvisioningStudy {
        settings: ProvisioningSettings {
            instants,
            ..settings
        },
        about,
    })
}

/// Several applications have one trade-off, and a broker each or one.
fn several_fit(
    own: &RawTables,
    settings: &ProvisioningSettings,
    number: u32,
    problems: &mut Problems,
) -> Option<()> {
    if number == 1 {
        return Some(());
    }
    let raw = &own.provisioning;
    let why = || format!("a deadline or budget of {number} applications together is nobody's wish");
    let help = "say `requests.alpha`, or submit one application";
    no_bound(raw, why, help, problems)?;
    let brokers = settings.brokers;
    if !settings.joint && brokers != 1 && brokers != number && settings.is_genetic() {
        problems.add(
            ProblemKind::Conflict,
            "provisioning.brokers",
            raw.brokers().place(),
            format!("{brokers} brokers cannot plan {number} applications, one each"),
            format!("say 1, for one after the other, or {number}; or `joint = true`"),
        );
        return None;
    }
    Some(())
}

/// A weighted sum has a weight.
fn weights_fit(own: &RawTables, search: SearchMethod, problems: &mut Problems) -> Option<()> {
    if search != SearchMethod::WeightedSum {
        return Some(());
    }
    let why = || "the search by a weighted sum knows neither a deadline nor a budget".to_owned();
    let help = "say `requests.alpha`, the weight of the cost, or choose another search";
    no_bound(&own.provisioning, why, help, problems)
}

/// Sites are whole traces, and their load is said in one way.
fn workload_fits(
    workload: &WorkloadSettings,
    sites: &RawSites,
    place: Range<usize>,
    problems: &mut Problems,
) -> Option<()> {
    let Some(whole) = &workload.whole else {
        problems.add(
            ProblemKind::Conflict,
            "workload.whole_trace",
            place,
            "the own jobs of a site are a whole trace",
            "add `whole_trace = true`, and leave out what belongs to batteries",
        );
        return None;
    };
    let of_its_own = match &whole.windows {
        Some(_) => Some("workload.window_first_jobs"),
        None => workload.fresh.then_some("workload.fresh"),
    };
    if let Some(key) = of_its_own {
        problems.add(
            ProblemKind::Conflict,
            key,
            place,
            "replications are instants of one history of the sites, and that is simulated once for all of them",
            "leave it out; another `experiment.seed` draws another history",
        );
        return None;
    }
    if let (Some(_), Some(utilisation)) = (whole.copy, &sites.utilisation_percent) {
        problems.add(
            ProblemKind::Conflict,
            "sites.utilisation_percent",
            utilisation.span(),
            "`workload.copy_percent` and `sites.utilisation_percent` both raise the load",
            "keep one of them: the second finds the percentage by itself",
        );
        return None;
    }
    Some(())
}

/// Free rectangles are the queue's plan, which knows how long jobs run.
fn exact_rectangles(
    settings: &ProvisioningSettings,
    asked: &Asked<'_>,
    problems: &mut Problems,
) -> Option<()> {
    let exact = asked
        .workload
        .whole
        .as_ref()
        .is_some_and(|whole| whole.exact_estimates);
    if settings.has_rectangles() && !exact {
        let given = asked
            .written
            .and_then(|raw| raw.get_ref().exact_estimates.as_ref());
        let place = given.map_or_else(|| asked.place(), Spanned::span);
        problems.add(
            ProblemKind::Conflict,
            "workload.exact_estimates",
            place,
            "a list of free rectangles has no place for jobs that end before their estimate",
            "add `exact_estimates = true`, or choose `slots.source = \"plan\"`",
        );
        return None;
    }
    Some(())
}

fn sites(asked: &Asked<'_>, own: &RawTables, problems: &mut Problems) -> Option<Vec<SiteSettings>> {
    let (raw, clusters) = (&own.sites, &own.clusters);
    let listed = 1 + raw.more.len() as u32;
    let count = clusters.count().or(listed, problems);
    let first = raw.utilisation_percent().checked(problems);
    let more: Vec<Option<SiteSettings>> = raw
        .more
        .iter()
        .map(|site| one_more(asked, site.get_ref(), problems))
        .collect();
    let count = count?;
    if count > listed {
        let place = clusters.count.as_ref().map(Spanned::span);
        problems.add(
            ProblemKind::OutOfRange,
            "clusters.count",
            place.unwrap_or(0..0),
            format!("{count} sites are asked for, and {listed} are listed"),
            format!("add [[sites.more]], or ask for fewer; {MOST_SITES} at most"),
        );
        return None;
    }
    let mut sites = vec![SiteSettings {
        workload: asked.workload.clone(),
        utilisation_percent: first?,
    }];
    sites.extend(more.into_iter().collect::<Option<Vec<_>>>()?);
    sites.truncate(count as usize);
    Some(sites)
}

fn one_more(asked: &Asked<'_>, raw: &RawSite, problems: &mut Problems) -> Option<SiteSettings> {
    let percent = raw.utilisation_percent().checked(problems);
    let mut of_its_own = asked.workload.clone();
    if let Some(trace) = &raw.trace {
        if trace.get_ref().trim().is_empty() {
            raw.trace().refuse("an empty file name", problems);
            return None;
        }
        of_its_own.source = WorkloadSource::Trace {
            file: trace.get_ref().clone(),
        };
    }
    if let (Some(_), Some(whole)) = (&raw.utilisation_percent, &mut of_its_own.whole) {
        whole.copy = None;
    }
    of_its_own.nodes = match (&raw.nodes, &raw.trace) {
        (Some(_), _) => raw.nodes().checked(problems).flatten().map(Nodes)?,
        (None, Some(trace)) => (asked.log_sizes).machine_of(trace, "sites.more.nodes", problems)?,
        (None, None) => asked.workload.nodes,
    };
    Some(SiteSettings {
        workload: of_its_own,
        utilisation_percent: percent?,
    })
}

fn settings(own: &RawTables, problems: &mut Problems) -> Option<ProvisioningSettings> {
    let default = ProvisioningSettings::default();
    let (raw, planning) = (&own.provisioning, &own.planning);
    let search = raw.search.unwrap_or_default();
    let provider = provider(raw, search, &own.slots, problems);
    let genetic = genetic(raw, problems);
    let submissions = raw.submissions().or_default(problems);
    let commitment = (raw.commitment().name(problems)).and_then(|commitment| match commitment {
        "committed" => submissions.map(|submissions| Commitment::Committed { submissions }),
        _ => Some(Commitment::Discarded),
    });
    let tariff = tariff(raw, problems);
    let brokers = raw.brokers().or_default(problems);
    let latency = raw.latency_seconds().or_default(problems);
    let replans = raw.replans().or_default(problems);
    let refund = refund(raw, problems);
    let reserved_unit_price = charged(own, search, problems);
    let queue_choice = queue_choice(raw, problems);
    submissions?;
    Some(ProvisioningSettings {
        provider: provider?,
        search,
        wish: default.wish,
        genetic: genetic?,
        scale: raw.scale.unwrap_or_default(),
        tariff: tariff?,
        site_choice: raw.site_choice.unwrap_or_default(),
        queue_choice: queue_choice?,
        commitment: commitment?,
        brokers: brokers?,
        joint: raw.joint().is_on(),
        schedule_cost: raw.schedule_cost.unwrap_or_default(),
        latency: Seconds(i64::from(latency?)),
        replans: replans?,
        after_failure: raw.after_failure.unwrap_or_default(),
        refund: refund?,
        follow_slots: raw.follow_slots().is_on(),
        asked_sites: raw.asked_sites.unwrap_or_default(),
        replanning: ReplanningSettings {
            order: planning.order.unwrap_or_default(),
            backfilling: planning.backfilling.unwrap_or_default(),
            reserved_unit_price: reserved_unit_price?,
            ..default.replanning
        },
        instants: 0,
    })
}

/// c of what is bought by queries; the inner `None` where it is that of best effort.
fn charged(own: &RawTables, search: SearchMethod, problems: &mut Problems) -> Option<Option<f64>> {
    let field = own.planning.reserved_unit_price();
    let price = reserved_unit_price(&own.planning, problems)?;
    match search {
        SearchMethod::Greedy | SearchMethod::QueriedMoga | SearchMethod::SingleSlot => Some(price),
        SearchMethod::BestEffort => Some(None),
        SearchMethod::Moga | SearchMethod::Nsga2 | SearchMethod::WeightedSum => {
            if price.is_none() {
                return Some(None);
            }
            problems.add(
                ProblemKind::Conflict,
                field.key.path,
                field.place(),
                "advertised slots have a price of their own",
                "say `provisioning.slot_unit_price`, or `search = \"greedy\"`",
            );
            None
        }
    }
}

fn refund(raw: &RawProvisioning, problems: &mut Problems) -> Option<Refund> {
    let penalty_factor = raw.penalty_factor().or_default(problems);
    let name = raw.refund().name(problems)?;
    let penalty_factor = penalty_factor?;
    Some(match name {
        "rest" => Refund::Rest { penalty_factor },
        "both" => Refund::Both { penalty_factor },
        _ => Refund::None,
    })
}

fn tariff(raw: &RawProvisioning, problems: &mut Problems) -> Option<SlotTariff> {
    let unit_price = raw.slot_unit_price().or_default(problems);
    let fixed_price = raw.slot_fixed_price().or_default(problems);
    let day_factor = raw.slot_day_factor().or_default(problems);
    let begins = raw.slot_day_begins().or_default(problems);
    let ends = raw.slot_day_ends().or_default(problems);
    let (begins, ends) = (begins?, ends?);
    if begins >= ends {
        let message = "the day ends before it begins";
        raw.slot_day_ends().refuse(message, problems);
        return None;
    }
    Some(SlotTariff {
        unit_price: unit_price?,
        fixed_price: fixed_price?,
        day_factor: day_factor?,
        day_begins: u8::try_from(begins).ok()?,
        day_ends: u8::try_from(ends).ok()?,
        holes: raw.slot_holes.unwrap_or_default(),
        edges: raw.slot_edges.unwrap_or_default(),
    })
}

/// What sites offer: what is said, else what the search needs.
fn provider(
    raw: &RawProvisioning,
    search: SearchMethod,
    slots: &RawSlots,
    problems: &mut Problems,
) -> Option<Provider> {
    let slots = slot_study(slots, problems);
    let (needed, why) = match search {
        SearchMethod::Moga | SearchMethod::Nsga2 | SearchMethod::WeightedSum => (
            Some("advertised"),
            "genetic searches choose from advertised slots",
        ),
        SearchMethod::Greedy | SearchMethod::QueriedMoga | SearchMethod::SingleSlot => (
            Some("queried"),
            "searches by queries ask for the price of every start",
        ),
        SearchMethod::BestEffort => (None, ""),
    };
    let name = match &raw.provider {
        None => needed.unwrap_or("queried"),
        Some(given) => {
            let name = raw.provider().name(problems)?;
            if let Some(needed) = needed.filter(|needed| *needed != name) {
                problems.add(
                    ProblemKind::Conflict,
                    "provisioning.provider",
                    given.span(),
                    why,
                    format!(
                        "say `provider = \"{needed}\"`, leave it out, or choose another search"
                    ),
                );
                return None;
            }
            name
        }
    };
    let slots = slots?;
    Some(if name == "advertised" {
        Provider::Advertised {
            source: slots.source,
            rules: slots.rules,
        }
    } else {
        Provider::Queried
    })
}

fn genetic(raw: &RawProvisioning, problems: &mut Problems) -> Option<GeneticSettings> {
    let population = raw.population().or_default(problems);
    let generations = raw.generations().or_default(problems);
    let radius = raw.sharing_radius().or_default(problems);
    Some(GeneticSettings {
        population: population?,
        generations: generations?,
        sharing_radius: radius?,
        all_slots_member: raw.all_slots_member().is_on(),
    })
}

/// The wish, and what it is a multiple of where that is known with the application only.
fn wish(own: &RawTables, problems: &mut Problems) -> Option<(Wish, Option<RelativeWish>)> {
    let raw = &own.provisioning;
    let all = [
        own.requests.alpha(),
        raw.deadline_hours(),
        raw.deadline_factor(),
        raw.budget_su(),
        raw.budget_factor(),
    ];
    let given: Vec<_> = all.iter().filter(|field| field.given.is_some()).collect();
    if let [first, .., last] = given.as_slice() {
        let (first, last, place) = (first.key.path, last.key.path, last.place());
        problems.add(
            ProblemKind::Conflict,
            last,
            place,
            format!("{first} and {last} exclude each other"),
            "keep exactly one of them: a plan has one wish",
        );
        return None;
    }
    let default = ProvisioningSettings::default().wish;
    let Some(field) = given.first() else {
        return Some((default, None));
    };
    let amount = field.limited(|amount| amount <= 1e9).checked(problems)??;
    Some(match field.key.path {
        "requests.alpha" => (Wish::TradeOff { alpha: amount }, None),
        "provisioning.deadline_hours" => (
            Wish::Deadline {
                after: Seconds::from_hours(amount),
            },
            None,
        ),
        "provisioning.deadline_factor" => {
            (default, Some(RelativeWish::Deadline { factor: amount }))
        }
        "provisioning.budget_su" => (
            Wish::Budget {
                service_units: amount,
            },
            None,
        ),
        _ => (default, Some(RelativeWish::Budget { factor: amount })),
    })
}

#[cfg(test)]
mod tests;
