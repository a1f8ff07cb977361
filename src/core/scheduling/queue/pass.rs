//! One pass over a queue: it finds the jobs that start now.

use super::plan::{earliest, take};
use super::view::View;
use super::{Backfilling, ShortestFirst, Waiting, conservative};
use crate::plan::Profile;
use crate::units::Seconds;

/// By which jobs start in a pass.
pub trait Rule<W> {
    /// Who of `queue` is looked at next, by the place, from `from` on; `None` when nobody else can
    /// start and no place for one matters.
    fn next(&self, queue: &[W], from: usize) -> Option<usize>;

    /// Starts the job now if it may; otherwise reserves a place for it, if it may have one, which
    /// the jobs `behind` do not delay. Returns whether it starts.
    fn starts(&mut self, waiting: &W, behind: &[W]) -> bool;
}

/// Goes over `queue` in its order. The places in it of those who start come into `due`, in order.
pub fn pass<W>(queue: &[W], rule: &mut impl Rule<W>, due: &mut Vec<usize>) {
    due.clear();
    let mut from = 0;
    while let Some(place) = rule.next(queue, from) {
        from = place + 1;
        if rule.starts(&queue[place], &queue[from..]) {
            due.push(place);
        }
    }
}

/// What is fixed beside a queue for nodes that are all alike.
pub trait Room {
    /// Whether places matter beyond the pass. Where they do not, none is looked for that nobody
    /// could delay.
    const REMEMBERS_PLACES: bool = false;

    /// The job fits, and starts now.
    fn start(&mut self, waiting: &Waiting);

    /// Reserves a place for a job that does not fit now: `view` becomes the nodes that are free
    /// beside it.
    fn hold(&mut self, waiting: &Waiting, view: &mut View);
}

/// A [`pass`] over nodes that are all alike. Whoever fits `view`, which is what may be had now,
/// starts. Nobody passes the first that does not fit, unless the queue `backfills`: then it is kept
/// a place, and those behind it are tried in the order of the queue, or of `shortest`: the same
/// jobs, which those who start leave. The places in the queue of those who start come into `due`,
/// in order.
pub fn backfill(
    queue: &[Waiting],
    backfills: bool,
    shortest: Option<&mut ShortestFirst>,
    view: &mut View,
    room: &mut impl Room,
    due: &mut Vec<usize>,
) {
    let mut rule = IdenticalNodes {
        backfills,
        has_held: false,
        sorts: shortest.is_some(),
        is_over: false,
        view,
        room,
    };
    pass(queue, &mut rule, due);
    if let Some(shortest) = shortest {
        for place in due.iter() {
            shortest.remove(&queue[*place]);
        }
        if rule.has_held {
            rule.start_shortest(queue, shortest, due);
        }
    }
}

/// The pass over a queue of a machine whose nodes are all alike.
struct IdenticalNodes<'a, R> {
    backfills: bool,
    /// Whether the first job that does not fit has a reserved place.
    has_held: bool,
    /// Whether the jobs behind it are tried in another order.
    sorts: bool,
    is_over: bool,
    view: &'a mut View,
    room: &'a mut R,
}

impl<R: Room> IdenticalNodes<'_, R> {
    #[inline]
    fn starts_now(&mut self, waiting: &Waiting) -> bool {
        let fits = self.view.holds(waiting);
        if fits {
            self.room.start(waiting);
            self.view.take(waiting);
        }
        fits
    }

    /// Tries the jobs that still wait, the shortest first. The job with the reserved place does not
    /// fit.
    fn start_shortest(
        &mut self,
        queue: &[Waiting],
        shortest: &mut ShortestFirst,
        due: &mut Vec<usize>,
    ) {
        if self.view.is_empty() {
            return;
        }
        let mut from = 0;
        let mut end = shortest.count_up_to(self.view.longest());
        // A job that does not fit now does not fit beside others that have started either.
        while let Some(place) = self.view.first_held(&shortest.jobs[..end], from) {
            let waiting = shortest.jobs.remove(place);
            self.starts_now(&waiting);
            due.push(queue.partition_point(|other| *other < waiting));
            (from, end) = (place, end - 1);
        }
        due.sort_unstable();
    }
}

impl<R: Room> Rule<Waiting> for IdenticalNodes<'_, R> {
    fn next(&self, queue: &[Waiting], from: usize) -> Option<usize> {
        if self.is_over {
            None
        } else if self.has_held {
            self.view.first_held(queue, from)
        } else {
            let place_matters = R::REMEMBERS_PLACES && self.backfills;
            let matters = from < queue.len() && (place_matters || !self.view.is_empty());
            matters.then_some(from)
        }
    }

    fn starts(&mut self, waiting: &Waiting, behind: &[Waiting]) -> bool {
        if self.starts_now(waiting) {
            return true;
        }
        // If no job would start, none can delay it.
        let may_be_delayed = || self.view.first_held(behind, 0).is_some();
        if self.backfills && (R::REMEMBERS_PLACES || may_be_delayed()) {
            self.room.hold(waiting, self.view);
            self.has_held = true;
            self.is_over = self.sorts;
        } else {
            self.is_over = true;
        }
        false
    }
}

/// Takes those out who are `due`: places in `queue`, in order.
pub fn remove_due<T: Copy>(queue: &mut Vec<T>, due: &[usize]) {
    let Some(&first) = due.first() else {
        return;
    };
    if due.len() == queue.len() {
        queue.clear();
        return;
    }
    let mut kept = first;
    for (number, &place) in due.iter().enumerate() {
        let next = due.get(number + 1).copied().unwrap_or(queue.len());
        if next > place + 1 {
            queue.copy_within(place + 1..next, kept);
            kept += next - (place + 1);
        }
    }
    queue.truncate(kept);
}

/// The jobs of `queue` (by index, in order) that the plan of [`super::plan_queue`] starts at `now`
/// around the `fixed` entries, where it is known that none in front of place `first` does. Jobs
/// whose place cannot matter are not planned.
pub fn due_now(
    fixed: &Profile,
    now: Seconds,
    queue: &[Waiting],
    first: usize,
    backfilling: Backfilling,
) -> Vec<usize> {
    let backfills = match backfilling {
        Backfilling::Conservative => return conservative::due_now(fixed, now, queue, first),
        Backfilling::Aggressive => true,
        Backfilling::None => false,
    };
    let mut view = View::new(fixed, now);
    let mut room = Copied::new(fixed, now);
    let mut due = Vec::new();
    backfill(queue, backfills, None, &mut view, &mut room, &mut due);
    due
}

/// A profile that is copied before its first change: mostly no job starts.
struct Copied<'a> {
    fixed: &'a Profile,
    now: Seconds,
    profile: Option<Profile>,
    /// Jobs that have started and are not in the profile yet.
    started: Vec<Waiting>,
}

impl<'a> Copied<'a> {
    fn new(fixed: &'a Profile, now: Seconds) -> Self {
        Self {
            fixed,
            now,
            profile: None,
            started: Vec::new(),
        }
    }
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
        view.look_at(profile, self.now);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scheduling::queue::{PlannedEnds, plan_queue};
    use crate::units::{Megabytes, Nodes};
    use crate::workload::JobId;

    const NOW: Seconds = Seconds(5);
    const NODES: u32 = 12;

    fn queue_of(asked: &[(i64, u32)]) -> Vec<Waiting> {
        let jobs = (0..).zip(asked);
        let waiting = jobs.map(|(job, (estimate, nodes))| Waiting {
            rank: 0,
            since: Seconds::ZERO,
            job: JobId(job),
            nodes: Nodes(*nodes),
            estimate: Seconds(*estimate),
            memory: Megabytes(0),
        });
        waiting.collect()
    }

    fn asked() -> impl Strategy<Value = Vec<(i64, u32)>> {
        prop::collection::vec((1_i64..60, 1..=NODES), 0..12)
    }

    /// Running jobs: what is left of their estimates, and their nodes.
    fn running() -> impl Strategy<Value = Vec<(i64, u32)>> {
        prop::collection::vec((1_i64..40, 1_u32..4), 0..5)
    }

    /// Only ends of running jobs.
    #[derive(Clone)]
    struct Ends {
        ends: PlannedEnds,
        idle: u32,
    }

    impl Ends {
        fn take(&mut self, end: Seconds, nodes: u32) {
            self.idle -= nodes;
            self.ends.insert(end, nodes);
        }
    }

    impl Room for Ends {
        fn start(&mut self, waiting: &Waiting) {
            self.take(NOW + waiting.estimate, waiting.nodes.0);
        }

        fn hold(&mut self, waiting: &Waiting, view: &mut View) {
            let place = self.ends.room_for(waiting.nodes.0, self.idle, NOW);
            view.look(NOW, self.idle, place.expect("all end"));
        }
    }

    fn idle_machine() -> Ends {
        Ends {
            ends: PlannedEnds::default(),
            idle: NODES,
        }
    }

    proptest! {
        #[test]
        fn whoever_starts_now_starts_now_in_the_whole_plan(
            running in running(),
            reserved in prop::option::of((6_i64..50, 1_i64..20)),
            asked in asked(),
        ) {
            let queue = queue_of(&asked);
            let mut fixed = Profile::new(NODES, NOW);
            for (left, nodes) in &running {
                if fixed.free_at(NOW) >= *nodes as i32 {
                    fixed.reserve(NOW, NOW + Seconds(*left), *nodes);
                }
            }
            if let Some((start, length)) = reserved {
                let free = fixed.min_free(Seconds(start), Seconds(start + length));
                fixed.reserve(Seconds(start), Seconds(start + length), free as u32);
            }
            for rule in [Backfilling::None, Backfilling::Aggressive, Backfilling::Conservative] {
                let starts = plan_queue(&mut fixed.clone(), NOW, &queue, rule);
                let now: Vec<usize> =
                    (0..queue.len()).filter(|&place| starts[place] == NOW).collect();
                let due = due_now(&fixed, NOW, &queue, 0, rule);
                prop_assert_eq!(due, now, "{:?}", rule);
            }
        }

        #[test]
        fn ends_alone_start_whom_a_profile_starts(running in running(), asked in asked()) {
            let queue = queue_of(&asked);
            let mut fixed = Profile::new(NODES, NOW);
            let mut ends = idle_machine();
            for (left, nodes) in running {
                if nodes <= ends.idle {
                    let end = NOW + Seconds(left);
                    fixed.reserve(NOW, end, nodes);
                    ends.take(end, nodes);
                }
            }
            for sorts in [false, true] {
                let shortest = || sorts.then(|| ShortestFirst::of(&queue));
                for backfills in [false, true] {
                    let mut view = View::new(&fixed, NOW);
                    let mut room = Copied::new(&fixed, NOW);
                    let (mut by_profile, mut by_ends) = (Vec::new(), Vec::new());
                    let mut behind = shortest();
                    let behind = behind.as_mut();
                    backfill(&queue, backfills, behind, &mut view, &mut room, &mut by_profile);
                    view.look(NOW, ends.idle, (Seconds::FAR, 0));
                    let mut ends = ends.clone();
                    let mut behind = shortest();
                    let behind = behind.as_mut();
                    backfill(&queue, backfills, behind, &mut view, &mut ends, &mut by_ends);
                    prop_assert_eq!(by_profile, by_ends);
                }
            }
        }
    }

    #[test]
    fn the_shortest_of_those_behind_a_place_starts_first_where_the_order_says_so() {
        // Three nodes are idle, and the first wants all twelve at 45; two of the others fit beside
        // each other.
        let queue = queue_of(&[(10, 12), (30, 2), (20, 2), (40, 1)]);
        let started = |shortest| {
            let mut view = View::default();
            view.look(NOW, 3, (Seconds::FAR, 0));
            let mut ends = idle_machine();
            ends.take(NOW + Seconds(40), 9);
            let mut due = Vec::new();
            backfill(&queue, true, shortest, &mut view, &mut ends, &mut due);
            due
        };
        assert_eq!(started(None)[..], [1, 3]);
        assert_eq!(started(Some(&mut ShortestFirst::of(&queue)))[..], [2, 3]);
    }

    #[test]
    fn those_who_are_due_leave_and_all_others_keep_their_order() {
        for due in [
            &[][..],
            &[0],
            &[0, 1],
            &[2, 4],
            &[1, 2, 5],
            &[5],
            &[0, 1, 2, 3, 4, 5],
        ] {
            let mut queue: Vec<usize> = (0..6).collect();
            remove_due(&mut queue, due);
            let stay: Vec<usize> = (0..6).filter(|place| !due.contains(place)).collect();
            assert_eq!(queue, stay);
        }
    }
}
