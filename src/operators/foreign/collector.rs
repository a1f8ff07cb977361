//! Jobs of a foreign log until the log ends: kept small, put together by job number, sorted, and
//! given a header.

mod job;

use bookahead_core::workload::NameKind;
use std::collections::BTreeMap;
use std::path::Path;

pub use self::job::ForeignJob;
use super::error::ImportError;
use super::findings::{Finding, FindingKind, Findings};
use super::local_time::{LATEST, ReadTime};
use super::numbering::Names;
use bookahead_core::memory::MemoryBudget;
use bookahead_core::workload::swf::{SwfHeader, SwfRecord};

/// Bytes that a job costs until its record is written: itself, and when it starts and ends, of
/// which the machine's size is guessed.
const BYTES_A_JOB: usize = size_of::<ForeignJob>() + 2 * size_of::<(i64, i64)>();
/// The status "completed".
pub(super) const COMPLETED: i8 = 1;
/// The status "failed", for everything that ended by itself or was ended by the system.
pub(super) const FAILED: i8 = 0;
/// The status "cancelled".
pub(super) const CANCELLED: i8 = 5;
/// No status.
pub(super) const UNKNOWN: i8 = -1;

/// What becomes of attempts of a job that was put back into the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attempts {
    /// The last one is the job; it was submitted when the first one was.
    #[default]
    Last,
    /// Each is a record.
    All,
}

/// What all formats are told.
#[derive(Clone, Debug, Default)]
pub struct ImportSettings {
    /// What becomes of earlier attempts.
    pub attempts: Attempts,
    /// The machine's size, in the unit of the jobs' widths; without it the largest number in use at
    /// once.
    pub size: Option<u32>,
    /// Whether widths count nodes (and not processors).
    pub counts_nodes: bool,
    /// What the log is, for the header.
    pub source: String,
    /// Whether times are seconds since some moment that is not known.
    pub relative_times: bool,
    /// What else the header should say, a note each.
    pub notes: Vec<String>,
    /// What jobs and names may take.
    pub memory: MemoryBudget,
}

/// Takes jobs in the order of the log.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    jobs: Vec<ForeignJob>,
    /// What was dropped and guessed.
    pub findings: Findings,
    /// Names and their numbers.
    pub names: Names,
    /// How many jobs had which state, as the log calls it.
    states: BTreeMap<String, u64>,
    /// Rows that were read, whatever became of them.
    pub rows: u64,
    memory: MemoryBudget,
}

/// A log that was read: its header, and its records in order of submission.
#[derive(Clone, Debug)]
pub struct ImportedTrace {
    /// What it is, how large its machine, and what was dropped and guessed.
    pub header: SwfHeader,
    /// What was dropped and guessed.
    pub findings: Findings,
    /// Names and their numbers, which are not in the trace.
    pub names: Names,
    /// Rows that were read.
    pub rows: u64,
    jobs: Vec<ForeignJob>,
    begin: i64,
    has_numbers: bool,
}

/// Kinds of states that are told apart in a header.
const MOST_STATES: usize = 40;

impl Collector {
    /// A collector whose jobs and names may take so much memory.
    #[must_use]
    pub fn within(memory: MemoryBudget) -> Self {
        Self {
            memory,
            ..Self::default()
        }
    }

    /// Counts a row that is dropped, guessed at or remarkable.
    pub fn count(&mut self, finding: Finding, line: u64) {
        self.findings.count(finding, line);
    }

    /// Counts a state by the name that the log gives it.
    pub(super) fn state(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(&name[..name.len().min(40)]);
        if let Some(count) = self.states.get_mut(name.as_ref()) {
            *count += 1;
        } else if self.states.len() < MOST_STATES {
            self.states.insert(name.into_owned(), 1);
        }
    }

    /// Takes a job.
    ///
    /// # Errors
    /// [`ImportError::TooMany`].
    pub fn push(&mut self, job: ForeignJob, path: &Path) -> Result<(), ImportError> {
        self.jobs.push(job);
        let jobs = self.jobs.len() as u64;
        (self.memory.without(self.names.bytes()))
            .check(jobs, BYTES_A_JOB, "jobs")
            .map_err(|over| ImportError::TooMany {
                path: path.to_owned(),
                over,
            })
    }

    /// What a time of a row is, and `None` with the reason counted where the row has to go. A time
    /// that the clock showed twice is the first one that is not before `not_before`.
    pub(super) fn resolve(
        &mut self,
        time: ReadTime,
        not_before: i64,
        line: u64,
    ) -> Option<Option<i64>> {
        match time {
            ReadTime::Missing => Some(None),
            ReadTime::At(at) => Some(Some(at)),
            ReadTime::Twice { first, second } => {
                self.count(Finding::AmbiguousTime, line);
                Some(Some(if first < not_before { second } else { first }))
            }
            ReadTime::Skipped(at) => {
                self.count(Finding::SkippedTime, line);
                Some(Some(at))
            }
            ReadTime::Invalid => {
                self.count(Finding::BadTime, line);
                None
            }
        }
    }

    /// Seconds from submission to start, and how long it ran: from its times, or from what the log
    /// says besides. `None` with the reason counted where the job cannot be kept.
    pub(super) fn wait_and_run(
        &mut self,
        submit: i64,
        start: Option<i64>,
        end: Option<i64>,
        elapsed: Option<i64>,
        line: u64,
    ) -> Option<(i64, i64)> {
        let elapsed = elapsed.filter(|seconds| (0..=LATEST).contains(seconds));
        let Some(start) = start else {
            return match (elapsed, end) {
                (Some(run), _) if run > 0 => Some((-1, run)),
                (None, None) => {
                    self.count(Finding::NoRunTime, line);
                    None
                }
                (_, end) => {
                    self.count(Finding::NeverStarted, line);
                    Some((end.map_or(-1, |end| (end - submit).max(0)), 0))
                }
            };
        };
        let wait = if start < submit {
            self.count(Finding::EarlyStart, line);
            0
        } else {
            start - submit
        };
        let by_times = end.map(|end| end - start);
        let run = match (elapsed, by_times) {
            (Some(elapsed), by_times) => {
                if by_times.is_some_and(|run| run != elapsed) {
                    self.count(Finding::OtherElapsed, line);
                }
                elapsed
            }
            (None, Some(run)) if run < 0 => {
                self.count(Finding::EarlyEnd, line);
                0
            }
            (None, Some(run)) => run,
            (None, None) => {
                self.count(Finding::NoRunTime, line);
                return None;
            }
        };
        Some((wait, run))
    }

    /// Puts together what belongs to one job, sorts by submission, and says in a header what all
    /// this is.
    ///
    /// # Errors
    /// [`ImportError::NoJobs`].
    pub fn finish(
        mut self,
        settings: &ImportSettings,
        path: &Path,
    ) -> Result<ImportedTrace, ImportError> {
        let lost = self.join_attempts(settings.attempts);
        (self.jobs).sort_unstable_by_key(|job| (job.submit, job.line));
        let (Some(first), Some(last)) = (self.jobs.first(), self.jobs.last()) else {
            let dropped = self.findings.met();
            return Err(ImportError::NoJobs {
                path: path.to_owned(),
                rows: self.rows,
                dropped: dropped
                    .filter(|(finding, _, _)| finding.kind() == FindingKind::Dropped)
                    .map(|(finding, count, _)| (finding.text(), count))
                    .collect(),
            });
        };
        let (begin, latest) = (first.submit, last.submit);
        let has_numbers = self.jobs.iter().all(|job| job.number.is_some());
        let header = self.header(settings, begin, latest, has_numbers, lost);
        Ok(ImportedTrace {
            header,
            findings: self.findings,
            names: self.names,
            rows: self.rows,
            jobs: self.jobs,
            begin,
            has_numbers,
        })
    }

    /// Drops rows that stand there twice and, where asked to, earlier attempts. Returns the
    /// processor-seconds of those.
    fn join_attempts(&mut self, attempts: Attempts) -> i128 {
        const GONE: i64 = i64::MIN;
        let key = |job: &ForeignJob| (job.number, job.task, job.submit, job.start(), job.line);
        self.jobs.sort_unstable_by_key(key);
        let mut lost = 0;
        let is_of_one = |a: &ForeignJob, b: &ForeignJob| {
            a.number.is_some() && (a.number, a.task) == (b.number, b.task)
        };
        for group in self.jobs.chunk_by_mut(is_of_one) {
            let (mut last, mut submitted) = (0, group[0].submit);
            for place in 1..group.len() {
                let (job, before) = (group[place], group[last]);
                if job.is_same_record(&before) {
                    let line = job.line.max(before.line);
                    self.findings.count(Finding::SameAgain, line);
                    group[place].run = GONE;
                    continue;
                }
                if before.status == COMPLETED || attempts == Attempts::All {
                    let finding = match before.status {
                        COMPLETED => Finding::NumberAgain,
                        _ => Finding::Attempt,
                    };
                    self.findings.count(finding, job.line);
                    put_back(&mut group[last], submitted, &mut self.findings);
                    submitted = job.submit;
                } else {
                    self.findings.count(Finding::EarlierAttempt, before.line);
                    lost += i128::from(before.width()) * i128::from(before.run);
                    group[last].run = GONE;
                }
                last = place;
            }
            put_back(&mut group[last], submitted, &mut self.findings);
        }
        self.jobs.retain(|job| job.run != GONE);
        lost
    }

    fn header(
        &self,
        settings: &ImportSettings,
        begin: i64,
        latest: i64,
        has_numbers: bool,
        lost: i128,
    ) -> SwfHeader {
        let mut header = SwfHeader::default();
        let mut say = |key: &str, value: String| header.lines.push(format!("; {key}: {value}"));
        say("Version", "2.2".to_owned());
        say(
            "Conversion",
            format!("bookahead {}", env!("CARGO_PKG_VERSION")),
        );
        say("MaxJobs", self.jobs.len().to_string());
        say("MaxRecords", self.jobs.len().to_string());
        if !settings.relative_times {
            say("UnixStartTime", begin.to_string());
            for (key, at) in [("StartTime", begin), ("EndTime", latest)] {
                if let Ok(moment) = jiff::Timestamp::from_second(at) {
                    say(key, moment.to_string());
                }
            }
        }
        let size = settings.size.unwrap_or_else(|| self.peak());
        if settings.counts_nodes {
            say("MaxNodes", size.to_string());
        }
        say("MaxProcs", size.to_string());
        for (key, kind) in [
            ("MaxQueues", NameKind::Queue),
            ("MaxPartitions", NameKind::Partition),
        ] {
            say(key, self.names.count(kind).to_string());
        }
        header.note(&format!("imported from {}", settings.source));
        if settings.counts_nodes {
            header.note(SwfHeader::COUNTS_NODES);
        }
        if settings.size.is_none() {
            header.note(
                "MaxProcs is a guess: the largest number that jobs of this log held at once (the machine may be larger)",
            );
        }
        if !has_numbers {
            header.note("job numbers are counted in order of submission");
        }
        for note in &settings.notes {
            header.note(note);
        }
        if lost > 0 {
            header.note(&format!(
                "earlier attempts that are not in this file held {:.2} processor-hours",
                // For people: a double is near enough.
                lost as f64 / 3_600.0
            ));
        }
        if !self.states.is_empty() {
            let states: Vec<String> = (self.states.iter())
                .map(|(state, count)| format!("{state} {count}"))
                .collect();
            header.note(&format!("states of rows in the log: {}", states.join(", ")));
        }
        for (finding, count, line) in self.findings.met() {
            header.note(&format!(
                "{}: {count} {} (first: line {line})",
                kind_word(finding.kind()),
                finding.text()
            ));
        }
        header
    }

    /// The largest number of processors in use at once, or the widest job where no job says when it
    /// started.
    fn peak(&self) -> u32 {
        let running = || {
            (self.jobs.iter()).filter_map(|job| Some((job.start().filter(|_| job.run > 0)?, job)))
        };
        let mut starts: Vec<(i64, i64)> =
            running().map(|(start, job)| (start, job.width())).collect();
        let mut ends: Vec<(i64, i64)> = running()
            .map(|(start, job)| (start + job.run, job.width()))
            .collect();
        starts.sort_unstable();
        ends.sort_unstable();
        let mut ended = ends.into_iter().peekable();
        let widest = (self.jobs.iter()).map(ForeignJob::width).max().unwrap_or(1);
        let (mut held, mut peak) = (0, widest);
        for (start, width) in starts {
            while let Some((_, width)) = ended.next_if(|(end, _)| *end <= start) {
                held -= width;
            }
            held += width;
            peak = peak.max(held);
        }
        u32::try_from(peak).unwrap_or(u32::MAX)
    }
}

/// Says of the last attempt that it was submitted with the first.
fn put_back(job: &mut ForeignJob, submitted: i64, findings: &mut Findings) {
    if submitted < job.submit {
        findings.count(Finding::FirstSubmission, job.line);
        if job.wait >= 0 {
            job.wait += job.submit - submitted;
        }
        job.submit = submitted;
    }
}

/// `dropped`, `guessed` or `noted`.
fn kind_word(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Dropped => "dropped",
        FindingKind::Guessed => "guessed",
        FindingKind::Noted => "noted",
    }
}

impl ImportedTrace {
    /// How many jobs there are.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    /// The records in order of submission, times counted from the first.
    pub fn records(&self) -> impl Iterator<Item = SwfRecord> + '_ {
        let some = |processors: u32| {
            if processors == 0 {
                -1
            } else {
                i64::from(processors)
            }
        };
        (1..).zip(&self.jobs).map(move |(count, job)| SwfRecord {
            job_number: match job.number {
                // Numbers are below 10¹⁸.
                Some(number) if self.has_numbers => i64::try_from(number).unwrap_or(count),
                _ => count,
            },
            submit: job.submit - self.begin,
            wait: job.wait,
            run: job.run,
            allocated_processors: some(job.allocated),
            requested_processors: some(job.requested),
            requested_time: job.requested_time,
            requested_memory: job.requested_memory,
            status: i64::from(job.status),
            user: i64::from(job.user),
            group: i64::from(job.group),
            queue: i64::from(job.queue),
            partition: i64::from(job.partition),
            ..SwfRecord::MISSING
        })
    }
}

#[cfg(test)]
mod tests;
