//! A workflow as a picture: its levels from top to bottom, as SVG.
//!
//! A level of up to [`MOST_BOXES`] tasks shows each task. A larger one shows one box for each
//! module with the number of its tasks, because thousands of boxes would be unreadable.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::svg::{
    COLOURS, Canvas, Picture, Place, Swatch, escape, legend_height, short_number, style_with,
};
use super::table::grouped;
use bookahead_core::workload::workflows::{TaskId, Workflow};

/// Tasks of a level beyond which they are folded.
const MOST_BOXES: usize = 80;
/// Boxes side by side before a level gets another row.
const MOST_COLUMNS: usize = 14;
const BOX: (f64, f64) = (82.0, 32.0);
const FOLDED: (f64, f64) = (210.0, 40.0);
const GAP: (f64, f64) = (10.0, 12.0);
const BETWEEN_LEVELS: f64 = 46.0;
const LEFT: f64 = 118.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 62.0;
/// Letters of a name that fit a box.
const LETTERS: usize = 13;
/// How often boxes are put in the order of their neighbours.
const SWEEPS: usize = 6;

/// Draws a workflow as a stand-alone SVG file.
#[must_use]
pub fn workflow_svg(workflow: &Workflow) -> String {
    Drawing::new(workflow).svg()
}

/// One box: a task, or the tasks of one module on a level that is folded.
struct Shape<'w> {
    tasks: Vec<TaskId>,
    module: &'w str,
    level: usize,
    /// Centre of the upper edge.
    x: f64,
    y: f64,
}

impl Shape<'_> {
    fn size(&self) -> (f64, f64) {
        if self.tasks.len() > 1 { FOLDED } else { BOX }
    }
}

struct Drawing<'w> {
    workflow: &'w Workflow,
    shapes: Vec<Shape<'w>>,
    /// Shapes of each level, from left to right.
    levels: Vec<Vec<usize>>,
    /// Upper and lower edge of each level.
    bands: Vec<(f64, f64)>,
    /// Between shapes, with the number of edges of the workflow.
    lines: BTreeMap<(usize, usize), usize>,
    /// Number of the colour.
    modules: BTreeMap<&'w str, usize>,
    width: f64,
    height: f64,
}

impl<'w> Drawing<'w> {
    fn new(workflow: &'w Workflow) -> Self {
        let mut drawing = Self {
            workflow,
            shapes: Vec::new(),
            levels: Vec::new(),
            bands: Vec::new(),
            lines: BTreeMap::new(),
            modules: BTreeMap::new(),
            width: 0.0,
            height: 0.0,
        };
        drawing.gather();
        drawing.order();
        drawing.place();
        drawing
    }

    /// Makes the shapes of each level and the lines between them.
    fn gather(&mut self) {
        let workflow = self.workflow;
        let mut of_level = vec![Vec::new(); workflow.depth()];
        for (id, level) in (0..).map(TaskId).zip(workflow.levels()) {
            of_level[*level as usize].push(id);
        }
        let mut shape_of = vec![0; workflow.tasks().len()];
        for tasks in of_level {
            let mut groups: BTreeMap<(&str, Option<TaskId>), Vec<TaskId>> = BTreeMap::new();
            for id in &tasks {
                let alone = (tasks.len() <= MOST_BOXES).then_some(*id);
                let module = workflow.task(*id).module.as_str();
                groups.entry((module, alone)).or_default().push(*id);
            }
            let mut level = Vec::new();
            for ((module, _), tasks) in groups {
                for task in &tasks {
                    shape_of[task.index()] = self.shapes.len();
                }
                level.push(self.shapes.len());
                self.shapes.push(Shape {
                    tasks,
                    module,
                    level: self.levels.len(),
                    x: 0.0,
                    y: 0.0,
                });
            }
            self.levels.push(level);
        }
        for edge in workflow.edges() {
            let ends = (shape_of[edge.parent.index()], shape_of[edge.child.index()]);
            *self.lines.entry(ends).or_default() += 1;
        }
        // By first appearance from the top, so that neighbours differ.
        for shape in self.levels.iter().flatten() {
            let next = self.modules.len();
            self.modules
                .entry(self.shapes[*shape].module)
                .or_insert(next);
        }
    }

    /// Puts shapes near their neighbours: each level in the order of the mean places of the shapes
    /// above, then of those below.
    fn order(&mut self) {
        let mut neighbours: [BTreeMap<usize, Vec<usize>>; 2] = Default::default();
        for (from, to) in self.lines.keys() {
            neighbours[0].entry(*to).or_default().push(*from);
            neighbours[1].entry(*from).or_default().push(*to);
        }
        let mut places = vec![0.0; self.shapes.len()];
        let remember = |level: &[usize], places: &mut Vec<f64>| {
            for (index, shape) in level.iter().enumerate() {
                places[*shape] = (index as f64 + 0.5) / level.len() as f64;
            }
        };
        for level in &self.levels {
            remember(level, &mut places);
        }
        for sweep in 0..SWEEPS {
            let up = sweep % 2;
            for step in 0..self.levels.len() {
                let index = if up == 0 {
                    step
                } else {
                    self.levels.len() - 1 - step
                };
                let wish = |shape: &usize| match neighbours[up].get(shape) {
                    Some(near) => {
                        near.iter().map(|other| places[*other]).sum::<f64>() / near.len() as f64
                    }
                    None => places[*shape],
                };
                let level = &mut self.levels[index];
                level.sort_by(|one, other| wish(one).total_cmp(&wish(other)));
                remember(level, &mut places);
            }
        }
    }

    /// Gives every shape its place: levels below each other, a large one in several rows that are
    /// filled column by column.
    fn place(&mut self) {
        let columns_of = |count: usize| count.div_ceil(count.div_ceil(MOST_COLUMNS).max(1)).max(1);
        let size_of = |level: &[usize], shapes: &[Shape<'_>]| {
            level
                .iter()
                .map(|shape| shapes[*shape].size())
                .fold((0.0_f64, 0.0_f64), |most, size| {
                    (most.0.max(size.0), most.1.max(size.1))
                })
        };
        let inner = self
            .levels
            .iter()
            .map(|level| {
                columns_of(level.len()) as f64 * (size_of(level, &self.shapes).0 + GAP.0) - GAP.0
            })
            .fold(460.0, f64::max);
        let mut y = TOP;
        for level in &self.levels {
            let size = size_of(level, &self.shapes);
            let columns = columns_of(level.len());
            let rows = level.len().div_ceil(columns);
            let step = size.0 + GAP.0;
            let left = LEFT + (inner - (columns as f64 * step - GAP.0)) / 2.0 + size.0 / 2.0;
            for (index, shape) in level.iter().enumerate() {
                let shape = &mut self.shapes[*shape];
                shape.x = left + (index / rows) as f64 * step;
                shape.y = y + (index % rows) as f64 * (size.1 + GAP.1);
            }
            let bottom = y + rows as f64 * (size.1 + GAP.1) - GAP.1;
            self.bands.push((y, bottom));
            y = bottom + BETWEEN_LEVELS;
        }
        self.width = LEFT + inner + RIGHT;
        self.height = y + legend_height(self.module_names().into_iter(), self.width);
    }

    /// Modules in the order of their colours.
    fn module_names(&self) -> Vec<&'w str> {
        let mut names: Vec<&str> = self.modules.keys().copied().collect();
        names.sort_by_key(|name| self.modules[name]);
        names
    }

    fn svg(&self) -> String {
        let title = format!(
            "{}: {} tasks, {} edges, {} levels",
            self.workflow.name(),
            grouped(self.workflow.tasks().len() as f64, 0),
            grouped(self.workflow.edges().len() as f64, 0),
            self.workflow.depth()
        );
        let picture = Picture {
            title: &title,
            class: "",
            size: (self.width, self.height),
            left: LEFT,
            right: self.width - RIGHT,
            top: TOP,
            bottom: self.height,
        };
        let mut svg = Canvas::new(picture, Place::File(&style()));
        for (number, (band, level)) in (1..).zip(self.bands.iter().zip(&self.levels)) {
            self.level_name(&mut svg, number, *band, level);
        }
        let _ = writeln!(svg, "<g class=\"line edge\">");
        for ((from, to), edges) in &self.lines {
            self.line(&mut svg, &self.shapes[*from], &self.shapes[*to], *edges);
        }
        let _ = writeln!(svg, "</g>");
        for shape in &self.shapes {
            self.shape(&mut svg, shape);
        }
        let names = self.module_names();
        let swatches = (0..names.len()).map(|number| {
            Swatch::Box(format!(
                "class=\"m{}\" rx=\"2\"{}",
                number % COLOURS.len(),
                dashes(number)
            ))
        });
        let below = self
            .bands
            .last()
            .map_or(TOP, |(_, bottom)| bottom + BETWEEN_LEVELS);
        svg.legend(swatches.zip(names), below);
        svg.finish()
    }

    fn level_name(&self, svg: &mut Canvas<'_>, number: usize, band: (f64, f64), level: &[usize]) {
        let ids = || level.iter().flat_map(|shape| &self.shapes[*shape].tasks);
        let processors: u64 = ids()
            .map(|id| u64::from(self.workflow.task(*id).nodes.0))
            .sum();
        let count = ids().count();
        let middle = f64::midpoint(band.0, band.1);
        svg.text(
            (30.0, middle - 8.0),
            "ink",
            "start",
            &format!("level {number}"),
        );
        let (tasks, processors) = (
            counted(count as u64, "task"),
            counted(processors, "processor"),
        );
        svg.sized_text((30.0, middle + 5.0), "soft", "start", Some(10), &tasks);
        svg.sized_text(
            (30.0, middle + 17.0),
            "soft",
            "start",
            Some(10),
            &processors,
        );
    }

    fn line(&self, svg: &mut Canvas<'_>, from: &Shape<'_>, to: &Shape<'_>, edges: usize) {
        let (x1, y1) = (from.x, from.y + from.size().1);
        let (x2, y2) = (to.x, to.y);
        let bend = (y2 - y1) * 0.45;
        // A line past a level goes beside the box that stands straight in its way.
        let hidden = to.level > from.level + 1 && (x1 - x2).abs() < BOX.0 / 2.0;
        let aside = if hidden { BOX.0 * 0.85 } else { 0.0 };
        let folded = from.tasks.len() > 1 || to.tasks.len() > 1;
        let _ = write!(
            svg,
            "<path d=\"M{x1:.1} {y1:.1}C{:.1} {:.1} {:.1} {:.1} {x2:.1} {y2:.1}\"",
            x1 + aside,
            y1 + bend,
            x2 + aside,
            y2 - bend
        );
        if folded {
            let _ = writeln!(
                svg,
                " class=\"many\"><title>{}</title></path>",
                counted(edges as u64, "edge")
            );
        } else {
            let _ = writeln!(svg, "/>");
        }
    }

    fn shape(&self, svg: &mut Canvas<'_>, shape: &Shape<'_>) {
        let (width, height) = shape.size();
        let number = self.modules.get(shape.module).copied().unwrap_or(0);
        let (name, detail, full) = self.words(shape);
        let corner = (shape.x - width / 2.0, shape.y);
        let coloured = format!(
            "class=\"m{}\" rx=\"4\"{}",
            number % COLOURS.len(),
            dashes(number)
        );
        let middle = shape.y + height / 2.0;
        let _ = write!(svg, "<g><title>{}</title>", escape(&full));
        svg.rectangle("class=\"paper\" rx=\"4\"", corner, (width, height));
        svg.rectangle(&coloured, corner, (width, height));
        svg.sized_text((shape.x, middle - 3.0), "ink", "middle", Some(10), &name);
        svg.sized_text((shape.x, middle + 9.0), "soft", "middle", Some(9), &detail);
        let _ = writeln!(svg, "</g>");
    }

    /// Name and second line of a box, and what is under the pointer.
    fn words(&self, shape: &Shape<'_>) -> (String, String, String) {
        let tasks = || shape.tasks.iter().map(|id| self.workflow.task(*id));
        let count = shape.tasks.len();
        let seconds = tasks().map(|task| task.mean_seconds()).sum::<f64>() / count as f64;
        let widths: BTreeSet<u32> = tasks().map(|task| task.nodes.0).collect();
        let (narrowest, widest) = (
            widths.first().copied().unwrap_or(0),
            widths.last().copied().unwrap_or(0),
        );
        let width = if narrowest == widest {
            widest.to_string()
        } else {
            format!("{narrowest}–{widest}")
        };
        match tasks().next() {
            Some(task) if count == 1 => (
                shortened(&task.name, LETTERS),
                format!("{} × {width}", duration(seconds)),
                format!(
                    "{} ({}): {} s on {}",
                    task.name,
                    task.module,
                    short_number(seconds),
                    counted(u64::from(widest), "processor")
                ),
            ),
            _ => {
                let many = counted(count as u64, "task");
                let detail = format!("{many}, {} × {width} each", duration(seconds));
                let full = format!(
                    "{}: {many}, {} s in the mean on {width} processors",
                    shape.module,
                    short_number(seconds)
                );
                (shortened(shape.module, 34), detail, full)
            }
        }
    }
}

/// Colours of the modules; past the last colour they come again with a dashed edge.
fn style() -> String {
    let lines =
        ".line path{fill:none;stroke-opacity:.45;stroke-width:.8}.line path.many{stroke-width:2.4}";
    style_with(lines, |number, colour| {
        format!(".m{number}{{fill:{colour};fill-opacity:.16;stroke:{colour}}}")
    })
}

fn dashes(number: usize) -> &'static str {
    match number / COLOURS.len() {
        0 => "",
        1 => " stroke-dasharray=\"5 2\"",
        _ => " stroke-dasharray=\"1.5 2\"",
    }
}

fn counted(count: u64, what: &str) -> String {
    let number = grouped(count as f64, 0);
    if count == 1 {
        format!("{number} {what}")
    } else {
        format!("{number} {what}s")
    }
}

/// A run time in the unit that keeps it short.
fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds < 600.0 => format!("{} s", rounded(seconds)),
        _ if seconds < 7_200.0 => format!("{} min", rounded(seconds / 60.0)),
        _ => format!("{} h", rounded(seconds / 3_600.0)),
    }
}

/// Three significant digits, without zeros at the end.
fn rounded(value: f64) -> String {
    let decimals = match value {
        _ if value < 10.0 => 2,
        _ if value < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The end of a name tells tasks apart, so the beginning goes.
fn shortened(name: &str, letters: usize) -> String {
    let count = name.chars().count();
    if count <= letters {
        return name.to_owned();
    }
    let end: String = name.chars().skip(count + 1 - letters).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests;
