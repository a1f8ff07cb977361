//! The oracle numbers of an independent, naive program on the archive's logs: conservative
//! backfilling to a tenth of a coin, heuristic planning within one percent (its tie-breaks leave
//! room for that).

use std::sync::Arc;

use bookahead::failures::FailureTrace;
use bookahead::scheduling::{PolicySpec, SimulationMetrics};
use bookahead::units::Nodes;
use bookahead::workload::{
    Compression, TraceFolder, Workload, WorkloadSettings, WorkloadSource, prepare,
};
use bookahead_overbooking::simulate;

/// The last 20,000 usable jobs of a log as 20 batteries; `None` (and a line that says so) without
/// traces.
fn batteries(log: &str, nodes: u32, factor: f64) -> Option<Workload> {
    let Some(folder) = std::env::var_os(TraceFolder::VARIABLE) else {
        println!("skipped: {log} needs {}", TraceFolder::VARIABLE);
        return None;
    };
    let settings = WorkloadSettings {
        evaluation_jobs: 20_000,
        battery_jobs: 1_000,
        compression: Compression::Factor { factor },
        ..WorkloadSettings::of(
            WorkloadSource::Trace {
                file: format!("{log}.swf"),
            },
            Nodes(nodes),
        )
    };
    let folder = TraceFolder {
        path: Some(folder.into()),
        ..TraceFolder::default()
    };
    Some(prepare(&settings, &folder, 1).expect("the log is sound"))
}

/// Mean booked coins and accepted jobs a battery.
fn means(strategy: &str, nodes: u32, batteries: &[Arc<[bookahead::workload::Job]>]) -> (f64, f64) {
    let settings = PolicySpec::named(strategy);
    let totals: Vec<SimulationMetrics> = batteries
        .iter()
        .map(|jobs| {
            let failures = FailureTrace::default();
            let result = simulate(Nodes(nodes), &settings, None, jobs, &failures);
            result.expect("a registered strategy").0
        })
        .collect();
    let count = totals.len() as f64;
    let booked: i64 = totals
        .iter()
        .map(|total| total.fees.0 + total.forfeited.0)
        .sum();
    let accepted: u64 = totals.iter().map(|total| total.accepted).sum();
    (booked as f64 / 3_600.0 / count, accepted as f64 / count)
}

#[test]
fn conservative_backfilling_without_failures_books_what_the_naive_program_booked() {
    for (log, nodes, factor, booked, accepted) in [
        ("CTC-SP2-1996-3.1-cln", 430, 0.15, 17_390.4, 291.25),
        ("HPC2N-2002-2.2-cln", 240, 0.1, 39_891.5, 293.0),
        ("LANL-CM5-1994-4.1-cln", 1_024, 0.26, 49_062.3, 224.35),
        ("SDSC-BLUE-2000-4.2-cln", 1_152, 0.1175, 74_840.4, 156.0),
        ("SDSC-SP2-1998-4.2-cln", 128, 0.3107, 19_438.1, 225.75),
    ] {
        let Some(workload) = batteries(log, nodes, factor) else {
            return;
        };
        assert_eq!(workload.batteries.len(), 20);
        let (coins, jobs) = means("conservative-backfilling", nodes, &workload.batteries);
        assert_eq!((coins * 10.0).round() / 10.0, booked, "{log}");
        assert_eq!(jobs, accepted, "{log}");
    }
}

#[test]
fn heuristic_planning_without_failures_is_within_a_percent_of_the_naive_program() {
    for (log, nodes, factor, booked, accepted) in [
        ("CTC-SP2-1996-3.1-cln", 430, 0.15, 25_353.0, 460.0),
        ("HPC2N-2002-2.2-cln", 240, 0.1, 53_854.0, 483.0),
        ("SDSC-SP2-1998-4.2-cln", 128, 0.3107, 31_588.0, 467.0),
    ] {
        let Some(workload) = batteries(log, nodes, factor) else {
            return;
        };
        let (coins, jobs) = means("heuristic-planning", nodes, &workload.batteries);
        assert!((coins / booked - 1.0).abs() < 0.01, "{log}: {coins}");
        assert!((jobs / accepted - 1.0).abs() < 0.01, "{log}: {jobs}");
    }
}
