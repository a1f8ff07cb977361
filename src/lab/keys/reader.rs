//! How tables are read from a file, whichever type they are read into.

use std::ops::{Deref, Range};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

pub use toml::de::Error;

/// A value of a file with its place in it.
pub type Node<'i> = Spanned<DeValue<'i>>;

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

/// What a table, or a key of it, is read into. [`section!`](crate::section) declares the tables.
pub trait FromFile: Default {
    /// Reads it. What is of another kind than its key has been refused before, and is nothing here;
    /// what serde refuses goes to `errors` and is left out.
    fn from_file(node: Node<'_>, errors: &mut Vec<Error>) -> Self;
}

impl<T: DeserializeOwned> FromFile for Option<T> {
    fn from_file(node: Node<'_>, errors: &mut Vec<Error>) -> Self {
        let read = T::deserialize(ValueDeserializer::from(node));
        read.map_err(|error| errors.push(error)).ok()
    }
}

impl<T: FromFile> FromFile for Vec<Spanned<T>> {
    fn from_file(node: Node<'_>, errors: &mut Vec<Error>) -> Self {
        let DeValue::Array(tables) = node.into_inner() else {
            return Self::new();
        };
        let read = |table: Spanned<_>| Spanned::new(table.span(), T::from_file(table, errors));
        tables.into_iter().map(read).collect()
    }
}

/// A table while its keys are read one by one.
#[derive(Debug)]
pub struct KeysOfTable<'a, 'i> {
    table: DeTable<'i>,
    errors: &'a mut Vec<Error>,
}

impl<'a, 'i> KeysOfTable<'a, 'i> {
    /// The keys of a table; none of what is no table.
    pub fn of(node: Node<'i>, errors: &'a mut Vec<Error>) -> Self {
        let table = match node.into_inner() {
            DeValue::Table(table) => table,
            _ => DeTable::new(),
        };
        Self { table, errors }
    }

    /// A key, or a table in the table.
    pub fn take<T: FromFile>(&mut self, name: &str) -> T {
        let node = self.table.remove(name);
        node.map_or_else(T::default, |node| T::from_file(node, self.errors))
    }
}

/// The tables of an experiment file, with values of axes in the place of its own.
pub(crate) trait Sections<'i> {
    /// The table with this path; `None` where it is left out.
    fn section(&self, path: &str) -> Option<Node<'i>>;

    /// Says what is wrong in a table.
    fn refuse(&mut self, path: &str, section: &Node<'i>, error: &Error);
}

/// Reads a table without the keys that are wrong, which has been said then; `None` where it is
/// left out.
pub(crate) fn read<T: FromFile>(sections: &mut dyn Sections<'_>, path: &str) -> Option<Spanned<T>> {
    let section = sections.section(path)?;
    let mut errors = Vec::new();
    let keys = T::from_file(section.clone(), &mut errors);
    errors.sort_by_key(|error| error.span().map(|span| span.start));
    for error in &errors {
        sections.refuse(path, &section, error);
    }
    Some(Spanned::new(section.span(), keys))
}

/// What the tables of a study are read from
/// ([`Tables::read`](super::declaration::Tables::read)).
pub struct TableReader<'a, 'i>(&'a mut dyn Sections<'i>);

impl<'a, 'i> TableReader<'a, 'i> {
    pub(crate) fn new(sections: &'a mut dyn Sections<'i>) -> Self {
        Self(sections)
    }

    /// The table with this path.
    pub fn table<T: FromFile>(&mut self, path: &str) -> Table<T> {
        let found = read::<T>(self.0, path);
        let place = found.as_ref().map(Spanned::span);
        let keys = found.map(Spanned::into_inner).unwrap_or_default();
        Table { place, keys }
    }
}
