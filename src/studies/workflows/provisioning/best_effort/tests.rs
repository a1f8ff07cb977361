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

#[test]
fn a_task_waits_behind_jobs_that_came_while_its_parents_ran() {
    // The job takes the whole machine between the two tasks.
    let others = [job(0, 20, 2, 500)];
    let application = Application::new(
        vec![task(1, [100, 100], &[]), task(1, [50, 50], &[0])],
        vec![0, 1],
    );
    let run = best_effort(&application, vec![site(2, &others)]).unwrap();
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
    let run = best_effort(&application, vec![busy, site(2, &[])]).unwrap();
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
    let run = best_effort(&application, vec![site(2, &[]), site(2, &[])]).unwrap();
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
    let run = best_effort(&application, vec![busy, site(2, &[])]).unwrap();
    // At 110 s the job and the second task are at the first site; at 113 s the job is there, and
    // the third task is on its way.
    let sites: Vec<usize> = run.placements.iter().map(|placed| placed.site).collect();
    assert_eq!(sites, [0, 0, 1, 0]);
    assert_eq!(run.submitted[2..], [Seconds(117), Seconds(113)]);
}

#[test]
fn a_task_wider_than_every_site_cannot_be_run() {
    let application = Application::new(vec![task(3, [1, 1], &[])], vec![0]);
    assert_eq!(best_effort(&application, vec![site(2, &[])]), None);
}
