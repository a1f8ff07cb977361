//! How large a sweep may be.

use super::Experiment;
use crate::study::testing::STUDIES;

const HEAD: &str = r#"[experiment]
name = "test"
replications = 2

[workload]
model = "lublin-feitelson"
jobs = 5000
nodes = 128
battery_jobs = 100
load.value = 2.0

[scheduling]
strategy = "heuristic-overbooking"
"#;

#[test]
fn a_sweep_of_more_simulations_than_can_be_planned_in_seconds_is_refused() {
    let text =
        format!("{HEAD}[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.1, 0.2, 0.3, 0.4]\n");
    let within = |most| Experiment::parse_within(STUDIES, "test.toml", &text, None, most);
    let refused = within(7).expect_err("there are eight").to_string();
    assert!(refused.contains("more than 7 simulations"));
    assert_eq!(
        within(8).expect("there are eight").sweep.simulations.len(),
        8
    );
}
