use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::study::testing::STUDIES;
use crate::sweep::Experiment;

const HEAD: &str = r#"
[experiment]
name = "rule"
[workload]
model = "lublin-feitelson"
jobs = 200
nodes = 64
battery_jobs = 50
fresh = true
load.each_battery = 1.0
[scheduling]
strategy = "heuristic-overbooking"
"#;

fn sweep(more: &str) -> Sweep {
    let text = format!("{HEAD}{more}");
    Experiment::parse(STUDIES, "rule.toml", &text, None)
        .unwrap()
        .sweep
}

fn problem(more: &str) -> String {
    let text = format!("{HEAD}{more}");
    Experiment::parse(STUDIES, "rule.toml", &text, None)
        .unwrap_err()
        .to_string()
}

/// Follows a course with results that this makes of threshold and replication; returns its
/// decisions and how many points were run.
fn follow(sweep: &Sweep, value: &dyn Fn(f64, u32) -> Option<f64>) -> (Vec<Decision>, usize) {
    let mut course = Course::new(sweep);
    let run = RefCell::new(BTreeSet::new());
    let mut decisions = Vec::new();
    while let Some(rung) = course.rung() {
        for point in rung.points {
            assert!(run.borrow_mut().insert(point), "a point is run once");
        }
        let values = |_: &str, points: &[usize]| {
            let values = points.iter().map(|point| {
                assert!(run.borrow().contains(point), "what was not run is not read");
                let point = &sweep.points[*point];
                let threshold = match point.axes.get("acceptance.pof_max") {
                    Some(crate::sweep::AxisValue::Real(threshold)) => *threshold,
                    _ => 0.0,
                };
                value(threshold, point.replication)
            });
            Ok(values.collect())
        };
        decisions.extend(course.decide(&values).unwrap());
    }
    (decisions, run.into_inner().len())
}

/// A wobble that differs from one replication to the next and is the same for all values.
fn noise(replication: u32) -> f64 {
    f64::from(replication.wrapping_mul(2_654_435_761) % 1000) / 1000.0 - 0.5
}

const THRESHOLDS: &str = r#"
[[axis]]
key = "acceptance.pof_max"
values = [0.1, 0.2, 0.3, 0.4]
[select]
quantity = "gain"
axes = ["acceptance.pof_max"]
indifference = 1.0
max_replications = 200
"#;

/// A curve with its top at 0.3, and differences between values that vary by replication.
fn hill(threshold: f64, replication: u32) -> Option<f64> {
    let own = noise(replication * 7 + (threshold * 100.0) as u32);
    Some(100.0 - 400.0 * (threshold - 0.3).powi(2) + 30.0 * noise(replication) + 2.0 * own)
}

fn verdicts(decisions: &[Decision]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for decision in decisions {
        *counts.entry(decision.verdict.name()).or_default() += 1;
    }
    counts
}

#[test]
fn a_selection_runs_the_best_value_longest_and_confirms_it_on_replications_that_nobody_read() {
    let sweep = sweep(THRESHOLDS);
    assert_eq!(
        sweep.points.len(),
        4 * 220,
        "200 to decide and 20 to confirm"
    );
    let (decisions, run) = follow(&sweep, &hill);
    let selected: Vec<&Decision> = (decisions.iter())
        .filter(|decision| decision.verdict == Verdict::Selected)
        .collect();
    assert_eq!(selected.len(), 1);
    let first = &sweep.points[selected[0].place as usize];
    assert_eq!(
        first.axes["acceptance.pof_max"],
        crate::sweep::AxisValue::Real(0.3)
    );
    assert!(run < 4 * 60, "{run} of 880 points were run");
    assert_eq!(verdicts(&decisions)["confirmed"], 1);
    let confirmed = decisions.last().unwrap();
    assert_eq!(
        (confirmed.replications, confirmed.place),
        (20, selected[0].place)
    );
    let mean = (200..220).map(|r| hill(0.3, r).unwrap()).sum::<f64>() / 20.0;
    assert!(
        (confirmed.mean.unwrap() - mean).abs() < 1e-9,
        "replications 200 to 219"
    );
}

#[test]
fn the_smallest_is_selected_where_that_is_the_goal() {
    let text = THRESHOLDS.replace("[select]", "[select]\ngoal = \"smallest\"");
    let sweep = sweep(&text);
    let (decisions, _) = follow(&sweep, &|threshold, replication| {
        hill(threshold, replication).map(|value| -value)
    });
    let selected = decisions
        .iter()
        .find(|it| it.verdict == Verdict::Selected)
        .unwrap();
    let first = &sweep.points[selected.place as usize];
    assert_eq!(
        first.axes["acceptance.pof_max"],
        crate::sweep::AxisValue::Real(0.3)
    );
    assert!(
        selected.mean.unwrap() < 0.0,
        "means are shown with their own sign"
    );
}

#[test]
fn what_the_selected_value_is_compared_with_runs_the_same_confirming_replications() {
    let sweep = sweep(&format!("{THRESHOLDS}baseline = [\"0.1\"]\n"));
    let (decisions, _) = follow(&sweep, &hill);
    let counts = verdicts(&decisions);
    assert_eq!((counts["confirmed"], counts["baseline"]), (1, 1));
}

#[test]
fn each_situation_of_the_other_axes_has_a_selection_of_its_own() {
    let other = "[[axis]]\nkey = \"acceptance.penalty_ratio\"\nvalues = [1.0, 2.0, 4.0]\n";
    let (decisions, _) = follow(&sweep(&format!("{other}{THRESHOLDS}")), &hill);
    assert_eq!(verdicts(&decisions)["selected"], 3);
}

#[test]
fn values_that_cannot_be_told_apart_before_the_most_replications_survive_and_one_leads() {
    let text = THRESHOLDS.replace("max_replications = 200", "max_replications = 30");
    let text = text.replace("indifference = 1.0", "indifference = 0.001");
    let (decisions, run) = follow(&sweep(&text), &|threshold, replication| {
        Some(10.0 * noise(replication * 13 + (threshold * 10.0) as u32 * 7919))
    });
    let counts = verdicts(&decisions);
    assert!(!counts.contains_key("selected"), "{counts:?}");
    assert_eq!(counts["leading"], 1, "{counts:?}");
    assert!(counts["survived"] >= 1, "{counts:?}");
    assert!(run <= 4 * 30 + 20);
}

#[test]
fn nothing_is_decided_where_a_replication_has_no_value() {
    let (decisions, run) = follow(&sweep(THRESHOLDS), &|threshold, replication| {
        let is_missing = replication == 7 && threshold == 0.2;
        if is_missing {
            None
        } else {
            hill(threshold, replication)
        }
    });
    assert_eq!(verdicts(&decisions), BTreeMap::from([("undefined", 1)]));
    assert_eq!(run, 4 * 20, "the first rung, and nothing after it");
}

#[test]
fn a_refined_axis_comes_within_its_tolerance_and_says_where_the_optimum_lies() {
    let text = THRESHOLDS.replace(
        "values = [0.1, 0.2, 0.3, 0.4]",
        "range = { from = 0.0, to = 0.64, tolerance = 0.01 }",
    );
    let sweep = sweep(&text.replace("indifference = 1.0", "indifference = 0.5"));
    let (decisions, run) = follow(&sweep, &|threshold, replication| {
        let own = 0.02 * noise(replication * 7 + (threshold * 100.0) as u32);
        Some(100.0 - 400.0 * (threshold - 0.27).powi(2) + 30.0 * noise(replication) + own)
    });
    let last = decisions
        .iter()
        .rfind(|it| it.verdict == Verdict::Selected)
        .unwrap();
    let crate::sweep::AxisValue::Real(selected) =
        sweep.points[last.place as usize].axes["acceptance.pof_max"]
    else {
        panic!("a threshold is a number");
    };
    assert_eq!(
        verdicts(&decisions)["selected"],
        1,
        "of the last comparison"
    );
    assert!(
        (selected - 0.27).abs() < 0.04,
        "{selected}: within 0.5 of the best"
    );
    let optimum = decisions
        .iter()
        .find(|it| it.verdict == Verdict::Optimum)
        .unwrap();
    let (place, width) = (optimum.statistic.unwrap(), optimum.bound.unwrap());
    assert!(
        (place - 0.27).abs() <= width.max(0.002),
        "{place} ± {width}"
    );
    assert!(run < 65 * 20 / 3, "{run} points of {}", sweep.points.len());
}

/// A refined axis on which all values are as good, and no replication says otherwise for long.
fn refined_without_a_difference(most: u32) -> Vec<Decision> {
    let text = THRESHOLDS
        .replace(
            "values = [0.1, 0.2, 0.3, 0.4]",
            "range = { from = 0.0, to = 0.64, tolerance = 0.01 }",
        )
        .replace("indifference = 1.0", "indifference = 0.01")
        .replace(
            "max_replications = 200",
            &format!("max_replications = {most}"),
        );
    let (decisions, _) = follow(&sweep(&text), &|threshold, replication| {
        Some(noise(replication * 13 + (threshold * 100.0) as u32 * 7919))
    });
    decisions
}

#[test]
fn a_refinement_has_one_verdict_on_its_last_value_and_claims_no_more_than_its_weakest_comparison() {
    let decisions = refined_without_a_difference(30);
    let counts = verdicts(&decisions);
    assert!(!counts.contains_key("selected"), "{counts:?}");
    assert_eq!(counts["leading"], 1, "{counts:?}");
    assert_eq!(counts["confirmed"], 1, "{counts:?}");
}

#[test]
fn replications_end_where_intervals_are_narrow_and_at_the_most_where_they_are_not() {
    let text = r#"
[[axis]]
key = "acceptance.pof_max"
values = [0.1, 0.4]
[stop]
quantities = ["gain"]
half_width = 1.0
max_replications = 64
"#;
    let sweep = sweep(text);
    let (decisions, run) = follow(&sweep, &|threshold, replication| {
        // The second value is ten times as noisy as the first.
        let scale = if threshold < 0.2 { 1.0 } else { 20.0 };
        Some(50.0 + scale * noise(replication))
    });
    let counts = verdicts(&decisions);
    assert_eq!(
        (counts["narrow enough"], counts["not narrow enough"]),
        (1, 1),
        "{counts:?}"
    );
    assert_eq!(run, 16 + 64);
    let narrow = decisions
        .iter()
        .find(|it| it.verdict == Verdict::Narrow)
        .unwrap();
    assert!(narrow.statistic.unwrap() <= narrow.bound.unwrap());
}

#[test]
fn batteries_of_a_log_are_taken_in_an_order_that_the_seed_shuffles() {
    let plain = THRESHOLDS.replace("max_replications = 200", "max_replications = 24");
    let text = format!(
        "{}{plain}",
        HEAD.replace("fresh = true\n", "")
            .replace("load.each_battery", "load.value")
    );
    let parsed = |seed| {
        let text = text.replace("jobs = 200", "jobs = 4000");
        Experiment::parse(STUDIES, "rule.toml", &text, Some(seed))
            .unwrap()
            .sweep
    };
    let order = replication_order(&parsed(1));
    assert_eq!(order, replication_order(&parsed(1)));
    assert_ne!(order, replication_order(&parsed(2)));
    let all: BTreeSet<u32> = order.iter().copied().collect();
    assert_eq!(all.len(), 44, "each replication once");
    let fresh = replication_order(&sweep(THRESHOLDS));
    assert!(fresh.is_sorted(), "fresh draws grow without changing");
}

#[test]
fn a_rule_that_cannot_be_followed_is_refused_with_the_key_and_what_to_do() {
    let axis = "[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.1, 0.2]\n";
    let stop = "[stop]\nquantities = [\"gain\"]\nhalf_width = 1.0\nmax_replications = 64\n";
    let select =
        "[select]\nquantity = \"gain\"\naxes = [\"acceptance.pof_max\"]\nmax_replications = 64\n";
    for (text, said) in [
        (format!("{axis}{stop}{select}"), "exclude each other"),
        (format!("{axis}{stop}relative_half_width = 0.1\n"), "two widths"),
        (format!("{axis}{}", stop.replace("half_width = 1.0\n", "")), "how narrow"),
        (format!("{axis}{}", stop.replace("max_replications = 64\n", "")), "stop.max_replications"),
        (format!("{axis}{}", select.replace("pof_max\"", "pof_min\"")), "has no axis"),
        (format!("{axis}{select}baseline = [\"0.3\"]\n"), "is no value of the axis"),
        (format!("{axis}{select}min_replications = 100\n"), "fewer than the 100"),
        (
            "[[axis]]\nkey = \"acceptance.pof_max\"\nrange = { from = 0.1, to = 0.2, tolerance = 0.1 }\n".to_owned(),
            "no rule that says by what",
        ),
        (
            "[[axis]]\nkey = \"select.probability\"\nvalues = [0.9, 0.95]\n".to_owned(),
            "cannot be an axis",
        ),
    ] {
        let problem = problem(&text);
        assert!(problem.contains(said), "{said}: {problem}");
    }
    let both = format!("{axis}{select}");
    let head = HEAD.replace("name = \"rule\"", "name = \"rule\"\nreplications = 3");
    let error = Experiment::parse(STUDIES, "rule.toml", &format!("{head}{both}"), None);
    let told = error.unwrap_err().to_string();
    assert!(
        told.contains("the rule says how many replications"),
        "{told}"
    );
}
