//! Speeds and prices of sites: their keys, what is refused, and what is not read.

use super::*;

const THREE_SITES: &str = "[[sites.more]]\n[[sites.more]]\n";

/// Speeds and prices of three sites.
fn unlike(keys: &str) -> (Vec<f64>, Vec<f64>) {
    let about = about(&spec(&format!("[sites]\n{keys}\n{THREE_SITES}")));
    (about.speeds, about.prices)
}

#[test]
fn speeds_take_turns_and_are_the_prices_unless_these_are_said() {
    assert_eq!(unlike(""), (vec![], vec![]));
    let (speeds, prices) = unlike("speeds = [1, 2]");
    assert_eq!((&speeds, &prices), (&vec![1.0, 2.0, 1.0], &speeds));
    let (speeds, prices) = unlike("speeds = [1, 2, 4, 8]\nprices = [1]");
    assert_eq!((speeds, prices), (vec![1.0, 2.0, 4.0], vec![]));
    let (speeds, prices) = unlike("prices = [1.5]");
    assert_eq!((speeds, prices), (vec![], vec![1.5; 3]));
    let (speeds, prices) = unlike("speeds = [2]\nprices = [1, 0, 3]");
    assert_eq!((speeds, prices), (vec![2.0; 3], vec![1.0, 0.0, 3.0]));
}

/// Also the fast one of two when only the first of them is left.
#[test]
fn sites_that_are_alike_are_the_simulations_that_they_were() {
    let written = |keys: &str| {
        let text = format!("[sites]\n{keys}\n[clusters]\ncount = 1\n{THREE_SITES}");
        canonical_json(&spec(&text)).expect("JSON")
    };
    let plain = written("");
    for keys in [
        "speeds = [1.0]",
        "speeds = [1, 2]",
        "speeds = []\nprices = [1, 1, 1]",
    ] {
        assert_eq!(written(keys), plain, "{keys}");
    }
    assert_ne!(written("speeds = [2, 1]"), plain);
    assert_ne!(written("prices = [2, 1]"), plain);
}

#[test]
fn speeds_and_prices_that_cannot_be_are_refused_and_so_are_jobs_at_unlike_sites() {
    use ProblemKind::{Conflict, OutOfRange};
    for (keys, key, says) in [
        ("speeds = [1, 0]", "sites.speeds", "out of range"),
        ("speeds = [101]", "sites.speeds", "out of range"),
        ("prices = [-1]", "sites.prices", "out of range"),
        ("prices = [1001]", "sites.prices", "out of range"),
    ] {
        let text = format!("[sites]\n{keys}\n{THREE_SITES}");
        refused(&text, key, OutOfRange, says);
    }
    let jobs = "[workflow]\nsource = \"jobs\"\n[provisioning]\ncommitment = \"committed\"\n";
    for keys in ["speeds = [1, 2]", "prices = [2]"] {
        let text = format!("[sites]\n{keys}\n{THREE_SITES}{jobs}");
        let says = "leave out `sites.speeds` and `sites.prices`";
        refused(&text, "sites.speeds", Conflict, says);
    }
    let alike = about(&spec(&format!(
        "[sites]\nspeeds = [1]\n{THREE_SITES}{jobs}"
    )));
    assert!(alike.users_percent.is_some() && alike.speeds.is_empty());
}
