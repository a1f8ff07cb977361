//! User runtime estimates after Tsafrir, Etsion and Feitelson, "Modeling user runtime estimates",
//! JSSPP 2005.
//!
//! Estimates are modal: 20 popular round values hold 89 % of the jobs, and the largest allowed one
//! is the most popular. The model makes a histogram of estimates and deals them out so that no
//! job's estimate is below its runtime.
//!
//! The published constants and steps are kept: how many values there are, the 15 values that all
//! logs share, the sizes of the head (exponential) and of the tail (power law), which time gets
//! which popularity (drawn between those of four logs), the times of the tail, and the dealing.
//! Simplified, and named here:
//! * no values of a site are given to it (the original takes up to 20 of them);
//! * percentages become whole jobs by largest remainders, so that a rare value may hold no job at
//!   all (the original gives each value at least one job and takes the surplus from the others);
//! * where too few estimates are long enough for the runtimes, the missing ones are raised to the
//!   next value of the histogram and counted (the original program stops);
//! * for fewer than about 200 jobs there is no tail and the head holds all jobs (the original wants
//!   200 jobs).

use super::variates::{below, shuffle};
use crate::random::Stream;

const MINUTE: i64 = 60;
const HOUR: i64 = 3_600;
/// Popular estimates, the head of the histogram.
const HEAD: usize = 20;
/// Percent of the jobs that use a popular estimate.
const HEAD_PERCENT: f64 = 89.0;

/// Popularity rank (1 = most popular) of the popular estimates in four logs (SDSC SP2, CTC, KTH,
/// SDSC Blue Horizon); row 0 is the largest allowed estimate, the others follow by length.
const POPULARITY: [[usize; 4]; HEAD] = [
    [3, 1, 1, 1],
    [1, 3, 4, 6],
    [4, 4, 10, 5],
    [17, 2, 14, 3],
    [13, 12, 20, 7],
    [7, 9, 2, 2],
    [8, 8, 3, 18],
    [18, 18, 7, 19],
    [2, 6, 12, 4],
    [6, 7, 6, 11],
    [16, 11, 19, 20],
    [10, 20, 5, 9],
    [5, 16, 18, 10],
    [15, 5, 16, 14],
    [14, 14, 9, 13],
    [19, 13, 17, 16],
    [11, 10, 15, 15],
    [12, 15, 13, 17],
    [9, 17, 8, 8],
    [20, 19, 11, 12],
];

/// Popular estimates that all four logs share.
const SHARED: [i64; 15] = [
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    20 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    4 * HOUR,
    5 * HOUR,
    6 * HOUR,
    8 * HOUR,
    10 * HOUR,
    12 * HOUR,
    18 * HOUR,
];

/// Multiples of these complete the head, from the largest estimate downwards.
const ROUND: [i64; 10] = [
    200 * HOUR,
    100 * HOUR,
    50 * HOUR,
    10 * HOUR,
    5 * HOUR,
    2 * HOUR,
    HOUR,
    20 * MINUTE,
    10 * MINUTE,
    5 * MINUTE,
];

/// Distinct estimates by number of jobs; linear in between.
const DISTINCT: [(f64, f64); 7] = [
    (0.0, 0.0),
    (20.0, 10.0),
    (200.0, 20.0),
    (1_000.0, 35.0),
    (10_000.0, 90.0),
    (70_000.0, 340.0),
    (250_000.0, 565.0),
];

/// The model for a site that allows estimates up to `largest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EstimateModel {
    /// The largest allowed estimate in seconds; at least an hour.
    pub largest: i64,
}

impl Default for EstimateModel {
    /// 18 hours, the limit of the CTC and SDSC SP2 machines.
    fn default() -> Self {
        Self { largest: 18 * HOUR }
    }
}

/// Estimates dealt out to jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The estimate of each job in seconds, in the order of the runtimes; never below the runtime.
    pub estimates: Vec<i64>,
    /// Runtimes cut to the largest allowed estimate, as a scheduler would have killed the job
    /// there.
    pub cut_runtimes: u32,
    /// Estimates raised because too few were long enough.
    pub raised_estimates: u32,
}

impl EstimateModel {
    /// A histogram of estimates for `jobs` jobs: ascending estimates in seconds with their number
    /// of jobs (sum: `jobs`).
    pub fn histogram(&self, jobs: usize, stream: &mut Stream) -> Vec<(i64, usize)> {
        let largest = self.largest.max(HOUR);
        let head_times = head_times(largest);
        let distinct = distinct_estimates(jobs);
        let tail_times = tail_times(
            largest,
            &head_times,
            distinct.saturating_sub(head_times.len()),
            distinct,
        );
        let head_percent = if tail_times.is_empty() {
            100.0
        } else {
            HEAD_PERCENT
        };
        let sizes = head_sizes(head_times.len(), head_percent);
        let ranks = popularity_ranks(head_times.len(), stream);
        let mut percents: Vec<(i64, f64)> = head_times
            .iter()
            .zip(ranks)
            .map(|(time, rank)| (*time, sizes[rank]))
            .collect();
        let mut tail_sizes = tail_sizes(tail_times.len(), 100.0 - head_percent);
        shuffle(&mut tail_sizes, stream);
        percents.extend(tail_times.into_iter().zip(tail_sizes));
        percents.sort_by_key(|(time, _)| *time);
        whole_jobs(&percents, jobs)
    }

    /// Deals estimates out to jobs of the given runtimes in seconds. Runtimes above the largest
    /// estimate are cut to it.
    pub fn assign(&self, runtimes: &mut [i64], stream: &mut Stream) -> Assignment {
        let largest = self.largest.max(HOUR);
        let mut cut_runtimes = 0;
        for runtime in runtimes.iter_mut().filter(|runtime| **runtime > largest) {
            *runtime = largest;
            cut_runtimes += 1;
        }
        let histogram = self.histogram(runtimes.len(), stream);
        let mut pool: Vec<i64> = histogram
            .iter()
            .rev()
            .flat_map(|&(time, jobs)| std::iter::repeat_n(time, jobs))
            .collect();
        let mut by_length: Vec<usize> = (0..runtimes.len()).collect();
        by_length.sort_by_key(|&job| (-runtimes[job], job));

        let mut raised_estimates = 0;
        for (estimate, &job) in pool.iter_mut().zip(&by_length) {
            if *estimate < runtimes[job] {
                let next = histogram.partition_point(|(time, _)| *time < runtimes[job]);
                *estimate = histogram.get(next).map_or(largest, |(time, _)| *time);
                raised_estimates += 1;
            }
        }
        // Longest job first: any estimate that is long enough is equally likely; the one swapped
        // into its place is long enough for every job that is still to come.
        let mut estimates = vec![0; runtimes.len()];
        let mut long_enough = 0;
        for (place, &job) in by_length.iter().enumerate() {
            while long_enough < pool.len() && pool[long_enough] >= runtimes[job] {
                long_enough += 1;
            }
            let chosen = place + below(stream, long_enough - place);
            estimates[job] = pool[chosen];
            pool.swap(place, chosen);
        }
        Assignment {
            estimates,
            cut_runtimes,
            raised_estimates,
        }
    }
}

/// The popular estimates: the largest first, then by length.
fn head_times(largest: i64) -> Vec<i64> {
    let mut times = vec![largest];
    times.extend(SHARED.into_iter().filter(|time| *time < largest));
    for unit in ROUND {
        let mut multiple = largest / unit * unit;
        while multiple > 0 && times.len() < HEAD {
            if !times.contains(&multiple) {
                times.push(multiple);
            }
            multiple -= unit;
        }
    }
    times[1..].sort_unstable();
    times
}

/// Percent of the jobs by popularity rank: `14.0491 · e^(−0.177531 r) + 0.462513` from rank 2 on,
/// the rest for rank 1.
fn head_sizes(count: usize, total: f64) -> Vec<f64> {
    let mut sizes: Vec<f64> = (0..count)
        .map(|index| 14.0491 * libm::exp(-0.177_531 * (index as f64 + 1.0)) + 0.462_513)
        .collect();
    let others: f64 = sizes[1..].iter().sum();
    sizes[0] = total - others;
    sizes
}

/// For each popular estimate its popularity, as an index from 0. The largest is the most popular;
/// each other one draws twice among the ranks that it or a shorter one has in a log and keeps the
/// more popular, but takes a rank at the latest where no longer estimate has it in any log.
fn popularity_ranks(count: usize, stream: &mut Stream) -> Vec<usize> {
    let mut latest = [0; HEAD + 1];
    for (row, ranks) in POPULARITY.iter().enumerate() {
        for &rank in ranks {
            latest[rank] = row;
        }
    }
    let mut taken = [false; HEAD + 1];
    let mut pool: Vec<usize> = Vec::new();
    let mut ranks = Vec::with_capacity(HEAD);
    for (row, candidates) in POPULARITY.iter().enumerate() {
        pool.extend(candidates.iter().filter(|rank| !taken[**rank]));
        let due = (1..=HEAD).find(|&rank| latest[rank] <= row && !taken[rank]);
        let rank = match (row, due) {
            (0, _) => 1,
            (_, Some(rank)) => rank,
            (_, None) => {
                let mut draw = || pool[below(stream, pool.len())];
                draw().min(draw())
            }
        };
        taken[rank] = true;
        pool.retain(|other| *other != rank);
        ranks.push(rank);
    }
    // With fewer estimates than ranks, only the order of the popularities is kept.
    ranks.truncate(count);
    let mut order = ranks.clone();
    order.sort_unstable();
    ranks
        .iter()
        .map(|rank| order.partition_point(|other| other < rank))
        .collect()
}

fn distinct_estimates(jobs: usize) -> usize {
    let jobs = jobs as f64;
    let Some(after) = DISTINCT.iter().position(|(limit, _)| jobs <= *limit) else {
        return DISTINCT[DISTINCT.len() - 1].1 as usize;
    };
    let Some(before) = after.checked_sub(1) else {
        return 0;
    };
    let ((x0, y0), (x1, y1)) = (DISTINCT[before], DISTINCT[after]);
    (y0 + ((jobs - x0) * (y1 - y0) / (x1 - x0)).round()) as usize
}

/// The times of the other estimates: relative time `(a − 1)·x / (a − x)` of the relative rank x,
/// with `a = 1 + 12.1039 · k^(−0.6026)` for k distinct estimates; whole minutes, shifted by some
/// seconds where taken.
fn tail_times(largest: i64, head: &[i64], count: usize, distinct: usize) -> Vec<i64> {
    let a = 1.0 + 12.1039 * libm::pow(distinct.max(1) as f64, -0.6026);
    let mut times: Vec<i64> = Vec::with_capacity(count);
    for rank in 1..=count {
        let x = rank as f64 / count as f64;
        let seconds = (a - 1.0) * x / (a - x) * largest as f64;
        let minutes = (seconds / 60.0).round() as i64 * MINUTE;
        let free = [0, 30, -30, 20, -20, 10, -10]
            .into_iter()
            .map(|offset| minutes + offset)
            .find(|time| {
                (1..largest).contains(time) && !head.contains(time) && !times.contains(time)
            });
        times.extend(free);
    }
    times
}

/// Percent of the jobs of the other estimates: proportional to `r^(−2.267)` from rank 21 on.
fn tail_sizes(count: usize, total: f64) -> Vec<f64> {
    let mut sizes: Vec<f64> = (0..count)
        .map(|index| libm::pow((HEAD + 1 + index) as f64, -2.267))
        .collect();
    let sum: f64 = sizes.iter().sum();
    for size in &mut sizes {
        *size *= total / sum;
    }
    sizes
}

/// Percentages into whole jobs that add up: floors, then one more for the largest remainders.
fn whole_jobs(percents: &[(i64, f64)], jobs: usize) -> Vec<(i64, usize)> {
    let exact: Vec<f64> = percents
        .iter()
        .map(|(_, percent)| percent / 100.0 * jobs as f64)
        .collect();
    let mut counts: Vec<usize> = exact.iter().map(|share| share.floor() as usize).collect();
    let missing = jobs.saturating_sub(counts.iter().sum());
    let mut order: Vec<usize> = (0..exact.len()).collect();
    order.sort_by(|&a, &b| {
        let remainder = |index: usize| exact[index] - exact[index].floor();
        remainder(b).total_cmp(&remainder(a)).then(a.cmp(&b))
    });
    for &index in order.iter().cycle().take(missing) {
        counts[index] += 1;
    }
    percents.iter().map(|(time, _)| *time).zip(counts).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::stream;

    #[test]
    fn the_head_of_an_18_hour_site_has_20_round_values() {
        let times = head_times(18 * HOUR);
        assert_eq!(times.len(), HEAD);
        assert_eq!(times[0], 18 * HOUR);
        // 14 shared values below 18 h; of the round ones 10 h and 5 h are there already, 15 h (5
        // h), then 16 h, 14 h (2 h) and, 12, 10, 8, 6, 4 and 2 h being shared, 17 h and 13 h... as
        // far as 20 are reached.
        for hours in [15, 16, 14] {
            assert!(times.contains(&(hours * HOUR)), "{hours} h");
        }
    }

    #[test]
    fn the_largest_estimate_is_the_most_popular_and_the_head_holds_89_percent() {
        let mut stream = stream(1, "estimates", 0, "test");
        let model = EstimateModel::default();
        let histogram = model.histogram(10_000, &mut stream);
        let total: usize = histogram.iter().map(|(_, jobs)| jobs).sum();
        assert_eq!(total, 10_000);
        let head = head_times(model.largest);
        let popular: usize = histogram
            .iter()
            .filter(|(time, _)| head.contains(time))
            .map(|(_, jobs)| jobs)
            .sum();
        assert!((8_890..=8_910).contains(&popular), "{popular}");
        // 89 − Σ (14.0491 e^(−0.177531 r) + 0.462513) over ranks 2 to 20 = 21.7 percent.
        let last = histogram.last().copied();
        assert!(
            matches!(last, Some((time, 2_100..=2_250)) if time == model.largest),
            "{last:?}"
        );
        // 90 distinct estimates for 10,000 jobs, some of them too rare for a job or without a free
        // time.
        assert!((80..=90).contains(&histogram.len()));
    }

    proptest! {
        #[test]
        fn no_estimate_is_below_its_runtime(
            mut runtimes in prop::collection::vec(1_i64..100_000, 1..400),
            largest_hours in 1_i64..60,
            seed in 0_u64..1_000,
        ) {
            let mut stream = stream(seed, "estimates", 0, "test");
            let before = runtimes.clone();
            let model = EstimateModel { largest: largest_hours * HOUR };
            let assigned = model.assign(&mut runtimes, &mut stream);
            prop_assert_eq!(assigned.estimates.len(), runtimes.len());
            for ((runtime, original), estimate) in runtimes.iter().zip(before).zip(assigned.estimates) {
                prop_assert_eq!(*runtime, original.min(model.largest));
                prop_assert!(*runtime <= estimate && estimate <= model.largest);
            }
        }

        #[test]
        fn popularities_are_a_permutation(count in 1_usize..=HEAD, seed in 0_u64..1_000) {
            let mut stream = stream(seed, "popularity", 0, "test");
            let mut ranks = popularity_ranks(count, &mut stream);
            prop_assert_eq!(ranks[0], 0);
            ranks.sort_unstable();
            prop_assert_eq!(ranks, (0..count).collect::<Vec<_>>());
        }
    }
}
