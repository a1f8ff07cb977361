//! What an experiment file may say of a packing, and which simulations come of it.

use bookahead_lab::study::{self, Studies};
use bookahead_lab::sweep::{Experiment, ExperimentError};

const STUDIES: Studies = Studies::new(&[study::study::<super::PackingStudy>()]);

const HEAD: &str = r#"[experiment]
name = "packing"

[workload]
model = "lublin-feitelson"
fresh = true
jobs = 100
nodes = 128
whole_trace = true

[scheduling]
strategy = "packing"
"#;

fn parse(rest: &str) -> Result<Experiment, ExperimentError> {
    Experiment::parse(STUDIES, "test.toml", &format!("{HEAD}{rest}"), None)
}

#[test]
fn what_no_packing_is_like_is_refused_with_what_may_be_said() {
    for (key, value, says) in [
        ("shelf_ratio", "1", "0.01 to 0.99"),
        ("shelf_ratio", "0", "0.01 to 0.99"),
        ("algorithm", "\"next-fit\"", "next-fit-shelf"),
        ("heights", "\"runtimes\"", "run-times"),
    ] {
        let error = parse(&format!("[packing]\n{key} = {value}\n"));
        let error = error.expect_err("refused").to_string();
        assert!(error.contains(&format!("packing.{key}")), "{error}");
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn only_shelves_read_how_high_they_are() {
    let simulations = |algorithm: &str| {
        let ratios = "[[axis]]\nkey = \"packing.shelf_ratio\"\nvalues = [0.3, 0.5]\n";
        let text = format!("[packing]\nalgorithm = \"{algorithm}\"\n{ratios}");
        let experiment = parse(&text).expect("an experiment");
        experiment.sweep.simulations.iter().count()
    };
    assert_eq!(simulations("first-fit-shelf"), 2);
    assert_eq!(simulations("next-fit-shelf"), 2);
    assert_eq!(simulations("split"), 1);
    assert_eq!(simulations("earliest-start"), 1);
}
