use std::collections::BTreeMap;

use super::*;

const FILE: &str = "published.toml";
const TEXT: &str = include_str!("../../../configs/birkenheuer2012/published.toml");

fn published() -> Published {
    parse(FILE, TEXT).expect("the published claims parse")
}

fn value(published: &Published, id: &str) -> f64 {
    let claim = published
        .claims
        .iter()
        .find(|claim| claim.id == id)
        .unwrap_or_else(|| panic!("no claim {id}"));
    match claim.expected {
        Expected::Value(value) => value,
        _ => panic!("{id} is no number"),
    }
}

#[test]
fn every_trace_and_family_has_the_claims_that_its_tables_print() {
    let published = published();
    let held_out = |claim: &&Claim| matches!(claim.expected, Expected::HeldOut(_));
    assert!(
        published
            .claims
            .iter()
            .all(|claim| held_out(&claim) == (claim.trace == "sdsc-datastar"))
    );
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for claim in &published.claims {
        let scope: Vec<&str> = claim.id.split('/').collect();
        let place = if scope[1] == "baselines" || scope.len() == 4 && scope[3].starts_with("order-")
        {
            scope[..2].join("/") + if scope[1] == "pof" { "/families" } else { "" }
        } else {
            scope[..3].join("/")
        };
        *counts.entry(place).or_default() += 1;
    }
    // A PoF family has 4 gains, 2 surpluses and 2 thresholds of the trace's table, 4 cells of the summary, the order and
    // the finding that low thresholds never lose for 2 strategies: 15; the rest are numbers in the text. A risk family has 16 gains, 8 surpluses and 4 cells of the summary: 28; LANL
    // has one absolute difference more. Baselines: 2 × (F, Q, booked, share), their ratio and their order: 10.
    let mut expected = BTreeMap::new();
    for (trace, runtime, resources, lanl) in [
        ("ctc", 10, 10, 0),
        ("hpc2n", 2, 2, 0),
        ("lanl", 2, 2, 1),
        ("sdsc-blue", 1, 1, 0),
        ("sdsc-sp2", 2, 3, 0),
    ] {
        expected.insert(format!("{trace}/baselines"), 10);
        expected.insert(format!("{trace}/pof/runtime"), 15 + runtime);
        expected.insert(format!("{trace}/pof/resources"), 15 + resources);
        expected.insert(format!("{trace}/risk/runtime"), 28 + lanl);
        expected.insert(format!("{trace}/risk/resources"), 28 + lanl);
    }
    // Nothing is known of the text about the trace that is held out, and low thresholds are not judged there.
    expected.insert("sdsc-datastar/baselines".to_owned(), 10);
    for family in ["runtime", "resources"] {
        expected.insert(format!("sdsc-datastar/pof/{family}"), 13);
        expected.insert(format!("sdsc-datastar/risk/{family}"), 28);
    }
    expected.insert("arminius/baselines".to_owned(), 10);
    expected.insert("arminius/pof/families".to_owned(), 1);
    for (family, pof, risk) in [
        ("runtime", 7, 0),
        ("resources", 3, 4),
        ("application", 7, 4),
        ("user", 0, 0),
    ] {
        expected.insert(format!("arminius/pof/{family}"), 15 + pof);
        expected.insert(format!("arminius/risk/{family}"), 28 + risk);
    }
    assert_eq!(counts, expected);
    assert_eq!(published.claims.len(), 725 + 92);
}

#[test]
fn every_surplus_follows_from_the_coins_beside_it() {
    let published = published();
    let mut checked = 0;
    for claim in &published.claims {
        if claim.quantity != Quantity::Surplus {
            continue;
        }
        if matches!(claim.expected, Expected::HeldOut(_)) {
            continue;
        }
        let strategy = claim.strategy.as_deref().unwrap();
        let baseline = crate::scheduling::registry::strategy(strategy)
            .and_then(|strategy| strategy.baseline)
            .unwrap();
        let gain = claim
            .id
            .replace("surplus@", "gain@")
            .replace("/surplus", "/max-gain");
        let ours = value(&published, &gain);
        let base = value(&published, &gain.replace(strategy, baseline));
        let Expected::Value(percent) = claim.expected else {
            panic!("{} is no number", claim.id)
        };
        // Print rounds in some places and truncates in others (E30): one point covers both.
        let recomputed = (ours - base) / base * 100.0;
        assert!(
            (recomputed - percent).abs() <= 1.05,
            "{}: {percent} in the file, {recomputed} from the coins",
            claim.id
        );
        checked += 1;
    }
    // PoF: 2 a family of 14; risk: 8 a family of 14.
    assert_eq!(checked, 14 * 10);
}

#[test]
fn contradictions_are_resolved_as_the_specification_says() {
    let published = published();
    for (id, resolved, printed, error) in [
        (
            "ctc/risk/runtime/comprehensive-overbooking/surplus@4",
            116.0,
            160.0,
            "E3",
        ),
        (
            "arminius/risk/user/comprehensive-overbooking/surplus@4",
            62.8,
            10.0,
            "E4",
        ),
        (
            "sdsc-blue/risk/resources/comprehensive-overbooking/best-surplus",
            213.0,
            231.0,
            "E5",
        ),
        (
            "ctc/risk/runtime/heuristic-overbooking/best-surplus-ratio",
            0.5,
            1.0,
            "E6",
        ),
        (
            "ctc/pof/resources/comprehensive-overbooking/best-surplus",
            62.0,
            63.0,
            "E7",
        ),
        (
            "sdsc-blue/pof/resources/comprehensive-overbooking/best-threshold",
            0.2,
            0.05,
            "E8",
        ),
    ] {
        let claim = published
            .claims
            .iter()
            .find(|claim| claim.id == id)
            .expect(id);
        assert_eq!(claim.expected, Expected::Value(resolved), "{id}");
        assert_eq!(claim.printed, Some(printed), "{id}");
        assert_eq!(claim.resolves.as_deref(), Some(error), "{id}");
    }
    assert_eq!(
        value(
            &published,
            "lanl/risk/resources/heuristic-overbooking/gain@4"
        ),
        2_342.0
    );
    assert_eq!(
        value(
            &published,
            "sdsc-sp2/risk/resources/heuristic-overbooking/gain@0.5"
        ),
        31_427.0
    );
}

#[test]
fn fees_and_penalties_of_the_baselines_give_back_every_printed_gain_within_three_coins() {
    // Spec 11.1: gain(ρ) = F − ρ·Q.
    let published = published();
    let mut checked = 0;
    for claim in &published.claims {
        let (Some(strategy), Some(ratio), Expected::Value(gain)) =
            (&claim.strategy, claim.at, &claim.expected)
        else {
            continue;
        };
        if claim.quantity != Quantity::Gain || strategy.ends_with("overbooking") {
            continue;
        }
        let part = |what: &str| {
            value(
                &published,
                &format!("{}/baselines/{strategy}/{what}", claim.trace),
            )
        };
        let linear = part("fees") - ratio * part("penalties");
        assert!(
            (linear - gain).abs() <= 3.0,
            "{}: {gain} printed, {linear} linear",
            claim.id
        );
        assert!((part("booked") - part("fees") - part("penalties")).abs() <= 1.0);
        let share = part("penalties") / part("booked") * 100.0;
        assert!(
            (share - part("lost-share")).abs() <= 0.06,
            "{}: {share}",
            claim.id
        );
        checked += 1;
    }
    assert_eq!(checked, 14 * 8);
}

#[test]
fn every_order_follows_from_the_printed_gains() {
    let published = published();
    let mut checked = 0;
    for claim in &published.claims {
        let Expected::Order(names) = &claim.expected else {
            continue;
        };
        let gains: Vec<f64> = names
            .iter()
            .map(|name| {
                let id = match (claim.quantity, claim.experiment) {
                    (Quantity::OrderOfFamilies, _) => {
                        format!(
                            "{}/pof/{name}/{}/max-gain",
                            claim.trace,
                            claim.strategy.as_deref().unwrap()
                        )
                    }
                    (_, Experiment::Pof) => {
                        format!(
                            "{}/pof/{}/{name}/max-gain",
                            claim.trace,
                            claim.family.as_deref().unwrap()
                        )
                    }
                    (_, Experiment::Risk) => {
                        format!("{}/risk/runtime/{name}/gain@1", claim.trace)
                    }
                };
                value(&published, &id)
            })
            .collect();
        assert!(
            gains.windows(2).all(|pair| pair[0] > pair[1]),
            "{}: {gains:?}",
            claim.id
        );
        checked += 1;
    }
    assert_eq!(checked, 14 + 6 + 1);
}

#[test]
fn the_summaries_repeat_the_best_of_the_tables() {
    let published = published();
    for claim in &published.claims {
        if claim.quantity != Quantity::BestSurplus || matches!(claim.expected, Expected::HeldOut(_))
        {
            continue;
        }
        let Expected::Value(best) = claim.expected else {
            panic!("{} is no number", claim.id)
        };
        let of_table = match claim.experiment {
            Experiment::Pof => value(&published, &claim.id.replace("best-surplus", "surplus")),
            Experiment::Risk => {
                let at = value(
                    &published,
                    &claim.id.replace("best-surplus", "best-surplus-ratio"),
                );
                value(
                    &published,
                    &claim.id.replace("best-surplus", &format!("surplus@{at}")),
                )
            }
        };
        assert!(
            (best - of_table).abs() <= 0.5,
            "{}: {best} in the summary, {of_table}",
            claim.id
        );
    }
}

#[test]
fn a_file_that_says_something_impossible_is_refused_with_the_id_and_the_reason() {
    let file = |claims: &str| {
        format!(
            "paper = \"p\"\ntitle = \"t\"\nthresholds = [0.5]\nratios = [1.0]\n\
             [[tolerance]]\nquantities = [\"gain\", \"max-gain\"]\nrelative = 0.15\nreason = \"r\"\n\
             [[table]]\nnumber = \"1\"\ntrace = \"ctc\"\nsection = \"1\"\nprovenance = \"printed\"\n\
             claims = [{claims}]\n"
        )
    };
    let error = |claims: &str| parse(FILE, &file(claims)).unwrap_err().to_string();
    let good = "{ id = \"ctc/pof/runtime/heuristic-planning/max-gain\", value = 1 }";
    assert_eq!(parse(FILE, &file(good)).unwrap().claims.len(), 1);
    assert!(error(&format!("{good}, {good}")).contains("appears twice"));
    for (claim, problem) in [
        (
            "id = \"ctc/pof/runtime/heuristic-planning/profit\", value = 1",
            "`profit` is no quantity",
        ),
        (
            "id = \"ctc/pof/runtime/best-planning/max-gain\", value = 1",
            "`best-planning` is neither",
        ),
        (
            "id = \"hpc2n/pof/runtime/heuristic-planning/max-gain\", value = 1",
            "stands in a table of trace `ctc`",
        ),
        (
            "id = \"ctc/pof/runtime/heuristic-planning/gain\", value = 1",
            "needs a setting",
        ),
        (
            "id = \"ctc/pof/runtime/heuristic-planning/gain@0.4\", value = 1",
            "not on the grid",
        ),
        (
            "id = \"ctc/pof/runtime/heuristic-planning/max-gain@0.5\", value = 1",
            "has no setting",
        ),
        (
            "id = \"ctc/pof/runtime/heuristic-planning/max-gain\"",
            "exactly one of `value`",
        ),
        (
            "id = \"ctc/pof/runtime/heuristic-planning/best-threshold\", value = 1",
            "exactly one tolerance",
        ),
        (
            "id = \"ctc/walk/runtime/heuristic-planning/max-gain\", value = 1",
            "`walk` is no experiment",
        ),
        (
            "id = \"ctc/pof/runtime/heuristic-planning/max-gain\", value = 1, worth = 2",
            "unknown field `worth`",
        ),
    ] {
        let message = error(&format!("{{ {claim} }}"));
        assert!(message.contains(problem), "{claim}: {message}");
        assert!(message.contains(FILE), "{message}");
    }
}

/// Gains of four strategies over three thresholds and two ratios, as a reader would draw them.
struct Fake(BTreeMap<(Experiment, String, i64), f64>);

/// Experiment, strategy and (setting, gain) pairs.
type Row<'a> = (Experiment, &'a str, &'a [(f64, f64)]);

impl Fake {
    fn new(rows: &[Row<'_>]) -> Self {
        let mut cells = BTreeMap::new();
        for (experiment, strategy, gains) in rows {
            for (at, gain) in *gains {
                cells.insert(
                    (*experiment, (*strategy).to_owned(), (at * 100.0) as i64),
                    *gain,
                );
            }
        }
        Self(cells)
    }
}

impl Measured for Fake {
    fn mean(&self, query: &Query<'_>) -> Option<Estimate> {
        let key = (
            query.experiment,
            query.strategy.to_owned(),
            (query.at * 100.0).round() as i64,
        );
        let gain = *self.0.get(&key)?;
        let mean = match query.metric {
            Metric::Penalties => gain / 4.0,
            Metric::Booked => gain * 1.25,
            _ => gain,
        };
        Some(Estimate {
            mean,
            low: mean - 1.0,
            high: mean + 1.0,
            n: 20,
        })
    }
}

fn small(claims: &str) -> Published {
    let text = format!(
        "paper = \"p\"\ntitle = \"t\"\nthresholds = [0.1, 0.2, 0.3]\nratios = [1.0, 4.0]\n\
         [[tolerance]]\nquantities = [\"gain\", \"max-gain\", \"extra-gain\", \"booked\"]\nrelative = 0.15\nreason = \"r\"\n\
         [[tolerance]]\nquantities = [\"surplus\", \"lost-share\", \"best-surplus\"]\nabsolute = 10.0\nreason = \"r\"\n\
         [[tolerance]]\nquantities = [\"worst-surplus-up-to\", \"best-threshold\", \"crossing\", \"flat-until\", \"order\", \"best-surplus-ratio\"]\n\
         absolute = 0.1\nreason = \"r\"\n\
         [[table]]\nnumber = \"1\"\ntrace = \"ctc\"\nsection = \"1\"\nprovenance = \"printed\"\nclaims = [{claims}]\n"
    );
    parse(FILE, &text).unwrap()
}

fn fake() -> Fake {
    use Experiment::{Pof, Risk};
    let flat = |gain| [(0.1, gain), (0.2, gain), (0.3, gain)];
    Fake::new(&[
        (Pof, "conservative-backfilling", &flat(100.0)),
        (Pof, "heuristic-planning", &flat(150.0)),
        (
            Pof,
            "comprehensive-overbooking",
            &[(0.1, 160.0), (0.2, 160.0), (0.3, 90.0)],
        ),
        (
            Pof,
            "heuristic-overbooking",
            &[(0.1, 200.0), (0.2, 205.0), (0.3, 180.0)],
        ),
        (Risk, "heuristic-planning", &[(1.0, 150.0), (4.0, -50.0)]),
        (Risk, "heuristic-overbooking", &[(1.0, 180.0), (4.0, 20.0)]),
    ])
}

fn compare(claim: &str) -> Comparison {
    let published = small(&format!("{{ id = \"ctc/{claim} }}"));
    evaluate(&published, &published.claims, &fake()).remove(0)
}

#[track_caller]
fn found(claim: &str) -> f64 {
    match compare(claim).found {
        Some(Found::Value { value, .. }) => value,
        other => panic!("{claim}: {other:?}"),
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
    // At ratio 4 the baseline loses money and no surplus is defined: the best one is (180 − 150) / 150.
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
    assert!((missed.difference_percent.unwrap() - 15.168_539).abs() < 1e-6);
    let edge = compare("pof/runtime/comprehensive-overbooking/best-threshold\", value = 0.2");
    assert_eq!(edge.verdict, Verdict::Held, "0.2 − 0.1 is within 0.1");
}

#[test]
fn a_bound_from_below_holds_from_the_bound_on() {
    // Surpluses of comprehensive overbooking: 60, 60, −10 %.
    let claim = "pof/runtime/comprehensive-overbooking/worst-surplus-up-to";
    assert_eq!(found(&format!("{claim}@0.2\", at-least = 0")), 60.0);
    assert_eq!(
        compare(&format!("{claim}@0.2\", at-least = 60")).verdict,
        Verdict::Held
    );
    assert_eq!(
        compare(&format!("{claim}@0.3\", at-least = 0")).verdict,
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
    let mut samples = Samples::new(3);
    let planning = "heuristic-planning";
    let overbooking = "heuristic-overbooking";
    for (battery, fees) in [1.0, 2.0, 3.0].into_iter().enumerate() {
        let sample = |fees| Sample {
            fees,
            forfeited: 0.25,
            successful: 5,
            failed: 2,
        };
        let battery = battery as u32;
        samples.push(
            Experiment::Risk,
            "runtime",
            planning,
            4.0,
            battery,
            sample(fees),
        );
        samples.push(
            Experiment::Risk,
            "runtime",
            overbooking,
            4.0,
            battery,
            sample(fees + 10.0),
        );
    }
    let query = |strategy, metric| Query {
        experiment: Experiment::Risk,
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
    let mut samples = Samples::new(2);
    samples.push(
        Experiment::Pof,
        "runtime",
        "fcfs",
        0.1,
        0,
        Sample::default(),
    );
    let query = Query {
        experiment: Experiment::Pof,
        family: "runtime",
        strategy: "fcfs",
        at: 0.1,
        metric: Metric::Gain,
    };
    assert_eq!(samples.mean(&query), None);
}
