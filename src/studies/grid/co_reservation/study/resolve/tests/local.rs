//! Keys of clusters that only some algorithms and rules read.

use super::*;

#[test]
fn the_history_of_accuracies_is_specified_where_they_are_by_category() {
    let local = |keys: &str| {
        let local = settings(&format!("[local]\n{keys}\n")).local;
        serde_json::to_value(local).expect("JSON")
    };
    assert_eq!(local("accuracy_window = 50"), local(""));
    assert_eq!(local("accuracy = \"running\"").get("accuracy_window"), None);
    let category = |window: u32| format!("accuracy = \"category\"\naccuracy_window = {window}");
    assert_eq!(local(&category(50))["accuracy_window"], 50);
    assert_eq!(local(&category(500)).get("accuracy_window"), None);
}

#[test]
fn the_mix_of_jobs_is_specified_where_a5_weighs_it() {
    let with = |algorithm: &str, keys: &str, local: &str| {
        let broker = format!("[broker]\nalgorithm = \"{algorithm}\"\n[local]\n{local}\n");
        spec(&format!("[requests]\n{keys}\n{broker}"))
    };
    let local = "mix_days = 1\nlarge_cpus = 64";
    assert_eq!(with("a5", "", local), with("a5", "", ""));
    assert_eq!(with("a4", "mix_weight = 0.5", local), with("a4", "", ""));
    let stored = serde_json::to_value(with("a5", "mix_weight = 0.5", local)).expect("JSON");
    assert_eq!(stored["co_requests"]["preference"]["mix_weight"], 0.5);
    let mix = stored.pointer("/study/local/job_mix").expect("settings");
    assert_eq!(
        canonical_json(mix).unwrap(),
        r#"{"large":64,"window":86400}"#
    );
    let week = serde_json::to_value(with("a5", "mix_weight = 0.5", "")).expect("JSON");
    assert_eq!(week.pointer("/study/local/job_mix"), None);
    let alpha = with("a5", "alpha = 0.25\nmix_weight = 0.5", "");
    let weights = "cost_weight = 0.25\nstart_weight = 0.75\nmix_weight = 0.5";
    assert_eq!(alpha, with("a5", weights, ""));
}

#[test]
fn the_reservation_degree_is_specified_where_a5_weighs_it_and_sorts_by_nothing_else() {
    let with = |broker: &str, weight: f64| {
        spec(&format!(
            "[requests]\ndegree_weight = {weight:?}\n[broker]\n{broker}\n"
        ))
    };
    let degree = "algorithm = \"a5\"\nsort_by = \"reservation-degree\"";
    for broker in ["algorithm = \"a4\"", degree] {
        assert_eq!(with(broker, 0.5), with(broker, 0.0), "{broker}");
    }
    let weight = |weight| {
        let stored = serde_json::to_value(with("algorithm = \"a5\"", weight)).expect("JSON");
        let preference = stored["co_requests"]["preference"].clone();
        preference.get("degree_weight").cloned()
    };
    assert_eq!((weight(0.5), weight(0.0)), (Some(0.5.into()), None));
}

#[test]
fn a_backlog_of_the_plan_is_refused_where_there_is_no_plan_by_limits() {
    let planned = "[local]\nbacklog_work = \"planned\"\n";
    assert_eq!(settings(planned).local.backlog_work, BacklogWork::Planned);
    for (others, says) in [
        ("accuracy = \"category\"\n", "category"),
        ("partition_percent = 20\n", "local.partition_percent"),
        (
            "[requests]\n[risk]\n[clusters]\npolicy = \"heuristic-overbooking\"\n",
            "[risk]",
        ),
    ] {
        let error = parse(&format!("{planned}{others}")).expect_err("refused");
        let error = error.to_string();
        assert!(error.contains("local.backlog_work"), "{error}");
        assert!(error.contains(says), "{error}");
    }
}
