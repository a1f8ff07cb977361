//! Computations that ask in the middle: written as asynchronous code, driven question by question.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::Service;

/// Where such a computation asks its questions. Clones share the one question that may be open.
pub struct Desk<S: Service>(Arc<Mutex<Open<S>>>);

enum Open<S: Service> {
    Nothing,
    Question(usize, S::Question),
    Answer(S::Answer),
}

impl<S: Service> Clone for Desk<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Service> Desk<S> {
    /// Asks the service with this index and waits for its answer.
    pub async fn ask(&self, service: usize, question: S::Question) -> S::Answer {
        self.put(Open::Question(service, question));
        std::future::poll_fn(|_| match self.take() {
            Open::Answer(answer) => Poll::Ready(answer),
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
    desk: Desk<S>,
    computation: Pin<Box<dyn Future<Output = T> + Send>>,
}

impl<S: Service, T> Questions<S, T> {
    /// A computation before its first question. It may wait for answers at its desk, and for nothing else.
    #[must_use]
    pub fn new<F: Future<Output = T> + Send + 'static>(begin: impl FnOnce(Desk<S>) -> F) -> Self {
        let desk = Desk(Arc::new(Mutex::new(Open::Nothing)));
        let computation = Box::pin(begin(desk.clone()));
        Self { desk, computation }
    }

    /// Goes on to the next question (index of the service and what it is asked), or to the result. Not to be called after that.
    ///
    /// # Panics
    ///
    /// When the computation waits for something else than an answer: nobody would ever wake it.
    pub fn go_on(&mut self) -> Result<T, (usize, S::Question)> {
        let mut nobody = Context::from_waker(Waker::noop());
        match self.computation.as_mut().poll(&mut nobody) {
            Poll::Ready(result) => Ok(result),
            Poll::Pending => match self.desk.take() {
                Open::Question(service, question) => Err((service, question)),
                Open::Nothing | Open::Answer(_) => {
                    unreachable!("a computation waits for answers alone")
                }
            },
        }
    }

    /// The answer to the last question.
    pub fn answered(&mut self, answer: S::Answer) {
        self.desk.put(Open::Answer(answer));
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
        let mut questions = Questions::<Doubles, u32>::new(async |desk| {
            let first = desk.ask(0, 3).await;
            first + desk.ask(1, 10).await
        });
        let mut asked = Vec::new();
        let result = loop {
            match questions.go_on() {
                Ok(result) => break result,
                Err((service, question)) => {
                    asked.push((service, question));
                    questions.answered(Doubles.answer(question));
                }
            }
        };
        assert_eq!((result, asked), (26, vec![(0, 3), (1, 10)]));
    }
}
