//! The experiments behind a page of advice: files like any other, made from templates.

use super::log::{Log, REPLICATIONS};
use super::{MachineFiles, Reservation};

/// How often the moments are drawn at which a reservation is priced.
pub(super) const DRAWS: u32 = 16;

/// How often a reservation is added to a machine: twice for every hour of the week.
pub(super) const ADDED: u32 = 2 * 7 * 24;

/// What a page of advice asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Planning,
    Queue,
    Predictions,
    Reservation,
    Machine,
    MachineReservation,
}

impl Question {
    /// Those about a log, of a machine that is described or of nodes that are alike.
    pub(super) const fn all(has_machine: bool) -> [Self; 4] {
        let (queue, reservation) = if has_machine {
            (Self::Machine, Self::MachineReservation)
        } else {
            (Self::Queue, Self::Reservation)
        };
        [Self::Planning, queue, Self::Predictions, reservation]
    }

    /// The name of its file, without extension.
    pub(super) fn stem(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Queue => "queue",
            Self::Predictions => "predictions",
            Self::Reservation => "reservation",
            Self::Machine => "machine",
            Self::MachineReservation => "machine-reservation",
        }
    }

    fn template(self) -> &'static str {
        match self {
            Self::Planning => include_str!("planning.toml"),
            Self::Queue => include_str!("queue.toml"),
            Self::Predictions => include_str!("predictions.toml"),
            Self::Reservation => include_str!("reservation.toml"),
            Self::Machine => include_str!("machine.toml"),
            Self::MachineReservation => include_str!("machine-reservation.toml"),
        }
    }

    /// The experiment about a log, on a machine where it is described; `None` where the log cannot bear it.
    pub(super) fn experiment(
        self,
        log: &Log,
        ratio: f64,
        reservation: Reservation,
        machine: Option<&MachineFiles>,
    ) -> Option<String> {
        let mut values = vec![
            ("log", name(&log.label)),
            ("trace", quoted(&log.file)),
            ("nodes", log.nodes.0.to_string()),
            ("replications", REPLICATIONS.to_string()),
            ("battery_jobs", log.battery_jobs.to_string()),
            (
                "evaluation_jobs",
                (REPLICATIONS * log.battery_jobs).to_string(),
            ),
            ("ratio", format!("{ratio:?}")),
        ];
        if let Some(machine) = machine {
            let list = machine.names.as_ref();
            values.extend([
                ("machine", quoted(&machine.file)),
                (
                    "names",
                    list.map_or_else(String::new, |list| format!("\nnames = {}", quoted(list))),
                ),
            ]);
        }
        if matches!(self, Self::Reservation | Self::MachineReservation) {
            let replay = log.replay.as_ref().ok()?;
            let draws = if self == Self::Reservation {
                DRAWS
            } else {
                ADDED
            };
            values.extend([
                ("draws", draws.to_string()),
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

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
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
