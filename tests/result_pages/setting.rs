//! One setting of a page's query, as the rows of the page write it.

use super::*;

/// What a query gives of one setting: of each measure the mean, the paired difference from the
/// reference, and the variance of that.
pub(super) struct Setting(Vec<(String, [f64; 3])>);

impl Setting {
    /// The setting of a query's rows whose columns have these values.
    pub(super) fn of(store: &Path, query: &str, n: i64, columns: &[(&str, &str)]) -> Self {
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
            let number = |name| {
                Ok::<f64, rusqlite::Error>(row.get::<_, Option<f64>>(name)?.unwrap_or(f64::NAN))
            };
            let numbers = [number("mean")?, number("more")?, number("variance")?];
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

    pub(super) fn mean(&self, measure: &str) -> f64 {
        self.numbers(measure)[0]
    }

    /// `+0.64 ± 0.56`.
    pub(super) fn plain_difference(&self, measure: &str, quantile: f64, digits: usize) -> String {
        let [_, more, variance] = self.numbers(measure);
        let half = quantile * variance.max(0.0).sqrt();
        let sign = if more < 0.0 { "−" } else { "+" };
        let size = more.abs();
        format!("{sign}{size:.digits$} ± {half:.digits$}")
    }

    /// The same, bold where the interval leaves 0 out.
    pub(super) fn difference(&self, measure: &str, quantile: f64, digits: usize) -> String {
        let [_, more, variance] = self.numbers(measure);
        let text = self.plain_difference(measure, quantile, digits);
        match more.abs() > quantile * variance.max(0.0).sqrt() {
            true => format!("**{text}**"),
            false => text,
        }
    }
}

/// Whether the logs are there.
pub(super) fn has_traces() -> bool {
    let is_set = std::env::var_os("BOOKAHEAD_TRACES").is_some();
    if !is_set {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
    }
    is_set
}
