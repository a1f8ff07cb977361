//! Small files with many records, and models that are asked for many: an error with the count and
//! the remedy, at the memory that was allowed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;

use crate::support::program::{folder, output, program, text};

mod tables;

/// Kilobytes of address space in which the program runs, but that hold no million records beside
/// it.
const ROOM: u32 = 300_000;

const RECORD: &str = "1 0 5 50 4 1.5 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n";

/// Writes a log of that many equal records, packed as the ending of its name says.
fn bomb(path: &Path, records: usize) {
    let file = fs::File::create(path).expect("a file in a new folder");
    let mut packed: Box<dyn Write> = match path.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => Box::new(GzEncoder::new(file, flate2::Compression::best())),
        Some("xz") => Box::new(XzEncoder::new(file, 1)),
        _ => panic!("{path:?} is not packed"),
    };
    let mut write = |text: &str| {
        packed
            .write_all(text.as_bytes())
            .expect("a file in a new folder");
    };
    write("; MaxProcs: 64\n");
    let block = RECORD.repeat(1 << 12);
    for _ in 0..records >> 12 {
        write(&block);
    }
}

/// A command in an address space of so many kilobytes.
fn limited(command: Command, kilobytes: u32) -> Command {
    let mut limited = Command::new("sh");
    limited
        .current_dir(command.get_current_dir().expect("a folder"))
        .args([
            "-c",
            &format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\""),
        ])
        .arg(command.get_program())
        .args(command.get_args());
    limited
}

/// What a command says that ends with code 2.
fn refusal_of(command: Command) -> String {
    let what = format!("{command:?}");
    let output = output(command);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {said}");
    assert!(output.stdout.is_empty(), "{what}");
    said
}

fn refusal(place: &Path, arguments: &[&str]) -> String {
    refusal_of(program(place, arguments))
}

#[test]
fn a_packed_log_of_more_records_than_the_budget_holds_is_refused_by_every_command_that_keeps_them()
{
    let place = folder();
    for bomb_file in ["bomb.swf.gz", "bomb.swf.xz"] {
        bomb(&place.path().join(bomb_file), 200_000);
        for arguments in [
            &["trace", "estimates", bomb_file][..],
            &[
                "trace",
                "export",
                bomb_file,
                "--out",
                "out.json",
                "--format",
                "batsim-json",
            ],
            &["simulate", bomb_file, "--policy", "fcfs"],
            &["simulate", bomb_file, "--policy", "easy-backfilling"],
            &["simulate", bomb_file, "--policy", "heuristic-planning"],
            &["advise", bomb_file, "--quiet"],
        ] {
            let said = refusal(place.path(), &[arguments, &["--memory", "20MB"]].concat());
            for part in ["memory budget of 20MB", "--memory"] {
                assert!(said.contains(part), "{arguments:?}: {said}");
            }
            assert!(
                !place.path().join("out.json").exists(),
                "{arguments:?} wrote a file"
            );
        }
    }
    let whole = output(program(
        place.path(),
        &["trace", "estimates", "bomb.swf.gz", "--memory", "500MB"],
    ));
    assert!(whole.status.success(), "{}", text(&whole.stderr));
}

/// So many records take 86 MB as they are, and as much again while their list grows; the program
/// itself needs the rest of the address space.
#[test]
fn what_needs_one_job_after_the_other_reads_a_log_of_any_length_at_constant_memory() {
    let place = folder();
    bomb(&place.path().join("bomb.swf.gz"), 600_000);
    bomb(&place.path().join("bomb.swf.xz"), 600_000);
    for arguments in [
        &["trace", "info", "bomb.swf.gz"][..],
        &["trace", "info", "bomb.swf.xz"],
        &["trace", "convert", "bomb.swf.xz", "out.swf.gz"],
        &[
            "trace",
            "convert",
            "bomb.swf.gz",
            "out.swf.gz",
            "--last",
            "500000",
            "--compression",
            "2",
        ],
        &[
            "trace",
            "export",
            "bomb.swf.gz",
            "--format",
            "swf",
            "--out",
            "out.swf.gz",
        ],
    ] {
        let arguments = [arguments, &["--memory", "1MB"]].concat();
        let ended = output(limited(program(place.path(), &arguments), ROOM));
        assert!(
            ended.status.success(),
            "{arguments:?}: {}",
            text(&ended.stderr)
        );
    }
}

#[test]
fn values_that_trace_info_counts_are_refused_where_they_have_no_room() {
    let place = folder();
    let records: String = (1..=40_000)
        .map(|job| format!("{job} {job} 5 {job} 4 1.5 -1 4 90000 -1 1 1 1 1 1 -1 -1 -1\n"))
        .collect();
    fs::write(place.path().join("many.swf"), records).unwrap();
    let info = ["trace", "info", "many.swf"];
    let said = refusal(place.path(), &[&info[..], &["--memory", "1MB"]].concat());
    for part in ["different values", "memory budget of 1MB", "--memory"] {
        assert!(said.contains(part), "{said}");
    }
    let whole = output(program(place.path(), &info));
    assert!(whole.status.success(), "{}", text(&whole.stderr));
}

#[test]
fn a_model_that_is_asked_for_a_billion_jobs_says_at_once_that_they_have_no_room() {
    let place = folder();
    for model in ["lublin-feitelson", "uniform-ratio", "arminius"] {
        let said = refusal(
            place.path(),
            &[
                "trace",
                "synthesize",
                "--model",
                model,
                "--jobs",
                "1000000000",
                "out.swf",
                "--memory",
                "4GB",
            ],
        );
        assert!(said.contains("1000000000 jobs take"), "{said}");
        assert!(!place.path().join("out.swf").exists());
    }
}

#[test]
fn an_experiment_with_more_jobs_than_the_budget_holds_ends_before_it_simulates() {
    let place = folder();
    let starter = output(program(place.path(), &["init", "easy-backfilling"]));
    let experiment = text(&starter.stdout);
    let jobs: Vec<&str> = (experiment.lines())
        .filter(|line| line.starts_with("jobs = "))
        .collect();
    let [jobs] = jobs[..] else {
        panic!("the starter has one number of jobs:\n{experiment}");
    };
    fs::write(
        place.path().join("many.toml"),
        experiment.replace(jobs, "jobs = 10000000"),
    )
    .unwrap();
    for command in ["run", "check"] {
        let said = refusal(place.path(), &[command, "many.toml", "--memory", "100MB"]);
        for part in ["10000000 jobs take", "memory budget of 100MB"] {
            assert!(said.contains(part), "{command}: {said}");
        }
    }
}

#[test]
fn a_log_of_another_program_with_more_jobs_than_the_budget_holds_is_refused() {
    let place = folder();
    let heading = "JobIDRaw|Submit|Start|End|ElapsedRaw|NCPUS|NNodes|State|User|TimelimitRaw\n";
    let rows: String = (1..20_000)
        .map(|number| format!("{number}|1000|1010|1060|50|4|1|COMPLETED|ada{number}|10\n"))
        .collect();
    fs::write(place.path().join("jobs.txt"), heading.to_owned() + &rows).unwrap();
    let import = ["trace", "import", "jobs.txt", "--out", "jobs.swf"];
    let said = refusal(place.path(), &[&import[..], &["--memory", "1MB"]].concat());
    for part in ["jobs take", "memory budget of", "--memory"] {
        assert!(said.contains(part), "{said}");
    }
    let whole = output(program(place.path(), &import));
    assert!(whole.status.success(), "{}", text(&whole.stderr));
}

#[test]
fn tables_and_workflows_that_the_budget_cannot_hold_unpacked_are_refused() {
    let place = folder();
    let blanks = " ".repeat(1 << 20);
    for (name, arguments) in [
        ("table.csv", &["trace", "failures", "table.csv"][..]),
        ("w.json", &["workflow", "info", "w.json"]),
        (
            "w.batsim",
            &[
                "trace",
                "import",
                "w.batsim",
                "--format",
                "batsim-json",
                "--out",
                "out.swf",
            ],
        ),
    ] {
        fs::write(place.path().join(name), &blanks).unwrap();
        let said = refusal(place.path(), &[arguments, &["--memory", "1MB"]].concat());
        assert!(said.contains("--memory"), "{said}");
    }
}

#[test]
fn a_limited_address_space_lowers_the_budget_so_that_a_bomb_ends_in_an_error() {
    let place = folder();
    bomb(&place.path().join("bomb.swf.gz"), 2_000_000);
    // Threads and the program itself need address space, too.
    let estimates = program(place.path(), &["trace", "estimates", "bomb.swf.gz"]);
    let said = refusal_of(limited(estimates, 1_000_000));
    assert!(said.contains("memory budget of 512MB"), "{said}");
}
