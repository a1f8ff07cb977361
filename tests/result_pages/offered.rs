//! The pages about what sites offer: shares of processors, memory and makes, and slots that do not
//! last.

use super::setting::{Setting, has_traces};
use super::*;

#[test]
fn the_page_about_shares_of_processors_gives_its_row_of_even_weights_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "processor-shares/ctc-sdsc-sp2.toml",
        &[("[0.0, 0.25, 0.5, 0.75, 1.0]", "[0.5]")],
    );
    run(folder.path(), part);
    let page = "measurements/processor-shares.md";
    let store = folder.path().join("it.db");
    let of = |shares: &str| Setting::of(&store, &queries(page)[0], 40, &[("shares", shares)]);
    let (quarter, half, whole) = (of("1"), of("2"), of("4"));
    let cells = ["wf_makespan_hours", "wf_externality_su"].map(|measure| {
        format!(
            "{:.2} | {} | {}",
            whole.mean(measure),
            half.difference(measure, 2.023, 2),
            quarter.difference(measure, 2.023, 2)
        )
    });
    let row = format!("| 0.5 | {} |", cells.join(" | "));
    assert!(read(page).contains(&row), "{row}");
    for (shares, cost) in [(whole, "457.7"), (half, "228.8"), (quarter, "114.4")] {
        let work = shares.mean("wf_cost_su") - shares.mean("wf_externality_su");
        assert_eq!(format!("{work:.1}"), cost);
        assert!(read(page).contains(cost));
    }
}

#[test]
fn the_page_about_slots_that_are_left_gives_its_rows_of_sdsc_sp2_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "slot-lifetimes/sdsc-sp2.toml");
    let page = "measurements/slot-lifetimes.md";
    let store = folder.path().join("it.db");
    let found = rows(&store, &queries(page)[0], |row| {
        assert_eq!(row.get::<_, i64>("n")?, 60);
        let half = 2.001 * row.get::<_, f64>("variance")?.max(0.0).sqrt();
        let setting: (f64, String) = (row.get("load")?, row.get("offers")?);
        let mean: f64 = row.get("mean")?;
        let worst: f64 = row.get("worst")?;
        let cell = format!("{mean:.1} ± {half:.1} ({worst:.0})");
        Ok((setting, row.get::<_, String>("measure")?, mean, cell))
    });
    for load in [40.0, 60.0, 80.0] {
        let of = |offers: &str, measure: &str| {
            let here = |row: &&((f64, String), String, f64, String)| {
                row.0.0 == load && row.0.1 == offers && row.1 == measure
            };
            let row = found.iter().find(here).expect("a row of the query");
            (row.2, row.3.clone())
        };
        let spans = ["1_minute", "10_minutes", "1_hour", "6_hours"];
        let cells = spans.map(|span| {
            let measure = format!("slots_left_{span}_percent");
            let (listed, cell) = of("free-rectangles", &measure);
            // What the page says of both kinds of slots.
            assert!((of("plan", &measure).0 - listed).abs() <= 0.85, "{measure}");
            cell
        });
        let offered = of("free-rectangles", "wf_slots_offered").0;
        let row = format!(
            "| SDSC SP2 | {load} | {offered:.1} | {} |",
            cells.join(" | ")
        );
        assert!(read(page).contains(&row), "{row}");
    }
}

/// Makespans by queries and by best effort at α = 1: of tasks that take the memory of a processor,
/// twice that, and that where jobs take what the log says.
fn wide_memory_rows(store: &Path, page: &str) -> [String; 3] {
    let memory = &queries(page)[0];
    let of = |megabytes: &str, jobs: &str| {
        let filters = [("memory", megabytes), ("jobs", jobs), ("alpha", "1")];
        Setting::of(store, memory, 40, &filters)
    };
    let measures = ["wf_makespan_hours", "be_makespan_hours"];
    let (plain, wide) = (of("32", "share"), of("64", "share"));
    let by_log = [("memory", "64"), ("alpha", "1")];
    let by_log = Setting::of(store, &queries(page)[1], 40, &by_log);
    [
        measures
            .map(|it| format!("{:.2}", plain.mean(it)))
            .join(" | "),
        measures.map(|it| wide.difference(it, 2.023, 2)).join(" | "),
        measures
            .map(|it| by_log.difference(it, 2.023, 2))
            .join(" | "),
    ]
}

#[test]
fn the_page_about_memory_gives_the_ends_of_its_rows_of_twice_the_memory_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "site-memory/lanl-cm5.toml",
        &[
            ("[8, 32, 64, 96, 128]", "[8, 32, 64]"),
            ("[0.0, 0.5, 1.0]", "[1.0]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/site-memory.md";
    let ends = wide_memory_rows(&folder.path().join("it.db"), page);
    for (row, end) in ["up to 32", "64", "64"].into_iter().zip(ends) {
        let starts = format!("| LANL CM-5 | {row} | ");
        let end = format!(" | {end} |");
        let text = read(page);
        let is_it = |line: &&str| line.starts_with(&starts) && line.ends_with(&end);
        assert_eq!(text.lines().filter(is_it).count(), 1, "{starts}…{end}");
    }
}

#[test]
fn the_page_about_makes_gives_its_rows_of_a_quarter_of_bound_tasks_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "site-makes/ctc-sdsc-sp2.toml",
        &[("[0, 25, 50, 75, 100]", "[0, 25]")],
    );
    run(folder.path(), part);
    let page = "measurements/site-memory.md";
    let store = folder.path().join("it.db");
    for make in ["large", "small"] {
        let of = |alpha: &str| {
            let filters = [("make", make), ("percent", "25"), ("alpha", alpha)];
            Setting::of(&store, &queries(page)[2], 40, &filters)
        };
        let cells =
            ["0", "0.5", "1"].map(|alpha| of(alpha).difference("wf_makespan_hours", 2.023, 2));
        let best_effort = of("0").difference("be_makespan_hours", 2.023, 2);
        let row = format!("| {make} | 25 | {} | {best_effort} |", cells.join(" | "));
        assert!(read(page).contains(&row), "{row}");
    }
}
