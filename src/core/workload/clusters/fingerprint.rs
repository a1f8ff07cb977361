//! Which windows of a trace look like the clusters of the thesis (Q19): it says how many jobs each
//! had and how accurate their limits were, and not where they were cut.

use super::merging::{Merger, Scratch};
use crate::units::Seconds;

/// What the thesis prints of a cluster that does not depend on its scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedCluster {
    /// Jobs submitted within two weeks, after merging (Table 6(a)).
    pub jobs: u32,
    /// Mean of run time ÷ limit (Table 6(d)).
    pub accuracy: f64,
}

/// Table 6(a) and (d), clusters 0 to 6.
pub const PUBLISHED_CLUSTERS: [PublishedCluster; 7] = [
    published(2226, 0.23),
    published(1026, 0.45),
    published(2167, 0.37),
    published(1829, 0.40),
    published(1955, 0.36),
    published(1771, 0.36),
    published(2068, 0.32),
];

const fn published(jobs: u32, accuracy: f64) -> PublishedCluster {
    PublishedCluster { jobs, accuracy }
}

/// The window of the published numbers.
const PUBLISHED_LENGTH: Seconds = Seconds(14 * 86_400);
/// Windows are looked for at multiples of this.
pub const FINGERPRINT_STEP: Seconds = Seconds(6 * 3_600);

/// The starts of the windows that are nearest to the published clusters, in their order: all of
/// them, or as many of the first as the trace holds without overlap.
///
/// The distance of a window is the sum of the squares of its relative differences in number of jobs
/// (of longer and shorter windows: a day) and in accuracy; the sum of the distances is the least of
/// all ways to place the windows without overlap.
pub(super) fn nearest(merger: &Merger, length: Seconds) -> Vec<Seconds> {
    let places = 1 + (merger.span() - length).0.div_euclid(FINGERPRINT_STEP.0);
    if places < 1 {
        return Vec::new();
    }
    let starts: Vec<Seconds> = (0..places).map(|place| FINGERPRINT_STEP * place).collect();
    let mut scratch = Scratch::default();
    let distances: Vec<[f64; PUBLISHED_CLUSTERS.len()]> = starts
        .iter()
        .map(|&start| {
            merger.merge_into(start, start + length, &mut scratch);
            let jobs = scratch.buckets.len() as f64;
            let sum: f64 = scratch.buckets.iter().map(super::Bucket::accuracy).sum();
            let accuracy = sum / jobs.max(1.0);
            let days = length.0 as f64 / PUBLISHED_LENGTH.0 as f64;
            PUBLISHED_CLUSTERS.map(|cluster| {
                let wanted = f64::from(cluster.jobs) * days;
                let by_jobs = (jobs - wanted) / wanted;
                let by_accuracy = (accuracy - cluster.accuracy) / cluster.accuracy;
                by_jobs * by_jobs + by_accuracy * by_accuracy
            })
        })
        .collect();
    let apart = (length.0 as u64).div_ceil(FINGERPRINT_STEP.0 as u64) as usize;
    for clusters in (1..=PUBLISHED_CLUSTERS.len()).rev() {
        if let Some(chosen) = place(&distances, clusters, apart) {
            return chosen.into_iter().map(|index| starts[index]).collect();
        }
    }
    Vec::new()
}

/// For each of the first `clusters` columns a row of its own, any two at least `apart` rows from
/// each other, with the least sum: the least cost of the rows from `row` on for every set of
/// clusters that are placed before. Equal sums: the earlier rows.
fn place<const N: usize>(costs: &[[f64; N]], clusters: usize, apart: usize) -> Option<Vec<usize>> {
    let sets = 1_usize << clusters;
    let rows = costs.len();
    let mut least = vec![f64::INFINITY; (rows + 1) * sets];
    least[rows * sets + sets - 1] = 0.0;
    let after = |row: usize| (row + apart).min(rows);
    for row in (0..rows).rev() {
        for set in 0..sets {
            let mut best = least[(row + 1) * sets + set];
            for cluster in 0..clusters {
                if set & (1 << cluster) == 0 {
                    let then = least[after(row) * sets + (set | 1 << cluster)];
                    best = best.min(costs[row][cluster] + then);
                }
            }
            least[row * sets + set] = best;
        }
    }
    if !least[0].is_finite() {
        return None;
    }
    let mut chosen = vec![0; clusters];
    let (mut row, mut set) = (0, 0);
    while set != sets - 1 && row < rows {
        let wanted = least[row * sets + set];
        let here = (0..clusters).find(|cluster| {
            set & (1 << cluster) == 0
                && costs[row][*cluster] + least[after(row) * sets + (set | 1 << cluster)] == wanted
        });
        match here {
            Some(cluster) => {
                chosen[cluster] = row;
                set |= 1 << cluster;
                row = after(row);
            }
            None => row += 1,
        }
    }
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every way to place three windows, one after the other.
    fn slow(costs: &[[f64; 3]], apart: usize) -> Option<f64> {
        let mut best: Option<f64> = None;
        for a in 0..costs.len() {
            for b in 0..costs.len() {
                for c in 0..costs.len() {
                    let near = |x: usize, y: usize| x.abs_diff(y) < apart;
                    if near(a, b) || near(a, c) || near(b, c) {
                        continue;
                    }
                    let sum = costs[a][0] + costs[b][1] + costs[c][2];
                    best = Some(best.map_or(sum, |best| best.min(sum)));
                }
            }
        }
        best
    }

    proptest! {
        #[test]
        fn no_other_placing_without_overlap_is_nearer(
            costs in prop::collection::vec(prop::array::uniform3(0_u8..40), 1..14),
            apart in 1_usize..6,
        ) {
            let costs: Vec<[f64; 3]> = costs.iter().map(|row| row.map(f64::from)).collect();
            let chosen = place(&costs, 3, apart);
            let sum = chosen.as_ref().map(|rows| {
                (0..3).map(|cluster| costs[rows[cluster]][cluster]).sum::<f64>()
            });
            prop_assert_eq!(sum, slow(&costs, apart));
            if let Some(mut rows) = chosen {
                rows.sort_unstable();
                prop_assert!(rows.windows(2).all(|pair| pair[1] - pair[0] >= apart));
            }
        }
    }
}
