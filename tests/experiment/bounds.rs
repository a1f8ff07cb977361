//! Counts that no memory holds, and what can be known before anything runs.

use super::*;

/// What is wrong with this text, all of it.
fn refusal(text: &str) -> String {
    parse(text)
        .expect_err("this file must not pass")
        .to_string()
}

#[test]
fn a_thousand_million_jobs_were_generated_until_the_memory_was_full_and_are_refused() {
    for (old, new, key) in [
        ("jobs = 5000", "jobs = 1000000000", "workload.jobs"),
        (
            "battery_jobs = 100",
            "battery_jobs = 10000001",
            "workload.battery_jobs",
        ),
        (
            "battery_jobs = 100",
            "battery_jobs = 100\nevaluation_jobs = 20000000",
            "workload.evaluation_jobs",
        ),
    ] {
        let said = refusal(&with(old, new));
        assert!(said.contains(key), "{said}");
        assert!(said.contains("do not fit into memory"), "{said}");
    }
    // Two million batteries of a hundred jobs: a count is as large as its product.
    let many = with("replications = 2", "replications = 2000000");
    assert!(refusal(&many).contains("2000000 replications of 100 jobs are too many"));
}

#[test]
fn points_of_one_simulation_and_replications_of_one_kind_take_less_than_a_hundred_bytes_each() {
    let text = format!(
        "{HEAD}[[axis]]\nkey = \"acceptance.penalty_ratio\"\nrange = {{ from = 1, to = 1000, step = 1 }}\n"
    );
    let sweep = sweep(&text);
    assert_eq!((sweep.points.len(), sweep.simulations.len()), (2_000, 2));
    assert_eq!(sweep.simulations.kinds().len(), 1);
    let bytes = size_of::<Point>();
    assert!(bytes <= 100, "{bytes}");
}

#[test]
fn a_name_that_no_folder_can_have_is_refused_before_anything_runs() {
    let text = with("\"test\"", &format!("\"{}\"", "n".repeat(300)));
    assert!(refusal(&text).contains("this name cannot be a folder's"));
    assert!(parse(&with("\"test\"", &format!("\"{}\"", "n".repeat(100)))).is_ok());
}

#[test]
fn a_virtual_reservation_that_is_wider_than_the_machine_is_refused_before_anything_runs() {
    let virtual_reservations = |nodes: u32| {
        with("battery_jobs = 100\nload.value = 2.0", "whole_trace = true")
            .replace("\"heuristic-overbooking\"", "\"virtual-reservations\"")
            + &format!("[virtual]\nnodes = {nodes}\n")
    };
    assert!(parse(&virtual_reservations(128)).is_ok());
    assert!(refusal(&virtual_reservations(129)).contains("129 nodes of 128"));
}

#[test]
fn of_thousands_of_errors_of_syntax_the_first_are_shown_and_the_others_counted() {
    let text = HEAD.to_owned() + "[acceptance\n" + &"pof_max = = 1\n".repeat(1_000);
    let error = parse(&text).expect_err("this is not TOML");
    let problems = error.problems();
    assert_eq!(problems.len(), 11, "{error}");
    let last = problems[10].to_string();
    assert!(
        last.contains("more errors of syntax from here on"),
        "{last}"
    );
}

#[test]
fn classes_of_two_attributes_and_thousands_of_them_are_not_merged() {
    let merged = |rest: &str| format!("{HEAD}[estimates]\nmerge_distance = 0.1\n{rest}");
    let pair = refusal(&merged("classes = \"runtime+user\"\n"));
    assert!(
        pair.contains("the classes of `runtime+user` are those of two attributes"),
        "{pair}"
    );
    let many = refusal(&merged("classes = \"user\"\ntop_users = 60000\n"));
    assert!(
        many.contains("60000 classes are too many to be merged"),
        "{many}"
    );
    assert!(many.contains("use 1000 at most"), "{many}");
    assert!(parse(&merged("classes = \"user\"\ntop_users = 1000\n")).is_ok());
}
