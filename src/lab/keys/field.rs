//! Reading a key as it is declared: the range is checked and the default filled in where the value
//! is read.

use std::fmt::Display;
use std::ops::{Range, RangeBounds as _};
use std::str::FromStr;

use serde::de::value::Error as ValueError;
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use toml::Spanned;

use super::declaration::{Given, Key};
use super::suggest;
use crate::keys::problem::{ProblemKind, Problems};

/// A key of a table that was read: its declaration and what the file gives.
#[derive(Debug)]
pub struct Field<'a, T> {
    /// Its declaration.
    pub key: &'static Key,
    /// What the file gives.
    pub given: &'a T,
    fits: fn(f64) -> bool,
}

impl<T> Clone for Field<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Field<'_, T> {}

/// A number of an experiment file.
pub trait Number: Copy + Display + FromStr {
    /// The number as a real one.
    fn real(self) -> f64;
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Number for $number {
            fn real(self) -> f64 {
                self as f64
            }
        })*
    };
}

numbers!(u32, i64, u64, f64);

impl<'a, T> Field<'a, T> {
    /// A key with what the file gives, every value in its range allowed.
    pub const fn new(key: &'static Key, given: &'a T) -> Self {
        Self {
            key,
            given,
            fits: |_| true,
        }
    }

    /// What holds where the key is left out, as it is declared.
    fn declared(self) -> &'static str {
        // A key that is read this way without a default is a defect of its declaration that the
        // first experiment shows.
        let default = self.key.plain_default();
        default.unwrap_or_else(|| panic!("`{}` is declared without a default", self.key.path))
    }
}

impl<'a, T> Field<'a, Given<T>> {
    /// Where the value is; the beginning of the file where there is none.
    pub fn place(self) -> Range<usize> {
        self.given.as_ref().map_or(0..0, Spanned::span)
    }

    /// Says that the value is wrong, with what is allowed.
    pub fn refuse(self, message: &str, problems: &mut Problems) {
        self.refuse_at(self.place(), message, problems);
    }

    /// The same at another place of the file.
    pub fn refuse_at(self, place: Range<usize>, message: &str, problems: &mut Problems) {
        problems.add(
            ProblemKind::OutOfRange,
            self.key.path,
            place,
            message,
            format!("allowed: {}", self.key.allowed()),
        );
    }
}

impl<'a, N: Number> Field<'a, Given<N>> {
    /// Refuses what this refuses, too: an end of the range that nobody reaches who knows what the
    /// key means.
    pub const fn limited(mut self, fits: fn(f64) -> bool) -> Self {
        self.fits = fits;
        self
    }

    /// The value, if there is one; the outer `None` where it is out of range.
    pub fn checked(self, problems: &mut Problems) -> Option<Option<N>> {
        let Some(value) = self.given.as_ref().map(|value| *value.get_ref()) else {
            return Some(None);
        };
        let real = value.real();
        if real.is_finite() && self.key.range.contains(&real) && (self.fits)(real) {
            return Some(Some(value));
        }
        let refusal = self.key.refusal(real);
        self.refuse(&format!("{value} {refusal}"), problems);
        None
    }

    /// The value, or this where there is none.
    pub fn or(self, default: N, problems: &mut Problems) -> Option<N> {
        Some(self.checked(problems)?.unwrap_or(default))
    }

    /// The value, or the declared default.
    pub fn or_default(self, problems: &mut Problems) -> Option<N> {
        let value = self.checked(problems)?;
        value.or_else(|| self.declared().parse().ok())
    }
}

impl<'a, N: Number> Field<'a, Given<Vec<N>>> {
    /// The list, or the declared default.
    pub fn or_default(self) -> Vec<N> {
        let numbers = |text: &str| {
            let inside = text.trim_matches(['[', ']']).split(',');
            inside
                .filter_map(|number| number.trim().parse().ok())
                .collect()
        };
        match self.given {
            Some(list) => list.get_ref().clone(),
            None => numbers(self.declared()),
        }
    }
}

impl<'a> Field<'a, Given<String>> {
    /// The text, or the declared default.
    pub fn text(self) -> &'a str {
        let given = self.given.as_ref().map(|text| text.get_ref().as_str());
        given.unwrap_or_else(|| self.declared())
    }

    /// The name, or the declared default; `None` where it is none of the declared names.
    pub fn name(self, problems: &mut Problems) -> Option<&'a str> {
        let known = self.key.fixed_names();
        self.name_among(&known, problems)
    }

    /// The same where it must be one of these.
    pub fn name_among(self, known: &[&str], problems: &mut Problems) -> Option<&'a str> {
        let text = self.text();
        if self.given.is_none() || known.contains(&text) {
            return Some(text);
        }
        problems.add(
            ProblemKind::UnknownName,
            self.key.path,
            self.place(),
            format!("`{text}` is not known here"),
            suggest(text, known),
        );
        None
    }
}

impl<T: DeserializeOwned + Copy> Field<'_, Option<T>> {
    /// The variant of an enum, or the one that is declared as default.
    pub fn variant(self) -> Option<T> {
        let declared =
            || -> Result<T, ValueError> { T::deserialize(self.declared().into_deserializer()) };
        (*self.given).or_else(|| declared().ok())
    }
}

impl<'a> Field<'a, Option<bool>> {
    /// The flag, or the declared default.
    pub fn is_on(self) -> bool {
        self.given.unwrap_or_else(|| self.declared() == "true")
    }
}

impl<'a> Field<'a, Given<bool>> {
    /// The flag, or the declared default.
    pub fn is_on(self) -> bool {
        let given = self.given.as_ref().map(|flag| *flag.get_ref());
        given.unwrap_or_else(|| self.declared() == "true")
    }
}
