//! A reservation that is added to a machine.

use bookahead_core::units::Nodes;

use super::*;

#[test]
fn a_reservation_takes_the_last_nodes_and_delays_by_core_hours() {
    let machine = machine(vec![class(1, 2), class(3, 4)]);
    let added = AddedReservation {
        nodes: Nodes(2),
        duration: Seconds(3_600),
    };
    let begin = Seconds(1_000);
    let reserved = added.on(&machine, begin);
    assert_eq!(
        reserved.windows[0].nodes,
        [(ClassIndex(0), Nodes(1)), (ClassIndex(1), Nodes(1))]
    );
    assert_eq!(reserved.windows[0].end, Seconds(4_600));
    // Four cores on each of three nodes of the second class, of which one is closed.
    let jobs = [job(900, 8, 500), job(900, 4, 500), job(950, 8, 50)];
    let without = outcomes_of(&machine, &jobs);
    let with = outcomes_of(&reserved, &jobs);
    let measured = delay_measures(&machine, &added, begin, &jobs, &without, &with);
    // The first job fits beside the reservation; the second one waits for the first one's nodes,
    // and the third one, which needs both, for the second.
    let start = |outcome: &MachineQueueOutcome| match outcome {
        MachineQueueOutcome::Ran { start, .. } => start.0,
        MachineQueueOutcome::Refused(_) => -1,
    };
    assert_eq!(
        without.iter().map(start).collect::<Vec<_>>(),
        [900, 900, 1_400]
    );
    assert_eq!(
        with.iter().map(start).collect::<Vec<_>>(),
        [900, 1_400, 1_900]
    );
    // 500 s of four cores and of eight.
    let hours = (500.0 * 4.0 + 500.0 * 8.0) / 3_600.0;
    assert_eq!(measured.get("others_delay_core_hours"), Some(hours));
    // One node of two cores and one of four, for an hour.
    assert_eq!(
        measured.get("others_delay_per_core_hour"),
        Some(hours / 6.0)
    );
    assert_eq!(measured.get("others_delayed_jobs"), Some(2.0));
    assert_eq!(measured.get("others_hurried_jobs"), Some(0.0));
}
