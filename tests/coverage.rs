//! What the five works describe, thing by thing: the page is made from the table beside it, and
//! whatever the table says works names keys, commands, pages, quantities and tests that exist.
//!
//! `BOOKAHEAD_PAGES=write cargo test --release coverage` writes the page again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use bookahead::studies::STUDIES;
use bookahead::sweep::keys::Keys;

use crate::support::pages::{assert_current, project};

const TABLE: &str = "docs/coverage.tsv";
const PAGE: &str = "docs/coverage.md";
const HEADS: &str = "work\tsection\tthing\tstate\twhere\tchecked_by\tnote";

/// The works: their names in the table, their headings on the page, and how many things of each
/// were found when it was read. The numbers hold that no thing gets lost.
const WORKS: [(&str, &str, usize); 5] = [
    (
        "Birkenheuer 2008",
        "Birkenheuer, Hovestadt, Kao and Voss 2008: overbooking",
        24,
    ),
    (
        "Heine 2005",
        "Heine, Hovestadt, Kao and Streit 2005: reservations",
        16,
    ),
    (
        "Birkenheuer 2012",
        "Birkenheuer 2012: overbooking, risk and markets",
        91,
    ),
    ("Singh 2008", "Singh 2008: slots, prices and workflows", 58),
    ("Meltzer 2005", "Meltzer 2005: co-reservations", 62),
];

/// States, with the heading of their column.
const STATES: [(&str, &str); 4] = [
    ("works", "Works"),
    ("part", "In part"),
    ("absent", "Absent"),
    ("out of scope", "Out of scope"),
];

/// Where tests and experiments are.
const CHECKS: [&str; 4] = ["tests/", "src/", "benches/", "configs/"];

fn read(name: &str) -> String {
    fs::read_to_string(project().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A thing that a work describes.
struct Row {
    /// Its line in the table, for messages.
    line: usize,
    work: String,
    section: String,
    thing: String,
    state: String,
    /// What of the program it is.
    place: String,
    checked_by: String,
    note: String,
}

impl Row {
    fn is_built(&self) -> bool {
        matches!(self.state.as_str(), "works" | "part")
    }

    /// What is wrong with it, with where it stands.
    fn wrong(&self, what: &str) -> String {
        format!(
            "{TABLE}:{}: {} {}, \"{}\": {what}",
            self.line, self.work, self.section, self.thing
        )
    }
}

fn rows() -> Vec<Row> {
    let text = read(TABLE);
    let mut lines = (1..).zip(text.lines());
    let (_, heads) = lines.next().expect("a head");
    assert_eq!(heads, HEADS, "the head of {TABLE}");
    let rows = lines.map(|(line, text)| {
        let cells: Vec<String> = text.split('\t').map(ToOwned::to_owned).collect();
        let count = cells.len();
        let cells: [String; 7] = cells.try_into().unwrap_or_else(|_| {
            panic!("{TABLE}:{line}: {count} cells between tabs, and not seven: {HEADS}")
        });
        let [work, section, thing, state, place, checked_by, note] = cells;
        Row {
            line,
            work,
            section,
            thing,
            state,
            place,
            checked_by,
            note,
        }
    });
    rows.collect()
}

/// What stands in backticks.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// What names may lead to, besides files.
struct Known {
    keys: Keys,
    configuration: String,
    help: String,
    strategies: String,
    /// Quantities, columns, tables and views.
    schema: BTreeSet<String>,
}

impl Known {
    fn read() -> Self {
        let schema = read("docs/schema.md");
        let first_cells = schema.lines().filter(|line| line.starts_with("| `"));
        let first_cells = first_cells.filter_map(|line| line.split(" | ").next());
        let headings = schema.lines().filter(|line| line.starts_with("### `"));
        let known = first_cells.chain(headings).flat_map(names);
        Self {
            keys: Keys::of(STUDIES),
            configuration: read("docs/configuration.md"),
            help: read("tests/goldens/help.txt"),
            strategies: read("docs/strategies.md"),
            schema: known.map(ToOwned::to_owned).collect(),
        }
    }

    /// Why a name leads to nothing, if it does.
    fn fault(&self, name: &str) -> Option<String> {
        if let Some(words) = name.strip_prefix("bookahead ") {
            return self.fault_of_command(words);
        }
        if let Some(table) = name.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            let is_known = !self.keys.children(table).is_empty();
            return (!is_known).then(|| format!("no table of keys is called {table}"));
        }
        if let Some((key, value)) = name.split_once(" = ") {
            return self.fault_of_value(key, value);
        }
        if name.contains('/') {
            return fault_of_file(name);
        }
        if name.contains('.') {
            let is_known = self.keys.find(name).is_some();
            return (!is_known).then(|| {
                "no key is called so (docs/configuration.md; `bookahead check --fix` knows what \
                 took the place of a former one)"
                    .to_owned()
            });
        }
        let is_strategy = self.strategies.contains(&format!("\n### {name}\n"));
        (!is_strategy && !self.schema.contains(name)).then(|| {
            "no strategy (docs/strategies.md) and no quantity or table (docs/schema.md) is called \
             so"
            .to_owned()
        })
    }

    /// Of a command with its flags, as `run --time-decisions`.
    fn fault_of_command(&self, words: &str) -> Option<String> {
        let (flags, command): (Vec<&str>, Vec<&str>) =
            words.split(' ').partition(|word| word.starts_with("--"));
        let head = format!("$ bookahead {} --help\n", command.join(" "));
        let Some((_, help)) = self.help.split_once(&head) else {
            return Some("no command is called so (docs/commands.md)".to_owned());
        };
        let help = help.split("\n$ bookahead ").next().unwrap_or_default();
        let unknown = flags
            .iter()
            .find(|flag| !help.split_whitespace().any(|word| word == **flag));
        unknown.map(|flag| format!("the command has no {flag} (its --help)"))
    }

    /// Of a key with a value, as `admission.rule = "move"`.
    fn fault_of_value(&self, key: &str, value: &str) -> Option<String> {
        if self.keys.find(key).is_none() {
            return Some(format!("no key is called {key} (docs/configuration.md)"));
        }
        let head = format!("| `{key}` |");
        let row = (self.configuration.lines()).find(|line| line.starts_with(&head));
        let is_allowed = row.is_some_and(|row| row.contains(value));
        (!is_allowed).then(|| format!("{value} is no value of {key} (docs/configuration.md)"))
    }
}

/// Of a file, with a function (`tests/keys.rs::name`) or a heading (`docs/model.md#heading`);
/// tests/links.rs looks for headings, as the page has links to them.
fn fault_of_file(name: &str) -> Option<String> {
    let (path, function) = name.split_once("::").unwrap_or((name, ""));
    let (path, _) = path.split_once('#').unwrap_or((path, ""));
    let file = project().join(path);
    if !file.exists() {
        return Some("there is no such file".to_owned());
    }
    if function.is_empty() {
        return None;
    }
    let text = fs::read_to_string(file).unwrap_or_default();
    let is_there = text.contains(&format!("fn {function}("));
    (!is_there).then(|| format!("{path} has no function {function}"))
}

#[test]
fn the_table_has_every_thing_of_each_work_once() {
    let rows = rows();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for row in &rows {
        *counts.entry(row.work.as_str()).or_default() += 1;
        let is_new = seen.insert((&row.work, &row.section, &row.thing));
        assert!(is_new, "{}", row.wrong("stands there twice: leave one"));
    }
    for (work, _, things) in WORKS {
        let found = counts.remove(work).unwrap_or_default();
        assert_eq!(
            found, things,
            "{TABLE} has {found} things of {work}: what a work describes does not go away, and what \
             is found in it later is counted in WORKS"
        );
    }
    assert!(counts.is_empty(), "works without a heading: {counts:?}");
    assert_eq!(rows.len(), 251);
}

#[test]
fn what_works_names_what_exists_and_what_is_missing_says_why() {
    let known = Known::read();
    let mut wrong = Vec::new();
    for row in rows() {
        if !STATES.iter().any(|(state, _)| *state == row.state) {
            wrong.push(row.wrong(&format!("{} is no state: {STATES:?}", row.state)));
        }
        let (places, checks) = (names(&row.place), names(&row.checked_by));
        if row.is_built() {
            if places.is_empty() {
                wrong.push(row.wrong(
                    "`where` has to name a key, command, strategy, quantity, page or test in \
                     backticks",
                ));
            }
            if checks.is_empty() {
                wrong.push(row.wrong(
                    "`checked_by` has to name a test (`file::function`) or an experiment in \
                     backticks",
                ));
            }
        } else if !row.place.is_empty() || !row.checked_by.is_empty() {
            wrong.push(row.wrong(
                "what is not there has no `where` and no `checked_by`: say in the note what is \
                 near it",
            ));
        }
        if row.state != "works" && row.note.is_empty() {
            wrong.push(row.wrong("the note has to say what is missing, or why it is"));
        }
        for name in &checks {
            if !CHECKS.iter().any(|folder| name.starts_with(folder)) {
                wrong.push(row.wrong(&format!("`{name}` is neither a test nor an experiment")));
            }
        }
        for name in places.iter().chain(&checks) {
            if let Some(why) = known.fault(name) {
                wrong.push(row.wrong(&format!("`{name}`: {why}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_that_lead_nowhere_are_found() {
    let known = Known::read();
    for name in [
        "bookahead run --time-decisions",
        "bookahead trace estimates",
        "[reservations]",
        "admission.rule = \"move\"",
        "workload.load.value",
        "docs/model.md#prices",
        "tests/coverage.rs::names_that_lead_nowhere_are_found",
        "market",
        "mean_wait",
        "v_co_probe",
    ] {
        assert_eq!(known.fault(name), None, "{name}");
    }
    for name in [
        "bookahead dream",
        "bookahead run --dream",
        "[dream]",
        "admission.rule = \"dream\"",
        "workload.target_load",
        "docs/dream.md",
        "tests/coverage.rs::dream",
        "dream",
    ] {
        assert!(known.fault(name).is_some(), "{name}");
    }
}

/// A cell of the page: pages of the manual are links, which tests/links.rs follows.
fn cell(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    let pieces = pieces.map(
        |(number, piece)| match (number % 2, piece.strip_prefix("docs/")) {
            (0, _) => piece.to_owned(),
            (_, Some(target)) => {
                let name = target.split('#').next().unwrap_or_default();
                format!("[{name}]({target})")
            }
            (_, None) => format!("`{piece}`"),
        },
    );
    pieces.collect()
}

/// How many of these rows are in each state, and how many there are.
fn counted<'r>(title: &str, rows: impl Iterator<Item = &'r Row>) -> String {
    let rows: Vec<&Row> = rows.collect();
    let mut line = format!("| {title} |");
    for (state, _) in STATES {
        let count = rows.iter().filter(|row| row.state == state).count();
        line.push_str(&format!(" {count} |"));
    }
    line.push_str(&format!(" {} |\n", rows.len()));
    line
}

/// The page before its tables. Where the works are named, links lead to them.
const INTRODUCTION: &str = "\
# What the works describe, and what of it works

The five works that this program began with, of those that are reproduced ([works.md](works.md)),
thing by thing in the order in which they describe them: what of it works, what it is called here,
and which test or experiment checks it. The page is made from the table
[coverage.tsv](coverage.tsv), which is easier to search and sort. A test holds that everything that
it names exists: keys ([configuration.md](configuration.md)), commands ([commands.md](commands.md)),
strategies ([strategies.md](strategies.md)), quantities and tables of a store
([schema.md](schema.md)), pages, tests and experiments. How well the numbers of the works are met is
on another page ([fidelity.md](fidelity.md)).

* **Works**: it can be run today, and something checks it.
* **In part**: the note says what is missing.
* **Absent**: the note says why, and what is nearest. \"Not built yet\" has no other reason than that
  nobody has built it.
* **Out of scope**: it is no part of a model of batch jobs, or there is nothing to build it from.

";

fn page(rows: &[Row]) -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("| Work |");
    for (_, heading) in STATES {
        page.push_str(&format!(" {heading} |"));
    }
    page.push_str(" All |\n|---|---:|---:|---:|---:|---:|\n");
    for (work, _, _) in WORKS {
        page.push_str(&counted(work, rows.iter().filter(|row| row.work == work)));
    }
    page.push_str(&counted("All", rows.iter()));
    for (work, title, _) in WORKS {
        page.push_str(&format!(
            "\n## {title}\n\n| Section | Thing | State | Where | Checked by | Note |\n\
             |---|---|---|---|---|---|\n"
        ));
        for row in rows.iter().filter(|row| row.work == work) {
            page.push_str(&format!(
                "| {} | {} | {} | {} | {} | {} |\n",
                row.section,
                row.thing,
                row.state,
                cell(&row.place),
                cell(&row.checked_by),
                cell(&row.note)
            ));
        }
    }
    page
}

#[test]
fn the_page_of_what_is_covered_is_made_from_its_table() {
    assert_current(PAGE, &page(&rows()), "coverage");
}
