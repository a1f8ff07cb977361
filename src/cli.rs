//! The command line: one file a subcommand, and the conventions that they share.
//!
//! Data goes to standard output, progress and logs to standard error. Exit codes: 0 done; 1 done,
//! but some points failed; 2 wrong use or configuration; 130 interrupted, everything finished so
//! far kept.

pub mod advise;
mod aligned;
pub mod backup;
pub mod check;
mod cite;
pub mod compare;
pub mod completions;
pub mod durability;
pub mod explain;
pub mod export;
mod former;
pub mod gantt;
pub mod init;
mod limit;
pub mod list;
mod logging;
pub mod machine;
pub mod man;
pub mod memory;
pub mod merge;
mod output;
mod paragraphs;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod run_list;
mod screen;
pub mod serve;
mod shares;
pub mod show;
pub mod simulate;
mod spool;
pub mod sql;
pub mod submit;
pub mod trace;
pub mod workflow;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use crate::studies::{STUDIES, VIEWS};
use crate::study::Studies;
use bookahead_report::Views;
use output::{print, say};
pub use screen::LookError;

/// A laboratory for planning-based resource management: overbooked plans, reservations and the
/// sweeps that compare them.
#[derive(Debug, Parser)]
#[command(name = "bookahead", version, about, max_term_width = 110)]
#[command(after_help = "\
Exit codes: 0 done; 1 done, but some points failed (compare --exit-code: something differs); 2 wrong use, configuration or \
file; 130 interrupted, everything finished so far kept.

Data goes to standard output, messages to standard error; NO_COLOR is obeyed. On a terminal no table is wider than it: columns \
that matter least are left out (--wide shows all). In a pipe tables have all columns; --tsv makes values of them.

Examples:
  bookahead list strategies                       what an experiment can name
  bookahead init heuristic-overbooking > my.toml  a first experiment
  bookahead run my.toml                           what is done is not run again
  bookahead runs                                  what is in the store
  bookahead show latest --points                  progress, failures, missing points
  bookahead serve                                 the same and more in the browser, live
  bookahead compare 1 2                           what a change did
  bookahead sql \"SELECT * FROM v_run\"             any other question")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Write a structured log (JSON, one event per line) to this file
    #[arg(long, value_name = "FILE", global = true)]
    log: Option<PathBuf>,
    /// When to use colours
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        global = true
    )]
    color: ColorWhen,
    /// Show tables with all their columns, however wide they are
    #[arg(long, global = true)]
    wide: bool,
    /// Print tables as tab-separated values, for scripts: a header, then a line for each row
    #[arg(long, global = true)]
    tsv: bool,
}

/// Values of `--color`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the program was made of: set once, by [`main`].
static PROGRAM: OnceLock<Program> = OnceLock::new();

/// What a program hands to [`main`]: its studies with their policies, and what reports show of
/// single studies. Whoever has a study or a policy of their own makes another program of it
/// (docs/study.md, docs/policy.md).
#[derive(Clone, Copy)]
pub struct Program {
    /// The studies.
    pub studies: Studies,
    /// What reports show of each beyond what they show of every run.
    pub views: Views,
}

impl Default for Program {
    /// This program.
    fn default() -> Self {
        Self {
            studies: STUDIES,
            views: VIEWS,
        }
    }
}

/// What the program under way is made of.
fn program() -> Program {
    PROGRAM.get().copied().unwrap_or_default()
}

/// The studies of the program under way, with the commit that `build.rs` found.
fn studies() -> Studies {
    program()
        .studies
        .built_from(option_env!("BOOKAHEAD_COMMIT"))
}

/// What `--color` said, for everybody who writes to standard error.
static COLOR: OnceLock<ColorWhen> = OnceLock::new();

/// Whether standard error gets colours.
fn colours() -> bool {
    match COLOR.get() {
        Some(ColorWhen::Always) => true,
        Some(ColorWhen::Never) => false,
        _ => {
            output::is_terminal_behind_messages()
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run an experiment, or resume it: points that are done are not run again
    #[command(after_help = "\
Exit codes: 0 done; 1 some points failed; 2 wrong use or configuration; 130 interrupted, the same command goes on.

Examples:
  bookahead run configs/quickstart.toml --dry-run
  bookahead run configs/quickstart.toml
  bookahead run night.toml --outcomes metrics --workers 3 --log night.jsonl")]
    Run(run::RunArgs),
    /// Check an experiment without running it (the file, its inputs, what is left to do, how long
    /// that takes), or a store for damage
    #[command(after_help = "\
Exit codes: 0 the run can begin; 2 the same errors that `run` would stop with.

Examples:
  bookahead check configs/quickstart.toml
  bookahead check night.toml --workers 16
  bookahead check --store data/bookahead.db       every row against what was written; 1 if something differs")]
    Check(check::CheckArguments),
    /// Print a commented experiment to begin with, which runs in seconds
    Init(init::InitArguments),
    /// List strategies, keys, metrics or known traces, or print the JSON Schema of experiment files
    List(list::ListArguments),
    /// Say what a word of reports, a key of experiment files or a quantity means
    Explain(explain::ExplainArguments),
    /// Write the report of a run again
    #[command(after_help = "\
Examples:
  bookahead report latest
  bookahead report 3 --out /tmp/report
  bookahead report latest --json | jq .best
  bookahead report latest --format latex --figure-width one-column
  bookahead report latest --cite >> paper.bib")]
    Report(report::ReportArguments),
    /// List the runs of a store, newest first
    Runs(run_list::RunListArguments),
    /// Show a store in the browser: runs as they progress, reports, comparisons, plans, SQL
    Serve(serve::ServeArguments),
    /// Show one run, or one point with the jobs behind it
    Show(show::ShowArguments),
    /// Compare runs point by point, on the screen or as a report
    Compare(compare::CompareArguments),
    /// Export a run as Parquet or CSV
    Export(export::ExportArguments),
    /// Draw the plan of one point: nodes × time, or how many nodes are held over time
    #[command(after_help = "\
The point is simulated again from its stored specification and checked against the store, so its trace must be found.

Examples:
  bookahead gantt latest --point 12 --out plan.svg
  bookahead gantt 3 --point 12 --from 2d --to 60h --out plan.html
  bookahead gantt four-axes --point 100 --cluster 1 --out cluster.svg")]
    Gantt(gantt::GanttArguments),
    /// Query the store with SQL (read-only)
    Sql(sql::SqlArguments),
    /// Run a paper's evaluation and compare the results with the published ones
    #[command(after_help = "\
Examples:
  bookahead reproduce birkenheuer2012 --list
  BOOKAHEAD_TRACES=~/traces bookahead reproduce birkenheuer2012 --trace ctc
  BOOKAHEAD_TRACES=~/traces bookahead reproduce birkenheuer2012 --trace ctc --reading all")]
    Reproduce(reproduce::ReproduceArgs),
    /// Run a few experiments on a log and write one page of advice for those who run the machine
    Advise(advise::AdviseArguments),
    /// Schedule one trace under one policy, without a sweep
    #[command(after_help = "\
Examples:
  bookahead simulate CTC-SP2-1996-3.1-cln.swf.gz --policy easy-backfilling
  bookahead simulate trace.swf --policy heuristic-planning --nodes 256 --load 0.85 --json
  bookahead simulate trace.swf --policy heuristic-planning --estimates perfect --schedule planned.swf
  bookahead simulate --model lublin-feitelson --jobs 10000000 --nodes 256 --load 0.85 --policy easy-backfilling
  bookahead simulate SDSC-BLUE-2000-4.2-cln.swf.gz --machine configs/machines/sdsc-blue.toml
  bookahead simulate jobs.swf --machine slurm.conf --names map.csv")]
    Simulate(simulate::SimulateArguments),
    /// Check a machine file, or make one of a slurm.conf
    #[command(after_help = "\
A machine file says partitions, priorities, limits and maintenance for `bookahead simulate --machine`. Of a slurm.conf what is read \
becomes a machine file; what is not read is counted and named on standard error. docs/machines.md says what a machine file may hold.

Examples:
  bookahead machine configs/machines/sdsc-blue.toml
  bookahead machine slurm.conf > machine.toml
  bookahead machine slurm.conf --qos qos.txt --associations assoc.txt > machine.toml")]
    Machine(machine::MachineArguments),
    /// Run an experiment on many machines, as jobs of Slurm or HyperQueue
    #[command(after_help = "\
Every job is `bookahead run CONFIG --shard I/N` into a store of its own in the folder; `bookahead merge` joins the stores.

Examples:
  bookahead submit --engine slurm night.toml --shards 40 --workers 8 --option=--partition=long
  bookahead submit --engine slurm night.toml --shards 40 --dry-run
  bookahead submit --engine slurm night.toml --shards 40 --only 17
  bookahead submit --engine hyperqueue night.toml --shards 400")]
    Submit(submit::SubmitArguments),
    /// Merge the stores of shares, or of any runs of one experiment, into one store
    #[command(after_help = "\
OUT is created if it is missing; what it has already is not written again, so the command can be repeated. Nothing is written if two stores contradict each other.

Exit codes: 0 every point is done; 1 some points failed or are still missing; 2 wrong use, or the stores do not agree.

Examples:
  bookahead merge data/bookahead.db data/night.shards
  bookahead merge all.db shard-1-of-2.db shard-2-of-2.db")]
    Merge(merge::MergeArguments),
    /// Copy a store, while a sweep may be writing to it
    #[command(after_help = "\
The copy is the store at one instant. It is compared with the digests of what was written before it gets its name; nothing is overwritten. \
docs/durability.md says how to restore it.

Examples:
  bookahead backup data/bookahead.db /mnt/safe/bookahead-monday.db")]
    Backup(backup::BackupArguments),
    /// Inspect, convert or generate a trace
    #[command(after_help = "\
Examples:
  bookahead trace info CTC-SP2-1996-3.1-cln.swf
  bookahead trace estimates CTC-SP2-1996-3.1-cln.swf --out estimates
  bookahead trace convert --help")]
    Trace(trace::TraceArguments),
    /// Inspect, draw, schedule or generate a workflow
    #[command(after_help = "\
Examples:
  bookahead workflow info Montage_100.xml
  bookahead workflow draw Montage_100.xml --out montage.svg
  bookahead workflow generate cyber-shake cyber-shake.json")]
    Workflow(workflow::WorkflowArguments),
    /// Print the completions for a shell
    Completions(completions::CompletionsArguments),
    /// Print the manual page, or write all of them into a folder
    Man(man::ManArguments),
}

/// The command line, with what its help says of registered strategies and measures.
fn command() -> clap::Command {
    let added = [
        ("init", init::after_help()),
        ("run", list::strategies::after_help()),
        ("compare", list::metrics::in_words()),
    ];
    added.into_iter().fold(
        completions::completed(Cli::command()),
        |command, (name, words)| {
            command.mut_subcommand(name, |command| {
                let before = command.get_after_help().map(ToString::to_string);
                command.after_help(
                    before.map_or(words.clone(), |before| format!("{before}\n\n{words}")),
                )
            })
        },
    )
}

/// Parses the arguments (the first is the program's name), does what they say with these studies,
/// and returns the exit code. A process has one program: what it is handed first.
pub fn main(program: Program, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    PROGRAM.get_or_init(|| program);
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if completions::answer(&arguments, command) {
        return ExitCode::SUCCESS;
    }
    let are_harmful = output::are_harmful(&arguments);
    let matches = former::with_former(command())
        .color(help_colours(&arguments))
        .try_get_matches_from(&arguments);
    let renamed = matches.as_ref().ok();
    if let Some(sentence) = renamed.and_then(|matches| former::renamed(matches, &arguments)) {
        say(format_args!("error: {sentence}"));
        return ExitCode::from(2);
    }
    if let Some(sentence) = renamed.and_then(aligned::refused) {
        say(format_args!("error: {sentence}"));
        return ExitCode::from(2);
    }
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            output::parsed(&error, are_harmful);
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let _ = COLOR.set(cli.color);
    aligned::ask(cli.wide, cli.tsv);
    let quiet = match &cli.command {
        Command::Run(arguments) => arguments.quiet,
        Command::Advise(arguments) => arguments.quiet,
        _ => false,
    };
    if let Err(error) = logging::start(cli.log.as_deref(), quiet) {
        say(format_args!("error: {error}"));
        return ExitCode::from(2);
    }
    match cli.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Advise(arguments) => advise::execute(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Init(arguments) => looked(init::execute(&arguments)),
        Command::List(arguments) => looked_with(list::execute(&arguments)),
        Command::Explain(arguments) => looked(explain::execute(&arguments)),
        Command::Report(arguments) if arguments.cite => {
            ended(cite::execute(&arguments).map(|()| ExitCode::SUCCESS))
        }
        Command::Report(arguments) => {
            ended(report::execute(&arguments).map(|()| ExitCode::SUCCESS))
        }
        Command::Runs(arguments) => looked_with(run_list::execute(&arguments)),
        Command::Serve(arguments) => looked_with(serve::execute(&arguments)),
        Command::Show(arguments) => looked(show::execute(&arguments)),
        Command::Compare(arguments) => looked_with(compare::execute(&arguments)),
        Command::Export(arguments) => looked(export::execute(&arguments)),
        Command::Submit(arguments) => looked_with(submit::execute(&arguments)),
        Command::Merge(arguments) => looked_with(merge::execute(&arguments)),
        Command::Backup(arguments) => looked(backup::execute(&arguments)),
        Command::Gantt(arguments) => ended(gantt::execute(&arguments).map(|()| ExitCode::SUCCESS)),
        Command::Sql(arguments) => looked(sql::execute(&arguments)),
        Command::Completions(arguments) => {
            looked(completions::execute(&arguments).map_err(LookError::from))
        }
        Command::Man(arguments) => looked(man::execute(&arguments, command())),
        Command::Workflow(arguments) => {
            ended(workflow::execute(&arguments).map(|()| ExitCode::SUCCESS))
        }
        Command::Simulate(arguments) => ended(simulate::execute(&arguments)),
        Command::Machine(arguments) => ended(machine::execute(&arguments)),
        Command::Reproduce(arguments) => ended(reproduce::execute(&arguments)),
        Command::Trace(arguments) => trace::execute(&arguments).unwrap_or_else(|error| {
            say(format_args!("error: {error}"));
            ExitCode::from(2)
        }),
    }
}

/// Help and wrong use are printed before the arguments are known, so `--color` is looked for by
/// hand.
fn help_colours(arguments: &[OsString]) -> clap::ColorChoice {
    let mut texts = arguments.iter().filter_map(|argument| argument.to_str());
    while let Some(text) = texts.next() {
        let value = match text.strip_prefix("--color") {
            Some("") => texts.next(),
            Some(rest) => rest.strip_prefix('='),
            None => continue,
        };
        match value {
            Some("always") => return clap::ColorChoice::Always,
            Some("never") => return clap::ColorChoice::Never,
            _ => {}
        }
    }
    clap::ColorChoice::Auto
}

/// The end of a command that looks at a store.
fn looked(result: Result<(), LookError>) -> ExitCode {
    looked_with(result.map(|()| ExitCode::SUCCESS))
}

/// The end of a command that looks at a store: a reader who has seen enough is no error, Ctrl-C
/// is 130.
fn looked_with(result: Result<ExitCode, LookError>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("error: {error}"));
            ExitCode::from(if error.is_interrupted() { 130 } else { 2 })
        }
    }
}

/// Prints an error, if there is one; every error of these commands is wrong use or a wrong file.
fn ended(result: Result<ExitCode, impl std::error::Error>) -> ExitCode {
    result.unwrap_or_else(|error| {
        say(format_args!("error: {error}"));
        ExitCode::from(2)
    })
}

/// The store where no other is named.
const STORE: &str = "data/bookahead.db";

/// Where the stores of an experiment's shares are when no other place is named.
fn shards_folder(name: &str) -> PathBuf {
    PathBuf::from("data").join(format!("{name}.shards"))
}

/// The text of an argument that may be too long for a command line: `@FILE` is what the file holds,
/// `@-` standard input.
fn long_text(text: &str) -> Result<String, String> {
    let Some(file) = text.strip_prefix('@') else {
        return Ok(text.to_owned());
    };
    let read = match file {
        "-" => std::io::read_to_string(std::io::stdin().lock()),
        file => crate::workload::input_file::read_text(std::path::Path::new(file)),
    };
    read.map_err(|error| {
        format!("{text} cannot be read: {error}; @ begins the name of a file that holds the value")
    })
}

/// A number of workers, with an error that says what is allowed.
fn workers(text: &str) -> Result<std::num::NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "allowed is a whole number of 1 or more".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands in the blocks of the page; that its pictures exist is in tests/links.rs.
    #[test]
    fn every_command_of_the_gallery_is_one_that_the_program_takes() {
        let page = include_str!("../docs/gallery.md");
        let blocks = page.split("```\n").skip(1).step_by(2);
        let commands: Vec<&str> = blocks.flat_map(str::lines).collect();
        assert_eq!(commands.len(), 9);
        for line in commands {
            if let Err(error) = Cli::command().try_get_matches_from(line.split(' ')) {
                panic!("{line}: {error}");
            }
        }
        let pictures = page.matches("\n![").count();
        assert_eq!(
            pictures,
            page.matches("\n## ").count(),
            "one of each kind of page"
        );
    }
}
