//! Parquet: typed columns for Polars, pandas and DuckDB.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::TableFormat;
use crate::{Cell, Table};
use bookahead_lab::store::SqlValue;

/// Rows a row group: what [`ParquetRows`] holds in memory at most.
const ROWS_A_GROUP: usize = 65_536;

/// Parquet with one type a column: whole numbers INT64, numbers DOUBLE, texts UTF-8; an estimate
/// takes five columns (`key`, `key_sd`, `key_low`, `key_high`, `key_n`, of which the last is
/// INT64); what is missing or undefined is null. Title, note and query are key-value metadata of
/// the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parquet;

impl TableFormat for Parquet {
    fn extension(&self) -> &'static str {
        "parquet"
    }

    fn write(&self, table: &Table, target: &mut dyn io::Write) -> io::Result<()> {
        let mut columns = Vec::new();
        for (at, column) in table.columns.iter().enumerate() {
            let kind = column_kind(table, at);
            columns.push((column.key.clone(), kind));
            if column.estimates {
                let [spread @ .., count] = column.parts();
                columns.extend(spread.map(|part| (part, ColumnKind::Number)));
                columns.push((count, ColumnKind::Integer));
            }
        }
        let about = [
            ("title", table.title.as_str()),
            ("note", table.note.as_str()),
            ("sql", table.sql.as_str()),
        ];
        let mut bytes = Vec::new();
        let mut rows = ParquetRows::new(&mut bytes, &columns, &about)?;
        let mut values = Vec::with_capacity(columns.len());
        for row in &table.rows {
            values.clear();
            for (cell, column) in row.iter().zip(&table.columns) {
                match cell {
                    Cell::Missing | Cell::Undefined => {
                        values.extend(std::iter::repeat_n(SqlValue::Null, column.width()));
                    }
                    Cell::Text(text) => values.push(SqlValue::Text(text.clone())),
                    Cell::Integer(value) => values.push(SqlValue::Integer(*value)),
                    Cell::Number(value) => values.push(SqlValue::Real(*value)),
                    Cell::Estimate(estimate) => {
                        let parts = [
                            Some(estimate.mean),
                            estimate.deviation,
                            estimate.low(),
                            estimate.high(),
                        ];
                        values
                            .extend(parts.map(|part| part.map_or(SqlValue::Null, SqlValue::Real)));
                        values.push(SqlValue::Integer(i64::from(estimate.count)));
                    }
                }
            }
            rows.push(&values)?;
        }
        rows.finish()?;
        target.write_all(&bytes)
    }
}

/// The narrowest type that holds every cell of a column.
fn column_kind(table: &Table, at: usize) -> ColumnKind {
    if table.columns[at].estimates {
        return ColumnKind::Number;
    }
    let cells = table.rows.iter().filter_map(|row| match row.get(at) {
        Some(Cell::Text(_)) => Some(ColumnKind::Text),
        Some(Cell::Integer(_)) => Some(ColumnKind::Integer),
        Some(Cell::Number(_) | Cell::Estimate(_)) => Some(ColumnKind::Number),
        _ => None,
    });
    cells
        .reduce(ColumnKind::or)
        // A column of nothing: decimals tell what was meant.
        .unwrap_or(if table.columns[at].decimals > 0 {
            ColumnKind::Number
        } else {
            ColumnKind::Text
        })
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// INT64.
    Integer,
    /// DOUBLE.
    Number,
    /// UTF-8.
    Text,
    /// BOOLEAN.
    Flag,
}

impl ColumnKind {
    /// The narrowest type that holds values of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Integer, Self::Number) | (Self::Number, Self::Integer) => Self::Number,
            _ => Self::Text,
        }
    }

    /// The type of a value; `None` for a missing one.
    #[must_use]
    pub fn of(value: &SqlValue) -> Option<Self> {
        match value {
            SqlValue::Null => None,
            SqlValue::Integer(_) => Some(Self::Integer),
            SqlValue::Real(_) => Some(Self::Number),
            SqlValue::Text(_) | SqlValue::Blob(_) => Some(Self::Text),
        }
    }
}

/// A Parquet file under way, row by row: it holds one row group of 65,536 rows, whatever the file's
/// length.
pub struct ParquetRows<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Buffer>,
    rows: usize,
}

impl<W: Write + Send> ParquetRows<W> {
    /// Begins a file with these columns and key-value metadata (empty values are left out).
    ///
    /// # Errors
    ///
    /// When the target cannot be written, or two columns have the same name.
    pub fn new(
        target: W,
        columns: &[(String, ColumnKind)],
        about: &[(&str, &str)],
    ) -> io::Result<Self> {
        for (at, (name, _)) in columns.iter().enumerate() {
            if columns[..at].iter().any(|(earlier, _)| earlier == name) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("two columns are called `{name}`: name one of them with AS"),
                ));
            }
        }
        let fields = columns
            .iter()
            .map(|(name, kind)| field(name, *kind))
            .collect::<Result<Vec<TypePtr>, _>>()
            .map_err(plain)?;
        let schema = Type::group_type_builder("schema")
            .with_fields(fields)
            .build()
            .map_err(plain)?;
        let about: Vec<KeyValue> = about
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned()))
            .collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("bookahead ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(about))
            .build();
        Ok(Self {
            writer: SerializedFileWriter::new(target, Arc::new(schema), Arc::new(properties))
                .map_err(plain)?,
            columns: columns.iter().map(|(_, kind)| Buffer::new(*kind)).collect(),
            rows: 0,
        })
    }

    /// Adds a row: as many values as there are columns.
    ///
    /// # Errors
    ///
    /// When the target cannot be written or a value does not fit the type of its column.
    pub fn push(&mut self, row: &[SqlValue]) -> io::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value)?;
        }
        self.rows += 1;
        if self.rows == ROWS_A_GROUP {
            self.flush()?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// When the target cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.writer.close().map(|_| ()).map_err(plain)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(plain)?;
        for column in &mut self.columns {
            column.write(&mut group).map_err(plain)?;
        }
        group.close().map_err(plain)?;
        self.rows = 0;
        Ok(())
    }
}

impl<W: Write + Send> std::fmt::Debug for ParquetRows<W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ParquetRows")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

fn field(name: &str, kind: ColumnKind) -> Result<TypePtr, ParquetError> {
    let physical = match kind {
        ColumnKind::Integer => Physical::INT64,
        ColumnKind::Number => Physical::DOUBLE,
        ColumnKind::Text => Physical::BYTE_ARRAY,
        ColumnKind::Flag => Physical::BOOLEAN,
    };
    let mut builder =
        Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    if kind == ColumnKind::Text {
        builder = builder
            .with_logical_type(Some(LogicalType::String))
            .with_converted_type(ConvertedType::UTF8);
    }
    builder.build().map(Arc::new)
}

/// Parquet's error as one of input and output, keeping the cause that says that a disk is full.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}

/// The values of one column in a row group, with which of them are there.
enum Buffer {
    Integers(Vec<i64>, Vec<i16>),
    Numbers(Vec<f64>, Vec<i16>),
    Texts(Vec<ByteArray>, Vec<i16>),
    Flags(Vec<bool>, Vec<i16>),
}

impl Buffer {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Integer => Self::Integers(Vec::new(), Vec::new()),
            ColumnKind::Number => Self::Numbers(Vec::new(), Vec::new()),
            ColumnKind::Text => Self::Texts(Vec::new(), Vec::new()),
            ColumnKind::Flag => Self::Flags(Vec::new(), Vec::new()),
        }
    }

    fn push(&mut self, value: &SqlValue) -> io::Result<()> {
        let there = i16::from(*value != SqlValue::Null);
        match (&mut *self, value) {
            (
                Self::Integers(_, levels)
                | Self::Numbers(_, levels)
                | Self::Texts(_, levels)
                | Self::Flags(_, levels),
                SqlValue::Null,
            ) => levels.push(there),
            (Self::Integers(values, levels), SqlValue::Integer(value)) => {
                values.push(*value);
                levels.push(there);
            }
            (Self::Numbers(values, levels), SqlValue::Real(value)) => {
                values.push(*value);
                levels.push(there);
            }
            (Self::Numbers(values, levels), SqlValue::Integer(value)) => {
                values.push(*value as f64);
                levels.push(there);
            }
            (Self::Flags(values, levels), SqlValue::Integer(value)) => {
                values.push(*value != 0);
                levels.push(there);
            }
            (Self::Texts(values, levels), value) => {
                values.push(ByteArray::from(value.to_string().into_bytes()));
                levels.push(there);
            }
            (_, value) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("the value `{value}` does not fit the type of its column"),
                ));
            }
        }
        Ok(())
    }

    fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        match self {
            Self::Integers(values, levels) => column::<Int64Type, W>(group, values, levels),
            Self::Numbers(values, levels) => column::<DoubleType, W>(group, values, levels),
            Self::Texts(values, levels) => column::<ByteArrayType, W>(group, values, levels),
            Self::Flags(values, levels) => column::<BoolType, W>(group, values, levels),
        }
    }
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
    levels: &mut Vec<i16>,
) -> Result<(), ParquetError> {
    let mut writer = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("a column too many".to_owned()))?;
    writer
        .typed::<T>()
        .write_batch(values, Some(levels), None)?;
    writer.close()?;
    values.clear();
    levels.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;
    use crate::{Column, Estimate};

    #[test]
    fn a_table_keeps_its_types_its_gaps_and_its_query() {
        let estimate = Estimate::of(&[2.0, 2.5, 3.0]).unwrap();
        let table = Table {
            name: "t".to_owned(),
            title: "A title".to_owned(),
            columns: vec![
                Column::plain("name", "Name"),
                Column::plain("count", "Count"),
                Column::number("share", "Share", 2),
                Column::estimate("gain", "Gain", 1),
            ],
            rows: vec![
                vec![
                    Cell::Text("a".to_owned()),
                    Cell::Integer(1),
                    Cell::Integer(2),
                    Cell::Estimate(estimate),
                ],
                vec![
                    Cell::Missing,
                    Cell::Undefined,
                    Cell::Number(0.1),
                    Cell::Missing,
                ],
            ],
            note: String::new(),
            sql: "SELECT 1".to_owned(),
        };
        let mut bytes = Vec::new();
        Parquet.write(&table, &mut bytes).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let reader = SerializedFileReader::new(file.reopen().unwrap()).unwrap();
        let about = reader.metadata().file_metadata();
        let columns: Vec<(String, Physical)> = about
            .schema_descr()
            .columns()
            .iter()
            .map(|column| (column.name().to_owned(), column.physical_type()))
            .collect();
        let expected = [
            ("name", Physical::BYTE_ARRAY),
            ("count", Physical::INT64),
            ("share", Physical::DOUBLE),
            ("gain", Physical::DOUBLE),
            ("gain_sd", Physical::DOUBLE),
            ("gain_low", Physical::DOUBLE),
            ("gain_high", Physical::DOUBLE),
            ("gain_n", Physical::INT64),
        ];
        assert_eq!(
            columns,
            expected.map(|(name, kind)| (name.to_owned(), kind))
        );
        let keys: Vec<&str> = about
            .key_value_metadata()
            .unwrap()
            .iter()
            .map(|pair| pair.key.as_str())
            .collect();
        assert_eq!(keys, ["title", "sql"]);
        let rows: Vec<String> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().to_string())
            .collect();
        assert!(rows[0].contains("share: 2.0"), "{rows:?}");
        assert!(rows[0].contains("gain: 2.5, gain_sd: 0.5"), "{rows:?}");
        assert!(rows[0].contains("gain_n: 3"), "{rows:?}");
        assert!(
            rows[1].contains("name: null, count: null, share: 0.1, gain: null"),
            "{rows:?}"
        );
    }

    #[test]
    fn more_rows_than_a_group_holds_make_several_groups() {
        let mut bytes = Vec::new();
        let columns = [("n".to_owned(), ColumnKind::Integer)];
        let mut rows = ParquetRows::new(&mut bytes, &columns, &[]).unwrap();
        for value in 0..(ROWS_A_GROUP as i64 + 10) {
            rows.push(&[SqlValue::Integer(value)]).unwrap();
        }
        rows.finish().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let reader = SerializedFileReader::new(file.reopen().unwrap()).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        assert_eq!(reader.metadata().file_metadata().num_rows(), 65_546);
    }

    #[test]
    fn two_columns_of_one_name_are_refused() {
        let columns = [
            ("n".to_owned(), ColumnKind::Integer),
            ("n".to_owned(), ColumnKind::Text),
        ];
        let error = ParquetRows::new(Vec::new(), &columns, &[]).unwrap_err();
        assert!(error.to_string().contains("two columns are called `n`"));
    }
}
