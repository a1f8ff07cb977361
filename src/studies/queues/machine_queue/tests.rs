//! The machine with partitions against the fast engines, against numbers worked out by hand, and
//! against a slow twin.

mod announced;
mod fair_tree;
mod fast_engines;
mod placing;
mod properties;
mod random;
mod reservation;
mod topology;
mod twin;
mod vectors;

use bookahead_core::units::Nodes;

use super::*;

/// A class of so many nodes of so many cores.
fn class(nodes: u32, cores: u32) -> NodeClass {
    NodeClass {
        name: format!("{nodes} of {cores}"),
        nodes: Nodes(nodes),
        each: NodeResources {
            cores,
            ..NodeResources::default()
        },
    }
}

/// An exclusive partition that may use classes with these positions.
fn partition(classes: &[usize]) -> Partition {
    Partition {
        name: "batch".to_owned(),
        classes: classes.iter().copied().map(ClassIndex).collect(),
        sharing: NodeSharing::Exclusive,
        tier: 0,
        factor: 0.0,
        longest: None,
        widest: None,
    }
}

/// Jobs in order of submission on one exclusive partition of all classes, with backfilling of the
/// first.
fn machine(classes: Vec<NodeClass>) -> QueueMachine {
    let all: Vec<usize> = (0..classes.len()).collect();
    QueueMachine {
        name: "machine".to_owned(),
        classes,
        partitions: vec![partition(&all)],
        qualities: vec![QualityOfService {
            name: "normal".to_owned(),
            factor: 0.0,
            usage_factor: 1.0,
            longest: None,
            per_user: Limits::default(),
            in_all: Limits::default(),
        }],
        accounts: vec![Account {
            name: "all".to_owned(),
            parent: None,
            shares: 1.0,
            per_user: Limits::default(),
            in_all: Limits::default(),
        }],
        priority: PriorityWeights {
            age: 0.0,
            oldest: Seconds(7 * 86_400),
            fair_share: 0.0,
            algorithm: FairShareAlgorithm::Classic,
            damping: 1.0,
            holder: ShareHolder::User,
            half_life: None,
            size: 0.0,
            favours_small: false,
            partition: 0.0,
            quality: 0.0,
        },
        backfilling: EASY,
        windows: Vec::new(),
        topology: Topology::default(),
    }
}

const EASY: Backfilling = Backfilling::Reserving {
    depth: 1,
    tested: None,
    interval: Seconds::ZERO,
    window: None,
};

/// A job of user 1 that uses all that it asks for.
fn job(submit: i64, cores: u32, request: i64) -> MachineQueueJob {
    MachineQueueJob {
        trace_number: 0,
        submit: Seconds(submit),
        request: Seconds(request),
        runtime: Seconds(request),
        cores,
        cores_per_node: None,
        memory_megabytes_per_core: 0,
        gpus_per_node: 0,
        partition: PartitionIndex(0),
        quality: QualityIndex(0),
        account: AccountIndex(0),
        user: 1,
    }
}

/// The machine when all jobs are over.
fn worked_off(machine: &QueueMachine, jobs: &[MachineQueueJob]) -> site::Site {
    let scene = machine_queue_scene(&Arc::new(machine.clone()), &jobs.into());
    let played = drive(scene, false);
    assert!(played.is_over);
    played.machine.site
}

fn outcomes_of(machine: &QueueMachine, jobs: &[MachineQueueJob]) -> Vec<MachineQueueOutcome> {
    worked_off(machine, jobs).outcomes
}

/// When each job starts; `None` where it is refused.
fn starts(machine: &QueueMachine, jobs: &[MachineQueueJob]) -> Vec<Option<i64>> {
    let outcomes = outcomes_of(machine, jobs);
    let start = |outcome: &MachineQueueOutcome| match outcome {
        MachineQueueOutcome::Ran { start, .. } => Some(start.0),
        MachineQueueOutcome::Refused(_) => None,
    };
    outcomes.iter().map(start).collect()
}

fn of_user(user: i64, job: MachineQueueJob) -> MachineQueueJob {
    MachineQueueJob { user, ..job }
}
