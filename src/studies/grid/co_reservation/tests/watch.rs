//! An agent that watches reserved clusters, which say nothing while they are down (Meltzer 2005,
//! §7.4).

use bookahead_core::kernel::drive;
use bookahead_core::random::StreamSeed;
use bookahead_core::units::{Nodes, Seconds};

use super::interleaving::{check, run};
use super::whole_run::{empty_clusters, only, request, settings};
use crate::co_reservation::evaluation::co_reservation_measures;
use crate::co_reservation::local::{ClusterId, OutageEvent};
use crate::co_reservation::scene::scene_of;
use crate::co_reservation::testutils::situation;
use crate::co_reservation::*;

/// What becomes of one part of 6,000 s from `earliest` on, with a slack of 1,000 s, whose cluster
/// is down over [1000, 2500); there is another one.
fn with_outage(earliest: i64, silent: bool, misses: Option<u32>) -> CoOutcome {
    let window = (earliest, earliest + 7_000);
    let inputs = empty_clusters(2, 10, vec![request(0, 0, window, 6_000, &[10])]);
    let mut settings = settings(Algorithm::A4);
    settings.renegotiate = true;
    settings.watch = misses.map(|misses| WatchSettings {
        every: Seconds(600),
        misses,
    });
    let seed = StreamSeed::default();
    let play = |down: Option<ClusterId>| {
        let services = clusters(&inputs, &settings).unwrap();
        let mut exchange = Exchange::new(vec![Nodes(10); 2], &settings, &seed);
        exchange.expect_outages();
        exchange.apply_outage(down.into_iter().flat_map(|cluster| {
            [
                (Seconds(1_000), cluster, OutageEvent::ClusterDown),
                (Seconds(2_500), cluster, OutageEvent::ClusterUp),
            ]
        }));
        let outages = OutageEvents::new(None, &[], &seed);
        let mut scene = scene_of(&inputs, services, exchange, outages);
        for site in scene.services.iter_mut().filter(|_| silent) {
            site.keep_silent_while_down();
        }
        let run = CoReservationRun::of(drive(scene, true), &inputs);
        only(&run).clone()
    };
    let first = play(None).clusters[0];
    play(Some(first))
}

/// When its orders were sent, with their starts and fates.
fn orders(outcome: &CoOutcome) -> Vec<(i64, i64, &'static str)> {
    let orders = outcome.attempts.iter();
    orders
        .map(|it| (it.sent.0, it.start.0, it.fate.name()))
        .collect()
}

#[test]
fn after_three_missed_polls_a_part_that_runs_is_sought_elsewhere_and_four_are_not_missed() {
    // Polls at 1200, 1800 and 2400 are missed, that of 3000 is answered. The part began at 0 and
    // ends at 6000 wherever it is.
    let found = with_outage(0, true, Some(3));
    assert_eq!(
        orders(&found),
        [(0, 0, "unreachable"), (2_400, 2_400, "reserved")]
    );
    assert_eq!(found.attempts[1].duration, Seconds(3_600));
    assert_eq!(found.attempts[0].given_up, Some(Seconds(2_400)));
    assert_eq!((found.lost_parts, found.replaced_parts), (1, 1));
    // With four the agent never acts: the cluster says what it lost when it is back.
    for misses in [Some(4), None] {
        let found = with_outage(0, true, misses);
        assert_eq!(orders(&found), [(0, 0, "lost"), (2_500, 2_500, "reserved")]);
    }
    // A cluster that tells at once needs no agent.
    let told = with_outage(0, false, Some(3));
    assert_eq!(orders(&told), [(0, 0, "lost"), (1_000, 1_000, "reserved")]);
}

#[test]
fn a_part_that_has_not_begun_is_given_up_too_although_its_cluster_would_have_kept_it() {
    let found = with_outage(4_000, true, Some(3));
    assert_eq!(
        orders(&found),
        [(0, 4_000, "unreachable"), (2_400, 4_000, "reserved")]
    );
    // The cancellation is repeated until the cluster is back, and acknowledged.
    assert!(found.messages.repeated > 0);
    for misses in [Some(4), None] {
        let found = with_outage(4_000, true, misses);
        assert_eq!(orders(&found), [(0, 4_000, "reserved")]);
        assert_eq!(found.lost_parts, 0);
    }
}

#[test]
fn nothing_leaks_where_an_agent_gives_parts_up_and_clusters_say_nothing() {
    let (mut given_up, mut in_vain, mut replaced) = (0.0, 0.0, 0);
    for number in 0..1_000 {
        let mut situation = situation(number);
        situation.settings.failures = Some(ClusterFailureSettings {
            cluster_mtbf: Some(Seconds(250)),
            cluster_repair: Seconds(60),
            node_mtbf: None,
            node_repair: Seconds(1),
            node_cpus: 1,
            silent: number % 4 > 0,
        });
        situation.settings.renegotiate = true;
        situation.settings.watch = (number % 5 > 0).then_some(WatchSettings {
            every: Seconds(1 + number as i64 % 23),
            misses: 1 + number as u32 % 3,
        });
        let (run, commands) = run(&situation);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check(&situation, &run, &commands);
        }));
        assert!(checked.is_ok(), "in situation {number}");
        let (measured, _) = co_reservation_measures(&situation.inputs, &situation.settings, &run);
        if let Some(parts) = measured.get("co_given_up_parts") {
            given_up += parts;
            let share = measured.get("co_given_up_in_vain_share");
            in_vain += parts * share.unwrap_or_default();
        }
        let replaced_parts = run.requests.iter().map(|it| it.replaced_parts);
        replaced += replaced_parts.sum::<u32>();
    }
    assert!(
        given_up > 100.0 && in_vain > 20.0 && replaced > 100,
        "{given_up} {in_vain} {replaced}"
    );
}
