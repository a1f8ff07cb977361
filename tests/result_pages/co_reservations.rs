//! Pages about co-reservations.

use super::setting::{Setting, has_traces};
use super::*;

#[test]
fn the_page_about_looking_ahead_gives_its_row_of_eight_events_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = project().join("configs/co-reservation/look-ahead.toml");
    let whole = fs::read_to_string(path).expect("an experiment");
    let part = whole
        .replace("[1, 2, 4, 8]", "[1, 8]")
        .replace(r#"["rw1", "rw2", "rw3"]"#, r#"["rw3"]"#);
    assert_ne!(part, whole);
    fs::write(folder.path().join("part.toml"), part).expect("a file");
    run(folder.path(), folder.path().join("part.toml"));
    let [differences, _] = &queries("look-ahead.md")[..] else {
        panic!("two queries");
    };
    let store = folder.path().join("it.db");
    let found = rows(&store, differences, |row| {
        let numbers: [f64; 4] = [
            row.get("n")?,
            row.get("mean")?,
            row.get("more")?,
            row.get("variance")?,
        ];
        let at: (f64, String) = (row.get("events")?, row.get("measure")?);
        Ok((at, numbers))
    });
    let of = |events: f64, measure: &str| {
        let row = found
            .iter()
            .find(|row| row.0 == (events, measure.to_owned()));
        row.expect("a row of the query").1
    };
    let [replications, failed, fewer, variance] = of(8.0, "co_failure_rate");
    assert_eq!(replications, 20.0);
    let half = 2.093 * variance.sqrt();
    let row = format!("| {failed:.3} | −{:.3} ± {half:.3} |\n", -fewer);
    assert!(read("look-ahead.md").contains(&row), "{row}");
    let said = |measure: &str, digits: usize, unit: &str| {
        let [_, mean, more, variance] = of(8.0, measure);
        let half = 2.093 * variance.sqrt();
        format!("{mean:.digits$}{unit} | +{more:.digits$} ± {half:.digits$}")
    };
    let row = format!(
        "| 8 | {} | {} | {} |",
        said("unfairness_mean", 3, ""),
        said("expansion_factor_mean", 2, ""),
        said("grid_part_percent", 1, " %")
    );
    assert!(read("look-ahead.md").contains(&row), "{row}");
}

#[test]
fn the_page_about_quotas_for_a_time_gives_its_row_of_three_days_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "co-reservation/maintenance.toml");
    let page = "measurements/co-reservations.md";
    let [differences, ..] = &queries(page)[..] else {
        panic!("queries");
    };
    let store = folder.path().join("it.db");
    let found = rows(&store, differences, |row| {
        let at: [String; 2] = [row.get("quota")?, row.get("measure")?];
        let numbers: [f64; 3] = [row.get("mean")?, row.get("more")?, row.get("variance")?];
        Ok((at, numbers))
    });
    let of = |measure: &str| {
        let at = ["168-180 0 from 96", measure].map(str::to_owned);
        let row = found.iter().find(|row| row.0 == at);
        row.expect("a row of the query").1
    };
    let [work, less, variance] = of("quota_period_hours");
    let half = 2.093 * variance.sqrt();
    let [failed, more, failure_variance] = of("co_failure_rate");
    let sign = if more < 0.0 { "−" } else { "" };
    let row = format!(
        "| three days | {} | −{} ± {} | {failed:.3} | {sign}{:.3} ± {:.3} |",
        grouped(work),
        grouped(less),
        grouped(half),
        more.abs(),
        2.093 * failure_variance.sqrt()
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_queued_parts_gives_its_row_of_them_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = project().join("configs/co-reservation/barrier.toml");
    let whole = fs::read_to_string(path).expect("an experiment");
    let (head, _) = whole
        .split_once("\n[[zip]]")
        .expect("axes that go together");
    let keys = r#"keys = ["broker.algorithm", "requests.split", "requests.split_overhead"]"#;
    let values = r#"values = [["barrier", true, 0.0], ["a4", true, 0.0]]"#;
    let part = format!("{head}\n[[zip]]\n{keys}\n{values}\n");
    let part = part.replace(r#"["rw1", "rw3"]"#, r#"["rw3"]"#);
    fs::write(folder.path().join("part.toml"), part).expect("a file");
    run(folder.path(), folder.path().join("part.toml"));
    let page = "measurements/barrier.md";
    let queries = queries(page);
    let store = folder.path().join("it.db");
    let found = rows(&store, &queries[0], |row| {
        let at: [String; 2] = [row.get("algorithm")?, row.get("measure")?];
        let n: i64 = row.get("n")?;
        let more: [Option<f64>; 2] = [row.get("more")?, row.get("variance")?];
        Ok((at, n, row.get::<_, f64>("mean")?, more))
    });
    let of = |measure: &str, digits: usize| {
        let at = ["barrier", measure].map(str::to_owned);
        let row = found.iter().find(|row| row.0 == at);
        let (_, n, mean, more) = row.expect("a row of the query");
        assert_eq!(*n, 20);
        let [Some(more), Some(variance)] = more else {
            return grouped(*mean);
        };
        let sign = if *more < 0.0 { "−" } else { "+" };
        let half = 2.093 * variance.sqrt();
        format!(
            "{mean:.digits$} | {sign}{:.digits$} ± {half:.digits$}",
            more.abs()
        )
    };
    let row = format!(
        "| queued parts | {} | {} | {} | {} |",
        of("co_failure_rate", 3),
        of("co_response_hours", 1),
        of("expansion_factor_mean", 2),
        of("co_idle_hours", 0)
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_sorting_in_stages_gives_its_row_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = project().join("configs/co-reservation/staged.toml");
    let whole = fs::read_to_string(path).expect("an experiment");
    let part = whole
        .replace(r#"["algorithm", 0.25], "#, "")
        .replace(r#", ["algorithm", 0.75], ["algorithm", 1.0]"#, "")
        .replace(r#"["rw1", "rw3"]"#, r#"["rw3"]"#);
    assert!(part.len() + 60 < whole.len());
    fs::write(folder.path().join("part.toml"), part).expect("a file");
    run(folder.path(), folder.path().join("part.toml"));
    let page = "measurements/co-reservations.md";
    let query = &queries(page)[4];
    let store = folder.path().join("it.db");
    let found = rows(&store, query, |row| {
        let at: [String; 2] = [row.get("sorted")?, row.get("measure")?];
        let numbers: [f64; 4] = [
            row.get("n")?,
            row.get("mean")?,
            row.get("more")?,
            row.get("variance")?,
        ];
        Ok((at, numbers))
    });
    let of = |measure: &str| {
        let at = ["staged", measure].map(str::to_owned);
        let row = found.iter().find(|row| row.0 == at);
        let [n, mean, more, variance] = row.expect("a row of the query").1;
        assert_eq!(n, 20.0);
        let sign = if more < 0.0 { "−" } else { "+" };
        let half = 2.093 * variance.sqrt();
        format!("{mean:.3} | {sign}{:.3} ± {half:.3}", more.abs())
    };
    let row = format!(
        "| RW3 | in stages | {} | {} |",
        of("co_relative_start_mean"),
        of("co_relative_cost_mean")
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_co_reservations_gives_the_free_cpus_of_one_request_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "co-reservation/free-cpus.toml");
    let page = "measurements/co-reservations.md";
    let store = folder.path().join("it.db");
    let found = rows(&store, &queries(page)[5], |row| {
        let columns = ["after", "first", "second", "third", "fourth"];
        let row: Vec<i64> =
            (columns.iter().map(|column| row.get(*column))).collect::<rusqlite::Result<_>>()?;
        Ok(row)
    });
    assert_eq!(found.len(), 20);
    let said = |number: i64| match number {
        1_000.. => format!("{},{:03}", number / 1_000, number % 1_000),
        _ => number.to_string(),
    };
    for (place, row) in found.iter().enumerate() {
        let changes = place == 0 || found[place - 1][1..] != row[1..];
        let cells: Vec<String> = row.iter().copied().map(said).collect();
        let line = format!("| {} |\n", cells.join(" | "));
        let is_last = place + 1 == found.len();
        assert_eq!(read(page).contains(&line), changes || is_last, "{line}");
    }
}

/// Measures of the point of a query whose first column is `at`, each with its mean, its difference
/// and the half-width of that.
fn differences(store: &Path, query: &str, column: &str, at: f64) -> Vec<(String, [f64; 3])> {
    let found = rows(store, query, |row| {
        let [more, variance]: [Option<f64>; 2] = [row.get("more")?, row.get("variance")?];
        let half = 2.093 * variance.unwrap_or_default().max(0.0).sqrt();
        let numbers = [row.get("mean")?, more.unwrap_or_default(), half];
        let n: i64 = row.get("n")?;
        Ok((row.get::<_, f64>(column)?, n, row.get("measure")?, numbers))
    });
    let here = found.into_iter().filter(|row| row.0 == at);
    here.map(|(_, n, measure, numbers): (_, _, String, _)| {
        assert_eq!(n, 20);
        (measure, numbers)
    })
    .collect()
}

/// `mean | difference ± half-width`.
fn beside(found: &[(String, [f64; 3])], measure: &str, digits: usize) -> String {
    let row = found.iter().find(|row| row.0 == measure);
    let [mean, more, half] = row.expect("a row of the query").1;
    let sign = if more < 0.0 { "−" } else { "+" };
    let more = more.abs();
    format!("{mean:.digits$} | {sign}{more:.digits$} ± {half:.digits$}")
}

#[test]
fn the_page_about_the_information_service_gives_its_row_of_two_clusters_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = project().join("configs/co-reservation/information.toml");
    let whole = fs::read_to_string(path).expect("an experiment");
    let (head, _) = whole.split_once("values = [\n").expect("values");
    let part = format!("{head}values = [[0, 0, 1.0], [2, 3600, 1.0]]\n")
        .replace(r#"["rw1", "rw3"]"#, r#"["rw3"]"#)
        .replace(r#"["a2-sorted", "a4"]"#, r#"["a4"]"#);
    fs::write(folder.path().join("part.toml"), part).expect("a file");
    run(folder.path(), folder.path().join("part.toml"));
    let page = "measurements/information.md";
    let store = folder.path().join("it.db");
    let found = differences(&store, &queries(page)[0], "first", 2.0);
    let mean = |measure: &str| found.iter().find(|row| row.0 == measure).expect("a row").1[0];
    let row = format!(
        "| 2 | every hour | {:.2} | {:.3} | {} | {} | {} |",
        mean("co_probed_clusters_mean"),
        mean("co_second_round_rate"),
        beside(&found, "co_failure_rate", 3),
        beside(&found, "co_response_hours", 2),
        beside(&found, "unfairness_mean", 3)
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_divided_clusters_gives_its_row_of_a_fifth_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "co-reservation/partition.toml",
        &[
            ("[10, 100], ", ""),
            (
                "[30, 100], [40, 100], [0, 10], [0, 20], [0, 30], [0, 40]",
                "",
            ),
            (r#"["rw1", "rw3"]"#, r#"["rw3"]"#),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/partition.md";
    let store = folder.path().join("it.db");
    let found = differences(&store, &queries(page)[0], "partition", 20.0);
    let row = format!(
        "| parts have 20 % | {} | {} | {} | {} |",
        beside(&found, "co_failure_rate", 3),
        beside(&found, "grid_utilisation_percent", 1),
        beside(&found, "grid_part_percent", 1),
        beside(&found, "expansion_factor_mean", 2)
    );
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_the_surcharge_gives_its_price_of_an_hour_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "co-reservation/surcharge.toml",
        &[
            ("[0.0, 0.1, 0.25, 0.5]", "[0.1]"),
            (r#"["rw1", "rw3"]"#, r#"["rw3"]"#),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/surcharge.md";
    let store = folder.path().join("it.db");
    let found = rows(&store, &queries(page)[0], |row| {
        let numbers: [f64; 4] = [
            row.get("paid")?,
            row.get("earlier")?,
            row.get("price")?,
            row.get("variance")?,
        ];
        Ok((row.get::<_, i64>("n")?, numbers))
    });
    let [(20, [paid, earlier, price, variance])] = found[..] else {
        panic!("one row of twenty replications: {found:?}");
    };
    let half = 2.093 * variance.sqrt();
    let row = format!("| RW3 | 0.1 | {paid:.0} | {earlier:.2} | {price:.0} ± {half:.0} |\n");
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_types_of_requests_gives_its_row_of_early_against_cheap_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "meltzer2005/drawn-e6.toml",
        &[("[0.8, 0.2], [0.7, 0.3], ", ""), (", [0.0, 1.0]]", "]")],
    );
    run_keeping("all", folder.path(), part);
    let page = "measurements/request-types.md";
    let here = [("type", "a"), ("s", "0.4")];
    let setting = Setting::of(&folder.path().join("it.db"), &queries(page)[0], 20, &here);
    let row = ["start", "cost"].map(|measure| {
        let difference = setting.difference(measure, 2.093, 3);
        format!("{:.3} | {difference} |", setting.mean(measure))
    });
    let row = row.join(" ");
    assert!(read(page).contains(&row), "{row}");
}

#[test]
fn the_page_about_the_watching_agent_gives_its_row_of_three_misses_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "co-reservation/watch.toml",
        &[
            ("[1, 4, 12]", "[4]"),
            (
                "    [false, 0, 3],\n    [false, 600, 1],\n    [false, 600, 3],\n",
                "",
            ),
            ("    [true, 600, 1],\n", ""),
            ("    [true, 600, 6],\n    [true, 600, 18],\n", ""),
        ],
    );
    run(folder.path(), part);
    let page = "measurements/watch.md";
    let store = folder.path().join("it.db");
    let all = &queries(page)[0];
    let [agent, without] =
        ["600", "0"].map(|every| Setting::of(&store, all, 20, &[("every", every)]));
    let row = format!(
        "| 4 | nothing | none | {:.3} | | {:.3} | | | {:.3} | {:.2} |\n",
        without.mean("co_kept_rate"),
        without.mean("co_replaced_rate"),
        without.mean("co_failure_rate"),
        without.mean("messages_mean"),
    );
    assert!(read(page).contains(&row), "{row}");
    let row = format!(
        "| 4 | nothing | 3 | {:.3} | {} | {:.3} | {:.1} | {:.3} | {:.3} | {:.2} |\n",
        agent.mean("co_kept_rate"),
        agent.difference("co_kept_rate", 2.093, 3),
        agent.mean("co_replaced_rate"),
        agent.mean("co_given_up_parts"),
        agent.mean("co_given_up_in_vain_share"),
        agent.mean("co_failure_rate"),
        agent.mean("messages_mean"),
    );
    assert!(read(page).contains(&row), "{row}");
}
