//! Sites of provisioning studies on real logs: brought to the loads of the thesis, replayed, and
//! held against slower twins.

use std::sync::Arc;

use bookahead::kernel::drive;
use bookahead::plan::SlotRules;
use bookahead::scheduling::JobOutcome;
use bookahead::units::{NodeSeconds, Nodes, Seconds};
use bookahead::workload::{
    Job, TraceFolder, WholeTrace, WorkloadSettings, WorkloadSource, prepare,
};
use bookahead_reservations::replanning::{
    JobMarks, ReplanningRun, ReplanningSettings, replanning_scene,
};
use bookahead_reservations::slots::{SlotSource, SlotStudySettings, slot_scene};
use bookahead_workflows::provisioning::{
    Background, LOAD_TOLERANCE, Provider, ProvisioningSettings, SiteWorkload, common_window,
    draw_instants, load_site,
};

const CTC: (&str, u32) = ("CTC-SP2-1996-3.1-cln.swf", 430);
const SDSC: (&str, u32) = ("SDSC-SP2-1998-4.2-cln.swf", 128);

/// A whole log with exact estimates, and the text that names it; `None` where the logs are not on
/// this machine.
fn log((file, nodes): (&str, u32), days: Option<f64>) -> Option<(Arc<[Job]>, String)> {
    let settings = WorkloadSettings {
        evaluation_jobs: 1,
        battery_jobs: 1,
        whole: Some(WholeTrace {
            days,
            copy: None,
            exact_estimates: true,
            ..WholeTrace::default()
        }),
        ..WorkloadSettings::of(
            WorkloadSource::Trace {
                file: file.to_owned(),
            },
            Nodes(nodes),
        )
    };
    let Some(folder) = std::env::var_os("BOOKAHEAD_TRACES") else {
        println!("skipped: needs the folder of traces that BOOKAHEAD_TRACES names");
        return None;
    };
    let prepared =
        prepare(&settings, &TraceFolder::new(folder), 1).expect("a log that can be read");
    // The name does not depend on the days: only the beginning of the draws is used then.
    Some((Arc::clone(&prepared.batteries[0]), file.to_owned()))
}

fn site(log_of: (&str, u32), days: Option<f64>, wanted: Option<f64>) -> Option<SiteWorkload> {
    let (jobs, key) = log(log_of, days)?;
    let loaded = load_site(log_of.0, jobs, (Nodes(log_of.1), None), wanted, 1, &key);
    Some(loaded.expect("a load within reach"))
}

fn advertised(source: SlotSource, merge_identical: bool) -> ProvisioningSettings {
    let rules = SlotRules {
        merge_identical,
        ..SlotRules::default()
    };
    ProvisioningSettings {
        provider: Provider::Advertised { source, rules },
        ..ProvisioningSettings::default()
    }
}

/// What runs within a window, in percent, second twin of the measure that loads are brought to.
fn busy_percent(outcomes: &[JobOutcome], nodes: Nodes, window: (Seconds, Seconds)) -> f64 {
    let mut used = NodeSeconds(0);
    for outcome in outcomes {
        if let (Some(start), Some(end)) = (outcome.start, outcome.end) {
            let span = end.min(window.1) - start.max(window.0);
            used += outcome.job.nodes.for_span(span.max(Seconds::ZERO));
        }
    }
    100.0 * used.0 as f64 / nodes.for_span(window.1 - window.0).0 as f64
}

/// Jobs alone, on a machine that plans anew at every event.
fn simulate(nodes: Nodes, settings: &ReplanningSettings, jobs: &[Job]) -> ReplanningRun {
    let (jobs, failures) = (jobs.into(), Arc::default());
    let (nothing, marks) = (Arc::default(), JobMarks::default());
    let scene = replanning_scene(nodes, settings, &jobs, &nothing, &marks, &failures);
    ReplanningRun::of(drive(scene, true))
}

#[test]
fn the_loads_of_the_thesis_are_reached_on_the_machine_that_plans_anew_at_every_event() {
    for (log_of, levels) in [
        (CTC, &[63.0, 76.0, 88.0][..]),
        (SDSC, &[70.0, 78.0, 84.0, 90.0][..]),
    ] {
        let mut jobs = 0;
        for &wanted in levels {
            let Some(site) = site(log_of, None, Some(wanted)) else {
                return;
            };
            let settings = ReplanningSettings::default();
            let run = simulate(site.nodes, &settings, &site.jobs);
            let busy = busy_percent(&run.jobs, site.nodes, site.load.window);
            assert!((busy - wanted).abs() <= LOAD_TOLERANCE, "{wanted}: {busy}");
            assert!((busy - site.load.utilisation_percent).abs() < 1e-9);
            assert!(site.jobs.len() > jobs);
            jobs = site.jobs.len();
        }
    }
}

#[test]
fn a_replay_on_free_rectangles_starts_every_job_of_the_log_when_the_study_of_slots_does() {
    for log_of in [CTC, SDSC] {
        let Some(site) = site(log_of, None, None) else {
            return;
        };
        let sites = [site];
        let instants = draw_instants(common_window(&sites).unwrap(), 1, 50);
        let settings = advertised(SlotSource::FreeRectangles, true);
        let background = Background::replay(&sites, &settings, &instants);
        let Provider::Advertised { rules, .. } = settings.provider else {
            panic!("it advertises");
        };
        let alone = SlotStudySettings {
            source: SlotSource::FreeRectangles,
            rules,
            sample_period: Seconds::ZERO,
        };
        let scene = slot_scene(&sites[0].jobs, sites[0].nodes, &alone, true);
        let run = drive(scene, false).machine.finish();
        let starts: Vec<_> = run.jobs.iter().map(|outcome| outcome.start).collect();
        assert_eq!(background.starts[0], starts);
        for (instant, snapshot) in instants.iter().zip(&background.snapshots) {
            assert_eq!(snapshot[0].now(), *instant);
            let in_system = sites[0].jobs.iter().zip(&starts).filter(|(job, start)| {
                let end = start.map(|start| start + job.runtime.max(Seconds(1)));
                job.submit <= *instant && end.is_some_and(|end| end > *instant)
            });
            assert_eq!(snapshot[0].tasks_in_system(), in_system.count());
        }
    }
}

#[test]
fn a_replay_of_a_planning_site_and_every_fork_of_it_end_as_the_machine_that_is_left_alone() {
    let Some(site) = site(SDSC, Some(60.0), Some(85.0)) else {
        return;
    };
    let sites = [site];
    let instants = draw_instants(common_window(&sites).unwrap(), 1, 10);
    let settings = ProvisioningSettings::default();
    let background = Background::replay(&sites, &settings, &instants);
    let run = simulate(sites[0].nodes, &settings.replanning, &sites[0].jobs);
    let starts: Vec<_> = run.jobs.iter().map(|outcome| outcome.start).collect();
    assert_eq!(background.starts[0], starts);
    for (place, instant) in instants.iter().enumerate() {
        let mut forks = background.fork(&sites, place);
        let mut fork = forks.remove(0);
        // Asking for prices changes nothing.
        assert!(
            fork.site
                .offers(*instant, Nodes(8), Seconds::HOUR)
                .is_some()
        );
        fork.site.submit(fork.arrivals.iter().cloned());
        fork.site.advance(Seconds::FAR);
        let outcomes = fork.site.take_job_outcomes();
        assert!(outcomes.len() >= fork.arrivals.len());
        for outcome in outcomes {
            assert_eq!(outcome.start, starts[outcome.job.id.0 as usize]);
        }
    }
}

#[test]
fn what_a_busy_site_advertises_is_free_for_everybody_to_buy() {
    for source in [SlotSource::FreeRectangles, SlotSource::Plan] {
        let Some(site) = site(SDSC, Some(60.0), Some(85.0)) else {
            return;
        };
        let sites = [site];
        let instants = draw_instants(common_window(&sites).unwrap(), 1, 5);
        let background = Background::replay(&sites, &advertised(source, true), &instants);
        for instant in 0..instants.len() {
            let mut fork = background.fork(&sites, instant).remove(0);
            let slots = fork.site.advertised();
            assert!(slots.len() > 3, "{source:?}: {}", slots.len());
            for (id, slot) in (0..).zip(&slots) {
                let id = bookahead::workload::RequestId(id);
                assert!(fork.site.buy(id, slot, slot.whole()), "{slot:?}");
            }
            // Nobody who is here already is delayed by all of it.
            fork.site.advance(Seconds::FAR);
            for outcome in fork.site.take_job_outcomes() {
                // Estimates are exact, so what was planned then is what happens without sales.
                let undisturbed = background.starts[0][outcome.job.id.0 as usize];
                assert_eq!(outcome.start, undisturbed);
            }
        }
    }
}
