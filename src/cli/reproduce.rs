//! `bookahead reproduce`: a paper's evaluation again, and measured beside published.
//!
//! This file decides what to run and where results go. It runs nothing itself: sweeps, traces and the store are behind
//! [`SweepRunner`].

mod paper;
mod runner;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

pub use paper::{
    Configuration, ConfigurationError, EXPLANATIONS, PAPERS, PUBLISHED, Paper, PaperTrace, paper,
};
pub use runner::HouseRunner;

use crate::report::ClaimsSection;
use crate::report::claims::{
    self, Claim, ClaimsError, Expected, Explanation, Measured, Published, Tolerance,
};
use crate::report::reproduction::{ScoreCard, Tally, measured_tables};
use crate::sweep::{OutcomeDetail, SweepOptions};

/// Arguments of `bookahead reproduce`.
#[derive(Args, Clone, Debug)]
pub struct ReproduceArgs {
    /// The paper; `--list` shows which there are
    #[arg(required_unless_present = "list")]
    pub paper: Option<String>,
    /// List papers, traces, configurations and published claims instead of running anything
    #[arg(long)]
    pub list: bool,
    /// Only this trace; a missing trace file is then an error
    #[arg(long, value_name = "NAME")]
    pub trace: Option<String>,
    /// The database
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// Worker threads [default: the cores]
    #[arg(long, value_name = "N", value_parser = super::workers)]
    pub workers: Option<std::num::NonZeroUsize>,
    /// The folder of reports; score cards go to DIR/PAPER/TRACE/
    #[arg(long, value_name = "DIR", default_value = "reports")]
    pub report: PathBuf,
    /// Print every comparison as JSON instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Runs the command in the house and returns its exit code.
///
/// # Errors
///
/// As [`reproduce`].
pub fn execute(args: &ReproduceArgs) -> Result<ExitCode, ReproduceError> {
    let mut options = SweepOptions::new(args.store.clone());
    options.outcomes = OutcomeDetail::Metrics;
    if let Some(workers) = args.workers {
        options.workers = workers.get();
    }
    if !args.list {
        options.interrupt.listen()?;
    }
    let mut runner = HouseRunner::new(options, args.report.clone());
    let ending = reproduce(
        args,
        Path::new(""),
        &mut runner,
        &mut io::stdout(),
        &mut super::StandardError,
    );
    match ending {
        Ok(ending) => Ok(ExitCode::from(ending.exit_code())),
        // A reader that has seen enough (`| head`) is no error.
        Err(ReproduceError::Print(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Err(error),
    }
}

/// Any error of another room, as it came.
pub type RoomError = Box<dyn std::error::Error + Send + Sync>;

/// What reproducing needs from the rooms that run and keep simulations.
pub trait SweepRunner {
    /// Finds a trace file by the archive's name.
    ///
    /// # Errors
    ///
    /// When it is not there: names the file and where the archive offers it.
    fn find_trace(&self, file: &str) -> Result<PathBuf, RoomError>;

    /// Runs one configuration to its end, or continues it: points that are done are not run again.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong or the store cannot be used. Points that fail are no error, but counted.
    fn run(&mut self, configuration: &Configuration) -> Result<SweepOutcome, RoomError>;

    /// The measured values of a trace, read from the store over the runs that [`SweepRunner::run`] returned: of the PoF
    /// experiment, then of the risk experiment. A cell with fewer than `batteries` batteries counts as not measured.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn measured(
        &self,
        runs: &[SweepOutcome],
        batteries: usize,
    ) -> Result<Box<dyn Measured>, RoomError>;

    /// Writes the report of a run with the findings of the paper into a folder.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or the folder not be written.
    fn report(
        &self,
        run: &SweepOutcome,
        folder: &Path,
        claims: ClaimsSection,
    ) -> Result<(), RoomError>;
}

/// How a sweep ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepOutcome {
    /// The run's number in the store.
    pub run: i64,
    /// Points that are done, now or before.
    pub done: u64,
    /// Points that failed.
    pub failed: u64,
    /// Whether Ctrl-C stopped it.
    pub interrupted: bool,
}

/// How reproducing ended, where it was no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// Everything that could be run is done.
    Done,
    /// Some points failed.
    SomeFailed,
    /// Interrupted; what was finished is kept.
    Interrupted,
}

impl Ending {
    /// The exit code of the command.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::SomeFailed => 1,
            Self::Interrupted => 130,
        }
    }
}

/// Why nothing could be reproduced: wrong use or configuration (exit code 2).
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// No such paper.
    #[error("no paper is called `{name}`; there are: {known}")]
    UnknownPaper {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// No such trace.
    #[error("{paper} has no trace `{name}`; there are: {known}")]
    UnknownTrace {
        /// The paper.
        paper: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The trace that was asked for is not there.
    #[error("the trace `{trace}` cannot be run: {source}")]
    MissingTrace {
        /// The trace.
        trace: &'static str,
        /// Which file, and where the archive offers it.
        source: RoomError,
    },
    /// A configuration cannot be read.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The published claims are wrong.
    #[error(transparent)]
    Claims(#[from] ClaimsError),
    /// A sweep could not be run, or its results not read.
    #[error("{configuration}: {source}")]
    Sweep {
        /// The configuration.
        configuration: String,
        /// Why.
        source: RoomError,
    },
    /// A report could not be written.
    #[error("cannot write {path}: {source}; check the folder that --report names")]
    Report {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Standard output or standard error is closed.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

/// Runs the command. Score cards go to `output` (and, as files, to the report folder), progress to `log`; configurations
/// are looked for under `root` (the current folder).
///
/// # Errors
///
/// On wrong use, wrong configurations, a trace asked for by name that is not there, and output that cannot be written.
pub fn reproduce(
    args: &ReproduceArgs,
    root: &Path,
    runner: &mut dyn SweepRunner,
    output: &mut dyn Write,
    log: &mut dyn Write,
) -> Result<Ending, ReproduceError> {
    let papers: Vec<&Paper> = match &args.paper {
        Some(name) => vec![paper(name).ok_or_else(|| ReproduceError::UnknownPaper {
            name: name.clone(),
            known: names(PAPERS.iter().map(|paper| paper.name)),
        })?],
        None => PAPERS.iter().collect(),
    };
    let mut ending = Ending::Done;
    for paper in papers {
        let published = published(paper, root)?;
        let file = paper.configuration(root, EXPLANATIONS)?;
        let explanations = claims::parse_explanations(&file.origin(), &file.text)?;
        let traces: Vec<&'static PaperTrace> = match &args.trace {
            Some(name) => vec![
                paper
                    .trace(name)
                    .ok_or_else(|| ReproduceError::UnknownTrace {
                        paper: paper.name,
                        name: name.clone(),
                        known: names(paper.traces.iter().map(|trace| trace.name)),
                    })?,
            ],
            None => paper.traces.iter().collect(),
        };
        if args.list {
            list(paper, &published, &traces, root, runner, output)?;
        } else {
            let ended = reproduce_paper(
                args,
                paper,
                &published,
                &explanations,
                &traces,
                root,
                runner,
                output,
                log,
            )?;
            ending = ending.max(ended);
        }
    }
    Ok(ending)
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn published(paper: &Paper, root: &Path) -> Result<Published, ReproduceError> {
    let file = paper.configuration(root, PUBLISHED)?;
    Ok(claims::parse(&file.origin(), &file.text)?)
}

fn claims_of<'a>(published: &'a Published, trace: &str) -> impl Iterator<Item = &'a Claim> {
    published
        .claims
        .iter()
        .filter(move |claim| claim.trace == trace)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the command's inputs and outputs, each once"
)]
fn reproduce_paper(
    args: &ReproduceArgs,
    paper: &Paper,
    published: &Published,
    explanations: &[Explanation],
    traces: &[&'static PaperTrace],
    root: &Path,
    runner: &mut dyn SweepRunner,
    output: &mut dyn Write,
    log: &mut dyn Write,
) -> Result<Ending, ReproduceError> {
    let mut ending = Ending::Done;
    let mut cards = Vec::new();
    for trace in traces {
        if let Some(file) = trace.file
            && let Err(missing) = runner.find_trace(file)
        {
            if args.trace.is_some() {
                return Err(ReproduceError::MissingTrace {
                    trace: trace.name,
                    source: missing,
                });
            }
            writeln!(log, "{}: not tested: {missing}", trace.name)?;
            let why = format!("the trace file {file} was not found");
            let mut card = score_card(published, explanations, trace);
            card.remarks.push(format!("Not tested: {why}."));
            card.comparisons = claims::not_tested(claims_of(published, trace.name), &why);
            cards.push(card);
            continue;
        }
        let mut outcomes = Vec::new();
        for stem in trace.configurations() {
            let configuration = paper.configuration(root, &stem)?;
            writeln!(log, "{}: {}", trace.name, configuration.origin())?;
            let outcome = run_sweep(runner, &configuration)?;
            if outcome.interrupted {
                writeln!(
                    log,
                    "interrupted; {} points of {stem} are kept: the same command goes on from there",
                    outcome.done
                )?;
                return Ok(Ending::Interrupted);
            }
            if outcome.failed > 0 {
                ending = ending.max(Ending::SomeFailed);
            }
            outcomes.push(outcome);
        }
        let failed: u64 = outcomes.iter().map(|outcome| outcome.failed).sum();
        let measured = runner
            .measured(&outcomes, trace.batteries)
            .map_err(|source| ReproduceError::Sweep {
                configuration: trace.configurations().join(" and "),
                source,
            })?;
        let mut card = score_card(published, explanations, trace);
        if failed > 0 {
            card.remarks.push(format!(
                "{failed} points failed; what depends on them is not tested."
            ));
        }
        card.comparisons =
            claims::evaluate(published, claims_of(published, trace.name), &*measured);
        card.measured = measured_tables(published, trace.families, &*measured);
        write_card(&args.report, &card)?;
        if let Some(run) = outcomes.first() {
            let folder = args.report.join(&card.paper).join(&card.trace);
            runner
                .report(run, &folder, card.section())
                .map_err(|source| ReproduceError::Sweep {
                    configuration: trace.configurations().join(" and "),
                    source,
                })?;
        }
        if !args.json {
            writeln!(output, "{}", card.terminal())?;
        }
        cards.push(card);
    }
    if args.json {
        let records: Vec<_> = cards.iter().flat_map(ScoreCard::records).collect();
        serde_json::to_writer_pretty(&mut *output, &records).map_err(io::Error::from)?;
        writeln!(output)?;
    } else {
        let tally = Tally::of(cards.iter().flat_map(|card| &card.comparisons));
        for card in &cards {
            writeln!(output, "{:16} {}", card.trace, card.tally().sentence())?;
        }
        writeln!(output, "{:16} {}", paper.name, tally.sentence())?;
    }
    Ok(ending)
}

fn run_sweep(
    runner: &mut dyn SweepRunner,
    configuration: &Configuration,
) -> Result<SweepOutcome, ReproduceError> {
    runner
        .run(configuration)
        .map_err(|source| ReproduceError::Sweep {
            configuration: configuration.origin(),
            source,
        })
}

fn score_card(
    published: &Published,
    explanations: &[Explanation],
    trace: &PaperTrace,
) -> ScoreCard {
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

/// Writes `<report>/<paper>/<trace>/score-card.md` and `.json`.
fn write_card(report: &Path, card: &ScoreCard) -> Result<(), ReproduceError> {
    let folder = report.join(&card.paper).join(&card.trace);
    let write = |path: PathBuf, text: String| {
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, text))
            .map_err(|source| ReproduceError::Report { path, source })
    };
    let json = serde_json::to_string_pretty(&card.records()).map_err(io::Error::from)?;
    write(folder.join("score-card.md"), card.markdown())?;
    write(folder.join("score-card.json"), json + "\n")
}

fn list(
    paper: &Paper,
    published: &Published,
    traces: &[&'static PaperTrace],
    root: &Path,
    runner: &dyn SweepRunner,
    output: &mut dyn Write,
) -> Result<(), ReproduceError> {
    writeln!(output, "{}\n  {}\n\ntraces", paper.name, published.title)?;
    for trace in traces {
        let file = match trace.file {
            None => "no file needed".to_owned(),
            Some(file) => match runner.find_trace(file) {
                Ok(path) => path.display().to_string(),
                Err(_) => format!("{file}: not found"),
            },
        };
        let count = claims_of(published, trace.name).count();
        writeln!(
            output,
            "  {:14} {}; {count} claims; {file}",
            trace.name, trace.subject
        )?;
    }
    writeln!(output, "\nconfigurations")?;
    for stem in paper.stems(root)? {
        let of_trace = |trace: &&PaperTrace| {
            stem.strip_prefix("ablation-")
                .unwrap_or(&stem)
                .strip_prefix(trace.name)
                .is_some_and(|rest| rest.starts_with('-'))
        };
        if traces.iter().any(of_trace) {
            let configuration = paper.configuration(root, &stem)?;
            writeln!(
                output,
                "  {}\n    {}",
                configuration.origin(),
                configuration.summary()
            )?;
        }
    }
    writeln!(output, "\nclaims")?;
    for trace in traces {
        for claim in claims_of(published, trace.name) {
            writeln!(output, "  {:78} {}", claim.id, expectation(claim))?;
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

#[cfg(test)]
mod tests;
