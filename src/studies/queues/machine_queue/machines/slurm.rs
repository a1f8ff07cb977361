//! A subset of `slurm.conf`, and of what `sacctmgr` prints, as a machine file.
//!
//! What keys mean is what Slurm's manual page says (<https://slurm.schedmd.com/slurm.conf.html>,
//! and <https://slurm.schedmd.com/priority_multifactor.html> for priorities); docs/machines.md has
//! the table. Every key that is not read is counted and named.

mod accounting;
mod hostlist;
mod lines;
mod nodes;
mod partitions;
mod times;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::lines::Line;
use self::nodes::Nodes;
use super::file::{RawAlgorithm, RawBackfilling, RawDepth, RawHolder, RawMachine, RawPriority};

/// Why a `slurm.conf`, or what `sacctmgr` printed, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SlurmError {
    /// A line is wrong.
    #[error("{}:{line}: `{key}`: {what}", .file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// What is wrong, and what is allowed.
        what: String,
    },
    /// Something is missing from the whole file.
    #[error("{}: {what}", .file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// What is missing.
        what: String,
    },
}

/// Where files that a `slurm.conf` includes may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Includes {
    /// In the folder of the first file or below it, behind all links: whoever wrote the file cannot
    /// have others read.
    #[default]
    Below,
    /// Anywhere.
    Anywhere,
}

/// A machine file that was a `slurm.conf`.
#[derive(Clone, Debug, Default)]
pub struct Converted {
    machine: RawMachine,
    /// What was decided, a sentence each.
    pub notes: Vec<String>,
    /// Keys that were not read, and how often each stands there.
    pub not_read: Vec<(String, u64)>,
}

impl Converted {
    /// The text of the machine file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            text.push_str("# ");
            text.push_str(&note.replace(['\n', '\r'], " "));
            text.push('\n');
        }
        // Names and numbers only: there is nothing that TOML could not hold.
        text + &toml::to_string(&self.machine).unwrap_or_default()
    }
}

/// Whether a file is a `slurm.conf`: by its name, or by a line that only such a file has.
#[must_use]
pub fn is_slurm(path: &Path, text: &str) -> bool {
    let begins = |line: &str, word: &str| {
        let line = line.trim_start();
        line.get(..word.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(word))
    };
    path.extension().is_some_and(|ending| ending == "conf")
        || text
            .lines()
            .any(|line| begins(line, "NodeName=") || begins(line, "PartitionName="))
}

/// Reads a `slurm.conf`. `qualities` is what `sacctmgr -P show qos` printed, `associations` what
/// `sacctmgr -P show assoc` printed: they are in Slurm's database, not in its files.
///
/// # Errors
/// [`SlurmError`], with file and line.
pub fn convert(
    path: &Path,
    text: &str,
    qualities: Option<(&Path, &str)>,
    associations: Option<(&Path, &str)>,
    includes: Includes,
) -> Result<Converted, SlurmError> {
    let lines = lines::lines(path, text, includes)?;
    let mut global = Global::default();
    let mut nodes = Nodes::default();
    let mut not_read = NotRead::default();
    let mut partition_lines = Vec::new();
    // Sets and partitions may stand in front of the nodes that they name.
    let mut sets = Vec::new();
    for line in &lines {
        let first = line.pairs.first().map_or("", |(key, _)| key.as_str());
        let is = |key: &str| first.eq_ignore_ascii_case(key);
        if is("NodeName") {
            nodes.line(line, &mut not_read)?;
        } else if is("NodeSet") {
            sets.push(line);
        } else if is("PartitionName") {
            partition_lines.push(line);
        } else {
            global.line(line, &mut not_read)?;
        }
    }
    for line in sets {
        nodes.set(line, &mut not_read)?;
    }
    let mut converted = Converted {
        machine: RawMachine {
            name: (global.cluster.clone()).unwrap_or_else(|| "slurm".to_owned()),
            backfilling: Some(global.backfilling()),
            ..RawMachine::default()
        },
        ..Converted::default()
    };
    partitions::read(
        &partition_lines,
        &global,
        &mut nodes,
        &mut converted,
        &mut not_read,
    )?;
    if converted.machine.partition.is_empty() {
        return Err(SlurmError::Missing {
            file: path.to_owned(),
            what: "no partition is up: a machine needs a line PartitionName=… with its Nodes=…"
                .to_owned(),
        });
    }
    let mut priority = global.priority();
    if let Some((path, text)) = qualities {
        converted.machine.qos = accounting::qualities(path, text, &mut not_read)?;
    } else if priority.qos > 0.0 {
        converted.notes.push(
            "PriorityWeightQOS is set, and no list of qualities of service was given: all jobs have one"
                .to_owned(),
        );
    }
    if let Some((path, text)) = associations {
        converted.machine.account = accounting::accounts(path, text, &mut not_read)?;
        if priority.fair_share_algorithm == RawAlgorithm::FairTree {
            converted.notes.push(
                "rows of users are not read: all users of an account have the same share of it"
                    .to_owned(),
            );
        } else {
            priority.holder = RawHolder::Account;
            for account in &mut converted.machine.account {
                account.parent = None;
            }
            converted.notes.push(
                "accounts are read without their hierarchy: each has its own share, and its users have none"
                    .to_owned(),
            );
        }
    }
    global.explain(&priority, &mut converted.notes);
    converted.machine.priority = Some(priority);
    converted.not_read = not_read.0.into_iter().collect();
    Ok(converted)
}

/// Keys that were not read.
#[derive(Debug, Default)]
struct NotRead(BTreeMap<String, u64>);

impl NotRead {
    fn count(&mut self, key: impl Into<String>) {
        *self.0.entry(key.into()).or_default() += 1;
    }
}

/// What lines of one key each say.
#[derive(Debug, Default)]
struct Global {
    cluster: Option<String>,
    /// Whole nodes: `SelectType=select/linear`.
    is_linear: bool,
    counts_memory: bool,
    is_basic: bool,
    priority: RawPriority,
    flags: Vec<String>,
    builtin: bool,
    /// Reservations in each partition; `None`: all.
    reserved: Option<u32>,
    tested: Option<u32>,
    interval: Option<i64>,
    /// In minutes.
    window: Option<u32>,
}

/// What Slurm looks at in one pass of backfilling, how many seconds lie between two, and how many
/// minutes it looks ahead, where the file does not say.
const TESTED: u32 = 500;
const INTERVAL: i64 = 30;
const WINDOW: u32 = 1_440;

impl Global {
    fn line(&mut self, line: &Line, not_read: &mut NotRead) -> Result<(), SlurmError> {
        for (key, value) in &line.pairs {
            if !self.pair(key, value, line, not_read)? {
                not_read.count(key);
            }
        }
        Ok(())
    }

    /// Reads a key; `false` where it is none that is read.
    fn pair(
        &mut self,
        key: &str,
        value: &str,
        line: &Line,
        not_read: &mut NotRead,
    ) -> Result<bool, SlurmError> {
        let lower = value.to_ascii_lowercase();
        let weight = || {
            (value.parse::<u32>().map(f64::from)).map_err(|_| {
                line.fault(
                    key,
                    format!("{value} is no weight; allowed is a whole number from 0"),
                )
            })
        };
        let hours = || {
            let seconds = times::seconds(value).flatten();
            (seconds.map(|seconds| seconds as f64 / 3_600.0)).ok_or_else(|| {
                line.fault(key, format!("{value} is no time; allowed are minutes, hours:minutes:seconds, days-hours and the like"))
            })
        };
        match key.to_ascii_lowercase().as_str() {
            "clustername" => self.cluster = Some(value.to_owned()),
            "selecttype" => match lower.as_str() {
                "select/linear" => self.is_linear = true,
                "select/cons_tres" | "select/cons_res" => self.is_linear = false,
                _ => {
                    return Err(line.fault(
                        key,
                        format!("{value} is not known; allowed are select/linear, select/cons_tres and select/cons_res"),
                    ));
                }
            },
            "selecttypeparameters" => {
                self.counts_memory = lower.split(',').any(|word| word.ends_with("_memory"));
            }
            "prioritytype" => match lower.as_str() {
                "priority/basic" => self.is_basic = true,
                "priority/multifactor" => self.is_basic = false,
                _ => {
                    return Err(line.fault(
                        key,
                        format!("{value} is not known; allowed are priority/basic and priority/multifactor"),
                    ));
                }
            },
            "priorityweightage" => self.priority.age = weight()?,
            "priorityweightfairshare" => self.priority.fair_share = weight()?,
            "priorityweightjobsize" => self.priority.size = weight()?,
            "priorityweightpartition" => self.priority.partition = weight()?,
            "priorityweightqos" => self.priority.qos = weight()?,
            "prioritymaxage" => self.priority.oldest_hours = Some(hours()?),
            "prioritydecayhalflife" => {
                let hours = hours()?;
                self.priority.decays = Some(hours > 0.0);
                self.priority.half_life_hours = Some(hours).filter(|hours| *hours > 0.0);
            }
            "priorityfavorsmall" => self.priority.favours_small = lower == "yes",
            "fairsharedampeningfactor" => {
                self.priority.damping = Some(weight()?).filter(|factor| *factor > 0.0);
            }
            "priorityflags" => self.flags = lower.split(',').map(str::to_owned).collect(),
            "schedulertype" => match lower.as_str() {
                "sched/backfill" => self.builtin = false,
                "sched/builtin" => self.builtin = true,
                _ => {
                    return Err(line.fault(
                        key,
                        format!(
                            "{value} is not known; allowed are sched/backfill and sched/builtin"
                        ),
                    ));
                }
            },
            "schedulerparameters" => {
                for option in value.split(',').filter(|option| !option.trim().is_empty()) {
                    self.option(option.trim(), line, not_read)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// An option of `SchedulerParameters`.
    fn option(
        &mut self,
        option: &str,
        line: &Line,
        not_read: &mut NotRead,
    ) -> Result<(), SlurmError> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let number = || {
            (value.trim().parse::<i64>()).map_err(|_| {
                line.fault(
                    &format!("SchedulerParameters, {name}"),
                    format!("`{value}` is no whole number"),
                )
            })
        };
        match name.trim().to_ascii_lowercase().as_str() {
            "bf_max_job_test" => {
                self.tested = u32::try_from(number()?).ok().filter(|tested| *tested > 0);
            }
            // 0, the default, is all.
            "bf_job_part_count_reserve" => {
                self.reserved = u32::try_from(number()?).ok().filter(|jobs| *jobs > 0);
            }
            "bf_interval" => self.interval = Some(number()?),
            "bf_window" => {
                self.window = u32::try_from(number()?).ok().filter(|minutes| *minutes > 0);
            }
            name => not_read.count(format!("SchedulerParameters {name}")),
        }
        Ok(())
    }

    fn backfilling(&self) -> RawBackfilling {
        let interval = self.interval.unwrap_or(INTERVAL);
        // `bf_interval=-1` disables the loop.
        if self.builtin || interval < 0 {
            return RawBackfilling {
                depth: Some(RawDepth::Jobs(0)),
                ..RawBackfilling::default()
            };
        }
        RawBackfilling {
            depth: Some(self.reserved.map_or(RawDepth::All, RawDepth::Jobs)),
            tested: Some(self.tested.unwrap_or(TESTED)),
            interval_seconds: u32::try_from(interval).unwrap_or(u32::MAX),
            window_hours: Some(f64::from(self.window.unwrap_or(WINDOW)) / 60.0),
        }
    }

    fn priority(&self) -> RawPriority {
        if self.is_basic {
            return RawPriority::default();
        }
        let mut priority = self.priority.clone();
        // Where nothing is made of shares, nothing is said of them.
        if priority.fair_share > 0.0 && !self.is_classic() {
            priority.fair_share_algorithm = RawAlgorithm::FairTree;
            priority.damping = None;
        }
        priority
    }

    fn has_flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag.trim() == name)
    }

    /// Whether shares are not those of the fair tree, which is Slurm's default since version 19.05.
    fn is_classic(&self) -> bool {
        self.has_flag("no_fair_tree") || self.has_flag("depth_oblivious")
    }

    /// Says where what is simulated is not what Slurm does.
    fn explain(&self, priority: &RawPriority, notes: &mut Vec<String>) {
        if priority.fair_share_algorithm == RawAlgorithm::FairTree {
            notes.push(
                "users are ranked by the fair tree, as Slurm does since version 19.05 unless PriorityFlags has NO_FAIR_TREE; for an older one take \
                 fair_share_algorithm out of the machine file"
                    .to_owned(),
            );
            if self.priority.damping.is_some() {
                notes.push("FairShareDampeningFactor has no part in the fair tree".to_owned());
            }
        } else if self.has_flag("depth_oblivious") {
            notes.push(
                "PriorityFlags DEPTH_OBLIVIOUS is a way to count levels of accounts; here there is one level"
                    .to_owned(),
            );
        }
        let other: Vec<&str> = (self.flags.iter())
            .map(|flag| flag.trim())
            .filter(|flag| !["", "fair_tree", "no_fair_tree", "depth_oblivious"].contains(flag))
            .collect();
        if !other.is_empty() {
            notes.push(format!(
                "PriorityFlags {} are read and change nothing here",
                other.join(", ")
            ));
        }
    }
}
