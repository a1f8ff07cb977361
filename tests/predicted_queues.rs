//! Queues that plan with predictions, against the published result files of Gaussier et al. 2015.

use bookahead::predictions::{
    Corrector, Features, LearnedSettings, Loss, PredictorSettings, SampleWeight, Side,
};
use bookahead::scheduling::queue::BackfillOrder;
use bookahead::units::Nodes;
use bookahead::workload::{
    CleaningRules, Job, Origin, ProcessorsField, TraceFolder, WholeTrace, WorkloadSettings,
    WorkloadSource, prepare,
};
use bookahead_queues::predicted_queue::{
    PredictedQueueSettings, QueueRules, QueueTotals, queue_jobs, simulate_predicted_queue,
};

/// The jobs of a log as the publication has them; `None` without the folder of traces.
fn jobs(file: &str, nodes: u32) -> Option<Vec<Job>> {
    let Some(folder) = std::env::var_os(TraceFolder::VARIABLE) else {
        println!("skipped: needs the folder of traces that BOOKAHEAD_TRACES names");
        return None;
    };
    let settings = WorkloadSettings {
        cleaning: CleaningRules {
            processors: ProcessorsField::RequestedElseAllocated,
            ..CleaningRules::default()
        },
        whole: Some(WholeTrace {
            origin: Origin::Log,
            ..WholeTrace::default()
        }),
        ..WorkloadSettings::of(
            WorkloadSource::Trace {
                file: file.to_owned(),
            },
            Nodes(nodes),
        )
    };
    let workload = prepare(&settings, &TraceFolder::new(folder), 1).expect("the log is read");
    Some(workload.batteries[0].to_vec())
}

fn totals(jobs: &[Job], nodes: u32, settings: &PredictedQueueSettings) -> QueueTotals {
    let queue = queue_jobs(jobs, Nodes(nodes), QueueRules::Gaussier2015);
    let outcomes = simulate_predicted_queue(&queue, Nodes(nodes), settings).expect("a predictor");
    QueueTotals::of(&queue, &outcomes, |_| true)
}

fn row(predictor: &str, corrector: Corrector, shortest_first: bool) -> PredictedQueueSettings {
    PredictedQueueSettings {
        predictor: predictor.to_owned(),
        corrector,
        backfill: if shortest_first {
            BackfillOrder::ShortestFirst
        } else {
            BackfillOrder::Queue
        },
        ..PredictedQueueSettings::default()
    }
}

fn learned(
    (over, under): (Side, Side),
    weight: SampleWeight,
    corrector: Corrector,
    shortest_first: bool,
) -> PredictedQueueSettings {
    PredictedQueueSettings {
        told: PredictorSettings {
            learned: LearnedSettings {
                loss: Loss {
                    over,
                    under,
                    ..Loss::default()
                },
                weight,
                features: Features::Published,
            },
            ..PredictorSettings::default()
        },
        ..row("learned", corrector, shortest_first)
    }
}

#[test]
fn rows_of_ctc_are_the_published_ones_to_all_printed_digits() {
    let Some(jobs) = jobs("CTC-SP2-1996-3.1-cln.swf", 338) else {
        return;
    };
    assert_eq!(jobs.len(), 77_199);
    let (linear, square) = (Side::Linear(1.0), Side::Square(1.0));
    let rows = [
        (
            row("request", Corrector::Request, false),
            49.571_29,
            228.340_6,
        ),
        (
            row("request", Corrector::Request, true),
            30.041_07,
            150.930_6,
        ),
        (
            row("double-request", Corrector::Request, true),
            30.397_41,
            163.291_8,
        ),
        (
            row("perfect", Corrector::Request, true),
            17.571_69,
            68.266_2,
        ),
        (
            row("average-of-two", Corrector::Increments, true),
            85.767_17,
            993.394_6,
        ),
        (
            row("average-of-two", Corrector::Doubling, false),
            69.388_85,
            725.421_2,
        ),
        (
            learned(
                (square, linear),
                SampleWeight::Large,
                Corrector::Increments,
                true,
            ),
            20.547_65,
            343.646,
        ),
        (
            learned(
                (square, square),
                SampleWeight::LongAndNarrow,
                Corrector::Doubling,
                false,
            ),
            65.305_71,
            341.582,
        ),
    ];
    for (settings, mean, root) in rows {
        let totals = totals(&jobs, 338, &settings);
        let name = format!("{} {:?}", settings.predictor, settings.corrector);
        let close = |found: f64, published: f64| (found - published).abs() < 2e-6 * published;
        assert!(close(totals.bounded_slowdown, mean), "{name}: {totals:?}");
        assert!(
            close(totals.bounded_slowdown_rms, root),
            "{name}: {totals:?}"
        );
    }
}

#[test]
fn rows_of_other_releases_of_a_log_are_within_a_fifth_of_a_percent() {
    let Some(jobs) = jobs("KTH-SP2-1996-2.1-cln.swf", 100) else {
        return;
    };
    assert_eq!(jobs.len(), 28_467);
    for (settings, published) in [
        (row("request", Corrector::Request, false), 92.576_54),
        (row("request", Corrector::Request, true), 69.405_4),
        (row("perfect", Corrector::Request, true), 49.847_72),
        (row("average-of-two", Corrector::Request, true), 62.856_88),
    ] {
        let found = totals(&jobs, 100, &settings).bounded_slowdown;
        assert!(
            (found / published - 1.0).abs() < 0.002,
            "{found} for {published}"
        );
    }
}

/// What the plan of a quantile promises comes true as often as was asked for, on every log.
#[test]
fn conformal_quantiles_keep_their_coverage() {
    for (file, nodes) in [
        ("KTH-SP2-1996-2.1-cln.swf", 100),
        ("SDSC-SP2-1998-4.2-cln.swf", 128),
    ] {
        let Some(jobs) = jobs(file, nodes) else {
            return;
        };
        let settings = row("conformal-quantile", Corrector::Request, true);
        let coverage = totals(&jobs, nodes, &settings).coverage;
        assert!((0.88..0.92).contains(&coverage), "{file}: {coverage}");
    }
}
