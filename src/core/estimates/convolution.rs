//! The completion time of a job: the density of its start convolved with its runtime (Birkenheuer
//! 2012, §3.2.3).
//!
//! A runtime has at most 101 steps with any probability, so adding up that many shifted copies of
//! the start's density ([`Convolution::Direct`]) ties with or beats three Fourier transforms at
//! every length of interest (the table in `benches/README.md`), and it uses nothing but additions
//! and multiplications, so it gives the same bits on every machine. Transforms take their twiddle
//! factors from the machine's own sine and cosine, whose last bit may differ;
//! [`Convolution::Fourier`] is there for comparison and for much finer steps.

use std::fmt;

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch};
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::completion::grid_points;
use super::joint::fill_joint_density;
use super::{CompletionDistribution, RuntimeSteps};
use crate::units::Seconds;

/// How the density of a job's start is convolved with its runtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convolution {
    /// One shifted copy for each of the at most 101 steps of the runtime that have any probability.
    #[default]
    Direct,
    /// Real Fourier transforms, always, whatever the lengths. Agrees with the direct sum to
    /// rounding.
    Fourier,
}

/// Convolves densities; owns Fourier plans and buffers, which it reuses.
pub struct Convolver {
    way: Convolution,
    level: Level,
    planner: RealFftPlanner<f64>,
    density: Vec<f64>,
    padded: Vec<f64>,
    spectrum: Vec<Complex<f64>>,
    other_spectrum: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
    dense_runtime: Vec<f64>,
}

impl Default for Convolver {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Convolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Convolver")
            .field("way", &self.way)
            .finish_non_exhaustive()
    }
}

impl Convolver {
    /// A convolver that sums directly.
    #[must_use]
    pub fn new() -> Self {
        Self::by(Convolution::Direct)
    }

    /// A convolver of this kind with no plans yet; plans are made when a length is first met.
    #[must_use]
    pub fn by(way: Convolution) -> Self {
        Self {
            way,
            level: Level::new(),
            planner: RealFftPlanner::new(),
            density: Vec::new(),
            padded: Vec::new(),
            spectrum: Vec::new(),
            other_spectrum: Vec::new(),
            scratch: Vec::new(),
            dense_runtime: Vec::new(),
        }
    }

    /// The completion time of a job that starts when the last of these predecessors has ended, at
    /// `from` at the earliest and at `latest` for certain: [`Convolver::complete`] of their
    /// [`super::joint_density`].
    #[must_use]
    pub fn complete_after(
        &mut self,
        predecessors: &[&CompletionDistribution],
        from: Seconds,
        latest: Seconds,
        runtime: &RuntimeSteps,
        window_end: Seconds,
    ) -> CompletionDistribution {
        let mut density = std::mem::take(&mut self.density);
        fill_joint_density(&mut density, predecessors, from, latest, runtime.step());
        let completion = self.complete(&density, from, runtime, window_end);
        self.density = density;
        completion
    }

    /// The completion time of a job whose start has the density `joint_density` on the grid
    /// `from + j·Δ` (Δ is the runtime's step) and which is killed at `window_end`: convolved, and
    /// certain from the window's end on.
    ///
    /// An empty density stands for a start at `from`.
    #[must_use]
    pub fn complete(
        &mut self,
        joint_density: &[f64],
        from: Seconds,
        runtime: &RuntimeSteps,
        window_end: Seconds,
    ) -> CompletionDistribution {
        // What lies at or after the window's end is cut off anyway, so it is not computed.
        let points = grid_points(from, window_end, runtime.step());
        let start: &[f64] = if joint_density.is_empty() {
            &[1.0]
        } else {
            joint_density
        };
        let start = &start[..start.len().min(points)];
        let entries = runtime.entries();
        let entries = &entries[..entries.partition_point(|&(steps, _)| (steps as usize) < points)];
        let values = match self.way {
            Convolution::Direct => {
                let sparse = SparseConvolution {
                    start,
                    entries,
                    points,
                    padded: &mut self.padded,
                };
                dispatch!(self.level, simd => sparse.running_sums(simd))
            }
            Convolution::Fourier => {
                let longest = entries.last().map_or(0, |&(steps, _)| steps as usize);
                let mut dense = std::mem::take(&mut self.dense_runtime);
                dense.clear();
                dense.resize(longest + 1, 0.0);
                for &(steps, probability) in entries {
                    dense[steps as usize] = probability;
                }
                let mut values = self.convolve_fft(start, &dense);
                self.dense_runtime = dense;
                values.truncate(points);
                accumulate(&mut values, &mut 0.0);
                values
            }
        };
        CompletionDistribution::ascending(from, runtime.step(), window_end, values)
    }

    /// The convolution of two densities by Fourier transforms, `first.len() + second.len() − 1`
    /// values long.
    ///
    /// Tiny negative values are clipped to 0 and the rest is scaled so that the sum is the product
    /// of the inputs' sums. Agrees with the sum by definition to 1e-12 for densities. Empty if an
    /// input is empty.
    #[must_use]
    pub fn convolve_fft(&mut self, first: &[f64], second: &[f64]) -> Vec<f64> {
        if first.is_empty() || second.is_empty() {
            return Vec::new();
        }
        let length = first.len() + second.len() - 1;
        let padded_length = fourier_length(length);
        let forward = self.planner.plan_fft_forward(padded_length);
        let inverse = self.planner.plan_fft_inverse(padded_length);
        let spectrum_length = padded_length / 2 + 1;
        let scratch_length = forward.get_scratch_len().max(inverse.get_scratch_len());
        self.spectrum.resize(spectrum_length, Complex::default());
        self.other_spectrum
            .resize(spectrum_length, Complex::default());
        self.scratch.resize(scratch_length, Complex::default());
        for (input, spectrum) in [
            (first, &mut self.spectrum),
            (second, &mut self.other_spectrum),
        ] {
            self.padded.clear();
            self.padded.extend_from_slice(input);
            self.padded.resize(padded_length, 0.0);
            forward
                .process_with_scratch(&mut self.padded, spectrum, &mut self.scratch)
                .expect("the buffers were sized for this transform");
        }
        for (value, other) in self.spectrum.iter_mut().zip(&self.other_spectrum) {
            *value *= other;
        }
        // The spectrum of a real signal is real at both ends; rounding must not make it otherwise.
        self.spectrum[0].im = 0.0;
        if padded_length.is_multiple_of(2) {
            self.spectrum[spectrum_length - 1].im = 0.0;
        }
        inverse
            .process_with_scratch(&mut self.spectrum, &mut self.padded, &mut self.scratch)
            .expect("the buffers were sized for this transform");
        let mut result: Vec<f64> = self.padded[..length]
            .iter()
            .map(|value| value.max(0.0))
            .collect();
        let wanted = first.iter().sum::<f64>() * second.iter().sum::<f64>();
        let got: f64 = result.iter().sum();
        if got > 0.0 {
            let scale = wanted / got;
            for value in &mut result {
                *value *= scale;
            }
        }
        result
    }
}

/// Makes the next values of a density those of its CDF, with the sum of all so far.
#[inline(always)]
fn accumulate(values: &mut [f64], sum: &mut f64) {
    for value in values {
        // Nothing negative is added: what is capped ascends.
        *sum += *value;
        *value = sum.min(1.0);
    }
}

/// The running sums of the first `points` values of the convolution of a density with a sparse one,
/// whose entries ascend; fewer where only zeros are added.
struct SparseConvolution<'a> {
    start: &'a [f64],
    entries: &'a [(u32, f64)],
    points: usize,
    /// Scratch memory.
    padded: &'a mut Vec<f64>,
}

impl SparseConvolution<'_> {
    /// On vectors as wide as the processor's.
    #[inline(always)]
    fn running_sums<S: Simd>(self, simd: S) -> Vec<f64> {
        if S::f64s::LEN <= 2 {
            // Vectors of two numbers: three quarters of sixteen registers.
            self.tiles::<S, 12>(simd)
        } else {
            // Enough that no addition waits for the one before.
            self.tiles::<S, 8>(simd)
        }
    }

    /// Tile by tile of `SUMS` vectors: its sums stay in registers while all entries are added, in
    /// their order, each product rounded before it is added, so that the bits are those of shifted
    /// copies that are added one after the other, whatever the width of the vectors. The zeros
    /// around the density add nothing.
    #[inline(always)]
    fn tiles<S: Simd, const SUMS: usize>(self, simd: S) -> Vec<f64> {
        let lanes = S::f64s::LEN;
        let length = SUMS * lanes;
        let is_mass = |value: &f64| *value != 0.0;
        let Some(lead) = self.start.iter().position(is_mass) else {
            return Vec::new();
        };
        let past = self
            .start
            .iter()
            .rposition(is_mass)
            .map_or(0, |last| last + 1);
        let (start, entries) = (&self.start[lead..past], self.entries);
        let padded = self.padded;
        padded.clear();
        padded.resize(length, 0.0);
        padded.extend_from_slice(start);
        padded.resize(start.len() + 2 * length, 0.0);
        let padded: &[f64] = padded;
        let longest = entries.last().map_or(0, |&(steps, _)| steps as usize);
        let points = (self.points - lead).min(start.len() + longest);
        // The end of the window comes behind the values.
        let mut result = Vec::with_capacity(self.points + length + 1);
        result.resize(lead + points.next_multiple_of(length), 0.0);
        let (mut first, mut past, mut sum) = (0, 0, 0.0);
        for (tile, kept) in result[lead..].chunks_exact_mut(length).enumerate() {
            let tile = tile * length;
            let reaches = |&(steps, _): &(u32, f64)| (steps as usize) < tile + length;
            let is_over = |&(steps, _): &(u32, f64)| steps as usize + start.len() <= tile;
            while entries.get(past).is_some_and(reaches) {
                past += 1;
            }
            while first < past && is_over(&entries[first]) {
                first += 1;
            }
            let mut sums = [S::f64s::splat(simd, 0.0); SUMS];
            for &(steps, probability) in &entries[first..past] {
                let from = tile + length - steps as usize;
                let values = padded[from..from + length].chunks_exact(lanes);
                let probability = S::f64s::splat(simd, probability);
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += probability * S::f64s::from_slice(simd, value);
                }
            }
            // One by one: copied as a whole, the sums would have to lie in memory while they are
            // added.
            for (kept, sum) in kept.chunks_exact_mut(lanes).zip(sums) {
                sum.store_slice(kept);
            }
            accumulate(kept, &mut sum);
        }
        result.truncate(lead + points);
        result
    }
}

/// The next power of two, or three quarters of it where that is enough.
fn fourier_length(length: usize) -> usize {
    let power = length.next_power_of_two().max(2);
    if power >= 8 && power / 4 * 3 >= length {
        power / 4 * 3
    } else {
        power
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::joint::tests::{HOUR, hours, new_job, predecessor_a, predecessor_b};
    use super::super::joint_density;
    use super::*;

    /// The convolution of two densities by definition, `first.len() + second.len() − 1` values
    /// long; empty if an input is. Zeros of the second density cost nothing.
    fn convolve_direct(first: &[f64], second: &[f64]) -> Vec<f64> {
        if first.is_empty() || second.is_empty() {
            return Vec::new();
        }
        let mut result = vec![0.0; first.len() + second.len() - 1];
        for (shift, &factor) in second
            .iter()
            .enumerate()
            .filter(|&(_, &factor)| factor != 0.0)
        {
            add_shifted(&mut result, first, shift, factor);
        }
        result
    }

    /// `result[shift + i] += factor · values[i]` as far as the result reaches.
    fn add_shifted(result: &mut [f64], values: &[f64], shift: usize, factor: f64) {
        for (sum, value) in result[shift..].iter_mut().zip(values) {
            *sum += factor * value;
        }
    }

    #[test]
    fn the_combined_distribution_is_that_of_section_15_3() {
        let (a, b) = (predecessor_a(), predecessor_b());
        let start = joint_density(&[&a, &b], hours(0), hours(4), HOUR);
        let density = [
            0.0, 0.0, 0.0625, 0.056_25, 0.293_75, 0.275, 0.068_75, 0.168_75, 0.075,
        ];
        let runtime = [0.0, 0.5, 0.2, 0.0, 0.3];
        let direct = convolve_direct(&start, &runtime);
        let fourier = Convolver::new().convolve_fft(&start, &runtime);
        assert_eq!((direct.len(), fourier.len()), (9, 9));
        for (index, expected) in density.into_iter().enumerate() {
            assert!((direct[index] - expected).abs() < 1e-15);
            assert!((fourier[index] - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn successors_see_the_job_of_section_15_3_end_at_its_slot_end() {
        let (a, b) = (predecessor_a(), predecessor_b());
        let start = joint_density(&[&a, &b], hours(0), hours(4), HOUR);
        let job = Convolver::new().complete(&start, hours(0), &new_job(), hours(6));
        let expected = [0.0, 0.0, 0.0625, 0.118_75, 0.4125, 0.6875, 1.0];
        assert_eq!(job.cdf().len(), expected.len());
        for (hour, expected) in expected.into_iter().enumerate() {
            assert!((job.cdf_at(hours(hour as i64)) - expected).abs() < 1e-15);
        }
        assert_eq!((job.origin(), job.window_end()), (hours(0), hours(6)));
    }

    #[test]
    fn a_job_that_starts_for_certain_ends_by_its_own_runtime() {
        let job = Convolver::new().complete(&[1.0], hours(2), &new_job(), hours(6));
        let at = [1, 2, 3, 4, 5, 6].map(|hour| job.cdf_at(hours(hour)));
        assert_eq!(at, [0.0, 0.0, 0.5, 0.7, 0.7, 1.0]);
        let same = Convolver::new().complete(&[], hours(2), &new_job(), hours(6));
        assert_eq!(job, same);
    }

    #[test]
    fn a_window_that_ends_at_once_is_certain() {
        let job = Convolver::new().complete(&[0.5, 0.5], hours(2), &new_job(), hours(2));
        assert_eq!(job.cdf(), [1.0]);
    }

    #[test]
    fn lengths_of_transforms_suffice_and_are_even() {
        for length in 1..5_000 {
            let padded = fourier_length(length);
            assert!(padded >= length && padded.is_multiple_of(2) && padded < 2 * length.max(2));
        }
    }

    fn density() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(prop_oneof![2 => Just(0.0), 3 => 0.0_f64..1.0], 1..300).prop_map(
            |weights| {
                let total = weights.iter().sum::<f64>();
                if total > 0.0 {
                    weights.iter().map(|weight| weight / total).collect()
                } else {
                    vec![1.0]
                }
            },
        )
    }

    proptest! {
        #[test]
        fn both_ways_to_convolve_agree(first in density(), second in density()) {
            let direct = convolve_direct(&first, &second);
            let fourier = Convolver::new().convolve_fft(&first, &second);
            prop_assert_eq!(direct.len(), fourier.len());
            for (one, other) in direct.iter().zip(&fourier) {
                prop_assert!((one - other).abs() < 1e-12);
                prop_assert!(*other >= 0.0);
            }
            prop_assert!((fourier.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }

        #[test]
        fn completion_is_the_cut_running_sum_of_the_convolution(
            start in density(),
            runtime in prop::collection::btree_map(0_u32..400, 0.01_f64..1.0, 1..100),
            window in 0_i64..40_000,
        ) {
            let entries: Vec<(u32, f64)> = runtime.into_iter().collect();
            let runtime = RuntimeSteps::from_weights(&entries, Seconds(60)).unwrap();
            let job = Convolver::new().complete(&start, Seconds(7), &runtime, Seconds(7 + window));
            prop_assert!(job.cdf().windows(2).all(|pair| pair[0] <= pair[1]));
            let mut dense = vec![0.0; runtime.longest() as usize + 1];
            for &(steps, probability) in runtime.entries() {
                dense[steps as usize] = probability;
            }
            let mut sum = 0.0;
            for (index, mass) in convolve_direct(&start, &dense).into_iter().enumerate() {
                sum += mass;
                let time = Seconds(7 + 60 * index as i64);
                let expected = if time.0 >= 7 + window { 1.0 } else { sum };
                prop_assert!((job.cdf_at(time) - expected).abs() < 1e-12);
            }
            prop_assert_eq!(job.cdf_at(Seconds(7 + window)), 1.0);
        }

        #[test]
        fn the_completion_has_the_bits_of_shifted_copies_that_are_added_one_after_the_other(
            start in density(),
            zeros in prop::array::uniform2(0_usize..200),
            runtime in prop::collection::btree_map(0_u32..700, 0.01_f64..1.0, 1..101),
            window in 0_i64..2_000,
        ) {
            let entries: Vec<(u32, f64)> = runtime.into_iter().collect();
            let runtime = RuntimeSteps::from_weights(&entries, Seconds(1)).unwrap();
            let [before, after] = zeros.map(|length| vec![0.0; length]);
            let start = [before, start, after].concat();
            let mut dense = vec![0.0; runtime.longest() as usize + 1];
            for &(steps, probability) in runtime.entries() {
                dense[steps as usize] = probability;
            }
            let mut expected = convolve_direct(&start, &dense);
            accumulate(&mut expected, &mut 0.0);
            expected.resize(window as usize, *expected.last().unwrap());
            expected.push(1.0);
            for level in [Level::new(), Level::baseline()] {
                let mut convolver = Convolver { level, ..Convolver::new() };
                let job = convolver.complete(&start, Seconds(7), &runtime, Seconds(7 + window));
                prop_assert_eq!(job.cdf(), &expected);
            }
        }

        #[test]
        fn the_completion_is_the_same_whichever_way_is_taken(
            start in density(),
            runtime in prop::collection::btree_map(0_u32..3_000, 0.01_f64..1.0, 1..101),
            window in 0_i64..4_000,
        ) {
            let entries: Vec<(u32, f64)> = runtime.into_iter().collect();
            let runtime = RuntimeSteps::from_weights(&entries, Seconds(1)).unwrap();
            let [direct, fourier] = [Convolution::Direct, Convolution::Fourier].map(|way| {
                Convolver::by(way).complete(&start, Seconds(7), &runtime, Seconds(7 + window))
            });
            prop_assert_eq!(direct.cdf().len(), fourier.cdf().len());
            for (one, other) in direct.cdf().iter().zip(fourier.cdf()) {
                prop_assert!((one - other).abs() < 1e-11);
            }
        }
    }
}
