//! The rules of the project, held against the source: who may mention whom (`ARCHITECTURE.md`).

use bookahead::studies::STUDIES;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Every Rust file below `src/` that is compiled into the program, with its module (the first
/// folder or file name, below that of its crate) and its text without comments and without what is
/// compiled for tests alone.
fn sources() -> Vec<(PathBuf, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let mut parsed = BTreeMap::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a source file");
        let file = syn::parse_file(&text).expect("a source file that compiles");
        parsed.insert(path, (text, file));
    }
    let mut tests = TestCode::default();
    for (path, (_, file)) in &parsed {
        tests.file.clone_from(path);
        tests.visit_file(file);
    }
    let testutils = root.join("testutils");
    let is_program = |path: &Path| {
        !path.starts_with(&testutils) && !tests.files.iter().any(|test| path.starts_with(test))
    };
    parsed
        .iter()
        .filter(|(path, _)| is_program(&path.with_extension("")))
        .map(|(path, (text, _))| {
            let inside = path.strip_prefix(&root).expect("below src").to_owned();
            let module = names_of(&inside)[crate_of(&inside).1..][0].clone();
            let spans = tests.lines.get(path).map_or(&[][..], Vec::as_slice);
            let code: Vec<&str> = (1..)
                .zip(text.lines())
                .filter(|(number, _)| !spans.iter().any(|span| span.contains(number)))
                .map(|(_, line)| line)
                .filter(|line| !line.trim_start().starts_with("//"))
                .collect();
            (inside, module, code.join("\n"))
        })
        .collect()
}

/// The names on the way to a file below `src/`, without its ending.
fn names_of(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    path.components()
        .map(|name| name.as_os_str().to_string_lossy().into_owned())
        .collect()
}

/// The folder of the crate of a file below `src/` (none for the program itself), and how many names
/// it has.
fn crate_of(path: &Path) -> (&'static str, usize) {
    let folders = CRATES.iter().map(|(folder, _)| *folder);
    folders
        .filter(|folder| !folder.is_empty() && path.starts_with(folder))
        .map(|folder| (folder, Path::new(folder).components().count()))
        .max_by_key(|(_, names)| *names)
        .unwrap_or_default()
}

/// The crates of the families.
const FAMILIES: [&str; 5] = ["overbooking", "reservations", "queues", "grid", "workflows"];

fn is_family(folder: &str) -> bool {
    let name = folder.strip_prefix("studies/");
    name.is_some_and(|name| FAMILIES.contains(&name))
}

/// Whether a file is of the domain: of the core, or the machine or the policies of a study. What of
/// a study reads experiments, runs them, stores and shows is in its module `study`; machine files
/// are read beside it.
fn is_domain(path: &Path) -> bool {
    let of_laboratory = ["study", "machines"];
    let names = names_of(path);
    let (folder, _) = crate_of(path);
    let is_pure = !names
        .iter()
        .any(|name| of_laboratory.contains(&name.as_str()));
    folder == "core" || is_family(folder) && is_pure
}

/// The dependencies that a crate of this project names.
fn dependencies(folder: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let named = manifest["dependencies"].as_table().expect("a table");
    named.keys().cloned().collect()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder of the project")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// What is compiled for tests alone.
#[derive(Default)]
struct TestCode {
    /// The file that is looked at.
    file: PathBuf,
    /// Lines of files, from the attribute to the end of the item.
    lines: BTreeMap<PathBuf, Vec<RangeInclusive<usize>>>,
    /// Files and folders of whole modules, without the ending.
    files: BTreeSet<PathBuf>,
}

impl TestCode {
    fn note(&mut self, attributes: &[syn::Attribute], item: &impl Spanned) -> bool {
        let is_test = |attribute: &syn::Attribute| {
            let text = attribute.meta.to_token_stream().to_string();
            text == "cfg (test)"
        };
        let found = attributes.iter().any(is_test);
        if found {
            let span = item.span();
            let lines = span.start().line..=span.end().line;
            self.lines.entry(self.file.clone()).or_default().push(lines);
        }
        found
    }

    /// The file of a module that this file declares, without its ending.
    fn file_of(&self, module: &syn::ItemMod) -> PathBuf {
        let folder = self.file.parent().expect("a folder");
        let path = module.attrs.iter().find_map(|attribute| {
            let syn::Meta::NameValue(pair) = &attribute.meta else {
                return None;
            };
            let value = pair.value.to_token_stream().to_string();
            pair.path
                .is_ident("path")
                .then(|| value.trim_matches('"').to_owned())
        });
        if let Some(path) = path {
            return folder.join(path).with_extension("");
        }
        let stem = self.file.file_stem().expect("a name");
        let is_folder = ["mod", "lib", "main"].iter().any(|name| stem == *name);
        let folder = if is_folder {
            folder.to_owned()
        } else {
            folder.join(stem)
        };
        folder.join(module.ident.to_string())
    }
}

impl<'ast> Visit<'ast> for TestCode {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes: &[syn::Attribute] = match item {
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Enum(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Macro(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Static(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Trait(item) => &item.attrs,
            syn::Item::Type(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if self.note(attributes, item) {
            if let syn::Item::Mod(module) = item
                && module.content.is_none()
            {
                self.files.insert(self.file_of(module));
            }
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !self.note(&item.attrs, item) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.note(&field.attrs, field);
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if !self.note(&field.attrs, field) {
            visit::visit_field_value(self, field);
        }
    }
}

#[test]
fn code_behind_the_tests_of_a_file_and_beside_them_is_looked_at() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n\nfn c() {}\n#[cfg(test)]\nmod far;\n";
    let mut tests = TestCode {
        file: PathBuf::from("src/core/plan/profile.rs"),
        ..TestCode::default()
    };
    tests.visit_file(&syn::parse_file(text).expect("Rust"));
    let lines: Vec<_> = tests.lines.into_values().flatten().collect();
    assert_eq!(lines, [2..=5, 8..=9]);
    assert_eq!(
        tests.files,
        [PathBuf::from("src/core/plan/profile/far")].into()
    );
}

fn assert_only(word: &str, modules: &[&str]) {
    for (path, module, code) in sources() {
        assert!(
            modules.contains(&module.as_str()) || !code.contains(word),
            "{} mentions `{word}`, which only {modules:?} may",
            path.display()
        );
    }
}

/// Modules of the core that touch the system: files are written and memory is asked for.
const AT_THE_EDGE: [&str; 2] = ["memory", "output"];

#[test]
fn the_domain_is_built_without_actors_runtime_database_tables_or_command_line() {
    for word in ["tokio", "kameo", "rusqlite", "polars", "clap"] {
        assert!(!dependencies("core").contains(word), "{word}");
    }
    for (path, _, code) in sources().iter().filter(|(path, ..)| is_domain(path)) {
        for word in [
            "tokio",
            "kameo",
            "rusqlite",
            "bookahead_lab",
            "bookahead_report",
        ] {
            let name = path.display();
            assert!(!code.contains(word), "{name} mentions `{word}`");
        }
    }
    let without_tables = CRATES
        .iter()
        .filter(|(folder, _)| *folder == "lab" || is_family(folder) || *folder == "operators");
    for (folder, _) in without_tables {
        for word in ["polars", "clap"] {
            let named = dependencies(folder);
            assert!(
                !named.contains(word),
                "src/{folder}/Cargo.toml names `{word}`"
            );
        }
    }
}

#[test]
fn the_domain_reads_no_clock_no_environment_and_starts_no_thread() {
    for (path, module, code) in sources() {
        let is_edge = path.starts_with("core") && AT_THE_EDGE.contains(&module.as_str());
        if !is_domain(&path) || is_edge {
            continue;
        }
        for word in [
            "std::thread",
            "Instant::now",
            "SystemTime",
            "std::env",
            "rand::rng",
        ] {
            assert!(!code.contains(word), "{} mentions `{word}`", path.display());
        }
    }
}

#[test]
fn estimates_failures_and_plans_do_not_know_policies() {
    for (path, module, code) in sources() {
        if ["workload", "estimates", "failures", "plan"].contains(&module.as_str()) {
            assert!(
                !code.contains("crate::scheduling"),
                "{} knows policies",
                path.display()
            );
        }
    }
}

#[test]
fn only_the_store_holds_a_connection() {
    assert_only("Connection::open", &["store"]);
    for (path, module, code) in sources() {
        // Tables of a study write their rows through a connection that they are lent, and read
        // them by queries that the store carries out.
        let name = path.to_string_lossy();
        let of_study = name.contains("/study/tables") || name.contains("/study/stored");
        let is_measure = name.ends_with("/study/measures.rs");
        assert!(
            ["store", "tables"].contains(&module.as_str())
                || of_study
                || is_measure
                || !code.contains("rusqlite"),
            "{name} mentions rusqlite"
        );
    }
}

#[test]
fn only_reports_use_polars_and_only_the_command_line_parses_arguments() {
    assert_only("clap::", &["cli"]);
    for (path, _, code) in sources() {
        let name = path.to_string_lossy().replace('\\', "/");
        assert!(
            name.starts_with("report/frames") || !code.contains("polars::"),
            "{name} mentions polars"
        );
    }
}

#[test]
fn only_simulations_sweeps_and_the_writer_of_the_store_are_actors() {
    let places = [
        "lab/actors",
        "lab/sweep/actors",
        "lab/store/sweeps.rs",
        "lab/store/write.rs",
        "lab/store/writer_actor.rs",
    ];
    for (path, _, code) in sources() {
        let name = path.to_string_lossy();
        assert!(
            places.iter().any(|place| name.starts_with(place)) || !code.contains("kameo"),
            "{name} mentions kameo, which only {places:?} may"
        );
    }
}

#[test]
fn only_one_file_writes_to_the_terminal_and_one_opens_inputs() {
    let ways = ["io::stdout()", "io::stderr()", "println!(", "print!("];
    let openings = ["File::open(", "fs::read(", "fs::read_to_string("];
    // Bars that draw themselves; clap's own texts.
    let writers = ["cli/output.rs", "lab/sweep/progress.rs"];
    // Files of the system, and files that the program itself has written.
    let readers = [
        "core/workload/input_file.rs",
        "report/write/folder.rs",
        "lab/store/backup.rs",
        "lab/store/durability.rs",
        "lab/store/journal.rs",
        "lab/store/processes.rs",
        "cli/memory.rs",
        "cli/simulate/answer.rs",
        "cli/serve/guard.rs",
        "cli/submit/folder.rs",
    ];
    for (path, _, code) in sources() {
        let name = path.to_string_lossy().replace('\\', "/");
        let may = |files: &[&str]| files.iter().any(|file| name.ends_with(file));
        for way in ways.iter().filter(|_| !may(&writers)) {
            assert!(
                !code.contains(way),
                "{name} writes by `{way}`: `cli/output.rs` does"
            );
        }
        for opening in openings.iter().filter(|_| !may(&readers)) {
            let mut places = code.match_indices(opening);
            // `StoreFile::open` is another word.
            let is_word = |at: usize| !code[..at].ends_with(char::is_alphanumeric);
            assert!(
                !places.any(|(at, _)| is_word(at)),
                "{name} reads by `{opening}`: `input_file` does"
            );
        }
    }
}

/// Laboratory, reports and papers are handed the list of studies; the program uses machines and
/// policies of families for commands about single ones, and what a study is to the laboratory
/// nowhere.
#[test]
fn no_crate_but_the_list_and_those_built_on_it_tells_studies_apart() {
    for folder in ["core", "lab", "report", "papers", "operators"] {
        for name in dependencies(folder) {
            let family = name.strip_prefix("bookahead-").unwrap_or_default();
            let is_one = FAMILIES.contains(&family) || family == "studies";
            assert!(!is_one, "src/{folder}/Cargo.toml names {name}");
        }
    }
    for (path, _, code) in sources() {
        let name = path.to_string_lossy();
        if name.starts_with("cli") {
            for family in FAMILIES {
                let of_family = format!("bookahead_{family}::");
                let knows = code
                    .lines()
                    .any(|line| line.contains(&of_family) && line.contains("::study::"));
                assert!(!knows, "{name} knows a study");
            }
        }
    }
}

/// What a study is called is known to its folder; laboratory, reports and commands learn it from
/// the list and from the store.
#[test]
fn laboratory_reports_and_commands_name_no_study() {
    for (path, _, code) in sources() {
        let name = path.to_string_lossy();
        let is_general = ["lab/", "report/", "papers/", "cli"]
            .iter()
            .any(|folder| name.starts_with(folder));
        if !is_general {
            continue;
        }
        let names_one = code.replace("::STRATEGY_AXIS", "").contains("::STRATEGY");
        let may = name == "lab/study/erased.rs";
        assert!(may || !names_one, "{name} names a study");
        // A section of reports is called "slots", too, and a word of the glossary "co-reservation".
        let is_word = |study: &str| {
            study == "slots" || study == "co-reservation" && name == "report/glossary.rs"
        };
        for study in STUDIES
            .strategies()
            .map(|strategy| strategy.name)
            .filter(|study| !is_word(study))
        {
            assert!(
                !code.contains(&format!("\"{study}\"")),
                "{name} names {study}"
            );
        }
    }
}

#[test]
fn events_are_ordered_by_the_agenda_of_the_kernel() {
    let orders = [
        "BinaryHeap",
        "Set<(Seconds,",
        "Map<(Seconds,",
        "VecDeque<(Seconds,",
    ];
    let others = [
        // Which nodes become free last.
        "studies/queues/machine_queue/nodes.rs",
        // Tasks by their number.
        "core/workload/workflows/workflow.rs",
        // Which job of a user ended last before another one was submitted.
        "studies/overbooking/client/ties.rs",
    ];
    for (path, module, code) in sources() {
        let name = path.to_string_lossy().replace('\\', "/");
        if !is_domain(&path) || module == "kernel" {
            continue;
        }
        let has_own = orders.iter().any(|order| code.contains(order));
        let may = others.iter().any(|other| name.ends_with(other));
        assert!(
            has_own == may,
            "{name}: an order of events of its own (`kernel::Agenda` is one), or a stale exception"
        );
    }
}

/// The folder of each crate, and its modules: each may call those before it.
const CRATES: [(&str, &[&str]); 12] = [
    (
        "core",
        &[
            "units",
            "kernel",
            "printable",
            "random",
            "memory",
            "output",
            "workload",
            "predictions",
            "estimates",
            "failures",
            "plan",
            "scheduling",
        ],
    ),
    (
        "lab",
        &[
            "actors", "adaptive", "keys", "tables", "study", "sweep", "store",
        ],
    ),
    (
        "report",
        &[
            "glossary",
            "published",
            "statistics",
            "frames",
            "analysis",
            "figure",
            "sql",
            "table",
            "labels",
            "plots",
            "summary_tables",
            "svg",
            "answer",
            "calibration",
            "dependence",
            "format",
            "optimism",
            "variance",
            "folder_fault",
            "section",
            "rule",
            "situation",
            "views",
            "content",
            "trust",
            "inline",
            "write",
            "html",
            "comparison",
            "estimates",
            "gantt",
            "profile",
            "schedule_drawing",
            "workflow_drawing",
        ],
    ),
    (
        "studies/overbooking",
        &[
            "best_effort",
            "client",
            "policies",
            "registry",
            "direct",
            "stream",
            "study",
        ],
    ),
    (
        "studies/reservations",
        &[
            "selection",
            "packing",
            "replanning",
            "slots",
            "virtual_reservations",
        ],
    ),
    ("studies/queues", &["predicted_queue", "machine_queue"]),
    ("studies/grid", &["study", "co_reservation", "market"]),
    ("studies/workflows", &["provisioning"]),
    ("studies", &[]),
    ("papers", &["findings", "reproduction"]),
    (
        "operators",
        &["foreign", "advice", "weak_nodes", "proposals"],
    ),
    ("", &["cli"]),
];

/// The crates of this project on which each crate stands.
const STANDS_ON: [(&str, &[&str]); 12] = [
    ("core", &[]),
    ("lab", &["core"]),
    ("report", &["core", "lab"]),
    ("studies/overbooking", &["core", "lab", "report"]),
    ("studies/reservations", &["core", "lab", "report"]),
    ("studies/queues", &["core", "lab"]),
    // A broker delegates to clusters with registered policies.
    ("studies/grid", &["core", "lab", "report", "overbooking"]),
    // Applications buy slots of machines that take reservations.
    (
        "studies/workflows",
        &["core", "lab", "report", "reservations"],
    ),
    (
        "studies",
        &[
            "lab",
            "report",
            "overbooking",
            "reservations",
            "queues",
            "grid",
            "workflows",
        ],
    ),
    ("papers", &["core", "lab", "report"]),
    ("operators", &["core", "lab", "report"]),
    (
        "testutils",
        &["core", "lab", "overbooking", "grid", "workflows", "studies"],
    ),
];

#[test]
fn crates_stand_on_those_below_and_families_know_each_other_only_where_one_is_built_on_another() {
    let mut before: BTreeSet<&str> = BTreeSet::new();
    for (folder, below) in STANDS_ON {
        let named = dependencies(folder);
        let named: BTreeSet<&str> = named
            .iter()
            .filter_map(|name| name.strip_prefix("bookahead-"))
            .collect();
        let may: BTreeSet<&str> = below.iter().copied().collect();
        assert_eq!(named, may, "src/{folder}/Cargo.toml");
        assert!(
            may.is_subset(&before),
            "{folder} stands on what is above it"
        );
        before.insert(folder.rsplit('/').next().unwrap_or(folder));
    }
}

/// The program of a crate: its files, each with the names on the way to it.
fn program(folder: &str) -> Vec<(Vec<String>, String)> {
    let of_crate = sources().into_iter().filter_map(|(path, _, code)| {
        let (own, depth) = crate_of(&path);
        (own == folder).then(|| (names_of(&path).split_off(depth), code))
    });
    of_crate.collect()
}

/// The names that stand directly behind a path: one, or those in its braces.
fn behind<'c>(code: &'c str, path: &str) -> Vec<&'c str> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let places = code.match_indices(path).filter(|(at, _)| {
        let before = code[..*at].chars().next_back();
        !before.is_some_and(|letter| is_word(letter) || letter == ':')
    });
    let mut names = Vec::new();
    for (at, _) in places {
        let rest = &code[at + path.len()..];
        let end = match rest.strip_prefix('{') {
            Some(_) => rest.find(';').unwrap_or(rest.len()),
            None => rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()),
        };
        names.extend(rest[..end].split(|letter| !is_word(letter)));
    }
    names
}

#[test]
fn every_module_of_a_crate_calls_only_those_before_it() {
    for (folder, modules) in CRATES.iter().filter(|(_, modules)| !modules.is_empty()) {
        for (names, code) in program(folder) {
            let Some(own) = modules.iter().position(|module| *module == names[0]) else {
                assert!(
                    ["build", "lib", "main"].contains(&names[0].as_str()),
                    "{names:?} has no place"
                );
                continue;
            };
            for called in behind(&code, "crate::") {
                let place = modules.iter().position(|module| *module == called);
                assert!(
                    place.is_none_or(|place| place <= own),
                    "{folder}: {} calls `{called}`, which comes after it",
                    names.join("/")
                );
            }
        }
    }
}

/// Modules inside a module that call each other in a circle, and why. A new circle is a failure.
const CIRCLES: [(&str, &[&str]); 12] = [
    // A policy gives orders to the cluster that asks it.
    ("scheduling", &["cluster", "policy"]),
    // A rule of admission asks the plan that asks it.
    ("replanning", &["admission", "policy"]),
    // Entering pending simulations writes rows, and rows belong to runs.
    ("store", &["processes", "rows", "runs", "tables"]),
    // Shares are submitted, and what was submitted is listed with its runs.
    ("cli", &["run_list", "shares", "submit"]),
    // An estimate has an interval, and an interval is made of estimates.
    ("statistics", &["estimate", "interval"]),
    // Scores are read off counts, which are put together by score.
    ("calibration", &["counts", "scores"]),
    // Ticks are texts, and texts stand at ticks.
    ("svg", &["canvas", "marks", "scale"]),
    // What a comparison answers says how far to trust it.
    ("comparison", &["answer", "trust"]),
    // What differs between two runs decides which of their points are partners.
    (
        "comparison",
        &["pairs", "partners", "settings", "workloads"],
    ),
    // Each kind of check is judged by a part of the judge.
    ("findings", &["compare", "evaluate", "points", "trend"]),
    // A file has tables, whose cells are read and judged as findings are.
    ("findings", &["file", "tables", "verdict"]),
    // What is said of a queue says what ties it decides.
    ("advice", &["queue", "ties"]),
];

#[test]
fn modules_inside_a_module_call_each_other_in_no_new_circle() {
    for (folder, modules) in CRATES {
        let program = program(folder);
        for module in modules {
            let inside = program
                .iter()
                .filter(|(names, _)| names[0] == *module && names.len() > 1);
            let mut calls: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for (names, code) in inside {
                let own = names[1].as_str();
                // How far above a file its module is: `mod.rs` stands for its folder.
                let is_folder = names.last().is_some_and(|name| name == "mod");
                let above = "super::".repeat(names.len() - 1 - usize::from(is_folder));
                let called = calls.entry(own).or_default();
                for path in [format!("crate::{module}::"), above] {
                    if !path.is_empty() && own != "mod" {
                        called.extend(behind(code, &path).into_iter().filter(|name| *name != own));
                    }
                }
            }
            let reached = |from: &'_ str| {
                let mut reached: BTreeSet<&str> = BTreeSet::new();
                let mut next: Vec<&str> = calls[from].iter().copied().collect();
                while let Some(name) = next.pop() {
                    if calls.contains_key(name) && reached.insert(name) {
                        next.extend(&calls[name]);
                    }
                }
                reached
            };
            let all: BTreeMap<&str, BTreeSet<&str>> =
                calls.keys().map(|name| (*name, reached(name))).collect();
            for (one, from_one) in &all {
                for other in from_one.iter().filter(|other| all[*other].contains(one)) {
                    let is_known = CIRCLES.iter().any(|(of, circle)| {
                        of == module && circle.contains(one) && circle.contains(other)
                    });
                    assert!(
                        is_known || one == other,
                        "{module}: `{one}` and `{other}` call each other"
                    );
                }
            }
        }
    }
}

#[test]
fn no_source_file_is_longer_than_five_hundred_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    for path in files {
        let text = fs::read_to_string(&path).expect("a source file");
        let lines = text.lines().count();
        assert!(lines <= 500, "{} has {lines} lines", path.display());
    }
}

#[test]
fn no_two_siblings_are_one_letter_apart() {
    let mut siblings: BTreeSet<PathBuf> = BTreeSet::new();
    let mut files = Vec::new();
    rust_files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut files,
    );
    for file in &files {
        siblings.insert(file.with_extension(""));
        siblings.extend(file.parent().map(Path::to_owned));
    }
    for one in &siblings {
        let mut plural = one.clone().into_os_string();
        plural.push("s");
        let plural = PathBuf::from(plural);
        assert!(
            !siblings.contains(&plural),
            "{} and {}",
            one.display(),
            plural.display()
        );
    }
}

#[test]
fn no_folder_holds_more_than_forty_files() {
    let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut files = Vec::new();
    rust_files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut files,
    );
    for file in &files {
        let folder = file.parent().expect("a folder").to_owned();
        *counts.entry(folder).or_default() += 1;
    }
    assert!(counts.len() > 100, "{} folders", counts.len());
    for (folder, files) in counts {
        assert!(files <= 40, "{} holds {files} files", folder.display());
    }
}
