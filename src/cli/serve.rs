//! `bookahead serve`: a local web page over a store: its runs as they progress, their reports,
//! comparisons and plans, and a box for SQL.
//!
//! Nothing is written: the store is opened for reading only, for as long as a page takes, and only
//! GET is answered. Pages are computed in processes of their own (`work`). Every request is checked
//! first (`guard`), and the resources of a reader are bounded (`lines`, `answer_buffer`).

mod answer_buffer;
mod answers;
mod example_questions;
mod guard;
mod lines;
mod live;
mod page_request;
mod pages;
mod plans;
mod question;
mod work;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::memory::MemoryArguments;
use super::screen::LookError;
use crate::cli::studies;
use crate::store::Store;
use guard::Guard;
use live::Live;
use work::Work;

/// Shows a store in the browser: runs as they progress, reports, comparisons, plans, and SQL.
/// Nothing is ever changed.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
The address is printed on standard output. Ctrl-C ends it. On a machine that others use, too, add --token: without it everybody who is \
logged in there can read the page. Any address that other machines reach needs a token, and the printed one carries it.

From elsewhere, without opening anything: `ssh -L 8642:127.0.0.1:8642 HOST`, then open http://127.0.0.1:8642/ here.

Examples:
  bookahead serve
  bookahead serve --store night.db --address 127.0.0.1:0 --token
  bookahead serve --address 0.0.0.0:8642 --name cluster.example.org")]
pub struct ServeArguments {
    /// The store to read
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8642")]
    pub address: SocketAddr,
    /// Ask for a token on an address of this machine alone, too
    #[arg(long)]
    pub token: bool,
    /// A further name of this machine by which the page may be opened (may be given several times)
    #[arg(long, value_name = "NAME")]
    pub name: Vec<String>,
    /// End a question in SQL after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: u32,
    /// Print nothing but the address
    #[arg(long)]
    pub quiet: bool,
    /// Make one page, which is described on standard input, for a server that waits for it
    #[arg(long, hide = true)]
    pub answer: bool,
    /// How much memory inputs may take.
    #[command(flatten)]
    pub memory: MemoryArguments,
}

/// What every answer may need.
#[derive(Debug)]
struct Served {
    store: PathBuf,
    work: Work,
    live: Live,
    /// `true` once it ends.
    end: watch::Receiver<bool>,
}

/// Serves until Ctrl-C or a signal to terminate.
///
/// # Errors
///
/// When the store cannot be read, or the address cannot be had.
pub fn execute(arguments: &ServeArguments) -> Result<ExitCode, LookError> {
    if arguments.answer {
        return work::answer(&arguments.store, arguments.memory.budget());
    }
    // Whatever is wrong with the store is said now, and not in a browser.
    Store::open_read_only(studies(), &arguments.store)?.run_progress()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(32)
        .build()?;
    let result = runtime.block_on(serve(arguments));
    // What is under way is not waited for: nothing is lost with it. Its processes end.
    runtime.shutdown_background();
    result.map(|()| ExitCode::SUCCESS)
}

async fn serve(arguments: &ServeArguments) -> Result<(), LookError> {
    let listener = TcpListener::bind(arguments.address)
        .await
        .map_err(|error| LookError::Use(unbound(arguments.address, &error)))?;
    let address = listener.local_addr()?;
    let guard = Guard::new(address, arguments.token, &arguments.name)?;
    let (ending, end) = watch::channel(false);
    let served = Arc::new(Served {
        store: arguments.store.clone(),
        work: Work::new(
            &arguments.store,
            Duration::from_secs(arguments.timeout.into()),
            arguments.memory.budget(),
        ),
        live: Live::new(),
        end: end.clone(),
    });
    let signals = Signals::new()?;
    let url = guard.url();
    let mut out = super::output::people();
    writeln!(out, "{url}")?;
    out.flush()?;
    if !arguments.quiet {
        super::say(format_args!(
            "serving {}, read only; Ctrl-C ends it",
            arguments.store.display()
        ));
    }
    tokio::spawn(live::watch_store(Arc::clone(&served)));
    let router = router(Arc::clone(&served), guard);
    let mut server = tokio::spawn(lines::answer(listener, router, end));
    tokio::select! {
        result = &mut server => return Ok(result.map_err(std::io::Error::other)?),
        () = signals.wait() => {}
    }
    let _ = ending.send(true);
    // Pages under way get a moment; who has a connection open and asks nothing is not waited for.
    let _ = tokio::time::timeout(Duration::from_secs(1), server).await;
    if !arguments.quiet {
        super::say("ended");
    }
    Ok(())
}

fn router(served: Arc<Served>, guard: Guard) -> Router {
    Router::new()
        .route("/", get(answers::runs))
        .route("/events", get(live::events))
        .route("/runs/{run}", get(answers::report))
        .route("/runs/{run}/plans", get(answers::plans))
        .route("/runs/{run}/plan", get(answers::plan))
        .route("/compare", get(answers::comparison))
        .route("/sql", get(question::answer))
        .fallback(answers::unknown)
        .with_state(served)
        .layer(axum::middleware::from_fn_with_state(
            Arc::new(guard),
            guard::admit,
        ))
}

fn unbound(address: SocketAddr, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => format!(
            "{address} is in use already, perhaps by another `bookahead serve`: end that one, or take a free port with --address {}:0",
            guard::bracketed(address.ip())
        ),
        std::io::ErrorKind::AddrNotAvailable => format!(
            "{address} is no address of this machine: 127.0.0.1 is for this machine alone, 0.0.0.0 for all that reach it"
        ),
        std::io::ErrorKind::PermissionDenied => format!(
            "the system does not let you listen on {address}: choose a port above 1023 with --address"
        ),
        _ => format!("cannot listen on {address}: {error}; choose another one with --address"),
    }
}

/// Ctrl-C and the signal to terminate, listened for from the moment that this is made.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    #[cfg(not(unix))]
    fn new() -> std::io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(unix)]
    async fn wait(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    async fn wait(self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
