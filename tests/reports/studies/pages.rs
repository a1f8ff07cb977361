//! The page of a study, and its table of single axes.

use super::*;
use bookahead_studies::STUDIES;

#[test]
fn the_page_and_the_text_of_a_study_have_a_heading_for_every_topic() {
    let folder = folder();
    let path = folder.path().join("store.db");
    heine(&path, true);
    let out = folder.path().join("out");
    write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    let text = std::fs::read_to_string(out.join("report.md")).unwrap();
    for heading in ["Reservations", "Prices"] {
        assert!(text.contains(&format!("## {heading}\n")));
    }
    // The only figure about reservations is the headline of the page.
    let headline = page.split("<section id=\"headline\">").nth(1);
    let prices = "<details class=\"chapter\" id=\"prices\"><summary><h2>Prices</h2>";
    assert!(headline.is_some_and(|rest| rest.contains(prices)));
    assert!(page.contains("id=\"figure-rejected-percent-by-reservations-share-percent\""));
    assert!(!page.contains("id=\"money\""));
    // No mark of a study names a strategy to ask the store for.
    assert!(!page.contains("class=\"behind\""));
}

#[test]
fn each_axis_alone_is_the_mean_over_the_others_within_a_replication() {
    let folder = folder();
    let (path, out) = (folder.path().join("store.db"), folder.path().join("out"));
    heine(&path, false);
    let summary = write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    // In brief: the shares of rejected requests and the prices, each the first of its topic.
    assert_eq!(summary.on_screen.table.columns.len(), 2 + 2);
    let text = std::fs::read_to_string(out.join("tables/each-axis.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let headings = rows.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let value = |axis: &str, at: &str, column: &str| -> f64 {
        let row = rows
            .iter()
            .find(|row| &row[0] == axis && &row[1] == at)
            .unwrap();
        let place = headings.iter().position(|known| known == column).unwrap();
        row[place].parse().unwrap()
    };
    // Two rules, three factors, four shares; prices are 0 under the first rule and 2 under the
    // second.
    assert_eq!(rows.len(), 2 + 3 + 4);
    assert_eq!(value("rule", "move", "price_su"), 2.0);
    assert_eq!(value("share_percent", "20", "price_su"), 1.0);
    // 30 + 1 (mean factor) + 2 (mean share, of those with requests) + replication: 33 and 34, so
    // 12.706 · 0.5 = 6.353 points, which on the logit scale is 0.06353 ÷ (0.335 · 0.665) = 0.28518
    // around ln(0.335 ÷ 0.665) = −0.68568: from 27.47 %.
    close(value("rule", "reject", "rejected_percent"), 33.5);
    let low = value("rule", "reject", "rejected_percent_low");
    assert!((low - 27.471).abs() < 1e-3, "{low}");
    // The query of the table gives its means.
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("Each axis alone, in the mean over the others."));
    let store = Connection::open(&path).unwrap();
    let (_, sql) = page.split_once("WITH by_replication").unwrap();
    let sql = sql
        .split_once(';')
        .unwrap()
        .0
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
        .replace("&#39;", "'")
        .replace("&quot;", "\"");
    let mean: f64 = store
        .query_row(
            &format!("SELECT mean FROM (WITH by_replication{sql}) WHERE axis = '{RULE}' AND setting = 'reject' AND measure = 'rejected_percent'"),
            [],
            |row| row.get(0),
        )
        .unwrap();
    close(mean, 33.5);
}
