//! The output of `bookahead trace` for people.

use std::fmt::Write as _;

use crate::workload::{CleaningReport, Quantiles, TraceSummary};

/// The summary as lines for a person.
pub(super) fn describe(summary: &TraceSummary) -> String {
    let mut text = String::new();
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let load = |load: Option<f64>| load.map_or_else(|| "undefined: no span".to_owned(), percent);
    let lines = [
        ("trace", summary.label.clone()),
        ("records hash", summary.content_hash.clone()),
        ("machine", format!("{} nodes", summary.nodes.0)),
        (
            "span",
            format!(
                "{} s ({:.1} days, first to last submit)",
                summary.span_seconds,
                summary.span_seconds as f64 / 86_400.0
            ),
        ),
        ("load by runtime", load(summary.load_by_runtime)),
        ("load by estimate", load(summary.load_by_estimate)),
        (
            "runtime/estimate",
            format!(
                "mean {:.4}, median {:.4}; under 10 %: {} of jobs; over 100 %: {} of jobs",
                summary.mean_ratio,
                summary.median_ratio,
                percent(summary.share_under_tenth),
                percent(summary.share_over_estimate)
            ),
        ),
        ("users", summary.users.to_string()),
        ("applications", summary.applications.to_string()),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name:<17} {value}");
    }
    let _ = writeln!(
        text,
        "\n{:<14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "quantiles", "min", "25 %", "median", "75 %", "90 %", "99 %", "max"
    );
    for (name, quantiles) in [
        ("nodes", summary.size),
        ("runtime (s)", summary.runtime_seconds),
        ("estimate (s)", summary.estimate_seconds),
    ] {
        let Quantiles {
            min,
            q25,
            median,
            q75,
            q90,
            q99,
            max,
        } = quantiles;
        let _ = writeln!(
            text,
            "{name:<14} {min:>8} {q25:>8} {median:>8} {q75:>8} {q90:>8} {q99:>8} {max:>8}"
        );
    }
    text.push('\n');
    describe_cleaning(&summary.cleaning, &mut text);
    if let Some(acknowledgement) = &summary.acknowledgement {
        let _ = writeln!(text, "\nacknowledge  {acknowledgement}");
    }
    text
}

/// Appends what cleaning dropped and noted, one rule a line.
pub(super) fn describe_cleaning(report: &CleaningReport, text: &mut String) {
    let _ = writeln!(text, "records      {}", report.records);
    let _ = writeln!(text, "usable       {}", report.usable);
    let _ = writeln!(text, "dropped      {}", report.dropped_total());
    for (verb, rules) in [
        ("dropped", &report.dropped()[..]),
        ("noted", &report.noted()[..]),
    ] {
        for (rule, meaning, count) in rules.iter().filter(|(_, _, count)| *count > 0) {
            let _ = writeln!(text, "  {verb:<7} {count:>9}  {rule}: {meaning}");
        }
    }
}
