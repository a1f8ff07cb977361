//! The log: for people on standard error, and as JSON in a file if one is asked for.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, fmt};

use super::output::coloured;
use crate::output::append;
use crate::sweep::above_bar;

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogError {
    /// The file cannot be written.
    #[error("the log file {path} cannot be written: {source}; name another one with --log", path = path.display())]
    File { path: PathBuf, source: io::Error },
    /// `RUST_LOG` makes no sense.
    #[error("RUST_LOG cannot be understood: {0}; write for example RUST_LOG=bookahead=debug")]
    Filter(#[from] tracing_subscriber::filter::FromEnvError),
    /// Somebody set up a log before.
    #[error("{0}")]
    Twice(#[from] TryInitError),
}

/// Standard error above the progress bar, so that neither tears the other. An event arrives in one
/// piece.
struct AboveBar;

impl io::Write for AboveBar {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(screen) = super::output::screen_of_messages() else {
            above_bar(|| coloured(&String::from_utf8_lossy(bytes)))?;
            return Ok(bytes.len());
        };
        // Lines of a log are wrapped between words, below the first one's text.
        let text = String::from_utf8_lossy(bytes);
        let options = textwrap::Options::new(screen)
            .break_words(false)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .subsequent_indent("      ");
        let wrapped: String = text
            .lines()
            .flat_map(|line| textwrap::wrap(line, &options))
            .fold(String::new(), |all, line| all + &line + "\n");
        above_bar(|| coloured(&wrapped))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts both logs. Without `RUST_LOG` people see what happens at level info, or warnings where
/// somebody wants quiet; the file takes debug of this program.
pub(super) fn start(file: Option<&Path>, quiet: bool) -> Result<(), LogError> {
    let filter = match std::env::var_os(EnvFilter::DEFAULT_ENV) {
        Some(text) if !text.is_empty() => EnvFilter::builder().try_from_env()?,
        _ => EnvFilter::new(if quiet { "warn" } else { "info" }),
    };
    let people = fmt::layer()
        .with_writer(|| AboveBar)
        .with_ansi(super::colours())
        .with_target(false)
        .without_time()
        .with_filter(filter);
    let json = match file {
        Some(path) => {
            let file = append(path).map_err(|source| LogError::File {
                path: path.to_owned(),
                source,
            })?;
            let layer = fmt::layer().json().with_writer(Mutex::new(file));
            Some(layer.with_filter(EnvFilter::new("info,bookahead=debug")))
        }
        None => None,
    };
    tracing_subscriber::registry()
        .with(people)
        .with(json)
        .try_init()?;
    Ok(())
}
