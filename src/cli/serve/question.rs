//! The SQL box: a question, its rows as a table or as CSV, and the example questions. A question
//! has the limits of `bookahead sql`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use super::Served;
use super::answer_buffer::Answer;
use super::answers::{Asked, value};
use super::example_questions::EXAMPLE_QUESTIONS;
use super::page_request::PageRequest;
use super::pages::{self, PageFailure};
use super::work::in_background;
use crate::cli::aligned::Form;
use crate::cli::screen::LookError;
use crate::cli::sql::{Question, RowFormat, answer as written};
use crate::cli::studies;
use crate::store::{QueryError, SqlValue, Store};

/// Rows of a table; CSV has all of them.
const MOST_ROWS: usize = 1_000;

/// Letters of all cells of a table together, and of one.
const MOST_TEXT: usize = 4 << 20;
const LONGEST_CELL: usize = 4_000;

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
) -> Result<Response, PageFailure> {
    let example = value(&asked, "worked")
        .and_then(|number| EXAMPLE_QUESTIONS.get(number.parse::<usize>().ok()?.checked_sub(1)?));
    let question = match example {
        Some(example) => example.sql.to_owned(),
        None => value(&asked, "q").unwrap_or_default().to_owned(),
    };
    if example.is_some() || question.is_empty() {
        let path = served.store.clone();
        let tables =
            in_background(move || Ok(Store::open_read_only(studies(), &path)?.table_names()?))
                .await?;
        return Ok(page(&question, &html! {}, &tables).into_response());
    }
    let asked_for = question.clone();
    let answer = match value(&asked, "format") {
        Some("csv") => {
            let request = PageRequest::Rows { question };
            served.work.compute(&request).await.map(Answer::rows)
        }
        _ => {
            let request = PageRequest::Table { question };
            served.work.compute(&request).await.map(Answer::page)
        }
    };
    Ok(answer.unwrap_or_else(|failure| refused(&asked_for, &failure)))
}

/// The page with the first rows of a question.
///
/// # Errors
///
/// When the store cannot be read, or the question has no answer.
pub(super) fn table(store: &Path, question: &str) -> Result<String, PageFailure> {
    let store = Store::open_read_only(studies(), store)?;
    let rows = rows(&store, question)?;
    Ok(page(question, &rows_html(&rows), &store.table_names()?).0)
}

/// Writes all rows of a question as CSV.
///
/// # Errors
///
/// When the store cannot be read, or the question has no answer.
pub(super) fn write_rows(
    store: &Path,
    question: &str,
    target: &mut (dyn Write + Send),
) -> Result<(), PageFailure> {
    let question = Question {
        text: question,
        parameters: &[],
    };
    let store = Store::open_read_only(studies(), store)?;
    match written(&store, &question, RowFormat::Csv, target, Form::Whole) {
        Ok(_) => Ok(()),
        Err(LookError::Query(error)) => Err(error.into()),
        Err(error) => Err(PageFailure::wrong(error.to_string())),
    }
}

/// The question again, with what is wrong with it.
fn refused(question: &str, failure: &PageFailure) -> Response {
    let said = html! { pre.trouble role="alert" { (failure) } "\n" };
    (failure.status(), page(question, &said, &[])).into_response()
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
            ol.example {
                @for (at, example) in EXAMPLE_QUESTIONS.iter().enumerate() {
                    li { a href={ "/sql?worked=" (at + 1) } { (example.title) } } "\n"
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
