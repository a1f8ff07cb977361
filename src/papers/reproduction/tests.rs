use super::*;
use crate::findings::MeasureNames;
use crate::findings::tables::measured_tables;
use crate::findings::tests::{Curves, text};
use crate::findings::{Verdict, evaluate, parse, parse_explanations, parse_readings};
use bookahead_lab::sweep::AxisValue;
use bookahead_studies::STUDIES;

pub(super) const TEXT: &str = r#"
[cells]
family = "estimates.classes"
families = ["runtime"]
strategy = "scheduling.strategy"
[[cells.experiment]]
name = "pof"
title = "PoF test"
setting = "acceptance.pof_max"
called = "PoF_max"
values = [0.1, 0.2]
[[cells.experiment]]
name = "risk"
title = "risk test"
setting = "acceptance.penalty_ratio"
called = "penalty ratio"
shown = "each"
values = [1.0]
[[cells.also]]
name = "baselines"
experiment = "risk"
family = "runtime"
at = 1.0
[[tolerance]]
quantities = ["max-gain", "booked"]
relative = 0.15
reason = "because"
[[tolerance]]
quantities = ["surplus", "order"]
absolute = 10.0
reason = "because"
[[table]]
number = "6.1"
trace = "ctc"
section = "§6.1"
provenance = "printed"
findings = [
  { id = "ctc/pof/runtime/heuristic-planning/max-gain", value = 1000 },
  { id = "ctc/pof/runtime/heuristic-overbooking/surplus", value = 60, printed = 160, resolves = "E3" },
]
[[table]]
number = "-"
trace = "ctc"
section = "Table 6.2"
provenance = "derived"
findings = [
  { id = "ctc/baselines/heuristic-planning/booked", value = 5000 },
  { id = "ctc/pof/runtime/order", order = ["heuristic-planning", "heuristic-overbooking"] },
]
"#;

pub(super) fn card() -> ScoreCard {
    card_of(TEXT)
}

fn card_of(findings: &str) -> ScoreCard {
    let file = parse("findings.toml", findings, STUDIES, MeasureNames::Any).unwrap();
    let thresholds = [0.1, 0.2].map(AxisValue::Real);
    let strategies = ["heuristic-planning", "heuristic-overbooking"].map(text);
    let mut curves = Curves::default().run(
        "ctc-pof",
        &[
            ("estimates.classes", vec![text("runtime")]),
            ("scheduling.strategy", strategies.to_vec()),
            ("acceptance.pof_max", thresholds.to_vec()),
        ],
    );
    for (strategy, at, fees) in [
        ("heuristic-planning", 0.1, 1_100.0),
        ("heuristic-planning", 0.2, 1_100.0),
        ("heuristic-overbooking", 0.1, 1_400.0),
        ("heuristic-overbooking", 0.2, 1_650.0),
    ] {
        for measure in ["gain", "fees"] {
            let values = [
                ("estimates.classes", text("runtime")),
                ("scheduling.strategy", text(strategy)),
                ("acceptance.pof_max", AxisValue::Real(at)),
            ];
            curves = curves.cell("ctc-pof", measure, &values, &[fees - 1.0, fees + 1.0]);
        }
    }
    ScoreCard {
        paper: "p2012".to_owned(),
        title: "A. Author: A paper".to_owned(),
        trace: "ctc".to_owned(),
        reading: None,
        subject: "CTC SP2, 430 processors".to_owned(),
        remarks: vec!["A remark.".to_owned()],
        results: evaluate(&file, &curves, Some("ctc")),
        measured: measured_tables(file.cells.as_ref().unwrap(), &curves, "ctc"),
        tolerances: file.tolerances,
        explanations: Vec::new(),
        command: "bookahead reproduce p --trace ctc".to_owned(),
    }
}

#[test]
fn the_page_shows_measured_beside_published_and_whether_it_held() {
    let page = card().markdown();
    for text in [
        "**held 2 of 3 (67 %), 1 not tested.**",
        "## Table 6.1\n",
        // Student's t of ±1 about 1,100 over two batteries: 12.706 · 1.414 / √2 = 12.7.
        "| pof/runtime/heuristic-planning/max-gain | 1,000 | 1,100 | 1,087 to 1,113 | +10.0 % | ±15 % | yes |",
        // (1650 − 1100) / 1100 = 50 %; ±1 about the baseline moves it, although both move alike:
        // 12.706 · 0.5 / 1100 = 0.58 %.
        "† The setting is the best (or worst) of all settings, chosen on the very batteries",
        "| pof/runtime/heuristic-overbooking/surplus | 60 | 50 † | 49.42 to 50.58 | -10 (-16.7 %) | ±10 | yes |",
        "- `ctc/pof/runtime/heuristic-overbooking/surplus`: 160 is printed (E3)",
        "not tested: not measured completely: heuristic-planning with runtime classes at 1",
        "- ctc/pof/runtime/order: differs, 1 of 1 pairs the other way round\n  - published: heuristic-planning > \
         heuristic-overbooking\n  - measured: heuristic-overbooking > heuristic-planning\n",
        "## Measured: PoF test, runtime classes",
        "| heuristic-overbooking | 1,650 | 50 | 0.2 |",
        "because",
    ] {
        assert!(page.contains(text), "{text}\nis missing in\n{page}");
    }
}

#[test]
fn a_paper_may_print_tables_and_describe_curves_and_its_card_shows_both() {
    let card = card_of(&format!(
        "{TEXT}\n[[finding]]\nid = \"B1\"\nsection = \"§8\"\nstatement = \"Everybody earns something.\"\nprovenance = \"stated\"\n\
         trace = \"ctc\"\n[finding.bound]\nrun = \"ctc-pof\"\nmeasure = \"fees\"\nat_least = 1\n"
    ));
    assert_eq!(card.tallies().first.held, 3);
    let page = card.markdown();
    for text in [
        "**held 3 of 4 (75 %), 1 not tested.**",
        "## Table 6.1\n",
        "## §8\n\n1 held, 0 missed, 0 not tested.\n",
        "| B1 | Everybody earns something. | `at least 1` | stated | 4 of 4 cells;",
    ] {
        assert!(page.contains(text), "{text}\nis missing in\n{page}");
    }
    let section = card.section();
    assert_eq!(section.table.rows.len(), 5);
    assert_eq!(section.table.columns.len(), 7);
    let json = serde_json::to_value(card.records()).unwrap();
    assert_eq!(json[0]["quantity"], "max-gain");
    assert_eq!(json[4]["check"]["bound"]["run"], "ctc-pof");
    let titles = ScoreCard::tallies_by_title(&[card]);
    assert_eq!(titles[2].0, "§8");
}

#[test]
fn the_terminal_shows_the_same_tables_and_the_tally() {
    let page = card().terminal();
    assert!(page.contains("Table 6.1"), "{page}");
    assert!(page.contains("1,087 to 1,113"), "{page}");
    assert!(
        page.ends_with("ctc: held 2 of 3 (67 %), 1 not tested\n"),
        "{page}"
    );
}

#[test]
fn programs_get_id_published_measured_interval_tolerance_and_verdict() {
    let card = card();
    let json = serde_json::to_value(card.records()).unwrap();
    let first = &json[0];
    assert_eq!(first["id"], "ctc/pof/runtime/heuristic-planning/max-gain");
    assert_eq!(first["published"], 1_000.0);
    assert_eq!(first["measured"], 1_100.0);
    assert!(first["interval"][0].as_f64().unwrap() < 1_100.0);
    assert_eq!(first["tolerance"]["kind"], "relative");
    assert_eq!(first["tolerance"]["width"], 0.15);
    assert_eq!(first["held"], true);
    assert_eq!(json[2]["held"], serde_json::Value::Null);
    assert_eq!(json[2]["verdict"], "not-tested");
    assert_eq!(json[3]["held"], false);
    assert_eq!(json[3]["measured"][0], "heuristic-overbooking");
}

#[test]
fn a_trace_without_published_numbers_shows_what_was_measured() {
    let mut card = card();
    card.results.clear();
    assert!(
        card.terminal()
            .contains("Measured: PoF test, runtime classes")
    );
    assert!(
        card.markdown()
            .contains("Measured: risk test, runtime classes")
    );
    assert!(!card.markdown().contains("Tolerances"));
}

#[test]
fn what_the_files_of_a_paper_say_is_text_on_its_card() {
    let hostile =
        "|a `b|c` [l](https://evil) ![p](https://evil) <img src=x> https://evil ``` **b**";
    let quoted = format!("{hostile:?}");
    let findings = TEXT
        .replace("\"because\"", &quoted)
        .replace("\"PoF test\"", &quoted)
        .replace("\"7.1.1\"", &quoted)
        .replace("\"6.1\"", &quoted)
        .replace("\"E3\"", &quoted);
    let mut card = card_of(&findings);
    card.paper = hostile.to_owned();
    card.title = hostile.to_owned();
    card.subject = hostile.to_owned();
    card.remarks = vec![hostile.to_owned()];
    card.command = format!("bookahead reproduce '{hostile}' -->");
    let explanation = format!(
        "[[explanation]]\nid = {quoted}\ntraces = [\"ctc\"]\ntext = {quoted}\nevidence = [{quoted}]\n"
    );
    card.explanations = parse_explanations("explanations.toml", &explanation).unwrap();
    let page = card.markdown();
    let said = page.lines().filter(|line| line.contains("evil")).count();
    assert!(said >= 12, "{said} lines in\n{page}");
    // The command is code, in which nothing is live.
    let is_command = |line: &&str| line.contains("Made by");
    for line in page.lines().skip(1).filter(|line| !is_command(line)) {
        for sign in ["](https:", "<img", " https:", "(https:", "**b**"] {
            assert!(!line.contains(sign), "`{sign}` in {line}");
        }
    }
    let comment = page.lines().next().unwrap();
    assert_eq!(comment.matches('>').count(), 1, "{comment}");
}

/// Cards of the default reading and of one that sets a key, with one claim that is judged twice.
fn two_readings() -> Vec<ScoreCard> {
    let readings = parse_readings(
        "readings.toml",
        "[[reading]]\nname = \"text\"\nsummary = \"As written.\"\nreason = \"It <says> so.\"\n\
         [[reading]]\nname = \"blind\"\nsummary = \"Sees nothing.\"\nreason = \"LANL.\"\nset = { \"workload.laxity\" = 3.0 }\n",
    )
    .unwrap();
    readings
        .into_iter()
        .map(|reading| {
            let mut card = ScoreCard {
                reading: Some(reading),
                ..card()
            };
            card.results[3].second = Some(crate::findings::tables::Second {
                verdict: Verdict::Held,
                ground: Some(crate::findings::tables::Ground::Alignments {
                    offsets_hours: vec![-6.0, 0.0, 0.25],
                    union: vec![[900.0, 1_000.0], [1_200.0, 1_300.0]],
                    batteries: 20,
                }),
            });
            card
        })
        .collect()
}

#[test]
fn both_verdicts_stand_on_the_card_and_the_explanation_of_the_miss_stays() {
    let mut card = two_readings().remove(0);
    card.results.swap(0, 3);
    let crate::findings::Check::Cell(check) = &mut card.results[0].finding.check else {
        panic!("it is of a table");
    };
    check.quantity = crate::findings::tables::Quantity::Gain;
    card.explanations = parse_explanations(
        "explanations.toml",
        "[[explanation]]\nid = \"because\"\ntraces = [\"ctc\"]\ntext = \"So it is.\"\n",
    )
    .unwrap();
    let page = card.markdown();
    for text in [
        "**held 2 of 3 (67 %), over alignments 3 of 3 (100 %), 1 not tested.**",
        "moved by -6, 0, 0.25 hours",
        "| no: 1 of 1 pairs the other way round | held: 900 to 1,000 or 1,200 to 1,300 | [because](#because) |",
        "| yes |  |  |",
    ] {
        assert!(page.contains(text), "{text}\nis missing in\n{page}");
    }
    assert!(card.terminal().contains("over alignments"));
    let section = card.section();
    assert_eq!(section.table.columns.len(), 10);
    assert!(section.table.rows.iter().all(|row| row.len() == 10));
    assert_eq!(section.missed, 1);
    assert!(
        section.tally.contains("over alignments 3 of 3"),
        "{}",
        section.tally
    );
    let json = serde_json::to_value(card.records()).unwrap();
    assert_eq!(json[0]["held"], false);
    assert_eq!(json[0]["held_over_alignments"], true);
    assert_eq!(
        json[0]["over_alignments"]["ground"]["offsets_hours"][0],
        -6.0
    );
    assert_eq!(json[0]["explanation"], "So it is.");
}

#[test]
fn readings_stand_side_by_side_with_marks_and_counts_in_both_forms() {
    let cards = two_readings();
    let command = "bookahead reproduce p2012 --reading all".to_owned();
    let page = SideBySide::of(command, &cards).unwrap();
    let text = page.markdown();
    for expected in [
        "# p2012: readings side by side",
        "* Reading `blind`: Sees nothing. It sets workload.laxity = 3.0. LANL.",
        "| trace | text | blind |",
        "| CTC SP2, 430 processors | held 2 of 3 (67 %), over alignments 3 of 3 (100 %), 1 not tested |",
        "| all | held 2 of 3 (67 %), over alignments",
        "### Table 6.1\n\ntext: held 2 of 2 (100 %); blind: held 2 of 2 (100 %).",
        "| pof/runtime/heuristic-planning/max-gain | 1,000 | 1,100 ✓ | 1,100 ✓ |",
        "| pof/runtime/order | HP > HO | HO > HP ✗ ✓ |",
        "| baselines/heuristic-planning/booked | 5,000 | – · | – · |",
    ] {
        assert!(text.contains(expected), "{expected}\nis missing in\n{text}");
    }
    let html = page.html();
    for expected in [
        "<h2>blind</h2>",
        "It &lt;says&gt; so.",
        "<td class=\"n\">1,100 <span class=\"held\" role=\"img\" aria-label=\"held\" title=\"held\">✓</span><small>1,087 to 1,113</small></td>",
        "<span class=\"missed\" role=\"img\" aria-label=\"missed\" title=\"missed\">✗</span> <span class=\"held\"",
        "class=\"open\" role=\"img\" aria-label=\"not tested\"",
        "pof/<wbr>runtime/<wbr>heuristic-planning/<wbr>max-gain",
        "<div class=\"scroll\"><table class=\"side\">",
    ] {
        assert!(html.contains(expected), "{expected}\nis missing in\n{html}");
    }
    assert!(!html.contains("http"), "the file needs no network");
}

#[test]
fn one_reading_alone_makes_no_page_and_what_was_not_run_says_so() {
    let mut cards = two_readings();
    assert!(SideBySide::of(String::new(), &cards[..1]).is_none());
    for card in &mut cards {
        for result in &mut card.results {
            *result = FindingResult::not_tested(&result.finding, "no file".to_owned());
        }
    }
    let page = SideBySide::of(String::new(), &cards).unwrap();
    assert!(
        page.markdown()
            .contains("\n## CTC SP2, 430 processors\n\nNot tested.")
    );
    assert!(page.html().contains("<p>Not tested.</p>"));
}

#[test]
fn shares_are_of_the_claims_that_were_decided() {
    let cards = two_readings();
    let tallies = ScoreCard::tallies_by_title(&cards);
    let titles: Vec<&str> = tallies.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(
        titles,
        ["Table 6.1", "Derived from printed numbers (Table 6.2)"]
    );
    assert_eq!(tallies[0].1.first.share(), "4 of 4 (100 %)");
    // Two orders that missed and held over alignments, two claims that were not tested.
    assert_eq!(
        tallies[1].1.sentence(),
        "held 0 of 2 (0 %), over alignments 2 of 2 (100 %), 2 not tested"
    );
    assert_eq!(Tally::default().share(), "0 of 0");
}
