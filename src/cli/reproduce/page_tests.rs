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

#[test]
fn one_page_says_how_the_claims_of_every_paper_stand() {
    let report = tempfile::tempdir().unwrap();
    let page = || fs::read_to_string(report.path().join("index.md")).unwrap();
    let mut runner = Fake::with(&[CTC]);
    let (ending, log) = run(&["--all"], &mut runner, report.path());
    assert_eq!(ending.unwrap(), ReproductionEnd::Done);
    let to = report.path().join("index.html");
    assert!(
        log.ends_with(&format!("all papers: {}\n", to.display())),
        "{log}"
    );
    let first = page();
    let names = paper_names(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(names.len() >= 8, "{names:?}");
    let missing = first.matches("| not run: ").count();
    let said = format!(" {missing} of {} papers were not run.**", names.len());
    assert!(missing > 0 && first.contains(&said), "{first}");
    for name in &names {
        let of_its_own = fs::read_to_string(report.path().join(name).join("index.md"));
        let start = match &of_its_own {
            Ok(_) => format!("| [{name}]({name}/index.md) | "),
            Err(_) => format!("| {name} | 0 of 0 | "),
        };
        let row = first.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("{start}: {first}"));
        let Ok(of_its_own) = of_its_own else {
            assert!(
                row.ends_with(&format!("| not run: `bookahead reproduce {name}` |")),
                "{row}"
            );
            continue;
        };
        // What the page of the paper says of all its traces.
        let mut cells = row.split(" | ").skip(1);
        let share = cells.next().unwrap();
        assert!(
            of_its_own.contains(&format!("| all | {share} | ")),
            "{name}: {share}"
        );
    }
    let html = fs::read_to_string(to).unwrap();
    assert!(html.contains("<a href=\"heine2005/index.html\">heine2005</a>"));

    fs::remove_file(report.path().join("index.md")).unwrap();
    let mut nothing = Fake::default();
    let (ending, _) = run(&["--all", "--from-cards"], &mut nothing, report.path());
    assert_eq!(ending.unwrap(), ReproductionEnd::Done);
    assert!(nothing.ran.is_empty());
    assert_eq!(page(), first);
}

#[test]
fn every_paper_and_one_of_them_is_refused() {
    let report = tempfile::tempdir().unwrap();
    for (words, found) in [
        (&["--all", "heine2005"][..], "the name of the paper"),
        (&["--all", "--trace", "ctc"], "--trace"),
        (&["--all", "--reading", "blind"], "--reading"),
        (&["--all", "--json"], "--json"),
    ] {
        let mut runner = Fake::with(&[CTC]);
        let (ending, _) = run(words, &mut runner, report.path());
        let message = ending.unwrap_err().to_string();
        assert!(
            message.contains(&format!("leave out {found}, or")),
            "{message}"
        );
        assert!(runner.ran.is_empty());
    }
}
