use std::path::Path;

use super::super::{read_delimited, zone_by_name};
use super::*;
use bookahead_core::workload::swf::SwfRecord;

fn mapping(text: &str) -> Mapping {
    toml::from_str(text).unwrap()
}

fn import(mapping: &Mapping, table: &str) -> Result<ImportedTrace, ImportError> {
    let mut times = LocalTimes::new(zone_by_name("UTC").unwrap());
    read_delimited(
        table.as_bytes(),
        Path::new("t.csv"),
        mapping,
        ImportSettings::default(),
        &mut times,
    )
}

const FULL: &str = r#"
title = "T"
separator = ";"
[fields]
job_number = { column = "id" }
submit = { column = "sub", unit = "milliseconds" }
start = { column = "st", unit = "milliseconds" }
run = { column = "run", unit = "minutes" }
requested_time = { column = "limit", unit = "clock" }
allocated_processors = { column = "cpu", scale = 0.01 }
user = { column = "who" }
[fields.status]
column = "state"
values = { ok = "completed", gone = "drop" }
otherwise = "failed"
"#;

#[test]
fn columns_become_fields_in_their_units() {
    let table = "id;sub;st;run;limit;cpu;who;state;more\n\
                 5;1000000;1010999;1.5;1-00:00:00;250;\"a;b\";ok;x\n\
                 6;1020000;1030000;2;;100;c;broken;x\n\
                 7;1020000;1030000;2;;100;c;gone;x\n\
                 8;1020000;1030000\n";
    let trace = import(&mapping(FULL), table).unwrap();
    let records: Vec<SwfRecord> = trace.records().collect();
    let first = SwfRecord {
        job_number: 5,
        submit: 0,
        wait: 10,
        run: 90,
        requested_time: 86_400,
        // 250 hundredths are 2.5 processors.
        allocated_processors: 3,
        requested_processors: 3,
        status: 1,
        user: 1,
        ..SwfRecord::MISSING
    };
    assert_eq!(records[0], first);
    assert_eq!(
        (
            records[1].status,
            records[1].user,
            records[1].run,
            records[1].submit
        ),
        (0, 2, 120, 20)
    );
    assert_eq!(records.len(), 2);
    assert_eq!(trace.findings.of(Finding::NotWanted), 1);
    assert_eq!(trace.findings.of(Finding::FieldCount), 1);
    assert_eq!(trace.findings.of(Finding::NoLimit), 1);
    assert_eq!(trace.findings.of(Finding::Fraction), 1);
}

#[test]
fn a_file_without_a_heading_and_constants_are_read() {
    let mapping = mapping(
        "title = \"T\"\nrelative_times = true\ncolumns = [\"a\", \"b\"]\n[fields]\nsubmit = { column = \"a\", unit = \"seconds\" }\n\
         run = { column = \"b\" }\nrequested_processors = { value = 2 }\nrequested_time = { value = 60 }\n",
    );
    let trace = import(&mapping, "0,10\n5,20.4\n").unwrap();
    let rows: Vec<_> = (trace.records())
        .map(|record| {
            (
                record.job_number,
                record.submit,
                record.run,
                record.requested_time,
                record.requested_processors,
            )
        })
        .collect();
    assert_eq!(rows, [(1, 0, 10, 60, 2), (2, 5, 20, 60, 2)]);
    assert_eq!(trace.header.unix_start_time(), None);
}

#[test]
fn mappings_that_say_too_little_or_name_other_columns_are_refused() {
    let error = import(&mapping(FULL), "id;sub\n1;2\n")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("has not: cpu, limit, run, st, state, who; it has id, sub"),
        "{error}"
    );
    for (from, to, word) in [
        (
            "run = { column = \"run\", unit = \"minutes\" }\n",
            "",
            "how long jobs ran",
        ),
        (
            "allocated_processors = { column = \"cpu\", scale = 0.01 }\n",
            "",
            "how wide",
        ),
        ("scale = 0.01", "scale = 0", "scale"),
        ("column = \"cpu\"", "column = \"cpu\", value = 1", "either"),
        ("separator = \";\"", "separator = \"→\"", "ASCII"),
    ] {
        let changed = FULL.replace(from, to);
        assert_ne!(changed, FULL);
        let error = mapping(&changed).check().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    assert!(
        toml::from_str::<Mapping>(&FULL.replace("unit = \"minutes\"", "units = \"minutes\""))
            .is_err()
    );
    assert!(toml::from_str::<Mapping>(&FULL.replace("\"minutes\"", "\"fortnights\"")).is_err());
}

#[test]
fn a_quotation_mark_that_nobody_closes_does_not_fill_the_memory() {
    let table = format!(
        "id;sub;st;run;limit;cpu;who;state\n\"{}",
        "x\n".repeat(4 << 20)
    );
    let error = import(&mapping(FULL), &table).unwrap_err().to_string();
    assert!(error.contains("quotation mark"), "{error}");
}
