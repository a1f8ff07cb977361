//! What the README and the committed pages of papers say of published claims, held against the
//! committed score cards.
//!
//! `BOOKAHEAD_PAGES=write cargo test --release what_holds` writes the README's table again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::pages::{assert_current, project};

/// What a score card says first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    held: u32,
    decided: u32,
    /// By the second judgement; as many as by the first where there is none.
    held_again: u32,
    not_tested: u32,
}

impl Count {
    /// From `held 89 of 116 (77 %), over alignments 93 of 116 (80 %), 3 not tested` or
    /// `3 held, 1 missed, 2 not tested`.
    fn read(line: &str) -> Option<Self> {
        let before = |word: &str| -> Option<u32> {
            let (before, _) = line.split_once(word)?;
            before.rsplit(' ').next()?.parse().ok()
        };
        let not_tested = before(" not tested").unwrap_or(0);
        if let (Some(held), Some(missed)) = (before(" held"), before(" missed")) {
            let decided = held + missed;
            return Some(Self {
                held,
                decided,
                held_again: held,
                not_tested,
            });
        }
        let after = |word: &str| -> Option<[u32; 2]> {
            let mut words = line.split_once(word)?.1.split([' ', ',', '.']);
            let held = words.next()?.parse().ok()?;
            Some([held, words.nth(1)?.parse().ok()?])
        };
        let [held, decided] = after("held ")?;
        let held_again = after("over alignments ").map_or(held, |[held, _]| held);
        Some(Self {
            held,
            decided,
            held_again,
            not_tested,
        })
    }

    fn add(&mut self, other: Self) {
        self.held += other.held;
        self.decided += other.decided;
        self.held_again += other.held_again;
        self.not_tested += other.not_tested;
    }

    fn percent(self) -> f64 {
        f64::from(self.held) / f64::from(self.decided.max(1)) * 100.0
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder of reports");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

fn folder(paper: &str) -> PathBuf {
    project().join("reports").join(paper)
}

/// The committed score cards of a paper under its default reading, in the order of its
/// `paper.toml`, then what compares traces.
fn cards(paper: &str) -> Vec<(String, Count)> {
    let file = project().join("configs").join(paper).join("paper.toml");
    let text = fs::read_to_string(file).expect("a paper");
    let table: toml::Table = toml::from_str(&text).expect("TOML");
    let traces = table["trace"].as_array().expect("traces").iter();
    let traces = traces
        .filter_map(|trace| trace["name"].as_str())
        .chain(["both"]);
    let card = |trace: &str| {
        let path = folder(paper).join(trace).join("score-card.md");
        let page = fs::read_to_string(path).ok()?;
        let line = page.lines().find_map(|line| line.strip_prefix("**"));
        let count = line.and_then(Count::read);
        Some((
            trace.to_owned(),
            count.unwrap_or_else(|| panic!("{paper}/{trace}: {line:?}")),
        ))
    };
    traces.filter_map(card).collect()
}

fn papers() -> Vec<(String, Vec<(String, Count)>)> {
    let papers = names(&project().join("reports")).into_iter();
    let papers = papers.filter(|name| {
        project()
            .join("configs")
            .join(name)
            .join("paper.toml")
            .is_file()
    });
    papers
        .map(|paper| (paper.clone(), cards(&paper)))
        .filter(|(_, cards)| !cards.is_empty())
        .collect()
}

fn total(cards: &[(String, Count)]) -> Count {
    let mut all = Count::default();
    for (_, count) in cards {
        all.add(*count);
    }
    all
}

fn table() -> String {
    let mut rows =
        "| Paper | Published claims that hold | | By trace |\n|---|---|---|---|\n".to_owned();
    for (paper, cards) in papers() {
        let all = total(&cards);
        let page = match folder(&paper).join("index.md").exists() {
            true => "index.md",
            false => "",
        };
        let tenths = (all.percent() / 10.0).round() as usize;
        let bar = "■".repeat(tenths) + &"□".repeat(10 - tenths);
        let mut held = format!("{} of {} ({:.0} %)", all.held, all.decided, all.percent());
        if all.held_again != all.held {
            let percent = f64::from(all.held_again) / f64::from(all.decided) * 100.0;
            held += &format!(", over alignments {} ({percent:.0} %)", all.held_again);
        }
        let traces = cards.iter().map(|(trace, count)| {
            format!(
                "[{trace}](reports/{paper}/{trace}/score-card.md) {:.0} %",
                count.percent()
            )
        });
        let traces: Vec<String> = traces.collect();
        rows += &format!(
            "| [{paper}](reports/{paper}/{page}) | {held} | {bar} | {} |\n",
            traces.join(", ")
        );
    }
    rows
}

#[test]
fn the_readme_says_what_the_committed_score_cards_say() {
    const PAGE: &str = "README.md";
    let page = fs::read_to_string(project().join(PAGE)).expect("readable");
    let (begin, end) = ("<!-- what holds -->\n", "<!-- end of what holds -->\n");
    let (before, rest) = page.split_once(begin).expect("a table begins");
    let (_, after) = rest.split_once(end).expect("a table ends");
    let now = format!("{before}{begin}{}{end}{after}", table());
    assert_current(PAGE, &now, "what_holds");
}

#[test]
fn the_committed_pages_of_papers_say_what_their_score_cards_say() {
    let mut checked = 0;
    for (paper, cards) in papers() {
        let Ok(page) = fs::read_to_string(folder(&paper).join("index.md")) else {
            continue;
        };
        let all = total(&cards);
        let headline = format!(
            "**{} of the {} claims that could be checked hold",
            all.held, all.decided
        );
        assert!(page.contains(&headline), "{paper}: {headline}");
        let html = fs::read_to_string(folder(&paper).join("index.html")).expect("a page");
        assert!(html.contains(&headline[2..]), "{paper}: {headline}");
        let claims = fs::read(folder(&paper).join("claims.csv")).expect("claims");
        let mut claims = csv::Reader::from_reader(&claims[..]);
        let verdict = claims
            .headers()
            .expect("a header")
            .iter()
            .position(|key| key == "verdict");
        let verdict = verdict.expect("verdicts");
        let verdicts: Vec<String> = claims
            .records()
            .map(|row| row.expect("a row")[verdict].to_owned())
            .collect();
        let count = |word: &str| verdicts.iter().filter(|known| *known == word).count() as u32;
        assert_eq!(
            (count("held"), count("held") + count("missed")),
            (all.held, all.decided),
            "{paper}"
        );
        checked += 1;
    }
    assert!(checked > 0, "there are pages");
}

#[test]
fn both_forms_of_a_count_are_read() {
    let twice =
        Count::read("held 89 of 116 (77 %), over alignments 93 of 116 (80 %), 4 not tested.**");
    assert_eq!(
        twice,
        Some(Count {
            held: 89,
            decided: 116,
            held_again: 93,
            not_tested: 4
        })
    );
    let once = Count::read("3 held, 1 missed, 2 not tested.**");
    assert_eq!(
        once,
        Some(Count {
            held: 3,
            decided: 4,
            held_again: 3,
            not_tested: 2
        })
    );
    assert_eq!(Count::read("nothing"), None);
}

/// What git keeps below a folder; `None` where there is no git, or no repository.
fn kept(folder: &str) -> Option<Vec<String>> {
    let output = std::process::Command::new("git")
        .args(["ls-files", folder])
        .current_dir(project())
        .output()
        .ok()?;
    let listed = String::from_utf8(output.stdout).ok()?;
    let names: Vec<String> = listed.lines().map(str::to_owned).collect();
    (output.status.success() && !names.is_empty()).then_some(names)
}

/// The targets of the links of a page, HTML or Markdown.
fn links(page: &str, is_html: bool) -> Vec<&str> {
    let marks: &[(&str, char)] = if is_html {
        &[(" href=\"", '"'), (" src=\"", '"')]
    } else {
        &[("](", ')')]
    };
    let found = marks.iter().flat_map(|(begin, end)| {
        let parts = page.split(begin).skip(1);
        parts.filter_map(|rest| rest.split(*end).next())
    });
    found.collect()
}

/// `a/b/../c.md` without the dots.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn committed_reports_have_no_dead_link_and_stay_small() {
    let (Some(kept), Some(all)) = (kept("reports"), kept(".")) else {
        println!("skipped: no git repository");
        return;
    };
    let mut bytes = 0;
    let mut checked = 0;
    let mut dead = Vec::new();
    for name in &kept {
        let content = fs::read(project().join(name)).expect("readable");
        bytes += content.len();
        let is_html = name.ends_with(".html");
        if !is_html && !name.ends_with(".md") {
            continue;
        }
        let page = String::from_utf8(content).expect("text");
        for link in links(&page, is_html) {
            checked += 1;
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_there = match link.split_once('#') {
                Some(("", id)) => !is_html || page.contains(&format!(" id=\"{id}\"")),
                _ if link.starts_with("data:") || link.starts_with("https:") => true,
                other => {
                    let file = other.map_or(link, |(file, _)| file);
                    let file = without_dots(&format!("{folder}/{file}"));
                    all.iter()
                        .any(|known| *known == file || known.starts_with(&format!("{file}/")))
                }
            };
            if !is_there {
                dead.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
    assert!(checked > 100, "{checked}");
    assert!(bytes < 8_000_000, "{bytes} bytes of reports are committed");
}

#[test]
fn every_paper_has_a_committed_page_and_a_committed_report() {
    for paper in names(&project().join("configs")) {
        if !project()
            .join("configs")
            .join(&paper)
            .join("paper.toml")
            .is_file()
        {
            continue;
        }
        assert!(folder(&paper).join("index.html").is_file(), "{paper}");
        let entries = names(&folder(&paper)).into_iter();
        let reports =
            entries.filter(|trace| folder(&paper).join(trace).join("index.html").is_file());
        assert!(reports.count() > 0, "{paper}");
    }
}

#[test]
fn what_the_commands_of_the_readme_write_is_nothing_that_git_keeps() {
    if kept("README.md").is_none() {
        println!("skipped: no git repository");
        return;
    }
    for written in [
        "data/bookahead.db",
        "reports/quickstart/index.html",
        "reports/reproduced/birkenheuer2012/index.html",
        "reports/reproduced/birkenheuer2012/ctc/score-card.md",
    ] {
        let ignored = std::process::Command::new("git")
            .args(["check-ignore", "--quiet", written])
            .current_dir(project())
            .status()
            .expect("git is there");
        assert!(ignored.success(), "{written} would be committed");
    }
}
