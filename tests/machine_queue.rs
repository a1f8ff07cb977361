//! Machines as they are in sweeps: the schedule is that of `simulate --machine`, a changed file is
//! another machine, and clocks have to agree.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use crate::support::program::{folder, output, program, run, text};

const MACHINE: &str = r#"
name = "four nodes"
zone = "Europe/Berlin"
[[class]]
name = "node"
nodes = 4
[[partition]]
name = "short"
queues = ["quick"]
tier = 2
[[partition]]
name = "long"
default = true
"#;

/// The log began at 1711832400, a second before which there are windows in tests.
fn trace() -> String {
    let jobs = (1..=60).map(|number| {
        let (width, runtime, queue) = (1 + number % 4, 100 + 37 * (number % 7), 1 + number % 2);
        format!(
            "{number} {} {} {runtime} {width} -1 -1 {width} {} -1 1 {} 1 1 {queue} -1 -1 -1\n",
            40 * number,
            10 * (number % 9),
            2 * runtime,
            number % 3
        )
    });
    let header = "; MaxProcs: 4\n; UnixStartTime: 1711832400\n; Queue: 1 quick\n; Queue: 2 slow\n";
    header.to_owned() + &jobs.collect::<String>()
}

fn experiment(workload: &str, machine: &str) -> String {
    format!(
        "[experiment]\nname = \"small\"\n[workload]\ntrace = \"trace.swf\"\nnodes = 4\nwhole_trace = true\n{workload}\n\
         [scheduling]\nstrategy = \"machine-queue\"\n[machine]\nfile = \"machine.toml\"\n{machine}"
    )
}

fn with_files(workload: &str, machine: &str) -> tempfile::TempDir {
    let place = folder();
    let write = |name: &str, text: &str| {
        fs::write(place.path().join(name), text).expect("a writable folder");
    };
    write("trace.swf", &trace());
    write("machine.toml", MACHINE);
    write("small.toml", &experiment(workload, machine));
    place
}

fn done(place: &Path) -> Connection {
    let said = output(run(place, "small", &["--outcomes", "all"]));
    assert!(said.status.success(), "{}", text(&said.stderr));
    Connection::open(place.join("small.db")).expect("a store")
}

fn refused(place: &Path) -> String {
    let said = output(run(place, "small", &[]));
    assert!(!said.status.success(), "{}", text(&said.stdout));
    text(&said.stderr)
}

fn number(store: &Connection, question: &str) -> f64 {
    let question = format!("SELECT CAST(({question}) AS REAL)");
    let found: rusqlite::Result<f64> = store.query_row(&question, [], |row| row.get(0));
    found.unwrap_or_else(|error| panic!("{question}: {error}"))
}

fn measure(store: &Connection, name: &str) -> f64 {
    number(
        store,
        &format!("SELECT avg(value) FROM v_measure WHERE measure = '{name}'"),
    )
}

#[test]
fn a_sweep_has_the_schedule_of_simulate_and_keeps_it() {
    let place = with_files("origin = \"log\"", "");
    let store = done(place.path());
    let said = output(program(
        place.path(),
        &[
            "simulate",
            "trace.swf",
            "--machine",
            "machine.toml",
            "--json",
        ],
    ));
    let answer: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    let close = |one: f64, other: &Value| {
        let other = other.as_f64().expect("a number");
        assert!((one - other).abs() < 1e-9, "{one} and {other}");
    };
    close(
        60.0 * measure(&store, "queue_wait_minutes"),
        &answer["all"]["mean_wait_seconds"],
    );
    let against = &answer["against_log"][0];
    close(
        60.0 * measure(&store, "recorded_wait_minutes"),
        &against["recorded_wait_seconds"]["mean"],
    );
    close(
        60.0 * measure(&store, "wait_difference_minutes"),
        &against["mean_absolute_difference_seconds"],
    );
    close(
        measure(&store, "wait_rank_correlation"),
        &against["rank_correlation"],
    );
    let announced = &answer["announced_starts"];
    close(
        measure(&store, "promise_error_seconds"),
        &announced["mean_error_seconds"],
    );
    // Every job with its start, and the announced one where there was any.
    assert_eq!(number(&store, "SELECT count(*) FROM v_job"), 60.0);
    close(
        number(&store, "SELECT avg(start - submit) FROM v_job"),
        &answer["all"]["mean_wait_seconds"],
    );
    close(
        number(&store, "SELECT count(planned_start) FROM v_job"),
        &announced["announced"],
    );
}

#[test]
fn a_machine_file_that_was_changed_is_simulated_anew_and_one_that_was_not_is_not() {
    let place = with_files("", "");
    drop(done(place.path()));
    let simulations = |store: &Connection| number(store, "SELECT count(*) FROM simulation");
    assert_eq!(simulations(&done(place.path())), 1.0);
    fs::write(
        place.path().join("machine.toml"),
        MACHINE.replace("tier = 2", "tier = 1"),
    )
    .expect("written");
    assert_eq!(simulations(&done(place.path())), 2.0);
}

#[test]
fn an_added_reservation_costs_what_the_same_jobs_wait_more() {
    let place = with_files("", "added_nodes = 2\nadded_hours = 0.25\n");
    let store = done(place.path());
    let begin = measure(&store, "added_reservation_begin_seconds") as i64;
    let without = number(&store, "SELECT sum((start - submit) * nodes) FROM v_job");
    let waits = |machine: &str| -> f64 {
        fs::write(place.path().join("with.toml"), machine).expect("written");
        let said = output(program(
            place.path(),
            &[
                "simulate",
                "trace.swf",
                "--machine",
                "with.toml",
                "--schedule",
                "with.swf",
            ],
        ));
        assert!(said.status.success(), "{}", text(&said.stderr));
        let schedule = fs::read_to_string(place.path().join("with.swf")).expect("a schedule");
        let fields = schedule.lines().filter(|line| !line.starts_with(';'));
        fields
            .map(|line| {
                let field = |at: usize| -> f64 {
                    let found = line.split_whitespace().nth(at).expect("a field");
                    found.parse().expect("a number")
                };
                field(2) * field(4)
            })
            .sum()
    };
    // Jobs of a whole trace count from the first one, which was submitted 40 s after the log began.
    let (begin, end) = (1_711_832_440 + begin, 1_711_832_440 + begin + 900);
    let clock = |seconds: i64| {
        let time = jiff::Timestamp::from_second(seconds).expect("a time");
        time.strftime("%Y-%m-%dT%H:%M:%S").to_string()
    };
    let window = format!(
        "[[window]]\nname = \"added\"\nbegin = {}\nlength_hours = {:?}\nnodes = {{ node = 2 }}\n",
        clock(begin),
        (end - begin) as f64 / 3_600.0
    );
    let machine = MACHINE.replace("Europe/Berlin", "UTC");
    assert_eq!(waits(&machine), without);
    let with = waits(&format!("{machine}{window}"));
    let hours = measure(&store, "others_delay_core_hours");
    assert!(
        (hours - (with - without) / 3_600.0).abs() < 1e-9,
        "{hours}, {with}, {without}"
    );
    assert!(hours != 0.0, "it meets somebody");
}

#[test]
fn windows_of_a_calendar_need_the_clock_of_the_log() {
    let window = "[[window]]\nname = \"closed\"\nbegin = 2024-03-30T22:10:00\nlength_hours = 1\n";
    let place = with_files("", "");
    let machine = place.path().join("machine.toml");
    fs::write(&machine, format!("{MACHINE}{window}")).expect("written");
    let said = refused(place.path());
    assert!(said.contains("workload.origin = \"log\""), "{said}");
    let compressed = experiment("origin = \"log\"\ncompression = 0.5", "");
    fs::write(place.path().join("small.toml"), compressed).expect("written");
    assert!(refused(place.path()).contains("`compression`"));
    let as_logged = experiment("origin = \"log\"", "");
    fs::write(place.path().join("small.toml"), as_logged).expect("written");
    let store = done(place.path());
    // 2024-03-30 22:10 in Berlin is 1711833000, 600 s after the beginning; nobody may run in that
    // hour.
    let inside = "SELECT count(*) FROM v_job WHERE start < 4200 AND \"end\" > 600";
    assert_eq!(number(&store, inside), 0.0);
}

#[test]
fn a_machine_that_is_missing_twice_there_or_wrong_is_refused_with_what_to_do() {
    let place = with_files("", "");
    let refusal = |machine: &str| {
        let whole = experiment("", "").replace("file = \"machine.toml\"\n", machine);
        fs::write(place.path().join("small.toml"), whole).expect("written");
        refused(place.path())
    };
    let said = refusal("added_nodes = 1\n");
    assert!(
        said.contains("machine.file") && said.contains("add a table"),
        "{said}"
    );
    let said = refusal("file = \"machine.toml\"\ntext = \"name = 1\"\n");
    assert!(said.contains("in a file already"), "{said}");
    let said = refusal("file = \"nowhere.toml\"\n");
    assert!(said.contains("nowhere.toml cannot be read"), "{said}");
    let said = refusal("text = \"name = 'x'\\nnodes = 4\\n[[class]]\\nnodes = 4\"\n");
    assert!(
        said.contains("machine.text") && said.contains("nodes"),
        "{said}"
    );
    let said = refusal("file = \"machine.toml\"\nnames = \"nowhere.csv\"\n");
    assert!(said.contains("nowhere.csv"), "{said}");
}

#[test]
fn requests_and_defaults_of_partitions_are_as_tight_as_asked() {
    let with = |workload: &str| {
        let place = with_files(&format!("missing_estimate = \"runtime\"\n{workload}"), "");
        // Every third job asks for no time, and so for the hour of its partition.
        let silent: String = (trace().lines())
            .map(|line| {
                let mut fields: Vec<&str> = line.split(' ').collect();
                if !line.starts_with(';') && fields[0].ends_with(['3', '6', '9']) {
                    fields[8] = "-1";
                }
                fields.join(" ") + "\n"
            })
            .collect();
        fs::write(place.path().join("trace.swf"), silent).expect("a writable folder");
        let machine = MACHINE.replace("tier = 2\n", "tier = 2\ndefault_request_hours = 1\n")
            + "default_request_hours = 1\n";
        fs::write(place.path().join("machine.toml"), machine).expect("a writable folder");
        let store = done(place.path());
        let mut starts = store
            .prepare("SELECT start FROM v_job ORDER BY job")
            .expect("a query");
        let starts = starts.query_map([], |row| row.get::<_, i64>(0));
        let starts: rusqlite::Result<Vec<i64>> = starts.expect("rows").collect();
        starts.expect("values")
    };
    let recorded = with("");
    // Nobody outlasts what was asked for: where no share of it is left, all ask for the run time.
    let exact = with("exact_estimates = true");
    assert_eq!(with("estimate_tightness = 0.0"), exact);
    let half = with("estimate_tightness = 0.5");
    assert!(half != exact && half != recorded);
    assert_eq!(with("estimate_tightness = 1.0"), recorded);
}
