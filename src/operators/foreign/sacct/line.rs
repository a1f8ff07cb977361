//! One line of `sacct` as a job.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::collector::{CANCELLED, COMPLETED, Collector, FAILED, ForeignJob, UNKNOWN};
use super::super::error::ImportError;
use super::super::findings::Finding;
use super::super::local_time::{LATEST, LocalTimes, is_missing, whole};
use super::{Arrival, Column as C, Fields, Heading, SacctSettings, Unit};
use bookahead_core::workload::NameKind;

/// Reads lines one after another.
pub(super) struct LineReader<'log> {
    heading: &'log Heading,
    settings: &'log SacctSettings,
    allocated: Option<C>,
    requested: Option<C>,
    unit: Unit,
    /// Jobs by cluster; the last cluster stands beside it, as most logs have one.
    clusters: BTreeMap<Vec<u8>, u64>,
    last_cluster: (Vec<u8>, u64),
}

/// Clusters that are told apart in a message.
const MOST_CLUSTERS: usize = 1_000;

/// What a state says.
enum State {
    Ended(i8),
    NotEnded,
    Revoked,
    Unknown,
}

impl<'log> LineReader<'log> {
    pub(super) fn new(heading: &'log Heading, settings: &'log SacctSettings, unit: Unit) -> Self {
        let first = |columns: [C; 2]| columns.into_iter().find(|column| heading.has(*column));
        let (allocated, requested) = match unit {
            Unit::Cpus => (first([C::AllocCpus, C::NCpus]), C::ReqCpus),
            Unit::Nodes => (first([C::AllocNodes, C::NNodes]), C::ReqNodes),
        };
        Self {
            heading,
            settings,
            allocated,
            requested: Some(requested).filter(|column| heading.has(*column)),
            unit,
            clusters: BTreeMap::new(),
            last_cluster: (Vec::new(), 0),
        }
    }

    /// The job of a line, or `None` with the reason counted.
    pub(super) fn job(
        &mut self,
        fields: &Fields<'_>,
        line: u64,
        times: &mut LocalTimes,
        collector: &mut Collector,
    ) -> Option<ForeignJob> {
        let field = |column: C| fields[column as usize];
        let (raw, id) = (field(C::JobIdRaw), field(C::JobId));
        if raw.contains(&b'.') || id.contains(&b'.') {
            collector.count(Finding::Step, line);
            return None;
        }
        if !self.is_wanted(field(C::Cluster)) {
            collector.count(Finding::OtherCluster, line);
            return None;
        }
        let state = field(C::State);
        let word = &state[..state
            .iter()
            .position(|byte| matches!(byte, b' ' | b'+'))
            .unwrap_or(state.len())];
        collector.state(word);
        let status = match state_of(word) {
            State::Ended(status) => status,
            State::NotEnded => {
                collector.count(Finding::NotEnded, line);
                return None;
            }
            State::Revoked => {
                collector.count(Finding::Revoked, line);
                return None;
            }
            State::Unknown => {
                collector.count(Finding::UnknownState, line);
                UNKNOWN
            }
        };
        let (number, task) = self.identity(raw, id, line, collector)?;
        let (submit, wait, run) = self.times(fields, line, times, collector)?;
        let (allocated, requested) = self.widths(fields, line, collector)?;
        let width = if allocated > 0 { allocated } else { requested };
        if field(C::Restarts)
            .iter()
            .any(|byte| (b'1'..=b'9').contains(byte))
        {
            collector.count(Finding::Restarted, line);
        }
        let ran = run > 0 || wait >= 0 && allocated > 0 && !is_missing(field(C::Start));
        let mut name = |kind, column: C| collector.names.number(kind, field(column));
        let (user, group) = (
            name(NameKind::User, C::User),
            name(NameKind::Group, C::Account),
        );
        let (queue, partition) = (
            name(NameKind::Queue, C::Qos),
            name(NameKind::Partition, C::Partition),
        );
        Some(ForeignJob {
            number: Some(number),
            task,
            line,
            submit,
            wait,
            run,
            requested_time: self.limit(fields, line, collector),
            requested_memory: self.memory(fields, width, line, collector),
            // What a job that never started is said to hold is what it asked for.
            allocated: if ran { allocated } else { 0 },
            requested: if requested > 0 { requested } else { allocated },
            user,
            group,
            queue,
            partition,
            status,
        })
    }

    /// Whether a job's cluster is the one asked for; counts them.
    fn is_wanted(&mut self, cluster: &[u8]) -> bool {
        if let Some(wanted) = &self.settings.cluster {
            return cluster == wanted.as_bytes() || !self.heading.has(C::Cluster);
        }
        if cluster != self.last_cluster.0 {
            self.keep_cluster();
            self.last_cluster.0 = cluster.to_vec();
        }
        self.last_cluster.1 += 1;
        true
    }

    fn keep_cluster(&mut self) {
        let (name, jobs) = std::mem::take(&mut self.last_cluster);
        if jobs > 0 && (self.clusters.len() < MOST_CLUSTERS || self.clusters.contains_key(&name)) {
            *self.clusters.entry(name).or_default() += jobs;
        }
    }

    /// Refuses a log of several clusters, of which none was named.
    pub(super) fn one_cluster(mut self, path: &Path) -> Result<(), ImportError> {
        self.keep_cluster();
        if self.clusters.len() < 2 {
            return Ok(());
        }
        let mut clusters: Vec<(String, u64)> = (self.clusters.into_iter())
            .map(|(name, jobs)| (String::from_utf8_lossy(&name).into_owned(), jobs))
            .collect();
        clusters.sort_by_key(|(name, jobs)| (std::cmp::Reverse(*jobs), name.clone()));
        Err(ImportError::SeveralClusters {
            path: path.to_owned(),
            clusters,
        })
    }

    /// The job's number, and its task or component where only `JobID` tells them apart.
    fn identity(
        &self,
        raw: &[u8],
        id: &[u8],
        line: u64,
        collector: &mut Collector,
    ) -> Option<(u64, u32)> {
        let digits = id.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (base, rest) = id.split_at(digits);
        let part = match rest.split_first() {
            None => None,
            Some((b'_', [b'[', ..])) => {
                collector.count(Finding::ArrayRemainder, line);
                return None;
            }
            Some((b'_', task)) => {
                collector.count(Finding::ArrayTask, line);
                Some(task)
            }
            Some((b'+', component)) => {
                collector.count(Finding::Component, line);
                Some(component)
            }
            Some(_) => Some(&b"?"[..]),
        };
        let positive = |text: &[u8]| whole(text).and_then(|number| u64::try_from(number).ok());
        if let Some(number) = positive(raw) {
            return Some((number, 0));
        }
        // Task 0 is another job than the array's own record.
        let task = match part {
            None => Some(0),
            Some(part) => positive(part).and_then(|task| u32::try_from(task + 1).ok()),
        };
        match (positive(base), task) {
            (Some(number), Some(task)) => Some((number, task)),
            _ => {
                collector.count(Finding::BadJobNumber, line);
                None
            }
        }
    }

    /// Arrival, seconds until the start, and run time.
    fn times(
        &self,
        fields: &Fields<'_>,
        line: u64,
        times: &mut LocalTimes,
        collector: &mut Collector,
    ) -> Option<(i64, i64, i64)> {
        let mut time = |column: C, not_before: i64, collector: &mut Collector| {
            let read = times.read(fields[column as usize]);
            collector.resolve(read, not_before, line)
        };
        let Some(submit) = time(C::Submit, 0, collector)? else {
            collector.count(Finding::NoSubmit, line);
            return None;
        };
        let eligible = time(C::Eligible, submit, collector)?.filter(|eligible| *eligible > submit);
        let start = time(C::Start, submit, collector)?;
        let end = time(C::End, start.unwrap_or(submit), collector)?;
        let elapsed = match fields[C::ElapsedRaw as usize] {
            [] => duration(fields[C::Elapsed as usize]),
            raw => whole(raw),
        };
        // Slurm writes the moment of cancellation as the start of a job that never started, or
        // nothing.
        let held = self
            .allocated
            .is_none_or(|column| whole(fields[column as usize]).is_none_or(|held| held > 0));
        let never = elapsed == Some(0) && (!held || start.is_none());
        if never {
            collector.count(Finding::NeverStarted, line);
        }
        let (wait, run) = if never {
            (end.map_or(-1, |end| (end - submit).max(0)), 0)
        } else {
            collector.wait_and_run(submit, start, end, elapsed, line)?
        };
        match eligible {
            Some(eligible) if self.settings.arrival == Arrival::Eligible => {
                let later = eligible - submit;
                Some((
                    eligible,
                    if wait < 0 {
                        wait
                    } else {
                        (wait - later).max(0)
                    },
                    run,
                ))
            }
            Some(_) => {
                collector.count(Finding::LaterEligible, line);
                Some((submit, wait, run))
            }
            None => Some((submit, wait, run)),
        }
    }

    fn widths(
        &self,
        fields: &Fields<'_>,
        line: u64,
        collector: &mut Collector,
    ) -> Option<(u32, u32)> {
        let mut width = |column: Option<C>| {
            let text = fields[column? as usize];
            match whole(text).map(u32::try_from) {
                Some(Ok(width)) => Some(width),
                _ if is_missing(text) => None,
                _ => {
                    collector.count(Finding::BadNumber, line);
                    None
                }
            }
        };
        let (allocated, requested) = (width(self.allocated), width(self.requested));
        let widths = (allocated.unwrap_or(0), requested.unwrap_or(0));
        if widths == (0, 0) {
            collector.count(Finding::NoProcessors, line);
            return None;
        }
        Some(widths)
    }

    /// The limit in seconds; −1 without one.
    fn limit(&self, fields: &Fields<'_>, line: u64, collector: &mut Collector) -> i64 {
        let (raw, text) = (
            fields[C::TimelimitRaw as usize],
            fields[C::Timelimit as usize],
        );
        let seconds = whole(raw)
            .and_then(|minutes| minutes.checked_mul(60))
            .or_else(|| duration(text))
            .filter(|seconds| (1..=LATEST).contains(seconds));
        if seconds.is_none()
            && (self.heading.has(C::TimelimitRaw) || self.heading.has(C::Timelimit))
        {
            collector.count(Finding::NoLimit, line);
        }
        seconds.unwrap_or(-1)
    }

    /// Kilobytes asked for by each processor (or node, where those are counted); −1 where it is not
    /// known.
    fn memory(&self, fields: &Fields<'_>, width: u32, line: u64, collector: &mut Collector) -> f64 {
        let text = fields[C::ReqMem as usize];
        if is_missing(text) || text == b"0" {
            return -1.0;
        }
        let count = |columns: [C; 3]| {
            (columns.into_iter())
                .find_map(|column| whole(fields[column as usize]).filter(|number| *number > 0))
                .map(|number| number as f64)
        };
        let Some((kilobytes, each)) = memory(text) else {
            collector.count(Finding::BadNumber, line);
            return -1.0;
        };
        let nodes = count([C::AllocNodes, C::NNodes, C::ReqNodes]);
        let cpus = count([C::AllocCpus, C::NCpus, C::ReqCpus]);
        let total = match (each, self.unit) {
            // Already by what is counted, whatever the number is.
            (MemoryPer::Cpu, Unit::Cpus) | (MemoryPer::Node, Unit::Nodes) => return kilobytes,
            (MemoryPer::Job, _) => Some(kilobytes),
            (MemoryPer::Cpu, Unit::Nodes) => cpus.map(|cpus| kilobytes * cpus),
            (MemoryPer::Node, Unit::Cpus) => nodes.map(|nodes| kilobytes * nodes),
        };
        total.map_or(-1.0, |total| (total / f64::from(width.max(1))).round())
    }
}

/// The unit that `ReqMem` is given per: before Slurm 21.08 a letter after the number names it,
/// since then it is the whole job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryPer {
    Cpu,
    Node,
    Job,
}

/// Parses `4000Mc`, `16Gn`, `1.50T`: kilobytes, and the unit they are given per.
fn memory(text: &[u8]) -> Option<(f64, MemoryPer)> {
    let (text, each) = match text.split_last()? {
        (b'c', rest) => (rest, MemoryPer::Cpu),
        (b'n', rest) => (rest, MemoryPer::Node),
        _ => (text, MemoryPer::Job),
    };
    let (digits, kilobytes) = match text.split_last()? {
        (b'K', rest) => (rest, 1.0),
        (b'M', rest) => (rest, 1_024.0),
        (b'G', rest) => (rest, 1_024.0 * 1_024.0),
        (b'T', rest) => (rest, 1_024.0 * 1_024.0 * 1_024.0),
        (b'P', rest) => (rest, 1_024.0 * 1_024.0 * 1_024.0 * 1_024.0),
        // Slurm's own unit.
        _ => (text, 1_024.0),
    };
    if !digits
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    {
        return None;
    }
    let number: f64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (number <= 1e12).then_some(((number * kilobytes).round(), each))
}

/// `1-02:03:04`, `02:03:04`, `03:04`, in seconds; fractions are cut.
pub(in super::super) fn duration(text: &[u8]) -> Option<i64> {
    let (days, clock) = match text.iter().position(|byte| *byte == b'-') {
        Some(dash) => (whole(&text[..dash])?, &text[dash + 1..]),
        None => (0, text),
    };
    let clock = clock.split(|byte| *byte == b'.').next()?;
    let mut parts = [0; 3];
    let mut count = 0;
    for part in clock.split(|byte| *byte == b':') {
        *parts.get_mut(count)? = whole(part).filter(|number| (0..=LATEST).contains(number))?;
        count += 1;
    }
    let [a, b, c] = parts;
    let seconds = match count {
        3 => a * 3_600 + b * 60 + c,
        2 if days > 0 => a * 3_600 + b * 60,
        2 => a * 60 + b,
        1 if text.contains(&b'-') => a * 3_600,
        _ => return None,
    };
    (0..=LATEST)
        .contains(&days)
        .then(|| days * 86_400 + seconds)
}

fn state_of(word: &[u8]) -> State {
    match word {
        b"COMPLETED" => State::Ended(COMPLETED),
        b"CANCELLED" => State::Ended(CANCELLED),
        b"FAILED" | b"TIMEOUT" | b"NODE_FAIL" | b"PREEMPTED" | b"OUT_OF_MEMORY" | b"BOOT_FAIL"
        | b"DEADLINE" | b"REQUEUED" | b"SPECIAL_EXIT" | b"LAUNCH_FAILED" | b"RECONFIG_FAIL"
        | b"POWER_UP_NODE" => State::Ended(FAILED),
        b"RUNNING" | b"PENDING" | b"SUSPENDED" | b"RESIZING" | b"CONFIGURING" | b"COMPLETING"
        | b"STOPPED" | b"SIGNALING" | b"STAGE_OUT" | b"REQUEUE_HOLD" | b"REQUEUE_FED"
        | b"RESV_DEL_HOLD" | b"EXPEDITING" => State::NotEnded,
        b"REVOKED" => State::Revoked,
        _ => State::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_slurm_are_read_in_all_their_forms() {
        for (text, seconds) in [
            ("1-02:03:04", Some(93_784)),
            ("02:03:04", Some(7_384)),
            ("03:04", Some(184)),
            ("03:04.500", Some(184)),
            ("2-00", Some(172_800)),
            ("1-06:30", Some(86_400 + 23_400)),
            ("UNLIMITED", None),
            ("Partition_Limit", None),
            ("", None),
            ("1:2:3:4", None),
            ("-1", None),
        ] {
            assert_eq!(duration(text.as_bytes()), seconds, "{text}");
        }
    }

    #[test]
    fn requested_memory_is_read_with_its_unit_and_with_what_it_is_of() {
        for (text, read) in [
            ("4000Mc", Some((4_096_000.0, MemoryPer::Cpu))),
            ("16Gn", Some((16_777_216.0, MemoryPer::Node))),
            ("1.50G", Some((1_572_864.0, MemoryPer::Job))),
            ("100", Some((102_400.0, MemoryPer::Job))),
            ("1e9G", None),
            ("?", None),
        ] {
            assert_eq!(memory(text.as_bytes()), read, "{text}");
        }
    }
}
