//! On whom the cost of slots falls that several tasks run in.

use super::{BookedShare, Ledger, Run};
use crate::provisioning::{BoughtSlot, TaskFate};

impl Ledger {
    /// What of the cost of `slots` falls on each run: of a slot by the processor-time that runs
    /// used of it, by what was planned where none did.
    pub(super) fn costs(&self, slots: &[BoughtSlot]) -> Vec<f64> {
        let planned = |run: &Run, share: &BookedShare| {
            let span = run.planned_end - run.run.start;
            share.nodes.for_span(span).0 as f64
        };
        let mut planned_of = vec![0.0; slots.len()];
        for run in &self.runs {
            for share in &run.shares {
                planned_of[share.slot] += planned(run, share);
            }
        }
        let cost_of = |run: &Run, share: &BookedShare| {
            let slot = &slots[share.slot];
            let (part, whole) = if slot.used.0 == 0 {
                (planned(run, share), planned_of[share.slot])
            } else if run.run.fate == TaskFate::Abandoned {
                return 0.0;
            } else {
                let used = share.nodes.for_span(run.run.end - run.run.start);
                (used.0 as f64, slot.used.0 as f64)
            };
            if whole > 0.0 {
                slot.cost * part / whole
            } else {
                0.0
            }
        };
        let runs = self.runs.iter();
        runs.map(|run| run.shares.iter().map(|share| cost_of(run, share)).sum())
            .collect()
    }
}
