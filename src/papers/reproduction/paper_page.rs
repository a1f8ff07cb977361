//! The page of a paper: the number of its claims that hold, in all, by table and by trace, its
//! summary figures, and links to the score cards. `index.html`, `index.md`, `claims.csv` and
//! drawings as SVG.
//!
//! Like a score card it computes nothing about the simulation: it arranges score cards, some of
//! which earlier commands made ([`recorded`](super::recorded)).

mod heat_map;
mod html;
mod papers;
mod summary;

use super::cells::{label, line, markdown_table, published, title};
use super::judgements::two_judgements;
use super::standing::Standing;
use super::{FindingResult, ScoreCard, title_order};
use crate::findings::Verdict;
use crate::findings::tables::Found;
use bookahead_lab::study::Studies;
use bookahead_report::format::inline::{self, sentence};
use bookahead_report::svg;
use bookahead_report::table::{Cell, Column, Table};
use bookahead_report::{Csv, TableFormat};
use heat_map::HeatMap;
pub use papers::{PaperInBrief, PapersPage};
use summary::Summary;
pub use summary::{Dimension, SummaryFigure};

/// One trace on the page of its paper.
#[derive(Clone, Debug)]
pub struct TraceOnPage {
    /// What was measured; where nothing was, every finding is not tested.
    pub card: ScoreCard,
    /// Whether there is a score card of it.
    pub is_measured: bool,
    /// Its card and reports: what they are called, and where they are, relative to the page.
    pub links: Vec<(String, String)>,
    /// Drawings of its findings: what is claimed, and where they are, relative to the page.
    pub drawings: Vec<(String, String)>,
}

/// The page of a paper.
#[derive(Debug)]
pub struct PaperPage<'p> {
    traces: &'p [TraceOnPage],
    figures: Vec<Summary<'p>>,
    maps: Vec<HeatMap>,
    command: String,
    /// The page that shows readings side by side, where there is one.
    readings: Option<String>,
}

/// A table of text, for a page and for Markdown.
#[derive(Debug, Default, PartialEq)]
struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    fn new(header: &[&str]) -> Self {
        Self {
            header: header.iter().map(|head| (*head).to_owned()).collect(),
            rows: Vec::new(),
        }
    }
}

impl Grid {
    /// One row for each name, and one for all of them.
    fn of_standings<'n>(
        head: &'n str,
        rows: impl Iterator<Item = (&'n str, Standing)>,
        all: Standing,
    ) -> Self {
        let twice = all.is_judged_twice();
        let heads = Standing::heads(twice);
        let row = |(name, standing): (&str, Standing)| {
            let mut row = vec![name.to_owned()];
            row.extend(standing.cells(twice));
            row
        };
        Self {
            header: [vec![head], heads]
                .concat()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            rows: rows.chain([("all", all)]).map(row).collect(),
        }
    }
}

impl<'p> PaperPage<'p> {
    /// Arranges the traces of a paper; `command` makes all of them, `readings` is the page of its
    /// readings side by side; strategies have the colours of their places among `studies`. `None`
    /// where it has no trace.
    #[must_use]
    pub fn of(
        studies: Studies,
        traces: &'p [TraceOnPage],
        figures: &'p [SummaryFigure],
        command: String,
        readings: Option<String>,
    ) -> Option<Self> {
        traces.first()?;
        let cards: Vec<&ScoreCard> = traces.iter().map(|trace| &trace.card).collect();
        Some(Self {
            figures: figures
                .iter()
                .map(|figure| Summary::of(figure, &cards, studies))
                .collect(),
            maps: heat_map::of(&cards),
            traces,
            command,
            readings,
        })
    }

    /// Every file of the page by its name.
    ///
    /// # Errors
    ///
    /// When a table cannot be written, which does not happen in memory.
    pub fn files(&self) -> std::io::Result<Vec<(String, String)>> {
        let mut claims = Vec::new();
        Csv.write(&self.claims(), &mut claims)?;
        let text = |bytes| String::from_utf8(bytes).map_err(std::io::Error::other);
        let mut files = vec![
            ("index.html".to_owned(), self.html()),
            ("index.md".to_owned(), self.markdown()),
            ("claims.csv".to_owned(), text(claims)?),
        ];
        let style = svg::style("");
        let file = svg::Place::File(&style);
        for map in &self.maps {
            files.push((format!("{}.svg", map.name), map.svg(file)));
        }
        for panel in self.panels() {
            files.push((format!("{}.svg", panel.name), panel.svg(file)));
        }
        Ok(files)
    }

    fn panels(&self) -> impl Iterator<Item = &summary::Panel> {
        self.figures.iter().flat_map(|figure| &figure.panels)
    }

    fn cards(&self) -> impl Iterator<Item = &'p ScoreCard> {
        self.traces.iter().map(|trace| &trace.card)
    }

    fn results(&self) -> impl Iterator<Item = (&'p ScoreCard, &'p FindingResult)> {
        self.cards()
            .flat_map(|card| card.results.iter().map(move |result| (card, result)))
    }

    fn paper(&self) -> &'p str {
        &self.traces[0].card.paper
    }

    fn title(&self) -> &'p str {
        self.traces[0].card.title.trim_end_matches('.')
    }

    /// What a page over several papers says of this one.
    #[must_use]
    pub fn in_brief(&self) -> PaperInBrief {
        PaperInBrief {
            name: self.paper().to_owned(),
            title: self.title().to_owned(),
            standing: self.standing(),
            not_run: self
                .traces
                .iter()
                .filter(|trace| !trace.is_measured)
                .count(),
        }
    }

    /// How many claims hold, in one sentence.
    fn headline(&self) -> String {
        self.standing().headline()
    }

    fn standing(&self) -> Standing {
        Standing::of(self.cards())
    }

    /// The other claims: misses with and without explanation, and claims that were not tested.
    fn rest(&self) -> String {
        let standing = self.standing();
        let all = standing.tallies.first;
        let mut text = format!(
            "{} missed: {} explained on the score cards, {} without explanation.",
            all.missed,
            standing.explained,
            standing.unexplained()
        );
        if all.not_tested > 0 {
            let held_out = self
                .results()
                .filter(|(_, result)| result.finding.held_out)
                .count();
            text.push_str(&format!(" {} not tested", all.not_tested));
            if held_out > 0 {
                text.push_str(&format!(
                    ", {held_out} of them because their published values are held out for independent validation"
                ));
            }
            text.push('.');
        }
        text
    }

    /// The drawings of all traces.
    fn drawings(&self) -> impl Iterator<Item = &'p (String, String)> {
        self.traces.iter().flat_map(|trace| &trace.drawings)
    }

    /// The misses that nothing explains.
    fn unexplained(&self) -> Vec<&'p FindingResult> {
        let is_open = |(card, result): &(&ScoreCard, &FindingResult)| {
            matches!(result.verdict, Verdict::Missed(_)) && card.why(result).is_none()
        };
        self.results()
            .filter(is_open)
            .map(|(_, result)| result)
            .collect()
    }

    /// Traces without a score card, and how to get one.
    fn missing(&self) -> Option<String> {
        let missing: Vec<String> = self
            .traces
            .iter()
            .filter(|trace| !trace.is_measured)
            .map(|trace| format!("{} (`{}` makes it)", trace.card.subject, trace.card.command))
            .collect();
        (!missing.is_empty()).then(|| {
            format!(
                "There is no score-card.json of {}; claims about it count as not tested.",
                missing.join(", ")
            )
        })
    }

    /// How the claims were judged twice, where they were.
    fn judgements(&self) -> Option<String> {
        let cards: Vec<&ScoreCard> = self.cards().collect();
        two_judgements(&cards, "the tolerances on the score cards")
    }

    /// One row for each trace, and one for all: claims held by both judgements, misses by kind, and
    /// claims not tested.
    fn by_trace(&self) -> Grid {
        let all = self.standing();
        let traces = self
            .cards()
            .map(|card| (&*card.subject, Standing::of([card])));
        Grid::of_standings("trace", traces, all)
    }

    /// Every claim with what was measured and both verdicts: `claims.csv`.
    fn claims(&self) -> Table {
        let text = |text: &str| Cell::Text(text.to_owned());
        let number = |value: Option<f64>| value.map_or(Cell::Missing, Cell::Number);
        let row = |(card, result): (&ScoreCard, &FindingResult)| {
            let (measured, [low, high], n) = match &result.found {
                Some(Found::Value {
                    value,
                    interval,
                    batteries,
                }) => (
                    Cell::Number(*value),
                    interval.map_or([None; 2], |ends| ends.map(Some)),
                    Cell::Integer(i64::try_from(*batteries).unwrap_or(i64::MAX)),
                ),
                _ => (text(&result.measured), [None; 2], Cell::Missing),
            };
            let why = card.why(result).map_or("", |known| known.name());
            vec![
                text(&card.trace),
                text(&result.finding.id),
                text(&title(&result.finding)),
                text(&published(&result.finding)),
                measured,
                number(low),
                number(high),
                n,
                text(result.verdict.word()),
                text(result.second_verdict().word()),
                text(why),
            ]
        };
        let columns = [
            "trace",
            "claim",
            "where",
            "published",
            "measured",
            "low",
            "high",
            "replications",
            "verdict",
            "second_verdict",
            "explanation",
        ];
        Table {
            name: "claims".to_owned(),
            title: "Every claim".to_owned(),
            columns: columns.map(|key| Column::plain(key, key)).to_vec(),
            rows: self.results().map(row).collect(),
            note: String::new(),
            sql: String::new(),
        }
    }

    /// The page as Markdown: `index.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut page = format!(
            "<!-- made by: {} -->\n\n# {}: which claims hold\n\n{}. Made by {} from the score cards of its traces.\n\n**{}** {}\n\n",
            inline::comment(&self.command),
            sentence(self.paper()),
            sentence(self.title()),
            inline::code(&self.command),
            self.headline(),
            self.rest()
        );
        for paragraph in [self.missing(), self.judgements()].into_iter().flatten() {
            line(&mut page, &format!("{}\n", sentence(&paragraph)));
        }
        let cells = |row: &Vec<String>| {
            row.iter()
                .map(|text| inline::cell(text))
                .collect::<Vec<_>>()
        };
        let markdown = |page: &mut String, grid: &Grid| {
            let header = cells(&grid.header);
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            markdown_table(page, &header, grid.rows.iter().map(cells));
            page.push('\n');
        };
        line(&mut page, "## By trace\n");
        let grid = self.by_trace();
        let mut header: Vec<&str> = grid.header.iter().map(String::as_str).collect();
        header.push("files");
        let links = self.traces.iter().map(|trace| {
            let links = trace.links.iter();
            let links = links.map(|(name, to)| format!("[{}]({to})", inline::label(name)));
            links.collect::<Vec<_>>().join(", ")
        });
        let readings = self.readings.as_ref();
        let readings =
            readings.map_or_else(String::new, |to| format!("[readings side by side]({to})"));
        let rows = grid.rows.iter().zip(links.chain([readings]));
        markdown_table(
            &mut page,
            &header,
            rows.map(|(row, links)| cells(row).into_iter().chain([links]).collect()),
        );
        page.push('\n');
        line(&mut page, "Every claim: [claims.csv](claims.csv).\n");
        for map in &self.maps {
            line(
                &mut page,
                &format!(
                    "## {}\n\n![{}]({}.svg)\n\n{}\n",
                    sentence(&map.title),
                    inline::label(&map.title),
                    map.name,
                    heat_map::NOTE
                ),
            );
            markdown(&mut page, &map.grid());
        }
        for figure in &self.figures {
            line(&mut page, &format!("## {}\n", sentence(&figure.title())));
            for panel in &figure.panels {
                line(
                    &mut page,
                    &format!("![{}]({}.svg)\n", inline::label(&panel.title), panel.name),
                );
            }
            line(&mut page, &format!("{}\n", figure.note()));
            markdown(&mut page, &figure.grid());
        }
        if self.drawings().next().is_some() {
            line(&mut page, "## Measured against published\n");
        }
        for (claim, to) in self.drawings() {
            line(
                &mut page,
                &format!("{}\n\n![{}]({to})\n", sentence(claim), inline::label(claim)),
            );
        }
        let open = self.unexplained();
        if !open.is_empty() {
            line(&mut page, "## Missed without explanation\n");
            for result in open {
                line(
                    &mut page,
                    &format!(
                        "- {}: {}",
                        inline::code(&result.finding.id),
                        sentence(&result.finding.statement)
                    ),
                );
            }
        }
        let length = page.trim_end().len();
        page.truncate(length);
        page.push('\n');
        page
    }
}

#[cfg(test)]
mod tests;
