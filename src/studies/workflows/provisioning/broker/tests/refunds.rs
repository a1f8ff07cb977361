//! Slots that are given back for a penalty.

use super::outlasting::{earliest, run_with, told};
use super::*;

const FACTORS: [f64; 5] = [0.0, 0.1, 0.25, 0.5, 1.0];

fn rest(penalty_factor: f64) -> Refund {
    Refund::Rest { penalty_factor }
}

fn both(penalty_factor: f64) -> Refund {
    Refund::Both { penalty_factor }
}

#[track_caller]
fn near(value: f64, wanted: f64) {
    assert!((value - wanted).abs() < 1e-9, "{value}, not {wanted}");
}

/// Every node is held by one task or one job of others at a time: what was given back was not used
/// any more.
pub(super) fn fits(
    inputs: &ProvisioningInputs,
    run: &ProvisioningRun,
) -> Result<(), TestCaseError> {
    for (site, workload) in inputs.sites.iter().enumerate() {
        let mut changes = Vec::new();
        let own = run.outcomes.iter().flat_map(|outcome| &outcome.tasks);
        let own = own.filter(|run| run.site == site && run.fate != TaskFate::Abandoned);
        changes.extend(own.flat_map(|run| {
            let nodes = i64::from(run.nodes.0);
            [(run.start, nodes), (run.end, -nodes)]
        }));
        for (id, start) in run.started.get(site).into_iter().flatten() {
            let (Some(start), Some(job)) = (start, workload.jobs.get(id.0 as usize)) else {
                continue;
            };
            let (nodes, end) = (i64::from(job.nodes.0), *start + job.runtime);
            changes.extend([(*start, nodes), (end, -nodes)]);
        }
        changes.sort_unstable();
        let mut held = 0;
        for (time, nodes) in changes {
            held += nodes;
            prop_assert!(held <= i64::from(workload.nodes.0), "{held} at {time:?}");
        }
    }
    Ok(())
}

/// Two processors are booked for three hours with c = 1 and f = 4, and the task ends after two.
#[test]
fn a_slot_of_ten_su_whose_last_hour_is_given_back_costs_eight_and_a_fifth() {
    for provider in [rectangles(), profile_slots()] {
        let mut settings = earliest(provider, SearchMethod::Moga);
        settings.tariff.fixed_price = 4.0;
        for (refund, cost, refunded, forfeited) in [
            (Refund::None, 10.0, 0.0, 0.0),
            (rest(0.1), 8.2, 1.8, 0.2),
            (both(0.1), 8.2, 1.8, 0.2),
            (rest(0.0), 8.0, 2.0, 0.0),
            (rest(1.0), 10.0, 0.0, 2.0),
        ] {
            settings.refund = refund;
            let outcome = run_with(chain(2, &[3]), &[2.0], &settings);
            near(outcome.planned.unwrap().cost, 10.0);
            near(outcome.realised.cost, cost);
            near(outcome.slots[0].refunded, refunded);
            near(outcome.slots[0].forfeited, forfeited);
            let after_ends = if refund.is_none() { 2.0 } else { forfeited };
            near(outcome.realised.after_ends, after_ends);
            assert_eq!(outcome.realised.wasted, 0.0);
        }
    }
}

/// A task of one processor runs for an hour with probability 0.7, else for three, and is booked
/// twice as long after each stop. Booked for an hour it costs 1, or 1 + 2 + 3 + p; booked for three
/// 1 + 2p, or 3.
#[test]
fn booking_long_is_cheaper_below_a_penalty_of_nine_elevenths() {
    for (provider, search) in kinds().into_iter().take(4) {
        let expected = |booked: i64, penalty_factor| {
            let mut settings = earliest(provider, search);
            settings.refund = rest(penalty_factor);
            let cost = |real| {
                let outcome = run_with(chain(1, &[booked]), &[real], &settings);
                outcome.realised.cost
            };
            0.7 * cost(1.0) + 0.3 * cost(3.0)
        };
        for factor in FACTORS {
            near(expected(1, factor), 2.5 + 0.3 * factor);
            near(expected(3, factor), 1.6 + 1.4 * factor);
        }
        let even = 9.0 / 11.0;
        near(expected(1, even), expected(3, even));
        assert!(expected(3, even - 0.01) < expected(1, even - 0.01));
        assert!(expected(3, even + 0.01) > expected(1, even + 0.01));
    }
}

/// The first task is stopped after an hour. The second task's slot begins in that second, the third
/// one's later.
#[test]
fn what_has_not_begun_is_paid_back_where_both_are_and_what_has_begun_is_its_rest() {
    // Two nodes: 1 h stopped; 1 h of which nothing is used; 1 h that has not begun; 1.5 of 2 h;
    // 1 h; a quarter of 1 h.
    let begun = |p: f64| 2.0 + 2.0 * p + (3.0 + p) + 2.0 + (0.5 + 1.5 * p);
    for (provider, search) in [
        (queried(), SearchMethod::Greedy),
        (rectangles(), SearchMethod::Moga),
    ] {
        let mut settings = earliest(provider, search);
        let without = run_with(chain(2, &[1, 1, 1]), &[1.5, 1.0, 0.25], &settings);
        near(without.realised.cost, 14.0);
        for factor in FACTORS {
            for (refund, unbegun) in [(rest(factor), 2.0), (both(factor), 0.0)] {
                settings.refund = refund;
                let outcome = run_with(chain(2, &[1, 1, 1]), &[1.5, 1.0, 0.25], &settings);
                assert_eq!(told(&outcome), told(&without), "{search:?}");
                let realised = outcome.realised;
                // An edge is one slot, whatever is bought of it.
                near(realised.cost, begun(factor) + unbegun);
                near(realised.wasted, 2.0 + 2.0 * factor + unbegun);
                near(realised.after_ends, 2.5 * factor);
                let refunded: f64 = outcome.slots.iter().map(|slot| slot.refunded).sum();
                near(realised.cost + refunded, 14.0);
            }
        }
    }
}

/// A waiting job would be delayed by an hour on 4 processors by the task of two nodes and one hour
/// that is given up: the externality of 4 SU, of which p is kept.
#[test]
fn a_slot_that_is_given_up_before_it_begins_costs_a_share_of_its_fixed_price() {
    let hour = HOUR.0;
    // The first task is booked for the first hour, during which a job holds the other two nodes.
    // The second one's hour is taken from the job that waits for all four.
    let jobs = vec![job(0, 0, 2, hour), job(1, 5, 4, 2 * hour)];
    for (refund, kept, price) in [
        (Refund::None, 6.0, 4 * hour),
        (rest(0.25), 6.0, 4 * hour),
        (both(0.25), 1.0, hour),
        (both(0.0), 0.0, 0),
    ] {
        let mut settings = earliest(queried(), SearchMethod::Greedy);
        settings.refund = refund;
        settings.after_failure = AfterFailure::Fail;
        let site = failing_at(workload(4, jobs.clone()), Seconds(1_800));
        let inputs = inputs_of(vec![site], chain(2, &[1, 1]), &settings, &[Seconds(10)]);
        // Whichever node is hit: of four, the task holds the first two.
        let hit = (0..40).map(|seed| simulate(&inputs, &settings, &seed_of(seed)).unwrap());
        let mut hit = hit.filter(|run| run.outcomes[0].realised.lost_tasks == 1);
        let outcome = hit.next().expect("one in two").outcomes.remove(0);
        assert_eq!(outcome.tasks[1].fate, TaskFate::Abandoned);
        let slot = outcome.slots[1];
        near(slot.cost, kept);
        near(slot.cost + slot.refunded, 6.0);
        assert_eq!(slot.externality, NodeSeconds(price));
        let unbegun = matches!(refund, Refund::Both { .. });
        near(slot.forfeited, if unbegun { kept } else { 0.0 });
    }
}

/// From six o'clock a node is free until ten; the task takes two of these four hours, at 2 SU a
/// node-hour.
#[test]
fn a_slot_that_is_sold_whole_ends_with_its_last_task() {
    let site = workload(2, vec![job(0, 0, 1, 36_000), job(1, 1, 2, 7_200)]);
    for (refund, cost) in [
        (Refund::None, 8.0),
        (rest(0.0), 4.0),
        (rest(0.5), 6.0),
        (rest(1.0), 8.0),
    ] {
        let mut settings = earliest(rectangles(), SearchMethod::Moga);
        settings.tariff.unit_price = 2.0;
        settings.refund = refund;
        let run = run_one(site.clone(), chain(1, &[2]), &settings, &[HOUR * 6]);
        let outcome = &run.outcomes[0];
        near(outcome.planned.unwrap().cost, 8.0);
        near(outcome.realised.cost, cost);
        assert_eq!(outcome.realised.after_ends, 0.0);
    }
}

/// Four nodes are booked for three hours, and the task ends after one. A job comes after half an
/// hour, another after two hours.
#[test]
fn others_have_the_rest_of_a_slot_that_is_given_back() {
    let jobs = vec![job(0, 1_800, 4, 1_800), job(1, 7_200, 4, 1_800)];
    for (provider, search, without, with) in [
        // Who waits moves up where queues are planned anew.
        (queried(), SearchMethod::Greedy, [3.0, 3.5], [1.0, 2.0]),
        (profile_slots(), SearchMethod::Moga, [3.0, 3.5], [1.0, 2.0]),
        // On free rectangles jobs keep their places; those that come later find the rest.
        (rectangles(), SearchMethod::Moga, [3.0, 3.5], [3.0, 2.0]),
    ] {
        for (refund, starts) in [
            (Refund::None, without),
            (rest(0.5), with),
            (both(1.0), with),
        ] {
            let mut settings = earliest(provider, search);
            settings.commitment = Commitment::Committed { submissions: 1 };
            settings.refund = refund;
            let application = chain(4, &[3]);
            let real = application.with_runtimes(|_, _| HOUR);
            let sites = vec![workload(4, jobs.clone())];
            let mut inputs = inputs_of(sites, application, &settings, &[Seconds::ZERO]);
            inputs.real = vec![Arc::new(real)];
            let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
            fits(&inputs, &run).unwrap();
            let mut started = run.started[0].clone();
            started.sort_unstable();
            let started = started.iter().map(|(_, start)| start.unwrap().hours());
            assert!(
                started.eq(starts),
                "{search:?} {refund:?} {:?}",
                run.started
            );
        }
    }
}

#[test]
fn a_later_application_has_the_rest_of_a_slot_that_is_given_back() {
    for (provider, search) in kinds().into_iter().take(4) {
        // On free rectangles the rest is a hole of its own, which is too short for as much again.
        let found = if provider == rectangles() {
            HOUR * 3
        } else {
            Seconds(5_400)
        };
        for (refund, start) in [(Refund::None, HOUR * 3), (rest(0.5), found)] {
            let mut settings = earliest(provider, search);
            settings.commitment = Commitment::Committed { submissions: 2 };
            settings.refund = refund;
            let application = chain(4, &[3]);
            let real = Arc::new(application.with_runtimes(|_, _| HOUR));
            let sites = vec![workload(4, Vec::new())];
            let instants = [Seconds::ZERO, Seconds(5_400)];
            let mut inputs = inputs_of(sites, application, &settings, &instants);
            inputs.real = vec![Arc::clone(&real), real];
            let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
            assert_eq!(run.outcomes[1].tasks[0].start, start, "{search:?}");
        }
    }
}

/// Who keeps to a budget has what was paid back to spend again.
#[test]
fn what_is_paid_back_is_budget_again() {
    let settings = ProvisioningSettings {
        refund: rest(0.5),
        ..ProvisioningSettings::default()
    };
    let mut state = ApplicationState::new(0, Seconds::ZERO, &settings);
    let application = chain(2, &[3]);
    let real = application.with_runtimes(|_, _| HOUR);
    let placed = crate::provisioning::TaskPlacement {
        site: 0,
        start: Seconds::ZERO,
        end: HOUR * 3,
    };
    let plan = crate::provisioning::GreedyPlan {
        placements: vec![placed],
        externalities: vec![NodeSeconds(0)],
        unit_price: 1.0,
        charges: vec![6.0 * 3_600.0],
        transfers: Vec::new(),
        value: PlanValue {
            cost: 6.0,
            makespan: HOUR * 3,
        },
        queries: 1,
        offers: 1,
        booked: vec![(0, bookahead_core::workload::RequestId(0))],
        gone: 0,
        failure: None,
    };
    let of = PlannedTasks {
        real: &real,
        tasks: &[0],
    };
    state.paid += state.ledger.enter_greedy(of, &plan);
    let budget = |state: &ApplicationState| {
        let service_units = 10.0;
        state.wish(Wish::Budget { service_units }, HOUR)
    };
    let left = |service_units| Wish::Budget { service_units };
    assert_eq!(budget(&state), left(4.0));
    assert_eq!(state.ledger.give_back_rests(HOUR).len(), 1);
    assert_eq!(budget(&state), left(6.0));
    assert_eq!(state.ledger.give_back_rests(HOUR).len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Queried slots end with their tasks, so there is nothing to give back.
    #[test]
    fn with_exact_run_times_no_refund_changes_what_is_bought_by_queries(
        seed in 0_u64..100_000,
        refund in refunds(),
        committed in any::<bool>(),
    ) {
        let mut settings = earliest(queried(), SearchMethod::Greedy);
        if committed {
            settings.commitment = Commitment::Committed { submissions: 1 };
        }
        let sites = (0..2).map(|site| drawn_site(seed, site)).collect();
        let application = application_of(seed, 2, 12, 6);
        let inputs = inputs_of(sites, application, &settings, &[Seconds(90_000)]);
        let without = simulate(&inputs, &settings, &seed_of(seed)).unwrap();
        settings.refund = refund;
        let run = simulate(&inputs, &settings, &seed_of(seed)).unwrap();
        prop_assert_eq!(run, without);
    }
}
