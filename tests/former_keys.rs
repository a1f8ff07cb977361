//! One concept has one key: what the keys of all studies are called, and what becomes of the names
//! that they had before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use bookahead::studies::STUDIES;
use bookahead::sweep::keys::{FormerKey, Key, Keys};
use bookahead::sweep::{Experiment, ProblemKind, RewriteError, canonical_json, rewritten};
use rusqlite::Connection;

use crate::support::program::{output, program, text};

const KEYS: Keys = Keys::of(STUDIES);

/// Concepts that several studies have, with the one key of each.
const CONCEPTS: [(&str, &str); 5] = [
    ("the riskiest slot that is accepted", "acceptance.pof_max"),
    (
        "what a broken promise costs, in fees",
        "acceptance.penalty_ratio",
    ),
    ("how many clusters there are", "clusters.count"),
    ("what each cluster plans with", "clusters.policy"),
    ("what cost counts against time", "requests.alpha"),
];

/// Names that other studies might give to these concepts, as the last part of a key.
const OTHER_NAMES: [&str; 10] = [
    "pof_max",
    "pof_maximum",
    "penalty_ratio",
    "penalty",
    "clusters",
    "cluster_count",
    "sites",
    "policy",
    "alpha",
    "trade_off",
];

#[test]
fn every_concept_has_one_key_in_every_study() {
    for (concept, key) in CONCEPTS {
        assert!(KEYS.find(key).is_some(), "{concept}: {key}");
        let former: Vec<FormerKey> = KEYS.former().filter(|former| former.now == key).collect();
        assert!(!former.is_empty(), "{concept}: {key} took no other's place");
    }
    let one: BTreeSet<&str> = CONCEPTS.iter().map(|(_, key)| *key).collect();
    for key in KEYS.all() {
        let name = key.path.rsplit('.').next().expect("a name");
        assert!(
            one.contains(key.path) || !OTHER_NAMES.contains(&name),
            "`{}` is a second name of a concept, or a concept that is not listed here",
            key.path
        );
    }
}

/// The words of what a key is, in small letters.
fn words(key: &Key) -> String {
    key.about.trim_end_matches('.').to_lowercase()
}

#[test]
fn keys_of_two_tables_that_are_said_to_be_the_same_are_one_key() {
    // The same quantity of another thing each: of what fails and of what the planner believes.
    const OF_ANOTHER_THING: [&str; 2] = ["reliability.", "sites.more."];
    let is_of_another = |key: &&Key| {
        let mut tables = OF_ANOTHER_THING.iter();
        tables.any(|table| key.path.starts_with(table))
    };
    let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for key in KEYS.all().filter(|key| !is_of_another(key)) {
        said.entry(words(key)).or_default().push(key.path);
    }
    let table = |path: &str| path.rsplit_once('.').map(|(table, _)| table.to_owned());
    said.retain(|_, paths| paths.iter().any(|path| table(path) != table(paths[0])));
    assert_eq!(said, BTreeMap::new());
}

#[test]
fn a_key_that_several_studies_declare_has_one_type_in_all_of_them() {
    for key in KEYS.all() {
        for (study, declared) in KEYS.declared(key.path) {
            let one = (key.kind, key.element);
            assert_eq!(
                one,
                (declared.kind, declared.element),
                "{} {study:?}",
                key.path
            );
        }
    }
}

#[test]
fn no_former_name_is_a_key_and_every_one_leads_to_one() {
    let mut known = BTreeSet::new();
    for former in KEYS.former() {
        assert!(KEYS.find(former.was).is_none(), "{former:?}");
        assert!(KEYS.find(former.now).is_some(), "{former:?}");
        assert!(known.insert(former.was), "{former:?} stands twice");
    }
    assert!(known.len() >= 11, "{known:?}");
}

/// What a file needs beside one of these keys, and a value of the key.
fn around(former: FormerKey) -> (&'static str, &'static str) {
    const MARKET: &str = "[workload]\nmodel = \"lublin-feitelson\"\njobs = 900\nfresh = true\nnodes = 32\nbattery_jobs = 300\n\
                          load.each_battery = 2.0\n[scheduling]\nstrategy = \"market\"\n";
    const CLUSTERS: &str = "[workload]\nmodel = \"lublin-feitelson\"\njobs = 3000\nnodes = 64\nwhole_trace = true\n\
                            load.value = 0.8\n[scheduling]\nstrategy = \"co-reservation\"\n[clusters]\ncount = 3\ndays = 2\n\
                            [requests]\ncount = 10\n[broker]\nalgorithm = \"a5\"\n";
    const SITES: &str = "[workload]\nmodel = \"lublin-feitelson\"\njobs = 3000\nnodes = 64\nwhole_trace = true\n\
                         exact_estimates = true\n[scheduling]\nstrategy = \"provisioning\"\n[[sites.more]]\nnodes = 32\n";
    const REQUESTS: &str = "[workload]\nmodel = \"lublin-feitelson\"\njobs = 3000\nnodes = 64\nwhole_trace = true\n\
                            load.value = 0.8\n[scheduling]\nstrategy = \"replanning\"\n";
    let table = former.was.split('.').next().unwrap_or_default();
    let text = match table {
        "market" => MARKET,
        "risk" => CLUSTERS,
        "sites" | "provisioning" => SITES,
        "reservations" => REQUESTS,
        "workload" => "[scheduling]\nstrategy = \"fcfs\"\n",
        other => panic!("no file has [{other}]"),
    };
    let value = match former.now {
        "clusters.count" => "2",
        "clusters.policy" => "\"heuristic-planning\"",
        _ => "0.4",
    };
    (text, value)
}

/// Files that have a former key: below its table, dotted, between braces, on an axis, and on one
/// together with another.
fn files(former: FormerKey) -> Vec<String> {
    let (rest, value) = around(former);
    let (table, name) = former.was.rsplit_once('.').expect("a table and a name");
    let more = match former.was {
        "reservations.alpha" => "start = \"choice\"\n",
        "workload.target_load" | "workload.battery_load" => {
            "model = \"lublin-feitelson\"\njobs = 3000\nnodes = 64\nbattery_jobs = 300\n"
        }
        _ => "",
    };
    let head = "[experiment]\nname = \"it\"\n";
    let axes = format!(
        "[[axis]]\nkey = \"{}\" # varied\nvalues = [{value}]\n\n[[zip]]\nkeys = [\"workload.nodes\"]\nvalues = [[48], [64]]\n",
        former.was
    );
    let switch = match more {
        "" => String::new(),
        more => format!("[{table}]\n{more}"),
    };
    let mut files = vec![
        format!(
            "{head}{rest}\n# About the table.\n[{table}]\n{more}# About the key.\n{name} = {value} # as before\n"
        ),
        format!(
            "{table}.{name} = {value} # as before\n{}{head}{rest}",
            match more {
                "" => String::new(),
                more => more
                    .lines()
                    .map(|line| format!("{table}.{line}\n"))
                    .collect(),
            }
        ),
        format!("{head}{rest}{switch}\n{axes}"),
    ];
    if table != "sites" && more.lines().count() < 2 {
        let more = more.trim_end();
        let comma = if more.is_empty() { "" } else { ", " };
        files.push(format!(
            "{table} = {{ {name} = {value}{comma}{more} }}\n{head}{rest}"
        ));
    }
    // A table that the rest has by its header cannot be given by dots as well.
    files.retain(|file| toml::from_str::<toml::Table>(file).is_ok());
    files
}

fn parsed(text: &str) -> Result<Experiment, Vec<(ProblemKind, String)>> {
    Experiment::parse(STUDIES, "it.toml", text, None).map_err(|error| {
        let problems = error.problems().iter();
        problems
            .map(|problem| (problem.kind, problem.to_string()))
            .collect()
    })
}

#[test]
fn every_former_key_is_refused_with_its_place_and_what_to_write() {
    for former in KEYS.former() {
        for file in files(former) {
            let problems = parsed(&file).expect_err(&file);
            let own = problems
                .iter()
                .find(|(kind, _)| *kind == ProblemKind::FormerKey);
            let (_, said) = own.unwrap_or_else(|| panic!("{problems:?}\n{file}"));
            let varied = format!("\"{}\"", former.was);
            let name = former.was.rsplit('.').next().expect("a name");
            let given = format!("{name} = {}", around(former).1);
            let mut lines = file.lines();
            let line = lines.position(|line| line.contains(&varied) || line.contains(&given));
            let line = 1 + line.expect("the line of the key");
            for words in [
                format!("it.toml:{line}: `{}`", former.was),
                format!("`{}`", former.now),
                "check FILE --fix".to_owned(),
            ] {
                assert!(said.contains(&words), "{words}: {said}\n{file}");
            }
        }
    }
}

#[test]
fn every_file_with_a_former_key_is_rewritten_into_one_that_is_taken() {
    for former in KEYS.former() {
        for file in files(former) {
            let new = rewritten(KEYS, &file).unwrap_or_else(|error| panic!("{error}\n{file}"));
            assert!(!new.renamed.is_empty(), "{file}");
            assert!(
                new.renamed.iter().all(|renamed| renamed.key == former),
                "{file}"
            );
            parsed(&new.text).unwrap_or_else(|problems| panic!("{problems:?}\n{}", new.text));
            let comments = |text: &str| text.matches('#').count();
            assert_eq!(comments(&file), comments(&new.text), "{file}\n{}", new.text);
            let again = rewritten(KEYS, &new.text).expect("rewritten");
            assert_eq!((again.text, again.renamed), (new.text, Vec::new()));
        }
    }
}

fn text_of(file: &str) -> String {
    rewritten(KEYS, file)
        .unwrap_or_else(|error| panic!("{error}\n{file}"))
        .text
}

#[test]
fn a_key_takes_its_comments_along_and_everything_else_stays() {
    let before = "# The market.\n[market]\n# So many.\nclusters = 4 # few\nrule = \"random\"\n\n# What they risk.\npof_max = 0.3\n\n\
                  [[axis]]\nkey = 'market.penalty' # fees\nvalues = [1, 2]\n\n[[exclude]]\n\"market.penalty\" = 2\n";
    let after = "[clusters]\n# So many.\ncount = 4 # few\n\n[acceptance]\n# What they risk.\npof_max = 0.3\n\n# The market.\n[market]\n\
                 rule = \"random\"\n\n[[axis]]\nkey = \"acceptance.penalty_ratio\" # fees\nvalues = [1, 2]\n\n[[exclude]]\n\
                 \"acceptance.penalty_ratio\" = 2\n";
    assert_eq!(text_of(before), after);
}

#[test]
fn a_key_moves_to_the_end_of_a_table_that_the_file_has() {
    let before = "[acceptance] # of all\ntest = \"pof\"\n# the last\nsigmas = 2\n\n[risk]\nchoice = \"limit\"\npof_max = 0.3\n";
    let after = "[acceptance] # of all\ntest = \"pof\"\n# the last\nsigmas = 2\npof_max = 0.3\n\n[risk]\nchoice = \"limit\"\n";
    assert_eq!(text_of(before), after);
    let dotted = "acceptance.test = \"pof\"\n[risk]\npof_max = 0.3 # a third";
    let after = "acceptance.pof_max = 0.3 # a third\nacceptance.test = \"pof\"\n[risk]\n";
    assert_eq!(text_of(dotted), after);
    let braces = "acceptance = { test = \"pof\" }\n[risk]\npof_max = 0.3\n";
    let after = "acceptance = { pof_max = 0.3, test = \"pof\" }\n[risk]\n";
    assert_eq!(text_of(braces), after);
}

#[test]
fn a_key_that_moves_into_a_table_of_its_own_table_stays_on_its_line() {
    let before = "[workload]\n# Twice the machine.\ntarget_load = 2.0 # by estimates\nlaxity = 2\n";
    let after = "[workload]\n# Twice the machine.\nload.value = 2.0 # by estimates\nlaxity = 2\n";
    assert_eq!(text_of(before), after);
    let braces = "workload = { battery_load = 2.0, laxity = 2 }\n";
    let after = "workload = { load.each_battery = 2.0, laxity = 2 }\n";
    assert_eq!(text_of(braces), after);
}

#[test]
fn a_table_that_means_something_without_a_key_stays_and_one_that_an_axis_made_is_written() {
    assert_eq!(
        text_of("[risk]\npof_max = 0.3\n"),
        "[acceptance]\npof_max = 0.3\n\n[risk]\n"
    );
    let varied = "[broker]\nalgorithm = \"a5\"\n\n# How much.\n[[axis]]\nkey = \"risk.pof_max\"\nvalues = [0.1]\n";
    assert_eq!(
        text_of(varied),
        "[broker]\nalgorithm = \"a5\"\n\n[risk]\n\n# How much.\n[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.1]\n"
    );
    // Of a table that means nothing alone, the header goes with the last key, or becomes the new.
    let sites = "[sites]\ncount = 2\n[[sites.more]]\nnodes = 4\n";
    assert_eq!(
        text_of(sites),
        "[clusters]\ncount = 2\n\n[sites]\n[[sites.more]]\nnodes = 4\n"
    );
    let market = "[market]\nclusters = 2\n\n[failures]\nsource = \"generated\"\n";
    assert_eq!(
        text_of(market),
        "[clusters]\ncount = 2\n\n[failures]\nsource = \"generated\"\n"
    );
}

#[test]
fn a_file_that_gives_a_key_by_both_names_is_left_alone() {
    let both = "[acceptance]\npof_max = 0.1\n\n[risk]\npof_max = 0.3\n";
    let error = rewritten(KEYS, both).expect_err("both names");
    assert!(
        matches!(
            error,
            RewriteError::Taken {
                line: 5,
                other: 2,
                ..
            }
        ),
        "{error}"
    );
    let varied = "[risk]\npof_max = 0.3\n[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.1]\n";
    let error = rewritten(KEYS, varied).expect_err("both names").to_string();
    assert!(
        error.contains("line 2: `risk.pof_max` is `acceptance.pof_max` now, which line 4"),
        "{error}"
    );
    let excluded =
        "[[axis]]\nkey = \"risk.pof_max\"\nvalues = [0.1]\n[exclude.risk]\npof_max = 0.1\n";
    assert!(
        rewritten(KEYS, excluded).is_ok(),
        "no list of tables: nothing of it is a key"
    );
    let nested = "[[axis]]\nkey = \"risk.pof_max\"\nvalues = [0.1]\n[[exclude]]\n[exclude.risk]\npof_max = 0.1\n";
    let error = rewritten(KEYS, nested).expect_err("a table in an exclusion");
    assert!(
        matches!(error, RewriteError::ByHand { line: 6, .. }),
        "{error}"
    );
}

#[test]
fn check_rewrites_a_file_says_each_change_and_goes_on_to_check_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let former = KEYS.former_key("market.pof_max").expect("a former key");
    let file = files(former).remove(0);
    fs::write(folder.path().join("it.toml"), &file).expect("written");
    let check = |arguments: &[&str]| {
        let arguments = [&["check", "it.toml"], arguments].concat();
        let done = output(program(folder.path(), &arguments));
        (done.status.code(), text(&done.stderr))
    };
    let (code, said) = check(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--fix"), "{said}");
    let (code, said) = check(&["--fix"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains(": `market.pof_max` is `acceptance.pof_max` now"),
        "{said}"
    );
    let new = fs::read_to_string(folder.path().join("it.toml")).expect("readable");
    assert_eq!(new, text_of(&file));
    let (code, said) = check(&["--fix"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("nothing was changed"), "{said}");
    assert_eq!(
        new,
        fs::read_to_string(folder.path().join("it.toml")).expect("readable")
    );
}

/// A sweep over the penalty ratio of clusters that overbook.
fn ratios(values: &str) -> String {
    let former = KEYS.former_key("risk.penalty_ratio").expect("a former key");
    let (rest, _) = around(former);
    format!(
        "[experiment]\nname = \"it\"\n{rest}[risk]\n[[axis]]\nkey = \"acceptance.penalty_ratio\"\nvalues = {values}\n"
    )
}

#[test]
fn the_columns_of_points_follow_the_axis_and_runs_of_before_are_read_by_present_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let run = |name: &str| {
        fs::write(path.join("it.toml"), ratios("[0.5, 2.0]")).expect("written");
        let store = format!("{name}.db");
        let arguments = ["run", "it.toml", "--store", &store, "--no-report"];
        let done = output(program(path, &arguments));
        assert!(done.status.success(), "{}", text(&done.stderr));
    };
    run("new");
    run("old");
    // As it would be if it had been made by the name of its day.
    let old = Connection::open(path.join("old.db")).expect("a store");
    old.execute("UPDATE axis SET key = 'risk.penalty_ratio'", [])
        .expect("renamed");
    drop(old);
    for store in ["old.db", "new.db"] {
        let question = "SELECT penalty_ratio, acceptance_penalty_ratio, axes ->> '$.\"acceptance.penalty_ratio\"' FROM points";
        let arguments = ["sql", question, "--store", store, "--format", "csv"];
        let done = output(program(path, &arguments));
        assert!(done.status.success(), "{}", text(&done.stderr));
        let rows = text(&done.stdout);
        let rows: Vec<&str> = rows.lines().skip(1).collect();
        assert_eq!(rows, ["0.5,0.5,0.5", "2.0,2.0,2.0"], "{store}");
    }
    let by = [
        "compare",
        "old.db:it",
        "new.db:it",
        "--by",
        "risk.penalty_ratio",
        "--json",
    ];
    let done = output(program(path, &by));
    assert!(done.status.success(), "{}", text(&done.stderr));
    let compared: serde_json::Value = serde_json::from_str(&text(&done.stdout)).expect("JSON");
    assert_eq!(compared["pairs"], 2, "{compared}");
    assert_eq!(compared["axes_only_first"], serde_json::json!([]));
}

#[test]
fn keys_that_moved_leave_what_is_simulated_as_it_was() {
    // Written before there was one key for all of them.
    let spec = |text: &str| {
        let experiment = parsed(text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
        canonical_json(experiment.sweep.simulations.kind(0)).expect("JSON")
    };
    let market = KEYS.former_key("market.penalty").expect("a former key");
    let (rest, _) = around(market);
    let head = "[experiment]\nname = \"it\"\n";
    let found = spec(&format!(
        "{head}{rest}[acceptance]\npof_max = 0.3\npenalty_ratio = 1.5\n[clusters]\ncount = 5\n"
    ));
    for part in [r#""clusters":5"#, r#""maximum":0.3"#, r#""penalty":1.5"#] {
        assert!(found.contains(part), "{part}: {found}");
    }
    let defaults = spec(&format!("{head}{rest}"));
    for part in [r#""clusters":8"#, r#""maximum":0.2"#, r#""penalty":1.0"#] {
        assert!(defaults.contains(part), "{part}: {defaults}");
    }
}

#[test]
fn a_key_of_a_shared_table_is_refused_by_a_study_that_does_not_read_it() {
    let market = KEYS.former_key("market.penalty").expect("a former key");
    let (rest, _) = around(market);
    let head = "[experiment]\nname = \"it\"\n";
    let problems =
        parsed(&format!("{head}{rest}[clusters]\ncount = 2\ndays = 3\n")).expect_err("days");
    assert!(problems[0].1.contains("`clusters.days`"), "{problems:?}");
    let queue = "[workload]\nmodel = \"lublin-feitelson\"\njobs = 3000\nnodes = 64\nload.each_battery = 2.0\n[scheduling]\nstrategy = \"fcfs\"\n";
    let problems =
        parsed(&format!("{head}{queue}[clusters]\ncount = 2\n")).expect_err("no clusters");
    assert!(problems[0].1.contains("`clusters`"), "{problems:?}");
}
