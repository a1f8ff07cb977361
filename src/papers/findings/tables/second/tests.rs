use super::super::evaluate;
use super::*;
use crate::findings::MeasureNames;
use crate::findings::{Check, FindingResult, FindingsFile, parse};
use bookahead_studies::STUDIES;

const TEXT: &str = r#"
[cells]
family = "estimates.classes"
families = ["runtime"]
strategy = "scheduling.strategy"
[[cells.experiment]]
name = "pof"
title = "PoF test"
setting = "acceptance.pof_max"
called = "PoF_max"
values = [0.1, 0.2, 0.3]
[[cells.experiment]]
name = "risk"
title = "risk test"
setting = "acceptance.penalty_ratio"
called = "penalty ratio"
values = [1.0, 2.0]
[[cells.also]]
name = "baselines"
experiment = "risk"
family = "runtime"
at = 1.0
[cells.alignment]
name = "alignment"
experiment = "risk"
along = "failures.offset_hours"
within = 6.0
judges = [{ quantities = ["lost-share", "penalties"] }, { quantities = ["gain"], from = 2.0 }]
[[tolerance]]
quantities = ["gain", "penalties"]
relative = 0.15
reason = "because"
[[tolerance]]
quantities = ["lost-share"]
absolute = 5.0
reason = "because"
[[tolerance]]
quantities = ["best-threshold", "best-surplus-threshold", "max-successful-threshold"]
absolute = 0.05
reason = "because"
[[table]]
number = "6.1"
trace = "ctc"
section = "7.1.1"
provenance = "printed"
findings = [FINDINGS]
"#;

fn published(findings: &str) -> FindingsFile {
    parse(
        "findings.toml",
        &TEXT.replace("FINDINGS", findings),
        STUDIES,
        MeasureNames::Any,
    )
    .unwrap()
}

/// Two batteries of heuristic planning at ratio 1 and 2, which forfeit what is given and have
/// booked 1,000 coins each.
fn baseline(forfeited: [f64; 2]) -> Samples {
    let mut samples = Samples::of(2);
    for (battery, forfeited) in (0..).zip(forfeited) {
        for at in [1.0, 2.0] {
            let fees = 1_000.0 - forfeited;
            let sample = samples.sample("risk", ("runtime", "heuristic-planning", at), battery);
            *sample = [fees - at * forfeited, fees, forfeited, 0.0, 0.0];
        }
    }
    samples
}

fn alignment(offset_hours: f64, measured: Samples) -> Alignment {
    Alignment {
        offset_hours,
        measured,
    }
}

/// The result of a finding, judged by `measured` and again over alignments.
fn judged(finding: &str, measured: &Samples, alignments: Option<&[Alignment]>) -> FindingResult {
    let file = published(finding);
    let (layout, finding) = (file.cells.as_ref().unwrap(), &file.findings[0]);
    let Check::Cell(check) = &finding.check else {
        panic!("{} is of no table", finding.id);
    };
    evaluate::judge(layout, finding, check, measured, alignments)
}

fn penalties(value: f64) -> String {
    format!("{{ id = \"ctc/baselines/heuristic-planning/penalties\", value = {value} }}")
}

// Student's t for two batteries is 12.706, so 99 and 101 have the interval 100 ± 12.706 · √2 / √2 =
// 87.29 to 112.71, and 199 and 201 that of 187.29 to 212.71.
fn two_offsets() -> [Alignment; 2] {
    [
        alignment(0.0, baseline([99.0, 101.0])),
        alignment(2.0, baseline([199.0, 201.0])),
    ]
}

#[test]
fn a_number_holds_over_alignments_inside_the_union_of_the_intervals_and_not_in_a_gap_between_them()
{
    let measured = baseline([99.0, 101.0]);
    let offsets = two_offsets();
    let elsewhere = judged(&penalties(190.0), &measured, Some(&offsets));
    assert_eq!(
        elsewhere.verdict,
        Verdict::Missed("90 away, 28.5 allowed".to_owned())
    );
    assert_eq!(*elsewhere.second_verdict(), Verdict::Held);
    let Some(Second {
        ground:
            Some(Ground::Alignments {
                offsets_hours,
                union,
                batteries,
            }),
        ..
    }) = elsewhere.second
    else {
        panic!("{:?}", elsewhere.second);
    };
    assert_eq!((offsets_hours, batteries), (vec![0.0, 2.0], 2));
    let rounded: Vec<[i64; 2]> = union
        .iter()
        .map(|bounds| bounds.map(|bound| (bound * 100.0).round() as i64))
        .collect();
    assert_eq!(rounded, [[8_729, 11_271], [18_729, 21_271]]);
    // 150 lies inside the hull and in neither interval: 187.29 − 150 = 37.29.
    let between = judged(&penalties(150.0), &measured, Some(&offsets));
    assert_eq!(
        *between.second_verdict(),
        Verdict::Missed("37.29 from the nearest interval".to_owned())
    );
}

#[test]
fn the_second_judgement_has_no_tolerance_so_it_may_be_the_stricter_one() {
    // 114 is within 15 % of 100, and outside 87.29 to 112.71.
    let measured = baseline([99.0, 101.0]);
    let one = [alignment(0.0, baseline([99.0, 101.0]))];
    let comparison = judged(&penalties(114.0), &measured, Some(&one));
    assert_eq!(comparison.verdict, Verdict::Held);
    assert!(matches!(comparison.second_verdict(), Verdict::Missed(how) if how.starts_with("1.29")));
}

#[test]
fn intervals_that_overlap_are_one_and_offsets_beyond_six_hours_do_not_count() {
    let measured = baseline([99.0, 101.0]);
    let offsets = [
        alignment(-6.0, baseline([109.0, 111.0])),
        alignment(0.0, baseline([99.0, 101.0])),
        alignment(6.5, baseline([499.0, 501.0])),
    ];
    let comparison = judged(&penalties(500.0), &measured, Some(&offsets));
    let Some(Second {
        verdict: Verdict::Missed(_),
        ground:
            Some(Ground::Alignments {
                offsets_hours,
                union,
                ..
            }),
    }) = comparison.second
    else {
        panic!("{:?}", comparison.second);
    };
    assert_eq!(offsets_hours, [-6.0, 0.0]);
    assert_eq!(union.len(), 1, "{union:?}");
}

#[test]
fn a_share_is_judged_by_the_interval_of_a_quotient() {
    let lost = |value: f64| {
        format!("{{ id = \"ctc/baselines/heuristic-planning/lost-share\", value = {value} }}")
    };
    let measured = baseline([99.0, 101.0]);
    let offsets = two_offsets();
    // 10 ± 1.27 % and 20 ± 1.27 %, because every battery booked the same.
    let comparison = judged(&lost(18.8), &measured, Some(&offsets));
    assert!(matches!(comparison.verdict, Verdict::Missed(_)));
    assert_eq!(*comparison.second_verdict(), Verdict::Held);
    let Some(Found::Value {
        interval: Some([low, high]),
        ..
    }) = comparison.found
    else {
        panic!("{:?}", comparison.found);
    };
    assert!(
        (low - 8.729_4).abs() < 1e-3 && (high - 11.270_6).abs() < 1e-3,
        "{low} {high}"
    );
    let gap = judged(&lost(15.0), &measured, Some(&offsets));
    assert_eq!(gap.verdict, Verdict::Held, "10 is within five points of 15");
    assert!(matches!(gap.second_verdict(), Verdict::Missed(_)));
}

#[test]
fn the_interval_of_a_quotient_follows_the_batteries_and_not_their_sums_alone() {
    // Shares of 10 and 30 % of 100 and 300 coins: 100 / 400 = 0.25; deviations (10 − 25, 90 − 75) /
    // 200 = ∓0.075, and 12.706 · (0.15 / √2) / √2 = 0.953.
    let estimate =
        super::super::measured::Estimate::of_quotient(&[(10.0, 100.0), (90.0, 300.0)]).unwrap();
    assert!((estimate.mean - 0.25).abs() < 1e-12);
    assert!(
        (estimate.high - estimate.mean - 0.953).abs() < 1e-3,
        "{estimate:?}"
    );
    assert!(super::super::measured::Estimate::of_quotient(&[]).is_none());
    assert!(super::super::measured::Estimate::of_quotient(&[(0.0, 0.0)]).is_none());
}

#[test]
fn one_battery_an_incomplete_offset_and_no_offset_at_all_are_not_tested() {
    let measured = baseline([99.0, 101.0]);
    let why =
        |offsets: &[Alignment]| match judged(&penalties(100.0), &measured, Some(offsets)).second {
            Some(Second {
                verdict: Verdict::NotTested(why),
                ground: None,
            }) => why,
            other => panic!("{other:?}"),
        };
    assert_eq!(why(&[]), "no offset of the failure clock was measured");
    let (mut lonely, mut incomplete) = (Samples::of(1), Samples::of(2));
    for samples in [&mut lonely, &mut incomplete] {
        let sample = samples.sample("risk", ("runtime", "heuristic-planning", 1.0), 0);
        *sample = [800.0, 900.0, 100.0, 0.0, 0.0];
    }
    assert_eq!(
        why(&[alignment(-4.0, lonely)]),
        "no interval at an offset of -4 h"
    );
    // The complete offset alone would hold it; an incomplete one may not be passed over.
    let some = [
        alignment(0.0, baseline([99.0, 101.0])),
        alignment(2.0, incomplete),
    ];
    assert!(
        why(&some).starts_with("at an offset of 2 h: not measured completely"),
        "{}",
        why(&some)
    );
}

#[test]
fn gains_are_judged_twice_from_ratio_two_on_and_other_claims_once() {
    let measured = baseline([99.0, 101.0]);
    let offsets = two_offsets();
    let gain = |at: f64| {
        format!("{{ id = \"ctc/risk/runtime/heuristic-planning/gain@{at}\", value = 500 }}")
    };
    assert_eq!(judged(&gain(1.0), &measured, Some(&offsets)).second, None);
    assert!(
        judged(&gain(2.0), &measured, Some(&offsets))
            .second
            .is_some()
    );
    // A paper without such an experiment judges once.
    assert_eq!(judged(&gain(2.0), &measured, None).second, None);
}

#[test]
fn of_what_is_held_out_the_union_is_shown_and_nothing_is_judged() {
    let aside = "{ id = \"ctc/baselines/heuristic-planning/penalties\", held_out = [] }";
    let comparison = judged(aside, &baseline([99.0, 101.0]), Some(&two_offsets()));
    assert!(
        matches!(comparison.second_verdict(), Verdict::NotTested(why) if why.contains("held out"))
    );
    assert!(
        comparison
            .second
            .is_some_and(|second| second.ground.is_some())
    );
}

/// Heuristic overbooking at three thresholds with these means, two batteries 10 coins apart
/// (± 63.5), over planning at 800.
fn curve(means: [f64; 3]) -> Samples {
    let mut samples = Samples::of(2);
    for (at, mean) in [0.1, 0.2, 0.3].into_iter().zip(means) {
        for (battery, deviation) in [(0, -5.0), (1, 5.0)] {
            for (strategy, fees) in [
                ("heuristic-overbooking", mean + deviation),
                ("heuristic-planning", 800.0),
            ] {
                let sample = samples.sample("pof", ("runtime", strategy, at), battery);
                *sample = [fees, fees, 0.0, fees.trunc(), 0.0];
            }
        }
    }
    samples
}

fn threshold(quantity: &str, value: f64) -> String {
    format!("{{ id = \"ctc/pof/runtime/heuristic-overbooking/{quantity}\", value = {value} }}")
}

#[test]
fn a_best_threshold_holds_where_the_published_one_earns_as_much_as_the_best_may() {
    // 12.706 · (10 / √2) / √2 = 63.53: the best is 1,000 ± 63.5.
    let flat = curve([950.0, 940.0, 1_000.0]);
    for quantity in ["best-threshold", "best-surplus-threshold"] {
        let comparison = judged(&threshold(quantity, 0.1), &flat, None);
        assert!(matches!(comparison.verdict, Verdict::Missed(_)));
        assert_eq!(*comparison.second_verdict(), Verdict::Held, "{quantity}");
        // In each battery the best earns 50 coins more, which an interval over batteries does not
        // show.
        let Some(Ground::Peak { best_above, .. }) = comparison.second.and_then(|own| own.ground)
        else {
            panic!("{quantity} is about a peak");
        };
        let paired = (quantity == "best-threshold").then_some([50.0, 50.0]);
        assert_eq!(best_above, paired, "{quantity}");
    }
    let steep = curve([930.0, 940.0, 1_000.0]);
    let comparison = judged(&threshold("best-threshold", 0.1), &steep, None);
    assert_eq!(
        *comparison.second_verdict(),
        Verdict::Missed("930 there, 936 to 1,064 at the best".to_owned())
    );
    // What held by its tolerance is not judged again.
    let comparison = judged(&threshold("best-threshold", 0.3), &steep, None);
    assert_eq!(
        (comparison.verdict, comparison.second),
        (Verdict::Held, None)
    );
}

#[test]
fn thresholds_at_which_counts_of_jobs_peak_are_judged_once() {
    let flat = curve([999.0, 998.0, 1_000.0]);
    let comparison = judged(&threshold("max-successful-threshold", 0.1), &flat, None);
    assert!(matches!(comparison.verdict, Verdict::Missed(_)));
    assert_eq!(comparison.second, None);
}
