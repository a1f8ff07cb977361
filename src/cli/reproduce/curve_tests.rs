//! Papers of curves, with a runner that makes them up; and what the files in the program say.

use bookahead_papers::findings::MeasureNames;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::evaluation::home;
use super::paper::JOINT;
use super::tests::{Fake, Ran, run_in};
use super::*;
use crate::studies::STUDIES;
use crate::sweep::{Axis, AxisValue, Experiment, canonical_json};
use bookahead_papers::findings::{self, CurveCell};

const CTC: &str = "CTC-SP2-1996-3.1-cln.swf";
const SDSC: &str = "SDSC-SP2-1998-4.2-cln.swf";
const SHARE: &str = "reservations.share_percent";

/// Runs with one axis, the share, along which every measure is the share plus what the trace's runs
/// have.
pub(super) struct Drawn {
    axes: Vec<Axis>,
    runs: BTreeMap<String, f64>,
}

impl MeasuredCurves for Drawn {
    fn axes(&self, run: &str) -> Option<&[Axis]> {
        self.runs.contains_key(run).then_some(&*self.axes)
    }

    fn cells(&self, run: &str, _: &str) -> Vec<CurveCell> {
        let Some(offset) = self.runs.get(run) else {
            return Vec::new();
        };
        [0_i64, 50, 100]
            .into_iter()
            .filter_map(|share| {
                let values = [(SHARE.to_owned(), AxisValue::Integer(share))];
                let value = offset + share as f64;
                CurveCell::new(values.into(), vec![(0, value), (1, value)])
            })
            .collect()
    }
}

impl Drawn {
    pub(super) fn new(runs: Vec<String>, above: f64) -> Self {
        let offset = |run: &String| if run.starts_with("sdsc") { above } else { 0.0 };
        Self {
            axes: vec![Axis {
                key: SHARE.to_owned(),
                values: [0, 50, 100].map(AxisValue::Integer).to_vec(),
            }],
            runs: runs
                .into_iter()
                .map(|run| (run.clone(), offset(&run)))
                .collect(),
        }
    }
}

/// A runner with these traces, on which every measure is the same.
fn drawing(files: &[&'static str]) -> Fake {
    Fake {
        above: Some(0.0),
        ..Fake::with(files)
    }
}

/// A folder with configurations, findings and explanations of a paper of the tests' own.
fn folder(paper: &str, findings: &str, explanations: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("configs").join(paper);
    fs::create_dir_all(&folder).unwrap();
    let own = Paper::read(here(), paper).unwrap();
    let text = own.configuration(PAPER).unwrap().text;
    fs::write(folder.join("paper.toml"), text).unwrap();
    let stems = own.traces.iter().flat_map(|trace| &trace.runs);
    for stem in stems.map(String::as_str).chain(["ctc-by-hand"]) {
        let text = format!("# What {stem} shows.\n");
        fs::write(folder.join(format!("{stem}.toml")), text).unwrap();
    }
    fs::write(folder.join("findings.toml"), findings).unwrap();
    fs::write(folder.join("explanations.toml"), explanations).unwrap();
    root
}

fn trend(id: &str, run: &str, direction: &str) -> String {
    format!(
        "[[finding]]\nid = \"{id}\"\nsection = \"§6\"\nstatement = \"{id} goes somewhere.\"\nprovenance = \"stated\"\n\
         [finding.trend]\nrun = \"{run}\"\nmeasure = \"slowdown\"\nalong = \"{SHARE}\"\ndirection = \"{direction}\"\n"
    )
}

const DEARER: &str = r#"
[[finding]]
id = "S9"
section = "§5"
statement = "SDSC is dearer."
provenance = "stated"
[finding.compare]
left = { run = "sdsc-sp2-price-load", measure = "price_su" }
right = { run = "ctc-price-load", measure = "price_su" }
relation = ">"
"#;

fn singh() -> tempfile::TempDir {
    let findings =
        trend("S1", "ctc-price-load", "rises") + &trend("S2", "sdsc-sp2-virtual", "falls") + DEARER;
    folder("singh2008", &findings, "")
}

fn records(ran: &Ran) -> Vec<(String, String, String)> {
    let records: Vec<serde_json::Value> = serde_json::from_str(&ran.output).unwrap();
    records
        .iter()
        .map(|record| {
            ["id", "trace", "verdict"].map(|key| record[key].as_str().unwrap_or("–").to_owned())
        })
        .map(|[id, trace, verdict]| (id, trace, verdict))
        .collect()
}

fn record(id: &str, trace: &str, verdict: &str) -> (String, String, String) {
    (id.to_owned(), trace.to_owned(), verdict.to_owned())
}

#[test]
fn a_paper_of_one_trace_runs_its_configuration_and_leaves_a_card_and_a_report() {
    let findings = trend("H1", "ctc", "rises") + &trend("H2", "ctc", "falls");
    let explanations = "[[explanation]]\nfindings = [\"H1\"]\ntext = \"No reason.\"\n";
    let root = folder("heine2005", &findings, explanations);
    let mut runner = drawing(&[CTC]);
    let ran = run_in(root.path(), &["heine2005", "--trace", "ctc"], &mut runner);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    assert_eq!(runner.ran, ["ctc"], "what is run by hand is not run");
    let folder = ran.report.path().join("heine2005/ctc");
    assert_eq!(*runner.reports.borrow(), [(1, folder.clone(), true)]);
    let card = fs::read_to_string(folder.join("score-card.md")).unwrap();
    assert!(
        card.starts_with("<!-- made by: bookahead reproduce heine2005 --trace ctc -->"),
        "{card}"
    );
    assert!(card.contains("| H1 | H1 goes somewhere. |"), "{card}");
    assert!(card.contains("not explained"), "{card}");
    let json = fs::read_to_string(folder.join("score-card.json")).unwrap();
    assert!(json.contains("\"verdict\": \"held\""), "{json}");
    for text in [
        "H1  held",
        "H2  missed",
        "  §6                                                           held 1 of 2 (50 %)\n",
        "heine2005: held 1 of 2 (50 %)\n",
    ] {
        assert!(
            ran.output.contains(text),
            "{text}\nis not in\n{}",
            ran.output
        );
    }
    assert!(
        ran.log
            .contains("heine2005: missed, and not explained: H2\n"),
        "{}",
        ran.log
    );
    assert!(
        ran.log
            .contains("heine2005: explained, although nothing was missed: H1\n"),
        "{}",
        ran.log
    );
}

#[test]
fn findings_that_compare_traces_have_a_card_of_their_own() {
    let root = singh();
    let mut runner = Fake {
        above: Some(1.0),
        ..drawing(&[CTC, SDSC])
    };
    let ran = run_in(root.path(), &["singh2008", "--json"], &mut runner);
    assert_eq!(*ran.result.as_ref().unwrap(), ReproductionEnd::Done);
    assert_eq!(
        records(&ran),
        [
            record("S1", "ctc", "held"),
            record("S2", "sdsc-sp2", "missed"),
            record("S9", JOINT, "held"),
        ]
    );
    assert_eq!(runner.ran.len(), 45);
    let paper = ran.report.path().join("singh2008");
    for trace in ["ctc", "sdsc-sp2", JOINT] {
        let card = fs::read_to_string(paper.join(trace).join("score-card.md")).unwrap();
        assert_eq!(card.contains("S9"), trace == JOINT, "{card}");
    }
    let card = fs::read_to_string(paper.join(JOINT).join("score-card.md")).unwrap();
    assert!(
        card.contains("# singh2008: comparisons of ctc, sdsc-sp2\n"),
        "{card}"
    );
    assert!(!card.contains("held out"), "not a word of others: {card}");
    let reports = runner.reports.borrow();
    assert_eq!(reports.len(), 45, "one a configuration");
    let main: Vec<_> = reports.iter().filter(|(.., claims)| *claims).collect();
    assert_eq!(
        main,
        [
            &(1, paper.join("ctc"), true),
            &(10, paper.join("sdsc-sp2"), true),
            &(19, paper.join("ctc-workflows"), true),
            &(32, paper.join("sdsc-sp2-workflows"), true),
            &(44, paper.join("sites"), true)
        ]
    );
    assert!(reports.contains(&(9, paper.join("ctc/ctc-virtual"), false)));
}

#[test]
fn comparisons_of_traces_are_not_tested_where_one_was_not_run_and_their_card_is_left_alone() {
    let root = singh();
    for (words, file, why) in [
        (
            &["singh2008", "--json", "--trace", "ctc"][..],
            CTC,
            "both: not tested: sdsc-sp2 was not run: it was not chosen",
        ),
        (
            &["singh2008", "--json"],
            CTC,
            "both: not tested: sdsc-sp2 was not run: the trace file SDSC-SP2-1998-4.2-cln.swf was not found",
        ),
    ] {
        let mut runner = drawing(&[file]);
        let ran = run_in(root.path(), words, &mut runner);
        assert_eq!(*ran.result.as_ref().unwrap(), ReproductionEnd::Done);
        let of_ctc = if words.len() == 2 { 9 + 13 } else { 9 };
        assert_eq!(runner.ran.len(), of_ctc);
        let seen = records(&ran);
        assert!(seen.contains(&record("S1", "ctc", "held")), "{seen:?}");
        assert!(
            seen.contains(&record("S9", JOINT, "not-tested")),
            "{seen:?}"
        );
        let is_shown = words.len() == 2;
        let missing = record("S2", "sdsc-sp2", "not-tested");
        assert_eq!(seen.contains(&missing), is_shown, "{seen:?}");
        assert!(ran.log.contains(why), "{}", ran.log);
        assert!(!ran.report.path().join("singh2008").join(JOINT).exists());
    }
}

/// Both files serve five traces, of which three have the same remark and four are compared.
#[test]
fn a_card_of_comparisons_names_what_it_compares_and_says_a_remark_once() {
    let findings = DEARER.to_owned()
        + &DEARER
            .replace("S9", "S10")
            .replace("sdsc-sp2-price-load", "sdsc-sp2-moga-alpha")
            .replace("ctc-price-load", "ctc-moga-alpha");
    let root = folder("singh2008", &findings, "");
    let mut runner = drawing(&[CTC, SDSC]);
    let ran = run_in(root.path(), &["singh2008"], &mut runner);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    let card = ran.report.path().join("singh2008/both/score-card.md");
    let card = fs::read_to_string(card).unwrap();
    let names = "ctc, sdsc-sp2, ctc-workflows, sdsc-sp2-workflows";
    let title = format!("# singh2008: comparisons of {names}\n");
    assert!(card.contains(&title), "{card}");
    assert_eq!(card.matches("are held out").count(), 1, "{card}");
}

#[test]
fn the_list_names_every_file_that_a_trace_needs() {
    let root = singh();
    let mut runner = drawing(&[CTC]);
    let ran = run_in(root.path(), &["singh2008", "--list", "--all"], &mut runner);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    for text in [
        "workflows (chapters 4 and 7); 0 findings; /traces/CTC-SP2-1996-3.1-cln.swf, SDSC-SP2-1998-4.2-cln.swf: not found\n",
        "  sdsc-sp2-workflows SDSC SP2, 128 processors",
    ] {
        assert!(
            ran.output.contains(text),
            "{text}\nis not in\n{}",
            ran.output
        );
    }
}

#[test]
fn a_missing_trace_asked_for_by_name_is_an_error_and_nothing_runs() {
    let root = singh();
    let mut runner = Fake::default();
    let words = ["singh2008", "--trace", "sdsc-sp2"];
    let ran = run_in(root.path(), &words, &mut runner);
    let message = ran.result.unwrap_err().to_string();
    assert!(message.contains(SDSC), "{message}");
    assert!(runner.ran.is_empty());
}

#[test]
fn an_interruption_ends_in_130_and_failed_points_in_1_and_both_are_said() {
    let root = singh();
    let mut runner = Fake {
        interrupted: Some("ctc-slots-recorded"),
        ..drawing(&[CTC, SDSC])
    };
    let ran = run_in(root.path(), &["singh2008"], &mut runner);
    assert_eq!(ran.result.unwrap().exit_code(), 130);
    assert_eq!(runner.ran.len(), 4, "nothing more is started");
    assert!(ran.log.contains("the same command goes on"), "{}", ran.log);
    assert!(
        !ran.report
            .path()
            .join("singh2008/ctc/score-card.md")
            .exists()
    );

    let mut runner = Fake {
        failing: Some("ctc-price-half"),
        ..drawing(&[CTC, SDSC])
    };
    let ran = run_in(root.path(), &["singh2008"], &mut runner);
    assert_eq!(ran.result.unwrap().exit_code(), 1);
    for text in [&ran.log, &ran.output] {
        assert!(text.contains("2 points of ctc-price-half failed"), "{text}");
    }
    assert_eq!(runner.ran.len(), 45, "the rest is run all the same");
}

#[test]
fn the_list_shows_findings_with_what_is_expected_and_runs_nothing() {
    let root = singh();
    let mut runner = drawing(&[CTC]);
    let words = ["singh2008", "--list", "--all", "--trace", "ctc"];
    let ran = run_in(root.path(), &words, &mut runner);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    assert!(runner.ran.is_empty());
    for text in [
        "singh2008\n  Singh: An End-to-End Framework",
        "  ctc                CTC SP2, 430 processors; 1 finding; /traces/CTC-SP2-1996-3.1-cln.swf",
        "ctc-price-load.toml\n    What ctc-price-load shows.",
        "ctc-by-hand.toml (by hand: bookahead run)\n",
        "  S1 (ctc, §6): S1 goes somewhere.\n    rises with share percent",
        "  S9 (both, §5): SDSC is dearer.\n    price_su (sdsc-sp2-price-load) > price_su (ctc-price-load)",
    ] {
        assert!(
            ran.output.contains(text),
            "{text}\nis not in\n{}",
            ran.output
        );
    }
    assert!(!ran.output.contains("S2"), "{}", ran.output);
    assert!(!ran.output.contains("sdsc-sp2-virtual"), "{}", ran.output);
}

#[test]
fn an_unknown_measure_is_refused_before_anything_runs() {
    let findings = trend("H1", "ctc", "rises").replace("slowdown", "speed");
    let root = folder("heine2005", &findings, "");
    let mut runner = drawing(&[CTC]);
    let ran = run_in(root.path(), &["heine2005"], &mut runner);
    let message = ran.result.unwrap_err().to_string();
    assert!(message.contains("unknown measure `speed`"), "{message}");
    assert!(runner.ran.is_empty());
}

/// Every paper of curves with its traces and its findings.
fn papers() -> impl Iterator<Item = (Paper, FindingsFile)> {
    paper_names(here()).into_iter().map(|name| {
        let paper = Paper::read(here(), &name).unwrap();
        let file = paper.configuration(FINDINGS).unwrap();
        let findings =
            findings::parse(&file.origin(), &file.text, STUDIES, MeasureNames::Known).unwrap();
        (paper, findings)
    })
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_finding_names_runs_that_are_made_measures_that_are_known_and_its_own_trace() {
    for (paper, file) in papers() {
        assert!(!file.findings.is_empty(), "{}", paper.name);
        for finding in &file.findings {
            for (run, _) in finding.sources() {
                let run = file.made_of(run);
                assert!(
                    paper.trace_of(run).is_some(),
                    "{} {}: no run `{run}` is made",
                    paper.name,
                    finding.id
                );
            }
            if let Some(trace) = finding.trace.as_deref() {
                assert_eq!(home(&paper, finding), Some(trace), "{}", finding.id);
            }
        }
    }
}

#[test]
fn every_explanation_names_findings_and_configurations_that_exist() {
    for (paper, file) in papers() {
        // A paper need not explain anything.
        let Ok(text) = paper.configuration(EXPLANATIONS) else {
            assert_eq!(paper.name, "gaussier2015");
            continue;
        };
        let known = findings::parse_explanations(&text.origin(), &text.text).unwrap();
        let stems = paper.stems().unwrap();
        for explanation in &known {
            for id in &explanation.findings {
                assert!(
                    file.findings.iter().any(|finding| finding.id == *id),
                    "{}: there is no finding {id}",
                    paper.name
                );
            }
            for stem in &explanation.evidence {
                assert!(
                    stems.contains(stem),
                    "{}: there is no {stem}.toml",
                    paper.name
                );
            }
        }
    }
}

#[test]
fn every_configuration_is_sound_replays_the_trace_of_its_name_and_says_what_to_look_at() {
    for (paper, _) in papers() {
        let stems = paper.stems().unwrap();
        for stem in &stems {
            let configuration = paper.configuration(stem).unwrap();
            let Experiment { sweep, .. } =
                Experiment::parse(STUDIES, &configuration.origin(), &configuration.text, None)
                    .unwrap_or_else(|error| panic!("{stem}: {error}"));
            assert_eq!(sweep.name, *stem);
            assert!(configuration.text.contains("# Look at: "), "{stem}");
            let owner = paper.traces.iter().find(|trace| {
                let own = stem.strip_prefix("ablation-").unwrap_or(stem);
                own.strip_prefix(&trace.name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            });
            // A model has no file.
            if let Some(file) = owner.unwrap().files.first() {
                assert!(configuration.text.contains(file), "{stem}: not {file}");
            } else {
                assert!(configuration.text.contains("\nmodel = "), "{stem}");
            }
        }
    }
}

/// E0 to E7 of Meltzer 2005 are 44 runs, of which one (A3 with backfilling, RW1, four clusters) is
/// in both E4 and E7. E2 has none of its own, and E4 shares A3 with E3.
#[test]
fn the_eight_experiments_on_several_clusters_are_the_runs_of_the_thesis() {
    let paper = Paper::read(here(), "meltzer2005").unwrap();
    for excerpts in ["fingerprint", "drawn"] {
        let mut runs = BTreeSet::new();
        let mut new = Vec::new();
        for experiment in 0..8 {
            let stem = format!("{excerpts}-e{experiment}");
            let file = paper.configuration(&stem).unwrap();
            let sweep = Experiment::parse(STUDIES, &file.origin(), &file.text, None)
                .unwrap()
                .sweep;
            assert_eq!(sweep.replications, 20, "{stem}");
            let before = runs.len();
            runs.extend(
                sweep
                    .simulations
                    .iter()
                    .filter(|simulation| simulation.replication == 0)
                    .map(|simulation| canonical_json(&simulation).unwrap()),
            );
            new.push(runs.len() - before);
        }
        assert_eq!(new, [1, 16, 1, 6, 3, 9, 6, 1], "{excerpts}");
        assert_eq!(runs.len(), 43, "{excerpts}");
    }
}
