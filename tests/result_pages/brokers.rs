//! Pages about what a broker knows of its clusters.

use super::setting::{Setting, has_traces};
use super::*;

/// Student's t over 19 degrees of freedom.
const QUANTILE: f64 = 2.093;

#[test]
fn the_page_about_limits_by_user_gives_its_row_of_five_hundred_jobs_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = project().join("configs/co-reservation/category.toml");
    let whole = fs::read_to_string(path).expect("an experiment");
    let (head, _) = whole.split_once("values = [\n").expect("values");
    let rows = r#"["a2", "history", 500, 1.0], ["a2", "category", 500, 1.0]"#;
    let part = format!("{head}values = [{rows}]\n")
        .replace(r#"["fingerprint", "drawn"]"#, r#"["fingerprint"]"#)
        .replace(r#"["rw1", "rw3"]"#, r#"["rw3"]"#);
    fs::write(folder.path().join("part.toml"), part).expect("a file");
    run(folder.path(), folder.path().join("part.toml"));
    let page = "measurements/accuracy-by-category.md";
    let store = folder.path().join("it.db");
    let here = [("accuracy", "category")];
    let setting = Setting::of(&store, &queries(page)[0], 20, &here);
    let error = |measure| {
        let mean = setting.mean(measure);
        format!("{}{:.1}", if mean < 0.0 { "−" } else { "" }, mean.abs())
    };
    let difference = |measure| setting.plain_difference(measure, QUANTILE, 2);
    let row = format!(
        "| fingerprint, RW3 | by category, last 500 | {} | {} | {} | {} | {} | {} | {} |",
        error("grid_backlog_hours"),
        error("backlog_work_error_hours"),
        error("backlog_work_absolute_error_hours"),
        difference("backlog_work_absolute_error_hours"),
        error("backlog_error_hours"),
        error("backlog_absolute_error_hours"),
        difference("backlog_absolute_error_hours")
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_backlogs_of_the_plan_gives_one_of_its_rows_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = project().join("configs/co-reservation/planned-backlog.toml");
    let whole = fs::read_to_string(path).expect("an experiment");
    let (head, _) = whole.split_once("values = [\n").expect("values");
    let rows = r#"["a2", "full", 1.0], ["a2", "planned", 1.0]"#;
    let part = format!("{head}values = [{rows}]\n")
        .replace(r#"["fingerprint", "drawn"]"#, r#"["drawn"]"#)
        .replace(r#"["rw1", "rw3"]"#, r#"["rw1"]"#);
    fs::write(folder.path().join("part.toml"), part).expect("a file");
    run(folder.path(), folder.path().join("part.toml"));
    let page = "measurements/planned-backlog.md";
    let store = folder.path().join("it.db");
    let setting = Setting::of(&store, &queries(page)[0], 20, &[("work", "planned")]);
    let row = format!(
        "| drawn, RW1 | the plan | {:.1} | −{:.1} | {:.1} | {} |",
        setting.mean("grid_backlog_hours"),
        -setting.mean("backlog_error_hours"),
        setting.mean("backlog_absolute_error_hours"),
        setting.difference("backlog_absolute_error_hours", QUANTILE, 1)
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_the_mix_of_jobs_gives_its_row_of_half_a_weight_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = project().join("configs/co-reservation/job-mix.toml");
    let whole = fs::read_to_string(path).expect("an experiment");
    let (head, _) = whole.split_once("values = [\n").expect("values");
    let rows = r#"["a5", 0.0, 1.0, 0.0, 7.0, 128], ["a5", 0.0, 1.0, 0.5, 7.0, 128]"#;
    let part = format!("{head}values = [{rows}]\n").replace(r#"["rw1", "rw3"]"#, r#"["rw3"]"#);
    fs::write(folder.path().join("part.toml"), part).expect("a file");
    run(folder.path(), folder.path().join("part.toml"));
    let page = "measurements/job-mix.md";
    let store = folder.path().join("it.db");
    let here = [("j", "0.5"), ("cluster", "-1")];
    let setting = Setting::of(&store, &queries(page)[0], 20, &here);
    let beside = |measure, digits| {
        let mean = setting.mean(measure);
        let difference = setting.plain_difference(measure, QUANTILE, digits);
        format!("{mean:.digits$} | {difference}")
    };
    let row = format!(
        "| A5, 0, 1, 0.5 | {} | {} | {} | {} |",
        beside("co_failure_rate", 3),
        beside("co_relative_start_mean", 3),
        beside("unfairness_mean", 3),
        beside("expansion_factor_mean", 2)
    );
    assert!(read(page).contains(&row), "{row}");
}
