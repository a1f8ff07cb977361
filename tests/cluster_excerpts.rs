//! Excerpts of SDSC Blue as the clusters of the co-reservation study, requests made from them, and
//! both through a whole configuration (Meltzer 2005, §6.2, §6.3; Q19, Q21, Q33, Q45).

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bookahead::random;
use bookahead::studies::STUDIES;
use bookahead::sweep::{Experiment, InputFolders, InputSources, Inputs, SimulationSpec};
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::{
    ClusterExcerpts, ClusterSettings, Excerpts, Job, JobId, PUBLISHED_CLUSTERS, TraceFolder,
    WholeTrace, WorkloadSettings, WorkloadSource, cut_clusters, prepare,
};
use bookahead_grid::co_reservation::CoReservationInputs;
use bookahead_grid::co_reservation::study::{CoReservationStudy, with_inputs};

const MACHINE: Nodes = Nodes(1160);

/// The jobs of the whole trace, or that this test is skipped.
fn blue() -> Option<&'static [Job]> {
    static JOBS: OnceLock<Option<Vec<Job>>> = OnceLock::new();
    JOBS.get_or_init(|| {
        let Some(folder) = std::env::var_os("BOOKAHEAD_TRACES") else {
            eprintln!("skipped: BOOKAHEAD_TRACES names no folder of traces");
            return None;
        };
        let settings = WorkloadSettings {
            whole: Some(WholeTrace::default()),
            ..WorkloadSettings::of(
                WorkloadSource::Trace {
                    file: "SDSC-BLUE-2000-4.2-cln.swf".to_owned(),
                },
                MACHINE,
            )
        };
        let folder = TraceFolder {
            path: Some(folder.into()),
            ..TraceFolder::default()
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

/// Starts of the seven windows in hours from the first job, and their jobs after merging (Q21).
const WINDOWS: [(i64, usize); 7] = [
    (36, 1683),
    (22_866, 1025),
    (16_218, 1832),
    (17_604, 1638),
    (16_920, 1696),
    (13_914, 1530),
    (15_882, 1596),
];

/// The page of the study in one line: where its sentences wrap does not matter.
fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/co-reservation.md");
    let text = std::fs::read_to_string(path).expect("the page of the study");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The processor time of this thread: other programs do not count for it.
#[cfg(target_os = "linux")]
fn computed() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the thread's times");
    let nanoseconds = told
        .split_whitespace()
        .next()
        .and_then(|it| it.parse().ok());
    Duration::from_nanos(nanoseconds.expect("nanoseconds"))
}

/// The time that has passed.
#[cfg(not(target_os = "linux"))]
fn computed() -> Duration {
    static BEGUN: OnceLock<std::time::Instant> = OnceLock::new();
    BEGUN.get_or_init(std::time::Instant::now).elapsed()
}

fn seven(merge_at_most: Option<u32>) -> ClusterSettings {
    ClusterSettings {
        count: 7,
        merge_at_most,
        ..ClusterSettings::default()
    }
}

/// The tables of the page, once without a limit of merging (Q21) and once with pairs: the windows,
/// and what merging saves.
#[test]
fn the_page_has_the_windows_of_the_search_and_what_merging_saves() {
    let Some(jobs) = blue() else { return };
    let mut missing = Vec::new();
    for most in [None, Some(2)] {
        let before = computed();
        let merged = cut(jobs, &seven(most));
        let took = computed() - before;
        assert!(took < Duration::from_secs(2), "{took:?}");
        let single = ClusterSettings {
            merging: false,
            ..seven(most)
        };
        let single = cut(jobs, &single);
        let mut distance = 0.0;
        for (position, (cluster, alone)) in merged.clusters.iter().zip(&single.clusters).enumerate()
        {
            // The windows do not depend on whether the clusters' own jobs are merged.
            assert_eq!(cluster.window_start, alone.window_start);
            assert_eq!(alone.jobs.len() as u32, alone.records - alone.too_wide);
            let published = PUBLISHED_CLUSTERS[position];
            let by_jobs = cluster.jobs.len() as f64 / f64::from(published.jobs) - 1.0;
            let by_accuracy = cluster.accuracy / published.accuracy - 1.0;
            distance += by_jobs.powi(2) + by_accuracy.powi(2);
            missing.push(format!(
                "| {position} | {:.0} | {} | {} | {} | {:.3} | {:.2} | {:.2} |",
                cluster.window_start.hours(),
                alone.jobs.len(),
                cluster.jobs.len(),
                published.jobs,
                cluster.accuracy,
                published.accuracy,
                cluster.offered_load,
            ));
        }
        let count = |excerpts: &ClusterExcerpts| -> usize {
            excerpts
                .clusters
                .iter()
                .map(|cluster| cluster.jobs.len())
                .sum()
        };
        let (merged, single) = (count(&merged), count(&single));
        let saved = 100.0 * (1.0 - merged as f64 / single as f64);
        missing.push(format!("{single} jobs become {merged}, {saved:.1} % fewer"));
        missing.push(format!("sum of the seven distances is {distance:.4}"));
    }
    let page = page();
    missing.retain(|row| !page.contains(row));
    assert!(missing.is_empty(), "the page lacks {missing:#?}");
}

/// Number of requests, CPU-seconds of all parts, mean slack, mean and standard deviation of the
/// CPUs of a part.
#[test]
fn the_page_has_the_aggregates_of_the_request_workloads() {
    if blue().is_none() {
        return;
    }
    let mut missing = Vec::new();
    for most in [0, 2] {
        let axis = "[[axis]]\nkey = \"requests.workload\"\n\
                values = [\"rw1\", \"rw2\", \"rw3\", \"early-two\", \"early-three\"]\n";
        let clusters = format!("[clusters]\nmerge_at_most = {most}\n");
        let grids = Grids::of(BLUE, &(clusters + axis));
        for (simulation, name) in ["rw1", "rw2", "rw3", "early-two", "early-three"]
            .iter()
            .enumerate()
        {
            let grid = grids.grid(2 * simulation);
            let count = grid.requests.len();
            let parts = || grid.requests.iter().flat_map(|request| &request.parts);
            let parts_count = parts().count() as f64;
            let load: f64 = grid
                .requests
                .iter()
                .flat_map(|request| {
                    request
                        .parts
                        .iter()
                        .map(|part| part.for_span(request.duration).0)
                })
                .sum::<i64>() as f64;
            let mean = |sum: f64, count: f64| sum / count;
            let slack = mean(
                grid.requests.iter().map(|r| r.slack().0 as f64).sum(),
                count as f64,
            );
            let cpus = mean(parts().map(|part| f64::from(part.0)).sum(), parts_count);
            let squares = parts().map(|part| (f64::from(part.0) - cpus).powi(2)).sum();
            let deviation = mean(squares, parts_count).sqrt();
            let row = format!(
                "| {name} | {count} | {:.2} | {slack:.0} | {cpus:.0} | {deviation:.0} |",
                load / 1e9
            );
            if !page().contains(&row) {
                missing.push(row);
            }
        }
    }
    assert!(missing.is_empty(), "the page lacks {missing:#?}");
}

/// How many requests are submitted in each eight hours, and how long and wide they are (§6.3,
/// Figs. 17 and 18).
#[test]
fn the_page_has_the_submissions_by_eight_hours_and_how_long_and_wide_requests_are() {
    if blue().is_none() {
        return;
    }
    let page = page();
    for most in [0, 2] {
        let keys = format!("[clusters]\nmerge_at_most = {most}\n[requests]\nworkload = \"rw1\"\n");
        let grid = Grids::of(BLUE, &keys).grid(0);
        let requests = &grid.requests;
        let eight_hours = 8 * 3_600;
        let mut counts = vec![0_i64; (grid.stop.0 / eight_hours) as usize];
        for request in requests.iter() {
            counts[(request.submit.0 / eight_hours) as usize] += 1;
        }
        let durations = requests.iter().map(|it| it.duration.0).collect();
        let parts = requests.iter().flat_map(|it| &it.parts);
        let cpus = parts.map(|part| i64::from(part.0)).collect();
        for (what, mut values) in [
            ("submissions in 8 h", counts),
            ("duration, s", durations),
            ("CPUs of a part", cpus),
        ] {
            values.sort_unstable();
            // Nearest rank.
            let at = |percent: usize| values[(values.len() * percent).div_ceil(100).max(1) - 1];
            let [least, tenth, quarter, middle, upper, ninety, most_of_all] =
                [0, 10, 25, 50, 75, 90, 100].map(at);
            let row = format!(
                "| {what} | {} | {least} | {tenth} | {quarter} | {middle} | {upper} | {ninety} | \
                 {most_of_all} |",
                values.len()
            );
            assert!(page.contains(&row), "{row}");
        }
    }
}

#[test]
fn sixty_four_clusters_find_windows_that_do_not_overlap() {
    let Some(jobs) = blue() else { return };
    for excerpts in [Excerpts::Fingerprint, Excerpts::Drawn, Excerpts::Spaced] {
        let many = ClusterSettings {
            count: 64,
            excerpts,
            ..ClusterSettings::default()
        };
        let cut = cut(jobs, &many);
        let mut starts: Vec<Seconds> = cut.clusters.iter().map(|c| c.window_start).collect();
        starts.sort_unstable();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= cut.stop));
        assert!(cut.clusters.iter().all(|cluster| !cluster.jobs.is_empty()));
    }
}

/// A slow twin of merging: for every job, walk back over all buckets.
#[test]
fn merging_agrees_with_a_search_through_all_buckets() {
    let Some(jobs) = blue() else { return };
    let one = ClusterSettings {
        count: 1,
        ..ClusterSettings::default()
    };
    let cut = cut(jobs, &one);
    let cluster = &cut.clusters[0];
    let start = cluster.window_start;
    let mut buckets: Vec<(Seconds, Seconds, u32, i64)> = Vec::new();
    for job in jobs
        .iter()
        .filter(|job| start <= job.submit && job.submit < start + cut.stop)
        .filter(|job| job.nodes <= MACHINE)
    {
        let work = job.runtime.min(job.estimate).0 * i64::from(job.nodes.0);
        // The open bucket of a limit is the last narrow one with it; wide jobs are buckets that
        // nobody joins.
        let mut narrow = buckets
            .iter_mut()
            .filter(|bucket| bucket.1 == job.estimate && bucket.3 >= 0);
        match narrow.next_back() {
            Some(open)
                if job.nodes.0 < 128
                    && open.2 < 128
                    && job.submit - start - open.0 <= Seconds::HOUR =>
            {
                open.2 += job.nodes.0;
                open.3 += work;
            }
            _ => {
                let wide = job.nodes.0 >= 128;
                // −1 − work marks a wide one.
                let work = if wide { -1 - work } else { work };
                buckets.push((job.submit - start, job.estimate, job.nodes.0, work));
            }
        }
    }
    assert_eq!(cluster.jobs.len(), buckets.len());
    for (job, (submit, limit, cpus, work)) in cluster.jobs.iter().zip(buckets) {
        let work = if work < 0 { -1 - work } else { work };
        let run = (work as f64 / f64::from(cpus)).round() as i64;
        assert_eq!(
            (job.submit, job.estimate, job.nodes, job.runtime),
            (submit, limit, Nodes(cpus), Seconds(run))
        );
    }
}

const HEAD: &str = r#"[experiment]
name = "grid"
replications = 2

[workload]
SOURCE
nodes = 1160
whole_trace = true

[scheduling]
strategy = "co-reservation"

"#;

struct Grids {
    inputs: Inputs,
    specs: Vec<SimulationSpec>,
}

impl Grids {
    fn of(source: &str, rest: &str) -> Self {
        let text = HEAD.replace("SOURCE", source) + rest;
        let mut sweep = match Experiment::parse(STUDIES, "grid.toml", &text, None) {
            Ok(experiment) => experiment.sweep,
            Err(error) => panic!("{error}"),
        };
        let inputs = Inputs::new(
            STUDIES,
            InputSources::new(&InputFolders::from_environment()),
            true,
        );
        inputs.identify(&mut sweep).expect("the workload is there");
        let specs: Vec<_> = sweep.simulations.iter().collect();
        for spec in &specs {
            inputs.prepare(spec).expect("everything can be made");
        }
        Self { inputs, specs }
    }

    fn grid(&self, simulation: usize) -> Arc<CoReservationInputs> {
        let spec = &self.specs[simulation];
        let Some(study) = spec.study.get::<CoReservationStudy>() else {
            panic!("{spec:?}");
        };
        let simulation = with_inputs(study, spec, &self.inputs);
        simulation.expect("inputs").inputs
    }
}

const BLUE: &str = r#"trace = "SDSC-BLUE-2000-4.2-cln.swf""#;
const MODEL: &str = "model = \"lublin-feitelson\"\njobs = 6000";

#[test]
fn a_configuration_becomes_clusters_and_requests() {
    if blue().is_none() {
        return;
    }
    let grids = Grids::of(
        BLUE,
        "[clusters]\ncount = 4\n[requests]\nworkload = \"rw1\"\n",
    );
    assert_eq!(grids.specs.len(), 2);
    let (first, second) = (grids.grid(0), grids.grid(1));
    assert_eq!(first.stop, Seconds(1_209_600));
    assert_eq!(first.clusters.len(), 4);
    for (cluster, (hours, count)) in first.clusters.iter().zip(WINDOWS) {
        assert_eq!(cluster.nodes, MACHINE);
        assert_eq!(cluster.window_start, Seconds(hours * 3_600));
        assert_eq!(cluster.jobs.len(), count);
    }
    let jobs = first
        .clusters
        .iter()
        .flat_map(|cluster| cluster.jobs.iter());
    assert!((0..).zip(jobs).all(|(id, job)| job.id == JobId(id)));
    assert_eq!(first.requests.len(), 213);
    // Replications differ in requests, not in excerpts.
    assert_eq!(first.clusters, second.clusters);
    assert_ne!(first.requests, second.requests);
}

/// Requests depend on seed, source and replication: not on algorithm, number, size or merging of
/// clusters, m or w.
#[test]
fn everything_that_is_compared_sees_the_same_requests() {
    let rest = "[clusters]\ndays = 2\n[requests]\ncount = 40\n";
    let base = Grids::of(MODEL, rest);
    let requests = base.grid(0).requests.clone();
    assert_eq!(requests.len(), 40);
    for (key, values) in [
        ("broker.algorithm", r#"["a1", "a4", "a5"]"#),
        ("clusters.count", "[1, 2, 7]"),
        ("clusters.sizes", r#"["graded", "alternating"]"#),
        ("clusters.merging", "[true, false]"),
        ("broker.maximum_starts", "[1, 200]"),
        ("broker.minimum_step_seconds", "[1, 300]"),
        ("broker.latency_seconds", "[0, 1]"),
        ("local.backfilling", r#"["aggressive", "conservative"]"#),
    ] {
        let grids = Grids::of(
            MODEL,
            &format!("{rest}[[axis]]\nkey = \"{key}\"\nvalues = {values}\n"),
        );
        for (simulation, spec) in grids.specs.iter().enumerate() {
            let found = grids.grid(simulation).requests.clone();
            assert_eq!(found == requests, spec.replication == 0, "{key}");
        }
    }
}

#[test]
fn drawn_excerpts_differ_by_replication_and_requests_follow_them() {
    let grids = Grids::of(
        MODEL,
        "[clusters]\ncount = 2\ndays = 2\nexcerpts = \"drawn\"\n[requests]\ncount = 40\n",
    );
    let (first, second) = (grids.grid(0), grids.grid(1));
    let starts = |grid: &CoReservationInputs| -> Vec<Seconds> {
        grid.clusters.iter().map(|c| c.window_start).collect()
    };
    assert_ne!(starts(&first), starts(&second));
    assert_eq!(starts(&first), starts(&grids.grid(0)));
    assert_eq!((first.requests.len(), second.requests.len()), (40, 40));
}

#[test]
fn overbooking_clusters_learn_from_jobs_that_none_of_them_runs() {
    let grids = Grids::of(
        MODEL,
        "[clusters]\ncount = 2\ndays = 2\n[requests]\ncount = 40\n[risk]\n",
    );
    assert!(grids.grid(0).estimates.is_some());
    let plain = Grids::of(MODEL, "[clusters]\ncount = 2\ndays = 2\n");
    assert!(plain.grid(0).estimates.is_none());
}

#[test]
fn more_requests_than_templates_are_refused_before_anything_runs() {
    let text = HEAD.replace("SOURCE", MODEL) + "[clusters]\ndays = 0.5\n[requests]\ncount = 5000\n";
    let mut sweep = Experiment::parse(STUDIES, "grid.toml", &text, None)
        .expect("valid")
        .sweep;
    let inputs = Inputs::new(STUDIES, InputSources::new(&InputFolders::default()), true);
    inputs.identify(&mut sweep).expect("a model");
    let error = inputs
        .prepare(sweep.simulations.kind(0))
        .expect_err("too many")
        .to_string();
    assert!(error.contains("requests.count asks for 5000"), "{error}");
}
