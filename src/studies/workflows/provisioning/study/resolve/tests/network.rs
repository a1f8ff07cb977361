//! Slots on the network between sites: their keys, what is refused, and what is not read.

use super::*;

const TWO_SITES: &str = "[[sites.more]]\n";

fn written(sites: &str, rest: &str) -> String {
    let spec = spec(&format!("[sites]\n{sites}\n{rest}"));
    canonical_json(&spec).expect("JSON")
}

#[test]
fn slots_on_the_network_are_another_simulation_where_there_is_a_second_site() {
    let plain = written("", TWO_SITES);
    assert_eq!(
        written("network_lanes = 0\nnetwork_price = 0", TWO_SITES),
        plain
    );
    for keys in [
        "network_lanes = 1",
        "network_lanes = 2",
        "network_price = 0.5",
    ] {
        assert_ne!(written(keys, TWO_SITES), plain, "{keys}");
        assert_eq!(written(keys, ""), written("", ""), "{keys}");
    }
    let text = format!("[sites]\nnetwork_lanes = 2\nnetwork_price = 0.5\n{TWO_SITES}");
    let network = about(&spec(&text)).network;
    assert_eq!((network.lanes, network.price), (2, 0.5));
}

#[test]
fn slots_on_the_network_that_cannot_be_are_refused() {
    use ProblemKind::{Conflict, OutOfRange};
    for (keys, key, says) in [
        ("network_lanes = 1001", "sites.network_lanes", "1001"),
        ("network_price = -1", "sites.network_price", "-1"),
    ] {
        let text = format!("[sites]\n{keys}\n{TWO_SITES}");
        refused(&text, key, OutOfRange, says);
    }
    let fails = "[failures]\nsource = \"lanl\"\nsystems = [18]\n";
    for (keys, rest, key, says) in [
        (
            "network_lanes = 1",
            fails,
            "sites.network_lanes",
            "failures.source",
        ),
        (
            "network_price = 1",
            fails,
            "sites.network_price",
            "failures.source",
        ),
        (
            "network_lanes = 1",
            "[workflow]\nreal_runtimes = \"uniform\"\n",
            "sites.network_lanes",
            "workflow.real_runtimes",
        ),
        (
            "network_lanes = 1",
            "[provisioning]\nqueue_choice = \"redundant\"\n",
            "sites.network_lanes",
            "provisioning.queue_choice",
        ),
        (
            "network_lanes = 1\nnetwork_price = 1",
            "[workflow]\napplications = 2\n",
            "sites.network_lanes",
            "network_price",
        ),
    ] {
        let text = format!("[sites]\n{keys}\n{TWO_SITES}{rest}");
        refused(&text, key, Conflict, says);
    }
}
