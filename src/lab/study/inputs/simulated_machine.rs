//! A machine that is simulated, beside that of its log: its size, the jobs that it is too small
//! for, and the load that the settings ask of it.

use std::collections::BTreeMap;

use bookahead_core::printable::grouped;

use super::remark::is_much;
use super::{InputRemark, PreparedWorkload};
use crate::study::SimulationSpec;
use crate::units::Nodes;
use crate::workload::Compression;

/// Above this load most jobs find no place, whoever plans.
const HIGHEST_LOAD: f64 = 3.0;

/// Below this load jobs hardly meet, so that all planners do the same.
const LOWEST_LOAD: f64 = 0.05;

/// A machine of another size than the one of its log, one that some jobs do not fit, or one that is
/// asked for much more or less than it can do.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedMachine {
    /// The workload's name for people.
    pub workload: String,
    /// The nodes of the machine that is simulated.
    pub nodes: Nodes,
    /// The nodes of the machine of the log, where its header says them.
    pub log_nodes: Option<Nodes>,
    /// The jobs that are evaluated.
    pub jobs: u64,
    /// Those of them that are wider than the machine that is simulated.
    pub too_wide: u64,
    /// The lowest and the highest load that the settings bring the jobs to, by their estimates;
    /// `None` where they take the load as it comes.
    pub loads: Option<(f64, f64)>,
}

impl SimulatedMachine {
    /// A machine that nothing is known of but its size.
    fn new(workload: &str, nodes: Nodes) -> Self {
        Self {
            workload: workload.to_owned(),
            nodes,
            log_nodes: None,
            jobs: 0,
            too_wide: 0,
            loads: None,
        }
    }

    fn has_another_size(&self) -> bool {
        self.log_nodes.is_some_and(|of_log| of_log != self.nodes)
    }

    /// Whether more than 1 % of the jobs do not fit.
    fn lacks_jobs(&self) -> bool {
        is_much(self.too_wide, self.jobs)
    }

    /// Its size beside that of the log's machine, and how many jobs do not fit; `None` where it is
    /// as large and hardly a job is left out.
    fn size(&self) -> Option<InputRemark> {
        if !self.has_another_size() && !self.lacks_jobs() {
            return None;
        }
        let count = |nodes: Nodes| grouped(f64::from(nodes.0), 0);
        let mut text = format!("{}: {} nodes", self.workload, count(self.nodes));
        match self.log_nodes {
            None => {}
            Some(of_log) if of_log == self.nodes => text.push_str(", as the log's machine has"),
            Some(of_log) => {
                let share = percent(f64::from(self.nodes.0), f64::from(of_log.0));
                text.push_str(&format!(
                    ", {share} of the log's machine ({})",
                    count(of_log)
                ));
            }
        }
        match self.too_wide {
            0 => text.push_str("; every job fits"),
            wide => {
                let share = percent(wide as f64, self.jobs as f64);
                text.push_str(&format!(
                    "; {share} of the jobs do not fit and are left out"
                ));
            }
        }
        Some(InputRemark {
            is_warning: self.lacks_jobs(),
            text,
        })
    }

    /// What a load means that is far from what machines are asked for.
    fn load(&self) -> Option<InputRemark> {
        let (lowest, highest) = self.loads?;
        let mut parts = Vec::new();
        if highest > HIGHEST_LOAD {
            let load = number(highest);
            parts.push(format!(
                "a load of {load}: the jobs ask the machine for {load} times its capacity, so that most of them are \
                 rejected or wait without end"
            ));
        }
        if lowest < LOWEST_LOAD {
            parts.push(format!(
                "a load of {}: the jobs ask the machine for {} % of its capacity, so that they hardly meet, and planners \
                 hardly differ",
                number(lowest),
                number(100.0 * lowest)
            ));
        }
        (!parts.is_empty()).then(|| InputRemark {
            is_warning: true,
            text: format!("{}: {}", self.workload, parts.join("; ")),
        })
    }

    /// What a reader should know of it.
    pub(super) fn remarks(&self) -> impl Iterator<Item = InputRemark> {
        self.size().into_iter().chain(self.load())
    }
}

/// The machines of a sweep, by workload and size.
#[derive(Debug, Default)]
pub(super) struct SimulatedMachines(BTreeMap<(String, Nodes), SimulatedMachine>);

impl SimulatedMachines {
    fn of(&mut self, workload: &str, nodes: Nodes) -> &mut SimulatedMachine {
        let machine = self.0.entry((workload.to_owned(), nodes));
        machine.or_insert_with(|| SimulatedMachine::new(workload, nodes))
    }

    /// Counts the jobs of a workload that was made.
    pub(super) fn add(&mut self, workload: &PreparedWorkload) {
        let machine = self.of(&workload.label, workload.nodes);
        machine.log_nodes = machine.log_nodes.or(workload.log_nodes);
        for job in workload.batteries.iter().flat_map(|jobs| jobs.iter()) {
            machine.jobs += 1;
            machine.too_wide += u64::from(job.nodes > workload.nodes);
        }
    }

    /// Remembers the load that a simulation asks for.
    pub(super) fn add_load(&mut self, workload: &str, spec: &SimulationSpec) {
        let (Compression::TargetLoad { load, .. } | Compression::BatteryLoad { load, .. }) =
            spec.workload.compression
        else {
            return;
        };
        let load = load / f64::from(spec.study.machines().max(1));
        let machine = self.of(workload, spec.workload.nodes);
        let (lowest, highest) = machine.loads.unwrap_or((load, load));
        machine.loads = Some((lowest.min(load), highest.max(load)));
    }

    /// Those that a reader should know something of.
    pub(super) fn worth_a_word(self) -> Vec<SimulatedMachine> {
        let mut machines: Vec<SimulatedMachine> = self.0.into_values().collect();
        machines.retain(|machine| machine.remarks().next().is_some());
        machines
    }
}

/// A share in percent, with as many digits as tell it from 0 and from 100.
fn percent(part: f64, whole: f64) -> String {
    match 100.0 * part / whole.max(1.0) {
        little if little < 0.1 => "less than 0.1 %".to_owned(),
        few if few < 2.0 => format!("{few:.1} %"),
        almost if (99.0..100.0).contains(&almost) => "99 %".to_owned(),
        share => format!("{} %", grouped(share, 0)),
    }
}

/// A load as it was written, or four decimals of one that several machines share.
fn number(load: f64) -> String {
    let text = format!("{load:.4}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "0" => load.to_string(),
        short => short.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(nodes: u32, log_nodes: Option<u32>, jobs: u64, too_wide: u64) -> SimulatedMachine {
        SimulatedMachine {
            log_nodes: log_nodes.map(Nodes),
            jobs,
            too_wide,
            ..SimulatedMachine::new("SDSC-BLUE", Nodes(nodes))
        }
    }

    fn said(machine: &SimulatedMachine) -> Vec<(bool, String)> {
        let remarks = machine.remarks();
        remarks
            .map(|remark| (remark.is_warning, remark.text))
            .collect()
    }

    #[test]
    fn a_small_machine_says_its_share_of_the_logs_and_how_many_jobs_do_not_fit() {
        let sentence = "SDSC-BLUE: 64 nodes, 6 % of the log's machine (1,152); 9 % of the jobs do not fit and are left out";
        let small = machine(64, Some(1152), 1000, 93);
        assert_eq!(said(&small), [(true, sentence.to_owned())]);
    }

    #[test]
    fn a_larger_machine_is_said_without_a_warning() {
        let sentence = "SDSC-BLUE: 430 nodes, 127 % of the log's machine (338); every job fits";
        let large = machine(430, Some(338), 1000, 0);
        assert_eq!(said(&large), [(false, sentence.to_owned())]);
    }

    #[test]
    fn jobs_that_do_not_fit_are_said_of_a_log_without_a_size_and_of_one_with_the_same() {
        let sentence = "SDSC-BLUE: 64 nodes; 1.1 % of the jobs do not fit and are left out";
        assert_eq!(
            said(&machine(64, None, 1000, 11)),
            [(true, sentence.to_owned())]
        );
        let same = said(&machine(64, Some(64), 1000, 11));
        assert!(
            same[0]
                .1
                .contains("64 nodes, as the log's machine has; 1.1 %")
        );
        for nothing in [machine(64, None, 1000, 10), machine(64, Some(64), 1000, 10)] {
            assert_eq!(said(&nothing), []);
        }
    }

    #[test]
    fn a_load_above_3_or_below_a_twentieth_says_what_it_means() {
        let with = |lowest, highest| SimulatedMachine {
            loads: Some((lowest, highest)),
            ..machine(64, Some(64), 1000, 0)
        };
        assert_eq!(said(&with(0.05, 3.0)), []);
        let [(true, high)] = &said(&with(2.0, 200.0))[..] else {
            panic!("one warning");
        };
        assert!(high.starts_with(
            "SDSC-BLUE: a load of 200: the jobs ask the machine for 200 times its capacity"
        ));
        let [(true, both)] = &said(&with(0.02, 4.0))[..] else {
            panic!("one warning");
        };
        assert!(
            both.contains("a load of 4:") && both.contains("for 2 % of its capacity"),
            "{both}"
        );
    }

    #[test]
    fn a_share_is_told_from_none_and_from_all() {
        assert_eq!(percent(1.0, 100_000.0), "less than 0.1 %");
        assert_eq!(percent(999.0, 1000.0), "99 %");
        assert_eq!(percent(100.0, 100.0), "100 %");
    }
}
