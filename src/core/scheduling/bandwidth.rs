//! The bandwidth shared by jobs that write checkpoints at the same time.
//!
//! There are `capacity` shares, and all shares are equal (processor sharing). While the writers
//! have `n > capacity` shares together, each second gives each writer `capacity / n` of a second of
//! writing. If jobs share, `capacity` is 1 and each job has one share. If nodes share, a job has
//! one share for each of its nodes, as it writes that much more. Seconds are whole: the set of
//! writers changes between seconds only, and a write that completes within a second ends with it.

use crate::units::Seconds;
use crate::workload::JobId;

/// The number of parts that a second of writing is divided into: the least common multiple of 1 to
/// 16. Up to 16 writers with one share each share it exactly; otherwise each gets its parts rounded
/// down.
const PARTS: i64 = 720_720;

/// The writers of a cluster, with their progress.
#[derive(Clone, Debug)]
pub(super) struct SharedBandwidth {
    /// What each write takes alone, in parts.
    cost: i64,
    /// How many shares are served in full.
    capacity: i64,
    /// In the order in which they began.
    writers: Vec<Writer>,
    /// Until when `left` of the writers is reckoned.
    reckoned: Seconds,
    /// Raised whenever the next end changes, so that the event of an earlier one is stale.
    version: u32,
    most: u32,
}

#[derive(Clone, Copy, Debug)]
struct Writer {
    job: JobId,
    shares: i64,
    began: Seconds,
    /// What is still to be written, in parts.
    left: i64,
}

impl SharedBandwidth {
    /// No writers yet; an undisturbed write takes `cost` seconds, at least one.
    pub(super) fn new(cost: Seconds, capacity: i64) -> Self {
        Self {
            cost: cost.0.max(1) * PARTS,
            capacity,
            writers: Vec::new(),
            reckoned: Seconds::ZERO,
            version: 0,
            most: 0,
        }
    }

    /// Of the event that tells of the next end.
    pub(super) fn version(&self) -> u32 {
        self.version
    }

    /// How many wrote at once at most.
    pub(super) fn most_writers(&self) -> u32 {
        self.most
    }

    /// The job begins to write now, with this many shares.
    pub(super) fn join(&mut self, now: Seconds, job: JobId, shares: i64) {
        self.reckon(now);
        self.writers.push(Writer {
            job,
            shares,
            began: now,
            left: self.cost,
        });
        self.most = self.most.max(self.writers.len() as u32);
        self.version += 1;
    }

    /// The job writes no longer, through or not: how much of the time others took; `None` if it
    /// does not write.
    pub(super) fn leave(&mut self, now: Seconds, job: JobId) -> Option<Seconds> {
        let place = self.writers.iter().position(|writer| writer.job == job)?;
        self.reckon(now);
        self.version += 1;
        let writer = self.writers.remove(place);
        Some(self.waited(&writer, now))
    }

    /// Takes the jobs whose writes are through, in the order in which these began, each with how
    /// much of the time others took.
    pub(super) fn take_through(&mut self, now: Seconds) -> Vec<(JobId, Seconds)> {
        self.reckon(now);
        self.version += 1;
        let through: Vec<Writer> = self.writers.extract_if(.., |one| one.left <= 0).collect();
        let jobs = through.iter();
        jobs.map(|one| (one.job, self.waited(one, now))).collect()
    }

    /// The end of the next write, if no writer begins or leaves before.
    pub(super) fn next_end(&self) -> Option<Seconds> {
        let least = self.writers.iter().map(|writer| writer.left).min()?;
        let speed = self.speed();
        Some(self.reckoned + Seconds((least.max(0) + speed - 1) / speed))
    }

    /// How much of its write each writer does in a second, in parts of a second.
    fn speed(&self) -> i64 {
        let shares: i64 = self.writers.iter().map(|writer| writer.shares).sum();
        if shares <= self.capacity {
            PARTS
        } else {
            (PARTS * self.capacity / shares).max(1)
        }
    }

    fn reckon(&mut self, now: Seconds) {
        let brought = (now - self.reckoned).0 * self.speed();
        for writer in &mut self.writers {
            writer.left -= brought;
        }
        self.reckoned = now;
    }

    /// Its time until now, without what it wrote in it would have taken alone.
    fn waited(&self, writer: &Writer, now: Seconds) -> Seconds {
        let served = self.cost - writer.left.max(0);
        now - writer.began - Seconds((served + PARTS - 1) / PARTS)
    }
}

#[cfg(test)]
mod tests;
