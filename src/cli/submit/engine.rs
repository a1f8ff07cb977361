//! The differences between the engines: the script's head, the command that submits it, and the one
//! that watches it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

/// The experiment's copy in the folder of its shares.
pub(in crate::cli) const CONFIGURATION: &str = "experiment.toml";

/// The batch system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// A job array, by sbatch.
    Slurm,
    /// An array of tasks, by hq submit.
    #[value(name = "hyperqueue")]
    HyperQueue,
}

/// Everything that a script says.
pub(super) struct Job {
    pub(super) name: String,
    /// Absolute.
    pub(super) folder: PathBuf,
    /// Where relative names of inputs begin.
    pub(super) here: PathBuf,
    pub(super) program: PathBuf,
    pub(super) shards: u32,
    pub(super) workers: usize,
    pub(super) seed: Option<u64>,
    pub(super) outcomes: String,
    pub(super) durability: String,
    pub(super) environment: Vec<(String, String)>,
}

impl Engine {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Slurm => "Slurm",
            Self::HyperQueue => "HyperQueue",
        }
    }

    /// The file of a folder's script; the second and later ones where waiting tasks need the
    /// earlier ones.
    pub(super) fn script_name(self, number: u32) -> String {
        match self {
            Self::Slurm => "slurm.sh".to_owned(),
            Self::HyperQueue if number == 1 => "hyperqueue.sh".to_owned(),
            Self::HyperQueue => format!("hyperqueue-{number}.sh"),
        }
    }

    /// What in the folder's name the head of the script cannot say.
    pub(super) fn cannot_write(self, folder: &Path) -> Option<&'static str> {
        let name = folder.to_string_lossy();
        match self {
            Self::Slurm if name.contains('"') => Some("a quotation mark"),
            Self::Slurm if name.contains('\\') => Some("a backslash"),
            Self::Slurm if name.contains('\n') => Some("a line break"),
            Self::Slurm | Self::HyperQueue => None,
        }
    }

    /// Whether the script is read when a task begins; otherwise the engine copies it when it is
    /// submitted.
    pub(super) fn reads_scripts_late(self) -> bool {
        self == Self::HyperQueue
    }

    /// What a refusal of these shares may mean beyond what the engine says.
    pub(super) fn hint_of_a_refusal(self, numbers: &BTreeSet<u32>) -> &'static str {
        match (self, numbers.last()) {
            // The numbers of an array must be below MaxArraySize.
            (Self::Slurm, Some(1_001..)) => {
                "; Slurm allows no more than 1000 shares unless the cluster sets a MaxArraySize above 1001 \
                 (`scontrol show config`)"
            }
            _ => "",
        }
    }

    /// The variable in which a job finds the number of its share.
    fn variable(self) -> &'static str {
        match self {
            Self::Slurm => "SLURM_ARRAY_TASK_ID",
            Self::HyperQueue => "HQ_TASK_ID",
        }
    }

    /// The script of one share, which the engine runs once for each.
    pub(super) fn script(self, job: &Job) -> String {
        let mut text = "#!/bin/bash\n".to_owned();
        if self == Self::Slurm {
            // A percent sign begins a placeholder.
            let folder = job.folder.display().to_string().replace('%', "%%");
            let log = format!("{folder}/shard-%a-of-{}.log", job.shards);
            for option in [
                format!("--job-name=\"bookahead {}\"", job.name),
                format!("--array=1-{}", job.shards),
                "--nodes=1".to_owned(),
                "--ntasks=1".to_owned(),
                format!("--cpus-per-task={}", job.workers),
                "--requeue".to_owned(),
                "--open-mode=append".to_owned(),
                format!("--output=\"{log}\""),
            ] {
                let _ = writeln!(text, "#SBATCH {option}");
            }
        }
        let _ = writeln!(
            text,
            "#\n# One share of the experiment `{}`. Started again, it goes on where it was: what is done is not run again.\nset -eu\ncd {}",
            job.name,
            path(&job.here)
        );
        for (name, value) in &job.environment {
            let _ = writeln!(text, "export {name}={}", quoted(value));
        }
        let share = format!("\"${{{}}}\"", self.variable());
        let _ = write!(
            text,
            "exec {} run {} --shard {share}/{of} \\\n  --store {}/shard-{share}-of-{of}.db --workers {} --outcomes {} \\\n  --durability {}",
            path(&job.program),
            path(&job.folder.join(CONFIGURATION)),
            path(&job.folder),
            job.workers,
            job.outcomes,
            job.durability,
            of = job.shards,
        );
        if let Some(seed) = job.seed {
            let _ = write!(text, " --seed {seed}");
        }
        text.push('\n');
        text
    }

    /// The command that submits the script for these shares.
    pub(super) fn command(
        self,
        job: &Job,
        script: &Path,
        numbers: &BTreeSet<u32>,
        options: &[String],
    ) -> Vec<String> {
        let script = script.display().to_string();
        let array = list(numbers);
        let mut command: Vec<String> = match self {
            Self::Slurm => vec![
                "sbatch".to_owned(),
                "--parsable".to_owned(),
                format!("--array={array}"),
            ],
            Self::HyperQueue => {
                let log = job
                    .folder
                    .join(format!("shard-%{{TASK_ID}}-of-{}.log", job.shards))
                    .display()
                    .to_string();
                vec![
                    "hq".to_owned(),
                    "--output-mode=quiet".to_owned(),
                    "submit".to_owned(),
                    format!("--name=bookahead-{}", job.name),
                    format!("--array={array}"),
                    format!("--cpus={}", job.workers),
                    format!("--cwd={}", job.here.display()),
                    format!("--stdout={log}"),
                    format!("--stderr={log}"),
                ]
            }
        };
        command.extend(options.iter().cloned());
        match self {
            Self::Slurm => command.push(script),
            Self::HyperQueue => command.extend(["--".to_owned(), "bash".to_owned(), script]),
        }
        command
    }

    /// The engine's own way to look at a job.
    pub(super) fn watch(self, id: &str) -> String {
        match self {
            Self::Slurm => format!("squeue --job {id}"),
            Self::HyperQueue => format!("hq job info {id}"),
        }
    }
}

/// The job's number in what the engine printed: `17`, `17;cluster`, or a sentence that ends in
/// `ID: 17`.
pub(super) fn job_number(said: &str) -> String {
    let line = said.lines().last().unwrap_or_default();
    let first = line.split(';').next().unwrap_or_default().trim();
    first
        .rsplit(' ')
        .next()
        .unwrap_or(first)
        .trim_end_matches('.')
        .to_owned()
}

/// Numbers as the engines write them: `1-3,7`.
pub(super) fn list(numbers: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == *number => *to = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let texts: Vec<String> = ranges
        .into_iter()
        .map(|(from, to)| {
            if from == to {
                from.to_string()
            } else {
                format!("{from}-{to}")
            }
        })
        .collect();
    texts.join(",")
}

fn path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A word of the shell that means exactly this text.
pub(super) fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-=+,:@%".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// A command as a person would type it.
pub(in crate::cli) fn shell(command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_ranges() {
        let numbers = |numbers: &[u32]| list(&numbers.iter().copied().collect());
        assert_eq!(numbers(&[1, 2, 3, 7]), "1-3,7");
        assert_eq!(numbers(&[5]), "5");
        assert_eq!(numbers(&[2, 4, 5]), "2,4-5");
    }

    #[test]
    fn the_number_of_a_job_is_found_in_what_the_engines_print() {
        assert_eq!(job_number("17\n"), "17");
        assert_eq!(job_number("17;cluster"), "17");
        assert_eq!(job_number("Job submitted successfully, job ID: 3"), "3");
        assert_eq!(job_number("Submitted batch job 12"), "12");
    }

    #[test]
    fn words_of_the_shell_mean_exactly_their_text() {
        assert_eq!(quoted("/a/b-c.db"), "/a/b-c.db");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
