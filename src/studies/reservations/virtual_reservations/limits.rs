//! What a site does against padded jobs, as chances to start (Singh 2008, §6.3.2 and §6.5).

use bookahead_core::units::Seconds;

/// `predict` on a machine that refuses jobs that ask for more than `limit` (Singh 2008, §6.3.2):
/// they have no chance to start.
pub fn within_limit(
    limit: Option<Seconds>,
    mut predict: impl FnMut(Seconds, Seconds) -> f64,
) -> impl FnMut(Seconds, Seconds) -> f64 {
    move |runtime, lead| match limit {
        Some(limit) if runtime > limit => 0.0,
        _ => predict(runtime, lead),
    }
}

/// `predict` on a machine that ends padded jobs that have idled for `limit` (Singh 2008, §6.3.2):
/// the job must start neither after S nor more than `limit` before it. The probability is that of a
/// start by S, less that of one too early, to 12 digits, so that equal chances compare equal.
pub fn within_idle_limit(
    limit: Option<Seconds>,
    mut predict: impl FnMut(Seconds, Seconds) -> f64,
) -> impl FnMut(Seconds, Seconds) -> f64 {
    move |runtime, lead| {
        let by_start = predict(runtime, lead);
        match limit {
            Some(limit) if lead > limit => {
                let too_early = predict(runtime, lead - limit - Seconds(1));
                ((by_start - too_early).max(0.0) * 1e12).round() / 1e12
            }
            _ => by_start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtual_reservations::rules::{Padding, SUBMISSION_STEP, submission_time};

    /// Addendum S9: a job of 4 h, 8 h ahead, on a machine that accepts 8 h. With D + (S − t) only
    /// submissions from 4 h on are left, of which the first is the likeliest.
    #[test]
    fn a_padded_job_over_the_limit_of_the_machine_is_not_submitted() {
        let (start, limit) = (Seconds::HOUR * 8, Seconds::HOUR * 8);
        let found = submission_time(
            Seconds::ZERO,
            start,
            Seconds::HOUR * 4,
            SUBMISSION_STEP,
            Padding::EachSubmission,
            within_limit(Some(limit), |_, lead: Seconds| lead.hours() / 10.0),
        );
        let found = found.unwrap();
        assert_eq!((found.submit, found.runtime), (Seconds::HOUR * 4, limit));
    }

    /// Waits of 30, 60 and 90 minutes are equally likely. A job that is submitted 110 minutes ahead
    /// and may idle for 20 has to wait for 90, one that is submitted 90 minutes ahead and may idle
    /// for 30 for 60 or 90.
    #[test]
    fn a_padded_job_that_would_idle_too_long_is_submitted_later() {
        let minute = Seconds(60);
        let waits = [30, 60, 90].map(|minutes| minute * minutes);
        let predict = |_, lead: Seconds| {
            waits.iter().filter(|wait| **wait <= lead).count() as f64 / waits.len() as f64
        };
        let chance = |lead: i64, limit: Option<i64>| {
            let limit = limit.map(|minutes| minute * minutes);
            within_idle_limit(limit, predict)(Seconds::HOUR, minute * lead)
        };
        for (lead, limit, starts) in [
            (120, None, 3.0),
            (120, Some(20), 0.0),
            (110, Some(20), 1.0),
            (90, Some(20), 1.0),
            (80, Some(20), 1.0),
            (81, Some(20), 0.0),
            (90, Some(30), 2.0),
            (90, Some(60), 3.0),
            (29, Some(60), 0.0),
        ] {
            let expected = starts / 3.0;
            let found = chance(lead, limit);
            assert!(
                (found - expected).abs() < 1e-12,
                "{lead} {limit:?}: {found}"
            );
        }
        let submitted = |limit: Option<Seconds>| {
            let found = submission_time(
                Seconds::ZERO,
                Seconds::HOUR * 4,
                Seconds::HOUR,
                SUBMISSION_STEP,
                Padding::EachSubmission,
                within_idle_limit(limit, predict),
            );
            found.unwrap().submit
        };
        assert_eq!(submitted(None), Seconds::ZERO);
        assert_eq!(submitted(Some(minute * 20)), minute * (240 - 110));
        assert_eq!(submitted(Some(minute * 30)), minute * (240 - 90));
        assert_eq!(submitted(Some(minute * 60)), minute * (240 - 90));
    }
}
