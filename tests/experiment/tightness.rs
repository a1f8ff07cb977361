//! How tight estimates are: what a file may say of it, and that every source of jobs follows it.

use super::*;
use bookahead::study::inputs::{InputFolders, InputSources, Inputs};
use bookahead::units::Seconds;
use bookahead::workload::{Job, Tightness, WhichEstimate};

fn tightness(more: &str) -> Option<Tightness> {
    let text = with("nodes = 128", &format!("nodes = 128\n{more}"));
    sweep(&text).simulations.kind(0).workload.tightness
}

fn warned(more: &str) -> Vec<String> {
    let text = with("nodes = 128", &format!("nodes = 128\n{more}"));
    let warnings = parse(&text).expect("valid").warnings.into_iter();
    warnings.map(|warning| warning.key).collect()
}

#[test]
fn estimates_as_recorded_are_the_simulation_that_says_nothing_of_them() {
    let silent = sweep(HEAD).simulations;
    let all =
        "estimate_tightness = 1.0\ndeadline_estimate = \"recorded\"\nload.estimate = \"recorded\"";
    let said = sweep(&with("nodes = 128", &format!("nodes = 128\n{all}"))).simulations;
    assert_eq!(said.kinds(), silent.kinds());
    let written = canonical_json(&silent.kind(0).workload).expect("JSON");
    assert!(!written.contains("tightness"), "{written}");
    assert_eq!(
        warned(all),
        ["workload.deadline_estimate", "workload.load.estimate"]
    );
}

#[test]
fn what_follows_which_estimate_is_read_where_something_follows_it() {
    assert_eq!(
        tightness("estimate_tightness = 0.5"),
        Some(Tightness::of(0.5))
    );
    let readings =
        "estimate_tightness = 0\ndeadline_estimate = \"recorded\"\nload.estimate = \"recorded\"";
    let (deadline, load) = (WhichEstimate::Recorded, WhichEstimate::Recorded);
    let both = Tightness {
        share: 0.0,
        deadline,
        load,
    };
    assert_eq!(tightness(readings), Some(both));
    assert_eq!(warned(readings), [""; 0]);
    let by_run_times = format!("{readings}\nload.by = \"runtimes\"");
    assert_eq!(warned(&by_run_times), ["workload.load.estimate"]);
    let load = Some(Tightness {
        load: WhichEstimate::Tightened,
        ..both
    });
    assert_eq!(tightness(&by_run_times), load);
    let factor = with(
        "load.value = 2.0",
        &format!("compression = 0.1\n{readings}"),
    );
    assert_eq!(sweep(&factor).simulations.kind(0).workload.tightness, load);
}

#[test]
fn what_cannot_be_tightened_is_refused_with_the_reason() {
    assert_problem(
        &with("nodes = 128", "nodes = 128\nestimate_tightness = 1.5"),
        ProblemKind::OutOfRange,
        "1.5",
        "workload.estimate_tightness",
        "0 to 1",
    );
    let whole = with("battery_jobs = 100\n", "whole_trace = true\n")
        .replace("heuristic-overbooking", "predicted-queue");
    let exact = "exact_estimates = true\nestimate_tightness = 0.5";
    assert_problem(
        &whole.replace("nodes = 128", &format!("nodes = 128\n{exact}")),
        ProblemKind::Conflict,
        "0.5",
        "workload.estimate_tightness",
        "leave out `exact_estimates`",
    );
    let deadline = "estimate_tightness = 0.5\ndeadline_estimate = \"recorded\"";
    assert_problem(
        &whole.replace("nodes = 128", &format!("nodes = 128\n{deadline}")),
        ProblemKind::Conflict,
        "\"recorded\"",
        "workload.deadline_estimate",
        "deadlines of batteries",
    );
}

/// The jobs that simulations of a file learn from and evaluate.
fn jobs(text: &str) -> (Vec<Job>, Vec<Job>) {
    let inputs = Inputs::new(STUDIES, InputSources::new(&InputFolders::default()), true);
    let workload = inputs
        .workload(&sweep(text).simulations.get(0))
        .expect("jobs");
    let evaluated = workload
        .batteries
        .iter()
        .flat_map(|jobs| jobs.iter().cloned());
    (workload.learning.to_vec(), evaluated.collect())
}

#[test]
fn jobs_of_every_model_are_as_tight_as_asked_whole_or_in_batteries() {
    const SHARE: Tightness = Tightness::of(0.25);
    for model in ["lublin-feitelson", "uniform-ratio", "arminius"] {
        let batteries = with("load.value = 2.0", "compression = 0.5")
            .replace("lublin-feitelson", model)
            .replace("nodes = 128", "nodes = 200");
        let whole = batteries
            .replace("battery_jobs = 100\n", "whole_trace = true\n")
            .replace("heuristic-overbooking", "predicted-queue");
        for text in [batteries, whole] {
            let tight = text.replace("nodes = 200", "nodes = 200\nestimate_tightness = 0.25");
            let (recorded, tight) = (jobs(&text), jobs(&tight));
            assert!(!tight.1.is_empty(), "{model}");
            for (recorded, tight) in [(recorded.0, tight.0), (recorded.1, tight.1)] {
                assert_eq!(recorded.len(), tight.len());
                for (recorded, tight) in recorded.iter().zip(&tight) {
                    let estimate = SHARE.estimate(recorded.estimate, recorded.runtime);
                    let window = if recorded.deadline == Seconds::FAR {
                        recorded.deadline
                    } else {
                        recorded.submit + estimate * 2
                    };
                    let asked = Job {
                        estimate,
                        deadline: window,
                        ..recorded.clone()
                    };
                    assert_eq!(*tight, asked, "{model}");
                }
            }
        }
    }
}
