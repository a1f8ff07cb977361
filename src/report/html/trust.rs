//! "Can I trust it?": what speaks for and against the numbers of a report, graded.

use super::{Content, missing, svg};
use crate::report::analysis::{Change, STRATEGY_AXIS, SameInputs, TUNED_AXES};
use crate::report::calibration::Verdict;
use crate::report::table::Cell;

/// Fewer replications than this say little of how far their mean may be off: with five, Student's t is 2.8.
const FEWEST_REPLICATIONS: u32 = 10;

/// An interval that is wider, in percent of its mean, leaves most comparisons open.
const WIDEST_PERCENT: f64 = 25.0;

/// How a sentence is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Good,
    Bad,
    /// Neither is shown.
    Open,
}

impl Mark {
    /// Its class on the page.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Open => "open",
        }
    }
}

impl From<bool> for Mark {
    fn from(is_good: bool) -> Self {
        if is_good { Self::Good } else { Self::Bad }
    }
}

impl From<Verdict> for Mark {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Shown => Self::Good,
            Verdict::Refuted => Self::Bad,
            Verdict::Open(_) => Self::Open,
        }
    }
}

/// Sentences, each with its mark.
pub(super) fn of(content: &Content<'_>) -> Vec<(Mark, String)> {
    let marked = |(is_good, sentence): (bool, String)| (Mark::from(is_good), sentence);
    let mut found: Vec<(Mark, String)> = of_numbers(content).into_iter().map(marked).collect();
    if let Some(calibration) = &content.calibration {
        let verdicts = calibration.verdicts.iter();
        found.extend(verdicts.map(|(verdict, sentence)| ((*verdict).into(), sentence.clone())));
    }
    found.extend(of_findings(content).into_iter().map(marked));
    found
}

/// Of the numbers: whether they are all there, how sure they are and what they are of.
fn of_numbers(content: &Content<'_>) -> Vec<(bool, String)> {
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
    found.extend(content.optimism.clone());
    if run.replications > 1 {
        found.extend(one_workload(&run.configuration));
        found.extend(one_factor(&run.configuration));
    }
    found.push(same_inputs_of(
        &content.analysis.same_inputs,
        is_study,
        content.analysis.apart,
    ));
    found
}

/// Of what a paper published, and what is not drawn.
fn of_findings(content: &Content<'_>) -> Vec<(bool, String)> {
    let mut found = Vec::new();
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

/// Whether what is compared saw the same jobs and the same failures, as the hashes say that are stored with every simulation.
fn same_inputs_of(same: &SameInputs, is_study: bool, apart: usize) -> (bool, String) {
    let left_out = match apart {
        0 => String::new(),
        apart => format!("; {apart} points are not compared with their baseline"),
    };
    if same.is_unknown {
        return (
            false,
            format!(
                "which jobs and failures were simulated is not known of all results, because some were stored before that was kept: \
                 `bookahead run CONFIG --fresh` computes them anew{left_out}"
            ),
        );
    }
    let named = |changes: Vec<&Change>| -> String {
        let each = changes
            .iter()
            .map(|change| format!("{} changes the {}", change.axis, change.what()));
        each.collect::<Vec<_>>().join(", ")
    };
    if is_study {
        let changes: Vec<&Change> = same.changes.iter().collect();
        let mut sentence =
            "settings that do not change the workload saw the same jobs and the same requests"
                .to_owned();
        if !changes.is_empty() {
            sentence.push_str(&format!(" ({})", named(changes)));
        }
        return (true, sentence);
    }
    let is_compared = |change: &&Change| {
        change.axis == STRATEGY_AXIS || TUNED_AXES.contains(&change.axis.as_str())
    };
    let changes: Vec<&Change> = same.changes.iter().filter(is_compared).collect();
    if changes.is_empty() && apart == 0 {
        let sentence = "all strategies saw the same jobs and the same failures";
        return (true, sentence.to_owned());
    }
    let named = match changes.is_empty() {
        true => String::new(),
        false => format!(": {}", named(changes)),
    };
    (
        false,
        format!("not all strategies saw the same jobs and the same failures{named}{left_out}"),
    )
}

/// That the replications share one workload, where a whole trace is simulated in each of them; `None` where each has its own.
fn one_workload(configuration: &str) -> Option<(bool, String)> {
    let configuration: toml::Table = toml::from_str(configuration).ok()?;
    let value = |table: &str, key: &str| configuration.get(table)?.get(key);
    let is_on = |key: &str| value("workload", key).and_then(toml::Value::as_bool) == Some(true);
    let is_whole = is_on("whole_trace") && !is_on("fresh");
    // Excerpts of the trace that are drawn anew are workloads of their own.
    let excerpts = value("clusters", "excerpts").and_then(toml::Value::as_str);
    (is_whole && excerpts != Some("drawn")).then(|| {
        let sentence = "all replications share one workload: intervals say what the draws on it do, not what another trace or month would";
        (false, sentence.to_owned())
    })
}

/// That one factor brings all batteries of a log to their load, so that what one of them asks for
/// moves the others; `None` where each has its own.
fn one_factor(configuration: &str) -> Option<(bool, String)> {
    let configuration: toml::Table = toml::from_str(configuration).ok()?;
    let workload = configuration.get("workload")?;
    let is_on = |key: &str| workload.get(key).and_then(toml::Value::as_bool) == Some(true);
    if is_on("whole_trace") || is_on("fresh") {
        return None;
    }
    let axes = configuration.get("axis").and_then(toml::Value::as_array);
    let is_target = |axis: &toml::Value| {
        axis.get("key").and_then(toml::Value::as_str) == Some("workload.target_load")
    };
    let is_axis = axes.is_some_and(|axes| axes.iter().any(is_target));
    let is_shared = workload.get("target_load").is_some() || is_axis;
    (is_shared && workload.get("trace").is_some()).then(|| {
        let sentence = "one factor brings all batteries to the load: intervals hold given this stretch of this log";
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
            format!("{whole}fresh = true\n"),
        ] {
            assert_eq!(one_workload(&other), None, "{other}");
        }
        let chosen = format!("{whole}[clusters]\ncount = 3\n");
        assert!(one_workload(&chosen).is_some());
    }

    #[test]
    fn a_load_that_all_batteries_share_is_a_condition_of_their_intervals() {
        let log = "[workload]\ntrace = \"CTC.swf\"\n";
        let axis = "[[axis]]\nkey = \"workload.target_load\"\nvalues = [1, 2]\n";
        for shared in [format!("{log}target_load = 2.0\n"), format!("{log}{axis}")] {
            let (is_good, sentence) = one_factor(&shared).unwrap();
            assert!(
                !is_good && sentence.ends_with("given this stretch of this log"),
                "{sentence}"
            );
        }
        for own in [
            "battery_load = 2.0",
            "compression = 0.15",
            "fresh = true\ntarget_load = 2.0",
        ] {
            assert_eq!(one_factor(&format!("{log}{own}\n")), None, "{own}");
        }
        let model = "[workload]\nmodel = \"lublin-feitelson\"\ntarget_load = 2.0\n";
        assert_eq!(one_factor(model), None);
    }

    #[test]
    fn strategies_saw_the_same_only_where_the_hashes_say_so() {
        let change = |axis: &str| Change {
            axis: axis.to_owned(),
            jobs: false,
            failures: true,
        };
        let said = |is_unknown, changes: Vec<Change>, apart| {
            let same_inputs = SameInputs {
                is_unknown,
                changes,
            };
            same_inputs_of(&same_inputs, false, apart)
        };
        let (is_good, sentence) = said(false, vec![change("workload.laxity")], 0);
        assert!(is_good && sentence == "all strategies saw the same jobs and the same failures");
        let (is_good, sentence) = said(false, vec![change(STRATEGY_AXIS)], 2);
        assert!(!is_good, "{sentence}");
        let why = "scheduling.strategy changes the failures; 2 points are not compared with their baseline";
        assert!(sentence.contains(why), "{sentence}");
        let (is_good, sentence) = said(true, Vec::new(), 4);
        assert!(!is_good && sentence.contains("--fresh"), "{sentence}");
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
