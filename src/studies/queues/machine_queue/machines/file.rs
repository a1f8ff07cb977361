//! What a machine file may say, as it stands there: nothing is checked here but types and names of
//! keys.

mod keys;

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use toml::value::Datetime;

pub use self::keys::KEYS;
pub(super) use self::keys::allowed;

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
    pub cores_per_processor: Option<u32>,
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
