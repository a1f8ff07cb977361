//! Best effort by other rules for its queues.

use super::*;
use crate::provisioning::{CancelledCopies, QueueChoice};

/// Best effort of one application at running sites.
fn committed(queue_choice: QueueChoice) -> ProvisioningSettings {
    ProvisioningSettings {
        commitment: Commitment::Committed { submissions: 1 },
        queue_choice,
        ..settings_of(
            queried(),
            SearchMethod::BestEffort,
            Wish::TradeOff { alpha: 0.0 },
        )
    }
}

fn task(nodes: u32, seconds: i64, sites: usize, parents: &[usize]) -> ApplicationTask {
    let dependency = |&parent| Dependency {
        parent,
        transfer: Seconds(7),
    };
    ApplicationTask {
        nodes: Nodes(nodes),
        runtimes: vec![Seconds(seconds); sites],
        parents: parents.iter().map(dependency).collect(),
    }
}

/// Site and start of each task, the copies that were cancelled, and when jobs of others started
/// beside the application, by site.
type Told = (
    Vec<(usize, i64)>,
    CancelledCopies,
    Vec<Vec<(u32, Option<i64>)>>,
);

/// What becomes of an application that is submitted at 10 s; on forks it is the same.
fn played(sites: &[(u32, Vec<Job>)], tasks: Vec<ApplicationTask>, copies: u32) -> Told {
    let settings = committed(QueueChoice::Redundant { copies });
    let order = (0..tasks.len()).collect();
    let application = Application::new(tasks, order);
    let sites = sites.iter().cloned();
    let sites = sites.map(|(nodes, jobs)| workload(nodes, jobs)).collect();
    let inputs = inputs_of(sites, application, &settings, &[Seconds(10)]);
    let run = simulate(&inputs, &settings, &seed_of(1)).unwrap();
    let outcome = &run.outcomes[0];
    let best_effort = outcome.best_effort.as_ref().unwrap();
    let placed = |run: &TaskRun| (run.site, run.start.0);
    let tasks: Vec<_> = outcome.tasks.iter().map(placed).collect();
    for (run, placed) in outcome.tasks.iter().zip(&best_effort.placements) {
        assert_eq!((run.site, run.start), (placed.site, placed.start));
    }
    assert_eq!(outcome.realised.cancelled, best_effort.cancelled);
    let started = run.started.iter().map(|site| {
        let starts = site
            .iter()
            .map(|(job, start)| (job.0, start.map(|it| it.0)));
        let mut starts: Vec<_> = starts.collect();
        starts.sort_unstable();
        starts
    });
    (tasks, outcome.realised.cancelled, started.collect())
}

/// The first site is full until 60 s, the second until 50 s. So the first task starts at the second
/// site at 50 s, and its copy at the first is cancelled then. The job behind that copy, which would
/// have waited for its end at 160 s, starts at 60 s. The second task is ready at 150 s: at once at
/// the second site, where it starts, and at 157 s at the first, where its copy, of a transfer of
/// 7 s, is cancelled on the way.
#[test]
fn of_two_copies_the_first_to_start_cancels_the_other_and_nobody_waits_for_that() {
    let first = (2, vec![job(0, 0, 2, 60), job(1, 20, 2, 10)]);
    let second = (2, vec![job(0, 0, 2, 50)]);
    let tasks = vec![task(1, 100, 2, &[]), task(1, 50, 2, &[0])];
    let (placed, cancelled, started) = played(&[first, second], tasks, 2);
    assert_eq!(placed, [(1, 50), (1, 150)]);
    let expected = CancelledCopies {
        number: 2,
        transfers: Seconds(7),
    };
    assert_eq!(cancelled, expected);
    assert_eq!(started[0], [(0, Some(0)), (1, Some(60))]);
}

/// Both sites are full until 60 s. Both copies could start then: that at the site with the lower
/// index does, and the other leaves its nodes in that second to the job behind it. No node-second
/// is wasted.
#[test]
fn of_two_copies_that_could_start_in_one_second_the_site_with_the_lower_index_has_it() {
    let sites = [
        (2, vec![job(0, 0, 2, 60)]),
        (2, vec![job(0, 0, 2, 60), job(1, 20, 2, 10)]),
    ];
    let (placed, cancelled, started) = played(&sites, vec![task(2, 100, 2, &[])], 2);
    assert_eq!(placed, [(0, 60)]);
    assert_eq!((cancelled.number, cancelled.transfers), (1, Seconds::ZERO));
    assert_eq!(started[1], [(0, Some(0)), (1, Some(60))]);
}

/// The second site lets the copy start at 50 s. At the first, one of two nodes is free, and a job
/// of one node waits behind the copy, which needs both: it starts in the second of the
/// cancellation, although that site had been visited before.
#[test]
fn a_site_that_was_visited_before_starts_what_a_cancellation_lets_start() {
    let sites = [
        (2, vec![job(0, 0, 1, 90), job(1, 20, 1, 100)]),
        (2, vec![job(0, 0, 2, 50)]),
    ];
    let (placed, cancelled, started) = played(&sites, vec![task(2, 100, 2, &[])], 2);
    assert_eq!(placed, [(1, 50)]);
    assert_eq!(cancelled.number, 1);
    assert_eq!(started[0], [(0, Some(0)), (1, Some(50))]);
}

/// Idle sites: of three copies the first starts in the second of the submission.
#[test]
fn copies_at_idle_sites_start_once() {
    let sites = [(2, Vec::new()), (2, Vec::new()), (1, Vec::new())];
    let tasks = vec![task(1, 100, 3, &[]), task(2, 100, 3, &[])];
    let (placed, cancelled, _) = played(&sites, tasks, 3);
    // The second is too wide for the third site.
    assert_eq!(placed, [(0, 10), (1, 10)]);
    assert_eq!(cancelled.number, 3);
}

/// Sites that keep rectangles can do neither.
#[test]
fn sites_whose_places_are_final_are_not_asked_for_predictions_or_cancellations() {
    let rules = [
        QueueChoice::PredictedWait { quantile: 0.5 },
        QueueChoice::Redundant { copies: 2 },
    ];
    for queue_choice in rules {
        let fewest = ProvisioningSettings {
            provider: rectangles(),
            ..committed(QueueChoice::FewestTasks)
        };
        let settings = ProvisioningSettings {
            queue_choice,
            ..fewest.clone()
        };
        let sites = vec![workload(2, Vec::new()), workload(2, Vec::new())];
        let application = Application::new(vec![task(1, 100, 2, &[])], vec![0]);
        let inputs = inputs_of(sites, application, &fewest, &[Seconds(10)]);
        let refused = simulate(&inputs, &settings, &seed_of(1)).unwrap_err();
        let expected = ProvisioningError::Broker(BrokerError::FinalPlaces { site: 0 });
        assert_eq!(refused, expected);
    }
}

fn rules() -> [QueueChoice; 5] {
    [
        QueueChoice::FewestTasks,
        QueueChoice::PredictedWait { quantile: 0.5 },
        QueueChoice::PredictedWait { quantile: 1.0 },
        QueueChoice::Redundant { copies: 2 },
        QueueChoice::Redundant { copies: 3 },
    ]
}

/// No second has more processors at work at a site than it has.
fn check_nodes(inputs: &ProvisioningInputs, run: &ProvisioningRun) -> Result<(), TestCaseError> {
    for (place, site) in inputs.sites.iter().enumerate() {
        let mut changes = Vec::new();
        let mut uses = |nodes: Nodes, start: Seconds, end: Seconds| {
            changes.push((start, i64::from(nodes.0)));
            changes.push((end, -i64::from(nodes.0)));
        };
        // What ended before the instant is not reported, and what is still there started before.
        let undisturbed = &inputs.background.starts[place];
        let told: BTreeMap<JobId, Option<Seconds>> = run.started[place].iter().copied().collect();
        for (job, before) in site.jobs.iter().zip(undisturbed) {
            let start = told.get(&job.id).copied().unwrap_or(*before);
            if let Some(start) =
                start.filter(|it| told.contains_key(&job.id) || *it <= Seconds(70_000))
            {
                uses(job.nodes, start, start + job.runtime);
            }
        }
        let tasks = run.outcomes.iter().flat_map(|outcome| &outcome.tasks);
        for task in tasks.filter(|task| task.site == place) {
            uses(task.nodes, task.start, task.end);
        }
        // Of one second, ends come first.
        changes.sort_unstable();
        let mut used = 0;
        for (_, change) in changes {
            used += change;
            prop_assert!(used <= i64::from(site.nodes.0));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// By every rule each task runs once, after its parents and their data, and no processor is
    /// used twice.
    #[test]
    fn by_every_rule_tasks_run_once_after_their_parents(
        seed in 0_u64..100_000,
        sites in 1_usize..5,
    ) {
        for rule in rules() {
            let mut settings = committed(rule);
            settings.commitment = Commitment::Committed { submissions: 2 };
            let application = application_of(seed, sites, 15, 10);
            let workloads = (0..sites).map(|site| drawn_site(seed, site)).collect();
            let instants = [Seconds(70_000), Seconds(72_000)];
            let inputs = inputs_of(workloads, application, &settings, &instants);
            let run = simulate(&inputs, &settings, &seed_of(seed)).unwrap();
            check(&inputs, &run)?;
            check_nodes(&inputs, &run)?;
            let copies = match rule {
                QueueChoice::Redundant { copies } => copies.min(sites as u32),
                _ => 1,
            };
            for outcome in &run.outcomes {
                prop_assert!(outcome.realised.completed);
                prop_assert_eq!(outcome.tasks.len(), 15);
                prop_assert_eq!(outcome.realised.cancelled.number, 15 * (copies - 1));
            }
        }
    }

    /// Of one queue, no copy is cancelled: it is the one with the fewest tasks.
    #[test]
    fn one_copy_is_fewest_tasks(seed in 0_u64..100_000, sites in 1_usize..5) {
        let run = |rule| {
            let settings = committed(rule);
            // A transfer that ends with the second of a job's arrival leaves their order open.
            let application = super::running_sites::without_transfers(&application_of(seed, sites, 15, 10));
            let workloads = (0..sites).map(|site| drawn_site(seed, site)).collect();
            let inputs = inputs_of(workloads, application, &settings, &[Seconds(70_000)]);
            simulate(&inputs, &settings, &seed_of(seed)).unwrap()
        };
        let one = run(QueueChoice::Redundant { copies: 1 });
        prop_assert_eq!(one, run(QueueChoice::FewestTasks));
    }
}
