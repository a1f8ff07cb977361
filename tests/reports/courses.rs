//! What the first screen of a study says of how its quantity changes along an axis.

use super::*;
use bookahead_studies::STUDIES;
use bookahead_testutils::runs::result;

const THRESHOLD: &str = "acceptance.pof_max";
const RATIO: &str = "acceptance.penalty_ratio";
const COUNT: &str = "clusters.count";
const POLICY: &str = "clusters.policy";

/// What clusters earned in a replication at a threshold and a penalty ratio.
type Earned = fn(threshold: f64, ratio: f64, replication: u32) -> f64;

/// More with the threshold where broken promises cost little, less where they cost much, and most
/// at 0.3 between; the replications differ, and what the threshold does differs among them.
fn by_ratio(threshold: f64, ratio: f64, replication: u32) -> f64 {
    let moves = 400.0 + 10.0 * f64::from(replication);
    let level = 1_000.0 + 50.0 * f64::from(replication);
    match ratio {
        ..1.0 => level + moves * threshold,
        ..4.0 => level - moves * (threshold - 0.3).abs(),
        _ => level - moves * threshold,
    }
}

/// A run of one policy at four thresholds, three ratios and these numbers of clusters, and the page
/// of its report.
fn page(earned: Earned, counts: &[f64], replications: u32) -> String {
    let folder = folder();
    let path = folder.path().join("store.db");
    let (thresholds, ratios) = ([0.0, 0.2, 0.3, 0.6], [0.5, 2.0, 8.0]);
    let mut simulations = Vec::new();
    for &count in counts {
        for ratio in ratios {
            for threshold in thresholds {
                for replication in 0..replications {
                    let mut own = result(2);
                    let value = count * earned(threshold, ratio, replication);
                    own.measured.add("grid_gain", value);
                    let id = format!("{count} {ratio} {threshold} {replication}");
                    let axes = [
                        (POLICY, text("heuristic-overbooking")),
                        (COUNT, AxisValue::Real(count)),
                        (RATIO, AxisValue::Real(ratio)),
                        (THRESHOLD, AxisValue::Real(threshold)),
                    ];
                    let points = vec![point(&id, &axes, replication, 1.0)];
                    simulations.push(finished(&id, "co-reservation", replication, own, points));
                }
            }
        }
    }
    let real = |values: &[f64]| -> Vec<AxisValue> {
        values.iter().copied().map(AxisValue::Real).collect()
    };
    let axes = vec![
        axis(POLICY, &[text("heuristic-overbooking")]),
        axis(COUNT, &real(counts)),
        axis(RATIO, &real(&ratios)),
        axis(THRESHOLD, &real(&thresholds)),
    ];
    let points = simulations.len() as u64;
    write_run(&path, &record("courses", axes, points), simulations);
    let out = folder.path().join("report");
    let summary = write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    std::fs::read_to_string(summary.report).unwrap()
}

#[test]
fn a_value_between_the_ends_is_named_where_it_is_significantly_beyond_both() {
    let page = page(by_ratio, &[2.0], 4);
    let turning = page.split("penalty_ratio 2: ").nth(1).unwrap();
    let turning = turning.split(';').next().unwrap();
    assert!(turning.contains(", rising to 2,150 ["), "{turning}");
    assert!(
        turning.contains("at 0.3 and falling to 1,901 ["),
        "{turning}"
    );
    // The others have their highest value at an end.
    assert_eq!(page.matches("rising to").count(), 1);
}

#[test]
fn a_highest_value_by_chance_is_not_called_a_turn() {
    fn by_chance(threshold: f64, ratio: f64, replication: u32) -> f64 {
        let sign = if replication.is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        let middle = if threshold == 0.3 {
            5.0 + 40.0 * sign
        } else {
            0.0
        };
        1_000.0 + ratio + middle + threshold * sign
    }
    let page = page(by_chance, &[2.0], 4);
    assert!(!page.contains("rising to"));
    assert_eq!(page.matches("(no significant difference)").count(), 3);
}

#[test]
fn with_one_replication_the_values_are_what_there_is_to_say() {
    let page = page(by_ratio, &[2.0], 1);
    assert!(page.contains("rising to 2,000 at 0.3 and falling to 1,760 at 0.6"));
    assert!(page.contains("differences may be chance"));
}

#[test]
fn the_first_screen_says_in_numbers_where_the_answer_changes() {
    let page = page(by_ratio, &[2.0, 4.0, 6.0], 4);
    let said = page.split("Of 9 lines").nth(1).unwrap();
    let said = said.split("</").next().unwrap();
    assert_eq!(
        said,
        " over pof_max in 3 situations it rises in 3, falls in 3, is highest between the ends (at \
         0.3) in 3. By penalty_ratio: at 0.5 it rises in 3 of 3; at 2 it is highest between the \
         ends in 3 of 3; at 8 it falls in 3 of 3. Choose one above the figure."
    );
}
