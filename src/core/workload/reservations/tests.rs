use super::*;

fn jobs(count: u32) -> Vec<Job> {
    (0..count)
        .map(|id| {
            let (submit, nodes) = (Seconds(i64::from(id) * 10), Nodes(1 + id % 5));
            Job::rigid(JobId(id), submit, nodes, Seconds(3600))
                .running_for(Seconds(1200))
                .numbered(i64::from(id) + 1)
        })
        .collect()
}

fn generate(settings: &RequestSettings) -> MixedWorkload {
    generate_requests(&jobs(200), settings, 1, "w", 0)
}

/// A job submitted at 100 with an estimate of 3600, a start factor of 2 and a draw of 0.25
/// wants to start at 1900.
#[test]
fn the_start_is_the_submission_plus_the_drawn_part_of_the_estimate() {
    let lead = lead_of(Seconds(3600), 2.0, 0.25, LeadRounding::Nearest);
    assert_eq!(Seconds(100) + lead, Seconds(1900));
}

#[test]
fn a_share_of_a_hundred_percent_copies_every_job_once() {
    let mixed = generate(&RequestSettings {
        share_percent: 100.0,
        ..RequestSettings::default()
    });
    assert_eq!((mixed.jobs.len(), mixed.requests.len()), (200, 200));
    assert!(
        mixed
            .requests
            .iter()
            .zip(&mixed.jobs)
            .all(|(request, job)| request.trace_number == job.trace_number
                && request.nodes == job.nodes
                && request.wanted.earliest() <= job.submit + job.estimate)
    );
}

#[test]
fn a_larger_share_contains_the_smaller_one_and_other_factors_scale_the_same_draws() {
    let at = |share_percent, factor| {
        generate(&RequestSettings {
            share_percent,
            start: StartRule::EstimateFactor { factor },
            ..RequestSettings::default()
        })
        .requests
    };
    let (small, large) = (at(10.0, 1.0), at(30.0, 1.0));
    assert_eq!((small.len(), large.len()), (20, 60));
    for request in &small {
        assert!(
            large
                .iter()
                .any(|other| other.trace_number == request.trace_number
                    && other.wanted == request.wanted)
        );
    }
    for (one, two) in small.iter().zip(&at(10.0, 2.0)) {
        let lead = |request: &ReservationRequest| (request.wanted.earliest() - request.submit).0;
        assert!((lead(two) - 2 * lead(one)).abs() <= 1);
    }
}

#[test]
fn a_window_that_is_used_to_its_end_is_asked_for_by_the_same_draws() {
    let with = |duration, duration_used| {
        let settings = RequestSettings {
            duration,
            duration_used,
            ..RequestSettings::default()
        };
        (settings.clone().normalised(), generate(&settings).requests)
    };
    let (of_job, ends_early) = with(RequestDuration::Estimate, DurationUsed::Job);
    let (of_window, uses_all) = with(RequestDuration::Estimate, DurationUsed::Window);
    assert_ne!(of_job, of_window);
    assert_eq!(ends_early.len(), 20);
    for (one, other) in ends_early.iter().zip(&uses_all) {
        // 20 min of an hour, and all of it.
        assert_eq!(one.runtime, Seconds(1200));
        assert_eq!(other.runtime, Seconds(3600));
        let runtime = Seconds(1200);
        assert_eq!(
            *one,
            ReservationRequest {
                runtime,
                ..other.clone()
            }
        );
    }
    // A slot that is as long as the job has no end to leave.
    let (of_job, short) = with(RequestDuration::Runtime, DurationUsed::Job);
    let (of_window, as_short) = with(RequestDuration::Runtime, DurationUsed::Window);
    assert_eq!((of_job, short), (of_window, as_short));
}

#[test]
fn some_reservations_are_sessions_and_a_larger_share_contains_the_smaller_one() {
    let with = |interactive_percent| {
        let settings = RequestSettings {
            share_percent: 100.0,
            interactive_percent,
            ..RequestSettings::default()
        };
        generate(&settings).requests
    };
    let [none, some, more, all] = [0.0, 25.0, 50.0, 100.0].map(with);
    let mut sessions = [0; 2];
    for (place, batch) in none.iter().enumerate() {
        // 20 min of an hour, or all of it; nothing else of a request changes.
        let uses = [&none, &some, &more, &all].map(|all| all[place].runtime.0);
        assert!(uses.iter().all(|used| [1200, 3600].contains(used)));
        assert!(uses.is_sorted(), "{uses:?}");
        assert_eq!((uses[0], uses[3]), (1200, 3600));
        sessions[0] += u32::from(uses[1] == 3600);
        sessions[1] += u32::from(uses[2] == 3600);
        let runtime = batch.runtime;
        let as_batch = ReservationRequest {
            runtime,
            ..some[place].clone()
        };
        assert_eq!(*batch, as_batch);
    }
    assert!((35..65).contains(&sessions[0]), "{sessions:?}");
    assert!((80..120).contains(&sessions[1]), "{sessions:?}");
}

#[test]
fn sessions_are_read_where_batch_reservations_end_early() {
    let with = |duration, duration_used, interactive_percent| {
        let settings = RequestSettings {
            duration,
            duration_used,
            interactive_percent,
            ..RequestSettings::default()
        };
        let normalised = settings.normalised();
        (normalised.duration_used, normalised.interactive_percent)
    };
    use {DurationUsed as Used, RequestDuration as Long};
    let (job, window) = (Used::Job, Used::Window);
    assert_eq!(with(Long::Estimate, job, 30.0), (job, 30.0));
    assert_eq!(with(Long::Estimate, job, 100.0), (window, 0.0));
    assert_eq!(with(Long::Estimate, window, 30.0), (window, 0.0));
    assert_eq!(with(Long::Runtime, job, 30.0), (job, 0.0));
    assert_eq!(with(Long::Runtime, window, 100.0), (job, 0.0));
}

#[test]
fn jobs_that_are_reserved_instead_leave_the_queue_and_ids_stay_dense() {
    let mixed = generate(&RequestSettings {
        share_percent: 25.0,
        origin: RequestOrigin::Instead,
        start: StartRule::Choice { alpha: Some(0.5) },
        duration: RequestDuration::Runtime,
        ..RequestSettings::default()
    });
    assert_eq!((mixed.jobs.len(), mixed.requests.len()), (150, 50));
    assert!(
        mixed
            .jobs
            .iter()
            .enumerate()
            .all(|(index, job)| job.id.0 == index as u32)
    );
    assert!(mixed.requests.iter().all(|r| r.duration == Seconds(1200)));
}

#[test]
fn another_replication_draws_other_jobs() {
    let settings = RequestSettings::default();
    let numbers = |replication| {
        generate_requests(&jobs(200), &settings, 1, "w", replication)
            .requests
            .iter()
            .map(|request| request.trace_number)
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers(0), numbers(0));
    assert_ne!(numbers(0), numbers(1));
}
