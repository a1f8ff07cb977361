//! Distributions learned per class.

/// The learned statistics of a workload: one ratio distribution a class and one for all jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimateModel {}
