//! The shares of an experiment in a folder, and their progress.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::aligned::{Aligned, Heading, form};
use super::merge::{share_of, stores_in};
use super::screen::{LookError, age, now, print_json, run_json, span, took};
use super::submit::CONFIGURATION;
use crate::cli::studies;
use crate::store::{ShareProgress, Store, StoreError};
use bookahead_report::moment;

/// One share, begun or not.
pub(super) struct Share {
    /// Which of how many, where the file's name says so.
    pub(super) number: Option<(u32, u32)>,
    /// Its store.
    pub(super) path: PathBuf,
    /// How far it is; `None` before it has begun.
    pub(super) progress: Result<Option<ShareProgress>, StoreError>,
}

impl Share {
    /// How far it is, where that can be read.
    pub(super) fn known(&self) -> Option<&ShareProgress> {
        self.progress.as_ref().ok().and_then(Option::as_ref)
    }

    fn state(&self) -> String {
        match &self.progress {
            Ok(Some(known)) => known.state.clone(),
            Ok(None) => "not begun".to_owned(),
            Err(error) => format!("unreadable: {}", briefly(error)),
        }
    }

    fn name(&self) -> String {
        match self.number {
            Some((of, number)) => format!("{number}/{of}"),
            None => self
                .path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        }
    }
}

/// In a few words why a store cannot be read; the whole sentence names the file and what to do.
pub(super) fn briefly(error: &StoreError) -> String {
    match error {
        StoreError::NotADatabase { .. } => "not a database".to_owned(),
        StoreError::NotOurs { .. } => "the database of another program".to_owned(),
        StoreError::Damaged { .. } => "damaged".to_owned(),
        StoreError::OlderVersion {
            found, supported, ..
        } => format!("older schema version {found} (now {supported})"),
        StoreError::DevelopmentVersion {
            found, supported, ..
        } => format!("schema version {found} of a development version (now {supported})"),
        StoreError::NewerVersion {
            found, supported, ..
        } => format!("newer schema version {found} (known up to {supported})"),
        other => other.to_string(),
    }
}

/// The shares in a folder. Of numbered ones those that have no store yet are there too. A store
/// that cannot be read says so in its own place: the others are no worse for it.
pub(super) fn look(folder: &Path) -> Result<Vec<Share>, LookError> {
    let mut shares = Vec::new();
    for path in stores_in(folder)? {
        let progress = match Store::open_read_only(studies(), &path) {
            Ok(store) => store.share_progress(),
            // Just made: its tables come with the first transaction.
            Err(StoreError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        shares.push(Share {
            number: share_of(&path),
            path,
            progress,
        });
    }
    let known: BTreeSet<(u32, u32)> = shares.iter().filter_map(|share| share.number).collect();
    let counts: BTreeSet<u32> = known.iter().map(|(of, _)| *of).collect();
    for of in counts {
        for number in 1..=of {
            if !known.contains(&(of, number)) {
                shares.push(Share {
                    number: Some((of, number)),
                    path: folder.join(format!("shard-{number}-of-{of}.db")),
                    progress: Ok(None),
                });
            }
        }
    }
    shares.sort_by_key(|share| {
        (
            share.number.unwrap_or((u32::MAX, u32::MAX)),
            share.path.clone(),
        )
    });
    Ok(shares)
}

/// Prints how far the shares in a folder are.
pub(super) fn print(folder: &Path, as_json: bool) -> Result<(), LookError> {
    let shares = match look(folder) {
        // Submitted, but nobody has begun.
        Err(LookError::Use(_)) if folder.join(CONFIGURATION).is_file() => Vec::new(),
        shares => shares?,
    };
    let now = now();
    if as_json {
        return Ok(print_json(&shares_json(&shares, now))?);
    }
    if shares.is_empty() {
        super::say(format_args!(
            "no share in {} has begun yet",
            folder.display()
        ));
        return Ok(());
    }
    print_table(&shares, now)?;
    for line in sums(&shares) {
        super::say(line);
    }
    for share in &shares {
        if let Err(error) = &share.progress {
            super::say(error);
        }
    }
    Ok(())
}

/// How much is done, in one line for each division. The shares of one division have no point in
/// common; shares of two divisions have, and so has a store of joined ones: what belongs to no
/// division is not counted.
fn sums(shares: &[Share]) -> Vec<String> {
    let mut divisions: BTreeMap<u32, Vec<&Share>> = BTreeMap::new();
    for share in shares {
        if let Some((of, _)) = share.number {
            divisions.entry(of).or_default().push(share);
        }
    }
    let mut lines = Vec::new();
    for (of, shares) in &divisions {
        let known = || shares.iter().filter_map(|share| share.known());
        let complete = known().filter(|share| share.is_complete()).count();
        let done: u64 = known().map(|share| share.run.points_done).sum();
        let failed: u64 = known().map(|share| share.run.points_failed).sum();
        let mut line = format!("{complete} of {of} shares complete, {done}");
        if let Some(points) = known().map(|share| share.run.points).max() {
            line.push_str(&format!(" of {points}"));
        }
        line.push_str(" points done");
        if failed > 0 {
            line.push_str(&format!(", {failed} failed"));
        }
        let unreadable = shares
            .iter()
            .filter(|share| share.progress.is_err())
            .count();
        if unreadable > 0 {
            line.push_str(&format!(", {unreadable} unreadable"));
        }
        lines.push(line);
    }
    let others = shares.iter().filter(|share| share.number.is_none()).count();
    if others > 0 {
        lines.push(format!(
            "not counted: {others} {} whose name is not shard-I-of-N.db",
            if others == 1 { "store" } else { "stores" }
        ));
    }
    lines
}

fn print_table(shares: &[Share], now: i64) -> io::Result<()> {
    let headings = [
        ("Share", true),
        ("State", false),
        ("Done", true),
        ("Failed", true),
        ("Of", true),
        ("Took", true),
        ("Last result", false),
        ("Machine", false),
        ("Store", false),
    ];
    let headings = headings.map(|(title, right)| Heading::new(title, right));
    let mut out = super::output::people();
    let mut table = Aligned::new(&mut out, headings.into(), form());
    let none = || "–".to_owned();
    for share in shares {
        let known = share.known();
        let count = |count: fn(&ShareProgress) -> u64| {
            known.map_or_else(none, |known| count(known).to_string())
        };
        table.push(vec![
            share.name(),
            share.state(),
            count(|known| known.run.points_done),
            count(|known| known.run.points_failed),
            count(|known| known.points),
            known
                .and_then(|known| took(&known.run, now))
                .map_or_else(none, span),
            known
                .and_then(|known| known.last_result)
                .map_or_else(none, |last| age(now - last)),
            known
                .and_then(|known| known.run.machine_host.clone())
                .unwrap_or_else(none),
            share.path.display().to_string(),
        ])?;
    }
    table.finish().map(|_| ())
}

fn shares_json(shares: &[Share], now: i64) -> serde_json::Value {
    shares
        .iter()
        .map(|share| {
            json!({
                "share": share.number.map(|(_, number)| number),
                "of": share.number.map(|(of, _)| of),
                "store": share.path,
                "state": share.state(),
                "error": share.progress.as_ref().err().map(ToString::to_string),
                "complete": share.known().is_some_and(ShareProgress::is_complete),
                "points_of_share": share.known().map(|known| known.points),
                "last_result_utc": share.known().and_then(|known| known.last_result).map(moment),
                "machine": share.known().and_then(|known| known.run.machine_host.clone()),
                "run": share.known().map(|known| run_json(&known.run, now)),
            })
        })
        .collect()
}
