//! Excerpts of SDSC Blue as the clusters of the co-reservation study (spec `co-reservation.md` §5.5, Q19, Q21).

use std::sync::OnceLock;
use std::time::Instant;

use bookahead::random;
use bookahead::units::Nodes;
use bookahead::workload::{
    CleaningRules, ClusterExcerpts, ClusterSettings, Compression, Job, PUBLISHED_CLUSTERS,
    TraceFolder, WholeTrace, WorkloadSettings, WorkloadSource, cut_clusters, prepare,
};

const MACHINE: Nodes = Nodes(1160);

fn blue() -> Option<&'static [Job]> {
    static JOBS: OnceLock<Option<Vec<Job>>> = OnceLock::new();
    JOBS.get_or_init(|| {
        let Some(folder) = std::env::var_os("BOOKAHEAD_TRACES") else {
            eprintln!("skipped: BOOKAHEAD_TRACES names no folder of traces");
            return None;
        };
        let settings = WorkloadSettings {
            source: WorkloadSource::Trace {
                file: "SDSC-BLUE-2000-4.2-cln.swf".to_owned(),
            },
            nodes: MACHINE,
            evaluation_jobs: 0,
            battery_jobs: 0,
            cleaning: CleaningRules::default(),
            compression: Compression::Factor { factor: 1.0 },
            laxity: 2.0,
            whole: Some(WholeTrace::default()),
        };
        let folder = TraceFolder {
            path: Some(folder.into()),
        };
        let workload = prepare(&settings, &folder, 1).expect("the trace is there and readable");
        Some(workload.batteries[0].to_vec())
    })
    .as_deref()
}

fn cut(jobs: &[Job], settings: &ClusterSettings) -> ClusterExcerpts {
    let mut stream = random::stream(1, "w", 0, "excerpts");
    cut_clusters(jobs, MACHINE, settings, &mut stream).expect("the trace is long enough")
}

#[test]
fn explore() {
    let Some(jobs) = blue() else { return };
    for count in [7, 64] {
        let now = Instant::now();
        let cut = cut(
            jobs,
            &ClusterSettings {
                count,
                ..ClusterSettings::default()
            },
        );
        println!(
            "{count}: {:?}; span {} jobs {}",
            now.elapsed(),
            jobs.last().unwrap().submit.hours() / 24.0,
            jobs.len()
        );
        for (i, c) in cut.clusters.iter().enumerate() {
            println!(
                "{i} {:?} h {} jobs {} of {} acc {:.3} load {:.3}  published {:?}",
                c.window_start.hours(),
                c.window_start.hours() / 24.0,
                c.jobs.len(),
                c.records,
                c.accuracy,
                c.offered_load,
                PUBLISHED_CLUSTERS.get(i)
            );
        }
        let mut st: Vec<_> = cut.clusters.iter().map(|c| c.window_start.0).collect();
        st.sort();
        println!(
            "overlaps {}",
            st.windows(2).filter(|p| p[1] - p[0] < 14 * 86400).count()
        );
        let (m, r): (usize, u32) = cut
            .clusters
            .iter()
            .fold((0, 0), |(m, r), c| (m + c.jobs.len(), r + c.records));
        println!("merged {m} of {r}: {}", 1.0 - m as f64 / f64::from(r));
    }
}
