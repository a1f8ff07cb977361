//! The page about users who ask for more time while their jobs run.

use super::users::said;
use super::*;

#[test]
fn hpc2n_gives_what_is_asked_for_and_granted_again_and_what_it_changes() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let strategies = r#"["conservative-backfilling", "comprehensive-overbooking", "heuristic-planning", "heuristic-overbooking"]"#;
    let part = shortened(
        folder.path(),
        "longer-estimates/hpc2n.toml",
        &[
            (strategies, r#"["heuristic-planning"]"#),
            ("values = [0, 50, 100]", "values = [0, 100]"),
            ("values = [10, 60]", "values = [60]"),
        ],
    );
    run(folder.path(), part);
    let page = read("measurements/longer-estimates.md");
    let query = fs::read_to_string(project().join("configs/longer-estimates/paired.sql"));
    let found = rows(
        &folder.path().join("it.db"),
        &query.expect("a query"),
        |row| {
            let number = |name: &str| row.get::<_, f64>(name);
            let change = |name: &str| -> rusqlite::Result<String> {
                let variance = number(&format!("{name}_variance"))?;
                Ok(said(number(name)?, 2.093 * variance.sqrt()))
            };
            let granted = format!(
                "| HPC2N | heuristic-planning | 100 | 60 | {:.1} | {:.1} | {:.1} | {} |",
                number("asked")?,
                number("in_full")?,
                number("in_part")?,
                grouped(number("granted")?),
            );
            let changed = format!(
                "| HPC2N | heuristic-planning | 100 | 60 | {} ({}) | {} ({:.1}) | {} ({:.1}) |",
                change("gain")?,
                grouped(number("base")?),
                change("accepted")?,
                number("base_accepted")?,
                change("failed")?,
                number("base_failed")?,
            );
            Ok([granted, changed])
        },
    );
    assert_eq!(found.len(), 1);
    for row in found.iter().flatten() {
        assert!(page.contains(row), "{row}");
    }
}
