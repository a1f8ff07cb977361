//! Parts that take the CPUs of others.

use super::*;

fn with(precedence: Precedence, order: PartOrder) -> PartOrder {
    PartOrder {
        precedence,
        ..order
    }
}

fn yields(request: u32, start: i64, duration: i64, nodes: u32) -> PartOrder {
    with(Precedence::Yields, part(request, start, duration, nodes))
}

fn displaces(request: u32, start: i64, duration: i64, nodes: u32) -> PartOrder {
    with(Precedence::Displaces, part(request, start, duration, nodes))
}

fn lost(machine: &mut PlainCluster) -> Vec<(u32, i64)> {
    let lost = machine.take_lost_parts().into_iter();
    lost.map(|part| {
        assert!(part.displaced && !part.running);
        (part.request.0, part.at.0)
    })
    .collect()
}

#[test]
fn a_part_that_yields_loses_its_cpus_to_one_that_displaces_and_to_no_other() {
    for (first, second, takes) in [
        (Precedence::Yields, Precedence::Displaces, true),
        (Precedence::Yields, Precedence::Yields, false),
        (Precedence::Yields, Precedence::Fixed, false),
        (Precedence::Fixed, Precedence::Displaces, false),
        (Precedence::Displaces, Precedence::Displaces, false),
    ] {
        let mut machine = machine(100, LocalSettings::default());
        let here = with(first, part(0, 1_000, 1_000, 60));
        machine.reserve(Seconds(0), &here).unwrap();
        let wanted = with(second, part(1, 1_500, 1_000, 50));
        let mut probe = query(1_000, &[50], &[1_500, 2_000], COUNTING);
        probe.precedence = second;
        let both = [(1_500, 0), (2_000, 0)];
        let expected = if takes { &both[..] } else { &both[1..] };
        assert_eq!(offered(&machine.probe(Seconds(10), &probe)), expected);
        let verdict = machine.reserve(Seconds(10), &wanted);
        if takes {
            assert_eq!((verdict, lost(&mut machine)), (Ok(()), vec![(0, 10)]));
            // The order that lost its part is not granted again.
            let again = machine.reserve(Seconds(20), &here);
            assert_eq!(again, Err(Refusal::Occupied));
        } else {
            assert_eq!(verdict, Err(Refusal::Occupied), "{first:?} {second:?}");
            assert_eq!(lost(&mut machine), []);
        }
    }
}

#[test]
fn what_has_begun_stays() {
    let mut machine = machine(100, LocalSettings::default());
    machine
        .reserve(Seconds(0), &yields(0, 1_000, 1_000, 60))
        .unwrap();
    let late = machine.reserve(Seconds(1_000), &displaces(1, 1_500, 1_000, 50));
    assert_eq!(late, Err(Refusal::Occupied));
    assert_eq!(lost(&mut machine), []);
}

/// From 100 s on 90 of 100 CPUs are promised. 40 are missing of the 50 that are wanted: the last to
/// start goes first, of equal ones the last request, and who was of no use stays.
#[test]
fn the_last_to_start_goes_first_and_nobody_goes_in_vain() {
    let mut machine = machine(100, LocalSettings::default());
    for order in [
        yields(0, 100, 100, 20),
        yields(1, 100, 100, 30),
        yields(2, 110, 90, 10),
        yields(3, 100, 100, 30),
    ] {
        machine.reserve(Seconds(0), &order).unwrap();
    }
    machine
        .reserve(Seconds(10), &displaces(4, 100, 100, 50))
        .unwrap();
    // 10 of request 2, then 30 of request 3.
    assert_eq!(lost(&mut machine), [(2, 10), (3, 10)]);
    // 30 more: 30 of request 1 suffice, without the 20 that request 0 has.
    machine
        .reserve(Seconds(20), &displaces(5, 150, 100, 30))
        .unwrap();
    assert_eq!(lost(&mut machine), [(1, 20)]);
    // Now 20 CPUs are left to take, and 51 are wanted.
    let more = machine.reserve(Seconds(30), &displaces(6, 100, 10, 51));
    assert_eq!((more, lost(&mut machine)), (Err(Refusal::Occupied), vec![]));
}

/// 10 of request 1 would be enough by themselves, but 5 of request 2 come first; they are given up
/// again.
#[test]
fn who_was_asked_first_and_is_not_needed_in_the_end_stays() {
    let mut machine = machine(100, LocalSettings::default());
    machine.reserve(Seconds(0), &part(0, 100, 100, 85)).unwrap();
    machine
        .reserve(Seconds(0), &yields(1, 100, 100, 10))
        .unwrap();
    machine.reserve(Seconds(0), &yields(2, 110, 90, 5)).unwrap();
    machine
        .reserve(Seconds(10), &displaces(3, 100, 100, 10))
        .unwrap();
    assert_eq!(lost(&mut machine), [(1, 10)]);
}

#[test]
fn a_quota_counts_what_stays() {
    let settings = LocalSettings {
        quota: Some(0.2),
        ..LocalSettings::default()
    };
    let mut machine = machine(100, settings);
    machine
        .reserve(Seconds(0), &yields(0, 100, 100, 15))
        .unwrap();
    let fixed = machine.reserve(Seconds(0), &part(1, 100, 100, 10));
    assert_eq!(fixed, Err(Refusal::Quota));
    let too_much = machine.reserve(Seconds(0), &displaces(2, 100, 100, 21));
    assert_eq!(
        (too_much, lost(&mut machine)),
        (Err(Refusal::Quota), vec![])
    );
    machine
        .reserve(Seconds(0), &displaces(3, 100, 100, 20))
        .unwrap();
    assert_eq!(lost(&mut machine), [(0, 0)]);
}

/// The job waits for the whole machine and has its place at 200 s, when the part ends. Without the
/// part it would begin at once: nothing is free for another then.
#[test]
fn who_waits_in_front_comes_before_a_part_that_displaces() {
    let settings = LocalSettings {
        planned_visible: true,
        ..LocalSettings::default()
    };
    let mut machine = machine(10, settings);
    machine
        .reserve(Seconds(0), &yields(0, 100, 100, 10))
        .unwrap();
    machine.submit(&[job(0, 1, 10, 150, 150)]);
    machine.advance(Seconds(2));
    let wanted = displaces(1, 120, 10, 10);
    assert_eq!(machine.reserve(Seconds(2), &wanted), Err(Refusal::Occupied));
    assert_eq!(lost(&mut machine), []);
    let behind = displaces(2, 180, 10, 10);
    assert_eq!(machine.reserve(Seconds(2), &behind), Ok(()));
    assert_eq!(lost(&mut machine), [(0, 2)]);
}
