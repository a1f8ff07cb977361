//! Shares of processors: their keys, what is refused, and what is not read.

use super::*;
use crate::provisioning::study::ProcessorShares;

#[test]
fn a_task_needs_all_shares_of_its_processors_unless_it_is_said_how_many() {
    let shares = |rest: &str| {
        let ProcessorShares {
            of_processor,
            of_task,
        } = about(&spec(rest)).shares;
        (of_processor, of_task)
    };
    assert_eq!(shares(""), (1, 1));
    assert_eq!(shares("[sites]\nshares = 4\n"), (4, 4));
    let some = "[sites]\nshares = 4\n[workflow]\ntask_shares = 3\n";
    assert_eq!(shares(some), (4, 3));
    let written = canonical_json(&spec("[sites]\nshares = 1\n")).expect("JSON");
    assert_eq!(written, canonical_json(&spec("")).expect("JSON"));
}

#[test]
fn shares_that_cannot_be_are_refused() {
    use ProblemKind::{Conflict, OutOfRange};
    for (rest, key, kind, says) in [
        ("[sites]\nshares = 0\n", "sites.shares", OutOfRange, "0"),
        ("[sites]\nshares = 65\n", "sites.shares", OutOfRange, "65"),
        (
            "[workflow]\ntask_shares = 2\n",
            "workflow.task_shares",
            OutOfRange,
            "a processor has 1",
        ),
        (
            "[sites]\nshares = 2\n[failures]\nsource = \"lanl\"\nsystems = [18]\n",
            "sites.shares",
            Conflict,
            "say `failures.source = \"none\"`",
        ),
    ] {
        refused(rest, key, kind, says);
    }
}

#[test]
fn single_jobs_that_reserve_need_whole_processors_whatever_is_said_of_tasks() {
    let jobs = "source = \"jobs\"\n[provisioning]\ncommitment = \"committed\"\n";
    let of = |keys: &str| {
        let text = format!("[sites]\nshares = 4\n[workflow]\n{keys}{jobs}");
        canonical_json(&spec(&text)).expect("JSON")
    };
    assert_eq!(of("task_shares = 2\n"), of(""));
}
