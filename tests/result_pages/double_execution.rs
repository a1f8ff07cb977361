//! The page about jobs that run on two sets of nodes.

use super::*;

#[test]
fn sdsc_sp2_gives_what_second_runs_are_worth_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "double-execution/sdsc-sp2.toml");
    let page = read("measurements/double-execution.md");
    let query = fs::read_to_string(project().join("configs/double-execution/paired.sql"));
    let store = folder.path().join("it.db");
    let found = rows(&store, &query.expect("a query"), |row| {
        let place: (String, f64, String) = (
            row.get("strategy")?,
            row.get("ratio")?,
            row.get("quantity")?,
        );
        let numbers: [f64; 3] = [row.get("base")?, row.get("more")?, row.get("half_width")?];
        Ok((place, numbers))
    });
    for strategy in ["heuristic-planning", "heuristic-overbooking"] {
        for ratio in [1.0, 4.0] {
            for quantity in ["gain", "accepted", "failed"] {
                let of_row = |place: &(String, f64, String)| {
                    place.0 == strategy && place.1 == ratio && place.2 == quantity
                };
                let of_row: Vec<_> = found.iter().filter(|(place, _)| of_row(place)).collect();
                let is_gain = quantity == "gain";
                let cell = |[base, more, half]: [f64; 3]| {
                    let scale = if is_gain { 100.0 / base } else { 1.0 };
                    users::said(more * scale, half * scale)
                };
                let cells: Vec<String> = of_row.iter().map(|(_, it)| cell(*it)).collect();
                assert_eq!(cells.len(), 5);
                let base = of_row[0].1[0];
                let base = if is_gain {
                    format!("{base:.0}")
                } else {
                    format!("{base:.1}")
                };
                let (strategy, cells) = (&strategy["heuristic-".len()..], cells.join(" | "));
                let row = format!("| SDSC SP2 | {strategy} | {ratio} | {base} | {cells} |");
                assert!(page.contains(&row), "{row}");
            }
        }
    }
}
