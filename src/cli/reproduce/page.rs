//! The page of a paper, from the score cards that this command or earlier ones wrote.

use crate::cli::studies;
use std::path::Path;

use super::evaluation::{Evaluation, not_tested};
use super::paper::JOINT;
use super::{Paper, PaperTrace, ReproduceError, Session, names};
use crate::workload::input_file;
use bookahead_papers::findings::{FindingsFile, Reading};
use bookahead_papers::reproduction::{
    PaperInBrief, PaperPage, PapersPage, ScoreCard, TraceOnPage, drawing, recorded,
};

impl Evaluation<'_> {
    /// The traces of the paper under its default reading, with what their score cards in the folder
    /// of reports say.
    fn traces(&self, folder: &Path) -> Result<Vec<TraceOnPage>, ReproduceError> {
        let paper = &self.paper.name;
        let readings = self.readings.as_ref().map(super::readings::Readings::all);
        let reading = readings.and_then(|all| all.first());
        let command = format!("bookahead reproduce {paper}");
        let mut traces = Vec::new();
        for trace in &self.paper.traces {
            let (name, own) = (trace.name.as_str(), self.of(Some(&trace.name)));
            let about = (name, trace.subject.clone());
            let card = self.card(
                reading,
                &[trace],
                about,
                format!("{command} --trace {name}"),
            );
            traces.push(on_page(folder, card, &own, &trace.runs)?);
        }
        let own = self.of(None);
        if !own.findings.is_empty() {
            traces.push(self.joint(folder, reading, &own, &command)?);
        }
        Ok(traces)
    }

    /// What the page over all papers says of this one.
    pub(super) fn in_brief(&self, session: &Session<'_>) -> Result<PaperInBrief, ReproduceError> {
        let Paper { name, title, .. } = self.paper;
        let traces = self.traces(&session.args.report.join(name))?;
        let is_measured = traces.iter().any(|trace| trace.is_measured);
        let page = PaperPage::of(studies(), &traces, &[], String::new(), None);
        Ok(match page.filter(|_| is_measured) {
            Some(page) => page.in_brief(),
            None => PaperInBrief::not_run(name, title),
        })
    }

    /// Writes the page of the default reading; traces without a score card are said to be missing.
    pub(super) fn page(&self, session: &mut Session<'_>) -> Result<(), ReproduceError> {
        let paper = &self.paper.name;
        let folder = session.args.report.join(paper);
        let traces = self.traces(&folder)?;
        if !traces.iter().any(|trace| trace.is_measured) {
            // A command that could run nothing has said so already.
            return match session.args.from_cards && !session.args.all {
                true => Err(ReproduceError::NoCard {
                    folder,
                    paper: paper.clone(),
                }),
                false => Ok(()),
            };
        }
        let mut readings = ["readings.html", "readings.md"].into_iter();
        let readings = readings
            .find(|name| folder.join(name).exists())
            .map(str::to_owned);
        let command = format!("bookahead reproduce {paper}");
        let Some(page) =
            PaperPage::of(studies(), &traces, &self.paper.summaries, command, readings)
        else {
            return Ok(());
        };
        for (name, text) in page.files()? {
            session.write_file(&folder, &name, &text)?;
        }
        writeln!(
            session.log,
            "which claims hold: {}",
            folder.join("index.html").display()
        )?;
        Ok(())
    }

    /// What compares traces.
    fn joint(
        &self,
        folder: &Path,
        reading: Option<&Reading>,
        own: &FindingsFile,
        command: &str,
    ) -> Result<TraceOnPage, ReproduceError> {
        let compared: Vec<&PaperTrace> = self.compared(own);
        let subject = names(compared.iter().map(|trace| trace.name.as_str()));
        let about = (JOINT, format!("comparisons of {subject}"));
        let card = self.card(reading, &compared, about, command.to_owned());
        on_page(folder, card, own, &[])
    }
}

/// Writes the page over these papers, from the score cards in the folder of reports.
pub(super) fn of_all(session: &mut Session<'_>, papers: &[Paper]) -> Result<(), ReproduceError> {
    let brief = |paper| Evaluation::read(paper)?.in_brief(session);
    let papers = papers.iter().map(brief).collect::<Result<Vec<_>, _>>()?;
    let page = PapersPage::new(papers, "bookahead reproduce --all".to_owned());
    let folder = session.args.report.clone();
    for (name, text) in page.files() {
        session.write_file(&folder, &name, &text)?;
    }
    let to = folder.join("index.html");
    writeln!(session.log, "all papers: {}", to.display())?;
    Ok(())
}

/// A trace with what its score card says, and the files that there are of it.
fn on_page(
    folder: &Path,
    mut card: ScoreCard,
    own: &FindingsFile,
    runs: &[String],
) -> Result<TraceOnPage, ReproduceError> {
    let name = card.label();
    let path = folder.join(&name).join("score-card.json");
    let is_measured = path.exists();
    card.results = if is_measured {
        let text = input_file::read_text(&path).map_err(Into::into);
        let results = text.and_then(|text| Ok(recorded(&text, &own.findings)?));
        results.map_err(|source| ReproduceError::Card {
            path,
            command: card.command.clone(),
            source,
        })?
    } else {
        not_tested(own, "there is no score card")
    };
    let reports = runs
        .iter()
        .map(|run| (run.clone(), format!("{name}/{run}/index.html")));
    let all = [
        ("score card".to_owned(), format!("{name}/score-card.md")),
        ("report".to_owned(), format!("{name}/index.html")),
    ];
    let links = all.into_iter().chain(reports);
    let drawings = own.findings.iter().filter_map(|finding| {
        let to = format!("{name}/{}", drawing(finding)?);
        Some((finding.statement.clone(), to))
    });
    Ok(TraceOnPage {
        card,
        drawings: drawings
            .filter(|(_, to)| folder.join(to).exists())
            .collect(),
        is_measured,
        links: links.filter(|(_, to)| folder.join(to).exists()).collect(),
    })
}
