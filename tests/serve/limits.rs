//! What a reader may hold of a server: lines, half requests, large answers, and computations that
//! nobody waits for any more.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use super::client::Server;
use super::two_runs;

/// How long these tests wait for what takes a second on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

fn question(text: &str, more: &str) -> String {
    let text: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("/sql?q={text}{more}")
}

/// A server that may have 256 files open.
fn with_few_files(folder: &std::path::Path) -> Server {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\""]);
    Server::start_as(shell, folder, &["--store", "seen.db"])
}

#[test]
fn four_hundred_half_requests_keep_nobody_from_a_page() {
    let folder = two_runs();
    let server = with_few_files(folder.path());
    let began = Instant::now();
    let half: Vec<TcpStream> = (0..400)
        .map(|number| {
            let mut line = TcpStream::connect(("127.0.0.1", server.port)).expect("it listens");
            // Some ask nothing at all. One that was closed meanwhile cannot be written to.
            if number % 4 > 0 {
                let _ = line.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ");
            }
            line
        })
        .collect();
    for page in ["/", "/runs/1", "/sql?q=SELECT+1", "/runs/2"] {
        let asked = Instant::now();
        assert_eq!(server.get(page).status, 200, "{page}");
        assert!(asked.elapsed() < PATIENCE, "{page}");
    }
    // All are closed by and by, whether room is needed or not.
    for mut line in half {
        let patience = Some(PATIENCE);
        line.set_read_timeout(patience).expect("a time-out");
        let mut rest = Vec::new();
        // Closed in either way.
        let _ = line.read_to_end(&mut rest);
    }
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn pages_that_watch_make_room_for_others() {
    let folder = two_runs();
    let server = with_few_files(folder.path());
    let watchers: Vec<TcpStream> = (0..300).map(|_| server.send("GET", "/events")).collect();
    assert_eq!(server.get("/").status, 200);
    assert_eq!(server.get("/runs/1").status, 200);
    drop(watchers);
}

/// The processes that a process has started.
#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("a system with /proc");
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers
        .filter(|number: &u32| {
            let state = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
            let rest = state.rsplit_once(") ").map_or("", |(_, rest)| rest);
            let mut words = rest.split(' ');
            let is_alive = !matches!(words.next(), Some("Z" | "X") | None);
            is_alive && words.next() == Some(&of.to_string())
        })
        .collect()
}

#[cfg(target_os = "linux")]
fn until(what: &str, holds: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
    began.elapsed()
}

/// Makes the report and the comparison of the first run take long, and the simulations behind its
/// plans.
#[cfg(target_os = "linux")]
fn enlarge(store: &std::path::Path) {
    let store = rusqlite::Connection::open(store).expect("a store");
    store
        .execute_batch(
            "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) SELECT i FROM n;
             INSERT INTO run_point SELECT run, place + 80 * i, point FROM run_point, n WHERE run = 1;
             INSERT INTO point_axis SELECT run, place + 80 * i, axis, value FROM point_axis, n WHERE run = 1;
             UPDATE simulation SET spec = replace(spec, '\"jobs\":4000', '\"jobs\":4000000');",
        )
        .expect("enlarged");
    let heavy: i64 = store
        .query_row(
            "SELECT count(*) FROM simulation WHERE spec LIKE '%:4000000%'",
            [],
            |row| row.get(0),
        )
        .expect("a count");
    assert!(heavy > 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_page_that_is_closed_is_no_longer_computed() {
    let folder = two_runs();
    enlarge(&folder.path().join("seen.db"));
    let server = Server::start(folder.path(), &["--store", "seen.db"]);
    for page in [
        "/runs/1".to_owned(),
        "/compare?run=1&run=2".to_owned(),
        "/runs/1/plan?point=3".to_owned(),
        question(ENDLESS, ""),
        question(ENDLESS, "&format=csv"),
    ] {
        let line = server.send("GET", &page);
        let began = until(&page, || !children(server.process.id()).is_empty());
        std::thread::sleep(Duration::from_millis(300));
        // It has work for longer than that.
        assert!(!children(server.process.id()).is_empty(), "{page}");
        drop(line);
        let took = until(&page, || children(server.process.id()).is_empty());
        println!("{page}: began after {began:?}, ended after {took:?}");
        assert!(took < Duration::from_secs(10), "{page}: {took:?}");
    }
    // Both turns are free again.
    assert_eq!(server.get("/sql?q=SELECT+1").status, 200);
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_ends_soon_with_a_question_under_way_and_takes_it_along() {
    let folder = two_runs();
    for signal in ["-INT", "-KILL"] {
        let mut server = Server::start(folder.path(), &["--store", "seen.db"]);
        let _lines = [(); 2].map(|()| server.send("GET", &question(ENDLESS, "")));
        until("two questions", || children(server.process.id()).len() == 2);
        let asked = children(server.process.id());
        let began = Instant::now();
        let sent = Command::new("kill")
            .args([signal, &server.process.id().to_string()])
            .status();
        assert!(sent.expect("a signal").success());
        server.process.wait().expect("it ends");
        println!("{signal}: ended after {:?}", began.elapsed());
        assert!(began.elapsed() < Duration::from_secs(10));
        until("no process is left", || {
            asked.iter().all(|process| {
                let state = fs::read_to_string(format!("/proc/{process}/stat"));
                state.map_or(true, |state| !state.contains("(bookahead) R"))
            })
        });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn large_answers_to_slow_readers_take_little_memory_and_others_are_answered() {
    let folder = two_runs();
    let server = Server::start(folder.path(), &["--store", "seen.db"]);
    let large = question(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i, hex(zeroblob(500)) FROM n",
        "&format=csv",
    );
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let mut reader = BufReader::new(server.send("GET", &large));
            // The head comes when the whole answer is there.
            let mut head = String::new();
            reader.read_line(&mut head).expect("a head");
            assert!(head.contains(" 200 "), "{head}");
            // Slower than any line, and faster than who is given up.
            std::thread::spawn(move || {
                let (mut rows, mut piece) = (Vec::new(), vec![0; 1 << 20]);
                loop {
                    let read = reader.read(&mut piece).expect("an answer");
                    if read == 0 {
                        return rows;
                    }
                    rows.extend_from_slice(&piece[..read]);
                    std::thread::sleep(Duration::from_millis(5));
                }
            })
        })
        .collect();
    assert_eq!(server.get("/runs/1").status, 200);
    let status = fs::read_to_string(format!("/proc/{}/status", server.process.id()));
    let status = status.expect("a state");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let peak = peak.expect("a peak");
    println!("three answers of 100 MB: {peak} kB at most");
    assert!(peak < 150_000, "{peak} kB");
    // Who reads slowly gets all of it.
    for reader in readers {
        let rows = String::from_utf8(reader.join().expect("it reads")).expect("text");
        assert!(rows.trim_end().ends_with('0') && rows.contains("\n100000,"));
    }
}
