//! One pass over a queue: who starts now.

use super::plan::{earliest, take};
use super::view::View;
use super::{BackfillOrder, Backfilling, Waiting, conservative};
use crate::plan::Profile;
use crate::units::Seconds;

/// What is fixed beside the queue, and what becomes of those whom a pass looks at.
pub(in crate::scheduling) trait Room {
    /// Whether places matter beyond the pass. Where they do not, none is looked for that nobody could delay.
    const REMEMBERS_PLACES: bool = false;

    /// The job fits, and starts now.
    fn start(&mut self, waiting: &Waiting);

    /// A place is kept for a job that does not fit now: `view` becomes what may be had beside it.
    fn hold(&mut self, waiting: &Waiting, view: &mut View);
}

/// Goes over `queue` in its order. Whoever fits `view`, which is what may be had now, starts; of the others the first `depth`
/// are kept places, and those behind them are tried in the order of `backfill`. With a depth of 0 nobody passes the first that does
/// not fit. Returns the places in the queue of those who start, in order.
pub(in crate::scheduling) fn pass<R: Room>(
    queue: &[Waiting],
    depth: usize,
    backfill: BackfillOrder,
    view: &mut View,
    room: &mut R,
) -> Vec<usize> {
    let mut due = Vec::new();
    let mut held = 0;
    for (index, waiting) in queue.iter().enumerate() {
        let matters = R::REMEMBERS_PLACES && held < depth;
        if view.is_empty() && !matters {
            break;
        }
        if view.holds(waiting) {
            room.start(waiting);
            view.take(waiting);
            due.push(index);
            continue;
        }
        if held == depth {
            if depth == 0 {
                break;
            }
            continue;
        }
        let behind = index + 1;
        if !matters && !queue[behind..].iter().any(|other| view.holds(other)) {
            break;
        }
        room.hold(waiting, view);
        held += 1;
        if held == depth && backfill == BackfillOrder::ShortestFirst {
            start_shortest(queue, behind, view, room, &mut due);
            break;
        }
    }
    due
}

/// Tries those from `behind` on, the shortest first, of equal ones whoever came first.
fn start_shortest(
    queue: &[Waiting],
    behind: usize,
    view: &mut View,
    room: &mut impl Room,
    due: &mut Vec<usize>,
) {
    let places = behind..queue.len();
    // Who does not fit now does not fit beside others who started.
    let mut fitting: Vec<usize> = places.filter(|&place| view.holds(&queue[place])).collect();
    fitting.sort_by_key(|&place| {
        let waiting = &queue[place];
        (waiting.estimate, waiting.since, waiting.job)
    });
    for place in fitting {
        let waiting = &queue[place];
        if view.holds(waiting) {
            room.start(waiting);
            view.take(waiting);
            due.push(place);
        }
    }
    due.sort_unstable();
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
    pass(
        queue,
        backfilling.depth(),
        BackfillOrder::Queue,
        &mut view,
        &mut room,
    )
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
