//! Scores of promised probabilities, and the conclusions that they allow.

use std::fmt;

use super::counts::{BINS, Counts, FEWEST_JOBS, total};
use crate::statistics::{Estimate, Moments};
use bookahead_core::scheduling::measures::QuantityKind;

/// The largest expected calibration error that is called fine.
const FINE_ERROR: f64 = 0.05;

/// Fewer batteries than this show and refute nothing: without one of four a quarter of the jobs is
/// missing, and Student's t is above 3.
pub const FEWEST_BATTERIES: u32 = 5;

/// How good probabilities were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// Overbooked jobs with a probability.
    pub jobs: u64,
    /// Mean probability.
    pub predicted: f64,
    /// Share of jobs that failed; its count is that of the batteries.
    pub failed: Estimate,
    /// Share of jobs that were killed at the end of their window.
    pub killed: f64,
    /// Mean of (PoF − failed)².
    pub brier: f64,
    /// The Brier score of always predicting the share of the same jobs that failed.
    pub reference: f64,
    /// 1 − Brier ÷ reference, by the jackknife over batteries; `None` where all jobs ended alike,
    /// and no interval where they do without one battery.
    pub skill: Option<Estimate>,
    /// Expected calibration error: Σ share of jobs · |predicted − realised| over bins.
    ///
    /// Chance makes it too large, so its interval begins below another estimate, which is too small
    /// on average: for each battery the sign of a bin is taken from the other batteries. From there
    /// and from the error itself it reaches t standard errors. Where the signs of bins are
    /// uncertain, the jackknife's standard error of a sum of absolute values is too small; what
    /// moves all jobs of a battery moves all bins the same way, and their sum moves most when all
    /// signs are equal. So the standard error is the larger one of those of the error and of the
    /// mean difference.
    pub error: Estimate,
    /// The calibration error in percent of the share that failed; `None` where none failed.
    pub relative_error: Option<f64>,
    /// The largest |predicted − realised| of bins with at least 200 jobs.
    pub worst: Option<f64>,
    /// Σ share of jobs · (predicted − realised)².
    pub reliability: f64,
    /// Σ share of jobs · (realised − mean)².
    pub resolution: f64,
    /// The estimate of the calibration error that is too small on average.
    least_error: f64,
}

/// What a jackknife needs of some jobs.
struct Whole {
    skill: Option<f64>,
    error: f64,
    /// Mean of PoF − failed.
    excess: f64,
}

impl Whole {
    fn of(bins: &[Counts; BINS]) -> Self {
        let all = total(bins);
        let jobs = all.jobs as f64;
        let reference = reference(&all);
        let gaps: f64 = bins.iter().map(|counts| counts.excess().abs()).sum();
        Self {
            skill: (reference > 0.0).then(|| 1.0 - all.brier / jobs / reference),
            error: gaps / jobs,
            excess: all.excess() / jobs,
        }
    }
}

/// The Brier score of always predicting the share that failed.
fn reference(all: &Counts) -> f64 {
    all.realised() * (1.0 - all.realised())
}

impl Scores {
    /// Of all jobs by bin and of those of each battery that has any.
    pub(super) fn new(
        bins: &[Counts; BINS],
        batteries: &[&[Counts; BINS]],
        failed: Estimate,
    ) -> Self {
        let all = total(bins);
        let (jobs, base) = (all.jobs as f64, failed.mean);
        let (mut reliability, mut resolution) = (0.0, 0.0);
        let mut worst: Option<f64> = None;
        for counts in bins.iter().filter(|counts| counts.jobs > 0) {
            let weight = counts.jobs as f64 / jobs;
            let gap = (counts.predicted() - counts.realised()).abs();
            reliability += weight * gap * gap;
            resolution += weight * (counts.realised() - base).powi(2);
            if counts.jobs >= FEWEST_JOBS {
                worst = Some(worst.map_or(gap, |worst| worst.max(gap)));
            }
        }
        let (error, least_error) = calibration_error(bins, batteries);
        Self {
            jobs: all.jobs,
            predicted: all.predicted(),
            failed,
            killed: all.killed as f64 / jobs,
            brier: all.brier / jobs,
            reference: reference(&all),
            skill: skill(bins, batteries),
            relative_error: (base > 0.0).then(|| 100.0 * error.mean / base),
            error,
            worst,
            reliability,
            resolution,
            least_error,
        }
    }

    /// Whether promised risks come true: promises say more than the mean does (skill > 0), and what
    /// they say is near what happens (calibration error ≤ 0.05).
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let batteries = self.failed.count;
        if batteries < FEWEST_BATTERIES {
            return Verdict::Open(Reason::FewBatteries(batteries));
        }
        let Some(skill) = self.skill else {
            return Verdict::Open(Reason::NoSkill);
        };
        let (Some(skill), Some(error)) = (skill.interval, self.error.interval) else {
            return Verdict::Open(Reason::NoInterval);
        };
        if skill.high <= 0.0 || error.low > FINE_ERROR {
            Verdict::Refuted
        } else if skill.low <= 0.0 {
            Verdict::Open(Reason::Skill)
        } else if error.high > FINE_ERROR {
            Verdict::Open(Reason::Error)
        } else {
            Verdict::Shown
        }
    }

    /// The two-sided p-value of what refutes most: a skill below 0 or an error above what is fine;
    /// 1 where neither is.
    pub(super) fn p_against(&self) -> f64 {
        let error = Moments {
            count: self.error.count,
            mean: FINE_ERROR - self.least_error,
            deviation: self.error.deviation,
            skewness: None,
        };
        let error = Estimate::from_moments(&error, QuantityKind::Signed);
        (self.skill.into_iter().chain([error]))
            .filter(|estimate| estimate.mean < 0.0)
            .filter_map(|estimate| estimate.p_value())
            .fold(1.0, f64::min)
    }
}

/// The jobs of all batteries but one, for each of them.
fn without_each(bins: &[Counts; BINS], batteries: &[&[Counts; BINS]]) -> Vec<[Counts; BINS]> {
    let rest = |battery: &&[Counts; BINS]| {
        let mut rest = *bins;
        for (counts, own) in rest.iter_mut().zip(battery.iter()) {
            *counts = counts.without(own);
        }
        rest
    };
    batteries.iter().map(rest).collect()
}

fn skill(bins: &[Counts; BINS], batteries: &[&[Counts; BINS]]) -> Option<Estimate> {
    let whole = Whole::of(bins).skill?;
    let without: Option<Vec<f64>> = (without_each(bins, batteries).iter())
        .map(|rest| Whole::of(rest).skill)
        .collect();
    without
        .and_then(|without| Estimate::jackknife(whole, &without))
        .or_else(|| {
            let count = u32::try_from(batteries.len()).ok()?;
            Some(Estimate::without_interval(count, whole))
        })
}

/// The expected calibration error with its interval, and the estimate that is too small.
fn calibration_error(bins: &[Counts; BINS], batteries: &[&[Counts; BINS]]) -> (Estimate, f64) {
    let whole = Whole::of(bins);
    let rests = without_each(bins, batteries);
    let of_rests: Vec<Whole> = rests.iter().map(Whole::of).collect();
    let deviation = |whole: f64, part: fn(&Whole) -> f64| {
        let without: Vec<f64> = of_rests.iter().map(part).collect();
        Estimate::jackknife(whole, &without).and_then(|estimate| estimate.deviation)
    };
    // Signs of the others: where they have no jobs, a bin says nothing.
    let signed: f64 = (batteries.iter().zip(&rests))
        .flat_map(|(battery, rest)| battery.iter().zip(rest))
        .filter(|(_, rest)| rest.jobs > 0)
        .map(|(own, rest)| rest.excess().signum() * own.excess())
        .sum();
    let least = signed / total(bins).jobs as f64;
    // Never more batteries than replications, which are counted in 32 bits.
    let count = u32::try_from(batteries.len()).unwrap_or(u32::MAX);
    let of_error = deviation(whole.error, |rest| rest.error);
    let of_excess = deviation(whole.excess, |rest| rest.excess);
    let deviation = of_error.into_iter().chain(of_excess).reduce(f64::max);
    let error = Estimate::bracketed(count, (least, whole.error), deviation);
    (error, least)
}

/// Whether promised risks come true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both 95 % intervals, of the skill and of the calibration error, lie wholly on the good side.
    Shown,
    /// One of them lies wholly on the bad side.
    Refuted,
    /// Neither.
    Open(Reason),
}

/// Why it is open whether promised risks come true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Only this many batteries have overbooked jobs, which is too few.
    FewBatteries(u32),
    /// All jobs ended alike, so there is no skill.
    NoSkill,
    /// The batteries do not differ, or without one of them all jobs ended alike.
    NoInterval,
    /// The interval of the skill contains 0.
    Skill,
    /// The interval of the calibration error contains 0.05.
    Error,
    /// Shown as a whole, but not in every situation.
    Situations,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Shown => "shown",
            Self::Refuted => "refuted",
            Self::Open(_) => "open",
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewBatteries(1) => write!(
                formatter,
                "1 battery, and fewer than {FEWEST_BATTERIES} are too few"
            ),
            Self::FewBatteries(count) => write!(
                formatter,
                "{count} batteries, and fewer than {FEWEST_BATTERIES} are too few"
            ),
            Self::NoSkill => formatter.write_str("all jobs ended alike"),
            Self::NoInterval => formatter.write_str(
                "no interval: batteries do not differ, or without one all jobs ended alike",
            ),
            Self::Skill => formatter.write_str("the interval of the skill contains 0"),
            Self::Error => write!(
                formatter,
                "the interval of the calibration error contains {FINE_ERROR}"
            ),
            Self::Situations => formatter.write_str("not shown in every situation"),
        }
    }
}
