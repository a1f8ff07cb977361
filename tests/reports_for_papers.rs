//! What `report` has for those who write papers: tables as LaTeX, figures as wide as a column, and
//! what to cite.

use std::fs;
use std::path::Path;

use crate::support::program::{folder, output, program, run, text};

/// What the program prints where nothing goes wrong.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = output(program(folder, arguments));
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The names of the files of a folder with this ending, without it, sorted.
fn stems(folder: &Path, ending: &str) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder");
    let names = files.map(|file| text(file.expect("a file").file_name().as_encoded_bytes()));
    let mut stems: Vec<String> = names
        .filter_map(|name| Some(name.strip_suffix(ending)?.to_owned()))
        .collect();
    stems.sort();
    stems
}

#[test]
fn a_report_has_its_tables_as_latex_and_its_figures_for_a_column_where_that_is_asked_for() {
    let folder = folder();
    let at = |name: &str| folder.path().join("small-report").join(name);
    assert!(run(folder.path(), "small", &[]).status().unwrap().success());
    let report = [
        "report",
        "1",
        "--store",
        "small.db",
        "--out",
        "small-report",
    ];
    let paper = ["--format", "latex", "--figure-width", "one-column"];
    let page = fs::read(at("index.html")).unwrap();
    printed(folder.path(), &[&report[..], &paper].concat());

    assert_eq!(fs::read(at("index.html")).unwrap(), page);
    let tables = stems(&at("tables"), ".tex");
    assert_eq!(tables, stems(&at("tables"), ".csv"));
    for name in &tables {
        let table = fs::read_to_string(at(&format!("tables/{name}.tex"))).unwrap();
        let (comments, body): (Vec<_>, Vec<_>) =
            table.lines().partition(|line| line.starts_with('%'));
        assert!(comments[0].starts_with("% \\usepackage{booktabs"), "{name}");
        let body = body.join("\n");
        assert!(body.is_ascii() && !body.contains("U+"), "{name}: {body}");
        for part in ["\\caption{", "\\label{tab:", "\\toprule", "\\midrule"] {
            assert!(body.contains(part), "{name}: {part}");
        }
        // As many columns in every row as its part of the table has.
        let mut columns = 0;
        for line in body.lines() {
            let kinds = line
                .strip_prefix("\\begin{tabular}{")
                .or_else(|| line.strip_prefix("\\begin{longtable}{"));
            if let Some(kinds) = kinds.and_then(|kinds| kinds.strip_suffix('}')) {
                columns = kinds.len();
            } else if line.contains(" & ") {
                assert_eq!(line.split(" & ").count(), columns, "{name}: {line}");
                assert!(line.ends_with(" \\\\"), "{name}: {line}");
            }
        }
        assert!(columns > 0, "{name}");
    }
    let best = fs::read_to_string(at("tables/best.tex")).unwrap();
    assert!(
        best.contains(" \\pm ") && best.contains("% SELECT"),
        "{best}"
    );
    for name in stems(&at("plots"), ".svg") {
        let figure = fs::read_to_string(at(&format!("plots/{name}.svg"))).unwrap();
        assert!(
            figure.contains(" width=\"336\"") && !figure.contains("dark"),
            "{name}"
        );
        let float = fs::read_to_string(at(&format!("plots/{name}.tex"))).unwrap();
        assert!(float.is_ascii() && !float.contains("U+"), "{float}");
        assert!(float.contains(&format!("]{{{name}.pdf}}")), "{float}");
        assert!(
            fs::read(at(&format!("plots/{name}.pdf")))
                .unwrap()
                .starts_with(b"%PDF-1.4")
        );
    }

    // The next report takes away what is no part of it.
    printed(folder.path(), &report);
    for (folder, ending) in [("tables", ".tex"), ("plots", ".tex"), ("plots", ".pdf")] {
        assert!(stems(&at(folder), ending).is_empty(), "{folder}, {ending}");
    }
}

/// The fonts of a PDF lack what they write as its number: `[U+4E16]`, or the same in hexadecimal
/// digits where another letter of the text is not ASCII.
#[test]
fn no_figure_of_any_study_has_a_character_that_a_pdf_has_no_letter_for() {
    let experiments = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goldens/experiments");
    let mut figures = 0;
    for name in stems(Path::new(experiments), ".toml") {
        let folder = folder();
        let file = format!("{experiments}/{name}.toml");
        fs::copy(file, folder.path().join("small.toml")).unwrap();
        assert!(run(folder.path(), "small", &[]).status().unwrap().success());
        let paper = ["report", "1", "--store", "small.db", "--out", "paper"];
        printed(
            folder.path(),
            &[&paper[..], &["--format", "latex"]].concat(),
        );
        let plots = folder.path().join("paper/plots");
        for figure in stems(&plots, ".pdf") {
            let page = fs::read(plots.join(format!("{figure}.pdf"))).unwrap();
            let page = text(&page);
            assert!(
                !page.contains("[U+") && !page.contains("5B552B"),
                "{name}: {figure}"
            );
            figures += 1;
        }
    }
    assert!(figures > 50, "{figures}");
}

#[test]
fn what_a_run_rests_on_is_cited_as_far_as_it_is_known() {
    let folder = folder();
    let root = folder.path();
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/importing/jobs.swf");
    let log = fs::read_to_string(log).unwrap();
    fs::write(
        root.join("jobs.swf"),
        format!("; Acknowledge: Ada & Grace\n{log}"),
    )
    .unwrap();
    let experiment = include_str!("importing/experiment.toml");
    fs::write(root.join("small.toml"), experiment).unwrap();
    printed(
        root,
        &["run", "small.toml", "--store", "small.db", "--no-report"],
    );
    let cite = ["report", "latest", "--store", "small.db", "--cite"];

    let cited = printed(root, &cite);
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        cited.contains(&format!("version = {{{{{version}}}}}")),
        "{cited}"
    );
    assert!(
        cited.contains("% The experiment is none of a paper"),
        "{cited}"
    );
    assert!(cited.contains("@article{feitelson2014,"), "{cited}");
    assert!(
        cited.contains("note = {acknowledge Ada \\& Grace}"),
        "{cited}"
    );
    assert!(!root.join("reports").exists());

    // The same experiment as one of a paper.
    let paper = root.join("configs/mine");
    fs::create_dir_all(&paper).unwrap();
    fs::write(paper.join("one.toml"), experiment).unwrap();
    let about = "title = \"A. Author: A_paper, 2020\"\n\n[citation]\nkind = \"conference\"\nauthors = [\"A. Author\", \"B. Other\"]\n\
                 title = \"A_paper\"\nvenue = \"A conference\"\nyear = 2020\n\n[[trace]]\nname = \"small\"\nsubject = \"a log\"\nruns = [\"one\"]\n";
    fs::write(paper.join("paper.toml"), about).unwrap();
    let entry = "@inproceedings{mine,\n  author = {A. Author and B. Other},\n  title = {{A\\_paper}},\n  \
                 booktitle = {A conference},\n  year = {2020}\n}\n";
    let cited = printed(root, &cite);
    assert!(cited.contains(entry), "{cited}");

    let refused = output(program(root, &[&cite[..], &["--json"]].concat()));
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn labels_of_a_file_stand_in_figures_and_latex_and_nowhere_else() {
    let folder = folder();
    let at = |name: &str| folder.path().join("small-report").join(name);
    assert!(run(folder.path(), "small", &[]).status().unwrap().success());
    let page = fs::read(at("index.html")).unwrap();
    let labels = |text: &str| fs::write(folder.path().join("labels.toml"), text).unwrap();
    let report = [
        "report",
        "1",
        "--store",
        "small.db",
        "--out",
        "small-report",
    ];
    let arguments = [
        &report[..],
        &["--format", "latex", "--labels", "labels.toml"],
    ]
    .concat();
    labels(
        "[labels]\n\"heuristic-overbooking\" = \"Heuristic (ours)\"\n\
         \"acceptance.pof_max\" = \"Threshold\"\n\"Strategy\" = \"Policy\"\n",
    );
    printed(folder.path(), &arguments);
    let read = |name: &str| fs::read_to_string(at(name)).unwrap();
    let figure = read("plots/gain-by-acceptance-pof-max.svg");
    assert!(
        figure.contains(">Threshold<") && figure.contains(">Heuristic (ours)<"),
        "{figure}"
    );
    assert!(!figure.contains(">acceptance.pof_max<"));
    let table = read("tables/best.tex");
    assert!(
        table.contains("Policy & ") && table.contains("Heuristic (ours) & "),
        "{table}"
    );
    assert!(read("tables/best.csv").contains("heuristic-overbooking"));
    assert!(read("plots/gain-by-acceptance-pof-max.csv").contains("heuristic-overbooking"));
    assert_eq!(fs::read(at("index.html")).unwrap(), page);

    let refused = |file: &str| {
        labels(file);
        let output = output(program(folder.path(), &arguments));
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        text(&output.stderr)
    };
    let unknown = refused("[labels]\n\"heuristic-overbokking\" = \"Ours\"\n");
    assert!(
        unknown.contains(
            "`labels.toml`: no figure and no table of the report has `heuristic-overbokking`; \
                          did you mean `heuristic-overbooking`?"
        ),
        "{unknown}"
    );
    assert!(refused("[labels\n").contains("it is no TOML: "));
}
