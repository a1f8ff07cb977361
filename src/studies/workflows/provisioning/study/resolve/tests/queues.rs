//! To which queues best effort sends tasks: its keys, what is refused, and what is not read.

use super::*;
use crate::provisioning::QueueChoice;

const TWO_SITES: &str = "[clusters]\ncount = 2\n[[sites.more]]\n";

fn choice(sites: &str, keys: &str) -> QueueChoice {
    settings(&format!("{sites}[provisioning]\n{keys}\n")).queue_choice
}

#[test]
fn each_rule_takes_its_own_number() {
    let on_two = |keys: &str| choice(TWO_SITES, keys);
    assert_eq!(on_two(""), QueueChoice::FewestTasks);
    let both = "queue_quantile = 0.5\nqueue_copies = 3";
    let fewest = format!("queue_choice = \"fewest-tasks\"\n{both}");
    assert_eq!(on_two(&fewest), QueueChoice::FewestTasks);
    let predicted = "queue_choice = \"predicted-wait\"";
    let quantile = |quantile| QueueChoice::PredictedWait { quantile };
    assert_eq!(on_two(predicted), quantile(0.8));
    assert_eq!(on_two(&format!("{predicted}\n{both}")), quantile(0.5));
    let redundant = "queue_choice = \"redundant\"";
    let copies = |copies| QueueChoice::Redundant { copies };
    assert_eq!(on_two(redundant), copies(2));
    assert_eq!(on_two(&format!("{redundant}\n{both}")), copies(3));
    // With the default, a simulation is written as before the key came.
    let written = |keys: &str| {
        let text = format!("{TWO_SITES}[provisioning]\n{keys}\n");
        canonical_json(&spec(&text)).expect("JSON")
    };
    assert!(!written(&fewest).contains("queue_choice"));
    assert!(written(redundant).contains("queue_choice"));
}

#[test]
fn one_site_and_single_jobs_read_no_rule() {
    let redundant = "queue_choice = \"redundant\"";
    assert_eq!(choice("", redundant), QueueChoice::FewestTasks);
    let jobs = format!("{TWO_SITES}[workflow]\nsource = \"jobs\"\njobs_percent = 10\n");
    let committed = format!("commitment = \"committed\"\n{redundant}");
    assert_eq!(choice(&jobs, &committed), QueueChoice::FewestTasks);
}

#[test]
fn what_no_queue_can_do_is_refused_with_its_key() {
    use ProblemKind::{Conflict, OutOfRange, UnknownName};
    for (keys, key, kind, says) in [
        (
            "search = \"moga\"\nqueue_choice = \"redundant\"",
            "provisioning.queue_choice",
            Conflict,
            "say `slots.source = \"plan\"`",
        ),
        (
            "search = \"best-effort\"\nprovider = \"advertised\"\nqueue_choice = \"predicted-wait\"",
            "provisioning.queue_choice",
            Conflict,
            "every job has its place when it comes",
        ),
        (
            "queue_choice = \"random\"",
            "provisioning.queue_choice",
            UnknownName,
            "redundant",
        ),
        (
            "queue_copies = 1",
            "provisioning.queue_copies",
            OutOfRange,
            "1 is impossible",
        ),
        (
            "queue_quantile = 1.5",
            "provisioning.queue_quantile",
            OutOfRange,
            "1.5",
        ),
    ] {
        let text = format!("{TWO_SITES}[provisioning]\n{keys}\n");
        refused(&text, key, kind, says);
    }
    let planned = "[slots]\nsource = \"plan\"\n[provisioning]\nsearch = \"moga\"\nqueue_choice = \"redundant\"";
    let planned = settings(&format!("{TWO_SITES}{planned}\n")).queue_choice;
    assert_eq!(planned, QueueChoice::Redundant { copies: 2 });
}
