//! The pages of the server itself: the list of runs, error pages, and the frame that all share.
//! Reports bring their own.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use crate::cli::gantt::GanttError;
use crate::cli::screen::{age, span};
use crate::store::{QueryError, RunProgress, StoreError};
use bookahead_report::{ReportError, document, script};

/// Runs that one page lists.
pub(super) const MOST_RUNS: usize = 200;

/// What the pages do in the browser.
pub(super) const SCRIPT: &str = include_str!("serve.js");

/// The styles of the pages: those of reports, and what they do not need.
pub(super) fn style() -> String {
    format!(
        "{}\n{}",
        bookahead_report::style(),
        include_str!("serve.css")
    )
}

/// A whole page.
pub(super) fn framed(title: &str, head: &Markup, body: &Markup) -> Html<String> {
    let body = html! {
        body { "\n"
            header { "\n"
                nav aria-label="pages" { a href="/" { "Runs" } " " a href="/sql" { "SQL" } } "\n"
                div.bar {
                    h1 { (title) }
                    button id="theme" type="button" { "Dark mode" }
                } "\n"
                (head)
            } "\n"
            main { "\n" (body) } "\n"
            (script(SCRIPT))
        }
    };
    Html(document(&format!("{title} – bookahead"), &style(), &body))
}

/// The tag of runs that are not shown unless somebody asks for them.
const HIDDEN: &str = "hidden";

fn is_hidden(run: &RunProgress) -> bool {
    run.labels.tags.iter().any(|tag| tag == HIDDEN)
}

/// Which part of the list of runs a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Whether it begins with the newest run.
    pub(super) is_first: bool,
    /// How many runs are older than all of it.
    pub(super) older: usize,
    /// Whether it shows runs with the tag `hidden`, too.
    pub(super) with_hidden: bool,
}

/// The list of runs, newest first.
pub(super) fn runs(store: &Path, runs: &[RunProgress], part: Part, now: i64) -> Html<String> {
    let Part {
        is_first,
        older,
        with_hidden,
    } = part;
    let hidden = runs.iter().filter(|run| is_hidden(run)).count();
    let running = runs.iter().filter(|run| run.is_running()).count();
    let head = html! {
        p.lead { (store.display()) } "\n"
        p.banner id="trouble" role="alert" hidden {} "\n"
    };
    let body = html! {
        @if runs.is_empty() {
            p { "No runs: " code { "bookahead run CONFIG --store " (store.display()) } " makes one." } "\n"
        }
        form action="/compare" id="runs" data-live=[is_first.then_some("")] {
            p.tools {
                button type="submit" id="compare" { "Compare the ticked runs" } " "
                span.note id="live" role="status" { (live(running)) }
            } "\n"
            div.scroll {
                table.stacks.hides[!with_hidden] {
                    thead {
                        tr {
                            @for (title, is_number) in HEADINGS {
                                th scope="col" class=[is_number.then_some("n")] { (title) }
                            }
                        }
                    } "\n"
                    tbody { "\n" @for run in runs { (run_row(run, now)) } }
                }
            } "\n"
            p.note { "Each run is compared with the oldest of the ticked ones, as by " code { "bookahead compare" } "." } "\n"
            @if hidden > 0 && with_hidden {
                p.note { a href="/" { "Without the runs tagged " code { (HIDDEN) } } } "\n"
            } @else if hidden > 0 {
                p.note { a href="/?hidden=show" { (hidden) " more with the tag " code { (HIDDEN) } } } "\n"
            }
            @if let Some(last) = runs.last().filter(|_| older > 0) {
                @let hidden = if with_hidden { "&hidden=show" } else { "" };
                p { a href={ "/?before=" (last.id.0) (hidden) } { (older) " older runs" } } "\n"
            }
        }
    };
    framed("bookahead", &head, &body)
}

const HEADINGS: [(&str, bool); 9] = [
    ("", false),
    ("Run", true),
    ("Name", false),
    ("State", false),
    ("Points", true),
    ("Failed", true),
    ("Took", true),
    ("Began", false),
    ("See", false),
];

fn live(running: usize) -> String {
    match running {
        0 => "nothing runs".to_owned(),
        1 => "1 run under way".to_owned(),
        running => format!("{running} runs under way"),
    }
}

/// One run of the list.
pub(super) fn run_row(run: &RunProgress, now: i64) -> Markup {
    let number = run.id.0;
    let took = match run.ended {
        Some(ended) => Some(ended - run.started),
        None => run.is_running().then_some(now - run.started),
    };
    let class = match run.state.as_str() {
        "running" => "running",
        "failed" | "interrupted" => "bad",
        _ => "plain",
    };
    html! {
        tr.hidden-run[is_hidden(run)] data-run=(number) {
            td data-l="Compare" { input type="checkbox" name="run" value=(number) aria-label={ "compare run " (number) }; }
            td.n data-l="Run" { (number) }
            td data-l="Name" {
                a href={ "/runs/" (number) } { (run.name) }
                @for tag in &run.labels.tags { " " span.tag { (tag) } }
                @if let Some(note) = &run.labels.note { div.note { (note) } }
            }
            td data-l="State" { span.state.(class) { (run.state) } }
            td.n data-l="Points" {
                span {
                    progress max=(run.points.max(1)) value=(run.points_done) aria-label={ "points of run " (number) } {} " "
                    span.done { (run.points_done) } " of " (run.points)
                }
            }
            td.n data-l="Failed" { (run.points_failed) }
            td.n data-l="Took" { (took.map_or("–".to_owned(), span)) }
            td data-l="Began" { (age(now - run.started)) }
            td data-l="See" {
                span { a href={ "/runs/" (number) } { "report" } " " a href={ "/runs/" (number) "/plans" } { "plans" } }
            }
        } "\n"
    }
}

/// Why there is no page, and what to do.
pub(super) fn failure_page(title: &str, remedy: &str) -> Html<String> {
    framed(title, &html! {}, &html! { pre.trouble { (remedy) } "\n" })
}

/// Why a page cannot be shown. The process that computes one tells it to the server.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PageFailure {
    status: u16,
    title: Cow<'static, str>,
    remedy: String,
}

impl PageFailure {
    fn new(status: StatusCode, title: &'static str, remedy: impl Into<String>) -> Self {
        Self {
            status: status.as_u16(),
            title: title.into(),
            remedy: remedy.into(),
        }
    }

    /// The request asks for nothing that there is.
    pub(super) fn unknown(remedy: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "There is no such page", remedy)
    }

    /// The request does not say what it needs to.
    pub(super) fn wrong(remedy: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "This cannot be answered", remedy)
    }

    /// Too much is asked at once.
    pub(super) fn busy(remedy: impl Into<String>) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "Too much is asked at once",
            remedy,
        )
    }

    /// The question takes too long.
    pub(super) fn late(limit: Duration) -> Self {
        Self::wrong(format!(
            "The question takes more than {} s and was ended: narrow it, or give it more with `bookahead serve --timeout SECONDS`.",
            limit.as_secs_f64()
        ))
    }

    /// What computed the page ended without a word that could be shown.
    pub(super) fn fault() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The page could not be made",
            "This is a fault of the program, or the system ended it, perhaps for want of memory; what `bookahead serve` said on its \
             terminal helps to find out. Please report it.",
        )
    }

    /// What the answer begins with, for the place where it is shown with something else.
    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl fmt::Display for PageFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.remedy)
    }
}

impl IntoResponse for PageFailure {
    fn into_response(self) -> Response {
        (self.status(), failure_page(&self.title, &self.remedy)).into_response()
    }
}

impl From<StoreError> for PageFailure {
    fn from(error: StoreError) -> Self {
        let (status, title) = match &error {
            StoreError::NoRun { .. } | StoreError::RunGone { .. } => {
                (StatusCode::NOT_FOUND, "There is no such run")
            }
            StoreError::Busy { .. } => (StatusCode::SERVICE_UNAVAILABLE, "The store is busy"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "The store cannot be read"),
        };
        Self::new(status, title, error.to_string())
    }
}

impl From<QueryError> for PageFailure {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Store(error) => error.into(),
            error => Self::wrong(error.to_string()),
        }
    }
}

impl From<ReportError> for PageFailure {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Store(error) => error.into(),
            error => Self {
                remedy: error.to_string(),
                ..Self::fault()
            },
        }
    }
}

impl From<GanttError> for PageFailure {
    fn from(error: GanttError) -> Self {
        match error {
            GanttError::Store(error) => error.into(),
            error => Self {
                title: "The plan cannot be drawn".into(),
                ..Self::wrong(error.to_string())
            },
        }
    }
}
