//! Figures as PDF, made of their SVG: one page as large as the figure.
//!
//! It reads what figures are drawn with and no more: rectangles, lines, paths of straight pieces,
//! polygons, circles, texts, and classes that say colours. Anything else is an error, so that
//! nothing of a figure is missing unseen.

mod letters;
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use pdf_writer::{Content, Name, Pdf, Rect, Ref, Str, TextStr};
use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::Event;

use letters::{Face, Run, runs};
use reading::{Attributes, colour_of, element, number, numbers, parsed, unknown, until_letter};

/// Points of a pixel, of which an inch has 96.
const POINTS: f32 = 0.75;
/// How far the handles of a quarter of a circle are from its ends, in radii.
const HANDLE: f32 = 0.552_285;
/// From there on, sharp corners of lines are cut off in SVG.
const MITER_LIMIT: f32 = 4.0;

type Point = (f32, f32);

/// The page of a drawing; the same bytes whenever it is asked for.
pub(crate) fn pdf(svg: &str) -> io::Result<Vec<u8>> {
    let mut page = Page::empty();
    let mut reader = Reader::from_str(svg);
    // A text is complete where its element ends.
    let mut open: Vec<(String, Attributes)> = Vec::new();
    let mut text = String::new();
    loop {
        match reader.read_event().map_err(io::Error::other)? {
            Event::Start(start) => {
                let (name, attributes) = element(&start)?;
                if name == "svg" {
                    page.begin(&attributes)?;
                }
                text.clear();
                open.push((name, attributes));
            }
            Event::Empty(start) => {
                let (name, attributes) = element(&start)?;
                page.shape(&name, &within(&open, attributes))?;
            }
            Event::Text(piece) => text.push_str(&piece.xml_content(XmlVersion::Implicit1_0)),
            Event::GeneralRef(reference) => {
                let letter = reference.resolve_char_ref().map_err(io::Error::other)?;
                let named = || quick_xml::escape::resolve_predefined_entity(&reference);
                match letter {
                    Some(letter) => text.push(letter),
                    None => text.push_str(named().ok_or_else(|| unknown("a reference"))?),
                }
            }
            Event::End(_) => match open.pop() {
                Some((name, attributes)) => page.end(&name, &within(&open, attributes), &text)?,
                None => return Err(unknown("an end without a beginning")),
            },
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(page.finish())
}

/// Attributes with those of the groups around them.
fn within(open: &[(String, Attributes)], attributes: Attributes) -> Attributes {
    let groups = open.iter().filter(|(name, _)| name == "g");
    let mut all: Attributes = groups.flat_map(|(_, group)| group.clone()).collect();
    all.extend(attributes);
    all
}

/// A page that is being drawn.
struct Page {
    content: Content,
    title: String,
    /// What the classes set.
    rules: BTreeMap<String, Attributes>,
    size: Point,
    letter_size: f32,
    /// In hundredths.
    opacities: BTreeSet<u8>,
}

impl Page {
    fn empty() -> Self {
        Self {
            content: Content::new(),
            title: String::new(),
            rules: BTreeMap::new(),
            size: (0.0, 0.0),
            letter_size: 0.0,
            opacities: BTreeSet::new(),
        }
    }

    /// The coordinates of SVG, which go down.
    fn begin(&mut self, attributes: &Attributes) -> io::Result<()> {
        let view = attributes.get("viewBox").map_or("", String::as_str);
        let [left, top, width, height] = numbers(view)?[..] else {
            return Err(unknown("no size"));
        };
        self.size = (width, height);
        self.letter_size = number(attributes, "font-size")?;
        let down = POINTS * (top + height);
        self.content
            .transform([POINTS, 0.0, 0.0, -POINTS, -POINTS * left, down])
            .set_miter_limit(MITER_LIMIT);
        Ok(())
    }

    /// At the end of an element that held text or others.
    fn end(&mut self, name: &str, attributes: &Attributes, text: &str) -> io::Result<()> {
        match name {
            "svg" | "g" => Ok(()),
            "title" => {
                text.clone_into(&mut self.title);
                Ok(())
            }
            "style" => self.style(text),
            "text" => self.text(attributes, text),
            _ => self.shape(name, attributes),
        }
    }

    /// Rules of one class each: `.grid{stroke:#d8dee4}`.
    fn style(&mut self, text: &str) -> io::Result<()> {
        for rule in text
            .split('}')
            .map(str::trim)
            .filter(|rule| !rule.is_empty())
        {
            let Some((class, declarations)) =
                rule.strip_prefix('.').and_then(|rule| rule.split_once('{'))
            else {
                return Err(unknown(&format!("the rule `{rule}`")));
            };
            let declarations = declarations
                .split(';')
                .filter_map(|one| one.split_once(':'));
            let declarations =
                declarations.map(|(name, value)| (name.to_owned(), value.to_owned()));
            self.rules
                .entry(class.to_owned())
                .or_default()
                .extend(declarations);
        }
        Ok(())
    }

    /// The attributes with what their classes set, which goes first.
    fn styled(&self, attributes: &Attributes) -> Attributes {
        let mut all = attributes.clone();
        let classes = attributes.get("class").map_or("", String::as_str);
        for rule in classes.split(' ').filter_map(|class| self.rules.get(class)) {
            all.extend(rule.clone());
        }
        all
    }

    fn shape(&mut self, name: &str, attributes: &Attributes) -> io::Result<()> {
        let attributes = self.styled(attributes);
        let at = |name: &str| number(&attributes, name);
        let text = |name: &str| attributes.get(name).map_or("", String::as_str);
        let fill = match (attributes.get("fill"), name) {
            (_, "line") => None,
            (Some(colour), _) => colour_of(colour)?,
            (None, _) => Some([0.0; 3]),
        };
        let stroke = attributes
            .get("stroke")
            .map_or(Ok(None), |colour| colour_of(colour))?;
        if fill.is_none() && stroke.is_none() {
            return Ok(());
        }
        self.content.save_state();
        if let Some([red, green, blue]) = fill {
            self.content.set_fill_rgb(red, green, blue);
        }
        if let Some([red, green, blue]) = stroke {
            let width = attributes
                .get("stroke-width")
                .map_or(Ok(1.0), |width| parsed(width))?;
            self.content
                .set_stroke_rgb(red, green, blue)
                .set_line_width(width);
            if let Some(dashes) = attributes.get("stroke-dasharray") {
                self.content.set_dash_pattern(numbers(dashes)?, 0.0);
            }
        }
        for name in ["fill-opacity", "stroke-opacity"] {
            if attributes.contains_key(name) {
                let hundredths = (100.0 * at(name)?).round() as u8;
                self.opacities.insert(hundredths);
                let name = opacity_name(hundredths);
                self.content.set_parameters(Name(name.as_bytes()));
            }
        }
        match name {
            "rect" => {
                let all = |name: &str, whole: f32| match text(name) {
                    "100%" => Ok(whole),
                    size => parsed(size),
                };
                let (width, height) = (all("width", self.size.0)?, all("height", self.size.1)?);
                self.content.rect(at("x")?, at("y")?, width, height);
            }
            "line" => {
                self.content
                    .move_to(at("x1")?, at("y1")?)
                    .line_to(at("x2")?, at("y2")?);
            }
            "polyline" => self.corners(text("points"), false)?,
            "polygon" => self.corners(text("points"), true)?,
            "circle" => self.circle((at("cx")?, at("cy")?), at("r")?),
            "path" => self.path(text("d"))?,
            name => return Err(unknown(&format!("`{name}`"))),
        }
        match (fill, stroke) {
            (Some(_), Some(_)) => self.content.fill_nonzero_and_stroke(),
            (Some(_), None) => self.content.fill_nonzero(),
            (None, _) => self.content.stroke(),
        };
        self.content.restore_state();
        Ok(())
    }

    fn corners(&mut self, points: &str, is_closed: bool) -> io::Result<()> {
        for (place, point) in numbers(points)?.chunks_exact(2).enumerate() {
            match place {
                0 => self.content.move_to(point[0], point[1]),
                _ => self.content.line_to(point[0], point[1]),
            };
        }
        if is_closed && !points.is_empty() {
            self.content.close_path();
        }
        Ok(())
    }

    fn circle(&mut self, (x, y): Point, radius: f32) {
        let handle = HANDLE * radius;
        self.content.move_to(x + radius, y);
        // The directions of the four ends, each a quarter further.
        for (from, to) in [
            ((1.0, 0.0), (0.0, 1.0)),
            ((0.0, 1.0), (-1.0, 0.0)),
            ((-1.0, 0.0), (0.0, -1.0)),
            ((0.0, -1.0), (1.0, 0.0)),
        ] {
            let beside = |end: Point, side: Point| {
                (
                    x + radius * end.0 + handle * side.0,
                    y + radius * end.1 + handle * side.1,
                )
            };
            let ((x1, y1), (x2, y2)) = (beside(from, to), beside(to, from));
            let (x3, y3) = (x + radius * to.0, y + radius * to.1);
            self.content.cubic_to(x1, y1, x2, y2, x3, y3);
        }
        self.content.close_path();
    }

    /// Straight pieces between places from the upper left corner: `M`, `L`, `H`, `V` and `Z`.
    fn path(&mut self, outline: &str) -> io::Result<()> {
        let (mut x, mut y) = (0.0, 0.0);
        let mut letters = outline.chars().peekable();
        while let Some(command) = letters.next() {
            let places = numbers(&until_letter(&mut letters))?;
            match (command, &places[..]) {
                ('M', &[right, down]) => {
                    (x, y) = (right, down);
                    self.content.move_to(x, y);
                    continue;
                }
                ('L', &[right, down]) => (x, y) = (right, down),
                ('H', &[right]) => x = right,
                ('V', &[down]) => y = down,
                ('Z', []) => {
                    self.content.close_path();
                    continue;
                }
                _ => return Err(unknown(&format!("the path `{outline}`"))),
            }
            self.content.line_to(x, y);
        }
        Ok(())
    }

    fn text(&mut self, attributes: &Attributes, text: &str) -> io::Result<()> {
        let attributes = self.styled(attributes);
        let size = match attributes.get("font-size") {
            Some(size) => parsed(size)?,
            None => self.letter_size,
        };
        let runs = runs(text);
        let width: f32 = size * runs.iter().map(Run::width).sum::<f32>();
        let before = match attributes
            .get("text-anchor")
            .map_or("start", String::as_str)
        {
            "middle" => width / 2.0,
            "end" => width,
            _ => 0.0,
        };
        let colour = attributes
            .get("fill")
            .map_or(Ok(None), |colour| colour_of(colour))?;
        let [red, green, blue] = colour.unwrap_or_default();
        self.content.save_state().set_fill_rgb(red, green, blue);
        if let Some(transform) = attributes.get("transform") {
            let place = transform.strip_prefix("translate(");
            let place = place.and_then(|place| place.strip_suffix(") rotate(-90)"));
            let place = place.map_or(Ok(Vec::new()), numbers)?;
            let [right, down] = place[..] else {
                return Err(unknown(&format!("`{transform}`")));
            };
            self.content.transform([0.0, -1.0, 1.0, 0.0, right, down]);
        }
        let (x, y) = (
            number(&attributes, "x")? - before,
            number(&attributes, "y")?,
        );
        self.content.begin_text();
        self.content
            .set_text_matrix([1.0, 0.0, 0.0, -1.0, tenth(x), y]);
        for run in &runs {
            let (share, rise) = run.level.size_and_rise();
            self.content
                .set_font(Name(run.face.key()), tenth(size * share))
                .set_rise(tenth(size * rise))
                .show(Str(&run.codes));
        }
        self.content.end_text().restore_state();
        Ok(())
    }

    fn finish(self) -> Vec<u8> {
        let mut references = (1..).map(Ref::new);
        let mut next = || references.next().unwrap_or(Ref::new(i32::MAX));
        let (catalog, pages, page, info, content) = (next(), next(), next(), next(), next());
        let fonts = Face::ALL.map(|face| (face, next()));
        let mut pdf = Pdf::new();
        // What programs of LaTeX include without a warning.
        pdf.set_version(1, 4);
        pdf.catalog(catalog).pages(pages);
        pdf.document_info(info).title(TextStr(&self.title));
        pdf.pages(pages).kids([page]).count(1);
        for (face, reference) in fonts {
            let mut font = pdf.type1_font(reference);
            font.base_font(Name(face.font_name()));
            if face == Face::Latin {
                font.encoding_predefined(Name(b"WinAnsiEncoding"));
            }
        }
        let mut leaf = pdf.page(page);
        let (width, height) = self.size;
        leaf.media_box(Rect::new(0.0, 0.0, POINTS * width, POINTS * height));
        leaf.parent(pages).contents(content);
        let mut resources = leaf.resources();
        let mut named = resources.fonts();
        for (face, reference) in fonts {
            named.pair(Name(face.key()), reference);
        }
        drop(named);
        let mut states = resources.ext_g_states();
        for hundredths in &self.opacities {
            let opacity = f32::from(*hundredths) / 100.0;
            let name = opacity_name(*hundredths);
            states
                .insert(Name(name.as_bytes()))
                .start::<pdf_writer::writers::ExtGraphicsState<'_>>()
                .non_stroking_alpha(opacity)
                .stroking_alpha(opacity);
        }
        drop(states);
        drop(resources);
        drop(leaf);
        pdf.stream(content, &self.content.finish());
        pdf.finish()
    }
}

fn opacity_name(hundredths: u8) -> String {
    format!("A{hundredths}")
}

/// Hundredths of a pixel are not seen.
fn tenth(place: f32) -> f32 {
    (place * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(of: &str) -> String {
        format!(
            "<svg viewBox=\"0 28 100 60\" font-size=\"12\"><title>a &amp; b</title>\
             <style>.f0{{fill:#ff0000}}.s0{{stroke:#0000ff;fill:none}}</style>{of}</svg>"
        )
    }

    fn drawn(of: &str) -> String {
        let page = pdf(&drawing(of)).expect("a page");
        String::from_utf8_lossy(&page).into_owned()
    }

    #[test]
    fn a_page_is_as_large_as_the_figure_on_paper_and_has_its_title_and_no_date() {
        let page = drawn("");
        // 100 and 60 pixels are 75 and 45 points.
        assert!(page.contains("/MediaBox [0 0 75 45]"), "{page}");
        assert!(page.contains("/Title (a & b)") && !page.contains("Date"));
        assert!(page.starts_with("%PDF-1.4"));
        assert_eq!(page, drawn(""));
    }

    #[test]
    fn shapes_have_the_colours_of_their_classes_and_their_own_opacity() {
        let page = drawn("<polygon class=\"f0 m\" fill-opacity=\"0.16\" points=\"1.5,2 3,4\"/>");
        assert!(
            page.contains("1 0 0 rg\n/A16 gs\n1.5 2 m\n3 4 l\nh\nf\n"),
            "{page}"
        );
        assert!(page.contains("/ca 0.16"));
        let page = drawn("<path class=\"s0\" stroke-dasharray=\"7 3\" d=\"M1 2H5V6L7 8Z\"/>");
        let line = "0 0 1 RG\n1 w\n[7 3] 0 d\n1 2 m\n5 2 l\n5 6 l\n7 8 l\nh\nS\n";
        assert!(page.contains(line), "{page}");
    }

    /// 10⁶ is 1.4734 of its size wide (see `letters`), which is 17.7 of 12.
    #[test]
    fn texts_stand_where_their_anchor_says_and_have_greek_letters() {
        let page = drawn("<text x=\"50\" y=\"40\" text-anchor=\"end\">10⁶</text>");
        let text = "1 0 0 -1 32.3 40 Tm\n/F1 12 Tf\n0 Ts\n(10) Tj\n/F1 7.8";
        assert!(page.contains(text), "{page}");
        let page = drawn("<g class=\"f0\"><text x=\"5\" y=\"40\">ρ &lt; 1</text></g>");
        assert!(page.contains("1 0 0 rg\nBT\n1 0 0 -1 5 40 Tm\n"), "{page}");
        assert!(
            page.contains("/F2 12 Tf\n0 Ts\n(r) Tj\n/F1 12 Tf\n0 Ts\n( < 1) Tj"),
            "{page}"
        );
    }

    #[test]
    fn what_no_page_is_made_of_is_refused_and_not_left_out() {
        for of in [
            "<ellipse class=\"f0\" rx=\"1\"/>",
            "<path d=\"M1 2C3 4 5 6 7 8\"/>",
            "<rect width=\"NaN\" height=\"1\"/>",
            "<text transform=\"rotate(3)\">a</text>",
        ] {
            let error = pdf(&drawing(of)).expect_err(of).to_string();
            assert!(error.starts_with("the drawing has "), "{error}");
        }
    }
}
