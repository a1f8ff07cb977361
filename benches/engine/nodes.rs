//! How the cost of a decision grows with the machine: `cargo bench --bench engine -- nodes`. The
//! node-mapped plan's curve is `node_plan_first_full` of `plans` at depth 100.

use bookahead::predictions::UserIndex;
use bookahead::random::{Stream, stream};
use bookahead::scheduling::stream::{
    ConservativeStream, EasyStream, ExactStream, ReservationStream, StreamRequest, StreamScheduler,
    StreamTotals,
};
use bookahead::units::{Nodes, Seconds};
use divan::Bencher;
use divan::counter::ItemsCount;
use rand::RngExt;

const NODES: [u32; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// Offered load by run times.
const LOAD: f64 = 0.85;

pub fn exponential(stream: &mut Stream, mean: f64) -> f64 {
    -mean * (1.0 - stream.random::<f64>()).ln()
}

/// Poisson arrivals, 1, 2, 4 … 32 nodes, exponential run times of an hour, estimates one to five
/// times as long; so many that the largest machine fills.
pub fn requests(nodes: u32) -> Vec<StreamRequest> {
    let mut stream = stream(1, "engine-bench", nodes, "nodes");
    let mut submit = 0.0;
    (0..u64::from(nodes.max(100_000)))
        .map(|index| {
            submit += exponential(&mut stream, 10.5 * 3_600.0 / (f64::from(nodes) * LOAD));
            let runtime = (exponential(&mut stream, 3_600.0) as i64).max(1);
            let factor = stream.random_range(1.0..5.0);
            StreamRequest {
                index,
                submit: Seconds(submit as i64),
                nodes: Nodes(1 << stream.random_range(0..6)),
                user: UserIndex(0),
                estimate: Seconds((runtime as f64 * factor) as i64),
                runtime: Seconds(runtime),
            }
        })
        .collect()
}

fn run<S: StreamScheduler>(bencher: Bencher, nodes: u32, engine: impl Fn(Nodes) -> S) {
    let requests = requests(nodes);
    bencher
        .counter(ItemsCount::new(requests.len()))
        .bench_local(|| {
            let mut engine = engine(Nodes(nodes));
            let mut totals = StreamTotals::default();
            for &request in &requests {
                engine.submit(request, &mut totals);
            }
            engine.finish(&mut totals);
            totals
        });
}

#[divan::bench(args = NODES, sample_count = 5)]
fn conservative_perfect_estimates(bencher: Bencher, nodes: u32) {
    run(bencher, nodes, ExactStream::new);
}

#[divan::bench(args = NODES, sample_count = 5)]
fn conservative_user_estimates(bencher: Bencher, nodes: u32) {
    run(bencher, nodes, ConservativeStream::new);
}

#[divan::bench(args = NODES, sample_count = 5)]
fn easy_user_estimates(bencher: Bencher, nodes: u32) {
    run(bencher, nodes, EasyStream::new);
}

#[divan::bench(args = NODES, sample_count = 5)]
fn fixed_starts(bencher: Bencher, nodes: u32) {
    run(bencher, nodes, |nodes| {
        ReservationStream::new(nodes, Seconds::HOUR)
    });
}
