//! `bookahead runs --watch`: the runs as they progress, until none is running or the user stops it.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use bookahead_core::printable::one_line;

use crate::cli::aligned::{Aligned, Heading, form};
use crate::cli::output::{people, take_away};
use crate::cli::screen::{LookError, age, now, span};
use crate::cli::studies;
use crate::store::{RunProgress, Store};
use crate::sweep::Interrupt;

/// Rows that are drawn again and again; older runs do not change.
const MOST_ROWS: usize = 15;

/// Between two looks: a second, and so long that looking takes a fiftieth of the time at most,
/// however large the store is.
pub(in crate::cli) fn pace(took: Duration) -> Duration {
    Duration::from_secs(1).max(took.saturating_mul(50))
}

/// Watches until nothing runs (`Ok(false)`) or until Ctrl-C (`Ok(true)`).
///
/// # Errors
///
/// When the store cannot be read.
pub(super) fn watch(path: &Path) -> Result<bool, LookError> {
    let wish = Interrupt::new();
    wish.listen_quietly()?;
    let is_terminal = crate::cli::output::is_terminal();
    let mut before: Vec<RunProgress> = Vec::new();
    let mut lines = 0;
    loop {
        let began = Instant::now();
        let mut runs = Store::open_read_only(studies(), path)?.run_progress()?;
        let took = began.elapsed();
        runs.reverse();
        if is_terminal {
            lines = draw(&runs, lines)?;
        } else {
            tell(&before, &runs)?;
        }
        if !runs.iter().any(RunProgress::is_running) {
            crate::cli::say("nothing runs");
            return Ok(false);
        }
        before = runs;
        let until = began + pace(took);
        while Instant::now() < until {
            if wish.is_requested() {
                crate::cli::say("watching was interrupted; what runs goes on");
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Draws the table over the one before, which had so many lines.
fn draw(runs: &[RunProgress], before: usize) -> io::Result<usize> {
    let mut text = Vec::new();
    let headings = [
        ("Run", true, 0),
        ("Name", false, 0),
        ("State", false, 0),
        ("Done", true, 0),
        ("Failed", true, 1),
        ("Of", true, 0),
        ("%", true, 3),
        ("Took", true, 0),
        ("Began", false, 2),
    ];
    let headings = headings
        .map(|(title, right, dispensable)| Heading::new(title, right).dispensable(dispensable));
    let mut table = Aligned::new(&mut text, headings.into(), form());
    let now = now();
    for run in runs.iter().take(MOST_ROWS) {
        let [done, failed, points] = [run.points_done, run.points_failed, run.points];
        table.push(vec![
            run.id.0.to_string(),
            run.name.clone(),
            run.state.clone(),
            done.to_string(),
            failed.to_string(),
            points.to_string(),
            (100 * (done + failed))
                .checked_div(points)
                .unwrap_or(100)
                .to_string(),
            took(run, now).map_or("–".to_owned(), span),
            age(now - run.started),
        ])?;
    }
    table.finish()?;
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    let more = match runs.len().saturating_sub(MOST_ROWS) {
        0 => String::new(),
        more => format!("{more} older runs\n"),
    };
    let text = text + &more;
    take_away(before)?;
    let mut out = people();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(text.lines().count())
}

/// A line for each run that is new or has changed; at first only for those under way.
fn tell(before: &[RunProgress], runs: &[RunProgress]) -> io::Result<()> {
    let mut out = people();
    let now = now();
    let is_first = before.is_empty();
    for run in runs.iter().rev() {
        if before.contains(run) || (is_first && !run.is_running()) {
            continue;
        }
        let failed = match run.points_failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        writeln!(
            out,
            "run {} {}: {}, {} of {} points done{failed}, {}",
            run.id.0,
            one_line(&run.name),
            run.state,
            run.points_done,
            run.points,
            took(run, now).map_or("–".to_owned(), span)
        )?;
    }
    out.flush()
}

fn took(run: &RunProgress, now: i64) -> Option<i64> {
    match run.ended {
        Some(ended) => Some(ended - run.started),
        None => run.is_running().then_some(now - run.started),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_store_is_looked_at_less_often() {
        assert_eq!(pace(Duration::from_millis(3)), Duration::from_secs(1));
        assert_eq!(pace(Duration::from_millis(100)), Duration::from_secs(5));
    }
}
