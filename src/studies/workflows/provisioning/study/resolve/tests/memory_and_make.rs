//! Memory of sites and makes of sites: their keys, what is refused, and what is not read.

use super::*;
use crate::provisioning::study::{BoundTasks, JobMemory, SiteMemory};
use bookahead_core::units::Megabytes;

const TWO: &str = "[[sites.more]]\n";

#[test]
fn memory_is_said_by_site_and_tasks_take_the_least_unless_it_is_said() {
    let memory = |rest: &str| about(&spec(rest)).memory;
    assert_eq!(memory(""), SiteMemory::default());
    let counted = |of_processors: &[u32], of_task, of_jobs| SiteMemory {
        of_processors: of_processors.iter().copied().map(Megabytes).collect(),
        of_task: Megabytes(of_task),
        of_jobs,
    };
    let both = format!("[sites]\nmemory_megabytes = [64, 32]\n{TWO}");
    assert_eq!(memory(&both), counted(&[64, 32], 32, JobMemory::Share));
    let said = format!(
        "[sites]\nmemory_megabytes = [64]\njob_memory = \"log\"\n{TWO}[workflow]\nmemory_megabytes = 7\n"
    );
    assert_eq!(memory(&said), counted(&[64, 64], 7, JobMemory::Log));
    let written = canonical_json(&spec("[sites]\nmemory_megabytes = []\n")).expect("JSON");
    assert_eq!(written, canonical_json(&spec("")).expect("JSON"));
}

#[test]
fn memory_that_cannot_be_is_refused() {
    use ProblemKind::{Conflict, OutOfRange, UnknownName};
    let counted = "[sites]\nmemory_megabytes = [64]\n";
    for (rest, key, kind, says) in [
        (
            "[sites]\nmemory_megabytes = [0]\n",
            "sites.memory_megabytes",
            OutOfRange,
            "out of range",
        ),
        (
            "[sites]\nmemory_megabytes = [5000000]\n",
            "sites.memory_megabytes",
            OutOfRange,
            "2150000000 megabytes",
        ),
        (
            "[workflow]\nmemory_megabytes = 2\n",
            "workflow.memory_megabytes",
            Conflict,
            "no site counts",
        ),
        (
            "[sites]\njob_memory = \"log\"\n",
            "sites.job_memory",
            Conflict,
            "no site counts",
        ),
        (
            "[provisioning]\nsearch = \"moga\"\n",
            "sites.memory_megabytes",
            Conflict,
            "say `slots.source = \"plan\"`",
        ),
        (
            "[planning]\nbackfilling = \"aggressive\"\n",
            "sites.memory_megabytes",
            Conflict,
            "every waiting job has its place",
        ),
        (
            "[failures]\nsource = \"lanl\"\nsystems = [18]\n",
            "sites.memory_megabytes",
            Conflict,
            "say `failures.source = \"none\"`",
        ),
        (
            "[workflow]\nsource = \"jobs\"\n[provisioning]\ncommitment = \"committed\"\n",
            "sites.memory_megabytes",
            Conflict,
            "that of its own site",
        ),
        (
            "[workflow]\nmake = \"c\"\n[sites]\nmakes = [\"a\", \"b\"]\n",
            "workflow.make",
            UnknownName,
            "no site is of the make `c`",
        ),
        (
            "[workflow]\nmake = \"c\"\n",
            "workflow.make",
            UnknownName,
            "say `sites.makes`",
        ),
        (
            "[workflow]\nmake_percent = 20\n",
            "workflow.make",
            ProblemKind::Missing,
            "say `workflow.make`",
        ),
        (
            "[sites]\nmakes = [\" \"]\n",
            "sites.makes",
            OutOfRange,
            "an empty name",
        ),
    ] {
        let text = match (key, kind) {
            ("sites.memory_megabytes", Conflict) => format!("{rest}{counted}"),
            _ => rest.to_owned(),
        };
        refused(&text, key, kind, says);
    }
    let shared = "[sites]\nmemory_megabytes = [64]\nshares = 2\n";
    refused(
        shared,
        "sites.memory_megabytes",
        Conflict,
        "leave out `sites.shares`",
    );
}

#[test]
fn tasks_are_bound_to_a_make_that_some_sites_are_of_and_others_are_not() {
    let make = |rest: &str| about(&spec(rest)).make;
    let of = |sites: &str, keys: &str| {
        make(&format!(
            "[sites]\nmakes = {sites}\n{TWO}[workflow]\n{keys}"
        ))
    };
    let bound = |percent| {
        Some(BoundTasks {
            make: "b".to_owned(),
            sites: vec![false, true],
            percent,
        })
    };
    assert_eq!(of("[\"a\", \"b\"]", "make = \"b\"\n"), bound(100.0));
    let some = "make = \"b\"\nmake_percent = 20\n";
    assert_eq!(of("[\"a\", \"b\"]", some), bound(20.0));
    assert_eq!(of("[\"b\"]", some), None);
    assert_eq!(
        of("[\"a\", \"b\"]", "make = \"b\"\nmake_percent = 0\n"),
        None
    );
    assert_eq!(of("[\"a\", \"b\"]", ""), None);
}
