//! What a policy learns while it runs: how often promises are kept, what users' last jobs took,
//! and, where statistics go on learning, how much of their estimates the jobs of a class need and
//! how long jobs will run.
//!
//! History, statistics and predictions begin with what the [`EstimateModel`] has of them.
//! The cluster tells its policy each outcome when it is final
//! ([`Policy::decided`](super::policy::Policy::decided)), so nothing of the future can enter. A
//! promise keeps the computed probability beside the promised one
//! ([`Promise`](super::outcome::Promise)).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::acceptance::Acceptance;
use super::outcome::{JobOutcome, JobQuote, SuccessFactors, Verdict};
use super::promising::{ExcludedUsers, UnderestimatorRule};
use super::settings::PromiseSettings;
use crate::estimates::{
    CalibrationMethod, Calibrator, ClassStatistics, EstimateModel, PredictedRuntime,
    PredictedRuntimes, PromiseBalance, RatioDistribution, RatioRange, RunEnd, UserHistory,
};
use crate::units::Seconds;
use crate::workload::{Job, JobId};

/// The statistics of an overbooking policy: learned before the simulation, and updated from decided
/// jobs only.
#[derive(Clone, Debug)]
pub struct Learned {
    estimates: Option<Arc<EstimateModel>>,
    excluded: ExcludedUsers,
    underestimators: UnderestimatorRule,
    history: UserHistory,
    /// `None` where the statistics stay what they were.
    statistics: Option<ClassStatistics>,
    /// `None` where predictions bound nothing.
    predicted: Option<PredictedRuntimes>,
    /// Jobs without an outcome; none where nothing is learned of them.
    open: BTreeMap<JobId, OpenJob>,
    /// `None` where promises are what is computed.
    calibrator: Option<Calibrator>,
    /// `None` where the security factor stays what it is.
    balance: Option<PromiseBalance>,
}

/// What was known of a job when it was submitted.
#[derive(Clone, Copy, Debug)]
struct OpenJob {
    /// Its most specific class then, which its outcome counts in.
    class: u16,
    prediction: Option<PredictedRuntime>,
}

impl Learned {
    /// What is known before the first job. Without estimates nothing is ever looked up.
    pub fn new(settings: &PromiseSettings, estimates: Option<Arc<EstimateModel>>) -> Self {
        let calibration = &settings.calibration;
        let calibrates = calibration.method != CalibrationMethod::None;
        let model = estimates.as_deref();
        Self {
            history: model
                .map(|model| model.history().clone())
                .unwrap_or_default(),
            statistics: model.and_then(EstimateModel::statistics).cloned(),
            predicted: model.and_then(EstimateModel::predicted).cloned(),
            open: BTreeMap::new(),
            calibrator: (calibrates && model.is_some()).then(|| Calibrator::new(*calibration)),
            balance: (settings.adapt_security_factor && model.is_some())
                .then(|| PromiseBalance::new(calibration.half_life_jobs)),
            excluded: settings.excluded.clone(),
            underestimators: settings.underestimators,
            estimates,
        }
    }

    /// The same on a machine whose clock begins anew and that has no job.
    pub fn for_next_battery(mut self) -> Self {
        self.open.clear();
        if let Some(predicted) = &mut self.predicted {
            predicted.begin_battery();
        }
        self
    }

    /// The class of a job and its distribution; `None` without statistics.
    pub fn lookup(&self, job: &Job) -> Option<(u16, Arc<RatioDistribution>)> {
        let model = self.estimates.as_ref()?;
        match &self.statistics {
            None => {
                let (class, distribution) = model.lookup(job, &self.history);
                Some((class, Arc::clone(distribution)))
            }
            Some(statistics) => {
                // The class of a job that was submitted stays what it was then.
                let class = self.open.get(&job.id).map(|open| open.class);
                let class = class.unwrap_or_else(|| model.class_of(job, &self.history));
                let (class, distribution) = statistics.distribution(class)?;
                Some((class, Arc::new(distribution)))
            }
        }
    }

    /// The range of nine tenths of a distribution, of which an accepted job keeps a record.
    pub fn range(distribution: &RatioDistribution) -> RatioRange {
        distribution.range(0.05, 0.95)
    }

    /// The shortest slot that may be booked for a job: what is predicted that it needs; 0 where
    /// nobody predicts; all of its estimate if its user is excluded from overbooking, or is an
    /// underestimator for whom more time is planned.
    pub fn least_slot(&self, job: &Job) -> Seconds {
        let known = self.estimates.as_deref();
        if known.is_some_and(|known| self.excluded.include(job, known))
            || self.longer(job).is_some()
        {
            return job.estimate;
        }
        let open = self.open.get(&job.id);
        open.and_then(|open| open.prediction)
            .map_or(Seconds::ZERO, |prediction| prediction.runtime)
    }

    /// How long a slot is looked for before one that is as long as the estimate, for the job of an
    /// underestimator; `None` for anybody else.
    pub fn longer(&self, job: &Job) -> Option<Seconds> {
        self.underestimators.longer(job, self.estimates.as_deref()?)
    }

    /// The acceptance test as it is now: with the security factor that the promises so far ask for,
    /// where that adapts.
    pub fn rule(&self, acceptance: Acceptance) -> Acceptance {
        match &self.balance {
            None => acceptance,
            Some(balance) => acceptance.with_security_times(balance.factor()),
        }
    }

    /// The probability of failure to promise for a slot with these factors.
    pub fn promised(&self, success: &SuccessFactors) -> f64 {
        self.promised_for(success.pof())
    }

    /// The probability of failure to promise where `computed` was computed; ascends with it.
    pub fn promised_for(&self, computed: f64) -> f64 {
        match &self.calibrator {
            Some(calibrator) => calibrator.promised(computed),
            None => computed,
        }
    }

    /// What the promise of an overbooked slot records: its calibrated PoF, where promises are
    /// calibrated.
    pub fn calibrated(&self, success: Option<&SuccessFactors>) -> Option<f64> {
        let calibrator = self.calibrator.as_ref()?;
        success.map(|success| calibrator.promised(success.pof()))
    }

    /// What would be promised of a slot with these factors.
    pub fn quote(
        &self,
        start: Seconds,
        end: Seconds,
        overbooked: bool,
        success: &SuccessFactors,
    ) -> JobQuote {
        JobQuote {
            start,
            end,
            overbooked,
            pof: if overbooked {
                self.promised(success)
            } else {
                success.pof()
            },
        }
    }

    /// A job was submitted.
    pub fn submitted(&mut self, job: &Job) {
        if let Some(calibrator) = &mut self.calibrator {
            calibrator.submitted();
        }
        if let Some(balance) = &mut self.balance {
            balance.submitted();
        }
        let learns = self.statistics.is_some() || self.predicted.is_some();
        if learns
            && !job.is_reservation()
            && let Some(model) = &self.estimates
        {
            let open = OpenJob {
                class: model.class_of(job, &self.history),
                prediction: self.predicted.as_mut().map(|known| known.predict(job)),
            };
            self.open.insert(job.id, open);
        }
    }

    /// A job has its outcome.
    pub fn decided(&mut self, outcome: &JobOutcome) {
        let job = &outcome.job;
        let open = self.open.remove(&job.id);
        if let (Some(start), Some(end), Some(how)) =
            (outcome.start, outcome.end, run_end(outcome.verdict))
        {
            // With checkpoints a job runs several times, and saves its work in between.
            let ran = outcome.execution.map_or(end - start, |runs| runs.useful);
            self.history
                .ended(job.user, ran, job.estimate, how == RunEnd::Cut);
            // A job that was lost with a node may have been given up long after its run.
            let open = open.filter(|_| outcome.verdict != Verdict::FailedNodes);
            if let (Some(statistics), Some(open)) = (&mut self.statistics, &open) {
                statistics.observed(open.class, ran, job.estimate, how);
            }
            if let (Some(predicted), Some(prediction)) =
                (&mut self.predicted, open.and_then(|open| open.prediction))
            {
                predicted.decided(&prediction, start, start + ran, how);
            }
        }
        if let Some(promise) = outcome.promise.filter(|promise| promise.overbooked) {
            let is_broken = outcome.verdict.is_failed() || outcome.late.is_some();
            if let (Some(calibrator), Some(computed)) = (&mut self.calibrator, promise.raw_pof()) {
                calibrator.decided(computed, is_broken);
            }
            if let (Some(balance), Some(promised)) = (&mut self.balance, promise.pof()) {
                balance.decided(promised, is_broken);
            }
        }
    }
}

/// How the last run of a job came to its end; `None` where there was none, or it was given up for
/// want of nodes.
fn run_end(verdict: Verdict) -> Option<RunEnd> {
    match verdict {
        Verdict::SuccessfulFinished => Some(RunEnd::Finished),
        Verdict::SuccessfulFullGrant => Some(RunEnd::AtEstimate),
        Verdict::FailedOverbooked | Verdict::FailedNodes => Some(RunEnd::Cut),
        Verdict::FailedUnstartable
        | Verdict::DroppedNoSlot
        | Verdict::DroppedTooWide
        | Verdict::DroppedByCustomer => None,
    }
}
