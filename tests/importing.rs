//! Logs of other programs, from the file to a simulation: a small invented machine of 8 nodes, as
//! `sacct` would print it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use bookahead::workload::ParsedTrace;

use crate::support::program::{folder, output, program, text};

const JOBS: &str = include_str!("importing/jobs.txt");

/// A file that is read when the tests run, so that it can be written by one of them.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/importing")
        .join(name)
}

fn expected() -> String {
    fs::read_to_string(file("jobs.swf")).expect("the expected trace")
}

fn run(place: &Path, arguments: &[&str]) -> Output {
    let output = output(program(place, arguments));
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

fn refusal(place: &Path, arguments: &[&str]) -> String {
    let output = output(program(place, arguments));
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    text(&output.stderr)
}

const IMPORT: [&str; 7] = [
    "trace", "import", "jobs.txt", "--unit", "nodes", "--out", "jobs.swf",
];

#[test]
fn a_log_of_sacct_becomes_the_expected_trace_and_everything_runs_on_it() {
    let place = folder();
    fs::write(place.path().join("jobs.txt"), JOBS).unwrap();
    let said = run(
        place.path(),
        &[&IMPORT[..], &["--names", "map.csv"]].concat(),
    );
    let written = fs::read_to_string(place.path().join("jobs.swf")).unwrap();
    let version = format!("bookahead {}", env!("CARGO_PKG_VERSION"));
    if std::env::var_os("BOOKAHEAD_GOLDENS").is_some() {
        fs::write(
            file("jobs.swf"),
            written.replace(&version, "bookahead VERSION"),
        )
        .unwrap();
        return;
    }
    assert_eq!(written, expected().replace("bookahead VERSION", &version));
    // Names are in the map and nowhere else.
    let said = text(&said.stdout) + &text(&said.stderr);
    for name in ["ada", "grace", "physics"] {
        assert!(!written.contains(name) && !said.contains(name), "{name}");
        assert!(
            fs::read_to_string(place.path().join("map.csv"))
                .unwrap()
                .contains(name)
        );
    }
    for part in ["dropped", "steps of jobs", "guessed", "(first: line 4)"] {
        assert!(said.contains(part), "{said}\nlacks {part}");
    }
    let info = text(&run(place.path(), &["trace", "info", "jobs.swf"]).stdout);
    assert!(info.contains("records"), "{info}");
    for policy in ["easy-backfilling", "heuristic-planning"] {
        let figures = run(
            place.path(),
            &["simulate", "jobs.swf", "--policy", policy, "--json"],
        );
        let figures: serde_json::Value = serde_json::from_slice(&figures.stdout).unwrap();
        assert_eq!(figures["nodes"], 8, "the header names the machine");
        assert_eq!(figures["started"], 7);
    }
    fs::copy(
        file("experiment.toml"),
        place.path().join("experiment.toml"),
    )
    .unwrap();
    let mut command = program(place.path(), &["run", "experiment.toml", "--quiet"]);
    command.env("BOOKAHEAD_TRACES", place.path());
    let done = output(command);
    assert!(done.status.success(), "{}", text(&done.stderr));
}

#[cfg(unix)]
#[test]
fn the_map_of_names_is_for_its_owner_alone_also_where_a_file_was_there() {
    use std::os::unix::fs::PermissionsExt;
    let place = folder();
    fs::write(place.path().join("jobs.txt"), JOBS).unwrap();
    let map = place.path().join("map.csv");
    fs::write(&map, "old").unwrap();
    fs::set_permissions(&map, fs::Permissions::from_mode(0o644)).unwrap();
    run(
        place.path(),
        &[&IMPORT[..], &["--names", "map.csv"]].concat(),
    );
    assert_eq!(
        fs::metadata(&map).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let map = fs::read_to_string(&map).unwrap();
    assert!(map.starts_with("kind,number,name\nuser,1,ada\n"), "{map}");
}

#[test]
fn an_imported_trace_goes_to_batsim_and_comes_back_as_it_was() {
    let place = folder();
    let swf = expected().replace("bookahead VERSION", "bookahead");
    fs::write(place.path().join("jobs.swf"), swf).unwrap();
    for format in ["batsim-json", "batsim4-json"] {
        run(
            place.path(),
            &[
                "trace",
                "export",
                "jobs.swf",
                "--format",
                format,
                "--out",
                "jobs.json",
            ],
        );
        let back = [
            "trace",
            "import",
            "jobs.json",
            "--format",
            "batsim-json",
            "--out",
            "back.swf",
        ];
        run(place.path(), &back);
        let read = |name: &str| ParsedTrace::read(&place.path().join(name)).unwrap();
        let (before, after) = (read("jobs.swf"), read("back.swf"));
        assert_eq!(before.records, after.records);
        assert_eq!(before.header, after.header);
    }
    run(
        place.path(),
        &[
            "trace", "export", "jobs.swf", "--format", "swf", "--out", "copy.swf",
        ],
    );
    let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(read("jobs.swf"), read("copy.swf"));
}

#[test]
fn a_table_is_read_with_a_mapping_of_its_own_or_one_that_is_there_by_name() {
    let place = folder();
    // The layout of the sample of NREL Eagle, with invented jobs: 9:00 in Denver in January is
    // 16:00 in UTC.
    let table = "job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,gpus_req,mem_req,submit_time,start_time,\
                 end_time,run_time,state,name,work_dir,submit_line\n\
                 5,user1,account1,p,normal,7200.0,2,72,0,0.0,2019-01-01 09:00:00,2019-01-01 09:00:10,2019-01-01 10:00:10,3600.0,COMPLETED,n,w,s\n\
                 6,user2,account1,p,normal,7200.0,1,36,0,0.0,2019-01-01 09:30:00,,,,PENDING,n,w,s\n\
                 7,user2,account1,p,normal,600.0,1,36,0,0.0,2019-01-01 09:30:00,2019-01-01 09:40:00,2019-01-01 09:50:00,600.0,TIMEOUT,n,w,s\n";
    fs::write(place.path().join("eagle.csv"), table).unwrap();
    let arguments = [
        "trace",
        "import",
        "eagle.csv",
        "--mapping",
        "nrel-eagle",
        "--out",
        "eagle.swf",
    ];
    run(place.path(), &arguments);
    let trace = ParsedTrace::read(&place.path().join("eagle.swf")).unwrap();
    assert_eq!(trace.header.unix_start_time(), Some(1_546_358_400));
    let rows: Vec<_> = (trace.records.iter())
        .map(|record| {
            (
                record.submit,
                record.wait,
                record.run,
                record.requested_processors,
                record.status,
            )
        })
        .collect();
    assert_eq!(rows, [(0, 10, 3_600, 2, 1), (1_800, 600, 600, 1, 0)]);
    let error = refusal(
        place.path(),
        &[
            "trace",
            "import",
            "eagle.csv",
            "--format",
            "csv",
            "--out",
            "x.swf",
        ],
    );
    assert!(
        error.contains("--mapping") && error.contains("pm100"),
        "{error}"
    );
    let error = refusal(
        place.path(),
        &["trace", "import", "eagle.csv", "--out", "x.swf"],
    );
    assert!(error.contains("sacct --allusers"), "{error}");
    let error = refusal(
        place.path(),
        &[
            "trace",
            "import",
            "eagle.csv",
            "--zone",
            "Mars/Olympus",
            "--mapping",
            "nrel-eagle",
            "--out",
            "x.swf",
        ],
    );
    assert!(error.contains("Mars/Olympus"), "{error}");
    assert!(!place.path().join("x.swf").exists());
}

#[test]
fn a_parquet_file_in_the_layout_of_pm100_is_read_and_a_damaged_one_refused() {
    let place = folder();
    let bytes = crate::fuzz::formats::table_as_parquet();
    fs::write(place.path().join("jobs.parquet"), &bytes).unwrap();
    let arguments = [
        "trace",
        "import",
        "jobs.parquet",
        "--mapping",
        "pm100",
        "--out",
        "jobs.swf",
    ];
    run(place.path(), &arguments);
    let trace = ParsedTrace::read(&place.path().join("jobs.swf")).unwrap();
    assert_eq!(trace.header.unix_start_time(), Some(1_600_000_000));
    // Rows one second apart: limits of 120 and 121 minutes, 2 and 3 nodes, the second cancelled.
    let rows: Vec<_> = (trace.records.iter())
        .map(|record| {
            let times = (
                record.submit,
                record.wait,
                record.run,
                record.requested_time,
            );
            (
                times,
                record.allocated_processors,
                record.status,
                record.user,
            )
        })
        .collect();
    assert_eq!(rows[0], ((0, 100, 3_600, 7_200), 2, 1, 1));
    assert_eq!(rows[1], ((1, 100, 3_601, 7_260), 3, 5, 2));
    fs::write(
        place.path().join("jobs.parquet"),
        &bytes[..bytes.len() - 20],
    )
    .unwrap();
    let error = refusal(place.path(), &arguments);
    assert!(error.contains("jobs.parquet"), "{error}");
}

/// The mapping of the page below a heading.
fn mapping_of_the_page(heading: &str) -> &'static str {
    let page = include_str!("../docs/importing.md");
    let section = page.split_once(heading).expect("the section").1;
    let begun = section.split_once("```toml\n").expect("its mapping").1;
    begun.split_once("```").expect("its end").0
}

#[test]
fn a_log_of_events_is_read_with_the_mapping_of_the_page_and_simulated() {
    let place = folder();
    let mapping = mapping_of_the_page("### Logs of events");
    fs::write(place.path().join("events.toml"), mapping).unwrap();
    let first = mapping.replace(r#"estimate = "last" "#, r#"estimate = "first""#);
    assert_ne!(first, mapping);
    fs::write(place.path().join("first.toml"), first).unwrap();
    let table = "event,id,at,value,nodes,who\n\
                 SUBMIT,1,100,,,ada\nALLOC,1,160,3600,2,\nSUBMIT,2,200,,,eve\n\
                 CHTIME,1,900,5400,,\nEXEC,1,4660,4500,,\nFREE,1,4661,,,\n";
    fs::write(place.path().join("events.csv"), table).unwrap();
    for (mapping, requested) in [("events.toml", 5_400), ("first.toml", 3_600)] {
        let mut arguments = vec!["trace", "import", "events.csv", "--mapping", mapping];
        arguments.extend(["--out", "events.swf"]);
        let said = text(&run(place.path(), &arguments).stderr);
        assert!(said.contains("no event says how long they ran"), "{said}");
        let trace = ParsedTrace::read(&place.path().join("events.swf")).unwrap();
        let job = &trace.records[0];
        assert_eq!(
            (job.wait, job.run, job.requested_time),
            (60, 4_500, requested)
        );
        assert_eq!((trace.records.len(), job.allocated_processors), (1, 2));
    }
    let simulate = [
        "simulate",
        "events.swf",
        "--policy",
        "easy-backfilling",
        "--json",
    ];
    let figures: serde_json::Value =
        serde_json::from_slice(&run(place.path(), &simulate).stdout).unwrap();
    assert_eq!(figures["started"], 1);
    // A secret is not shown because its file was named as a mapping; a mistake in one is.
    let wrong = mapping.replace(r#"EXEC = ["run"]"#, r#"EXEC = ["runtime"]"#);
    fs::write(place.path().join("wrong.toml"), wrong).unwrap();
    let arguments = [
        "trace",
        "import",
        "events.csv",
        "--mapping",
        "wrong.toml",
        "--out",
        "x.swf",
    ];
    let error = refusal(place.path(), &arguments);
    assert!(
        error.contains("unknown variant `runtime`") && error.contains("status"),
        "{error}"
    );
}
