//! The average of the user's last two run times (Tsafrir 2007).

use super::{Build, NamedPredictor, Predictor, Reads, Submission};
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

/// Place in the order of submission and run time of the ended jobs that were submitted last, the
/// last one first.
#[derive(Clone, Default)]
struct BySubmission {
    users: Vec<[Option<(u32, i64)>; 2]>,
}

impl Predictor for BySubmission {
    fn predict(&mut self, submission: &Submission) -> Seconds {
        let predicted = match self.users.get(submission.user.0 as usize) {
            Some([Some((_, last)), Some((_, before))]) => (last + before) / 2,
            Some([Some((_, last)), None]) => *last,
            _ => return submission.request,
        };
        submission.request.min(Seconds(predicted.max(1)))
    }

    fn ended(&mut self, submission: &Submission, start: Seconds, end: Seconds) {
        let user = submission.user.0 as usize;
        if self.users.len() <= user {
            self.users.resize(user + 1, [None; 2]);
        }
        let ended = (submission.index, (end - start).0);
        let [last, before] = &mut self.users[user];
        if last.is_none_or(|last| last.0 < ended.0) {
            *before = last.replace(ended);
        } else if before.is_none_or(|before| before.0 < ended.0) {
            *before = Some(ended);
        }
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
}
