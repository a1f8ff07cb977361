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
        let at: (bool, String, i64) = (row.get("sought")?, row.get("kind")?, row.get("n")?);
        let numbers: [f64; 4] = [
            row.get("broken")?,
            row.get("variance")?,
            row.get("more")?,
            row.get("variance_of_more")?,
        ];
        Ok((at, numbers))
    });
    let of = |kind: &str, sought: bool| {
        let at = (sought, kind.to_owned(), 20);
        let row = found.iter().find(|row| row.0 == at);
        row.expect("a row of the query").1
    };
    let half = |variance: f64| 100.0 * 2.093 * variance.max(0.0).sqrt();
    let kinds = ["single", "co_reservation", "workflow"];
    for sought in [false, true] {
        let said = kinds.map(|kind| {
            let [broken, variance, ..] = of(kind, sought);
            format!("{:.1} ± {:.1}", 100.0 * broken, half(variance))
        });
        let answer = if sought { "yes" } else { "no" };
        let row = format!("| 0.3 | {answer} | {} |\n", said.join(" | "));
        assert!(read(PAGE).contains(&row), "{row}");
    }
    let said = kinds.map(|kind| {
        let [.., more, variance] = of(kind, true);
        format!("−{:.1} ± {:.1}", -100.0 * more, half(variance))
    });
    let row = format!("| 0.3 | 0.5 | {} |\n", said.join(" | "));
    assert!(read(PAGE).contains(&row), "{row}");
}
