//! All keys of an experiment file: one declaration each, in `keys` and in the folders of studies.
//!
//! From a declaration come the structure that serde reads, "unknown key" errors and what they say
//! is allowed, the check of axis keys, the type that an axis value has in the store, the tables of
//! `docs/configuration.md` and the JSON Schema ([`Keys::schema`]). Where a key is read, its default
//! and its range are applied as they are declared (`keys/field.rs`).

mod schema;

pub use crate::keys::declaration::{Given, Key, Kind, Names, Section};
use crate::keys::{estimates, failures, reservations, scheduling, workload};
pub use crate::keys::{nearest, suggest};
use crate::study::{AnyStudy, Studies};

/// The tables that files of all studies have.
const COMMON: &[Section] = &[
    workload::EXPERIMENT,
    workload::WORKLOAD,
    workload::WORKLOAD_CLEANING,
    estimates::ESTIMATES,
    failures::FAILURES,
    scheduling::SCHEDULING,
    scheduling::ACCEPTANCE,
    failures::RELIABILITY,
    scheduling::CHECKPOINT,
    scheduling::PENALTY,
    reservations::RESERVATIONS,
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

    /// Every table with keys, in the order of the documentation.
    pub fn sections(self) -> impl Iterator<Item = &'static Section> {
        COMMON.iter().chain(self.studies.sections())
    }

    /// The study whose table it is; `None` for tables that files of all studies have.
    #[must_use]
    pub fn study_of(self, section: &Section) -> Option<&'static str> {
        let has = |study: &&dyn AnyStudy| {
            let mut own = study.sections().iter();
            own.any(|own| own.path == section.path)
        };
        self.studies.iter().find(has).map(AnyStudy::name)
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

    /// Every key that may stand in a table, in the order of the documentation.
    pub fn all(self) -> impl Iterator<Item = &'static Key> {
        self.sections().flat_map(|section| section.keys)
    }

    /// Whether an axis can vary this key.
    #[must_use]
    pub fn is_axis(self, key: &Key) -> bool {
        self.list_around(key.path).is_none() && !key.path.starts_with("experiment.")
    }

    /// The tables that may stand at the top of the file.
    #[must_use]
    pub fn tables(self) -> Vec<&'static str> {
        let with_keys = self.sections().map(|section| section.path);
        with_keys
            .filter(|path| !path.contains('.'))
            .chain(["axis", "zip", "exclude"])
            .collect()
    }

    /// Finds a key by its dotted path.
    #[must_use]
    pub fn find(self, path: &str) -> Option<&'static Key> {
        self.all().find(|key| key.path == path)
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
