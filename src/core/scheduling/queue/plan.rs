//! The whole plan of a queue: the start of every waiting job if nothing else happens (Heine 2005,
//! §3; Singh 2008, chapter 5).

use super::pass::{Room, backfill, remove_due};
use super::view::View;
use super::{Backfilling, Waiting};
use crate::plan::{Fit, Profile};
use crate::units::{Nodes, Seconds};
use crate::workload::JobId;

/// Plans every job of `queue`, which is in the order of planning, from `now` on; returns their
/// starts in the same order and leaves in `profile` what remains free.
///
/// No job may be wider than the machine, and what is fixed must end some day.
pub fn plan_queue(
    profile: &mut Profile,
    now: Seconds,
    queue: &[Waiting],
    backfilling: Backfilling,
) -> Vec<Seconds> {
    match backfilling {
        Backfilling::Conservative => queue
            .iter()
            .map(|waiting| place(profile, waiting, now))
            .collect(),
        Backfilling::None => {
            let mut from = now;
            queue
                .iter()
                .map(|waiting| {
                    from = place(profile, waiting, from);
                    from
                })
                .collect()
        }
        Backfilling::Aggressive => plan_aggressively(profile, now, queue),
    }
}

/// The starts that [`plan_queue`] gives where `nodes` nodes of what `fixed` leaves free are taken
/// over `[start, end)`.
pub fn plan_beside(
    fixed: &Profile,
    (start, end): (Seconds, Seconds),
    nodes: Nodes,
    now: Seconds,
    queue: &[Waiting],
    backfilling: Backfilling,
) -> Vec<Seconds> {
    let mut profile = fixed.clone();
    profile.reserve(start, end, nodes.0);
    plan_queue(&mut profile, now, queue, backfilling)
}

/// Places one job at the earliest start from `from` on and takes its nodes out of the profile.
pub fn place(profile: &mut Profile, waiting: &Waiting, from: Seconds) -> Seconds {
    let start = earliest(profile, waiting, from);
    profile.reserve(start, start + waiting.estimate, waiting.nodes.0);
    start
}

/// The earliest start from `from` on, [`Seconds::FAR`] for a job that never fits.
pub(super) fn earliest(profile: &Profile, waiting: &Waiting, from: Seconds) -> Seconds {
    profile
        .earliest_fit(Fit {
            from,
            latest: Seconds::FAR,
            nodes: waiting.nodes.0,
            duration: waiting.estimate,
            own_start: None,
        })
        .unwrap_or(Seconds::FAR)
}

pub(super) fn take(profile: &mut Profile, waiting: &Waiting, start: Seconds) {
    profile.reserve(start, start + waiting.estimate, waiting.nodes.0);
}

/// Aggressive backfilling: whenever nodes become free the head starts if it fits, else it keeps the
/// earliest start that it has now and whoever does not delay it starts. (Other changes need no
/// look: where nodes only become busy nobody fits who did not fit before.)
fn plan_aggressively(profile: &mut Profile, now: Seconds, queue: &[Waiting]) -> Vec<Seconds> {
    let mut starts = vec![Seconds::FAR; queue.len()];
    // Those without a start, known by their places in the queue.
    let known = |(place, waiting): (u32, &Waiting)| Waiting {
        job: JobId(place),
        ..*waiting
    };
    let mut rest: Vec<Waiting> = (0..).zip(queue).map(known).collect();
    let mut time = now;
    let mut view = View::default();
    let mut due = Vec::with_capacity(queue.len());
    while !rest.is_empty() {
        view.look_at(profile, time);
        let mut room = Forecast {
            profile,
            time,
            held: None,
        };
        backfill(&rest, true, None, &mut view, &mut room, &mut due);
        if let Some((head, shadow)) = room.held {
            let end = shadow + head.estimate;
            profile.release(shadow, end, head.nodes.0);
        }
        for index in &due {
            starts[rest[*index].job.0 as usize] = time;
        }
        remove_due(&mut rest, &due);
        match profile.next_rise(time, Seconds::FAR, 1) {
            Some(next) => time = next,
            // Nothing will ever become free and the head does not fit: it keeps the start that
            // means never.
            None => break,
        }
    }
    starts
}

/// A time to come: whoever starts then stays in the profile, the place of the head is kept for this
/// pass only.
struct Forecast<'a> {
    profile: &'a mut Profile,
    time: Seconds,
    held: Option<(Waiting, Seconds)>,
}

impl Room for Forecast<'_> {
    fn start(&mut self, waiting: &Waiting) {
        take(self.profile, waiting, self.time);
    }

    fn hold(&mut self, waiting: &Waiting, view: &mut View) {
        let shadow = earliest(self.profile, waiting, self.time);
        take(self.profile, waiting, shadow);
        self.held = Some((*waiting, shadow));
        view.look_at(self.profile, self.time);
    }
}
