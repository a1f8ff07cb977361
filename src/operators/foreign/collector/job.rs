//! One job of a foreign log.

/// A job as a foreign log tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForeignJob {
    /// The job's number; with `task` it says which rows are of one job.
    pub number: Option<u64>,
    /// The task of an array or the component of a heterogeneous job, where numbers are shared.
    pub task: u32,
    /// The line or row, from 1: unique, and rising with the log.
    pub line: u64,
    /// Seconds since 1970, or since the log's own beginning.
    pub submit: i64,
    /// Seconds from submission to start, −1 where it is not known.
    pub wait: i64,
    /// Seconds from start to end.
    pub run: i64,
    /// The limit in seconds, −1 without one.
    pub requested_time: i64,
    /// Kilobytes a processor, −1 where it is not known.
    pub requested_memory: f64,
    /// Processors or nodes that it held, 0 where that is not known.
    pub allocated: u32,
    /// Processors or nodes that it asked for, 0 where that is not known.
    pub requested: u32,
    /// The number of its user, −1 without one.
    pub user: i32,
    /// The number of its group or account.
    pub group: i32,
    /// The number of its queue.
    pub queue: i32,
    /// The number of its partition.
    pub partition: i32,
    /// The status of the Standard Workload Format: 1, 0, 5 or −1.
    pub status: i8,
}

impl ForeignJob {
    /// What it held, else what it asked for.
    pub(super) fn width(&self) -> i64 {
        i64::from(if self.allocated > 0 {
            self.allocated
        } else {
            self.requested
        })
    }

    pub(super) fn is_same_record(&self, other: &Self) -> bool {
        (
            self.submit,
            self.wait,
            self.run,
            self.allocated,
            self.status,
        ) == (
            other.submit,
            other.wait,
            other.run,
            other.allocated,
            other.status,
        )
    }

    pub(super) fn start(&self) -> Option<i64> {
        (self.wait >= 0).then_some(self.submit + self.wait)
    }
}
