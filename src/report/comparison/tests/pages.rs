//! Pages of a comparison: queries, plots and hostile names.

use super::*;

#[test]
fn the_queries_of_a_comparison_give_its_numbers() {
    let (_folder, path) = two_runs();
    let runs = read(&[(&path, 1), (&path, 2)]);
    let comparison = Comparison::new(&runs, &[]);
    let connection = Connection::open(&path).unwrap();
    let table = tables::overall(&comparison, "main", &comparison.main);
    // run, n, first, second, difference, variance: 101, 113, 12, and 2².
    let row: (i64, i64, f64, f64, f64, f64) = connection
        .query_row(&table.sql, [], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
            ))
        })
        .unwrap();
    assert_eq!(row, (2, 3, 101.0, 113.0, 12.0, 4.0));
    let by_axes = tables::combinations(&comparison).sql;
    let mut statement = connection.prepare(&by_axes).unwrap();
    let rows = statement.query_map([], |row| row.get(5)).unwrap();
    let differences: Vec<f64> = rows.collect::<Result<_, _>>().unwrap();
    assert_eq!(differences, [12.0, 12.0, 12.0]);
    let drawn = figures::figures(&comparison);
    let mut statement = connection.prepare(&drawn.figures[0].sql).unwrap();
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(3)?)))
        .unwrap();
    let means: Vec<(i64, f64, f64)> = rows.collect::<Result<_, _>>().unwrap();
    assert_eq!(means[0], (1, 0.1, 101.0));
    assert_eq!(means[5], (2, 0.3, 113.0));
}

#[test]
fn all_runs_stand_in_one_plot_over_the_longest_numeric_axis_with_their_differences_beside() {
    use crate::figure::Marks;
    let (_folder, path) = two_runs();
    let runs = read(&[(&path, 1), (&path, 2)]);
    let drawn = figures::figures(&Comparison::new(&runs, &[]));
    let [gain, difference] = [&drawn.figures[0], &drawn.figures[1]];
    assert_eq!(gain.name, "gain-by-acceptance-pof-max");
    let labels: Vec<&str> = gain
        .series
        .iter()
        .map(|series| series.label.as_str())
        .collect();
    assert_eq!(labels, ["a", "b"]);
    let Marks::Curve(marks) = &gain.series[1].marks else {
        panic!("{:?}", gain.series[1]);
    };
    assert_eq!(
        (marks.len(), marks[0].x, marks[0].mean, marks[0].count),
        (3, 0.1, 113.0, 3)
    );
    let Marks::Curve(marks) = &difference.series[1].marks else {
        panic!("{:?}", difference.series[1]);
    };
    assert_eq!(marks[2].mean, 12.0);
    assert!((marks[2].high - 16.968).abs() < 1e-3);
    // Penalties are 0 in both runs: nothing to be drawn.
    assert!(
        drawn
            .figures
            .iter()
            .all(|figure| !figure.name.contains("penalties"))
    );
}

#[test]
fn hostile_names_stay_text_in_pages_markdown_and_csv() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (image, formula) = ("<img src=x onerror=alert(1)>", "=HYPERLINK(\"http://x\")");
    made(&path, image, formula, 2, &|_, replication| {
        Some(100 + i64::from(replication))
    });
    made(&path, formula, formula, 2, &|_, replication| {
        Some(90 - i64::from(replication))
    });
    let runs = read(&[(&path, 1), (&path, 2)]);
    let out = folder.path().join("out");
    let page = std::fs::read_to_string(write(&runs, &[], &out).unwrap().0).unwrap();
    assert!(!page.contains("<img") && page.contains("&lt;img src=x onerror=alert(1)&gt;"));
    let markdown = std::fs::read_to_string(out.join("comparison.md")).unwrap();
    assert!(!markdown.contains("<img") && markdown.contains("&lt;img"));
    for (file, text) in [
        ("tables/combinations.csv", "'=HYPER"),
        ("tables/runs.csv", "'=HYPER"),
        ("plots/gain-by-acceptance-pof-max.csv", "'=HYPER"),
    ] {
        let csv = std::fs::read_to_string(out.join(file)).unwrap();
        assert!(csv.contains(text), "{file}: {csv}");
        let bare = csv
            .lines()
            .flat_map(|line| line.split(','))
            .find(|cell| cell.trim_start_matches('"').starts_with('='));
        assert_eq!(bare, None, "{file}");
    }
}
