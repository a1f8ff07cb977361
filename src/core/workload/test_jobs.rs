//! Jobs that only test the machine.

use serde::{Deserialize, Serialize};

/// Which jobs count as tests of the machine, and are dropped (Birkenheuer 2012, §4.2.2: one node,
/// the default of ten minutes, over as soon as `date` or `hostname` is). One node is part of the
/// rule. The dissertation names no bound of the run time; 5 s is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestJobs {
    /// What they ask for, in seconds; 0 for whatever it is.
    pub estimate: u32,
    /// How long they run at most, in seconds.
    pub longest: u32,
}

impl TestJobs {
    /// Whether a job of so many nodes, with its estimate and run time in seconds, is one.
    #[must_use]
    pub fn include(self, nodes: i64, estimate: i64, run: i64) -> bool {
        let asks_for_it = self.estimate == 0 || estimate == i64::from(self.estimate);
        nodes == 1 && asks_for_it && run <= i64::from(self.longest)
    }
}
