//! The page about applications that are submitted together.

use std::collections::BTreeMap;

use super::setting::{Setting, has_traces};
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
    let [query, ..] = &queries("several.md")[..] else {
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

#[test]
fn pegasus_gives_what_judging_queried_plans_by_the_mean_end_changes_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "several/pegasus-judged.toml",
        &[
            (
                r#"["last-end", "mean-end", "largest-stretch"]"#,
                r#"["last-end", "mean-end"]"#,
            ),
            (r#"["moga", "queried-moga"]"#, r#"["queried-moga"]"#),
            ("[0.0, 0.5]", "[0.0]"),
        ],
    );
    run(folder.path(), part);
    let store = folder.path().join("it.db");
    let judged = &queries("several.md")[1];
    let setting = Setting::of(&store, judged, 15, &[("judged", "mean-end")]);
    // Student's t over 14 degrees of freedom.
    let difference = |measure, digits| setting.difference(measure, 2.145, digits);
    let row = format!(
        "| different | queried-moga | 0 | mean end | {} | {} | {} | {} | {} |",
        difference("wf_realised_makespan_hours", 2),
        difference("wf_application_hours", 2),
        difference("wf_stretch", 3),
        difference("wf_largest_stretch", 3),
        difference("wf_realised_cost_su", 1)
    );
    assert!(read("several.md").contains(&row), "{row}");
}
