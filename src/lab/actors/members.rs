//! The actors of one simulation: a machine, those that it asks, and what comes to it from outside.
//! Each counts its messages.

use std::convert::Infallible;

use kameo::Actor;
use kameo::actor::ActorRef;
use kameo::message::{Context, Message};

use super::messages::{
    Advance, AskService, HandOver, Noted, Progress, React, Reacted, Silent, Told,
};
use crate::kernel::{BoxedSource, Machine, Pending, Service, Step};

/// The actor around a machine. It asks its services itself.
#[derive(Actor)]
pub struct MachineActor<M: Machine> {
    pub(super) machine: M,
    pub(super) services: Vec<ActorRef<ServiceActor<M::Service>>>,
    pub(super) handled: u64,
}

impl<M: Machine> MachineActor<M> {
    /// The actor of a machine before its first window, and whom it asks.
    #[must_use]
    pub fn new(machine: M, services: Vec<ActorRef<ServiceActor<M::Service>>>) -> Self {
        Self {
            machine,
            services,
            handled: 0,
        }
    }
}

impl<M: Machine> Message<Advance<M::Input>> for MachineActor<M> {
    type Reply = Result<Progress<M::Output>, Silent>;

    async fn handle(
        &mut self,
        advance: Advance<M::Input>,
        _: &mut Context<Self, Self::Reply>,
    ) -> Self::Reply {
        self.handled += 1;
        let machine = &mut self.machine;
        machine.take(advance.input);
        let reached = loop {
            match machine.advance(advance.until) {
                Step::Ask(questions) => {
                    machine.answered(ask_all(&self.services, questions).await?);
                }
                Step::Reached(time) => break time,
            }
        };
        Ok(Progress {
            output: machine.hand_out(),
            reached,
            next_event: machine.next_event(),
            is_idle: machine.is_idle(),
            is_done: machine.is_done(),
        })
    }
}

/// Asks all services before it waits for the first of them.
async fn ask_all<S: Service>(
    services: &[ActorRef<ServiceActor<S>>],
    questions: Vec<(usize, S::Question)>,
) -> Result<Vec<S::Answer>, Silent> {
    let mut asked = Vec::with_capacity(questions.len());
    for (service, question) in questions {
        let silent = Silent::Service(service);
        let pending = services[service].ask(AskService(question)).enqueue().await;
        asked.push((pending.map_err(|_| silent)?, silent));
    }
    let mut answers = Vec::with_capacity(asked.len());
    for (pending, silent) in asked {
        answers.push(pending.await.map_err(|_| silent)?);
    }
    Ok(answers)
}

/// The actor around a service: a cluster behind a broker.
#[derive(Actor)]
pub struct ServiceActor<S: Service> {
    pub(super) service: S,
    pub(super) handled: u64,
}

impl<S: Service> ServiceActor<S> {
    /// The actor of a service that nobody has asked anything yet.
    #[must_use]
    pub fn new(service: S) -> Self {
        Self {
            service,
            handled: 0,
        }
    }
}

impl<S: Service> Message<AskService<S::Question>> for ServiceActor<S> {
    type Reply = Result<S::Answer, Infallible>;

    async fn handle(
        &mut self,
        ask: AskService<S::Question>,
        _: &mut Context<Self, Self::Reply>,
    ) -> Self::Reply {
        self.handled += 1;
        Ok(self.service.answer(ask.0))
    }
}

/// The actor around a source: clients, in an open or a closed loop, or an injector of failures.
#[derive(Actor)]
pub struct SourceActor<I: Send + 'static, O: Send + 'static> {
    pub(super) source: BoxedSource<I, O>,
    pub(super) handled: u64,
}

impl<I: Send + 'static, O: Send + 'static> SourceActor<I, O> {
    /// The actor of a source that has handed over nothing yet.
    #[must_use]
    pub fn new(source: BoxedSource<I, O>) -> Self {
        Self { source, handled: 0 }
    }

    fn noted<T: Send>(&mut self, given: T) -> Noted<T> {
        self.handled += 1;
        Noted {
            given,
            pending: Pending::of(&self.source),
        }
    }
}

impl<I: Send + 'static, O: Send + 'static> Message<HandOver<I>> for SourceActor<I, O> {
    type Reply = Noted<I>;

    async fn handle(
        &mut self,
        mut ask: HandOver<I>,
        _: &mut Context<Self, Self::Reply>,
    ) -> Self::Reply {
        self.source.hand_over(ask.until, &mut ask.input);
        self.noted(ask.input)
    }
}

impl<I: Send + 'static, O: Send + 'static> Message<Told<O>> for SourceActor<I, O> {
    type Reply = Noted<O>;

    async fn handle(&mut self, told: Told<O>, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        self.source.told(&told.0);
        self.noted(told.0)
    }
}

impl<I: Default + Send + 'static, O: Send + 'static> Message<React<O>> for SourceActor<I, O> {
    type Reply = Reacted<I, O>;

    async fn handle(&mut self, ask: React<O>, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        self.handled += 1;
        if let Some(output) = &ask.told {
            self.source.told(output);
        }
        let mut input = I::default();
        let begin = ask
            .clock
            .first_second(&mut self.source, ask.others, &mut input);
        Reacted {
            told: ask.told,
            input,
            begin,
            pending: Pending::of(&self.source),
        }
    }
}
