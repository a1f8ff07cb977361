//! Windows: when they begin, how often they come, and which nodes they close.

use jiff::civil::{Date, DateTime};

use super::checks::Checks;
use crate::machine_queue::machines::calendar::{CalendarEntry, MOST_OCCURRENCES, Repetition};
use crate::machine_queue::machines::file::{RawRepeats, RawWindow};
use crate::machine_queue::{ClassIndex, NodeClass};
use bookahead_core::units::{Nodes, Seconds};

impl Checks<'_, '_> {
    /// A window; `None` where it is so wrong that nothing can be made of it.
    pub(super) fn window(
        &mut self,
        at: usize,
        raw: &RawWindow,
        classes: &[NodeClass],
    ) -> Option<CalendarEntry> {
        let path = |key: &str| format!("window.{at}.{key}");
        let begin: Option<DateTime> = match (&raw.begin.date, &raw.begin.offset) {
            (Some(_), None) => raw.begin.to_string().parse().ok(),
            _ => None,
        };
        let Some(begin) = begin else {
            self.refuse(
                &path("begin"),
                format!("{} is no local date and time", raw.begin),
            );
            return None;
        };
        let length = self.hours(&path("length_hours"), raw.length_hours);
        let days = match raw.repeats {
            RawRepeats::None => None,
            RawRepeats::Daily => Some(1),
            RawRepeats::Weekly => Some(7),
        };
        let until: Option<Date> = raw.until.as_ref().and_then(|until| {
            let is_date = until.time.is_none() && until.offset.is_none();
            until.to_string().parse().ok().filter(|_| is_date)
        });
        let repetition = match (days, &raw.until) {
            (None, None) => None,
            (None, Some(_)) => {
                self.refuse(&path("until"), "the window does not repeat");
                None
            }
            (Some(_), None) => {
                self.refuse(&path("until"), "it is missing, and the window repeats");
                return None;
            }
            (Some(days), Some(found)) => {
                let Some(until) = until else {
                    self.refuse(&path("until"), format!("{found} is no date"));
                    return None;
                };
                self.require(until >= begin.date(), &path("until"), || {
                    "it is before the first beginning".to_owned()
                });
                // The shortest local day has 23 hours, in some zones fewer; a night that meets
                // itself is still found.
                let room = Seconds::HOUR * (24 * i64::from(days) - 1);
                self.require(length <= room, &path("length_hours"), || {
                    "the window is longer than the time to the next one".to_owned()
                });
                Some(Repetition { days, until })
            }
        };
        let nodes: Vec<(ClassIndex, Nodes)> = if raw.nodes.is_empty() {
            (classes.iter().enumerate())
                .map(|(class, of)| (ClassIndex(class), of.nodes))
                .collect()
        } else {
            let mut closed = Vec::new();
            for (name, nodes) in &raw.nodes {
                let path = path(&format!("nodes.{name}"));
                match classes.iter().position(|class| class.name == *name) {
                    None => self.refuse(&path, format!("there is no class `{name}`")),
                    Some(class) if *nodes == 0 || *nodes > classes[class].nodes.0 => {
                        let has = classes[class].nodes.0;
                        self.refuse(&path, format!("{nodes} of its {has} nodes"));
                    }
                    Some(class) => closed.push((ClassIndex(class), Nodes(*nodes))),
                }
            }
            closed
        };
        let entry = CalendarEntry {
            name: raw.name.clone(),
            begin,
            length,
            repetition,
            nodes,
            users: raw.users.clone(),
        };
        self.require(
            entry.occurrences() <= MOST_OCCURRENCES,
            &path("until"),
            || format!("the window comes more than {MOST_OCCURRENCES} times"),
        );
        Some(entry)
    }
}
