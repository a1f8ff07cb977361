//! `bookahead merge`: stores of shares become one store.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::durability::DurabilityArgument;
use super::screen::LookError;
use crate::cli::studies;
use crate::store::{MergeError, MergeOptions, MergeSummary, Store};
use crate::sweep::Shard;

/// Joins stores into one.
#[derive(Clone, Debug, clap::Args)]
pub struct MergeArguments {
    /// The store to merge into
    pub out: PathBuf,
    /// The stores to merge; a folder stands for all its .db files
    #[arg(required = true, value_name = "IN")]
    pub inputs: Vec<PathBuf>,
    /// Merge results of several versions of the program, as long as their result format is the same
    #[arg(long)]
    pub mixed_programs: bool,
    /// What a power failure may cost
    #[command(flatten)]
    pub durability: DurabilityArgument,
}

/// Joins and says what was done; exit code 1 where points failed or are missing still.
///
/// # Errors
///
/// When a store cannot be used, or when the stores do not agree.
pub fn execute(arguments: &MergeArguments) -> Result<ExitCode, LookError> {
    let inputs = stores(&arguments.out, &arguments.inputs)?;
    let options = MergeOptions {
        mixed_programs: arguments.mixed_programs,
        durability: arguments.durability.into(),
    };
    let summary =
        Store::merge(studies(), &arguments.out, &inputs, options).map_err(|error| match error {
            MergeError::Store(error) => LookError::Store(error),
            other => LookError::Use(other.to_string()),
        })?;
    say(&summary, &arguments.out, inputs.len());
    let whole = summary.runs.iter().all(|run| run.points_done == run.points);
    Ok(if whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// The stores that are named, and those in folders that are named, in the order of their numbers.
pub(super) fn stores(out: &Path, inputs: &[PathBuf]) -> Result<Vec<PathBuf>, LookError> {
    let mut found: Vec<PathBuf> = Vec::new();
    for input in inputs {
        if input.is_dir() {
            let inside = stores_in(input)?;
            found.extend(inside.into_iter().filter(|path| !same_file(path, out)));
        } else if same_file(input, out) {
            return Err(LookError::Use(format!(
                "`{}` cannot be joined into itself: name another file for the joined store",
                out.display()
            )));
        } else {
            found.push(input.clone());
        }
    }
    let mut unique: Vec<PathBuf> = Vec::with_capacity(found.len());
    for path in found {
        if !unique.iter().any(|known| same_file(known, &path)) {
            unique.push(path);
        }
    }
    Ok(unique)
}

/// The files of a folder that end in `.db` and are not hidden: shares by their number, then others
/// by name.
pub(super) fn stores_in(folder: &Path) -> Result<Vec<PathBuf>, LookError> {
    let unread = |source| {
        LookError::Use(format!(
            "cannot read the folder `{}`: {source}",
            folder.display()
        ))
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let path = entry.path();
        // A hidden file is no share: copies under way and what other programs keep for themselves
        // are hidden.
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_hidden && path.extension().is_some_and(|ending| ending == "db") {
            found.push(path);
        }
    }
    if found.is_empty() {
        return Err(LookError::Use(format!(
            "there is no store (*.db) in the folder `{}`",
            folder.display()
        )));
    }
    found.sort_by_key(|path| (share_of(path).unwrap_or((u32::MAX, u32::MAX)), path.clone()));
    Ok(found)
}

/// Of how many shares a store is which one, by its name: `shard-2-of-8.db` is (8, 2).
pub(super) fn share_of(path: &Path) -> Option<(u32, u32)> {
    let name = path.file_stem()?.to_str()?;
    let (number, of) = name.strip_prefix("shard-")?.split_once("-of-")?;
    let shard = Shard::new(number.parse().ok()?, of.parse().ok()?).ok()?;
    Some((shard.of(), shard.number()))
}

fn same_file(one: &Path, other: &Path) -> bool {
    // Another name of a file has another journal: SQLite would take them for two.
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (std::fs::metadata(one), std::fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt as _;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

fn say(summary: &MergeSummary, out: &Path, inputs: usize) {
    let stores = if inputs == 1 { "store" } else { "stores" };
    for run in &summary.runs {
        let missing = run.points - run.points_done - run.points_failed;
        let mut line = format!(
            "run {} in {}: `{}` from {inputs} {stores}, {} simulations added, {} already there; {} of {} points done",
            run.run.0,
            out.display(),
            run.name,
            run.new,
            run.known,
            run.points_done,
            run.points
        );
        if run.points_failed > 0 {
            line.push_str(&format!(", {} failed", run.points_failed));
        }
        if missing > 0 {
            line.push_str(&format!(", {missing} missing"));
        }
        super::say(line);
    }
    let seconds = summary.wall.as_secs_f64();
    super::say(format_args!(
        "{} rows written in {seconds:.1} s ({:.0} rows/s); `bookahead report latest --store {}` writes the report",
        summary.rows,
        summary.rows as f64 / seconds.max(1e-9),
        out.display()
    ));
}
