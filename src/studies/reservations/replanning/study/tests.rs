//! What an experiment file may say of owners who do not state the truth, and which simulations come
//! of it.

use bookahead_lab::study::{self, Studies};
use bookahead_lab::sweep::{Experiment, ExperimentError};

const STUDIES: Studies = Studies::new(&[study::study::<super::ReservationsStudy>()]);

const HEAD: &str = r#"[experiment]
name = "stating"

[workload]
model = "lublin-feitelson"
fresh = true
jobs = 100
nodes = 128
whole_trace = true

[scheduling]
strategy = "replanning"
"#;

fn parse(rest: &str) -> Result<Experiment, ExperimentError> {
    Experiment::parse(STUDIES, "test.toml", &format!("{HEAD}{rest}"), None)
}

#[test]
fn statements_that_cannot_be_are_refused_with_their_key() {
    for (key, value, says) in [
        ("misstated_length_factor", "0.5", "1 to 1000"),
        ("misstated_length_factor", "1001", "1 to 1000"),
        ("misstated_alpha", "1.2", "0 to 1"),
        ("misstated_alpha", "\"low\"", "0 to 1"),
    ] {
        let error = parse(&format!("[planning]\n{key} = {value}\n"));
        let error = error.expect_err("refused").to_string();
        assert!(error.contains(&format!("planning.{key}")), "{error}");
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_statement_that_nobody_makes_or_reads_makes_no_new_simulation() {
    let count = |rule: &str, start: &str, percent: u32, axis: (&str, &str)| {
        let (key, values) = axis;
        let rest = format!(
            "[planning]\nmisstating_percent = {percent}\n[admission]\nrule = \"{rule}\"\n\
             [reservations]\nstart = \"{start}\"\n\
             [[axis]]\nkey = \"planning.{key}\"\nvalues = {values}\n"
        );
        let parsed = parse(&rest);
        parsed
            .expect("an experiment")
            .sweep
            .simulations
            .iter()
            .count()
    };
    let length = ("misstated_length_factor", "[1, 1.5]");
    let alpha = ("misstated_alpha", "[0.2, 0.4]");
    assert_eq!(count("move-price", "choice", 10, length), 2);
    assert_eq!(count("reject", "lead", 10, length), 2);
    assert_eq!(count("move-price", "choice", 0, length), 1);
    assert_eq!(count("move-price", "choice", 10, alpha), 2);
    assert_eq!(count("move-price", "lead", 10, alpha), 1);
    assert_eq!(count("move", "choice", 10, alpha), 1);
    assert_eq!(count("move-price", "choice", 0, alpha), 1);
}

#[test]
fn cancellations_are_refused_where_running_jobs_are_stopped_for_reservations() {
    for rule in ["truncate", "requeue"] {
        let rest = format!("[admission]\nrule = \"{rule}\"\ncancelling_percent = 10\n");
        let error = parse(&rest).expect_err("refused").to_string();
        assert!(error.contains("admission.cancelling_percent"), "{error}");
        assert!(error.contains("admission.rule"), "{error}");
    }
    let error = parse("[admission]\ncancelling_percent = 101\n").expect_err("refused");
    assert!(error.to_string().contains("0 to 100"), "{error}");
}

#[test]
fn a_penalty_that_nobody_pays_makes_no_new_simulation() {
    let count = |rule: &str, percent: u32| {
        let rest = format!(
            "[admission]\nrule = \"{rule}\"\ncancelling_percent = {percent}\n\
             [reservations]\nshare_percent = 10\n\
             [[axis]]\nkey = \"admission.penalty_factor\"\nvalues = [0, 0.5]\n"
        );
        let parsed = parse(&rest).expect("an experiment");
        parsed.sweep.simulations.iter().count()
    };
    assert_eq!(count("move-price", 10), 2);
    assert_eq!(count("move-price", 0), 1);
    assert_eq!(count("move", 10), 1);
}
