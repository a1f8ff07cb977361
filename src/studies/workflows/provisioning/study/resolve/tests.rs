//! What an experiment file may say about workflows that buy their resources, and which simulations
//! come of it.

mod memory_and_make;
mod network;
mod queues;
mod refusals;
mod shares;
mod site_speeds;

use crate::provisioning::study::{ProvisionedSettings, ProvisioningStudy};
use crate::provisioning::{Commitment, Provider, ProvisioningSettings, Wish};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::workflows::{
    ApplicationSettings, ApplicationSource, SyntheticSettings,
};
use bookahead_lab::study::{self, Studies};
use bookahead_lab::sweep::{
    ContentHashes, Experiment, ExperimentError, ProblemKind, RESULT_FORMAT, SimulationSpec,
    canonical_json, digest,
};

const STUDIES: Studies = Studies::new(&[
    study::study::<crate::provisioning::study::ProvisioningStudy>(),
    study::study::<bookahead_reservations::slots::study::SlotsStudy>(),
    study::study::<bookahead_reservations::replanning::study::ReservationsStudy>(),
]);

const HEAD: &str = r#"[experiment]
name = "buying"

[workload]
trace = "CTC-SP2-1996-3.1-cln.swf"
nodes = 430
whole_trace = true
exact_estimates = true

[scheduling]
strategy = "provisioning"
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

fn study(spec: &SimulationSpec) -> &ProvisioningStudy {
    spec.study.get().expect("provisioning")
}

fn settings(rest: &str) -> ProvisioningSettings {
    study(&spec(rest)).settings.clone()
}

fn about(spec: &SimulationSpec) -> ProvisionedSettings {
    study(spec).about.clone()
}

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
fn without_any_table_a_hundred_tasks_are_bought_by_queries_from_the_trace_as_it_is() {
    let spec = spec("");
    let about = about(&spec);
    assert_eq!(about.sites.len(), 1);
    assert_eq!(about.sites[0].workload, spec.workload);
    assert_eq!(about.sites[0].utilisation_percent, None);
    assert_eq!(
        about.application,
        ApplicationSettings {
            source: ApplicationSource::Synthetic(SyntheticSettings {
                most_nodes: Some(Nodes(430)),
                ..SyntheticSettings::default()
            }),
            ..ApplicationSettings::default()
        }
    );
    assert_eq!(settings(""), ProvisioningSettings::default());
}

/// Best effort on several sites has changed, so their simulations have another identity than those
/// of the engine before; those of one site, whose results are what they were, have the same.
#[test]
fn only_simulations_of_several_sites_are_of_a_later_revision() {
    for (count, revised) in [(1, false), (2, true)] {
        let text = format!("[clusters]\ncount = {count}\n[[sites.more]]\n");
        let mut sweep = parse(&text).expect("two sites").sweep;
        let hashes = |_: &SimulationSpec| -> Result<_, std::convert::Infallible> {
            Ok(ContentHashes {
                workload: "content".to_owned(),
                sites: vec!["content".to_owned(); count - 1],
                ..ContentHashes::default()
            })
        };
        let content = hashes(&sweep.simulations.get(0));
        let Ok(()) = sweep.identify(|specs| specs.iter().map(hashes).collect());
        let before = serde_json::json!({
            "format": RESULT_FORMAT,
            "simulation": sweep.simulations.get(0),
            "content": content.expect("made above"),
        });
        let before = digest(&canonical_json(&before).expect("JSON"));
        assert_eq!(sweep.simulation_ids[0] != before, revised, "{count} sites");
    }
}

#[test]
fn every_key_reaches_its_setting() {
    let text = r#"
[clusters]
count = 3
[sites]
utilisation_percent = 88
[[sites.more]]
trace = "SDSC-SP2-1998-4.2-cln.swf"
nodes = 128
utilisation_percent = 84.5
[[sites.more]]
[[sites.more]]
nodes = 7
[workflow]
tasks = 200
depth = 5
levels = "equal"
parents = 3
mean_seconds = 500
runtimes = "exponential"
mean_nodes = 14
nodes = "constant"
mean_gigabits = 1000
volumes = "uniform"
bandwidth_gbps = 1
latency_seconds = 0.5
transfer_mean = "all-pairs"
instances = "one-a-replication"
[slots]
equal_starts = "longest-first"
surplus = "extensible"
merge_identical = false
minimum_minutes = 5
[provisioning]
search = "moga"
provider = "advertised"
deadline_factor = 2.5
population = 50
generations = 20
sharing_radius = 0.02
all_slots_member = true
site_choice = "earliest-finish"
commitment = "committed"
submissions = 4
latency_seconds = 60
replans = 3
after_failure = "fail"
[failures]
source = "generated"
rate_per_hour = 1e-3
"#;
    let spec = spec(text);
    let about = about(&spec);
    let sites: Vec<(String, u32, Option<f64>)> = about
        .sites
        .iter()
        .map(|site| {
            let workload = &site.workload;
            assert!((workload.whole.as_ref()).is_some_and(|whole| whole.exact_estimates));
            (
                workload.source_key(),
                workload.nodes.0,
                site.utilisation_percent,
            )
        })
        .collect();
    let named = |name: &str| format!("trace={name}");
    assert_eq!(
        sites,
        [
            (named("CTC-SP2-1996-3.1-cln"), 430, Some(88.0)),
            (named("SDSC-SP2-1998-4.2-cln"), 128, Some(84.5)),
            (named("CTC-SP2-1996-3.1-cln"), 430, None),
        ]
    );
    assert_eq!(
        canonical_json(&about.application).unwrap(),
        r#"{"instances":"one-a-replication","network":{"bandwidth_bits_per_second":1000000000.0,"latency_seconds":0.5,"mean":"all-pairs"},"source":{"depth":5,"kind":"synthetic","levels":"equal","mean_bytes":125000000000,"mean_nodes":14,"mean_runtime":500,"most_nodes":430,"nodes":"constant","parents":3,"runtimes":"exponential","tasks":200,"volumes":"uniform"}}"#
    );
    assert_eq!(
        canonical_json(&about.relative_wish).unwrap(),
        r#"{"factor":2.5,"of":"deadline"}"#
    );
    assert_eq!(
        canonical_json(&serde_json::to_value(&spec).unwrap()["study"]).unwrap(),
        r#"{"after_failure":"fail","commitment":{"commitment":"committed","submissions":4},"genetic":{"all_slots_member":true,"generations":20,"population":50,"sharing_radius":0.02},"latency":60,"machine":"provisioning","provider":{"provider":"advertised","rules":{"equal-starts":"longest-first","merge-identical":false,"minimum-duration":300,"surplus":"extensible"},"source":"free-rectangles"},"replans":3,"reserving":{"admission":"move-price","backfilling":"conservative","displaced":"replan-all","displacement":"skip","early_end":"release","order":"fcfs","same_instant":"job-first","starvation_guard":null},"search":"moga","site_choice":"earliest-finish","wish":{"alpha":0.5,"wish":"trade-off"}}"#
    );
    assert!(
        canonical_json(&spec.failures)
            .unwrap()
            .contains(r#""rate_per_hour":0.001"#)
    );
}

#[test]
fn several_applications_are_told_apart_only_where_there_are_several() {
    let alone = spec("[workflow]\napplications = 1\n[provisioning]\njoint = false\n");
    assert_eq!(alone, spec(""));
    let text = serde_json::to_string(&alone).expect("JSON");
    assert!(
        !text.contains("\"joint\":") && !text.contains("further"),
        "{text}"
    );
    let three = "[workflow]\napplications = 3\n[provisioning]\nsearch = \"moga\"\n";
    let together = spec(three);
    assert_eq!(about(&together).application.number(), 3);
    assert!(study(&together).settings.joint);
    let apart = settings(&format!("{three}joint = false\nbrokers = 3\n"));
    assert_eq!(
        (apart.joint, apart.submitters(), apart.applications()),
        (false, 1, 1)
    );
    let files = "[workflow]\nsource = \"file\"\nfile = \"a\"\nmore_files = [\"b\", \"a\"]\n";
    assert_eq!(about(&spec(files)).application.further_files, ["b", "a"]);
    let best_effort = "[workflow]\napplications = 2\n[provisioning]\nsearch = \"best-effort\"\n";
    assert!(settings(&format!("{best_effort}joint = false\n")).joint);
}

#[test]
fn left_overs_are_merged_and_first_populations_random_unless_a_file_says_otherwise() {
    // AMB-6 (only merged slots give the printed 27 and 14) and AMB-14 (a random first population,
    // as in Singh 2008, §4.5).
    let settings_of = |more: &str| settings(&format!("{more}[provisioning]\nsearch = \"moga\"\n"));
    let merged = |settings: &ProvisioningSettings| match settings.provider {
        Provider::Advertised { rules, .. } => rules.merge_identical,
        Provider::Queried => panic!("moga chooses from advertised slots"),
    };
    let default = settings_of("");
    assert!(merged(&default));
    assert!(!default.genetic.all_slots_member);
    assert!(!merged(&settings_of("[slots]\nmerge_identical = false\n")));
    let with = settings("[provisioning]\nsearch = \"moga\"\nall_slots_member = true\n");
    assert!(with.genetic.all_slots_member);
}

#[test]
fn a_stored_specification_names_its_readings_so_that_a_changed_default_gives_it_no_other() {
    let spec = spec("[provisioning]\nsearch = \"moga\"\n");
    let whole = serde_json::to_value(&spec).expect("JSON");
    assert!(SimulationSpec::read(&whole.to_string(), STUDIES).is_ok());
    for (place, field) in [
        ("/study/provider/rules", "merge-identical"),
        ("/study/genetic", "all_slots_member"),
    ] {
        let mut lacking = whole.clone();
        let object = lacking.pointer_mut(place).and_then(|at| at.as_object_mut());
        assert!(object.expect(place).remove(field).is_some(), "{field}");
        let error = SimulationSpec::read(&lacking.to_string(), STUDIES).expect_err(field);
        assert!(error.to_string().contains(field), "{error}");
    }
}

#[test]
fn only_run_times_that_differ_are_part_of_a_specification() {
    let written = |rest: &str| {
        let whole = serde_json::to_value(spec(rest)).expect("JSON");
        whole.pointer("/provisioning/uncertainty").cloned()
    };
    let workflow = |lines: &str| written(&format!("[workflow]\n{lines}\n"));
    assert_eq!(written(""), None);
    assert_eq!(workflow("real_variation = 0.6"), None);
    let zero = "real_runtimes = \"log-normal\"\nreal_variation = 0.0";
    assert_eq!(workflow(zero), None);
    assert_eq!(
        workflow("real_runtimes = \"uniform\"\n[provisioning]\nbooking_factor = 1.5"),
        Some(serde_json::json!({"real": "uniform", "variation": 0.3, "booking_factor": 1.5}))
    );
    let queued = "search = \"best-effort\"\nbooking_factor = 1.5";
    assert_eq!(written(&format!("[provisioning]\n{queued}\n")), None);
    refused(
        "[workflow]\nreal_runtimes = \"uniform\"\nreal_variation = 0.6\n",
        "workflow.real_variation",
        ProblemKind::OutOfRange,
        "0.6 is impossible where run times are uniform",
    );
}

#[test]
fn a_refund_is_part_of_a_specification_where_slots_are_booked_and_something_is_paid_back() {
    let written = |lines: &str| {
        let whole =
            serde_json::to_value(spec(&format!("[provisioning]\n{lines}\n"))).expect("JSON");
        whole.pointer("/study/refund").cloned()
    };
    let paid_back = |kind: &str, factor: f64| {
        Some(serde_json::json!({"refund": kind, "penalty_factor": factor}))
    };
    assert_eq!(written(""), None);
    assert_eq!(written("refund = \"none\"\npenalty_factor = 0.5"), None);
    assert_eq!(written("refund = \"rest\""), paid_back("rest", 0.1));
    let both = "refund = \"both\"\npenalty_factor = 1";
    assert_eq!(written(both), paid_back("both", 1.0));
    assert_eq!(written(&format!("search = \"best-effort\"\n{both}")), None);
    for (line, key, kind, says) in [
        (
            "refund = \"all\"",
            "refund",
            ProblemKind::UnknownName,
            "`rest`",
        ),
        (
            "penalty_factor = 1.5",
            "penalty_factor",
            ProblemKind::OutOfRange,
            "1.5",
        ),
    ] {
        let key = format!("provisioning.{key}");
        refused(&format!("[provisioning]\n{line}\n"), &key, kind, says);
    }
    let axis = "[[axis]]\nkey = \"provisioning.penalty_factor\"\nvalues = [0.1, 0.5]\n";
    assert_eq!(specs(axis).len(), 1, "nobody reads it");
    assert_eq!(
        specs(&format!("[provisioning]\nrefund = \"rest\"\n{axis}")).len(),
        2
    );
}

#[test]
fn workflows_come_from_the_generator_from_table_2_or_from_a_file() {
    let source = |rest: &str| {
        let about = about(&spec(rest));
        canonical_json(&about.application.source).unwrap()
    };
    assert_eq!(
        source("[workflow]\nsource = \"cyber-shake\"\nruntime_variation = 0.5\nmean_gigabits = 1"),
        r#"{"bytes":125000000,"kind":"cyber-shake","runtime_variation":0.5}"#
    );
    assert_eq!(
        source("[workflow]\nsource = \"file\"\nfile = \"Montage_25.xml\"\nnegatives = \"refuse\""),
        r#"{"file":"Montage_25.xml","kind":"file","negatives":"refuse"}"#
    );
}

#[test]
fn a_wish_is_a_weight_a_deadline_or_a_budget() {
    let wish = |line: &str| settings(&format!("[provisioning]\n{line}\n")).wish;
    assert_eq!(
        wish("[requests]\nalpha = 0.2"),
        Wish::TradeOff { alpha: 0.2 }
    );
    assert_eq!(
        wish("deadline_hours = 1.5"),
        Wish::Deadline {
            after: Seconds(5_400)
        }
    );
    assert_eq!(
        wish("budget_su = 700"),
        Wish::Budget {
            service_units: 700.0
        }
    );
    let relative = |line: &str| {
        let about = about(&spec(&format!("[provisioning]\n{line}\n")));
        canonical_json(&about.relative_wish).unwrap()
    };
    assert_eq!(
        relative("budget_factor = 1.1"),
        r#"{"factor":1.1,"of":"budget"}"#
    );
    assert_eq!(relative("[requests]\nalpha = 0.2"), "null");
    refused(
        "[provisioning]\nbudget_su = 700\n[requests]\nalpha = 0.5\n",
        "provisioning.budget_su",
        ProblemKind::Conflict,
        "requests.alpha and provisioning.budget_su exclude each other",
    );
}

#[test]
fn what_sites_offer_is_what_the_search_needs() {
    let provider =
        |search: &str| settings(&format!("[provisioning]\nsearch = \"{search}\"\n")).provider;
    for search in ["moga", "nsga2", "weighted-sum"] {
        assert!(matches!(provider(search), Provider::Advertised { .. }));
    }
    for search in ["greedy", "best-effort"] {
        assert_eq!(provider(search), Provider::Queried);
    }
    for (search, provider) in [("moga", "queried"), ("greedy", "advertised")] {
        refused(
            &format!("[provisioning]\nsearch = \"{search}\"\nprovider = \"{provider}\"\n"),
            "provisioning.provider",
            ProblemKind::Conflict,
            "leave it out",
        );
    }
}

#[test]
fn what_a_search_does_not_read_makes_no_new_simulation() {
    let count = |rest: &str, axis: &str| specs(&format!("{rest}{axis}")).len();
    let axis = |key: &str, values: &str| format!("[[axis]]\nkey = \"{key}\"\nvalues = {values}\n");
    let alpha = axis("requests.alpha", "[0.0, 1.0]");
    let search = |name: &str| format!("[provisioning]\nsearch = \"{name}\"\n");
    assert_eq!(count(&search("greedy"), &alpha), 2);
    assert_eq!(count(&search("moga"), &alpha), 2);
    assert_eq!(count(&search("best-effort"), &alpha), 1);
    let population = axis("provisioning.population", "[50, 100]");
    assert_eq!(count(&search("greedy"), &population), 1);
    assert_eq!(count(&search("moga"), &population), 2);
    let radius = axis("provisioning.sharing_radius", "[0.02, 0.041]");
    assert_eq!(count(&search("moga"), &radius), 2);
    assert_eq!(count(&search("nsga2"), &radius), 1);
    assert_eq!(count(&search("weighted-sum"), &radius), 1);
    let scale = axis("provisioning.scale", "[\"raw\", \"bounds\"]");
    assert_eq!(count(&search("moga"), &scale), 1);
    assert_eq!(count(&search("weighted-sum"), &scale), 2);
    let merged = axis("slots.merge_identical", "[false, true]");
    assert_eq!(count(&search("moga"), &merged), 2);
    assert_eq!(count(&search("greedy"), &merged), 1);
    let backfilling = axis("planning.backfilling", "[\"conservative\", \"aggressive\"]");
    assert_eq!(count(&search("moga"), &backfilling), 1);
    assert_eq!(count(&search("greedy"), &backfilling), 2);
    let bandwidth = axis("workflow.bandwidth_gbps", "[1.0, 10.0]");
    assert_eq!(count("", &bandwidth), 1);
    assert_eq!(count("[[sites.more]]\n", &bandwidth), 2);
    let replans = axis("provisioning.replans", "[1, 10]");
    assert_eq!(count("", &replans), 1);
    assert_eq!(count("[provisioning]\nlatency_seconds = 60\n", &replans), 2);
    let replans = axis("provisioning.replans", "[1, 10]");
    let moga = search("moga");
    assert_eq!(count(&format!("{moga}brokers = 2\n"), &replans), 2);
    for (key, values, read_by_moga) in [
        ("brokers", "[1, 2]", 2),
        ("slot_fixed_price", "[0.0, 5.0]", 2),
        ("slot_holes", r#"["whole", "parts"]"#, 2),
        ("slot_edges", r#"["extensible", "bounded"]"#, 2),
        ("slot_day_begins", "[6, 8]", 1),
    ] {
        let axis = axis(&format!("provisioning.{key}"), values);
        assert_eq!(count(&search("greedy"), &axis), 1, "{key}");
        assert_eq!(count(&moga, &axis), read_by_moga, "{key}");
    }
    let begins = axis("provisioning.slot_day_begins", "[6, 8]");
    assert_eq!(count(&format!("{moga}slot_day_factor = 2.0\n"), &begins), 2);
    let after = axis("provisioning.after_failure", "[\"fail\", \"reprovision\"]");
    assert_eq!(count("", &after), 1);
    assert_eq!(count("[failures]\nsource = \"generated\"\n", &after), 2);
}

#[test]
fn replications_are_submissions_and_committed_plans_come_several_to_a_simulation() {
    let head = HEAD.replace("[workload]", "replications = 5\n\n[workload]");
    let sweep = |rest: &str| {
        let experiment =
            Experiment::parse(STUDIES, "test.toml", &format!("{head}{rest}"), None).unwrap();
        experiment.sweep.simulations.iter().collect::<Vec<_>>()
    };
    let instants = |spec: &SimulationSpec| {
        let settings = &study(spec).settings;
        (settings.commitment, settings.instants)
    };
    let discarded = sweep("");
    assert_eq!(discarded.len(), 5);
    assert_eq!(instants(&discarded[4]), (Commitment::Discarded, 5));
    let committed = sweep("[provisioning]\ncommitment = \"committed\"\nsubmissions = 4\n");
    let submissions = Commitment::Committed { submissions: 4 };
    assert_eq!(instants(&committed[0]), (submissions, 20));
    // How many instants are prepared is no part of a result.
    let (first, more) = (canonical_json(&discarded[0]).unwrap(), sweep(""));
    assert_eq!(first, canonical_json(&more[0]).unwrap());
    assert!(!first.contains("instants"));
}
