//! Classes of users or jobs whose distributions are alike, made one (Birkenheuer 2012, §4.2.5:
//! several classes are alike and could be merged).

use super::RATIO_BINS;

/// A class with those that were merged into it.
struct Group {
    /// The one with the smallest index.
    first: usize,
    counts: [u64; RATIO_BINS],
    /// The cumulative distribution of the counts.
    shares: [f64; RATIO_BINS],
}

impl Group {
    fn of(first: usize, counts: [u64; RATIO_BINS]) -> Option<Self> {
        let jobs: u64 = counts.iter().sum();
        let mut below = 0;
        let shares = counts.map(|count| {
            below += count;
            below as f64 / jobs as f64
        });
        (jobs > 0).then_some(Self {
            first,
            counts,
            shares,
        })
    }

    /// The largest difference of both cumulative distributions (Kolmogorov and Smirnov).
    fn distance(&self, other: &Self) -> f64 {
        let pairs = self.shares.iter().zip(&other.shares);
        pairs
            .map(|(one, other)| (one - other).abs())
            .fold(0.0, f64::max)
    }
}

/// By class, the one that it belongs to: itself, or one before it.
///
/// The two that are most alike are merged, their jobs are put together, and so on until the next
/// two are further apart than `distance`; of equally distant ones those with the smaller indices
/// come first. Classes without jobs stay by themselves. Class 0, all jobs, is no class of its own
/// and must have no counts here. The time grows with the cube of the number of classes.
pub(super) fn merged(counts: &[[u64; RATIO_BINS]], distance: f64) -> Vec<usize> {
    let mut belongs: Vec<usize> = (0..counts.len()).collect();
    let mut groups: Vec<Group> = (counts.iter().enumerate())
        .filter_map(|(class, counts)| Group::of(class, *counts))
        .collect();
    let mut apart: Vec<Vec<f64>> = (groups.iter().enumerate())
        .map(|(place, group)| {
            (groups[..place].iter())
                .map(|other| group.distance(other))
                .collect()
        })
        .collect();
    while let Some((one, other)) = closest(&apart, distance) {
        let gone = groups.remove(other);
        apart.remove(other);
        for row in apart.iter_mut().skip(other) {
            row.remove(other);
        }
        let kept = groups[one].first;
        for class in &mut belongs {
            if *class == gone.first {
                *class = kept;
            }
        }
        let mut counts = groups[one].counts;
        for (sum, count) in counts.iter_mut().zip(gone.counts) {
            *sum += count;
        }
        if let Some(group) = Group::of(kept, counts) {
            groups[one] = group;
        }
        for place in 0..groups.len() {
            let (low, high) = (place.min(one), place.max(one));
            if low < high {
                apart[high][low] = groups[high].distance(&groups[low]);
            }
        }
    }
    belongs
}

/// The two groups that are least apart, the one before the other, unless they are further apart
/// than that.
fn closest(apart: &[Vec<f64>], distance: f64) -> Option<(usize, usize)> {
    let mut best: Option<(f64, usize, usize)> = None;
    for (other, row) in apart.iter().enumerate() {
        for (one, &distance_between) in row.iter().enumerate() {
            let is_closer = best.is_none_or(|(least, first, second)| {
                distance_between < least
                    || distance_between == least && (one, other) < (first, second)
            });
            if distance_between <= distance && is_closer {
                best = Some((distance_between, one, other));
            }
        }
    }
    best.map(|(_, one, other)| (one, other))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::estimates::testutils::job;
    use crate::estimates::{ClassFamily, EstimateModel, EstimateSettings, UserHistory};
    use crate::workload::Job;

    /// So many jobs at these percents.
    fn counts(jobs: &[(usize, u64)]) -> [u64; RATIO_BINS] {
        let mut counts = [0; RATIO_BINS];
        for (percent, number) in jobs {
            counts[*percent] += number;
        }
        counts
    }

    #[test]
    fn the_most_alike_are_merged_first_and_then_compared_as_one() {
        // Shares of jobs that end by 10 %: 0.5, 0.6 and 0.72; the others use everything.
        let classes = [
            [0; RATIO_BINS],
            counts(&[(10, 5), (100, 5)]),
            counts(&[(10, 6), (100, 4)]),
            counts(&[(10, 72), (100, 28)]),
            [0; RATIO_BINS],
        ];
        assert_eq!(merged(&classes, 0.09), [0, 1, 2, 3, 4]);
        // The first two are 0.1 apart; together they have 0.55 and are 0.17 from the third, which
        // alone is 0.12 from the second.
        assert_eq!(merged(&classes, 0.13), [0, 1, 1, 3, 4]);
        assert_eq!(merged(&classes, 0.171), [0, 1, 1, 1, 4]);
    }

    #[test]
    fn classes_that_are_the_same_are_merged_at_any_distance() {
        let alike = counts(&[(20, 1), (30, 3)]);
        let twice = counts(&[(20, 2), (30, 6)]);
        let classes = [[0; RATIO_BINS], alike, counts(&[(90, 1)]), twice];
        assert_eq!(merged(&classes, 0.0), [0, 1, 2, 1]);
    }

    #[test]
    fn jobs_of_users_that_are_alike_have_one_distribution() {
        // Users 1 and 3 use 10 and 20 % of what they ask for, user 2 90 %; user 9 has no class.
        let jobs: Vec<Job> = [
            (10, 1),
            (20, 1),
            (90, 2),
            (90, 2),
            (10, 3),
            (20, 3),
            (50, 9),
        ]
        .map(|(percent, user)| job(100, percent, 1, user))
        .to_vec();
        let learned = |merge_distance| {
            let settings = EstimateSettings {
                family: ClassFamily::User { top: 3 },
                merge_distance,
                ..EstimateSettings::default()
            };
            EstimateModel::learn(&jobs, &settings).unwrap()
        };
        let classes = |model: &EstimateModel| -> Vec<(u16, u64)> {
            let of = |job| {
                let (class, distribution) = model.lookup(job, &UserHistory::default());
                (class, distribution.samples())
            };
            [&jobs[0], &jobs[2], &jobs[4], &jobs[6]].map(of).to_vec()
        };
        let apart = [(1, 2), (2, 2), (3, 2), (0, 7)];
        assert_eq!(classes(&learned(0.0)), apart);
        let model = learned(0.1);
        assert_eq!(classes(&model), [(1, 4), (2, 2), (1, 4), (0, 7)]);
        let of: Vec<_> = model
            .classes()
            .iter()
            .map(|it| (it.samples, it.falls_back_to))
            .collect();
        assert_eq!(of, [(7, None), (4, None), (2, None), (2, Some(1))]);
        // All users with a class are one, and still not those without.
        assert_eq!(classes(&learned(1.0)), [(1, 6), (1, 6), (1, 6), (0, 7)]);
    }

    proptest! {
        /// What is left is further apart than the distance, and belongs to itself.
        #[test]
        fn what_is_left_is_further_apart(
            drawn in prop::collection::vec(
                prop::collection::vec((0_usize..RATIO_BINS, 0_u64..9), 0..6), 1..9),
            distance in 0.0_f64..0.7,
        ) {
            let mut classes = vec![[0; RATIO_BINS]];
            classes.extend(drawn.iter().map(|jobs| counts(jobs)));
            let belongs = merged(&classes, distance);
            let mut pooled = vec![[0_u64; RATIO_BINS]; classes.len()];
            for (class, &group) in belongs.iter().enumerate() {
                prop_assert!(group <= class && belongs[group] == group);
                for (sum, count) in pooled[group].iter_mut().zip(classes[class]) {
                    *sum += count;
                }
            }
            let groups: Vec<Group> =
                pooled.iter().filter_map(|counts| Group::of(0, *counts)).collect();
            for (place, group) in groups.iter().enumerate() {
                for other in &groups[..place] {
                    prop_assert!(group.distance(other) > distance);
                }
            }
        }
    }
}
