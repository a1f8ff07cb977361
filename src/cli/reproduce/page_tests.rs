//! The page of a paper, with a runner that makes its numbers up.

use super::tests::{CTC, Fake, args};
use super::*;
use std::fs;

/// Runs a command on the papers of the repository and gives its end and what it said.
fn run(
    words: &[&str],
    runner: &mut Fake,
    report: &Path,
) -> (Result<ReproductionEnd, ReproduceError>, String) {
    let (mut output, mut log) = (Vec::new(), Vec::new());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ending = reproduce(&args(words, report), root, runner, &mut output, &mut log);
    (ending, String::from_utf8(log).unwrap())
}

#[test]
fn the_page_of_a_paper_grows_trace_by_trace_and_is_made_again_without_running_anything() {
    const BLUE: &str = "SDSC-BLUE-2000-4.2-cln.swf";
    let report = tempfile::tempdir().unwrap();
    let page = || fs::read_to_string(report.path().join("birkenheuer2012/index.md")).unwrap();
    let (ending, log) = run(
        &["birkenheuer2012", "--trace", "ctc"],
        &mut Fake::with(&[CTC]),
        report.path(),
    );
    assert_eq!(ending.unwrap(), ReproductionEnd::Done);
    assert!(log.contains("which claims hold: "), "{log}");
    let first = page();
    let missing = "There is no score-card.json of HPC2N, 240 processors (`bookahead reproduce birkenheuer2012 --trace hpc2n` makes it), LANL CM-5";
    assert!(first.contains(missing), "{first}");
    assert!(first.contains("[score card](ctc/score-card.md)"), "{first}");
    // The summary figures that paper.toml names, of what there is.
    assert!(
        first.contains("![Figure 6.26, runtime classes](figure-6-26-runtime.svg)"),
        "{first}"
    );
    assert!(
        first.contains("| runtime | ctc | heuristic-planning | 23,860 | 23,860 |"),
        "{first}"
    );

    // A second trace, whose command knows nothing of the first but its card.
    let mut blue = Fake::with(&[BLUE]);
    run(
        &["birkenheuer2012", "--trace", "sdsc-blue"],
        &mut blue,
        report.path(),
    )
    .0
    .unwrap();
    let second = page();
    let row = |page: &str, subject: &str| -> String {
        let mut rows = page
            .lines()
            .filter(|line| line.starts_with(&format!("| {subject}")));
        rows.next().unwrap().to_owned()
    };
    assert_eq!(row(&first, "CTC"), row(&second, "CTC"));
    assert_ne!(row(&first, "SDSC Blue"), row(&second, "SDSC Blue"));

    let mut nothing = Fake::default();
    run(
        &["birkenheuer2012", "--from-cards"],
        &mut nothing,
        report.path(),
    )
    .0
    .unwrap();
    assert!(nothing.ran.is_empty());
    assert_eq!(page(), second);

    // Another reading has no page of its own and leaves this one.
    let words = ["birkenheuer2012", "--trace", "ctc", "--reading", "blind"];
    run(&words, &mut Fake::with(&[CTC]), report.path())
        .0
        .unwrap();
    assert_eq!(page(), second);
}

#[test]
fn a_page_needs_score_cards_that_can_be_read() {
    let report = tempfile::tempdir().unwrap();
    let words = ["heine2005", "--from-cards"];
    let (ending, _) = run(&words, &mut Fake::default(), report.path());
    let message = ending.unwrap_err().to_string();
    assert!(
        message.contains("has no score card; bookahead reproduce heine2005 makes them"),
        "{message}"
    );
    let folder = report.path().join("heine2005/ctc");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("score-card.json"), "{}").unwrap();
    let (ending, _) = run(&words, &mut Fake::default(), report.path());
    let message = ending.unwrap_err().to_string();
    assert!(
        message.contains("heine2005/ctc/score-card.json") && message.contains("--trace ctc"),
        "{message}"
    );
}
