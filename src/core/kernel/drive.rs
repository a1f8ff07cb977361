//! A whole simulation by plain calls.

use super::{BoxedSource, Clock, Machine, Pending, Service, Step};
use crate::units::Seconds;

const WEEK: Seconds = Seconds(7 * 24 * 3_600);

/// A source of a machine, with its name in messages and logs.
pub type NamedSource<M> = (
    &'static str,
    BoxedSource<<M as Machine>::Input, <M as Machine>::Output>,
);

/// Everything that takes part in a simulation.
pub struct Scene<M: Machine> {
    /// The machine that is simulated.
    pub machine: M,
    /// Its name in messages and logs.
    pub machine_name: &'static str,
    /// The services that it asks, by index.
    pub services: Vec<M::Service>,
    /// The name of each service in messages and logs.
    pub service_name: &'static str,
    /// The sources of its input, with names for messages and logs.
    pub sources: Vec<NamedSource<M>>,
    /// The length of time for which sources hand over input at once: no influence on results.
    pub window: Seconds,
}

/// The result of playing a [`Scene`].
pub struct Played<M: Machine> {
    /// The machine in its last state.
    pub machine: M,
    /// The services that it asked.
    pub services: Vec<M::Service>,
    /// The sources in their order.
    pub sources: Vec<BoxedSource<M::Input, M::Output>>,
    /// The output of the machine, one for each window; empty unless it was to be kept.
    pub outputs: Vec<M::Output>,
    /// Whether everything has ended. If not, the machine waits for something that will never
    /// happen, which is a defect of its policy.
    pub is_over: bool,
}

impl<M: Machine> Scene<M> {
    /// A scene with windows of a week, without services and sources.
    #[must_use]
    pub fn new(machine_name: &'static str, machine: M) -> Self {
        Self {
            machine,
            machine_name,
            services: Vec::new(),
            service_name: "service",
            sources: Vec::new(),
            window: WEEK,
        }
    }

    /// The same scene with one more source.
    #[must_use]
    pub fn with(
        mut self,
        name: &'static str,
        source: impl super::Source<M::Input, M::Output>,
    ) -> Self {
        self.sources.push((name, Box::new(source)));
        self
    }
}

impl<M: Machine> Played<M> {
    /// The first source of this kind.
    #[must_use]
    pub fn take_source<S: super::Source<M::Input, M::Output>>(&mut self) -> Option<S> {
        let is_wanted = |source: &BoxedSource<M::Input, M::Output>| {
            let any: &dyn std::any::Any = &**source;
            any.is::<S>()
        };
        let place = self.sources.iter().position(is_wanted)?;
        let any: Box<dyn std::any::Any> = self.sources.remove(place);
        any.downcast().ok().map(|source| *source)
    }
}

/// Plays a scene to its end, in this thread and without messages. Keeps the output of the machine
/// if `keep` is set.
#[must_use]
pub fn drive<M: Machine>(scene: Scene<M>, keep: bool) -> Played<M> {
    let Scene {
        mut machine,
        mut services,
        sources,
        window,
        ..
    } = scene;
    let mut sources: Vec<_> = sources.into_iter().map(|(_, source)| source).collect();
    let mut clock = Clock::new(window);
    let mut outputs = Vec::new();
    while !machine.is_done() {
        let pending = sources.iter().map(Pending::of);
        let others = clock.next(pending, machine.next_event(), machine.is_idle());
        let mut input = M::Input::default();
        let reacting = sources.iter_mut().find(|source| source.reacts());
        let begin = match reacting {
            Some(source) => clock.first_second(source, others, &mut input),
            None => others,
        };
        let Some(begin) = begin else {
            break;
        };
        let until = clock.end(begin, sources.iter().map(Pending::of));
        for source in sources.iter_mut().filter(|source| !source.reacts()) {
            source.hand_over(until, &mut input);
        }
        machine.take(input);
        let reached = loop {
            match machine.advance(until) {
                Step::Ask(questions) => {
                    let answers = questions.into_iter();
                    let answers = answers.map(|(it, question)| services[it].answer(question));
                    machine.answered(answers.collect());
                }
                Step::Reached(time) => break time,
            }
        };
        clock.reached(reached);
        let output = machine.hand_out();
        for source in sources.iter_mut().filter(|source| source.listens()) {
            source.told(&output);
        }
        if keep {
            outputs.push(output);
        }
    }
    Played {
        is_over: machine.is_idle() || machine.is_done(),
        machine,
        services,
        sources,
        outputs,
    }
}
