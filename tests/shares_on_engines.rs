//! Shares as jobs of the engines that exist: a real Slurm started in a folder of its own, where its
//! packages are installed (`slurmctld slurmd slurm-client munge`); HyperQueue by its recorded
//! command line, and for real where `hq` is on the path.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::shards::{said, same_tables, succeeds};
use crate::support::program::{TEXT, run, text};

/// Long enough that something happens in the middle of it.
const LONG: &str = r#"
[experiment]
name = "night"
replications = 24
[workload]
model = "lublin-feitelson"
jobs = 100000
nodes = 64
battery_jobs = 3000
load.value = 2.0
[failures]
source = "generated"
[[axis]]
key = "scheduling.strategy"
values = ["easy-backfilling", "heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking"]
[[axis]]
key = "acceptance.pof_max"
range = { from = 0.1, to = 0.5, step = 0.01 }
"#;

/// How long shares of [`LONG`] may take on a slow machine with other work.
const LONGEST_WAIT: Duration = Duration::from_secs(400);

fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONGEST_WAIT, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A Slurm of one machine, with its own keys, ports and folders; it ends with the test.
struct Slurm {
    folder: PathBuf,
    daemons: Vec<(&'static str, Child)>,
}

impl Slurm {
    /// `None`, with a message, where it cannot be had.
    fn start(folder: &Path) -> Option<Self> {
        let programs = ["munged", "slurmctld", "slurmd", "sbatch", "squeue"];
        if let Some(missing) = programs.iter().find(|program| installed(program).is_none()) {
            println!("skipped: Slurm is not installed here (no `{missing}`)");
            return None;
        }
        let user = Command::new("id")
            .arg("-u")
            .output()
            .expect("id is everywhere");
        if text(&user.stdout).trim() != "0" {
            println!("skipped: only root may start Slurm's daemons");
            return None;
        }
        for name in ["state", "spool", "run"] {
            fs::create_dir_all(folder.join(name)).expect("made");
        }
        let name = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
        let name = name.trim().split('.').next().unwrap_or_default();
        let port = || {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            listener.local_addr().expect("an address").port()
        };
        let at = folder.display();
        let configuration = format!(
            "ClusterName=test\nSlurmctldHost={name}(127.0.0.1)\nAuthType=auth/munge\n\
             AuthInfo=socket={at}/run/munge.socket\nSlurmUser=root\nSlurmdUser=root\nSlurmctldPort={}\nSlurmdPort={}\n\
             StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\nSlurmctldPidFile={at}/run/slurmctld.pid\n\
             SlurmdPidFile={at}/run/slurmd.pid\nSlurmctldLogFile={at}/slurmctld.log\nSlurmdLogFile={at}/slurmd.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nMpiDefault=none\nReturnToService=2\nInactiveLimit=0\n\
             NodeName={name} NodeAddr=127.0.0.1 CPUs={} State=UNKNOWN\n\
             PartitionName=all Nodes={name} Default=YES MaxTime=INFINITE State=UP\n",
            port(),
            port(),
            std::thread::available_parallelism().map_or(1, usize::from),
        );
        fs::write(folder.join("slurm.conf"), configuration).expect("written");
        // Any bytes do: nobody else is to be kept out.
        fs::write(folder.join("key"), [7; 1024]).expect("written");
        let mut slurm = Self {
            folder: folder.to_owned(),
            daemons: Vec::new(),
        };
        use std::os::unix::fs::PermissionsExt as _;
        for (file, mode) in [("key", 0o600), ("run", 0o755), ("", 0o755)] {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(folder.join(file), mode).expect("allowed");
        }
        slurm.daemon(
            "munged",
            &[
                "--foreground",
                "--force",
                &format!("--key-file={at}/key"),
                &format!("--socket={at}/run/munge.socket"),
                &format!("--pid-file={at}/run/munge.pid"),
                &format!("--log-file={at}/munged.log"),
                &format!("--seed-file={at}/run/seed"),
            ],
        );
        wait_until("munged", || folder.join("run/munge.socket").exists());
        slurm.daemon("slurmctld", &["-D"]);
        slurm.daemon("slurmd", &["-D"]);
        wait_until("an idle node", || {
            slurm.says("sinfo", &["--noheader", "--format=%t"]).trim() == "idle"
        });
        Some(slurm)
    }

    fn daemon(&mut self, program: &'static str, arguments: &[&str]) {
        let program_path = installed(program).expect("looked for before");
        // Even a test that is killed leaves nothing behind: the daemon dies with the thread that
        // started it.
        let mut command = match installed("setpriv") {
            Some(setpriv) => {
                let mut command = Command::new(setpriv);
                command.args(["--pdeathsig", "KILL"]).arg(program_path);
                command
            }
            None => Command::new(program_path),
        };
        let child = command
            .args(arguments)
            .env("SLURM_CONF", self.folder.join("slurm.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        self.daemons.push((program, child));
    }

    fn kill(&mut self, program: &str) {
        for (_, daemon) in self.daemons.iter_mut().filter(|(name, _)| *name == program) {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        self.daemons.retain(|(name, _)| *name != program);
    }

    fn says(&self, program: &str, arguments: &[&str]) -> String {
        let ended = Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", self.folder.join("slurm.conf"))
            .output()
            .expect("it starts");
        text(&ended.stdout)
    }

    fn wait_for_all_jobs(&self) {
        wait_until("all jobs end", || {
            self.says("squeue", &["--noheader"]).trim().is_empty()
        });
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.says("scancel", &["--me"]);
        for program in ["slurmd", "slurmctld", "munged"] {
            self.kill(program);
        }
    }
}

/// Simulations done in a store, and the process that said it is working on it.
fn progress(store: &Path) -> (i64, Option<u32>) {
    let Ok(connection) = Connection::open(store) else {
        return (0, None);
    };
    let count = connection.query_row(
        "SELECT count(*) FROM simulation WHERE state = 2",
        [],
        |row| row.get(0),
    );
    let process = connection.query_row("SELECT max(process) FROM run", [], |row| row.get(0));
    (count.unwrap_or(0), process.unwrap_or(None))
}

#[test]
fn slurm_runs_the_shares_outlives_its_daemon_and_a_lost_share_is_submitted_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("small.toml"), LONG).expect("written");
    let Some(mut slurm) = Slurm::start(&path.join("slurm")) else {
        return;
    };
    let submit = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bookahead"));
        command
            .args(["submit", "--engine", "slurm", "small.toml", "--shards", "3"])
            .args(["--dir", "the shares"])
            .current_dir(path)
            .env("SLURM_CONF", slurm_configuration(path));
        let ended = command.output().expect("it starts");
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        text(&ended.stdout) + &text(&ended.stderr)
    };
    let first = submit();
    for words in [
        "submitted as Slurm job",
        "shares 1-3 of 3",
        "squeue --job",
        "runs --shards",
    ] {
        assert!(first.contains(words), "no `{words}` in: {first}");
    }
    let stores: Vec<PathBuf> = (1..=3)
        .map(|number| path.join(format!("the shares/shard-{number}-of-3.db")))
        .collect();
    // One share is stopped at its first results, so that it is certainly unfinished when it is
    // killed.
    wait_until("the second share has results", || {
        stores[1].exists() && progress(&stores[1]).0 > 0
    });
    let (_, lost) = progress(&stores[1]);
    let lost = lost
        .expect("a share says by which process it is run")
        .to_string();
    signal("-STOP", &lost);
    wait_until("every share has results", || {
        stores
            .iter()
            .all(|store| store.exists() && progress(store).0 > 0)
    });
    // The daemon dies, and with it one share, as on a machine that ran out of memory.
    slurm.kill("slurmd");
    signal("-KILL", &lost);
    std::thread::sleep(Duration::from_secs(1));
    slurm.daemon("slurmd", &["-D"]);
    slurm.wait_for_all_jobs();
    let shown = succeeds(path, &["runs", "--shards", "the shares"]);
    assert!(shown.contains("2 of 3 shares complete"), "{shown}");
    let (code, partly) = said(path, &["merge", "all.db", "the shares"]);
    assert!(code == 1 && partly.contains("missing"), "{partly}");
    let second = submit();
    assert!(second.contains("shares 2 of 3"), "{second}");
    slurm.wait_for_all_jobs();
    let third = submit();
    assert!(third.contains("nothing is submitted"), "{third}");
    succeeds(path, &["merge", "all.db", "the shares"]);
    assert!(run(path, "single", &[]).status().expect("runs").success());
    same_tables(&path.join("single.db"), &path.join("all.db"));
}

fn signal(signal: &str, process: &str) {
    let sent = Command::new("kill")
        .args([signal, process])
        .status()
        .expect("kill is everywhere");
    assert!(sent.success(), "process {process} was still running");
}

fn slurm_configuration(path: &Path) -> PathBuf {
    path.join("slurm/slurm.conf")
}

#[test]
fn hyperqueue_gets_one_task_for_each_share_that_is_not_complete() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("small.toml"), TEXT).expect("written");
    fs::create_dir(path.join("bin")).expect("made");
    let hq = path.join("bin/hq");
    fs::write(
        &hq,
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > recorded\necho 17\n",
    )
    .expect("written");
    fs::set_permissions(&hq, fs::Permissions::from_mode(0o755)).expect("allowed");
    let paths = std::env::join_paths(std::iter::once(path.join("bin")).chain(
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()),
    ))
    .expect("a path");
    let submit = |more: &[&str]| {
        let ended = Command::new(env!("CARGO_BIN_EXE_bookahead"))
            .args([
                "submit",
                "--engine",
                "hyperqueue",
                "small.toml",
                "--shards",
                "3",
            ])
            .args(["--dir", "shares", "--workers", "2"])
            .args(more)
            .current_dir(path)
            .env("PATH", &paths)
            .output()
            .expect("it starts");
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        text(&ended.stdout) + &text(&ended.stderr)
    };
    let first = submit(&["--option=--time-request=1h"]);
    assert!(
        first.contains("HyperQueue job 17") && first.contains("hq job info 17"),
        "{first}"
    );
    let shares = path.canonicalize().expect("a folder").join("shares");
    let shares = shares.display();
    let expected = [
        "--output-mode=quiet".to_owned(),
        "submit".to_owned(),
        "--name=bookahead-small".to_owned(),
        "--array=1-3".to_owned(),
        "--cpus=2".to_owned(),
        format!("--cwd={}", path.canonicalize().expect("a folder").display()),
        format!("--stdout={shares}/shard-%{{TASK_ID}}-of-3.log"),
        format!("--stderr={shares}/shard-%{{TASK_ID}}-of-3.log"),
        "--time-request=1h".to_owned(),
        "--".to_owned(),
        "bash".to_owned(),
        format!("{shares}/hyperqueue.sh"),
    ];
    let recorded = || fs::read_to_string(path.join("recorded")).expect("recorded");
    assert_eq!(recorded().lines().collect::<Vec<_>>(), expected);
    // What HyperQueue would do with two of the tasks.
    let task = |number: &str| {
        let ended = Command::new("bash")
            .arg(path.join("shares/hyperqueue.sh"))
            .env("HQ_TASK_ID", number)
            .current_dir("/")
            .output()
            .expect("it starts");
        assert!(ended.status.success(), "{}", text(&ended.stderr));
    };
    task("1");
    task("3");
    submit(&[]);
    assert!(recorded().contains("--array=2\n"), "{}", recorded());
    submit(&["--only", "1-2"]);
    assert!(recorded().contains("--array=1-2\n"), "{}", recorded());
    task("2");
    assert!(submit(&[]).contains("nothing is submitted"));
    succeeds(path, &["merge", "all.db", "shares"]);
    assert!(run(path, "single", &[]).status().expect("runs").success());
    same_tables(&path.join("single.db"), &path.join("all.db"));
}

#[test]
fn a_real_hyperqueue_runs_the_shares_where_there_is_one() {
    let Some(hq) = installed("hq") else {
        println!("skipped: HyperQueue is not installed here (no `hq`)");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("small.toml"), TEXT).expect("written");
    let start = |arguments: &[&str]| {
        Command::new(&hq)
            .args(arguments)
            .env("HQ_SERVER_DIR", path.join("server"))
            .current_dir(path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts")
    };
    let mut server = start(&["server", "start"]);
    let answers = || {
        start(&["server", "info"])
            .wait()
            .is_ok_and(|status| status.success())
    };
    wait_until("a server", answers);
    let mut worker = start(&["worker", "start"]);
    let ended = Command::new(env!("CARGO_BIN_EXE_bookahead"))
        .args([
            "submit",
            "--engine",
            "hyperqueue",
            "small.toml",
            "--shards",
            "3",
            "--dir",
            "shares",
        ])
        .current_dir(path)
        .env("HQ_SERVER_DIR", path.join("server"))
        .output()
        .expect("it starts");
    let waited = start(&["job", "wait", "all"]).wait();
    let _ = start(&["server", "stop"]).wait();
    let _ = (worker.wait(), server.wait());
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    assert!(waited.is_ok_and(|status| status.success()));
    succeeds(path, &["merge", "all.db", "shares"]);
    assert!(run(path, "single", &[]).status().expect("runs").success());
    same_tables(&path.join("single.db"), &path.join("all.db"));
}

#[test]
fn a_dry_run_writes_the_script_and_submits_nothing_and_a_folder_keeps_to_one_experiment() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("small.toml"), TEXT).expect("written");
    let submit = |more: &[&str]| {
        let fixed = [
            "submit",
            "--engine",
            "slurm",
            "small.toml",
            "--dry-run",
            "--shards",
        ];
        said(path, &[&fixed, more].concat())
    };
    let (code, shown) = submit(&[
        "40",
        "--workers",
        "8",
        "--seed",
        "9",
        "--outcomes",
        "metrics",
        "--durability",
        "full",
    ]);
    assert_eq!(code, 0, "{shown}");
    for words in [
        "sbatch --parsable --array=1-40 ",
        "data/small.shards/slurm.sh",
        "bookahead merge",
    ] {
        assert!(shown.contains(words), "no `{words}` in: {shown}");
    }
    let script = fs::read_to_string(path.join("data/small.shards/slurm.sh")).expect("written");
    for words in [
        "#SBATCH --array=1-40",
        "#SBATCH --cpus-per-task=8",
        "--shard \"${SLURM_ARRAY_TASK_ID}\"/40",
        "--workers 8 --outcomes metrics \\\n  --durability full --seed 9\n",
    ] {
        assert!(script.contains(words), "no `{words}` in: {script}");
    }
    let (code, shown) = submit(&["40", "--only", "41"]);
    assert!(code == 2 && shown.contains("no share 41"), "{shown}");
    let (code, shown) = submit(&["40", "--only", "3-1"]);
    assert!(code == 2 && shown.contains("2,5-7"), "{shown}");
    fs::write(
        path.join("small.toml"),
        TEXT.replace("nodes = 64", "nodes = 32"),
    )
    .expect("written");
    let (code, shown) = submit(&["40"]);
    assert!(
        code == 2 && shown.contains("another configuration"),
        "{shown}"
    );
}
