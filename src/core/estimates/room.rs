//! Whether jobs that may end early will have made room when somebody else wants to start.

use crate::units::Seconds;

/// A job in front: it may still hold its nodes at a start that lies before its planned end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// Nodes that it holds.
    pub nodes: u32,
    /// The probability that it has not ended at the start, in `[0, 1]`.
    pub holds: f64,
    /// When it leaves them at the latest.
    pub until: Seconds,
}

/// The probability that enough tails have ended at a start: with `H` the tails that have not, and
/// `T_k` the `k` tails that may last longest,
///
/// `P = P(for every k: Σ_{i ∈ H ∩ T_k} nodes_i ≤ room[k])`.
///
/// `tails` are sorted by `until`, the latest first; `room[k]` is how many nodes may be held while
/// exactly the first `k` tails can still last (negative for none), and has one entry more than
/// there are tails. The event is the exact one for a window whose room changes in time, provided
/// that who holds nodes at the start is taken to hold them until his planned end. The sum goes over
/// the distribution of held nodes, tail by tail; what exceeds the room is cut off there, which is
/// exact for independent run times. It takes `tails · nodes` steps.
#[must_use]
pub fn probability_of_room(tails: &[Tail], room: &[i64]) -> f64 {
    let most: i64 = tails.iter().map(|tail| i64::from(tail.nodes)).sum();
    let limit = |k: usize| room.get(k).copied().unwrap_or(i64::MAX).min(most);
    if limit(0) < 0 {
        return 0.0;
    }
    let mut held = vec![1.0];
    for (index, tail) in tails.iter().enumerate() {
        let Ok(bound) = usize::try_from(limit(index + 1)) else {
            // Not even no node may be held.
            return 0.0;
        };
        let nodes = tail.nodes as usize;
        let holds = tail.holds.clamp(0.0, 1.0);
        let mut next = vec![0.0; (held.len() + nodes).min(bound + 1)];
        for (sum, &probability) in held.iter().enumerate() {
            if let Some(ended) = next.get_mut(sum) {
                *ended += probability * (1.0 - holds);
            }
            if let Some(lasting) = next.get_mut(sum + nodes) {
                *lasting += probability * holds;
            }
        }
        held = next;
    }
    held.iter().sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tail(nodes: u32, holds: f64, until: i64) -> Tail {
        Tail {
            nodes,
            holds,
            until: Seconds(until),
        }
    }

    /// Every subset of tails by itself.
    fn enumerated(tails: &[Tail], room: &[i64]) -> f64 {
        let mut total = 0.0;
        for subset in 0_u32..1 << tails.len() {
            let (mut probability, mut sum) = (1.0, 0);
            let mut fits = room[0] >= 0;
            for (index, tail) in tails.iter().enumerate() {
                if subset & (1 << index) == 0 {
                    probability *= 1.0 - tail.holds;
                } else {
                    probability *= tail.holds;
                    sum += i64::from(tail.nodes);
                }
                fits &= sum <= room[index + 1];
            }
            if fits {
                total += probability;
            }
        }
        total
    }

    #[test]
    fn one_of_two_equal_jobs_must_have_ended() {
        let tails = [tail(2, 0.5, 20), tail(2, 0.25, 10)];
        assert_eq!(probability_of_room(&tails, &[4, 4, 2]), 1.0 - 0.125);
        assert_eq!(probability_of_room(&tails, &[4, 4, 4]), 1.0);
        assert_eq!(probability_of_room(&tails, &[4, 4, 0]), 0.5 * 0.75);
        // Only while the longer one alone can last is there nothing left.
        assert_eq!(probability_of_room(&tails, &[4, 0, 4]), 0.5);
        assert_eq!(probability_of_room(&tails, &[-1, 4, 4]), 0.0);
        assert_eq!(probability_of_room(&tails, &[4, 4, -1]), 0.0);
        assert_eq!(probability_of_room(&[], &[0]), 1.0);
    }

    proptest! {
        #[test]
        fn the_sum_is_that_over_all_subsets(
            tails in prop::collection::vec((0_u32..6, 0.0_f64..=1.0), 0..9),
            room in prop::collection::vec(prop_oneof![-1_i64..24, Just(i64::MAX)], 10),
        ) {
            let tails: Vec<Tail> = tails.iter().zip((0..100).rev()).map(|(&(nodes, holds), until)| tail(nodes, holds, until)).collect();
            let room = &room[..=tails.len()];
            let (found, expected) = (probability_of_room(&tails, room), enumerated(&tails, room));
            prop_assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
        }
    }
}
