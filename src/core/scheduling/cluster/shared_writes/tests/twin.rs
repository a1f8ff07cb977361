//! A slow twin of shared writes: it looks at every job in every second.

use super::*;

/// What a job of the twin does on its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    /// Reads until then, and computes.
    Computes { from: i64 },
    /// Writes so much work since then; so much is left of the write, in parts of a second.
    Writes { work: i64, since: i64, left: i64 },
    /// Stands still behind its last checkpoint.
    Waits,
}

/// A job, second by second.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    job: Job,
    settings: CheckpointSettings,
    up: Vec<bool>,
    nodes: Vec<usize>,
    does: Option<Does>,
    window_end: i64,
    /// When it stops computing for the end of its window.
    stop: Option<i64>,
    /// Saved before this run, what of it outlives a failure, and written in it.
    saved: i64,
    durable: i64,
    written: i64,
    suspended: Option<i64>,
    pub(super) runs: Execution,
    pub(super) outcome: Option<(Verdict, i64)>,
}

const PARTS: i64 = 720_720;

impl Watched {
    fn new(job: &Job, settings: CheckpointSettings) -> Self {
        Self {
            job: job.clone(),
            settings,
            up: vec![true; BLOCK as usize],
            nodes: Vec::new(),
            does: None,
            window_end: 0,
            stop: None,
            saved: 0,
            durable: 0,
            written: 0,
            suspended: None,
            runs: Execution::default(),
            outcome: None,
        }
    }

    fn interval(&self) -> i64 {
        match self.settings.interval {
            CheckpointInterval::Fixed(interval) => interval.0,
            _ => unreachable!("the cases have fixed intervals"),
        }
    }

    fn reads(&self) -> i64 {
        if self.saved > 0 && self.suspended.is_none() {
            self.settings.restart.0
        } else {
            0
        }
    }

    /// How long so much work takes alone.
    fn alone(&self, work: i64) -> i64 {
        (1..=work).fold(0, |held, done| {
            let writes = done % self.interval() == 0 && done < work;
            held + 1 + if writes { self.settings.cost.0 } else { 0 }
        })
    }

    fn start(&mut self, now: i64, window: Option<i64>, verdict: Verdict) {
        let width = self.job.nodes.0 as usize;
        let idle = (0..self.up.len()).filter(|&node| self.up[node]);
        self.nodes = idle.take(width).collect();
        if self.nodes.len() < width {
            self.finish(now, verdict);
            return;
        }
        let reads = self.reads();
        let length = window.unwrap_or(reads + self.alone(self.job.estimate.0 - self.saved));
        if let Some(since) = self.suspended.take() {
            self.runs.suspended += Seconds(now - since);
        }
        self.runs.resumed += u32::from(self.saved > 0);
        self.written = 0;
        self.window_end = (now + length).min(self.job.deadline.0);
        self.does = Some(Does::Computes { from: now + reads });
        self.plan_stop(now + reads, now);
    }

    fn plan_stop(&mut self, from: i64, now: i64) {
        let (end, deadline) = (self.window_end, self.job.deadline.0);
        let rest = self.job.estimate.0 - self.saved - self.written;
        let stop = end - self.settings.cost.0;
        self.stop = match self.settings.gap_end {
            GapEnd::Kill => None,
            GapEnd::Suspend => (end > from && end < deadline).then_some(end),
            GapEnd::Checkpoint => (end < from + self.alone(rest)
                && stop > from.max(now)
                && end + self.settings.restart.0 < deadline)
                .then_some(stop),
        };
    }

    fn is_closing(&self, now: i64) -> bool {
        self.stop.is_some_and(|stop| now >= stop)
    }

    /// The write is through.
    fn finish_write(&mut self, now: i64) {
        if let Some(Does::Writes { work, since, left }) = self.does
            && left <= 0
        {
            self.written += work;
            self.runs.waited += Seconds(now - since - self.settings.cost.0);
            self.does = Some(Does::Waits);
            if !self.is_closing(now) {
                self.does = Some(Does::Computes { from: now });
                self.plan_stop(now, now);
            }
        }
    }

    /// Work of this run.
    fn work(&self, now: i64) -> i64 {
        self.written
            + match self.does {
                Some(Does::Computes { from }) => (now - from).max(0),
                Some(Does::Writes { work, .. }) => work,
                Some(Does::Waits) | None => 0,
            }
    }

    fn is_done(&self, now: i64) -> bool {
        let target = self.job.runtime.0.min(self.job.estimate.0);
        matches!(self.does, Some(Does::Computes { .. })) && self.saved + self.work(now) == target
    }

    fn leave(&mut self, now: i64, kept: i64) {
        if let Some(Does::Writes { since, left, .. }) = self.does {
            let served = self.settings.cost.0 * PARTS - left;
            self.runs.waited += Seconds(now - since - (served + PARTS - 1) / PARTS);
        }
        let work = self.work(now);
        self.runs.useful += Seconds(kept - self.saved);
        self.runs.lost += Seconds(self.saved + work - kept);
        self.saved = kept;
        self.does = None;
        self.nodes.clear();
    }

    fn finish(&mut self, now: i64, verdict: Verdict) {
        if let Some(since) = self.suspended.take() {
            self.runs.suspended += Seconds(now - since);
        }
        self.outcome = Some((verdict, now));
    }

    /// Its work is done or its window over.
    fn end(&mut self, now: i64, window: Option<i64>) {
        if self.does.is_some() && self.is_done(now) {
            self.leave(now, self.saved + self.work(now));
            let verdict = if self.job.runtime <= self.job.estimate {
                Verdict::SuccessfulFinished
            } else {
                Verdict::SuccessfulFullGrant
            };
            self.finish(now, verdict);
        } else if self.does.is_some() && now == self.window_end {
            let suspends = self.settings.gap_end == GapEnd::Suspend && self.stop.is_some();
            if self.written > 0 {
                self.durable = self.saved + self.written;
            }
            let kept = if suspends {
                self.saved + self.work(now)
            } else {
                self.saved + self.written
            };
            self.leave(now, kept);
            self.runs.stops += 1;
            if suspends {
                self.suspended = Some(now);
            }
            if now + self.reads() < self.job.deadline.0 {
                self.start(now, window, Verdict::FailedOverbooked);
            } else {
                self.finish(now, Verdict::FailedOverbooked);
            }
        }
    }

    fn lose_node(&mut self, now: i64, node: usize, window: Option<i64>) {
        self.up[node] = false;
        if self.nodes.contains(&node) {
            if self.written > 0 {
                self.durable = self.saved + self.written;
            }
            self.leave(now, self.durable);
            self.start(now, window, Verdict::FailedNodes);
        }
    }

    fn begin_write(&mut self, now: i64) {
        let Some(Does::Computes { from }) = self.does else {
            return;
        };
        let closes = self.settings.gap_end == GapEnd::Checkpoint && self.stop == Some(now);
        if closes || now - from == self.interval() {
            self.does = Some(Does::Writes {
                work: now - from,
                since: now,
                left: self.settings.cost.0 * PARTS,
            });
        }
    }

    fn pass_second(&mut self, now: i64, speed: i64) {
        match &mut self.does {
            None => {}
            Some(Does::Computes { from }) => self.runs.read += Seconds(i64::from(now < *from)),
            Some(Does::Writes { left, .. }) => {
                *left -= speed;
                self.runs.written += Seconds(1);
            }
            Some(Does::Waits) => self.runs.written += Seconds(1),
        }
    }
}

/// Every second of all jobs; how many wrote at once at most.
pub(super) fn watch(case: &Case) -> (Vec<Watched>, u32) {
    let watched = case.jobs.iter().map(|job| Watched::new(job, case.settings));
    let mut watched: Vec<Watched> = watched.collect();
    let mut most = 0;
    for now in 0.. {
        if watched.iter().all(|job| job.outcome.is_some()) {
            break;
        }
        for job in &mut watched {
            job.finish_write(now);
        }
        for (job, &window) in watched.iter_mut().zip(&case.windows) {
            job.end(now, window);
        }
        for event in case.failures.iter().filter(|event| event.time.0 == now) {
            let (block, node) = (event.node.0 / BLOCK, event.node.0 % BLOCK);
            watched[block as usize].lose_node(now, node as usize, case.windows[block as usize]);
        }
        for job in &mut watched {
            job.begin_write(now);
        }
        for id in 0..watched.len() {
            if watched[id].job.submit.0 != now {
                continue;
            }
            watched[id].start(now, case.windows[id], Verdict::FailedUnstartable);
            for other in &mut watched[..id] {
                if other.does.is_some() && !other.is_closing(now) && case.longer > 0 {
                    other.window_end = (other.window_end + case.longer).min(other.job.deadline.0);
                    let from = match other.does {
                        Some(Does::Computes { from }) => from,
                        Some(Does::Writes { work, since, .. }) => since - work,
                        Some(Does::Waits) | None => now,
                    };
                    other.plan_stop(from, now);
                }
            }
        }
        let writes = |job: &&Watched| matches!(job.does, Some(Does::Writes { .. }));
        let writers = watched.iter().filter(writes).count() as u32;
        most = most.max(writers);
        let nodes: u32 = watched
            .iter()
            .filter(writes)
            .map(|job| job.job.nodes.0)
            .sum();
        let speed = match case.settings.bandwidth {
            Bandwidth::Own => PARTS,
            Bandwidth::SharedByJobs => PARTS / i64::from(writers.max(1)),
            Bandwidth::SharedByNodes(Nodes(most)) => {
                PARTS * i64::from(most) / i64::from(nodes.max(most))
            }
        };
        for job in &mut watched {
            job.pass_second(now, speed);
        }
    }
    (watched, most)
}
