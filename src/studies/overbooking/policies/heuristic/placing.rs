//! The slot of a new job: full-length ones, and shorter ones that pass the acceptance test.

use std::sync::Arc;

use super::Heuristic;
use bookahead_core::estimates::RatioDistribution;
use bookahead_core::plan::Fit;
use bookahead_core::scheduling::Cluster;
use bookahead_core::scheduling::Placing;
use bookahead_core::scheduling::SuccessFactors;
use bookahead_core::scheduling::Tested;
use bookahead_core::units::Seconds;
use bookahead_core::workload::Job;

/// The class of a job and its distribution.
pub(super) type OwnRatios = (u16, Arc<RatioDistribution>);

/// A slot that a new job may be given.
pub(super) struct Candidate {
    pub(super) start: Seconds,
    pub(super) end: Seconds,
    pub(super) overbooked: bool,
    pub(super) success: Option<SuccessFactors>,
    /// Whether it is that of two runs on disjoint nodes.
    pub(super) doubled: bool,
}

impl Heuristic {
    /// The slot for a new job, or `None` to drop it: one of more time than its estimate comes first
    /// for an underestimator.
    pub(super) fn place(
        &self,
        cluster: &mut Cluster,
        job: &Job,
    ) -> (Option<Candidate>, Option<OwnRatios>) {
        if let Some(longer) = self.learned.longer(job) {
            let longer = Job {
                estimate: longer,
                ..job.clone()
            };
            let found = self.place_as_estimated(cluster, &longer);
            if found.0.is_some() {
                return found;
            }
        }
        self.place_as_estimated(cluster, job)
    }

    fn place_as_estimated(
        &self,
        cluster: &mut Cluster,
        job: &Job,
    ) -> (Option<Candidate>, Option<OwnRatios>) {
        let from = cluster.now().max(job.release);
        if self.settings.placing == Placing::NearBestFit && !self.settings.test_full_length {
            if let Some(start) = self.earliest_full(job, from) {
                return (Some(self.full(job, start)), None);
            }
            if !self.overbooks {
                return (None, None);
            }
        }
        let own = self.own_ratios(cluster.as_submitted(job));
        let distribution = own
            .as_ref()
            .map(|(_, distribution)| Arc::clone(distribution));
        let mut slots = self.acceptable(cluster, job, from, distribution.as_deref());
        let chosen = match self.settings.placing {
            Placing::FirstFit => slots.next(),
            Placing::NearBestFit => {
                let mut first = None;
                let mut full = None;
                for slot in slots {
                    if !slot.overbooked {
                        full = Some(slot);
                        break;
                    }
                    if first.is_none() {
                        first = Some(slot);
                        if !self.settings.test_full_length {
                            break;
                        }
                    }
                }
                full.or(first)
            }
            Placing::LastFit => slots.last(),
            Placing::HighestPos | Placing::BestOpportunity => {
                // The fee of a job is the same in every slot, so the biggest opportunity is the
                // highest PoS.
                slots.reduce(|best, slot| {
                    if probability(&slot) > probability(&best) {
                        slot
                    } else {
                        best
                    }
                })
            }
        };
        (chosen, own)
    }

    /// The class of a job and its distribution; `None` for strategies that do not overbook.
    pub(super) fn own_ratios(&self, job: &Job) -> Option<OwnRatios> {
        self.overbooks.then(|| self.learned.lookup(job)).flatten()
    }

    fn earliest_full(&self, job: &Job, from: Seconds) -> Option<Seconds> {
        self.profile.earliest_fit(Fit {
            from,
            latest: job.deadline - job.estimate,
            nodes: job.nodes.0,
            duration: job.estimate,
            own_start: None,
        })
    }

    fn full(&self, job: &Job, start: Seconds) -> Candidate {
        let end = start + job.estimate;
        let single = || self.window(job.nodes, (start, end), 1.0);
        let doubled = (self.settings.double_execution)
            .and_then(|_| self.doubled(job, (start, end), &single()));
        Candidate {
            start,
            end,
            overbooked: false,
            success: doubled,
            doubled: doubled.is_some(),
        }
    }

    /// Every slot that passes, in order of start.
    pub(super) fn acceptable<'a>(
        &'a self,
        cluster: &'a mut Cluster,
        job: &'a Job,
        from: Seconds,
        distribution: Option<&'a RatioDistribution>,
    ) -> impl Iterator<Item = Candidate> + 'a {
        let nodes = job.nodes.0;
        let available = self.hardware.available(job.nodes);
        let least = self.learned.least_slot(job);
        let first = (self.profile.free_at(from) >= nodes as i32).then_some(from);
        let mut last = from;
        let mut pending = first;
        std::iter::from_fn(move || {
            let start = match pending.take() {
                Some(start) => start,
                None => self.profile.next_rise(last, job.deadline, nodes)?,
            };
            last = start;
            Some(start)
        })
        .filter_map(move |start| {
            let end = self.profile.first_below(start, nodes).min(job.deadline);
            if end <= start {
                return None;
            }
            let length = (end - start).min(job.estimate);
            let overbooked = length < job.estimate;
            if overbooked && (!self.overbooks || length < least) {
                return None;
            }
            let executable = match distribution {
                _ if !overbooked => 1.0,
                Some(distribution) => cluster.executable(job, distribution, start, start + length),
                None => 0.0,
            };
            let single = SuccessFactors {
                available,
                executable,
                survives: (self.hardware).survives(
                    job.nodes,
                    &self.exposure(job.nodes, (start, start + length)),
                ),
            };
            let doubled = self.doubled(job, (start, start + length), &single);
            let success = doubled.unwrap_or(single);
            let tested = overbooked || self.settings.test_full_length;
            if tested {
                cluster.work.pof_evaluations += 1;
                let rule = self.learned.rule(self.settings.acceptance);
                let pof = self.learned.promised(&success);
                let passes = match distribution {
                    _ if !overbooked => rule.accepts_full_length(pof),
                    Some(distribution) => rule.passes(Tested {
                        pof,
                        executable,
                        time: || distribution.moments(),
                        room: length.0 as f64 / job.estimate.0 as f64,
                    }),
                    // Without statistics no job is expected to end early.
                    None => false,
                };
                if !passes {
                    return None;
                }
            }
            Some(Candidate {
                start,
                end: start + length,
                overbooked,
                success: Some(success),
                doubled: doubled.is_some(),
            })
        })
    }
}

fn probability(slot: &Candidate) -> f64 {
    slot.success.map_or(1.0, |success| success.pos())
}
