//! A schedule of a workflow as a picture: resources × time, as SVG.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::svg::{
    BELOW_AXIS, COLOURS, Canvas, Picture, Place, Side, Swatch, escape, legend_height, round_ticks,
    style,
};
use super::table::grouped;
use bookahead_core::workload::workflows::Workflow;
use bookahead_core::workload::workflows::heft::HeftSchedule;

const LEFT: f64 = 60.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 52.0;
const PLOT: f64 = 900.0;
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
    let mut names: Vec<(&str, usize)> = modules
        .iter()
        .map(|(name, number)| (*name, *number))
        .collect();
    names.sort_by_key(|(_, number)| *number);
    let unnamed = names.len().saturating_sub(COLOURS.len());
    names.truncate(COLOURS.len());
    let mut names: Vec<String> = names.iter().map(|(name, _)| (*name).to_owned()).collect();
    if let (Some(last), true) = (names.last_mut(), unnamed > 0) {
        last.push_str(&format!(" and {unnamed} more modules in the same colours"));
    }
    let names = || names.iter().map(String::as_str);
    let width = LEFT + PLOT + RIGHT;
    let makespan = schedule.makespan_seconds;
    let scale = PLOT / if makespan > 0.0 { makespan } else { 1.0 };
    let title = format!(
        "{}: {} tasks on {} resources, {} s",
        workflow.name(),
        grouped(workflow.tasks().len() as f64, 0),
        grouped(resources as f64, 0),
        seconds(makespan)
    );
    let picture = Picture {
        title: &title,
        class: "",
        size: (width, bottom + BELOW_AXIS + legend_height(names(), width)),
        left: LEFT,
        right: LEFT + PLOT,
        top: TOP,
        bottom,
    };
    let mut svg = Canvas::new(picture, Place::File(&style("")));
    let times = round_ticks(makespan, TICKS).into_iter();
    // Numbers where they fit.
    let rows = (0..resources).filter(|_| row >= 10.0);
    svg.axes(
        &Side {
            ticks: times
                .map(|(time, name)| (LEFT + time * scale, name))
                .collect(),
            title: "time (s)",
            has_grid: true,
        },
        Some(&Side {
            ticks: rows
                .map(|resource| {
                    (
                        TOP + row * (resource as f64 + 0.5),
                        (resource + 1).to_string(),
                    )
                })
                .collect(),
            title: "resource",
            has_grid: false,
        }),
    );
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
            let middle = (x + long / 2.0, y + row / 2.0 + 4.0);
            svg.sized_text(middle, "paper", "middle", Some(11), &task.name);
        }
        let _ = writeln!(svg, "</g>");
    }
    let swatches = (0..COLOURS.len()).map(|number| Swatch::Box(format!("class=\"f{number}\"")));
    svg.legend(swatches.zip(names()), bottom + BELOW_AXIS);
    svg.finish()
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
