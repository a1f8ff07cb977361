//! Best effort at running sites.

use super::*;
use crate::provisioning::QueueChoice;

/// Two of one node fit at once on each site, and those of the first application count for the
/// second, which is queued behind them.
#[test]
fn tasks_that_are_ready_together_spread_over_running_sites() {
    for provider in [queried(), rectangles()] {
        let mut settings = settings_of(
            provider,
            SearchMethod::BestEffort,
            Wish::TradeOff { alpha: 0.0 },
        );
        settings.commitment = Commitment::Committed { submissions: 2 };
        let task = ApplicationTask {
            nodes: Nodes(1),
            runtimes: vec![HOUR; 2],
            parents: Vec::new(),
        };
        let application = Application::new(vec![task; 4], vec![0, 1, 2, 3]);
        let sites = vec![workload(2, Vec::new()), workload(2, Vec::new())];
        let instants = [Seconds(10), Seconds(20)];
        let inputs = inputs_of(sites, application, &settings, &instants);
        let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
        let told = |outcome: &ProvisioningOutcome| {
            let sites: Vec<usize> = outcome.tasks.iter().map(|run| run.site).collect();
            (sites, outcome.realised.makespan)
        };
        assert_eq!(told(&run.outcomes[0]), (vec![0, 1, 0, 1], HOUR));
        assert_eq!(
            told(&run.outcomes[1]),
            (vec![0, 1, 0, 1], HOUR * 2 - Seconds(10))
        );
    }
}

/// The data of the third takes 7 s to the second site and is on its way when the fourth becomes
/// ready, after 3 s.
#[test]
fn a_task_counts_at_its_running_site_while_its_data_is_on_the_way() {
    for provider in [queried(), rectangles()] {
        let mut settings = settings_of(
            provider,
            SearchMethod::BestEffort,
            Wish::TradeOff { alpha: 0.0 },
        );
        settings.commitment = Commitment::Committed { submissions: 1 };
        let task = |nodes, seconds, parents: &[usize]| ApplicationTask {
            nodes: Nodes(nodes),
            runtimes: vec![Seconds(seconds); 2],
            parents: parents
                .iter()
                .map(|&parent| Dependency {
                    parent,
                    transfer: Seconds(7),
                })
                .collect(),
        };
        // The first two are too wide for the second site.
        let tasks = vec![
            task(3, 100, &[]),
            task(3, 103, &[]),
            task(1, 50, &[0]),
            task(1, 50, &[1]),
        ];
        let application = Application::new(tasks, vec![0, 1, 2, 3]);
        let sites = vec![
            workload(8, vec![job(0, 11, 1, 1_000)]),
            workload(2, Vec::new()),
        ];
        let inputs = inputs_of(sites, application, &settings, &[Seconds(10)]);
        let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
        let told: Vec<(usize, Seconds)> = run.outcomes[0]
            .tasks
            .iter()
            .map(|run| (run.site, run.start))
            .collect();
        let expected = [(0, 10), (0, 10), (1, 117), (0, 113)];
        assert_eq!(told, expected.map(|(site, start)| (site, Seconds(start))));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// One application at running sites is the baseline on forks of them, which was written
    /// otherwise.
    #[test]
    fn best_effort_at_running_sites_is_best_effort_on_forks(
        seed in 0_u64..100_000,
        sites in 1_usize..4,
    ) {
        let rules = [
            (rectangles(), QueueChoice::FewestTasks),
            (queried(), QueueChoice::FewestTasks),
            (queried(), QueueChoice::PredictedWait { quantile: 0.7 }),
            (queried(), QueueChoice::Redundant { copies: 2 }),
            (queried(), QueueChoice::Redundant { copies: 3 }),
        ];
        for (provider, queue_choice) in rules {
            let mut settings = settings_of(provider, SearchMethod::BestEffort, Wish::TradeOff { alpha: 0.0 });
            settings.commitment = Commitment::Committed { submissions: 1 };
            settings.queue_choice = queue_choice;
            let application = without_transfers(&application_of(seed, sites, 15, 6));
            let workloads = (0..sites).map(|site| drawn_site(seed, site)).collect();
            let inputs = inputs_of(workloads, application, &settings, &[Seconds(70_000)]);
            let run = simulate(&inputs, &settings, &seed_of(seed)).unwrap();
            let outcome = &run.outcomes[0];
            let best_effort = outcome.best_effort.as_ref().unwrap();
            for run in &outcome.tasks {
                let placed = best_effort.placements[run.task as usize];
                prop_assert_eq!((run.site, run.start, run.end), (placed.site, placed.start, placed.end));
            }
            prop_assert_eq!(outcome.tasks.len(), 15);
            prop_assert!(outcome.realised.completed);
            prop_assert_eq!(outcome.realised.makespan, best_effort.makespan);
            prop_assert_eq!(outcome.realised.cost, best_effort.cost);
            prop_assert_eq!(outcome.realised.cancelled, best_effort.cancelled);
        }
    }
}

/// With transfers, whose ends may fall on the second of somebody's arrival, the order of the two in
/// the queue is open.
pub(super) fn without_transfers(application: &Application) -> Application {
    let mut tasks = application.tasks().to_vec();
    for task in &mut tasks {
        for dependency in &mut task.parents {
            dependency.transfer = Seconds::ZERO;
        }
    }
    Application::new(tasks, application.order().to_vec())
}
