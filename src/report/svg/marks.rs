//! The marks of a series: lines with bands, points, steps, boxes, bars. Every mark that can be asked carries its values in
//! words (`data-t`), for the page's tooltips.

use std::fmt::Write as _;

use super::super::figure::{BoxMark, Figure, Mark, Marks, Series};
use super::scale::Axis;
use super::{escape, place_name, short_number};

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

/// Lines differ by more than their colour.
pub(super) fn dashes(class: usize) -> &'static str {
    match class {
        1 => " stroke-dasharray=\"7 3\"",
        2 => " stroke-dasharray=\"2 3\"",
        3 => " stroke-dasharray=\"9 3 2 3\"",
        5 => " stroke-dasharray=\"4 4\"",
        _ => "",
    }
}

pub(super) fn draw(
    svg: &mut String,
    figure: &Figure,
    series: &Series,
    class: usize,
    x: &Axis,
    y: &Axis,
    (shift, width): (f64, f64),
) {
    match &series.marks {
        Marks::Curve(marks) => {
            let marks: Vec<&Mark> = marks.iter().filter(|mark| mark.mean.is_finite()).collect();
            band(svg, &marks, class, x, y);
            polyline(
                svg,
                marks.iter().map(|mark| (x.at(mark.x), y.at(mark.mean))),
                class,
            );
            for mark in marks {
                dot(svg, figure, series, mark, class, x.at(mark.x), y);
            }
        }
        Marks::Whiskers(marks) => {
            let marks: Vec<&Mark> = marks.iter().filter(|mark| mark.mean.is_finite()).collect();
            let at = |mark: &Mark| x.at(mark.x) + shift;
            for mark in marks.iter().filter(|mark| mark.high > mark.low) {
                whisker(svg, at(mark), y.at(mark.low), y.at(mark.high), class);
            }
            polyline(
                svg,
                marks.iter().map(|mark| (at(mark), y.at(mark.mean))),
                class,
            );
            for mark in marks {
                dot(svg, figure, series, mark, class, at(mark), y);
            }
        }
        Marks::Front(marks) => {
            let mut corners: Vec<(f64, f64)> = Vec::with_capacity(2 * marks.len());
            for mark in marks {
                if let Some((_, before)) = corners.last().copied() {
                    corners.push((x.at(mark.x), before));
                }
                corners.push((x.at(mark.x), y.at(mark.mean)));
            }
            polyline(svg, corners.into_iter(), class);
            for mark in marks {
                dot(svg, figure, series, mark, class, x.at(mark.x), y);
            }
        }
        Marks::Named(marks) => {
            for (number, (mark, name)) in marks.iter().enumerate() {
                let at = (x.at(mark.x), y.at(mark.mean));
                let earlier = labels_before(figure, series, number, x, y);
                let label = free_label(at, name, &earlier);
                ring(svg, figure, series, (mark, name), class, at, label);
            }
        }
        Marks::Points(marks) => {
            for mark in marks.iter().filter(|mark| mark.mean.is_finite()) {
                whisker(svg, x.at(mark.x), y.at(mark.low), y.at(mark.high), class);
                dot(svg, figure, series, mark, class, x.at(mark.x), y);
            }
        }
        Marks::Steps(steps) => stairs(svg, figure, series, steps, class, x, y),
        Marks::Boxes(boxes) => {
            for mark in boxes {
                boxed(svg, figure, series, mark, class, x, y, (shift, width));
            }
        }
        Marks::Bars(marks) => {
            for mark in marks.iter().filter(|mark| mark.mean.is_finite()) {
                let (place, top, zero) = (x.at(mark.x) + shift, y.at(mark.mean), y.at(0.0));
                let _ = writeln!(
                    svg,
                    "<rect class=\"f{class} m\" tabindex=\"0\" {} x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
                    words(figure, series, mark.x, &mean_words(mark)),
                    place - width / 2.0,
                    top.min(zero),
                    (top - zero).abs().max(0.5)
                );
                if mark.high > mark.low {
                    whisker(svg, place, y.at(mark.low), y.at(mark.high), 6);
                }
            }
        }
    }
}

fn band(svg: &mut String, marks: &[&Mark], class: usize, x: &Axis, y: &Axis) {
    if marks.len() < 2 || marks.iter().all(|mark| mark.high <= mark.low) {
        return;
    }
    let upper = marks.iter().map(|mark| (x.at(mark.x), y.at(mark.high)));
    let lower = marks
        .iter()
        .rev()
        .map(|mark| (x.at(mark.x), y.at(mark.low)));
    let _ = writeln!(
        svg,
        "<polygon class=\"f{class}\" fill-opacity=\"0.16\" points=\"{}\"/>",
        path(upper.chain(lower))
    );
}

fn polyline(svg: &mut String, points: impl Iterator<Item = (f64, f64)>, class: usize) {
    let _ = writeln!(
        svg,
        "<polyline class=\"s{class}\" stroke-width=\"2\"{} points=\"{}\"/>",
        dashes(class),
        path(points)
    );
}

fn dot(
    svg: &mut String,
    figure: &Figure,
    series: &Series,
    mark: &Mark,
    class: usize,
    place: f64,
    y: &Axis,
) {
    let _ = writeln!(
        svg,
        "<circle class=\"f{class} m\" tabindex=\"0\" {} cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.2\"/>",
        words(figure, series, mark.x, &mean_words(mark)),
        place,
        y.at(mark.mean)
    );
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

/// The names of the rings that are drawn before ring `number` of a series.
fn labels_before(
    figure: &Figure,
    series: &Series,
    number: usize,
    x: &Axis,
    y: &Axis,
) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    for other in &figure.series {
        let is_last = std::ptr::eq(other, series);
        if let Marks::Named(marks) = &other.marks {
            let count = if is_last { number } else { marks.len() };
            for (mark, name) in &marks[..count] {
                let at = (x.at(mark.x), y.at(mark.mean));
                labels.push(free_label(at, name, &labels));
            }
        }
        if is_last {
            break;
        }
    }
    labels
}

/// To the right of a ring, or to its left where there is no room, and where other names leave room.
fn free_label((at, top): (f64, f64), name: &str, others: &[Label]) -> Label {
    let width = super::legend_width(name) - 44.0;
    let beside = |is_right: bool, down: f64| Label {
        x: if is_right { at + 9.0 } else { at - 9.0 },
        baseline: top + down,
        width,
        is_right,
    };
    let right = at + 16.0 + width < super::WIDTH;
    // Above and below the middle of the ring, then farther away.
    let places = [-6.0, 15.0, -19.0, 28.0].map(|down| beside(right, down));
    let free = |label: &&Label| !others.iter().any(|other| other.overlaps(label));
    *places.iter().find(free).unwrap_or(&places[0])
}

/// A ring with its name.
fn ring(
    svg: &mut String,
    figure: &Figure,
    series: &Series,
    (mark, name): (&Mark, &str),
    class: usize,
    (at, top): (f64, f64),
    label: Label,
) {
    let _ = writeln!(
        svg,
        "<circle class=\"s{class} m\" stroke-width=\"2.2\" tabindex=\"0\" {} cx=\"{at:.1}\" cy=\"{top:.1}\" r=\"6\"/>\
         <text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\">{}</text>",
        words(
            figure,
            series,
            mark.x,
            &format!("{name}: {}", short_number(mark.mean))
        ),
        label.x,
        label.baseline,
        if label.is_right { "start" } else { "end" },
        escape(name)
    );
}

fn whisker(svg: &mut String, place: f64, low: f64, high: f64, class: usize) {
    let _ = writeln!(
        svg,
        "<path class=\"s{class}\" stroke-width=\"1.3\" d=\"M{0:.1} {low:.1}H{1:.1}M{place:.1} {low:.1}V{high:.1}M{0:.1} {high:.1}H{1:.1}\"/>",
        place - 4.0,
        place + 4.0
    );
}

fn stairs(
    svg: &mut String,
    figure: &Figure,
    series: &Series,
    steps: &[(f64, f64)],
    class: usize,
    x: &Axis,
    y: &Axis,
) {
    let mut corners: Vec<(f64, f64)> = Vec::with_capacity(2 * steps.len());
    for (at, share) in steps {
        if let Some((_, before)) = corners.last().copied() {
            corners.push((x.at(*at), before));
        }
        corners.push((x.at(*at), y.at(*share)));
    }
    polyline(svg, corners.into_iter(), class);
    for (at, share) in steps {
        let value = format!("{} % at or below", super::grouped(100.0 * share, 1));
        let _ = writeln!(
            svg,
            "<circle class=\"f{class} m\" tabindex=\"0\" {} cx=\"{:.1}\" cy=\"{:.1}\" r=\"2\"/>",
            words(figure, series, *at, &value),
            x.at(*at),
            y.at(*share)
        );
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "a box, its figure and its place in it"
)]
fn boxed(
    svg: &mut String,
    figure: &Figure,
    series: &Series,
    mark: &BoxMark,
    class: usize,
    x: &Axis,
    y: &Axis,
    (shift, width): (f64, f64),
) {
    let place = x.at(mark.x) + shift;
    let [p05, p25, median, p75, p95] = mark.quantiles.map(|value| y.at(value));
    let (left, right) = (place - width / 2.0, place + width / 2.0);
    whisker(svg, place, p05, p95, class);
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
        svg,
        "<rect class=\"f{class} m\" fill-opacity=\"0.55\" tabindex=\"0\" {} x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>\
         <path class=\"ink edge\" stroke-width=\"2\" d=\"M{left:.1} {median:.1}H{right:.1}\"/>",
        words(figure, series, mark.x, &value),
        p75.min(p25),
        (p25 - p75).abs().max(1.0)
    );
}

fn mean_words(mark: &Mark) -> String {
    if mark.high > mark.low {
        format!(
            "{} [{}, {}], n = {}",
            short_number(mark.mean),
            short_number(mark.low),
            short_number(mark.high),
            mark.count
        )
    } else {
        format!("{}, n = {}", short_number(mark.mean), mark.count)
    }
}

/// The attributes of a mark: what it says, and where it stands for the page's script.
fn words(figure: &Figure, series: &Series, at: f64, value: &str) -> String {
    let text = format!(
        "{}\n{}: {}\n{value}",
        series.label,
        figure.x.title,
        place_name(&figure.x, at)
    );
    format!(
        "data-t=\"{}\" data-s=\"{}\" data-x=\"{at}\"",
        escape(&text),
        escape(&series.label)
    )
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let pairs: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    pairs.join(" ")
}
