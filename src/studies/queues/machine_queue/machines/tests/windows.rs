//! Windows of the calendar, on the clock of the zone and of the trace.

use super::files::{WHOLE, read, refusal};
use crate::machine_queue::ClassIndex;
use crate::machine_queue::machines::TraceNames;
use bookahead_core::units::Nodes;

/// Windows as (begin, end) in seconds since 1970.
fn windows(window: &str) -> Vec<(i64, i64)> {
    let text = format!("{WHOLE}\n[[window]]\nname = \"w\"\n{window}");
    let machine = read(&text).on_the_clock_of(Some(0), &TraceNames::default());
    let windows = machine.expect("a clock").windows;
    windows
        .iter()
        .map(|window| (window.begin.0, window.end.0))
        .collect()
}

#[test]
fn a_window_that_repeats_keeps_its_local_time_over_a_change_of_summer_time() {
    // Berlin, 30 March 2024 at 22:00 is 21:00 UTC = 1,711,832,400; on 31 March the clock goes from
    // 2:00 to 3:00, so 22:00 is 20:00 UTC.
    let begin = 1_711_832_400;
    let found = windows(
        "begin = 2024-03-30T22:00:00\nlength_hours = 8\nrepeats = \"daily\"\nuntil = 2024-04-01",
    );
    let hour = 3_600;
    let expected = [0, 23, 47].map(|after| (begin + after * hour, begin + (after + 8) * hour));
    assert_eq!(found, expected);
    // Weekly, over the same night: 167 hours.
    let found = windows(
        "begin = 2024-03-27T22:00:00\nlength_hours = 1\nrepeats = \"weekly\"\nuntil = 2024-04-09",
    );
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].0 - found[0].0, 167 * hour);
    // 2:30 of that night never comes: an hour later by the clock. 2:30 of 27 October comes twice:
    // the first one, at 0:30 UTC.
    let skipped = windows("begin = 2024-03-31T02:30:00\nlength_hours = 1");
    assert_eq!(skipped, [(1_711_848_600, 1_711_852_200)]);
    let twice = windows("begin = 2024-10-27T02:30:00\nlength_hours = 1");
    assert_eq!(twice, [(1_729_989_000, 1_729_992_600)]);
}

#[test]
fn windows_are_on_the_clock_of_the_trace_and_those_before_it_are_left_out() {
    let text = format!(
        "{WHOLE}\n[[window]]\nname = \"w\"\nbegin = 1970-01-01T01:00:00\nlength_hours = 2\nrepeats = \"daily\"\nuntil = 1970-01-04\n\
         users = [4]\nnodes = {{ thin = 3 }}"
    );
    let description = read(&text);
    // Second 0 of the trace is an hour after the first window began.
    let machine = description
        .on_the_clock_of(Some(3_600), &TraceNames::default())
        .unwrap();
    let found: Vec<i64> = machine
        .windows
        .iter()
        .map(|window| window.begin.0)
        .collect();
    assert_eq!(found, [-3_600, 82_800, 169_200, 255_600]);
    assert_eq!(machine.windows[0].nodes, [(ClassIndex(0), Nodes(3))]);
    assert_eq!(machine.windows[0].users, [4]);
    let later = description
        .on_the_clock_of(Some(10_000), &TraceNames::default())
        .unwrap();
    assert_eq!(later.windows.len(), 3);
    let error = description
        .on_the_clock_of(None, &TraceNames::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("UnixStartTime"), "{error}");
    // Without windows nobody asks for a clock.
    assert!(
        read(WHOLE)
            .on_the_clock_of(None, &TraceNames::default())
            .is_ok()
    );
}

#[test]
fn a_wrong_window_is_told() {
    for (window, key, told) in [
        (
            "begin = 2024-01-01T00:00:00Z\nlength_hours = 1",
            "window.begin",
            "no local date and time",
        ),
        (
            "begin = 2024-01-01\nlength_hours = 0",
            "window.length_hours",
            "out of range",
        ),
        (
            "begin = 2024-01-01T00:00:00\nlength_hours = 25\nrepeats = \"daily\"\nuntil = 2024-02-01",
            "window.length_hours",
            "longer than the time",
        ),
        (
            "begin = 2024-01-01T00:00:00\nlength_hours = 1\nrepeats = \"daily\"",
            "window.until",
            "it is missing",
        ),
        (
            "begin = 2024-01-01T00:00:00\nlength_hours = 1\nuntil = 2024-02-01",
            "window.until",
            "does not repeat",
        ),
        (
            "begin = 2024-01-01T00:00:00\nlength_hours = 1\nrepeats = \"daily\"\nuntil = 2023-02-01",
            "window.until",
            "before the first",
        ),
        (
            "begin = 0001-01-01T00:00:00\nlength_hours = 1\nrepeats = \"daily\"\nuntil = 9000-01-01",
            "window.until",
            "more than 100000 times",
        ),
        (
            "begin = 2024-01-01T00:00:00\nlength_hours = 1\nnodes = { fat = 1 }",
            "window.nodes.fat",
            "there is no class",
        ),
        (
            "begin = 2024-01-01T00:00:00\nlength_hours = 1\nnodes = { thin = 11 }",
            "window.nodes.thin",
            "11 of its 10 nodes",
        ),
    ] {
        let error = refusal(&format!("{WHOLE}\n[[window]]\nname = \"w\"\n{window}"));
        assert!(
            error.contains(key) && error.contains(told),
            "{window}: {error}"
        );
    }
}
