//! An additional reservation on a machine, and its cost for other jobs: the same jobs with and
//! without it.

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use bookahead_core::random::Stream;
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;

use super::{ClassIndex, MachineQueueJob, MachineQueueOutcome, QueueMachine, Window};

/// Nothing is added while the machine still fills.
const WARM_UP: Seconds = Seconds(14 * 86_400);

/// Nodes that are reserved once for a user whose jobs are not in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedReservation {
    /// How many, of the first class on; the last nodes of each class.
    pub nodes: Nodes,
    /// For how long.
    pub duration: Seconds,
}

impl AddedReservation {
    /// The machine with the reservation from a second on. It is known from the beginning, as a
    /// maintenance that was announced long before. More nodes than the machine has are all of them.
    #[must_use]
    pub fn on(&self, machine: &QueueMachine, begin: Seconds) -> QueueMachine {
        let nodes = self.taken(machine).collect();
        let mut machine = machine.clone();
        machine.windows.push(Window {
            name: "reservation".to_owned(),
            begin,
            end: begin + self.duration,
            nodes,
            users: Vec::new(),
        });
        machine.windows.sort_by_key(|window| window.begin);
        machine
    }

    /// When it begins: uniform between two weeks after the first submission, or a tenth of the time
    /// of a shorter workload, and the last second from which on it ends before the last submission;
    /// `None` where there is no such second.
    #[must_use]
    pub fn drawn_begin(&self, jobs: &[Job], stream: &mut Stream) -> Option<Seconds> {
        let (first, last) = (jobs.first()?.submit, jobs.last()?.submit);
        let warm_up = WARM_UP.0.min((last - first).0 / 10);
        let (from, until) = (first.0 + warm_up, (last - self.duration).0);
        (from <= until).then(|| Seconds(stream.random_range(from..=until)))
    }

    /// The cores that it holds.
    #[must_use]
    pub fn cores(&self, machine: &QueueMachine) -> u64 {
        let taken = self.taken(machine);
        let cores = |(class, nodes): (ClassIndex, Nodes)| {
            u64::from(nodes.0) * u64::from(machine.classes[class.0].each.cores)
        };
        taken.map(cores).sum()
    }

    /// How many nodes of which classes.
    fn taken(&self, machine: &QueueMachine) -> impl Iterator<Item = (ClassIndex, Nodes)> {
        let mut left = self.nodes.0;
        machine
            .classes
            .iter()
            .enumerate()
            .filter_map(move |(class, of)| {
                let taken = left.min(of.nodes.0);
                left -= taken;
                (taken > 0).then_some((ClassIndex(class), Nodes(taken)))
            })
    }
}

/// What a reservation cost others: waits of the jobs that ran in both, with it less without it.
#[must_use]
pub fn delay_measures(
    machine: &QueueMachine,
    added: &AddedReservation,
    begin: Seconds,
    jobs: &[MachineQueueJob],
    without: &[MachineQueueOutcome],
    with: &[MachineQueueOutcome],
) -> Measured {
    let (mut delay, mut later, mut earlier) = (0.0, 0_u64, 0_u64);
    for (job, pair) in jobs.iter().zip(without.iter().zip(with)) {
        if let (
            MachineQueueOutcome::Ran { start: before, .. },
            MachineQueueOutcome::Ran { start: after, .. },
        ) = pair
        {
            let by = (*after - *before).0;
            delay += f64::from(job.cores) * by as f64;
            later += u64::from(by > 0);
            earlier += u64::from(by < 0);
        }
    }
    let mut measured = Measured::default();
    measured.add("added_reservation_begin_seconds", begin.0 as f64);
    measured.add("others_delay_core_hours", delay / 3_600.0);
    measured.add_ratio(
        "others_delay_per_core_hour",
        delay,
        added.cores(machine) as f64 * added.duration.0 as f64,
    );
    measured.add("others_delayed_jobs", later as f64);
    measured.add("others_hurried_jobs", earlier as f64);
    measured
}
