//! The keys of a machine file in words.

/// Every key of a machine file, and what is allowed there.
pub const KEYS: &[(&str, &str)] = &[
    ("name", "a text: what the machine is called"),
    (
        "zone",
        "a time zone of the IANA database, such as \"Europe/Berlin\" (default \"UTC\"); windows are read on its clock",
    ),
    (
        "cores_per_processor",
        "1 or more cores for each processor of the trace (default 1); a trace that counts nodes needs it",
    ),
    (
        "class",
        "one or more tables `[[class]]`: nodes that are alike",
    ),
    ("class.name", "a text, another one for each class"),
    (
        "class.nodes",
        "1 or more nodes; 1000000 of all classes together",
    ),
    ("class.cores", "1 or more cores on each node (default 1)"),
    (
        "class.memory_megabytes",
        "0 or more megabytes on each node; 0 (the default): nobody counts them",
    ),
    ("class.gpus", "0 or more on each node (default 0)"),
    (
        "partition",
        "tables `[[partition]]` (default: one of all nodes)",
    ),
    ("partition.name", "a text, another one for each partition"),
    (
        "partition.classes",
        "names of classes, in the order in which their nodes are tried (default: all)",
    ),
    (
        "partition.sharing",
        "\"exclusive\" (the default: a node belongs to one job at a time) or \"shared\"",
    ),
    (
        "partition.tier",
        "0 or more (default 1): jobs of a higher tier come before all of lower ones",
    ),
    (
        "partition.priority_factor",
        "from 0 to 1 (default 0), multiplied with priority.partition",
    ),
    (
        "partition.longest_hours",
        "above 0 hours: longer requests are refused (default: no limit)",
    ),
    (
        "partition.widest_nodes",
        "1 or more nodes: wider requests are refused (default: no limit)",
    ),
    (
        "partition.default_request_hours",
        "above 0 hours: what a job asks for that says nothing (default: such jobs are left out)",
    ),
    (
        "partition.queues",
        "numbers of the trace's queues (field 15), or their names: they run here",
    ),
    (
        "partition.partitions",
        "numbers of the trace's partitions (field 16), or their names: they run here",
    ),
    (
        "partition.default",
        "true for one partition at most: all other jobs run there (default: of a single partition)",
    ),
    (
        "qos",
        "tables `[[qos]]`: qualities of service (default: one); jobs that none lists have the first",
    ),
    ("qos.name", "a text, another one for each"),
    (
        "qos.priority_factor",
        "from 0 to 1 (default 0), multiplied with priority.qos",
    ),
    (
        "qos.usage_factor",
        "0 or more: what use counts in the shares (default 1)",
    ),
    (
        "qos.longest_hours",
        "above 0 hours: longer requests are refused (default: no limit)",
    ),
    (
        "qos.queues",
        "numbers of the trace's queues (field 15), or their names",
    ),
    (
        "qos.partitions",
        "numbers of the trace's partitions (field 16), or their names",
    ),
    (
        "qos.per_user",
        "a table of limits of each user: running_jobs, nodes, cores (that running jobs hold), submitted_jobs (that wait or run; more are refused)",
    ),
    ("qos.in_all", "the same limits of all its jobs together"),
    (
        "account",
        "tables `[[account]]` (default: one); jobs that none lists have the first",
    ),
    ("account.name", "a text, another one for each"),
    (
        "account.shares",
        "0 or more, above 0 of one at least (default 1): its share in proportion to the others",
    ),
    (
        "account.groups",
        "numbers of the trace's groups (field 13), or their names",
    ),
    (
        "account.parent",
        "the name of the account above it, for the fair tree (default: none)",
    ),
    ("account.per_user", "the same limits of each user"),
    ("account.in_all", "the same limits of all its jobs together"),
    ("limit", "1 or more"),
    (
        "priority",
        "a table of weights (default: all 0, so jobs come in order of submission)",
    ),
    ("priority.age", "0 or more (default 0), for the wait"),
    (
        "priority.oldest_hours",
        "above 0 hours: the wait that counts fully (default 168)",
    ),
    (
        "priority.fair_share",
        "0 or more (default 0), for what was used of a share",
    ),
    (
        "priority.fair_share_algorithm",
        "\"classic\" (the default: one level of holders) or \"fair-tree\" (Slurm's default: accounts, accounts below them, and users of each)",
    ),
    (
        "priority.damping",
        "above 0 (default 1): more makes less of use beyond the share; not in the fair tree",
    ),
    (
        "priority.holder",
        "\"user\" (the default: all have the same share) or \"account\"; not in the fair tree",
    ),
    (
        "priority.half_life_hours",
        "above 0 hours after which use counts half (default 168)",
    ),
    (
        "priority.decays",
        "true (the default), or false: use is never forgotten",
    ),
    ("priority.size", "0 or more (default 0), for the job's size"),
    (
        "priority.favours_small",
        "false (the default: large jobs come first) or true",
    ),
    (
        "priority.partition",
        "0 or more (default 0), for the partition's factor",
    ),
    (
        "priority.qos",
        "0 or more (default 0), for the quality of service's factor",
    ),
    (
        "backfilling.depth",
        "how many jobs of each partition that cannot start get a reservation: a number (1, the default, is EASY; 0 is none and no \
         backfilling), or \"all\"",
    ),
    (
        "backfilling.tested",
        "1 or more waiting jobs that are looked at in one pass (default: all)",
    ),
    (
        "backfilling.interval_seconds",
        "0 or more seconds between two passes; 0 (the default) is one after each event",
    ),
    (
        "backfilling.window_hours",
        "above 0 hours ahead: who cannot start sooner gets no reservation (default: however far)",
    ),
    (
        "window",
        "tables `[[window]]`: nodes that are closed for a time",
    ),
    ("window.name", "a text, another one for each window"),
    (
        "window.begin",
        "the first beginning on the clock of the zone: a local date and time without quotes, such as 2024-05-02T08:00:00",
    ),
    (
        "window.length_hours",
        "above 0 hours; of a window that repeats at most to the next one",
    ),
    (
        "window.repeats",
        "\"none\" (the default), \"daily\" or \"weekly\", at the same local time",
    ),
    (
        "window.until",
        "the last local day on which it may begin, such as 2024-12-31 without quotes; needed where it repeats",
    ),
    (
        "window.nodes",
        "how many nodes of which classes, as { NAME = NODES }: the last ones of each class (default: all nodes)",
    ),
    (
        "window.users",
        "numbers of the trace's users (field 12), or their names, who may use them meanwhile (default: nobody)",
    ),
];

/// What is allowed at a key, with or without numbers of list elements in it.
pub(in crate::machine_queue::machines) fn allowed(key: &str) -> &'static str {
    let in_limits = ["per_user", "in_all"]
        .iter()
        .any(|table| key.contains(&format!(".{table}.")));
    let key = if in_limits { "limit" } else { key };
    let found = KEYS.iter().find(|(name, _)| *name == key);
    found.map_or("see docs/machines.md", |(_, words)| *words)
}
