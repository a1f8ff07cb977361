//! A page whose drawing zooms.

use maud::{PreEscaped, Render, html};

use crate::html::{document, script};

/// What the page does in the browser.
pub(crate) const SCRIPT: &str = include_str!("../html/gantt.js");

/// A page with a title and a note whose drawing zooms, tells what is under the pointer, and shows
/// all of it or one of its kinds: a class and its name.
pub(crate) fn zooming_page<Class: Render, Name: Render>(
    (title, note): (&str, &str),
    style: &str,
    all: &str,
    kinds: impl Iterator<Item = (Class, Name)>,
    drawing: String,
) -> String {
    let body = html! {
        body { "\n"
            header {
                h1 { (title) }
                p { (note) } "\n"
                p id="tools" {
                    @for (label, zoom) in [("+", "0.5"), ("−", "2"), ("all", "0")] {
                        button data-zoom=(zoom) { (label) }
                    }
                    " "
                    label {
                        "show "
                        select id="kind" {
                            option value="" { (all) }
                            @for (class, name) in kinds { option value=(class) { (name) } }
                        }
                    }
                    " "
                    span { "wheel or + − zooms, dragging or arrows move, 0 shows all" }
                }
            } "\n"
            main { (PreEscaped(drawing)) } "\n"
            div id="tip" role="status" hidden {} "\n"
            (script(SCRIPT))
        }
    };
    document(title, style, &body)
}

/// The style of the page.
pub(crate) const PAGE_STYLE: &str = include_str!("../html/gantt.css");
