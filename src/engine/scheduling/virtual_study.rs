//! Virtual against adaptive reservations on one trace: which is cheaper, which succeeds, and what both together do (spec
//! `provisioning.md` §7.7, §11.4, AMB-25 to AMB-29b).
//!
//! The trace is replayed once. At one instant a day the machine is forked, and one request is tried out in the forks: as a
//! reservation that is priced, as a virtual one, and as both. The replay itself never sees a request. A fork lives as long as its
//! request is tried out, so the days do not add up in memory.

mod background;
mod measures;
mod settings;
mod trial;

pub use background::check_span;
pub use settings::{Combination, VirtualStudyError, VirtualStudySettings};
pub use trial::VirtualTrial;

pub use background::{Replayed, Snapshot, VirtualReplay};

use std::sync::Arc;

use background::{DAY, calibration, in_order, instants, window};

use crate::estimates::WaitCalibration;
use crate::random::Stream;
use crate::scheduling::outcome::JobOutcome;
use crate::units::{Nodes, Seconds};
use crate::workload::Job;

/// The deadlines whose predicted probability is held against every wait: the leads of the published requests, 1, 4 and 8 h
/// (spec `provisioning.md` §7.7).
pub const CALIBRATED_DEADLINES_HOURS: [i64; 3] = [1, 4, 8];

/// The quantiles whose upper bounds are held against every wait (AMB-25).
pub const CALIBRATED_QUANTILES: [f64; 3] = [0.5, 0.75, 0.95];

/// What a study found: see [`measures`](Self::measures) for the figures of spec `provisioning.md` §11.4.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualStudyRun {
    /// One trial an instant, in order of time.
    pub trials: Vec<VirtualTrial>,
    /// How well the predictor knew the waits of the trace's own jobs, namely of those submitted from the end of the warm-up
    /// to the end of the day of the last instant: what it said at their submission about [`CALIBRATED_DEADLINES_HOURS`] and
    /// [`CALIBRATED_QUANTILES`].
    pub calibration: WaitCalibration,
    /// What became of the trace's own jobs without any request, of those submitted before the end of the day of the last
    /// instant; in order of submission, by which they are numbered.
    pub jobs: Vec<JobOutcome>,
}

/// Replays `jobs` on a machine of `nodes` and tries out one request a day (EXP-6, spec `provisioning.md` §7.7 and AMB-26).
///
/// Jobs are planned with the estimates and run for the runtimes that they have; their order does not matter, and those wider
/// than the machine are left out. The warm-up counts from the first submission; each of the days after it has one instant, at
/// a second drawn from `stream`. One number is drawn a day and nothing else, so studies that differ only in the request see
/// the same instants of the same replay, and more instants extend fewer.
///
/// At each instant, after everything that happens in its second, and independently (AMB-26b: no request sees another):
///
/// * The reservation is priced by ALG-4 on the snapshot, for the start S = instant + lead; refused where it collides with what
///   runs.
/// * ALG-5 chooses the submission T1 with the predictor as of the instant, which has seen the wait of every job that has
///   started. The padded job goes into a fork at T1, the trace plays on, and T2 is read if it is not after S.
/// * ALG-6 decides between them, by [`VirtualStudySettings::combination`].
///
/// # Errors
/// [`VirtualStudyError`] if a setting is out of range, if the request is wider than the machine, or if the trace does not
/// reach from the warm-up over all instants to the last wanted start.
pub fn simulate_virtual(
    jobs: &[Job],
    nodes: Nodes,
    settings: &VirtualStudySettings,
    stream: &mut Stream,
) -> Result<VirtualStudyRun, VirtualStudyError> {
    let study = VirtualStudy::new(jobs, nodes, settings, stream)?;
    let mut trials = Vec::new();
    let replayed = study.replay_alone(|snapshot| trials.push(study.try_out(snapshot)))?;
    study.judge(trials, replayed)
}

/// A study whose instants are drawn: what is replayed, and what is asked of the replay.
pub struct VirtualStudy {
    jobs: Arc<[Job]>,
    nodes: Nodes,
    settings: VirtualStudySettings,
    instants: Vec<Seconds>,
    window: (Seconds, Seconds),
}

impl VirtualStudy {
    /// The random stream that instants are drawn from.
    pub const STREAM: &str = "virtual instants";

    /// Checks the settings and draws the instants.
    ///
    /// # Errors
    /// As [`simulate_virtual`].
    pub fn new(
        jobs: &[Job],
        nodes: Nodes,
        settings: &VirtualStudySettings,
        stream: &mut Stream,
    ) -> Result<Self, VirtualStudyError> {
        settings.validate(nodes)?;
        let jobs = in_order(jobs, nodes);
        let window = window(&jobs, settings)?;
        Ok(Self {
            jobs: jobs.into(),
            nodes,
            settings: settings.clone(),
            instants: instants(window.0, settings.instants, stream),
            window,
        })
    }

    /// The jobs that fit on the machine, by submission; ids are positions.
    #[must_use]
    pub fn jobs(&self) -> &Arc<[Job]> {
        &self.jobs
    }

    /// The replay before its first job.
    ///
    /// # Errors
    /// [`VirtualStudyError`] if the settings of the predictor are out of range.
    pub fn replay(&self) -> Result<VirtualReplay, VirtualStudyError> {
        let until = self.window.1;
        VirtualReplay::new(
            &self.jobs,
            self.nodes,
            &self.settings,
            &self.instants,
            until,
        )
    }

    /// Replays the jobs and hands over machine and predictor at each instant.
    fn replay_alone(&self, mut ask: impl FnMut(Snapshot)) -> Result<Replayed, VirtualStudyError> {
        let mut replay = self.replay()?;
        let mut jobs: &[Job] = self.jobs();
        while !replay.is_done() {
            let arrival = jobs.first().map(|job| job.submit);
            let Some(next) = arrival.into_iter().chain(replay.next_event()).min() else {
                break;
            };
            let (day, later) = jobs.split_at(jobs.partition_point(|job| job.submit < next + DAY));
            replay.submit(day.iter().cloned());
            replay.advance(next + DAY);
            replay.take_snapshots().into_iter().for_each(&mut ask);
            jobs = later;
        }
        Ok(replay.finish())
    }

    /// Tries out the request of one instant in forks of the machine as it is then.
    #[must_use]
    pub fn try_out(&self, snapshot: Snapshot) -> VirtualTrial {
        trial::try_out(&snapshot, &self.jobs, &self.settings)
    }

    /// What the study found: the trials in order of time, and what the replay says beside them.
    ///
    /// # Errors
    /// As [`simulate_virtual`].
    pub fn judge(
        &self,
        trials: Vec<VirtualTrial>,
        replayed: Replayed,
    ) -> Result<VirtualStudyRun, VirtualStudyError> {
        Ok(VirtualStudyRun {
            trials,
            calibration: calibration(&self.jobs, &replayed, self.window, &self.settings)?,
            jobs: replayed.outcomes(&self.jobs, self.window.1),
        })
    }
}

#[cfg(test)]
mod tests;
