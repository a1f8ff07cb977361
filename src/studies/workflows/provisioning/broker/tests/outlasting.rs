//! Tasks that run longer or shorter than they are booked for.

use bookahead_core::workload::workflows::{RealRuntimes, RuntimeUncertainty};

use super::refunds::fits;
use super::*;

/// What became of each run: task, hours from start to end, fate.
pub(super) fn told(outcome: &ProvisioningOutcome) -> Vec<(u32, f64, f64, TaskFate)> {
    let runs = outcome.tasks.iter();
    runs.map(|run| (run.task, run.start.hours(), run.end.hours(), run.fate))
        .collect()
}

pub(super) fn earliest(provider: Provider, search: SearchMethod) -> ProvisioningSettings {
    settings_of(provider, search, Wish::TradeOff { alpha: 0.0 })
}

/// At an idle site of eight nodes, where tasks run so many hours instead of those of the
/// application.
pub(super) fn run_with(
    application: Application,
    real: &[f64],
    settings: &ProvisioningSettings,
) -> ProvisioningOutcome {
    let runs = application.with_runtimes(|task, _| Seconds::from_hours(real[task]));
    let site = workload(8, Vec::new());
    let mut inputs = inputs_of(vec![site], application, settings, &[Seconds::ZERO]);
    inputs.real = vec![Arc::new(runs)];
    let run = simulate(&inputs, settings, &seed_of(1)).unwrap();
    check(&inputs, &run).unwrap();
    run.outcomes[0].clone()
}

/// One of eight hours and one of one in front of a third.
fn join() -> Application {
    let task = |hours, parents: &[usize]| ApplicationTask {
        nodes: Nodes(1),
        runtimes: vec![HOUR * hours],
        parents: (parents.iter())
            .map(|&parent| Dependency {
                parent,
                transfer: Seconds::ZERO,
            })
            .collect(),
    };
    let tasks = vec![task(8, &[]), task(1, &[]), task(1, &[0, 1])];
    Application::new(tasks, vec![0, 1, 2])
}

#[test]
fn a_task_that_outlasts_its_slot_is_booked_for_twice_as_long_and_who_can_wait_keeps_its_slot() {
    use TaskFate::{Done, Stopped};
    for (provider, search) in kinds().into_iter().take(4) {
        let outcome = run_with(join(), &[8.0, 3.5, 1.0], &earliest(provider, search));
        assert_eq!(
            told(&outcome),
            [
                (0, 0.0, 8.0, Done),
                (1, 0.0, 1.0, Stopped),
                (2, 8.0, 9.0, Done),
                // For two hours, then for four, of which it leaves half an hour.
                (1, 1.0, 3.0, Stopped),
                (1, 3.0, 6.5, Done),
            ],
            "{search:?}"
        );
        let realised = outcome.realised;
        assert_eq!((realised.outlasted_tasks, realised.rebooked_tasks), (2, 2));
        assert_eq!((realised.lost_tasks, realised.reprovisioned), (0, 0));
        // 8 + 1 + 1, and 2 + 4.
        assert!((realised.cost - 16.0).abs() < 1e-9);
        assert!((realised.wasted - 3.0).abs() < 1e-9);
        assert!((realised.after_ends - 0.5).abs() < 1e-9);
        assert_eq!(realised.makespan, HOUR * 9);
    }
}

#[test]
fn whose_slot_begins_before_its_data_is_there_is_booked_anew_and_pays_twice() {
    use TaskFate::{Abandoned, Done, Stopped};
    for (provider, search) in [
        (queried(), SearchMethod::Greedy),
        (rectangles(), SearchMethod::Moga),
    ] {
        let outcome = run_with(
            chain(2, &[1, 1, 1]),
            &[1.5, 1.0, 0.25],
            &earliest(provider, search),
        );
        assert_eq!(
            told(&outcome),
            [
                (0, 0.0, 1.0, Stopped),
                (1, 1.0, 2.0, Abandoned),
                (2, 2.0, 2.25, Abandoned),
                (0, 1.0, 2.5, Done),
                // The slot before it lasts until 3 h, and nobody knew that it would not be needed
                // as long.
                (1, 3.0, 4.0, Done),
                (2, 4.0, 4.25, Done),
            ],
            "{search:?}"
        );
        let realised = outcome.realised;
        assert_eq!((realised.outlasted_tasks, realised.rebooked_tasks), (1, 3));
        // Two nodes: 1 + 1 + 1, then 2 + 1 + 1.
        assert!((realised.cost - 14.0).abs() < 1e-9);
        assert!((realised.wasted - 6.0).abs() < 1e-9);
        assert!((realised.after_ends - 2.0 * (0.5 + 0.75)).abs() < 1e-9);
        assert_eq!(realised.makespan, Seconds::from_hours(4.25));
    }
}

#[test]
fn an_application_that_has_failed_stops_tasks_and_books_none() {
    let mut settings = earliest(queried(), SearchMethod::Greedy);
    settings.after_failure = AfterFailure::Fail;
    // Two tasks hold all processors; whichever is hit, the other one runs on.
    let application = join();
    let runs = application.with_runtimes(|_, runtime| runtime * 2);
    let site = failing_at(workload(2, Vec::new()), Seconds(1_800));
    let mut inputs = inputs_of(vec![site], application, &settings, &[Seconds::ZERO]);
    inputs.real = vec![Arc::new(runs)];
    let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
    let realised = run.outcomes[0].realised;
    assert!(!realised.completed);
    assert_eq!((realised.lost_tasks, realised.outlasted_tasks), (1, 1));
    assert_eq!(
        (realised.rebooked_tasks, realised.makespan),
        (0, Seconds(1_800))
    );
}

/// A chain of n tasks of run time e on one node, booked for b = f · e, on an idle machine, real run
/// times uniform on (1 ± w) · e. With 2 · f above 1 + w a task is stopped once, with probability
/// p = (1 + w - f) / 2w, or never. Whoever is stopped with m - 1 tasks behind it pays 2 · b for
/// itself and b for each of these, so that the whole is expected to cost
///
///   b · (n + p · Σ (m + 1)) = b · (n + p · n · (n + 3) / 2).
///
/// All but the last one take b, or 3 · b if they are stopped; the last one ends when it ends:
///
///   (n - 1) · b · (1 + 2 · p) + p · b + e.
#[test]
fn a_chain_costs_and_takes_what_the_closed_form_says() {
    const TASKS: usize = 4;
    const DRAWS: u64 = 400;
    let estimate = HOUR * 100;
    let variation = 0.4;
    let half_width = 3.0_f64.sqrt() * variation;
    let settings = earliest(queried(), SearchMethod::Greedy);
    for factor in [1.0, 1.25, 1.5, 1.7] {
        let uncertainty = RuntimeUncertainty {
            real: RealRuntimes::Uniform,
            variation,
            booking_factor: factor,
        };
        let booked = uncertainty.booked(estimate);
        let (mut costs, mut makespans) = (Vec::new(), Vec::new());
        for seed in 0..DRAWS {
            let drawn = uncertainty.draw(TASKS, &mut seed_of(seed).stream("real run times/0"));
            let real: Vec<f64> = drawn.iter().map(|one| one * estimate.hours()).collect();
            let application = chain(1, &[100; TASKS]).with_runtimes(|_, _| booked);
            let outcome = run_with(application, &real, &settings);
            let stopped = drawn.iter().enumerate().filter(|(_, one)| **one > factor);
            // Itself twice, and those behind it once more.
            let more: usize = stopped.map(|(task, _)| TASKS - task + 1).sum();
            let wanted = booked.hours() * (TASKS + more) as f64;
            assert!((outcome.realised.cost - wanted).abs() < 1e-6);
            costs.push(outcome.realised.cost);
            makespans.push(outcome.realised.makespan.hours());
        }
        let tasks = TASKS as f64;
        let stopped = ((1.0 + half_width - factor) / (2.0 * half_width)).max(0.0);
        let booked = booked.hours();
        let cost = booked * (tasks + stopped * tasks * (tasks + 3.0) / 2.0);
        let makespan =
            (tasks - 1.0) * booked * (1.0 + 2.0 * stopped) + stopped * booked + estimate.hours();
        for (values, wanted) in [(costs, cost), (makespans, makespan)] {
            let mean = values.iter().sum::<f64>() / DRAWS as f64;
            let squares = values.iter().map(|one| (one - mean) * (one - mean));
            let error = (squares.sum::<f64>()).sqrt() / DRAWS as f64;
            assert!(
                (mean - wanted).abs() <= 3.0 * error + 0.01,
                "{factor}: {mean} ± {error}, not {wanted}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn with_exact_run_times_nothing_differs(seed in 0_u64..100_000, committed in any::<bool>()) {
        for (provider, search) in kinds() {
            let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.5 });
            if committed {
                settings.commitment = Commitment::Committed { submissions: 1 };
            }
            let application = application_of(seed, 2, 12, 6);
            let sites = (0..2).map(|site| SiteWorkload {
                failures: Arc::new(failing_nodes(seed, 600)),
                ..drawn_site(seed, site)
            });
            let mut inputs = inputs_of(sites.collect(), application, &settings, &[Seconds(90_000)]);
            let exact = simulate(&inputs, &settings, &seed_of(seed)).unwrap();
            inputs.real = vec![Arc::clone(&inputs.application)];
            let run = simulate(&inputs, &settings, &seed_of(seed)).unwrap();
            prop_assert_eq!(run, exact);
        }
    }

    /// Short and long tasks, failing nodes, reservations under way, competing brokers: tasks wait
    /// for their parents' real ends, each run is as long as the task or as its slot, each next slot
    /// is twice as long, and whatever is paid is used or counted.
    #[test]
    fn however_long_tasks_run_nothing_happens_that_cannot_and_money_adds_up(
        seed in 0_u64..100_000,
        sites in 1_usize..3,
        latency in prop_oneof![Just(0_i64), Just(400)],
        failing in any::<bool>(),
        committed in any::<bool>(),
        refund in refunds(),
        brokers in 1_u32..3,
        factor in prop_oneof![Just(1.0), Just(1.3), Just(2.0)],
    ) {
        for (provider, search) in kinds() {
            let mut settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.3 });
            settings.brokers = brokers;
            settings.refund = refund;
            settings.latency = Seconds(latency);
            let mut instants = vec![Seconds(60_000)];
            if committed {
                settings.commitment = Commitment::Committed { submissions: 2 };
                instants.push(Seconds(63_000));
            }
            let workloads = (0..sites).map(|site| SiteWorkload {
                failures: Arc::new(if failing { failing_nodes(seed, 300) } else { FailureTrace::default() }),
                ..drawn_site(seed, site)
            });
            let estimated = application_of(seed, sites, 10, 6);
            let uncertainty = RuntimeUncertainty {
                real: RealRuntimes::LogNormal,
                variation: 0.6,
                booking_factor: factor,
            };
            let booked = estimated.with_runtimes(|_, runtime| uncertainty.booked(runtime));
            let mut inputs = inputs_of(workloads.collect(), booked.clone(), &settings, &instants);
            inputs.real = (0..inputs.instants.len()).map(|number| {
                let drawn = uncertainty.draw(10, &mut seed_of(seed).stream(&number.to_string()));
                let real = |task: usize, runtime: Seconds| {
                    Seconds(((runtime.0 as f64 * drawn[task]).round() as i64).max(1))
                };
                Arc::new(estimated.with_runtimes(real))
            }).collect();
            inputs.best_effort = inputs.instants.iter().enumerate().map(|(number, &instant)| {
                let forks = inputs.background.fork(&inputs.sites, instant);
                let real = inputs.real(number);
                Arc::new(crate::provisioning::best_effort(real, forks, settings.queue_choice).unwrap())
            }).collect();
            let run = simulate(&inputs, &settings, &seed_of(seed)).unwrap();
            check(&inputs, &run)?;
            if search != SearchMethod::BestEffort {
                fits(&inputs, &run)?;
            }
            for outcome in &run.outcomes {
                let of = |fate| outcome.tasks.iter().filter(move |run| run.fate == fate);
                let realised = outcome.realised;
                // Whose slots were gone too often gave up, and who found none to be had together.
                let may_find_nothing = search == SearchMethod::QueriedMoga;
                prop_assert!(realised.completed || realised.gone > 0 || may_find_nothing);
                prop_assert_eq!(of(TaskFate::Stopped).count(), realised.outlasted_tasks as usize);
                prop_assert_eq!(of(TaskFate::Lost).count(), realised.lost_tasks as usize);
                // Who has given up books none of those that still run.
                if realised.completed {
                    prop_assert!(realised.rebooked_tasks >= realised.outlasted_tasks);
                }
                for (task, needs) in booked.tasks().iter().enumerate() {
                    let lengths = of(TaskFate::Stopped)
                        .filter(|run| run.task as usize == task)
                        .map(|run| run.end - run.start);
                    let mut length = needs.runtimes[0];
                    for stopped in lengths {
                        prop_assert_eq!(stopped, length);
                        length = length * 2;
                    }
                }
                if search == SearchMethod::Greedy {
                    let ran: i64 = of(TaskFate::Done)
                        .map(|run| run.nodes.for_span(run.end - run.start).0).sum();
                    let others: i64 = of(TaskFate::Done)
                        .map(|run| outcome.slots[run.slot.unwrap() as usize].externality.0).sum();
                    let told = NodeSeconds(ran + others).coins().0 + realised.wasted + realised.after_ends;
                    prop_assert!((told - realised.cost).abs() < 1e-6, "{} of {}", told, realised.cost);
                }
            }
        }
    }
}
