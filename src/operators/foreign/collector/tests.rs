use super::*;

fn job(number: u64, line: u64, submit: i64, wait: i64, run: i64, status: i8) -> ForeignJob {
    ForeignJob {
        number: Some(number),
        task: 0,
        line,
        submit,
        wait,
        run,
        requested_time: 3_600,
        requested_memory: -1.0,
        allocated: 4,
        requested: 4,
        user: 1,
        group: -1,
        queue: -1,
        partition: -1,
        status,
    }
}

fn imported(jobs: &[ForeignJob], attempts: Attempts) -> ImportedTrace {
    let mut collector = Collector::default();
    for job in jobs {
        collector.push(*job, Path::new("log")).unwrap();
    }
    let settings = ImportSettings {
        attempts,
        ..ImportSettings::default()
    };
    collector.finish(&settings, Path::new("log")).unwrap()
}

/// Job 7 failed with its node after 100 s, was put back at 300, failed again, and was done at the
/// third time.
fn requeued() -> Vec<ForeignJob> {
    vec![
        job(7, 4, 600, 20, 50, COMPLETED),
        job(7, 2, 100, 10, 100, FAILED),
        job(7, 3, 300, 0, 200, FAILED),
        job(8, 5, 200, 0, 60, COMPLETED),
    ]
}

#[test]
fn the_last_attempt_is_the_job_and_was_submitted_with_the_first() {
    let trace = imported(&requeued(), Attempts::Last);
    let records: Vec<_> = trace
        .records()
        .map(|record| (record.job_number, record.submit, record.wait, record.run))
        .collect();
    // Submitted at 100, started at 620.
    assert_eq!(records, [(7, 0, 520, 50), (8, 100, 0, 60)]);
    assert_eq!(trace.findings.of(Finding::EarlierAttempt), 2);
    assert_eq!(trace.findings.of(Finding::FirstSubmission), 1);
    // 4 · (100 + 200) = 1,200 processor-seconds are a third of an hour.
    assert!(
        trace
            .header
            .lines
            .iter()
            .any(|line| line.contains("held 0.33 processor-hours"))
    );
}

#[test]
fn all_attempts_are_records_where_that_is_asked_for() {
    let trace = imported(&requeued(), Attempts::All);
    let submits: Vec<_> = trace.records().map(|record| record.submit).collect();
    assert_eq!(submits, [0, 100, 200, 500]);
    assert_eq!(trace.findings.of(Finding::Attempt), 2);
}

#[test]
fn a_record_of_two_exports_is_kept_once_and_a_number_used_again_stays() {
    let jobs = [
        job(7, 2, 100, 10, 100, COMPLETED),
        job(7, 9, 100, 10, 100, COMPLETED),
        job(7, 10, 90_000, 10, 100, COMPLETED),
    ];
    let trace = imported(&jobs, Attempts::Last);
    assert_eq!(trace.jobs(), 2);
    assert_eq!(trace.findings.of(Finding::SameAgain), 1);
    assert_eq!(trace.findings.of(Finding::NumberAgain), 1);
}

#[test]
fn the_machine_is_as_large_as_what_was_held_at_once() {
    // The second starts when the first ends; the third runs beside the second.
    let jobs = [
        job(1, 1, 100, 0, 100, COMPLETED),
        job(2, 2, 100, 100, 100, COMPLETED),
        job(3, 3, 250, 0, 10, COMPLETED),
    ];
    assert_eq!(imported(&jobs, Attempts::Last).header.max_procs(), Some(8));
    assert_eq!(
        imported(&jobs[..2], Attempts::Last).header.max_procs(),
        Some(4)
    );
}
