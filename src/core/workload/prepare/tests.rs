//! How tight estimates are, in what is learned from and in what is evaluated.

use super::*;
use crate::random::{self, Stream};
use crate::units::{Nodes, Seconds};
use crate::workload::battery::{Batteries, split};
use crate::workload::job::JobId;
use crate::workload::settings::{WholeTrace, WorkloadSource};
use crate::workload::whole::whole;
use crate::workload::{Compression, EarlyEnds, FirstJobs, LoadTime, Tightness, WhichEstimate};

const HALF: Tightness = Tightness::of(0.5);

fn settings(tightness: Option<Tightness>, compression: Compression) -> WorkloadSettings {
    WorkloadSettings {
        evaluation_jobs: 2,
        battery_jobs: 2,
        compression,
        tightness,
        ..WorkloadSettings::of(
            WorkloadSource::Trace {
                file: "test.swf".to_owned(),
            },
            Nodes(10),
        )
    }
}

/// Estimates 100, 50 and 100, run times 40, 90 (an overrun) and 60; the first is for learning.
fn recorded() -> Vec<Job> {
    [(0, 100, 40), (100, 50, 90), (150, 100, 60)]
        .map(|(submit, estimate, runtime)| {
            Job::rigid(JobId(0), Seconds(submit), Nodes(2), Seconds(estimate))
                .running_for(Seconds(runtime))
        })
        .into()
}

fn chances() -> Stream {
    random::stream(1, "test", 0, "early ends")
}

fn batteries(settings: &WorkloadSettings) -> (FirstJobs, Batteries) {
    let usable = EstimatedJobs::of(recorded(), settings, chances());
    split("test", 3, &usable, settings, 0).unwrap()
}

fn times(jobs: &[Job]) -> Vec<(i64, i64, i64)> {
    let times = |job: &Job| (job.submit.0, job.estimate.0, job.deadline.0);
    jobs.iter().map(times).collect()
}

#[test]
fn estimates_are_tightened_in_what_is_learned_from_and_in_what_is_evaluated() {
    let factor = Compression::Factor { factor: 1.0 };
    let (learning, evaluated) = batteries(&settings(Some(HALF), factor));
    // 40 + 0.5 · 60 = 70 and 60 + 0.5 · 40 = 80; the overrun keeps its 50.
    assert_eq!(times(&learning), [(0, 70, 140)]);
    assert_eq!(
        times(&evaluated.batteries[0]),
        [(0, 50, 100), (50, 80, 210)]
    );
    assert_eq!(evaluated.batteries[0][0].runtime, Seconds(90));
}

#[test]
fn early_ends_shorten_what_is_learned_from_and_what_is_evaluated_and_no_estimate() {
    let factor = Compression::Factor { factor: 1.0 };
    let all_stay_away = WorkloadSettings {
        early_ends: Some(EarlyEnds {
            no_show_percent: 100.0,
            crashes_per_hour: 0.0,
        }),
        ..settings(Some(HALF), factor)
    };
    let (learning, evaluated) = batteries(&all_stay_away);
    // Estimates and deadlines are those of users who know the recorded run times.
    assert_eq!(times(&learning), [(0, 70, 140)]);
    assert_eq!(
        times(&evaluated.batteries[0]),
        [(0, 50, 100), (50, 80, 210)]
    );
    let runs = learning.iter().chain(evaluated.batteries[0].iter());
    assert!(runs.into_iter().all(|job| job.runtime == Seconds(1)));
    assert_ne!(
        all_stay_away.key(),
        settings(Some(HALF), factor).key(),
        "other jobs have another name"
    );
}

#[test]
fn deadlines_may_follow_the_recorded_estimates() {
    let tightness = Tightness {
        deadline: WhichEstimate::Recorded,
        ..HALF
    };
    let factor = Compression::Factor { factor: 1.0 };
    let (learning, evaluated) = batteries(&settings(Some(tightness), factor));
    assert_eq!(times(&learning), [(0, 70, 200)]);
    assert_eq!(
        times(&evaluated.batteries[0]),
        [(0, 50, 100), (50, 80, 250)]
    );
}

#[test]
fn a_load_counts_the_estimates_that_jobs_ask_for_or_the_recorded_ones() {
    // By those asked for (2 · 50 + 2 · 80) / (10 · 50) = 0.52, by the recorded ones
    // (2 · 50 + 2 · 100) / (10 · 50) = 0.6; the factor is the load divided by 2.
    for (load, factor) in [
        (WhichEstimate::Tightened, 0.26),
        (WhichEstimate::Recorded, 0.3),
    ] {
        let tightness = Tightness { load, ..HALF };
        for compression in [
            Compression::target_load(2.0),
            Compression::battery_load(2.0),
        ] {
            let (_, evaluated) = batteries(&settings(Some(tightness), compression));
            assert_eq!(evaluated.factors, [factor]);
            assert_eq!(evaluated.offered_load, Some(0.52), "what the jobs ask for");
            assert_eq!(evaluated.batteries[0][1].estimate, Seconds(80));
        }
    }
    let (load, time) = (2.0, LoadTime::Runtimes);
    let runtimes = Compression::TargetLoad { load, time };
    let (_, tight) = batteries(&settings(Some(HALF), runtimes));
    let (_, recorded) = batteries(&settings(None, runtimes));
    assert_eq!(
        tight.factors, recorded.factors,
        "nobody runs shorter or longer"
    );
}

#[test]
fn the_load_of_a_whole_trace_counts_them_in_the_same_way() {
    // 2 · (70 + 50 + 80) / (10 · 150) and 2 · (100 + 50 + 100) / (10 · 150).
    for (load, offered) in [
        (WhichEstimate::Tightened, 400.0 / 1_500.0),
        (WhichEstimate::Recorded, 500.0 / 1_500.0),
    ] {
        let tightness = Some(Tightness { load, ..HALF });
        let all = WholeTrace::default();
        let settings = WorkloadSettings {
            whole: Some(all.clone()),
            ..settings(tightness, Compression::target_load(0.5))
        };
        let usable = EstimatedJobs::of(recorded(), &settings, chances());
        let stream = |key: &str| random::stream(1, key, 0, "trace copy");
        let (jobs, factor) = whole("test", 3, &usable, &settings, &all, stream).unwrap();
        assert_eq!(factor, offered / 0.5);
        let estimates: Vec<i64> = jobs.iter().map(|job| job.estimate.0).collect();
        assert_eq!(estimates, [70, 50, 80]);
    }
}

#[test]
fn a_share_of_all_gives_the_jobs_that_no_tightness_gives() {
    let load = Compression::target_load(2.0);
    let all = batteries(&settings(Some(Tightness::of(1.0)), load));
    assert_eq!(all, batteries(&settings(None, load)));
}
