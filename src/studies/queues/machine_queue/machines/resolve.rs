//! From what a machine file says to a machine: every value checked, every default filled in.

mod checks;
mod shares;
mod windows;

use jiff::tz::TimeZone;

use super::MachineDescription;
use super::calendar::CalendarEntry;
use super::file::{KEYS, RawDepth, RawMachine, RawSharing, allowed};
use super::places::Places;
use super::trace::{PartitionRule, TraceMapping};
use crate::machine_queue::{
    Backfilling, ClassIndex, Limits, NodeClass, NodeResources, NodeSharing, Partition,
    PartitionIndex, QualityOfService, QueueMachine, Topology,
};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_lab::keys::ours::is_ours;
use bookahead_lab::keys::problem::{ExperimentError, Problem, ProblemKind, Problems};
use checks::Checks;

/// Nodes of all classes together at most: the machine knows each of them.
const MOST_NODES: u32 = 1_000_000;
/// Cores of all nodes together at most.
const MOST_CORES: u64 = 2_000_000_000;
/// A week, Slurm's default of `PriorityMaxAge` and `PriorityDecayHalfLife`.
const WEEK_HOURS: f64 = 168.0;

/// Reads and checks a machine file.
pub(super) fn resolve(file: &str, text: &str) -> Result<MachineDescription, Vec<Problem>> {
    let mut problems = Problems::new(file, text);
    let places = Places::of(text);
    let raw: RawMachine = match toml::from_str(text) {
        Ok(raw) => raw,
        Err(error) if !text.trim().is_empty() && !is_ours(text, is_key) => {
            problems.conceal();
            let span = error.span().unwrap_or(0..0);
            let message = "no machine is read here: the file has no table of one with a key of it";
            let help =
                "a machine file is TOML with a `name` and tables [[class]]; see docs/machines.md";
            problems.add(ProblemKind::Syntax, "", span, message, help);
            return Err(problems_of(&mut problems));
        }
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let key = places.path(&span);
            let message = error.message().trim().replace('\n', " ");
            let (kind, help) = if message.starts_with("unknown field") {
                (ProblemKind::UnknownKey, "see docs/machines.md".to_owned())
            } else if key.is_empty() {
                let help = "the file must be valid TOML with a `name`".to_owned();
                (ProblemKind::Syntax, help)
            } else {
                let help = format!("allowed: {}", allowed(&key));
                (ProblemKind::WrongType, help)
            };
            problems.add(kind, &key, span, message, help);
            return Err(problems_of(&mut problems));
        }
    };
    let mut checks = Checks {
        places: &places,
        problems: &mut problems,
    };
    let description = checks.machine(&raw, text);
    match problems.check() {
        Ok(()) => Ok(description),
        Err(ExperimentError::Invalid(list)) => Err(list),
        // Nothing else comes out of a check.
        Err(_) => Err(Vec::new()),
    }
}

/// Whether a dotted path is a key of a machine file.
fn is_key(path: &str) -> bool {
    KEYS.iter().any(|(key, _)| *key == path)
}

fn problems_of(problems: &mut Problems) -> Vec<Problem> {
    match problems.check() {
        Err(ExperimentError::Invalid(list)) => list,
        _ => Vec::new(),
    }
}

impl Checks<'_, '_> {
    fn machine(&mut self, raw: &RawMachine, text: &str) -> MachineDescription {
        self.require(!raw.name.trim().is_empty(), "name", || {
            "it is empty".to_owned()
        });
        let zone = raw.zone.as_deref().unwrap_or("UTC");
        let zone = TimeZone::get(zone).unwrap_or_else(|_| {
            self.refuse("zone", format!("there is no zone `{zone}`"));
            TimeZone::UTC
        });
        let cores_per_processor = self.count("cores_per_processor", raw.cores_per_processor);
        let classes = self.classes(raw);
        let (partitions, rules, default) = self.partitions(raw, &classes);
        let (qualities, quality_lists) = self.qualities(raw);
        let accounts = self.accounts(raw);
        self.names(
            "window",
            raw.window.iter().map(|window| window.name.as_str()),
        );
        let calendar: Vec<CalendarEntry> = (raw.window.iter().enumerate())
            .filter_map(|(at, window)| self.window(at, window, &classes))
            .collect();
        let trace = TraceMapping {
            partitions: rules,
            default,
            qualities: quality_lists,
            accounts: match raw.account.is_empty() {
                true => vec![Vec::new()],
                false => (raw.account.iter())
                    .map(|account| account.groups.clone())
                    .collect(),
            },
            users: (raw.window.iter())
                .flat_map(|window| window.users.clone())
                .collect(),
            cores_per_processor,
        };
        MachineDescription {
            machine: QueueMachine {
                name: raw.name.clone(),
                classes,
                partitions,
                qualities,
                accounts,
                priority: self.priority(&raw.priority.clone().unwrap_or_default()),
                backfilling: self.backfilling(raw),
                windows: Vec::new(),
                topology: Topology::default(),
            },
            trace,
            calendar,
            zone,
            text: text.to_owned(),
            notes: Vec::new(),
            not_read: Vec::new(),
        }
    }

    fn classes(&mut self, raw: &RawMachine) -> Vec<NodeClass> {
        self.require(!raw.class.is_empty(), "class", || {
            "the machine has no nodes".to_owned()
        });
        self.names("class", raw.class.iter().map(|class| class.name.as_str()));
        let mut cores_in_all: u64 = 0;
        let classes = (raw.class.iter().enumerate())
            .map(|(at, class)| {
                let path = format!("class.{at}.nodes");
                self.require((1..=MOST_NODES).contains(&class.nodes), &path, || {
                    format!("{} nodes are out of range", class.nodes)
                });
                let cores = self.count(&format!("class.{at}.cores"), class.cores);
                let cores = cores.unwrap_or(1);
                cores_in_all += u64::from(class.nodes) * u64::from(cores);
                NodeClass {
                    name: class.name.clone(),
                    nodes: Nodes(class.nodes),
                    each: NodeResources {
                        cores,
                        memory_megabytes: class.memory_megabytes,
                        gpus: class.gpus,
                    },
                }
            })
            .collect();
        self.require(cores_in_all <= MOST_CORES, "class", || {
            format!("{cores_in_all} cores in all are more than {MOST_CORES}")
        });
        let nodes: u64 = raw.class.iter().map(|class| u64::from(class.nodes)).sum();
        self.require(nodes <= u64::from(MOST_NODES), "class", || {
            format!("{nodes} nodes in all are more than {MOST_NODES}")
        });
        classes
    }

    #[allow(clippy::type_complexity)]
    fn partitions(
        &mut self,
        raw: &RawMachine,
        classes: &[NodeClass],
    ) -> (Vec<Partition>, Vec<PartitionRule>, Option<PartitionIndex>) {
        let all: Vec<ClassIndex> = (0..classes.len()).map(ClassIndex).collect();
        if raw.partition.is_empty() {
            let only = Partition {
                name: "all".to_owned(),
                classes: all,
                sharing: NodeSharing::Exclusive,
                tier: 1,
                factor: 0.0,
                longest: None,
                widest: None,
            };
            return (
                vec![only],
                vec![PartitionRule::default()],
                Some(PartitionIndex(0)),
            );
        }
        self.names(
            "partition",
            raw.partition
                .iter()
                .map(|partition| partition.name.as_str()),
        );
        let mut default = None;
        let mut partitions = Vec::new();
        let mut rules = Vec::new();
        for (at, partition) in raw.partition.iter().enumerate() {
            let path = |key: &str| format!("partition.{at}.{key}");
            if partition.default {
                self.require(default.is_none(), &path("default"), || {
                    "another partition is the default already".to_owned()
                });
                default.get_or_insert(PartitionIndex(at));
            }
            let used = match &partition.classes {
                None => all.clone(),
                Some(names) => self.named_classes(&path("classes"), names, classes),
            };
            let hours = |checks: &mut Self, key: &str, hours: Option<f64>| {
                hours.map(|hours| checks.hours(&path(key), hours))
            };
            let longest = hours(self, "longest_hours", partition.longest_hours);
            let default_request = hours(
                self,
                "default_request_hours",
                partition.default_request_hours,
            );
            partitions.push(Partition {
                name: partition.name.clone(),
                classes: used,
                sharing: match partition.sharing {
                    RawSharing::Exclusive => NodeSharing::Exclusive,
                    RawSharing::Shared => NodeSharing::Shared,
                },
                tier: partition.tier.unwrap_or(1),
                factor: self.number(&path("priority_factor"), partition.priority_factor, 1.0),
                longest,
                widest: self
                    .count(&path("widest_nodes"), partition.widest_nodes)
                    .map(Nodes),
            });
            rules.push(PartitionRule {
                queues: partition.queues.clone(),
                partitions: partition.partitions.clone(),
                default_request,
            });
        }
        if partitions.len() == 1 {
            default = Some(PartitionIndex(0));
        }
        (partitions, rules, default)
    }

    fn named_classes(
        &mut self,
        path: &str,
        names: &[String],
        classes: &[NodeClass],
    ) -> Vec<ClassIndex> {
        self.require(!names.is_empty(), path, || {
            "a partition without nodes".to_owned()
        });
        let mut found = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let path = format!("{path}.{at}");
            match classes.iter().position(|class| class.name == *name) {
                None => self.refuse(&path, format!("there is no class `{name}`")),
                Some(class) if found.contains(&ClassIndex(class)) => {
                    self.refuse(&path, format!("`{name}` is there twice"));
                }
                Some(class) => found.push(ClassIndex(class)),
            }
        }
        found
    }

    #[allow(clippy::type_complexity)]
    fn qualities(
        &mut self,
        raw: &RawMachine,
    ) -> (
        Vec<QualityOfService>,
        Vec<(
            Vec<super::file::NumberOrName>,
            Vec<super::file::NumberOrName>,
        )>,
    ) {
        if raw.qos.is_empty() {
            let only = QualityOfService {
                name: "normal".to_owned(),
                factor: 0.0,
                usage_factor: 1.0,
                longest: None,
                per_user: Limits::default(),
                in_all: Limits::default(),
            };
            return (vec![only], vec![Default::default()]);
        }
        self.names("qos", raw.qos.iter().map(|quality| quality.name.as_str()));
        let qualities = (raw.qos.iter().enumerate())
            .map(|(at, quality)| {
                let path = |key: &str| format!("qos.{at}.{key}");
                QualityOfService {
                    name: quality.name.clone(),
                    factor: self.number(&path("priority_factor"), quality.priority_factor, 1.0),
                    usage_factor: self.number(
                        &path("usage_factor"),
                        quality.usage_factor.unwrap_or(1.0),
                        f64::MAX,
                    ),
                    longest: (quality.longest_hours)
                        .map(|hours| self.hours(&path("longest_hours"), hours)),
                    per_user: self.limits(&path("per_user"), &quality.per_user),
                    in_all: self.limits(&path("in_all"), &quality.in_all),
                }
            })
            .collect();
        let lists = (raw.qos.iter())
            .map(|quality| (quality.queues.clone(), quality.partitions.clone()))
            .collect();
        (qualities, lists)
    }

    fn backfilling(&mut self, raw: &RawMachine) -> Backfilling {
        let raw = raw.backfilling.clone().unwrap_or_default();
        let tested = self.count("backfilling.tested", raw.tested);
        let window = (raw.window_hours).map(|hours| self.hours("backfilling.window_hours", hours));
        let depth = match raw.depth {
            None => 1,
            Some(RawDepth::All) => u32::MAX,
            Some(RawDepth::Jobs(0)) => return Backfilling::None,
            Some(RawDepth::Jobs(depth)) => depth,
        };
        Backfilling::Reserving {
            depth,
            tested,
            interval: Seconds(i64::from(raw.interval_seconds)),
            window,
        }
    }
}
