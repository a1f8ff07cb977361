//! The seismic hazard workflow of the evaluation (Singh 2008, §4.8, Table 2; AMB-17).

use serde::{Deserialize, Serialize};

use super::workflow::{Edge, Task, TaskId, Workflow};
use super::{WorkflowError, WorkflowFault};
use crate::random::Stream;
use crate::units::Nodes;
use crate::workload::variates::normal;

/// How the run times of the seismic hazard workflow spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CyberShakeSettings {
    /// Coefficient of variation of a log-normal distribution around each module's mean; 0 gives
    /// every task the mean, the only value that the thesis prints.
    pub runtime_variation: f64,
    /// Volume of each edge in bytes; the thesis gives none.
    pub bytes: u64,
}

/// Module, tasks, mean run time in seconds, processors (Table 2), in the order of the levels.
const MODULES: [(&str, u32, f64, u32); 7] = [
    ("fd_grid_xyz", 1, 1.0, 1),
    ("preSGT", 1, 300.0, 1),
    ("fd_grid_cvm", 1, 2_100.0, 288),
    ("pvml_chk1", 1, 86_400.0, 288),
    ("pmvl_chk2", 1, 86_400.0, 288),
    ("synthSGT", 4_017, 519.0, 1),
    ("peakValCal", 4_017, 1.0, 1),
];

/// The 8,039 tasks on 5 levels. Edges as CyberShake's description has them (AMB-17), because the
/// thesis has them in Figure 17 only: the first task before `preSGT` and `fd_grid_cvm`, both before
/// each of the two long tasks, both of those before every `synthSGT`, and each `synthSGT` before a
/// `peakValCal` of its own.
///
/// # Errors
///
/// When a setting is outside of what is possible.
pub fn cyber_shake(
    settings: &CyberShakeSettings,
    stream: &mut Stream,
) -> Result<Workflow, WorkflowError> {
    const NAME: &str = "CyberShake";
    let variation = settings.runtime_variation;
    if !(0.0..=100.0).contains(&variation) {
        let fault = WorkflowFault::Impossible {
            element: "CyberShake workflow".to_owned(),
            key: "runtime_variation",
            found: variation.to_string(),
            allowed: "0 to 100",
        };
        return Err(fault.at(NAME, None));
    }
    let mut tasks = Vec::new();
    let mut ids: Vec<Vec<TaskId>> = Vec::new();
    for (module, count, mean, nodes) in MODULES {
        let first = tasks.len() as u32;
        ids.push((first..first + count).map(TaskId).collect());
        for number in 1..=count {
            tasks.push(Task {
                name: if count == 1 {
                    module.to_owned()
                } else {
                    format!("{module}_{number:04}")
                },
                module: module.to_owned(),
                nodes: Nodes(nodes),
                seconds: log_normal(mean, variation, stream),
                seconds_by_resource: Vec::new(),
            });
        }
    }
    let mut edges = Vec::new();
    let mut join = |parent: TaskId, child: TaskId| {
        edges.push(Edge {
            parent,
            child,
            bytes: settings.bytes,
        });
    };
    for (parents, children) in [
        (0, 1),
        (0, 2),
        (1, 3),
        (1, 4),
        (2, 3),
        (2, 4),
        (3, 5),
        (4, 5),
    ] {
        for &parent in &ids[parents] {
            for &child in &ids[children] {
                join(parent, child);
            }
        }
    }
    for (&parent, &child) in ids[5].iter().zip(&ids[6]) {
        join(parent, child);
    }
    Workflow::new(NAME, tasks, edges)
}

/// A log-normal value of this mean and coefficient of variation, in whole seconds, at least 1; the
/// mean itself for no variation, without a draw.
fn log_normal(mean: f64, variation: f64, stream: &mut Stream) -> f64 {
    if variation == 0.0 {
        return mean;
    }
    let variance = libm::log1p(variation * variation);
    let exponent = libm::log(mean) - variance / 2.0 + variance.sqrt() * normal(stream);
    libm::exp(exponent).round().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::{Network, summarise_workflow};
    use super::*;
    use crate::random::stream;

    #[test]
    fn its_numbers_are_those_of_the_specification() {
        let workflow =
            cyber_shake(&CyberShakeSettings::default(), &mut stream(1, "c", 0, "w")).unwrap();
        let summary = summarise_workflow(&workflow, &Network::default());
        assert_eq!((summary.tasks, summary.depth), (8_039, 5));
        // 2 + 4 + 2 · 4,017 + 4,017.
        assert_eq!(summary.edges, 12_057);
        assert_eq!(summary.work_processor_seconds, 52_460_341.0);
        assert_eq!((summary.work_service_units * 10.0).round() / 10.0, 14_572.3);
        assert_eq!(
            summary.critical_path_seconds,
            1.0 + 2_100.0 + 86_400.0 + 519.0 + 1.0
        );
        let tasks: Vec<usize> = summary.levels.iter().map(|level| level.tasks).collect();
        assert_eq!(tasks, [1, 2, 2, 4_017, 4_017]);
        let processors: Vec<u64> = summary
            .levels
            .iter()
            .map(|level| level.processors)
            .collect();
        assert_eq!(processors, [1, 289, 576, 4_017, 4_017]);
        assert_eq!(summary.widest_task_processors, 288);
    }

    #[test]
    fn on_430_nodes_its_levels_need_180101_seconds() {
        // Singh 2008, Table 2: 1 + 2100 + 2 × 86400 + 10 × 519 + 10 × 1. Tasks of a level that do
        // not fit together run in waves.
        let workflow =
            cyber_shake(&CyberShakeSettings::default(), &mut stream(1, "c", 0, "w")).unwrap();
        let levels = summarise_workflow(&workflow, &Network::default()).levels;
        let waves = |tasks: usize, processors: u64| {
            // Only levels of equal tasks are wider than the machine.
            let side_by_side = 430 / (processors / tasks as u64) as usize;
            if processors <= 430 {
                1
            } else {
                tasks.div_ceil(side_by_side)
            }
        };
        let total: f64 = levels
            .iter()
            .map(|level| waves(level.tasks, level.processors) as f64 * level.longest_seconds)
            .sum();
        assert_eq!(total, 180_101.0);
    }

    #[test]
    fn varied_run_times_keep_their_mean_and_their_variation() {
        let settings = CyberShakeSettings {
            runtime_variation: 0.5,
            bytes: 7,
        };
        let workflow = cyber_shake(&settings, &mut stream(1, "c", 0, "w")).unwrap();
        let seconds: Vec<f64> = workflow
            .tasks()
            .iter()
            .filter(|task| task.module == "synthSGT")
            .map(|task| task.seconds)
            .collect();
        let count = seconds.len() as f64;
        let mean = seconds.iter().sum::<f64>() / count;
        let variance = seconds.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / count;
        // Five standard errors: 519 · 0.5 / √4017 · 5.
        assert!((mean - 519.0).abs() < 20.5, "{mean}");
        assert!((variance.sqrt() / mean - 0.5).abs() < 0.05);
        assert!(workflow.edges().iter().all(|edge| edge.bytes == 7));
    }

    #[test]
    fn an_impossible_variation_is_named() {
        for runtime_variation in [-0.1, f64::NAN] {
            let settings = CyberShakeSettings {
                runtime_variation,
                bytes: 0,
            };
            let error = cyber_shake(&settings, &mut stream(1, "c", 0, "w")).unwrap_err();
            assert!(error.to_string().contains("`runtime_variation` is"));
        }
    }
}
