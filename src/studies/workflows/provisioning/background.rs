//! Shared by all simulations of the same sites: the sites at the submission instants, and the
//! starts of their own jobs.

use rand::RngExt;

use bookahead_core::random;
use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::Seconds;
use bookahead_core::workload::Job;

use super::{BestEffortSite, ProviderSite, ProvisioningSettings, SiteWorkload};

/// A replay of the sites' own jobs without any application.
#[derive(Clone, Default)]
pub struct Background {
    /// The submission instants, as drawn (not in order of time).
    pub instants: Vec<Seconds>,
    /// All sites at the end of the second of each instant, by instant and site; the jobs that were
    /// submitted until then have been handed over, and no later ones.
    pub snapshots: Vec<Vec<ProviderSite>>,
    /// When each job of each site starts, by site and position; `None` for jobs that are wider than
    /// the site.
    pub starts: Vec<Vec<Option<Seconds>>>,
    /// The longest time from a job's submission to its end, by site.
    pub longest_stays: Vec<Seconds>,
}

impl Background {
    /// Replays the own jobs of all sites to their end, and keeps the sites as they are at each
    /// instant.
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
            longest_stays: Vec::with_capacity(sites.len()),
        };
        for workload in sites {
            let mut site = ProviderSite::of(workload, settings);
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
            let stays = workload
                .jobs
                .iter()
                .zip(&starts)
                .filter_map(|(job, start)| {
                    let start = (*start)?;
                    Some(start + job.runtime.min(job.estimate) - job.submit)
                });
            let longest = stays.max().unwrap_or(Seconds::ZERO);
            background.longest_stays.push(longest);
            background.starts.push(starts);
        }
        background
    }

    /// Forks of all sites at an instant, with everything that is still to arrive there: what
    /// [`best_effort`](fn@super::best_effort) runs on. `sites` are those of the replay.
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

/// Submission instants in the middle 80 % of a window (AMB-22). Number i is a share of its own
/// stream: the same for every window, and however many are drawn.
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

#[cfg(test)]
mod tests {
    use bookahead_core::plan::SlotRules;
    use bookahead_core::units::Nodes;
    use bookahead_core::workload::JobId;
    use bookahead_reservations::slots::SlotSource;

    use super::*;
    use crate::provisioning::{
        Application, ApplicationTask, Dependency, Provider, QueueChoice, SiteLoad, best_effort,
    };

    /// A job on the whole machine for half an hour at the beginning of every hour.
    fn site() -> SiteWorkload {
        let jobs: Vec<Job> = (0..48)
            .map(|hour| {
                Job::rigid(
                    JobId(hour),
                    Seconds::HOUR * i64::from(hour),
                    Nodes(4),
                    Seconds(1_800),
                )
            })
            .collect();
        SiteWorkload {
            label: "hourly".to_owned(),
            nodes: Nodes(4),
            jobs: jobs.into(),
            load: SiteLoad {
                window: (Seconds::ZERO, Seconds::HOUR * 47),
                ..SiteLoad::default()
            },
            ..SiteWorkload::default()
        }
    }

    fn both_kinds() -> [ProvisioningSettings; 2] {
        let advertised = Provider::Advertised {
            source: SlotSource::FreeRectangles,
            rules: SlotRules::default(),
        };
        [advertised, Provider::Queried].map(|provider| ProvisioningSettings {
            provider,
            ..ProvisioningSettings::default()
        })
    }

    #[test]
    fn instants_are_the_same_shares_of_every_window_and_do_not_depend_on_their_number() {
        let whole = draw_instants((Seconds(0), Seconds(1_000_000)), 7, 50);
        assert_eq!(
            draw_instants((Seconds(0), Seconds(1_000_000)), 7, 20),
            whole[..20]
        );
        assert!(
            whole
                .iter()
                .all(|instant| (100_000..900_000).contains(&instant.0))
        );
        assert!(whole.iter().any(|instant| instant.0 < 200_000));
        assert!(whole.iter().any(|instant| instant.0 > 800_000));
        let half = draw_instants((Seconds(500_000), Seconds(1_000_000)), 7, 50);
        for (one, other) in whole.iter().zip(&half) {
            assert!((one.0 / 2 + 500_000 - other.0).abs() <= 1);
        }
        assert_ne!(
            draw_instants((Seconds(0), Seconds(1_000_000)), 8, 50),
            whole
        );
    }

    #[test]
    fn sites_are_measured_where_all_of_them_are() {
        let mut late = site();
        late.load.window = (Seconds::HOUR * 40, Seconds::HOUR * 60);
        let sites = [site(), late.clone()];
        assert_eq!(
            common_window(&sites),
            Some((Seconds::HOUR * 40, Seconds::HOUR * 47))
        );
        late.load.window.0 = Seconds::HOUR * 47;
        assert_eq!(common_window(&[site(), late]), None);
        assert_eq!(common_window(&[]), None);
    }

    #[test]
    fn a_snapshot_has_what_was_submitted_in_its_own_second_and_nothing_later() {
        let sites = [site()];
        let instants = [5, 3, 5].map(|hour| Seconds::HOUR * hour);
        for settings in both_kinds() {
            let background = Background::replay(&sites, &settings, &instants);
            for (place, instant) in instants.iter().enumerate() {
                let fork = background.fork(&sites, place).remove(0);
                assert_eq!(fork.site.now(), *instant);
                assert_eq!(fork.site.tasks_in_system(), 1);
                assert_eq!(fork.site.next_event(), Some(*instant + Seconds(1_800)));
                assert_eq!(fork.arrivals[0].submit, *instant + Seconds::HOUR);
            }
            let submitted: Vec<_> = sites[0].jobs.iter().map(|job| Some(job.submit)).collect();
            assert_eq!(background.starts, [submitted]);
        }
    }

    #[test]
    fn best_effort_on_a_fork_meets_jobs_that_arrive_later_and_leaves_the_snapshot_as_it_was() {
        let sites = [site()];
        let task = |parents: &[usize]| ApplicationTask {
            nodes: Nodes(1),
            runtimes: vec![Seconds(2_000)],
            parents: parents
                .iter()
                .map(|&parent| Dependency {
                    parent,
                    transfer: Seconds::ZERO,
                })
                .collect(),
        };
        let application = Application::new(vec![task(&[]), task(&[0])], vec![0, 1]);
        for settings in both_kinds() {
            let background = Background::replay(&sites, &settings, &[Seconds::HOUR]);
            for _ in 0..2 {
                let run = best_effort(
                    &application,
                    background.fork(&sites, 0),
                    QueueChoice::default(),
                )
                .unwrap();
                let starts: Vec<i64> = run.placements.iter().map(|run| run.start.0).collect();
                // The first keeps the job of hour 2 waiting until 7,400 s; the second then waits
                // until that has ended.
                assert_eq!(starts, [5_400, 9_200]);
                assert_eq!(run.makespan, Seconds(9_200 + 2_000 - 3_600));
            }
        }
    }
}
