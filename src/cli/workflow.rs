//! `bookahead workflow info|draw|schedule|generate`: look at a workflow, draw it, schedule it, or
//! write one of those that Singh 2008 describes.
//!
//! Data goes to standard output, messages to standard error. Every error is wrong use or bad input:
//! exit code 2.

mod describe;
mod generate;
mod schedule;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use self::describe::{Described, describe};
use self::generate::GenerateArguments;
use self::schedule::ScheduleArguments;
use super::memory::MemoryArguments;
use crate::output::write_file;
use crate::sweep::InputFolders;
use crate::workload::workflows::heft::HeftError;
use crate::workload::workflows::{
    Negatives, Network, NetworkError, ReadWorkflow, TransferMean, WorkflowError, WorkflowFolder,
    read_workflow, summarise_workflow,
};
use bookahead_report::workflow_svg;

/// Arguments of `bookahead workflow`.
#[derive(Args, Debug)]
pub struct WorkflowArguments {
    #[command(subcommand)]
    command: WorkflowCommand,
}

#[derive(Subcommand, Debug)]
enum WorkflowCommand {
    /// Summarise a workflow: tasks, edges, depth, width, work, critical path
    Info(InfoArguments),
    /// Draw a workflow as SVG, level by level; levels of more than 80 tasks are folded
    Draw(DrawArguments),
    /// Schedule a workflow of single-processor tasks by HEFT and print where and when each task
    /// runs
    Schedule(ScheduleArguments),
    /// Write the synthetic or the CyberShake workflow as a file
    Generate(GenerateArguments),
}

#[derive(Args, Debug)]
struct InfoArguments {
    #[command(flatten)]
    input: InputArguments,
    /// Bandwidth between sites in Gbit/s, for the critical path with transfers
    #[arg(long, value_name = "GBPS", default_value_t = 10.0)]
    bandwidth: f64,
    /// Latency between sites in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 150.0)]
    latency: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct DrawArguments {
    #[command(flatten)]
    input: InputArguments,
    /// The file to write [default: the name of the workflow's file with .svg, in the working
    /// folder]
    #[arg(long, value_name = "FILE.svg")]
    out: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct InputArguments {
    #[command(flatten)]
    memory: MemoryArguments,
    /// The workflow, a Pegasus DAX file or a WfCommons instance: a path, or a file in the folder
    /// BOOKAHEAD_WORKFLOWS or its folder dax
    file: PathBuf,
    /// Refuse negative run times and sizes instead of taking them as 0
    #[arg(long)]
    strict: bool,
}

/// Why a workflow was not shown, drawn or written.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowCommandError {
    /// The workflow cannot be read, made or written.
    #[error(transparent)]
    Workflow(#[from] WorkflowError),
    /// The network cannot be.
    #[error("network: {0}")]
    Network(#[from] NetworkError),
    /// There is no schedule.
    #[error(transparent)]
    Heft(#[from] HeftError),
    /// It is not said how many resources there are.
    #[error(
        "the workflow says nothing about resources: give --resources N, or run times on each of them with --runtimes FILE.csv"
    )]
    Resources,
    /// A file of run times is faulty.
    #[error("{file}:{line}: {problem}")]
    Runtimes {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A file cannot be read.
    #[error("cannot read `{path}`: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The drawing has another ending.
    #[error("`{0}` does not end in .svg, the only format of a drawing")]
    Ending(PathBuf),
    /// A volume that cannot be.
    #[error("--mean-gigabits is {0}; allowed is 0 to 1e9")]
    Volume(f64),
    /// The drawing cannot be written.
    #[error("cannot write `{path}`: {source}; choose another file with --out")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
}

/// What a subcommand says.
#[derive(Debug, Default)]
struct Answer {
    /// For standard output.
    data: String,
    /// For standard error.
    messages: Vec<String>,
}

/// Does what the arguments say.
///
/// # Errors
///
/// When a workflow cannot be read, made or written, or a file cannot be written.
pub fn execute(arguments: &WorkflowArguments) -> Result<(), WorkflowCommandError> {
    let folder = InputFolders::from_environment().workflows;
    let answer = answer(arguments, folder.as_deref())?;
    for message in &answer.messages {
        super::say(message);
    }
    match super::print(&answer.data) {
        // A reader such as `head` that has seen enough is no fault.
        Err(fault) if fault.kind() != ErrorKind::BrokenPipe => {
            Err(WorkflowCommandError::Output(fault))
        }
        _ => Ok(()),
    }
}

fn answer(
    arguments: &WorkflowArguments,
    folder: Option<&Path>,
) -> Result<Answer, WorkflowCommandError> {
    match &arguments.command {
        WorkflowCommand::Info(arguments) => info(arguments, folder),
        WorkflowCommand::Draw(arguments) => draw(arguments, folder),
        WorkflowCommand::Schedule(arguments) => schedule::schedule(arguments, folder),
        WorkflowCommand::Generate(arguments) => generate::generate(arguments),
    }
}

fn info(arguments: &InfoArguments, folder: Option<&Path>) -> Result<Answer, WorkflowCommandError> {
    let network = Network {
        bandwidth_bits_per_second: arguments.bandwidth * 1e9,
        latency_seconds: arguments.latency,
        mean: TransferMean::DistinctPairs,
    };
    network.check()?;
    let (path, read) = arguments.input.read(folder)?;
    let described = Described {
        file: path.display().to_string(),
        summary: summarise_workflow(&read.workflow, &network),
        notes: read.notes,
    };
    let data = if arguments.json {
        // Texts, numbers and lists: nothing that JSON could not hold.
        crate::cli::output::json(&described).unwrap_or_default()
    } else {
        describe(&described)
    };
    Ok(Answer {
        data,
        messages: read.notes.sentences(),
    })
}

fn draw(arguments: &DrawArguments, folder: Option<&Path>) -> Result<Answer, WorkflowCommandError> {
    let (path, read) = arguments.input.read(folder)?;
    let out = arguments.out.clone().unwrap_or_else(|| {
        PathBuf::from(path.file_name().unwrap_or_default()).with_extension("svg")
    });
    if out.extension().is_none_or(|ending| ending != "svg") {
        return Err(WorkflowCommandError::Ending(out));
    }
    write_file(&out, workflow_svg(&read.workflow)).map_err(|source| {
        WorkflowCommandError::Write {
            path: out.clone(),
            source,
        }
    })?;
    Ok(Answer {
        data: format!("{}\n", out.display()),
        messages: read.notes.sentences(),
    })
}

impl InputArguments {
    /// The path at which the workflow was found, and the workflow.
    fn read(&self, folder: Option<&Path>) -> Result<(PathBuf, ReadWorkflow), WorkflowError> {
        let folder = WorkflowFolder {
            path: folder.map(Path::to_owned),
            memory: self.memory.budget(),
        };
        let path = folder.find(&self.file.to_string_lossy())?;
        let negatives = if self.strict {
            Negatives::Refuse
        } else {
            Negatives::Zero
        };
        let read = read_workflow(&path, negatives, folder.memory)?;
        Ok((path, read))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        workflow: WorkflowArguments,
    }

    fn run(arguments: &[&str]) -> Result<Answer, WorkflowCommandError> {
        let program = Program::try_parse_from([&["workflow"], arguments].concat()).unwrap();
        answer(&program.workflow, None)
    }

    fn text(path: &Path) -> String {
        path.display().to_string()
    }

    #[test]
    fn the_cyber_shake_workflow_goes_out_and_comes_back_in_both_formats() {
        let folder = tempfile::tempdir().unwrap();
        for ending in ["json", "xml", "dax"] {
            let file = text(&folder.path().join(format!("cs.{ending}")));
            run(&["generate", "cyber-shake", &file]).unwrap();
            let said = run(&["info", &file]).unwrap();
            for part in [
                "tasks               8,039",
                "edges               12,057",
                "depth               5 levels",
                "14,572.3 SU",
                "52,460,341 processor-seconds",
                "89,021 s",
            ] {
                assert!(said.data.contains(part), "{part}\n{}", said.data);
            }
            let json = run(&["info", &file, "--json"]).unwrap().data;
            let value: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(value["tasks"], 8_039);
            assert_eq!(value["work_processor_seconds"], 52_460_341.0);
        }
    }

    #[test]
    fn the_synthetic_workflow_is_the_same_for_the_same_seed_only() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, more: &[&str]| {
            let file = folder.path().join(name);
            let path = text(&file);
            run(&[&["generate", "synthetic", path.as_str()], more].concat()).unwrap();
            std::fs::read_to_string(file).unwrap()
        };
        let first = write("a.json", &["--mean-gigabits", "1000"]);
        assert_eq!(first, write("b.json", &["--mean-gigabits", "1000"]));
        assert_ne!(
            first,
            write("c.json", &["--mean-gigabits", "1000", "--seed", "2"])
        );
        let file = text(&folder.path().join("a.json"));
        let said = run(&["info", &file]).unwrap().data;
        assert!(said.contains("depth               10 levels"), "{said}");
        // Ten levels: nine transfers of 250 s more than without, if the ways are the same; never
        // less.
        let json = run(&["info", &file, "--json"]).unwrap().data;
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let critical = value["critical_path_seconds"].as_f64().unwrap();
        let with = value["critical_path_with_transfers_seconds"]
            .as_f64()
            .unwrap();
        assert_eq!(with, critical + 9.0 * 250.0);
    }

    #[test]
    fn a_drawing_is_written_where_asked() {
        let folder = tempfile::tempdir().unwrap();
        let (file, out) = (folder.path().join("w.json"), folder.path().join("w.svg"));
        run(&["generate", "synthetic", &text(&file), "--tasks", "30"]).unwrap();
        let said = run(&["draw", &text(&file), "--out", &text(&out)]).unwrap();
        assert_eq!(said.data.trim(), text(&out));
        let svg = std::fs::read_to_string(&out).unwrap();
        assert!(svg.contains("synthetic-30: 30 tasks") && svg.ends_with("</svg>\n"));
        let wrong = run(&["draw", &text(&file), "--out", "w.png"]).unwrap_err();
        assert!(wrong.to_string().contains("does not end in .svg"));
    }

    #[test]
    fn wrong_input_says_what_is_wrong_and_where() {
        let folder = tempfile::tempdir().unwrap();
        let file = text(&folder.path().join("w.xml"));
        let says = |arguments: &[&str], part: &str| {
            let error = run(arguments).unwrap_err().to_string();
            assert!(error.contains(part), "{error}\nlacks {part}");
        };
        says(&["info", &file], "w.xml: not found");
        says(
            &["generate", "synthetic", &file, "--depth", "200"],
            "`depth` is 200; allowed is 1 to the number of tasks",
        );
        says(
            &["generate", "synthetic", &file, "--mean-gigabits=-1"],
            "--mean-gigabits is -1",
        );
        says(
            &["generate", "cyber-shake", &file, "--runtime-variation=-1"],
            "`runtime_variation` is -1",
        );
        says(
            &["generate", "cyber-shake", "w.txt"],
            "w.txt: the ending decides the format",
        );
        let job = r#"<adag name="n"><job id="A" runtime="-2"/></adag>"#;
        std::fs::write(&file, job).unwrap();
        says(
            &["info", &file, "--bandwidth", "0"],
            "bandwidth_bits_per_second is 0",
        );
        says(
            &["info", &file, "--strict"],
            "w.xml:1: job `A`: `runtime` is `-2`",
        );
        let said = run(&["info", &file]).unwrap();
        assert_eq!(said.messages, ["negative run times taken as 0: 1"]);
        assert!(
            said.data.contains("tasks               1\n"),
            "{}",
            said.data
        );
    }

    #[test]
    fn a_file_is_found_in_the_folder_of_workflows() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("dax")).unwrap();
        let job = r#"<adag name="n"><job id="A" runtime="2"/></adag>"#;
        std::fs::write(folder.path().join("dax/w.xml"), job).unwrap();
        let program = Program::try_parse_from(["workflow", "info", "w.xml"]).unwrap();
        assert!(answer(&program.workflow, None).is_err());
        assert!(answer(&program.workflow, Some(folder.path())).is_ok());
    }
}
