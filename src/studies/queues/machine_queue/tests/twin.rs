//! A slow twin: it looks at every second of every node anew, whenever something happens, and keeps
//! nothing but who runs where.

mod places;
mod shares;

use std::collections::BTreeMap;

use self::places::switches;
use super::*;

/// Who runs or ran where.
struct Run {
    job: usize,
    start: i64,
    /// Of its run time.
    end: i64,
    /// Of its request.
    until: i64,
    nodes: Vec<usize>,
    each: NodeResources,
}

/// What is kept for a job in one pass.
struct Kept {
    node: usize,
    begin: i64,
    end: i64,
    each: NodeResources,
}

/// Whether a job counts for a limit.
type Counts = Box<dyn Fn(&MachineQueueJob) -> bool>;

struct Twin<'a> {
    machine: &'a QueueMachine,
    jobs: &'a [MachineQueueJob],
    /// The class of each node.
    nodes: Vec<usize>,
    runs: Vec<Run>,
    waiting: Vec<usize>,
    refused: Vec<(usize, Refusal)>,
    announced: BTreeMap<usize, Announcement>,
    now: i64,
}

/// Number of nodes and what is held on each, on a class.
pub(super) fn need(
    machine: &QueueMachine,
    job: &MachineQueueJob,
    class: usize,
) -> Option<(usize, NodeResources)> {
    let node = machine.classes[class].each;
    let fits = |cores: u32| {
        cores <= node.cores
            && job.cores_per_node.is_none_or(|most| cores <= most)
            && (node.memory_megabytes == 0
                || u64::from(cores) * job.memory_megabytes_per_core <= node.memory_megabytes)
            && job.gpus_per_node <= node.gpus
    };
    let nodes = (1..=job.cores).find(|nodes| fits(job.cores.div_ceil(*nodes)))?;
    let cores = job.cores.div_ceil(nodes);
    let each = match machine.partitions[job.partition.0].sharing {
        NodeSharing::Exclusive => node,
        NodeSharing::Shared => NodeResources {
            cores,
            memory_megabytes: if node.memory_megabytes == 0 {
                0
            } else {
                u64::from(cores) * job.memory_megabytes_per_core
            },
            gpus: job.gpus_per_node,
        },
    };
    Some((nodes as usize, each))
}

fn is_within(limit: Option<u32>, value: u64) -> bool {
    limit.is_none_or(|limit| value <= u64::from(limit))
}

impl Twin<'_> {
    fn running(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.end > self.now)
    }

    /// Limits that a job must keep, with those who count.
    fn limits(&self, job: &MachineQueueJob) -> Vec<(Limits, Counts)> {
        let (quality, account, user) = (job.quality, job.account, job.user);
        let of_quality = &self.machine.qualities[quality.0];
        let of_account = &self.machine.accounts[account.0];
        vec![
            (
                of_quality.in_all,
                Box::new(move |other| other.quality == quality),
            ),
            (
                of_quality.per_user,
                Box::new(move |other| other.quality == quality && other.user == user),
            ),
            (
                of_account.in_all,
                Box::new(move |other| other.account == account),
            ),
            (
                of_account.per_user,
                Box::new(move |other| other.account == account && other.user == user),
            ),
        ]
    }

    fn allows(
        &self,
        job: &MachineQueueJob,
        nodes: usize,
        each: NodeResources,
        is_empty: bool,
    ) -> bool {
        self.limits(job).iter().all(|(limits, counts)| {
            let held: Vec<&Run> = self
                .running()
                .filter(|run| !is_empty && counts(&self.jobs[run.job]))
                .collect();
            let of_nodes: usize = held.iter().map(|run| run.nodes.len()).sum();
            let cores: usize = held
                .iter()
                .map(|run| run.nodes.len() * run.each.cores as usize)
                .sum();
            is_within(limits.running_jobs, held.len() as u64 + 1)
                && is_within(limits.nodes, (of_nodes + nodes) as u64)
                && is_within(limits.cores, (cores + nodes * each.cores as usize) as u64)
        })
    }

    fn refusal(&self, job: &MachineQueueJob) -> Option<Refusal> {
        let partition = &self.machine.partitions[job.partition.0];
        let quality = &self.machine.qualities[job.quality.0];
        if [partition.longest, quality.longest]
            .iter()
            .flatten()
            .any(|most| job.request > *most)
        {
            return Some(Refusal::TooLong);
        }
        let needs: Vec<_> = partition
            .classes
            .iter()
            .filter_map(|class| Some((class.0, need(self.machine, job, class.0)?)))
            .collect();
        let is_narrow = |nodes: usize| is_within(partition.widest.map(|most| most.0), nodes as u64);
        let fits =
            |class: usize, nodes: usize| nodes <= self.machine.classes[class].nodes.0 as usize;
        if !needs
            .iter()
            .any(|(class, (nodes, _))| is_narrow(*nodes) && fits(*class, *nodes))
        {
            let is_wide = needs.iter().any(|(_, (nodes, _))| !is_narrow(*nodes));
            return Some(if is_wide {
                Refusal::TooWide
            } else {
                Refusal::NeverFits
            });
        }
        if !needs.iter().any(|(class, (nodes, each))| {
            is_narrow(*nodes) && fits(*class, *nodes) && self.allows(job, *nodes, *each, true)
        }) {
            return Some(Refusal::NeverFits);
        }
        let in_system = |counts: &dyn Fn(&MachineQueueJob) -> bool| {
            let running = self.running().map(|run| run.job);
            running
                .chain(self.waiting.iter().copied())
                .filter(|job| counts(&self.jobs[*job]))
                .count()
        };
        let is_full = self.limits(job).iter().any(|(limits, counts)| {
            !is_within(limits.submitted_jobs, in_system(counts) as u64 + 1)
        });
        is_full.then_some(Refusal::TooManySubmitted)
    }

    fn priority(&self, job: &MachineQueueJob) -> f64 {
        let weights = &self.machine.priority;
        let machine = self.machine;
        let cores: u32 = machine
            .classes
            .iter()
            .map(|class| class.nodes.0 * class.each.cores)
            .sum();
        let part = (f64::from(job.cores) / f64::from(cores)).min(1.0);
        let size = if weights.favours_small {
            1.0 - part
        } else {
            part
        };
        let age = (self.now - job.submit.0) as f64 / weights.oldest.0 as f64;
        weights.size * size
            + weights.partition * machine.partitions[job.partition.0].factor
            + weights.quality * machine.qualities[job.quality.0].factor
            + weights.age * age.min(1.0)
            + weights.fair_share * self.shares_factor(job)
    }

    fn windows<'b>(&'b self, node: usize) -> impl Iterator<Item = &'b Window> + 'b {
        let class = self.nodes[node];
        let last = self
            .nodes
            .iter()
            .rposition(|other| *other == class)
            .unwrap();
        self.machine.windows.iter().filter(move |window| {
            window
                .nodes
                .iter()
                .any(|(of, count)| of.0 == class && last - node < count.0 as usize)
        })
    }

    fn holds(&self, node: usize, each: NodeResources, user: i64, time: i64, kept: &[Kept]) -> bool {
        let is_closed = self.windows(node).any(|window| {
            window.begin.0 <= time && time < window.end.0 && !window.users.contains(&user)
        });
        let runs = self
            .running()
            .filter(|run| run.nodes.contains(&node) && run.until > time);
        let kept = kept
            .iter()
            .filter(|kept| kept.node == node && kept.begin <= time && time < kept.end);
        let (mut cores, mut memory, mut gpus) = (each.cores, each.memory_megabytes, each.gpus);
        for other in runs.map(|run| run.each).chain(kept.map(|kept| kept.each)) {
            cores += other.cores;
            memory += other.memory_megabytes;
            gpus += other.gpus;
        }
        let all = self.machine.classes[self.nodes[node]].each;
        !is_closed && cores <= all.cores && memory <= all.memory_megabytes && gpus <= all.gpus
    }

    fn may_start(
        &self,
        job: &MachineQueueJob,
        node: usize,
        each: NodeResources,
        time: i64,
        kept: &[Kept],
    ) -> bool {
        (time..time + job.request.0).all(|time| self.holds(node, each, job.user, time, kept))
    }

    fn of_class(&self, class: usize) -> Vec<usize> {
        (0..self.nodes.len())
            .filter(|node| self.nodes[*node] == class)
            .collect()
    }

    fn pass(&mut self, backfills: bool) {
        let now = self.now;
        let (depth, mut tested) = match self.machine.backfilling {
            Backfilling::Reserving { depth, tested, .. } if backfills => {
                (depth, tested.map_or(usize::MAX, |tested| tested as usize))
            }
            _ => (0, 0),
        };
        let mut order = self.waiting.clone();
        order.sort_by(|one, other| {
            let (one, other) = (&self.jobs[*one], &self.jobs[*other]);
            let tier = |job: &MachineQueueJob| self.machine.partitions[job.partition.0].tier;
            let tiers = tier(other).cmp(&tier(one));
            tiers.then(self.priority(other).total_cmp(&self.priority(one)))
        });
        let mut kept: Vec<Kept> = Vec::new();
        let mut reserved = vec![0; self.machine.partitions.len()];
        let mut awaited = vec![false; self.machine.classes.len()];
        for index in order {
            let job = self.jobs[index];
            let partition = &self.machine.partitions[job.partition.0];
            let allowed: Vec<(usize, usize, NodeResources)> = partition
                .classes
                .iter()
                .filter_map(|class| {
                    let (nodes, each) = need(self.machine, &job, class.0)?;
                    let is_usable = nodes <= self.machine.classes[class.0].nodes.0 as usize
                        && is_within(partition.widest.map(|most| most.0), nodes as u64)
                        && self.allows(&job, nodes, each, false);
                    is_usable.then_some((class.0, nodes, each))
                })
                .collect();
            if allowed.is_empty() {
                continue;
            }
            let started = allowed
                .iter()
                .filter(|(class, ..)| tested > 0 || !awaited[*class])
                .find_map(|(class, nodes, each)| {
                    let mut open = self.of_class(*class);
                    open.retain(|node| self.may_start(&job, *node, *each, now, &kept));
                    open.sort_by_key(|node| {
                        let windows = self.windows(*node).filter(|window| window.end.0 > now);
                        let windows = windows.map(|window| window.begin.0.max(now));
                        let mine = kept.iter().filter(|kept| kept.node == *node);
                        let needed = windows.chain(mine.map(|kept| kept.begin)).min();
                        let held = |of: fn(&NodeResources) -> u32| -> u32 {
                            let runs = self.running().filter(|run| run.nodes.contains(node));
                            runs.map(|run| of(&run.each)).sum()
                        };
                        let fullest =
                            std::cmp::Reverse((held(|each| each.cores), held(|each| each.gpus)));
                        (needed.unwrap_or(i64::MAX), fullest, *node)
                    });
                    let open = self.choose(*class, open, *nodes)?;
                    Some((*class, open, *each))
                });
            if let Some((class, nodes, each)) = started {
                if awaited[class] {
                    tested -= 1;
                }
                self.waiting.retain(|other| *other != index);
                self.runs.push(Run {
                    job: index,
                    start: now,
                    end: now + self.runtime(&job, &nodes).min(job.request.0),
                    until: now + job.request.0,
                    nodes,
                    each,
                });
                continue;
            }
            for (class, ..) in &allowed {
                awaited[*class] = true;
            }
            if tested == 0 {
                continue;
            }
            tested -= 1;
            if reserved[job.partition.0] < depth {
                let Some(start) = self.reserve(&job, &allowed, &mut kept) else {
                    continue;
                };
                reserved[job.partition.0] += 1;
                let (at, start) = (Seconds(now), Seconds(start));
                let announcement = Announcement { at, start };
                self.announced.entry(index).or_insert(announcement);
            }
        }
    }

    fn reserve(
        &self,
        job: &MachineQueueJob,
        allowed: &[(usize, usize, NodeResources)],
        kept: &mut Vec<Kept>,
    ) -> Option<i64> {
        let ends = self.runs.iter().map(|run| run.until);
        let windows = self.machine.windows.iter().map(|window| window.end.0);
        let all_free = ends
            .chain(kept.iter().map(|kept| kept.end))
            .chain(windows)
            .max()
            .unwrap_or(0)
            .max(self.now);
        let (start, class, nodes, each) = (self.now..=all_free)
            .find_map(|time| {
                let (class, nodes, each) = allowed.iter().find(|(class, nodes, each)| {
                    let mut open = self.of_class(*class);
                    open.retain(|node| self.may_start(job, *node, *each, time, kept));
                    self.choose(*class, open, *nodes).is_some()
                })?;
                Some((time, *class, *nodes, *each))
            })
            .expect("an empty class holds it");
        if let Backfilling::Reserving { window, .. } = self.machine.backfilling
            && window.is_some_and(|window| start > self.now + window.0)
        {
            return None;
        }
        let mut open = self.of_class(class);
        let may = |node: usize, time: i64| self.may_start(job, node, each, time, kept);
        open.retain(|node| may(*node, start));
        open.sort_by_key(|node| {
            let first = (self.now..=start)
                .rev()
                .take_while(|time| may(*node, *time))
                .last();
            let last = (start..=all_free)
                .take_while(|time| may(*node, *time))
                .last();
            (std::cmp::Reverse(first), last, *node)
        });
        let chosen = match self.machine.topology.nodes_by {
            NodesBy::Number | NodesBy::Switch => open.into_iter().take(nodes).collect(),
            NodesBy::Contiguous | NodesBy::Buddy => {
                self.choose(class, open, nodes).expect("as found")
            }
        };
        kept.extend(chosen.into_iter().map(|node| Kept {
            node,
            begin: start,
            end: start + job.request.0,
            each,
        }));
        Some(start)
    }

    fn work_off(&mut self) {
        let mut submitted = 0;
        let mut owes_backfilling = false;
        let interval = match self.machine.backfilling {
            Backfilling::Reserving { interval, .. } => interval.0.max(1),
            Backfilling::None => 1,
        };
        self.now = -1;
        while submitted < self.jobs.len()
            || !self.waiting.is_empty()
            || self.running().next().is_some()
        {
            self.now += 1;
            let now = self.now;
            let mut happens = self.runs.iter().any(|run| run.end == now)
                || self
                    .machine
                    .windows
                    .iter()
                    .any(|window| window.end.0 == now);
            while submitted < self.jobs.len() && self.jobs[submitted].submit.0 == now {
                match self.refusal(&self.jobs[submitted]) {
                    Some(refusal) => self.refused.push((submitted, refusal)),
                    None => self.waiting.push(submitted),
                }
                submitted += 1;
                happens = true;
            }
            if now % interval == 0 && (happens || owes_backfilling) {
                owes_backfilling = false;
                self.pass(true);
            } else if happens {
                owes_backfilling = true;
                self.pass(false);
            }
        }
    }
}

/// What becomes of jobs, and on which nodes they ran.
pub(super) fn outcomes_of_twin(
    machine: &QueueMachine,
    jobs: &[MachineQueueJob],
) -> (Vec<MachineQueueOutcome>, Vec<Vec<usize>>) {
    let classes = machine.classes.iter().zip(0..);
    let mut twin = Twin {
        machine,
        jobs,
        nodes: classes
            .flat_map(|(class, index)| vec![index; class.nodes.0 as usize])
            .collect(),
        runs: Vec::new(),
        waiting: Vec::new(),
        refused: Vec::new(),
        announced: BTreeMap::new(),
        now: 0,
    };
    twin.work_off();
    let mut outcomes = vec![MachineQueueOutcome::Refused(Refusal::NeverFits); jobs.len()];
    let mut nodes = vec![Vec::new(); jobs.len()];
    for run in twin.runs {
        outcomes[run.job] = MachineQueueOutcome::Ran {
            start: Seconds(run.start),
            end: Seconds(run.end),
            announced: twin.announced.get(&run.job).copied(),
            crosses: switches(machine, &run.nodes) > 1,
        };
        nodes[run.job] = run.nodes;
    }
    for (job, refusal) in twin.refused {
        outcomes[job] = MachineQueueOutcome::Refused(refusal);
    }
    (outcomes, nodes)
}
