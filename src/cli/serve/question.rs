//! The box for SQL: a question, its rows as a table or as CSV, and the worked questions. What a question may do and take is what
//! `bookahead sql` allows.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use maud::{Markup, html};

use super::Served;
use super::answers::{Asked, value};
use super::pages::{self, Trouble};
use super::work::in_background;
use super::worked::WORKED;
use crate::cli::screen::LookError;
use crate::cli::sql::{Question, RowFormat, answer as written};
use crate::store::{QueryError, SqlValue, Store};

/// Rows of a table; CSV has all of them.
const MOST_ROWS: usize = 1_000;

/// Letters of all cells of a table together, and of one.
const MOST_TEXT: usize = 4 << 20;
const LONGEST_CELL: usize = 4_000;

/// What a file of rows may take of the disk while it is sent.
const LARGEST_FILE: u64 = 2 << 30;

/// Bytes of a file that are sent at once.
const PIECE: usize = 1 << 18;

/// Rows for people.
#[derive(Debug, Default)]
struct Rows {
    names: Vec<String>,
    rows: Vec<Vec<SqlValue>>,
    /// Why there are not more.
    is_cut: bool,
}

pub(super) async fn answer(
    State(served): State<Arc<Served>>,
    Query(asked): Asked,
) -> Result<Response, Trouble> {
    let worked = value(&asked, "worked")
        .and_then(|number| WORKED.get(number.parse::<usize>().ok()?.checked_sub(1)?));
    let question = match worked {
        Some(worked) => worked.sql.to_owned(),
        None => value(&asked, "q").unwrap_or_default().to_owned(),
    };
    let path = served.store.clone();
    let open = move || Ok(Store::open_read_only(&path)?);
    if worked.is_some() || question.is_empty() {
        let tables = in_background(move || Ok(open()?.table_names()?)).await?;
        return Ok(page(&question, &html! {}, &tables).into_response());
    }
    let asked_for = question.clone();
    if value(&asked, "format") == Some("csv") {
        let file = served
            .work
            .ask(open, move |store| spooled(store, &asked_for))
            .await;
        return match file {
            Ok((file, length)) => Ok(sent(file, length)),
            Err(trouble) => Ok(refused(&question, &trouble)),
        };
    }
    let rows = served.work.ask(open, move |store| {
        Ok((rows(store, &asked_for)?, store.table_names()?))
    });
    match rows.await {
        Ok((rows, tables)) => Ok(page(&question, &rows_html(&rows), &tables).into_response()),
        Err(trouble) => Ok(refused(&question, &trouble)),
    }
}

/// The question again, with what is wrong with it.
fn refused(question: &str, trouble: &Trouble) -> Response {
    let said = html! { pre.trouble role="alert" { (trouble) } "\n" };
    (trouble.status(), page(question, &said, &[])).into_response()
}

fn rows(store: &Store, question: &str) -> Result<Rows, QueryError> {
    let mut found = Rows::default();
    let mut names = Vec::new();
    let mut room = MOST_TEXT;
    store.query(
        question,
        &mut |titles| {
            names = titles.to_vec();
            Ok(())
        },
        &mut |row| {
            let size: usize = row.iter().map(size).sum();
            if found.rows.len() == MOST_ROWS || size > room {
                found.is_cut = true;
                return Ok(false);
            }
            room -= size;
            found.rows.push(row.to_vec());
            Ok(true)
        },
    )?;
    found.names = names;
    Ok(found)
}

/// Letters that a cell takes, about.
fn size(value: &SqlValue) -> usize {
    match value {
        SqlValue::Text(text) => text.len().min(LONGEST_CELL),
        SqlValue::Blob(bytes) => (2 * bytes.len()).min(LONGEST_CELL),
        SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) => 12,
    }
}

/// A value for people, cut where it is very long.
fn shown(value: &SqlValue) -> String {
    let text = match value {
        SqlValue::Null => "–".to_owned(),
        SqlValue::Blob(bytes) => {
            SqlValue::Blob(bytes[..bytes.len().min(LONGEST_CELL)].to_vec()).to_string()
        }
        value => value.to_string(),
    };
    match text.char_indices().nth(LONGEST_CELL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn rows_html(found: &Rows) -> Markup {
    let numeric: Vec<bool> = (0..found.names.len())
        .map(|column| found.rows.iter().any(|row| row[column].is_numeric()))
        .collect();
    let class = |column: usize| numeric[column].then_some("n");
    html! {
        section id="answer-rows" { "\n"
            h2 { "Rows" } "\n"
            @if found.rows.is_empty() { p { "No rows." } "\n" }
            div.scroll.tall {
                table {
                    thead {
                        tr { @for (column, name) in found.names.iter().enumerate() { th scope="col" class=[class(column)] { (name) } } }
                    } "\n"
                    tbody { "\n"
                        @for row in &found.rows {
                            tr { @for (column, value) in row.iter().enumerate() { td class=[class(column)] { (shown(value)) } } } "\n"
                        }
                    }
                }
            } "\n"
            p.note {
                @if found.is_cut { "The first " (found.rows.len()) " rows; CSV has all of them." } @else { (found.rows.len()) " rows." }
            } "\n"
        } "\n"
    }
}

fn page(question: &str, answer: &Markup, tables: &[String]) -> axum::response::Html<String> {
    let head = html! {
        p.lead {
            "Any question that reads, as of " code { "bookahead sql" } ". " code { "points" } " is " code { "v_point" }
            " with a column for each axis; docs/schema.md explains every view, table and column."
        } "\n"
    };
    let body = html! {
        form action="/sql" {
            label for="q" { "A question in SQL" } "\n"
            textarea id="q" name="q" spellcheck="false" autocapitalize="off" required { (question) } "\n"
            p.tools {
                button type="submit" name="format" value="table" { "Ask" } " "
                button type="submit" name="format" value="csv" { "CSV" }
            }
        } "\n"
        (answer)
        section { h2 { "Worked questions" } "\n"
            ol.worked {
                @for (at, worked) in WORKED.iter().enumerate() {
                    li { a href={ "/sql?worked=" (at + 1) } { (worked.title) } } "\n"
                }
            }
        } "\n"
        @if !tables.is_empty() {
            section { h2 { "Views and tables" } "\n"
                ul.names { li { "points" } @for name in tables { li { (name) } } } "\n"
            } "\n"
        }
    };
    pages::framed("SQL", &head, &body)
}

/// All rows as CSV in a file without a name, so that the store is free before somebody with a slow line has read them, and so that an
/// error is a page and not half a file.
fn spooled(store: &Store, question: &str) -> Result<(File, u64), Trouble> {
    let unwritten = |error: io::Error| {
        Trouble::wrong(format!(
            "the rows cannot be kept while they are sent: {error}"
        ))
    };
    let mut target = Bounded {
        file: BufWriter::with_capacity(1 << 18, tempfile::tempfile().map_err(unwritten)?),
        room: LARGEST_FILE,
    };
    let question = Question {
        text: question,
        parameters: &[],
    };
    written(store, &question, RowFormat::Csv, &mut target, None).map_err(|error| match error {
        LookError::Query(QueryError::Output(error)) | LookError::Output(error) => unwritten(error),
        LookError::Query(error) => error.into(),
        error => Trouble::wrong(error.to_string()),
    })?;
    let mut file = target
        .file
        .into_inner()
        .map_err(|error| unwritten(error.into_error()))?;
    let length = file.stream_position().map_err(unwritten)?;
    file.rewind().map_err(unwritten)?;
    Ok((file, length))
}

/// A file that takes so much and no more.
struct Bounded {
    file: BufWriter<File>,
    room: u64,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.room = self.room.checked_sub(bytes.len() as u64).ok_or_else(|| {
            io::Error::other(format!(
                "they are more than {} MB; `bookahead sql --format csv` writes any number",
                LARGEST_FILE >> 20
            ))
        })?;
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn sent(file: File, length: u64) -> Response {
    let pieces = stream::unfold(Some(file), |file| async move {
        let mut file = file?;
        let read = in_background(move || {
            let mut piece = vec![0; PIECE];
            let read = file.read(&mut piece).map(|length| {
                piece.truncate(length);
                Bytes::from(piece)
            });
            Ok((read, file))
        });
        match read.await {
            Ok((Ok(piece), _)) if piece.is_empty() => None,
            Ok((Ok(piece), file)) => Some((Ok(piece), Some(file))),
            Ok((Err(error), _)) => Some((Err(error), None)),
            Err(_) => Some((Err(io::Error::other("reading ended")), None)),
        }
    });
    let headers: [(HeaderName, String); 3] = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"rows.csv\"".to_owned(),
        ),
        (header::CONTENT_LENGTH, length.to_string()),
    ];
    (StatusCode::OK, headers, Body::from_stream(pieces)).into_response()
}
