//! The judgement of the statistics about a new job: promising, of an underestimator, or neither.

use bookahead_core::estimates::{RatioRange, UserHabit};
use bookahead_core::scheduling::{Cluster, Learned, PromisingRule, ShorteningRule};
use bookahead_core::units::Seconds;
use bookahead_core::workload::JobId;

use super::Shortening;
use crate::policies::overbooking_2008::is_promising;

/// What the statistics say of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judgement {
    /// Its estimate class; `None` without statistics.
    pub class: Option<u16>,
    /// Nine tenths of the distribution of its class.
    pub ratios: Option<RatioRange>,
    /// It may be shortened.
    pub promising: bool,
    /// By how much its estimate is cut if it is: to x / (1 + `max_pof`).
    pub max_pof: f64,
    /// For how long it is planned where it is not shortened: its estimate, or more for an
    /// underestimator.
    pub full: Seconds,
}

impl Shortening {
    /// Judges a job by the statistics; without statistics no job is promising, and all users
    /// estimate well.
    pub(super) fn judge(&self, cluster: &Cluster, id: JobId) -> Judgement {
        let job = cluster.job(id);
        let full = cluster.to_plan(id).estimate;
        let Some(model) = &self.estimates else {
            return Judgement {
                class: None,
                ratios: None,
                promising: false,
                max_pof: 0.0,
                full,
            };
        };
        let (class, ratios) = model.lookup(job, model.history());
        let user = model.habits().user(job);
        let of_user = |habit: &UserHabit| self.settings.shortening.max_pof_for(habit.mean_ratio());
        let own = user.and_then(of_user);
        let max_pof = own.unwrap_or_else(|| self.settings.acceptance.shortening(ratios));
        let judged = |promising, full| Judgement {
            class: Some(class),
            ratios: Some(Learned::range(ratios)),
            promising,
            max_pof,
            full,
        };
        if let Some(longer) = self.settings.underestimators.longer(job, model) {
            return judged(false, longer);
        }
        if self.settings.excluded.include(job, model) {
            return judged(false, full);
        }
        if self.settings.shortening != ShorteningRule::MaxPof {
            // Who uses all of the estimate, or is not known, is not cut.
            return judged(user.is_some_and(|habit| habit.mean_ratio() < 1.0), full);
        }
        let by_user = || user.is_some_and(|habit| is_promising(habit.mean_ratio(), max_pof));
        let by_application = || {
            let usual = model.habits().usual_runtime(job);
            usual.is_some_and(|usual| is_promising(usual / job.estimate.0 as f64, max_pof))
        };
        let promising = if self.settings.promising == PromisingRule::Class {
            is_promising(ratios.mean_ratio(), max_pof)
        } else {
            (self.settings.promising.asks_user() && by_user())
                || (self.settings.promising.asks_application() && by_application())
        };
        judged(promising, full)
    }
}
