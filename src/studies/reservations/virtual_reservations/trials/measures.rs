//! The measures of a study (Singh 2008, §6.3, §6.4).

use super::{CALIBRATED_QUANTILES, VirtualStudyRun, VirtualTrial};
use crate::virtual_reservations::rules::CombinedScheme;

/// The names of the shares of waits within the bounds of [`CALIBRATED_QUANTILES`], in their order.
const COVERAGES: [&str; 3] = [
    "bound_coverage_50_percent",
    "bound_coverage_75_percent",
    "bound_coverage_95_percent",
];

impl VirtualStudyRun {
    /// The figures of the study, by name; one that is undefined here is left out.
    ///
    /// Costs are shares of the base charge n·D, and means over the trials in which the scheme
    /// succeeded, whose number stands beside them (AMB-29). All percentages are of all trials.
    ///
    /// | name | what it is |
    /// |---|---|
    /// | `trials` | number of trials |
    /// | `var_cost`, `var_bound` | mean of (S − T2)/D, and of (S − T1)/D in the same trials |
    /// | `var_bound_when_asked` | (S − T)/D, the published bound |
    /// | `ar_cost`, `combined_cost` | mean price; mean cost of ALG-6, penalties included |
    /// | `var_successes`, `ar_successes`, `combined_successes` | how many trials these means are over |
    /// | `var_success_percent`, `ar_success_percent`, `combined_success_percent` | the same in percent |
    /// | `var_cheaper_percent`, `ar_cheaper_percent` | both succeeded, and this one cost strictly less |
    /// | `only_var_percent`, `only_ar_percent`, `neither_percent` | who succeeded alone, or nobody |
    /// | `ar_free_percent` | the reservation was granted at price 0 |
    /// | `combined_uses_var_percent` | ALG-6 kept the virtual reservation |
    /// | `var_submitted_percent`, `var_started_late_percent` | a padded job was submitted; and had not started by S |
    /// | `var_ended_idle_percent` | it was ended before S because it idled; left out where no machine does that |
    /// | `prediction_mean` | mean probability predicted for the chosen submissions |
    /// | `combined_cost_where_ar` | mean cost of ALG-6 in the trials in which the reservation was granted |
    /// | `var_cost_where_both`, `ar_cost_where_both` | mean costs in the trials in which both succeeded |
    /// | `worst_var_over_bound`, `worst_combined_over_ar` | largest excess in any trial: never above 0 |
    /// | `failure_correlation` | φ of the failures of both; left out where one of them never or always fails |
    /// | `brier_score` | of the predictions for the trace's own jobs |
    /// | `bound_coverage_50_percent`, `_75_`, `_95_` | percentage of the trace's own waits within the bound of the quantile |
    #[must_use]
    pub fn measures(&self) -> Vec<(&'static str, f64)> {
        let trials = self.trials.as_slice();
        let mut measures = vec![("trials", trials.len() as f64)];
        let mut means = |name, value: &dyn Fn(&VirtualTrial) -> Option<f64>| {
            measures.extend(mean(trials.iter().filter_map(value)).map(|mean| (name, mean)));
        };
        means("var_cost", &|trial| trial.normalised_virtual_cost());
        means("var_bound", &|trial| {
            trial.virtual_cost()?;
            trial.normalised_virtual_bound()
        });
        means("var_bound_when_asked", &|trial| {
            let lead = trial.wanted_start - trial.asked_at;
            Some(lead.0 as f64 / trial.duration.0 as f64)
        });
        means("ar_cost", &|trial| trial.normalised_price());
        means("combined_cost", &|trial| trial.normalised_combined_cost());
        means("prediction_mean", &|trial| {
            Some(trial.submission?.probability)
        });
        let mut share = |names: (Option<&'static str>, &'static str),
                         holds: &dyn Fn(&VirtualTrial) -> bool| {
            let count = trials.iter().filter(|trial| holds(trial)).count() as f64;
            measures.extend(names.0.map(|name| (name, count)));
            if !trials.is_empty() {
                measures.push((names.1, 100.0 * count / trials.len() as f64));
            }
        };
        let virtual_one = VirtualTrial::virtual_success;
        let real_one = VirtualTrial::reservation_success;
        share((Some("var_successes"), "var_success_percent"), &virtual_one);
        share((Some("ar_successes"), "ar_success_percent"), &real_one);
        share(
            (Some("combined_successes"), "combined_success_percent"),
            &|trial| trial.combined.success(),
        );
        share((None, "var_cheaper_percent"), &|trial| {
            both(trial).is_some_and(|(virtual_cost, price)| virtual_cost < price)
        });
        share((None, "ar_cheaper_percent"), &|trial| {
            both(trial).is_some_and(|(virtual_cost, price)| price < virtual_cost)
        });
        share((None, "only_var_percent"), &|trial| {
            virtual_one(trial) && !real_one(trial)
        });
        share((None, "only_ar_percent"), &|trial| {
            real_one(trial) && !virtual_one(trial)
        });
        share((None, "neither_percent"), &|trial| {
            !real_one(trial) && !virtual_one(trial)
        });
        share((None, "ar_free_percent"), &|trial| {
            trial.price.is_some_and(|price| price.0 == 0)
        });
        share((None, "combined_uses_var_percent"), &|trial| {
            trial.combined.scheme == CombinedScheme::Virtual
        });
        share((None, "var_submitted_percent"), &|trial| {
            trial.submission.is_some()
        });
        share((None, "var_started_late_percent"), &|trial| {
            trial.submission.is_some() && !virtual_one(trial) && trial.ended_idle.is_none()
        });
        if self.ends_idle_jobs {
            share((None, "var_ended_idle_percent"), &|trial| {
                trial.ended_idle.is_some()
            });
        }
        let mut worst = |name, value: &dyn Fn(&VirtualTrial) -> Option<f64>| {
            let worst = trials.iter().filter_map(value).reduce(f64::max);
            measures.extend(worst.map(|worst| (name, worst)));
        };
        worst("worst_var_over_bound", &|trial| {
            Some(trial.normalised_virtual_cost()? - trial.normalised_virtual_bound()?)
        });
        worst("worst_combined_over_ar", &|trial| {
            Some(trial.normalised_combined_cost()? - trial.normalised_price()?)
        });
        let mut paired = |name, value: &dyn Fn(&VirtualTrial) -> Option<f64>| {
            measures.extend(mean(trials.iter().filter_map(value)).map(|mean| (name, mean)));
        };
        paired("combined_cost_where_ar", &|trial| {
            trial.price?;
            trial.normalised_combined_cost()
        });
        paired("var_cost_where_both", &|trial| {
            trial.price?;
            trial.normalised_virtual_cost()
        });
        paired("ar_cost_where_both", &|trial| {
            trial.virtual_cost()?;
            trial.normalised_price()
        });
        measures.extend(
            correlation(
                trials
                    .iter()
                    .map(|trial| (virtual_one(trial), real_one(trial))),
            )
            .map(|correlation| ("failure_correlation", correlation)),
        );
        let brier_score = self.calibration.brier_score();
        measures.extend(brier_score.map(|score| ("brier_score", score)));
        for (name, quantile) in COVERAGES.into_iter().zip(CALIBRATED_QUANTILES) {
            let bounds = self.calibration.bounds();
            let coverage = bounds.iter().find(|bound| bound.quantile == quantile);
            let share = coverage.and_then(|bound| bound.share_within());
            measures.extend(share.map(|share| (name, 100.0 * share)));
        }
        measures
    }
}

/// φ, the correlation of two things that happen or not; `None` where one of them never varies.
fn correlation(pairs: impl Iterator<Item = (bool, bool)>) -> Option<f64> {
    let (mut both, mut first, mut second, mut all) = (0.0, 0.0, 0.0, 0.0);
    for (one, other) in pairs {
        all += 1.0;
        first += f64::from(u8::from(one));
        second += f64::from(u8::from(other));
        both += f64::from(u8::from(one && other));
    }
    let spread = first * (all - first) * second * (all - second);
    (spread > 0.0).then(|| (all * both - first * second) / spread.sqrt())
}

/// The costs of the virtual reservation and of the real one, in node-seconds, where both succeeded.
fn both(trial: &VirtualTrial) -> Option<(i64, i64)> {
    Some((trial.virtual_cost()?.0, trial.price?.0))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}
