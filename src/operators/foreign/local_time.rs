//! Times as logs write them: local times of a zone, with an offset or without, and seconds
//! since 1970.

use jiff::civil::Date;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::error::ImportError;

/// Civil hours whose place in time is remembered; a log of a year has twice as many.
const REMEMBERED_HOURS: usize = 4_096;
/// The last second that a log may speak of: that of the format that it becomes, in the year 2286.
pub(super) const LATEST: i64 = 10_000_000_000;

/// What a text says about a moment, in whole seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadTime {
    /// Nothing: empty, `Unknown`, `None`, or the second 0.
    Missing,
    /// A moment.
    At(i64),
    /// The local clock showed this twice.
    Twice {
        /// The first time.
        first: i64,
        /// The second time.
        second: i64,
    },
    /// The local clock never showed this; read with the offset before the jump.
    Skipped(i64),
    /// No time at all.
    Invalid,
}

/// Reads local times of one zone.
#[derive(Clone, Debug)]
pub struct LocalTimes {
    zone: TimeZone,
    /// A civil hour and the second at which it began, where every moment of it is told by the clock
    /// once.
    hours: Vec<(u32, i64)>,
    /// Whether a time without an offset was read.
    is_used: bool,
}

/// Finds a zone of the IANA database.
///
/// # Errors
/// [`ImportError::UnknownZone`].
pub fn zone_by_name(name: &str) -> Result<TimeZone, ImportError> {
    TimeZone::get(name).map_err(|_| ImportError::UnknownZone {
        name: name.to_owned(),
    })
}

impl LocalTimes {
    /// Reads times of this zone.
    #[must_use]
    pub fn new(zone: TimeZone) -> Self {
        Self {
            zone,
            hours: vec![(u32::MAX, 0); REMEMBERED_HOURS],
            is_used: false,
        }
    }

    /// Whether the zone decided about a time that was read.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.is_used
    }

    /// Reads `2024-05-01T12:00:00`, the same with a blank, a fraction (cut), `Z` or an offset, and
    /// whole seconds since 1970.
    pub(super) fn read(&mut self, text: &[u8]) -> ReadTime {
        if let Some(seconds) = whole(text) {
            return moment(seconds);
        }
        if is_missing(text) {
            return ReadTime::Missing;
        }
        let Some((date, clock, rest)) = civil(text) else {
            return ReadTime::Invalid;
        };
        let rest = match rest.split_first() {
            Some((b'.', fraction)) => {
                let digits = fraction
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
                &fraction[digits..]
            }
            _ => rest,
        };
        match offset(rest) {
            Some(None) => self.local(date, clock),
            Some(Some(offset)) => match day(date) {
                Some(day) => moment(day + i64::from(clock) - i64::from(offset)),
                None => ReadTime::Invalid,
            },
            None => ReadTime::Invalid,
        }
    }

    fn local(&mut self, date: [u16; 3], clock: u32) -> ReadTime {
        self.is_used = true;
        let [year, month, in_month] = date.map(u32::from);
        if month > 12 || in_month > 31 {
            return ReadTime::Invalid;
        }
        let hour = ((year * 13 + month) * 32 + in_month) * 24 + clock / 3_600;
        let place = hour as usize % REMEMBERED_HOURS;
        if self.hours[place].0 == hour {
            return moment(self.hours[place].1 + i64::from(clock % 3_600));
        }
        let Some(day) = day(date) else {
            return ReadTime::Invalid;
        };
        let begin = day + i64::from(clock / 3_600 * 3_600);
        match (self.offsets(begin), self.offsets(begin + 3_599)) {
            (
                Some(AmbiguousOffset::Unambiguous { offset: first }),
                Some(AmbiguousOffset::Unambiguous { offset: last }),
            ) if first == last => {
                self.hours[place] = (hour, begin - i64::from(first.seconds()));
            }
            _ => {}
        }
        self.read_local(day + i64::from(clock))
    }

    /// Reads a local time that is given as the seconds since 1970 that it would be in UTC.
    pub(super) fn read_local(&mut self, local: i64) -> ReadTime {
        self.is_used = true;
        let at = |offset: Offset| local - i64::from(offset.seconds());
        match self.offsets(local) {
            Some(AmbiguousOffset::Unambiguous { offset }) => moment(at(offset)),
            Some(AmbiguousOffset::Fold { before, after }) => {
                match (moment(at(before)), moment(at(after))) {
                    (ReadTime::At(first), ReadTime::At(second)) => {
                        ReadTime::Twice { first, second }
                    }
                    (outside, _) => outside,
                }
            }
            Some(AmbiguousOffset::Gap { before, .. }) => match moment(at(before)) {
                ReadTime::At(at) => ReadTime::Skipped(at),
                outside => outside,
            },
            None => ReadTime::Invalid,
        }
    }

    /// The offsets of a local time, given as the seconds since 1970 that it would be in UTC.
    fn offsets(&self, local: i64) -> Option<AmbiguousOffset> {
        let civil = Offset::UTC.to_datetime(jiff::Timestamp::from_second(local).ok()?);
        Some(self.zone.to_ambiguous_timestamp(civil).offset())
    }
}

/// A moment that logs may speak of; the second 0 is what programs write for "never".
pub(super) fn moment(seconds: i64) -> ReadTime {
    match seconds {
        ..=0 => ReadTime::Missing,
        1..=LATEST => ReadTime::At(seconds),
        _ => ReadTime::Invalid,
    }
}

/// What stands for a value that is not there.
pub(super) fn is_missing(text: &[u8]) -> bool {
    text.is_empty()
        || ["unknown", "none", "n/a", "null", "nan", "nat", "invalid"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// Digits, and at most eighteen, with a sign.
pub(super) fn whole(text: &[u8]) -> Option<i64> {
    let (digits, sign) = match text.split_first()? {
        (b'-', digits) => (digits, -1),
        _ => (text, 1),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0_i64;
    for byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(sign * value)
}

/// Year, month and day; the second of the day; what follows.
fn civil(text: &[u8]) -> Option<([u16; 3], u32, &[u8])> {
    let (head, rest) = text.split_at_checked(19)?;
    let number = |from: usize, to: usize| {
        head[from..to].iter().try_fold(0_u16, |value, byte| {
            byte.is_ascii_digit()
                .then(|| value * 10 + u16::from(byte - b'0'))
        })
    };
    let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if separators.iter().any(|(place, byte)| head[*place] != *byte)
        || !matches!(head[10], b'T' | b' ' | b't')
    {
        return None;
    }
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let clock = (u32::from(hour) * 60 + u32::from(minute)) * 60 + u32::from(second);
    Some(([number(0, 4)?, number(5, 7)?, number(8, 10)?], clock, rest))
}

/// Seconds from 1970 to the beginning of a day in UTC.
fn day([year, month, day]: [u16; 3]) -> Option<i64> {
    let date = Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    )
    .ok()?;
    let midnight = date.to_datetime(jiff::civil::Time::midnight());
    Some(Offset::UTC.to_timestamp(midnight).ok()?.as_second())
}

/// An offset in seconds behind a time: `Some(None)` where there is none, `None` where something
/// else stands there.
fn offset(text: &[u8]) -> Option<Option<i32>> {
    let text = text.trim_ascii();
    let (sign, digits) = match text.split_first() {
        None => return Some(None),
        Some((b'Z' | b'z', [])) => return Some(Some(0)),
        Some((b'+', digits)) => (1, digits),
        Some((b'-', digits)) => (-1, digits),
        Some(_) if text.eq_ignore_ascii_case(b"UTC") => return Some(Some(0)),
        Some(_) => return None,
    };
    let digits: Vec<i32> = digits
        .iter()
        .filter(|byte| **byte != b':')
        .map(|byte| byte.is_ascii_digit().then(|| i32::from(byte - b'0')))
        .collect::<Option<_>>()?;
    match digits[..] {
        [a, b] => Some(Some(sign * (a * 10 + b) * 3_600)),
        [a, b, c, d] => Some(Some(sign * ((a * 10 + b) * 3_600 + (c * 10 + d) * 60))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> LocalTimes {
        LocalTimes::new(zone_by_name("Europe/Berlin").unwrap())
    }

    #[test]
    fn local_times_are_read_by_the_rules_of_their_zone_also_from_memory() {
        let mut times = berlin();
        for _ in 0..2 {
            // 2024-01-15 12:00:05 UTC is 1,705,320,005; Berlin is an hour ahead in winter, two in
            // summer.
            assert_eq!(
                times.read(b"2024-01-15T13:00:05"),
                ReadTime::At(1_705_320_005)
            );
            assert_eq!(
                times.read(b"2024-07-15 14:00:05.75"),
                ReadTime::At(1_721_044_805)
            );
        }
        assert!(times.is_used());
        let mut times = berlin();
        for text in [
            "1705320005",
            "2024-01-15T12:00:05Z",
            "2024-01-15T12:00:05+00:00",
            "2024-01-15 21:00:05+0900",
        ] {
            assert_eq!(
                times.read(text.as_bytes()),
                ReadTime::At(1_705_320_005),
                "{text}"
            );
        }
        assert!(!times.is_used());
    }

    #[test]
    fn the_hour_that_comes_twice_and_the_one_that_never_comes_are_told() {
        let mut times = berlin();
        // The clock went from 3:00 back to 2:00 on 27 October 2024 at 1:00 UTC = 1,729,990,800.
        assert_eq!(
            times.read(b"2024-10-27T02:30:00"),
            ReadTime::Twice {
                first: 1_729_989_000,
                second: 1_729_992_600
            }
        );
        assert_eq!(
            times.read(b"2024-10-27T03:00:00"),
            ReadTime::At(1_729_994_400)
        );
        // And from 2:00 to 3:00 on 31 March at 1:00 UTC = 1,711,846,800.
        assert_eq!(
            times.read(b"2024-03-31T02:30:00"),
            ReadTime::Skipped(1_711_848_600)
        );
        assert_eq!(
            times.read(b"2024-03-31T01:59:59"),
            ReadTime::At(1_711_846_799)
        );
    }

    #[test]
    fn what_is_no_time_is_missing_or_invalid() {
        let mut times = berlin();
        for text in [
            "",
            "Unknown",
            "None",
            "NONE",
            "0",
            "-1",
            "1970-01-01T01:00:00",
        ] {
            assert_eq!(times.read(text.as_bytes()), ReadTime::Missing, "{text}");
        }
        for text in [
            "2024-02-30T00:00:00",
            "2024-13-01T00:00:00",
            "2024-01-01T24:00:00",
            "2024-01-01",
            "yesterday",
            "2024-01-01T00:00:00x",
            "99999999999",
            "4024-10-27T02:30:00",
            "4024-03-31T02:30:00",
            "2024-01-01T00:00:00+1",
        ] {
            assert_eq!(times.read(text.as_bytes()), ReadTime::Invalid, "{text}");
        }
    }
}
