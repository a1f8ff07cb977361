//! What computes: a few processes at a time, each of which makes one page and ends with it.
//!
//! A page that nobody waits for any more is no longer computed, whatever it does at that moment: what has its own process can be killed. It
//! cannot take the server with it either. A process ends with its standard input, so none outlives the server.

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::kept::{Answer, Budget};
use super::pages::Trouble;
use super::wanted::Wanted;
use crate::cli::screen::LookError;

/// Pages that are computed at once: more would take the processors away from a sweep.
const AT_ONCE: usize = 2;

/// How long a page waits for its turn.
const TURN: Duration = Duration::from_secs(20);

/// Bytes that are read of an answer at once.
const PIECE: usize = 1 << 16;

/// What a process may say on standard error.
const MOST_SAID: u64 = 1 << 16;

/// The exit code of a process that said in its last line why there is no page, a [`Trouble`].
const TROUBLE: u8 = 1;

/// What rows of a question may take until they are read: one answer, and all together.
const ROWS: (u64, u64) = (512 << 20, 1 << 30);

/// The same of pages, so that large answers in rows do not keep anybody from looking at a page.
const PAGES: (u64, u64) = (256 << 20, 512 << 20);

/// Where pages are computed.
#[derive(Debug)]
pub(super) struct Work {
    store: PathBuf,
    turns: Semaphore,
    /// How long a question in SQL may take.
    limit: Duration,
    rows: Budget,
    pages: Budget,
}

impl Work {
    pub(super) fn new(store: &Path, limit: Duration) -> Self {
        Self {
            store: store.to_owned(),
            turns: Semaphore::new(AT_ONCE),
            limit,
            rows: Budget::new(ROWS.0, ROWS.1),
            pages: Budget::new(PAGES.0, PAGES.1),
        }
    }

    async fn turn(&self) -> Result<SemaphorePermit<'_>, Trouble> {
        match tokio::time::timeout(TURN, self.turns.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(Trouble::busy(
                "Two pages are being computed, and this one has waited for its turn: close one of them, or try again later.",
            )),
        }
    }

    /// Computes what is wanted when it is its turn. It ends when nobody waits for it any more, which drops this, and a question in SQL
    /// when its time is over.
    ///
    /// # Errors
    ///
    /// When too much is under way, when it takes too long, and what the process says.
    pub(super) async fn compute(&self, wanted: &Wanted) -> Result<Answer, Trouble> {
        let _turn = self.turn().await?;
        let answer = match wanted {
            Wanted::Rows { .. } => Answer::new(&self.rows),
            _ => Answer::new(&self.pages),
        };
        let computed = self.in_process(wanted, answer);
        match wanted {
            Wanted::Rows { .. } | Wanted::Table { .. } => {
                match tokio::time::timeout(self.limit, computed).await {
                    Ok(result) => result,
                    Err(_) => Err(Trouble::late(self.limit)),
                }
            }
            _ => computed.await,
        }
    }

    async fn in_process(&self, wanted: &Wanted, mut answer: Answer) -> Result<Answer, Trouble> {
        let unstarted = |error: io::Error| {
            Trouble::busy(format!(
                "The system starts no process that would make the page: {error}. Try again later."
            ))
        };
        let mut child = this_program()
            .map_err(unstarted)?
            .args(["serve", "--answer", "--store"])
            .arg(&self.store)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(unstarted)?;
        let (Some(mut input), Some(mut output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Trouble::fault());
        };
        let mut question = serde_json::to_vec(wanted).map_err(|_| Trouble::fault())?;
        question.push(b'\n');
        // Where it ended at once, what it said tells why.
        let _ = input.write_all(&question).await;
        let body = async {
            loop {
                let mut piece = Vec::with_capacity(PIECE);
                match output.read_buf(&mut piece).await {
                    Ok(0) => return Ok(answer),
                    Ok(_) => answer = answer.with(piece).await?,
                    Err(_) => return Err(Trouble::fault()),
                }
            }
        };
        let said = async {
            let mut said = Vec::new();
            let _ = errors.take(MOST_SAID).read_to_end(&mut said).await;
            Ok(said)
        };
        let (answer, said) = tokio::try_join!(body, said)?;
        let status = child.wait().await.map_err(|_| Trouble::fault())?;
        // Until here it has to live.
        drop(input);
        let said = String::from_utf8_lossy(&said);
        let mut lines: Vec<&str> = said.lines().collect();
        let trouble = match status.code() {
            Some(0) => None,
            Some(code) if code == i32::from(TROUBLE) => {
                let trouble = lines
                    .last()
                    .and_then(|line| serde_json::from_str(line).ok());
                if trouble.is_some() {
                    lines.pop();
                }
                Some(trouble.unwrap_or_else(Trouble::fault))
            }
            _ => Some(Trouble::fault()),
        };
        for line in lines {
            crate::cli::say(line);
        }
        trouble.map_or(Ok(answer), Err)
    }
}

/// This program once more, even where its file has been replaced meanwhile.
fn this_program() -> io::Result<Command> {
    #[cfg(target_os = "linux")]
    {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("bookahead");
        Ok(command)
    }
    #[cfg(not(target_os = "linux"))]
    std::env::current_exe().map(Command::new)
}

/// What such a process does: it reads what is wanted, and writes it.
///
/// # Errors
///
/// When standard input is not what a server says.
pub(super) fn answer(store: &Path) -> Result<ExitCode, LookError> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let wanted: Wanted = serde_json::from_str(&line).map_err(|error| {
        LookError::Use(format!(
            "`--answer` is for the processes that `bookahead serve` starts: {error}"
        ))
    })?;
    std::thread::spawn(|| {
        // Its end: nobody waits any more, or the server is gone.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(i32::from(TROUBLE));
    });
    let mut target = BufWriter::with_capacity(PIECE, io::stdout());
    let Err(trouble) = wanted.answer(store, &mut target) else {
        target.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    let said = serde_json::to_string(&trouble).unwrap_or_default();
    writeln!(io::stderr(), "{said}")?;
    Ok(ExitCode::from(TROUBLE))
}

/// Does something that may block, away from the thread that answers.
pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Trouble::fault()))
}
