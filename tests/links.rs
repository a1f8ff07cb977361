//! Links of the pages for people: each leads to a file of the repository and to a heading of it,
//! and the site that mdBook makes of the folder `docs` has all of its pages and no link out of it.

use bookahead::studies::STUDIES;
use bookahead::sweep::keys::Keys;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::decisions;
use crate::support::pages::{assert_current, project};

/// Pages for people, as paths in the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = [
        "",
        "docs",
        "docs/measurements",
        "benches",
        "benches/peers",
        "data",
        "reports",
        "packaging",
    ]
    .iter()
    .flat_map(|folder| fs::read_dir(project().join(folder)).expect("a folder"))
    .map(|entry| entry.expect("readable").path())
    .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
    .collect();
    pages.sort();
    pages
}

/// A page without its blocks of code and without code in its lines, whose brackets are no links.
fn without_code(text: &str) -> String {
    let mut in_block = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            // What stands between the first and the second backtick is code, and so on.
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    prose
}

/// Where the links and pictures of a page lead: `](target)`, and `[name]: target` on a line.
fn targets(text: &str) -> Vec<String> {
    let prose = without_code(text);
    let inline = prose.split("](").skip(1);
    let inline = inline.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    let by_name = prose.lines().filter(|line| line.starts_with('['));
    let by_name = by_name.filter_map(|line| Some(line.split_once("]: ")?.1.to_owned()));
    inline
        .chain(by_name)
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .collect()
}

/// The anchors of a page's headings, made as GitHub and mdBook make them, and those written as
/// HTML.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut in_block = false;
    let written = text.split("<a id=\"").skip(1);
    let written = written.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
    text.lines()
        .filter(|line| {
            in_block ^= line.starts_with("```");
            !in_block && line.starts_with('#')
        })
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter_map(|character| match character {
                    ' ' => Some('-'),
                    '-' | '_' => Some(character),
                    _ => character.is_alphanumeric().then_some(character),
                })
                .collect()
        })
        .chain(written)
        .collect()
}

/// What is wrong with a link of a page, if anything.
fn defect(page: &Path, target: &str) -> Option<&'static str> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let leads_to = if file.is_empty() {
        page.to_path_buf()
    } else {
        page.parent().expect("in a folder").join(file)
    };
    if !leads_to.exists() {
        return Some("there is no such file");
    }
    if !anchor.is_empty() {
        let text = fs::read_to_string(&leads_to).expect("a page");
        if !anchors(&text).contains(anchor) {
            return Some("there is no such heading");
        }
    }
    None
}

#[test]
fn no_link_of_a_page_is_dead() {
    let mut links = 0;
    let mut dead = Vec::new();
    for page in pages() {
        for target in targets(&fs::read_to_string(&page).expect("readable")) {
            links += 1;
            if let Some(why) = defect(&page, &target) {
                dead.push(format!("{}: {target}: {why}", page.display()));
            }
        }
    }
    assert!(links > 100, "only {links} links were found");
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn every_mention_of_a_decision_in_the_manual_leads_to_its_row() {
    let folder = project().join("docs");
    let mut links = 0;
    for page in pages().iter().filter(|page| page.starts_with(&folder)) {
        let name = page.strip_prefix(&folder).expect("a page of the manual");
        if name != Path::new("decisions.md") {
            let up = "../".repeat(name.components().count() - 1);
            let page = fs::read_to_string(page).expect("readable");
            let linked = decisions::linked(&page, &up);
            links += linked.matches("decisions.md#").count();
            assert_current(&format!("docs/{}", name.display()), &linked, "links");
        }
    }
    assert!(links > 100, "only {links} links were found");
}

#[test]
fn the_site_has_every_page_of_its_folder_and_no_link_leads_out_of_it() {
    let folder = project().join("docs");
    let listed: BTreeSet<String> =
        targets(&fs::read_to_string(folder.join("SUMMARY.md")).expect("readable"))
            .into_iter()
            .collect();
    for page in pages().iter().filter(|page| page.starts_with(&folder)) {
        let name = page.strip_prefix(&folder).expect("a page of the manual");
        let depth = name.components().count();
        let name = name.to_str().expect("UTF-8");
        assert!(
            name == "SUMMARY.md" || listed.contains(name),
            "docs/SUMMARY.md does not list {name}"
        );
        for target in targets(&fs::read_to_string(page).expect("readable")) {
            assert!(
                target.matches("../").count() < depth,
                "docs/{name} links to {target}, which the site does not have: name the file as code instead"
            );
        }
    }
}

#[test]
fn every_strategy_has_a_short_page_that_leads_to_its_definition() {
    let page = fs::read_to_string(project().join("docs/strategies.md")).expect("readable");
    let policies = bookahead_overbooking::registry::STRATEGIES
        .iter()
        .map(|strategy| strategy.name);
    let studies = STUDIES.strategies().map(|study| study.name);
    for name in policies.chain(studies) {
        let (_, section) = page
            .split_once(&format!("\n### {name}\n"))
            .unwrap_or_else(|| panic!("docs/strategies.md has no page of {name}"));
        let section = section.split("\n##").next().expect("the first part");
        let words = section.split_whitespace().count();
        assert!(words <= 250, "{name} has {words} words");
        assert!(section.contains("](model.md#"), "{name}");
    }
    for key in page.split('`').skip(1).step_by(2).filter(|code| {
        code.split_once('.').is_some_and(|(table, key)| {
            Keys::of(STUDIES).children(table).len() > 1 && !key.contains('*')
        })
    }) {
        assert!(
            Keys::of(STUDIES).find(key).is_some(),
            "no key is called {key}"
        );
    }
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let page = project().join("README.md");
    let text = "See [one](docs/nothing.md), [two](docs/model.md#no-heading), `[three](four)` and [five](docs/model.md#slots).";
    let found: Vec<_> = targets(text)
        .iter()
        .map(|target| defect(&page, target))
        .collect();
    assert_eq!(
        found,
        [
            Some("there is no such file"),
            Some("there is no such heading"),
            None
        ]
    );
    assert!(anchors("# Slots, \"two\" & more\n").contains("slots-two--more"));
}
