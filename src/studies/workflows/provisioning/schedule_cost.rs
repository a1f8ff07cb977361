//! What a plan for several applications is judged by beside its cost (Singh 2008, §4.9; §4.2 leaves
//! room for other measures of performance than the makespan).

use std::ops::Range;

use bookahead_core::units::Seconds;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use super::{Application, TaskPlacement};

/// SC of several applications that are planned as one. Of a single one all are its makespan.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ScheduleCost {
    /// When the last of them ends: the artificial exit of the thesis.
    #[default]
    LastEnd,
    /// When they end in the mean.
    MeanEnd,
    /// The largest stretch, an application's end over its makespan alone, times the longest of
    /// these makespans: the time after which the longest would end if it fared like the worst.
    LargestStretch,
}

impl ScheduleCost {
    /// Whether it is the one that is not written down.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Several applications in one, and by what a plan for them is judged.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judged {
    by: ScheduleCost,
    /// The application of each task.
    of_task: Vec<usize>,
    /// The longest path of each application.
    paths: Vec<Seconds>,
    /// What each application takes alone, or its longest path where that is not known.
    alone: Vec<Seconds>,
}

impl Judged {
    /// Of each application that has tasks here: when the last of them ends, since `submitted`, and
    /// what it takes alone.
    fn ends(
        &self,
        placements: &[TaskPlacement],
        submitted: Seconds,
    ) -> impl Iterator<Item = (Seconds, Seconds)> {
        let mut ends: Vec<Option<Seconds>> = vec![None; self.paths.len()];
        for (placed, &application) in placements.iter().zip(&self.of_task) {
            let end = ends[application].get_or_insert(placed.end);
            *end = (*end).max(placed.end);
        }
        let ends = ends.into_iter().zip(&self.alone);
        ends.filter_map(move |(end, alone)| Some((end? - submitted, *alone)))
    }

    /// SC of these ends, each with what its application takes alone; in whole seconds, rounded
    /// down.
    fn cost(&self, ends: impl Iterator<Item = (Seconds, Seconds)>) -> Seconds {
        let longest = self.alone.iter().copied().max().unwrap_or(Seconds(1));
        let (mut sum, mut count, mut worst) = (0, 0, Seconds::ZERO);
        for (end, alone) in ends {
            sum += end.0;
            count += 1;
            worst = worst.max(match self.by {
                ScheduleCost::LargestStretch => {
                    let as_long = i128::from(end.0) * i128::from(longest.0);
                    Seconds(i64::try_from(as_long / i128::from(alone.0.max(1))).unwrap_or(i64::MAX))
                }
                ScheduleCost::LastEnd | ScheduleCost::MeanEnd => end,
            });
        }
        match self.by {
            ScheduleCost::MeanEnd => Seconds(sum / i64::max(count, 1)),
            ScheduleCost::LastEnd | ScheduleCost::LargestStretch => worst,
        }
    }
}

impl Application {
    /// The same application, whose tasks `parts` are applications of their own that take so long
    /// alone, judged by this. Where that is not known it is the longest path.
    #[must_use]
    pub fn judged_by(
        self,
        by: ScheduleCost,
        parts: &[Range<usize>],
        alone: &[Option<Seconds>],
    ) -> Self {
        if by.is_default() || parts.is_empty() {
            return self;
        }
        let mut of_task = vec![0; self.tasks().len()];
        for (application, part) in parts.iter().enumerate() {
            of_task[part.clone()].fill(application);
        }
        let paths = parts.iter().map(|part| self.part(part).0.longest_path());
        let paths: Vec<Seconds> = paths.collect();
        let known = paths.iter().enumerate().map(|(application, path)| {
            let alone = alone.get(application).copied().flatten();
            alone.unwrap_or(*path)
        });
        let judged = Judged {
            by,
            of_task,
            alone: known.collect(),
            paths,
        };
        self.with_judged(Some(judged))
    }

    /// SC of a plan that is submitted at `submitted`: the makespan, or what else its several
    /// applications are judged by.
    #[must_use]
    pub fn schedule_cost(&self, placements: &[TaskPlacement], submitted: Seconds) -> Seconds {
        match self.judged() {
            Some(judged) => judged.cost(judged.ends(placements, submitted)),
            None => Self::makespan(placements, submitted),
        }
    }

    /// From `submitted` to the end of the last of these tasks.
    #[must_use]
    pub fn makespan(placements: &[TaskPlacement], submitted: Seconds) -> Seconds {
        let finish = placements.iter().map(|placed| placed.end).max();
        finish.unwrap_or(submitted) - submitted
    }

    /// A bound of SC, each task at its fastest site and without transfers: no plan has less.
    #[must_use]
    pub fn least_schedule_cost(&self) -> Seconds {
        match self.judged() {
            Some(judged) => {
                let ends = judged.paths.iter().zip(&judged.alone);
                judged.cost(ends.map(|(path, alone)| (*path, *alone)))
            }
            None => self.longest_path(),
        }
    }
}

impl Judged {
    /// The same for some of the tasks: those that stood here.
    pub(super) fn of_tasks(&self, kept: &[usize]) -> Self {
        Self {
            of_task: kept.iter().map(|&task| self.of_task[task]).collect(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use bookahead_core::units::Nodes;

    use super::*;
    use crate::provisioning::{ApplicationTask, Dependency};

    fn task(hours: i64, parent: Option<usize>) -> ApplicationTask {
        let edge = |parent| Dependency {
            parent,
            transfer: Seconds::ZERO,
        };
        ApplicationTask {
            nodes: Nodes(4),
            runtimes: vec![Seconds(3_600 * hours)],
            parents: parent.map(edge).into_iter().collect(),
        }
    }

    /// X, one task of an hour, and Y, a chain of two, all as wide as the machine (Singh 2008,
    /// §4.9).
    fn both() -> Application {
        let tasks = vec![task(1, None), task(1, None), task(1, Some(1))];
        Application::new(tasks, vec![1, 0, 2])
    }

    fn hours(by: ScheduleCost, ends: [i64; 3]) -> f64 {
        let application = both().judged_by(by, &[0..1, 1..3], &[]);
        let placed = ends.map(|end| TaskPlacement {
            site: 0,
            start: Seconds(3_600 * (end + 9)),
            end: Seconds(3_600 * (end + 10)),
        });
        let cost = application.schedule_cost(&placed, Seconds(36_000));
        // What is left of it is judged in the same way.
        let (rest, _) = application.rest(|task| task != 1, |_| (0, Seconds::ZERO));
        let left = [placed[0], placed[2]];
        assert_eq!(rest.schedule_cost(&left, Seconds(36_000)), cost);
        cost.hours()
    }

    #[test]
    fn of_equal_last_ends_the_mean_and_the_stretch_tell_who_waits() {
        // In the order of ranks X ends after 2 h and Y after 3; with X first after 1 and 3.
        let by_rank = [2, 1, 3];
        let x_first = [1, 2, 3];
        for (by, ranked, first) in [
            (ScheduleCost::LastEnd, 3.0, 3.0),
            (ScheduleCost::MeanEnd, 2.5, 2.0),
            // X twice as late as alone, and Y half as long again; times the two hours of Y.
            (ScheduleCost::LargestStretch, 4.0, 3.0),
        ] {
            assert_eq!(
                (hours(by, by_rank), hours(by, x_first)),
                (ranked, first),
                "{by:?}"
            );
        }
    }

    #[test]
    fn a_stretch_is_of_what_an_application_takes_alone() {
        // Alone X waits an hour for its nodes, and Y takes no longer than its path.
        let alone = [Some(Seconds(7_200)), None];
        let by = ScheduleCost::LargestStretch;
        let application = both().judged_by(by, &[0..1, 1..3], &alone);
        let end = |hours: i64| TaskPlacement {
            site: 0,
            start: Seconds(3_600 * (hours - 1)),
            end: Seconds(3_600 * hours),
        };
        let cost = application.schedule_cost(&[end(2), end(1), end(3)], Seconds(0));
        assert_eq!(cost.hours(), 3.0);
        assert_eq!(application.least_schedule_cost().hours(), 2.0);
    }

    #[test]
    fn no_plan_costs_less_than_the_longest_paths() {
        for (by, least) in [
            (ScheduleCost::LastEnd, 2.0),
            (ScheduleCost::MeanEnd, 1.5),
            (ScheduleCost::LargestStretch, 2.0),
        ] {
            let application = both().judged_by(by, &[0..1, 1..3], &[]);
            assert_eq!(application.least_schedule_cost().hours(), least, "{by:?}");
        }
    }

    #[test]
    fn of_one_application_every_measure_is_its_makespan() {
        for by in ScheduleCost::VARIANTS {
            assert_eq!(both().judged_by(*by, &[], &[]), both());
        }
    }
}
