//! Licences beside CPUs (Meltzer 2005, §2).

use super::*;

fn licensed(order: PartOrder, licences: u32) -> PartOrder {
    PartOrder { licences, ..order }
}

/// 100 CPUs and 4 licences, of which a part holds 40 and 3 over [0, 100).
fn vector(precedence: Precedence) -> PlainCluster {
    let settings = LocalSettings {
        licences: 4,
        ..LocalSettings::default()
    };
    let mut machine = machine(100, settings);
    let held = PartOrder {
        precedence,
        ..part(1, 10, 90, 40)
    };
    let held = match precedence {
        Precedence::Yields => held,
        // The vector of the specification begins at once.
        _ => PartOrder {
            start: Seconds(0),
            duration: Seconds(100),
            ..held
        },
    };
    machine.reserve(Seconds(0), &licensed(held, 3)).unwrap();
    machine
}

#[test]
fn a_part_of_two_licences_is_refused_where_one_is_left_although_its_cpus_are_free() {
    let mut machine = vector(Precedence::Fixed);
    // Over [50, 100) 60 CPUs and 1 licence are free, over [100, 150) all.
    let asked = Probe {
        licences: vec![2, 1, 0, 2],
        ..query(100, &[61, 30, 30, 30], &[50, 100], COUNTING)
    };
    let answer = machine.probe(Seconds(0), &asked);
    let offered_to = offered(&answer);
    assert_eq!(offered_to[..2], [(50, 1), (50, 2)]);
    assert_eq!(offered_to[2..], [(100, 0), (100, 1), (100, 2), (100, 3)]);
    // 61 CPUs are not free whatever the licences are.
    let counts = answer.counts;
    assert_eq!((counts.counting, counts.licences, counts.quota), (1, 1, 0));
    let wanted = part(2, 50, 100, 30);
    assert_eq!(
        machine.reserve(Seconds(0), &licensed(wanted, 2)),
        Err(Refusal::Licences)
    );
    assert_eq!(machine.reserve(Seconds(0), &licensed(wanted, 1)), Ok(()));
    // All four are held over [50, 100), and none of the others from 100 on.
    let last = licensed(part(3, 99, 1, 1), 1);
    assert_eq!(machine.reserve(Seconds(0), &last), Err(Refusal::Licences));
    let behind = licensed(part(4, 100, 50, 1), 3);
    assert_eq!(machine.reserve(Seconds(0), &behind), Ok(()));
}

#[test]
fn what_is_given_back_or_lost_to_an_outage_has_its_licences_free_again() {
    let all = licensed(part(2, 50, 100, 30), 4);
    let mut machine = vector(Precedence::Fixed);
    assert_eq!(machine.reserve(Seconds(1), &all), Err(Refusal::Licences));
    assert!(machine.cancel(Seconds(2), CoRequestId(1), 0));
    assert_eq!(machine.reserve(Seconds(2), &all), Ok(()));

    let mut machine = vector(Precedence::Fixed);
    // Nodes that fail take no licence with them; the part that runs on one is lost with its own.
    let one = OutageEvent::NodesDown { first: 0, count: 1 };
    machine.apply_outage(Seconds(5), one);
    assert_eq!(machine.take_lost_parts().len(), 1);
    assert_eq!(machine.reserve(Seconds(5), &all), Ok(()));

    let mut machine = vector(Precedence::Fixed);
    machine.apply_outage(Seconds(5), OutageEvent::ClusterDown);
    machine.apply_outage(Seconds(6), OutageEvent::ClusterUp);
    assert_eq!(machine.take_lost_parts().len(), 1);
    assert_eq!(machine.reserve(Seconds(6), &all), Ok(()));
}

#[test]
fn a_part_of_priority_takes_licences_of_one_that_yields_although_it_needs_no_cpu_of_it() {
    let order = PartOrder {
        precedence: Precedence::Displaces,
        ..licensed(part(2, 50, 100, 30), 2)
    };
    let asked = Probe {
        licences: vec![2],
        precedence: Precedence::Displaces,
        ..query(100, &[30], &[50], COUNTING)
    };
    let mut machine = vector(Precedence::Yields);
    assert_eq!(offered(&machine.probe(Seconds(0), &asked)), [(50, 0)]);
    assert_eq!(machine.reserve(Seconds(0), &order), Ok(()));
    let lost = machine.take_lost_parts();
    assert_eq!((lost.len(), lost[0].request), (1, CoRequestId(1)));
    assert!(lost[0].displaced);

    // More than there are, it does not get by displacing.
    let mut machine = vector(Precedence::Yields);
    let all = PartOrder {
        licences: 5,
        ..order
    };
    assert_eq!(machine.reserve(Seconds(0), &all), Err(Refusal::Licences));
    assert!(machine.take_lost_parts().is_empty());
    // One is free beside it.
    let one = PartOrder {
        licences: 1,
        ..order
    };
    assert_eq!(machine.reserve(Seconds(0), &one), Ok(()));
    assert!(machine.take_lost_parts().is_empty());
}
