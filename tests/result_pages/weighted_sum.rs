//! The page about weights that come before the search.

use super::{queries, read, rows, run_keeping, shortened};

/// A value and the half-width of its interval, Student's t with 49 degrees of freedom.
fn said(value: f64, variance: f64, digits: usize) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    let half = 2.009_58 * variance.max(0.0).sqrt();
    format!("{sign}{:.digits$} ± {half:.digits$}", value.abs())
}

#[test]
fn ctc_gives_the_plans_of_one_weight_and_the_unsupported_share_of_fronts_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // The second query reads the fronts at α = 0.
    let axes = [("[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]", "[0.0]")];
    let part = shortened(folder.path(), "weighted-sum/ctc.toml", &axes);
    run_keeping("all", folder.path(), part);
    run_keeping("all", folder.path(), "weighted-sum/ctc-bounds.toml");
    let (store, page) = (folder.path().join("it.db"), read("weighted-sum.md"));
    let [plans, fronts, bounds] = &queries("weighted-sum.md")[..] else {
        panic!("another number of queries");
    };
    let in_shares = rows(&store, bounds, |row| {
        assert_eq!(row.get::<_, i64>("n")?, 50);
        Ok(said(row.get("less")?, row.get("less_variance")?, 4))
    });
    let found = rows(&store, plans, |row| {
        let real = |name: &str| row.get::<_, f64>(name);
        assert_eq!(row.get::<_, i64>("n")?, 50);
        let scale: String = row.get("scale")?;
        let less = match scale.as_str() {
            "raw" => said(real("less")?, real("less_variance")?, 2),
            _ => in_shares[0].clone(),
        };
        Ok(format!(
            "| {scale} | 0 | {:.1} | {:.2} | {} | {} | {less} | {:.0} | {:.0} |",
            real("front_cost")?,
            real("front_hours")?,
            said(real("cost")?, real("cost_variance")?, 1),
            said(real("hours")?, real("hours_variance")?, 2),
            real("dominated_percent")?,
            real("dominating_percent")?,
        ))
    });
    assert_eq!(found.len(), 2);
    for row in found {
        assert!(page.contains(&row), "{row}");
    }
    let shares = rows(&store, fronts, |row| {
        let share = said(row.get("unsupported")?, row.get("variance")?, 1);
        Ok((format!("{:.1} plans", row.get::<_, f64>("members")?), share))
    });
    let [(members, share)] = &shares[..] else {
        panic!("{shares:?}");
    };
    assert!(page.contains(members), "{members}");
    assert!(page.contains(share), "{share}");
}
