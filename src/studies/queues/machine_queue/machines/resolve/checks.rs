//! Checks of single values, and where a wrong one stands in the file.

use std::collections::HashSet;

use crate::machine_queue::Limits;
use crate::machine_queue::machines::file::{RawLimits, allowed};
use crate::machine_queue::machines::places::{Places, key};
use bookahead_core::units::Seconds;
use bookahead_lab::keys::problem::{ProblemKind, Problems};

/// Hours that can be said: more than a thousand years.
const MOST_HOURS: f64 = 1e7;

/// Checks values, and says where they stand when they are wrong.
pub(super) struct Checks<'a, 't> {
    pub(super) places: &'a Places<'t>,
    pub(super) problems: &'a mut Problems,
}

impl Checks<'_, '_> {
    pub(super) fn refuse(&mut self, path: &str, message: impl Into<String>) {
        let key = key(path);
        let span = self.places.span(path);
        self.problems.add(
            ProblemKind::OutOfRange,
            &key,
            span,
            message,
            format!("allowed: {}", allowed(&key)),
        );
    }

    pub(super) fn require(&mut self, is_right: bool, path: &str, message: impl FnOnce() -> String) {
        if !is_right {
            self.refuse(path, message());
        }
    }

    /// A number from 0 on, or from 0 to 1.
    pub(super) fn number(&mut self, path: &str, value: f64, most: f64) -> f64 {
        let is_right = value.is_finite() && (0.0..=most).contains(&value);
        self.require(is_right, path, || format!("{value} is out of range"));
        value
    }

    /// A span of more than no time.
    pub(super) fn hours(&mut self, path: &str, hours: f64) -> Seconds {
        let is_right = hours.is_finite() && hours <= MOST_HOURS;
        let seconds = Seconds::from_hours(if is_right { hours } else { 0.0 });
        self.require(is_right && seconds > Seconds::ZERO, path, || {
            format!("{hours} hours are out of range")
        });
        seconds.max(Seconds(1))
    }

    pub(super) fn count(&mut self, path: &str, value: Option<u32>) -> Option<u32> {
        self.require(value != Some(0), path, || "0 is out of range".to_owned());
        value
    }

    pub(super) fn limits(&mut self, path: &str, raw: &RawLimits) -> Limits {
        Limits {
            running_jobs: self.count(&format!("{path}.running_jobs"), raw.running_jobs),
            nodes: self.count(&format!("{path}.nodes"), raw.nodes),
            cores: self.count(&format!("{path}.cores"), raw.cores),
            submitted_jobs: self.count(&format!("{path}.submitted_jobs"), raw.submitted_jobs),
        }
    }

    pub(super) fn names<'n>(&mut self, table: &str, names: impl Iterator<Item = &'n str>) {
        let mut known = HashSet::new();
        for (at, name) in names.enumerate() {
            let path = format!("{table}.{at}.name");
            self.require(!name.trim().is_empty(), &path, || "it is empty".to_owned());
            self.require(known.insert(name), &path, || {
                format!("`{name}` is there twice")
            });
        }
    }
}
