//! The page about jobs that are planned on top of their predecessors.

use super::*;

#[test]
fn sdsc_sp2_gives_what_jobs_on_top_of_their_predecessors_are_worth_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "overlap/sdsc-sp2.toml");
    let page = read("measurements/overlap.md");
    let query = fs::read_to_string(project().join("configs/overlap/paired.sql"));
    let store = folder.path().join("it.db");
    let found = rows(&store, &query.expect("a query"), |row| {
        let numbers: [f64; 3] = [row.get("base")?, row.get("more")?, row.get("half_width")?];
        let is_held: bool = row.get("held")?;
        Ok((row.get::<_, String>("quantity")?, is_held, numbers))
    });
    for (held, is_held) in [("no", false), ("yes", true)] {
        for quantity in ["gain", "accepted", "failed"] {
            let cells: Vec<String> = found
                .iter()
                .filter(|(of, how, _)| of == quantity && *how == is_held)
                .map(|(_, _, [base, more, half])| {
                    let scale = if quantity == "gain" {
                        100.0 / base
                    } else {
                        1.0
                    };
                    users::said(more * scale, half * scale)
                })
                .collect();
            assert_eq!(cells.len(), 5);
            let row = format!("| SDSC SP2 | {held} | {} |", cells.join(" | "));
            assert!(page.contains(&row), "{row}");
        }
    }
}
