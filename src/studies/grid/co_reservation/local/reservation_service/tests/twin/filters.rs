//! What the filters of a cluster say, second by second.

use super::*;

impl Twin {
    pub(super) fn room(&self, start: Seconds, duration: Seconds, nodes: Nodes) -> bool {
        self.up && start.0 >= self.now && Self::fits(&self.visible(), start.0, duration.0, nodes)
    }

    /// What a further part and those that are promised hold, second by second.
    pub(super) fn held(&self, start: Seconds, duration: Seconds, nodes: Nodes) -> i64 {
        (start.0..(start + duration).0)
            .map(|second| {
                let covers = |order: &PartOrder| {
                    order.start.0 <= second && second < (order.start + order.duration).0
                };
                let parts = self.parts.iter().filter(|(order, _)| covers(order));
                i64::from(nodes.0)
                    + parts
                        .map(|(order, _)| i64::from(order.nodes.0))
                        .sum::<i64>()
            })
            .sum()
    }

    /// What promised parts hold beside CPUs in a second.
    pub(in super::super) fn further_held(&self, second: i64) -> [u32; 2] {
        let covers =
            |order: &PartOrder| (order.start.0..(order.start + order.duration).0).contains(&second);
        let parts = self.parts.iter().filter(|(order, _)| covers(order));
        parts.fold([0, 0], |[licences, storage], (order, _)| {
            let further = order.further;
            [licences + further.licences, storage + further.storage_gb]
        })
    }

    /// What a part lacks in some second: licences if it lacks both.
    pub(super) fn lacking(
        &self,
        start: Seconds,
        duration: Seconds,
        wanted: FurtherCounts,
    ) -> Option<FurtherResource> {
        let most = self.settings.further;
        let is_over = |place: usize, wanted: u32, most: u32| {
            let mut seconds = start.0..(start + duration).0;
            wanted > 0 && seconds.any(|second| self.further_held(second)[place] + wanted > most)
        };
        if is_over(0, wanted.licences, most.licences) {
            Some(FurtherResource::Licences)
        } else if is_over(1, wanted.storage_gb, most.storage_gb) {
            Some(FurtherResource::Storage)
        } else {
            None
        }
    }

    /// The period whose quota holds in a second; none where that of all time does.
    fn period(&self, second: i64) -> Option<usize> {
        self.settings.quota_periods.iter().rposition(|period| {
            period.announced.0 <= self.now
                && (period.start.0..period.end.0).contains(&second)
                && (period.clusters.is_empty() || period.clusters.contains(&self.cluster.0))
        })
    }

    pub(super) fn quota(&self, start: Seconds, duration: Seconds, nodes: Nodes) -> bool {
        let seconds: Vec<i64> = (start.0..(start + duration).0).collect();
        let stretches = seconds.chunk_by(|one, next| self.period(*one) == self.period(*next));
        stretches.into_iter().all(|stretch| {
            let share = match self.period(stretch[0]) {
                Some(period) => Some(self.settings.quota_periods[period].share),
                None => self.settings.quota,
            };
            let length = stretch.len() as i64;
            let held = self.held(Seconds(stretch[0]), Seconds(length), nodes);
            share
                .is_none_or(|share| held as f64 <= share * (self.capacity() * length) as f64 + 1e-6)
        })
    }

    /// The mean over the jobs that ended last of the same user and power of two, else of the same
    /// user, else of all, of five at least; else the constant.
    fn accuracy_of_category(&self, job: &Job) -> f64 {
        let window = self.settings.accuracy_window.0 as usize;
        let from = self.ended.len().saturating_sub(window);
        let last = &self.ended[from..];
        let power = |job: &Job| (0..).find(|power| job.estimate.0 < 1 << power);
        let is_user = |other: &Job| job.user.is_some() && other.user == job.user;
        let is_category = |other: &Job| is_user(other) && power(other) == power(job);
        let categories: [&dyn Fn(&Job) -> bool; 3] = [&is_category, &is_user, &|_| true];
        for category in categories {
            let of_it = || last.iter().filter(|other| category(other));
            let ratio =
                |job: &Job| job.runtime.0.min(job.estimate.0) as f64 / job.estimate.0 as f64;
            if of_it().count() >= 5 {
                return of_it().map(ratio).sum::<f64>() / of_it().count() as f64;
            }
        }
        self.accuracies[0]
    }

    /// CPU-seconds of jobs, and of the parts that `counts`, over the size; less what binary
    /// fractions may be off.
    pub(super) fn backlog(&self, exact: bool, counts: impl Fn(&PartOrder, bool) -> bool) -> f64 {
        let accuracy = |job: &Job| {
            if exact {
                return 1.0;
            }
            let known = match self.settings.accuracy {
                AccuracySource::History | AccuracySource::Work => self.accuracies[0],
                AccuracySource::Running => {
                    self.accuracies.iter().sum::<f64>() / self.accuracies.len() as f64
                }
                AccuracySource::Category => self.accuracy_of_category(job),
            };
            known * self.settings.accuracy_factor
        };
        if self.settings.backlog_work == BacklogWork::Planned {
            let planned = self.planned(None);
            let waiting = planned.iter().zip(&self.queue);
            let waiting = waiting.filter(|(start, _)| self.up && **start < END);
            let waiting = waiting.map(|(start, job)| start + job.estimate.0);
            let running = (self.running.iter()).map(|(job, start)| start + job.estimate.0);
            let last = waiting.chain(running).max().unwrap_or(self.now);
            let of_all = self.settings.accuracy != AccuracySource::Category || exact;
            assert!(of_all, "refused where files are read");
            let any = Job::rigid(JobId(0), Seconds(0), Nodes(1), Seconds(1));
            return (last - self.now) as f64 * accuracy(&any) - 1e-6;
        }
        let full = self.settings.backlog_work == BacklogWork::Full;
        let area = |job: &Job| (job.estimate.0 * i64::from(job.nodes.0)) as f64 * accuracy(job);
        let waiting = self.queue.iter().map(area).sum::<f64>();
        let running = if full {
            self.running.iter().map(|(job, _)| area(job)).sum::<f64>()
        } else {
            let mut sum = 0.0;
            for (job, start) in &self.running {
                let left = accuracy(job) * job.estimate.0 as f64 - (self.now - start) as f64;
                sum += left.max(0.0) * f64::from(job.nodes.0);
            }
            sum
        };
        let parts: i64 = self
            .parts
            .iter()
            .filter(|(order, active)| counts(order, *active))
            .map(|(order, active)| {
                let end = (order.start + order.duration).0;
                let from = if *active && !full {
                    self.now
                } else {
                    order.start.0
                };
                (end - from) * i64::from(order.nodes.0)
            })
            .sum();
        (waiting + running + parts as f64) / self.capacity() as f64 - 1e-6
    }

    /// When each waiting job starts if nobody else comes, second by second; beside a further part
    /// from one second to another.
    fn planned(&self, further: Option<(i64, i64, Nodes)>) -> Vec<i64> {
        let mut free = self.free();
        if let Some((start, end, nodes)) = further {
            for free in &mut free[start.clamp(0, END) as usize..end.clamp(0, END) as usize] {
                *free -= i64::from(nodes.0);
            }
        }
        let mut starts = vec![END; self.queue.len()];
        let mut from = self.now;
        match self.settings.backfilling {
            Backfilling::Conservative | Backfilling::None => {
                for (start, job) in starts.iter_mut().zip(&self.queue) {
                    *start = Self::earliest(&free, from, job);
                    Self::take(&mut free, *start, job);
                    if self.settings.backfilling == Backfilling::None {
                        from = *start;
                    }
                }
            }
            Backfilling::Aggressive => {
                for now in self.now..END {
                    let mut beside = free.clone();
                    let mut reserved = false;
                    for (start, job) in starts.iter_mut().zip(&self.queue) {
                        if *start < END {
                            continue;
                        }
                        if Self::fits(&beside, now, job.estimate.0, job.nodes) {
                            Self::take(&mut beside, now, job);
                            Self::take(&mut free, now, job);
                            *start = now;
                        } else if !reserved {
                            reserved = true;
                            let shadow = Self::earliest(&beside, now, job);
                            Self::take(&mut beside, shadow, job);
                        }
                    }
                }
            }
        }
        starts
    }

    /// Whether a part is over before the last end that the cluster looks ahead to, and delays
    /// nobody.
    pub(super) fn is_harmless(&self, start: i64, end: i64, nodes: Nodes) -> bool {
        let planned = self.planned(None);
        let running = self
            .running
            .iter()
            .map(|(job, start)| start + job.estimate.0);
        let parts = self.parts.iter();
        let parts = parts.map(|(order, _)| (order.start + order.duration).0);
        let waiting = planned.iter().zip(&self.queue);
        let waiting = waiting.filter(|(start, _)| **start < END);
        let waiting = waiting.map(|(start, job)| start + job.estimate.0);
        let ends: BTreeSet<i64> = running.chain(parts).chain(waiting).collect();
        let events = self.settings.look_ahead.0 as usize;
        let last = ends.into_iter().nth(events - 1);
        let delays_nobody = || {
            let beside = self.planned(Some((start, end, nodes)));
            beside.iter().zip(&planned).all(|(then, now)| then <= now)
        };
        self.up
            && start >= self.now
            && last.is_none_or(|last| end < last)
            && Self::fits(&self.free(), start, end - start, nodes)
            && delays_nobody()
    }
}
