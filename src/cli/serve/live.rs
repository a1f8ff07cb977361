//! The progress of runs, sent to every page that shows it: one look at the store serves all of
//! them, and none happens while no page watches.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream;
use serde_json::json;
use tokio::sync::{Notify, watch};

use super::Served;
use super::pages::{self, PageFailure};
use super::work::in_background;
use crate::cli::run_list::pace;
use crate::cli::screen::now;
use crate::cli::studies;
use crate::store::{RunProgress, Store};

/// What was seen last; nothing before the first look.
type Seen = Option<Result<Arc<Vec<RunProgress>>, String>>;

/// What tells pages what was seen.
#[derive(Debug)]
pub(super) struct Live {
    seen: watch::Sender<Seen>,
    /// Somebody began to watch.
    begun: Notify,
}

impl Live {
    pub(super) fn new() -> Self {
        Self {
            seen: watch::Sender::new(None),
            begun: Notify::new(),
        }
    }
}

/// The runs of the store, newest first, through a connection that is closed again.
pub(super) fn look(store: &std::path::Path) -> Result<Vec<RunProgress>, PageFailure> {
    let mut runs = Store::open_read_only(studies(), store)?.run_progress()?;
    runs.reverse();
    Ok(runs)
}

/// Looks at the store as long as somebody watches.
pub(super) async fn watch_store(served: Arc<Served>) {
    let live = &served.live;
    let mut looked: Option<(Instant, crate::store::StoreStamp)> = None;
    loop {
        if live.seen.receiver_count() == 0 {
            live.begun.notified().await;
        }
        let stamp = Store::stamp(&served.store);
        // A process may die without a word in the store.
        let is_old = |at: &Instant| at.elapsed() > Duration::from_secs(5);
        if looked
            .as_ref()
            .is_some_and(|(at, seen)| *seen == stamp && !is_old(at))
        {
            tokio::time::sleep(pace(Duration::ZERO)).await;
            continue;
        }
        let began = Instant::now();
        let path = served.store.clone();
        let seen = in_background(move || look(&path)).await;
        let seen = seen.map(Arc::new).map_err(|failure| failure.to_string());
        live.seen.send_replace(Some(seen));
        let took = began.elapsed();
        looked = Some((began, stamp));
        tokio::time::sleep(pace(took)).await;
    }
}

/// What a page that watches has been told.
struct Watcher {
    seen: watch::Receiver<Seen>,
    end: watch::Receiver<bool>,
    told: Arc<Vec<RunProgress>>,
}

impl Watcher {
    /// The rows that are new, have changed, or belong to a run under way, whose time goes on.
    fn news(&mut self) -> Option<Event> {
        let seen = self.seen.borrow_and_update().clone()?;
        match seen {
            Err(failure) => Some(Event::default().event("trouble").data(one_line(&failure))),
            Ok(runs) => {
                let told = std::mem::replace(&mut self.told, runs);
                let moment = now();
                let rows: Vec<_> = self
                    .told
                    .iter()
                    .take(pages::MOST_RUNS)
                    .filter(|run| run.is_running() || !told.contains(run))
                    .map(|run| json!({ "run": run.id.0, "row": pages::run_row(run, moment).into_string() }))
                    .collect();
                let running = self.told.iter().filter(|run| run.is_running()).count();
                let data = json!({ "rows": rows, "running": running });
                Some(Event::default().event("runs").data(data.to_string()))
            }
        }
    }
}

/// An event's text is a line.
fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// The events of a page that shows the runs.
pub(super) async fn events(State(served): State<Arc<Served>>) -> impl IntoResponse {
    let watcher = Watcher {
        seen: served.live.seen.subscribe(),
        end: served.end.clone(),
        told: Arc::default(),
    };
    served.live.begun.notify_one();
    let events = stream::unfold(watcher, |mut watcher| async move {
        loop {
            tokio::select! {
                changed = watcher.seen.changed() => changed.ok()?,
                _ = watcher.end.wait_for(|ended| *ended) => return None,
            }
            if let Some(event) = watcher.news() {
                return Some((Ok::<_, Infallible>(event), watcher));
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}
