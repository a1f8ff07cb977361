//! Where the jobs of a trace run, and for how much they ask.

use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::swf::{SwfHeader, SwfRecord};
use bookahead_core::workload::{Job, JobId, NameKind};

use super::files::{WHOLE, read};
use crate::machine_queue::machines::{TraceNames, Unplaced};
use crate::machine_queue::{AccountIndex, PartitionIndex, QualityIndex};

fn record(queue: i64, partition: i64, group: i64, requested_time: i64) -> SwfRecord {
    SwfRecord {
        job_number: 9,
        requested_time,
        user: 2,
        group,
        queue,
        partition,
        requested_memory: 1_500.0,
        ..SwfRecord::MISSING
    }
}

fn job() -> Job {
    Job::rigid(JobId(0), Seconds(5), Nodes(3), Seconds(700))
        .due_by(Seconds(5))
        .numbered(9)
        .of_user(2)
}

#[test]
fn jobs_run_where_their_queue_or_partition_is_listed_by_number_or_name() {
    let header = SwfHeader {
        lines: vec![
            "; Queue:  4  express".to_owned(),
            "; Partition: 2 batch".to_owned(),
        ],
    };
    let names = TraceNames::of_header(&header);
    assert_eq!(names.name(NameKind::Queue, 4), Some("express"));
    let placement = read(WHOLE).placement(&names);
    assert!(placement.unknown.is_empty(), "{:?}", placement.unknown);
    let place = |record: SwfRecord| {
        let job = placement.job(&record, &job()).expect("a place");
        (job.partition, job.quality, job.account)
    };
    let [first, second] = [0, 1];
    let expected = |partition, quality, account| {
        (
            PartitionIndex(partition),
            QualityIndex(quality),
            AccountIndex(account),
        )
    };
    assert_eq!(place(record(1, -1, -1, 600)), expected(first, first, first));
    assert_eq!(place(record(4, 2, 5, 600)), expected(first, first, second));
    assert_eq!(
        place(record(7, 2, 5, 600)),
        expected(second, second, second)
    );
    // Nobody lists it: the default partition, the first quality of service and account.
    assert_eq!(
        place(record(99, 99, 99, 600)),
        expected(second, first, first)
    );
}

#[test]
fn a_job_is_killed_at_its_request_and_one_without_a_request_has_that_of_its_partition() {
    let description = read(WHOLE);
    let placement = description.placement(&TraceNames::default());
    // Without a header nobody knows what these are.
    let unknown: Vec<&str> = placement
        .unknown
        .iter()
        .map(|(_, name)| name.as_str())
        .collect();
    assert_eq!(unknown, ["batch", "express"]);
    let killed = placement.job(&record(1, -1, -1, 600), &job()).unwrap();
    assert_eq!(
        (killed.request, killed.runtime, killed.cores),
        (Seconds(600), Seconds(600), 3)
    );
    // 1,500 kB a processor are two megabytes, rounded up.
    assert_eq!((killed.memory_megabytes_per_core, killed.user), (2, 2));
    let long = placement.job(&record(3, -1, -1, -1), &job()).unwrap();
    assert_eq!(
        (long.request, long.runtime),
        (Seconds::HOUR * 12, Seconds(700))
    );
    let short = placement.job(&record(1, -1, -1, -1), &job());
    assert_eq!(short, Err(Unplaced::NoRequest));
    let text = WHOLE.replace("default = true\n", "");
    let placement = read(&text).placement(&TraceNames::default());
    let nowhere = placement.job(&record(3, -1, -1, 60), &job());
    assert_eq!(nowhere, Err(Unplaced::NoPartition));
}

#[test]
fn a_list_of_names_says_which_number_is_which() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let write = |text: &str| std::fs::write(file.path(), text).unwrap();
    write("kind,number,name\nuser,1,ada\nqueue,3,\"express\"\npartition,8,batch\n");
    let mut names = TraceNames::default();
    names.read(file.path()).unwrap();
    let placement = read(WHOLE).placement(&names);
    assert!(placement.unknown.is_empty());
    let batch = placement.job(&record(-1, 8, -1, 60), &job()).unwrap();
    assert_eq!(batch.partition, PartitionIndex(1));
    for (text, told) in [
        (
            "kind,name\nuser,ada\n",
            "its first line names other columns",
        ),
        ("kind,number,name\nowner,1,ada\n", "line 2 says owner, 1"),
        ("kind,number,name\nuser,x,ada\n", "line 2 says user, x"),
    ] {
        write(text);
        let error = TraceNames::default()
            .read(file.path())
            .unwrap_err()
            .to_string();
        assert!(error.contains(told), "{error}");
    }
}
