//! Figures as SVG, written by hand: no font, script or network needed.
//!
//! Colours are classes, so that a page can give them other values in dark mode. A file has those of
//! light paper alone, whoever looks: what is printed must be what was seen. Figures as PDF (`pdf`)
//! are made of these files.

mod canvas;
mod cells;
mod colours;
mod extent;
mod marks;
mod pdf;
mod published;
mod scale;

use std::fmt::Write as _;

use super::figure::{Figure, Marks, Scale, ScaleKind, Series};
use super::table::grouped;
pub use canvas::{
    BELOW_AXIS, Canvas, Picture, Place, Side, Swatch, escape, legend_height, text_width,
};
pub(crate) use canvas::{Fine, Px};
pub use colours::COLOURS;
use extent::Extent;
use marks::{DASHES, Pen, dashes};
pub use marks::{told_marks, told_steps};
pub(super) use pdf::pdf;
pub use scale::{Axis, round_ticks, time_step};

/// In a page, where two stand beside each other, or one on a phone.
const PAGE_WIDTH: f64 = 520.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 32.0;
const TOP: f64 = 44.0;
const PLOT_HEIGHT: f64 = 292.0;
/// In a column of a paper.
const COLUMN_HEIGHT: f64 = 190.0;

/// The styles of a figure's classes, in the page and in files.
pub fn style(scope: &str) -> String {
    let mut light = format!(
        "{scope} .ink{{fill:#24292f}}{scope} .soft{{fill:#57606a}}{scope} .grid{{stroke:#d8dee4;fill:none}}{scope} .edge{{stroke:#57606a;fill:none}}\
         {scope} .paper{{fill:#ffffff}}"
    );
    for (index, (by_day, _)) in COLOURS.iter().enumerate() {
        light.push_str(&colour_rules(scope, index, by_day));
    }
    // Intervals, lines and their dashes.
    let _ = write!(
        light,
        "{scope} .w{{stroke-width:1.3}}{scope} .band{{fill-opacity:0.16}}{scope} .t{{stroke-width:2}}"
    );
    for (class, dashes) in DASHES.iter().filter(|(class, _)| !class.is_empty()) {
        let class = class.trim_start();
        let _ = write!(light, "{scope} .{class}{{stroke-dasharray:{dashes}}}");
    }
    // Only a page has a switch; it stands at its root.
    if scope.is_empty() {
        return light;
    }
    let scope = format!("[data-theme=dark] {scope}");
    let mut dark = format!(
        "{scope} .ink{{fill:#e6edf3}}{scope} .soft{{fill:#9da7b1}}{scope} .grid{{stroke:#30363d}}{scope} .edge{{stroke:#9da7b1}}\
         {scope} .paper{{fill:#0d1117}}"
    );
    for (index, (_, by_night)) in COLOURS.iter().enumerate() {
        dark.push_str(&colour_rules(&scope, index, by_night));
    }
    light + &dark
}

fn colour_rules(scope: &str, index: usize, colour: &str) -> String {
    format!("{scope} .f{index}{{fill:{colour}}}{scope} .s{index}{{stroke:{colour};fill:none}}")
}

/// The style of a file whose drawing needs more than a figure: `plain` for shapes, and what `rule`
/// says for each colour, by its number.
pub(super) fn style_with(plain: &str, rule: impl Fn(usize, &str) -> String) -> String {
    let colours = COLOURS.iter().enumerate();
    let rules = colours.map(|(number, (by_day, _))| rule(number, by_day));
    style("") + plain + &rules.collect::<String>()
}

/// How wide the figures of a report are in files of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FigureWidth {
    /// As wide as a screen shows well, with the title above.
    #[default]
    Screen,
    /// As wide as a column of a paper in two columns (3.5 inches), without a title: the paper's
    /// caption has it.
    OneColumn,
    /// As wide as both of its columns (7.16 inches), without a title.
    TwoColumns,
}

impl FigureWidth {
    /// In pixels, of which an inch has 96, so that letters are 9 points high on paper.
    fn pixels(self) -> f64 {
        match self {
            Self::Screen => 760.0,
            Self::OneColumn => 336.0,
            Self::TwoColumns => 687.0,
        }
    }
}

/// A whole SVG file.
pub(super) fn file(figure: &Figure, width: FigureWidth) -> String {
    let style = style("");
    let place = match width {
        FigureWidth::Screen => Place::File(&style),
        FigureWidth::OneColumn | FigureWidth::TwoColumns => Place::Paper(&style),
    };
    draw(figure, place, width)
}

/// The `<svg>` element of a page that has the styles.
pub(super) fn inline(figure: &Figure) -> String {
    draw(figure, Place::Interactive, FigureWidth::Screen)
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

fn draw(figure: &Figure, place: Place<'_>, of_file: FigureWidth) -> String {
    let (width, height, places) = match (place, of_file) {
        (Place::Interactive, _) => (PAGE_WIDTH, PLOT_HEIGHT, 6.0),
        (_, FigureWidth::OneColumn) => (of_file.pixels(), COLUMN_HEIGHT, 4.0),
        (_, FigureWidth::Screen | FigureWidth::TwoColumns) => (of_file.pixels(), PLOT_HEIGHT, 9.0),
    };
    let published = figure.published();
    let has_values = published.values;
    let published = (published.values || published.bounds).then_some(PUBLISHED);
    let Extent { xs, ys, is_clipped } = Extent::of(figure);
    let clipped = is_clipped.then_some(CLIPPED);
    let labels = || figure.series.iter().map(|series| series.label.as_str());
    let names = || labels().chain(published).chain(clipped);
    let bottom = TOP + height;
    let is_empty = xs.is_empty() || ys.is_empty();
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
        let middle = (width / 2.0, TOP + height / 2.0);
        canvas.text(middle, "soft", "middle", "no data");
        return canvas.finish();
    }
    let y = Axis::new(&figure.y, &ys, (bottom, TOP), 6.0, true, from_zero);
    let is_map = matches!(
        figure.series[..],
        [Series {
            marks: Marks::Cells(_),
            ..
        }]
    );
    canvas.axes(&below, Some(&side(&y, &figure.y.title, !is_map)));
    let offset = marks::Offsets::new(figure, &x);
    for (index, series) in figure.series.iter().enumerate() {
        let (shift, room) = offset.of(index);
        let mut attributes = "class=\"series\"".to_owned();
        if let (Some(name), false) = (&series.reference, is_map) {
            let _ = write!(attributes, " data-r=\"{}\"", escape(name));
        }
        let count = series.marks.common_count();
        if let Some(count) = count {
            let _ = write!(attributes, " data-n=\"{count}\"");
        }
        canvas.begin(&attributes, &series.label);
        Pen {
            canvas: &mut canvas,
            figure,
            series,
            class: colour(series.rank, index),
            dashes: dashes(colour(series.rank, index), lines_before(figure, index)),
            x: &x,
            y: &y,
            shift,
            count,
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
    let swatches = swatches.chain(clipped.map(|_| Swatch::Arrow));
    canvas.legend(swatches.zip(names()), bottom + BELOW_AXIS + more);
    canvas.finish()
}

/// What published numbers are called in a legend.
pub(super) const PUBLISHED: &str = "published";

/// What the end of an interval that leaves the picture is called in a legend.
const CLIPPED: &str = "interval goes on";

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
    use super::super::figure::{BoxMark, HeatCell, Mark, Section, Series, Sign, Standing};
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
            series: vec![Series::new("a & b", 1, marks)],
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
                let svg = file(
                    &figure(kind, Marks::Curve(marks.clone())),
                    FigureWidth::Screen,
                );
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
        let svg = file(&figure, FigureWidth::Screen);
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
    fn a_file_has_the_colours_of_light_paper_whoever_looks() {
        let svg = file(
            &figure(ScaleKind::Linear, Marks::Curve(vec![mark(1.0, 2.0)])),
            FigureWidth::Screen,
        );
        assert!(svg.contains(COLOURS[1].0) && !svg.contains(COLOURS[1].1));
        assert!(!svg.contains("@media") && !svg.contains("dark"), "{svg}");
        let page = style("figure");
        assert!(page.contains("[data-theme=dark] figure .s1{stroke:#ff8a3d"));
        assert!(!style_with("", |_, colour| colour.to_owned()).contains(COLOURS[1].1));
    }

    #[test]
    fn a_figure_for_a_paper_is_as_wide_as_its_column_and_leaves_the_title_to_the_caption() {
        let figure = figure(
            ScaleKind::Linear,
            Marks::Curve(vec![mark(1.0, 2.0), mark(17.0, 3.0)]),
        );
        let title = ">Gain &lt;of&gt; all</text>";
        for (width, is_titled, size) in [
            (FigureWidth::Screen, true, " width=\"760\""),
            (FigureWidth::OneColumn, false, " width=\"336\""),
            (FigureWidth::TwoColumns, false, " width=\"687\""),
        ] {
            let svg = file(&figure, width);
            assert!(svg.lines().next().is_some_and(|head| head.contains(size)));
            assert_eq!(svg.contains(title), is_titled, "{width:?}");
            assert!(svg.contains("<style>"));
        }
        let ticks = |width| file(&figure, width).matches("</text><text").count();
        assert!(ticks(FigureWidth::OneColumn) < ticks(FigureWidth::TwoColumns));
    }

    #[test]
    fn every_kind_of_marks_becomes_a_page_of_pdf() {
        let wide = |x| Mark {
            low: 1.0,
            high: 9.0,
            ..mark(x, 5.0)
        };
        let marks = vec![wide(1.0), wide(2.0)];
        let boxed = BoxMark {
            x: 1.0,
            quantiles: [1.0, 2.0, 3.0, 4.0, 5.0],
            mean: 3.0,
            count: 9,
        };
        let cell = |x, standing, surplus| HeatCell {
            mark: mark(x, 5.0),
            row: 1.0,
            standing,
            surplus,
        };
        for marks in [
            Marks::Curve(marks.clone()),
            Marks::Whiskers(marks.clone()),
            Marks::Front(marks.clone()),
            Marks::Points(marks.clone()),
            Marks::Named(vec![(mark(1.0, 5.0), "α ≤ 1".to_owned())]),
            Marks::Steps(vec![(1.0, 0.5), (2.0, 1.0)]),
            Marks::Boxes(vec![boxed]),
            Marks::Bars(marks),
            Marks::Cells(vec![
                cell(1.0, Standing::Best, Some(Sign::Plus)),
                cell(2.0, Standing::NotWorse, Some(Sign::Minus)),
                cell(3.0, Standing::Other, None),
            ]),
        ] {
            let drawing = file(&figure(ScaleKind::Linear, marks), FigureWidth::OneColumn);
            let page = pdf(&drawing).unwrap_or_else(|error| panic!("{error}: {drawing}"));
            assert!(page.starts_with(b"%PDF-") && page.ends_with(b"%%EOF"));
        }
    }

    #[test]
    fn an_inline_figure_leaves_its_colours_to_the_page() {
        let figure = figure(
            ScaleKind::Linear,
            Marks::Curve(vec![mark(1.0, 2.0), mark(2.0, 3.0)]),
        );
        assert!(
            file(&figure, FigureWidth::Screen).contains("<style>")
                && !inline(&figure).contains("<style>")
        );
        assert!(inline(&figure).contains("class=\"s1 d1 t\""));
    }
}
