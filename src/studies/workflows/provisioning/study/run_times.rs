//! How long tasks are booked for and really run, and best effort with the latter.

use std::sync::Arc;

use super::{Made, ProvisionedSettings};
use crate::provisioning::{
    Application, Background, BestEffortRun, ProvisioningSettings, SiteWorkload,
};
use bookahead_core::units::Seconds;
use bookahead_core::workload::workflows::RealRuntimes;
use bookahead_lab::study::inputs::{InputError, canonical_text};

impl Made<'_> {
    /// The application as it is booked.
    pub(super) fn booked(
        &self,
        about: &ProvisionedSettings,
    ) -> Result<Arc<Application>, Arc<InputError>> {
        let estimated = self.application(about)?;
        let uncertainty = &about.uncertainty;
        if uncertainty.booking_factor == 1.0 {
            return Ok(estimated);
        }
        let booked = estimated.with_runtimes(|_, runtime| uncertainty.booked(runtime));
        Ok(Arc::new(booked))
    }

    /// The application of each of these submissions with the run times that its tasks have at last:
    /// the same ones however they are booked. None where that is what is booked.
    pub(super) fn real(
        &self,
        about: &ProvisionedSettings,
        submissions: usize,
    ) -> Result<Vec<Arc<Application>>, Arc<InputError>> {
        let uncertainty = &about.uncertainty;
        if uncertainty.is_default() {
            return Ok(Vec::new());
        }
        let estimated = self.application(about)?;
        let seed = self.inputs.seed(self.spec);
        let real = (0..submissions).map(|submission| {
            let mut stream = seed.stream(&format!("real run times/{submission}"));
            let drawn = uncertainty.draw(estimated.tasks().len(), &mut stream);
            Arc::new(estimated.with_runtimes(|task, runtime| {
                let seconds = (runtime.0 as f64 * drawn[task]).round();
                Seconds((seconds as i64).max(1))
            }))
        });
        Ok(real.collect())
    }

    /// Best effort from each of these instants, with the real run times of each submission.
    pub(super) fn best_efforts(
        &self,
        (settings, about): (&ProvisioningSettings, &ProvisionedSettings),
        key: &str,
        sites: &[SiteWorkload],
        background: &Background,
        instants: &[usize],
        real: &[Arc<Application>],
    ) -> Result<Vec<Arc<BestEffortRun>>, Arc<InputError>> {
        let estimated = self.application(about)?;
        let uncertainty = &about.uncertainty;
        let how = canonical_text(&(uncertainty.real, uncertainty.variation));
        let runs = instants.iter().enumerate().map(|(submission, &instant)| {
            let application = real.get(submission).unwrap_or(&estimated);
            let key = match uncertainty.real {
                RealRuntimes::Exact => key.to_owned(),
                _ => format!("{key}|{how}|{submission}"),
            };
            let choice = settings.queue_choice;
            self.best_effort(&key, choice, sites, background, application, instant)
        });
        runs.collect()
    }
}
