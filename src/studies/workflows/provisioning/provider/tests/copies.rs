//! Copies of tasks that wait in a queue and are cancelled.

use super::*;
use crate::provisioning::testutils::drawn_site;
use crate::provisioning::{FIRST_TASK, QueueChoice};
use bookahead_core::scheduling::queue::{Backfilling, QueueOrder};
use bookahead_reservations::replanning::ReplanningSettings;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A copy that is cancelled before it has made anybody start leaves no trace: all jobs start as
    /// if it had never come, and what is predicted and offered is the same. (A job may start
    /// because of it: one that is planned behind both goes past a third that the copy moves.)
    #[test]
    fn a_cancelled_copy_leaves_no_trace(
        seed in 0_u64..100_000,
        when in 1_000_i64..300_000,
        nodes in 11_u32..=16,
        aggressive: bool,
        shortest_first: bool,
    ) {
        let settings = ProvisioningSettings {
            queue_choice: QueueChoice::PredictedWait { quantile: 0.8 },
            replanning: ReplanningSettings {
                backfilling: if aggressive { Backfilling::Aggressive } else { Backfilling::Conservative },
                order: if shortest_first { QueueOrder::Sjf } else { QueueOrder::Fcfs },
                ..ProvisioningSettings::default().replanning
            },
            ..ProvisioningSettings::default()
        };
        let jobs = drawn_site(seed, 0).jobs;
        let when = Seconds(when);
        let mut undisturbed = ProviderSite::new(Nodes(16), &settings);
        undisturbed.submit(jobs.iter().cloned());
        undisturbed.pass_to(when);
        let mut disturbed = undisturbed.clone();
        let copy = Job::rigid(JobId(FIRST_TASK), when, Nodes(nodes), Seconds(5_000));
        let sent = CopiesAtSite {
            watched: jobs.iter().map(|job| job.id).chain([copy.id]).collect(),
            arrivals: vec![copy.clone()],
            ..CopiesAtSite::default()
        };
        let started = disturbed.pass_with_copies(when, sent);
        if started != Some(Vec::new()) {
            return Ok(());
        }
        prop_assert_eq!(disturbed.tasks_in_system(), undisturbed.tasks_in_system() + 1);
        let cancelled = CopiesAtSite {
            cancelled: vec![copy.id],
            ..CopiesAtSite::default()
        };
        prop_assert_eq!(disturbed.pass_with_copies(when, cancelled), Some(Vec::new()));
        prop_assert_eq!(disturbed.tasks_in_system(), undisturbed.tasks_in_system());
        let offers = |site: &mut ProviderSite| site.offers(when, Nodes(4), Seconds(1_000));
        prop_assert_eq!(offers(&mut disturbed), offers(&mut undisturbed));
        disturbed.advance(Seconds::FAR);
        undisturbed.advance(Seconds::FAR);
        prop_assert_eq!(disturbed.take_job_outcomes(), undisturbed.take_job_outcomes());
        let waits = |site: &ProviderSite| site.predicted_waits(&[Nodes(2), Nodes(9)], 0.9);
        prop_assert!(waits(&disturbed).is_some());
        prop_assert_eq!(waits(&disturbed), waits(&undisturbed));
    }
}
