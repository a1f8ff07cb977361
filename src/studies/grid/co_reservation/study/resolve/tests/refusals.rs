//! What is refused, with its key and why.

use super::*;

#[track_caller]
fn refused(rest: &str, key: &str, kind: ProblemKind, says: &str) {
    let error = parse(rest).expect_err(rest);
    let problems = error.problems();
    assert_eq!(problems.len(), 1, "{error}");
    assert_eq!((problems[0].key.as_str(), problems[0].kind), (key, kind));
    let text = error.to_string();
    assert!(text.contains(says), "{text}");
}

#[test]
fn what_cannot_be_is_refused_with_its_key() {
    use ProblemKind::{Conflict, Missing, OutOfRange, UnknownKey, UnknownName};
    for (rest, key, kind, says) in [
        (
            "[clusters]\ncount = 0",
            "clusters.count",
            OutOfRange,
            "1 to 64",
        ),
        (
            "[[axis]]\nkey = \"workload.estimate_tightness\"\nvalues = [0.5]",
            "workload.estimate_tightness",
            Conflict,
            "excerpts are found by how accurate the recorded estimates are",
        ),
        (
            "[[axis]]\nkey = \"workload.no_show_percent\"\nvalues = [5.0]",
            "workload.no_show_percent",
            Conflict,
            "excerpts are found by how accurate the recorded estimates are",
        ),
        (
            "[[axis]]\nkey = \"workload.crashes_per_hour\"\nvalues = [0.1]",
            "workload.crashes_per_hour",
            Conflict,
            "add `clusters.excerpts = \"drawn\"`",
        ),
        (
            "[clusters]\ncount = 65",
            "clusters.count",
            OutOfRange,
            "1 to 64",
        ),
        ("[clusters]\ndays = 0", "clusters.days", OutOfRange, "0.05"),
        (
            "[requests]\n[broker]\npatience_factor = 1.0\npatience_seconds = 60",
            "broker.patience_seconds",
            Conflict,
            "exclude each other",
        ),
        (
            "[requests]\n[broker]\nprobe_only = 1",
            "broker.probe_only",
            OutOfRange,
            "a request of 2 parts needs as many clusters",
        ),
        (
            "[local]\npartition_percent = 30\nquota_percent = 10",
            "local.partition_percent",
            OutOfRange,
            "need no quota",
        ),
        (
            "[local]\npartition_percent = 100",
            "local.partition_percent",
            OutOfRange,
            "below 100",
        ),
        (
            "[local]\npartition_percent = 30\n[risk]",
            "local.partition_percent",
            OutOfRange,
            "jobs may hold",
        ),
        (
            "[broker]\nrenegotiable_surcharge = -0.1",
            "broker.renegotiable_surcharge",
            OutOfRange,
            "0 to 100",
        ),
        (
            "[broker]\npriority_percent = 101",
            "broker.priority_percent",
            OutOfRange,
            "0 to 100",
        ),
        (
            "[broker]\nrenegotiable_percent = 50\npriority_percent = 10\n[risk]",
            "broker.priority_percent",
            OutOfRange,
            "without what they promised",
        ),
        (
            "[broker]\ninformation_coverage = 0",
            "broker.information_coverage",
            OutOfRange,
            "above 0",
        ),
        (
            "[broker]\npatience_seconds = 0",
            "broker.patience_seconds",
            OutOfRange,
            "1 or more",
        ),
        (
            "[requests]\nsingle_percent = 70\nworkflow_percent = 31",
            "requests.workflow_percent",
            OutOfRange,
            "more than all requests",
        ),
        (
            "[requests]\nworkflow_stages = 1",
            "requests.workflow_stages",
            OutOfRange,
            "2 to 20",
        ),
        (
            "[requests]\nworkflow_stages = 4\nworkflow_file = \"w.xml\"",
            "requests.workflow_file",
            Conflict,
            "exclude each other",
        ),
        (
            "[requests]\nworkflow_file = \" \"",
            "requests.workflow_file",
            OutOfRange,
            "an empty file name",
        ),
        (
            "[requests]\nworkflow_percent = 1\n[broker]\nalgorithm = \"barrier\"",
            "broker.algorithm",
            OutOfRange,
            "leave `requests.workflow_percent` out",
        ),
        (
            "[requests]\nsplit_overhead = -0.1",
            "requests.split_overhead",
            OutOfRange,
            "0 to 100",
        ),
        (
            "[requests]\n[broker]\nalgorithm = \"barrier\"\nmessage_loss_percent = 1.0",
            "broker.algorithm",
            OutOfRange,
            "leave `broker.message_loss_percent` out",
        ),
        (
            "[requests]\n[broker]\nalgorithm = \"barrier\"\n[grid_failures]\nnode_mtbf_days = 9",
            "broker.algorithm",
            OutOfRange,
            "leave `[grid_failures]` and `[failures]` out",
        ),
        (
            "[requests]\n[risk]\n[broker]\nalgorithm = \"barrier\"",
            "broker.algorithm",
            OutOfRange,
            "leave `[risk]` out",
        ),
        (
            "[clusters]\nmerge_at_most = 1",
            "clusters.merge_at_most",
            OutOfRange,
            "2 or more",
        ),
        (
            "[clusters]\nnumber = 3",
            "clusters.number",
            UnknownKey,
            "count",
        ),
        (
            "[clusters]\nsizes = \"equl\"",
            "clusters.sizes",
            UnknownName,
            "graded",
        ),
        (
            "[requests]\nworkload = \"rw4\"",
            "requests.workload",
            UnknownName,
            "rw1",
        ),
        (
            "[requests]\ncount = 3\nchance = 0.1",
            "requests.chance",
            Conflict,
            "exclude",
        ),
        (
            "[requests]\nlead_factor = 3\nlead_seconds = 1",
            "requests.lead_seconds",
            Conflict,
            "exclude",
        ),
        (
            "[requests]\nslack_factor = 3\nslack_seconds = 1",
            "requests.slack_seconds",
            Conflict,
            "exclude",
        ),
        (
            "[requests]\nparts = 7",
            "requests.parts",
            OutOfRange,
            "1 to 6",
        ),
        (
            "[requests]\ndrop_every = 1",
            "requests.drop_every",
            OutOfRange,
            "every request",
        ),
        (
            "[requests]\nchance = 0.0",
            "requests.chance",
            OutOfRange,
            "above 0",
        ),
        (
            "[requests]\nworkload = \"none\"\ncost_weight = 2",
            "requests.cost_weight",
            OutOfRange,
            "0 to 1",
        ),
        (
            "[requests]\nalpha = 0.5\nstart_weight = 0.5",
            "requests.alpha",
            Conflict,
            "exclude each other",
        ),
        (
            "[broker]\nalgorithm = \"a6\"",
            "broker.algorithm",
            UnknownName,
            "a3-backfill",
        ),
        (
            "[broker]\nlatency_seconds = 30\ntimeout_seconds = 60",
            "broker.timeout_seconds",
            OutOfRange,
            "an answer takes 60 s",
        ),
        (
            "[broker]\nmaximum_starts = 0",
            "broker.maximum_starts",
            OutOfRange,
            "1 to 100000",
        ),
        (
            "[broker]\nmessage_loss_percent = 100",
            "broker.message_loss_percent",
            OutOfRange,
            "below 100",
        ),
        (
            "[local]\naccuracy = \"category\"\naccuracy_window = 4",
            "local.accuracy_window",
            OutOfRange,
            "5 to 1000000",
        ),
        (
            "[local]\naccuracy = \"users\"",
            "local.accuracy",
            UnknownName,
            "category",
        ),
        (
            "[requests]\nmix_weight = 1.5",
            "requests.mix_weight",
            OutOfRange,
            "0 to 1",
        ),
        (
            "[local]\nmix_days = 0",
            "local.mix_days",
            OutOfRange,
            "10000",
        ),
        (
            "[local]\nlarge_cpus = 0",
            "local.large_cpus",
            OutOfRange,
            "1 to 10000000",
        ),
        (
            "[requests]\nmix_weight = 0.5\n[broker]\nalgorithm = \"a5\"\ncost_tolerance = 1.0",
            "broker.cost_tolerance",
            OutOfRange,
            "leave one of them out",
        ),
        (
            "[requests]\ndegree_weight = 0.5\n[broker]\nalgorithm = \"a5\"\ncost_tolerance = 1.0",
            "broker.cost_tolerance",
            OutOfRange,
            "with `requests.degree_weight` candidates are compared",
        ),
        (
            "[requests]\ndegree_weight = -0.5",
            "requests.degree_weight",
            OutOfRange,
            "0 to 1",
        ),
        (
            "[local]\nlook_ahead = 0",
            "local.look_ahead",
            OutOfRange,
            "1 to 1000",
        ),
        (
            "[local]\nlook_ahead = 2\nnext_event = \"oracle\"",
            "local.look_ahead",
            OutOfRange,
            "asks for true ends",
        ),
        (
            "[local]\nlook_ahead = 2\n[risk]\nchoice = \"limit\"",
            "local.look_ahead",
            OutOfRange,
            "without `[risk]`",
        ),
        (
            "[local]\nquota_periods = \"180-168 0\"",
            "local.quota_periods",
            OutOfRange,
            "`180-168 0` is no period: hours go from the beginning",
        ),
        (
            "[broker]\nmaximum_starts = 20\nstarts_per_request = 80",
            "broker.starts_per_request",
            OutOfRange,
            "`broker.maximum_starts` says",
        ),
        (
            "[broker]\nstarts_per_request = 400001",
            "broker.starts_per_request",
            OutOfRange,
            "100001 starts at each of 4 clusters are too many",
        ),
        (
            "[local]\nquota_percent = 0",
            "local.quota_percent",
            OutOfRange,
            "above 0",
        ),
        (
            "[local]\ncalendar_origin_hours = 168",
            "local.calendar_origin_hours",
            OutOfRange,
            "168",
        ),
        (
            "[grid_failures]\nnode_cpus = 8",
            "grid_failures.cluster_mtbf_days",
            Missing,
            "node_mtbf_days",
        ),
        (
            "[grid_failures]\ncluster_mtbf_days = 1\ncluster_repair_hours = 0",
            "grid_failures.cluster_repair_hours",
            OutOfRange,
            "0.001",
        ),
        (
            "[failures]\nsource = \"generated\"\n[grid_failures]\nnode_mtbf_days = 9",
            "grid_failures.node_mtbf_days",
            OutOfRange,
            "fail by `[failures]` already",
        ),
        (
            "[risk]\n[clusters]\npolicy = \"luck\"",
            "clusters.policy",
            UnknownName,
            "easy-backfilling",
        ),
        (
            "[risk]\nchoice = \"hope\"",
            "risk.choice",
            UnknownName,
            "expected-cost",
        ),
        (
            "[risk]\npof_limit = 1.5",
            "risk.pof_limit",
            OutOfRange,
            "0 to 1",
        ),
        (
            "[reservations]\nshare_percent = 5",
            "reservations.share_percent",
            OutOfRange,
            "no reservations",
        ),
    ] {
        refused(rest, key, kind, says);
    }
}

#[test]
fn the_tables_belong_to_this_study_and_the_study_to_whole_traces() {
    let other = HEAD.replace("co-reservation", "easy-backfilling");
    for table in [
        "[clusters]",
        // Of this table every study may read `alpha`.
        "[requests]\ncount = 3",
        "[broker]",
        "[local]",
        "[grid_failures]",
        "[risk]",
    ] {
        let error = Experiment::parse(STUDIES, "t.toml", &format!("{other}{table}\n"), None)
            .expect_err(table)
            .to_string();
        assert!(
            error.contains("belongs to the study of several clusters"),
            "{error}"
        );
    }
    let battery = HEAD.replace("whole_trace = true", "load.each_battery = 1.0");
    let error = Experiment::parse(STUDIES, "t.toml", &battery, None).expect_err("batteries");
    assert!(
        error.to_string().contains("add `whole_trace = true`"),
        "{error}"
    );
}

#[test]
fn a_laxity_is_refused_where_no_job_has_a_deadline() {
    let with_laxity = HEAD.replace("nodes = 1160", "nodes = 1160\nlaxity = 3");
    for (rest, is_read) in [
        ("", false),
        ("[clusters]\ndeadlines = true\n", false),
        ("[clusters]\ndeadlines = true\n[requests]\n[risk]\n", true),
    ] {
        let text = format!("{with_laxity}{rest}");
        let found = Experiment::parse(STUDIES, "test.toml", &text, None);
        if is_read {
            assert!(found.is_ok(), "{rest}");
            continue;
        }
        let error = found.map(drop).expect_err(rest);
        assert_eq!(error.problems()[0].key, "workload.laxity", "{error}");
        assert!(error.to_string().contains("deadline"), "{error}");
    }
}

#[test]
fn a_laxity_that_cannot_be_is_refused_once() {
    let text = HEAD.replace("nodes = 1160", "nodes = 1160\nlaxity = 0.5");
    let text = format!("{text}[clusters]\ndeadlines = true\n[requests]\n[risk]\n");
    let error = Experiment::parse(STUDIES, "test.toml", &text, None).expect_err("0.5");
    let keys: Vec<&str> = error.problems().iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["workload.laxity"], "{error}");
}
