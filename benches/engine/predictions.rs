//! What a predictor costs, learning included, and what a queue that plans with it costs a job.
//!
//! With `BOOKAHEAD_TRACES` set it is KTH SP2 on 100 nodes; else 20,000 jobs of the Lublin–Feitelson
//! model on 128.

use std::sync::{Arc, LazyLock};

use bookahead::predictions::{Build, PREDICTORS, Predictor, PredictorSettings, predictor};
use bookahead::units::Nodes;
use bookahead::workload::{TraceFolder, WorkloadSettings, WorkloadSource, prepare};
use bookahead_queues::predicted_queue::{
    PredictedOutcome, PredictedQueueSettings, QueueJob, QueueRules, queue_jobs,
    simulate_predicted_queue,
};
use divan::Bencher;
use divan::counter::ItemsCount;

struct Log {
    nodes: Nodes,
    jobs: Arc<[QueueJob]>,
    /// When EASY starts and ends them: what predictors are shown.
    outcomes: Vec<PredictedOutcome>,
}

static LOG: LazyLock<Log> = LazyLock::new(|| {
    let folder = std::env::var_os(TraceFolder::VARIABLE).map(TraceFolder::new);
    let (source, nodes, jobs) = match folder {
        Some(_) => {
            let file = "KTH-SP2-1996-2.1-cln.swf".to_owned();
            (WorkloadSource::Trace { file }, Nodes(100), 28_000)
        }
        None => (
            WorkloadSource::LublinFeitelson { jobs: 20_000 },
            Nodes(128),
            20_000,
        ),
    };
    let settings = WorkloadSettings {
        evaluation_jobs: jobs,
        battery_jobs: jobs,
        ..WorkloadSettings::of(source, nodes)
    };
    let workload = prepare(&settings, &folder.unwrap_or_default(), 1)
        .expect("the model is whole, and the folder named by BOOKAHEAD_TRACES holds KTH");
    let jobs = queue_jobs(&workload.batteries[0], nodes, QueueRules::Gaussier2015);
    let outcomes = simulate_predicted_queue(&jobs, nodes, &PredictedQueueSettings::default())
        .expect("there is a predictor of that name");
    eprintln!("log: {}, {} jobs", workload.label, jobs.len());
    Log {
        nodes,
        jobs,
        outcomes,
    }
});

fn names() -> impl Iterator<Item = &'static str> {
    PREDICTORS.iter().map(|predictor| predictor.name)
}

/// Every job is predicted, started and ended, in the order of the log.
fn tell(predictor: &mut dyn Predictor) -> i64 {
    let mut sum = 0;
    for (job, outcome) in LOG.jobs.iter().zip(&LOG.outcomes) {
        sum += predictor.predict(&job.submission).0;
        predictor.started(&job.submission, outcome.start);
        predictor.ended(&job.submission, outcome.start, outcome.end);
    }
    sum
}

/// A prediction with everything that the predictor learns from the job.
#[divan::bench(args = names())]
fn prediction(bencher: Bencher, name: &str) {
    let named = predictor(name).expect("it is in the list");
    let Build::Sees(build) = named.build else {
        return;
    };
    bencher
        .counter(ItemsCount::new(LOG.jobs.len()))
        .with_inputs(|| build(&PredictorSettings::default()))
        .bench_local_values(|mut predictor| tell(&mut *predictor));
}

/// A job of the queue, prediction, backfilling and events included.
#[divan::bench(args = names())]
fn predicted_queue(bencher: Bencher, name: &str) {
    let settings = PredictedQueueSettings {
        predictor: name.to_owned(),
        ..PredictedQueueSettings::default()
    };
    bencher
        .counter(ItemsCount::new(LOG.jobs.len()))
        .bench_local(|| simulate_predicted_queue(&LOG.jobs, LOG.nodes, &settings));
}
