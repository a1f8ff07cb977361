//! Conservative backfilling with users' estimates where the queue is deep:
//! `cargo bench --bench engine -- deep`. Blocks of equal jobs on a large machine
//! (`peers/deep_trace.py` writes such a trace for the whole program), and the jobs of `nodes` on an
//! overloaded one.

use bookahead::predictions::UserIndex;
use bookahead::random::{Stream, stream};
use bookahead::scheduling::stream::{
    ConservativeStream, StreamRequest, StreamScheduler, StreamTotals,
};
use bookahead::units::{Nodes, Seconds};
use divan::Bencher;
use divan::counter::ItemsCount;
use rand::RngExt;

use crate::nodes::exponential;

/// Limits that users ask for, in hours.
const LIMITS: [i64; 8] = [1, 2, 4, 8, 12, 24, 48, 72];

/// The size of a block, of the distribution of Pareto.
fn block(stream: &mut Stream, shape: f64, most: usize) -> usize {
    let size = (1.0 - stream.random::<f64>()).powf(-1.0 / shape);
    (size as usize).min(most)
}

/// Half of the blocks are of single processors; a job uses a tenth of its limit on average.
fn blocks(jobs: usize, nodes: u32, load: f64) -> Vec<StreamRequest> {
    let mut stream = stream(1, "engine-bench", nodes, "deep");
    let mut requests: Vec<StreamRequest> = Vec::with_capacity(jobs);
    let mut submit = 0.0;
    while requests.len() < jobs {
        let narrow = stream.random::<f64>() < 0.5;
        let (size, width) = if narrow {
            (block(&mut stream, 0.75, 400), 1)
        } else {
            (block(&mut stream, 1.0, 100), 1 << stream.random_range(1..9))
        };
        let limit = LIMITS[stream.random_range(0..LIMITS.len())] * 3_600;
        let mut work = 0.0;
        for _ in 0..size {
            let runtime = (exponential(&mut stream, limit as f64 / 10.0) as i64).clamp(1, limit);
            work += f64::from(width) * runtime as f64;
            requests.push(StreamRequest {
                index: requests.len() as u64,
                submit: Seconds(submit as i64),
                nodes: Nodes(width),
                user: UserIndex(0),
                estimate: Seconds(limit),
                runtime: Seconds(runtime),
            });
        }
        submit += exponential(&mut stream, work / (f64::from(nodes) * load));
    }
    requests
}

fn run(bencher: Bencher, nodes: u32, requests: &[StreamRequest]) {
    bencher
        .counter(ItemsCount::new(requests.len()))
        .bench_local(|| {
            let mut engine = ConservativeStream::new(Nodes(nodes));
            let mut totals = StreamTotals::default();
            for &request in requests {
                engine.submit(request, &mut totals);
            }
            engine.finish(&mut totals);
            totals
        });
}

#[divan::bench(args = [0.7, 0.85], sample_count = 5)]
fn deep_blocks_of_equal_jobs(bencher: Bencher, load: f64) {
    run(bencher, 8_192, &blocks(50_000, 8_192, load));
}

#[divan::bench(args = [5_000, 10_000, 20_000], sample_count = 5)]
fn deep_overload(bencher: Bencher, jobs: usize) {
    let mut requests = crate::nodes::requests(256);
    requests.truncate(jobs);
    for request in &mut requests {
        // Load 0.85 becomes 1.1.
        request.submit = Seconds(request.submit.0 * 85 / 110);
    }
    run(bencher, 256, &requests);
}
