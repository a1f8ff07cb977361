use super::*;
use crate::workload::TestJobs;
use crate::workload::swf::{Provenance, SwfHeader};

const USABLE: SwfRecord = SwfRecord {
    job_number: 7,
    submit: 10,
    run: 50,
    allocated_processors: 4,
    requested_processors: 8,
    requested_time: 100,
    status: 1,
    user: 3,
    ..SwfRecord::MISSING
};

fn report_of(record: SwfRecord, rules: CleaningRules) -> (Option<Job>, CleaningReport) {
    let trace = ParsedTrace::from_records(
        "test".to_owned(),
        Provenance::Model,
        SwfHeader::default(),
        vec![record],
    );
    let mut cleaned = clean(&trace, &rules, Nodes(6));
    (cleaned.jobs.pop(), cleaned.report)
}

#[test]
fn a_whole_record_is_a_job() {
    let (job, report) = report_of(USABLE, CleaningRules::default());
    let job = job.unwrap();
    assert_eq!((job.trace_number, job.nodes), (7, Nodes(4)));
    assert_eq!((job.estimate, job.runtime), (Seconds(100), Seconds(50)));
    assert_eq!((job.user, job.application), (Some(3), None));
    assert_eq!(report.dropped_total(), 0);
    assert!(report.noted().iter().all(|(_, _, count)| *count == 0));
}

#[test]
fn each_broken_rule_drops_the_record_and_is_counted_once() {
    let strict = CleaningRules {
        drop_overruns: true,
        drop_cancelled: true,
        completed_only: true,
        ..CleaningRules::default()
    };
    for (record, rule) in [
        (
            SwfRecord {
                submit: -1,
                ..USABLE
            },
            "missing-submit",
        ),
        (SwfRecord { run: -1, ..USABLE }, "missing-runtime"),
        (SwfRecord { run: -20, ..USABLE }, "missing-runtime"),
        (SwfRecord { run: 0, ..USABLE }, "zero-runtime"),
        (
            SwfRecord {
                allocated_processors: 0,
                requested_processors: -1,
                ..USABLE
            },
            "missing-processors",
        ),
        (
            SwfRecord {
                requested_time: 0,
                ..USABLE
            },
            "missing-estimate",
        ),
        (
            SwfRecord {
                requested_time: -1,
                ..USABLE
            },
            "missing-estimate",
        ),
        (SwfRecord { run: 101, ..USABLE }, "overrun"),
        (
            SwfRecord {
                status: 5,
                ..USABLE
            },
            "cancelled",
        ),
        (
            SwfRecord {
                status: 0,
                ..USABLE
            },
            "not-completed",
        ),
        (
            SwfRecord {
                status: -1,
                ..USABLE
            },
            "not-completed",
        ),
        (
            SwfRecord {
                submit: -1,
                run: -1,
                requested_time: -1,
                ..USABLE
            },
            "missing-submit",
        ),
    ] {
        let (job, report) = report_of(record, strict);
        assert_eq!(job, None, "{rule}");
        for (name, _, count) in report.dropped() {
            assert_eq!(count, u64::from(name == rule), "{name} for {rule}");
        }
    }
}

#[test]
fn a_job_of_one_node_that_is_over_at_once_with_the_default_estimate_is_a_test_and_counted() {
    let is_dropped = |test_jobs, (nodes, requested_time, run)| {
        let record = SwfRecord {
            allocated_processors: nodes,
            requested_time,
            run,
            ..USABLE
        };
        let rules = CleaningRules {
            drop_zero_runtime: false,
            test_jobs,
            ..CleaningRules::default()
        };
        let (job, report) = report_of(record, rules);
        assert_eq!(report.test_job, u64::from(job.is_none()));
        job.is_none()
    };
    // Birkenheuer 2012, §4.2.2: the first is a test, the others are kept.
    let jobs = [(1, 600, 1), (1, 600, 30), (2, 600, 1), (1, 3_600, 0)];
    let default = TestJobs {
        estimate: 600,
        longest: 5,
    };
    let dropped = |rule| jobs.map(|job| is_dropped(rule, job));
    assert_eq!(dropped(Some(default)), [true, false, false, false]);
    assert_eq!(dropped(None), [false; 4]);
    let any = TestJobs {
        estimate: 0,
        ..default
    };
    assert_eq!(dropped(Some(any)), [true, false, false, true]);
    assert!(is_dropped(Some(default), (1, 600, 5)));
    assert!(!is_dropped(Some(default), (1, 600, 6)));
}

#[test]
fn a_missing_estimate_drops_the_record_becomes_its_run_time_or_refuses_the_trace() {
    let rules = |missing_estimate| CleaningRules {
        missing_estimate,
        drop_zero_runtime: false,
        drop_overruns: true,
        ..CleaningRules::default()
    };
    let missing = |run| SwfRecord {
        run,
        requested_time: -1,
        ..USABLE
    };
    let (job, report) = report_of(missing(50), rules(MissingEstimate::Drop));
    assert_eq!((job, report.missing_estimate), (None, 1));
    // A run time of 0 is booked for a second: nothing can be booked for no time.
    for (run, estimate) in [(50, 50), (0, 1)] {
        let (job, report) = report_of(missing(run), rules(MissingEstimate::Runtime));
        let job = job.unwrap();
        assert_eq!(
            (job.estimate, job.runtime),
            (Seconds(estimate), Seconds(run))
        );
        assert_eq!(
            (report.estimates_from_runtime, report.dropped_total()),
            (1, 0)
        );
    }
    let strict = rules(MissingEstimate::Error);
    let (_, report) = report_of(missing(50), strict);
    let refused = report.require_estimates("log", &strict).unwrap_err();
    assert!(refused.to_string().contains("1 of 1 records"), "{refused}");
    assert!(
        report_of(USABLE, strict)
            .1
            .require_estimates("log", &strict)
            .is_ok()
    );
    assert!(
        report
            .require_estimates("log", &CleaningRules::default())
            .is_ok()
    );
}

#[test]
fn a_missing_run_time_may_be_a_given_one_and_the_request_what_the_record_has() {
    let rules = CleaningRules {
        missing_estimate: MissingEstimate::Recorded,
        missing_runtime_seconds: 10,
        processors: ProcessorsField::Larger,
        ..CleaningRules::default()
    };
    for (run, requested_time, estimate, runtime) in
        [(-1, 60, 60, 10), (50, -1, 50, 50), (-1, -1, -1, 10)]
    {
        let record = SwfRecord {
            run,
            requested_time,
            ..USABLE
        };
        let (job, _) = report_of(record, rules);
        let job = job.unwrap();
        assert_eq!(
            (job.estimate, job.runtime),
            (Seconds(estimate), Seconds(runtime))
        );
        // Fields 5 and 8 are 4 and 8.
        assert_eq!(job.nodes, Nodes(8));
    }
    let (job, report) = report_of(SwfRecord { run: -1, ..USABLE }, CleaningRules::default());
    assert_eq!((job, report.missing_runtime), (None, 1));
}

#[test]
fn what_is_kept_against_a_rule_is_noted() {
    let lenient = CleaningRules {
        drop_zero_runtime: false,
        ..CleaningRules::default()
    };
    for (record, note) in [
        (SwfRecord { run: 0, ..USABLE }, "zero-runtime"),
        (SwfRecord { run: 101, ..USABLE }, "overrun"),
        (
            SwfRecord {
                status: 5,
                ..USABLE
            },
            "cancelled",
        ),
        (
            SwfRecord {
                allocated_processors: -1,
                requested_processors: 5,
                ..USABLE
            },
            "other-processors-field",
        ),
        (
            SwfRecord {
                allocated_processors: 7,
                ..USABLE
            },
            "wider-than-machine",
        ),
    ] {
        let (job, report) = report_of(record, lenient);
        assert!(job.is_some(), "{note}");
        for (name, _, count) in report.noted() {
            assert_eq!(count, u64::from(name == note), "{name} for {note}");
        }
    }
}

#[test]
fn the_processor_field_is_a_rule() {
    let requested = CleaningRules {
        processors: ProcessorsField::RequestedElseAllocated,
        ..CleaningRules::default()
    };
    assert_eq!(report_of(USABLE, requested).0.unwrap().nodes, Nodes(8));
    let missing = SwfRecord {
        requested_processors: -1,
        ..USABLE
    };
    assert_eq!(report_of(missing, requested).0.unwrap().nodes, Nodes(4));
}
