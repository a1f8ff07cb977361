//! The experiments behind a page of advice: files like any other, made from templates.

use super::Reservation;
use super::log::Log;
use super::machine::MachineFiles;

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
    /// The queue's or the machine's, with submissions moved by up to a minute.
    Ties {
        runs: u32,
        of_machine: bool,
    },
}

/// What submissions are moved by, in seconds at most.
const SHAKEN_BY: u32 = 60;

impl Question {
    /// Those about a log, of a machine that is described or of nodes that are alike.
    pub(super) fn all(has_machine: bool, ties: Option<u32>) -> Vec<Self> {
        let (queue, reservation) = if has_machine {
            (Self::Machine, Self::MachineReservation)
        } else {
            (Self::Queue, Self::Reservation)
        };
        let ties = ties.map(|runs| Self::Ties {
            runs,
            of_machine: has_machine,
        });
        [Self::Planning, queue, Self::Predictions, reservation]
            .into_iter()
            .chain(ties)
            .collect()
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
            Self::Ties { .. } => "ties",
        }
    }

    fn template(self) -> &'static str {
        match self {
            Self::Planning => include_str!("planning.toml"),
            Self::Queue
            | Self::Ties {
                of_machine: false, ..
            } => include_str!("queue.toml"),
            Self::Predictions => include_str!("predictions.toml"),
            Self::Reservation => include_str!("reservation.toml"),
            Self::Machine
            | Self::Ties {
                of_machine: true, ..
            } => include_str!("machine.toml"),
            Self::MachineReservation => include_str!("machine-reservation.toml"),
        }
    }

    /// The experiment about a log, on a machine where it is described; `None` where the log cannot
    /// bear it.
    pub(super) fn experiment(
        self,
        log: &Log,
        ratio: f64,
        reservation: Reservation,
        machine: Option<&MachineFiles>,
    ) -> Option<String> {
        let (part, runs, shaken) = match self {
            Self::Ties { runs, .. } => ("-ties", runs, format!("\nshake_seconds = {SHAKEN_BY}")),
            _ => ("", 1, String::new()),
        };
        let mut values = vec![
            ("log", name(&log.label)),
            ("trace", quoted(&log.file)),
            ("nodes", log.nodes.0.to_string()),
            ("part", part.to_owned()),
            ("runs", runs.to_string()),
            ("shaken", shaken),
            ("planned_jobs", log.planned_jobs.to_string()),
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
