use super::*;
use crate::comparison::differences::Difference;
use crate::comparison::quantities::Quantity;
use bookahead_lab::store::METRICS;
use bookahead_lab::sweep::Seen;
use bookahead_studies::STUDIES;
use bookahead_testutils::runs::{seen, spec};

fn points(done: &[MeasuredPoint]) -> Points<'_> {
    Points {
        done,
        unfinished: &[],
        unknown: 0,
    }
}

fn pair<'p>(first: &'p [MeasuredPoint], second: &'p [MeasuredPoint]) -> Pairing<'p> {
    Pairing::new(points(first), points(second), false)
}

/// The difference of the gain over all pairs, and those of all other metrics.
fn differences<'p>(pairing: &Pairing<'p>) -> Vec<Difference<'p>> {
    let group = pairing.whole();
    let all = Quantity::all(STUDIES, std::iter::empty());
    all.iter()
        .map(|quantity| Difference::of(quantity, &group))
        .collect()
}

fn point(place: i64, axes: &[(&str, AxisValue)], replication: u32, gain: f64) -> MeasuredPoint {
    let mut values = vec![Some(1.0); METRICS.len()];
    values[0] = Some(gain);
    MeasuredPoint {
        measured: Vec::new(),
        strategy: "fcfs".to_owned(),
        place,
        original: place,
        identity: place.to_string(),
        simulation: place,
        axes: axes
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect(),
        replication,
        seen: seen(&format!("jobs {replication}"), "none"),
        spec: "{}".into(),
        values,
    }
}

#[test]
fn the_mean_of_paired_differences_has_a_student_interval() {
    let pof = |value: f64| [("pof", AxisValue::Real(value))];
    let first: Vec<_> = (0..3)
        .map(|r| point(i64::from(r), &pof(0.5), r, 10.0))
        .collect();
    let second: Vec<_> = (0..3)
        .map(|r| point(i64::from(r), &pof(0.5), r, 11.0 + f64::from(r)))
        .collect();
    let pairing = pair(&first, &second);
    assert_eq!((pairing.pairs.len(), pairing.unpaired()), (3, 0));
    let all = differences(&pairing);
    let gain = &all[0];
    assert_eq!((gain.pairs, gain.equal), (3, 0));
    // Differences 1, 2, 3: mean 2, deviation 1, t(2) = 4.302653, half width 4.302653 / √3.
    let estimate = gain.difference.unwrap();
    assert_eq!((estimate.mean, estimate.deviation), (2.0, Some(1.0)));
    assert!((estimate.half_width().unwrap() - 2.484_138).abs() < 1e-5);
    let (value, at) = gain.largest.as_ref().unwrap();
    assert_eq!((*value, at.place), (Some(3.0), 2));
    assert!(all[1..].iter().all(|other| !other.differs()));
}

#[test]
fn the_unit_of_an_interval_is_the_replication_and_not_the_point() {
    // Three thresholds of three batteries: the gain of a battery is off by the same 1, 2 or 3 at
    // all of them.
    let thresholds = [0.1, 0.5, 0.9];
    let run = |off: fn(u32) -> f64| -> Vec<MeasuredPoint> {
        (0..9_u32)
            .map(|at| {
                let (replication, pof) = (at % 3, thresholds[at as usize / 3]);
                let axes = [("pof", AxisValue::Real(pof))];
                point(i64::from(at), &axes, replication, 10.0 + off(replication))
            })
            .collect()
    };
    let (first, second) = (
        run(|_| 0.0),
        run(|replication| 1.0 + f64::from(replication)),
    );
    let pairing = pair(&first, &second);
    let all = differences(&pairing);
    let estimate = all[0].difference.unwrap();
    // n = 3 and the interval of three differences; of nine pairs it would be ± 0.67.
    assert_eq!((all[0].pairs, estimate.count, estimate.mean), (9, 3, 2.0));
    assert!((estimate.half_width().unwrap() - 2.484_138).abs() < 1e-5);
}

#[test]
fn points_that_share_a_result_count_once() {
    let axes = |pof: f64| [("pof", AxisValue::Real(pof))];
    let shared = |place: i64, gain: f64| MeasuredPoint {
        identity: "baseline".to_owned(),
        ..point(place, &axes(place as f64), 0, gain)
    };
    let first = vec![
        shared(0, 10.0),
        shared(1, 10.0),
        point(2, &axes(2.0), 0, 10.0),
    ];
    let second = vec![
        shared(0, 14.0),
        shared(1, 14.0),
        point(2, &axes(2.0), 0, 12.0),
    ];
    let pairing = pair(&first, &second);
    let all = differences(&pairing);
    assert_eq!(all[0].difference.unwrap().mean, 3.0);
}

#[test]
fn replications_with_other_points_have_no_interval_and_are_named() {
    let axes = |pof: f64| [("pof", AxisValue::Real(pof))];
    let run = |gain: f64| {
        vec![
            point(0, &axes(0.1), 0, gain),
            point(1, &axes(0.1), 1, gain + 1.0),
            point(2, &axes(0.5), 1, gain + 5.0),
        ]
    };
    let (first, second) = (run(1.0), run(2.0));
    let pairing = pair(&first, &second);
    let all = differences(&pairing);
    assert_eq!(all[0].difference.unwrap().interval, None);
    assert_eq!(all[0].gaps, ["replication 0 lacks pof = 0.5"]);
}

#[test]
fn points_without_a_partner_are_kept_apart_and_numbers_pair_by_value() {
    let whole = [("pof", AxisValue::Integer(1))];
    let real = [("pof", AxisValue::Real(1.0))];
    let text = [("pof", AxisValue::Text("1".to_owned()))];
    let first = [point(0, &whole, 0, 1.0), point(1, &text, 0, 1.0)];
    let second = [point(0, &real, 0, 1.0), point(1, &real, 1, 1.0)];
    let pairing = pair(&first, &second);
    assert_eq!(pairing.pairs.len(), 1);
    assert_eq!(pairing.only_first[0].place, 1);
    assert_eq!(pairing.only_second[0].replication, 1);
}

#[test]
fn with_an_axis_of_one_run_alone_no_partner_is_guessed() {
    let one = [("a", AxisValue::Integer(1))];
    let more = |b: i64| [("a", AxisValue::Integer(1)), ("b", AxisValue::Integer(b))];
    let first = [point(0, &one, 0, 1.0)];
    let second = [point(0, &more(1), 0, 1.0), point(1, &more(2), 0, 2.0)];
    let pairing = pair(&first, &second);
    assert!(pairing.pairs.is_empty());
    assert_eq!((pairing.ambiguous, pairing.unpaired()), (3, 3));
    assert_eq!(pairing.axes_only_second, ["b"]);
}

#[test]
fn the_last_bit_of_a_number_is_a_difference() {
    let next = f64::from_bits(1.0_f64.to_bits() + 1);
    let (first, second) = ([point(0, &[], 0, 1.0)], [point(0, &[], 0, next)]);
    let pairing = pair(&first, &second);
    let all = differences(&pairing);
    assert!(all[0].differs());
    assert!(all[0].largest.as_ref().unwrap().0.unwrap() > 0.0);
}

#[test]
fn a_point_without_a_result_refuses_what_would_have_counted_it_and_nothing_else() {
    let pof = |value: f64| [("pof", AxisValue::Real(value))];
    let run = |gain: f64| -> Vec<MeasuredPoint> {
        (0..2)
            .flat_map(|replication| {
                [0.1, 0.5].map(|value| {
                    point(
                        0,
                        &pof(value),
                        replication,
                        gain + value * f64::from(replication),
                    )
                })
            })
            .collect()
    };
    let (first, mut second) = (run(1.0), run(3.0));
    second.pop();
    let gone = |value: f64, replication| UnfinishedPoint {
        place: 3,
        axes: vec![("pof".to_owned(), AxisValue::Real(value))],
        replication,
        state: "failed".to_owned(),
    };
    // The first run never had the threshold 0.9: that the second did not finish it takes nothing
    // away.
    let unfinished = [gone(0.5, 1), gone(0.9, 0)];
    let second = Points {
        unfinished: &unfinished,
        ..points(&second)
    };
    let pairing = Pairing::new(points(&first), second, false);
    let named: Vec<String> = pairing.missing.iter().map(MissingPoint::text).collect();
    assert_eq!(
        named,
        ["the second run lacks pof = 0.5, replication 1 (failed)"]
    );
    let all = differences(&pairing);
    assert!(all[0].is_refused && all[0].difference.is_none() && all[0].first.is_none());
    let gain = &Quantity::all(STUDIES, std::iter::empty())[0];
    let groups = pairing.groups(&["pof".to_owned()]);
    let by_threshold: Vec<Option<f64>> = groups
        .iter()
        .map(|group| {
            Difference::of(gain, group)
                .difference
                .map(|estimate| estimate.mean)
        })
        .collect();
    assert_eq!(by_threshold, [Some(2.0), None]);
    // Where nobody knows what is missing, everything is refused.
    let unknown = Points {
        unknown: 1,
        ..points(&first)
    };
    let pairing = Pairing::new(points(&first), unknown, false);
    let groups = pairing.groups(&["pof".to_owned()]);
    assert!(groups.iter().all(Group::is_refused) && pairing.missing.is_empty());
}

/// The same for replications that simulate these batteries, with what a specification says of them.
fn batteries(
    batteries: std::ops::Range<u32>,
    failures: &str,
    change: impl Fn(&mut serde_json::Value),
) -> Vec<MeasuredPoint> {
    let mut points = Vec::new();
    for (replication, battery) in (0..).zip(batteries) {
        let mut spec = serde_json::to_value(spec("fcfs", replication)).unwrap();
        spec["workload"]["source"] = serde_json::json!({"kind": "trace", "file": "log.swf"});
        change(&mut spec);
        let axes = [("pof", AxisValue::Real(0.5))];
        let gain = f64::from(battery * battery);
        points.push(MeasuredPoint {
            seen: seen(&format!("battery {battery}"), failures),
            spec: spec.to_string().into(),
            ..point(i64::from(replication), &axes, replication, gain)
        });
    }
    points
}

fn refused<'a>(pairing: &'a Pairing<'_>) -> &'a str {
    match &pairing.method {
        Method::Refused(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_last_ten_batteries_of_a_log_are_the_last_ten_of_its_last_twenty() {
    let (ten, twenty) = (
        batteries(10..20, "none", |_| ()),
        batteries(0..20, "none", |_| ()),
    );
    let pairing = pair(&ten, &twenty);
    assert_eq!(
        (pairing.pairs.len(), pairing.replications_alone()),
        (10, [0, 10])
    );
    let gain = &differences(&pairing)[0];
    assert_eq!((gain.equal, gain.replications), (10, [10, 10]));
    assert_eq!(gain.difference.unwrap().mean, 0.0);
    // What overlaps in part is compared in pairs, however few they are.
    let later = batteries(18..30, "none", |_| ());
    let pairing = pair(&twenty, &later);
    assert_eq!(
        (pairing.pairs.len(), pairing.replications_alone()),
        (2, [18, 10])
    );
    assert_eq!(pairing.method, Method::Paired);
}

#[test]
fn runs_whose_jobs_have_nothing_in_common_are_refused_and_what_differs_is_named() {
    let log = batteries(0..5, "none", |_| ());
    let with = |change: fn(&mut serde_json::Value)| batteries(50..55, "none", change);
    for (other, why) in [
        (
            with(|spec| {
                spec["workload"]["source"] = serde_json::json!({"kind": "arminius", "jobs": 9})
            }),
            "the first run simulates batteries of log.swf, the second a generated workload (arminius)",
        ),
        (
            with(|spec| spec["workload"]["source"]["file"] = "other.swf".into()),
            "the first run simulates batteries of log.swf, the second batteries of other.swf",
        ),
        (
            with(|spec| spec["workload"]["compression"]["factor"] = 0.7.into()),
            "workload.compression.factor is 0.5 in the first run and 0.7 in the second",
        ),
        (
            with(|spec| spec["workload"]["battery_jobs"] = 99.into()),
            "workload.battery_jobs is 25 in the first run and 99 in the second",
        ),
        (
            with(|_| ()),
            "both simulate batteries of log.swf, but not the same jobs of it",
        ),
    ] {
        let pairing = pair(&log, &other);
        assert!(
            pairing.pairs.is_empty() && refused(&pairing).contains(why),
            "{}",
            refused(&pairing)
        );
        let gain = &differences(&pairing)[0];
        assert_eq!(
            (gain.difference, gain.p_value(), gain.replications),
            (None, None, [0, 0])
        );
    }
}

#[test]
fn the_same_jobs_with_other_failures_make_no_pairs_and_on_another_machine_they_do() {
    let one = batteries(0..5, "some", |_| ());
    let other = batteries(0..5, "more", |spec| spec["failures"]["offset"] = 7.into());
    let pairing = pair(&one, &other);
    let why = "the same jobs, which meet different failures: failures.offset is 0 in the first run and 7 in the second";
    assert!(refused(&pairing).contains(why), "{}", refused(&pairing));
    let wide = batteries(0..5, "those of more nodes", |spec| {
        spec["workload"]["nodes"] = 128.into()
    });
    let pairing = pair(&one, &wide);
    assert_eq!(
        (pairing.pairs.len(), pairing.machines()),
        (5, vec!["64 and on 128".to_owned()])
    );
    assert!(!pairing.has_same_failures());
}

#[test]
fn independent_draws_of_a_model_are_compared_unpaired_and_draws_of_one_seed_are_refused() {
    let model = |seed: u64, batteries_of: std::ops::Range<u32>| {
        batteries(batteries_of, "none", move |spec| {
            spec["workload"]["source"] = serde_json::json!({"kind": "arminius", "jobs": 900});
            spec["seed"] = seed.into();
        })
    };
    // 0, 1, 4 and 100, 121, 144, 169: variances 13/3 and 892.3, means 1.667 and 133.5.
    let (one, other) = (model(1, 0..3), model(2, 10..14));
    let pairing = pair(&one, &other);
    assert_eq!(pairing.method, Method::Welch);
    let gain = &differences(&pairing)[0];
    assert_eq!((gain.pairs, gain.replications), (0, [3, 4]));
    assert!(gain.differs());
    let estimate = gain.difference.unwrap();
    assert!((estimate.mean - 131.833_333).abs() < 1e-5, "{estimate:?}");
    let groups = pairing.groups(&["pof".to_owned()]);
    let quantity = &Quantity::all(STUDIES, std::iter::empty())[0];
    assert_eq!(
        Difference::of(quantity, &groups[0]).difference,
        Some(estimate)
    );
    let (one, same) = (model(1, 0..3), model(1, 10..14));
    let pairing = pair(&one, &same);
    assert!(
        refused(&pairing).contains("drawn with the seed 1"),
        "{}",
        refused(&pairing)
    );
}

#[test]
fn what_an_earlier_program_stored_is_paired_with_itself_only() {
    let mut one = batteries(0..3, "none", |_| ());
    for point in &mut one {
        point.seen = Seen::default();
    }
    let other = one.clone();
    let pairing = Pairing::new(points(&one), points(&other), false);
    assert!(
        refused(&pairing).contains("--fresh"),
        "{}",
        refused(&pairing)
    );
    let pairing = Pairing::new(points(&one), points(&other), true);
    assert!(pairing.is_one_result() && pairing.pairs.len() == 3);
}

#[test]
fn differences_over_neighbouring_batteries_are_judged_by_the_wider_interval() {
    let run = |gains: [f64; 6]| -> Vec<MeasuredPoint> {
        let points = (0..).zip(gains);
        points
            .map(|(r, gain)| point(i64::from(r), &[], r, gain))
            .collect()
    };
    let (first, second) = (run([0.0; 6]), run([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let gain = |are_neighbours| {
        let pairing = pair(&first, &second).of_neighbours(are_neighbours);
        differences(&pairing).swap_remove(0)
    };
    // 3.5 ± 1.96: t = 4.583 with five degrees of freedom. In blocks of two t = 3.834 with two.
    let (alone, of_log) = (gain(false), gain(true));
    assert!((alone.p_value().unwrap() - 0.005_93).abs() < 1e-4 && alone.log.is_none());
    assert!((of_log.p_value().unwrap() - (1.0 - (14.7_f64 / 16.7).sqrt())).abs() < 1e-6);
    assert_eq!(of_log.difference, alone.difference);
    let log = of_log.log.unwrap();
    assert!((log.correlation - 0.5).abs() < 1e-12 && (log.effective - 2.0).abs() < 1e-12);
    assert!(log.interval.contains(0.0));
}

#[test]
fn replications_that_repeat_one_result_are_one_pair_of_replications() {
    let run = |gain: f64| -> Vec<MeasuredPoint> {
        let repeated = |r: u32| MeasuredPoint {
            original: 0,
            seen: seen("the trace", "none"),
            ..point(i64::from(r), &[], r, gain)
        };
        (0..5).map(repeated).collect()
    };
    let (first, second) = (run(3.0), run(4.0));
    let pairing = pair(&first, &second);
    let gain = &differences(&pairing)[0];
    assert_eq!((gain.pairs, gain.replications), (5, [1, 1]));
    assert_eq!((gain.difference.unwrap().mean, gain.p_value()), (1.0, None));
    // One that differs in anything is another simulation.
    let mut drawn = second.clone();
    drawn[3].original = 3;
    drawn[3].values[0] = Some(6.0);
    let pairing = pair(&first, &drawn);
    let gain = &differences(&pairing)[0];
    assert_eq!(gain.replications, [2, 2]);
    assert_eq!(gain.difference.unwrap().mean, 2.0);
}

#[test]
fn failures_that_another_laxity_draws_are_named_as_what_differs() {
    let generated = |laxity: f64| {
        batteries(0..5, &format!("drawn {laxity}"), move |spec| {
            spec["failures"]["source"] = serde_json::json!({"kind": "generated"});
            spec["workload"]["laxity"] = laxity.into();
        })
    };
    let (one, other) = (generated(2.0), generated(3.0));
    let pairing = pair(&one, &other);
    let why = "drawn anew for every workload, and workload.laxity is 2.0 in the first run and 3.0 in the second";
    assert!(refused(&pairing).contains(why), "{}", refused(&pairing));
}

#[test]
fn replications_of_one_whole_trace_are_paired_by_their_numbers() {
    let whole = |replications: u32| -> Vec<MeasuredPoint> {
        let mut points = batteries(0..replications, "none", |_| ());
        for point in &mut points {
            point.seen = seen("the trace", "none");
        }
        points
    };
    let (three, five) = (whole(3), whole(5));
    let pairing = pair(&three, &five);
    assert!(pairing.pairs_by_number() && pairing.pairs.len() == 3);
    assert_eq!(pairing.only_second.len(), 2);
}
