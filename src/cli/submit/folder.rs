//! The folder of the shares: its experiment, the shares that are still to be submitted, and its
//! scripts.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::engine::{CONFIGURATION, Engine, Job};
use super::{Numbers, SubmitArguments};
use crate::cli::screen::LookError;
use crate::cli::shares::{self, Share, briefly};
use crate::output::OutputFolder;
use crate::store::{OutcomeDetail, StoreError};
use crate::sweep::Sweep;
use crate::workload::input_file::LARGEST_WHOLE_FILE_BYTES;

/// The seed of what was submitted, beside [`CONFIGURATION`]: while all jobs wait, no store tells
/// it.
const SEED: &str = "experiment.seed";

/// The shares that are to be submitted, and whether there are some that cannot be read and are left
/// out.
///
/// # Errors
///
/// When the folder has shares of another experiment, seed or division.
pub(super) fn wanted(
    arguments: &SubmitArguments,
    folder: &Path,
    sweep: &Sweep,
) -> Result<(BTreeSet<u32>, bool), LookError> {
    let of = arguments.shards.get();
    if kept(folder, CONFIGURATION)?.is_some_and(|text| text != sweep.text) {
        return Err(another_configuration(folder));
    }
    if let Some(seed) = kept(folder, SEED)? {
        same_seed(folder, seed.trim(), sweep.seed)?;
    }
    let begun = match shares::look(folder) {
        Ok(shares) => shares,
        // No store yet.
        Err(LookError::Use(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    let numbered = || begun.iter().filter(|share| share.number.is_some());
    if let Some((other, _)) = numbered()
        .filter_map(|share| share.number)
        .find(|(other, _)| *other != of)
    {
        return Err(LookError::Use(format!(
            "{} holds shares of {other}, not of {of}: say --shards {other}, or name another folder with --dir",
            folder.display()
        )));
    }
    for known in numbered().filter_map(Share::known) {
        if known.run.configuration != sweep.text {
            return Err(another_configuration(folder));
        }
        same_seed(folder, &known.run.seed.to_string(), sweep.seed)?;
    }
    if let Some(Numbers(only)) = &arguments.only {
        return match only.last() {
            Some(last) if *last > of => {
                Err(LookError::Use(format!("there is no share {last} of {of}")))
            }
            _ => Ok((only.clone(), false)),
        };
    }
    let mut unreadable = false;
    let mut left_out = BTreeSet::new();
    for share in numbered() {
        let Some((_, number)) = share.number else {
            continue;
        };
        match &share.progress {
            Ok(Some(known)) if known.state == "running" => {
                crate::cli::say(format_args!(
                    "share {number} says that it is running, and is not submitted again; if its machine is lost, --only {number} \
                     submits it"
                ));
                left_out.insert(number);
            }
            Ok(Some(known))
                if known.is_complete() && known.keeps(OutcomeDetail::from(arguments.outcomes)) =>
            {
                left_out.insert(number);
            }
            Ok(_) => {}
            Err(error) => {
                crate::cli::say(not_submitted(number, &share.path, error));
                unreadable = true;
                left_out.insert(number);
            }
        }
    }
    let numbers = (1..=of)
        .filter(|number| !left_out.contains(number))
        .collect();
    Ok((numbers, unreadable))
}

fn another_configuration(folder: &Path) -> LookError {
    LookError::Use(format!(
        "{} holds the shares of another configuration: name another folder with --dir, or remove this one",
        folder.display()
    ))
}

fn same_seed(folder: &Path, kept: &str, wanted: u64) -> Result<(), LookError> {
    if kept == wanted.to_string() {
        return Ok(());
    }
    Err(LookError::Use(format!(
        "{} holds the shares of another seed: {kept}, not {wanted}; say --seed {kept}, or name another folder with --dir, or \
         remove this one",
        folder.display()
    )))
}

/// Why a share whose store cannot be read is left out, and what to do.
fn not_submitted(number: u32, store: &Path, error: &StoreError) -> String {
    let remedy = match error {
        StoreError::OlderVersion { .. } => {
            format!("--only {number} submits it, and its job brings the store up to date")
        }
        StoreError::DevelopmentVersion { .. } | StoreError::NewerVersion { .. } => {
            "use the bookahead that wrote it, or remove the file and its -wal and -shm, then submit again".to_owned()
        }
        StoreError::NotADatabase { .. } | StoreError::NotOurs { .. } | StoreError::Damaged { .. } => {
            "a job would fail there: remove the file and its -wal and -shm, then submit again".to_owned()
        }
        _ => "submit again when it can be read, or when it is removed".to_owned(),
    };
    format!(
        "share {number} is not submitted, because its store `{}` is unreadable ({}); {remedy}",
        store.display(),
        briefly(error)
    )
}

/// Keeps the experiment as it is when the first share is submitted: what is edited later is another
/// experiment.
pub(super) fn keep_configuration(folder: &Path, text: &str) -> Result<(), LookError> {
    match kept(folder, CONFIGURATION)? {
        Some(_) => Ok(()),
        None => keep(folder, CONFIGURATION, text),
    }
}

/// Keeps the seed of what was submitted.
pub(super) fn keep_seed(folder: &Path, seed: u64) -> Result<(), LookError> {
    keep(folder, SEED, &format!("{seed}\n"))
}

fn keep(folder: &Path, name: &str, text: &str) -> Result<(), LookError> {
    OutputFolder::create(folder)
        .and_then(|folder| folder.write_file(name, text.as_bytes()))
        .map_err(|source| LookError::File {
            path: folder.join(name),
            source,
        })
}

fn kept(folder: &Path, name: &str) -> Result<Option<String>, LookError> {
    let text = |bytes| String::from_utf8(bytes).map_err(io::Error::other);
    OutputFolder::create(folder)
        .and_then(|folder| folder.read(name, LARGEST_WHOLE_FILE_BYTES))
        .and_then(|bytes| bytes.map(text).transpose())
        .map_err(|source| LookError::File {
            path: folder.join(name),
            source,
        })
}

/// Writes the script and says where. One that is there and differs stays as it is where waiting
/// tasks would read it.
pub(super) fn write_script(engine: Engine, job: &Job) -> Result<PathBuf, LookError> {
    let text = engine.script(job);
    let folder = OutputFolder::create(&job.folder).map_err(|source| LookError::File {
        path: job.folder.clone(),
        source,
    })?;
    let mut number = 1;
    loop {
        let name = engine.script_name(number);
        let path = job.folder.join(&name);
        let there = kept(&job.folder, &name)?;
        let written = match there {
            Some(there) if there == text => return Ok(path),
            Some(_) if engine.reads_scripts_late() => {
                number += 1;
                continue;
            }
            Some(_) => folder.write_file(&name, text.as_bytes()),
            None => folder.write_new(&name, text.as_bytes()),
        };
        match written {
            Ok(()) => return Ok(path),
            // Another program was faster: its script is looked at as any other.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(LookError::File { path, source }),
        }
    }
}
