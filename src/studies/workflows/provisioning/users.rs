//! Users who reserve for a single job, in the place of waiting in the queue of their site, and may
//! go where a reservation is cheaper (Singh 2008, §5.3 and §8: differences of prices between sites
//! are to balance their load).

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;
use bookahead_core::workload::JobId;

use super::{Application, ApplicationTask, SiteWorkload};

/// Which sites a user asks for starts and prices; it then chooses among all that it was offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskedSites {
    /// All that have enough processors.
    #[default]
    All,
    /// The one whose trace its job is of.
    Home,
    /// One of those that have enough processors, drawn for each job.
    Random,
    /// The one of those with the fewest tasks, the first of equals.
    FewestTasks,
}

impl AskedSites {
    /// Whether it is the rule that is not written down.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A job whose owner reserves for it.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// Index of the site whose trace the job is of.
    pub home: usize,
    /// The job there.
    pub job: JobId,
    /// When it is submitted.
    pub submitted: Seconds,
    /// A site with enough processors, drawn.
    pub drawn: usize,
    /// The job as an application of one task.
    pub application: Arc<Application>,
}

/// The users of one simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Users {
    /// By submission.
    list: Vec<User>,
    /// Their jobs, by home.
    jobs: Vec<BTreeSet<JobId>>,
}

impl Users {
    /// The first `most` users who submit after the second `begin`, each a job that is drawn with
    /// this probability in percent; `stream` gives the stream of a site. A larger share contains
    /// the smaller one. Jobs wider than their own site stay in its queue.
    #[must_use]
    pub fn drawn(
        sites: &[SiteWorkload],
        percent: f64,
        begin: Seconds,
        most: u32,
        stream: impl Fn(usize) -> Stream,
    ) -> Self {
        let mut list = Vec::new();
        for (home, site) in sites.iter().enumerate() {
            let mut stream = stream(home);
            for job in site.jobs.iter() {
                let (share, place): (f64, f64) = (stream.random(), stream.random());
                if 100.0 * share >= percent || job.submit <= begin || job.nodes > site.nodes {
                    continue;
                }
                let fitting: Vec<usize> = (0..sites.len())
                    .filter(|&other| job.nodes <= sites[other].nodes)
                    .collect();
                let task = ApplicationTask {
                    nodes: job.nodes,
                    runtimes: vec![job.estimate.max(Seconds(1)); sites.len()],
                    parents: Vec::new(),
                };
                list.push(User {
                    home,
                    job: job.id,
                    submitted: job.submit,
                    drawn: fitting[(place * fitting.len() as f64) as usize],
                    application: Arc::new(Application::new(vec![task], vec![0])),
                });
            }
        }
        list.sort_by_key(|user| (user.submitted, user.home, user.job));
        list.truncate(most as usize);
        let mut jobs = vec![BTreeSet::new(); sites.len()];
        for user in &list {
            jobs[user.home].insert(user.job);
        }
        Self { list, jobs }
    }

    /// The users, by submission.
    #[must_use]
    pub fn list(&self) -> &[User] {
        &self.list
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether this job of a site is reserved for, and does not enter its queue.
    #[must_use]
    pub fn reserves(&self, site: usize, job: JobId) -> bool {
        (self.jobs.get(site)).is_some_and(|jobs| jobs.contains(&job))
    }
}
