//! Pages about what reserved hours cost, and who looks at it.

use super::*;

/// What a query gives of one setting: of each measure the mean, the paired difference from the
/// reference, and the variance of that.
struct Setting(Vec<(String, [f64; 3])>);

impl Setting {
    /// The setting of a query's rows whose columns have these values.
    fn of(store: &Path, query: &str, n: i64, columns: &[(&str, &str)]) -> Self {
        let found = rows(store, query, |row| {
            let is_here = columns.iter().try_fold(true, |is_here, (column, value)| {
                let found: rusqlite::types::Value = row.get(*column)?;
                let found = match found {
                    rusqlite::types::Value::Text(text) => text,
                    rusqlite::types::Value::Integer(number) => number.to_string(),
                    rusqlite::types::Value::Real(number) => number.to_string(),
                    _ => String::new(),
                };
                Ok::<bool, rusqlite::Error>(is_here && found == *value)
            })?;
            let numbers = [row.get("mean")?, row.get("more")?, row.get("variance")?];
            Ok((
                is_here,
                row.get::<_, i64>("n")?,
                row.get("measure")?,
                numbers,
            ))
        });
        let here = found.into_iter().filter(|row| row.0);
        Self(
            here.map(|(_, count, measure, numbers)| {
                assert_eq!(count, n, "{measure}");
                (measure, numbers)
            })
            .collect(),
        )
    }

    fn numbers(&self, measure: &str) -> [f64; 3] {
        let row = self.0.iter().find(|row| row.0 == measure);
        row.expect("a row of the query").1
    }

    fn mean(&self, measure: &str) -> f64 {
        self.numbers(measure)[0]
    }

    /// `+0.64 ± 0.56`, bold where the interval leaves 0 out.
    fn difference(&self, measure: &str, quantile: f64, digits: usize) -> String {
        let [_, more, variance] = self.numbers(measure);
        let half = quantile * variance.max(0.0).sqrt();
        let sign = if more < 0.0 { "−" } else { "+" };
        let size = more.abs();
        let text = format!("{sign}{size:.digits$} ± {half:.digits$}");
        match size > half {
            true => format!("**{text}**"),
            false => text,
        }
    }
}

/// Whether the logs are there.
fn has_traces() -> bool {
    let is_set = std::env::var_os("BOOKAHEAD_TRACES").is_some();
    if !is_set {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
    }
    is_set
}

#[test]
fn the_page_about_jobs_that_look_at_prices_gives_its_row_of_even_weights_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "price-users/sites.toml",
        &[
            (
                r#"["all", "home", "random", "fewest-tasks"]"#,
                r#"["all", "home"]"#,
            ),
            ("[0.0, 0.25, 0.5, 0.75, 1.0]", "[0.5]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/price-users.md";
    let store = folder.path().join("it.db");
    let setting = Setting::of(&store, &queries(page)[0], 40, &[("asked", "all")]);
    let of = |measure, digits| setting.difference(measure, 2.023, digits);
    let row = format!(
        "| 0.5 | `all` | {} | {:.1} | {} | {} | {} |",
        of("site_spread_points", 2),
        setting.mean("wf_away_percent"),
        of("wf_externality_su", 1),
        of("wf_wait_hours", 2),
        of("others_wait_hours", 2)
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_dearer_reserved_hours_gives_its_row_of_a_budget_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "premium/ctc-greedy.toml",
        &[
            ("[1.25, 1.5, 2.5]", "[2.5]"),
            ("[1.0, 1.2, 2.0]", "[1.0, 2.0]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/premium.md";
    let store = folder.path().join("it.db");
    let setting = Setting::of(&store, &queries(page)[0], 40, &[("price", "2")]);
    let row = format!(
        "| 2.5 | 2.0 | {:.3} | {} | {:.1} | {:.0} |",
        setting.mean("wf_cost_ratio"),
        setting.difference("wf_makespan_hours", 2.023, 2),
        setting.mean("wf_externality_su"),
        setting.mean("wf_within_budget_percent")
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_limits_on_padded_jobs_gives_its_row_of_five_hours_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "premium/ctc-virtual.toml",
        &[
            ("[1.0, 1.2, 2.0]", "[1.0, 2.0]"),
            ("[1, 4]", "[4]"),
            ("[5, 8, 12]", "[5, 12]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/premium.md";
    let store = folder.path().join("it.db");
    let here = [("most", "5"), ("price", "2")];
    let setting = Setting::of(&store, &queries(page)[1], 10, &here);
    let row = format!(
        "| 4 | 5 | 2.0 | {:.1} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} |",
        setting.mean("var_success_percent"),
        setting.mean("var_cost"),
        setting.mean("ar_cost"),
        setting.mean("combined_cost"),
        setting.mean("var_cheaper_percent"),
        setting.mean("ar_cheaper_percent")
    );
    assert!(read(page).contains(&row), "{row}");
}
