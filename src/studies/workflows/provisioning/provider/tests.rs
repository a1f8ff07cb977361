mod copies;

use proptest::prelude::*;

use bookahead_core::kernel::drive;
use bookahead_core::plan::SlotRules;
use bookahead_core::scheduling::Verdict;
use bookahead_core::workload::JobId;
use bookahead_reservations::slots::{SlotStudySettings, slot_scene};

use super::*;

const HOUR: Seconds = Seconds::HOUR;

fn job(id: u32, submit: i64, nodes: u32, hours: i64) -> Job {
    Job::rigid(JobId(id), HOUR * submit, Nodes(nodes), HOUR * hours)
}

fn advertising(source: SlotSource) -> ProvisioningSettings {
    ProvisioningSettings {
        provider: Provider::Advertised {
            source,
            rules: SlotRules::default(),
        },
        ..ProvisioningSettings::default()
    }
}

/// Both kinds of sites that advertise.
fn advertisers(nodes: u32) -> [ProviderSite; 2] {
    [SlotSource::FreeRectangles, SlotSource::Plan]
        .map(|source| ProviderSite::new(Nodes(nodes), &advertising(source)))
}

/// The machine of Singh 2008, Figure 1: A, B, C and D.
fn figure_1(mut site: ProviderSite) -> ProviderSite {
    site.submit([
        job(0, 0, 2, 3),
        job(1, 0, 4, 1),
        job(2, 0, 1, 2),
        job(3, 0, 3, 2),
    ]);
    site.pass_to(Seconds::ZERO);
    site
}

fn piece(start: i64, nodes: u32, end: i64) -> Piece {
    Piece {
        start: HOUR * start,
        nodes: Nodes(nodes),
        end: HOUR * end,
    }
}

/// Start, nodes and end in hours, extensible slots without an end.
fn rectangles(site: &mut ProviderSite) -> Vec<(i64, u32, Option<i64>)> {
    let mut found: Vec<_> = site
        .advertised()
        .iter()
        .map(|slot| {
            let end = (!slot.extensible).then_some(slot.end.0 / HOUR.0);
            (slot.start.0 / HOUR.0, slot.nodes.0, end)
        })
        .collect();
    found.sort_unstable();
    found
}

/// The slot that begins and ends at these hours.
fn slot(site: &mut ProviderSite, start: i64, end: Option<i64>) -> Slot {
    let mut slots = site.advertised().into_iter();
    slots
        .find(|slot| {
            slot.start == HOUR * start && (!slot.extensible).then_some(slot.end.0 / HOUR.0) == end
        })
        .unwrap()
}

/// Starts of jobs in hours, when all is over.
fn starts(mut site: ProviderSite, jobs: usize) -> Vec<Option<i64>> {
    site.advance(Seconds::FAR);
    let mut starts = vec![None; jobs];
    for outcome in site.take_job_outcomes() {
        starts[outcome.job.id.0 as usize] = outcome.start.map(|start| start.0 / HOUR.0);
    }
    starts
}

#[test]
fn section_12_1_both_kinds_advertise_the_slots_of_figure_1() {
    for site in advertisers(5) {
        let mut site = figure_1(site);
        let figure = [
            (0, 1, None),
            (0, 1, Some(3)),
            (2, 1, Some(3)),
            (4, 1, None),
            (6, 3, None),
        ];
        assert_eq!(rectangles(&mut site), figure);
        assert_eq!(site.tasks_in_system(), 4);
        assert_eq!(starts(site, 4), [Some(0), Some(3), Some(0), Some(4)]);
    }
}

#[test]
fn section_12_2_rectangles_start_a_task_later_than_a_count_of_free_nodes_does() {
    let queue = [
        job(0, 0, 1, 3),
        job(1, 0, 2, 3),
        job(2, 0, 3, 2),
        job(3, 0, 1, 4),
    ];
    // Merged rectangles avoid it here.
    let settings = ProvisioningSettings {
        provider: Provider::Advertised {
            source: SlotSource::FreeRectangles,
            rules: SlotRules {
                merge_identical: false,
                ..SlotRules::default()
            },
        },
        ..ProvisioningSettings::default()
    };
    let mut rectangles = ProviderSite::new(Nodes(5), &settings);
    let [_, mut plan] = advertisers(5);
    for site in [&mut rectangles, &mut plan] {
        site.submit(queue.clone());
        site.pass_to(Seconds::ZERO);
    }
    assert_eq!(starts(rectangles, 4)[3], Some(3));
    assert_eq!(starts(plan, 4)[3], Some(0));
}

#[test]
fn section_12_3_a_sale_leaves_what_is_left_over_and_a_cancelled_one_is_for_sale_again() {
    let mut site = figure_1(advertisers(5)[0].clone());
    let edge = slot(&mut site, 6, None);
    assert!(site.buy(RequestId(7), &edge, piece(7, 2, 9)));
    let left = [
        (0, 1, None),
        (0, 1, Some(3)),
        (2, 1, Some(3)),
        (4, 1, None),
        (6, 1, None),
        (6, 2, Some(7)),
        (9, 2, None),
    ];
    assert_eq!(rectangles(&mut site), left);
    assert_eq!(site.tasks_in_system(), 5);
    assert!(site.cancel(RequestId(7)));
    assert!(!site.cancel(RequestId(7)));
    assert_eq!(site.tasks_in_system(), 4);
    assert!(rectangles(&mut site).contains(&(7, 2, Some(9))));
}

#[test]
fn section_12_4_prices_are_those_of_the_table_and_what_is_asked_later_costs_what_it_costs_then() {
    let mut site = ProviderSite::new(Nodes(5), &ProvisioningSettings::default());
    site.submit([job(0, 0, 3, 1), job(1, 0, 1, 2)]);
    site.pass_to(Seconds::ZERO);
    assert!(site.reserve(RequestId(0), HOUR * 3, Nodes(3), HOUR, NodeSeconds(0)));
    site.submit([job(2, 0, 2, 4), job(3, 0, 2, 4)]);
    site.pass_to(Seconds::ZERO);
    let offers: Vec<(i64, i64)> = site
        .offers(Seconds::ZERO, Nodes(2), HOUR * 3)
        .unwrap()
        .iter()
        .map(|offer| (offer.start.0 / HOUR.0, offer.price.0 / HOUR.0))
        .collect();
    assert_eq!(offers, [(1, 6), (2, 8), (3, 10), (4, 2), (5, 0), (8, 0)]);
    let hours = |count: i64| NodeSeconds(HOUR.0 * count);
    let mut reserve = |id, start, price| {
        site.reserve(
            RequestId(id),
            HOUR * start,
            Nodes(2),
            HOUR * 3,
            hours(price),
        )
    };
    // Dearer than that, in the past, or where A and B run.
    assert!(!reserve(1, 1, 5));
    assert!(!reserve(2, -1, 100));
    assert!(!reserve(3, 0, 100));
    assert!(reserve(4, 1, 6));
    // Now it collides.
    assert!(!reserve(5, 1, 100));
    assert!(site.advertised().is_empty());
}

#[test]
fn what_was_advertised_is_gone_when_a_job_has_taken_it() {
    for site in advertisers(5) {
        let mut site = figure_1(site);
        let hole = slot(&mut site, 0, Some(3));
        let answer = site.answer(SiteQuestion::PassTo {
            time: Seconds(60),
            arrivals: vec![Job::rigid(JobId(4), Seconds(30), Nodes(2), HOUR)],
        });
        assert_eq!(answer, SiteAnswer::Done);
        let question = SiteQuestion::BuyPiece {
            id: RequestId(0),
            slot: hole,
            piece: hole.whole(),
            in_parts: false,
        };
        assert_eq!(site.answer(question), SiteAnswer::Gone);
        // Later than now, beside the job, is still there; of a hole only all.
        let edge = slot(&mut site, 6, None);
        let question = |id, piece| SiteQuestion::BuyPiece {
            id: RequestId(id),
            slot: edge,
            piece,
            in_parts: false,
        };
        assert_eq!(site.answer(question(1, piece(6, 3, 8))), SiteAnswer::Done);
        assert_eq!(site.answer(question(2, piece(6, 3, 8))), SiteAnswer::Gone);
        let hole = slot(&mut site, 2, Some(3));
        assert!(!site.buy(RequestId(3), &hole, piece(2, 2, 3)));
        assert!(site.buy(RequestId(4), &hole, piece(2, 1, 3)));
    }
}

#[test]
fn where_parts_are_sold_of_a_hole_several_pieces_are_had_and_no_node_twice() {
    for site in advertisers(5) {
        let mut site = figure_1(site);
        let hole = slot(&mut site, 2, Some(3));
        let mut buy = |id, piece| {
            site.answer(SiteQuestion::BuyPiece {
                id: RequestId(id),
                slot: hole,
                piece,
                in_parts: true,
            })
        };
        let minutes = |from: i64, to: i64| Piece {
            start: HOUR * 2 + Seconds(60 * from),
            nodes: Nodes(1),
            end: HOUR * 2 + Seconds(60 * to),
        };
        assert_eq!(buy(1, minutes(0, 20)), SiteAnswer::Done);
        assert_eq!(buy(2, minutes(30, 40)), SiteAnswer::Done);
        // Two more nodes are free then, which sell the same for as much.
        assert_eq!(buy(3, minutes(35, 50)), SiteAnswer::Done);
        assert_eq!(buy(4, minutes(35, 50)), SiteAnswer::Done);
        assert_eq!(buy(5, minutes(35, 50)), SiteAnswer::Gone);
        assert_eq!(buy(6, minutes(40, 70)), SiteAnswer::Gone);
    }
}

#[test]
fn a_slot_at_the_edge_is_sold_in_several_pieces_in_the_order_of_their_starts() {
    for mut site in advertisers(5) {
        site.pass_to(HOUR);
        let edge = site.advertised()[0];
        // The last needs nodes of the first and nodes beside it.
        let pieces = [
            piece(2, 3, 4),
            piece(3, 2, 5),
            piece(4, 3, 6),
            piece(6, 5, 7),
        ];
        for (id, piece) in (0..).zip(pieces) {
            assert!(site.buy(RequestId(id), &edge, piece), "{piece:?}");
        }
        assert!(!site.buy(RequestId(9), &edge, piece(4, 1, 5)));
        let SiteAnswer::Report(report) = site.answer(SiteQuestion::Report) else {
            panic!("a report");
        };
        assert_eq!(report.tasks_in_system, 4);
        site.pass_to(HOUR * 5);
        assert_eq!(site.tasks_in_system(), 2);
        // What has begun is not given back.
        assert!(!site.cancel(RequestId(2)));
        assert!(site.cancel(RequestId(3)));
    }
}

#[test]
fn a_site_of_one_kind_refuses_the_questions_of_the_other() {
    let [mut rectangles, mut plan] = advertisers(5);
    for site in [&mut rectangles, &mut plan] {
        let question = SiteQuestion::QueryFrom {
            start: Seconds::ZERO,
            nodes: Nodes(1),
            duration: HOUR,
        };
        assert_eq!(site.answer(question), SiteAnswer::Gone);
    }
    assert!(!rectangles.reserve(RequestId(0), HOUR, Nodes(1), HOUR, NodeSeconds(0)));
    let mut queried = ProviderSite::new(Nodes(5), &ProvisioningSettings::default());
    assert_eq!(
        queried.answer(SiteQuestion::Advertise),
        SiteAnswer::Slots(Vec::new())
    );
}

#[test]
fn a_slot_that_would_delay_a_job_by_now_is_gone_though_its_nodes_are_idle() {
    for mut site in advertisers(5) {
        site.submit([job(0, 0, 4, 3)]);
        site.pass_to(Seconds::ZERO);
        let edge = slot(&mut site, 3, None);
        site.submit([job(1, 0, 5, 1)]);
        site.pass_to(Seconds::ZERO);
        assert!(!site.buy(RequestId(0), &edge, piece(3, 1, 4)));
        assert!(site.buy(RequestId(1), &edge, piece(4, 4, 5)));
        assert_eq!(starts(site, 2), [Some(0), Some(3)]);
    }
}

#[test]
fn a_job_that_is_too_wide_or_takes_no_time_is_an_outcome_too() {
    let [mut site, _] = advertisers(2);
    site.submit([
        job(0, 0, 3, 1),
        job(1, 1, 1, 1).running_for(Seconds::ZERO),
        job(2, 1, 1, 1).running_for(HOUR * 9),
    ]);
    assert_eq!(site.next_event(), Some(Seconds::ZERO));
    site.advance(Seconds::FAR);
    let outcomes: Vec<_> = site
        .take_job_outcomes()
        .iter()
        .map(|outcome| (outcome.job.id.0, outcome.verdict, outcome.end))
        .collect();
    assert_eq!(
        outcomes,
        [
            (0, Verdict::DroppedTooWide, None),
            (1, Verdict::SuccessfulFinished, Some(HOUR + Seconds(1))),
            (2, Verdict::SuccessfulFullGrant, Some(HOUR * 2)),
        ]
    );
    assert_eq!((site.tasks_in_system(), site.next_event()), (0, None));
}

/// A queue of up to 12 jobs, all exact.
fn queues() -> impl Strategy<Value = Vec<Job>> {
    let one = (0..12_i64, 1..6_u32, 1..5_i64);
    prop::collection::vec(one, 1..12).prop_map(|jobs| {
        let mut jobs: Vec<Job> = jobs
            .into_iter()
            .map(|(submit, nodes, hours)| job(0, submit, nodes, hours))
            .collect();
        jobs.sort_by_key(|job| job.submit);
        for (job, id) in jobs.iter_mut().zip(0..) {
            job.id = JobId(id);
        }
        jobs
    })
}

/// Asserts that runs and sales never take more than five nodes in any hour.
fn assert_within_five(mut site: ProviderSite, sales: &[Piece]) {
    let mut used = [0_u32; 200];
    let mut take = |start: Seconds, end: Seconds, nodes: Nodes| {
        for hour in start.0 / HOUR.0..end.0 / HOUR.0 {
            used[hour as usize] += nodes.0;
        }
    };
    site.advance(Seconds::FAR);
    for outcome in site.take_job_outcomes() {
        if let (Some(start), Some(end)) = (outcome.start, outcome.end) {
            take(start, end, outcome.job.nodes);
        }
    }
    for sale in sales {
        take(sale.start, sale.end, sale.nodes);
    }
    assert!(used.iter().all(|&nodes| nodes <= 5), "{used:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// No more nodes are in use than there are, and slots begin when they were sold for; and what
    /// is advertised delays nobody (Singh 2008, chapter 3).
    #[test]
    fn whatever_advertised_slots_are_bought_nobody_is_delayed_and_no_node_is_used_twice(
        jobs in queues(),
        at in 0..12_i64,
        choices in prop::collection::vec((any::<prop::sample::Index>(), 0..4_i64, 1..5_u32, 1..5_i64), 0..6),
    ) {
        for mut site in advertisers(5) {
            let arrived = jobs.partition_point(|job| job.submit <= HOUR * at);
            site.submit(jobs[..arrived].iter().cloned());
            site.pass_to(HOUR * at);
            let before = starts(site.clone(), jobs.len());
            let mut sales = Vec::new();
            for (id, (choice, later, nodes, hours)) in (0..).zip(&choices) {
                let slots = site.advertised();
                let slot = slots[choice.index(slots.len())];
                let wanted = if slot.divisible {
                    Piece {
                        start: slot.start + HOUR * *later,
                        nodes: Nodes((*nodes).min(slot.nodes.0)),
                        end: slot.start + HOUR * (later + hours),
                    }
                } else {
                    slot.whole()
                };
                prop_assert!(site.buy(RequestId(id), &slot, wanted));
                sales.push(wanted);
            }
            prop_assert_eq!(starts(site.clone(), jobs.len()), before);
            site.submit(jobs[arrived..].iter().cloned());
            assert_within_five(site, &sales);
        }
    }

    /// The same for slots that push others away: enough nodes, and starts as sold.
    #[test]
    fn whatever_is_reserved_by_query_starts_when_it_was_said_and_no_node_is_used_twice(
        jobs in queues(),
        at in 0..12_i64,
        choices in prop::collection::vec((any::<prop::sample::Index>(), 0..6_i64, 1..6_u32, 1..5_i64), 1..6),
    ) {
        let mut site = ProviderSite::new(Nodes(5), &ProvisioningSettings::default());
        let arrived = jobs.partition_point(|job| job.submit <= HOUR * at);
        site.submit(jobs[..arrived].iter().cloned());
        site.pass_to(HOUR * at);
        let mut sales = Vec::new();
        for (id, (choice, later, nodes, hours)) in (0..).zip(&choices) {
            let (nodes, duration) = (Nodes(*nodes), HOUR * *hours);
            let offers = site.offers(HOUR * (at + later), nodes, duration).unwrap();
            prop_assert!(offers.iter().any(|offer| offer.price == NodeSeconds(0)));
            let offer = offers[choice.index(offers.len())];
            prop_assert!(site.reserve(RequestId(id), offer.start, nodes, duration, offer.price));
            sales.push(Piece { start: offer.start, nodes, end: offer.start + duration });
        }
        site.submit(jobs[arrived..].iter().cloned());
        assert_within_five(site, &sales);
    }

    /// Free rectangles that are asked and forked on the way schedule as those that are left alone.
    #[test]
    fn looking_at_a_site_changes_nothing(jobs in queues(), looks in prop::collection::vec(0..40_i64, 0..10)) {
        for rules in [SlotRules::default(), SlotRules { merge_identical: false, ..SlotRules::default() }] {
            let alone = SlotStudySettings {
                source: SlotSource::FreeRectangles,
                rules,
                sample_period: Seconds::ZERO,
            };
            let scene = slot_scene(&jobs.as_slice().into(), Nodes(5), &alone, true);
            let run = drive(scene, false).machine.finish();
            let settings = ProvisioningSettings {
                provider: Provider::Advertised { source: SlotSource::FreeRectangles, rules },
                ..ProvisioningSettings::default()
            };
            let mut site = ProviderSite::new(Nodes(5), &settings);
            site.submit(jobs.iter().cloned());
            let mut looks = looks.clone();
            looks.sort_unstable();
            for look in looks {
                site.pass_to(Seconds(look * 1_800));
                site.advertised();
            }
            site.advance(Seconds::FAR);
            for outcome in site.take_job_outcomes() {
                prop_assert_eq!(outcome.start, run.jobs[outcome.job.id.0 as usize].start);
            }
        }
    }
}
