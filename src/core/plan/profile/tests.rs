//! The profile against free nodes of every second.

use proptest::prelude::*;

use super::*;

/// The obvious twin: free nodes for every second.
struct Array(Vec<i32>);

impl Array {
    fn add(&mut self, from: i64, to: i64, delta: i32) {
        for free in &mut self.0[from as usize..to as usize] {
            *free += delta;
        }
    }

    fn earliest_fit(&self, fit: &Fit) -> Option<i64> {
        let own = fit.own_start.map_or(i64::MAX, |start| start.0);
        (fit.from.0..=fit.latest.0).find(|&start| {
            (start..start + fit.duration.0).all(|time| {
                let free = self.0.get(time as usize).copied().unwrap_or(0);
                free >= fit.nodes as i32 || (time >= own && free >= 0)
            })
        })
    }
}

const SPAN: i64 = 400;

/// Whether blocks begin where they say and no count is outside their bounds.
fn is_sound(profile: &Profile) -> bool {
    profile.blocks.iter().all(|block| {
        let mut counts = block.free.iter().map(|free| free + block.shift);
        block.first == block.times[0]
            && block.times.len() == block.free.len()
            && counts.all(|count| (block.min..=block.max).contains(&count))
    })
}

proptest! {
    #[test]
    fn the_profile_agrees_with_an_array_of_seconds(
        changes in prop::collection::vec((0_i64..SPAN, 1_i64..60, -6_i32..=6), 0..400),
        from in 0_i64..SPAN,
        nodes in 0_u32..20,
        duration in 1_i64..50,
        own in prop::option::of(1_i64..30),
        forget in 0_i64..50,
    ) {
        let mut profile = Profile::new(10, Seconds::ZERO);
        let mut array = Array(vec![10; 2_000]);
        for (start, length, delta) in changes {
            let end = start + length;
            if delta < 0 {
                profile.reserve(Seconds(start), Seconds(end), delta.unsigned_abs());
            } else {
                profile.release(Seconds(start), Seconds(end), delta as u32);
            }
            array.add(start, end, delta);
        }
        prop_assert!(is_sound(&profile));
        let canonical: Vec<_> = profile.segments().collect();
        for pair in canonical.windows(2) {
            prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1);
        }
        for (time, &expected) in array.0.iter().enumerate().take(SPAN as usize + 100) {
            prop_assert_eq!(profile.free_at(Seconds(time as i64)), expected);
        }
        let latest = own.map_or(SPAN + 100, |gap| from + gap - 1);
        let fit = Fit {
            from: Seconds(from),
            latest: Seconds(latest),
            nodes,
            duration: Seconds(duration),
            own_start: own.map(|gap| Seconds(from + gap)),
        };
        prop_assert_eq!(profile.earliest_fit(fit).map(|time| time.0), array.earliest_fit(&fit));
        let low = (from..from + duration).map(|time| array.0[time as usize]).min();
        prop_assert_eq!(Some(profile.min_free(Seconds(from), Seconds(from + duration))), low);
        for wanted in 0..12 {
            prop_assert_eq!(
                profile.is_free(Seconds(from), Seconds(from + duration), wanted),
                low >= Some(wanted as i32)
            );
        }
        let high = (from..from + duration).map(|time| array.0[time as usize]).max();
        prop_assert_eq!(Some(profile.max_free(Seconds(from), Seconds(from + duration))), high);
        let below = (from..2_000).find(|&time| array.0[time as usize] < nodes as i32);
        prop_assert_eq!(
            profile.first_below(Seconds(from), nodes),
            below.map_or(Seconds::FAR, Seconds)
        );
        let rise = (from + 1..SPAN + 50).find(|&time| {
            array.0[time as usize] > array.0[time as usize - 1]
                && array.0[time as usize] >= nodes as i32
        });
        prop_assert_eq!(
            profile.next_rise(Seconds(from), Seconds(SPAN + 50), nodes).map(|time| time.0),
            rise
        );
        profile.forget_before(Seconds(forget));
        for (time, &expected) in array.0.iter().enumerate().skip(forget as usize) {
            prop_assert_eq!(profile.free_at(Seconds(time as i64)), expected);
        }
    }
}

proptest! {
    #[test]
    fn a_search_around_a_time_finds_what_a_whole_one_finds_behind_it(
        taken in prop::collection::vec((0_i64..SPAN, 1_i64..60, 1_u32..=4), 0..400),
        from in 0_i64..SPAN,
        gap in 1_i64..200,
        ahead in -5_i64..200,
        nodes in 1_u32..=10,
        duration in 1_i64..50,
    ) {
        let mut profile = Profile::new(10, Seconds::ZERO);
        for (start, length, nodes) in taken {
            let (start, end) = (Seconds(start), Seconds(start + length));
            if profile.is_free(start, end, nodes) {
                profile.reserve(start, end, nodes);
            }
        }
        let own_start = Seconds(from + gap);
        let fit = Fit {
            from: Seconds(from),
            latest: own_start - Seconds(1),
            nodes,
            duration: Seconds(duration),
            own_start: Some(own_start),
        };
        let near = Seconds(from + ahead).min(fit.latest);
        let whole = profile.earliest_fit_or_longest(fit);
        match whole {
            Ok(start) if (start + fit.duration).min(own_start) <= near => {}
            Ok(start) => {
                let found = profile.earliest_fit_around(near, fit);
                prop_assert_eq!(found.map(|found| found.start), Ok(start));
            }
            Err(longest) => prop_assert!(
                profile.earliest_fit_around(near, fit).is_err_and(|around| around <= longest)
            ),
        }
    }

    #[test]
    fn jobs_that_are_brought_forward_leave_the_plan_that_they_make_where_they_are(
        jobs in prop::collection::vec((0_i64..SPAN, 1_i64..60, 1_u32..=4), 1..300),
    ) {
        let mut profile = Profile::new(10, Seconds::ZERO);
        let mut array = Array(vec![10; 2_000]);
        let mut planned: Vec<(Seconds, Seconds, u32)> = Vec::new();
        for (start, length, nodes) in jobs {
            let (start, length) = (Seconds(start), Seconds(length));
            if profile.is_free(start, start + length, nodes) {
                profile.reserve(start, start + length, nodes);
                planned.push((start, length, nodes));
            }
        }
        for (old_start, duration, nodes) in planned {
            let fit = Fit {
                from: Seconds(3),
                latest: old_start - Seconds(1),
                nodes,
                duration,
                own_start: Some(old_start),
            };
            let mut start = old_start;
            if fit.from <= fit.latest
                && let Ok(found) = profile.earliest_fit_around(fit.from, fit)
            {
                start = found.start;
                profile.bring_forward(found, old_start, duration, nodes);
            }
            array.add(start.0, (start + duration).0, -(nodes as i32));
        }
        prop_assert!(is_sound(&profile));
        for (time, &expected) in array.0.iter().enumerate().take(SPAN as usize + 100) {
            prop_assert_eq!(profile.free_at(Seconds(time as i64)), expected);
        }
        let canonical: Vec<_> = profile.segments().collect();
        for pair in canonical.windows(2) {
            prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1);
        }
    }

    #[test]
    fn a_time_that_is_taken_out_brings_the_rest_forward(
        changes in prop::collection::vec((0_i64..SPAN, 1_i64..60, -6_i32..=6), 0..400),
        cuts in prop::collection::vec((0_i64..SPAN, 0_i64..80), 1..4),
    ) {
        let mut profile = Profile::new(10, Seconds::ZERO);
        let mut array = Array(vec![10; 2_000]);
        for (start, length, delta) in changes {
            profile.add(Seconds(start), Seconds(start + length), delta);
            array.add(start, start + length, delta);
        }
        for (from, length) in cuts {
            profile.cut_out(Seconds(from), Seconds(from + length));
            array.0.drain(from as usize..(from + length) as usize);
            array.0.resize(2_000, 10);
        }
        for (time, &expected) in array.0.iter().enumerate().take(SPAN as usize + 100) {
            prop_assert_eq!(profile.free_at(Seconds(time as i64)), expected);
        }
        let canonical: Vec<_> = profile.segments().collect();
        for pair in canonical.windows(2) {
            prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1);
        }
        for wanted in 0..12 {
            let below = (0..2_000).find(|&time| array.0[time as usize] < wanted);
            let found = profile.first_below(Seconds::ZERO, wanted as u32);
            prop_assert_eq!(found, below.map_or(Seconds::FAR, Seconds));
        }
    }
}

#[test]
fn a_search_in_vain_says_how_long_the_longest_run_was() {
    let mut profile = Profile::new(10, Seconds::ZERO);
    profile.reserve(Seconds(5), Seconds(20), 8);
    profile.reserve(Seconds(27), Seconds(900), 8);
    let fit = Fit {
        from: Seconds(1),
        latest: Seconds(899),
        nodes: 3,
        duration: Seconds(8),
        own_start: None,
    };
    assert_eq!(profile.earliest_fit_or_longest(fit), Err(Seconds(7)));
    let shorter = Fit {
        duration: Seconds(7),
        ..fit
    };
    assert_eq!(profile.earliest_fit_or_longest(shorter), Ok(Seconds(20)));
}

#[test]
fn a_release_that_reaches_into_the_forgotten_past_leaves_the_breakpoints_in_order() {
    let mut profile = Profile::new(10, Seconds::ZERO);
    profile.reserve(Seconds(0), Seconds(100), 3);
    profile.reserve(Seconds(50), Seconds(200), 2);
    profile.forget_before(Seconds(60));
    profile.release(Seconds(0), Seconds(100), 3);
    let segments: Vec<_> = profile.segments().collect();
    assert_eq!(segments, [(Seconds(50), 8), (Seconds(200), 10)]);
}

#[test]
fn a_plan_of_ten_thousand_reservations_keeps_its_counts() {
    let mut profile = Profile::new(100, Seconds::ZERO);
    for index in 0..10_000_i64 {
        profile.reserve(Seconds(index * 7), Seconds(index * 7 + 50), 3);
    }
    // Jobs 4,994 to 5,000 cover second 35,003.
    assert_eq!(profile.free_at(Seconds(35_003)), 100 - 3 * 7);
    for index in 0..10_000_i64 {
        profile.release(Seconds(index * 7), Seconds(index * 7 + 50), 3);
    }
    assert!(profile.is_empty());
    assert_eq!(profile.free_at(Seconds(1)), 100);
}
