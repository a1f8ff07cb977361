//! Pages about what a broker knows of its clusters, who goes first there, and what there is besides
//! CPUs.

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

#[test]
fn the_page_about_priority_gives_its_row_of_a_tenth_under_a4_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "co-reservation/priority.toml",
        &[
            (r#"["rw1", "rw3"]"#, r#"["rw3"]"#),
            (r#"["a1", "a4"]"#, r#"["a4"]"#),
            ("[50, 100]", "[100]"),
            ("[0, 10, 30]", "[0, 10]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/priority.md";
    let store = folder.path().join("it.db");
    let setting = Setting::of(&store, &queries(page)[0], 20, &[("priority", "10")]);
    let row = format!(
        "| RW3 | `a4` | 100 | 10 | {:.1} | {:.1} | {} | {:.1} |",
        setting.mean("co_priority_kept_rate"),
        setting.mean("co_renegotiable_kept_rate"),
        setting.difference("more_kept", 2.093, 1),
        setting.mean("co_displaced_rate"),
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_priority_gives_its_total_utility_under_a2_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "co-reservation/priority-alone.toml",
        &[
            (r#"["rw1", "rw3"]"#, r#"["rw1"]"#),
            (r#"["a1", "a2-sorted", "a4"]"#, r#"["a2-sorted"]"#),
            ("[0, 10, 30]", "[0, 30]"),
        ],
    );
    run_keeping("all", folder.path(), part);
    let page = "measurements/priority.md";
    let store = folder.path().join("it.db");
    let query = &queries(page)[2];
    let of = |class| Setting::of(&store, query, 20, &[("class", class), ("lasts", "all")]);
    let all = of("all");
    let row = format!(
        "| RW1 | `a2-sorted` | 30 | {:.1} | {} | {} | {} |",
        all.mean("total"),
        all.difference("total", QUANTILE, 2),
        of("priority").difference("utility", QUANTILE, 3),
        of("others").difference("utility", QUANTILE, 3)
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_storage_gives_its_rows_of_both_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "co-reservation/storage.toml",
        &[
            (r#"["a1", "a2-sorted", "a4"]"#, r#"["a2-sorted"]"#),
            (r#"["rw1", "rw3"]"#, r#"["rw3"]"#),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/storage.md";
    let store = folder.path().join("it.db");
    let [all, by_need] = &queries(page)[..] else {
        panic!("two queries");
    };
    let of = |query: &str, scarce: &str| Setting::of(&store, query, 20, &[("scarce", scarce)]);
    let more = |scarce: &str| of(all, scarce).difference("co_failure_rate", 2.093, 3);
    let row = format!(
        "| RW3 | A2, earliest first | {:.3} | {} | {} | {} | {} | {} |\n",
        of(all, "plenty").mean("co_failure_rate"),
        more("licences"),
        more("storage"),
        more("both"),
        more("second"),
        more("beyond the sum"),
    );
    assert!(read(page).contains(&row), "{row}");
    let needs = ["none", "licence", "storage", "both"];
    let row = needs.map(|need| of(by_need, "both").difference(need, 2.093, 3));
    let row = format!("| RW3 | A2, earliest first | {} |\n", row.join(" | "));
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_licences_gives_its_row_of_two_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "co-reservation/licences.toml",
        &[
            ("[1, 2, 3, 4, 8, 1000]", "[2, 1000]"),
            (r#"["a1", "a2-sorted", "a4"]"#, r#"["a2-sorted"]"#),
            (r#"["rw1", "rw3"]"#, r#"["rw3"]"#),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/licences.md";
    let store = folder.path().join("it.db");
    let [all, by_need] = &queries(page)[..] else {
        panic!("two queries");
    };
    let [all, by_need] = [all, by_need].map(|it| Setting::of(&store, it, 20, &[("licences", "2")]));
    let row = format!(
        "| RW3 | A2, earliest first | 2 | {:.1} | {:.3} | {:.3} | {} | {:.3} | {} | {:.3} | {} |\n",
        all.mean("licence_use_percent"),
        all.mean("licence_lack_share"),
        all.mean("co_failure_rate"),
        all.difference("co_failure_rate", 2.093, 3),
        by_need.mean("needs"),
        by_need.difference("needs", 2.093, 3),
        by_need.mean("none"),
        by_need.difference("none", 2.093, 3),
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_co_reservations_gives_its_row_of_a_small_weight_of_the_degree_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "co-reservation/degree.toml",
        &[
            (r#"["rw1", "rw3"]"#, r#"["rw1"]"#),
            ("  [\"a5\", \"algorithm\", 0.0, 1.0, 0.25],\n", ""),
            ("  [\"a5\", \"algorithm\", 0.0, 1.0, 0.5],\n", ""),
            ("  [\"a5\", \"algorithm\", 0.0, 1.0, 1.0],\n", ""),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/co-reservations.md";
    let found = queries(page);
    let query = found.iter().find(|query| query.contains("'degree'"));
    let here = [("algorithm", "a5"), ("s", "1"), ("d", "0.1")];
    let store = folder.path().join("it.db");
    let setting = Setting::of(&store, query.expect("a query"), 20, &here);
    let row = format!(
        "| RW1 | A5, 0, 1, 0.1 | {} | {} | {} | {} | {} |",
        setting.difference("co_failure_rate", QUANTILE, 3),
        setting.difference("co_relative_start_mean", QUANTILE, 3),
        setting.difference("co_relative_cost_mean", QUANTILE, 3),
        setting.difference("unfairness_mean", QUANTILE, 3),
        setting.difference("spread", QUANTILE, 2),
    );
    assert!(read(page).contains(&row), "{row}");
}
