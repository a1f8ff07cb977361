//! The probability that a job has ended at the end of a slot, behind the jobs in front of it.

use std::sync::Arc;

use bookahead_core::estimates::{
    CompletionDistribution, Moments, probability_executable, probability_executable_together,
    wait_moments,
};
use bookahead_core::scheduling::{Cluster, Phase, PredecessorRule};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

use super::placing::Gap;
use super::{Comprehensive, OwnRuntime};

/// More than all that rounding can add to a probability that is a sum of 10,000 products.
const ROUNDING: f64 = 1e-9;

impl Comprehensive {
    /// How long a job waits for its predecessors after its earliest start.
    pub(super) fn wait(
        &self,
        cluster: &Cluster,
        predecessors: &[JobId],
        gap: &Gap,
        own: &OwnRuntime,
    ) -> Moments {
        if self.settings.predecessors == PredecessorRule::Planned {
            return Moments {
                mean: (gap.start - gap.from).0 as f64,
                variance: 0.0,
            };
        }
        let distributions = self.distributions(cluster, predecessors);
        let distributions: Vec<&CompletionDistribution> =
            distributions.iter().map(AsRef::as_ref).collect();
        wait_moments(&distributions, gap.from, gap.start, own.steps.step())
    }

    /// No less than [`Self::executable`], at a fraction of its price.
    pub(super) fn executable_at_most(
        &self,
        own: &OwnRuntime,
        predecessors: &[JobId],
        gap: &Gap,
        end: Seconds,
    ) -> f64 {
        let rule = self.settings.predecessors;
        if rule == PredecessorRule::Planned || self.settings.user_factor > 0.0 {
            return 1.0;
        }
        let &Gap { from, start, .. } = gap;
        // That a job still runs makes its end later only.
        let bound =
            (self.completions).executable_at_most(predecessors, &own.steps, from, start, end);
        (bound + ROUNDING).min(1.0)
    }

    pub(super) fn executable(
        &self,
        cluster: &Cluster,
        job: &Job,
        own: &OwnRuntime,
        predecessors: &[JobId],
        gap: &Gap,
        end: Seconds,
    ) -> f64 {
        let &Gap { from, start, .. } = gap;
        if self.settings.predecessors == PredecessorRule::Planned {
            return probability_executable(&[], &own.steps, start, start, end);
        }
        let distributions = self.distributions(cluster, predecessors);
        let distributions: Vec<&CompletionDistribution> =
            distributions.iter().map(AsRef::as_ref).collect();
        let apart = probability_executable(&distributions, &own.steps, from, start, end);
        let share = self.settings.user_factor;
        let is_alike = |&other: &JobId| {
            job.user.is_some() && !self.is_absence(other) && cluster.job(other).user == job.user
        };
        if share == 0.0 || !predecessors.iter().any(is_alike) {
            return apart;
        }
        let together =
            probability_executable_together(&distributions, &own.steps, from, start, end);
        (1.0 - share) * apart + share * together
    }

    /// The distributions of predecessors, those of running ones conditioned on not having ended yet
    /// where that is asked for.
    pub(super) fn distributions(
        &self,
        cluster: &Cluster,
        jobs: &[JobId],
    ) -> Vec<Arc<CompletionDistribution>> {
        jobs.iter()
            .filter_map(|&job| {
                let distribution = self.completions.distribution(job)?;
                let is_conditioned =
                    self.settings.condition_on_elapsed && cluster.phase(job) == Phase::Running;
                Some(if is_conditioned {
                    Arc::new(distribution.conditioned_on_running_at(cluster.now()))
                } else {
                    distribution
                })
            })
            .collect()
    }
}
