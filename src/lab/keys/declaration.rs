//! How a key is declared, once: `section!` makes of one declaration the structure that serde reads
//! and what messages, the page of the configuration and the schema say about the key.

use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::value::Error;
use serde::de::{Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use toml::Spanned;

use super::former::FormerKey;
pub use super::reader::Table;
use super::reader::TableReader;

/// A value with its place in the file, where it was given.
pub type Given<T> = Option<Spanned<T>>;

/// What a value of a key looks like in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A real number; a whole number is taken as one.
    Real,
    /// A quoted name.
    Text,
    /// `true` or `false`.
    Flag,
    /// A list of numbers.
    List,
}

impl Kind {
    /// The type in words, for messages.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Integer => "a whole number",
            Self::Real => "a number",
            Self::Text => "a text in quotes",
            Self::Flag => "true or false",
            Self::List => "a list in brackets",
        }
    }
}

/// A table of the experiment file.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Dotted path from the top of the file.
    pub path: &'static str,
    /// What it is about, a sentence.
    pub about: &'static str,
    /// The keys that stand directly in it, in the order of the documentation.
    pub keys: &'static [Key],
    /// Whether there may be several, written with two brackets: no axis can change their keys.
    pub is_list: bool,
    /// Whether it means something by being there, without any key.
    pub is_switch: bool,
    /// The keys that stood in it before others took their place.
    pub former: &'static [FormerKey],
}

impl Section {
    /// Whether a mark stands behind the path in the declaration.
    #[must_use]
    pub const fn is_marked(marks: &[&str], mark: &str) -> bool {
        let mut at = 0;
        while at < marks.len() {
            if is_same(marks[at].as_bytes(), mark.as_bytes()) {
                return true;
            }
            at += 1;
        }
        false
    }
}

/// Whether texts are equal, where constants are computed.
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// A table that a file has.
#[derive(Clone, Debug)]
pub struct GivenTable {
    /// Its dotted path.
    pub path: &'static str,
    /// Where it is.
    pub place: Range<usize>,
    /// The dotted paths of those keys in it that its study declares.
    pub keys: Vec<&'static str>,
}

/// The tables of a study.
pub trait Tables: std::fmt::Debug + 'static {
    /// What may stand in them, in the order of the documentation.
    const SECTIONS: &'static [Section];

    /// Reads them.
    fn read(from: &mut TableReader<'_, '_>) -> Self;

    /// The tables that are there.
    fn given(&self) -> Vec<GivenTable>;
}

/// For studies without tables of their own.
impl Tables for () {
    const SECTIONS: &'static [Section] = &[];

    fn read(_: &mut TableReader<'_, '_>) -> Self {}

    fn given(&self) -> Vec<GivenTable> {
        Vec::new()
    }
}

/// The names that a text may be.
#[derive(Clone, Copy, Debug)]
pub enum Names {
    /// These.
    Fixed(fn() -> Vec<&'static str>),
    /// Those of the policies and studies of the program
    /// ([`Studies::strategy_names`](crate::study::Studies::strategy_names)).
    Strategies,
}

/// One key of the experiment file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Dotted path from the top of the file.
    pub path: &'static str,
    /// What it is, a sentence.
    pub about: &'static str,
    /// Type of its value.
    pub kind: Kind,
    /// Type of the elements of a list, else the same as `kind`.
    pub element: Kind,
    /// Which numbers are allowed, alone or in a list.
    pub range: (Bound<f64>, Bound<f64>),
    /// The names that a text may be.
    pub names: Option<Names>,
    /// Whether other texts than the names are possible.
    pub others: bool,
    /// The ambiguities of the papers, or the places in them, that the key decides.
    pub decides: &'static str,
    /// What holds where the key is left out.
    pub default: Fallback,
    /// What is allowed in words of its own, instead of those made from range or names.
    pub words: Option<&'static str>,
    /// What follows the words: `: what it is`, or a unit.
    pub note: &'static str,
    /// What is said of a number below and of one above the range.
    pub refusals: [&'static str; 2],
}

/// What holds where a key is left out.
#[derive(Clone, Copy, Debug)]
pub enum Fallback {
    /// It depends, or there is none.
    None,
    /// This value as it stands in a file, a text without its quotes.
    Value(&'static str),
    /// The same, and the words say so themselves.
    InWords(&'static str),
    /// The name of an enum's default.
    Named(fn() -> String),
}

impl Key {
    /// What is allowed, with unit and default, in one line.
    #[must_use]
    pub fn allowed(&self) -> String {
        let words = self
            .words
            .map_or_else(|| self.range_in_words(), str::to_owned);
        let default = match (self.kind, self.default) {
            (Kind::Integer | Kind::Real | Kind::List, Fallback::Value(value)) => {
                format!(" (default {value})")
            }
            _ => String::new(),
        };
        format!("{words}{}{default}", self.note)
    }

    /// What holds where the key is left out, as it stands in a file (a text without its quotes).
    /// `None` where that depends on other keys, or nothing does.
    #[must_use]
    pub fn default(&self) -> Option<String> {
        match self.default {
            Fallback::None => None,
            Fallback::Value(value) | Fallback::InWords(value) => Some(value.to_owned()),
            Fallback::Named(name) => Some(name()),
        }
    }

    /// The names that a text may be, where they are the same in every program.
    pub fn fixed_names(&self) -> Vec<&'static str> {
        match self.names {
            Some(Names::Fixed(names)) => names(),
            Some(Names::Strategies) | None => Vec::new(),
        }
    }

    /// The same where it is no enum's.
    pub fn plain_default(&self) -> Option<&'static str> {
        match self.default {
            Fallback::None | Fallback::Named(_) => None,
            Fallback::Value(value) | Fallback::InWords(value) => Some(value),
        }
    }

    /// What is said of a number out of range.
    pub fn refusal(&self, number: f64) -> &'static str {
        let is_above = match self.range.1 {
            Included(most) => number > most,
            Excluded(most) => number >= most,
            Unbounded => false,
        };
        self.refusals[usize::from(is_above)]
    }

    fn range_in_words(&self) -> String {
        let choice = |texts: Vec<String>| {
            let marked = texts.into_iter().map(|text| {
                let is_default = self.default().as_deref() == Some(text.trim_matches('"'));
                text + if is_default { " (default)" } else { "" }
            });
            let marked: Vec<String> = marked.collect();
            marked
                .split_last()
                .map(|(last, rest)| format!("{} or {last}", rest.join(", ")))
                .unwrap_or_default()
        };
        match (self.kind, self.range) {
            (Kind::Integer, (Included(least), Included(most))) => {
                format!("a whole number from {least} to {most}")
            }
            (Kind::Integer, (Included(least), _)) => format!("a whole number of {least} or more"),
            (Kind::Real, (Included(least), Unbounded)) => format!("{least} or more"),
            (Kind::Real, (Included(least), Included(most))) => format!("{least} to {most}"),
            (Kind::Real, (Excluded(least), Unbounded)) => format!("above {least}"),
            (Kind::Real, (Excluded(least), Included(most))) => {
                format!("above {least}, at most {most}")
            }
            (Kind::Real, (Excluded(least), Excluded(most))) => {
                format!("above {least} and below {most}")
            }
            (Kind::Flag, _) => choice(vec!["true".to_owned(), "false".to_owned()]),
            (Kind::Text, _) => choice(
                self.fixed_names()
                    .iter()
                    .map(|name| format!("\"{name}\""))
                    .collect(),
            ),
            _ => String::new(),
        }
    }

    const fn of(kind: Kind, range: (Bound<f64>, Bound<f64>)) -> Self {
        Self {
            path: "",
            about: "",
            kind,
            element: kind,
            range,
            names: None,
            others: false,
            decides: "",
            default: Fallback::None,
            words: None,
            note: "",
            refusals: ["is impossible"; 2],
        }
    }

    const fn list(element: Kind, least: Bound<f64>) -> Self {
        let mut key = Self::of(Kind::List, (least, Unbounded));
        key.element = element;
        key
    }

    /// Numbers from this one on.
    pub const fn from(mut self, least: f64) -> Self {
        self.range.0 = Included(least);
        self
    }

    /// Numbers above this one.
    pub const fn above(mut self, least: f64) -> Self {
        self.range.0 = Excluded(least);
        self
    }

    /// Numbers up to this one.
    pub const fn to(mut self, most: f64) -> Self {
        self.range.1 = Included(most);
        self
    }

    /// Numbers below this one.
    pub const fn below(mut self, most: f64) -> Self {
        self.range.1 = Excluded(most);
        self
    }

    /// Other texts than the names are possible as well.
    pub const fn or_others(mut self) -> Self {
        self.others = true;
        self
    }

    /// Says what is allowed in words of its own, instead of those made from range or names.
    pub const fn words(mut self, words: &'static str) -> Self {
        self.words = Some(words);
        self
    }

    /// What follows the words for range or names: `: what it is`, or a unit.
    pub const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// What is said of a number below and of one above the range, behind the number.
    pub const fn refused(mut self, below: &'static str, above: &'static str) -> Self {
        self.refusals = [below, above];
        self
    }

    /// What holds where the key is left out.
    pub const fn default_is(mut self, value: &'static str) -> Self {
        self.default = Fallback::Value(value);
        self
    }

    /// The same where words or note name the default already.
    pub const fn default_in_words(mut self, value: &'static str) -> Self {
        self.default = Fallback::InWords(value);
        self
    }

    /// The ambiguities of the papers, or the places in them, that the key decides.
    pub const fn decides(mut self, names: &'static str) -> Self {
        self.decides = names;
        self
    }
}

/// A whole number from this one on.
pub const fn integer(least: i64) -> Key {
    Key::of(Kind::Integer, (Included(least as f64), Unbounded)).refused("is too small", "")
}

/// A whole number between these two, both included.
pub const fn integer_within(least: i64, most: i64) -> Key {
    integer(least)
        .to(most as f64)
        .refused("is impossible", "is impossible")
}

/// A real number.
pub const fn real() -> Key {
    Key::of(Kind::Real, (Unbounded, Unbounded))
}

/// A list of whole numbers from this one on.
pub const fn integers(least: i64) -> Key {
    Key::list(Kind::Integer, Included(least as f64))
}

/// A list of real numbers.
pub const fn reals() -> Key {
    Key::list(Kind::Real, Unbounded)
}

/// A list of texts.
pub const fn texts(words: &'static str) -> Key {
    Key::list(Kind::Text, Unbounded).words(words)
}

/// `true` or `false`.
pub const fn flag(default: &'static str) -> Key {
    Key::of(Kind::Flag, (Unbounded, Unbounded)).default_is(default)
}

/// Any text.
pub const fn text(words: &'static str) -> Key {
    Key::of(Kind::Text, (Unbounded, Unbounded)).words(words)
}

/// One of these names.
pub const fn one_of(names: fn() -> Vec<&'static str>) -> Key {
    let mut key = Key::of(Kind::Text, (Unbounded, Unbounded));
    key.names = Some(Names::Fixed(names));
    key
}

/// The name of a policy or a study.
pub const fn strategy() -> Key {
    let mut key = Key::of(Kind::Text, (Unbounded, Unbounded));
    key.names = Some(Names::Strategies);
    key
}

/// One of the names of an enum, its default where the key is left out.
pub const fn named<T: DeserializeOwned + Serialize + Default>() -> Key {
    let mut key = one_of(names_of::<T>);
    key.default = Fallback::Named(default_of::<T>);
    key
}

fn default_of<T: Serialize + Default>() -> String {
    let value = serde_json::to_value(T::default()).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// The names of an enum's variants as serde reads them.
pub fn names_of<T: DeserializeOwned>() -> Vec<&'static str> {
    let mut names: &'static [&'static str] = &[];
    // Asked for a value, an enum says first which names it knows. There is no value, so the answer
    // is always an error.
    let _ = T::deserialize(Asked(&mut names));
    names.to_vec()
}

struct Asked<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("only an enum has names"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = variants;
        Err(Error::custom("only the names were asked for"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}
