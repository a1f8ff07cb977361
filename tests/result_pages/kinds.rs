//! The page about kinds of requests.

use super::*;

const PAGE: &str = "measurements/kinds-of-requests.md";

#[test]
fn the_page_about_kinds_of_requests_gives_its_row_of_lost_parts_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "kinds-of-requests.toml",
        &[
            ("[0.0, 0.1, 0.3, 0.6]", "[0.3]"),
            ("[0.0, 0.5, 1.0]", "[0.5]"),
        ],
    );
    run(folder.path(), part);
    let query = &queries(PAGE)[0];
    let found = rows(&folder.path().join("it.db"), query, |row| {
        let at: (f64, f64, bool) = (row.get("pof_max")?, row.get("alpha")?, row.get("sought")?);
        let of: (String, i64) = (row.get("measure")?, row.get("n")?);
        let numbers: (f64, Option<f64>) = (row.get("mean")?, row.get("variance")?);
        Ok((at, of, numbers))
    });
    let said = |kind: &str, sought: bool| {
        let measure = format!("{kind}_kept_rate");
        let row = found
            .iter()
            .find(|(at, (name, _), _)| *at == (0.3, 0.5, sought) && *name == measure);
        let (_, (_, n), (mean, half)) = row.expect("a row of the query");
        assert_eq!(*n, 20);
        let half = half.expect("an interval").sqrt() * 2.093;
        format!("{:.1} ± {:.1}", 100.0 * mean, 100.0 * half)
    };
    for sought in [false, true] {
        let kinds = ["single", "co_reservation", "workflow"].map(|kind| said(kind, sought));
        let row = format!(
            "| 0.3 | {} | {} |\n",
            if sought { "yes" } else { "no" },
            kinds.join(" | ")
        );
        assert!(read(PAGE).contains(&row), "{row}");
    }
}
