//! Windows that are sold over the tails of jobs, in a plan that counts nodes.

use bookahead_core::estimates::{Tail, probability_of_room};
use bookahead_core::scheduling::{Cluster, Phase, WindowQuote};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::JobId;

use super::{Heuristic, Slot};

impl Heuristic {
    /// What can be promised of a window that does not lie in the past.
    pub(super) fn quote(
        &self,
        cluster: &Cluster,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> Option<WindowQuote> {
        if self.down == 0 && self.profile.min_free(start, end) >= nodes.0 as i32 {
            return Some(self.quoted(nodes, (start, end), 1.0, true));
        }
        let tails = self.tails(cluster, start);
        let (room, least_free) = self.room(cluster, &tails, nodes, start, end);
        let free = least_free >= i64::from(nodes.0);
        if room.iter().any(|&room| room < 0) {
            return None;
        }
        let executable = if free {
            1.0
        } else if tails.is_empty() {
            return None;
        } else {
            probability_of_room(&tails, &room)
        };
        Some(self.quoted(nodes, (start, end), executable, free))
    }

    fn quoted(
        &self,
        nodes: Nodes,
        span: (Seconds, Seconds),
        executable: f64,
        free: bool,
    ) -> WindowQuote {
        WindowQuote {
            success: self.window(nodes, span, executable),
            free,
            tested: !free || self.settings.test_full_length,
        }
    }

    pub(super) fn admit(&mut self, cluster: &mut Cluster, id: JobId, free: bool) {
        self.refresh_for(cluster);
        let job = cluster.job(id).clone();
        let Some((start, end)) = job.fixed_window() else {
            return;
        };
        cluster.promise_reservation(id);
        let slot = Slot::of(cluster, &job, start, end);
        self.enter(cluster, slot);
        if !free {
            self.oversold.push(id);
        }
    }

    pub(super) fn withdraw(&mut self, cluster: &mut Cluster, job: JobId) {
        self.refresh_for(cluster);
        self.oversold.retain(|&other| other != job);
        self.waiting.retain(|waiting| waiting.slot.job != job);
        self.free(cluster, job);
        self.drop_copy(cluster, job);
        cluster.withdraw(job);
        self.replan(cluster);
    }

    /// Whether the plan, as it turned out, has room for a window over tails that is due, which is
    /// not among the planned ones any more. Afterwards its risk is gone, one way or the other.
    pub(super) fn has_room(&mut self, cluster: &Cluster, window: &Slot) -> bool {
        self.refresh_for(cluster);
        let mut later = Vec::new();
        if let Some(rank) = self.oversold.iter().position(|&job| job == window.job) {
            later.extend_from_slice(&self.oversold[rank + 1..]);
            self.oversold.remove(rank);
        }
        let sold_later: Vec<Slot> = self
            .planned
            .iter()
            .filter(|slot| later.contains(&slot.job))
            .copied()
            .collect();
        for slot in &sold_later {
            self.profile.release(slot.start, slot.end, slot.nodes);
        }
        // The window itself is in the profile, so that nothing may be missing.
        let fits = self.profile.min_free(window.start, window.end) >= 0;
        for slot in &sold_later {
            self.profile.reserve(slot.start, slot.end, slot.nodes);
        }
        fits
    }

    /// Gives up a window over tails that have not ended: its nodes are planned anew.
    pub(super) fn lose_window(&mut self, cluster: &mut Cluster, window: &Slot) {
        self.profile
            .release(cluster.now(), window.end, window.nodes);
        cluster.fail(window.job);
        self.replan(cluster);
    }

    /// The jobs in front that may still hold nodes at `start`, the one that may last longest first.
    /// Without statistics no job is expected to end early, nor is one of an underestimator for whom
    /// more time is planned.
    fn tails(&self, cluster: &Cluster, start: Seconds) -> Vec<Tail> {
        if !self.overbooks {
            return Vec::new();
        }
        let mut tails: Vec<Tail> = self
            .planned
            .iter()
            .chain(&self.running)
            .filter(|slot| slot.start < start && slot.end > start)
            .filter(|slot| !cluster.is_reservation(slot.job))
            .filter(|slot| self.learned.longer(cluster.job(slot.job)).is_none())
            .filter_map(|slot| {
                let (_, distribution) = self.learned.lookup(cluster.job(slot.job))?;
                let lasts =
                    |time: Seconds| 1.0 - distribution.cdf_at(time - slot.start, slot.estimate);
                let holds = if cluster.phase(slot.job) == Phase::Running {
                    let so_far = lasts(cluster.now());
                    if so_far > 0.0 {
                        lasts(start) / so_far
                    } else {
                        1.0
                    }
                } else {
                    lasts(start)
                };
                Some(Tail {
                    nodes: slot.nodes,
                    holds,
                    until: slot.end,
                })
            })
            .collect();
        tails.sort_by_key(|tail| std::cmp::Reverse(tail.until));
        tails
    }

    /// How many nodes tails may hold while exactly the first `k` of them can last, for each `k`,
    /// and the smallest free count in the window if all of them do.
    fn room(
        &self,
        cluster: &Cluster,
        tails: &[Tail],
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> (Vec<i64>, i64) {
        let held: Vec<i64> = std::iter::once(0)
            .chain(tails.iter().scan(0, |sum, tail| {
                *sum += i64::from(tail.nodes);
                Some(*sum)
            }))
            .collect();
        let mut room = vec![i64::MAX; tails.len() + 1];
        let mut least_free = i64::MAX;
        let expected_down = if self.down > 0 {
            self.horizon(cluster.now())
        } else {
            self.down_until
        };
        let mut time = start;
        while time < end {
            let lasting = tails.partition_point(|tail| tail.until > time);
            let mut free = i64::from(self.profile.free_at(time));
            // The profile counts nodes as down from when it was last brought to the present.
            let mut next = end;
            for (until, sign) in [(self.down_until, 1), (expected_down, -1)] {
                if time < until {
                    free += sign * i64::from(self.down);
                    next = next.min(until);
                }
            }
            least_free = least_free.min(free);
            room[lasting] = room[lasting].min(free + held[lasting] - i64::from(nodes.0));
            if let Some(change) = self.profile.next_change(time) {
                next = next.min(change);
            }
            if lasting > 0 {
                next = next.min(tails[lasting - 1].until);
            }
            time = next;
        }
        (room, least_free)
    }
}
