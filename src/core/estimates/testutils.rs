//! Jobs for the tests of what is learned from them.

use crate::units::{Nodes, Seconds};
use crate::workload::{Job, JobId};

/// A job of this user that asked for `estimate` and ran for `runtime` seconds.
pub(super) fn job(estimate: i64, runtime: i64, nodes: u32, user: i64) -> Job {
    Job::rigid(JobId(0), Seconds(0), Nodes(nodes), Seconds(estimate))
        .running_for(Seconds(runtime))
        .due_by(Seconds(2 * estimate))
        .of_user(user)
}
