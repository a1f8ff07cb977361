use super::*;
use crate::random;

fn job(index: u32, submit: i64, limit: i64, run: i64, cpus: u32) -> Job {
    Job::rigid(JobId(index), Seconds(submit), Nodes(cpus), Seconds(limit))
        .running_for(Seconds(run))
        .numbered(i64::from(index) + 1)
}

/// A job every ten minutes for so many days.
fn steady(days: i64) -> Vec<Job> {
    (0..days * 144)
        .map(|index| {
            let limit = 3_600 * (1 + index % 5);
            job(
                index as u32,
                index * 600,
                limit,
                limit / (1 + index % 3),
                1 + (index * 37 % 300) as u32,
            )
        })
        .collect()
}

fn cut(jobs: &[Job], machine: u32, settings: &ClusterSettings) -> ClusterExcerpts {
    let mut stream = random::stream(1, "w", 0, "excerpts");
    cut_clusters(jobs, Nodes(machine), settings, &mut stream).unwrap()
}

fn two_days(count: u32, excerpts: Excerpts) -> ClusterSettings {
    ClusterSettings {
        count,
        days: 2.0,
        excerpts,
        ..ClusterSettings::default()
    }
}

fn widths(jobs: &[Job]) -> Vec<(i64, u32, i64)> {
    jobs.iter()
        .map(|job| (job.submit.0, job.nodes.0, job.runtime.0))
        .collect()
}

/// Q21: the limit, the hour and the 128 CPUs, each at its edge.
#[test]
fn narrow_jobs_of_one_limit_and_one_hour_are_merged_and_keep_their_cpu_time() {
    let merged = |jobs: &[Job]| {
        let mut all = jobs.to_vec();
        all.push(job(99, 10 * 86_400, 10, 10, 1));
        let one = ClusterSettings {
            count: 1,
            days: 1.0,
            excerpts: Excerpts::Spaced,
            ..ClusterSettings::default()
        };
        widths(&cut(&all, 1160, &one).clusters[0].jobs)
    };
    let first = job(0, 0, 600, 100, 100);
    for (second, expected) in [
        (job(1, 3_600, 600, 400, 50), vec![(0, 150, 200)]),
        (
            job(1, 3_601, 600, 400, 50),
            vec![(0, 100, 100), (3_601, 50, 400)],
        ),
        (job(1, 10, 601, 400, 50), vec![(0, 100, 100), (10, 50, 400)]),
        (job(1, 10, 600, 400, 127), vec![(0, 227, 268)]),
        (
            job(1, 10, 600, 400, 128),
            vec![(0, 100, 100), (10, 128, 400)],
        ),
    ] {
        assert_eq!(merged(&[first.clone(), second]), expected);
    }
    // A bucket that is full is left, a wide job between two narrow ones does not close it.
    let jobs = [
        first,
        job(1, 1, 600, 100, 500),
        job(2, 2, 600, 100, 27),
        job(3, 3, 600, 100, 1),
        job(4, 4, 600, 100, 1),
    ];
    assert_eq!(merged(&jobs), [(0, 128, 100), (1, 500, 100), (4, 1, 100)]);
}

#[test]
fn a_bucket_holds_no_more_jobs_than_are_allowed() {
    let mut jobs: Vec<Job> = (0..5)
        .map(|index| job(index, i64::from(index), 600, 100, 1))
        .collect();
    jobs.push(job(5, 10 * 86_400, 10, 10, 1));
    let pairs = ClusterSettings {
        count: 1,
        days: 1.0,
        excerpts: Excerpts::Spaced,
        merge_at_most: Some(2),
        ..ClusterSettings::default()
    };
    let merged = widths(&cut(&jobs, 1160, &pairs).clusters[0].jobs);
    assert_eq!(merged, [(0, 2, 100), (2, 2, 100), (4, 1, 100)]);
}

#[test]
fn a_run_is_clamped_to_its_limit_and_what_is_wider_than_the_machine_is_dropped() {
    let jobs = [
        job(0, 0, 100, 900, 10),
        job(1, 5, 100, 50, 11),
        job(2, 10 * 86_400, 10, 10, 1),
    ];
    let one = ClusterSettings {
        count: 1,
        days: 1.0,
        excerpts: Excerpts::Spaced,
        ..ClusterSettings::default()
    };
    let cluster = &cut(&jobs, 10, &one).clusters[0];
    assert_eq!(widths(&cluster.jobs), [(0, 10, 100)]);
    assert_eq!((cluster.records, cluster.too_wide), (2, 1));
    assert_eq!(cluster.accuracy, 1.0);
    assert_eq!(cluster.offered_load, 1_000.0 / 864_000.0);
}

#[test]
fn windows_do_not_overlap_and_their_jobs_are_rebased_with_ids_of_their_own() {
    let jobs = steady(40);
    for excerpts in [Excerpts::Fingerprint, Excerpts::Drawn, Excerpts::Spaced] {
        let cut = cut(&jobs, 1160, &two_days(9, excerpts));
        let mut starts: Vec<i64> = cut.clusters.iter().map(|c| c.window_start.0).collect();
        starts.sort_unstable();
        assert!(
            starts
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= 2 * 86_400)
        );
        let ids = cut.clusters.iter().flat_map(|cluster| cluster.jobs.iter());
        for (expected, job) in (0..).zip(ids) {
            assert_eq!(job.id, JobId(expected));
            assert!(Seconds::ZERO <= job.submit && job.submit < cut.stop);
            assert_eq!(job.release, job.submit);
        }
        for (cluster, template) in cut.clusters.iter().zip(&cut.templates) {
            assert_eq!(cluster.records, 288);
            assert_eq!(widths(&cluster.jobs), widths(template));
        }
    }
}

#[test]
fn fewer_clusters_have_the_windows_of_the_first_of_more() {
    let jobs = steady(40);
    for excerpts in [Excerpts::Fingerprint, Excerpts::Drawn] {
        let starts = |count| -> Vec<Seconds> {
            cut(&jobs, 1160, &two_days(count, excerpts))
                .clusters
                .iter()
                .map(|cluster| cluster.window_start)
                .collect()
        };
        let most = starts(19);
        assert_eq!(most.len(), 19);
        for count in 1..19 {
            assert_eq!(starts(count), most[..count as usize]);
        }
    }
}

#[test]
fn drawn_windows_differ_by_stream_and_others_do_not() {
    let jobs = steady(40);
    let starts = |excerpts, replication| -> Vec<Seconds> {
        let mut stream = random::stream(1, "w", replication, "excerpts");
        let settings = two_days(5, excerpts);
        cut_clusters(&jobs, Nodes(1160), &settings, &mut stream)
            .unwrap()
            .clusters
            .iter()
            .map(|cluster| cluster.window_start)
            .collect()
    };
    assert_ne!(starts(Excerpts::Drawn, 0), starts(Excerpts::Drawn, 1));
    for excerpts in [Excerpts::Fingerprint, Excerpts::Spaced] {
        assert_eq!(starts(excerpts, 0), starts(excerpts, 1));
    }
}

#[test]
fn jobs_are_as_wide_for_their_cluster_as_they_were_for_the_machine() {
    let jobs = steady(40);
    let with = |sizes, merging| {
        let settings = ClusterSettings {
            sizes,
            merging,
            ..two_days(5, Excerpts::Spaced)
        };
        cut(&jobs, 300, &settings)
    };
    let (full, graded) = (
        with(ClusterSizes::Equal, true),
        with(ClusterSizes::Graded, true),
    );
    let sizes: Vec<u32> = graded.clusters.iter().map(|c| c.nodes.0).collect();
    assert_eq!(sizes, [300, 150, 75, 37, 300]);
    let sizes: Vec<u32> = with(ClusterSizes::Alternating, true)
        .clusters
        .iter()
        .map(|c| c.nodes.0)
        .collect();
    assert_eq!(sizes, [300, 150, 300, 150, 300]);
    for (large, small) in full.clusters.iter().zip(&graded.clusters) {
        for (large, small_job) in large.jobs.iter().zip(small.jobs.iter()) {
            let exact = f64::from(large.nodes.0) * f64::from(small.nodes.0) / 300.0;
            assert_eq!(f64::from(small_job.nodes.0), exact.ceil());
            assert!(small_job.nodes <= small.nodes);
        }
    }
    // Requests are made from the same templates, however large the clusters are and whether their
    // jobs are merged.
    assert_eq!(full.templates, graded.templates);
    let single = with(ClusterSizes::Equal, false);
    assert_eq!(full.templates, single.templates);
    assert!(single.clusters[0].jobs.len() > full.clusters[0].jobs.len());
}

#[test]
fn a_short_trace_is_refused_with_what_it_holds() {
    let mut stream = random::stream(1, "w", 0, "excerpts");
    let error = cut_clusters(
        &steady(9),
        Nodes(1160),
        &two_days(5, Excerpts::Fingerprint),
        &mut stream,
    )
    .unwrap_err()
    .to_string();
    assert!(error.contains("hold 4 windows of 2 days"), "{error}");
    assert!(error.contains("clusters.count asks for 5"), "{error}");
}

#[test]
fn a_tight_trace_still_gives_every_cluster_a_window_of_its_own() {
    let cut = cut(&steady(19), 1160, &two_days(9, Excerpts::Fingerprint));
    let mut starts: Vec<i64> = cut.clusters.iter().map(|c| c.window_start.0).collect();
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len(), 9);
    assert!(*starts.last().unwrap() + 2 * 86_400 <= 19 * 86_400);
}

#[test]
fn the_jobs_of_a_cluster_have_deadlines_by_their_limit_only_where_a_laxity_is_given() {
    let jobs = steady(20);
    let none = cut(&jobs, 300, &two_days(2, Excerpts::Spaced));
    let all = none.clusters.iter().flat_map(|cluster| cluster.jobs.iter());
    assert!(all.clone().count() > 100);
    assert!(all.clone().all(|job| job.deadline == Seconds::FAR));
    let lax = ClusterSettings {
        laxity: Some(2.5),
        ..two_days(2, Excerpts::Spaced)
    };
    let lax = cut(&jobs, 300, &lax);
    for (due, job) in lax.clusters.iter().flat_map(|it| it.jobs.iter()).zip(all) {
        let deadline = Seconds(job.submit.0 + job.estimate.0 * 5 / 2);
        assert_eq!(
            *due,
            Job {
                deadline,
                ..job.clone()
            }
        );
    }
    assert_eq!(lax.templates, none.templates);
}
