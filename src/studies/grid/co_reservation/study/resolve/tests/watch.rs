//! An agent that watches clusters, and clusters that say nothing while they are down.

use super::*;
use crate::co_reservation::WatchSettings;

const FAILING: &str = "[grid_failures]\ncluster_mtbf_days = 7\n";
const WATCHED: &str = "[requests]\n[broker]\nrenegotiate = true\nwatch_every_seconds = 600\n";

#[test]
fn an_agent_is_specified_where_clusters_go_down_and_a_broker_seeks_what_is_lost() {
    let watched = settings(&format!("{WATCHED}watch_misses = 4\n{FAILING}"));
    let agent = |misses| WatchSettings {
        every: Seconds(600),
        misses,
    };
    assert_eq!(watched.watch, Some(agent(4)));
    let by_default = settings(&format!("{WATCHED}{FAILING}silent_outages = true\n"));
    assert_eq!(by_default.watch, Some(agent(3)));
    assert!(by_default.failures.expect("failures").silent);
    let stored = |text: &str| canonical_json(&spec(text)).unwrap();
    let plain = "[requests]\n[broker]\nrenegotiate = true\n";
    for (with, without) in [
        // Nothing goes down, or only nodes do, which their clusters tell at once.
        (WATCHED.to_owned(), plain.to_owned()),
        (
            format!("{WATCHED}[grid_failures]\nnode_mtbf_days = 9\nsilent_outages = true\n"),
            format!("{plain}[grid_failures]\nnode_mtbf_days = 9\n"),
        ),
        // No agent.
        (
            format!("{plain}watch_misses = 9\n{FAILING}silent_outages = false\n"),
            format!("{plain}{FAILING}"),
        ),
    ] {
        assert_eq!(stored(&with), stored(&without), "{with}");
        assert!(!stored(&with).contains("watch") && !stored(&with).contains("silent"));
    }
}

#[test]
fn an_agent_that_could_replace_nothing_is_refused() {
    let text = format!("[requests]\n[broker]\nwatch_every_seconds = 600\n{FAILING}");
    let error = parse(&text).expect_err("refused");
    assert_eq!(error.problems().len(), 1, "{error}");
    assert_eq!(error.problems()[0].key, "broker.watch_every_seconds");
    let error = error.to_string();
    assert!(error.contains("add `broker.renegotiate = true`"), "{error}");
    for (key, says) in [
        ("watch_misses = 0", "1 to 1000"),
        ("watch_every_seconds = 10000001", "so many seconds"),
    ] {
        let text = format!("[requests]\n[broker]\nrenegotiate = true\n{key}\n");
        let error = parse(&text).expect_err(key).to_string();
        assert!(error.contains(says), "{error}");
    }
}
