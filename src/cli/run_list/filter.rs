//! Which runs `bookahead runs` lists.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan as _};

use crate::cli::screen::LookError;
use crate::cli::studies;
use crate::store::{RunFilter, Tag};

/// Conditions on runs; all that are given hold.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct FilterArguments {
    /// Only experiments of this name: `*` stands for any characters, `?` for one
    #[arg(long, value_name = "GLOB")]
    pub name: Option<String>,
    /// Only runs with simulations of this study
    #[arg(long)]
    pub study: Option<String>,
    /// Only runs in this state
    #[arg(long, value_parser = ["running", "done", "interrupted", "failed"])]
    pub state: Option<String>,
    /// Only runs that began on this day (UTC) or later: `2026-11-24`, or `2026-11-24 22:00`
    #[arg(long, value_name = "DATE", value_parser = Moment::parse)]
    pub since: Option<Moment>,
    /// Only runs that began on this day (UTC) or before
    #[arg(long, value_name = "DATE", value_parser = Moment::parse)]
    pub until: Option<Moment>,
    /// Only runs with this tag (may be given several times: with all of them)
    #[arg(long)]
    pub tag: Vec<Tag>,
}

impl FilterArguments {
    /// The filter of the store.
    ///
    /// # Errors
    ///
    /// When there is no such study.
    pub(super) fn filter(&self) -> Result<RunFilter, LookError> {
        if let Some(study) = &self.study {
            let known: Vec<&str> = studies().iter().map(|study| study.name()).collect();
            if !known.contains(&study.as_str()) {
                return Err(LookError::Use(format!(
                    "no study is called `{study}`; there are {}",
                    known.join(", ")
                )));
            }
        }
        Ok(RunFilter {
            name: self.name.clone(),
            study: self.study.clone(),
            state: self.state.clone(),
            since: self.since.map(|moment| moment.begins),
            before: self.until.map(|moment| moment.ends),
            tags: self.tag.clone(),
        })
    }
}

/// A day, or a minute of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// When it begins, milliseconds since 1970 (UTC).
    begins: i64,
    /// When the next one begins.
    ends: i64,
}

impl Moment {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no date: allowed are 2026-11-24 and `2026-11-24 22:00` (UTC)");
        let (begins, length): (DateTime, Span) = match text.parse::<Date>() {
            Ok(day) if text.len() == "2026-11-24".len() => (day.into(), 1.day()),
            _ => {
                let minute = DateTime::strptime("%Y-%m-%d %H:%M", text);
                (minute.map_err(|_| wrong())?, 1.minute())
            }
        };
        let milliseconds = |time: DateTime| {
            let time = TimeZone::UTC.to_timestamp(time).map_err(|_| wrong())?;
            Ok::<_, String>(time.as_millisecond())
        };
        Ok(Self {
            begins: milliseconds(begins)?,
            ends: milliseconds(begins.checked_add(length).map_err(|_| wrong())?)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_where_the_next_one_begins_and_a_minute_after_sixty_seconds() {
        let day = Moment::parse("2026-11-24").unwrap();
        // 20,781 days after the first of January 1970.
        assert_eq!(day.begins, 20_781 * 86_400_000);
        assert_eq!(day.ends, Moment::parse("2026-11-25").unwrap().begins);
        let minute = Moment::parse("2026-11-24 22:00").unwrap();
        assert_eq!(minute.begins - day.begins, 22 * 3_600_000);
        assert_eq!(minute.ends - minute.begins, 60_000);
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "24.11.2026",
            "2026-11-24 25:00",
            "20261124",
        ] {
            assert!(
                Moment::parse(text).unwrap_err().contains("2026-11-24"),
                "{text}"
            );
        }
    }
}
