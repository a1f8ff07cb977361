use std::sync::Arc;

use bookahead_core::plan::Slot;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::workflows::{SyntheticSettings, synthetic};

use super::*;
use crate::provisioning::{
    ApplicationTask, Background, BestEffortOutcome, BoughtSlot, CancelledCopies, Dependency,
    FrontMember, QueueChoice, Realised, Refund, SiteWorkload, Users,
};

/// Two tasks in a row, 2 nodes for 1 h and 4 nodes for 2 h: 10 SU, 3 h.
fn application() -> Application {
    let task = |nodes, hours, parents| ApplicationTask {
        nodes: Nodes(nodes),
        runtimes: vec![Seconds::HOUR * hours],
        parents,
    };
    let after = Dependency {
        parent: 0,
        transfer: Seconds(250),
    };
    Application::new(
        vec![task(2, 1, vec![]), task(4, 2, vec![after])],
        vec![0, 1],
    )
}

fn inputs() -> ProvisioningInputs {
    let site = |nodes, utilisation| SiteWorkload {
        nodes: Nodes(nodes),
        load: SiteLoad {
            utilisation_percent: utilisation,
            kept_percent: 100.0,
            ..SiteLoad::default()
        },
        ..SiteWorkload::default()
    };
    let mut stream = bookahead_core::random::stream(1, "measures", 0, "workflow");
    ProvisioningInputs {
        sites: Arc::from([site(300, 60.0), site(100, 80.0)]),
        workflow: Arc::new(synthetic(&SyntheticSettings::default(), &mut stream).unwrap()),
        application: Arc::new(application()),
        real: Vec::new(),
        background: Arc::new(Background::default()),
        instants: vec![0],
        best_effort: Vec::new(),
        searched: None,
        slots_left: Vec::new(),
        parts: Vec::new(),
        users: Users::default(),
        alone: Vec::new(),
        judged: Vec::new(),
        keep_prices: false,
    }
}

fn value(cost: f64, hours: i64) -> PlanValue {
    PlanValue {
        cost,
        makespan: Seconds::HOUR * hours,
    }
}

/// Planned for 12 SU and 4 h, where best effort takes 8 h and 10 SU.
fn outcome() -> ProvisioningOutcome {
    let slot = |cost, used, externality| BoughtSlot {
        site: 0,
        slot: Slot {
            start: Seconds::ZERO,
            nodes: Nodes(4),
            end: Seconds::HOUR * 2,
            unit_price: 1.0,
            fixed_price: 0.0,
            divisible: false,
            extensible: false,
        },
        cost,
        used: NodeSeconds(used),
        externality: NodeSeconds(externality),
        refunded: 0.0,
        forfeited: 0.0,
    };
    ProvisioningOutcome {
        planned: Some(value(12.0, 4)),
        realised: Realised {
            completed: true,
            makespan: Seconds::HOUR * 5,
            cost: 13.0,
            wasted: 1.0,
            after_ends: 0.5,
            outlasted_tasks: 4,
            rebooked_tasks: 6,
            gone: 2,
            replans: 1,
            lost_tasks: 3,
            reprovisioned: 1,
            ..Realised::default()
        },
        best_effort: Some(BestEffortOutcome {
            makespan: Seconds::HOUR * 8,
            cost: 10.0,
            ..BestEffortOutcome::default()
        }),
        slots: vec![slot(8.0, 6 * 3_600, 3_600), slot(5.0, 4 * 3_600, 0)],
        front: vec![
            FrontMember {
                value: value(15.0, 3),
                chosen: false,
            },
            FrontMember {
                value: value(12.0, 4),
                chosen: true,
            },
        ],
        slots_offered: 30,
        evaluations: 1_100,
        infeasible: 275,
        queries: 4,
        offers: 50,
        ..ProvisioningOutcome::default()
    }
}

fn settings(search: SearchMethod, wish: Wish) -> ProvisioningSettings {
    ProvisioningSettings {
        search,
        wish,
        ..ProvisioningSettings::default()
    }
}

fn measured(settings: &ProvisioningSettings, outcomes: Vec<ProvisioningOutcome>) -> Measured {
    let run = ProvisioningRun {
        outcomes,
        effects: Vec::new(),
        started: Vec::new(),
        utilisations: Vec::new(),
    };
    provisioning_measures(&inputs(), settings, &run)
}

const HALF: Wish = Wish::TradeOff { alpha: 0.5 };

#[track_caller]
fn check(measured: &Measured, wanted: &[(&str, f64)]) {
    for (name, value) in wanted {
        let found = measured.get(name);
        let found = found.unwrap_or_else(|| panic!("{name} is measured"));
        assert!((found - value).abs() < 1e-9, "{name}: {found}, not {value}");
    }
}

#[test]
fn a_plan_is_measured_beside_best_effort_and_as_it_was_carried_out() {
    let measured = measured(&settings(SearchMethod::Moga, HALF), vec![outcome()]);
    check(
        &measured,
        &[
            ("wf_makespan_hours", 4.0),
            ("wf_cost_su", 12.0),
            ("wf_makespan_ratio", 0.5),
            ("wf_cost_ratio", 1.2),
            ("wf_planned_percent", 100.0),
            ("be_makespan_hours", 8.0),
            ("be_cost_su", 10.0),
            ("wf_idle_su", 2.0),
            ("wf_externality_su", 1.0),
            ("wf_slots_offered", 30.0),
            ("wf_slots_bought", 2.0),
            ("wf_front_size", 2.0),
            ("wf_evaluations", 1_100.0),
            ("wf_infeasible_percent", 25.0),
            ("wf_completed_percent", 100.0),
            ("wf_realised_makespan_hours", 5.0),
            ("wf_realised_cost_su", 13.0),
            ("wf_wasted_su", 1.0),
            ("wf_slots_gone", 2.0),
            ("wf_replans", 1.0),
            ("wf_lost_tasks", 3.0),
            ("wf_reprovisioned", 1.0),
            // Weighted by 300 and 100 processors.
            ("site_utilisation_percent", 65.0),
            ("site_kept_percent", 100.0),
            ("site_copied_percent", 0.0),
        ],
    );
    for absent in [
        "wf_queries",
        "wf_deadline_met_percent",
        "wf_within_budget_percent",
        "wf_outlasted_tasks",
        "others_jobs",
    ] {
        assert_eq!(measured.get(absent), None, "{absent}");
    }
}

#[test]
fn what_tasks_did_that_ran_longer_or_shorter_is_measured_where_that_can_be() {
    let run = ProvisioningRun {
        outcomes: vec![outcome(), outcome()],
        ..ProvisioningRun::default()
    };
    let uncertain = ProvisioningInputs {
        real: vec![Arc::new(application())],
        ..inputs()
    };
    let of = |search| provisioning_measures(&uncertain, &settings(search, HALF), &run);
    check(
        &of(SearchMethod::Greedy),
        &[
            ("wf_outlasted_tasks", 4.0),
            ("wf_rebooked_tasks", 6.0),
            ("wf_after_ends_su", 0.5),
        ],
    );
    assert_eq!(of(SearchMethod::BestEffort).get("wf_outlasted_tasks"), None);
}

#[test]
fn what_is_paid_back_is_a_mean_over_slots_where_something_may_be() {
    let mut outcome = outcome();
    (outcome.slots[0].refunded, outcome.slots[0].forfeited) = (1.8, 0.2);
    let wish = Wish::TradeOff { alpha: 0.5 };
    let mut settings = settings(SearchMethod::Greedy, wish);
    let absent = measured(&settings, vec![outcome.clone()]);
    assert_eq!(absent.get("wf_refunded_su"), None);
    settings.refund = Refund::Rest {
        penalty_factor: 0.1,
    };
    let none = ProvisioningOutcome::default();
    let measured = measured(&settings, vec![outcome, none]);
    check(
        &measured,
        &[("wf_refunded_su", 0.9), ("wf_forfeited_su", 0.1)],
    );
}

#[test]
fn a_front_dominates_its_steps_of_the_area_between_the_least_and_twice_best_effort() {
    // The area is 5 h by 10 SU. At 3 h the front is 5 SU below the reference for 5 h, and 3 SU more
    // for the 4 h after the fourth.
    let volume = front_hypervolume(&application(), &outcome()).unwrap();
    assert!((volume - (25.0 + 12.0) / 50.0).abs() < 1e-12);
    let best = ProvisioningOutcome {
        front: vec![FrontMember {
            value: value(10.0, 3),
            chosen: true,
        }],
        ..outcome()
    };
    assert_eq!(front_hypervolume(&application(), &best), Some(1.0));
    let nothing = ProvisioningOutcome {
        front: Vec::new(),
        ..outcome()
    };
    assert_eq!(front_hypervolume(&application(), &nothing), Some(0.0));
    let mut at_once = outcome();
    at_once.best_effort.as_mut().unwrap().makespan = Seconds::HOUR * 3;
    assert_eq!(front_hypervolume(&application(), &at_once), None);
}

#[test]
fn queries_are_measured_of_a_greedy_search_only() {
    let greedy = measured(&settings(SearchMethod::Greedy, HALF), vec![outcome()]);
    check(&greedy, &[("wf_queries", 4.0), ("wf_offers", 12.5)]);
    for absent in ["wf_front_size", "wf_hypervolume", "wf_slots_offered"] {
        assert_eq!(greedy.get(absent), None, "{absent}");
    }
}

#[test]
fn where_best_effort_is_the_search_what_happened_is_measured_beside_what_would_have_happened_alone()
{
    let unplanned = ProvisioningOutcome {
        planned: None,
        slots: Vec::new(),
        ..outcome()
    };
    let measured = measured(&settings(SearchMethod::BestEffort, HALF), vec![unplanned]);
    check(
        &measured,
        &[
            ("wf_makespan_hours", 5.0),
            ("wf_cost_su", 13.0),
            ("wf_makespan_ratio", 0.625),
            ("wf_cost_ratio", 1.3),
            ("be_makespan_hours", 8.0),
        ],
    );
    assert_eq!(measured.get("wf_slots_bought"), None);
}

#[test]
fn several_submissions_are_averaged_and_those_without_a_plan_count_as_such() {
    let failed = ProvisioningOutcome {
        planned: None,
        realised: Realised::default(),
        ..outcome()
    };
    let slower = ProvisioningOutcome {
        planned: Some(value(10.0, 6)),
        ..outcome()
    };
    let measured = measured(
        &settings(SearchMethod::Greedy, HALF),
        vec![outcome(), failed, slower],
    );
    check(
        &measured,
        &[
            ("wf_makespan_hours", 5.0),
            ("wf_cost_su", 11.0),
            ("wf_planned_percent", 200.0 / 3.0),
            ("wf_completed_percent", 200.0 / 3.0),
            ("wf_realised_makespan_hours", 5.0),
            ("wf_realised_cost_su", 26.0 / 3.0),
        ],
    );
}

#[test]
fn deadlines_and_budgets_are_kept_by_what_really_happened() {
    let deadline = |hours| Wish::Deadline {
        after: Seconds::HOUR * hours,
    };
    // The plan keeps 4 h, but lost tasks, and took 5 h.
    let late = measured(
        &settings(SearchMethod::Greedy, deadline(4)),
        vec![outcome()],
    );
    check(
        &late,
        &[
            ("wf_deadline_met_percent", 0.0),
            ("be_deadline_met_percent", 0.0),
        ],
    );
    let met = measured(
        &settings(SearchMethod::Greedy, deadline(5)),
        vec![outcome()],
    );
    check(&met, &[("wf_deadline_met_percent", 100.0)]);
    let budget = |service_units| {
        let settings = settings(SearchMethod::Greedy, Wish::Budget { service_units });
        measured(&settings, vec![outcome()]).get("wf_within_budget_percent")
    };
    assert_eq!(budget(12.9), Some(0.0));
    assert_eq!(budget(13.0 - 1e-12), Some(100.0));
}

#[test]
fn what_others_lose_is_a_mean_over_the_jobs_of_all_sites() {
    let effect = |jobs, delayed, wait, undisturbed| EffectOnOthers {
        jobs,
        delayed,
        wait: Seconds(wait),
        undisturbed_wait: Seconds(undisturbed),
        slowdown: 30.0,
        undisturbed_slowdown: 20.0,
    };
    let run = ProvisioningRun {
        outcomes: vec![outcome()],
        effects: vec![effect(3, 1, 7_200, 3_600), effect(1, 1, 7_200, 0)],
        started: Vec::new(),
        utilisations: Vec::new(),
    };
    let settings = settings(SearchMethod::Greedy, HALF);
    let measured = provisioning_measures(&inputs(), &settings, &run);
    check(
        &measured,
        &[
            ("others_jobs", 4.0),
            ("others_wait_hours", 1.0),
            ("others_undisturbed_wait_hours", 0.25),
            ("others_added_wait_minutes", 45.0),
            ("others_delayed_percent", 50.0),
            ("others_slowdown_ratio", 1.5),
        ],
    );
}

/// 2 and 5 copies with transfers of 1 h and 2 h are 3.5 and 1.5 h an application.
#[test]
fn cancelled_copies_are_counted_where_tasks_wait_in_several_queues() {
    let with = |number, hours| ProvisioningOutcome {
        realised: Realised {
            cancelled: CancelledCopies {
                number,
                transfers: Seconds::HOUR * hours,
            },
            ..outcome().realised
        },
        ..outcome()
    };
    let of = |queue_choice| {
        let settings = ProvisioningSettings {
            queue_choice,
            ..settings(SearchMethod::BestEffort, HALF)
        };
        measured(&settings, vec![with(2, 1), with(5, 2)])
    };
    check(
        &of(QueueChoice::Redundant { copies: 2 }),
        &[
            ("wf_cancelled_copies", 3.5),
            ("wf_cancelled_transfer_hours", 1.5),
        ],
    );
    assert_eq!(
        of(QueueChoice::FewestTasks).get("wf_cancelled_copies"),
        None
    );
}
