//! The answer of a comparison: what it averages over, its n, and when there is none.

use super::*;

#[test]
fn runs_with_other_numbers_of_replications_each_have_their_own_n_and_its_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    for (name, replications, more) in [("a", 12, 2), ("b", 12, 3), ("c", 6, 4)] {
        let gains = move |_, replication| Some(100 + more * i64::from(replication));
        made(&path, name, "none", replications, &gains);
    }
    let runs = read(&[(&path, 1), (&path, 2), (&path, 3)]);
    let comparison = Comparison::new(&runs, &[]);
    let answers = answer::answers(&comparison);
    assert!(
        answers[0].contains("n = 12 pairs of replications)"),
        "{answers:?}"
    );
    assert!(
        answers[1].contains("n = 6 pairs of replications, which are few)"),
        "{answers:?}"
    );
    let trust = trust::trust(&comparison);
    let own = "gain (VC): 12 replications with b; 6 replications with c, which are few";
    assert!(trust.contains(&(false, own.to_owned())), "{trust:?}");
}

/// Writes a run of two strategies with two replications; `more` is what overbooking earns on top.
fn of_two_strategies(path: &Path, name: &str, more: i64) {
    let strategies = ["heuristic-planning", "heuristic-overbooking"];
    let axes = vec![axis("scheduling.strategy", &strategies.map(text))];
    let store = Store::open(STUDIES, path).unwrap();
    let run = store.begin_run(&record(name, axes, 4)).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::None, 4);
    for (strategy, more) in strategies.into_iter().zip([0, more]) {
        for replication in 0..2 {
            let id = format!("{name}-{strategy}-{replication}");
            let values = [("scheduling.strategy", text(strategy))];
            let points = vec![point(&id, &values, replication, 1.0)];
            let metrics = SimulationMetrics {
                fees: NodeSeconds((100 + more * i64::from(1 + replication)) * 3_600),
                submitted: 10,
                ..SimulationMetrics::default()
            };
            let result = SimulationResult {
                metrics,
                ..SimulationResult::default()
            };
            let done = finished(&id, strategy, replication, result, points);
            writer.handle().write(done).unwrap();
        }
    }
    writer.finish(RunState::Done).unwrap();
}

#[test]
fn strategies_that_did_not_change_are_named_and_not_averaged_with_those_that_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    of_two_strategies(&path, "a", 0);
    of_two_strategies(&path, "b", 8);
    let runs = read(&[(&path, 1), (&path, 2)]);
    let comparison = Comparison::new(&runs, &[]);
    let said = answer::answers(&comparison).remove(0);
    // Overbooking earns 8 and 16 more: 12 on average, 6 if planning were averaged with it.
    assert!(
        said.starts_with(
            "b earned 12.0 coins more than a per replication with heuristic-overbooking (± 50.8, "
        ),
        "{said}"
    );
    assert!(
        said.contains("With heuristic-planning, gain (VC) did not change."),
        "{said}"
    );
    // The table and its query have the same number.
    let table = tables::overall(&comparison, "main", &comparison.main);
    let at = |name: &str| table.columns.iter().position(|column| column.key == name);
    let Cell::Estimate(difference) = &table.rows[0][at("difference").unwrap()] else {
        panic!("{:?}", table.rows)
    };
    assert_eq!(difference.mean, 12.0);
    let connection = Connection::open(&path).unwrap();
    let asked: f64 = connection
        .query_row(&table.sql, [], |row| row.get(4))
        .unwrap();
    assert_eq!(asked, 12.0, "{}", table.sql);
}

#[test]
fn runs_that_have_nothing_in_common_are_not_comparable_and_the_first_sentence_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    made(&path, "a", "none", 3, &|_, _| Some(100));
    made(&path, "b", "generated", 3, &|_, _| Some(100));
    let runs = read(&[(&path, 1), (&path, 2)]);
    let said = answer::answers(&Comparison::new(&runs, &[])).remove(0);
    assert!(
        said.starts_with("a and b are not comparable, because no point of one has a partner"),
        "{said}"
    );
}
