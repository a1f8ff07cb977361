//! Pages about what reserved hours cost, and who looks at it.

use super::setting::{Setting, has_traces};
use super::*;

#[test]
fn the_page_about_jobs_that_look_at_prices_gives_its_row_of_even_weights_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "price-users/sites.toml",
        &[
            (
                r#"["all", "home", "random", "fewest-tasks"]"#,
                r#"["all", "home"]"#,
            ),
            ("[0.0, 0.25, 0.5, 0.75, 1.0]", "[0.5]"),
        ],
    );
    run_keeping("all", folder.path(), part);
    let page = "measurements/price-users.md";
    let store = folder.path().join("it.db");
    let setting = Setting::of(&store, &queries(page)[0], 40, &[("asked", "all")]);
    let of = |measure, digits| setting.difference(measure, 2.023, digits);
    let row = format!(
        "| 0.5 | `all` | {} | {:.1} | {} | {} | {} |",
        of("site_spread_points", 2),
        setting.mean("wf_away_percent"),
        of("wf_externality_su", 1),
        of("wf_wait_hours", 2),
        of("others_wait_hours", 2)
    );
    assert!(read(page).contains(&row), "{row}");
    let prices = rows(&store, &queries(page)[1], |row| {
        let numbers: [Option<f64>; 2] = [row.get("more")?, row.get("variance")?];
        Ok((row.get::<_, f64>("price")?, numbers))
    });
    let logs = prices.chunks(3).map(|log| {
        let [(busy, [Some(more), Some(variance)]), (middle, _), (idle, _)] = log else {
            panic!("three sites of a log: {log:?}");
        };
        let half = 2.023 * variance.sqrt();
        format!("{busy:.1} | {middle:.1} | {idle:.1} | **+{more:.1} ± {half:.1}**")
    });
    let row = format!("| 0.5 | {} |\n", logs.collect::<Vec<_>>().join(" | "));
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_dearer_reserved_hours_gives_its_row_of_a_budget_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "premium/ctc-greedy.toml",
        &[
            ("[1.25, 1.5, 2.5]", "[2.5]"),
            ("[1.0, 1.2, 2.0]", "[1.0, 2.0]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/premium.md";
    let store = folder.path().join("it.db");
    let setting = Setting::of(&store, &queries(page)[0], 40, &[("price", "2")]);
    let row = format!(
        "| 2.5 | 2.0 | {:.3} | {} | {:.1} | {:.0} |",
        setting.mean("wf_cost_ratio"),
        setting.difference("wf_makespan_hours", 2.023, 2),
        setting.mean("wf_externality_su"),
        setting.mean("wf_within_budget_percent")
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_limits_on_padded_jobs_gives_its_row_of_five_hours_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "premium/ctc-virtual.toml",
        &[
            ("[1.0, 1.2, 2.0]", "[1.0, 2.0]"),
            ("[1, 4]", "[4]"),
            ("[5, 8, 12]", "[5, 12]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/premium.md";
    let store = folder.path().join("it.db");
    let here = [("most", "5"), ("price", "2")];
    let setting = Setting::of(&store, &queries(page)[1], 10, &here);
    let row = format!(
        "| 4 | 5 | 2.0 | {:.1} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} |",
        setting.mean("var_success_percent"),
        setting.mean("var_cost"),
        setting.mean("ar_cost"),
        setting.mean("combined_cost"),
        setting.mean("var_cheaper_percent"),
        setting.mean("ar_cheaper_percent")
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_one_slot_gives_its_row_of_the_cheapest_slot_of_a_deep_workflow_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "single-slot/ctc.toml",
        &[("[3, 10, 50]", "[50]"), ("[0.0, 0.5, 1.0]", "[1.0]")],
    );
    run(folder.path(), part);
    let page = "measurements/single-slot.md";
    let store = folder.path().join("it.db");
    let of = |search| {
        let here = [("depth", "50"), ("alpha", "1"), ("search", search)];
        Setting::of(&store, &queries(page)[0], 40, &here)
    };
    let (each, one) = (of("greedy"), of("single-slot"));
    let row = format!(
        "| 50 | 1 | {:.2} | {} | {:.3} | {} | {:.0} | {:.0} | {} |",
        each.mean("wf_makespan_hours"),
        one.difference("wf_makespan_hours", 2.023, 2),
        each.mean("wf_cost_ratio"),
        one.difference("wf_cost_ratio", 2.023, 3),
        one.mean("wf_idle_su"),
        each.mean("wf_externality_su"),
        one.difference("wf_externality_su", 2.023, 0),
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_all_tasks_together_gives_its_row_of_few_generations_by_cost_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "queried-moga/ctc.toml",
        &[("[0.0, 0.5, 1.0]", "[1.0]"), ("[10, 100]", "[10]")],
    );
    run(folder.path(), part);
    let page = "measurements/queried-moga.md";
    let store = folder.path().join("it.db");
    let of = |search, count| {
        let here = [("generations", "10"), ("alpha", "1"), ("search", search)];
        Setting::of(&store, &queries(page)[0], count, &here)
    };
    let (each, together) = (of("greedy", 40), of("queried-moga", 39));
    let row = format!(
        "| 10 | 1 | {:.2} | {} | {:.1} | {} |",
        each.mean("wf_makespan_hours"),
        together.difference("wf_makespan_hours", 2.023, 2),
        each.mean("wf_cost_su"),
        together.difference("wf_cost_su", 2.023, 1),
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_wide_and_long_slots_gives_its_row_of_the_widest_reservation_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "slot-shape/ctc-reservation.toml",
        &[
            ("[16, 32, 64, 128]", "[16, 128]"),
            ("[1, 2, 4, 8]", "[1, 8]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/slot-shape.md";
    let store = folder.path().join("it.db");
    let here = [("nodes", "128"), ("hours", "1")];
    let setting = Setting::of(&store, &queries(page)[0], 10, &here);
    let row = format!(
        "| 128 | 128 × 1 | {:.2} | {} | {:.1} | {} | {:.1} |",
        setting.mean("ar_cost"),
        setting.difference("ar_cost", 2.262, 2),
        setting.mean("ar_free_percent"),
        setting.difference("ar_free_percent", 2.262, 1),
        setting.mean("ar_success_percent")
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_wide_and_long_slots_gives_its_row_of_workflows_of_wide_tasks_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "slot-shape/ctc-workflow.toml",
        &[
            ("[0.0, 0.5]", "[0.5]"),
            ("[11, 22, 44]", "[11, 44]"),
            ("[1000, 2000, 4000]", "[1000, 4000]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/slot-shape.md";
    let store = folder.path().join("it.db");
    let here = [("nodes", "44"), ("seconds", "1000"), ("alpha", "0.5")];
    let setting = Setting::of(&store, &queries(page)[1], 40, &here);
    let row = format!(
        "| 0.5 | 44 × 1000 | {:.3} | {} | {:.0} | {} | {:.3} | {} |",
        setting.mean("wf_cost_ratio"),
        setting.difference("wf_cost_ratio", 2.023, 3),
        setting.mean("wf_externality_su"),
        setting.difference("wf_externality_su", 2.023, 0),
        setting.mean("wf_makespan_ratio"),
        setting.difference("wf_makespan_ratio", 2.023, 3)
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_limits_on_padded_jobs_gives_its_row_of_one_idle_hour_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "premium/ctc-idle.toml",
        &[("[1, 4]", "[4]"), ("[0.5, 1, 2, 4, 8]", "[1, 8]")],
    );
    run(folder.path(), part);
    let page = "measurements/premium.md";
    let store = folder.path().join("it.db");
    let here = [("hours", "4"), ("most", "1")];
    let setting = Setting::of(&store, &queries(page)[2], 10, &here);
    let row = format!(
        "| 4 | 1 | {:.1} | {} | {:.1} | {:.2} | {:.2} | {} |",
        setting.mean("var_success_percent"),
        setting.difference("var_success_percent", 2.262, 1),
        setting.mean("var_ended_idle_percent"),
        setting.mean("var_cost"),
        setting.mean("combined_cost"),
        setting.difference("combined_cost", 2.262, 2)
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_sold_holes_gives_its_row_of_slots_that_cost_nothing_extra_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "sold-holes/ctc.toml",
        &[
            ("[\"moga\", \"greedy\", \"best-effort\"]", "[\"greedy\"]"),
            ("[0.5, 1.0]", "[1.0]"),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/sold-holes.md";
    let store = folder.path().join("it.db");
    let of = |exact| {
        let here = [("search", "greedy"), ("alpha", "1"), ("exact", exact)];
        Setting::of(&store, &queries(page)[0], 20, &here)
    };
    let (exact, recorded) = (of("1"), of("0"));
    let columns = [
        ("others_delayed_percent", 2),
        ("others_added_wait_minutes", 2),
        ("wf_realised_makespan_hours", 2),
        ("wf_realised_cost_su", 0),
    ]
    .map(|(measure, digits)| {
        format!(
            "{:.digits$} | {}",
            exact.mean(measure),
            recorded.difference(measure, 2.093, digits)
        )
    });
    let row = format!("| `greedy` | 1 | {} |", columns.join(" | "));
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_queues_of_best_effort_gives_its_row_of_three_queues_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let predicted =
        ["0.5", "0.8", "0.95"].map(|it| format!("    [\"predicted-wait\", {it}, 2],\n"));
    let part = shortened(
        folder.path(),
        "best-effort-sites/sites.toml",
        &[(&predicted.concat(), "")],
    );
    run(folder.path(), part);
    let page = "measurements/best-effort-sites.md";
    let store = folder.path().join("it.db");
    let here = [("exact", "1"), ("sites", "4"), ("copies", "3")];
    let setting = Setting::of(&store, &queries(page)[0], 40, &here);
    let of = |measure, digits| setting.difference(measure, 2.023, digits);
    let row = format!(
        "| 4 | 3 queues | {} | {} | {} | {:.0} | {:.1} |",
        of("wf_makespan_hours", 1),
        of("others_added_hours", 0),
        of("others_delayed_percent", 1),
        setting.mean("wf_cancelled_copies"),
        setting.mean("wf_cancelled_transfer_hours")
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_sites_of_unlike_speed_gives_its_rows_of_even_weights_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "site-speeds/sites.toml",
        &[
            ("    [[1, 1, 2, 2], []],\n    [[2, 2, 1, 1], []],\n", ""),
            ("    [[1, 1, 2, 2], [1, 1, 3, 3]],\n", ""),
            ("[0.0, 0.25, 0.5, 0.75, 1.0]", "[0.0, 0.5]"),
        ],
    );
    run_keeping("all", folder.path(), part);
    let page = "measurements/site-speeds.md";
    let store = folder.path().join("it.db");
    let here = [
        ("alpha", "0.5"),
        ("speeds", "[2, 2, 1, 1]"),
        ("prices", "[3, 3, 1, 1]"),
    ];
    let setting = Setting::of(&store, &queries(page)[0], 40, &here);
    let of = |measure, digits| setting.difference(measure, 2.023, digits);
    let row = format!(
        "| 0.5 | busier | 3 | {} | {} | {} | {} |",
        of("wf_makespan_hours", 2),
        of("wf_cost_su", 1),
        of("wf_externality_su", 1),
        of("busier_percent", 1)
    );
    assert!(read(page).contains(&row), "{row}");
    let moved = Setting::of(&store, &queries(page)[1], 40, &here);
    let moved = moved.difference("fast_percent", 2.023, 1);
    let rows = read(page);
    let row = rows.lines().find(|line| line.starts_with("| busier | 3 |"));
    let columns: Vec<&str> = row.expect("a row").split(" | ").collect();
    assert_eq!(columns[4], moved);
}
