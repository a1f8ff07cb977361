use super::*;
use crate::report::claims::{Experiment, Sample, Samples, evaluate, parse};

const TEXT: &str = "
paper = \"p2012\"
title = \"A. Author: A paper\"
thresholds = [0.1, 0.2]
ratios = [1.0]
[[tolerance]]
quantities = [\"max-gain\", \"booked\"]
relative = 0.15
reason = \"because\"
[[tolerance]]
quantities = [\"surplus\", \"order\"]
absolute = 10.0
reason = \"because\"
[[table]]
number = \"6.1\"
trace = \"ctc\"
section = \"7.1.1\"
provenance = \"printed\"
claims = [
  { id = \"ctc/pof/runtime/heuristic-planning/max-gain\", value = 1000 },
  { id = \"ctc/pof/runtime/heuristic-overbooking/surplus\", value = 60, printed = 160, resolves = \"E3\" },
]
[[table]]
number = \"-\"
trace = \"ctc\"
section = \"11.1\"
provenance = \"derived\"
claims = [
  { id = \"ctc/baselines/heuristic-planning/booked\", value = 5000 },
  { id = \"ctc/pof/runtime/order\", order = [\"heuristic-planning\", \"heuristic-overbooking\"] },
]
";

fn card() -> ScoreCard {
    let published = parse("published.toml", TEXT).unwrap();
    let mut samples = Samples::new(2);
    for battery in 0..2 {
        for (strategy, at, fees) in [
            ("heuristic-planning", 0.1, 1_100.0),
            ("heuristic-planning", 0.2, 1_100.0),
            ("heuristic-overbooking", 0.1, 1_400.0),
            ("heuristic-overbooking", 0.2, 1_650.0),
        ] {
            let fees = fees + f64::from(battery) * 2.0 - 1.0;
            let sample = Sample {
                fees,
                ..Sample::default()
            };
            samples.push(Experiment::Pof, "runtime", strategy, at, battery, sample);
        }
    }
    ScoreCard {
        paper: published.paper.clone(),
        title: published.title.clone(),
        trace: "ctc".to_owned(),
        reading: None,
        subject: "CTC SP2, 430 processors".to_owned(),
        remarks: vec!["A remark.".to_owned()],
        comparisons: evaluate(&published, &published.claims, &samples),
        measured: measured_tables(&published, &["runtime"], &samples),
        tolerances: published.tolerances.clone(),
        explanations: Vec::new(),
        command: "bookahead reproduce p --trace ctc".to_owned(),
    }
}

#[test]
fn the_page_shows_measured_beside_published_and_whether_it_held() {
    let page = card().markdown();
    for text in [
        "**2 held, 1 missed, 1 not tested.**",
        "## Table 6.1\n",
        // Student's t of ±1 about 1,100 over two batteries: 12.706 · 1.414 / √2 = 12.7.
        "| pof/runtime/heuristic-planning/max-gain | 1,000 | 1,100 | 1,087 to 1,113 | +10.0 % | ±15 % | yes |",
        // (1650 − 1100) / 1100 = 50 %.
        "| pof/runtime/heuristic-overbooking/surplus | 60 | 50 | 50 to 50 | -10 (-16.7 %) | ±10 | yes |",
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
fn the_terminal_shows_the_same_tables_and_the_tally() {
    let page = card().terminal();
    assert!(page.contains("Table 6.1"), "{page}");
    assert!(page.contains("1,087 to 1,113"), "{page}");
    assert!(
        page.ends_with("ctc: 2 held, 1 missed, 1 not tested\n"),
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
    card.comparisons.clear();
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
