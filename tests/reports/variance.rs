//! Which axis a report says matters.

use super::*;
use bookahead_report::Terminal;
use bookahead_report::situation::{Fixed, ScreenAnswer};
use bookahead_report::variance::AxisShares;

const POLICY: &str = "clusters.policy";
const RATIO: &str = "acceptance.penalty_ratio";
const COUNT: &str = "clusters.count";

/// What clusters earned: twice as much with the second policy, 20 coins less for each unit of ρ,
/// more in later replications, and 1 coin of noise; the number of clusters does nothing.
fn earned(policy: usize, ratio: f64, replication: u32) -> f64 {
    let noise = f64::from(replication) * if policy == 1 { 1.0 } else { -1.0 };
    100.0 * (1.0 + policy as f64) - 20.0 * ratio + 500.0 * f64::from(replication) + noise
}

/// A run over two policies, two ratios and two numbers of clusters with two replications each;
/// without the points that `is_left_out` says.
fn write_grid(path: &Path, is_left_out: impl Fn(usize, f64, u32) -> bool) {
    let (policies, ratios, counts) = (
        ["heuristic-planning", "heuristic-overbooking"],
        [0.5, 2.0],
        [3_i64, 6],
    );
    let mut simulations = Vec::new();
    for (at, policy) in policies.into_iter().enumerate() {
        for ratio in ratios {
            for clusters in counts {
                for replication in (0..2).filter(|it| !is_left_out(at, ratio, *it)) {
                    let mut own = bookahead_testutils::runs::result(2);
                    own.measured
                        .add("grid_gain", earned(at, ratio, replication));
                    let id = format!("{policy} {ratio} {clusters} {replication}");
                    let axes = [
                        (POLICY, text(policy)),
                        (RATIO, AxisValue::Real(ratio)),
                        (COUNT, AxisValue::Integer(clusters)),
                    ];
                    let points = vec![point(&id, &axes, replication, 1.0)];
                    simulations.push(finished(&id, "co-reservation", replication, own, points));
                }
            }
        }
    }
    let axes = vec![
        axis(POLICY, &policies.map(text)),
        axis(RATIO, &ratios.map(AxisValue::Real)),
        axis(COUNT, &counts.map(AxisValue::Integer)),
    ];
    write_run(path, &record("grid", axes, 16), simulations);
}

fn shares(path: &Path) -> (Table, Option<Figure>) {
    let store = Store::open_read_only(STUDIES, path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    let points = store.points(run.id).unwrap();
    let analysis = Analysis::new(&points).unwrap();
    let shares = AxisShares::new(&analysis, &points, &run.configuration_hash).unwrap();
    let shares = shares.unwrap();
    (shares.table(), shares.figure())
}

#[test]
fn the_shares_of_axes_are_those_worked_out_by_hand_and_those_of_the_query() {
    let folder = folder();
    let path = folder.path().join("store.db");
    write_grid(&path, |_, _, _| false);
    let (table, figure) = shares(&path);
    // The policy: ±50 in replication 0 and ±51 in the other, ±50.5 on average. ρ: ±15. Noise: ±0.5.
    let total = 50.5 * 50.5 + 15.0 * 15.0 + 0.25;
    let expected = [
        ("policy", 50.5 * 50.5 / total),
        ("penalty_ratio", 225.0 / total),
        ("clusters", 0.0),
        ("policy × penalty_ratio", 0.0),
        ("policy × clusters", 0.0),
        ("penalty_ratio × clusters", 0.0),
        ("three or more axes together", 0.0),
        ("noise between replications", 0.25 / total),
    ];
    assert_eq!(table.rows.len(), expected.len());
    let connection = Connection::open(&path).unwrap();
    let query = format!(
        "SELECT share_percent FROM ({}) WHERE term = ?1",
        table.sql.trim_end_matches(';')
    );
    for (row, (name, share)) in table.rows.iter().zip(expected) {
        assert_eq!(row[0], Cell::Text(name.to_owned()));
        let Cell::Number(percent) = row[1] else {
            panic!("{row:?}")
        };
        close(percent, 100.0 * share);
        let found: f64 = connection
            .query_row(&query, [name], |row| row.get(0))
            .unwrap();
        close(found, percent);
    }
    the_query_gives_the_marks(&path, &figure.unwrap());
}

#[test]
fn a_report_says_why_there_are_no_shares_where_results_are_missing() {
    let folder = folder();
    for (is_left_out, said) in [
        (
            (|policy, ratio, _| policy == 1 && ratio == 2.0) as fn(usize, f64, u32) -> bool,
            "only 6 of 8 combinations of axis values have a value",
        ),
        (
            |policy, _, replication| policy == 0 && replication == 1,
            "4 of 8 combinations of axis values lack replications that others have",
        ),
    ] {
        let path = folder.path().join(format!("{}.db", said.len()));
        write_grid(&path, is_left_out);
        let (table, figure) = shares(&path);
        assert!(table.note.contains(said), "{}", table.note);
        assert!(figure.is_none() && table.sql.is_empty());
        let mut shares = table.rows.iter().map(|row| &row[1]);
        assert!(shares.all(|share| *share == Cell::Undefined));
    }
}

#[test]
fn the_page_of_a_run_with_several_axes_shows_which_matters() {
    let folder = folder();
    let path = folder.path().join("store.db");
    write_grid(&path, |_, _, _| false);
    let out = folder.path().join("report");
    let summary = write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    let page = std::fs::read_to_string(summary.report).unwrap();
    for shown in ["id=\"table-variance\"", "id=\"figure-variance\""] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(out.join("tables/variance.csv").is_file());
}

/// Two given axes: the terminal says where the answer changes and how to ask for one situation.
#[test]
fn the_screen_says_where_the_answer_changes_and_a_situation_has_its_own_answer() {
    let folder = folder();
    let path = folder.path().join("store.db");
    write_grid(&path, |_, _, _| false);
    let out = folder.path().join("report");
    let summary = write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    let shown = summary.on_screen.page_on(&Terminal::default());
    for said in [
        "heuristic-overbooking earns most in 4 of 4 situations",
        "policy 92 %, penalty_ratio 8 %, clusters 0 %",
        "bookahead show 1 --at \"clusters.count=3\"",
    ] {
        assert!(shown.title.contains(said), "{said}: {}", shown.title);
    }
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let at = |fixed: &[&str]| {
        let fixed: Vec<Fixed> = fixed.iter().map(|text| text.parse().unwrap()).collect();
        ScreenAnswer::read(&store, &RunSelector::Latest, &fixed)
    };
    let answer = at(&["penalty_ratio=2", "clusters=6"]).unwrap();
    // 200 − 20 · 2 = 160, and 160 + 500 + 1 = 661 in the other replication: 410.5 on average.
    assert!(
        answer.sentences[0].contains("heuristic-overbooking earns most: 410 VC a replication"),
        "{:?}",
        answer.sentences
    );
    // Both policies, once.
    assert_eq!(answer.table.rows.len(), 2);
    let error = at(&["penalty_ratio=3"]).unwrap_err().to_string();
    assert!(error.contains("its values are: 0.5, 2"), "{error}");
    let twice = at(&["clusters=3", "clusters.count=6"]).unwrap_err();
    assert!(twice.to_string().contains("given twice"), "{twice}");
}
