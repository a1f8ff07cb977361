//! `bookahead serve` and `bookahead runs --watch`: what they show, that a sweep goes on beside
//! them, and whom they refuse.

mod browser;
pub mod client;
mod limits;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::program::{TEXT, Watch, folder, output, program, run, text};
use client::{Answer, Server};

/// A folder with a store of two runs, the second of which has other thresholds.
fn two_runs() -> tempfile::TempDir {
    let folder = folder();
    assert!(
        run(folder.path(), "seen", &[])
            .status()
            .expect("it starts")
            .success()
    );
    let other = TEXT.replace("from = 0.1, to = 0.5", "from = 0.15, to = 0.55");
    assert_ne!(other, TEXT);
    fs::write(folder.path().join("small.toml"), other).expect("written");
    assert!(
        run(folder.path(), "seen", &[])
            .status()
            .expect("it starts")
            .success()
    );
    folder
}

fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("no {from}"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

#[test]
fn runs_reports_comparisons_and_plans_are_those_of_their_commands() {
    let folder = two_runs();
    let server = Server::start(folder.path(), &["--store", "seen.db"]);
    let list = server.get("/");
    assert_eq!(list.status, 200);
    for part in [
        "data-run=\"1\"",
        "data-run=\"2\"",
        "80</span> of 80",
        "nothing runs",
        "seen.db",
    ] {
        assert!(list.body.contains(part), "{part}: {}", list.body);
    }
    // The report of the command, table by table and figure by figure.
    let report = server.get("/runs/2");
    let written =
        fs::read_to_string(folder.path().join("seen-report/index.html")).expect("a report");
    for (from, to) in [
        ("<div id=\"answer\">", "<div class=\"cards\">"),
        ("<details class=\"chapter\" id=\"best\">", "</main>"),
    ] {
        assert_eq!(between(&report.body, from, to), between(&written, from, to));
    }
    assert!(report.body.contains("bookahead report 2 --store seen.db"));
    // Its marks lead to plans, which a folder of files cannot draw.
    let plans = "data-plans=\"/runs/2/plans\"";
    assert!(report.body.contains(plans) && !written.contains("data-plans="));
    for other in ["latest", report_name()] {
        assert_eq!(
            server.get(&format!("/runs/{other}")).body,
            report.body,
            "{other}"
        );
    }
    // The comparison, too.
    let compared = server.get("/compare?run=2&run=1");
    let done = output(program(
        folder.path(),
        &[
            "compare", "1", "2", "--store", "seen.db", "--out", "compared",
        ],
    ));
    assert!(done.status.success(), "{}", text(&done.stderr));
    let written =
        fs::read_to_string(folder.path().join("compared/index.html")).expect("a comparison");
    assert_eq!(
        between(&compared.body, "<h1>", "</main>"),
        between(&written, "<h1>", "</main>")
    );
    for few in [
        "/compare",
        "/compare?run=1",
        "/compare?run=1&run=1",
        "/compare?run=1&run=x",
    ] {
        let answer = server.get(few);
        assert!(
            answer.status == 400 && answer.body.contains("Tick 2 to"),
            "{few}"
        );
    }
    // And the plan.
    let plans = server.get("/runs/1/plans");
    assert!(
        plans.body.contains("heuristic-overbooking</a>, point"),
        "{}",
        plans.body
    );
    let plan = server.get("/runs/1/plan?point=3");
    let done = output(program(
        folder.path(),
        &[
            "gantt",
            "1",
            "--point",
            "3",
            "--store",
            "seen.db",
            "--out",
            "plan.html",
        ],
    ));
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(
        plan.body,
        fs::read_to_string(folder.path().join("plan.html")).expect("a plan")
    );
    // A figure of the served report leads to it, by the values of the points behind a mark.
    let behind = server
        .get("/runs/1/plans?scheduling.strategy=heuristic-overbooking&acceptance.pof_max=0.2");
    let links: Vec<&str> = behind
        .body
        .split("<a href=\"/runs/1/plan?point=")
        .skip(1)
        .collect();
    assert_eq!(links.len(), 4, "one a replication: {}", behind.body);
    for (replication, link) in links.iter().enumerate() {
        let words = format!("heuristic-overbooking, pof_max 0.2, replication {replication}</a>");
        assert!(link.contains(&words), "{words}: {link}");
    }
    let (place, _) = links[0].split_once('"').expect("a place");
    let plan = server.get(&format!("/runs/1/plan?point={place}"));
    assert!(
        plan.body
            .contains("<h1>heuristic-overbooking, pof_max 0.2, replication 0</h1>"),
        "{}",
        plan.body
    );
    let each = plans.body.matches("replication 0</a>").count();
    assert_eq!(each, 20, "each setting once");
    for (path, status, words) in [
        (
            "/runs/1/plans?acceptance.pof_max=0.99",
            200,
            "No point is done there.",
        ),
        (
            "/runs/1/plans?nothing=1",
            400,
            "has a value on the axis `nothing`",
        ),
        ("/runs/7", 404, "has no run with the number 7"),
        ("/runs/nothing", 404, "called `nothing`"),
        ("/compare?run=1&run=7", 404, "has no run with the number 7"),
        ("/runs/1/plan?point=9999", 400, "has no finished point 9999"),
        ("/runs/1/plan?point=x", 400, "`point=x`"),
        ("/runs/1/plan?point=3&amp;cluster=9", 200, "<svg"),
        (
            "/runs/1/plan?point=3&cluster=9",
            400,
            "there is no cluster 9",
        ),
        ("/etc/passwd", 404, "The first page"),
        ("/../../etc/passwd", 404, "The first page"),
        ("/?before=2", 200, "data-run=\"1\""),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(answer.body.contains(words), "{path}: {}", answer.body);
    }
    assert!(!server.get("/?before=2").body.contains("data-run=\"2\""));
}

fn report_name() -> &'static str {
    between(TEXT, "name = \"", "\"")
}

#[test]
fn a_page_in_the_same_browser_can_neither_ask_nor_read_and_no_answer_runs_a_foreign_script() {
    let folder = two_runs();
    let server = Server::start(folder.path(), &["--store", "seen.db"]);
    let own = format!("127.0.0.1:{}", server.port);
    for path in [
        "/",
        "/runs/1",
        "/sql?q=SELECT%201",
        "/sql?q=SELECT%201&format=csv",
        "/events",
        "/nothing",
    ] {
        // By another name, as after DNS rebinding.
        let rebound = server.request("GET", path, &[("Host", "evil.example")]);
        assert_eq!(rebound.status, 421, "{path}");
        for foreign in [
            ("Origin", "http://evil.example"),
            ("Origin", "null"),
            ("Origin", "http://127.0.0.1:1"),
        ] {
            let answer = server.request("GET", path, &[("Host", &own), foreign]);
            assert_eq!(answer.status, 403, "{path} {foreign:?}");
            assert!(!answer.body.contains("seen.db"));
        }
        let headers = [
            ("Host", own.as_str()),
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "no-cors"),
        ];
        assert_eq!(server.request("GET", path, &headers).status, 403, "{path}");
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            let answer = server.request(method, path, &[("Host", &own)]);
            assert_eq!(answer.status, 405, "{method} {path}");
        }
        // Behind a forwarded port the page is another one to the browser.
        if path != "/events" {
            let forwarded = server.request(
                "GET",
                path,
                &[
                    ("Host", "localhost:9999"),
                    ("Origin", "http://localhost:9999"),
                ],
            );
            assert!(matches!(forwarded.status, 200 | 404), "{path}");
            let policy = forwarded
                .header("content-security-policy")
                .expect("a policy");
            for part in [
                "default-src 'none'",
                "script-src 'sha256-",
                "style-src 'sha256-",
                "frame-ancestors 'none'",
                "base-uri 'none'",
            ] {
                assert!(policy.contains(part), "{part}: {policy}");
            }
            assert!(!policy.contains("unsafe"), "{policy}");
            for (name, value) in [
                ("x-frame-options", "DENY"),
                ("x-content-type-options", "nosniff"),
                ("cache-control", "no-store"),
            ] {
                assert_eq!(forwarded.header(name), Some(value), "{path}");
            }
            assert!(
                !forwarded
                    .headers
                    .iter()
                    .any(|(name, _)| name.starts_with("access-control"))
            );
        }
    }
}

#[test]
fn with_a_token_nothing_is_seen_without_it_and_a_cookie_keeps_it() {
    let folder = two_runs();
    let server = Server::start(folder.path(), &["--store", "seen.db", "--token"]);
    let (_, token) = server.url.split_once("/?token=").expect("a token");
    for path in [
        "/",
        "/runs/1",
        "/sql?q=SELECT+1",
        "/events",
        "/?token=x",
        "/nothing",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert!(
            !answer.body.contains("seen.db") && !answer.body.contains(token),
            "{path}"
        );
    }
    let welcome = server.get(&format!("/?token={token}"));
    assert_eq!(
        (welcome.status, welcome.header("location")),
        (303, Some("/"))
    );
    let cookie = welcome.header("set-cookie").expect("a cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    let (cookie, _) = cookie.split_once(';').expect("attributes");
    let host = format!("127.0.0.1:{}", server.port);
    let known = server.request("GET", "/runs/1", &[("Host", &host), ("Cookie", cookie)]);
    assert_eq!(known.status, 200);
    // What other machines reach has one without being asked.
    let open = Server::start(
        folder.path(),
        &["--store", "seen.db", "--address", "0.0.0.0:0"],
    );
    assert!(open.url.contains("/?token="), "{}", open.url);
    assert_eq!(open.get("/").status, 401);
}

fn asked(server: &Server, question: &str, more: &str) -> Answer {
    let question: String = question
        .bytes()
        .map(|byte| format!("%{byte:02X}"))
        .collect();
    server.get(&format!("/sql?q={question}{more}"))
}

#[test]
fn a_question_in_sql_reads_within_its_bounds_and_changes_nothing() {
    let folder = two_runs();
    let server = Server::start(folder.path(), &["--store", "seen.db"]);
    let box_page = server.get("/sql");
    for part in [
        "Which runs are there, and how far are they?",
        "v_run",
        "points",
        "<textarea",
    ] {
        assert!(box_page.body.contains(part), "{part}");
    }
    let worked = server.get("/sql?worked=1");
    assert!(
        worked.body.contains("FROM v_run ORDER BY run;</textarea>"),
        "{}",
        worked.body
    );
    let rows = asked(
        &server,
        "SELECT run, state, acceptance_pof_max FROM points ORDER BY run, place",
        "",
    );
    assert_eq!(rows.status, 200);
    assert!(rows.body.contains("160 rows."), "{}", rows.body);
    // Every letter of the command's CSV.
    let question = "SELECT * FROM v_job ORDER BY simulation, job";
    let csv = asked(&server, question, "&format=csv");
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let done = output(program(
        folder.path(),
        &["sql", "--store", "seen.db", "--format", "csv", question],
    ));
    assert_eq!(csv.body, text(&done.stdout));
    let cut = asked(&server, question, "");
    assert!(cut.body.contains("The first 1000 rows"));
    // What would write, or reach for another file.
    let before = fs::read(folder.path().join("seen.db")).expect("a store");
    for refused in [
        "DELETE FROM run",
        "UPDATE run SET name = 'x'",
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'other.db'",
        "PRAGMA journal_mode = DELETE",
        "WITH x AS (SELECT 1) INSERT INTO run SELECT * FROM x",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM run",
        "CREATE TEMP TABLE x (y)",
        "SELEC 1",
        "SELECT nothing FROM run",
        "SELECT ?1",
    ] {
        for format in ["", "&format=csv"] {
            let answer = asked(&server, refused, format);
            assert_eq!(answer.status, 400, "{refused}: {}", answer.body);
            assert!(answer.body.contains("class=\"trouble\""), "{refused}");
        }
    }
    assert!(!folder.path().join("other.db").exists());
    assert_eq!(
        fs::read(folder.path().join("seen.db")).expect("a store"),
        before
    );
    // Too much memory, too much time.
    let large = asked(&server, "SELECT randomblob(1000000000)", "");
    assert!(
        large.status == 400 && large.body.contains("more memory"),
        "{}",
        large.body
    );
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    // A server of its own: on a busy machine other questions may take as long.
    let server = Server::start(folder.path(), &["--store", "seen.db", "--timeout", "2"]);
    let began = Instant::now();
    let late = asked(&server, endless, "");
    assert!(
        late.status == 400 && late.body.contains("takes more than 2 s"),
        "{}",
        late.body
    );
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_question_ends_when_its_reader_goes_away() {
    let folder = two_runs();
    let server = Server::start(folder.path(), &["--store", "seen.db"]);
    let endless = "/sql?q=WITH%20RECURSIVE%20n(i)%20AS%20(SELECT%201%20UNION%20ALL%20SELECT%20i%2B1%20FROM%20n)%20SELECT%20count(*)%20FROM%20n";
    // Two of them take every turn.
    let readers = [server.send("GET", endless), server.send("GET", endless)];
    std::thread::sleep(Duration::from_millis(500));
    // The list needs no turn.
    assert_eq!(server.get("/").status, 200);
    drop(readers);
    let began = Instant::now();
    assert_eq!(server.get("/runs/1").status, 200);
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn tags_and_notes_stand_beside_the_names_and_hidden_runs_are_left_out_until_somebody_asks() {
    let folder = two_runs();
    for words in [
        ["tag", "1", "hidden"],
        ["tag", "2", "paper"],
        ["note", "2", "with <b>new</b> nodes"],
    ] {
        let arguments = [&["runs"], &words[..], &["--store", "seen.db"]].concat();
        assert!(output(program(folder.path(), &arguments)).status.success());
    }
    let server = Server::start(folder.path(), &["--store", "seen.db"]);
    let page = server.get("/").body;
    for part in [
        "<span class=\"tag\">paper</span>",
        "with &lt;b&gt;new&lt;/b&gt; nodes",
        "<tr class=\"hidden-run\" data-run=\"1\">",
        "<table class=\"stacks hides\">",
        "<a href=\"/?hidden=show\">1 more with the tag",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let all = server.get("/?hidden=show").body;
    assert!(all.contains("<table class=\"stacks\">"), "{all}");
}

#[test]
fn a_name_that_would_inject_is_a_name() {
    let folder = folder();
    let evil = "</title><script>alert(1)</script><img src=x onerror=alert(2)>";
    for _ in 0..2 {
        let status = run(folder.path(), "seen", &["--fresh"]).status();
        assert!(status.expect("it starts").success());
    }
    // Experiment files cannot have such names; stores of strangers can have them anywhere.
    let store = rusqlite::Connection::open(folder.path().join("seen.db")).expect("a store");
    for (table, column) in [
        ("run", "name"),
        ("run", "description"),
        ("run", "configuration"),
        ("run", "source"),
        ("simulation", "workload_label"),
        ("run_input", "source"),
    ] {
        let changed = store.execute(
            &format!("UPDATE {table} SET {column} = ?1 || {column}"),
            [evil],
        );
        assert!(changed.expect("changed") > 0, "{table}.{column}");
    }
    drop(store);
    let server = Server::start(folder.path(), &["--store", "seen.db"]);
    for path in [
        "/",
        "/runs/1",
        "/runs/1/plans",
        "/compare?run=1&run=2",
        "/sql?q=SELECT+*+FROM+v_run",
        "/sql?q=%3C/textarea%3E%3Cimg+src%3Dx%3E",
        "/runs/%3Cimg%20src=x%3E",
    ] {
        let page = server.get(path).body;
        assert!(
            !page.contains("<img") && !page.contains("<script>alert"),
            "{path}: {page}"
        );
    }
    assert!(server.get("/").body.contains("&lt;script&gt;alert(1)"));
}

/// An experiment that takes some seconds in a store of its own.
fn long_run(folder: &std::path::Path, replications: u32) -> std::process::Child {
    let text = TEXT.replace(
        "replications = 4",
        &format!("replications = {replications}"),
    );
    assert_ne!(text, TEXT);
    let text = text
        .replacen("jobs = 4000", "jobs = 200000", 1)
        .replace("battery_jobs = 400", "battery_jobs = 2000");
    fs::write(folder.join("long.toml"), text).expect("written");
    program(
        folder,
        &[
            "run",
            "long.toml",
            "--store",
            "seen.db",
            "--report",
            "long-report",
            "--workers",
            "1",
        ],
    )
    .spawn()
    .expect("it starts")
}

#[test]
fn progress_is_told_while_a_sweep_writes_and_the_sweep_ends_as_without_a_watcher() {
    let folder = folder();
    assert!(
        run(folder.path(), "seen", &[])
            .status()
            .expect("it starts")
            .success()
    );
    let server = Server::start(folder.path(), &["--store", "seen.db"]);
    let mut events = server.events();
    let first = events.next();
    assert!(
        first.contains("\"running\":0") && first.contains("80</span> of 80"),
        "{first}"
    );
    let mut sweep = long_run(folder.path(), 40);
    let _watch = Watch::new(&sweep, Duration::from_secs(600));
    let mut done: Vec<u64> = Vec::new();
    loop {
        let event = events.next();
        if let Some((_, rest)) = event.split_once("data-run=\\\"2\\\"") {
            let (_, rest) = rest.split_once("class=\\\"done\\\">").expect("points");
            let number = rest.split_once('<').expect("a number").0;
            done.push(number.parse().expect("a number"));
            // Other pages are answered meanwhile.
            let page = server.get("/runs/2");
            assert_eq!(page.status, 200);
            if done.len() == 1 {
                assert!(
                    page.body
                        .contains("id=\"news\" role=\"status\" data-run=\"2\"")
                );
            }
            assert_eq!(asked(&server, "SELECT count(*) FROM v_run", "").status, 200);
        }
        if event.contains("\"running\":0") && !done.is_empty() {
            break;
        }
    }
    assert!(sweep.wait().expect("it ran").success());
    assert!(done.is_sorted() && done.len() >= 2, "{done:?}");
    assert_eq!(done.last(), Some(&800));
    assert!(!server.get("/runs/2").body.contains("id=\"news\""));
    assert!(done.iter().any(|done| *done < 800), "{done:?}");
}

#[test]
fn a_watched_list_tells_each_change_in_a_pipe_and_ends_when_nothing_runs() {
    let folder = folder();
    let mut sweep = long_run(folder.path(), 40);
    let _watch = Watch::new(&sweep, Duration::from_secs(600));
    let store = folder.path().join("seen.db");
    while !text(&output(program(folder.path(), &["runs", "--store", "seen.db"])).stdout)
        .contains("running")
    {
        assert!(
            sweep.try_wait().expect("a state").is_none(),
            "it ended before it was seen in {store:?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let done = output(program(
        folder.path(),
        &["runs", "--watch", "--store", "seen.db"],
    ));
    assert!(sweep.wait().expect("it ran").success());
    assert!(done.status.success());
    let said = text(&done.stdout);
    assert!(said.lines().count() >= 2, "{said}");
    let name = report_name();
    assert!(
        said.lines()
            .all(|line| line.starts_with(&format!("run 1 {name}: ")) && line.len() <= 80),
        "{said}"
    );
    assert!(
        said.trim_end()
            .lines()
            .last()
            .is_some_and(|line| line.contains("done, 800 of 800 points done")),
        "{said}"
    );
    assert_eq!(text(&done.stderr).trim(), "nothing runs");
    assert!(!said.contains('\u{1b}'));
}

#[test]
fn what_is_in_the_way_is_said_with_what_to_do() {
    let folder = two_runs();
    let store = ["--store", "seen.db"];
    let mut server = Server::start(folder.path(), &store);
    let address = format!("127.0.0.1:{}", server.port);
    let taken = output(program(
        folder.path(),
        &[&["serve", "--address", &address][..], &store].concat(),
    ));
    assert_eq!(taken.status.code(), Some(2));
    let said = text(&taken.stderr);
    assert!(
        said.contains("is in use already") && said.contains("--address 127.0.0.1:0"),
        "{said}"
    );
    assert!(taken.stdout.is_empty());
    let missing = output(program(
        folder.path(),
        &["serve", "--store", "none.db", "--address", "127.0.0.1:0"],
    ));
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("there is no store at"));
    // It goes away while it is served, and comes back.
    let [path, away] = ["seen.db", "away.db"].map(|name| folder.path().join(name));
    fs::rename(&path, &away).expect("renamed");
    for page in [
        "/",
        "/runs/1",
        "/sql?q=SELECT+1",
        "/compare?run=1&run=2",
        "/runs/1/plans",
    ] {
        let gone = server.get(page);
        assert!(
            gone.status == 503 && gone.body.contains("there is no store at"),
            "{page}: {}",
            gone.body
        );
    }
    assert!(server.events().next().contains("there is no store at"));
    fs::write(
        &path,
        "no database, but long enough to be asked whether it is one: ".repeat(20),
    )
    .expect("written");
    assert!(server.get("/").body.contains("is not a database"));
    fs::rename(&away, &path).expect("renamed");
    assert_eq!(server.get("/").status, 200);
    // A page that watches does not keep it from ending.
    let _watcher = server.events();
    let began = Instant::now();
    let status = Command::new("kill")
        .args(["-INT", &server.process.id().to_string()])
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("a signal").success());
    let ended = server.process.wait().expect("it ends");
    assert!(
        ended.success() && began.elapsed() < Duration::from_secs(5),
        "{ended} {:?}",
        began.elapsed()
    );
}
