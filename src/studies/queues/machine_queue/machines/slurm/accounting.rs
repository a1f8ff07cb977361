//! What Slurm's database says, as `sacctmgr -P show qos` and `sacctmgr -P show assoc` print it.

use std::path::Path;

use super::{NotRead, SlurmError, times};
use crate::machine_queue::machines::file::{NumberOrName, RawAccount, RawLimits, RawQuality};

/// A row: its line, and its cells by heading.
struct Row {
    number: usize,
    cells: Vec<(String, String)>,
}

/// The rows of a table with columns between `|`, whose first line says what they are.
fn rows(path: &Path, text: &str, needed: &[&str]) -> Result<Vec<Row>, SlurmError> {
    let mut lines = (1..).zip(text.lines());
    let mut lines = lines.by_ref().filter(|(_, line)| !line.trim().is_empty());
    let headings: Vec<String> = lines.next().map_or_else(Vec::new, |(_, line)| {
        line.split('|').map(|name| name.trim().to_owned()).collect()
    });
    for name in needed {
        if !headings
            .iter()
            .any(|heading| heading.eq_ignore_ascii_case(name))
        {
            return Err(SlurmError::Missing {
                file: path.to_owned(),
                what: format!(
                    "there is no column {name}; give what `sacctmgr -P show qos` or `sacctmgr -P show assoc` prints, with its first line"
                ),
            });
        }
    }
    let row = |(number, line): (usize, &str)| Row {
        number,
        cells: (headings.iter().cloned())
            .zip(line.split('|').map(|cell| cell.trim().to_owned()))
            .filter(|(heading, cell)| !heading.is_empty() && !cell.is_empty())
            .collect(),
    };
    Ok(lines.map(row).collect())
}

/// The number of a resource in `cpu=10,node=2`.
fn resource(list: &str, name: &str) -> Option<u32> {
    (list.split(',').filter_map(|part| part.split_once('=')))
        .find(|(key, _)| key.trim().eq_ignore_ascii_case(name))
        .and_then(|(_, count)| count.trim().parse().ok())
}

/// Cores and nodes of a list of resources; others are counted as not read.
fn resources(list: &str, heading: &str, limits: &mut RawLimits, not_read: &mut NotRead) {
    limits.cores = resource(list, "cpu");
    limits.nodes = resource(list, "node");
    for part in list.split(',') {
        let name = part.split('=').next().unwrap_or("").trim();
        if !name.eq_ignore_ascii_case("cpu") && !name.eq_ignore_ascii_case("node") {
            not_read.count(format!("{heading} {name}"));
        }
    }
}

fn number<T: std::str::FromStr>(
    path: &Path,
    row: &Row,
    heading: &str,
    cell: &str,
) -> Result<T, SlurmError> {
    cell.parse().map_err(|_| SlurmError::Line {
        file: path.to_owned(),
        line: row.number,
        key: heading.to_owned(),
        what: format!("{cell} is no number that can be read"),
    })
}

/// Qualities of service; the one called `normal`, which jobs have that name none, comes first.
pub(super) fn qualities(
    path: &Path,
    text: &str,
    not_read: &mut NotRead,
) -> Result<Vec<RawQuality>, SlurmError> {
    let mut found: Vec<(RawQuality, u32)> = Vec::new();
    for row in rows(path, text, &["Name", "Priority"])? {
        let mut quality = RawQuality::default();
        let mut priority = 0;
        for (heading, cell) in &row.cells {
            match heading.to_ascii_lowercase().as_str() {
                "name" => {
                    quality.name.clone_from(cell);
                    quality.queues = vec![NumberOrName::Name(cell.clone())];
                }
                "priority" => priority = number(path, &row, heading, cell)?,
                "usagefactor" => quality.usage_factor = Some(number(path, &row, heading, cell)?),
                "maxwall" => {
                    let seconds = times::seconds(cell).flatten();
                    quality.longest_hours = seconds.map(|seconds| seconds as f64 / 3_600.0);
                }
                "maxtrespu" | "maxtresperuser" => {
                    resources(cell, "MaxTRESPU", &mut quality.per_user, not_read);
                }
                "maxjobspu" | "maxjobsperuser" => {
                    quality.per_user.running_jobs = Some(number(path, &row, heading, cell)?);
                }
                "maxsubmitpu" | "maxsubmitjobsperuser" => {
                    quality.per_user.submitted_jobs = Some(number(path, &row, heading, cell)?);
                }
                "grptres" => resources(cell, "GrpTRES", &mut quality.in_all, not_read),
                "grpjobs" => quality.in_all.running_jobs = Some(number(path, &row, heading, cell)?),
                "grpsubmit" | "grpsubmitjobs" => {
                    quality.in_all.submitted_jobs = Some(number(path, &row, heading, cell)?);
                }
                _ => not_read.count(format!("qos {heading}")),
            }
        }
        found.push((quality, priority));
    }
    let most = found.iter().map(|(_, priority)| *priority).max();
    let mut qualities: Vec<RawQuality> = (found.into_iter())
        .map(|(quality, priority)| RawQuality {
            priority_factor: f64::from(priority) / f64::from(most.unwrap_or(0).max(1)),
            ..quality
        })
        .collect();
    qualities.sort_by_key(|quality| quality.name != "normal");
    Ok(qualities)
}

/// Accounts: rows without a user. `root` is that of jobs whose account is not known, and comes
/// first.
pub(super) fn accounts(
    path: &Path,
    text: &str,
    not_read: &mut NotRead,
) -> Result<Vec<RawAccount>, SlurmError> {
    let mut accounts: Vec<RawAccount> = Vec::new();
    for row in rows(path, text, &["Account", "User", "Share"])? {
        let has_user = row
            .cells
            .iter()
            .any(|(heading, _)| heading.eq_ignore_ascii_case("User"));
        if has_user {
            not_read.count("assoc User");
            continue;
        }
        let mut account = RawAccount::default();
        for (heading, cell) in &row.cells {
            match heading.to_ascii_lowercase().as_str() {
                "account" => {
                    account.name.clone_from(cell);
                    account.groups = vec![NumberOrName::Name(cell.clone())];
                }
                // Whose parent is the root is at the top.
                "parentname" | "par name" if cell.eq_ignore_ascii_case("root") => {}
                "parentname" | "par name" => account.parent = Some(cell.clone()),
                "share" | "fairshare" if cell.eq_ignore_ascii_case("parent") => {
                    not_read.count("assoc Share=parent");
                }
                "share" | "fairshare" => account.shares = Some(number(path, &row, heading, cell)?),
                "maxjobs" => {
                    account.per_user.running_jobs = Some(number(path, &row, heading, cell)?)
                }
                "maxsubmit" | "maxsubmitjobs" => {
                    account.per_user.submitted_jobs = Some(number(path, &row, heading, cell)?);
                }
                "grptres" => resources(cell, "GrpTRES", &mut account.in_all, not_read),
                "grpjobs" => account.in_all.running_jobs = Some(number(path, &row, heading, cell)?),
                "grpsubmit" | "grpsubmitjobs" => {
                    account.in_all.submitted_jobs = Some(number(path, &row, heading, cell)?);
                }
                "cluster" => {}
                _ => not_read.count(format!("assoc {heading}")),
            }
        }
        if accounts.iter().any(|known| known.name == account.name) {
            not_read.count("assoc Account again");
            continue;
        }
        accounts.push(account);
    }
    accounts.sort_by_key(|account| account.name != "root");
    Ok(accounts)
}
