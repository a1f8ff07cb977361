//! Expected completions of the jobs of a node-mapped plan, computed when they are needed.
//!
//! A job's completion follows from those of its predecessors at its acceptance (Birkenheuer 2012,
//! §3.2.3). Many completions are never needed, because no job is tried in a gap behind them. So
//! acceptance stores the question only, with handles to the expectations of the predecessors at
//! that time; the answer is the same whenever it is computed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bookahead_core::estimates::{
    CompletionDistribution, Convolution, Convolver, NoEarlier, RuntimeSteps,
    probability_executable_at_most,
};
use bookahead_core::units::Seconds;
use bookahead_core::workload::JobId;

/// At most this many questions in a row wait for each other, so that neither the stack nor the
/// stored past grows with the number of jobs.
const DEEPEST: u32 = 64;

/// The expected completions of planned, running and disabled jobs.
pub(super) struct Completions {
    jobs: BTreeMap<JobId, Expected>,
    convolver: RefCell<Convolver>,
}

/// What determines when a job ends.
pub(super) struct Question {
    /// Those that it waits for.
    pub(super) predecessors: Vec<Expected>,
    /// Its earliest start.
    pub(super) from: Seconds,
    /// Its planned start.
    pub(super) start: Seconds,
    /// When it is killed.
    pub(super) end: Seconds,
    /// How long it runs.
    pub(super) steps: RuntimeSteps,
}

/// The completion of one job. Copies share the answer.
#[derive(Clone)]
pub(super) struct Expected(Arc<Completion>);

struct Completion {
    state: Mutex<State>,
    /// Of a completion that is or was a question.
    run: Option<Run>,
}

struct Run {
    from: Seconds,
    end: Seconds,
    steps: RuntimeSteps,
}

enum State {
    /// Those that the job waits for, its planned start, and the number of questions that must be
    /// answered one after the other.
    Open(Vec<Expected>, Seconds, u32),
    Known(Arc<CompletionDistribution>),
}

impl Completions {
    pub(super) fn new(convolution: Convolution) -> Self {
        Self {
            jobs: BTreeMap::new(),
            convolver: RefCell::new(Convolver::by(convolution)),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(JobId) -> bool) {
        self.jobs.retain(|job, _| keep(*job));
    }

    pub(super) fn remove(&mut self, job: JobId) {
        self.jobs.remove(&job);
    }

    /// What was expected of one run is expected of another.
    pub(super) fn rename(&mut self, from: JobId, to: JobId) {
        if let Some(completion) = self.jobs.remove(&from) {
            self.jobs.insert(to, completion);
        }
    }

    /// The job ends as this says.
    pub(super) fn insert(&mut self, job: JobId, completion: Expected) {
        self.jobs.insert(job, completion);
    }

    /// The job ends as follows from this.
    pub(super) fn ask(&mut self, job: JobId, question: Question) {
        let waits = |expected: &Expected| match &*expected.state() {
            State::Open(_, _, depth) => *depth,
            State::Known(_) => 0,
        };
        let mut depth = question.predecessors.iter().map(waits).max().unwrap_or(0);
        if depth >= DEEPEST {
            for predecessor in &question.predecessors {
                predecessor.distribution(&mut self.convolver.borrow_mut());
            }
            depth = 0;
        }
        let Question {
            predecessors,
            from,
            start,
            end,
            steps,
        } = question;
        let completion = Completion {
            state: Mutex::new(State::Open(predecessors, start, depth + 1)),
            run: Some(Run { from, end, steps }),
        };
        self.insert(job, Expected(Arc::new(completion)));
    }

    /// Handles of those of the jobs that have statistics.
    pub(super) fn of(&self, jobs: &[JobId]) -> Vec<Expected> {
        let found = jobs.iter().filter_map(|job| self.jobs.get(job));
        found.cloned().collect()
    }

    /// The distribution of a job, if it has statistics.
    pub(super) fn distribution(&self, job: JobId) -> Option<Arc<CompletionDistribution>> {
        let expected = self.jobs.get(&job)?;
        Some(expected.distribution(&mut self.convolver.borrow_mut()))
    }

    /// No less than the probability that a job which waits for these ends by `end`, but for
    /// rounding, without working out anything.
    pub(super) fn executable_at_most(
        &self,
        jobs: &[JobId],
        runtime: &RuntimeSteps,
        from: Seconds,
        latest: Seconds,
        end: Seconds,
    ) -> f64 {
        let expected: Vec<(&Expected, Option<Arc<CompletionDistribution>>)> = jobs
            .iter()
            .filter_map(|job| self.jobs.get(job))
            .map(|expected| (expected, expected.known()))
            .collect();
        let bounds: Vec<NoEarlier<'_>> = expected
            .iter()
            .filter_map(|(expected, known)| match (known, &expected.0.run) {
                (Some(known), _) => Some(NoEarlier::Completion(known)),
                (None, Some(run)) => Some(NoEarlier::Runtime {
                    from: run.from,
                    steps: &run.steps,
                    window_end: run.end,
                }),
                (None, None) => None,
            })
            .collect();
        probability_executable_at_most(&bounds, runtime, from, latest, end)
    }
}

impl From<Arc<CompletionDistribution>> for Expected {
    fn from(known: Arc<CompletionDistribution>) -> Self {
        Self(Arc::new(Completion {
            state: Mutex::new(State::Known(known)),
            run: None,
        }))
    }
}

impl Expected {
    fn state(&self) -> MutexGuard<'_, State> {
        let state = &self.0.state;
        state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> Option<Arc<CompletionDistribution>> {
        match &*self.state() {
            State::Known(known) => Some(Arc::clone(known)),
            State::Open(..) => None,
        }
    }

    fn distribution(&self, convolver: &mut Convolver) -> Arc<CompletionDistribution> {
        let mut state = self.state();
        let answer = match (&*state, &self.0.run) {
            (State::Known(known), _) => return Arc::clone(known),
            (State::Open(predecessors, start, _), Some(run)) => {
                Arc::new(run.answer(predecessors, *start, convolver))
            }
            (State::Open(..), None) => unreachable!("only questions are open"),
        };
        *state = State::Known(Arc::clone(&answer));
        answer
    }
}

impl Run {
    fn answer(
        &self,
        predecessors: &[Expected],
        start: Seconds,
        convolver: &mut Convolver,
    ) -> CompletionDistribution {
        let predecessors: Vec<Arc<CompletionDistribution>> = predecessors
            .iter()
            .map(|predecessor| predecessor.distribution(convolver))
            .collect();
        let predecessors: Vec<&CompletionDistribution> =
            predecessors.iter().map(AsRef::as_ref).collect();
        convolver.complete_after(&predecessors, self.from, start, &self.steps, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Seconds = Seconds(60);

    fn steps() -> RuntimeSteps {
        RuntimeSteps::from_weights(&[(1, 0.5), (3, 0.5)], STEP).unwrap()
    }

    /// A chain of jobs, each behind the one before it; asked for after each acceptance or only at
    /// the end.
    fn last_of_chain(jobs: u32, ask_at_once: bool) -> Arc<CompletionDistribution> {
        let mut completions = Completions::new(Convolution::Direct);
        for job in 0..jobs {
            let before: Vec<JobId> = job.checked_sub(1).map(JobId).into_iter().collect();
            let start = Seconds(180 * i64::from(job));
            completions.ask(
                JobId(job),
                Question {
                    predecessors: completions.of(&before),
                    from: (start - Seconds(500)).max(Seconds::ZERO),
                    start,
                    end: start + Seconds(180),
                    steps: steps(),
                },
            );
            if ask_at_once {
                completions.distribution(JobId(job));
            }
            if let Some(&gone) = before.first() {
                completions.remove(gone);
            }
        }
        completions.distribution(JobId(jobs - 1)).unwrap()
    }

    #[test]
    fn an_answer_is_the_same_whenever_it_is_worked_out() {
        for jobs in [1, 2, 5, DEEPEST, 3 * DEEPEST + 7] {
            assert_eq!(last_of_chain(jobs, false), last_of_chain(jobs, true));
        }
    }

    #[test]
    fn a_long_chain_of_questions_is_answered_under_way() {
        let completion = last_of_chain(100_000, false);
        assert!(completion.cdf().len() > 1);
    }
}
