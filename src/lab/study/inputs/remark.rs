//! What a reader of results should know of what the simulations read, in sentences that are the
//! same wherever they stand.

use std::fmt;

use super::{RecordLoss, SimulatedMachine};

/// A workload that lacks more than this share of its records, or a machine that more than this
/// share of its jobs do not fit, is another one than its name says.
const WORTH_A_WARNING: f64 = 0.01;

/// Whether so many of so many are more than may be left out without a warning.
pub(super) fn is_much(part: u64, whole: u64) -> bool {
    part as f64 > WORTH_A_WARNING * whole as f64
}

/// One sentence about what simulations read. Shown as a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRemark {
    /// Whether results may not be what they seem; else it is to be known.
    pub is_warning: bool,
    /// The sentence, without a full stop.
    pub text: String,
}

impl fmt::Display for InputRemark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beginning = match self.is_warning {
            true => "warning",
            false => "note",
        };
        write!(formatter, "{beginning}: {}", self.text)
    }
}

/// What is to be said of the workloads and the machines of a run: warnings, then notes.
#[must_use]
pub fn remarks_on(losses: &[RecordLoss], machines: &[SimulatedMachine]) -> Vec<InputRemark> {
    let of_losses = losses.iter().filter(|loss| loss.is_worth_a_warning());
    let of_losses = of_losses.map(|loss| InputRemark {
        is_warning: true,
        text: loss.to_string(),
    });
    let of_machines = machines.iter().flat_map(SimulatedMachine::remarks);
    let mut remarks: Vec<InputRemark> = of_losses.chain(of_machines).collect();
    remarks.sort_by_key(|remark| !remark.is_warning);
    remarks
}
