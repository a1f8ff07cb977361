//! The page about jobs that only test the machine.

use super::*;

#[test]
fn hpc2n_gives_what_dropping_test_jobs_changes_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "cleaning/tests-hpc2n.toml");
    let page = read("measurements/test-jobs.md");
    let query = fs::read_to_string(project().join("configs/cleaning/tests.sql"));
    let store = folder.path().join("it.db");
    let found = rows(&store, &query.expect("a query"), |row| {
        let numbers: [f64; 4] = [
            row.get("gain")?,
            row.get("half_width")?,
            row.get("accepted")?,
            row.get("failed")?,
        ];
        let names: [String; 2] = [row.get("strategy")?, row.get("dropped")?];
        Ok((names, numbers))
    });
    assert_eq!(found.len(), 6);
    for ([strategy, dropped], [gain, half, accepted, failed]) in found {
        let row = format!(
            "| {strategy} | {dropped} | {} ± {} | {accepted:.1} | {failed:.1} |",
            grouped(gain),
            grouped(half),
        );
        assert!(page.contains(&row), "{row}");
    }
    let [query] = <[String; 1]>::try_from(queries("measurements/test-jobs.md")).expect("one");
    let lost = rows(&store, &query, |row| row.get::<_, i64>("dropped"));
    assert_eq!(lost, [5_822]);
}
