//! The program as people call it, and everything that its store holds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// A small sweep: 80 points, 48 simulations of 400 jobs.
pub const TEXT: &str = include_str!("../goldens/experiments/overbooking.toml");

/// Everything that a store keeps, by identity, without clocks, processes and row numbers.
const TABLES: [&str; 36] = [
    "SELECT m.identity, m.spec, m.workload_label, w.identity, m.strategy, m.replication, m.state, m.detail,
        m.jobs_hash, m.failures_hash
     FROM simulation m LEFT JOIN workload w ON w.id = m.workload ORDER BY 1",
    "SELECT m.identity, k.* FROM simulation_metrics k JOIN simulation m ON m.id = k.simulation ORDER BY 1",
    "SELECT p.identity, m.identity, p.penalty_ratio, p.replication
     FROM point p JOIN simulation m ON m.id = p.simulation ORDER BY 1",
    "SELECT m.identity, o.* FROM job_outcome o JOIN simulation m ON m.id = o.simulation ORDER BY 1, o.job",
    "SELECT m.identity, e.* FROM node_event e JOIN simulation m ON m.id = e.simulation ORDER BY 1, e.sequence",
    "SELECT m.identity, q.name, d.value FROM simulation_measure d JOIN simulation m ON m.id = d.simulation
     JOIN measure q ON q.code = d.measure ORDER BY 1, 2",
    "SELECT m.identity, o.* FROM reservation_outcome o JOIN simulation m ON m.id = o.simulation ORDER BY 1, o.request",
    "SELECT m.identity, o.* FROM offer o JOIN simulation m ON m.id = o.simulation ORDER BY 1, o.request, o.start",
    "SELECT m.identity, t.* FROM virtual_trial t JOIN simulation m ON m.id = t.simulation ORDER BY 1, t.trial",
    "SELECT m.identity, b.identity, j.* FROM virtual_simulation s JOIN simulation m ON m.id = s.simulation
     JOIN virtual_background b ON b.id = s.background JOIN virtual_background_job j ON j.background = b.id ORDER BY 1, j.job",
    "SELECT m.identity, s.* FROM slot_sample s JOIN simulation m ON m.id = s.simulation ORDER BY 1, s.sample",
    "SELECT m.identity, a.* FROM co_attempt a JOIN simulation m ON m.id = a.simulation ORDER BY 1, a.request, a.attempt",
    "SELECT m.identity, q.* FROM workflow_query q JOIN simulation m ON m.id = q.simulation ORDER BY 1, q.submission, q.query",
    "SELECT m.identity, a.* FROM workflow_advertised a JOIN simulation m ON m.id = a.simulation
     ORDER BY 1, a.submission, a.slot",
    "SELECT m.identity, j.* FROM workflow_site_job j JOIN simulation m ON m.id = j.simulation ORDER BY 1, j.site, j.job",
    "SELECT m.identity, c.* FROM cluster c JOIN simulation m ON m.id = c.simulation ORDER BY 1, c.cluster",
    "SELECT m.identity, d.cluster, q.name, d.class, d.value FROM cluster_measure d JOIN simulation m ON m.id = d.simulation
     JOIN measure q ON q.code = d.measure ORDER BY 1, 2, 3, 4",
    "SELECT m.identity, o.* FROM co_request o JOIN simulation m ON m.id = o.simulation ORDER BY 1, o.request",
    "SELECT m.identity, o.* FROM co_part o JOIN simulation m ON m.id = o.simulation ORDER BY 1, o.request, o.part",
    "SELECT m.identity, o.* FROM co_probe o JOIN simulation m ON m.id = o.simulation ORDER BY 1, o.request, o.cluster",
    "SELECT m.identity, f.* FROM co_free_cpus f JOIN simulation m ON m.id = f.simulation
     ORDER BY 1, f.request, f.cluster, f.start",
    "SELECT m.identity, l.* FROM co_licences l JOIN simulation m ON m.id = l.simulation ORDER BY 1, l.request, l.part",
    "SELECT m.identity, l.* FROM co_licence_lack l JOIN simulation m ON m.id = l.simulation
     ORDER BY 1, l.request, l.cluster",
    "SELECT m.identity, s.* FROM co_storage s JOIN simulation m ON m.id = s.simulation ORDER BY 1, s.request, s.part",
    "SELECT m.identity, s.* FROM co_storage_lack s JOIN simulation m ON m.id = s.simulation
     ORDER BY 1, s.request, s.cluster",
    "SELECT m.identity, c.* FROM co_class c JOIN simulation m ON m.id = c.simulation ORDER BY 1, c.request",
    "SELECT m.identity, i.* FROM co_information i JOIN simulation m ON m.id = i.simulation ORDER BY 1, i.request",
    "SELECT m.identity, t.* FROM time_line t JOIN simulation m ON m.id = t.simulation ORDER BY 1, t.cluster, t.time",
    "SELECT m.identity, t.* FROM workflow_site t JOIN simulation m ON m.id = t.simulation ORDER BY 1, t.site",
    "SELECT m.identity, t.* FROM workflow_submission t JOIN simulation m ON m.id = t.simulation ORDER BY 1, t.submission",
    "SELECT m.identity, t.* FROM workflow_front t JOIN simulation m ON m.id = t.simulation ORDER BY 1, t.submission, t.member",
    "SELECT m.identity, t.* FROM workflow_slot t JOIN simulation m ON m.id = t.simulation ORDER BY 1, t.submission, t.slot",
    "SELECT m.identity, r.* FROM workflow_slot_return r JOIN simulation m ON m.id = r.simulation
     ORDER BY 1, r.submission, r.slot",
    "SELECT m.identity, t.* FROM workflow_task t JOIN simulation m ON m.id = t.simulation ORDER BY 1, t.submission, t.position",
    "SELECT m.identity, t.* FROM workflow_effect t JOIN simulation m ON m.id = t.simulation ORDER BY 1, t.site",
    "SELECT w.identity, j.* FROM job j JOIN workload w ON w.id = j.workload ORDER BY 1, j.job",
];

/// Every row of a store that does not depend on clocks, processes or the order of arrival, sorted.
pub fn dump(store: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(store).expect("a store");
    let mut lines = Vec::new();
    for table in TABLES {
        let mut statement = connection.prepare(table).expect("a table");
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            let shown = columns
                .iter()
                .enumerate()
                // Row numbers depend on the order in which simulations end.
                .filter(|(_, name)| !matches!(name.as_str(), "simulation" | "workload"))
                .map(|(column, _)| format!("{:?}", row.get_ref_unwrap(column)));
            lines.push(shown.collect::<Vec<_>>().join("|"));
        }
    }
    lines
}

/// Every file of a report but the one that tells when and how long the run was.
pub fn report(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a report") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("run.md") {
                let name = path.strip_prefix(folder).expect("inside").to_owned();
                files.push((name, fs::read(&path).expect("readable")));
            }
        }
    }
    files.sort();
    files
}

/// The program in a folder, silent.
pub fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookahead"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// `run` of `small.toml` into `NAME.db`, with its report in `NAME-report`.
pub fn run(folder: &Path, name: &str, more: &[&str]) -> Command {
    let (store, out) = (format!("{name}.db"), format!("{name}-report"));
    let arguments = ["run", "small.toml", "--store", &store, "--report", &out];
    program(folder, &[&arguments, more].concat())
}

/// A temporary folder with `small.toml`.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), TEXT).expect("written");
    folder
}

/// Bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Longer than any command of a test takes, on a machine that does ten other things.
const LONGEST: Duration = Duration::from_secs(3_600);

/// Kills a process that a test would wait for in vain, unless it is dropped before.
pub struct Watch(#[expect(dead_code, reason = "its end is what counts")] Sender<()>);

impl Watch {
    /// Of a process that should have come to its end by then.
    pub fn new(process: &Child, limit: Duration) -> Self {
        let number = process.id().to_string();
        let (watched, end) = channel::<()>();
        std::thread::spawn(move || {
            if end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                let _ = Command::new("kill").args(["-KILL", &number]).status();
            }
        });
        Self(watched)
    }
}

/// Runs a command to its end and keeps what it said.
pub fn output(mut command: Command) -> Output {
    let process = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let _watch = Watch::new(&process, LONGEST);
    process.wait_with_output().expect("it ends")
}
