//! Classes of priority (Singh 2008, §2.1.3).

use bookahead_core::random::stream;
use bookahead_core::workload::CostSpread;
use rand::RngExt as _;

use super::*;
use crate::predicted_queue::posted::{ClassChoice, Classed, PostedSettings, class_measures};

fn classes(choice: ClassChoice) -> PostedSettings {
    PostedSettings {
        classes: 2,
        choice,
        load: None,
        costs: CostSpread::Width,
    }
}

fn in_classes(choice: ClassChoice) -> PredictedQueueSettings {
    PredictedQueueSettings {
        rules: QueueRules::Tsafrir2007,
        classes: Some(classes(choice)),
        ..settings(BackfillOrder::None)
    }
}

/// The first job holds both nodes until 10. The third one is of the first class and goes before the
/// second one, which came earlier; the fourth one goes behind the third.
#[test]
fn a_job_of_an_earlier_class_goes_first_and_within_a_class_the_order_is_that_of_submission() {
    let rows = [(0, 2, 10, 10), (1, 2, 5, 5), (2, 2, 7, 7), (3, 2, 3, 3)];
    let given = jobs(&rows);
    let with = |of: [u8; 4]| {
        let jobs: Arc<[QueueJob]> = (given.iter().zip(of))
            .map(|(job, class)| QueueJob { class, ..*job })
            .collect();
        let settings = in_classes(ClassChoice::Posted);
        let outcomes = simulate_predicted_queue(&jobs, Nodes(2), &settings).unwrap();
        let starts = outcomes.iter().map(|outcome| outcome.start.0);
        starts.collect::<Vec<_>>()
    };
    assert_eq!(with([0, 0, 0, 0]), [0, 10, 15, 22]);
    assert_eq!(with([1, 1, 0, 0]), [0, 20, 10, 17]);
    assert_eq!(with([0, 2, 1, 0]), [0, 20, 13, 10]);
}

/// Exponential service of mean 1 h and Poisson arrivals of 0.2 and 0.4 jobs an hour whose owners
/// lose 3 and 1 SU by an hour: they choose by what is posted, and wait 0.75 and 1.875 h. Without
/// classes everybody waits 1.5 h, so an hour costs 0.6 · 1.5 + 0.4 · 1.5 = 1.5 SU instead of
/// 0.6 · 0.75 + 0.4 · 1.875 = 1.2.
#[test]
fn one_server_with_poisson_arrivals_has_the_waits_that_are_posted() {
    let mut draws = stream(7, "one server", 0, "test");
    let mut exponential = |mean: f64| -mean * (1.0 - draws.random::<f64>()).ln();
    let count = 200_000;
    let mut now = 0.0;
    let mut rows: Vec<Row> = Vec::with_capacity(count);
    for _ in 0..count {
        now += exponential(36_000.0 / 0.6);
        let runtime = exponential(36_000.0).ceil() as i64;
        // All owners expect the mean.
        rows.push((now as i64, 1, runtime, 36_000));
    }
    let costs: Vec<f64> = (0..count)
        .map(|_| match draws.random::<f64>() < 1.0 / 3.0 {
            true => 3.0,
            false => 1.0,
        })
        .collect();
    let jobs = jobs(&rows);
    let measured = |choice| {
        let classed = Classed::of(&jobs, Nodes(1), &classes(choice), &costs).unwrap();
        let in_order: Arc<[QueueJob]> = classed.jobs.as_slice().into();
        let settings = in_classes(choice);
        let outcomes = simulate_predicted_queue(&in_order, Nodes(1), &settings).unwrap();
        class_measures(&classed, &outcomes)
    };
    let near = |measured: &Measured, measure: &str, expected: f64| {
        let found = measured.get(measure).unwrap();
        assert!((found / expected - 1.0).abs() < 0.04, "{measure}: {found}");
    };
    // Everything takes ten times as long here, so that whole seconds round little.
    let hours = now / 36_000.0;
    let posted = measured(ClassChoice::Posted);
    near(&posted, "first_posted_wait_hours", 7.5);
    near(&posted, "second_posted_wait_hours", 18.75);
    near(&posted, "first_priority_wait_hours", 7.5);
    near(&posted, "second_priority_wait_hours", 18.75);
    near(&posted, "first_priority_percent", 33.3);
    near(&posted, "waiting_cost_su", 10.0 * 1.2 * hours);
    // A job of exponential length pays 5.375 or 3.875 in the mean.
    near(
        &posted,
        "priority_paid_su",
        10.0 * (0.2 * 5.375 + 0.4 * 3.875) * hours,
    );
    let free = measured(ClassChoice::Free);
    near(&free, "first_priority_wait_hours", 15.0);
    near(&free, "waiting_cost_su", 10.0 * 1.5 * hours);
    assert_eq!(free.get("priority_paid_su"), Some(0.0));
    assert_eq!(free.get("second_priority_wait_hours"), None);
}
