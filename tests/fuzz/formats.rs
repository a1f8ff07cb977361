//! The formats that foreign files come in: small sound examples of each, and everything that the
//! program does with one.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use clap::Parser;

use bookahead::cli::trace::{TraceArguments, answer};
use bookahead::failures::{FailureTrace, LanlTable};
use bookahead::predictions::UserIndex;
use bookahead::report::ReportExtras;
use bookahead::scheduling::PolicySpec;
use bookahead::scheduling::stream::{
    ConservativeStream, EasyStream, StreamRequest, StreamScheduler, StreamTotals,
};
use bookahead::store::{RunSelector, Store, run_sweep};
use bookahead::studies::{STUDIES, VIEWS};
use bookahead::sweep::{
    ContentHashes, Experiment, InputFolders, InputSources, SweepOptions, load_inputs,
};
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::swf::{SwfRecord, write_trace};
use bookahead::workload::workflows::{
    Negatives, Network, dax_text, heft::heft, parse_workflow, summarise_workflow, wf_commons_text,
};
use bookahead::workload::{
    CleaningRules, Compression, JobStream, MissingEstimate, ParsedTrace, TraceFile, TraceFolder,
    WholeTrace, WorkloadSettings, WorkloadSource, clean, prepare_parsed, summarise,
};
use bookahead_core::memory::MemoryBudget;
use bookahead_overbooking::simulate;
use bookahead_queues::machine_queue::machines::slurm::Includes;
use bookahead_queues::machine_queue::machines::{MachineDescription, MachineError, TraceNames};
use bookahead_queues::machine_queue::{MachineQueueJob, simulate_machine_queue};
use bookahead_report::ReportError;

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
    /// Accounting of Slurm.
    Sacct,
    /// Tables with a mapping.
    Csv,
    /// Tables with a mapping.
    Parquet,
    /// Workloads of Batsim.
    Batsim,
    /// Machine files.
    Machine,
    /// Configurations of Slurm.
    SlurmConf,
    /// Mappings of tables.
    Mapping,
    /// Lists of the files of a report's folder.
    Files,
}

impl Format {
    /// Every format with its name, which is also its folder in the corpus, and how many of 30
    /// inputs are of it.
    pub const ALL: [(Self, &'static str, u64); 14] = [
        (Self::Swf, "swf", 5),
        (Self::Lanl, "lanl", 3),
        (Self::Toml, "toml", 4),
        (Self::Dax, "dax", 3),
        (Self::WfCommons, "wfcommons", 3),
        (Self::Store, "store", 2),
        (Self::Sacct, "sacct", 3),
        (Self::Csv, "csv", 1),
        (Self::Parquet, "parquet", 1),
        (Self::Batsim, "batsim", 1),
        (Self::Machine, "machine", 1),
        (Self::SlurmConf, "slurmconf", 1),
        (Self::Mapping, "mapping", 1),
        (Self::Files, "files", 1),
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
            Self::Sacct => vec![SACCT.to_vec(), LOCAL_SACCT.as_bytes().to_vec()],
            Self::Csv => texts(&[TABLE]),
            Self::Parquet => vec![table_as_parquet()],
            Self::Batsim => texts(&[BATSIM]),
            Self::Machine => texts(&[
                include_str!("../../configs/machines/sdsc-blue.toml"),
                MACHINE,
            ]),
            Self::SlurmConf => texts(&[include_str!(
                "../../src/studies/queues/machine_queue/machines/tests/slurm.conf"
            )]),
            Self::Mapping => texts(&[
                include_str!("../../src/cli/trace/import/mappings/nrel-eagle.toml"),
                include_str!("../../src/cli/trace/import/mappings/mit-supercloud.toml"),
            ]),
            Self::Files => {
                let out = report_of_small_store(folder).expect("a report");
                let list = fs::read(out.join(FILES)).expect("a list of files");
                let others =
                    b"../outside/kept\ntables/../../outside/kept\nplots\nnotes.txt\n.files\n";
                vec![list.clone(), [&list[..], others].concat()]
            }
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
            Self::Sacct => consume_import(bytes, folder, "jobs.txt", &["--zone", "Europe/Berlin"]),
            Self::Csv => consume_import(bytes, folder, "jobs.csv", &["--mapping", "nrel-eagle"]),
            Self::Parquet => {
                consume_import(bytes, folder, "jobs.parquet", &["--mapping", "pm100"]);
            }
            Self::Batsim => {
                consume_import(bytes, folder, "jobs.json", &["--format", "batsim-json"])
            }
            Self::Machine => {
                if let Ok(text) = std::str::from_utf8(bytes) {
                    consume_machine(MachineDescription::parse("input.toml", text));
                }
            }
            Self::SlurmConf => {
                let path = folder.join("input.conf");
                fs::write(&path, bytes).expect("a writable folder");
                consume_machine(MachineDescription::load(&path, Includes::Below));
            }
            Self::Mapping => {
                let path = folder.join("input-mapping.toml");
                fs::write(&path, bytes).expect("a writable folder");
                let path = path.to_str().expect("a temporary folder's name is a text");
                consume_import(TABLE.as_bytes(), folder, "jobs.csv", &["--mapping", path]);
            }
            Self::Files => consume_files(bytes, folder),
        }
    }
}

/// The list of the files of a report's folder, in that folder.
const FILES: &str = ".files";

/// Writes a report into a folder whose list of files is this one. What stands beside the folder
/// must stay; a name from the root is made one of a file beside the folder first, so that nothing
/// else of the machine is named.
fn consume_files(bytes: &[u8], folder: &Path) {
    if !one_in(FILES_EVERY, bytes) {
        return;
    }
    let outside = folder.join("outside");
    let kept = outside.join("kept");
    fs::create_dir_all(&outside).expect("a writable folder");
    fs::write(&kept, "kept").expect("a writable folder");
    let out = folder.join("report");
    fs::create_dir_all(&out).expect("a writable folder");
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| match line {
        [b'/', ..] => kept.as_os_str().as_encoded_bytes(),
        line => line,
    });
    let list = lines.collect::<Vec<_>>().join(&b'\n');
    fs::write(out.join(FILES), list).expect("a writable folder");
    discard(report_of_small_store(folder).map_err(|error| error.to_string()));
    assert_eq!(
        fs::read(&kept).expect("a file beside the report"),
        b"kept",
        "a report's folder reaches outside"
    );
}

/// One list of files in so many is tried: a report takes longer than everything else.
const FILES_EVERY: u64 = 8;

fn report_of_small_store(folder: &Path) -> Result<std::path::PathBuf, ReportError> {
    let mut store = folder.join("example.db");
    if !store.exists() {
        store = small_store(folder);
    }
    let out = folder.join("report");
    bookahead_report::write(
        STUDIES,
        &store,
        &RunSelector::Latest,
        &out,
        &ReportExtras::of(VIEWS),
    )
    .map(|_| out)
}

/// Whether an input is one of those of which one in so many is taken.
fn one_in(every: u64, bytes: &[u8]) -> bool {
    let sum = bytes.iter().fold(0_u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
    });
    sum.is_multiple_of(every)
}

/// Runs the jobs of the small trace on a machine.
fn consume_machine(machine: Result<MachineDescription, MachineError>) {
    let description = match machine {
        Ok(description) => description,
        Err(error) => return discard(error.to_string()),
    };
    let records: Vec<_> = (SWF.lines().filter(|line| !line.starts_with(';')))
        .map(|line| {
            let fields: Vec<i64> = (line.split(' '))
                .map(|field| field.parse().unwrap_or(-1))
                .collect();
            SwfRecord {
                job_number: fields[0],
                submit: fields[1],
                run: fields[3],
                allocated_processors: fields[4],
                requested_processors: fields[7],
                requested_time: fields[8],
                user: fields[11],
                queue: fields[14],
                ..SwfRecord::MISSING
            }
        })
        .collect();
    let names = TraceNames::default();
    let placement = description.placement(&names);
    let rules = CleaningRules {
        missing_estimate: MissingEstimate::Runtime,
        ..CleaningRules::default()
    };
    let jobs: Arc<[MachineQueueJob]> = JobStream::new(records.iter().copied().map(Ok), rules)
        .filter_map(|job| {
            let job = job.expect("in order");
            let record = (records.iter()).find(|record| record.job_number == job.trace_number);
            placement.job(record?, &job).ok()
        })
        .collect();
    let Ok(machine) = description.on_the_clock_of(Some(790_000_000), &names) else {
        return;
    };
    let nodes: u64 = (machine.classes.iter())
        .map(|class| u64::from(class.nodes.0))
        .sum();
    // A simulation may take as long as it has nodes and windows.
    if nodes <= 10_000 && machine.windows.len() <= 1_000 {
        discard(simulate_machine_queue(&machine.into(), &jobs));
    }
}

const MACHINE: &str = r#"
name = "small"
zone = "Europe/Berlin"
backfilling = { depth = "all", tested = 3, interval_seconds = 30 }
priority = { age = 10, fair_share = 5, holder = "account", half_life_hours = 1, size = 1, partition = 2, qos = 3 }
[[class]]
name = "thin"
nodes = 6
cores = 4
memory_megabytes = 100
[[class]]
name = "fat"
nodes = 2
cores = 8
gpus = 1
[[partition]]
name = "short"
sharing = "shared"
tier = 3
longest_hours = 0.5
widest_nodes = 2
queues = [1]
[[partition]]
name = "long"
classes = ["thin"]
default = true
default_request_hours = 1
[[qos]]
name = "high"
priority_factor = 0.5
queues = [1]
per_user = { running_jobs = 1, nodes = 4, cores = 8, submitted_jobs = 2 }
[[account]]
name = "physics"
shares = 3
groups = [1]
in_all = { cores = 16 }
[[window]]
name = "work"
begin = 1995-01-13T00:00:00
length_hours = 2
repeats = "daily"
until = 1995-01-20
users = [2]
nodes = { thin = 2 }
"#;

#[derive(Parser)]
struct Trace {
    #[command(flatten)]
    trace: TraceArguments,
}

/// Imports a log, and writes the trace for Batsim.
fn consume_import(bytes: &[u8], folder: &Path, name: &str, more: &[&str]) {
    let path = folder.join(name);
    fs::write(&path, bytes).expect("a writable folder");
    let trace = folder.join("imported.swf");
    let call = |arguments: &[&OsStr]| {
        let program = Trace::try_parse_from([&[OsStr::new("trace")], arguments].concat());
        answer(
            &program.expect("sound arguments").trace,
            &TraceFolder::default(),
        )
    };
    let [trace, out] = [trace.as_os_str(), OsStr::new("--out")];
    let more: Vec<&OsStr> = more.iter().map(OsStr::new).collect();
    let import = [
        &[OsStr::new("import"), path.as_os_str(), out, trace],
        &more[..],
    ]
    .concat();
    if let Err(error) = call(&import) {
        return discard(error);
    }
    let written = folder.join("exported.json");
    call(&[
        OsStr::new("export"),
        trace,
        OsStr::new("--format"),
        OsStr::new("batsim-json"),
        out,
        written.as_os_str(),
    ])
    .expect("what was imported can be written");
}

const SACCT: &[u8] = include_bytes!("../importing/jobs.txt");

const LOCAL_SACCT: &str = "\
JobID|User|Partition|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|NCPUS|State|Restarts
7_1|ada|batch|2024-10-27T01:50:00|2024-10-27T01:50:00|2024-10-27T02:10:00|2024-10-27T02:30:00|00:20:00|1-00:00:00|2|64|COMPLETED|0
7_[2-9%3]|ada|batch|2024-10-27T01:50:00|2024-10-27T01:50:00|None|2024-10-27T02:30:00|00:00:00|Partition_Limit|1|1|CANCELLED by 5|0
8+0|bob|debug|2024-03-31T01:50:00|2024-03-31T02:10:00|2024-03-31T03:10:00|2024-03-31T04:00:00|00:50:00|UNLIMITED|1|32|NODE_FAIL|1
8+0|bob|debug|2024-03-31T04:00:00|2024-03-31T04:02:00|2024-03-31T05:10:00|2024-03-31T06:00:00|00:50:00|30:00|1|32|TIMEOUT|1
8.batch|bob|debug|Unknown|Unknown|None|None|00:50:00||1|32|COMPLETED|0
";

const TABLE: &str = "\
job_id,user,account,partition,qos,wallclock_req,nodes_req,submit_time,start_time,end_time,run_time,state
5,user1,account1,p,normal,7200.0,2,2019-01-01 09:00:00,2019-01-01 09:00:10,2019-01-01 10:00:10,3600.0,COMPLETED
6,user2,\"account, 1\",p,normal,7200.5,1,2019-01-01 09:30:00,,,,PENDING
7,user2,account1,p,normal,600.0,1,2019-03-10 02:30:00.5,2019-01-01 09:40:00,2019-01-01 09:50:00Z,600.0,TIMEOUT
";

const BATSIM: &str = r#"{"nb_res": 4, "description": "; MaxProcs: 4\n; Note: x", "jobs": [
 {"id": "w!12", "subtime": 10.5, "walltime": 100.2, "res": 4, "profile": "a", "extra_data": "{\"wait\":5,\"user\":3,\"used_memory\":1.5}"},
 {"id": 2, "subtime": 0, "res": 1, "profile": "b"},
 {"id": 3, "subtime": 7, "walltime": -1, "res": 2, "profile": "c"}],
 "profiles": {"a": {"type": "delay", "delay": 20.25}, "b": {"type": "parallel_homogeneous", "cpu": 1e6, "com": 0},
 "c": {"type": "DelayProfile", "delay": 60}}}"#;

/// Two jobs in the layout of PM100.
pub fn table_as_parquet() -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
    let names = [
        "submit_time",
        "start_time",
        "end_time",
        "job_id",
        "run_time",
        "time_limit",
        "num_nodes_alloc",
        "num_nodes_req",
    ];
    let texts = ["user_id", "group_id", "qos", "partition", "job_state"];
    let mut schema = "message jobs {\n".to_owned();
    for (place, name) in names.iter().enumerate() {
        let note = if place < 3 {
            " (TIMESTAMP(MICROS,true))"
        } else {
            ""
        };
        schema += &format!("optional int64 {name}{note};\n");
    }
    for name in texts {
        schema += &format!("optional binary {name} (UTF8);\n");
    }
    let schema = parquet::schema::parser::parse_message_type(&(schema + "}")).expect("a schema");
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .build();
    let mut bytes = Vec::new();
    let mut file = parquet::file::writer::SerializedFileWriter::new(
        &mut bytes,
        schema.into(),
        properties.into(),
    )
    .expect("a writer");
    let mut group = file.next_row_group().expect("a group");
    let mut place = 0;
    while let Some(mut column) = group.next_column().expect("a column") {
        if place < names.len() {
            let factor = if place < 3 { 1_000_000 } else { 1 };
            let first = [
                1_600_000_000,
                1_600_000_100,
                1_600_003_700,
                5,
                3_600,
                120,
                2,
                2,
            ][place];
            let values = [first * factor, (first + 1) * factor];
            column
                .typed::<Int64Type>()
                .write_batch(&values, Some(&[1, 1]), None)
                .expect("values");
        } else {
            let words = if place == 12 {
                ["COMPLETED", "CANCELLED by 7"]
            } else {
                ["a", "b"]
            };
            let values = words.map(ByteArray::from);
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, Some(&[1, 1]), None)
                .expect("values");
        }
        column.close().expect("a column");
        place += 1;
    }
    group.close().expect("a group");
    file.close().expect("a file");
    bytes
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

/// Traces with more records are parsed and nothing else: a simulation may take as long as it has
/// jobs.
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
    let file = TraceFile::read(path, MemoryBudget::UNLIMITED).expect("read before");
    let summary = summarise(&file, rules, machine, MemoryBudget::UNLIMITED).expect("read before");
    assert_eq!(summary.cleaning, cleaned.report);
    discard(serde_json::to_string(&summary));
    write_trace(&folder.join("copy.swf"), &trace.header, &trace.records).expect("a copy");
    let mut settings = WorkloadSettings {
        evaluation_jobs: 4,
        battery_jobs: 2,
        cleaning: rules,
        compression: Compression::Factor { factor: 0.5 },
        ..WorkloadSettings::of(
            WorkloadSource::Trace {
                file: "input.swf".to_owned(),
            },
            machine,
        )
    };
    for compression in [
        settings.compression,
        Compression::target_load(2.0),
        Compression::battery_load(0.1),
    ] {
        settings.compression = compression;
        let Ok(workload) = prepare_parsed(&trace, &settings, 1) else {
            continue;
        };
        let planning = PolicySpec::named("heuristic-planning");
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
    let mut sweep = match Experiment::parse(STUDIES, "input.toml", text, None) {
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
        ..Default::default()
    };
    let _ = sweep.identify(|specs| {
        Ok::<_, std::convert::Infallible>(specs.iter().map(|_| no_content()).collect())
    });
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
            ..SweepOptions::new(STUDIES, "input.db".into())
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
    let store = match Store::open_read_only(STUDIES, path) {
        Ok(store) => store,
        Err(error) => return discard(error.to_string()),
    };
    discard(store.verify().map_err(|error| error.to_string()));
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
    discard(store.verify_run(run.id).map_err(|error| error.to_string()));
    if one_in(REPORT_EVERY, &fs::read(path).unwrap_or_default()) {
        let out = folder.join("report");
        discard(bookahead_report::write(
            STUDIES,
            path,
            &RunSelector::Latest,
            &out,
            &ReportExtras::of(VIEWS),
        ));
    }
}

fn small_store(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("example.db");
    let text = include_str!("../goldens/experiments/overbooking.toml")
        .replace("jobs = 4000", "jobs = 60")
        .replace("battery_jobs = 400", "battery_jobs = 10")
        .replace("replications = 4", "replications = 2");
    let sweep = Experiment::parse(STUDIES, "small.toml", &text, None)
        .expect("a sound experiment")
        .sweep;
    let options = SweepOptions {
        workers: 1,
        quiet: true,
        folders: InputFolders::default(),
        ..SweepOptions::new(STUDIES, path.clone())
    };
    run_sweep(sweep, &options).expect("a sweep");
    path
}
