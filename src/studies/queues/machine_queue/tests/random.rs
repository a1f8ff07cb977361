//! Random machines and jobs, small enough to look at every second.

use proptest::prelude::*;

use super::*;

fn limits() -> impl Strategy<Value = Limits> {
    let limit = |most: u32| prop::option::weighted(0.15, 2..=most);
    (limit(4), limit(6), limit(16), limit(9)).prop_map(
        |(running_jobs, nodes, cores, submitted_jobs)| Limits {
            running_jobs,
            nodes,
            cores,
            submitted_jobs,
        },
    )
}

fn classes() -> impl Strategy<Value = Vec<NodeClass>> {
    let one = (
        2_u32..7,
        1_u32..5,
        prop_oneof![Just(0_u64), 6_u64..14],
        0_u32..3,
    );
    let one = one.prop_map(|(nodes, cores, memory_megabytes, gpus)| NodeClass {
        each: NodeResources {
            cores,
            memory_megabytes,
            gpus,
        },
        ..class(nodes, cores)
    });
    prop::collection::vec(one, 1..4)
}

fn partitions(classes: usize) -> impl Strategy<Value = Vec<Partition>> {
    let all: Vec<usize> = (0..classes).collect();
    let some = prop::sample::subsequence(all, 1..=classes).prop_shuffle();
    let factor = prop_oneof![Just(0.0), Just(0.5), Just(1.0)];
    let one = (
        some,
        any::<bool>(),
        0_u32..2,
        factor,
        prop::option::weighted(0.1, 5_i64..20),
        prop::option::weighted(0.1, 1_u32..4),
    );
    let one = one.prop_map(
        |(classes, is_shared, tier, factor, longest, widest)| Partition {
            sharing: if is_shared {
                NodeSharing::Shared
            } else {
                NodeSharing::Exclusive
            },
            tier,
            factor,
            longest: longest.map(Seconds),
            widest: widest.map(Nodes),
            ..partition(&classes)
        },
    );
    prop::collection::vec(one, 1..4)
}

fn weights() -> impl Strategy<Value = PriorityWeights> {
    let weight = || prop_oneof![2 => Just(0.0), 1 => Just(1.0), 1 => Just(4.0)];
    let weights = (weight(), weight(), weight(), weight(), weight());
    let shares = prop_oneof![
        Just((FairShareAlgorithm::Classic, ShareHolder::User)),
        Just((FairShareAlgorithm::Classic, ShareHolder::Account)),
        Just((FairShareAlgorithm::FairTree, ShareHolder::User)),
    ];
    (weights, 1_i64..40, shares, any::<bool>()).prop_map(
        |((age, fair_share, size, partition, quality), oldest, shares, favours_small)| {
            let (algorithm, holder) = shares;
            PriorityWeights {
                age,
                oldest: Seconds(oldest),
                fair_share,
                algorithm,
                damping: 1.0,
                holder,
                half_life: None,
                size,
                favours_small,
                partition,
                quality,
            }
        },
    )
}

fn backfillings() -> impl Strategy<Value = Backfilling> {
    let tested = prop::option::weighted(0.3, 0_u32..6);
    let interval = prop_oneof![3 => Just(0_i64), 1 => 2_i64..9];
    let window = prop::option::weighted(0.3, 0_i64..40);
    let reserving = (0_u32..5, tested, interval, window);
    let reserving =
        reserving.prop_map(|(depth, tested, interval, window)| Backfilling::Reserving {
            depth,
            tested,
            interval: Seconds(interval),
            window: window.map(Seconds),
        });
    prop_oneof![1 => Just(Backfilling::None), 5 => reserving]
}

fn windows(classes: usize) -> impl Strategy<Value = Vec<Window>> {
    let nodes = prop::collection::vec((0..classes, 1_u32..4), 1..3);
    let users = prop::collection::vec(0_i64..3, 0..2);
    let one =
        (0_i64..60, 1_i64..25, nodes, users).prop_map(|(begin, length, nodes, users)| Window {
            name: "closed".to_owned(),
            begin: Seconds(begin),
            end: Seconds(begin + length),
            nodes: nodes
                .into_iter()
                .map(|(class, nodes)| (ClassIndex(class), Nodes(nodes)))
                .collect(),
            users,
        });
    let many = prop::collection::vec(one, 0..4);
    many.prop_map(|mut windows| {
        windows.sort_by_key(|window| window.begin);
        windows
    })
}

fn random_machine() -> impl Strategy<Value = QueueMachine> {
    let kinds = classes().prop_flat_map(|classes| {
        let count = classes.len();
        (Just(classes), partitions(count), windows(count))
    });
    let quality = (
        prop_oneof![Just(0.0), Just(1.0)],
        0_u32..3,
        limits(),
        limits(),
    );
    let account = (
        0_u32..3,
        limits(),
        limits(),
        prop::option::of(any::<prop::sample::Index>()),
    );
    (
        kinds,
        prop::collection::vec(quality, 1..3),
        prop::collection::vec(account, 1..5),
        weights(),
        backfillings(),
    )
        .prop_map(
            |((classes, partitions, windows), qualities, accounts, priority, backfilling)| {
                let plain = machine(classes);
                let (quality, account) = (plain.qualities[0].clone(), plain.accounts[0].clone());
                QueueMachine {
                    partitions,
                    windows,
                    priority,
                    backfilling,
                    qualities: qualities
                        .into_iter()
                        .map(|(factor, usage, per_user, in_all)| QualityOfService {
                            factor,
                            usage_factor: f64::from(usage),
                            per_user,
                            in_all,
                            ..quality.clone()
                        })
                        .collect(),
                    accounts: accounts
                        .into_iter()
                        .enumerate()
                        .map(|(at, (shares, per_user, in_all, parent))| Account {
                            // One that came before, so that nobody is above itself.
                            parent: (parent.filter(|_| at > 0))
                                .map(|parent| AccountIndex(parent.index(at))),
                            shares: f64::from(shares),
                            per_user,
                            in_all,
                            ..account.clone()
                        })
                        .collect(),
                    ..plain
                }
            },
        )
}

fn random_jobs(machine: &QueueMachine) -> impl Strategy<Value = Vec<MachineQueueJob>> + use<> {
    let names = (
        0..machine.partitions.len(),
        0..machine.qualities.len(),
        0..machine.accounts.len(),
    );
    let sizes = (
        1_u32..8,
        prop::option::weighted(0.3, 1_u32..4),
        prop_oneof![Just(0_u64), 1_u64..4],
        prop_oneof![4 => Just(0_u32), 1 => Just(1_u32)],
    );
    let times = (0_i64..9, 1_i64..25, 1_i64..=100);
    let one = (names, sizes, times, 0_i64..3);
    prop::collection::vec(one, 1..40).prop_map(|drawn| {
        let mut submit = 0;
        drawn
            .into_iter()
            .map(
                |(
                    (partition, quality, account),
                    (cores, cores_per_node, memory, gpus),
                    times,
                    user,
                )| {
                    let (gap, request, percent) = times;
                    submit += if gap < 5 { 0 } else { gap - 4 };
                    MachineQueueJob {
                        runtime: Seconds((request * percent / 100).max(1)),
                        cores_per_node,
                        memory_megabytes_per_core: memory,
                        gpus_per_node: gpus,
                        partition: PartitionIndex(partition),
                        quality: QualityIndex(quality),
                        account: AccountIndex(account),
                        user,
                        ..job(submit, cores, request)
                    }
                },
            )
            .collect()
    })
}

fn topologies() -> impl Strategy<Value = Topology> {
    let nodes_by = prop_oneof![
        3 => Just(NodesBy::Number),
        1 => Just(NodesBy::Switch),
        1 => Just(NodesBy::Contiguous),
        1 => Just(NodesBy::Buddy),
    ];
    let slowdown = prop_oneof![Just(0.0), Just(0.3), Just(2.0)];
    (nodes_by, prop::option::of(1_u32..5), slowdown).prop_map(
        |(nodes_by, nodes_per_switch, crossing_slowdown)| Topology {
            nodes_by,
            nodes_per_switch,
            crossing_slowdown,
        },
    )
}

/// A machine with jobs for it.
pub(super) fn cases() -> impl Strategy<Value = (QueueMachine, Vec<MachineQueueJob>)> {
    (random_machine(), topologies()).prop_flat_map(|(machine, topology)| {
        let machine = QueueMachine {
            topology,
            ..machine
        };
        let jobs = random_jobs(&machine);
        (Just(machine), jobs)
    })
}
