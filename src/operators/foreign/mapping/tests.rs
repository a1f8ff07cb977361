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

/// The events of OpenCCS, as the thesis names them; the layout of its lines is not public.
const EVENTS: &str = r#"
title = "T"
relative_times = true
[fields]
job_number = { column = "id" }
submit = { column = "at", unit = "seconds" }
start = { column = "at", unit = "seconds" }
requested_time = { column = "value" }
run = { column = "value" }
allocated_processors = { column = "nodes" }
user = { column = "who" }
[events]
column = "event"
job = "id"
[events.gives]
SUBMIT = ["job_number", "submit", "user"]
ALLOC = ["start", "requested_time", "allocated_processors"]
CHTIME = ["requested_time"]
EXEC = ["run"]
FREE = []
"#;

#[test]
fn events_become_jobs_with_the_last_estimate_or_the_first() {
    // Two jobs whose events lie between each other; the first one's estimate is changed.
    let table = "event,id,at,value,nodes,who\n\
                 SUBMIT,7,100,,,ada\n\
                 SUBMIT,8,120,,,bob\n\
                 ALLOC,7,160,3600,2,\n\
                 ALLOC,8,160,600,1,\n\
                 CHTIME,7,900,5400,,\n\
                 EXEC,8,400,240,,\n\
                 FREE,8,401,,,\n\
                 EXEC,7,4660,4500,,\n\
                 FREE,7,4661,,,\n";
    // 4,500 of 5,400 s are 83 %, of 3,600 s 125 %, of which no more than all of them is used.
    for (estimate, requested_time, used_percent) in [("last", 5_400, 83), ("first", 3_600, 100)] {
        let counted = format!("job = \"id\"\nestimate = \"{estimate}\"");
        let mapping = mapping(&EVENTS.replace("job = \"id\"", &counted));
        let trace = import(&mapping, table).unwrap();
        let records: Vec<SwfRecord> = trace.records().collect();
        let first = SwfRecord {
            job_number: 7,
            submit: 0,
            wait: 60,
            run: 4_500,
            requested_time,
            allocated_processors: 2,
            requested_processors: 2,
            status: -1,
            user: 1,
            ..SwfRecord::MISSING
        };
        assert_eq!(records[0], first);
        let used = records[0].run.min(records[0].requested_time);
        assert_eq!(100 * used / records[0].requested_time, used_percent);
        let second = &records[1];
        let told = (
            second.submit,
            second.wait,
            second.run,
            second.requested_time,
        );
        assert_eq!(told, (20, 40, 240, 600));
        assert_eq!((records.len(), trace.rows), (2, 9));
    }
}

#[test]
fn a_job_of_which_no_event_or_several_say_how_long_it_ran_is_left_out_and_counted() {
    let table = "event,id,at,value,nodes,who\n\
                 EXEC,1,50,40,,\n\
                 SUBMIT,2,100,,,ada\n\
                 ALLOC,2,100,600,1,\n\
                 SUBMIT,3,100,,,ada\n\
                 ALLOC,3,100,600,1,\n\
                 EXEC,3,200,100,,\n\
                 EXEC,3,300,90,,\n\
                 SUBMIT,4,110,,,ada\n\
                 ALLOC,4,120,600,1,\n\
                 EXEC,4,130,10,,\n\
                 REBOOT,,140,,,\n\
                 SUBMIT,,150,,,eve\n";
    let trace = import(&mapping(EVENTS), table).unwrap();
    let numbers: Vec<_> = trace.records().map(|record| record.job_number).collect();
    assert_eq!(numbers, [4]);
    let findings = &trace.findings;
    for (finding, count) in [
        (Finding::NoRunEvent, 1),
        (Finding::SeveralRunEvents, 1),
        // The first job was submitted before the log begins.
        (Finding::BadJobNumber, 1),
        (Finding::UnknownEvent, 1),
        (Finding::NoJobOfEvent, 1),
    ] {
        assert_eq!(findings.of(finding), count, "{finding:?}");
    }
    assert_eq!(findings.dropped(), 5);
}

#[test]
fn a_job_that_is_submitted_once_more_is_another_record() {
    let table = "event,id,at,value,nodes,who\n\
                 SUBMIT,1,0,,,ada\nALLOC,1,5,600,1,\nEXEC,1,15,10,,\n\
                 SUBMIT,1,100,,,ada\nALLOC,1,130,600,1,\nEXEC,1,150,20,,\n";
    let mut times = LocalTimes::new(zone_by_name("UTC").unwrap());
    let settings = ImportSettings {
        attempts: super::super::collector::Attempts::All,
        ..ImportSettings::default()
    };
    let path = Path::new("t.csv");
    let mapping = mapping(EVENTS);
    let trace = read_delimited(table.as_bytes(), path, &mapping, settings, &mut times).unwrap();
    let told: Vec<_> = (trace.records())
        .map(|record| (record.job_number, record.submit, record.wait, record.run))
        .collect();
    assert_eq!(told, [(1, 0, 5, 10), (1, 100, 30, 20)]);
}

#[test]
fn events_that_leave_a_field_out_or_give_one_without_a_column_are_refused() {
    for (from, to, word) in [
        (
            r#", "allocated_processors"]"#,
            "]",
            "fields.allocated_processors has a column",
        ),
        (
            r#"EXEC = ["run"]"#,
            r#"EXEC = ["run", "queue"]"#,
            "fields.queue has no column",
        ),
        (
            "run = { column = \"value\" }",
            "run = { value = 5 }",
            "events.gives names run",
        ),
    ] {
        let changed = EVENTS.replace(from, to);
        assert_ne!(changed, EVENTS);
        let error = mapping(&changed).check().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let unknown = EVENTS.replace(r#"["run"]"#, r#"["runtime"]"#);
    let error = toml::from_str::<Mapping>(&unknown).unwrap_err().to_string();
    assert!(error.contains("requested_time"), "{error}");
    let table = "id,at,value,nodes,who\n1,0,1,1,ada\n";
    let error = import(&mapping(EVENTS), table).unwrap_err().to_string();
    assert!(error.contains("has not: event"), "{error}");
}

#[test]
fn events_are_joined_within_the_budget_of_memory() {
    let settings = ImportSettings {
        memory: bookahead_core::memory::MemoryBudget::of_bytes(1_000_000),
        ..ImportSettings::default()
    };
    let mut table = "event,id,at,value,nodes,who\n".to_owned();
    for id in 0..2_000 {
        table += &format!("SUBMIT,{id},{id},,,ada\n");
    }
    let mut times = LocalTimes::new(zone_by_name("UTC").unwrap());
    let path = Path::new("t.csv");
    let mapping = mapping(EVENTS);
    let error = read_delimited(table.as_bytes(), path, &mapping, settings, &mut times);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("jobs"), "{error}");
}
