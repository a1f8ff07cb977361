//! What an experiment file may say about several clusters, and which simulations come of it.

mod free_cpus;
mod further;
mod local;
mod refusals;
mod watch;

use crate::co_reservation::local::BacklogWork;
use crate::co_reservation::study::CoReservationStudy;
use crate::co_reservation::{
    Algorithm, CoReservationSettings, InformationSettings, Patience, RiskChoice, SearchSettings,
    SortBy,
};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{
    ClusterSettings, CoRequestSettings, FurtherParts, LeadRule, SlackRule, TemplateSelection,
};
use bookahead_lab::study::{self, Studies};
use bookahead_lab::sweep::{
    Experiment, ExperimentError, ProblemKind, SimulationSpec, canonical_json,
};

const STUDIES: Studies = Studies::new(&[
    study::study::<bookahead_overbooking::study::OverbookingStudy>(),
    study::study::<crate::co_reservation::study::CoReservationStudy>(),
]);

const HEAD: &str = r#"[experiment]
name = "grid"

[workload]
trace = "SDSC-BLUE-2000-4.2-cln.swf"
nodes = 1160
whole_trace = true

[scheduling]
strategy = "co-reservation"
"#;

fn parse(rest: &str) -> Result<Experiment, ExperimentError> {
    Experiment::parse(STUDIES, "test.toml", &format!("{HEAD}{rest}"), None)
}

fn specs(rest: &str) -> Vec<SimulationSpec> {
    match parse(rest) {
        Ok(experiment) => experiment.sweep.simulations.iter().collect(),
        Err(error) => panic!("{error}"),
    }
}

fn spec(rest: &str) -> SimulationSpec {
    let mut specs = specs(rest);
    assert_eq!(specs.len(), 1);
    specs.remove(0)
}

fn study(spec: SimulationSpec) -> CoReservationStudy {
    let study = spec.study.get::<CoReservationStudy>();
    study.expect("co-reservations").clone()
}

fn settings(rest: &str) -> CoReservationSettings {
    study(spec(rest)).settings
}

fn requests(rest: &str) -> CoRequestSettings {
    study(spec(rest)).requests.expect("requests")
}

#[test]
fn without_any_table_there_are_the_four_clusters_of_the_thesis_and_jobs_only() {
    let spec = spec("");
    assert_eq!(spec.estimates, None);
    let study = study(spec);
    assert_eq!(study.clusters, ClusterSettings::default());
    assert_eq!(study.requests, None);
    assert_eq!(study.settings, CoReservationSettings::default());
}

#[test]
fn every_key_reaches_its_setting() {
    let text = r#"
[clusters]
count = 7
days = 3.5
excerpts = "drawn"
merging = false
merge_at_most = 2
sizes = "graded"
policy = "comprehensive-overbooking"
[requests]
workload = "rw2"
chance = 0.2
templates = "all"
parts = 4
further_parts = "copied"
lead_seconds = 90
slack_factor = 2.5
slack_limit_hours = 3
drop_every = 5
single_percent = 20
workflow_percent = 30
workflow_stages = 5
bursts = 8
burst_hours = 2
cost_weight = 0.6
start_weight = 0.4
[broker]
algorithm = "a5"
minimum_step_seconds = 60
maximum_starts = 200
start_cap = "literal"
memoise = true
start_tolerance_seconds = 30
cost_tolerance = 1.5
renegotiate = true
latency_seconds = 2
timeout_seconds = 5
message_loss_percent = 1
[local]
backfilling = "conservative"
planned_visible = false
backlog_work = "remaining"
accuracy = "running"
accuracy_factor = 0.5
next_event = "oracle"
quota_percent = 25
tariff = "flat"
hour_edge = "inclusive"
calendar_origin_hours = 1
[grid_failures]
cluster_mtbf_days = 10
cluster_repair_hours = 2
node_mtbf_days = 100
node_repair_hours = 1
node_cpus = 16
[risk]
choice = "limit"
pof_limit = 0.05
[acceptance]
penalty_ratio = 3
pof_max = 0.3
"#;
    let spec = spec(text);
    let stored = serde_json::to_value(&spec).unwrap();
    let clusters = canonical_json(&stored["clusters"]).unwrap();
    assert_eq!(
        clusters,
        r#"{"count":7,"days":3.5,"excerpts":"drawn","merge_at_most":2,"merging":false,"sizes":"graded"}"#
    );
    assert_eq!(
        canonical_json(&stored["co_requests"]).unwrap(),
        r#"{"bursts":{"count":8,"width":7200},"drop_every":5,"further_parts":"copied","kinds":{"single_percent":20.0,"tasks":{"stages":5},"workflow_percent":30.0},"lead":{"rule":"fixed","seconds":90},"parts":4,"preference":{"cost_weight":0.6,"start_weight":0.4},"selection":{"by":"chance","probability":0.2},"slack":{"factor":2.5,"most":10800,"rule":"factor"},"templates":"all"}"#
    );
    assert_eq!(
        canonical_json(&stored["study"]).unwrap(),
        r#"{"failures":{"cluster_mtbf":864000,"cluster_repair":7200,"node_cpus":16,"node_mtbf":8640000,"node_repair":3600},"local":{"accuracy":"running","accuracy_factor":0.5,"backfilling":"conservative","backlog_work":"remaining","calendar_origin":3600,"hour_edge":"inclusive","next_event":"oracle","planned_visible":false,"quota":0.25,"tariff":"flat"},"machine":"co-reservation","messages":{"latency":2,"loss":0.01,"timeout":5},"renegotiate":true,"risk":{"choice":{"limit":{"pof":0.05}},"penalty_ratio":3.0,"pof_max":0.3,"strategy":"comprehensive-overbooking"},"search":{"algorithm":"a5","cost_tolerance":1.5,"maximum_starts":200,"memoise":true,"minimum_step":60,"start_cap":"literal","start_tolerance":30}}"#
    );
    assert!(spec.estimates.is_some(), "overbooking clusters learn");
}

#[test]
fn running_work_counts_in_full_by_default_and_a_stored_specification_says_which_reading_it_ran() {
    // Q9: as Listing 4 of Meltzer 2005 sums it, and as the printed failure rates ask for.
    assert_eq!(settings("").local.backlog_work, BacklogWork::Full);
    let remaining = settings("[local]\nbacklog_work = \"remaining\"\n");
    assert_eq!(remaining.local.backlog_work, BacklogWork::Remaining);
    let mut lacking = serde_json::to_value(spec("")).expect("JSON");
    let local = lacking.pointer_mut("/study/local");
    let local = local.and_then(|at| at.as_object_mut());
    assert!(local.expect("settings").remove("backlog_work").is_some());
    let error = SimulationSpec::read(&lacking.to_string(), STUDIES).expect_err("a reading");
    assert!(error.to_string().contains("backlog_work"), "{error}");
}

#[test]
fn a_cluster_that_looks_at_the_next_event_alone_is_specified_as_before_there_was_a_choice() {
    let local = |text: &str| serde_json::to_value(settings(text).local).expect("JSON");
    assert_eq!(local("[local]\nlook_ahead = 1\n"), local(""));
    assert_eq!(local("").get("look_ahead"), None);
    assert_eq!(local("[local]\nlook_ahead = 4\n")["look_ahead"], 4);
}

#[test]
fn many_clusters_are_asked_for_few_starts_each() {
    let starts = |clusters: u32| {
        let text = format!(
            "[clusters]\ncount = {clusters}\n[requests]\n[broker]\nstarts_per_request = 80\n"
        );
        settings(&text).search.maximum_starts
    };
    assert_eq!([4, 7, 16, 64].map(starts), [20, 12, 5, 2]);
}

#[test]
fn a_broker_that_asks_all_clusters_is_specified_as_before_there_was_a_choice() {
    let with = |algorithm: &str, keys: &str| {
        let broker = format!("[broker]\nalgorithm = \"{algorithm}\"\n{keys}\n");
        settings(&format!("[requests]\n{broker}"))
    };
    let stored = |keys: &str| serde_json::to_value(with("a2", keys)).expect("JSON");
    assert_eq!(stored("").get("information"), None);
    // What is published is read where some clusters are asked first; 4 are all, 0.9 of 4 too.
    for keys in [
        "information_period_seconds = 60",
        "probe_only = 4\ninformation_period_seconds = 60",
        "information_coverage = 0.9",
    ] {
        assert_eq!(stored(keys), stored(""), "{keys}");
    }
    let keys = "probe_only = 2\ninformation_period_seconds = 60\ninformation_coverage = 0.8";
    let information = InformationSettings {
        period: Seconds(60),
        coverage: 0.8,
        probe_only: Some(2),
    };
    assert_eq!(with("a2", keys).information, information);
    // A1 asks nobody, of those that it knows.
    let coverage = InformationSettings {
        coverage: 0.8,
        ..InformationSettings::default()
    };
    assert_eq!(with("a1", keys).information, coverage);
    assert_eq!(settings(&format!("[broker]\n{keys}")), settings(""));
}

#[test]
fn priority_where_nobody_gives_way_is_a_warning() {
    let warnings = |keys: &str| {
        let text = format!("[requests]\n[broker]\n{keys}\n");
        let found = parse(&text).expect("no error").warnings;
        found.into_iter().map(|it| it.key).collect::<Vec<_>>()
    };
    assert_eq!(
        warnings("priority_percent = 10"),
        ["broker.priority_percent"]
    );
    let beside = "priority_percent = 10\nrenegotiable_percent = 50";
    assert!(warnings(beside).is_empty());
    assert!(warnings("priority_percent = 0").is_empty());
}

#[test]
fn shared_cpus_and_no_surcharge_are_specified_as_before_there_was_a_choice() {
    let stored = |keys: &str| {
        let text = format!("[requests]\n[broker]\nrenegotiable_percent = 50\n{keys}\n");
        serde_json::to_value(settings(&text)).expect("JSON")
    };
    let plain = stored("renegotiable_surcharge = 0\n[local]\npartition_percent = 0");
    assert_eq!(plain, stored(""));
    assert_eq!(
        stored("renegotiable_surcharge = 0.25")["second_thoughts"]["surcharge"],
        0.25
    );
    assert_eq!(plain, stored("priority_percent = 0"));
    assert_eq!(
        stored("priority_percent = 10")["second_thoughts"]["priority_percent"],
        10.0
    );
    let divided = stored("[local]\npartition_percent = 30");
    assert_eq!(divided["local"]["partition"], 0.3);
    // No job waits for CPUs of parts, and all of them are theirs.
    let unread = "planned_visible = false\nnext_event = \"oracle\"\nquota_percent = 100";
    let same = stored(&format!("[local]\npartition_percent = 30\n{unread}"));
    assert_eq!(same, divided);
}

#[test]
fn a_named_workload_can_be_changed_key_by_key() {
    let named =
        |name: &str, more: &str| requests(&format!("[requests]\nworkload = \"{name}\"\n{more}"));
    assert_eq!(requests("[requests]\n"), CoRequestSettings::default());
    assert_eq!(named("rw1", ""), CoRequestSettings::default());
    assert_eq!(
        named("rw1", "lead_factor = 0.5\nslack_factor = 3"),
        named("rw3", "")
    );
    assert_eq!(named("rw1", "lead_factor = 0.5"), named("rw2", ""));
    let early = named("rw1", "lead_seconds = 30\nslack_seconds = 21600");
    assert_eq!(early, named("early-two", ""));
    let three = named(
        "early-two",
        "parts = 3\nfurther_parts = \"copied\"\ndrop_every = 3",
    );
    assert_eq!(three, named("early-three", ""));
    assert_eq!(three.further_parts, FurtherParts::Copied);
    assert_eq!(
        named(
            "early-three",
            "parts = 2\ndrop_every = 0\nfurther_parts = \"drawn\""
        ),
        named("early-two", "")
    );
    let changed = named("early-two", "slack_factor = 4\nlead_factor = 1");
    assert_eq!(
        changed.slack,
        SlackRule::Factor {
            factor: 4.0,
            most: Seconds(86_400)
        }
    );
    assert_eq!(changed.lead, LeadRule::Factor { factor: 1.0 });
    let few = named("rw3", "count = 20");
    assert_eq!(few.selection, TemplateSelection::Count { count: 20 });
    assert_eq!(
        study(spec("[requests]\nworkload = \"none\"")).requests,
        None
    );
}

#[test]
fn more_parts_than_clusters_are_allowed_and_warned_of() {
    let experiment = parse("[clusters]\ncount = 2\n[requests]\nparts = 3").unwrap();
    assert_eq!(experiment.warnings.len(), 1);
    assert!(experiment.warnings[0].message.contains("3 parts"));
    assert!(
        parse("[clusters]\ncount = 3\n[requests]\nparts = 3")
            .unwrap()
            .warnings
            .is_empty()
    );
    let half = "[requests]\nparts = 3\n[broker]\ninformation_coverage = 0.5";
    let warnings = parse(half).unwrap().warnings;
    assert!(warnings[0].message.contains("on 2 clusters"));
}

#[test]
fn alpha_is_written_as_the_two_weights_that_it_stands_for() {
    let a5 = |weights: &str| {
        spec(&format!(
            "[requests]\n{weights}\n[broker]\nalgorithm = \"a5\""
        ))
    };
    for (alpha, start) in [(0.0, 1.0), (0.25, 0.75), (1.0, 0.0)] {
        let one = a5(&format!("alpha = {alpha:?}"));
        let two = a5(&format!(
            "cost_weight = {alpha:?}\nstart_weight = {start:?}"
        ));
        assert_eq!(one, two);
    }
    assert_ne!(a5("alpha = 0.25"), a5(""));
}

#[test]
fn what_an_algorithm_does_not_read_does_not_make_a_simulation() {
    let count = |rest: &str| specs(rest).len();
    let axis = |key: &str, values: &str| format!("[[axis]]\nkey = \"{key}\"\nvalues = {values}\n");
    let algorithms = axis("broker.algorithm", r#"["a3", "a3-backfill", "a4"]"#);
    // Jobs only: no algorithm asks anything.
    assert_eq!(count(&algorithms), 1);
    assert_eq!(count(&format!("[requests]\n{algorithms}")), 3);
    assert_eq!(
        count(&axis("requests.workload", r#"["none", "rw1", "rw2"]"#)),
        3
    );
    let weights = axis("requests.cost_weight", "[0.0, 0.5, 1.0]");
    let tolerance = axis("broker.cost_tolerance", "[0.0, 1.0]");
    for (algorithm, expected) in [("a4", 1), ("a5", 6)] {
        let broker = format!("[requests]\n[broker]\nalgorithm = \"{algorithm}\"\n");
        assert_eq!(count(&format!("{broker}{weights}{tolerance}")), expected);
    }
    // Costs and backlog times are measured under every algorithm.
    let measured = axis("local.tariff", r#"["flat", "day-night"]"#)
        + &axis("local.backlog_work", r#"["full", "remaining"]"#);
    assert_eq!(count(&format!("[requests]\n{measured}")), 4);
    let renegotiate = axis("broker.renegotiate", "[false, true]");
    assert_eq!(count(&format!("[requests]\n{renegotiate}")), 1);
    let failing = "[requests]\n[grid_failures]\ncluster_mtbf_days = 30\n";
    assert_eq!(count(&format!("{failing}{renegotiate}")), 2);
    let repairs = axis("grid_failures.node_repair_hours", "[1.0, 2.0]");
    assert_eq!(count(&format!("{failing}{repairs}")), 1);
    let timeouts = axis("broker.timeout_seconds", "[30, 90]");
    assert_eq!(count(&format!("[requests]\n{timeouts}")), 1);
    assert_eq!(count(&format!("{failing}{timeouts}")), 2);
    assert_eq!(
        count(&format!(
            "[requests]\n[broker]\nlatency_seconds = 1\n{timeouts}"
        )),
        2
    );
    // Nodes that fail by a source are failures as well, beside those of whole clusters.
    let source = axis("failures.source", r#"["none", "generated", "lanl"]"#);
    assert_eq!(count(&format!("[requests]\n{source}")), 3);
    assert_eq!(count(&format!("{failing}{source}{renegotiate}")), 6);
    let believed = axis("reliability.rate_per_hour", "[0.001, 0.002]");
    let risk = "[requests]\n[risk]\n[clusters]\npolicy = \"heuristic-overbooking\"\n";
    assert_eq!(count(&format!("{risk}{source}{believed}")), 5);
    assert_eq!(
        count(&format!(
            "{}{source}{believed}",
            risk.replace("heuristic-overbooking", "fcfs")
        )),
        3
    );
    let never = "[requests]\n[grid_failures]\ncluster_mtbf_days = 0\n";
    assert_eq!(
        canonical_json(&spec(never)).unwrap(),
        canonical_json(&spec("[requests]\n")).unwrap()
    );
}

#[test]
fn queued_parts_read_their_patience_and_one_part_reads_neither_it_nor_an_overhead() {
    let search = |rest: &str| settings(rest).search;
    let queued = "[requests]\nsplit_overhead = 0.3\n[broker]\nalgorithm = \"barrier\"\n";
    let found = search(queued);
    assert_eq!(
        (found.patience, found.split_overhead),
        (Patience::Factor(0.5), 0.3)
    );
    let found = search(&format!(
        "{queued}patience_seconds = 3600\nmaximum_starts = 7\n"
    ));
    assert_eq!(found.patience, Patience::Fixed(Seconds(3_600)));
    assert_eq!(
        found.maximum_starts,
        SearchSettings::default().maximum_starts
    );
    let whole = queued.replace("split_overhead", "split = false\nsplit_overhead");
    let found = search(&format!("{whole}patience_factor = 2\n"));
    assert_eq!((found.unsplit, found.split_overhead), (true, 0.0));
    assert_eq!(found.patience, Patience::default());
    let found = search("[requests]\nsplit = false\nparts = 1\n[broker]\npatience_factor = 2\n");
    assert_eq!(found, SearchSettings::default());
}

#[test]
fn stages_are_read_by_a5_alone_and_then_nobody_reads_weights() {
    let of = |algorithm: &str| {
        let text = format!(
            "[requests]\nalpha = 0.3\n[broker]\nsort_by = \"staged\"\nalgorithm = \"{algorithm}\"\n"
        );
        let weight = requests(&text).preference.cost_weight;
        (settings(&text).search.sort_by, weight)
    };
    assert_eq!(of("a5"), (SortBy::Staged, 0.0));
    assert_eq!(of("a4"), (SortBy::Algorithm, 0.0));
}

#[test]
fn names_are_those_of_the_matrix_and_of_the_settings() {
    for (algorithm, name, _) in Algorithm::ALL {
        let read = settings(&format!("[requests]\n[broker]\nalgorithm = \"{name}\"\n"));
        assert_eq!(read.search.algorithm, *algorithm);
    }
    let risk = settings("[requests]\n[risk]\n").risk.unwrap();
    assert_eq!(risk.choice, RiskChoice::ExpectedCost);
    assert_eq!(risk.strategy, "heuristic-overbooking");
    // The time-out grows with the latency where it is not given.
    let slow = settings("[requests]\n[broker]\nlatency_seconds = 40\n").messages;
    assert_eq!((slow.latency, slow.timeout), (Seconds(40), Seconds(160)));
}

#[test]
fn clusters_at_risk_plan_by_the_common_tables_and_their_jobs_have_deadlines_where_asked_for() {
    let table = "[requests]\n[risk]\n[clusters]\ndeadlines = true\n";
    let common = "[checkpoint]\ninterval = \"young\"\n";
    let head = HEAD.replace("nodes = 1160", "nodes = 1160\nlaxity = 3");
    let head = format!("{head}hold_for_overbooked = true\nretry = \"repairs\"\n");
    let one = |text: &str| {
        let experiment = Experiment::parse(STUDIES, "test.toml", text, None);
        let experiment = experiment.unwrap_or_else(|error| panic!("{error}"));
        let spec = experiment.sweep.simulations.iter().next();
        study(spec.expect("a simulation"))
    };
    let mapped = one(&format!(
        "{head}{table}policy = \"comprehensive-overbooking\"\n{common}"
    ));
    assert_eq!(mapped.clusters.laxity, Some(3.0));
    let risk = mapped.settings.risk.clone().expect("a risk");
    let policy = risk.cluster_policy(Default::default);
    assert!(policy.hold_for_overbooked && policy.checkpoint.is_some());
    assert_eq!(policy.strategy, "comprehensive-overbooking");
    // A counted plan holds nothing for overbooked jobs.
    let counted = one(&format!("{head}{table}{common}")).settings.risk;
    let policy = counted.and_then(|risk| risk.policy).expect("a policy");
    assert!(!policy.hold_for_overbooked && policy.checkpoint.is_some());
    // Read from the store it is what it was.
    let stored = serde_json::to_string(&mapped).expect("JSON");
    let again: CoReservationStudy = serde_json::from_str(&stored).expect("a study");
    assert_eq!(again, mapped);

    let plain = study(spec("[requests]\n[risk]\n"));
    assert_eq!(plain.clusters.laxity, None);
    assert_eq!(plain.settings.risk.and_then(|risk| risk.policy), None);
    let without_risk = study(spec("[clusters]\ndeadlines = true\n[requests]\n"));
    assert_eq!(without_risk.clusters.laxity, None);
}
