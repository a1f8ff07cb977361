//! "Can I trust it?": what speaks for and against the numbers of a report, graded.

use super::{Content, missing, svg};
use crate::report::analysis::Analysis;
use crate::report::table::Cell;

/// Fewer replications than this say little of how far their mean may be off: with five, Student's t is 2.8.
const FEWEST_REPLICATIONS: u32 = 10;

/// An interval that is wider, in percent of its mean, leaves most comparisons open.
const WIDEST_PERCENT: f64 = 25.0;

/// Sentences, each with whether it is good news.
pub(super) fn of(content: &Content<'_>) -> Vec<(bool, String)> {
    let run = &content.run;
    let mut found = vec![(
        run.points_done == run.points,
        format!(
            "{} of {} points have a result; {} failed, {} were not run",
            run.points_done,
            run.points,
            run.points_failed,
            missing(run)
        ),
    )];
    found.extend(
        (content.losses.iter())
            .filter(|loss| loss.is_worth_a_warning())
            .map(|loss| (false, loss.to_string())),
    );
    let is_study = content.analysis.is_study();
    found.push(precision(
        run.replications,
        &widths(content.best.rows.iter().flatten()),
        is_study,
    ));
    found.extend(selection(&content.analysis));
    if run.replications > 1 {
        found.extend(one_workload(&run.configuration));
    }
    found.push((
        true,
        if is_study {
            "settings that do not change the workload saw the same jobs and the same requests"
        } else {
            "all strategies saw the same jobs and the same failures"
        }
        .to_owned(),
    ));
    if let Some(calibration) = &content.calibration {
        found.extend(calibration.verdicts.iter().cloned());
    }
    if let Some(claims) = content.claims {
        found.push((
            claims.missed == 0,
            format!("published findings: {}", claims.tally),
        ));
    }
    if content.left_out > 0 {
        found.push((
            true,
            format!(
                "{} figures of further situations are not drawn; the tables have their numbers",
                content.left_out
            ),
        ));
    }
    found
}

/// Half widths of the intervals of these cells in percent of their means, ascending.
fn widths<'c>(cells: impl Iterator<Item = &'c Cell>) -> Vec<f64> {
    let mut widths: Vec<f64> = cells
        .filter_map(|cell| match cell {
            Cell::Estimate(estimate) => Some((estimate.half_width()?, estimate.mean)),
            _ => None,
        })
        .map(|(half, mean)| 100.0 * half / mean.abs())
        .filter(|share| share.is_finite())
        .collect();
    widths.sort_by(f64::total_cmp);
    widths
}

/// Whether there are enough replications, and whether the intervals of the best settings are narrow enough to compare them.
fn precision(replications: u32, widths: &[f64], is_study: bool) -> (bool, String) {
    // Measures of a study may be near 0, and then the widest interval in percent says nothing.
    let shown = if is_study {
        widths.get(widths.len() / 2)
    } else {
        widths.last()
    };
    let Some(share) = shown else {
        return (
            false,
            "one replication: no intervals, so differences may be chance".to_owned(),
        );
    };
    let is_few = replications < FEWEST_REPLICATIONS;
    let is_wide = *share > WIDEST_PERCENT;
    let sentence = format!(
        "{replications} replications{}; {} \u{b1} {} %{}",
        if is_few { ", which are few" } else { "" },
        if is_study {
            "half of the 95 % intervals beside are within"
        } else {
            "the widest 95 % interval beside is"
        },
        svg::short_number(*share),
        if is_wide { ", which is wide" } else { "" },
    );
    (!is_few && !is_wide, sentence)
}

/// That the best of several settings is chosen on the numbers that it is shown with; `None` where nothing is chosen.
fn selection(analysis: &Analysis) -> Option<(bool, String)> {
    let tuned = analysis.tuned_axes();
    let choices: usize = tuned
        .iter()
        .map(|axis| analysis.axes[*axis].values.len())
        .product();
    (!tuned.is_empty() && choices > 1).then(|| {
        (
            false,
            format!(
                "the best of {choices} settings is chosen and shown on the same replications, so its gain is somewhat too high"
            ),
        )
    })
}

/// That the replications share one workload, where a whole trace is simulated in each of them; `None` where each has its own.
fn one_workload(configuration: &str) -> Option<(bool, String)> {
    let configuration: toml::Table = toml::from_str(configuration).ok()?;
    let value = |table: &str, key: &str| configuration.get(table)?.get(key);
    let is_whole = value("workload", "whole_trace")?.as_bool()?;
    // Excerpts of the trace that are drawn anew are workloads of their own.
    let excerpts = value("clusters", "excerpts").and_then(toml::Value::as_str);
    (is_whole && excerpts != Some("drawn")).then(|| {
        let sentence = "all replications share one workload: intervals say what the draws on it do, not what another trace or month would";
        (false, sentence.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replications_on_one_trace_are_no_replications_of_the_trace() {
        let whole = "[workload]\nwhole_trace = true\n";
        let (is_good, sentence) = one_workload(whole).unwrap();
        assert!(
            !is_good && sentence.contains("share one workload"),
            "{sentence}"
        );
        for other in [
            "[workload]\nbattery_jobs = 1000\n".to_owned(),
            "[workload]\nwhole_trace = false\n".to_owned(),
            format!("{whole}[clusters]\nexcerpts = \"drawn\"\n"),
        ] {
            assert_eq!(one_workload(&other), None, "{other}");
        }
        let chosen = format!("{whole}[clusters]\ncount = 3\n");
        assert!(one_workload(&chosen).is_some());
    }

    #[test]
    fn few_replications_and_wide_intervals_are_no_good_news() {
        for (replications, width, good, few, wide) in [
            (5, 139.0, false, ", which are few", ", which is wide"),
            (20, 139.0, false, "", ", which is wide"),
            (9, 4.0, false, ", which are few", ""),
            (10, 25.0, true, "", ""),
        ] {
            let (is_good, sentence) = precision(replications, &[1.0, width], false);
            assert_eq!(is_good, good, "{sentence}");
            assert!(sentence.starts_with(&format!("{replications} replications{few};")));
            assert!(sentence.ends_with(&format!("{} %{wide}", svg::short_number(width))));
        }
        assert!(!precision(1, &[], false).0);
        // Of a study half of the intervals count.
        assert!(precision(10, &[1.0, 2.0, 900.0], true).0);
    }
}
