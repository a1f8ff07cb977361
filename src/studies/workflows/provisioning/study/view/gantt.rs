//! A workflow over its slots as a picture: processors of each site × time, as SVG. Paid slots are
//! outlines, the runs of tasks fill them, and lost runs are crossed out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::PlannedWorkflow;
use crate::provisioning::study::stored::TaskRow;
use bookahead_report::svg::{Canvas, Picture, Place, Side, escape, short_number, style, time_step};
use bookahead_report::table::grouped;

const WIDTH: f64 = 1_180.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 58.0;
const BETWEEN: f64 = 26.0;
/// Height of all sites together, where there is no need for less …
const HEIGHT: f64 = 420.0;
/// … and of one processor.
const MOST_A_PROCESSOR: f64 = 14.0;
/// Rectangles beyond this number are left out: a report with several drawings stays small.
const MOST_SHAPES: usize = 500;

/// Equal slots, or equal runs of tasks, side by side: a workflow of thousands of equal tasks stays
/// one picture.
#[derive(Clone, Debug)]
struct Block {
    site: u32,
    start: i64,
    end: i64,
    nodes: u32,
    count: u32,
    offset: u32,
    words: String,
}

/// Runs of tasks with their fates.
type Runs<'p> = Vec<(Block, &'p str)>;

/// The drawing of one application.
pub(super) struct WorkflowGantt<'p> {
    workflow: &'p PlannedWorkflow,
    slots: Vec<Block>,
    tasks: Runs<'p>,
    until: i64,
    left_out: usize,
}

impl<'p> WorkflowGantt<'p> {
    pub(super) fn new(workflow: &'p PlannedWorkflow) -> Self {
        let until = workflow.tasks.iter().map(|task| task.end).max();
        let until = until.unwrap_or(0).max(1);
        // Where each slot is drawn; equal ones share a block.
        let mut slots: Vec<Block> = Vec::new();
        let mut block_of: Vec<usize> = Vec::new();
        let mut equal: BTreeMap<(u32, i64, i64), usize> = BTreeMap::new();
        for slot in &workflow.slots {
            let end = slot.end.min(until);
            let next = slots.len();
            let block = *equal.entry((slot.site, slot.start, end)).or_insert(next);
            if block == next {
                slots.push(Block {
                    site: slot.site,
                    start: slot.start,
                    end,
                    nodes: 0,
                    count: 0,
                    offset: 0,
                    words: String::new(),
                });
            }
            slots[block].nodes += slot.nodes;
            slots[block].count += 1;
            block_of.push(block);
        }
        for (block, slot) in slots.iter_mut().enumerate() {
            let of = || {
                let all = workflow.slots.iter().zip(&block_of);
                all.filter(move |(_, of)| **of == block)
                    .map(|(slot, _)| slot)
            };
            slot.words = format!(
                "{} of {} processors, {}\npaid {} SU, used {} SU",
                plural(slot.count, "slot"),
                slot.nodes,
                span(slot.start, slot.end),
                short_number(of().map(|slot| slot.cost).sum()),
                short_number(of().map(|slot| slot.used).sum()),
            );
        }
        pack(&mut slots.iter_mut().collect::<Vec<_>>());
        let mut drawing = Self {
            workflow,
            slots,
            tasks: Vec::new(),
            until,
            left_out: 0,
        };
        drawing.tasks = drawing.place_tasks(&block_of);
        let room = MOST_SHAPES.saturating_sub(drawing.slots.len());
        drawing.left_out = drawing.tasks.len().saturating_sub(room)
            + drawing.slots.len().saturating_sub(MOST_SHAPES);
        drawing.tasks.truncate(room);
        drawing.slots.truncate(MOST_SHAPES);
        drawing
    }

    /// Runs of tasks inside their slots; without slots, beside each other.
    fn place_tasks(&self, block_of: &[usize]) -> Runs<'p> {
        type Key<'p> = (Option<usize>, u32, i64, i64, &'p str);
        let mut equal: BTreeMap<Key<'p>, Vec<&TaskRow>> = BTreeMap::new();
        for task in &self.workflow.tasks {
            let slot = task
                .slot
                .and_then(|slot| block_of.get(slot as usize))
                .copied();
            let key = (slot, task.site, task.start, task.end, task.fate.as_str());
            equal.entry(key).or_default().push(task);
        }
        let mut placed: BTreeMap<(Option<usize>, u32), Runs<'p>> = BTreeMap::new();
        for ((slot, site, start, end, fate), tasks) in equal {
            let nodes = tasks.iter().map(|task| task.nodes).sum();
            let what = match tasks.as_slice() {
                [task] => format!("task {}", task.task),
                [first, .., last] => {
                    format!("{} tasks, {} to {}", tasks.len(), first.task, last.task)
                }
                [] => continue,
            };
            let block = Block {
                site,
                start,
                end,
                nodes,
                count: tasks.len() as u32,
                offset: 0,
                words: format!("{what}: {fate}\n{nodes} processors, {}", span(start, end)),
            };
            placed.entry((slot, site)).or_default().push((block, fate));
        }
        let mut all = Vec::new();
        for ((slot, _), mut tasks) in placed {
            pack(&mut tasks.iter_mut().map(|(block, _)| block).collect::<Vec<_>>());
            let inside = slot.map(|slot| &self.slots[slot]);
            for (mut block, fate) in tasks {
                if let Some(slot) = inside {
                    // What a stack of slots holds together is drawn in its first.
                    block.offset = block.offset.min(slot.nodes.saturating_sub(1));
                    block.nodes = block.nodes.min(slot.nodes - block.offset);
                    block.offset += slot.offset;
                }
                all.push((block, fate));
            }
        }
        all.sort_by_key(|(block, _)| (block.start, block.site, block.offset));
        all
    }

    /// A heading.
    pub(super) fn title(&self) -> String {
        let search = &self.workflow.search;
        if self.workflow.given.is_empty() {
            format!("A workflow over its slots: {search}")
        } else {
            format!(
                "A workflow over its slots: {search} ({})",
                self.workflow.given
            )
        }
    }

    /// What a reader must know.
    pub(super) fn note(&self) -> String {
        let submission = &self.workflow.submission;
        let mut note = format!(
            "Replication 0, submitted at {} s; {} SU paid, makespan {} h. Outlines are slots that were paid for, to the end of the last \
             task; filled are runs of tasks, crossed out those that were lost or stopped. Where a site's slots begin on its processors is a drawing's \
             choice; a task over several slots is drawn in the first.",
            submission.submitted,
            short_number(submission.realised.0),
            short_number(submission.realised.1 as f64 / 3_600.0)
        );
        if self.left_out > 0 {
            let _ = write!(note, " {} more rectangles are left out.", self.left_out);
        }
        note
    }

    /// The `<svg>` element of a page that has the styles.
    pub(super) fn inline(&self) -> String {
        self.draw(Place::Page)
    }

    /// A stand-alone SVG file.
    pub(super) fn file(&self) -> String {
        self.draw(Place::File(&style("")))
    }

    fn draw(&self, place: Place<'_>) -> String {
        let blocks = || {
            self.slots
                .iter()
                .chain(self.tasks.iter().map(|(task, _)| task))
        };
        let mut rows: BTreeMap<u32, u32> = BTreeMap::new();
        for block in blocks() {
            let most = rows.entry(block.site).or_default();
            *most = (*most).max(block.offset + block.nodes);
        }
        let all: u32 = rows.values().sum();
        let scale = (HEIGHT / f64::from(all.max(1))).min(MOST_A_PROCESSOR);
        let mut tops: BTreeMap<u32, f64> = BTreeMap::new();
        let mut bottom = TOP;
        for (site, most) in &rows {
            tops.insert(*site, bottom);
            bottom += f64::from(*most) * scale + BETWEEN;
        }
        let title = self.title();
        let picture = Picture {
            title: &title,
            class: "",
            size: (WIDTH, bottom + 40.0),
            left: LEFT,
            right: WIDTH - RIGHT,
            top: TOP,
            bottom: bottom - BETWEEN + 6.0,
        };
        let mut svg = Canvas::new(picture, place);
        for (site, top) in &tops {
            let label = self.workflow.sites.get(*site as usize);
            let label = label.map_or(format!("site {site}"), |site| {
                format!("{}, {} processors", site.label, site.nodes)
            });
            svg.text((LEFT, top - 7.0), "ink", "start", &label);
            svg.text(
                (LEFT - 8.0, top + 10.0),
                "soft",
                "end",
                &rows[site].to_string(),
            );
        }
        let shape = |block: &Block| {
            let top = tops[&block.site] + f64::from(block.offset) * scale;
            let (from, to) = (self.x(block.start), self.x(block.end));
            let size = (
                (to - from).max(0.5),
                (f64::from(block.nodes) * scale).max(0.5),
            );
            ((from, top), size)
        };
        let attributes = |class: &str, block: &Block| {
            format!("class=\"{class} m\" data-t=\"{}\"", escape(&block.words))
        };
        for slot in &self.slots {
            let (at, size) = shape(slot);
            svg.rectangle(&(attributes("s2", slot) + " fill-opacity=\"0\""), at, size);
        }
        for (task, fate) in &self.tasks {
            let (class, more) = match *fate {
                "done" => ("f0", " fill-opacity=\"0.72\""),
                "lost" | "stopped" => ("f1", ""),
                _ => ("f6", " fill-opacity=\"0.35\""),
            };
            let ((x, y), (width, height)) = shape(task);
            svg.rectangle(&(attributes(class, task) + more), (x, y), (width, height));
            if matches!(*fate, "lost" | "stopped") {
                let _ = writeln!(
                    svg,
                    "<path class=\"edge\" d=\"M{x:.1} {y:.1}l{width:.1} {height:.1}m0 {:.1}l{:.1} {height:.1}\"/>",
                    -height, -width
                );
            }
        }
        self.times(&mut svg);
        svg.finish()
    }

    fn x(&self, time: i64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * time as f64 / self.until as f64
    }

    fn times(&self, svg: &mut Canvas<'_>) {
        let step = time_step(self.until);
        // Ticks are whole numbers of the unit.
        let (unit, title) = if step < 3_600 {
            (60, "minutes after the submission")
        } else {
            (3_600, "hours after the submission")
        };
        let times = (0..=self.until / step).map(|tick| tick * step);
        let ticks = times.map(|time| (self.x(time), grouped((time / unit) as f64, 0)));
        let below = Side {
            ticks: ticks.collect(),
            title,
            has_grid: false,
        };
        svg.axes(&below, None);
    }
}

/// Puts blocks of each site beside each other: each at the lowest processors that are free for all
/// of its time, in order of start, the widest first.
fn pack(blocks: &mut [&mut Block]) {
    blocks.sort_by_key(|block| (block.site, block.start, std::cmp::Reverse(block.nodes)));
    for next in 0..blocks.len() {
        let (placed, rest) = blocks.split_at_mut(next);
        let block = &mut rest[0];
        let mut taken: Vec<(u32, u32)> = placed
            .iter()
            .filter(|other| {
                other.site == block.site && other.start < block.end && block.start < other.end
            })
            .map(|other| (other.offset, other.offset + other.nodes))
            .collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (from, until) in taken {
            if offset + block.nodes <= from {
                break;
            }
            offset = offset.max(until);
        }
        block.offset = offset;
    }
}

fn span(start: i64, end: i64) -> String {
    let hours = |time: i64| short_number(time as f64 / 3_600.0);
    format!("{} to {} h", hours(start), hours(end))
}

fn plural(count: u32, what: &str) -> String {
    if count == 1 {
        format!("{count} {what}")
    } else {
        format!("{count} {what}s")
    }
}

#[cfg(test)]
mod tests;
