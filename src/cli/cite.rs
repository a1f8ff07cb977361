//! `bookahead report RUN --cite`: what a paper about a run should cite, as BibTeX. It says what the
//! program, the store and the logs at hand know, and no more.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use super::report::{ReportArguments, printed};
use crate::cli::list::known_traces::known_log;
use crate::cli::reproduce::{Paper, paper_names};
use crate::cli::studies;
use crate::store::{RunSummary, Store, StoreError};
use crate::sweep::InputFolders;
use crate::workload::swf::{SwfReader, TraceFolder};
use bookahead_report::ReportError;
use bookahead_report::format::tex::text;

/// How this program wants to be cited: the file that other programs read, too.
const CITATION: &str = include_str!("../../CITATION.cff");

/// Prints the entries.
///
/// # Errors
///
/// When the store cannot be read, the run does not exist, or standard output cannot be written.
pub fn execute(arguments: &ReportArguments) -> Result<(), ReportError> {
    let store = Store::open_read_only(studies(), &arguments.store)?;
    let traces = TraceFolder {
        path: InputFolders::from_environment().traces,
        ..TraceFolder::default()
    };
    let run = store.run(&arguments.run)?;
    let text = bibliography(&store, &run, &traces, Path::new("."))?;
    printed(super::output::people().write_all(text.as_bytes()))
}

/// The entries of everything behind a run: the program, the paper that the experiment is of, and
/// the logs that it read. Papers are looked for below `root` and in the program.
///
/// # Errors
///
/// When the store cannot be read.
fn bibliography(
    store: &Store,
    run: &RunSummary,
    traces: &TraceFolder,
    root: &Path,
) -> Result<String, StoreError> {
    let commit =
        (run.program_commit.as_ref()).map_or_else(String::new, |commit| format!(" ({commit})"));
    let mut out = String::new();
    remark(
        &mut out,
        &format!(
            "Run {} of {}, by bookahead {}{commit}.",
            run.id.0, run.name, run.program_version
        ),
    );
    program(&mut out);
    match paper_of(run, root) {
        Some(paper) => of_paper(&mut out, &paper),
        None => remark(
            &mut out,
            "The experiment is none of a paper that this program knows.",
        ),
    }
    let inputs = store.inputs(run.id)?;
    if inputs.is_empty() {
        remark(&mut out, "The store does not say what the run read.");
    }
    let logs = logs(inputs.iter().map(|(source, _)| source.as_str()));
    if !logs.is_empty() {
        archive(&mut out);
    }
    for log in &logs {
        of_log(&mut out, log, traces);
    }
    Ok(out)
}

/// A line between entries, which BibTeX skips.
fn remark(out: &mut String, words: &str) {
    // At this sign an entry begins.
    let words = bookahead_core::printable::one_line(words).replace('@', "(at)");
    let _ = writeln!(out, "% {words}\n");
}

/// An entry; empty fields are left out. Titles keep their capitals.
fn entry(out: &mut String, kind: &str, key: &str, fields: &[(&str, &str)]) {
    let key = key.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() || letter == '.' => letter,
        _ => '-',
    });
    let _ = write!(out, "@{kind}{{{}", key.collect::<String>());
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        let value = match *name {
            "url" => (*value).to_owned(),
            "title" => format!("{{{}}}", text(value)),
            _ => text(value),
        };
        let _ = write!(out, ",\n  {name} = {{{value}}}");
    }
    out.push_str("\n}\n\n");
}

fn program(out: &mut String) {
    let author = cited("  - name").unwrap_or_default();
    // Braces: it is one name, not first and last ones.
    let fields = [
        ("title", cited("title").unwrap_or_default()),
        (
            "note",
            format!("Version {}", cited("version").unwrap_or_default()),
        ),
        ("version", cited("version").unwrap_or_default()),
    ];
    let _ = write!(
        out,
        "@misc{{bookahead,\n  author = {{{{{}}}}}",
        text(&author)
    );
    for (name, value) in fields {
        let _ = write!(out, ",\n  {name} = {{{{{}}}}}", text(&value));
    }
    out.push_str("\n}\n\n");
}

/// The first value of a key of the citation file, with its indentation.
fn cited(key: &str) -> Option<String> {
    let value = CITATION
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))?;
    Some(value.trim_matches('"').to_owned())
}

/// The paper that has this experiment: the same text, or one of the same name and description,
/// because a reading of the paper and other settings make another text, not another experiment.
fn paper_of(run: &RunSummary, root: &Path) -> Option<Paper> {
    let is_it = |text: &str| {
        let file: Option<toml::Table> = toml::from_str(text).ok();
        let experiment = file.as_ref().and_then(|file| file.get("experiment"));
        let is = |key: &str, value: &str| {
            let own = experiment.and_then(|experiment| experiment.get(key)?.as_str());
            !value.is_empty() && own.map(str::trim) == Some(value.trim())
        };
        text == run.configuration || is("name", &run.name) && is("description", &run.description)
    };
    paper_names(root).into_iter().find_map(|name| {
        let paper = Paper::read(root, &name).ok()?;
        let stems = paper.stems().ok()?;
        let mut files = stems
            .iter()
            .filter_map(|stem| paper.configuration(stem).ok());
        files.any(|file| is_it(&file.text)).then_some(paper)
    })
}

fn of_paper(out: &mut String, paper: &Paper) {
    let Some(citation) = &paper.citation else {
        // Authors, title, place and year in one, as its file has them.
        return entry(out, "misc", &paper.name, &[("title", &paper.title)]);
    };
    let (kind, venue) = citation.kind.bibtex();
    entry(
        out,
        kind,
        &paper.name,
        &[
            ("author", &citation.authors.join(" and ")),
            ("title", &citation.title),
            (venue, &citation.venue),
            ("year", &citation.year.to_string()),
        ],
    );
}

/// The names of the logs among what a run read, without `.swf`.
fn logs<'s>(inputs: impl Iterator<Item = &'s str>) -> BTreeSet<String> {
    inputs
        .filter_map(|source| source.strip_prefix("workload trace="))
        .filter_map(|source| source.split(';').next())
        .map(str::to_owned)
        .collect()
}

/// What the Parallel Workloads Archive asks for.
fn archive(out: &mut String) {
    entry(
        out,
        "article",
        "feitelson2014",
        &[
            (
                "author",
                "Dror G. Feitelson and Dan Tsafrir and David Krakov",
            ),
            (
                "title",
                "Experience with using the Parallel Workloads Archive",
            ),
            ("journal", "Journal of Parallel and Distributed Computing"),
            ("year", "2014"),
        ],
    );
}

/// A log: whom the header of the file at hand names, else what the catalogue says.
fn of_log(out: &mut String, log: &str, traces: &TraceFolder) {
    let known = known_log(log);
    let by_header = acknowledged(log, traces).map(|names| format!("acknowledge {names}"));
    let Some(terms) = by_header.or_else(|| known.as_ref()?.terms.clone()) else {
        return remark(
            out,
            &format!(
                "The log {log} is in no catalogue of this program, and no file of it at hand says whom to acknowledge \
                 (BOOKAHEAD_TRACES names the folder)."
            ),
        );
    };
    let page = known.and_then(|known| known.page).unwrap_or_default();
    entry(
        out,
        "misc",
        log,
        &[
            ("title", &format!("{log}.swf")),
            (
                "howpublished",
                if page.is_empty() {
                    ""
                } else {
                    "Parallel Workloads Archive"
                },
            ),
            ("url", &page),
            ("note", &terms),
        ],
    );
}

/// Whom the header of a log acknowledges, where its file is at hand.
fn acknowledged(log: &str, traces: &TraceFolder) -> Option<String> {
    let path = traces.find(&format!("{log}.swf")).ok()?;
    let mut reader = SwfReader::open(&path).ok()?;
    // The header ends where the first record begins.
    let _ = reader.next()?;
    let names = reader.header().all("Acknowledge");
    (!names.is_empty()).then(|| names.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[test]
    fn the_program_is_cited_with_its_title_authors_and_version() {
        let mut out = String::new();
        program(&mut out);
        assert_eq!(
            out,
            format!(
                "@misc{{bookahead,\n  author = {{{{The bookahead developers}}}},\n  \
                 title = {{{{bookahead: a laboratory for planning-based resource management}}}},\n  \
                 note = {{{{Version {VERSION}}}}},\n  version = {{{{{VERSION}}}}}\n}}\n\n"
            )
        );
    }

    #[test]
    fn logs_are_named_once_and_models_are_none() {
        let inputs = [
            "workload trace=CTC-SP2-1996-3.1-cln;nodes=430;whole seed=1",
            "workload trace=CTC-SP2-1996-3.1-cln;nodes=430;whole seed=2",
            "workload lublin-feitelson=100,nodes=8;nodes=8 seed=1",
            "failures {} of workload trace=other;nodes=1 seed=1 replication=0",
        ];
        let found: Vec<String> = logs(inputs.into_iter()).into_iter().collect();
        assert_eq!(found, ["CTC-SP2-1996-3.1-cln"]);
    }

    #[test]
    fn a_log_is_cited_by_the_header_at_hand_else_by_the_catalogue_else_not() {
        let folder = tempfile::tempdir().unwrap();
        let traces = TraceFolder::new(folder.path());
        let cited = |log: &str| {
            let mut out = String::new();
            of_log(&mut out, log, &traces);
            out
        };
        assert_eq!(
            cited("HPC2N-2002-2.2-cln"),
            "@misc{HPC2N-2002-2.2-cln,\n  title = {{HPC2N-2002-2.2-cln.swf}},\n  \
             howpublished = {Parallel Workloads Archive},\n  \
             url = {https://www.cs.huji.ac.il/labs/parallel/workload/l_hpc2n/},\n  \
             note = {acknowledge Ake Sandgren}\n}\n\n"
        );
        assert!(cited("mine").starts_with("% The log mine is in no catalogue"));
        let log = "; Acknowledge: Åke & others\n1 0 0 1 1 -1 -1 1 1 -1 1 1 1 -1 -1 -1 -1 -1\n";
        std::fs::write(folder.path().join("mine.swf"), log).unwrap();
        assert_eq!(
            cited("mine"),
            "@misc{mine,\n  title = {{mine.swf}},\n  note = {acknowledge \\r{A}ke \\& others}\n}\n\n"
        );
    }

    #[test]
    fn every_paper_of_the_program_is_cited_as_its_title_says() {
        let nowhere = tempfile::tempdir().unwrap();
        for name in paper_names(nowhere.path()) {
            let paper = Paper::read(nowhere.path(), &name).unwrap();
            let citation = paper.citation.as_ref().expect(&name);
            assert!(paper.title.contains(&citation.title), "{name}");
            assert!(paper.title.contains(&citation.year.to_string()), "{name}");
            for author in &citation.authors {
                let family = author.rsplit(' ').next().unwrap();
                assert!(paper.title.contains(family), "{name}: {author}");
            }
            let mut out = String::new();
            of_paper(&mut out, &paper);
            assert!(out.is_ascii() && out.contains("\n  year = {"), "{out}");
        }
    }

    #[test]
    fn nothing_in_a_remark_or_a_field_begins_an_entry_or_ends_one() {
        let mut out = String::new();
        remark(&mut out, "a\n@misc{b}");
        assert_eq!(out, "% a (at)misc{b}\n\n");
        out.clear();
        entry(
            &mut out,
            "misc",
            "a,b}",
            &[("title", "}{ 5 %"), ("note", "")],
        );
        assert_eq!(
            out,
            "@misc{a-b-,\n  title = {{\\textbraceright{}\\textbraceleft{} 5 \\%}}\n}\n\n"
        );
    }
}
