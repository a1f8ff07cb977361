use std::sync::Arc;
use std::time::{Duration, Instant};

use super::*;
use crate::actors::simulate_clusters;
use crate::brokering::{Algorithm, ClusterWorkload, simulate_grid};
use crate::drawn_grid::situation;
use crate::units::Seconds;
use crate::workload::{
    CleaningRules, CoRequest, CoRequestId, Compression, JobId, Preference, TraceFolder,
    WorkloadSettings, WorkloadSource, prepare,
};

/// Runs both ways, compares, and says how long each took.
fn compare(
    grid: &Arc<GridInputs>,
    settings: &CoReservationSettings,
    seed: &StreamSeed,
) -> (GridRun, Duration, Duration) {
    let began = Instant::now();
    let direct = simulate_grid(grid, settings, seed).unwrap();
    let alone = began.elapsed();
    let began = Instant::now();
    let acted = simulate_clusters(grid, settings, seed).unwrap();
    let acting = began.elapsed();
    assert!(acted == direct, "{settings:?}: {acted:?}\n{direct:?}");
    (direct, alone, acting)
}

#[test]
fn actors_and_the_direct_call_give_equal_results() {
    let mut granted = 0;
    for number in 0..150 {
        let situation = situation(number);
        let grid = Arc::new(situation.inputs);
        let seed = StreamSeed {
            seed: number,
            workload_key: "random".to_owned(),
            replication: 3,
        };
        let (direct, _, _) = compare(&grid, &situation.settings, &seed);
        let starts = direct.requests.iter().filter(|it| it.start.is_some());
        granted += starts.count();
    }
    assert!(granted > 150);
}

/// Four excerpts of SDSC Blue, and every tenth job of the first as the template of a request.
fn blue(folder: &TraceFolder) -> GridInputs {
    let settings = WorkloadSettings {
        source: WorkloadSource::Trace {
            file: "SDSC-BLUE-2000-4.2-cln.swf".to_owned(),
        },
        nodes: Nodes(1_160),
        evaluation_jobs: 6_000,
        battery_jobs: 1_500,
        cleaning: CleaningRules::default(),
        compression: Compression::Factor { factor: 1.0 },
        laxity: 2.0,
        whole: None,
        fresh: false,
    };
    let prepared = prepare(&settings, folder, 1).unwrap().batteries;
    let mut batteries: Vec<_> = prepared.iter().map(|jobs| jobs.to_vec()).collect();
    for (id, job) in (0..).zip(batteries.iter_mut().flatten()) {
        job.id = JobId(id);
    }
    let templates = batteries[0].iter().step_by(10);
    let requests = (0..).zip(templates).map(|(id, job)| {
        let earliest = job.submit + job.estimate * 3;
        CoRequest {
            id: CoRequestId(id),
            trace_number: job.trace_number,
            user: None,
            submit: job.submit,
            earliest,
            deadline: earliest + job.estimate + Seconds(job.estimate.0 * 6).min(Seconds(86_400)),
            duration: job.estimate,
            parts: vec![job.nodes, job.nodes],
            preference: Preference::default(),
        }
    });
    let requests = requests.collect();
    let clusters = batteries.into_iter().map(|jobs| ClusterWorkload {
        nodes: Nodes(1_160),
        jobs: jobs.into(),
        window_start: Seconds::ZERO,
        accuracy: 0.4,
    });
    GridInputs {
        clusters: clusters.collect(),
        requests,
        stop: Seconds(1_209_600),
        estimates: None,
    }
}

#[test]
fn actors_and_the_direct_call_give_equal_results_on_excerpts_of_a_log() {
    let Some(path) = std::env::var_os(TraceFolder::VARIABLE) else {
        println!("skipped: this test needs the folder of traces that BOOKAHEAD_TRACES names");
        return;
    };
    let grid = Arc::new(blue(&TraceFolder::new(path)));
    for (algorithm, _, _) in Algorithm::ALL {
        let mut settings = CoReservationSettings::default();
        settings.search.algorithm = *algorithm;
        let (direct, alone, acting) = compare(&grid, &settings, &StreamSeed::default());
        let granted = direct
            .requests
            .iter()
            .filter(|it| it.start.is_some())
            .count();
        let step: u32 = direct
            .requests
            .iter()
            .map(|it| it.messages.reservation_step())
            .sum();
        println!("{algorithm:?}: {granted} of 150, {step} messages, {alone:?}, actors {acting:?}");
        assert!(granted > 0 && direct.jobs.len() == 6_000);
        for outcome in direct.requests.iter().filter(|_| algorithm.row().probes) {
            // §10.3, 4: nobody comes between.
            let parts = outcome.clusters.len() as u32;
            assert_eq!(outcome.messages.reservation_step(), parts);
        }
        settings.messages.latency = Seconds(1);
        settings.messages.loss = 0.05;
        compare(&grid, &settings, &StreamSeed::default());
    }
}
