//! The shares of an experiment in a folder, and how far each is.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::aligned::{Aligned, Heading, screen};
use super::merge::{share_of, stores_in};
use super::runs::{run_json, took};
use super::screen::{LookError, age, moment, now, print_json, span};
use crate::store::{ShareProgress, Store, StoreError};

/// One share, begun or not.
pub(super) struct Share {
    /// Which of how many, where the file's name says so.
    pub(super) number: Option<(u32, u32)>,
    /// Its store.
    pub(super) path: PathBuf,
    /// How far it is; `None` before it has begun.
    pub(super) progress: Option<ShareProgress>,
}

impl Share {
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

/// The shares in a folder. Of numbered ones those that have no store yet are there too.
pub(super) fn look(folder: &Path) -> Result<Vec<Share>, LookError> {
    let mut shares = Vec::new();
    for path in stores_in(folder)? {
        let progress = match Store::open_read_only(&path) {
            Ok(store) => store.share_progress()?,
            // Just made: its tables come with the first transaction.
            Err(StoreError::Missing { .. }) => None,
            Err(error) => return Err(error.into()),
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
                    progress: None,
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
    let shares = look(folder)?;
    let now = now();
    if as_json {
        return Ok(print_json(&shares_json(&shares, now))?);
    }
    print_table(&shares, now)?;
    let done: u64 = progress(&shares).map(|share| share.run.points_done).sum();
    let failed: u64 = progress(&shares).map(|share| share.run.points_failed).sum();
    let points = progress(&shares).map(|share| share.run.points).max();
    let complete = progress(&shares)
        .filter(|share| share.is_complete())
        .count();
    let mut line = format!("{complete} of {} shares complete, {done}", shares.len());
    if let Some(points) = points {
        line.push_str(&format!(" of {points} points done"));
    }
    if failed > 0 {
        line.push_str(&format!(", {failed} failed"));
    }
    super::say(line);
    Ok(())
}

fn progress(shares: &[Share]) -> impl Iterator<Item = &ShareProgress> {
    shares.iter().filter_map(|share| share.progress.as_ref())
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
    let mut out = io::stdout().lock();
    let mut table = Aligned::new(&mut out, headings.into(), screen());
    let none = || "–".to_owned();
    for share in shares {
        let known = share.progress.as_ref();
        let count = |count: fn(&ShareProgress) -> u64| {
            known.map_or_else(none, |known| count(known).to_string())
        };
        table.push(vec![
            share.name(),
            known.map_or_else(|| "not begun".to_owned(), |known| known.state.clone()),
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
                "state": share.progress.as_ref().map_or("not begun", |known| known.state.as_str()),
                "complete": share.progress.as_ref().is_some_and(ShareProgress::is_complete),
                "points_of_share": share.progress.as_ref().map(|known| known.points),
                "last_result_utc": share.progress.as_ref().and_then(|known| known.last_result).map(moment),
                "machine": share.progress.as_ref().and_then(|known| known.run.machine_host.clone()),
                "run": share.progress.as_ref().map(|known| run_json(&known.run, now)),
            })
        })
        .collect()
}
