//! `bookahead sql "SELECT …"`: any other question to a store.

use std::io::{self, Read as _, Write};
use std::path::PathBuf;

use serde_json::Value;

use bookahead_core::printable;

use super::aligned::{Aligned, Form, Heading, form, is_tsv, tsv_line};
use super::limit::Limit;
use super::screen::{LookError, csv_error, json};
use super::spool;
use crate::cli::studies;
use crate::store::{Parameter, SqlValue, Store};
use bookahead_report::{ColumnKind, ParquetRows};

/// Asks a store a question in SQL; nothing is ever changed.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Formats: `table` is for people (cells that do not fit the screen end in `…`; in a pipe nothing is cut); `csv` and `tsv` have a header \
and empty fields for NULL, and `tsv` writes tabs and line ends within a value as \\t, \\n and \\r; `json` is one object a line; `parquet` has one type per column and runs the query twice, the first time to find the types. All but parquet's row groups are streamed row by row. \
Rows that standard output does not take yet wait in memory (16 MB), then in temporary files (8 GB): a slow reader holds up nobody who \
writes to the store.

`points` is `v_point` with a column for each axis, called after its key with `_` for each dot (acceptance_pof_max). The tables and \
views are explained in docs/schema.md; `bookahead sql --tables` lists them.

Examples:
  bookahead sql \"SELECT strategy, acceptance_pof_max, avg(gain) FROM points WHERE run = 1 GROUP BY 1, 2\"
  bookahead sql --parameters '[\"quickstart\"]' \"SELECT run, state FROM v_run WHERE name = ?\"
  bookahead sql --format csv \"SELECT * FROM v_job WHERE simulation = 7\" | head
  bookahead sql --format parquet --out late.parquet - < question.sql")]
pub struct SqlArguments {
    /// The query; `-` reads it from standard input
    #[arg(required_unless_present = "tables", allow_hyphen_values = true)]
    pub question: Option<String>,
    /// Values in the place of `?` (a JSON array) or of `:name` (a JSON object); @FILE reads it from
    /// a file
    #[arg(long, value_name = "JSON", value_parser = given_parameters)]
    pub parameters: Option<Parameters>,
    /// The store to read
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// How the rows are written
    #[arg(long, value_enum, default_value = "table")]
    pub format: RowFormat,
    /// Write to this file instead of standard output; it appears once it is complete
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Give up after this many seconds, whether it computes or waits for a reader; 0: never
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub timeout: u32,
    /// List the views and tables instead
    #[arg(long, conflicts_with = "question")]
    pub tables: bool,
}

/// Values for a question.
#[derive(Clone, Debug)]
pub struct Parameters(Vec<Parameter>);

/// The values of the command line, which may name a file.
fn given_parameters(text: &str) -> Result<Parameters, String> {
    parameters(&super::long_text(text)?)
}

/// Reads the values, one after the other or by name.
fn parameters(text: &str) -> Result<Parameters, String> {
    let wrong = |error: &dyn std::fmt::Display| {
        format!(
            "{error}; allowed are a JSON array, for `?`, or a JSON object, for `:name`, of texts, numbers, true, false and null"
        )
    };
    let value = |value: Value| match value {
        Value::Null => Ok(SqlValue::Null),
        Value::Bool(flag) => Ok(SqlValue::Integer(flag.into())),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => Ok(SqlValue::Integer(value)),
            (None, Some(value)) => Ok(SqlValue::Real(value)),
            (None, None) => Err(wrong(&format_args!("{number} is too large"))),
        },
        Value::String(text) => Ok(SqlValue::Text(text)),
        nested => Err(wrong(&format_args!("{nested} is no single value"))),
    };
    let parameter = |(name, given)| {
        Ok(Parameter {
            name,
            value: value(given)?,
        })
    };
    let all: Result<Vec<Parameter>, String> =
        match serde_json::from_str(text).map_err(|error| wrong(&error))? {
            Value::Array(values) => values
                .into_iter()
                .map(|given| parameter((None, given)))
                .collect(),
            Value::Object(values) => values
                .into_iter()
                .map(|(name, given)| parameter((Some(name), given)))
                .collect(),
            single => Err(wrong(&format_args!("{single} is no list"))),
        };
    all.map(Parameters)
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RowFormat {
    /// Aligned columns for people.
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// Tab-separated values with a header.
    Tsv,
    /// One JSON object per line.
    Json,
    /// Apache Parquet.
    Parquet,
}

/// A question with what is put in the place of its parameters.
pub(super) struct Question<'a> {
    /// The question.
    pub(super) text: &'a str,
    /// The values of its parameters.
    pub(super) parameters: &'a [Parameter],
}

/// Answers the question.
///
/// # Errors
///
/// When the store cannot be read, the question is wrong or would write, or the answer cannot be
/// written.
pub fn execute(arguments: &SqlArguments) -> Result<(), LookError> {
    let mut store = Store::open_read_only(studies(), &arguments.store)?;
    if arguments.tables {
        let names = store.table_names()?.join("\n");
        return Ok(super::print(&format!("points\n{names}\n"))?);
    }
    let question = match arguments.question.as_deref() {
        Some("-") => {
            let mut text = String::new();
            io::stdin().lock().read_to_string(&mut text)?;
            text
        }
        question => question.unwrap_or_default().to_owned(),
    };
    if arguments.format == RowFormat::Parquet
        && arguments.out.is_none()
        && super::output::is_terminal()
    {
        return Err(LookError::Use(
            "Parquet cannot be shown on a screen: name a file with --out, or send it into a pipe"
                .to_owned(),
        ));
    }
    let limit = Limit::new(arguments.timeout);
    limit.hold(&mut store)?;
    answered(arguments, &store, &question, &limit).map_err(|error| limit.explained(error))
}

fn answered(
    arguments: &SqlArguments,
    store: &Store,
    question: &str,
    limit: &Limit,
) -> Result<(), LookError> {
    let question = &Question {
        text: question,
        parameters: arguments.parameters.as_ref().map_or(&[], |given| &given.0),
    };
    let format = match arguments.format {
        RowFormat::Table if is_tsv() => RowFormat::Tsv,
        format => format,
    };
    let cut = match &arguments.out {
        Some(path) => spool::write_file(path, limit, |file| {
            answer(store, question, format, file, Form::Whole)
        })?,
        None => spool::print(limit, |out| answer(store, question, format, out, form()))?,
    };
    if cut {
        super::say(
            "some cells end in … to fit the screen: --wide or --format csv shows them whole",
        );
    }
    Ok(())
}

/// Writes the answer; returns whether cells were cut.
pub(super) fn answer(
    store: &Store,
    question: &Question<'_>,
    format: RowFormat,
    target: &mut (dyn Write + Send),
    form: Form,
) -> Result<bool, LookError> {
    match format {
        RowFormat::Table => table(store, question, target, form),
        RowFormat::Tsv => {
            let target = std::cell::RefCell::new(target);
            let write = |line: String| target.borrow_mut().write_all(line.as_bytes());
            store.query_with(
                question.text,
                question.parameters,
                &mut |names| write(tsv_line(names)),
                &mut |row| {
                    write(tsv_line(row.iter().map(ToString::to_string)))?;
                    Ok(true)
                },
            )?;
            target.into_inner().flush()?;
            Ok(false)
        }
        RowFormat::Csv => {
            let writer = std::cell::RefCell::new(csv::Writer::from_writer(target));
            store.query_with(
                question.text,
                question.parameters,
                &mut |names| writer.borrow_mut().write_record(names).map_err(csv_error),
                &mut |row| {
                    let fields = row.iter().map(ToString::to_string);
                    writer
                        .borrow_mut()
                        .write_record(fields)
                        .map_err(csv_error)?;
                    Ok(true)
                },
            )?;
            writer.into_inner().flush()?;
            Ok(false)
        }
        RowFormat::Json => {
            json_lines(store, question, target)?;
            Ok(false)
        }
        RowFormat::Parquet => {
            store.standing_still(|| parquet(store, question, target))?;
            Ok(false)
        }
    }
}

fn table(
    store: &Store,
    question: &Question<'_>,
    target: &mut dyn Write,
    form: Form,
) -> Result<bool, LookError> {
    let mut names = Vec::new();
    let mut drawn: Option<Aligned<'_>> = None;
    let mut target = Some(target);
    let names_of = std::cell::RefCell::new(&mut names);
    store.query_with(
        question.text,
        question.parameters,
        &mut |found| {
            **names_of.borrow_mut() = found.to_vec();
            Ok(())
        },
        &mut |row| {
            if let Some(target) = target.take() {
                // The first row tells which columns are numbers.
                let headings = names_of
                    .borrow()
                    .iter()
                    .zip(row)
                    .map(|(name, value)| Heading::new(name, value.is_numeric()))
                    .collect();
                drawn = Some(Aligned::new(target, headings, form));
            }
            let cells = row
                .iter()
                .map(|value| match value {
                    SqlValue::Null => "–".to_owned(),
                    value => value.to_string(),
                })
                .collect();
            if let Some(drawn) = &mut drawn {
                drawn.push(cells)?;
            }
            Ok(true)
        },
    )?;
    match (drawn, target) {
        (Some(drawn), _) => Ok(drawn.finish()?),
        (None, Some(target)) => {
            let headings = names.iter().map(|name| Heading::new(name, false)).collect();
            let cut = Aligned::new(target, headings, form).finish()?;
            super::say("no rows");
            Ok(cut)
        }
        (None, None) => Ok(false),
    }
}

fn json_lines(
    store: &Store,
    question: &Question<'_>,
    target: &mut dyn Write,
) -> Result<(), LookError> {
    let names = std::cell::RefCell::new(Vec::new());
    store.query_with(
        question.text,
        question.parameters,
        &mut |found| {
            let mut keys: Vec<String> = Vec::new();
            for name in found {
                // An object has each key once: the second `n` becomes `n_2`.
                let mut key = name.clone();
                let mut number = 2;
                while keys.contains(&key) {
                    key = format!("{name}_{number}");
                    number += 1;
                }
                keys.push(key);
            }
            *names.borrow_mut() = keys;
            Ok(())
        },
        &mut |row| {
            // By hand, so that the keys stay in the order of the columns.
            let mut line = Vec::from(b"{");
            for (at, (name, value)) in names.borrow().iter().zip(row).enumerate() {
                if at > 0 {
                    line.push(b',');
                }
                serde_json::to_writer(&mut line, name)?;
                line.push(b':');
                serde_json::to_writer(&mut line, &json(value))?;
            }
            line.extend(b"}\n");
            // What is JSON is text.
            let line = String::from_utf8(line).unwrap_or_default();
            target.write_all(printable::json(line).as_bytes())?;
            Ok(true)
        },
    )?;
    Ok(target.flush()?)
}

/// The question twice over data that stand still: once for the types of all rows, once for the
/// rows.
fn parquet(
    store: &Store,
    question: &Question<'_>,
    target: &mut (dyn Write + Send),
) -> Result<(), LookError> {
    let names = std::cell::RefCell::new(Vec::new());
    let mut kinds: Vec<Option<ColumnKind>> = Vec::new();
    store.query_with(
        question.text,
        question.parameters,
        &mut |found| {
            *names.borrow_mut() = found.to_vec();
            Ok(())
        },
        &mut |row| {
            kinds.resize(row.len(), None);
            for (kind, value) in kinds.iter_mut().zip(row) {
                *kind = match (*kind, ColumnKind::of(value)) {
                    (Some(one), Some(other)) => Some(one.or(other)),
                    (one, other) => one.or(other),
                };
            }
            Ok(true)
        },
    )?;
    let names = names.into_inner();
    kinds.resize(names.len(), None);
    let columns: Vec<(String, ColumnKind)> = names
        .into_iter()
        .zip(kinds)
        // A column of nothing but NULL can be anything.
        .map(|(name, kind)| (name, kind.unwrap_or(ColumnKind::Text)))
        .collect();
    let mut rows = ParquetRows::new(target, &columns, &[("sql", question.text)])?;
    store.query_with(
        question.text,
        question.parameters,
        &mut |_| Ok(()),
        &mut |row| {
            rows.push(row)?;
            Ok(true)
        },
    )?;
    Ok(rows.finish()?)
}
