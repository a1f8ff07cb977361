//! The published margins of the Arminius log, and the joint table of users, estimates, nodes and
//! workers that has them.

use crate::random::Stream;
use crate::workload::variates::{running_sums, uniform, weighted};

/// A class of estimates: its jobs in 2007 and the values that we let it hold, in seconds with
/// weights.
pub(super) struct EstimateClass {
    pub(super) jobs: f64,
    pub(super) values: &'static [(i64, f64)],
}

/// A class of sizes: its jobs in 2007 and the sizes that we let it hold, in nodes with weights.
pub(super) struct NodeClass {
    pub(super) jobs: f64,
    pub(super) sizes: &'static [(i64, f64)],
}

/// Table 4.2. The weights of the last class are tilted to meet the mean estimate.
pub(super) const ESTIMATE_CLASSES: [EstimateClass; 8] = [
    EstimateClass {
        jobs: 5_685.0,
        values: &[(120, 0.2), (300, 0.6), (480, 0.2)],
    },
    EstimateClass {
        jobs: 5_806.0,
        values: &[(600, 0.55), (900, 0.1), (1_200, 0.1), (1_800, 0.25)],
    },
    EstimateClass {
        jobs: 1_070.0,
        values: &[(3_600, 0.7), (5_400, 0.3)],
    },
    EstimateClass {
        jobs: 827.0,
        values: &[(7_200, 0.8), (9_000, 0.2)],
    },
    EstimateClass {
        jobs: 11_945.0,
        values: &[(10_800, 0.7), (12_600, 0.3)],
    },
    EstimateClass {
        jobs: 814.0,
        values: &[(14_400, 0.85), (16_200, 0.15)],
    },
    EstimateClass {
        jobs: 3_770.0,
        values: &[(18_000, 0.2), (21_600, 0.3), (28_800, 0.25), (36_000, 0.25)],
    },
    EstimateClass {
        jobs: 3_401.0,
        values: &[
            (43_200, 1.0),
            (86_400, 1.0),
            (172_800, 1.0),
            (259_200, 1.0),
            (345_600, 1.0),
            (432_000, 1.0),
            (604_800, 1.0),
        ],
    },
];

/// Table 4.3.
pub(super) const NODE_CLASSES: [NodeClass; 8] = [
    NodeClass {
        jobs: 7_582.0,
        sizes: &[(1, 1.0)],
    },
    NodeClass {
        jobs: 11_600.0,
        sizes: &[(2, 1.0)],
    },
    NodeClass {
        jobs: 5_675.0,
        sizes: &[(3, 0.25), (4, 0.75)],
    },
    NodeClass {
        jobs: 4_418.0,
        sizes: &[(5, 0.1), (6, 0.15), (8, 0.75)],
    },
    NodeClass {
        jobs: 2_864.0,
        sizes: &[(10, 0.1), (12, 0.2), (16, 0.7)],
    },
    NodeClass {
        jobs: 982.0,
        sizes: &[(20, 0.2), (24, 0.2), (32, 0.6)],
    },
    NodeClass {
        jobs: 131.0,
        sizes: &[(40, 0.2), (48, 0.3), (64, 0.5)],
    },
    NodeClass {
        jobs: 66.0,
        sizes: &[(100, 0.5), (128, 0.3), (200, 0.2)],
    },
];

/// Table 4.4: scampi, mpich, starcd, shell, g03, mvapich, pshell, openfoam, and the jobs that it
/// lacks.
pub(super) const WORKERS: [f64; 9] = [
    22_635.0, 3_447.0, 3_017.0, 1_767.0, 1_325.0, 455.0, 306.0, 153.0, 213.0,
];

/// Table 4.5.
pub(super) const TOP_USERS: [f64; 10] = [
    11_480.0, 2_821.0, 1_830.0, 1_524.0, 1_247.0, 1_205.0, 1_130.0, 1_115.0, 750.0, 740.0,
];
/// Users besides the ten (112 in all).
pub(super) const OTHER_USERS: usize = 102;
/// All jobs of 2007.
const JOBS: f64 = 33_318.0;

const USERS: usize = TOP_USERS.len() + 1;
const SHAPE: [usize; 4] = [
    USERS,
    ESTIMATE_CLASSES.len(),
    NODE_CLASSES.len(),
    WORKERS.len(),
];
const CELLS: usize = SHAPE[0] * SHAPE[1] * SHAPE[2] * SHAPE[3];
const ROUNDS: usize = 200;

/// One cell of the joint table, by index into the published tables; user 10 stands for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) user: usize,
    pub(super) estimate: usize,
    pub(super) nodes: usize,
    pub(super) worker: usize,
}

impl Cell {
    fn of(index: usize) -> Self {
        let (rest, worker) = (index / SHAPE[3], index % SHAPE[3]);
        let (rest, nodes) = (rest / SHAPE[2], rest % SHAPE[2]);
        Self {
            user: rest / SHAPE[1],
            estimate: rest % SHAPE[1],
            nodes,
            worker,
        }
    }

    fn coordinate(self, axis: usize) -> usize {
        [self.user, self.estimate, self.nodes, self.worker][axis]
    }
}

/// Expected jobs of every cell: start from what the text says goes together, then scale to the four
/// published margins in turn until all hold (iterative proportional fitting).
pub(super) struct JointTable {
    jobs: Vec<f64>,
    running: Vec<f64>,
}

impl JointTable {
    pub(super) fn fitted() -> Self {
        let mut users = TOP_USERS.to_vec();
        users.push(JOBS - TOP_USERS.iter().sum::<f64>());
        let margins: [Vec<f64>; 4] = [
            users,
            ESTIMATE_CLASSES.iter().map(|class| class.jobs).collect(),
            NODE_CLASSES.iter().map(|class| class.jobs).collect(),
            WORKERS.to_vec(),
        ];
        let mut jobs: Vec<f64> = (0..CELLS).map(|index| affinity(Cell::of(index))).collect();
        for _ in 0..ROUNDS {
            for (axis, margin) in margins.iter().enumerate() {
                let mut sums = vec![0.0; margin.len()];
                for (index, jobs) in jobs.iter().enumerate() {
                    sums[Cell::of(index).coordinate(axis)] += jobs;
                }
                for (index, jobs) in jobs.iter_mut().enumerate() {
                    let place = Cell::of(index).coordinate(axis);
                    *jobs *= margin[place] / sums[place];
                }
            }
        }
        let running = running_sums(jobs.iter().copied());
        Self { jobs, running }
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> Cell {
        Cell::of(weighted(&self.running, stream))
    }

    /// A cell of this user.
    pub(super) fn draw_of_user(&self, user: usize, stream: &mut Stream) -> Cell {
        // Users are the slowest index, so the cells of one are consecutive.
        let first = user * CELLS / USERS;
        let before = first.checked_sub(1).map_or(0.0, |last| self.running[last]);
        let sums = &self.running[first..first + CELLS / USERS];
        let point = before + uniform(stream) * (sums[sums.len() - 1] - before);
        let place = sums.partition_point(|sum| *sum <= point);
        Cell::of(first + place.min(sums.len() - 1))
    }

    /// Every cell with its share of the jobs.
    pub(super) fn cells(&self) -> impl Iterator<Item = (Cell, f64)> {
        let total = self.running[CELLS - 1];
        self.jobs
            .iter()
            .enumerate()
            .map(move |(index, jobs)| (Cell::of(index), jobs / total))
    }
}

/// How much more often than by chance a user's jobs have this estimate, size and worker.
fn affinity(cell: Cell) -> f64 {
    let user = match cell.user {
        // "Visible in the other classes' curves": two-node jobs, 3 to 4 h and scampi are the large,
        // well estimated classes.
        0 => {
            [0.2, 0.2, 1.0, 1.0, 8.0, 1.0, 1.5, 0.7][cell.estimate]
                * if cell.nodes == 1 { 6.0 } else { 1.0 }
                * if cell.worker == 0 { 6.0 } else { 0.5 }
        }
        // Ends at once: short estimates, one node, mpich.
        1 => {
            [6.0, 6.0, 4.0, 0.5, 0.2, 0.2, 0.2, 0.1][cell.estimate]
                * if cell.nodes == 0 { 4.0 } else { 1.0 }
                * if cell.worker == 1 { 12.0 } else { 1.0 }
        }
        2 => [4.0, 6.0, 4.0, 0.5, 0.2, 0.2, 0.2, 0.1][cell.estimate],
        // The bump of the class from 2 to 3 h.
        5 => [1.0, 1.0, 1.0, 8.0, 0.3, 0.5, 1.0, 0.3][cell.estimate],
        _ => 1.0,
    };
    // Automatic probes: one node, some minutes.
    let probe = if cell.nodes == 0 && cell.estimate <= 1 {
        2.0
    } else {
        1.0
    };
    user * probe
}

/// Weights of the values of each estimate class; those of the last class fall or rise geometrically
/// from value to value so that the mean of all jobs is `mean` seconds.
pub(super) fn estimate_weights(mean: f64) -> [Vec<f64>; ESTIMATE_CLASSES.len()] {
    let weights = |tilt: f64| {
        let mut weights =
            ESTIMATE_CLASSES.map(|class| class.values.iter().map(|value| value.1).collect());
        let last: &mut Vec<f64> = &mut weights[ESTIMATE_CLASSES.len() - 1];
        for (place, weight) in last.iter_mut().enumerate() {
            *weight *= libm::exp(tilt * place as f64);
        }
        weights
    };
    let overall = |tilt: f64| {
        let means = estimate_means(&weights(tilt));
        let sum: f64 = ESTIMATE_CLASSES
            .iter()
            .zip(means)
            .map(|(class, mean)| class.jobs * mean)
            .sum();
        sum / JOBS
    };
    weights(solve(overall, mean))
}

/// Mean estimate of each class in seconds.
pub(super) fn estimate_means(
    weights: &[Vec<f64>; ESTIMATE_CLASSES.len()],
) -> [f64; ESTIMATE_CLASSES.len()] {
    let mut means = [0.0; ESTIMATE_CLASSES.len()];
    for ((mean, class), weights) in means.iter_mut().zip(&ESTIMATE_CLASSES).zip(weights) {
        let total: f64 = weights.iter().sum();
        let sum: f64 = class
            .values
            .iter()
            .zip(weights)
            .map(|(value, weight)| value.0 as f64 * weight)
            .sum();
        *mean = sum / total;
    }
    means
}

/// The argument in [−8, 8] at which an increasing function reaches `target`, by bisection.
pub(super) fn solve(function: impl Fn(f64) -> f64, target: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if function(middle) < target {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_joint_table_has_the_four_published_margins() {
        // Birkenheuer 2012, Tables 4.2 and 4.3: both sum to 33,318.
        assert_eq!(
            ESTIMATE_CLASSES.iter().map(|class| class.jobs).sum::<f64>(),
            JOBS
        );
        assert_eq!(
            NODE_CLASSES.iter().map(|class| class.jobs).sum::<f64>(),
            JOBS
        );
        assert_eq!(WORKERS.iter().sum::<f64>(), JOBS);
        let table = JointTable::fitted();
        for (axis, places) in [(0, TOP_USERS.to_vec()), (3, WORKERS.to_vec())] {
            for (place, jobs) in places.into_iter().enumerate() {
                let share: f64 = table
                    .cells()
                    .filter(|(cell, _)| cell.coordinate(axis) == place)
                    .map(|(_, share)| share)
                    .sum();
                assert!(
                    (share * JOBS - jobs).abs() < 0.01,
                    "{axis} {place}: {}",
                    share * JOBS
                );
            }
        }
        let two_nodes: f64 = table
            .cells()
            .filter(|(cell, _)| cell.nodes == 1)
            .map(|(_, share)| share * JOBS)
            .sum();
        assert!((two_nodes - 11_600.0).abs() < 0.01);
    }

    #[test]
    fn the_tilted_estimates_have_the_published_mean() {
        let means = estimate_means(&estimate_weights(30_432.0));
        let mean = ESTIMATE_CLASSES
            .iter()
            .zip(means)
            .map(|(class, mean)| class.jobs * mean)
            .sum::<f64>()
            / JOBS;
        assert!((mean - 30_432.0).abs() < 1e-6, "{mean}");
    }
}
