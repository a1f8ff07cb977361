//! The output of `bookahead workflow info` for people.

use std::fmt::Write as _;

use serde::Serialize;

use crate::workload::workflows::{ReadingNotes, WorkflowSummary};
use bookahead_report::grouped;

/// A workflow in numbers, with its file.
#[derive(Debug, Serialize)]
pub(super) struct Described {
    pub(super) file: String,
    #[serde(flatten)]
    pub(super) summary: WorkflowSummary,
    pub(super) notes: ReadingNotes,
}

/// Rows of modules and levels that are printed; JSON has all.
const ROWS: usize = 20;

/// The summary as lines for a person.
pub(super) fn describe(described: &Described) -> String {
    let summary = &described.summary;
    let mut text = String::new();
    let lines = [
        ("file", described.file.clone()),
        ("workflow", summary.name.clone()),
        ("tasks", grouped(summary.tasks as f64, 0)),
        (
            "edges",
            format!(
                "{} ({} bytes)",
                grouped(summary.edges as f64, 0),
                grouped(summary.bytes as f64, 0)
            ),
        ),
        (
            "entries, exits",
            format!("{}, {}", summary.entries, summary.exits),
        ),
        ("depth", format!("{} levels", summary.depth)),
        (
            "width",
            format!(
                "{} tasks in the largest level; {} processors in the level that wants most",
                grouped(summary.width as f64, 0),
                grouped(summary.width_processors as f64, 0)
            ),
        ),
        (
            "widest task",
            match summary.widest_task_processors {
                1 => "1 processor".to_owned(),
                more => format!("{} processors", grouped(f64::from(more), 0)),
            },
        ),
        (
            "work",
            format!(
                "{} SU (processor-hours; {} processor-seconds)",
                grouped(summary.work_service_units, 1),
                seconds(summary.work_processor_seconds)
            ),
        ),
        (
            "critical path",
            format!(
                "{} s on one site; {} s when every edge crosses sites ({} Gbit/s, {} s)",
                seconds(summary.critical_path_seconds),
                seconds(summary.critical_path_with_transfers_seconds),
                summary.network.bandwidth_bits_per_second / 1e9,
                summary.network.latency_seconds
            ),
        ),
        (
            "run times",
            summary.resources.map_or_else(
                || "the same on every resource".to_owned(),
                |count| format!("given for {count} resources; their means count here"),
            ),
        ),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "{name:<19} {value}");
    }
    let _ = writeln!(
        text,
        "\n{:>5} {:>8} {:>11} {:>14}",
        "level", "tasks", "processors", "longest (s)"
    );
    for (number, level) in (1..).zip(&summary.levels).take(ROWS) {
        let _ = writeln!(
            text,
            "{number:>5} {:>8} {:>11} {:>14}",
            grouped(level.tasks as f64, 0),
            grouped(level.processors as f64, 0),
            seconds(level.longest_seconds)
        );
    }
    more(&mut text, summary.levels.len(), "levels");
    let names = summary.modules.iter().take(ROWS);
    let widest = names
        .map(|module| module.module.chars().count())
        .fold("module".len(), usize::max);
    let _ = writeln!(
        text,
        "\n{:<widest$} {:>8} {:>14} {:>16} {:>12}",
        "module", "tasks", "mean (s)", "mean processors", "work (SU)"
    );
    for module in summary.modules.iter().take(ROWS) {
        let _ = writeln!(
            text,
            "{:<widest$} {:>8} {:>14} {:>16} {:>12}",
            module.module,
            grouped(module.tasks as f64, 0),
            grouped(module.mean_seconds, 2),
            grouped(module.mean_processors, 1),
            grouped(module.work_processor_seconds / 3_600.0, 2)
        );
    }
    more(&mut text, summary.modules.len(), "modules");
    text
}

fn more(text: &mut String, count: usize, what: &str) {
    if count > ROWS {
        let _ = writeln!(text, "… {} more {what}: --json has all", count - ROWS);
    }
}

/// Seconds with fractions only where there are some.
fn seconds(value: f64) -> String {
    grouped(value, if value.fract() == 0.0 { 0 } else { 2 })
}
