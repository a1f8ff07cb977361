//! Which job follows which, and how long each user waits, fixed before a simulation begins.

use std::collections::{BTreeSet, HashMap};

use rand::RngExt;

use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId, JobLog, LoggedJob};

use super::{ClientSettings, Dependencies, REACTION};

/// A job that is submitted some time after the end of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follows {
    /// The other one, by its place in the list; it stands before.
    pub job: u32,
    /// The time from its end to the submission.
    pub think_time: Seconds,
}

/// What ties the jobs of a battery together, by their places in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientTies {
    follows: Vec<Option<Follows>>,
    followers: HashMap<u32, Vec<(u32, Seconds)>>,
    patience: Vec<Seconds>,
}

impl ClientTies {
    /// The random stream that patience is drawn from: one number a job, in their order.
    pub const STREAM: &str = "patience";

    /// The ties of a battery. `log` holds what its trace says of its jobs; jobs without an entry
    /// follow no other. Fixed reservations follow no other job and are not taken back.
    #[must_use]
    pub fn new(settings: &ClientSettings, jobs: &[Job], log: &JobLog, stream: &mut Stream) -> Self {
        let follows = match settings.dependencies {
            Dependencies::None => Vec::new(),
            Dependencies::Trace => preceding(jobs, log),
            Dependencies::Sessions => sessions(jobs, log, settings.session_gap),
        };
        let patience = settings.patience.map_or_else(Vec::new, |mean| {
            let drawn = |_: &Job| {
                let share: f64 = stream.random();
                let seconds = -libm::log1p(-share) * mean.0 as f64;
                Seconds(seconds.ceil() as i64).max(REACTION)
            };
            jobs.iter().map(drawn).collect()
        });
        Self::of(follows, patience)
    }

    /// Ties as they are given: one entry a job, or none at all.
    #[must_use]
    pub fn of(follows: Vec<Option<Follows>>, patience: Vec<Seconds>) -> Self {
        let mut followers: HashMap<u32, Vec<(u32, Seconds)>> = HashMap::new();
        for (job, follows) in (0..).zip(&follows) {
            if let Some(Follows {
                job: before,
                think_time,
            }) = *follows
            {
                followers.entry(before).or_default().push((job, think_time));
            }
        }
        Self {
            follows,
            followers,
            patience,
        }
    }

    /// The job that a job follows.
    #[must_use]
    pub fn followed_by(&self, job: u32) -> Option<Follows> {
        self.follows.get(job as usize).copied().flatten()
    }

    /// The jobs that follow one, in order, each with its think time.
    #[must_use]
    pub fn followers(&self, job: u32) -> &[(u32, Seconds)] {
        self.followers.get(&job).map_or(&[], Vec::as_slice)
    }

    /// How long the user of a job waits for its start.
    #[must_use]
    pub fn patience(&self, job: u32) -> Option<Seconds> {
        self.patience.get(job as usize).copied()
    }

    /// When every job is over, if every submission is over at its deadline at the latest.
    #[must_use]
    pub fn latest_end(&self, settings: &ClientSettings, jobs: &[Job]) -> Seconds {
        let again = i64::from(settings.resubmit_rejected) + i64::from(settings.resubmit_failed);
        let mut ends = Vec::with_capacity(jobs.len());
        for (place, job) in (0..).zip(jobs) {
            let begin = match self.followed_by(place) {
                None => job.submit,
                Some(Follows { job, think_time }) => {
                    let end: Seconds = ends[job as usize];
                    end + think_time.max(REACTION)
                }
            };
            let window = job.deadline - job.submit;
            let delay = settings.resubmit_after.max(REACTION);
            ends.push(begin + window + (window + delay) * again);
        }
        ends.into_iter().max().unwrap_or(Seconds::ZERO)
    }
}

/// Jobs that may follow or be followed, with what the log says of them.
fn logged<'a>(jobs: &'a [Job], log: &'a JobLog) -> impl Iterator<Item = (&'a Job, &'a LoggedJob)> {
    jobs.iter()
        .filter(|job| !job.is_reservation())
        .filter_map(|job| Some((job, log.get(&job.trace_number)?)))
}

fn preceding(jobs: &[Job], log: &JobLog) -> Vec<Option<Follows>> {
    let mut follows = vec![None; jobs.len()];
    let mut places: HashMap<i64, JobId> = HashMap::new();
    for (job, logged) in logged(jobs, log) {
        let before = logged.preceding.and_then(|number| places.get(&number));
        follows[job.id.0 as usize] = before.map(|before| Follows {
            job: before.0,
            think_time: logged.think_time,
        });
        places.entry(job.trace_number).or_insert(job.id);
    }
    follows
}

fn sessions(jobs: &[Job], log: &JobLog, gap: Seconds) -> Vec<Option<Follows>> {
    let mut follows = vec![None; jobs.len()];
    let mut ended: HashMap<i64, BTreeSet<(Seconds, JobId)>> = HashMap::new();
    for (job, logged) in logged(jobs, log) {
        let Some(user) = job.user else { continue };
        let of_user = ended.entry(user).or_default();
        let before = of_user
            .range(..=(logged.submit, JobId(u32::MAX)))
            .next_back();
        follows[job.id.0 as usize] = before.and_then(|&(end, before)| {
            let think_time = logged.submit - end;
            (think_time <= gap).then_some(Follows {
                job: before.0,
                think_time,
            })
        });
        if let Some(end) = logged.end {
            of_user.insert((end, job.id));
        }
    }
    follows
}
