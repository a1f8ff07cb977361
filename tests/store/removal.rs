//! Runs that are deleted or archived: what goes, what stays, and that no end in between loses a run
//! or leaves half of one.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use super::{
    co_reservations::several_clusters, connection, count, folder, provisioning::workflows,
};
use bookahead::estimates::WaitCalibration;
use bookahead::store::{
    ArchiveStep, MergeOptions, OutcomeDetail, RunId, RunSelector, RunState, Store, StoreError,
    Writer,
};
use bookahead::studies::STUDIES;
use bookahead::study::{SimulationResult, StudyRows};
use bookahead_reservations::virtual_reservations::VirtualStudyRun;
use bookahead_reservations::virtual_reservations::study as virtual_reservations;
use bookahead_testutils::runs::{finished, point, record, result, write_run};

/// A run of these simulations, each with jobs of its own.
fn run(path: &Path, name: &str, simulations: &[&str]) -> RunId {
    let simulations = simulations.iter().map(|id| {
        let jobs = 10 + id.bytes().map(u32::from).sum::<u32>() % 7;
        finished(id, "easy", 0, result(jobs), vec![point(id, &[], 0, 1.0)])
    });
    let simulations: Vec<_> = simulations.collect();
    let points = simulations.len() as u64;
    write_run(path, &record(name, Vec::new(), points), simulations)
}

/// A run whose simulation has virtual reservations before jobs that simulations share.
fn virtual_run(path: &Path) -> RunId {
    let rows = virtual_reservations::Rows::new(VirtualStudyRun {
        trials: Vec::new(),
        ends_idle_jobs: false,
        calibration: WaitCalibration::default(),
        jobs: result(6).outcomes,
    });
    let result = SimulationResult {
        rows: StudyRows::of(rows),
        ..SimulationResult::default()
    };
    let points = vec![point("virtual", &[], 0, 1.0)];
    let simulation = finished("virtual", "virtual-reservations", 0, result, points);
    write_run(path, &record("virtual", Vec::new(), 1), vec![simulation])
}

/// The rows of every table as text.
fn tables(store: &Path) -> BTreeMap<String, Vec<String>> {
    let file = Connection::open(store).unwrap();
    let names: Vec<String> = file
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let rows = |name: &String| -> Vec<String> {
        let mut statement = file.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns = statement.column_count();
        let mut rows: Vec<String> = statement
            .query_map([], |row| {
                let values = (0..columns).map(|at| format!("{:?}", row.get_ref_unwrap(at)));
                Ok(values.collect::<Vec<_>>().join("|"))
            })
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        rows.sort();
        rows
    };
    names
        .iter()
        .map(|name| (name.clone(), rows(name)))
        .collect()
}

fn sound(store: &Path) {
    let found = Store::open_read_only(STUDIES, store)
        .unwrap()
        .verify()
        .unwrap();
    assert_eq!(found.findings, [], "{}", store.display());
}

fn has(store: &Path, run: RunId) -> bool {
    store.exists()
        && Store::open_read_only(STUDIES, store)
            .and_then(|store| store.run(&RunSelector::Id(run.0)))
            .is_ok()
}

#[test]
fn of_deleted_runs_no_table_of_any_study_keeps_a_row() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let runs = [
        several_clusters(&path, OutcomeDetail::All),
        workflows(&path, OutcomeDetail::All),
        virtual_run(&path),
        run(&path, "jobs", &["a", "b"]),
    ];
    let before = tables(&path);
    for table in ["job", "virtual_background_job", "co_part", "workflow_task"] {
        assert!(!before[table].is_empty(), "{table}");
    }
    let store = Store::open(STUDIES, &path).unwrap();
    store.tag(runs[3], &["paper".parse().unwrap()]).unwrap();
    let used = store.delete_runs(&runs).unwrap();
    assert_eq!(used.points, used.own_points);
    drop(store);
    sound(&path);
    let empty = folder.path().join("empty.db");
    drop(Store::open(STUDIES, &empty).unwrap());
    let new = tables(&empty);
    let grown: Vec<String> = tables(&path)
        .into_iter()
        .filter(|(name, rows)| rows.len() > new[name].len())
        .map(|(name, _)| name)
        .collect();
    // Strategies have a code from the first run on that used them.
    assert_eq!(grown, ["run_gone", "strategy"]);
}

#[test]
fn an_archive_has_every_row_of_its_runs_as_it_was_in_every_table_of_every_study() {
    let folder = folder();
    let (path, archive) = (folder.path().join("store.db"), folder.path().join("a.db"));
    // Numbers and codes that a new store would not give.
    let first = run(&path, "first", &["x", "y"]);
    let runs = [
        several_clusters(&path, OutcomeDetail::All),
        workflows(&path, OutcomeDetail::All),
        virtual_run(&path),
    ];
    Store::open(STUDIES, &path)
        .unwrap()
        .delete_runs(&[first])
        .unwrap();
    let before = tables(&path);
    let store = Store::open(STUDIES, &path).unwrap();
    store
        .archive_runs(&runs, &archive, &mut |_| Ok(()))
        .unwrap();
    drop(store);
    sound(&path);
    sound(&archive);
    for (name, rows) in tables(&archive) {
        if name != "run_gone" {
            assert_eq!(rows, before[&name], "{name}");
        }
    }
}

#[test]
fn what_other_runs_use_stays_theirs_and_counts_as_computed_by_the_first_of_them() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let [first, second, third] = [
        run(&path, "first", &["a", "b", "c"]),
        run(&path, "second", &["b", "d"]),
        run(&path, "third", &["c", "b"]),
    ];
    let store = Store::open(STUDIES, &path).unwrap();
    let used = store.use_of(&[first]).unwrap();
    assert_eq!((used.points, used.own_points), (3, 1));
    assert_eq!((used.simulations, used.own_simulations), (3, 1));
    assert_eq!(used.others, [(second, 1), (third, 2)]);
    let points = |run| store.measured_points(run).unwrap();
    let before = (points(second), points(third));
    assert_eq!(store.delete_runs(&[first]).unwrap(), used);
    assert_eq!((points(second), points(third)), before);
    let computed_by: String = connection(&store)
        .query_row(
            "SELECT group_concat(substr(identity, 1, 1) || computed_by, ' ' ORDER BY identity) FROM simulation",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(computed_by, "b2 c3 d2");
    sound(&path);
    // Its number is not given again.
    let gone = store.run(&RunSelector::Id(first.0)).unwrap_err();
    assert!(
        gone.to_string().contains("`first` was deleted on 20"),
        "{gone}"
    );
    store.delete_runs(&[third]).unwrap();
    drop(store);
    assert_eq!(run(&path, "fourth", &["a"]), RunId(4));
}

#[test]
fn a_run_of_a_program_that_is_at_work_is_neither_deleted_nor_archived() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let old = run(&path, "old", &["a", "b"]);
    let store = Store::open(STUDIES, &path).unwrap();
    let live = store.begin_run(&record("live", Vec::new(), 2)).unwrap();
    let writer = Writer::start(store, live, OutcomeDetail::All, 1);
    let of = |id| finished(id, "easy", 0, result(4), vec![point(id, &[], 0, 1.0)]);
    writer.handle().write(of("b")).unwrap();
    let store = Store::open(STUDIES, &path).unwrap();
    let archive = folder.path().join("archive.db");
    for refused in [
        store.use_of(&[live]).map(drop),
        store.delete_runs(&[old, live]).map(drop),
        store
            .archive_runs(&[live], &archive, &mut |_| Ok(()))
            .map(drop),
    ] {
        let error = refused.unwrap_err();
        assert!(
            matches!(error, StoreError::RunUnderWay { run, .. } if run == live.0),
            "{error}"
        );
    }
    assert!(has(&path, old) && !archive.exists());
    // Another run goes while this one is written, which shows a simulation of it.
    store
        .archive_runs(&[old], &archive, &mut |_| Ok(()))
        .unwrap();
    writer.handle().write(of("c")).unwrap();
    writer.finish(RunState::Done).unwrap();
    drop(store);
    sound(&path);
    sound(&archive);
    let live = Store::open(STUDIES, &path)
        .unwrap()
        .run(&RunSelector::Latest)
        .unwrap();
    assert_eq!((live.points_done, live.state.as_str()), (2, "done"));
}

/// The steps of an archive that is new.
const STEPS: [ArchiveStep; 5] = [
    ArchiveStep::Verify,
    ArchiveStep::Copy,
    ArchiveStep::Compare,
    ArchiveStep::Name,
    ArchiveStep::Remove,
];

#[test]
fn an_end_before_any_step_leaves_the_run_whole_in_a_store_and_the_same_call_goes_on() {
    for step in STEPS {
        let folder = folder();
        let (path, archive) = (folder.path().join("store.db"), folder.path().join("a.db"));
        let moved = run(&path, "moved", &["a", "b"]);
        run(&path, "stays", &["b", "c"]);
        let before = tables(&path);
        let store = Store::open(STUDIES, &path).unwrap();
        let mut end = |next: ArchiveStep| {
            if next == step {
                Err(StoreError::Busy { path: path.clone() })
            } else {
                Ok(())
            }
        };
        store
            .archive_runs(&[moved], &archive, &mut end)
            .unwrap_err();
        assert_eq!(tables(&path), before, "{step:?}");
        assert_eq!(archive.exists(), step == ArchiveStep::Remove);
        let mut steps = Vec::new();
        store
            .archive_runs(&[moved], &archive, &mut |step| {
                steps.push(step);
                Ok(())
            })
            .unwrap();
        assert_eq!(
            steps.contains(&ArchiveStep::Resume),
            step == ArchiveStep::Remove
        );
        drop(store);
        assert!(!has(&path, moved) && has(&archive, moved), "{step:?}");
        sound(&path);
        sound(&archive);
    }
}

#[test]
fn what_changes_while_it_is_copied_is_not_removed() {
    let folder = folder();
    let (path, archive) = (folder.path().join("store.db"), folder.path().join("a.db"));
    let moved = run(&path, "moved", &["a"]);
    let store = Store::open(STUDIES, &path).unwrap();
    let mut tag = |step: ArchiveStep| {
        if step == ArchiveStep::Remove {
            let other = Store::open(STUDIES, &path)?;
            other.tag(moved, &["paper".parse().unwrap()])?;
        }
        Ok(())
    };
    let error = store
        .archive_runs(&[moved], &archive, &mut tag)
        .unwrap_err();
    assert!(
        error.to_string().contains("changed the runs while"),
        "{error}"
    );
    assert!(has(&path, moved));
    // Nor is it what a later attempt takes for the archive.
    let error = store
        .archive_runs(&[moved], &archive, &mut |_| Ok(()))
        .unwrap_err();
    assert!(error.to_string().contains("nothing was removed"), "{error}");
    assert!(has(&path, moved));
}

#[test]
fn a_store_is_no_archive_of_itself_and_another_file_is_not_overwritten() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let moved = run(&path, "moved", &["a"]);
    let other = folder.path().join("other.db");
    run(&other, "moved", &["b"]);
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "mine").unwrap();
    let again = folder.path().join("again.db");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, &again).unwrap();
    let store = Store::open(STUDIES, &path).unwrap();
    for to in [&path, &again, &other, &text] {
        if to.exists() {
            store
                .archive_runs(&[moved], to, &mut |_| Ok(()))
                .unwrap_err();
        }
    }
    assert!(has(&path, moved));
    assert_eq!(std::fs::read_to_string(&text).unwrap(), "mine");
    sound(&other);
}

#[test]
fn merging_an_archive_brings_its_run_back_under_its_number() {
    let folder = folder();
    let (path, archive) = (folder.path().join("store.db"), folder.path().join("a.db"));
    let moved = run(&path, "moved", &["a", "b"]);
    run(&path, "stays", &["b", "c"]);
    let store = Store::open(STUDIES, &path).unwrap();
    let before = store.measured_points(moved).unwrap();
    store
        .archive_runs(&[moved], &archive, &mut |_| Ok(()))
        .unwrap();
    let gone = store
        .run(&RunSelector::Name("moved".to_owned()))
        .unwrap_err();
    assert!(gone.to_string().contains("a.db"), "{gone}");
    assert_eq!(store.gone_runs().unwrap().len(), 1);
    Store::merge(STUDIES, &path, &[archive], MergeOptions::default()).unwrap();
    assert_eq!(store.gone_runs().unwrap(), []);
    let after = store.measured_points(moved).unwrap();
    let of = |points: &[bookahead::store::MeasuredPoint]| -> Vec<_> {
        let points = points.iter();
        points
            .map(|point| (point.identity.clone(), point.values.clone()))
            .collect()
    };
    assert_eq!(of(&after), of(&before));
    sound(&path);
}

#[test]
fn the_room_of_what_was_deleted_is_given_back_to_the_disk_by_old_stores_too() {
    for is_old in [false, true] {
        let folder = folder();
        let path = folder.path().join("store.db");
        let names: Vec<String> = (0..60).map(|at| format!("simulation {at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        run(&path, "stays", &["a"]);
        let large = run(&path, "large", &names);
        if is_old {
            Connection::open(&path)
                .unwrap()
                .execute_batch("PRAGMA auto_vacuum = NONE; VACUUM")
                .unwrap();
        }
        let store = Store::open(STUDIES, &path).unwrap();
        let mode = |store: &Store| count(&connection(store), "PRAGMA auto_vacuum");
        assert_eq!(mode(&store), if is_old { 0 } else { 2 });
        let before = std::fs::metadata(&path).unwrap().len();
        store.delete_runs(&[large]).unwrap();
        assert_eq!(store.is_written_anew_for_room().unwrap(), is_old);
        let pages = count(&connection(&store), "PRAGMA page_count");
        let held = (pages * count(&connection(&store), "PRAGMA page_size")) as u64;
        let given_back = store.give_room_back().unwrap();
        let after = std::fs::metadata(&path).unwrap().len();
        assert!(after < before, "{after} of {before}");
        assert_eq!(given_back, held - after);
        assert_eq!(count(&connection(&store), "PRAGMA freelist_count"), 0);
        assert_eq!(mode(&store), 2);
        drop(store);
        sound(&path);
    }
}
