//! What a log says of a job beyond what was asked: when it ended there, and which job it came
//! after.

use std::collections::HashMap;

use super::swf::SwfRecord;
use crate::units::Seconds;

/// The jobs of a log by their numbers in it ([`Job::trace_number`](super::Job::trace_number)).
pub type JobLog = HashMap<i64, LoggedJob>;

/// A job as it went in the log; times are those of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedJob {
    /// When it was submitted.
    pub submit: Seconds,
    /// When it ended; `None` where the log does not say.
    pub end: Option<Seconds>,
    /// The number of the job whose end its user waited for (field 17).
    pub preceding: Option<i64>,
    /// How long after that end it was submitted (field 18); 0 where the log does not say.
    pub think_time: Seconds,
}

/// The jobs of these records; of several with one number the first counts.
#[must_use]
pub fn job_log(records: &[SwfRecord]) -> JobLog {
    let mut log = JobLog::with_capacity(records.len());
    for record in records {
        let is_timed = record.submit >= 0 && record.wait >= 0 && record.run >= 0;
        let logged = LoggedJob {
            submit: Seconds(record.submit),
            end: is_timed.then(|| Seconds(record.submit + record.wait + record.run)),
            preceding: (record.preceding_job > 0).then_some(record.preceding_job),
            think_time: Seconds(record.think_time.max(0)),
        };
        log.entry(record.job_number).or_insert(logged);
    }
    log
}
