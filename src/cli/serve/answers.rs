//! What is answered for each address: the list of runs, reports, comparisons and plans, rendered as by their commands.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::{Html, IntoResponse, Response};
use maud::html;

use super::pages::{self, Trouble};
use super::work::in_background;
use super::{Served, live};
use crate::cli::gantt;
use crate::cli::screen::now;
use crate::report::{self, ReportExtras, comparison};
use crate::store::{RunSelector, Store};

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
) -> Result<Option<N>, Trouble> {
    let parse = |text: &str| {
        text.parse().map_err(|_| {
            Trouble::wrong(format!(
                "`{name}={text}` is no whole number that can stand there."
            ))
        })
    };
    value(asked, name).map(parse).transpose()
}

pub(super) async fn runs(
    State(served): State<Arc<Served>>,
    Query(asked): Asked,
) -> Result<Response, Trouble> {
    let before: Option<i64> = number(&asked, "before")?;
    let path = served.store.clone();
    in_background(move || {
        let mut runs = live::look(&path)?;
        runs.retain(|run| before.is_none_or(|before| run.id.0 < before));
        let older = runs.len().saturating_sub(pages::MOST_RUNS);
        runs.truncate(pages::MOST_RUNS);
        Ok(pages::runs(&path, &runs, older, before.is_none(), now()).into_response())
    })
    .await
}

pub(super) async fn unknown() -> Trouble {
    Trouble::unknown("The first page, /, lists the runs of the store; /sql asks it anything else.")
}

fn selector(run: &str) -> RunSelector {
    let Ok(selector) = run.parse();
    selector
}

fn links(more: &[(String, &str)]) -> Vec<(String, String)> {
    let common = [("/".to_owned(), "All runs"), ("/sql".to_owned(), "SQL")];
    let all = common.iter().chain(more);
    all.map(|(address, name)| (address.clone(), (*name).to_owned()))
        .collect()
}

pub(super) async fn report(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
) -> Result<Html<String>, Trouble> {
    let path = served.store.clone();
    let page = served.work.compute(move || {
        let run = Store::open_read_only(&path)?.run(&selector(&run))?.id;
        let extras = ReportExtras {
            served: Some(report::Served {
                links: links(&[(format!("/runs/{}/plans", run.0), "Plans")]),
                command: format!("bookahead report {} --store {}", run.0, path.display()),
            }),
            ..ReportExtras::default()
        };
        Ok(report::page(&path, &RunSelector::Id(run.0), &extras)?)
    });
    page.await.map(Html)
}

pub(super) async fn comparison(
    State(served): State<Arc<Served>>,
    Query(asked): Asked,
) -> Result<Html<String>, Trouble> {
    let runs: Vec<&String> = asked
        .iter()
        .filter(|(key, _)| key == "run")
        .map(|(_, run)| run)
        .collect();
    let mut numbers: Vec<i64> = runs.iter().filter_map(|run| run.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() < 2
        || numbers.len() > MOST_COMPARED
        || runs.iter().any(|run| run.parse::<i64>().is_err())
    {
        return Err(Trouble::wrong(format!(
            "Tick 2 to {MOST_COMPARED} runs in the list: the oldest of them is what the others are compared with."
        )));
    }
    let path = served.store.clone();
    let page = served.work.compute(move || {
        let store = Store::open_read_only(&path)?;
        let mut runs = Vec::new();
        for run in &numbers {
            let selector = RunSelector::Id(*run);
            runs.push(comparison::ComparedRun::read(&store, &path, &selector)?);
        }
        drop(store);
        comparison::label(&mut runs);
        let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let served = report::Served {
            links: links(&[]),
            command: format!(
                "bookahead compare {} --store {} --out FOLDER",
                words.join(" "),
                path.display()
            ),
        };
        Ok(comparison::page(&runs, &served))
    });
    page.await.map(Html)
}

/// The plans that can be drawn: the best point of every strategy, and any other.
pub(super) async fn plans(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
) -> Result<Html<String>, Trouble> {
    let path = served.store.clone();
    let page = served.work.compute(move || {
        let store = Store::open_read_only(&path)?;
        let run = store.run(&selector(&run))?;
        let places = store.best_places(run.id)?;
        let number = run.id.0;
        let head = html! {
            p.lead {
                "A point is simulated again from what the store has of it, checked against its stored totals, and drawn. Its traces must be \
                 where BOOKAHEAD_TRACES was when the server began. Large simulations take as long as they took."
            } "\n"
        };
        let body = html! {
            section { h2 { "The best point of each strategy" } "\n"
                @if places.is_empty() { p { "No point is done yet." } "\n" }
                ul {
                    @for (place, strategy) in &places {
                        li { a href={ "/runs/" (number) "/plan?point=" (place) } { (strategy) } ", point " (place) } "\n"
                    }
                }
            } "\n"
            section { h2 { "Another point" } "\n"
                form.tools action={ "/runs/" (number) "/plan" } {
                    label { "point " input type="number" name="point" min="0" max=(run.points.saturating_sub(1)) required; }
                    label { "cluster " input type="number" name="cluster" min="0" value="0"; }
                    button type="submit" { "Draw" }
                } "\n"
                p.note { code { "bookahead show " (number) " --points" } " lists the points; places and clusters are counted from 0." } "\n"
            } "\n"
            p { a href={ "/runs/" (number) } { "The report of this run" } } "\n"
        };
        Ok(pages::framed(&format!("Plans of {}", run.name), &head, &body))
    });
    page.await
}

pub(super) async fn plan(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
    Query(asked): Asked,
) -> Result<Html<String>, Trouble> {
    let place: Option<u32> = number(&asked, "point")?;
    let cluster: u32 = number(&asked, "cluster")?.unwrap_or(0);
    let shared = Arc::clone(&served);
    let page = served.work.compute(move || {
        Ok(gantt::page(
            &shared.store,
            &selector(&run),
            place,
            cluster,
            &shared.folders,
        )?)
    });
    page.await.map(Html)
}
