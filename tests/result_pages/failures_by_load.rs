//! The page about failures that follow the load.

use std::collections::BTreeMap;

use super::*;

#[test]
fn sdsc_sp2_gives_what_it_is_worth_to_know_that_busy_machines_fail_more_again() {
    if !setting::has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "failures/load-sdsc-sp2.toml");
    let query = fs::read_to_string(project().join("configs/failures/load.sql"));
    let store = folder.path().join("it.db");
    let found = rows(&store, &query.expect("a query"), |row| {
        let of: (String, bool) = (row.get("strategy")?, row.get("full_length")?);
        let cell: (String, String) = (row.get("quantity")?, row.get("believed")?);
        let said = users::said(row.get("more")?, row.get("half_width")?);
        Ok(((of, cell), said))
    });
    let cells: BTreeMap<_, String> = found.into_iter().collect();
    let page = read("measurements/failures-by-load.md");
    for strategy in ["comprehensive", "heuristic"] {
        for (full_length, slots) in [(false, "overbooked"), (true, "all")] {
            let of = (format!("{strategy}-overbooking"), full_length);
            let cell = |quantity: &str, believed: &str| {
                let cell = (quantity.to_owned(), believed.to_owned());
                &cells[&(of.clone(), cell)]
            };
            let gain = format!(
                " | {} | {} | {} | ",
                cell("gain", "right less constant"),
                cell("gain", "wrong less constant"),
                cell("gain", "right less wrong"),
            );
            let failed = format!(
                " | {} | {} |",
                cell("failed", "right less constant"),
                cell("failed", "wrong less constant"),
            );
            let head = format!("| SDSC SP2, {strategy}, {slots} slots | ");
            let row = page.lines().find(|line| line.starts_with(&head));
            let row = row.expect("a row of the page");
            assert!(
                row.contains(&gain) && row.ends_with(&failed),
                "{head}{gain}{failed}"
            );
        }
    }
}
