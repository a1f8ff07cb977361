//! The page about shelves that are planned online.

use super::setting::{Setting, has_traces};
use super::*;

#[test]
fn the_page_about_shelves_gives_its_rows_of_first_fit_on_sdsc_sp2_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "shelves/sdsc-sp2.toml",
        &[
            ("[2.0, 5.0]", "[5.0]"),
            (r#"["first", "next"]"#, r#"["first"]"#),
            ("[0.3, 0.5, 0.7]", "[0.5]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/shelves.md";
    let store = folder.path().join("it.db");
    let of = |strategy, beside| {
        let here = [("strategy", strategy), ("beside", beside)];
        Setting::of(&store, &queries(page)[0], 20, &here)
    };
    let (shelves, plan) = ("shelf-backfilling", "conservative-backfilling");
    let setting = of(shelves, plan);
    let row = format!(
        "| SDSC SP2 | 5 | first | 0.5 | {:.0} | {} | {:.1} | {} |",
        setting.mean("gain"),
        setting.difference("gain", 2.093, 0),
        setting.mean("accepted"),
        setting.difference("accepted", 2.093, 1),
    );
    assert!(read(page).contains(&row), "{row}");
    let gained = |beside| of("comprehensive-overbooking", beside).difference("gain", 2.093, 0);
    let beside_plan = format!("| SDSC SP2 | 5 | {} |", gained(plan));
    assert!(read(page).contains(&beside_plan), "{beside_plan}");
    let beside_shelves = format!("| {} |", gained(shelves));
    assert!(read(page).contains(&beside_shelves), "{beside_shelves}");
}
