//! The page of a paper as one self-contained file in the look of the reports: `index.html`.

use maud::{Markup, PreEscaped, html};

use super::{Grid, PaperPage, heat_map, label};
use crate::reproduction::side_by_side::THEME;
use bookahead_report::html::{document, script};
use bookahead_report::svg;

/// What this page has beyond the style of a report.
pub(super) const STYLE: &str = "\
.headline{font-size:21px;font-weight:600;margin:10px 0 4px;max-width:60ch}
.plain td,.plain th{white-space:nowrap}
.plain td:first-child{white-space:normal;min-width:16ch}
.heat text{font-size:12px}
figure .scroll svg.heat{width:auto;max-width:none;min-width:0}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,520px),1fr));gap:18px 24px}
main h3{margin:14px 0 6px}";

impl PaperPage<'_> {
    /// The whole file.
    #[must_use]
    pub fn html(&self) -> String {
        let styles = format!(
            "{}\n{}\n{STYLE}",
            bookahead_report::html::STYLE,
            svg::style("figure")
        );
        let body = html! {
            body { "\n"
                header { "\n"
                    div.bar {
                        h1 { (self.paper()) ": which claims hold" } "\n"
                        button id="theme" type="button" { "Dark mode" }
                    } "\n"
                    p.lead { (self.title()) ". Made by " code { (self.command) } " from the score cards of its traces." } "\n"
                    p.headline { (self.headline()) } "\n"
                    p { (self.rest()) } "\n"
                    @if let Some(text) = self.judgements() { p.note { (text) } "\n" }
                    nav aria-label="sections" {
                        a href="#traces" { "By trace" } " "
                        @for map in &self.maps { a href={ "#" (map.name) } { (map.title) } " " }
                        @for (number, figure) in self.figures.iter().enumerate() {
                            a href={ "#summary-" (number) } { (figure.name()) } " "
                        }
                        @if self.drawings().next().is_some() { a href="#points" { "Measured against published" } " " }
                    } "\n"
                } "\n"
                main { "\n"
                    (self.traces_html())
                    @for map in &self.maps {
                        section id=(map.name) {
                            h2 { (map.title) } "\n"
                            figure { div.scroll { (PreEscaped(map.svg(svg::Place::Page))) } } "\n"
                            p.note { (heat_map::NOTE) " " a href={ (map.name) ".svg" } { "SVG" } } "\n"
                            details { summary { "As a table" } (table(&map.grid(), 1)) } "\n"
                        } "\n"
                    }
                    @for (number, figure) in self.figures.iter().enumerate() {
                        section id={ "summary-" (number) } {
                            h2 { (figure.title()) } "\n"
                            div.panels { "\n"
                                @for panel in &figure.panels {
                                    figure {
                                        figcaption { h3 { (panel.title) } } "\n"
                                        div.scroll { (PreEscaped(panel.svg(svg::Place::Page))) } "\n"
                                        p.note { a href={ (panel.name) ".svg" } { "SVG" } }
                                    } "\n"
                                }
                            } "\n"
                            p.note { (figure.note()) } "\n"
                            details { summary { "As a table" } (table(&figure.grid(), 3)) } "\n"
                        } "\n"
                    }
                    @if self.drawings().next().is_some() {
                        section id="points" {
                            h2 { "Measured against published" } "\n"
                            div.panels { "\n"
                                @for (claim, to) in self.drawings() {
                                    figure {
                                        img src=(to) alt=(claim) loading="lazy"; "\n"
                                        figcaption { (claim) }
                                    } "\n"
                                }
                            } "\n"
                        } "\n"
                    }
                    (self.open_html())
                } "\n"
                (script(THEME))
            }
        };
        document(
            &format!("{}: which claims hold – bookahead", self.paper()),
            &styles,
            &body,
        )
    }

    fn traces_html(&self) -> Markup {
        let grid = self.by_trace();
        html! {
            section id="traces" {
                h2 { "By trace" } "\n"
                div.scroll {
                    table.plain {
                        (head(&grid, 1, Some("files")))
                        tbody { "\n"
                            @for (number, row) in grid.rows.iter().enumerate() {
                                tr {
                                    @for (place, cell) in row.iter().enumerate() {
                                        td class=[(place > 0).then_some("n")] { (cell) }
                                    }
                                    td {
                                        @if let Some(trace) = self.traces.get(number) {
                                            @for (name, to) in &trace.links { a href=(to) { (name) } " " }
                                            @if !trace.is_measured { "not run" }
                                        } @else if let Some(to) = &self.readings {
                                            a href=(to) { "readings side by side" }
                                        }
                                    }
                                } "\n"
                            }
                        }
                    }
                } "\n"
                @if let Some(missing) = self.missing() { p.note { (in_code(&missing)) } "\n" }
                p.note { "Every claim with what was published and measured: " a href="claims.csv" { "claims.csv" } } "\n"
            } "\n"
        }
    }

    fn open_html(&self) -> Markup {
        let open = self.unexplained();
        html! {
            @if !open.is_empty() {
                section id="open" {
                    h2 { "Missed without explanation" } "\n"
                    ul { "\n"
                        @for result in open { li { code { (label(&result.finding)) } ": " (result.finding.statement) } "\n" }
                    }
                } "\n"
            }
        }
    }
}

/// The head of a table whose first columns are names, with a last column that the grid has not.
pub(super) fn head(grid: &Grid, names: usize, last: Option<&str>) -> Markup {
    html! {
        thead {
            tr {
                @for (place, head) in grid.header.iter().enumerate() {
                    th scope="col" class=[(place >= names).then_some("n")] { (head) }
                }
                @if let Some(last) = last { th scope="col" { (last) } }
            }
        } "\n"
    }
}

fn table(grid: &Grid, names: usize) -> Markup {
    html! {
        div.scroll {
            table.plain {
                (head(grid, names, None))
                tbody { "\n"
                    @for row in &grid.rows {
                        tr {
                            @for (place, cell) in row.iter().enumerate() {
                                td class=[(place >= names).then_some("n")] { (cell) }
                            }
                        } "\n"
                    }
                }
            }
        }
    }
}

/// Text between backticks as code.
pub(super) fn in_code(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
