//! The logs of the Parallel Workloads Archive through the whole workload module. The expected
//! numbers come from an independent program that knows nothing of this one.

use bookahead::units::Nodes;
use bookahead::workload::{
    CleaningRules, Compression, ParsedTrace, ProcessorsField, TraceFolder, WorkloadSettings,
    WorkloadSource, clean, prepare, prepare_parsed,
};

struct Log {
    file: &'static str,
    nodes: u32,
    factor: f64,
    records: u64,
    usable: u64,
    zero_runtime: u64,
    missing_runtime: u64,
    missing_processors: u64,
    missing_estimate: u64,
    overruns: u64,
    cancelled: u64,
    requested_processors_used: u64,
    /// Offered load of the last 20,000 usable jobs by their estimates over their own span.
    load: f64,
    first: Battery,
    last: Battery,
}

/// A battery of 1,000 jobs after compression.
struct Battery {
    /// Σ n·x in node-seconds.
    booked: i64,
    /// Σ o in seconds.
    submits: i64,
    /// o of the last job.
    last_submit: i64,
    /// Job numbers of the first and the last job in the log.
    numbers: (i64, i64),
}

const LOGS: [Log; 6] = [
    Log {
        file: "CTC-SP2-1996-3.1-cln.swf",
        nodes: 430,
        factor: 0.15,
        records: 77_222,
        usable: 77_199,
        zero_runtime: 17,
        missing_runtime: 0,
        missing_processors: 0,
        missing_estimate: 6,
        overruns: 7_174,
        cancelled: 0,
        requested_processors_used: 0,
        load: 1.540811058255,
        first: Battery {
            booked: 261_784_500,
            submits: 18_298_635,
            last_submit: 51_365,
            numbers: (59_297, 60_296),
        },
        last: Battery {
            booked: 206_214_480,
            submits: 22_598_230,
            last_submit: 56_460,
            numbers: (78_303, 79_302),
        },
    },
    Log {
        file: "HPC2N-2002-2.2-cln.swf",
        nodes: 240,
        factor: 0.1,
        records: 202_871,
        usable: 202_871,
        zero_runtime: 0,
        missing_runtime: 0,
        missing_processors: 0,
        missing_estimate: 0,
        overruns: 14_817,
        cancelled: 0,
        requested_processors_used: 0,
        load: 1.798528948862,
        first: Battery {
            booked: 357_832_838,
            submits: 13_282_744,
            last_submit: 34_520,
            numbers: (415_501, 416_634),
        },
        last: Battery {
            booked: 991_071_044,
            submits: 115_278_961,
            last_submit: 224_758,
            numbers: (491_890, 527_371),
        },
    },
    // 36 % ran longer than requested (no limit was enforced), 9 % have no request.
    Log {
        file: "LANL-CM5-1994-4.1-cln.swf",
        nodes: 1_024,
        factor: 0.26,
        records: 122_060,
        usable: 110_769,
        zero_runtime: 2,
        missing_runtime: 0,
        missing_processors: 3,
        missing_estimate: 11_286,
        overruns: 40_180,
        cancelled: 0,
        requested_processors_used: 0,
        load: 0.887588223721,
        first: Battery {
            booked: 794_497_920,
            submits: 95_268_853,
            last_submit: 168_609,
            numbers: (168_763, 169_831),
        },
        last: Battery {
            booked: 720_629_760,
            submits: 96_532_095,
            last_submit: 208_685,
            numbers: (200_287, 201_387),
        },
    },
    // 8 % have no allocation; those that ran take field 8.
    Log {
        file: "SDSC-BLUE-2000-4.2-cln.swf",
        nodes: 1_152,
        factor: 0.1175,
        records: 243_306,
        usable: 232_536,
        zero_runtime: 26,
        missing_runtime: 10_744,
        missing_processors: 0,
        missing_estimate: 0,
        overruns: 23_434,
        cancelled: 36_954,
        requested_processors_used: 8_899,
        load: 1.487801781112,
        first: Battery {
            booked: 955_801_600,
            submits: 28_160_319,
            last_submit: 51_128,
            numbers: (230_441, 231_440),
        },
        last: Battery {
            booked: 1_145_625_472,
            submits: 59_586_916,
            last_submit: 112_553,
            numbers: (249_441, 250_440),
        },
    },
    Log {
        file: "SDSC-SP2-1998-4.2-cln.swf",
        nodes: 128,
        factor: 0.3107,
        records: 59_715,
        usable: 53_999,
        zero_runtime: 10,
        missing_runtime: 5_671,
        missing_processors: 0,
        missing_estimate: 35,
        overruns: 4_134,
        cancelled: 10_912,
        requested_processors_used: 0,
        load: 1.780948554071,
        first: Battery {
            booked: 268_846_747,
            submits: 122_159_035,
            last_submit: 257_079,
            numbers: (50_794, 51_926),
        },
        last: Battery {
            booked: 638_887_888,
            submits: 391_998_820,
            last_submit: 813_956,
            numbers: (72_390, 73_496),
        },
    },
    Log {
        file: "KTH-SP2-1996-2.1-cln.swf",
        nodes: 100,
        factor: 0.2,
        records: 28_476,
        usable: 28_467,
        zero_runtime: 8,
        missing_runtime: 0,
        missing_processors: 1,
        missing_estimate: 0,
        overruns: 475,
        cancelled: 0,
        requested_processors_used: 0,
        load: 1.065780055130,
        first: Battery {
            booked: 112_386_720,
            submits: 90_129_351,
            last_submit: 184_239,
            numbers: (8_486, 9_485),
        },
        last: Battery {
            booked: 120_176_520,
            submits: 136_512_484,
            last_submit: 260_492,
            numbers: (27_491, 28_490),
        },
    },
];

fn folder(test: &str) -> Option<TraceFolder> {
    let path = std::env::var_os(TraceFolder::VARIABLE);
    if path.is_none() {
        println!("skipped: {test} needs the folder of traces that BOOKAHEAD_TRACES names");
    }
    path.map(TraceFolder::new)
}

fn settings(log: &Log, compression: Compression) -> WorkloadSettings {
    WorkloadSettings {
        evaluation_jobs: 20_000,
        battery_jobs: 1_000,
        compression,
        ..WorkloadSettings::of(
            WorkloadSource::Trace {
                file: log.file.to_owned(),
            },
            Nodes(log.nodes),
        )
    }
}

#[test]
fn every_log_has_the_usable_jobs_and_batteries_of_the_independent_program() {
    let Some(folder) =
        folder("every_log_has_the_usable_jobs_and_batteries_of_the_independent_program")
    else {
        return;
    };
    for log in &LOGS {
        let factor = log.factor;
        let settings = settings(log, Compression::Factor { factor });
        let workload = prepare(&settings, &folder, 1).unwrap();
        let report = &workload.report;
        assert_eq!(
            [
                report.records,
                report.usable,
                report.zero_runtime,
                report.missing_runtime,
                report.missing_processors,
                report.missing_estimate,
                report.kept_overruns,
                report.kept_cancelled,
                report.other_processors_field,
            ],
            [
                log.records,
                log.usable,
                log.zero_runtime,
                log.missing_runtime,
                log.missing_processors,
                log.missing_estimate,
                log.overruns,
                log.cancelled,
                log.requested_processors_used,
            ],
            "{}",
            log.file
        );
        assert_eq!(
            report.dropped().iter().map(|rule| rule.2).sum::<u64>(),
            log.records - log.usable
        );
        assert_eq!((report.wider_than_machine, report.out_of_order), (0, 0));
        assert_eq!(workload.learning.len() as u64, log.usable - 20_000);
        assert_eq!(workload.batteries.len(), 20);
        let load = workload.offered_load.unwrap();
        assert!((load - log.load).abs() < 1e-11, "{}: {load}", log.file);
        for (jobs, expected) in [
            (&workload.batteries[0], &log.first),
            (&workload.batteries[19], &log.last),
        ] {
            assert_eq!(jobs.len(), 1_000);
            assert_eq!(
                jobs.iter().map(|job| job.fee().0).sum::<i64>(),
                expected.booked
            );
            assert_eq!(
                jobs.iter().map(|job| job.submit.0).sum::<i64>(),
                expected.submits
            );
            assert_eq!(jobs[999].submit.0, expected.last_submit);
            assert_eq!(
                (jobs[0].trace_number, jobs[999].trace_number),
                expected.numbers
            );
        }
        assert!(workload.acknowledgement.is_some());
    }
}

#[test]
fn a_shared_parsed_trace_gives_the_same_workload_and_loads_scale() {
    let Some(folder) = folder("a_shared_parsed_trace_gives_the_same_workload_and_loads_scale")
    else {
        return;
    };
    let log = &LOGS[5];
    let trace = ParsedTrace::read(&folder.find(log.file).unwrap()).unwrap();
    let target = settings(log, Compression::target_load(2.0));
    let workload = prepare_parsed(&trace, &target, 1).unwrap();
    assert_eq!(workload, prepare(&target, &folder, 7).unwrap());
    assert!((workload.factors[0] - log.load / 2.0).abs() < 1e-11);
    let own = settings(log, Compression::battery_load(2.0));
    let workload = prepare_parsed(&trace, &own, 1).unwrap();
    for jobs in &workload.batteries {
        let booked: i64 = jobs.iter().map(|job| job.fee().0).sum();
        let load = booked as f64 / (f64::from(log.nodes) * jobs[999].submit.0 as f64);
        assert!((load - 2.0).abs() < 1e-3, "{load}");
    }
}

#[test]
fn the_traps_of_the_logs_are_rules() {
    let Some(folder) = folder("the_traps_of_the_logs_are_rules") else {
        return;
    };
    let read = |log: &Log| ParsedTrace::read(&folder.find(log.file).unwrap()).unwrap();
    // CTC: field 8 is always −1, so even "requested first" ends at field 5, and the header's
    // machine is 338.
    let ctc = read(&LOGS[0]);
    assert_eq!(ctc.header.max_procs(), Some(338));
    let requested = CleaningRules {
        processors: ProcessorsField::RequestedElseAllocated,
        ..CleaningRules::default()
    };
    let cleaned = clean(&ctc, &requested, Nodes(430));
    assert_eq!(cleaned.report.other_processors_field, 77_199);
    // LANL: dropping overruns leaves what stayed within its request.
    let strict = CleaningRules {
        drop_overruns: true,
        ..CleaningRules::default()
    };
    let cleaned = clean(&read(&LOGS[2]), &strict, Nodes(1_024));
    assert_eq!(cleaned.report.usable, 110_769 - 40_180);
    // SDSC SP2: status 5 is cancelled although many of these jobs ran.
    let strict = CleaningRules {
        drop_cancelled: true,
        ..CleaningRules::default()
    };
    let cleaned = clean(&read(&LOGS[4]), &strict, Nodes(128));
    assert_eq!(cleaned.report.cancelled, 10_912);
    assert_eq!(cleaned.report.usable, 53_999 - 10_912);
    // Its data usage agreement travels with the acknowledgement.
    assert!(read(&LOGS[4]).header.acknowledgement().is_some_and(|text| {
        text.contains("Victor Hazlewood")
            && text.contains("Regents of the University of California")
    }));
}

/// The committed score cards, line by line: every claim that was missed names its explanation, and
/// every explanation is used.
#[test]
fn every_missed_claim_of_the_committed_score_cards_is_explained() {
    use std::collections::BTreeSet;
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("configs/birkenheuer2012/explanations.toml"))
        .expect("the explanations");
    let known =
        bookahead_papers::findings::parse_explanations("explanations.toml", &text).expect("valid");
    let configurations: BTreeSet<String> = std::fs::read_dir(root.join("configs/birkenheuer2012"))
        .expect("a folder")
        .filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(str::to_owned))
        .collect();
    for explanation in &known {
        for name in &explanation.evidence {
            assert!(
                configurations.contains(name),
                "{}: there is no {name}.toml",
                explanation.id
            );
        }
    }
    let mut used = BTreeSet::new();
    let mut misses = 0;
    for trace in ["arminius", "ctc", "hpc2n", "lanl", "sdsc-blue", "sdsc-sp2"] {
        let path = root
            .join("reports/birkenheuer2012")
            .join(trace)
            .join("score-card.md");
        let card = std::fs::read_to_string(&path).expect("a committed score card");
        let first = card.lines().next().unwrap_or_default();
        assert!(
            first.contains(&format!(
                "bookahead reproduce birkenheuer2012 --trace {trace}"
            )),
            "{first}"
        );
        for line in card
            .lines()
            .filter(|line| line.starts_with('|') && line.contains("| no: "))
        {
            misses += 1;
            let why = line
                .trim_end_matches('|')
                .rsplit('|')
                .next()
                .unwrap_or_default()
                .trim();
            let id = why.split(['[', ']']).nth(1).unwrap_or_default();
            assert!(
                known.iter().any(|explanation| explanation.id == id),
                "{trace}: {line}"
            );
            used.insert(id.to_owned());
        }
    }
    assert!(misses > 100, "{misses}");
    let unused: Vec<&str> = known
        .iter()
        .map(|explanation| explanation.id.as_str())
        .filter(|id| !used.contains(*id))
        .collect();
    assert!(
        unused.is_empty(),
        "explanations that explain nothing: {unused:?}"
    );
}
