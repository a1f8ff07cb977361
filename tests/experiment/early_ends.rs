//! Jobs that end early for reasons of their own: what a file may say of them.

use super::*;
use bookahead::study::inputs::{InputFolders, InputSources, Inputs};
use bookahead::workload::{EarlyEnds, Job};

fn saying(more: &str) -> String {
    with("nodes = 128", &format!("nodes = 128\n{more}"))
}

fn early_ends(more: &str) -> Option<EarlyEnds> {
    sweep(&saying(more)).simulations.kind(0).workload.early_ends
}

#[test]
fn no_early_ends_are_the_simulation_that_says_nothing_of_them() {
    let silent = sweep(HEAD).simulations;
    let said = sweep(&saying("no_show_percent = 0\ncrashes_per_hour = 0.0")).simulations;
    assert_eq!(said.kinds(), silent.kinds());
    let written = canonical_json(&silent.kind(0).workload).expect("JSON");
    assert!(!written.contains("early_ends"), "{written}");
    let both = EarlyEnds {
        no_show_percent: 10.0,
        crashes_per_hour: 0.2,
    };
    assert_eq!(
        early_ends("no_show_percent = 10\ncrashes_per_hour = 0.2"),
        Some(both)
    );
}

#[test]
fn what_cannot_end_early_is_refused_with_the_reason() {
    for (key, value) in [("no_show_percent", "101.0"), ("crashes_per_hour", "-0.5")] {
        assert_problem(
            &saying(&format!("{key} = {value}")),
            ProblemKind::OutOfRange,
            value,
            &format!("workload.{key}"),
            "0",
        );
    }
    let whole = with("battery_jobs = 100\n", "whole_trace = true\n")
        .replace("heuristic-overbooking", "predicted-queue");
    for key in ["no_show_percent", "crashes_per_hour"] {
        let exact = format!("nodes = 128\nexact_estimates = true\n{key} = 5.0");
        assert_problem(
            &whole.replace("nodes = 128", &exact),
            ProblemKind::Conflict,
            "5.0",
            &format!("workload.{key}"),
            "leave out `exact_estimates`",
        );
    }
}

/// All jobs that simulations of a file learn from and evaluate.
fn jobs(text: &str) -> Vec<Job> {
    let inputs = Inputs::new(STUDIES, InputSources::new(&InputFolders::default()), true);
    let workload = inputs
        .workload(&sweep(text).simulations.get(0))
        .expect("jobs");
    let evaluated = workload.batteries.iter().flat_map(|jobs| jobs.iter());
    workload.learning.iter().chain(evaluated).cloned().collect()
}

#[test]
fn jobs_of_every_model_end_early_and_are_as_they_were_otherwise() {
    for model in ["lublin-feitelson", "uniform-ratio", "arminius"] {
        let batteries = with("load.value = 2.0", "compression = 0.5")
            .replace("lublin-feitelson", model)
            .replace("nodes = 128", "nodes = 200");
        let whole = batteries
            .replace("battery_jobs = 100\n", "whole_trace = true\n")
            .replace("heuristic-overbooking", "predicted-queue");
        for text in [batteries, whole] {
            let of =
                |more: &str| jobs(&text.replace("nodes = 200", &format!("nodes = 200\n{more}")));
            let recorded = of("no_show_percent = 0");
            let (few, many) = (of("no_show_percent = 10"), of("no_show_percent = 30"));
            let crashing = of("no_show_percent = 30\ncrashes_per_hour = 2.0");
            assert!(!recorded.is_empty(), "{model}");
            let mut counts = [0; 3];
            for (((recorded, few), many), crashing) in
                recorded.iter().zip(&few).zip(&many).zip(&crashing)
            {
                let shorter = |job: &Job| job.runtime < recorded.runtime;
                for (count, job) in counts.iter_mut().zip([few, many, crashing]) {
                    *count += usize::from(shorter(job));
                    let otherwise = Job {
                        runtime: recorded.runtime,
                        ..job.clone()
                    };
                    assert_eq!(otherwise, *recorded, "{model}");
                }
                assert!(!shorter(few) || *many == *few, "who stays away stays away");
                assert!(crashing.runtime <= many.runtime);
            }
            assert!(
                0 < counts[0] && counts[0] < counts[1] && counts[1] < counts[2],
                "{counts:?}"
            );
        }
    }
}
