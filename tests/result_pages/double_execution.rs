//! The page about jobs that run on two sets of nodes.

use std::collections::BTreeMap;

use super::*;

#[test]
fn plans_of_nodes_on_sdsc_sp2_give_what_second_runs_are_worth_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "double-execution/mapped-sdsc-sp2.toml");
    let page = read("measurements/double-execution.md");
    let query = fs::read_to_string(project().join("configs/double-execution/paired.sql"));
    let store = folder.path().join("it.db");
    let said = rows(&store, &query.expect("a query"), |row| {
        let (strategy, quantity): (String, String) = (row.get("strategy")?, row.get("quantity")?);
        let (ratio, base): (f64, f64) = (row.get("ratio")?, row.get("base")?);
        let base = format!("{base:.1}").replace('-', "−");
        let head = format!("| SDSC SP2 | `{strategy}` | {ratio} | {base} | ");
        let said = users::said(row.get("more")?, row.get("half_width")?);
        Ok((head + &quantity, said))
    });
    let mut cells: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (row, said) in said {
        cells.entry(row).or_default().push(said);
    }
    assert_eq!(cells.len(), 12);
    for (head, cells) in cells {
        let head = head.trim_end_matches(char::is_alphabetic);
        let row = format!("{head}{} |", cells.join(" | "));
        assert!(page.contains(&row), "{row}");
    }
}

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
