//! All keys of an experiment file: one declaration each, in `keys` and in the folders of studies.
//!
//! From a declaration come the structure that serde reads, "unknown key" errors and what they say
//! is allowed, the check of axis keys, the type that an axis value has in the store, the tables of
//! `docs/configuration.md` and the JSON Schema ([`Keys::schema`]). Where a key is read, its default
//! and its range are applied as they are declared (`keys/field.rs`).

mod schema;

use std::collections::BTreeSet;

pub use crate::keys::declaration::{Given, Key, Kind, Names, Section};
pub use crate::keys::former::FormerKey;
use crate::keys::{adaptive, estimates, failures, reservations, scheduling, workload};
pub use crate::keys::{nearest, suggest};
use crate::study::Studies;

/// The tables that files of all studies have.
pub(super) const COMMON: &[Section] = &[
    workload::EXPERIMENT,
    workload::WORKLOAD,
    workload::WORKLOAD_CLEANING,
    workload::WORKLOAD_LOAD,
    estimates::ESTIMATES,
    failures::FAILURES,
    scheduling::SCHEDULING,
    scheduling::ACCEPTANCE,
    failures::RELIABILITY,
    scheduling::CHECKPOINT,
    scheduling::PENALTY,
    reservations::RESERVATIONS,
    reservations::REQUESTS,
    adaptive::STOP,
    adaptive::SELECT,
];

/// The keys that experiment files of a program may have.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    studies: Studies,
}

impl Keys {
    /// Those of these studies, and those that files of all studies have.
    #[must_use]
    pub const fn of(studies: Studies) -> Self {
        Self { studies }
    }

    /// The studies.
    #[must_use]
    pub const fn studies(self) -> Studies {
        self.studies
    }

    /// Every table with keys, in the order of the documentation; one that several studies declare
    /// with the keys that each of them reads stands there for each of them.
    pub fn sections(self) -> impl Iterator<Item = &'static Section> {
        self.declarations().map(|(_, section)| section)
    }

    /// The same, each with the study that declares it; `None` for tables that files of all studies
    /// have.
    pub fn declarations(self) -> impl Iterator<Item = (Option<&'static str>, &'static Section)> {
        let common = COMMON.iter().map(|section| (None, section));
        let of_studies = self.studies.iter().flat_map(|study| {
            let own = study.sections().iter();
            own.map(|section| (Some(study.name()), section))
        });
        common.chain(of_studies)
    }

    /// Every table once, as the study of this name declares it where it does.
    #[must_use]
    pub fn sections_for(self, study: &str) -> Vec<&'static Section> {
        let mut found: Vec<&'static Section> = Vec::new();
        for (owner, section) in self.declarations() {
            match found.iter_mut().find(|known| known.path == section.path) {
                Some(known) if owner == Some(study) => *known = section,
                Some(_) => {}
                None => found.push(section),
            }
        }
        found
    }

    /// Every declaration of a key, with the study that it is of; `None` for those that files of all
    /// studies have.
    pub fn declared(
        self,
        path: &str,
    ) -> impl Iterator<Item = (Option<&'static str>, &'static Key)> {
        self.declarations().flat_map(move |(study, section)| {
            let keys = section.keys.iter().filter(move |key| key.path == path);
            keys.map(move |key| (study, key))
        })
    }

    /// Every key that has another name now.
    pub fn former(self) -> impl Iterator<Item = FormerKey> {
        self.sections().flat_map(|section| section.former).copied()
    }

    /// The key that took the place of the one with this path; `None` where none did.
    #[must_use]
    pub fn former_key(self, path: &str) -> Option<FormerKey> {
        self.former().find(|key| key.was == path)
    }

    /// What a key is called now: the name itself where it has not changed.
    #[must_use]
    pub fn present(self, path: &str) -> &str {
        self.former_key(path).map_or(path, |key| key.now)
    }

    /// Whether there may be several tables with this path.
    #[must_use]
    pub fn is_list(self, table: &str) -> bool {
        let mut sections = self.sections();
        sections.any(|section| section.is_list && section.path == table)
    }

    /// The path of the table around a key, if there may be several of them.
    #[must_use]
    pub fn list_around(self, key: &str) -> Option<&'static str> {
        let mut lists = self
            .sections()
            .filter(|section| section.is_list)
            .map(|section| section.path);
        lists.find(|list| {
            key.strip_prefix(list)
                .is_some_and(|rest| rest.starts_with('.'))
        })
    }

    /// Every key that may stand in a table, once, as it is declared first.
    pub fn all(self) -> impl Iterator<Item = &'static Key> {
        let mut known = BTreeSet::new();
        let keys = self.sections().flat_map(|section| section.keys);
        keys.filter(move |key| known.insert(key.path))
    }

    /// Whether an axis can vary this key.
    #[must_use]
    pub fn is_axis(self, key: &Key) -> bool {
        self.list_around(key.path).is_none() && !Self::is_of_whole_sweep(key.path)
    }

    /// Whether a key holds for a whole sweep, so that no axis can vary it.
    #[must_use]
    pub fn is_of_whole_sweep(path: &str) -> bool {
        let table = path.split('.').next().unwrap_or_default();
        ["experiment", "stop", "select"].contains(&table)
    }

    /// The tables that may stand at the top of the file.
    #[must_use]
    pub fn tables(self) -> Vec<&'static str> {
        let mut known = BTreeSet::new();
        let with_keys = self.sections().map(|section| section.path);
        with_keys
            .filter(|path| !path.contains('.') && known.insert(*path))
            .chain(["axis", "zip", "exclude"])
            .collect()
    }

    /// Finds a key by its dotted path.
    #[must_use]
    pub fn find(self, path: &str) -> Option<&'static Key> {
        let mut keys = self.sections().flat_map(|section| section.keys);
        keys.find(|key| key.path == path)
    }

    /// The names that the text of a key may be; none where it may be any.
    #[must_use]
    pub fn names(self, key: &Key) -> Vec<&'static str> {
        match key.names {
            Some(Names::Fixed(names)) => names(),
            Some(Names::Strategies) => self.studies.strategy_names(),
            None => Vec::new(),
        }
    }

    /// The names that may stand directly in a table: keys and subtables.
    #[must_use]
    pub fn children(self, table: &str) -> Vec<&'static str> {
        let prefix = format!("{table}.");
        let mut names: Vec<&'static str> = Vec::new();
        for key in self.all() {
            if let Some(rest) = key.path.strip_prefix(prefix.as_str()) {
                let name = rest.split('.').next().unwrap_or(rest);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}
