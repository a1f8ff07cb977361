//! `bookahead export RUN`: a run as files for Polars, pandas, DuckDB or a spreadsheet.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::limit::Limit;
use super::screen::{LookError, csv_error};
use super::spool;
use crate::cli::studies;
use crate::store::{
    Export, ExportKind, ExportRows, ExportType, RunSelector, RunSummary, SqlValue, Store,
};
use bookahead_report::{ColumnKind, ParquetRows};

/// Writes the rows of a run as Parquet or CSV: its points, jobs, reservations, workflows or any
/// other kind.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Columns have the names and units of the views in docs/schema.md; points also have a column for each axis. `simulation` joins the \
rows of the others to points. Rows are streamed: memory does not grow with the run. A condition may take what a question of \
`bookahead sql` may: 1 GB of memory, 64 MB for one value, and 600 s unless --timeout says otherwise. Rows that standard output does not \
take yet wait in memory (16 MB), then in temporary files (8 GB).

Examples:
  bookahead export latest --format parquet
  bookahead export 3 --format parquet --what jobs --out jobs.parquet
  bookahead export 3 --format parquet --what jobs --point 1-8 --where \"overbooked AND outcome = 'failed'\"
  bookahead export 3 --format csv --out - | head")]
pub struct ExportArguments {
    /// The number of a run, the name of an experiment (its last run), or `latest`
    #[arg(value_name = "RUN|latest")]
    pub run: RunSelector,
    /// The store to read
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// The format of the file
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// Which rows to export: one of these kinds, or a table or view by its name
    /// (`bookahead sql --tables`)
    #[arg(long, value_parser = kinds(), default_value = "points")]
    pub what: &'static ExportKind,
    /// Only rows of the points at these places, such as 3 or 1-8,12 (`place` of the points); @FILE
    /// reads them from a file, @- from standard input
    #[arg(long, value_name = "PLACES", value_parser = places)]
    pub point: Option<BTreeSet<u64>>,
    /// Only rows for which this holds: a condition in SQL on columns of the export, a dotted one in
    /// double quotes; @FILE as for --point
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true, value_parser = super::long_text)]
    pub condition: Option<String>,
    /// Give up after this many seconds, whether it computes or waits for a reader; 0: never
    /// [default: 600 with --where, else 0]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u32>,
    /// The file, or a folder for it; `-` is standard output [default: run-N-points.parquet and so
    /// on in this folder]
    #[arg(long, value_name = "FILE|DIR")]
    pub out: Option<PathBuf>,
}

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ExportFormat {
    /// Apache Parquet with typed columns.
    Parquet,
    /// Comma-separated values with a header; missing values are empty, flags are true and false.
    Csv,
}

/// Seconds that an export with a condition may take, as a question of `bookahead sql`.
const CONDITION_TIMEOUT: u32 = 600;

/// More places than a question names.
const MOST_PLACES: usize = 1_000_000;

/// Places of points: numbers and ranges between commas.
fn places(text: &str) -> Result<BTreeSet<u64>, String> {
    let text = super::long_text(text)?;
    let wrong = || "allowed are places and ranges of them, such as 3 or 1-8,12".to_owned();
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
    let mut places = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(wrong());
        }
        places.extend((first..=last).take(MOST_PLACES + 1));
        if places.len() > MOST_PLACES {
            return Err(format!(
                "more than {MOST_PLACES} places: leave --point out for all"
            ));
        }
    }
    Ok(places)
}

fn kinds() -> impl TypedValueParser<Value = &'static ExportKind> {
    let kinds = ExportKind::all(studies()).map(|kind| {
        PossibleValue::new(kind.name)
            .help(kind.about)
            .aliases(kind.view())
    });
    let tables = ExportKind::tables(studies()).iter();
    let tables = tables.map(|table| PossibleValue::new(table.name).hide(true));
    PossibleValuesParser::new(kinds.chain(tables))
        .map(|name| ExportKind::find(studies(), &name).expect("only names of kinds are possible"))
}

/// Writes the file and says where it is.
///
/// # Errors
///
/// When the store cannot be read, has no such run or rows, or the file cannot be written.
pub fn execute(arguments: &ExportArguments) -> Result<(), LookError> {
    let mut store = Store::open_read_only(studies(), &arguments.store)?;
    let run = store.run(&arguments.run)?;
    if arguments.what.of_outcomes {
        let (done, with_jobs) = store.simulations_with_jobs(run.id)?;
        let again = format!(
            "`bookahead run {} --store {} --outcomes all` runs them again and keeps them",
            run.source.as_deref().unwrap_or("CONFIG"),
            arguments.store.display()
        );
        if done > 0 && with_jobs == 0 {
            return Err(LookError::Use(format!(
                "run {} has no {} to export: only its points' metrics were stored; {again}",
                run.id.0, arguments.what.name
            )));
        }
        if with_jobs < done {
            super::say(format_args!(
                "warning: {} of {done} simulations were stored without their {}; {again}",
                done - with_jobs,
                arguments.what.name
            ));
        }
    }
    let name = format!(
        "run-{}-{}.{}",
        run.id.0,
        arguments.what.name,
        match arguments.format {
            ExportFormat::Parquet => "parquet",
            ExportFormat::Csv => "csv",
        }
    );
    let limit = Limit::new(arguments.timeout.unwrap_or(match arguments.condition {
        Some(_) => CONDITION_TIMEOUT,
        None => 0,
    }));
    limit.hold(&mut store)?;
    written(arguments, &store, &run, name, &limit).map_err(|error| limit.explained(error))
}

/// Writes the file within the limit.
fn written(
    arguments: &ExportArguments,
    store: &Store,
    run: &RunSummary,
    name: String,
    limit: &Limit,
) -> Result<(), LookError> {
    let rows = ExportRows {
        places: arguments.point.clone(),
        condition: arguments.condition.clone(),
    };
    let export = store.export(run.id, arguments.what, &rows)?;
    if arguments.point.is_some() && !export.of_points {
        return Err(LookError::Use(format!(
            "rows of {} belong to no single point: leave --point out",
            arguments.what.name
        )));
    }
    let about = format!("run {} of {}", run.id.0, run.name);
    let write = |target: &mut (dyn Write + Send)| match arguments.format {
        ExportFormat::Parquet => parquet(store, &export, &about, target),
        ExportFormat::Csv => comma_separated(store, &export, target),
    };
    if arguments.out.as_deref() == Some(Path::new("-")) {
        if arguments.format == ExportFormat::Parquet && super::output::is_terminal() {
            return Err(LookError::Use(
                "Parquet cannot be shown on a screen: name a file with --out".to_owned(),
            ));
        }
        return spool::print(limit, write).map(drop);
    }
    let path = match &arguments.out {
        None => PathBuf::from(name),
        // A folder, or something that is written as one.
        Some(out) if out.is_dir() || out.as_os_str().to_string_lossy().ends_with('/') => {
            out.join(name)
        }
        Some(out) => out.clone(),
    };
    let rows = spool::write_file(&path, limit, write)?;
    super::say(format_args!(
        "{rows} rows, {} columns: {}",
        export.columns.len(),
        path.display()
    ));
    Ok(())
}

fn parquet(
    store: &Store,
    export: &Export,
    about: &str,
    target: &mut (dyn Write + Send),
) -> Result<u64, LookError> {
    let columns: Vec<(String, ColumnKind)> = export
        .columns
        .iter()
        .map(|(name, kind)| {
            let kind = match kind {
                ExportType::Integer => ColumnKind::Integer,
                ExportType::Number => ColumnKind::Number,
                ExportType::Text => ColumnKind::Text,
                ExportType::Flag => ColumnKind::Flag,
            };
            (name.clone(), kind)
        })
        .collect();
    let mut rows = ParquetRows::new(target, &columns, &[("title", about), ("sql", &export.sql)])?;
    let mut count = 0;
    store.query(&export.sql, &mut |_| Ok(()), &mut |row| {
        count += 1;
        rows.push(row)?;
        Ok(true)
    })?;
    rows.finish()?;
    Ok(count)
}

fn comma_separated(
    store: &Store,
    export: &Export,
    target: &mut (dyn Write + Send),
) -> Result<u64, LookError> {
    let mut writer = csv::Writer::from_writer(target);
    let header = export.columns.iter().map(|(name, _)| name);
    writer.write_record(header).map_err(csv_error)?;
    let mut count = 0;
    store.query(&export.sql, &mut |_| Ok(()), &mut |row| {
        count += 1;
        let fields = row.iter().zip(&export.columns).map(|(value, (_, kind))| {
            match (kind, value) {
                (ExportType::Flag, SqlValue::Integer(flag)) => (*flag != 0).to_string(),
                // `1.0` and not `1`: a reader that guesses types must not take a column of numbers
                // for integers.
                (ExportType::Number, SqlValue::Integer(value)) => {
                    SqlValue::Real(*value as f64).to_string()
                }
                (_, value) => value.to_string(),
            }
        });
        writer.write_record(fields).map_err(csv_error)?;
        Ok(true)
    })?;
    writer.flush()?;
    Ok(count)
}
