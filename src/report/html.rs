//! The report as one page: a single file without network, that sorts, filters and shows values under the pointer.
//!
//! The figures are those of the SVG files, drawn by the same code; the script adds behaviour and computes nothing. What
//! depends on the machine and the clock stands between the comments [`RUN_BEGINS`] and [`RUN_ENDS`].

use std::fmt::Write as _;

use super::calibration::Calibration;
use super::figure::{Figure, Section};
use super::svg::{self, escape};
use super::table::{Cell, Table};
use crate::store::RunSummary;

/// Before what differs between two runs of the same configuration.
pub const RUN_BEGINS: &str = "<!-- this run begins -->";
/// After it.
pub const RUN_ENDS: &str = "<!-- this run ends -->";

/// Rows of one table in the page; all are in its CSV and Parquet files.
const MOST_ROWS: usize = 2_000;
/// Figures in the page; all are in the folder `plots`.
const MOST_FIGURES: usize = 80;
/// Values of an axis that make a filter.
const MOST_CHOICES: usize = 200;

/// A drawing of a plan in the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSection {
    /// Its heading.
    pub title: String,
    /// The drawing, an `<svg>` element.
    pub svg: String,
    /// The page that zooms, relative to the report's folder.
    pub page: String,
    /// What a reader must know.
    pub note: String,
}

/// Everything that the page shows.
pub(super) struct Page<'p> {
    pub(super) run: &'p RunSummary,
    pub(super) missing: u64,
    /// Its lines are settings, not strategies.
    pub(super) is_study: bool,
    pub(super) best: &'p Table,
    /// Tables of results in their order; those that list points that have no result come first.
    pub(super) tables: &'p [Table],
    pub(super) figures: &'p [Figure],
    pub(super) calibration: Option<&'p Calibration>,
    /// Keys of the axes with the values as tables show them.
    pub(super) axes: Vec<(String, Vec<String>)>,
    pub(super) simulator: Table,
    pub(super) claims: Option<&'p ClaimsSection>,
    pub(super) plans: &'p [PlanSection],
    pub(super) facts: Vec<(String, String)>,
    /// Why some distributions or figures are not there.
    pub(super) remarks: Vec<String>,
}

/// Which findings of a paper held.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimsSection {
    /// The paper.
    pub title: String,
    /// One sentence: so many held, missed, not tested.
    pub tally: String,
    /// How many of them were missed.
    pub missed: usize,
    /// One row a claim.
    pub table: Table,
}

impl Page<'_> {
    /// The whole file.
    pub(super) fn html(&self) -> String {
        let mut page = String::with_capacity(1 << 20);
        let name = escape(&self.run.name);
        let _ = write!(
            page,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
             <title>{name} – bookahead</title>\n<style>\n{}\n{}\n</style>\n</head>\n<body data-run=\"{}\">\n",
            include_str!("html/style.css"),
            svg::style("figure"),
            escape(&super::sql::this_run(&self.run.configuration_hash)),
        );
        self.head(&mut page);
        self.filters(&mut page);
        page.push_str("<main>\n");
        let (troubles, results): (Vec<&Table>, Vec<&Table>) = self
            .tables
            .iter()
            .partition(|table| matches!(table.name.as_str(), "failed" | "missing"));
        for table in troubles {
            section(&mut page, &table.name, &table.title, |page| {
                table_html(page, table)
            });
        }
        if let Some(claims) = self.claims {
            section(&mut page, "claims", "Which findings held", |page| {
                let _ = writeln!(
                    page,
                    "<p>{}</p><p><strong>{}</strong></p>",
                    escape(&claims.title),
                    escape(&claims.tally)
                );
                table_html(page, &claims.table);
            });
        }
        self.sections(&mut page);
        if !self.plans.is_empty() {
            section(&mut page, "plans", "The plan, seen", |page| {
                for plan in self.plans {
                    let _ = writeln!(
                        page,
                        "<figure class=\"plan\"><figcaption><h3>{}</h3></figcaption><div class=\"scroll\">{}</div>\
                         <p class=\"note\">{} <a href=\"{}\">Open it alone, to zoom</a></p></figure>",
                        escape(&plan.title),
                        plan.svg,
                        escape(&plan.note),
                        escape(&plan.page)
                    );
                }
            });
        }
        for table in results {
            section(&mut page, &table.name, &table.title, |page| {
                table_html(page, table)
            });
        }
        let _ = writeln!(page, "{RUN_BEGINS}");
        section(&mut page, "simulator", "Time of the simulator", |page| {
            table_html(page, &self.simulator)
        });
        let _ = writeln!(page, "{RUN_ENDS}");
        section(&mut page, "configuration", "The configuration", |page| {
            let _ = writeln!(
                page,
                "<pre>{}</pre>",
                escape(self.run.configuration.trim_end())
            );
        });
        page.push_str("</main>\n<div id=\"tip\" role=\"status\" hidden></div>\n");
        let _ = writeln!(
            page,
            "<script>\n{}\n</script>\n</body>\n</html>",
            include_str!("html/script.js")
        );
        page
    }

    fn head(&self, page: &mut String) {
        let run = self.run;
        let _ = writeln!(
            page,
            "<header>\n<div class=\"bar\"><h1>{}</h1><button id=\"theme\" type=\"button\" aria-label=\"light or dark\">◐</button></div>",
            escape(&run.name)
        );
        if !run.description.trim().is_empty() {
            let _ = writeln!(
                page,
                "<p class=\"lead\">{}</p>",
                escape(run.description.trim())
            );
        }
        if let Some(banner) = super::write::shortfall(run) {
            let _ = writeln!(
                page,
                "<p class=\"banner\" role=\"alert\">{}</p>",
                escape(&banner)
            );
        }
        page.push_str("<div class=\"cards\">\n<section class=\"card\" id=\"what\"><h2>What was run</h2><dl>\n");
        for (key, value) in &self.facts {
            let _ = writeln!(page, "<dt>{}</dt><dd>{}</dd>", escape(key), escape(value));
        }
        page.push_str("</dl>\n");
        let _ = writeln!(page, "{RUN_BEGINS}");
        let commit = run.program_commit.as_deref().unwrap_or("not recorded");
        let duration = run.ended.map_or_else(
            || "–".to_owned(),
            |ended| seconds((ended - run.started) as f64 / 1e3),
        );
        let host = run
            .machine_host
            .as_deref()
            .map_or(String::new(), |host| format!("{host}, "));
        let _ = writeln!(
            page,
            "<dl><dt>run</dt><dd>{} ({}), begun {}, took {duration}</dd><dt>machine</dt><dd>{}{} cores, {}</dd>\
             <dt>program</dt><dd>bookahead {}, commit {}</dd></dl>",
            run.id.0,
            escape(&run.state),
            super::write::utc(run.started),
            escape(&host),
            run.machine_cores,
            escape(&run.machine_os),
            escape(&run.program_version),
            escape(commit)
        );
        let _ = writeln!(page, "{RUN_ENDS}");
        page.push_str(
            "</section>\n<section class=\"card wide\" id=\"outcome\"><h2>What came out</h2>\n",
        );
        plain_table(page, self.best, 8);
        if self.best.rows.len() > 8 {
            let _ = writeln!(
                page,
                "<p class=\"note\">The first 8 of {} rows; <a href=\"#best\">all of them</a>.</p>",
                self.best.rows.len()
            );
        }
        page.push_str(
            "</section>\n<section class=\"card\" id=\"trust\"><h2>Can I trust it?</h2>\n<ul>\n",
        );
        for (good, sentence) in self.trust() {
            let _ = writeln!(
                page,
                "<li class=\"{}\">{}</li>",
                if good { "good" } else { "bad" },
                escape(&sentence)
            );
        }
        page.push_str("</ul></section>\n</div>\n<nav aria-label=\"sections\">");
        for (id, title) in self.contents() {
            let _ = write!(page, "<a href=\"#{id}\">{}</a> ", escape(&title));
        }
        page.push_str("</nav>\n</header>\n");
    }

    /// What speaks for and against the numbers.
    fn trust(&self) -> Vec<(bool, String)> {
        let run = self.run;
        let mut found = vec![(
            run.points_done == run.points,
            format!(
                "{} of {} points have a result; {} failed, {} were not run",
                run.points_done, run.points, run.points_failed, self.missing
            ),
        )];
        let mut widths: Vec<f64> = self
            .best
            .rows
            .iter()
            .flatten()
            .filter_map(|cell| match cell {
                Cell::Estimate(estimate) => Some((estimate.half_width, estimate.mean)),
                _ => None,
            })
            .filter_map(|(half, mean)| Some(100.0 * half? / mean.abs()))
            .filter(|share| share.is_finite())
            .collect();
        widths.sort_by(f64::total_cmp);
        // Measures of a study may be near 0, and then the widest interval in percent says nothing.
        let shown = if self.is_study {
            widths.get(widths.len() / 2)
        } else {
            widths.last()
        };
        found.push(match shown {
            Some(share) => (
                run.replications >= 5,
                format!(
                    "{} replications; {} ± {} %",
                    run.replications,
                    if self.is_study {
                        "half of the 95 % intervals beside are within"
                    } else {
                        "the widest 95 % interval beside is"
                    },
                    svg::short_number(*share)
                ),
            ),
            None => (
                false,
                "one replication: no intervals, so differences may be chance".to_owned(),
            ),
        });
        found.push((
            true,
            if self.is_study {
                "settings that do not change the workload saw the same jobs and the same requests"
            } else {
                "all strategies saw the same jobs and the same failures"
            }
            .to_owned(),
        ));
        if let Some(calibration) = self.calibration {
            found.extend(calibration.verdicts.iter().cloned());
        }
        if let Some(claims) = self.claims {
            found.push((
                claims.missed == 0,
                format!("published findings: {}", claims.tally),
            ));
        }
        for remark in &self.remarks {
            found.push((true, remark.clone()));
        }
        found
    }

    fn contents(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if self.claims.is_some() {
            found.push(("claims".to_owned(), "Findings".to_owned()));
        }
        for (section, _) in self.by_section() {
            found.push((id_of(section).to_owned(), section.title().to_owned()));
        }
        if !self.plans.is_empty() {
            found.push(("plans".to_owned(), "The plan".to_owned()));
        }
        for table in self.tables {
            found.push((table.name.clone(), table.title.clone()));
        }
        found.push(("simulator".to_owned(), "Simulator".to_owned()));
        found.push(("configuration".to_owned(), "Configuration".to_owned()));
        found
    }

    fn filters(&self, page: &mut String) {
        let verdicts = (
            "verdict".to_owned(),
            ["held", "missed", "not tested"].map(str::to_owned).to_vec(),
        );
        let axes: Vec<_> = self
            .axes
            .iter()
            .chain(self.claims.map(|_| &verdicts))
            .filter(|(_, values)| values.len() > 1 && values.len() <= MOST_CHOICES)
            .collect();
        if axes.is_empty() {
            return;
        }
        page.push_str(
            "<form id=\"filters\" aria-label=\"filter by axis value\"><strong>Show</strong>\n",
        );
        for (key, values) in axes {
            let _ = write!(
                page,
                "<label>{} <select data-axis=\"{}\"><option value=\"\">all</option>",
                escape(super::tables::short(key)),
                escape(key)
            );
            for value in values {
                let _ = write!(page, "<option>{}</option>", escape(value));
            }
            page.push_str("</select></label>\n");
        }
        page.push_str("<button type=\"reset\">all</button><output id=\"shown\"></output></form>\n");
    }

    fn by_section(&self) -> Vec<(Section, Vec<&Figure>)> {
        let mut sections: Vec<(Section, Vec<&Figure>)> = Vec::new();
        let mut figures: Vec<&Figure> = self.figures.iter().collect();
        figures.sort_by_key(|figure| figure.section);
        for figure in figures {
            match sections
                .last_mut()
                .filter(|(section, _)| *section == figure.section)
            {
                Some((_, members)) => members.push(figure),
                None => sections.push((figure.section, vec![figure])),
            }
        }
        sections
    }

    fn sections(&self, page: &mut String) {
        let room = MOST_FIGURES / self.by_section().len().max(1);
        for (kind, figures) in self.by_section() {
            section(page, id_of(kind), kind.title(), |page| {
                page.push_str("<div class=\"figures\">\n");
                for figure in figures.iter().take(room) {
                    figure_html(page, figure, self.is_study);
                }
                page.push_str("</div>\n");
                if figures.len() > room {
                    let _ = writeln!(
                        page,
                        "<p class=\"note\">{} more figures are in the folder <a href=\"plots/\">plots</a>.</p>",
                        figures.len() - room
                    );
                }
                if let (Section::Calibration, Some(calibration)) = (kind, self.calibration) {
                    for table in &calibration.tables {
                        let _ = writeln!(page, "<h3>{}</h3>", escape(&table.title));
                        table_html(page, table);
                    }
                }
            });
        }
    }
}

fn id_of(section: Section) -> &'static str {
    match section {
        Section::Money => "money",
        Section::Jobs => "jobs",
        Section::Reservations => "reservations",
        Section::CoReservations => "co-reservations",
        Section::Fairness => "fairness",
        Section::LostParts => "lost-parts",
        Section::Workflows => "workflows",
        Section::CarriedOut => "carried-out",
        Section::Risk => "risk",
        Section::Messages => "messages",
        Section::Clusters => "clusters",
        Section::OverTime => "over-time",
        Section::Prices => "prices",
        Section::Machine => "machine",
        Section::Waits => "waits",
        Section::Slots => "slots",
        Section::Virtual => "virtual",
        Section::Predictions => "predicted-waits",
        Section::Distributions => "distributions",
        Section::Calibration => "predictions",
        Section::Simulator => "simulator-figures",
    }
}

fn section(page: &mut String, id: &str, title: &str, body: impl FnOnce(&mut String)) {
    let _ = writeln!(
        page,
        "<section id=\"{}\"><h2>{}</h2>",
        escape(id),
        escape(title)
    );
    body(page);
    page.push_str("</section>\n");
}

fn figure_html(page: &mut String, figure: &Figure, is_study: bool) {
    let given: serde_json::Map<String, serde_json::Value> = figure
        .given
        .iter()
        .map(|(key, value)| (key.clone(), value.clone().into()))
        .collect();
    let _ = writeln!(
        page,
        "<figure id=\"figure-{0}\" data-given=\"{1}\" data-x=\"{2}\">\n<figcaption><h3>{3}</h3></figcaption>\n\
         <div class=\"scroll\">{4}</div>\n<p class=\"note\">{5} <a href=\"plots/{0}.svg\">SVG</a> · <a href=\"plots/{0}.csv\">CSV</a></p>",
        escape(&figure.name),
        escape(&serde_json::Value::Object(given).to_string()),
        escape(&figure.x.title),
        escape(&figure.title),
        svg::inline(figure),
        escape(&figure.note)
    );
    sql_html(page, &figure.sql);
    // The script looks for the points behind a mark by its strategy, which the marks of a study do not name.
    if !is_study {
        page.push_str("<p class=\"behind\" hidden></p>\n");
    }
    page.push_str("</figure>\n");
}

fn sql_html(page: &mut String, sql: &str) {
    if !sql.is_empty() {
        let _ = writeln!(
            page,
            "<details><summary>SQL</summary><button type=\"button\" class=\"copy\">copy</button><pre>{}</pre></details>",
            escape(sql)
        );
    }
}

/// A table that sorts and filters.
fn table_html(page: &mut String, table: &Table) {
    if table.rows.is_empty() {
        page.push_str("<p>Nothing to show.</p>\n");
        sql_html(page, &table.sql);
        return;
    }
    let _ = writeln!(
        page,
        "<div class=\"scroll{}\"><table class=\"sorts\" id=\"table-{}\"><thead><tr>",
        if table.rows.len() > 30 { " tall" } else { "" },
        escape(&table.name)
    );
    for (index, column) in table.columns.iter().enumerate() {
        let _ = write!(
            page,
            "<th scope=\"col\"{} data-key=\"{}\"><button type=\"button\">{}</button></th>",
            numeric_class(table, index),
            escape(&column.key),
            escape(&column.title)
        );
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    rows_html(page, table, MOST_ROWS);
    page.push_str("</tbody></table></div>\n");
    if table.rows.len() > MOST_ROWS {
        let _ = writeln!(
            page,
            "<p class=\"note\">The first {MOST_ROWS} of {} rows; all are in <a href=\"tables/{1}.csv\">tables/{1}.csv</a>.</p>",
            table.rows.len(),
            escape(&table.name)
        );
    }
    let _ = writeln!(
        page,
        "<p class=\"note\">{0} <a href=\"tables/{1}.csv\">CSV</a> · <a href=\"tables/{1}.parquet\">Parquet</a></p>",
        escape(&table.note),
        escape(&table.name)
    );
    sql_html(page, &table.sql);
}

fn plain_table(page: &mut String, table: &Table, most: usize) {
    page.push_str("<div class=\"scroll\"><table><thead><tr>");
    for (index, column) in table.columns.iter().enumerate() {
        let _ = write!(
            page,
            "<th scope=\"col\"{}>{}</th>",
            numeric_class(table, index),
            escape(&column.title)
        );
    }
    page.push_str("</tr></thead><tbody>\n");
    rows_html(page, table, most);
    page.push_str("</tbody></table></div>\n");
}

fn numeric_class(table: &Table, column: usize) -> &'static str {
    if table.rows.iter().any(|row| row[column].is_numeric()) {
        " class=\"n\""
    } else {
        ""
    }
}

fn rows_html(page: &mut String, table: &Table, most: usize) {
    for row in table.rows.iter().take(most) {
        page.push_str("<tr>");
        for (cell, column) in row.iter().zip(&table.columns) {
            let value = match cell {
                Cell::Integer(value) => Some(*value as f64),
                Cell::Number(value) => Some(*value),
                Cell::Estimate(estimate) => Some(estimate.mean),
                Cell::Missing | Cell::Undefined | Cell::Text(_) => None,
            };
            match value {
                Some(value) => {
                    let _ = write!(
                        page,
                        "<td class=\"n\" data-v=\"{}\">{}</td>",
                        rounded(value),
                        escape(&cell.text(column.decimals))
                    );
                }
                None => {
                    let _ = write!(page, "<td>{}</td>", escape(&cell.text(column.decimals)));
                }
            }
        }
        page.push_str("</tr>\n");
    }
}

/// Nine significant digits: the last bits may depend on the processor, the page must not.
fn rounded(value: f64) -> String {
    format!("{value:.8e}")
        .parse::<f64>()
        .map_or_else(|_| String::new(), |value| (value + 0.0).to_string())
}

fn seconds(span: f64) -> String {
    match span {
        span if span < 120.0 => format!("{span:.1} s"),
        span if span < 7_200.0 => format!("{:.0} min", span / 60.0),
        span => format!("{:.1} h", span / 3_600.0),
    }
}
