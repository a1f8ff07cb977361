//! Findings held against measurements that are made up.

use super::*;
use crate::findings::MeasureNames;
use bookahead_studies::STUDIES;

use super::super::evaluate::judge;
use super::super::measured::{Metric, Query, Samples};
use crate::findings::{FindingResult, Verdict};

/// Experiment, strategy and (setting, gain) pairs.
type Row<'a> = (&'a str, &'a str, &'a [(f64, f64)]);

/// Gains of four strategies over three thresholds and two ratios, as a reader would draw them. A
/// quarter of a gain is forfeited.
fn drawn() -> Samples {
    let flat = |gain| [(0.1, gain), (0.2, gain), (0.3, gain)];
    let rows: [Row<'_>; 6] = [
        ("pof", "conservative-backfilling", &flat(100.0)),
        ("pof", "heuristic-planning", &flat(150.0)),
        (
            "pof",
            "comprehensive-overbooking",
            &[(0.1, 160.0), (0.2, 160.0), (0.3, 90.0)],
        ),
        (
            "pof",
            "heuristic-overbooking",
            &[(0.1, 200.0), (0.2, 205.0), (0.3, 180.0)],
        ),
        ("risk", "heuristic-planning", &[(1.0, 150.0), (4.0, -50.0)]),
        (
            "risk",
            "heuristic-overbooking",
            &[(1.0, 180.0), (4.0, 20.0)],
        ),
    ];
    let mut samples = Samples::default();
    for (experiment, strategy, gains) in rows {
        for (at, gain) in gains {
            let sample = samples.sample(experiment, ("runtime", strategy, *at), 0);
            *sample = [*gain, *gain, gain / 4.0, 0.0, 0.0];
        }
    }
    samples
}

fn small(finding: &str) -> FindingsFile {
    let layout = LAYOUT.replace("0.3, 0.5]", "0.3]");
    let text = format!(
        "{layout}\
         [[tolerance]]\nquantities = [\"gain\", \"max-gain\", \"extra-gain\", \"booked\"]\nrelative = 0.15\nreason = \"r\"\n\
         [[tolerance]]\nquantities = [\"surplus\", \"lost-share\", \"best-surplus\"]\nabsolute = 10.0\nreason = \"r\"\n\
         [[tolerance]]\nquantities = [\"worst-surplus-up-to\", \"best-threshold\", \"crossing\", \"flat-until\", \"order\", \"best-surplus-ratio\"]\n\
         absolute = 0.1\nreason = \"r\"\n\
         [[table]]\nnumber = \"1\"\ntrace = \"ctc\"\nsection = \"1\"\nprovenance = \"printed\"\nfindings = [{finding}]\n"
    );
    parse(FILE, &text, STUDIES, MeasureNames::Any).unwrap()
}

fn compare(finding: &str) -> FindingResult {
    let file = small(&format!("{{ id = \"ctc/{finding} }}"));
    let (layout, finding) = (file.cells.as_ref().unwrap(), &file.findings[0]);
    judge(layout, finding, cell(finding), &drawn(), None)
}

#[track_caller]
fn found(finding: &str) -> f64 {
    match compare(finding).found {
        Some(Found::Value { value, .. }) => value,
        other => panic!("{finding}: {other:?}"),
    }
}

#[test]
fn maxima_surpluses_and_best_settings_are_computed_from_the_means() {
    assert_eq!(
        found("pof/runtime/heuristic-overbooking/max-gain\", value = 1"),
        205.0
    );
    // Of two equal gains the lower threshold is the best one.
    assert_eq!(
        found("pof/runtime/comprehensive-overbooking/best-threshold\", value = 1"),
        0.1
    );
    // (160 − 100) / 100 and (205 − 150) / 150.
    assert_eq!(
        found("pof/runtime/comprehensive-overbooking/surplus\", value = 1"),
        60.0
    );
    let surplus = found("pof/runtime/heuristic-overbooking/surplus\", value = 1");
    assert!((surplus - 36.666_666_666_666_67).abs() < 1e-9);
    assert_eq!(
        found("pof/runtime/comprehensive-overbooking/crossing\", value = 1"),
        0.3
    );
    // 205 is 2.5 % from 200, 180 is 10 %.
    assert_eq!(
        found("pof/runtime/heuristic-overbooking/flat-until\", value = 1"),
        0.2
    );
    // Penalties 150 / 4 of booked 150 · 1.25.
    assert_eq!(
        found("baselines/heuristic-planning/lost-share\", value = 1"),
        20.0
    );
    assert_eq!(
        found("risk/runtime/heuristic-overbooking/extra-gain@4\", value = 1"),
        70.0
    );
    // At ratio 4 the baseline loses money and no surplus is defined: the best one is (180 − 150)
    // / 150.
    assert_eq!(
        found("risk/runtime/heuristic-overbooking/best-surplus\", value = 1"),
        20.0
    );
    assert_eq!(
        found("risk/runtime/heuristic-overbooking/best-surplus-ratio\", value = 1"),
        1.0
    );
}

#[test]
fn a_claim_holds_up_to_its_tolerance_and_is_missed_by_what_lies_beyond() {
    let held = compare("pof/runtime/heuristic-overbooking/max-gain\", value = 178.5");
    assert_eq!(held.verdict, Verdict::Held, "205 is 14.8 % above 178.5");
    let missed = compare("pof/runtime/heuristic-overbooking/max-gain\", value = 178");
    assert_eq!(
        missed.verdict,
        Verdict::Missed("27 away, 26.7 allowed".to_owned())
    );
    assert!((missed.difference_percent().unwrap() - 15.168_539).abs() < 1e-6);
    let edge = compare("pof/runtime/comprehensive-overbooking/best-threshold\", value = 0.2");
    assert_eq!(edge.verdict, Verdict::Held, "0.2 − 0.1 is within 0.1");
}

#[test]
fn a_bound_from_below_holds_from_the_bound_on() {
    // Surpluses of comprehensive overbooking: 60, 60, −10 %.
    let claim = "pof/runtime/comprehensive-overbooking/worst-surplus-up-to";
    assert_eq!(found(&format!("{claim}@0.2\", at_least = 0")), 60.0);
    assert_eq!(
        compare(&format!("{claim}@0.2\", at_least = 60")).verdict,
        Verdict::Held
    );
    assert_eq!(
        compare(&format!("{claim}@0.3\", at_least = 0")).verdict,
        Verdict::Missed("10 below the bound".to_owned())
    );
}

#[test]
fn what_was_not_measured_or_is_not_defined_is_not_tested_and_says_why() {
    let unmeasured = compare("risk/runtime/comprehensive-overbooking/gain@1\", value = 1");
    let Verdict::NotTested(why) = unmeasured.verdict else {
        panic!("{:?}", unmeasured.verdict)
    };
    assert!(
        why.contains("comprehensive-overbooking with runtime classes at 1"),
        "{why}"
    );
    let undefined = compare("risk/runtime/heuristic-overbooking/surplus@4\", value = 1");
    assert!(matches!(undefined.verdict, Verdict::NotTested(why) if why.contains("A-42")));
}

#[test]
fn a_curve_that_never_falls_below_its_baseline_misses_the_crossing() {
    let never = compare("pof/runtime/heuristic-overbooking/crossing\", value = 0.3");
    assert_eq!(
        never.verdict,
        Verdict::Missed("never falls below its baseline".to_owned())
    );
    assert_eq!(never.found, None);
}

#[test]
fn an_order_agrees_exactly_or_is_missed_by_the_pairs_that_are_swapped() {
    let order =
        |names: [&str; 4]| compare(&format!("pof/runtime/order\", order = {names:?}")).verdict;
    let (cb, hp, co, ho) = (
        "conservative-backfilling",
        "heuristic-planning",
        "comprehensive-overbooking",
        "heuristic-overbooking",
    );
    // 205 > 160 > 150 > 100.
    assert_eq!(order([ho, co, hp, cb]), Verdict::Held);
    assert_eq!(
        order([ho, hp, co, cb]),
        Verdict::Missed("1 of 6 pairs the other way round".to_owned())
    );
    assert_eq!(
        order([cb, hp, co, ho]),
        Verdict::Missed("6 of 6 pairs the other way round".to_owned())
    );
}

#[test]
fn samples_give_student_intervals_and_paired_differences() {
    let mut samples = Samples::of(3);
    let planning = "heuristic-planning";
    let overbooking = "heuristic-overbooking";
    for (battery, fees) in (0..).zip([1.0, 2.0, 3.0]) {
        for (strategy, fees) in [(planning, fees), (overbooking, fees + 10.0)] {
            let sample = samples.sample("risk", ("runtime", strategy, 4.0), battery);
            *sample = [fees - 4.0 * 0.25, fees, 0.25, 5.0, 2.0];
        }
    }
    let query = |strategy, metric| Query {
        experiment: "risk",
        family: "runtime",
        strategy,
        at: 4.0,
        metric,
    };
    let gain = samples.mean(&query(planning, Metric::Gain)).unwrap();
    // Mean of 0, 1, 2; s = 1; t(2, 0.975) = 4.302653; 4.302653 / √3 = 2.484138.
    assert!((gain.mean - 1.0).abs() < 1e-12);
    assert!((gain.high - 3.484_138).abs() < 1e-5, "{gain:?}");
    assert_eq!(gain.n, 3);
    assert_eq!(
        samples
            .mean(&query(planning, Metric::NetJobs))
            .unwrap()
            .mean,
        3.0
    );
    assert_eq!(
        samples
            .mean(&query(planning, Metric::Penalties))
            .unwrap()
            .mean,
        0.25
    );
    let paired = samples
        .paired(
            &query(overbooking, Metric::Gain),
            &query(planning, Metric::Gain),
        )
        .unwrap();
    assert!((paired.mean - 10.0).abs() < 1e-12 && (paired.high - paired.low).abs() < 1e-9);
}

#[test]
fn a_cell_with_fewer_batteries_than_asked_for_counts_as_not_measured() {
    let mut samples = Samples::of(2);
    *samples.sample("pof", ("runtime", "fcfs", 0.1), 0) = [1.0; 5];
    let query = Query {
        experiment: "pof",
        family: "runtime",
        strategy: "fcfs",
        at: 0.1,
        metric: Metric::Gain,
    };
    assert_eq!(samples.mean(&query).map(|estimate| estimate.n), None);
}
