//! What a worker's thread does with its pieces of work: simulates, hands results over, and says
//! what became of each.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::messages::{Ended, How, Panicked, Piece, Report, Work};
use super::roles::SweepWork;
use crate::sweep::digest::Identity;
use crate::sweep::results::{FailedSimulation, FinishedSimulation, SimulationProgress, SinkError};
use crate::sweep::spec::{Point, SimulationSpec};

/// Small tasks travel together: as many as this may take, and no more is begun after it. A message
/// to another thread and back costs less than a hundredth of it.
pub(super) const SLICE: Duration = Duration::from_millis(20);

/// The pieces of one message on their way through a thread. Where this is dropped, its report is
/// sent: when all is done, and also when a simulation panics and takes the thread with it.
pub(super) struct Shift<'w> {
    work: &'w SweepWork,
    pieces: std::vec::IntoIter<Piece>,
    /// The simulation under way and when it began.
    under_way: Option<(usize, Instant)>,
    report: Report,
    reply: Option<oneshot::Sender<Report>>,
}

impl<'w> Shift<'w> {
    /// Does the work of one message.
    pub(super) fn work_off(work: &'w SweepWork, order: Work, reply: oneshot::Sender<Report>) {
        std::thread::sleep(order.pause);
        let mut shift = Self {
            work,
            pieces: order.pieces.into_iter(),
            under_way: None,
            report: Report::default(),
            reply: Some(reply),
        };
        let begun = Instant::now();
        let mut is_first = true;
        while let Some(piece) = shift.pieces.next() {
            let is_late = !is_first && begun.elapsed() >= SLICE;
            is_first = false;
            let (place, done) = match piece {
                Piece::Simulate(place) if is_late || shift.is_over() => {
                    (place, Ok((How::Left, Duration::ZERO)))
                }
                Piece::Simulate(place) => (place, shift.look_and_simulate(place)),
                Piece::EnterFailure { place, error, wall } => {
                    (place, shift.enter_failure(place, error, wall))
                }
            };
            let (how, wall) = done.unwrap_or_else(|stopped| {
                shift.report.stopped.get_or_insert(stopped);
                (How::Left, Duration::ZERO)
            });
            shift.report.ended.push(Ended { place, how, wall });
        }
    }

    fn is_over(&self) -> bool {
        self.report.stopped.is_some() || self.work.interrupt.is_requested()
    }

    /// Simulates a task that is still open.
    fn look_and_simulate(&mut self, place: usize) -> Result<(How, Duration), SinkError> {
        let id = self.identity(place);
        match self.work.sink.progress(&id) {
            SimulationProgress::Open => self.simulate(place),
            SimulationProgress::Done => {
                self.work.sink.adopt(&id, self.points(place))?;
                Ok((How::Adopted, Duration::ZERO))
            }
            SimulationProgress::Elsewhere => Ok((How::Elsewhere, Duration::ZERO)),
        }
    }

    fn simulate(&mut self, place: usize) -> Result<(How, Duration), SinkError> {
        let SweepWork { simulate, sink, .. } = self.work;
        let id = self.identity(place);
        let spec = self.spec(place);
        sink.started(&id)?;
        let begun = Instant::now();
        self.under_way = Some((place, begun));
        let result = simulate.simulate(&spec);
        let wall = begun.elapsed();
        let handed_over = match result {
            Ok(result) => {
                let finished = FinishedSimulation {
                    id,
                    workload_label: simulate.workload_label(&spec),
                    spec: spec.clone(),
                    result,
                    wall,
                    points: self.points(place),
                };
                match sink.write(finished) {
                    Err(SinkError::Refused(reason)) => Err(reason),
                    Err(stopped @ SinkError::Stopped(_)) => return Err(stopped),
                    Ok(()) => Ok(()),
                }
            }
            Err(error) => Err(error),
        };
        self.under_way = None;
        if let Err(error) = handed_over {
            return self.enter_failure(place, error, wall);
        }
        tracing::debug!(
            simulation = %id,
            strategy = %spec.scheduling.strategy,
            replication = spec.replication,
            milliseconds = wall.as_millis() as u64,
            points = self.work.tasks[place].points.len(),
            "a simulation is done"
        );
        Ok((How::Finished, wall))
    }

    fn enter_failure(
        &self,
        place: usize,
        error: String,
        wall: Duration,
    ) -> Result<(How, Duration), SinkError> {
        let id = self.identity(place);
        let spec = self.spec(place);
        tracing::error!(
            simulation = %id,
            strategy = %spec.scheduling.strategy,
            replication = spec.replication,
            %error,
            "a simulation failed"
        );
        self.work.sink.fail(FailedSimulation {
            id,
            workload_label: self.work.simulate.workload_label(&spec),
            spec,
            error: error.clone(),
            points: self.points(place),
        })?;
        Ok((How::Failed(error), wall))
    }

    /// The identity of a task's simulation; empty before the sweep has any.
    fn identity(&self, place: usize) -> Identity {
        let ids = &self.work.sweep.simulation_ids;
        let id = ids.get(self.work.tasks[place].simulation);
        id.copied().unwrap_or_default()
    }

    fn spec(&self, place: usize) -> SimulationSpec {
        let simulation = self.work.tasks[place].simulation;
        self.work.sweep.simulations.get(simulation)
    }

    fn points(&self, place: usize) -> Vec<Point> {
        self.work.points(place).cloned().collect()
    }
}

impl Drop for Shift<'_> {
    fn drop(&mut self) {
        if self.under_way.is_none() && std::thread::panicking() {
            // Whoever waits for the report finds its sender gone, which is worse than a failed
            // simulation.
            return;
        }
        let mut report = std::mem::take(&mut self.report);
        report.panicked = self.under_way.map(|(place, begun)| Panicked {
            place,
            wall: begun.elapsed(),
            // Only whoever joins the thread learns what it panicked with.
            error: String::new(),
        });
        report.ended.extend(self.pieces.by_ref().map(|piece| Ended {
            place: piece.place(),
            how: How::Left,
            wall: Duration::ZERO,
        }));
        if let Some(reply) = self.reply.take() {
            // Nobody waits for it where the sweep has been given up.
            let _ = reply.send(report);
        }
    }
}
