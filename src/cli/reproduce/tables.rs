//! Papers whose results are tables of numbers: published claims beside measured values.

use super::{EXPLANATIONS, Ending, PUBLISHED, Paper, ReproduceError, Session, TableTrace};
use crate::report::claims::{self, Claim, Expected, Explanation, Published, Tolerance};
use crate::report::reproduction::{ScoreCard, Tally, measured_tables};

/// Lists or runs the chosen traces.
pub(super) fn reproduce(
    session: &mut Session<'_>,
    paper: &Paper,
    traces: &'static [TableTrace],
) -> Result<Ending, ReproduceError> {
    let file = paper.configuration(session.root, PUBLISHED)?;
    let published = claims::parse(&file.origin(), &file.text)?;
    let file = paper.configuration(session.root, EXPLANATIONS)?;
    let explanations = claims::parse_explanations(&file.origin(), &file.text)?;
    let traces: Vec<&TableTrace> = traces
        .iter()
        .filter(|table| session.is_chosen(&table.trace))
        .collect();
    if session.args.list {
        list(session, paper, &published, &traces)?;
        Ok(Ending::Done)
    } else {
        run(session, paper, &published, &explanations, &traces)
    }
}

fn claims_of<'a>(published: &'a Published, trace: &str) -> impl Iterator<Item = &'a Claim> {
    published
        .claims
        .iter()
        .filter(move |claim| claim.trace == trace)
}

fn run(
    session: &mut Session<'_>,
    paper: &Paper,
    published: &Published,
    explanations: &[Explanation],
    traces: &[&TableTrace],
) -> Result<Ending, ReproduceError> {
    let mut ending = Ending::Done;
    let mut cards = Vec::new();
    for table in traces {
        let name = table.trace.name;
        if let Some(why) = session.missing(&table.trace, &[])? {
            let mut card = score_card(published, explanations, table);
            card.remarks.push(format!("Not tested: {why}."));
            card.comparisons = claims::not_tested(claims_of(published, name), &why);
            cards.push(card);
            continue;
        }
        let failure = |source| ReproduceError::Sweep {
            configuration: table.configurations().join(" and "),
            source,
        };
        let mut outcomes = Vec::new();
        for stem in table.configurations() {
            let outcome = session.run(paper, &table.trace, &stem)?;
            if outcome.interrupted {
                return Ok(Ending::Interrupted);
            }
            if outcome.failed > 0 {
                ending = ending.max(Ending::SomeFailed);
            }
            let own = session.args.report.join(&outcome.experiment);
            session
                .runner
                .report(&outcome, &own, None)
                .map_err(failure)?;
            outcomes.push(outcome);
        }
        let failed: u64 = outcomes.iter().map(|outcome| outcome.failed).sum();
        let measured = session
            .runner
            .measured(&outcomes, table.batteries)
            .map_err(failure)?;
        let mut card = score_card(published, explanations, table);
        if failed > 0 {
            card.remarks.push(format!(
                "{failed} points failed; what depends on them is not tested."
            ));
        }
        card.comparisons = claims::evaluate(published, claims_of(published, name), &*measured);
        card.measured = measured_tables(published, table.families, &*measured);
        let folder = session.folder(&card.paper, &card.trace);
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
        cards.push(card);
    }
    if session.args.json {
        let records: Vec<_> = cards.iter().flat_map(ScoreCard::records).collect();
        session.print_json(&records)?;
    } else {
        let tally = Tally::of(cards.iter().flat_map(|card| &card.comparisons));
        for card in &cards {
            writeln!(
                session.output,
                "{:18} {}",
                card.trace,
                card.tally().sentence()
            )?;
        }
        writeln!(session.output, "{:18} {}", paper.name, tally.sentence())?;
    }
    Ok(ending)
}

fn score_card(
    published: &Published,
    explanations: &[Explanation],
    table: &TableTrace,
) -> ScoreCard {
    let trace = &table.trace;
    ScoreCard {
        explanations: explanations.to_vec(),
        command: format!(
            "bookahead reproduce {} --trace {}",
            published.paper, trace.name
        ),
        paper: published.paper.clone(),
        title: published.title.clone(),
        trace: trace.name.to_owned(),
        subject: trace.subject.to_owned(),
        remarks: trace.remark.iter().map(|&text| text.to_owned()).collect(),
        comparisons: Vec::new(),
        measured: Vec::new(),
        tolerances: published.tolerances.clone(),
    }
}

fn list(
    session: &mut Session<'_>,
    paper: &Paper,
    published: &Published,
    traces: &[&TableTrace],
) -> Result<(), ReproduceError> {
    let counted: Vec<_> = traces
        .iter()
        .map(|table| {
            let count = claims_of(published, table.trace.name).count();
            (&table.trace, &[][..], count)
        })
        .collect();
    session.list_traces((paper, &published.title), &counted, "claim")?;
    let traces: Vec<_> = traces.iter().map(|table| &table.trace).collect();
    session.list_configurations(paper, &traces, |_| "")?;
    writeln!(session.output, "\nclaims")?;
    for trace in traces {
        for claim in claims_of(published, trace.name) {
            writeln!(session.output, "  {:78} {}", claim.id, expectation(claim))?;
        }
    }
    Ok(())
}

fn expectation(claim: &Claim) -> String {
    match (&claim.expected, claim.tolerance) {
        (Expected::Order(names), _) => names.join(" > "),
        (Expected::KeptAside(_), _) => "kept aside".to_owned(),
        (Expected::AtLeast { at_least }, _) => format!("at least {at_least}"),
        (Expected::Value(value), Tolerance::Relative(share)) => {
            format!("{value} ± {} %", share * 100.0)
        }
        (Expected::Value(value), Tolerance::Absolute(width)) => format!("{value} ± {width}"),
    }
}
