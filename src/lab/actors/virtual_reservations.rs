//! The actors of a study of virtual reservations: a client and a machine that replay the trace, and who asks for reservations and tries
//! them out in forks of the machine. Called directly they are [`simulate_virtual`](crate::scheduling::simulate_virtual).

use kameo::message::{Context, Message};
use kameo::{Actor, Reply};

use super::messages::{AdvanceWatched, AskGrant, HandOver, WatchedProgress, WhenNext};
use super::{Client, Clock, Member, SimulationError, ask};
use crate::scheduling::{
    Replayed, Snapshot, VirtualReplay, VirtualStudy, VirtualStudyError, VirtualStudyRun,
    VirtualTrial,
};
use crate::units::Seconds;

/// Granted at a time: within a day at most two requests are made, and so many forks are held at once.
const WINDOW: Seconds = Seconds(24 * 3_600);

/// To a machine that replays a trace: how was it at the instants that have passed since the last time?
#[derive(Clone, Copy, Debug)]
pub struct TakeSnapshots;

/// Reply to [`TakeSnapshots`].
#[derive(Reply)]
pub struct Snapshots(pub Vec<Snapshot>);

/// To a machine that replays a trace: what was seen?
#[derive(Clone, Copy, Debug)]
pub struct ReportReplay;

/// Reply to [`ReportReplay`]; `None` if it was asked before.
#[derive(Clone, Reply)]
pub struct ReplaySeen(pub Option<Replayed>);

/// To who asks for reservations: try them out in forks of these.
pub struct TryOut(pub Vec<Snapshot>);

/// To who asks for reservations: what was found, as the replay was this one?
#[derive(Clone)]
pub struct Judge(pub Replayed);

/// Reply to [`Judge`].
#[derive(Debug, Reply)]
pub struct Judged(pub Result<VirtualStudyRun, VirtualStudyError>);

/// The actor around one [`VirtualReplay`].
#[derive(Actor)]
pub struct ReplayActor {
    replay: Option<VirtualReplay>,
}

impl ReplayActor {
    /// The actor of an idle machine.
    #[must_use]
    pub fn new(replay: VirtualReplay) -> Self {
        Self {
            replay: Some(replay),
        }
    }
}

impl Message<AdvanceWatched> for ReplayActor {
    type Reply = WatchedProgress;

    async fn handle(
        &mut self,
        advance: AdvanceWatched,
        _: &mut Context<Self, WatchedProgress>,
    ) -> WatchedProgress {
        if let Some(replay) = &mut self.replay {
            replay.submit(advance.arrivals);
            replay.advance(advance.until);
        }
        WatchedProgress {
            next_event: self.replay.as_ref().and_then(VirtualReplay::next_event),
            done: self.replay.as_ref().is_none_or(VirtualReplay::is_done),
        }
    }
}

impl Message<TakeSnapshots> for ReplayActor {
    type Reply = Snapshots;

    async fn handle(&mut self, _: TakeSnapshots, _: &mut Context<Self, Snapshots>) -> Snapshots {
        let replay = self.replay.as_mut();
        Snapshots(replay.map_or_else(Vec::new, VirtualReplay::take_snapshots))
    }
}

impl Message<ReportReplay> for ReplayActor {
    type Reply = ReplaySeen;

    async fn handle(&mut self, _: ReportReplay, _: &mut Context<Self, ReplaySeen>) -> ReplaySeen {
        ReplaySeen(self.replay.take().map(VirtualReplay::finish))
    }
}

/// Who asks for a reservation once a day. The replay never sees a request; what a fork would do is for this actor to find out.
#[derive(Actor)]
pub struct RequesterActor {
    study: VirtualStudy,
    trials: Vec<VirtualTrial>,
}

impl RequesterActor {
    /// The actor that asks what this study asks.
    #[must_use]
    pub fn new(study: VirtualStudy) -> Self {
        Self {
            study,
            trials: Vec::new(),
        }
    }
}

impl Message<TryOut> for RequesterActor {
    type Reply = ();

    async fn handle(&mut self, ask: TryOut, _: &mut Context<Self, ()>) {
        let tried = ask
            .0
            .into_iter()
            .map(|snapshot| self.study.try_out(snapshot));
        self.trials.extend(tried);
    }
}

impl Message<Judge> for RequesterActor {
    type Reply = Judged;

    async fn handle(&mut self, ask: Judge, _: &mut Context<Self, Judged>) -> Judged {
        let trials = std::mem::take(&mut self.trials);
        Judged(self.study.judge(trials, ask.0))
    }
}

/// Brings the actors up, passes grants around until the days that are asked about are over, and lets each request be tried out in between.
pub(super) async fn conduct(study: VirtualStudy) -> Result<VirtualStudyRun, SimulationError> {
    let mut clock = Member::spawn("clock", Clock::new(WINDOW));
    let mut client = Member::spawn("client", Client::new(study.jobs().clone()));
    let mut machine = Member::spawn("machine", ReplayActor::new(study.replay()?));
    let mut requester = Member::spawn("requester", RequesterActor::new(study));
    let mut machine_next = None;
    let mut done = false;
    while !done {
        let next_events = vec![ask!(client, WhenNext).0, machine_next];
        let Some(until) = ask!(clock, AskGrant { next_events }).until else {
            break;
        };
        let arrivals = ask!(client, HandOver { until });
        let progress = ask!(machine, AdvanceWatched { arrivals, until });
        (machine_next, done) = (progress.next_event, progress.done);
        let snapshots = ask!(machine, TakeSnapshots).0;
        if !snapshots.is_empty() {
            ask!(requester, TryOut(snapshots));
        }
    }
    match ask!(machine, ReportReplay).0 {
        Some(replayed) => Ok(ask!(requester, Judge(replayed)).0?),
        None => Err(SimulationError::Unfinished(
            "virtual reservations".to_owned(),
        )),
    }
}
