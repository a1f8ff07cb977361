//! What is shown, refuted or left open of promised risks.

use super::*;
use bookahead_lab::store::{CalibrationRow, PofKind};
use bookahead_report::calibration::{Batteries, Scores, judged};

/// Batteries with so many jobs at a promised probability, of which so many failed.
fn batteries(each: &[&[Promises]]) -> Batteries {
    let mut batteries = Batteries::default();
    for (replication, promises) in (0..).zip(each) {
        for (pof, jobs, failed) in *promises {
            let (survived, failures) = (f64::from(jobs - failed), f64::from(*failed));
            let row = CalibrationRow {
                simulation: 1,
                kind: PofKind::Promised,
                bin: (pof * 20.0).ceil() as u32,
                jobs: u64::from(*jobs),
                failed: u64::from(*failed),
                failed_overbooked: 0,
                pof_sum: pof * f64::from(*jobs),
                brier_sum: failures * (1.0 - pof).powi(2) + survived * pof.powi(2),
            };
            batteries.add(replication, &row);
        }
    }
    batteries
}

fn scores(each: &[&[Promises]]) -> Scores {
    batteries(each).scores().unwrap()
}

#[test]
fn the_interval_of_the_skill_is_that_of_a_jackknife_by_hand() {
    // Promised 0.2 and 0.6 to 100 jobs each, of which 10 and 70, 30 and 50, 20 and 60 fail.
    let found = scores(&[
        &[(0.2, 100, 10), (0.6, 100, 70)],
        &[(0.2, 100, 30), (0.6, 100, 50)],
        &[(0.2, 100, 20), (0.6, 100, 60)],
    ]);
    // Everything: 60 of 300 and 180 of 300, so Brier 0.2, reference 0.24, skill 1/6. Without the
    // first: 50 of 200 and 110 of 200. Brier (50 · 0.64 + 150 · 0.04 + 110 · 0.16 + 90 · 0.36) ÷
    // 400 = 0.22, skill 1 − 0.22 ÷ 0.24 = 1/12. Without the second: 30 and 130 of 200; Brier (30 ·
    // 0.64 + 170 · 0.04 + 130 · 0.16 + 70 · 0.36) ÷ 400 = 0.18, skill 1/4. Without the third as
    // everything. se² = 2/3 · 2 · (1/12)², t = 4.302653 with two degrees of freedom.
    let skill = found.skill.unwrap();
    close(skill.mean, 1.0 / 6.0);
    let standard_error = (2.0_f64 / 3.0 * 2.0).sqrt() / 12.0;
    assert!((skill.half_width().unwrap() - 4.302_653 * standard_error).abs() < 1e-6);
    // Both bins are right as a whole. Without the first 0.05 is missing below and 0.05 too much
    // above, and the other way round without the second: errors 0.05, 0.05, 0 with the mean 1/30;
    // the mean difference is 0 in all three. se² = 2/3 · (2 · (1/60)² + (1/30)²).
    let error = found.error.interval.unwrap();
    close(found.error.mean, 0.0);
    let standard_error = (2.0_f64 / 3.0 * (2.0 / 3_600.0 + 4.0 / 3_600.0)).sqrt();
    assert!((error.high - 4.302_653 * standard_error).abs() < 1e-6);
    assert_eq!(error.low, 0.0);
}

#[test]
fn the_calibration_error_begins_below_the_one_whose_signs_come_from_the_other_batteries() {
    // Promised 0.1 to 100 jobs each, of which 40, 42, 38, 41, 39 fail: always more than promised,
    // so both estimates are 0.3. Without one the mean difference is off by its own fifth of 400:
    // −0.3, −0.295, −0.305, −0.2975, −0.3025. se² = 4/5 · 2 · (0.005² + 0.0025²), t = 2.776445.
    let each = [40, 42, 38, 41, 39].map(|failed| [(0.1, 100, failed)]);
    let found = scores(&each.each_ref().map(|battery| &battery[..]));
    let half = 2.776_445 * (1.6_f64 * (0.005_f64.powi(2) + 0.0025_f64.powi(2))).sqrt();
    close(found.error.mean, 0.3);
    assert!((found.error.low().unwrap() - (0.3 - half)).abs() < 1e-6);
    assert!((found.error.high().unwrap() - (0.3 + half)).abs() < 1e-6);
    // 0.3 is three quarters of the 0.4 that failed.
    close(found.relative_error.unwrap(), 75.0);
    assert_eq!(found.verdict(), Verdict::Refuted);
}

#[test]
fn what_an_interval_leaves_open_is_open_and_says_which() {
    let five = |promises: [[Promises; 2]; 5]| {
        scores(&promises.each_ref().map(|battery| &battery[..])).verdict()
    };
    let spread = |few: u32, many: u32, more: [i32; 5]| {
        more.map(|more| {
            [
                (0.1, 1_000, around(few, more)),
                (0.3, 1_000, around(many, more)),
            ]
        })
    };
    // As promised, and every battery the same but for a few jobs.
    assert_eq!(five(spread(100, 300, [-5, 5, 0, 3, -3])), Verdict::Shown);
    // On average as promised, but one battery fails far more than another.
    let apart = spread(100, 300, [-90, 90, 0, 80, -80]);
    assert_eq!(five(apart), Verdict::Open(Reason::Error));
    // Half of the spread that was promised: no better than the mean, of which batteries differ.
    let half = spread(150, 250, [-5, 5, 0, 3, -3]);
    assert_eq!(five(half), Verdict::Open(Reason::Skill));
    // The wrong way round.
    let wrong = spread(300, 100, [-5, 5, 0, 3, -3]);
    assert_eq!(five(wrong), Verdict::Refuted);
    // A skill beyond doubt; 0.05 too many fail, more or less.
    let near = [-30, 30, 0, 20, -20].map(|more| {
        [
            (0.1, 1_000, around(150, more)),
            (0.9, 1_000, around(950, more)),
        ]
    });
    assert_eq!(five(near), Verdict::Open(Reason::Error));
}

#[test]
fn batteries_that_cannot_be_left_out_show_and_refute_nothing() {
    let verdict = |each: &[&[Promises]]| scores(each).verdict();
    let four: [&[Promises]; 4] = [&[(0.9, 500, 10)]; 4];
    assert_eq!(verdict(&four), Verdict::Open(Reason::FewBatteries(4)));
    // The same battery five times says nothing of another one.
    let same: [&[Promises]; 5] = [&[(0.1, 500, 50), (0.9, 500, 450)]; 5];
    assert_eq!(verdict(&same), Verdict::Open(Reason::NoInterval));
    let none: [&[Promises]; 5] = [&[(0.3, 500, 0)]; 5];
    assert_eq!(verdict(&none), Verdict::Open(Reason::NoSkill));
    assert_eq!(scores(&none).relative_error, None);
    // Without the first nothing failed.
    let mut one = none;
    one[0] = &[(0.3, 500, 9)];
    assert_eq!(verdict(&one), Verdict::Open(Reason::NoInterval));
    assert_eq!(scores(&one).skill.unwrap().interval, None);
}

#[test]
fn of_many_situations_one_that_looks_bad_by_chance_leaves_the_strategy_open() {
    let five = |more: [i32; 5]| {
        let each = more.map(|more| {
            [
                (0.1, 1_000, around(100, more)),
                (0.9, 1_000, around(900, more)),
            ]
        });
        scores(&each.each_ref().map(|battery| &battery[..]))
    };
    let good = five([-5, 5, 0, 3, -3]);
    // 0.06 too many fail, 0.01 more than what is fine: t = 0.01 ÷ (0.0067 ÷ √5) = 3.33, p = 0.03.
    let bad = five([51, 69, 60, 63, 57]);
    assert_eq!(
        (good.verdict(), bad.verdict()),
        (Verdict::Shown, Verdict::Refuted)
    );
    let named = |name: &str, scores| (name.to_owned(), scores);
    let (verdict, sentence) = judged(&good, &[named("load 2", bad)]);
    assert_eq!(verdict, Verdict::Refuted);
    assert!(
        sentence.contains("but not with load 2 (skill"),
        "{sentence}"
    );
    // One of four: p = 0.12.
    let four = [
        named("load 1", good),
        named("load 2", bad),
        named("load 3", good),
        named("load 4", good),
    ];
    let (verdict, sentence) = judged(&good, &four);
    assert_eq!(verdict, Verdict::Open(Reason::Situations));
    assert!(sentence.contains("; open with load 2 (skill"), "{sentence}");
    let (verdict, sentence) = judged(&good, &four[2..]);
    assert_eq!(verdict, Verdict::Shown);
    assert!(
        sentence.starts_with("promised risks come true: skill"),
        "{sentence}"
    );
    // What is refuted as a whole is not saved by its situations.
    assert_eq!(judged(&bad, &four).0, Verdict::Refuted);
}
