//! Files for first experiments, of every study.

use bookahead::studies::STUDIES;
use bookahead::sweep::{Beginning, Experiment, beginnings, starter};

#[test]
fn every_first_experiment_is_valid_small_and_sets_nothing_that_does_not_count() {
    for Beginning { name, .. } in beginnings(STUDIES) {
        let text = starter(STUDIES, &name).unwrap();
        let experiment = Experiment::parse(STUDIES, &name, &text, None)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            experiment.warnings.is_empty(),
            "{name}: {:?}",
            experiment.warnings
        );
        let points = experiment.sweep.points.len();
        assert!((6..=60).contains(&points), "{name}: {points} points");
    }
    assert_eq!(starter(STUDIES, "no-such-study"), None);
}

#[test]
fn every_key_in_a_comment_may_be_set_to_what_stands_there() {
    for study in STUDIES.iter() {
        let name = study.name().to_owned();
        let text = starter(STUDIES, &name).unwrap();
        let mut table = "";
        let mut tried = 0;
        for (number, line) in text.lines().enumerate() {
            if let Some(path) = line.trim_start_matches('#').strip_prefix('[') {
                table = path.trim_end_matches(']');
            }
            let Some(setting) = line
                .strip_prefix('#')
                .filter(|rest| rest.starts_with(|first: char| first.is_ascii_lowercase()))
            else {
                continue;
            };
            // The same line may stand in several tables.
            let header = format!("#[{table}]");
            let lines = text.lines().enumerate().map(|(place, other)| {
                if place == number {
                    setting
                } else if other == header {
                    &other[1..]
                } else {
                    other
                }
            });
            let changed = lines.collect::<Vec<_>>().join("\n");
            let read = Experiment::parse(STUDIES, &name, &changed, None);
            assert!(
                read.is_ok(),
                "{name}, {table}, {setting}: {}",
                read.unwrap_err()
            );
            tried += 1;
        }
        assert!(tried >= 10, "{name}: {tried} keys");
    }
}

#[test]
fn a_key_that_counts_only_beside_another_value_is_not_shown() {
    let text = starter(STUDIES, "heuristic-overbooking").unwrap();
    assert!(text.contains("#laxity = 2"), "{text}");
    assert!(
        !text.contains("calibration_half_life_jobs"),
        "no calibration is chosen"
    );
    assert!(!text.contains("[queue]"), "another study's table");
}
