//! Papers whose results are tables of numbers: published claims beside measured values, under one or more readings.

use super::readings::Readings;
use super::{
    Configuration, EXPLANATIONS, Ending, Paper, PaperTrace, ReadingError, ReproduceError, Session,
};
use crate::report::claims::{self, Claim, Expected, Explanation, Published, Reading, Tolerance};
use crate::report::reproduction::{ScoreCard, SideBySide, Tallies, measured_tables};

/// Lists or runs the chosen traces.
pub(super) fn reproduce(
    session: &mut Session<'_>,
    paper: &Paper,
    file: &Configuration,
) -> Result<Ending, ReproduceError> {
    let published = claims::parse(&file.origin(), &file.text)?;
    let explanations = match paper.optional(EXPLANATIONS)? {
        Some(file) => claims::parse_explanations(&file.origin(), &file.text)?,
        None => Vec::new(),
    };
    let readings = Readings::read(paper)?;
    let traces: Vec<&PaperTrace> = paper
        .traces
        .iter()
        .filter(|trace| session.is_chosen(trace))
        .collect();
    if session.args.list {
        list(session, paper, &published, &traces)?;
        if let Some(readings) = &readings {
            list_readings(session, readings)?;
        }
        list_claims(session, &published, &traces)?;
        return Ok(Ending::Done);
    }
    let wanted = &session.args.readings;
    let passes: Vec<Option<&Reading>> = match &readings {
        Some(readings) => readings.choose(wanted)?.into_iter().map(Some).collect(),
        None if wanted.is_empty() => vec![None],
        None => {
            return Err(ReadingError::None {
                paper: paper.name.clone(),
            }
            .into());
        }
    };
    let mut evaluation = Evaluation {
        paper,
        published: &published,
        explanations: &explanations,
        readings: readings.as_ref(),
        traces: &traces,
        cards: Vec::new(),
    };
    for reading in &passes {
        evaluation.check(*reading)?;
    }
    let mut ending = Ending::Done;
    for reading in &passes {
        for trace in &traces {
            ending = ending.max(evaluation.trace(session, trace, *reading)?);
            if ending == Ending::Interrupted {
                return Ok(ending);
            }
        }
    }
    evaluation.readings_page(session)?;
    evaluation.conclude(session)?;
    Ok(ending)
}

fn claims_of<'a>(published: &'a Published, trace: &str) -> impl Iterator<Item = &'a Claim> {
    published
        .claims
        .iter()
        .filter(move |claim| claim.trace == trace)
}

/// One paper while it is reproduced.
struct Evaluation<'e> {
    paper: &'e Paper,
    published: &'e Published,
    explanations: &'e [Explanation],
    readings: Option<&'e Readings>,
    traces: &'e [&'e PaperTrace],
    /// One a reading and trace, in the order in which they were run.
    cards: Vec<ScoreCard>,
}

impl Evaluation<'_> {
    /// A configuration of the paper as a reading has it.
    fn configuration(
        &self,
        stem: &str,
        reading: Option<&Reading>,
    ) -> Result<Configuration, ReproduceError> {
        let configuration = self.paper.configuration(stem)?;
        Ok(match (self.readings, reading) {
            (Some(readings), Some(reading)) => readings.applied(reading, configuration)?,
            _ => configuration,
        })
    }

    /// Whether every configuration takes what a reading sets, before anything is run.
    fn check(&self, reading: Option<&Reading>) -> Result<(), ReproduceError> {
        for stem in self.traces.iter().flat_map(|trace| &trace.runs) {
            self.configuration(stem, reading)?;
        }
        Ok(())
    }

    /// Runs the experiments of a trace under a reading and judges its claims.
    fn trace(
        &mut self,
        session: &mut Session<'_>,
        trace: &PaperTrace,
        reading: Option<&Reading>,
    ) -> Result<Ending, ReproduceError> {
        let name = trace.name.as_str();
        let mut card = self.card(trace, reading);
        if let Some(why) = session.missing(trace)? {
            card.remarks.push(format!("Not tested: {why}."));
            card.comparisons = claims::not_tested(claims_of(self.published, name), &why);
            self.cards.push(card);
            return Ok(Ending::Done);
        }
        let failure = |source| ReproduceError::Sweep {
            configuration: trace.runs.join(" and "),
            source,
        };
        let mut outcomes = Vec::new();
        for stem in &trace.runs {
            let configuration = self.configuration(stem, reading)?;
            let outcome = session.run_configuration(trace, &configuration)?;
            if outcome.interrupted {
                return Ok(Ending::Interrupted);
            }
            // Of the moved clocks the card shows what is asked of them; `bookahead report` shows the rest.
            if outcomes.len() < 2 {
                let own = session.args.report.join(&outcome.experiment);
                session
                    .runner
                    .report(&outcome, &own, None)
                    .map_err(failure)?;
            }
            outcomes.push(outcome);
        }
        let failed: u64 = outcomes.iter().map(|outcome| outcome.failed).sum();
        let measured = session.runner.measured(&outcomes[..2]).map_err(failure)?;
        let alignments = outcomes
            .get(2)
            .map(|run| session.runner.alignments(run))
            .transpose()
            .map_err(failure)?;
        if failed > 0 {
            card.remarks.push(format!(
                "{failed} points failed; what depends on them is not tested."
            ));
        }
        card.comparisons =
            claims::evaluate(self.published, claims_of(self.published, name), &*measured);
        claims::judge_again(
            self.published,
            &mut card.comparisons,
            &*measured,
            alignments.as_deref(),
        );
        card.measured = measured_tables(self.published, &*measured);
        let folder = session.folder(&card.paper, &card.label());
        session.write_card(&folder, card.markdown(), &card.records())?;
        if let Some(run) = outcomes.first() {
            session
                .runner
                .report(run, &folder, Some(card.section()))
                .map_err(failure)?;
        }
        if !session.args.json {
            writeln!(session.output, "{}", card.terminal())?;
        }
        self.cards.push(card);
        Ok(if failed > 0 {
            Ending::SomeFailed
        } else {
            Ending::Done
        })
    }

    /// A card without results.
    fn card(&self, trace: &PaperTrace, reading: Option<&Reading>) -> ScoreCard {
        let paper = self.paper;
        let mut command = format!("bookahead reproduce {} --trace {}", paper.name, trace.name);
        let mut remarks: Vec<String> = trace.remark.iter().cloned().collect();
        let mut explanations = self.explanations.to_vec();
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
            explanations,
            command,
            paper: paper.name.clone(),
            title: paper.title.clone(),
            trace: trace.name.clone(),
            reading: reading.cloned(),
            subject: trace.subject.clone(),
            remarks,
            comparisons: Vec::new(),
            measured: Vec::new(),
            tolerances: self.published.tolerances.clone(),
        }
    }

    /// Writes the page that shows the readings side by side, where there were several.
    fn readings_page(&self, session: &mut Session<'_>) -> Result<(), ReproduceError> {
        let mut command = format!("bookahead reproduce {}", self.paper.name);
        if let Some(trace) = &session.args.trace {
            command.push_str(&format!(" --trace {trace}"));
        }
        for reading in &session.args.readings {
            command.push_str(&format!(" --reading {reading}"));
        }
        let Some(page) = SideBySide::of(command, &self.cards) else {
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

    /// What comes after the last card: records, or for each reading how many claims it holds, by table, by trace and in all.
    fn conclude(&self, session: &mut Session<'_>) -> Result<(), ReproduceError> {
        if session.args.json {
            let records: Vec<_> = self.cards.iter().flat_map(ScoreCard::records).collect();
            return session.print_json(&records);
        }
        let mut rest = &self.cards[..];
        while let Some(first) = rest.first() {
            let reading = first.reading.as_ref().map(|reading| &reading.name);
            let same =
                |card: &ScoreCard| card.reading.as_ref().map(|reading| &reading.name) == reading;
            let count = rest.iter().take_while(|card| same(card)).count();
            let (cards, others) = rest.split_at(count);
            rest = others;
            let name = match &first.reading {
                Some(reading) => reading.of(&self.paper.name),
                None => self.paper.name.clone(),
            };
            writeln!(session.output, "{name}")?;
            for (title, tallies) in ScoreCard::tallies_by_table(cards) {
                writeln!(session.output, "  {title:60} {}", tallies.sentence())?;
            }
            for card in cards {
                writeln!(
                    session.output,
                    "  {:60} {}",
                    card.subject,
                    card.tallies().sentence()
                )?;
            }
            let all = Tallies::of(cards.iter().flat_map(|card| &card.comparisons));
            writeln!(session.output, "{name}: {}", all.sentence())?;
        }
        Ok(())
    }
}

fn list(
    session: &mut Session<'_>,
    paper: &Paper,
    published: &Published,
    traces: &[&PaperTrace],
) -> Result<(), ReproduceError> {
    let counted: Vec<_> = traces
        .iter()
        .map(|trace| (*trace, claims_of(published, &trace.name).count()))
        .collect();
    session.list_traces(paper, &counted, "claim")?;
    session.list_configurations(paper, traces, |_| "")
}

fn list_readings(session: &mut Session<'_>, readings: &Readings) -> Result<(), ReproduceError> {
    writeln!(
        session.output,
        "\nreadings (--reading NAME, or all of them: --reading all)"
    )?;
    for reading in readings.all() {
        let name = if reading.is_default {
            format!("{} (default)", reading.name)
        } else {
            reading.name.clone()
        };
        writeln!(session.output, "  {name:18} {}", reading.summary.trim())?;
        if let Some(settings) = reading.settings() {
            writeln!(session.output, "    sets {settings}")?;
        }
    }
    Ok(())
}

fn list_claims(
    session: &mut Session<'_>,
    published: &Published,
    traces: &[&PaperTrace],
) -> Result<(), ReproduceError> {
    writeln!(session.output, "\nclaims")?;
    for trace in traces {
        for claim in claims_of(published, &trace.name) {
            writeln!(session.output, "  {:78} {}", claim.id, expectation(claim))?;
        }
    }
    Ok(())
}

fn expectation(claim: &Claim) -> String {
    match (&claim.expected, claim.tolerance) {
        (Expected::Order(names), _) => names.join(" > "),
        (Expected::HeldOut(_), _) => "held out".to_owned(),
        (Expected::AtLeast { at_least }, _) => format!("at least {at_least}"),
        (Expected::Value(value), Tolerance::Relative(share)) => {
            format!("{value} ± {} %", share * 100.0)
        }
        (Expected::Value(value), Tolerance::Absolute(width)) => format!("{value} ± {width}"),
    }
}
