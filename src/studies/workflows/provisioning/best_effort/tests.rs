use bookahead_core::units::Nodes;

use super::super::{ApplicationTask, Dependency, ProvisioningSettings};
use super::*;
use crate::provisioning::testutils::job;

fn task(nodes: u32, runtimes: [i64; 2], parents: &[usize]) -> ApplicationTask {
    ApplicationTask {
        nodes: Nodes(nodes),
        runtimes: runtimes.map(Seconds).to_vec(),
        parents: parents
            .iter()
            .map(|&parent| Dependency {
                parent,
                transfer: Seconds(7),
            })
            .collect(),
    }
}

fn site(nodes: u32, arrivals: &[Job]) -> BestEffortSite<'_> {
    let mut site = ProviderSite::new(Nodes(nodes), &ProvisioningSettings::default());
    site.pass_to(Seconds(10));
    BestEffortSite { site, arrivals }
}

fn fewest(application: &Application, sites: Vec<BestEffortSite<'_>>) -> Option<BestEffortRun> {
    best_effort(application, sites, QueueChoice::FewestTasks)
}

#[test]
fn a_task_waits_behind_jobs_that_came_while_its_parents_ran() {
    // The job takes the whole machine between the two tasks.
    let others = [job(0, 20, 2, 500)];
    let application = Application::new(
        vec![task(1, [100, 100], &[]), task(1, [50, 50], &[0])],
        vec![0, 1],
    );
    let run = fewest(&application, vec![site(2, &others)]).unwrap();
    let times: Vec<(i64, i64)> = run
        .placements
        .iter()
        .map(|placed| (placed.start.0, placed.end.0))
        .collect();
    assert_eq!(times, [(10, 110), (610, 660)]);
    assert_eq!(run.submitted, [Seconds(10), Seconds(110)]);
    assert_eq!(run.makespan, Seconds(650));
}

#[test]
fn a_task_goes_to_the_site_with_the_fewest_tasks_that_can_hold_it_and_waits_for_its_data_there() {
    let others = [job(0, 50, 1, 1_000)];
    let mut busy = site(4, &others);
    busy.hand_over(Seconds(60));
    let application = Application::new(
        vec![task(3, [100, 60], &[]), task(1, [100, 60], &[0])],
        vec![0, 1],
    );
    // The first is too wide for the second site; when it has ended, the first site holds one job
    // more.
    let run = fewest(&application, vec![busy, site(2, &[])]).unwrap();
    let places: Vec<(usize, i64, i64)> = run
        .placements
        .iter()
        .map(|placed| (placed.site, placed.start.0, placed.end.0))
        .collect();
    assert_eq!(places, [(0, 10, 110), (1, 117, 177)]);
}

/// Two of one node fit at once on each site: what was sent to the first counts for the next.
#[test]
fn tasks_that_are_ready_together_spread_over_the_sites() {
    let application = Application::new(vec![task(1, [100, 100], &[]); 4], vec![0, 1, 2, 3]);
    let run = fewest(&application, vec![site(2, &[]), site(2, &[])]).unwrap();
    let sites: Vec<usize> = run.placements.iter().map(|placed| placed.site).collect();
    assert_eq!(sites, [0, 1, 0, 1]);
    assert_eq!(run.makespan, Seconds(100));
}

/// The data of the third takes 7 s to the second site and is on its way when the fourth becomes
/// ready, after 3 s.
#[test]
fn a_task_counts_at_its_site_while_its_data_is_on_the_way() {
    let others = [job(0, 11, 1, 1_000)];
    let mut busy = site(8, &others);
    busy.hand_over(Seconds(60));
    // The first two are too wide for the second site.
    let application = Application::new(
        vec![
            task(3, [100, 100], &[]),
            task(3, [103, 103], &[]),
            task(1, [50, 50], &[0]),
            task(1, [50, 50], &[1]),
        ],
        vec![0, 1, 2, 3],
    );
    let run = fewest(&application, vec![busy, site(2, &[])]).unwrap();
    // At 110 s the job and the second task are at the first site; at 113 s the job is there, and
    // the third task is on its way.
    let sites: Vec<usize> = run.placements.iter().map(|placed| placed.site).collect();
    assert_eq!(sites, [0, 0, 1, 0]);
    assert_eq!(run.submitted[2..], [Seconds(117), Seconds(113)]);
}

#[test]
fn a_task_wider_than_every_site_cannot_be_run() {
    let application = Application::new(vec![task(3, [1, 1], &[])], vec![0]);
    assert_eq!(fewest(&application, vec![site(2, &[])]), None);
}

/// A site of 4 nodes on which a job took all of them until `wait`, and another, of one node, waited
/// for that and still runs; and one of 2 nodes that no job has ever come to.
fn beside_one_without_history<'a>(
    settings: &ProvisioningSettings,
    wait: i64,
) -> Vec<BestEffortSite<'a>> {
    let mut with_history = ProviderSite::new(Nodes(4), settings);
    with_history.submit([job(0, 0, 4, wait), job(1, 0, 1, 1_000)]);
    let mut without = ProviderSite::new(Nodes(2), settings);
    let arrivals = &[];
    with_history.pass_to(Seconds(10));
    without.pass_to(Seconds(10));
    [with_history, without]
        .map(|site| BestEffortSite { site, arrivals })
        .into()
}

/// The first task, of 3 nodes, fits the first site alone and runs there from 10 s to 110 s. Three
/// jobs have started there by then, after waits of 0 s, w and 0 s; the largest is predicted. So the
/// second task is predicted to start there at 110 + w. At the second site, which has no history, no
/// wait is predicted, and its data is there at 117 s. At w = 5 it stays and starts at once, at 10
/// it goes. At 7 both are equal, and the second site has fewer tasks.
#[test]
fn a_task_goes_where_data_and_predicted_wait_let_it_start_first() {
    let queue_choice = QueueChoice::PredictedWait { quantile: 1.0 };
    let settings = ProvisioningSettings {
        queue_choice,
        ..ProvisioningSettings::default()
    };
    let tasks = vec![task(3, [100, 100], &[]), task(1, [50, 50], &[0])];
    let application = Application::new(tasks, vec![0, 1]);
    let second = |wait: i64, queue_choice| {
        let sites = beside_one_without_history(&settings, wait);
        let run = best_effort(&application, sites, queue_choice).unwrap();
        (run.placements[1].site, run.placements[1].start.0)
    };
    assert_eq!(second(5, queue_choice), (0, 110));
    assert_eq!(second(7, queue_choice), (1, 117));
    assert_eq!(second(10, queue_choice), (1, 117));
    // The median of the three waits is 0.
    let median = QueueChoice::PredictedWait { quantile: 0.5 };
    assert_eq!(second(10, median), (0, 110));
}

#[test]
fn sites_that_remember_no_waits_or_keep_rectangles_do_not_serve_other_rules() {
    let application = Application::new(vec![task(1, [1, 1], &[])], vec![0]);
    let predicted = QueueChoice::PredictedWait { quantile: 0.5 };
    assert_eq!(
        best_effort(&application, vec![site(2, &[])], predicted),
        None
    );
    let settings = ProvisioningSettings {
        provider: crate::provisioning::testutils::rectangles(),
        ..ProvisioningSettings::default()
    };
    for choice in [predicted, QueueChoice::Redundant { copies: 2 }] {
        let site = BestEffortSite {
            site: ProviderSite::new(Nodes(2), &settings),
            arrivals: &[],
        };
        assert_eq!(best_effort(&application, vec![site], choice), None);
    }
}
