//! Reservation requests generated from the jobs of a trace, because no trace records any (Heine
//! 2005, §4.1; Singh 2008, §5.3).

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::job::{Job, JobId, JobKind};
use crate::random;
use crate::units::{Nodes, Seconds};

/// The position of a request among the requests of one simulation, from 0, in the order of
/// submission.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct RequestId(pub u32);

/// Somebody asks for `nodes` nodes for `duration`, at a fixed start or at one that they choose from
/// an offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReservationRequest {
    /// Position among the requests.
    pub id: RequestId,
    /// The trace number of the job that it was made from.
    pub trace_number: i64,
    /// The user of that job, where the trace names one.
    pub user: Option<i64>,
    /// When it is asked.
    pub submit: Seconds,
    /// Nodes wanted.
    pub nodes: Nodes,
    /// How long they are booked for: the slot's length.
    pub duration: Seconds,
    /// How long they will be used, at most `duration`; known to the simulator only.
    pub runtime: Seconds,
    /// Which start is wanted.
    pub wanted: WantedStart,
}

impl ReservationRequest {
    /// What a cluster is to hold for it, from the earliest start on that it can use.
    #[must_use]
    pub fn window(&self) -> Job {
        let id = JobId::of_request(self.id);
        Job {
            kind: JobKind::Reservation,
            ..Job::rigid(id, self.submit, self.nodes, self.duration)
                .running_for(self.runtime)
                .released_at(self.wanted.earliest())
                .numbered(self.trace_number)
                .of_user(self.user)
        }
    }
}

/// Which start a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WantedStart {
    /// Exactly this one, or none (Singh 2008, eq. 17).
    At(Seconds),
    /// Any from this one on, chosen from the offers by α (forms (18) and (19), eq. (20)): 0 takes
    /// the earliest, 1 the cheapest.
    From {
        /// Earliest start that is of use.
        earliest: Seconds,
        /// α, the weight of the price, in `[0, 1]`.
        alpha: f64,
    },
}

impl WantedStart {
    /// The earliest start that the request can use.
    #[must_use]
    pub fn earliest(self) -> Seconds {
        match self {
            Self::At(start) => start,
            Self::From { earliest, .. } => earliest,
        }
    }
}

/// Who comes first at equal times of submission (A4 of docs/decisions.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameInstant {
    /// The job.
    #[default]
    JobFirst,
    /// The request.
    RequestFirst,
}

/// How reservation requests are made from the jobs of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestSettings {
    /// How many of the jobs, in percent, rounded to whole jobs (A5, A6: drawn without replacement).
    pub share_percent: f64,
    /// What happens to a chosen job.
    pub origin: RequestOrigin,
    /// Which start is wanted.
    pub start: StartRule,
    /// Whether the slot is as long as the estimate or as the runtime of the job (A13, AMB-30).
    pub duration: RequestDuration,
    /// How the drawn lead becomes whole seconds (A7).
    pub rounding: LeadRounding,
    /// How much of its slot a reservation uses (Birkenheuer 2012, §4.2). Left out where it is the
    /// default, so that what was simulated before keeps its identity.
    #[serde(default, skip_serializing_if = "DurationUsed::is_of_job")]
    pub duration_used: DurationUsed,
}

impl RequestSettings {
    /// The same with everything that is not read set to its default: a slot that is as long as the
    /// job is used to its end.
    #[must_use]
    pub fn normalised(self) -> Self {
        Self {
            duration_used: match self.duration {
                RequestDuration::Estimate => self.duration_used,
                RequestDuration::Runtime => DurationUsed::Job,
            },
            ..self
        }
    }
}

impl Default for RequestSettings {
    fn default() -> Self {
        Self {
            share_percent: 10.0,
            origin: RequestOrigin::Copy,
            start: StartRule::EstimateFactor { factor: 1.0 },
            duration: RequestDuration::Estimate,
            rounding: LeadRounding::Nearest,
            duration_used: DurationUsed::Job,
        }
    }
}

/// What happens to a job that becomes a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestOrigin {
    /// It is copied and stays in the workload: load is added (Heine et al.).
    #[default]
    Copy,
    /// It is executed through a reservation instead of the queue: load stays (Singh 2008, chapter
    /// 5).
    Instead,
}

/// Which start a generated request wants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum StartRule {
    /// Submission + u · estimate · `factor`, u uniform in `[0, 1]` (Heine 2005, §4.1).
    EstimateFactor {
        /// SF.
        factor: f64,
    },
    /// Submission + `seconds`.
    Lead {
        /// The lead.
        seconds: Seconds,
    },
    /// Any start, chosen from the offers by α.
    Choice {
        /// α in `[0, 1]`; `None` draws one uniformly for each request (Singh 2008, §5.3, Figure
        /// 29).
        alpha: Option<f64>,
    },
}

/// How long a slot is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestDuration {
    /// The job's estimate.
    #[default]
    Estimate,
    /// The job's runtime, at most its estimate.
    Runtime,
}

/// How much of its slot a reservation uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DurationUsed {
    /// As long as the job runs that it was made from.
    #[default]
    Job,
    /// All of it, as somebody does who starts no program in it or several.
    Window,
}

impl DurationUsed {
    /// Whether a reservation is over when its job is.
    #[must_use]
    pub fn is_of_job(&self) -> bool {
        *self == Self::Job
    }
}

/// How a drawn lead becomes whole seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeadRounding {
    /// The nearest second.
    #[default]
    Nearest,
    /// Down.
    Floor,
    /// To the next full minute: what a form with hours and minutes asks for.
    Minute,
}

/// What the generator made of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixedWorkload {
    /// The jobs that stay in the queue, with ids from 0.
    pub jobs: Vec<Job>,
    /// The requests in order of (submission, position of their job).
    pub requests: Vec<ReservationRequest>,
}

impl MixedWorkload {
    /// Jobs and requests as one list for policies on a cluster: a request with a fixed start
    /// becomes a job with a fixed window, one that would choose asks for its earliest start. Behind
    /// the jobs of the same second; ids from 0.
    #[must_use]
    pub fn into_jobs(self) -> Vec<Job> {
        let mut jobs = self.jobs;
        jobs.extend(self.requests.into_iter().map(|request| {
            Job::rigid(JobId(0), request.submit, request.nodes, request.duration)
                .running_for(request.runtime)
                .numbered(request.trace_number)
                .into_reservation(request.wanted.earliest())
        }));
        jobs.sort_by_key(|job| job.submit);
        for (job, id) in jobs.iter_mut().zip(0..) {
            job.id = JobId(id);
        }
        jobs
    }
}

/// Makes requests from jobs (Heine 2005, §4.1).
///
/// Everything is drawn for every job before any is chosen, from streams that depend on `seed`,
/// `workload_key` and `replication` alone: all rules, start factors and shares see the same draws
/// (A17), and a larger share contains the smaller one.
#[must_use]
pub fn generate_requests(
    jobs: &[Job],
    settings: &RequestSettings,
    seed: u64,
    workload_key: &str,
    replication: u32,
) -> MixedWorkload {
    let mut order: Vec<u32> = (0..jobs.len() as u32).collect();
    let stream = |name| random::stream(seed, workload_key, replication, name);
    order.shuffle(&mut stream("reservation jobs"));
    let count = (jobs.len() as f64 * settings.share_percent / 100.0).round() as usize;
    let mut chosen = vec![false; jobs.len()];
    for &index in order.iter().take(count) {
        chosen[index as usize] = true;
    }
    let mut leads = stream("reservation leads");
    let mut alphas = stream("reservation alphas");
    let mut mixed = MixedWorkload::default();
    for (job, chosen) in jobs.iter().zip(chosen) {
        let lead: f64 = leads.random_range(0.0..=1.0);
        let drawn_alpha: f64 = alphas.random_range(0.0..=1.0);
        if chosen {
            let runtime = job.runtime.min(job.estimate);
            let duration = match settings.duration {
                RequestDuration::Estimate => job.estimate,
                RequestDuration::Runtime => runtime,
            };
            mixed.requests.push(ReservationRequest {
                id: RequestId(mixed.requests.len() as u32),
                trace_number: job.trace_number,
                user: job.user,
                submit: job.submit,
                nodes: job.nodes,
                duration,
                runtime: match settings.duration_used {
                    DurationUsed::Job => runtime,
                    DurationUsed::Window => duration,
                },
                wanted: match settings.start {
                    StartRule::EstimateFactor { factor } => WantedStart::At(
                        job.submit + lead_of(job.estimate, factor, lead, settings.rounding),
                    ),
                    StartRule::Lead { seconds } => WantedStart::At(job.submit + seconds),
                    StartRule::Choice { alpha } => WantedStart::From {
                        earliest: job.submit,
                        alpha: alpha.unwrap_or(drawn_alpha),
                    },
                },
            });
        }
        if !chosen || settings.origin == RequestOrigin::Copy {
            mixed.jobs.push(Job {
                id: JobId(mixed.jobs.len() as u32),
                ..job.clone()
            });
        }
    }
    mixed
}

/// start_delay = u · estimate · SF, in whole seconds (A7).
fn lead_of(estimate: Seconds, factor: f64, drawn: f64, rounding: LeadRounding) -> Seconds {
    let lead = drawn * estimate.0 as f64 * factor;
    Seconds(match rounding {
        LeadRounding::Nearest => lead.round() as i64,
        LeadRounding::Floor => lead.floor() as i64,
        LeadRounding::Minute => (lead / 60.0).ceil() as i64 * 60,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(count: u32) -> Vec<Job> {
        (0..count)
            .map(|id| {
                let (submit, nodes) = (Seconds(i64::from(id) * 10), Nodes(1 + id % 5));
                Job::rigid(JobId(id), submit, nodes, Seconds(3600))
                    .running_for(Seconds(1200))
                    .numbered(i64::from(id) + 1)
            })
            .collect()
    }

    fn generate(settings: &RequestSettings) -> MixedWorkload {
        generate_requests(&jobs(200), settings, 1, "w", 0)
    }

    /// A job submitted at 100 with an estimate of 3600, a start factor of 2 and a draw of 0.25
    /// wants to start at 1900.
    #[test]
    fn the_start_is_the_submission_plus_the_drawn_part_of_the_estimate() {
        let lead = lead_of(Seconds(3600), 2.0, 0.25, LeadRounding::Nearest);
        assert_eq!(Seconds(100) + lead, Seconds(1900));
    }

    #[test]
    fn a_share_of_a_hundred_percent_copies_every_job_once() {
        let mixed = generate(&RequestSettings {
            share_percent: 100.0,
            ..RequestSettings::default()
        });
        assert_eq!((mixed.jobs.len(), mixed.requests.len()), (200, 200));
        assert!(
            mixed
                .requests
                .iter()
                .zip(&mixed.jobs)
                .all(|(request, job)| request.trace_number == job.trace_number
                    && request.nodes == job.nodes
                    && request.wanted.earliest() <= job.submit + job.estimate)
        );
    }

    #[test]
    fn a_larger_share_contains_the_smaller_one_and_other_factors_scale_the_same_draws() {
        let at = |share_percent, factor| {
            generate(&RequestSettings {
                share_percent,
                start: StartRule::EstimateFactor { factor },
                ..RequestSettings::default()
            })
            .requests
        };
        let (small, large) = (at(10.0, 1.0), at(30.0, 1.0));
        assert_eq!((small.len(), large.len()), (20, 60));
        for request in &small {
            assert!(
                large
                    .iter()
                    .any(|other| other.trace_number == request.trace_number
                        && other.wanted == request.wanted)
            );
        }
        for (one, two) in small.iter().zip(&at(10.0, 2.0)) {
            let lead =
                |request: &ReservationRequest| (request.wanted.earliest() - request.submit).0;
            assert!((lead(two) - 2 * lead(one)).abs() <= 1);
        }
    }

    #[test]
    fn a_window_that_is_used_to_its_end_is_asked_for_by_the_same_draws() {
        let with = |duration, duration_used| {
            let settings = RequestSettings {
                duration,
                duration_used,
                ..RequestSettings::default()
            };
            (settings.clone().normalised(), generate(&settings).requests)
        };
        let (of_job, ends_early) = with(RequestDuration::Estimate, DurationUsed::Job);
        let (of_window, uses_all) = with(RequestDuration::Estimate, DurationUsed::Window);
        assert_ne!(of_job, of_window);
        assert_eq!(ends_early.len(), 20);
        for (one, other) in ends_early.iter().zip(&uses_all) {
            // 20 min of an hour, and all of it.
            assert_eq!(one.runtime, Seconds(1200));
            assert_eq!(other.runtime, Seconds(3600));
            let runtime = Seconds(1200);
            assert_eq!(
                *one,
                ReservationRequest {
                    runtime,
                    ..other.clone()
                }
            );
        }
        // A slot that is as long as the job has no end to leave.
        let (of_job, short) = with(RequestDuration::Runtime, DurationUsed::Job);
        let (of_window, as_short) = with(RequestDuration::Runtime, DurationUsed::Window);
        assert_eq!((of_job, short), (of_window, as_short));
    }

    #[test]
    fn jobs_that_are_reserved_instead_leave_the_queue_and_ids_stay_dense() {
        let mixed = generate(&RequestSettings {
            share_percent: 25.0,
            origin: RequestOrigin::Instead,
            start: StartRule::Choice { alpha: Some(0.5) },
            duration: RequestDuration::Runtime,
            ..RequestSettings::default()
        });
        assert_eq!((mixed.jobs.len(), mixed.requests.len()), (150, 50));
        assert!(
            mixed
                .jobs
                .iter()
                .enumerate()
                .all(|(index, job)| job.id.0 == index as u32)
        );
        assert!(mixed.requests.iter().all(|r| r.duration == Seconds(1200)));
    }

    #[test]
    fn another_replication_draws_other_jobs() {
        let settings = RequestSettings::default();
        let numbers = |replication| {
            generate_requests(&jobs(200), &settings, 1, "w", replication)
                .requests
                .iter()
                .map(|request| request.trace_number)
                .collect::<Vec<_>>()
        };
        assert_eq!(numbers(0), numbers(0));
        assert_ne!(numbers(0), numbers(1));
    }
}
