//! Figures in a page: those that show the same in several situations as one place with a choice, each with its data.

use maud::{Markup, PreEscaped, html};

use super::{save, sql_html};
use crate::report::figure::Figure;
use crate::report::svg;
use crate::report::tables::short;
use crate::report::write::write_figure;

/// Figures of one quantity over one axis, one a situation: one of them is seen at a time, all have the same scales.
pub(in crate::report) struct Panels<'c> {
    pub(in crate::report) figures: Vec<&'c Figure>,
}

impl<'c> Panels<'c> {
    /// Puts figures together that follow each other and differ in nothing but their situation.
    pub(in crate::report) fn of(figures: impl IntoIterator<Item = &'c Figure>) -> Vec<Self> {
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
    pub(in crate::report) fn html(&self, has_points: bool) -> Markup {
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
                @for figure in &self.figures { (figure_html(figure, &self.figures, has_points)) }
            } "\n"
        }
    }
}

fn is_same_but_for_situation(one: &Figure, other: &Figure) -> bool {
    let keys = |figure: &Figure| -> Vec<String> {
        figure.given.iter().map(|(key, _)| key.clone()).collect()
    };
    let x = |figure: &Figure| (figure.x.title.clone(), figure.x.kind.clone());
    !one.given.is_empty()
        && one.section == other.section
        && one.y == other.y
        && x(one) == x(other)
        && keys(one) == keys(other)
}

/// More lines than this have their bands only while the pointer is on them.
const MOST_BANDS: usize = 4;

fn figure_html(figure: &Figure, panels: &[&Figure], has_points: bool) -> Markup {
    let given: serde_json::Map<String, serde_json::Value> = figure
        .given
        .iter()
        .map(|(key, value)| (key.clone(), value.clone().into()))
        .collect();
    let mut data = Vec::new();
    // Into memory nothing fails to be written.
    let is_written = write_figure(figure, &mut data).is_ok();
    html! {
        figure id={ "figure-" (figure.name) } class=[(figure.series.len() > MOST_BANDS).then_some("many")]
            data-given=(serde_json::Value::Object(given)) data-x=(figure.x.title) { "\n"
            figcaption { h3 { (figure.title) } } "\n"
            (PreEscaped(svg::inline(figure, panels))) "\n"
            p.note { (figure.note) " " (save("svg", &figure.name)) } "\n"
            @if is_written {
                details {
                    summary { "Data" } (save("csv", &figure.name)) pre { (String::from_utf8_lossy(&data)) }
                } "\n"
            }
            (sql_html(&figure.sql))
            @if has_points { p.behind hidden {} "\n" }
        } "\n"
    }
}
