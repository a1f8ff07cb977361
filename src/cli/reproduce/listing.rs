//! `bookahead reproduce --list`: traces, configurations, readings and findings.

use super::evaluation::home;
use super::paper::JOINT;
use super::readings::Readings;
use super::{Paper, PaperTrace, ReproduceError, Session};
use crate::cli::paragraphs;
use bookahead_papers::findings::{self, Finding, FindingsFile};

/// Traces, configurations, readings and findings.
pub(super) fn list(
    session: &mut Session<'_>,
    paper: &Paper,
    file: &FindingsFile,
    readings: Option<&Readings>,
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
    if !session.args.all {
        session.list_in_short(paper, &counted)?;
        if let Some(readings) = readings.filter(|_| session.args.paper.is_some()) {
            list_readings(session, readings)?;
        }
        if session.args.paper.is_some() {
            writeln!(
                session.output,
                "\n--list --all lists every configuration and every finding"
            )?;
        }
        return Ok(());
    }
    session.list_traces(paper, &counted)?;
    session.list_configurations(paper, chosen)?;
    if let Some(readings) = readings {
        list_readings(session, readings)?;
    }
    writeln!(session.output, "\nfindings")?;
    let homes = chosen.iter().map(|trace| Some(trace.name.as_str()));
    for home in homes.chain([None]) {
        for finding in of(home) {
            let (id, expected) = (&finding.id, finding.expected());
            if matches!(finding.check, findings::Check::Cell(_)) {
                writeln!(session.output, "  {id:78} {expected}")?;
            } else {
                writeln!(
                    session.output,
                    "  {id} ({}, {}): {}\n    {expected}",
                    home.unwrap_or(JOINT),
                    finding.section,
                    finding.statement,
                )?;
            }
        }
    }
    Ok(())
}

fn list_readings(session: &mut Session<'_>, readings: &Readings) -> Result<(), ReproduceError> {
    writeln!(
        session.output,
        "\nreadings (--reading NAME, or all of them: --reading all)"
    )?;
    let rows = readings.all().iter().map(|reading| {
        let name = match reading.is_default {
            true => format!("{} (default)", reading.name),
            false => reading.name.clone(),
        };
        let sets = reading
            .settings()
            .map(|settings| format!("sets {settings}"));
        let mut words = vec![reading.summary.trim().to_owned()];
        words.extend(sets);
        (name, words)
    });
    let mut text = String::new();
    paragraphs::names(&mut text, &rows.collect::<Vec<_>>());
    session.output.write_all(text.as_bytes())?;
    Ok(())
}

impl Session<'_> {
    /// A list that fits a screen: the paper, and its traces with what they need and how much is
    /// claimed of them.
    fn list_in_short(
        &mut self,
        paper: &Paper,
        traces: &[(&PaperTrace, usize)],
    ) -> Result<(), ReproduceError> {
        let mut text = String::new();
        paragraphs::paragraph(&mut text, &format!("{}: {}", paper.name, paper.title));
        let rows = traces.iter().map(|(trace, count)| {
            let missing = trace
                .files
                .iter()
                .filter(|file| self.runner.find_trace(file).is_err());
            let missing: Vec<&str> = missing.map(String::as_str).collect();
            let state = match missing.as_slice() {
                [] => String::new(),
                missing => format!("; not found: {}", missing.join(", ")),
            };
            let runs = trace.runs.len();
            let plural = |count: usize, what: &str| match count {
                1 => format!("1 {what}"),
                _ => format!("{count} {what}s"),
            };
            let words = format!(
                "{}, {}{state}",
                plural(*count, "finding"),
                plural(runs, "configuration")
            );
            (trace.name.clone(), vec![words])
        });
        let rows: Vec<(String, Vec<String>)> = rows.collect();
        paragraphs::names(&mut text, &rows);
        Ok(self.output.write_all(text.as_bytes())?)
    }

    /// The first part of a list: the paper, and its traces with the files that they need and how
    /// many findings there are of each.
    fn list_traces(
        &mut self,
        paper: &Paper,
        traces: &[(&PaperTrace, usize)],
    ) -> Result<(), ReproduceError> {
        writeln!(self.output, "{}\n  {}\n\ntraces", paper.name, paper.title)?;
        for (trace, count) in traces {
            let files: Vec<String> = trace
                .files
                .iter()
                .map(|file| match self.runner.find_trace(file) {
                    Ok(path) => path.display().to_string(),
                    Err(_) => format!("{file}: not found"),
                })
                .collect();
            let files = if files.is_empty() {
                "no file needed".to_owned()
            } else {
                files.join(", ")
            };
            let plural = if *count == 1 { "" } else { "s" };
            writeln!(
                self.output,
                "  {:18} {}; {count} finding{plural}; {files}",
                trace.name, trace.subject
            )?;
        }
        Ok(())
    }

    /// The second part: the configurations of the chosen traces.
    fn list_configurations(
        &mut self,
        paper: &Paper,
        traces: &[&PaperTrace],
    ) -> Result<(), ReproduceError> {
        writeln!(self.output, "\nconfigurations")?;
        for stem in paper.stems()? {
            let of_trace = |trace: &&PaperTrace| {
                let is_named = format!("-{stem}-").contains(&format!("-{}-", trace.name));
                is_named || trace.runs.contains(&stem)
            };
            if self.args.trace.is_none() || traces.iter().any(of_trace) {
                let configuration = paper.configuration(&stem)?;
                let remark = match paper.trace_of(&stem) {
                    Some(_) => "",
                    None => " (by hand: bookahead run)",
                };
                writeln!(
                    self.output,
                    "  {}{remark}\n    {}",
                    configuration.origin(),
                    configuration.summary()
                )?;
            }
        }
        Ok(())
    }
}
