//! Figures in a page: figures of the same quantity in several situations share one place with a
//! choice. Each has its data.

use maud::{Markup, PreEscaped, html};

use super::first_screen::given_json;
use super::{plain, save, sql_html};
use crate::figure::{Figure, Marks};
use crate::svg;
use crate::table::short;
use crate::write::write_figure;

/// Figures of one quantity over one axis, one a situation: one of them is seen at a time, with the
/// scale that fits it.
pub struct Panels<'c> {
    pub(crate) figures: Vec<&'c Figure>,
}

impl<'c> Panels<'c> {
    /// Puts figures together that follow each other and differ in nothing but their situation.
    pub fn of(figures: impl IntoIterator<Item = &'c Figure>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for figure in figures {
            match found
                .last_mut()
                .filter(|known| is_same_but_for_situation(known.figures[0], figure))
            {
                Some(known) => known.figures.push(figure),
                None => found.push(Self {
                    figures: vec![figure],
                }),
            }
        }
        found
    }

    /// The axes that tell the panels apart, with their values in order of appearance.
    fn choices(&self) -> Vec<(&'c str, Vec<&'c str>)> {
        let mut choices: Vec<(&str, Vec<&str>)> = Vec::new();
        for (key, value) in self.figures.iter().flat_map(|figure| &figure.given) {
            match choices.iter_mut().find(|(known, _)| known == key) {
                Some((_, values)) if values.contains(&value.as_str()) => {}
                Some((_, values)) => values.push(value),
                None => choices.push((key, vec![value])),
            }
        }
        choices.retain(|(_, values)| values.len() > 1);
        choices
    }

    /// With `has_points`, a mark says on request which points of the store are behind it.
    pub fn html(&self, has_points: bool) -> Markup {
        html! {
            div.panels[self.figures.len() > 1] { "\n"
                @if self.figures.len() > 1 {
                    form.choose aria-label="situation" { "\n"
                        @for (key, values) in self.choices() {
                            label {
                                (short(key)) " "
                                select data-axis=(key) { @for value in values { option { (value) } } }
                            } "\n"
                        }
                    } "\n"
                }
                @for figure in &self.figures { (figure_html(figure, has_points)) }
            } "\n"
        }
    }
}

fn is_same_but_for_situation(one: &Figure, other: &Figure) -> bool {
    let keys = |figure: &Figure| -> Vec<String> {
        figure.given.iter().map(|(key, _)| key.clone()).collect()
    };
    !one.given.is_empty()
        && one.is_of_quantity_of(other)
        && one.x.kind == other.x.kind
        && keys(one) == keys(other)
}

/// More lines than this have their bands only while the pointer is on them.
const MOST_BANDS: usize = 4;

fn figure_html(figure: &Figure, has_points: bool) -> Markup {
    let mut data = Vec::new();
    // Into memory nothing fails to be written.
    let (told, is_thinned) = as_told(figure);
    let data = write_figure(&told, &mut data)
        .ok()
        .and_then(|()| brief(&data));
    html! {
        figure id={ "figure-" (figure.name) } class=[(figure.series.len() > MOST_BANDS).then_some("many")]
            data-given=(given_json(&figure.given)) data-x=(figure.x.title) { "\n"
            figcaption { h3 { (figure.title) } } "\n"
            (PreEscaped(svg::inline(figure))) "\n"
            p.note { (figure.note) " " (save("svg", None)) } "\n"
            @if let Some(data) = data {
                details {
                    summary { "Data" @if is_thinned { " of the dots" } } (save("csv", None)) pre { (plain(&data)) }
                } "\n"
            }
            (sql_html(&figure.sql))
            @if has_points { p.behind hidden {} "\n" }
        } "\n"
    }
}

/// A figure with those marks of long lines alone that have a dot, and whether others were left out.
fn as_told(figure: &Figure) -> (Figure, bool) {
    let mut told = figure.clone();
    let mut is_thinned = false;
    for series in &mut told.series {
        match &mut series.marks {
            Marks::Steps(steps) => {
                let kept = svg::told_steps(steps);
                is_thinned |= kept.len() < steps.len();
                *steps = kept;
            }
            Marks::Curve(marks) => {
                let kept = svg::told_marks(marks);
                is_thinned |= kept.len() < marks.len();
                *marks = kept;
            }
            _ => {}
        }
    }
    (told, is_thinned)
}

/// Digits of values in the data of a page: one more than their marks say.
const DATA_DIGITS: usize = 5;

/// The data of a figure as a page shows them: without columns that are empty, and rounded. The file
/// beside the page has all digits.
fn brief(data: &[u8]) -> Option<String> {
    let mut reader = csv::Reader::from_reader(data);
    let heads = reader.headers().ok()?.clone();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().ok()?;
    let used: Vec<usize> = (0..heads.len())
        .filter(|column| rows.iter().any(|row| !row[*column].is_empty()))
        .collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record(used.iter().map(|column| &heads[*column]))
        .ok()?;
    for row in &rows {
        let fields = used.iter().map(|column| match row[*column].parse::<f64>() {
            Ok(value) if value.is_finite() && heads[*column] == *"x" => {
                svg::rounded(value, svg::PAGE_DIGITS)
            }
            Ok(value) if value.is_finite() => svg::rounded(value, DATA_DIGITS),
            _ => row[*column].to_owned(),
        });
        writer.write_record(fields).ok()?;
    }
    String::from_utf8(writer.into_inner().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn data_in_a_page_are_rounded_and_without_empty_columns() {
        let file = "series,x,mean,low,q05\n\"a, b\",2.5,1234567.891,,\nc,x,0.1,3,\n";
        let shown = brief(file.as_bytes()).expect("it is CSV");
        assert_eq!(
            shown,
            "series,x,mean,low\n\"a, b\",2.5,1234600,\nc,x,0.1,3\n"
        );
    }
}
