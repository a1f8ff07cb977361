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
        assert_eq!(worth.len(), 6);
        for cells in [worth, failed] {
            let row = format!("| SDSC SP2 | `{rule}` | {} |", cells.join(" | "));
            assert!(page.contains(&row), "{row}");
        }
    }
}
