//! A `slurm.conf` of a cluster, and lists of its database, as machine files.

use std::path::Path;

use crate::machine_queue::machines::MachineDescription;
use crate::machine_queue::machines::slurm::{Converted, Includes, convert, is_slurm};
use crate::machine_queue::{
    AccountIndex, Backfilling, ClassIndex, FairShareAlgorithm, NodeSharing, ShareHolder,
};
use bookahead_core::units::{Nodes, Seconds};

const CONF: &str = include_str!("slurm.conf");

const QOS: &str = "\
Name|Priority|GraceTime|Preempt|UsageFactor|GrpTRES|GrpJobs|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPU
high|100|00:00:00||2.000000|cpu=512,gres/gpu=4|||node=16,cpu=512||
normal|10|00:00:00||1.000000||||cpu=1024||200
debug|50|00:00:00||1.000000|||00:30:00||1|2
";

const ASSOCIATIONS: &str = "\
Cluster|Account|User|Partition|Share|GrpJobs|GrpTRES|MaxJobs|QOS
tiny|physics|||30|||8|normal
tiny|physics|ada||1||||normal
tiny|root|||1||||normal
tiny|chemistry|||parent|50|node=20||normal
";

fn converted(text: &str) -> Converted {
    convert(Path::new("slurm.conf"), text, None, None, Includes::Below).expect("a sound slurm.conf")
}

fn described(converted: &Converted) -> MachineDescription {
    MachineDescription::of_slurm("slurm.conf", converted).expect("a sound machine")
}

#[test]
fn the_nodes_of_a_cluster_become_classes_and_its_partitions_use_them() {
    let description = described(&converted(CONF));
    let machine = description.machine();
    let classes: Vec<_> = (machine.classes.iter())
        .map(|class| {
            let each = class.each;
            (
                class.name.as_str(),
                class.nodes.0,
                each.cores,
                each.memory_megabytes,
                each.gpus,
            )
        })
        .collect();
    // In order of weight, of which 1 is the default; the first four nodes are in partition debug,
    // too.
    assert_eq!(
        classes,
        [
            ("spare[1-2]", 2, 32, 192_000, 0),
            ("n[001-096]", 4, 32, 192_000, 0),
            ("n[001-096] (2)", 92, 32, 192_000, 0),
            ("n[097-100]", 4, 32, 768_000, 0),
            ("g[01-08]", 8, 64, 512_000, 4),
        ]
    );
    let names: Vec<&str> = machine
        .partitions
        .iter()
        .map(|of| of.name.as_str())
        .collect();
    assert_eq!(names, ["batch", "debug", "gpu", "all"]);
    let [batch, debug, gpu, all] = &machine.partitions[..] else {
        panic!("four partitions");
    };
    assert_eq!(batch.classes, [1, 2, 3].map(ClassIndex));
    assert_eq!(debug.classes, [ClassIndex(1)]);
    assert_eq!(all.classes.len(), 5);
    assert_eq!((batch.tier, debug.tier, all.tier), (10, 20, 1));
    // Factors are parts of the largest one, and 1 where the file says nothing.
    assert_eq!([batch.factor, debug.factor, gpu.factor], [0.5, 1.0, 0.01]);
    // Seconds are rounded up to the next minute.
    assert_eq!(debug.longest, Some(Seconds(31 * 60)));
    assert_eq!(
        (batch.longest, gpu.longest),
        (Some(Seconds::HOUR * 48), None)
    );
    assert_eq!(all.longest, Some(Seconds::HOUR * 36));
    assert_eq!((debug.widest, batch.widest), (Some(Nodes(2)), None));
    assert_eq!(
        (batch.sharing, gpu.sharing),
        (NodeSharing::Shared, NodeSharing::Exclusive)
    );
}

#[test]
fn weights_times_and_passes_are_those_of_the_file_or_slurms_defaults() {
    let description = described(&converted(CONF));
    let weights = &description.machine().priority;
    assert_eq!(
        (weights.age, weights.fair_share, weights.size),
        (1_000.0, 10_000.0, 500.0)
    );
    assert_eq!((weights.partition, weights.quality), (2_000.0, 3_000.0));
    assert_eq!(
        (weights.oldest, weights.half_life),
        (Seconds::HOUR * 168, Some(Seconds::HOUR * 336))
    );
    // PriorityFlags does not have NO_FAIR_TREE.
    assert_eq!(weights.algorithm, FairShareAlgorithm::FairTree);
    let backfilling = |tested, interval, hours| Backfilling::Reserving {
        depth: u32::MAX,
        tested: Some(tested),
        interval: Seconds(interval),
        window: Some(Seconds::HOUR * hours),
    };
    assert_eq!(
        description.machine().backfilling,
        backfilling(1_000, 60, 72)
    );
    let least = "NodeName=a[1-2] CPUs=4\nPartitionName=p Nodes=ALL";
    let machine = described(&converted(least)).machine().clone();
    assert_eq!(machine.backfilling, backfilling(500, 30, 24));
    assert_eq!(
        (machine.name.as_str(), machine.priority.age),
        ("slurm", 0.0)
    );
    let some = format!("SchedulerParameters=bf_job_part_count_reserve=3,bf_window=60\n{least}");
    let some = described(&converted(&some)).machine().backfilling;
    let expected = Backfilling::Reserving {
        depth: 3,
        tested: Some(500),
        interval: Seconds(30),
        window: Some(Seconds::HOUR),
    };
    assert_eq!(some, expected);
    let builtin = format!(
        "SchedulerType=sched/builtin\nSelectType=select/linear\nPriorityType=priority/basic\nPriorityWeightAge=5\n{least}"
    );
    let machine = described(&converted(&builtin)).machine().clone();
    assert_eq!(machine.backfilling, Backfilling::None);
    assert_eq!(
        (machine.partitions[0].sharing, machine.priority.age),
        (NodeSharing::Exclusive, 0.0)
    );
    let basic = "PriorityDecayHalfLife=0\nNodeName=a CPUs=4 RealMemory=5\nNodeName=b CPUs=4\nPartitionName=p Nodes=b,a";
    let machine = described(&converted(basic)).machine().clone();
    assert_eq!(machine.priority.half_life, None);
    // Memory is counted where SelectTypeParameters says so.
    assert!(
        machine
            .classes
            .iter()
            .all(|class| class.each.memory_megabytes == 0)
    );
}

#[test]
fn every_key_that_is_not_read_is_counted_and_what_is_decided_is_said() {
    let converted = converted(CONF);
    let count = |key: &str| {
        let found = converted.not_read.iter().find(|(name, _)| name == key);
        found.map(|(_, count)| *count)
    };
    for key in [
        "SlurmctldHost",
        "AuthType",
        "SchedulerParameters bf_continue",
        "NodeName State=FUTURE",
        "PartitionName AllowAccounts",
        "PartitionName Hidden",
        "GresTypes",
    ] {
        assert_eq!(count(key), Some(1), "{key} of {:?}", converted.not_read);
    }
    assert_eq!(count("NodeName State"), Some(4));
    for key in [
        "ClusterName",
        "PriorityWeightAge",
        "NodeName RealMemory",
        "PartitionName Nodes",
    ] {
        assert_eq!(count(key), None, "{key}");
    }
    let notes = converted.notes.join("\n");
    for told in [
        "PriorityWeightQOS is set",
        "partition all: ExclusiveUser=YES is not simulated",
        "partition old is left out: its State is down",
        "users are ranked by the fair tree",
        "PriorityFlags accrue_always",
        "partition batch has nodes of 3 classes, and a job gets nodes of one class: none of more than 92 nodes",
    ] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
    let text = converted.to_toml();
    assert!(
        text.contains("# users are ranked by the fair tree")
            && text.contains("fair_share_algorithm = \"fair-tree\""),
        "{text}"
    );
    assert!(text.contains("partitions = [\"batch\"]"), "{text}");
}

#[test]
fn lists_of_the_database_become_qualities_of_service_and_accounts() {
    let converted = convert(
        Path::new("slurm.conf"),
        CONF,
        Some((Path::new("qos.txt"), QOS)),
        Some((Path::new("assoc.txt"), ASSOCIATIONS)),
        Includes::Below,
    )
    .unwrap();
    let description = described(&converted);
    let machine = description.machine();
    let [normal, high, debug] = &machine.qualities[..] else {
        panic!("three qualities of service");
    };
    assert_eq!(
        [&normal.name, &high.name, &debug.name],
        ["normal", "high", "debug"]
    );
    assert_eq!([normal.factor, high.factor, debug.factor], [0.1, 1.0, 0.5]);
    assert_eq!((high.usage_factor, high.in_all.cores), (2.0, Some(512)));
    assert_eq!(
        (high.per_user.nodes, high.per_user.cores),
        (Some(16), Some(512))
    );
    assert_eq!(
        (normal.per_user.submitted_jobs, debug.per_user.running_jobs),
        (Some(200), Some(1))
    );
    assert_eq!(debug.longest, Some(Seconds(1_800)));
    let accounts: Vec<(&str, f64)> = (machine.accounts.iter())
        .map(|account| (account.name.as_str(), account.shares))
        .collect();
    assert_eq!(
        accounts,
        [("root", 1.0), ("physics", 30.0), ("chemistry", 1.0)]
    );
    assert_eq!(machine.accounts[1].per_user.running_jobs, Some(8));
    assert_eq!(
        (
            machine.accounts[2].in_all.running_jobs,
            machine.accounts[2].in_all.nodes
        ),
        (Some(50), Some(20))
    );
    assert_eq!(
        machine.priority.algorithm,
        FairShareAlgorithm::FairTree,
        "users below accounts"
    );
    let not_read: Vec<&str> = converted
        .not_read
        .iter()
        .map(|(key, _)| key.as_str())
        .collect();
    for key in [
        "GrpTRES gres/gpu",
        "qos GraceTime",
        "assoc User",
        "assoc QOS",
        "assoc Share=parent",
    ] {
        assert!(not_read.contains(&key), "{key} of {not_read:?}");
    }
    let wrong = convert(
        Path::new("slurm.conf"),
        CONF,
        Some((Path::new("qos.txt"), "a|b\n")),
        None,
        Includes::Below,
    );
    let error = wrong.unwrap_err().to_string();
    assert!(
        error.starts_with("qos.txt: there is no column Name"),
        "{error}"
    );
}

#[test]
fn the_fair_tree_is_the_default_and_accounts_have_those_above_them() {
    let least = "NodeName=a CPUs=4\nPartitionName=p Nodes=ALL\nPriorityWeightFairshare=10\n\
                 FairShareDampeningFactor=3\n";
    let associations = "Cluster|Account|User|Par Name|Share\nt|root|||1\nt|science||root|5\n\
                        t|physics||science|30\nt|physics|ada||1\n";
    let machine = |flags: &str| {
        let text = format!("{least}{flags}");
        let associations = Some((Path::new("assoc.txt"), associations));
        let converted = convert(
            Path::new("slurm.conf"),
            &text,
            None,
            associations,
            Includes::Below,
        )
        .unwrap();
        (
            described(&converted).machine().clone(),
            converted.notes.join("\n"),
        )
    };
    for flags in ["", "PriorityFlags=FAIR_TREE", "PriorityFlags=MAX_TRES"] {
        let (machine, notes) = machine(flags);
        assert_eq!(machine.priority.algorithm, FairShareAlgorithm::FairTree);
        assert_eq!(machine.priority.damping, 1.0);
        assert!(
            notes.contains("FairShareDampeningFactor has no part"),
            "{notes}"
        );
        let parents: Vec<_> = machine
            .accounts
            .iter()
            .map(|account| account.parent)
            .collect();
        // root, science, physics.
        assert_eq!(parents, [None, None, Some(AccountIndex(1))]);
    }
    let (machine, notes) = machine("PriorityFlags=NO_FAIR_TREE,MAX_TRES");
    assert_eq!(machine.priority.algorithm, FairShareAlgorithm::Classic);
    assert_eq!(machine.priority.holder, ShareHolder::Account);
    assert_eq!(machine.priority.damping, 3.0);
    assert!(
        machine
            .accounts
            .iter()
            .all(|account| account.parent.is_none())
    );
    assert!(notes.contains("without their hierarchy"), "{notes}");
    // Where shares have no weight, nothing is said of them.
    let text = converted("NodeName=a CPUs=4\nPartitionName=p Nodes=ALL").to_toml();
    assert!(!text.contains("fair"), "{text}");
}

#[test]
fn a_wrong_line_is_told_with_its_number_and_key() {
    for (wrong, place, told) in [
        ("NodeName=n[1-2 CPUs=4", "1: `NodeName`", "not closed"),
        (
            "NodeName=n1 CPUs=many",
            "1: `CPUs`",
            "many is no whole number",
        ),
        ("NodeName=n1 CPUs=0", "1: `CPUs`", "from 1 to"),
        (
            "NodeName=n1\nNodeName=n[1-2]",
            "2: `NodeName`",
            "n1 is there already",
        ),
        (
            "NodeName=n1 Gres=gpu:a100",
            "1: `Gres`",
            "does not end in a number",
        ),
        (
            "NodeName=n1\nPartitionName=p Nodes=n2",
            "2: `Nodes`",
            "no line NodeName= or NodeSet= has n2",
        ),
        (
            "NodeName=n1\nPartitionName=p",
            "2: `Nodes`",
            "partition p has no nodes",
        ),
        (
            "NodeName=n1\nPartitionName=p Nodes=n1 MaxTime=soon",
            "2: `MaxTime`",
            "soon is no time",
        ),
        (
            "SelectType=select/best",
            "1: `SelectType`",
            "allowed are select/linear",
        ),
        (
            "SchedulerType=sched/best",
            "1: `SchedulerType`",
            "allowed are sched/backfill",
        ),
        (
            "PriorityType=best",
            "1: `PriorityType`",
            "allowed are priority/basic",
        ),
        (
            "PriorityWeightAge=-1",
            "1: `PriorityWeightAge`",
            "-1 is no weight",
        ),
        (
            "PriorityMaxAge=long",
            "1: `PriorityMaxAge`",
            "long is no time",
        ),
        (
            "SchedulerParameters=bf_interval=x",
            "1: `SchedulerParameters, bf_interval`",
            "no whole number",
        ),
    ] {
        let error = convert(Path::new("slurm.conf"), wrong, None, None, Includes::Below)
            .unwrap_err()
            .to_string();
        let place = format!("slurm.conf:{place}");
        assert!(
            error.starts_with(&place) && error.contains(told),
            "{wrong}: {error}"
        );
    }
    let error = convert(
        Path::new("slurm.conf"),
        "NodeName=n1",
        None,
        None,
        Includes::Below,
    )
    .unwrap_err();
    assert!(error.to_string().contains("no partition is up"), "{error}");
}

#[test]
fn a_configuration_of_slurm_is_known_by_its_name_or_by_its_lines() {
    assert!(is_slurm(Path::new("/etc/slurm/slurm.conf"), ""));
    assert!(is_slurm(
        Path::new("old.txt"),
        "ClusterName=a\n nodename=a CPUs=2"
    ));
    assert!(!is_slurm(
        Path::new("m.toml"),
        "name = \"a\"\n[[class]]\nname = \"NodeName=\""
    ));
}
