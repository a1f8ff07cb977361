//! What is refused, with its key and why.

use super::*;

#[test]
fn what_cannot_be_is_refused_with_its_key() {
    use ProblemKind::{Missing, OutOfRange, UnknownKey, UnknownName, WrongType};
    for (text, key, kind, says) in [
        (
            "[sites]\nutilisation_percent = 0",
            "sites.utilisation_percent",
            OutOfRange,
            "below 100",
        ),
        (
            "[clusters]\ncount = 2",
            "clusters.count",
            OutOfRange,
            "2 sites are asked for, and 1 are listed",
        ),
        (
            "[clusters]\ncount = 0",
            "clusters.count",
            OutOfRange,
            "0 is impossible",
        ),
        (
            "[sites]\nmore = 3",
            "sites.more",
            WrongType,
            "[[sites.more]]",
        ),
        (
            "[[sites.more]]\ntrace = \"x.swf\"",
            "sites.more.nodes",
            Missing,
            "has no size",
        ),
        (
            "[[sites.more]]\nnode = 4",
            "sites.more.node",
            UnknownKey,
            "did you mean `nodes`",
        ),
        (
            "[[sites.more]]\nutilisation_percent = 101",
            "sites.more.utilisation_percent",
            OutOfRange,
            "101",
        ),
        (
            "[workflow]\nmore_files = [\"a.dax\"]",
            "workflow.more_files",
            OutOfRange,
            "not read from a file",
        ),
        (
            "[workflow]\nsource = \"file\"\nfile = \"a.dax\"\nmore_files = [\" \"]",
            "workflow.more_files",
            OutOfRange,
            "an empty file name",
        ),
        (
            "[workflow]\nsource = \"file\"\nfile = \"a\"\napplications = 2\nmore_files = [\"b\"]",
            "workflow.more_files",
            OutOfRange,
            "how many of one file",
        ),
        (
            "[workflow]\napplications = 2\n[provisioning]\nbudget_factor = 2",
            "provisioning.budget_factor",
            ProblemKind::Conflict,
            "requests.alpha",
        ),
        (
            "[workflow]\napplications = 3\n[provisioning]\nsearch = \"moga\"\njoint = false\nbrokers = 2",
            "provisioning.brokers",
            ProblemKind::Conflict,
            "3 applications, one each",
        ),
        (
            "[workflow]\nsource = \"dax\"",
            "workflow.source",
            UnknownName,
            "cyber-shake",
        ),
        (
            "[workflow]\nsource = \"file\"",
            "workflow.file",
            Missing,
            "BOOKAHEAD_WORKFLOWS",
        ),
        (
            "[workflow]\ndepth = 101",
            "workflow.depth",
            OutOfRange,
            "number of tasks",
        ),
        (
            "[workflow]\nmean_seconds = 0",
            "workflow.mean_seconds",
            OutOfRange,
            "0 is impossible",
        ),
        (
            "[workflow]\nbandwidth_gbps = 0",
            "workflow.bandwidth_gbps",
            OutOfRange,
            "above 0",
        ),
        (
            "[provisioning]\nsearch = \"best\"",
            "provisioning.search",
            UnknownName,
            "best-effort",
        ),
        (
            "[provisioning]\nsearch = \"weighted-sum\"\nbudget_su = 70",
            "provisioning.budget_su",
            ProblemKind::Conflict,
            "neither a deadline nor a budget",
        ),
        (
            "[provisioning]\nsearch = \"weighted-sum\"\nscale = \"log\"",
            "provisioning.scale",
            UnknownName,
            "bounds",
        ),
        (
            "[requests]\nalpha = 1.1",
            "requests.alpha",
            OutOfRange,
            "1 (cheapest)",
        ),
        (
            "[provisioning]\npopulation = 1",
            "provisioning.population",
            OutOfRange,
            "from 2",
        ),
        (
            "[provisioning]\ncommitment = \"kept\"",
            "provisioning.commitment",
            UnknownName,
            "committed",
        ),
        (
            "[planning]\nreserved_unit_price = 1.2\n[provisioning]\nsearch = \"moga\"",
            "planning.reserved_unit_price",
            ProblemKind::Conflict,
            "slot_unit_price",
        ),
        (
            "[provisioning]\nasked_sites = \"home\"",
            "provisioning.asked_sites",
            ProblemKind::Conflict,
            "only single jobs",
        ),
        (
            "[workflow]\nsource = \"jobs\"",
            "provisioning.commitment",
            ProblemKind::Conflict,
            "finds what the others booked",
        ),
        (
            "[workflow]\nsource = \"jobs\"\n[provisioning]\nsearch = \"moga\"",
            "provisioning.search",
            ProblemKind::Conflict,
            "asking for prices",
        ),
        (
            "[workflow]\nsource = \"jobs\"\napplications = 2\n[provisioning]\ncommitment = \"committed\"",
            "workflow.applications",
            ProblemKind::Conflict,
            "when its trace says",
        ),
        (
            "[workflow]\nsource = \"jobs\"\n[provisioning]\ncommitment = \"committed\"\nbudget_su = 9",
            "provisioning.budget_su",
            ProblemKind::Conflict,
            "by price and start",
        ),
        (
            "[workflow]\nsource = \"jobs\"\njobs_percent = 0",
            "workflow.jobs_percent",
            OutOfRange,
            "0 is impossible",
        ),
        (
            "[reservations]\nshare_percent = 10",
            "reservations.share_percent",
            OutOfRange,
            "no reservations",
        ),
        (
            "[[axis]]\nkey = \"sites.more.nodes\"\nvalues = [1, 2]",
            "sites.more.nodes",
            ProblemKind::UnknownAxisKey,
            "list of tables",
        ),
    ] {
        refused(&format!("{text}\n"), key, kind, says);
    }
    let elsewhere = HEAD.replace("\"provisioning\"", "\"replanning\"");
    let error = Experiment::parse(
        STUDIES,
        "test.toml",
        &format!("{elsewhere}[workflow]\n"),
        None,
    );
    let error = error.expect_err("another study").to_string();
    assert!(
        error.contains("this table belongs to the study of workflows"),
        "{error}"
    );
    let copied = HEAD.replace(
        "whole_trace = true",
        "whole_trace = true\ncopy_percent = 20",
    );
    let text = format!("{copied}[sites]\nutilisation_percent = 70\n");
    let error = Experiment::parse(STUDIES, "test.toml", &text, None)
        .expect_err("two ways to raise the load");
    assert!(error.to_string().contains("both raise the load"), "{error}");
    let recorded = HEAD.replace("exact_estimates = true", "");
    let text = format!("{recorded}[provisioning]\nsearch = \"moga\"\n");
    let error =
        Experiment::parse(STUDIES, "test.toml", &text, None).expect_err("inexact estimates");
    assert!(
        error.to_string().contains("slots.source = \"plan\""),
        "{error}"
    );
    assert!(
        Experiment::parse(
            STUDIES,
            "test.toml",
            &format!("{text}[slots]\nsource = \"plan\"\n"),
            None
        )
        .is_ok()
    );
}

#[test]
fn an_experiment_is_about_a_measure_of_its_study() {
    let about = |measure: &str| {
        let head = HEAD.replace(
            "[workload]",
            &format!("primary = \"{measure}\"\n\n[workload]"),
        );
        Experiment::parse(STUDIES, "test.toml", &head, None)
    };
    about("wf_cost_su").expect("a measure of workflows");
    for (measure, says) in [
        ("granted", "does not measure `granted`"),
        ("wf_cots_su", "wf_cost_su"),
    ] {
        let error = about(measure).expect_err(measure);
        let problems = error.problems();
        assert_eq!(problems[0].key, "experiment.primary");
        assert_eq!(problems[0].kind, ProblemKind::UnknownName);
        assert!(error.to_string().contains(says), "{error}");
    }
}
