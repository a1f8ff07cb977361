//! `bookahead reproduce`: repeats a paper's evaluation and compares measured with published
//! results.
//!
//! This file decides what to run and where results go. It runs nothing itself: sweeps, traces and
//! the store are behind [`SweepRunner`].

mod evaluation;
mod listing;
mod page;
mod paper;
mod readings;
mod runner;
mod stored;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

pub use paper::{
    Configuration, EXPLANATIONS, FINDINGS, PAPER, Paper, PaperError, PaperTrace, paper_names,
};
pub use readings::{ReadingError, reading_names};
pub use runner::StoredRunner;
pub use stored::StoredCurves;

use super::durability::DurabilityArgument;
use super::memory::MemoryArguments;
use crate::cli::studies;
use crate::output::OutputFolder;
use crate::sweep::{OutcomeDetail, SweepOptions};
use bookahead_papers::findings::{FindingsError, FindingsFile, MeasuredCurves};
use bookahead_papers::reproduction::ScoreCard;
use bookahead_report::ReportExtras;

/// Arguments of `bookahead reproduce`.
#[derive(Args, Clone, Debug)]
pub struct ReproduceArgs {
    /// How much memory inputs may take.
    #[command(flatten)]
    pub memory: MemoryArguments,
    /// The paper; `--list` shows them all
    #[arg(required_unless_present_any = ["list", "all"])]
    pub paper: Option<String>,
    /// List papers and their traces instead of running anything; with a paper, its readings as well
    #[arg(long)]
    pub list: bool,
    /// Every paper, and one page over all of them; with --list: every configuration and every
    /// finding as well
    #[arg(long)]
    pub all: bool,
    /// Only this trace; a missing trace file is then an error
    #[arg(long, value_name = "NAME")]
    pub trace: Option<String>,
    /// Under this reading of the paper instead of the default one (repeatable; `all` for every
    /// reading); `--list` shows which there are
    #[arg(long = "reading", value_name = "NAME")]
    pub readings: Vec<String>,
    /// Run nothing: rebuild the page of the paper, or with --all every page, from the score cards
    /// in the folder of reports
    #[arg(long, conflicts_with_all = ["trace", "readings", "list", "json"])]
    pub from_cards: bool,
    /// The database
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// What a power failure may cost
    #[command(flatten)]
    pub durability: DurabilityArgument,
    /// Worker threads [default: the cores]
    #[arg(long, value_name = "N", value_parser = super::workers)]
    pub workers: Option<std::num::NonZeroUsize>,
    /// What to keep: the points' metrics, or every job's outcome as well; points that were kept
    /// with less are computed again
    #[arg(long, value_enum, default_value = "metrics")]
    pub outcomes: OutcomesArgument,
    /// The folder of reports; the page of the paper goes to DIR/PAPER/, score cards to
    /// DIR/PAPER/TRACE/, those of other readings than the default to DIR/PAPER/TRACE@READING/
    #[arg(long, value_name = "DIR", default_value = "reports/reproduced")]
    pub report: PathBuf,
    /// Print every comparison as JSON instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Values of `--outcomes`: score cards are read off a store, so there is none without metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutcomesArgument {
    /// Every point's metrics.
    Metrics,
    /// Every job's outcome and every point's metrics.
    All,
}

impl ReproduceArgs {
    /// How its sweeps are run.
    #[must_use]
    pub fn sweep_options(&self) -> SweepOptions {
        let mut options = SweepOptions::new(studies(), self.store.clone());
        options.durability = self.durability.into();
        options.outcomes = match self.outcomes {
            OutcomesArgument::Metrics => OutcomeDetail::Metrics,
            OutcomesArgument::All => OutcomeDetail::All,
        };
        options.folders.memory = self.memory.budget();
        if let Some(workers) = self.workers {
            options.workers = workers.get();
        }
        options
    }
}

/// Runs the command and returns its exit code.
///
/// # Errors
///
/// As [`reproduce`].
pub fn execute(args: &ReproduceArgs) -> Result<ExitCode, ReproduceError> {
    let options = args.sweep_options();
    if !args.list {
        options.interrupt.listen()?;
    }
    let mut runner = StoredRunner::new(options);
    let ending = reproduce(
        args,
        Path::new(""),
        &mut runner,
        &mut super::output::people(),
        &mut super::output::StandardError::new(),
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

/// Any error of another module, as it came.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// What reproducing needs from the modules that run and keep simulations.
pub trait SweepRunner {
    /// Finds a trace file by the archive's name.
    ///
    /// # Errors
    ///
    /// When it is not there: names the file and where the archive offers it.
    fn find_trace(&self, file: &str) -> Result<PathBuf, AnyError>;

    /// Runs one configuration to its end, or continues it: points that are done are not run again.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong or the store cannot be used. Points that fail are no error,
    /// but counted.
    fn run(&mut self, configuration: &Configuration) -> Result<SweepOutcome, AnyError>;

    /// The curves that findings ask for, read from the store: of the runs of these configurations
    /// (stem, and how [`SweepRunner::run`] ended) what the findings name.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn curves(
        &self,
        runs: &[(&str, SweepOutcome)],
        findings: &FindingsFile,
    ) -> Result<Box<dyn MeasuredCurves>, AnyError>;

    /// Writes the report of a run into a folder, with what of the paper held where that is given,
    /// and what it published.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or the folder not be written.
    fn report(
        &self,
        run: &SweepOutcome,
        folder: &Path,
        extras: &ReportExtras,
    ) -> Result<(), AnyError>;
}

/// How a sweep ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepOutcome {
    /// The experiment's name.
    pub experiment: String,
    /// The run's number in the store.
    pub run: i64,
    /// Replications of each of its points: a complete cell has as many.
    pub replications: u32,
    /// Points that are done, now or before.
    pub done: u64,
    /// Points that failed.
    pub failed: u64,
    /// Whether Ctrl-C stopped it.
    pub interrupted: bool,
}

/// How reproducing ended, where it was no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReproductionEnd {
    /// Everything that could be run is done.
    Done,
    /// Some points failed.
    SomeFailed,
    /// Interrupted; what was finished is kept.
    Interrupted,
}

impl ReproductionEnd {
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
    /// Every paper, and yet one of them, one trace, a reading or records.
    #[error(
        "--all runs every paper as it is and prints its score cards; leave out {found}, or leave out --all"
    )]
    NotAll {
        /// What was asked for besides.
        found: &'static str,
    },
    /// No such trace.
    #[error("{paper} has no trace `{name}`; there are: {known}")]
    UnknownTrace {
        /// The paper.
        paper: String,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The trace that was asked for is not there.
    #[error("the trace `{trace}` cannot be run: {source}")]
    MissingTrace {
        /// The trace.
        trace: String,
        /// Which file, and where the archive offers it.
        source: AnyError,
    },
    /// There is no such paper, or one of its files cannot be read.
    #[error(transparent)]
    Paper(#[from] PaperError),
    /// A reading cannot be run.
    #[error(transparent)]
    Reading(#[from] ReadingError),
    /// The findings, their explanations or the readings are wrong.
    #[error(transparent)]
    Findings(#[from] FindingsError),
    /// A sweep could not be run, or its results not read.
    #[error("{configuration}: {source}")]
    Sweep {
        /// The configuration.
        configuration: String,
        /// Why.
        source: AnyError,
    },
    /// There is no score card to make a page of.
    #[error("{folder} has no score card; bookahead reproduce {paper} makes them")]
    NoCard {
        /// The folder of the paper.
        folder: PathBuf,
        /// The paper.
        paper: String,
    },
    /// A score card cannot be read.
    #[error("cannot read the score card {path}: {source}; `{command}` makes it again")]
    Card {
        /// The file.
        path: PathBuf,
        /// The command that makes it.
        command: String,
        /// Why.
        source: AnyError,
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

/// Runs the command. Score cards go to `output` (and, as files, to the report folder), progress to
/// `log`; configurations are looked for under `root` (the current folder).
///
/// # Errors
///
/// On wrong use, wrong configurations, a trace asked for by name that is not there, and output that
/// cannot be written.
pub fn reproduce(
    args: &ReproduceArgs,
    root: &Path,
    runner: &mut dyn SweepRunner,
    output: &mut dyn Write,
    log: &mut dyn Write,
) -> Result<ReproductionEnd, ReproduceError> {
    let over_all = args.all && !args.list;
    let besides = [
        (args.paper.is_some(), "the name of the paper"),
        (args.trace.is_some(), "--trace"),
        (!args.readings.is_empty(), "--reading"),
        (args.json, "--json"),
    ];
    if over_all && let Some((_, found)) = besides.into_iter().find(|(is_asked, _)| *is_asked) {
        return Err(ReproduceError::NotAll { found });
    }
    let papers = match &args.paper {
        Some(name) => vec![Paper::read(root, name)?],
        None => having(root, args.trace.as_deref())?,
    };
    let mut session = Session {
        args,
        runner,
        output,
        log,
    };
    let mut ending = ReproductionEnd::Done;
    for paper in &papers {
        if let Some(name) = &args.trace
            && paper.trace(name).is_none()
        {
            return Err(ReproduceError::UnknownTrace {
                paper: paper.name.clone(),
                name: name.clone(),
                known: names(paper.traces.iter().map(|trace| trace.name.as_str())),
            });
        }
        ending = ending.max(evaluation::reproduce(&mut session, paper)?);
        if ending == ReproductionEnd::Interrupted {
            return Ok(ending);
        }
    }
    if over_all {
        page::of_all(&mut session, &papers)?;
    }
    Ok(ending)
}

/// The papers that have a trace of this name; all where none is asked for, or none has it.
fn having(root: &Path, trace: Option<&str>) -> Result<Vec<Paper>, PaperError> {
    let mut papers = paper_names(root)
        .iter()
        .map(|name| Paper::read(root, name))
        .collect::<Result<Vec<_>, _>>()?;
    let has = |paper: &Paper| trace.is_none_or(|name| paper.trace(name).is_some());
    if papers.iter().any(has) {
        papers.retain(has);
    }
    Ok(papers)
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// What the command was given, and where it speaks.
struct Session<'s> {
    args: &'s ReproduceArgs,
    runner: &'s mut dyn SweepRunner,
    output: &'s mut dyn Write,
    log: &'s mut dyn Write,
}

impl Session<'_> {
    fn is_chosen(&self, trace: &PaperTrace) -> bool {
        match &self.args.trace {
            Some(name) => *name == trace.name,
            None => self.args.list || !trace.on_request,
        }
    }

    /// Why a trace cannot be run; `None` where it can. Where it was asked for by name that is an
    /// error.
    fn missing(&mut self, trace: &PaperTrace) -> Result<Option<String>, ReproduceError> {
        for file in &trace.files {
            let Err(missing) = self.runner.find_trace(file) else {
                continue;
            };
            if self.args.trace.is_some() {
                return Err(ReproduceError::MissingTrace {
                    trace: trace.name.clone(),
                    source: missing,
                });
            }
            writeln!(self.log, "{}: not tested: {missing}", trace.name)?;
            return Ok(Some(format!("the trace file {file} was not found")));
        }
        Ok(None)
    }

    /// Runs one configuration, saying so before, and after an interruption how to go on.
    fn run(
        &mut self,
        trace: &PaperTrace,
        configuration: &Configuration,
    ) -> Result<SweepOutcome, ReproduceError> {
        let stem = &configuration.name;
        writeln!(self.log, "{}: {}", trace.name, configuration.origin())?;
        let outcome = self
            .runner
            .run(configuration)
            .map_err(|source| ReproduceError::Sweep {
                configuration: configuration.origin(),
                source,
            })?;
        if outcome.interrupted {
            writeln!(
                self.log,
                "interrupted; {} points of {stem} are kept: the same command goes on from there",
                outcome.done
            )?;
        }
        Ok(outcome)
    }

    /// The folder of a trace's cards and reports.
    fn folder(&self, paper: &str, trace: &str) -> PathBuf {
        self.args.report.join(paper).join(trace)
    }

    /// Writes the report of a run into a folder.
    fn report(
        &self,
        run: &SweepOutcome,
        folder: &Path,
        extras: &ReportExtras,
    ) -> Result<(), ReproduceError> {
        let failure = |source| ReproduceError::Sweep {
            configuration: run.experiment.clone(),
            source,
        };
        self.runner.report(run, folder, extras).map_err(failure)
    }

    /// Writes `score-card.md` and `score-card.json` into a folder.
    fn write_card(&self, folder: &Path, card: &ScoreCard) -> Result<(), ReproduceError> {
        let json = serde_json::to_string_pretty(&card.records()).map_err(io::Error::from)?;
        self.write_file(folder, "score-card.md", &card.markdown())?;
        for (name, drawing) in card.drawings() {
            self.write_file(folder, &name, &drawing)?;
        }
        self.write_file(folder, "score-card.json", &(json + "\n"))
    }

    /// Writes a file into a folder, which is made.
    fn write_file(&self, folder: &Path, name: &str, text: &str) -> Result<(), ReproduceError> {
        let path = folder.join(name);
        OutputFolder::create(folder)
            .and_then(|folder| folder.write_file(name, text.as_bytes()))
            .map_err(|source| ReproduceError::Report { path, source })
    }

    /// Whether comparisons are printed as records in the place of cards.
    fn prints_records(&self) -> bool {
        super::output::are_records(self.args.json)
    }

    fn print_json(&mut self, records: &impl serde::Serialize) -> Result<(), ReproduceError> {
        let text = super::output::records(records).map_err(io::Error::from)?;
        Ok(self.output.write_all(text.as_bytes())?)
    }
}

#[cfg(test)]
mod curve_tests;
#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod reading_tests;
#[cfg(test)]
mod tests;
