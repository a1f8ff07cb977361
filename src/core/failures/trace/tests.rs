use proptest::prelude::*;

use super::*;
use crate::random;

fn outage(node: u32, start: i64, end: i64) -> Outage {
    Outage {
        node: NodeIndex(node),
        start: Seconds(start),
        end: Seconds(end),
    }
}

fn event(time: i64, node: u32, up: bool) -> NodeEvent {
    NodeEvent {
        time: Seconds(time),
        node: NodeIndex(node),
        up,
    }
}

fn trace(outages: &[Outage]) -> FailureTrace {
    FailureTrace::from_outages(outages.iter().copied()).unwrap()
}

fn generate(nodes: u32, horizon: i64) -> FailureTrace {
    let survival = SurvivalModel::Poisson {
        rate_per_hour: 0.02,
    };
    FailureTrace::generate(&survival, 0.5, Nodes(nodes), Seconds(horizon), |node| {
        random::stream(3, "test", 0, &format!("failures/node/{}", node.0))
    })
    .unwrap()
}

#[test]
fn each_machine_meets_the_failures_of_its_own_nodes() {
    let event = |time, node| NodeEvent {
        time: Seconds(time),
        node: NodeIndex(node),
        up: false,
    };
    let all = FailureTrace {
        events: vec![event(1, 0), event(2, 9), event(3, 5), event(4, 99)],
    };
    let seen = |sizes: [u32; 4]| {
        let each = all.by_machine(sizes.map(Nodes)).into_iter();
        let own = |own: FailureTrace| -> Vec<(i64, u32)> {
            let events = own.events.iter();
            events.map(|event| (event.time.0, event.node.0)).collect()
        };
        each.map(own).collect::<Vec<_>>()
    };
    assert_eq!(
        seen([4, 4, 0, 4]),
        [vec![(1, 0)], vec![(3, 1)], vec![], vec![(2, 1)]]
    );
    assert_eq!(
        seen([0, 6, 2, 1]),
        [vec![], vec![(1, 0), (3, 5)], vec![], vec![]]
    );
}

#[test]
fn machines_in_one_list_are_numbered_one_after_the_other_and_taken_apart_again() {
    let sizes = [Nodes(2), Nodes(0), Nodes(3)];
    let each = [
        trace(&[outage(1, 10, 20)]),
        FailureTrace::default(),
        trace(&[outage(0, 5, 10), outage(2, 10, 40)]),
    ];
    let all = FailureTrace::of_machines(sizes.into_iter().zip(each.clone()));
    // At 10 the repair comes first.
    let expected = [
        event(5, 2, false),
        event(10, 2, true),
        event(10, 1, false),
        event(10, 4, false),
        event(20, 1, true),
        event(40, 4, true),
    ];
    assert_eq!(all.events, expected);
    assert_eq!(all.by_machine(sizes), each);
}

#[test]
fn outages_of_a_span_come_with_their_repairs_and_repairs_of_earlier_ones_do_not() {
    let all = trace(&[outage(0, 10, 60), outage(1, 50, 90), outage(0, 70, 80)]);
    let expected = trace(&[outage(1, 50, 90)]);
    assert_eq!(all.beginning_within(Seconds(50)..Seconds(70)), expected);
    assert_eq!(all.beginning_within(..), all);
}

#[test]
fn overlapping_and_touching_outages_of_a_node_are_one() {
    let outages = [
        outage(1, 50, 60),
        outage(0, 10, 30),
        outage(0, 20, 25),
        outage(0, 30, 40),
        outage(0, 60, 60),
    ];
    let trace = FailureTrace::from_outages(outages).unwrap();
    let expected = [
        event(10, 0, false),
        event(40, 0, true),
        event(50, 1, false),
        event(60, 1, true),
        event(60, 0, false),
        event(61, 0, true),
    ];
    assert_eq!(trace.events, expected);
    trace.validate().unwrap();
}

#[test]
fn an_outage_that_ends_before_it_begins_is_an_error() {
    let error = FailureTrace::from_outages([outage(4, 10, 9)]).unwrap_err();
    assert!(error.to_string().contains("node 4"), "{error}");
}

#[test]
fn events_out_of_order_are_errors() {
    let good = vec![event(1, 0, false), event(5, 0, true), event(5, 1, false)];
    FailureTrace::from_events(good).unwrap();
    for (bad, wrong) in [
        (vec![event(1, 0, true)], 0),
        (vec![event(1, 0, false), event(2, 0, false)], 1),
        (vec![event(5, 0, false), event(4, 1, false)], 1),
        (
            vec![event(1, 0, false), event(5, 1, false), event(5, 0, true)],
            2,
        ),
    ] {
        assert_eq!(FailureTrace::from_events(bad), Err(wrong));
    }
}

#[test]
fn drawn_failures_have_the_rates_of_the_model() {
    // 200 nodes for 10,000 h: about 200 · 10,000 / (50 + 2) = 38,461 outages, give or take
    // three times their root.
    let trace = generate(200, 10_000 * 3_600);
    trace.validate().unwrap();
    let failures = trace.events.iter().filter(|event| !event.up).count() as f64;
    assert!(
        (failures - 38_461.0).abs() < 3.0 * 38_461.0_f64.sqrt(),
        "{failures}"
    );
    let down: i64 = trace
        .events
        .iter()
        .map(|event| {
            if event.up {
                event.time.0
            } else {
                -event.time.0
            }
        })
        .sum();
    let mean = down as f64 / 3_600.0 / failures;
    assert!((mean - 2.0).abs() < 3.0 * 2.0 / failures.sqrt(), "{mean}");
}

#[test]
fn a_larger_machine_does_not_change_the_failures_of_its_first_nodes() {
    let small = generate(5, 3_600_000);
    let mut large = generate(50, 3_600_000);
    large.events.retain(|event| event.node < NodeIndex(5));
    assert_eq!(small, large);
}

#[test]
fn a_later_horizon_adds_only_later_events() {
    let horizon = 1_800_000;
    let before = |trace: FailureTrace| -> Vec<NodeEvent> {
        trace
            .events
            .into_iter()
            .filter(|event| event.time < Seconds(horizon))
            .collect()
    };
    let short = before(generate(20, horizon));
    assert!(short.len() > 100);
    assert_eq!(short, before(generate(20, 4 * horizon)));
}

#[test]
fn starting_later_keeps_what_is_down_down() {
    let outages = [
        outage(0, 0, 10),
        outage(1, 5, 30),
        outage(2, 20, 25),
        outage(3, 40, 50),
    ];
    let trace = FailureTrace::from_outages(outages)
        .unwrap()
        .starting_at(Seconds(20));
    let expected = [
        (0, 1, false),
        (0, 2, false),
        (5, 2, true),
        (10, 1, true),
        (20, 3, false),
        (30, 3, true),
    ];
    assert_eq!(
        trace.events,
        expected.map(|(time, node, up)| event(time, node, up))
    );
    trace.validate().unwrap();
}

#[test]
fn impossible_rates_are_errors() {
    let never = SurvivalModel::Poisson { rate_per_hour: 0.0 };
    let generate = |survival, repair| {
        let stream = |_| random::stream(0, "", 0, "");
        FailureTrace::generate(survival, repair, Nodes(9), Seconds(99_999), stream)
    };
    assert!(generate(&never, 0.0).is_err());
    assert!(
        generate(
            &SurvivalModel::Poisson {
                rate_per_hour: -1.0
            },
            1.0
        )
        .is_err()
    );
    assert_eq!(generate(&never, 1.0).unwrap(), FailureTrace::default());
}

proptest! {
    #[test]
    fn any_outages_make_a_trace_that_is_down_exactly_then(
        drawn in prop::collection::vec((0_u32..4, 0_i64..100, 1_i64..30), 0..40), offset in 0_i64..120,
    ) {
        let outages: Vec<Outage> =
            drawn.iter().map(|&(node, start, length)| outage(node, start, start + length)).collect();
        let trace = FailureTrace::from_outages(outages.clone()).unwrap();
        prop_assert!(trace.validate().is_ok());
        let shifted = trace.starting_at(Seconds(offset));
        prop_assert!(shifted.validate().is_ok());
        for node in (0..4).map(NodeIndex) {
            for time in offset..140 {
                let recorded = outages.iter().any(|outage| {
                    outage.node == node && outage.start.0 <= time && time < outage.end.0
                });
                let down = |trace: &FailureTrace, time: i64| {
                    let is_before = |event: &&NodeEvent| event.node == node && event.time.0 <= time;
                    trace.events.iter().rfind(is_before).is_some_and(|event| !event.up)
                };
                prop_assert_eq!(down(&trace, time), recorded);
                prop_assert_eq!(down(&shifted, time - offset), recorded);
            }
        }
    }
}
