//! `bookahead simulate --machine` and `bookahead machine` as people call them.

use std::fs;
use std::path::Path;
use std::process::Output;

use bookahead::workload::ParsedTrace;
use bookahead_queues::machine_queue::machines::MachineDescription;
use bookahead_queues::machine_queue::machines::slurm::Includes;
use serde_json::Value;

use crate::support::program::{folder, output, program, text};

/// A machine of four nodes with two partitions.
pub const MACHINE: &str = r#"
name = "four nodes"
zone = "Europe/Berlin"
[[class]]
name = "node"
nodes = 4
[[partition]]
name = "short"
queues = ["quick"]
tier = 2
longest_hours = 0.01
[[partition]]
name = "long"
default = true
"#;

/// Jobs of all four nodes: job 3 passes job 2 by its partition. Job 4 is too wide, and job 5 asks
/// for 40 s where 36 are allowed.
pub const TRACE: &str = "\
; MaxProcs: 4
; UnixStartTime: 1711832400
; Queue: 1 quick
; Queue: 2 slow
1 0 0 100 4 -1 -1 4 100 -1 1 1 1 1 2 -1 -1 -1
2 10 90 50 4 -1 -1 4 50 -1 1 1 1 1 2 -1 -1 -1
3 20 150 20 4 -1 -1 4 30 -1 1 2 1 1 1 -1 -1 -1
4 30 0 20 5 -1 -1 5 30 -1 1 2 1 1 2 -1 -1 -1
5 40 0 20 1 -1 -1 1 40 -1 1 2 1 1 1 -1 -1 -1
";

fn call(place: &Path, arguments: &[&str]) -> Output {
    output(program(place, arguments))
}

fn answer(place: &Path, arguments: &[&str]) -> Value {
    let output = call(place, &[&["simulate"], arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn refusal(place: &Path, arguments: &[&str]) -> String {
    let output = call(place, arguments);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    text(&output.stderr)
}

fn with_files() -> tempfile::TempDir {
    let place = folder();
    fs::write(place.path().join("trace.swf"), TRACE).expect("a writable folder");
    fs::write(place.path().join("machine.toml"), MACHINE).expect("a writable folder");
    place
}

const SIMULATE: [&str; 3] = ["trace.swf", "--machine", "machine.toml"];

#[test]
fn a_hand_made_trace_waits_as_on_paper_and_its_recorded_waits_stand_beside() {
    let place = with_files();
    let found = answer(place.path(), &SIMULATE);
    // Job 1 ends at 100; job 3 runs until 120, and job 2 from then on: waits of 0, 110 and 80 s.
    let all = &found["all"];
    assert_eq!(
        (&all["jobs"], &all["started"]),
        (&Value::from(5), &Value::from(3))
    );
    let mean = all["mean_wait_seconds"].as_f64().unwrap();
    assert!((mean - 190.0 / 3.0).abs() < 1e-9, "{mean}");
    // 680 of the 4 · 170 core-seconds from 0 to 170.
    assert_eq!(all["utilisation"], 1.0);
    assert_eq!(found["refused_because"]["larger than the machine"], 1);
    assert_eq!(found["refused_because"]["longer than allowed"], 1);
    let partitions = found["partitions"].as_array().unwrap();
    let row = |name: &str| partitions.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(row("short")["mean_wait_seconds"], 80.0);
    assert_eq!(row("long")["mean_wait_seconds"], 55.0);
    assert_eq!(
        (&row("short")["refused"], &row("long")["refused"]),
        (&Value::from(1), &Value::from(1))
    );
    let compared = &found["against_log"][0];
    assert_eq!(
        (&compared["by"], &compared["jobs"]),
        (&Value::from("all"), &Value::from(3))
    );
    assert_eq!(compared["recorded_wait_seconds"]["mean"], 80.0);
    assert_eq!(compared["recorded_wait_seconds"]["median"], 90.0);
    // |0 − 0|, |110 − 90| and |80 − 150|; ranks 1, 2, 3 and 1, 3, 2.
    assert_eq!(compared["mean_absolute_difference_seconds"], 30.0);
    assert_eq!(compared["rank_correlation"], 0.5);
    let by: Vec<&str> = (found["against_log"].as_array().unwrap().iter())
        .map(|row| row["by"].as_str().unwrap())
        .collect();
    // Job 2 was told 100 when it came, and starts at 120; job 3 the same of its own partition, and
    // does.
    let announced = &found["announced_starts"];
    assert_eq!(
        (&announced["waited"], &announced["announced"]),
        (&Value::from(2), &Value::from(2))
    );
    assert_eq!(
        (&announced["mean_error_seconds"], &announced["later_share"]),
        (&Value::from(10.0), &Value::from(0.5))
    );
    assert_eq!(announced["mean_delay_seconds"], 20.0);
    // Queues are the partitions here: one table is enough.
    assert_eq!(by, ["all", "partition", "partition", "width", "request"]);
}

#[test]
fn the_text_has_tables_by_partition_width_and_request_in_eighty_columns() {
    let place = with_files();
    let output = call(place.path(), &[&["simulate"], &SIMULATE[..]].concat());
    let told = text(&output.stdout);
    for line in [
        "machine                 four nodes, users' requests",
        "refused                 1 larger than the machine (20.00 %)",
        "announced starts        2 of 2 jobs that waited (100.00 %)",
        "  |start - announced|   mean 0.00 h, median 0.00 h",
        "  later than announced  50.00 %, by 0.01 h in the mean",
        "by width",
        "by request",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let wide: Vec<&str> = told
        .lines()
        .filter(|line| line.chars().count() > 80)
        .collect();
    assert!(wide.is_empty(), "{wide:?}");
}

#[test]
fn the_schedule_of_a_machine_is_a_trace_with_its_waits() {
    let place = with_files();
    let written = ["--schedule", "out.swf", "--jobs", "3"];
    let found = answer(place.path(), &[&SIMULATE[..], &written].concat());
    assert_eq!(found["all"]["jobs"], 3);
    let schedule = ParsedTrace::read(&place.path().join("out.swf")).unwrap();
    let waits: Vec<(i64, i64)> = (schedule.records.iter())
        .map(|record| (record.job_number, record.wait))
        .collect();
    assert_eq!(waits, [(1, 0), (2, 110), (3, 80)]);
    let note = schedule.header.all("Note").join(" ");
    assert!(note.contains("on the machine four nodes"), "{note}");
    let same = [&["simulate"], &SIMULATE[..], &["--schedule", "trace.swf"]].concat();
    assert!(refusal(place.path(), &same).contains("is the trace itself"));
}

#[test]
fn what_a_machine_file_decides_cannot_be_asked_for_beside_it() {
    let place = with_files();
    for (flag, value) in [
        ("--policy", "easy-backfilling"),
        ("--nodes", "4"),
        ("--load", "0.9"),
        ("--lead", "10"),
        ("--store", "a.db"),
        ("--predictor", "average-of-two"),
        ("--order", "sjf"),
    ] {
        let told = refusal(
            place.path(),
            &[&["simulate"], &SIMULATE[..], &[flag, value]].concat(),
        );
        assert!(told.contains(flag) && told.contains("--machine"), "{told}");
    }
    let told = refusal(place.path(), &["simulate", "trace.swf"]);
    assert!(told.contains("--policy"), "{told}");
    let told = refusal(
        place.path(),
        &[
            "simulate",
            "trace.swf",
            "--policy",
            "easy-backfilling",
            "--names",
            "a.csv",
        ],
    );
    assert!(told.contains("--machine"), "{told}");
}

#[test]
fn windows_need_the_clock_of_the_trace_and_close_the_machine() {
    let place = with_files();
    // The trace begins on 30 March 2024 at 22:00 in Berlin; the machine is closed from 22:01 to
    // 23:00.
    let window =
        "[[window]]\nname = \"work\"\nbegin = 2024-03-30T22:01:00\nlength_hours = 0.9833333333\n";
    fs::write(
        place.path().join("machine.toml"),
        format!("{MACHINE}{window}"),
    )
    .unwrap();
    let found = answer(place.path(), &SIMULATE);
    // Job 1 asks for 100 s and would not be done at 60; job 2 is, from 10 on. Job 3 of the higher
    // tier comes first at 3600, then job 1 at 3620.
    assert_eq!(found["windows"], 1);
    let partitions = found["partitions"].as_array().unwrap();
    assert_eq!(partitions[0]["mean_wait_seconds"], 3_580.0);
    assert_eq!(partitions[1]["longest_wait_seconds"], 3_620);
    fs::write(
        place.path().join("trace.swf"),
        TRACE.replace("; UnixStartTime: 1711832400\n", ""),
    )
    .unwrap();
    let told = refusal(place.path(), &[&["simulate"], &SIMULATE[..]].concat());
    assert!(told.contains("UnixStartTime"), "{told}");
}

#[test]
fn jobs_without_a_place_are_counted_and_a_trace_without_any_is_an_error() {
    let place = with_files();
    let machine = place.path().join("machine.toml");
    fs::write(&machine, MACHINE.replace("default = true", "queues = [7]")).unwrap();
    let found = answer(place.path(), &SIMULATE);
    assert_eq!(found["without_partition"], 3);
    assert_eq!(found["all"]["jobs"], 2);
    fs::write(
        &machine,
        MACHINE
            .replace("default = true", "")
            .replace("quick", "unheard"),
    )
    .unwrap();
    let told = refusal(place.path(), &[&["simulate"], &SIMULATE[..]].concat());
    assert!(
        told.contains("5 are of queues that no partition lists"),
        "{told}"
    );
    let wrong = MACHINE.replace("nodes = 4", "nodes = 0");
    fs::write(&machine, wrong).unwrap();
    let told = refusal(place.path(), &[&["simulate"], &SIMULATE[..]].concat());
    assert!(told.contains("machine.toml:6: `class.nodes`"), "{told}");
}

const CONF: &str = "\
ClusterName=tiny
SlurmctldHost=head
SelectType=select/linear
NodeName=n[1-4] CPUs=1
PartitionName=slow Nodes=ALL Default=YES MaxTime=UNLIMITED
PartitionName=quick Nodes=ALL MaxTime=1 PriorityTier=2
";

#[test]
fn a_slurm_conf_is_simulated_and_becomes_a_machine_file_that_is_the_same_machine() {
    let place = with_files();
    fs::write(place.path().join("slurm.conf"), CONF).unwrap();
    // A trace that was imported has numbers for partitions, and a list says which is which.
    let imported = TRACE
        .replace("1 1 1 2 -1", "1 1 1 -1 2")
        .replace("2 1 1 1 -1", "2 1 1 -1 1");
    fs::write(place.path().join("imported.swf"), imported).unwrap();
    fs::write(
        place.path().join("names.csv"),
        "kind,number,name\npartition,1,quick\npartition,2,slow\n",
    )
    .unwrap();
    let names = ["--names", "names.csv"];
    let of_slurm = ["imported.swf", "--machine", "slurm.conf"];
    let found = answer(place.path(), &[&of_slurm[..], &names].concat());
    assert_eq!(found["not_read"][0][0], "SlurmctldHost");
    let partitions = found["partitions"].as_array().unwrap();
    assert_eq!(partitions[1]["name"], "quick");
    // A minute's limit refuses nobody; backfilling of Slurm comes every 30 s, but jobs that are
    // next need no pass.
    assert_eq!(partitions[1]["refused"], 0);
    let without = answer(place.path(), &of_slurm);
    let notes = without["notes"].to_string();
    assert!(notes.contains("no partition called `quick`"), "{notes}");

    let converted = call(place.path(), &["machine", "slurm.conf"]);
    let told = text(&converted.stderr);
    assert!(told.contains("not read: SlurmctldHost (1)"), "{told}");
    assert!(
        told.contains("tiny: 4 nodes with 4 cores in 1 classes, 2 partitions"),
        "{told}"
    );
    fs::write(place.path().join("tiny.toml"), &converted.stdout).unwrap();
    let again = answer(
        place.path(),
        &[&["imported.swf", "--machine", "tiny.toml"], &names[..]].concat(),
    );
    assert_eq!(
        (&again["all"], &again["against_log"]),
        (&found["all"], &found["against_log"])
    );
    let checked = call(place.path(), &["machine", "tiny.toml"]);
    assert!(text(&checked.stdout).starts_with("tiny: 4 nodes"));
    let told = refusal(place.path(), &["machine", "tiny.toml", "--qos", "qos.txt"]);
    assert!(told.contains("[[qos]]"), "{told}");
}

#[test]
fn every_shipped_machine_file_is_sound() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/machines");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        MachineDescription::load(&path, Includes::Below).unwrap_or_else(|error| panic!("{error}"));
        count += 1;
    }
    assert_eq!(count, 7);
}
