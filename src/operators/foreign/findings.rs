//! What reading a foreign log dropped, guessed and could not keep: counted by reason, with the
//! first line as an example.

/// What became of the rows that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// The row is not in the trace.
    Dropped,
    /// The row is in the trace with a value that the log does not state.
    Guessed,
    /// The row is in the trace as it stands; the trace cannot say, or the reader should know,
    /// something about it.
    Noted,
}

macro_rules! findings {
    ($($(#[$attribute:meta])* $name:ident, $kind:ident, $text:literal;)*) => {
        /// Something that reading a foreign log did to a row.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Finding {
            $($(#[$attribute])* $name,)*
        }

        impl Finding {
            /// Every finding, in the order in which they are told.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// What becomes of a row.
            #[must_use]
            pub fn kind(self) -> FindingKind {
                match self {
                    $(Self::$name => FindingKind::$kind,)*
                }
            }

            /// The reason in words.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

findings! {
    /// A step.
    Step, Dropped, "steps of jobs, which are no jobs of their own";
    /// A line with too few or too many fields.
    FieldCount, Dropped, "lines with another number of fields than the heading (a name with the separator in it, or a line cut short)";
    /// The heading, again.
    HeadingAgain, Dropped, "headings that stand between the rows (files that were joined)";
    /// A job number that is none.
    BadJobNumber, Dropped, "rows whose job number cannot be read";
    /// Of another cluster.
    OtherCluster, Dropped, "jobs of other clusters than the one asked for";
    /// Running, pending and the like.
    NotEnded, Dropped, "jobs that had not ended when the log was written";
    /// Moved to another cluster.
    Revoked, Dropped, "jobs that were moved to another cluster of a federation";
    /// Tasks of an array in one record.
    ArrayRemainder, Dropped, "records of several tasks of an array that were cancelled before they started";
    /// The mapping says so.
    NotWanted, Dropped, "rows whose state the mapping leaves out";
    /// No submit time.
    NoSubmit, Dropped, "jobs without a submit time";
    /// A text that is no time.
    BadTime, Dropped, "rows with a time that cannot be read";
    /// An event that the mapping does not name.
    UnknownEvent, Dropped, "rows of events that the mapping does not name";
    /// An event of no job.
    NoJobOfEvent, Dropped, "events that do not say of which job they are";
    /// No event of the run time.
    NoRunEvent, Dropped, "jobs of which no event says how long they ran (interactive, or not ended)";
    /// More events of the run time than one.
    SeveralRunEvents, Dropped, "jobs of which several events say how long they ran, within one estimate";
    /// Ran, but nobody says how long.
    NoRunTime, Dropped, "jobs without an end and without a run time";
    /// A run time that depends on the platform.
    PlatformRunTime, Dropped, "jobs whose profile has no fixed run time";
    /// Neither allocated nor requested processors.
    NoProcessors, Dropped, "jobs without a number of processors";
    /// The same record again.
    SameAgain, Dropped, "records that stand in the log twice (exports of overlapping times)";
    /// An attempt before the last.
    EarlierAttempt, Dropped, "earlier attempts of jobs that were put back into the queue (kept with --attempts all)";
    /// Cancelled while waiting.
    NeverStarted, Guessed, "jobs that ended before they started: kept with a run time of 0";
    /// The wait would be negative.
    EarlyStart, Guessed, "jobs that started before they were submitted, by the log's clock: wait taken as 0";
    /// The end is before the start.
    EarlyEnd, Guessed, "jobs that ended before they started, by the log's clock: run time taken as 0";
    /// The clock was set back.
    AmbiguousTime, Guessed, "local times that came twice when the clock was set back: the first in which start and end keep their order is taken";
    /// The clock was set forward.
    SkippedTime, Guessed, "local times that the zone's clock skipped: read with the offset before (is the zone right?)";
    /// The state is unknown.
    UnknownState, Guessed, "jobs in a state that is not known: status -1";
    /// Submitted with an earlier attempt.
    FirstSubmission, Guessed, "jobs that were put back into the queue: submitted as the first attempt was, run as the last did";
    /// No limit.
    NoLimit, Guessed, "jobs without a time limit (none, UNLIMITED, Partition_Limit): requested time -1";
    /// Whole seconds.
    Fraction, Guessed, "values that are no whole numbers: times cut, run times rounded, limits and processors rounded up";
    /// A value that is none.
    BadNumber, Guessed, "numbers that cannot be read: taken as missing";
    /// Two measures of the run time.
    OtherElapsed, Noted, "jobs whose elapsed time is not end less start (suspended meanwhile): the elapsed time is taken";
    /// Could not start at once.
    LaterEligible, Noted, "jobs that were not eligible at once (dependencies, begin times): --arrival eligible submits them then";
    /// Components of heterogeneous jobs.
    Component, Noted, "components of heterogeneous jobs, each written as a job of its own";
    /// Tasks of arrays.
    ArrayTask, Noted, "tasks of arrays, each written as a job of its own";
    /// Attempts, all kept.
    Attempt, Noted, "further attempts of jobs that were put back into the queue, each written as a record of its own";
    /// Restarted, without the records.
    Restarted, Noted, "jobs that were restarted; whether their earlier attempts are in the log depends on --duplicates of sacct";
    /// The number again, for another job.
    NumberAgain, Noted, "job numbers that stand for another job once more: both are kept";
}

/// How often each finding was met, and where first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    counts: Vec<(u64, u64)>,
}

impl Default for Findings {
    fn default() -> Self {
        Self {
            counts: vec![(0, 0); Finding::ALL.len()],
        }
    }
}

impl Findings {
    /// Counts one row; `line` is its line or row in the input, from 1.
    pub fn count(&mut self, finding: Finding, line: u64) {
        let entry = &mut self.counts[finding as usize];
        if entry.0 == 0 || line < entry.1 {
            entry.1 = line;
        }
        entry.0 += 1;
    }

    /// What was met, in the order of [`Finding::ALL`]: how often, and the first line.
    pub fn met(&self) -> impl Iterator<Item = (Finding, u64, u64)> + '_ {
        Finding::ALL
            .iter()
            .zip(&self.counts)
            .filter(|(_, (count, _))| *count > 0)
            .map(|(finding, (count, line))| (*finding, *count, *line))
    }
}

#[cfg(test)]
impl Findings {
    /// How often it was met.
    pub(crate) fn of(&self, finding: Finding) -> u64 {
        self.counts[finding as usize].0
    }

    /// Rows that are not in the trace.
    pub(crate) fn dropped(&self) -> u64 {
        self.met()
            .filter(|(finding, _, _)| finding.kind() == FindingKind::Dropped)
            .map(|(_, count, _)| count)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_stand_at_their_own_place_in_the_list() {
        for (place, finding) in Finding::ALL.iter().enumerate() {
            assert_eq!(*finding as usize, place);
        }
        let mut findings = Findings::default();
        findings.count(Finding::Step, 7);
        findings.count(Finding::Step, 5);
        findings.count(Finding::NoLimit, 9);
        assert_eq!(findings.dropped(), 2);
        let met: Vec<_> = findings.met().collect();
        assert_eq!(met, [(Finding::Step, 2, 5), (Finding::NoLimit, 1, 9)]);
    }
}
