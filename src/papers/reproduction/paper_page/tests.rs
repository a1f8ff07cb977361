use super::super::recorded;
use super::super::tests::{TEXT, card};
use super::*;
use crate::findings::MeasureNames;
use crate::findings::{Explanation, Finding, parse};
use bookahead_studies::STUDIES;

/// The trace of the card, and another that nobody ran.
fn traces() -> Vec<TraceOnPage> {
    let measured = card();
    let mut missing = measured.clone();
    missing.trace = "kth".to_owned();
    missing.subject = "KTH".to_owned();
    missing.command = "bookahead reproduce p --trace kth".to_owned();
    for result in &mut missing.results {
        *result = FindingResult::not_tested(&result.finding, "there is no score card".to_owned());
    }
    let links = vec![("score card".to_owned(), "ctc/score-card.md".to_owned())];
    vec![
        TraceOnPage {
            card: measured,
            is_measured: true,
            links,
            drawings: vec![("The order is kept.".to_owned(), "ctc/order.svg".to_owned())],
        },
        TraceOnPage {
            card: missing,
            is_measured: false,
            links: Vec::new(),
            drawings: Vec::new(),
        },
    ]
}

fn figure(text: &str) -> SummaryFigure {
    toml::from_str(text).unwrap()
}

const FIGURE: &str = r#"
figure = "6.26"
title = "Maximum gain"
unit = "coins"
experiment = "pof"
quantity = "max-gain"
panels = "family"
groups = "trace"
series = "strategy"
"#;

fn findings() -> Vec<Finding> {
    parse("findings.toml", TEXT, STUDIES, MeasureNames::Any)
        .unwrap()
        .findings
}

#[test]
fn a_card_that_is_read_back_says_what_it_said_when_it_was_written() {
    let card = card();
    let text = serde_json::to_string(&card.records()).unwrap();
    let mut all = findings();
    let results = recorded(&text, &all).unwrap();
    assert_eq!(results.len(), card.results.len());
    for (read, written) in results.iter().zip(&card.results) {
        assert_eq!(read.verdict, written.verdict);
        assert_eq!(read.found, written.found);
        assert_eq!(read.measured, written.measured);
        assert_eq!(read.second, written.second);
    }
    all[0].id = "ctc/pof/runtime/heuristic-planning/gain@0.1".to_owned();
    let unknown = recorded(&text, &all).unwrap().swap_remove(0).verdict;
    assert!(
        matches!(&unknown, Verdict::NotTested(why) if why.contains("older than this finding")),
        "{unknown:?}"
    );
    assert!(recorded("{}", &all).is_err());
}

#[test]
fn the_page_says_how_many_claims_hold_what_is_missing_and_where_the_cards_are() {
    let mut traces = traces();
    let figures = [figure(FIGURE)];
    let page = |traces: &[TraceOnPage]| {
        let page = PaperPage::of(
            STUDIES,
            traces,
            &figures,
            "bookahead reproduce p".to_owned(),
            None,
        );
        page.unwrap().files().unwrap()
    };
    let files = page(&traces);
    let file = |name: &str| {
        let found = files.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no {name}")).1.as_str()
    };
    for text in [
        "**2 of the 3 claims that could be checked hold (67 %).** 1 missed: 0 explained on the score cards, 1 without explanation. 5 not tested.",
        "There is no score-card.json of KTH (`bookahead reproduce p --trace kth` makes it)",
        "| CTC SP2, 430 processors | 2 of 3 (67 %) | 0 | 1 | 1 | [score card](ctc/score-card.md) |",
        "| all | 2 of 3 (67 %) | 0 | 1 | 5 |",
        "| Table 6.1 | 2 of 2 (100 %) | 2 not tested | 2 of 2 (100 %) |",
        "| Derived from printed numbers | 0 of 1 (0 %) | 2 not tested | 0 of 1 (0 %) |",
        "| order | 0 of 1 (0 %) | 1 not tested | 0 of 1 (0 %) |",
        "| runtime | ctc | heuristic-planning | 1,000 | 1,100 | 1,087 to 1,113 | held |",
        "## Missed without explanation\n\n- `ctc/pof/runtime/order`",
    ] {
        let text_of = file("index.md");
        assert!(text_of.contains(text), "{text}\nis missing in\n{text_of}");
    }
    let html = file("index.html");
    for text in [
        "2 of the 3 claims that could be checked hold (67 %).",
        "<a href=\"ctc/score-card.md\">score card</a>",
        "<code>bookahead reproduce p --trace kth</code>",
        "ctc, heuristic-planning: measured 1,100, published 1,000, held",
        "Table 6.1, ctc: held 2 of 2 (100 %)",
    ] {
        assert!(html.contains(text), "{text}\nis missing in\n{html}");
    }
    assert!(
        file("claims.csv")
            .contains("ctc,ctc/pof/runtime/heuristic-planning/max-gain,Table 6.1,\"1,000\",1100,")
    );
    assert_eq!(file("claims.csv").lines().count(), 1 + 8);
    for name in [
        "held-by-table.svg",
        "held-by-quantity.svg",
        "figure-6-26-runtime.svg",
    ] {
        assert!(file(name).contains("<style>"), "{name}");
    }

    // An explanation turns the open miss into an explained one.
    traces[0].card.explanations = vec![Explanation {
        id: "why".to_owned(),
        traces: vec!["ctc".to_owned()],
        quantities: vec![crate::findings::tables::Quantity::Order],
        text: "Because.".to_owned(),
        ..Explanation::default()
    }];
    let files = page(&traces);
    assert!(
        files[1]
            .1
            .contains("1 explained on the score cards, 0 without explanation")
    );
    assert!(!files[1].1.contains("Missed without"), "{}", files[1].1);
}

#[test]
fn a_summary_figure_that_shows_nothing_or_two_numbers_at_one_place_is_refused() {
    let findings = findings();
    assert_eq!(figure(FIGURE).problem(&findings), None);
    let elsewhere = figure(&FIGURE.replace("\"pof\"", "\"risk\""));
    let problem = elsewhere.problem(&findings).unwrap();
    assert!(problem.contains("no finding is about"), "{problem}");
    let mut twice = findings.clone();
    let mut again = findings[0].clone();
    again.id = "ctc/pof/runtime/heuristic-planning/max-gain again".to_owned();
    twice.push(again);
    let problem = figure(FIGURE).problem(&twice).unwrap();
    assert!(
        problem.contains("would stand at the same place"),
        "{problem}"
    );
}
