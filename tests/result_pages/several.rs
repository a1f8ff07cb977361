//! The page about applications that are submitted together.

use std::collections::BTreeMap;

use super::*;

#[test]
fn ctc_gives_what_workflows_as_one_take_against_one_after_the_other_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "several/ctc.toml");
    let (store, page) = (folder.path().join("it.db"), read("several.md"));
    let [query] = &queries("several.md")[..] else {
        panic!("another number of queries");
    };
    let found = rows(&store, query, |row| {
        let at: (String, f64) = (row.get("search")?, row.get("alpha")?);
        let how: (String, String) = (row.get("way")?, row.get("measure")?);
        let numbers: [f64; 3] = [row.get("mean")?, row.get("more")?, row.get("variance")?];
        Ok((at, how, numbers))
    });
    let measures = [
        ("wf_realised_makespan_hours", 2),
        ("wf_application_hours", 2),
        ("wf_stretch", 3),
        ("wf_largest_stretch", 3),
        ("wf_cost_ratio_alone", 3),
        ("wf_fairness", 3),
    ];
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (measure, digits) in measures {
        for ((search, alpha), (way, name), [mean, more, variance]) in &found {
            if name != measure {
                continue;
            }
            let half = 2.093 * variance.max(0.0).sqrt();
            let sign = if *more < 0.0 { '−' } else { '+' };
            let difference = format!("{sign}{:.digits$} ± {half:.digits$}", more.abs());
            let said = match way.as_str() {
                "as one" => format!("{mean:.digits$}"),
                _ if more.abs() > half => format!("**{difference}**"),
                _ => difference,
            };
            let start = format!("| {search} | {alpha} | {way} |");
            lines.entry(start).or_default().push(said);
        }
    }
    assert_eq!(lines.len(), 10);
    for (start, cells) in lines {
        let line = format!("{start} {} |", cells.join(" | "));
        assert!(page.contains(&line), "{line}");
    }
}
