//! A picture: its size, title, axes, legend and shapes. Text is escaped here.

use bookahead_core::printable::printable;
use std::fmt::{self, Write as _};

use super::marks::dashes;

/// Where the heading of a file stands …
const HEADING: (f64, f64) = (30.0, 24.0);
/// … and how much of a picture it takes, which a page leaves out, as it has its own.
const HEADING_HEIGHT: f64 = 28.0;
const LEGEND_LEFT: f64 = 30.0;
/// Height of a line of a legend.
pub(crate) const LEGEND_LINE: f64 = 17.0;
/// From the lower edge of a field to the first line of a legend that stands below its axis.
pub const BELOW_AXIS: f64 = 60.0;

/// Where a picture is shown.
#[derive(Clone, Copy, Debug)]
pub enum Place<'s> {
    /// In a file of its own, with this style.
    File(&'s str),
    /// In a file for a paper, with this style and without a heading: its caption is one.
    Paper(&'s str),
    /// In a page, which has the styles and a heading.
    Page,
    /// The same, with lines that the page's script shows and hides.
    Interactive,
}

/// What a picture is called, how large it is, and which part of it has the axes around it.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'p> {
    /// What it shows, for those who hear it.
    pub title: &'p str,
    /// A class of its own; empty where it needs none.
    pub class: &'p str,
    /// Width and height of the whole, in pixels.
    pub size: (f64, f64),
    /// Where the drawing area begins.
    pub left: f64,
    /// Where it ends.
    pub right: f64,
    /// Its upper edge.
    pub top: f64,
    /// Its lower edge.
    pub bottom: f64,
}

/// A place or length in a picture, to a tenth of a pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Px(pub(crate) f64);

/// The same to a hundredth, for what would leave gaps otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fine(pub(crate) f64);

impl fmt::Display for Px {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_short(formatter, format!("{:.1}", self.0))
    }
}

impl fmt::Display for Fine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_short(formatter, format!("{:.2}", self.0))
    }
}

/// A page has thousands of numbers: zeros behind the point say nothing.
fn write_short(formatter: &mut fmt::Formatter<'_>, number: String) -> fmt::Result {
    match number.trim_end_matches('0').trim_end_matches('.') {
        "-0" => formatter.write_str("0"),
        short => formatter.write_str(short),
    }
}

/// An axis: places and labels of its ticks, and what it shows.
pub struct Side<'t> {
    /// Places in pixels, with what stands there.
    pub ticks: Vec<(f64, String)>,
    /// What is measured along it.
    pub title: &'t str,
    /// Lines through the whole field instead of ticks.
    pub has_grid: bool,
}

impl Side<'_> {
    /// How much lower everything below the ticks stands because labels have two lines.
    pub(crate) fn more(&self) -> f64 {
        let has_two = self.ticks.iter().any(|(_, label)| label.contains('\n'));
        if has_two { SECOND_LINE } else { 0.0 }
    }
}

/// From a line of a label to the next.
const SECOND_LINE: f64 = 13.0;

/// What stands before a name in a legend.
pub enum Swatch {
    /// A line of a colour, with the number of earlier lines of this colour.
    Line(usize, usize),
    /// A box with these attributes.
    Box(String),
    /// The mark of a published value.
    Diamond,
    /// The mark of a published bound.
    Bound,
    /// The mark of an interval that leaves the picture.
    Arrow,
}

/// A picture that is being drawn. What has no text in it can be written into it as it is.
pub struct Canvas<'p> {
    svg: String,
    picture: Picture<'p>,
    is_interactive: bool,
}

impl fmt::Write for Canvas<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.svg.write_str(text)
    }
}

impl<'p> Canvas<'p> {
    /// An empty picture.
    pub fn new(picture: Picture<'p>, place: Place<'_>) -> Self {
        let (width, height) = (picture.size.0.round(), picture.size.1.round());
        let title = escape(picture.title);
        let top = match place {
            Place::File(_) => 0.0,
            Place::Paper(_) | Place::Page | Place::Interactive => HEADING_HEIGHT,
        };
        let class = match picture.class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        // The style of the page says so of its figures.
        let alone = match place {
            Place::Interactive => "",
            Place::File(_) | Place::Paper(_) | Place::Page => {
                " xmlns=\"http://www.w3.org/2000/svg\" font-family=\"system-ui,sans-serif\" font-size=\"12\""
            }
        };
        let svg = format!(
            "<svg{alone}{class} viewBox=\"0 {top} {width} {0}\" width=\"{width}\" height=\"{0}\" role=\"img\" aria-label=\"{title}\">\n",
            height - top
        );
        let mut canvas = Self {
            svg,
            picture,
            is_interactive: matches!(place, Place::Interactive),
        };
        if let Place::File(style) | Place::Paper(style) = place {
            let _ = writeln!(
                canvas,
                "<title>{title}</title><style>{style}</style><rect class=\"paper\" y=\"{top}\" width=\"100%\" height=\"100%\"/>"
            );
        }
        if matches!(place, Place::File(_)) {
            canvas.sized_text(HEADING, "ink", "start", Some(15), picture.title);
        }
        canvas
    }

    /// The `<svg>` element.
    pub fn finish(self) -> String {
        self.svg + "</svg>\n"
    }

    /// The axes around the field; what is to the left of it may be labelled in another way.
    pub fn axes(&mut self, below: &Side<'_>, left: Option<&Side<'_>>) {
        let Picture {
            left: from,
            right: to,
            top,
            bottom,
            ..
        } = self.picture;
        let mut grid = String::new();
        let mut edge = String::new();
        if let Some(side) = left {
            for (place, _) in side.ticks.iter().filter(|_| side.has_grid) {
                let _ = write!(grid, "M{} {}H{}", Px(from), Px(*place), Px(to));
            }
            let labels = side.ticks.iter();
            let labels = labels.map(|(place, label)| ((from - 8.0, place + 4.0), label.as_str()));
            self.labels("end", labels);
        }
        for (place, _) in &below.ticks {
            let _ = match below.has_grid {
                true => write!(grid, "M{} {}V{}", Px(*place), Px(top), Px(bottom)),
                false => write!(edge, "M{} {}V{}", Px(*place), Px(bottom), Px(bottom + 5.0)),
            };
        }
        let _ = write!(edge, "M{} {}H{}", Px(from), Px(bottom), Px(to));
        if !grid.is_empty() {
            let _ = writeln!(self, "<path class=\"grid\" d=\"{grid}\"/>");
        }
        let lines = below.ticks.iter().flat_map(|(place, label)| {
            let lines = label.lines().enumerate();
            lines.map(|(line, text)| ((*place, bottom + 19.0 + SECOND_LINE * line as f64), text))
        });
        self.labels("middle", lines);
        let _ = writeln!(self, "<path class=\"edge\" d=\"{edge}\"/>");
        self.text(
            (f64::midpoint(from, to), bottom + 38.0 + below.more()),
            "ink",
            "middle",
            below.title,
        );
        if let Some(side) = left {
            let _ = writeln!(
                self,
                "<text class=\"ink\" transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                Px(f64::midpoint(top, bottom)),
                escape(side.title)
            );
        }
    }

    /// What stands at the ticks of an axis.
    fn labels<'l>(&mut self, anchor: &str, labels: impl Iterator<Item = ((f64, f64), &'l str)>) {
        let _ = write!(self, "<g class=\"soft\" text-anchor=\"{anchor}\">");
        for ((x, y), label) in labels {
            let (x, y) = (Px(x), Px(y));
            let _ = write!(self, "<text x=\"{x}\" y=\"{y}\">{}</text>", escape(label));
        }
        let _ = writeln!(self, "</g>");
    }

    /// Names in lines, the first of them at `top`.
    pub fn legend<'l>(&mut self, entries: impl Iterator<Item = (Swatch, &'l str)>, top: f64) {
        let (swatches, names): (Vec<Swatch>, Vec<&str>) = entries.unzip();
        let places = legend_places(names.iter().copied(), self.picture.size.0);
        for ((swatch, name), (left, line)) in swatches.into_iter().zip(&names).zip(places) {
            let top = top + LEGEND_LINE * line as f64;
            // The page's script makes buttons of them, for the series of their names.
            if self.is_interactive {
                let _ = write!(self, "<g class=\"key\">");
            }
            let _ = match swatch {
                Swatch::Line(class, before) => writeln!(
                    self,
                    "<path class=\"s{class}{}\" stroke-width=\"3\" d=\"M{} {}H{}\"/>",
                    dashes(class, before),
                    Px(left),
                    Px(top - 4.0),
                    Px(left + 20.0)
                ),
                Swatch::Diamond => writeln!(
                    self,
                    "<path class=\"edge\" fill=\"none\" stroke-width=\"2\" d=\"{}\"/>",
                    diamond(left + 10.0, top - 4.0)
                ),
                Swatch::Bound => writeln!(
                    self,
                    "<path class=\"edge\" fill=\"none\" stroke-width=\"2\" d=\"{}\"/>",
                    bound((left + 10.0, top - 7.0), true)
                ),
                Swatch::Arrow => writeln!(
                    self,
                    "<path class=\"soft\" d=\"{}\"/>",
                    arrow((left + 10.0, top - 9.0), true)
                ),
                Swatch::Box(attributes) => writeln!(
                    self,
                    "<rect {attributes} x=\"{}\" y=\"{}\" width=\"20\" height=\"10\"/>",
                    Px(left),
                    Px(top - 9.0)
                ),
            };
            self.text((left + 26.0, top), "ink", "start", name);
            self.end();
        }
    }

    /// Whether the page's script completes what marks say.
    pub(super) fn is_interactive(&self) -> bool {
        self.is_interactive
    }

    /// Begins what belongs to a series, for the page's script …
    pub(crate) fn begin(&mut self, attributes: &str, series: &str) {
        if self.is_interactive {
            let _ = writeln!(self, "<g {attributes} data-s=\"{}\">", escape(series));
        }
    }

    /// … and ends it.
    pub(crate) fn end(&mut self) {
        if self.is_interactive {
            let _ = writeln!(self, "</g>");
        }
    }

    /// Draws a line of this class.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let _ = writeln!(
            self,
            "<path class=\"{class}\" d=\"M{} {}L{} {}\"/>",
            Px(from.0),
            Px(from.1),
            Px(to.0),
            Px(to.1)
        );
    }

    /// Writes a text of this class; `anchor` is as in SVG.
    pub fn text(&mut self, at: (f64, f64), class: &str, anchor: &str, content: &str) {
        self.sized_text(at, class, anchor, None, content);
    }

    /// As [`Canvas::text`], larger or smaller.
    pub(crate) fn sized_text(
        &mut self,
        at: (f64, f64),
        class: &str,
        anchor: &str,
        size: Option<u32>,
        content: &str,
    ) {
        let size = size.map_or(String::new(), |size| format!(" font-size=\"{size}\""));
        let anchor = match anchor {
            "start" => String::new(),
            anchor => format!(" text-anchor=\"{anchor}\""),
        };
        let _ = writeln!(
            self,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\"{anchor}{size}>{}</text>",
            Px(at.0),
            Px(at.1),
            escape(content)
        );
    }

    /// A rectangle with these attributes.
    pub fn rectangle(&mut self, attributes: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let _ = writeln!(
            self,
            "<rect {attributes} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            Px(x),
            Px(y),
            Px(width),
            Px(height)
        );
    }
}

/// The outline of the mark of a published value.
pub(super) fn diamond(x: f64, y: f64) -> String {
    format!(
        "M{0} {2}L{4} {1}L{0} {5}L{3} {1}Z",
        Px(x),
        Px(y),
        Px(y - 6.0),
        Px(x - 6.0),
        Px(x + 6.0),
        Px(y + 6.0)
    )
}

/// The outline of the mark of a published bound: a bar, and a triangle on the side that is allowed.
pub(super) fn bound((x, y): (f64, f64), is_most: bool) -> String {
    format!(
        "M{2} {1}H{3}M{4} {1}L{0} {6}L{5} {1}",
        Px(x),
        Px(y),
        Px(x - 8.0),
        Px(x + 8.0),
        Px(x - 4.0),
        Px(x + 4.0),
        Px(if is_most { y + 7.0 } else { y - 7.0 })
    )
}

/// The outline of the mark of an interval that leaves the picture here, at the top or the bottom.
pub(super) fn arrow((x, y): (f64, f64), is_up: bool) -> String {
    let back = if is_up { y + 8.0 } else { y - 8.0 };
    let (x, y, back, left, right) = (Px(x), Px(y), Px(back), Px(x - 5.0), Px(x + 5.0));
    format!("M{x} {y}L{right} {back}H{left}Z")
}

/// Sans-serif letters of this size are about 6.7 wide on average.
pub fn text_width(text: &str) -> f64 {
    6.7 * text.chars().count() as f64
}

/// Where each name of a legend begins, and in which line.
fn legend_places<'l>(names: impl Iterator<Item = &'l str>, width: f64) -> Vec<(f64, usize)> {
    let (mut left, mut line) = (LEGEND_LEFT, 0);
    names
        .map(|name| {
            let long = 44.0 + text_width(name);
            if left + long > width && left > LEGEND_LEFT {
                left = LEGEND_LEFT;
                line += 1;
            }
            let place = (left, line);
            left += long;
            place
        })
        .collect()
}

/// Height of a legend in a picture of this width.
pub fn legend_height<'l>(names: impl Iterator<Item = &'l str>, width: f64) -> f64 {
    let lines = legend_places(names, width)
        .last()
        .map_or(0, |(_, line)| line + 1);
    LEGEND_LINE * lines as f64
}

/// Text inside elements and attributes.
pub fn escape(text: &str) -> String {
    maud::html! { (printable(text)) }.into_string()
}
