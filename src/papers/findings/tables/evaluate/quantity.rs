//! The value of a quantity, at a setting or over all settings.

use super::{Found, Missing, Outcome, Reader, Subject, finite, percent_of, plain, with_interval};
use crate::findings::tables::Quantity;
use crate::findings::tables::measured::Metric;

const COMPREHENSIVE: &str = "comprehensive-overbooking";
const BACKFILLING: &str = "conservative-backfilling";

/// How far a gain may move from its first value and still count as flat.
const FLAT: f64 = 0.05;

impl Reader<'_> {
    /// Measures a quantity: at the setting `at`, or over all settings.
    pub(in crate::findings::tables) fn quantity(
        &self,
        quantity: Quantity,
        subject: Subject<'_>,
        at: Option<f64>,
    ) -> Outcome {
        match at {
            Some(at) => self.at_setting(quantity, subject, at),
            None => self.over_settings(quantity, subject),
        }
    }

    fn at_setting(&self, quantity: Quantity, subject: Subject<'_>, at: f64) -> Outcome {
        let gain = subject.query(at, Metric::Gain);
        let metric = |metric| self.mean(&subject.query(at, metric)).map(with_interval);
        match quantity {
            Quantity::Gain => metric(Metric::Gain),
            Quantity::Fees => metric(Metric::Fees),
            Quantity::Penalties => metric(Metric::Penalties),
            Quantity::Booked => metric(Metric::Booked),
            Quantity::Successful => metric(Metric::Successful),
            Quantity::Failed => metric(Metric::Failed),
            Quantity::NetJobs => metric(Metric::NetJobs),
            Quantity::LostShare => {
                let lost = subject.query(at, Metric::Penalties);
                let all = subject.query(at, Metric::Booked);
                let (penalties, booked) = (self.mean(&lost)?, self.mean(&all)?);
                let share = percent_of(penalties.mean, booked.mean, "nothing was booked")?;
                Ok(match self.cells.quotient(&lost, &all) {
                    Some(estimate) => Found::Value {
                        value: share,
                        interval: finite(estimate.low * 100.0, estimate.high * 100.0),
                        batteries: estimate.n,
                    },
                    None => plain(share, booked.n),
                })
            }
            Quantity::Surplus => {
                let baseline = subject
                    .baseline(self.layout.studies)?
                    .query(at, Metric::Gain);
                self.percent_over(&gain, &baseline)
            }
            Quantity::WorstSurplusUpTo => {
                let mut worst: Option<(f64, Found)> = None;
                for (threshold, _) in self.series(subject, Metric::Gain)? {
                    if threshold > at + 1e-9 {
                        break;
                    }
                    let baseline = subject
                        .baseline(self.layout.studies)?
                        .query(threshold, Metric::Gain);
                    let found =
                        self.percent_over(&subject.query(threshold, Metric::Gain), &baseline)?;
                    if let Found::Value { value, .. } = found
                        && worst.as_ref().is_none_or(|(lowest, _)| value < *lowest)
                    {
                        worst = Some((value, found));
                    }
                }
                worst
                    .map(|(_, found)| found)
                    .ok_or_else(|| Missing::NotTested(format!("no threshold lies below {at}")))
            }
            Quantity::ExtraGain => {
                let baseline = subject
                    .baseline(self.layout.studies)?
                    .query(at, Metric::Gain);
                self.difference(&gain, &baseline)
            }
            Quantity::Lead => {
                self.difference(&gain, &subject.with(COMPREHENSIVE).query(at, Metric::Gain))
            }
            Quantity::LeadPercent => {
                self.percent_over(&gain, &subject.with(COMPREHENSIVE).query(at, Metric::Gain))
            }
            Quantity::GainRatio => {
                let above = self.mean(&gain)?;
                let below = self.mean(&subject.with(BACKFILLING).query(at, Metric::Gain))?;
                let ratio =
                    percent_of(above.mean, below.mean, "backfilling earns nothing")? / 100.0;
                Ok(plain(ratio, above.n))
            }
            _ => Err(Missing::NotTested(format!(
                "{} has no setting",
                quantity.name()
            ))),
        }
    }

    fn over_settings(&self, quantity: Quantity, subject: Subject<'_>) -> Outcome {
        let metric = match quantity {
            Quantity::MaxSuccessful | Quantity::MaxSuccessfulThreshold => Metric::Successful,
            Quantity::MaxNetJobs | Quantity::MaxNetJobsThreshold => Metric::NetJobs,
            _ => Metric::Gain,
        };
        match quantity {
            Quantity::MaxGain | Quantity::MaxSuccessful | Quantity::MaxNetJobs => self
                .best(subject, metric)
                .map(|(_, best)| with_interval(best)),
            Quantity::BestThreshold
            | Quantity::MaxSuccessfulThreshold
            | Quantity::MaxNetJobsThreshold => self
                .best(subject, metric)
                .map(|(at, best)| plain(at, best.n)),
            Quantity::Surplus => {
                let (at, _) = self.best(subject, Metric::Gain)?;
                let baseline = subject
                    .baseline(self.layout.studies)?
                    .query(at, Metric::Gain);
                self.percent_over(&subject.query(at, Metric::Gain), &baseline)
            }
            Quantity::BestSurplus => self.best_surplus(subject).map(|(_, surplus)| surplus),
            Quantity::BestSurplusThreshold | Quantity::BestSurplusRatio => {
                let (at, surplus) = self.best_surplus(subject)?;
                let batteries = match surplus {
                    Found::Value { batteries, .. } => batteries,
                    Found::Order(_) => 0,
                };
                Ok(plain(at, batteries))
            }
            Quantity::LeadPercent => {
                let (_, ours) = self.best(subject, Metric::Gain)?;
                let (_, theirs) = self.best(subject.with(COMPREHENSIVE), Metric::Gain)?;
                let lead = percent_of(
                    ours.mean - theirs.mean,
                    theirs.mean,
                    "no gain to compare to",
                )?;
                Ok(plain(lead, ours.n))
            }
            Quantity::Crossing => self.crossing(subject),
            Quantity::FlatUntil => {
                let gains = self.series(subject, Metric::Gain)?;
                let (mut until, first) = gains[0];
                for (at, gain) in &gains {
                    if (gain.mean - first.mean).abs() > FLAT * first.mean.abs() {
                        break;
                    }
                    until = *at;
                }
                Ok(plain(until, first.n))
            }
            Quantity::ShareAboveComprehensive => {
                let ours = self.series(subject, Metric::Gain)?;
                let theirs = self.series(subject.with(COMPREHENSIVE), Metric::Gain)?;
                let above = ours
                    .iter()
                    .zip(&theirs)
                    .filter(|((_, a), (_, b))| a.mean > b.mean)
                    .count();
                Ok(plain(above as f64 / ours.len() as f64, ours[0].1.n))
            }
            _ => Err(Missing::NotTested(format!(
                "{} needs a setting",
                quantity.name()
            ))),
        }
    }

    fn crossing(&self, subject: Subject<'_>) -> Outcome {
        let (best, _) = self.best(subject, Metric::Gain)?;
        let baseline = self.series(subject.baseline(self.layout.studies)?, Metric::Gain)?;
        let gains = self.series(subject, Metric::Gain)?;
        gains
            .iter()
            .zip(&baseline)
            .find(|((at, gain), (_, base))| *at > best && gain.mean < base.mean)
            .map(|((at, gain), _)| plain(*at, gain.n))
            .ok_or_else(|| Missing::Never("never falls below its baseline".to_owned()))
    }

    /// The setting with the highest surplus. Settings at which the baseline earns nothing have none
    ///
    fn best_surplus(&self, subject: Subject<'_>) -> Result<(f64, Found), Missing> {
        let baseline = subject.baseline(self.layout.studies)?;
        let mut best: Option<(f64, f64, Found)> = None;
        for (at, gain) in self.series(subject, Metric::Gain)? {
            let base = self.mean(&baseline.query(at, Metric::Gain))?;
            if base.mean <= 0.0 {
                continue;
            }
            let surplus = (gain.mean - base.mean) / base.mean;
            if best
                .as_ref()
                .is_none_or(|(_, highest, _)| surplus > *highest)
            {
                let found = self.percent_over(
                    &subject.query(at, Metric::Gain),
                    &baseline.query(at, Metric::Gain),
                )?;
                best = Some((at, surplus, found));
            }
        }
        best.map(|(at, _, found)| (at, found)).ok_or_else(|| {
            Missing::NotTested(
                "undefined: the baseline earns nothing at any setting (A-42)".to_owned(),
            )
        })
    }
}
