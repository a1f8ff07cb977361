//! Figures as SVG, written by hand: no font, script or network needed.
//!
//! Colours are classes, so that a page can give them other values in dark mode. A separate file
//! brings a style with both.

mod canvas;
mod marks;
mod published;
mod scale;

use std::fmt::Write as _;

use super::figure::{Figure, Marks, Scale, ScaleKind};
use super::table::grouped;
use crate::PublishedNumber;
pub use canvas::{
    BELOW_AXIS, Canvas, Picture, Place, Side, Swatch, escape, legend_height, text_width,
};
use marks::{Pen, dashes};
pub use marks::{told_marks, told_steps};
pub use scale::{Axis, round_ticks, time_step};

const WIDTH: f64 = 760.0;
/// In a page, where two stand beside each other, or one on a phone.
const PAGE_WIDTH: f64 = 520.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 32.0;
const TOP: f64 = 44.0;
const PLOT_HEIGHT: f64 = 292.0;

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito), for light and
/// for dark paper.
pub const COLOURS: [(&str, &str); 7] = [
    ("#0072b2", "#56a8e0"),
    ("#d55e00", "#ff8a3d"),
    ("#009e73", "#2fc79a"),
    ("#b0508c", "#e39ac6"),
    ("#b07800", "#f0b429"),
    ("#7d3fbf", "#c297ff"),
    ("#444444", "#cccccc"),
];

/// The styles of a figure's classes, in the page and in files.
pub fn style(scope: &str) -> String {
    let mut light = format!(
        "{scope} .ink{{fill:#24292f}}{scope} .soft{{fill:#57606a}}{scope} .grid{{stroke:#d8dee4}}{scope} .edge{{stroke:#57606a}}\
         {scope} .paper{{fill:#ffffff}}"
    );
    let mut dark = format!(
        "{scope} .ink{{fill:#e6edf3}}{scope} .soft{{fill:#9da7b1}}{scope} .grid{{stroke:#30363d}}{scope} .edge{{stroke:#9da7b1}}\
         {scope} .paper{{fill:#0d1117}}"
    );
    for (index, (by_day, by_night)) in COLOURS.iter().enumerate() {
        for (text, colour) in [(&mut light, by_day), (&mut dark, by_night)] {
            let _ = write!(
                text,
                "{scope} .f{index}{{fill:{colour}}}{scope} .s{index}{{stroke:{colour};fill:none}}"
            );
        }
    }
    // A page switches by an attribute of its root, a file by the wish of the reader's system.
    if scope.is_empty() {
        format!("{light}@media (prefers-color-scheme:dark){{{dark}}}")
    } else {
        let switched = dark.replace(scope, &format!("[data-theme=dark] {scope}"));
        format!("{light}{switched}")
    }
}

/// The style of a file whose drawing needs more than a figure: `plain` for shapes, and what `rule`
/// says for each colour, by its number, by day and by night.
pub(super) fn style_with(plain: &str, rule: impl Fn(usize, &str) -> String) -> String {
    let (mut light, mut dark) = (style("") + plain, String::new());
    for (number, (by_day, by_night)) in COLOURS.iter().enumerate() {
        light.push_str(&rule(number, by_day));
        dark.push_str(&rule(number, by_night));
    }
    format!("{light}@media (prefers-color-scheme:dark){{{dark}}}")
}

/// A whole SVG file.
pub(super) fn file(figure: &Figure) -> String {
    draw(figure, &[figure], Place::File(&style("")))
}

/// The `<svg>` element of a page that has the styles, with scales that all of `panels` share.
pub(super) fn inline(figure: &Figure, panels: &[&Figure]) -> String {
    draw(figure, panels, Place::Interactive)
}

/// The class number of a series: a strategy has the same colour in every figure.
fn colour(rank: usize, index: usize) -> usize {
    rank.min(index + COLOURS.len()) % COLOURS.len()
}

/// How many lines before this series have its colour.
fn lines_before(figure: &Figure, index: usize) -> usize {
    let class = |index: usize| colour(figure.series[index].rank, index);
    let line = |index: usize| {
        let marks = &figure.series[index].marks;
        matches!(
            marks,
            Marks::Curve(_) | Marks::Whiskers(_) | Marks::Front(_) | Marks::Steps(_)
        )
    };
    let before = (0..index).filter(|&other| line(other) && class(other) == class(index));
    if line(index) { before.count() } else { 0 }
}

fn draw(figure: &Figure, panels: &[&Figure], place: Place<'_>) -> String {
    let (width, places) = match place {
        Place::Interactive => (PAGE_WIDTH, 6.0),
        Place::File(_) | Place::Page => (WIDTH, 9.0),
    };
    let published = figure.published();
    let has_values = published.values;
    let published = (published.values || published.bounds).then_some(PUBLISHED);
    let labels = || figure.series.iter().map(|series| series.label.as_str());
    let names = || labels().chain(published);
    let bottom = TOP + PLOT_HEIGHT;
    let is_empty = {
        let (xs, ys) = extent(figure);
        xs.is_empty() || ys.is_empty()
    };
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for panel in panels {
        let (more_xs, more_ys) = extent(panel);
        xs.extend(more_xs);
        ys.extend(more_ys);
    }
    let from_zero = figure
        .series
        .iter()
        .any(|series| matches!(series.marks, Marks::Bars(_) | Marks::Steps(_)));
    let side = |axis: &Axis, title, has_grid| Side {
        ticks: axis.ticks().collect(),
        title,
        has_grid,
    };
    let x = Axis::new(&figure.x, &xs, (LEFT, width - RIGHT), places, false, false);
    let below = side(&x, figure.x.title.as_str(), false);
    let more = if is_empty { 0.0 } else { below.more() };
    let picture = Picture {
        title: &figure.title,
        class: "",
        size: (width, bottom + 62.0 + more + legend_height(names(), width)),
        left: LEFT,
        right: width - RIGHT,
        top: TOP,
        bottom,
    };
    let mut canvas = Canvas::new(picture, place);
    if is_empty {
        let middle = (width / 2.0, TOP + PLOT_HEIGHT / 2.0);
        canvas.text(middle, "soft", "middle", "no data");
        return canvas.finish();
    }
    let y = Axis::new(&figure.y, &ys, (bottom, TOP), 6.0, true, from_zero);
    canvas.axes(&below, Some(&side(&y, &figure.y.title, true)));
    let offset = marks::Offsets::new(figure, &x);
    for (index, series) in figure.series.iter().enumerate() {
        let (shift, room) = offset.of(index);
        canvas.begin("class=\"series\"", &series.label);
        Pen {
            canvas: &mut canvas,
            figure,
            series,
            class: colour(series.rank, index),
            dashes: dashes(colour(series.rank, index), lines_before(figure, index)),
            x: &x,
            y: &y,
            shift,
            width: room,
            edge: width,
        }
        .draw();
        canvas.end();
    }
    let swatches = figure.series.iter().enumerate();
    let swatches = swatches.map(|(index, series)| {
        Swatch::Line(colour(series.rank, index), lines_before(figure, index))
    });
    let swatches = swatches.chain(published.map(|_| match has_values {
        true => Swatch::Diamond,
        false => Swatch::Bound,
    }));
    canvas.legend(swatches.zip(names()), bottom + BELOW_AXIS + more);
    canvas.finish()
}

/// What published numbers are called in a legend.
pub(super) const PUBLISHED: &str = "published";

/// All places and values of a figure: what was measured, published values, and published bounds
/// that are not far away.
fn extent(figure: &Figure) -> (Vec<f64>, Vec<f64>) {
    let (xs, mut ys) = measured(figure);
    let least = ys.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ys.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let near = (most - least) / 2.0;
    for mark in figure.series.iter().flat_map(|series| &series.published) {
        match mark.number {
            PublishedNumber::Value { value, within } => {
                ys.push(value);
                ys.extend(within);
            }
            PublishedNumber::AtMost(value) | PublishedNumber::AtLeast(value) => {
                ys.extend(Some(value).filter(|value| (least - near..=most + near).contains(value)));
            }
        }
    }
    ys.retain(|value| value.is_finite());
    (xs, ys)
}

/// All places and measured values of a figure.
fn measured(figure: &Figure) -> (Vec<f64>, Vec<f64>) {
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for series in &figure.series {
        match &series.marks {
            Marks::Curve(marks)
            | Marks::Whiskers(marks)
            | Marks::Front(marks)
            | Marks::Points(marks)
            | Marks::Bars(marks) => {
                for mark in marks {
                    xs.push(mark.x);
                    ys.extend([mark.low, mark.mean, mark.high]);
                }
            }
            Marks::Named(marks) => {
                for (mark, _) in marks {
                    xs.push(mark.x);
                    ys.push(mark.mean);
                }
            }
            Marks::Steps(steps) => {
                for (at, share) in steps {
                    xs.push(*at);
                    ys.push(*share);
                }
            }
            Marks::Boxes(boxes) => {
                for mark in boxes {
                    xs.push(mark.x);
                    ys.extend(mark.quantiles);
                }
            }
        }
    }
    xs.retain(|value| value.is_finite());
    ys.retain(|value| value.is_finite());
    (xs, ys)
}

/// Digits of positions and data in a page: more than is visible, and all that an axis of a sweep
/// has. The files have more.
pub(super) const PAGE_DIGITS: usize = 7;

/// A number with this many significant digits: the last bits may depend on the processor, a page
/// must not.
pub(super) fn rounded(value: f64, digits: usize) -> String {
    format!("{value:.*e}", digits - 1)
        .parse::<f64>()
        .map_or_else(|_| String::new(), |value| (value + 0.0).to_string())
}

/// A number with about four significant digits.
pub fn short_number(value: f64) -> String {
    let magnitude = if value == 0.0 {
        0.0
    } else {
        value.abs().log10().floor()
    };
    grouped(value, (3.0 - magnitude).clamp(0.0, 6.0) as usize)
}

/// A scale for people: its title, or what a category is called at this place.
pub(super) fn place_name(scale: &Scale, at: f64) -> String {
    match &scale.kind {
        ScaleKind::Categories(names) => {
            names.get(at.max(0.0) as usize).cloned().unwrap_or_default()
        }
        ScaleKind::Linear | ScaleKind::Logarithmic => {
            let digits = short_number(at);
            match digits.contains('.') {
                true => digits
                    .trim_end_matches('0')
                    .trim_end_matches('.')
                    .to_owned(),
                false => digits,
            }
        }
    }
}

/// As [`place_name`], with all digits: for programs.
pub(super) fn place_name_or_digits(scale: &Scale, at: f64) -> String {
    match &scale.kind {
        ScaleKind::Categories(_) => place_name(scale, at),
        ScaleKind::Linear | ScaleKind::Logarithmic => at.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Mark, Section, Series};
    use super::*;

    fn figure(kind: ScaleKind, marks: Marks) -> Figure {
        Figure {
            name: "f".to_owned(),
            section: Section::Money,
            title: "Gain <of> all".to_owned(),
            given: Vec::new(),
            x: Scale {
                title: "x".to_owned(),
                kind,
            },
            y: Scale {
                title: "y".to_owned(),
                kind: ScaleKind::Linear,
            },
            series: vec![Series {
                label: "a & b".to_owned(),
                rank: 1,
                marks,
                reference: None,
                published: Vec::new(),
            }],
            note: String::new(),
            sql: String::new(),
        }
    }

    fn mark(x: f64, mean: f64) -> Mark {
        Mark::value(x, mean, 3)
    }

    #[test]
    fn figures_without_data_with_one_value_and_with_equal_values_are_drawn() {
        for marks in [
            Vec::new(),
            vec![mark(1.0, 5.0)],
            vec![mark(0.1, 0.0), mark(0.2, 0.0)],
            vec![mark(1.0, f64::NAN)],
        ] {
            for kind in [ScaleKind::Linear, ScaleKind::Logarithmic] {
                let svg = file(&figure(kind, Marks::Curve(marks.clone())));
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                assert!(svg.contains("Gain &lt;of&gt; all"));
                assert_eq!(
                    svg.contains("no data"),
                    marks.iter().all(|mark| mark.mean.is_nan())
                );
            }
        }
    }

    /// Two searches that chose the same plans, and one that chose a plan beside them.
    #[test]
    fn names_of_rings_at_the_same_place_do_not_cover_each_other() {
        let named = |mark, name: &str| (mark, name.to_owned());
        let mut figure = figure(
            ScaleKind::Linear,
            Marks::Named(vec![
                named(mark(1.0, 5.0), "α 0, 0.5"),
                named(mark(9.0, 1.0), "α 1"),
            ]),
        );
        let other = Series {
            marks: Marks::Named(vec![
                named(mark(1.0, 5.0), "α 0"),
                named(mark(1.05, 5.0), "α 0.5"),
            ]),
            ..figure.series[0].clone()
        };
        figure.series.push(other);
        let svg = file(&figure);
        let baseline = |name: &str| -> f64 {
            let text = svg.split(&format!(">{name}</text>")).next();
            let text = text.unwrap_or_else(|| panic!("{name}"));
            let y = text
                .rsplit(" y=\"")
                .next()
                .and_then(|y| y.split('"').next());
            y.and_then(|y| y.parse().ok())
                .unwrap_or_else(|| panic!("{name}"))
        };
        let mut lines = ["α 0, 0.5", "α 0", "α 0.5"].map(baseline);
        lines.sort_by(f64::total_cmp);
        assert!(
            lines[1] - lines[0] >= 12.0 && lines[2] - lines[1] >= 12.0,
            "{lines:?}"
        );
    }

    #[test]
    fn an_inline_figure_leaves_its_colours_to_the_page() {
        let figure = figure(
            ScaleKind::Linear,
            Marks::Curve(vec![mark(1.0, 2.0), mark(2.0, 3.0)]),
        );
        assert!(
            file(&figure).contains("<style>") && !inline(&figure, &[&figure]).contains("<style>")
        );
        assert!(inline(&figure, &[&figure]).contains("class=\"s1\""));
    }
}
