//! Where nothing is fixed but running jobs: more nodes are free after each of their ends, and none is taken.

use crate::units::Seconds;

/// When `wanted` nodes are free: the earliest of `ends`, which are in order of time, by which `free` nodes and those of jobs that
/// end until then are enough, but not before `now`; and how many more there are then. `None` where they never are.
pub(in crate::scheduling) fn shadow(
    ends: impl Iterator<Item = (Seconds, u32)>,
    wanted: u32,
    mut free: u32,
    now: Seconds,
) -> Option<(Seconds, u32)> {
    let mut ends = ends.peekable();
    while let Some((time, nodes)) = ends.next() {
        free += nodes;
        let time = time.max(now);
        // Whoever ends in the same second is free then, too.
        if free >= wanted && ends.peek().is_none_or(|next| next.0 > time) {
            return Some((time, free - wanted));
        }
    }
    None
}
