//! Ctrl-C and the termination signal: after the first one no simulation begins, a second one stops
//! at once. Who sends the termination signal (a batch system, a service manager, a container) kills
//! a little later, so that after it simulations under way get [`GRACE`] and no more.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Exit code of a run that the user stopped.
pub const INTERRUPTED: i32 = 130;

/// How long the simulations under way may take after the termination signal.
pub const GRACE: Duration = Duration::from_secs(5);

/// A wish to stop, shared by everybody who can take it into account.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A wish that nobody has yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks to stop after the simulations under way.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether somebody asked to stop.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Takes Ctrl-C and the termination signal from now on: the first one sets the wish, a second
    /// one, or the end of [`GRACE`] after a termination signal, ends the process with code 130 (the
    /// store stays whole: what was not committed is not in it).
    ///
    /// # Errors
    ///
    /// When the system gives no thread or no signal handler.
    pub fn listen(&self) -> io::Result<()> {
        self.listen_with(|what| tracing::warn!("{what}"))
    }

    /// The same without a word, for what stops soon.
    ///
    /// # Errors
    ///
    /// As [`Interrupt::listen`].
    pub fn listen_quietly(&self) -> io::Result<()> {
        self.listen_with(|_| {})
    }

    fn listen_with(&self, say: fn(&str)) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        let wish = self.clone();
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    if let Err(error) = wait(&wish, say).await {
                        tracing::warn!(%error, "signals cannot be received: Ctrl-C stops at once");
                    }
                });
            })?;
        Ok(())
    }
}

#[cfg(unix)]
async fn wait(wish: &Interrupt, say: fn(&str)) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        tokio::select! {
            _ = interrupt.recv() => on_signal(wish, say, AFTER_CTRL_C),
            _ = terminate.recv() => {
                on_signal(wish, say, &format!(
                    "stopping after the simulations under way, in {} s at the latest; a second signal stops at once",
                    GRACE.as_secs()
                ));
                // A thread of its own: this one listens to a second signal.
                std::thread::Builder::new().name("grace".to_owned()).spawn(|| {
                    std::thread::sleep(GRACE);
                    std::process::exit(INTERRUPTED);
                })?;
            }
        }
    }
}

#[cfg(not(unix))]
async fn wait(wish: &Interrupt, say: fn(&str)) -> io::Result<()> {
    loop {
        tokio::signal::ctrl_c().await?;
        on_signal(wish, say, AFTER_CTRL_C);
    }
}

const AFTER_CTRL_C: &str =
    "stopping after the simulations under way; press Ctrl-C again to stop at once";

fn on_signal(wish: &Interrupt, say: fn(&str), what: &str) {
    if wish.is_requested() {
        std::process::exit(INTERRUPTED);
    }
    wish.request();
    say(what);
}
