//! Usable jobs one by one, in order of submission: for traces that are longer than memory.

use thiserror::Error;

use super::cleaning::{CleaningReport, usable};
use super::job::Job;
use super::settings::{CleaningRules, LoadTime};
use super::swf::{SwfError, SwfRecord};
use crate::units::{Nodes, Seconds};

/// Why a stream of jobs ended early.
#[derive(Debug, Error)]
pub enum JobStreamError {
    /// The trace is faulty.
    #[error(transparent)]
    Swf(#[from] SwfError),
    /// A job was submitted before the one in front of it: only the whole trace can be sorted.
    #[error(
        "job {number} was submitted before the job above it; sort the trace: bookahead trace convert"
    )]
    OutOfOrder {
        /// The job's number in the trace.
        number: i64,
    },
}

/// What all jobs of a stream ask for, in exact whole numbers; jobs wider than the machine are left
/// out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Jobs.
    pub jobs: u64,
    /// Node-seconds that they use: nodes · min(run time, estimate).
    pub used: i128,
    /// Node-seconds that they book: nodes · estimate.
    pub booked: i128,
    /// The first submission.
    pub first: Option<Seconds>,
    /// The last submission.
    pub last: Seconds,
}

impl Demand {
    /// Adds a job.
    pub fn count(&mut self, job: &Job, machine: Nodes) {
        self.first.get_or_insert(job.submit);
        self.last = job.submit;
        self.jobs += 1;
        if job.nodes <= machine {
            let nodes = i128::from(job.nodes.0);
            self.used += nodes * i128::from(job.runtime.min(job.estimate).0);
            self.booked += nodes * i128::from(job.estimate.0);
        }
    }

    /// Offered load, `Σ n·x / (machine · span)` by estimates (Birkenheuer 2012, §5.1.1) or
    /// `Σ n·min(ω, x) / (machine · span)` by run times, with the span of the submissions; 1 is the
    /// whole machine. `None` without a span.
    #[must_use]
    pub fn offered_load(&self, machine: Nodes, time: LoadTime) -> Option<f64> {
        let work = match time {
            LoadTime::Estimates => self.booked,
            LoadTime::Runtimes => self.used,
        };
        let span = self.last - self.first?;
        let capacity = i128::from(machine.0) * i128::from(span.0);
        (capacity > 0).then(|| work as f64 / capacity as f64)
    }
}

/// The usable jobs of records that come one by one. Ids count from 0 and start again after 2³²
/// jobs.
pub struct JobStream<I> {
    records: I,
    rules: CleaningRules,
    /// Counts so far, complete after the last job.
    pub report: CleaningReport,
    last: Option<SwfRecord>,
    submitted: i64,
    machine: Nodes,
}

impl<I> JobStream<I> {
    /// Cleans `records` by `rules` as they come.
    pub fn new(records: I, rules: CleaningRules) -> Self {
        Self {
            records,
            rules,
            report: CleaningReport::default(),
            last: None,
            submitted: i64::MIN,
            machine: Nodes(u32::MAX),
        }
    }

    /// Counts the jobs that are wider than this machine.
    #[must_use]
    pub fn for_machine(self, machine: Nodes) -> Self {
        Self { machine, ..self }
    }

    /// The record of the last job.
    #[must_use]
    pub fn last_record(&self) -> Option<&SwfRecord> {
        self.last.as_ref()
    }
}

impl<I: Iterator<Item = Result<SwfRecord, SwfError>>> Iterator for JobStream<I> {
    type Item = Result<Job, JobStreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let record = match self.records.next()? {
                Ok(record) => record,
                Err(error) => return Some(Err(error.into())),
            };
            self.report.records += 1;
            let Some(mut job) = usable(&record, &self.rules, &mut self.report) else {
                continue;
            };
            if record.submit < self.submitted {
                return Some(Err(JobStreamError::OutOfOrder {
                    number: record.job_number,
                }));
            }
            self.submitted = record.submit;
            job.id.0 = self.report.usable as u32;
            self.report.usable += 1;
            self.report.wider_than_machine += u64::from(job.nodes > self.machine);
            self.last = Some(record);
            return Some(Ok(job));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::swf::{Provenance, SwfHeader};
    use crate::workload::{ParsedTrace, clean, lublin_feitelson};

    #[test]
    fn a_streamed_model_is_the_generated_one_without_users_as_long_as_estimates_are_dealt_out_once()
    {
        let whole = lublin_feitelson::generate(3_000, Nodes(64), 5, 0).unwrap();
        let streamed: Vec<SwfRecord> = lublin_feitelson::records(3_000, Nodes(64), 5, true)
            .unwrap()
            .collect();
        assert_eq!(streamed.len(), whole.records.len());
        for (streamed, whole) in streamed.iter().zip(&whole.records) {
            let nobody = SwfRecord {
                user: -1,
                group: -1,
                executable: -1,
                ..*whole
            };
            assert_eq!(*streamed, nobody);
        }
        let exact = lublin_feitelson::records(3_000, Nodes(64), 5, false).unwrap();
        for (exact, streamed) in exact.zip(&streamed) {
            assert_eq!(
                (exact.submit, exact.run, exact.requested_time),
                (streamed.submit, streamed.run, streamed.run)
            );
        }
    }

    #[test]
    fn streamed_jobs_are_those_of_the_cleaned_trace_with_the_same_counts() {
        let mut records = lublin_feitelson::generate(500, Nodes(64), 5, 0)
            .unwrap()
            .records;
        records[3].run = -1;
        records[7].status = 5;
        records[9].run = records[9].requested_time + 5;
        let trace = ParsedTrace::from_records(
            "test".to_owned(),
            Provenance::Model,
            SwfHeader::default(),
            records.clone(),
        );
        let cleaned = clean(&trace, &CleaningRules::default(), Nodes(1_000));
        let mut stream = JobStream::new(records.into_iter().map(Ok), CleaningRules::default());
        let jobs: Vec<Job> = stream.by_ref().map(Result::unwrap).collect();
        assert_eq!(jobs, cleaned.jobs);
        assert_eq!(stream.report, cleaned.report);
    }

    #[test]
    fn a_job_that_stands_below_a_later_one_ends_the_stream_with_its_number() {
        let mut records = lublin_feitelson::generate(50, Nodes(64), 5, 0)
            .unwrap()
            .records;
        records.swap(10, 40);
        let stream = JobStream::new(records.into_iter().map(Ok), CleaningRules::default());
        let error = stream.filter_map(Result::err).next().unwrap();
        assert!(
            matches!(error, JobStreamError::OutOfOrder { .. }),
            "{error}"
        );
    }
}
