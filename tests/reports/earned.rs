//! What a report says of a study in which policies compete for what is earned.

use super::*;
use bookahead_studies::STUDIES;
use bookahead_testutils::runs::result;

const POLICY: &str = "clusters.policy";
const THRESHOLD: &str = "acceptance.pof_max";
const RATIO: &str = "acceptance.penalty_ratio";

/// What clusters earned with a policy, a threshold and a penalty ratio in one of three replications:
/// overbooking best at 0.1 where broken promises cost much, and at 0.3 where they cost little.
fn earned(policy: &str, threshold: f64, ratio: f64, replication: u32) -> f64 {
    let base = 1_000.0 + 10.0 * f64::from(replication);
    match policy {
        "heuristic-overbooking" if ratio < 1.0 => base + 1_000.0 * threshold,
        "heuristic-overbooking" => base + 400.0 - 1_000.0 * threshold + f64::from(replication),
        _ => base,
    }
}

/// A run over these policies, two thresholds and two ratios, and its report's page.
fn written(path: &Path, policies: &[&str]) -> String {
    written_at(path, policies, &[0.1, 0.3], &[0.5, 8.0])
}

/// The same at these thresholds and ratios.
fn written_at(path: &Path, policies: &[&str], thresholds: &[f64], ratios: &[f64]) -> String {
    let mut simulations = Vec::new();
    for &ratio in ratios {
        for policy in policies {
            for &threshold in thresholds {
                for replication in 0..3 {
                    let mut own = result(2);
                    own.measured
                        .add("grid_gain", earned(policy, threshold, ratio, replication));
                    let id = format!("{policy} {threshold} {ratio} {replication}");
                    let axes = [
                        (POLICY, text(policy)),
                        (THRESHOLD, AxisValue::Real(threshold)),
                        (RATIO, AxisValue::Real(ratio)),
                    ];
                    let points = vec![point(&id, &axes, replication, 1.0)];
                    simulations.push(finished(&id, "co-reservation", replication, own, points));
                }
            }
        }
    }
    let policies: Vec<AxisValue> = policies.iter().map(|policy| text(policy)).collect();
    let axes = vec![
        axis(POLICY, &policies),
        axis(THRESHOLD, &real(thresholds)),
        axis(RATIO, &real(ratios)),
    ];
    let count = simulations.len() as u64;
    write_run(path, &record("grid", axes, count), simulations);
    let out = path.with_extension("report");
    let summary = write(STUDIES, path, &RunSelector::Latest, &out).unwrap();
    std::fs::read_to_string(summary.report).unwrap()
}

fn real(values: &[f64]) -> Vec<AxisValue> {
    values.iter().copied().map(AxisValue::Real).collect()
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Number(value) => *value,
        Cell::Integer(value) => *value as f64,
        Cell::Estimate(estimate) => estimate.mean,
        // The value of an axis.
        Cell::Text(value) => value.parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_answer_says_which_policy_earns_most_and_which_axis_moves_its_threshold() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let page = written(&path, &["heuristic-planning", "heuristic-overbooking"]);
    for said in [
        "heuristic-overbooking earns most in 2 of 2 situations, significantly more than the next in",
        "From 0.1 to 0.3, by situation: 0.3 at penalty_ratio 0.5; 0.1 at penalty_ratio 8.",
        "chosen and judged on the same replications",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

#[test]
fn nothing_is_said_to_earn_most_where_no_policies_compete() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let page = written(&path, &["heuristic-overbooking"]);
    assert!(!page.contains("earns most"));
    // What is earned is still what the page begins with.
    assert!(page.contains("Earned by clusters (VC) by pof_max"));
}

#[test]
fn the_tables_of_what_is_earned_are_what_their_queries_give() {
    let folder = folder();
    let path = folder.path().join("store.db");
    written(&path, &["heuristic-planning", "heuristic-overbooking"]);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    let points = store.points(run.id).unwrap();
    let analysis = Analysis::new(&points).unwrap();
    let published = PublishedOfRun::default();
    let pairs = Pairs::new(&points, &published);
    let best = best_table(&analysis, &pairs, &run);
    let at = |table: &Table, row: &[Cell], key: &str| {
        let column = table.columns.iter().position(|column| column.key == key);
        row[column.unwrap()].clone()
    };
    let of = |ratio: f64, policy: &str| {
        let mut rows = best.rows.iter();
        let row = rows.find(|row| {
            number(&row[0]) == ratio && at(&best, row, "policy") == Cell::Text(policy.to_owned())
        });
        row.unwrap()
    };
    let connection = Connection::open(&path).unwrap();
    let query = best.sql.trim_end_matches(';');
    for (ratio, threshold, mean, surplus) in
        [(0.5, 0.3, 1_310.0, 300.0), (8.0, 0.1, 1_311.0, 301.0)]
    {
        let row = of(ratio, "heuristic-overbooking");
        close(number(&at(&best, row, "at_acceptance.pof_max")), threshold);
        close(number(&at(&best, row, "earned")), mean);
        close(number(&at(&best, row, "surplus")), surplus);
        let found: f64 = connection
            .query_row(
                &format!(
                    "SELECT earned FROM ({query}) WHERE axes ->> '$.\"{RATIO}\"' = {ratio}
                     AND axes ->> '$.\"{POLICY}\"' = 'heuristic-overbooking'"
                ),
                [],
                |row| row.get(0),
            )
            .unwrap();
        close(found, mean);
        // A threshold says nothing about a policy that does not look at it.
        let row = of(ratio, "heuristic-planning");
        assert_eq!(at(&best, row, "at_acceptance.pof_max"), Cell::Missing);
    }
    let count = format!("SELECT count(*) FROM ({query})");
    let rows: i64 = connection.query_row(&count, [], |row| row.get(0)).unwrap();
    assert_eq!(rows as usize, best.rows.len());

    let optimism = Optimism::new(&analysis, &pairs, &run.configuration_hash).unwrap();
    let table = optimism.table(&run.configuration_hash);
    for (query, policy) in table
        .sql
        .split("\n\n")
        .zip(["any", "heuristic-overbooking"])
    {
        let query = query.trim_end_matches(';');
        let condition = match policy {
            "any" => "true".to_owned(),
            policy => format!("strategy = '{policy}'"),
        };
        let mut rows = table
            .rows
            .iter()
            .filter(|row| at(&table, row, "strategy") == Cell::Text(policy.to_owned()));
        for ratio in [0.5, 8.0] {
            let row = rows.next().unwrap();
            for key in ["same", "others", "optimism"] {
                let found: f64 = connection
                    .query_row(
                        &format!(
                            "SELECT 1.0 * {key} FROM ({query}) WHERE {condition}
                             AND given ->> '$.\"{RATIO}\"' = {ratio}"
                        ),
                        [],
                        |row| row.get(0),
                    )
                    .unwrap();
                close(found, number(&at(&table, row, key)));
            }
        }
    }
}

/// The query below a figure of a page.
fn query_of(page: &str, figure: &str) -> String {
    let (_, from) = page.split_once(&format!("id=\"figure-{figure}\"")).unwrap();
    let (_, sql) = from.split_once("<summary>SQL</summary>").unwrap();
    let (_, sql) = sql.split_once("<pre>").unwrap();
    let (sql, _) = sql.split_once("</pre>").unwrap();
    sql.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

/// The marks of a figure, by series and place.
fn marks_of(report: &Path, figure: &str) -> Vec<(String, String, f64, f64)> {
    let file = report.join(format!("plots/{figure}.csv"));
    let mut reader = csv::Reader::from_path(file).unwrap();
    let rows = reader.records().map(Result::unwrap);
    rows.map(|row| {
        let value = |column: usize| row[column].parse().unwrap();
        (row[0].to_owned(), row[1].to_owned(), value(2), value(3))
    })
    .collect()
}

#[test]
fn the_surplus_is_paired_with_the_baseline_at_the_same_values_of_the_axes() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let page = written(&path, &["heuristic-planning", "heuristic-overbooking"]);
    let connection = Connection::open(&path).unwrap();
    // Ratio 0.5: 1,000 times the threshold; ratio 8: 400 less that, and 0, 1 and 2 more, whose
    // interval is ± 4.302652… · 1 ÷ √3.
    for (figure, expected) in [
        ("surplus-by-acceptance-pof-max-1", [100.0, 300.0]),
        ("surplus-by-acceptance-pof-max-2", [301.0, 101.0]),
    ] {
        let marks = marks_of(&path.with_extension("report"), figure);
        assert_eq!(marks.len(), 2, "{marks:?}");
        let mut statement = connection.prepare(&query_of(&page, figure)).unwrap();
        let found = statement.query_map([], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, f64>("surplus")?,
                row.get::<_, u32>("n")?,
            ))
        });
        let found: Vec<_> = found.unwrap().map(Result::unwrap).collect();
        for ((mark, expected), (policy, surplus, count)) in marks.iter().zip(expected).zip(found) {
            assert_eq!(mark.0, "heuristic-overbooking");
            close(mark.2, expected);
            assert_eq!((policy.as_str(), count), ("heuristic-overbooking", 3));
            close(surplus, expected);
        }
    }
    let marks = marks_of(
        &path.with_extension("report"),
        "surplus-by-acceptance-pof-max-2",
    );
    assert!(
        (marks[0].2 - marks[0].3 - 4.302_652 / 3f64.sqrt()).abs() < 1e-3,
        "{marks:?}"
    );
}

#[test]
fn a_heat_map_frames_the_best_of_each_row_and_says_what_its_query_says() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let page = written(&path, &["heuristic-planning", "heuristic-overbooking"]);
    let figure = "grid-gain-by-acceptance-pof-max-and-acceptance-penalty-ratio";
    let marks = marks_of(&path.with_extension("report"), figure);
    let connection = Connection::open(&path).unwrap();
    let mut statement = connection.prepare(&query_of(&page, figure)).unwrap();
    let found = statement.query_map([], |row| row.get::<_, f64>("mean"));
    let mut found: Vec<f64> = found.unwrap().map(Result::unwrap).collect();
    let mut drawn: Vec<f64> = marks.iter().map(|mark| mark.2).collect();
    found.sort_by(f64::total_cmp);
    drawn.sort_by(f64::total_cmp);
    assert_eq!(drawn, [1_110.0, 1_111.0, 1_310.0, 1_311.0]);
    for (found, drawn) in found.iter().zip(&drawn) {
        close(*found, *drawn);
    }
    let (_, svg) = page.split_once(&format!("id=\"figure-{figure}\"")).unwrap();
    let (svg, _) = svg.split_once("</svg>").unwrap();
    // The best of each of the two rows; the others are significantly worse, and all are above the
    // baseline, whose differences have no spread or hardly any.
    assert_eq!(svg.matches("stroke-width=\"3\"").count(), 2 + 1, "{svg}");
    assert!(!svg.contains("not significantly worse"), "{svg}");
    assert_eq!(svg.matches("the best").count(), 2);
}

#[test]
fn a_page_has_the_answer_of_each_situation_for_its_reader_to_choose() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let page = written(&path, &["heuristic-planning", "heuristic-overbooking"]);
    let answers: Vec<&str> = page
        .split("<div class=\"situation\" hidden")
        .skip(1)
        .collect();
    assert_eq!(answers.len(), 2);
    for (answer, [ratio, said, threshold]) in answers.iter().zip([
        ["0.5", "earns most: 1,310 VC", "earns most at 0.3"],
        ["8", "earns most: 1,311 VC", "earns most at 0.1"],
    ]) {
        let (answer, _) = answer.split_once("</div>").unwrap();
        assert!(
            answer.contains(&format!("&quot;{RATIO}&quot;:&quot;{ratio}&quot;")),
            "{answer}"
        );
        assert!(
            answer.contains(said) && answer.contains(threshold),
            "{answer}"
        );
        assert!(!answer.contains("How sure?"));
    }
    let words = page.split_once("<details class=\"chapter\" id=\"glossary\">");
    let (_, words) = words.unwrap();
    for term in bookahead_report::glossary::TERMS {
        assert!(words.contains(term.meaning), "{}", term.name);
    }
}

#[test]
fn every_situation_of_the_flagships_size_can_be_chosen_above_the_first_figure() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let policies = ["heuristic-planning", "heuristic-overbooking"];
    let ratios: Vec<f64> = (1..=30).map(f64::from).collect();
    let percent = 1..=31;
    let thresholds: Vec<f64> = percent.map(|percent| f64::from(percent) / 100.0).collect();
    let page = written_at(&path, &policies, &thresholds, &ratios);
    let (_, headline) = page.split_once("<section id=\"headline\">").unwrap();
    let (headline, _) = headline.split_once("</section>").unwrap();
    assert_eq!(headline.matches("<figure ").count(), 30);
    assert_eq!(page.matches("<div class=\"situation\" hidden").count(), 30);
}
