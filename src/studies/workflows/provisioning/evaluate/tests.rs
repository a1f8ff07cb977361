use proptest::prelude::*;

use bookahead_core::plan::{SlotList, SlotRules};

use super::super::network::tests::{SlowLinks, lanes};
use super::super::{ApplicationTask, Dependency};
use super::*;

/// Later than anything that these tests plan.
const END: i64 = 1_000_000;

/// ALG-2 with the lists of ALG-1 in which the providers themselves place tasks: one a site, all
/// sites asked for every task. Slots are told apart by their price, which left-overs keep; what was
/// used of them is what is missing in the end (Singh 2008, eq. 4).
fn slowly(
    application: &Application,
    slots: &[Advertised],
    submitted: Seconds,
    chosen: &[bool],
    choice: SiteChoice,
) -> Option<(Vec<TaskPlacement>, Vec<i64>)> {
    let sites = slots.iter().map(|slot| slot.site + 1).max().unwrap_or(0);
    let mut bins: Vec<SlotList> = (0..sites)
        .map(|site| {
            let of_site = slots
                .iter()
                .enumerate()
                .filter(|(origin, slot)| chosen[*origin] && slot.site == site);
            let clipped = of_site.map(|(origin, advertised)| Slot {
                start: advertised.slot.start.max(submitted),
                unit_price: origin as f64,
                ..advertised.slot
            });
            // What a plan leaves of a slot stays apart in ALG-2, whatever the site does with its
            // slots.
            let apart = SlotRules {
                merge_identical: false,
                ..SlotRules::default()
            };
            SlotList::from_slots(clipped, apart)
        })
        .collect();
    let area = |bins: &[SlotList], origin: usize| -> i64 {
        let left = bins.iter().flat_map(SlotList::slots);
        left.filter(|slot| slot.unit_price == origin as f64)
            .map(|slot| {
                let end = if slot.extensible {
                    Seconds(END)
                } else {
                    slot.end
                };
                slot.nodes.for_span(end - slot.start).0
            })
            .sum()
    };
    let before: Vec<i64> = (0..slots.len()).map(|origin| area(&bins, origin)).collect();
    let nowhere = TaskPlacement {
        site: 0,
        start: submitted,
        end: submitted,
    };
    let mut placed = vec![nowhere; application.tasks().len()];
    let mut links = SlowLinks::default();
    for &task in application.order() {
        let needs = &application.tasks()[task];
        let mut best: Option<((Seconds, usize), Seconds)> = None;
        let at: Vec<(usize, Seconds)> = placed.iter().map(|it| (it.site, it.end)).collect();
        let arrival = |links: &mut SlowLinks, site| match application.network() {
            Some(_) => links.send(application, task, site, submitted, &at),
            None => application.earliest(task, site, submitted, |parent| at[parent]),
        };
        for (site, bin) in bins.iter().enumerate() {
            let earliest = arrival(&mut links.clone(), site);
            let Some(start) = bin.start_for(needs.nodes, needs.runtimes[site], earliest) else {
                continue;
            };
            let key = match choice {
                SiteChoice::EarliestStart => start,
                SiteChoice::EarliestFinish => start + needs.runtimes[site],
            };
            if best.is_none_or(|(least, _)| (key, site) < least) {
                best = Some(((key, site), start));
            }
        }
        let ((_, site), start) = best?;
        arrival(&mut links, site);
        let run = bins[site].place(needs.nodes, needs.runtimes[site], start);
        assert_eq!(run.map(|run| run.start), Some(start));
        placed[task] = TaskPlacement {
            site,
            start,
            end: start + needs.runtimes[site],
        };
    }
    let used = (0..slots.len())
        .map(|origin| before[origin] - area(&bins, origin))
        .collect();
    Some((placed, used))
}

prop_compose! {
    /// Few different shapes, so that tasks ask what others asked before them, and slots on up to
    /// three sites.
    pub(in super::super) fn scene()(
        shapes in prop::collection::vec((1_u32..7, prop::collection::vec(1_i64..40, 3)), 1..4),
        tasks in prop::collection::vec((any::<u16>(), any::<u16>(), any::<u16>(), 0_i64..15), 1..40),
        slots in prop::collection::vec((0_usize..3, 0_i64..120, 1_u32..6, 1_i64..60, 0..4), 0..150),
        edges in prop::collection::vec((0_usize..3, 100_i64..300, 1_u32..8), 0..4),
        submitted in 0_i64..40,
    ) -> (Application, Vec<Advertised>, Seconds) {
        let tasks: Vec<ApplicationTask> = tasks
            .iter()
            .enumerate()
            .map(|(index, (shape, one, other, transfer))| {
                let (nodes, runtimes) = &shapes[usize::from(*shape) % shapes.len()];
                let mut parents: Vec<usize> = [one, other]
                    .iter()
                    .filter(|pick| index > 0 && **pick % 3 > 0)
                    .map(|pick| usize::from(**pick) % index)
                    .collect();
                parents.dedup();
                ApplicationTask {
                    nodes: Nodes(*nodes),
                    runtimes: runtimes.iter().copied().map(Seconds).collect(),
                    parents: parents
                        .into_iter()
                        .map(|parent| Dependency { parent, transfer: Seconds(*transfer) })
                        .collect(),
                }
            })
            .collect();
        let order = (0..tasks.len()).collect();
        let mut slots: Vec<Advertised> = slots
            .into_iter()
            .map(|(site, start, nodes, length, kind)| {
                // Many starts and ends are equal.
                let start = Seconds(start - start % 4);
                let end = start + Seconds(length + 3 - (length + 3) % 4);
                let hole = Slot::hole(start, Nodes(nodes), end);
                let slot = match kind {
                    // It never ends before the submission, as no advertised one does.
                    0 => Slot { end: end + Seconds(40), divisible: true, extensible: true, ..hole },
                    1 => Slot { divisible: true, fixed_price: 2.0, ..hole },
                    _ => hole,
                };
                Advertised { site, slot }
            })
            .collect();
        slots.extend(edges.into_iter().map(|(site, start, nodes)| Advertised {
            site,
            slot: Slot { end: Seconds(start + 500), ..Slot::edge(Seconds(start), Nodes(nodes)) },
        }));
        (Application::new(tasks, order), slots, Seconds(submitted))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// Several plans after one another by the same evaluator: what it remembers of one never shows
    /// in the next.
    #[test]
    fn a_plan_is_what_the_slot_lists_of_the_providers_make_of_it(
        (application, slots, submitted) in scene(),
        plans in prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.8), 160), 1..4),
        finish in any::<bool>(),
        number in 0_u32..3,
    ) {
        let application = match number {
            0 => application,
            _ => application.over(lanes(number)),
        };
        let choice = if finish { SiteChoice::EarliestFinish } else { SiteChoice::EarliestStart };
        let mut evaluator = Evaluator::new(&application, &slots, submitted).choosing(choice);
        for plan in plans {
            let chosen = &plan[..slots.len()];
            let value = evaluator.evaluate(chosen);
            let slow = slowly(&application, &slots, submitted, chosen, choice);
            prop_assert_eq!(value.is_some(), slow.is_some());
            let (Some(value), Some((placed, used))) = (value, slow) else {
                continue;
            };
            prop_assert_eq!(evaluator.placements(), &placed[..]);
            let mut known = vec![0; slots.len()];
            for (slot, node_seconds) in evaluator.used() {
                known[slot] = node_seconds;
            }
            prop_assert_eq!(&known, &used);
            let last = placed.iter().map(|placed| placed.end).max().unwrap_or(submitted);
            prop_assert_eq!(value.makespan, last - submitted);
            let cost: f64 = slots
                .iter()
                .zip(&used)
                .filter(|(_, used)| **used > 0)
                .map(|(advertised, used)| {
                    let slot = &advertised.slot;
                    let whole = slot.nodes.for_span(slot.duration()).0;
                    let paid = if slot.divisible { *used } else { whole };
                    paid as f64 / 3_600.0 + slot.fixed_price
                })
                .sum();
            prop_assert!((value.cost - cost).abs() < 1e-9);
            // For sites of any speed: what runs is paid.
            let work: i64 = placed
                .iter()
                .zip(application.tasks())
                .map(|(placed, task)| task.nodes.for_span(placed.end - placed.start).0)
                .sum();
            prop_assert!(value.cost >= work as f64 / 3_600.0 - 1e-9);
            let paid = || slots.iter().zip(&used).filter(|(_, used)| **used > 0);
            let is_exact = |slot: &Slot| slot.divisible && slot.fixed_price == 0.0;
            if paid().all(|(advertised, _)| is_exact(&advertised.slot)) {
                // To the last bit, whichever slots they are: or a front keeps plans that cost the
                // same.
                prop_assert_eq!(value.cost, work as f64 / 3_600.0);
            }
        }
    }
}

#[test]
fn a_task_goes_where_it_starts_first_or_where_it_ends_first() {
    let tasks = vec![ApplicationTask {
        nodes: Nodes(1),
        runtimes: vec![Seconds(100), Seconds(30)],
        parents: Vec::new(),
    }];
    let application = Application::new(tasks, vec![0]);
    let slots = [(0, 0), (1, 50)].map(|(site, start)| Advertised {
        site,
        slot: Slot::edge(Seconds(start), Nodes(1)),
    });
    for (choice, site, end) in [
        (SiteChoice::EarliestStart, 0, 100),
        (SiteChoice::EarliestFinish, 1, 80),
    ] {
        let mut evaluator = Evaluator::new(&application, &slots, Seconds(0)).choosing(choice);
        let value = evaluator.evaluate(&[true; 2]).unwrap();
        assert_eq!(evaluator.placements()[0].site, site);
        assert_eq!(value.makespan, Seconds(end));
    }
}
