//! Dependence between replications, which may share stretches of one log, one load, one clock of
//! failures, or overlapping excerpts. Intervals over them then say less about another log than
//! about these replications.

use super::analysis::Analysis;
use super::answer::{Setting, Subject};
use super::statistics::{FEWEST_NEIGHBOURS, Neighbours};
use super::svg::short_number;
use bookahead_lab::store::{PointColumns, RunSummary, SharedJobs};
use bookahead_lab::sweep::AxisValue;

/// What is read off a run to say what its replications share.
#[derive(Clone, Debug, Default)]
pub(super) struct Dependence {
    /// Whether they are neighbouring stretches of one log.
    pub(super) is_of_neighbours: bool,
    /// Whether they replay one recorded log of failures, and any of them met one.
    is_one_clock: bool,
    /// Whether they are excerpts of a log that are drawn.
    pub(super) is_drawn: bool,
    /// Whether a whole trace is simulated in each of them.
    is_one_workload: bool,
    /// Whether one factor brings all batteries of a log to their load, so that what one of them
    /// asks for moves the others.
    is_one_factor: bool,
}

impl Dependence {
    /// Of a run with several replications; of a single one nothing is shared.
    pub(super) fn of(run: &RunSummary, analysis: &Analysis, points: &PointColumns) -> Self {
        let Ok(configuration) = toml::from_str(&run.configuration) else {
            return Self::default();
        };
        if run.replications < 2 {
            return Self::default();
        }
        let meets_failures = points.seen.iter().any(|seen| seen.may_have_failures());
        Self::read(&configuration, analysis, meets_failures)
    }

    fn read(configuration: &toml::Table, analysis: &Analysis, meets_failures: bool) -> Self {
        let given = |table: &str, key: &str| configuration.get(table)?.get(key);
        let on_axis = |key: &str| analysis.axes.iter().find(|axis| axis.key == key);
        let is_on = |key| given("workload", key).and_then(toml::Value::as_bool) == Some(true);
        let has = |key: &str| {
            given("workload", key).is_some() || on_axis(&format!("workload.{key}")).is_some()
        };
        // Stored files have the key by the name of their day.
        let load = given("workload", "load").and_then(|load| load.get("value"));
        let has_one_load = load.is_some() || has("load.value") || has("target_load");
        let names = |table: &str, key: &str, name: &str| {
            let is_given = given(table, key).and_then(toml::Value::as_str) == Some(name);
            let axis = on_axis(&format!("{table}.{key}"));
            let value = AxisValue::Text(name.to_owned());
            is_given || axis.is_some_and(|axis| axis.values.contains(&value))
        };
        let axes = analysis.axes.iter().map(|axis| axis.key.as_str());
        let is_of_neighbours = are_neighbours(configuration, axes);
        let (is_log, is_whole, is_fresh) = (has("trace"), is_on("whole_trace"), is_on("fresh"));
        let is_drawn = names("clusters", "excerpts", "drawn");
        Self {
            is_of_neighbours,
            is_one_clock: meets_failures && names("failures", "source", "lanl"),
            is_drawn,
            is_one_workload: is_whole && !is_fresh && !is_drawn,
            is_one_factor: is_log && !is_whole && !is_fresh && has_one_load,
        }
    }

    /// What a reader must know of the interval of the answer, as a sentence behind it.
    pub(super) fn remark(&self, subject: &Subject) -> Option<String> {
        if !self.is_of_neighbours {
            return None;
        }
        let first = subject.settings.first()?;
        let log = first.found.log?.interval;
        Some(format!(
            " They are about these batteries, which are neighbours; about the log that of {} ({}) is [{}, {}].",
            subject.title,
            first.name,
            short_number(log.low),
            short_number(log.high)
        ))
    }

    /// Sentences, none of which is good news.
    pub(super) fn sentences(
        &self,
        subject: Option<&Subject>,
        shared: Option<&SharedJobs>,
    ) -> Vec<String> {
        let mut found = Vec::new();
        if self.is_one_workload {
            found.push("all replications share one workload: intervals say what the draws on it do, not what another trace or month would".to_owned());
        }
        if self.is_one_factor {
            found.push("one factor brings all batteries to the load: intervals hold given this stretch of this log".to_owned());
        }
        if let Some(subject) = subject.filter(|_| self.is_of_neighbours) {
            found.push(alike(BATTERIES, &subject.title, &subject.settings));
            if !subject.differences.is_empty() {
                let differences = differences_in(&subject.title);
                found.push(alike(DIFFERENCES, &differences, &subject.differences));
            }
        }
        if self.is_one_clock {
            found.push("all replications replay one recorded log of failures from the same instant: intervals do not cover other failures".to_owned());
        }
        found.extend(shared.filter(|_| self.is_drawn).map(overlap));
        found
    }
}

/// Whether the replications of an experiment with these axes are neighbouring stretches of one log.
pub(super) fn are_neighbours<'k>(
    configuration: &toml::Table,
    mut axes: impl Iterator<Item = &'k str>,
) -> bool {
    let workload = |key: &str| configuration.get("workload")?.get(key);
    let is_whole = workload("whole_trace").and_then(toml::Value::as_bool) == Some(true);
    !is_whole && (workload("trace").is_some() || axes.any(|key| key == "workload.trace"))
}

/// How a sentence about means over batteries of a log begins.
const BATTERIES: &str = "the batteries are neighbouring stretches of one log";

/// How one about paired differences does.
pub(super) const DIFFERENCES: &str = "paired differences over neighbouring batteries of one log are judged by the wider of two intervals";

/// What the differences of a quantity are called in that sentence.
pub(super) fn differences_in(title: &str) -> String {
    format!("differences in {title}")
}

/// How alike neighbouring batteries are in a quantity, and what that does to the interval of the
/// first of these settings.
pub(super) fn alike(begin: &str, title: &str, settings: &[Setting]) -> String {
    let neighbours = || settings.iter().filter_map(|setting| setting.found.log);
    let by_effect =
        |one: &Neighbours, other: &Neighbours| one.effective.total_cmp(&other.effective);
    let (Some(least), Some(most)) = (
        neighbours().min_by(by_effect),
        neighbours().max_by(by_effect),
    ) else {
        return format!(
            "{begin}: intervals are about these batteries, not about the log; how alike neighbours are is measured from {FEWEST_NEIGHBOURS} \
             batteries that differ and lack no result on"
        );
    };
    let mut correlations: Vec<f64> = neighbours().map(|it| it.correlation).collect();
    correlations.sort_by(f64::total_cmp);
    let range = |low: f64, high: f64, decimals: usize| {
        let (low, high) = (format!("{low:.decimals$}"), format!("{high:.decimals$}"));
        match low == high {
            true => low,
            false => format!("{low} to {high}"),
        }
    };
    let mut sentence = format!(
        "{begin}: {title} of one and of the next correlate with r = {}, so that {} batteries say as much of the log as {} independent ones",
        range(correlations[0], correlations[correlations.len() - 1], 2),
        range(f64::from(least.count), f64::from(most.count), 0),
        range(least.effective, most.effective, 1),
    );
    let first = &settings[0];
    let estimate = first.found.estimate;
    if let (Some(own), Some(log)) = (estimate.interval, first.found.log) {
        let ends = |low, high| format!("[{}, {}]", short_number(low), short_number(high));
        sentence.push_str(&format!(
            "; the 95 % interval of {} ({}) about these batteries is {}, about the log {} (circular block bootstrap, blocks of {})",
            short_number(estimate.mean),
            first.name,
            ends(own.low, own.high),
            ends(log.interval.low, log.interval.high),
            log.block
        ));
    }
    sentence
}

/// How much drawn excerpts overlap.
fn overlap(shared: &SharedJobs) -> String {
    if shared.replications < 2 || shared.jobs == 0 {
        return "excerpts of one log are drawn and may overlap; by how much is not known, because the store has no jobs of these simulations".to_owned();
    }
    let percent = 100.0 * shared.shared as f64 / shared.jobs as f64;
    format!(
        "excerpts of one log are drawn and overlap: {percent:.0} % of the jobs of a replication are in another one, too, which intervals do not count",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Replicated;
    use bookahead_core::scheduling::measures::QuantityKind;
    use bookahead_lab::sweep::Axis;
    use bookahead_studies::STUDIES;

    fn analysis(axes: Vec<Axis>) -> Analysis {
        Analysis {
            studies: STUDIES,
            axes,
            combinations: Vec::new(),
            relaxed_axes: Vec::new(),
            measures: Vec::new(),
            earned: None,
            primary: None,
            same_inputs: Default::default(),
            apart: 0,
            repetitions: 0,
        }
    }

    fn read(configuration: &str) -> Dependence {
        let configuration = toml::from_str(configuration).unwrap();
        Dependence::read(&configuration, &analysis(Vec::new()), true)
    }

    fn setting(name: &str, values: &[f64]) -> Setting {
        let values = (0..).zip(values.iter().copied()).collect();
        Setting {
            name: name.to_owned(),
            found: Replicated::of(&values, QuantityKind::Signed, true).unwrap(),
        }
    }

    fn subject(settings: Vec<Setting>) -> Subject {
        Subject {
            title: "Gain (VC)".to_owned(),
            settings,
            differences: Vec::new(),
        }
    }

    #[test]
    fn replications_on_one_trace_are_no_replications_of_the_trace() {
        let whole = "[workload]\ntrace = \"CTC.swf\"\nwhole_trace = true\n";
        let sentences = read(whole).sentences(None, None);
        assert_eq!(sentences.len(), 1);
        assert!(sentences[0].contains("share one workload"), "{sentences:?}");
        for other in [
            "[workload]\nbattery_jobs = 1000\n".to_owned(),
            "[workload]\nwhole_trace = false\n".to_owned(),
            format!("{whole}[clusters]\nexcerpts = \"drawn\"\n"),
            format!("{whole}fresh = true\n"),
        ] {
            assert!(!read(&other).is_one_workload, "{other}");
        }
        assert!(read(&format!("{whole}[clusters]\ncount = 3\n")).is_one_workload);
    }

    #[test]
    fn a_load_that_all_batteries_share_is_a_condition_of_their_intervals() {
        let log = "[workload]\ntrace = \"CTC.swf\"\n";
        let shared = read(&format!("{log}load.value = 2.0\n"));
        let sentences = shared.sentences(None, None);
        assert!(
            sentences[0].ends_with("given this stretch of this log"),
            "{sentences:?}"
        );
        let axis = Axis {
            key: "workload.load.value".to_owned(),
            values: vec![AxisValue::Integer(1), AxisValue::Integer(2)],
        };
        assert!(read(&format!("{log}target_load = 2.0\n")).is_one_factor);
        let of_axis = Dependence::read(&toml::from_str(log).unwrap(), &analysis(vec![axis]), true);
        assert!(of_axis.is_one_factor);
        for own in [
            "load.each_battery = 2.0",
            "compression = 0.15",
            "fresh = true\nload.value = 2.0",
            "fresh = true\ntarget_load = 2.0",
        ] {
            assert!(!read(&format!("{log}{own}\n")).is_one_factor, "{own}");
        }
        let model = "[workload]\nmodel = \"lublin-feitelson\"\nload.value = 2.0\n";
        assert!(!read(model).is_one_factor);
    }

    #[test]
    fn neighbouring_batteries_of_a_log_are_said_with_their_correlation_and_both_intervals() {
        let log = read("[workload]\ntrace = \"CTC.swf\"\nbattery_jobs = 1000\n");
        // r = 0.5 and 6 · 0.5 / 1.5 = 2; t(5) = 2.5706, s = 1.8708: 3.5 ± 1.9633. In blocks of two
        // 3.5 ± 3.9277 (see the tests of the statistics).
        let rising = setting("fcfs", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let [sentence] = &log.sentences(Some(&subject(vec![rising.clone()])), None)[..] else {
            panic!("one sentence");
        };
        for part in [
            "Gain (VC) of one and of the next correlate with r = 0.50, so that 6 batteries say as much of the log as 2.0 independent ones",
            "of 3.500 (fcfs) about these batteries is [1.537, 5.463], about the log [-0.4278, 7.428] (circular block bootstrap, blocks of 2)",
        ] {
            assert!(sentence.contains(part), "{sentence}");
        }
        let turns = setting("easy", &[1.0, 6.0, 2.0, 5.0, 3.0, 4.0]);
        let both = subject(vec![rising, turns]);
        let sentence = &log.sentences(Some(&both), None)[0];
        assert!(
            sentence.contains("r = -0.76 to 0.50, so that 6 batteries"),
            "{sentence}"
        );
        assert!(
            sentence.contains("as 2.0 to 6.0 independent ones"),
            "{sentence}"
        );
        assert!(log.remark(&both).unwrap().contains("about the log"));
        // So have paired differences.
        let mut with_differences = both.clone();
        with_differences.differences =
            vec![setting("easy − fcfs", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])];
        let sentences = log.sentences(Some(&with_differences), None);
        let said = "differences in Gain (VC) of one and of the next correlate with r = 0.50, so that 6 batteries";
        assert!(
            sentences[1].starts_with(DIFFERENCES) && sentences[1].contains(said),
            "{sentences:?}"
        );
        // Three batteries have no correlation.
        let few = subject(vec![setting("fcfs", &[1.0, 2.0, 3.0])]);
        let sentence = &log.sentences(Some(&few), None)[0];
        assert!(sentence.contains("not about the log"), "{sentence}");
        assert_eq!(log.remark(&few), None);
        // What a model generates has no neighbours.
        let model = read("[workload]\nmodel = \"lublin-feitelson\"\n");
        assert!(model.sentences(Some(&both), None).is_empty());
        assert_eq!(model.remark(&both), None);
    }

    #[test]
    fn one_replayed_log_of_failures_is_named_where_any_replication_met_it() {
        let replayed = "[failures]\nsource = \"lanl\"\n";
        let sentences = read(replayed).sentences(None, None);
        assert!(
            sentences[0].ends_with("intervals do not cover other failures"),
            "{sentences:?}"
        );
        assert!(
            read("[failures]\nsource = \"generated\"\n")
                .sentences(None, None)
                .is_empty()
        );
        let quiet = Dependence::read(
            &toml::from_str(replayed).unwrap(),
            &analysis(Vec::new()),
            false,
        );
        assert!(quiet.sentences(None, None).is_empty());
    }

    #[test]
    fn drawn_excerpts_say_how_much_they_overlap_or_that_it_is_not_known() {
        let drawn = read(
            "[workload]\ntrace = \"a.swf\"\nwhole_trace = true\n[clusters]\nexcerpts = \"drawn\"\n",
        );
        let said = |replications, jobs, shared| {
            let shared = SharedJobs {
                replications,
                jobs,
                shared,
            };
            drawn.sentences(None, Some(&shared)).remove(0)
        };
        assert!(said(20, 1_000, 540).contains("overlap: 54 % of the jobs"));
        assert!(said(0, 0, 0).contains("not known, because the store has no jobs"));
    }
}
