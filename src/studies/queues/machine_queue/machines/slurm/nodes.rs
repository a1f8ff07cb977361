//! Lines `NodeName=` and `NodeSet=`: every node with what it has.

use std::collections::HashMap;

use super::hostlist;
use super::lines::Line;
use super::{NotRead, SlurmError};

/// Nodes of a file at most, and nodes of its partitions in all.
const MOST_NODES: usize = 1_000_000;
pub(super) const MOST_MEMBERS: usize = 20_000_000;

/// What a line says that its nodes have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// The expression of its line.
    pub(super) of: String,
    pub(super) cores: u32,
    pub(super) memory_megabytes: u64,
    pub(super) gpus: u32,
    /// Nodes of lower weight are tried first.
    pub(super) weight: u64,
    features: Vec<String>,
    /// Positions of the partitions that it belongs to.
    pub(super) partitions: Vec<usize>,
}

/// All nodes of a file, and names for several of them.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) all: Vec<Node>,
    by_name: HashMap<String, usize>,
    sets: HashMap<String, Vec<usize>>,
    defaults: Vec<(String, String)>,
}

/// Pairs of a line over those of an earlier line `DEFAULT`.
pub(super) fn over_defaults(
    pairs: &[(String, String)],
    defaults: &[(String, String)],
) -> Vec<(String, String)> {
    let mut all = pairs.to_vec();
    for (key, value) in defaults {
        if !all.iter().any(|(name, _)| name.eq_ignore_ascii_case(key)) {
            all.push((key.clone(), value.clone()));
        }
    }
    all
}

impl Nodes {
    /// A line `NodeName=`.
    pub(super) fn line(&mut self, line: &Line, not_read: &mut NotRead) -> Result<(), SlurmError> {
        let list = line.pairs[0].1.clone();
        if list.eq_ignore_ascii_case("DEFAULT") {
            self.defaults = over_defaults(&line.pairs[1..], &self.defaults);
            return Ok(());
        }
        let pairs = over_defaults(&line.pairs[1..], &self.defaults);
        let number = |key: &str, value: &str| {
            (value.parse::<u64>())
                .map_err(|_| line.fault(key, format!("{value} is no whole number")))
        };
        let (mut cpus, mut memory, mut gpus, mut weight) = (None, 0, 0, 1);
        // Boards, sockets on each or in all, cores of each, threads of each.
        let (mut boards, mut sockets, mut cores, mut threads) = (1, 1, 1, 1);
        let mut sockets_in_all = false;
        let mut features = Vec::new();
        let mut is_future = false;
        for (key, value) in &pairs {
            match key.to_ascii_lowercase().as_str() {
                "cpus" | "procs" => cpus = Some(number(key, value)?),
                "boards" => boards = number(key, value)?,
                "sockets" => {
                    sockets = number(key, value)?;
                    sockets_in_all = true;
                }
                "socketsperboard" => sockets = number(key, value)?,
                "corespersocket" => cores = number(key, value)?,
                "threadspercore" => threads = number(key, value)?,
                "realmemory" => memory = number(key, value)?,
                "weight" => weight = number(key, value)?,
                "gres" => {
                    gpus = graphics_processors(value).map_err(|what| line.fault(key, what))?
                }
                "feature" | "features" => features = value.split(',').map(str::to_owned).collect(),
                "state" if value.eq_ignore_ascii_case("FUTURE") => is_future = true,
                _ => not_read.count(format!("NodeName {key}")),
            }
        }
        if is_future {
            not_read.count("NodeName State=FUTURE");
            return Ok(());
        }
        if sockets_in_all {
            boards = 1;
        }
        let product = (boards.checked_mul(sockets))
            .and_then(|count| count.checked_mul(cores))
            .and_then(|count| count.checked_mul(threads));
        let cpus = cpus.or(product).and_then(|count| u32::try_from(count).ok());
        let Some(cpus) = cpus.filter(|count| *count > 0) else {
            return Err(line.fault("CPUs", "a node has from 1 to 4294967295 of them"));
        };
        let node = Node {
            of: list.clone(),
            cores: cpus,
            memory_megabytes: memory,
            gpus,
            weight,
            features,
            partitions: Vec::new(),
        };
        for name in hostlist::expand(&list).map_err(|what| line.fault("NodeName", what))? {
            if self.by_name.insert(name.clone(), self.all.len()).is_some() {
                return Err(line.fault("NodeName", format!("{name} is there already")));
            }
            self.all.push(node.clone());
        }
        if self.all.len() > MOST_NODES {
            return Err(line.fault("NodeName", format!("more than {MOST_NODES} nodes in all")));
        }
        Ok(())
    }

    /// A line `NodeSet=`.
    pub(super) fn set(&mut self, line: &Line, not_read: &mut NotRead) -> Result<(), SlurmError> {
        let name = line.pairs[0].1.clone();
        let mut members = Vec::new();
        for (key, value) in &line.pairs[1..] {
            match key.to_ascii_lowercase().as_str() {
                "nodes" => members.extend(self.named(value, line)?),
                "feature" => members.extend(
                    (0..self.all.len()).filter(|at| self.all[*at].features.contains(value)),
                ),
                _ => not_read.count(format!("NodeSet {key}")),
            }
        }
        self.sets.insert(name, members);
        Ok(())
    }

    /// The nodes of a list of names, sets, and `ALL`.
    pub(super) fn named(&self, list: &str, line: &Line) -> Result<Vec<usize>, SlurmError> {
        if list.eq_ignore_ascii_case("ALL") {
            return Ok((0..self.all.len()).collect());
        }
        let names = hostlist::expand(list).map_err(|what| line.fault("Nodes", what))?;
        let mut found = Vec::new();
        for name in names {
            match (self.by_name.get(&name), self.sets.get(&name)) {
                (Some(node), _) => found.push(*node),
                (None, Some(set)) => found.extend(set),
                (None, None) => {
                    return Err(line.fault(
                        "Nodes",
                        format!("no line NodeName= or NodeSet= has {name}; add one in front, or take it out"),
                    ));
                }
            }
        }
        Ok(found)
    }
}

/// `gpu:2`, `gpu:a100:4(S:0-1),gpu:v100:2`: how many of all models.
fn graphics_processors(text: &str) -> Result<u32, String> {
    let mut all: u32 = 0;
    for resource in text.split(',') {
        let resource = resource.split('(').next().unwrap_or("");
        let fields: Vec<&str> = resource.trim().split(':').collect();
        if !fields[0].eq_ignore_ascii_case("gpu") {
            continue;
        }
        // Without a number it is one.
        let count = match fields.last().filter(|_| fields.len() > 1) {
            None => Some(1),
            Some(last) => last.parse().ok(),
        };
        all = count
            .and_then(|count: u32| all.checked_add(count))
            .ok_or_else(|| {
                format!("`{resource}` does not end in a number; write gpu:MODEL:NUMBER")
            })?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphics_processors_of_all_models_are_counted() {
        for (text, expected) in [
            ("gpu:4", 4),
            ("gpu", 1),
            ("gpu:a100:4(S:0-1),gpu:v100:2,lustre:1", 6),
            ("lustre:1", 0),
            ("", 0),
        ] {
            assert_eq!(graphics_processors(text), Ok(expected), "{text}");
        }
        assert!(graphics_processors("gpu:a100").is_err());
    }
}
