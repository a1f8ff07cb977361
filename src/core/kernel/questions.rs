//! Computations that ask questions while they run: written as asynchronous code, driven question by
//! question.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::Service;

/// The way from such a computation to the services that it asks. Clones share the open questions.
pub struct ServiceChannel<S: Service>(Arc<Mutex<Open<S>>>);

enum Open<S: Service> {
    Nothing,
    Questions(Vec<(usize, S::Question)>),
    Answers(Vec<S::Answer>),
}

impl<S: Service> Clone for ServiceChannel<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Service> ServiceChannel<S> {
    /// Asks the service with this index and waits for its answer.
    pub async fn ask(&self, service: usize, question: S::Question) -> S::Answer {
        let mut answers = self.ask_all(vec![(service, question)]).await;
        match answers.pop() {
            Some(answer) => answer,
            None => unreachable!("every question has its answer"),
        }
    }

    /// Asks services by their indices, each once at most, and waits for all answers, which are in
    /// the order of the questions.
    pub async fn ask_all(&self, questions: Vec<(usize, S::Question)>) -> Vec<S::Answer> {
        self.put(Open::Questions(questions));
        std::future::poll_fn(|_| match self.take() {
            Open::Answers(answers) => Poll::Ready(answers),
            open => {
                self.put(open);
                Poll::Pending
            }
        })
        .await
    }

    fn put(&self, open: Open<S>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = open;
    }

    fn take(&self) -> Open<S> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *open, Open::Nothing)
    }
}

/// A computation that asks services and ends with a `T`.
pub struct Questions<S: Service, T> {
    channel: ServiceChannel<S>,
    computation: Pin<Box<dyn Future<Output = T> + Send>>,
}

impl<S: Service, T> Questions<S, T> {
    /// A computation before its first question. It may wait for answers from its channel, and for
    /// nothing else.
    #[must_use]
    pub fn new<F: Future<Output = T> + Send + 'static>(
        begin: impl FnOnce(ServiceChannel<S>) -> F,
    ) -> Self {
        let channel = ServiceChannel(Arc::new(Mutex::new(Open::Nothing)));
        let computation = Box::pin(begin(channel.clone()));
        Self {
            channel,
            computation,
        }
    }

    /// Runs on to the next questions, or to the result. Must not be called after the result.
    ///
    /// # Panics
    ///
    /// When the computation waits for something else than answers: nothing would ever wake it.
    pub fn go_on(&mut self) -> Result<T, Vec<(usize, S::Question)>> {
        let mut nobody = Context::from_waker(Waker::noop());
        match self.computation.as_mut().poll(&mut nobody) {
            Poll::Ready(result) => Ok(result),
            Poll::Pending => match self.channel.take() {
                Open::Questions(questions) => Err(questions),
                Open::Nothing | Open::Answers(_) => {
                    unreachable!("a computation waits for answers alone")
                }
            },
        }
    }

    /// Hands over the answers to the last questions.
    pub fn answered(&mut self, answers: Vec<S::Answer>) {
        self.channel.put(Open::Answers(answers));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Doubles;

    impl Service for Doubles {
        type Question = u32;
        type Answer = u32;

        fn answer(&mut self, question: u32) -> u32 {
            2 * question
        }
    }

    #[test]
    fn a_computation_asks_one_question_after_the_other_and_ends_with_its_result() {
        let mut questions = Questions::<Doubles, u32>::new(async |channel| {
            let first = channel.ask(0, 3).await;
            let others = channel.ask_all(vec![(1, 10), (0, first)]).await;
            first + others.iter().sum::<u32>()
        });
        let mut asked = Vec::new();
        let result = loop {
            match questions.go_on() {
                Ok(result) => break result,
                Err(next) => {
                    let answers = next.iter().map(|&(_, question)| Doubles.answer(question));
                    questions.answered(answers.collect());
                    asked.push(next);
                }
            }
        };
        assert_eq!(result, 6 + 20 + 12);
        assert_eq!(asked, [vec![(0, 3)], vec![(1, 10), (0, 6)]]);
    }
}
