//! One placement in the counted profile and in the node-mapped plan, at several depths of the plan.

use bookahead::plan::{Fit, NodePlan, Profile, Reservation};
use bookahead::random::{Stream, stream};
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::JobId;
use divan::Bencher;
use divan::counter::ItemsCount;
use rand::RngExt;

/// Different questions that are asked in turn.
const PROBES: usize = 256;

/// Nodes and duration of a request: up to a quarter of the machine, up to 10 h.
fn request(stream: &mut Stream, nodes: u32) -> (u32, Seconds) {
    let width = stream.random_range(1..=nodes / 4);
    (width, Seconds(stream.random_range(600..36_000)))
}

/// A full plan: `depth` requests, each at its earliest place from a release within the first hour
/// on.
fn profile(depth: u32) -> (Profile, Vec<Fit>) {
    const NODES: u32 = 430;
    let mut stream = stream(1, "engine-bench", depth, "profile");
    let mut profile = Profile::new(NODES, Seconds::ZERO);
    let mut fit = || {
        let (nodes, duration) = request(&mut stream, NODES);
        Fit {
            from: Seconds(stream.random_range(0..3_600)),
            latest: Seconds::FAR,
            nodes,
            duration,
            own_start: None,
        }
    };
    for _ in 0..depth {
        let fit = fit();
        let start = profile.earliest_fit(fit).expect("an endless plan has room");
        profile.reserve(start, start + fit.duration, fit.nodes);
    }
    let probes = (0..PROBES).map(|_| fit()).collect();
    (profile, probes)
}

/// Finds the earliest fit, reserves it, and releases it again.
#[divan::bench(args = [10, 100, 1_000, 10_000])]
fn profile_placement(bencher: Bencher, depth: u32) {
    let (mut profile, probes) = profile(depth);
    bencher.counter(ItemsCount::new(PROBES)).bench_local(|| {
        for &fit in &probes {
            let start = profile.earliest_fit(fit).expect("an endless plan has room");
            profile.reserve(start, start + fit.duration, fit.nodes);
            profile.release(start, start + fit.duration, fit.nodes);
        }
    });
}

/// A full node-mapped plan of `depth` reservations, and probes.
fn node_plan(nodes: u32, depth: u32) -> (NodePlan, Vec<(Nodes, Seconds)>) {
    let mut stream = stream(1, "engine-bench", depth, "node-plan");
    let mut plan = NodePlan::new(Nodes(nodes));
    for job in 0..depth {
        let (width, duration) = request(&mut stream, nodes);
        let starts = plan.candidate_starts(Seconds::ZERO, Seconds::FAR);
        let (start, chosen) = plan
            .first_full(&starts, Nodes(width), duration, None)
            .expect("an endless plan has room");
        plan.insert(Reservation {
            job: JobId(job),
            nodes: chosen,
            start,
            end: start + duration,
        });
    }
    let probes = (0..PROBES)
        .map(|_| {
            let (width, duration) = request(&mut stream, nodes);
            (Nodes(width), duration)
        })
        .collect();
    (plan, probes)
}

/// Collects the candidate starts and finds the first with enough concrete nodes: machines of
/// SDSC-SP2, CTC, SDSC-BLUE and SDSC-DataStar.
#[divan::bench(args = [
    (128, 10), (128, 100), (128, 1_000),
    (430, 10), (430, 100), (430, 1_000),
    (1_152, 10), (1_152, 100), (1_152, 1_000),
    (1_664, 10), (1_664, 100), (1_664, 1_000),
    (10_000, 100), (100_000, 100), (1_000_000, 100),
])]
fn node_plan_first_full(bencher: Bencher, (nodes, depth): (u32, u32)) {
    let (plan, probes) = node_plan(nodes, depth);
    bencher.counter(ItemsCount::new(PROBES)).bench_local(|| {
        for &(width, duration) in &probes {
            let starts = plan.candidate_starts(Seconds::ZERO, Seconds::FAR);
            divan::black_box(plan.first_full(&starts, width, duration, None));
        }
    });
}
