//! Lines `PartitionName=`, and the classes that nodes fall into: alike, and of the same partitions.

use std::collections::HashMap;

use super::lines::Line;
use super::nodes::{MOST_MEMBERS, Node, Nodes, over_defaults};
use super::{Converted, Global, NotRead, SlurmError, times};
use crate::machine_queue::machines::file::{NumberOrName, RawClass, RawPartition, RawSharing};

/// Reads all partitions, then makes the classes.
pub(super) fn read(
    lines: &[&Line],
    global: &Global,
    nodes: &mut Nodes,
    converted: &mut Converted,
    not_read: &mut NotRead,
) -> Result<(), SlurmError> {
    let mut defaults: Vec<(String, String)> = Vec::new();
    let mut partitions: Vec<RawPartition> = Vec::new();
    let mut factors: Vec<u32> = Vec::new();
    let mut all_members = 0;
    for line in lines {
        let name = line.pairs[0].1.clone();
        if name.eq_ignore_ascii_case("DEFAULT") {
            defaults = over_defaults(&line.pairs[1..], &defaults);
            continue;
        }
        let pairs = over_defaults(&line.pairs[1..], &defaults);
        let mut partition = RawPartition {
            name: name.clone(),
            partitions: vec![NumberOrName::Name(name.clone())],
            sharing: if global.is_linear {
                RawSharing::Exclusive
            } else {
                RawSharing::Shared
            },
            ..RawPartition::default()
        };
        let mut factor = 1;
        let mut members = Vec::new();
        let mut state = String::new();
        for (key, value) in &pairs {
            let lower = value.to_ascii_lowercase();
            let number = || {
                (value.parse::<u32>())
                    .map_err(|_| line.fault(key, format!("{value} is no whole number")))
            };
            match key.to_ascii_lowercase().as_str() {
                "nodes" => members = nodes.named(value, line)?,
                "default" => partition.default = lower == "yes",
                "maxtime" => partition.longest_hours = limit(key, value, line)?,
                "defaulttime" => partition.default_request_hours = limit(key, value, line)?,
                "maxnodes" if lower == "unlimited" || value == "-1" => {}
                "maxnodes" => partition.widest_nodes = Some(number()?),
                "prioritytier" => partition.tier = Some(number()?),
                "priorityjobfactor" => factor = number()?,
                // Before there were the two, one key was both.
                "priority" => {
                    partition.tier = Some(number()?);
                    factor = number()?;
                }
                "oversubscribe" | "shared" => match lower.split(':').next() {
                    Some("exclusive") => partition.sharing = RawSharing::Exclusive,
                    Some("no") => {}
                    _ => {
                        let note = format!(
                            "partition {name}: {key}={value} is read as no: a core belongs to one job here"
                        );
                        converted.notes.push(note);
                    }
                },
                "exclusive" if lower == "node" => partition.sharing = RawSharing::Exclusive,
                "exclusive" if lower == "no" => {}
                "exclusiveuser" if lower == "no" => {}
                "exclusive" | "exclusiveuser" => converted.notes.push(format!(
                    "partition {name}: {key}={value} is not simulated: jobs of several users share its nodes here"
                )),
                "state" => state = lower,
                _ => not_read.count(format!("PartitionName {key}")),
            }
        }
        if !matches!(state.as_str(), "" | "up") {
            converted.notes.push(format!(
                "partition {name} is left out: its State is {state}"
            ));
            continue;
        }
        if members.is_empty() {
            return Err(line.fault(
                "Nodes",
                format!("partition {name} has no nodes; say Nodes=…"),
            ));
        }
        all_members += members.len();
        if all_members > MOST_MEMBERS {
            let what = format!("the partitions have more than {MOST_MEMBERS} nodes in all");
            return Err(line.fault("Nodes", what));
        }
        for node in members {
            let of = &mut nodes.all[node].partitions;
            if of.last() != Some(&partitions.len()) {
                of.push(partitions.len());
            }
        }
        if partition.default_request_hours.is_none() {
            partition.default_request_hours = partition.longest_hours;
        }
        partitions.push(partition);
        factors.push(factor);
    }
    // Factors are parts of the largest one.
    if let Some(most) = factors.iter().max().filter(|most| **most > 0) {
        for (partition, factor) in partitions.iter_mut().zip(&factors) {
            partition.priority_factor = f64::from(*factor) / f64::from(*most);
        }
    }
    classes(&nodes.all, global, &mut partitions, converted);
    converted.machine.partition = partitions;
    Ok(())
}

/// A limit in hours: whole minutes, rounded up; `None` without one.
fn limit(key: &str, value: &str, line: &Line) -> Result<Option<f64>, SlurmError> {
    if value.eq_ignore_ascii_case("NONE") {
        return Ok(None);
    }
    let seconds = times::seconds(value).filter(|seconds| *seconds != Some(0));
    let seconds = seconds.ok_or_else(|| {
        line.fault(
            key,
            format!("{value} is no time; allowed are minutes, hours:minutes:seconds, days-hours and the like, and UNLIMITED"),
        )
    })?;
    // Six decimals of an hour tell seconds apart.
    let hours = |seconds: u64| (seconds.div_ceil(60) as f64 / 60.0 * 1e6).round() / 1e6;
    Ok(seconds.map(hours))
}

/// Nodes that are alike and of the same partitions, in order of their weights; those of no
/// partition are left out.
fn classes(
    nodes: &[Node],
    global: &Global,
    partitions: &mut [RawPartition],
    converted: &mut Converted,
) {
    let mut kinds: Vec<(&Node, u32)> = Vec::new();
    // Nodes of one line come together: looking at the last kinds first would do, but a table is as
    // short.
    let mut places: HashMap<(u32, u64, u32, u64, &[usize]), usize> = HashMap::new();
    let mut without = 0;
    for node in nodes {
        if node.partitions.is_empty() {
            without += 1;
            continue;
        }
        let kind = (
            node.cores,
            node.memory_megabytes,
            node.gpus,
            node.weight,
            &node.partitions[..],
        );
        let place = *places.entry(kind).or_insert_with(|| {
            kinds.push((node, 0));
            kinds.len() - 1
        });
        kinds[place].1 += 1;
    }
    if without > 0 {
        (converted.notes).push(format!("{without} nodes are in no partition and left out"));
    }
    kinds.sort_by_key(|(node, _)| node.weight);
    let mut lists: Vec<Vec<String>> = vec![Vec::new(); partitions.len()];
    for (node, count) in kinds {
        let known = &converted.machine.class;
        let name = (1..)
            .map(|number| match number {
                1 => node.of.clone(),
                _ => format!("{} ({number})", node.of),
            })
            .find(|name| known.iter().all(|class| class.name != *name))
            .unwrap_or_default();
        for partition in &node.partitions {
            lists[*partition].push(name.clone());
        }
        converted.machine.class.push(RawClass {
            name,
            nodes: count,
            cores: Some(node.cores),
            memory_megabytes: if global.counts_memory {
                node.memory_megabytes
            } else {
                0
            },
            gpus: node.gpus,
        });
    }
    let notes = &mut converted.notes;
    for (partition, list) in partitions.iter_mut().zip(lists) {
        let of = (converted.machine.class.iter()).filter(|class| list.contains(&class.name));
        let widest = of.map(|class| class.nodes).max().unwrap_or(0);
        if list.len() > 1 {
            notes.push(format!(
                "partition {} has nodes of {} classes, and a job gets nodes of one class: none of more than {widest} nodes fits. Classes are nodes that are \
                 alike and of the same partitions; join some in the machine file where wider jobs run",
                partition.name,
                list.len()
            ));
        }
        partition.classes = Some(list);
    }
}
