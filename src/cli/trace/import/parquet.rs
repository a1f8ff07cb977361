//! Parquet: rows of a table for a mapping.

mod pages;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use miette::{IntoDiagnostic, miette};
use parquet::basic::{LogicalType, Repetition, TimeUnit};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::{Type, TypePtr};

use crate::workload::input_file::open_plain;
use bookahead_operators::foreign::{
    Cell, ImportSettings, ImportedTrace, LocalTimes, Mapping, MappingReader,
};

/// The longest text of a cell, as long as a row of a CSV file: each row copies its texts, and a
/// dictionary has one for many rows.
const LONGEST_TEXT_BYTES: usize = 4 << 20;

/// Reads a Parquet file with a mapping.
pub(super) fn read(
    path: &Path,
    mapping: &Mapping,
    settings: ImportSettings,
    times: &mut LocalTimes,
) -> miette::Result<ImportedTrace> {
    mapping.check().into_diagnostic()?;
    // The crate checks what it reads nearly everywhere, but a damaged file has made it panic; that
    // is a file's fault like any other.
    let read = catch_unwind(AssertUnwindSafe(|| {
        read_rows(path, mapping, settings, times)
    }));
    read.unwrap_or_else(|_| Err(miette!("{}: the Parquet file is damaged", path.display())))
}

fn read_rows(
    path: &Path,
    mapping: &Mapping,
    settings: ImportSettings,
    times: &mut LocalTimes,
) -> miette::Result<ImportedTrace> {
    let fault = |error: &dyn std::fmt::Display| miette!("{}: {error}", path.display());
    let file =
        open_plain(path).map_err(|error| miette!("cannot read {}: {error}", path.display()))?;
    let pages = file.try_clone().map_err(|error| fault(&error))?;
    pages::check_footer(&pages, settings.memory).map_err(|error| fault(&error))?;
    let table = SerializedFileReader::new(file).map_err(|error| fault(&error))?;
    let schema = table.metadata().file_metadata().schema().clone();
    let wanted = mapping.read_columns();
    // Lists and groups cannot be fields of a job, and one row of a list may hold any number of
    // values.
    let is_plain = |field: &TypePtr| {
        let info = field.get_basic_info();
        let is_list = info.has_repetition() && info.repetition() == Repetition::REPEATED;
        field.is_primitive() && !is_list
    };
    let fields: Vec<TypePtr> = (schema.get_fields().iter())
        .filter(|field| is_plain(field) && wanted.iter().any(|name| name == field.name()))
        .cloned()
        .collect();
    let columns: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();
    let found: Vec<String> = schema
        .get_fields()
        .iter()
        .map(|field| field.name().to_owned())
        .collect();
    if columns.len() < wanted.len() {
        // Refused with the names of both.
        let known: Vec<String> = found
            .into_iter()
            .filter(|name| !wanted.contains(name) || columns.contains(name))
            .collect();
        MappingReader::new(mapping, &known, path, settings, times).into_diagnostic()?;
        return Err(fault(&"the mapping names columns that are no plain values"));
    }
    pages::check(&pages, table.metadata(), &columns, settings.memory)
        .map_err(|error| fault(&error))?;
    let kinds: Vec<Kind> = fields.iter().map(|field| kind(field)).collect();
    let projection = Type::group_type_builder(schema.name())
        .with_fields(fields)
        .build()
        .map_err(|error| fault(&error))?;
    let mut reader =
        MappingReader::new(mapping, &columns, path, settings, times).into_diagnostic()?;
    let rows = table
        .get_row_iter(Some(projection))
        .map_err(|error| fault(&error))?;
    for (line, row) in (1..).zip(rows) {
        let row = row.map_err(|error| fault(&error))?;
        let too_long = row.get_column_iter().find(|(_, field)| is_too_long(field));
        if let Some((name, _)) = too_long {
            return Err(fault(&format_args!(
                "row {line}: the text in column {name} has more than {} MB; no field of a job is as long",
                LONGEST_TEXT_BYTES >> 20
            )));
        }
        let cells: Vec<Cell<'_>> = (row.get_column_iter().zip(&kinds))
            .map(|((_, field), kind)| cell(field, *kind))
            .collect();
        reader.row(&cells, line).into_diagnostic()?;
    }
    reader.finish().into_diagnostic()
}

fn is_too_long(field: &Field) -> bool {
    match field {
        Field::Str(text) => text.len() > LONGEST_TEXT_BYTES,
        Field::Bytes(bytes) => bytes.len() > LONGEST_TEXT_BYTES,
        _ => false,
    }
}

/// What whole numbers of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// Moments, so many units a second, with the clock of UTC or of the place.
    Moments {
        units: i64,
        is_utc: bool,
    },
}

fn kind(column: &Type) -> Kind {
    match column.get_basic_info().logical_type_ref() {
        Some(LogicalType::Timestamp(timestamp)) => Kind::Moments {
            units: match timestamp.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            },
            is_utc: timestamp.is_adjusted_to_u_t_c,
        },
        _ => Kind::Plain,
    }
}

fn cell(field: &Field, kind: Kind) -> Cell<'_> {
    let moment = |value: i64, units: i64| {
        let is_utc = !matches!(kind, Kind::Moments { is_utc: false, .. });
        // Microseconds of any time that a log can mean fit; others are no times.
        let microseconds = if units > 1_000_000 {
            value.div_euclid(units / 1_000_000)
        } else {
            value.saturating_mul(1_000_000 / units)
        };
        if is_utc {
            Cell::Moment(microseconds)
        } else {
            Cell::LocalMoment(microseconds)
        }
    };
    let whole = |value: i64| match kind {
        Kind::Plain => Cell::Whole(value),
        Kind::Moments { units, .. } => moment(value, units),
    };
    match field {
        Field::Bool(value) => Cell::Whole(i64::from(*value)),
        Field::Byte(value) => Cell::Whole(i64::from(*value)),
        Field::Short(value) => Cell::Whole(i64::from(*value)),
        Field::Int(value) => Cell::Whole(i64::from(*value)),
        Field::Long(value) => whole(*value),
        Field::UByte(value) => Cell::Whole(i64::from(*value)),
        Field::UShort(value) => Cell::Whole(i64::from(*value)),
        Field::UInt(value) => Cell::Whole(i64::from(*value)),
        Field::ULong(value) => i64::try_from(*value).map_or(Cell::Missing, Cell::Whole),
        Field::Float(value) => Cell::Number(f64::from(*value)),
        Field::Double(value) => Cell::Number(*value),
        Field::Str(value) => Cell::Text(value.as_bytes()),
        Field::Bytes(value) => Cell::Text(value.data()),
        Field::TimestampMillis(value) => moment(*value, 1_000),
        Field::TimestampMicros(value) => moment(*value, 1_000_000),
        _ => Cell::Missing,
    }
}
