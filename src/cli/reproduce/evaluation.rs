//! The reproduction of one paper: its configurations are run trace by trace, under one reading or
//! several, and its findings are judged on the results.

use crate::cli::studies;
use std::collections::BTreeSet;

use super::listing::list;
use super::paper::JOINT;
use super::readings::Readings;
use super::{
    Configuration, EXPLANATIONS, FINDINGS, Paper, PaperTrace, ReadingError, ReproduceError,
    ReproductionEnd, Session, SweepOutcome, names,
};
use bookahead_papers::findings::tables::measured_tables;
use bookahead_papers::findings::{
    self, Explanation, Finding, FindingResult, FindingsFile, MeasureNames, MeasuredCurves, Reading,
};
use bookahead_papers::reproduction::{ScoreCard, SideBySide, Tallies};
use bookahead_report::ReportExtras;

/// Lists or runs the chosen traces.
pub(super) fn reproduce(
    session: &mut Session<'_>,
    paper: &Paper,
) -> Result<ReproductionEnd, ReproduceError> {
    let evaluation = Evaluation::read(paper)?;
    let readings = evaluation.readings.as_ref();
    let traces = paper.traces.iter();
    let (chosen, others): (Vec<_>, Vec<_>) = traces.partition(|trace| session.is_chosen(trace));
    if session.args.list {
        list(session, paper, &evaluation.findings, readings, &chosen)?;
        return Ok(ReproductionEnd::Done);
    }
    let wanted = &session.args.readings;
    let passes: Vec<Option<&Reading>> = match readings {
        Some(readings) => readings.choose(wanted)?.into_iter().map(Some).collect(),
        None if wanted.is_empty() => vec![None],
        None => {
            let paper = paper.name.clone();
            return Err(ReadingError::None { paper }.into());
        }
    };
    if session.args.from_cards {
        evaluation.page(session)?;
        return Ok(ReproductionEnd::Done);
    }
    // Every configuration takes what a reading sets, before anything is run.
    for reading in &passes {
        for stem in chosen.iter().flat_map(|trace| &trace.runs) {
            evaluation.configuration(stem, *reading)?;
        }
    }
    let mut ending = ReproductionEnd::Done;
    let mut cards = Vec::new();
    for reading in passes {
        let mut pass = Pass {
            of: &evaluation,
            reading,
            runs: Vec::new(),
            skipped: others
                .iter()
                .map(|trace| (trace.name.as_str(), "it was not chosen".to_owned()))
                .collect(),
            cards: Vec::new(),
        };
        for trace in &chosen {
            ending = ending.max(pass.trace(session, trace)?);
            if ending == ReproductionEnd::Interrupted {
                return Ok(ending);
            }
        }
        pass.joint(session)?;
        cards.push(pass.cards);
    }
    evaluation.conclude(session, &cards)?;
    Ok(ending)
}

/// The trace whose runs a finding names; `None` where it compares several.
pub(super) fn home<'p>(paper: &'p Paper, finding: &Finding) -> Option<&'p str> {
    let owners: BTreeSet<&str> = finding
        .sources()
        .into_iter()
        .filter_map(|(run, _)| paper.trace_of(run))
        .map(|trace| trace.name.as_str())
        .collect();
    let mut owners = owners.into_iter();
    match (owners.next(), owners.next()) {
        (Some(only), None) => Some(only),
        (Some(_), Some(_)) => None,
        // A run that nobody makes: it shows as not tested where a reader looks for it.
        (None, _) => finding
            .trace
            .as_ref()
            .and_then(|name| paper.trace(name))
            .or(paper.traces.first().filter(|_| paper.traces.len() == 1))
            .map(|trace| trace.name.as_str()),
    }
}

/// What is known of a paper before anything is run.
pub(super) struct Evaluation<'p> {
    pub(super) paper: &'p Paper,
    findings: FindingsFile,
    explanations: Vec<Explanation>,
    pub(super) readings: Option<Readings>,
}

/// One reading of a paper, or the paper as it is where it has none.
struct Pass<'p> {
    of: &'p Evaluation<'p>,
    reading: Option<&'p Reading>,
    /// Stem and end of every sweep so far.
    runs: Vec<(&'p str, SweepOutcome)>,
    /// Traces that were not run, and why.
    skipped: Vec<(&'p str, String)>,
    cards: Vec<ScoreCard>,
}

impl<'p> Evaluation<'p> {
    /// Reads the findings of a paper, their explanations and its readings.
    pub(super) fn read(paper: &'p Paper) -> Result<Self, ReproduceError> {
        let file = paper.configuration(FINDINGS)?;
        let mut findings =
            findings::parse(&file.origin(), &file.text, studies(), MeasureNames::Known)?;
        for stem in findings.point_files() {
            let points = paper.points(&stem)?;
            findings.published.insert(stem, points);
        }
        let explanations = match paper.optional(EXPLANATIONS)? {
            Some(file) => findings::parse_explanations(&file.origin(), &file.text)?,
            None => Vec::new(),
        };
        for summary in &paper.summaries {
            if let Some(problem) = summary.problem(&findings.findings) {
                return Err(paper.refuse(summary, problem).into());
            }
        }
        Ok(Self {
            paper,
            findings,
            explanations,
            readings: Readings::read(paper)?,
        })
    }
}

impl Evaluation<'_> {
    /// A configuration of the paper as a reading has it.
    fn configuration(
        &self,
        stem: &str,
        reading: Option<&Reading>,
    ) -> Result<Configuration, ReproduceError> {
        let configuration = self.paper.configuration(stem)?;
        Ok(match (&self.readings, reading) {
            (Some(readings), Some(reading)) => readings.applied(reading, configuration)?,
            _ => configuration,
        })
    }

    /// The findings of one trace; of `None` those that compare several.
    pub(super) fn of(&self, trace: Option<&str>) -> FindingsFile {
        let mut own = self.findings.clone();
        own.findings
            .retain(|finding| home(self.paper, finding) == trace);
        own
    }

    /// A card about these traces without results; a remark that several of them have stands once.
    pub(super) fn card(
        &self,
        reading: Option<&Reading>,
        traces: &[&PaperTrace],
        (name, subject): (&str, String),
        mut command: String,
    ) -> ScoreCard {
        let mut remarks: Vec<String> = Vec::new();
        for remark in traces.iter().filter_map(|trace| trace.remark.as_ref()) {
            if !remarks.contains(remark) {
                remarks.push(remark.clone());
            }
        }
        let mut explanations = self.explanations.clone();
        if let Some(reading) = reading {
            remarks.push(reading.sentence());
            if !reading.is_default {
                command = format!("{command} --reading {}", reading.name);
                explanations.clear();
                remarks.push(
                    "Misses are explained on the cards of the default reading only.".to_owned(),
                );
            }
        }
        ScoreCard {
            paper: self.paper.name.clone(),
            title: self.paper.title.clone(),
            trace: name.to_owned(),
            reading: reading.cloned(),
            subject,
            remarks,
            results: Vec::new(),
            measured: Vec::new(),
            tolerances: self.findings.tolerances.clone(),
            explanations,
            command,
        }
    }

    /// The traces whose runs some findings compare.
    pub(super) fn compared(&self, own: &FindingsFile) -> Vec<&PaperTrace> {
        let sources = own.findings.iter().flat_map(Finding::sources);
        let runs: BTreeSet<&str> = sources.map(|(run, _)| own.made_of(run)).collect();
        let is_compared =
            |trace: &&PaperTrace| trace.runs.iter().any(|run| runs.contains(run.as_str()));
        self.paper.traces.iter().filter(is_compared).collect()
    }

    /// Whether a configuration is asked for by second judgements only, so that it has no report.
    fn is_aside(&self, trace: &PaperTrace, stem: &str) -> bool {
        let layout = self.findings.cells.as_ref();
        layout.is_some_and(|layout| layout.is_alignment(&trace.name, stem))
    }

    /// What comes after the last card: the readings side by side, then records, or for each reading
    /// how many findings it holds, by table or section, by trace and in all; and which misses and
    /// explanations do not belong together.
    fn conclude(
        &self,
        session: &mut Session<'_>,
        readings: &[Vec<ScoreCard>],
    ) -> Result<(), ReproduceError> {
        let cards: Vec<ScoreCard> = readings.concat();
        self.readings_page(session, &cards)?;
        if session.prints_records() {
            let records: Vec<_> = cards.iter().flat_map(ScoreCard::records).collect();
            session.print_json(&records)?;
        } else {
            for cards in readings {
                self.tallies(session, cards)?;
            }
        }
        for cards in readings {
            let reading = cards.first().and_then(|card| card.reading.as_ref());
            if reading.is_none_or(|reading| reading.is_default) {
                self.audit(session, cards)?;
            }
        }
        let is_default = |card: &ScoreCard| card.reading.as_ref().is_none_or(|own| own.is_default);
        if cards.iter().any(is_default) {
            self.page(session)?;
        }
        Ok(())
    }

    fn tallies(
        &self,
        session: &mut Session<'_>,
        cards: &[ScoreCard],
    ) -> Result<(), ReproduceError> {
        let reading = cards.first().and_then(|card| card.reading.as_ref());
        let name = match reading {
            Some(reading) => reading.of(&self.paper.name),
            None => self.paper.name.clone(),
        };
        writeln!(session.output, "{name}")?;
        let titles = ScoreCard::tallies_by_title(cards).into_iter();
        let traces = cards
            .iter()
            .map(|card| (card.subject.clone(), card.tallies()));
        for (title, tallies) in titles.chain(traces) {
            writeln!(session.output, "  {title:60} {}", tallies.sentence())?;
        }
        let all = Tallies::of(cards.iter().flat_map(|card| &card.results));
        writeln!(session.output, "{name}: {}", all.sentence())?;
        Ok(())
    }

    /// Says which misses nobody explains, and which explanations are for nothing.
    fn audit(&self, session: &mut Session<'_>, cards: &[ScoreCard]) -> Result<(), ReproduceError> {
        let results: Vec<FindingResult> = cards
            .iter()
            .flat_map(|card| card.results.iter().cloned())
            .collect();
        let audit = findings::audit(&self.findings, &results, &self.explanations);
        for (what, ids) in [
            ("missed, and not explained", &audit.unexplained),
            (
                "explained, although nothing was missed",
                &audit.explained_for_nothing,
            ),
        ] {
            if !ids.is_empty() {
                let ids = ids.join(", ");
                writeln!(session.log, "{}: {what}: {ids}", self.paper.name)?;
            }
        }
        Ok(())
    }

    /// Writes the page that shows the readings side by side, where there were several.
    fn readings_page(
        &self,
        session: &mut Session<'_>,
        cards: &[ScoreCard],
    ) -> Result<(), ReproduceError> {
        let mut command = format!("bookahead reproduce {}", self.paper.name);
        if let Some(trace) = &session.args.trace {
            command.push_str(&format!(" --trace {trace}"));
        }
        for reading in &session.args.readings {
            command.push_str(&format!(" --reading {reading}"));
        }
        let Some(page) = SideBySide::of(command, cards) else {
            return Ok(());
        };
        let folder = session.args.report.join(&self.paper.name);
        session.write_file(&folder, "readings.md", &page.markdown())?;
        session.write_file(&folder, "readings.html", &page.html())?;
        writeln!(
            session.log,
            "readings side by side: {}",
            folder.join("readings.html").display()
        )?;
        Ok(())
    }
}

impl<'p> Pass<'p> {
    /// Runs every configuration of a trace and judges its findings.
    fn trace(
        &mut self,
        session: &mut Session<'_>,
        trace: &'p PaperTrace,
    ) -> Result<ReproductionEnd, ReproduceError> {
        let name = trace.name.as_str();
        let own = self.of.of(Some(name));
        let command = format!("bookahead reproduce {} --trace {name}", self.of.paper.name);
        let mut card = self.of.card(
            self.reading,
            &[trace],
            (name, trace.subject.clone()),
            command,
        );
        if let Some(why) = session.missing(trace)? {
            card.remarks.push(format!("Not tested: {why}."));
            card.results = not_tested(&own, &why);
            self.cards.push(card);
            self.skipped.push((name, why));
            return Ok(ReproductionEnd::Done);
        }
        let folder = session.folder(&self.of.paper.name, &card.label());
        let first = self.runs.len();
        for stem in &trace.runs {
            let configuration = self.of.configuration(stem, self.reading)?;
            let outcome = session.run(trace, &configuration)?;
            if outcome.interrupted {
                return Ok(ReproductionEnd::Interrupted);
            }
            if outcome.failed > 0 {
                let text = format!("{} points of {stem} failed", outcome.failed);
                writeln!(session.log, "{text}")?;
                let what = if own.cells.is_some() {
                    "what depends on them is not tested"
                } else {
                    "means are over the points that are left"
                };
                card.remarks.push(format!("{text}; {what}."));
            }
            if self.runs.len() > first && !self.of.is_aside(trace, stem) {
                let extras = ReportExtras {
                    published: self.of.findings.published_of(stem),
                    views: crate::cli::program().views,
                    ..ReportExtras::default()
                };
                session.report(&outcome, &folder.join(stem), &extras)?;
            }
            self.runs.push((stem, outcome));
        }
        let runs = &self.runs[first..];
        let curves = self.curves(session, &own, first)?;
        card.results = findings::evaluate(&own, &*curves, None);
        if let Some(layout) = &own.cells {
            card.measured = measured_tables(layout, &*curves, name);
        }
        // First the report, which refuses a folder with files of somebody else.
        if let Some((stem, run)) = runs.first() {
            let extras = ReportExtras {
                claims: Some(card.section()),
                published: self.of.findings.published_of(stem),
                views: crate::cli::program().views,
                ..ReportExtras::default()
            };
            session.report(run, &folder, &extras)?;
        }
        session.write_card(&folder, &card)?;
        let failed = runs.iter().any(|(_, outcome)| outcome.failed > 0);
        self.finish(session, card)?;
        Ok(if failed {
            ReproductionEnd::SomeFailed
        } else {
            ReproductionEnd::Done
        })
    }

    /// Judges the findings that compare traces, once all that they compare were run.
    fn joint(&mut self, session: &mut Session<'_>) -> Result<(), ReproduceError> {
        let own = self.of.of(None);
        if own.findings.is_empty() {
            return Ok(());
        }
        let compared = self.of.compared(&own);
        let known: Vec<&str> = compared.iter().map(|trace| trace.name.as_str()).collect();
        let subject = format!("comparisons of {}", names(known.iter().copied()));
        let command = format!("bookahead reproduce {}", self.of.paper.name);
        let mut card = self
            .of
            .card(self.reading, &compared, (JOINT, subject), command);
        let skipped = self.skipped.iter().filter(|(name, _)| known.contains(name));
        let reasons: Vec<String> = skipped
            .map(|(name, why)| format!("{name} was not run: {why}"))
            .collect();
        if reasons.is_empty() {
            card.results = findings::evaluate(&own, &*self.curves(session, &own, 0)?, None);
            let folder = session.folder(&self.of.paper.name, &card.label());
            session.write_card(&folder, &card)?;
            return self.finish(session, card);
        }
        let why = reasons.join("; ");
        writeln!(session.log, "{JOINT}: not tested: {why}")?;
        // No file: what an earlier command measured on all traces is better than nothing measured.
        card.results = not_tested(&own, &why);
        self.cards.push(card);
        Ok(())
    }

    /// What findings ask for of the runs from the `first` on.
    fn curves(
        &self,
        session: &Session<'_>,
        own: &FindingsFile,
        first: usize,
    ) -> Result<Box<dyn MeasuredCurves>, ReproduceError> {
        let runs = &self.runs[first..];
        let failure = |source| ReproduceError::Sweep {
            configuration: names(runs.iter().map(|(stem, _)| *stem)),
            source,
        };
        session.runner.curves(runs, own).map_err(failure)
    }

    fn finish(&mut self, session: &mut Session<'_>, card: ScoreCard) -> Result<(), ReproduceError> {
        if !session.prints_records() {
            writeln!(session.output, "{}", card.terminal())?;
        }
        self.cards.push(card);
        Ok(())
    }
}

pub(super) fn not_tested(file: &FindingsFile, why: &str) -> Vec<FindingResult> {
    file.findings
        .iter()
        .map(|finding| FindingResult::not_tested(finding, why.to_owned()))
        .collect()
}
