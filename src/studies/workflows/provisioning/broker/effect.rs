//! The effect of committed plans on the jobs of others (docs/model.md, "The broker of workflows");
//! Singh 2008 discards its plans and never measures it.

use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

use super::Broker;
use crate::provisioning::{BrokerError, EffectOnOthers};

/// Jobs of others at a site that have become final, each with its start.
type Started = Vec<(JobId, Option<Seconds>)>;

/// Time passes in steps of this length until every job that counts has ended.
const STEP: Seconds = Seconds(24 * 3_600);

/// A job that has not ended so long after the last submission never will.
const LONGEST_WAIT: Seconds = Seconds(10 * 365 * 24 * 3_600);

/// Run times below this do not count in a slowdown.
const BOUND: Seconds = Seconds(10);

impl Broker<'_> {
    /// Lets time pass until every job of others has ended that was submitted while applications
    /// were about, and compares with when the same jobs start without them. Jobs of users wait in
    /// queues there. By site, with what is
    /// known of the starts of all jobs of others.
    pub(super) async fn effects(
        &mut self,
    ) -> Result<(Vec<EffectOnOthers>, Vec<Started>), BrokerError> {
        let submitted = self.states.iter().map(|it| it.outcome.submitted);
        let begin = submitted.min().unwrap_or(Seconds::ZERO);
        let ends = self
            .states
            .iter()
            .filter_map(super::ApplicationState::last_end);
        let end = ends.max().unwrap_or(begin);
        let sites = &self.inputs.sites;
        let mut starts: Vec<Vec<Option<Option<Seconds>>>> = sites
            .iter()
            .map(|site| vec![None; site.jobs.len()])
            .collect();
        let mut started: Vec<Started> = vec![Vec::new(); sites.len()];
        let users = &self.inputs.users;
        let counts = |site: usize, job: &Job| {
            job.submit >= begin && job.submit < end && !users.reserves(site, job.id)
        };
        let mut give_up_at = end + LONGEST_WAIT;
        loop {
            let mut open = false;
            self.environment.reports().await?;
            for (index, site) in sites.iter().enumerate() {
                let ended = std::mem::take(&mut self.environment.ended[index]);
                for &(job, start) in &ended {
                    if let Some(known) = starts[index].get_mut(job.0 as usize) {
                        *known = Some(start);
                    }
                }
                started[index].extend(ended);
                let jobs = site.jobs.iter().zip(&starts[index]);
                let mut waiting = jobs.filter(|(job, start)| counts(index, job) && start.is_none());
                open |= waiting.next().is_some();
            }
            if !open || self.environment.now() > give_up_at {
                break;
            }
            if !self.environment.is_over() {
                give_up_at = self.environment.now() + LONGEST_WAIT;
            }
            self.environment
                .pass_to(self.environment.now() + STEP)
                .await?;
        }
        let undisturbed = &self.inputs.background.starts;
        let mut effects = vec![EffectOnOthers::default(); sites.len()];
        for (index, (site, effect)) in sites.iter().zip(&mut effects).enumerate() {
            let mut endless = 0;
            let compared = site.jobs.iter().enumerate();
            for (place, job) in compared.filter(|(_, job)| counts(index, job)) {
                let without = undisturbed.get(index).and_then(|starts| starts.get(place));
                // Jobs that are wider than the site start in neither.
                let Some(Some(without)) = without else {
                    continue;
                };
                match starts[index][place].flatten() {
                    Some(with) => effect.compare(job, with, *without),
                    None => endless += 1,
                }
            }
            if endless > 0 {
                let (site, jobs) = (index, endless);
                return Err(BrokerError::Endless { site, jobs });
            }
        }
        Ok((effects, started))
    }
}

impl EffectOnOthers {
    fn compare(&mut self, job: &Job, start: Seconds, undisturbed: Seconds) {
        let wait = start - job.submit;
        let without = undisturbed - job.submit;
        self.jobs += 1;
        self.delayed += u64::from(wait > without);
        self.wait += wait;
        self.undisturbed_wait += without;
        self.slowdown += slowdown(wait, job.runtime);
        self.undisturbed_slowdown += slowdown(without, job.runtime);
    }
}

/// (wait + run time) ÷ run time, where a run time counts 10 s at least; never below 1.
fn slowdown(wait: Seconds, runtime: Seconds) -> f64 {
    let runs = runtime.max(Seconds(1));
    ((wait + runs).0 as f64 / runs.max(BOUND).0 as f64).max(1.0)
}
