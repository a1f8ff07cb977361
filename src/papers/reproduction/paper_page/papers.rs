//! One page over all papers: how the claims of each stand, with a link to the page of the paper.
//! `index.html` and `index.md` of the folder in which the papers have theirs.

use maud::html;

use super::html::{STYLE, head};
use super::{Grid, inline, line, markdown_table, sentence};
use crate::reproduction::side_by_side::THEME;
use crate::reproduction::standing::Standing;
use bookahead_report::html::{document, script};

/// A paper on the page over all of them.
#[derive(Clone, Debug)]
pub struct PaperInBrief {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) standing: Standing,
    /// Traces without a score card.
    pub(super) not_run: usize,
}

impl PaperInBrief {
    /// A paper of which there is no score card.
    #[must_use]
    pub fn not_run(name: &str, title: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: title.trim_end_matches('.').to_owned(),
            standing: Standing::default(),
            not_run: 0,
        }
    }

    fn has_page(&self) -> bool {
        self.standing != Standing::default()
    }

    fn remark(&self) -> String {
        match (self.has_page(), self.not_run) {
            (false, _) => format!("not run: `bookahead reproduce {}`", self.name),
            (true, 0) => String::new(),
            (true, 1) => "1 trace not run".to_owned(),
            (true, traces) => format!("{traces} traces not run"),
        }
    }
}

/// The page over all papers.
#[derive(Debug)]
pub struct PapersPage {
    papers: Vec<PaperInBrief>,
    command: String,
}

/// What a reader must not take a share of claims for.
const NOTE: &str = "Claims of one paper are not independent of each other, and papers differ in what they print: shares describe, and are no measure of one paper against another.";

impl PapersPage {
    /// Arranges papers in their order; `command` makes the page.
    #[must_use]
    pub fn new(papers: Vec<PaperInBrief>, command: String) -> Self {
        Self { papers, command }
    }

    /// Every file of the page by its name.
    #[must_use]
    pub fn files(&self) -> Vec<(String, String)> {
        vec![
            ("index.html".to_owned(), self.html()),
            ("index.md".to_owned(), self.markdown()),
        ]
    }

    fn standing(&self) -> Standing {
        let mut all = Standing::default();
        for paper in &self.papers {
            all += paper.standing;
        }
        all
    }

    /// How many claims hold, and of how many papers there is no score card.
    fn headline(&self) -> String {
        let missing = self.papers.iter().filter(|paper| !paper.has_page()).count();
        let headline = self.standing().headline();
        match missing {
            0 => headline,
            missing => {
                let all = self.papers.len();
                format!("{headline} {missing} of {all} papers were not run.")
            }
        }
    }

    fn grid(&self) -> Grid {
        let rows = self.papers.iter();
        let rows = rows.map(|paper| (&*paper.name, paper.standing));
        Grid::of_standings("paper", rows, self.standing())
    }

    fn markdown(&self) -> String {
        let mut page = format!(
            "<!-- made by: {} -->\n\n# Published evaluations: which claims hold\n\nMade by {} from the score cards of the papers.\n\n**{}**\n\n",
            inline::comment(&self.command),
            inline::code(&self.command),
            self.headline()
        );
        let grid = self.grid();
        let mut header: Vec<&str> = grid.header.iter().map(String::as_str).collect();
        header.extend(["work", "remark"]);
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (number, row) in grid.rows.iter().enumerate() {
            let mut cells: Vec<String> = row.iter().map(|text| inline::cell(text)).collect();
            let paper = self.papers.get(number);
            if let Some(paper) = paper.filter(|paper| paper.has_page()) {
                cells[0] = format!("[{}]({}/index.md)", inline::label(&paper.name), paper.name);
            }
            cells.push(paper.map_or_else(String::new, |paper| inline::cell(&paper.title)));
            cells.push(paper.map_or_else(String::new, PaperInBrief::remark));
            rows.push(cells);
        }
        markdown_table(&mut page, &header, rows.into_iter());
        page.push('\n');
        line(&mut page, &sentence(NOTE));
        page
    }

    fn html(&self) -> String {
        let grid = self.grid();
        let styles = format!(
            "{}\n{STYLE}\n.plain td:last-child{{white-space:normal;min-width:32ch}}",
            bookahead_report::html::STYLE
        );
        let body = html! {
            body { "\n"
                header { "\n"
                    div.bar {
                        h1 { "Published evaluations: which claims hold" } "\n"
                        button id="theme" type="button" { "Dark mode" }
                    } "\n"
                    p.lead { "Made by " code { (self.command) } " from the score cards of the papers." } "\n"
                    p.headline { (self.headline()) } "\n"
                } "\n"
                main { "\n"
                    section id="papers" {
                        h2 { "By paper" } "\n"
                        div.scroll {
                            table.plain {
                                (head(&grid, 1, Some("work")))
                                tbody { "\n"
                                    @for (number, row) in grid.rows.iter().enumerate() {
                                        @let paper = self.papers.get(number);
                                        tr {
                                            @for (place, cell) in row.iter().enumerate() {
                                                td class=[(place > 0).then_some("n")] {
                                                    @match paper.filter(|paper| place == 0 && paper.has_page()) {
                                                        Some(paper) => a href={ (paper.name) "/index.html" } { (cell) },
                                                        None => (cell),
                                                    }
                                                }
                                            }
                                            td {
                                                @if let Some(paper) = paper {
                                                    (paper.title)
                                                    @if !paper.remark().is_empty() { " (" (super::html::in_code(&paper.remark())) ")" }
                                                }
                                            }
                                        } "\n"
                                    }
                                }
                            }
                        } "\n"
                        p.note { (NOTE) } "\n"
                    } "\n"
                } "\n"
                (script(THEME))
            }
        };
        document("Published evaluations – bookahead", &styles, &body)
    }
}
