//! Memory of sites, and tasks that run on one make of sites alone (Singh 2008, §3, p. 17–18).

use bookahead_core::units::Megabytes;
use bookahead_core::workload::{Job, JobId};
use bookahead_reservations::replanning::MachineMemory;

use super::*;

/// S7 of the addendum in hours and gigabytes of 1,000 MB: 5 processors and 10 GB, of which a job of
/// 3 processors and 8 GB holds its part until 2.
fn site(per_reserved_node: u32) -> SiteWorkload {
    let job = Job::rigid(JobId(0), Seconds::ZERO, Nodes(3), Seconds::HOUR * 2);
    SiteWorkload {
        memory: Some(MachineMemory {
            size: Megabytes(10_000),
            per_reserved_node: Megabytes(per_reserved_node),
        }),
        ..workload(5, vec![job.with_memory(Megabytes(8_000))])
    }
}

/// One task of 2 processors and an hour, which takes so much memory with each of them.
fn task_with(memory: u32) -> Application {
    let task = ApplicationTask {
        nodes: Nodes(2),
        runtimes: vec![Seconds::HOUR; 2],
        parents: Vec::new(),
    };
    Application::new(vec![task], vec![0]).with_memory(Megabytes(memory))
}

/// Sites that count memory, with every search that they allow.
fn counting_kinds() -> Vec<(Provider, SearchMethod)> {
    let mut kinds = kinds();
    kinds.retain(|(provider, _)| *provider != rectangles());
    kinds
}

fn started(
    sites: Vec<SiteWorkload>,
    application: Application,
    settings: &ProvisioningSettings,
) -> Vec<(usize, Seconds)> {
    let inputs = inputs_of(sites, application, settings, &[Seconds::ZERO]);
    let run = simulate(&inputs, settings, &seed_of(1)).unwrap();
    let tasks = run.outcomes[0].tasks.iter();
    tasks.map(|task| (task.site, task.start)).collect()
}

#[test]
fn a_task_waits_for_memory_beside_its_processors_however_it_is_planned() {
    let wish = Wish::TradeOff { alpha: 1.0 };
    for (provider, search) in counting_kinds() {
        let settings = settings_of(provider, search, wish);
        let start = |memory: u32| started(vec![site(memory)], task_with(memory), &settings);
        // 2 GB are free until 2 h: enough for 1 GB a processor, and not for 2 GB.
        assert_eq!(start(1_000), [(0, Seconds::ZERO)], "{search:?}");
        assert_eq!(start(2_000), [(0, Seconds::HOUR * 2)], "{search:?}");
        // At most 5 GB a processor can be had at all.
        assert_eq!(start(5_000), [(0, Seconds::HOUR * 2)], "{search:?}");
    }
}

#[test]
fn a_task_whose_memory_a_site_does_not_have_goes_to_another() {
    let wish = Wish::TradeOff { alpha: 0.0 };
    let large = SiteWorkload {
        memory: Some(MachineMemory {
            size: Megabytes(20_000),
            per_reserved_node: Megabytes(6_000),
        }),
        ..site(6_000)
    };
    for (provider, search) in counting_kinds() {
        let settings = settings_of(provider, search, wish);
        let sites = vec![site(6_000), large.clone()];
        let starts = started(sites, task_with(6_000), &settings);
        assert_eq!(starts, [(1, Seconds::ZERO)], "{search:?}");
    }
}

#[test]
fn a_task_that_runs_on_one_make_waits_for_it_however_it_is_planned() {
    let wish = Wish::TradeOff { alpha: 1.0 };
    let busy = workload(2, vec![job(0, 0, 2, 7_200)]);
    for (provider, search) in kinds() {
        let settings = settings_of(provider, search, wish);
        let sites = vec![workload(2, Vec::new()), busy.clone()];
        let free = started(sites.clone(), task_with(0), &settings);
        assert_eq!(free, [(0, Seconds::ZERO)], "{search:?}");
        let bound = task_with(0).running_at(vec![vec![false, true]]);
        let waits = started(sites, bound, &settings);
        assert_eq!(waits, [(1, Seconds(7_200))], "{search:?}");
    }
}

/// Of a site of 1,000 s and one of 500 s, the task runs at the slow one: that is its longest path
/// and what it costs at least.
#[test]
fn bounds_of_an_application_are_those_of_sites_at_which_its_tasks_run() {
    let task = ApplicationTask {
        nodes: Nodes(2),
        runtimes: vec![Seconds(1_000), Seconds(500)],
        parents: Vec::new(),
    };
    let anywhere = Application::new(vec![task], vec![0]);
    let bound = anywhere.clone().running_at(vec![vec![true, false]]);
    let bounds = |application: &Application| (application.longest_path(), application.least_cost());
    assert_eq!(bounds(&anywhere), (Seconds(500), 1_000.0));
    assert_eq!(bounds(&bound), (Seconds(1_000), 2_000.0));
    let (rest, _) = bound.rest(|_| true, |_| (0, Seconds::ZERO));
    assert_eq!(bounds(&rest), (Seconds(1_000), 2_000.0));
}
