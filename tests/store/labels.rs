//! Tags and notes, the runs that they find, and how far interrupted runs came.

use std::path::Path;

use super::{connection, folder};
use bookahead::store::{
    MergeOptions, OutcomeDetail, PendingSimulation, RunFilter, RunId, RunLabels, RunSelector,
    RunState, Store, StoreError, Tag, Writer,
};
use bookahead::studies::STUDIES;
use bookahead_testutils::runs::{finished, point, record, result, spec, write_run};

fn tags(words: &[&str]) -> Vec<Tag> {
    words.iter().map(|word| word.parse().unwrap()).collect()
}

/// A finished run with one simulation under this strategy.
fn run(path: &Path, name: &str, strategy: &str) -> RunId {
    let points = vec![point(name, &[], 0, 1.0)];
    let simulation = finished(name, strategy, 0, result(3), points);
    write_run(path, &record(name, Vec::new(), 1), vec![simulation])
}

fn labels(words: &[&str], note: Option<&str>) -> RunLabels {
    RunLabels {
        tags: words.iter().map(|&word| word.to_owned()).collect(),
        note: note.map(str::to_owned),
    }
}

#[test]
fn tags_are_kept_in_order_and_once_and_taken_away_again_and_a_note_takes_the_place_of_another() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let run = run(&path, "a", "easy");
    let store = Store::open(STUDIES, &path).unwrap();
    let said = store.tag(run, &tags(&["paper", "night", "paper"])).unwrap();
    assert_eq!(said, labels(&["night", "paper"], None));
    store.set_note(run, "before the new nodes").unwrap();
    let said = store.set_note(run, "after them").unwrap();
    assert_eq!(said, labels(&["night", "paper"], Some("after them")));
    let view: (String, String) = connection(&store)
        .query_row("SELECT tags, note FROM v_run", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(view, ("night, paper".to_owned(), "after them".to_owned()));
    store.untag(run, &tags(&["night", "unknown"])).unwrap();
    assert_eq!(store.set_note(run, "").unwrap(), labels(&["paper"], None));
    let found = store.run(&RunSelector::Id(run.0)).unwrap().labels;
    assert_eq!(found, labels(&["paper"], None));
    assert_eq!(store.run_progress().unwrap()[0].labels, found);
    // A label is no result: the run is as it was written.
    assert_eq!(store.verify().unwrap().findings, []);
    let none = store.tag(RunId(7), &tags(&["x"])).unwrap_err();
    assert!(matches!(none, StoreError::NoRun { .. }), "{none}");
}

#[test]
fn runs_are_found_by_name_study_state_date_and_tag_and_by_all_of_them_together() {
    let folder = folder();
    let path = folder.path().join("store.db");
    run(&path, "night-1", "easy");
    run(&path, "night-2", "replanning");
    run(&path, "day", "easy");
    let store = Store::open(STUDIES, &path).unwrap();
    for (number, began, words) in [
        (1, 1_000, &["paper", "old"][..]),
        (2, 2_000, &["paper"]),
        (3, 3_000, &[]),
    ] {
        connection(&store)
            .execute("UPDATE run SET started = ?2 WHERE id = ?1", [number, began])
            .unwrap();
        store.tag(RunId(number), &tags(words)).unwrap();
    }
    connection(&store)
        .execute("UPDATE run SET state = 3 WHERE id = 3", [])
        .unwrap();
    let all = RunFilter::default;
    let text = |text: &str| Some(text.to_owned());
    let cases = [
        (all(), vec![1, 2, 3]),
        (
            RunFilter {
                name: text("night-*"),
                ..all()
            },
            vec![1, 2],
        ),
        (
            RunFilter {
                name: text("night"),
                ..all()
            },
            vec![],
        ),
        (
            RunFilter {
                name: text("?ay"),
                ..all()
            },
            vec![3],
        ),
        (
            RunFilter {
                study: text("reservations"),
                ..all()
            },
            vec![2],
        ),
        (
            RunFilter {
                study: text("overbooking"),
                ..all()
            },
            vec![1, 3],
        ),
        (
            RunFilter {
                state: text("failed"),
                ..all()
            },
            vec![3],
        ),
        (
            RunFilter {
                since: Some(2_000),
                ..all()
            },
            vec![2, 3],
        ),
        (
            RunFilter {
                before: Some(2_000),
                ..all()
            },
            vec![1],
        ),
        (
            RunFilter {
                tags: tags(&["paper"]),
                ..all()
            },
            vec![1, 2],
        ),
        (
            RunFilter {
                tags: tags(&["paper", "old"]),
                ..all()
            },
            vec![1],
        ),
        (
            RunFilter {
                name: text("*"),
                study: text("overbooking"),
                state: text("done"),
                since: Some(0),
                before: Some(4_000),
                tags: tags(&["paper"]),
            },
            vec![1],
        ),
    ];
    for (filter, expected) in cases {
        let found = store.runs_where(&filter).unwrap();
        let found: Vec<i64> = found.iter().map(|run| run.id.0).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

#[test]
fn a_run_that_is_merged_keeps_its_tags_and_its_note() {
    let folder = folder();
    let (path, joined) = (folder.path().join("a.db"), folder.path().join("joined.db"));
    let run = run(&path, "a", "easy");
    let store = Store::open(STUDIES, &path).unwrap();
    store.tag(run, &tags(&["paper"])).unwrap();
    let said = store.set_note(run, "a note").unwrap();
    Store::merge(STUDIES, &joined, &[path], MergeOptions::default()).unwrap();
    let joined = Store::open_read_only(STUDIES, &joined).unwrap();
    assert_eq!(joined.run(&RunSelector::Latest).unwrap().labels, said);
}

/// Begins a run with five simulations, writes those of `computes`, and ends as `state` says.
fn night(path: &Path, computes: std::ops::Range<usize>, state: RunState) -> RunId {
    let names = ["a", "b", "c", "d", "e"];
    let points = names.map(|name| point(name, &[], 0, 1.0));
    let of = |at: usize| finished(names[at], "easy", 0, result(3), vec![points[at].clone()]);
    let store = Store::open(STUDIES, path).unwrap();
    let run = store.begin_run(&record("night", Vec::new(), 5)).unwrap();
    let pending = (0..5).map(|at| PendingSimulation {
        id: of(at).id,
        spec: spec("easy", 0),
        points: vec![&points[at]],
    });
    store.enter_pending(run, pending, false).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 1);
    for at in computes {
        writer.handle().write(of(at)).unwrap();
    }
    writer.finish(state).unwrap();
    // The clock of results has milliseconds.
    std::thread::sleep(std::time::Duration::from_millis(5));
    run
}

#[test]
fn an_interrupted_run_says_how_far_it_came_and_which_runs_finished_it() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let words = |run: RunId| {
        let store = Store::open_read_only(STUDIES, &path).unwrap();
        store.run(&RunSelector::Id(run.0)).unwrap().state_in_words()
    };
    let first = night(&path, 0..2, RunState::Interrupted);
    assert_eq!(words(first), "interrupted");
    let second = night(&path, 2..3, RunState::Interrupted);
    assert_eq!(words(first), "interrupted at 2; continued by run 2");
    let third = night(&path, 3..5, RunState::Done);
    assert_eq!(words(first), "interrupted at 2; finished by runs 2, 3");
    assert_eq!(words(second), "interrupted at 3; finished by run 3");
    assert_eq!(words(third), "done");
    let store = Store::open(STUDIES, &path).unwrap();
    let first = store.run(&RunSelector::Id(first.0)).unwrap();
    assert_eq!((first.points_done, first.points), (5, 5));
}
