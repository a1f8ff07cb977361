//! What every simulation of the same sites shares: the sites at the submission instants, and when their own jobs start.

use super::ProviderSite;
use crate::units::Seconds;

/// A replay of the sites' own jobs without any application.
#[derive(Clone, Default)]
pub struct Background {
    /// The submission instants, as drawn (not in order of time).
    pub instants: Vec<Seconds>,
    /// All sites at the end of the second of each instant, by instant and site; the jobs that were submitted until then have
    /// been handed over, and no later ones.
    pub snapshots: Vec<Vec<ProviderSite>>,
    /// When each job of each site starts, by site and position; `None` for jobs that the replay did not reach.
    pub starts: Vec<Vec<Option<Seconds>>>,
}
