//! The page about lists of jobs that are packed.

use super::setting::{Setting, has_traces};
use super::*;

#[test]
fn the_page_about_strip_packing_gives_its_row_of_first_fit_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "packing/logs.toml",
        &[
            ("[\"estimates\", \"run-times\"]", "[\"estimates\"]"),
            (
                "\"bottom-left\", \"split\", \"hybrid\", \"next-fit-decreasing-height\", ",
                "",
            ),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/packing.md";
    let store = folder.path().join("it.db");
    let algorithm = "first-fit-decreasing-height";
    let columns = ["CTC", "KTH"].map(|log| {
        let here = [("log", log), ("algorithm", algorithm)];
        let setting = Setting::of(&store, &queries(page)[0], 40, &here);
        format!(
            "{:.3} | {}",
            setting.mean("packing_ratio"),
            setting.difference("packing_ratio", 2.023, 3)
        )
    });
    let row = format!("| `{algorithm}` | – | {} |", columns.join(" | "));
    assert!(read(page).contains(&row), "{row}");
}
