//! The page of readings as one self-contained file in the look of the reports: `readings.html`.

use maud::{Markup, html};

use super::{Mark, Row, SideBySide, columns, marks, short};
use crate::findings::tables::Found;
use crate::findings::{FindingResult, Reading, compact};
use crate::reproduction::Tallies;
use crate::reproduction::cells::{label, published};
use bookahead_report::html::{document, script};

/// What this page has beyond the style of a report: the first column stays in sight while the
/// others scroll.
const STYLE: &str = "\
.cards{grid-template-columns:repeat(auto-fit,minmax(min(100%,280px),1fr))}
.card p{margin:4px 0;font-size:13px}
.card code{overflow-wrap:anywhere}
.held{color:var(--good);font-weight:700}
.missed{color:var(--bad);font-weight:700}
.open{color:var(--soft);font-weight:700}
main h3{margin:18px 0 6px}
.side{width:max-content;min-width:min(100%,640px);border-collapse:separate;border-spacing:0;font-size:13px}
.side th,.side td{padding:3px 7px}
.side td:first-child,.side th:first-child{position:sticky;left:0;z-index:1;background:var(--paper);min-width:24ch;max-width:44ch;overflow-wrap:break-word;white-space:normal}
.side thead th:first-child{background:var(--card)}
.side tbody tr:hover td:first-child{background:var(--mark)}
.side th small{display:block;font-weight:400;color:var(--soft)}
.side td small{display:block;color:var(--soft)}
@media (max-width:600px){.side td:first-child,.side th:first-child{min-width:15ch;max-width:19ch;font-size:12px;padding-left:2px}}
@media print{.side td:first-child,.side th:first-child{position:static}}";

/// Light or dark as the reader's system, or by the button.
pub(in crate::reproduction) const THEME: &str = "\
(() => {
  const root = document.documentElement, dark = matchMedia(\"(prefers-color-scheme: dark)\");
  const theme = (name) => root.setAttribute(\"data-theme\", name);
  theme(dark.matches ? \"dark\" : \"light\");
  dark.addEventListener(\"change\", () => theme(dark.matches ? \"dark\" : \"light\"));
  document.getElementById(\"theme\").addEventListener(\"click\", () =>
    theme(root.getAttribute(\"data-theme\") === \"dark\" ? \"light\" : \"dark\"));
})();";

impl SideBySide<'_> {
    /// The whole file.
    #[must_use]
    pub fn html(&self) -> String {
        let styles = format!("{}\n{STYLE}", bookahead_report::html::STYLE);
        let body = html! {
            body { "\n"
                header { "\n"
                    div.bar {
                        h1 { (self.paper) ": readings side by side" } "\n"
                        button id="theme" type="button" { "Dark mode" }
                    } "\n"
                    p.lead { (self.title) ". Made by " code { (self.command) } "." } "\n"
                    div.cards { "\n" @for reading in &self.readings { (card(reading)) } } "\n"
                    @for paragraph in self.legend() { p.note { (paragraph) } "\n" }
                    nav aria-label="sections" {
                        a href="#counts" { "How many held" } " "
                        @for log in &self.logs {
                            a href={ "#" (log.cards[0].trace) } { (log.cards[0].subject) } " "
                        }
                    } "\n"
                } "\n"
                main { "\n"
                    (self.counts_html())
                    @for log in &self.logs {
                        section id=(log.cards[0].trace) {
                            h2 { (log.cards[0].subject) } "\n"
                            @if log.tables.is_empty() { p { "Not tested." } "\n" }
                            @for (title, rows) in &log.tables { (self.table_html(title, rows)) }
                        } "\n"
                    }
                } "\n"
                (script(THEME))
            }
        };
        document(
            &format!("{}: readings – bookahead", self.paper),
            &styles,
            &body,
        )
    }

    fn counts_html(&self) -> Markup {
        let row = |name: &str, tallies: &[Tallies]| {
            html! {
                tr {
                    td { (name) }
                    @for tallies in tallies {
                        td {
                            (tallies.first.share())
                            @if tallies.judged_twice > 0 {
                                small { "over alignments " (tallies.second.share()) }
                            }
                        }
                    }
                } "\n"
            }
        };
        html! {
            section id="counts" {
                h2 { "How many claims held" } "\n"
                div.scroll {
                    table.side {
                        thead {
                            tr {
                                th scope="col" { "trace" }
                                @for reading in &self.readings { th scope="col" { (reading.name) } }
                            }
                        } "\n"
                        tbody { "\n"
                            @for log in &self.logs {
                                (row(&log.cards[0].subject, &log.cards.iter().map(|card| card.tallies()).collect::<Vec<_>>()))
                            }
                            (row("all", &self.totals()))
                        }
                    }
                }
            } "\n"
        }
    }

    fn table_html(&self, title: &str, rows: &[Row<'_>]) -> Markup {
        html! {
            h3 { (title) } "\n"
            div.scroll {
                table.side {
                    thead {
                        tr {
                            th scope="col" { "claim" }
                            th scope="col" class="n" { "published" }
                            @for (reading, column) in self.readings.iter().zip(columns(rows)) {
                                th scope="col" class="n" {
                                    (reading.name) small { (Tallies::of(column).first.share()) }
                                }
                            }
                        }
                    } "\n"
                    tbody { "\n"
                        @for row in rows {
                            tr {
                                td title=(row[0].finding.statement) { (breakable(label(&row[0].finding))) }
                                td.n { (short(&published(&row[0].finding))) }
                                @for result in row { (cell(result)) }
                            } "\n"
                        }
                    }
                }
            } "\n"
        }
    }
}

fn card(reading: &Reading) -> Markup {
    html! {
        section.card {
            h2 { (reading.name) @if reading.is_default { " " small { "(the default)" } } }
            p { (reading.summary.trim()) }
            @if let Some(settings) = reading.settings() { p { code { (settings) } } }
            p.note { (reading.reason.trim()) }
        } "\n"
    }
}

/// Lines may break behind a stroke.
fn breakable(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('/').enumerate() {
            @if number > 0 { "/" wbr; }
            (part)
        }
    }
}

fn cell(result: &FindingResult) -> Markup {
    html! {
        td.n {
            (short(&result.measured))
            @for Mark { glyph, word, class } in marks(result) {
                " " span class=(class) role="img" aria-label=(word) title=(word) { (glyph) }
            }
            @if let Some(interval) = interval(result) { small { (interval) } }
        }
    }
}

/// The 95 % interval, where there is one.
fn interval(result: &FindingResult) -> Option<String> {
    let Some(Found::Value {
        interval: Some([low, high]),
        ..
    }) = result.found
    else {
        return None;
    };
    Some(format!("{} to {}", compact(low), compact(high)))
}
