//! Licences and storage beside CPUs (Meltzer 2005, §2).

use super::*;

fn further(licences: u32, storage_gb: u32) -> FurtherCounts {
    FurtherCounts {
        licences,
        storage_gb,
    }
}

/// So much of one resource, and none of the other.
fn only(resource: FurtherResource, amount: u32) -> FurtherCounts {
    match resource {
        FurtherResource::Licences => further(amount, 0),
        FurtherResource::Storage => further(0, amount),
    }
}

fn needing(order: PartOrder, further: FurtherCounts) -> PartOrder {
    PartOrder { further, ..order }
}

/// 100 CPUs and this beside them, of which a part holds 40 and the other amount over [0, 100).
fn cluster(precedence: Precedence, most: FurtherCounts, held: FurtherCounts) -> PlainCluster {
    let settings = LocalSettings {
        further: most,
        ..LocalSettings::default()
    };
    let mut machine = machine(100, settings);
    let part = PartOrder {
        precedence,
        ..part(1, 10, 90, 40)
    };
    let part = match precedence {
        Precedence::Yields => part,
        // The vector of the specification begins at once.
        _ => PartOrder {
            start: Seconds(0),
            duration: Seconds(100),
            ..part
        },
    };
    machine.reserve(Seconds(0), &needing(part, held)).unwrap();
    machine
}

/// 4 licences or 4 GB, of which the part holds 3.
fn vector(resource: FurtherResource, precedence: Precedence) -> PlainCluster {
    cluster(precedence, only(resource, 4), only(resource, 3))
}

#[test]
fn a_part_that_needs_two_is_refused_where_one_is_left_although_its_cpus_are_free() {
    for resource in FurtherResource::ALL {
        let lacking = Err(Refusal::Lacking(resource));
        let only = |amount| only(resource, amount);
        let mut machine = vector(resource, Precedence::Fixed);
        // Over [50, 100) 60 CPUs and 1 licence or GB are free, over [100, 150) all.
        let asked = Probe {
            further: vec![only(2), only(1), only(0), only(2)],
            ..query(100, &[61, 30, 30, 30], &[50, 100], COUNTING)
        };
        let answer = machine.probe(Seconds(0), &asked);
        let offered_to = offered(&answer);
        assert_eq!(offered_to[..2], [(50, 1), (50, 2)]);
        assert_eq!(offered_to[2..], [(100, 0), (100, 1), (100, 2), (100, 3)]);
        // 61 CPUs are not free whatever else is.
        let counts = answer.counts;
        assert_eq!((counts.counting, counts.quota), (1, 0));
        for other in FurtherResource::ALL {
            assert_eq!(counts.lacking(other), u32::from(other == resource));
        }
        let wanted = part(2, 50, 100, 30);
        assert_eq!(
            machine.reserve(Seconds(0), &needing(wanted, only(2))),
            lacking
        );
        assert_eq!(
            machine.reserve(Seconds(0), &needing(wanted, only(1))),
            Ok(())
        );
        // All four are held over [50, 100), and none of the others from 100 on.
        let last = needing(part(3, 99, 1, 1), only(1));
        assert_eq!(machine.reserve(Seconds(0), &last), lacking);
        let behind = needing(part(4, 100, 50, 1), only(3));
        assert_eq!(machine.reserve(Seconds(0), &behind), Ok(()));
    }
}

#[test]
fn a_part_needs_its_licences_and_its_storage_at_once() {
    let (licences, storage) = (FurtherResource::Licences, FurtherResource::Storage);
    // 4 licences and 100 GB, of which 3 and 60 are held over [0, 100): 1 and 40 are left.
    let made = || cluster(Precedence::Fixed, further(4, 100), further(3, 60));
    for (wanted, start, lacking) in [
        (further(1, 40), 50, None),
        (further(1, 41), 50, Some(storage)),
        (further(2, 40), 50, Some(licences)),
        (further(0, 41), 50, Some(storage)),
        (further(2, 0), 50, Some(licences)),
        // Of both, that which is asked for first.
        (further(2, 41), 50, Some(licences)),
        (further(4, 100), 100, None),
    ] {
        let mut machine = made();
        let asked = Probe {
            further: vec![wanted],
            ..query(100, &[30], &[start], COUNTING)
        };
        let answer = machine.probe(Seconds(0), &asked);
        assert_eq!(answer.offered.len(), usize::from(lacking.is_none()));
        for resource in FurtherResource::ALL {
            let counted = answer.counts.lacking(resource);
            assert_eq!(counted, u32::from(lacking == Some(resource)), "{wanted:?}");
        }
        assert_eq!(answer.counts.unfiltered, 1);
        assert_eq!(answer.counts.filtered(), u32::from(lacking.is_some()));
        let order = needing(part(2, start, 100, 30), wanted);
        let expected = lacking.map_or(Ok(()), |what| Err(Refusal::Lacking(what)));
        assert_eq!(machine.reserve(Seconds(0), &order), expected, "{wanted:?}");
    }
    // Both need not be lacking at one instant: 1 licence is left over [50, 100), 20 GB over
    // [100, 150).
    for (wanted, lacking) in [
        (further(1, 20), None),
        (further(1, 21), Some(storage)),
        (further(2, 21), Some(licences)),
    ] {
        let mut machine = cluster(Precedence::Fixed, further(4, 100), further(3, 0));
        let behind = needing(part(2, 100, 100, 10), further(0, 80));
        assert_eq!(machine.reserve(Seconds(0), &behind), Ok(()));
        let order = needing(part(3, 50, 100, 10), wanted);
        let expected = lacking.map_or(Ok(()), |what| Err(Refusal::Lacking(what)));
        assert_eq!(machine.reserve(Seconds(0), &order), expected, "{wanted:?}");
    }
}

#[test]
fn what_is_given_back_or_lost_to_an_outage_has_all_that_it_held_free_again() {
    for resource in FurtherResource::ALL {
        let all = needing(part(2, 50, 100, 30), only(resource, 4));
        let mut machine = vector(resource, Precedence::Fixed);
        assert_eq!(
            machine.reserve(Seconds(1), &all),
            Err(Refusal::Lacking(resource))
        );
        assert!(machine.cancel(Seconds(2), CoRequestId(1), 0));
        assert_eq!(machine.reserve(Seconds(2), &all), Ok(()));

        let mut machine = vector(resource, Precedence::Fixed);
        // Nodes that fail take nothing else with them; the part that runs on one is lost with its
        // own.
        let one = OutageEvent::NodesDown { first: 0, count: 1 };
        machine.apply_outage(Seconds(5), one);
        assert_eq!(machine.take_lost_parts().len(), 1);
        assert_eq!(machine.reserve(Seconds(5), &all), Ok(()));

        let mut machine = vector(resource, Precedence::Fixed);
        machine.apply_outage(Seconds(5), OutageEvent::ClusterDown);
        machine.apply_outage(Seconds(6), OutageEvent::ClusterUp);
        assert_eq!(machine.take_lost_parts().len(), 1);
        assert_eq!(machine.reserve(Seconds(6), &all), Ok(()));
    }
}

#[test]
fn a_part_of_priority_takes_what_it_needs_of_one_that_yields_although_it_needs_no_cpu_of_it() {
    for resource in FurtherResource::ALL {
        let only = |amount| only(resource, amount);
        let order = PartOrder {
            precedence: Precedence::Displaces,
            ..needing(part(2, 50, 100, 30), only(2))
        };
        let asked = Probe {
            further: vec![only(2)],
            precedence: Precedence::Displaces,
            ..query(100, &[30], &[50], COUNTING)
        };
        let mut machine = vector(resource, Precedence::Yields);
        assert_eq!(offered(&machine.probe(Seconds(0), &asked)), [(50, 0)]);
        assert_eq!(machine.reserve(Seconds(0), &order), Ok(()));
        let lost = machine.take_lost_parts();
        assert_eq!((lost.len(), lost[0].request), (1, CoRequestId(1)));
        assert!(lost[0].displaced);

        // More than there are, it does not get by displacing.
        let mut machine = vector(resource, Precedence::Yields);
        assert_eq!(
            machine.reserve(Seconds(0), &needing(order, only(5))),
            Err(Refusal::Lacking(resource))
        );
        assert!(machine.take_lost_parts().is_empty());
        // One is free beside it.
        assert_eq!(
            machine.reserve(Seconds(0), &needing(order, only(1))),
            Ok(())
        );
        assert!(machine.take_lost_parts().is_empty());
    }
}
