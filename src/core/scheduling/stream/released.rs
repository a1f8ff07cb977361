//! Times in which moved jobs freed nodes, behind the start of the current job.

use crate::units::Seconds;

/// Disjoint intervals, the last one first. Intervals that touch are joined: a job that starts
/// between their beginnings can only use time before its start, which the joined interval gives it
/// as well.
#[derive(Debug, Default)]
pub(super) struct Released(Vec<(Seconds, Seconds)>);

impl Released {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The beginning of the first interval.
    #[inline]
    pub(super) fn next(&self) -> Option<Seconds> {
        self.0.last().map(|(from, _)| *from)
    }

    /// Takes out an interval that begins before `time`. Returns its end.
    #[inline]
    pub(super) fn pop_before(&mut self, time: Seconds) -> Option<Seconds> {
        self.0.pop_if(|(from, _)| *from < time).map(|(_, to)| to)
    }

    /// Adds `[from, to)`.
    pub(super) fn add(&mut self, from: Seconds, to: Seconds) {
        let earlier = self.0.iter().rev().take_while(|other| other.0 <= from);
        let mut place = self.0.len() - earlier.count();
        match self.0.get_mut(place) {
            Some((_, until)) if *until >= from => *until = to.max(*until),
            _ => self.0.insert(place, (from, to)),
        }
        while place > 0 && self.0[place - 1].0 <= self.0[place].1 {
            self.0[place - 1] = (self.0[place].0, self.0[place].1.max(self.0[place - 1].1));
            self.0.remove(place);
            place -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn united_intervals_open_the_same_time_to_whoever_starts_then(
            added in prop::collection::vec((0_i64..60, 1_i64..20), 0..40),
        ) {
            let mut released = Released::default();
            let mut all: Vec<(i64, i64)> = Vec::new();
            let mut open_to = 0;
            let mut added = added.into_iter();
            for time in 0..90 {
                // A job that starts here gives back something behind its start.
                if time % 2 == 0 && let Some((ahead, length)) = added.next() {
                    let from = time + ahead;
                    released.add(Seconds(from), Seconds(from + length));
                    all.push((from, from + length));
                }
                while let Some(to) = released.pop_before(Seconds(time)) {
                    open_to = open_to.max(to.0);
                }
                let begun = all.iter().filter(|(from, _)| *from < time);
                let open = begun.map(|(_, to)| *to).max().unwrap_or(0);
                prop_assert_eq!(open.min(time), open_to.min(time));
                for pair in released.0.windows(2) {
                    prop_assert!(pair[0].0 > pair[1].1);
                }
                // Before the next one begins nothing but what is open already.
                let next = released.next().unwrap_or(Seconds::FAR).0;
                let ahead = || all.iter().filter(|(from, _)| *from >= time);
                prop_assert!(ahead().all(|(from, _)| *from >= next || *from <= open_to));
            }
        }
    }
}
