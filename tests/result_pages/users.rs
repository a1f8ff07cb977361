//! The page about users who are left out of overbooking, and how far others are counted on.

use super::*;

/// What the page says of a difference in percent, with half of its interval.
pub(super) fn said(percent: f64, half: f64) -> String {
    let sign = if percent < 0.0 { '−' } else { '+' };
    let text = format!("{sign}{:.1} ± {half:.1}", percent.abs());
    if percent.abs() > half {
        format!("**{text}**")
    } else {
        text
    }
}

#[test]
fn sdsc_sp2_gives_what_a_share_of_the_excess_is_worth_again_and_nobody_there_is_accurate() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "users/excess-sdsc-sp2.toml");
    run(folder.path(), "users/accurate-sdsc-sp2.toml");
    let page = read("measurements/users.md");
    let query = fs::read_to_string(project().join("configs/users/paired.sql"));
    let found = rows(
        &folder.path().join("it.db"),
        &query.expect("a query"),
        |row| {
            let numbers: [f64; 5] = [
                row.get("gain")?,
                row.get("percent")?,
                row.get("variance")?,
                row.get("differing")?,
                row.get("failed")?,
            ];
            Ok((row.get::<_, String>("rule")?, numbers))
        },
    );
    let accurate = found.iter().filter(|(rule, _)| rule == "not-overbooked");
    let differing: Vec<f64> = accurate.map(|(_, [.., differing, _])| *differing).collect();
    assert_eq!(differing, [0.0; 8]);
    for rule in ["own-excess", "estimate"] {
        let shares = || found.iter().filter(|(of, _)| of == rule);
        let worth: Vec<String> = shares()
            .map(|(_, [gain, percent, variance, ..])| {
                said(*percent, 100.0 * 2.093 * variance.sqrt() / gain)
            })
            .collect();
        let failed: Vec<String> = shares()
            .map(|(_, [.., failed])| format!("{failed:.1}"))
            .collect();
        assert_eq!(worth.len(), 10);
        for cells in [worth, failed] {
            let row = format!("| SDSC SP2 | `{rule}` | {} |", cells.join(" | "));
            assert!(page.contains(&row), "{row}");
        }
    }
}

#[test]
fn lanl_cm5_gives_what_underestimators_get_again_and_what_it_costs() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let strategies = r#"["conservative-backfilling", "comprehensive-overbooking", "heuristic-planning", "heuristic-overbooking"]"#;
    let part = shortened(
        folder.path(),
        "users/underestimators-lanl.toml",
        &[
            (
                strategies,
                r#"["conservative-backfilling", "heuristic-overbooking"]"#,
            ),
            ("values = [0.1, 0.3, 0.6, 0.9]", "values = [0.6]"),
        ],
    );
    run_keeping("all", folder.path(), part);
    let store = folder.path().join("it.db");
    let page = read("measurements/users.md");
    let query = fs::read_to_string(project().join("configs/users/paired.sql"));
    // (strategy, threshold) as the page names them.
    let named = |row: &Row<'_>| -> rusqlite::Result<(String, &str)> {
        let strategy: String = row.get("strategy")?;
        let plans = strategy == "conservative-backfilling";
        Ok((strategy, if plans { "–" } else { "0.6" }))
    };
    let costs = rows(&store, &query.expect("a query"), |row| {
        let (strategy, threshold) = named(row)?;
        let number = |name| row.get::<_, f64>(name);
        let gain = number("gain")?;
        let half = 100.0 * 2.093 * number("variance")?.sqrt() / gain;
        Ok(format!(
            "| {strategy} | {threshold} | {} | {} | {:.1} | {:.1} | {:.0} | {:.0} |",
            grouped(gain),
            said(number("percent")?, half),
            number("failed_without")?,
            number("failed")?,
            number("accepted_without")?,
            number("accepted")?,
        ))
    });
    let of_jobs = queries("measurements/users.md");
    let of_jobs = of_jobs.iter().find(|query| query.contains("ran_beyond"));
    let jobs = rows(&store, of_jobs.expect("a query on the page"), |row| {
        let (strategy, threshold) = named(row)?;
        let stopped: f64 = row.get("stopped")?;
        if row.get::<_, String>("underestimators")? == "as-estimated" {
            return Ok((stopped, String::new()));
        }
        let cells = ["longer", "by_percent", "ran_beyond", "ended"].map(|name| {
            let value: rusqlite::Result<f64> = row.get(name);
            value.map(|value| format!("{value:.1}"))
        });
        let cells: Vec<String> = cells.into_iter().collect::<Result<_, _>>()?;
        let given = cells.join(" | ");
        Ok((stopped, format!("| {strategy} | {threshold} | {given}")))
    });
    let jobs = jobs.chunks(2).map(|pair| {
        let [(without, _), (with, given)] = pair else {
            panic!("{pair:?}");
        };
        format!("{given} | {without:.1} | {with:.1} |")
    });
    let found: Vec<String> = costs.into_iter().chain(jobs).collect();
    assert_eq!(found.len(), 4);
    for row in found {
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn the_model_of_arminius_gives_again_what_it_is_worth_to_leave_out_the_user_with_checkpoints() {
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "users/checkpointing-arminius.toml",
        &[
            (
                r#"["heuristic-overbooking", "comprehensive-overbooking"]"#,
                r#"["comprehensive-overbooking"]"#,
            ),
            ("values = [0.1, 0.3, 0.6, 0.9]", "values = [0.3]"),
        ],
    );
    run(folder.path(), part);
    let queries = queries("measurements/users.md");
    let query = queries
        .iter()
        .find(|query| query.contains("accurate_share"));
    let store = folder.path().join("it.db");
    let found = rows(&store, query.expect("a query on the page"), |row| {
        let number = |name| row.get::<_, f64>(name);
        let half = |name| Ok::<f64, rusqlite::Error>(2.093 * number(name)?.sqrt());
        let gain = number("gain")?;
        let tenths = |name| Ok::<String, rusqlite::Error>(format!("{:.1}", number(name)?));
        let cells = [
            grouped(gain),
            said(number("percent")?, 100.0 * half("variance")? / gain),
            tenths("failed_without")?,
            tenths("failed")?,
            format!("{:.0}", number("accepted_without")?),
            format!("{:.0}", number("accepted")?),
            tenths("promised_without")?,
            tenths("realised_without")?,
            tenths("promised")?,
            tenths("realised")?,
            said(number("closer")?, half("closer_variance")?),
        ];
        Ok((cells.join(" | "), row.get::<_, i64>("differing")?))
    });
    // User 1 left out, nobody, users by a share of 0.3, user 1 and users by one of a half, these.
    let [number, none, share, both, half] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((none.1, half.1), (0, 0));
    assert_eq!((share, both), (number, number));
    let row = format!("| comprehensive-overbooking | 0.3 | {} |", number.0);
    assert!(read("measurements/users.md").contains(&row), "{row}");
}

#[test]
fn hpc2n_gives_what_merged_users_are_worth_again() {
    if !setting::has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "merging/hpc2n.toml",
        &[("values = [0.1, 0.3, 0.6, 0.9]", "values = [0.3]")],
    );
    run(folder.path(), &part);
    let page = read("measurements/merged-classes.md");
    let query = &queries("measurements/merged-classes.md")[0];
    let found = rows(&folder.path().join("it.db"), query, |row| {
        let numbers: [f64; 5] = [
            row.get("gain")?,
            row.get("percent")?,
            row.get("variance")?,
            row.get("failed_without")?,
            row.get("failed")?,
        ];
        Ok((row.get::<_, String>("strategy")?, numbers))
    });
    for name in ["heuristic", "comprehensive"] {
        let of = found
            .iter()
            .filter(|(strategy, _)| strategy.starts_with(name));
        let [one, two, four, all] = of.map(|(_, row)| *row).collect::<Vec<_>>()[..] else {
            panic!("four distances");
        };
        let worth: Vec<String> = [one, two, four, all]
            .map(|[gain, percent, variance, ..]| {
                said(percent, 100.0 * 2.093 * variance.sqrt() / gain)
            })
            .to_vec();
        let failed = [one[3], four[4], all[4]].map(|percent| format!("{percent:.1}"));
        let row = format!("{} | {} |", worth.join(" | "), failed.join(" | "));
        assert!(page.contains(&row), "{row}");
    }
}
