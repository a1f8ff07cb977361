//! How a cell becomes a field: units, constants, words for states.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::collector::{CANCELLED, COMPLETED, Collector, FAILED, UNKNOWN};
use super::super::findings::Finding;
use super::super::local_time::{LATEST, LocalTimes, ReadTime, is_missing, moment, whole};
use super::super::numbering::Names;
use super::super::sacct::duration;
use super::Cell;
use bookahead_core::workload::NameKind;

/// What a number of a column counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TimeUnit {
    /// A date and a time of day, or a moment of the table's own type.
    #[default]
    Timestamp,
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

/// What a number of a column counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DurationUnit {
    #[default]
    Seconds,
    Minutes,
    Hours,
    Milliseconds,
    Microseconds,
    /// `D-HH:MM:SS` and its shorter forms.
    Clock,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NameField {
    pub(super) column: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeField {
    pub(super) column: String,
    #[serde(default)]
    unit: TimeUnit,
}

/// A column, or the same value for all rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DurationField {
    pub(super) column: Option<String>,
    pub(super) value: Option<f64>,
    #[serde(default)]
    unit: DurationUnit,
}

/// A column, or the same value for all rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CountField {
    pub(super) column: Option<String>,
    pub(super) value: Option<f64>,
    /// A number of the column is so many processors.
    #[serde(default = "one")]
    pub(super) scale: f64,
}

fn one() -> f64 {
    1.0
}

/// What a state of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Meaning {
    Completed,
    Failed,
    Cancelled,
    Unknown,
    /// The row is left out: the job has not ended, or is none.
    Drop,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusField {
    pub(super) column: String,
    values: BTreeMap<String, Meaning>,
    /// What states are that are not named; without it they are counted, and have no status.
    otherwise: Option<Meaning>,
}

impl TimeField {
    pub(super) fn read(
        &self,
        cell: Cell<'_>,
        times: &mut LocalTimes,
        line: u64,
        collector: &mut Collector,
    ) -> ReadTime {
        let units_a_second: i64 = match self.unit {
            TimeUnit::Timestamp => {
                return match cell {
                    Cell::Missing => ReadTime::Missing,
                    Cell::Text(text) => times.read(text),
                    Cell::Moment(microseconds) => moment(microseconds.div_euclid(1_000_000)),
                    Cell::LocalMoment(microseconds) => {
                        times.read_local(microseconds.div_euclid(1_000_000))
                    }
                    Cell::Whole(_) | Cell::Number(_) => ReadTime::Invalid,
                };
            }
            TimeUnit::Seconds => 1,
            TimeUnit::Milliseconds => 1_000,
            TimeUnit::Microseconds => 1_000_000,
            TimeUnit::Nanoseconds => 1_000_000_000,
        };
        // Moments of the log's own beginning are moments, too: only what is below 0 is none.
        let seconds = |units: i64| match units.div_euclid(units_a_second) {
            ..0 => ReadTime::Missing,
            seconds @ 0..=LATEST => ReadTime::At(seconds),
            _ => ReadTime::Invalid,
        };
        match number(cell) {
            Number::Missing => ReadTime::Missing,
            Number::None => ReadTime::Invalid,
            Number::Whole(units) => seconds(units),
            Number::Decimal(units) => {
                collector.count(Finding::Fraction, line);
                // Cut by `as` at the ends of the range, which are no times.
                seconds(units.floor() as i64)
            }
        }
    }
}

impl DurationField {
    /// Whole seconds: rounded, or `up` to the next.
    pub(super) fn read(
        &self,
        cell: Cell<'_>,
        up: bool,
        line: u64,
        collector: &mut Collector,
    ) -> Option<i64> {
        let cell = self.value.map_or(cell, Cell::Number);
        let (of_second, seconds) = match self.unit {
            DurationUnit::Seconds => (1, 1),
            DurationUnit::Minutes => (1, 60),
            DurationUnit::Hours => (1, 3_600),
            DurationUnit::Milliseconds => (1_000, 1),
            DurationUnit::Microseconds => (1_000_000, 1),
            DurationUnit::Clock => {
                let Cell::Text(text) = cell else { return None };
                return duration(text);
            }
        };
        let value = match number(cell) {
            Number::Missing => return None,
            Number::Whole(units) if of_second == 1 => units.checked_mul(seconds)?,
            Number::Whole(units) if units % of_second == 0 => units / of_second,
            Number::Whole(units) => rounded(units as f64 / of_second as f64, up, line, collector),
            Number::Decimal(units) => rounded(
                units * seconds as f64 / of_second as f64,
                up,
                line,
                collector,
            ),
            Number::None => {
                // Words such as UNLIMITED.
                return None;
            }
        };
        (0..=LATEST).contains(&value).then_some(value)
    }
}

fn rounded(seconds: f64, up: bool, line: u64, collector: &mut Collector) -> i64 {
    let whole = if up { seconds.ceil() } else { seconds.round() };
    if whole != seconds {
        collector.count(Finding::Fraction, line);
    }
    // What is no number of seconds is beyond every bound.
    if whole.is_finite() { whole as i64 } else { -1 }
}

impl CountField {
    /// Processors, parts of one rounded up.
    pub(super) fn read(&self, cell: Cell<'_>, line: u64, collector: &mut Collector) -> Option<u32> {
        let count = match number(self.value.map_or(cell, Cell::Number)) {
            Number::Missing => return None,
            Number::Whole(count) => count as f64 * self.scale,
            Number::Decimal(count) => count * self.scale,
            Number::None => f64::NAN,
        };
        let whole = count.ceil();
        if !(0.0..=f64::from(u32::MAX)).contains(&whole) {
            collector.count(Finding::BadNumber, line);
            return None;
        }
        if whole != count {
            collector.count(Finding::Fraction, line);
        }
        // In the range that was just checked.
        Some(whole as u32)
    }
}

impl StatusField {
    /// The status, or `None` where the row is left out.
    pub(super) fn read(&self, cell: Cell<'_>, line: u64, collector: &mut Collector) -> Option<i8> {
        let text = text_of(cell);
        collector.state(text.split(' ').next().unwrap_or_default().as_bytes());
        // `CANCELLED by 1000` is CANCELLED.
        let word = text.split(' ').next().unwrap_or_default();
        let meaning = (self.values.get(text.as_ref()))
            .or_else(|| self.values.get(word))
            .copied()
            .or(self.otherwise);
        match meaning {
            Some(Meaning::Completed) => Some(COMPLETED),
            Some(Meaning::Failed) => Some(FAILED),
            Some(Meaning::Cancelled) => Some(CANCELLED),
            Some(Meaning::Unknown) => Some(UNKNOWN),
            Some(Meaning::Drop) => None,
            None => {
                collector.count(Finding::UnknownState, line);
                Some(UNKNOWN)
            }
        }
    }
}

/// The number of a job: a whole number, with or without a point.
pub(super) fn number_of(cell: Cell<'_>) -> Option<u64> {
    match number(cell) {
        Number::Whole(number) => u64::try_from(number)
            .ok()
            .filter(|number| *number < 1_000_000_000_000_000_000),
        _ => None,
    }
}

/// The number that stands for a name; names may be numbers.
pub(super) fn name_number(cell: Cell<'_>, kind: NameKind, names: &mut Names) -> i32 {
    match cell {
        Cell::Text(text) => names.number(kind, text),
        Cell::Missing => -1,
        other => names.number(kind, text_of(other).as_bytes()),
    }
}

/// A cell as text, without space around it.
pub(super) fn text_of(cell: Cell<'_>) -> std::borrow::Cow<'_, str> {
    match cell {
        Cell::Missing => "".into(),
        Cell::Text(text) => String::from_utf8_lossy(text.trim_ascii()),
        Cell::Whole(number) | Cell::Moment(number) | Cell::LocalMoment(number) => {
            number.to_string().into()
        }
        Cell::Number(number) => number.to_string().into(),
    }
}

enum Number {
    Missing,
    None,
    Whole(i64),
    Decimal(f64),
}

fn number(cell: Cell<'_>) -> Number {
    let decimal = |number: f64| {
        if number.is_nan() {
            Number::Missing
        } else if number.fract() == 0.0 && number.abs() < 1e15 {
            // Exact below 2⁵³.
            Number::Whole(number as i64)
        } else {
            Number::Decimal(number)
        }
    };
    match cell {
        Cell::Missing => Number::Missing,
        Cell::Whole(number) => Number::Whole(number),
        Cell::Number(number) => decimal(number),
        Cell::Moment(_) | Cell::LocalMoment(_) => Number::None,
        Cell::Text(text) => {
            let text = text.trim_ascii();
            match whole(text) {
                Some(number) => Number::Whole(number),
                None if is_missing(text) => Number::Missing,
                None => std::str::from_utf8(text)
                    .ok()
                    .and_then(|text| text.parse().ok())
                    .map_or(Number::None, decimal),
            }
        }
    }
}
