//! What simulations of the study cost.

use super::OverbookingStudy;
use bookahead_lab::study::{Studies, study};
use bookahead_lab::sweep::{CostModel, Experiment};

const STUDIES: Studies = Studies::new(&[study::<OverbookingStudy>()]);

#[test]
fn batteries_that_are_learned_from_and_places_that_are_compared_cost_their_time() {
    let seconds = |more: &str| {
        let text = format!(
            "[experiment]\nname = \"test\"\n[workload]\nmodel = \"lublin-feitelson\"\njobs = 5000\nnodes = 64\nload.value = 2.0\n\
             [scheduling]\nstrategy = \"comprehensive-overbooking\"\n{more}"
        );
        let sweep = Experiment::parse(STUDIES, "test.toml", &text, None)
            .expect("valid")
            .sweep;
        CostModel::default().seconds(sweep.simulations.kind(0))
    };
    let plain = seconds("");
    // Five batteries before its own; weighing all places took six times as long.
    let calibrated = seconds("[acceptance]\ncalibration = \"logistic\"\n");
    assert!(
        (calibrated / plain - 6.0).abs() < 1e-9,
        "{calibrated} {plain}"
    );
    let compared = seconds("placing = \"highest-pos\"\n");
    assert!((compared / plain - 6.0).abs() < 1e-9, "{compared} {plain}");
}
