//! Pages about reservations: the numbers that small experiments give again.

use std::path::Path;

use rusqlite::Row;
use rusqlite::types::Value;

use super::setting::{Setting, has_traces};
use super::{grouped, queries, read, rows, run, shortened};

#[test]
fn kth_gives_again_what_keeping_work_and_delaying_nobody_change() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let page = read("measurements/truncating-reservations.md");
    for (name, columns, lines) in [
        ("resume-kth", ["resume", "overhead"], 12),
        ("undelayed-kth", ["undelayed", "undelayed"], 8),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        run(folder.path(), format!("reservations/{name}.toml"));
        let queries = queries("measurements/truncating-reservations.md");
        let query = queries.iter().find(|query| query.contains(name));
        let store = folder.path().join("it.db");
        let found = rows(&store, query.expect("a query"), |row| {
            let measure: String = row.get("measure")?;
            let [how, much] = columns;
            let (how, much): (Value, Value) = (row.get(how)?, row.get(much)?);
            let at: f64 = row.get("requests")?;
            let (more, variance): (f64, f64) = (row.get("more")?, row.get("variance")?);
            // The page leaves one overhead out.
            let is_shown = much != Value::Integer(60);
            Ok((measure, at, how, more, 2.262 * variance.sqrt(), is_shown))
        });
        let mut checked = 0;
        for (measure, what, digits) in [
            ("rejected_percent", "requests refused (points)", 1),
            ("preemptible_wait_hours", "wait of preemptible jobs (h)", 2),
            ("other_wait_hours", "wait of others (h)", 2),
            ("job_wait_hours", "wait of jobs (h)", 2),
        ] {
            for requests in [5.0, 10.0, 20.0, 40.0] {
                let is_of = |row: &&(String, f64, Value, f64, f64, bool)| {
                    row.0 == measure && row.1 == requests && row.5
                };
                let cells: Vec<String> = found
                    .iter()
                    .filter(is_of)
                    .map(|(.., more, half, _)| format!("{more:.digits$} ± {half:.digits$}"))
                    .collect();
                if cells.is_empty() {
                    continue;
                }
                let row = format!("| {requests} | {what} | {} |", cells.join(" | "));
                assert!(page.contains(&row), "{row}");
                checked += 1;
            }
        }
        assert_eq!(checked, lines);
    }
}

#[test]
fn kth_gives_again_what_a_notice_by_the_waits_of_jobs_changes() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let name = "measurements/truncating-reservations.md";
    let folder = tempfile::tempdir().expect("a folder");
    let rules = (r#"["reject", "move"]"#, r#"["move"]"#);
    run_part(folder.path(), "reservations/notice-kth.toml", &[rules]);
    let queries = queries(name);
    let query = queries.iter().find(|query| query.contains("notice-kth"));
    let found = rows(
        &folder.path().join("it.db"),
        query.expect("a query"),
        |row| {
            let at: (String, f64) = (row.get("notice")?, row.get("factor")?);
            let (more, variance): (f64, f64) = (row.get("more")?, row.get("variance")?);
            let (measure, n): (String, i64) = (row.get("measure")?, row.get("n")?);
            assert_eq!(n, 20);
            Ok((at, measure, more, 2.093 * variance.sqrt()))
        },
    );
    let cells = |measure: &str, digits: usize| {
        let own = found
            .iter()
            .find(|row| row.0 == ("predicted".to_owned(), 1.0) && row.1 == measure);
        let (.., more, half) = own.expect("a row");
        format!("{more:.digits$} ± {half:.digits$}")
    };
    let row = format!(
        "| move | as jobs wait | {} | {} | {} |",
        cells("rejected_percent", 1),
        cells("job_wait_hours", 2),
        cells("reservation_wait_hours", 2)
    );
    assert!(read(name).contains(&row), "{row}");
}

#[test]
fn kth_gives_again_how_many_reservations_start_before_their_twin_job() {
    if !has_traces() {
        return;
    }
    let name = "measurements/truncating-reservations.md";
    let folder = tempfile::tempdir().expect("a folder");
    let axes = [
        (r#"["reject", "move"]"#, r#"["move"]"#),
        (r#"    ["hours", 1, 1],"#, ""),
        (r#"    ["hours", 4, 1],"#, ""),
        (r#"    ["hours", 12, 1],"#, ""),
        (r#"    ["predicted", 1, 2],"#, ""),
        (r#"    ["predicted", 1, 4],"#, ""),
    ];
    run_part(folder.path(), "reservations/twins-kth.toml", &axes);
    let queries = queries(name);
    let query = queries.iter().find(|query| query.contains("twins-kth"));
    let store = folder.path().join("it.db");
    let waits = Setting::of(
        &store,
        query.expect("a query"),
        20,
        &[("notice", "predicted")],
    );
    let mean = |measure, digits, sign: f64| {
        let value = sign * waits.mean(measure);
        format!("{value:.digits$} ± ")
    };
    let row = format!(
        "| move | as jobs wait | {}",
        mean("before_twin_percent", 2, 1.0)
    );
    let page = read(name);
    let found = page.lines().find(|line| line.starts_with(&row));
    let found = found.expect(&row);
    assert!(
        found.contains(&mean("before_twin_hours", 2, -1.0)),
        "{found}"
    );
    let change = waits.plain_difference("before_twin_percent", 2.093, 2);
    assert!(
        found.ends_with(&format!("| {change} |")),
        "{found} {change}"
    );
}

#[test]
fn kth_gives_again_what_it_changes_to_stop_those_with_whom_the_least_is_lost() {
    if !has_traces() {
        return;
    }
    let name = "measurements/truncating-reservations.md";
    let folder = tempfile::tempdir().expect("a folder");
    let axes = [
        (r#"    ["truncate", "from-scratch", 0],"#, ""),
        (r#"    ["requeue", "from-scratch", 0],"#, ""),
        ("[5, 10, 20, 40]", "[20]"),
        ("[50, 100]", "[50]"),
    ];
    run_part(folder.path(), "reservations/victims-kth.toml", &axes);
    let queries = queries(name);
    let query = queries.iter().find(|query| query.contains("victims-kth"));
    let store = folder.path().join("it.db");
    let kept = [("resume", "where-stopped"), ("requests", "20")];
    let kept = Setting::of(&store, query.expect("a query"), 20, &kept);
    let change = |measure, digits| kept.difference(measure, 2.093, digits);
    let row = format!(
        "| KTH SP2 | requeue, kept | 20 | 50 | {:.0} | {} | {:.0} | {} | {} | {} | {} |",
        kept.mean("stopped_lost_processor_seconds"),
        change("stopped_lost_processor_seconds", 0),
        kept.mean("requeued_jobs"),
        change("requeued_jobs", 0),
        change("rejected_percent", 1),
        change("preemptible_wait_hours", 2),
        change("other_wait_hours", 2),
    );
    assert!(read(name).contains(&row), "{row}");
}

#[test]
fn kth_gives_again_what_cancelled_reservations_cost_those_who_keep_theirs() {
    if !has_traces() {
        return;
    }
    let page = "measurements/cancelled-reservations.md";
    let folder = tempfile::tempdir().expect("a folder");
    let axes = [
        (r#"["reject", "move-price"]"#, r#"["move-price"]"#),
        ("    [10, 22.222222],", ""),
        ("    [25, 26.666667],", ""),
        ("[0.0, 0.1, 0.5]", "[0.1]"),
    ];
    run_part(folder.path(), "reservations/cancelled-kth.toml", &axes);
    let store = folder.path().join("it.db");
    let half = Setting::of(&store, &queries(page)[0], 20, &[("cancelling", "50")]);
    let row = format!(
        "| move-price | 50 | {:.1} | {} | {:.2} | {} | {:.0} | {:.1} |",
        half.mean("kept_rejected_percent"),
        half.difference("kept_rejected_percent", 2.093, 1),
        half.mean("job_wait_hours"),
        half.difference("job_wait_hours", 2.093, 2),
        half.mean("price_su"),
        half.mean("cancellation_penalty_su"),
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn what_interactive_sessions_cost_a_provider_and_waiting_jobs_is_given_again() {
    if !has_traces() {
        return;
    }
    let name = "measurements/interactive-sessions.md";
    let (page, queries) = (read(name), queries(name));
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("it.db");
    let strategies = r#"["heuristic-planning", "overbooking-2008", "comprehensive-overbooking", "heuristic-overbooking"]"#;
    let planning = [
        (strategies, r#"["heuristic-planning"]"#),
        ("[20, 40]", "[20]"),
    ];
    run_part(
        folder.path(),
        "reservations/interactive-ctc.toml",
        &planning,
    );
    let of = |sessions| Setting::of(&store, &queries[0], 20, &[("sessions", sessions)]);
    let (none, all) = (of("0"), of("100"));
    let gain = |sessions| of(sessions).difference("gain", 2.093, 0);
    let changes = ["25", "50", "75", "100"].map(gain).join(" | ");
    let without = grouped(none.mean("gain"));
    let row = format!("| heuristic-planning | 20 | {without} | {changes} |");
    assert!(
        page.replace(',', "").contains(&row.replace(',', "")),
        "{row}"
    );
    let row = format!(
        "| heuristic-planning | 20 | {} | {} | {} | {:.1} | {} | {:.1} | {} | {} |",
        grouped(none.mean("reservation_fees_vc")),
        grouped(none.mean("flexible_fees_vc")),
        all.difference("flexible_fees_vc", 2.093, 0),
        none.mean("rejected_percent"),
        all.difference("rejected_percent", 2.093, 1),
        none.mean("flexible_rejected_percent"),
        all.difference("flexible_rejected_percent", 2.093, 1),
        all.difference("failed", 2.093, 1),
    );
    assert!(
        page.replace(',', "").contains(&row.replace(',', "")),
        "{row}"
    );
    let reject = [
        (r#"["reject", "move"]"#, r#"["reject"]"#),
        ("[0, 25, 50, 75, 100]", "[0, 100]"),
    ];
    run_part(folder.path(), "reservations/interactive-kth.toml", &reject);
    let all = Setting::of(&store, &queries[1], 20, &[("sessions", "100")]);
    let row = format!(
        "| reject | 100 | {:.2} | {} | {:.1} | {} |",
        all.mean("job_wait_hours"),
        all.difference("job_wait_hours", 2.093, 2),
        all.mean("rejected_percent"),
        all.difference("rejected_percent", 2.093, 1),
    );
    assert!(page.contains(&row), "{row}");
}

/// Runs a shipped experiment with these axes shortened into `it.db`.
fn run_part(folder: &Path, configuration: &str, axes: &[(&str, &str)]) {
    run(folder, shortened(folder, configuration, axes));
}

#[test]
fn some_rows_of_delay_costs_are_given_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let only_a_half = ("values = [0.25, 0.5, 0.75]", "values = [0.5]");
    let classes = (
        r#"values = ["classes", "log-normal"]"#,
        r#"values = ["classes"]"#,
    );
    run_part(
        folder.path(),
        "delay-costs/prices.toml",
        &[only_a_half, classes],
    );
    run_part(
        folder.path(),
        "delay-costs/truth.toml",
        &[
            only_a_half,
            ("values = [1, 10, 50]", "values = [10]"),
            ("values = [0.5, 1, 2, 3]", "values = [1, 3]"),
        ],
    );
    let (store, page) = (folder.path().join("it.db"), read("delay-costs.md"));
    let [prices, truth, ..] = &queries("delay-costs.md")[..] else {
        panic!("another number of queries");
    };
    let said = |value: f64, half: f64| {
        let sign = if value < 0.0 { "−" } else { "" };
        format!("{sign}{:.1} ± {half:.1}", value.abs())
    };
    let changes = rows(&store, prices, |row| {
        let measure: String = row.get("measure")?;
        let variance: f64 = row.get("variance")?;
        Ok((measure, said(row.get("more")?, 2.022_69 * variance.sqrt())))
    });
    let of = |wanted: &str| {
        let found = changes.iter().find(|(measure, _)| measure == wanted);
        &found.expect("a measure of the query").1
    };
    let row = format!(
        "| classes | 0.5 | {} | {} | {} | {} | {} | {} |",
        of("waiting_cost_su"),
        of("prices_paid_su"),
        of("first_class_wait_hours"),
        of("second_class_wait_hours"),
        of("third_class_wait_hours"),
        of("reservation_wait_hours"),
    );
    assert!(page.contains(&row), "{row}");
    let gains = rows(&store, truth, |row| {
        let variance: f64 = row.get("variance")?;
        let gain = said(row.get("gain")?, 2.501_66 * variance.sqrt());
        Ok((row.get::<_, f64>("truth")?, gain))
    });
    let [(cost, of_player), (_, of_others)] = &gains[..] else {
        panic!("{gains:?}");
    };
    let row = page.lines().find(|line| line.starts_with("| 10 | 0.5 | "));
    let row = row.expect("a row of the second table");
    assert!(
        row.starts_with(&format!("| 10 | 0.5 | {cost:.0} |")),
        "{row}"
    );
    assert!(
        row.ends_with(&format!("| {of_player} | {of_others} |")),
        "{row}"
    );
}

/// A gain and the half-width of its interval, as the page on delay costs writes them.
fn gain_cell(gain: f64, variance: f64, times: f64) -> String {
    let sign = if gain < 0.0 { "−" } else { "" };
    format!(
        "{sign}{} ± {}",
        grouped(gain),
        grouped(times * variance.sqrt())
    )
}

/// The columns `truth`, `gain` and `variance` of a query.
fn truth_and_gain(row: &Row<'_>, times: f64) -> rusqlite::Result<(f64, String)> {
    let cell = gain_cell(row.get("gain")?, row.get("variance")?, times);
    Ok((row.get("truth")?, cell))
}

#[test]
fn a_row_of_another_alpha_and_one_of_a_longer_length_are_given_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let parts = [
        ("values = [0.25, 0.5, 0.75]", "values = [0.5]"),
        ("values = [1, 10, 50]", "values = [10]"),
    ];
    run_part(folder.path(), "delay-costs/alpha.toml", &parts);
    run_part(folder.path(), "delay-costs/length.toml", &parts);
    let (store, page) = (folder.path().join("it.db"), read("delay-costs.md"));
    let [_, _, alpha, length, _] = &queries("delay-costs.md")[..] else {
        panic!("another number of queries");
    };
    let of_alpha = rows(&store, alpha, |row| {
        let measure: String = row.get("measure")?;
        Ok((measure, truth_and_gain(row, 2.618_86)?))
    });
    let own = of_alpha.iter();
    let own: Vec<&(f64, String)> = own
        .filter(|(measure, _)| measure == "misstating_request_cost_su")
        .map(|(_, cell)| cell)
        .collect();
    let [(cost, none), (_, less), (_, more), (_, all)] = own[..] else {
        panic!("{of_alpha:?}");
    };
    let cost = grouped(*cost);
    let row = format!("| 10 | 0.5 | {cost} | {none} | {less} | – | {more} | {all} |");
    assert!(page.contains(&row), "{row}");
    let of_length = rows(&store, length, |row| truth_and_gain(row, 2.022_69));
    // In the order of the names of measures.
    let [
        (job, own_jobs),
        (request, own_requests),
        (_, jobs),
        (_, requests),
    ] = &of_length[..]
    else {
        panic!("{of_length:?}");
    };
    let (job, request) = (grouped(*job), grouped(*request));
    let row = format!(
        "| 10 | 0.5 | {job} | {own_jobs} | {request} | {own_requests} | {jobs} | {requests} |"
    );
    assert!(page.contains(&row), "{row}");
}

#[test]
fn ctc_gives_again_what_a_provider_gains_that_says_less_risk() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let both = r#"["heuristic-overbooking", "comprehensive-overbooking"]"#;
    let parts = [
        (both, r#"["heuristic-overbooking"]"#),
        (r#"["reputation", "promised"]"#, r#"["promised"]"#),
    ];
    run_part(folder.path(), "market/ctc-truth.toml", &parts);
    let (store, page) = (folder.path().join("it.db"), read("delay-costs.md"));
    let queries = queries("delay-costs.md");
    let query = queries.last().expect("a query");
    let found = rows(&store, query, |row| truth_and_gain(row, 2.433_44));
    let [(_, others), _, (honest, tenth), (_, half)] = &found[..] else {
        panic!("{found:?}");
    };
    let honest = grouped(*honest);
    let row =
        format!("| heuristic overbooking | believes | {honest} | {tenth} | {half} | {others} |");
    assert!(page.contains(&row), "{row}");
}
