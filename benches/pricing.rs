//! How long a full list of offers takes: `cargo bench --bench pricing`, with the CTC log in the
//! folder that `BOOKAHEAD_TRACES` names. One thread; every request of a month (or of the whole log,
//! with `-- whole`) asks for its list, and the distribution of the times is printed. What the rows
//! mean stands in `benches/README.md`.

use std::time::Instant;

use bookahead::scheduling::queue::Backfilling;
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::{
    CopyShift, RequestDuration, RequestOrigin, RequestSettings, StartRule, TraceCopy, TraceFolder,
    WholeTrace, WorkloadSettings, WorkloadSource, generate_requests, prepare,
};
use bookahead_reservations::replanning::{
    Admission, Displacement, EarlyEnd, ReplanningMachine, ReplanningSettings,
};

const NODES: Nodes = Nodes(430);

fn main() {
    let whole = std::env::args().any(|argument| argument == "whole");
    let days = if whole { 400.0 } else { 30.0 };
    println!(
        "copied  load   requests  offers  queue(p50)  list in µs: p10     p50     p90     p99     max"
    );
    for percent in [0.0, 20.0, 45.0] {
        measure(percent, days, Backfilling::Conservative);
    }
    if !whole {
        println!("aggressive backfilling:");
        measure(20.0, days, Backfilling::Aggressive);
    }
}

fn measure(percent: f64, days: f64, backfilling: Backfilling) {
    let settings = WorkloadSettings {
        whole: Some(WholeTrace {
            days: Some(days),
            copy: Some(TraceCopy {
                percent,
                shift: CopyShift::WithinADay,
            }),
            exact_estimates: true,
            ..WholeTrace::default()
        }),
        ..WorkloadSettings::of(
            WorkloadSource::Trace {
                file: "CTC-SP2-1996-3.1-cln.swf".to_owned(),
            },
            NODES,
        )
    };
    let folder = TraceFolder {
        path: std::env::var_os("BOOKAHEAD_TRACES").map(Into::into),
        ..TraceFolder::default()
    };
    let workload = match prepare(&settings, &folder, 2008) {
        Ok(workload) => workload,
        Err(error) => {
            println!("not measured: {error}");
            return;
        }
    };
    let requests = RequestSettings {
        origin: RequestOrigin::Instead,
        start: StartRule::Choice { alpha: Some(0.5) },
        duration: RequestDuration::Runtime,
        ..RequestSettings::default()
    };
    let mixed = generate_requests(&workload.batteries[0], &requests, 2008, "bench", 0);
    let mut machine = ReplanningMachine::replanning(
        NODES,
        ReplanningSettings {
            admission: Admission::MovePrice,
            backfilling,
            displacement: Displacement::Skip,
            early_end: EarlyEnd::Keep,
            ..ReplanningSettings::default()
        },
    );
    machine.submit(mixed.jobs);
    let mut micros = Vec::with_capacity(mixed.requests.len());
    let mut queues = Vec::with_capacity(mixed.requests.len());
    let mut offers = 0;
    for request in mixed.requests {
        machine.wait_until(request.submit);
        let begun = Instant::now();
        let list = machine
            .plan()
            .offers(request.submit, request.nodes, request.duration);
        micros.push(begun.elapsed().as_secs_f64() * 1e6);
        offers += list.len();
        queues.push(machine.policy().queue().len());
        machine.request([request]);
    }
    machine.advance(Seconds::FAR);
    let totals = machine.reservation_totals();
    let load = totals.used_while_submitting.0 as f64 / NODES.for_span(totals.submitting).0 as f64;
    micros.sort_by(f64::total_cmp);
    queues.sort_unstable();
    let at = |share: f64| micros[((micros.len() - 1) as f64 * share) as usize];
    println!(
        "{percent:4.0} %  {load:.3}  {:8}  {:6.1}  {:10}  {:16.0}  {:6.0}  {:6.0}  {:6.0}  {:6.0}",
        micros.len(),
        offers as f64 / micros.len() as f64,
        queues[queues.len() / 2],
        at(0.1),
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
}
