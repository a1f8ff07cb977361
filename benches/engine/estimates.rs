//! Convolutions and the probability that a job ends in its window.

use bookahead::estimates::{
    CompletionDistribution, Convolution, Convolver, RuntimeSteps, probability_executable,
};
use bookahead::units::Seconds;
use divan::Bencher;

const STEP: Seconds = Seconds(60);

/// A start that is equally likely at each of `steps` steps.
fn density(steps: u32) -> Vec<f64> {
    vec![1.0 / f64::from(steps); steps as usize]
}

/// A runtime with all 101 percent bins of an estimate of `steps` steps (merged where there are
/// fewer steps).
fn runtime(steps: u32) -> RuntimeSteps {
    let mut weights: Vec<(u32, f64)> = (0..=100).map(|bin| (bin * steps / 100, 1.0)).collect();
    weights.dedup_by_key(|&mut (end, _)| end);
    RuntimeSteps::from_weights(&weights, STEP).expect("weights are positive and ascend")
}

fn convolve(bencher: Bencher, steps: u32, way: Convolution) {
    let (density, runtime) = (density(steps), runtime(steps));
    let end = STEP * i64::from(2 * steps);
    let mut convolver = Convolver::by(way);
    bencher.bench_local(|| convolver.complete(&density, Seconds::ZERO, &runtime, end));
}

#[divan::bench(args = [256, 1_024, 4_096])]
fn convolution_direct(bencher: Bencher, steps: u32) {
    convolve(bencher, steps, Convolution::Direct);
}

#[divan::bench(args = [256, 1_024, 4_096])]
fn convolution_fourier(bencher: Bencher, steps: u32) {
    convolve(bencher, steps, Convolution::Fourier);
}

/// Behind so many predecessors, each of which ends within 17 h, in a window of 12 h after them.
#[divan::bench(args = [0, 1, 4, 16])]
fn probability_executable_behind(bencher: Bencher, predecessors: u32) {
    const STEPS: u32 = 1_024;
    let hours = |count| Seconds::HOUR * count;
    let predecessors: Vec<CompletionDistribution> = (0..predecessors)
        .map(|number| {
            let end = STEP * i64::from(STEPS);
            let step = 1.0 / f64::from(STEPS - number);
            let cdf: Vec<f64> = (1..STEPS).map(|at| step * f64::from(at)).collect();
            CompletionDistribution::new(Seconds::ZERO, STEP, end, &cdf)
        })
        .collect();
    let predecessors: Vec<&CompletionDistribution> = predecessors.iter().collect();
    let runtime = runtime(STEPS);
    bencher.bench_local(|| {
        probability_executable(
            &predecessors,
            &runtime,
            Seconds::ZERO,
            divan::black_box(hours(17)),
            hours(29),
        )
    });
}
