//! What is not what it seems is said before, during and after a run: the size of the machine, jobs
//! that do not fit it, and loads that no machine has.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use bookahead::store::{RunSelector, Store};
use bookahead::studies::STUDIES;

use crate::support::program::{folder, output, program, text};

/// A log of 200 jobs on a machine of so many processors; one job in ten is 48 wide, the others 1.
fn write_log(folder: &Path, header: &str) {
    let mut log = header.to_owned();
    for job in 1..=200 {
        let width = if job % 10 == 0 { 48 } else { 1 };
        let submit = job * 60;
        let _ = writeln!(
            log,
            "{job} {submit} -1 {} {width} -1 -1 {width} 600 -1 1 1 1 1 1 -1 -1 -1",
            100 + job
        );
    }
    fs::write(folder.join("log.swf"), log).expect("written");
}

const HEADER: &str = "; MaxNodes: 8\n; MaxProcs: 64\n";

fn write_experiment(folder: &Path, workload: &str) {
    let text = format!(
        "[experiment]\nname = \"it\"\nreplications = 2\n[workload]\nbattery_jobs = 50\n{workload}\n\
         [scheduling]\nstrategy = \"heuristic-planning\"\n"
    );
    fs::write(folder.join("it.toml"), text).expect("written");
}

/// What the program says on standard error, in one line, and its exit code.
fn said_of(folder: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let done = output(program(folder, arguments));
    let said = text(&done.stderr);
    let words = said.split_whitespace().filter(|word| *word != "│");
    (words.collect::<Vec<_>>().join(" "), done.status.code())
}

const CHECK: [&str; 2] = ["check", "it.toml"];
const RUN: [&str; 4] = ["run", "it.toml", "--store", "all.db"];

fn page(folder: &Path) -> String {
    fs::read_to_string(folder.join("reports/it/index.html")).expect("a page")
}

#[test]
fn without_nodes_a_machine_is_as_large_as_the_header_of_its_log_says_and_nothing_is_said() {
    let folder = folder();
    let folder = folder.path();
    write_log(folder, HEADER);
    write_experiment(folder, "trace = \"log.swf\"\ncompression = 1.0");
    for arguments in [&CHECK[..], &RUN[..]] {
        let (said, code) = said_of(folder, arguments);
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("of the log's machine"), "{said}");
    }
    let store = Store::open_read_only(STUDIES, &folder.join("all.db")).expect("a store");
    let run = store.run(&RunSelector::Latest).expect("a run");
    assert_eq!(store.simulated_machines(run.id).expect("read"), []);
    drop(store);
    // The same file with that size has the same points: everything is done.
    write_experiment(folder, "trace = \"log.swf\"\ncompression = 1.0\nnodes = 64");
    let (said, code) = said_of(folder, &RUN);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2 points done already"), "{said}");
    assert!(
        !said.contains("nothing in this sweep reads this key"),
        "{said}"
    );
}

/// An experiment with the log's site and a further one.
fn write_sites(folder: &Path, more: &str) {
    let text = format!(
        "[experiment]\nname = \"it\"\n[workload]\ntrace = \"log.swf\"\nwhole_trace = true\n\
         [scheduling]\nstrategy = \"provisioning\"\n[workflow]\ntasks = 3\nmean_nodes = 2\n\
         [[sites.more]]\n{more}\n"
    );
    fs::write(folder.join("it.toml"), text).expect("written");
}

#[test]
fn a_further_site_is_as_large_as_the_machine_of_its_log_and_another_size_is_said() {
    let folder = folder();
    let folder = folder.path();
    write_log(folder, "; MaxProcs: 96\n");
    fs::rename(folder.join("log.swf"), folder.join("other.swf")).expect("renamed");
    write_log(folder, HEADER);
    write_sites(folder, "trace = \"other.swf\"");
    let (said, code) = said_of(folder, &RUN);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("of the log's machine"), "{said}");
    // The same file with that size has the same points: everything is done.
    write_sites(folder, "trace = \"other.swf\"\nnodes = 96");
    let (said, code) = said_of(folder, &RUN);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 points done already"), "{said}");
    // A log of its own, and the log of the first site, on smaller machines.
    for (more, name, share, of) in [
        ("trace = \"other.swf\"\nnodes = 32", "other", 33, 96),
        ("nodes = 32", "log", 50, 64),
    ] {
        write_sites(folder, more);
        let sentence = format!(
            "{name}: 32 nodes, {share} % of the log's machine ({of}); 10 % of the jobs do not fit and are left out"
        );
        for arguments in [&CHECK[..], &RUN[..]] {
            let (said, code) = said_of(folder, arguments);
            assert_eq!(code, Some(0), "{said}");
            assert_eq!(said.matches(&sentence).count(), 1, "{more}: {said}");
        }
        let page_text = page(folder).replace("&#39;", "'").replace("&#x27;", "'");
        assert!(page_text.contains(&sentence), "{page_text}");
    }
    write_log(folder, "; Version: 2\n");
    fs::rename(folder.join("log.swf"), folder.join("other.swf")).expect("renamed");
    write_log(folder, HEADER);
    write_sites(folder, "trace = \"other.swf\"");
    let (without, code) = said_of(folder, &CHECK);
    assert_eq!(code, Some(2));
    for part in [
        "sites.more.nodes",
        "the machine has no size, as the header of other.swf names neither MaxProcs nor MaxNodes",
        "add `nodes = …`",
    ] {
        assert!(without.contains(part), "{part}: {without}");
    }
}

#[test]
fn a_log_without_a_size_and_a_log_that_is_not_there_ask_for_nodes() {
    let folder = folder();
    let folder = folder.path();
    write_log(folder, "; Version: 2\n");
    write_experiment(folder, "trace = \"log.swf\"\ncompression = 1.0");
    let (without, code) = said_of(folder, &CHECK);
    assert_eq!(code, Some(2));
    let why =
        "the machine has no size, as the header of log.swf names neither MaxProcs nor MaxNodes";
    assert!(without.contains(why), "{without}");
    assert!(
        without.contains("workload.nodes") && without.contains("add `nodes = …`"),
        "{without}"
    );
    write_experiment(folder, "trace = \"lost.swf\"\ncompression = 1.0");
    let (lost, code) = said_of(folder, &CHECK);
    assert_eq!(code, Some(2));
    assert!(lost.contains("the trace lost.swf was not found"), "{lost}");
}

#[test]
fn a_machine_that_is_too_small_for_its_log_is_warned_of_before_during_and_after_a_run() {
    let folder = folder();
    let folder = folder.path();
    write_log(folder, HEADER);
    write_experiment(folder, "trace = \"log.swf\"\ncompression = 1.0\nnodes = 32");
    let sentence = "log: 32 nodes, 50 % of the log's machine (64); 10 % of the jobs do not fit and are left out";
    for arguments in [&CHECK[..], &["run", "it.toml", "--dry-run"], &RUN[..]] {
        let (said, code) = said_of(folder, arguments);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(said.matches(sentence).count(), 1, "{arguments:?}: {said}");
    }
    let json = output(program(folder, &["check", "it.toml", "--json"]));
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(
        json["remarks"],
        serde_json::json!([format!("warning: {sentence}")])
    );
    let page_text = page(folder).replace("&#39;", "'").replace("&#x27;", "'");
    assert!(
        page_text.contains(&format!("<li class=\"bad\">{sentence}")),
        "{page_text}"
    );
    // A comparison says it of each run.
    let other = fs::read_to_string(folder.join("it.toml")).expect("written");
    let other = other.replace("\"it\"", "\"other\"");
    fs::write(folder.join("other.toml"), other).expect("written");
    let (_, code) = said_of(folder, &["run", "other.toml", "--store", "all.db"]);
    assert_eq!(code, Some(0));
    let compare = [
        "compare", "it", "other", "--store", "all.db", "--out", "beside",
    ];
    let done = output(program(folder, &compare));
    assert!(done.status.success(), "{done:?}");
    let beside = fs::read_to_string(folder.join("beside/index.html")).expect("a page");
    let beside = beside.replace("&#39;", "'").replace("&#x27;", "'");
    assert!(beside.contains(sentence), "{beside}");
}

#[test]
fn a_machine_that_is_larger_than_that_of_its_log_is_a_note() {
    let folder = folder();
    let folder = folder.path();
    write_log(folder, HEADER);
    write_experiment(
        folder,
        "trace = \"log.swf\"\ncompression = 1.0\nnodes = 128",
    );
    let (said, _) = said_of(folder, &CHECK);
    let note = "note: log: 128 nodes, 200 % of the log's machine (64); every job fits";
    assert!(said.contains(note), "{said}");
}

#[test]
fn a_load_that_no_machine_has_is_warned_of_with_what_it_means() {
    let folder = folder();
    let folder = folder.path();
    let model = "model = \"lublin-feitelson\"\njobs = 300\nnodes = 64\n";
    for (load, meaning) in [
        (
            "200",
            "a load of 200: the jobs ask the machine for 200 times its capacity",
        ),
        (
            "0.01",
            "a load of 0.01: the jobs ask the machine for 1 % of its capacity",
        ),
    ] {
        write_experiment(
            folder,
            &format!("{model}load.value = {load}.0").replace("0.01.0", "0.01"),
        );
        for arguments in [&CHECK[..], &RUN[..]] {
            let (said, code) = said_of(folder, arguments);
            assert_eq!(code, Some(0), "{said}");
            assert!(said.contains(meaning), "{said}");
        }
        let page = page(folder);
        assert!(page.contains(meaning));
        assert!(page.contains("The load is one by estimates: "), "{page}");
    }
    write_experiment(folder, &format!("{model}load.value = 2.0"));
    let (said, _) = said_of(folder, &CHECK);
    assert!(!said.contains("a load of"), "{said}");
}

#[test]
fn a_load_by_run_times_is_another_one_than_a_load_by_estimates_and_pages_say_which() {
    let folder = folder();
    let folder = folder.path();
    let model = "model = \"lublin-feitelson\"\njobs = 300\nnodes = 64\n";
    let booked = |by: &str| {
        write_experiment(
            folder,
            &format!("{model}load = {{ by = \"{by}\", value = 0.9 }}"),
        );
        assert_eq!(said_of(folder, &RUN).1, Some(0));
        let page = page(folder);
        let is_of = |sentence: &str| page.contains(sentence);
        (
            is_of("The load is one by estimates: "),
            is_of("The load is one by run times: "),
        )
    };
    assert_eq!(booked("estimates"), (true, false));
    assert_eq!(booked("runtimes"), (false, true));
    let question = "SELECT count(DISTINCT jobs_hash) FROM simulation";
    let done = output(program(
        folder,
        &["sql", question, "--store", "all.db", "--format", "csv"],
    ));
    let rows = text(&done.stdout);
    assert!(rows.lines().any(|line| line == "4"), "{rows}");
}

/// A machine file of 64 nodes with so many cores each.
fn write_machine(folder: &Path, cores: u32, more: &str) {
    let text =
        format!("name = \"m\"\n{more}\n[[class]]\nname = \"n\"\nnodes = 64\ncores = {cores}\n");
    fs::write(folder.join("m.toml"), text).expect("written");
}

const SIMULATE: [&str; 4] = ["simulate", "log.swf", "--machine", "m.toml"];

#[test]
fn a_trace_that_counts_nodes_is_refused_by_a_machine_that_counts_cores_unless_it_says_how_many() {
    let folder = folder();
    let folder = folder.path();
    let header = "; MaxNodes: 64\n; MaxProcs: 64\n; Note: processors in this file are nodes\n";
    write_log(folder, header);
    write_machine(folder, 32, "");
    write_experiment(folder, "trace = \"log.swf\"\ncompression = 1.0");
    let machine_queue = "[experiment]\nname = \"it\"\n[workload]\ntrace = \"log.swf\"\nwhole_trace = true\n\
                         [scheduling]\nstrategy = \"machine-queue\"\n[machine]\nfile = \"m.toml\"\n";
    fs::write(folder.join("it.toml"), machine_queue).expect("written");
    let advise = ["advise", "log.swf", "--machine", "m.toml"];
    for arguments in [&SIMULATE[..], &CHECK[..], &advise[..]] {
        let (refused, code) = said_of(folder, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {refused}");
        for words in [
            "its processors are nodes, and nodes of the machine `m` have 32 cores",
            "`cores_per_processor = 32` in the machine file",
            "`--unit cpus`",
        ] {
            assert!(refused.contains(words), "{arguments:?}: {words}: {refused}");
        }
    }
    assert!(!folder.join("reports").exists(), "a page was written");
    // A job of 48 nodes holds 48 of the 64, whatever their cores.
    write_machine(folder, 32, "cores_per_processor = 32");
    let json = |arguments: &[&str]| -> serde_json::Value {
        let done = output(program(folder, arguments));
        assert!(done.status.success(), "{done:?}");
        serde_json::from_slice(&done.stdout).expect("JSON")
    };
    let with = json(&[&SIMULATE[..], &["--json"]].concat());
    write_machine(folder, 1, "");
    let as_nodes = json(&[&SIMULATE[..], &["--json"]].concat());
    assert_eq!(
        with["all"]["mean_wait_seconds"],
        as_nodes["all"]["mean_wait_seconds"]
    );
    write_machine(folder, 32, "cores_per_processor = 32");
    let (fits, code) = said_of(folder, &RUN);
    assert_eq!(code, Some(0), "{fits}");
}

#[test]
fn a_trace_that_counts_cores_is_refused_by_a_machine_that_counts_its_nodes() {
    let folder = folder();
    let folder = folder.path();
    write_log(folder, "; MaxNodes: 64\n; MaxProcs: 512\n");
    write_machine(folder, 1, "");
    let (refused, code) = said_of(folder, &SIMULATE);
    assert_eq!(code, Some(2), "{refused}");
    let why = "the header of the trace says 512 processors on 64 nodes, so its jobs count cores, and the machine `m` has 64 nodes of one core";
    assert!(refused.contains(why), "{refused}");
    write_machine(folder, 8, "");
    assert_eq!(said_of(folder, &SIMULATE).1, Some(0));
    write_machine(folder, 1, "cores_per_processor = 1");
    assert_eq!(said_of(folder, &SIMULATE).1, Some(0), "it is meant so");
}
