//! Several applications that are submitted together (Singh 2008, §4.9): as one, one after the
//! other, and by a broker each.

use super::*;
use crate::provisioning::alone;
use crate::provisioning::measures::provisioning_measures;

fn task(nodes: u32, hours: i64, parents: &[usize]) -> ApplicationTask {
    let parents = parents.iter().map(|&parent| Dependency {
        parent,
        transfer: Seconds::ZERO,
    });
    ApplicationTask {
        nodes: Nodes(nodes),
        runtimes: vec![HOUR * hours],
        parents: parents.collect(),
    }
}

/// Several applications as one (Singh 2008, §4.9): X is one task and Y a chain of two, each of 4
/// processors for 1 h, on 4. Ranks are Y1 2 h, X 1 h and Y2 1 h; X has the lower number.
fn x_and_y(settings: &ProvisioningSettings) -> ProvisioningInputs {
    let tasks = vec![task(4, 1, &[]), task(4, 1, &[]), task(4, 1, &[1])];
    let application = Application::new(tasks, vec![1, 0, 2]);
    let inputs = inputs_of(vec![workload(4, vec![])], application, settings, &[HOUR]);
    in_parts(inputs, settings, vec![0..1, 1..3])
}

fn in_parts(
    inputs: ProvisioningInputs,
    settings: &ProvisioningSettings,
    parts: Vec<std::ops::Range<usize>>,
) -> ProvisioningInputs {
    let mut inputs = ProvisioningInputs { parts, ..inputs };
    inputs.alone = alone(&inputs, settings, &seed_of(1)).unwrap();
    inputs
}

fn ends(outcome: &ProvisioningOutcome) -> Vec<(u32, i64)> {
    let runs = outcome.tasks.iter();
    let mut ends: Vec<_> = runs
        .map(|run| (run.task, (run.end - outcome.submitted).0 / 3_600))
        .collect();
    ends.sort_unstable();
    ends
}

fn earliest(provider: Provider, search: SearchMethod, joint: bool) -> ProvisioningSettings {
    ProvisioningSettings {
        joint,
        ..settings_of(provider, search, Wish::TradeOff { alpha: 0.0 })
    }
}

#[test]
fn planned_as_one_a_long_application_goes_before_a_short_one_which_would_have_been_first() {
    // Alone X takes 1 h and Y 2 h. As one they take 2 and 3 h: 2 and 1.5 times as long, so Jain's
    // index is 3.5² ÷ (2 · 6.25) = 0.98. X first: 1 and 3 h, 1 and 1.5 times, 2.5² ÷ (2 · 3.25).
    for (joint, x, mean, stretch, largest, fairness) in [
        (true, 2, 2.5, 1.75, 2.0, 0.98),
        (false, 1, 2.0, 1.25, 1.5, 6.25 / 6.5),
    ] {
        for (provider, search) in [
            (queried(), SearchMethod::Greedy),
            (rectangles(), SearchMethod::Moga),
        ] {
            let settings = earliest(provider, search, joint);
            let inputs = x_and_y(&settings);
            let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
            let outcome = &run.outcomes[0];
            let y = if joint { 1 } else { 2 };
            assert_eq!(ends(outcome), [(0, x), (1, y), (2, 3)], "{search:?}");
            let planned = outcome.planned.unwrap();
            assert_eq!((planned.cost, planned.makespan), (12.0, HOUR * 3));
            assert_eq!(outcome.realised.makespan, HOUR * 3);
            let measured = provisioning_measures(&inputs, &settings, &run);
            for (measure, wanted) in [
                ("wf_makespan_hours", 3.0),
                ("wf_application_hours", mean),
                ("wf_stretch", stretch),
                ("wf_largest_stretch", largest),
                ("wf_cost_ratio_alone", 1.0),
                ("wf_fairness", fairness),
            ] {
                let value = measured.get(measure).unwrap();
                assert!((value - wanted).abs() < 1e-9, "{measure}: {value}");
            }
            assert_eq!(
                measured.get("wf_front_size").is_some(),
                joint && search != SearchMethod::Greedy
            );
        }
    }
}

/// One node is free from 06:00 to 10:00 and sold whole, 4 SU. Two tasks of 1 h and 2 h share it:
/// the application of the first pays 4 · 1 ÷ 3 SU, that of the second 4 · 2 ÷ 3. Alone each pays 4.
#[test]
fn what_is_idle_in_a_slot_that_applications_share_is_paid_by_the_time_that_they_used() {
    let site = workload(2, vec![job(0, 0, 1, 36_000), job(1, 1, 2, 7_200)]);
    let settings = earliest(rectangles(), SearchMethod::Moga, true);
    let tasks = vec![task(1, 1, &[]), task(1, 2, &[])];
    let inputs = inputs_of(
        vec![site],
        Application::new(tasks, vec![1, 0]),
        &settings,
        &[HOUR * 6],
    );
    let inputs = in_parts(inputs, &settings, vec![0..1, 1..2]);
    let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
    let outcome = &run.outcomes[0];
    assert_eq!(ends(outcome), [(0, 3), (1, 2)]);
    assert_eq!(outcome.realised.cost, 4.0);
    let of_task = |task| {
        let mut runs = outcome.tasks.iter().zip(&outcome.costs);
        *runs.find(|(run, _)| run.task == task).unwrap().1
    };
    assert!((of_task(0) - 4.0 / 3.0).abs() < 1e-9);
    assert!((of_task(1) - 8.0 / 3.0).abs() < 1e-9);
    let costs = inputs.alone[0].iter().map(|value| value.unwrap().cost);
    assert!(costs.eq([4.0, 4.0]));
}

#[test]
fn several_brokers_see_the_same_slots_and_the_second_finds_them_gone() {
    let mut settings = earliest(rectangles(), SearchMethod::Moga, false);
    let inputs = x_and_y(&settings);
    let in_turn = simulate(&inputs, &settings, &seed_of(1)).unwrap();
    assert_eq!(in_turn.outcomes[0].realised.gone, 0);
    settings.brokers = 2;
    let at_once = simulate(&inputs, &settings, &seed_of(1)).unwrap();
    assert_eq!(at_once.outcomes.len(), 1);
    assert_eq!(at_once.outcomes[0].realised.gone, 1);
    assert_eq!(ends(&at_once.outcomes[0]), ends(&in_turn.outcomes[0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Each application is carried out in order, whatever the way, the runs of all pay for all
    /// slots, and the first one in turn is what it is alone.
    #[test]
    fn applications_pay_for_all_slots_together_and_the_first_in_turn_is_as_if_alone(
        seed in any::<u64>(),
        kind in 0_usize..6,
        joint in any::<bool>(),
        sizes in (1_usize..6, 1_usize..6),
    ) {
        let (provider, search) = kinds()[kind];
        let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.3 });
        settings.joint = joint || search == SearchMethod::BestEffort;
        let one = application_of(seed, 1, sizes.0, 9);
        let other = application_of(seed ^ 1, 1, sizes.1, 9);
        let mut tasks = one.tasks().to_vec();
        tasks.extend(other.tasks().iter().cloned().map(|mut task| {
            for edge in &mut task.parents {
                edge.parent += sizes.0;
            }
            task
        }));
        let order = (0..tasks.len()).collect();
        let application = Application::new(tasks, order);
        let sites = vec![drawn_site(seed, 0)];
        let inputs = inputs_of(sites, application, &settings, &[Seconds(100_000)]);
        let whole = sizes.0 + sizes.1;
        let inputs = in_parts(inputs, &settings, vec![0..sizes.0, sizes.0..whole]);
        let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
        check(&inputs, &run)?;
        let outcome = &run.outcomes[0];
        prop_assert_eq!(outcome.costs.len(), outcome.tasks.len());
        let sum: f64 = outcome.costs.iter().sum();
        prop_assert!((sum - outcome.realised.cost).abs() < 1e-6);
        if !settings.joint && outcome.realised.completed {
            let first = outcome.tasks.iter().filter(|run| (run.task as usize) < sizes.0);
            let end = first.map(|run| run.end).max().unwrap();
            let alone = inputs.alone[0][0].unwrap();
            prop_assert_eq!(end - outcome.submitted, alone.makespan);
        }
    }
}
