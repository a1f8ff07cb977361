//! Pages about jobs that pass the first of a queue, customers who refuse late ends, a broker that
//! looks at risk alone (Birkenheuer 2012, §2.4.2, §5.1.1, §1.2.1), and one that goes by deadlines
//! and budgets (Meltzer 2005, §4.7.1).

use super::setting::{Setting, has_traces};
use super::*;

/// A row of a query with paired differences: its names in the order of `columns`, the mean of the
/// reference, the mean difference, and the half-width of its interval.
type Difference = (Vec<String>, [f64; 3]);

/// The rows of a query beside an experiment.
fn differences(store: &Path, query: &str, columns: &[&str]) -> Vec<Difference> {
    let query = fs::read_to_string(project().join("configs").join(query)).expect("a query");
    rows(store, &query, |row| {
        let names = columns.iter().map(|column| {
            let name: rusqlite::types::Value = row.get(*column)?;
            Ok(match name {
                rusqlite::types::Value::Text(text) => text,
                rusqlite::types::Value::Real(number) => number.to_string(),
                other => format!("{other:?}"),
            })
        });
        let names = names.collect::<rusqlite::Result<Vec<String>>>()?;
        assert_eq!(row.get::<_, i64>("n")?, 20);
        Ok((
            names,
            [row.get("base")?, row.get("more")?, row.get("half_width")?],
        ))
    })
}

/// The numbers of the row with these names.
fn of(found: &[Difference], names: &[&str]) -> [f64; 3] {
    let row = found.iter().find(|(known, _)| known.iter().eq(names));
    row.expect("a row of the query").1
}

/// `**−1.12 ± 0.75**`, bold where the interval leaves 0 out.
fn said([_, more, half]: [f64; 3], digits: usize) -> String {
    let sign = if more < 0.0 { "−" } else { "+" };
    let size = more.abs();
    let text = format!("{sign}{size:.digits$} ± {half:.digits$}");
    match size > half {
        true => format!("**{text}**"),
        false => text,
    }
}

#[test]
fn the_page_about_passing_at_a_risk_gives_its_row_of_long_queues_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "backfill-risk/sdsc-sp2.toml",
        &[("[0.8, 2.0]", "[2.0]"), ("[2.0, 20.0]", "[20.0]")],
    );
    run(folder.path(), part);
    let store = folder.path().join("it.db");
    let found = differences(&store, "backfill-risk/paired.sql", &["risk", "quantity"]);
    let at = |risk| of(&found, &[risk, "wait"]);
    let row = format!(
        "| SDSC SP2 | 2.0 | 20 | {:.2} | {} | {} | {} |",
        at("0.5")[0],
        said(at("0.05"), 2),
        said(at("0.2"), 2),
        said(at("0.5"), 2)
    );
    assert!(
        read("measurements/backfill-risk.md").contains(&row),
        "{row}"
    );
}

#[test]
fn the_page_about_late_offers_gives_the_surplus_on_sdsc_sp2_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "late-offers/sdsc-sp2.toml",
        &[(r#", "heuristic-planning", "heuristic-overbooking"]"#, "]")],
    );
    run(folder.path(), part);
    let store = folder.path().join("it.db");
    let columns = ["what", "strategy", "quantity"];
    let found = differences(&store, "late-offers/paired.sql", &columns);
    let at = |what| said(of(&found, &[what, "comprehensive-overbooking", "gain"]), 0);
    let row = format!(
        "| SDSC SP2 | comprehensive-overbooking | {} | {} | {} |",
        at("surplus, customers take"),
        at("surplus, customers refuse"),
        at("surplus lost")
    );
    assert!(read("measurements/late-offers.md").contains(&row), "{row}");
}

#[test]
fn the_page_about_the_most_reliable_provider_gives_its_row_of_heuristic_clusters_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "market/ctc-reliable.toml",
        &[
            (
                r#"["heuristic-overbooking", "comprehensive-overbooking"]"#,
                r#"["heuristic-overbooking"]"#,
            ),
            (r#""promised", "cheapest", "random", "#, ""),
        ],
    );
    run(folder.path(), part);
    let store = folder.path().join("it.db");
    let found = differences(&store, "market/reliable.sql", &["rule", "measure"]);
    let cell = |measure| {
        let numbers = of(&found, &["most-reliable", measure]);
        format!("{} ({:.1})", said(numbers, 1), numbers[0])
    };
    let row = format!(
        "| heuristic | most-reliable | {} | {} | {} | {} | {} |",
        cell("market_provider_gain_percent"),
        cell("market_customer_gain_percent"),
        cell("market_delegated_percent"),
        cell("market_kept_percent"),
        cell("market_optimistic_share_percent")
    );
    assert!(
        read("measurements/most-reliable.md").contains(&row),
        "{row}"
    );
}

#[test]
fn the_page_about_deadlines_and_budgets_gives_its_row_of_a_tight_budget_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "market/ctc-deadline-budget.toml",
        &[
            ("  [\"reputation\", 2.0],\n", ""),
            (
                "  [\"deadline-budget\", 2.0],\n  [\"deadline-budget\", 1.0],\n",
                "",
            ),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/deadline-budget.md";
    let store = folder.path().join("it.db");
    let here = [("rule", "deadline-budget"), ("beside", "cheapest")];
    let setting = Setting::of(&store, &queries(page)[0], 20, &here);
    let of = |measure| setting.difference(measure, 2.093, 2);
    let row = format!(
        "| 0.75 | cheapest | {} | {} | {} | {} | {} |",
        of("market_served_percent"),
        of("market_kept_percent"),
        of("market_spent_percent"),
        of("market_customer_gain_percent"),
        of("market_provider_gain_percent")
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_double_auctions_gives_its_rows_of_a_clearing_every_ten_minutes_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "market/ctc-double-auctions.toml",
        &[(r#""tender", "reverse-first", "reverse-second", "#, "")],
    );
    run(folder.path(), part);
    let page = "measurements/double-auctions.md";
    let store = folder.path().join("it.db");
    let here = [("prices", "double"), ("policy", "heuristic-overbooking")];
    let setting = Setting::of(&store, &queries(page)[0], 20, &here);
    let of = |measure| setting.difference(measure, 2.093, 1);
    let row = format!(
        "| overbooking | double, every 10 minutes | {:.1} | {:.1} | {} | {} | {} | {} |",
        setting.mean("market_agreed_price_percent"),
        setting.mean("market_missed_clearing_percent"),
        of("market_delegated_percent"),
        of("market_provider_gain_percent"),
        of("market_customer_gain_percent"),
        of("market_jain_percent")
    );
    assert!(read(page).contains(&row), "{row}");
    let setting = Setting::of(&store, &queries(page)[1], 20, &here[..1]);
    let of = |measure| setting.difference(measure, 2.093, 1);
    let row = format!(
        "| double, every 10 minutes | yes | {} | {} | {} | {} |",
        of("market_agreed_price_percent"),
        of("market_delegated_percent"),
        of("market_provider_gain_percent"),
        of("market_customer_gain_percent")
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_node_hours_for_node_hours_gives_its_row_of_a_small_credit_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "market/ctc-barter.toml",
        &[
            ("    [\"barter\", 100, 0.05],\n", ""),
            ("    [\"barter\", 10000, 0.05],\n", ""),
            ("    [\"barter\", 1000000, 0.05],\n", ""),
            ("    [\"barter\", 1000000, 1.0],\n", ""),
            ("    [\"ask\", 1000, 0.05],\n", ""),
            ("[25.0, 60.0]", "[60.0]"),
            (
                "[\"heuristic-planning\", \"heuristic-overbooking\"]",
                "[\"heuristic-overbooking\"]",
            ),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/barter.md";
    let store = folder.path().join("it.db");
    let here = [("overflow", "barter")];
    let setting = Setting::of(&store, &queries(page)[0], 20, &here);
    let row = format!(
        "| overbooking | 60 | 1,000 | {:.1} | {} | {:.1} | {} | {:.1} |",
        setting.mean("market_most_loaded_kept_percent"),
        setting.difference("market_most_loaded_kept_percent", 2.093, 1),
        setting.mean("market_least_loaded_kept_percent"),
        setting.difference("market_least_loaded_kept_percent", 2.093, 1),
        setting.mean("market_away_percent"),
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_lent_nodes_gives_a_row_of_large_loans_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "market/ctc-lend.toml",
        &[
            ("    [\"lend\", 43],\n", ""),
            ("    [\"ask\", 430],\n", ""),
            ("[25.0, 60.0]", "[60.0]"),
            (
                "[\"conservative-backfilling\", \"comprehensive-overbooking\"]",
                "[\"comprehensive-overbooking\"]",
            ),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/lent-nodes.md";
    let store = folder.path().join("it.db");
    let here = [("overflow", "lend")];
    let setting = Setting::of(&store, &queries(page)[0], 20, &here);
    let cells = [
        "most_loaded_kept",
        "least_loaded_kept",
        "delegated",
        "provider_gain",
    ]
    .map(|it| {
        let measure = format!("market_{it}_percent");
        let change = setting.difference(&measure, 2.093, 1);
        format!("{:.1} | {change}", setting.mean(&measure))
    });
    let row = format!("| overbooking | 60 | 430 nodes | {} |", cells.join(" | "));
    assert!(read(page).contains(&row), "{row}");
    let cells = ["borrowing", "borrowing_kept", "lent", "away", "kept"]
        .map(|it| format!("{:.1}", setting.mean(&format!("market_{it}_percent"))));
    let row = format!("| overbooking | 60 | 430 nodes | {} |", cells.join(" | "));
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_near_nodes_gives_its_rows_of_switches_on_kth_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "topology/kth.toml",
        &[("\"switch\", \"contiguous\", \"buddy\"", "\"switch\"")],
    );
    run(folder.path(), part);
    let page = "measurements/topology.md";
    let store = folder.path().join("it.db");
    for (slowdown, percent) in [("0", "0"), ("0.1", "10"), ("0.3", "30")] {
        let here = [("nodes_by", "switch"), ("slowdown", slowdown)];
        let setting = Setting::of(&store, &queries(page)[0], 20, &here);
        let row = format!(
            "| KTH SP2 | {percent} | switch | {:.1} | {} | {:.1} | {} | {:.1} | {:.1} |",
            setting.mean("response_minutes"),
            setting.difference("response_minutes", 2.093, 1),
            setting.mean("queue_wait_minutes"),
            setting.difference("queue_wait_minutes", 2.093, 1),
            setting.mean("crossing_percent"),
            setting.mean("crossing_killed_percent")
        );
        assert!(read(page).contains(&row), "{row}");
    }
}

#[test]
fn the_page_about_posted_classes_gives_its_rows_of_two_classes_on_kth_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "posted-classes/kth.toml",
        &[("[2, 3]", "[2]"), ("\"none\", ", "")],
    );
    run(folder.path(), part);
    let page = "measurements/posted-classes.md";
    let store = folder.path().join("it.db");
    for choice in ["assigned", "posted"] {
        let here = [("choice", choice)];
        let setting = Setting::of(&store, &queries(page)[0], 20, &here);
        let row = format!(
            "| KTH SP2 | EASY | 2 | {choice} | {:.0} | {} | {:.1} | {} | {:.1} | {:.0} |",
            setting.mean("waiting_cost_su"),
            setting.difference("waiting_cost_su", 2.093, 0),
            setting.mean("queue_wait_minutes"),
            setting.difference("queue_wait_minutes", 2.093, 1),
            setting.mean("first_priority_percent"),
            setting.mean("priority_paid_su")
        );
        assert!(read(page).contains(&row), "{row}");
    }
}
