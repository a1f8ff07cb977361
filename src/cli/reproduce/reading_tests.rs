//! Readings of a paper of tables, with a runner that makes its numbers up; and what the files in
//! the program say.

use super::tests::{CTC, Fake, Ran, run, run_in};
use super::*;
use crate::studies::STUDIES;
use std::fs;

/// A folder with the paper's own configurations, claims and explanations, and these readings.
fn folder_with(readings: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("configs/birkenheuer2012");
    fs::create_dir_all(&folder).unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paper = Paper::read(here, "birkenheuer2012").unwrap();
    let own = "title = \"A paper.\"\n[[trace]]\nname = \"ctc\"\nsubject = \"CTC SP2, 430 processors\"\n\
               files = [\"CTC-SP2-1996-3.1-cln.swf\"]\nruns = [\"ctc-pof\", \"ctc-risk\"]\n";
    fs::write(folder.join("paper.toml"), own).unwrap();
    for stem in ["ctc-pof", "ctc-risk", FINDINGS, EXPLANATIONS] {
        let file = paper.configuration(stem).unwrap();
        fs::write(folder.join(format!("{stem}.toml")), file.text).unwrap();
    }
    if !readings.is_empty() {
        fs::write(folder.join("readings.toml"), readings).unwrap();
    }
    root
}

const READINGS: &str = r#"
[[reading]]
name = "text"
summary = "As it is written."
reason = "It says so."

[[reading]]
name = "blind"
summary = "The planner does not know of outages."
reason = "LANL."
set = { "scheduling.down_horizon" = "none" }

[[reading]]
name = "lax"
summary = "Deadlines are far away."
reason = "Nobody knows."
set = { "workload.laxity" = 4.0 }
"#;

fn run_with(readings: &str, words: &[&str]) -> (Ran, Fake) {
    let root = folder_with(readings);
    let mut runner = Fake::with(&[CTC]);
    let words: Vec<&str> = ["birkenheuer2012", "--trace", "ctc"]
        .into_iter()
        .chain(words.iter().copied())
        .collect();
    let ran = run_in(root.path(), &words, &mut runner);
    (ran, runner)
}

#[test]
fn a_reading_runs_the_configurations_with_its_keys_under_a_name_of_its_own() {
    let (ran, runner) = run_with(READINGS, &["--reading", "blind"]);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    assert_eq!(runner.ran, ["ctc-pof@blind", "ctc-risk@blind"]);
    let text = &runner.texts[0];
    assert!(text.contains("name = \"ctc-pof@blind\""), "{text}");
    assert!(
        text.contains("[scheduling]\ndown_horizon = \"none\"\n"),
        "{text}"
    );
    let experiment = crate::sweep::Experiment::parse(STUDIES, "ctc-pof@blind", text, None).unwrap();
    assert_eq!(experiment.sweep.name, "ctc-pof@blind");
    assert!(experiment.sweep.description.ends_with("; reading blind"));
    let paper = ran.report.path().join("birkenheuer2012");
    assert!(!paper.join("ctc").exists());
    let card = fs::read_to_string(paper.join("ctc@blind/score-card.md")).unwrap();
    for text in [
        "<!-- made by: bookahead reproduce birkenheuer2012 --trace ctc --reading blind -->",
        "# birkenheuer2012: CTC SP2, 430 processors, reading blind",
        "> Reading `blind`: The planner does not know of outages. It sets scheduling.down_horizon = \"none\".",
    ] {
        assert!(card.contains(text), "{text}\nis missing in\n{card}");
    }
    let json = fs::read_to_string(paper.join("ctc@blind/score-card.json")).unwrap();
    assert!(json.contains("\"reading\": \"blind\""), "{json}");
    assert!(
        ran.log.contains("ctc-pof.toml, reading blind"),
        "{}",
        ran.log
    );
}

#[test]
fn readings_are_run_in_the_order_of_the_file_each_once_and_the_default_as_ever() {
    let all = [
        "ctc-pof",
        "ctc-risk",
        "ctc-pof@blind",
        "ctc-risk@blind",
        "ctc-pof@lax",
        "ctc-risk@lax",
    ];
    for (words, ran) in [
        (&[][..], &all[..2]),
        (&["--reading", "text"], &all[..2]),
        (
            &[
                "--reading",
                "blind",
                "--reading",
                "text",
                "--reading",
                "blind",
            ],
            &all[..4],
        ),
        (&["--reading", "all"], &all[..]),
    ] {
        let (result, runner) = run_with(READINGS, words);
        assert_eq!(result.result.unwrap(), ReproductionEnd::Done);
        assert_eq!(runner.ran, ran, "{words:?}");
        assert!(
            result
                .report
                .path()
                .join("birkenheuer2012/ctc/score-card.md")
                .exists()
        );
    }
}

#[test]
fn a_reading_that_does_not_exist_or_sets_what_cannot_be_set_is_refused_before_anything_runs() {
    let (ran, _) = run_with(READINGS, &["--reading", "blynd"]);
    let message = ran.result.unwrap_err().to_string();
    assert!(
        message.contains("no reading `blynd`; there are: text, blind, lax"),
        "{message}"
    );
    for (from, to, problem) in [
        (
            "scheduling.down_horizon",
            "scheduling.down_horizons",
            "`scheduling.down_horizons`: there is no such key (did you mean",
        ),
        (
            "\"none\"",
            "\"nothing\"",
            "`scheduling.down_horizon`: `nothing` is not known here",
        ),
        (
            "\"none\"",
            "7",
            "`scheduling.down_horizon`: this must be a text in quotes",
        ),
        ("4.0", "0.5", "`workload.laxity`"),
        (
            "\"workload.laxity\" = 4.0",
            "\"acceptance.penalty_ratio\" = 4.0",
            "axis on this key",
        ),
    ] {
        let (ran, runner) = run_with(&READINGS.replace(from, to), &["--reading", "all"]);
        let message = ran.result.unwrap_err().to_string();
        assert!(
            message.contains("readings.toml") && message.contains(problem),
            "{message}"
        );
        assert!(runner.ran.is_empty());
    }
}

#[test]
fn a_paper_without_readings_refuses_the_option_and_runs_without_it() {
    let (ran, _) = run_with("", &["--reading", "blind"]);
    let message = ran.result.unwrap_err().to_string();
    assert!(
        message.contains("birkenheuer2012 has no named readings"),
        "{message}"
    );
    let (ran, runner) = run_with("", &[]);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    assert_eq!(runner.ran, ["ctc-pof", "ctc-risk"]);
    let curves = run(&["heine2005", "--reading", "blind"], &mut Fake::default());
    let message = curves.result.unwrap_err().to_string();
    assert!(
        message.contains("heine2005 has no named readings"),
        "{message}"
    );
}

#[test]
fn the_list_shows_readings_with_what_they_set() {
    let (ran, runner) = run_with(READINGS, &["--list", "--all"]);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    assert!(runner.ran.is_empty());
    for text in [
        "text (default)  As it is written.",
        "sets scheduling.down_horizon = \"none\"",
    ] {
        assert!(
            ran.output.contains(text),
            "{text}\nis missing in\n{}",
            ran.output
        );
    }
}

#[test]
fn the_readings_of_the_program_can_be_set_in_every_configuration_of_their_paper() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut set = 0;
    for name in paper_names(here) {
        let paper = Paper::read(here, &name).unwrap();
        let Some(readings) = readings::Readings::read(&paper).unwrap() else {
            continue;
        };
        for reading in readings.all() {
            for stem in paper.traces.iter().flat_map(|trace| &trace.runs) {
                let configuration = paper.configuration(stem).unwrap();
                if let Err(error) = readings.applied(reading, configuration) {
                    panic!("{error}");
                }
                set += 1;
            }
        }
    }
    assert!(set >= 42, "{set}");
}

#[test]
fn several_readings_leave_a_page_that_shows_them_side_by_side_and_a_count_each() {
    let (ran, _) = run_with(READINGS, &["--reading", "all"]);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    let folder = ran.report.path().join("birkenheuer2012");
    let page = fs::read_to_string(folder.join("readings.md")).unwrap();
    for text in [
        "<!-- made by: bookahead reproduce birkenheuer2012 --trace ctc --reading all -->",
        "| claim | published | text | blind | lax |",
        "| pof/runtime/heuristic-overbooking/max-gain | 28,280 | 28,280 ✓ | 28,280 ✓ | 28,280 ✓ |",
        "### Table 6.1",
    ] {
        assert!(page.contains(text), "{text}\nis missing in\n{page}");
    }
    let html = fs::read_to_string(folder.join("readings.html")).unwrap();
    assert!(html.contains("<h2>CTC SP2, 430 processors</h2>"), "{html}");
    for reading in [
        "birkenheuer2012: held",
        "birkenheuer2012@blind: held",
        "birkenheuer2012@lax: held",
    ] {
        assert!(
            ran.output.contains(&format!("\n{reading}")),
            "{}",
            ran.output
        );
    }
    let (ran, _) = run_with(READINGS, &["--reading", "blind"]);
    assert!(
        !ran.report
            .path()
            .join("birkenheuer2012/readings.md")
            .exists()
    );
}
