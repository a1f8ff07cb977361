//! Licences of clusters, and parts that need them.

use super::*;
use bookahead_core::workload::PartLicences;

const NEEDED: &str = "[requests]\nlicences_percent = 50\nlicences = 2\n";

#[test]
fn licences_are_specified_where_clusters_have_some_and_parts_need_some() {
    let spec_of = |rest: &str| spec(rest);
    let both = study(spec_of(&format!("{NEEDED}[local]\nlicences = 4\n")));
    assert_eq!(both.settings.local.licences, 4);
    let needed = PartLicences {
        percent: 50.0,
        each: 2,
    };
    assert_eq!(both.requests.unwrap().licences, Some(needed));
    let plain = canonical_json(&spec_of("[requests]\n")).unwrap();
    assert!(!plain.contains("licences"));
    for rest in [
        NEEDED,
        "[requests]\nlicences_percent = 50\n[local]\nlicences = 0\n",
        "[requests]\nlicences = 3\n[local]\nlicences = 4\n",
    ] {
        assert_eq!(canonical_json(&spec_of(rest)).unwrap(), plain, "{rest}");
    }
    // Without requests there is nobody who could need one.
    let jobs_only = canonical_json(&spec_of("[local]\nlicences = 4\n")).unwrap();
    assert_eq!(jobs_only, canonical_json(&spec_of("")).unwrap());
}

#[test]
fn what_cannot_carry_licences_is_refused_with_the_reason() {
    let some = "[local]\nlicences = 4\n";
    for (rest, key, says) in [
        (
            format!("{NEEDED}{some}[broker]\nalgorithm = \"barrier\"\n"),
            "broker.algorithm",
            "leave `requests.licences_percent` out",
        ),
        (
            format!("{NEEDED}workflow_percent = 10\nworkflow_file = \"w.xml\"\n{some}"),
            "requests.licences_percent",
            "does not say which tasks need licences",
        ),
        (
            "[requests]\nlicences_percent = 101\n".to_owned(),
            "requests.licences_percent",
            "0 to 100",
        ),
        (
            "[requests]\nlicences = 0\n".to_owned(),
            "requests.licences",
            "1 to 1000000",
        ),
        (
            "[local]\nlicences = 1000001\n".to_owned(),
            "local.licences",
            "so many licences of each cluster",
        ),
    ] {
        let error = parse(&rest).expect_err(&rest);
        assert_eq!(error.problems().len(), 1, "{error}");
        assert_eq!(error.problems()[0].key, key, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
    // Everything that reserves carries them.
    let carried = format!("{NEEDED}workflow_percent = 10\n{some}partition_percent = 20\n");
    assert_eq!(settings(&carried).local.licences, 4);
    assert_eq!(
        settings(&format!("{NEEDED}{some}[risk]\n")).local.licences,
        4
    );
}

#[test]
fn parts_that_fit_on_no_cluster_for_their_licences_are_warned_of() {
    let found = parse(&format!("{NEEDED}[local]\nlicences = 1\n")).expect("it runs");
    let warnings = format!("{:?}", found.warnings);
    assert!(
        warnings.contains("no part that needs 2 licences fits on a cluster of 1"),
        "{warnings}"
    );
}
