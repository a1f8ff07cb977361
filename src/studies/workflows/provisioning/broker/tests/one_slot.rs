//! One slot for all tasks.

use super::*;

/// A job of two hours waits for the whole machine; two tasks that run side by side, for an hour and
/// half an hour, go before it in one slot of two processors and delay it by one hour on 4.
#[test]
fn one_slot_for_all_tasks_is_paid_whole_and_once_with_its_externality() {
    let settings = settings_of(
        queried(),
        SearchMethod::SingleSlot,
        Wish::TradeOff { alpha: 0.0 },
    );
    let hour = HOUR.0;
    let jobs = vec![job(0, 0, 4, hour), job(1, 5, 4, 2 * hour)];
    let tasks = [hour, hour / 2].map(|seconds| ApplicationTask {
        nodes: Nodes(1),
        runtimes: vec![Seconds(seconds)],
        parents: Vec::new(),
    });
    let application = Application::new(tasks.to_vec(), vec![0, 1]);
    let run = run_one(workload(4, jobs), application, &settings, &[Seconds(10)]);
    let outcome = &run.outcomes[0];
    let [bought] = &outcome.slots[..] else {
        panic!("{:?}", outcome.slots);
    };
    assert_eq!(bought.externality, NodeSeconds(4 * hour));
    assert_eq!(
        (bought.slot.nodes, bought.slot.duration()),
        (Nodes(2), HOUR)
    );
    assert_eq!((bought.cost, bought.used), (6.0, NodeSeconds(3 * hour / 2)));
    let starts: Vec<i64> = outcome.tasks.iter().map(|run| run.start.0).collect();
    assert_eq!(starts, [hour, hour]);
    assert_eq!(outcome.realised.cost, 6.0);
    // Widths 1 and 2 were asked for.
    assert_eq!(outcome.queries, 2);
}
