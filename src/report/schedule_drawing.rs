//! A schedule of a workflow, seen: resources × time, as SVG.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::svg::{COLOURS, escape, round_ticks, style};
use super::table::grouped;
use crate::workload::workflows::Workflow;
use crate::workload::workflows::heft::HeftSchedule;

const LEFT: f64 = 60.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 52.0;
const PLOT: f64 = 900.0;
const LEGEND: f64 = 17.0;
/// Heights of a row: names fit the first, the second still shows bars.
const ROW: (f64, f64) = (26.0, 3.0);
/// The picture grows with the resources up to this height.
const TALLEST: f64 = 900.0;
/// Width of a letter, about.
const LETTER: f64 = 6.2;
/// Parts of the axis of time, about.
const TICKS: f64 = 8.0;

/// Draws a schedule as a stand-alone SVG file: a row a resource, a bar a task, a colour a module.
#[must_use]
pub fn schedule_svg(workflow: &Workflow, schedule: &HeftSchedule, resources: usize) -> String {
    let row = (TALLEST / resources.max(1) as f64).clamp(ROW.1, ROW.0);
    let bottom = TOP + row * resources as f64;
    let modules = modules(workflow);
    let lines = modules.len().min(COLOURS.len());
    let (width, height) = (LEFT + PLOT + RIGHT, bottom + 34.0 + LEGEND * lines as f64);
    let makespan = schedule.makespan_seconds;
    let scale = PLOT / if makespan > 0.0 { makespan } else { 1.0 };
    let title = format!(
        "{}: {} tasks on {} resources, {} s",
        workflow.name(),
        grouped(workflow.tasks().len() as f64, 0),
        grouped(resources as f64, 0),
        seconds(makespan)
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"system-ui,sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"{0}\">\n\
         <title>{0}</title><style>{1}</style><rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"ink\" x=\"24\" y=\"30\" font-size=\"15\">{0}</text>\n",
        escape(&title),
        style("")
    );
    for (time, name) in round_ticks(makespan, TICKS) {
        let x = LEFT + time * scale;
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom:.1}\"/>\
             <text class=\"soft\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            bottom + 16.0,
            name
        );
    }
    if row >= 10.0 {
        for resource in 0..resources {
            let y = TOP + row * (resource as f64 + 0.5) + 4.0;
            let _ = writeln!(
                svg,
                "<text class=\"soft\" text-anchor=\"end\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                LEFT - 8.0,
                resource + 1
            );
        }
    }
    for placed in &schedule.placements {
        let task = workflow.task(placed.task);
        let x = LEFT + placed.start_seconds * scale;
        let long = (placed.end_seconds - placed.start_seconds) * scale;
        let y = TOP + row * placed.resource as f64;
        let colour = modules.get(task.module.as_str()).copied().unwrap_or(0) % COLOURS.len();
        let _ = write!(
            svg,
            "<g class=\"task\"><title>{}: {} s to {} s on resource {}</title>\
             <rect class=\"f{colour}\" x=\"{x:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{:.1}\"/>",
            escape(&task.name),
            seconds(placed.start_seconds),
            seconds(placed.end_seconds),
            placed.resource + 1,
            y + row * 0.08,
            long.max(0.5),
            row * 0.84
        );
        let fits = task.name.chars().count() as f64 * LETTER + 6.0 <= long;
        if fits && row >= 14.0 {
            let _ = write!(
                svg,
                "<text class=\"paper\" font-size=\"11\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + long / 2.0,
                y + row / 2.0 + 4.0,
                escape(&task.name)
            );
        }
        svg.push_str("</g>\n");
    }
    let mut names: Vec<(&str, usize)> = modules.into_iter().collect();
    names.sort_by_key(|(_, number)| *number);
    let unnamed = names.len().saturating_sub(lines);
    for (name, number) in names.into_iter().take(lines) {
        let y = bottom + 36.0 + LEGEND * number as f64;
        let more = if number + 1 == lines && unnamed > 0 {
            format!(" and {unnamed} more modules in the same colours")
        } else {
            String::new()
        };
        let _ = writeln!(
            svg,
            "<rect class=\"f{number}\" x=\"{LEFT}\" y=\"{:.1}\" width=\"14\" height=\"10\"/>\
             <text class=\"soft\" x=\"{:.1}\" y=\"{y:.1}\">{}{more}</text>",
            y - 9.0,
            LEFT + 20.0,
            escape(name)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Modules, numbered as they first appear.
fn modules(workflow: &Workflow) -> BTreeMap<&str, usize> {
    let mut numbers = BTreeMap::new();
    for task in workflow.tasks() {
        let next = numbers.len();
        numbers.entry(task.module.as_str()).or_insert(next);
    }
    numbers
}

fn seconds(value: f64) -> String {
    grouped(value, if value.fract() == 0.0 { 0 } else { 1 })
}
