use std::collections::BTreeMap;

use super::*;
use crate::predictions::UserIndex;

const MACHINE: Nodes = Nodes(8);

/// Starts by index.
#[derive(Default)]
struct Starts(BTreeMap<u64, i64>);

impl Listener for Starts {
    fn started(&mut self, request: &StreamRequest, start: Seconds) {
        assert!(
            self.0.insert(request.index, start.0).is_none(),
            "one start a job"
        );
    }

    fn refused(&mut self, request: &StreamRequest) {
        panic!("{request:?} fits");
    }
}

#[test]
fn a_queue_behind_a_job_that_ends_early_moves_at_once() {
    let requests = (0..40).map(|index| StreamRequest {
        index,
        submit: Seconds(0),
        nodes: MACHINE,
        user: UserIndex(0),
        estimate: Seconds(10),
        runtime: Seconds(if index == 0 { 3 } else { 10 }),
    });
    let mut engine = ConservativeStream::new(MACHINE);
    let mut starts = Starts::default();
    for request in requests {
        engine.submit(request, &mut starts);
    }
    engine.finish(&mut starts);
    let behind = (1..40).map(|index| (index, 3 + 10 * (index as i64 - 1)));
    let expected: BTreeMap<u64, i64> = [(0, 0)].into_iter().chain(behind).collect();
    assert_eq!(starts.0, expected);
    assert_eq!(engine.shifts, 1);
}
