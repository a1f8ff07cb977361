//! Clusters whose CPUs are divided between jobs and parts (Meltzer 2005, §7.1).

use std::sync::Arc;

use bookahead_core::random::StreamSeed;
use bookahead_core::scheduling::Verdict;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use super::whole_run::{empty_clusters, request, settings, simulate};
use crate::co_reservation::testutils::situation;
use crate::co_reservation::*;

#[test]
fn jobs_and_parts_never_share_cpus() {
    let requests = [30, 31].map(|nodes| request(nodes, 0, (0, 3_600), 3_600, &[nodes]));
    let mut inputs = empty_clusters(1, 100, requests.into());
    let jobs = (0..).zip([71, 70, 70]);
    let jobs = jobs.map(|(id, nodes)| Job::rigid(JobId(id), Seconds(1), Nodes(nodes), Seconds(10)));
    inputs.clusters[0].jobs = jobs.collect();
    let mut settings = settings(Algorithm::A3);
    settings.local.partition = Some(0.3);
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    // Nobody holds the other 70 CPUs when the wider part is asked for, nor the 30 when jobs wait.
    let verdicts = run.requests.iter().map(|outcome| outcome.verdict);
    assert_eq!(
        Vec::from_iter(verdicts),
        [CoVerdict::Granted, CoVerdict::Impossible]
    );
    let starts = run.jobs.iter().map(|outcome| outcome.start);
    assert_eq!(
        Vec::from_iter(starts),
        [None, Some(Seconds(1)), Some(Seconds(11))]
    );
    assert_eq!(run.jobs[0].verdict, Verdict::DroppedTooWide);
}

#[test]
fn whoever_has_cpus_of_their_own_does_not_notice_the_others() {
    let mut granted = 0;
    for number in 0..300 {
        let mut divided = situation(number);
        divided.settings.local.partition = Some(0.5);
        let seed = StreamSeed::default();
        let simulated = |inputs: &CoReservationInputs| simulate(inputs, &divided.settings, &seed);
        let both = simulated(&divided.inputs);
        let mut jobs_only = divided.inputs.clone();
        jobs_only.requests = Arc::new([]);
        // What fails beyond the last job is drawn as far as a simulation goes.
        assert_eq!(simulated(&jobs_only).jobs, both.jobs, "situation {number}");
        let mut parts_only = divided.inputs.clone();
        for cluster in &mut parts_only.clusters {
            cluster.jobs = Arc::new([]);
        }
        let parts = simulated(&parts_only).requests;
        for (one, other) in parts.iter().zip(&both.requests) {
            let of = |it: &CoOutcome| (it.verdict, it.start, it.clusters.clone());
            assert_eq!(of(one), of(other), "situation {number}");
            granted += u32::from(one.verdict == CoVerdict::Granted);
        }
        for (ended, workload) in both.parts.iter().zip(&divided.inputs.clusters) {
            let offered = divided.settings.local.offered(workload.nodes);
            assert!(ended.iter().all(|part| part.order.nodes <= offered));
        }
    }
    assert!(granted > 100, "{granted}");
}
