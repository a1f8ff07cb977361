//! The plan as a picture: nodes × time, as SVG and as a page that zooms.
//!
//! A few jobs are drawn one by one, each on its own nodes. Where rows would be thinner than a
//! pixel, or bars too many to look at, the picture shows the busy share of cells instead, and says
//! so.

mod zooming_page;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(super) use self::zooming_page::{PAGE_STYLE, SCRIPT, zooming_page};
use super::svg::{Canvas, Fine, Picture, Place, Px, Side, Swatch, escape, time_step};
use super::table::grouped;
use bookahead_core::failures::NodeEvent;
use bookahead_core::scheduling::{Allocation, JobOutcome, Verdict};
use bookahead_core::units::{Nodes, Seconds};

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Gantt<'g> {
    /// Its heading.
    pub title: String,
    /// Size of the cluster.
    pub nodes: Nodes,
    /// From this time …
    pub from: Seconds,
    /// … to this one.
    pub to: Seconds,
    /// Which jobs held which nodes when.
    pub allocations: &'g [Allocation],
    /// The outcomes of the jobs, by id.
    pub outcomes: &'g [JobOutcome],
    /// Failures and repairs, in order of time.
    pub events: &'g [NodeEvent],
}

/// How a bar ended, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Planned,
    Overbooked,
    Killed,
    Lost,
    BestEffort,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Planned,
        Self::Overbooked,
        Self::Killed,
        Self::Lost,
        Self::BestEffort,
    ];

    fn class(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Overbooked => "overbooked",
            Self::Killed => "killed",
            Self::Lost => "lost",
            Self::BestEffort => "best-effort",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Planned => "job in a slot of full length",
            Self::Overbooked => "overbooked job",
            Self::Killed => "overbooked job, killed at the end of its slot",
            Self::Lost => "lost to a node failure",
            Self::BestEffort => "job without a promise",
        }
    }
}

/// An attempt with the ranges of its nodes, first and last.
type Bar<'a> = (&'a Allocation, Vec<(u32, u32)>);

/// Bars beyond this number are drawn as shares.
const MOST_BARS: usize = 12_000;
const WIDTH: f64 = 1_180.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 34.0;
const TOP: f64 = 66.0;

/// The style of the drawing, in files and in pages.
pub(super) const STYLE: &str = include_str!("html/gantt-svg.css");
/// Cells of a picture of shares.
const COLUMNS: usize = 560;
const MOST_ROWS: u32 = 180;

impl Gantt<'_> {
    /// A stand-alone SVG file.
    #[must_use]
    pub fn svg(&self) -> String {
        self.draw(Place::File(STYLE))
    }

    /// The drawing for a page, which has its heading.
    #[must_use]
    pub fn fragment(&self) -> String {
        self.draw(Place::Page)
    }

    /// A page that zooms and tells what is under the pointer.
    #[must_use]
    pub fn page(&self, note: &str) -> String {
        let kinds = self.kinds().map(|kind| (kind.class(), kind.words()));
        let drawing = self.fragment();
        zooming_page((&self.title, note), PAGE_STYLE, "every job", kinds, drawing)
    }

    /// What a reader must know about the picture.
    #[must_use]
    pub fn note(&self) -> String {
        if self.bars().is_some() {
            "One bar a job and attempt, on its nodes. The dashed outline is the slot that was promised to an overbooked job; the thin \
             line behind it is what of its estimate was not reserved: the gap that was accepted. Grey: nodes that are down."
                .to_owned()
        } else {
            format!(
                "Too much for single bars: each cell of {} nodes × {} shows its busy share by its strength, coloured by what held most \
                 of it. A shorter time (--from, --to) shows the jobs. Grey: nodes that are down.",
                grouped(self.node_rows().1, 1),
                span(self.to.0.saturating_sub(self.from.0) as f64 / COLUMNS as f64)
            )
        }
    }

    /// The kinds that are explained: jobs without promises only where there are any.
    fn kinds(&self) -> impl Iterator<Item = Kind> {
        let has_best_effort =
            (self.allocations.iter()).any(|allocation| self.kind(allocation) == Kind::BestEffort);
        Kind::ALL
            .into_iter()
            .filter(move |kind| has_best_effort || *kind != Kind::BestEffort)
    }

    fn kind(&self, allocation: &Allocation) -> Kind {
        if allocation.lost {
            return Kind::Lost;
        }
        // Outcomes are those of jobs that were promised their slots.
        let Some(outcome) = self.outcome(allocation) else {
            return Kind::BestEffort;
        };
        if outcome.verdict == Verdict::FailedOverbooked {
            Kind::Killed
        } else if outcome.promise.is_some_and(|promise| promise.overbooked) {
            Kind::Overbooked
        } else {
            Kind::Planned
        }
    }

    fn outcome(&self, allocation: &Allocation) -> Option<&JobOutcome> {
        self.outcomes
            .binary_search_by_key(&allocation.job, |outcome| outcome.job.id)
            .ok()
            .map(|index| &self.outcomes[index])
    }

    fn visible(&self) -> impl Iterator<Item = &Allocation> {
        self.allocations
            .iter()
            .filter(|allocation| allocation.end > self.from && allocation.start < self.to)
    }

    /// Ranges of nodes of every visible bar, or `None` where they are too many.
    fn bars(&self) -> Option<Vec<Bar<'_>>> {
        if self.nodes.0 > 2_000 {
            return None;
        }
        let mut count = 0;
        let mut bars = Vec::new();
        for allocation in self.visible() {
            let ranges = ranges(allocation);
            count += ranges.len();
            if count > MOST_BARS {
                return None;
            }
            bars.push((allocation, ranges));
        }
        Some(bars)
    }

    /// Rows of a picture of shares, and nodes in each.
    fn node_rows(&self) -> (u32, f64) {
        let rows = self.nodes.0.clamp(1, MOST_ROWS);
        (rows, f64::from(self.nodes.0) / f64::from(rows))
    }

    fn height(&self) -> f64 {
        (f64::from(self.nodes.0) * 12.0).clamp(120.0, 640.0)
    }

    fn x(&self, time: Seconds) -> f64 {
        let time = time.0.clamp(self.from.0, self.to.0);
        LEFT + (time - self.from.0) as f64 / (self.to.0 - self.from.0).max(1) as f64
            * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, node: f64) -> f64 {
        TOP + node / f64::from(self.nodes.0.max(1)) * self.height()
    }

    fn draw(&self, place: Place<'_>) -> String {
        let bottom = TOP + self.height();
        let picture = Picture {
            title: &self.title,
            class: "gantt",
            size: (WIDTH, bottom + 46.0),
            left: LEFT,
            right: WIDTH - RIGHT,
            top: TOP,
            bottom,
        };
        let mut svg = Canvas::new(picture, place);
        if let Place::Page = place {
            let _ = writeln!(svg, "<style>{STYLE}</style>");
        }
        let kinds = self.kinds().map(|kind| (kind.class(), kind.words()));
        let others = [("down", "node down"), ("promise", "promised slot")];
        let entries = kinds.chain(others);
        let entries =
            entries.map(|(class, words)| (Swatch::Box(format!("class=\"{class}\"")), words));
        // All kinds take a second line.
        let is_long = self.kinds().count() == Kind::ALL.len();
        svg.legend(entries, if is_long { 38.0 } else { 46.0 });
        let _ = write!(svg, "<g class=\"field\">");
        svg.rectangle(
            "class=\"floor\"",
            (LEFT, TOP),
            (WIDTH - LEFT - RIGHT, self.height()),
        );
        self.outages(&mut svg);
        match self.bars() {
            Some(bars) => self.single_bars(&mut svg, &bars),
            None => self.shares(&mut svg),
        }
        let _ = writeln!(svg, "</g>");
        self.axes(&mut svg);
        svg.finish()
    }

    fn outages(&self, svg: &mut Canvas<'_>) {
        let mut down: BTreeMap<u32, Seconds> = BTreeMap::new();
        let mut draw = |node: u32, since: Seconds, until: Seconds| {
            if until > self.from && since < self.to {
                let _ = writeln!(
                    svg,
                    "<rect class=\"down\" data-t=\"node {node} down\n{} to {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                    moment(since),
                    moment(until),
                    Px(self.x(since)),
                    Fine(self.y(f64::from(node))),
                    Px((self.x(until) - self.x(since)).max(0.6)),
                    Fine((self.y(f64::from(node) + 1.0) - self.y(f64::from(node))).max(0.6))
                );
            }
        };
        for event in self
            .events
            .iter()
            .filter(|event| event.node.0 < self.nodes.0)
        {
            if event.up {
                if let Some(since) = down.remove(&event.node.0) {
                    draw(event.node.0, since, event.time);
                }
            } else {
                down.entry(event.node.0).or_insert(event.time);
            }
        }
        for (node, since) in down {
            draw(node, since, self.to);
        }
    }

    fn single_bars(&self, svg: &mut Canvas<'_>, bars: &[Bar<'_>]) {
        for (allocation, ranges) in bars {
            let kind = self.kind(allocation);
            let _ = write!(
                svg,
                "<path class=\"{}\" data-t=\"{}\" d=\"",
                kind.class(),
                escape(&self.words(allocation, kind))
            );
            let left = self.x(allocation.start);
            let right = left + (self.x(allocation.end) - left).max(0.5);
            let (left, right) = (Px(left), Px(right));
            for (first, last) in ranges {
                let top = self.y(f64::from(*first));
                let bottom = top + (self.y(f64::from(*last) + 1.0) - top).max(0.5);
                let (top, bottom) = (Fine(top), Fine(bottom));
                let _ = write!(svg, "M{left} {top}H{right}V{bottom}H{left}Z");
            }
            let _ = writeln!(svg, "\"/>");
            self.promise(svg, allocation, ranges);
        }
    }

    /// The promised slot of an overbooked job on its first nodes, and what of its estimate was not
    /// reserved.
    fn promise(&self, svg: &mut Canvas<'_>, allocation: &Allocation, ranges: &[(u32, u32)]) {
        let Some((promise, estimate)) = self
            .outcome(allocation)
            .and_then(|outcome| Some((outcome.promise?, outcome.job.estimate)))
            .filter(|(promise, _)| {
                promise.overbooked && promise.end > self.from && promise.start < self.to
            })
        else {
            return;
        };
        let Some((first, last)) = ranges.first() else {
            return;
        };
        let (top, bottom) = (self.y(f64::from(*first)), self.y(f64::from(*last) + 1.0));
        let _ = writeln!(
            svg,
            "<rect class=\"promise\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\
             <path class=\"gap\" d=\"M{} {}H{}\"/>",
            Px(self.x(promise.start)),
            Fine(top),
            Px((self.x(promise.end) - self.x(promise.start)).max(0.5)),
            Fine(bottom - top),
            Px(self.x(promise.end)),
            Fine(f64::midpoint(top, bottom)),
            Px(self.x(promise.start + estimate))
        );
    }

    fn words(&self, allocation: &Allocation, kind: Kind) -> String {
        let mut words = format!(
            "job {} on {} nodes",
            allocation.job.0,
            allocation.nodes.count().0
        );
        // The usual kind needs no words.
        if kind != Kind::Planned {
            let _ = write!(words, ": {}", kind.words());
        }
        let _ = write!(
            words,
            "\nran {} to {}",
            moment(allocation.start),
            moment(allocation.end)
        );
        if let Some(outcome) = self.outcome(allocation) {
            let _ = write!(
                words,
                "\nestimate {}, {}",
                span(outcome.job.estimate.0 as f64),
                outcome.verdict.name()
            );
            if let Some(promise) = outcome.promise {
                let _ = match promise.start == allocation.start {
                    true => write!(words, "\npromised that start"),
                    false => write!(words, "\npromised {}", moment(promise.start)),
                };
                let _ = write!(words, " to {}", moment(promise.end));
                if let Some(pof) = promise.pof() {
                    let _ = write!(words, ", PoF {pof:.3}");
                }
            }
            if outcome.restarts > 0 {
                let _ = write!(words, "\n{} restarts", outcome.restarts);
            }
        }
        words
    }

    /// Busy shares of cells, equal neighbours in one rectangle.
    fn shares(&self, svg: &mut Canvas<'_>) {
        let (rows, per_row) = self.node_rows();
        let step = (self.to.0 - self.from.0).max(1) as f64 / COLUMNS as f64;
        let mut cells = vec![[0.0f32; Kind::ALL.len()]; rows as usize * COLUMNS];
        for allocation in self.visible() {
            let kind = self.kind(allocation) as usize;
            let from = ((allocation.start.0 - self.from.0) as f64 / step).max(0.0);
            let to = ((allocation.end.0 - self.from.0) as f64 / step).min(COLUMNS as f64);
            for node in allocation.nodes.iter() {
                let row = ((f64::from(node.0) / per_row) as usize).min(rows as usize - 1);
                let mut at = from;
                while at < to {
                    let column = at as usize;
                    let end = (column as f64 + 1.0).min(to);
                    if let Some(cell) = cells.get_mut(row * COLUMNS + column) {
                        cell[kind] += ((end - at) / per_row) as f32;
                    }
                    at = column as f64 + 1.0;
                }
            }
        }
        let width = (WIDTH - LEFT - RIGHT) / COLUMNS as f64;
        let shade = |cell: &[f32; Kind::ALL.len()]| {
            let share: f32 = cell.iter().sum();
            let most = (0..Kind::ALL.len())
                .max_by(|a, b| cell[*a].total_cmp(&cell[*b]))
                .unwrap_or(0);
            let level = (share.min(1.0) * 8.0).ceil() as u32;
            (level > 0).then_some((most, level))
        };
        for row in 0..rows as usize {
            let line = &cells[row * COLUMNS..(row + 1) * COLUMNS];
            let mut begin = 0;
            while begin < COLUMNS {
                let found = shade(&line[begin]);
                let end = (begin..COLUMNS)
                    .find(|column| shade(&line[*column]) != found)
                    .unwrap_or(COLUMNS);
                if let Some((kind, level)) = found {
                    let top = self.y(row as f64 * per_row);
                    let _ = write!(
                        svg,
                        "<rect class=\"{}\" fill-opacity=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                        Kind::ALL[kind].class(),
                        Fine(f64::from(level) / 8.0),
                        Px(LEFT + begin as f64 * width),
                        Px(top),
                        Px((end - begin) as f64 * width + 0.1),
                        Px(self.y((row as f64 + 1.0) * per_row) - top + 0.1)
                    );
                }
                begin = end;
            }
            let _ = writeln!(svg);
        }
    }

    fn axes(&self, svg: &mut Canvas<'_>) {
        let step = time_step((self.to.0 - self.from.0).max(1));
        let first = (self.from.0 + step - 1).div_euclid(step);
        let times = (first..=self.to.0.div_euclid(step)).map(|tick| Seconds(tick * step));
        let nodes = self.nodes.0.max(1);
        let rows = [0, nodes / 4, nodes / 2, 3 * (nodes / 4), nodes - 1];
        svg.axes(
            &Side {
                ticks: times.map(|time| (self.x(time), moment(time))).collect(),
                title: "time since the start of the simulation",
                has_grid: false,
            },
            Some(&Side {
                ticks: rows
                    .map(|node| (self.y(f64::from(node) + 0.5), node.to_string()))
                    .into(),
                title: "node",
                has_grid: false,
            }),
        );
    }
}

/// Contiguous nodes, first and last.
fn ranges(allocation: &Allocation) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for node in allocation.nodes.iter() {
        match ranges.last_mut().filter(|(_, last)| *last + 1 == node.0) {
            Some((_, last)) => *last = node.0,
            None => ranges.push((node.0, node.0)),
        }
    }
    ranges
}

/// `3d 07:30`, or with seconds where they are not zero.
pub(super) fn moment(time: Seconds) -> String {
    let (days, rest) = (time.0.div_euclid(86_400), time.0.rem_euclid(86_400));
    let (hours, minutes, seconds) = (rest / 3_600, rest / 60 % 60, rest % 60);
    let days = if days == 0 {
        String::new()
    } else {
        format!("{days}d ")
    };
    if seconds == 0 {
        format!("{days}{hours:02}:{minutes:02}")
    } else {
        format!("{days}{hours:02}:{minutes:02}:{seconds:02}")
    }
}

pub(super) fn span(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7_200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3_600.0),
    }
}

#[cfg(test)]
mod tests;
