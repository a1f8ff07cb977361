//! Keys that a file sets and nothing reads.

use super::*;

fn warnings(text: &str) -> Vec<(String, String)> {
    let experiment = parse(text).expect("valid");
    let each = experiment.warnings.into_iter();
    each.map(|warning| (warning.key, warning.help)).collect()
}

#[test]
fn keys_of_failures_without_a_source_were_silent_and_name_the_source_now() {
    let failures = "[failures]\nfile = \"table.csv\"\nrate_per_hour = 0.01\n";
    let found = warnings(&format!("{HEAD}{failures}"));
    let keys: Vec<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["failures.file", "failures.rate_per_hour"]);
    assert!(
        found[0].1.contains("add `failures.source = \"lanl\"`"),
        "{found:?}"
    );
    assert!(
        found[1].1.contains("add `failures.source = \"generated\"`"),
        "{found:?}"
    );
    let with_source = failures.replace("rate_per_hour", "source = \"generated\"\nrate_per_hour");
    let found = warnings(&format!("{HEAD}{with_source}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "failures.file");
}

#[test]
fn a_file_of_a_workflow_without_its_source_was_silent_and_names_the_source_now() {
    let text = HEAD
        .replace(
            "strategy = \"heuristic-overbooking\"",
            "strategy = \"provisioning\"",
        )
        .replace(
            "battery_jobs = 100\nload.value = 2.0\n",
            "whole_trace = true\nexact_estimates = true\n",
        );
    let found = warnings(&format!("{text}[workflow]\nfile = \"montage.xml\"\n"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "workflow.file");
    assert!(
        found[0].1.contains("add `workflow.source = \"file\"`"),
        "{found:?}"
    );
}

#[test]
fn a_key_that_one_of_several_strategies_reads_and_one_that_is_set_to_its_default_are_fine() {
    let both =
        "[[axis]]\nkey = \"scheduling.strategy\"\nvalues = [\"fcfs\", \"heuristic-overbooking\"]\n";
    let acceptance = "[acceptance]\npof_max = 0.25\n";
    let head = HEAD.replace("[scheduling]\nstrategy = \"heuristic-overbooking\"\n", "");
    assert_eq!(warnings(&format!("{head}{acceptance}{both}")), []);
    let fcfs = HEAD.replace("heuristic-overbooking", "fcfs");
    let found = warnings(&format!("{fcfs}{acceptance}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "acceptance.pof_max");
    assert_eq!(
        warnings(&format!("{fcfs}[failures]\nsource = \"none\"\n")),
        []
    );
}
