use proptest::prelude::*;

use bookahead_core::units::Nodes;

use super::super::{ApplicationTask, Dependency};
use super::*;

/// 1000 Gbit in bytes.
const BYTES: u64 = 125_000_000_000;

/// A network without latency that carries so many transfers at once.
pub(in super::super) fn lanes(lanes: u32) -> Option<NetworkTerms> {
    let network = Network {
        latency_seconds: 0.0,
        ..Network::default()
    };
    NetworkSlots { lanes, price: 0.0 }.terms(&network)
}

/// Two tasks that end at 0 at the first of two sites, and one that needs 1000 Gbit of each.
fn meeting(slots: NetworkSlots) -> Application {
    let network = slots.at_rate_of_a_slot(&Network::default());
    let task = |parents: &[usize]| ApplicationTask {
        nodes: Nodes(1),
        runtimes: vec![Seconds(1); 2],
        parents: (parents.iter())
            .map(|&parent| Dependency {
                parent,
                transfer: network.whole_seconds(BYTES),
            })
            .collect(),
    };
    let tasks = vec![task(&[]), task(&[]), task(&[0]), task(&[1]), task(&[0, 1])];
    Application::new(tasks, (0..5).collect()).over(slots.terms(&network))
}

/// S6: 1000 Gbit over 10 Gbit/s take 100 s, and 150 s of latency behind them; two at once 200 s
/// each.
#[test]
fn two_transfers_of_250_s_end_at_250_and_350_in_one_lane_and_both_at_350_in_two() {
    for (lanes, ends) in [(1, [250, 350]), (2, [350, 350]), (0, [250, 250])] {
        let application = meeting(NetworkSlots { lanes, price: 0.01 });
        let mut links = Links::default();
        let finished = |_| (0, Seconds::ZERO);
        let mut send = |task| links.send(&application, task, 1, Seconds::ZERO, finished);
        let (first, one) = send(2);
        let (second, other) = send(3);
        assert_eq!([first, second], ends.map(Seconds), "{lanes} lanes");
        // 0.01 SU for each of 2000 Gbit, whatever the rate.
        let cost = application.network_cost(&one) + application.network_cost(&other);
        assert!((cost - 20.0).abs() < 1e-9, "{cost}");
        let ran = |_| 0;
        let asked = application.transfer_cost(4, 1, ran);
        assert!((asked - 20.0).abs() < 1e-9, "{asked}");
        assert_eq!(application.transfer_cost(4, 0, ran), 0.0);
        // What needs both has both when the later one is there.
        let mut empty = Links::default();
        for _ in 0..2 {
            let both = empty.earliest(&application, 4, 1, Seconds::ZERO, finished);
            assert_eq!(both, Seconds(ends[1]));
        }
    }
}

/// The other direction is another pair, and within a site nothing is sent.
#[test]
fn each_direction_has_a_bandwidth_of_its_own() {
    let application = meeting(NetworkSlots {
        lanes: 1,
        price: 0.0,
    });
    let mut links = Links::default();
    let mut send = |task, from, to| {
        let finished = |_| (from, Seconds(7));
        links.send(&application, task, to, Seconds::ZERO, finished)
    };
    assert_eq!(send(2, 0, 1).0, Seconds(257));
    assert_eq!(send(3, 1, 0).0, Seconds(257));
    assert_eq!(send(3, 1, 1), (Seconds(7), Vec::new()));
    assert_eq!(send(3, 0, 1).0, Seconds(357));
}

#[test]
fn an_edge_without_volume_takes_no_slot() {
    let terms = NetworkSlots {
        lanes: 1,
        price: 1.0,
    };
    let network = Network::default();
    let terms = terms.terms(&network).unwrap();
    assert_eq!(terms.held(network.whole_seconds(0)), Seconds::ZERO);
    let mut links = Links::default();
    for _ in 0..3 {
        let held = terms.held(network.whole_seconds(0));
        assert_eq!(links.reserve((0, 1), Seconds(5), held, 1), Seconds(5));
    }
}

/// Transfers, second by second: how many of each pair hold it.
#[derive(Clone, Default)]
pub(in super::super) struct SlowLinks(BTreeMap<(usize, usize, i64), u32>);

impl SlowLinks {
    /// The first start from `ready` on at which fewer than `lanes` hold each second.
    pub(in super::super) fn reserve(
        &mut self,
        (from, to): (usize, usize),
        ready: Seconds,
        held: Seconds,
        lanes: u32,
    ) -> Seconds {
        let mut start = ready.0;
        let taken = |second: i64| self.0.get(&(from, to, second)).copied().unwrap_or(0);
        while (start..start + held.0).any(|second| taken(second) >= lanes) {
            start += 1;
        }
        self.change((from, to), start..start + held.0, true);
        Seconds(start)
    }

    fn change(&mut self, (from, to): (usize, usize), span: std::ops::Range<i64>, takes: bool) {
        for second in span {
            let held = self.0.entry((from, to, second)).or_default();
            *held = if takes { *held + 1 } else { *held - 1 };
        }
    }

    fn most(&self) -> u32 {
        self.0.values().copied().max().unwrap_or(0)
    }

    /// The same as [`Links::send`] of the application's terms.
    pub(in super::super) fn send(
        &mut self,
        application: &Application,
        task: usize,
        site: usize,
        submitted: Seconds,
        placed: &[(usize, Seconds)],
    ) -> Seconds {
        let terms = application.network().unwrap();
        let mut edges = application.tasks()[task].parents.clone();
        edges.sort_by_key(|edge| placed[edge.parent].1);
        let mut earliest = submitted;
        for edge in edges {
            let (from, end) = placed[edge.parent];
            let arrives = if from == site {
                end
            } else {
                let held = terms.held(edge.transfer);
                self.reserve((from, site), end, held, terms.lanes) + edge.transfer
            };
            earliest = earliest.max(arrives);
        }
        earliest
    }
}

/// What is asked of a table: a pair of sites, when the data is ready, its transfer, and whether a
/// reservation of a task is refused, an earlier one given back, or only a question asked.
type Step = (usize, i64, i64, u8);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// No second holds more transfers than there are lanes, each begins when a search second by
    /// second says, and what was refused or given back leaves nothing behind.
    #[test]
    fn a_table_holds_no_more_than_its_lanes_and_nothing_after_a_refusal(
        number in 1_u32..4,
        steps in prop::collection::vec((0_usize..2, 0_i64..80, 1_i64..40, 0_u8..5), 1..40),
    ) {
        let task = |parents| ApplicationTask {
            nodes: Nodes(1),
            runtimes: vec![Seconds(1); 3],
            parents,
        };
        let after = |transfer: i64| Dependency { parent: 0, transfer: Seconds(transfer) };
        let mut tasks = vec![task(Vec::new())];
        tasks.extend(steps.iter().map(|(_, _, transfer, _)| task(vec![after(*transfer)])));
        let order = (0..tasks.len()).collect();
        let application = Application::new(tasks, order).over(lanes(number));
        let mut links = Links::default();
        let mut slow = SlowLinks::default();
        let mut kept: Vec<Transfer> = Vec::new();
        for (task, (to, ready, transfer, kind)) in (1..).zip::<Vec<Step>>(steps) {
            let to = to + 1;
            let finished = |_| (0, Seconds(ready));
            let asked = links.earliest(&application, task, to, Seconds::ZERO, finished);
            let (earliest, sent) = links.send(&application, task, to, Seconds::ZERO, finished);
            prop_assert_eq!(earliest, asked);
            let start = slow.reserve((0, to), Seconds(ready), Seconds(transfer), number);
            prop_assert_eq!(sent[0].start, start);
            prop_assert_eq!(sent[0].end - start, Seconds(transfer));
            prop_assert_eq!(earliest, start + Seconds(transfer));
            prop_assert!(slow.most() <= number);
            let back: Vec<Transfer> = match kind {
                0 => sent,
                1 => {
                    kept.extend(sent);
                    vec![kept.swap_remove(0)]
                }
                _ => {
                    kept.extend(sent);
                    Vec::new()
                }
            };
            links.free(&application, &back);
            for slot in back {
                slow.change(slot.sites, slot.start.0..slot.end.0, false);
            }
        }
        links.free_after(Seconds(-1), &application, &mut kept);
        prop_assert!(kept.is_empty());
        for table in links.tables.values() {
            let free: Vec<i32> = table.segments().map(|(_, free)| free).collect();
            prop_assert!(free.iter().all(|free| *free == number as i32), "{free:?}");
        }
    }
}

#[test]
fn slots_that_have_begun_stay_and_those_that_have_not_are_given_back() {
    let application = meeting(NetworkSlots {
        lanes: 1,
        price: 1.0,
    });
    let mut links = Links::default();
    let finished = |_| (0, Seconds::ZERO);
    let mut sent = links.send(&application, 4, 1, Seconds::ZERO, finished).1;
    assert_eq!(sent.len(), 2);
    links.free_after(Seconds(99), &application, &mut sent);
    assert_eq!(sent.len(), 1);
    // The first holds the pair until 100 s.
    let next = links.earliest(&application, 2, 1, Seconds::ZERO, finished);
    assert_eq!(next, Seconds(350));
}
