//! Times as Slurm writes them.

/// A time in seconds: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`,
/// `days-hours:minutes`, `days-hours:minutes:seconds`; `Some(None)` is `UNLIMITED` or `INFINITE`,
/// `None` is no time at all.
pub(super) fn seconds(text: &str) -> Option<Option<u64>> {
    let is = |word| text.eq_ignore_ascii_case(word);
    if is("UNLIMITED") || is("INFINITE") || text == "-1" {
        return Some(None);
    }
    let number = |text: &str| -> Option<u64> { text.parse().ok().filter(|n| *n < 1_000_000_000) };
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(number(days)?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> = rest.split(':').map(number).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match (days, &parts[..]) {
        (None, [minutes]) => (0, *minutes, 0),
        (None, [minutes, seconds]) => (0, *minutes, *seconds),
        (Some(_), [hours]) => (*hours, 0, 0),
        (Some(_), [hours, minutes]) => (*hours, *minutes, 0),
        (_, [hours, minutes, seconds]) => (*hours, *minutes, *seconds),
        _ => return None,
    };
    Some(Some(
        days.unwrap_or(0) * 86_400 + hours * 3_600 + minutes * 60 + seconds,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_of_writing_a_time_is_read() {
        for (text, expected) in [
            ("30", 1_800),
            ("30:15", 1_815),
            ("1:30:15", 5_415),
            ("7-0", 604_800),
            ("1-12", 129_600),
            ("1-12:30", 131_400),
            ("1-12:30:05", 131_405),
        ] {
            assert_eq!(seconds(text), Some(Some(expected)), "{text}");
        }
        assert_eq!(seconds("unlimited"), Some(None));
        for text in ["", "a", "1-", "1:2:3:4", "1-2-3"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
