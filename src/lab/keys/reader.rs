//! How tables are read from a file, whichever type they are read into.

use std::ops::{Deref, Range};

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

/// What a file says in a table; the same as an empty one where it is left out.
#[derive(Debug, Default)]
pub struct Table<T> {
    /// Where it is; `None` where it is left out.
    pub place: Option<Range<usize>>,
    /// Its keys.
    pub keys: T,
}

impl<T> Deref for Table<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.keys
    }
}

/// The tables of an experiment file, with values of axes in the place of its own.
pub(crate) trait Sections<'i> {
    /// The table with this path; `None` where it is left out.
    fn section(&self, path: &str) -> Option<Spanned<DeValue<'i>>>;

    /// Says what is wrong in a table and takes the wrong value away, so that the others can be
    /// checked in the same run; whether there was one to take away.
    fn refuse(
        &mut self,
        path: &str,
        section: &mut Spanned<DeValue<'i>>,
        error: &toml::de::Error,
    ) -> bool;
}

/// Reads a table; `None` where it is left out or cannot be read, which has been said then.
pub(crate) fn read<T: DeserializeOwned>(
    sections: &mut dyn Sections<'_>,
    path: &str,
) -> Option<Spanned<T>> {
    let mut section = sections.section(path)?;
    loop {
        match Spanned::<T>::deserialize(ValueDeserializer::from(section.clone())) {
            Ok(raw) => return Some(raw),
            Err(error) if !sections.refuse(path, &mut section, &error) => return None,
            Err(_) => {}
        }
    }
}

/// What the tables of a study are read from
/// ([`Tables::read`](super::declaration::Tables::read)).
pub struct TableReader<'a, 'i>(&'a mut dyn Sections<'i>);

impl<'a, 'i> TableReader<'a, 'i> {
    pub(crate) fn new(sections: &'a mut dyn Sections<'i>) -> Self {
        Self(sections)
    }

    /// The table with this path.
    pub fn table<T: DeserializeOwned + Default>(&mut self, path: &str) -> Table<T> {
        let found = read::<T>(self.0, path);
        let place = found.as_ref().map(Spanned::span);
        let keys = found.map(Spanned::into_inner).unwrap_or_default();
        Table { place, keys }
    }
}
