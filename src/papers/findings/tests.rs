//! Findings judged on small curves made by hand.

mod curves;

use self::curves::{compare, trend};
use super::*;
use crate::findings::MeasureNames;
use bookahead_lab::sweep::{Axis, AxisValue};
use bookahead_studies::STUDIES;

/// Runs with two axes, `share` (numbers) and `scheduling.rule` (names), and whatever cells a test
/// gives them.
#[derive(Default)]
pub(crate) struct Curves {
    runs: Vec<(String, Vec<Axis>)>,
    cells: Vec<(String, String, CurveCell)>,
}

impl MeasuredCurves for Curves {
    fn axes(&self, run: &str) -> Option<&[Axis]> {
        self.runs
            .iter()
            .find(|(name, _)| name == run)
            .map(|(_, axes)| axes.as_slice())
    }

    fn cells(&self, run: &str, measure: &str) -> Vec<CurveCell> {
        self.cells
            .iter()
            .filter(|(known, what, _)| known == run && what == measure)
            .map(|(_, _, cell)| cell.clone())
            .collect()
    }
}

impl Curves {
    pub(crate) fn run(mut self, run: &str, axes: &[(&str, Vec<AxisValue>)]) -> Self {
        let axes = axes
            .iter()
            .map(|(key, values)| Axis {
                key: (*key).to_owned(),
                values: values.clone(),
            })
            .collect();
        self.runs.push((run.to_owned(), axes));
        self
    }

    /// A cell with these values of its replications 0, 1, ….
    pub(crate) fn cell(
        self,
        run: &str,
        measure: &str,
        values: &[(&str, AxisValue)],
        samples: &[f64],
    ) -> Self {
        let samples: Vec<(u32, f64)> = (0..).zip(samples.iter().copied()).collect();
        self.cell_of(run, measure, values, &samples)
    }

    pub(super) fn cell_of(
        mut self,
        run: &str,
        measure: &str,
        values: &[(&str, AxisValue)],
        samples: &[(u32, f64)],
    ) -> Self {
        let values = values
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()));
        let cell = CurveCell::new(values.collect(), samples.to_vec()).unwrap();
        self.cells.push((run.to_owned(), measure.to_owned(), cell));
        self
    }
}

pub(crate) fn whole(value: i64) -> AxisValue {
    AxisValue::Integer(value)
}

pub(crate) fn text(value: &str) -> AxisValue {
    AxisValue::Text(value.to_owned())
}

/// The run `grid`: shares 10, 50 and 100 under the rules reject and move, one replication.
fn grid(reject: [f64; 3], by_move: [f64; 3]) -> Curves {
    let shares = [10, 50, 100];
    let mut curves = Curves::default().run(
        "grid",
        &[
            ("share", shares.map(whole).to_vec()),
            ("scheduling.rule", vec![text("reject"), text("move")]),
        ],
    );
    for (rule, values) in [("reject", reject), ("move", by_move)] {
        for (share, value) in shares.iter().zip(values) {
            curves = curves.cell(
                "grid",
                "rejected",
                &[("share", whole(*share)), ("scheduling.rule", text(rule))],
                &[value],
            );
        }
    }
    curves
}

/// A file with one finding `H1` and this check.
pub(super) fn file(check: &str) -> FindingsFile {
    parse("findings.toml", &source(check), STUDIES, MeasureNames::Any).unwrap()
}

pub(super) fn source(check: &str) -> String {
    format!(
        "[[finding]]\nid = \"H1\"\nsection = \"6\"\n\
         statement = \"Something rises.\"\nprovenance = \"stated\"\ntrace = \"ctc\"\n{check}\n"
    )
}

fn judge(check: &str, curves: &Curves) -> FindingResult {
    evaluate(&file(check), curves, None).remove(0)
}

#[track_caller]
fn assert_held(check: &str, curves: &Curves, measured: &str) {
    let result = judge(check, curves);
    assert_eq!(result.verdict, Verdict::Held);
    assert_eq!(result.measured, measured);
}

#[track_caller]
fn assert_missed(check: &str, curves: &Curves, how: &str) {
    assert_eq!(
        judge(check, curves).verdict,
        Verdict::Missed(how.to_owned())
    );
}

#[track_caller]
fn assert_not_tested(check: &str, curves: &Curves, why: &str) {
    let result = judge(check, curves);
    assert_eq!(result.verdict, Verdict::NotTested(why.to_owned()));
}

const RISING: [f64; 3] = [30.0, 40.0, 60.0];

#[test]
fn a_number_of_one_single_run_holds_among_our_replications_up_to_its_printed_digits() {
    let place = [("share", whole(10))];
    let curves = Curves::default()
        .run("grid", &[("share", vec![whole(10)])])
        .cell("grid", "rejected", &place, &[0.12, 0.08, 0.10]);
    let check = |expected: f64, more: &str| {
        format!(
            "[finding.value]\nrun = \"grid\"\nmeasure = \"rejected\"\nexpected = {expected}\nwithin = \"range\"\n{more}"
        )
    };
    // s = 0.02, t = 4.303: ± 4.303 · 0.02 / √3 = 0.0497.
    let measured = "0.1 ± 0.0497 (3 replications), from 0.08 to 0.12";
    for expected in [0.08, 0.11, 0.12] {
        assert_held(&check(expected, ""), &curves, measured);
    }
    assert_held(&check(0.07, "rounding = 0.01"), &curves, measured);
    assert_missed(
        &check(0.07, "rounding = 0.005"),
        &curves,
        "0.1 ± 0.0497, 0.07 is outside 0.08 to 0.12",
    );
    assert_missed(
        &check(0.13, ""),
        &curves,
        "0.1 ± 0.0497, 0.13 is outside 0.08 to 0.12",
    );
    let result = judge(&check(0.09, ""), &curves);
    assert!((result.worst.unwrap().margin - 0.01).abs() < 1e-12);
    assert_eq!(
        file(&check(0.09, "")).findings[0].expected(),
        "0.09 among the replications"
    );
}

/// A run whose axes `k` and `s` move together: (1, 0), (0.5, 0.5), (0, 1).
fn weights() -> Curves {
    let pairs = [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)];
    let real = |values: [f64; 3]| values.map(AxisValue::Real).to_vec();
    let mut curves = Curves::default().run(
        "first-run",
        &[
            ("k", real(pairs.map(|pair| pair.0))),
            ("s", real(pairs.map(|pair| pair.1))),
        ],
    );
    for (k, s) in pairs {
        let place = [("k", AxisValue::Real(k)), ("s", AxisValue::Real(s))];
        curves = curves.cell("first-run", "rejected", &place, &[s]);
    }
    curves
}

#[test]
fn axes_that_moved_together_are_one() {
    let check = "[finding.trend]\nrun = \"first-run\"\nmeasure = \"rejected\"\nalong = \"s\"\ndirection = \"rises\"";
    let zipped = |lines: &str| {
        parse(
            "findings.toml",
            &(source(check) + lines),
            STUDIES,
            MeasureNames::Any,
        )
        .unwrap()
    };
    let alone = evaluate(&zipped(""), &weights(), None).remove(0);
    assert!(matches!(alone.verdict, Verdict::NotTested(_)), "{alone:?}");
    let lead = "[[zipped]]\nrun = \"first-run\"\nleads = \"s\"\nfollow = [\"k\"]\n";
    let together = evaluate(&zipped(lead), &weights(), None).remove(0);
    assert_eq!(together.verdict, Verdict::Held);
    assert_eq!(together.measured, "rise 1");
}

#[test]
fn findings_again_are_judged_on_the_runs_of_another_trace_unless_they_are_only_about_this_one() {
    let head = "\
        [[derived]]\nrun = \"first-change\"\nof = \"first-run\"\nalong = \"s\"\nfrom = 0.0\nto = 1.0\n\
        [[zipped]]\nrun = \"first-run\"\nleads = \"s\"\nfollow = [\"k\"]\n";
    let finding = |id: &str, run: &str, more: &str| {
        format!(
            "[[finding]]\nid = \"{id}\"\nsection = \"1\"\nstatement = \"S.\"\nprovenance = \"stated\"\ntrace = \"first\"\n\
             {more}\n[finding.bound]\nrun = \"{run}\"\nmeasure = \"rejected\"\nat_least = 0\n"
        )
    };
    let findings = finding("A", "first-run", "")
        + &finding("B", "first-run", "once = true")
        + &finding("C", "first-change", "");
    let again = "[[again]]\nof = \"first\"\ntrace = \"second\"\n";
    let file = parse(
        "findings.toml",
        &format!("{head}{again}{findings}"),
        STUDIES,
        MeasureNames::Any,
    )
    .unwrap();
    let all: Vec<(&str, Option<&str>, &str)> = file
        .findings
        .iter()
        .map(|finding| {
            (
                finding.id.as_str(),
                finding.trace.as_deref(),
                finding.sources()[0].0,
            )
        })
        .collect();
    assert_eq!(
        all,
        [
            ("A", Some("first"), "first-run"),
            ("B", Some("first"), "first-run"),
            ("C", Some("first"), "first-change"),
            ("second/A", Some("second"), "second-run"),
            ("second/C", Some("second"), "second-change"),
        ]
    );
    assert_eq!(file.made_of("second-change"), "second-run");
    assert!(file.zipped.iter().any(|zipped| zipped.run == "second-run"));
    for (text, problem) in [
        (
            findings.replace("trace = \"first\"", "trace = \"third\""),
            "no finding has the trace `first`",
        ),
        (
            findings.replace("run = \"first-run\"", "run = \"other\""),
            "the run `other` does not begin with `first-`",
        ),
        (
            findings.replace("id = \"B\"", "id = \"second/A\""),
            "`second/A` is there already",
        ),
    ] {
        let error = parse(
            "findings.toml",
            &format!("{head}{again}{text}"),
            STUDIES,
            MeasureNames::Any,
        )
        .unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
    }
}

#[test]
fn a_value_holds_within_its_tolerance_and_a_miss_says_how_far_it_is() {
    let curves = grid(RISING, [5.0, 8.0, 9.0]);
    let check = |width: &str| {
        format!(
            "[finding.value]\nrun = \"grid\"\nmeasure = \"rejected\"\n\
             at = {{ share = 50.0, scheduling.rule = \"reject\" }}\nexpected = 44\n{width}"
        )
    };
    // 44 − 40 = 4, and 10 % of 44 are 4.4.
    assert_held(&check("tolerance = 4"), &curves, "40 (1 replication)");
    assert_held(&check("relative = 0.1"), &curves, "40 (1 replication)");
    assert_missed(
        &check("tolerance = 3.5"),
        &curves,
        "40, 4 away from 44, 3.5 allowed",
    );
    assert_missed(
        &check("relative = 0.05"),
        &curves,
        "40, 4 away from 44, 2.2 allowed",
    );
}

#[test]
fn a_value_must_name_one_cell() {
    assert_not_tested(
        "[finding.value]\nrun = \"grid\"\nmeasure = \"rejected\"\nat = { share = 50 }\nexpected = 4\ntolerance = 1",
        &grid(RISING, RISING),
        "`at` leaves `scheduling.rule` open, which has 2 values",
    );
}

#[test]
fn a_bound_holds_in_every_cell_or_says_where_it_does_not_worst_first() {
    let curves = grid(RISING, [5.0, 8.0, 9.0]);
    let check =
        |bounds: &str| format!("[finding.bound]\nrun = \"grid\"\nmeasure = \"rejected\"\n{bounds}");
    assert_held(
        &check("at_least = 5\nat_most = 60"),
        &curves,
        "6 of 6 cells; lowest 5 at share 10, rule move, highest 60 at share 100, rule reject",
    );
    // 8 and 9 are 2 and 1 below 10, 5 is 5 below; reject is above everywhere.
    assert_missed(
        &check("at_least = 10"),
        &curves,
        "fails in 3 of 6 cells, worst first: at share 10, rule move: 5, 5 below 10; \
         at share 50, rule move: 8, 2 below 10; at share 100, rule move: 9, 1 below 10",
    );
    let four = judge(&check("at_least = 35"), &curves);
    assert_eq!((four.cells, four.failed_cells), (6, 4));
    assert!(matches!(four.verdict, Verdict::Missed(how) if how.ends_with("; and 1 more")));
    let worst = four.worst.unwrap();
    assert_eq!(worst.at.to_string(), "share 10, rule move");
    assert_eq!((worst.value, worst.margin), (5.0, -30.0));
    assert_missed(
        &check("equals = 40\nwhere = { share = [50, 100], \"scheduling.rule\" = \"reject\" }"),
        &curves,
        "fails in 1 of 2 cells, worst first: at share 100: 60, 20 away from 40",
    );
}

#[test]
fn equality_forgives_rounding_and_nothing_else() {
    let check = "[finding.bound]\nrun = \"grid\"\nmeasure = \"rejected\"\nequals = 0.3";
    let sum = 0.1 + 0.2;
    assert!(sum > 0.3);
    assert_eq!(
        judge(check, &grid([sum; 3], [0.3; 3])).verdict,
        Verdict::Held
    );
    let off = judge(check, &grid([0.300_001; 3], [0.3; 3]));
    assert_eq!(off.failed_cells, 3);
}

#[test]
fn as_many_cells_may_fail_as_the_exceptions_allow() {
    let curves = grid(RISING, [5.0, 80.0, 90.0]);
    let check = |exceptions: f64| {
        format!(
            "[finding.bound]\nrun = \"grid\"\nmeasure = \"rejected\"\nat_least = 30\nexceptions = {exceptions}"
        )
    };
    // One of six fails: 0.16 · 6 = 0.96 allows none, 0.17 · 6 = 1.02 allows one.
    assert_eq!(judge(&check(0.17), &curves).verdict, Verdict::Held);
    assert!(
        judge(&check(0.17), &curves)
            .measured
            .starts_with("5 of 6 cells; ")
    );
    assert!(matches!(
        judge(&check(0.16), &curves).verdict,
        Verdict::Missed(_)
    ));
    assert_missed(
        "[finding.bound]\nrun = \"grid\"\nmeasure = \"rejected\"\nat_least = 85\nexceptions = 0.5",
        &curves,
        "fails in 5 of 6 cells (3 allowed), worst first: at share 10, rule move: 5, 80 below 85; \
         at share 10, rule reject: 30, 55 below 85; at share 50, rule reject: 40, 45 below 85; and 2 more",
    );
}

#[test]
fn two_cells_with_the_same_axis_values_are_not_taken_for_one() {
    let curves = grid(RISING, RISING).cell(
        "grid",
        "rejected",
        &[("share", whole(10)), ("scheduling.rule", text("move"))],
        &[1.0],
    );
    assert_not_tested(
        &trend("rises", ""),
        &curves,
        "run `grid` has several cells of `rejected` with the same axis values",
    );
}

#[test]
fn what_is_held_out_is_measured_and_not_judged() {
    let curves = grid(RISING, [5.0, 16.0, 30.0]);
    for (check, measured) in [
        (
            "[finding.value]\nrun = \"grid\"\nmeasure = \"rejected\"\nat = { share = 50, scheduling.rule = \"move\" }"
                .to_owned(),
            "16 (1 replication)",
        ),
        (
            "[finding.bound]\nrun = \"grid\"\nmeasure = \"rejected\"\nwhere = { share = 50 }".to_owned(),
            "40 at rule reject; 16 at rule move",
        ),
        (
            "[finding.trend]\nrun = \"grid\"\nmeasure = \"rejected\"\nalong = \"share\"\ndirection = \"falls\""
                .to_owned(),
            "from 30 at share 10 to 60 at share 100 at rule reject; from 5 at share 10 to 30 at share 100 at rule move",
        ),
        (
            compare("where = { share = 100 }"),
            "difference 30 points (60 against 30, ratio 2)",
        ),
    ] {
        let result = judge(&format!("held_out = true\n{check}"), &curves);
        assert_eq!(
            result.verdict,
            Verdict::NotTested("the published value is held out".to_owned())
        );
        assert_eq!(result.measured, measured);
        assert_eq!((result.failed_cells, result.worst), (0, None));
    }
}

#[test]
fn a_trace_chooses_its_findings_and_those_that_name_none() {
    let text = String::new()
        + &[("A", "trace = \"ctc\""), ("B", "trace = \"sdsc\""), ("C", "")]
            .map(|(id, trace)| {
                format!(
                    "[[finding]]\nid = \"{id}\"\nsection = \"1\"\nstatement = \"S.\"\nprovenance = \"axis\"\n{trace}\n\
                     [finding.bound]\nrun = \"grid\"\nmeasure = \"rejected\"\nat_least = 0\n"
                )
            })
            .concat();
    let file = parse("findings.toml", &text, STUDIES, MeasureNames::Any).unwrap();
    let curves = grid(RISING, RISING);
    let ids = |trace: Option<&str>| -> Vec<String> {
        evaluate(&file, &curves, trace)
            .into_iter()
            .map(|result| result.finding.id)
            .collect()
    };
    assert_eq!(ids(None), ["A", "B", "C"]);
    assert_eq!(ids(Some("sdsc")), ["B", "C"]);
}
