//! How far a sweep is: a bar on a terminal, a line now and then elsewhere. Everything on standard error.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::coordinator::Observer;
use super::spec::{AxisValue, Point, Sweep};

/// Time between two log lines where there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows how far the points of a sweep are.
#[derive(Debug)]
pub struct Progress {
    name: String,
    bar: ProgressBar,
    begun: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    done: usize,
    failed: usize,
    total: usize,
    spoken: Instant,
}

impl Progress {
    /// Progress over `todo` points; with a bar where standard error is a terminal and nobody wants quiet.
    #[must_use]
    pub fn new(sweep: &Sweep, todo: usize, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal() && !quiet;
        let target = if terminal {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(todo as u64), target);
        let form = "{prefix} [{bar:32}] {pos}/{len} points · {per_sec} · {eta} left · {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(sweep.name.clone());
        if terminal {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        let now = Instant::now();
        Self {
            name: sweep.name.clone(),
            bar,
            begun: now,
            state: Mutex::new(State {
                done: 0,
                failed: 0,
                total: todo,
                spoken: now,
            }),
        }
    }

    /// Takes the bar away, so that what follows starts on a clean line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Writes something (a log line) above the bar.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Observer for Progress {
    fn started(&self, points: &[&Point]) {
        if let Some(point) = points.first() {
            self.bar.set_message(describe(point));
        }
    }

    fn ended(&self, points: &[&Point], _: Duration, error: Option<&str>) {
        self.bar.inc(points.len() as u64);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += points.len();
        if error.is_some() {
            state.failed += points.len();
        }
        if self.bar.is_hidden() && state.spoken.elapsed() >= LINE_EVERY {
            state.spoken = Instant::now();
            let rate = state.done as f64 / self.begun.elapsed().as_secs_f64().max(1e-3);
            let left = Duration::from_secs_f64((state.total - state.done) as f64 / rate.max(1e-9));
            tracing::info!(
                sweep = %self.name,
                done = state.done,
                total = state.total,
                failed = state.failed,
                rate = format!("{rate:.1}/s"),
                left = %HumanDuration(left),
                "progress"
            );
        }
    }
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
