//! The pages for people, held against the program: every ambiguity is decided, every key that they
//! name exists, every example is an experiment.

use bookahead::studies::STUDIES;
use bookahead::sweep::Experiment;
use bookahead::sweep::keys::Keys;

use crate::support::decisions::PAGE as DECISIONS;

const GLOSSARY: &str = include_str!("../docs/glossary.md");
const CONFIGURATION: &str = include_str!("../docs/configuration.md");

/// What the works about predictions, reservations, provisioning and co-reservation leave open.
fn ambiguities() -> Vec<String> {
    let heine = (1..=17).map(|number| format!("A{number}"));
    let singh = (1..=46).map(|number| format!("AMB-{number}"));
    let with_letters = [
        "5b", "14b", "14c", "14d", "14e", "14f", "14g", "14h", "15b", "15c", "16b", "16c", "16d",
        "17b", "24b", "24c", "24d", "24e", "24f", "26b", "29b",
    ]
    .map(|name| format!("AMB-{name}"));
    let meltzer = (1..=30)
        .chain(32..=36)
        .chain(44..=50)
        .map(|number| format!("Q{number}"));
    let gaussier = (1..=15).map(|number| format!("P-{number:02}"));
    gaussier
        .chain(heine)
        .chain(singh)
        .chain(with_letters)
        .chain(meltzer)
        .collect()
}

/// The cells of the row that decides an ambiguity.
fn decision(name: &str) -> Vec<&'static str> {
    let lead = format!("| <a id=\"{}\"></a>{name} | ", name.to_lowercase());
    let rows: Vec<&str> = DECISIONS
        .lines()
        .filter(|line| line.starts_with(&lead))
        .collect();
    assert_eq!(rows.len(), 1, "{name} is decided once");
    rows[0]
        .trim_matches('|')
        .split(" | ")
        .map(str::trim)
        .collect()
}

#[test]
fn the_page_of_decisions_has_every_ambiguity_of_these_works_and_names_the_key_that_varies_it() {
    for name in ambiguities() {
        let cells = decision(&name);
        let [_, question, default, key] = cells.as_slice() else {
            panic!("{name} has {} cells, not 4", cells.len());
        };
        assert!(!question.is_empty() && !default.is_empty(), "{name}");
        if *key == "fixed" {
            continue;
        }
        let named: Vec<&str> = key.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "{name}: {key}");
        for path in named {
            let known = match path.strip_suffix(".*") {
                Some(section) => !Keys::of(STUDIES).children(section).is_empty(),
                None => Keys::of(STUDIES).find(path).is_some(),
            };
            assert!(known, "{name}: no key is called {path}");
        }
    }
}

#[test]
fn a_key_that_says_which_ambiguity_it_decides_stands_in_the_row_of_that_ambiguity() {
    let names = ambiguities();
    let mut checked = 0;
    for row in CONFIGURATION.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let (key, decides) = (cells[0].trim_matches('`'), cells[cells.len() - 1]);
        for name in decides
            .split(", ")
            .map(|name| name.trim_matches(['[', ']']))
            .filter(|name| names.iter().any(|known| known == name))
        {
            let varied_by = decision(name)[3];
            assert!(
                varied_by.contains(&format!("`{key}`")),
                "{key} decides {name}, whose row names {varied_by}"
            );
            checked += 1;
        }
    }
    assert!(checked > 25, "{checked}");
}

#[test]
fn every_example_of_the_page_of_the_configuration_is_an_experiment_and_every_study_has_one() {
    let examples: Vec<&str> = CONFIGURATION
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|text| text.starts_with("[experiment]"))
        .collect();
    for text in &examples {
        if let Err(error) = Experiment::parse(STUDIES, "example.toml", text, None) {
            panic!("{error}\n{text}");
        }
    }
    for study in STUDIES.strategies() {
        let line = format!("strategy = \"{}\"", study.name);
        assert!(examples.iter().any(|text| text.contains(&line)), "{line}");
    }
}

#[test]
fn every_word_of_reports_stands_in_the_glossary_with_what_explain_says_of_it() {
    let page: String = GLOSSARY.split_whitespace().collect::<Vec<_>>().join(" ");
    for term in bookahead_report::glossary::TERMS {
        let others = match term.others {
            [] => String::new(),
            others => format!(" (also {})", others.join(", ")),
        };
        let more = term
            .page
            .strip_prefix("docs/")
            .expect("a page of the manual");
        let said = format!(
            "* **{}**{others}. {} [More]({more}).",
            term.name, term.meaning
        );
        assert!(page.contains(&said), "{said}");
        let said = crate::support::program::output(crate::support::program::program(
            std::path::Path::new("."),
            &["explain", term.name],
        ));
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let said: Vec<&str> = said.split_whitespace().collect();
        assert!(said.join(" ").contains(term.meaning), "{said:?}");
    }
    assert_eq!(
        page.matches("* **").count(),
        bookahead_report::glossary::TERMS.len()
    );
}

#[test]
fn explain_knows_keys_and_quantities_and_says_what_was_probably_meant() {
    let explain = |term: &str| {
        let folder = std::path::Path::new(".");
        crate::support::program::output(crate::support::program::program(
            folder,
            &["explain", term],
        ))
    };
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (term, said) in [
        ("acceptance.pof_max", "[acceptance]"),
        ("risk.pof_max", ""),
        ("mean_wait", "mean_wait"),
        ("Penalty Ratio", "1 ÷ (1 + ρ)"),
    ] {
        assert!(words(&explain(term).stdout).contains(said), "{term}");
    }
    assert!(words(&explain("risk.pof_max").stderr).contains("`acceptance.pof_max` now"));
    let unknown = explain("batery");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(words(&unknown.stderr).contains("did you mean `battery`?"));
}
