//! Values in rows and of parameters.

use std::fmt;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// A value in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text; bytes that are no UTF-8 are replaced.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl SqlValue {
    pub(in crate::store) fn from_ref(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(value) => Self::Integer(value),
            ValueRef::Real(value) => Self::Real(value),
            ValueRef::Text(bytes) => Self::Text(String::from_utf8_lossy(bytes).into_owned()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }

    /// Whether it reads from the right.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        matches!(self, Self::Integer(_) | Self::Real(_))
    }
}

/// As text: numbers with all the digits that they need, nothing for `Null`, bytes in hexadecimal.
impl fmt::Display for SqlValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Integer(value) => write!(formatter, "{value}"),
            // With a point or an exponent, so that a number never looks like an integer.
            Self::Real(value) => write!(formatter, "{value:?}"),
            Self::Text(text) => formatter.write_str(text),
            Self::Blob(bytes) => bytes
                .iter()
                .try_for_each(|byte| write!(formatter, "{byte:02x}")),
        }
    }
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}
