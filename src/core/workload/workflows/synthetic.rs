//! The synthetic layered workflow of the evaluation (Singh 2008, §4.7, Figure 12; AMB-16).

use serde::{Deserialize, Serialize};

use super::workflow::{Edge, Task, TaskId, Workflow};
use super::{WorkflowError, WorkflowFault};
use crate::random::Stream;
use crate::units::{Nodes, Seconds};
use crate::workload::variates::{below, exponential, uniform};

/// What a synthetic workflow looks like. The thesis states means only; how values spread around
/// them is a setting each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyntheticSettings {
    /// Tasks, 1 or more.
    pub tasks: u32,
    /// Levels; `None` for the nearest whole number to the root of `tasks` (AMB-16c).
    pub depth: Option<u32>,
    /// How many tasks a level has.
    pub levels: LevelSizes,
    /// Parents of each task below the first level, drawn without repetition from the level above
    /// it; all of that level where it has fewer.
    pub parents: u32,
    /// Mean run time.
    pub mean_runtime: Seconds,
    /// Distribution of run times.
    pub runtimes: RuntimeShape,
    /// Mean number of processors.
    pub mean_nodes: Nodes,
    /// Distribution of numbers of processors.
    pub nodes: NodesShape,
    /// No task is wider: the size of the machine. `None` for no limit.
    pub most_nodes: Option<Nodes>,
    /// Mean volume of an edge in bytes: 0 on a single site.
    pub mean_bytes: u64,
    /// Distribution of volumes.
    pub volumes: VolumeShape,
}

impl Default for SyntheticSettings {
    /// 100 tasks on 10 levels for the CTC machine, without data.
    fn default() -> Self {
        Self {
            tasks: 100,
            depth: None,
            levels: LevelSizes::Drawn,
            parents: 2,
            mean_runtime: Seconds(1_000),
            runtimes: RuntimeShape::Uniform,
            mean_nodes: Nodes(22),
            nodes: NodesShape::Uniform,
            most_nodes: None,
            mean_bytes: 0,
            volumes: VolumeShape::Constant,
        }
    }
}

/// How many tasks a level has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelSizes {
    /// One task a level, and the level of every other task is drawn uniformly.
    #[default]
    Drawn,
    /// All levels alike; the first ones have one more where the number does not divide.
    Equal,
}

/// Distribution of run times around their mean; rounded to whole seconds, at least 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeShape {
    /// Uniform on (0, 2 · mean].
    #[default]
    Uniform,
    /// Exponential.
    Exponential,
    /// All alike.
    Constant,
}

/// Distribution of numbers of processors around their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodesShape {
    /// Uniform on 1, …, 2 · mean − 1.
    #[default]
    Uniform,
    /// All alike.
    Constant,
}

/// Distribution of volumes around their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VolumeShape {
    /// All alike (Singh 2008, §4.9: 1000 Gb per edge).
    #[default]
    Constant,
    /// Uniform on [0, 2 · mean].
    Uniform,
}

impl SyntheticSettings {
    /// How many levels there will be.
    #[must_use]
    pub fn levels_wanted(&self) -> u32 {
        self.depth
            .unwrap_or_else(|| f64::from(self.tasks).sqrt().round() as u32)
    }

    fn check(&self) -> Result<(), WorkflowFault> {
        let fault = |key, found: String, allowed| {
            Err(WorkflowFault::Impossible {
                element: "synthetic workflow".to_owned(),
                key,
                found,
                allowed,
            })
        };
        if self.tasks == 0 {
            return fault("tasks", "0".to_owned(), "1 or more");
        }
        let depth = self.levels_wanted();
        if depth == 0 || depth > self.tasks {
            return fault("depth", depth.to_string(), "1 to the number of tasks");
        }
        if self.parents == 0 && depth > 1 {
            return fault("parents", "0".to_owned(), "1 or more");
        }
        if !(1..=1_000_000_000).contains(&self.mean_runtime.0) {
            let found = self.mean_runtime.0.to_string();
            return fault("mean_runtime", found, "1 to 1,000,000,000 seconds");
        }
        if !(1..=1_000_000_000).contains(&self.mean_nodes.0) {
            let found = self.mean_nodes.0.to_string();
            return fault("mean_nodes", found, "1 to 1,000,000,000 processors");
        }
        if self.most_nodes == Some(Nodes(0)) {
            return fault("most_nodes", "0".to_owned(), "1 or more");
        }
        if self.mean_bytes > 1 << 60 {
            return fault("mean_bytes", self.mean_bytes.to_string(), "at most 2^60");
        }
        Ok(())
    }
}

/// Draws a workflow. Tasks are numbered level by level.
///
/// Structure comes first, then run times, widths, volumes, one draw each whatever their means are:
/// settings that differ only in mean width give the same structure and run times (common random
/// numbers, AMB-16d).
///
/// # Errors
///
/// When a setting is outside of what is possible.
pub fn synthetic(
    settings: &SyntheticSettings,
    stream: &mut Stream,
) -> Result<Workflow, WorkflowError> {
    let name = format!("synthetic-{}", settings.tasks);
    settings.check().map_err(|fault| fault.at(&name, None))?;
    let sizes = level_sizes(settings, stream);
    let pairs = draw_parents(&sizes, settings.parents as usize, stream);
    let runtimes: Vec<f64> = (0..settings.tasks)
        .map(|_| runtime(settings, stream))
        .collect();
    let tasks = (1_u32..)
        .zip(runtimes)
        .map(|(number, seconds)| Task {
            name: format!("T{number:05}"),
            module: "synthetic".to_owned(),
            nodes: width(settings, stream),
            seconds,
            seconds_by_resource: Vec::new(),
        })
        .collect();
    let edges = pairs
        .into_iter()
        .map(|(parent, child)| Edge {
            parent,
            child,
            bytes: volume(settings, stream),
        })
        .collect();
    Workflow::new(name, tasks, edges)
}

/// Tasks of each level, at least one.
fn level_sizes(settings: &SyntheticSettings, stream: &mut Stream) -> Vec<u32> {
    let depth = settings.levels_wanted();
    match settings.levels {
        LevelSizes::Equal => {
            let (all, more) = (settings.tasks / depth, settings.tasks % depth);
            (0..depth)
                .map(|level| all + u32::from(level < more))
                .collect()
        }
        LevelSizes::Drawn => {
            let mut sizes = vec![1; depth as usize];
            for _ in depth..settings.tasks {
                sizes[below(stream, depth as usize)] += 1;
            }
            sizes
        }
    }
}

/// Parent and child of each edge, by child.
fn draw_parents(sizes: &[u32], wanted: usize, stream: &mut Stream) -> Vec<(TaskId, TaskId)> {
    let mut pairs = Vec::new();
    let mut first = 0;
    for pair in sizes.windows(2) {
        let (above, here) = (pair[0], pair[1]);
        for child in first + above..first + above + here {
            let mut candidates: Vec<u32> = (first..first + above).collect();
            for place in 0..wanted.min(candidates.len()) {
                let drawn = place + below(stream, candidates.len() - place);
                candidates.swap(place, drawn);
                pairs.push((TaskId(candidates[place]), TaskId(child)));
            }
        }
        first += above;
    }
    pairs
}

fn runtime(settings: &SyntheticSettings, stream: &mut Stream) -> f64 {
    let mean = settings.mean_runtime.0 as f64;
    let seconds = match settings.runtimes {
        // 1 − u, so that 0 is left out and 2 · mean is not.
        RuntimeShape::Uniform => 2.0 * mean * (1.0 - uniform(stream)),
        RuntimeShape::Exponential => mean * exponential(stream),
        RuntimeShape::Constant => {
            uniform(stream);
            mean
        }
    };
    seconds.round().max(1.0)
}

fn width(settings: &SyntheticSettings, stream: &mut Stream) -> Nodes {
    let draw = uniform(stream);
    let mean = settings.mean_nodes.0;
    let nodes = match settings.nodes {
        NodesShape::Uniform => 1 + (draw * f64::from(2 * mean - 1)) as u32,
        NodesShape::Constant => mean,
    };
    Nodes(nodes).min(settings.most_nodes.unwrap_or(Nodes(u32::MAX)))
}

fn volume(settings: &SyntheticSettings, stream: &mut Stream) -> u64 {
    let draw = uniform(stream);
    match settings.volumes {
        VolumeShape::Constant => settings.mean_bytes,
        VolumeShape::Uniform => (draw * 2.0 * settings.mean_bytes as f64).round() as u64,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Network, summarise_workflow};
    use super::*;
    use crate::random::stream;

    fn drawn(settings: &SyntheticSettings, seed: u64) -> Workflow {
        synthetic(settings, &mut stream(seed, "synthetic", 0, "workflow")).unwrap()
    }

    #[test]
    fn depth_is_the_rounded_root_of_the_number_of_tasks() {
        for (tasks, depth) in [(100, 10), (200, 14), (300, 17), (400, 20)] {
            let settings = SyntheticSettings {
                tasks,
                ..SyntheticSettings::default()
            };
            assert_eq!(drawn(&settings, 1).depth(), depth);
        }
    }

    #[test]
    fn another_mean_width_changes_widths_only() {
        let narrow = SyntheticSettings {
            mean_nodes: Nodes(3),
            ..SyntheticSettings::default()
        };
        let (wide, narrow) = (drawn(&SyntheticSettings::default(), 5), drawn(&narrow, 5));
        assert_eq!(wide.edges(), narrow.edges());
        let seconds = |workflow: &Workflow| -> Vec<f64> {
            workflow.tasks().iter().map(|task| task.seconds).collect()
        };
        assert_eq!(seconds(&wide), seconds(&narrow));
        for (wide, narrow) in wide.tasks().iter().zip(narrow.tasks()) {
            // Both are the same draw u: floor(43 u) and floor(5 u).
            let u = f64::from(wide.nodes.0 - 1) / 43.0;
            assert!((f64::from(narrow.nodes.0 - 1) - (5.0 * u)).abs() <= 1.0);
        }
    }

    #[test]
    fn means_over_many_tasks_are_those_of_the_thesis() {
        let settings = SyntheticSettings {
            tasks: 40_000,
            mean_bytes: 125_000_000_000,
            volumes: VolumeShape::Uniform,
            ..SyntheticSettings::default()
        };
        for (runtimes, deviation) in [
            (RuntimeShape::Uniform, 2_000.0 / 12.0_f64.sqrt()),
            (RuntimeShape::Exponential, 1_000.0),
            (RuntimeShape::Constant, 0.0),
        ] {
            let settings = SyntheticSettings {
                runtimes,
                ..settings.clone()
            };
            let summary = summarise_workflow(&drawn(&settings, 2), &Network::default());
            let module = &summary.modules[0];
            // Five standard errors of 40,000 draws.
            assert!((module.mean_seconds - 1_000.0).abs() <= 5.0 * deviation / 200.0 + 0.01);
            assert!((module.mean_processors - 22.0).abs() < 5.0 * 43.0 / 12.0_f64.sqrt() / 200.0);
            let mean_bytes = summary.bytes as f64 / summary.edges as f64;
            assert!((mean_bytes / 125e9 - 1.0).abs() < 0.02, "{mean_bytes}");
        }
    }

    #[test]
    fn every_edge_of_the_multi_site_workflow_takes_250_seconds() {
        let settings = SyntheticSettings {
            mean_nodes: Nodes(14),
            mean_bytes: 125_000_000_000,
            ..SyntheticSettings::default()
        };
        let workflow = drawn(&settings, 3);
        let network = Network::default();
        assert!(
            workflow
                .edges()
                .iter()
                .all(|edge| network.seconds(edge.bytes) == 250.0)
        );
        assert!(workflow.tasks().iter().all(|task| task.nodes <= Nodes(27)));
    }

    #[test]
    fn impossible_settings_are_named() {
        let base = SyntheticSettings::default();
        let change = |edit: fn(&mut SyntheticSettings)| {
            let mut settings = base.clone();
            edit(&mut settings);
            synthetic(&settings, &mut stream(1, "s", 0, "w"))
                .expect_err("an impossible setting")
                .to_string()
        };
        assert!(change(|s| s.tasks = 0).contains("`tasks` is 0"));
        assert!(change(|s| s.depth = Some(101)).contains("`depth` is 101"));
        assert!(change(|s| s.depth = Some(0)).contains("`depth` is 0"));
        assert!(change(|s| s.parents = 0).contains("`parents` is 0"));
        assert!(change(|s| s.mean_runtime = Seconds(0)).contains("`mean_runtime` is 0"));
        assert!(change(|s| s.mean_nodes = Nodes(0)).contains("`mean_nodes` is 0"));
        assert!(change(|s| s.most_nodes = Some(Nodes(0))).contains("`most_nodes` is 0"));
    }

    proptest! {
        #[test]
        fn levels_parents_widths_and_run_times_are_as_asked(
            tasks in 1_u32..300,
            levels in 1_u32..20,
            parents in 1_u32..4,
            mean_nodes in 1_u32..40,
            most in 1_u32..60,
            equal: bool,
            seed: u64,
        ) {
            let levels = levels.min(tasks);
            let settings = SyntheticSettings {
                tasks,
                depth: Some(levels),
                levels: if equal { LevelSizes::Equal } else { LevelSizes::Drawn },
                parents,
                mean_nodes: Nodes(mean_nodes),
                most_nodes: Some(Nodes(most)),
                ..SyntheticSettings::default()
            };
            let workflow = drawn(&settings, seed);
            let summary = summarise_workflow(&workflow, &Network::default());
            prop_assert_eq!(summary.tasks, tasks as usize);
            prop_assert_eq!(summary.depth, levels as usize);
            prop_assert!(summary.levels.iter().all(|level| level.tasks >= 1));
            if equal {
                let counts = || summary.levels.iter().map(|level| level.tasks);
                prop_assert!(counts().max().unwrap() - counts().min().unwrap() <= 1);
            }
            for (id, task) in (0..).map(TaskId).zip(workflow.tasks()) {
                let level = workflow.levels()[id.index()];
                let expected = if level == 0 {
                    0
                } else {
                    (parents as usize).min(summary.levels[level as usize - 1].tasks)
                };
                prop_assert_eq!(workflow.parents(id).len(), expected);
                for edge in workflow.parents(id) {
                    prop_assert_eq!(workflow.levels()[edge.parent.index()] + 1, level);
                }
                prop_assert!(task.nodes.0 >= 1 && task.nodes.0 <= (2 * mean_nodes - 1).min(most));
                prop_assert!(task.seconds >= 1.0 && task.seconds <= 2_000.0);
            }
            prop_assert!(summary.critical_path_seconds <= workflow.tasks().iter().map(|task| task.seconds).sum());
            prop_assert!(summary.critical_path_seconds <= summary.critical_path_with_transfers_seconds);
        }
    }
}
