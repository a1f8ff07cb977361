//! Brings the actors of a simulation up, has the clock play it, and takes their states back.

use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::error::{ActorStopReason, PanicError};
use kameo::mailbox;
use tokio::task::JoinHandle;

use super::SimulationError;
use super::clock::{ClockActor, SourceOf};
use super::members::{MachineActor, ServiceActor, SourceActor};
use super::messages::{Play, Silent};
use crate::kernel::{Clock, Machine, Pending, Played, Scene};

/// Plays a scene to its end as actors, on a runtime of this thread. Keeps what the machine hands
/// out where that is wanted. Its result is that of [`drive`](crate::kernel::drive), beside how many
/// messages were handled.
///
/// # Errors
///
/// When an actor panics.
pub fn conduct<M: Machine>(
    scene: Scene<M>,
    keep: bool,
) -> Result<(Played<M>, u64), SimulationError> {
    tokio::runtime::Builder::new_current_thread()
        .build()?
        .block_on(play(scene, keep))
}

async fn play<M: Machine>(
    scene: Scene<M>,
    keep: bool,
) -> Result<(Played<M>, u64), SimulationError> {
    let services: Vec<_> = scene
        .services
        .into_iter()
        .map(|service| Member::spawn(scene.service_name, ServiceActor::new(service)))
        .collect();
    let sources: Vec<_> = scene
        .sources
        .into_iter()
        .map(|(name, source)| {
            let pending = Pending::of(&source);
            (Member::spawn(name, SourceActor::new(source)), pending)
        })
        .collect();
    let (next_event, is_idle) = (scene.machine.next_event(), scene.machine.is_idle());
    let is_done = scene.machine.is_done();
    let asked = services.iter().map(|member| member.actor.clone());
    let machine = MachineActor::new(scene.machine, asked.collect());
    let mut machine = Member::spawn(scene.machine_name, machine);
    let mut clock = Member::spawn(
        "clock",
        ClockActor {
            clock: Clock::new(scene.window),
            machine: machine.actor.clone(),
            sources: sources
                .iter()
                .map(|(member, pending)| SourceOf {
                    actor: member.actor.clone(),
                    pending: *pending,
                })
                .collect(),
            next_event,
            is_idle,
            is_done,
            keep,
        },
    );
    let mut sources: Vec<_> = sources.into_iter().map(|(member, _)| member).collect();
    let mut services = services;
    let ended = match clock.actor.ask(Play).await {
        Ok(ended) => ended,
        Err(error) => {
            return Err(match error.err() {
                Some(Silent::Machine) => machine.why_stopped().await,
                Some(Silent::Source(index)) => sources[index].why_stopped().await,
                Some(Silent::Service(index)) => services[index].why_stopped().await,
                None => clock.why_stopped().await,
            });
        }
    };
    let mut handled = Handled::default();
    clock.retire().await?;
    handled.count("clock", 1);
    let machine_name = machine.name;
    let machine = machine.retire().await?;
    handled.count(machine_name, machine.handled);
    let mut played = Played {
        machine: machine.machine,
        services: Vec::new(),
        sources: Vec::new(),
        outputs: ended.outputs,
        is_over: ended.is_over,
    };
    for member in services {
        let name = member.name;
        let service = member.retire().await?;
        handled.count(name, service.handled);
        played.services.push(service.service);
    }
    for member in sources {
        let name = member.name;
        let source = member.retire().await?;
        handled.count(name, source.handled);
        played.sources.push(source.source);
    }
    handled.log();
    Ok((played, handled.sum()))
}

/// An actor of this simulation and the task that it runs on.
struct Member<A: Actor> {
    name: &'static str,
    actor: ActorRef<A>,
    task: JoinHandle<Result<(A, ActorStopReason), PanicError>>,
}

impl<A: Actor<Args = A>> Member<A> {
    fn spawn(name: &'static str, actor: A) -> Self {
        // Whoever says something waits for the reply, so no mailbox ever holds more than a few.
        let prepared = A::prepare_with_mailbox(mailbox::unbounded());
        let reference = prepared.actor_ref().clone();
        Self {
            name,
            actor: reference,
            task: prepared.spawn(actor),
        }
    }

    /// Its state, when nobody has anything more to say to it.
    async fn retire(mut self) -> Result<A, SimulationError> {
        // Refused where it has stopped already, which its task says.
        let _ = self.actor.stop_gracefully().await;
        match (&mut self.task).await {
            Ok(Ok((actor, _))) => Ok(actor),
            Ok(Err(panic)) => Err(self.stopped(panic.to_string())),
            Err(error) => Err(self.stopped(error.to_string())),
        }
    }

    /// Called when an ask was not answered: the actor is gone, and its task knows why.
    async fn why_stopped(&mut self) -> SimulationError {
        let reason = match (&mut self.task).await {
            Ok(Ok((_, reason))) => format!("{reason:?}"),
            Ok(Err(panic)) => panic.to_string(),
            Err(error) => error.to_string(),
        };
        self.stopped(reason)
    }

    fn stopped(&self, reason: String) -> SimulationError {
        SimulationError::Stopped {
            actor: self.name,
            reason,
        }
    }
}

/// How many messages each actor handled, for the log.
#[derive(Default)]
struct Handled(Vec<(&'static str, u64)>);

impl Handled {
    fn count(&mut self, name: &'static str, messages: u64) {
        self.0.push((name, messages));
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|(_, messages)| messages).sum()
    }

    fn log(&self) {
        if tracing::enabled!(tracing::Level::DEBUG) {
            let actors: Vec<String> = (self.0.iter())
                .map(|(name, messages)| format!("{name} {messages}"))
                .collect();
            tracing::debug!(
                "simulated by actors (messages handled): {}",
                actors.join(", ")
            );
        }
    }
}
