//! Checks whether the settings of a run saw the same jobs and failures, by the hashes that are
//! stored with their simulations.

use crate::frames::{Common, Frame};
use bookahead_lab::store::PointColumns;

/// What the hashes of a run say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SameInputs {
    /// Whether it is not known of some simulations what they saw.
    pub is_unknown: bool,
    /// Whether failures follow the load in some, so that they met some of what they were handed.
    pub follow_load: bool,
    /// The axes along which points of one replication do not see the same.
    pub changes: Vec<Change>,
}

/// What an axis changes beside the settings that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The axis.
    pub axis: String,
    /// Whether its values see other jobs.
    pub jobs: bool,
    /// Whether its values see other failures.
    pub failures: bool,
}

impl Change {
    /// What is changed, in words.
    #[must_use]
    pub fn what(&self) -> &'static str {
        match (self.jobs, self.failures) {
            (true, true) => "jobs and failures",
            (true, false) => "jobs",
            (false, _) => "failures",
        }
    }
}

impl SameInputs {
    pub(super) fn of(points: &PointColumns, frame: &Frame<'_>) -> Self {
        let same_in_each = |what| frame.determines(&[Common::Replication], what);
        let all_same = same_in_each(Common::Jobs) && same_in_each(Common::Failures);
        let axes = if all_same { 0 } else { points.axes.len() };
        let mut changes = Vec::new();
        for axis in 0..axes {
            // Everything else.
            let others = (0..points.axes.len()).filter(|other| *other != axis);
            let others = others.map(Common::Axis).chain([Common::Replication]);
            let others: Vec<Common> = others.collect();
            let (jobs, failures) = (
                !frame.determines(&others, Common::Jobs),
                !frame.determines(&others, Common::Failures),
            );
            if jobs || failures {
                changes.push(Change {
                    axis: points.axes[axis].axis.key.clone(),
                    jobs,
                    failures,
                });
            }
        }
        Self {
            is_unknown: points.seen.iter().any(|seen| !seen.is_known())
                // Points of one simulation saw the same, whatever that was.
                && points.simulation.iter().any(|own| *own != points.simulation[0]),
            follow_load: points.seen.iter().any(|seen| seen.failures_follow_load()),
            changes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Analysis, STRATEGY_AXIS};
    use bookahead_lab::store::{RunSelector, Store};
    use bookahead_lab::sweep::Seen;
    use bookahead_studies::STUDIES;
    use bookahead_testutils::runs::{axis, finished, point, record, result, seen, text, write_run};

    /// A run of a baseline and a strategy that overbooks, which saw this in their two replications,
    /// and other results in each of them.
    fn analysed(baseline: [Seen; 2], overbooking: [Seen; 2]) -> Analysis {
        let jobs = [3, 4];
        let with = |both: [Seen; 2]| [(both[0], jobs[0]), (both[1], jobs[1])];
        analysed_with(&[with(baseline), with(overbooking)])
    }

    /// The same with as many replications, and so many jobs in each.
    fn analysed_with<const N: usize>(runs: &[[(Seen, u32); N]; 2]) -> Analysis {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let strategies = ["heuristic-planning", "heuristic-overbooking"];
        let mut simulations = Vec::new();
        for (strategy, replications) in strategies.into_iter().zip(runs) {
            for (replication, (seen, jobs)) in (0..).zip(*replications) {
                let id = format!("{strategy}{replication}");
                let mut result = result(jobs);
                result.seen = seen;
                let points = vec![point(
                    &id,
                    &[(STRATEGY_AXIS, text(strategy))],
                    replication,
                    1.0,
                )];
                simulations.push(finished(&id, strategy, replication, result, points));
            }
        }
        let axes = vec![axis(STRATEGY_AXIS, &strategies.map(text))];
        write_run(&path, &record("seen", axes, 2 * N as u64), simulations);
        let store = Store::open_read_only(STUDIES, &path).unwrap();
        let run = store.run(&RunSelector::Latest).unwrap();
        Analysis::new(&store.points(run.id).unwrap()).unwrap()
    }

    #[test]
    fn replications_that_repeat_one_result_count_once() {
        let (one, two) = (seen("one", "some"), seen("two", "some"));
        let counts = |analysis: &Analysis| -> Vec<u32> {
            let combinations = analysis.combinations.iter();
            let gains = combinations.map(|combination| combination.estimates[0].unwrap());
            gains.map(|gain| gain.count).collect()
        };
        // Everything five times.
        let same = analysed_with(&[[(one, 3); 5]; 2]);
        assert_eq!(counts(&same), [1, 1]);
        assert_eq!((pairs(&same), same.repetitions), (Some(1), 8));
        // The same jobs with other results (what a strategy draws) are other simulations, and so
        // are other jobs with the same result. A baseline that draws nothing is one, and has its
        // pair each time.
        let drawn = [(one, 3), (one, 4), (one, 3), (one, 6), (one, 5)];
        let mixed = analysed_with(&[[(one, 3); 5], drawn]);
        assert_eq!(counts(&mixed), [1, 4]);
        assert_eq!((pairs(&mixed), mixed.repetitions), (Some(4), 5));
        let other_jobs = analysed_with(&[[(one, 3), (two, 3)], [(one, 3), (two, 3)]]);
        assert_eq!(
            (counts(&other_jobs), other_jobs.repetitions),
            (vec![2, 2], 0)
        );
    }

    fn pairs(analysis: &Analysis) -> Option<u32> {
        let mut compared = analysis.combinations.iter();
        compared.find_map(|combination| Some(combination.additional?.difference.count))
    }

    #[test]
    fn draws_of_which_the_load_takes_some_are_told_from_failures_that_all_meet() {
        let drawn = seen("one", "load0123456789");
        let by_load = analysed([drawn; 2], [drawn; 2]);
        assert!(by_load.same_inputs.follow_load && by_load.same_inputs.changes.is_empty());
    }

    #[test]
    fn a_strategy_is_compared_with_its_baseline_where_both_saw_the_same_and_else_it_is_said_what_differs()
     {
        let (one, two) = (seen("one", "some"), seen("two", "some"));
        let same = analysed([one, two], [one, two]);
        assert_eq!((pairs(&same), same.apart), (Some(2), 0));
        assert_eq!(same.same_inputs, SameInputs::default());
        // Replication 1 met other failures.
        let other = analysed([one, two], [one, seen("two", "others")]);
        assert_eq!((pairs(&other), other.apart), (Some(1), 1));
        let change = &other.same_inputs.changes[0];
        assert_eq!(
            (change.axis.as_str(), change.what()),
            (STRATEGY_AXIS, "failures")
        );
        // The jobs of the replications have changed places.
        let swapped = analysed([one, two], [two, one]);
        assert_eq!((pairs(&swapped), swapped.apart), (None, 2));
        assert_eq!(swapped.same_inputs.changes[0].what(), "jobs");
    }
}
