//! What is to be done of a sweep, said before it begins.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use super::{SweepError, SweepOptions};
use crate::study::Studies;
use crate::sweep::cost::{CostModel, megabytes, wall_time};
use crate::sweep::course::Course;
use crate::sweep::digest::Identity;
use crate::sweep::results::{EarlierWork, OutcomeDetail};
use crate::sweep::shard::Shard;
use crate::sweep::sink::ResultStore;
use crate::sweep::spec::{Sweep, Task};
use crate::sweep::tasks::tasks;

/// What is to be done, said before it begins.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Points of the sweep, or of the share.
    pub points: usize,
    /// Their simulations.
    pub simulations: usize,
    /// Which share of the sweep this is, with the points of all shares.
    pub shard: Option<(Shard, usize)>,
    /// Points that are done already.
    pub done: usize,
    /// Which they are: indices into [`Sweep::points`].
    pub done_points: Vec<usize>,
    /// What is left, dearest first.
    pub tasks: Vec<Task>,
    /// What failed before and is not tried again.
    pub failed: Vec<Task>,
    /// Points of tasks whose simulation is done already, in another sweep or at another price:
    /// nothing is left but to note them.
    pub read_off: usize,
    /// How many of the tasks a live process has under way: they come last.
    pub elsewhere: usize,
    /// What else a person should know: results of other programs, inputs that have changed.
    pub remarks: Vec<String>,
    /// Expected wall time.
    pub wall: Duration,
    /// Expected growth of the store.
    pub megabytes: f64,
    /// Workers that the wall time is for.
    pub workers: usize,
    /// Points and simulations that a rule may ask for at most; the others are those of its first
    /// rung, which are the least. `None` where there is no rule.
    pub most: Option<(usize, usize)>,
}

/// What the store knows of a sweep before its run begins.
#[derive(Debug)]
pub struct Known {
    /// The points that are done.
    pub done: HashSet<Identity>,
    /// What else is known of earlier work.
    pub earlier: EarlierWork,
    /// What simulations cost.
    pub costs: CostModel,
}

impl Known {
    /// What this store knows.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn of(
        sweep: &Sweep,
        store: &dyn ResultStore,
        options: &SweepOptions,
    ) -> Result<Self, SweepError> {
        let done = if options.fresh {
            HashSet::new()
        } else {
            store
                .done(sweep, options.outcomes)
                .map_err(SweepError::Store)?
        };
        Ok(Self {
            done,
            earlier: store.earlier_work(sweep).map_err(SweepError::Store)?,
            costs: CostModel::new(store.seconds_per_job()),
        })
    }
}

impl Plan {
    /// Plans those of a sweep's points (by index) that are not among `done`, in the light of
    /// earlier work.
    #[must_use]
    pub fn new(sweep: &Sweep, points: &[usize], known: &Known, options: &SweepOptions) -> Self {
        let Known {
            done,
            earlier,
            costs,
        } = known;
        let id = |task: &Task| &sweep.simulation_ids[task.simulation];
        let known = !sweep.simulation_ids.is_empty();
        let share = options.shard.map(|shard| shard.points(sweep));
        let is_ours = |point: &usize| share.as_ref().is_none_or(|share| share.contains(point));
        let (failed, mut tasks): (Vec<Task>, Vec<Task>) = tasks(sweep, points, done, costs)
            .into_iter()
            .filter(|task| task.points.first().is_some_and(is_ours))
            .partition(|task| {
                known
                    && !options.retry_failed
                    && !options.fresh
                    && earlier.failed.contains(id(task))
            });
        if known && !options.fresh && !earlier.elsewhere.is_empty() {
            // Another program works on the same points from the dear end: this one begins at the
            // cheap end, so that they meet once.
            tasks.reverse();
            tasks.sort_by_key(|task| earlier.elsewhere.contains(id(task)));
        }
        let elsewhere = tasks
            .iter()
            .filter(|task| known && earlier.elsewhere.contains(id(task)))
            .count();
        let is_done = |task: &Task| {
            let kept = earlier.done.get(id(task));
            known && !options.fresh && kept.is_some_and(|kept| *kept >= options.outcomes)
        };
        let (read_off, open): (Vec<&Task>, Vec<&Task>) =
            tasks.iter().partition(|task| is_done(task));
        let read_off = read_off.iter().map(|task| task.points.len()).sum();
        let seconds: Vec<f64> = open.iter().map(|task| task.seconds).collect();
        let ours = || points.iter().copied().filter(is_ours);
        let done_points: Vec<usize> = ours()
            .filter(|point| done.contains(&sweep.points[*point].id))
            .collect();
        let mut is_read = vec![false; sweep.simulations.len()];
        for point in ours() {
            is_read[sweep.points[point].simulation] = true;
        }
        Self {
            points: ours().count(),
            simulations: is_read.iter().filter(|is_read| **is_read).count(),
            shard: options.shard.map(|shard| (shard, sweep.points.len())),
            done: done_points.len(),
            done_points,
            wall: wall_time(&seconds, options.workers),
            megabytes: megabytes(
                open.iter()
                    .map(|task| sweep.simulations.kind(task.simulation)),
                options.outcomes,
            ),
            read_off,
            remarks: remarks(earlier, options),
            most: None,
            failed,
            elsewhere,
            tasks,
            workers: options.workers,
        }
    }
}

fn remarks(earlier: &EarlierWork, options: &SweepOptions) -> Vec<String> {
    let mut remarks = Vec::new();
    if !options.fresh {
        for (program, simulations) in &earlier.other_programs {
            remarks.push(format!(
                "{simulations} simulations that are done already were computed by bookahead {program}, this is {}; \
                 --fresh computes everything anew and leaves those to the older runs",
                program_of(options.studies)
            ));
        }
    }
    for source in &earlier.changed_inputs {
        remarks.push(format!(
            "the content of `{source}` has changed since the last run that read it: its points are new, those of the old \
             content stay with the older runs"
        ));
    }
    remarks
}

fn program_of(studies: Studies) -> String {
    let version = env!("CARGO_PKG_VERSION");
    match studies.commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left: usize = self.tasks.iter().map(|task| task.points.len()).sum();
        if let Some((shard, all)) = self.shard {
            write!(formatter, "share {shard} of {all} points: ")?;
        }
        write!(
            formatter,
            "{} points ({} simulations), {} points done already, {left} points ({} simulations) to do: about {} \
             with {} {}, about {:.1} MB",
            self.points,
            self.simulations,
            self.done,
            self.tasks.len(),
            about(self.wall),
            self.workers,
            if self.workers == 1 {
                "worker"
            } else {
                "workers"
            },
            self.megabytes
        )?;
        if let Some((points, simulations)) = self.most {
            write!(
                formatter,
                " in the first rung of its rule, which is the least; at most {points} points \
                 ({simulations} simulations)"
            )?;
        }
        let failed: usize = self.failed.iter().map(|task| task.points.len()).sum();
        if failed > 0 {
            write!(
                formatter,
                "; {failed} points failed before and are not tried again without --retry-failed"
            )?;
        }
        if self.elsewhere > 0 {
            write!(
                formatter,
                "; another program has {} of the simulations under way: they come last",
                self.elsewhere
            )?;
        }
        Ok(())
    }
}

/// A span in words that do not pretend to be exact.
#[must_use]
pub fn about(span: Duration) -> String {
    match span.as_secs() {
        0 => "a second".to_owned(),
        seconds @ 1..120 => format!("{} s", seconds + 1),
        seconds @ 120..7200 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

/// Which points are done in the store, and what is left to do: under a rule of its first rung, with
/// what it may ask for at most.
///
/// # Errors
///
/// When the store cannot be read, or the rule cannot be followed here.
pub fn plan(
    sweep: &Sweep,
    store: &dyn ResultStore,
    options: &SweepOptions,
) -> Result<Plan, SweepError> {
    require_results(sweep, options)?;
    let known = Known::of(sweep, store, options)?;
    let rung = Course::new(sweep).rung();
    let points = rung.map(|rung| rung.points).unwrap_or_default();
    let mut plan = Plan::new(sweep, &points, &known, options);
    plan.most = (sweep.rule.as_ref()).map(|_| (sweep.points.len(), sweep.simulations.len()));
    Ok(plan)
}

/// Whether the results of a sweep come to one store, where it stops by a rule that reads them.
///
/// # Errors
///
/// When they are kept in shares, or not at all.
pub fn require_results(sweep: &Sweep, options: &SweepOptions) -> Result<(), SweepError> {
    if sweep.rule.is_none() {
        return Ok(());
    }
    if options.shard.is_some() {
        return require_shares(sweep);
    }
    if options.outcomes == OutcomeDetail::None {
        let reason = "a sweep that stops by a rule reads its results: keep them with --outcomes metrics or all";
        return Err(SweepError::Rule(reason.to_owned()));
    }
    Ok(())
}

/// Whether a sweep can be divided into shares, each with a store of its own.
///
/// # Errors
///
/// When it stops by a rule.
pub fn require_shares(sweep: &Sweep) -> Result<(), SweepError> {
    match sweep.rule {
        None => Ok(()),
        Some(_) => Err(SweepError::Rule(
            "a sweep that stops by a rule needs one store that all its results come to: run it without shares \
             (several programs may work on it with the same --store)"
                .to_owned(),
        )),
    }
}
