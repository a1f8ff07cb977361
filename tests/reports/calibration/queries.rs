//! The queries that are printed give the numbers that are shown.

use super::*;

/// Every row of a query as numbers by column; text columns are left out.
pub(super) fn asked(path: &Path, sql: &str) -> Vec<HashMap<String, f64>> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    statement
        .query_map([], |row| {
            Ok(names
                .iter()
                .enumerate()
                .filter_map(|(place, name)| Some((name.clone(), row.get::<_, f64>(place).ok()?)))
                .collect())
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn the_queries_below_the_tables_about_calibration_give_the_numbers_in_them() {
    let folder = folder();
    let path = folder.path().join("store.db");
    sweep(&path);
    let found = read(&path);
    for (table, keys) in found.tables.iter().zip([
        &[
            "jobs",
            "predicted",
            "failed",
            "killed",
            "brier",
            "brier_reference",
            "skill",
            "calibration_error",
            "relative_error_percent",
            "largest_error",
        ][..],
        &[
            "jobs",
            "predicted",
            "failed",
            "brier",
            "skill",
            "calibration_error",
            "largest_error",
        ][..],
        &[
            "pof_from",
            "pof_to",
            "jobs",
            "batteries",
            "predicted",
            "realised",
        ][..],
    ]) {
        let mut answers: Vec<HashMap<String, f64>> = table
            .sql
            .split("\n\n")
            .flat_map(|query| asked(&path, query))
            .collect();
        assert_eq!(answers.len(), table.rows.len(), "{}", table.name);
        for row in &table.rows {
            let row = cells(table, row);
            let same = |answer: &HashMap<String, f64>| {
                keys.iter().all(|key| match row[key] {
                    Cell::Missing | Cell::Undefined => !answer.contains_key(*key),
                    cell => (answer[*key] - number(cell)).abs() < 1e-9,
                })
            };
            let place = answers.iter().position(same);
            answers.swap_remove(
                place.unwrap_or_else(|| panic!("{}: {row:?} in {answers:?}", table.name)),
            );
        }
    }
    // The variance below the bins is that of the interval.
    let bins = &found.tables[2];
    let answer = &asked(&path, bins.sql.split("\n\n").next().unwrap())[0];
    let Cell::Estimate(realised) = cells(bins, &bins.rows[0])["realised"] else {
        panic!("no estimate");
    };
    close(
        answer["variance"],
        realised
            .deviation
            .map_or(0.0, |deviation| deviation.powi(2) / 2.0),
    );
    for figure in &found.figures {
        assert!(!asked(&path, &figure.sql).is_empty(), "{}", figure.name);
    }
}

#[test]
fn the_queries_of_the_page_about_calibration_give_the_numbers_of_the_report() {
    let folder = folder();
    let path = folder.path().join("store.db");
    sweep(&path);
    let found = read(&path);
    let page = include_str!("../../../docs/calibration.md");
    let queries: Vec<&str> = page
        .split("```sql\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    let [scores, bins, ..] = queries.as_slice() else {
        panic!("{} queries", queries.len());
    };
    // The first rows are those of the one strategy as a whole.
    for (table, query, count, keys) in [
        (
            &found.tables[0],
            scores,
            1,
            &[
                "jobs",
                "predicted",
                "failed",
                "brier",
                "brier_reference",
                "skill",
                "calibration_error",
                "largest_error",
            ][..],
        ),
        (
            &found.tables[2],
            bins,
            3,
            &[
                "pof_from",
                "pof_to",
                "jobs",
                "batteries",
                "predicted",
                "realised",
            ][..],
        ),
    ] {
        let answers = asked(&path, query);
        assert_eq!(answers.len(), count);
        for (answer, row) in answers.iter().zip(&table.rows) {
            let row = cells(table, row);
            for key in keys {
                close(answer[*key], number(row[key]));
            }
        }
    }
}
