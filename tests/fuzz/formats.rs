//! The formats that foreign files come in: small sound examples of each, and everything that the program does with one.

use std::fs;
use std::path::Path;

use bookahead::failures::{FailureTrace, LanlTable};
use bookahead::predictions::UserIndex;
use bookahead::scheduling::stream::{
    ConservativeStream, EasyStream, StreamRequest, StreamScheduler, StreamTotals,
};
use bookahead::scheduling::{PolicySettings, simulate};
use bookahead::store::{RunSelector, Store, run_sweep};
use bookahead::sweep::{
    ContentHashes, Experiment, InputFolders, InputSources, SweepOptions, load_inputs,
};
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::swf::write_trace;
use bookahead::workload::workflows::{
    Negatives, Network, dax_text, heft::heft, parse_workflow, summarise_workflow, wf_commons_text,
};
use bookahead::workload::{
    CleaningRules, Compression, MissingEstimate, ParsedTrace, WholeTrace, WorkloadSettings,
    WorkloadSource, clean, prepare_parsed, summarise,
};

/// A format of a foreign file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Traces.
    Swf,
    /// Failures.
    Lanl,
    /// Experiments.
    Toml,
    /// Workflows of Pegasus.
    Dax,
    /// Workflows of WfCommons.
    WfCommons,
    /// SQLite files.
    Store,
}

impl Format {
    /// Every format with its name, which is also its folder in the corpus, and how many of twenty inputs are of it.
    pub const ALL: [(Self, &'static str, u64); 6] = [
        (Self::Swf, "swf", 5),
        (Self::Lanl, "lanl", 3),
        (Self::Toml, "toml", 4),
        (Self::Dax, "dax", 3),
        (Self::WfCommons, "wfcommons", 3),
        (Self::Store, "store", 2),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        let entry = Self::ALL.iter().find(|(format, _, _)| *format == self);
        entry.map_or("", |(_, name, _)| name)
    }

    /// Small sound files; `folder` is for files that have to be made.
    pub fn examples(self, folder: &Path) -> Vec<Vec<u8>> {
        let texts = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        match self {
            Self::Swf => texts(&[SWF]),
            Self::Lanl => texts(&[LANL]),
            Self::Toml => texts(&[
                include_str!("../goldens/experiments/overbooking.toml"),
                include_str!("../goldens/experiments/co-reservation.toml"),
                include_str!("../goldens/experiments/provisioning-advertised.toml"),
                include_str!("../goldens/experiments/provisioning-sites.toml"),
                include_str!("../goldens/experiments/reservations.toml"),
                include_str!("../goldens/experiments/slots.toml"),
                include_str!("../goldens/experiments/virtual-reservations.toml"),
                include_str!("../../configs/quickstart.toml"),
            ]),
            Self::Dax => texts(&[DAX]),
            Self::WfCommons => {
                let made = parse_workflow(DAX, "dax", "dax", Negatives::Zero).expect("a workflow");
                vec![wf_commons_text(&made.workflow).into_bytes()]
            }
            Self::Store => vec![fs::read(small_store(folder)).expect("a store")],
        }
    }

    /// Does with a file what the program does with it. Errors are what is expected; a panic is not.
    pub fn consume(self, bytes: &[u8], folder: &Path) {
        match self {
            Self::Swf => {
                let path = folder.join("input.swf");
                fs::write(&path, bytes).expect("a writable folder");
                consume_trace(&path, folder);
            }
            Self::Lanl => {
                for systems in [&[5][..], &[7, 5]] {
                    match LanlTable::parse(bytes, Path::new("input.csv"), systems) {
                        Ok(table) => {
                            discard(table.rates());
                            let month = Seconds::HOUR * (24 * 30);
                            for offset in [Seconds(0), Seconds::HOUR * -7, month] {
                                discard(table.trace(Nodes(100), offset, month));
                            }
                        }
                        Err(error) => discard(error.to_string()),
                    }
                }
            }
            Self::Toml => consume_experiment(&String::from_utf8_lossy(bytes)),
            Self::Dax | Self::WfCommons => {
                let text = String::from_utf8_lossy(bytes);
                for negatives in [Negatives::Zero, Negatives::Refuse] {
                    match parse_workflow(&text, "input", "input", negatives) {
                        Ok(read) => {
                            let (workflow, network) = (&read.workflow, Network::default());
                            discard(summarise_workflow(workflow, &network));
                            discard(dax_text(workflow));
                            discard(wf_commons_text(workflow));
                            discard(heft(workflow, 3, &network));
                        }
                        Err(error) => discard(error.to_string()),
                    }
                }
            }
            Self::Store => {
                let path = folder.join("input.db");
                fs::write(&path, bytes).expect("a writable folder");
                consume_store(&path, folder);
            }
        }
    }
}

const SWF: &str = "\
; Version: 2.2
; Computer: A machine
; MaxProcs: 16
; UnixStartTime: 790000000
1 0 5 50 4 1.5 -1 4 100 -1 1 1 1 1 1 -1 -1 -1
2 10 -1 60 16 -1 -1 16 60 -1 1 2 1 1 1 -1 -1 -1
3 10 0 80 1 -1 -1 -1 80 -1 1 1 1 1 1 -1 -1 -1
4 40 -1 10 -1 -1 -1 9 20 -1 5 3 1 2 1 -1 2 10
5 700 -1 3600 8 -1 -1 8 7200 -1 0 1 1 1 1 -1 -1 -1
6 701 -1 0 8 -1 -1 8 7200 -1 1 1 1 1 1 -1 -1 -1
7 900 -1 30 2 -1 -1 2 -1 -1 1 1 1 1 1 -1 -1 -1
8 950 -1 300 2 -1 -1 2 250 -1 1 2 1 1 1 -1 -1 -1
9 990 -1 33 3 -1 -1 3 40 -1 1 2 1 1 1 -1 -1 -1
10 1200 -1 31 3 -1 -1 3 40 -1 1 2 1 1 1 -1 -1 -1
";

const LANL: &str = "\
System,machine type,nodes,nodenumz,Prob Started,Prob Fixed,Down Time
5,cluster,3,0,2/28/2004 22:00,2/28/2004 22:10,10
5,cluster,3,1,2/28/2004 23:00,3/1/2004 2:00,1620
5,cluster,3,0,2/29/2004 22:00,2/29/2004 22:05,5
7,cluster,2,1,1/1/2005 0:00,1/1/2005 0:30,30
7,cluster,2,0,,1/1/2005 0:00,
";

const DAX: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" name="small" jobCount="4">
  <job id="ID00000" namespace="s" name="first" version="1.0" runtime="13.59">
    <uses file="in.dat" link="input" size="4222080"/>
    <uses file="a.dat" link="output" size="4222081"/>
  </job>
  <job id="ID00001" name="left" runtime="7">
    <uses file="a.dat" link="input" size="4222081"/>
    <uses file="b.dat" link="output" size="10"/>
  </job>
  <job id="ID00002" name="right" runtime="0">
    <uses file="a.dat" link="input" size="4222081"/>
    <uses file="c.dat" link="output" size="0"/>
  </job>
  <job id="ID00003" name="last" runtime="1e2">
    <uses file="b.dat" link="input" size="10"/>
    <uses file="c.dat" link="input" size="0"/>
  </job>
  <child ref="ID00001"><parent ref="ID00000"/></child>
  <child ref="ID00002"><parent ref="ID00000"/></child>
  <child ref="ID00003"><parent ref="ID00001"/><parent ref="ID00002"/></child>
</adag>
"#;

/// What comes out is of no interest, only that it does.
fn discard<T>(_: T) {}

/// Traces with more records are parsed and nothing else: a simulation may take as long as it has jobs.
const MOST_RECORDS: usize = 1_000;

fn consume_trace(path: &Path, folder: &Path) {
    let trace = match ParsedTrace::read(path) {
        Ok(trace) => trace,
        Err(error) => return discard(error.to_string()),
    };
    discard(trace.header.acknowledgement());
    if trace.records.len() > MOST_RECORDS {
        return;
    }
    let machine = Nodes(trace.header.max_procs().unwrap_or(16).clamp(1, 10_000_000));
    let rules = CleaningRules {
        missing_estimate: MissingEstimate::Runtime,
        drop_zero_runtime: false,
        ..CleaningRules::default()
    };
    let cleaned = clean(&trace, &rules, machine);
    discard(serde_json::to_string(&summarise(&trace, &cleaned, machine)));
    write_trace(&folder.join("copy.swf"), &trace.header, &trace.records).expect("a copy");
    let mut settings = WorkloadSettings {
        source: WorkloadSource::Trace {
            file: "input.swf".to_owned(),
        },
        nodes: machine,
        evaluation_jobs: 4,
        battery_jobs: 2,
        cleaning: rules,
        compression: Compression::Factor { factor: 0.5 },
        laxity: 2.0,
        whole: None,
    };
    for compression in [
        settings.compression,
        Compression::TargetLoad { load: 2.0 },
        Compression::BatteryLoad { load: 0.1 },
    ] {
        settings.compression = compression;
        let Ok(workload) = prepare_parsed(&trace, &settings, 1) else {
            continue;
        };
        let planning = PolicySettings {
            strategy: "heuristic-planning".to_owned(),
            ..PolicySettings::default()
        };
        for battery in &workload.batteries {
            discard(simulate(
                machine,
                &planning,
                None,
                battery,
                &FailureTrace::default(),
            ));
        }
    }
    settings.whole = Some(WholeTrace::default());
    discard(prepare_parsed(&trace, &settings, 1));
    let requests = cleaned.jobs.iter().filter(|job| job.nodes <= machine);
    let requests: Vec<StreamRequest> = (0..)
        .zip(requests)
        .map(|(index, job)| StreamRequest {
            index,
            submit: job.submit,
            nodes: job.nodes,
            user: UserIndex(0),
            estimate: job.estimate,
            runtime: job.runtime.min(job.estimate).max(Seconds(1)),
        })
        .collect();
    schedule(EasyStream::new(machine), &requests);
    schedule(ConservativeStream::new(machine), &requests);
}

fn schedule(mut engine: impl StreamScheduler, requests: &[StreamRequest]) {
    let mut totals = StreamTotals::default();
    for request in requests {
        engine.submit(*request, &mut totals);
    }
    engine.finish(&mut totals);
}

fn consume_experiment(text: &str) {
    let mut sweep = match Experiment::parse("input.toml", text, None) {
        Ok(experiment) => {
            for warning in &experiment.warnings {
                discard(warning.render(false));
            }
            experiment.sweep
        }
        Err(error) => {
            for problem in error.problems() {
                discard(problem.render(false));
            }
            return;
        }
    };
    let no_content = || ContentHashes {
        workload: String::new(),
        failures: None,
        sites: Vec::new(),
        workflow: None,
    };
    let _ = sweep.identify(|_| Ok::<_, std::convert::Infallible>(no_content()));
    let is_small = |source: &WorkloadSource| match source {
        WorkloadSource::Trace { .. } => true,
        WorkloadSource::LublinFeitelson { jobs }
        | WorkloadSource::UniformRatio { jobs }
        | WorkloadSource::Arminius { jobs } => *jobs <= 5_000,
    };
    if sweep.simulations.len() <= 40
        && (sweep.simulations.iter()).all(|simulation| is_small(&simulation.workload.source))
    {
        let options = SweepOptions {
            workers: 1,
            quiet: true,
            folders: InputFolders::default(),
            ..SweepOptions::new("input.db".into())
        };
        let sources = InputSources::new(&options.folders);
        if let Err(error) = load_inputs(&mut sweep, sources, &options) {
            discard(error.to_string());
        }
    }
}

/// One store in so many becomes a report, which takes longer than everything else.
const REPORT_EVERY: u64 = 20;

fn consume_store(path: &Path, folder: &Path) {
    let store = match Store::open_read_only(path) {
        Ok(store) => store,
        Err(error) => return discard(error.to_string()),
    };
    discard(store.runs());
    let Ok(run) = store.run(&RunSelector::Latest) else {
        return;
    };
    discard(store.points(run.id));
    discard(store.measured_points(run.id));
    discard(store.failed_points(run.id));
    discard(store.missing_points(run.id, 1_000));
    discard(store.calibration(run.id));
    discard(store.simulator_times(run.id));
    discard(store.record_losses(run.id));
    discard(store.inputs_digest(run.id));
    discard(store.place(run.id, 0));
    for question in [
        "SELECT * FROM v_point",
        "SELECT * FROM v_run",
        "SELECT * FROM v_job_outcome LIMIT 10",
    ] {
        discard(store.query(question, &mut |_| Ok(()), &mut |_| Ok(true)));
    }
    let sum = fs::read(path).map_or(0, |bytes| {
        bytes.iter().fold(0_u64, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
        })
    });
    if sum.is_multiple_of(REPORT_EVERY) {
        let out = folder.join("report");
        discard(bookahead::report::write(path, &RunSelector::Latest, &out));
    }
}

fn small_store(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("example.db");
    let text = include_str!("../goldens/experiments/overbooking.toml")
        .replace("jobs = 4000", "jobs = 60")
        .replace("battery_jobs = 400", "battery_jobs = 10")
        .replace("replications = 4", "replications = 2");
    let sweep = Experiment::parse("small.toml", &text, None)
        .expect("a sound experiment")
        .sweep;
    let options = SweepOptions {
        workers: 1,
        quiet: true,
        folders: InputFolders::default(),
        ..SweepOptions::new(path.clone())
    };
    run_sweep(sweep, &options).expect("a sweep");
    path
}
