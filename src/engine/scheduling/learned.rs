//! What a policy learns while it runs: how often promises are kept, and what users' last jobs took.

use std::sync::Arc;

use super::outcome::{JobOutcome, SuccessFactors, Verdict};
use super::settings::PolicySettings;
use crate::estimates::{
    CalibrationMethod, Calibrator, EstimateModel, RatioDistribution, UserHistory,
};
use crate::workload::Job;

/// The statistics of an overbooking policy: learned before the simulation, and updated from decided jobs only.
#[derive(Clone, Debug)]
pub struct Learned {
    estimates: Option<Arc<EstimateModel>>,
    history: UserHistory,
    /// `None` where promises are what is computed.
    calibrator: Option<Calibrator>,
}

impl Learned {
    /// What is known before the first job. Without estimates nothing is ever looked up.
    pub(super) fn new(settings: &PolicySettings, estimates: Option<Arc<EstimateModel>>) -> Self {
        let calibrates = settings.calibration.method != CalibrationMethod::None;
        Self {
            history: estimates
                .as_ref()
                .map(|model| model.history().clone())
                .unwrap_or_default(),
            calibrator: (calibrates && estimates.is_some())
                .then(|| Calibrator::new(settings.calibration)),
            estimates,
        }
    }

    /// The class of a job and its distribution; `None` without statistics.
    pub(super) fn lookup(&self, job: &Job) -> Option<(u16, &Arc<RatioDistribution>)> {
        let model = self.estimates.as_ref()?;
        Some(model.lookup(job, &self.history))
    }

    /// The probability of failure to promise for a slot with these factors.
    pub(super) fn promised(&self, success: &SuccessFactors) -> f64 {
        self.promised_for(success.pof())
    }

    /// The probability of failure to promise where `computed` was computed; ascends with it.
    pub(super) fn promised_for(&self, computed: f64) -> f64 {
        match &self.calibrator {
            Some(calibrator) => calibrator.promised(computed),
            None => computed,
        }
    }

    /// What the promise of an overbooked slot records: its calibrated PoF, where promises are calibrated.
    pub(super) fn calibrated(&self, success: Option<&SuccessFactors>) -> Option<f64> {
        let calibrator = self.calibrator.as_ref()?;
        success.map(|success| calibrator.promised(success.pof()))
    }

    /// A job was submitted.
    pub(super) fn submitted(&mut self) {
        if let Some(calibrator) = &mut self.calibrator {
            calibrator.submitted();
        }
    }

    /// A job has its outcome.
    pub(super) fn decided(&mut self, outcome: &JobOutcome) {
        let job = &outcome.job;
        if let (Some(start), Some(end)) = (outcome.start, outcome.end) {
            let cut = matches!(
                outcome.verdict,
                Verdict::FailedOverbooked | Verdict::FailedNodes
            );
            if outcome.verdict != Verdict::FailedUnstartable {
                let ran = outcome.execution.map_or(end - start, |runs| runs.useful);
                self.history.ended(job.user, ran, job.estimate, cut);
            }
        }
        if let Some(calibrator) = &mut self.calibrator
            && let Some(promise) = &outcome.promise
            && let Some(computed) = promise.raw_pof().filter(|_| promise.overbooked)
        {
            let is_broken = outcome.verdict.is_failed() || outcome.late.is_some();
            calibrator.decided(computed, is_broken);
        }
    }
}
