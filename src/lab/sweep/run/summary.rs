//! What became of a sweep, as numbers, as an exit code and in words.

use std::fmt;
use std::time::Duration;

use super::Plan;
use crate::sweep::actors::Tally;
use crate::sweep::results::RunState;

/// What became of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepSummary {
    /// The run's number in the store; `None` where nothing was kept.
    pub run: Option<i64>,
    /// How it ended.
    pub state: RunState,
    /// Points of the sweep, or of the share.
    pub points: usize,
    /// Of those, points that were done before.
    pub done_before: usize,
    /// Points that failed before and were not tried again.
    pub failed_before: usize,
    /// Points whose simulation the store had already, of another sweep or at another price.
    pub read_off: usize,
    /// What was done now.
    pub tally: Tally,
    /// How long it took.
    pub wall: Duration,
    /// Everything was computed anew.
    pub fresh: bool,
}

impl SweepSummary {
    /// That of a sweep that has not begun.
    pub(super) fn nothing(fresh: bool) -> Self {
        Self {
            run: None,
            state: RunState::Failed,
            points: 0,
            done_before: 0,
            failed_before: 0,
            read_off: 0,
            tally: Tally::default(),
            wall: Duration::ZERO,
            fresh,
        }
    }

    /// Adds the points of a plan, and what became of them.
    pub(super) fn add(&mut self, plan: &Plan, tally: Tally) {
        self.points += plan.points;
        self.done_before += plan.done;
        self.failed_before += plan
            .failed
            .iter()
            .map(|task| task.points.len())
            .sum::<usize>();
        self.read_off += plan.read_off.min(tally.adopted_points);
        self.tally += tally;
    }

    /// The exit code of a program that ran this sweep: 0 done, 1 some points failed, 130
    /// interrupted.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.state {
            RunState::Interrupted => 130,
            RunState::Done if self.tally.failed_points + self.failed_before == 0 => 0,
            RunState::Done | RunState::Failed => 1,
        }
    }
}

impl fmt::Display for SweepSummary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally {
            simulations,
            points,
            failed_simulations,
            failed_points,
            adopted_points,
            left_out,
        } = self.tally;
        match self.state {
            RunState::Interrupted => write!(formatter, "interrupted")?,
            RunState::Done | RunState::Failed => write!(formatter, "done")?,
        }
        write!(
            formatter,
            " after {:.1} s: {points} points from {simulations} simulations",
            self.wall.as_secs_f64()
        )?;
        if self.done_before > 0 {
            write!(formatter, ", {} points done before", self.done_before)?;
        }
        if self.read_off > 0 {
            write!(
                formatter,
                ", {} points read off simulations that the store had",
                self.read_off
            )?;
        }
        if adopted_points > self.read_off {
            write!(
                formatter,
                ", {} points done by another program meanwhile",
                adopted_points - self.read_off
            )?;
        }
        if self.failed_before > 0 {
            write!(
                formatter,
                ", {} points failed before (--retry-failed tries them again)",
                self.failed_before
            )?;
        }
        if failed_points > 0 {
            write!(
                formatter,
                ", {failed_points} points failed with {failed_simulations} simulations"
            )?;
        }
        if left_out > 0 {
            write!(
                formatter,
                "; all of that is kept, {left_out} simulations are left: run the same command again{} to go on",
                if self.fresh { ", without --fresh," } else { "" }
            )?;
        }
        Ok(())
    }
}
