//! What people do with a store in the morning: list, show, compare, export, ask. The commands as
//! they are typed, on a store that the quick start made.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// A store with two runs: the quick start with few replications, and the same with other promises
/// without job outcomes.
struct Made {
    folder: tempfile::TempDir,
}

impl Made {
    fn store(&self) -> PathBuf {
        self.folder.path().join("store.db")
    }
}

fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text =
            std::fs::read_to_string(root.join("configs/quickstart.toml")).expect("it is there");
        let text = text.replace("replications = 8", "replications = 3");
        let other = text
            .replace(
                "condition_on_elapsed = true",
                "condition_on_elapsed = false",
            )
            .replace("[0.02, 0.05, 0.1, 0.2, 0.3, 0.5]", "[0.05, 0.2, 0.5, 0.7]");
        for (name, text, outcomes) in [("quick", &text, "all"), ("other", &other, "metrics")] {
            let file = folder.path().join(format!("{name}.toml"));
            std::fs::write(&file, text).expect("written");
            let output = program(folder.path())
                .args(["run", "--fresh", "--workers", "2"])
                .args(["--outcomes", outcomes, "--store"])
                .arg(folder.path().join("store.db"))
                .arg("--report")
                .arg(folder.path().join("report"))
                .arg(&file)
                .output()
                .expect("it starts");
            assert!(output.status.success(), "{output:?}");
        }
        Made { folder }
    })
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("bookahead"));
    command.current_dir(folder).env_remove("RUST_LOG");
    command
}

fn call(arguments: &[&str]) -> Output {
    let made = made();
    program(made.folder.path())
        .args(arguments)
        .arg("--store")
        .arg(made.store())
        .output()
        .expect("it starts")
}

fn text(arguments: &[&str]) -> String {
    let output = call(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn refused(arguments: &[&str]) -> String {
    let output = call(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(arguments)).expect("JSON")
}

#[test]
fn runs_are_listed_newest_first_with_what_became_of_them() {
    let lines = text(&["runs"]);
    let rows: Vec<&str> = lines.lines().skip(2).collect();
    assert_eq!(rows.len(), 2, "{lines}");
    assert!(rows[0].trim_start().starts_with("2 ") && rows[1].trim_start().starts_with("1 "));
    let runs = json(&["runs", "--json"]);
    assert_eq!(runs[1]["points_done"], 72);
    assert_eq!(runs[1]["points_missing"], 0);
    assert_eq!(runs[0]["state"], "done");
}

#[test]
fn a_run_is_shown_with_its_axes_and_a_point_with_its_dearest_jobs() {
    let shown = text(&["show", "1"]);
    assert!(
        shown.contains("72 of 72 points done, 0 failed, 0 missing"),
        "{shown}"
    );
    assert!(shown.contains("acceptance.pof_max: 0.02, 0.05"), "{shown}");
    assert_eq!(
        text(&["show", "1", "--points"])
            .lines()
            .filter(|line| line.contains(" done "))
            .count(),
        72
    );
    let point = json(&["show", "1", "--point", "53", "--jobs", "7", "--json"]);
    assert_eq!(point["strategy"], "comprehensive-overbooking");
    assert_eq!(point["axes"]["acceptance.pof_max"], 0.5);
    let penalties: Vec<f64> = point["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .map(|job| job["penalty"].as_f64().expect("a number"))
        .collect();
    assert_eq!(penalties.len(), 7);
    assert!(penalties[0] > 0.0 && penalties.is_sorted_by(|one, next| one >= next));
    // What `show` prints is what the view says.
    let gain = text(&[
        "sql",
        "--format",
        "csv",
        "SELECT gain FROM v_point WHERE run = 1 AND place = 53",
    ]);
    let gain: f64 = gain
        .lines()
        .nth(1)
        .expect("a row")
        .parse()
        .expect("a number");
    assert_eq!(point["metrics"]["gain"], gain);
}

/// Answers of the quick start with three replications, and of the same with one threshold alone.
#[test]
fn a_situation_is_answered_as_a_run_of_nothing_else_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let whole = std::fs::read_to_string(root.join("configs/quickstart.toml")).expect("it is there");
    let whole = whole.replace("replications = 8", "replications = 3");
    let alone = whole.replace("[0.02, 0.05, 0.1, 0.2, 0.3, 0.5]", "[0.2]");
    assert_ne!(whole, alone);
    let said = |arguments: &[&str]| {
        let mut command = program(folder.path());
        let output = command.args(arguments).output().expect("it starts");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    for (name, text) in [("whole.toml", &whole), ("alone.toml", &alone)] {
        std::fs::write(folder.path().join(name), text).expect("written");
        said(&["run", "--workers", "2", "--store", "store.db", name]);
    }
    let answer = |text: &str| -> Vec<String> {
        let lines = text.lines();
        let answers = lines.filter(|line| line.starts_with("Which ") || line.starts_with("How "));
        answers.map(str::to_owned).collect()
    };
    let there = said(&["show", "1", "--at", "pof_max=0.2", "--store", "store.db"]);
    assert!(
        there.starts_with("run 1 quickstart, at pof_max = 0.2\n"),
        "{there}"
    );
    let of_run = answer(&said(&["show", "2", "--store", "store.db"]));
    assert!(of_run.len() >= 2, "{of_run:?}");
    assert_eq!(answer(&there), of_run);
    assert_ne!(answer(&said(&["show", "1", "--store", "store.db"])), of_run);
    assert_eq!(
        there
            .lines()
            .filter(|line| line.contains("-planning  "))
            .count(),
        1,
        "{there}"
    );
}

#[test]
fn a_situation_that_a_run_does_not_have_is_refused_with_what_there_is() {
    let no_axis = refused(&["show", "1", "--at", "penalty_ratio=1"]);
    assert!(no_axis.contains("no axis `penalty_ratio`"), "{no_axis}");
    assert!(
        no_axis.contains("scheduling.strategy, acceptance.pof_max"),
        "{no_axis}"
    );
    let no_value = refused(&["show", "1", "--at", "pof_max=0.07"]);
    assert!(
        no_value.contains("no value 0.07; its values are: 0.02, 0.05, 0.1"),
        "{no_value}"
    );
    let twice = refused(&["show", "1", "--at", "pof_max=0.2", "--at", "pof_max=0.3"]);
    assert!(
        twice.contains("`acceptance.pof_max` is given twice"),
        "{twice}"
    );
}

#[test]
fn a_point_without_stored_jobs_says_what_to_type_and_an_unknown_one_what_there_is() {
    let output = call(&["show", "2", "--point", "0"]);
    assert!(output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("--outcomes all"),
        "{output:?}"
    );
    assert!(refused(&["show", "1", "--point", "72"]).contains("0 to 71"));
    assert!(refused(&["show", "9"]).contains("it has 2 (quickstart), 1 (quickstart)"));
}

#[test]
fn the_configuration_comes_back_as_it_was_read() {
    let file = made().folder.path().join("quick.toml");
    assert_eq!(
        text(&["show", "1", "--configuration"]),
        std::fs::read_to_string(file).expect("there")
    );
}

#[test]
fn a_comparison_pairs_points_and_its_differences_are_those_of_the_view() {
    let output = call(&["compare", "1", "2", "--exit-code", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    // Four strategies, the thresholds 0.05, 0.2 and 0.5 of both, three replications.
    assert_eq!(found["pairs"], 36);
    assert_eq!(found["unpaired_first"].as_array().map(Vec::len), Some(36));
    assert_eq!(found["unpaired_second"].as_array().map(Vec::len), Some(12));
    assert_eq!(found["same_results"], false);
    let changed: Vec<&str> = found["configuration"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        changed.contains(&"scheduling.condition_on_elapsed: true → false"),
        "{changed:?}"
    );
    let gain = found["differences"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|row| row["measure"] == "gain")
        .expect("the gain differs");
    assert_eq!(gain["replications"], 3);
    let unchanged = [
        "conservative-backfilling",
        "heuristic-overbooking",
        "heuristic-planning",
    ];
    assert_eq!(gain["unchanged_strategies"], serde_json::json!(unchanged));
    let asked = text(&[
        "sql",
        "--format",
        "csv",
        "SELECT avg(difference) FROM (SELECT DISTINCT a.identity, b.identity, b.gain - a.gain AS difference
         FROM v_point a JOIN v_point b ON a.axes = b.axes AND a.jobs_hash = b.jobs_hash
            AND a.failures_hash = b.failures_hash WHERE a.run = 1 AND b.run = 2
            AND a.strategy = 'comprehensive-overbooking')",
    ]);
    let asked: f64 = asked
        .lines()
        .nth(1)
        .expect("a row")
        .parse()
        .expect("a number");
    assert!((gain["difference"].as_f64().expect("a number") - asked).abs() < 1e-9);
    let same = call(&["compare", "1", "1", "--exit-code"]);
    assert_eq!(same.status.code(), Some(0));
    assert!(
        String::from_utf8_lossy(&same.stdout).contains("--fresh"),
        "{same:?}"
    );
}

#[test]
fn independent_runs_of_the_same_configuration_are_equal_bit_by_bit_and_a_moved_number_is_seen() {
    let made = made();
    let other = made.folder.path().join("again.db");
    let output = program(made.folder.path())
        .args(["run", "--outcomes", "metrics", "--store"])
        .arg(&other)
        .arg("--report")
        .arg(made.folder.path().join("again"))
        .arg(made.folder.path().join("quick.toml"))
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{output:?}");
    let other_run = format!("{}:1", other.display());
    let arguments = ["compare", "1", &other_run, "--exit-code"];
    let same = call(&arguments);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    let said = String::from_utf8_lossy(&same.stdout).into_owned();
    assert!(
        said.contains("the same, bit for bit, in every pair"),
        "{said}"
    );
    assert!(!said.contains("--fresh"), "{said}");
    // One node-second in one simulation.
    rusqlite::Connection::open(&other)
        .and_then(|store| {
            store.execute(
                "UPDATE simulation_metrics SET fees = fees + 1 WHERE simulation = 3",
                [],
            )
        })
        .expect("changed");
    let moved = call(&arguments);
    assert_eq!(moved.status.code(), Some(1), "{moved:?}");
    let said = String::from_utf8_lossy(&moved.stdout).into_owned();
    assert!(
        said.contains("THEY DIFFER in 3 of 41 measures: booked, fees, gain"),
        "{said}"
    );
}

#[test]
fn several_runs_are_compared_with_the_first_on_the_screen_as_json_and_as_a_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("page");
    let arguments = ["compare", "1", "2", "1", "--metric", "gain"];
    let shown = text(&[&arguments[..], &["--out", out.to_str().expect("UTF-8")]].concat());
    assert!(shown.contains("run 1 (quickstart") && shown.contains("and run 2 (quickstart"));
    assert_eq!(shown.matches("pairs of points").count(), 2, "{shown}");
    let found = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(found.as_array().map(Vec::len), Some(2));
    assert_eq!(found[0]["second"]["run"], 2);
    assert_eq!(found[1]["same_results"], true);
    assert_eq!(found[0]["differences"][0]["refused"], false);
    for file in [
        "index.html",
        "comparison.md",
        "tables/combinations.csv",
        "tables/differences.parquet",
    ] {
        assert!(out.join(file).exists(), "{file}");
    }
    let page = std::fs::read_to_string(out.join("index.html")).expect("a page");
    assert!(
        page.contains("per replication, averaged over")
            && page.contains("scheduling.condition_on_elapsed")
    );
    let wrong = refused(&["compare", "1", "gone.db:2"]);
    assert!(wrong.contains("there is no store `gone.db`"), "{wrong}");
}

#[test]
fn an_export_has_a_typed_column_for_each_axis_and_is_whole_or_not_there() {
    use parquet::basic::Type;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8").to_owned() + "/deep/";
    text(&["export", "1", "--format", "parquet", "--out", &out]);
    let file = std::fs::File::open(folder.path().join("deep/run-1-points.parquet")).expect("there");
    let reader = SerializedFileReader::new(file).expect("Parquet");
    let about = reader.metadata().file_metadata();
    assert_eq!(about.num_rows(), 72);
    let kind = |name: &str| {
        let columns = about.schema_descr().columns().iter();
        columns
            .filter(|column| column.name() == name)
            .map(|column| column.physical_type())
            .next()
    };
    assert_eq!(kind("acceptance.pof_max"), Some(Type::DOUBLE));
    assert_eq!(kind("scheduling.strategy"), Some(Type::BYTE_ARRAY));
    assert_eq!(kind("accepted"), Some(Type::INT64));
    assert_eq!(kind("gain"), Some(Type::DOUBLE));
    text(&[
        "export", "1", "--format", "parquet", "--what", "jobs", "--out", &out,
    ]);
    let file = std::fs::File::open(folder.path().join("deep/run-1-jobs.parquet")).expect("there");
    let rows = SerializedFileReader::new(file)
        .expect("Parquet")
        .metadata()
        .file_metadata()
        .num_rows();
    let jobs = text(&["sql", "--format", "csv", "SELECT count(*) FROM job_outcome"]);
    assert_eq!(jobs.lines().nth(1), Some(rows.to_string().as_str()));
    // In the order of simulations and jobs, without a sort: the rows of the CSV tell.
    let text = text(&[
        "export", "1", "--format", "csv", "--what", "jobs", "--out", "-",
    ]);
    let keys: Vec<(i64, i64)> = text
        .lines()
        .skip(1)
        .map(|line| {
            let mut fields = line
                .split(',')
                .map(|field| field.parse().expect("a number"));
            (
                fields.next().expect("simulation"),
                fields.next().expect("job"),
            )
        })
        .collect();
    assert!(keys.is_sorted() && keys.len() as i64 == rows);
    assert!(
        refused(&["export", "2", "--format", "csv", "--what", "jobs"]).contains("--outcomes all")
    );
    assert_eq!(
        std::fs::read_dir(folder.path().join("deep"))
            .expect("there")
            .count(),
        2
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_says_so() {
    let said = refused(&["export", "1", "--format", "csv", "--out", "/dev/full"]);
    assert!(said.contains("the disk of `/dev/full` is full"), "{said}");
}

#[test]
fn questions_that_would_write_are_refused_and_leave_the_store_as_it_was() {
    let made = made();
    let before = text(&[
        "sql",
        "--format",
        "csv",
        "SELECT count(*), max(id) FROM run",
    ]);
    for question in [
        "DELETE FROM run",
        "WITH a AS (SELECT 1) DELETE FROM run",
        "/* x */ UPDATE run SET name = 'x'",
        "-- x\nDROP TABLE run",
        "ATTACH 'evil.db' AS evil",
        "VACUUM INTO 'evil.db'",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 7",
        "CREATE TEMP TABLE t (a)",
        "SELECT load_extension('evil')",
    ] {
        let said = refused(&["sql", question]);
        assert!(said.contains("is refused"), "{question}: {said}");
    }
    assert!(refused(&["sql", "SELECT 1; DELETE FROM run"]).contains("one statement"));
    assert!(!made.folder.path().join("evil.db").exists());
    assert_eq!(
        text(&[
            "sql",
            "--format",
            "csv",
            "SELECT count(*), max(id) FROM run"
        ]),
        before
    );
}

#[test]
fn a_wrong_question_is_shown_with_the_place_and_near_names() {
    let said = refused(&["sql", "SELECT run,\n  gian FROM v_point"]);
    assert!(
        said.contains("line 2:   gian FROM v_point\n            ^"),
        "{said}"
    );
    assert!(
        said.contains("near names: ") && said.contains("gain"),
        "{said}"
    );
    assert!(refused(&["sql", "SELECT * FROM v_pointz"]).contains("near names: v_point"));
    // SQLite would take an unknown name in double quotes for a text.
    let said = refused(&["sql", "SELECT \"gian\" FROM v_point"]);
    assert!(
        said.contains("no such column") && said.contains("near names: ") && said.contains("gain"),
        "{said}"
    );
}

#[test]
fn answers_come_as_json_lines_csv_and_parquet_with_the_types_of_all_rows() {
    use parquet::basic::Type;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let question = "SELECT 1 AS n, NULL AS n, 'a,b' AS t UNION ALL SELECT 2, 0.5, 'c'";
    assert_eq!(
        text(&["sql", "--format", "json", question]),
        "{\"n\":1,\"n_2\":null,\"t\":\"a,b\"}\n{\"n\":2,\"n_2\":0.5,\"t\":\"c\"}\n"
    );
    assert_eq!(
        text(&["sql", "--format", "csv", question]),
        "n,n,t\n1,,\"a,b\"\n2,0.5,c\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("a.parquet");
    let path = out.to_str().expect("UTF-8");
    assert!(
        refused(&["sql", "--format", "parquet", "--out", path, question])
            .contains("two columns are called `n`")
    );
    assert!(!out.exists());
    let question = "SELECT 1 AS n, NULL AS m, 'x' AS t UNION ALL SELECT 2, 0.5, 3";
    text(&["sql", "--format", "parquet", "--out", path, question]);
    let reader =
        SerializedFileReader::new(std::fs::File::open(&out).expect("there")).expect("Parquet");
    let columns = reader
        .metadata()
        .file_metadata()
        .schema_descr()
        .columns()
        .to_vec();
    let kinds: Vec<Type> = columns
        .iter()
        .map(|column| column.physical_type())
        .collect();
    assert_eq!(kinds, [Type::INT64, Type::DOUBLE, Type::BYTE_ARRAY]);
}

#[test]
fn a_question_from_standard_input_whose_reader_has_seen_enough_ends_quietly() {
    let made = made();
    let mut child = program(made.folder.path())
        .args(["sql", "--format", "csv", "-", "--store"])
        .arg(made.store())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // Billions of rows: only a closed pipe ends this.
    let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), endless.as_bytes())
        .expect("written");
    let mut first = [0; 2];
    let mut out = child.stdout.take().expect("piped");
    std::io::Read::read_exact(&mut out, &mut first).expect("a header");
    drop(out);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(&first, b"i\n");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn tables_have_no_line_between_rows_and_are_whole_in_a_pipe() {
    let table = text(&["sql", "SELECT configuration AS long, run.id FROM run"]);
    assert_eq!(
        table.lines().filter(|line| line.contains('─')).count(),
        1,
        "{table}"
    );
    assert_eq!(table.lines().count(), 4);
    assert!(table.contains("heuristic-overbooking") && !table.contains('…'));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let made = made();
    let output = program(made.folder.path())
        .args(["completions", "bash"])
        .output()
        .expect("it starts");
    let script = String::from_utf8_lossy(&output.stdout);
    assert!(script.contains("COMPLETE=\"bash\""), "{script}");
    let pages = made.folder.path().join("man");
    let output = program(made.folder.path())
        .arg("man")
        .arg(&pages)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{output:?}");
    for page in [
        "bookahead.1",
        "bookahead-run.1",
        "bookahead-compare.1",
        "bookahead-sql.1",
    ] {
        assert!(pages.join(page).exists(), "{page}");
    }
    assert!(
        !pages.join("bookahead-help.1").exists(),
        "help repeats every page"
    );
    let help = program(made.folder.path())
        .arg("--help")
        .output()
        .expect("it starts");
    assert!(String::from_utf8_lossy(&help.stdout).contains("Exit codes: 0 done"));
}

/// The worked example of `docs/python.md`, where there is a Python with its packages.
#[test]
fn the_python_example_draws_its_curve() {
    let python = std::env::var("BOOKAHEAD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has = Command::new(&python)
        .args(["-c", "import polars, matplotlib"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !has {
        println!(
            "skipped: `{python}` has no polars and matplotlib; BOOKAHEAD_PYTHON names another one"
        );
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let points = folder.path().join("points.parquet");
    text(&[
        "export",
        "1",
        "--format",
        "parquet",
        "--out",
        points.to_str().expect("UTF-8"),
    ]);
    let curve = folder.path().join("curve.svg");
    let output = Command::new(&python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/curve.py"))
        .args([&made().store(), &points, &curve])
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{output:?}");
    let drawn = std::fs::read_to_string(&curve).expect("a curve");
    assert!(drawn.contains("<svg") && drawn.contains("heuristic-overbooking"));
    // The highest mean gain, as the store says it.
    let best = text(&[
        "sql",
        "--format",
        "csv",
        "SELECT printf('%.2f', max(gain)) FROM (SELECT avg(gain) AS gain FROM v_point WHERE run = 1 GROUP BY axes)",
    ]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains(best.lines().nth(1).expect("a row")),
        "{said} {best}"
    );
}
