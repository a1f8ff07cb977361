//! The events of a machine with partitions: submissions, ends of jobs, and ends of windows.
//!
//! All events of a second come first (ends, windows, submissions), then one pass over the waiting
//! jobs.

use std::collections::VecDeque;
use std::sync::Arc;

use bookahead_core::kernel::{Listed, Machine, NoService, Scene, Step};
use bookahead_core::units::Seconds;

use super::MachineQueueOutcome;
use super::description::{Backfilling, MachineQueueJob, QueueMachine};
use super::pass::{BackfillLimits, Pass};
use super::queue::Queue;
use super::site::{Event, Site};

/// A machine with partitions and the client of its jobs, which are in order of submission.
///
/// # Panics
/// If a partition or window names a class that the machine does not have; when it is played, if a
/// job names what it does not have.
#[must_use]
pub fn machine_queue_scene(
    machine: &Arc<QueueMachine>,
    jobs: &Arc<[MachineQueueJob]>,
) -> Scene<MachineQueuePlan> {
    debug_assert!(jobs.is_sorted_by_key(|job| job.submit), "in order");
    let submit =
        |input: &mut Vec<MachineQueueJob>, jobs: &[MachineQueueJob]| input.extend_from_slice(jobs);
    let time = |job: &MachineQueueJob| job.submit;
    let client = Listed::new(Arc::clone(jobs), time, submit);
    Scene::new("machine", MachineQueuePlan::new(machine, jobs)).with("client", client)
}

/// A machine with partitions, with its running and waiting jobs.
#[derive(Debug)]
pub struct MachineQueuePlan {
    pub(super) site: Site,
    queue: Queue,
    pass: Pass,
    /// Jobs to be submitted, in order.
    arriving: VecDeque<MachineQueueJob>,
    /// The time for which a backfilling pass was last scheduled.
    next_backfilling: Option<Seconds>,
}

impl Machine for MachineQueuePlan {
    type Input = Vec<MachineQueueJob>;
    type Output = ();
    type Service = NoService;

    fn take(&mut self, jobs: Vec<MachineQueueJob>) {
        let event = Event::Submission;
        for job in &jobs {
            self.site.events.push_next(job.submit, event.class(), event);
        }
        self.arriving.extend(jobs);
    }

    fn advance(&mut self, until: Seconds) -> Step<NoService> {
        while let Some((now, event)) = self.site.events.pop_before(until) {
            match event {
                Event::End(job) => self.site.end(job, now),
                Event::WindowEnd => self.site.pool.forget_windows(now),
                Event::Submission => self.submit(),
                Event::Pass => {}
            }
            if self.site.events.next_time() != Some(now) {
                self.hold_pass(now);
            }
        }
        Step::Reached(until)
    }

    fn next_event(&self) -> Option<Seconds> {
        self.site.events.next_time()
    }

    fn is_idle(&self) -> bool {
        self.arriving.is_empty() && self.queue.waiting.is_empty() && self.site.is_empty()
    }

    fn hand_out(&mut self) {}
}

impl MachineQueuePlan {
    /// An empty machine. Shares are held by the users of `jobs`, which are submitted later.
    fn new(machine: &Arc<QueueMachine>, jobs: &[MachineQueueJob]) -> Self {
        let mut queue = Self {
            site: Site::new(machine, jobs),
            queue: Queue::default(),
            pass: Pass::new(machine.classes.len(), machine.partitions.len()),
            arriving: VecDeque::new(),
            next_backfilling: None,
        };
        for window in &machine.windows {
            queue.enter(window.end, Event::WindowEnd);
        }
        queue
    }

    /// The outcomes of the jobs, once all have ended: one each, in order of submission.
    #[must_use]
    pub fn into_outcomes(self) -> Vec<MachineQueueOutcome> {
        self.site.outcomes
    }

    fn enter(&mut self, time: Seconds, event: Event) {
        self.site.events.push(time, event.class(), event);
    }

    fn submit(&mut self) {
        if let Some(job) = self.arriving.pop_front()
            && let Some(waiting) = self.site.submit(&job)
        {
            self.queue.push(waiting, &self.site.priorities);
        }
    }

    fn hold_pass(&mut self, now: Seconds) {
        let limits = backfill_limits(self.site.machine.backfilling, now);
        let follows = limits.err().flatten();
        self.pass
            .hold(&mut self.site, &mut self.queue, limits.ok(), now);
        if let Some(next) = follows
            && !self.queue.waiting.is_empty()
            && self.next_backfilling != follows
        {
            self.next_backfilling = follows;
            self.enter(next, Event::Pass);
        }
    }
}

/// The limits of backfilling in a pass now; as an error, the time when the next backfilling pass
/// has to follow.
fn backfill_limits(
    backfilling: Backfilling,
    now: Seconds,
) -> Result<BackfillLimits, Option<Seconds>> {
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
        Ok(BackfillLimits {
            depth,
            tested,
            window,
        })
    } else {
        Err(Some(Seconds(now.0 - since + interval)))
    }
}
