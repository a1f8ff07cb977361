//! Whether free CPUs are recorded.

use super::*;

#[test]
fn what_is_not_recorded_is_specified_as_before_there_was_a_choice() {
    let on = "[requests]\n[broker]\nrecord_free_cpus = true\n";
    let off = "[requests]\n[broker]\nrecord_free_cpus = false\n";
    let stored = |text: &str| canonical_json(&spec(text)).unwrap();
    assert!(stored(on).contains("record_free_cpus"));
    assert_eq!(stored(off), stored("[requests]\n"));
    assert!(!stored(off).contains("record_free_cpus"));
}

#[test]
fn only_a_broker_that_probes_records_what_is_free() {
    let recorded = |algorithm: &str| {
        let text = "[requests]\n[broker]\nrecord_free_cpus = true\nalgorithm = ";
        let settings = settings(&format!("{text}\"{algorithm}\"\n"));
        settings.search.record_free_cpus
    };
    let found = ["a1", "rigid", "barrier", "a2", "a4", "a5"].map(recorded);
    assert_eq!(found, [false, false, false, true, true, true]);
    assert!(
        !settings("[broker]\nrecord_free_cpus = true\n")
            .search
            .record_free_cpus
    );
}
