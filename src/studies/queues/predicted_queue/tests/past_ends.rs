//! Jobs that outlive a prediction which nobody corrects (Tsafrir et al. 2007).

use super::*;

#[test]
fn a_planned_end_that_has_passed_counts_as_now_or_stays_where_it_was() {
    // A is planned to end at 10 and ends at 100. B needs its nodes; C could end by 60.
    let given = [(0, 2, 100, 200), (50, 4, 5, 5), (51, 1, 9, 9)];
    let reserved = |corrector| {
        let settings = PredictedQueueSettings {
            corrector,
            rules: QueueRules::Tsafrir2007,
            ..PredictedQueueSettings::default()
        };
        let predictions = [10, 5, 9].map(Seconds).to_vec();
        let outcomes = outcomes_with(&jobs(&given), 4, &settings, predictions);
        let starts: Vec<i64> = outcomes.iter().map(|outcome| outcome.start.0).collect();
        assert_eq!(starts, [0, 100, 105], "{corrector:?}");
        outcomes[1].reserved.map(|start| start.0)
    };
    assert_eq!(reserved(Corrector::None), Some(50));
    assert_eq!(reserved(Corrector::Unchanged), Some(10));
}

#[test]
fn of_two_planned_ends_that_have_passed_the_later_one_may_leave_nothing() {
    // A and B were planned to end at 10 and 20; W needs the nodes of one of them, and C those of
    // the other. If both count as ending now, W leaves two nodes for C.
    let given = [
        (0, 2, 90, 200),
        (0, 2, 95, 200),
        (30, 3, 5, 5),
        (31, 1, 40, 40),
    ];
    let starts = |corrector| {
        let settings = PredictedQueueSettings {
            corrector,
            rules: QueueRules::Tsafrir2007,
            ..PredictedQueueSettings::default()
        };
        let predictions = [10, 20, 5, 40].map(Seconds).to_vec();
        let outcomes = outcomes_with(&jobs(&given), 5, &settings, predictions);
        [outcomes[2].start.0, outcomes[3].start.0]
    };
    assert_eq!(starts(Corrector::None), [90, 31]);
    assert_eq!(starts(Corrector::Unchanged), [90, 95]);
}

#[test]
fn a_job_that_outlives_a_request_that_corrections_do_not_pass_counts_as_one_that_nobody_corrects() {
    // A is predicted to end at 10, asks for 20 and ends at 100. B needs its nodes from 25 on.
    let given = [(0, 2, 100, 20), (25, 4, 5, 5)];
    for rules in [QueueRules::Tsafrir2007, QueueRules::Zhang2020] {
        for corrector in [
            Corrector::None,
            Corrector::Request,
            Corrector::CappedDoubling,
            Corrector::Increments,
        ] {
            let settings = PredictedQueueSettings {
                corrector,
                rules,
                ..PredictedQueueSettings::default()
            };
            let predictions = [10, 5].map(Seconds).to_vec();
            let outcomes = outcomes_with(&jobs(&given), 4, &settings, predictions);
            let starts: Vec<i64> = outcomes.iter().map(|outcome| outcome.start.0).collect();
            assert_eq!(starts, [0, 100], "{corrector:?}");
            assert_eq!(outcomes[1].reserved, Some(Seconds(25)), "{corrector:?}");
        }
    }
}
