//! Small files with many records, and models that are asked for many: an error with the count and the remedy, at the memory that was
//! allowed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::support::program::{folder, output, program, text};

const RECORD: &str = "1 0 5 50 4 1.5 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n";

/// Writes a packed log of that many equal records.
fn bomb(path: &Path, records: usize) {
    let file = fs::File::create(path).expect("a file in a new folder");
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::best());
    packed
        .write_all(b"; MaxProcs: 64\n")
        .expect("a file in a new folder");
    let block = RECORD.repeat(1 << 12);
    for _ in 0..records >> 12 {
        packed
            .write_all(block.as_bytes())
            .expect("a file in a new folder");
    }
    packed.finish().expect("a file in a new folder");
}

/// What a command says that ends with code 2.
fn refusal(place: &Path, arguments: &[&str]) -> String {
    let output = output(program(place, arguments));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    said
}

#[test]
fn a_packed_log_of_more_records_than_the_budget_holds_is_refused_by_every_command_that_keeps_them()
{
    let place = folder();
    bomb(&place.path().join("bomb.swf.gz"), 200_000);
    for arguments in [
        &["trace", "info", "bomb.swf.gz"][..],
        &["trace", "estimates", "bomb.swf.gz"],
        &["trace", "convert", "bomb.swf.gz", "out.swf"],
        &[
            "trace",
            "export",
            "bomb.swf.gz",
            "--out",
            "out.swf",
            "--format",
            "swf",
        ],
        &["simulate", "bomb.swf.gz", "--policy", "fcfs"],
        &["simulate", "bomb.swf.gz", "--policy", "easy-backfilling"],
        &["simulate", "bomb.swf.gz", "--policy", "heuristic-planning"],
        &["advise", "bomb.swf.gz", "--quiet"],
    ] {
        let said = refusal(place.path(), &[arguments, &["--memory", "20MB"]].concat());
        for part in ["memory budget of 20MB", "--memory"] {
            assert!(said.contains(part), "{arguments:?}: {said}");
        }
        assert!(
            !place.path().join("out.swf").exists(),
            "{arguments:?} wrote a file"
        );
    }
    let whole = output(program(
        place.path(),
        &["trace", "info", "bomb.swf.gz", "--memory", "500MB"],
    ));
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
    let bookahead = program(place.path(), &["trace", "info", "bomb.swf.gz"]);
    // Threads and the program itself need address space, too.
    let mut limited = Command::new("sh");
    limited
        .current_dir(place.path())
        .args(["-c", "ulimit -v 1000000 && exec \"$0\" \"$@\""])
        .arg(bookahead.get_program())
        .args(bookahead.get_args());
    let output = output(limited);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("memory budget of 512MB"), "{said}");
}
