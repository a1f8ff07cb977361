//! The page about slots that are given back.

use std::collections::BTreeMap;

use super::*;

#[test]
fn ctc_gives_what_slots_cost_whose_rest_is_paid_back_and_what_others_gain_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "refunds/ctc.toml");
    let (store, page) = (folder.path().join("it.db"), read("refunds.md"));
    let [costs, others, slots, ..] = &queries("refunds.md")[..] else {
        panic!("another number of queries");
    };
    let sign = |value: f64| if value < 0.0 { '−' } else { '+' };
    let bold = |text: String, is_bold| if is_bold { format!("**{text}**") } else { text };
    let mut cells: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let found = rows(&store, costs, |row| {
        let refund: String = row.get("refund")?;
        let at: [f64; 4] = [
            row.get("spread")?,
            row.get("penalty")?,
            row.get("factor")?,
            row.get("best")?,
        ];
        Ok((
            refund,
            at,
            [
                row.get("mean")?,
                row.get("more")?,
                row.get::<_, f64>("variance")?,
            ],
        ))
    });
    for (refund, [spread, penalty, factor, best], [mean, more, variance]) in found {
        let half = 2.093 * variance.max(0.0).sqrt();
        let said = if factor == best {
            format!("{mean:.0}")
        } else {
            bold(format!("+{more:.0} ± {half:.0}"), more > half)
        };
        let penalty = if refund == "none" {
            String::new()
        } else {
            penalty.to_string()
        };
        let start = format!("| {:.0} % | {refund} | {penalty} |", 100.0 * spread);
        cells.entry(start).or_default().push(said);
    }
    assert_eq!(cells.len(), 33);
    for (start, cells) in cells {
        let row = format!("{start} {} |", cells.join(" | "));
        assert!(page.contains(&row), "{row}");
    }
    let mut of_slots: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let found = rows(&store, slots, |row| {
        let refund: String = row.get("refund")?;
        let [spread, penalty]: [f64; 2] = [row.get("spread")?, row.get("penalty")?];
        let [back, kept]: [f64; 2] = [row.get("refunded")?, row.get("forfeited")?];
        let start = format!("| {:.0} % | {refund} | {penalty} |", 100.0 * spread);
        Ok((start, format!("{back:.2} / {kept:.2}")))
    });
    for (start, cell) in found {
        of_slots.entry(start).or_default().push(cell);
    }
    assert_eq!(of_slots.len(), 30);
    for (start, cells) in of_slots {
        let row = format!("{start} {} |", cells.join(" | "));
        assert!(page.contains(&row), "{row}");
    }
    let found = rows(&store, others, |row| {
        let measure: String = row.get("measure")?;
        let at: [f64; 2] = [row.get("spread")?, row.get("factor")?];
        Ok((
            measure,
            at,
            [
                row.get("without")?,
                row.get("more")?,
                row.get::<_, f64>("variance")?,
            ],
        ))
    });
    let waits = found
        .iter()
        .filter(|row| row.0 == "others_added_wait_minutes");
    for (_, [spread, factor], [without, more, variance]) in waits {
        let half = 2.093 * variance.max(0.0).sqrt();
        let more = bold(
            format!("{}{:.1} ± {half:.1}", sign(*more), more.abs()),
            more.abs() > half,
        );
        let start = format!(
            "| {:.0} % | {factor} | {without:.1} | {more} |",
            100.0 * spread
        );
        assert!(page.contains(&start), "{start}");
    }
}
