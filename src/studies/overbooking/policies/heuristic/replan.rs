//! Restores the plan after an end, a failure or a repair.

use bookahead_core::plan::Fit;
use bookahead_core::scheduling::{Cluster, ReplanPasses, Retry};
use bookahead_core::units::Seconds;
use bookahead_core::workload::JobId;

use super::Heuristic;
use super::best_slot::best_slot;

impl Heuristic {
    /// Rebuilds the plan (docs/counted-plan.md, "Moving slots forward"): first
    /// the jobs that have no slot, then every planned job in order of (planned start, id), each
    /// taken out alone and put back, then the windows of running overbooked jobs.
    pub(super) fn replan(&mut self, cluster: &mut Cluster) {
        if self.settings.recovery.retry == Retry::Events {
            self.retry_waiting(cluster);
        }
        self.compress(cluster);
    }

    pub(super) fn compress(&mut self, cluster: &mut Cluster) {
        cluster.work.replans += 1;
        loop {
            let moved = self.pull_forward(cluster);
            if !moved || self.settings.replan_passes == ReplanPasses::Once {
                break;
            }
        }
        self.extend_windows(cluster);
    }

    fn pull_forward(&mut self, cluster: &mut Cluster) -> bool {
        let now = cluster.now();
        let mut moved = false;
        for slot in &mut self.planned {
            let from = now.max(slot.release);
            if slot.start <= from && slot.is_full() {
                continue;
            }
            let better = if slot.is_full() {
                let Some(start) = self.profile.earliest_fit(Fit {
                    from,
                    latest: slot.start - Seconds(1),
                    nodes: slot.nodes,
                    duration: slot.longest,
                    own_start: Some(slot.start),
                }) else {
                    continue;
                };
                self.profile.release(slot.start, slot.end, slot.nodes);
                (start, start + slot.longest)
            } else {
                self.profile.release(slot.start, slot.end, slot.nodes);
                let latest = slot.start.max(from);
                best_slot(&self.profile, slot, from, latest)
                    .filter(|&(start, end)| end - start >= slot.end - slot.start)
                    .unwrap_or((slot.start, slot.end))
            };
            self.profile.reserve(better.0, better.1, slot.nodes);
            if better != (slot.start, slot.end) {
                moved = true;
                if better.0 != slot.start {
                    cluster.work.moves += 1;
                    cluster.plan(slot.job, better.0);
                }
                (slot.start, slot.end) = better;
            }
        }
        if moved {
            self.planned
                .sort_unstable_by_key(|slot| (slot.start, slot.job));
        }
        moved
    }

    fn extend_windows(&mut self, cluster: &mut Cluster) {
        for slot in &mut self.running {
            let limit = (slot.start + slot.longest).min(slot.deadline);
            if slot.end >= limit || cluster.is_closing(slot.job) {
                continue;
            }
            let end = self.profile.first_below(slot.end, slot.nodes).min(limit);
            if end > slot.end {
                self.profile.reserve(slot.end, end, slot.nodes);
                slot.end = end;
                cluster.set_window_end(slot.job, end);
            }
        }
    }

    /// Lengthens the window of a running job beyond its estimate, as far as nodes are free.
    pub(super) fn lengthen(&mut self, cluster: &mut Cluster, job: JobId, until: Seconds) {
        self.refresh_for(cluster);
        let Some(slot) = self.running.iter_mut().find(|slot| slot.job == job) else {
            return;
        };
        let end = self.profile.first_below(slot.end, slot.nodes).min(until);
        if end > slot.start + slot.longest {
            self.profile.reserve(slot.end, end, slot.nodes);
            (slot.end, slot.longest) = (end, end - slot.start);
            cluster.lengthen(job, end);
        }
    }
}
