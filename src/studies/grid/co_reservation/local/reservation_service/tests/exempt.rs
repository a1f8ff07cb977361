//! What is exempt from the backlog where nothing runs.

use super::*;

#[test]
fn where_nothing_runs_there_is_no_next_scheduling_event_and_every_start_is_exempt() {
    let mut machine = machine(10, LocalSettings::default());
    // The job waits because every CPU is down; the accuracy is ½, so the backlog lasts 4,500 s.
    let (first, count) = (0, 10);
    machine.apply_outage(Seconds(0), OutageEvent::NodesDown { first, count });
    machine.submit(&[job(0, 0, 10, 9_000, 9_000)]);
    machine.advance(Seconds(1));
    let mut admitted = |start, filters| {
        let filters = ProbeFilters {
            counting: false,
            ..filters
        };
        let answer = machine.probe(Seconds(0), &query(3_600, &[1], &[start], filters));
        (answer.offered.len(), answer.counts.exempt)
    };
    assert_eq!(admitted(4_499, BACKLOG), (0, 0));
    assert_eq!(admitted(4_500, BACKLOG), (1, 0));
    for start in [0, 4_499] {
        assert_eq!(admitted(start, BACKFILL), (1, 1), "{start}");
    }
}
