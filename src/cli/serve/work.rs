//! Computes pages: a few processes at a time, each of which makes one page and ends with it.
//!
//! A page that no reader waits for any more is not computed further: its process is killed,
//! whatever it is doing, and a failing process cannot take the server with it. A process ends with
//! its standard input, so none outlives the server.

use std::io::{self, BufWriter, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bookahead_core::memory::MemoryBudget;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::answer_buffer::{Answer, Budget};
use super::page_request::PageRequest;
use super::pages::PageFailure;
use crate::cli::screen::LookError;

/// Pages that are computed at once: more would take the processors away from a sweep.
const AT_ONCE: usize = 2;

/// How long a page waits for its turn.
const TURN: Duration = Duration::from_secs(20);

/// Bytes of an answer that are written at once.
const PIECE: usize = 1 << 16;

/// Between two looks at whether a process has ended that writes no more.
const PAUSE: Duration = Duration::from_millis(2);

/// What is read of what a process says on standard error.
const MOST_SAID: u64 = 1 << 16;

/// The exit code of a process that said in its last line why there is no page, a [`PageFailure`].
const TROUBLE: u8 = 1;

/// What rows of a question may take until they are read: one answer, and all together.
const ROWS: (u64, u64) = (512 << 20, 1 << 30);

/// The same of pages, so that large answers in rows do not keep anybody from looking at a page.
const PAGES: (u64, u64) = (256 << 20, 512 << 20);

/// Where pages are computed.
#[derive(Debug)]
pub(super) struct Work {
    store: PathBuf,
    /// How much memory the inputs of a page may take.
    memory: MemoryBudget,
    turns: Semaphore,
    /// How long a question in SQL may take.
    limit: Duration,
    rows: Budget,
    pages: Budget,
}

impl Work {
    pub(super) fn new(store: &Path, limit: Duration, memory: MemoryBudget) -> Self {
        Self {
            store: store.to_owned(),
            memory,
            turns: Semaphore::new(AT_ONCE),
            limit,
            rows: Budget::new(ROWS.0, ROWS.1),
            pages: Budget::new(PAGES.0, PAGES.1),
        }
    }

    async fn turn(&self) -> Result<SemaphorePermit<'_>, PageFailure> {
        match tokio::time::timeout(TURN, self.turns.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(PageFailure::busy(
                "Two pages are being computed, and this one has waited for its turn: close one of them, or try again later.",
            )),
        }
    }

    /// Computes what is wanted when it is its turn. It ends when nobody waits for it any more,
    /// which drops this, and a question in SQL when its time is over.
    ///
    /// # Errors
    ///
    /// When too much is under way, when it takes too long, and what the process says.
    pub(super) async fn compute(&self, request: &PageRequest) -> Result<Answer, PageFailure> {
        let _turn = self.turn().await?;
        let answer = match request {
            PageRequest::Rows { .. } => Answer::new(&self.rows),
            _ => Answer::new(&self.pages),
        };
        let computed = self.in_process(request, answer);
        match request {
            PageRequest::Rows { .. } | PageRequest::Table { .. } => {
                match tokio::time::timeout(self.limit, computed).await {
                    Ok(result) => result,
                    Err(_) => Err(PageFailure::late(self.limit)),
                }
            }
            _ => computed.await,
        }
    }

    async fn in_process(
        &self,
        request: &PageRequest,
        mut answer: Answer,
    ) -> Result<Answer, PageFailure> {
        let unstarted = |error: io::Error| {
            PageFailure::busy(format!(
                "The system starts no process that would make the page: {error}. Try again later."
            ))
        };
        let mut said = tempfile::tempfile().map_err(unstarted)?;
        let mut child = this_program()
            .map_err(unstarted)?
            .args(["serve", "--answer", "--store"])
            .arg(&self.store)
            .arg(format!("--memory={}B", self.memory.bytes()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(said.try_clone().map_err(unstarted)?)
            .spawn()
            .map_err(unstarted)?;
        let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(PageFailure::fault());
        };
        let mut question = serde_json::to_vec(request).map_err(|_| PageFailure::fault())?;
        question.push(b'\n');
        let running = Running(Arc::new(Mutex::new(child)));
        let child = Arc::clone(&running.0);
        let computed = in_background(move || {
            // Where it ended at once, what it said tells why. It lives as long as its standard
            // input.
            let _ = input.write_all(&question);
            let kept = answer.read(&mut output);
            if kept.is_err() {
                kill(&child);
            }
            let code = ended(&child)?;
            kept?;
            let mut text = Vec::new();
            let read = said
                .rewind()
                .and_then(|()| said.take(MOST_SAID).read_to_end(&mut text));
            read.map_err(|_| PageFailure::fault())?;
            judged(code, &String::from_utf8_lossy(&text)).map(|()| answer)
        });
        let computed = computed.await;
        drop(running);
        computed
    }
}

/// A process that is killed when this is dropped. That needs no task and no thread: nothing that
/// could be cancelled itself.
struct Running(Arc<Mutex<Child>>);

impl Drop for Running {
    fn drop(&mut self) {
        kill(&self.0);
    }
}

fn kill(child: &Mutex<Child>) {
    // One that has ended already cannot be killed.
    let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
}

/// Waits for the end of a process that writes no more; its code, unless it was killed.
fn ended(child: &Mutex<Child>) -> Result<Option<i32>, PageFailure> {
    loop {
        // Held for a moment at a time, so that it can be killed.
        let ended = child
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .try_wait();
        match ended {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) => std::thread::sleep(PAUSE),
            Err(_) => return Err(PageFailure::fault()),
        }
    }
}

/// What the end of a process means. What else it said is passed on to the terminal.
fn judged(code: Option<i32>, said: &str) -> Result<(), PageFailure> {
    let mut lines: Vec<&str> = said.lines().collect();
    let result = match code {
        Some(0) => Ok(()),
        Some(code) if code == i32::from(TROUBLE) => {
            match lines.last().map(|line| serde_json::from_str(line)) {
                Some(Ok(failure)) => {
                    lines.pop();
                    Err(failure)
                }
                _ => Err(PageFailure::fault()),
            }
        }
        _ => Err(PageFailure::fault()),
    };
    for line in lines {
        crate::cli::say(line);
    }
    result
}

/// This program once more, even where its file has been replaced meanwhile.
fn this_program() -> io::Result<Command> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt as _;
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
pub(super) fn answer(store: &Path, memory: MemoryBudget) -> Result<ExitCode, LookError> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let request: PageRequest = serde_json::from_str(&line).map_err(|error| {
        LookError::Use(format!(
            "`--answer` is for the processes that `bookahead serve` starts: {error}"
        ))
    })?;
    std::thread::Builder::new().spawn(|| {
        // Its end: nobody waits any more, or the server is gone.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(i32::from(TROUBLE));
    })?;
    let mut target = BufWriter::with_capacity(PIECE, crate::cli::output::data());
    let Err(failure) = request.answer(store, memory, &mut target) else {
        target.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    let said = serde_json::to_string(&failure).unwrap_or_default();
    crate::cli::output::say(bookahead_core::printable::json(said));
    Ok(ExitCode::from(TROUBLE))
}

/// Does something that may block, away from the thread that answers.
pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PageFailure> + Send + 'static,
) -> Result<T, PageFailure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(PageFailure::fault()))
}
