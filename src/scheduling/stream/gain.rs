//! How much more is free than there was before an early end, while the plan moves forward.

use crate::units::Seconds;

/// Free nodes now minus free nodes before, as a step function of time.
#[derive(Debug, Default)]
pub(super) struct Gain {
    /// Breakpoints in order of time, each with the gain from there on; before the first one and from the last one on there is none.
    steps: Vec<(Seconds, i64)>,
    /// From the first to the last time with a gain above zero.
    span: Option<(Seconds, Seconds)>,
}

impl Gain {
    /// Begins with `nodes` nodes on `[from, to)` and nothing else.
    pub(super) fn begin(&mut self, from: Seconds, to: Seconds, nodes: u32) {
        self.steps.clear();
        self.steps.push((from, i64::from(nodes)));
        self.steps.push((to, 0));
        self.span = Some((from, to));
    }

    /// Where there is a gain: `[from, to)` holds all of it.
    pub(super) fn span(&self) -> Option<(Seconds, Seconds)> {
        self.span
    }

    /// More is free on `[from, to)`.
    pub(super) fn give(&mut self, from: Seconds, to: Seconds, nodes: u32) {
        self.add(from, to, i64::from(nodes));
        self.span = self.found();
    }

    /// Less is free on `[from, to)`.
    pub(super) fn take(&mut self, from: Seconds, to: Seconds, nodes: u32) {
        self.add(from, to, -i64::from(nodes));
    }

    fn add(&mut self, from: Seconds, to: Seconds, delta: i64) {
        if from >= to {
            return;
        }
        let first = self.step_at(from);
        let past = self.step_at(to);
        for step in &mut self.steps[first..past] {
            step.1 += delta;
        }
    }

    /// The place of the step at `time`, which is entered if need be.
    fn step_at(&mut self, time: Seconds) -> usize {
        let place = self.steps.partition_point(|step| step.0 < time);
        if self.steps.get(place).is_none_or(|step| step.0 > time) {
            let gain = place
                .checked_sub(1)
                .map_or(0, |before| self.steps[before].1);
            self.steps.insert(place, (time, gain));
        }
        place
    }

    fn found(&self) -> Option<(Seconds, Seconds)> {
        let first = self.steps.iter().position(|step| step.1 > 0)?;
        let last = self.steps.iter().rposition(|step| step.1 > 0)?;
        // The last step has no gain, so there is one behind.
        Some((self.steps[first].0, self.steps[last + 1].0))
    }
}
