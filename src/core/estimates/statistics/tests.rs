use proptest::prelude::*;

use super::super::classes::Attribute;
use super::super::{ClassFamily, LearningJobs};
use super::*;

/// Two classes by run time (0, 1 from 10 s on) and two by nodes: class 0 is all, 1 and 2 are by run
/// time, 3 to 6 both, so that the wider class of 3 and 4 is 1, that of 5 and 6 is 2; 3 and 5 are
/// narrow, 4 and 6 wide.
fn attributes() -> Attributes {
    Attributes::Two(Attribute::Runtime(vec![10]), Attribute::Resources(vec![1]))
}

fn settings(rule: Learning, combining: Combining, minimum: u32) -> EstimateSettings {
    EstimateSettings {
        family: ClassFamily::All,
        binning: Binning::Round,
        overrun: Overrun::Clamp,
        learn_from: LearningJobs::Before,
        minimum_class_size: minimum,
        merge_distance: 0.0,
        learning: LearningSettings {
            rule,
            window_jobs: 3,
            half_life_jobs: 2.0,
            batteries_before: 0,
        },
        combining: CombiningSettings {
            rule: combining,
            wider_class_jobs: 2.0,
        },
        prediction: None,
    }
}

fn learn(sequence: &[(u16, u8)], settings: &EstimateSettings) -> ClassStatistics {
    ClassStatistics::learn(&attributes(), sequence, settings)
}

fn shares(statistics: &ClassStatistics, class: u16) -> (u16, Vec<(usize, f64)>) {
    let (class, distribution) = statistics.distribution(class).unwrap();
    let shares = (0..RATIO_BINS).map(|bin| (bin, distribution.pdf(bin)));
    (class, shares.filter(|share| share.1 > 0.0).collect())
}

fn ended(statistics: &mut ClassStatistics, class: u16, percent: i64) {
    statistics.observed(class, Seconds(percent), Seconds(100), RunEnd::Finished);
}

#[test]
fn online_counts_every_job_in_its_class_and_in_the_wider_ones() {
    let mut statistics = learn(
        &[(3, 10), (4, 20)],
        &settings(Learning::Online, Combining::BackOff, 1),
    );
    assert_eq!(shares(&statistics, 3), (3, vec![(10, 1.0)]));
    ended(&mut statistics, 3, 50);
    assert_eq!(shares(&statistics, 3), (3, vec![(10, 0.5), (50, 0.5)]));
    let third = 1.0 / 3.0;
    assert_eq!(
        shares(&statistics, 1),
        (1, vec![(10, third), (20, third), (50, third)])
    );
    // Class 5 has no job, and neither has 2: all jobs answer.
    assert_eq!(shares(&statistics, 5).0, 0);
    ended(&mut statistics, 5, 90);
    assert_eq!(shares(&statistics, 5), (5, vec![(90, 1.0)]));
}

#[test]
fn a_window_holds_the_last_jobs_of_each_class_by_itself() {
    // Three jobs a class. Class 3 sees 10, 20, 30, 40; class 4 sees 99 last, which pushes 10 and 20
    // out of class 1 but not of class 3.
    let mut statistics = learn(
        &[(3, 10)],
        &settings(Learning::Window, Combining::BackOff, 1),
    );
    for percent in [20, 30, 40] {
        ended(&mut statistics, 3, percent);
    }
    ended(&mut statistics, 4, 99);
    let third = 1.0 / 3.0;
    let thirds = |bins: [usize; 3]| bins.map(|bin| (bin, third)).to_vec();
    assert_eq!(shares(&statistics, 3), (3, thirds([20, 30, 40])));
    assert_eq!(shares(&statistics, 1), (1, thirds([30, 40, 99])));
}

#[test]
fn an_aged_job_weighs_half_after_a_half_life_of_jobs_of_its_class() {
    // Half-life 2: weights 2^(-1), 2^(-1/2), 1.
    let mut statistics = learn(&[(3, 10)], &settings(Learning::Aged, Combining::BackOff, 1));
    ended(&mut statistics, 3, 20);
    ended(&mut statistics, 3, 30);
    let weights = [0.5, 0.5_f64.sqrt(), 1.0];
    let sum: f64 = weights.iter().sum();
    let (_, shares) = shares(&statistics, 3);
    for ((_, share), weight) in shares.iter().zip(weights) {
        assert!((share - weight / sum).abs() < 1e-12);
    }
}

#[test]
fn a_job_that_was_cut_needed_at_least_what_it_had() {
    // Ended at 20 and 80, cut at 50: of the two that are left after 20, one ended at 80, and the
    // one that was cut counts as it.
    let mut statistics = learn(
        &[(3, 20), (3, 80)],
        &settings(Learning::Online, Combining::BackOff, 1),
    );
    statistics.observed(3, Seconds(50), Seconds(100), RunEnd::Cut);
    let third = 1.0 / 3.0;
    let (_, found) = shares(&statistics, 3);
    assert_eq!(found.len(), 2);
    assert!((found[0].1 - third).abs() < 1e-15 && (found[1].1 - 2.0 * third).abs() < 1e-15);
    // Cut beyond all that ended: what is left is taken to need everything.
    statistics.observed(3, Seconds(90), Seconds(100), RunEnd::Cut);
    let (_, found) = shares(&statistics, 3);
    let bins: Vec<usize> = found.iter().map(|share| share.0).collect();
    assert_eq!(bins, [20, 80, 100]);
    // 1/4 at 20; of three then, one of two at risk at 80 (the cut one at 50 is gone): 3/4 · 1/2;
    // the rest.
    assert!((found[0].1 - 0.25).abs() < 1e-15);
    assert!((found[1].1 - 0.375).abs() < 1e-15 && (found[2].1 - 0.375).abs() < 1e-15);
}

#[test]
fn who_has_the_whole_estimate_counts_as_all_of_it_unless_overruns_are_dropped() {
    let mut clamping = learn(
        &[(3, 10)],
        &settings(Learning::Online, Combining::BackOff, 1),
    );
    clamping.observed(3, Seconds(100), Seconds(100), RunEnd::AtEstimate);
    assert_eq!(shares(&clamping, 3).1, [(10, 0.5), (100, 0.5)]);
    let mut settings = settings(Learning::Online, Combining::BackOff, 1);
    settings.overrun = Overrun::Drop;
    let mut dropping = learn(&[(3, 10)], &settings);
    dropping.observed(3, Seconds(100), Seconds(100), RunEnd::AtEstimate);
    assert_eq!(shares(&dropping, 3).1, [(10, 1.0)]);
}

#[test]
fn weighted_classes_lean_on_the_wider_ones_as_on_so_many_jobs() {
    // m = 2. All: 10 twice and 90 once. Class 1: 10 and 90. Class 3: 90. P₁ = (2 · [1/2, 1/2] + 2 ·
    // [2/3, 1/3]) / 4 = [7/12, 5/12]; P₃ = (1 · [0, 1] + 2 · P₁) / 3 = [7/18, 11/18].
    let statistics = learn(
        &[(4, 10), (3, 90), (6, 10)],
        &settings(Learning::Static, Combining::Weighted, 1),
    );
    let (class, found) = shares(&statistics, 3);
    assert_eq!(class, 3);
    assert!((found[0].1 - 7.0 / 18.0).abs() < 1e-15);
    assert!((found[1].1 - 11.0 / 18.0).abs() < 1e-15);
    // Class 5 has no job: class 2 answers.
    assert_eq!(shares(&statistics, 5).0, 2);
}

#[test]
fn a_mixture_takes_either_attribute_alone_by_their_jobs() {
    // Short jobs: 10 and 20. Narrow jobs: 10 and 90 twice. A short and narrow one: 2/5 · [10, 20] +
    // 3/5 · [10, 90, 90].
    let statistics = learn(
        &[(3, 10), (4, 20), (5, 90), (5, 90)],
        &settings(Learning::Static, Combining::Mixture, 1),
    );
    let (class, found) = shares(&statistics, 3);
    let expected = [(10, 0.2 + 0.2), (20, 0.2), (90, 0.4)];
    assert_eq!((class, found.len()), (3, 3));
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.0, expected.0);
        assert!((found.1 - expected.1).abs() < 1e-15);
    }
    // Wide and long: nobody was. Long ones are the two at 90, wide ones the one at 20.
    let (_, found) = shares(&statistics, 6);
    assert!((found[0].1 - 1.0 / 3.0).abs() < 1e-15 && (found[1].1 - 2.0 / 3.0).abs() < 1e-15);
    // A job with one attribute alone has that.
    assert_eq!(shares(&statistics, 2), (2, vec![(90, 1.0)]));
}

/// A job that was counted: its most specific class, its percent, and whether it was cut.
type Counted = (u16, u8, bool);

/// The slow twin: the distribution of a class from the list of all jobs, by the definitions.
fn twin(jobs: &[Counted], class: u16, settings: &EstimateSettings) -> Option<Vec<f64>> {
    let is_within = |job: u16, class: u16| match class {
        0 => true,
        1 => matches!(job, 1 | 3 | 4),
        2 => matches!(job, 2 | 5 | 6),
        // Of the second attribute alone.
        7 => matches!(job, 3 | 5),
        8 => matches!(job, 4 | 6),
        _ => job == class,
    };
    let weights = |class: u16| -> Vec<(u8, bool, f64)> {
        let members: Vec<&Counted> = jobs.iter().filter(|job| is_within(job.0, class)).collect();
        let after = |place: usize| (members.len() - 1 - place) as f64;
        let members = members.iter().enumerate();
        let weighted = members.map(|(place, &&(_, percent, cut))| {
            let weight = match settings.learning.rule {
                Learning::Static | Learning::Online => 1.0,
                Learning::Window => f64::from(u8::from(after(place) < 3.0)),
                Learning::Aged => 0.5_f64.powf(after(place) / 2.0),
            };
            (percent, cut, weight)
        });
        weighted.filter(|job| job.2 > 0.0).collect()
    };
    let size = |class: u16| weights(class).iter().map(|job| job.2).sum::<f64>();
    let own = |class: u16| -> Vec<f64> {
        let jobs = weights(class);
        let mut left = 1.0;
        let mut density: Vec<f64> = (0..RATIO_BINS - 1)
            .map(|bin| {
                let at = |job: &&(u8, bool, f64)| usize::from(job.0) >= bin;
                let at_risk: f64 = jobs.iter().filter(at).map(|job| job.2).sum();
                let here = |job: &&(u8, bool, f64)| usize::from(job.0) == bin && !job.1;
                let ends: f64 = jobs.iter().filter(here).map(|job| job.2).sum();
                let share = if ends > 0.0 { ends / at_risk } else { 0.0 };
                let mass = left * share;
                left -= mass;
                mass
            })
            .collect();
        density.push(left);
        density
    };
    let mix = |one: &[f64], weight: f64, other: &[f64], other_weight: f64| -> Vec<f64> {
        let pairs = one.iter().zip(other);
        let mixed = pairs.map(|(one, other)| one * weight + other * other_weight);
        mixed.map(|sum| sum / (weight + other_weight)).collect()
    };
    let wider = |class: u16| [0, 0, 0, 1, 1, 2, 2][usize::from(class)];
    if jobs.is_empty() {
        return None;
    }
    let minimum = f64::from(settings.minimum_class_size);
    let is_large = |class: u16| size(class) > 0.0 && size(class) >= minimum;
    let back_off = |mut class: u16| {
        while class > 0 && !is_large(class) {
            class = wider(class);
        }
        own(class)
    };
    Some(match settings.combining.rule {
        Combining::BackOff => back_off(class),
        Combining::Weighted => {
            let mut chain = vec![class];
            while let Some(&last) = chain.last()
                && last > 0
            {
                chain.push(wider(last));
            }
            let mut answer = own(0);
            for &class in chain.iter().rev().skip(1) {
                if size(class) > 0.0 {
                    answer = mix(&own(class), size(class), &answer, 2.0);
                }
            }
            answer
        }
        Combining::Mixture if class >= 3 => {
            let (row, column) = (wider(class), 7 + (class - 3) % 2);
            match (is_large(row), is_large(column)) {
                (true, true) => mix(&own(row), size(row), &own(column), size(column)),
                (false, true) => own(column),
                (_, false) => back_off(row),
            }
        }
        Combining::Mixture => back_off(class),
    })
}

proptest! {
    #[test]
    fn statistics_are_what_all_outcomes_from_scratch_give(
        learned in prop::collection::vec((0_u16..7, 0_u8..=100), 0..20),
        decided in prop::collection::vec((0_u16..7, 0_i64..=100, any::<bool>()), 0..30),
        rule in prop::sample::select(vec![Learning::Online, Learning::Window, Learning::Aged]),
        combining in prop::sample::select(vec![Combining::BackOff, Combining::Weighted, Combining::Mixture]),
        minimum in 1_u32..4,
    ) {
        let settings = settings(rule, combining, minimum);
        let mut statistics = learn(&learned, &settings);
        let mut jobs: Vec<Counted> = learned.iter().map(|&(class, bin)| (class, bin, false)).collect();
        for decision in std::iter::once(None).chain(decided.into_iter().map(Some)) {
            if let Some((class, percent, cut)) = decision {
                let end = if cut { RunEnd::Cut } else { RunEnd::Finished };
                statistics.observed(class, Seconds(percent), Seconds(100), end);
                jobs.push((class, percent as u8, cut));
            }
            for class in 0..7 {
                let expected = twin(&jobs, class, &settings);
                let found = statistics.distribution(class).map(|(_, distribution)| distribution);
                prop_assert_eq!(found.is_some(), expected.is_some());
                if let (Some(found), Some(expected)) = (found, expected) {
                    let mut sum = 0.0;
                    for (bin, expected) in expected.iter().enumerate() {
                        sum += expected;
                        prop_assert!((found.pdf(bin) - expected).abs() < 1e-9, "{class} {bin}");
                        prop_assert!((found.cdf(bin) - sum).abs() < 1e-9, "{class} {bin}");
                    }
                }
            }
        }
    }
}
