//! The page of readings as one self-contained file in the look of the reports: `readings.html`.

use std::fmt::Write as _;

use super::{Mark, Row, SideBySide, columns, marks, short};
use crate::report::findings::tables::Found;
use crate::report::findings::{FindingResult, compact};
use crate::report::reproduction::Tallies;
use crate::report::reproduction::cells::{label, published};
use crate::report::svg::escape;

/// What this page has beyond the style of a report: the first column stays in sight while the others scroll.
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
@media print{.side td:first-child,.side th:first-child{position:static}}
";

/// Light or dark as the reader's system, or by the button.
const SCRIPT: &str = "\
(() => {
  const root = document.documentElement, dark = matchMedia(\"(prefers-color-scheme: dark)\");
  const theme = (name) => root.setAttribute(\"data-theme\", name);
  theme(dark.matches ? \"dark\" : \"light\");
  dark.addEventListener(\"change\", () => theme(dark.matches ? \"dark\" : \"light\"));
  document.getElementById(\"theme\").addEventListener(\"click\", () =>
    theme(root.getAttribute(\"data-theme\") === \"dark\" ? \"light\" : \"dark\"));
})();
";

impl SideBySide<'_> {
    /// The whole file.
    #[must_use]
    pub fn html(&self) -> String {
        let mut page = String::new();
        let paper = escape(self.paper);
        let _ = write!(
            page,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
             <title>{paper}: readings – bookahead</title>\n<style>\n{}\n{STYLE}</style>\n</head>\n<body>\n<header>\n\
             <div class=\"bar\"><h1>{paper}: readings side by side</h1>\
             <button id=\"theme\" type=\"button\" aria-label=\"light or dark\">◐</button></div>\n\
             <p class=\"lead\">{}. Made by <code>{}</code>.</p>\n",
            include_str!("../../html/style.css"),
            escape(self.title),
            escape(&self.command)
        );
        self.readings_html(&mut page);
        for paragraph in self.legend() {
            let _ = writeln!(page, "<p class=\"note\">{}</p>", escape(&paragraph));
        }
        page.push_str("<nav aria-label=\"sections\"><a href=\"#counts\">How many held</a> ");
        for log in &self.logs {
            let card = log.cards[0];
            let _ = write!(
                page,
                "<a href=\"#{}\">{}</a> ",
                escape(&card.trace),
                escape(&card.subject)
            );
        }
        page.push_str("</nav>\n</header>\n<main>\n");
        self.counts_html(&mut page);
        for log in &self.logs {
            let card = log.cards[0];
            let _ = writeln!(
                page,
                "<section id=\"{}\"><h2>{}</h2>",
                escape(&card.trace),
                escape(&card.subject)
            );
            if log.tables.is_empty() {
                page.push_str("<p>Not tested.</p>\n");
            }
            for (title, rows) in &log.tables {
                self.table_html(&mut page, title, rows);
            }
            page.push_str("</section>\n");
        }
        let _ = writeln!(
            page,
            "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>"
        );
        page
    }

    fn readings_html(&self, page: &mut String) {
        page.push_str("<div class=\"cards\">\n");
        for reading in &self.readings {
            let kind = if reading.is_default {
                " <small>(the default)</small>"
            } else {
                ""
            };
            let _ = write!(
                page,
                "<section class=\"card\"><h2>{}{kind}</h2><p>{}</p>",
                escape(&reading.name),
                escape(reading.summary.trim())
            );
            if let Some(settings) = reading.settings() {
                let _ = write!(page, "<p><code>{}</code></p>", escape(&settings));
            }
            let _ = writeln!(
                page,
                "<p class=\"note\">{}</p></section>",
                escape(reading.reason.trim())
            );
        }
        page.push_str("</div>\n");
    }

    fn counts_html(&self, page: &mut String) {
        page.push_str(
            "<section id=\"counts\"><h2>How many claims held</h2>\n<div class=\"scroll\"><table class=\"side\"><thead><tr><th scope=\"col\">trace</th>",
        );
        for reading in &self.readings {
            let _ = write!(page, "<th scope=\"col\">{}</th>", escape(&reading.name));
        }
        page.push_str("</tr></thead>\n<tbody>\n");
        let row = |page: &mut String, name: &str, tallies: &mut dyn Iterator<Item = Tallies>| {
            let _ = write!(page, "<tr><td>{}</td>", escape(name));
            for tallies in tallies {
                let _ = write!(page, "<td>{}", tallies.first.share());
                if tallies.judged_twice > 0 {
                    let _ = write!(
                        page,
                        "<small>over alignments {}</small>",
                        tallies.second.share()
                    );
                }
                page.push_str("</td>");
            }
            page.push_str("</tr>\n");
        };
        for log in &self.logs {
            let mut tallies = log.cards.iter().map(|card| card.tallies());
            row(page, &log.cards[0].subject, &mut tallies);
        }
        row(page, "all", &mut self.totals().into_iter());
        page.push_str("</tbody></table></div></section>\n");
    }

    fn table_html(&self, page: &mut String, title: &str, rows: &[Row<'_>]) {
        let _ = writeln!(
            page,
            "<h3>{}</h3>\n<div class=\"scroll\"><table class=\"side\"><thead><tr><th scope=\"col\">claim</th><th scope=\"col\" class=\"n\">published</th>",
            escape(title)
        );
        for (reading, column) in self.readings.iter().zip(columns(rows)) {
            let _ = write!(
                page,
                "<th scope=\"col\" class=\"n\">{}<small>{}</small></th>",
                escape(&reading.name),
                Tallies::of(column).first.share()
            );
        }
        page.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            let finding = &row[0].finding;
            let _ = write!(
                page,
                "<tr><td title=\"{}\">{}</td><td class=\"n\">{}</td>",
                escape(&finding.statement),
                escape(label(finding)).replace('/', "/<wbr>"),
                escape(&short(&published(finding)))
            );
            for result in row {
                let _ = write!(page, "<td class=\"n\">{}", escape(&short(&result.measured)));
                for Mark { glyph, word, class } in marks(result) {
                    let _ = write!(
                        page,
                        " <span class=\"{class}\" role=\"img\" aria-label=\"{word}\" title=\"{word}\">{glyph}</span>"
                    );
                }
                if let Some(interval) = interval(result) {
                    let _ = write!(page, "<small>{interval}</small>");
                }
                page.push_str("</td>");
            }
            page.push_str("</tr>\n");
        }
        page.push_str("</tbody></table></div>\n");
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
