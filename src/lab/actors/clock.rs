//! The clock: the only actor that moves virtual time.

use kameo::Actor;
use kameo::actor::ActorRef;
use kameo::message::{Context, Message};

use super::members::{MachineActor, SourceActor};
use super::messages::{Advance, Ended, HandOver, Noted, Play, React, Silent, Told};
use crate::kernel::{Clock, Machine, Pending};
use crate::units::Seconds;

/// Grants windows of virtual time, one after the other, and passes what sources hand over to the
/// machine, and what becomes of it to sources that listen.
#[derive(Actor)]
pub struct ClockActor<M: Machine> {
    pub(super) clock: Clock,
    pub(super) machine: ActorRef<MachineActor<M>>,
    pub(super) sources: Vec<SourceOf<M>>,
    /// What the machine last said of itself.
    pub(super) next_event: Option<Seconds>,
    pub(super) is_idle: bool,
    pub(super) is_done: bool,
    /// Whether what the machine hands out is kept.
    pub(super) keep: bool,
}

/// A source, and what it last said of itself.
pub(super) struct SourceOf<M: Machine> {
    pub(super) actor: ActorRef<SourceActor<M::Input, M::Output>>,
    pub(super) pending: Pending,
}

impl<M: Machine> Message<Play> for ClockActor<M> {
    type Reply = Result<Ended<M::Output>, Silent>;

    async fn handle(&mut self, _: Play, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        self.play().await
    }
}

impl<M: Machine> ClockActor<M> {
    async fn play(&mut self) -> Result<Ended<M::Output>, Silent> {
        let mut outputs = Vec::new();
        // What became final in the last window, as long as a source that reacts has not been told.
        let mut told = None;
        while !self.is_done {
            let others = self
                .clock
                .next(self.pending(), self.next_event, self.is_idle);
            let (begin, input) = match self.sources.iter().position(|it| it.pending.reacts) {
                Some(index) => {
                    let react = React {
                        told: told.take(),
                        clock: self.clock,
                        others,
                    };
                    let source = &mut self.sources[index];
                    let reacted = source.actor.ask(react).await;
                    let reacted = reacted.map_err(|_| Silent::Source(index))?;
                    source.pending = reacted.pending;
                    if self.keep {
                        outputs.extend(reacted.told);
                    }
                    (reacted.begin, reacted.input)
                }
                None => (others, M::Input::default()),
            };
            let Some(begin) = begin else {
                break;
            };
            let until = self.clock.end(begin, self.pending());
            let input = self.collect(input, until).await?;
            let worked = self.machine.ask(Advance { input, until }).await;
            let progress = worked.map_err(|error| error.err().unwrap_or(Silent::Machine))?;
            self.clock.reached(progress.reached);
            self.next_event = progress.next_event;
            (self.is_idle, self.is_done) = (progress.is_idle, progress.is_done);
            let output = self.tell(progress.output).await?;
            if self.sources.iter().any(|source| source.pending.reacts) {
                told = Some(output);
            } else if self.keep {
                outputs.push(output);
            }
        }
        if self.keep {
            outputs.extend(told);
        }
        Ok(Ended {
            outputs,
            is_over: self.is_idle || self.is_done,
        })
    }

    /// Has sources that do not react and have something before `until` add it to the input.
    async fn collect(&mut self, mut input: M::Input, until: Seconds) -> Result<M::Input, Silent> {
        for (index, source) in self.sources.iter_mut().enumerate() {
            let has_some = source.pending.next_event.is_some_and(|next| next < until);
            if has_some && !source.pending.reacts {
                let noted = source.actor.ask(HandOver { until, input }).await;
                let Noted { given, pending } = noted.map_err(|_| Silent::Source(index))?;
                (input, source.pending) = (given, pending);
            }
        }
        Ok(input)
    }

    /// Tells sources that listen and do not react what became final.
    async fn tell(&mut self, mut output: M::Output) -> Result<M::Output, Silent> {
        for (index, source) in self.sources.iter_mut().enumerate() {
            if source.pending.listens && !source.pending.reacts {
                let noted = source.actor.ask(Told(output)).await;
                let Noted { given, pending } = noted.map_err(|_| Silent::Source(index))?;
                (output, source.pending) = (given, pending);
            }
        }
        Ok(output)
    }

    fn pending(&self) -> impl Iterator<Item = Pending> {
        self.sources.iter().map(|source| source.pending)
    }
}
