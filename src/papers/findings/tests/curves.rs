//! Trends along an axis and comparisons between curves.

use super::*;

pub(super) fn trend(direction: &str, more: &str) -> String {
    format!(
        "unit = \"%\"\n[finding.trend]\nrun = \"grid\"\nmeasure = \"rejected\"\nalong = \"share\"\n\
         direction = \"{direction}\"\n{more}"
    )
}

#[test]
fn a_trend_is_judged_on_each_combination_of_the_other_axes() {
    let curves = grid(RISING, [5.0, 8.0, 9.5]);
    assert_held(
        &trend("rises", ""),
        &curves,
        "2 of 2 curves; smallest rise 4.5 % at rule move",
    );
    assert_missed(
        &trend("falls", ""),
        &curves,
        "fails in 2 of 2 curves, worst first: \
         at rule reject: rises by 20 % from share 50 to share 100 (40 to 60), 0 allowed; \
         at rule move: rises by 3 % from share 10 to share 50 (5 to 8), 0 allowed",
    );
    assert_held(
        &trend("rises", "where = { scheduling.rule = \"reject\" }"),
        &curves,
        "rise 30 %",
    );
}

#[test]
fn a_step_the_wrong_way_within_the_slack_is_noise() {
    // 40 → 39.2 is a step of 0.8 down on a curve that rises from 30 to 39.2.
    let curves = grid([30.0, 40.0, 39.2], [5.0, 8.0, 9.0]);
    assert_held(
        &trend("rises", "slack = 1"),
        &curves,
        "2 of 2 curves; smallest rise 4 % at rule move, largest step down 0.8 %",
    );
    assert_missed(
        &trend("rises", "slack = 0.5"),
        &curves,
        "fails in 1 of 2 curves, worst first: \
         at rule reject: falls by 0.8 % from share 50 to share 100 (40 to 39.2), 0.5 allowed",
    );
    assert_held(
        &trend("rises", "exceptions = 0.5"),
        &curves,
        "1 of 2 curves; smallest rise 4 % at rule move, largest step down 0.8 %",
    );
}

#[test]
fn a_flat_curve_neither_rises_nor_falls() {
    let flat = grid([7.0; 3], [7.0; 3]);
    let only = "where = { scheduling.rule = \"move\" }";
    for direction in ["does-not-fall", "does-not-rise"] {
        assert_eq!(judge(&trend(direction, only), &flat).verdict, Verdict::Held);
    }
    assert_missed(
        &trend("rises", only),
        &flat,
        "from 7 % at share 10 to 7 % at share 100, does not rise as a whole",
    );
    assert_missed(
        &trend("falls", only),
        &flat,
        "from 7 % at share 10 to 7 % at share 100, does not fall as a whole",
    );
}

#[test]
fn slack_does_not_let_a_curve_creep_the_wrong_way() {
    // Each step down is 0.9, within the slack of 1; together they are 1.8.
    let creeping = grid([7.0, 6.1, 5.2], [7.0; 3]);
    assert_missed(
        &trend("does-not-fall", "slack = 1"),
        &creeping,
        "fails in 1 of 2 curves, worst first: \
         at rule reject: from 7 % at share 10 to 5.2 % at share 100, falls as a whole, 1 allowed",
    );
}

#[test]
fn a_curve_goes_up_the_numbers_of_its_axis_whatever_their_order_in_the_file() {
    let mut curves = Curves::default().run("grid", &[("share", [100, 10, 50].map(whole).to_vec())]);
    for (share, value) in [(100, 9.0), (10, 5.0), (50, 8.0)] {
        curves = curves.cell("grid", "rejected", &[("share", whole(share))], &[value]);
    }
    assert_held(&trend("rises", ""), &curves, "rise 4 %");
}

pub(super) fn compare(more: &str) -> String {
    format!(
        "unit = \"points\"\n[finding.compare]\n\
         left = {{ run = \"grid\", measure = \"rejected\", at = {{ scheduling.rule = \"reject\" }} }}\n\
         right = {{ run = \"grid\", measure = \"rejected\", at = {{ scheduling.rule = \"move\" }} }}\n{more}"
    )
}

#[test]
fn a_comparison_is_judged_wherever_both_sides_agree_on_the_open_axes() {
    // Differences 25, 21.3 and 51.
    let curves = grid(RISING, [5.0, 18.7, 9.0]);
    assert_held(
        &compare("relation = \">=\"\nby = 20"),
        &curves,
        "3 of 3 cells; smallest difference 21.3 points at share 50",
    );
    assert_missed(
        &compare("relation = \">=\"\nby = 24"),
        &curves,
        "fails in 1 of 3 cells, worst first: at share 50: 21.3 points (40 against 18.7), 2.7 below 24",
    );
    // Ratios 6, 2.139 and 6.667.
    assert_held(
        &compare("relation = \">\"\nratio = 2\nwhere = { share = 10 }"),
        &curves,
        "ratio 6 (30 against 5)",
    );
    assert_missed(
        &compare("relation = \">\"\nratio = 6"),
        &curves,
        "fails in 2 of 3 cells, worst first: at share 50: 2.14 (40 against 18.7), 3.86 below 6; \
         at share 10: 6 (30 against 5), not above 6",
    );
    assert_missed(
        &compare("relation = \"<\"\nwhere = { share = 10 }"),
        &curves,
        "25 points (30 against 5), 25 above 0",
    );
    assert_held(
        &compare("relation = \"==\"\nratio = 6.5\ntolerance = 0.5\nwhere = { share = [10, 100] }"),
        &curves,
        "2 of 2 cells; farthest ratio 6 at share 10",
    );
}

#[test]
fn something_over_nothing_is_more_than_any_ratio_and_nothing_over_nothing_is_none() {
    let check = compare("relation = \">\"\nratio = 2\nwhere = { share = 10 }");
    assert_held(
        &check,
        &grid(RISING, [0.0, 1.0, 1.0]),
        "ratio ∞ (30 against 0)",
    );
    assert_missed(
        &check,
        &grid([0.0; 3], [0.0; 3]),
        "not a number (0 against 0)",
    );
}

/// One curve over α, and one for comparison that has no such axis; both over `size`.
fn alphas() -> Curves {
    let mut curves = Curves::default()
        .run(
            "plan",
            &[
                ("alpha", vec![AxisValue::Real(0.0), AxisValue::Real(1.0)]),
                ("size", vec![whole(100), whole(200)]),
            ],
        )
        .run(
            "queue",
            &[("size", vec![whole(100), whole(200), whole(400)])],
        );
    for (size, queue, plans) in [(100, 10.0, [6.0, 9.0]), (200, 22.0, [11.0, 21.0])] {
        let size = ("size", whole(size));
        curves = curves.cell("queue", "makespan", std::slice::from_ref(&size), &[queue]);
        for (alpha, value) in [0.0, 1.0].into_iter().zip(plans) {
            let alpha = ("alpha", AxisValue::Real(alpha));
            curves = curves.cell("plan", "makespan", &[alpha, size.clone()], &[value]);
        }
    }
    curves
}

#[test]
fn an_axis_of_one_side_only_is_quantified_over_too() {
    let check = |more: &str| {
        format!(
            "[finding.compare]\nleft = {{ run = \"plan\", measure = \"makespan\" }}\n\
             right = {{ run = \"queue\", measure = \"makespan\" }}\nrelation = \"<\"\n{more}"
        )
    };
    // 6 and 9 against 10, 11 and 21 against 22; the size 400 was only queued.
    assert_held(
        &check(""),
        &alphas(),
        "4 of 4 cells; largest difference -1 at alpha 1, size 100",
    );
    assert_held(
        &check("for_each = [\"alpha\"]\nwhere = { size = 200 }"),
        &alphas(),
        "2 of 2 cells; largest difference -1 at alpha 1",
    );
    assert_not_tested(
        &check("for_each = [\"size\"]"),
        &alphas(),
        "run `plan` leaves `alpha` open with 2 values: name it in `at`, `where` or `for_each`",
    );
    assert_not_tested(
        &check("for_each = [\"width\"]"),
        &alphas(),
        "`for_each` names `width`, an axis that neither run leaves open",
    );
}

#[test]
fn a_side_may_fix_an_axis_that_the_other_leaves_open() {
    assert_held(
        "[finding.compare]\nleft = { run = \"plan\", measure = \"makespan\" }\n\
         right = { run = \"plan\", measure = \"makespan\", at = { alpha = 1 } }\nrelation = \"<=\"",
        &alphas(),
        "4 of 4 cells; largest difference 0 at alpha 1, size 100",
    );
}

/// Runs `a` and `b` without axes.
fn two(left: &[(u32, f64)], right: &[(u32, f64)]) -> Curves {
    Curves::default()
        .run("a", &[])
        .run("b", &[])
        .cell_of("a", "gain", &[], left)
        .cell_of("b", "gain", &[], right)
}

const TWO: &str = "[finding.compare]\nleft = { run = \"a\", measure = \"gain\" }\n\
                   right = { run = \"b\", measure = \"gain\" }\nrelation = \">\"\n";

#[test]
fn replications_are_paired_so_that_what_they_share_cancels() {
    // The replications differ by 100 and more, left and right by 9, 10 and 11: s = 1, t = 4.303,
    // 4.303 / √3 = 2.48.
    let curves = two(
        &[(0, 109.0), (1, 210.0), (2, 311.0)],
        &[(2, 300.0), (1, 200.0), (0, 100.0)],
    );
    assert_held(
        &format!("{TWO}by = 9.9"),
        &curves,
        "difference 10 ± 2.48 (210 against 200)",
    );
    // 210 / 200 = 1.05; residuals 109 − 105 = 4, 0 and 311 − 315 = −4: s = 4, 4.303 · 4 / √3 /
    // 200 = 0.0497.
    assert_held(
        &format!("{TWO}ratio = 1"),
        &curves,
        "ratio 1.05 ± 0.0497 (210 against 200)",
    );
}

#[test]
fn only_replications_that_both_sides_have_are_compared() {
    // Replication 2 of the left side would make the means 30 and 12; without it they are 14 and 12.
    let curves = two(&[(0, 13.0), (1, 15.0), (2, 62.0)], &[(0, 11.0), (1, 13.0)]);
    assert_missed(
        &format!("{TWO}by = 3"),
        &curves,
        "2 (14 against 12, 2 of 3 replications paired), 1 below 3",
    );
    let strangers = two(&[(0, 13.0), (1, 15.0)], &[(7, 11.0), (8, 13.0)]);
    let result = judge(TWO, &strangers);
    assert_eq!(result.measured, "difference 2 (14 against 12, not paired)");
    assert_eq!(result.worst.unwrap().replications, 0);
}

#[test]
fn no_number_holds_nowhere() {
    let curves = grid([30.0, f64::NAN, 60.0], [5.0, 8.0, 9.0]);
    for check in [
        "[finding.bound]\nrun = \"grid\"\nmeasure = \"rejected\"\nat_least = -1000000".to_owned(),
        "[finding.bound]\nrun = \"grid\"\nmeasure = \"rejected\"\nat_most = 1000000".to_owned(),
        trend("rises", "slack = 1000"),
        trend("does-not-rise", "slack = 1000"),
        compare("relation = \">\"\nby = -1000"),
        compare("relation = \"<=\"\nby = 1000"),
        compare("relation = \"==\"\nby = 20\ntolerance = 1000"),
    ] {
        let result = judge(&check, &curves);
        assert_eq!(result.failed_cells, 1, "{check}");
        let Verdict::Missed(how) = &result.verdict else {
            panic!("{check}: {:?}", result.verdict);
        };
        assert!(how.contains("not a number"), "{how}");
        assert!(result.worst.unwrap().margin.is_nan());
    }
    assert_missed(
        "[finding.value]\nrun = \"grid\"\nmeasure = \"rejected\"\nexpected = 4\ntolerance = 1000\n\
         at = { share = 50, scheduling.rule = \"reject\" }",
        &curves,
        "not a number",
    );
}

#[test]
fn what_was_not_measured_is_not_tested_and_says_why() {
    let curves = grid(RISING, RISING);
    let bound = |run: &str, measure: &str, filter: &str| {
        format!(
            "[finding.bound]\nrun = \"{run}\"\nmeasure = \"{measure}\"\nat_least = 0\nwhere = {{ {filter} }}"
        )
    };
    for (check, why) in [
        (bound("night", "rejected", ""), "run `night` was not made"),
        (
            bound("grid", "gain", ""),
            "run `grid` has no value of `gain`",
        ),
        (
            bound("grid", "rejected", "width = 3"),
            "run `grid` has no axis `width`, it has: share, scheduling.rule",
        ),
        (
            bound("grid", "rejected", "share = [10, 15]"),
            "15 is no value of the axis `share` of run `grid`: 10, 50, 100",
        ),
        (
            trend("rises", "where = { share = 10 }"),
            "`share` has only one value",
        ),
    ] {
        assert_not_tested(&check, &curves, why);
        assert_eq!(judge(&check, &curves).measured, "–");
    }
}

#[test]
fn cells_without_a_value_leave_open_what_they_could_decide() {
    let mut curves = grid(RISING, [5.0, 8.0, 9.0]);
    // The last cell is share 100 under move, which is 9.
    curves.cells.pop();
    let check = |more: &str| {
        format!("[finding.bound]\nrun = \"grid\"\nmeasure = \"rejected\"\nat_least = 5\n{more}")
    };
    let open = judge(&check(""), &curves);
    assert_eq!(
        open.verdict,
        Verdict::NotTested(
            "1 of 6 cells without a value, the first at share 100, rule move".to_owned()
        )
    );
    assert!(open.measured.starts_with("5 of 5 cells; "), "{open:?}");
    assert!(open.measured.ends_with("; 1 without a value"), "{open:?}");
    // One of six may fail, so the one without a value decides nothing.
    assert_eq!(
        judge(&check("exceptions = 0.2"), &curves).verdict,
        Verdict::Held
    );
    // 5 and 8 are below 10 already.
    assert!(matches!(
        judge(&check("").replace("= 5", "= 10"), &curves).verdict,
        Verdict::Missed(_)
    ));
    assert_not_tested(
        &trend("rises", ""),
        &curves,
        "1 of 2 curves without a value, the first at rule move",
    );
    curves.cells.truncate(3);
    assert_not_tested(
        &compare("relation = \">\""),
        &curves,
        "none of its cells has a value",
    );
}

#[test]
fn a_range_of_replications_may_be_widened_and_says_how_many_lie_below() {
    let curves =
        Curves::default()
            .run("main", &[])
            .cell("main", "rejected", &[], &[10.0, 12.0, 14.0, 20.0]);
    let value = |expected: f64, more: &str| {
        format!(
            "[finding.value]\nrun = \"main\"\nmeasure = \"rejected\"\nexpected = {expected}\nwithin = \"range\"\n{more}"
        )
    };
    // Widened by a twentieth: 9.5 to 21.
    let found = judge(&value(20.9, "widened = 0.05"), &curves);
    assert_eq!(found.verdict, Verdict::Held);
    let line = "from 10 to 20; 100 % of them below the published number";
    assert!(found.measured.ends_with(line), "{}", found.measured);
    let found = judge(&value(21.1, "widened = 0.05"), &curves);
    assert!(matches!(found.verdict, Verdict::Missed(_)), "{found:?}");
    let found = judge(&value(20.9, ""), &curves);
    assert!(matches!(found.verdict, Verdict::Missed(_)), "{found:?}");
    assert!(
        found.measured.ends_with("from 10 to 20"),
        "{}",
        found.measured
    );
}

#[test]
fn a_comparison_may_be_asked_of_a_share_of_the_paired_replications() {
    // Below in three of four, although the means say the reverse.
    let rule = |name: &str| [("scheduling.rule", AxisValue::Text(name.to_owned()))];
    let rules = ["reject", "move"].map(|name| AxisValue::Text(name.to_owned()));
    let curves = Curves::default()
        .run("grid", &[("scheduling.rule", rules.to_vec())])
        .cell("grid", "rejected", &rule("reject"), &[1.0, 1.0, 1.0, 99.0])
        .cell("grid", "rejected", &rule("move"), &[2.0, 2.0, 2.0, 2.0]);
    let found = judge(
        &compare("relation = \"<\"\nratio = 1\nreplications = 0.75"),
        &curves,
    );
    assert_eq!(found.verdict, Verdict::Held, "{found:?}");
    assert!(
        found.measured.contains("in 3 of 4 replications"),
        "{}",
        found.measured
    );
    let found = judge(
        &compare("relation = \"<\"\nratio = 1\nreplications = 0.8"),
        &curves,
    );
    assert!(matches!(found.verdict, Verdict::Missed(_)), "{found:?}");
    let found = judge(&compare("relation = \"<\"\nratio = 1"), &curves);
    assert!(matches!(found.verdict, Verdict::Missed(_)), "{found:?}");
}
