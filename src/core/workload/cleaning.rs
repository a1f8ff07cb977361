//! Which records are usable jobs, and a count of everything that was dropped or bent (Birkenheuer
//! 2012, §5.1.2; ).
//!
//! A record is dropped by the first rule of [`CleaningReport::dropped`] that it breaks, so the
//! counts of that list and the usable jobs add up to the records. Rules of
//! [`CleaningReport::noted`] drop nothing.

use serde::{Deserialize, Serialize};

use super::error::WorkloadError;
use super::job::{Job, JobId, JobKind};
use super::settings::{CleaningRules, MissingEstimate, ProcessorsField};
use super::swf::{ParsedTrace, SwfRecord};
use crate::units::{Megabytes, Nodes, Seconds};

/// Status of a record whose job was cancelled.
const CANCELLED: i64 = 5;

/// Status of a record whose job ended by itself.
const COMPLETED: i64 = 1;

/// What cleaning did to a trace: how many records each named rule dropped, and what was kept but
/// noted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleaningReport {
    /// Records in the trace.
    pub records: u64,
    /// Records that became jobs.
    pub usable: u64,
    /// Dropped: submit time missing or negative.
    pub missing_submit: u64,
    /// Dropped: run time missing or negative.
    pub missing_runtime: u64,
    /// Dropped: run time 0, where the rules say so.
    pub zero_runtime: u64,
    /// Dropped: neither allocated nor requested processors are positive.
    pub missing_processors: u64,
    /// Dropped: requested time missing, zero or negative.
    pub missing_estimate: u64,
    /// Dropped: ran longer than requested, where the rules say so.
    pub overrun: u64,
    /// Dropped: status "cancelled", where the rules say so.
    pub cancelled: u64,
    /// Dropped: status other than "completed" (failed, cancelled, partial or unknown), where the
    /// rules say so.
    #[serde(default)]
    pub not_completed: u64,
    /// Dropped: a test of the machine, where the rules say so (Birkenheuer 2012, §4.2.2).
    #[serde(default)]
    pub test_job: u64,
    /// Kept: ran longer than requested; the job ends at its estimate, its ratio counts as 100 %
    ///
    pub kept_overruns: u64,
    /// Kept: run time 0.
    pub kept_zero_runtime: u64,
    /// Kept: status "cancelled" although it ran.
    pub kept_cancelled: u64,
    /// Kept: the preferred processor field was missing and the other one was used.
    pub other_processors_field: u64,
    /// Kept: no requested time; the run time was taken for it, where the rules say so.
    #[serde(default)]
    pub estimates_from_runtime: u64,
    /// Kept: wider than the machine; such jobs are dropped at submission and counted there.
    pub wider_than_machine: u64,
    /// Kept: stood below a record that was submitted later; sorted by submit time.
    pub out_of_order: u64,
    /// Fields of whole numbers that held a decimal and were rounded.
    pub rounded_decimals: u64,
}

impl CleaningReport {
    /// Every rule that drops records, in the order in which they are tried: name, meaning, count.
    #[must_use]
    pub fn dropped(&self) -> [(&'static str, &'static str, u64); 9] {
        [
            (
                "missing-submit",
                "submit time missing or negative",
                self.missing_submit,
            ),
            (
                "missing-runtime",
                "run time missing or negative",
                self.missing_runtime,
            ),
            ("zero-runtime", "run time 0", self.zero_runtime),
            (
                "missing-processors",
                "no positive processor count in field 5 or 8",
                self.missing_processors,
            ),
            (
                "missing-estimate",
                "requested time missing, zero or negative",
                self.missing_estimate,
            ),
            ("overrun", "ran longer than requested", self.overrun),
            ("cancelled", "status is cancelled", self.cancelled),
            (
                "not-completed",
                "status is not completed",
                self.not_completed,
            ),
            (
                "test-job",
                "a test job: one node, over within seconds",
                self.test_job,
            ),
        ]
    }

    /// Everything that was kept but noted: name, meaning, count.
    #[must_use]
    pub fn noted(&self) -> [(&'static str, &'static str, u64); 8] {
        [
            (
                "overrun",
                "ran longer than requested: ends at its estimate",
                self.kept_overruns,
            ),
            ("zero-runtime", "run time 0", self.kept_zero_runtime),
            (
                "cancelled",
                "status is cancelled although it ran",
                self.kept_cancelled,
            ),
            (
                "other-processors-field",
                "the preferred processor field is missing, the other one was used",
                self.other_processors_field,
            ),
            (
                "estimate-from-runtime",
                "the requested time is missing, the run time was taken",
                self.estimates_from_runtime,
            ),
            (
                "wider-than-machine",
                "wider than the machine: dropped at submission",
                self.wider_than_machine,
            ),
            (
                "out-of-order",
                "stood below a record submitted later: sorted by submit time",
                self.out_of_order,
            ),
            (
                "rounded-decimals",
                "fields with a decimal where a whole number belongs: rounded",
                self.rounded_decimals,
            ),
        ]
    }

    /// Records dropped in all.
    #[must_use]
    pub fn dropped_total(&self) -> u64 {
        self.records - self.usable
    }

    /// Refuses a trace with records that lack a requested time, where the rules do not allow that.
    ///
    /// # Errors
    /// [`WorkloadError::MissingEstimates`].
    pub fn require_estimates(
        &self,
        label: &str,
        rules: &CleaningRules,
    ) -> Result<(), WorkloadError> {
        if rules.missing_estimate == MissingEstimate::Error && self.missing_estimate > 0 {
            return Err(WorkloadError::MissingEstimates {
                label: label.to_owned(),
                missing: self.missing_estimate,
                records: self.records,
            });
        }
        Ok(())
    }
}

/// The usable jobs of a trace in order of submission, and what was dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct CleanedTrace {
    /// The jobs: submit times as in the trace, no execution window yet (release and deadline equal
    /// the submit time).
    pub jobs: Vec<Job>,
    /// For each job, the index of its record in the trace.
    pub origins: Vec<u32>,
    /// The counts.
    pub report: CleaningReport,
}

/// Applies the rules to every record. `machine` only decides which jobs are counted as wider than
/// the machine.
#[must_use]
pub fn clean(trace: &ParsedTrace, rules: &CleaningRules, machine: Nodes) -> CleanedTrace {
    let mut report = CleaningReport {
        records: trace.records.len() as u64,
        out_of_order: trace.out_of_order,
        rounded_decimals: trace.rounded_decimals,
        ..CleaningReport::default()
    };
    let mut jobs = Vec::with_capacity(trace.records.len());
    let mut origins = Vec::with_capacity(trace.records.len());
    for (index, record) in trace.records.iter().enumerate() {
        let Some(mut job) = usable(record, rules, &mut report) else {
            continue;
        };
        job.id = JobId(u32::try_from(jobs.len()).unwrap_or(u32::MAX));
        report.wider_than_machine += u64::from(job.nodes > machine);
        jobs.push(job);
        origins.push(u32::try_from(index).unwrap_or(u32::MAX));
    }
    report.usable = jobs.len() as u64;
    CleanedTrace {
        jobs,
        origins,
        report,
    }
}

/// The job of one record (its id 0), or `None` where a rule drops it; counts what it did, except
/// how many were seen and kept.
pub(super) fn usable(
    record: &SwfRecord,
    rules: &CleaningRules,
    report: &mut CleaningReport,
) -> Option<Job> {
    let is_estimated = record.requested_time > 0;
    let estimate = match rules.missing_estimate {
        MissingEstimate::Runtime if !is_estimated => record.run.max(1),
        MissingEstimate::Recorded if !is_estimated => record.run,
        _ => record.requested_time,
    };
    let run = match rules.missing_runtime_seconds {
        seconds if record.run < 0 && seconds > 0 => i64::from(seconds),
        _ => record.run,
    };
    let overrun = run > estimate;
    let cancelled = record.status == CANCELLED;
    let (preferred, other) = match rules.processors {
        ProcessorsField::AllocatedElseRequested => {
            (record.allocated_processors, record.requested_processors)
        }
        ProcessorsField::RequestedElseAllocated => {
            (record.requested_processors, record.allocated_processors)
        }
        ProcessorsField::Larger => {
            let larger = (record.requested_processors).max(record.allocated_processors);
            (larger, larger)
        }
    };
    let processors = if preferred > 0 { preferred } else { other };
    let broken = if record.submit < 0 {
        Some(&mut report.missing_submit)
    } else if run < 0 {
        Some(&mut report.missing_runtime)
    } else if run == 0 && rules.drop_zero_runtime {
        Some(&mut report.zero_runtime)
    } else if processors <= 0 {
        Some(&mut report.missing_processors)
    } else if estimate <= 0 && rules.missing_estimate != MissingEstimate::Recorded {
        Some(&mut report.missing_estimate)
    } else if overrun && rules.drop_overruns {
        Some(&mut report.overrun)
    } else if cancelled && rules.drop_cancelled {
        Some(&mut report.cancelled)
    } else if record.status != COMPLETED && rules.completed_only {
        Some(&mut report.not_completed)
    } else if (rules.test_jobs).is_some_and(|tests| tests.include(processors, estimate, run)) {
        Some(&mut report.test_job)
    } else {
        None
    };
    if let Some(count) = broken {
        *count += 1;
        return None;
    }
    report.kept_overruns += u64::from(overrun);
    report.kept_cancelled += u64::from(cancelled);
    report.kept_zero_runtime += u64::from(run == 0);
    report.other_processors_field += u64::from(preferred <= 0);
    report.estimates_from_runtime += u64::from(!is_estimated);
    let submit = Seconds(record.submit);
    Some(Job {
        id: JobId(0),
        trace_number: record.job_number,
        submit,
        release: submit,
        estimate: Seconds(estimate),
        runtime: Seconds(run),
        deadline: submit,
        // More nodes than 32 bits count are wider than any machine all the same.
        nodes: Nodes(u32::try_from(processors).unwrap_or(u32::MAX)),
        user: known(record.user),
        application: known(record.executable),
        kind: JobKind::Flexible,
        memory: Megabytes(0),
    })
}

fn known(number: i64) -> Option<i64> {
    (number >= 0).then_some(number)
}

#[cfg(test)]
mod tests;
