//! Throughput of reading, preparing and generating workloads: `cargo bench --bench workload`.

use std::sync::LazyLock;

use bookahead::units::Nodes;
use bookahead::workload::swf::{SwfReader, write_trace};
use bookahead::workload::{ParsedTrace, TraceFolder, WorkloadSource, load};
use divan::Bencher;
use divan::counter::ItemsCount;

const JOBS: u32 = 1_000_000;

struct Files {
    _folder: tempfile::TempDir,
    paths: [std::path::PathBuf; 3],
}

static FILES: LazyLock<Files> = LazyLock::new(|| {
    let source = WorkloadSource::LublinFeitelson { jobs: JOBS };
    let trace =
        load(&source, Nodes(128), &TraceFolder::default(), 1, 0).expect("the model is whole");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let paths = ["log.swf", "log.swf.gz", "log.swf.xz"].map(|name| folder.path().join(name));
    for path in &paths {
        write_trace(path, &trace.header, &trace.records).expect("a writable temporary folder");
    }
    Files {
        _folder: folder,
        paths,
    }
});

fn main() {
    divan::main();
}

#[divan::bench(args = [0, 1, 2], sample_count = 10)]
fn stream_a_million_lines_plain_gz_xz(bencher: Bencher, format: usize) {
    let path = &FILES.paths[format];
    bencher
        .counter(ItemsCount::new(JOBS))
        .bench(|| SwfReader::open(path).expect("a trace").flatten().count());
}

#[divan::bench(sample_count = 10)]
fn read_sort_and_hash_a_million_lines(bencher: Bencher) {
    let path = &FILES.paths[0];
    bencher
        .counter(ItemsCount::new(JOBS))
        .bench(|| ParsedTrace::read(path).expect("a trace"));
}

#[divan::bench(args = [100_000], sample_count = 5)]
fn generate_lublin_feitelson(bencher: Bencher, jobs: u32) {
    bencher.counter(ItemsCount::new(jobs)).bench(|| {
        load(
            &WorkloadSource::LublinFeitelson { jobs },
            Nodes(128),
            &TraceFolder::default(),
            1,
            0,
        )
    });
}

#[divan::bench(sample_count = 5)]
fn generate_arminius(bencher: Bencher) {
    let jobs = 93_318_u32;
    bencher.counter(ItemsCount::new(jobs)).bench(|| {
        load(
            &WorkloadSource::Arminius { jobs },
            Nodes(200),
            &TraceFolder::default(),
            1,
            0,
        )
    });
}
