//! The measures of a simulation of provisioning; their names are in the list of the study
//! (`studies::provisioning`).

use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::Nodes;

use self::network::add_network;
use self::several::add_applications;
use super::slot_lifetimes::LOOKS;
use super::{
    Application, EffectOnOthers, PlanValue, ProvisioningInputs, ProvisioningOutcome,
    ProvisioningRun, ProvisioningSettings, SearchMethod, SiteLoad, Wish, hypervolume,
};

/// Money is a sum of fractions: what is dearer than a budget by less than this share of it keeps
/// it.
const ROUNDING: f64 = 1e-9;

/// A site as results remember it, without its jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteSummary {
    /// Its name for people.
    pub label: String,
    /// Its processors.
    pub nodes: Nodes,
    /// How busy its own jobs keep it.
    pub load: SiteLoad,
}

impl SiteSummary {
    /// The sites of a simulation, in their order.
    #[must_use]
    pub fn of(inputs: &ProvisioningInputs) -> Vec<Self> {
        let sites = inputs.sites.iter();
        sites
            .map(|site| Self {
                label: site.label.clone(),
                nodes: site.nodes,
                load: site.load,
            })
            .collect()
    }
}

/// The values of a run (Singh 2008, §4.2, §4.7). Where a simulation submits several applications,
/// means over them; a ratio is formed for each and then averaged.
#[must_use]
pub fn provisioning_measures(
    inputs: &ProvisioningInputs,
    settings: &ProvisioningSettings,
    run: &ProvisioningRun,
) -> Measured {
    let mut measured = Measured::default();
    let outcomes = run.outcomes.as_slice();
    add_values(&mut measured, settings, outcomes);
    add_search(&mut measured, settings, outcomes, inputs);
    add_wishes(&mut measured, settings, outcomes);
    add_applications(&mut measured, inputs, outcomes);
    add_realised(&mut measured, outcomes);
    if !inputs.real.is_empty() && settings.search != SearchMethod::BestEffort {
        add_uncertain(&mut measured, outcomes);
    }
    if settings.search == SearchMethod::BestEffort && settings.queue_choice.is_redundant() {
        add_copies(&mut measured, outcomes);
    }
    if !settings.refund.is_none() {
        add_refunds(&mut measured, outcomes);
    }
    add_network(&mut measured, inputs, outcomes);
    add_users(&mut measured, inputs, run);
    add_others(&mut measured, &run.effects);
    add_sites(&mut measured, inputs);
    add_slots_left(&mut measured, inputs);
    measured
}

/// What is left of advertised slots later on, over all instants of the simulation.
fn add_slots_left(measured: &mut Measured, inputs: &ProvisioningInputs) {
    const NAMES: [&str; LOOKS.len()] = [
        "slots_left_1_minute_percent",
        "slots_left_10_minutes_percent",
        "slots_left_1_hour_percent",
        "slots_left_6_hours_percent",
    ];
    for (look, name) in NAMES.into_iter().enumerate() {
        let found = || inputs.slots_left.iter().map(|left| left[look]);
        let left: u32 = found().map(|found| found.left).sum();
        let advertised: u32 = found().map(|found| found.advertised).sum();
        measured.add_ratio(name, 100.0 * f64::from(left), f64::from(advertised));
    }
}

/// Cost and makespan of the plan; where best effort is the search, of what really happened, which
/// at sites that other applications were committed to is not what would have happened without them.
/// `None` where there was no plan, or not every task ended.
#[must_use]
pub fn value_of(
    settings: &ProvisioningSettings,
    outcome: &ProvisioningOutcome,
) -> Option<PlanValue> {
    match settings.search {
        SearchMethod::BestEffort => outcome.realised.completed.then_some(PlanValue {
            cost: outcome.realised.cost,
            makespan: outcome.realised.makespan,
        }),
        _ => outcome.planned,
    }
}

/// The share, in `[0, 1]`, of the area between the least that an application can cost and take, and
/// a reference point of twice the cost of best effort and its makespan, that the front dominates.
/// Nothing costs less than the work of all tasks at their cheapest sites, nor takes less than the
/// longest path of tasks at their fastest. `None` where best effort takes no longer than that or is
/// not known, and where plans were judged by something else than their makespan.
#[must_use]
pub fn front_hypervolume(application: &Application, outcome: &ProvisioningOutcome) -> Option<f64> {
    let best_effort = best_effort_value(outcome).filter(|_| application.judged().is_none())?;
    let reference = PlanValue {
        cost: 2.0 * best_effort.cost,
        makespan: best_effort.makespan,
    };
    let least = least(application);
    let width = (reference.makespan - least.makespan).0 as f64;
    let height = reference.cost - least.cost;
    if width <= 0.0 || height <= 0.0 {
        return None;
    }
    let front: Vec<PlanValue> = outcome.front.iter().map(|member| member.value).collect();
    Some(hypervolume(&front, reference) / (width * height))
}

fn best_effort_value(outcome: &ProvisioningOutcome) -> Option<PlanValue> {
    outcome.best_effort.as_ref().map(|run| PlanValue {
        cost: run.cost,
        makespan: run.makespan,
    })
}

/// The least cost, and the longest path without transfers.
fn least(application: &Application) -> PlanValue {
    PlanValue {
        cost: application.least_cost() / 3_600.0,
        makespan: application.longest_path(),
    }
}

fn add_values(
    measured: &mut Measured,
    settings: &ProvisioningSettings,
    outcomes: &[ProvisioningOutcome],
) {
    let mut add = |name, value: &dyn Fn(&ProvisioningOutcome) -> Option<f64>| {
        add_mean(measured, name, outcomes.iter().filter_map(value));
    };
    let of = |outcome: &ProvisioningOutcome| value_of(settings, outcome);
    let both = |outcome: &ProvisioningOutcome| of(outcome).zip(best_effort_value(outcome));
    add("wf_makespan_hours", &|outcome| {
        Some(of(outcome)?.makespan.hours())
    });
    add("wf_cost_su", &|outcome| Some(of(outcome)?.cost));
    add("wf_makespan_ratio", &|outcome| {
        let (value, other) = both(outcome)?;
        ratio(value.makespan.0 as f64, other.makespan.0 as f64)
    });
    add("wf_cost_ratio", &|outcome| {
        let (value, other) = both(outcome)?;
        ratio(value.cost, other.cost)
    });
    add("wf_planned_percent", &|outcome| {
        Some(percent(of(outcome).is_some()))
    });
    add("be_makespan_hours", &|outcome| {
        Some(best_effort_value(outcome)?.makespan.hours())
    });
    add("be_cost_su", &|outcome| {
        Some(best_effort_value(outcome)?.cost)
    });
}

/// What a search chose from and what it bought; best effort does neither.
fn add_search(
    measured: &mut Measured,
    settings: &ProvisioningSettings,
    outcomes: &[ProvisioningOutcome],
    inputs: &ProvisioningInputs,
) {
    if settings.search == SearchMethod::BestEffort {
        return;
    }
    let mut add = |name, value: &dyn Fn(&ProvisioningOutcome) -> f64| {
        add_mean(measured, name, outcomes.iter().map(value));
    };
    add("wf_idle_su", &|outcome| {
        let slots = outcome.slots.iter();
        slots
            .map(|slot| {
                let used = slot.used.coins().0 * slot.slot.unit_price;
                slot.cost - used - slot.externality.coins().0
            })
            .sum()
    });
    add("wf_externality_su", &|outcome| {
        let slots = outcome.slots.iter();
        slots.map(|slot| slot.externality.coins().0).sum()
    });
    add("wf_slots_bought", &|outcome| outcome.slots.len() as f64);
    let evolves = settings.is_genetic() || settings.search == SearchMethod::QueriedMoga;
    if settings.is_genetic() {
        add("wf_slots_offered", &|outcome| {
            f64::from(outcome.slots_offered)
        });
    } else {
        add("wf_queries", &|outcome| outcome.queries as f64);
    }
    if evolves && settings.joint {
        add("wf_front_size", &|outcome| outcome.front.len() as f64);
    }
    if evolves {
        add("wf_evaluations", &|outcome| outcome.evaluations as f64);
    }
    if settings.is_genetic() {
        let volumes = outcomes
            .iter()
            .filter(|_| settings.joint)
            .filter_map(|outcome| {
                front_hypervolume(inputs.planned(outcome.submission as usize), outcome)
            });
        add_mean(measured, "wf_hypervolume", volumes);
    } else {
        measured.add_ratio(
            "wf_offers",
            total(outcomes, |outcome| outcome.offers),
            total(outcomes, |outcome| outcome.queries),
        );
    }
    if evolves {
        measured.add_ratio(
            "wf_infeasible_percent",
            100.0 * total(outcomes, |outcome| outcome.infeasible),
            total(outcomes, |outcome| outcome.evaluations),
        );
    }
}

/// Whether applications kept deadlines and budgets in the end: a plan that promised to and lost a
/// task may not have.
fn add_wishes(
    measured: &mut Measured,
    settings: &ProvisioningSettings,
    outcomes: &[ProvisioningOutcome],
) {
    match settings.wish {
        Wish::TradeOff { .. } => {}
        Wish::Deadline { after } => {
            let met = outcomes.iter().map(|outcome| {
                percent(outcome.realised.completed && outcome.realised.makespan <= after)
            });
            add_mean(measured, "wf_deadline_met_percent", met);
            let met = outcomes
                .iter()
                .filter_map(|outcome| Some(percent(best_effort_value(outcome)?.makespan <= after)));
            add_mean(measured, "be_deadline_met_percent", met);
        }
        Wish::Budget { service_units } => {
            let most = service_units * (1.0 + ROUNDING);
            let kept = outcomes.iter().map(|outcome| {
                percent(outcome.realised.completed && outcome.realised.cost <= most)
            });
            add_mean(measured, "wf_within_budget_percent", kept);
        }
    }
}

fn add_realised(measured: &mut Measured, outcomes: &[ProvisioningOutcome]) {
    let realised = || outcomes.iter().map(|outcome| outcome.realised);
    let mut add = |name, values: &mut dyn Iterator<Item = f64>| add_mean(measured, name, values);
    add(
        "wf_completed_percent",
        &mut realised().map(|one| percent(one.completed)),
    );
    add(
        "wf_realised_makespan_hours",
        &mut realised()
            .filter(|one| one.completed)
            .map(|one| one.makespan.hours()),
    );
    add("wf_realised_cost_su", &mut realised().map(|one| one.cost));
    add("wf_wasted_su", &mut realised().map(|one| one.wasted));
    add(
        "wf_slots_gone",
        &mut realised().map(|one| f64::from(one.gone)),
    );
    add(
        "wf_replans",
        &mut realised().map(|one| f64::from(one.replans)),
    );
    add(
        "wf_lost_tasks",
        &mut realised().map(|one| f64::from(one.lost_tasks)),
    );
    add(
        "wf_reprovisioned",
        &mut realised().map(|one| f64::from(one.reprovisioned)),
    );
}

/// Of tasks that do not run as long as they are booked for.
fn add_uncertain(measured: &mut Measured, outcomes: &[ProvisioningOutcome]) {
    let realised = || outcomes.iter().map(|outcome| outcome.realised);
    let mut add = |name, values: &mut dyn Iterator<Item = f64>| add_mean(measured, name, values);
    add(
        "wf_outlasted_tasks",
        &mut realised().map(|one| f64::from(one.outlasted_tasks)),
    );
    add(
        "wf_rebooked_tasks",
        &mut realised().map(|one| f64::from(one.rebooked_tasks)),
    );
    add(
        "wf_after_ends_su",
        &mut realised().map(|one| one.after_ends),
    );
}

/// Of tasks that waited in several queues.
fn add_copies(measured: &mut Measured, outcomes: &[ProvisioningOutcome]) {
    let cancelled = || outcomes.iter().map(|outcome| outcome.realised.cancelled);
    let number = cancelled().map(|copies| f64::from(copies.number));
    add_mean(measured, "wf_cancelled_copies", number);
    let hours = cancelled().map(|copies| copies.transfers.hours());
    add_mean(measured, "wf_cancelled_transfer_hours", hours);
}

/// Over all slots of all applications.
fn add_refunds(measured: &mut Measured, outcomes: &[ProvisioningOutcome]) {
    let slots = || outcomes.iter().flat_map(|outcome| &outcome.slots);
    let count = slots().count() as f64;
    let refunded = slots().map(|slot| slot.refunded).sum();
    measured.add_ratio("wf_refunded_su", refunded, count);
    let forfeited = slots().map(|slot| slot.forfeited).sum();
    measured.add_ratio("wf_forfeited_su", forfeited, count);
}

/// Of users of single jobs: when and where they run, and how evenly sites are used meanwhile.
fn add_users(measured: &mut Measured, inputs: &ProvisioningInputs, run: &ProvisioningRun) {
    let users = inputs.users.list().iter().zip(&run.outcomes);
    let placed = || {
        users
            .clone()
            .filter_map(|(user, outcome)| Some((user, outcome.tasks.first()?)))
    };
    let waits = placed().map(|(user, run)| (run.start - user.submitted).hours());
    add_mean(measured, "wf_wait_hours", waits);
    let away = placed().map(|(user, run)| percent(run.site != user.home));
    add_mean(measured, "wf_away_percent", away);
    let sites = run.utilisations.len() as f64;
    if sites > 1.0 {
        let mean = run.utilisations.iter().sum::<f64>() / sites;
        let squares = run.utilisations.iter().map(|it| (it - mean) * (it - mean));
        let variance = squares.sum::<f64>() / sites;
        measured.add("site_spread_points", variance.sqrt());
    }
}

/// Over the jobs of all sites together.
fn add_others(measured: &mut Measured, effects: &[EffectOnOthers]) {
    if effects.is_empty() {
        return;
    }
    let sum = |value: &dyn Fn(&EffectOnOthers) -> f64| effects.iter().map(value).sum::<f64>();
    let jobs = sum(&|effect| effect.jobs as f64);
    let wait = sum(&|effect| effect.wait.hours());
    let undisturbed = sum(&|effect| effect.undisturbed_wait.hours());
    measured.add("others_jobs", jobs);
    measured.add_ratio("others_wait_hours", wait, jobs);
    measured.add_ratio("others_undisturbed_wait_hours", undisturbed, jobs);
    measured.add_ratio(
        "others_added_wait_minutes",
        60.0 * (wait - undisturbed),
        jobs,
    );
    measured.add_ratio(
        "others_delayed_percent",
        100.0 * sum(&|effect| effect.delayed as f64),
        jobs,
    );
    measured.add_ratio(
        "others_slowdown_ratio",
        sum(&|effect| effect.slowdown),
        sum(&|effect| effect.undisturbed_slowdown),
    );
}

/// Means over the sites, by their processors.
fn add_sites(measured: &mut Measured, inputs: &ProvisioningInputs) {
    let sites = inputs.sites.iter();
    let nodes: f64 = sites.map(|site| f64::from(site.nodes.0)).sum();
    let mut add = |name, value: fn(&SiteLoad) -> f64| {
        let weighted = inputs
            .sites
            .iter()
            .map(|site| f64::from(site.nodes.0) * value(&site.load));
        measured.add_ratio(name, weighted.sum(), nodes);
    };
    add("site_utilisation_percent", |load| load.utilisation_percent);
    add("site_copied_percent", |load| load.copied_percent);
    add("site_kept_percent", |load| load.kept_percent);
}

fn add_mean(measured: &mut Measured, name: &'static str, values: impl Iterator<Item = f64>) {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    measured.add_ratio(name, sum, count);
}

fn ratio(above: f64, below: f64) -> Option<f64> {
    (below != 0.0).then(|| above / below)
}

fn percent(holds: bool) -> f64 {
    if holds { 100.0 } else { 0.0 }
}

fn total(outcomes: &[ProvisioningOutcome], count: fn(&ProvisioningOutcome) -> u64) -> f64 {
    outcomes.iter().map(count).sum::<u64>() as f64
}

mod network;
mod several;
#[cfg(test)]
mod tests;
