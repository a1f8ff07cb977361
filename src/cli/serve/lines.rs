//! The connections of readers: how many there are, how long one may take for a request and for an
//! answer, and which one is closed for another.
//!
//! A connection needs a file descriptor, of which a process has few. A reader that opens
//! connections and sends nothing, or half a request, cannot keep others from being answered: when
//! there are too many, the one that has waited longest for its request is closed.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Response, header};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio_io_timeout::TimeoutStream;

/// Lines at once. With the files of their answers they fit into the 256 that a process may have
/// open on some systems.
const MOST_LINES: usize = 80;

/// How long a request may take from its line's begin, or from the answer before it, to the end of
/// its head.
const REQUEST: Duration = Duration::from_secs(10);

/// How long a reader may take nothing of an answer.
const STALLED: Duration = Duration::from_secs(30);

/// The head of a request, and what of an answer waits for the line.
const MOST_HEAD: usize = 128 << 10;

/// Until lines are taken again after the system gave none.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers until the end is told, and then what is under way.
pub(super) async fn answer(listener: TcpListener, router: Router, end: watch::Receiver<bool>) {
    let mut lines = Lines::default();
    let mut ended = end.clone();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => lines.open(stream, &router, end.clone()),
                // Too many files are open, by lines or by others: some are closed soon.
                Err(_) => {
                    lines.make_room();
                    tokio::time::sleep(PAUSE).await;
                }
            },
            Some(done) = lines.tasks.join_next_with_id() => lines.closed(done),
            () = told(&mut ended) => break,
        }
        // Nobody who opens many lines at once keeps those from being served that are open.
        tokio::task::yield_now().await;
    }
    drop(listener);
    while lines.tasks.join_next().await.is_some() {}
}

/// Waits until the end is told.
async fn told(end: &mut watch::Receiver<bool>) {
    let _ = end.wait_for(|ended| *ended).await;
}

/// Since when a line waits for a request; `None` while one is answered.
type Waiting = Arc<Mutex<Option<Instant>>>;

fn set(waiting: &Waiting, since: Option<Instant>) {
    *waiting.lock().unwrap_or_else(PoisonError::into_inner) = since;
}

#[derive(Default)]
struct Lines {
    tasks: JoinSet<()>,
    open: HashMap<Id, (AbortHandle, Waiting)>,
}

impl Lines {
    /// Serves one more, where there is room or one makes it.
    fn open(&mut self, stream: TcpStream, router: &Router, end: watch::Receiver<bool>) {
        if self.open.len() >= MOST_LINES && !self.make_room() {
            // All are being answered; the browser says that this one was closed.
            return;
        }
        let waiting: Waiting = Arc::new(Mutex::new(Some(Instant::now())));
        let task = serve(stream, router.clone(), Arc::clone(&waiting), end);
        let handle = self.tasks.spawn(task);
        self.open.insert(handle.id(), (handle, waiting));
    }

    /// Closes the line that has waited longest for a request, if any waits.
    fn make_room(&mut self) -> bool {
        let since = |waiting: &Waiting| *waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = self.open.iter();
        let longest = waiting
            .filter_map(|(id, (_, waiting))| Some((since(waiting)?, *id)))
            .min_by_key(|(since, _)| *since);
        let longest = longest.and_then(|(_, id)| self.open.remove(&id));
        if let Some((handle, _)) = &longest {
            handle.abort();
        }
        longest.is_some()
    }

    fn closed(&mut self, done: Result<(Id, ()), tokio::task::JoinError>) {
        let id = done.map_or_else(|error| error.id(), |(id, ())| id);
        self.open.remove(&id);
    }
}

/// One line until it is closed, by whomever.
async fn serve(
    stream: TcpStream,
    router: Router,
    waiting: Waiting,
    mut end: watch::Receiver<bool>,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(STALLED));
    let routes = TowerToHyperService::new(router);
    let answered = service_fn(move |request: Request<Incoming>| {
        let under_way = UnderWay::new(&waiting);
        let answer = routes.call(request);
        async move {
            let answer: Response<Body> = answer.await?;
            // News are no answer that has an end: whoever is told them asks again where the line is
            // closed.
            if is_news(&answer) {
                return Ok::<_, Infallible>(answer);
            }
            Ok(answer.map(|body| Body::new(Sent { body, under_way })))
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST)
        .max_buf_size(MOST_HEAD);
    let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), answered);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // Whatever went wrong, the line is closed.
        _ = connection.as_mut() => return,
        () = told(&mut end) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

fn is_news(answer: &Response<Body>) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind == "text/event-stream")
}

/// A request that is being answered; its line waits again when this is dropped.
struct UnderWay(Waiting);

impl UnderWay {
    fn new(waiting: &Waiting) -> Self {
        set(waiting, None);
        Self(Arc::clone(waiting))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        set(&self.0, Some(Instant::now()));
    }
}

/// The body of an answer, which is under way until all of it is sent.
struct Sent {
    body: Body,
    #[expect(dead_code, reason = "it is dropped with the body")]
    under_way: UnderWay,
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
