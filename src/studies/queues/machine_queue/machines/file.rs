//! What a machine file may say, as it stands there: nothing is checked here but types and names of
//! keys.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use toml::value::Datetime;

/// Every key of a machine file, and what is allowed there.
pub const KEYS: &[(&str, &str)] = &[
    ("name", "a text: what the machine is called"),
    (
        "zone",
        "a time zone of the IANA database, such as \"Europe/Berlin\" (default \"UTC\"); windows are read on its clock",
    ),
    (
        "class",
        "one or more tables `[[class]]`: nodes that are alike",
    ),
    ("class.name", "a text, another one for each class"),
    (
        "class.nodes",
        "1 or more nodes; 1000000 of all classes together",
    ),
    ("class.cores", "1 or more cores on each node (default 1)"),
    (
        "class.memory_megabytes",
        "0 or more megabytes on each node; 0 (the default): nobody counts them",
    ),
    ("class.gpus", "0 or more on each node (default 0)"),
    (
        "partition",
        "tables `[[partition]]` (default: one of all nodes)",
    ),
    ("partition.name", "a text, another one for each partition"),
    (
        "partition.classes",
        "names of classes, in the order in which their nodes are tried (default: all)",
    ),
    (
        "partition.sharing",
        "\"exclusive\" (the default: a node belongs to one job at a time) or \"shared\"",
    ),
    (
        "partition.tier",
        "0 or more (default 1): jobs of a higher tier come before all of lower ones",
    ),
    (
        "partition.priority_factor",
        "from 0 to 1 (default 0), multiplied with priority.partition",
    ),
    (
        "partition.longest_hours",
        "above 0 hours: longer requests are refused (default: no limit)",
    ),
    (
        "partition.widest_nodes",
        "1 or more nodes: wider requests are refused (default: no limit)",
    ),
    (
        "partition.default_request_hours",
        "above 0 hours: what a job asks for that says nothing (default: such jobs are left out)",
    ),
    (
        "partition.queues",
        "numbers of the trace's queues (field 15), or their names: they run here",
    ),
    (
        "partition.partitions",
        "numbers of the trace's partitions (field 16), or their names: they run here",
    ),
    (
        "partition.default",
        "true for one partition at most: all other jobs run there (default: of a single partition)",
    ),
    (
        "qos",
        "tables `[[qos]]`: qualities of service (default: one); jobs that none lists have the first",
    ),
    ("qos.name", "a text, another one for each"),
    (
        "qos.priority_factor",
        "from 0 to 1 (default 0), multiplied with priority.qos",
    ),
    (
        "qos.usage_factor",
        "0 or more: what use counts in the shares (default 1)",
    ),
    (
        "qos.longest_hours",
        "above 0 hours: longer requests are refused (default: no limit)",
    ),
    (
        "qos.queues",
        "numbers of the trace's queues (field 15), or their names",
    ),
    (
        "qos.partitions",
        "numbers of the trace's partitions (field 16), or their names",
    ),
    (
        "qos.per_user",
        "a table of limits of each user: running_jobs, nodes, cores (that running jobs hold), submitted_jobs (that wait or run; more are refused)",
    ),
    ("qos.in_all", "the same limits of all its jobs together"),
    (
        "account",
        "tables `[[account]]` (default: one); jobs that none lists have the first",
    ),
    ("account.name", "a text, another one for each"),
    (
        "account.shares",
        "0 or more, above 0 of one at least (default 1): its share in proportion to the others",
    ),
    (
        "account.groups",
        "numbers of the trace's groups (field 13), or their names",
    ),
    (
        "account.parent",
        "the name of the account above it, for the fair tree (default: none)",
    ),
    ("account.per_user", "the same limits of each user"),
    ("account.in_all", "the same limits of all its jobs together"),
    ("limit", "1 or more"),
    (
        "priority",
        "a table of weights (default: all 0, so jobs come in order of submission)",
    ),
    ("priority.age", "0 or more (default 0), for the wait"),
    (
        "priority.oldest_hours",
        "above 0 hours: the wait that counts fully (default 168)",
    ),
    (
        "priority.fair_share",
        "0 or more (default 0), for what was used of a share",
    ),
    (
        "priority.fair_share_algorithm",
        "\"classic\" (the default: one level of holders) or \"fair-tree\" (Slurm's default: accounts, accounts below them, and users of each)",
    ),
    (
        "priority.damping",
        "above 0 (default 1): more makes less of use beyond the share; not in the fair tree",
    ),
    (
        "priority.holder",
        "\"user\" (the default: all have the same share) or \"account\"; not in the fair tree",
    ),
    (
        "priority.half_life_hours",
        "above 0 hours after which use counts half (default 168)",
    ),
    (
        "priority.decays",
        "true (the default), or false: use is never forgotten",
    ),
    ("priority.size", "0 or more (default 0), for the job's size"),
    (
        "priority.favours_small",
        "false (the default: large jobs come first) or true",
    ),
    (
        "priority.partition",
        "0 or more (default 0), for the partition's factor",
    ),
    (
        "priority.qos",
        "0 or more (default 0), for the quality of service's factor",
    ),
    (
        "backfilling.depth",
        "how many jobs of each partition that cannot start get a reservation: a number (1, the default, is EASY; 0 is none and no \
         backfilling), or \"all\"",
    ),
    (
        "backfilling.tested",
        "1 or more waiting jobs that are looked at in one pass (default: all)",
    ),
    (
        "backfilling.interval_seconds",
        "0 or more seconds between two passes; 0 (the default) is one after each event",
    ),
    (
        "backfilling.window_hours",
        "above 0 hours ahead: who cannot start sooner gets no reservation (default: however far)",
    ),
    (
        "window",
        "tables `[[window]]`: nodes that are closed for a time",
    ),
    ("window.name", "a text, another one for each window"),
    (
        "window.begin",
        "the first beginning on the clock of the zone: a local date and time without quotes, such as 2024-05-02T08:00:00",
    ),
    (
        "window.length_hours",
        "above 0 hours; of a window that repeats at most to the next one",
    ),
    (
        "window.repeats",
        "\"none\" (the default), \"daily\" or \"weekly\", at the same local time",
    ),
    (
        "window.until",
        "the last local day on which it may begin, such as 2024-12-31 without quotes; needed where it repeats",
    ),
    (
        "window.nodes",
        "how many nodes of which classes, as { NAME = NODES }: the last ones of each class (default: all nodes)",
    ),
    (
        "window.users",
        "numbers of the trace's users (field 12), or their names, who may use them meanwhile (default: nobody)",
    ),
];

/// What is allowed at a key, with or without numbers of list elements in it.
pub(super) fn allowed(key: &str) -> &'static str {
    let in_limits = ["per_user", "in_all"]
        .iter()
        .any(|table| key.contains(&format!(".{table}.")));
    let key = if in_limits { "limit" } else { key };
    let found = KEYS.iter().find(|(name, _)| *name == key);
    found.map_or("see docs/machines.md", |(_, words)| *words)
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A machine file. What each key means, and what is allowed: [`KEYS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RawMachine {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<RawPriority>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backfilling: Option<RawBackfilling>,
    #[serde(default)]
    pub class: Vec<RawClass>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partition: Vec<RawPartition>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub qos: Vec<RawQuality>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub account: Vec<RawAccount>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub window: Vec<RawWindow>,
}

/// `[[class]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RawClass {
    pub name: String,
    pub nodes: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory_megabytes: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub gpus: u32,
}

/// Values of `sharing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum RawSharing {
    #[default]
    Exclusive,
    Shared,
}

/// `[[partition]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RawPartition {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub sharing: RawSharing,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority_factor: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_hours: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widest_nodes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_request_hours: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<NumberOrName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<NumberOrName>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub default: bool,
}

/// `per_user` and `in_all`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RawLimits {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running_jobs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_jobs: Option<u32>,
}

/// `[[qos]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RawQuality {
    pub name: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority_factor: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_hours: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<NumberOrName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<NumberOrName>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub per_user: RawLimits,
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_all: RawLimits,
}

/// `[[account]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RawAccount {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<NumberOrName>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub per_user: RawLimits,
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_all: RawLimits,
}

/// Values of `holder`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum RawHolder {
    #[default]
    User,
    Account,
}

/// Values of `fair_share_algorithm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum RawAlgorithm {
    #[default]
    Classic,
    FairTree,
}

/// `[priority]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RawPriority {
    #[serde(default, skip_serializing_if = "is_default")]
    pub age: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_hours: Option<f64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub fair_share: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub fair_share_algorithm: RawAlgorithm,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub holder: RawHolder,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life_hours: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decays: Option<bool>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub size: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub favours_small: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub partition: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub qos: f64,
}

/// `[backfilling]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RawBackfilling {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<RawDepth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tested: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub interval_seconds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_hours: Option<f64>,
}

/// Values of `repeats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum RawRepeats {
    #[default]
    None,
    Daily,
    Weekly,
}

/// `[[window]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct RawWindow {
    pub name: String,
    pub begin: Datetime,
    pub length_hours: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeats: RawRepeats,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Datetime>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<NumberOrName>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, u32>,
}

/// A number of a trace, or a name that stands for one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NumberOrName {
    /// As the trace has it.
    Number(i64),
    /// As its header or a list of names has it.
    Name(String),
}

impl<'de> Deserialize<'de> for NumberOrName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = NumberOrName;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number of the trace, or a name")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<NumberOrName, E> {
                Ok(NumberOrName::Number(number))
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<NumberOrName, E> {
                Ok(NumberOrName::Name(name.to_owned()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// How many jobs get a reservation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RawDepth {
    /// So many.
    Jobs(u32),
    /// All that are looked at.
    All,
}

impl Serialize for RawDepth {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Jobs(jobs) => serializer.serialize_u32(*jobs),
            Self::All => serializer.serialize_str("all"),
        }
    }
}

impl<'de> Deserialize<'de> for RawDepth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = RawDepth;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number of jobs, or \"all\"")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<RawDepth, E> {
                let jobs = u32::try_from(number);
                jobs.map(RawDepth::Jobs)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<RawDepth, E> {
                match word {
                    "all" => Ok(RawDepth::All),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }
        }
        deserializer.deserialize_any(Either)
    }
}
