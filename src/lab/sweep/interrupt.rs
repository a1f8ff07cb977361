//! Ctrl-C: the first lets the simulations under way finish, the second stops at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a run that the user stopped.
pub const INTERRUPTED: i32 = 130;

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

    /// Takes Ctrl-C and the termination signal from now on: the first one sets the wish, the second one ends the process
    /// with code 130 (the store stays whole: what was not committed is not in it).
    ///
    /// # Errors
    ///
    /// When the system gives no thread or no signal handler.
    pub fn listen(&self) -> io::Result<()> {
        self.listen_with(|| {
            tracing::warn!(
                "stopping after the simulations under way; press Ctrl-C again to stop at once"
            );
        })
    }

    /// The same without a word, for what stops soon.
    ///
    /// # Errors
    ///
    /// As [`Interrupt::listen`].
    pub fn listen_quietly(&self) -> io::Result<()> {
        self.listen_with(|| {})
    }

    fn listen_with(&self, say: fn()) -> io::Result<()> {
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
async fn wait(wish: &Interrupt, say: fn()) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        tokio::select! {
            _ = interrupt.recv() => on_signal(wish, say),
            _ = terminate.recv() => on_signal(wish, say),
        }
    }
}

#[cfg(not(unix))]
async fn wait(wish: &Interrupt, say: fn()) -> io::Result<()> {
    loop {
        tokio::signal::ctrl_c().await?;
        on_signal(wish, say);
    }
}

fn on_signal(wish: &Interrupt, say: fn()) {
    if wish.is_requested() {
        std::process::exit(INTERRUPTED);
    }
    wish.request();
    say();
}
