//! "Can I trust it?": arguments for and against the numbers of a report, graded.

use super::analysis::{Change, STRATEGY_AXIS, SameInputs, TUNED_AXES};
use super::answer::Subject;
use super::calibration::Verdict;
use super::content::Content;
use super::summary_tables::missing;
use super::svg;
use bookahead_lab::store::InputRemark;

/// Fewer replications than this say little of how far their mean may be off: with five, Student's t
/// is 2.8.
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

    /// What stands before its sentence where there are no signs.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Good => "",
            Self::Bad => "**Caution:** ",
            Self::Open => "**Open:** ",
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
    found.extend(of_inputs(&content.input_remarks));
    found.extend(of_intervals(content).into_iter().map(marked));
    found.push(marked(same_inputs_of(
        &content.analysis.same_inputs,
        content.analysis.is_study(),
        content.analysis.apart,
    )));
    found.extend(of_promises(content));
    found.extend(of_findings(content).into_iter().map(marked));
    found
}

/// Of these sentences those that the terminal and `--json` repeat: what a number of their table
/// does not show.
pub(super) fn remarks(content: &Content<'_>) -> Vec<String> {
    let intervals = of_intervals(content).into_iter();
    let promises = of_promises(content).into_iter();
    intervals
        .map(|(_, sentence)| sentence)
        .chain(promises.map(|(_, sentence)| sentence))
        .collect()
}

/// Of what intervals do not contain: the choice of the best, earlier looks, replications that
/// repeat others, and what replications share.
fn of_intervals(content: &Content<'_>) -> Vec<(bool, String)> {
    let shared =
        (content.dependence).sentences(content.subject.as_ref(), content.shared_jobs.as_ref());
    let repeated = repetitions(content.analysis.repetitions, content.run.points_done);
    let warnings = (content.rule_cautions.iter().cloned())
        .chain(looks(&content.earlier_looks))
        .chain(repeated)
        .chain(shared);
    (content.optimism.iter().cloned())
        .chain(warnings.map(|sentence| (false, sentence)))
        .collect()
}

/// Of each strategy, whether promised risks come true; where one's do not, what was not used.
fn of_promises(content: &Content<'_>) -> Vec<(Mark, String)> {
    let calibration = content.calibration.iter();
    let verdicts = calibration.flat_map(|calibration| &calibration.verdicts);
    let mut found: Vec<(Mark, String)> = verdicts
        .map(|(verdict, sentence)| ((*verdict).into(), sentence.clone()))
        .collect();
    let last_refuted = found.iter_mut().rfind(|(mark, _)| *mark == Mark::Bad);
    if let (Some((_, sentence)), false) = (last_refuted, content.remedies.is_empty()) {
        sentence.push_str(&format!(
            ". Not used in this run: {} (see docs/calibration.md)",
            content.remedies.join(", ")
        ));
    }
    found
}

/// Of the numbers: whether they are all there, and how sure they are.
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
    let is_study = content.analysis.is_study();
    let subject = content.subject.as_ref();
    found.extend(subject.map(|subject| precision(subject, is_study, run.replications)));
    found
}

/// Of what simulations read: jobs that are left out, and machines of another size than the log's.
pub(super) fn of_inputs(remarks: &[InputRemark]) -> Vec<(Mark, String)> {
    let marked = |remark: &InputRemark| {
        let mark = match remark.is_warning {
            true => Mark::Bad,
            false => Mark::Open,
        };
        (mark, remark.text.clone())
    };
    remarks.iter().map(marked).collect()
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

/// That results may have been looked at before it was decided to add replications; `None` where the
/// store has no such run.
pub(super) fn looks(earlier: &[u32]) -> Option<String> {
    let counts: Vec<String> = earlier.iter().map(u32::to_string).collect();
    let (last, others) = counts.split_last()?;
    let counts = match others {
        [] => last.clone(),
        others => format!("{} and {last}", others.join(", ")),
    };
    Some(format!(
        "an earlier run of this experiment ended with {counts} replications: intervals and p-values hold for one look, decided beforehand, \
         not for looking and going on"
    ))
}

/// That replications repeat others, and count once.
fn repetitions(repetitions: usize, points: u64) -> Option<String> {
    (repetitions > 0).then(|| {
        format!(
            "{repetitions} of {points} points repeat another replication of their setting (the same jobs and failures, the same \
             results): n counts distinct ones, each once"
        )
    })
}

/// Whether there are enough replications of the quantity that the answer is about, and whether its
/// intervals are narrow enough to compare settings. What stands beside it does not count.
fn precision(subject: &Subject, is_study: bool, run: u32) -> (bool, String) {
    let title = &subject.title;
    let estimates = || {
        let settings = subject.settings.iter();
        settings.map(|setting| setting.found.estimate)
    };
    let replications = estimates().map(|estimate| estimate.count).min();
    let Some(replications) = replications.filter(|count| *count > 1) else {
        let one = match run {
            1 => "one replication",
            _ => "one replication that counts",
        };
        return (
            false,
            format!("{one}: no intervals, so differences may be chance"),
        );
    };
    if estimates().all(|estimate| estimate.has_no_spread() && estimate.interval.is_none()) {
        let sentence = format!(
            "{replications} replications that do not differ in {title}, which therefore has no interval"
        );
        return (false, sentence);
    }
    let is_few = replications < FEWEST_REPLICATIONS;
    let few = if is_few { ", which are few" } else { "" };
    let mut widths: Vec<f64> = estimates()
        .filter_map(|estimate| Some((estimate.interval?, estimate.mean)))
        .map(|(interval, mean)| 50.0 * (interval.high - interval.low) / mean.abs())
        .filter(|share| share.is_finite())
        .collect();
    widths.sort_by(f64::total_cmp);
    // A measure of a study may be near 0, and then the widest interval in percent says nothing.
    let shown = if is_study {
        widths.get(widths.len() / 2)
    } else {
        widths.last()
    };
    let Some(share) = shown else {
        return (
            false,
            format!("{replications} replications{few}; {title} has no interval"),
        );
    };
    let is_wide = *share > WIDEST_PERCENT;
    let sentence = format!(
        "{replications} replications{few}; {} of {title} {} \u{b1} {} %{}",
        if is_study {
            "half of the 95 % intervals"
        } else {
            "the widest 95 % interval"
        },
        if is_study { "are within" } else { "is" },
        svg::short_number(*share),
        if is_wide { ", which is wide" } else { "" },
    );
    (!is_few && !is_wide, sentence)
}

/// Whether what is compared saw the same jobs and the same failures, as the hashes say that are
/// stored with every simulation.
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
        let sentence = if same.follow_load {
            "all strategies saw the same jobs and the same draws of failures, of which those happened that the load of each let happen"
        } else {
            "all strategies saw the same jobs and the same failures"
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Setting;
    use crate::statistics::{Estimate, Interval, Method, Replicated};

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
                follow_load: false,
                changes,
            };
            same_inputs_of(&same_inputs, false, apart)
        };
        let by_load = SameInputs {
            follow_load: true,
            ..SameInputs::default()
        };
        let (is_good, sentence) = same_inputs_of(&by_load, false, 0);
        assert!(
            is_good && sentence.contains("the same draws of failures"),
            "{sentence}"
        );
        let (is_good, sentence) = said(false, vec![change("workload.laxity")], 0);
        assert!(is_good && sentence == "all strategies saw the same jobs and the same failures");
        let (is_good, sentence) = said(false, vec![change(STRATEGY_AXIS)], 2);
        assert!(!is_good, "{sentence}");
        let why = "scheduling.strategy changes the failures; 2 points are not compared with their baseline";
        assert!(sentence.contains(why), "{sentence}");
        let (is_good, sentence) = said(true, Vec::new(), 4);
        assert!(!is_good && sentence.contains("--fresh"), "{sentence}");
    }

    /// Settings whose intervals are these percent wide either way, over so many replications.
    fn subject(replications: u32, widths: &[f64]) -> Subject {
        let settings = widths.iter().map(|width| Setting {
            name: String::new(),
            found: Replicated {
                estimate: Estimate {
                    count: replications,
                    mean: 100.0,
                    deviation: None,
                    interval: Some(Interval {
                        low: 100.0 - width,
                        high: 100.0 + width,
                        method: Method::Student,
                    }),
                },
                log: None,
            },
        });
        Subject {
            title: "Gain (VC)".to_owned(),
            settings: settings.collect(),
            differences: Vec::new(),
        }
    }

    #[test]
    fn few_replications_and_wide_intervals_are_no_good_news() {
        for (replications, width, good, few, wide) in [
            (5, 139.0, false, ", which are few", ", which is wide"),
            (20, 139.0, false, "", ", which is wide"),
            (9, 4.0, false, ", which are few", ""),
            (10, 25.0, true, "", ""),
        ] {
            let (is_good, sentence) = precision(&subject(replications, &[1.0, width]), false, 20);
            assert_eq!(is_good, good, "{sentence}");
            assert!(sentence.starts_with(&format!("{replications} replications{few};")));
            assert!(sentence.contains("of Gain (VC) is"), "{sentence}");
            assert!(sentence.ends_with(&format!("{} %{wide}", svg::short_number(width))));
        }
        assert!(!precision(&subject(1, &[1.0]), false, 1).0);
        let (is_good, sentence) = precision(&subject(1, &[1.0]), false, 5);
        assert!(!is_good && sentence.starts_with("one replication that counts:"));
        // Of a study half of the intervals count.
        assert!(precision(&subject(10, &[1.0, 2.0, 900.0]), true, 10).0);
        // Replications that repeat each other say nothing of others.
        let mut equal = subject(10, &[1.0]);
        let estimate = &mut equal.settings[0].found.estimate;
        *estimate = Estimate::of(&[31.13; 10]).unwrap();
        let (is_good, sentence) = precision(&equal, false, 10);
        assert!(!is_good && sentence.contains("do not differ in Gain (VC)"));
        equal.settings[0].found.estimate.deviation = Some(1.0);
        let (is_good, sentence) = precision(&equal, false, 10);
        assert!(!is_good && sentence == "10 replications; Gain (VC) has no interval");
    }
}
