//! The answers to each address: the list of runs at once, everything else by a process that
//! computes it.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};

use super::page_request::PageRequest;
use super::pages::{self, PageFailure};
use super::work::in_background;
use super::{Served, live};
use crate::cli::screen::now;

/// Runs that are compared at once.
const MOST_COMPARED: usize = 12;

/// What stands behind the question mark, in its order.
pub(super) type Asked = Query<Vec<(String, String)>>;

/// The last value of a name, where it is not empty.
pub(super) fn value<'a>(asked: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let named = asked.iter().rev().find(|(key, _)| key == name);
    named
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

/// A whole number that may be left out.
fn number<N: std::str::FromStr>(
    asked: &[(String, String)],
    name: &str,
) -> Result<Option<N>, PageFailure> {
    let parse = |text: &str| {
        text.parse().map_err(|_| {
            PageFailure::wrong(format!(
                "`{name}={text}` is no whole number that can stand there."
            ))
        })
    };
    value(asked, name).map(parse).transpose()
}

pub(super) async fn runs(
    State(served): State<Arc<Served>>,
    Query(asked): Asked,
) -> Result<Response, PageFailure> {
    let before: Option<i64> = number(&asked, "before")?;
    let with_hidden = value(&asked, "hidden") == Some("show");
    let path = served.store.clone();
    in_background(move || {
        let mut runs = live::look(&path)?;
        runs.retain(|run| before.is_none_or(|before| run.id.0 < before));
        let part = pages::Part {
            is_first: before.is_none(),
            older: runs.len().saturating_sub(pages::MOST_RUNS),
            with_hidden,
        };
        runs.truncate(pages::MOST_RUNS);
        Ok(pages::runs(&path, &runs, part, now()).into_response())
    })
    .await
}

pub(super) async fn unknown() -> PageFailure {
    PageFailure::unknown(
        "The first page, /, lists the runs of the store; /sql asks it anything else.",
    )
}

pub(super) async fn report(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
) -> Result<Response, PageFailure> {
    page(&served, PageRequest::Report { run }).await
}

pub(super) async fn comparison(
    State(served): State<Arc<Served>>,
    Query(asked): Asked,
) -> Result<Response, PageFailure> {
    let named = asked.iter().filter(|(key, _)| key == "run");
    let runs: Result<Vec<i64>, _> = named.map(|(_, run)| run.parse()).collect();
    let mut runs = runs.unwrap_or_default();
    runs.sort_unstable();
    runs.dedup();
    if !(2..=MOST_COMPARED).contains(&runs.len()) {
        return Err(PageFailure::wrong(format!(
            "Tick 2 to {MOST_COMPARED} runs in the list: the oldest of them is what the others are compared with."
        )));
    }
    page(&served, PageRequest::Comparison { runs }).await
}

pub(super) async fn plans(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
    Query(at): Asked,
) -> Result<Response, PageFailure> {
    page(&served, PageRequest::Plans { run, at }).await
}

pub(super) async fn plan(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
    Query(asked): Asked,
) -> Result<Response, PageFailure> {
    let place = number(&asked, "point")?;
    let cluster = number(&asked, "cluster")?.unwrap_or(0);
    let request = PageRequest::Plan {
        run,
        place,
        cluster,
    };
    page(&served, request).await
}

async fn page(served: &Served, request: PageRequest) -> Result<Response, PageFailure> {
    Ok(served.work.compute(&request).await?.page())
}
