//! What parts need beside CPUs (Meltzer 2005, §2).

use super::*;
use crate::workload::{FurtherResource, PartNeed};

fn with(licences: f64, storage: f64, kinds: Option<RequestKinds>) -> CoRequestSettings {
    let need = |percent, each| Some(PartNeed { percent, each }).filter(|it| it.percent > 0.0);
    CoRequestSettings {
        licences: need(licences, 3),
        storage: need(storage, 500),
        kinds,
        parts: 3,
        ..preset(RequestPreset::Rw1)
    }
}

/// Whether each part needs some of a resource, and the requests without what they need.
fn needs(settings: &CoRequestSettings, resource: FurtherResource) -> (Vec<bool>, Vec<CoRequest>) {
    let mut requests = made(settings, 1, 0);
    let mut needs = Vec::new();
    for request in &mut requests {
        assert_eq!(request.further.len(), 3);
        for counts in request.further.drain(..) {
            assert!([0, 3].contains(&counts.licences));
            assert!([0, 500].contains(&counts.storage_gb));
            needs.push(counts.of(resource) > 0);
        }
    }
    (needs, requests)
}

fn count(needs: &[bool]) -> usize {
    needs.iter().filter(|it| **it).count()
}

#[test]
fn what_parts_need_is_drawn_for_each_beside_everything_else() {
    let without = made(&with(0.0, 0.0, None), 1, 0);
    assert!(without.iter().all(|it| it.further.is_empty()));
    for resource in FurtherResource::ALL {
        let needs = |percent: f64| {
            let settings = match resource {
                FurtherResource::Licences => with(percent, 0.0, None),
                FurtherResource::Storage => with(0.0, percent, None),
            };
            let (needs, requests) = needs(&settings, resource);
            assert_eq!(requests, without);
            needs
        };
        let (few, many) = (needs(20.0), needs(60.0));
        assert!(few.iter().zip(&many).all(|(few, many)| *many || !few));
        // 639 parts: 128 and 383 expected, with standard deviations of 10 and 12.
        assert!((98..158).contains(&count(&few)), "{}", count(&few));
        assert!((347..419).contains(&count(&many)), "{}", count(&many));
        assert_eq!(count(&needs(100.0)), 639);
    }
}

#[test]
fn storage_is_drawn_apart_from_licences_and_leaves_their_draws_as_they_are() {
    let (licences, storage) = (FurtherResource::Licences, FurtherResource::Storage);
    let (alone, plain) = needs(&with(50.0, 0.0, None), licences);
    let (beside, same) = needs(&with(50.0, 40.0, None), licences);
    assert_eq!((&beside, same), (&alone, plain));
    let (stored, _) = needs(&with(50.0, 40.0, None), storage);
    assert_eq!(stored, needs(&with(0.0, 40.0, None), storage).0);
    // Independent: 639 × 0.5 × 0.4 = 128 parts need both, with a standard deviation of 10.
    let both: Vec<bool> = beside.iter().zip(&stored).map(|(a, b)| *a && *b).collect();
    assert!((98..158).contains(&count(&both)), "{}", count(&both));
}

#[test]
fn parts_keep_what_they_need_in_single_jobs_and_in_the_stages_of_workflows() {
    let whole = made(&with(60.0, 60.0, None), 1, 0);
    for request in made(&with(60.0, 60.0, mixed(30.0, 30.0, 3).kinds), 1, 0) {
        let of_whole = |it: &&CoRequest| it.trace_number == request.trace_number;
        let whole = whole.iter().find(of_whole).unwrap();
        assert_eq!(request.further.len(), request.parts.len());
        assert!(whole.further.starts_with(&request.further));
    }
}
