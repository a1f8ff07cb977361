//! Papers whose results are curves: what they say about them, judged on measured ones.

use std::collections::BTreeSet;

use super::paper::JOINT;
use super::{
    EXPLANATIONS, Ending, FINDINGS, Paper, PaperTrace, ReadingError, ReproduceError, Session,
    SweepOutcome, known_measures,
};
use crate::report::findings::{
    self, Explanation, Finding, FindingResult, FindingsCard, FindingsFile, Tally,
};

/// Lists or runs the chosen traces.
pub(super) fn reproduce(
    session: &mut Session<'_>,
    paper: &Paper,
) -> Result<Ending, ReproduceError> {
    let file = paper.configuration(FINDINGS)?;
    let findings = findings::parse(&file.origin(), &file.text, Some(&known_measures()))?;
    let explanations = match paper.optional(EXPLANATIONS)? {
        Some(file) => findings::parse_explanations(&file.origin(), &file.text)?,
        None => Vec::new(),
    };
    let chosen: Vec<&PaperTrace> = paper
        .traces
        .iter()
        .filter(|trace| session.is_chosen(trace))
        .collect();
    if session.args.list {
        list(session, paper, &findings, &chosen)?;
        return Ok(Ending::Done);
    }
    if !session.args.readings.is_empty() {
        return Err(ReadingError::None {
            paper: paper.name.clone(),
        }
        .into());
    }
    let mut evaluation = Evaluation {
        paper,
        findings,
        explanations,
        runs: Vec::new(),
        skipped: Vec::new(),
        cards: Vec::new(),
    };
    for trace in &paper.traces {
        if !session.is_chosen(trace) {
            evaluation.skip(trace, "it was not chosen".to_owned());
        }
    }
    let mut ending = Ending::Done;
    for trace in chosen {
        ending = ending.max(evaluation.trace(session, trace)?);
        if ending == Ending::Interrupted {
            return Ok(ending);
        }
    }
    evaluation.joint(session)?;
    evaluation.conclude(session)?;
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

/// The traces whose runs these findings compare, in the order of the paper.
fn compared<'p>(paper: &'p Paper, own: &FindingsFile) -> Vec<&'p PaperTrace> {
    let runs: BTreeSet<&str> = own
        .findings
        .iter()
        .flat_map(Finding::sources)
        .map(|(run, _)| own.made_of(run))
        .collect();
    let has_one = |trace: &&PaperTrace| trace.runs.iter().any(|run| runs.contains(run.as_str()));
    paper.traces.iter().filter(has_one).collect()
}

/// One paper while it is reproduced.
struct Evaluation<'p> {
    paper: &'p Paper,
    findings: FindingsFile,
    explanations: Vec<Explanation>,
    /// Stem and end of every sweep so far.
    runs: Vec<(&'p str, SweepOutcome)>,
    /// Traces that were not run, and why.
    skipped: Vec<(&'p str, String)>,
    cards: Vec<FindingsCard>,
}

impl<'p> Evaluation<'p> {
    fn skip(&mut self, trace: &'p PaperTrace, why: String) {
        self.skipped.push((&trace.name, why));
    }

    /// The findings of one trace; of `None` those that compare several.
    fn of(&self, trace: Option<&str>) -> FindingsFile {
        FindingsFile {
            findings: self
                .findings
                .findings
                .iter()
                .filter(|finding| home(self.paper, finding) == trace)
                .cloned()
                .collect(),
            ..self.findings.clone()
        }
    }

    /// A card about these traces without results; a remark that several of them have stands once.
    fn card(
        &self,
        traces: &[&PaperTrace],
        (name, subject): (&str, String),
        command: String,
    ) -> FindingsCard {
        let mut remarks: Vec<&str> = Vec::new();
        for remark in traces.iter().filter_map(|trace| trace.remark.as_deref()) {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        FindingsCard {
            paper: self.paper.name.clone(),
            title: self.paper.title.clone(),
            trace: Some(name.to_owned()),
            subject,
            command,
            remarks: remarks.into_iter().map(str::to_owned).collect(),
            results: Vec::new(),
            explanations: self.explanations.clone(),
        }
    }

    /// Runs every configuration of a trace and judges its findings.
    fn trace(
        &mut self,
        session: &mut Session<'_>,
        trace: &'p PaperTrace,
    ) -> Result<Ending, ReproduceError> {
        let name = trace.name.as_str();
        let own = self.of(Some(name));
        let command = format!("bookahead reproduce {} --trace {name}", self.paper.name);
        let mut card = self.card(&[trace], (name, trace.subject.clone()), command);
        if let Some(why) = session.missing(trace)? {
            card.remarks.push(format!("Not tested: {why}."));
            card.results = not_tested(&own, &why);
            self.cards.push(card);
            self.skip(trace, why);
            return Ok(Ending::Done);
        }
        let folder = session.folder(&self.paper.name, name);
        let first = self.runs.len();
        for stem in &trace.runs {
            let outcome = session.run(self.paper, trace, stem)?;
            if outcome.interrupted {
                return Ok(Ending::Interrupted);
            }
            if outcome.failed > 0 {
                let text = format!("{} points of {stem} failed", outcome.failed);
                writeln!(session.log, "{text}")?;
                card.remarks
                    .push(format!("{text}; means are over the points that are left."));
            }
            if self.runs.len() > first {
                session
                    .runner
                    .report(&outcome, &folder.join(stem), None)
                    .map_err(|source| ReproduceError::Sweep {
                        configuration: stem.clone(),
                        source,
                    })?;
            }
            self.runs.push((stem, outcome));
        }
        card.results = self.judge(session, &own, first)?;
        session.write_card(&folder, card.markdown(), &card.records())?;
        let runs = &self.runs[first..];
        if let Some((stem, run)) = runs.first() {
            session
                .runner
                .report(run, &folder, Some(card.section()))
                .map_err(|source| ReproduceError::Sweep {
                    configuration: (*stem).to_owned(),
                    source,
                })?;
        }
        let failed = runs.iter().any(|(_, outcome)| outcome.failed > 0);
        self.finish(session, card)?;
        Ok(if failed {
            Ending::SomeFailed
        } else {
            Ending::Done
        })
    }

    /// Judges the findings that compare traces, once all that they compare were run.
    fn joint(&mut self, session: &mut Session<'_>) -> Result<(), ReproduceError> {
        let own = self.of(None);
        if own.findings.is_empty() {
            return Ok(());
        }
        let command = format!("bookahead reproduce {}", self.paper.name);
        let compared = compared(self.paper, &own);
        let names: Vec<&str> = compared.iter().map(|trace| trace.name.as_str()).collect();
        let subject = format!("comparisons of {}", super::names(names.iter().copied()));
        let mut card = self.card(&compared, (JOINT, subject), command);
        let skipped: Vec<_> = self
            .skipped
            .iter()
            .filter(|(name, _)| names.contains(name))
            .collect();
        if skipped.is_empty() {
            card.results = self.judge(session, &own, 0)?;
            let folder = session.folder(&self.paper.name, JOINT);
            session.write_card(&folder, card.markdown(), &card.records())?;
            self.finish(session, card)
        } else {
            let reasons: Vec<String> = skipped
                .iter()
                .map(|(name, why)| format!("{name} was not run: {why}"))
                .collect();
            let why = reasons.join("; ");
            writeln!(session.log, "{JOINT}: not tested: {why}")?;
            // No file: what an earlier command measured on all traces is better than nothing measured.
            card.results = not_tested(&own, &why);
            self.cards.push(card);
            Ok(())
        }
    }

    /// Judges findings on the runs from the `first` on.
    fn judge(
        &self,
        session: &Session<'_>,
        own: &FindingsFile,
        first: usize,
    ) -> Result<Vec<FindingResult>, ReproduceError> {
        let runs = &self.runs[first..];
        let curves = session
            .runner
            .curves(runs, own)
            .map_err(|source| ReproduceError::Sweep {
                configuration: super::names(runs.iter().map(|(stem, _)| *stem)),
                source,
            })?;
        Ok(findings::evaluate(own, &*curves, None))
    }

    fn finish(
        &mut self,
        session: &mut Session<'_>,
        card: FindingsCard,
    ) -> Result<(), ReproduceError> {
        if !session.args.json {
            writeln!(session.output, "{}", card.terminal())?;
        }
        self.cards.push(card);
        Ok(())
    }

    /// What comes after the last card: records or tallies, and which misses and explanations do not belong together.
    fn conclude(&self, session: &mut Session<'_>) -> Result<(), ReproduceError> {
        if session.args.json {
            let records: Vec<_> = self.cards.iter().flat_map(FindingsCard::records).collect();
            session.print_json(&records)?;
        } else {
            let mut all = Tally::default();
            for card in &self.cards {
                let tally = card.tally();
                all.held += tally.held;
                all.missed += tally.missed;
                all.not_tested += tally.not_tested;
                let name = card.trace.as_deref().unwrap_or(&card.paper);
                writeln!(session.output, "{name:18} {}", tally.sentence())?;
            }
            writeln!(session.output, "{:18} {}", self.paper.name, all.sentence())?;
            writeln!(session.output, "{}: held {}", self.paper.name, all.share())?;
        }
        let results: Vec<FindingResult> = self
            .cards
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
                writeln!(
                    session.log,
                    "{}: {what}: {}",
                    self.paper.name,
                    ids.join(", ")
                )?;
            }
        }
        Ok(())
    }
}

fn not_tested(file: &FindingsFile, why: &str) -> Vec<FindingResult> {
    file.findings
        .iter()
        .map(|finding| FindingResult::not_tested(finding, why.to_owned()))
        .collect()
}

fn list(
    session: &mut Session<'_>,
    paper: &Paper,
    file: &FindingsFile,
    chosen: &[&PaperTrace],
) -> Result<(), ReproduceError> {
    let of = |trace: Option<&str>| -> Vec<&Finding> {
        file.findings
            .iter()
            .filter(|finding| home(paper, finding) == trace)
            .collect()
    };
    let counted: Vec<_> = chosen
        .iter()
        .map(|trace| (*trace, of(Some(&trace.name)).len()))
        .collect();
    session.list_traces(paper, &counted, "finding")?;
    session.list_configurations(paper, chosen, |stem| {
        if paper.trace_of(stem).is_some() {
            ""
        } else {
            " (by hand: bookahead run)"
        }
    })?;
    writeln!(session.output, "\nfindings")?;
    let homes = chosen.iter().map(|trace| Some(trace.name.as_str()));
    for home in homes.chain([None]) {
        for finding in of(home) {
            writeln!(
                session.output,
                "  {} ({}, section {}): {}\n    {}",
                finding.id,
                home.unwrap_or(JOINT),
                finding.section,
                finding.statement,
                finding.expected()
            )?;
        }
    }
    Ok(())
}
