//! One pass over a queue: who starts now.

use super::plan::{earliest, take};
use super::view::View;
use super::{Backfilling, Waiting, conservative};
use crate::plan::Profile;
use crate::units::Seconds;

/// What is fixed beside the queue, and what becomes of those whom a pass looks at.
pub(in crate::scheduling) trait Room {
    /// The job fits, and starts now.
    fn start(&mut self, waiting: &Waiting);

    /// A place is kept for a job that does not fit now: `view` becomes what may be had beside it.
    fn hold(&mut self, waiting: &Waiting, view: &mut View);
}

/// Goes over `queue` in its order. Whoever fits `view`, which is what may be had now, starts; of the others the first `depth`
/// are kept places. With a depth of 0 nobody passes the first that does not fit. Returns the places in the queue of those who start.
pub(in crate::scheduling) fn pass(
    queue: &[Waiting],
    depth: usize,
    view: &mut View,
    room: &mut impl Room,
) -> Vec<usize> {
    let mut due = Vec::new();
    let mut held = 0;
    for (index, waiting) in queue.iter().enumerate() {
        if view.is_empty() {
            break;
        }
        if view.holds(waiting) {
            room.start(waiting);
            view.take(waiting);
            due.push(index);
        } else if held < depth {
            // A place matters to those only who would start now.
            if !queue[index + 1..].iter().any(|other| view.holds(other)) {
                break;
            }
            held += 1;
            room.hold(waiting, view);
        } else if depth == 0 {
            break;
        }
    }
    due
}

/// Takes those out who are `due`: places in `queue`, in order.
pub(crate) fn remove_due<T>(queue: &mut Vec<T>, due: &[usize]) {
    let mut due = due.iter().copied().peekable();
    let mut place = 0;
    queue.retain(|_| {
        let stays = due.next_if_eq(&place).is_none();
        place += 1;
        stays
    });
}

/// How the question "who starts now?" was answered, for profiling and tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DueEffort {
    /// Jobs that were placed.
    pub placements: u64,
    /// Attempts that had to be repeated with a longer view.
    pub retries: u64,
}

/// Which jobs of `queue` (by index, in order) the plan of [`super::plan_queue`] starts at `now` around what is `fixed`, without planning
/// those whose place cannot matter.
pub fn due_now(
    fixed: &Profile,
    now: Seconds,
    queue: &[Waiting],
    backfilling: Backfilling,
    effort: &mut DueEffort,
) -> Vec<usize> {
    if backfilling == Backfilling::Conservative {
        return conservative::due_now(fixed, now, queue, effort);
    }
    let mut view = View::new(fixed, now);
    let mut room = Copied {
        fixed,
        now,
        profile: None,
        started: Vec::new(),
    };
    pass(queue, backfilling.depth(), &mut view, &mut room)
}

/// A profile that is copied before it changes: mostly nobody starts.
struct Copied<'a> {
    fixed: &'a Profile,
    now: Seconds,
    profile: Option<Profile>,
    /// Who started and is not in the profile yet.
    started: Vec<Waiting>,
}

impl Room for Copied<'_> {
    fn start(&mut self, waiting: &Waiting) {
        self.started.push(*waiting);
    }

    fn hold(&mut self, waiting: &Waiting, view: &mut View) {
        let profile = self.profile.get_or_insert_with(|| self.fixed.clone());
        for started in self.started.drain(..) {
            take(profile, &started, self.now);
        }
        let start = earliest(profile, waiting, self.now);
        take(profile, waiting, start);
        *view = View::new(profile, self.now);
    }
}
