//! Recorded and simulated waits, side by side.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Simulated;
use crate::workload::swf::SwfRecord;
use bookahead_core::workload::NameKind;
use bookahead_queues::machine_queue::machines::TraceNames;
use bookahead_queues::machine_queue::{Agreement, MachineQueueJob, MachineQueueOutcome};

/// Recorded and simulated waits of some jobs.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    /// What the jobs have in common: `all`, `partition`, `queue`, `width` or `request`.
    pub(super) by: &'static str,
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) agreement: Agreement,
}

/// Widths in cores: from, and what they are called.
const WIDTHS: [(u32, &str); 6] = [
    (1, "1 core"),
    (2, "2-7 cores"),
    (8, "8-31 cores"),
    (32, "32-127 cores"),
    (128, "128-511 cores"),
    (512, "512+ cores"),
];

/// Requests in seconds: above, and what they are called.
const REQUESTS: [(i64, &str); 6] = [
    (0, "to 10 min"),
    (600, "to 1 h"),
    (3_600, "to 4 h"),
    (14_400, "to 12 h"),
    (43_200, "to 24 h"),
    (86_400, "above 24 h"),
];

fn class_of<T: PartialOrd + Copy>(value: T, classes: &[(T, &'static str)]) -> usize {
    let after = classes.partition_point(|(from, _)| *from <= value);
    after.saturating_sub(1)
}

/// More queues are no table.
const MOST_QUEUES: usize = 40;

/// Recorded and simulated waits of all jobs that have both, and of groups of them.
pub(super) fn compare(simulated: &Simulated, names: &TraceNames) -> Vec<Compared> {
    let pairs: Vec<(&SwfRecord, &MachineQueueJob, (i64, i64))> = (simulated.records.iter())
        .zip(simulated.jobs.iter().zip(&simulated.outcomes))
        .filter_map(|(record, (job, outcome))| match outcome {
            MachineQueueOutcome::Ran { start, .. } if record.wait >= 0 => {
                Some((record, job, (record.wait, (*start - job.submit).0)))
            }
            _ => None,
        })
        .collect();
    let mut compared = Vec::new();
    let mut add = |by: &'static str, name: String, pairs: &[(i64, i64)]| {
        if let Some(agreement) = Agreement::of(pairs) {
            compared.push(Compared {
                by,
                name,
                agreement,
            });
        }
    };
    let all: Vec<(i64, i64)> = pairs.iter().map(|(_, _, waits)| *waits).collect();
    add("all", "all".to_owned(), &all);
    let groups = |key: &dyn Fn(&SwfRecord, &MachineQueueJob) -> i64| {
        let mut groups: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
        for (record, job, waits) in &pairs {
            groups.entry(key(record, job)).or_default().push(*waits);
        }
        groups
    };
    let partitions = groups(&|_, job| job.partition.0 as i64);
    let partition = |number: i64| simulated.machine.partitions[number as usize].name.clone();
    let queues = groups(&|record, _| record.queue);
    let queue = |number: i64| {
        let name = names.name(NameKind::Queue, number);
        name.map_or_else(|| number.to_string(), str::to_owned)
    };
    if partitions.len() > 1 {
        for (number, pairs) in &partitions {
            add("partition", partition(*number), pairs);
        }
    }
    if (2..=MOST_QUEUES).contains(&queues.len()) {
        // One line twice says nothing.
        let is_new = |pairs: &Vec<(i64, i64)>| partitions.values().all(|other| other != pairs);
        for (number, pairs) in queues.iter().filter(|(_, pairs)| is_new(pairs)) {
            add("queue", queue(*number), pairs);
        }
    }
    for (class, pairs) in groups(&|_, job| class_of(job.cores, &WIDTHS) as i64) {
        add("width", WIDTHS[class as usize].1.to_owned(), &pairs);
    }
    for (class, pairs) in groups(&|_, job| class_of(job.request.0 - 1, &REQUESTS) as i64) {
        add("request", REQUESTS[class as usize].1.to_owned(), &pairs);
    }
    compared
}
