//! Licences of parts (Meltzer 2005, §2).

use super::*;

#[test]
fn licences_are_drawn_for_each_part_beside_everything_else() {
    let with = |percent: f64, kinds: Option<RequestKinds>| CoRequestSettings {
        licences: Some(PartLicences { percent, each: 3 }),
        kinds,
        parts: 3,
        ..preset(RequestPreset::Rw1)
    };
    let plain = CoRequestSettings {
        licences: None,
        ..with(0.0, None)
    };
    let without = made(&plain, 1, 0);
    assert!(without.iter().all(|it| it.licences.is_empty()));
    let needs = |percent: f64| -> Vec<bool> {
        let mut requests = made(&with(percent, None), 1, 0);
        let mut needs = Vec::new();
        for request in &mut requests {
            assert_eq!(request.licences.len(), 3);
            assert!(request.licences.iter().all(|it| [0, 3].contains(it)));
            needs.extend(request.licences.drain(..).map(|it| it > 0));
        }
        assert_eq!(requests, without);
        needs
    };
    let (few, many) = (needs(20.0), needs(60.0));
    assert!(few.iter().zip(&many).all(|(few, many)| *many || !few));
    // 639 parts: 128 and 383 expected, with standard deviations of 10 and 12.
    let count = |needs: &[bool]| needs.iter().filter(|it| **it).count();
    assert!((98..158).contains(&count(&few)), "{}", count(&few));
    assert!((347..419).contains(&count(&many)), "{}", count(&many));
    assert_eq!(count(&needs(100.0)), 639);
    // Parts keep theirs in single jobs and in the stages of workflows.
    let mixed = with(60.0, mixed(30.0, 30.0, 3).kinds);
    let whole = made(&with(60.0, None), 1, 0);
    for request in made(&mixed, 1, 0) {
        let of_whole = |it: &&CoRequest| it.trace_number == request.trace_number;
        let whole = whole.iter().find(of_whole).unwrap();
        assert_eq!(request.licences.len(), request.parts.len());
        assert!(whole.licences.starts_with(&request.licences));
    }
}
