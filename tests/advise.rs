//! From a log to a page of advice: what the page says is what the store says, a kill costs nothing,
//! and logs that cannot bear advice are refused with a reason.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bookahead::scheduling::measures::QuantityKind;
use bookahead_report::{Blocks, Weekly};

use crate::goldens::assert_golden;
use crate::support::program::{output, program, report, text};

/// Four thousand jobs of a model on 64 nodes, as a log that began in Stockholm at 1996-09-23
/// 14:20:31.
pub fn log(folder: &Path) {
    let made = [
        "trace",
        "synthesize",
        "model.swf",
        "--model",
        "lublin-feitelson",
        "--jobs",
        "4000",
        "--nodes",
        "64",
        "--load",
        "1.2",
    ];
    let made = output(program(folder, &made));
    assert!(made.status.success(), "{}", text(&made.stderr));
    let jobs = fs::read_to_string(folder.join("model.swf")).expect("a log");
    let clock = "; UnixStartTime: 843484831\n; TimeZone: 3600\n";
    fs::write(folder.join("log.swf"), format!("{clock}{jobs}")).expect("written");
}

const ADVISE: [&str; 8] = [
    "advise",
    "log.swf",
    "--store",
    "s.db",
    "--report",
    "page",
    "--workers",
    "2",
];

fn advised() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    log(folder.path());
    let done = output(program(folder.path(), &ADVISE));
    assert!(done.status.success(), "{}", text(&done.stderr));
    folder
}

/// The column of a table that was written as CSV, by its heading.
fn column(folder: &Path, table: &str, name: &str) -> Vec<String> {
    let path = folder.join(format!("page/tables/{table}.csv"));
    let mut reader = csv::Reader::from_path(path).expect("a table");
    let place = reader
        .headers()
        .expect("headings")
        .iter()
        .position(|heading| heading == name);
    let place = place.unwrap_or_else(|| panic!("{table} has no {name}"));
    reader
        .records()
        .map(|row| row.expect("a row")[place].to_owned())
        .collect()
}

fn numbers(texts: Vec<String>) -> Vec<f64> {
    texts
        .iter()
        .map(|text| text.parse().unwrap_or(f64::NAN))
        .collect()
}

#[test]
fn the_page_says_what_queries_of_the_store_say_and_is_the_one_that_is_committed() {
    let folder = advised();
    let path = folder.path();
    let store = rusqlite::Connection::open(path.join("s.db")).expect("a store");
    let ask = |sql: &str| -> Vec<f64> {
        let mut statement = store.prepare(sql).expect("a question");
        let rows = statement.query_map([], |row| row.get(0)).expect("rows");
        rows.map(|row| row.expect("a number")).collect()
    };
    let assert_same = |table: &str, name: &str, sql: &str| {
        let (page, store) = (numbers(column(path, table, name)), ask(sql));
        assert!(!page.is_empty(), "{table} {name}");
        assert_eq!(page.len(), store.len(), "{table} {name}");
        for (page, store) in page.iter().zip(&store) {
            let near = (page - store).abs() <= 1e-9 * store.abs().max(1.0);
            assert!(near, "{table} {name}: {page} and {store}");
        }
    };
    let strategy = &column(path, "thresholds", "strategy")[0];
    let points = "v_point WHERE run = (SELECT id FROM run WHERE name LIKE 'advise-%-planning')";
    let of = |value: &str| {
        format!(
            "SELECT {value} FROM {points} AND strategy = '{strategy}' ORDER BY json_extract(axes, '$.\"acceptance.pof_max\"')"
        )
    };
    assert_same("thresholds", "gain_vc", &of("gain / submitted"));
    assert_same("thresholds", "wait_hours", &of("mean_wait / 3600.0"));
    assert_same(
        "thresholds",
        "failed_percent",
        &of("100.0 * failed / accepted"),
    );
    assert_same(
        "thresholds",
        "rejected_percent",
        &of("100.0 * dropped / submitted"),
    );
    let measures =
        "v_measure WHERE run = (SELECT id FROM run WHERE name LIKE 'advise-%-queue') AND measure";
    let of = |measure: &str, by: f64| {
        format!("SELECT value / {by:?} FROM {measures} = '{measure}' ORDER BY place")
    };
    assert_same(
        "worth-queue",
        "wait_minutes",
        &of("queue_wait_minutes", 1.0),
    );
    assert_same(
        "worth-queue",
        "bounded_slowdown",
        &of("bounded_slowdown", 1.0),
    );
    assert_same(
        "announced-starts",
        "promised_percent",
        &of("promised_percent", 1.0),
    );
    assert_same(
        "announced-starts",
        "margin_minutes",
        &of("promise_margin_p90_seconds", 60.0),
    );
    assert_same(
        "announced-starts",
        "late_percent",
        &of("promise_late_percent", 1.0),
    );
    assert_same(
        "announced-starts",
        "error_minutes",
        &of("promise_error_seconds", 60.0),
    );
    // 1970-01-01 was a Thursday; the log's clock is an hour ahead. Each column of the table is a
    // day, each row an hour.
    let saturday_noon = "SELECT avg(t.price / 3600.0) FROM virtual_trial t JOIN v_point p ON p.simulation = t.simulation
        WHERE json_extract(p.axes, '$.\"virtual.lead_hours\"') = 24
        AND strftime('%w %H', t.asked_at + t.wanted_start + 843484831 + 3600, 'unixepoch') = '6 12'";
    let page: f64 = column(path, "reservation-hours-24", "sat")[12]
        .parse()
        .expect("a cost");
    assert!((page - ask(saturday_noon)[0]).abs() < 1e-9, "{page}");

    // The questions that stand below the tables are questions of the store.
    let page = fs::read_to_string(path.join("page/advice.md")).expect("a page");
    let questions: Vec<&str> = page
        .split("```sql\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(questions.len() >= 7, "{}", questions.len());
    for question in questions {
        let answer = output(program(path, &["sql", question, "--store", "s.db"]));
        assert!(
            answer.status.success(),
            "{question}: {}",
            text(&answer.stderr)
        );
        assert!(answer.stdout.len() > 10, "{question}");
    }
    assert_golden("advice.md", &page);
}

#[test]
fn advice_that_was_killed_goes_on_and_ends_with_the_same_page() {
    let whole = advised();
    let folder = tempfile::tempdir().expect("a folder");
    log(folder.path());
    let mut kills = 0;
    for wait in [150, 400, 900] {
        let mut child = program(folder.path(), &ADVISE).spawn().expect("it starts");
        let begin = Instant::now();
        // Nothing is killed before there is something to lose.
        while !folder.path().join("s.db").exists() && begin.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(wait));
        kills += usize::from(child.try_wait().expect("a child").is_none());
        child.kill().expect("a child may be killed");
        child.wait().expect("a child");
    }
    assert!(kills > 0, "every run was done before it was killed");
    let done = output(program(folder.path(), &ADVISE));
    assert!(done.status.success(), "{}", text(&done.stderr));
    let page = |folder: &Path| report(&folder.join("page"));
    assert!(
        page(folder.path()) == page(whole.path()),
        "the pages differ"
    );
    let again = output(program(
        folder.path(),
        &[&ADVISE[..], &["--dry-run"]].concat(),
    ));
    let said = text(&again.stdout);
    assert_eq!(said.matches("advise-log-").count(), 4, "{said}");
}

#[test]
fn a_log_that_cannot_bear_advice_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    log(path);
    let jobs = fs::read_to_string(path.join("log.swf")).expect("a log");
    let write = |name: &str, text: &str| fs::write(path.join(name), text).expect("written");
    let refused = |arguments: &[&str], words: &[&str]| {
        let arguments = [&["advise"], arguments, &["--store", "none.db"]].concat();
        let done = output(program(path, &arguments));
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        for word in words {
            assert!(
                text(&done.stderr).contains(word),
                "{word}: {}",
                text(&done.stderr)
            );
        }
    };
    let nameless: Vec<&str> = jobs.lines().filter(|line| !line.contains("Max")).collect();
    write("nameless.swf", &nameless.join("\n"));
    refused(
        &["nameless.swf"],
        &["nameless.swf", "MaxProcs", "--nodes N"],
    );
    refused(
        &["log.swf", "--nodes", "4"],
        &["log.swf", "wider than 4 nodes", "--nodes N"],
    );
    refused(
        &["log.swf", "--reservation", "65x4"],
        &["65 nodes", "has 64"],
    );
    refused(&["none.swf"], &["none.swf"]);
    let short: Vec<&str> = jobs.lines().take(1_000).collect();
    write("short.swf", &short.join("\n"));
    refused(
        &["short.swf"],
        &["short.swf", "usable jobs; 2000 are needed"],
    );
    let without: Vec<String> = jobs
        .lines()
        .map(|line| {
            let mut fields: Vec<&str> = line.split_whitespace().collect();
            if !line.starts_with(';') && fields.len() == 18 {
                fields[8] = "-1";
                return fields.join(" ");
            }
            line.to_owned()
        })
        .collect();
    write("without.swf", &without.join("\n"));
    refused(
        &["without.swf"],
        &[
            "without.swf",
            "no requested time (field 9)",
            "bookahead simulate",
        ],
    );
    assert!(!path.join("none.db").exists(), "nothing was run");
}

#[test]
fn saved_experiments_are_what_advice_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    log(path);
    let saved = output(program(
        path,
        &["advise", "log.swf", "--save", "mine", "--quiet"],
    ));
    assert!(saved.status.success(), "{}", text(&saved.stderr));
    let run = ["run", "mine/queue.toml", "--store", "s.db", "--quiet"];
    assert!(output(program(path, &run)).status.success());
    let plan = output(program(path, &[&ADVISE[..], &["--dry-run"]].concat()));
    let plan = text(&plan.stdout);
    let (_, queue) = plan
        .split_once("advise-log-queue\n")
        .expect("it is planned");
    let line = queue.lines().next().expect("a line");
    assert!(line.contains("4 points done already"), "{line}");
}

const MACHINE: &str = r#"
name = "two halves"
backfilling = { depth = 2 }
[[class]]
name = "thin"
nodes = 16
cores = 2
[[class]]
name = "thick"
nodes = 8
cores = 4
"#;

/// The waits of a run by week of submission, at a place of it.
fn weekly(store: &rusqlite::Connection, run: &str, place: u32) -> Weekly {
    let jobs = "SELECT submit, waiting FROM v_all_jobs WHERE place = ?2 AND waiting IS NOT NULL
        AND run = (SELECT id FROM run WHERE name = ?1)";
    let mut statement = store.prepare(jobs).expect("a question");
    let mut weekly = Weekly::default();
    let rows = statement.query_map((run, place), |row| Ok((row.get(0)?, row.get(1)?)));
    for row in rows.expect("rows") {
        let (submit, waiting): (u32, f64) = row.expect("a job");
        weekly.add(submit / 604_800, waiting / 60.0, 1.0);
    }
    weekly
}

#[test]
fn recommendations_say_themselves_how_sure_their_numbers_are() {
    let folder = tempfile::tempdir().expect("a folder");
    log(folder.path());
    let done = output(program(
        folder.path(),
        &[&ADVISE, &["--ties", "2"][..]].concat(),
    ));
    assert!(done.status.success(), "{}", text(&done.stderr));
    let page = fs::read_to_string(folder.path().join("page/advice.md")).expect("a page");
    let of = |number: &str| {
        let line = page.lines().find(|line| line.starts_with(number));
        line.unwrap_or_else(|| panic!("no recommendation {number}"))
            .to_owned()
    };
    let (requests, predictions) = (of("1. "), of("2. "));
    for one in [&requests, &predictions] {
        assert!(one.contains("over weeks"), "{one}");
        let moved = "Moving every submission by up to a minute makes the wait with requests";
        assert!(one.contains(moved), "{one}");
    }
    // Neighbouring weeks are alike in how many starts come late, and not in how long jobs wait.
    let caution = "Caution: neighbouring weeks are alike";
    assert!(predictions.contains(caution), "{predictions}");
    assert!(!requests.contains(caution), "{requests}");
}

#[test]
fn advice_on_a_machine_file_is_about_that_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    log(folder.path());
    fs::write(folder.path().join("machine.toml"), MACHINE).expect("written");
    let call = |more: &[&str]| output(program(folder.path(), &[&ADVISE, more].concat()));
    let machine = [
        "--machine",
        "machine.toml",
        "--reservation",
        "20x3",
        "--ties",
        "2",
    ];
    let done = call(&machine);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let store = rusqlite::Connection::open(folder.path().join("s.db")).expect("a store");
    let ask = |sql: &str| -> f64 {
        store
            .query_row(sql, [], |row| row.get(0))
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    };
    let of = |name: &str, measure: &str| {
        ask(&format!(
            "SELECT avg(value) FROM v_measure WHERE measure = '{measure}' AND run = (SELECT max(id) FROM run WHERE name = 'advise-log-{name}')"
        ))
    };
    let said = text(&done.stdout);
    // A log of a model records no waits.
    assert!(said.contains("The log records no waits"), "{said}");
    // 16 nodes of two cores and four of four, for three hours.
    assert!(said.contains("times its own 144"), "{said}");
    let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-6, "{one} and {other}");
    let waits = numbers(column(folder.path(), "worth-queue", "wait_minutes"));
    close(
        (waits[0] + waits[1]) / 2.0,
        of("machine", "queue_wait_minutes"),
    );
    // The log is simulated once with each kind of requests, and weeks are the units of the
    // interval.
    let points = "SELECT count(*) FROM v_point WHERE run = (SELECT id FROM run WHERE name = 'advise-log-machine')";
    assert_eq!(ask(points), 2.0);
    let column_of = |name: &str| numbers(column(folder.path(), "worth-queue", name))[0];
    let requested = weekly(&store, "advise-log-machine", 0);
    let wait = requested
        .quotient(&Blocks::of(&[&requested]), QuantityKind::Mean)
        .expect("jobs");
    assert!(wait.count > 4 && wait.half_width().expect("weeks") > 0.1 * wait.mean);
    close(column_of("wait_minutes_low"), wait.low().expect("weeks"));
    close(column_of("wait_minutes_high"), wait.high().expect("weeks"));
    let exact = weekly(&store, "advise-log-machine", 1);
    let more = exact
        .more_than(&requested, &Blocks::of(&[&exact, &requested]))
        .expect("jobs");
    let low = numbers(column(
        folder.path(),
        "worth-queue",
        "wait_difference_minutes_low",
    ))[1];
    close(low, more.low().expect("weeks"));
    // What the seconds decide is told apart from that.
    assert!(said.contains("Sensitivity to ties"), "{said}");
    let ties = |name: &str| numbers(column(folder.path(), "ties", name))[0];
    assert_eq!(ties("runs"), 2.0);
    assert!(ties("least_minutes") < ties("most_minutes"));
    let told = numbers(column(
        folder.path(),
        "announced-starts",
        "promised_percent",
    ));
    close((told[0] + told[1]) / 2.0, of("machine", "promised_percent"));
    let tried = numbers(column(folder.path(), "reservation-blocks", "asked"));
    assert_eq!(tried.iter().sum::<f64>(), 336.0);
    let costs = numbers(column(folder.path(), "reservation-blocks", "core_hours"));
    let all: f64 = costs
        .iter()
        .zip(&tried)
        .filter(|(cost, _)| cost.is_finite())
        .map(|(cost, tried)| cost * tried)
        .sum();
    close(
        all / 336.0,
        of("machine-reservation", "others_delay_core_hours"),
    );
    let page = fs::read_to_string(folder.path().join("page/index.html")).expect("a page");
    assert!(page.contains("--machine machine.toml") && page.contains("two halves"));
    // A machine that is no file, names without a machine, and a reservation of more nodes than it
    // has.
    for (more, words) in [
        (
            &["--machine", "nowhere.toml"][..],
            "nowhere.toml cannot be read",
        ),
        (&["--names", "map.csv"][..], "--machine"),
        (
            &["--machine", "machine.toml", "--nodes", "9"][..],
            "cannot be used with",
        ),
        (
            &["--machine", "machine.toml", "--reservation", "25x1"][..],
            "the machine has 24",
        ),
    ] {
        let said = call(more);
        assert_eq!(said.status.code(), Some(2), "{more:?}");
        assert!(text(&said.stderr).contains(words), "{}", text(&said.stderr));
    }
}

#[test]
fn a_machine_on_which_nobody_would_wait_gets_no_page() {
    let folder = tempfile::tempdir().expect("a folder");
    log(folder.path());
    let asked = [&ADVISE[..], &["--nodes", "6400"]].concat();
    let refused = output(program(folder.path(), &asked));
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let said = text(&refused.stderr);
    assert!(
        said.contains("of 6400 nodes, so nobody would wait"),
        "{said}"
    );
    assert!(said.contains("cores_per_processor"), "{said}");
    assert!(!folder.path().join("page").exists());
}
