//! Axes, zips and exclusions: which points a file asks for.

use super::*;

#[test]
fn a_range_gives_the_decimal_numbers_that_a_person_would_write() {
    let tail =
        "[[axis]]\nkey = \"acceptance.pof_max\"\nrange = { from = 0.05, to = 1.0, step = 0.05 }\n";
    let sweep = sweep(&format!("{HEAD}{tail}"));
    let expected: Vec<AxisValue> = [
        0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8,
        0.85, 0.9, 0.95, 1.0,
    ]
    .map(AxisValue::Real)
    .to_vec();
    assert_eq!(sweep.axes[0].values, expected);
}

#[test]
fn a_range_of_whole_numbers_stays_whole() {
    let tail = "[[axis]]\nkey = \"workload.nodes\"\nrange = { from = 64, to = 200, step = 64 }\n";
    let sweep = sweep(&format!("{HEAD}{tail}"));
    assert_eq!(sweep.axes[0].values, [64, 128, 192].map(AxisValue::Integer));
}

#[test]
fn ranges_that_lead_nowhere_are_refused() {
    for (range, kind, help) in [
        (
            "{ from = 0.1, to = 0.5, step = 0.0 }",
            ProblemKind::EmptyAxis,
            "above 0",
        ),
        (
            "{ from = 0.1, to = 0.5, step = -0.1 }",
            ProblemKind::EmptyAxis,
            "above 0",
        ),
        (
            "{ from = 0.5, to = 0.1, step = 0.1 }",
            ProblemKind::EmptyAxis,
            "not be above",
        ),
        (
            "{ from = 0.0, to = 1.0, step = 1e-9 }",
            ProblemKind::TooManyPoints,
            "2000000",
        ),
    ] {
        let text = format!("{HEAD}[[axis]]\nkey = \"acceptance.pof_max\"\nrange = {range}\n");
        assert_problem(&text, kind, range, "acceptance.pof_max", help);
    }
    let text = format!("{HEAD}[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = []\n");
    assert_problem(
        &text,
        ProblemKind::EmptyAxis,
        "[]",
        "acceptance.pof_max",
        "at least one",
    );
    let range = "{ from = 1.0, to = 2.0, step = 0.5 }";
    let text = format!("{HEAD}[[axis]]\nkey = \"workload.nodes\"\nrange = {range}\n");
    assert_problem(
        &text,
        ProblemKind::WrongType,
        range,
        "workload.nodes",
        "whole numbers",
    );
}

#[test]
fn a_product_of_too_many_points_is_refused_before_it_is_made() {
    let mut text = HEAD.to_owned();
    for key in [
        "workload.nodes",
        "workload.battery_jobs",
        "estimates.top_users",
    ] {
        text +=
            &format!("[[axis]]\nkey = \"{key}\"\nrange = {{ from = 1, to = 100000, step = 1 }}\n");
    }
    assert_problem(
        &text,
        ProblemKind::TooManyPoints,
        "\"workload.nodes\"",
        "axis",
        "2000000",
    );
}

#[test]
fn an_axis_needs_a_key_that_exists_and_values_of_its_type() {
    let text = format!("{HEAD}[[axis]]\nkey = \"acceptance.pofmax\"\nvalues = [0.1]\n");
    let key = "acceptance.pofmax";
    assert_problem(
        &text,
        ProblemKind::UnknownAxisKey,
        "\"acceptance.pofmax\"",
        key,
        "did you mean `acceptance.pof_max`",
    );
    let text = format!("{HEAD}[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.1, \"high\"]\n");
    assert_problem(
        &text,
        ProblemKind::WrongType,
        "\"high\"",
        "acceptance.pof_max",
        "0 to 1",
    );
    let text = format!("{HEAD}[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.1, 1.1]\n");
    assert_problem(
        &text,
        ProblemKind::OutOfRange,
        "1.1",
        "acceptance.pof_max",
        "0 to 1",
    );
    let text =
        format!("{HEAD}[[axis]]\nkey = \"scheduling.strategy\"\nvalues = [\"fcfs\", \"fifo\"]\n");
    assert_problem(
        &text,
        ProblemKind::UnknownName,
        "\"fifo\"",
        "scheduling.strategy",
        "`fcfs`",
    );
    let text = format!("{HEAD}[[axis]]\nkey = \"experiment.seed\"\nvalues = [1, 2]\n");
    assert_problem(
        &text,
        ProblemKind::UnknownAxisKey,
        "\"experiment.seed\"",
        "experiment.seed",
        "--seed",
    );
    let text = format!("{HEAD}[[axis]]\nkey = \"acceptance.pof_max\"\nvalue = [0.1]\n");
    assert_problem(
        &text,
        ProblemKind::UnknownKey,
        "value",
        "axis",
        "`values = […]`",
    );
}

#[test]
fn a_key_has_one_axis_and_an_axis_has_each_value_once() {
    let axis = "[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.1]\n";
    let zip = "[[zip]]\nkeys = [\"acceptance.pof_max\"]\nvalues = [[0.2]]\n";
    for second in [axis, zip] {
        let error = parse(&format!("{HEAD}{axis}{second}")).expect_err("a duplicate");
        assert_eq!(error.problems().len(), 1, "{error}");
        assert_eq!(error.problems()[0].kind, ProblemKind::Duplicate);
    }
    let text = format!("{HEAD}[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.1, 0.2, 0.1]\n");
    let error = parse(&text).expect_err("a duplicate");
    assert_eq!(error.problems()[0].kind, ProblemKind::Duplicate);
}

#[test]
fn a_row_of_a_zip_has_one_value_a_key() {
    let text = format!(
        "{HEAD}[[zip]]\nkeys = [\"workload.nodes\", \"workload.load.value\"]\nvalues = [[64, 1.0], [128]]\n"
    );
    assert_problem(
        &text,
        ProblemKind::RowLength,
        "[128]",
        "zip",
        "workload.nodes, workload.load.value",
    );
}

const PRODUCT: &str = r#"
[[axis]]
key = "scheduling.strategy"
values = ["heuristic-planning", "heuristic-overbooking"]
[[zip]]
keys = ["workload.nodes", "workload.load.value"]
values = [[64, 1.0], [128, 2.0], [256, 1.0]]
[[axis]]
key = "acceptance.pof_max"
values = [0.1, 0.2, 0.3, 0.4, 0.5]
"#;

#[test]
fn the_product_runs_over_axes_and_zips_in_the_order_of_the_file() {
    let sweep = sweep(&format!("{HEAD}{PRODUCT}"));
    assert_eq!(sweep.points.len(), 2 * 3 * 5 * 2);
    let keys: Vec<&str> = sweep.axes.iter().map(|axis| axis.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "scheduling.strategy",
            "workload.nodes",
            "workload.load.value",
            "acceptance.pof_max"
        ]
    );
    let second = &sweep.points[2];
    assert_eq!(second.axes["acceptance.pof_max"], AxisValue::Real(0.2));
    assert_eq!(second.axes["workload.nodes"], AxisValue::Integer(64));
    // 3 machines × 2 batteries for planning, × 5 thresholds for overbooking.
    assert_eq!(sweep.simulations.len(), 6 + 30);
}

#[test]
fn an_exclusion_takes_out_every_combination_that_matches_all_of_it() {
    let exclude = "[[exclude]]\n\"scheduling.strategy\" = \"heuristic-planning\"\n\"acceptance.pof_max\" = [0.1, 0.2]\n";
    let experiment = parse(&format!("{HEAD}{PRODUCT}{exclude}")).expect("valid");
    assert_eq!(experiment.sweep.points.len(), (2 * 3 * 5 - 3 * 2) * 2);
    assert!(experiment.warnings.is_empty());
}

#[test]
fn an_exclusion_that_matches_nothing_is_a_warning_and_one_of_everything_an_error() {
    let exclude = "[[exclude]]\n\"acceptance.pof_max\" = 0.15\n";
    let experiment = parse(&format!("{HEAD}{PRODUCT}{exclude}")).expect("valid");
    assert_eq!(experiment.warnings[0].kind, ProblemKind::NeverMatches);
    assert_eq!(experiment.sweep.points.len(), 60);
    let exclude = "[[exclude]]\n\"workload.nodes\" = [64, 128, 256]\n";
    let error = parse(&format!("{HEAD}{PRODUCT}{exclude}")).expect_err("nothing left");
    assert_eq!(error.problems()[0].kind, ProblemKind::EmptyAxis);
    let exclude = "[[exclude]]\n\"workload.laxity\" = 2.0\n";
    let error = parse(&format!("{HEAD}{PRODUCT}{exclude}")).expect_err("no axis");
    assert_eq!(error.problems()[0].kind, ProblemKind::UnknownAxisKey);
}
