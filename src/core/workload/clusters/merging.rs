//! Merging of narrow jobs, which makes simulations shorter and keeps their CPU time (Meltzer 2005,
//! §6.2; Q21).

use std::collections::BTreeMap;

use crate::units::{Nodes, Seconds};
use crate::workload::Job;

/// Jobs that ask for fewer CPUs are merged.
const NARROW: u32 = 128;
/// At most this long after the first of their bucket.
const WITHIN: Seconds = Seconds::HOUR;

/// What merging looks at in a job.
#[derive(Clone, Copy, Debug)]
struct Record {
    submit: Seconds,
    limit: Seconds,
    run: Seconds,
    cpus: u32,
    /// Place in the list of jobs.
    index: u32,
    /// The same for all jobs with the same limit, from 0.
    class: u32,
}

/// Jobs that became one job, or one that stayed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    /// When the first of them was submitted.
    pub(super) submit: Seconds,
    /// Their common wall-clock limit.
    pub(super) limit: Seconds,
    /// Their CPUs together.
    pub(super) cpus: u32,
    /// Their CPU time together.
    pub(super) work: i64,
    /// Place of the first of them in the list of jobs.
    pub(super) first: u32,
    /// How many they are.
    pub(super) jobs: u32,
}

impl Bucket {
    fn of(record: &Record) -> Self {
        Self {
            submit: record.submit,
            limit: record.limit,
            cpus: record.cpus,
            work: record.run.0 * i64::from(record.cpus),
            first: record.index,
            jobs: 1,
        }
    }

    /// The run time that keeps the CPU time: the mean weighted with CPUs, to the nearest second.
    pub(super) fn runtime(&self) -> Seconds {
        let cpus = i64::from(self.cpus.max(1));
        Seconds((2 * self.work + cpus) / (2 * cpus))
    }

    /// Run time ÷ limit.
    pub(super) fn accuracy(&self) -> f64 {
        self.runtime().0 as f64 / self.limit.0.max(1) as f64
    }
}

/// The jobs of a trace that fit the machine, ready to be merged in any window.
#[derive(Debug)]
pub(super) struct Merger {
    records: Vec<Record>,
    classes: usize,
    machine: Nodes,
    /// So many jobs become one at most.
    most: u32,
    /// No job of the trace is submitted later.
    last: Seconds,
}

impl Merger {
    /// Jobs are in order of submission; `most` of them become one at most.
    pub(super) fn new(jobs: &[Job], machine: Nodes, most: Option<u32>) -> Self {
        let mut classes: BTreeMap<Seconds, u32> = BTreeMap::new();
        let records = jobs
            .iter()
            .zip(0..)
            .filter(|(job, _)| job.nodes <= machine)
            .map(|(job, index)| {
                let next = classes.len() as u32;
                Record {
                    submit: job.submit,
                    limit: job.estimate,
                    run: job.runtime.min(job.estimate),
                    cpus: job.nodes.0,
                    index,
                    class: *classes.entry(job.estimate).or_insert(next),
                }
            })
            .collect();
        Self {
            records,
            classes: classes.len(),
            machine,
            most: most.unwrap_or(u32::MAX),
            last: jobs.last().map_or(Seconds::ZERO, |job| job.submit),
        }
    }

    /// The time that jobs are submitted in, from 0 up to and including the last submission.
    pub(super) fn span(&self) -> Seconds {
        self.last + Seconds(1)
    }

    /// The jobs of a window as they are.
    pub(super) fn single(&self, from: Seconds, until: Seconds) -> Vec<Bucket> {
        self.window(from, until).iter().map(Bucket::of).collect()
    }

    /// The jobs of a window, merged.
    pub(super) fn merge(&self, from: Seconds, until: Seconds) -> Vec<Bucket> {
        let mut scratch = Scratch::default();
        self.merge_into(from, until, &mut scratch);
        scratch.buckets
    }

    /// The jobs of a window, merged, in memory that is used again.
    ///
    /// In order of submission: a narrow job joins the open bucket of its limit if that is narrow
    /// still and was opened no more than an hour ago, and opens another one otherwise. A bucket
    /// never becomes wider than the machine nor holds more jobs than are allowed.
    pub(super) fn merge_into(&self, from: Seconds, until: Seconds, scratch: &mut Scratch) {
        scratch.buckets.clear();
        scratch.open.clear();
        scratch.open.resize(self.classes, usize::MAX);
        for record in self.window(from, until) {
            if record.cpus >= NARROW {
                scratch.buckets.push(Bucket::of(record));
                continue;
            }
            let open = &mut scratch.open[record.class as usize];
            match scratch.buckets.get_mut(*open) {
                Some(bucket)
                    if bucket.cpus < NARROW
                        && bucket.jobs < self.most
                        && bucket.cpus + record.cpus <= self.machine.0
                        && record.submit - bucket.submit <= WITHIN =>
                {
                    bucket.jobs += 1;
                    bucket.cpus += record.cpus;
                    bucket.work += record.run.0 * i64::from(record.cpus);
                }
                _ => {
                    *open = scratch.buckets.len();
                    scratch.buckets.push(Bucket::of(record));
                }
            }
        }
    }

    fn window(&self, from: Seconds, until: Seconds) -> &[Record] {
        let first = self.records.partition_point(|record| record.submit < from);
        let end = self.records.partition_point(|record| record.submit < until);
        &self.records[first..end]
    }
}

/// Memory of [`Merger::merge_into`].
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) buckets: Vec<Bucket>,
    open: Vec<usize>,
}
