//! The slot of a new job: full-length slots, and gaps that are too short and pass the acceptance
//! test.

use super::{Comprehensive, OwnRuntime};
use bookahead_core::plan::NodeSet;
use bookahead_core::scheduling::Cluster;
use bookahead_core::scheduling::Placing;
use bookahead_core::scheduling::SuccessFactors;
use bookahead_core::scheduling::Tested;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

/// A slot on concrete nodes that a new job may be given.
pub(super) struct Candidate {
    pub(super) nodes: NodeSet,
    pub(super) start: Seconds,
    pub(super) end: Seconds,
    pub(super) overbooked: bool,
    pub(super) success: Option<SuccessFactors>,
    pub(super) predecessors: Vec<JobId>,
    /// The nodes of a second run in the same window.
    pub(super) second: Option<NodeSet>,
}

impl Candidate {
    /// All of a job's estimate, on nodes that nobody else is planned on; its risk is not weighed.
    pub(super) fn of_full_length(nodes: NodeSet, start: Seconds, end: Seconds) -> Self {
        Self {
            nodes,
            start,
            end,
            overbooked: false,
            success: None,
            predecessors: Vec::new(),
            second: None,
        }
    }
}

/// Time on concrete nodes in which a new job would not have all of its estimate.
pub(super) struct Gap {
    pub(super) nodes: NodeSet,
    /// When the job could start at the earliest, if its predecessors ended at once.
    pub(super) from: Seconds,
    /// The end of the predecessors' reservations.
    pub(super) start: Seconds,
    pub(super) end: Seconds,
}

impl Gap {
    /// Whether a job has no time of its own in it, but only what its predecessors leave.
    fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// How long a job counts as running in it: a gap of no length lies within the time of the
    /// predecessors.
    fn length(&self) -> Seconds {
        if self.is_empty() {
            self.end - self.from
        } else {
            self.end - self.start
        }
    }
}

impl Comprehensive {
    /// The first slot from `from` on that is as long as the estimate.
    pub(super) fn first_full(
        &self,
        cluster: &Cluster,
        job: &Job,
        from: Seconds,
    ) -> Option<Candidate> {
        let starts = self
            .plan
            .candidate_starts(from, job.deadline - job.estimate);
        let usable = Some((cluster.now(), cluster.up()));
        let found = self
            .plan
            .first_full(&starts, job.nodes, job.estimate, usable);
        found.map(|(start, nodes)| Candidate::of_full_length(nodes, start, start + job.estimate))
    }

    /// The slot for a new job, or `None` to drop it: one of more time than its estimate comes first
    /// for an underestimator.
    pub(super) fn place(
        &self,
        cluster: &mut Cluster,
        job: &Job,
        own: Option<&OwnRuntime>,
    ) -> Option<Candidate> {
        let more_time = self.learned.longer(job).and_then(|longer| {
            let longer = Job {
                estimate: longer,
                ..job.clone()
            };
            self.place_as_estimated(cluster, &longer, own)
        });
        more_time.or_else(|| self.place_as_estimated(cluster, job, own))
    }

    fn place_as_estimated(
        &self,
        cluster: &mut Cluster,
        job: &Job,
        own: Option<&OwnRuntime>,
    ) -> Option<Candidate> {
        let from = cluster.now().max(job.release);
        if let Some(shelves) = &self.shelves {
            return shelves.place(&self.plan, cluster, job, from);
        }
        if self.settings.placing == Placing::NearBestFit && !self.settings.test_full_length {
            let full = self.first_full(cluster, job, from);
            let full = full.map(|slot| self.with_second_run(cluster, job, slot));
            return full.or_else(|| {
                self.acceptable(cluster, job, own, from, false)
                    .find(|slot| slot.overbooked)
            });
        }
        match self.settings.placing {
            Placing::FirstFit => self.acceptable(cluster, job, own, from, true).next(),
            Placing::NearBestFit => {
                let full = self
                    .acceptable(cluster, job, own, from, true)
                    .find(|slot| !slot.overbooked);
                full.or_else(|| self.acceptable(cluster, job, own, from, false).next())
            }
            Placing::LastFit => self.acceptable(cluster, job, own, from, true).last(),
            Placing::HighestPos | Placing::BestOpportunity => {
                // A job's fee is the same in every slot: the best is the one with the highest PoS.
                self.acceptable(cluster, job, own, from, true)
                    .reduce(|best, slot| {
                        if probability(&slot) > probability(&best) {
                            slot
                        } else {
                            best
                        }
                    })
            }
        }
    }

    /// Every slot that passes, in order of start: at each candidate start the full-length slot if
    /// there is one (and `with_full`), else the longest one, which may have no length where
    /// jobs overlap their predecessors.
    pub(super) fn acceptable<'a>(
        &'a self,
        cluster: &'a mut Cluster,
        job: &'a Job,
        own: Option<&'a OwnRuntime>,
        from: Seconds,
        with_full: bool,
    ) -> impl Iterator<Item = Candidate> + 'a {
        let mut sweep = self.plan.sweep();
        // Nobody looks again when a release comes, so the time before it would be lost.
        let overlaps = self.overlaps && from == cluster.now();
        // A job that has only what others leave has no time at all if they leave nothing.
        let running = own.filter(|_| overlaps).map(|own| OwnRuntime {
            steps: own.steps.at_least_one(),
            ..*own
        });
        let latest = job.deadline - Seconds(i64::from(!overlaps));
        self.plan
            .candidate_starts(from, latest)
            .into_iter()
            .filter_map(move |start| {
                let usable = Some((cluster.now(), cluster.up()));
                if with_full
                    && start + job.estimate <= job.deadline
                    && let Some((start, nodes)) =
                        self.plan
                            .first_full(&[start], job.nodes, job.estimate, usable)
                {
                    let end = start + job.estimate;
                    let slot = Candidate {
                        success: Some(self.window_on(&nodes, (start, end), 1.0)),
                        ..Candidate::of_full_length(nodes, start, end)
                    };
                    let slot = self.with_second_run(cluster, job, slot);
                    let promised = |success| self.learned.promised(success);
                    let pof = slot.success.as_ref().map_or(1.0, promised);
                    if self.settings.test_full_length
                        && !(self.learned.rule(self.settings.acceptance)).accepts_full_length(pof)
                    {
                        return None;
                    }
                    return Some(slot);
                }
                if !self.overbooks {
                    return None;
                }
                let free = (start < job.deadline)
                    .then(|| sweep.longest_free(start, job.nodes, usable))
                    .flatten();
                if let Some((nodes, next)) = free {
                    let gap = Gap {
                        nodes,
                        from,
                        start,
                        end: job.deadline.min(next),
                    };
                    return self.overbooked(cluster, job, own?, gap);
                }
                let own = running.as_ref().filter(|_| start > from)?;
                let gap = Gap {
                    nodes: sweep.between(start, job.nodes)?,
                    from,
                    start,
                    end: start,
                };
                self.overbooked(cluster, job, own, gap)
            })
    }

    /// The overbooked slot in a gap, if it passes the acceptance test.
    pub(super) fn overbooked(
        &self,
        cluster: &mut Cluster,
        job: &Job,
        own: &OwnRuntime,
        gap: Gap,
    ) -> Option<Candidate> {
        let (length, least) = (gap.length(), self.learned.least_slot(job));
        let wants_all = gap.is_empty() && least >= job.estimate;
        let is_too_short = length <= Seconds::ZERO || length < least || wants_all;
        if is_too_short || (length >= job.estimate && !gap.is_empty()) {
            // A full-length slot on these nodes was offered as such, or is not overbooked.
            return None;
        }
        let available = self.hardware.available_on(&gap.nodes);
        let exposed_from = gap.end - length.min(job.estimate);
        let exposure = self.exposure(job.nodes, (exposed_from, gap.end));
        let survives = (self.hardware).survives_on(&gap.nodes, &exposure);
        let done_by = cluster.done_by(job.id, gap.start, gap.end);
        let rule = self.learned.rule(self.settings.acceptance);
        let room = (done_by - gap.from).0 as f64;
        let runs = || own.steps.moments();
        let share = (gap.end - gap.start).0 as f64 / job.estimate.0 as f64;
        // Whether the slot may pass if T fits with at most this probability.
        let may_pass = |executable: f64| {
            let single = available * executable * survives;
            let surest = if gap.is_empty() {
                single
            } else {
                self.surest(single, executable, share)
            };
            rule.passes(Tested {
                pof: (self.learned).promised_for(1.0 - surest),
                executable,
                time: runs,
                room,
            })
        };
        // The predecessors cannot help more than by ending at once: most slots are ruled out
        // without their distributions.
        let steps = (done_by - gap.from).0 / own.steps.step().0;
        let within = own
            .steps
            .cdf_at_steps(u32::try_from(steps).unwrap_or(u32::MAX));
        if !may_pass(within) {
            return None;
        }
        cluster.work.pof_evaluations += 1;
        let predecessors = self.plan.predecessors(&gap.nodes, gap.from, gap.start);
        let follows_at_once = |&last: &JobId| {
            let last = self.plan.reservation(last);
            last.is_some_and(|last| last.end == gap.start)
        };
        if gap.is_empty() && !predecessors.first().is_some_and(follows_at_once) {
            // All of the nodes are free before: a gap with a length of its own was looked at.
            return None;
        }
        if !may_pass(self.executable_at_most(own, &predecessors, &gap, done_by)) {
            return None;
        }
        let single = SuccessFactors {
            available,
            executable: self.executable(cluster, job, own, &predecessors, &gap, done_by),
            survives,
        };
        let window = (&gap.nodes, gap.start, gap.end);
        let both = (!gap.is_empty())
            .then(|| self.second_run(cluster, job, Some(own), window, done_by, &single))
            .flatten();
        let (second, success) = match both {
            Some((nodes, success)) => (Some(nodes), success),
            None => (None, single),
        };
        let passes = rule.passes(Tested {
            pof: self.learned.promised(&success),
            executable: success.executable,
            time: || self.wait(cluster, &predecessors, &gap, own).plus(runs()),
            room,
        });
        passes.then_some(Candidate {
            nodes: gap.nodes,
            start: gap.start,
            end: gap.end,
            overbooked: true,
            success: Some(success),
            predecessors,
            second,
        })
    }
}

fn probability(slot: &Candidate) -> f64 {
    slot.success.map_or(1.0, |success| success.pos())
}
