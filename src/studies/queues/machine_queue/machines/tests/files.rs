//! Machine files: what they become, and what is said of wrong ones.

use crate::machine_queue::machines::MachineDescription;
use crate::machine_queue::machines::file::{KEYS, allowed};
use crate::machine_queue::{
    AccountIndex, Backfilling, ClassIndex, FairShareAlgorithm, NodeSharing, ShareHolder,
};
use bookahead_core::units::{Nodes, Seconds};

pub(super) const WHOLE: &str = r#"
name = "two halves"
zone = "Europe/Berlin"
backfilling = { depth = "all", tested = 100, interval_seconds = 30, window_hours = 36 }

[priority]
age = 1000
oldest_hours = 24
fair_share = 5000
damping = 2
holder = "account"
half_life_hours = 336
size = 10
favours_small = true
partition = 100
qos = 50

[[class]]
name = "thin"
nodes = 10
cores = 16
memory_megabytes = 64000

[[class]]
name = "gpu"
nodes = 2
cores = 32
gpus = 4

[[partition]]
name = "short"
classes = ["gpu", "thin"]
sharing = "shared"
tier = 3
priority_factor = 0.5
longest_hours = 0.5
widest_nodes = 2
queues = [1, "express"]

[[partition]]
name = "long"
classes = ["thin"]
partitions = ["batch"]
default_request_hours = 12
default = true

[[qos]]
name = "normal"

[[qos]]
name = "high"
priority_factor = 1.0
usage_factor = 2
longest_hours = 24
queues = [7]
per_user = { running_jobs = 4, nodes = 8 }
in_all = { cores = 100, submitted_jobs = 1000 }

[[account]]
name = "others"

[[account]]
name = "physics"
shares = 3
groups = [5]
per_user = { cores = 64 }
"#;

pub(super) fn read(text: &str) -> MachineDescription {
    MachineDescription::parse("m.toml", text).expect("a sound machine file")
}

pub(super) fn refusal(text: &str) -> String {
    MachineDescription::parse("m.toml", text)
        .expect_err("a faulty machine file")
        .to_string()
}

#[test]
fn every_key_of_a_machine_file_comes_to_its_place() {
    let description = read(WHOLE);
    let machine = description.machine();
    assert_eq!(machine.name, "two halves");
    let thin = &machine.classes[0];
    assert_eq!(
        (thin.nodes, thin.each.cores, thin.each.memory_megabytes),
        (Nodes(10), 16, 64_000)
    );
    assert_eq!(machine.classes[1].each.gpus, 4);
    let short = &machine.partitions[0];
    assert_eq!(short.classes, [ClassIndex(1), ClassIndex(0)]);
    assert_eq!(
        (short.sharing, short.tier, short.factor),
        (NodeSharing::Shared, 3, 0.5)
    );
    assert_eq!(
        (short.longest, short.widest),
        (Some(Seconds(1_800)), Some(Nodes(2)))
    );
    let long = &machine.partitions[1];
    assert_eq!(
        (long.sharing, long.tier, long.longest),
        (NodeSharing::Exclusive, 1, None)
    );
    let high = &machine.qualities[1];
    assert_eq!(
        (high.factor, high.usage_factor, high.longest),
        (1.0, 2.0, Some(Seconds::HOUR * 24))
    );
    assert_eq!(
        (high.per_user.running_jobs, high.per_user.nodes),
        (Some(4), Some(8))
    );
    assert_eq!(
        (high.in_all.cores, high.in_all.submitted_jobs),
        (Some(100), Some(1_000))
    );
    let physics = &machine.accounts[1];
    assert_eq!((physics.shares, physics.per_user.cores), (3.0, Some(64)));
    let weights = &machine.priority;
    assert_eq!((weights.age, weights.oldest), (1_000.0, Seconds::HOUR * 24));
    assert_eq!(
        (weights.fair_share, weights.damping, weights.holder),
        (5_000.0, 2.0, ShareHolder::Account)
    );
    assert_eq!(
        (weights.half_life, weights.size, weights.favours_small),
        (Some(Seconds::HOUR * 336), 10.0, true)
    );
    assert_eq!((weights.partition, weights.quality), (100.0, 50.0));
    let expected = Backfilling::Reserving {
        depth: u32::MAX,
        tested: Some(100),
        interval: Seconds(30),
        window: Some(Seconds::HOUR * 36),
    };
    assert_eq!(machine.backfilling, expected);
}

#[test]
fn what_a_file_does_not_say_has_a_default() {
    let description = read("name = \"small\"\n[[class]]\nname = \"a\"\nnodes = 4");
    let machine = description.machine();
    assert_eq!(machine.classes[0].each.cores, 1);
    assert_eq!(machine.partitions[0].classes, [ClassIndex(0)]);
    assert_eq!((machine.qualities.len(), machine.accounts.len()), (1, 1));
    assert_eq!(
        (machine.priority.age, machine.priority.half_life),
        (0.0, Some(Seconds::HOUR * 168))
    );
    let easy = Backfilling::Reserving {
        depth: 1,
        tested: None,
        interval: Seconds::ZERO,
        window: None,
    };
    assert_eq!(machine.backfilling, easy);
    let none = "name = \"small\"\nbackfilling = { depth = 0 }\npriority = { decays = false }\n[[class]]\nname = \"a\"\nnodes = 4";
    let none = read(none);
    assert_eq!(none.machine().backfilling, Backfilling::None);
    assert_eq!(none.machine().priority.half_life, None);
}

const TREE: &str = r#"
name = "tree"
priority = { fair_share = 10, fair_share_algorithm = "fair-tree" }
[[class]]
name = "a"
nodes = 4
[[account]]
name = "physics"
parent = "science"
[[account]]
name = "science"
shares = 3
"#;

#[test]
fn accounts_may_be_below_others_in_the_fair_tree() {
    let tree = read(TREE);
    let machine = tree.machine();
    assert_eq!(machine.priority.algorithm, FairShareAlgorithm::FairTree);
    assert_eq!(machine.accounts[0].parent, Some(AccountIndex(1)));
    assert_eq!(machine.accounts[1].parent, None);
    let science = "name = \"science\"\n";
    for (right, wrong, key, told) in [
        (
            "parent = \"science\"",
            "parent = \"arts\"",
            "account.parent",
            "there is no account `arts`",
        ),
        (
            science,
            "name = \"science\"\nparent = \"physics\"\n",
            "account.parent",
            "above itself",
        ),
        (
            ", fair_share_algorithm = \"fair-tree\"",
            "",
            "account.parent",
            "in the fair tree only",
        ),
        (
            "fair_share = 10",
            "fair_share = 10, damping = 2",
            "priority.damping",
            "the fair tree has none",
        ),
        (
            "fair_share = 10",
            "holder = \"account\"",
            "priority.holder",
            "the fair tree has none",
        ),
        (
            "\"fair-tree\"",
            "\"tree\"",
            "priority.fair_share_algorithm",
            "\"classic\"",
        ),
    ] {
        let told_at = refusal(&TREE.replace(right, wrong));
        assert!(
            told_at.contains(&format!("`{key}`")) && told_at.contains(told),
            "{told_at}"
        );
    }
}

#[test]
fn a_wrong_value_is_told_with_its_file_line_and_key_and_what_is_allowed() {
    let line = |text: &str, part: &str| {
        let at = text.find(part).expect("the part");
        1 + text[..at].matches('\n').count()
    };
    for (right, wrong, key, told) in [
        (
            "name = \"two halves\"",
            "name = \" \"",
            "name",
            "it is empty",
        ),
        (
            "Europe/Berlin",
            "Europe/Nowhere",
            "zone",
            "there is no zone",
        ),
        (
            "tested = 100",
            "tested = 0",
            "backfilling.tested",
            "0 is out of range",
        ),
        (
            "window_hours = 36",
            "window_hours = 0",
            "backfilling.window_hours",
            "0 hours are out of range",
        ),
        (
            "depth = \"all\"",
            "depth = \"some\"",
            "backfilling.depth",
            "\"all\"",
        ),
        (
            "age = 1000",
            "age = -1",
            "priority.age",
            "-1 is out of range",
        ),
        (
            "oldest_hours = 24",
            "oldest_hours = 0",
            "priority.oldest_hours",
            "out of range",
        ),
        (
            "damping = 2",
            "damping = 0",
            "priority.damping",
            "out of range",
        ),
        (
            "holder = \"account\"",
            "holder = \"group\"",
            "priority.holder",
            "group",
        ),
        (
            "half_life_hours = 336",
            "half_life_hours = nan",
            "priority.half_life_hours",
            "out of range",
        ),
        (
            "favours_small = true",
            "favours_small = 1",
            "priority.favours_small",
            "boolean",
        ),
        (
            "nodes = 10",
            "nodes = 0",
            "class.nodes",
            "0 nodes are out of range",
        ),
        (
            "cores = 16",
            "cores = 0",
            "class.cores",
            "0 is out of range",
        ),
        (
            "name = \"gpu\"",
            "name = \"thin\"",
            "class.name",
            "`thin` is there twice",
        ),
        (
            "[\"gpu\", \"thin\"]",
            "[\"gpu\", \"fat\"]",
            "partition.classes",
            "there is no class `fat`",
        ),
        (
            "[\"gpu\", \"thin\"]",
            "[]",
            "partition.classes",
            "without nodes",
        ),
        (
            "sharing = \"shared\"",
            "sharing = \"some\"",
            "partition.sharing",
            "some",
        ),
        (
            "priority_factor = 0.5",
            "priority_factor = 1.5",
            "partition.priority_factor",
            "1.5 is out of range",
        ),
        (
            "longest_hours = 0.5",
            "longest_hours = 1e9",
            "partition.longest_hours",
            "out of range",
        ),
        (
            "widest_nodes = 2",
            "widest_nodes = 0",
            "partition.widest_nodes",
            "out of range",
        ),
        (
            "queues = [1, \"express\"]",
            "queues = [1.5]",
            "partition.queues",
            "a number of the trace, or a name",
        ),
        (
            "name = \"high\"",
            "name = \"normal\"",
            "qos.name",
            "there twice",
        ),
        (
            "usage_factor = 2",
            "usage_factor = inf",
            "qos.usage_factor",
            "out of range",
        ),
        (
            "running_jobs = 4",
            "running_jobs = 0",
            "qos.per_user.running_jobs",
            "out of range",
        ),
        ("cores = 64", "cores = -64", "account.per_user.cores", "-64"),
        (
            "shares = 3",
            "shares = -3",
            "account.shares",
            "-3 is out of range",
        ),
        (
            "tier = 3",
            "teir = 3",
            "partition.teir",
            "unknown field `teir`",
        ),
    ] {
        assert!(WHOLE.contains(right), "{right}");
        let text = WHOLE.replacen(right, wrong, 1);
        let error = refusal(&text);
        let place = format!("m.toml:{}: `{key}`", line(WHOLE, right));
        assert!(error.contains(&place), "{wrong}: {error}");
        assert!(error.contains(told), "{wrong}: {error}");
        assert!(
            error.contains("allowed") || error.contains("docs/"),
            "{error}"
        );
    }
}

#[test]
fn a_text_that_is_no_machine_file_is_told() {
    assert!(refusal("name = ").contains("m.toml:1"));
    assert!(refusal("[[class]]\nname = \"a\"\nnodes = 1").contains("missing field `name`"));
    assert!(refusal("name = \"a\"").contains("the machine has no nodes"));
    let two = refusal("name = \"\"\nzone = \"x\"\n[[class]]\nname = \"a\"\nnodes = 1");
    assert!(two.starts_with("2 problems in the machine file"), "{two}");
}

#[test]
fn every_key_is_on_the_page_of_machine_files_with_what_is_allowed() {
    let page = include_str!("../../../../../../docs/machines.md");
    for (key, words) in KEYS {
        let row = format!("| `{key}` | {words} |");
        assert!(page.contains(&row), "docs/machines.md lacks the row {row}");
    }
    assert_eq!(
        allowed("qos.per_user.nodes"),
        allowed("account.in_all.cores")
    );
}
