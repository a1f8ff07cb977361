//! What a file of findings may say, and how it is refused.

use super::super::tests::{file, source};
use super::*;
use crate::findings::MeasureNames;
use bookahead_studies::STUDIES;

fn refused(check: &str) -> String {
    parse("findings.toml", &source(check), STUDIES, MeasureNames::Any)
        .unwrap_err()
        .to_string()
}

const TREND: &str = "[finding.trend]\nrun = \"grid\"\nmeasure = \"rejected\"\nalong = \"share\"\n";
const BOUND: &str = "[finding.bound]\nrun = \"grid\"\nmeasure = \"rejected\"\n";
const VALUE: &str = "[finding.value]\nrun = \"grid\"\nmeasure = \"rejected\"\n";
const COMPARE: &str = "[finding.compare]\n\
    left = { run = \"grid\", measure = \"rejected\", at = { rule = \"reject\" } }\n\
    right = { run = \"grid\", measure = \"rejected\", at = { rule = \"move\" } }\n";

#[test]
fn every_refusal_names_the_file_the_line_the_finding_and_the_problem() {
    for (check, problem) in [
        (
            format!("{TREND}direction = \"rises\"\nslak = 1"),
            "unknown field `slak`, expected one of",
        ),
        (
            "colour = \"red\"".to_owned(),
            "unknown field `colour`, expected one of",
        ),
        (
            format!("{COMPARE}relation = \"=>\""),
            "unknown variant `=>`, expected one of `>=`, `>`, `<=`, `<`, `==`",
        ),
        (
            format!("{TREND}direction = \"climbs\""),
            "unknown variant `climbs`, expected one of `rises`, `falls`, `does-not-fall`, `does-not-rise`",
        ),
        (
            String::new(),
            "give exactly one of the tables `value`, `bound`, `trend`, `compare` and `points`",
        ),
        (
            format!("{BOUND}at_least = 1\n{TREND}direction = \"rises\""),
            "give exactly one of the tables",
        ),
        (TREND.to_owned(), "`direction` is missing"),
        (COMPARE.to_owned(), "`relation` is missing"),
        (
            BOUND.to_owned(),
            "give `at_least`, `at_most`, both, or `equals`",
        ),
        (
            format!("{BOUND}at_least = 1\nequals = 1"),
            "`equals` stands alone",
        ),
        (
            format!("{BOUND}at_least = 2\nat_most = 1"),
            "`at_least` 2 is above `at_most` 1",
        ),
        (
            format!("{BOUND}at_least = nan"),
            "`at_least` must be a finite number",
        ),
        (
            format!("{BOUND}at_least = 1\nexceptions = 1.0"),
            "`exceptions` is a share of the cells, 0 to below 1",
        ),
        (
            format!("{BOUND}at_least = 1\nwhere = {{ share = [] }}"),
            "`where` has no value for `share`",
        ),
        (
            format!("{BOUND}at_least = 1\nwhere = {{ share = nan }}"),
            "`where`: a value of `share` is a finite number, a name or a switch",
        ),
        (
            format!("{VALUE}at = {{ share = [1, 2] }}\nexpected = 1\ntolerance = 1"),
            "`at`: a value of `share` is a finite number, a name or a switch",
        ),
        (
            format!("{VALUE}expected = 1"),
            "give exactly one of `tolerance`, `relative` and `within`",
        ),
        (
            format!("{VALUE}expected = 1\ntolerance = 1\nwithin = \"range\""),
            "give exactly one of `tolerance`, `relative` and `within`",
        ),
        (
            format!("{VALUE}expected = 1\ntolerance = 1\nrounding = 0.5"),
            "`rounding` goes with `within` only",
        ),
        (
            format!("{VALUE}expected = 1\nwithin = \"range\"\nrounding = -0.5"),
            "`rounding` must be a finite number, 0 or more",
        ),
        (
            format!("{VALUE}expected = 1\ntolerance = 1\nwidened = 0.05"),
            "`widened` goes with `within` only",
        ),
        (
            format!("{COMPARE}relation = \">\"\nreplications = 1.5"),
            "`replications` is a share of them, 0 to 1",
        ),
        (
            "[finding.points]\nrun = \"main\"\nmeasure = \"rejected\"\npoints = \"p\"\ncolumn = \"c\"\nat_least = 2".to_owned(),
            "`at_least` is a rank correlation, -1 to 1",
        ),
        (format!("{VALUE}tolerance = 1"), "`expected` is missing"),
        (
            format!("{VALUE}expected = 1\nrelative = -0.1"),
            "`relative` must be a finite number, 0 or more",
        ),
        (
            format!("{TREND}direction = \"rises\"\nslack = inf"),
            "`slack` must be a finite number, 0 or more",
        ),
        (
            format!("{COMPARE}relation = \">\"\nby = 1\nratio = 2"),
            "give `by` (left − right) or `ratio` (left / right), not both",
        ),
        (
            format!("{COMPARE}relation = \">\"\ntolerance = 1"),
            "`tolerance` goes with the relation == only",
        ),
        (
            format!("{COMPARE}relation = \">\"\nwhere = {{ rule = \"move\" }}"),
            "`where` names `rule`, which both sides fix",
        ),
        (
            format!("{COMPARE}relation = \">\"\nfor_each = [\"share\", \"share\"]"),
            "`for_each` names an axis twice",
        ),
        (
            format!("held_out = true\n{VALUE}expected = 1"),
            "is `held_out`, so leave out `expected`: nothing published stands here",
        ),
    ] {
        let error = refused(&check);
        let expected = format!("findings.toml, line 1: finding `H1`: {problem}");
        assert!(error.starts_with(&expected), "{error}\nis not\n{expected}");
    }
}

#[test]
fn an_id_appears_once_and_has_no_blanks() {
    let check = format!("{BOUND}at_least = 1");
    let twice = source(&check) + &source(&check);
    let error = parse("findings.toml", &twice, STUDIES, MeasureNames::Any)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "findings.toml, line 11: finding `H1`: appears twice; ids must be unique"
    );
    let blank = source(&check).replace("\"H1\"", "\"H 1\"");
    let error = parse("findings.toml", &blank, STUDIES, MeasureNames::Any)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("finding `H 1`: an id has letters"),
        "{error}"
    );
    let nameless = source(&check).replace("id = \"H1\"\n", "");
    let error = parse("findings.toml", &nameless, STUDIES, MeasureNames::Any)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("finding `number 1`: missing field `id`"),
        "{error}"
    );
}

#[test]
fn what_is_unknown_outside_the_findings_is_refused_with_its_line() {
    let ours = "titel = \"t\"\n[[finding]]\nid = \"H1\"\n";
    let error = parse("findings.toml", ours, STUDIES, MeasureNames::Any)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("findings.toml: TOML parse error at line 1"),
        "{error}"
    );
}

#[test]
fn a_dotted_key_may_stand_in_quotes_or_not() {
    let with = |filter: &str| file(&format!("{BOUND}at_least = 1\nwhere = {{ {filter} }}"));
    assert_eq!(
        with("scheduling.rule = \"move\", share = [1, 2.5]"),
        with("\"scheduling.rule\" = [\"move\"], share = [1, 2.5]")
    );
}

#[test]
fn a_check_says_in_symbols_what_must_hold() {
    for (check, expected) in [
        (
            format!("{VALUE}expected = 0.88\ntolerance = 0.02"),
            "0.88 ± 0.02",
        ),
        (format!("{VALUE}expected = 88\nrelative = 0.05"), "88 ± 5 %"),
        (format!("{VALUE}expected = 1\ntolerance = 0"), "1 exactly"),
        (
            format!(
                "unit = \"%\"\n{BOUND}at_least = 20\nat_most = 40\nwhere = {{ share = [10, 20], a.rule = \"move\" }}"
            ),
            "at least 20 % and at most 40 %, for rule move, share 10/20",
        ),
        (
            format!("{BOUND}equals = 0\nexceptions = 0.1"),
            "equals 0, in 90 % of the cells",
        ),
        (
            format!("{TREND}direction = \"does-not-fall\"\nslack = 0.5"),
            "does not fall with share, slack 0.5",
        ),
        (
            format!("unit = \"points\"\n{COMPARE}relation = \">=\"\nby = 20"),
            "rejected (rule reject) − rejected (rule move) >= 20 points",
        ),
        (
            format!("{COMPARE}relation = \"<\""),
            "rejected (rule reject) < rejected (rule move)",
        ),
        (
            format!("{COMPARE}relation = \"==\"\nratio = 0.77\ntolerance = 0.1"),
            "rejected (rule reject) / rejected (rule move) == 0.77 ± 0.1",
        ),
        (format!("held_out = true\n{VALUE}"), "held out"),
    ] {
        assert_eq!(file(&check).findings[0].expected(), expected);
    }
    let runs = COMPARE.replacen("run = \"grid\"", "run = \"night\"", 1);
    assert_eq!(
        file(&format!("{runs}relation = \"<\"")).findings[0].expected(),
        "rejected (night, rule reject) < rejected (grid, rule move)"
    );
}

#[test]
fn a_measure_that_no_study_measures_is_unknown_unless_any_is_allowed() {
    let text = source(&format!("{BOUND}at_least = 1").replace("rejected", "rejekted"));
    let refused = parse("findings.toml", &text, STUDIES, MeasureNames::Known).unwrap_err();
    let refused = refused.to_string();
    assert!(
        refused.contains("unknown measure `rejekted`; there are "),
        "{refused}"
    );
    let text = text.replace("rejekted", "infeasibility_rate@1");
    parse("findings.toml", &text, STUDIES, MeasureNames::Known).expect("of a cluster");
    let text = text.replace("infeasibility_rate@1", "infeasibility_rates@1");
    parse("findings.toml", &text, STUDIES, MeasureNames::Known).unwrap_err();
    parse("findings.toml", &text, STUDIES, MeasureNames::Any).expect("any name");
}
