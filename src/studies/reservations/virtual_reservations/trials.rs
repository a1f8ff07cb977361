//! Virtual against adaptive reservations on one trace: cost and success of each, and of both
//! together (Singh 2008, §6.2 to §6.4; AMB-25 to AMB-29b).
//!
//! The trace is replayed once. At one instant a day the machine is forked, and one request is tried
//! out in the forks: as a priced reservation, as a virtual one, and as both. The replay itself
//! never sees a request. A fork lives only as long as its request is tried out, so memory does not
//! grow with the days.

mod background;
mod measures;
mod settings;
mod trial;

pub use background::check_span;
pub use settings::{Combination, VirtualStudyError, VirtualStudySettings};
pub use trial::VirtualTrial;

pub use background::VirtualReplay;

use std::sync::Arc;

use background::{DAY, Replayed, Snapshot, calibration, in_order, instants, window};

use bookahead_core::estimates::WaitCalibration;
use bookahead_core::kernel::{Listed, Played, Scene, Source};
use bookahead_core::random::Stream;
use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;

use crate::replanning::JobMarks;

/// The deadlines whose predicted probability is held against every wait: the leads of the published
/// requests, 1, 4 and 8 h (Singh 2008, §6.2).
pub const CALIBRATED_DEADLINES_HOURS: [i64; 3] = [1, 4, 8];

/// The quantiles whose upper bounds are held against every wait (AMB-25).
pub const CALIBRATED_QUANTILES: [f64; 3] = [0.5, 0.75, 0.95];

/// What a study found: see [`measures`](Self::measures) for the figures of Singh 2008, §6.3 and
/// §6.4.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualStudyRun {
    /// One trial an instant, in order of time.
    pub trials: Vec<VirtualTrial>,
    /// Whether the machine ends padded jobs that idle
    /// ([`idle_limit`](VirtualStudySettings::idle_limit)).
    pub ends_idle_jobs: bool,
    /// How well the predictor knew the waits of the trace's own jobs, namely of those submitted
    /// from the end of the warm-up to the end of the day of the last instant: what it said at their
    /// submission about [`CALIBRATED_DEADLINES_HOURS`] and [`CALIBRATED_QUANTILES`].
    pub calibration: WaitCalibration,
    /// The outcomes of the trace's own jobs without any request, of those submitted before the end
    /// of the day of the last instant; in order of submission, by which they are numbered.
    pub jobs: Vec<JobOutcome>,
}

/// A study whose instants are drawn: what is replayed, and what is asked of the replay.
pub struct VirtualStudy {
    jobs: Arc<[Job]>,
    nodes: Nodes,
    settings: VirtualStudySettings,
    instants: Vec<Seconds>,
    window: (Seconds, Seconds),
    marks: JobMarks,
}

impl VirtualStudy {
    /// The random stream that instants are drawn from.
    pub const STREAM: &str = "virtual instants";

    /// Checks the settings and draws the instants.
    ///
    /// `jobs` are planned with the estimates and run for the runtimes that they have; their order
    /// does not matter, and those wider than the machine are left out. The warm-up counts from the
    /// first submission; each of the days after it has one instant, at a second drawn from
    /// `stream`. One number is drawn a day and nothing else, so studies that differ only in the
    /// request see the same instants of the same replay, and more instants extend fewer.
    ///
    /// # Errors
    /// [`VirtualStudyError`] if a setting is out of range, if the request is wider than the
    /// machine, or if the trace does not reach from the warm-up over all instants to the last
    /// wanted start.
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
            marks: JobMarks::default(),
        })
    }

    /// Draws what waiting costs the owners of the jobs, where the settings say that it costs
    /// anything but nodes; `stream` gives the stream of a name.
    #[must_use]
    pub fn with_delay_costs(mut self, stream: impl Fn(&str) -> Stream) -> Self {
        self.marks = JobMarks::drawn(&self.jobs, &[], &self.settings.replanning, stream);
        self
    }

    /// The replay before its first job.
    fn replay(&self) -> Result<VirtualReplay, VirtualStudyError> {
        let until = self.window.1;
        VirtualReplay::new(
            &self.jobs,
            self.nodes,
            (&self.settings, &self.marks),
            &self.instants,
            until,
        )
    }

    /// The machine that replays the trace, its client, and the one that asks for reservations once
    /// a day (Singh 2008, §6.2; AMB-26).
    ///
    /// At each instant, after everything that happens in its second, and independently (AMB-26b: no
    /// request sees another):
    ///
    /// * The reservation is priced by ALG-4 on the snapshot, for the start S = instant + lead;
    ///   refused where it collides with what runs.
    /// * ALG-5 chooses the submission T1 with the predictor as of the instant, which has seen the
    ///   wait of every job that has started. The padded job goes into a fork at T1, the trace plays
    ///   on, and T2 is read if it is not after S.
    /// * ALG-6 decides between them, by [`VirtualStudySettings::combination`].
    ///
    /// # Errors
    /// [`VirtualStudyError`] if the settings of the predictor are out of range.
    pub fn scene(self) -> Result<Scene<VirtualReplay>, VirtualStudyError> {
        let submit = |input: &mut Vec<Job>, jobs: &[Job]| input.extend_from_slice(jobs);
        let client = Listed::new(Arc::clone(&self.jobs), |job: &Job| job.submit, submit);
        let mut scene = Scene::new("machine", self.replay()?).with("client", client);
        // Within a day at most two requests are made, so at most two forks are held at once.
        scene.window = DAY;
        let requester = Requester {
            study: self,
            trials: Vec::new(),
        };
        Ok(scene.with("requester", requester))
    }

    /// What the study found: the trials in order of time, and what the replay says beside them.
    fn judge(
        &self,
        trials: Vec<VirtualTrial>,
        replayed: Replayed,
    ) -> Result<VirtualStudyRun, VirtualStudyError> {
        Ok(VirtualStudyRun {
            trials,
            ends_idle_jobs: self.settings.idle_limit.is_some(),
            calibration: calibration(&self.jobs, &replayed, self.window, &self.settings)?,
            jobs: replayed.outcomes(&self.jobs, self.window.1),
        })
    }
}

/// The one that asks for a reservation once a day. The replay never sees a request: what a fork
/// would do is found out here.
struct Requester {
    study: VirtualStudy,
    trials: Vec<VirtualTrial>,
}

impl Source<Vec<Job>, Vec<Snapshot>> for Requester {
    fn next_event(&self) -> Option<Seconds> {
        None
    }

    fn hand_over(&mut self, _: Seconds, _: &mut Vec<Job>) {}

    fn listens(&self) -> bool {
        true
    }

    fn told(&mut self, snapshots: &Vec<Snapshot>) {
        let study = &self.study;
        let tried = snapshots
            .iter()
            .map(|snapshot| trial::try_out(snapshot, &study.jobs, &study.settings));
        self.trials.extend(tried);
    }
}

impl VirtualStudyRun {
    /// What a [`VirtualStudy::scene`] came to; `None` if it is not one.
    ///
    /// # Errors
    /// [`VirtualStudyError`] if the settings of the predictor are out of range.
    pub fn of(mut played: Played<VirtualReplay>) -> Result<Option<Self>, VirtualStudyError> {
        let Some(requester) = played.take_source::<Requester>() else {
            return Ok(None);
        };
        let Requester { study, trials } = requester;
        study.judge(trials, played.machine.finish()).map(Some)
    }
}

#[cfg(test)]
mod tests;
