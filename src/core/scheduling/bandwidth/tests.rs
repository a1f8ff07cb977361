//! Closed forms, writes that are reckoned by hand, and a twin that hands out every second.

use proptest::prelude::*;

use super::*;

/// All ends of writes that begin at these times, if nobody leaves: by job, when it was through and
/// how long it waited.
fn ends(cost: i64, begins: &[i64]) -> Vec<(i64, i64)> {
    let writes: Vec<(i64, i64)> = begins.iter().map(|&begin| (begin, 1)).collect();
    ends_of_shares(cost, 1, &writes)
}

/// The same of writes with so many shares, of which so many are served in full.
fn ends_of_shares(cost: i64, capacity: i64, writes: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let begins: Vec<i64> = writes.iter().map(|&(begin, _)| begin).collect();
    let mut bandwidth = SharedBandwidth::new(Seconds(cost), capacity);
    let mut order: Vec<usize> = (0..begins.len()).collect();
    order.sort_by_key(|&job| begins[job]);
    let mut found = vec![(0, 0); begins.len()];
    let mut pending = order.into_iter().peekable();
    loop {
        let end = bandwidth.next_end();
        match pending.peek() {
            Some(&job) if end.is_none_or(|end| Seconds(begins[job]) < end) => {
                bandwidth.join(Seconds(begins[job]), JobId(job as u32), writes[job].1);
                pending.next();
            }
            _ => {
                let Some(end) = end else {
                    return found;
                };
                let through = bandwidth.take_through(end);
                assert!(!through.is_empty(), "an end was announced");
                for (job, waited) in through {
                    found[job.0 as usize] = (end.0, waited.0);
                }
            }
        }
    }
}

#[test]
fn a_write_that_is_alone_takes_what_it_costs() {
    assert_eq!(ends(60, &[5]), [(65, 0)]);
    assert_eq!(ends(60, &[5, 65, 200]), [(65, 0), (125, 0), (260, 0)]);
}

#[test]
fn k_writes_that_begin_together_take_k_times_as_long() {
    for k in 1..=16 {
        let expected = vec![(k * 60, (k - 1) * 60); k as usize];
        assert_eq!(ends(60, &vec![0; k as usize]), expected, "{k} writers");
    }
    // Seventeen share 720,720 parts: 42,395 each, so that 60 s take ⌈60 · 720,720 / 42,395⌉ =
    // ⌈1,020.007⌉ s.
    assert_eq!(ends(60, &[0; 17])[16], (1_021, 961));
}

#[test]
fn staggered_writes_share_the_time_in_which_both_write() {
    // Alone until 20 (40 s left), then half a second a second: through at 100. The other has 40 s
    // by then, and 20 s left alone.
    assert_eq!(ends(60, &[0, 20]), [(100, 40), (120, 40)]);
    // Half of each second from 1 to 19 brings 9 of 10 s; the last of the first one's seconds is the
    // second one's, too.
    assert_eq!(ends(10, &[0, 1]), [(19, 9), (20, 9)]);
    // A third of each second from 2: 10 − 1 − ½ = 8.5 s take 25.5 s, and the second that is begun
    // is finished.
    assert_eq!(ends(10, &[0, 1, 2])[0], (28, 18));
}

#[test]
fn nodes_write_at_full_speed_until_there_are_more_than_the_capacity() {
    // 4 and 6 of 10 nodes do not slow each other down; 10 and 30 take four times as long, 25 alone
    // two and a half times.
    assert_eq!(ends_of_shares(60, 10, &[(0, 4), (0, 6)]), [(60, 0); 2]);
    let slow = ends_of_shares(60, 10, &[(0, 10), (0, 30)]);
    assert_eq!(slow, [(240, 180); 2]);
    assert_eq!(ends_of_shares(60, 10, &[(0, 25)]), [(150, 90)]);
}

#[test]
fn a_writer_that_leaves_gives_its_share_back() {
    let mut bandwidth = SharedBandwidth::new(Seconds(10), 1);
    bandwidth.join(Seconds(0), JobId(0), 1);
    bandwidth.join(Seconds(0), JobId(1), 1);
    // After 8 s each has written 4.
    assert_eq!(bandwidth.leave(Seconds(8), JobId(0)), Some(Seconds(4)));
    assert_eq!(bandwidth.leave(Seconds(8), JobId(0)), None);
    assert_eq!(bandwidth.next_end(), Some(Seconds(14)));
    assert_eq!(bandwidth.most_writers(), 2);
}

proptest! {
    #[test]
    fn ends_are_those_of_a_twin_that_hands_out_every_second(
        cost in 1_i64..40,
        capacity in 1_i64..9,
        writes in prop::collection::vec((0_i64..120, 1_i64..6), 1..24),
    ) {
        let begins: Vec<i64> = writes.iter().map(|&(begin, _)| begin).collect();
        let mut left: Vec<Option<i64>> = vec![None; begins.len()];
        let mut expected = vec![0; begins.len()];
        for second in 0.. {
            for (job, left) in left.iter_mut().enumerate() {
                if begins[job] == second {
                    *left = Some(cost * PARTS);
                }
            }
            let writing = left.iter().zip(&writes).filter(|(left, _)| left.is_some_and(|left| left > 0));
            let shares: i64 = writing.map(|(_, &(_, shares))| shares).sum();
            for (job, left) in left.iter_mut().enumerate() {
                if let Some(left) = left.as_mut().filter(|left| **left > 0) {
                    *left -= PARTS * capacity.min(shares) / shares;
                    if *left <= 0 {
                        expected[job] = second + 1;
                    }
                }
            }
            if left.iter().all(|left| left.is_some_and(|left| left <= 0)) {
                break;
            }
        }
        let found = ends_of_shares(cost, capacity, &writes);
        for (job, (end, waited)) in found.into_iter().enumerate() {
            prop_assert_eq!(end, expected[job]);
            prop_assert_eq!(waited, end - begins[job] - cost);
        }
    }
}
