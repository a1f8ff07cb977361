//! From settings to the failures that one simulation meets.
//!
//! The result depends on the settings, the machine, and for drawn failures on (seed, workload,
//! replication), but not on the strategy: whatever is compared meets the same failures. A replayed
//! table is the same for every replication.

use std::path::PathBuf;

use super::{
    FailureError, FailureSettings, FailureSource, FailureTrace, FailuresByLoad, LanlTable,
    find_table, pattern,
};
use crate::memory::MemoryBudget;
use crate::random;
use crate::units::{NodeIndex, Nodes, Seconds};

/// Where tables of failures are looked for, after the name as it stands (BOOKAHEAD_FAILURES), and
/// how much memory one may take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureFolder {
    /// The folder, if there is one.
    pub path: Option<PathBuf>,
    /// What one table may take.
    pub memory: MemoryBudget,
}

/// Reads the table that the settings replay; `None` if they replay none.
///
/// # Errors
///
/// When the table is missing or makes no sense.
pub fn read_table(
    settings: &FailureSettings,
    folder: &FailureFolder,
) -> Result<Option<LanlTable>, FailureError> {
    match &settings.source {
        FailureSource::Lanl { file, systems } => {
            let path = find_table(file, folder.path.as_deref())?;
            LanlTable::read(&path, systems, folder.memory).map(Some)
        }
        FailureSource::None | FailureSource::Generated { .. } => Ok(None),
    }
}

/// Makes the failures of one simulation of `nodes` nodes: every failure before `horizon` with its
/// repair, which may come later. A later horizon does not change earlier events. `table` is what
/// [`read_table`] gave for the same settings.
///
/// # Errors
///
/// When a setting is impossible, or when the settings replay a table and there is none.
pub fn prepare_with_table(
    settings: &FailureSettings,
    table: Option<&LanlTable>,
    nodes: Nodes,
    horizon: Seconds,
    seed: u64,
    workload_key: &str,
    replication: u32,
) -> Result<FailureTrace, FailureError> {
    let offset = checked_offset(settings)?;
    match &settings.source {
        FailureSource::None => Ok(FailureTrace::default()),
        FailureSource::Lanl { file, .. } => match table {
            Some(table) => Ok(table.trace(nodes, offset, horizon)),
            None => Err(FailureError::TableNotRead { file: file.clone() }),
        },
        FailureSource::Generated {
            survival,
            repair_rate_per_hour,
            pattern,
        } => {
            let stream = |name: String| random::stream(seed, workload_key, replication, &name);
            let stream_of = |node: NodeIndex| stream(of_node(node));
            let burst_of = |node: NodeIndex| stream(format!("failures/burst/{}", node.0));
            let until = (offset + horizon.min(Seconds::FAR)).max(Seconds::ZERO);
            let model = (survival, *repair_rate_per_hour);
            let trace = if pattern.is_plain() {
                FailureTrace::generate(model.0, model.1, nodes, until, stream_of)?
            } else {
                pattern::generate(model, pattern, nodes, until, stream_of, burst_of)?
            };
            Ok(trace.starting_at(offset))
        }
    }
}

/// The failures that may happen in one simulation of `nodes` nodes before `horizon`, where they
/// follow the load; `None` where they are known beforehand ([`prepare_with_table`]).
///
/// # Errors
///
/// When a setting is impossible.
pub fn prepare_by_load(
    settings: &FailureSettings,
    nodes: Nodes,
    horizon: Seconds,
    seed: u64,
    workload_key: &str,
    replication: u32,
) -> Result<Option<FailuresByLoad>, FailureError> {
    let FailureSource::Generated {
        survival,
        repair_rate_per_hour,
        pattern,
    } = &settings.source
    else {
        return Ok(None);
    };
    if pattern.load.is_none() {
        return Ok(None);
    }
    let span = (checked_offset(settings)?, horizon);
    let stream_of =
        |node: NodeIndex| random::stream(seed, workload_key, replication, &of_node(node));
    let model = (survival, *repair_rate_per_hour);
    FailuresByLoad::generate(model, pattern, nodes, span, stream_of).map(Some)
}

/// The name of the stream of a node's failures.
fn of_node(node: NodeIndex) -> String {
    format!("failures/node/{}", node.0)
}

fn checked_offset(settings: &FailureSettings) -> Result<Seconds, FailureError> {
    let offset = settings.offset;
    if offset.0.abs() > Seconds::FAR.0 {
        return Err(FailureError::Parameter {
            key: "offset",
            allowed: "a number of seconds between the ends of time",
            found: offset.0.to_string(),
        });
    }
    Ok(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failures::SurvivalModel;

    fn generated(offset: i64) -> FailureSettings {
        FailureSettings {
            source: FailureSource::Generated {
                survival: SurvivalModel::Weibull {
                    shape: 0.8,
                    scale_hours: 20.0,
                },
                repair_rate_per_hour: 0.4333,
                pattern: crate::failures::FailurePattern::default(),
            },
            offset: Seconds(offset),
        }
    }

    fn failures(
        settings: &FailureSettings,
        seed: u64,
        key: &str,
        replication: u32,
    ) -> FailureTrace {
        let horizon = Seconds(500_000);
        prepare_with_table(settings, None, Nodes(16), horizon, seed, key, replication).unwrap()
    }

    #[test]
    fn drawn_failures_depend_on_seed_workload_and_replication_only() {
        let first = failures(&generated(0), 1, "ctc", 0);
        first.validate().unwrap();
        assert!(!first.events.is_empty());
        assert_eq!(first, failures(&generated(0), 1, "ctc", 0));
        for other in [(2, "ctc", 0), (1, "kth", 0), (1, "ctc", 1)] {
            assert_ne!(first, failures(&generated(0), other.0, other.1, other.2));
        }
    }

    #[test]
    fn an_offset_shows_the_same_failures_from_later_on() {
        let from_start = failures(&generated(0), 1, "ctc", 0).starting_at(Seconds(100_000));
        let later = failures(&generated(100_000), 1, "ctc", 0);
        let common = |trace: FailureTrace| {
            let mut events = trace.events;
            events.retain(|event| event.time < Seconds(400_000));
            events
        };
        assert_eq!(common(from_start), common(later));
    }

    #[test]
    fn a_negative_offset_is_a_lead_in_without_failures() {
        let from_start = failures(&generated(0), 1, "ctc", 0);
        let later = failures(&generated(-50_000), 1, "ctc", 0);
        assert!(
            later
                .events
                .iter()
                .all(|event| event.time >= Seconds(50_000))
        );
        let shifted = from_start
            .events
            .iter()
            .map(|event| crate::failures::NodeEvent {
                time: event.time + Seconds(50_000),
                ..*event
            });
        let before = |event: &crate::failures::NodeEvent| event.time < Seconds(400_000);
        let shifted: Vec<_> = shifted.filter(before).collect();
        assert!(!shifted.is_empty());
        let later: Vec<_> = later.events.into_iter().filter(before).collect();
        assert_eq!(later, shifted);
    }

    #[test]
    fn without_a_source_nothing_fails() {
        let none = FailureSettings {
            source: FailureSource::None,
            offset: Seconds(0),
        };
        assert_eq!(failures(&none, 1, "ctc", 0), FailureTrace::default());
    }

    #[test]
    fn a_replay_without_its_table_is_an_error() {
        let replay = FailureSettings {
            source: FailureSource::Lanl {
                file: "no-such-table.csv".to_owned(),
                systems: vec![18],
            },
            offset: Seconds(0),
        };
        let missing = read_table(&replay, &FailureFolder::default());
        assert!(matches!(missing, Err(FailureError::TableMissing { .. })));
        let not_read = prepare_with_table(&replay, None, Nodes(1), Seconds(1), 0, "", 0);
        assert!(matches!(not_read, Err(FailureError::TableNotRead { .. })));
    }
}
