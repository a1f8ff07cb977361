//! docs/json.md against what commands print: every field that they print has a row there, of its
//! type, and every row is a field that one of them prints.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::pages::project;
use crate::support::program::{output, program, text};

/// The rows of a section: field and type.
type Rows = Vec<(String, String)>;

/// Every section of the page: its heading without marks of code, whether it is a list, its rows.
fn sections() -> BTreeMap<String, (bool, Rows)> {
    let page = fs::read_to_string(project().join("docs/json.md")).expect("the page");
    let mut sections = BTreeMap::new();
    for part in page.split("\n## ").skip(1) {
        let (heading, body) = part.split_once('\n').expect("a body");
        let rows = body.lines().filter(|line| line.starts_with("| `"));
        let rows = rows.map(|row| {
            let mut cells = row.trim_matches('|').split(" | ").map(str::trim);
            let field = cells.next().unwrap_or_default().trim_matches('`');
            (
                field.to_owned(),
                cells.next().unwrap_or_default().to_owned(),
            )
        });
        let is_list = body.trim_start().starts_with("A list of objects.");
        let rows = rows.collect();
        sections.insert(heading.replace('`', ""), (is_list, rows));
    }
    sections
}

/// The rows of a section, where it has all fields of a run with these.
fn rows_of(sections: &BTreeMap<String, (bool, Rows)>, name: &str) -> Rows {
    let (_, rows) = sections
        .get(name)
        .unwrap_or_else(|| panic!("docs/json.md has no section `{name}`"));
    let mut all = Vec::new();
    for (field, kind) in rows {
        match field.strip_suffix('…') {
            Some(before) => {
                let (_, run) = &sections["A run"];
                let inner = run.iter();
                all.extend(inner.map(|(own, kind)| (format!("{before}{own}"), kind.clone())));
            }
            None => all.push((field.clone(), kind.clone())),
        }
    }
    all
}

/// Every field of a value by its path, with the types that it was seen with.
fn collect(value: &Value, path: &str, found: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "flag",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    if !path.is_empty() {
        found.entry(path.to_owned()).or_default().insert(kind);
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let inner = match path {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                collect(value, &inner, found);
            }
        }
        Value::Array(values) => {
            for value in values {
                collect(value, &format!("{path}[]"), found);
            }
        }
        _ => {}
    }
}

/// Whether a value of this kind is what the page says: `text`, `list of numbers or null`, `any`.
fn is_allowed(said: &str, kind: &str) -> bool {
    let (said, or_null) = match said.strip_suffix(" or null") {
        Some(said) => (said, true),
        None => (said, false),
    };
    said == "any" || kind == said || (or_null && kind == "null") || {
        let is_list = said.starts_with("list of ");
        is_list && kind == "list"
    }
}

/// What the page says of the elements of a list of this type.
fn element(said: &str) -> &str {
    let said = said.strip_suffix(" or null").unwrap_or(said);
    match said.strip_prefix("list of ") {
        Some("numbers") => "number",
        Some("objects") => "object",
        Some("text") => "text",
        // Of values and of lists: whatever they are.
        _ => "any",
    }
}

/// Whether a field lies below one of which the page says only that its fields are values of
/// something (`axes.*`), or that it may be anything.
fn is_within(rows: &Rows, path: &str) -> bool {
    rows.iter().any(|(field, kind)| {
        let below = match (field.strip_suffix('*'), kind.as_str()) {
            (Some(below), _) => below.to_owned(),
            (None, "any" | "list of lists" | "list of values") => format!("{field}["),
            _ => return false,
        };
        path.starts_with(&below)
    })
}

/// Holds what one command printed, in several situations, against its section.
fn hold(sections: &BTreeMap<String, (bool, Rows)>, name: &str, printed: &[Value]) {
    let rows = rows_of(sections, name);
    let mut found = BTreeMap::new();
    for value in printed {
        match value {
            Value::Array(objects) => objects
                .iter()
                .for_each(|object| collect(object, "", &mut found)),
            object => collect(object, "", &mut found),
        }
    }
    assert!(!found.is_empty(), "{name}: nothing was printed");
    let mut wrong = Vec::new();
    for (path, kinds) in &found {
        let said = rows.iter().find(|(field, _)| field == path);
        let of_list = path.strip_suffix("[]");
        let of_list = rows
            .iter()
            .find(|(field, _)| Some(field.as_str()) == of_list);
        let said = match (said, of_list) {
            (Some((_, kind)), _) => kind.as_str(),
            (None, Some((_, kind))) => element(kind),
            (None, None) if is_within(&rows, path) => continue,
            (None, None) => {
                wrong.push(format!("`{path}` ({kinds:?}) is printed and has no row"));
                continue;
            }
        };
        let others = kinds.iter().filter(|kind| !is_allowed(said, kind));
        wrong.extend(others.map(|kind| format!("`{path}` is {kind}, not {said}")));
    }
    let unseen = rows.iter().filter(|(field, _)| {
        // What is a name of something need not occur.
        !field.ends_with('*') && !found.contains_key(field)
    });
    wrong.extend(unseen.map(|(field, _)| format!("`{field}` has a row and is not printed")));
    let wrong = wrong.join("\n");
    assert!(wrong.is_empty(), "docs/json.md, {name}:\n{wrong}");
}

/// What the program prints, as JSON.
fn json(folder: &Path, command: &str) -> Value {
    let arguments: Vec<&str> = command.split(' ').chain(["--json"]).collect();
    let done = output(program(folder, &arguments));
    serde_json::from_slice(&done.stdout)
        .unwrap_or_else(|error| panic!("{command}: {error}: {}", text(&done.stderr)))
}

/// Calls the program for what it does.
fn call(folder: &Path, command: &str) {
    let arguments: Vec<&str> = command.split(' ').collect();
    let done = output(program(folder, &arguments));
    assert!(done.status.success(), "{command}: {}", text(&done.stderr));
}

/// Writes an experiment with these values of its axis and this rule.
fn write_study(folder: &Path, name: &str, rule: &str, values: &str) {
    let text = format!(
        "[experiment]\nname = \"small\"\nreplications = 3\n[workload]\nmodel = \"lublin-feitelson\"\njobs = 200\nnodes = 64\n\
         whole_trace = true\nload = {{ value = 0.9 }}\n[scheduling]\nstrategy = \"replanning\"\n[reservations]\n\
         origin = \"instead\"\nstart = \"choice\"\n[admission]\nrule = \"{rule}\"\n\
         [[axis]]\nkey = \"reservations.share_percent\"\nvalues = {values}\n"
    );
    fs::write(folder.join(name), text).expect("written");
}

#[test]
fn what_is_said_of_runs_is_what_the_page_says() {
    let sections = sections();
    let hold = |name: &str, printed: &[Value]| hold(&sections, name, printed);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    write_study(path, "a.toml", "holes", "[10, 30]");
    write_study(path, "b.toml", "move-price", "[10, 20]");
    fs::write(path.join("bad.toml"), "[experiment]\nname = 3\n[nothing]\n").expect("written");

    let run = |config: &str| format!("run {config} --quiet --store s.db");
    let runs = [
        json(path, &run("a.toml --time-decisions")),
        json(path, &run("b.toml --no-report")),
        json(path, &run("a.toml --no-report")),
    ];
    hold("bookahead run CONFIG --json", &runs);
    let wrong = ["run bad.toml --store s.db", "check bad.toml --store s.db"];
    hold(
        "bookahead run CONFIG --json and check CONFIG --json, where something is wrong",
        &wrong.map(|command| json(path, command)),
    );
    let points = json(path, "run a.toml --dry-run --store s.db");
    hold("bookahead run CONFIG --dry-run --json", &[points]);
    let checked = json(path, "check a.toml --store s.db");
    hold("bookahead check CONFIG --json", &[checked]);
    let checked = json(path, "check --store s.db");
    hold("bookahead check --store FILE --json", &[checked]);

    call(path, "runs tag 1 paper --store s.db");
    hold("bookahead runs --json", &[json(path, "runs --store s.db")]);
    let compared = [
        json(path, "compare 1 2 --store s.db"),
        json(path, "compare 1 2 3 --store s.db --metric gain"),
    ];
    hold("bookahead compare RUN RUN… --json", &compared);
    let best = json(path, "report 1 --store s.db --out page");
    hold("bookahead report RUN --json", &[best]);
    let point = json(path, "show 1 --point 0 --store s.db");
    hold("bookahead show RUN --point PLACE --json", &[point]);

    call(path, "runs delete 3 --yes --store s.db");
    let gone = json(path, "runs --gone --store s.db");
    hold("bookahead runs --gone --json", &[gone]);

    // As a panic would leave it.
    let store = rusqlite::Connection::open(path.join("s.db")).expect("a store");
    let failed = "UPDATE simulation SET state = 3, error = 'it panicked' WHERE id = 1";
    store.execute(failed, []).expect("written");
    fs::copy(
        project().join("tests/goldens/experiments/selection.toml"),
        path.join("selection.toml"),
    )
    .expect("a copy");
    call(
        path,
        "run selection.toml --quiet --no-report --store rule.db",
    );
    let shown = [
        "show 1 --store s.db",
        "show 1 --points --store s.db",
        "show 1 --store rule.db",
    ];
    hold(
        "bookahead show RUN --json",
        &shown.map(|command| json(path, command)),
    );

    fs::create_dir(path.join("shares")).expect("made");
    let share = "run a.toml --shard 1/2 --quiet --store shares/shard-1-of-2.db";
    call(path, share);
    fs::write(path.join("shares/shard-2-of-2.db"), "no store").expect("written");
    let shares = json(path, "runs --shards shares");
    hold("bookahead runs --shards DIR --json", &[shares]);
}

#[test]
fn what_is_said_of_inputs_and_schedules_is_what_the_page_says() {
    let sections = sections();
    let hold = |name: &str, printed: &[Value]| hold(&sections, name, printed);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    hold(
        "bookahead list strategies --json",
        &[json(path, "list strategies")],
    );
    hold("bookahead list traces --json", &[json(path, "list traces")]);

    call(
        path,
        "trace synthesize t.swf --model lublin-feitelson --jobs 300 --nodes 64",
    );
    let simulated = [
        json(path, "simulate t.swf --policy easy-backfilling --load 0.7"),
        json(
            path,
            "simulate t.swf --policy easy-backfilling --predictor average-of-two",
        ),
        json(
            path,
            "simulate t.swf --policy heuristic-planning --fixed-starts",
        ),
    ];
    hold("bookahead simulate TRACE --json", &simulated);
    hold(
        "bookahead trace info TRACE --json",
        &[json(path, "trace info t.swf")],
    );

    fs::write(path.join("m.toml"), crate::machines::MACHINE).expect("written");
    fs::write(path.join("m.swf"), crate::machines::TRACE).expect("written");
    let simulated = json(path, "simulate m.swf --machine m.toml");
    hold(
        "bookahead simulate TRACE --machine FILE --json",
        &[simulated],
    );

    let failures = "System,nodes,nodenumz,Prob Started,Prob Fixed,Hardware,Software\n\
        5,3,0,1/1/2000 9:00,1/1/2000 9:30,CPU,\n5,3,1,1/3/2000 9:30,1/3/2000 10:30,,Kernel\n\
        5,3,1,1/9/2000 9:50,1/9/2000 9:55,,\n5,3,2,3/9/2003 9:50,,,\n";
    fs::write(path.join("f.csv"), failures).expect("written");
    let analysed = json(path, "trace failures f.csv");
    hold("bookahead trace failures --json", &[analysed]);
    let weak = json(
        path,
        "trace failures f.csv --weak --factor 0.5 --probability 0.5",
    );
    hold("bookahead trace failures --weak --json", &[weak]);
    let proposed = json(path, "trace failures f.csv --propose --nodes 2 --hours 24");
    hold("bookahead trace failures --propose --json", &[proposed]);
    fs::write(path.join("jobs.toml"), crate::weak_nodes::JOBS).expect("written");
    json(path, "run jobs.toml --quiet --no-report --store jobs.db");
    let of_run = json(
        path,
        "trace failures f.csv --propose --run latest --point 1 --store jobs.db",
    );
    hold(
        "bookahead trace failures --propose --run RUN --json",
        &[of_run],
    );

    call(path, "workflow generate cyber-shake w.json");
    hold(
        "bookahead workflow info FILE --json",
        &[json(path, "workflow info w.json")],
    );
    let tasks =
        "<adag name=\"n\"><job id=\"A\" runtime=\"2\"/><job id=\"B\" runtime=\"3\"/></adag>";
    fs::write(path.join("n.xml"), tasks).expect("written");
    let scheduled = json(path, "workflow schedule n.xml --resources 2");
    hold("bookahead workflow schedule FILE --json", &[scheduled]);
}

#[test]
fn what_is_said_of_papers_is_what_the_page_says() {
    let sections = sections();
    let curves = crate::reproduce_curves::folder();
    let command = ["reproduce", "heine2005", "--workers", "2", "--json"];
    let mut called = program(curves.path(), &command);
    called.env("BOOKAHEAD_TRACES", curves.path().join("traces"));
    let printed = serde_json::from_slice(&output(called).stdout).expect("JSON");
    hold(&sections, "bookahead reproduce PAPER --json", &[printed]);
    let tables = crate::reproduce_readings::folder();
    let printed = json(
        tables.path(),
        "reproduce birkenheuer2012 --trace arminius --workers 2",
    );
    hold(
        &sections,
        "bookahead reproduce PAPER --json, of tables",
        &[printed],
    );
}

#[test]
fn every_command_that_prints_json_has_a_section() {
    let help = fs::read_to_string(project().join("tests/goldens/help.txt")).expect("the help");
    let sections = sections();
    let commands = help.split("$ bookahead ").skip(1).filter_map(|part| {
        let (command, words) = part.split_once('\n')?;
        let is_one = words.lines().any(|line| line.trim() == "--json");
        is_one.then(|| command.trim_end_matches(" --help"))
    });
    let mut count = 0;
    for command in commands {
        count += 1;
        let heading = format!("bookahead {command} ");
        let has = sections.keys().any(|name| name.starts_with(&heading));
        assert!(
            has,
            "docs/json.md says nothing of `bookahead {command} --json`"
        );
    }
    assert!(count > 12, "{count} commands with --json are in the help");
}

#[test]
fn every_command_that_prints_json_has_a_section_and_every_section_is_of_such_a_command() {
    let folder = tempfile::tempdir().expect("a folder");
    call(folder.path(), "man pages");
    let mut commands = BTreeSet::new();
    for page in fs::read_dir(folder.path().join("pages")).expect("pages") {
        let path = page.expect("a page").path();
        let page = fs::read_to_string(&path).expect("readable");
        if page.contains("\\-\\-json") {
            let name = path.file_stem().and_then(|name| name.to_str());
            commands.insert(name.expect("a name").replace('-', " "));
        }
    }
    assert!(commands.len() > 10, "{commands:?}");
    let sections = sections();
    let headings: Vec<&String> = sections.keys().filter(|name| *name != "A run").collect();
    for command in &commands {
        let is_of = |heading: &&&String| heading.starts_with(&format!("{command} "));
        let has_section = headings.iter().any(|heading| is_of(&heading));
        assert!(
            has_section,
            "docs/json.md has no section of `{command} --json`"
        );
    }
    for heading in headings {
        let is_of = |command: &String| heading.starts_with(&format!("{command} "));
        assert!(commands.iter().any(is_of), "`{heading}` is of no command");
    }
}
