use std::path::Path;

use super::super::{Attempts, zone_by_name};
use super::*;
use bookahead_core::workload::swf::SwfRecord;

const HEADING: &str = "JobIDRaw|JobID|Cluster|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|\
                       ReqCPUS|AllocNodes|ReqNodes|ReqMem|State";

fn import(text: &str, settings: &SacctSettings) -> Result<ImportedTrace, ImportError> {
    import_in("UTC", text, settings)
}

fn import_in(
    zone: &str,
    text: &str,
    settings: &SacctSettings,
) -> Result<ImportedTrace, ImportError> {
    let mut times = LocalTimes::new(zone_by_name(zone).unwrap());
    let common = ImportSettings {
        source: "output of sacct".to_owned(),
        ..ImportSettings::default()
    };
    read_sacct(
        &mut text.as_bytes(),
        Path::new("jobs.txt"),
        settings,
        common,
        &mut times,
    )
}

/// Jobs of one cluster: (raw, id, submit, start, end, elapsed, limit, state).
fn log(rows: &[[&str; 8]]) -> String {
    let mut text = HEADING.to_owned();
    for [raw, id, submit, start, end, elapsed, limit, state] in rows {
        text += &format!(
            "\n{raw}|{id}|alpha|ada|physics|batch|normal|{submit}|{submit}|{start}|{end}|{elapsed}|{limit}|8|4|2|1|4000Mc|{state}"
        );
    }
    text
}

fn only(trace: &ImportedTrace) -> SwfRecord {
    assert_eq!(trace.jobs(), 1);
    trace.records().next().unwrap()
}

#[test]
fn a_line_becomes_a_record_with_every_field_that_the_format_has() {
    let text = log(&[["7", "7", "1000", "1010", "1110", "100", "10", "COMPLETED"]]);
    let trace = import(&text, &SacctSettings::default()).unwrap();
    let expected = SwfRecord {
        job_number: 7,
        submit: 0,
        wait: 10,
        run: 100,
        allocated_processors: 8,
        requested_processors: 4,
        requested_time: 600,
        // 4,000 MB a processor.
        requested_memory: 4_096_000.0,
        status: 1,
        user: 1,
        group: 1,
        queue: 1,
        partition: 1,
        ..SwfRecord::MISSING
    };
    assert_eq!(only(&trace), expected);
    assert_eq!(trace.header.unix_start_time(), Some(1_000));
    assert_eq!(trace.header.max_procs(), Some(8));
    assert_eq!(trace.findings.met().count(), 0);
    let text = trace.header.lines.join("\n");
    assert!(
        !text.contains("ada") && !text.contains("physics") && !text.contains("alpha"),
        "{text}"
    );
    let nodes = SacctSettings {
        unit: Some(Unit::Nodes),
        ..SacctSettings::default()
    };
    let trace = import(
        &log(&[["7", "7", "1000", "1010", "1110", "100", "10", "COMPLETED"]]),
        &nodes,
    )
    .unwrap();
    let record = only(&trace);
    assert_eq!(
        (record.allocated_processors, record.requested_processors),
        (2, 1)
    );
    // 8 · 4,000 MB on 2 nodes.
    assert_eq!(record.requested_memory, 16_384_000.0);
    assert_eq!(trace.header.max_nodes(), Some(2));
}

#[test]
fn states_become_statuses_and_what_has_not_ended_is_dropped_and_counted() {
    let statuses = |state: &str| {
        let text = log(&[
            ["7", "7", "1000", "1010", "1110", "100", "10", state],
            ["8", "8", "2000", "2010", "2110", "100", "10", "COMPLETED"],
        ]);
        let trace = import(&text, &SacctSettings::default()).unwrap();
        let first = trace.records().next().unwrap();
        (first.job_number == 7).then_some(first.status)
    };
    for (state, status) in [
        ("FAILED", Some(0)),
        ("TIMEOUT", Some(0)),
        ("NODE_FAIL", Some(0)),
        ("PREEMPTED", Some(0)),
        ("OUT_OF_MEMORY", Some(0)),
        ("CANCELLED", Some(5)),
        ("CANCELLED by 1000", Some(5)),
        ("CANCELLED+", Some(5)),
        ("SOMETHING_NEW", Some(-1)),
        ("RUNNING", None),
        ("PENDING", None),
        ("REVOKED", None),
    ] {
        assert_eq!(statuses(state), status, "{state}");
    }
}

#[test]
fn steps_arrays_and_components_are_told_apart() {
    let text = log(&[
        [
            "7.batch",
            "7.batch",
            "1000",
            "1010",
            "1110",
            "100",
            "",
            "COMPLETED",
        ],
        ["7.0", "7.0", "1000", "1010", "1110", "100", "", "COMPLETED"],
        ["9", "9_1", "1000", "1010", "1110", "100", "10", "COMPLETED"],
        [
            "8",
            "8_[5-9%2]",
            "1000",
            "None",
            "1110",
            "0",
            "10",
            "CANCELLED by 7",
        ],
        [
            "10",
            "10+0",
            "1000",
            "1010",
            "1110",
            "100",
            "10",
            "COMPLETED",
        ],
        [
            "11",
            "10+1",
            "1000",
            "1010",
            "1110",
            "100",
            "10",
            "COMPLETED",
        ],
    ]);
    let trace = import(&text, &SacctSettings::default()).unwrap();
    let numbers: Vec<i64> = trace.records().map(|record| record.job_number).collect();
    assert_eq!(numbers, [9, 10, 11]);
    for (finding, count) in [
        (Finding::Step, 2),
        (Finding::ArrayTask, 1),
        (Finding::ArrayRemainder, 1),
        (Finding::Component, 2),
    ] {
        assert_eq!(trace.findings.of(finding), count, "{finding:?}");
    }
    // Without the raw number tasks of one array are jobs of one number, but not attempts of one
    // job.
    let text = "JobID|Submit|Start|End|NNodes|State\n9_0|1000|1010|1110|1|FAILED\n9_1|1000|1020|1110|1|COMPLETED";
    assert_eq!(import(text, &SacctSettings::default()).unwrap().jobs(), 2);
}

#[test]
fn jobs_that_never_started_are_kept_without_a_run_time_whatever_slurm_wrote() {
    for (start, elapsed) in [("None", "0"), ("Unknown", ""), ("1500", "0")] {
        let row = format!(
            "7|7|alpha|ada|physics|batch|normal|1000|1000|{start}|1500|{elapsed}|10|0|4|0|1|0|CANCELLED by 7"
        );
        let trace = import(&format!("{HEADING}\n{row}"), &SacctSettings::default()).unwrap();
        let record = only(&trace);
        assert_eq!(
            (record.wait, record.run, record.status),
            (500, 0, 5),
            "{start}"
        );
        assert_eq!(
            (record.allocated_processors, record.requested_processors),
            (-1, 4)
        );
        assert_eq!(trace.findings.of(Finding::NeverStarted), 1);
    }
}

#[test]
fn limits_that_are_none_are_counted_and_words_are_read_where_minutes_are_missing() {
    let limit = |column: &str, value: &str| {
        let text = format!(
            "JobID|Submit|Start|End|NNodes|State|{column}\n7|1000|1010|1110|1|COMPLETED|{value}"
        );
        let trace = import(&text, &SacctSettings::default()).unwrap();
        (
            only(&trace).requested_time,
            trace.findings.of(Finding::NoLimit),
        )
    };
    assert_eq!(limit("Timelimit", "1-00:00:00"), (86_400, 0));
    assert_eq!(limit("Timelimit", "02:00:00"), (7_200, 0));
    assert_eq!(limit("Timelimit", "UNLIMITED"), (-1, 1));
    assert_eq!(limit("Timelimit", "Partition_Limit"), (-1, 1));
    assert_eq!(limit("TimelimitRaw", "30"), (1_800, 0));
    assert_eq!(limit("TimelimitRaw", ""), (-1, 1));
}

#[test]
fn missing_columns_are_named_with_what_to_ask_sacct_for() {
    let error = import("JobID|Submit|NNodes\n1|2|3", &SacctSettings::default())
        .unwrap_err()
        .to_string();
    for part in [
        "State (whether they ended)",
        "Start (",
        "ElapsedRaw or End",
        SACCT_COMMAND,
    ] {
        assert!(error.contains(part), "{error}\nlacks {part}");
    }
    assert!(!error.contains("AllocCPUS or AllocNodes (how"), "{error}");
    for text in ["", "hello world", "{\"jobs\": []}"] {
        let error = import(text, &SacctSettings::default()).unwrap_err();
        assert!(matches!(error, ImportError::NoHeading { .. }), "{error}");
    }
    let error = import(HEADING, &SacctSettings::default()).unwrap_err();
    assert!(matches!(error, ImportError::NoJobs { .. }), "{error}");
    // What is missing but not needed is a note.
    let trace = import(
        "JobID|Submit|Start|End|NNodes|State\n7|1000|1010|1110|1|COMPLETED",
        &SacctSettings::default(),
    )
    .unwrap();
    assert!(
        trace
            .header
            .lines
            .iter()
            .any(|line| line.contains("no TimelimitRaw"))
    );
}

#[test]
fn a_log_of_several_clusters_needs_one_of_them_named() {
    let text = log(&[["7", "7", "1000", "1010", "1110", "100", "10", "COMPLETED"]]);
    let text = format!(
        "{text}\n{}",
        text.lines().nth(1).unwrap().replace("alpha", "beta")
    );
    let error = import(&text, &SacctSettings::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("alpha (1 jobs), beta (1 jobs)"), "{error}");
    let beta = SacctSettings {
        cluster: Some("beta".to_owned()),
        ..SacctSettings::default()
    };
    let trace = import(&text, &beta).unwrap();
    assert_eq!(
        (trace.jobs(), trace.findings.of(Finding::OtherCluster)),
        (1, 1)
    );
}

#[test]
fn lines_with_other_fields_and_headings_in_between_are_dropped_and_counted() {
    let text = log(&[["7", "7", "1000", "1010", "1110", "100", "10", "COMPLETED"]]);
    let text = format!(
        "\u{feff}{text}\r\n{HEADING}\n\na|b\n{}|x\n",
        text.lines().nth(1).unwrap()
    );
    // The first line carries the mark, so that the heading in between is another line by its bytes
    // only without it.
    let trace = import(&text, &SacctSettings::default()).unwrap();
    assert_eq!(trace.jobs(), 1);
    assert_eq!(trace.findings.of(Finding::HeadingAgain), 1);
    assert_eq!(trace.findings.of(Finding::FieldCount), 2);
}

#[test]
fn local_times_over_the_change_of_the_clock_keep_the_order_of_start_and_end() {
    // Submitted and started at 2:50 summer time; it ended at 2:10, which is winter time: twenty
    // minutes later.
    let text = "JobID|Submit|Start|End|NNodes|State\n\
                7|2024-10-27T02:50:00|2024-10-27T02:50:00|2024-10-27T02:10:00|1|COMPLETED";
    let trace = import_in("Europe/Berlin", text, &SacctSettings::default()).unwrap();
    let record = only(&trace);
    assert_eq!((record.wait, record.run), (0, 1_200));
    assert_eq!(trace.findings.of(Finding::AmbiguousTime), 3);
    let text = "JobID|Submit|Start|End|NNodes|State\n\
                7|2024-03-31T01:50:00|2024-03-31T02:30:00|2024-03-31T04:00:00|1|COMPLETED";
    let trace = import_in("Europe/Berlin", text, &SacctSettings::default()).unwrap();
    assert_eq!(trace.findings.of(Finding::SkippedTime), 1);
}

#[test]
fn jobs_arrive_when_they_were_submitted_or_when_they_became_eligible() {
    let text = "JobID|Submit|Eligible|Start|End|NNodes|State\n7|1000|1600|1700|1800|1|COMPLETED";
    let trace = import(text, &SacctSettings::default()).unwrap();
    assert_eq!(only(&trace).wait, 700);
    assert_eq!(trace.findings.of(Finding::LaterEligible), 1);
    let eligible = SacctSettings {
        arrival: Arrival::Eligible,
        ..SacctSettings::default()
    };
    let trace = import(text, &eligible).unwrap();
    assert_eq!(
        (only(&trace).wait, trace.header.unix_start_time()),
        (100, Some(1_600))
    );
}

#[test]
fn requeued_jobs_are_one_record_or_all_of_their_attempts() {
    let text = log(&[
        ["7", "7", "1000", "1010", "1110", "100", "10", "NODE_FAIL"],
        ["7", "7", "1110", "1300", "1400", "100", "10", "COMPLETED"],
    ]);
    let trace = import(&text, &SacctSettings::default()).unwrap();
    assert_eq!((only(&trace).wait, only(&trace).run), (300, 100));
    let mut times = LocalTimes::new(zone_by_name("UTC").unwrap());
    let all = ImportSettings {
        attempts: Attempts::All,
        ..ImportSettings::default()
    };
    let settings = SacctSettings::default();
    let trace = read_sacct(
        &mut text.as_bytes(),
        Path::new("jobs.txt"),
        &settings,
        all,
        &mut times,
    )
    .unwrap();
    assert_eq!(trace.jobs(), 2);
}

#[test]
fn a_line_without_an_end_is_refused_before_it_fills_the_memory() {
    let text = format!("{HEADING}\n{}", "x".repeat(LONGEST_LINE_BYTES + 10));
    let error = import(&text, &SacctSettings::default()).unwrap_err();
    assert!(
        matches!(error, ImportError::LineTooLong { line: 2, .. }),
        "{error}"
    );
}
