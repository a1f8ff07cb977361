//! What a sweep runs, rung after rung: everything at once, or what its rule still asks for.
//!
//! A course is a function of the sweep and of the results of complete rungs. So a sweep that was
//! killed and goes on, or runs with another number of workers, runs the same points and decides the
//! same.

mod select;
mod stop;
#[cfg(test)]
mod tests;

use rand::seq::SliceRandom as _;

use self::select::SelectCourse;
use self::stop::StopCourse;
use super::results::SinkError;
use super::spec::{SimulationSpec, Sweep};
use crate::adaptive::Rule;
use crate::random::stream;
use crate::workload::WorkloadSource;

/// Points that are run before the next decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Its number, from 1.
    pub number: u32,
    /// Indices into [`Sweep::points`], ascending.
    pub points: Vec<usize>,
    /// Whether its results confirm a selection that no decision reads any more.
    pub confirms: bool,
}

/// What was decided of a combination of axis values after a rung.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The rung.
    pub rung: u32,
    /// The quantity.
    pub quantity: String,
    /// The place in the sweep of the replication of the combination that was run first.
    pub place: u32,
    /// Replications that the decision read.
    pub replications: u32,
    /// Their mean; `None` where there is none.
    pub mean: Option<f64>,
    /// What is held against the bound: half of the interval's width, or how far the mean lies
    /// behind the one that speaks most against it; of a refined optimum its place.
    pub statistic: Option<f64>,
    /// The bound: the width that is wanted, or how far behind it may lie; of a refined optimum half
    /// of the interval of its place.
    pub bound: Option<f64>,
    /// What follows.
    pub verdict: Verdict,
}

/// What follows from a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has further replications, or is compared with further values.
    Kept,
    /// It has none: it lies further behind another one than is allowed.
    Eliminated,
    /// It is within the indifference zone of the best, with the wanted probability.
    Selected,
    /// The most replications are done and it is still in; another one has the better mean.
    Survived,
    /// The same, and it has the best mean.
    Leading,
    /// Its interval is narrow enough.
    Narrow,
    /// The most replications are done and its interval is not narrow enough.
    Wide,
    /// A replication has no value of the quantity, so that nothing can be decided.
    Undefined,
    /// Selected, and estimated by replications that no decision read.
    Confirmed,
    /// The same of what the selected value is compared with.
    Baseline,
    /// Where the optimum of a refined axis lies, by the parabola through the values around it.
    Optimum,
}

impl Verdict {
    /// All of them, in the order of their codes from 0.
    pub const ALL: [Self; 11] = [
        Self::Kept,
        Self::Eliminated,
        Self::Selected,
        Self::Survived,
        Self::Leading,
        Self::Narrow,
        Self::Wide,
        Self::Undefined,
        Self::Confirmed,
        Self::Baseline,
        Self::Optimum,
    ];

    /// Its name in the store and in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Eliminated => "eliminated",
            Self::Selected => "selected",
            Self::Survived => "survived",
            Self::Leading => "leading",
            Self::Narrow => "narrow enough",
            Self::Wide => "not narrow enough",
            Self::Undefined => "undefined",
            Self::Confirmed => "confirmed",
            Self::Baseline => "baseline",
            Self::Optimum => "optimum",
        }
    }
}

/// How a course asks for results: the values of a quantity at points of the sweep, in their order;
/// `None` where a point failed or has none.
pub type Values<'a> = dyn Fn(&str, &[usize]) -> Result<Vec<Option<f64>>, SinkError> + 'a;

/// What a sweep runs, rung after rung.
#[derive(Debug)]
pub enum Course {
    /// Everything at once.
    Whole {
        /// Points of the sweep.
        points: usize,
        /// Whether they are done.
        is_over: bool,
    },
    /// Until intervals are narrow.
    Stop(StopCourse),
    /// Until the best values are selected.
    Select(SelectCourse),
}

impl Course {
    /// The course of a sweep from its beginning.
    #[must_use]
    pub fn new(sweep: &Sweep) -> Self {
        match &sweep.rule {
            None => Self::Whole {
                points: sweep.points.len(),
                is_over: false,
            },
            Some(Rule::Stop(rule)) => Self::Stop(StopCourse::new(sweep, rule.clone())),
            Some(Rule::Select(rule)) => Self::Select(SelectCourse::new(sweep, rule.clone())),
        }
    }

    /// What is run next; `None` at the end.
    #[must_use]
    pub fn rung(&self) -> Option<Rung> {
        match self {
            Self::Whole { points, is_over } => (!is_over).then(|| Rung {
                number: 1,
                points: (0..*points).collect(),
                confirms: false,
            }),
            Self::Stop(course) => course.rung(),
            Self::Select(course) => course.rung(),
        }
    }

    /// Decides what follows from the rung that is complete now.
    ///
    /// # Errors
    ///
    /// When its results cannot be read.
    pub fn decide(&mut self, values: &Values<'_>) -> Result<Vec<Decision>, SinkError> {
        match self {
            Self::Whole { is_over, .. } => {
                *is_over = true;
                Ok(Vec::new())
            }
            Self::Stop(course) => course.decide(values),
            Self::Select(course) => course.decide(values),
        }
    }
}

/// The replications of a sweep in the order in which a rule takes them: as they are numbered where
/// each is a fresh draw, else (batteries of one log, neighbours alike) shuffled by the seed.
#[must_use]
pub fn replication_order(sweep: &Sweep) -> Vec<u32> {
    let mut order: Vec<u32> = (0..sweep.replications).collect();
    let kinds = sweep.simulations.kinds();
    let are_draws = |kind: &SimulationSpec| {
        let workload = &kind.workload;
        workload.fresh && !matches!(workload.source, WorkloadSource::Trace { .. })
    };
    let are_fresh = kinds.iter().all(are_draws);
    if !are_fresh {
        order.shuffle(&mut stream(sweep.seed, "", 0, "order of replications"));
    }
    order
}

/// A combination of axis values.
#[derive(Clone, Copy, Debug)]
struct Combination {
    /// The index of its replication 0 in [`Sweep::points`]; the others follow.
    first: usize,
    /// The place in the sweep of the replication that is run first.
    place: u32,
}

impl Combination {
    /// All of them, where replications are taken in this order.
    fn all(sweep: &Sweep, order: &[u32]) -> Vec<Self> {
        let run_first = order.first().map_or(0, |replication| *replication as usize);
        let firsts = (0..sweep.points.len()).step_by(sweep.replications.max(1) as usize);
        firsts
            .map(|first| Self {
                first,
                place: sweep.points[first + run_first].place,
            })
            .collect()
    }

    /// Its points at these replications.
    fn points<'r>(self, replications: &'r [u32]) -> impl Iterator<Item = usize> + 'r {
        let points = replications.iter();
        points.map(move |replication| self.first + *replication as usize)
    }

    /// The values of a quantity at these replications; `None` where one has none.
    fn values(
        self,
        quantity: &str,
        replications: &[u32],
        values: &Values<'_>,
    ) -> Result<Option<Vec<f64>>, SinkError> {
        let points: Vec<usize> = self.points(replications).collect();
        Ok(values(quantity, &points)?.into_iter().collect())
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// How many replications the next look has after `done`.
fn next_look(done: u32, least: u32, rung: u32, most: u32) -> u32 {
    if done < least {
        least.min(most)
    } else {
        done.saturating_add(rung).min(most)
    }
}
