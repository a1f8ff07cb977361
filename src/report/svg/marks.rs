//! The marks of a series: lines with bands, points, steps, boxes, bars. Every mark with a tooltip
//! carries its values in words (`data-t`), for the page.

use std::fmt::Write as _;

use super::super::figure::{BoxMark, Figure, Mark, Marks, ScaleKind, Series};
use super::canvas::{Canvas, Px, arrow, escape, text_width};
use super::scale::Axis;
use super::{PAGE_DIGITS, place_name, rounded, short_number};

/// Dots on the stairs of one series: hundreds would be a line of their own.
const MOST_DOTS: usize = 16;
/// Dots on a curve over time, which has more marks than any axis of a sweep has values.
const MOST_MARKS: usize = 100;

/// The steps of stairs that have a dot, which tells their values.
pub fn told_steps(steps: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let apart = steps.len().div_ceil(MOST_DOTS).max(1);
    steps.iter().step_by(apart).copied().collect()
}

/// The marks of a curve that have a dot.
pub fn told_marks(marks: &[Mark]) -> Vec<Mark> {
    let apart = match marks.len() {
        0..=MOST_MARKS => 1,
        more => more.div_ceil(2 * MOST_DOTS),
    };
    marks.iter().step_by(apart).copied().collect()
}

/// Boxes and bars of several series stand beside each other.
pub(super) struct Offsets {
    width: f64,
    places: Vec<Option<f64>>,
}

impl Offsets {
    pub(super) fn new(figure: &Figure, x: &Axis) -> Self {
        let wide = |series: &Series| matches!(series.marks, Marks::Bars(_) | Marks::Boxes(_));
        let count = figure.series.iter().filter(|series| wide(series)).count();
        let most = figure
            .series
            .iter()
            .map(|series| match &series.marks {
                Marks::Bars(marks) => marks.len(),
                Marks::Boxes(boxes) => boxes.len(),
                _ => 0,
            })
            .max()
            .unwrap_or(0);
        let room = x.half_slot(most) * 1.6;
        let width = room / count.max(1) as f64;
        let mut next = 0;
        let mut places: Vec<Option<f64>> = figure
            .series
            .iter()
            .map(|series| {
                wide(series).then(|| {
                    next += 1;
                    -room / 2.0 + width * (f64::from(next) - 0.5)
                })
            })
            .collect();
        // Bars of spread at one place would cover each other.
        let lines = figure.series.len();
        for (index, (series, place)) in figure.series.iter().zip(&mut places).enumerate() {
            if matches!(series.marks, Marks::Whiskers(_)) {
                *place = Some(3.5 * (index as f64 - (lines - 1) as f64 / 2.0));
            }
        }
        Self { width, places }
    }

    /// Shift and width of a series.
    pub(super) fn of(&self, index: usize) -> (f64, f64) {
        (self.places[index].unwrap_or(0.0), self.width * 0.8)
    }
}

/// The dashes of lines by their colour, and those of a further line of a colour: the class and what
/// it sets.
pub(super) const DASHES: [(&str, &str); 8] = [
    ("", ""),
    (" d1", "7 3"),
    (" d2", "2 3"),
    (" d3", "9 3 2 3"),
    (" d4", "12 3 2 3 2 3"),
    (" d5", "4 4"),
    (" d6", "5 2 1 2"),
    (" d7", "16 4"),
];

/// The class of a line's dashes: lines differ by more than their colour, also from `before` others
/// of the same colour.
pub(super) fn dashes(class: usize, before: usize) -> &'static str {
    let further = DASHES.len() - 1;
    let place = if before == 0 {
        class.min(further)
    } else {
        further
    };
    DASHES[place].0
}

/// What draws the marks of one series.
pub(super) struct Pen<'d, 'p> {
    pub(super) canvas: &'d mut Canvas<'p>,
    pub(super) figure: &'d Figure,
    pub(super) series: &'d Series,
    /// The number of its colour.
    pub(super) class: usize,
    /// The class that sets its line apart.
    pub(super) dashes: &'static str,
    pub(super) x: &'d Axis,
    pub(super) y: &'d Axis,
    /// The number of replications of every mark, where a page says it once.
    pub(super) count: Option<u64>,
    /// How far its marks stand beside their places …
    pub(super) shift: f64,
    /// … and how wide they are.
    pub(super) width: f64,
    /// Where the picture ends on the right.
    pub(super) edge: f64,
}

impl Pen<'_, '_> {
    pub(super) fn draw(&mut self) {
        let finite = |marks: &'_ [Mark]| -> Vec<Mark> {
            let marks = marks.iter().filter(|mark| mark.mean.is_finite());
            marks.copied().collect()
        };
        match &self.series.marks {
            Marks::Curve(marks) => {
                let marks = finite(marks);
                self.band(&marks);
                self.polyline(marks.iter().map(|mark| self.at(mark)).collect());
                self.dots(&told_marks(&marks));
            }
            Marks::Whiskers(marks) => {
                let marks = finite(marks);
                for mark in marks.iter().filter(|mark| mark.high > mark.low) {
                    self.interval(mark, self.class);
                }
                self.polyline(marks.iter().map(|mark| self.at(mark)).collect());
                self.dots(&marks);
            }
            Marks::Front(marks) => {
                self.stairs(marks.iter().map(|mark| (mark.x, mark.mean)));
                self.dots(marks);
            }
            Marks::Cells(cells) => self.cells(cells),
            Marks::Named(marks) => {
                for (number, (mark, name)) in marks.iter().enumerate() {
                    let label =
                        free_label(self.at(mark), name, self.edge, &self.labels_before(number));
                    self.ring(mark, name, label);
                }
            }
            Marks::Points(marks) => {
                for mark in finite(marks) {
                    if mark.high > mark.low {
                        self.interval(&mark, self.class);
                    }
                    self.dots(&[mark]);
                }
            }
            Marks::Steps(steps) => {
                self.stairs(steps.iter().copied());
                for (at, share) in told_steps(steps) {
                    let value = format!("{} % at or below", super::grouped(100.0 * share, 1));
                    self.dot(at, share, 2.0, &value);
                }
            }
            Marks::Boxes(boxes) => boxes.iter().for_each(|mark| self.boxed(mark)),
            Marks::Bars(marks) => {
                for mark in finite(marks) {
                    self.bar(&mark);
                    if mark.high > mark.low {
                        self.interval(&mark, 6);
                    }
                }
            }
        }
        self.published();
    }

    fn at(&self, mark: &Mark) -> (f64, f64) {
        (self.x.at(mark.x) + self.shift, self.y.at(mark.mean))
    }

    fn band(&mut self, marks: &[Mark]) {
        if marks.len() < 2 || marks.iter().all(|mark| mark.high <= mark.low) {
            return;
        }
        let edge = |mark: &Mark, value: f64| (self.x.at(mark.x), self.y.within(value));
        let upper = marks.iter().map(|mark| edge(mark, mark.high));
        let lower = marks.iter().rev().map(|mark| edge(mark, mark.low));
        let points = path(upper.chain(lower));
        let _ = writeln!(
            self.canvas,
            "<polygon class=\"band f{}\" points=\"{points}\"/>",
            self.class
        );
        for mark in marks {
            self.arrows(mark, self.class);
        }
    }

    /// Where an interval leaves the picture.
    fn arrows(&mut self, mark: &Mark, class: usize) {
        let x = self.x.at(mark.x) + self.shift;
        for (end, is_up) in [(mark.high, true), (mark.low, false)] {
            if !self.y.holds(self.y.at(end)) {
                let shape = arrow((x, self.y.within(end)), is_up);
                let _ = writeln!(self.canvas, "<path class=\"f{class}\" d=\"{shape}\"/>");
            }
        }
    }

    fn polyline(&mut self, points: Vec<(f64, f64)>) {
        let _ = writeln!(
            self.canvas,
            "<polyline class=\"s{}{} t\" points=\"{}\"/>",
            self.class,
            self.dashes,
            path(points.into_iter())
        );
    }

    /// A line that keeps its height up to the next value.
    fn stairs(&mut self, values: impl Iterator<Item = (f64, f64)>) {
        let mut path = String::new();
        for (number, (x, value)) in values.enumerate() {
            let (x, y) = (self.x.at(x), self.y.at(value));
            let _ = match number {
                0 => write!(path, "M{} {}", Px(x), Px(y)),
                _ => write!(path, "H{}V{}", Px(x), Px(y)),
            };
        }
        let _ = writeln!(
            self.canvas,
            "<path class=\"s{}{} t\" d=\"{path}\"/>",
            self.class, self.dashes
        );
    }

    fn dots(&mut self, marks: &[Mark]) {
        for mark in marks {
            self.dot(mark.x, mark.mean, 3.2, &self.mean_words(mark));
        }
    }

    fn dot(&mut self, at: f64, value: f64, radius: f64, words: &str) {
        let _ = writeln!(
            self.canvas,
            "<circle class=\"f{} m\" {} cx=\"{}\" cy=\"{}\" r=\"{radius}\"/>",
            self.class,
            words_of(self.figure, at, words),
            Px(self.x.at(at) + self.shift),
            Px(self.y.at(value))
        );
    }

    /// A mean with its interval, and its difference from the reference.
    fn mean_words(&self, mark: &Mark) -> String {
        let mut words = mean_words(mark);
        if let (Some(count), true) = (self.count, self.canvas.is_interactive()) {
            let said = format!(", n = {count}");
            words = words.strip_suffix(&said).unwrap_or(&words).to_owned();
        }
        match (mark.paired, &self.series.reference) {
            (Some(paired), Some(reference)) => {
                let interval = paired.interval.map_or_else(String::new, |(low, high)| {
                    format!(" [{}, {}]", short_number(low), short_number(high))
                });
                let against = match self.canvas.is_interactive() {
                    true => String::new(),
                    false => format!(" against {reference}, paired"),
                };
                format!(
                    "{words}\n{}{}{interval}{against}",
                    if paired.mean > 0.0 { "+" } else { "" },
                    short_number(paired.mean)
                )
            }
            _ => words,
        }
    }

    /// The names of the rings that are drawn before ring `number`.
    fn labels_before(&self, number: usize) -> Vec<Label> {
        let mut labels: Vec<Label> = Vec::new();
        for other in &self.figure.series {
            let is_last = std::ptr::eq(other, self.series);
            if let Marks::Named(marks) = &other.marks {
                let count = if is_last { number } else { marks.len() };
                for (mark, name) in &marks[..count] {
                    labels.push(free_label(self.at(mark), name, self.edge, &labels));
                }
            }
            if is_last {
                break;
            }
        }
        labels
    }

    /// A ring with its name.
    fn ring(&mut self, mark: &Mark, name: &str, label: Label) {
        let (at, top) = self.at(mark);
        let words = format!("{name}: {}", short_number(mark.mean));
        let _ = write!(
            self.canvas,
            "<circle class=\"s{} m\" stroke-width=\"2.2\" {} cx=\"{}\" cy=\"{}\" r=\"6\"/>",
            self.class,
            words_of(self.figure, mark.x, &words),
            Px(at),
            Px(top)
        );
        let anchor = if label.is_right { "start" } else { "end" };
        self.canvas
            .text((label.x, label.baseline), "ink", anchor, name);
    }

    fn interval(&mut self, mark: &Mark, class: usize) {
        let (low, high) = (self.y.within(mark.low), self.y.within(mark.high));
        self.whisker(self.x.at(mark.x) + self.shift, low, high, class);
        self.arrows(mark, class);
    }

    fn whisker(&mut self, place: f64, low: f64, high: f64, class: usize) {
        let _ = writeln!(
            self.canvas,
            "<path class=\"s{class} w\" d=\"M{0} {3}H{1}M{2} {3}V{4}M{0} {4}H{1}\"/>",
            Px(place - 4.0),
            Px(place + 4.0),
            Px(place),
            Px(low),
            Px(high)
        );
    }

    fn bar(&mut self, mark: &Mark) {
        let ((place, top), zero) = (self.at(mark), self.y.at(0.0));
        let words = words_of(self.figure, mark.x, &self.mean_words(mark));
        self.canvas.rectangle(
            &format!("class=\"f{} m\" {words}", self.class),
            (place - self.width / 2.0, top.min(zero)),
            (self.width, (top - zero).abs().max(0.5)),
        );
    }

    fn boxed(&mut self, mark: &BoxMark) {
        let place = self.x.at(mark.x) + self.shift;
        let [p05, p25, median, p75, p95] = mark.quantiles.map(|value| self.y.at(value));
        let (left, right) = (place - self.width / 2.0, place + self.width / 2.0);
        self.whisker(place, p05, p95, self.class);
        let value = format!(
            "median {}, middle half {} to {}, 5 to 95 % {} to {}, mean {}, {} jobs",
            short_number(mark.quantiles[2]),
            short_number(mark.quantiles[1]),
            short_number(mark.quantiles[3]),
            short_number(mark.quantiles[0]),
            short_number(mark.quantiles[4]),
            short_number(mark.mean),
            super::grouped(mark.count as f64, 0)
        );
        let _ = writeln!(
            self.canvas,
            "<rect class=\"f{} m\" fill-opacity=\"0.55\" {} x=\"{left}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\
             <path class=\"ink edge\" stroke-width=\"2\" d=\"M{left} {}H{}\"/>",
            self.class,
            words_of(self.figure, mark.x, &value),
            Px(p75.min(p25)),
            Px(self.width),
            Px((p25 - p75).abs().max(1.0)),
            Px(median),
            Px(right),
            left = Px(left)
        );
    }
}

/// Where the name of a ring stands.
#[derive(Clone, Copy, Debug)]
struct Label {
    x: f64,
    baseline: f64,
    width: f64,
    is_right: bool,
}

impl Label {
    fn left_edge(&self) -> f64 {
        if self.is_right {
            self.x
        } else {
            self.x - self.width
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        (self.baseline - other.baseline).abs() < 12.0
            && self.left_edge() < other.left_edge() + other.width
            && other.left_edge() < self.left_edge() + self.width
    }
}

/// To the right of a ring, or to its left where there is no room, and where other names leave room.
fn free_label((at, top): (f64, f64), name: &str, edge: f64, others: &[Label]) -> Label {
    let width = text_width(name);
    let beside = |is_right: bool, down: f64| Label {
        x: if is_right { at + 9.0 } else { at - 9.0 },
        baseline: top + down,
        width,
        is_right,
    };
    let right = at + 16.0 + width < edge;
    // Above and below the middle of the ring, then farther away.
    let places = [-6.0, 15.0, -19.0, 28.0].map(|down| beside(right, down));
    let free = |label: &&Label| !others.iter().any(|other| other.overlaps(label));
    *places.iter().find(free).unwrap_or(&places[0])
}

/// A mean and, in brackets, its 95 % interval, whatever is drawn; bars of one standard deviation
/// are named.
pub(super) fn mean_words(mark: &Mark) -> String {
    let (low, high) = mark.interval();
    let mut words = short_number(mark.mean);
    if high > low {
        let _ = write!(words, " [{}, {}]", short_number(low), short_number(high));
    }
    if mark.interval.is_some() && mark.high > mark.mean {
        let deviation = short_number(mark.high - mark.mean);
        let _ = write!(words, ", one standard deviation {deviation}");
    }
    let _ = write!(words, ", n = {}", mark.count);
    words
}

/// The attributes of a mark: what it says, and where it stands for the page's script.
///
/// Its series and the name of the axis stand once, around it.
pub(super) fn words_of(figure: &Figure, at: f64, value: &str) -> String {
    let name = place_name(&figure.x, at);
    let is_axis = matches!(figure.x.kind, ScaleKind::Categories(_)) || figure.x.title.contains('.');
    let place = if is_axis {
        rounded(at, PAGE_DIGITS)
    } else {
        name.clone()
    };
    let name = if name == place {
        String::new()
    } else {
        format!(" data-p=\"{}\"", escape(&name))
    };
    format!("data-t=\"{}\" data-x=\"{place}\"{name}", escape(value))
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let pairs: Vec<String> = points
        .map(|(x, y)| format!("{},{}", Px(x), Px(y)))
        .collect();
    pairs.join(" ")
}
