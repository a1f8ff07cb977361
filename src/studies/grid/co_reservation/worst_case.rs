//! Upper bounds: the number of candidates, and the number of messages of a search.

use super::algorithm::Repair;

/// The complete candidates of `starts` starts: `z · C(c, r) · r!` on `c` clusters that are large
/// enough for each of `r` parts (Meltzer 2005, eq. 1). Where clusters differ in size, `fitting`
/// says how many are large enough for each part, most CPUs first; a cluster that holds a part holds
/// every smaller one.
#[must_use]
pub fn variations(starts: u64, fitting: &[u64]) -> f64 {
    let free = (0..)
        .zip(fitting)
        .map(|(placed, &large)| large.saturating_sub(placed));
    free.fold(starts as f64, |product, free| product * free as f64)
}

/// The most reserve and cancel messages of one search (Meltzer 2005, §6.1): `C + 2·Σ_{i<r} C_i`
/// with chronological repair, `(2r−1)·C` with best-first repair (Q6), and `2r − 1` for the one
/// candidate of a search without repair. 0 where there is no candidate. `fitting` as for
/// [`variations`].
#[must_use]
pub fn worst_case(starts: u64, fitting: &[u64], repair: Repair) -> f64 {
    let complete = variations(starts, fitting);
    let parts = fitting.len();
    if complete == 0.0 || parts == 0 {
        return 0.0;
    }
    let once_each = (2 * parts - 1) as f64;
    match repair {
        Repair::Chronological => {
            let inner: f64 = (1..parts)
                .map(|part| variations(starts, &fitting[..part]))
                .sum();
            complete + 2.0 * inner
        }
        Repair::BestFirst => once_each * complete,
        Repair::None => once_each,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t1_candidates_by_starts_clusters_and_parts() {
        assert_eq!(variations(3, &[4; 2]), 36.0);
        assert_eq!(variations(200, &[7; 2]), 8_400.0);
        let table = [
            (1, [4.0, 8.0, 12.0]),
            (2, [12.0, 56.0, 132.0]),
            (3, [24.0, 336.0, 1_320.0]),
            (4, [24.0, 1_680.0, 11_880.0]),
        ];
        for (parts, row) in table {
            assert_eq!(
                [4, 8, 12].map(|clusters| variations(1, &vec![clusters; parts])),
                row
            );
        }
        assert_eq!(variations(5, &[2; 3]), 0.0);
    }

    #[test]
    fn t5_worst_case_messages() {
        let chronological = |z, c, r| worst_case(z, &vec![c; r], Repair::Chronological);
        assert_eq!(chronological(20, 4, 2), 400.0);
        assert_eq!(chronological(20, 7, 3), 6_160.0);
        assert_eq!(chronological(4, 3, 2), 48.0);
        assert_eq!(worst_case(20, &[4; 2], Repair::BestFirst), 720.0);
        assert_eq!(worst_case(20, &[7; 3], Repair::None), 5.0);
        assert_eq!(worst_case(20, &[2; 3], Repair::None), 0.0);
    }

    #[test]
    fn clusters_that_are_too_small_for_a_part_do_not_count_for_it() {
        // The large part goes to one cluster only, the small one then to either of two: C_1 = 1,
        // C = 2.
        assert_eq!(worst_case(1, &[1, 3], Repair::Chronological), 4.0);
    }
}
