//! Machines that end padded jobs for idling.

use super::*;

/// Singh 2008, §6.3.2: on an idle machine the padded job starts at once, so it is submitted as long
/// before the start as it may idle.
#[test]
fn who_may_idle_for_half_an_hour_is_submitted_half_an_hour_before() {
    let settings = VirtualStudySettings {
        idle_limit: Some(MINUTE * 30),
        instants: 3,
        ..small()
    };
    let run = study(&numbered(idle_days(5)), &settings);
    for trial in &run.trials {
        let submission = trial.submission.unwrap();
        assert_eq!(submission.submit, trial.wanted_start - MINUTE * 30);
        assert_eq!(submission.runtime, MINUTE * 90);
        assert_eq!(trial.virtual_start, Some(submission.submit));
        assert_eq!(trial.normalised_virtual_cost(), Some(0.5));
    }
    assert_eq!(measure(&run, "var_ended_idle_percent"), Some(0.0));
    assert_eq!(measure(&run, "prediction_mean"), Some(1.0));
}

/// Every four hours all nodes are busy for one hour, and a job that says three waits for it: jobs
/// like the padded one are known to wait an hour. Half an hour of idling is allowed, so it is
/// submitted an hour and a half before the start, does not wait that long and idles too long.
#[test]
fn a_padded_job_that_starts_too_early_is_ended_and_the_reservation_beside_it_is_kept() {
    let jobs = (0..=7 * 6).flat_map(|slot| {
        let submit = Seconds::HOUR * 4 * slot;
        let busy = Job::rigid(JobId(0), submit, Nodes(4), Seconds::HOUR);
        let waits = Job::rigid(JobId(0), submit, Nodes(2), Seconds::HOUR * 3);
        [busy, waits.running_for(Seconds::HOUR)]
    });
    let jobs = numbered(jobs.collect());
    for combination in [Combination::Recorded, Combination::Played] {
        let settings = VirtualStudySettings {
            duration: Seconds::HOUR * 2,
            idle_limit: Some(MINUTE * 30),
            instants: 4,
            combination,
            predictor: WaitPredictorSettings {
                minimum_history: 1,
                ..WaitPredictorSettings::default()
            },
            ..small()
        };
        let run = study(&jobs, &settings);
        for trial in &run.trials {
            let submit = trial.submission.unwrap().submit;
            assert_eq!(submit, trial.wanted_start - MINUTE * 90);
            let began = trial.ended_idle.unwrap();
            assert!(submit <= began && began < trial.wanted_start - MINUTE * 30);
            assert_eq!((trial.virtual_start, trial.virtual_cost()), (None, None));
            assert_eq!(trial.combined.success(), trial.price.is_some());
            assert_ne!(trial.combined.scheme, CombinedScheme::Virtual);
        }
        assert_eq!(measure(&run, "var_ended_idle_percent"), Some(100.0));
        assert_eq!(measure(&run, "var_started_late_percent"), Some(0.0));
        assert_eq!(measure(&run, "var_success_percent"), Some(0.0));

        let patient = VirtualStudySettings {
            idle_limit: Some(Seconds::HOUR * 2),
            ..settings
        };
        let run = study(&jobs, &patient);
        assert_eq!(measure(&run, "var_ended_idle_percent"), Some(0.0));
    }
}
