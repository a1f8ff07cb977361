//! What every simulation of the same sites shares: the sites at the submission instants, and when their own jobs start.

use rand::RngExt;

use super::{BestEffortSite, ProviderSite, ProvisioningSettings, SiteWorkload};
use crate::random;
use crate::scheduling::JobOutcome;
use crate::units::Seconds;
use crate::workload::Job;

/// A replay of the sites' own jobs without any application.
#[derive(Clone, Default)]
pub struct Background {
    /// The submission instants, as drawn (not in order of time).
    pub instants: Vec<Seconds>,
    /// All sites at the end of the second of each instant, by instant and site; the jobs that were submitted until then have
    /// been handed over, and no later ones.
    pub snapshots: Vec<Vec<ProviderSite>>,
    /// When each job of each site starts, by site and position; `None` for jobs that are wider than the site.
    pub starts: Vec<Vec<Option<Seconds>>>,
}

impl Background {
    /// Replays the own jobs of all sites to their end, and keeps the sites as they are at each instant.
    #[must_use]
    pub fn replay(
        sites: &[SiteWorkload],
        settings: &ProvisioningSettings,
        instants: &[Seconds],
    ) -> Self {
        let mut order: Vec<usize> = (0..instants.len()).collect();
        order.sort_by_key(|&place| instants[place]);
        let mut background = Self {
            instants: instants.to_vec(),
            snapshots: vec![Vec::with_capacity(sites.len()); instants.len()],
            starts: Vec::with_capacity(sites.len()),
        };
        for workload in sites {
            let mut site = ProviderSite::new(workload.nodes, settings);
            let mut starts = vec![None; workload.jobs.len()];
            let mut ahead: &[Job] = &workload.jobs;
            for &place in &order {
                let instant = instants[place];
                let count = ahead.partition_point(|job| job.submit <= instant);
                let (now, later) = ahead.split_at(count);
                ahead = later;
                site.submit(now.iter().cloned());
                site.pass_to(instant);
                note(&mut starts, &site.take_job_outcomes());
                background.snapshots[place].push(site.clone());
            }
            site.submit(ahead.iter().cloned());
            site.advance(Seconds::FAR);
            note(&mut starts, &site.take_job_outcomes());
            background.starts.push(starts);
        }
        background
    }

    /// Forks of all sites at an instant, with everything that is still to arrive there: what
    /// [`best_effort`](super::best_effort) runs on. `sites` are those of the replay.
    #[must_use]
    pub fn fork<'a>(&self, sites: &'a [SiteWorkload], instant: usize) -> Vec<BestEffortSite<'a>> {
        let now = self.instants[instant];
        let snapshots = self.snapshots[instant].iter().zip(sites);
        snapshots
            .map(|(site, workload)| BestEffortSite {
                site: site.clone(),
                arrivals: workload.arrivals_after(now),
            })
            .collect()
    }
}

fn note(starts: &mut [Option<Seconds>], outcomes: &[JobOutcome]) {
    for outcome in outcomes {
        starts[outcome.job.id.0 as usize] = outcome.start;
    }
}

/// The window in which all sites are measured; `None` where they have none in common.
#[must_use]
pub fn common_window(sites: &[SiteWorkload]) -> Option<(Seconds, Seconds)> {
    let begin = sites.iter().map(|site| site.load.window.0).max()?;
    let end = sites.iter().map(|site| site.load.window.1).min()?;
    (begin < end).then_some((begin, end))
}

/// Submission instants in the middle 80 % of a window (AMB-22). Number i is a share of its own stream: the same for every
/// window, and however many are drawn.
#[must_use]
pub fn draw_instants(window: (Seconds, Seconds), seed: u64, count: u32) -> Vec<Seconds> {
    let length = (window.1 - window.0).0 as f64;
    (0..count)
        .map(|number| {
            let mut draws = random::stream(seed, "submission instants", number, "share");
            let share: f64 = draws.random_range(0.0..1.0);
            window.0 + Seconds((length * (0.1 + 0.8 * share)) as i64)
        })
        .collect()
}
