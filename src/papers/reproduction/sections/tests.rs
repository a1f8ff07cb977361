//! What a card looks like.

use super::*;
use crate::findings::MeasureNames;
use crate::findings::tests::{Curves, text, whole};
use crate::findings::{Audit, audit, evaluate, parse, parse_explanations};
use bookahead_studies::STUDIES;

const FINDINGS: &str = r#"

[[finding]]
id = "H1"
section = "§6"
statement = "The rejected share rises with the share of reservations, under both rules."
provenance = "stated"
trace = "ctc"
unit = "%"
[finding.trend]
run = "ctc"
measure = "rejected"
along = "reservations.share"
direction = "rises"

[[finding]]
id = "H2"
section = "§6"
statement = "Rejecting rejects at least 20 points more than moving."
provenance = "stated"
trace = "ctc"
unit = "points"
note = "Read at every share above 0."
[finding.compare]
left = { run = "ctc", measure = "rejected", at = { rule = "reject" } }
right = { run = "ctc", measure = "rejected", at = { rule = "move" } }
relation = ">="
by = 20

[[finding]]
id = "F9-a"
section = "§4.3"
statement = "The machine is never full."
provenance = "axis"
[finding.bound]
run = "night"
measure = "utilisation"
at_most = 1

[[finding]]
id = "F9-b"
section = "§4.3"
statement = "How much moving rejects at share 50."
provenance = "derived"
held_out = true
[finding.value]
run = "ctc"
measure = "rejected"
at = { rule = "move", reservations.share = 50 }
"#;

fn card() -> ScoreCard {
    let mut curves = Curves::default().run(
        "ctc",
        &[
            ("reservations.share", vec![whole(10), whole(50)]),
            ("rule", vec![text("reject"), text("move")]),
        ],
    );
    for (share, rule, samples) in [
        (10, "reject", [30.0, 32.0]),
        (50, "reject", [50.0, 52.0]),
        (10, "move", [5.0, 6.0]),
        (50, "move", [35.0, 36.0]),
    ] {
        let at = [("reservations.share", whole(share)), ("rule", text(rule))];
        curves = curves.cell("ctc", "rejected", &at, &samples);
    }
    let file = parse("findings.toml", FINDINGS, STUDIES, MeasureNames::Any).unwrap();
    ScoreCard {
        paper: "heine2005".to_owned(),
        title: "F. Heine et al.: On the impact of reservations. 2005".to_owned(),
        trace: "ctc".to_owned(),
        reading: None,
        subject: "CTC SP2, 430 processors".to_owned(),
        command: "bookahead reproduce heine2005 --trace ctc".to_owned(),
        remarks: vec!["The shares are ours: the paper does not print them.".to_owned()],
        results: evaluate(&file, &curves, Some("ctc")),
        measured: Vec::new(),
        tolerances: Vec::new(),
        explanations: parse_explanations(
            "explanations.toml",
            "[[explanation]]\nfindings = [\"H2\"]\nevidence = [\"ablation-order\"]\n\
             text = \"\"\"The saturated machine rejects\nwhatever the rule is.\"\"\"\n",
        )
        .unwrap(),
    }
}

#[test]
fn the_page_shows_each_section_then_what_was_missed_and_why() {
    insta::assert_snapshot!("markdown", card().markdown());
}

#[test]
fn the_terminal_shows_the_same_in_blocks() {
    insta::assert_snapshot!("terminal", card().terminal());
}

#[test]
fn no_line_of_the_terminal_is_wider_than_120_columns() {
    let mut card = card();
    card.remarks.push("word ".repeat(60));
    card.remarks.push("x".repeat(300));
    for result in &mut card.results {
        result.finding.id = format!("{}-{}", result.finding.id, "y".repeat(150));
        result.measured = "measured ".repeat(40);
        result.finding.statement = "z".repeat(260);
    }
    let page = card.terminal();
    let widest = page.lines().map(|line| line.chars().count()).max();
    assert_eq!(widest, Some(120), "{page}");
    assert_eq!(page.matches('z').count(), 4 * 260);
}

#[test]
fn programs_get_the_check_the_verdict_and_every_cell() {
    let card = card();
    let json = serde_json::to_value(card.records()).unwrap();
    let first = &json[0];
    assert_eq!(first["id"], "H1");
    assert_eq!(first["verdict"], "held");
    assert_eq!(first["held"], true);
    assert_eq!(first["check"]["trend"]["along"], "reservations.share");
    assert_eq!(
        (&first["cells"], &first["failed_cells"]),
        (&2.into(), &0.into())
    );
    let second = &json[1];
    assert_eq!(second["held"], false);
    assert_eq!(second["check"]["compare"]["relation"], ">=");
    assert_eq!(second["worst"]["at"]["reservations.share"], 50);
    // 51 − 35.5 = 15.5, which is 4.5 short of 20.
    assert_eq!(second["worst"]["value"], 15.5);
    assert_eq!(second["worst"]["margin"], -4.5);
    assert_eq!(second["each"].as_array().unwrap().len(), 2);
    assert_eq!(
        second["explanation"],
        "The saturated machine rejects whatever the rule is. Looked at: ablation-order."
    );
    assert_eq!(json[2]["held"], serde_json::Value::Null);
    assert_eq!(json[2]["verdict"], "not-tested");
    assert_eq!(json[2]["detail"], "run `night` was not made");
    assert_eq!(json[3]["held_out"], true);
    assert_eq!(json[3]["each"][0]["value"], 35.5);
}

#[test]
fn the_section_of_a_report_has_a_row_for_each_finding() {
    let section = card().section();
    assert_eq!(section.tally, "1 held, 1 missed, 2 not tested");
    assert_eq!(section.missed, 1);
    let verdict = section
        .table
        .columns
        .iter()
        .position(|column| column.key == "verdict")
        .unwrap();
    let verdicts: Vec<String> = section
        .table
        .rows
        .iter()
        .map(|row| row[verdict].text(0))
        .collect();
    assert_eq!(verdicts, ["held", "missed", "not tested", "not tested"]);
    let columns = &section.table.columns;
    let place = columns
        .iter()
        .position(|column| column.key == "why")
        .unwrap();
    let why = section.table.rows[1][place].text(0);
    assert!(why.contains("4.5 below 20. The saturated machine"), "{why}");
    assert!(
        section
            .table
            .rows
            .iter()
            .all(|row| row.len() == section.table.columns.len())
    );
}

#[test]
fn misses_without_explanation_and_explanations_of_nothing_are_reported() {
    let card = card();
    let file = parse("findings.toml", FINDINGS, STUDIES, MeasureNames::Any).unwrap();
    let check = |text: &str| {
        let explanations = parse_explanations("explanations.toml", text).unwrap();
        audit(&file, &card.results, &explanations)
    };
    let clean = audit(&file, &card.results, &card.explanations);
    assert_eq!(clean, Audit::default());
    // H1 held, H77 does not exist, F9-a was not tested.
    let found =
        check("[[explanation]]\nfindings = [\"H1\", \"H77\", \"F9-a\"]\ntext = \"Because.\"");
    assert_eq!(found.unexplained, ["H2"]);
    assert_eq!(found.explained_for_nothing, ["H1", "H77"]);
}

#[test]
fn an_explanation_without_text_or_findings_or_a_second_one_is_refused() {
    for (text, problem) in [
        (
            "[[explanation]]\nfindings = []\ntext = \"a\"",
            "explanations.toml: explanation of : `findings` names none, and no `traces`, `quantities`, `strategies` or `families` say which it is for",
        ),
        (
            "[[explanation]]\nfindings = [\"H1\"]\ntext = \" \"",
            "explanations.toml: explanation of H1: `text` is empty",
        ),
        (
            "[[explanation]]\nfindings = [\"H1\"]\ntext = \"a\"\n[[explanation]]\nfindings = [\"H2\", \"H1\"]\ntext = \"b\"",
            "explanations.toml: explanation of H2, H1: `H1` is explained twice",
        ),
    ] {
        let error = parse_explanations("explanations.toml", text).unwrap_err();
        assert_eq!(error.to_string(), problem);
    }
    let error = parse_explanations("explanations.toml", "[[explanation]]\nfinding = \"H1\"\n");
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("unknown field `finding`")
    );
}
