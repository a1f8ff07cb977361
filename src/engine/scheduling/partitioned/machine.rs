//! The events of a machine with partitions: submissions, ends of jobs, and ends of windows.
//!
//! All events of a second come first (ends, windows, submissions), then one pass over the waiting jobs.

use std::cmp::Reverse;

use super::description::{Backfilling, PartitionedJob, PartitionedMachine};
use super::pass::{Pass, Reach};
use super::queue::Queue;
use super::site::Site;
use crate::units::Seconds;

/// Works off all jobs.
pub(super) fn work_off<'a>(
    machine: &'a PartitionedMachine,
    jobs: &'a [PartitionedJob],
) -> Site<'a> {
    debug_assert!(jobs.is_sorted_by_key(|job| job.submit), "in order");
    let mut site = Site::new(machine, jobs);
    let mut queue = Queue::default();
    let mut pass = Pass::new(machine.classes.len(), machine.partitions.len());
    let mut window_ends: Vec<Seconds> = machine.windows.iter().map(|window| window.end).collect();
    window_ends.sort_unstable_by_key(|end| Reverse(*end));
    let mut submitted = 0;
    let mut next_backfilling = None;
    loop {
        let next_submission = jobs.get(submitted).map(|job| job.submit);
        let mut next = [site.next_end(), next_submission]
            .into_iter()
            .flatten()
            .min();
        if !queue.waiting.is_empty() {
            let others = [next_backfilling, window_ends.last().copied()];
            next = others.into_iter().flatten().chain(next).min();
        }
        let Some(now) = next else {
            return site;
        };
        site.end_until(now);
        if window_ends.pop_if(|end| *end <= now).is_some() {
            while window_ends.pop_if(|end| *end <= now).is_some() {}
            site.pool.forget_windows(now);
        }
        while let Some(job) = jobs.get(submitted)
            && job.submit <= now
        {
            if let Some(waiting) = site.submit(submitted) {
                queue.push(waiting, &site.priorities);
            }
            submitted += 1;
        }
        let reach = reach_of(machine.backfilling, now);
        next_backfilling = reach.err().flatten();
        pass.hold(&mut site, &mut queue, reach.ok(), now);
    }
}

/// How far a pass backfills that is held now; otherwise when one that backfills has to follow.
fn reach_of(backfilling: Backfilling, now: Seconds) -> Result<Reach, Option<Seconds>> {
    let Backfilling::Reserving {
        depth,
        tested,
        interval,
        window,
    } = backfilling
    else {
        return Err(None);
    };
    let interval = interval.0.max(1);
    let since = now.0.rem_euclid(interval);
    if since == 0 {
        Ok(Reach {
            depth,
            tested,
            window,
        })
    } else {
        Err(Some(Seconds(now.0 - since + interval)))
    }
}
