//! The average of the user's last two run times (Tsafrir 2007).

use std::collections::HashMap;

use super::{Build, NamedPredictor, Predictor, Reads, Submission, UserIndex};
use crate::units::Seconds;

/// The last two that *ended*, as in Gaussier et al. 2015; the request before there are two.
pub(super) const BY_TERMINATION: NamedPredictor = NamedPredictor {
    name: "average-of-two",
    summary: "average of the user's two jobs that ended last",
    reads: Reads::Nothing,
    is_never_short: false,
    build: Build::Sees(|_| Box::<ByTermination>::default()),
};

/// Of the jobs that have ended the two that were *submitted* last, as in Tsafrir et al. 2007; one
/// suffices.
pub(super) const BY_SUBMISSION: NamedPredictor = NamedPredictor {
    name: "average-of-two-submitted",
    summary: "average of the two of the user's ended jobs that were submitted last",
    reads: Reads::Nothing,
    is_never_short: false,
    build: Build::Sees(|_| Box::<BySubmission>::default()),
};

/// The same two, where both asked for as much time as the job: the window that Tsafrir et al. call
/// immediate. Else the request.
pub(super) const IMMEDIATE: NamedPredictor = NamedPredictor {
    name: "average-of-two-immediate",
    summary: "the same where both asked for as much time as the job",
    build: Build::Sees(|_| Box::<Immediate>::default()),
    ..BY_SUBMISSION
};

/// The two that were submitted last of those that asked for as much time as the job: the window
/// that Tsafrir et al. call extended. The request before there are two.
pub(super) const EXTENDED: NamedPredictor = NamedPredictor {
    name: "average-of-two-extended",
    summary: "average of the last two of the user's ended jobs that asked for as much time",
    build: Build::Sees(|_| Box::<Extended>::default()),
    ..BY_SUBMISSION
};

/// Run times of the last and the second last ended job of each user.
#[derive(Clone, Default)]
struct ByTermination {
    users: Vec<[Option<i64>; 2]>,
}

impl Predictor for ByTermination {
    fn predict(&mut self, submission: &Submission) -> Seconds {
        match self.users.get(submission.user.0 as usize) {
            Some([Some(last), Some(before)]) => {
                submission.request.min(Seconds((last + before) / 2))
            }
            _ => submission.request,
        }
    }

    fn ended(&mut self, submission: &Submission, start: Seconds, end: Seconds) {
        let user = submission.user.0 as usize;
        if self.users.len() <= user {
            self.users.resize(user + 1, [None; 2]);
        }
        let [last, before] = &mut self.users[user];
        *before = last.replace((end - start).0);
    }

    fn boxed(&self) -> Box<dyn Predictor> {
        Box::new(self.clone())
    }
}

/// A job that has ended.
#[derive(Clone, Copy)]
struct Ended {
    /// Its place in the order of submission.
    index: u32,
    request: Seconds,
    runtime: i64,
}

/// Of the jobs that have ended the two that were submitted last, the last one first.
#[derive(Clone, Copy, Default)]
struct LastTwo([Option<Ended>; 2]);

impl LastTwo {
    fn add(&mut self, submission: &Submission, start: Seconds, end: Seconds) {
        let ended = Ended {
            index: submission.index,
            request: submission.request,
            runtime: (end - start).0,
        };
        let [last, before] = &mut self.0;
        if last.is_none_or(|last| last.index < ended.index) {
            *before = last.replace(ended);
        } else if before.is_none_or(|before| before.index < ended.index) {
            *before = Some(ended);
        }
    }

    /// Their average for this job, at most its request; `None` before there are two.
    fn average(&self, submission: &Submission) -> Option<Seconds> {
        let [Some(last), Some(before)] = self.0 else {
            return None;
        };
        let average = (last.runtime + before.runtime) / 2;
        Some(submission.request.min(Seconds(average.max(1))))
    }
}

/// The last two of each user.
#[derive(Clone, Default)]
struct BySubmission {
    users: Vec<LastTwo>,
}

impl BySubmission {
    fn of(&self, user: UserIndex) -> LastTwo {
        self.users.get(user.0 as usize).copied().unwrap_or_default()
    }
}

impl Predictor for BySubmission {
    fn predict(&mut self, submission: &Submission) -> Seconds {
        let last = self.of(submission.user);
        match last.0 {
            [Some(only), None] => submission.request.min(Seconds(only.runtime.max(1))),
            _ => last.average(submission).unwrap_or(submission.request),
        }
    }

    fn ended(&mut self, submission: &Submission, start: Seconds, end: Seconds) {
        let user = submission.user.0 as usize;
        if self.users.len() <= user {
            self.users.resize(user + 1, LastTwo::default());
        }
        self.users[user].add(submission, start, end);
    }

    fn boxed(&self) -> Box<dyn Predictor> {
        Box::new(self.clone())
    }
}

/// The last two of each user, where both are like the job.
#[derive(Clone, Default)]
struct Immediate(BySubmission);

impl Predictor for Immediate {
    fn predict(&mut self, submission: &Submission) -> Seconds {
        let last = self.0.of(submission.user);
        let mut known = last.0.iter().flatten();
        let are_alike = known.all(|ended| ended.request == submission.request);
        let average = last.average(submission).filter(|_| are_alike);
        average.unwrap_or(submission.request)
    }

    fn ended(&mut self, submission: &Submission, start: Seconds, end: Seconds) {
        self.0.ended(submission, start, end);
    }

    fn boxed(&self) -> Box<dyn Predictor> {
        Box::new(self.clone())
    }
}

/// The last two of each user and request.
#[derive(Clone, Default)]
struct Extended {
    alike: HashMap<(UserIndex, Seconds), LastTwo>,
}

impl Predictor for Extended {
    fn predict(&mut self, submission: &Submission) -> Seconds {
        let last = self.alike.get(&(submission.user, submission.request));
        let average = last.and_then(|last| last.average(submission));
        average.unwrap_or(submission.request)
    }

    fn ended(&mut self, submission: &Submission, start: Seconds, end: Seconds) {
        let alike = self.alike.entry((submission.user, submission.request));
        alike.or_default().add(submission, start, end);
    }

    fn boxed(&self) -> Box<dyn Predictor> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Predictor, PredictorTester};
    use super::*;

    #[test]
    fn the_average_of_two_needs_two_ended_jobs_and_stays_below_the_request() {
        let mut tester = PredictorTester::new(Box::<ByTermination>::default());
        assert_eq!(tester.predict(1_000), 1_000);
        tester.end(100);
        assert_eq!(tester.predict(1_000), 1_000);
        tester.end(61);
        assert_eq!(tester.predict(1_000), 80);
        tester.end(40);
        assert_eq!(tester.predict(1_000), 50);
        assert_eq!(tester.predict(45), 45);
    }

    #[test]
    fn one_ended_job_suffices_in_the_reading_of_2007() {
        let mut tester = PredictorTester::new(Box::<BySubmission>::default());
        tester.end(100);
        assert_eq!(tester.predict(1_000), 100);
    }

    #[test]
    fn the_reading_of_2007_goes_by_submissions_whatever_ended_last() {
        let mut predictor = BySubmission::default();
        let job = |index| Submission {
            index,
            ..PredictorTester::submission(0, 1_000)
        };
        for (index, runtime) in [(2, 30), (3, 50), (1, 900)] {
            predictor.ended(&job(index), Seconds(0), Seconds(runtime));
        }
        assert_eq!(predictor.predict(&job(4)), Seconds(40));
    }
    #[test]
    fn windows_of_jobs_that_are_alike_go_by_what_was_asked_for() {
        let job = |index, request| PredictorTester::submission(index, request);
        // In the order of submission the user ran for 100 and 60 s of 1,000, and for 7 s of 50.
        let ended = [(0, 1_000, 100), (1, 1_000, 60), (2, 50, 7)];
        let after = |count: usize, predictor: &NamedPredictor, request| {
            let Build::Sees(build) = predictor.build else {
                panic!("{} sees what has happened", predictor.name);
            };
            let mut predictor = build(&super::super::PredictorSettings::default());
            for (index, request, runtime) in &ended[..count] {
                predictor.ended(&job(*index, *request), Seconds(0), Seconds(*runtime));
            }
            predictor.predict(&job(9, request)).0
        };
        for predictor in [&IMMEDIATE, &EXTENDED] {
            assert_eq!(after(1, predictor, 1_000), 1_000, "{}", predictor.name);
            assert_eq!(after(2, predictor, 1_000), 80, "{}", predictor.name);
            assert_eq!(after(2, predictor, 70), 70, "{}", predictor.name);
        }
        // The third one is between: the two before it count for the extended window alone.
        assert_eq!(after(3, &IMMEDIATE, 1_000), 1_000);
        assert_eq!(after(3, &EXTENDED, 1_000), 80);
        assert_eq!(after(3, &EXTENDED, 50), 50);
        assert_eq!(after(3, &BY_SUBMISSION, 1_000), 33);
    }
}
