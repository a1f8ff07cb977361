use proptest::prelude::*;

use super::*;

fn record() -> impl Strategy<Value = SwfRecord> {
    let quantity = || prop_oneof![Just(-1_i64), 0_i64..10_000_000_000];
    let decimal = || {
        prop_oneof![
            Just(-1.0),
            (0_u32..1_000_000).prop_map(|hundredths| f64::from(hundredths) / 100.0)
        ]
    };
    (
        prop::array::uniform6(quantity()),
        prop::array::uniform3(decimal()),
        prop::array::uniform8(-1_i64..1_000_000_000_000),
        (0_i64..10_000_000, 0_i64..1_000_000),
        1_i64..100_000,
    )
        .prop_map(
            |(quantities, decimals, numbers, (submit, run), processors)| SwfRecord {
                job_number: numbers[0].max(0),
                submit,
                wait: quantities[0],
                run,
                allocated_processors: if quantities[1] > 0 {
                    processors
                } else {
                    quantities[1]
                },
                requested_processors: if quantities[1] > 0 {
                    quantities[2]
                } else {
                    processors
                },
                requested_time: quantities[3],
                think_time: quantities[4],
                average_cpu_time: decimals[0],
                used_memory: decimals[1],
                requested_memory: decimals[2],
                status: numbers[1],
                user: numbers[2],
                group: numbers[3],
                executable: numbers[4],
                queue: numbers[5],
                partition: numbers[6],
                preceding_job: numbers[7],
            },
        )
}

proptest! {
    #[test]
    fn a_trace_that_is_written_for_batsim_and_read_again_is_the_same(
        mut records in prop::collection::vec(record(), 1..30),
        is_old in any::<bool>(),
    ) {
        records.sort_by_key(|record| record.submit);
        let header = SwfHeader { lines: vec!["; MaxProcs: 100".to_owned(), "; Note: \"quoted\"".to_owned()] };
        let version = if is_old { BatsimVersion::Four } else { BatsimVersion::Five };
        let mut bytes = Vec::new();
        let written = write_batsim(&header, &records, 100, version, &mut bytes).unwrap();
        prop_assert_eq!(written.jobs, records.len() as u64);
        let (read_header, read, _) = parse_batsim(&bytes, Path::new("w.json")).unwrap();
        prop_assert_eq!(&read, &records);
        prop_assert_eq!(read_header, header);
    }
}

#[test]
fn a_workload_has_the_fields_that_batsim_asks_for_and_unique_identifiers() {
    let job = SwfRecord {
        job_number: 7,
        submit: 5,
        run: 60,
        allocated_processors: 4,
        requested_time: 100,
        ..SwfRecord::MISSING
    };
    let records = [
        job,
        SwfRecord { submit: 6, ..job },
        SwfRecord { run: -1, ..job },
    ];
    let mut bytes = Vec::new();
    let written = write_batsim(
        &SwfHeader::default(),
        &records,
        8,
        BatsimVersion::Five,
        &mut bytes,
    )
    .unwrap();
    assert_eq!(
        (written.jobs, written.renamed, written.without_run_time),
        (2, 1, 1)
    );
    let workload: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(workload["nb_res"], 8);
    let jobs = workload["jobs"].as_array().unwrap();
    assert_eq!(
        (&jobs[0]["id"], &jobs[1]["id"]),
        (&json!("7"), &json!("job-1"))
    );
    assert_eq!(jobs[0]["subtime"], 5);
    assert_eq!(jobs[0]["res"], 4);
    assert_eq!(jobs[0]["walltime"], 100);
    assert_eq!(
        workload["profiles"][jobs[0]["profile"].as_str().unwrap()],
        json!({"type": "DelayProfile", "delay": 60})
    );
}

#[test]
fn a_workload_of_others_is_read_and_what_depends_on_the_platform_is_counted() {
    let text = r#"{"nb_res": 4, "jobs": [
        {"id": "w!12", "subtime": 10.5, "walltime": 100.2, "res": 4, "profile": "a"},
        {"id": 2, "subtime": 0, "res": 1, "profile": "b", "dependencies": []}],
        "profiles": {"a": {"type": "delay", "delay": 20.25}, "b": {"type": "parallel_homogeneous", "cpu": 1e6, "com": 0}}}"#;
    let (header, records, findings) = parse_batsim(text.as_bytes(), Path::new("w.json")).unwrap();
    assert_eq!(header.max_procs(), Some(4));
    assert_eq!(records.len(), 1);
    let first = records[0];
    assert_eq!(
        (
            first.job_number,
            first.submit,
            first.run,
            first.requested_time
        ),
        (12, 10, 20, 101)
    );
    assert_eq!(findings.of(Finding::PlatformRunTime), 1);
    assert_eq!(findings.of(Finding::Fraction), 3);
}

#[test]
fn a_job_number_that_no_trace_can_hold_becomes_the_row_and_the_trace_can_be_read() {
    for id in [
        "9223372036854775807",
        "\"w!-9223372036854775808\"",
        "-3",
        "1.5",
    ] {
        let text = format!(
            r#"{{"nb_res": 4, "jobs": [{{"id": {id}, "subtime": 0, "res": 1, "profile": "a"}}],
            "profiles": {{"a": {{"type": "delay", "delay": 20}}}}}}"#
        );
        let (_, records, _) = parse_batsim(text.as_bytes(), Path::new("w.json")).unwrap();
        assert_eq!(records[0].job_number, 1, "{id}");
    }
}
