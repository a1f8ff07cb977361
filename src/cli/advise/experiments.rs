//! The experiments behind a page of advice: files like any other, made from templates.

use super::Reservation;
use super::log::{Log, REPLICATIONS};

/// How often the moments are drawn at which a reservation is priced.
pub(super) const DRAWS: u32 = 16;

/// What a page of advice asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Planning,
    Queue,
    Predictions,
    Reservation,
}

impl Question {
    pub(super) const ALL: [Self; 4] = [
        Self::Planning,
        Self::Queue,
        Self::Predictions,
        Self::Reservation,
    ];

    /// The name of its file, without extension.
    pub(super) fn stem(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Queue => "queue",
            Self::Predictions => "predictions",
            Self::Reservation => "reservation",
        }
    }

    fn template(self) -> &'static str {
        match self {
            Self::Planning => include_str!("planning.toml"),
            Self::Queue => include_str!("queue.toml"),
            Self::Predictions => include_str!("predictions.toml"),
            Self::Reservation => include_str!("reservation.toml"),
        }
    }

    /// The experiment about a log; `None` where the log cannot bear it.
    pub(super) fn experiment(
        self,
        log: &Log,
        ratio: f64,
        reservation: Reservation,
    ) -> Option<String> {
        let mut values = vec![
            ("log", name(&log.label)),
            ("trace", toml::Value::from(log.file.as_str()).to_string()),
            ("nodes", log.nodes.0.to_string()),
            ("replications", REPLICATIONS.to_string()),
            ("battery_jobs", log.battery_jobs.to_string()),
            (
                "evaluation_jobs",
                (REPLICATIONS * log.battery_jobs).to_string(),
            ),
            ("ratio", format!("{ratio:?}")),
        ];
        if self == Self::Reservation {
            let replay = log.replay.as_ref().ok()?;
            values.extend([
                ("draws", DRAWS.to_string()),
                ("days", replay.days.to_string()),
                ("instants", replay.instants.to_string()),
                ("reservation_nodes", reservation.nodes.to_string()),
                ("reservation_hours", format!("{:?}", reservation.hours)),
            ]);
        }
        let fill = |text: String, (key, value): (&str, String)| {
            text.replace(&format!("{{{key}}}"), &value)
        };
        Some(values.into_iter().fold(self.template().to_owned(), fill))
    }
}

/// A log's name as a part of an experiment's.
fn name(label: &str) -> String {
    let allowed = |letter: char| {
        if letter.is_ascii_alphanumeric() || "-_.".contains(letter) {
            letter
        } else {
            '-'
        }
    };
    label.chars().map(allowed).take(60).collect()
}
