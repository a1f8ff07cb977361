//! The page about jobs that nobody shows up for, and about programs that crash.

use super::*;

#[test]
fn sdsc_blue_gives_what_no_shows_and_crashes_are_worth_to_overbooking_again() {
    if !setting::has_traces() {
        return;
    }
    let page = read("measurements/early-ends.md");
    let query = fs::read_to_string(project().join("configs/early-ends/surplus.sql"));
    let query = query.expect("a query");
    for (file, heading) in [
        ("no-shows", "## Nobody comes"),
        ("crashes", "## Programs crash"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        run(folder.path(), format!("early-ends/{file}-sdsc-blue.toml"));
        let found = rows(&folder.path().join("it.db"), &query, |row| {
            let number = |name: &str| row.get::<_, f64>(name);
            let half = |variance: f64| 2.093 * variance.sqrt();
            let planning = number("planning")?;
            let surplus = users::said(
                number("percent")?,
                100.0 * half(number("variance")?) / planning,
            );
            let change = users::said(
                number("change")? / 1_000.0,
                half(number("change_variance")?) / 1_000.0,
            );
            let threshold: f64 = number("threshold")?;
            Ok((
                threshold,
                format!("{:.1}", planning / 1_000.0),
                surplus,
                change,
            ))
        });
        let table = page.split(heading).nth(1).expect("a heading");
        for threshold in [0.1, 0.3, 0.6] {
            let cells: Vec<_> = found.iter().filter(|(of, ..)| *of == threshold).collect();
            assert_eq!(cells.len(), 5, "{file} {threshold}");
            let column = |of: fn(&(f64, String, String, String)) -> &String| {
                let said: Vec<&str> = cells.iter().map(|cell| of(cell).as_str()).collect();
                said
            };
            let planning = column(|(_, planning, ..)| planning).join(" | ");
            let surplus = column(|(_, _, surplus, _)| surplus).join(" | ");
            let change = column(|(.., change)| change)[1..].join(" | ");
            for row in [
                format!("| SDSC BLUE | gain of planning, 1,000 VC | {planning} |"),
                format!(
                    "| SDSC BLUE | surplus at {threshold}, % | {surplus} |\n| SDSC BLUE | … its change, 1,000 VC | – | {change} |"
                ),
            ] {
                assert!(table.contains(&row), "{file}: {row}");
            }
        }
    }
}
