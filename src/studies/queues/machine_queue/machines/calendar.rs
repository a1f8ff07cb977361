//! Windows of the calendar: first occurrence and repetition on the local clock, put on the clock of
//! a trace.
//!
//! A window that repeats begins at the same local time every day or week, so across a change of
//! summer time its beginnings are 23 or 25 hours apart; it lasts its hours as a stop watch counts
//! them. A beginning in the hour that the local clock skips is that much later; in the hour that
//! comes twice it is the first one.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Unit};

use super::file::NumberOrName;
use crate::machine_queue::{ClassIndex, Window};
use bookahead_core::units::{Nodes, Seconds};

/// Occurrences of one window at most: daily for 270 years.
pub(super) const MOST_OCCURRENCES: i64 = 100_000;

/// How often a window comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repetition {
    /// From one beginning to the next, in days.
    pub(super) days: i32,
    /// The last day on which it may begin.
    pub(super) until: Date,
}

/// A window of the calendar.
#[derive(Clone, Debug)]
pub(super) struct CalendarEntry {
    pub(super) name: String,
    pub(super) begin: DateTime,
    pub(super) length: Seconds,
    pub(super) repetition: Option<Repetition>,
    pub(super) nodes: Vec<(ClassIndex, Nodes)>,
    pub(super) users: Vec<NumberOrName>,
}

impl CalendarEntry {
    /// How often it comes.
    pub(super) fn occurrences(&self) -> i64 {
        match self.repetition {
            None => 1,
            Some(Repetition { days, until }) => {
                let between = until
                    .since((Unit::Day, self.begin.date()))
                    .map_or(-1, |span| i64::from(span.get_days()));
                (between.div_euclid(i64::from(days)) + 1).max(0)
            }
        }
    }

    /// Its windows on the clock whose second 0 is `start` in seconds since 1970, in order, open to
    /// these users.
    pub(super) fn windows(
        &self,
        zone: &TimeZone,
        start: i64,
        users: Vec<i64>,
    ) -> impl Iterator<Item = Window> {
        let days = self.repetition.map_or(1, |repetition| repetition.days);
        (0..self.occurrences()).filter_map(move |number| {
            let later = Span::new().try_days(number * i64::from(days)).ok()?;
            let local = self.begin.checked_add(later).ok()?;
            let begin = Seconds(zone.to_timestamp(local).ok()?.as_second() - start);
            Some(Window {
                name: self.name.clone(),
                begin,
                end: begin + self.length,
                nodes: self.nodes.clone(),
                users: users.clone(),
            })
        })
    }
}
