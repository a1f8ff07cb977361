//! The clock: the only actor that moves virtual time.

use kameo::Actor;
use kameo::actor::ActorRef;
use kameo::message::{Context, Message};

use super::members::{MachineActor, SourceActor};
use super::messages::{
    Advance, Ended, HandOver, Noted, Over, Play, Progress, Silent, Told, Worked,
};
use crate::kernel::{Clock, Machine, Pause, Pending};
use crate::units::Seconds;

/// Grants windows of virtual time, one after the other, and passes what sources hand over to the machine, and what becomes of it to
/// sources that listen.
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
    type Reply = Over<M::Output>;

    async fn handle(&mut self, _: Play, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        Over(self.play().await)
    }
}

impl<M: Machine> ClockActor<M> {
    async fn play(&mut self) -> Result<Ended<M::Output>, Silent> {
        let mut outputs = Vec::new();
        while !self.is_done
            && let Some(grant) = self
                .clock
                .grant(self.pending(), self.next_event, self.is_idle)
        {
            let mut input = M::Input::default();
            input = self.collect(input, grant.first, true).await?;
            let until = grant.end(self.pending());
            input = self.collect(input, until, false).await?;
            let reacts = self.sources.iter().any(|source| source.pending.reacts);
            let pause = if reacts {
                Pause::AtOutput
            } else {
                Pause::Never
            };
            let advance = Advance {
                input,
                until,
                pause,
            };
            let worked = self.machine.ask(advance).await;
            let Worked(progress) = worked.map_err(|_| Silent::Machine)?;
            let Progress {
                mut output,
                reached,
                next_event,
                is_idle,
                is_done,
            } = progress?;
            self.clock.reached(reached);
            (self.next_event, self.is_idle, self.is_done) = (next_event, is_idle, is_done);
            for (index, source) in self.sources.iter_mut().enumerate() {
                if source.pending.listens {
                    let noted = source.actor.ask(Told(output)).await;
                    let Noted { given, pending } = noted.map_err(|_| Silent::Source(index))?;
                    (output, source.pending) = (given, pending);
                }
            }
            if self.keep {
                outputs.push(output);
            }
        }
        Ok(Ended {
            outputs,
            is_over: self.is_idle || self.is_done,
        })
    }

    /// Has sources that have something before `until` add it to the input: those that react, or the others.
    async fn collect(
        &mut self,
        mut input: M::Input,
        until: Seconds,
        reacts: bool,
    ) -> Result<M::Input, Silent> {
        for (index, source) in self.sources.iter_mut().enumerate() {
            let has_some = source.pending.next_event.is_some_and(|next| next < until);
            if has_some && source.pending.reacts == reacts {
                let noted = source.actor.ask(HandOver { until, input }).await;
                let Noted { given, pending } = noted.map_err(|_| Silent::Source(index))?;
                (input, source.pending) = (given, pending);
            }
        }
        Ok(input)
    }

    fn pending(&self) -> impl Iterator<Item = Pending> {
        self.sources.iter().map(|source| source.pending)
    }
}
