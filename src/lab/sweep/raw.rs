//! What an experiment file says: every key optional where the file may leave it out, every value
//! with its place.
//!
//! The structures of the tables are declared with their keys ([`super::keys`]). Nothing below
//! `sweep` sees these types; `super::resolve` turns them into settings. Values of axes are put
//! into the TOML tree before it is read, so they pass through here like any other value.

use serde::Deserialize;
use toml::Spanned;

pub use crate::keys::adaptive::{RawSelect, RawStop};
pub use crate::keys::declaration::Given;
use crate::keys::declaration::Table;
pub use crate::keys::estimates::RawEstimates;
pub use crate::keys::failures::{RawFailures, RawReliability};
pub use crate::keys::reservations::{RawRequests, RawReservations};
pub use crate::keys::scheduling::{RawAcceptance, RawCheckpoint, RawPenalty, RawScheduling};
pub use crate::keys::workload::{RawHeader, RawWorkload};
use crate::study::StudyKeys;

/// One combination of axis values as the file states it: all sections except `axis`, `zip` and
/// `exclude`.
#[derive(Debug, Default)]
pub struct RawExperiment {
    /// `[experiment]`.
    pub experiment: Option<Spanned<RawHeader>>,
    /// `[workload]`.
    pub workload: Option<Spanned<RawWorkload>>,
    /// `[estimates]`.
    pub estimates: RawEstimates,
    /// `[failures]`.
    pub failures: RawFailures,
    /// `[scheduling]`.
    pub scheduling: Option<Spanned<RawScheduling>>,
    /// `[acceptance]`.
    pub acceptance: RawAcceptance,
    /// `[reliability]`.
    pub reliability: RawReliability,
    /// `[checkpoint]`.
    pub checkpoint: RawCheckpoint,
    /// `[penalty]`.
    pub penalty: RawPenalty,
    /// `[reservations]`.
    pub reservations: Table<RawReservations>,
    /// `[requests]`, as far as files of all studies have it.
    pub requests: RawRequests,
    /// `[stop]`.
    pub stop: Option<Spanned<RawStop>>,
    /// `[select]`.
    pub select: Option<Spanned<RawSelect>>,
    /// The tables of each study, in the order of the list.
    pub studies: Vec<StudyKeys>,
}

/// `[[axis]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawAxis {
    /// A dotted key.
    pub key: Spanned<String>,
    /// Its values…
    pub values: Given<Vec<Spanned<toml::Value>>>,
    /// …or a range of them.
    pub range: Given<RawRange>,
}

/// `range = { from, to, step }`, inclusive, or `{ from, to, tolerance }` for an axis that a
/// selection refines around its optimum.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRange {
    /// The first value.
    pub from: Number,
    /// The last value, where a whole number of steps reaches it.
    pub to: Number,
    /// The distance between two values…
    pub step: Option<Number>,
    /// …or how close to the optimum a selection comes.
    pub tolerance: Option<Number>,
}

/// A number of a range: three whole numbers give whole values.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "a number")]
pub enum Number {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
}

impl Number {
    /// The number as a real one.
    #[must_use]
    pub fn real(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }
}

/// `[[zip]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawZip {
    /// Dotted keys that move together.
    pub keys: Vec<Spanned<String>>,
    /// Rows with one value for each key.
    pub values: Spanned<Vec<Spanned<Vec<Spanned<toml::Value>>>>>,
}
