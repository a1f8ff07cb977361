//! What a report says of the choice of the best of several settings.

use super::*;
use bookahead_lab::sweep::Point;
use bookahead_studies::STUDIES;
use bookahead_testutils::runs::seen;

const SAME: &str = "chosen and judged on the same batteries: 137 VC; chosen on the others: 120 VC (optimism 13.9 %)";

struct Written {
    page: String,
    markdown: String,
    remarks: Vec<String>,
    /// Whether the table was written.
    has_table: bool,
}

/// The report of these simulations of the run with three thresholds.
fn written(simulations: Vec<FinishedSimulation>, axes: Vec<Axis>) -> Written {
    let folder = folder();
    let path = folder.path().join("store.db");
    let points: usize = simulations
        .iter()
        .map(|simulation| simulation.points.len())
        .sum();
    write_run(&path, &record("choice", axes, points as u64), simulations);
    let out = folder.path().join("out");
    let summary = write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    Written {
        page: std::fs::read_to_string(&summary.report).unwrap(),
        markdown: std::fs::read_to_string(out.join("report.md")).unwrap(),
        remarks: summary.remarks,
        has_table: out.join("tables/optimism.csv").exists(),
    }
}

fn everything() -> Vec<FinishedSimulation> {
    thresholds(3).1
}

/// The page, Markdown and the terminal say the same.
fn all_say(written: &Written, what: &str) {
    assert!(written.page.contains(what), "{what}: {}", written.page);
    assert!(
        written.markdown.contains(what),
        "{what}: {}",
        written.markdown
    );
    let terminal = written.remarks.join("\n");
    assert!(terminal.contains(what), "{what}: {terminal}");
}

/// Nobody says what the choice is worth on batteries that did not choose.
fn none_says_how_much(written: &Written) {
    let terminal = written.remarks.join("\n");
    for text in [&written.page, &written.markdown, &terminal] {
        assert!(!text.contains("VC; chosen on the others"), "{text}");
    }
}

#[test]
fn page_markdown_and_terminal_say_what_the_choice_is_worth_on_other_batteries() {
    // The baseline is one setting at all thresholds, and earns 100, 110, 120. Without each battery
    // 0.2, 0.2 and 0.3 earn most, and 130, 131 and 100 on it.
    let written = written(everything(), threshold_axes());
    all_say(&written, &format!("Best of 4 settings, {SAME}"));
    assert!(written.has_table);
    // In the answer, and as a warning: it is more than 1 %.
    let warning = format!("<li class=\"bad\">Best of 4 settings, {SAME}</li>");
    assert!(written.page.contains(&warning), "{}", written.page);
    assert_eq!(written.page.matches(SAME).count(), 2);
}

#[test]
fn the_query_below_the_table_of_optimism_gives_its_numbers() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let (record, simulations) = thresholds(3);
    write_run(&path, &record, simulations);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    let points = store.points(run.id).unwrap();
    let analysis = Analysis::new(&points).unwrap();
    let published = PublishedOfRun::default();
    let pairs = Pairs::new(&points, &published);
    let hash = &run.configuration_hash;
    let optimism = Optimism::new(&analysis, &pairs, hash).unwrap();
    let table = optimism.table(hash);
    let [any, overbooking] = table.rows.as_slice() else {
        panic!("{:?}", table.rows);
    };
    let number = |row: &[Cell], key: &str| {
        let at = table.columns.iter().position(|column| column.key == key);
        match row[at.unwrap()] {
            Cell::Number(value) => value,
            Cell::Integer(value) => value as f64,
            ref other => panic!("{other:?}"),
        }
    };
    assert_eq!(any[0], Cell::Text("any".to_owned()));
    assert_eq!(
        overbooking[0],
        Cell::Text("heuristic-overbooking".to_owned())
    );
    assert_eq!(
        (number(any, "settings"), number(overbooking, "settings")),
        (4.0, 3.0)
    );
    let connection = Connection::open(&path).unwrap();
    let queries: Vec<&str> = table.sql.split("\n\n").collect();
    for (query, condition, row) in [
        (queries[0], "true", any),
        (
            queries[1],
            "strategy = 'heuristic-overbooking'",
            overbooking,
        ),
    ] {
        let query = query.trim_end_matches(';');
        let row_of = |key: &str| -> f64 {
            let one = format!("SELECT 1.0 * {key} FROM ({query}) WHERE {condition}");
            connection.query_row(&one, [], |row| row.get(0)).unwrap()
        };
        close(number(row, "same"), 137.0);
        close(number(row, "others"), 361.0 / 3.0);
        for key in ["batteries", "same", "others", "optimism"] {
            close(row_of(key), number(row, key));
        }
    }
}

#[test]
fn settings_that_did_not_see_the_same_are_said_not_to_say_how_much() {
    let mut simulations = everything();
    let last = simulations.last_mut().unwrap();
    last.result.seen = seen("other", "failures");
    let written = written(simulations, threshold_axes());
    none_says_how_much(&written);
    all_say(&written, "do not all have the same batteries");
}

#[test]
fn one_setting_is_no_choice_and_two_batteries_do_not_say_what_it_is_worth() {
    let mut two = everything();
    two.retain(|simulation| simulation.points[0].replication < 2);
    let two = written(two, threshold_axes());
    none_says_how_much(&two);
    all_say(&two, "fewer than 3 batteries do not say by how much");
    let mut baseline = everything();
    baseline.retain(|simulation| simulation.points.len() == 3);
    let baseline = written(baseline, threshold_axes());
    none_says_how_much(&baseline);
    assert!(!baseline.has_table && baseline.remarks.is_empty());
    assert!(!baseline.page.contains("judged on the same batteries"));
}

#[test]
fn over_several_situations_the_answer_says_what_the_choices_are_worth_on_average() {
    let mut simulations = everything();
    for simulation in &mut simulations {
        let points = std::mem::take(&mut simulation.points);
        for (point, ratio) in points.iter().flat_map(|point| [(point, 1.0), (point, 4.0)]) {
            let axes = point.axes.iter();
            let axes = axes.map(|(key, value)| (key.to_owned(), value.clone()));
            let own = (
                "acceptance.penalty_ratio".to_owned(),
                AxisValue::Real(ratio),
            );
            simulation.points.push(Point {
                id: identity(&format!("{} at {ratio}", point.place)),
                axes: axes.chain([own]).collect(),
                penalty_ratio: ratio,
                place: point.place ^ u32::from(ratio > 1.0),
                ..point.clone()
            });
        }
    }
    let mut axes = threshold_axes();
    let ratios = [1.0, 4.0].map(AxisValue::Real);
    axes.push(axis("acceptance.penalty_ratio", &ratios));
    // At ratio 4 each threshold earns 60 less, and whoever is left out, the baseline earns
    // most: 110. So 123.5 on average, and (361 ÷ 3 + 110) ÷ 2 = 115.2 where the others chose.
    let written = written(simulations, axes);
    all_say(
        &written,
        "Best settings, in the mean over 2 of 2 situations chosen and judged on the same batteries: \
         124 VC; chosen on the others: 115 VC (optimism 7.2 %)",
    );
}
