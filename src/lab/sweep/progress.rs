//! How far a sweep is: a bar on a terminal, a line now and then elsewhere. Everything on standard
//! error.
//!
//! The time left follows the expected cost of what is left, not the number of points: the dearest
//! simulations come first.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bookahead_core::printable::one_line;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::actors::Observer;
use super::spec::{AxisValue, Point, Sweep, Task};

/// Time between two log lines where there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Characters of a sweep's name in the bar, which must fit into 80 columns.
const NAME_WIDTH: usize = 24;
/// The bar on the terminal, where there is one: standard error belongs to the process, so this does
/// too.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes to standard error without tearing the bar: it is taken away, and drawn again below what
/// was written.
pub fn above_bar<T>(write: impl FnOnce() -> T) -> T {
    // Not under the lock: what writes may take its time, and may want to write above the bar
    // itself.
    let bar = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Does some work and, where it takes longer than a second, says on the terminal that it is under
/// way and since when; says nothing where standard error is no terminal or somebody wants quiet.
pub fn while_working<T>(what: &'static str, quiet: bool, work: impl FnOnce() -> T) -> T {
    if quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
    if let Ok(style) = ProgressStyle::with_template("{msg}, {elapsed} so far") {
        bar.set_style(style);
    }
    bar.set_message(what);
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    let (done, end) = mpsc::channel::<()>();
    let value = std::thread::scope(|scope| {
        let bar = &bar;
        let beside = std::thread::Builder::new().spawn_scoped(scope, move || {
            while end.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
            }
        });
        if let Err(error) = beside {
            tracing::debug!(%error, "the system gives no thread that shows how far the work is");
        }
        let value = work();
        drop(done);
        value
    });
    bar.finish_and_clear();
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take();
    value
}

/// Shows how far the points of a sweep are.
#[derive(Debug)]
pub struct Progress {
    name: String,
    bar: ProgressBar,
    /// Lines of the log take the place of the bar.
    lines: bool,
    /// Expected seconds of each simulation that is to be done, by its index in the sweep.
    costs: HashMap<usize, f64>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    done: usize,
    failed: usize,
    total: usize,
    /// Expected seconds of what is done, and of everything.
    cost_done: f64,
    cost_total: f64,
    begun: Instant,
    spoken: Instant,
}

impl State {
    /// Points a second so far.
    fn rate(&self) -> f64 {
        self.done as f64 / self.begun.elapsed().as_secs_f64().max(1e-3)
    }

    /// The time that the rest takes, if it costs what was expected of it in proportion to what is
    /// done; `None` in the beginning.
    fn left(&self) -> Option<Duration> {
        let share = self.cost_done / self.cost_total;
        let seconds = self.begun.elapsed().as_secs_f64() * (1.0 - share) / share;
        Duration::try_from_secs_f64(seconds.max(0.0)).ok()
    }
}

impl Progress {
    /// Progress over the points of `tasks`; with a bar where standard error is a terminal and
    /// nobody wants quiet.
    #[must_use]
    pub fn new(sweep: &Sweep, tasks: &[Task], quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal() && !quiet;
        let target = if terminal {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        };
        let total: usize = tasks.iter().map(|task| task.points.len()).sum();
        let now = Instant::now();
        let state = Arc::new(Mutex::new(State {
            done: 0,
            failed: 0,
            total,
            cost_done: 0.0,
            cost_total: tasks.iter().map(|task| task.seconds).sum(),
            begun: now,
            spoken: now,
        }));
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        let form =
            "{prefix} [{bar:16}] {pos}/{len} points · {rate} · {remaining} left · {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(form) {
            let (rate, left) = (Arc::clone(&state), Arc::clone(&state));
            bar.set_style(
                style
                    .progress_chars("=> ")
                    .with_key(
                        "rate",
                        move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                            let state = rate.lock().unwrap_or_else(PoisonError::into_inner);
                            let _ = write!(out, "{:.0}/s", state.rate());
                        },
                    )
                    .with_key(
                        "remaining",
                        move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                            let state = left.lock().unwrap_or_else(PoisonError::into_inner);
                            let _ = match state.left() {
                                Some(left) => write!(out, "{left:#}", left = HumanDuration(left)),
                                None => write!(out, "?"),
                            };
                        },
                    ),
            );
        }
        bar.set_prefix(clipped(&one_line(&sweep.name), NAME_WIDTH));
        if terminal {
            bar.enable_steady_tick(Duration::from_millis(500));
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
        }
        Self {
            name: sweep.name.clone(),
            bar,
            lines: !terminal,
            costs: tasks
                .iter()
                .map(|task| (task.simulation, task.seconds))
                .collect(),
            state,
        }
    }

    /// Takes the bar away, so that what follows starts on a clean line.
    pub fn finish(&self) {
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn started(&self, points: &[&Point]) {
        if let Some(point) = points.first() {
            self.bar
                .set_message(one_line(&describe(point)).into_owned());
        }
    }

    fn ended(&self, points: &[&Point], _: Duration, error: Option<&str>) {
        let cost = points
            .first()
            .and_then(|point| self.costs.get(&point.simulation))
            .copied()
            .unwrap_or_default();
        // While the bar draws, it holds its own lock and asks for the state: never call the bar
        // with the state locked.
        let line = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.done += points.len();
            state.cost_done += cost;
            if error.is_some() {
                state.failed += points.len();
            }
            let due = self.lines && state.spoken.elapsed() >= LINE_EVERY;
            due.then(|| {
                state.spoken = Instant::now();
                (
                    state.done,
                    state.total,
                    state.failed,
                    state.rate(),
                    state.left(),
                )
            })
        };
        self.bar.inc(points.len() as u64);
        if let Some((done, total, failed, rate, left)) = line {
            tracing::info!(
                sweep = %self.name,
                done,
                total,
                failed,
                rate = format!("{rate:.1}/s"),
                left = %HumanDuration(left.unwrap_or_default()),
                "progress"
            );
        }
    }
}

/// A name that is not longer than so many characters.
fn clipped(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    let mut short: String = name.chars().take(width - 1).collect();
    short.push('…');
    short
}

/// The axis values of a point in one line: `strategy=… pof_max=… #3`.
#[must_use]
pub fn describe(point: &Point) -> String {
    let mut words: Vec<String> = point
        .axes
        .iter()
        .map(|(key, value)| format!("{}={}", key.rsplit('.').next().unwrap_or(key), shown(value)))
        .collect();
    words.push(format!("#{}", point.replication));
    words.join(" ")
}

/// An axis value as people write it.
#[must_use]
pub fn shown(value: &AxisValue) -> String {
    match value {
        AxisValue::Integer(number) => number.to_string(),
        AxisValue::Real(number) => number.to_string(),
        AxisValue::Text(text) => text.clone(),
        AxisValue::Flag(flag) => flag.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_cost_of_what_is_left_and_not_the_number_of_points() {
        let state = State {
            done: 10,
            failed: 0,
            total: 1000,
            cost_done: 8.0,
            cost_total: 10.0,
            begun: Instant::now() - Duration::from_secs(40),
            spoken: Instant::now(),
        };
        // Four fifths of the cost took 40 s, so the last fifth takes 10 s, however many points it
        // has.
        let left = state.left().expect("something is done").as_secs_f64();
        assert!((9.9..10.5).contains(&left), "{left}");
        let begun = State {
            cost_done: 0.0,
            ..state
        };
        assert_eq!(begun.left(), None);
    }

    #[test]
    fn a_long_name_is_clipped_to_fit_the_bar() {
        assert_eq!(clipped("ctc-pof", 24), "ctc-pof");
        assert_eq!(
            clipped("ablation-ctc-early-start-and-restart", 12),
            "ablation-ct…"
        );
    }
}
